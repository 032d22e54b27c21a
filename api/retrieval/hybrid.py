"""Hybrid search: both branches on one collection under one filter, fused in our code, every step a span."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Protocol

import msgspec
import numpy as np
from msgspec import Struct
from opentelemetry.trace import Span

from api.retrieval.fusion import Fused, Profile, fuse, fuse_scores, keyword_share
from api.retrieval.profiles import SearchProfile
from api.retrieval.tally import Tally
from api.retrieval.threads import Threads
from shared.embeddings.port import Axis, Embedded, Embedder
from shared.errors import CollectionUnavailable
from shared.telemetry import names
from shared.telemetry.artifacts import keeps_contents
from shared.telemetry.tracing import tracer
from shared.text.terms import QUERIED, query_terms
from shared.types.snapshots import Snapshot
from shared.vectors.port import Collection, Dense, Filter, Hit, TakesLonger

_ALONG_AXIS = frozenset({"en", "zh"})
MOST_AT_ONCE = (
    50_000  # blocks: to look through more takes longer than the event loop should be kept from others at once
)


class _Candidate(Struct, frozen=True, kw_only=True):
    block_id: str
    rank: int
    score: float


class _FusedCandidate(Struct, frozen=True, kw_only=True):
    block_id: str
    rank: int
    score: float
    dense_rank: int | None
    keyword_rank: int | None


def check_versions(snapshot: Snapshot, embedder: Embedder) -> None:
    """Raises: CollectionUnavailable when this process can't make queries that compare with the snapshot's vectors."""
    for what, running, stored in (
        ("keyword version", sorted(QUERIED), snapshot.keyword_version),
        ("embedding version", (embedder.version,), snapshot.embedding_version),
        ("dimension count", (str(embedder.dimensions),), str(snapshot.dimensions)),
    ):
        if stored not in running:
            raise CollectionUnavailable(
                f"Search is not possible: snapshot {snapshot.snapshot_id} was built with {what} {stored},"
                f" this process has {', '.join(running)}. Configure the former or import again with mode reindex;"
                " the other tools work meanwhile.",
                ids=[snapshot.snapshot_id, stored, *running],
            )


class _Search(Protocol):
    def __call__(self, *, briefly: bool = False) -> list[Hit]: ...


async def hybrid_search(
    query: str,
    *,
    within: Filter,
    snapshot: Snapshot,
    collection: Collection,
    languages: frozenset[str],
    embedder: Embedder,
    threads: Threads,
    profile: SearchProfile,
    refine: Callable[[Sequence[Fused]], Awaitable[Sequence[Fused]]],
    tally: Tally,
) -> tuple[Fused, ...]:
    """The best blocks for a query, at most profile.fusion.top.

    `languages`: of the documents that the caller may see.
    `refine`: puts all fused candidates into their last order, as the profile says (refine.py).

    Raises: CollectionUnavailable (versions differ), UpstreamError (embedder, engine or reranker failed; nothing is left out silently).
    Source: spec/04 "Hybrid search".
    """
    about: dict[str, str | int] = {
        names.OPERATION: "retrieval",
        names.DATA_SOURCE: snapshot.snapshot_id,
        names.SNAPSHOT_ID: snapshot.snapshot_id,
        names.RETRIEVAL_PROFILE: profile.name,
        names.TOP_K: profile.fusion.top,
        names.FILTER: _json(within),
        names.EMBEDDING_VERSION: snapshot.embedding_version,
        names.KEYWORD_VERSION: snapshot.keyword_version,
    }
    with tracer.start_as_current_span(names.SEARCH, attributes=about) as span:
        check_versions(snapshot, embedder)
        embedded = await _embed(query, embedder)
        tally.embedding_tokens += embedded.tokens
        axis = embedder.language_axis if profile.fusion.across_languages and languages >= _ALONG_AXIS else None
        span.set_attribute(names.ACROSS_LANGUAGES, axis is not None)
        vector = embedded.vectors[0] if axis is None else without_language(embedded.vectors[0], axis)
        long = collection.is_remote or snapshot.blocks > MOST_AT_ONCE
        look = partial(_look, threads=threads, long=long)
        fused = await _ranked(query, vector, snapshot.keyword_version, within, collection, profile.fusion, look)
        candidates = await refine(fused)
        best = tuple(candidates[: profile.fusion.top])
        span.set_attribute(names.RESULT_BLOCKS, len(best))
        return best


def without_language(query: Dense, axis: Axis) -> Dense:
    """The query without its part along the language axis, so that no document is nearer for its language alone. Any length."""
    return (query - np.dot(query, axis) * axis).astype(np.float32)


async def _embed(query: str, embedder: Embedder) -> Embedded:
    about: dict[str, str | int] = {
        names.OPERATION: "embeddings",
        names.EMBEDDING_VERSION: embedder.version,
        names.DIMENSIONS: embedder.dimensions,
    }
    with tracer.start_as_current_span(names.SEARCH_EMBED, attributes=about) as span:
        embedded = await embedder.embed_query(query)
        span.set_attributes({names.EMBEDDING_TOKENS: embedded.tokens, names.TOKENS_ESTIMATED: embedded.estimated})
        return embedded


async def _look(search: _Search, *, threads: Threads, long: bool) -> list[Hit]:
    """An engine that computes never lets go of the interpreter's lock: for one short look a thread would only have to wait for that."""
    if not long:
        with suppress(TakesLonger):
            return search(briefly=True)
    return await threads.run(search)


async def _ranked(
    query: str,
    vector: Dense,
    version: str,
    within: Filter,
    collection: Collection,
    profile: Profile,
    look: Callable[[_Search], Awaitable[list[Hit]]],
) -> list[Fused]:
    """Both branches, one after the other, and their fusion."""
    with tracer.start_as_current_span(names.SEARCH_DENSE, attributes={names.TOP_K: profile.dense}) as span:
        dense = await look(partial(collection.dense, vector, within=within, limit=profile.dense))
        _note_candidates(span, dense)
    with tracer.start_as_current_span(names.SEARCH_KEYWORD, attributes={names.TOP_K: profile.keyword}) as span:
        terms = query_terms(query, version=version)
        span.set_attribute(names.KEYWORD_TERMS, len(terms.indices))
        keyword = list[Hit]()
        if terms.indices:  # else nothing but punctuation
            keyword = await look(partial(collection.sparse, terms, within=within, limit=profile.keyword))
        _note_candidates(span, keyword)
        asked = collection.asked(terms) if terms.indices else 0.0
    return _fused(dense, keyword, asked, profile)


def _note_candidates(span: Span, hits: Sequence[Hit]) -> None:
    if keeps_contents():
        found = [_Candidate(block_id=hit.block_id, rank=rank, score=hit.score) for rank, hit in enumerate(hits, 1)]
        span.set_attribute(names.CANDIDATES, _json(found))


def _fused(dense: Sequence[Hit], keyword: Sequence[Hit], asked: float, profile: Profile) -> list[Fused]:
    with tracer.start_as_current_span(names.SEARCH_FUSION, attributes={names.TOP_K: profile.top}) as span:
        match profile.by:
            case "ranks":
                fused = fuse((dense, keyword), k=profile.k)
            case "scores":
                share = keyword_share(keyword[0].score if keyword else 0.0, asked)
                span.set_attribute(names.KEYWORD_SHARE, share)
                fused = fuse_scores(dense, keyword, keyword_share=share)
        if keeps_contents():
            found = [
                _FusedCandidate(
                    block_id=one.block_id,
                    rank=rank,
                    score=one.score,
                    dense_rank=one.ranks[0],
                    keyword_rank=one.ranks[1],
                )
                for rank, one in enumerate(fused, 1)
            ]
            span.set_attribute(names.CANDIDATES, _json(found))
        return fused


def _json(value: object) -> str:
    return msgspec.json.encode(value, order="deterministic").decode()
