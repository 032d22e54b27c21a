"""What can be typed after `citebound conversations`."""

import argparse

from scripts.citebound.commands.conversations import delete, show


def conversation_verbs(listing: argparse.ArgumentParser) -> None:
    """`conversations VERB CONVERSATION`. What --url and --json say before the verb holds after it."""
    remote = argparse.ArgumentParser(add_help=False)
    remote.add_argument("--url", default=argparse.SUPPRESS, help="address of the Citebound to talk to")
    remote.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print one JSON value")
    verbs = listing.add_subparsers(title="verbs", metavar="VERB")
    for name, run, help in (
        ("show", show, "its questions and answers"),
        ("delete", delete, "remove it with its texts, and the runs it was made of"),
    ):
        verb = verbs.add_parser(name, help=help, description=help, parents=[remote])
        verb.set_defaults(run=run)
        verb.add_argument("conversation_id", metavar="CONVERSATION")
