"""Teach the package's guess who holds the unseen cards: python scripts/guesser.py.

Champions play, and a network learns from what each of them sees in the tricks that a search looks
at; a minute of one core. Nothing is kept of the hands.
"""

from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray

import black_maria_agents
from black_maria import Rules, Tables, layout_of
from black_maria_agents import load_agent
from black_maria_agents.guesser import RATE, Guesser, save
from black_maria_agents.threads import one_thread
from black_maria_agents.worlds.sampling import card_counts

RULES: Final = Rules.profile("three_player")
FILE: Final = Path(black_maria_agents.__file__).parent / "guessers" / f"{RULES.name}.pt"
HANDS: Final = 60_000
TABLES: Final = 1000
SHARE: Final = 0.4
"""Share of the decisions that are learnt from: other hands tell more than the same one again."""
PLIES: Final = range(15, 51)
"""From the third trick to the fourteenth; nine plies are the pass."""
MINIBATCH: Final = 1024
SEED: Final = 1

Seen = tuple[NDArray[np.int8], NDArray[np.int8]]
"""Observations (N, F), and what the others hold there (N, S − 1, 52)."""


def hands(agent: Any, tables: Tables, generator: np.random.Generator) -> Seen:
    """Some decisions of a hand at every table."""
    observations, held = [], []
    for ply in range(RULES.plies()):
        obs, seat = tables.observe()
        if ply in PLIES:
            rows = np.flatnonzero(generator.random(len(tables)) < SHARE)
            others = (seat[rows][:, None] + np.arange(1, RULES.seats)) % RULES.seats
            holding = tables.states()["holding"][rows]
            held.append(card_counts(np.take_along_axis(holding, others[:, :, None], axis=1)))
            observations.append(obs["observation"][rows].copy())
        tables.step(agent.act(obs, tables.keys()))
    return np.concatenate(observations), np.concatenate(held)


@one_thread()
def teach(count: int) -> Guesser:
    """A guesser that has seen so many hands of champions."""
    torch.manual_seed(SEED)
    guesser, generator = Guesser(layout_of(RULES)), np.random.default_rng(SEED)
    optimizer = torch.optim.Adam(guesser.parameters(), lr=RATE)
    agent, tables = load_agent("champion", RULES), Tables(TABLES, RULES, seed=SEED)
    for done in range(2 * TABLES, count + 1, 2 * TABLES):
        lots = [hands(agent, tables, generator) for _ in range(2)]
        observation, held = (np.concatenate(arrays) for arrays in zip(*lots, strict=True))
        order, total, cards = generator.permutation(len(held)), 0.0, 0
        optimizer.param_groups[0]["lr"] = RATE * (1 - (done - TABLES) / count)
        for start in range(0, len(order) - MINIBATCH + 1, MINIBATCH):
            rows = order[start : start + MINIBATCH]
            target = torch.from_numpy(held[rows])
            loss = -(target * guesser(torch.from_numpy(observation[rows]))).sum()
            optimizer.zero_grad()
            (loss / target.sum()).backward()
            optimizer.step()
            total, cards = total + loss.item(), cards + int(target.sum())
        print(f"{done:,} hands: {total / cards:.4f} nats a card", flush=True)
    return guesser


def main() -> None:
    """Teach and write."""
    save(FILE, teach(HANDS), RULES)


if __name__ == "__main__":
    main()
