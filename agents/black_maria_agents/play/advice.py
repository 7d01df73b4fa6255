"""What an agent would choose in a person's place, and how sure it is."""

from dataclasses import dataclass

import numpy as np

from black_maria.tables import Tables
from black_maria_agents.base import Agent
from black_maria_agents.network import PolicyAgent
from black_maria_agents.search.policy_search import PolicySearch


@dataclass(frozen=True)
class Advice:
    """An agent's opinion.

    Attributes:
        name: Whose it is.
        cards: What it would choose, in order: several cards where several are to be passed.
        chances: The policy's probability of each legal card, as the first that it chooses; empty
            for agents without a policy.
    """

    name: str
    cards: list[int]
    chances: dict[int, float]


def advise(agent: Agent, tables: Tables, count: int) -> Advice:
    """Ask an agent for the cards of the seat to move.

    It sees what that seat sees and nothing else; the table stays as it is.

    Args:
        agent: Who is asked.
        tables: One table.
        count: How many cards that seat chooses in a row.
    """
    before, cards = tables.save(), []
    chances = _chances(agent, tables)
    try:
        for _ in range(count):
            obs, _ = tables.observe()
            copy = {name: array.copy() for name, array in obs.items()}
            card = int(agent.act(copy, tables.keys())[0])
            cards.append(card)
            if len(cards) < count:
                tables.step(np.array([card]))
    finally:
        tables.load(before)
    return Advice(agent.name, cards, chances)


def _chances(agent: Agent, tables: Tables) -> dict[int, float]:
    """The probabilities of the legal cards, by the agent's policy or the one it searches with."""
    policy = agent.agent if isinstance(agent, PolicySearch) else agent
    if not isinstance(policy, PolicyAgent):
        return {}
    obs, _ = tables.observe()
    chances = policy.log_probs(obs["observation"], obs["action_mask"]).exp()[0].tolist()
    return {int(card): chances[card] for card in np.flatnonzero(obs["action_mask"][0])}
