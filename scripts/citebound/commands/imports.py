"""`citebound import PATH…` and what can be done to imports: list, pause, resume, cancel, retry."""

import argparse
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from scripts.citebound.api import Api, compact, open_api
from scripts.citebound.console import err, note, plain, print_json, words
from scripts.citebound.failure import FAILED, OK, PARTIAL, USAGE, CommandFailed
from shared.ids import ImportId
from shared.types.imports import Import, ImportState
from shared.types.snapshots import FailedDocument

RESTING: Final[frozenset[ImportState]] = frozenset({"paused", "cancelled", "completed", "failed"})
_POLL_S = 0.3
_MOST_UPLOADS = 500  # files in one request: each is held open while it is sent


class Accepted(Struct, frozen=True, kw_only=True):
    """What matters of the reply to a new import."""

    import_id: ImportId


def import_paths(arguments: argparse.Namespace) -> int:
    api = open_api(arguments.url)
    paths = [existing(path) for path in arguments.paths]
    source = source_fields(arguments)
    upload = arguments.upload or not api.is_local
    accepted = send_files(api, paths, source) if upload else send_paths(api, paths, source)
    if arguments.no_wait:
        print_json(accepted) if arguments.json else plain(accepted.import_id)
        return OK
    if not arguments.json:
        note(words(f"import {accepted.import_id}", f"导入 {accepted.import_id}"))
    try:
        finished = watch(api, accepted.import_id, show=not arguments.json and err.is_terminal)
    except KeyboardInterrupt:
        note(
            words("it goes on without you watching", "导入仍在后台继续")
            + f": citebound imports | cancel {accepted.import_id}"
        )
        raise
    if arguments.json:
        print_json(finished)
    else:
        print_outcome(finished)
    return exit_code(finished)


def exit_code(finished: Import) -> int:
    if finished.state != "completed":
        return FAILED
    return PARTIAL if finished.failed_documents else OK


def existing(text: str) -> Path:
    """Absolute, because the server stands in another folder. Raises: CommandFailed (USAGE)."""
    path = Path(text).expanduser().absolute()
    if not path.exists():
        raise CommandFailed(f"there is no {path}", remedy="correct the path", code=USAGE, error="usage")
    return path


def source_fields(arguments: argparse.Namespace) -> dict[str, Any]:
    given = {"label": arguments.label, "trust": arguments.trust, "tags": arguments.tag}
    return {name: value for name, value in given.items() if value}


def send_paths(api: Api, paths: Iterable[Path], source: dict[str, Any]) -> Accepted:
    body: dict[str, Any] = {"paths": [str(path) for path in paths]}
    if source:
        body["source"] = source
    return api.post("/api/imports", body, Accepted)


def watch(api: Api, import_id: ImportId, *, show: bool) -> Import:
    """Ask until the import rests."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[detail]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err, disable=not show, transient=True) as bars:
        task = bars.add_task("", total=None, detail="")
        while (now := api.get(f"/api/imports/{import_id}", Import)).state not in RESTING:
            progress = now.progress
            bars.update(
                task,
                description=now.stage or now.state,
                total=progress.total or None,
                completed=_done(now),
                detail=f"{_done(now)}/{progress.total} · {progress.blocks_embedded}/{progress.blocks} blocks"
                f" · {progress.blocks_per_s:.1f}/s",
            )
            time.sleep(_POLL_S)
    return now


def _done(one: Import) -> int:
    """Documents that need nothing more but the common last stages."""
    by_state = one.progress.by_state
    return sum(by_state.get(state, 0) for state in ("embedded", "indexed", "unchanged", "failed"))


def print_outcome(finished: Import) -> None:
    progress = finished.progress
    good = progress.total - len(finished.failed_documents)
    seconds = progress.elapsed_ms / 1000
    match finished.state:
        case "completed":
            text = words(
                f"{good} of {progress.total} documents ready, {progress.blocks} blocks, {seconds:.1f} s: {finished.snapshot_id}",
                f"{progress.total} 份文档中 {good} 份就绪，{progress.blocks} 个文本块，{seconds:.1f} 秒：{finished.snapshot_id}",
            )
            plain(text, "yellow" if finished.failed_documents else "green")
        case "failed":
            plain(f"failed: {finished.failure_reason} ({finished.failure_code})", "red")
        case _:
            reason = f": {finished.pause_reason}" if finished.pause_reason else ""
            plain(f"{finished.state}{reason}", "yellow")
    print_failed(finished.failed_documents)


def print_failed(failed: Iterable[FailedDocument]) -> None:
    for document in failed:
        plain(
            f"  ✗ {document.source_label}/{document.key}: {document.reason} ({document.code}, {document.stage})",
            "yellow",
        )


def imports(arguments: argparse.Namespace) -> int:
    listed = open_api(arguments.url).get("/api/imports", list[Import])
    if arguments.json:
        print_json(listed)
        return OK
    if not listed:
        note(words("no imports yet", "还没有导入"))
    for one in listed:
        stage = f" {one.stage}" if one.stage else ""
        plain(
            f"{one.import_id}  {one.state}{stage}  {_done(one)}/{one.progress.total} documents"
            f"  {len(one.failed_documents)} failed  {one.snapshot_id or ''}".rstrip()
        )
    return OK


def act(arguments: argparse.Namespace) -> int:
    """pause, resume, cancel, retry"""
    api = open_api(arguments.url)
    after = api.post(f"/api/imports/{arguments.import_id}/{arguments.command}", {}, Import)
    if arguments.json:
        print_json(after)
    else:
        plain(f"{after.import_id}  {after.state}")
    return OK


def send_files(api: Api, paths: Iterable[Path], source: dict[str, Any]) -> Accepted:
    """The bytes of every file that isn't hidden, named relative to the folder given. Raises: CommandFailed (USAGE)."""
    files: list[tuple[str, Path]] = []
    for path in paths:
        if path.is_dir():
            found = sorted(file for file in path.rglob("*") if file.is_file() and not _hidden(file.relative_to(path)))
            files += [(file.relative_to(path.parent).as_posix(), file) for file in found]
        else:
            files.append((path.name, path))
    if not 1 <= len(files) <= _MOST_UPLOADS:
        raise CommandFailed(
            f"{len(files)} files there; an upload takes 1 to {_MOST_UPLOADS}",
            remedy="name fewer, or import the folder by its path on the machine where Citebound runs",
            code=USAGE,
            error="usage",
        )
    return api.upload("/api/imports", files, {"source": compact(source)} if source else {}, Accepted)


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
