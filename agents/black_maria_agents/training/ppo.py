"""Proximal policy optimisation for a game of several seats.

Schulman et al. 2017, arXiv 1707.06347.

One policy plays all seats. A seat's trajectory is its own *choices*, decisions with more than
one legal card; between two of them everybody's cards fall, and all penalty points that come to
the seat meanwhile are its reward. The critic is an oracle: it sees all hands, in training only.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from black_maria_agents.distributed import Ranks
from black_maria_agents.network import OracleCritic, Policy, UnderRules
from black_maria_agents.training.batch import Batch, advantages
from black_maria_agents.training.checks import check_real, check_whole
from black_maria_agents.training.selfplay import DivergenceError, Rollout
from black_maria_agents.universal import RulesRows


@dataclass(frozen=True)
class PPOConfig:
    """Settings of the update. Schedules run linearly over the whole training."""

    learning_rate: float = 2e-3
    """Adam's step size at the start; it falls to 0."""
    epochs: int = 2
    """Passes over each rollout."""
    minibatch: int = 1024
    """Choices in a gradient step."""
    gae_lambda: float = 0.8
    """λ of generalised advantage estimation; γ is 1, as hands are short and points count alike."""
    clip: float = 0.2
    """How far a step may move the probability ratio away from 1."""
    entropy_start: float = 0.02
    """Weight of the entropy bonus at the start."""
    entropy_end: float = 0.002
    """Weight of the entropy bonus at the end."""
    teacher_start: float = 1.0
    """Weight of the divergence from the teachers, if there are any, at the start; it falls to 0."""
    branch_weight: float = 10.0
    """Weight of what the policy's cards cost in branches, if any are played, in reward units."""
    max_grad_norm: float = 0.5
    """Gradients of either network are scaled down to this norm."""
    reward_scale: float = 0.1
    """Penalty points times this are the learner's reward units."""

    def __post_init__(self) -> None:
        """Refuse impossible settings.

        Raises:
            ValueError: Names the setting and what fits.
        """
        check_whole(self, "epochs", "minibatch")
        check_real(self, "learning_rate", "clip", "max_grad_norm", "reward_scale", zero=False)
        check_real(self, "entropy_start", "entropy_end", "teacher_start", "branch_weight")
        check_real(self, "gae_lambda", most=1)


class PPO:
    """Policy, critic and their optimiser.

    Args:
        policy: The policy that is trained.
        critic: Its oracle critic, on the same device.
        config: The update's settings.
        teachers: Policies on the same device whose mean the policy is pulled towards; they may
            read fewer blocks of the observation than it does, but no others.
        autocast: Compute in bfloat16 where PyTorch thinks it safe.
        seed: Seed of the minibatches' order.
        ranks: The processes that train together, each on rollouts of its own.

    Attributes:
        updates: Updates made so far; with the seed it settles the minibatches' order.
        critic_alone: The policy stays as it is.

    Raises:
        ValueError: A teacher reads what the policy doesn't.
    """

    def __init__(
        self,
        policy: Policy,
        critic: OracleCritic,
        config: PPOConfig,
        *,
        teachers: Sequence[Policy] = (),
        autocast: bool = False,
        seed: int = 0,
        ranks: Ranks | None = None,
    ) -> None:
        """Make the optimiser."""
        self.policy = policy
        self.critic = critic
        self.config = config
        self.teachers = teachers
        self.autocast = autocast
        self.updates = 0
        self.critic_alone = False
        self._reads_rules = bool(getattr(policy, "clauses", ()))
        self._seed = seed
        self._ranks = ranks or Ranks()
        self._parameters = [*policy.parameters(), *critic.parameters()]
        self._device = self._parameters[0].device
        self._columns = [self._columns_of(teacher) for teacher in teachers]
        self.optimizer = torch.optim.Adam(
            self._parameters, lr=config.learning_rate, eps=1e-5, fused=True
        )

    def precision(self) -> torch.autocast:
        """The context that networks run in."""
        return torch.autocast(self._device.type, torch.bfloat16, enabled=self.autocast)

    def batches(self, rollouts: Sequence[Rollout]) -> list[Batch]:
        """The rollouts' choices, those whose features are of one kind together."""
        kinds: dict[Any, list[Batch]] = {}
        for rollout in rollouts:
            batch = self._of(rollout)
            kind = batch.rules and batch.rules.features.kind
            kinds.setdefault(kind, []).append(batch)
        batches = [Batch.joined(alike) for alike in kinds.values()]
        advantages = self._normalised(torch.cat([batch.advantage for batch in batches]))
        parts = torch.split(advantages, [len(batch.advantage) for batch in batches])
        return [replace(batch, advantage=part) for batch, part in zip(batches, parts, strict=True)]

    def batch(self, rollout: Rollout) -> Batch:
        """The rollout's choices with their advantages and returns."""
        return self.batches([rollout])[0]

    def _of(self, rollout: Rollout) -> Batch:
        """A rollout's choices; advantages aren't normalised yet."""
        rows = torch.from_numpy(np.flatnonzero(rollout.choice)).to(self._device)

        def chosen(tensor: Tensor) -> Tensor:
            return tensor.flatten(0, 1).index_select(0, rows)

        features, hidden, mask = map(chosen, (rollout.features, rollout.hidden, rollout.mask))
        rules = None
        if self._reads_rules:
            rules = UnderRules(self.policy, rollout.rules).rows(len(rows), self._device)
        chosen_values = self._in_parts(self._values, features, hidden, rules=rules)
        values = np.zeros(rollout.choice.shape, np.float32)
        values[rollout.choice] = chosen_values.cpu().numpy()
        advantage = np.empty_like(values)
        advantages(
            rollout.rewards * np.float32(self.config.reward_scale),
            rollout.seat,
            rollout.choice,
            rollout.done,
            values,
            np.float32(self.config.gae_lambda),
            advantage,
        )
        adv = torch.from_numpy(advantage[rollout.choice]).to(self._device)
        costs = torch.empty(len(rows), 0, device=self._device)
        if rollout.costs is not None:
            costs = chosen(rollout.costs) * self.config.reward_scale
        return Batch(
            features=features,
            hidden=hidden,
            mask=mask,
            action=chosen(rollout.action),
            log_prob=chosen(rollout.log_prob),
            advantage=adv,
            returns=adv + chosen_values,
            teacher=self._in_parts(self._taught, features, mask),
            costs=costs,
            rules=rules,
        )

    def _values(self, features: Tensor, hidden: Tensor, *rules: RulesRows) -> Tensor:
        """The critic's, (B,) float32."""
        values: Tensor = self.critic(self.policy.read(features, *rules), hidden, *rules)
        return values

    def _normalised(self, values: Tensor) -> Tensor:
        """Values with mean 0 and deviation 1 over all processes."""
        sums = torch.stack([torch.ones_like(values), values, values.square()]).double().sum(1)
        count, total, squares = self._ranks.sum(sums).unbind()
        mean = total / count
        deviation = (squares / count - mean.square()).clamp(min=0).sqrt()
        return ((values - mean) / (deviation + 1e-8)).float()

    def _taught(self, features: Tensor, mask: Tensor) -> Tensor:
        """The teachers' mean policy, (B, 52) float32; (B, 0) without any."""
        if not self.teachers:
            return torch.empty(len(mask), 0, device=self._device)
        policies = [
            teacher(features if columns is None else features[:, columns], mask).exp()
            for teacher, columns in zip(self.teachers, self._columns, strict=True)
        ]
        return torch.stack(policies).mean(0)

    def _columns_of(self, teacher: Policy) -> Tensor | None:
        """Which of the policy's features a teacher reads; None: the same ones."""
        if [*teacher.features.blocks] == [*self.policy.features.blocks]:
            return None
        try:
            columns = teacher.features.within(self.policy.features)
        except ValueError as error:
            raise ValueError(f"the policy can't learn from a teacher: {error}") from None
        return torch.from_numpy(columns).to(self._device)

    @torch.no_grad()
    def _in_parts(
        self,
        function: Callable[..., Tensor],
        *inputs: Tensor,
        rules: RulesRows | None = None,
    ) -> Tensor:
        """``function(*inputs)``, a minibatch at a time; with the rows' rules if there are any."""
        results = []
        for start in range(0, max(len(inputs[0]), 1), self.config.minibatch):
            part = slice(start, start + self.config.minibatch)
            with_rules = () if rules is None else (rules.part(part),)
            with self.precision():
                results.append(function(*(tensor[part] for tensor in inputs), *with_rules))
        return torch.cat(results)

    def losses(self, batch: Batch, progress: float) -> tuple[Tensor, dict[str, Tensor]]:
        """The loss of some rows, and the figures to log.

        With teachers it has their mean policy's divergence from the policy as a further term
        (kickstarting, Schmitt et al. 2018, arXiv 1803.03835); with branches, what the policy's
        cards cost in them.

        Args:
            batch: The rows.
            progress: The part of the training that is done, 0 … 1; moves the schedules.

        Returns:
            The loss to minimise, and by the field's usual names: ``policy_loss``,
            ``value_loss``, ``entropy``, ``approx_kl`` (k3 estimator), ``clipfrac``,
            ``teacher_kl`` with teachers, ``branch_loss`` with branches, and ``ratio_error``, the
            largest |ratio − 1|.
        """
        config = self.config
        rules = () if batch.rules is None else (batch.rules,)
        with self.precision():
            read = self.policy.read(batch.features, *rules)
            log_probs = self.policy(read, batch.mask, *rules)
            value = self.critic(read, batch.hidden, *rules)
        log_ratio = log_probs.gather(-1, batch.action[:, None]).squeeze(-1) - batch.log_prob
        ratio = log_ratio.exp()
        clip = config.clip
        clipped = ratio.clamp(1 - clip, 1 + clip)
        policy_loss = -torch.min(ratio * batch.advantage, clipped * batch.advantage).mean()
        value_loss = 0.5 * (value - batch.returns).square().mean()
        finite = log_probs.masked_fill(batch.mask == 0, 0)
        entropy = -(log_probs.exp() * finite).sum(-1).mean()
        entropy_weight = config.entropy_start + progress * (
            config.entropy_end - config.entropy_start
        )
        for_policy = policy_loss - entropy_weight * entropy
        with torch.no_grad():
            figures = {
                "policy_loss": policy_loss,
                "value_loss": value_loss,
                "entropy": entropy,
                "approx_kl": (ratio - 1 - log_ratio).mean(),
                "clipfrac": ((ratio - 1).abs() > clip).float().mean(),
            }
        if self.teachers:
            divergence = nn.functional.kl_div(finite, batch.teacher, reduction="none")
            teacher_kl = divergence.sum(-1).mean()
            for_policy = for_policy + config.teacher_start * (1 - progress) * teacher_kl
            figures["teacher_kl"] = teacher_kl.detach()
        if batch.costs.shape[1]:
            branch_loss = _branch_loss(log_probs, batch.costs)
            for_policy = for_policy + config.branch_weight * branch_loss
            figures["branch_loss"] = branch_loss.detach()
        figures["ratio_error"] = (ratio - 1).abs().max().detach()
        # with nothing instead of no gradients, so that Adam counts the policy's steps as well
        return value_loss + (0 if self.critic_alone else 1) * for_policy, figures

    def step(
        self, batch: Batch | Sequence[Batch], progress: float, weight: float = 1.0
    ) -> dict[str, Tensor]:
        """One gradient step on some rows; the figures of ``losses``.

        Args:
            batch: The rows of this process, or several parts of them.
            progress: The part of the training that is done, 0 … 1.
            weight: Of these rows among those of all processes, 1 where all have as many.
        """
        parts = [batch] if isinstance(batch, Batch) else batch
        count = sum(len(part.action) for part in parts)
        figures: dict[str, Tensor] = {}
        self.optimizer.zero_grad()
        for part in parts:
            share = len(part.action) / count
            loss, found = self.losses(part, progress)
            (weight * share * loss).backward()  # type: ignore[no-untyped-call]
            for name, figure in found.items():
                figures[name] = figures.get(name, 0) + share * figure.detach()
        self._ranks.average_gradients(self._parameters)
        for network in (self.policy, self.critic):
            nn.utils.clip_grad_norm_(network.parameters(), self.config.max_grad_norm)
        self.optimizer.step()
        return figures

    def update(self, rollout: Rollout | Sequence[Rollout], progress: float) -> dict[str, float]:
        """Improve both networks on a rollout, or on several.

        Args:
            rollout: What the policy has just played.
            progress: The part of the training that is done, 0 … 1; moves the schedules.

        Returns:
            The figures of ``losses``, each the mean over the update's gradient steps.

        Raises:
            DivergenceError: A figure or a weight isn't finite.
        """
        config, ranks = self.config, self._ranks
        for group in self.optimizer.param_groups:
            group["lr"] = config.learning_rate * (1 - progress)
        batches = self.batches([rollout] if isinstance(rollout, Rollout) else rollout)
        counts = [len(batch.action) for batch in batches]
        rows = ranks.gather(torch.tensor(sum(counts)))
        steps = -(-int(rows.sum()) // (config.minibatch * ranks.size))
        # as tensor_split cuts: every process's rows in each step
        mine = sum(count // steps + (torch.arange(steps) < count % steps) for count in counts)
        sizes = ranks.gather(torch.as_tensor(mine))
        weights = (sizes[ranks.rank] * ranks.size / sizes.sum(0)).tolist()
        order_of = torch.Generator().manual_seed(
            int(np.random.SeedSequence([self._seed, self.updates, ranks.rank]).generate_state(1)[0])
        )
        log = []
        for _ in range(config.epochs):
            orders = [torch.randperm(n, generator=order_of).to(self._device) for n in counts]
            indexes = zip(*(order.tensor_split(steps) for order in orders), strict=True)
            for index, weight in zip(indexes, weights, strict=True):
                parts = zip(batches, index, strict=True)
                figures = self.step(
                    [batch.rows(part) for batch, part in parts if len(part)], progress, weight
                )
                log.append(torch.stack(list(figures.values())))
        self.updates += 1
        means = ranks.sum(torch.stack(log).mean(0)) / ranks.size
        found = dict(zip(figures, means.tolist(), strict=True))
        self._check_finite(found)
        return found

    def _check_finite(self, figures: dict[str, float]) -> None:
        """Stop where nothing can be learnt any more; all processes find the same."""
        for name, value in figures.items():
            if not math.isfinite(value):
                raise DivergenceError(f"{name} is {value}")
        for what, network in (("policy", self.policy), ("critic", self.critic)):
            for name, weights in network.named_parameters():
                if not weights.isfinite().all():
                    raise DivergenceError(f"the {what}'s {name} isn't finite")


def _branch_loss(log_probs: Tensor, costs: Tensor) -> Tensor:
    """What the cards that the policy draws cost more than all alike would, a row in the mean.

    Args:
        log_probs: (B, 52) float32, the policy's.
        costs: (B, 52) float32, NaN for cards that weren't played out.
    """
    rows = costs.isfinite().any(-1).nonzero().squeeze(-1)
    some, costs = log_probs.index_select(0, rows), costs.index_select(0, rows)
    chances = some.masked_fill(costs.isnan(), -torch.inf).softmax(-1)
    excess = (costs - costs.nanmean(-1, keepdim=True)).nan_to_num(0)
    return (chances * excess).sum() / len(log_probs)
