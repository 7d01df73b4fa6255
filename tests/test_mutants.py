"""The list of scripts/mutants.py: each of its lines breaks one place of the code as it stands."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def script():
    spec = importlib.util.spec_from_file_location("mutants", ROOT / "scripts" / "mutants.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MUTANTS = script()
LIST = MUTANTS.read_list(MUTANTS.LIST.read_text(encoding="utf-8"))


def test_list__breaks_game_worlds_training_and_arena_in_many_places():
    files = {mutation.file for mutation in LIST}
    for room in ("black_maria/engine/", "/worlds/", "/training/", "/measuring/"):
        assert any(room in file for file in files), room
    assert len(LIST) == len(set(LIST)) >= 150


@pytest.mark.parametrize("mutation", LIST, ids=lambda m: f"{m.place}: {m.old}")
def test_list__a_line_breaks_one_place_and_python_can_still_read_it(mutation):
    text = (ROOT / mutation.file).read_text(encoding="utf-8")
    broken = mutation.apply(text)
    assert broken != text
    compile(broken, mutation.file, "exec")


TEXT = """class A:
    def f(self):
        return 1

def f():
    return 1 + 1
"""
HEAD = "[a.py]\ntests: tests/test_a.py -k b\n"


def test_apply__in_the_function_that_is_named():
    (mutation,) = MUTANTS.read_list(f"{HEAD}A.f: return 1 → return 2\n  survives: so it is")
    assert mutation.apply(TEXT) == TEXT.replace("        return 1", "        return 2")
    assert mutation.survives == "so it is"
    assert mutation.group.tests == "tests/test_a.py -k b"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("f: 1 → 2", "2 times '1', not once"),
        ("f: 3 → 2", "0 times '3', not once"),
        ("g: 1 → 2", "no function 'g'"),
        ("f 1 > 2", "can't read 'f 1 > 2'"),
    ],
)
def test_apply__what_does_not_fit_is_refused_in_words(line, words):
    with pytest.raises(ValueError, match=words):
        MUTANTS.read_list(HEAD + line)[0].apply(TEXT)
