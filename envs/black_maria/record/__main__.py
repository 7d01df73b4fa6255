"""Recorded hands on the terminal: ``python -m black_maria.record show hands.jsonl --hand 3``."""

import argparse
import os
import sys
from collections.abc import Sequence

from black_maria.record.files import hand_of, lines
from black_maria.record.words import text


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line; exits with 1 and says why where a hand can't be shown."""
    parser = argparse.ArgumentParser("python -m black_maria.record", description="Recorded hands.")
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("show", help="print hands trick by trick")
    command.add_argument("file", help="a file of hands, one a line (docs/records.md)")
    command.add_argument(
        "--hand", type=int, metavar="N", help="the hand on line N, counting from 1; default: all"
    )
    chosen = parser.parse_args(arguments)
    try:
        failures = _show_file(chosen.file, chosen.hand)
    except BrokenPipeError:  # the reader has seen enough, as head does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        failures = []
    except OSError as error:
        failures = [f"{chosen.file}: {error.strerror}"]
    if failures:
        sys.exit("\n".join(failures))


def _show_file(path: str, wanted: int | None) -> list[str]:
    """Print a file's hands, or one; return what couldn't be shown."""
    failures, last, gap = [], 0, ""
    with open(path, "rb") as file:
        for last, line in lines(file):
            if wanted not in (None, last):
                continue
            found = hand_of(line)
            if isinstance(found, str):
                failures.append(f"{path}, line {last}: {found}")
            else:
                print(f"{gap}line {last}: {text(found)}")
                gap = "\n"
            if wanted is not None:
                return failures
    if wanted is not None:
        failures.append(f"{path} has no line {wanted}: its last hand is on line {last}")
    return failures


if __name__ == "__main__":
    main()
