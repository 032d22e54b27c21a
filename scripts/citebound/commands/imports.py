"""`citebound import PATH…` and what can be done to imports: list, pause, resume, cancel, retry."""

import argparse
import shlex
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

from scripts.citebound.api import Api, compact, open_api, segment
from scripts.citebound.commands.folders import files_to_send, tell_vanished
from scripts.citebound.commands.scope import Snapshots, listed
from scripts.citebound.console import count, date, err, note, plain, print_json, table, words
from scripts.citebound.failure import FAILED, OK, PARTIAL, USAGE, CommandFailed
from shared.ids import ImportId
from shared.types.imports import Import, ImportMode, ImportState
from shared.types.snapshots import FailedDocument, Snapshot

RESTING: Final[frozenset[ImportState]] = frozenset({"paused", "cancelled", "completed", "failed"})
_POLL_S = 0.3


class Accepted(Struct, frozen=True, kw_only=True):
    """What matters of the reply to a new import."""

    import_id: ImportId


def import_paths(arguments: argparse.Namespace) -> int:
    mode: ImportMode = arguments.mode
    paths = wanted_paths(arguments.paths, mode)
    api = open_api(arguments.url)
    source = source_fields(arguments)
    by_bytes = bool(paths) and (arguments.upload or not api.is_local)
    accepted = send_files(api, paths, source, mode) if by_bytes else send_paths(api, paths, source, mode)
    if arguments.no_wait:
        print_json(accepted) if arguments.json else plain(accepted.import_id)
        return OK
    if not arguments.json:
        note(words(f"import {accepted.import_id}", f"导入 {accepted.import_id}"))
    try:
        finished = watch(api, accepted.import_id, show=not arguments.json and err.is_terminal)
    except KeyboardInterrupt:
        note(words("it goes on without you watching:", "导入仍在后台继续："))
        note("./scripts/run imports")
        note(f"./scripts/run cancel {accepted.import_id}")
        raise
    published = api.get("/api/snapshots", Snapshots).snapshots if finished.state == "completed" else ()
    if arguments.json:
        print_json(finished)
    else:
        print_outcome(finished, published)
        if finished.state == "completed" and mode == "add" and not by_bytes:
            tell_vanished(listed(api, None), paths)
    return exit_code(finished, published)


def wanted_paths(given: Sequence[str], mode: ImportMode) -> list[Path]:
    """Raises: CommandFailed (USAGE)."""
    if mode == "reindex":
        if given:
            raise CommandFailed(
                "reindex makes all documents anew and takes no paths",
                remedy="./scripts/run import --mode reindex",
                code=USAGE,
                error="usage",
            )
        return []
    if not given:
        raise CommandFailed(
            "no file or folder is named", remedy=f"./scripts/run import --mode {mode} PATH", code=USAGE, error="usage"
        )
    return [named(path) if mode == "remove" else existing(path) for path in given]


def exit_code(finished: Import, published: Sequence[Snapshot] = ()) -> int:
    """Documents that the base couldn't read either are no news. `published`: the snapshots there are."""
    if finished.state != "completed":
        return FAILED
    return PARTIAL if newly_failed(finished, published) else OK


def newly_failed(finished: Import, published: Sequence[Snapshot]) -> list[FailedDocument]:
    base = next((one for one in published if one.snapshot_id == finished.base_snapshot_id), None)
    known = {(one.source_label, one.key, one.code) for one in (base.failed_documents if base else ())}
    return [one for one in finished.failed_documents if (one.source_label, one.key, one.code) not in known]


def named(text: str) -> Path:
    """Absolute, because the server stands in another folder. Raises: CommandFailed (USAGE)."""
    if "://" in text:
        raise CommandFailed(
            f"{text} is an address, and those are not imported yet",
            remedy="save the page or file, then import it from disk",
            code=USAGE,
            error="usage",
        )
    return Path(text).expanduser().absolute()


def existing(text: str) -> Path:
    """Raises: CommandFailed (USAGE)."""
    path = named(text)
    if not path.exists():
        raise CommandFailed(f"there is no {path}", remedy="correct the path", code=USAGE, error="usage")
    return path


def source_fields(arguments: argparse.Namespace) -> dict[str, Any]:
    """What was said of the source; "" says that there are none. What was left out stays as it is: labels survive an import without flags."""
    given = {"label": arguments.label, "trust": arguments.trust, "lang_hint": arguments.lang}
    lists = {"aliases": arguments.alias, "access": arguments.access, "tags": arguments.tag}
    said = {name: [one for one in values if one] for name, values in lists.items() if values is not None}
    return {name: value for name, value in given.items() if value} | said


def send_paths(api: Api, paths: Sequence[Path], source: dict[str, Any], mode: ImportMode = "add") -> Accepted:
    body: dict[str, Any] = {"mode": mode, "paths": [str(path) for path in paths]}
    if source:
        body["source"] = source
    try:
        return api.post("/api/imports", body, Accepted)
    except CommandFailed as failed:
        if failed.error == "invalid_argument" and failed.field.startswith("paths"):
            again = " ".join(shlex.quote(str(path)) for path in paths)
            failed.remedy = f"send the files themselves:\n./scripts/run import --upload {again}"
        raise


def watch(api: Api, import_id: ImportId, *, show: bool) -> Import:
    """Ask until the import rests."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[detail]}"),
    )
    with Progress(*columns, console=err, disable=not show, transient=True) as bars:
        task = bars.add_task("", total=None, detail="")
        while (now := api.get(f"/api/imports/{import_id}", Import)).state not in RESTING:
            done, total, detail = standing(now)
            bars.update(task, description=now.stage or now.state, total=total or None, completed=done, detail=detail)
            time.sleep(_POLL_S)
    return now


def standing(now: Import) -> tuple[int, int, str]:
    """(done, of how many, in words): documents while they are read, blocks once those are known: one file may have thousands."""
    progress = now.progress
    if now.stage in (None, "discover", "parse", "chunk") or not progress.blocks:
        return _done(now), progress.total, f"{_done(now)}/{count(progress.total, 'document')}"
    detail = f"{progress.blocks_embedded}/{count(progress.blocks, 'block')}"
    if now.stage == "embed":  # what follows has no rate
        left = "" if progress.remaining_s is None else f" · {_left(progress.remaining_s)}"
        detail += f" · {progress.blocks_per_s:.1f}/s{left}"
    return progress.blocks_embedded, progress.blocks, detail


def _left(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return words(f"{minutes}:{rest:02} left", f"还需 {minutes}:{rest:02}")


def _done(one: Import) -> int:
    """Documents that need nothing more but the common last stages."""
    by_state = one.progress.by_state
    return sum(by_state.get(state, 0) for state in ("embedded", "indexed", "unchanged", "failed"))


def print_outcome(finished: Import, published: Sequence[Snapshot] = ()) -> None:
    """`published`: the snapshots there are, newest first."""
    match finished.state:
        case "completed":
            plain(_completed(finished, published), "yellow" if finished.failed_documents else "green")
            behind = _behind(finished, published)
            if behind:
                plain(
                    words(
                        f"built on {finished.base_snapshot_id}, which was active: {count(behind, 'snapshot')} behind the"
                        " newest; what only those hold is not in it",
                        f"以当时启用的 {finished.base_snapshot_id} 为基础：比最新快照早 {behind} 个，只在那些快照中的文档不在其中",
                    ),
                    "yellow",
                )
        case "failed":
            plain(f"failed: {finished.failure_reason} ({finished.failure_code})", "red")
            if finished.failure_code == "no_documents" and finished.mode in ("add", "sync"):
                note(
                    words(
                        "Hidden files are not imported. To take out what was imported from there:",
                        "隐藏文件不会导入。若要移除以前从那里导入的文档：",
                    )
                )
                note("./scripts/run import --mode remove PATH")
        case _:
            reason = f": {finished.pause_reason}" if finished.pause_reason else ""
            plain(f"{finished.state}{reason}", "yellow")
    print_failed(finished.failed_documents)


def _completed(finished: Import, published: Sequence[Snapshot]) -> str:
    progress, snapshot_id = finished.progress, finished.snapshot_id
    seconds = f"{progress.elapsed_ms / 1000:.1f}"
    if snapshot_id == finished.base_snapshot_id:
        return words(f"nothing changed: {snapshot_id}", f"没有变化：{snapshot_id}")
    sizes: dict[str | None, int] = {one.snapshot_id: one.documents for one in published}
    left, before = sizes.get(snapshot_id), sizes.get(finished.base_snapshot_id)
    if finished.mode == "remove":
        if left is not None and before is not None:
            return words(
                f"{count(before - left, 'document')} taken out, {left} left: {snapshot_id}",
                f"移除 {before - left} 份文档，剩余 {left} 份：{snapshot_id}",
            )
        return words(f"taken out: {snapshot_id}", f"已移除：{snapshot_id}")
    good = progress.total - len(finished.failed_documents)
    library = "" if left is None else words(f", {left} in the library now", f"，库中现有 {left} 份")
    return words(
        f"{good} of {count(progress.total, 'document')} ready{library}, {count(progress.blocks, 'new block')}, {seconds} s:"
        f" {snapshot_id}",
        f"{progress.total} 份文档中 {good} 份就绪{library}，新文本块 {progress.blocks} 个，{seconds} 秒：{snapshot_id}",
    )


def _behind(finished: Import, published: Sequence[Snapshot]) -> int:
    """How many snapshots had been published after the one this import was built on."""
    ready: list[str | None] = [one.snapshot_id for one in published if one.state in ("ready", "ready_partial")]
    if finished.base_snapshot_id not in ready:
        return 0
    newer = ready[: ready.index(finished.base_snapshot_id)]
    own = newer.index(finished.snapshot_id) + 1 if finished.snapshot_id in newer else 0
    return len(newer) - own


def print_failed(failed: Iterable[FailedDocument]) -> None:
    for document in failed:
        plain(
            f"  ✗ {document.source_label}/{document.key}: {document.reason} ({document.code}, {document.stage})",
            "yellow",
        )


def imports(arguments: argparse.Namespace) -> int:
    found = open_api(arguments.url).get("/api/imports", list[Import])
    if arguments.json:
        print_json(found)
        return OK
    if not found:
        note(words("no imports yet", "还没有导入"))
        return OK
    table(
        words("IMPORT,BEGUN,MODE,STATE,DOCUMENTS,FAILED,SNAPSHOT", "导入,开始,方式,状态,文档,失败,快照").split(","),
        [
            (
                one.import_id,
                date(one.created_at_ms),
                one.mode,
                f"{one.state} {one.stage}" if one.stage and one.state not in RESTING else one.state,
                f"{_done(one)}/{one.progress.total}",
                str(len(one.failed_documents) or ""),
                one.snapshot_id or "",
            )
            for one in found
        ],
    )
    return OK


def act(arguments: argparse.Namespace) -> int:
    """pause, resume, cancel, retry"""
    api = open_api(arguments.url)
    after = api.post(f"/api/imports/{segment(arguments.import_id)}/{arguments.command}", {}, Import)
    if arguments.json:
        print_json(after)
    else:
        plain(f"{after.import_id}  {after.state}")
    return OK


def send_files(api: Api, paths: Iterable[Path], source: dict[str, Any], mode: ImportMode) -> Accepted:
    """The bytes of every document. Raises: CommandFailed (USAGE)."""
    files = files_to_send(map(existing, map(str, paths)))  # also to be taken out: an upload is known by its name
    fields = {"mode": str(mode)} | ({"source": compact(source)} if source else {})
    return api.upload("/api/imports", files, fields, Accepted)
