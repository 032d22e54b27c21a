"""What came back from `/rerank`, in any of the shapes that providers answer in. Pure.

{"results": [{"index", "relevance_score"}], "usage": {"total_tokens"}}            Jina, vLLM, llama.cpp, DashScope
{"results": […], "meta": {"tokens": {"input_tokens"}}}                            Cohere, SiliconFlow
{"data": […], "usage": {"total_tokens"}}                                          Voyage
[{"index", "score"}]                                                              TEI
Facts of 2026-11. Scores are probabilities with some and logits with others: nothing is said about their range.
"""

import math
from collections.abc import Sequence
from typing import cast

import msgspec
from msgspec import Struct

from shared.rerank.port import Reranked
from shared.text.tokens import count_tokens
from shared.upstream import tokens_told


class BadReply(Exception):
    """A reply that isn't one finite score for each text; the message says what was expected and what came."""


class _Item(Struct):
    index: int
    relevance_score: float | None = None
    score: float | None = None


class _Reply(Struct):
    results: list[_Item] | None = None
    data: list[_Item] | None = None
    usage: object = None
    tokens: object = None
    meta: object = None


_REPLY = msgspec.json.Decoder(_Reply | list[_Item])


def read_reply(content: bytes, query: str, texts: Sequence[str]) -> Reranked:
    """Scores in the order of `texts`, whatever order they came in. Raises: BadReply."""
    try:
        reply = _REPLY.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadReply(f"expected rerank results ({error})") from error
    items = reply if isinstance(reply, list) else reply.results if reply.results is not None else reply.data
    if items is None:
        raise BadReply("expected a list of results, got none")
    told = 0 if isinstance(reply, list) else _told(reply)
    return Reranked(
        scores=_in_order(items, len(texts)),
        tokens=told or _estimate(query, texts),
        estimated=told == 0,
    )


def _in_order(items: list[_Item], number: int) -> tuple[float, ...]:
    scores: dict[int, float] = {}
    for item in items:
        if not 0 <= item.index < number:
            raise BadReply(f"index {item.index} names no text, {number} were sent")
        if item.index in scores:
            raise BadReply(f"index {item.index} came twice")
        score = item.score if item.relevance_score is None else item.relevance_score
        if score is None or not math.isfinite(score):
            raise BadReply(f"the score of index {item.index} is no finite number")
        scores[item.index] = score
    if len(scores) != number:
        missing = next(place for place in range(number) if place not in scores)
        raise BadReply(f"expected {number} scores, got {len(scores)}; the first missing index is {missing}")
    return tuple(scores[place] for place in range(number))


def _told(reply: _Reply) -> int:
    """Zero where none of the places holds a number of tokens."""
    places = map(_names, (reply.usage, reply.tokens, _names(reply.meta).get("tokens")))
    told = (
        tokens_told(place.get(name)) for place in places for name in ("total_tokens", "prompt_tokens", "input_tokens")
    )
    return next(filter(None, told), 0)


def _names(value: object) -> dict[str, object]:
    return cast(dict[str, object], value) if isinstance(value, dict) else {}


def _estimate(query: str, texts: Sequence[str]) -> int:
    """A reranker reads the query once with each text."""
    return len(texts) * count_tokens(query) + sum(map(count_tokens, texts))
