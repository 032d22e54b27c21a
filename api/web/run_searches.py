"""A search as it went: what each branch found, how the two became one order, and what became of that. Pure."""

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from api.web.run_spans import decoded, kind_of, number, text, took_ms, walked
from shared.telemetry import names
from shared.types.traces import SpanNode


class Candidate(Struct, frozen=True, kw_only=True):
    """As a span lists it; more than `block_id`, `rank` and `score` depends on the step."""

    block_id: str
    rank: int
    score: float
    dense_rank: int | None = None
    keyword_rank: int | None = None
    before: int | None = None
    rerank_score: float | None = None


class Found(Struct, frozen=True, kw_only=True):
    """One block in the order after fusion, with where and how it stood in each step; None = it did not stand there."""

    block_id: str
    rank: int
    score: float
    dense_rank: int | None
    dense_score: float | None
    keyword_rank: int | None
    keyword_score: float | None
    rerank_rank: int | None
    rerank_score: float | None
    last_rank: int  # after every step
    returned: bool


class SearchView(Struct, frozen=True, kw_only=True):
    """`kept`: whether the candidates are in the trace (level full). The lists are in their own order, best first."""

    profile: str
    ms: float
    top: int
    across_languages: bool
    keyword_terms: int
    keyword_share: float | None
    embedding_version: str
    kept: bool
    dense: tuple[Candidate, ...]
    keyword: tuple[Candidate, ...]
    found: tuple[Found, ...]
    reranked: bool
    reranker: str
    preferred: str  # newer, trusted or ""
    failed: str  # error code or ""


def searches(tool: SpanNode) -> tuple[SearchView, ...]:
    """Of one tool call."""
    return tuple(_search(span) for _, span in walked((tool,)) if kind_of(span) == "search")


def _search(span: SpanNode) -> SearchView:
    steps = {kind_of(one): one for one in span.children}
    lists = {kind: _candidates(one) for kind, one in steps.items()}
    dense, keyword = lists.get("dense", ()), lists.get("keyword", ())
    top = number(span.attributes, names.TOP_K)
    share = steps["fusion"].attributes.get(names.KEYWORD_SHARE) if "fusion" in steps else None
    rerank, preference = steps.get("rerank"), steps.get("preference")
    return SearchView(
        profile=text(span.attributes, names.RETRIEVAL_PROFILE),
        ms=took_ms(span),
        top=top,
        across_languages=span.attributes.get(names.ACROSS_LANGUAGES) is True,
        keyword_terms=number(steps["keyword"].attributes, names.KEYWORD_TERMS) if "keyword" in steps else 0,
        keyword_share=float(share) if isinstance(share, int | float) else None,
        embedding_version=text(span.attributes, names.EMBEDDING_VERSION),
        kept=any(names.CANDIDATES in one.attributes for one in steps.values()),
        dense=dense,
        keyword=keyword,
        found=_found(lists, top=top),
        reranked=rerank is not None,
        reranker=text(rerank.attributes, names.REQUEST_MODEL) if rerank else "",
        preferred=text(preference.attributes, names.PREFERENCE) if preference else "",
        failed=next((text(one.attributes, names.ERROR_TYPE) or "error" for _, one in walked((span,)) if one.status == "error"), ""),
    )  # fmt: skip


_Step = Literal["dense", "keyword", "fusion", "rerank", "preference"]


def _found(lists: Mapping[str, Sequence[Candidate]], *, top: int) -> tuple[Found, ...]:
    steps: tuple[_Step, ...] = ("dense", "keyword", "rerank", "preference")
    dense, keyword, rerank, preference = ({one.block_id: one for one in lists.get(step, ())} for step in steps)
    last = preference or rerank
    return tuple(
        Found(
            block_id=one.block_id,
            rank=one.rank,
            score=one.score,
            dense_rank=one.dense_rank,
            dense_score=dense[one.block_id].score if one.block_id in dense else None,
            keyword_rank=one.keyword_rank,
            keyword_score=keyword[one.block_id].score if one.block_id in keyword else None,
            rerank_rank=rerank[one.block_id].rank if one.block_id in rerank else None,
            rerank_score=rerank[one.block_id].rerank_score if one.block_id in rerank else None,
            last_rank=(place := last[one.block_id].rank if one.block_id in last else one.rank),
            returned=place <= top,
        )
        for one in lists.get("fusion", ())
    )


def _candidates(span: SpanNode) -> tuple[Candidate, ...]:
    return decoded(text(span.attributes, names.CANDIDATES), tuple[Candidate, ...]) or ()
