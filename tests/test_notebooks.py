"""What a notebook asks for is in its extra; that they run is what nbmake tests."""

import ast
import json
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PACKAGE = {"PIL": "pillow", "pygame": "pygame-ce"}
"""Packages that have another name than their module."""


def code(notebook: Path) -> list[str]:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def extra(name: str) -> set[str]:
    """The packages of an extra, and of those that it names."""
    found = set()
    for each in [*PROJECT["dependencies"], *PROJECT["optional-dependencies"][name]]:
        if others := re.match(r"black-maria\[(.*)\]", each):
            found |= set().union(*map(extra, others.group(1).split(",")))
        else:
            found.add(re.match(r"[\w-]+", each).group())
    return found


def imported(cells: list[str]) -> set[str]:
    """Top-level packages that cells import."""
    found = set()
    for node in ast.walk(ast.parse("\n".join(cells))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module.partition(".")[0])
    return found


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook__installs_all_it_imports_in_its_first_cell(notebook):
    first, *rest = code(notebook)
    (named,) = re.findall(r'%pip install --quiet "black-maria\[(\w+)\]"', first)
    looked_for = set(ast.literal_eval(re.search(r"find_spec, (\[.*\])", first).group(1)))
    ours = {"black_maria", "black_maria_agents"}
    wanted = imported(rest) - ours | ({"pygame"} if "render_mode" in "".join(rest) else set())
    assert {PACKAGE.get(name, name) for name in wanted} <= extra(named)
    needed = {PACKAGE.get(name, name) for name in looked_for - ours}
    assert needed <= extra(named)
    assert wanted - {"numpy"} <= looked_for
