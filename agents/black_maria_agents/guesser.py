"""A network that guesses who holds the unseen cards, taught by a data set in a minute.

It sees what its seat sees, and no more. A benchmark for beliefs: whoever weighs worlds should know
more than it does. ``scripts/beliefs.py`` makes the table.
"""

from typing import Final

import torch
from torch import Tensor, nn

from black_maria.cards import NUM_RANKS
from black_maria.layout import Layout, layout_of
from black_maria_agents.dataset.reading import Decisions
from black_maria_agents.features import features_of
from black_maria_agents.layers import SuitNetwork, orthogonal
from black_maria_agents.network import Gather

RATE: Final = 2e-3
"""Adam's first learning rate; it falls to 0 in a straight line."""


class Guesser(nn.Module):
    """Who holds each card, from an observation: log-probabilities over the other seats.

    Args:
        layout: The observation's layout.
        width: Units of the trunk.
    """

    def __init__(self, layout: Layout, width: int = 128) -> None:
        """Make the layers: as ``network.Policy``, with a card for every other seat."""
        super().__init__()
        self.others = layout.rules.seats - 1
        features = features_of(layout)
        self.gather = Gather(features, layout)
        self.body = SuitNetwork(features, width)
        self.from_suit = orthogonal(nn.Linear(width // 4, width // 4))
        self.from_whole = orthogonal(nn.Linear(width, width // 4, bias=False))
        self.cards = orthogonal(nn.Linear(width // 4, self.others * NUM_RANKS), gain=0.01)

    def forward(self, observation: Tensor) -> Tensor:
        """Log-probabilities (B, S − 1, 52), seats clockwise from the observer's left.

        Args:
            observation: (B, F) int8.
        """
        codes, whole = self.body(self.gather(observation))
        code = (self.from_suit(codes) + self.from_whole(whole)[:, None]).relu()
        logits = self.cards(code).unflatten(2, (self.others, NUM_RANKS))
        log_probs: Tensor = logits.transpose(1, 2).flatten(2).log_softmax(1)
        return log_probs


def fit(data: Decisions, *, epochs: int, width: int = 128) -> tuple[Guesser, list[float]]:
    """Teach a guesser who holds what, at every decision after the pass.

    Args:
        data: With ``"observation"`` and ``"holding"``; shuffled.
        epochs: Passes over it.
        width: Units of the trunk.

    Returns:
        The guesser, and each epoch's mean log loss, nats a card, over all cards of the others.
    """
    layout = layout_of(data.rules)
    with torch.random.fork_rng():
        torch.manual_seed(1)
        guesser = Guesser(layout, width)
    optimizer = torch.optim.Adam(guesser.parameters(), lr=RATE)
    passing = layout["phase"].start
    losses = []
    for epoch in range(epochs):
        total = cards = 0.0
        for batch in data:
            optimizer.param_groups[0]["lr"] = RATE * (1 - (epoch + data.done) / (epochs + 0.01))
            playing = batch["observation"][:, passing] == 0
            held = batch["holding"][playing, 1:]
            loss = -(held * guesser(batch["observation"][playing])).sum()
            count = int(held.sum())
            optimizer.zero_grad()
            (loss / max(count, 1)).backward()
            optimizer.step()
            total, cards = total + loss.item(), cards + count
        losses.append(total / max(cards, 1))
    return guesser.eval(), losses
