"""No route tells a key what it may not read: not a title, not a count, not that it exists. What to do for a new route: leaking.py."""

import re
from collections.abc import Generator
from typing import Any

import httpx
import pytest
from litestar import Litestar
from litestar.routes import HTTPRoute
from litestar.testing import TestClient
from msgspec import structs

from api.callers import NEEDS
from shared.ids import SnapshotId
from shared.telemetry import names
from tests.contract.http.leaking import (
    CANARY,
    OWNER_KEY,
    PARROT,
    ROUTES,
    Key,
    Names,
    Probe,
    Secrets,
    secrets,
    send,
    without_secrets,
)
from tests.contract.http.site import Site

READING = [key for key, route in ROUTES.items() if route.needs in ("read", None)]
REFUSED = [key for key, route in ROUTES.items() if route.needs in ("write", "admin")]
_BY_CHANCE = re.compile(
    r"(?:run|conv|case)_[0-9a-hjkmnp-tv-z]{26}|chatcmpl-\S+?(?=\")|\"(?:created|\w+_ms)\":\d+|error_id\W+\w+"
)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[TestClient[Litestar], Secrets]]:
    site = Site(tmp_path_factory.mktemp("secret") / "data")
    told = secrets(site)
    with site.client() as client:
        yield client, told
    site.telemetry.close()


def handlers(site: Site) -> dict[Key, Any]:
    return {
        (method, route.path_format): handler
        for route in site.app().routes
        if isinstance(route, HTTPRoute) and not route.path.startswith("/openapi")
        for handler in route.route_handlers
        for method in handler.http_methods - {"OPTIONS"}
    }


def test_every_route_is_classified_and_says_itself_what_it_takes(site: Site) -> None:
    found = {key: handler.opt.get(NEEDS, "nothing is said") for key, handler in handlers(site).items()}
    assert found == {key: route.needs for key, route in ROUTES.items()}


@pytest.mark.parametrize("key", READING, ids=" ".join)
def test_a_reader_is_told_nothing_that_is_hidden_from_him(
    key: Key, world: tuple[TestClient[Litestar], Secrets]
) -> None:
    client, told = world
    for probe in ROUTES[key].probes(told.hidden, told):
        reply = send(client, key[0], probe, asking(key, told))
        assert reply.status_code < 500, (probe, reply.text)
        assert canaries(reply, sent=probe) == [], probe


@pytest.mark.parametrize("key", READING, ids=" ".join)
def test_the_hidden_and_what_never_was_get_the_same_answer(
    key: Key, world: tuple[TestClient[Litestar], Secrets]
) -> None:
    client, told = world
    pairs = zip(ROUTES[key].probes(told.hidden, told), ROUTES[key].probes(told.unknown, told), strict=True)
    for hidden, unknown in pairs:
        if hidden.alike:
            there, nowhere = (send(client, key[0], probe, asking(key, told)) for probe in (hidden, unknown))
            assert there.status_code == nowhere.status_code, hidden
            assert settled(there, told.hidden) == settled(nowhere, told.unknown), hidden


@pytest.mark.parametrize("key", READING, ids=" ".join)
def test_the_owner_is_told_it_so_the_probes_can_find_something(
    key: Key, world: tuple[TestClient[Litestar], Secrets]
) -> None:
    client, told = world
    probes = ROUTES[key].probes(told.hidden, told)
    if any(probe.shows for probe in probes):
        assert any(canaries(send(client, key[0], probe, OWNER_KEY), sent=probe) for probe in probes)


@pytest.mark.parametrize("key", REFUSED, ids=" ".join)
def test_a_reader_is_refused_in_the_same_words_whatever_he_names(
    key: Key, world: tuple[TestClient[Litestar], Secrets]
) -> None:
    client, told = world
    replies = [
        send(client, key[0], probe, told.reader)
        for names in (told.hidden, told.unknown)
        for probe in ROUTES[key].probes(names, told)
    ]
    assert {reply.status_code for reply in replies} == {403}
    assert len({reply.text for reply in replies}) == 1
    assert CANARY not in replies[0].text


@pytest.mark.parametrize("key", [key for key, route in ROUTES.items() if route.needs == "admin"], ids=" ".join)
def test_a_key_that_imports_makes_no_keys(key: Key, world: tuple[TestClient[Litestar], Secrets]) -> None:
    client, told = world
    for probe in ROUTES[key].probes(told.hidden, told):
        assert send(client, key[0], probe, told.writer).status_code == 403


@pytest.mark.parametrize("key", [key for key, route in ROUTES.items() if route.needs is not None], ids=" ".join)
def test_nobody_comes_in_without_a_key(key: Key, world: tuple[TestClient[Litestar], Secrets]) -> None:
    client, told = world
    for probe in ROUTES[key].probes(told.hidden, told):
        for given in (None, "wrong", told.reader[:-1] + "_"):
            assert send(client, key[0], probe, given).status_code == 401


def test_lists_and_counts_are_those_of_a_library_without_the_secrets(
    world: tuple[TestClient[Litestar], Secrets], site: Site
) -> None:
    client, told = world
    reader, active, older = without_secrets(site)
    with site.client() as bare:
        for path, body in (
            ("/api/documents", None),
            ("/api/documents?snapshot_id={older}", None),
            ("/api/snapshots", None),
            ("/api/snapshots/{active}", None),
            ("/api/snapshots/{older}/diff/{active}", None),
            ("/api/runs", None),
            ("/api/tools/list_documents", {}),
            ("/api/tools/scan_term", {"term": "年假"}),
            ("/api/tools/search_blocks", {"query": "年假全部取消"}),
        ):
            method = "GET" if body is None else "POST"
            ours = send(
                client,
                method,
                Probe(path=path.format(active=told.snapshot_id, older=told.older_id), body=body),
                told.reader,
            )
            theirs = send(bare, method, Probe(path=path.format(active=active, older=older), body=body), reader)
            assert neutral(ours.text, told.snapshot_id, told.older_id) == neutral(theirs.text, active, older), path


def test_a_search_goes_about_it_as_in_a_library_without_the_secrets(
    world: tuple[TestClient[Litestar], Secrets], site: Site
) -> None:
    client, told = world
    reader, _, older = without_secrets(site)
    with site.client() as bare:
        for ours, theirs in ((None, None), (told.older_id, older)):
            ways = [
                ways_of_searching(*asked)
                for asked in ((client, told.twin, ours), (bare, reader, theirs), (client, OWNER_KEY, ours))
            ]
            assert ways[0] == ways[1] != []
            assert ways[2] != ways[0]  # what is hidden would have changed it


def ways_of_searching(client: TestClient[Litestar], key: str, snapshot_id: SnapshotId | None) -> list[str]:
    """Of a run's searches: whether the language of the query was taken out of it."""
    body = {"question": "年假有几天？", "snapshot_id": snapshot_id}
    run_id = send(client, "POST", Probe(path="/api/runs", body=body), key).json()["run_id"]
    trace = send(client, "GET", Probe(path=f"/api/runs/{run_id}/trace"), key).text
    return re.findall(rf'"{names.ACROSS_LANGUAGES}":(true|false)', trace)


def test_a_question_finds_what_it_may_whoever_else_knows_more(world: tuple[TestClient[Litestar], Secrets]) -> None:
    client, told = world
    probe = Probe(path="/api/runs", body={"question": "年假有几天？"})
    answers = [send(client, "POST", probe, key).json() for key in (told.reader, told.board)]
    assert [one["snapshot"]["documents"] for one in answers] == [2, 4]
    assert all(one["citations"] for one in answers)


def test_a_run_s_own_trace_and_evidence_hold_nothing_that_was_hidden_from_its_asker(
    world: tuple[TestClient[Litestar], Secrets],
) -> None:
    client, told = world
    probe = Probe(path="/api/runs", body={"question": "年假全部取消了吗？", "trace_level": "full"})
    run_id = send(client, "POST", probe, told.twin).json()["run_id"]
    for ending in ("", "/evidence", "/trace"):
        reply = send(client, "GET", Probe(path=f"/api/runs/{run_id}{ending}"), told.twin)
        assert reply.status_code == 200
        assert canaries(reply, sent=probe) == []


def asking(key: Key, told: Secrets) -> str:
    """The reader looks on; what is asked, is asked by another with the same roles, so that it is none of his runs."""
    return told.twin if ROUTES[key].asks else told.reader


def canaries(reply: httpx.Response, *, sent: Probe) -> list[str]:
    """Secrets in the reply, but for what the caller said himself."""
    text = reply.text + repr(sorted(reply.headers.items()))
    for said in words_of(sent):
        text = text.replace(said, "")
    return [found for mark in (CANARY, PARROT) for found in re.findall(rf".{{0,20}}{mark}.{{0,20}}", text)]


def words_of(probe: Probe) -> list[str]:
    def strings(value: object) -> list[str]:
        match value:
            case str():
                return [
                    value,
                    *(one for one in value.split() if CANARY in one),
                ]  # a reply may take up one word of a question
            case dict() | list():
                inner: list[object] = list(value.values() if isinstance(value, dict) else value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
                return [word for one in inner for word in strings(one)]
            case _:
                return []

    return sorted([*strings(probe.body), *probe.query.values(), probe.path.rpartition("/")[2]], key=len, reverse=True)


def settled(reply: httpx.Response, asked: Names) -> str:
    """The reply with what was asked for taken out, and what is chance."""
    text = _BY_CHANCE.sub("", reply.text + repr(sorted(reply.headers.items())))
    for number, value in enumerate(sorted(structs.asdict(asked).values(), key=len, reverse=True)):
        text = text.replace(value.upper(), "<>").replace(value, "<>").replace(value.replace("#", "%23"), f"<{number}>")
    return re.sub(r"<\d*>", "<>", re.sub(r"'content-length', '\d+'", "", text))


def neutral(text: str, active: str, older: str) -> str:
    """Without which library it is, and what a published snapshot is a hash of."""
    text = text.replace(active, "active").replace(older, "older")
    return re.sub(r'"(?:manifest_sha256|version|block_id|seen)":(?:"[^"]*"|\d+|\[[^]]*\])', "", text)
