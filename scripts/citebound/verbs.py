"""What every `citebound COMMAND VERB` takes."""

import argparse


def after_verb() -> argparse.ArgumentParser:
    """--url and --json behind a verb; what they say before it holds when they are not said again."""
    remote = argparse.ArgumentParser(add_help=False)
    remote.add_argument("--url", default=argparse.SUPPRESS, help="address of the Citebound to talk to")
    remote.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print one JSON value")
    return remote
