"""What can be typed after `citebound prompts`."""

import argparse

from scripts.citebound.commands.prompts import create, diff, edit, freeze, promote, show
from scripts.citebound.verbs import after_verb


def prompt_verbs(listing: argparse.ArgumentParser) -> None:
    """`prompts VERB …`. What --url and --json say before the verb holds after it."""
    remote = after_verb()
    verbs = listing.add_subparsers(title="verbs", metavar="VERB")

    made = verbs.add_parser("create", help="begin an experiment: a copy that may be edited", parents=[remote])
    made.add_argument(
        "name", metavar="NAME", help="small letters, digits, hyphens; it gets the next version of that name"
    )
    made.add_argument("--from", dest="parent", metavar="BUNDLE", help="what to copy (default: the default bundle)")
    made.set_defaults(run=create)
    for name, run, help in (
        ("show", show, "one bundle and what is wrong with it; exit code 1 when no run can use it"),
        ("diff", diff, "what its templates change, from its parent or from OTHER"),
        ("edit", edit, "replace one template of a draft by a file; on this machine any editor will do"),
        ("freeze", freeze, "let nothing of it change any more"),
        ("promote", promote, "write a frozen experiment as the next released version, into this checkout's prompts/"),
    ):
        verb = verbs.add_parser(name, help=help, description=help, parents=[remote])
        verb.set_defaults(run=run)
        verb.add_argument("bundle", metavar="BUNDLE", help="NAME/VERSION, see `prompts`")
        if name == "show":
            verb.add_argument("--template", metavar="TEMPLATE", help="print this template, e.g. zh/rules.j2")
        elif name == "diff":
            verb.add_argument("other", metavar="OTHER", nargs="?", help="(default: its parent)")
        elif name == "edit":
            verb.add_argument("template", metavar="TEMPLATE", help="e.g. zh/rules.j2")
            verb.add_argument("--file", required=True, metavar="FILE", help="its new text; - = standard input")
        elif name == "promote":
            verb.add_argument("--note", required=True, help="what is better with it, and how that was seen")
