"""Many seats side by side for Gymnasium: ``BlackMaria`` in batches, on ``Tables``."""

from collections.abc import Mapping, Sequence
from typing import Any, SupportsIndex

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from black_maria import engine
from black_maria.cards import NUM_CARDS
from black_maria.given import array, chosen_rows, items, room_for, shown, whole
from black_maria.mixed import flattened, history_shape
from black_maria.mixed_tables import MixedTables
from black_maria.opponents import RulesOfRows, allowed, learner_seats
from black_maria.render import Scene
from black_maria.render import shown as drawn
from black_maria.rules import Rules
from black_maria.seat import BlackMaria
from black_maria.spaces import print_shortly
from black_maria.tables import Tables, table_bytes


class BlackMariaVectorEnv(VectorEnv[Any, Any, NDArray[Any]]):
    """Many seats side by side on ``Tables``; ``BlackMaria``'s docstring is the manual page.

    Row i is what a ``BlackMaria`` seeded seed + i plays, and the whole is, number for number,
    a ``SyncVectorEnv`` of them with the same autoreset mode, *same step*: where an episode
    ends, the step returns the first observation and info of the next one, which is always
    waiting for a card, and the last ones in ``info["final_obs"]`` and ``info["final_info"]``.
    Each opponent chooses for all rows in which it is to move at once. For Stable-Baselines3 there
    is ``black_maria.sb3.BlackMariaVecEnv``.

    Args:
        num_envs: How many, 1 or more.
        **arguments: ``BlackMaria``'s. ``render_mode="human"`` is for one table only.
    """

    metadata = {  # noqa: RUF012 - Gymnasium declares it as it is
        **BlackMaria.metadata,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    autoreset_mode = AutoresetMode.SAME_STEP

    def __init__(self, num_envs: int = 1, **arguments: Any) -> None:
        """Set the tables up; ``reset`` deals."""
        mode = arguments.get("render_mode")
        if isinstance(mode, str) and mode == "human":
            raise ValueError("render_mode='human' shows one table: use a single environment")
        one = BlackMaria(**arguments)  # checks the arguments
        self.num_envs = num_envs = whole(num_envs, "num_envs")
        if num_envs < 1:
            raise ValueError(f"num_envs={shown(num_envs)}: there must be at least one")
        # an observation for the table, four more for the bounds of the space
        room_for(num_envs, 5 * table_bytes(one.rules, one.history), "environments")
        self.opponents, self.seat = one.opponents, one.seat
        self.illegal, self.flatten, self.history = one.illegal, one.flatten, one.history
        self.render_mode = one.render_mode
        self.single_observation_space = one.observation_space
        self.single_action_space = one.action_space
        self.observation_space = batch_space(one.observation_space, num_envs)
        self.action_space = batch_space(one.action_space, num_envs)
        print_shortly(self.observation_space)

        own = ("reward", "episode", "history")
        scoring = {name: value for name, value in arguments.items() if name in own}
        self._tables: Tables = (
            MixedTables(num_envs, one.mixed, **scoring)
            if one.mixed
            else Tables(np.zeros(num_envs, np.int64), one.rules, deal_on=False, **scoring)
        )
        self._history_shape = history_shape(one.rules, one.mixed)
        self._record = engine.rules_record(self._tables.rules)[0]
        self._rows = np.arange(num_envs)
        self._seat = np.zeros(num_envs, np.int64)
        self._seeded = np.zeros(num_envs, np.bool_)
        self._ready = np.zeros(num_envs, np.bool_)  # false also once an opponent has failed

    def reset(
        self,
        *,
        seed: SupportsIndex | Sequence[int | None] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Start a new episode in every row.

        Args:
            seed: s for s, s + 1, …; or (N,), one for each row. None: each row's next hand.
            options: As for ``BlackMaria``, for every row; also ``"reset_mask"``, (N,) bool:
                the rows to reset.

        Raises:
            ValueError: An impossible seed or option; nothing has changed.
        """
        given = engine.check_options(options)
        where = np.ones(self.num_envs, np.bool_)
        if options is not None and options.get("reset_mask") is not None:
            where = chosen_rows(options["reset_mask"], self.num_envs, "reset_mask")
        seeds, fresh = self._checked_seeds(seed)
        states = self._tables.states()
        seeds, hands = (
            np.where(fresh, seeds, states["seed"]),
            np.where(fresh, 0, states["hand"] + 1),
        )
        if given:
            self._tables.start(**given, seed=seeds, hand=hands, where=where)
        else:
            self._tables.reset(seeds, where, hand=hands)
        self._seeded |= where
        self._begin(where)
        return self._observe(), self._infos(where, self._mask)

    def step(
        self, actions: ArrayLike
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Pass or play a card in every row, and let the opponents move.

        Raises:
            ValueError: Not (N,) integers, or an illegal card, with ``illegal="raise"``; no
                row has moved.
            RuntimeError: An opponent failed; reset before going on.
        """
        if not self._ready.all():
            raise ResetNeeded("no card is due in some rows: call reset()")
        cards, legal = self._checked(actions)
        self._ready[:] = False
        rewards, ended = np.zeros(self.num_envs), np.zeros(self.num_envs, np.bool_)
        self._count(self._tables.step(cards, legal), legal, rewards, ended)
        if not legal.all():
            self._count(self._tables.revoke(~legal), ~legal, rewards, ended)
        self._others_move(rewards, ended)
        final = self._final(ended) if ended.any() else {}
        if final:
            self._tables.reset(where=ended)
            self._begin(ended)
        self._ready[:] = True
        every = np.ones(self.num_envs, np.bool_)
        infos = self._infos(every, self._mask) | final
        return self._observe(), rewards, ended, np.zeros_like(ended), infos

    def action_masks(self) -> NDArray[np.bool_]:
        """The cards that may be chosen now, (N, 52) bool; none where a reset is due."""
        masks: NDArray[np.bool_] = self._mask.astype(np.bool_)
        masks &= self._ready[:, None]
        return masks

    def render(self) -> tuple[Any, ...] | None:
        """A picture of every table, as the render mode says.

        Raises:
            gymnasium.error.ResetNeeded: In some rows nobody has asked for a hand yet.
        """
        if self.render_mode is None:
            return None
        if not self._seeded.all():
            raise ResetNeeded("there are rows without a hand to draw: call reset()")
        scenes = (
            Scene.of(state, self._tables.rules_at(row))
            for row, state in enumerate(self._tables.states())
        )
        return tuple(drawn(scene, self.render_mode) for scene in scenes)

    @property
    def rules(self) -> Rules | tuple[Rules, ...]:
        """The rules; where every episode draws its own, each row's."""
        return self._by if isinstance(self._by, Rules) else tuple(self._by)

    @property
    def _by(self) -> RulesOfRows:
        return self._tables.by if isinstance(self._tables, MixedTables) else self._tables.rules

    @property
    def _mask(self) -> NDArray[np.int8]:
        return self._tables.observe()[0]["action_mask"]

    def _checked_seeds(self, seed: Any) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        """Seeds (N,), and which rows start from theirs; the others go on with the next hand."""
        seeds: list[Any] = [None] * self.num_envs
        if seed is not None and array(seed).ndim == 0:
            seeds = [engine.check_seed(seed) + i for i in range(self.num_envs)]
        elif seed is not None:
            seeds = items(seed, self.num_envs, ordered=True) or []
        if len(seeds) != self.num_envs:
            raise ValueError(f"seed={shown(seed)}: give one for each of {self.num_envs} rows")
        given = np.array([number is not None for number in seeds])
        numbers = np.random.SeedSequence().generate_state(self.num_envs, np.uint64)
        numbers[given] = [engine.check_seed(number) for number in seeds if number is not None]
        return numbers.astype(np.uint64), given | ~self._seeded

    def _checked(self, actions: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Cards (N,), and which are legal."""
        given = array(actions)
        if given.shape != self._rows.shape or given.dtype.kind not in "iu":
            raise ValueError(
                f"actions must be {self.num_envs} integers, not {given.dtype} {given.shape}"
            )
        cards = given.astype(np.int64)  # a copy: opponents' cards go in as well
        legal = allowed(self._mask, self._rows, cards)
        if self.illegal == "raise" and not legal.all():
            row = int(legal.argmin())
            state = self._tables.states()[row]
            reason = engine.illegal_reason(state, self._tables.rules_at(row), int(given[row]))
            raise ValueError(f"row {row}, {reason}")
        return cards, legal

    def _begin(self, where: NDArray[np.bool_]) -> None:
        """Sit down at tables just dealt, and let the opponents move."""
        self._ready[where] = False
        seats = learner_seats(self._tables.states(), self._tables.rules, self.seat)
        self._seat[where] = seats[where]
        self._others_move(np.zeros(self.num_envs), ~where)
        self._ready[where] = True

    def _others_move(self, rewards: NDArray[np.float64], ended: NDArray[np.bool_]) -> None:
        """Play on to each row's next decision or its end; adds to ``rewards``, ``ended``."""
        cards, states = np.zeros(self.num_envs, np.int64), self._tables.states()
        while (where := ~ended & (states["turn"] != self._seat)).any():
            obs, _ = self._tables.observe()
            self.opponents.choose(
                cards, obs, self._tables.keys(), states, self._seat, np.flatnonzero(where), self._by
            )
            self._count(self._tables.step(cards, where), where, rewards, ended)

    def _count(
        self,
        told: tuple[NDArray[np.float32], NDArray[np.bool_]],
        where: NDArray[np.bool_],
        rewards: NDArray[np.float64],
        ended: NDArray[np.bool_],
    ) -> None:
        """Add to ``rewards`` and ``ended`` what the tables told when some rows moved."""
        earned, done = told
        rewards += earned[self._rows, self._seat]
        ended |= done
        ended |= where & (self._tables.states()["playing"] >> self._seat & 1 == 0)  # a play-off

    def _observe(self) -> Any:
        obs, _ = self._tables.observe()
        own = {name: values.copy() for name, values in obs.items()}
        if not self._seeded.all():  # nobody has asked for a hand there
            for values in own.values():
                values[~self._seeded] = 0
        return flattened(own) if self.flatten else own

    def _infos(self, where: NDArray[np.bool_], mask: NDArray[np.int8]) -> dict[str, Any]:
        """Gymnasium's batch of infos: zeros in the other rows, and ``"_name"`` says which."""
        infos: dict[str, Any] = {
            "action_mask": mask,
            "seat": self._seat,
            "dealer": self._tables.states()["dealer"].astype(np.int64),
            "totals": self._tables.totals(),
        }
        if isinstance(self._tables, MixedTables):
            infos["rules"] = np.array([rules.name for rules in self._tables.by], object)
        for name, values in list(infos.items()):
            infos[name] = np.full_like(values, None if values.dtype == object else 0)
            infos[name][where] = values[where]
            infos[f"_{name}"] = where.copy()
        return infos

    def _final(self, ended: NDArray[np.bool_]) -> dict[str, Any]:
        """The last observations and infos of episodes that have ended, as Gymnasium has them."""
        rows = np.flatnonzero(ended)
        batch: dict[str, NDArray[Any]] = {
            "observation": self._tables.views(ended)[np.arange(len(rows)), self._seat[rows]],
            "action_mask": np.zeros((len(rows), NUM_CARDS), np.int8),
        }
        if self.history:
            batch["history"] = np.empty((len(rows), *self._history_shape), np.int8)
            for k, row in enumerate(rows):
                state = self._tables.states()[row]
                engine.write_history(state, self._record, self._seat[row], batch["history"][k])
        if isinstance(self._tables, MixedTables):
            batch["rules"] = self._tables.vectors[rows]
        last = np.full(self.num_envs, None, dtype=object)
        for k, row in enumerate(rows):
            each = {name: array[k] for name, array in batch.items()}
            last[row] = flattened(each) if self.flatten else each
        info = self._infos(ended, np.zeros_like(self._mask))
        return {
            "final_obs": last, "_final_obs": ended.copy(),
            "final_info": info, "_final_info": ended.copy(),
        }  # fmt: skip
