"""Where scripts meet their users: errors in a line, signals, files to come, words as they are."""

import errno
import io
import os
import re
import signal
import sys

import pytest
from rich.console import Console

from black_maria_agents import CheckpointError, console
from black_maria_agents.border import border, check_outputs, uninterrupted
from black_maria_agents.console import Bar, Lines, PlainConsole, progress_on
from black_maria_agents.training import DivergenceError

SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
unix = pytest.mark.skipif(sys.platform == "win32", reason="sends signals, makes links")


def ended(error, capsys):
    """The status and the words that a script ends with."""
    with pytest.raises(SystemExit) as end, border("x.py"):
        raise error
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    return end.value.code, said.err.strip()


# --- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (ValueError("tables=0: must be at least 1"), 1, "x.py: tables=0: must be at least 1"),
        (CheckpointError("there is no x.pt"), 1, "x.py: there is no x.pt"),
        (ValueError("two\n  lines"), 1, "x.py: two lines"),
        (OSError(errno.ENOSPC, "No space left", "r.json"), 1, "x.py: r.json: No space left"),
        (ConnectionError("process 0 lost another one"), 1, "x.py: process 0 lost another one"),
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), 1, "x.py: Broken pipe"),
        (DivergenceError("value_loss is nan"), 1, "x.py: value_loss is nan"),
        (OverflowError("too large"), 1, "x.py: too large"),
        (KeyboardInterrupt(), 130, "x.py: stopped"),
        (MemoryError(), 1, "x.py: out of memory: give fewer tables, worlds or units, or end "
         "other programs"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), 1, "x.py: out of memory: give "
         "fewer tables, worlds or units, or end other programs"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)  # fmt: skip
def test_border__ends_in_a_line_and_not_with_0(error, code, words, capsys):
    assert ended(error, capsys) == (code, words)


def test_border__says_what_to_do_behind_what_happened(capsys):
    error = KeyboardInterrupt()
    error.add_note("go on with --resume runs/first")
    assert ended(error, capsys) == (130, "x.py: stopped; go on with --resume runs/first")


def test_border__a_long_message_loses_its_middle(capsys):
    _, words = ended(ValueError("begins " + 5000 * "a" + " ends"), capsys)
    assert words.startswith("x.py: begins aaa")
    assert words.endswith("aaa ends")
    assert len(words) < 700


@pytest.mark.parametrize("error", [KeyError("x"), ZeroDivisionError(), RuntimeError("a bug")])
def test_border__our_own_mistakes_keep_their_traceback(error):
    with pytest.raises(type(error)), border("x.py"):
        raise error


def test_border__of_several_processes_the_first_says_what_all_find(capsys, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    with pytest.raises(SystemExit) as end, border("x.py"):
        raise ValueError("no agent")
    assert end.value.code == 1
    assert capsys.readouterr().err == ""
    assert ended(OSError("disk"), capsys) == (1, "x.py: disk")


# --- signals ------------------------------------------------------------------------------------


@unix
@pytest.mark.parametrize("number", SIGNALS)
def test_border__signals_end_it_as_ctrl_c_does(number, capsys):
    signal.signal(number, signal.SIG_DFL)
    with pytest.raises(SystemExit) as end, border("x.py"):
        os.kill(os.getpid(), number)
    assert end.value.code == 130
    assert capsys.readouterr().err == "x.py: stopped\n"


@unix
def test_border__a_signal_that_is_ignored_stays_so():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with border("x.py"):
        os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


@unix
def test_uninterrupted__what_is_begun_is_finished():
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with uninterrupted():
        os.kill(os.getpid(), signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)


# --- files to come ------------------------------------------------------------------------------


def refused(path, suffix=".json"):
    with pytest.raises(ValueError, match=re.escape(path.name)) as error:
        check_outputs({path: suffix})
    return str(error.value)


def test_outputs__what_can_be_written_is_left_as_it_is(tmp_path):
    (tmp_path / "old.json").write_text("old")
    check_outputs({tmp_path / "old.json": ".json", tmp_path / "new.csv": ".csv", None: ".png"})
    assert [path.name for path in tmp_path.iterdir()] == ["old.json"]
    assert (tmp_path / "old.json").read_text() == "old"


def test_outputs__folders_and_names_that_cannot_be_files_are_refused(tmp_path):
    (tmp_path / "a.json").mkdir()
    (tmp_path / "file").write_text("")
    assert "it is a folder" in refused(tmp_path / "a.json")
    assert "there is no folder" in refused(tmp_path / "nowhere" / "a.json")
    assert "there is no folder" in refused(tmp_path / "file" / "a.json")
    assert "give a name that ends in .json" in refused(tmp_path / "a.txt")
    assert "name too long" in refused(tmp_path / f"{'a' * 300}.json")
    assert "name too long" in refused(tmp_path / f"{'a' * 250}.json"), "nor a temporary beside it"


@unix
def test_outputs__links_lead_to_files(tmp_path):
    (tmp_path / "a.json").symlink_to(tmp_path / "nowhere.json")
    assert "it is a link to nothing" in refused(tmp_path / "a.json")
    (tmp_path / "nowhere.json").write_text("there now")
    check_outputs({tmp_path / "a.json": ".json"})
    (tmp_path / "null.json").symlink_to("/dev/null")
    assert "it is no plain file" in refused(tmp_path / "null.json")


def test_outputs__a_full_disk_is_noticed_and_nothing_left_on_it(tmp_path, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    assert "No space left on device" in refused(tmp_path / "a.json")
    assert not list(tmp_path.iterdir())


# --- words --------------------------------------------------------------------------------------


def test_console__prints_what_looks_like_markup(capsys):
    PlainConsole().print("exp[lr=2] [/x] :heart:", highlight=False)
    assert capsys.readouterr().out == "exp[lr=2] [/x] :heart:\n"


class Failing(io.StringIO):
    """An output on a full disk."""

    def write(self, text):
        raise OSError(errno.ENOSPC, "No space left on device")


class Left(io.StringIO):
    """An output whose reader has left."""

    def flush(self):
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")


@pytest.mark.parametrize(
    ("output", "words"), [(Failing, "No space left"), (Left, "nobody reads the output any more")]
)
def test_console__one_that_cannot_print_is_quiet_and_says_so_at_the_end(output, words, monkeypatch):
    monkeypatch.setattr(sys, "stdout", output())
    plain = PlainConsole()
    plain.print("a")
    plain.print("b")
    Lines(plain, "x", clock=iter(range(0, 1000, 100)).__next__)(1, 2)
    with pytest.raises(OSError, match=f"not all could be printed: {words}"):
        plain.check()


def test_console__one_that_can_print_has_nothing_to_say(capsys):
    plain = PlainConsole()
    plain.print("a")
    plain.check()


def test_border__a_terminal_without_spades_gets_question_marks(monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="cp1252"))
    with border("x.py"):
        PlainConsole().print("Q♠ 1 ± 2")
    assert raw.getvalue().decode("cp1252").strip() == "Q? 1 ± 2"


# --- progress -----------------------------------------------------------------------------------


def lines(calls, capsys):
    """What is printed by calls (seconds, share)."""
    times = iter([0.0, *(seconds for seconds, _ in calls)])
    tell = Lines(PlainConsole(), "measuring", clock=lambda: next(times))
    for _, share in calls:
        tell(share * 200, 200, "words")
    return capsys.readouterr().out.splitlines()


def test_lines__come_now_and_then_and_tell_the_time_left(capsys):
    calls = [(1, 0.0), (9, 0.2), (10, 0.25), (15, 0.5), (20, 0.51), (21, 0.5), (65, 0.52)]
    assert lines(calls, capsys) == [
        "measuring: 25%, 0:00:10 gone, 0:00:30 left; words",
        "measuring: 51%, 0:00:20 gone, 0:00:19 left; words",
    ]


def test_lines__more_than_all_is_all(capsys):
    assert lines([(1, 0.0), (30, 1.2)], capsys) == [
        "measuring: 100%, 0:00:30 gone, 0:00:00 left; words"
    ]


def test_lines__a_minute_without_progress_has_a_line(capsys):
    calls = [(30, 0.0), (59, 0.001), (60, 0.001), (119, 0.002), (3720, 0.004)]
    assert lines(calls, capsys) == [
        "measuring: 0%, 0:01:00 gone, 16:39:00 left; words",
        "measuring: 0%, 1:02:00 gone, 257:18:00 left; words",
    ]


def test_lines__what_was_done_before_takes_no_time(capsys):
    assert lines([(0, 0.5), (10, 0.75)], capsys) == [
        "measuring: 75%, 0:00:10 gone, 0:00:10 left; words"
    ]


def test_progress__is_a_bar_on_terminals_and_lines_elsewhere(monkeypatch):
    with progress_on(PlainConsole(), "x") as tell:
        assert isinstance(tell, Lines)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    monkeypatch.setattr(Console, "is_terminal", True)
    with progress_on(PlainConsole(), "x[/x]") as tell:
        assert isinstance(tell, Bar)
        tell(1, 2, "[/x] words")
    assert "x[/x]" in sys.stdout.getvalue()
    assert "[/x] words" in sys.stdout.getvalue()
    assert console.LINE_SECONDS >= 5
