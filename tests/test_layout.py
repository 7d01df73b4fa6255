"""The observation's layout: blocks, offsets, and back into words."""

import re
from math import prod

import numpy as np
import pytest

import oracle
from black_maria.layout import Layout, describe, layout_of, seat_names
from black_maria.rules import Rules
from helpers import Hand, ids, playing

LAYOUT = layout_of()
A = "AC QC 10C 8C 6C AD QD 10D 8D 6D AH QH 10H 8H AS QS 10S"
B = "KD JD 9D 7D 5D 4D 3D 2D KH JH 9H 7H 6H 5H JS 9S 8S"
C = "KC JC 9C 7C 5C 4C 3C 4H 3H 2H KS 7S 6S 5S 4S 3S 2S"


def test_blocks__the_promised_ones_in_shape_and_order():
    assert {name: block.shape for name, block in LAYOUT.blocks.items()} == oracle.shapes()
    assert list(LAYOUT.blocks) == list(oracle.shapes())


def test_blocks__tile_the_vector_without_gaps():
    end = 0
    for name, block in LAYOUT.blocks.items():
        assert block.name == name
        assert LAYOUT[name] == slice(end, end + prod(block.shape))
        end = block.stop
    assert LAYOUT.size == end == 656


def test_blocks__offsets_reach_the_kernels():
    record = LAYOUT.record[0]
    assert {name: record[name] for name in record.dtype.names} == {
        name: block.start for name, block in LAYOUT.blocks.items()
    }


def test_blocks__unknown_name_lists_the_known():
    with pytest.raises(KeyError, match=r"no block 'hand'; there are: holding, passed"):
        LAYOUT["hand"]


@pytest.mark.parametrize("lead", [(), (5,), (2, 3)])
def test_split__every_entry_once(lead):
    vector = np.arange(prod(lead) * LAYOUT.size).reshape(*lead, LAYOUT.size)
    blocks = LAYOUT.split(vector)
    assert {n: b.shape for n, b in blocks.items()} == {
        n: (*lead, *shape) for n, shape in oracle.shapes().items()
    }
    flat = [block.reshape(*lead, -1) for block in blocks.values()]
    assert np.array_equal(np.concatenate(flat, axis=-1), vector)


@pytest.mark.parametrize("shape", [(), (655,), (657,), (656, 1), (2, 655)])
def test_split__wrong_shape_refused(shape):
    with pytest.raises(ValueError, match=r"'three_player' has 656 entries, not shape"):
        LAYOUT.split(np.zeros(shape, np.int8))


@pytest.mark.parametrize("shape", [(), (655,), (656, 1)])
def test_describe__wrong_length_refused(shape):
    with pytest.raises(ValueError, match="has 656 entries, not shape"):
        describe(np.zeros(shape, np.int8))


def test_describe__a_batch_refused():
    with pytest.raises(ValueError, match=r"one integer vector \(656,\), not int8 \(2, 656\)"):
        describe(np.zeros((2, 656), np.int8))
    with pytest.raises(ValueError, match="not float32"):
        describe(np.zeros(656, np.float32))


def test_describe__unknown_profile_refused():
    with pytest.raises(ValueError, match="no profile 'nope'"):
        describe(np.zeros(656, np.int8), "nope")


def lines(text: str) -> dict[str, str]:
    """Block → what is said of it."""
    return dict(re.split(r" +", line, maxsplit=1) for line in text.splitlines())


def test_describe__known_position_mid_hand():
    hand = playing((A, B, C), leader=0, totals=[99, 7, 0])
    hand.do("AC 2D KC  QS JS")  # A takes a trick and leads Q♠; C is to play
    assert hand.turn == 2
    assert lines(describe(hand.views[2])) == {
        "holding": "3♣ 4♣ 5♣ 7♣ 9♣ J♣ 2♥ 3♥ 4♥ 2♠ 3♠ 4♠ 5♠ 6♠ 7♠ K♠",
        "passed": "2♦ 3♦ 4♦",
        "received": "3♣ 4♣ 5♣",
        "played": "me: K♣; left: A♣ Q♠; right: 2♦ J♠",
        "trick": "left: Q♠; right: J♠",
        "led": "♠",
        "voids": "right: ♣",
        "captured": "left: K♣ A♣ 2♦",
        "phase": "playing",
        "position": "2",
        "dealer": "me",
        "pass_to": "right",
        "hearts_broken": "–",
        "hands_left": "0",
        "totals": "me 0, left 99, right 7",
    }


def test_describe__before_anything_happened():
    said = lines(describe(Hand((A, B, C), dealer=1).views[0]))
    assert said["holding"] == "6♣ 8♣ 10♣ Q♣ A♣ 6♦ 8♦ 10♦ Q♦ A♦ 8♥ 10♥ Q♥ A♥ 10♠ Q♠ A♠"
    assert (said["phase"], said["position"], said["dealer"]) == ("passing", "0", "left")
    for name in ("passed", "received", "played", "trick", "led", "voids", "captured"):
        assert said[name] == "–"


def test_describe__a_line_for_every_block():
    text = describe(np.zeros(656, np.int8))
    assert [line.split()[0] for line in text.splitlines()] == list(LAYOUT.blocks)


def test_describe__every_card_by_its_own_name():
    vector = np.zeros(656, np.int8)
    vector[LAYOUT["holding"].start + ids("10H")[0]] = 1
    assert lines(describe(vector))["holding"] == "10♥"


def test_table__covers_every_index_once():
    rows = [line.split("|") for line in LAYOUT.table().splitlines()[2:]]
    covered = []
    for _, span, name, shape, meaning, _ in rows:
        first, _, last = span.strip().partition("…")
        covered += range(int(first), int(last or first) + 1)
        assert tuple(int(n) for n in shape.split("×")) == oracle.shapes()[name.strip(" `")]
        assert meaning.strip()
    assert covered == list(range(LAYOUT.size))


@pytest.mark.parametrize(
    ("seats", "said"),
    [(3, "me left right"), (4, "me left across right"), (5, "me left seat +2 seat +3 right")],
)
def test_seat_names__clockwise(seats, said):
    assert " ".join(seat_names(seats)) == said


def test_layout_of__made_once_per_rules():
    rules = Rules().replace(match_points=50)
    assert layout_of(rules) is layout_of(rules.replace())
    assert isinstance(layout_of("three_player"), Layout)
    with pytest.raises(ValueError, match="no profile"):
        layout_of("nope")
