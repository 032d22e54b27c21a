"""Which protocol a run speaks: the request's, else the settings'."""

from typing import Any

import msgspec
import pytest

from api.openai_compat.shapes import MODEL
from shared.llm.openai import OpenAIChat
from shared.settings import ChatSettings
from shared.types.runs import Answer
from tests.contract.http.site import LEAVE, Site
from tests.doubles.provider import Call, Say, provider_double

QUESTION = "满一年有几天年假？"
SEARCH = Say(calls=(Call(name="search_blocks", arguments='{"query": "工作满一年享有五天年假"}'),))
ANSWER = "员工工作满一年享有五天年假。【来源：{{block_id}}】"


def offered(site: Site, path: str, body: dict[str, Any], *replies: Say | str) -> tuple[list[bool], Any]:
    """Whether each call of the provider offered functions, and the answer."""
    site.publish(LEAVE)
    site.with_the_real_agent()
    with provider_double() as provider:
        provider.script(*replies)
        site.chat = OpenAIChat(ChatSettings(base_url=provider.base_url, model="m"))
        with site.client() as client:
            reply = client.post(path, json=body)
        assert reply.status_code == 200, reply.text
        return ["tools" in request.body for request in provider.requests], reply


def test_a_run_speaks_the_protocol_that_its_request_names(site: Site) -> None:
    body = {"question": QUESTION, "path": "agent", "protocol": "tools"}
    functions, reply = offered(site, "/api/runs", body, SEARCH, ANSWER)
    answer = msgspec.json.decode(reply.content, type=Answer)
    assert functions == [True, True]
    assert (answer.status, answer.text) == ("complete", "员工工作满一年享有五天年假。[1]"), answer.limitations
    assert answer.manifest is not None
    assert answer.manifest.protocol == "tools"


def test_without_a_word_of_it_a_run_speaks_the_settings_protocol(site: Site) -> None:
    search, finish = 'Action: search_blocks[{"query": "工作满一年享有五天年假"}]', f"Action: Finish[{ANSWER}]"
    functions, _ = offered(site, "/api/runs", {"question": QUESTION, "path": "agent"}, search, finish)
    assert functions == [False, False]


def test_an_openai_client_can_name_the_protocol_too(site: Site) -> None:
    messages = [{"role": "user", "content": QUESTION}]
    body = {"model": MODEL, "messages": messages, "path": "agent", "protocol": "tools"}
    functions, reply = offered(site, "/v1/chat/completions", body, SEARCH, ANSWER)
    assert functions == [True, True]
    assert reply.json()["choices"][0]["message"]["content"].startswith("员工工作满一年享有五天年假。[1]")


@pytest.mark.parametrize("protocol", ["xml", "", 1])
def test_a_protocol_that_does_not_exist_is_the_callers_error(site: Site, protocol: Any) -> None:
    with site.client() as client:
        reply = client.post("/api/runs", json={"question": QUESTION, "protocol": protocol})
    assert reply.status_code == 400
    assert "protocol" in reply.text
