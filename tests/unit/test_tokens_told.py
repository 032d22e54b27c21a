"""What a provider says that a call cost: believed where it can be a number of tokens, else estimated; never a reason to lose what came with it."""

import json

import pytest

from shared.embeddings import openai as embeddings
from shared.rerank import reading as rerank

BELIEVED: list[tuple[object, int]] = [
    ({"prompt_tokens": 7}, 7),
    ({"prompt_tokens": 7.0}, 7),
    ({"prompt_tokens": None, "total_tokens": 9}, 9),
]
ODD: list[object] = [
    {"prompt_tokens": 10**30},
    {"prompt_tokens": -1},
    {"prompt_tokens": "7"},
    {"prompt_tokens": None},
    [],
    None,
    "many",
    5,
]


@pytest.mark.parametrize(("usage", "tokens"), [*BELIEVED, *((one, None) for one in ODD)])
def test_an_odd_figure_is_estimated_and_the_vectors_are_kept(usage: object, tokens: int | None) -> None:
    content = json.dumps({"data": [{"embedding": [3.0, 4.0], "index": 0}], "usage": usage}).encode()
    read = embeddings.read_reply(content, ["轴承寿命"], dimensions=2)
    assert read.vectors[0].tolist() == pytest.approx([0.6, 0.8])
    assert (read.estimated, 0 < read.tokens < 100) == (tokens is None, True)
    assert tokens is None or read.tokens == tokens


@pytest.mark.parametrize(("usage", "tokens"), [*BELIEVED, *((one, None) for one in ODD)])
@pytest.mark.parametrize("place", ["usage", "tokens", "meta"])
def test_an_odd_figure_is_estimated_and_the_scores_are_kept(place: str, usage: object, tokens: int | None) -> None:
    told = {"tokens": usage} if place == "meta" else usage
    content = json.dumps({"results": [{"index": 0, "relevance_score": 0.5}], place: told}).encode()
    read = rerank.read_reply(content, "轴承", ["轴承寿命"])
    assert read.scores == (0.5,)
    assert (read.estimated, 0 < read.tokens < 100) == (tokens is None, True)
    assert tokens is None or read.tokens == tokens
