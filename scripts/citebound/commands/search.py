"""`citebound search` and `scan`: the tools without a model. Candidates and complete lists are never shown as one another."""

import argparse
from typing import Any

import msgspec
from msgspec import Struct

from scripts.citebound.api import Api, open_api
from scripts.citebound.commands.ask import place
from scripts.citebound.console import note, out, plain, print_json, words
from scripts.citebound.failure import OK
from shared.ids import BlockId


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

    empty_reason: str | None
    payload: Payload


def search(arguments: argparse.Namespace) -> int:
    payload = _call(open_api(arguments.url), "search_blocks", {"query": arguments.text}, arguments)
    if payload is not None:
        for rank, found in enumerate(payload.blocks, 1):
            _print_place(f"{rank}.", found)
            plain(found.text.strip())
            out.print()
        if payload.blocks:
            note(
                words(
                    "Candidates, best first; a miss proves nothing.", "以上为候选，按相关性排列；未命中不说明不存在。"
                )
            )
    return OK


def scan(arguments: argparse.Namespace) -> int:
    payload = _call(open_api(arguments.url), "scan_term", {"term": arguments.text}, arguments)
    if payload is not None:
        for found in payload.blocks:
            _print_place(f"{found.count}×", found)
            plain(f"  {' '.join(found.snippet.split())}")
        if payload.blocks:
            note(
                words(
                    f"{payload.total_count} occurrences in {payload.total} blocks; complete.",
                    f"共 {payload.total} 个文本块、{payload.total_count} 处；完整。",
                )
            )
    return OK


def _call(api: Api, tool: str, given: dict[str, Any], arguments: argparse.Namespace) -> Payload | None:
    """The payload to show; None when the reply was printed as JSON."""
    if arguments.doc:
        given["doc_ids"] = arguments.doc
    raw = api.post(f"/api/tools/{tool}", given, msgspec.Raw)
    if arguments.json:
        print_json(raw)
        return None
    reply = msgspec.json.decode(raw, type=Reply)
    if reply.empty_reason is not None:
        note(words(f"nothing found ({reply.empty_reason})", f"没有找到（{reply.empty_reason}）"))
    return reply.payload


def _print_place(lead: str, found: Found) -> None:
    where = place(
        title=found.title,
        section_path=found.section_path,
        page_first=found.page_first,
        page_last=found.page_last,
    )
    plain(f"{lead} {where}", "bold")
    plain(f"   {found.block_id} · {found.source_label}", "dim")
