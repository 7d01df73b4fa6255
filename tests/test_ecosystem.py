"""scripts/ecosystem.py: where an example runs, what is read from it, what is left out."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def ecosystem(monkeypatch, tmp_path):
    """The script in a folder of its own, with an example ``small`` that says what it came to."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import ecosystem

    (tmp_path / "examples" / "requirements").mkdir(parents=True)
    (tmp_path / "docs").mkdir()
    (tmp_path / "examples" / "small.py").write_text(
        '"""Words."""\n\n# more words\n'
        'print("learnt from 1,000 decisions in 2.5 s")\n'
        'print("alone against two random: 9.50 ± 0.25 points a hand, par 14.33")\n'
    )
    learner = ecosystem.Learner("A small one", "small.py", "none", "nothing")
    monkeypatch.setattr(ecosystem, "ROOT", tmp_path)
    monkeypatch.setattr(ecosystem, "FILE", tmp_path / "docs" / "ecosystem.json")
    monkeypatch.setattr(ecosystem, "LEARNERS", {"small": learner})
    monkeypatch.setattr(ecosystem, "SPEED", "print(123.4)")
    return ecosystem


def require(ecosystem, text):
    (ecosystem.ROOT / "examples" / "requirements" / "small.txt").write_text(text)


def test_run__is_entered_with_versions_lines_and_our_own_speed(ecosystem):
    require(ecosystem, f"pytest=={pytest.__version__}\n")
    ecosystem.main([])
    assert json.loads(ecosystem.FILE.read_text()) == {
        "small": {
            "versions": {"pytest": pytest.__version__},
            "lines": 2,
            "decisions": 1000,
            "seconds": 2.5,
            "score": [9.5, 0.25],
            "ours": 123,
        }
    }


@pytest.mark.parametrize("pin", ["pytest==0.1\n", "no-such-package[extra]==1.0\n"])
def test_run__is_left_out_where_packages_are_missing(ecosystem, pin, capsys):
    require(ecosystem, pin)
    ecosystem.main(["small"])
    assert "small: left out" in capsys.readouterr().out
    assert not ecosystem.FILE.exists()


def test_python__of_an_environment_counts_once_it_is_whole(ecosystem):
    folder = ecosystem.ROOT / ".venv-small"
    folder.mkdir()
    assert ecosystem.python_of("small") == Path(sys.executable)
    (folder / "installed").touch()
    assert ecosystem.python_of("small") == folder / "bin" / "python"


@pytest.mark.parametrize(("code", "words"), [("1 / 0", "ZeroDivisionError"), ("", "what came out")])
def test_run__that_fails_or_says_nothing_is_an_error(ecosystem, code, words):
    (ecosystem.ROOT / "examples" / "small.py").write_text(code)
    with pytest.raises(RuntimeError, match=words):
        ecosystem.run("small", Path(sys.executable))


def test_names__unknown_ones_are_refused(ecosystem):
    with pytest.raises(SystemExit, match=r"no example other; there are: small"):
        ecosystem.main(["other"])


def test_requirements__every_file_is_pinned_and_of_an_example_or_tool():
    text = (ROOT / "scripts" / "ecosystem.py").read_text(encoding="utf-8")
    for file in (ROOT / "examples" / "requirements").glob("*.txt"):
        lines = file.read_text(encoding="utf-8").split()
        assert lines
        assert all(re.fullmatch(r"[\w-]+(\[\w+\])?==[\w.]+", line) for line in lines), file.name
        assert f'"{file.stem}": Learner(' in text or file.stem == "supersuit"


def test_examples__say_how_they_are_installed():
    listed = subprocess.run(
        [sys.executable, "scripts/ecosystem.py", "?"], cwd=ROOT, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    names = listed.stderr.strip().rpartition("there are: ")[2].split(", ")
    for name in set(names) - {"cleanrl"}:
        pages = [path.read_text(encoding="utf-8") for path in (ROOT / "examples").glob("*.py")]
        assert any(f"-r examples/requirements/{name}.txt" in page for page in pages), name
