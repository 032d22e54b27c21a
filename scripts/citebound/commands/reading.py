"""`citebound documents` and `block`: what is in the library, and a cited block with its surroundings."""

import argparse

import msgspec
from msgspec import Struct

from scripts.citebound.api import Api, open_api, segment
from scripts.citebound.commands.ask import place
from scripts.citebound.commands.scope import Snapshots, listed, tell_gap
from scripts.citebound.console import note, out, plain, print_json, table, words
from scripts.citebound.failure import OK, USAGE, CommandFailed
from shared.ids import is_block_id
from shared.types.documents import Block
from shared.types.runs import StoredQuote
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


class Kept(Struct, frozen=True, kw_only=True):
    """Which of its two forms that reply has: a block, or what an answer quoted of one that is gone."""

    source: str = "block"


def documents(arguments: argparse.Namespace) -> int:
    api = open_api(arguments.url)
    there = listed(api, None)
    if arguments.json:
        print_json(there)
        return OK
    if there:
        table(
            words("DOC,VERSION,LANG,BLOCKS,SOURCE,FILE,TITLE", "文档,版本,语言,文本块,来源,文件,标题").split(","),
            [
                (
                    one.doc_id,
                    str(one.version),
                    one.lang,
                    str(one.blocks),
                    one.source_label,
                    one.key,
                    "" if one.title == one.key else one.title,
                )
                for one in there
            ],
        )
    else:
        note(words("no documents yet", "还没有文档"))
    active = api.get("/api/snapshots", Snapshots).active
    if active is not None:
        tell_gap(api, active)
    return OK


def block(arguments: argparse.Namespace) -> int:
    if not is_block_id(arguments.block_id):
        raise CommandFailed(
            f"{arguments.block_id!r} is no block id",
            remedy="they look like k3f9a2qd.v2#17; quote it, the shell takes # for a comment",
            code=USAGE,
            error="invalid_argument",
        )
    api = open_api(arguments.url)
    raw = api.get(f"/api/blocks/{segment(arguments.block_id)}", msgspec.Raw)
    if arguments.json:
        print_json(raw)
        return OK
    opened = msgspec.json.decode(raw, type=Kept)
    if opened.source == "stored_quote":
        _print_quote(msgspec.json.decode(raw, type=StoredQuote))
    else:
        _print_block(msgspec.json.decode(raw, type=OpenedBlock), api)
    return OK


def _print_block(opened: OpenedBlock, api: Api) -> None:
    one, document = opened.block, opened.document
    where = place(
        title=document.title,
        section_path=one.section_path,
        page_first=one.page_first,
        page_last=one.page_last,
    )
    plain(where, "bold")
    plain(
        f"{one.block_id} · {document.source_label}/{document.key} · {document.trust} · {opened.snapshot_id}",
        "dim",
    )
    plain(api.page_of(one.block_id, opened.snapshot_id), "dim")
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


def _print_quote(kept: StoredQuote) -> None:
    where = place(
        title=kept.title,
        section_path=kept.section_path,
        page_first=kept.page_first,
        page_last=kept.page_last,
    )
    plain(where, "bold")
    plain(f"{kept.block_id} · {kept.source_label} · {kept.trust} · {kept.snapshot_id}", "dim")
    english, chinese = (
        ("an answer", "某个回答") if kept.run_id is None else (f"the answer {kept.run_id}", f"回答 {kept.run_id} ")
    )
    plain(
        words(
            f"that snapshot is gone; this is what {english} quoted of the block, which may have had more",
            f"该快照已不存在；以下为{chinese}引用的内容，原文本块可能更长",
        ),
        "yellow",
    )
    out.print()
    plain(kept.quote)
