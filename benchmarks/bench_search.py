"""Searches: a simulation of determinised UCT beside OpenSpiel's, a choice of a policy's search.

A three-player hand is played by a bot, and some of its decisions with a choice are put to the
search. OpenSpiel's MCTS bot plays its ``hearts`` with random rollouts, one a simulation: it
searches the true deal, with all cards open, so that only the cost of a simulation compares.

    python benchmarks/bench_search.py
"""

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyspiel
import torch
from harness import Row, Side, main

from black_maria import Tables, make_bot
from black_maria_agents import SearchAgent, load_agent

BUDGETS = ((10, 50), (30, 333), (100, 1000))
PEER_SIMULATIONS = 200
SEED = 1
EVERY = 5
"""One of so many decisions that have a choice."""


def positions() -> list[tuple[dict[str, np.ndarray], np.ndarray]]:
    """Observations and keys of one hand's decisions that have a choice."""
    tables, bot = Tables(1, seed=SEED, history=True), make_bot("duck")
    found = []
    for _ in range(tables.rules.plies()):
        obs, _ = tables.observe()
        keys = tables.keys()
        if obs["action_mask"].sum() > 1:
            found.append(({name: array.copy() for name, array in obs.items()}, keys))
        tables.step(bot.act(obs, keys))
    return found[::EVERY]


def put_to(agent: Any, units: int) -> Callable[[int], int]:
    """Ask an agent at the first so many positions, each of which counts for so many units."""
    every = positions()

    def ask(count: int) -> int:
        for obs, keys in every[:count]:
            agent.act(obs, keys)
        return min(count, len(every)) * units

    return ask


def open_spiel() -> Callable[[int], int]:
    """OpenSpiel's bot at some positions of one hand."""
    state = pyspiel.load_game("hearts").new_initial_state()
    generator = random.Random(SEED)
    states = []
    while not state.is_terminal():
        if not state.is_chance_node() and len(state.legal_actions()) > 1:
            states.append(state.clone())
        state.apply_action(generator.choice(state.legal_actions()))
    states = states[::EVERY]

    def ask(count: int) -> int:
        for state in states[:count]:
            evaluator = pyspiel.RandomRolloutEvaluator(1, SEED)
            bot = pyspiel.MCTSBot(
                state.get_game(), evaluator, 2.0, PEER_SIMULATIONS, 1000, False, SEED, False
            )
            bot.step(state)
        return min(count, len(states)) * PEER_SIMULATIONS

    return ask


def rows() -> Iterator[Row]:
    """UCT at three budgets; the champion's search."""
    torch.set_num_threads(1)
    for worlds, simulations in BUDGETS:
        agent = SearchAgent(worlds=worlds, sims=simulations, threads=1)
        yield Row(
            f"`pimc`, {worlds} worlds × {simulations}",
            "simulation",
            Side("`pimc`", put_to(agent, worlds * simulations), 10),
            Side("OpenSpiel's C++ MCTS on `hearts`", open_spiel(), 10),
            rounds=5,
        )
    name = "search:policy=champion,worlds=64"
    yield Row(f"`{name}`", "choice", Side("`search`", put_to(load_agent(name), 1), 10), rounds=5)


if __name__ == "__main__":
    main(rows(), __file__, __doc__)
