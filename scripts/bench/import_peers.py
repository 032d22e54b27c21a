"""How fast Citebound imports beside other stacks' pipelines, with the same embedder: a provider double that costs them nothing.

    .venv/bin/python -m scripts.bench.import_peers [--blocks 1020,10200] [--peers llama_index,haystack | none] [--cache FOLDER] [--json]
Made-up documents, half of them Chinese. The stacks cut differently, so rates are by characters; compare processor time, which
other programs on the machine don't change. The last row is the bundled embedder alone, on the blocks of two documents.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import platformdirs
import psutil
from msgspec import Struct, structs
from rich.console import Console
from rich.table import Table

from scripts.bench.doubles import provider_process
from scripts.bench.growth import Bench, settings_for
from scripts.bench.library import Library
from scripts.bench.peers.host import PEERS, STACKS, environment
from scripts.citebound.temporary import TemporaryInstance
from shared.embeddings.open import open_embedder
from shared.settings import EmbeddingSettings
from tests.doubles.provider import Plan

SIZES = (1_020, 10_200)
BLOCK_TOKENS = 256


class Measured(Struct, frozen=True, kw_only=True):
    """One stack's import of one library."""

    stack: str
    blocks: int
    characters: int  # of the documents
    seconds: float
    cpu_s: float
    memory_mb: int  # the largest process's peak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=lambda text: tuple(int(size) for size in text.split(",")), default=SIZES)
    parser.add_argument("--peers", type=lambda text: tuple(text.split(",")), default=tuple(PEERS))
    parser.add_argument("--cache", type=Path, default=Path(platformdirs.user_cache_dir("citebound")) / "bench")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    peers = () if asked.peers == ("none",) else asked.peers
    rows: list[Measured] = []
    for blocks in asked.blocks:
        with tempfile.TemporaryDirectory(prefix="citebound-bench-") as folder:
            rows += measure(Path(folder), blocks, peers=peers, cache=asked.cache)
    if asked.json:
        print(json.dumps([structs.asdict(row) for row in rows]))
    else:
        show(rows)


def measure(folder: Path, blocks: int, *, peers: Sequence[str], cache: Path) -> list[Measured]:
    """Each stack with a provider of its own, one after the other."""
    library = Library(folder / "docs")
    texts = [path.read_text(encoding="utf-8") for path in library.write(blocks)]
    characters = sum(map(len, texts))
    rows = [_ours(folder / "citebound", library, blocks, characters)]
    for name in peers:
        rows.append(_peer(folder / name, name, library, characters, python=environment(name, cache)))
    return [*rows, _embedder_alone(texts)]


def show(rows: Sequence[Measured]) -> None:
    table = Table("stack", "blocks", "s", "blocks/s", "CPU s", "CPU ms/block", "CPU ms/1,000 characters", "MB")
    for row in rows:
        table.add_row(
            row.stack,
            f"{row.blocks}",
            f"{row.seconds:.1f}",
            f"{row.blocks / row.seconds:.0f}",
            f"{row.cpu_s:.1f}",
            f"{row.cpu_s * 1000 / row.blocks:.2f}",
            f"{row.cpu_s * 1e6 / row.characters:.2f}",
            f"{row.memory_mb}",
        )
    Console(width=150).print(table)


def _ours(folder: Path, library: Library, blocks: int, characters: int) -> Measured:
    folder.mkdir()
    with provider_process(Plan(quick_vectors=True)) as base_url:
        instance = TemporaryInstance(folder, roots=[library.folder], settings=settings_for(base_url))
        try:
            row = Bench(instance, instance.start()).run("first import", [library.folder], blocks=blocks)
        finally:
            instance.stop()
    return Measured(
        stack="Citebound",
        blocks=row.blocks,
        characters=characters,
        seconds=row.seconds,
        cpu_s=row.cpu_s,
        memory_mb=max(row.memory_mb.values()),
    )


def _peer(folder: Path, name: str, library: Library, characters: int, *, python: Path) -> Measured:
    """Raises: subprocess.CalledProcessError, the stack failed; it said why."""
    folder.mkdir()
    with provider_process(Plan(quick_vectors=True)) as base_url:
        request = {"documents": str(library.folder), "base_url": base_url, "block_tokens": BLOCK_TOKENS}
        (folder / "request.json").write_text(json.dumps(request), encoding="utf-8")
        command = [python, STACKS / f"import_{name}.py", folder]
        quiet = {**os.environ, "HAYSTACK_TELEMETRY_ENABLED": "False", "TQDM_DISABLE": "1"}
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=quiet)
    measured = json.loads((folder / "measured.json").read_text(encoding="utf-8"))
    return Measured(stack=name, characters=characters, **measured)


def _embedder_alone(texts: Sequence[str]) -> Measured:
    """The paragraphs of the first documents, of both languages: each makes one block."""
    some = [paragraph for text in texts[:2] for paragraph in text.split("\n\n") if not paragraph.startswith("#")]
    embedder = open_embedder(EmbeddingSettings(), threads=os.cpu_count() or 1)
    try:
        embedder.embed_passages(some[: embedder.max_batch])  # its model is loaded by then
        began, spent = time.monotonic(), time.process_time()
        for at in range(0, len(some), embedder.max_batch):
            embedder.embed_passages(some[at : at + embedder.max_batch])
        seconds, cpu_s = time.monotonic() - began, time.process_time() - spent
    finally:
        embedder.close()
    return Measured(
        stack="the bundled embedder alone",
        blocks=len(some),
        characters=sum(map(len, some)),
        seconds=seconds,
        cpu_s=cpu_s,
        memory_mb=psutil.Process().memory_info().rss // 2**20,
    )


if __name__ == "__main__":
    main()
