"""Nothing that a stream shows as the answer is unverified, wherever the provider's pieces end; and nothing unverified looks verified."""

import json
import re
from collections.abc import Iterable
from typing import Any

import httpx
import msgspec
import pytest

from shared.llm.openai import OpenAIChat
from shared.settings import ChatSettings
from shared.types.events import AnswerDelta, CitationMade, RunCompleted, RunEvent, Thought
from tests.contract.http.site import LEAVE, Site
from tests.doubles.provider import Provider, Say, provider_double
from tests.patience import PATIENCE_S
from tests.promises import promise

UNKNOWN = "zzzzzzzz.v1#7"
SEARCH = f'Thought: 见 [1]。【来源：{UNKNOWN}】[source: {UNKNOWN}] ![x](http://stranger.example/) 先查。\nAction: search_blocks[{{"query": "员工工作满一年享有五天年假"}}]'
ANSWER = (
    "员工工作满一年享有五天年假。【来源：{{block_id}}】满两年享有99天年假。【来源：{{block_id}}】"
    f"病假不限。【来源：{UNKNOWN}】 See [2] and [3]. [source: {UNKNOWN}, {{{{block_id}}}}]"
)
QUESTION = "满一年有几天年假？"
MARK = re.compile(r"\[(\d+)\]")
_event = msgspec.json.Decoder(RunEvent)


def ask(site: Site, path: str, body: dict[str, Any], *, piece: int) -> list[str]:
    """The data lines of a stream whose provider sends `piece` characters at a time."""

    def scripted(provider: Provider) -> ChatSettings:
        provider.script(
            Say(text=SEARCH, piece=piece), Say(text=f"Thought: 够了 [1]。\nAction: Finish[{ANSWER}]", piece=piece)
        )
        return ChatSettings(base_url=provider.base_url, model="m")

    site.publish(LEAVE)
    site.with_the_real_agent()
    with provider_double() as provider:
        site.chat = OpenAIChat(scripted(provider))
        headers = {"Accept": "text/event-stream"}
        with (
            site.live() as address,
            httpx.stream("POST", address + path, json=body, headers=headers, timeout=PATIENCE_S) as reply,
        ):
            return [line.removeprefix("data: ") for line in reply.iter_lines() if line.startswith("data: ")]


def marks(text: str) -> set[int]:
    return {int(number) for number in MARK.findall(text)}


def joined(pieces: Iterable[str | None]) -> str:
    return "".join(piece or "" for piece in pieces)


@promise("P6")
@pytest.mark.parametrize("piece", [1, 3, 8, 1_000])
@pytest.mark.parametrize("mode", ["flag", "strict"])
def test_every_mark_of_an_answer_stands_for_a_citation_with_its_verdict(site: Site, piece: int, mode: str) -> None:
    body = {"question": QUESTION, "path": "agent", "citation_mode": mode}
    events = [_event.decode(line) for line in ask(site, "/api/runs", body, piece=piece)]
    answer = next(event for event in events if isinstance(event, RunCompleted)).answer
    shown = joined(event.text for event in events if isinstance(event, AnswerDelta))
    cited = {event.citation.marker: event.citation.verdict for event in events if isinstance(event, CitationMade)}
    assert shown == answer.text
    assert marks(shown) == set(cited) == {1}
    assert UNKNOWN not in shown
    unverified = [event for event in events if not isinstance(event, AnswerDelta | CitationMade | RunCompleted)]
    assert events[: len(unverified)] == unverified  # all of it before, and none of it of the answer's kind
    assert any(isinstance(event, Thought) for event in unverified)
    assert ("99天" in shown) == (mode == "flag")
    assert cited[1] == ("unsupported" if mode == "flag" else "supported")
    told = "citation_removed" if mode == "flag" else "claims_dropped"  # with what they stood behind
    assert told in {one.code for one in answer.limitations}


@promise("P6")
@pytest.mark.parametrize("piece", [1, 3, 8, 1_000])
def test_a_chat_client_sees_marks_only_where_they_were_verified_and_doubts_beside_them(site: Site, piece: int) -> None:
    body = {"model": "citebound", "messages": [{"role": "user", "content": QUESTION}], "stream": True, "path": "agent"}
    *lines, done = ask(site, "/v1/chat/completions", body, piece=piece)
    chunks = [json.loads(line) for line in lines]
    deltas = [choice["delta"] for chunk in chunks for choice in chunk["choices"]]
    reasoning, content = (joined(delta.get(key) for delta in deltas) for key in ("reasoning_content", "content"))
    ours = chunks[-1]["citebound"]
    assert done == "[DONE]"
    assert reasoning
    assert not marks(reasoning)
    assert not {sign for sign in (UNKNOWN, "![", "来源") if sign in reasoning}
    assert marks(content) == {one["marker"] for one in ours["citations"]} == {1}
    assert UNKNOWN not in content
    assert [one["verdict"] for one in ours["citations"]] == ["unsupported"]
    answered, beside = content.split("**来源**")
    assert "满两年享有99天年假。[1]" in answered
    assert "满两年享有99天年假。" in beside.split("未获出处的完全支持")[1]
    assert {"supported", "unsupported"} <= {one["verdict"] for one in ours["claims"]}
