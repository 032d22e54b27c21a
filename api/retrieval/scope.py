"""From what a request calls its scope to the documents it means."""

from collections.abc import Iterable

from shared.catalog.reading import CatalogReader, Within
from shared.errors import InvalidArgument, ScopeNotFound
from shared.ids import DocId
from shared.types.runs import Scope


def resolve(catalog: CatalogReader, within: Within, scope: Scope) -> frozenset[DocId] | None:
    """Blocking. The union of everything the scope names; None = no restriction.

    Raises: ScopeNotFound naming every document, source and tag that is not within; InvalidArgument for a list without entries.
    """
    if scope.doc_ids is None and scope.sources is None and scope.tags is None:
        return None
    for field, values in (("doc_ids", scope.doc_ids), ("sources", scope.sources), ("tags", scope.tags)):
        if values == ():
            raise InvalidArgument(f"scope.{field} is empty. Leave it out to search everything.", field=f"scope.{field}")
    found, missing = known_documents(catalog, within, scope.doc_ids or ())
    for source in scope.sources or ():
        members = [document.doc_id for document in catalog.documents(within, source=source)]
        found.update(members)
        missing += [] if members else [source]
    for tag in scope.tags or ():
        members = [document.doc_id for document in catalog.documents(within, tag=tag)]
        found.update(members)
        missing += [] if members else [tag]
    if missing:
        raise scope_not_found("scope", missing)
    return frozenset(found)


def known_documents(catalog: CatalogReader, within: Within, doc_ids: Iterable[DocId]) -> tuple[set[DocId], list[str]]:
    """Blocking. Which of these are within, and which are not (each once, in the order given)."""
    wanted = dict.fromkeys(doc_ids)
    unknown = catalog.unknown(within, wanted) if wanted else set[DocId]()
    return wanted.keys() - unknown, [doc_id for doc_id in wanted if doc_id in unknown]


def scope_not_found(field: str, missing: Iterable[str]) -> ScopeNotFound:
    named = list(missing)
    return ScopeNotFound(f"Not found here: {', '.join(named)}.", field=field, ids=named)
