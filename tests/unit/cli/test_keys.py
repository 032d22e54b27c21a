"""`keys add | list | revoke`: on the data folder itself, and over HTTP when another server is named."""

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from scripts.citebound.__main__ import main
from shared.catalog.db import open_database
from shared.catalog.keys import key_with_secret
from shared.clock import now_ms
from shared.types.keys import ApiKey, KeyLimits
from tests.unit.cli.served import serving

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(own_folder: Callable[[str], None], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    own_folder("")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")

    def typed(*argv: str) -> tuple[int, str, str]:
        code = main(argv)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return typed


def found(folder: Path, secret: str) -> ApiKey | None:
    with closing(open_database(folder / "catalog.db")) as db:
        return key_with_secret(db, secret, now_ms=now_ms())


def test_the_first_key_is_made_where_nothing_runs(run: Run, tmp_path: Path) -> None:
    code, out, err = run(
        "keys",
        "add",
        "财务助手",
        "--role",
        "finance",
        "--role",
        "hr",
        "--days",
        "2",
        "--max-tool-calls",
        "3",
        "--finalization-reserve-tokens",
        "900",
    )
    secret = out.strip()
    key = found(tmp_path, secret)
    assert code == 0
    assert key is not None
    assert (key.name, key.permission, key.roles) == ("财务助手", "read", ("finance", "hr"))
    assert (key.limits, key.requests_per_minute) == (KeyLimits(max_tool_calls=3, finalization_reserve_tokens=900), 600)
    assert key.expires_at_ms is not None
    assert abs(key.expires_at_ms - key.created_at_ms - 2 * 86_400_000) < 60_000
    assert "CITEBOUND_API_REQUIRE_KEY=true" in err
    assert secret not in err


def test_where_keys_are_demanded_nothing_is_warned_of(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEBOUND_API_REQUIRE_KEY", "true")
    assert "REQUIRE_KEY" not in run("keys", "add", "a")[2]


def test_keys_are_listed_without_their_secrets_and_revoked_by_name(run: Run, tmp_path: Path) -> None:
    secret = run("keys", "add", "助手", "--requests-per-minute", "0")[1].strip()
    code, listed, _ = run("keys")
    assert code == 0
    assert "助手" in listed
    assert "never used" in listed
    assert secret[13:] not in listed
    assert run("keys", "revoke", "助手")[0] == 0
    assert found(tmp_path, secret) is None
    (one,) = json.loads(run("keys", "list", "--json")[1])
    assert (one["name"], one["requests_per_minute"], one["revoked_at_ms"] is not None) == ("助手", None, True)


def test_a_key_of_before_that_ends_after_all_dates_is_listed(run: Run, tmp_path: Path) -> None:
    run("keys", "add", "助手", "--days", "1")
    with closing(open_database(tmp_path / "catalog.db")) as db:
        db.conn.execute("update api_keys set expires_at_ms = ?", [9 * 10**18])
    code, listed, _ = run("keys")
    assert code == 0
    assert "until 999" in listed


@pytest.mark.parametrize(
    ("argv", "code", "error"),
    [
        (("keys", "revoke", "没有"), 1, "not_found"),
        (("keys", "add", ""), 2, "usage"),
        (("keys", "add", "a", "--requests-per-minute", "-1"), 2, "usage"),
        (("keys", "add", "a", "--permission", "root"), 2, "usage"),
        (("keys", "add", "a", "--permission", "write", "--role", "hr"), 1, "invalid_argument"),
        (("keys", "add", "a", "--max-context-tokens", "5"), 1, "invalid_argument"),
        (("keys", "add", "a", "--days", "-1"), 1, "invalid_argument"),
        (("keys", "add", "a", "--days", "9999999"), 2, "usage"),
        (("keys", "add", "a", "--days", "99999999999999"), 2, "usage"),
        (("keys", "add", "a", "--max-wall-seconds", "1" + "0" * 30), 2, "usage"),
        (("keys", "add", "a/b"), 2, "usage"),
    ],
)
def test_what_can_not_be_done_says_so(run: Run, argv: tuple[str, ...], code: int, error: str) -> None:
    ended, out, _ = run(*argv, "--json")
    assert (ended, json.loads(out)["error"]["code"]) == (code, error)


def test_another_server_is_asked_over_http(run: Run, tmp_path: Path) -> None:
    key: dict[str, Any] = {
        "key_id": "key_abcdefgh",
        "name": "a",
        "prefix": "cbk_abcdefgh",
        "permission": "read",
        "roles": ["hr"],
        "limits": {},
        "requests_per_minute": 600,
        "created_at_ms": 1,
        "expires_at_ms": None,
        "last_used_at_ms": None,
        "revoked_at_ms": None,
    }
    with serving() as served:
        served.give("GET /api/keys", [key])
        served.give("POST /api/keys", {"secret": "cbk_abcdefgh_x", "key": key}, status=201)
        served.give("DELETE /api/keys/a", {**key, "revoked_at_ms": 2})
        assert run("keys", "add", "a", "--role", "hr", "--url", served.url)[1] == "cbk_abcdefgh_x\n"
        assert (served.last_body["name"], served.last_body["roles"]) == ("a", ["hr"])
        assert "key_abcdefgh" in run("keys", "--url", served.url)[1]
        assert run("keys", "revoke", "a", "--url", served.url)[0] == 0
    assert not (tmp_path / "catalog.db").exists()
