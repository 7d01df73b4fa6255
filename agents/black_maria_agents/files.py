"""Files that appear whole or not at all, and the lock that gives them one writer."""

import errno
import os
import secrets
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal, TextIO, overload

_TEMPORARY: Final = "*.[0-9]*-????????.tmp"
_WITHOUT_LOCKS: Final = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
"""What file systems answer that have no locks: there is no telling who else writes."""


class InUseError(ValueError):
    """Another process holds a lock.

    Attributes:
        holder: It in words: ``"another process (pid 4711)"``.
    """

    def __init__(self, path: Path) -> None:
        """Read who wrote its number into the lock."""
        try:
            pid = int(path.read_bytes())
        except (OSError, ValueError):  # only just taken or given back
            self.holder = "another process"
        else:
            self.holder = f"another process (pid {pid})"
        super().__init__(f"{path} is held by {self.holder}")


# --- whole or not at all --------------------------------------------------------------------------


@overload
def replacing(path: str | Path) -> AbstractContextManager[BinaryIO]: ...
@overload
def replacing(path: str | Path, mode: Literal["w"]) -> AbstractContextManager[TextIO]: ...
@contextmanager
def replacing(path: str | Path, mode: str = "wb") -> Iterator[Any]:
    """A file to write to that becomes ``path`` once it is whole.

    It is written beside ``path`` under a name that no other process or thread uses. If
    anything fails, ``path`` keeps what it held. Of a link, what it leads to is replaced.

    Args:
        path: The file, which may exist.
        mode: ``"wb"``, or ``"w"`` for text: UTF-8, line ends as they are written.

    Raises:
        OSError: It can't be written: a full disk, no permission, a folder of that name. Names
            ``path``.
    """
    target = Path(os.path.realpath(path))
    token = f"{os.getpid()}-{secrets.token_hex(4)}"
    temporary = target.with_name(f"{target.name[:40]}.{token}.tmp")
    text: dict[str, Any] = {} if "b" in mode else {"encoding": "utf-8", "newline": ""}
    try:
        if target.exists() and not target.is_file():  # a folder or a device
            raise OSError(errno.EISDIR, "Not a file that can be replaced", str(path))
        try:
            with temporary.open(mode.replace("w", "x"), **text) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        if error.errno is None or error.filename not in (None, str(temporary), str(target)):
            raise  # of another file
        raise OSError(error.errno, error.strerror, str(path)) from None


def sweep(folder: Path) -> None:
    """Remove what writers left that were killed; for who knows that nobody writes there now."""
    for leftover in folder.glob(_TEMPORARY):
        leftover.unlink(missing_ok=True)


# --- one writer -----------------------------------------------------------------------------------


@contextmanager
def locked(path: Path, *, wait: float = 0.0) -> Iterator[None]:
    """Hold a lock that one process has at a time, and none that is dead.

    The system gives back what a process held, however that ended. On file systems without
    locks everybody gets it.

    Args:
        path: A file for the lock alone; it holds the process's number, and is removed after.
        wait: Seconds to wait for another process.

    Raises:
        InUseError: Another process has it.
        OSError: The file can't be made.
    """
    end = time.monotonic() + wait
    while (handle := _take(path)) is None:
        if time.monotonic() >= end:
            raise InUseError(path)
        time.sleep(0.02)
    try:
        yield
    finally:
        with suppress(OSError):  # Windows removes no open file
            path.unlink()
        os.close(handle)
        if sys.platform == "win32":
            with suppress(OSError):
                path.unlink()


def _take(path: Path) -> int | None:
    """An open file that holds the lock; None if another process does."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        _lock(handle)
        if not os.path.samestat(os.fstat(handle), os.stat(path)):
            raise FileNotFoundError  # the one before has just removed what was opened here
        os.ftruncate(handle, 0)
        os.write(handle, str(os.getpid()).encode())
    except (BlockingIOError, PermissionError, FileNotFoundError):
        os.close(handle)
        return None
    except BaseException:
        os.close(handle)
        raise
    return handle


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        os.lseek(handle, 1 << 30, os.SEEK_SET)  # a byte that nobody reads: the number is before it
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        os.lseek(handle, 0, os.SEEK_SET)

else:
    import fcntl

    def _lock(handle: int) -> None:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in _WITHOUT_LOCKS:
                raise
