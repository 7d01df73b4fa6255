"""Digests of all that a user can observe, to compare with those recorded once.

``tests/data/golden.json`` holds them: ``"profile-seats/part/what"`` → the first digits of a
SHA-256. ``test_golden.py`` computes them again, part by part; a difference says in which rules
and in what. ``python tests/golden.py`` records anew, for a change that is meant to be seen.

Nothing but public names is used, and of the engine's states no more than ``record.of_states``
asks for. Cards are chosen here, not by the package's bots, so that a change of a bot is told
from a change of the game. Where floating point decides, rows on which two cards are nearly
equal are left out, for another processor may round otherwise; they are recorded as well, as a
list of row numbers.
"""

import contextlib
import hashlib
import io
import json
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch

from black_maria import (
    BOTS,
    PROFILES,
    BlackMaria,
    BlackMariaVectorEnv,
    Rules,
    Tables,
    black_maria_v0,
    deal,
    describe,
    layout_of,
    make_bot,
    record,
)
from black_maria_agents import CHAMPIONS, load_agent, sample_worlds

FILE: Final = Path(__file__).parent / "data" / "golden.json"
PAIRS: Final = tuple((name, seats) for name, (choices, _) in PROFILES.items() for seats in choices)
REWARDS: Final = ("trick", "hand", "relative", "match")
TABLES: Final = (0, 1, 2, 2, 3, 2**40 + 1)
"""Table numbers of the traces; one stands twice. In every second row somebody wants all cards."""
SEEDS: Final = (0, 1, 2, 3, 2**32, 2**64 - 1)
DIGITS: Final = 16
NEAR: Final = 1e-4
"""Differences in log-probability under which a row is left out."""

Recorded = dict[str, Any]
"""What → digest, of one part."""


class Digests:
    """A running hash for each thing that is told apart."""

    def __init__(self) -> None:
        """Nothing is hashed yet."""
        self._hashes: dict[str, Any] = {}

    def add(self, what: str, *values: Any) -> None:
        """Go on with the hash of ``what``: values with their types and shapes."""
        sha = self._hashes.setdefault(what, hashlib.sha256())
        for value in values:
            for piece in _pieces(value):
                sha.update(piece)

    def done(self) -> Recorded:
        return {what: sha.hexdigest()[:DIGITS] for what, sha in self._hashes.items()}


def _pieces(value: Any) -> Iterator[bytes]:
    """Any value as bytes that don't depend on the machine."""
    if value is None or isinstance(value, bool | int | float | str):
        yield f"{value!r};".encode()
    elif isinstance(value, Mapping):
        for key in sorted(value):
            yield f"{key}:".encode()
            yield from _pieces(value[key])
    elif isinstance(value, tuple | list) or (isinstance(value, np.ndarray) and value.dtype == "O"):
        yield f"{len(value)}[".encode()
        for each in value:
            yield from _pieces(each)
    else:
        array = np.asarray(value)
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        yield f"{array.dtype.str.replace('|', '<')}{array.shape}".encode()
        yield array.tobytes()


# --- play: cards by key, or a seat that wants every trick ---------------------------------------


def choose(tables: Tables) -> np.ndarray:
    """A legal card for every table, (N,) int64.

    In even rows any one, by the decision's key. In odd rows one seat passes its lowest card and
    plays its highest, and the others do the opposite: moons are shot there.
    """
    obs, seat = tables.observe()
    mask, rows = obs["action_mask"], np.arange(len(tables))
    number = tables.keys() % mask.sum(axis=1, dtype=np.uint64)
    by_key = (mask.cumsum(axis=1) > number[:, None]).argmax(axis=1)
    ranks = np.arange(52) % 13
    highest = np.where(mask != 0, ranks, -1).argmax(axis=1)
    lowest = np.where(mask != 0, ranks, 99).argmin(axis=1)
    passing = obs["observation"][:, tables.layout["phase"]][:, 0] == 1
    wants_all = seat == rows % tables.rules.seats
    return np.where(rows % 2 == 0, by_key, np.where(wants_all ^ passing, highest, lowest))


def soon(rules: Rules) -> Rules:
    """The same rules with matches of a hand or two, so that ties are played off early."""
    return rules.replace(hands=None, match_points=1, exceed=False) if rules.playoff else rules


@lru_cache(maxsize=2)
def trace(rules: Rules, episode: str, matches: int = 1) -> tuple[Recorded, dict[str, np.ndarray]]:
    """What tables hand out: digests, and the observations with their keys as rows.

    Tables in step play the same cards, one set for each reward scheme. Hands go on until
    every pass direction has been played, matches until every table has ended so many.
    """
    digests, kept = Digests(), {}
    options: Any = {"rules": rules, "seed": SEEDS, "episode": episode, "history": True}
    rewards = REWARDS if episode == "match" else REWARDS[:-1]  # a single hand has no winner
    by_reward = {reward: Tables(TABLES, reward=reward, **options) for reward in rewards}
    tables = by_reward["trick"]
    plies = sum(rules.plies(hand) for hand in range(4)) + 5
    ended, ply = np.zeros(len(tables), np.int64), 0
    while ply < plies if episode == "hand" else ended.min() < matches:
        obs, seat = tables.observe()
        keys, cards = tables.keys(), choose(tables)
        row = {**obs, "keys": keys}
        for what, values in row.items():
            digests.add(what, values)
            kept.setdefault(what, []).append(values.copy())
        digests.add("seat", seat)
        digests.add("totals", tables.totals())
        if ply % 5 == 0:
            digests.add("views", tables.views())
        for reward, each in by_reward.items():
            gained, done = each.step(cards)
            digests.add(f"rewards {reward}", gained)
            digests.add("done", done)
        ended += done
        ply += 1
    return digests.done(), {what: np.concatenate(rows) for what, rows in kept.items()}


def some(rows: Mapping[str, np.ndarray], which: Any) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Observations and keys of some rows."""
    obs = {what: values[which] for what, values in rows.items()}
    return obs, obs.pop("keys")


# --- the parts: from rules to what → digest -----------------------------------------------------


def deals(rules: Rules) -> Recorded:
    """Cards and dealers, the layout's blocks, observations in words."""
    digests = Digests()
    for seed in SEEDS:
        for table, hand in ((0, 0), (1, 2), (2**62, 3), (5, 2**62)):
            cards, dealer = deal(seed, table, hand, rules)
            digests.add("deals", cards, dealer)
    layout = layout_of(rules)
    for name, block in layout.blocks.items():
        digests.add("layout", name, block.start, block.shape, block.axes, block.meaning)
    later = Tables([0, 7], rules, seed=5)
    later.reset(6, hand=3)
    digests.add("hand 3 of a seed", *later.observe())
    _, rows = trace(rules, "hand")
    for vector in rows["observation"][:: len(rows["keys"]) // 20]:
        digests.add("describe", describe(vector, rules))
    return digests.done()


def hands(rules: Rules) -> Recorded:
    """Tables of single hands."""
    return trace(rules, "hand")[0]


def matches(rules: Rules) -> Recorded:
    """Tables of whole matches."""
    return trace(rules, "match")[0]


def playoffs(rules: Rules) -> Recorded:
    """Matches that end soon, and often with a tie."""
    return trace(soon(rules), "match", matches=5)[0] if rules.playoff else {}


def records(rules: Rules) -> Recorded:
    """Recorded hands as lines."""
    digests = Digests()
    tables = Tables(TABLES, rules, seed=SEEDS, deal_on=False)
    for number in range(2):
        for _ in range(rules.plies(number)):
            tables.step(choose(tables))
        found = record.of_states(tables.states(), rules)
        digests.add("of single hands", [hand.to_json() for hand in found])
        tables.reset()
    rules = soon(rules)
    tables = Tables(TABLES[:3], rules, seed=SEEDS[:3], episode="match")
    agents = [[f"agent {seat}" for seat in range(rules.seats)]]
    for _ in range(3 * rules.most_plies):
        states = tables.states()
        last = states["num_played"] + 1 == states["to_play"]
        for table in np.flatnonzero(last):
            one = states[table : table + 1]
            (hand,) = record.of_states(one, rules, agents, episode="match")
            digests.add("of matches", hand.to_json(), hand.actions())
            if not hand.playoff:
                digests.add("options", hand.options())
        tables.step(choose(tables))
    return digests.done()


def environment(rules: Rules) -> Recorded:
    """The PettingZoo environment, agent by agent, and what it draws without pygame."""
    digests = Digests()
    env = black_maria_v0.raw_env("ansi", rules=rules, history=True, view=1)
    env.reset(seed=3)
    _walk(env, digests, "hand", 2 * rules.seats + rules.most_plies)
    start = {
        "deal": deal(9, 0, 1, rules)[0],
        "dealer": 1,
        "totals": [7 * seat for seat in range(rules.seats)],
        "number": 2,
    }
    env.reset(options=start)
    _walk(env, digests, "given hand", 25)
    env = black_maria_v0.raw_env("ansi", rules=soon(rules), reward="relative", episode="match")
    env.reset(seed=2**64 - 1)
    _walk(env, digests, "match", 4 * rules.most_plies)
    return digests.done()


def _walk(env: Any, digests: Digests, name: str, plies: int) -> None:
    """Play on, and note what every agent is told at every ply."""
    for ply, agent in enumerate(env.agent_iter(plies)):
        observation, reward, termination, truncation, info = env.last()
        digests.add(f"{name}: agents", agent, env.agents, termination, truncation)
        digests.add(f"{name}: rewards", float(reward), env.rewards)
        digests.add(f"{name}: infos", info, env.infos)
        digests.add(f"{name}: observe", [env.observe(each) for each in env.possible_agents])
        digests.add(f"{name}: state", env.state())
        if ply % 20 == 0:
            with contextlib.redirect_stdout(io.StringIO()):  # colours are for terminals
                digests.add(f"{name}: text", env.render())
            digests.add(f"{name}: html", env._repr_html_())
        legal = np.flatnonzero(observation["action_mask"])
        env.step(None if termination else int(legal[7 * ply % len(legal)]))


def gymnasium(rules: Rules) -> Recorded:
    """One seat against bots, alone and in batches."""
    digests = Digests()
    one = BlackMaria("duck", rules=rules, history=True)
    told = one.reset(seed=4)
    for step in range(40):
        digests.add("single", *told)
        legal = np.flatnonzero(told[-1]["action_mask"])
        told = one.step(int(legal[5 * step % len(legal)])) if len(legal) else one.reset()
    many = BlackMariaVectorEnv(3, opponents="heuristic", rules=soon(rules), episode="match")
    told = many.reset(seed=4)
    for step in range(60):
        digests.add("vector", *told)
        masks = told[-1]["action_mask"]
        number = 5 * step % masks.sum(axis=1)
        told = many.step((masks.cumsum(axis=1) > number[:, None]).argmax(axis=1))
    return digests.done()


def bots(rules: Rules) -> Recorded:
    """The cards of rules of thumb."""
    digests = Digests()
    for episode in ("hand", "match"):
        _, rows = trace(rules, episode)
        obs, keys = some(rows, slice(None, None, 1 if episode == "hand" else 3))
        for name in BOTS:
            digests.add(name, make_bot(name, rules).act(obs, keys))
    return digests.done()


def searches(rules: Rules) -> Recorded:
    """Worlds dealt to an observation, and the cards of searches, in hands of all directions."""
    digests = Digests()
    _, rows = trace(rules, "hand")
    several = np.flatnonzero(rows["action_mask"].sum(axis=1) > 1)
    obs, keys = some(rows, several[:: len(several) // 32])
    for name, history in (("worlds", None), ("worlds by history", obs["history"])):
        worlds = sample_worlds(obs["observation"], 3, keys, rules, history)
        for what in ("holding", "given", "kitty"):
            digests.add(f"{name}: {what}", getattr(worlds, what))
    few, few_keys = some({**obs, "keys": keys}, slice(None, None, 4))
    pimc = load_agent("pimc:worlds=4,sims=20,threads=1", rules)
    digests.add("pimc", pimc.act(few, few_keys))
    if rules.name in CHAMPIONS:
        torch.set_num_threads(1)
        # the first hand alone: replaying others, the search takes their pass for the first one's
        first = several[several < rules.plies() * len(TABLES)]
        few, few_keys = some(rows, first[:: len(first) // 10])
        policy = load_agent("search:policy=champion,worlds=4", rules)
        digests.add("search", policy.act(few, few_keys))
    return digests.done()


def champion(rules: Rules, left_out: Recorded | None = None) -> Recorded:
    """The champion's likeliest and its drawn cards."""
    if rules.name not in CHAMPIONS:
        return {}
    rows = {what: values[::3] for what, values in trace(rules, "hand")[1].items()}
    return policy_cards("champion", rules, rows, left_out or near_ties("champion", rules, rows))


PARTS: Final[Mapping[str, Callable[..., Recorded]]] = {
    part.__name__: part
    for part in (
        deals, hands, records, environment, gymnasium, searches, champion, bots, matches, playoffs,
    )
}  # fmt: skip


# --- networks -----------------------------------------------------------------------------------


def policy_cards(
    name: str, rules: Rules, rows: Mapping[str, np.ndarray], left_out: Recorded
) -> Recorded:
    """A network's cards, likeliest and drawn, but for the rows left out; and which those are."""
    digests = Digests()
    torch.set_num_threads(1)
    obs, keys = some(rows, slice(None))
    for what, greedy in (("likeliest", True), ("drawn", False)):
        cards = load_agent(name, rules, greedy=greedy).act(obs, keys)
        digests.add(what, np.delete(cards, left_out[f"near ties, {what}"]))
    return digests.done() | {what: left_out[what] for what in left_out if what.startswith("near")}


def near_ties(
    name: str, rules: Rules, rows: Mapping[str, np.ndarray], near: float = NEAR
) -> Recorded:
    """Rows where rounding might choose another card; for recording only."""
    torch.set_num_threads(1)
    obs, keys = some(rows, slice(None))
    agent: Any = load_agent(name, rules)
    log_probs = np.sort(agent.log_probs(obs["observation"], obs["action_mask"]).numpy(), axis=1)
    drawing = load_agent(name, rules, greedy=False)
    # a card is drawn by the key's upper bits, as a fraction of one: move it a little both ways
    step = np.uint64(2 * near * 2**64)
    lower, upper = np.minimum(keys, step), np.minimum(~keys, step)
    moved = drawing.act(obs, keys - lower) != drawing.act(obs, keys + upper)
    return {
        "near ties, likeliest": np.flatnonzero(log_probs[:, -1] - log_probs[:, -2] < near).tolist(),
        "near ties, drawn": np.flatnonzero(moved).tolist(),
    }


# --- the file -----------------------------------------------------------------------------------


def recorded() -> dict[str, Any]:
    """All that was recorded, by ``"profile-seats/part/what"``."""
    return json.loads(FILE.read_text())


def main() -> None:
    """Record anew."""
    entries = {}
    for name, seats in PAIRS:
        rules = Rules.profile(name, seats)
        for part, compute in PARTS.items():
            for what, digest in compute(rules).items():
                entries[f"{name}-{seats}/{part}/{what}"] = digest
    lines = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in entries.items())
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{FILE}: {len(entries)} digests")


if __name__ == "__main__":
    main()
