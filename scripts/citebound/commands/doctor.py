"""`citebound doctor`: what is configured, what is missing, what is broken, and what to do; works when nothing runs."""

import argparse
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from scripts.citebound.console import as_called, plain, print_json
from scripts.citebound.doctor import machine
from scripts.citebound.doctor.check import Check, State
from scripts.citebound.doctor.configured import read_settings, running_settings
from scripts.citebound.failure import FAILED, OK
from scripts.citebound.supervisor.instance import is_alive, read_instance
from scripts.citebound.supervisor.readiness import read_readiness
from shared.errors import CiteboundError
from shared.layout import Layout
from shared.settings_load import data_folder

_MARKS: Final[dict[State, tuple[str, str]]] = {
    "ok": ("✓", "green"),
    "note": ("!", "yellow"),
    "missing": ("–", "dim"),
    "broken": ("✗", "red"),
}


def doctor(arguments: argparse.Namespace) -> int:
    checks: list[Check] = []
    for check in examine(os.environ, online=arguments.online):
        checks.append(check)
        if not arguments.json:
            _print(check)
    broken = [check for check in checks if check.state == "broken"]
    if arguments.json:
        print_json(checks)
    else:
        plain(f"{len(broken)} broken" if broken else "nothing is broken", "bold red" if broken else "bold green")
    return FAILED if broken else OK


def examine(env: Mapping[str, str], *, online: bool) -> Iterator[Check]:
    """Every check in the order a start needs them. Changes nothing in the data folder."""
    from scripts.citebound.doctor import (
        contents,
        figures,
        recovery,
        reranking,
    )  # engines and models: seconds of imports that no other command should pay

    yield machine.python()
    layout = Layout(root=Path(data_folder(env)))
    settings, described = read_settings(env)
    there = read_instance(layout)
    differing: frozenset[str] = frozenset()  # sections that this shell would set in another way than what runs
    if settings is not None and there is not None and there.settings is not None and is_alive(there.pid):
        described, differing = running_settings(settings, there.settings)
    yield from described
    is_full = False
    for check in machine.folder(layout.root):
        is_full = is_full or (check.name == "disk" and check.state == "broken")
        yield check
    address, running = machine.instance(layout)
    yield running
    if settings is None:
        return
    if address is None:
        yield machine.port(settings)
    looks: dict[str, Callable[[], Check]] = {
        "broker": lambda: machine.broker_check(settings, layout, running=address is not None),
        "qdrant": lambda: machine.qdrant(settings),
        "embedding": lambda: contents.embedder(settings, online=online),
        "rerank": lambda: reranking.reranker(settings, online=online),
        "chat": lambda: contents.chat(settings, online=online),
    }
    for section, look in looks.items():
        if section not in differing:  # else it would be about something that does not run
            yield look()
    snapshot_is_there = False
    for check in _looked_at("catalog", contents.catalog(layout), is_full=is_full):
        snapshot_is_there = snapshot_is_there or (check.name == "snapshot" and check.state != "missing")
        yield check
    if snapshot_is_there:
        yield from _looked_at("figures", figures.figures(settings.alerts, layout), is_full=is_full)
    ready = None if address is None else _ready(address, settings.api.api_key)
    if ready is not None:
        yield ready
    if snapshot_is_there and (ready is None or ready.state == "broken"):
        yield from _looked_at("collection", recovery.collection(settings, layout), is_full=is_full)


def _looked_at(name: str, checks: Iterator[Check], *, is_full: bool) -> Iterator[Check]:
    """What can't even be looked at is broken; the other checks go on. On a full disk nothing can be told of it: nobody should move it away."""
    try:
        yield from checks
    except CiteboundError as error:
        remedy = "restore a backup (a copy NAME.schema-N is made before each upgrade), or move it away and import again"
        if is_full:
            remedy = "make room, then look again: ./scripts/run doctor"
        yield Check(name=name, state="broken", detail=f"{error.message} ({error.code})", remedy=remedy)


def _ready(address: str, key: str | None) -> Check:
    parts = read_readiness(address, key=key, timeout_s=10)
    log = "see api.log in the data folder's logs; the supervisor starts it again if it died"
    if parts is None:
        return Check(name="ready", state="broken", detail=f"{address} does not answer", remedy=log)
    wrong = [f"{name} {part.state}: {part.detail}" for name, part in parts.items() if part.state not in ("ok", "none")]
    if wrong:
        return Check(name="ready", state="broken", detail="; ".join(wrong), remedy=log)
    return Check(name="ready", state="ok", detail=f"{', '.join(parts)} answer")


def _print(check: Check) -> None:
    mark, style = _MARKS[check.state]
    plain(f"{mark} {check.name}: {check.detail}", style)
    for line in check.remedy.splitlines():
        plain(as_called(f"    → {line}"))
