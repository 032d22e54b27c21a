"""`citebound rebuild-scan-index`: mend what exact scans look up, straight in the data folder, whether something runs on it or not."""

import argparse
import os
from contextlib import closing

from msgspec import Struct

from scripts.citebound.console import count, plain, print_json, words
from scripts.citebound.failure import OK, CommandFailed
from shared.catalog.db import open_database
from shared.catalog.migrations import migrate
from shared.catalog.scan_index import rebuild_index
from shared.layout import Layout
from shared.settings_load import data_folder


class Rebuilt(Struct, frozen=True, kw_only=True):
    blocks: int


def rebuild_scan_index(arguments: argparse.Namespace) -> int:
    layout = Layout(root=data_folder(os.environ))
    if not layout.catalog.exists():
        raise CommandFailed(
            f"there is no catalog in {layout.root}", remedy="./scripts/run import FOLDER", error="no_snapshot"
        )
    with closing(open_database(layout.catalog)) as db:
        migrate(db)
        rebuilt = Rebuilt(blocks=rebuild_index(db))
    if arguments.json:
        print_json(rebuilt)
    else:
        plain(
            words(
                f"the index of the exact scan was made anew from {count(rebuilt.blocks, 'block')}",
                f"已用 {rebuilt.blocks} 个文本块重建精确扫描的索引",
            ),
            "green",
        )
    return OK
