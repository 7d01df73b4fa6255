"""A recorded hand: written, read and checked, replayed."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from black_maria import engine
from black_maria.cards import NUM_CARDS
from black_maria.record.entries import VERSION, read_entries, write_cards, write_rules
from black_maria.rules import Rules

_EVERY_CARD = np.arange(NUM_CARDS)

Cards = tuple[int, ...]


@dataclass(frozen=True)
class Hand:
    """One deal played out. Cards are ids; fields by seat have an entry for every seat."""

    rules: Rules
    dealer: int
    deal: tuple[Cards, ...]
    """Each seat's cards before passing."""
    passes: tuple[Cards, ...]
    """The cards that each seat gave away; nothing where nobody passes."""
    cards: Cards
    """The cards played, in order. Who played them follows from the rules."""
    penalties: tuple[int, ...]
    """Penalty points of the hand by seat, a moon included."""
    agents: tuple[str, ...] = ()
    """Who sat where; () if that isn't known."""
    seed: int = 0
    """With ``table`` and ``hand``: what the agents' draws were a function of, and the deal if
    it wasn't given."""
    table: int = 0
    hand: int = 0
    """How many hands were dealt at that table since it was seeded."""
    match_hand: int | None = None
    """The hand's number in its match, from 0; None: it was played by itself."""
    totals: tuple[int, ...] = ()
    """Match totals before the hand, by seat; () stands for zeros."""
    playoff: tuple[int, ...] = ()
    """The seats that played a tie off; () if this is no play-off."""

    def replay(self) -> Any:
        """Play the hand again.

        Returns:
            The table at the hand's end, an ``engine.STATE`` record of its own.

        Raises:
            ValueError: It isn't a hand of these rules, or its penalties are others.
        """
        for state in self.steps():
            last = state
        penalties = tuple(last.penalties[: self.rules.seats].tolist())
        if penalties != self.penalties:
            raise ValueError(f"penalties {_listed(self.penalties)}: the cards played "
                             f"make them {_listed(penalties)}")  # fmt: skip
        return last

    def steps(self) -> Iterator[Any]:
        """The table before the first card and after each one passed or played.

        Yields:
            An ``engine.STATE`` record: always the same one, which changes in place.

        Raises:
            ValueError: It isn't a hand of these rules; the message says where.
        """
        state = self._start()
        yield state
        passed = sum(map(len, self.passes))
        for number, card in enumerate(self._order(state), 1):
            if not int(state.legal) >> card & 1:
                where = f"pass {number}" if number <= passed else f"card {number - passed}"
                raise ValueError(f"{where}: {engine.illegal_reason(state, self.rules, card)}")
            engine.apply(state, self._record[0], card)
            yield state

    def options(self) -> dict[str, Any]:
        """Options with which ``env.reset(options=…)`` starts this hand before the passing.

        Raises:
            ValueError: It is a play-off: an environment can't start there.
        """
        if self.playoff:
            raise ValueError("this hand is a play-off: no environment starts with one")
        number = self.hand if self.match_hand is None else self.match_hand
        return {
            "deal": self.deal,
            "dealer": self.dealer,
            "number": number,
            "totals": self.totals or (0,) * self.rules.seats,
        }

    def actions(self) -> list[int]:
        """The cards passed, then played, as the seats to move chose them."""
        return self._order(self._start())

    def to_json(self) -> str:
        """The hand as one line, without its end."""
        entries: dict[str, Any] = {
            "version": VERSION,
            "rules": write_rules(self.rules, in_match=self.match_hand is not None),
            "seed": self.seed,
            "table": self.table,
            "hand": self.hand,
            "match_hand": self.match_hand,
            "totals": self.totals,
            "playoff": self.playoff,
            "dealer": self.dealer,
            "agents": self.agents,
            "deal": [write_cards(cards) for cards in self.deal],
            "passes": [write_cards(cards) for cards in self.passes],
            "cards": write_cards(self.cards),
            "penalties": self.penalties,
        }
        unset = [name for name in ("match_hand", "totals", "playoff", "agents")
                 if entries[name] in (None, ())]  # fmt: skip
        return json.dumps({name: entries[name] for name in entries if name not in unset})

    @staticmethod
    def from_json(line: str) -> "Hand":
        """Read one line, and check it by playing it again.

        Raises:
            ValueError: It isn't a record, or not of a hand that can be; the message says why.
        """
        hand = Hand(**read_entries(line))
        hand.replay()
        return hand

    @property
    def _playing(self) -> Sequence[int]:
        return self.playoff or range(self.rules.seats)

    @property
    def _record(self) -> Any:
        episode = "hand" if self.match_hand is None else "match"
        return engine.rules_record(self.rules, episode=episode)

    def _order(self, state: Any) -> list[int]:
        """The cards passed, from the seat to move on clockwise, and then those played."""
        first = self._playing.index(state.turn)
        clockwise = [*self._playing[first:], *self._playing[:first]]
        return [*(card for seat in clockwise for card in self.passes[seat]), *self.cards]

    def _start(self) -> Any:
        """The table before the first card, once all but the cards played has been checked."""
        for wrong in self._contradictions():
            raise ValueError(wrong)
        states: NDArray[Any] = np.zeros(1, engine.STATE)
        states["seed"], states["table"] = self.seed, self.table
        engine.start(
            states,
            self.rules,
            self._record,
            deal=self.deal,
            dealer=self.dealer,
            totals=self.totals or (0,) * self.rules.seats,
            number=self.hand if self.match_hand is None else self.match_hand,
            playoff=self.playoff,
        )
        state = states[0]
        state.hand = self.hand

        wanted = self.rules.pass_count if state.phase == engine.PASSING else 0
        for seat, cards in enumerate(self.passes):
            due = wanted if seat in self._playing else 0
            if len(cards) != due:
                raise ValueError(f"seat {seat} passes {len(cards)} cards instead of {due}")
        if len(self.cards) != state.to_play:
            raise ValueError(f"{len(self.cards)} cards are played instead of {state.to_play}")
        return state

    def _contradictions(self) -> Iterator[str]:
        """What can't be, the cards apart, in words."""
        seats, numbers = self.rules.seats, (self.table, self.hand, self.match_hand or 0)
        for name in ("deal", "passes", "penalties", "totals", "agents"):
            entries = getattr(self, name)
            optional = name in ("totals", "agents") and not entries
            if len(entries) != seats and not optional:
                yield f"{name} has {len(entries)} entries for {seats} seats"
        for name in self.agents:
            if not name.isprintable():
                yield f"agents: {name!r} can't be printed"
        engine.check_seed(self.seed)
        if not all(0 <= number < 2**63 for number in numbers):
            yield f"table {self.table}, hand {self.hand}: they are numbered from 0"
        if not all(-(2**30) < total < 2**30 for total in self.totals):
            yield "totals don't fit 32 bits"
        if self.dealer not in self._playing:
            yield f"seat {self.dealer} deals, but seats {_listed(self._playing)} play"
        if self.playoff:
            yield from self._playoff_contradictions()
        elif self.match_hand is not None:
            limit = self.rules.match_points
            if self.rules.hands is not None and self.match_hand >= self.rules.hands:
                yield f"match_hand {self.match_hand}: a match has {self.rules.hands} hands"
            if limit is not None and max(self.totals, default=0) >= limit + self.rules.exceed:
                yield f"totals {_listed(self.totals)}: the match is over at {limit}"

    def _playoff_contradictions(self) -> Iterator[str]:
        listed = _listed(self.playoff)
        if not self.rules.playoff:
            yield f"playoff: {self.rules.name} has none"
        if self.match_hand is None:
            yield "playoff: a hand by itself is none"
        seats = range(self.rules.seats)
        if len(self.playoff) < 2 or list(self.playoff) != [s for s in seats if s in self.playoff]:
            yield f"playoff {listed}: it takes two seats or more, in order, each once"
        totals = self.totals or (0,) * len(seats)
        if any(totals[seat] != min(totals) for seat in self.playoff):
            yield f"playoff {listed}: they don't all have the lowest total"


def of_states(
    states: NDArray[Any],
    rules: Rules,
    agents: Sequence[Sequence[str]] | None = None,
    *,
    episode: str = "hand",
) -> list[Hand]:
    """The hands that tables have played.

    The last card of a hand is forced, so a table that waits for it tells as much as one after
    it. ``Tables`` deals the next hand of a match at once: take its states before each step
    where ``states["num_played"] + 1 == states["to_play"]``.

    Args:
        states: (N,) records of ``engine.STATE``, each at its hand's end or one card before.
        rules: The rules that they are played by.
        agents: (N, seats) names, by hand and seat.
        episode: As the tables were made: ``"hand"``, or ``"match"``, and then each hand has
            its number in the match.

    Raises:
        ValueError: A hand isn't over, or it was played by other rules or in another episode.
    """
    record = engine.rules_record(rules, episode=episode)
    if agents is not None and len(agents) != len(states):
        raise ValueError(f"agents has {len(agents)} rows for {len(states)} hands")
    hands = []
    tables = engine.check_states(states, rules)
    for row in range(len(tables)):
        try:
            names = () if agents is None else tuple(agents[row])
            hands.append(_of_table(tables[row : row + 1], rules, record, names))
        except ValueError as error:
            raise ValueError(f"hand {row}: {error}") from None
    return hands


def _of_table(
    table: NDArray[Any], rules: Rules, record: NDArray[Any], agents: tuple[str, ...]
) -> Hand:
    """The hand of a table (1,); plays its last card."""
    state = table[0]
    if state.phase == engine.PLAYING and state.num_played + 1 == state.to_play:
        engine.apply(state, record[0], int(state.legal).bit_length() - 1)
    if state.phase != engine.OVER:
        raise ValueError(f"it isn't over: {state.num_played} cards of {state.to_play} are played")
    if state.num_played < state.to_play:
        raise ValueError("it ended with a revoke: only hands that are played out are recorded")
    seats = range(rules.seats)
    dealt = np.zeros((1, rules.seats, NUM_CARDS), np.int8)
    engine.dealt_cards(table, record, dealt)
    penalties = state.penalties[: rules.seats].tolist()
    gained = [0 if state.playoff else points for points in penalties]
    totals = state.totals[: rules.seats].tolist()
    before = tuple(total - points for total, points in zip(totals, gained, strict=True))
    hand = Hand(
        rules,
        int(state.dealer),
        tuple(tuple(np.repeat(_EVERY_CARD, counts).tolist()) for counts in dealt[0]),
        tuple(tuple(engine.cards_of(state.given[seat])) for seat in seats),
        tuple(state.cards[: state.num_played].tolist()),
        tuple(penalties),
        agents,
        int(state.seed),
        int(state.table),
        int(state.hand),
        int(state.match_hand) if record[0].whole_match else None,
        before if any(before) else (),
        tuple(s for s in seats if int(state.playing) >> s & 1) if state.playoff else (),
    )
    if hand._start().pass_steps != state.pass_steps:
        raise ValueError("its pass didn't go where it goes by these rules in such an episode")
    return hand


def _listed(numbers: Iterable[int]) -> str:
    return " ".join(map(str, numbers))
