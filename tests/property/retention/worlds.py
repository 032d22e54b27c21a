"""Random catalogs: any documents, snapshots, holds and imports, put there row by row; and what of each must stay."""

import hashlib
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec
import numpy as np
from hypothesis import strategies as st
from msgspec import Struct

from shared.blobs import Blobs
from shared.catalog.db import Database, open_database
from shared.catalog.documents import add_version, content_sha256, ensure_document
from shared.catalog.migrations import migrate
from shared.catalog.sources import ensure_source
from shared.embeddings.cache import EmbeddingCache
from shared.ids import SnapshotId
from shared.layout import Layout
from shared.types.documents import DocumentVersion
from shared.types.imports import ImportRequest, ImportState, SourceSpec, Upload
from shared.types.snapshots import SnapshotState
from shared.vectors.memory import MemoryVectors
from tests.factories import a_document, content_of
from worker.retention import DAY_S
from worker.stages.embed import Target, block_texts

NOW_MS = 1_790_000_000_000
DAY_MS = round(DAY_S * 1000)
OPEN: tuple[ImportState, ...] = ("queued", "running", "pausing", "paused", "cancelling")
TEXTS = ("安全帽。", "年假五天。", "Vent the pump.", "另一段。")
Version: TypeAlias = tuple[int, int]  # number of the document, version


class AVersion(Struct, frozen=True):
    texts: tuple[str, ...]
    old: bool  # made longer ago than finished work is kept


class ASnapshot(Struct, frozen=True):
    state: SnapshotState
    members: dict[int, int]  # document -> version
    holds: frozenset[Literal["pinned", "frozen", "in_use"]]


class AnImport(Struct, frozen=True):
    state: ImportState
    documents: frozenset[int]
    base: int | None  # number of the snapshot
    long_ago: bool
    uploads: bool


class World(Struct, frozen=True):
    documents: tuple[tuple[AVersion, ...], ...]
    snapshots: tuple[ASnapshot, ...]  # oldest first
    active: int | None
    imports: tuple[AnImport, ...]
    keep: int


@st.composite
def worlds(draw: st.DrawFn) -> World:
    version = st.builds(AVersion, st.lists(st.sampled_from(TEXTS), min_size=1, max_size=2).map(tuple), st.booleans())
    documents = tuple(draw(st.lists(st.lists(version, min_size=1, max_size=3).map(tuple), min_size=1, max_size=4)))
    number = st.integers(0, len(documents) - 1)
    versions = [(doc, v) for doc, made in enumerate(documents) for v in range(1, len(made) + 1)]
    snapshot = st.builds(
        ASnapshot,
        st.sampled_from(("ready", "ready", "ready_partial", "failed", "building")),
        st.lists(st.sampled_from(versions)).map(dict),
        st.sets(st.sampled_from(("pinned", "frozen", "in_use")), max_size=1).map(frozenset),
    )
    snapshots = tuple(draw(st.lists(snapshot, max_size=7)))
    published = [at for at, one in enumerate(snapshots) if one.state in ("ready", "ready_partial")]
    one_import = st.builds(
        AnImport,
        st.sampled_from(("queued", "running", "paused", "completed", "cancelled", "failed", "failed")),
        st.frozensets(number, min_size=1, max_size=2),
        st.sampled_from([None, *range(len(snapshots))]),
        st.booleans(),
        st.booleans(),
    )
    return World(
        documents=documents,
        snapshots=snapshots,
        active=draw(st.sampled_from(published)) if published else None,
        imports=tuple(draw(st.lists(one_import, max_size=2))),
        keep=draw(st.integers(1, 3)),
    )


def snapshot_name(number: int) -> SnapshotId:
    return SnapshotId(f"snap_{number}")


def original(doc: int, version: int) -> bytes:
    return f"original {doc} {version % 2}".encode()  # the first and the third version have the same bytes


def upload(number: int) -> bytes:
    return f"upload {number}".encode()


class Stored:
    """A world on the disk."""

    def __init__(self, world: World, folder: Path) -> None:
        self.world = world
        self.layout = Layout(root=folder)
        self.layout.create()
        self.db: Database = open_database(self.layout.catalog)
        migrate(self.db)
        self.blobs = Blobs(self.layout.originals)
        self.cache = EmbeddingCache(self.layout.embeddings)
        self.vectors = MemoryVectors()
        self.ids: dict[Version, tuple[str, int]] = {}
        self.keys: dict[Version, set[str]] = {}
        self._documents()
        self._snapshots()
        self._imports()

    def close(self) -> None:
        self.cache.close()
        self.db.conn.close()

    def age(self, seconds: float) -> None:
        past = time.time() - seconds
        for path in self.layout.originals.rglob("*"):
            if path.is_file():
                os.utime(path, (past, past))

    def versions(self) -> set[tuple[str, int]]:
        return set(self.db.conn.execute("select doc_id, version from document_versions").fetchall())

    def _documents(self) -> None:
        source = ensure_source(self.db, SourceSpec(), kind="folder", root="/资料", label="资料", now_ms=0)
        for doc, made in enumerate(self.world.documents):
            doc_id = ensure_document(self.db, source.source_id, f"{doc}.md", now_ms=0)
            for version, one in enumerate(made, start=1):
                content = content_of(a_document("标题", *one.texts), doc_id, version)
                sha256 = self.blobs.put(original(doc, version))
                row = DocumentVersion(
                    doc_id=doc_id,
                    version=version,
                    title=content.title,
                    lang="zh",
                    media_type="text/plain",
                    size_bytes=1,
                    original_sha256=sha256,
                    lineage="l",
                    artifact_sha256=content_sha256(content),
                    pages=None,
                    sections=len(content.sections),
                    blocks=len(content.blocks),
                    tokens=1,
                    created_at_ms=0 if one.old else NOW_MS - DAY_MS,
                )
                add_version(self.db, row, content)
                checkpoint = self.blobs.put(b"checkpoint of " + original(doc, version))
                self._insert("parsed", original_sha256=sha256, name="a", lineage="p", artifact_sha256=checkpoint)
                self.ids[doc, version] = (doc_id, version)
                texts = block_texts(self.db, Target(doc_id=doc_id, version=version, title=content.title))
                self.keys[doc, version] = {text.sha256 for text in texts}
                self.cache.put("e", {text.sha256: np.zeros(2, np.float32) for text in texts})

    def _snapshots(self) -> None:
        for number, one in enumerate(self.world.snapshots):
            name = snapshot_name(number)
            self._insert(
                "snapshots",
                snapshot_id=name,
                state=one.state,
                import_id="imp",
                created_at_ms=number,
                published_at_ms=number if one.state in ("ready", "ready_partial") else None,
                embedding_version="e",
                dimensions=2,
                keyword_version="k",
                pinned="pinned" in one.holds,
                frozen="frozen" in one.holds,
            )
            if "in_use" in one.holds:
                self._insert("snapshot_leases", snapshot_id=name, holder="api")
            for doc, version in one.members.items():
                empty = dict.fromkeys(("title", "source_id", "source_label", "key", "lang", "trust", "media_type"), "")
                lists = dict.fromkeys(("aliases", "access", "tags"), "[]")
                counts = dict.fromkeys(("updated_at_ms", "sections", "blocks", "tokens"), 0)
                doc_id, _ = self.ids[doc, version]
                self._insert(
                    "snapshot_documents",
                    snapshot_id=name,
                    doc_id=doc_id,
                    version=version,
                    artifact_sha256="",
                    **empty,
                    **lists,
                    **counts,
                )
            self.vectors.build(name, dimensions=2).seal()
        if self.world.active is not None:
            self._insert("active_snapshot", id=1, snapshot_id=snapshot_name(self.world.active), generation=1)

    def _imports(self) -> None:
        (source_id,) = self.db.conn.execute("select source_id from sources").fetchone()
        for number, one in enumerate(self.world.imports):
            sha256 = self.blobs.put(upload(number))
            uploads = (Upload(name="x", sha256=sha256, size_bytes=1),) if one.uploads else ()
            ended = one.state in ("completed", "cancelled", "failed")
            self._insert(
                "imports",
                import_id=f"imp_{number}",
                state=one.state,
                mode="add",
                request=msgspec.json.encode(ImportRequest(uploads=uploads)).decode(),
                base_snapshot_id=None if one.base is None else snapshot_name(one.base),
                created_at_ms=0,
                updated_at_ms=0,
                finished_at_ms=(0 if one.long_ago else NOW_MS - DAY_MS) if ended else None,
            )
            for doc in one.documents:
                self._insert(
                    "import_items",
                    import_id=f"imp_{number}",
                    ordinal=doc,
                    source_id=source_id,
                    key=f"{doc}.md",
                    state="pending",
                    original_sha256=hashlib.sha256(original(doc, 9)).hexdigest(),
                    size_bytes=1,
                )
                self.blobs.put(original(doc, 9))

    def _insert(self, table: str, **values: object) -> None:
        columns = ", ".join(values)
        self.db.conn.execute(
            f"insert or ignore into {table} ({columns}) values ({', '.join('?' * len(values))})", list(values.values())
        )


class Reachable:
    """By brute force: what of a world must stay, and nothing else."""

    def __init__(self, world: World) -> None:
        is_open = [one.state in OPEN or (one.state == "failed" and not one.long_ago) for one in world.imports]
        bases = {one.base for one in world.imports if one.state in OPEN}
        published = [n for n, one in enumerate(world.snapshots) if one.state in ("ready", "ready_partial")]
        self.snapshots = {
            n
            for n, one in enumerate(world.snapshots)
            if n in published[-world.keep :]
            or one.state == "building"
            or (one.state == "failed" and not [later for later in published if later > n])
            or one.holds
            or n == world.active
            or n in bases
        }
        every = {(doc, v) for doc, made in enumerate(world.documents) for v in range(1, len(made) + 1)}
        imported = {doc for one, opened in zip(world.imports, is_open, strict=True) if opened for doc in one.documents}
        held = {member for n in self.snapshots for member in world.snapshots[n].members.items()}
        once = {member for one in world.snapshots for member in one.members.items()}
        self.versions = {
            (doc, v)
            for doc, v in every
            if (doc, v) in held or doc in imported or ((doc, v) not in once and not world.documents[doc][v - 1].old)
        }
        originals = {original(doc, v) for doc, v in self.versions} | {original(doc, 9) for doc in imported}
        checkpoints = {b"checkpoint of " + content for content in originals & {original(doc, v) for doc, v in every}}
        uploads = {upload(n) for n, opened in enumerate(is_open) if opened and world.imports[n].uploads}
        self.blobs = _hashes(originals | checkpoints | uploads)


def _hashes(contents: Iterable[bytes]) -> set[str]:
    return {hashlib.sha256(content).hexdigest() for content in contents}
