"""What can be typed after `citebound keys`."""

import argparse
from typing import get_args

from scripts.citebound.commands.keys import add, keys, revoke
from scripts.citebound.verbs import after_verb
from shared.access import Permission
from shared.types.keys import KeyLimits, NewKey


def key_verbs(listing: argparse.ArgumentParser) -> None:
    """`keys VERB …`. What --url and --json say before the verb holds after it."""
    remote = after_verb()
    verbs = listing.add_subparsers(title="verbs", metavar="VERB")

    verbs.add_parser("list", help="the same as without a verb", parents=[remote]).set_defaults(run=keys)

    made = verbs.add_parser("add", help="make a key; its secret is printed once", parents=[remote])
    made.set_defaults(run=add)
    made.add_argument("name", metavar="NAME", help="for people; no two keys that hold have the same")
    made.add_argument(
        "--permission",
        choices=get_args(Permission),
        default="read",
        help="read: read and ask, within its roles (default). write: import too, reads everything. admin: also keys and all runs",
    )
    made.add_argument(
        "--role",
        action="append",
        metavar="LABEL",
        help="access label that it reads, besides documents without any; may be repeated",
    )
    made.add_argument("--days", type=int, metavar="N", help="it runs out after N days (default: never)")
    made.add_argument(
        "--requests-per-minute",
        type=int,
        metavar="N",
        default=NewKey(name="").requests_per_minute,
        help="0 = as many as it likes (default: %(default)s)",
    )
    for name in KeyLimits.__struct_fields__:
        made.add_argument(f"--{name.replace('_', '-')}", type=int, metavar="N", help="ceiling of each of its runs")

    gone = verbs.add_parser("revoke", help="let a key open nothing any more", parents=[remote])
    gone.set_defaults(run=revoke)
    gone.add_argument("key", metavar="KEY", help="id or name, see `keys`")
