"""What is left of a block that is no longer here: the quotes that answers keep. spec/03 "Retention and rollback"."""

import asyncio

from api.retrieval.gone import Gone
from api.retrieval.library import Library
from shared.access import Access
from shared.errors import NotFound
from shared.ids import BlockId
from shared.telemetry.setup import Telemetry
from shared.telemetry.store import may_read
from shared.types.runs import Citation, RunRecord, StoredQuote

_LOOKED_AT = 50  # runs that cite it; the longest quote of them is told


async def stored_quote(library: Library, telemetry: Telemetry, block_id: str, access: Access) -> StoredQuote:
    """The longest quote of a block that is in no snapshot any more.

    The caller must be one who could have made the run that quotes it, and one who may read the document by the labels that are known
    last for it and as it is today. Raises: NotFound, the same for whatever of that fails.
    """
    runs = await asyncio.to_thread(telemetry.citing, block_id, access, limit=_LOOKED_AT)
    quotes = [
        (record, citation) for record in runs for citation in record.answer.citations if citation.block_id == block_id
    ]
    if quotes:
        record, citation = max(quotes, key=lambda found: len(found[1].quote))
        gone = await library.gone(citation, access)
        if gone is not None:
            return _told(record, citation, gone, names_run=may_read(record.access, record.asker, access))
    raise NotFound("There is no such block.", field="block_id", ids=[block_id])


def _told(record: RunRecord, citation: Citation, gone: Gone, *, names_run: bool) -> StoredQuote:
    return StoredQuote(
        block_id=BlockId(citation.block_id),
        doc_id=citation.doc_id,
        version=citation.version,
        snapshot_id=citation.snapshot_id,
        snapshot_removed_at_ms=gone.snapshot_removed_at_ms,
        title=citation.title,
        source_label=citation.source_label,
        section_path=citation.section_path,
        page_first=citation.page_first,
        page_last=citation.page_last,
        span_start=citation.span_start,
        span_end=citation.span_end,
        trust=citation.trust,
        quote=citation.quote,
        run_id=record.answer.run_id if names_run else None,
        cited_at_ms=record.answer.started_at_ms if names_run else None,
        active_version=gone.active_version,
    )
