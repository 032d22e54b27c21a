"""How an import grows: made-up documents through a whole Citebound, with a provider double as a fast embedder over HTTP.

    .venv/bin/python -m scripts.bench.import [--blocks 10,100,1000,10000] [--full] [--json]
For each size, in a data folder of its own: the first import, then the folder again with nothing changed, with one document changed, and
that document changed again and imported by itself. Times are the import's own (accepted to published) and its worker's log; memory and
processor time are sampled.
"""

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from msgspec import structs
from rich.console import Console
from rich.table import Table

from scripts.bench.growth import STAGES, Row, measure

SIZES = (10, 100, 1_000, 10_000)
FULL = 100_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=lambda text: tuple(int(size) for size in text.split(",")), default=SIZES)
    parser.add_argument("--full", action="store_true", help=f"also {FULL} blocks: some minutes")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    rows: list[Row] = []
    for blocks in (*asked.blocks, FULL) if asked.full else asked.blocks:
        with tempfile.TemporaryDirectory(prefix="citebound-bench-") as folder:
            rows += measure(Path(folder), blocks)
    print(json.dumps([structs.asdict(row) for row in rows]) if asked.json else "", end="")
    if not asked.json:
        show(rows)


def show(rows: Sequence[Row]) -> None:
    table = Table(*("blocks", "import", "s", "blocks/s", *STAGES, "CPU s", "worker MB", "builder MB", "parser MB"))
    for row in rows:
        rate = "" if row.blocks_per_s is None else f"{row.blocks_per_s:.0f}"
        stages = (f"{row.stage_ms.get(stage, 0)}" for stage in STAGES)
        memory = (f"{row.memory_mb.get(role, 0)}" for role in ("worker", "builder", "parser"))
        table.add_row(f"{row.blocks}", row.what, f"{row.seconds:.2f}", rate, *stages, f"{row.cpu_s:.2f}", *memory)
    console = Console(width=200)
    console.print(table)
    console.print("stages in ms; inside index: " + "; ".join(f"{row.blocks} {row.what} {row.build_ms}" for row in rows))


if __name__ == "__main__":
    main()
