"""`citebound replay RUN`: does a run still see what it saw? Call by call, rank by rank where it doesn't."""

import argparse
from collections.abc import Iterator
from itertools import zip_longest
from typing import Final

from rich.cells import cell_len

from scripts.citebound.api import compact, open_api, segment
from scripts.citebound.commands.named import last_run
from scripts.citebound.console import count, plain, print_json, words
from scripts.citebound.failure import DIFFERENT, IMPOSSIBLE, OK
from shared.ids import BlockId
from shared.types.replays import Difference, Outcome, Reason, Replay, ReplayedCall

EXIT_CODES: Final[dict[Outcome, int]] = {"same": OK, "different": DIFFERENT, "impossible": IMPOSSIBLE}
_STYLES: Final = {"same": "green", "different": "yellow", "impossible": "red", "skipped": "dim"}
_OUTCOMES: Final = {
    "same": ("the same", "一致"),
    "different": ("different", "不一致"),
    "impossible": ("not possible", "无法重放"),
    "skipped": ("skipped", "跳过"),
}
_REASONS: Final[dict[Reason, tuple[str, str]]] = {
    "not_recorded": ("the run is older than the record of its tool calls", "这次问答早于查找记录功能"),
    "snapshot_gone": ("its snapshot is not here any more", "其快照已不存在"),
    "snapshot_unusable": ("its snapshot can't be read", "其快照无法读取"),
    "snapshot_differs": ("another snapshot has its id", "同一编号下是另一个快照"),
    "access_reduced": ("it could read more than you may", "这次问答当时可见的内容多于您现在的权限"),
    "scope_gone": ("documents of its scope can't be seen any more", "其范围内的文档已不可见"),
    "nothing_to_compare": ("nothing was compared", "没有可比较的内容"),
    "embedding_differs": ("it takes another embedding model", "需要另一个向量模型"),
    "keywords_differ": ("it takes another keyword encoder", "需要另一个关键词编码器"),
    "profile_differs": ("it searched in another way", "当时的检索方式不同"),
    "upstream_failed": ("the call failed now; try again later", "本次调用失败，请稍后再试"),
    "arguments_removed": ("its arguments held a secret, which is not kept", "其参数含有未保存的密钥"),
    "failed_then": ("it failed then: nothing was seen", "当时调用失败，没有看到任何内容"),
    "unfinished_then": ("it was cut off then: nothing was seen", "当时被中断，没有看到任何内容"),
}


def replay(arguments: argparse.Namespace) -> int:
    api = open_api(arguments.url)
    run_id = arguments.run_id or last_run(api)
    found = api.post(f"/api/runs/{segment(run_id)}/replay", {}, Replay, timeout_s=600)
    if arguments.json:
        print_json(found)
    else:
        for line, style in lines(found):
            plain(line, style)
    return EXIT_CODES[found.outcome]


def lines(found: Replay) -> Iterator[tuple[str, str]]:
    """(line, style)"""
    for call in found.calls:
        yield from _call(call)
    for one in found.since:
        yield words(f"{one.what} was {one.then}, is {one.now}", f"{one.what} 当时为 {one.then}，现为 {one.now}"), "dim"
    parts = [_named(found.outcome), *_why(found.reason, found.detail), found.run_id, found.snapshot_id or ""]
    yield " · ".join(part for part in parts if part), f"bold {_STYLES[found.outcome]}"


def _call(call: ReplayedCall) -> Iterator[tuple[str, str]]:
    blocks = ""
    if call.then is not None and call.then.blocks:
        blocks = words(f", {count(call.then.blocks, 'block')}", f"，{call.then.blocks} 个文本块")
    yield f"{call.turn}. {call.tool} {call.arguments}", "bold"
    told = "; ".join([_named(call.outcome) + blocks, *_why(call.reason, call.detail)])
    yield f"   {told}", _STYLES[call.outcome]
    if call.difference is not None and call.then is not None and call.now is not None:
        yield from _differences(call.then.block_ids, call.now.block_ids, call.difference)


def _differences(
    then: tuple[BlockId, ...], now: tuple[BlockId, ...], difference: Difference
) -> Iterator[tuple[str, str]]:
    if difference.error_then != difference.error_now:
        none = words("none", "无")
        yield (
            words(
                f"   error then: {difference.error_then or none} · now: {difference.error_now or none}",
                f"   当时错误：{difference.error_then or none} · 现在：{difference.error_now or none}",
            ),
            "yellow",
        )
    if then != now:
        yield from _ranks(then, now, frozenset(one.block_id for one in difference.lost if not one.visible))
    for one in difference.changed:
        yield words(f"   other text in {one.block_id}", f"   {one.block_id} 的文字不同"), "yellow"
        yield f"     − {compact(one.then) if one.then is not None else words('(not kept)', '（未保存）')}", "red"
        yield f"     + {compact(one.now)}", "green"
    for line in difference.payload:
        yield f"   {line}", {"+": "green", "-": "red"}.get(line[:1], "dim")


def _ranks(
    then: tuple[BlockId, ...], now: tuple[BlockId, ...], hidden: frozenset[BlockId]
) -> Iterator[tuple[str, str]]:
    """Side by side, a line a rank: = stands where it stood, ↑ ↓ moved, + came, − went (! and can't be read any more)."""
    width = max((len(one) for one in (*then, *now)), default=0)
    then_word = words("then", "当时")
    yield f"       {then_word}{' ' * (width - cell_len(then_word))}     {words('now', '现在')}", "dim"
    for rank, (was, stands) in enumerate(zip_longest(then, now), 1):
        gone = " " if was is None or was in now else "!" if was in hidden else "−"
        yield (
            f"   {rank:3} {was or '':{width}} {gone} {_mark(stands, rank, then)} {stands or ''}".rstrip(),
            ("" if was == stands else "yellow"),
        )


def _mark(block_id: BlockId | None, rank: int, then: tuple[BlockId, ...]) -> str:
    if block_id is None:
        return " "
    if block_id not in then:
        return "+"
    before = then.index(block_id) + 1
    return "=" if before == rank else "↑" if rank < before else "↓"


def _named(outcome: str) -> str:
    return words(*_OUTCOMES[outcome])


def _why(reason: Reason | None, detail: str | None) -> list[str]:
    said = [] if reason is None else [f"{words(*_REASONS[reason])} ({reason})"]
    return said if detail is None else [*said, detail]
