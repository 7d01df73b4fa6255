"""Where a script meets its user and the system: errors in one line, signals, files to come.

Nothing that a user or the system does wrong ends in a traceback: ``border`` says in one line what
it was and what to do, and ends with a status that isn't 0. What is left is our own mistake, and
keeps its traceback.
"""

import io
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NoReturn

from black_maria_agents.console import drop_output

INTERRUPTED: Final = 130
"""The exit status after Ctrl-C, SIGTERM or SIGHUP."""
_SIGNALS: Final = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
_LONGEST: Final = 600
"""Characters of a message; of a longer one, which quotes what was given, the middle goes."""
_PROBE: Final = bytes(2**18)


@contextmanager
def border(script: str) -> Iterator[None]:
    """Run a script's work: signals interrupt it, errors end it in a line that says what to do.

    What an error has been given with ``add_note`` follows its message.

    Args:
        script: The script's name, which the line begins with.

    Raises:
        SystemExit: Something went wrong.
    """
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as in the background
            signal.signal(number, _interrupt)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without ♠ shows a question mark
    try:
        try:
            yield
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except (KeyboardInterrupt, Exception) as error:
        words = _words(error)
        if words is None:
            raise
        _leave(script, words, error)


def _interrupt(*_: Any) -> NoReturn:
    raise KeyboardInterrupt


def _words(error: BaseException) -> str | None:
    """What went wrong, for errors that aren't ours."""
    if isinstance(error, KeyboardInterrupt):
        return "stopped"
    if isinstance(error, MemoryError) or _lacks_memory(error):
        return "out of memory: give fewer tables, worlds or units, or end other programs"
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename is not None else ""
        return where + (error.strerror or str(error))
    if isinstance(error, ValueError | OverflowError | FloatingPointError):
        return str(error)
    return None


def _lacks_memory(error: BaseException) -> bool:
    """PyTorch says so in a ``RuntimeError``, on processors and devices alike."""
    said = str(error)
    return isinstance(error, RuntimeError) and (
        "allocate memory" in said or "out of memory" in said
    )


def _leave(script: str, words: str, error: BaseException) -> NoReturn:
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)  # a second Ctrl-C has nothing to stop
    if isinstance(error, OSError):
        drop_output()
    # what all processes find alike, the first one says
    if os.environ.get("RANK", "0") == "0" or not isinstance(error, ValueError):
        message = " ".join("; ".join([words, *getattr(error, "__notes__", [])]).split())
        if len(message) > _LONGEST:
            message = f"{message[: _LONGEST // 2]} … {message[-_LONGEST // 2 :]}"
        with suppress(OSError, ValueError, AttributeError):
            print(f"{script}: {message}", file=sys.stderr, flush=True)
    sys.exit(INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Finish what is begun: signals that would interrupt it are not heard."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = [(number, signal.signal(number, signal.SIG_IGN)) for number in _SIGNALS]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def check_outputs(files: Mapping[Path | None, str]) -> None:
    """See before the work that its files can be written at the end; what they hold stays.

    Args:
        files: The suffix that each path must have; None is no file.

    Raises:
        ValueError: One can't; says why.
    """
    for path, suffix in files.items():
        if path is None:
            continue
        if path.suffix != suffix:
            raise ValueError(f"{path}: give a name that ends in {suffix}")
        try:
            problem = _problem(path)
        except OSError as error:
            problem = error.strerror or str(error)
        if problem:
            raise ValueError(f"{path} can't be written: {problem}")


def _problem(path: Path) -> str:
    if not path.parent.is_dir():
        return f"there is no folder {path.parent}"
    if path.is_dir():
        return "it is a folder"
    if path.is_symlink() and not path.exists():
        return "it is a link to nothing"
    if path.exists() and not path.is_file():
        return "it is no plain file"
    target = path.resolve()
    if target.exists():
        target.open("r+b").close()
    probe = target.with_name(f"{target.name}.{os.getpid()}.tmp")
    try:
        with probe.open("xb") as file:
            file.write(_PROBE)
            file.flush()
            os.fsync(file.fileno())
    finally:
        probe.unlink(missing_ok=True)
    return ""
