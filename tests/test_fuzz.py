"""Any call, in any order, with anything for an argument: a right result, or words and no change.

State machines drive the four environments. Each move is either right, perhaps with its numbers
oddly kept, and is then compared with a plain model; or it has a hostile value in one place, and
then it is refused with nothing changed, or it was no worse than a right one.

``make fuzz`` plays on for ten minutes, with new moves each time.
"""

import copy
import io
import itertools
import logging
import os
import pickle
import re
import time
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from pettingzoo.utils.env_logger import EnvLogger

from black_maria import (
    BlackMaria,
    BlackMariaVectorEnv,
    Tables,
    black_maria_v0,
    deal,
    describe,
    engine,
    layout_of,
    make_bot,
    parse_card,
    parse_cards,
)
from helpers import snapshot
from hostile import LAYOUTS, dressed, frozen, hostile, laid_out

SECONDS = float(os.environ.get("FUZZ_SECONDS", "0"))
"""How long all machines look on together, with new moves; 0: a few moves, the same each time."""

seeds = st.integers(0, 2**64 - 1)
numbers = st.integers(0, 2**16)
picks = st.lists(numbers, min_size=3, max_size=3)
wheres = st.lists(st.booleans(), min_size=3, max_size=3).map(np.array)
profiles = st.sampled_from(["three_player", "traditional", "american_hearts", "cancellation"])
episodes = st.sampled_from(["hand", "match"])
illegals = st.sampled_from(["raise", "lose"])
layouts = st.sampled_from(LAYOUTS)
starts = st.sampled_from(engine.START_OPTIONS)


def in_a_file(records):
    """The same, as NumPy's files have them."""
    file = io.BytesIO()
    np.save(file, records)
    file.seek(0)
    return np.load(file)


KEEP = [np.copy, in_a_file, lambda records: pickle.loads(pickle.dumps(records))]
"""Ways in which saved games may be kept."""


def assert_sound(states, rules):
    """Records that can be: every card in one place, all numbers far from the ends of their type."""
    record = engine.rules_record(rules)
    assert engine.find_damage(np.array(states, engine.STATE), record) == -1
    for state in states:
        cards = np.zeros(52, np.int64)
        passing = state.pass_steps and state.num_passed < rules.pass_count * state.num_playing
        set_aside = state.given if passing else []
        for planes in (*state.holding, *state.played, *set_aside, state.kitty):
            engine.add_counts(planes, cards)
        pack = engine.deck_of_pack(state, record)
        assert (cards == np.bincount(pack, minlength=52)).all()
        assert abs(state.totals.astype(np.int64)).max() < 2**31 - 10**5


def nth(mask, pick):
    """One of the cards of a mask."""
    cards = np.flatnonzero(mask)
    return int(cards[pick % len(cards)])


class Machine(RuleBasedStateMachine):
    """What the machines have in common: ``env``, and how a refusal looks."""

    env = None

    def snapshot(self):
        """All that the environment is."""
        return frozen(self.env)

    @contextmanager
    def refusable(self, *names, also=()):
        """A call that is refused in words, nothing changed; or its outcome is ``accepted``.

        Args:
            *names: The words of a refusal have one of them, or say whose card it is.
            also: Errors that may come beside ``ValueError`` and ``ResetNeeded``.
        """
        before = self.snapshot()
        try:
            yield
        except ResetNeeded:
            assert self.snapshot() == before
        except (ValueError, *also) as error:
            said = str(error)
            assert any(name in said for name in (*names, "may not")), said
            assert self.snapshot() == before
        else:
            self.accepted()

    def accepted(self):
        """A call with a hostile value was as good as a right one."""


class TablesMachine(Machine):
    """``Tables``, beside others that get plain numbers, and a model of points and totals."""

    @initialize(profile=profiles, episode=episodes, deal_on=st.booleans(), history=st.booleans())
    def make(self, profile, episode, deal_on, history):
        self.options = {"episode": episode, "deal_on": deal_on, "history": history}
        self.env = Tables(3, profile, seed=1, **self.options)
        self.twin = Tables(3, profile, seed=1, **self.options)
        self.rules, self.deal_on = self.env.rules, deal_on
        self.saved = self.env.save()
        self.accepted()

    def snapshot(self):
        return snapshot(self.env)

    def accepted(self):
        """Let twin and model follow."""
        states = self.env.save()
        assert_sound(states, self.rules)
        self.twin.load(states)
        self.points = states["penalties"][:, : self.rules.seats].astype(int)
        self.totals = self.env.totals().astype(int)

    @invariant()
    def same(self):
        if self.env is not None:
            states = self.env.states()
            assert_sound(states, self.rules)
            assert (states["penalties"][:, : self.rules.seats] == self.points).all()
            assert (self.env.totals() == self.totals).all()
            assert snapshot(self.env) == snapshot(self.twin)

    def follow(self, moved, ends, earned, done):
        """Book rewards: points as they fall, totals when a hand ends."""
        playoff = self.before["playoff"]
        for row in np.flatnonzero(moved):
            self.points[row] -= earned[row].astype(int)
            if ends[row]:
                self.totals[row] += 0 if playoff[row] else self.points[row]
                if self.deal_on or not done[row]:
                    self.points[row] = 0
                    self.totals[row] *= not done[row]

    def open_rows(self):
        self.before = self.env.save()
        return self.before["phase"] != engine.OVER

    def legal(self, picks, moving):
        masks = self.env.observe()[0]["action_mask"]
        choices = zip(masks, picks, moving, strict=True)
        return np.array([nth(mask, pick) if moves else 0 for mask, pick, moves in choices])

    @rule(picks=picks, where=wheres, layout=layouts, data=st.data())
    def step(self, picks, where, layout, data):
        moving = where & self.open_rows()
        cards = self.legal(picks, moving)
        earned, done = self.env.step(data.draw(dressed(cards)), laid_out(moving, layout))
        expected = self.twin.step(cards, moving)
        assert np.array_equal(earned, expected[0])
        assert np.array_equal(done, expected[1])
        ends = self.before["num_played"] + 1 == self.before["to_play"]
        self.follow(moving, ends, earned, done)

    @rule(picks=picks, times=st.integers(1, 80))
    def play(self, picks, times):
        for _ in range(times):
            moving = self.open_rows()
            earned, done = self.env.step(self.legal(picks, moving), moving)
            ends = self.before["num_played"] + 1 == self.before["to_play"]
            self.follow(moving, ends, earned, done)
        self.twin.load(self.env.save())

    @rule(picks=picks, row=st.integers(0, 2), card=st.integers(0, 60))
    def step_illegal(self, picks, row, card):
        moving = self.open_rows()
        cards = self.legal(picks, moving)
        cards[row] = card
        masks = self.env.observe()[0]["action_mask"]
        if moving[row] and (card > 51 or not masks[row, card]):
            before = self.snapshot()
            with pytest.raises(ValueError, match=rf"^row {row}, table \d+, seat "):
                self.env.step(cards, moving)
            assert self.snapshot() == before

    @rule(where=wheres)
    def revoke(self, where):
        moving = where & self.open_rows()
        earned, done = self.env.revoke(moving)
        self.twin.revoke(moving)
        self.follow(moving, moving, earned, done)

    @rule(value=hostile(), where=st.one_of(st.none(), wheres, hostile()))
    def step_hostile(self, value, where):
        with self.refusable("actions", "action", "where"):
            self.env.step(value, where)

    @rule(value=hostile())
    def revoke_hostile(self, value):
        with self.refusable("where", "over"):
            self.env.revoke(value)

    @rule(value=hostile(), name=st.sampled_from(["seed", "where", "hand"]), seed=seeds)
    def reset_hostile(self, value, name, seed):
        with self.refusable(name, "seed"):
            self.env.reset(**{"seed": seed, name: value})

    @rule(value=hostile(), name=st.sampled_from([*engine.START_OPTIONS, "seed", "where", "hand"]))
    def start_hostile(self, value, name):
        with self.refusable(name, "deal", "seed"):
            self.env.start(**{name: value})

    @rule(seed=seeds, hand=st.integers(0, engine.LAST_HAND), where=wheres)
    def reset(self, seed, hand, where):
        self.env.reset(seed, where, hand=hand)
        for row in np.flatnonzero(where):
            dealt = deal(seed, row, hand, self.rules)
            state = self.env.states()[row]
            assert (state.hand, state.dealer) == (hand, dealt.dealer)
            held = [engine.cards_of(planes) for planes in state.holding[: self.rules.seats]]
            assert held == dealt.cards.tolist()
        assert not self.env.totals()[where].any()
        self.accepted()

    @rule(totals=st.lists(st.integers(-(2**30), 2**30), min_size=10, max_size=10), data=st.data())
    def start(self, totals, data):
        totals = totals[: self.rules.seats]
        dealer = data.draw(dressed(np.arange(3)))
        with self.refusable("totals"):
            self.env.start(totals=totals, dealer=dealer)
            assert (self.env.totals() == totals).all()
            assert self.env.states()["dealer"].tolist() == [0, 1, 2]

    @rule(where=wheres)
    def save(self, where):
        self.saved = self.env.save(np.flatnonzero(where))
        assert len(self.saved) == where.sum()

    @rule(layout=st.sampled_from(["plain", "read-only", "strided"]), keep=st.sampled_from(KEEP))
    def load(self, layout, keep):
        kept = laid_out(keep(self.saved), layout)
        self.env.load(kept, np.arange(len(kept)))
        assert frozen(self.env.save(np.arange(len(kept)))) == frozen(self.saved)
        self.accepted()

    @rule(value=hostile(), name=st.sampled_from(["saved", "tables"]))
    def load_hostile(self, value, name):
        with self.refusable("saved", "tables"):
            self.env.load(**{"saved": self.saved, name: value})

    @precondition(lambda self: len(self.saved))
    @rule(at=numbers, bit=st.integers(0, 7), picks=picks)
    def load_damaged(self, at, bit, picks):
        """Refused, or it can be played to an end."""
        damaged = self.saved.copy()
        damaged.view(np.uint8)[at % damaged.nbytes] ^= 1 << bit
        before = self.env.save()
        try:
            self.env.load(damaged, np.arange(len(damaged)))
        except ValueError as error:
            assert "saved" in str(error)  # noqa: PT017
        else:
            for _ in range(150):
                moving = self.open_rows()
                self.env.step(self.legal(picks, moving), moving)
            self.env.load(before)

    @rule(value=hostile(), name=st.sampled_from(["views", "save"]))
    def look(self, value, name):
        before = self.snapshot()
        try:
            getattr(self.env, name)(value)
        except ValueError as error:
            assert re.search("where|tables", str(error))  # noqa: PT017
        assert self.snapshot() == before


class AecMachine(Machine):
    """``raw_env`` and ``env``, and a model of points and totals."""

    @initialize(profile=profiles, episode=episodes, wrapped=st.booleans(), history=st.booleans())
    def make(self, profile, episode, wrapped, history):
        make = black_maria_v0.env if wrapped else black_maria_v0.raw_env
        self.wrapped = wrapped
        self.env = make(rules=profile, episode=episode, history=history, render_mode="ansi")
        self.raw = self.env.unwrapped
        self.rules, self.points = self.raw.rules, None

    @contextmanager
    def refusable(self, *names, also=()):
        """PettingZoo asserts that things are done in order, and that an action is a card."""
        names, also = (*names, "reset()", "no card"), (*also, *[AssertionError] * self.wrapped)
        with super().refusable(*names, also=also):
            yield

    def accepted(self):
        """Let the model follow."""
        if self.raw._hand >= 0:
            self.before = self.raw._states.copy()
            self.points = self.before["penalties"][0, : self.rules.seats].astype(int)
            self.totals = self.before["totals"][0, : self.rules.seats].astype(int)

    @property
    def moving(self):
        """Whether an agent is to pass or play."""
        return bool(self.raw.agents) and not self.raw.terminations[self.raw.agent_selection]

    @property
    def mask(self):
        return self.raw.observe(self.raw.agent_selection)["action_mask"]

    @invariant()
    def same(self):
        if self.env is not None and self.points is not None:
            state = self.raw._states[0]
            assert_sound([state], self.rules)
            assert state.penalties[: self.rules.seats].tolist() == self.points.tolist()
            assert state.totals[: self.rules.seats].tolist() == self.totals.tolist()
            for agent in self.raw.possible_agents:
                seen = self.env.observe(agent)
                assert self.env.observation_space(agent).contains(seen)
                to_move = self.moving and agent == self.raw.agent_selection
                assert seen["action_mask"].any() == to_move
            for agent in self.raw.agents:
                info = {"dealer": state.dealer, "totals": tuple(self.totals)}
                assert self.raw.infos[agent] == info

    def follow(self, ended):
        """Book the rewards of a card or of a revoke, which may have ended the hand."""
        for agent, reward in self.raw.rewards.items():
            self.points[self.raw.possible_agents.index(agent)] -= int(reward)
        self.scored = self.points.tolist()
        if ended:
            self.totals += 0 if self.before["playoff"][0] else self.points
            if self.raw._states["phase"][0] != engine.OVER:  # dealt anew
                self.points[:] = 0
        self.before = self.raw._states.copy()

    @rule(seed=seeds)
    def reset(self, seed):
        self.env.reset(seed=seed)
        assert self.raw._states["seed"][0] == seed
        assert self.raw.agents == self.raw.possible_agents
        self.accepted()

    @rule(value=hostile(), seed=seeds, name=st.sampled_from(["seed", "options"]))
    def reset_hostile(self, value, seed, name):
        with self.refusable(name, *engine.START_OPTIONS):
            self.env.reset(**{"seed": seed, name: seed if value is None else value})

    @rule(value=hostile(), seed=seeds, name=starts)
    def reset_hostile_options(self, value, seed, name):
        with self.refusable(name):
            self.env.reset(seed, {name: value, "else": value})

    @precondition(lambda self: self.env is not None and self.moving)
    @rule(pick=numbers, kind=st.sampled_from([int, np.int8, np.uint64, np.int64, np.array]))
    def step(self, pick, kind):
        ends = self.before["num_played"] + 1 == self.before["to_play"]
        self.env.step(kind(nth(self.mask, pick)))
        self.follow(ends[0])

    @precondition(lambda self: self.env is not None and self.moving)
    @rule(picks=st.lists(numbers, min_size=40, max_size=40))
    def play(self, picks):
        for pick in picks:
            if self.moving:
                self.step(pick, int)

    @precondition(lambda self: self.env is not None and self.moving)
    @rule(pick=numbers)
    def step_illegal(self, pick):
        card, seat = nth(1 - self.mask, pick), int(self.raw._states["turn"][0])
        if not self.wrapped:
            before = self.snapshot()
            with pytest.raises(ValueError, match=f"^seat {seat} may not"):
                self.env.step(card)
            assert self.snapshot() == before
            return
        pack = engine.deck_of_pack(self.raw._states[0], engine.rules_record(self.rules))
        due = [0] * self.rules.seats
        due[seat] = sum(self.rules.penalties[card] for card in pack)
        self.env.step(card)
        self.follow(ended=True)
        assert self.scored == due

    @rule(value=hostile())
    def step_hostile(self, value):
        with self.refusable("action"):
            self.env.step(value)

    @precondition(lambda self: self.env is not None and self.raw.agents and not self.moving)
    @rule()
    def step_dead(self):
        left = len(self.raw.agents)
        self.env.step(None)
        assert len(self.raw.agents) == left - 1

    @rule(name=st.sampled_from(["last", "state", "render"]))
    def look(self, name):
        with self.refusable("no hand"):
            getattr(self.env, name)()

    @rule(value=hostile(), name=st.sampled_from(["observe", "observation_space", "action_space"]))
    def look_hostile(self, value, name):
        with self.refusable("agent"):
            getattr(self.env, name)(value)


MISTAKES = [
    lambda cards: cards.astype(float),
    lambda cards: np.full(len(cards), np.nan),
    lambda cards: cards[:, None],
    lambda cards: cards[1:],
    lambda cards: np.full(len(cards), 2**64 - 1, np.uint64),
    lambda cards: cards + 52,
    lambda cards: None,
    lambda cards: [None] * len(cards),
    lambda cards: [[1], [2, 3]],
    lambda cards: cards.astype(str),
    lambda cards: cards.astype("m8[s]"),
    lambda cards: iter(cards),
    lambda cards: 1 // 0,
]
"""What an opponent may return instead of its cards."""


class Opponent:
    """Plays its first legal cards; told to, it makes a mistake."""

    mistake = None
    asked = 0

    def act(self, obs, keys):
        self.asked += 1
        cards = obs["action_mask"].argmax(axis=1)
        return cards if self.mistake is None else self.mistake(cards)


class OneSeat(Machine):
    """What is the same for one seat and for many."""

    def make_one(self, make, profile, **options):
        self.opponent = Opponent()
        self.env = make(opponents=self.opponent, rules=profile, render_mode="ansi", **options)

    @property
    def due(self):
        """Whether a card is due, everywhere."""
        raise NotImplementedError

    def look_at(self, observation, info):
        """Whether they are what they should be."""
        assert self.env.observation_space.contains(observation)
        assert np.array_equal(info["action_mask"], self.env.action_masks())

    @rule(seed=seeds)
    def reset(self, seed):
        self.look_at(*self.env.reset(seed=seed // 2))
        assert self.due
        assert self.env.action_masks().any(axis=-1).all()

    @rule(value=hostile(), seed=seeds, name=st.sampled_from(["seed", "options"]))
    def reset_hostile(self, value, seed, name):
        with self.refusable(name, "reset_mask", *engine.START_OPTIONS):
            value = seed if value is None else value
            self.look_at(*self.env.reset(**{"seed": seed // 2, name: value}))

    @rule(value=hostile(), seed=seeds, name=starts)
    def reset_hostile_options(self, value, seed, name):
        with self.refusable(name):
            self.env.reset(seed=seed // 2, options={name: value, "else": value})

    @precondition(lambda self: self.env is not None and self.due)
    @rule(picks=picks, data=st.data())
    def step(self, picks, data):
        self.move(picks, lambda cards: data.draw(dressed(cards)))

    @precondition(lambda self: self.env is not None and self.due)
    @rule(all_picks=st.lists(picks, min_size=25, max_size=25))
    def play(self, all_picks):
        for picks in all_picks:
            if self.due:
                self.move(picks, np.copy)

    def move(self, picks, dress):
        """Play legal cards."""
        raise NotImplementedError

    @precondition(lambda self: self.env is not None and self.due)
    @rule(value=hostile())
    def step_hostile(self, value):
        with self.refusable("action"):
            observation, reward, _, truncated, info = self.env.step(value)
            self.look_at(observation, info)
            assert np.isfinite(reward).all()
            assert not np.any(truncated)

    @precondition(lambda self: self.env is not None and not self.due)
    @rule(value=hostile())
    def step_too_early(self, value):
        before = self.snapshot()
        with pytest.raises(ResetNeeded):
            self.env.step(value)
        assert self.snapshot() == before

    @rule(seed=seeds, mistake=st.sampled_from(MISTAKES), resets=st.booleans())
    def opponent_errs(self, seed, mistake, resets):
        self.opponent.mistake, self.opponent.asked = mistake, 0
        try:
            if self.due and not resets:
                self.env.step(self.env.action_masks().argmax(axis=-1))
            else:
                self.env.reset(seed=seed // 2)
        except RuntimeError as error:
            words = str(error)
            assert re.match(r"opponent .* at seat \d+, hand \d+ of seed \d+: ", words), words
            assert not self.due
        else:
            assert not self.opponent.asked
        self.opponent.mistake = None

    @rule()
    def look(self):
        with self.refusable("no hand"):
            self.env.render()


class SeatMachine(OneSeat):
    """``BlackMaria``, and what an episode costs."""

    @initialize(profile=profiles, episode=episodes, flatten=st.booleans(), illegal=illegals)
    def make(self, profile, episode, flatten, illegal):
        options = {"episode": episode, "flatten": flatten, "illegal": illegal}
        self.make_one(BlackMaria, profile, **options)

    @property
    def due(self):
        table = self.env._table
        return not self.env._over and table.agent_selection == self.env._agent

    def move(self, picks, dress):
        card = nth(self.env.action_masks(), picks[0])
        before = self.env._table.states[0].copy()
        observation, reward, over, _, info = self.env.step(int(dress(np.array([card]))[0]))
        self.look_at(observation, info)
        seat, after = info["seat"], self.env._table.states[0]
        if after.hand == before.hand:
            assert reward == int(before.penalties[seat]) - int(after.penalties[seat])
        assert over == (not self.due)


class VectorMachine(OneSeat):
    """``BlackMariaVectorEnv``, beside another that gets plain numbers."""

    @initialize(profile=profiles, episode=episodes, history=st.booleans(), illegal=illegals)
    def make(self, profile, episode, history, illegal):
        options = {"episode": episode, "history": history, "illegal": illegal}
        self.make_one(partial(BlackMariaVectorEnv, 3), profile, **options)

    def snapshot(self):
        self.env._tables.observe()  # writes histories
        return frozen(self.env)

    @property
    def due(self):
        return bool(self.env._ready.all())

    def move(self, picks, dress):
        masks = self.env.action_masks()
        cards = np.array([nth(mask, pick) for mask, pick in zip(masks, picks, strict=True)])
        twin = copy.deepcopy(self.env)
        observation, reward, over, _, info = self.env.step(dress(cards))
        self.look_at(observation, info)
        expected = twin.step(cards)
        assert np.array_equal(reward, expected[1])
        assert np.array_equal(over, expected[2])
        assert snapshot(self.env._tables) == snapshot(twin._tables)

    @rule(where=wheres, seed=seeds)
    def reset_some(self, where, seed):
        seeded = self.env._seeded | where
        before = self.env._tables.save()
        observation, info = self.env.reset(seed=seed // 2, options={"reset_mask": where})
        after = self.env._tables.save()
        assert frozen(before[~where]) == frozen(after[~where])
        assert (observation["observation"].any(axis=1) == seeded).all()
        assert (info["_seat"] == where).all()


# --- arguments and functions, one call each ----------------------------------------------------


def first_steps(env):
    """A reset and two legal cards, by one of the four ways."""
    if isinstance(env, Tables):
        for _ in range(2):
            env.step(env.observe()[0]["action_mask"].argmax(axis=1))
    elif isinstance(env, BlackMaria | BlackMariaVectorEnv):
        env.reset(seed=1)
        for _ in range(2):
            env.step(env.action_masks().argmax(axis=-1))
    else:
        env.reset(seed=1)
        for _ in range(2):
            env.step(int(env.last()[0]["action_mask"].argmax()))


ARGUMENTS = {
    Tables: ("tables", "rules", "seed", "reward", "episode", "history", "deal_on"),
    black_maria_v0.env: ("render_mode", "rules", "reward", "episode", "history", "view"),
    BlackMaria: ("opponents", "seat", "rules", "reward", "episode", "illegal", "flatten",
                 "history", "render_mode"),
    BlackMariaVectorEnv: ("num_envs", "opponents", "seat", "rules", "flatten", "history"),
}  # fmt: skip
TYPE_ERRORS = ("rules", "opponents")
"""Arguments that an object of another class can't be: a ``TypeError`` is right."""


@settings(max_examples=max(400, int(2 * SECONDS)), suppress_health_check=list(HealthCheck))
@given(data=st.data(), value=hostile())
def test_arguments__are_refused_by_name_or_play(data, value):
    make = data.draw(st.sampled_from(list(ARGUMENTS)))
    name = data.draw(st.sampled_from(ARGUMENTS[make]))
    usual = {"tables": 2} if make is Tables else {}
    allowed = (ValueError, MemoryError, TypeError) if name in TYPE_ERRORS else (
        ValueError, MemoryError)  # fmt: skip
    try:
        env = make(**usual | {name: value})
    except allowed as error:
        words = {"tables": "table", "num_envs": "environments", "opponents": "opponent|no bot",
                 "seed": "a seed", "rules": "profile|Random|seats"}  # fmt: skip
        assert re.search(f"{name}|{words.get(name, name)}", str(error))  # noqa: PT017
        return
    try:
        first_steps(env)
    except RuntimeError as error:  # a callable that doesn't play
        assert name == "opponents"
        assert str(error).startswith("opponent")  # noqa: PT017


FUNCTIONS = {
    deal: ("seed", "table", "hand", "rules"),
    layout_of: ("rules",),
    describe: ("vector", "rules"),
    make_bot: ("name", "rules"),
    parse_card: ("card",),
    parse_cards: ("cards",),
}
USUAL = {
    deal: {"seed": 1},
    describe: {"vector": np.zeros(656, np.int8)},
    make_bot: {"name": "duck"},
}


@settings(max_examples=max(400, int(2 * SECONDS)), suppress_health_check=list(HealthCheck))
@given(data=st.data(), value=hostile())
def test_functions__refuse_in_words_or_answer(data, value):
    function = data.draw(st.sampled_from(list(FUNCTIONS)))
    name = data.draw(st.sampled_from(FUNCTIONS[function]))
    assume(not isinstance(value, itertools.repeat))  # cards for ever
    allowed = (ValueError, TypeError) if name == "rules" else ValueError
    try:
        function(**USUAL.get(function, {}) | {name: value})
    except allowed as error:
        assert len(str(error)) > 10  # noqa: PT017


# --- the machines run --------------------------------------------------------------------------

MACHINES = [TablesMachine, AecMachine, SeatMachine, VectorMachine]
FEW = {"max_examples": 50, "stateful_step_count": 30, "suppress_health_check": list(HealthCheck)}


@pytest.mark.parametrize("machine", MACHINES)
def test_fuzz(machine, monkeypatch):
    monkeypatch.setattr(logging.getLogger(EnvLogger.__module__), "disabled", True)
    end = time.monotonic() + SECONDS / len(MACHINES)
    while True:
        run_state_machine_as_test(machine, settings=settings(**FEW))
        if time.monotonic() >= end:
            break
