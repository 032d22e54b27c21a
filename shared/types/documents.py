"""Sources, documents and their immutable versions, sections and blocks."""

from typing import Literal

from msgspec import Struct

from shared.ids import BlockId, DocId, SourceId

Trust = Literal["official", "internal", "third_party", "web", "user_upload"]
SourceKind = Literal["upload", "folder", "url"]
BlockFlag = Literal["table", "code", "injection_suspected", "hidden_text_removed"]

ROOT_PATH = "/"
PATH_SEPARATOR = " › "


class Source(Struct, frozen=True, kw_only=True):
    """Where documents come from, and what holds for all of them."""

    source_id: SourceId
    kind: SourceKind
    root: str  # absolute folder path, or the label of an upload source
    label: str
    aliases: tuple[str, ...] = ()
    trust: Trust = "user_upload"
    access: tuple[str, ...] = ()  # labels; none = every caller may read
    lang_hint: str | None = None
    tags: tuple[str, ...] = ()


class Section(Struct, frozen=True, kw_only=True):
    ordinal: int  # 0.. in document order
    parent: int | None  # ordinal of the enclosing section
    path: str  # unique in the version; titles joined by PATH_SEPARATOR, ROOT_PATH for text under no heading
    title: str
    depth: int  # 0 = root, 1 = top heading
    first_sentence: str
    own_blocks: int
    own_tokens: int
    subtree_blocks: int  # own and descendants'
    subtree_tokens: int


class Block(Struct, frozen=True, kw_only=True):
    """The unit that is searched, read and cited.

    A section's blocks, joined in order with nothing between, are that section's text exactly once.
    """

    block_id: BlockId
    doc_id: DocId
    version: int
    index: int  # 0.. in document order
    section_ordinal: int
    section_path: str
    text: str  # canonical_text[span_start:span_end]
    table_header: str = ""  # header rows of a table cut over several blocks, shown above `text`; never part of it
    page_first: int | None = None  # 1-based
    page_last: int | None = None
    span_start: int  # code points in the version's canonical text
    span_end: int
    tokens: int  # chat tokens (cl100k) of `text`
    sha256: str  # of `text`
    flags: tuple[BlockFlag, ...] = ()


class DocumentVersion(Struct, frozen=True, kw_only=True):
    doc_id: DocId
    version: int  # 1..
    title: str
    lang: str  # "zh", "en", "ja", ... or "und"
    media_type: str
    size_bytes: int
    original_sha256: str
    lineage: str  # parser and chunker versions that made it
    artifact_sha256: str  # over canonical text, sections and blocks
    pages: int | None
    sections: int
    blocks: int
    tokens: int
    created_at_ms: int


class DocumentContent(Struct, frozen=True, kw_only=True):
    """What the chunk stage makes of one original: everything a version holds but its number and time."""

    title: str
    lang: str
    media_type: str
    pages: int | None
    text: str  # canonical text; blocks tile it without gaps
    sections: tuple[Section, ...]
    blocks: tuple[Block, ...]
