"""Archives (zip files) that carry a checksum: what PyTorch and NumPy write, and can still read.

The archive's comment, which ends it, is the SHA-256 of every byte before. Nothing of a file is
believed before it has been verified. Older files lack that comment: there the archive's own sums
are verified, which cover its entries one by one.
"""

import hashlib
import io
import math
import os
import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

_MARK: Final = b"sha256 "
_DIGITS: Final = 64
_SEAL: Final = len(_MARK) + _DIGITS
_END: Final = 22
"""Bytes of the record that ends a zip file without a comment; the last two are its length."""
_BLOCK: Final = 1 << 20


class UnreadableError(ValueError):
    """A file that can't be believed; the message is the reason: ``"it is empty"``."""


@dataclass(frozen=True)
class Archive:
    """An open archive whose content has been verified.

    Attributes:
        file: At its start; for PyTorch, which verifies nothing.
        entries: What is in it; none is compressed, together they are no larger than the file.
        sealed: Whether it carries the checksum of all its bytes.
        digest: The SHA-256 of the whole file, in hexadecimal digits.
    """

    file: BinaryIO
    entries: zipfile.ZipFile
    sealed: bool
    digest: str

    @property
    def names(self) -> list[str]:
        """The entries' names."""
        return self.entries.namelist()


def seal(archive: bytes) -> bytes:
    """An archive without a comment, with its checksum as its comment."""
    marked = archive[:-2] + _SEAL.to_bytes(2, "little") + _MARK
    return marked + hashlib.sha256(marked).hexdigest().encode()


@contextmanager
def opened(path: str | Path, *, what: str) -> Iterator[Archive]:
    """An archive to read from.

    Args:
        path: The file.
        what: What it should be, for messages: ``"a PyTorch file"``.

    Raises:
        FileNotFoundError: There is nothing of that name.
        UnreadableError: It is something else or damaged, or unpacks to more than it is.
    """
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            raise UnreadableError("it is a folder")
        if not stat.S_ISREG(mode):  # a pipe would be waited for
            raise UnreadableError("it isn't a file")
        file = open(path, "rb")  # noqa: SIM115
    except FileNotFoundError:
        if os.path.islink(path):
            raise UnreadableError("it is a link to nothing") from None
        raise
    except OSError as error:
        raise UnreadableError(f"it can't be opened ({error.strerror})") from None
    with file:
        sealed, digest = _verify_seal(file, what)
        entries = _entries(file, what)
        with _again(file, entries) if not sealed else file as verified:
            verified.seek(0)
            yield Archive(verified, entries, sealed, digest)


def _verify_seal(file: BinaryIO, what: str) -> tuple[bool, str]:
    """Whether the file is sealed, and its digest."""
    size = file.seek(0, os.SEEK_END)
    if not size:
        raise UnreadableError("it is empty")
    start = file.seek(max(size - _SEAL, 0))
    tail = file.read()
    sealed = tail.startswith(_MARK)
    if not sealed:
        start = file.seek(max(size - _END, 0))
        tail = file.read()
        if not (tail.startswith(b"PK\5\6") and tail.endswith(b"\0\0") and len(tail) == _END):
            file.seek(0)
            if file.read(4) == b"PK\3\4":
                raise UnreadableError("it is damaged, or not all of it is there")
            raise UnreadableError(f"it isn't {what}")
    file.seek(0)
    digest = hashlib.sha256()
    left = start + sealed * len(_MARK)
    while left:
        block = file.read(min(left, _BLOCK))
        if not block:
            raise UnreadableError("it has become shorter while it was read")
        digest.update(block)
        left -= len(block)
    rest = tail[sealed * len(_MARK) :]
    if sealed and digest.hexdigest().encode() != rest:
        raise UnreadableError("it is damaged: its content doesn't match its checksum")
    digest.update(rest)
    return sealed, digest.hexdigest()


def _entries(file: BinaryIO, what: str) -> zipfile.ZipFile:
    """The archive, if it unpacks to no more than it is."""
    size = file.seek(0, os.SEEK_END)
    try:
        entries = zipfile.ZipFile(file)
        listed = entries.infolist()
    except Exception:  # of a damaged file zipfile raises whatever comes up
        raise UnreadableError("it is damaged") from None
    total = sum(entry.file_size for entry in listed)
    if total > size or any(entry.compress_type != zipfile.ZIP_STORED for entry in listed):
        raise UnreadableError(f"it isn't {what} as we write it: it unpacks to {total:,} bytes")
    if len({entry.filename for entry in listed}) < len(listed):
        raise UnreadableError("it is damaged: an entry is there twice")
    return entries


def _again(file: BinaryIO, entries: zipfile.ZipFile) -> BinaryIO:
    """An archive of the entries whose own sums are right, and of nothing else.

    No sum covers the frame that holds them, and another reader may take a damaged one otherwise:
    it gets a new one.
    """
    file.seek(-_END, os.SEEK_END)
    promised = int.from_bytes(file.read(_END)[10:12], "little")
    again = io.BytesIO()
    try:
        with zipfile.ZipFile(again, "w") as copy:
            for entry in entries.infolist():
                copy.writestr(entry.filename, entries.read(entry))
    except Exception:
        raise UnreadableError("it is damaged: its content doesn't match its checksums") from None
    if len(entries.infolist()) != promised:  # a wrong length in their list swallows some
        raise UnreadableError("it is damaged: some of it is missing")
    return again


def read_arrays(archive: Archive) -> dict[str, NDArray[Any]]:
    """The arrays of a NumPy file (``….npz``), by name; none holds objects.

    Raises:
        UnreadableError: An entry isn't an array, or not of the size that it claims.
    """
    arrays = {}
    for name in archive.names:
        key = name.removesuffix(".npy")
        try:
            arrays[key] = _array(archive.entries, name)
        except Exception:  # NumPy's readers of headers raise whatever comes up
            raise UnreadableError(f"its entry {key!r} isn't an array") from None
    return arrays


def _array(entries: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """An array, made only once the bytes for its shape have been found."""
    with entries.open(name) as file:
        version = np.lib.format.read_magic(file)
        read = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, by_column, dtype = read(file)
        content = file.read()
    if dtype.hasobject or len(content) != math.prod(shape) * dtype.itemsize:
        raise ValueError
    array = np.frombuffer(content, dtype, math.prod(shape))
    return array.reshape(shape, order="F" if by_column else "C").copy()
