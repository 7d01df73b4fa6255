"""All benchmarks but the trainer's: docs/benchmarks.md, docs/benchmarks.json, README's rows.

make bench
"""

from pathlib import Path

import bench_aec
import bench_arena
import bench_first_card
import bench_network
import bench_rules
import bench_search
import bench_tables
import bench_vector
from harness import HEADER, Result, arguments, command_of, machine, run, tell, write

SCRIPTS = (
    bench_tables, bench_aec, bench_vector, bench_arena, bench_search, bench_network,
    bench_rules, bench_first_card,
)  # fmt: skip
ROOT = Path(__file__).parent.parent


def main() -> None:
    """Run them one after another; a quick run writes nothing."""
    options, at = arguments(__doc__), machine()
    tell(HEADER)
    results: list[Result] = []
    for script in SCRIPTS:
        assert script.__file__ is not None
        results += run(script.rows(), command_of(script.__file__), quick=options.quick)
    if not options.quick:
        write(results, at, ROOT)


if __name__ == "__main__":
    main()
