"""`python -m api` as the supervisor starts it: a real process with an inherited socket, the bundled model and the embedded engine."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Generator, Sequence
from pathlib import Path

import httpx
import pytest

from shared.embeddings.fake import FakeEmbedder
from shared.layout import Layout
from shared.lifeline import PARENT_PIPE, START_AGAIN
from shared.settings import QdrantSettings
from shared.vectors.open import open_vectors
from tests.contract.http.site import LEAVE
from tests.doubles.provider import Hang, provider_double
from tests.factories import publish
from tests.patience import PATIENCE_S

ROOT = Path(__file__).resolve().parents[3]

pytestmark = pytest.mark.slow


class Process:
    def __init__(self, folder: Path, **env: str) -> None:
        self.listening = socket.socket()
        self.listening.bind(("127.0.0.1", 0))
        self.listening.listen()
        self.address = f"http://127.0.0.1:{self.listening.getsockname()[1]}"
        lifeline, self.lifeline = os.pipe()
        number = self.listening.fileno()
        given = {"CITEBOUND_DATA_DIR": str(folder), PARENT_PIPE: str(lifeline), "PYTHONPATH": str(ROOT), **env}
        self.popen = subprocess.Popen(
            [sys.executable, "-m", "api", "--fd", str(number)],
            env={**os.environ, **given},
            pass_fds=(number, lifeline),
            stderr=subprocess.PIPE,
            text=True,
        )
        os.close(lifeline)

    def let_go(self) -> None:
        """What the kernel does when the parent is gone."""
        os.close(self.lifeline)
        self.lifeline = -1

    def end(self) -> tuple[int, str]:
        _, log = self.popen.communicate(timeout=PATIENCE_S)
        return self.popen.returncode, log

    def clean_up(self) -> None:
        if self.popen.poll() is None:
            self.popen.kill()
        self.popen.communicate()
        self.listening.close()
        if self.lifeline >= 0:
            os.close(self.lifeline)


@pytest.fixture
def started(tmp_path: Path) -> Generator[Process]:
    one = Process(tmp_path)
    yield one
    one.clean_up()


def test_it_answers_on_the_inherited_socket_says_what_it_waits_for_and_stops_when_asked(started: Process) -> None:
    # Connections queue in the socket until it is up: no polling.
    assert httpx.get(f"{started.address}/healthz", timeout=PATIENCE_S).json() == {"status": "ok"}
    parts = httpx.get(f"{started.address}/readyz", timeout=PATIENCE_S).json()["parts"]
    assert parts["embedder"]["state"] in ("loading", "ok")
    assert (parts["catalog"]["state"], parts["broker"]["state"], parts["snapshot"]["state"]) == ("ok", "failed", "none")
    asked = httpx.post(f"{started.address}/api/runs", json={"question": "年假几天？"}, timeout=PATIENCE_S)
    assert asked.json()["code"] == "no_snapshot"
    started.popen.send_signal(signal.SIGTERM)
    code, log = started.end()
    assert (code, "Traceback" in log) == (0, False), log


def test_it_ends_when_its_parent_is_gone(started: Process) -> None:
    assert httpx.get(f"{started.address}/healthz", timeout=PATIENCE_S).status_code == 200
    started.let_go()
    assert started.end()[0] == 0


def test_settings_that_would_let_strangers_in_are_refused_with_the_remedy(tmp_path: Path) -> None:
    refused = Process(tmp_path, CITEBOUND_API_HOST="0.0.0.0")
    try:
        code, log = refused.end()
    finally:
        refused.clean_up()
    assert code == 2
    assert "CITEBOUND_API_API_KEY" in log
    assert "Traceback" not in log


STREAM = {"Accept": "text/event-stream"}
ZH, EN = "年假几天？", "How many days of leave are there?"
STOPPED = {ZH: "在得出答案之前已停止。", EN: "Stopped before there was an answer."}


@pytest.mark.parametrize("how", ["a signal", "the settings page"])
def test_a_stop_ends_every_run_for_its_asker_in_his_protocol_and_his_language(tmp_path: Path, how: str) -> None:
    layout = Layout(root=tmp_path)
    publish(layout, [LEAVE], vectors=open_vectors(QdrantSettings(), layout.collections), embedder=FakeEmbedder())
    with provider_double() as provider:
        provider.script(*[Hang()] * 5)
        process = Process(tmp_path, CITEBOUND_CHAT_BASE_URL=provider.base_url, CITEBOUND_CHAT_MODEL="m")

        def stop() -> None:
            assert provider.wait(lambda one: len(one.requests) == 5, seconds=60)
            if how == "a signal":
                process.popen.send_signal(signal.SIGTERM)
            else:
                httpx.post(f"{process.address}/api/settings/restart", timeout=PATIENCE_S).raise_for_status()

        async def askers() -> Sequence[httpx.Response]:
            async with httpx.AsyncClient(base_url=process.address, timeout=PATIENCE_S) as client:
                asked = [
                    client.post("/api/runs", json={"question": ZH, "path": "agent"}, headers=STREAM),
                    client.post("/api/runs", json={"question": EN, "path": "agent"}, headers=STREAM),
                    client.post("/api/runs", json={"question": ZH, "path": "agent"}),
                    client.post("/v1/chat/completions", json=_completion(EN, stream=True)),
                    client.post("/v1/chat/completions", json=_completion(ZH, stream=False)),
                ]
                stopping = asyncio.create_task(asyncio.to_thread(stop))
                answers = await asyncio.gather(*asked)
                await stopping
                return answers

        try:
            answers = asyncio.run(askers())
            code, log = process.end()
        finally:
            process.clean_up()
    assert (code, "Traceback" in log) == (0 if how == "a signal" else START_AGAIN, False), log
    zh, en, whole, chunks, completion = answers
    for events, question in ((zh, ZH), (en, EN)):
        name, data = events.text.strip().rsplit("\n\n", 1)[-1].split("\n", 1)
        failed = json.loads(data.removeprefix("data: "))
        assert (name, failed["code"], failed["message"]) == ("event: run.failed", "cancelled", STOPPED[question])
    answer = whole.json()
    assert (whole.status_code, answer["status"], answer["termination_reason"]) == (200, "failed", "cancelled")
    assert (answer["text"], answer["run_id"][:4]) == (STOPPED[ZH], "run_")
    error, done = chunks.text.strip().rsplit("\n\n", 2)[-2:]
    assert (json.loads(error.removeprefix("data: "))["error"]["code"], done) == ("cancelled", "data: [DONE]")
    told = completion.json()["error"]
    assert (completion.status_code, told["code"], told["run_id"][:4]) == (502, "cancelled", "run_")
    assert STOPPED[ZH] in told["message"]


def _completion(question: str, *, stream: bool) -> dict[str, object]:
    return {
        "model": "citebound",
        "stream": stream,
        "messages": [{"role": "user", "content": question}],
        "path": "agent",
    }
