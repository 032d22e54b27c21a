"""`citebound keys add | list | revoke`: who may come in besides the owner.

Without --url or CITEBOUND_URL straight in the catalog of the data folder, whether something runs on it or not: whoever may write that
folder is the owner, and the first key must be made before anybody can bring one. A running server sees the change at once.
"""

import argparse
import os
import time
from collections.abc import Generator
from contextlib import closing, contextmanager

from msgspec import ValidationError, convert, to_builtins

from scripts.citebound.api import URL, open_api, segment
from scripts.citebound.console import date, note, plain, print_json, words
from scripts.citebound.failure import OK, USAGE, CommandFailed
from shared.catalog.db import Database, open_database
from shared.catalog.keys import add_key, list_keys, revoke_key
from shared.catalog.migrations import migrate
from shared.keys import check_ceiling, demands_key
from shared.layout import Layout
from shared.settings_load import data_folder, load_settings
from shared.types.keys import ApiKey, KeyLimits, MadeKey, NewKey

_DAY_MS = 86_400_000
_PATH = "/api/keys"


def keys(arguments: argparse.Namespace) -> int:
    """keys and keys list"""
    if _is_remote(arguments):
        listed = open_api(arguments.url).get(_PATH, list[ApiKey])
    else:
        with _catalog() as db:
            listed = list_keys(db)
    if arguments.json:
        print_json(listed)
        return OK
    for one in listed:
        plain(_line(one), "dim" if one.revoked_at_ms else None)
    if not listed:
        note(
            words(
                "no keys; make one with ./scripts/run keys add NAME", "还没有密钥；用 ./scripts/run keys add 名称 创建"
            )
        )
    return OK


def add(arguments: argparse.Namespace) -> int:
    wanted = _wanted(arguments, now_ms=_now_ms())
    if _is_remote(arguments):
        made = open_api(arguments.url).post(_PATH, to_builtins(wanted), MadeKey)
    else:
        check_ceiling(load_settings(os.environ).limits, wanted.limits)
        with _catalog() as db:
            made = add_key(db, wanted, now_ms=_now_ms())
    if arguments.json:
        print_json(made)
        return OK
    plain(made.secret)
    note(_line(made.key))
    note(
        words(
            "This is the only time it is shown. Send it as Authorization: Bearer …",
            "仅此一次显示。请以 Authorization: Bearer … 发送",
        )
    )
    if not _is_remote(arguments) and not demands_key(load_settings(os.environ).api):
        note(
            words(
                "Nobody needs a key here yet: whoever reaches this server on loopback is the owner. CITEBOUND_API_REQUIRE_KEY=true"
                " changes that.",
                "目前此处不需要密钥：能从本机访问此服务的人即为所有者。设置 CITEBOUND_API_REQUIRE_KEY=true 可更改。",
            ),
            "yellow",
        )
    return OK


def revoke(arguments: argparse.Namespace) -> int:
    if _is_remote(arguments):
        gone = open_api(arguments.url).delete(f"{_PATH}/{segment(arguments.key)}", ApiKey)
    else:
        with _catalog() as db:
            gone = revoke_key(db, arguments.key, now_ms=_now_ms())
    if arguments.json:
        print_json(gone)
    else:
        plain(words(f"{gone.key_id} lets nobody in any more", f"{gone.key_id} 已失效"), "green")
    return OK


def _wanted(arguments: argparse.Namespace, *, now_ms: int) -> NewKey:
    given = {
        "name": arguments.name,
        "permission": arguments.permission,
        "roles": arguments.role or (),
        "limits": {name: getattr(arguments, name) for name in KeyLimits.__struct_fields__},
        "requests_per_minute": arguments.requests_per_minute or None,
        "expires_at_ms": None if arguments.days is None else now_ms + arguments.days * _DAY_MS,
    }
    try:
        return convert(given, NewKey)
    except ValidationError as error:
        raise CommandFailed(
            f"no key can be made like that: {error}", remedy="./scripts/run keys add --help", code=USAGE, error="usage"
        ) from error


def _is_remote(arguments: argparse.Namespace) -> bool:
    return bool(arguments.url or os.environ.get(URL))


@contextmanager
def _catalog() -> Generator[Database]:
    layout = Layout(root=data_folder(os.environ))
    layout.create()
    with closing(open_database(layout.catalog)) as db:
        migrate(db)
        yield db


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _line(key: ApiKey) -> str:
    limits = [f"{name} {value}" for name, value in to_builtins(key.limits).items() if value is not None]
    facts = [
        f"{key.key_id}  {key.name}",
        key.permission + (f" ({', '.join(key.roles)})" if key.roles else ""),
        words(f"made {date(key.created_at_ms)}", f"创建 {date(key.created_at_ms)}"),
        words("never used", "从未使用")
        if key.last_used_at_ms is None
        else words(f"used {date(key.last_used_at_ms)}", f"使用 {date(key.last_used_at_ms)}"),
        ""
        if key.expires_at_ms is None
        else words(f"until {date(key.expires_at_ms)}", f"有效至 {date(key.expires_at_ms)}"),
        "" if key.requests_per_minute is None else f"{key.requests_per_minute}/min",
        *limits,
        ""
        if key.revoked_at_ms is None
        else words(f"revoked {date(key.revoked_at_ms)}", f"撤销 {date(key.revoked_at_ms)}"),
    ]
    return "  ".join(fact for fact in facts if fact)
