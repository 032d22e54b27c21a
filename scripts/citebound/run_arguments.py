"""Options of `citebound runs`."""

import argparse
from typing import get_args

from shared.types.runs import Status
from shared.types.traces import Stop


def run_filters(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("--text", metavar="WORDS", help="stands in the question, letter case aside")
    add("--status", choices=get_args(Status), help="how it ended")
    add("--stopped-by", choices=(*get_args(Stop), "any", "none"), help="the limit that ended its look-ups")
    add("--min-tokens", type=int, metavar="N", help="at least so many chat tokens")
    add("--max-tokens", type=int, metavar="N", help="at most so many")
    add("--min-seconds", type=float, metavar="S", help="took at least so long")
    add("--max-seconds", type=float, metavar="S", help="took at most so long")
    add("--snapshot", metavar="SNAPSHOT", help="asked of this snapshot: snap_…")
    add("--prompts", metavar="BUNDLE", help="asked with this prompt bundle: default/1, or default for any version")
    add(
        "--doc",
        action="append",
        metavar="DOCUMENT",
        help="cites this document: id, file name or title; may be repeated",
    )
    add("--before", metavar="RUN", help="older than this run: the last of a list leads to the next")
    add("--limit", type=int, metavar="N", help="at most so many, up to 1000 (default: 50)")
    command.set_defaults(source=None, tag=None)
