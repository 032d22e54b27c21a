"""Behind the fusion: the reranker's order, then the caller's preference; each a span with the order before and after."""

from collections.abc import Awaitable, Callable, Iterable, Sequence

import msgspec
from msgspec import Struct
from opentelemetry.trace import SpanKind

from api.retrieval.fusion import Fused
from api.retrieval.profiles import (
    Preference,
    Ranked,
    SearchProfile,
    counts_scores,
    fused_order,
    preference_order,
    reach,
    rerank_order,
)
from api.retrieval.tally import Tally
from shared.catalog.reading import CatalogReader, Within
from shared.errors import CollectionUnavailable
from shared.ids import DocId, SnapshotId
from shared.rerank.port import Reranker
from shared.telemetry import names
from shared.telemetry.tracing import tracer
from shared.text.context import embedded_text
from shared.types.snapshots import SnapshotDocument


class _Candidate(Struct, frozen=True, kw_only=True, omit_defaults=True):
    block_id: str
    rank: int
    score: float
    before: int  # its rank in the step before
    rerank_score: float | None = None  # as the reranker gave it
    updated_at_ms: int | None = None
    trust: str | None = None


class Material(Struct, frozen=True, kw_only=True):
    """What candidates are judged by: each one's text as it was embedded, and its document."""

    texts: tuple[str, ...]
    documents: dict[DocId, SnapshotDocument]


async def refine(
    query: str,
    fused: Sequence[Fused],
    *,
    profile: SearchProfile,
    reranker: Reranker | None,
    material: Callable[[Sequence[Fused]], Awaitable[Material]],
    tally: Tally,
) -> tuple[Fused, ...]:
    """All candidates, best first; none is added or lost. `reranker`: that of `profile.rerank`.

    Raises: UpstreamError (the reranker failed: its order is never left out silently), CollectionUnavailable.
    """
    if not fused or (profile.rerank is None and profile.prefer is None):
        return tuple(fused)
    found = await material(fused)
    ranked = fused_order(fused, profile=profile.fusion)
    if profile.rerank is not None:
        assert reranker is not None
        ranked = await _reranked(query, fused, found, profile, reranker, tally)
    if profile.prefer is not None:
        ranked = _preferred(ranked, found, profile, profile.prefer)
    return tuple(one.candidate for one in ranked)


def read_material(catalog: CatalogReader, within: Within, candidates: Sequence[Fused]) -> Material:
    """The catalog applies scope and access once more: it, not the collection, decides what is read. Raises: CollectionUnavailable."""
    found = catalog.members_by_id(within, [one.block_id for one in candidates])
    if len(found) != len(candidates):
        raise disagreement(within.snapshot_id)
    members = [found[one.block_id] for one in candidates]
    return Material(
        texts=tuple(embedded_text(document.title, block) for block, document in members),
        documents={document.doc_id: document for _, document in members},
    )


def disagreement(snapshot_id: SnapshotId) -> CollectionUnavailable:
    return CollectionUnavailable(
        f"The collection of {snapshot_id} disagrees with the catalog.",
        ids=[snapshot_id],
    )


async def _reranked(
    query: str, fused: Sequence[Fused], found: Material, profile: SearchProfile, reranker: Reranker, tally: Tally
) -> list[Ranked]:
    with tracer.start_as_current_span(names.SEARCH_RERANK, kind=SpanKind.CLIENT) as span:
        texts = found.texts[: reranker.depth]
        span.set_attributes({names.OPERATION: "rerank", names.REQUEST_MODEL: reranker.model, names.TOP_K: len(texts)})
        reranked = await reranker.rerank(query, texts)
        tally.rerank_tokens += reranked.tokens
        span.set_attributes({names.RERANK_TOKENS: reranked.tokens, names.TOKENS_ESTIMATED: reranked.estimated})
        ranked = rerank_order(fused, reranked.scores, profile=profile.fusion)
        given = dict(enumerate(reranked.scores, 1))
        span.set_attribute(
            names.CANDIDATES,
            _json(
                _Candidate(
                    block_id=one.candidate.block_id,
                    rank=rank,
                    score=one.score,
                    before=one.before,
                    rerank_score=given.get(one.before),
                )
                for rank, one in enumerate(ranked, 1)
            ),
        )
        return ranked


def _preferred(ranked: Sequence[Ranked], found: Material, profile: SearchProfile, prefer: Preference) -> list[Ranked]:
    with tracer.start_as_current_span(names.SEARCH_PREFERENCE) as span:
        by_scores = profile.rerank is None and counts_scores(profile.fusion, len(ranked))
        span.set_attribute(names.PREFERENCE_REACH, most := reach(profile.fusion, by_scores=by_scores))
        preferred = preference_order(ranked, prefer, found.documents, reach=most)
        documents = [found.documents[one.candidate.doc_id] for one in preferred]
        span.set_attributes(
            {
                names.PREFERENCE: prefer,
                names.CANDIDATES: _json(
                    _Candidate(
                        block_id=one.candidate.block_id,
                        rank=rank,
                        score=one.score,
                        before=one.before,
                        updated_at_ms=document.updated_at_ms,
                        trust=document.trust,
                    )
                    for rank, (one, document) in enumerate(zip(preferred, documents, strict=True), 1)
                ),
            }
        )
        return preferred


def _json(candidates: Iterable[_Candidate]) -> str:
    return msgspec.json.encode(list(candidates), order="deterministic").decode()
