"""How well worlds tell who holds the unseen cards, by how they are weighed.

losses = belief_losses(load_agent("champion"), 400, seed=2**63)
{name: Estimate.of(loss).text(3) for name, loss in losses.items()}
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from black_maria.tables import Tables
from black_maria_agents.network import PolicyAgent
from black_maria_agents.search.beliefs import tempered, weigh
from black_maria_agents.worlds.sampling import card_counts

CAUTION: Final = 0.02
"""Share of every belief that goes to all other seats evenly, since no number of worlds is all."""


def belief_losses(
    agent: PolicyAgent, hands: int, *, seed: int, worlds: int = 192, effective: float = 12.0
) -> dict[str, NDArray[np.float64]]:
    """Log losses of beliefs at one position of each hand, the same agent in every seat.

    A position lies between a tenth and two thirds of the hand's cards.

    Args:
        agent: Who plays, and by whose likelihood worlds are weighed.
        hands: H; they are the deals of the seed's tables 0 … H − 1.
        seed: The deals' seed, and that of the positions.
        worlds: Worlds of each position.
        effective: Effective number of worlds that ``"tempered"`` keeps.

    Returns:
        ``"uniform"``, ``"likelihood"`` and ``"tempered"``, (H,) each, nats a card.
    """
    rules = agent.rules
    tables = Tables(hands, rules, seed=seed, history=True, deal_on=False)
    cards = rules.hand_size * rules.seats
    stop = np.random.default_rng(seed).integers(cards // 10, 2 * cards // 3, hands)
    obs, seat = tables.observe()
    while (going := tables.states()["num_played"] < stop).any():
        tables.step(agent.act(obs, tables.keys()), going)
        obs, seat = tables.observe()
    games, likelihood = weigh(
        agent, obs["observation"], obs["history"], tables.keys(),
        step=worlds, most=worlds, effective=effective,
    )  # fmt: skip
    of_seats = (seat[:, None] + np.arange(rules.seats)) % rules.seats
    truth = np.take_along_axis(tables.states()["holding"], of_seats[:, :, None], axis=1)
    weights = {
        "uniform": np.full(likelihood.shape, 1 / worlds),
        "likelihood": tempered(likelihood),
        "tempered": tempered(likelihood, effective),
    }
    holding = card_counts(games["holding"][:, :, : rules.seats])
    return {name: log_loss(holding, each, card_counts(truth)) for name, each in weights.items()}


def log_loss(
    holding: NDArray[np.int8], weights: NDArray[np.float64], truth: NDArray[np.int8]
) -> NDArray[np.float64]:
    """Mean log loss of who holds a card, (B,), over unseen cards that more than one seat may hold.

    Args:
        holding: (B, n, S, 52), what each seat holds in each world; seat 0 is the observer.
        weights: (B, n), of the worlds, each row's sum is 1.
        truth: (B, S, 52), what each seat holds.
    """
    holding, truth = holding[:, :, 1:], truth[:, 1:]
    belief = np.einsum("bnsc,bn->bsc", holding, weights)
    belief /= np.maximum(belief.sum(axis=1, keepdims=True), 1e-12)
    belief = (1 - CAUTION) * belief + CAUTION / belief.shape[1]
    open_cards = (holding.max(axis=1) > 0).sum(axis=1, keepdims=True) > 1
    counts = truth * open_cards
    loss = -(counts * np.log(belief)).sum(axis=(1, 2))
    means: NDArray[np.float64] = loss / np.maximum(counts.sum(axis=(1, 2)), 1)
    return means
