"""A page of hands: ``python -m black_maria_agents.review hands.jsonl -o review.html``."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from black_maria_agents.border import border, check_outputs
from black_maria_agents.console import PlainConsole, progress_on
from black_maria_agents.files import replacing
from black_maria_agents.review.page import page_of
from black_maria_agents.review.reviewing import HANDS, WORLDS, review_file
from black_maria_agents.review.totals import dearest


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line; exits with 1 where nothing can be reviewed or written."""
    parser = argparse.ArgumentParser(
        "python -m black_maria_agents.review",
        description="Review recorded hands: what each decision gave away, as one web page.",
    )
    parser.add_argument("file", type=Path, help="a file of hands, one a line (docs/records.md)")
    parser.add_argument(
        "--agent", default="champion", metavar="NAME",
        help="who reviews: champion, a checkpoint (….pt), or search:policy=…; "
        "for agents without a policy the champion does",
    )  # fmt: skip
    parser.add_argument(
        "-o", "--out", type=Path, default=Path("review.html"), metavar="FILE",
        help="the page (….html); default: review.html",
    )  # fmt: skip
    parser.add_argument(
        "--hands", type=int, default=HANDS, metavar="N", help=f"the first N hands; default: {HANDS}"
    )
    parser.add_argument(
        "--worlds", type=int, default=WORLDS, metavar="N",
        help=f"worlds in which each card is tried; twice as many price the best; default: {WORLDS}",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="of the worlds; default: 0")
    chosen = parser.parse_args(arguments)
    with border("review"):
        check_outputs({chosen.out: ".html"})
        console = PlainConsole()
        with progress_on(console, "reviewing") as progress:
            found = review_file(
                chosen.file, chosen.agent,
                worlds=chosen.worlds, seed=chosen.seed, most=chosen.hands, progress=progress,
            )  # fmt: skip
        with replacing(chosen.out, "w") as file:
            file.write(page_of(found, chosen.file.name))
        for damage in found.damages:
            print(f"{chosen.file}, line {damage.line}: {damage.reason}", file=sys.stderr)
        console.print(
            f"{chosen.out}: {len(found.hands)} hands, {len(found.decisions)} decisions, "
            f"{len(dearest(found.decisions, len(found.decisions)))} of them dear"
        )
        console.check()


if __name__ == "__main__":
    main()
