"""What a user gets from the wheel, and what works without the extras."""

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import distributions
from pathlib import Path

import pytest

from black_maria import extras

ROOT = Path(__file__).parent.parent
SOURCES = {
    path.relative_to(ROOT / root).as_posix()
    for root in ("envs", "agents")
    for path in (ROOT / root).rglob("*")
    if path.is_file() and "__pycache__" not in path.parts
}


def build(target, folder):
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)],
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    (made,) = folder.iterdir()
    return made


def python(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120
    )


def test_wheel__holds_both_packages_and_nothing_else(tmp_path):
    with zipfile.ZipFile(build("wheel", tmp_path)) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
        (licence,) = (name for name in wheel.namelist() if name.endswith("LICENSE"))
        assert "MIT License" in wheel.read(licence).decode()
    assert names == SOURCES
    assert {"black_maria/py.typed", "black_maria_agents/py.typed"} <= names


def test_sdist__can_be_built_and_tested_from(tmp_path):
    with tarfile.open(build("sdist", tmp_path)) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert {f"envs/{name}" for name in SOURCES if name.startswith("black_maria/")} <= names
    assert {"train.py", "evaluate.py", "Makefile", "README.md", "LICENSE"} <= names
    assert {"tests/oracle.py", "docs/rules.md", "notebooks/01_quickstart.ipynb"} <= names
    assert {"scripts/docs.py", "examples/maskable_ppo.py", "benchmarks/bench_aec.py"} <= names
    assert {"CONTRIBUTING.md", "CHANGELOG.md", "CITATION.cff"} <= names


BLOCK = "import sys; sys.modules.update(dict.fromkeys({blocked}))\n"


def test_environment__needs_no_torch_and_no_other_extra():
    blocked = ["torch", "rich", "tyro", "matplotlib", "tensorboard", "PIL", "pygame"]
    done = python(
        BLOCK.format(blocked=blocked) + "from black_maria import Tables, black_maria_v0, make_bot\n"
        "env = black_maria_v0.env(render_mode='ansi'); env.reset(seed=1); print(env.render())\n"
        "tables = Tables(3); obs, _ = tables.observe()\n"
        "tables.step(make_bot('heuristic').act(obs, tables.keys()))"
    )
    assert done.returncode == 0, done.stderr
    assert "passing" in done.stdout


def test_agents__without_torch_name_the_extra():
    done = python(BLOCK.format(blocked=["torch"]) + "import black_maria_agents")
    assert done.returncode == 1
    assert "pip install 'black-maria[agents]'" in done.stderr


ABSENT = """
import sys
from importlib.machinery import PathFinder
find = PathFinder.find_spec
PathFinder.find_spec = lambda name, *args: None if name == {name!r} else find(name, *args)
"""
SCRIPTS = [
    "train.py", "evaluate.py", "scripts/ladder.py", "scripts/curves.py", "scripts/mutants.py",
    "examples/maskable_ppo.py", "examples/rllib_ppo.py",
]  # fmt: skip


@pytest.mark.parametrize("absent", ["rich", "tyro"])
def test_scripts__without_an_extra_say_so_in_a_line(absent):
    done = python(
        ABSENT.format(name=absent) + "import runpy\n"
        f"for script in {SCRIPTS}:\n"
        "    try: runpy.run_path(script, run_name='__main__')\n"
        "    except SystemExit as error: print(error)"
    )
    assert done.returncode == 0, done.stderr
    for script, line in zip(SCRIPTS, done.stdout.splitlines(), strict=True):
        name = Path(script).name
        assert re.match(rf"{name} needs ([\w-]+, )*{absent}(, [\w-]+)*: pip install ", line)
        extra = "dev" if script == "scripts/mutants.py" else "agents"
        assert f"'black-maria[{extra}]'" in line
        assert ("-r examples/requirements/" in line) == script.startswith("examples/")


def test_python_m__without_torch_names_the_extra_in_a_line():
    done = python(
        ABSENT.format(name="torch") + "import runpy; sys.argv = ['-m']\n"
        "runpy._run_module_as_main('black_maria_agents.warm')"  # what python -m calls
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "pip install 'black-maria[agents]'" in done.stderr


def test_extras__packages_of_those_that_are_included_too():
    for extra, packages in {
        "agents": {"torch", "tyro"},
        "notebooks": {"torch", "nbmake"},
        "dev": {"torch", "nbmake", "pygame-ce", "pytest"},
    }.items():
        assert packages <= extras._packages(extra)
    assert extras.absent("agents", "no-such-package") == ["no-such-package"]


def test_extras__what_is_installed_is_found_whatever_it_is_imported_as():
    given = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    packages = {
        extras._REQUIREMENT.match(requirement).group(1)
        for requirements in given["optional-dependencies"].values()
        for requirement in requirements
    } - {"black-maria"}
    names = {dist.metadata["Name"].lower() for dist in distributions()}
    installed = {package for package in packages if package.lower() in names}
    assert {"torch", "tyro"} <= installed
    assert not [package for package in installed if not extras._there(package)]


PICTURES = {"matplotlib", "PIL", "pygame", "tensorboard", "selenium"}
LEARNERS = {"stable_baselines3", "ray", "torchrl", "tianshou", "pyspiel"}
COMPILERS = {"torch._dynamo", "torch._inductor", "torch.onnx", "sympy"}


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("black_maria", {"torch", "tyro", "rich", "pandas", "scipy.special", "numba.cuda"}),
        ("black_maria_agents", {"pandas", "scipy.special"} | COMPILERS),
    ],
)
def test_import__loads_nothing_heavy_that_it_can_do_without(module, heavy):
    heavy = heavy | PICTURES | LEARNERS
    done = python(
        f"import sys, {module}; print([each for each in {sorted(heavy)} if each in sys.modules])"
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")


@pytest.mark.parametrize("module", ["black_maria", "black_maria_agents"])
def test_import__is_quiet(module):
    done = python(f"import warnings; warnings.simplefilter('error'); import {module}")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
