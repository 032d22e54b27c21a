import subprocess
import sys
from pathlib import Path

import httpx
import msgspec
import pytest

from tests.doubles.provider import Fault, Plan, Provider, Rule, Say, State, provider_double

ROOT = Path(__file__).parents[2]


def chat(base_url: str, text: str = "问题") -> httpx.Response:
    body = {"model": "m", "messages": [{"role": "user", "content": text}]}
    return httpx.post(f"{base_url}/chat/completions", json=body, trust_env=False)


def embed(base_url: str, *texts: str) -> httpx.Response:
    return httpx.post(f"{base_url}/embeddings", json={"model": "m", "input": texts, "dimensions": 2}, trust_env=False)


def said(response: httpx.Response) -> str:
    return response.json()["choices"][0]["message"]["content"]


def test_rules_come_before_the_script_and_the_script_before_the_default() -> None:
    with provider_double() as provider:
        provider.script("一", "二")
        provider.rule(Rule(route="chat", containing="坏", reply=Fault(status=500), times=1))
        assert [chat(provider.base_url, text).status_code for text in ("坏", "坏", "好")] == [500, 200, 200]
        provider.answer = lambda request: f"heard {request.body['messages'][-1]['content']}"
        assert said(chat(provider.base_url)) == "heard 问题"


def test_a_rule_may_hit_every_second_request() -> None:
    with provider_double() as provider:
        provider.rule(Rule(route="embeddings", every=2, reply=Fault(status=429)))
        assert [embed(provider.base_url, "甲").status_code for _ in range(4)] == [200, 429, 200, 429]
        assert provider.state() == State(requests={"/v1/embeddings": 4}, embedded=2, embedded_twice={"甲": 2})


def test_a_scripted_answer_can_cite_what_the_model_was_shown() -> None:
    with provider_double() as provider:
        provider.script("见 [{{block_id}}]。")
        assert said(chat(provider.base_url, "block k3f7a2qd.v2#17: text")) == "见 [k3f7a2qd.v2#17]。"


@pytest.mark.slow
def test_it_runs_as_a_process_of_its_own_and_is_steered_over_http(tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    plan.write_bytes(msgspec.json.encode(Plan(chat=(Say(text="来自文件"),))))
    command = [sys.executable, "-m", "tests.doubles.provider", "--plan", str(plan)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        base_url = process.stdout.readline().strip()
        control = base_url.removesuffix("/v1") + "/control"
        assert said(chat(base_url)) == "来自文件"
        outage = Plan(rules=(Rule(route="embeddings", reply=Fault(status=503)),))
        httpx.post(f"{control}/plan", content=msgspec.json.encode(outage), trust_env=False)
        assert embed(base_url, "甲").status_code == 503
        state = msgspec.json.decode(httpx.get(f"{control}/state", trust_env=False).content, type=State)
        process.terminate()
    assert state == State(requests={"/v1/chat/completions": 1, "/v1/embeddings": 1}, embedded=0, embedded_twice={})


def test_closing_does_not_wait_for_idle_or_hanging_clients() -> None:
    with httpx.Client(trust_env=False) as client:
        with provider_double() as provider:
            assert client.get(f"{provider.base_url}/models").status_code == 200
            kept: Provider = provider
        with pytest.raises(httpx.TransportError):
            client.get(f"{kept.base_url}/models")
