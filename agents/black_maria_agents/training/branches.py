"""What every likely card would have come to: hands played on from a choice, once for each card.

Of a choice PPO learns from the card that was taken, by what the critic makes of it. A *branch*
tells of all of them: from where the hand stood, hidden cards and all, each card that the policy
finds likely is played and the hand goes on, everybody as they would play, networks their likeliest
card. The luck of the deal is the same for all cards and falls out of their differences. (Schulman
et al. 2015, arXiv 1502.05477, estimate advantages so, by what they call a vine.) A player knows no
hidden cards, but over many hands that look alike to it the mean is what its information is worth.
"""

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from black_maria.cards import NUM_CARDS
from black_maria.engine import PLAYING
from black_maria.tables import Tables
from black_maria_agents.network import PolicyAgent
from black_maria_agents.search.players import Players
from black_maria_agents.search.playouts import play_out
from black_maria_agents.training.selfplay import Rollout, Seating, SelfPlay

EARLIEST: Final = 2
"""Tricks of a hand without branches: looking ahead gains nothing in them, and costs the most."""
OPEN: Final = 0.97
"""A choice of which the policy is surer than this is left alone."""
LEAST: Final = 0.01
"""How likely a card must be to be played out."""
MOST: Final = 6
"""Cards of a choice that are, the likeliest."""


def with_branches(
    rollout: Rollout,
    games: SelfPlay,
    agent: PolicyAgent,
    share: float,
    rng: np.random.Generator,
    *,
    seating: Seating | None = None,
    scale: float = 1.0,
) -> Rollout:
    """The last rollout of some games with what cards would have come to.

    Args:
        rollout: What ``games`` have just played.
        games: The time that it takes is added to theirs.
        agent: The policy that played it.
        share: The part of the choices to look at, 0 … 1, if they are late and open enough.
        rng: What they are drawn by.
        seating: Who sat where; without it, the policy in every seat.
        scale: What the points are multiplied by.
    """
    start = time.perf_counter()
    costs = branch_costs(rollout, games, agent, share, rng, seating)
    games.seconds["inference"] += time.perf_counter() - start
    return replace(rollout, costs=costs * scale)


def branch_costs(
    rollout: Rollout,
    games: SelfPlay,
    agent: PolicyAgent,
    share: float,
    rng: np.random.Generator,
    seating: Seating | None = None,
) -> Tensor:
    """What cards would have come to, at some of a rollout's choices.

    Args:
        rollout: What ``games`` have just played, T steps at N tables.
        games: They say what a hand costs.
        agent: The policy that played it.
        share: As for ``with_branches``.
        rng: What they are drawn by.
        seating: As for ``with_branches``.

    Returns:
        (T, N, 52) float32: what the whole hand costs the mover, see ``SelfPlay.costs``; NaN for a
        card or a choice that wasn't looked at.
    """
    device = rollout.features.device
    wanted = rollout.choice & (rng.random(rollout.choice.shape) < share)
    steps, rows, states = _again(rollout, games.before(), wanted)
    costs = torch.full((*rollout.choice.shape, NUM_CARDS), torch.nan)
    if not len(states):
        return costs.to(device)
    at = torch.from_numpy(steps).to(device), torch.from_numpy(rows).to(device)
    with torch.inference_mode():
        policy = agent.policy.under(agent.rules)
        chances = policy(rollout.features[at], rollout.mask[at]).exp().cpu()
    best = chances.topk(MOST)
    likely = (best.values >= LEAST) & (best.values[:, :1] <= OPEN)
    choice, place = likely.nonzero(as_tuple=True)
    card = best.indices[choice, place]
    at_choice, first = choice.numpy(), card[:, None].numpy()
    table, keys = rows[at_choice], rng.integers(2**64, size=len(states), dtype=np.uint64)
    for here, players, seat in _seated(agent, seating, table, states["turn"][at_choice]):
        starts, luck = states[at_choice[here]], keys[at_choice[here]]
        played = play_out(players, starts, first[here], luck, seat=seat)
        hand = games.costs(table[here], played.costs)[np.arange(len(here)), seat]
        costs[steps[at_choice[here]], table[here], card[here]] = torch.from_numpy(hand).float()
    return costs.to(device)


def _seated(
    agent: PolicyAgent,
    seating: Seating | None,
    table: NDArray[np.int64],
    seat: NDArray[np.integer[Any]],
) -> Iterator[tuple[NDArray[np.int64], Players, NDArray[np.int64]]]:
    """Branches that have alike tables, seen from the seats (K,) that branch: which, who, where."""
    seats = agent.rules.seats
    seating = seating or Seating.all_alike(int(table.max(initial=0)) + 1, seats)
    around = (seat[:, None].astype(np.int64) + np.arange(seats)) % seats
    who = seating.places[table[:, None], around]
    for alike in np.unique(who, axis=0):
        here = np.flatnonzero((who == alike).all(axis=1))
        at_table = [agent if number < 0 else seating.agents[number] for number in alike]
        yield here, Players(at_table, agent.rules), around[here, 0]


def _again(
    rollout: Rollout, tables: Tables, wanted: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
    """Step, table and state of the wanted choices that stand late enough."""
    seats = rollout.rewards.shape[-1]
    steps, rows, states = [], [], []
    actions = rollout.action.cpu().numpy()
    for t, action in enumerate(actions):
        now = tables.states()
        late = (now["phase"] == PLAYING) & (now["num_played"] >= EARLIEST * seats)
        here = np.flatnonzero(wanted[t] & late)
        steps.append(np.full(len(here), t))
        rows.append(here)
        states.append(now[here].copy())
        tables.step(action)
    return np.concatenate(steps), np.concatenate(rows), np.concatenate(states)
