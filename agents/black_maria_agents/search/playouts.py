"""Hands played to their end by a policy in every seat: what a card costs in a given world."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from black_maria.engine import PLAYING
from black_maria.rules import Rules
from black_maria.tables import Tables
from black_maria_agents.network import PolicyAgent
from black_maria_agents.scoring import others_less_own


class PlayedOut(NamedTuple):
    """What N hands came to for seat 0."""

    costs: NDArray[np.float64]
    """Penalty points of the whole hand, or where ``rules.total_varies`` the own less the others'
    mean, (N,)."""
    trick: NDArray[np.float64]
    """Penalty points of the trick that was going on or to be led to, (N,); 0 while passing."""


def play_out(
    agent: PolicyAgent, rules: Rules, states: NDArray[Any], first: NDArray[np.int64]
) -> PlayedOut:
    """Play hands on: seat 0's given cards, and otherwise the policy's likeliest ones.

    Args:
        agent: The policy, in every seat.
        rules: The rules that are played by.
        states: Where the hands are, (N,) ``engine.STATE``.
        first: The cards that seat 0 passes or plays first, (N, k); −1 stands for no more.
    """
    tables = Tables(np.zeros(len(states), np.int64), rules, deal_on=False)
    tables.load(states)
    first = np.pad(first, ((0, 0), (0, 1)), constant_values=-1)
    rows, used = np.arange(len(states)), np.zeros(len(states), np.int64)
    to_fall = np.where(states["phase"] == PLAYING, states["num_playing"] - states["in_trick"], 0)
    trick, playing = np.zeros(len(states)), np.ones(len(states), np.bool_)
    while playing.any():
        obs, seat = tables.observe()
        given = np.where(seat == 0, first[rows, used], -1)
        actions = likeliest(agent, obs["observation"], obs["action_mask"], playing & (given < 0))
        used += given >= 0
        rewards, done = tables.step(np.where(given >= 0, given, actions), playing)
        trick -= np.where(to_fall > 0, rewards[:, 0], 0.0)
        to_fall -= 1
        playing &= ~done
    penalties = tables.states()["penalties"][:, : rules.seats].astype(np.float64)
    costs = -others_less_own(penalties)[:, 0] if rules.total_varies else penalties[:, 0]
    return PlayedOut(costs, trick)


def likeliest(
    agent: PolicyAgent,
    observation: NDArray[np.int8],
    mask: NDArray[np.int8],
    where: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """The policy's likeliest cards, (N,); where there is no choice, it isn't asked.

    Args:
        agent: The policy.
        observation: (N, F) int8.
        mask: (N, 52) int8.
        where: The rows that are wanted, (N,); the others have any card.
    """
    actions: NDArray[np.int64] = mask.argmax(axis=1)
    rows = np.flatnonzero(where & (mask.sum(axis=1, dtype=np.int8) > 1))
    actions[rows] = agent.log_probs(observation[rows], mask[rows]).argmax(-1).numpy()
    return actions
