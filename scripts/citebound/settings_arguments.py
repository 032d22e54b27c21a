"""What can be typed after `citebound settings`."""

import argparse

from scripts.citebound.commands.settings import check, forget_key, set_key
from shared.providers.verdict import PARTS


def settings_verbs(listing: argparse.ArgumentParser) -> None:
    """`settings VERB …`. What --json says before the verb holds after it."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print one JSON value")
    verbs = listing.add_subparsers(title="verbs", metavar="VERB")

    tried = verbs.add_parser(
        "check", help="call the providers once and say what is wrong, if anything", parents=[common]
    )
    tried.set_defaults(run=check)
    tried.add_argument("part", nargs="?", choices=PARTS, help="(default: all three)")
    for name, run, help in (
        (
            "set-key",
            set_key,
            "keep a provider's key in the system's credential store; asks for it, or reads standard input",
        ),
        ("forget-key", forget_key, "take a provider's key out of the system's credential store"),
    ):
        verb = verbs.add_parser(name, help=help, description=help, parents=[common])
        verb.set_defaults(run=run)
        verb.add_argument("part", choices=PARTS)
