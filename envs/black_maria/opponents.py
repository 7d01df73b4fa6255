"""Who plays the other seats: given by name, as an agent or as a function, and watched closely."""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, lru_cache, partial
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from black_maria import engine
from black_maria.agent import Agent
from black_maria.bots import Bot, make_bot
from black_maria.cards import NUM_CARDS
from black_maria.given import shown
from black_maria.mixed import Mixed, places_of
from black_maria.rules import Rules
from black_maria.threads import cores

_ROWS_A_THREAD: Final = 128  # fewer cost more to hand over than to play

Batch: TypeAlias = Mapping[str, NDArray[np.int8]]
"""Observations of many seats, arrays with a leading axis."""


RulesOfRows: TypeAlias = Rules | NDArray[np.object_]
"""The rules of all rows, or each row's own, (N,)."""

Opponent: TypeAlias = str | Agent | Callable[[Batch, NDArray[np.uint64]], ArrayLike]
"""How an opponent is given: a bot's name, an agent, or a function like an agent's ``act``."""


class Opponents:
    """The players of the other seats.

    Where every episode draws its rules, a bot by name plays by them, and whoever else is told them
    by ``obs["rules"]``.
    """

    def __init__(self, given: Opponent | Sequence[Opponent], rules: Rules | Mixed) -> None:
        """Look the players up; equal ones are one, asked once for all its seats."""
        self._arguments = given, rules
        each = list(given) if isinstance(given, list | tuple) else [given] * (rules.seats - 1)
        if len(each) != rules.seats - 1:
            raise ValueError(
                f"{len(each)} opponents for {rules.seats - 1} seats: give one for all, or one "
                "for each from the left neighbour on"
            )
        keys = [player if isinstance(player, str) else id(player) for player in each]
        distinct = dict(zip(keys, each, strict=True))
        self._players = [(_name(player), _act(player, rules)) for player in distinct.values()]
        numbers = [list(distinct).index(key) for key in keys]
        self._player_at = np.array([-1, *numbers])  # by relative seat; 0 is the learner's own

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies look the bots up again: compiled code travels badly."""
        return Opponents, self._arguments

    def choose(
        self,
        cards: NDArray[np.int64],
        obs: Batch,
        keys: NDArray[np.uint64],
        states: NDArray[Any],
        seat: NDArray[np.int64],
        rows: NDArray[np.int64],
        rules: RulesOfRows,
    ) -> None:
        """Write the opponents' cards for some rows, in all of which one is to move.

        Args:
            cards: (N,) int64, written where ``rows`` says.
            obs: What the acting seats see, arrays (N, …); opponents get copies.
            keys: (N,) uint64.
            states: (N,) engine records.
            seat: (N,) where the learner sits.
            rows: Some of 0 … N − 1.
            rules: What is played there.

        Raises:
            RuntimeError: An opponent failed or chose an illegal card; names it, seat and hand.
        """
        relative = (states["turn"][rows] - seat[rows]) % len(self._player_at)
        for number, (name, act) in enumerate(self._players):
            mine = rows[self._player_at[relative] == number]
            if not len(mine):
                continue
            row, cause = mine[0], None
            batch = {name: array[mine] for name, array in obs.items()}
            try:
                if isinstance(act, _BotByRules):
                    chosen = act.under(rules_at(rules, mine), batch, keys[mine])
                else:
                    chosen = np.asarray(act(batch, keys[mine]))
            except Exception as error:
                cause, problem = error, f"{type(error).__name__}: {error}"
            else:
                if chosen.shape != mine.shape or chosen.dtype.kind not in "iu":
                    problem = f"act returned {chosen.dtype} {chosen.shape}, not {len(mine)} cards"
                elif (legal := allowed(obs["action_mask"], mine, chosen)).all():
                    cards[mine] = chosen
                    continue
                else:
                    wrong = int(legal.argmin())
                    row, card = mine[wrong], int(chosen[wrong])
                    problem = engine.illegal_reason(states[row], rules_at(rules, row), card)
            state = states[row]
            raise RuntimeError(
                f"opponent {name} at seat {state.turn}, hand {state.hand} of seed {state.seed}: "
                f"{problem}"
            ) from cause


def rules_at(rules: RulesOfRows, rows: Any) -> Any:
    """The rules of some rows."""
    return rules if isinstance(rules, Rules) else rules[rows]


def _act(opponent: Any, rules: Rules | Mixed) -> Any:
    if isinstance(rules, Mixed):
        if isinstance(opponent, str):
            return _BotByRules(opponent)
        own = getattr(opponent, "rules", None)
        if isinstance(own, Rules) and any(each != own for each in rules.sets or [None]):
            raise ValueError(
                f"opponent {_name(opponent)} plays by {own.name!r} alone, and here every episode "
                'draws its rules: give a bot by name, or one that reads obs["rules"]'
            )
    elif isinstance(opponent, str):
        opponent = make_bot(opponent, rules)
    if isinstance(opponent, Bot):
        return partial(_shared_out, opponent)
    act = getattr(opponent, "act", opponent)
    if not callable(act):
        raise TypeError(f"opponent {shown(opponent)} is no name, has no act() and can't be called")
    return act


_bot = lru_cache(2048)(make_bot)


class _BotByRules:
    """The bot of a name, made for the rules of each row."""

    def __init__(self, name: str) -> None:
        """Look whether there is one."""
        self.name = make_bot(name).name

    def under(self, rules: RulesOfRows, obs: Batch, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Its cards, (B,), for rows of these rules."""
        if isinstance(rules, Rules):
            return _shared_out(_bot(self.name, rules), obs, keys)
        cards = np.empty(len(keys), np.int64)
        for rows in places_of(rules):
            batch = {name: obs[name][rows] for name in ("observation", "action_mask")}
            cards[rows] = _shared_out(_bot(self.name, rules[rows[0]]), batch, keys[rows])
        return cards


def _shared_out(bot: Bot, obs: Batch, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """A bot's choice, the rows of a large batch shared out over the cores.

    Its kernels hold no lock, and no row depends on another.
    """
    parts = min(cores(), len(keys) // _ROWS_A_THREAD)
    if parts < 2:
        return bot.act(obs, keys)
    shares = [slice(k * len(keys) // parts, (k + 1) * len(keys) // parts) for k in range(parts)]
    batches = [{name: array[share] for name, array in obs.items()} for share in shares]
    return np.concatenate([*_threads().map(bot.act, batches, [keys[share] for share in shares])])


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(cores())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_threads.cache_clear)  # threads don't survive a fork


def _name(opponent: Any) -> str:
    names = (getattr(opponent, attribute, None) for attribute in ("name", "__name__"))
    return opponent if isinstance(opponent, str) else next(filter(None, names), repr(opponent))


def allowed(
    mask: NDArray[np.int8], rows: NDArray[np.int64], cards: NDArray[Any]
) -> NDArray[np.bool_]:
    """Whether each card is one that its row's mask allows."""
    in_pack = (cards >= 0) & (cards < NUM_CARDS)
    legal: NDArray[np.bool_] = in_pack & (mask[rows, np.where(in_pack, cards, 0)] == 1)
    return legal


def learner_seats(states: NDArray[Any], rules: Rules, fixed: int | None) -> NDArray[np.int64]:
    """Where the learner sits in episodes that start from (N,) records, (N,).

    Its fixed seat, or one drawn for each table as a function of its (seed, table, hand).
    """
    seats = np.full(len(states), fixed or 0, np.int64)
    if fixed is None:
        engine.draw_seats(states, engine.rules_record(rules), seats)
    return seats
