"""What a search and a scan take beneath the tools, as a knowledge base grows, with the embedded adapter.

    .venv/bin/python -m scripts.bench.engine [--blocks 1000,10000,100000] [--full] [--queries 200] [--folder DIR] [--json]
For each size a snapshot of made-up documents is stored and sealed by the product's own code (`shelf.py`), then read in a process of its
own: opened for the first time, searched through the tool (with an embedder that costs nothing), scanned through the tool. Times are
wall-clock, CPU is what that process took for each call. `--folder` keeps the snapshots for the next time.
"""

import argparse
import asyncio
import gc
import json
import math
import random
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import psutil
from msgspec import Struct, structs
from rich.console import Console
from rich.table import Table

from api.retrieval.library import Library, Pinned
from api.retrieval.snapshots import Pace
from api.tools.registry import Toolbox
from scripts.bench.library import Library as Words
from scripts.bench.shelf import SEED, Topics, publish_shelf
from shared.access import OWNER, Access
from shared.catalog.reading import CatalogReader
from shared.layout import Layout
from shared.text.fold import fold
from shared.vectors.edge import EdgeVectors

SIZES = (1_000, 10_000, 100_000)
FULL = 1_000_000
_SCOPES = (1, 10, 1_000)  # documents
_SCANS = 7  # of each term
_STAFF = Access(labels=frozenset({"staff"}))


class Row(Struct, frozen=True, kw_only=True):
    """One kind of call."""

    blocks: int  # in the snapshot
    what: str
    calls: int
    results: float  # blocks returned, mean; 0 for what is refused as too large
    p50_ms: float
    p95_ms: float
    p99_ms: float
    cpu_ms: float  # a call, mean


class Opened(Struct, frozen=True, kw_only=True):
    """A snapshot pinned for the first time in a new process."""

    blocks: int
    open_s: float
    cpu_s: float
    before_mb: int  # resident
    opened_mb: int
    after_mb: int  # after all calls
    own_mb: int  # of these, what isn't a file's page that the kernel can take back


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=lambda text: tuple(int(size) for size in text.split(",")), default=SIZES)
    parser.add_argument("--full", action="store_true", help=f"also {FULL} blocks: a quarter of an hour, 7 GB of disk")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--folder", type=Path, help="where snapshots are kept, and found again")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    opened: list[Opened] = []
    rows: list[Row] = []
    for blocks in (*asked.blocks, FULL) if asked.full else asked.blocks:
        with tempfile.TemporaryDirectory(prefix="citebound-bench-") as temporary:
            layout = Layout((asked.folder or Path(temporary)) / f"{blocks}-blocks")
            if not layout.catalog.exists():
                publish_shelf(layout, blocks)
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
                one, some = alone.submit(measure, layout, blocks, asked.queries).result()
        opened.append(one)
        rows += some
    if asked.json:
        print(json.dumps({"opened": list(map(structs.asdict, opened)), "calls": list(map(structs.asdict, rows))}))
    else:
        show(opened, rows)


def measure(layout: Layout, blocks: int, queries: int) -> tuple[Opened, list[Row]]:
    return asyncio.run(_measure(layout, blocks, queries))


def show(opened: Iterable[Opened], rows: Iterable[Row]) -> None:
    console = Console(width=160)
    table = Table(*(name.replace("_", " ") for name in Opened.__struct_fields__))
    for one in opened:
        table.add_row(*(f"{value:.2f}" if isinstance(value, float) else f"{value}" for value in structs.astuple(one)))
    console.print(table)
    table = Table(*(name.replace("_", " ") for name in Row.__struct_fields__))
    for row in rows:
        table.add_row(*(f"{value:.1f}" if isinstance(value, float) else f"{value}" for value in structs.astuple(row)))
    console.print(table)


async def _measure(layout: Layout, blocks: int, queries: int) -> tuple[Opened, list[Row]]:
    before_mb = _resident_mb()
    library = Library(layout=layout, vectors=EdgeVectors(layout.collections), embedder=Topics())
    at, cpu = time.perf_counter(), time.process_time()
    async with await library.pin(None, OWNER):
        open_s, cpu_s, opened_mb = time.perf_counter() - at, time.process_time() - cpu, _resident_mb()
    await library.close()
    read_through = Pace(opening=math.inf)  # before anything is measured, not behind it
    library = Library(layout=layout, vectors=EdgeVectors(layout.collections), embedder=Topics(), pace=read_through)
    try:
        async with await library.pin(None, OWNER) as pinned:
            rows = await _search(pinned, blocks, queries)
            async with await library.pin(None, _STAFF) as limited:
                rows += await _search_as_staff(limited, blocks, queries)
            rows += await _scan(pinned, layout, blocks)
            return Opened(
                blocks=blocks,
                open_s=open_s,
                cpu_s=cpu_s,
                before_mb=before_mb,
                opened_mb=opened_mb,
                after_mb=_resident_mb(),
                own_mb=psutil.Process().memory_full_info().uss >> 20,
            ), rows
    finally:
        await library.close()


async def _search(pinned: Pinned, blocks: int, queries: int) -> list[Row]:
    toolbox = Toolbox(pinned)
    documents = await pinned.read(lambda catalog: [one.doc_id for one in catalog.documents(pinned.within())])
    source = random.Random(SEED)
    rows = [await _calls("search, everything", blocks, toolbox, [{"query": one} for one in _queries(queries)])]
    for size in _SCOPES:
        if size <= len(documents):
            arguments = [{"query": one, "doc_ids": source.sample(documents, size)} for one in _queries(queries)]
            rows.append(await _calls(f"search, {size} documents", blocks, toolbox, arguments))
    words = Words(Path(), seed=SEED)
    common = [{"query": word} for at in range(queries // 2) for word in (words.zh[at], words.en[at])]
    rows.append(await _calls("search, one common word", blocks, toolbox, common))
    return rows


async def _search_as_staff(pinned: Pinned, blocks: int, queries: int) -> list[Row]:
    arguments = [{"query": one} for one in _queries(queries)]
    return [await _calls("search, with labels", blocks, Toolbox(pinned), arguments)]


async def _scan(pinned: Pinned, layout: Layout, blocks: int) -> list[Row]:
    """Terms by how many blocks have them; the first half of a common word is in many words."""
    words = Words(Path(), seed=SEED)
    terms = {
        "rare, two Chinese characters": words.zh[-10],
        "common, two Chinese characters": words.zh[400],
        "frequent, two Chinese characters": words.zh[0],
        "four Chinese characters": words.zh[0] + words.zh[3],
        "one Chinese character": words.zh[5][0],
        "rare, English folded": words.en[-10].upper(),
        "common, English folded": words.en[400].upper(),
        "frequent, English folded": words.en[0].upper(),
        "two English words": f"{words.en[2]} {words.en[7]}",
        "two letters": words.en[0][:2],
        "absent": "不在其中的字",
    }
    rows: list[Row] = []
    catalog = CatalogReader(layout.catalog)
    for name, term in terms.items():
        found = _found(catalog, pinned, term)
        rows.append(await _timed(f"find {name}", blocks, [found] * _SCANS))
        rows.append(await _calls(f"scan {name}", blocks, Toolbox(pinned), [{"term": term}] * _SCANS, tool="scan_term"))
    catalog.close()
    return rows


def _found(catalog: CatalogReader, pinned: Pinned, term: str) -> Callable[[], Awaitable[int]]:
    """Candidates in their order, without reading a block."""

    async def find() -> int:
        ids = catalog.candidates(fold(term))
        assert ids is not None
        return len(catalog.placed(pinned.within(), ids))

    return find


async def _calls(
    what: str, blocks: int, toolbox: Toolbox, arguments: Sequence[object], *, tool: str = "search_blocks"
) -> Row:
    async def call(one: object) -> int:
        result = await toolbox.call(tool, one)
        if result.error_code not in (None, "too_large"):
            raise RuntimeError(f"{what}: {result.payload.decode()}")
        refused.add(result.error_code is not None)
        return len(result.seen)

    refused = set[bool]()
    await call(arguments[0])  # warms up
    row = await _timed(what, blocks, [lambda one=one: call(one) for one in arguments])
    return structs.replace(row, what=f"{what}, refused" if True in refused else what)


async def _timed(what: str, blocks: int, calls: Sequence[Callable[[], Awaitable[int]]]) -> Row:
    gc.collect()
    times: list[float] = []
    results: list[int] = []
    cpu = time.process_time()
    for call in calls:
        at = time.perf_counter()
        results.append(await call())
        times.append((time.perf_counter() - at) * 1000)
    cpu_ms = (time.process_time() - cpu) * 1000 / len(calls)
    p50, p95, p99 = np.percentile(times, [50, 95, 99])
    return Row(
        blocks=blocks,
        what=what,
        calls=len(calls),
        results=float(np.mean(results)),
        p50_ms=float(p50),
        p95_ms=float(p95),
        p99_ms=float(p99),
        cpu_ms=cpu_ms,
    )


def _queries(count: int) -> list[str]:
    """As people ask: 4 to 12 words, half of them in Chinese, common words the most often."""
    words, source = Words(Path(), seed=SEED), random.Random(SEED)
    return [
        words.paragraph(source, chinese=number % 2 == 0, length=source.uniform(0.07, 0.2) / (1 + number % 2))
        for number in range(count)
    ]


def _resident_mb() -> int:
    return psutil.Process().memory_info().rss >> 20


if __name__ == "__main__":
    main()
