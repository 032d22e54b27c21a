"""What a published snapshot is, apart from when it was made: two imports of the same files must give equal pictures."""

from itertools import zip_longest
from typing import cast

from msgspec import Struct
from msgspec.structs import replace
from sqlite_utils import Database

from shared.catalog.documents import version_blocks
from shared.catalog.snapshots import get_manifest, get_snapshot, snapshot_documents
from shared.ids import BlockId, SnapshotId
from shared.layout import Layout
from shared.settings import QdrantSettings
from shared.text.terms import query_terms
from shared.types.documents import Block
from shared.types.snapshots import FailedDocument, ManifestDocument, SnapshotDocument
from shared.vectors.open import open_vectors
from shared.vectors.port import Filter

QUERIES = ("机械密封 500 小时", "crane wind 18 metres", "P-1042", "安全阀")


class Picture(Struct, frozen=True, kw_only=True):
    state: str
    documents: tuple[SnapshotDocument, ...]  # without the time of their making
    failures: tuple[FailedDocument, ...]  # without the number of tries
    facts: tuple[ManifestDocument, ...]
    space: tuple[str, int, str, str, str]  # embedding version, dimensions, keywords, chunker, engine
    blocks: tuple[Block, ...]
    vectors: dict[BlockId, bytes]
    hits: tuple[
        tuple[BlockId, ...], ...
    ]  # by keywords, for each of QUERIES; scores differ in the last bit with the order of adding


def differing(one: Picture, other: Picture) -> dict[str, object]:
    """The parts that are not equal, and what is not."""
    return {
        name: _difference(getattr(one, name), getattr(other, name))
        for name in Picture.__struct_fields__
        if getattr(one, name) != getattr(other, name)
    }


def picture(db: Database, layout: Layout, snapshot_id: SnapshotId) -> Picture:
    """Opens the collection with the manifest's checksums. Raises: CollectionUnavailable."""
    snapshot, manifest = get_snapshot(db, snapshot_id), get_manifest(db, snapshot_id)
    documents = snapshot_documents(db, snapshot_id)
    blocks = [block for one in documents for block in version_blocks(db, one.doc_id, one.version)]
    collection = open_vectors(QdrantSettings(), layout.collections).open(snapshot_id, files=manifest.collection_files)
    try:
        stored = collection.dense_of([block.block_id for block in blocks])
        everything = Filter()
        found = [collection.sparse(query_terms(query), within=everything, limit=20) for query in QUERIES]
        assert collection.count() == len(blocks) == len(set(collection.block_ids()))
    finally:
        collection.close()
    return Picture(
        state=snapshot.state,
        documents=tuple(replace(one, updated_at_ms=0) for one in documents),
        failures=tuple(replace(one, attempts=0) for one in snapshot.failed_documents),
        facts=manifest.documents,
        space=(
            manifest.embedding_version,
            manifest.dimensions,
            manifest.keyword_version,
            manifest.chunker_version,
            manifest.index,
        ),
        blocks=tuple(blocks),
        vectors={block_id: vector.tobytes() for block_id, vector in stored.items()},
        hits=tuple(tuple(hit.block_id for hit in hits) for hits in found),
    )


def _difference(one: object, other: object) -> object:
    if isinstance(one, tuple) and isinstance(other, tuple):
        both = zip_longest(cast("tuple[object, ...]", one), cast("tuple[object, ...]", other))
        return [pair for pair in both if pair[0] != pair[1]]
    return cast("object", (one, other))
