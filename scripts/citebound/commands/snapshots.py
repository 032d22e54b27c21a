"""`citebound snapshots` and `activate`: what is published, and which of it questions see."""

import argparse

from scripts.citebound.api import open_api, segment
from scripts.citebound.commands.imports import print_failed
from scripts.citebound.commands.scope import Snapshots
from scripts.citebound.console import date, note, plain, print_json, table, words
from scripts.citebound.failure import OK
from shared.types.snapshots import Snapshot


def snapshots(arguments: argparse.Namespace) -> int:
    found = open_api(arguments.url).get("/api/snapshots", Snapshots)
    if arguments.json:
        print_json(found)
        return OK
    if not found.snapshots:
        note(words("no snapshots yet", "还没有快照"))
        return OK
    table(
        words("  SNAPSHOT,STATE,MADE,DOCUMENTS,BLOCKS,NOT READ,KEPT", "  快照,状态,时间,文档,文本块,未读取,保留").split(
            ","
        ),
        [
            (
                f"{'*' if one.snapshot_id == found.active else ' '} {one.snapshot_id}",
                one.state,
                date(one.created_at_ms),
                str(one.documents),
                str(one.blocks),
                str(len(one.failed_documents) or ""),
                words("pinned", "已固定") if one.pinned else words("frozen", "评测保留") if one.frozen else "",
            )
            for one in found.snapshots
        ],
    )
    for one in found.snapshots:
        if one.failure:
            plain(f"{one.snapshot_id}: {one.failure}", "red")
        if one.snapshot_id == found.active and one.failed_documents:
            plain(words(f"not read in {one.snapshot_id}:", f"{one.snapshot_id} 中未读取："), "yellow")
            print_failed(one.failed_documents)
    return OK


def activate(arguments: argparse.Namespace) -> int:
    after = open_api(arguments.url).post(f"/api/snapshots/{segment(arguments.snapshot_id)}/activate", {}, Snapshot)
    if arguments.json:
        print_json(after)
    else:
        plain(words(f"questions now see {after.snapshot_id}", f"提问现在使用 {after.snapshot_id}"), "green")
    return OK
