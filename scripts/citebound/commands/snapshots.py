"""`citebound snapshots` and `activate`: what is published, and which of it questions see."""

import argparse
from datetime import datetime
from urllib.parse import quote

from msgspec import Struct

from scripts.citebound.api import open_api
from scripts.citebound.commands.imports import print_failed
from scripts.citebound.console import note, plain, print_json, words
from scripts.citebound.failure import OK
from shared.ids import SnapshotId
from shared.types.snapshots import Snapshot


class Snapshots(Struct, frozen=True, kw_only=True):
    """GET /api/snapshots"""

    active: SnapshotId | None
    snapshots: tuple[Snapshot, ...]  # newest first


def snapshots(arguments: argparse.Namespace) -> int:
    found = open_api(arguments.url).get("/api/snapshots", Snapshots)
    if arguments.json:
        print_json(found)
        return OK
    if not found.snapshots:
        note(words("no snapshots yet", "还没有快照"))
    for one in found.snapshots:
        mark = "*" if one.snapshot_id == found.active else " "
        at = datetime.fromtimestamp(one.created_at_ms / 1000).astimezone().strftime("%Y-%m-%d %H:%M")
        plain(f"{mark} {one.snapshot_id}  {one.state:<13}  {at}  {one.documents} documents  {one.blocks} blocks")
        if one.failure:
            plain(f"    {one.failure}", "red")
        print_failed(one.failed_documents)
    return OK


def activate(arguments: argparse.Namespace) -> int:
    after = open_api(arguments.url).post(f"/api/snapshots/{quote(arguments.snapshot_id)}/activate", {}, Snapshot)
    if arguments.json:
        print_json(after)
    else:
        plain(words(f"questions now see {after.snapshot_id}", f"提问现在使用 {after.snapshot_id}"), "green")
    return OK
