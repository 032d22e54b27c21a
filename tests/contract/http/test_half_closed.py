"""Clients that close their own side once they have asked, and clients of HTTP/1.0."""

import asyncio
import json
import socket
import threading
from collections.abc import Callable

import pytest

from api.agent.run import RunRequest
from api.patience import PatientProtocol
from api.retrieval.library import Pinned
from shared.llm.port import Chat
from shared.types.events import RunEvent
from shared.types.runs import RunRecord
from tests.contract.http.site import Held, Site, answer_at_once
from tests.contract.http.test_slow_clients import connection, rest
from tests.patience import PATIENCE_S

QUESTION = json.dumps({"question": "年假有几天？"}, ensure_ascii=False).encode()


def post(path: str, *, version: str = "1.1", accept: str = "application/json") -> bytes:
    head = f"POST {path} HTTP/{version}\r\nHost: 127.0.0.1\r\nAccept: {accept}\r\nContent-Type: application/json\r\n"
    return head.encode() + b"Content-Length: %d\r\n\r\n" % len(QUESTION) + QUESTION


def get(path: str, *, version: str = "1.1") -> bytes:
    return f"GET {path} HTTP/{version}\r\nHost: 127.0.0.1\r\n\r\n".encode()


def asked(address: str, sent: bytes) -> bytes:
    """What comes back to who has nothing more to say."""
    with connection(address) as one:
        one.sendall(sent)
        one.shutdown(socket.SHUT_WR)
        return rest(one)


def final(told: bytes) -> tuple[bytes, bytes]:
    """Head and body of the reply itself."""
    head, _, body = told.partition(b"\r\n\r\n")
    return final(body) if head == b"HTTP/1.1 100 Continue" else (head, body)


class Unhurried(PatientProtocol):
    old_s = PATIENCE_S


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_who_closes_his_side_is_answered(site: Site, version: str) -> None:
    site.publish()
    with site.live(http=Unhurried) as address:
        for sent, part in (
            (get("/healthz", version=version), b'"ok"'),
            (get("/api/documents", version=version), b"doc_id"),
            (post("/api/runs", version=version), b'"complete"'),
            (post("/api/runs", version=version, accept="text/event-stream"), b"run.completed"),
            (get("/nowhere", version=version), b"not_found"),
        ):
            head, body = final(asked(address, sent))
            assert head.startswith(b"HTTP/1.1 "), sent
            assert part in body


def test_requests_in_a_row_are_all_answered_to_who_closes_his_side(site: Site) -> None:
    site.publish()
    with site.live() as address:
        told = asked(address, get("/healthz") + post("/api/runs") + get("/healthz"))
    assert told.count(b"HTTP/1.1 200 ") == 3


class Probing(PatientProtocol):
    probes_s = (0.0, 0.01)
    old_s = 0.01


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_who_waits_with_his_side_closed_gets_a_late_answer(site: Site, accept: str) -> None:
    site.publish()
    heard = asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []
    under_way = threading.Event()

    async def late(
        request: RunRequest, pinned: Pinned, chat: Chat | None, emit: Callable[[RunEvent], None]
    ) -> RunRecord:
        loops.append(asyncio.get_running_loop())
        under_way.set()
        await heard.wait()
        return await answer_at_once(request, pinned, chat, emit)

    site.work = late
    with site.live(http=Probing) as address, connection(address) as one:
        one.sendall(post("/api/runs", accept=accept))
        one.shutdown(socket.SHUT_WR)
        told = one.recv(25)
        assert under_way.wait(PATIENCE_S)
        loops[0].call_soon_threadsafe(heard.set)
        _, body = final(told + rest(one))
    assert told.startswith(b"HTTP/1.1 100 ") or accept == "text/event-stream"
    assert b"complete" in body


def test_who_goes_away_after_he_closed_his_side_has_his_run_cancelled(site: Site) -> None:
    site.publish()
    site.work = held = Held()
    with site.live(http=Probing) as address:
        with connection(address) as one:
            one.sendall(post("/api/runs"))
            one.shutdown(socket.SHUT_WR)
            assert one.recv(25) == b"HTTP/1.1 100 Continue\r\n\r\n"
            assert held.under_way.wait(PATIENCE_S)
            assert not held.cancelled.is_set()
        assert held.cancelled.wait(PATIENCE_S)


def test_who_speaks_an_older_protocol_and_closes_his_side_is_not_waited_for_long(site: Site) -> None:
    """Nothing can be said to him before the reply: whether he is there still can't be known."""
    site.publish()
    site.work = held = Held()
    with site.live(http=Probing) as address:
        assert asked(address, post("/api/runs", version="1.0")) == b""
        assert held.cancelled.wait(PATIENCE_S)


@pytest.mark.parametrize("sent", [post("/api/runs")[:-3], post("/api/runs")[:40], b""])
def test_half_a_request_of_who_closes_his_side_is_no_request(site: Site, sent: bytes) -> None:
    with site.live() as address:
        assert asked(address, sent) == b""
    assert not site.requests


def test_a_body_of_unknown_length_ends_with_the_connection_in_an_older_protocol(site: Site) -> None:
    site.publish()
    with site.live() as address, connection(address) as one:
        one.sendall(post("/api/runs", version="1.0", accept="text/event-stream"))
        head, body = final(rest(one))
    assert b"chunked" not in head.lower()
    assert body.startswith((b"event:", b"data:", b"id:"))
    assert b"run.completed" in body
