"""What can be typed after `citebound feedback` and `citebound cases`."""

import argparse
from typing import get_args

from scripts.citebound.commands.cases import export, mark
from scripts.citebound.verbs import after_verb
from shared.types.cases import CaseStatus, Layer, Thumb

LAYER = "where it went wrong"


def feedback_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("thumb", choices=get_args(Thumb))
    command.add_argument("run_id", metavar="RUN", nargs="?", help="run_… (default: the last run)")
    command.add_argument("--comment", default="", help="what is wrong with it, or right")
    command.add_argument("--layer", choices=get_args(Layer), help=LAYER)


def case_verbs(listing: argparse.ArgumentParser) -> None:
    """`cases VERB …`. What --url and --json say before the verb holds after it."""
    listing.add_argument("--status", choices=get_args(CaseStatus), help="only these (default: all)")
    remote = after_verb()
    verbs = listing.add_subparsers(title="verbs", metavar="VERB")
    help = "say which layer failed and which citations are right; close one or open it again"
    marked = verbs.add_parser("mark", help=help, description=help, parents=[remote])
    marked.add_argument("case_id", metavar="CASE")
    marked.add_argument("--layer", choices=get_args(Layer), help=LAYER)
    marked.add_argument(
        "--gold", type=int, action="append", metavar="MARKER", help="a citation that holds the answer; may be repeated"
    )
    marked.add_argument("--note", help="what was found out")
    ending = marked.add_mutually_exclusive_group()
    ending.add_argument("--close", dest="status", action="store_const", const="closed", default=None)
    ending.add_argument("--open", dest="status", action="store_const", const="open")
    marked.set_defaults(run=mark)
    help = "print cases as evaluation items, one JSON value a line"
    exported = verbs.add_parser("export", help=help, description=help, parents=[remote])
    exported.add_argument("case_ids", metavar="CASE", nargs="*", help="(default: all)")
    exported.set_defaults(run=export)
