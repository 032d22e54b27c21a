"""What can be typed after `citebound`."""

import argparse
from collections.abc import Callable
from typing import TypeAlias, get_args

from scripts.citebound.commands.ask import ask
from scripts.citebound.commands.doctor import doctor
from scripts.citebound.commands.imports import act, import_paths, imports
from scripts.citebound.commands.reading import block, documents
from scripts.citebound.commands.search import scan, search
from scripts.citebound.commands.smoke import smoke
from scripts.citebound.commands.snapshots import activate, snapshots
from scripts.citebound.commands.trace import trace
from scripts.citebound.commands.up import up
from shared.types.documents import Trust

Command: TypeAlias = Callable[[argparse.Namespace], int]

EPILOG = """\
exit codes: 0 done · 1 failed · 2 wrong arguments or settings · 3 done in part (the rest is listed) ·
4 no answer (refused, or a question back) · 5 no Citebound is running there · 130 interrupted

Commands other than up, doctor and smoke talk to the running Citebound: the one on this data folder
(CITEBOUND_DATA_DIR), or the one at --url or CITEBOUND_URL.
"""


def parser() -> argparse.ArgumentParser:
    root = argparse.ArgumentParser(
        prog="citebound",
        description="Answers questions about your own documents and binds every claim to the block it came from.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = root.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    remote = argparse.ArgumentParser(add_help=False)
    remote.add_argument("--url", help="address of the Citebound to talk to (default: the one on this data folder)")
    remote.add_argument("--json", action="store_true", help="print one JSON value for programs")

    def add(
        name: str, run: Command, help: str, *, parents: tuple[argparse.ArgumentParser, ...] = (remote,)
    ) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=help, description=help, parents=list(parents))
        command.set_defaults(run=run)
        return command

    add("up", up, "start everything here and keep it running until Ctrl-C", parents=())

    one = add("import", import_paths, "import files and folders, and wait until they can be asked about")
    one.add_argument("paths", metavar="PATH", nargs="+")
    one.add_argument("--label", help="name of the source, shown beside citations (default: the folder's name)")
    one.add_argument("--trust", choices=get_args(Trust), help="how far the source is trusted (default: user_upload)")
    one.add_argument("--tag", action="append", metavar="TAG", help="tag of the source; may be repeated")
    one.add_argument("--upload", action="store_true", help="send the files' bytes instead of their paths")
    one.add_argument("--no-wait", action="store_true", help="print the import's id and return at once")

    add("imports", imports, "list the imports, newest first")
    for name, help in (
        ("pause", "stop an import at the next safe point; nothing done is lost"),
        ("resume", "go on with a paused import"),
        ("cancel", "end an import; nothing of it is published"),
        ("retry", "try the failed documents of an import again"),
    ):
        add(name, act, help).add_argument("import_id", metavar="IMPORT")

    question = add("ask", ask, "ask a question; prints the answer, its sources and what is missing")
    question.add_argument("question")
    question.add_argument("--doc", action="append", metavar="DOC", help="only in this document; may be repeated")
    question.add_argument("--source", action="append", metavar="LABEL", help="only in this source; may be repeated")
    question.add_argument(
        "--tag", action="append", metavar="TAG", help="only in sources with this tag; may be repeated"
    )
    question.add_argument("--snapshot", metavar="SNAPSHOT", help="on this snapshot instead of the active one")

    for name, run, what, help in (
        ("search", search, "query", "blocks that may answer, best first; candidates, not a complete list"),
        ("scan", scan, "term", "every block that contains these very characters; complete"),
    ):
        lookup = add(name, run, help)
        lookup.add_argument("text", metavar=what.upper())
        lookup.add_argument("--doc", action="append", metavar="DOC", help="only in this document; may be repeated")

    add("snapshots", snapshots, "list the snapshots, newest first; * marks the active one")
    add("activate", activate, "make a snapshot the one that questions see").add_argument(
        "snapshot_id", metavar="SNAPSHOT"
    )
    add("documents", documents, "list the documents of the active snapshot")
    add("block", block, "show a cited block with its surroundings").add_argument("block_id", metavar="BLOCK")

    traced = add("trace", trace, "show what a run did, step by step")
    traced.add_argument("run_id", metavar="RUN", nargs="?")
    traced.add_argument("--file", help="a trace that was saved with --json")

    check = add("doctor", doctor, "explain what is configured, what is missing, what is broken", parents=())
    check.add_argument(
        "--online", action="store_true", help="also call the configured providers (may cost a few tokens)"
    )
    check.add_argument("--json", action="store_true", help="print one JSON value for programs")

    try_out = add(
        "smoke",
        smoke,
        "prove it from end to end in a temporary folder: start, import, ask, check the citations",
        parents=(),
    )
    try_out.add_argument("--docs", required=True, metavar="DIR", help="folder of documents")
    try_out.add_argument("--question", required=True, help="what to ask about them")
    try_out.add_argument("--json", action="store_true", help="print one JSON value for programs")
    return root
