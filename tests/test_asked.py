"""Which options of evaluate.py go together: every pair of them, and what is said to the others."""

from itertools import combinations
from pathlib import Path

import pytest

from test_scripts import ROOT, script

evaluate = script(ROOT / "evaluate.py")

GIVEN = {
    "rulesets": "held-out", "exploit": True, "minutes": 1.0, "deals": 5, "matches": 5,
    "until": 0.5, "rules": "omnibus", "seats": 4, "seed": 3, "sampled": True,
    "out": Path("r.json"), "plot": Path("p.png"), "record": Path("h.jsonl"),
    "review": Path("r.html"), "explain": True, "keep": Path("k.npz"),
}  # fmt: skip
"""A value of every option that isn't its default."""
TABLE = """
rulesets +
exploit  -+
minutes  -+-
deals    +--+
matches  ----+
until    ---+++
rules    -+-++++
seats    -+-+++++
seed     ++-++++++
sampled  ++-+++++++
out      ++-++++++++
plot     +--+++++++++
record   ---++++++++++
review   ---+++++++++++
explain  ---++++++++++++
keep     ---+++++++++++++
"""
"""Whether each works with every one above it, and last by itself."""
PAIRS = {
    (other, name): mark == "+"
    for name, marks in map(str.split, TABLE.strip().splitlines())
    for other, mark in zip(GIVEN, marks, strict=False)
}


def config(*names, **others):
    """The configuration in which these are given, with as many agents as they want."""
    agents = ("duck",) if "exploit" in names else ("duck", "random")
    options = {"agents": agents} | {name: GIVEN[name] for name in names} | others
    return evaluate.EvaluateConfig(**options)


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def refused(asked):
    with pytest.raises(ValueError, match=r"\w") as error:
        asked.check()
    assert "\n" not in str(error.value)
    assert not list(Path().iterdir())
    return str(error.value)


def test_table__has_every_option_and_every_pair():
    assert {"agents", *GIVEN} == set(evaluate.EvaluateConfig.__dataclass_fields__)
    assert PAIRS.keys() == {*combinations(GIVEN, 2), *((name, name) for name in GIVEN)}


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
def test_pair__works_or_is_refused_in_a_line_that_names_one_of_it(pair):
    asked = config(*set(pair))
    if PAIRS[pair]:
        asked.check()
    else:
        words = refused(asked)
        assert any(f"--{name}" in words for name in pair)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (config("rulesets", "exploit"), "give --rulesets or --exploit, not both"),
        (
            config("exploit", "plot", "deals"),
            "--exploit goes with --minutes, --rules, --seats, --seed, --sampled, --out; "
            "leave out --deals, --plot",
        ),
        (
            config("rulesets", "keep"),
            "--rulesets goes with --deals, --seed, --sampled, --out, --plot; leave out --keep",
        ),
        (config("minutes"), "--minutes is the time of --exploit: give both or neither"),
        (config("deals", "matches"), "give --deals or --matches, not both"),
        (config("exploit", agents=()), "--exploit takes one agent, not 0"),
        (config("exploit", agents=("duck", "random")), "--exploit takes one agent, not 2"),
        (config(agents=("duck",)), "give two or more different agents, not duck alone"),
        (
            config("rulesets", agents=("duck", "duck")),
            "duck is given twice: give different agents",
        ),
        (config("exploit", seed=-1), "seed=-1: test seeds are 0 … 2**63 - 1"),
        (config("rulesets", seed=2**63), f"seed={2**63}: test seeds are 0 … 2**63 - 1"),
        (config("rulesets", deals=0), "deals=0: there must be at least one game to play"),
        (config("exploit", minutes=-1.0), "minutes=-1.0: give a time above 0, as in 10"),
        (config("exploit", out=Path("r.txt")), "r.txt: give a name that ends in .json"),
        (config("rulesets", plot=Path("p.jpg")), "p.jpg: give a name that ends in .png"),
        (config(review=Path("r.txt")), "r.txt: give a name that ends in .html"),
        (config(keep=Path("k.json")), "k.json: give a name that ends in .npz"),
    ],
)
def test_refused__says_what_would_be_right(asked, words):
    assert refused(asked) == words


def test_rulesets__need_no_agents_or_one(monkeypatch):
    config("rulesets", agents=()).check()
    config("rulesets", agents=("duck",)).check()
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert refused(config("rulesets")).endswith("one process: start it without torchrun")


def test_out__a_csv_file_comes_beside_it_but_with_exploit():
    Path("r.csv").mkdir()
    config("exploit", "out").check()
    for names in (["out"], ["rulesets", "out"]):
        with pytest.raises(ValueError, match=r"r.csv can't be written: it is a folder"):
            config(*names).check()
