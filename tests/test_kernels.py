"""Kernels are compiled anew when something compiled into them changes, and only then."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import black_maria
from black_maria.kernels import direct, inlined, instruction, kernel, stamp
from black_maria.rules import PASS_DIRECTIONS
from helpers import plain_python

PACKAGE = Path(black_maria.__file__).parent
TABLE = np.array([5, 7])

# Deals one hand that passes to the left and says how far, to whom, and what was compiled for it.
DEAL = """
import numpy as np
from black_maria import Rules, engine, kernels
from black_maria.engine.start import deal_out
from black_maria.engine.game import receiver
from black_maria.kernels import _KERNELS
rules = Rules(seats=4, removed=(), pass_cycle=("left",))
record = engine.rules_record(rules)
states = np.zeros(1, engine.STATE)
states["playing"], states["num_playing"] = 15, 4
deck = np.array(rules.deck, np.int8)[None]
deal_out(states, record, deck, np.array([3]))
to = receiver(states[0], record[0], 0)
misses = sum(sum(k.stats.cache_misses.values()) for k in _KERNELS.values())
print(states[0].pass_steps, to, states[0].turn, misses, int(states[0].holding[0, 0] != 0))
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the package with a warm cache of its own."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(PACKAGE, folder / "black_maria", ignore=shutil.ignore_patterns("__pycache__"))
    assert run(folder)[:3] == [1, 1, 0]
    return folder


def run(folder: Path, **variables: str) -> list[int]:
    """Pass steps, receiver of seat 0, seat to move, kernels compiled, and if seat 0 holds cards."""
    done = subprocess.run(
        [sys.executable, "-c", DEAL],
        env=os.environ | {"PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(folder / "cache")}
        | variables,
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [int(word) for word in done.stdout.split()]


def edit(folder: Path, file: str, old: str, new: str) -> None:
    path = folder / "black_maria" / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.slow
def test_cache__every_edit_is_noticed_and_no_other(copy):
    assert run(copy)[3] == 0, "warm"

    # nothing that is compiled in: words, lines, a kernel that isn't called
    edit(
        copy,
        "engine/game.py",
        '"""The next playing seat clockwise."""',
        '"""Who is\n\n    next."""',
    )
    edit(
        copy, "engine/game.py", "shares[seat] = (state.winners", "shares[seat] = 2 * (state.winners"
    )
    assert run(copy) == [1, 1, 0, 0, 1]

    # a constant of another module, read when the kernels' own module is imported
    reordered = ("none", "across", "right", "left")
    assert set(reordered) == set(PASS_DIRECTIONS)
    edit(copy, "rules.py", f"PASS_DIRECTIONS: Final = {PASS_DIRECTIONS}".replace("'", '"'),
         f"PASS_DIRECTIONS: Final = {reordered}")  # fmt: skip
    steps, to, turn, misses, _ = run(copy)
    assert [steps, to, turn] == [1, 1, 0]
    assert misses > 0

    # a helper that is pasted into its callers
    edit(copy, "engine/game.py", "        return 1\n", "        return num_playing - 2\n")
    assert run(copy)[:2] == [2, 2]

    # a helper of a kernel that is called
    edit(copy, "engine/game.py", "seat = seat + 1 if seat + 1 < rules.seats else 0\n    while",
         "seat = seat + 2 if seat + 2 < rules.seats else 0\n    while")  # fmt: skip
    assert run(copy)[1:3] == [0, 0]

    # the same in another file
    edit(copy, "engine/state.py", "    planes[0] |= bit\n", "    planes[0] |= 0 * bit\n")
    assert run(copy)[4] == 0
    assert run(copy)[3] == 0, "warm again"


def test_cache__a_folder_that_cannot_be_written_is_no_hindrance(copy, tmp_path):
    (tmp_path / "file").write_text("")
    steps, *_ = run(copy, NUMBA_CACHE_DIR=str(tmp_path / "file" / "sub"))
    assert steps > 0


# Takes the steps in plain Python, where it is quick, and names the kernels that none of those which
# ran calls, be it in a branch that wasn't taken: numba compiles these, too.
WARM = """
import sys
from black_maria import warm
from black_maria.kernels import _KERNELS, _globals
ran = set()
sys.setprofile(lambda frame, event, argument: ran.add(frame.f_code))
for _, do in warm.steps():
    do()
sys.setprofile(None)
made = {id(kernel): function for function, kernel in _KERNELS.items()}
reached, left = set(), [f for f in _KERNELS if f.__code__ in ran]
while left:
    function = left.pop()
    if function not in reached:
        reached.add(function)
        read = (function.__globals__.get(name) for name in _globals(function.__code__))
        left += [made[id(value)] for value in read if id(value) in made]
print(*(f.__qualname__ for f in _KERNELS if f not in reached))
"""


def test_warm__compiles_every_kernel_of_the_package():
    assert plain_python(WARM) == ""


def test_cache__one_line_says_what_is_waited_for(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", "from black_maria import deal; deal(1)"],
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr.splitlines() == [
        "black_maria: compiling kernels, once on this machine; "
        "python -m black_maria.warm does it for all"
    ]


# --- what a stamp covers ------------------------------------------------------------------------


def made(body: str, **names):
    """A kernel of one argument x with this body, which finds these names."""
    scope = {"numba": numba, "np": np, **names}
    exec(f"def made(x):\n    {body}", scope)
    return kernel(scope["made"])


def test_stamp__constants_arrays_and_callees_count():
    def callee(x):
        return x + 1

    one, two = (made("return other(x) * factor + table[0]", other=inlined(callee),
                     factor=f, table=t) for f, t in ((2, TABLE), (2, TABLE.copy())))  # fmt: skip
    assert stamp(one) == stamp(two)
    for names in (
        {"factor": 3},
        {"factor": 2.0},
        {"table": TABLE + 1},
        {"table": TABLE.astype(np.int32)},
        {"other": kernel(callee)},
        {"other": made("return x + 2")},
    ):
        all_names = {"other": inlined(callee), "factor": 2, "table": TABLE} | names
        assert stamp(made("return other(x) * factor + table[0]", **all_names)) != stamp(one), names


def test_stamp__what_an_instruction_says_counts():
    def adds(number):
        @instruction(lambda x: x + number)
        def add(typingctx, x):
            def code(context, builder, signature, arguments):
                return builder.add(arguments[0], arguments[0].type(number))

            return x(x), code

        return made("return other(x)", other=add)

    one, two = adds(1), adds(2)
    assert (one(5), two(5)) == (6, 7)
    assert stamp(one) == stamp(adds(1)) != stamp(two)


def test_stamp__a_docstring_does_not():
    plain = made("return x + 5")
    told = made('"Adds."\n    return x + 5')
    retold = made('"Adds five."\n\n    return x + 5')
    assert stamp(told) == stamp(retold)
    assert stamp(plain) != stamp(made("return x + 6"))


@pytest.mark.parametrize(
    ("value", "what"), [([1, 2], "list"), (black_maria, "module"), (lambda x: x, "function")]
)
def test_stamp__what_cannot_be_noticed_is_refused(value, what):
    with pytest.raises(TypeError, match=rf"reads 'other', a {what}: its content can't be noticed"):
        stamp(made("return other", other=value))


def test_stamp__kernels_may_call_each_other():
    scope: dict = {}
    exec("def even(x):\n    return True if x == 0 else odd(x - 1)", scope)
    exec("def odd(x):\n    return False if x == 0 else even(x - 1)", scope)
    scope["even"], scope["odd"] = kernel(scope["even"]), kernel(scope["odd"])
    assert stamp(scope["even"]) != stamp(scope["odd"])


def test_direct__does_what_the_kernel_does():
    adds = made("return table[0] + x", table=TABLE)
    at_once = direct(adds, 1)
    assert [at_once(x) for x in (1, -8)] == [adds(x) for x in (1, -8)] == [6, -3]
