"""From the documents a model names to the part of the snapshot that is read, and why there may be nothing in it."""

from collections.abc import Iterable

from msgspec import UnsetType

from api.retrieval.scope import known_documents, scope_not_found
from api.tools.contract import Call, EmptyReason
from shared.catalog.reading import CatalogReader, Within
from shared.ids import DocId


def narrowed(catalog: CatalogReader, call: Call, doc_ids: Iterable[DocId] | UnsetType) -> Within:
    """Blocking. The run's own scope, or the documents named inside it.

    Raises: ScopeNotFound naming every one that is unknown, forbidden or outside the run's scope: the three look the same.
    """
    within = call.pinned.within(call.scope)
    if isinstance(doc_ids, UnsetType):
        return within
    found, missing = known_documents(catalog, within, doc_ids)
    if missing:
        raise scope_not_found("doc_ids", missing)
    return call.pinned.within(frozenset(found))


def is_all_of_it(call: Call, doc_ids: Iterable[DocId] | UnsetType) -> bool:
    """Whether a call reads a whole snapshot that has blocks, so that nothing of it need be looked up before."""
    everything = isinstance(doc_ids, UnsetType) and call.scope is None and call.pinned.access.labels is None
    return everything and call.pinned.snapshot.blocks > 0


def nothing_to_find(catalog: CatalogReader, call: Call, within: Within) -> EmptyReason | None:
    """Blocking. Why nothing can be found there, whatever is asked; None = there are blocks."""
    if catalog.has_blocks(within):
        return None
    return "scope_empty" if catalog.has_blocks(call.pinned.within()) else "collection_empty"
