"""Everything that a snapshot is made of, checked one thing after the other, and each told."""

import hashlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from api.retrieval.contents import Version, changed_documents
from api.retrieval.snapshots import published_snapshot
from api.retrieval.verify import check_collection, check_facts, checked_manifest
from shared.blobs import Blobs
from shared.catalog.reading import CatalogReader
from shared.catalog.scan_index import REMEDY
from shared.errors import CollectionUnavailable
from shared.ids import SnapshotId
from shared.text.terms import QUERIED
from shared.types.snapshots import CheckName, Snapshot, SnapshotCheck, SnapshotManifest, Verification
from shared.vectors.port import Vectors

_NAMED = 5  # of many things that are wrong


def examine(
    catalog: CatalogReader,
    snapshot_id: SnapshotId,
    *,
    vectors: Vectors,
    originals: Blobs | None,
    running: tuple[str, int] | None,
) -> tuple[Verification, list[Version]]:
    """Blocking; reads all of it. The second value: document versions whose rows were changed.

    originals: None = not looked at: they are large, and nothing is answered from them. running: embedding version and dimensions of
    this process; None = not looked at.
    Raises: NotFound, StorageError, UpstreamError (a vector server: nothing is known then).
    """
    snapshot = published_snapshot(catalog, snapshot_id)
    checks: list[SnapshotCheck] = []
    changed: list[Version] = []
    try:
        manifest = checked_manifest(snapshot, catalog.manifest_text(snapshot_id))
    except CollectionUnavailable as error:
        checks.append(_broken("manifest", error.message))
        names: tuple[CheckName, ...] = (
            "facts",
            "contents",
            "collection",
            "blocks",
            "scan_index",
            "originals",
            "search",
        )
        checks += [
            SnapshotCheck(name=name, state="skipped", detail="what it has to be is in the manifest") for name in names
        ]
    else:
        checks.append(_ok("manifest", f"is the one that was published: {snapshot.manifest_sha256}"))
        checks.append(_facts(catalog, snapshot, manifest))
        changed = changed_documents(catalog, manifest)
        checks.append(_contents(manifest, changed))
        checks += _collection(catalog, snapshot, manifest, vectors)
        checks.append(_scan_index(catalog))
        if originals is not None:
            checks.append(_originals(catalog, manifest, originals))
        if running is not None:
            checks.append(_search(snapshot, *running))
    if not catalog.is_published(snapshot_id):  # removed meanwhile: what was found means nothing
        published_snapshot(catalog, snapshot_id)
    sound = all(check.state != "broken" for check in checks)
    return Verification(snapshot_id=snapshot_id, sound=sound, checks=tuple(checks)), changed


def _facts(catalog: CatalogReader, snapshot: Snapshot, manifest: SnapshotManifest) -> SnapshotCheck:
    facts = catalog.facts(snapshot.snapshot_id)
    try:
        membership = catalog.membership_sha256(snapshot.snapshot_id)
        check_facts(snapshot, manifest, facts, membership_sha256=membership)
    except CollectionUnavailable as error:
        return _broken("facts", error.message)
    return _ok("facts", f"{len(facts)} documents, {manifest.blocks} blocks, labels and gaps as published")


def _contents(manifest: SnapshotManifest, changed: list[Version]) -> SnapshotCheck:
    if changed:
        names = ", ".join(f"{doc_id} version {version}" for doc_id, version in changed[:_NAMED])
        more = "" if len(changed) <= _NAMED else f" and {len(changed) - _NAMED} more"
        return _broken("contents", f"what is stored of {names}{more} is not what was imported")
    return _ok("contents", f"{len(manifest.documents)} documents read through, all as imported")


def _collection(
    catalog: CatalogReader, snapshot: Snapshot, manifest: SnapshotManifest, vectors: Vectors
) -> Iterator[SnapshotCheck]:
    try:
        collection = vectors.open(snapshot.snapshot_id, files=manifest.collection_files)
    except CollectionUnavailable as error:
        yield _broken("collection", error.message)
        yield SnapshotCheck(name="blocks", state="skipped", detail="the collection doesn't open")
        return
    with closing(collection):
        try:
            check_collection(snapshot, manifest, collection.count())
        except CollectionUnavailable as error:
            yield _broken("collection", error.message)
        else:
            yield _ok("collection", f"opens, {len(manifest.collection_files)} files as sealed")
        strange = catalog.block_ids(snapshot.snapshot_id).symmetric_difference(collection.block_ids())
    if strange:
        yield _broken("blocks", f"{len(strange)} blocks are only in the collection or only in the catalog")
    else:
        yield _ok("blocks", f"{manifest.blocks} blocks, the same in collection and catalog")


def _scan_index(catalog: CatalogReader) -> SnapshotCheck:
    """One for all snapshots. What it lacks, an exact scan does not find."""
    fault = catalog.scan_index_fault()
    if fault is not None:
        return _broken("scan_index", f"the index of the exact scan is damaged: {fault}; {REMEDY}")
    return _ok("scan_index", "the index of the exact scan has every block, and finds it")


def _originals(catalog: CatalogReader, manifest: SnapshotManifest, originals: Blobs) -> SnapshotCheck:
    """They are for reindexing and for looking up; nothing is answered from them."""
    wanted = catalog.originals(manifest.snapshot_id)
    wrong = sorted(sha256 for sha256 in wanted if _sha256(originals.path(sha256)) != sha256)
    if wrong:
        detail = f"{len(wrong)} originals are missing or changed: those documents can't be made anew from here"
        return SnapshotCheck(name="originals", state="note", detail=detail)
    return _ok("originals", f"{len(wanted)} originals as imported")


def _search(snapshot: Snapshot, embedding_version: str, dimensions: int) -> SnapshotCheck:
    there = (snapshot.embedding_version, snapshot.dimensions)
    here = (embedding_version, dimensions)
    if there != here or snapshot.keyword_version not in QUERIED:
        there, here = (*there, snapshot.keyword_version), (*here, *sorted(QUERIED))
        detail = f"was built with {there}, this process has {here}: search_blocks is refused, the other tools work"
        return SnapshotCheck(name="search", state="note", detail=detail)
    return _ok("search", f"can be searched with {embedding_version}")


def _sha256(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def _ok(name: CheckName, detail: str) -> SnapshotCheck:
    return SnapshotCheck(name=name, state="ok", detail=detail)


def _broken(name: CheckName, detail: str) -> SnapshotCheck:
    return SnapshotCheck(name=name, state="broken", detail=detail)
