"""A person's game against agents: whose turn it is, what may be done, and what there is to see.

Both faces, the page and the terminal, show a ``Game`` and ask it to move. Every wish is checked
here, against the number of moves that the asker has seen and against the mask; one that is refused
changes nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from black_maria import engine, record
from black_maria.cards import NUM_CARDS
from black_maria.opponents import Opponents
from black_maria.render import Scene
from black_maria.rules import Rules
from black_maria.tables import Tables
from black_maria_agents.base import Agent, wants_history
from black_maria_agents.play.advice import Advice, advise

PASS, PLAY, WAIT, NEXT, OVER = "pass", "play", "wait", "next", "over"
"""What a person has to do: pass cards, play one, let an agent that failed try again, go on to the
next hand, or go on to the next match."""

YOU: Final = "you"
"""What the person is called."""


_OF_YOU: Final = (
    ("seat {} may", "you may"),
    ("seat {}: ", ""),
    (": it holds", ": you hold"),
    (": it must", ": you must"),
    (" and holds ", " and you hold "),
)
"""The engine's words on an illegal card, and what the person at that seat is told."""


class RefusedError(ValueError):
    """A wish that can't be fulfilled; the message says why. Nothing has changed."""


class StaleError(RefusedError):
    """A wish about a table that has moved on since, as after a double click."""


@dataclass
class Sheet:
    """What the hands of a match came to.

    Attributes:
        hands: Penalty points by seat, a row for each hand that is over.
        totals: Match points by seat; a play-off's points enter none.
    """

    hands: list[list[int]] = field(default_factory=list)
    totals: list[int] = field(default_factory=list)


class Game:
    """A match, and the next one, at one table.

    Args:
        rules: The rules to play by.
        opponents: One agent for all other seats, or one for each from the left neighbour on.
        seat: Where the person sits.
        seed: Of the deals, and of what the agents draw.
        advisor: Who is asked for advice.
        on_hand: Called with every hand that is over.

    Attributes:
        names: Who sits where.
        frames: What there was to see of this hand, from the person's seat, card after card.
        number: How many things have happened at this table; a wish must name it.
        hand: The hand played last, once it is over.
        sheet: What this match has come to.

    Raises:
        ValueError: A seat that there isn't, or a number of opponents that doesn't fit.
    """

    def __init__(
        self,
        rules: Rules,
        opponents: Sequence[Agent],
        *,
        seat: int = 0,
        seed: int = 0,
        advisor: Agent | None = None,
        on_hand: Callable[[record.Hand], Any] = lambda hand: None,
    ) -> None:
        """Deal, and let the others move up to the person's first decision."""
        if not 0 <= seat < rules.seats:
            raise ValueError(f"seat={seat}: there are seats 0 … {rules.seats - 1}")
        each = [*opponents] * (rules.seats - 1 if len(opponents) == 1 else 1)
        self._opponents = Opponents(each, rules)
        self.rules, self.seat, self.advisor = rules, seat, advisor
        self.names = tuple(
            YOU if k == seat else each[(k - seat) % rules.seats - 1].name
            for k in range(rules.seats)
        )
        self._on_hand = on_hand
        history = any(wants_history(agent) for agent in (*each, advisor) if agent is not None)
        self._tables = Tables(1, rules, seed=seed, episode="match", history=history, deal_on=False)
        self.number = 0
        self.sheet = Sheet(totals=[0] * rules.seats)
        self._begin()

    # --- what there is to see and to do -----------------------------------------------------------

    @property
    def state(self) -> Any:
        """The table, an ``engine.STATE`` record: at a hand's end, as that left it."""
        return self._end if self._end is not None else self._tables.states()[0]

    @property
    def task(self) -> str:
        """What is to be done: one of ``PASS``, ``PLAY``, ``WAIT``, ``NEXT``, ``OVER``."""
        if self._end is not None:
            return OVER if self._end.winners else NEXT
        if self.state.turn != self.seat:
            return WAIT
        return PASS if self.state.phase == engine.PASSING else PLAY

    def legal(self) -> list[int]:
        """The cards that the person may choose now."""
        if self.task not in (PASS, PLAY):
            return []
        return np.flatnonzero(self._tables.observe()[0]["action_mask"][0]).tolist()

    @property
    def to_pass(self) -> int:
        """How many cards the person passes now."""
        return self.rules.pass_count if self.task == PASS else 0

    def passes_to(self) -> int | None:
        """The seat that gets the person's cards in this hand; None: nobody passes."""
        state = self.state
        if not state.pass_steps or not int(state.playing) >> self.seat & 1:
            return None
        return int(engine.receiver(state, self._record[0], self.seat))

    def received(self) -> tuple[int, list[int]] | None:
        """Who gave the person cards in this hand, and which; None while nobody has."""
        state = self.state
        if state.phase == engine.PASSING or self.passes_to() is None:
            return None
        playing = [k for k in range(self.rules.seats) if int(state.playing) >> k & 1]
        for giver in playing:
            if engine.receiver(state, self._record[0], giver) == self.seat:
                return giver, engine.cards_of(state.given[giver])
        return None

    def advice(self, number: int) -> Advice:
        """What the advisor would choose now.

        Raises:
            RefusedError: There is no advisor, or nothing to choose; or the table has moved on.
        """
        self._check(number, PASS, PLAY)
        if self.advisor is None:
            raise RefusedError("nobody is here who could give advice")
        return advise(self.advisor, self._tables, self.to_pass or 1)

    # --- wishes -----------------------------------------------------------------------------------

    def choose(self, cards: Sequence[int], number: int) -> None:
        """Pass cards, or play one; then the others move up to the next decision.

        Args:
            cards: Ids: as many as are to be passed, or one.
            number: ``Game.number`` as the person saw it.

        Raises:
            RefusedError: They can't be chosen now; nothing has changed.
            RuntimeError: An opponent failed; the person's cards have been played.
        """
        self._check(number, PASS, PLAY)
        wanted = self.to_pass or 1
        if len(cards) != wanted:
            raise RefusedError(
                f"choose {wanted} {'card' if wanted == 1 else 'cards'}"
                f"{' to pass' if self.to_pass else ''}, not {len(cards)}"
            )
        before = self._tables.save()
        for place, card in enumerate(cards, 1):
            if why := self._refusal(card):
                self._tables.load(before)
                raise RefusedError(why)
            if place < wanted:
                self._tables.step(np.array([card]))
        self._step(cards[-1])
        self._others_move()

    def go_on(self, number: int) -> None:
        """Deal the next hand, or the first one of the next match.

        Raises:
            RefusedError: This hand isn't over; nothing has changed.
            RuntimeError: An opponent failed.
        """
        self._check(number, NEXT, OVER, WAIT)
        task = self.task
        if task == WAIT:
            self._others_move()
            return
        if task == OVER:
            self._tables.reset()
            self.sheet = Sheet(totals=[0] * self.rules.seats)
        self._begin()

    def _check(self, number: int, *tasks: str) -> None:
        if number != self.number:
            raise StaleError("the table has moved on since: look again")
        if self.task not in tasks:
            words = {
                PASS: "it is for you to pass cards",
                PLAY: "it is for you to play a card",
                WAIT: "an opponent is to move",
                NEXT: "the hand is over: go on to the next one",
                OVER: "the match is over: go on to the next one",
            }
            raise RefusedError(words[self.task])

    def _refusal(self, card: int) -> str:
        """Why the person may not choose a card; "" if it may be chosen."""
        if 0 <= card < NUM_CARDS and self._tables.observe()[0]["action_mask"][0, card]:
            return ""
        reason = engine.illegal_reason(self._tables.states()[0], self.rules, card)
        for of_a_seat, of_you in _OF_YOU:
            reason = reason.replace(of_a_seat.format(self.seat), of_you)
        return reason

    # --- the game goes on -------------------------------------------------------------------------

    @property
    def _record(self) -> NDArray[Any]:
        return engine.rules_record(self.rules, episode="match")

    def _begin(self) -> None:
        """Look at the hand that has been dealt, and let the others move."""
        self._end: Any = None
        self.hand: record.Hand | None = None
        self.frames: list[Scene] = []
        self._see()
        self._others_move()

    def _see(self) -> None:
        """Another thing has happened."""
        self.frames.append(Scene.of(self.state, self.rules, self.seat))
        self.number += 1

    def _others_move(self) -> None:
        """The agents pass and play up to the person's next decision, or to the hand's end."""
        tables, cards = self._tables, np.zeros(1, np.int64)
        while self.task == WAIT:
            obs, _ = tables.observe()
            self._opponents.choose(
                cards, obs, tables.keys(), tables.states(), np.array([self.seat]), np.arange(1),
                self.rules,
            )  # fmt: skip
            self._step(int(cards[0]))

    def _step(self, card: int) -> None:
        """Pass or play a legal card for the seat to move; see what came of it."""
        tables, before = self._tables, self._tables.save()
        passing = before["phase"][0] == engine.PASSING
        last = before["num_played"][0] + 1 == before["to_play"][0]
        _, done = tables.step(np.array([card]))
        if last:
            self._finish(before, bool(done[0]))
        elif passing and tables.states()["num_passed"][0] % max(1, self.rules.pass_count):
            return  # a seat's cards are seen to go together
        self._see()

    def _finish(self, before: NDArray[Any], match_over: bool) -> None:
        """Keep the hand whose last card has been played.

        Args:
            before: (1,) record of the table before that card.
            match_over: Whether the table keeps its last state.
        """
        (self.hand,) = record.of_states(before, self.rules, [self.names], episode="match")
        end = self.hand.replay()
        self._end = self._tables.save()[0] if match_over else end
        self.sheet.hands.append(end.penalties[: self.rules.seats].tolist())
        self.sheet.totals = end.totals[: self.rules.seats].tolist()
        self._on_hand(self.hand)
