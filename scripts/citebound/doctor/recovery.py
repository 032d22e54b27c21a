"""Whether the active snapshot is sound; and when it is not, what helps, looked up and not guessed."""

from collections.abc import Iterator

from api.retrieval.examine import examine
from scripts.citebound.console import count, date
from scripts.citebound.doctor.check import Check
from shared.blobs import Blobs
from shared.catalog.db import open_database
from shared.catalog.reading import CatalogReader
from shared.catalog.scan_index import REMEDY
from shared.catalog.snapshots import list_snapshots
from shared.catalog.sources import list_sources
from shared.embeddings.open import open_embedder
from shared.errors import CollectionUnavailable
from shared.layout import Layout
from shared.settings import Settings
from shared.types.snapshots import Snapshot, SnapshotCheck, Verification
from shared.vectors.open import open_vectors
from shared.vectors.port import Vectors

_NAMED = 5  # folders


def collection(settings: Settings, layout: Layout) -> Iterator[Check]:
    """Read everything that the active snapshot is made of. Changes nothing. Raises: StorageError, UpstreamError."""
    catalog = CatalogReader(layout.catalog)
    try:
        active = catalog.active()
        if active is not None:
            doctor = _Doctor(settings, layout, catalog)
            yield doctor.look_at(catalog.snapshot(active))
    finally:
        catalog.close()


class _Doctor:
    def __init__(self, settings: Settings, layout: Layout, catalog: CatalogReader) -> None:
        embedder = open_embedder(settings.embedding, threads=1)
        self._running = (embedder.version, embedder.dimensions)
        embedder.close()
        self._vectors: Vectors = open_vectors(settings.qdrant, layout.collections)
        self._originals = Blobs(layout.originals)
        self._layout = layout
        self._catalog = catalog

    def look_at(self, active: Snapshot) -> Check:
        found = self._examined(active)
        wrong = _in_the_way(found)
        if not wrong:
            detail = f"{active.snapshot_id} opens, is what its manifest says and can be searched"
            return Check(name="collection", state="ok", detail=detail)
        detail = f"the active snapshot {active.snapshot_id} does not answer as it should: " + "; ".join(
            f"{check.name}: {check.detail}" for check in wrong
        )
        return Check(name="collection", state="broken", detail=detail, remedy="\n".join(self._remedies(active, found)))

    def _remedies(self, active: Snapshot, found: Verification) -> Iterator[str]:
        """In the order in which they should be tried: a reindex takes the documents of the snapshot that is active when it begins."""
        wrong = {check.name for check in _in_the_way(found)}
        if "scan_index" in wrong:  # of all snapshots
            yield REMEDY
            wrong.remove("scan_index")
        if not wrong:
            return
        if wrong == {"search"}:
            yield "configure the embedding that it was built with, or: ./scripts/run import --mode reindex"
        else:
            yield (
                f"./scripts/run import --mode reindex publishes a sound one of its {count(active.documents, 'document')},"
                " from the originals that are stored"
            )
            stored = self._examined(active, originals=self._originals)
            lost = next((check for check in stored.checks if check.name == "originals" and check.state != "ok"), None)
            if lost is not None:
                yield f"but {lost.detail}; import them again: {self._imports()}"
        yield from self._meanwhile([one for one in self._published() if one.snapshot_id != active.snapshot_id])

    def _meanwhile(self, others: list[Snapshot]) -> Iterator[str]:
        """The newest other one that answers; failing that, the newest that answers all but searches."""
        half: Snapshot | None = None
        for one in others:
            wrong = [check for check in _in_the_way(self._examined(one)) if check.name != "scan_index"]
            if not wrong:
                yield f"{_activate(one)}; it was checked just now"
                return
            if half is None and all(check.name == "search" for check in wrong):
                half = one
        if half is not None:
            yield f"{_activate(half)}; it is sound, but can only be searched with the embedding that it was built with"
        elif others:
            yield f"{count(len(others), 'other snapshot')} checked just now: none can answer meanwhile"

    def _examined(self, snapshot: Snapshot, *, originals: Blobs | None = None) -> Verification:
        try:
            found, _ = examine(
                self._catalog,
                snapshot.snapshot_id,
                vectors=self._vectors,
                originals=originals,
                running=self._running,
            )
        except CollectionUnavailable as error:  # it failed while it was built
            broken = SnapshotCheck(name="manifest", state="broken", detail=error.message)
            return Verification(snapshot_id=snapshot.snapshot_id, sound=False, checks=(broken,))
        return found

    def _published(self) -> list[Snapshot]:
        db = open_database(self._layout.catalog)
        try:
            return [one for one in list_snapshots(db) if one.state in ("ready", "ready_partial")]
        finally:
            db.close()

    def _imports(self) -> str:
        db = open_database(self._layout.catalog)
        try:
            roots = [source.root for source in list_sources(db) if source.kind == "folder"]
        finally:
            db.close()
        more = "" if len(roots) <= _NAMED else f" and {len(roots) - _NAMED} more folders"
        return f"./scripts/run import {' '.join(roots[:_NAMED])}{more}" if roots else "by uploading them"


def _activate(one: Snapshot) -> str:
    documents = f"the {count(one.documents, 'document')} of {date(one.created_at_ms)}"
    return f"./scripts/run activate {one.snapshot_id} answers meanwhile, with {documents}"


def _in_the_way(found: Verification) -> list[SnapshotCheck]:
    """What keeps a snapshot from answering, the wrong embedding for its vectors included."""
    return [
        check for check in found.checks if check.state == "broken" or (check.name, check.state) == ("search", "note")
    ]
