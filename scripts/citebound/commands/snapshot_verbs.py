"""`citebound snapshots show | diff | pin | unpin | verify | delete`: one snapshot, looked at and cared for."""

import argparse
from collections.abc import Iterable

from msgspec import Struct

from scripts.citebound.api import Api, open_api, segment
from scripts.citebound.commands.imports import print_failed
from scripts.citebound.commands.scope import Snapshots
from scripts.citebound.console import count, date, note, plain, print_json, words
from scripts.citebound.failure import FAILED, OK, USAGE, CommandFailed
from shared.types.snapshots import ChangedMember, Snapshot, SnapshotDiff, SnapshotDocument, Verification

VERIFY_S = 3600.0  # everything is read: 65 s per 100,000 blocks, and the collection's files
_LABELS = ("source_label", "aliases", "trust", "access", "tags", "key")
_MARKS = {"ok": ("✓", "green"), "note": ("!", "yellow"), "broken": ("✗", "red"), "skipped": ("–", "dim")}


class Removing(Struct, frozen=True, kw_only=True):
    """DELETE /api/snapshots/{id}"""

    snapshot_id: str
    state: str


def show(arguments: argparse.Namespace) -> int:
    one = open_api(arguments.url).get(_path(arguments.snapshot_id), Snapshot)
    if arguments.json:
        print_json(one)
        return OK
    plain(f"{one.snapshot_id}  {one.state}", "bold")
    for name, value in (
        (words("made", "建立"), date(one.created_at_ms)),
        (words("published", "发布"), date(one.published_at_ms) if one.published_at_ms else ""),
        (words("documents", "文档"), str(one.documents)),
        (words("blocks", "文本块"), str(one.blocks)),
        (words("embedding", "向量模型"), f"{one.embedding_version}, {one.dimensions}"),
        (words("keywords", "关键词"), one.keyword_version),
        (words("import", "导入"), one.import_id),
        (words("built on", "基于"), one.base_snapshot_id or ""),
        (words("manifest", "清单"), one.manifest_sha256 or ""),
        (words("kept", "保留"), _kept(one)),
        (words("failure", "失败"), one.failure or ""),
    ):
        if value:
            plain(f"  {name}: {value}")
    print_failed(one.failed_documents)
    return OK


def diff(arguments: argparse.Namespace) -> int:
    api = open_api(arguments.url)
    other = arguments.other or _active(api)
    found = api.get(f"{_path(arguments.snapshot_id)}/diff/{segment(other)}", SnapshotDiff)
    if arguments.json:
        print_json(found)
        return OK
    before, after = found.counts_before, found.counts_after
    plain(f"{found.before} → {found.after}", "bold")
    plain(
        words(
            f"{count(before.documents, 'document')}, {count(before.blocks, 'block')} → "
            f"{count(after.documents, 'document')}, {count(after.blocks, 'block')}; {found.unchanged} unchanged",
            f"{before.documents} 份文档、{before.blocks} 个文本块 → {after.documents} 份文档、{after.blocks} 个文本块；"
            f"{found.unchanged} 份未变",
        )
    )
    _list("+", found.added, "green")
    _list("-", found.removed, "red")
    for pair in found.changed:
        plain(f"  ~ {_name(pair.after)}  v{pair.before.version} → v{pair.after.version}", "yellow")
    for pair in found.relabelled:
        plain(f"  = {_name(pair.after)}  {', '.join(_changed_labels(pair))}", "yellow")
    return OK


def pin(arguments: argparse.Namespace) -> int:
    """pin and unpin"""
    after = open_api(arguments.url).post(f"{_path(arguments.snapshot_id)}/{arguments.verb}", {}, Snapshot)
    if arguments.json:
        print_json(after)
    elif after.pinned:
        plain(words(f"{after.snapshot_id} stays", f"{after.snapshot_id} 将一直保留"), "green")
    else:
        plain(words(f"{after.snapshot_id} may go when it is old", f"{after.snapshot_id} 过期后可移除"))
    return OK


def verify(arguments: argparse.Namespace) -> int:
    api = open_api(arguments.url)
    found = api.post(f"{_path(arguments.snapshot_id)}/verify", {}, Verification, timeout_s=VERIFY_S)
    if arguments.json:
        print_json(found)
    else:
        for check in found.checks:
            mark, style = _MARKS[check.state]
            plain(f"{mark} {check.name}: {check.detail}", style)
        if not found.sound:
            note(words("what to do: ./scripts/run doctor", "如何处理：./scripts/run doctor"), "yellow")
    return OK if found.sound else FAILED


def delete(arguments: argparse.Namespace) -> int:
    gone = open_api(arguments.url).delete(_path(arguments.snapshot_id), Removing)
    if arguments.json:
        print_json(gone)
    else:
        plain(words(f"{gone.snapshot_id} is removed", f"{gone.snapshot_id} 已移除"), "green")
        note(
            words(
                "its space is freed in the background; answers that cite it keep their quotes",
                "空间将在后台释放；引用过它的回答仍保留引文",
            )
        )
    return OK


def _active(api: Api) -> str:
    active = api.get("/api/snapshots", Snapshots).active
    if active is None:
        raise CommandFailed(
            "nothing is active to compare with", remedy="name two snapshots", code=USAGE, error="no_snapshot"
        )
    return active


def _path(snapshot_id: str) -> str:
    return f"/api/snapshots/{segment(snapshot_id)}"


def _kept(one: Snapshot) -> str:
    kept = [words("pinned", "已固定")] if one.pinned else []
    return ", ".join([*kept, words("for an evaluation", "供评测使用")] if one.frozen else kept)


def _list(mark: str, documents: Iterable[SnapshotDocument], style: str) -> None:
    for one in documents:
        plain(f"  {mark} {_name(one)}  {count(one.blocks, 'block')}", style)


def _name(document: SnapshotDocument) -> str:
    title = "" if document.title == document.key else f"  {document.title}"
    return f"{document.source_label}/{document.key}{title}"


def _changed_labels(pair: ChangedMember) -> list[str]:
    changed = [
        f"{name}: {_shown(getattr(pair.before, name))} → {_shown(getattr(pair.after, name))}"
        for name in _LABELS
        if getattr(pair.before, name) != getattr(pair.after, name)
    ]
    return changed or ["details"]


def _shown(value: str | tuple[str, ...]) -> str:
    return value if isinstance(value, str) else "+".join(value) or "none"
