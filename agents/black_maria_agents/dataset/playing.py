"""Hands played out, and every decision in them as a row of columns."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray

from black_maria.cards import NUM_CARDS
from black_maria.rules import Rules
from black_maria.tables import Tables
from black_maria_agents.base import Agent, wants_history
from black_maria_agents.network import PolicyAgent
from black_maria_agents.threads import one_thread
from black_maria_agents.worlds.sampling import card_counts

Columns = dict[str, NDArray[Any]]
"""Arrays by name, a row a decision."""
NO_POLICY: Final = 0.0
"""Every entry of ``"probabilities"`` in rows of agents that have none."""


def seating(hand: NDArray[np.int64], agents: int, seats: int) -> NDArray[np.int64]:
    """Who sits where, (N, S) numbers of agents: every mix comes up equally often, in turn."""
    return hand[:, None] // agents ** np.arange(seats) % agents


@one_thread()
@torch.inference_mode()
def play(agents: Sequence[Agent], hands: range, *, rules: Rules, seed: int, tables: int) -> Columns:
    """Play hands and keep every decision, ordered by hand and ply.

    Hand h is the deal of the seed's table h; where the direction of the pass changes from hand to
    hand, that table's hand h modulo the cycle. Cards are the agents' own, from each decision's
    key. So no row depends on which hands are played beside it.

    Args:
        agents: Who sits at the tables; see ``seating``.
        hands: Numbers of the hands.
        rules: The rules to play by.
        seed: The deals' seed.
        tables: How many hands are played side by side.

    Returns:
        N rows: ``"hand"`` int64, ``"ply"`` int16, ``"seat"`` int8, ``"agent"`` int8,
        ``"observation"`` (N, F) int8, ``"action_mask"`` (N, 52) int8, ``"card"`` int8,
        ``"reward_to_come"`` float32, ``"probabilities"`` (N, 52) float32, ``"holding"``
        (N, S, 52) int8. ``sheet.COLUMNS`` says what they mean.
    """
    parts = [
        _side_by_side(agents, hands[start : start + tables], rules, seed)
        for start in range(0, len(hands), tables)
    ]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _side_by_side(agents: Sequence[Agent], hands: range, rules: Rules, seed: int) -> Columns:
    numbers = np.array(hands, np.int64)
    # where a moon may be shot, own points alone don't tell who won the hand
    reward = "relative" if rules.total_varies else "trick"
    history = any(wants_history(agent) for agent in agents)
    tables = Tables(numbers, rules, seed=seed, reward=reward, history=history, deal_on=False)
    tables.reset(seed, hand=numbers % len(rules.pass_cycle))
    places = seating(numbers, len(agents), rules.seats)
    so_far = np.zeros((len(tables), rules.seats), np.float32)
    going = np.ones(len(tables), np.bool_)
    steps: list[Columns] = []
    while going.any():
        obs, seats = tables.observe()
        where = np.flatnonzero(going)
        seat = seats[where]
        obs = {name: array[where] for name, array in obs.items()}
        agent = places[where, seat]
        cards, probabilities = _choose(agents, agent, obs, tables.keys()[where])
        steps.append(
            {
                "hand": numbers[where],
                "ply": np.full(len(where), len(steps), np.int16),
                "seat": seat.astype(np.int8),
                "agent": agent.astype(np.int8),
                "observation": obs["observation"],
                "action_mask": obs["action_mask"],
                "card": cards.astype(np.int8),
                "reward_to_come": -so_far[where, seat],  # and what all comes to, below
                "probabilities": probabilities,
                "holding": _holding(tables, seat, where, rules),
            }
        )
        every = np.zeros(len(tables), np.int64)
        every[where] = cards
        rewards, done = tables.step(every, going)
        so_far += rewards
        going &= ~done
    rows = {name: np.concatenate([step[name] for step in steps]) for name in steps[0]}
    rows["reward_to_come"] += so_far[rows["hand"] - hands.start, rows["seat"]]
    order = np.argsort(rows["hand"], kind="stable")
    return {name: array[order] for name, array in rows.items()}


def _choose(
    agents: Sequence[Agent],
    agent: NDArray[np.int64],
    obs: dict[str, NDArray[np.int8]],
    keys: NDArray[np.uint64],
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Cards (N,) and, of policies, the probabilities of all cards (N, 52)."""
    mask = obs["action_mask"]
    cards = mask.argmax(axis=1)
    probabilities = np.full((len(agent), NUM_CARDS), NO_POLICY, np.float32)
    several = mask.sum(axis=1, dtype=np.int64) > 1
    for number, player in enumerate(agents):
        mine = agent == number
        if isinstance(player, PolicyAgent):
            probabilities[mine] = mask[mine]  # a forced card is certain
        rows = np.flatnonzero(mine & several)
        if not len(rows):
            continue
        if isinstance(player, PolicyAgent):
            log_probs = player.log_probs(obs["observation"][rows], mask[rows])
            cards[rows] = player.pick(log_probs, keys[rows])
            probabilities[rows] = log_probs.exp().numpy()
        else:
            part = {name: array[rows] for name, array in obs.items()}
            cards[rows] = player.act(part, keys[rows])
    return cards, probabilities


def _holding(
    tables: Tables, seat: NDArray[np.int64], where: NDArray[np.int64], rules: Rules
) -> NDArray[np.int8]:
    """What every seat holds, (N, S, 52), the seat that acts first and then clockwise."""
    clockwise = (seat[:, None] + np.arange(rules.seats)) % rules.seats
    return card_counts(tables.states()["holding"][where[:, None], clockwise])
