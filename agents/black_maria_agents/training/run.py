"""A training run: its configuration, its presets, and the loop's one step.

Everything in a run follows from its configuration: deals, choices, minibatches and opponents
are drawn by (seed, number of the update), so a run goes on from a checkpoint as if it had
never stopped.
"""

import dataclasses
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import torch
import tyro

from black_maria.layout import layout_of
from black_maria.rules import Rules
from black_maria_agents import checkpoint, checkpoint_of, load_agent
from black_maria_agents.checkpoint import CheckpointError
from black_maria_agents.distributed import Ranks
from black_maria_agents.measuring.arena import TEST_SEEDS
from black_maria_agents.network import OracleCritic, Policy, PolicyAgent
from black_maria_agents.training.opponents import OpponentPool
from black_maria_agents.training.ppo import PPO, PPOConfig, choose_precision
from black_maria_agents.training.selfplay import SelfPlay


@dataclass(frozen=True)
class TrainConfig:
    """One seed, one result: a run is a fixed number of decisions."""

    run: str = "first"
    """Folder under ``runs/``; a number is added if it exists."""
    seed: int = 1
    """Of weights, deals, choices and minibatches; below 2**63, where the test seeds start."""
    rules: str = "three_player"
    """The profile to play by."""
    seats: int | None = None
    """Players at the table, where the profile leaves it open."""
    decisions: int = 5_000_000
    """Decisions of all seats, rounded up to whole rollouts."""
    tables: int = 512
    """Tables played side by side, in all processes together."""
    hands: int = 1
    """Hands of each table in a rollout."""
    width: int = 128
    """Units of the trunk's two layers, of policy and critic; see ``network.SuitNetwork``."""
    opponents: tuple[str, ...] = ()
    """Agents that the learner meets at some tables, one in a rollout."""
    opponent_share: float = 0.0
    """The part of the tables where the learner has one seat and an opponent the others."""
    snapshots: int = 0
    """Past selves among the opponents, at most."""
    snapshot_every: int = 100
    """Updates between two of them."""
    init_from: str | None = None
    """Start with the weights of this checkpoint, a path or ``champion``, of the same width."""
    teachers: tuple[str, ...] = ()
    """Networks whose mean policy the learner is drawn towards, at first; see ``teacher_start``."""
    best_response_to: str | None = None
    """Learn to play alone against copies of this agent, at all tables: how exploitable is it?"""
    device: str = "cpu"
    """Where the networks compute: ``cpu``, ``cuda``, ``cuda:1`` …"""
    precision: str = "auto"
    """``float32``, ``bfloat16`` (autocast), or ``auto``: what multiplies faster here."""
    threads: int = 2
    """PyTorch's threads; another number may change the last bits of a result."""
    score_every: int = 10
    """Updates between two scores against ducks, or against whom it responds to."""
    score_deals: int = 200
    """Deals of such a score."""
    final_deals: int = 2000
    """Deals of each pair in the final table."""
    ppo: tyro.conf.OmitArgPrefixes[PPOConfig] = field(default_factory=PPOConfig)
    """The update's settings."""

    def __post_init__(self) -> None:
        """Refuse impossible settings.

        Raises:
            ValueError: Names the setting and what fits.
        """
        if not 0 <= self.seed < TEST_SEEDS:
            raise ValueError(f"seed={self.seed}: training seeds are 0 … 2**63 - 1")
        for name in (
            "decisions", "tables", "hands", "threads", "snapshot_every", "score_every",
            "score_deals", "final_deals",
        ):  # fmt: skip
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)}: must be at least 1")
        if self.width < 4 or self.width % 4:
            raise ValueError(f"width={self.width}: must be a multiple of 4")
        if not 0 <= self.opponent_share <= 1:
            raise ValueError(f"opponent_share={self.opponent_share}: must lie in 0 … 1")
        if self.snapshots < 0:
            raise ValueError(f"snapshots={self.snapshots}: must be 0 or more")
        mixed = bool(self.opponents or self.snapshots)
        if mixed and self.best_response_to:
            raise ValueError("best_response_to: leave out opponents and snapshots")
        if mixed != (self.opponent_share > 0):
            raise ValueError("give opponents or snapshots and an opponent_share, or none of them")

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> "TrainConfig":
        """The configuration that ``dataclasses.asdict`` took apart.

        Raises:
            TypeError: Settings of another version.
        """
        settings = dict(settings)
        for name in ("opponents", "teachers"):
            settings[name] = tuple(settings[name])
        return cls(**settings | {"ppo": PPOConfig(**settings["ppo"])})


_QUICK: Final = TrainConfig()
PRESETS: Final[Mapping[str, TrainConfig]] = {
    "quick": _QUICK,
    "standard": replace(_QUICK, run="standard", decisions=40_000_000, score_every=50),
    "champion": replace(
        _QUICK,
        run="champion",
        decisions=70_000_000,
        width=192,
        opponents=("duck", "heuristic"),
        opponent_share=0.2,
        snapshots=8,
        score_every=50,
    ),
}
"""Runs of about three minutes, half an hour, and more than an hour on two cores."""


class Training:
    """A run in progress.

    Args:
        config: Its settings.
        ranks: The processes that train together.

    Attributes:
        agent: The policy as an agent that plays its likeliest card.
        decisions: Decisions made so far, by all processes.
        figures: What the last update gave to log.

    Raises:
        ValueError: Settings that don't go together; says what would.
        CheckpointError: An opponent's checkpoint can't be used.
    """

    def __init__(self, config: TrainConfig, ranks: Ranks | None = None) -> None:
        """Make networks, tables and opponents."""
        self.config = config
        self.ranks = ranks = ranks or Ranks()
        self.rules = rules = Rules.profile(config.rules, config.seats)
        if config.tables % ranks.size:
            raise ValueError(
                f"tables={config.tables} can't be shared evenly by {ranks.size} processes"
            )
        tables = config.tables // ranks.size
        device = torch.device(config.device)
        self.precision = choose_precision(config.precision, config.width, device)
        torch.set_num_threads(config.threads)
        torch.manual_seed(config.seed)
        layout = layout_of(rules)
        self.ppo = PPO(
            Policy(layout, config.width).to(device),
            OracleCritic(layout, config.width).to(device),
            config.ppo,
            teachers=[self._teacher(name).to(device) for name in config.teachers],
            autocast=self.precision == "bfloat16",
            seed=config.seed,
            ranks=ranks,
        )
        if config.init_from:
            self._load(checkpoint.load(checkpoint_of(config.init_from, rules), rules))
        self.games = SelfPlay(
            rules,
            tables=tables,
            hands=config.hands,
            seed=config.seed,
            first_table=ranks.rank * tables,
            device=device,
        )
        alone = config.best_response_to
        self.pool = OpponentPool(
            rules,
            [load_agent(name, rules) for name in ((alone,) if alone else config.opponents)],
            share=1.0 if alone else config.opponent_share,
            snapshots=0 if alone else config.snapshots,
            every=config.snapshot_every,
            seed=config.seed,
        )
        self.agent = PolicyAgent(self.ppo.policy, rules)
        self.decisions = 0
        self.figures: dict[str, float] = {}
        self._update_seconds = 0.0

    @property
    def done(self) -> bool:
        """Whether all decisions have been made."""
        return self.decisions >= self.config.decisions

    @property
    def seconds(self) -> dict[str, float]:
        """Time spent so far, by ``"engine"``, ``"inference"`` and ``"update"``."""
        return self.games.seconds | {"update": self._update_seconds}

    def step(self) -> None:
        """Play a rollout and learn from it."""
        ppo, games = self.ppo, self.games
        seating = self.pool.seating(ppo.updates, len(games.tables))
        with ppo.precision():
            rollout = games.collect(ppo.policy, seating)
        start = time.perf_counter()
        self.figures = ppo.update(rollout, self.decisions / self.config.decisions)
        self._update_seconds += time.perf_counter() - start
        self.decisions += rollout.action.numel() * self.ranks.size
        self.pool.add(ppo.updates, ppo.policy)

    def _teacher(self, name: str) -> Policy:
        """A network to learn from."""
        agent = load_agent(name, self.rules)
        if not isinstance(agent, PolicyAgent):
            raise ValueError(f"teachers: {name} isn't a network")
        return agent.policy.requires_grad_(False)

    def _load(self, content: Mapping[str, Any]) -> None:
        """Take over a checkpoint's weights."""
        if content["width"] != self.config.width:
            raise ValueError(
                f"width={self.config.width}: must be {content['width']}, the width of "
                f"init_from={self.config.init_from}"
            )
        self.ppo.policy.load_state_dict(content["policy"])
        self.ppo.critic.load_state_dict(content["critic"])

    def save(self, path: Path) -> None:
        """Write a checkpoint that ``resume`` goes on from and ``load_agent`` plays."""
        checkpoint.save(
            path,
            policy=self.ppo.policy,
            critic=self.ppo.critic,
            rules=self.rules,
            config=dataclasses.asdict(self.config) | {"precision": self.precision},
            decisions=self.decisions,
            training={
                "optimizer": self.ppo.optimizer.state_dict(),
                "updates": self.ppo.updates,
                "next_hand": self.games.next_hand,
                "pool": self.pool.state(),
            },
        )

    @classmethod
    def resume(cls, path: Path, ranks: Ranks | None = None) -> "Training":
        """The run as it was when ``path`` was written.

        Raises:
            CheckpointError: The file can't be used; the message says why.
        """
        content = checkpoint.load(path)
        state = content["training"]
        if state is None:
            raise CheckpointError(f"{path} holds an agent alone, without what a training needs")
        try:
            config = TrainConfig.from_dict(content["config"])
            run = cls(replace(config, init_from=None), ranks)
            run.config = config
            run._load(content)
            run.ppo.optimizer.load_state_dict(state["optimizer"])
            run.ppo.updates = state["updates"]
            run.games.seek(state["next_hand"])
            run.pool.restore(state["pool"], run.ppo.policy)
        except (KeyError, TypeError, RuntimeError) as error:
            raise CheckpointError(f"{path} doesn't fit this version: {error}") from None
        run.decisions = content["decisions"]
        return run
