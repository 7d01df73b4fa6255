"""A training run: networks, tables and opponents, the loop's one step, and its checkpoint.

Everything in a run follows from its configuration: deals, choices, minibatches and opponents
are drawn by (seed, number of the update), so a run goes on from a checkpoint as if it had
never stopped.
"""

import dataclasses
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import cuda

from black_maria.given import shown
from black_maria.layout import layout_of
from black_maria.rules import Rules
from black_maria.rules_vector import HAND_CLAUSES
from black_maria.threads import cores
from black_maria_agents import checkpoint
from black_maria_agents.adopting import adopt
from black_maria_agents.checkpoint import CheckpointError
from black_maria_agents.contents import check_groups, rules_of
from black_maria_agents.distributed import Ranks
from black_maria_agents.features import features_of
from black_maria_agents.loading import checkpoint_of, load_agent
from black_maria_agents.network import OracleCritic, Policy, PolicyAgent
from black_maria_agents.search.players import Players
from black_maria_agents.training.branches import with_branches
from black_maria_agents.training.config import TrainConfig
from black_maria_agents.training.match import (
    CRITIC_ALONE,
    MatchPlay,
    check_match,
    hand_outcomes,
)
from black_maria_agents.training.mixed import MixedPlay
from black_maria_agents.training.opponents import OpponentPool
from black_maria_agents.training.ppo import PPO
from black_maria_agents.training.precision import choose_precision
from black_maria_agents.training.selfplay import DivergenceError, Rollout, SelfPlay


def device_of(name: str) -> torch.device:
    """The device of a name, as in ``cpu``, ``cuda`` or ``cuda:1``.

    Raises:
        ValueError: It is no such name, or there is no such device here.
    """
    kind, _, number = name.partition(":")
    if kind not in ("cpu", "cuda") or (":" in name and not (number.isascii() and number.isdigit())):
        raise ValueError(f"device={shown(name)}: give cpu, cuda or cuda:1 …")
    there = cuda.device_count() if kind == "cuda" else 1
    if len(number) > 3 or int(number or 0) >= there:
        raise ValueError(
            f"device={shown(name)}: PyTorch finds "
            + (f"{there} of that kind here, from {kind}:0" if there else f"no {kind} here")
        )
    return torch.device(name)


def scored_rules(config: TrainConfig) -> Rules:
    """The rules that an agent is trained for, or by which it is scored if by many."""
    if not config.mixed:
        return Rules.profile(config.rules, config.seats)
    return Rules.profile("traditional", config.seats) if config.seats else Rules()


class Training:
    """A run in progress.

    Args:
        config: Its settings.
        ranks: The processes that train together.
        start: Content of a checkpoint whose weights the networks start with, reading the blocks
            that those read; without it that of ``config.init_from``, if there is one.

    Attributes:
        agent: The policy as an agent that plays its likeliest card.
        decisions: Decisions made so far, by all processes.
        figures: What the last update gave to log.

    Raises:
        ValueError: Settings that don't go together; says what would.
        CheckpointError: An opponent's checkpoint can't be used.
    """

    def __init__(
        self,
        config: TrainConfig,
        ranks: Ranks | None = None,
        *,
        start: Mapping[str, Any] | None = None,
    ) -> None:
        """Make networks, tables and opponents."""
        self.config = config
        self.ranks = ranks = ranks or Ranks()
        self.rules = rules = scored_rules(config)
        if config.tables % ranks.size:
            raise ValueError(
                f"tables={config.tables} can't be shared evenly by {ranks.size} processes"
            )
        tables = config.tables // ranks.size
        device = device_of(config.device)
        self.precision = choose_precision(config.precision, device)
        torch.set_num_threads(min(config.threads, cores()))  # it may go on on a smaller machine
        torch.manual_seed(config.seed)
        if start is None and config.init_from:
            path = checkpoint_of(config.init_from, rules)
            start = checkpoint.load(path, None if config.mixed else rules)
        self.ppo = self._learner(start, device)
        first = ranks.rank * tables
        self.games: SelfPlay | MixedPlay
        if config.mixed:
            self.games = MixedPlay(
                sets=config.rule_sets, tables=tables, hands=config.hands, seed=config.seed,
                first_table=first, seats=config.seats, branches=config.branches, device=device,
            )  # fmt: skip
        else:
            arguments: dict[str, Any] = {
                "features": self.ppo.policy.features, "tables": tables, "seed": config.seed,
                "first_table": first, "device": device,
            }  # fmt: skip
            if config.episode == "match":
                check_match(rules)
                player = load_agent(config.init_from or "heuristic", rules)
                self.games = MatchPlay(rules, hand_outcomes(player, rules), **arguments)
            else:
                self.games = SelfPlay(rules, hands=config.hands, **arguments)
        self.pool = self._opponents()
        self.agent = PolicyAgent(self.ppo.policy, rules, name=config.run)
        self.decisions = 0
        self.figures: dict[str, float] = {}
        self._update_seconds = 0.0

    def _learner(self, start: Mapping[str, Any] | None, device: torch.device) -> PPO:
        """Networks and teachers, with the weights of a checkpoint's content if there is one."""
        config, layout = self.config, layout_of(self.rules)
        # one that knows a single profile is adopted by one that reads any rules
        adopted = start is not None and config.mixed and not start["clauses"]
        blocks = start["blocks"] if start and not adopted else None
        clauses = HAND_CLAUSES if config.mixed else ()
        if start and start["clauses"]:
            clauses = start["clauses"]
        ppo = PPO(
            Policy(layout, config.width, blocks, clauses).to(device),
            OracleCritic(layout, config.width, blocks, clauses).to(device),
            config.ppo,
            teachers=[self._teacher(name).to(device) for name in config.teachers],
            autocast=self.precision == "bfloat16",
            seed=config.seed,
            ranks=self.ranks,
        )
        if start is None:
            return ppo
        if start["clauses"] and not config.mixed:
            raise ValueError(
                f"init_from={config.init_from}: give a network of one profile; this one reads the "
                "rules"
            )
        if start["width"] != config.width:
            raise ValueError(
                f"width={config.width}: must be {start['width']}, the width of "
                f"init_from={config.init_from}"
            )
        for network in (ppo.policy, ppo.critic):
            weights = start["policy" if network is ppo.policy else "critic"]
            if adopted:
                adopt(network, weights, features_of(layout_of(rules_of(start)), start["blocks"]))
            else:
                network.load_state_dict(weights)
        if config.episode != start["config"].get("episode", "hand"):
            ppo.critic.forget()  # it expects points, which are no change of the chance to win
        return ppo

    def _teacher(self, name: str) -> Policy:
        """A network to learn from."""
        agent = load_agent(name, self.rules)
        if not isinstance(agent, PolicyAgent):
            raise ValueError(f"teachers: {name} isn't a network")
        return agent.policy.requires_grad_(False)

    def _opponents(self) -> OpponentPool:
        """Who else sits at the tables."""
        config, alone = self.config, self.config.best_response_to
        names = (alone,) if alone else config.opponents
        agents = [load_agent(name, self.rules) for name in names]
        if config.branches:
            for agent in agents:
                Players([agent] * self.rules.seats, self.rules)  # refuses who can't play on
        return OpponentPool(
            self.rules,
            agents,
            share=1.0 if alone else config.opponent_share,
            snapshots=0 if alone else config.snapshots,
            every=config.snapshot_every,
            seed=config.seed,
        )

    @property
    def done(self) -> bool:
        """Whether all decisions have been made."""
        return self.decisions >= self.config.decisions

    @property
    def where(self) -> str:
        """What it computes in, on what, with how many threads and processes, in words."""
        config, processes = self.config, self.ranks.size
        threads = f"{config.threads} thread" + "s" * (config.threads > 1)
        together = f", {processes} processes" * (processes > 1)
        return f"{self.precision} on {config.device}, {threads}{together}"

    @property
    def seconds(self) -> dict[str, float]:
        """Time spent so far, by ``"engine"``, ``"inference"`` and ``"update"``."""
        return self.games.seconds | {"update": self._update_seconds}

    def step(self) -> None:
        """Play a rollout and learn from it.

        Raises:
            DivergenceError: A probability, a loss or a weight isn't finite any more.
        """
        ppo, number = self.ppo, self.ppo.updates + 1
        if isinstance(self.games, MatchPlay):
            ppo.critic_alone = ppo.updates < CRITIC_ALONE
        try:
            with ppo.precision():
                rollouts = self._played()
            start = time.perf_counter()
            self.figures = ppo.update(rollouts, self.decisions / self.config.decisions)
        except DivergenceError as error:
            raise DivergenceError(
                f"update {number} of the run: {error}; try a lower learning rate than "
                f"{self.config.ppo.learning_rate:g} (--learning-rate), or --precision float32"
            ) from None
        self._update_seconds += time.perf_counter() - start
        made = sum(rollout.action.numel() for rollout in rollouts)
        self.decisions += made * self.ranks.size
        self.pool.add(ppo.updates, ppo.policy)

    def _played(self) -> list[Rollout]:
        """The rollouts of an update."""
        ppo, games, branches = self.ppo, self.games, self.config.branches
        if isinstance(games, MixedPlay):
            return games.collect(ppo.policy)
        seating = self.pool.seating(ppo.updates, len(games.tables))
        rollout = games.collect(ppo.policy, seating)
        if branches:
            rng = np.random.default_rng([self.config.seed, ppo.updates + 1, self.ranks.rank])
            rollout = with_branches(rollout, games, self.agent, branches, rng, seating=seating)
        return [rollout]

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
            config = _settings(content)
        except ValueError as error:
            raise CheckpointError(f"{path} doesn't fit this version: {error}") from None
        run = cls(config, ranks, start=content)
        try:
            check_groups(state["optimizer"], run.ppo.optimizer.state_dict())
        except ValueError as error:
            raise CheckpointError(f"{path} doesn't fit this version: {error}") from None
        run.ppo.optimizer.load_state_dict(state["optimizer"])
        run.ppo.updates = state["updates"]
        run.games.seek(state["next_hand"])
        run.pool.restore(state["pool"], run.ppo.policy)
        run.decisions = content["decisions"]
        return run


def _settings(content: Mapping[str, Any]) -> TrainConfig:
    """The configuration in a checkpoint, if this version trains by it as that one did."""
    settings = content["config"]
    unknown = settings.keys() - {field.name for field in dataclasses.fields(TrainConfig)}
    if unknown:
        raise ValueError(f"its settings have {min(map(str, unknown))!r}, which this one hasn't")
    try:
        config = TrainConfig.from_dict(settings)
    except (AttributeError, KeyError, TypeError):
        raise ValueError("its settings are of another kind") from None
    if scored_rules(config) != rules_of(content) or config.mixed != bool(content["clauses"]):
        raise ValueError(f"its rules aren't what {config.rules!r} is here")
    if config.width != content["width"]:
        raise ValueError(f"its settings say width={config.width}, its networks another")
    return config
