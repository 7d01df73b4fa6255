"""How well beliefs tell who holds the unseen cards: log loss, and whether they are calibrated.

A belief is, for each of the other seats and each card, the probability that this seat holds it,
given that one of them does. Weighted worlds give one, and so does a network that was taught
(``guesser.Guesser``). Scored are the cards that more than one other seat may hold.

losses = belief_losses(load_agent("champion"), 400, seed=2**63, guess=guess_for(Rules()))
{name: Estimate.of(loss).text(3) for name, loss in losses.items()}
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from black_maria import engine
from black_maria.tables import Tables
from black_maria_agents.guesser import Guess
from black_maria_agents.network import PolicyAgent
from black_maria_agents.search.beliefs import tempered, weigh
from black_maria_agents.worlds.sampling import card_counts

CAUTION: Final = 0.02
"""Share of every belief that goes to all other seats evenly, since no number of worlds is all."""
BINS: Final = 10
"""Classes of probabilities in which beliefs are compared with what came true."""
GUIDED_DRAWS: Final = 512
"""Worlds drawn for those that a guess picks."""
PART: Final = 200
"""Positions whose worlds are weighed at a time: 192 worlds of each take 70 MB."""

Beliefs = dict[str, NDArray[np.float64]]
"""By their name: (B, S − 1, 52); over the other seats, clockwise, an unseen card's sum is 1."""


@dataclass(frozen=True)
class Positions:
    """B seats to move, and what they can't see. S seats."""

    observation: NDArray[np.int8]
    """(B, F)."""
    history: NDArray[np.int8]
    """(B, R, 3)."""
    keys: NDArray[np.uint64]
    """(B,)."""
    truth: NDArray[np.int8]
    """(B, S, 52): what each seat holds; seat 0 is the observer."""

    def __len__(self) -> int:
        """B."""
        return len(self.keys)

    def parts(self, size: int = PART) -> Iterator["Positions"]:
        """So many at a time."""
        for start in range(0, len(self), size):
            yield Positions(*(array[start : start + size] for array in vars(self).values()))


def positions(agent: PolicyAgent, stop: NDArray[np.int64], *, seed: int) -> Positions:
    """A position of each hand, the same agent in every seat.

    Args:
        agent: Who plays.
        stop: (B,), how many cards have been played there. Hands are the deals of the seed's tables
            0 … B − 1.
        seed: The deals' seed.
    """
    rules = agent.rules
    tables = Tables(len(stop), rules, seed=seed, history=True, deal_on=False)
    states = tables.states()
    obs, seat = tables.observe()
    while (going := (states["phase"] == engine.PASSING) | (states["num_played"] < stop)).any():
        tables.step(agent.act(obs, tables.keys()), going)
        obs, seat = tables.observe()
    of_seats = (seat[:, None] + np.arange(rules.seats)) % rules.seats
    truth = np.take_along_axis(states["holding"], of_seats[:, :, None], axis=1)
    return Positions(obs["observation"], obs["history"], tables.keys(), card_counts(truth))


def of_worlds(
    agent: PolicyAgent,
    at: Positions,
    *,
    worlds: int = 192,
    effective: float = 12.0,
    guess: Guess | None = None,
) -> tuple[Beliefs, NDArray[np.int8]]:
    """Beliefs by sampled worlds, and the cards that are scored.

    Args:
        agent: By whose likelihood worlds are weighed: the policy that the others play.
        at: Positions after the pass.
        worlds: Worlds of each.
        effective: Effective number of worlds that ``"tempered"`` and ``"guided"`` keep.
        guess: Adds ``"guided"``: half as many worlds, those of 512 drawn that it finds likely, as
            the search has them.

    Returns:
        ``"uniform"``, ``"likelihood"``, ``"tempered"`` and perhaps ``"guided"``; and
        (B, S − 1, 52), what the others hold of the cards that more than one of them holds in
        some world.
    """
    games, likelihood = weigh(agent, at.observation, at.history, at.keys, draws=worlds, most=worlds)
    weights = {
        "uniform": np.full(likelihood.shape, 1 / worlds),
        "likelihood": tempered(likelihood),
        "tempered": tempered(likelihood, effective),
    }
    holding = card_counts(games["holding"][:, :, 1 : agent.rules.seats])
    beliefs = {name: belief_of(holding, each) for name, each in weights.items()}
    if guess is not None:
        games, found = weigh(
            agent, at.observation, at.history, at.keys,
            draws=GUIDED_DRAWS, most=worlds // 2, guess=guess,
        )  # fmt: skip
        held = card_counts(games["holding"][:, :, 1 : agent.rules.seats])
        beliefs["guided"] = belief_of(held, tempered(found, effective))
    return beliefs, at.truth[:, 1:] * is_open(holding)


def belief_losses(
    agent: PolicyAgent,
    hands: int,
    *,
    seed: int,
    worlds: int = 192,
    effective: float = 12.0,
    guess: Guess | None = None,
) -> dict[str, NDArray[np.float64]]:
    """Log losses of beliefs at one position of each hand, the same agent in every seat.

    A position lies between a tenth and two thirds of the hand's cards.

    Args:
        agent: Who plays, and by whose likelihood worlds are weighed.
        hands: H; they are the deals of the seed's tables 0 … H − 1.
        seed: The deals' seed, and that of the positions.
        worlds: Worlds of each position.
        effective: Effective number of worlds that ``"tempered"`` keeps.
        guess: As for ``of_worlds``.

    Returns:
        As ``of_worlds``'s, (H,) each, nats a card.
    """
    cards = agent.rules.hand_size * agent.rules.seats
    stop = np.random.default_rng(seed).integers(cards // 10, 2 * cards // 3, hands)
    at = positions(agent, stop, seed=seed)
    parts = [
        of_worlds(agent, part, worlds=worlds, effective=effective, guess=guess)
        for part in at.parts()
    ]
    held = np.concatenate([scored for _, scored in parts])
    beliefs = {name: np.concatenate([of[name] for of, _ in parts]) for name in parts[0][0]}
    return {name: loss_of(belief, held) for name, belief in beliefs.items()}


# --- scores ---------------------------------------------------------------------------------------


def belief_of(holding: NDArray[np.int8], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The belief (B, S − 1, 52) that weighted worlds have of cards that some other seat holds.

    Args:
        holding: (B, n, S − 1, 52), what each other seat holds in each world.
        weights: (B, n), of the worlds, each row's sum is 1.
    """
    belief: NDArray[np.float64] = np.einsum("bnsc,bn->bsc", holding, weights)
    belief /= np.maximum(belief.sum(axis=1, keepdims=True), 1e-12)
    belief *= 1 - CAUTION
    belief += CAUTION / belief.shape[1]
    return belief


def is_open(holding: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Which cards more than one other seat may hold, (B, 1, 52), by worlds (B, n, S − 1, 52)."""
    open_cards: NDArray[np.bool_] = (holding.max(axis=1) > 0).sum(axis=1, keepdims=True) > 1
    return open_cards


def loss_of(belief: NDArray[np.float64], held: NDArray[np.int8]) -> NDArray[np.float64]:
    """Mean log loss of who holds a card, (B,), nats; 0 where no card is scored.

    Args:
        belief: (B, S − 1, 52).
        held: (B, S − 1, 52): what the other seats hold, of the cards that are scored.
    """
    loss = -(held * np.log(belief)).sum(axis=(1, 2))
    means: NDArray[np.float64] = loss / np.maximum(held.sum(axis=(1, 2)), 1)
    return means


def log_loss(
    holding: NDArray[np.int8], weights: NDArray[np.float64], truth: NDArray[np.int8]
) -> NDArray[np.float64]:
    """Mean log loss of who holds a card, (B,), over unseen cards that more than one seat may hold.

    Args:
        holding: (B, n, S, 52), what each seat holds in each world; seat 0 is the observer.
        weights: (B, n), of the worlds, each row's sum is 1.
        truth: (B, S, 52), what each seat holds.
    """
    others = holding[:, :, 1:]
    return loss_of(belief_of(others, weights), truth[:, 1:] * is_open(others))


@dataclass(frozen=True)
class Calibration:
    """What came true of beliefs, by the probability that they gave: ``BINS`` classes."""

    said: NDArray[np.float64]
    """(BINS,): the mean probability; NaN in a class without any."""
    came: NDArray[np.float64]
    """(BINS,): the share that came true; NaN as well."""
    count: NDArray[np.int64]
    """(BINS,): how many probabilities."""

    @classmethod
    def of(cls, belief: NDArray[np.float64], held: NDArray[np.int8]) -> "Calibration":
        """Compare a belief with what is held; both as for ``loss_of``."""
        scored = np.broadcast_to(held.sum(axis=1, keepdims=True, dtype=np.int64), held.shape)
        weight, said = scored[scored > 0], belief[scored > 0]
        place = np.minimum((said * BINS).astype(np.int64), BINS - 1)
        count = np.bincount(place, weight, BINS)
        with np.errstate(invalid="ignore"):
            return cls(
                np.bincount(place, said * weight, BINS) / count,
                np.bincount(place, held[scored > 0], BINS) / count,
                count.astype(np.int64),
            )

    @property
    def error(self) -> float:
        """Expected calibration error: by how much what was said is off, on average."""
        off = np.abs(np.nan_to_num(self.said - self.came))
        return float((off * self.count).sum() / max(self.count.sum(), 1))
