"""Break the code on purpose, line by line, and see that tests notice: python scripts/mutants.py.

``mutants.txt`` beside this file lists what is broken, and the tests that should notice. Each
mutation is made in a copy of the working tree, in ``build/mutants``; nothing here is changed.
"""

import ast
import os
import re
import runpy
import shlex
import shutil
import signal
import subprocess
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Final

if __name__ == "__main__":
    # by its path, for black_maria is loaded where a copy of it is tested, and not here
    found = runpy.run_path(str(Path(__file__).parent.parent / "envs/black_maria/extras.py"))
    found["check"]("dev", by="mutants.py")

import gymnasium  # noqa: F401 - loaded once, for all the forks
import numba
import pettingzoo  # noqa: F401
import pytest
import torch
import tyro

ROOT: Final = Path(__file__).parent.parent
LIST: Final = Path(__file__).with_suffix(".txt")
COPY: Final = ROOT / "build" / "mutants"


@dataclass(frozen=True)
class Group:
    """Tests that watch some code: what follows ``pytest``, and how it runs."""

    tests: str
    plain: bool
    """Without numba's compiler, which takes longer than the tests when the engine changes."""


@dataclass(frozen=True)
class Mutation:
    """One line broken: in a function, ``old`` gives way to ``new``."""

    file: str
    function: str
    """``name`` or ``Class.name``; empty for all that stands in none."""
    old: str
    new: str
    group: Group
    survives: str
    """Why no test can notice; empty if one must."""

    @property
    def place(self) -> str:
        """File and function."""
        return f"{Path(self.file).name}:{self.function}"

    def apply(self, text: str) -> str:
        """The file's text, broken.

        Raises:
            ValueError: ``old`` isn't there, or more than once.
        """
        first, last = span(text, self.function)
        lines = text.splitlines(keepends=True)
        body = "".join(lines[first:last])
        if body.count(self.old) != 1:
            raise ValueError(f"{self.place}: {body.count(self.old)} times {self.old!r}, not once")
        changed = body.replace(self.old, self.new)
        return "".join([*lines[:first], changed, *lines[last:]])


def span(text: str, function: str) -> tuple[int, int]:
    """The lines of a function, from its first to before the next."""
    node: ast.AST = ast.parse(text)
    if not function:
        return 0, len(text.splitlines())
    for name in function.split("."):
        found = [n for n in ast.iter_child_nodes(node)
                 if isinstance(n, ast.FunctionDef | ast.ClassDef) and n.name == name]  # fmt: skip
        if len(found) != 1:
            raise ValueError(f"there is no function {function!r}")
        node = found[0]
    assert isinstance(node, ast.FunctionDef | ast.ClassDef)
    return node.lineno - 1, node.end_lineno or node.lineno


def read_list(text: str) -> list[Mutation]:
    """The mutations of ``mutants.txt``, whose head says how it is written."""
    found: list[Mutation] = []
    file, group = "", Group("", False)
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("["):
            file = line.strip("[]")
        elif match := re.fullmatch(r"(tests|plain): (.*)", line):
            group = Group(match[2], match[1] == "plain")
        elif line.startswith("  survives: "):
            last = found.pop()
            why = line.removeprefix("  survives: ")
            found.append(Mutation(**{**vars(last), "survives": why}))
        elif match := re.fullmatch(r"([\w.]*): (.+) →(?: (.*))?", line):
            found.append(Mutation(file, match[1], match[2], match[3] or "", group, ""))
        else:
            raise ValueError(f"{LIST.name}: can't read {line!r}")
    return found


def copy_tree() -> None:
    """The working tree's files that git tracks or would, in ``COPY``; its kernels' cache stays."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    shutil.rmtree(COPY / "tree", ignore_errors=True)
    for name in listed:
        if (ROOT / name).is_file():
            (COPY / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, COPY / "tree" / name)


def run_tests(group: Group, limit: float) -> tuple[str, float]:
    """The first test that fails in the copy, "" if none does; and the seconds that it took.

    The tests run in a fork of this process, which has loaded the large libraries already.
    """
    start, report = time.monotonic(), COPY / "report.txt"
    child = os.fork()
    if not child:
        code = 99
        try:
            code = in_child(group, report)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(code)
    while time.monotonic() - start < limit:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        time.sleep(0.05)
    else:
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return "(doesn't end)", time.monotonic() - start
    seconds, text = time.monotonic() - start, report.read_text(encoding="utf-8")
    if status == 0:
        return "", seconds
    if match := re.search(r"^(?:FAILED|ERROR) \S*?::(\S+)", text, re.MULTILINE):
        return match[1], seconds
    raise RuntimeError(f"the tests can't be run:\n{text}")


def in_child(group: Group, report: Path) -> int:
    """Run the tests of the copy and write what pytest says; return its status."""
    os.setpgid(0, 0)  # with all that the tests may start
    output = os.open(report, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    tree = COPY / "tree"
    roots = [str(tree / root) for root in ("envs", "agents")]
    os.environ |= {
        "PYTHONPATH": os.pathsep.join(roots),
        "NUMBA_DISABLE_JIT": str(int(group.plain)),
        "NUMBA_CACHE_DIR": str(COPY / "cache"),
    }
    numba.config.reload_config()  # type: ignore[no-untyped-call]
    sys.path[:0] = roots
    sys.dont_write_bytecode = True  # an edit within a second of the last would have its time
    os.chdir(tree)
    options = ["-x", "-q", "-rfE", "--no-header", "--tb=line", "-o", "addopts="]
    return int(pytest.main([*options, "-p", "no:cacheprovider", *shlex.split(group.tests)]))


def main(only: str = "") -> int:
    """Run the mutations and print what became of each; 1 if one survives without a reason.

    Args:
        only: Those alone whose file, function or code has this in it.
    """
    mutations = [m for m in read_list(LIST.read_text(encoding="utf-8"))
                 if only in f"{m.file} {m.place}: {m.old} → {m.new}"]  # fmt: skip
    copy_tree()
    torch.set_num_threads(1)
    torch.optim.Adam([torch.zeros(1)])  # loads a good deal more
    limits: dict[Group, float] = {}
    bad = 0
    for number, mutation in enumerate(mutations, 1):
        group = mutation.group
        if group not in limits:
            failed, seconds = run_tests(group, 3600)
            if failed:
                raise RuntimeError(f"without a mutation {failed} fails: {group.tests}")
            limits[group] = 60 + 5 * seconds
        path = COPY / "tree" / mutation.file
        whole = path.read_text(encoding="utf-8")
        try:
            path.write_text(mutation.apply(whole), encoding="utf-8")
            killer, seconds = run_tests(group, limits[group])
        finally:
            path.write_text(whole, encoding="utf-8")
        if mutation.survives:
            word = f"UNEXPLAINED {killer}" if killer else f"survives: {mutation.survives}"
        else:
            word = killer or "SURVIVED"
        bad += word.startswith(("UNEXPLAINED", "SURVIVED"))
        change = f"{mutation.old} → {mutation.new}"
        print(f"{number:3}  {mutation.place:32} {change:70} {seconds:4.0f} s  {word}", flush=True)
    print(f"{len(mutations)} mutations, {bad} not as they should be")
    return int(bad > 0)


if __name__ == "__main__":
    try:
        status = tyro.cli(main)
    except BrokenPipeError:  # nobody reads any more, as after head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 1
    sys.exit(status)
