"""`citebound search` and `scan`: the tools without a model. Candidates and complete lists are never shown as one another."""

import argparse
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import Struct

from scripts.citebound.api import Api, open_api
from scripts.citebound.commands.ask import place, said
from scripts.citebound.commands.scope import chosen, tell_gap
from scripts.citebound.console import count, note, out, plain, print_json, words
from scripts.citebound.failure import OK
from shared.ids import BlockId, SnapshotId


class Found(Struct, frozen=True, kw_only=True):
    """A block of either tool's payload, as far as it is shown."""

    block_id: BlockId
    title: str
    source_label: str
    section_path: str
    page_first: int | None = None
    page_last: int | None = None
    text: str = ""  # search: the whole block
    snippet: str = ""  # scan: around the first occurrence
    count: int = 0


class Payload(Struct, frozen=True, kw_only=True):
    blocks: tuple[Found, ...] = ()
    total: int = 0
    total_count: int = 0


class Reply(Struct, frozen=True, kw_only=True):
    """POST /api/tools/{name}"""

    snapshot_id: SnapshotId
    empty_reason: str | None
    payload: Payload


def search(arguments: argparse.Namespace) -> int:
    given = {"query": said(arguments.text, "query")}
    api = open_api(arguments.url)
    reply = _call(api, "search_blocks", given, arguments)
    if reply is not None:
        for rank, found in enumerate(reply.payload.blocks, 1):
            _print_place(f"{rank}.", found)
            plain(found.text.strip())
            out.print()
        if reply.payload.blocks:
            note(
                words(
                    "Candidates, best first; a miss proves nothing.", "以上为候选，按相关性排列；未命中不说明不存在。"
                )
            )
        tell_gap(api, reply.snapshot_id)
    return OK


def scan(arguments: argparse.Namespace) -> int:
    given = {"term": said(arguments.text, "term")}
    api = open_api(arguments.url)
    reply = _call(api, "scan_term", given, arguments)
    if reply is not None:
        payload = reply.payload
        for found in payload.blocks:
            _print_place(f"{found.count}×", found)
            plain(f"  {' '.join(found.snippet.split())}")
        if payload.blocks:
            note(
                words(
                    f"{count(payload.total_count, 'occurrence')} in {count(payload.total, 'block')};"
                    " complete for what was read, inside one block, case ignored.",
                    f"共 {payload.total} 个文本块、{payload.total_count} 处；就已读取的文档、各文本块之内而言完整，不区分大小写。",
                )
            )
        elif reply.empty_reason == "no_match":
            note(
                words(
                    "Looked for inside one block: try a shorter part of a long string, which the border of two blocks may cut.",
                    "只在每个文本块之内查找：长字符串可能被块的边界切开，请试其中较短的一段。",
                )
            )
        tell_gap(api, reply.snapshot_id)
    return OK


def _call(api: Api, tool: str, given: dict[str, Any], arguments: argparse.Namespace) -> Reply | None:
    """The reply to show; None when it was printed as JSON."""
    doc_ids = chosen(api, arguments)
    if doc_ids is not None:
        given["doc_ids"] = doc_ids
    prefer: str | None = getattr(arguments, "prefer", None)  # a scan has none: it finds everything
    raw = api.post(f"/api/tools/{tool}" + (f"?prefer={quote(prefer)}" if prefer else ""), given, msgspec.Raw)
    if arguments.json:
        print_json(raw)
        return None
    reply = msgspec.json.decode(raw, type=Reply)
    if reply.empty_reason is not None:
        note(words(f"nothing found ({reply.empty_reason})", f"没有找到（{reply.empty_reason}）"))
    return reply


def _print_place(lead: str, found: Found) -> None:
    where = place(
        title=found.title,
        section_path=found.section_path,
        page_first=found.page_first,
        page_last=found.page_last,
    )
    plain(f"{lead} {where}", "bold")
    plain(f"   {found.block_id} · {found.source_label}", "dim")
