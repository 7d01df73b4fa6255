"""A training run's configuration, checked, and the presets that give it its defaults."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import tyro

from black_maria.given import choice, shown
from black_maria.threads import cores
from black_maria_agents.seeds import VALIDATION_SEED
from black_maria_agents.training.checks import check_real, check_whole
from black_maria_agents.training.ppo import PPOConfig

_LONGEST_NAME: Final = 200
"""Bytes of a folder's name; file systems take 255, and a number may be added."""


MIXED: Final = "mixed"
"""The name of many rules in ``TrainConfig.rules``."""


@dataclass(frozen=True)
class TrainConfig:
    """One seed, one result: a run is a fixed number of decisions."""

    run: str = "first"
    """Folder under ``runs/``; a number is added if it exists."""
    seed: int = 1
    """Of weights, deals, choices and minibatches; below 2**63 - 1, where others start."""
    rules: str = "three_player"
    """The profile to play by; or ``mixed``: many rules, drawn anew for every rollout, by a network
    that reads them."""
    seats: int | None = None
    """Players at the table, where the profile leaves it open; 3 to 6 of mixed rules."""
    rule_sets: int = 16
    """Mixed rules in a rollout, each at as many tables."""
    episode: str = "hand"
    """What is played for: ``hand``, few points; or ``match``: a hand is rewarded by what it
    changes in the chance to win, and starts from totals as matches reach them."""
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
    branches: float = 0.0
    """The part of the choices, late in a hand and open, of which every likely card is played to
    the end; see ``branches``."""
    snapshots: int = 0
    """Past selves among the opponents, at most."""
    snapshot_every: int = 100
    """Updates between two of them."""
    init_from: str | None = None
    """Start with the weights of this checkpoint, of the same width: a path or ``champion``. For
    mixed rules also ``champion:universal``; one of a single profile is adopted, and plays that as
    before until it learns (``adopting.adopt``)."""
    teachers: tuple[str, ...] = ()
    """Networks whose mean policy the learner is drawn towards, at first; see ``teacher_start``."""
    best_response_to: str | None = None
    """Learn to play alone against copies of this agent, at all tables: how exploitable is it?"""
    device: str = "cpu"
    """Where the networks compute: ``cpu``, ``cuda``, ``cuda:1`` …"""
    precision: str = "auto"
    """``float32``, ``bfloat16`` (autocast), or ``auto``: bfloat16 where this machine
    has matrix units for it."""
    threads: int = 1
    """PyTorch's threads while it learns, at most one a core; another number may change the last
    bits of a result. More than one pays on idle cores alone."""
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
        if isinstance(self.seed, int) and not 0 <= self.seed < VALIDATION_SEED:
            raise ValueError(f"seed={shown(self.seed)}: training seeds are 0 … 2**63 - 2")
        check_whole(self, "seed", least=0, most=VALIDATION_SEED)
        check_whole(self, "decisions", most=10**15)
        check_whole(self, "tables", most=10**6)
        check_whole(self, "hands", most=1000)
        check_whole(self, "threads", "snapshot_every", "score_every", "score_deals", "final_deals")
        check_whole(self, "rule_sets", most=10**4)
        check_whole(self, "snapshots", least=0)
        check_whole(self, "width", most=8192)
        if self.width % 4:
            raise ValueError(f"width={self.width}: must be a multiple of 4")
        check_real(self, "opponent_share", "branches", most=1)
        for name in ("opponents", "teachers"):
            given = getattr(self, name)
            if isinstance(given, str) or not all(isinstance(each, str) for each in given):
                raise ValueError(f"{name}={shown(given)}: give names, as in ('duck',)")
            object.__setattr__(self, name, tuple(given))
        choice(self.episode, "episode", ("hand", "match"))
        if self.episode == "match" and (self.mixed or self.hands > 1):
            raise ValueError("episode=match is learnt by one profile, with hands=1")
        others = bool(self.opponents or self.snapshots)
        if self.mixed and (others or self.best_response_to or self.teachers):
            raise ValueError(
                "rules=mixed is learnt by self-play alone: leave out opponents, snapshots, "
                "teachers and best_response_to"
            )
        if others and self.best_response_to:
            raise ValueError("best_response_to: leave out opponents and snapshots")
        if others != (self.opponent_share > 0):
            raise ValueError("give opponents or snapshots and an opponent_share, or none of them")

    @property
    def mixed(self) -> bool:
        """Whether it is trained by many rules."""
        return self.rules == MIXED

    def check_start(self) -> None:
        """Refuse a new run that can't be started here, or has settings without a use.

        Runs that were started go on: they may come from a version or a machine that let them be.

        Raises:
            ValueError: Names the setting and what fits.
        """
        name = self.run
        if (
            name in ("", ".", "..")
            or not name.isprintable()
            or {"/", "\\"}.intersection(name)
            or len(name.encode()) > _LONGEST_NAME
        ):
            raise ValueError(
                f"run={shown(name)}: must be a plain folder's name, for a folder under runs/"
            )
        if self.threads > cores():
            raise ValueError(f"threads={self.threads}: there are {cores()} cores to use here")
        for name, here, without, unused in (
            ("rule_sets", self, "rules=mixed", not self.mixed),
            ("snapshot_every", self, "snapshots", not self.snapshots),
            ("teacher_start", self.ppo, "teachers", not self.teachers),
            ("branch_weight", self.ppo, "branches", not self.branches),
        ):
            value = getattr(here, name)
            if unused and value != getattr(type(here), name):
                raise ValueError(f"{name}={value:g} is of no use without {without}")

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
    "gpu": replace(
        _QUICK,
        run="gpu",
        decisions=200_000_000,
        tables=16_384,
        width=192,
        device="cuda",
        ppo=PPOConfig(minibatch=16_384),
    ),
}
"""Runs of a few minutes, about half an hour, and one to two hours on one core; and one for a GPU,
whose time nobody has measured yet."""
