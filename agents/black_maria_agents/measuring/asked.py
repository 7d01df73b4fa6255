"""What ``evaluate.py`` is asked for: which of its options go together.

It does one of three things: tables of pairs, edges under many rules (``--rulesets``), or responses
to one agent (``--exploit``). An option that the one asked for has no use for is refused.
"""

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from black_maria_agents.border import check_outputs
from black_maria_agents.seeds import TEST_SEEDS

GOES_WITH: Final[Mapping[str, tuple[str, ...]]] = {
    "rulesets": ("deals", "seed", "sampled", "out", "plot"),
    "exploit": ("minutes", "rules", "seats", "seed", "sampled", "out"),
    "": (
        "deals", "matches", "until", "rules", "seats", "seed", "sampled", "out", "plot", "record",
        "review", "explain", "keep",
    ),
}  # fmt: skip
"""What goes with either option, and without both of them; agents always do."""
SUFFIXES: Final = {
    "out": ".json", "plot": ".png", "record": ".jsonl", "keep": ".npz", "review": ".html"
}  # fmt: skip


def check(config: Any) -> None:
    """Refuse what can't be played or written, before anything is.

    Args:
        config: The options, a dataclass of ``evaluate.py``'s; those with their defaults count as
            not given.

    Raises:
        ValueError: Names what is wrong and what would be right.
    """
    options = {field.name: value for field in fields(config)
               if (value := getattr(config, field.name)) != field.default}  # fmt: skip
    if "rulesets" in options and "exploit" in options:
        raise ValueError("give --rulesets or --exploit, not both")
    _check_together(options)
    _check_agents(options)
    for name in ("deals", "matches"):
        if options.get(name, 1) < 1:
            raise ValueError(f"{name}={options[name]}: there must be at least one game to play")
    if not 0 < options.get("until", 1.0) < math.inf:
        raise ValueError(f"until={options['until']}: give a half-width above 0, as in 0.1")
    if not 0 < options.get("minutes", 1.0) < math.inf:
        raise ValueError(f"minutes={options['minutes']}: give a time above 0, as in 10")
    if not 0 <= options.get("seed", 0) < TEST_SEEDS:
        raise ValueError(f"seed={options['seed']}: test seeds are 0 … 2**63 - 1")
    check_outputs({options[name]: end for name, end in SUFFIXES.items() if name in options})
    if isinstance(out := options.get("out"), Path) and "exploit" not in options:
        check_outputs({out.with_suffix(".csv"): ".csv"})


def _check_together(options: Mapping[str, Any]) -> None:
    """Refuse options that what is asked for has no use for."""
    what = next((name for name in ("rulesets", "exploit") if name in options), "")
    others = options.keys() - {what, "agents", *GOES_WITH[what]}
    if others and not what:  # there is one such option
        raise ValueError("--minutes is the time of --exploit: give both or neither")
    if others:
        raise ValueError(
            f"--{what} goes with {_flags(GOES_WITH[what])}; "
            f"leave out {_flags(name for name in options if name in others)}"
        )
    if "deals" in options and "matches" in options:
        raise ValueError("give --deals or --matches, not both")
    if what == "rulesets" and int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise ValueError("--rulesets is measured by one process: start it without torchrun")


def _check_agents(options: Mapping[str, Any]) -> None:
    """Refuse a number of agents that can't be measured, and one given twice.

    None at all is fine for tables and edges, which have agents of their own.
    """
    agents = options.get("agents", ())
    if "exploit" in options:
        if len(agents) != 1:
            raise ValueError(f"--exploit takes one agent, not {len(agents)}")
    elif len(agents) == 1 and "rulesets" not in options:
        raise ValueError(f"give two or more different agents, not {agents[0]} alone")
    for name in agents:
        if agents.count(name) > 1:
            raise ValueError(f"{name} is given twice: give different agents")


def _flags(names: Iterable[str]) -> str:
    return ", ".join(f"--{name}" for name in names)
