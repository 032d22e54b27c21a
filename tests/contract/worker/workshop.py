"""A whole ingest side in one folder: real catalog, caches and originals; parser, embedder and engine are doubles."""

import threading
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace
from sqlite_utils import Database

from shared.blobs import Blobs
from shared.catalog.db import open_database
from shared.catalog.imports import create_import, get_import
from shared.catalog.leases import reconcile
from shared.catalog.migrations import migrate
from shared.catalog.snapshots import active_snapshot_id, get_snapshot, snapshot_documents
from shared.embeddings.cache import EmbeddingCache
from shared.embeddings.fake import FakeEmbedder
from shared.errors import DocumentError, StorageError
from shared.ids import BlockId, ImportId
from shared.layout import Layout
from shared.settings import WorkerSettings
from shared.types.imports import Import, ImportRequest
from shared.types.snapshots import Snapshot
from shared.vectors.memory import MemoryVectors
from shared.vectors.port import Base, Builder, Collection, Vectors
from worker.advance import Parts, advance
from worker.parsers import Element, Parsed
from worker.stages.index import BuildJob, BuildResult, build
from worker.stages.lineage import chunking

LEASE_MS = 15_000


class Killed(BaseException):
    """Stands for SIGKILL: nothing in the product may catch it."""


class LineParser:
    """A paragraph a line, a heading where one begins with #. `parsed` holds the names in order; "#!…" lines act up."""

    def __init__(self) -> None:
        self.parsed: list[str] = []

    def parse(self, path: Path, *, name: str) -> Parsed:
        self.parsed.append(name)
        text = path.read_text(encoding="utf-8")
        if text.startswith("#!broken"):
            raise DocumentError("corrupt", "文件已损坏")
        if text.startswith("#!kills"):
            raise Killed
        elements = tuple(
            Element(kind="heading", text=line, level=1, title=line.lstrip("# "))
            if line.startswith("#")
            else Element(kind="paragraph", text=line)
            for line in text.splitlines()
        )
        return Parsed(title=name, media_type="text/plain", elements=elements)


class LosingVectors:
    """An engine that loses the points in `lost` without a word."""

    def __init__(self, engine: Vectors, lost: set[BlockId]) -> None:
        self.index = engine.index
        self.open, self.names, self.unfinished, self.drop = engine.open, engine.names, engine.unfinished, engine.drop
        self._build = engine.build
        self._lost = lost

    def build(self, name: str, *, dimensions: int, base: Base | None = None) -> Builder:
        return _LosingBuilder(self._build(name, dimensions=dimensions, base=base), self._lost)


class DisturbedVectors:
    """An engine during whose first steps of a build something else happens."""

    def __init__(self, engine: Vectors, act: Callable[[], None]) -> None:
        self.index = engine.index
        self.open, self.names, self.unfinished, self.drop = engine.open, engine.names, engine.unfinished, engine.drop
        self._build = engine.build
        self._act = act

    def build(self, name: str, *, dimensions: int, base: Base | None = None) -> Builder:
        self._act()
        return self._build(name, dimensions=dimensions, base=base)


class HeldVectors:
    """An engine that can't take anything away for the time being."""

    def __init__(self, engine: Vectors) -> None:
        self.index = engine.index
        self.open, self.names, self.unfinished, self.build = engine.open, engine.names, engine.unfinished, engine.build

    def drop(self, name: str) -> None:
        raise StorageError(f"{name}: 设备忙")


class _LosingBuilder:
    def __init__(self, builder: Builder, lost: set[BlockId]) -> None:
        self.based_on, self.add, self.remove = builder.based_on, builder.add, builder.remove
        self.block_ids, self.abandon = builder.block_ids, builder.abandon
        self._seal_open = builder.seal_open
        self._lost = lost

    def seal(self) -> dict[str, str]:
        return self.seal_open()[0]

    def seal_open(self) -> tuple[dict[str, str], Collection]:
        self.remove(sorted(self._lost))
        return self._seal_open()


class Workshop:
    """`now` is turned by the test. `before_build` is called before each build, e.g. to publish something else meanwhile."""

    def __init__(self, root: Path, *, embedder: FakeEmbedder | None = None) -> None:
        layout = Layout(root=root / "data")
        layout.create()
        self.now = 1_700_000_000_000
        self.files = root / "资料"
        self.files.mkdir()
        self.parser = LineParser()
        self.embedder = embedder or FakeEmbedder(max_batch=2)
        self.vectors: Vectors = MemoryVectors()
        self.cache = EmbeddingCache(layout.embeddings)
        self.stopping = threading.Event()
        self.before_build: Callable[[], None] = lambda: None
        self.db = open_database(layout.catalog)
        migrate(self.db)
        self.parts = Parts(
            layout=layout,
            blobs=Blobs(layout.originals),
            parser=self.parser,
            chunking=chunking(WorkerSettings(block_tokens=20, block_max_tokens=40)),
            embedder=self.embedder,
            cache=self.cache,
            vectors=self.vectors,
            build=self._build,
            max_document_bytes=10_000,
            lease_ms=LEASE_MS,
            now_ms=lambda: self.now,
        )

    def close(self) -> None:
        self.cache.close()
        self.db.conn.close()

    def write(self, **texts: str) -> None:
        """`a="…"` becomes the file a.md; "__" in a name is a folder."""
        for name, text in texts.items():
            path = self.files / f"{name.replace('__', '/')}.md"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def ask(self, request: ImportRequest | None = None) -> ImportId:
        self.now += 1  # imports and snapshots sort by time
        return create_import(self.db, request or ImportRequest(paths=(str(self.files),)), now_ms=self.now)

    def work(self, import_id: ImportId, **parts: object) -> Import:
        """One call of a worker."""
        advance(import_id, replace(self.parts, **parts), worker=f"w{self.now}", stopping=self.stopping)
        return self.look(import_id)

    def run(self, request: ImportRequest | None = None) -> Import:
        return self.work(self.ask(request))

    def now_done(self, import_id: ImportId) -> None:
        """Another worker takes this import over and finishes it."""
        advance(import_id, self.parts, worker="another", stopping=self.stopping)

    def now_also(self, request: ImportRequest) -> None:
        """Another worker does another import at the same time."""
        self.now_done(self.ask(request))

    def fresh_cache(self) -> EmbeddingCache:
        self.cache.close()
        return EmbeddingCache(self.parts.layout.root / "embeddings-2.db")

    def killed(self, import_id: ImportId) -> None:
        """A worker that dies at work. Its lease runs out."""
        try:
            self.work(import_id)
        except Killed:
            self.now += LEASE_MS + 1
            return
        raise AssertionError("nothing killed the worker")

    def look(self, import_id: ImportId) -> Import:
        return get_import(self.db, import_id, now_ms=self.now)

    def wait_for_reconciler(self, *, ms: int) -> list[ImportId]:
        self.now += ms
        return reconcile(self.db, now_ms=self.now, quiet_ms=0, lease_ms=LEASE_MS)

    def active(self) -> Snapshot:
        active = active_snapshot_id(self.db)
        assert active is not None
        return get_snapshot(self.db, active)

    def members(self) -> dict[str, int]:
        """Key and version of every document of the active snapshot."""
        return {document.key: document.version for document in snapshot_documents(self.db, self.active().snapshot_id)}

    def indexed(self) -> set[str]:
        """Block ids in the active snapshot's collection."""
        collection = self.vectors.open(self.active().snapshot_id, files={})
        return set(collection.block_ids())

    def bought(self) -> list[str]:
        return self.embedder.passages

    def _build(self, job: BuildJob, check: Callable[[], None]) -> BuildResult:
        hook, self.before_build = self.before_build, lambda: None
        hook()
        check()
        db: Database = open_database(self.parts.layout.catalog)
        try:
            return build(job, db=db, cache=self.cache, vectors=self.vectors)
        finally:
            db.conn.close()
