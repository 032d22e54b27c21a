"""Signed addresses of blocks."""

import stat
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest

from api.links import DAYS, BlockLinks, read_secret
from shared.access import OWNER, Access
from shared.ids import KeyId

SECRET = bytes(range(32))
BLOCK, SNAPSHOT = "k3f9a2qd.v2#17", "snap_1"
PATH = f"/api/blocks/{BLOCK}"
NOW_MS = 1_790_000_000_000


def links(secret: bytes | None = SECRET, *, owner_key: str | None = "geheim", at_ms: int = NOW_MS) -> BlockLinks:
    return BlockLinks(secret, owner_key=owner_key, now_ms=lambda: at_ms)


def taken_apart(address: str) -> tuple[str, dict[str, str]]:
    parts = urlsplit(address)
    return unquote(parts.path), dict(parse_qsl(parts.query))


def test_a_link_opens_its_block_until_its_time_is_over() -> None:
    path, query = taken_apart(links().path(BLOCK, SNAPSHOT, OWNER))
    last_ms = NOW_MS + DAYS * 86_400_000
    assert [links(at_ms=at_ms).opens(path, query) for at_ms in (NOW_MS, last_ms - 1, last_ms)] == [True, True, False]


@pytest.mark.parametrize(
    ("path", "changed"),
    [
        ("/api/blocks/k3f9a2qd.v2#18", {}),
        ("/api/blocks/k3f9a2qd.v2#17/", {}),
        ("/api/runs", {}),
        (PATH, {"snapshot": "snap_2"}),
        (PATH, {"key": "key_aaaaaaaa"}),
        (PATH, {"until": "9" * 20}),
        (PATH, {"until": "9" * 10_000}),
        (PATH, {"until": "٣"}),
        (PATH, {"signature": "签名"}),
        (PATH, {"signature": ""}),
    ],
)
def test_a_link_that_was_changed_opens_nothing(path: str, changed: dict[str, str]) -> None:
    _, query = taken_apart(links().path(BLOCK, SNAPSHOT, OWNER))
    assert not links().opens(path, query | changed)


def test_the_owner_s_links_end_with_his_key_and_nobody_else_s_do() -> None:
    path, query = taken_apart(links().path(BLOCK, SNAPSHOT, OWNER))
    assert [links(owner_key=key).opens(path, query) for key in ("geheim", "anders", None)] == [True, False, False]

    path, query = taken_apart(links().path(BLOCK, SNAPSHOT, Access(labels=frozenset(), key_id=KeyId("key_aaaaaaaa"))))
    assert links(owner_key="anders").opens(path, query)


def test_a_link_made_for_a_key_names_it_and_opens_for_no_other() -> None:
    path, query = taken_apart(links().path(BLOCK, SNAPSHOT, Access(labels=frozenset(), key_id=KeyId("key_aaaaaaaa"))))
    assert (query["key"], links().opens(path, query)) == ("key_aaaaaaaa", True)
    assert not links().opens(path, query | {"key": "key_bbbbbbbb"})
    assert not links().opens(path, {name: value for name, value in query.items() if name != "key"})


def test_another_installation_s_link_opens_nothing_here() -> None:
    address = taken_apart(links(bytes(32)).path(BLOCK, SNAPSHOT, OWNER))
    assert not links().opens(*address)
    assert not links(None).opens(*address)


def test_where_no_key_is_demanded_a_link_names_only_its_snapshot() -> None:
    assert links(None).path(BLOCK, SNAPSHOT, OWNER) == "/api/blocks/k3f9a2qd.v2%2317?snapshot=snap_1"


def test_the_secret_is_made_once_and_readable_for_its_owner_only(tmp_path: Path) -> None:
    made = read_secret(tmp_path / "links.key")
    assert read_secret(tmp_path / "links.key") == made
    assert len(made) == 32
    assert stat.S_IMODE((tmp_path / "links.key").stat().st_mode) == 0o600
    assert [file.name for file in tmp_path.iterdir()] == ["links.key"]
