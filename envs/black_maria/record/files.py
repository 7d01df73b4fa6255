"""Files of recorded hands, one a line: what is wrong with a line loses that line alone."""

import os
from collections.abc import Iterable, Iterator
from typing import BinaryIO, Final, NamedTuple, TextIO

from black_maria.record.hand import Hand

MAX_LINE: Final = 1 << 20
"""Bytes of the longest line that is read; a hand has a few thousand at most."""

FilePath = str | os.PathLike[str]


class Damage(NamedTuple):
    """A line that holds no hand."""

    line: int
    """Its number, counting from 1."""
    reason: str


class Records(NamedTuple):
    """What a file holds."""

    hands: list[Hand]
    damages: list[Damage]


def write(target: FilePath | TextIO, hands: Iterable[Hand]) -> None:
    """Append hands, one a line, to a file by path or to an open text file."""
    if not isinstance(target, str | os.PathLike):
        target.writelines(hand.to_json() + "\n" for hand in hands)
        return
    with open(target, "a+b") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":  # somebody was interrupted: spoil no more than that line
                file.write(b"\n")
        file.writelines(hand.to_json().encode() + b"\n" for hand in hands)


def read(path: FilePath) -> Records:
    """Read and check a file; what is wrong with a line loses that line alone.

    Raises:
        OSError: There is no such file, or it can't be read.
    """
    records = Records([], [])
    for number, found in scan(path):
        if isinstance(found, Hand):
            records.hands.append(found)
        else:
            records.damages.append(Damage(number, found))
    return records


def scan(path: FilePath) -> Iterator[tuple[int, Hand | str]]:
    """Read and check a file line by line, however long it is.

    Yields:
        The line's number, counting from 1, and its hand, or what is wrong with it in words.
        Blank lines are left out.

    Raises:
        OSError: There is no such file, or it can't be read.
    """
    with open(path, "rb") as file:
        for number, line in lines(file):
            yield number, hand_of(line)


def hand_of(line: bytes) -> Hand | str:
    """A line's hand, or what is wrong with it."""
    if len(line) > MAX_LINE:
        return f"longer than {MAX_LINE} bytes"
    try:
        return Hand.from_json(line.decode("utf-8-sig").strip())
    except UnicodeDecodeError as error:
        return f"not UTF-8 text: byte {line[error.start]:#04x} at place {error.start + 1}"
    except ValueError as error:
        return str(error) if line.endswith(b"\n") else f"the file ends within it: {error}"


def lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The lines that aren't blank, numbered from 1; of one that is too long, its beginning."""
    number = 0
    while line := file.readline(MAX_LINE + 1):
        number += 1
        rest = line
        while rest and not rest.endswith(b"\n"):
            rest = file.readline(MAX_LINE)
        if line.strip() or len(line) > MAX_LINE:
            yield number, line
