"""Policy and oracle critic, how a card is sampled from the policy, and the agent made of it.

Both have one of two bodies: ``layers.SuitNetwork``, made for the rules of one layout, or, where
they read clauses, ``universal.UniversalNetwork``. One head, shared by the suits, gives every
suit's thirteen cards.
"""

from collections.abc import Iterable, Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import pad

from black_maria.bots import check_batch
from black_maria.cards import NUM_RANKS
from black_maria.layout import Layout, layout_of
from black_maria.rules import Rules
from black_maria_agents.features import (
    ONE,
    ZERO,
    Features,
    features_of,
    hidden_size,
    telling,
)
from black_maria_agents.inference import Inference
from black_maria_agents.layers import Inputs, SuitNetwork, orthogonal
from black_maria_agents.threads import one_thread
from black_maria_agents.universal import (
    MOST_SEATS,
    RulesRows,
    UniversalNetwork,
    check_readable,
    layout_for,
    vector_of,
)


class Policy(nn.Module):
    """Logits over the 52 cards, for passing and playing alike, from what one seat sees.

    Args:
        layout: The observation layout.
        width: Units of the trunk.
        blocks: The blocks that it reads, by name; see ``features.features_of``.
        clauses: The blocks of the rules' vector that it reads, by name. A policy that reads any
            is for all rules of one pack and up to six seats, whatever the layout.

    Attributes:
        features: What it reads, in its order; one that reads the rules has those of six seats,
            and ``under`` what it reads at a table.
    """

    def __init__(
        self,
        layout: Layout,
        width: int = 128,
        blocks: Iterable[str] | None = None,
        clauses: Iterable[str] = (),
    ) -> None:
        """Make the layers."""
        super().__init__()
        self.width, self.clauses = width, tuple(clauses)
        self.features = _features(layout, blocks, self.clauses)
        self.body = _body(self.features, width, self.clauses)
        self.from_suit = orthogonal(nn.Linear(width // 4, width // 4))
        self.from_whole = orthogonal(nn.Linear(width, width // 4, bias=False))
        self.cards = orthogonal(nn.Linear(width // 4, NUM_RANKS), gain=0.01)

    def read(self, features: Tensor, rules: RulesRows | None = None) -> Inputs:
        """What the first layers take, its critic's too: made once where both are asked."""
        return self.body.read(features, rules)  # type: ignore[arg-type] # as its kind takes

    def forward(
        self, features: Tensor | Inputs, mask: Tensor, rules: RulesRows | None = None
    ) -> Tensor:
        """Log-probabilities (B, 52) float32; −inf where the mask is 0.

        Args:
            features: (B, F') int8, from ``Features.of``; or what ``read`` made of them.
            mask: (B, 52) int8, 1 where the card may be chosen.
            rules: What the rows are played by, for a policy that reads it.
        """
        codes, whole = self.body(features, None, rules)
        cards = self.from_suit(codes) + self.from_whole(whole)[:, None]
        logits: Tensor = self.cards(cards.relu_()).flatten(1).float()
        return logits.masked_fill(mask == 0, -torch.inf).log_softmax(-1)

    def under(self, rules: Rules) -> "Policy | UnderRules":
        """The policy at a table of these rules: it takes features and mask alone.

        Raises:
            ValueError: It reads the rules, and isn't made for so many seats or packs.
        """
        return UnderRules(self, rules) if self.clauses else self


class Gather(nn.Module):
    """A network's features, from the observation as the environment gives it.

    Play and training gather them by ``Features.of``, once for several networks; this does it in
    PyTorch, so that it can be part of one.

    Args:
        features: Which, and in which order.
        layout: The observation's layout.
    """

    index: Tensor

    def __init__(self, features: Features, layout: Layout) -> None:
        """Find the features' places; the two constants stand behind the observation."""
        super().__init__()
        index = features.index
        places = np.where(
            index == ZERO, layout.size, np.where(index == ONE, layout.size + 1, index)
        )
        self.register_buffer("index", torch.from_numpy(places), persistent=False)

    def forward(self, observation: Tensor) -> Tensor:
        """Features (B, F') of observations (B, F), int8."""
        # not made to a length: torch.export then leaves B open
        extended = pad(pad(observation, (0, 1), value=0), (0, 1), value=1)
        return extended.index_select(1, self.index)


class ObservationPolicy(nn.Module):
    """A policy that takes what the environment gives: for export, and for code of others.

    Args:
        policy: The network; it is shared, not copied.
        layout: The observation's layout under the rules that it plays by.
    """

    def __init__(self, policy: Policy, layout: Layout) -> None:
        """Put what gathers its features before it."""
        super().__init__()
        self.policy = policy.under(layout.rules)
        self.gather = Gather(self.policy.features, layout)

    def forward(self, observation: Tensor, action_mask: Tensor) -> Tensor:
        """Log-probabilities (B, 52) float32; −inf where the mask is 0.

        Args:
            observation: (B, F) int8.
            action_mask: (B, 52) int8, a legal card in every row; without one it is NaN.
        """
        log_probs: Tensor = self.policy(self.gather(observation), action_mask)
        return log_probs


class OracleCritic(nn.Module):
    """A seat's expected reward to come, from its own view and the others' hidden cards.

    It serves training alone: it sees what no player may see. Args and attributes as for
    ``Policy``.
    """

    def __init__(
        self,
        layout: Layout,
        width: int = 128,
        blocks: Iterable[str] | None = None,
        clauses: Iterable[str] = (),
    ) -> None:
        """Make the layers."""
        super().__init__()
        self.clauses = tuple(clauses)
        self.features = _features(layout, blocks, self.clauses)
        self.body = _body(self.features, width, self.clauses, hidden_size(layout))
        self.value = orthogonal(nn.Linear(width, 1), gain=1.0)

    def forward(
        self, features: Tensor | Inputs, hidden: Tensor, rules: RulesRows | None = None
    ) -> Tensor:
        """Values (B,) float32, in the learner's reward units.

        Args:
            features: (B, F') int8, from ``Features.of``; or what the policy's ``read`` made of
                them.
            hidden: (B, ``hidden_size``) int8, from ``selfplay.hidden_cards``.
            rules: What the rows are played by, for a critic that reads it.
        """
        _, whole = self.body(features, hidden, rules)
        value: Tensor = self.value(whole).float()
        return value.squeeze(-1)

    def forget(self) -> None:
        """Expect nothing again, and keep how the cards are read."""
        nn.init.zeros_(self.value.weight)
        nn.init.zeros_(self.value.bias)


def _features(layout: Layout, blocks: Iterable[str] | None, clauses: tuple[str, ...]) -> Features:
    """What a network reads: with the rules, of a layout that has all."""
    if not clauses:
        return features_of(layout, blocks)
    widest = layout_for(MOST_SEATS)
    return features_of(widest, widest.blocks if blocks is None else blocks)


def _body(
    features: Features, width: int, clauses: tuple[str, ...], hidden: int = 0
) -> SuitNetwork | UniversalNetwork:
    if not clauses:
        return SuitNetwork(features, width, hidden=hidden)
    return UniversalNetwork(features.blocks, clauses, width, hidden=bool(hidden))


class UnderRules(nn.Module):
    """A policy that reads the rules, at a table where they are known.

    Args:
        policy: The policy; its weights are shared.
        rules: What the table plays.

    Attributes:
        features: What it reads there, in its order.
        rows: ``rows(B)`` are the rules of B rows.
    """

    def __init__(self, policy: Policy, rules: Rules) -> None:
        """Read the rules."""
        super().__init__()
        check_readable(rules)
        self.policy, self.rules = policy, rules
        blocks = telling(layout_of(rules))
        self.features = features_of(
            layout_for(rules.seats), [name for name in policy.features.blocks if name in blocks]
        )
        self._vector = vector_of(rules)

    def rows(self, count: int, device: torch.device) -> RulesRows:
        """The rules of so many rows."""
        vectors = self._vector = self._vector.to(device)
        first = torch.zeros(count, dtype=torch.int64, device=device)
        return RulesRows(self.features, vectors, first)

    def forward(self, features: Tensor, mask: Tensor) -> Tensor:
        """As ``Policy``'s."""
        log_probs: Tensor = self.policy(features, mask, self.rows(mask.shape[0], mask.device))
        return log_probs


def sample(log_probs: Tensor, keys: NDArray[np.uint64]) -> Tensor:
    """A card for every row, (B,) int64, sampled with the row's own randomness.

    The same key and probabilities give the same card, whatever the batch.

    Args:
        log_probs: (B, 52) float32.
        keys: (B,) uint64.
    """
    return draw(log_probs, torch.from_numpy(uniform_of(keys)).to(log_probs.device))


def uniform_of(keys: NDArray[np.uint64]) -> NDArray[np.float32]:
    """A number 0 ≤ u < 1 for every key, (B,) float32.

    Of 23 bits: u ≤ 1 − 2⁻²³ keeps u · total below total in float32, so that ``draw`` finds a
    legal card.
    """
    return (keys >> np.uint64(41)).astype(np.float32) / np.float32(2**23)


def draw(log_probs: Tensor, uniform: Tensor) -> Tensor:
    """A card for every row, (B,) int64: the first at which the probabilities' sum passes u.

    A GPU adds in an order of its own, by which a sum may be less than the one before it, or grow
    by cards that have no probability. So only legal cards' sums count, and u is of their largest.

    Args:
        log_probs: (B, 52) float32.
        uniform: (B,) float32, from ``uniform_of``.
    """
    cumulative = log_probs.exp().cumsum(-1).masked_fill(log_probs == -torch.inf, 0)
    threshold = uniform[:, None] * cumulative.amax(-1, keepdim=True)
    return (cumulative > threshold).to(torch.uint8).argmax(-1)


class PolicyAgent:
    """A trained policy as an ``Agent``.

    Args:
        policy: The network; evaluated in float32.
        rules: The rules it was trained for.
        greedy: Play the likeliest card; otherwise sample from the policy.
        name: What it is called: for a file, what ``load_agent`` takes.
        fingerprint: Of its file, a hash; without one its name alone tells it from others.
    """

    def __init__(
        self,
        policy: Policy,
        rules: Rules,
        *,
        greedy: bool = True,
        name: str = "network",
        fingerprint: str = "",
    ) -> None:
        """Take the network over for play."""
        self.policy = policy.eval()
        self.rules = rules
        self.greedy = greedy
        self.name = name
        self.fingerprint = fingerprint
        here = policy.under(rules)
        self.inference = Inference(here, here.features)
        self._layout = layout_of(rules)

    @property
    def identity(self) -> str:
        """Its name, the hash of its file, and whether its cards are sampled."""
        how = "" if self.greedy else "sampled"
        return " ".join(filter(None, [self.name, self.fingerprint, how]))

    @one_thread()
    @torch.inference_mode()
    def act(
        self, obs: Mapping[str, NDArray[np.int8]], keys: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """Choose a card for every row; see ``base.Agent``."""
        observation, mask = check_batch(obs, keys, self._layout)
        return self.pick(self.log_probs(observation, mask), keys)

    def pick(self, log_probs: Tensor, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The cards (B,) that it plays of its log-probabilities (B, 52), by the rows' keys (B,)."""
        return (log_probs.argmax(-1) if self.greedy else sample(log_probs, keys)).numpy()

    @one_thread()
    def log_probs(self, observation: NDArray[np.int8], mask: NDArray[np.int8]) -> Tensor:
        """The policy's log-probabilities, (B, 52) float32 on the CPU; −inf where the mask is 0.

        Args:
            observation: (B, F) int8.
            mask: (B, 52) int8.
        """
        return self.inference(observation, mask)
