"""A network that guesses who holds the unseen cards, taught in a minute.

It sees what its seat sees, and no more. A search asks it which worlds are worth weighing
(``search.proposals``); the package has one of champions' hands, ``guess_for``. And it is a
benchmark for beliefs: ``scripts/beliefs.py`` makes the table.
"""

import dataclasses
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from black_maria.cards import NUM_CARDS, NUM_RANKS
from black_maria.layout import Layout, layout_of
from black_maria.rules import Rules
from black_maria_agents import archives
from black_maria_agents.checkpoint import CheckpointError, write
from black_maria_agents.dataset.reading import Decisions
from black_maria_agents.features import features_of
from black_maria_agents.inference import Inference
from black_maria_agents.layers import SuitNetwork, orthogonal
from black_maria_agents.network import Gather

RATE: Final = 2e-3
"""Adam's first learning rate; it falls to 0 in a straight line."""
FORMAT: Final = "black-maria guesser"
_FOLDER: Final = Path(__file__).parent / "guessers"


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
        self.features, self.width = features, width
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
        return self.of_features(self.gather(observation))

    def of_features(self, features: Tensor) -> Tensor:
        """The same, from features (B, F') int8 in the order of ``features``."""
        codes, whole = self.body(features)
        code = (self.from_suit(codes) + self.from_whole(whole)[:, None]).relu()
        logits = self.cards(code).unflatten(2, (self.others, NUM_RANKS))
        log_probs: Tensor = logits.transpose(1, 2).flatten(2).log_softmax(1)
        return log_probs


class Guess:
    """A guesser at play: a row's guess doesn't depend on its neighbours.

    Args:
        guesser: The network.
        fingerprint: Of its file, a hash.
    """

    def __init__(self, guesser: Guesser, fingerprint: str = "") -> None:
        """Take the network over."""
        self.fingerprint = fingerprint
        self._inference = Inference(_OfFeatures(guesser.eval()), guesser.features)

    def log_probs(self, observation: NDArray[np.int8]) -> NDArray[np.float32]:
        """Logarithms of how probably each other seat holds a card, (B, S − 1, 52).

        Args:
            observation: (B, F) int8.
        """
        every = np.ones((len(observation), NUM_CARDS), np.int8)
        found: NDArray[np.float32] = self._inference(observation, every).numpy()
        return found


class _OfFeatures(nn.Module):
    """A guesser that takes what ``Inference`` gives."""

    def __init__(self, guesser: Guesser) -> None:
        super().__init__()
        self.guesser = guesser

    def forward(self, features: Tensor, mask: Tensor) -> Tensor:
        """As ``Guesser.of_features``; the mask says nothing."""
        return self.guesser.of_features(features)


@lru_cache
def guess_for(rules: Rules) -> Guess | None:
    """The package's guess for these rules, if it has one."""
    path = _FOLDER / f"{rules.name}.pt"
    if not path.exists() or rules != Rules.profile(rules.name):
        return None
    return load(path, rules)


def save(path: str | Path, guesser: Guesser, rules: Rules) -> None:
    """Write a guesser, with a checksum; the file appears whole."""
    content = {
        "format": FORMAT,
        "rules": dataclasses.asdict(rules),
        "width": guesser.width,
        "guesser": guesser.state_dict(),
    }
    write(path, content)


def load(path: str | Path, rules: Rules) -> Guess:
    """A guesser's file, for play.

    Raises:
        CheckpointError: It is missing, damaged, something else, or made for other rules.
    """
    try:
        with archives.opened(path, what="a PyTorch file") as archive:
            content = torch.load(archive.file, map_location="cpu", weights_only=True)
            digest = archive.digest
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path} can't be read as a guesser: {error}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise CheckpointError(f"{path} is a PyTorch file, but not a guesser")
    if content["rules"] != dataclasses.asdict(rules):
        raise CheckpointError(f"{path} guesses for other rules than {rules.name!r}")
    guesser = Guesser(layout_of(rules), content["width"])
    try:
        guesser.load_state_dict(content["guesser"])
    except RuntimeError as error:
        raise CheckpointError(f"{path} was made for another observation: {error}") from None
    return Guess(guesser, digest[:16])


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
