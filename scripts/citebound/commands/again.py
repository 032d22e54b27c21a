"""`citebound audit RUN` and `citebound rerun RUN`: what a run still allows; its question again, so and so often."""

import argparse
from typing import Final

from scripts.citebound.api import open_api, segment
from scripts.citebound.commands.named import last_run
from scripts.citebound.console import plain, print_json, words
from scripts.citebound.failure import DIFFERENT, IMPOSSIBLE, OK
from shared.types.again import Audit, Kind, Possible, Rerun
from shared.types.replays import VersionChange

_RUN_S: Final = 600  # that one run may take at most before this end gives up
_KINDS: Final[dict[Kind, tuple[str, str]]] = {
    "audit": ("which versions took part", "哪些版本参与"),
    "evidence": ("what exactly the model saw", "模型究竟看到了什么"),
    "replay": ("the same calls, the same blocks?", "同样的调用，同样的文本块？"),
    "rerun": ("the question again, how often it passes", "再次提问，通过率如何"),
}


def audit(arguments: argparse.Namespace) -> int:
    api = open_api(arguments.url)
    found = api.get(f"/api/runs/{segment(arguments.run_id or last_run(api))}/audit", Audit)
    if arguments.json:
        print_json(found)
        return OK
    plain(found.run_id, "bold")
    if found.rerun_of is not None:
        plain(words(f"repeats {found.rerun_of}", f"重跑自 {found.rerun_of}"), "dim")
    for one in found.again:
        plain(_line(one), "green" if one.possible else "yellow")
    _print_since(found.since)
    return OK


def rerun(arguments: argparse.Namespace) -> int:
    api = open_api(arguments.url)
    run_id = arguments.run_id or last_run(api)
    body = {"times": arguments.times, "expected_quote": arguments.expect}
    found = api.post(f"/api/runs/{segment(run_id)}/rerun", body, Rerun, timeout_s=_RUN_S * max(arguments.times, 1))
    if arguments.json:
        print_json(found)
    else:
        _print(found)
    if not found.possible:
        return IMPOSSIBLE
    return OK if found.passed == len(found.runs) else DIFFERENT


def _print(found: Rerun) -> None:
    for one in found.runs:
        told = [one.run_id, one.status, one.termination_reason, f"{one.duration_ms} ms", one.failure or ""]
        plain(
            f"{'✓' if one.passed else '✗'} {' · '.join(part for part in told if part)}", "" if one.passed else "yellow"
        )
    _print_since(found.since)
    if not found.possible or found.pass_rate is None:
        plain(f"{words('not possible', '无法重跑')} ({found.reason}): {found.detail}", "bold red")
        return
    total, share = len(found.runs), f"{found.pass_rate:.0%}"
    plain(
        words(
            f"{found.passed} of {total} passed ({share}), {found.flips} flips · {found.criterion}",
            f"{total} 次中 {found.passed} 次通过（{share}），翻转 {found.flips} 次 · {found.criterion}",
        ),
        "bold green" if found.passed == total else "bold yellow",
    )


def _line(one: Possible) -> str:
    mark = "✓" if one.possible else "✗"
    reason = "" if one.reason is None else f"  {one.reason}"
    detail = "" if one.detail is None else f": {one.detail}"
    return f"{mark} {one.kind}  {words(*_KINDS[one.kind])}{reason}{detail}"


def _print_since(since: tuple[VersionChange, ...]) -> None:
    for one in since:
        plain(words(f"{one.what} was {one.then}, is {one.now}", f"{one.what} 当时为 {one.then}，现为 {one.now}"), "dim")
