"""What can be typed after `citebound`."""

import argparse
from collections.abc import Callable
from typing import NoReturn, TypeAlias, get_args

from scripts.citebound.case_arguments import case_verbs, feedback_arguments
from scripts.citebound.commands.again import audit, rerun
from scripts.citebound.commands.ask import ask
from scripts.citebound.commands.cases import cases, feedback
from scripts.citebound.commands.conversations import conversations
from scripts.citebound.commands.doctor import doctor
from scripts.citebound.commands.figures import figures
from scripts.citebound.commands.imports import act, import_paths, imports
from scripts.citebound.commands.keys import keys
from scripts.citebound.commands.prompts import prompts
from scripts.citebound.commands.reading import block, documents
from scripts.citebound.commands.replay import replay
from scripts.citebound.commands.scan_index import rebuild_scan_index
from scripts.citebound.commands.search import scan, search
from scripts.citebound.commands.settings import settings
from scripts.citebound.commands.smoke import smoke
from scripts.citebound.commands.snapshot_verbs import delete, diff, pin, show, verify
from scripts.citebound.commands.snapshots import activate, snapshots
from scripts.citebound.commands.trace import runs, trace
from scripts.citebound.commands.up import up
from scripts.citebound.console import as_called
from scripts.citebound.conversation_arguments import conversation_verbs
from scripts.citebound.failure import USAGE, CommandFailed
from scripts.citebound.key_arguments import key_verbs
from scripts.citebound.prompt_arguments import prompt_verbs
from scripts.citebound.run_arguments import run_filters
from scripts.citebound.settings_arguments import settings_verbs
from scripts.citebound.verbs import after_verb
from shared.types.documents import Trust
from shared.types.imports import ImportMode
from shared.types.runs import ProtocolName, WantedPath
from shared.types.traces import TraceLevel

Command: TypeAlias = Callable[[argparse.Namespace], int]

EPILOG = """\
help COMMAND says what a command takes.

exit codes: 0 done · 1 failed · 2 wrong arguments or settings · 3 done in part (the rest is listed) ·
4 no answer (refused, a question back, nothing imported yet) · 5 no Citebound is running there ·
6 a replay or rerun came out differently · 7 it is not possible · 130 interrupted

Commands other than up, doctor, settings, rebuild-scan-index, smoke and keys talk to the running Citebound: the one on this data folder
(CITEBOUND_DATA_DIR), or the one at --url or CITEBOUND_URL. keys works on the data folder itself, unless --url names another.
"""

IMPORT = """Import files and folders, and wait until they can be asked about.

--mode add      (default) takes in what is new or changed there; never takes anything out
--mode sync     makes the library equal to what is there now: what vanished from a named folder is taken out as well
--mode remove   takes the named files and folders out of the library; they need not exist any more, and stay on the disk
--mode reindex  makes every document anew from its stored original, e.g. with another embedding model; takes no paths

With --upload, sync compares with all that was uploaded under the same --label.
Each publishes a new snapshot, built on the active one; older snapshots still open, with all that was in them.
Exit code 3 when documents failed that the snapshot before could read or did not know.
"""
REBUILD_HELP = (
    "make the index of exact scans anew from the stored blocks (20 s per 100,000, during which no import goes on)"
)
REPLAY_HELP = "carry out a run's tool calls again on its snapshot, and show what comes out differently"
REPLAY = """Carry out every tool call of a run again: on its snapshot, in its scope, with what it could read. Byte for byte the same is the same.

Where it differs, blocks stand rank by rank: = where they stood, ↑ ↓ moved, + came, − went, ! went and can't be read any more.
Exit code 0 the same · 6 different · 7 not possible (the snapshot was removed, the embedding model is another, ...; it says what).
Buys the embeddings of its queries once more.
"""
SCAN = (
    "every block that contains these very characters, case ignored; complete for what was read, inside one block: blocks are cut"
    " between sentences, and only a piece without any stop that is longer than the largest block may be cut anywhere"
)
DOC = "only in this document: id, file name or title, see `documents`; may be repeated"


class Parser(argparse.ArgumentParser):
    """Ends in a CommandFailed like everything else, so that --json holds for wrong arguments too."""

    def error(self, message: str) -> NoReturn:
        raise CommandFailed(message, remedy=f"{self.prog} --help", code=USAGE, error="usage")


def parser() -> argparse.ArgumentParser:
    root = Parser(
        prog=as_called("./scripts/run"),
        description="Answers questions about your own documents and binds every claim to the block it came from.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = root.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    remote = Parser(add_help=False)
    remote.add_argument("--url", help="address of the Citebound to talk to (default: the one on this data folder)")
    remote.add_argument("--json", action="store_true", help="print one JSON value for programs")

    def add(name: str, run: Command, help: str, *, parents: tuple[Parser, ...] = (remote,)) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=help, description=help, parents=list(parents))
        command.set_defaults(run=run)
        return command

    add("up", up, "start everything here and keep it running until Ctrl-C", parents=())

    one = add("import", import_paths, "import files and folders, and wait until they can be asked about")
    one.formatter_class, one.description = argparse.RawDescriptionHelpFormatter, IMPORT
    one.add_argument("paths", metavar="PATH", nargs="*")
    one.add_argument("--mode", choices=get_args(ImportMode), default="add", help="see above (default: add)")
    one.add_argument("--label", help="name of the source, shown beside citations (default: the folder's name)")
    one.add_argument("--trust", choices=get_args(Trust), help="how far the source is trusted (default: user_upload)")
    for name, what in (
        ("alias", "another name of the source, by which it can be asked for"),
        ("access", "label that a reader must hold to see it; without any, every reader may"),
        ("tag", "tag of the source"),
    ):
        one.add_argument(f"--{name}", action="append", metavar=name.upper(), help=f'{what}; may be repeated, "" = none')
    one.add_argument("--lang", metavar="LANG", help="language of its documents, e.g. zh (default: guessed for each)")
    one.add_argument("--upload", action="store_true", help="send the files' bytes instead of their paths")
    one.add_argument("--no-wait", action="store_true", help="print the import's id and return at once")

    add("imports", imports, "list the imports, newest first")
    for name, help in (
        ("pause", "stop an import at the next safe point; nothing done is lost"),
        ("resume", "go on with a paused import"),
        ("cancel", "end an import; nothing of it is published"),
        ("retry", "try a failed import again, or the documents that failed in one that completed"),
    ):
        add(name, act, help).add_argument("import_id", metavar="IMPORT")

    question = add("ask", ask, "ask a question; prints the answer, its sources and what is missing")
    question.add_argument("question")
    _narrowing(question)
    question.add_argument("--snapshot", metavar="SNAPSHOT", help="on this snapshot instead of the active one")
    _preferring(question)
    question.add_argument(
        "--path",
        choices=get_args(WantedPath),
        default="auto",
        help="how to go about it (default: as its features suggest)",
    )
    question.add_argument(
        "--conversation", metavar="ID", help="as a part of this conversation; `new` begins one, see `conversations`"
    )
    question.add_argument("--prompt-bundle", metavar="BUNDLE", help="with this wording, see `prompts`")
    question.add_argument(
        "--protocol",
        choices=get_args(ProtocolName),
        help="how the model says what it does next: text, or function calls",
    )
    question.add_argument(
        "--strict",
        action="store_true",
        help="drop sentences that their source doesn't support, instead of flagging them",
    )
    question.add_argument(
        "--trace-level",
        choices=get_args(TraceLevel),
        help="what `trace` will have of it: full = also prompts, results and replies (default: as set)",
    )

    for name, run, what, help in (
        ("search", search, "query", "blocks that may answer, best first; candidates, not a complete list"),
        ("scan", scan, "term", SCAN),
    ):
        lookup = add(name, run, help)
        lookup.add_argument("text", metavar=what.upper())
        _narrowing(lookup)
        if name == "search":
            _preferring(lookup)

    _snapshot_verbs(add("snapshots", snapshots, "list the snapshots, newest first; or one of the verbs below"))
    add("activate", activate, "make a snapshot the one that questions see").add_argument(
        "snapshot_id", metavar="SNAPSHOT"
    )
    add("documents", documents, "list the documents of the active snapshot")
    add("block", block, "show a cited block with its surroundings").add_argument("block_id", metavar="BLOCK")

    key_verbs(add("keys", keys, "list the API keys; or one of the verbs below"))
    conversation_verbs(add("conversations", conversations, "list your conversations; or one of the verbs below"))
    prompt_verbs(add("prompts", prompts, "list the prompt bundles; or one of the verbs below"))

    run_filters(add("runs", runs, "list the questions that were asked, newest first; with filters that must all fit"))
    traced = add("trace", trace, "show what a run or an import did, step by step")
    traced.add_argument("run_id", metavar="RUN", nargs="?", help="run_… or imp_… (default: the last run)")
    traced.add_argument("--save", metavar="FILE", help="write the whole run into one file, without secrets")
    traced.add_argument("--open", metavar="FILE", help="show a run that was saved, without any server")

    audited = add("audit", audit, "say which versions took part in a run, and what of it can still be done again")
    audited.add_argument("run_id", metavar="RUN", nargs="?", help="run_… (default: the last run)")
    anew = add("rerun", rerun, "ask a run's question again on its snapshot, and count how often it comes out the same")
    anew.add_argument("run_id", metavar="RUN", nargs="?", help="run_… (default: the last run)")
    anew.add_argument("--times", type=int, default=3, metavar="N", help="1 to 10 (default: 3)")
    anew.add_argument("--expect", metavar="QUOTE", help="passes what shows these words, instead of the same documents")

    feedback_arguments(add("feedback", feedback, "say what an answer was worth; a thumb down makes a case of it"))
    case_verbs(add("cases", cases, "list the cases, newest first; or one of the verbs below"))
    counted = add("figures", figures, "what each day's runs came to, how long steps took, what is past its threshold")
    counted.add_argument("--days", metavar="N", type=int, default=14, help="the last N days (default: 14)")

    repeated = add("replay", replay, REPLAY_HELP)
    repeated.formatter_class, repeated.description = argparse.RawDescriptionHelpFormatter, REPLAY
    repeated.add_argument("run_id", metavar="RUN", nargs="?", help="run_… (default: the last run)")

    told = add("settings", settings, "say what is set and from where; or one of the verbs below", parents=())
    told.add_argument("--json", action="store_true", help="print one JSON value for programs")
    settings_verbs(told)
    check = add("doctor", doctor, "explain what is configured, what is missing, what is broken", parents=())
    check.add_argument(
        "--online", action="store_true", help="also call the configured providers (may cost a few tokens)"
    )
    check.add_argument("--json", action="store_true", help="print one JSON value for programs")

    mend = add("rebuild-scan-index", rebuild_scan_index, REBUILD_HELP, parents=())
    mend.add_argument("--json", action="store_true", help="print one JSON value for programs")

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


def _snapshot_verbs(listing: argparse.ArgumentParser) -> None:
    """`snapshots VERB SNAPSHOT`. What --url and --json say before the verb holds after it."""
    remote = after_verb()
    verbs = listing.add_subparsers(title="verbs", metavar="VERB")
    for name, run, help in (
        ("show", show, "everything that is known of one"),
        ("diff", diff, "documents added, removed, changed and relabelled from one to another"),
        ("pin", pin, "keep one, however many are published after it"),
        ("unpin", pin, "let one go again when it is old enough"),
        (
            "verify",
            verify,
            "read everything that one is made of, and tell each check; exit code 1 when it is not sound",
        ),
        ("delete", delete, "remove one and what only it needs; refused while anything holds it"),
    ):
        verb = verbs.add_parser(name, help=help, description=help, parents=[remote])
        verb.set_defaults(run=run, verb=name)
        verb.add_argument("snapshot_id", metavar="SNAPSHOT")
        if name == "diff":
            verb.add_argument("other", metavar="OTHER", nargs="?", help="(default: the active one)")


def _preferring(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--prefer",
        choices=("newer", "trusted"),
        help="put documents that were taken in later, or whose source is more trusted, further in front (default: neither)",
    )


def _narrowing(command: argparse.ArgumentParser) -> None:
    command.add_argument("--doc", action="append", metavar="DOC", help=DOC)
    command.add_argument("--source", action="append", metavar="LABEL", help="only in this source; may be repeated")
    command.add_argument("--tag", action="append", metavar="TAG", help="only in sources with this tag; may be repeated")
