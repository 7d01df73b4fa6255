"""What a user can observe is what was recorded once; ``golden.py`` says how."""

from collections import defaultdict

import pytest

import golden
from black_maria import Rules
from black_maria_agents import CHAMPIONS

RECORDED = defaultdict(dict)
for entry, value in golden.recorded().items():
    pair, part, what = entry.split("/")
    RECORDED[pair, part][what] = value


def rules_of(pair: str) -> Rules:
    name, _, seats = pair.rpartition("-")
    return Rules.profile(name, int(seats))


@pytest.mark.parametrize(("pair", "part"), RECORDED, ids=map("-".join, RECORDED))
def test_golden__nothing_that_was_recorded_has_changed(pair, part):
    rules, recorded = rules_of(pair), RECORDED[pair, part]
    # the champion's near ties are left out as they were when it was recorded
    left_out = [recorded] if part == "champion" else []
    found = golden.PARTS[part](rules, *left_out)
    differing = [what for what in {**recorded, **found} if found.get(what) != recorded.get(what)]
    assert not differing, f"{pair}, {part}: these have changed: {', '.join(differing)}"


def test_golden__every_part_of_every_profile_and_number_of_seats_was_recorded():
    pairs = [f"{name}-{seats}" for name, seats in golden.PAIRS]
    always = {*golden.PARTS} - {"champion", "playoffs"}
    expected = {(pair, part) for pair in pairs for part in always}
    expected |= {(pair, "champion") for pair in pairs if rules_of(pair).name in CHAMPIONS}
    expected |= {(pair, "playoffs") for pair in pairs if rules_of(pair).playoff}
    assert len(pairs) == 30
    assert set(RECORDED) == expected
