"""`citebound feedback` and `citebound cases`: say what an answer was worth; look at cases, work on one, export them as evaluation items."""

import argparse
import sys

import msgspec
from msgspec import UNSET, Struct, UnsetType

from scripts.citebound.api import open_api, segment
from scripts.citebound.commands.named import last_run
from scripts.citebound.console import date, note, plain, print_json, words
from scripts.citebound.failure import OK
from shared.types.cases import Case, CaseStatus, EvaluationItem, Feedback, Layer


class _Change(Struct, frozen=True, kw_only=True):
    layer: Layer | UnsetType = UNSET
    status: CaseStatus | UnsetType = UNSET
    gold: tuple[int, ...] | UnsetType = UNSET
    note: str | UnsetType = UNSET


def feedback(arguments: argparse.Namespace) -> int:
    api = open_api(arguments.url)
    run_id = arguments.run_id or last_run(api)
    body = {"thumb": arguments.thumb, "comment": arguments.comment, "layer": arguments.layer}
    given = api.post(f"/api/runs/{segment(run_id)}/feedback", body, Feedback)
    if arguments.json:
        print_json(given)
    elif given.case is None:
        plain(words(f"taken down for {run_id}", f"已记录：{run_id}"))
    else:
        _print(given.case)
    return OK


def cases(arguments: argparse.Namespace) -> int:
    query = {} if arguments.status is None else {"status": arguments.status}
    found = open_api(arguments.url).get("/api/cases", list[Case], **query)
    if arguments.json:
        print_json(found)
        return OK
    if not found:
        note(words("there are no such cases", "没有这样的案例"))
    for one in found:
        _print(one)
    return OK


def mark(arguments: argparse.Namespace) -> int:
    change = _Change(
        layer=arguments.layer or UNSET,
        status=arguments.status or UNSET,
        gold=UNSET if arguments.gold is None else tuple(arguments.gold),
        note=UNSET if arguments.note is None else arguments.note,
    )
    case = open_api(arguments.url).post(_path(arguments.case_id), msgspec.to_builtins(change), Case)
    if arguments.json:
        print_json(case)
    else:
        _print(case)
    return OK


def export(arguments: argparse.Namespace) -> int:
    """One JSON value a line, also without --json: it is made for files."""
    api = open_api(arguments.url)
    wanted = arguments.case_ids or [one.case_id for one in api.get("/api/cases", list[Case], limit="1000")]
    items = [api.get(f"{_path(case_id)}/item", EvaluationItem) for case_id in wanted]
    for item in items:
        sys.stdout.write(msgspec.json.encode(item).decode() + "\n")
    without = sum(not item.gold for item in items)
    if without:
        note(
            words(
                f"{without} of {len(items)} have no gold quote: ./scripts/run cases mark CASE --gold MARKER",
                f"{len(items)} 条中有 {without} 条没有标准引文：./scripts/run cases mark CASE --gold MARKER",
            )
        )
    return OK


def _path(case_id: str) -> str:
    return f"/api/cases/{segment(case_id)}"


def _print(case: Case) -> None:
    told = [case.status, case.layer or words("layer unknown", "环节未定"), case.run_status, date(case.made_at_ms)]
    plain(f"{case.case_id}  {' · '.join(told)}", "bold")
    plain(f"  {' '.join(case.question.split())}")
    for one in case.said:
        plain(f"  {'+' if one.thumb == 'up' else '−'} {one.by}: {' '.join(one.comment.split())}".rstrip(": "), "dim")
    if case.gold:
        plain(f"  gold {' '.join(f'[{marker}]' for marker in case.gold)}", "green")
    if case.note:
        plain(f"  {' '.join(case.note.split())}", "dim")
