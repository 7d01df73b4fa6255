"""What several test files need: one table driven by card names, and random play."""

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

import oracle
from black_maria import engine
from black_maria.bots import make_bot
from black_maria.layout import layout_of
from black_maria.rules import Rules, as_rules
from black_maria.tables import Tables, history_rows
from oracle import CARDS, ID

PHASES = ("passing", "playing", "over")


def names(ids: Iterable[int]) -> list[str]:
    """Card ids as the tests write cards: ``"QS"``, ``"10H"``."""
    return [CARDS[int(card)] for card in ids]


def ids(text: str) -> list[int]:
    return [ID[card] for card in text.split()]


def plane_names(plane: int) -> set[str]:
    """The cards of a one-pack plane."""
    return {card for card in CARDS if int(plane) >> ID[card] & 1}


def cards_in(planes: Iterable[int]) -> list[str]:
    """A set of the engine as card names in order, twins twice."""
    return [CARDS[c] for c in range(52) for plane in planes if int(plane) >> c & 1]


def dealt(
    seed: int, table: int = 0, hand: int = 0, rules: str | Rules = "three_player"
) -> tuple[list[list[str]], int]:
    """The engine's deal as card names, and its dealer."""
    cards, dealer = engine.deal(seed, table, hand, rules)
    return [names(row) for row in cards], dealer


class Hand:
    """One hand at one table of the engine, started from a given deal."""

    def __init__(
        self,
        deal: Sequence[str | Iterable[str]],
        dealer: int = 0,
        totals: Sequence[int] | None = None,
        *,
        reward: str = "trick",
        match: bool = False,
        number: int = 0,
        rules: str | Rules = "three_player",
    ) -> None:
        """Deal: the cards of each seat, before passing; ``number``: of a hand outside a match."""
        self.rules = as_rules(rules)
        self.layout = layout_of(self.rules)
        episode = "match" if match else "hand"
        self._args = engine.rules_record(self.rules, reward, episode), self.layout.record
        self._desk = np.zeros(1, engine.DESK)
        self._desk["rules"], self._desk["at"] = self._args
        self.states = self._desk["state"]
        self.rewards = self._desk["rewards"][0, : self.rules.seats]
        self._seen = np.zeros(self.layout.size, np.int8)
        cards = [c if isinstance(c, str) else list(c) for c in deal]
        first = {"number": number} if number else {}
        engine.start(
            self.states, self.rules, self._args[0],
            deal=cards, dealer=dealer, totals=totals, **first,
        )  # fmt: skip

    @property
    def state(self):
        return self.states[0]

    def act(self, card: str) -> bool:
        """Pass or play a card for the seat to move; whether the episode is over."""
        if engine.find_illegal(self.states, np.array([ID[card]]), np.ones(1, np.bool_)) >= 0:
            raise ValueError(engine.illegal_reason(self.state, self.rules, ID[card]))
        engine.step_one(self._desk, ID[card], -1, self._seen)
        assert np.array_equal(self._desk["mask"][0, :52], self.mask)
        assert np.array_equal(self._seen, self.views[self.turn])
        return self.phase == "over"

    def revoke(self) -> bool:
        """The seat to move plays a card that it may not; whether the episode is over."""
        engine.step_one(self._desk, engine.REVOKE, -1, self._seen)
        assert not self._desk["mask"].any() or self.phase != "over"
        return self.phase == "over"

    def do(self, cards: str) -> "Hand":
        """``act`` card after card."""
        for card in cards.split():
            self.act(card)
        return self

    @property
    def views(self) -> np.ndarray:
        """What every seat sees, (seats, F)."""
        views = np.full((1, self.rules.seats, self.layout.size), -99, np.int8)
        engine.observe_all(self.states, *self._args, views)
        return views[0]

    @property
    def turn(self) -> int:
        return int(self.state.turn)

    @property
    def phase(self) -> str:
        return PHASES[self.state.phase]

    @property
    def mask(self) -> np.ndarray:
        return (int(self.state.legal) >> np.arange(52) & 1).astype(np.int8)

    @property
    def legal(self) -> set[str]:
        return plane_names(self.state.legal)

    @property
    def penalties(self) -> list[int]:
        return self.state.penalties[: self.rules.seats].tolist()

    @property
    def totals(self) -> list[int]:
        return self.state.totals[: self.rules.seats].tolist()

    def holding(self, seat: int) -> set[str]:
        return plane_names(self.state.holding[seat, 0])

    def captured(self, seat: int) -> set[str]:
        return plane_names(self.state.captured[seat, 0])

    def block(self, observer: int, name: str):
        """A block of a seat's view: cards where it holds cards, else the numbers."""
        block = self.layout.blocks[name]
        values = self.views[observer, self.layout[name]].reshape(block.shape)
        if block.shape[-1] != 52:
            return values.tolist()
        rows = [set(names(np.flatnonzero(row))) for row in values.reshape(-1, 52)]
        return rows if values.ndim == 2 else rows[0]

    def history(self, observer: int) -> np.ndarray:
        rows = np.zeros((history_rows(self.rules), 3), np.int8)
        engine.write_history(self.state, self._args[0][0], observer, rows)
        return rows

    def obs(self) -> dict[str, np.ndarray]:
        """The acting seat's observation, as a batch of one."""
        return {"observation": self.views[self.turn][None].copy(), "action_mask": self.mask[None]}


def playing(holdings: Sequence[str], leader: int = 0, **options) -> Hand:
    """A hand whose pass is done: these are the holdings with which ``leader`` leads.

    Each seat was dealt them less three cards that it then got from its neighbour.
    """
    rules = as_rules(options.get("rules", "three_player"))
    after = [oracle.hand_of(text) for text in holdings]
    seats = len(after)
    direction = rules.pass_cycle[options.get("number", 0) % len(rules.pass_cycle)]
    steps = {"none": 0, "left": 1, "right": seats - 1, "across": seats // 2}[direction]
    kept = set(names(rules.kept))
    free = [sorted(cards - kept, key=ID.get) for cards in after]
    came = [cards[: rules.pass_count if steps else 0] for cards in free]
    given = [came[(s + steps) % seats] for s in range(seats)]
    deal = [(after[s] - set(came[s])) | set(given[s]) for s in range(seats)]
    hand = Hand(deal, (leader - 1) % seats, **options)
    for k in range(seats):
        hand.do(" ".join(given[(leader + k) % seats]))
    assert hand.phase == "playing"
    assert hand.turn == leader
    assert [hand.holding(s) for s in range(seats)] == after
    return hand


def fill(
    *holdings: str,
    void: dict[int, str] | None = None,
    pack: set[str] = oracle.THREE_PLAYER.pack,
) -> list[str]:
    """Holdings completed from the rest of the pack, the same way every time.

    Args:
        *holdings: Some cards of each seat.
        void: Seat → suits that it must get nothing of.
        pack: The cards that are dealt out.
    """
    full = [list(oracle.hand_of(text)) for text in holdings]
    fill_up(full, pack.difference(*full), len(pack) // len(full), void)
    return [" ".join(cards) for cards in full]


def fill_up(full: list[list[str]], rest, size: int, void: dict[int, str] | None = None) -> None:
    """Give the rest of the cards out, in place, until every seat holds ``size``."""
    takers = {
        card: [s for s in range(len(full)) if card[-1] not in (void or {}).get(s, "")]
        for card in rest
    }
    for card in sorted(rest, key=lambda card: (len(takers[card]), ID[card])):
        seat = min(takers[card], key=lambda s: len(full[s]))
        full[seat].append(card)
    assert [len(cards) for cards in full] == [size] * len(full), "cannot be filled up like this"


def random_legal(mask: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """One legal card a row, drawn outside the package: (B,) from (B, 52)."""
    return np.where(mask != 0, generator.random(mask.shape), -1).argmax(axis=1)


def play(tables: Tables, plies: int, bot: str = "random") -> np.ndarray:
    """Let a bot play; the rewards of every ply, (plies, N, seats)."""
    player = make_bot(bot, tables.rules)
    rewards = np.zeros((plies, len(tables), tables.rules.seats), np.float32)
    for ply in range(plies):
        obs, _ = tables.observe()
        rewards[ply] = tables.step(player.act(obs, tables.keys()))[0]
    return rewards


def outputs(tables: Tables) -> bytes:
    """Everything that tables hand out."""
    obs, seat = tables.observe()
    arrays = [*obs.values(), seat, tables.keys(), tables.views(), tables.totals()]
    return b"".join(array.tobytes() for array in arrays)


def snapshot(tables: Tables) -> bytes:
    """Everything that tables are and hand out; field by field, since records have padding."""
    states = tables.save()
    fields = b"".join(states[name].tobytes() for name in engine.STATE.names)
    return fields + outputs(tables)


def play_off(rules: Rules, seats: list[int], total: int, seed: int) -> Tables:
    """A play-off between some seats that have this total, about to begin; no other has it."""
    generator = np.random.default_rng(seed)
    pack = generator.permutation(rules.playoff_deck(len(seats)))
    deal = [pack[seats.index(s) :: len(seats)].tolist() if s in seats else [] for s in range(10)]
    states, record = np.zeros(1, engine.STATE), engine.rules_record(rules, episode="match")
    engine.start(
        states, rules, record, deal=deal[: rules.seats], dealer=int(generator.choice(seats)),
        totals=[total if seat in seats else total + 7 for seat in range(rules.seats)],
        number=rules.hands, playoff=seats,
    )  # fmt: skip
    tables = Tables(1, rules, episode="match", history=True, deal_on=False)
    tables.load(states)
    return tables


def digest(name: str = "three_player", seats: int = 3, plies: int = 130) -> str:
    """A hash of everything that a few tables hand out while bots play there."""
    rules = Rules.profile(name, seats)
    if rules.playoff:  # soon, and with hands that tie
        rules = rules.replace(hands=None, match_points=1, exceed=False)
    tables = Tables(2, rules, seed=2**64 - 1, episode="match", reward="relative", history=True)
    bots = [make_bot(name, rules) for name in ("random", "duck", "heuristic")]
    sha = hashlib.sha256()
    for ply in range(plies):
        obs, seat = tables.observe()
        keys = tables.keys()
        actions = bots[ply // 2 % 3].act(obs, keys)
        for array in (*obs.values(), seat, keys, actions, tables.views(), tables.totals()):
            sha.update(np.ascontiguousarray(array).tobytes())
        for array in tables.step(actions):
            sha.update(array.tobytes())
    return sha.hexdigest()


def wait_until(happened: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Wait for something that a running process does."""
    deadline = time.monotonic() + 120
    while not happened():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


def plain_python(code: str) -> str:
    """What code prints that finds the tests' helpers and runs without numba's compiler."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, cwd=Path(__file__).parent,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.strip()
