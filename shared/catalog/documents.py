"""Documents, their immutable versions with sections and blocks, and the parse stage's checkpoints."""

import hashlib
from collections.abc import Collection, Iterator

import msgspec
from sqlite_utils import Database

from shared.catalog.block_rows import BLOCK, to_block
from shared.catalog.db import writing
from shared.catalog.rows import Row, one, rows, to_json
from shared.errors import Conflict
from shared.ids import DocId, SourceId, doc_id
from shared.text.fold import fold
from shared.types.documents import Block, DocumentContent, DocumentVersion, Section

_VERSION = ", ".join(DocumentVersion.__struct_fields__)
_SECTION = ", ".join(Section.__struct_fields__)
_OF_VERSION = (
    " from blocks b join sections s on s.doc_id = b.doc_id and s.version = b.version and s.ordinal = b.section_ordinal"
    " where b.doc_id = :doc and b.version = :version"
)
_IN_ORDER = " order by b.block_index"
_encoder = msgspec.json.Encoder(order="deterministic")


def ensure_document(db: Database, source_id: SourceId, key: str, *, now_ms: int) -> DocId:
    """The document of that key in that source; a new one gets an id of its own.

    Ids have 40 bits: where two documents meet, the later one takes the next salt.
    """
    known = _known_document(db, source_id, key)
    if known is not None:
        return known
    with writing(db, lasting=False) as connection:
        known = _known_document(db, source_id, key)
        if known is not None:
            return known
        salt = 0
        while one(db, "select 1 from documents where doc_id = :id", id=doc_id(source_id, key, salt=salt)) is not None:
            salt += 1
        made = doc_id(source_id, key, salt=salt)
        connection.execute(
            "insert into documents (doc_id, source_id, key, created_at_ms) values (:id, :source, :key, :now)",
            {"id": made, "source": source_id, "key": key, "now": now_ms},
        )
    return made


def _known_document(db: Database, source_id: SourceId, key: str) -> DocId | None:
    row = one(db, "select doc_id from documents where source_id = :source and key = :key", source=source_id, key=key)
    return None if row is None else DocId(row["doc_id"])


def find_version(db: Database, doc: DocId, *, original_sha256: str, lineage: str) -> DocumentVersion | None:
    """The newest version that was made of exactly these bytes in exactly this way, and that can be built on."""
    row = one(
        db,
        f"select {_VERSION} from document_versions where doc_id = :doc and original_sha256 = :sha and lineage = :lineage"
        " and state = 'sound' order by version desc limit 1",
        doc=doc,
        sha=original_sha256,
        lineage=lineage,
    )
    return None if row is None else msgspec.convert(row, DocumentVersion)


def next_version(db: Database, doc: DocId) -> int:
    """The number that `add_version` will take, unless somebody else is quicker."""
    row = one(db, "select last_version from documents where doc_id = :doc", doc=doc)
    assert row is not None
    return int(row["last_version"]) + 1


def add_version(db: Database, version: DocumentVersion, content: DocumentContent) -> None:
    """Store a version with all its sections and blocks, or nothing of it.

    Raises: Conflict when the number is taken: ask for the next one and chunk again, block ids hold the number.
    """
    block_rows = [_block_row(block) for block in content.blocks]  # folding takes a while: not while others wait
    with writing(db, lasting=False) as connection:
        taken = connection.execute(
            "update documents set last_version = :version where doc_id = :doc and last_version = :version - 1",
            {"doc": version.doc_id, "version": version.version},
        )
        if taken.rowcount != 1:
            raise Conflict("This version number is taken.", ids=[version.doc_id])
        connection.execute(_insert("document_versions", _VERSION), msgspec.structs.asdict(version))
        connection.executemany(
            _insert("sections", f"doc_id, version, {_SECTION}"),
            [
                msgspec.structs.asdict(section) | {"doc_id": version.doc_id, "version": version.version}
                for section in content.sections
            ],
        )
        if block_rows:
            connection.executemany(_insert("blocks", ", ".join(block_rows[0])), block_rows)


def get_version(db: Database, doc: DocId, version: int) -> DocumentVersion:
    """Of a version that is known to be there."""
    row = one(
        db,
        f"select {_VERSION} from document_versions where doc_id = :doc and version = :version",
        doc=doc,
        version=version,
    )
    assert row is not None
    return msgspec.convert(row, DocumentVersion)


def version_blocks(db: Database, doc: DocId, version: int, *, only: Collection[int] | None = None) -> list[Block]:
    """In document order. only: indices of the blocks that are wanted."""
    wanted = "" if only is None else " and b.block_index in (select value from json_each(:only))"
    sql = f"select {BLOCK}{_OF_VERSION}{wanted}{_IN_ORDER}"
    found = rows(db, sql, doc=doc, version=version, only=to_json(sorted(only or ())))
    return [to_block(tuple(row.values())) for row in found]


def content_sha256(content: DocumentContent) -> str:
    """Over canonical text, sections and blocks: equal hash, equal reading."""
    digest = hashlib.sha256()
    for part in _parts(content):
        digest.update(part)
        digest.update(b"\n")
    return digest.hexdigest()


def is_as_imported(db: Database, doc: DocId, version: int) -> bool:
    """Whether the rows of a version are still those that its artifact hash was taken of. Reads all of it: 30 ms per 1,000 blocks."""
    expected = rows(
        db,
        "select artifact_sha256, sections, blocks from document_versions where doc_id = :doc and version = :version",
        doc=doc,
        version=version,
    )
    sections = rows(
        db,
        f"select {_SECTION} from sections where doc_id = :doc and version = :version order by ordinal",
        doc=doc,
        version=version,
    )
    blocks = rows(db, f"select {BLOCK}, b.folded{_OF_VERSION}{_IN_ORDER}", doc=doc, version=version)
    if not expected or (len(sections), len(blocks)) != (expected[0]["sections"], expected[0]["blocks"]):
        return False
    try:
        if any(fold(row["text"]) != row["folded"] for row in blocks):
            return False
        content = DocumentContent(
            title="",
            lang="",
            media_type="",
            pages=None,
            text="".join(row["text"] for row in blocks),
            sections=tuple(msgspec.convert(row, Section) for row in sections),
            blocks=tuple(to_block(tuple(row.values())) for row in blocks),
        )
    except (msgspec.DecodeError, TypeError):  # not even of the right kind
        return False
    return content_sha256(content) == expected[0]["artifact_sha256"]


def mark_damaged(db: Database, doc: DocId, version: int) -> None:
    """Its rows are not what was imported: nothing is built on it from now on."""
    with writing(db) as connection:
        connection.execute(
            "update document_versions set state = 'damaged' where doc_id = ? and version = ? and state = 'sound'",
            [doc, version],
        )


def is_damaged(db: Database, doc: DocId, version: int) -> bool:
    """Whether somebody has found that out."""
    row = one(
        db, "select state from document_versions where doc_id = :doc and version = :version", doc=doc, version=version
    )
    return row is not None and row["state"] == "damaged"


def remember_parsed(db: Database, original_sha256: str, *, name: str, lineage: str, artifact_sha256: str) -> None:
    with writing(db, lasting=False) as connection:
        connection.execute(
            "insert or replace into parsed (original_sha256, name, lineage, artifact_sha256)"
            " values (:sha, :name, :lineage, :artifact)",
            {"sha": original_sha256, "name": name, "lineage": lineage, "artifact": artifact_sha256},
        )


def find_parsed(db: Database, original_sha256: str, *, name: str, lineage: str) -> str | None:
    """SHA-256 of the parse checkpoint in the originals store."""
    row = one(
        db,
        "select artifact_sha256 from parsed where original_sha256 = :sha and name = :name and lineage = :lineage",
        sha=original_sha256,
        name=name,
        lineage=lineage,
    )
    return None if row is None else str(row["artifact_sha256"])


def _parts(content: DocumentContent) -> Iterator[bytes]:
    yield content.text.encode()
    yield from (_encoder.encode(section) for section in content.sections)
    yield from (_encoder.encode(block) for block in content.blocks)


def _insert(table: str, columns: str) -> str:
    names = [name.strip() for name in columns.split(",")]
    return f"insert into {table} ({', '.join(names)}) values ({', '.join(f':{name}' for name in names)})"


def _block_row(block: Block) -> Row:
    row: Row = msgspec.structs.asdict(block)
    row["block_index"] = row.pop("index")
    row["folded"] = fold(block.text)
    row["flags"] = to_json(row["flags"])
    del row["section_path"]  # it is the section's
    return row
