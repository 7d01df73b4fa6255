"""The house itself: the map, the papers, and who may import whom."""

import ast
import graphlib
import importlib.util
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from black_maria import BOTS, aec, seat, tables
from black_maria.engine import REWARDS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PACKAGES = {"black_maria": ROOT / "envs", "black_maria_agents": ROOT / "agents"}
LONGEST = 450
"""Lines of a Python file of the packages."""


# --- the map ------------------------------------------------------------------------------------


def tracked() -> set[str]:
    """The paths of all files that git tracks and that are there, and their folders with a "/"."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("no git checkout")
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    files = {path for path in listed.stdout.splitlines() if (ROOT / path).exists()}
    return files | {f"{folder}/" for path in files for folder in Path(path).parents[:-1]}


def mapped() -> set[str]:
    """What the map shows: a row's later names stand in the folder of its first."""
    _, _, section = CONTRIBUTING.partition("## Map of the code")
    section = section.partition("## ")[0]
    shown = set()
    for cell in re.findall(r"^\| (`.*?`) \|", section, re.MULTILINE):
        first, *more = re.findall("`(.*?)`", cell)
        folder = first[: first.rstrip("/").rfind("/") + 1]
        shown |= {first} | {folder + name for name in more}
    return shown


def test_map__shows_every_top_level_folder():
    folders = {path.partition("/")[0] for path in tracked() if "/" in path}
    assert folders - {path.partition("/")[0] for path in mapped() if "/" in path} == set()


def test_map__shows_every_folder_of_the_packages():
    roots = tuple(f"{root.name}/{name}/" for name, root in PACKAGES.items())
    folders = {path for path in tracked() if path.endswith("/") and path.startswith(roots)}
    assert set(roots) <= folders
    assert folders - mapped() == set()


def test_map__shows_nothing_that_is_not_there():
    assert mapped() - tracked() == set()


# --- the papers ---------------------------------------------------------------------------------


def test_citation__has_what_the_format_asks_for_and_the_version_of_the_package():
    yaml = pytest.importorskip("yaml", reason="comes with open-spiel")
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert citation["cff-version"] == "1.2.0"
    assert citation["authors"] == [{"name": "Black Maria contributors"}]
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]


def test_changelog__latest_release_is_the_version_of_the_package():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    unreleased, latest, *_ = re.findall(r"^## \[(.+?)\]", changelog, re.MULTILINE)
    assert (unreleased, latest) == ("Unreleased", PROJECT["version"])


@pytest.mark.parametrize("folder", [ROOT, ROOT / "docs"])
def test_links__lead_to_files(folder):
    links = [
        (page.name, link)
        for page in sorted(folder.glob("*.md"))
        for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8"))
    ]
    assert links
    assert [(page, link) for page, link in links if not (folder / link).exists()] == []


def versions(file: str) -> dict[str, str]:
    """The versions that a file of constraints asks for."""
    text = (ROOT / file).read_text(encoding="utf-8")
    return dict(re.findall(r"^([\w-]+)==(\S+)$", text, re.MULTILINE))


def test_constraints__the_oldest_are_the_floors_and_the_newest_name_every_package():
    lists = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    wanted = [each for some in lists for each in some if not each.startswith("black-maria")]
    floors = dict(re.fullmatch(r"([\w-]+)(?:\[.*\])?>=([\d.]+)", each).groups() for each in wanted)
    oldest = versions("constraints-min.txt")
    assert oldest.keys() == floors.keys()
    for name, floor in floors.items():
        assert re.fullmatch(re.escape(floor) + r"(\.0)*", oldest[name]), name
    assert floors.keys() <= versions("constraints.txt").keys()


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_make__by_itself_says_what_every_target_does():
    said = subprocess.run(
        ["make", "--no-print-directory"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    targets = re.search(r"^\.PHONY: (.*)", (ROOT / "Makefile").read_text(), re.MULTILINE).group(1)
    assert [line.split()[0] for line in said.splitlines()] == targets.split()
    assert all(len(line.split()) > 1 for line in said.splitlines())


@pytest.mark.parametrize("name", BOTS)
def test_bot__is_in_the_readme(name):
    assert f"`{name}`" in README


@pytest.mark.parametrize("reward", REWARDS)
def test_reward__is_on_every_manual_page(reward):
    for page in (tables.Tables.__doc__, aec.__doc__, seat.BlackMaria.__doc__):
        assert f'"{reward}"`' in page


# --- who imports whom ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Import:
    """One name that a module imports: ``module`` alone, or ``name`` from it."""

    module: str
    name: str | None
    line: int
    at_once: bool
    """Whether it runs when the module is imported, and not later in a function."""


def modules(package: Path) -> dict[str, Path]:
    """The modules of a package by their full names; a folder's is that of its ``__init__``."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(module: str, path: Path) -> Iterator[Import]:
    """What a module imports; what only type checkers see is left out."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]

    def walk(node: ast.AST, at_once: bool) -> Iterator[Import]:
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for child in node.orelse:
                yield from walk(child, at_once)
            return
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, None, node.lineno, at_once)
        elif isinstance(node, ast.ImportFrom):
            start = "." * node.level + (node.module or "")
            whole = importlib.util.resolve_name(start, package) if node.level else start
            for alias in node.names:
                yield Import(whole, alias.name, node.lineno, at_once)
        later = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(node):
            yield from walk(child, at_once and not later)

    yield from walk(ast.parse(path.read_text(encoding="utf-8")), True)


def ancestors(module: str) -> list[str]:
    """The packages that a module stands in, and itself: a, a.b, a.b.c."""
    parts = module.split(".")
    return [".".join(parts[:k]) for k in range(1, len(parts) + 1)]


def foreign(found: dict[str, Path], forbidden: set[str]) -> list[str]:
    """Imports of top-level packages that these modules may not know."""
    return [
        f"{module}:{imported.line} imports {imported.module}"
        for module, path in found.items()
        for imported in imports(module, path)
        if imported.module.partition(".")[0] in forbidden
    ]


def faces(found: dict[str, Path]) -> list[str]:
    """Imports of what the ``__init__`` of a package hands on, by a module inside that package."""
    return [
        f"{module}:{imported.line} imports {imported.name or 'all'} from {imported.module}"
        for module, path in found.items()
        for imported in imports(module, path)
        if imported.module in ancestors(module)
        and found[imported.module].name == "__init__.py"
        and f"{imported.module}.{imported.name}" not in found
    ]


def circle(found: dict[str, Path]) -> list[str]:
    """Modules of which each imports the next, the last being the first; empty if there are none.

    Importing a.b.c runs the ``__init__`` of a and of a.b first, so these count as well, but for
    packages that the importing module stands in: those have begun by then.
    """
    graph: dict[str, set[str]] = {}
    for module, path in found.items():
        reached: set[str] = set()
        for imported in imports(module, path):
            if imported.at_once:
                reached |= {*ancestors(imported.module), f"{imported.module}.{imported.name}"}
        graph[module] = reached.intersection(found).difference(ancestors(module))
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return list(reversed(error.args[1]))  # graphlib's goes from the imported to the importer
    return []


HOUSE = {name: modules(root / name) for name, root in PACKAGES.items()}


def test_environment__imports_no_agents_and_no_torch():
    assert foreign(HOUSE["black_maria"], {"black_maria_agents", "torch"}) == []


@pytest.mark.parametrize("package", HOUSE)
def test_modules__do_not_import_the_face_of_their_own_package(package):
    assert faces(HOUSE[package]) == []


def test_modules__import_each_other_in_no_circle():
    assert circle(HOUSE["black_maria"] | HOUSE["black_maria_agents"]) == []


@pytest.mark.parametrize("package", HOUSE)
def test_modules__are_short(package):
    lines = {
        module: len(path.read_text(encoding="utf-8").splitlines())
        for module, path in HOUSE[package].items()
    }
    assert {module: count for module, count in lines.items() if count > LONGEST} == {}


# --- the checks themselves, on small houses ------------------------------------------------------


def house(folder: Path, files: dict[str, str]) -> dict[str, Path]:
    """The modules of a package ``p`` that is made of these files."""
    for name, text in {"__init__.py": "", **files}.items():
        path = folder / "p" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return modules(folder / "p")


def test_check__modules_by_their_names(tmp_path):
    found = house(tmp_path, {"a.py": "", "room/__init__.py": "", "room/__main__.py": ""})
    assert set(found) == {"p", "p.a", "p.room", "p.room.__main__"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import torch", ["p.a:1 imports torch"]),
        ("import os, torch.nn as nn", ["p.a:1 imports torch.nn"]),
        ("def f():\n    from torch.nn import Linear", ["p.a:2 imports torch.nn"]),
        ("import torchless\nfrom p import torch", []),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch", []),
    ],
)
def test_check__foreign_imports(tmp_path, text, said):
    assert foreign(house(tmp_path, {"a.py": text}), {"torch"}) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("from p import thing", "p.room.b:1 imports thing from p"),
        ("from p.room import thing", "p.room.b:1 imports thing from p.room"),
        ("from . import thing", "p.room.b:1 imports thing from p.room"),
        ("from .. import thing", "p.room.b:1 imports thing from p"),
        ("def f():\n    import p", "p.room.b:2 imports all from p"),
        ("from p import *", "p.room.b:1 imports * from p"),
        ("from p import a, room", None),  # modules
        ("from p.room import c", None),
        ("from p.other import thing", None),  # another room's face
        ("from p.a import thing", None),
        ("import p.a", None),
        ("import typing\nif typing.TYPE_CHECKING:\n    from p import thing", None),
    ],
)
def test_check__own_face(tmp_path, text, said):
    files = {
        "a.py": "",
        "other/__init__.py": "",
        "room/__init__.py": "from p.room.c import thing",
        "room/b.py": text,
        "room/c.py": "",
    }
    assert faces(house(tmp_path, files)) == ([said] if said else [])


@pytest.mark.parametrize(
    ("files", "members"),
    [
        ({"a": "from p.b import x", "b": "from p.a import y"}, {"p.a", "p.b"}),
        ({"a": "from p import b", "b": "import p.c", "c": "import p.a"}, {"p.a", "p.b", "p.c"}),
        ({"a": "from . import b", "b": "from .a import x"}, {"p.a", "p.b"}),
        ({"a": "try:\n    import p.b\nexcept ImportError: ...", "b": "import p.a"}, {"p.a", "p.b"}),
        ({"a": "import p.b", "b": "def f():\n    import p.a"}, set()),
        ({"a": "import p.b", "b": "if TYPE_CHECKING:\n    import p.a"}, set()),
        ({"__init__": "import p.a, p.b", "a": "import p.b", "b": ""}, set()),
        ({"r/__init__": "import p.r.b", "r/b": "from p.r import c", "r/c": ""}, set()),
        # who asks for a room's b gets the room's face first, and that asks for a
        (
            {"a": "import p.r.b", "r/__init__": "import p.r.c", "r/b": "", "r/c": "import p.a"},
            {"p.a", "p.r", "p.r.c"},
        ),
    ],
)  # fmt: skip
def test_check__circles(tmp_path, files, members):
    found = circle(house(tmp_path, {f"{name}.py": text for name, text in files.items()}))
    assert set(found) == members
    assert not found or found[0] == found[-1]
