"""A decision in one sentence, where its numbers bear one."""

from dataclasses import dataclass
from typing import Any, Final

from black_maria.cards import card_name, suit_of
from black_maria.engine import cards_of
from black_maria_agents.review.rows import DEAR, QUEEN, Decision, Option, goes_over

LEAST: Final = 0.5
"""Points that are worth a word."""
STRICT: Final = 2.5
"""Standard errors that a difference must have for a sentence: of several cards, one is easily two
of them away by luck."""
TEMPTING: Final = 0.02
"""A card that the policy gives less than this is none that anybody would have thought of."""
_NUMBERS: Final = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
)  # fmt: skip


@dataclass(frozen=True)
class Sentence:
    """What can be said of a decision, and what bears it."""

    text: str
    better: int
    """The card that the sentence finds better."""
    worse: int
    points: float
    """By how many points, ≥ ``LEAST``."""


def sentence_of(row: Decision, state: Any, penalties: tuple[int, ...]) -> Sentence | None:
    """The sentence of a decision; None where the numbers bear none.

    It compares two cards: the one chosen and a better one, where points were given away beyond
    doubt; else the one chosen and the one that the policy finds likeliest of those that would
    have cost more.

    Args:
        row: The decision.
        state: The table, an ``engine.STATE`` record.
        penalties: Penalty points of each card.
    """
    options = {option.card: option for option in row.options}
    if row.best != row.card:
        if row.regret < LEAST or row.regret <= STRICT * row.error:
            return None
        better, worse, points = row.best, row.card, row.regret
    else:
        other = _tempting(row)
        if other is None:
            return None
        better, worse, points = row.card, other.card, options[other.card].difference
    how = _Speaker(row, state, penalties)
    if better == row.card:
        less = f"{points:.1f} points better than {how.comparing(worse, better)}"
        text = f"{how.saying(better, worse)}: {less}"
    else:
        less = f"{how.comparing(better, worse)} is {points:.1f} points better"
        text = f"{how.saying(worse, better)}; {less}"
    return Sentence(f"{text[0].upper()}{text[1:]}.", better, worse, points)


def _tempting(row: Decision) -> Option | None:
    """The likeliest card by the policy of those that cost more, beyond doubt."""
    dearer = [
        option
        for option in row.options
        if option.card != row.card
        and option.policy >= TEMPTING
        and option.difference >= LEAST
        and option.difference > STRICT * option.error
    ]
    return max(dearer, key=lambda option: option.policy, default=None)


class _Speaker:
    """Names what is done with a card, beside another one that could have been chosen."""

    def __init__(self, row: Decision, state: Any, penalties: tuple[int, ...]) -> None:
        self.row, self.state, self.penalties = row, state, penalties
        self.holding = cards_of(state.holding[row.seat])

    def saying(self, card: int, other: int) -> str:
        """``"throws K♥"``, or what not choosing the other one means: ``"keeps Q♠ guarded …"``."""
        return self._keeping(card, other, "keeps") or f"{self._verb(card)[0]} {card_name(card)}"

    def comparing(self, card: int, other: int) -> str:
        """``"throwing K♥"``; of the card that the sentence began with, ``"throwing it"``."""
        verb = self._verb(card)[1]
        if self._keeping(other, card, "keeps"):
            return f"{verb} it"
        return self._keeping(card, other, "keeping") or f"{verb} {card_name(card)}"

    def _keeping(self, card: int, other: int, verb: str) -> str:
        """``"keeps Q♠ guarded by four spades"`` where the other card is a dear one that stays."""
        if self.row.phase in ("passing", "leading") or self.penalties[other] < DEAR:
            return ""  # what isn't passed now may be the next to go
        if self.penalties[card] >= DEAR:  # both are dear: say which one goes
            return ""
        guards = [c for c in self.holding if suit_of(c) == suit_of(QUEEN) and c < QUEEN]
        if card in guards:
            guards.remove(card)
        if suit_of(other) == suit_of(QUEEN) and len(guards) > 1:
            return f"{verb} {card_name(other)} guarded by {_NUMBERS[len(guards)]} spades"
        return f"{verb} {card_name(other)}"

    def _verb(self, card: int) -> tuple[str, str]:
        match self.row.phase:
            case "passing":
                return "passes", "passing"
            case "leading":
                return "leads", "leading"
            case "discarding":
                return "throws", "throwing"
        last = self.state.in_trick == self.state.num_playing - 1
        if not goes_over(card, self.state):
            return "ducks with", "ducking with"
        if last:
            return "takes the trick with", "taking the trick with"
        return "goes over with", "going over with"
