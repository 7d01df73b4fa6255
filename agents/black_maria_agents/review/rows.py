"""The review as a table: a row for every decision in which there was a choice."""

from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from black_maria import engine
from black_maria.cards import NUM_RANKS, SPADES, parse_card, rank_of, suit_of
from black_maria.rules import Rules
from black_maria_agents.review.positions import Positions
from black_maria_agents.review.pricing import Prices

PHASES: Final = ("passing", "leading", "following", "discarding")
"""What a decision is about; *following* is playing to a suit that one holds."""
DEAR: Final = 5
"""Penalty points from which a card is a dear one."""
Z: Final = 1.96
"""Standard errors in half a 95 % interval."""
QUEEN: Final = parse_card("QS")
_HIGH: Final = NUM_RANKS - 4


@dataclass(frozen=True)
class Option:
    """A legal card."""

    card: int
    policy: float
    """How probably the reviewing policy plays it."""
    difference: float
    """Penalty points that it costs more than the card chosen."""
    error: float
    """Standard error of that; 0 for the card chosen."""
    risk: float
    """How probably the trick costs the seat something with it; NaN while passing."""

    @property
    def equal(self) -> bool:
        """Whether it can't be told from the card chosen."""
        return abs(self.difference) <= Z * self.error


@dataclass(frozen=True)
class Decision:
    """A row: who was to move and how, the card chosen, the best one, and what it gave away.

    Cards are ids. Points are penalty points of the whole hand; where a moon may be shot, the own
    less the others' mean.
    """

    hand: int
    """Which of the hands reviewed, from 0."""
    ply: int
    """Cards passed and played before."""
    seat: int
    agent: str
    """Who sat there; ``""`` if that isn't known."""
    phase: str
    """One of ``PHASES``."""
    kind: str
    """What was chosen: ``"a low card"``, ``"a dear card"`` …; when following, ``"over"`` or
    ``"under"`` the card that was winning."""
    card: int
    best: int
    """The card that comes out best: the one chosen unless another beats it."""
    regret: float
    """Points given away by not playing ``best``, by worlds that had no part in finding it: below
    0 where those tell otherwise."""
    error: float
    """Standard error of ``regret``."""
    cost: float
    """Points that the hand costs with the card chosen."""
    policy: float
    """How probably the reviewing policy chooses as the seat did."""
    legal: int
    """How many cards could be chosen."""
    trick: int
    """From 1; 0 while passing."""
    taken: int
    """Penalty points of the seat in this hand so far."""
    spades: int
    """Spades held besides Q♠."""
    queen: str
    """Q♠: ``"held"``, ``"out"`` (others have it, or it is in the trick), ``"gone"``."""
    risk: float
    """How probably the trick costs the seat something; NaN while passing."""
    flattered: float
    """``regret`` by the worlds that found ``best``: higher than it is."""
    options: tuple[Option, ...]
    """The legal cards, the least costly first."""
    holds: NDArray[np.float64]
    """How probably each seat holds each card, (S, 52), seat 0 first."""

    @property
    def dear(self) -> bool:
        """Whether points were given away beyond doubt: 0 lies under the interval."""
        return self.regret > Z * self.error

    @property
    def chosen(self) -> Option:
        """The card chosen, as an option."""
        return next(option for option in self.options if option.card == self.card)


COLUMNS: Final = tuple(
    field.name for field in fields(Decision) if field.name not in ("options", "holds")
)
"""The columns of the table."""


def columns(decisions: list[Decision]) -> dict[str, NDArray[Any]]:
    """The rows as arrays by column, (D,) each; ``pandas.DataFrame`` takes it as it is."""
    return {name: np.array([getattr(row, name) for row in decisions]) for name in COLUMNS}


def rows_of(number: int, found: Positions, prices: Prices) -> list[Decision]:
    """The rows of a hand, the hand's number among the ones reviewed first."""
    hand, rules = found.hand, found.hand.rules
    rows = []
    for d, state in enumerate(found.states):
        seat, card = int(found.seats[d]), int(found.cards[d])
        phase = phase_of(state)
        spades = int(state.holding[seat, 0]) >> NUM_RANKS * SPADES
        queen = spades >> rank_of(QUEEN) & 1
        rows.append(
            Decision(
                hand=number,
                ply=int(found.plies[d]),
                seat=seat,
                agent=hand.agents[seat] if hand.agents else "",
                phase=phase,
                kind=kind_of(card, phase, state, rules),
                card=card,
                best=int(prices.best[d]),
                regret=float(prices.regret[d]),
                error=float(prices.error[d]),
                cost=float(prices.cost[d]),
                policy=float(np.exp(found.log_probs[d, card])),
                legal=int(found.mask[d].sum()),
                trick=0 if phase == "passing" else int(state.num_played // state.num_playing) + 1,
                taken=int(state.penalties[seat]),
                spades=spades.bit_count() - queen,
                queen="held" if queen else "gone" if _gone(state, rules) else "out",
                risk=float(prices.risk[d, card]),
                flattered=float(prices.flattered[d]),
                options=_options(found, prices, d),
                holds=np.roll(prices.holds[d], seat, axis=0),
            )
        )
    return rows


def phase_of(state: Any) -> str:
    """The phase of the decision at hand, one of ``PHASES``."""
    if state.phase == engine.PASSING:
        return PHASES[0]
    if not state.in_trick:
        return PHASES[1]
    suit = int(state.holding[state.turn, 0]) >> NUM_RANKS * int(state.led) & (1 << NUM_RANKS) - 1
    return PHASES[2] if suit else PHASES[3]


def kind_of(card: int, phase: str, state: Any, rules: Rules) -> str:
    """What choosing a card there is called."""
    if phase == "following":
        return "over" if goes_over(card, state) else "under"
    if rules.penalties[card] >= DEAR:
        return "a dear card"
    if rules.penalties[card]:
        return "a penalty card" if rules.penalties[card] > 0 else "a bonus card"
    return "a high card" if rank_of(card) >= _HIGH else "a low card"


def goes_over(card: int, state: Any) -> bool:
    """Whether a card beats the trick as it lies."""
    return suit_of(card) == int(state.led) and card > int(state.best_card)


def _gone(state: Any, rules: Rules) -> bool:
    """Whether no Q♠ can come any more."""
    here = state.holding[: rules.seats, 0].tolist() + state.given[: rules.seats, 0].tolist()
    if state.phase != engine.PASSING:
        here = here[: rules.seats]
    on_table = state.cards[state.pile_start : state.num_played].tolist()
    kitty = int(state.kitty[0]) if state.last_taker < 0 else 0
    return not (any(planes >> QUEEN & 1 for planes in [*here, kitty]) or QUEEN in on_table)


def _options(found: Positions, prices: Prices, d: int) -> tuple[Option, ...]:
    options = [
        Option(
            card,
            float(np.exp(found.log_probs[d, card])),
            float(prices.difference[d, card]),
            float(prices.difference_error[d, card]),
            float(prices.risk[d, card]),
        )
        for card in np.flatnonzero(found.mask[d]).tolist()
    ]
    return tuple(sorted(options, key=lambda option: (option.difference, option.card)))
