"""What can be typed after `citebound conversations`."""

import argparse

from scripts.citebound.commands.conversations import delete, show
from scripts.citebound.verbs import after_verb


def conversation_verbs(listing: argparse.ArgumentParser) -> None:
    """`conversations VERB CONVERSATION`. What --url and --json say before the verb holds after it."""
    remote = after_verb()
    verbs = listing.add_subparsers(title="verbs", metavar="VERB")
    for name, run, help in (
        ("show", show, "its questions and answers"),
        ("delete", delete, "remove it with its texts, and the runs it was made of"),
    ):
        verb = verbs.add_parser(name, help=help, description=help, parents=[remote])
        verb.set_defaults(run=run)
        verb.add_argument("conversation_id", metavar="CONVERSATION")
