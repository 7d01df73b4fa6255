"""Policy and oracle critic, how a card is sampled from the policy, and the agent made of it.

Both networks have the cards' structure: one encoder reads each suit, its weights shared by all
four, so that what is learnt of low diamonds holds for low clubs; a trunk joins the four codes
with what isn't of a suit; and one head, shared again, gives every suit's thirteen cards.
"""

from collections.abc import Iterable, Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import pad

from black_maria.bots import check_batch
from black_maria.cards import NUM_RANKS, NUM_SUITS
from black_maria.layout import Layout, layout_of
from black_maria.rules import Rules
from black_maria_agents.features import ONE, ZERO, Features, features_of, hidden_size
from black_maria_agents.inference import Inference
from black_maria_agents.threads import one_thread


class SuitNetwork(nn.Module):
    """From features to a code for every suit and one for the whole.

    The weights of the match's features (totals, hands left) start at zero. Training on single
    hands, where those are zero, leaves them there: such a network ignores the match.

    Args:
        features: What it reads.
        width: Units of the trunk's two layers; a suit's two layers have a half and a quarter.
        hidden: How many of the others' cards are read as well.
    """

    def __init__(self, features: Features, width: int, *, hidden: int = 0) -> None:
        """Make the layers; orthogonal weights, as PPO's implementations have them."""
        super().__init__()
        self.per_suit, suit = features.per_suit, width // 4
        self.suit_in = orthogonal(nn.Linear(self.per_suit, 2 * suit))
        self.suit_out = orthogonal(nn.Linear(2 * suit, suit))
        self.trunk_in = orthogonal(nn.Linear(NUM_SUITS * suit + features.num_rest, width))
        self.trunk_out = orthogonal(nn.Linear(width, width))
        self.hidden_in: nn.Linear | None = None
        if hidden:
            self.hidden_in = orthogonal(nn.Linear(hidden // NUM_SUITS, 2 * suit, bias=False))
        with torch.no_grad():
            for block in features.rest.keys() & {"hands_left", "totals"}:
                columns = features.rest[block]
                own = self.per_suit - NUM_SUITS - features.num_rest
                self.suit_in.weight[:, own:][:, columns] = 0
                self.trunk_in.weight[:, NUM_SUITS * suit :][:, columns] = 0

    def forward(self, features: Tensor, hidden: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Codes of the suits (B, 4, width / 4) and of the whole (B, width).

        Args:
            features: (B, F') int8, in the order of ``Features``.
            hidden: (B, ``hidden_size``) int8, suit by suit.
        """
        suits, rest = features.tensor_split([NUM_SUITS * self.per_suit], dim=1)
        suits, rest = suits.float(), rest.float()  # each dense: no further copies
        code = self.suit_in(suits.view(-1, NUM_SUITS, self.per_suit))
        if hidden is not None and self.hidden_in is not None:
            code = code + self.hidden_in(hidden.float().view(len(suits), NUM_SUITS, -1))
        codes = self.suit_out(code.relu_()).relu_()
        whole = self.trunk_in(torch.cat([codes.flatten(1), rest], dim=1)).relu_()
        return codes, self.trunk_out(whole).relu_()


def orthogonal(layer: nn.Linear, gain: float = 2**0.5) -> nn.Linear:
    """Give a layer orthogonal weights and zero biases."""
    nn.init.orthogonal_(layer.weight, gain)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer


class Policy(nn.Module):
    """Logits over the 52 cards, for passing and playing alike, from what one seat sees.

    Args:
        layout: The observation layout.
        width: Units of the trunk.
        blocks: The blocks that it reads, by name; see ``features.features_of``.

    Attributes:
        features: What it reads, in its order.
    """

    def __init__(
        self, layout: Layout, width: int = 128, blocks: Iterable[str] | None = None
    ) -> None:
        """Make the layers."""
        super().__init__()
        self.width = width
        self.features = features_of(layout, blocks)
        self.body = SuitNetwork(self.features, width)
        self.from_suit = orthogonal(nn.Linear(width // 4, width // 4))
        self.from_whole = orthogonal(nn.Linear(width, width // 4, bias=False))
        self.cards = orthogonal(nn.Linear(width // 4, NUM_RANKS), gain=0.01)

    def forward(self, features: Tensor, mask: Tensor) -> Tensor:
        """Log-probabilities (B, 52) float32; −inf where the mask is 0.

        Args:
            features: (B, F') int8, from ``Features.of``.
            mask: (B, 52) int8, 1 where the card may be chosen.
        """
        codes, whole = self.body(features)
        cards = self.from_suit(codes) + self.from_whole(whole)[:, None]
        logits: Tensor = self.cards(cards.relu_()).flatten(1).float()
        return logits.masked_fill(mask == 0, -torch.inf).log_softmax(-1)


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
        layout: The observation's layout under the rules that it was trained for.
    """

    def __init__(self, policy: Policy, layout: Layout) -> None:
        """Put what gathers its features before it."""
        super().__init__()
        self.policy = policy
        self.gather = Gather(policy.features, layout)

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
        self, layout: Layout, width: int = 128, blocks: Iterable[str] | None = None
    ) -> None:
        """Make the layers."""
        super().__init__()
        self.features = features_of(layout, blocks)
        self.body = SuitNetwork(self.features, width, hidden=hidden_size(layout))
        self.value = orthogonal(nn.Linear(width, 1), gain=1.0)

    def forward(self, features: Tensor, hidden: Tensor) -> Tensor:
        """Values (B,) float32, in the learner's reward units.

        Args:
            features: (B, F') int8, from ``Features.of``.
            hidden: (B, ``hidden_size``) int8, from ``selfplay.hidden_cards``.
        """
        _, whole = self.body(features, hidden)
        value: Tensor = self.value(whole).float()
        return value.squeeze(-1)


def sample(log_probs: Tensor, keys: NDArray[np.uint64]) -> Tensor:
    """A card for every row, (B,) int64, sampled with the row's own randomness.

    The same key and probabilities give the same card, whatever the batch.

    Args:
        log_probs: (B, 52) float32.
        keys: (B,) uint64.
    """
    # 23 bits: u ≤ 1 − 2⁻²³ keeps u · total below total in float32, so the card is legal
    uniform = torch.from_numpy((keys >> np.uint64(41)).astype(np.float32) / np.float32(2**23))
    cumulative = log_probs.exp().cumsum(-1)
    threshold = uniform.to(log_probs.device)[:, None] * cumulative[:, -1:]
    return (cumulative <= threshold).sum(-1)


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
        self.inference = Inference(self.policy, policy.features)
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
