"""How documents are read and cut, and the name of that way. Equal bytes and equal lineage give equal blocks."""

from collections.abc import Callable

from msgspec import Struct

from shared.ids import DocId
from shared.settings import WorkerSettings
from shared.text.context import CONTEXT_VERSION
from shared.types.documents import DocumentContent, Source
from worker.parsers import PARSER_VERSION, Parsed
from worker.stages.chunk import CHUNKER_VERSION, chunk


class Chunking(Struct, frozen=True, kw_only=True):
    parser_version: str
    chunker_version: str
    lineage: Callable[[Source], str]
    cut: Callable[[Parsed, DocId, int, Source], DocumentContent]  # pure: elements, document, version number, source


def chunking(settings: WorkerSettings) -> Chunking:
    """The lineage names all that changes a block or what it is found by: versions, sizes, the source's language."""
    sizes = f"{settings.block_tokens}-{settings.block_max_tokens}"
    way = f"{PARSER_VERSION}/{CHUNKER_VERSION}/{CONTEXT_VERSION}/{sizes}"

    def lineage(source: Source) -> str:
        return f"{way}/{source.lang_hint}" if source.lang_hint else way

    def cut(parsed: Parsed, doc: DocId, version: int, source: Source) -> DocumentContent:
        return chunk(
            parsed,
            doc_id=doc,
            version=version,
            target_tokens=settings.block_tokens,
            max_tokens=settings.block_max_tokens,
            lang_hint=source.lang_hint,
        )

    return Chunking(parser_version=PARSER_VERSION, chunker_version=CHUNKER_VERSION, lineage=lineage, cut=cut)
