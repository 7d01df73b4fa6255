"""Results for people: tables for the terminal, JSON and CSV, a picture."""

import csv
import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from black_maria.rules import Rules
from black_maria_agents.files import replacing
from black_maria_agents.measuring.results import Result, direction, edges, par

_LABEL_LINE: Final = 30
"""Characters in a line of a name in the picture."""

PAR: Final = {
    "penalty": "par is {:.2f} points a hand; less is better",
    "advantage": "others' mean − own points a hand: par is {:.0f}; more is better",
    "win share": "par is a win share of {:.3f}; more is better",
}


def _places(unit: str) -> int:
    return 3 if unit == "win share" else 2


def _games(unit: str) -> str:
    return "matches" if unit == "win share" else "deals"


def _new_table(rules: Rules, title: str, caption: str) -> Table:
    table = Table(title=title, caption=caption, box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    table.add_column("alone", overflow="fold")
    table.add_column(f"against {rules.seats - 1} ×", overflow="fold")
    return table


def result_table(results: list[Result], rules: Rules) -> Table:
    """Results as a table for the terminal, with a line that says what par is."""
    unit = results[0].unit
    partial = any(result.partial for result in results)
    counts = {result.games for result in results}
    one_count = len(counts) == 1 and not partial
    title = f"{results[0].games} {_games(unit)}" if one_count else _games(unit).capitalize()
    table = _new_table(
        rules,
        f"{title} × {rules.seats} rotations, 95 % intervals" + ", PARTIAL" * partial,
        PAR[unit].format(par(unit, rules)) + "\n* interrupted before it was finished" * partial,
    )
    if not one_count:
        table.add_column(_games(unit), justify="right")
    table.add_column(unit, justify="right", no_wrap=True)
    table.add_column("in seat " + ", ".join(map(str, range(rules.seats))), justify="right")
    if results[0].hands is not None:
        table.add_column("hands", justify="right")
    places = _places(unit)
    for result in results:
        means = " ".join(f"{seat.mean:.{places - 1}f}" for seat in result.by_seat)
        widest = max(seat.half_width for seat in result.by_seat)
        row: list[str | Text] = [Text(result.agent), Text(result.others)]
        if not one_count:
            row.append(f"{result.games}{'*' * result.partial}")
        row += [result.score.text(places), f"{means} ±{widest:.{places - 1}f}"]
        if result.hands is not None:
            row.append(f"{result.hands:.1f}")
        table.add_row(*row)
    return table


def gains(results: list[Result], rules: Rules) -> str:
    """What each agent alone gains over par, in words; below 0 it loses to the others."""
    parts = []
    for result in results:
        gain = direction(result.unit) * (result.score.mean - par(result.unit, rules))
        places = _places(result.unit)
        width = f"{result.score.half_width:.{places}f}"
        parts.append(f"{result.agent} {gain:+.{places}f} ± {width}")
    return "gain over par, alone: " + ", ".join(parts)


def source_table(results: list[Result], rules: Rules) -> Table:
    """Where the points of the agents alone came from: by card, and by third of the hand."""
    last = "; a moon's change in no third" if rules.total_varies else ""
    table = _new_table(
        rules,
        "Where the points of the agent alone came from",
        f"points a hand, by card and by third of the {rules.hand_size} tricks{last}",
    )
    for name in (*results[0].sources, *results[0].periods):
        table.add_column(name, justify="right", no_wrap=True)
    for result in results:
        figures = (*result.sources.values(), *result.periods.values())
        names = Text(result.agent), Text(result.others)
        table.add_row(*names, *(f"{figure:.2f}" for figure in figures))
    return table


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write figures as JSON: null for a width that isn't known, as of one game. Appears whole."""
    text = json.dumps(content, indent=2).replace(": NaN", ": null")
    with replacing(path, "w") as file:
        file.write(text + "\n")


def write_files(out: Path, results: list[Result], about: Mapping[str, Any]) -> None:
    """Write results as JSON, with ``about`` before them, and as CSV, a row a table.

    Each file appears whole, or keeps what it held.

    Raises:
        OSError: It can't be written; names it.
    """
    write_json(
        out.with_suffix(".json"), {**about, "results": [asdict(result) for result in results]}
    )
    rows = []
    for result in results:
        row = {name: getattr(result, name) for name in ("agent", "others", "unit", "games")}
        row |= {"partial": int(result.partial)} | asdict(result.score)
        for seat, estimate in enumerate(result.by_seat):
            row[f"seat_{seat}"] = estimate.mean
            row[f"seat_{seat}_half_width"] = estimate.half_width
        row |= {**result.sources, **result.periods}
        rows.append(row if result.hands is None else row | {"hands": result.hands})
    with replacing(out.with_suffix(".csv"), "w") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def save(
    results: list[Result],
    rules: Rules,
    about: Mapping[str, Any],
    *,
    out: Path | None = None,
    picture: Path | None = None,
) -> OSError | None:
    """Write JSON, CSV and picture as far as that goes.

    Args:
        results: What was measured.
        rules: The rules played by.
        about: What the JSON file begins with; paths in it become text.
        out: The JSON file, ``….json``.
        picture: The picture, ``….png``.

    Returns:
        The error that kept a file from being written; it keeps none of the others.
    """
    failure = None
    try:
        if out is not None:
            write_files(out, results, json.loads(json.dumps(about, default=str)))
    except OSError as error:
        failure = error
    try:
        if picture is not None:
            plot(picture, results, rules)
    except OSError as error:
        failure = error
    return failure


# --- the picture ----------------------------------------------------------------------------------


def plot(
    path: Path, results: list[Result], rules: Rules, names: Sequence[str] | None = None
) -> None:
    """Draw a cross-table as a heat map beside a chart of the same figures with their intervals.

    The picture appears whole, or its file keeps what it held.

    Args:
        path: A picture, ``….png``.
        results: Tables of any number of agents.
        rules: The rules they played by.
        names: The agents in their order; unless given the best comes first, by ``edges``.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure  # here, for it takes a second, and training needs none

    names = list(names or edges(results))
    unit = results[0].unit
    many = len(names)
    figure = Figure(figsize=(6.5 + 1.1 * many, 2.4 + 0.62 * many), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    cross, chart = figure.subplots(1, 2, width_ratios=(1.1, 1))
    _draw_cross(cross, results, names, rules)
    _draw_chart(chart, results, names, rules)
    partial = ", partial" if any(result.partial for result in results) else ""
    figure.suptitle(
        f"{PAR[unit].format(par(unit, rules))}\n"
        f"{without_formulas(rules.name)}, {rules.seats} seats, every game in all rotations, "
        f"95 % intervals{partial}"
    )
    with replacing(path) as file:
        figure.savefig(file, format=path.suffix[1:] or None)


def _draw_cross(axis: Any, results: list[Result], names: list[str], rules: Rules) -> None:
    """The heat map: a row the agent alone, a column the agent around it."""
    unit = results[0].unit
    middle = par(unit, rules)
    grid = np.full((len(names), len(names)), np.nan)
    for result in results:
        grid[names.index(result.agent), names.index(result.others)] = result.score.mean
    reach = 1.3 * max(float(np.nanmax(np.abs(grid - middle))), 1e-9)
    colours = "RdBu" if direction(unit) > 0 else "RdBu_r"  # blue is good
    axis.imshow(grid, cmap=colours, vmin=middle - reach, vmax=middle + reach, aspect="auto")
    places = _places(unit)
    for result in results:
        at = names.index(result.others), names.index(result.agent)
        text = f"{result.score.mean:.{places}f}\n± {result.score.half_width:.{places}f}"
        colour = "white" if abs(result.score.mean - middle) > 0.6 * reach else "black"
        axis.text(*at, text, ha="center", va="center", fontsize=8, color=colour)
    ticks, labels = range(len(names)), [_label(name) for name in names]
    axis.set_xticks(ticks, labels, rotation=45, ha="right", rotation_mode="anchor")
    axis.set_yticks(ticks, labels)
    axis.set(xlabel=f"against {rules.seats - 1} ×", ylabel="alone", title=f"{unit}, cross-table")
    axis.spines[:].set_visible(False)


def _draw_chart(axis: Any, results: list[Result], names: list[str], rules: Rules) -> None:
    """The chart: a row for each agent alone, a mark with its interval for each one around it."""
    unit = results[0].unit
    for k, others in enumerate(names):
        marks = [result for result in results if result.others == others]
        shift = (k - (len(names) - 1) / 2) * 0.8 / len(names)
        axis.errorbar(
            [result.score.mean for result in marks],
            [names.index(result.agent) + shift for result in marks],
            xerr=[np.nan_to_num(result.score.half_width) for result in marks],
            fmt="o", markersize=4, capsize=2, linewidth=1,
            color=f"C{k}", label=_label(others),
        )  # fmt: skip
    axis.axvline(par(unit, rules), color="0.5", linewidth=1, linestyle="--", zorder=0)
    for edge in range(1, len(names)):
        axis.axhline(edge - 0.5, color="0.9", linewidth=0.8, zorder=0)
    axis.set_yticks(range(len(names)), [_label(name) for name in names])
    axis.set(ylim=(len(names) - 0.5, -0.5), xlabel=unit, title="alone, by the agent around it")
    axis.legend(
        title=f"against {rules.seats - 1} ×", fontsize=8, loc="upper left", bbox_to_anchor=(1, 1),
        frameon=False,
    )  # fmt: skip


def _label(name: str) -> str:
    """A name in short lines; of a very long one the middle goes."""
    if len(name) > 2 * _LABEL_LINE:
        name = f"{name[: _LABEL_LINE - 1]}…{name[-_LABEL_LINE:]}"
    if len(name) > 12:
        name = name.replace(":", ":\n").replace(",", ",\n")
    lines = [textwrap.wrap(line, _LABEL_LINE) or [""] for line in name.split("\n")]
    return without_formulas("\n".join(chain.from_iterable(lines)))


def without_formulas(text: str) -> str:
    """Text in which Matplotlib sees no formulas."""
    return text.replace("$", r"\$")
