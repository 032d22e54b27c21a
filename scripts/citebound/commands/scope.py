"""From what a person calls documents, sources and tags to the documents meant; and what the snapshot could not read."""

import argparse
import difflib
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePosixPath

from msgspec import Struct

from scripts.citebound.api import Api, segment
from scripts.citebound.console import count, note, words
from scripts.citebound.failure import USAGE, CommandFailed
from shared.ids import DocId, SnapshotId
from shared.types.snapshots import Snapshot, SnapshotDocument

_NAMED = 8  # of what there is, when something is not

Names = Callable[[SnapshotDocument], Iterable[str]]


class Snapshots(Struct, frozen=True, kw_only=True):
    """GET /api/snapshots"""

    active: SnapshotId | None
    snapshots: tuple[Snapshot, ...]  # newest first


def listed(api: Api, snapshot_id: str | None) -> list[SnapshotDocument]:
    """The documents of that snapshot, else of the active one."""
    query = {} if snapshot_id is None else {"snapshot_id": snapshot_id}
    return api.get("/api/documents", list[SnapshotDocument], **query)


def chosen(api: Api, arguments: argparse.Namespace) -> list[DocId] | None:
    """What --doc, --source and --tag mean together; None when none was given.

    Raises: CommandFailed (USAGE) naming what there is.
    """
    docs: list[str] = arguments.doc or []
    sources: list[str] = arguments.source or []
    tags: list[str] = arguments.tag or []
    if not (docs or sources or tags):
        return None
    there = listed(api, getattr(arguments, "snapshot", None))
    found = [member for name in docs for member in _document(name, there)]
    found += [member for name in sources for member in _members(name, there, "source", _labels)]
    found += [member for name in tags for member in _members(name, there, "tag", lambda one: one.tags)]
    return list(dict.fromkeys(one.doc_id for one in found))


def tell_gap(api: Api, snapshot_id: SnapshotId) -> None:
    """One line when some documents of the snapshot were never read."""
    missing = len(api.get(f"/api/snapshots/{segment(snapshot_id)}", Snapshot).failed_documents)
    if missing:
        note(
            words(
                f"{count(missing, 'document')} of this snapshot could not be read: ./scripts/run snapshots",
                f"此快照有 {missing} 份文档未能读取：./scripts/run snapshots",
            ),
            "yellow",
        )


def _document(name: str, there: Sequence[SnapshotDocument]) -> list[SnapshotDocument]:
    """By id, else by the whole name in the source, else by file name or title; all of the first that fits."""
    ways: tuple[Names, ...] = (
        lambda one: (one.doc_id, f"{one.doc_id}.v{one.version}"),
        lambda one: (one.key, f"{one.source_label}/{one.key}"),
        lambda one: (PurePosixPath(one.key).name, one.title),
    )
    for names in ways:
        if found := _called(name, there, names):
            return found
    raise _unknown(name, "document", [one.key for one in there], [one.title for one in there])


def _members(name: str, there: Sequence[SnapshotDocument], kind: str, names: Names) -> list[SnapshotDocument]:
    found = _called(name, there, names)
    if not found:
        raise _unknown(name, kind, [known for one in there for known in names(one)])
    return found


def _labels(document: SnapshotDocument) -> Iterable[str]:
    return (document.source_label, *document.aliases)


def _called(name: str, there: Iterable[SnapshotDocument], names: Names) -> list[SnapshotDocument]:
    wanted = name.casefold()
    return [one for one in there if any(known.casefold() == wanted for known in names(one))]


def _unknown(name: str, kind: str, there: Iterable[str], also: Iterable[str] = ()) -> CommandFailed:
    """What is most like it first, then the others, as many as one can look at."""
    known = sorted(set(there))
    near = difflib.get_close_matches(name, [*known, *also], n=3, cutoff=0.5)
    named = list(dict.fromkeys([*near, *known]))
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    remedy = f"there are: {', '.join(named[:_NAMED])}{more}" if named else f"no {kind} has been imported with one"
    if kind == "document" and named:
        remedy += "\n./scripts/run documents lists them"
    return CommandFailed(f"there is no {kind} {name!r}", remedy=remedy, code=USAGE, error="scope_not_found")
