"""The harness of the benchmarks, on work that takes no time, and what compares two runs."""

import ast
import importlib
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BENCHMARKS = ROOT / "benchmarks"
PLACE = {"processor": "a processor", "cores": 2, "load": 0.5, "versions": {"python": "3.11"}}


@pytest.fixture
def harness(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("harness")


@pytest.fixture
def compare(harness):
    return importlib.import_module("compare")


class Work:
    """A clock, and sides that move it on by so many seconds an item."""

    def __init__(self):
        """It is midnight, and nothing was done."""
        self.now, self.order = 0.0, []

    def side(self, harness, name, seconds, items=4, units=10):
        def run(count):
            self.order.append((name, count))
            self.now += seconds * count
            return count * units

        return harness.Side(name, run, items)

    def clock(self):
        return self.now


def found(harness, what="a row", ours=(1.0, 1.0, 1.0), theirs=(), peer=""):
    return harness.Result(what, "card", peer, "3", "python x.py", [*ours], [*theirs])


# --- measuring ----------------------------------------------------------------------------------


def test_measure__is_seconds_a_unit_of_both_in_turn(harness):
    work = Work()
    ours, theirs = work.side(harness, "us", 2.0), work.side(harness, "them", 6.0, items=8)
    row = harness.Row("cards", "card", ours, theirs, clock=work.clock, rounds=3)
    result = harness.measure(row, "python x.py")
    assert result.ours == pytest.approx([0.2] * 3)
    assert result.theirs == pytest.approx([0.6] * 3)
    assert result.ratio() == pytest.approx(3)
    assert work.order == [("us", 1), ("them", 1)] + 3 * [("us", 4), ("them", 8)]  # 1: warms up
    assert result.line() == "| cards | 200 ms a card | them, 600 ms | 3 | 40, 80 | `python x.py` |"


def test_measure__beside_the_ratio_stands_what_the_machine_gave_in_the_same_rounds(harness):
    work = Work()
    sides = [work.side(harness, name, seconds) for name, seconds in
             (("us", 2.0), ("them", 3.0), ("two", 1.0), ("one", 1.6))]  # fmt: skip
    row = harness.Row("r", "card", *sides[:2], clock=work.clock, rounds=2, bare=tuple(sides[2:]))
    result = harness.measure(row, "x")
    assert [name for name, _ in work.order] == 3 * ["us", "them", "two", "one"]
    assert result.bare == pytest.approx([1.6] * 2)
    assert result.line() == (
        "| r | 200 ms a card | them, 300 ms | 1.5 of 1.6 that the machine gave | 40, 40 | `x` |"
    )


def test_measure__the_ratio_is_the_median_of_the_rounds(harness):
    result = found(harness, ours=(1.0, 1.0, 9.0), theirs=(5.0, 6.0, 9.0))
    assert result.ratio() == 5


def test_measure__a_cold_row_is_not_warmed_and_a_row_without_a_peer_has_no_ratio(harness):
    work = Work()
    side = work.side(harness, "us", 1.0, items=1, units=1)
    row = harness.Row("start", "start", side, clock=work.clock, rounds=2, warm=False)
    result = harness.measure(row, "python x.py")
    assert work.order == [("us", 1), ("us", 1)]
    assert result.ratio() is None
    assert result.line() == "| start | 1 s a start |  |  | 1 | `python x.py` |"


def test_measure__a_quick_run_is_two_short_rounds(harness):
    work = Work()
    side = work.side(harness, "us", 1.0, items=500)
    harness.measure(harness.Row("r", "card", side, clock=work.clock), "x", quick=True)
    assert work.order == 3 * [("us", 500 // harness.QUICK)]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(12.34, "12.3 s"), (0.0123, "12.3 ms"), (4.5e-6, "4.5 µs"), (1.9e-7, "190 ns"), (0, "0 ns")],
)
def test_duration__has_three_digits_and_a_unit(harness, seconds, words):
    assert harness.duration(seconds) == words


# --- the page -----------------------------------------------------------------------------------


def test_write__page_json_and_the_rows_of_the_readme_say_the_same(harness, tmp_path):
    (tmp_path / "docs").mkdir()
    before = "# T\n| speed | x |\n## How fast\n\n| what | ours |\n"
    (tmp_path / "README.md").write_text(before + "| speed | old | old | 1 |\n\n## End\n")
    rows = [
        found(harness, "speed", theirs=(2.0, 2.0, 2.0), peer="a peer"),
        found(harness, "other"),
    ]
    harness.write(rows, PLACE, tmp_path)
    page = (tmp_path / "docs" / "benchmarks.md").read_text()
    assert "a processor, 2 cores, load 0.5" in page
    assert "python 3.11" in page
    assert all(row.line() in page for row in rows)
    readme = before + "| speed | 1 s a card | a peer, 2 s | 2 |\n\n## End\n"
    assert (tmp_path / "README.md").read_text() == readme
    place, again = harness.read(tmp_path / "docs" / "benchmarks.json")
    assert place == PLACE
    assert again == {row.what: row for row in rows}


def test_machine__names_processor_and_versions(harness):
    place = harness.machine()
    assert place["processor"]
    assert {"python", "numpy", "numba"} <= set(place["versions"])


def test_readme__has_rows_of_the_page(harness):
    _, _, section = (ROOT / "README.md").read_text(encoding="utf-8").partition("## How fast")
    table = re.findall(r"^\| .* \|$", section.partition("\n## ")[0], re.MULTILINE)[1:]
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8").splitlines()
    assert table
    assert set(table) <= {harness.short_line(line) for line in page if line.startswith("| ")}


def test_page__is_what_its_json_says(harness):
    place, rows = harness.read(ROOT / "docs" / "benchmarks.json")
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert page == harness.page([*rows.values()], place)


# --- comparing ----------------------------------------------------------------------------------


def files(harness, tmp_path, old, new, processor="a processor"):
    paths = []
    for name, rows, place in (("old", old, PLACE), ("new", new, PLACE | {"processor": processor})):
        (tmp_path / name / "docs").mkdir(parents=True)
        (tmp_path / name / "README.md").touch()
        harness.write(rows, place, tmp_path / name)
        paths.append(tmp_path / name / "docs" / "benchmarks.json")
    return paths


STEADY = (1.00, 1.01, 1.02, 0.99, 0.98)


@pytest.mark.parametrize(
    ("new", "said"),
    [
        (STEADY, "same"),
        ((1.02, 1.03, 1.04, 1.03, 1.02), "same"),  # less than 5 %
        ((1.2, 1.21, 1.19, 1.2, 1.22), "slower"),
        ((0.8, 0.81, 0.79, 0.8, 0.82), "faster"),
        ((0.9, 1.0, 1.3, 1.4, 1.1), "same"),  # noisy
    ],
)
def test_compare__is_slower_only_beyond_the_noise(harness, compare, tmp_path, new, said):
    paths = files(harness, tmp_path, [found(harness, ours=STEADY)], [found(harness, ours=new)])
    ((what, verdict, change),) = compare.compare(*paths)
    assert (what, verdict) == ("a row", said)
    assert change == pytest.approx(sorted(new)[2] / 1.0, rel=0.01)


def test_compare__with_a_peer_by_the_ratio_whatever_machine(harness, compare, tmp_path):
    twice = tuple(2 * seconds for seconds in STEADY)
    old = found(harness, ours=STEADY, theirs=STEADY, peer="p")
    busy = found(harness, ours=twice, theirs=twice, peer="p")
    worse = found(harness, ours=twice, theirs=STEADY, peer="p")
    for number, (new, said) in enumerate(((busy, "same"), (worse, "slower"))):
        paths = files(harness, tmp_path / str(number), [old], [new], "another processor")
        assert [verdict for _, verdict, _ in compare.compare(*paths)] == [said]


def test_compare__times_of_another_processor_and_other_peers_are_not(harness, compare, tmp_path):
    old = [found(harness, "alone"), found(harness, "p", theirs=STEADY[:3], peer="p"),
           found(harness, "gone")]  # fmt: skip
    new = [found(harness, "alone"), found(harness, "p", theirs=STEADY[:3], peer="q"),
           found(harness, "new")]  # fmt: skip
    paths = files(harness, tmp_path, old, new, "another processor")
    assert list(compare.compare(*paths)) == [
        ("alone", "another processor", None),
        ("p", "another peer", None),
        ("gone", "gone", None),
        ("new", "new", None),
    ]


def test_compare__two_threads_by_what_the_machine_gave(harness, compare, tmp_path):
    def row(seconds, given):
        return replace(found(harness, ours=3 * [seconds], theirs=3 * [2.0], peer="p"), bare=given)

    old = row(1.0, 3 * [2.0])
    for number, (new, said) in enumerate((
        (row(1.6, 3 * [1.25]), "same"),  # the other core was taken
        (row(1.6, 3 * [2.0]), "slower"),
        (row(1.0, []), "another peer"),
    )):  # fmt: skip
        paths = files(harness, tmp_path / str(number), [old], [new])
        assert [verdict for _, verdict, _ in compare.compare(*paths)] == [said]


@pytest.mark.parametrize(("cost", "code"), [(1.0, 0), (2.0, 1)])
def test_compare__a_reader_that_has_left_changes_nothing(harness, tmp_path, cost, code):
    old, new = [found(harness)], [found(harness, ours=[cost] * 3)]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, BENCHMARKS / "compare.py", *files(harness, tmp_path, old, new)],
        stdout=writer, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    os.close(writer)
    assert (done.returncode, done.stderr) == (code, "")


def test_scripts__print_by_what_minds_a_reader_that_has_left():
    for file in BENCHMARKS.glob("*.py"):
        calls = [node for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
                 if isinstance(node, ast.Call) and ast.unparse(node.func) == "print"]  # fmt: skip
        bare = [node.lineno for node in calls if "file" not in {k.arg for k in node.keywords}]
        assert len(bare) == (file.name == "harness.py"), (file.name, bare)


@pytest.mark.parametrize(("cost", "code"), [(1.0, 0), (2.0, 1)])
def test_compare__exits_with_1_if_anything_is_slower(harness, tmp_path, cost, code):
    old, new = [found(harness)], [found(harness, ours=[cost] * 3)]
    done = subprocess.run(
        [sys.executable, BENCHMARKS / "compare.py", *files(harness, tmp_path, old, new)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert json.dumps("a row")[1:-1] in done.stdout


@pytest.mark.slow
def test_scripts__run(tmp_path):
    """One script as its users run it, in a short time; it needs no peer's package."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, BENCHMARKS / "bench_network.py", "--quick"],
        cwd=tmp_path, capture_output=True, text=True, check=True, env=environment,
    )  # fmt: skip
    assert done.stdout.count("| a decision of the champion") == 3
