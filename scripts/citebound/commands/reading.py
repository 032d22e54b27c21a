"""`citebound documents` and `block`: what is in the library, and a cited block with its surroundings."""

import argparse
from urllib.parse import quote

import msgspec
from msgspec import Struct

from scripts.citebound.api import open_api
from scripts.citebound.commands.ask import place
from scripts.citebound.console import note, out, plain, print_json, words
from scripts.citebound.failure import OK, USAGE, CommandFailed
from shared.ids import is_block_id
from shared.types.documents import Block
from shared.types.snapshots import SnapshotDocument


class OpenedBlock(Struct, frozen=True, kw_only=True):
    """GET /api/blocks/{block_id}, as far as it is shown."""

    block: Block
    document: SnapshotDocument
    snapshot_id: str
    in_active_snapshot: bool
    active_version: int | None = None
    before: tuple[Block, ...] = ()
    after: tuple[Block, ...] = ()


def documents(arguments: argparse.Namespace) -> int:
    listed = open_api(arguments.url).get("/api/documents", list[SnapshotDocument])
    if arguments.json:
        print_json(listed)
        return OK
    if not listed:
        note(words("no documents yet", "还没有文档"))
    for one in listed:
        plain(f"{one.doc_id}.v{one.version}  {one.lang:<3}  {one.blocks:>5} blocks  {one.source_label}  {one.title}")
    return OK


def block(arguments: argparse.Namespace) -> int:
    if not is_block_id(arguments.block_id):
        raise CommandFailed(
            f"{arguments.block_id!r} is no block id",
            remedy="they look like k3f9a2qd.v2#17; quote it, the shell takes # for a comment",
            code=USAGE,
            error="invalid_argument",
        )
    raw = open_api(arguments.url).get(f"/api/blocks/{quote(arguments.block_id, safe='')}", msgspec.Raw)
    if arguments.json:
        print_json(raw)
        return OK
    _print_block(msgspec.json.decode(raw, type=OpenedBlock))
    return OK


def _print_block(opened: OpenedBlock) -> None:
    one = opened.block
    where = place(
        title=opened.document.title,
        section_path=one.section_path,
        page_first=one.page_first,
        page_last=one.page_last,
    )
    plain(where, "bold")
    plain(f"{one.block_id} · {opened.document.source_label} · {opened.document.trust} · {opened.snapshot_id}", "dim")
    if opened.active_version is not None and opened.active_version != one.version:
        plain(
            words(
                f"this is version {one.version}; the active snapshot has version {opened.active_version}",
                f"这是第 {one.version} 版；当前快照中为第 {opened.active_version} 版",
            ),
            "yellow",
        )
    out.print()
    for neighbour in opened.before:
        plain(neighbour.text, "dim")
    plain(one.table_header + one.text)
    for neighbour in opened.after:
        plain(neighbour.text, "dim")
