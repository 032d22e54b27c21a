"""The answerer that needs no model: it drives the same loop with the same texts, and quotes.

It reads the conversation as a model would, replies in the same protocol, and its answer goes through the same citation
checks. It never says more than the sentences it found; when they share too little with the question it declines.
"""

import asyncio
import json
import re
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from api.agent.decisions import Finish, ProtocolError, ToolAction
from api.agent.drive import Stopwatch
from api.agent.exact_names import exact_names
from api.agent.excerpts import Excerpt, Passage, Picked, pick
from api.agent.observation import Envelope, opened
from api.agent.react import parse
from api.agent.steps import AskFailed, AskModel, Replied, Wording
from api.agent.wanted import asked_terms, asks_denied
from api.agent.words import content_terms
from api.tools.search_blocks import MAX_QUERY
from shared.llm.port import Message
from shared.text.lang import detect_lang
from shared.types.documents import PATH_SEPARATOR, ROOT_PATH

EXTRACTIVE_MODEL = "citebound/extractive-1"
ENOUGH = 0.45  # share of the question's weight that a passage must show to be quoted
ENOUGH_HERE = 0.28  # the same of a quoted sentence with its headings; the other words may stand round it
ENOUGH_HERE_ZH = 0.45  # pairs of characters: a Chinese sentence has fewer chances to miss a word
ENOUGH_NAMED = 0.3  # of both, where the question names the document
WEAK = 0.65  # below it the section of the best passage is read whole before quoting
READ_TOKENS = 6_000  # of a section that may be read whole
CITED_HITS = 5  # places of a scan that an answer names
POINTERS = 3  # blocks that a refusal points at

_TOOLS = frozenset({"search_blocks", "scan_term", "get_outline", "list_blocks"})
_HOW_OFTEN = re.compile(
    r"出现(?:了|过)?(?:几|多少)[次处]|(?:几|多少)[次处].{0,6}(?:出现|提到)|提到(?:了|过)?(?:几|多少)[次处]"
    r"|how (?:many times|often) (?:does|do|is|are|did|was|were)\b.*\b(?:appear|occur|mention|come up)|number of (?:times|occurrences)",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"(?:(?:你好|您好|大家好|嗨|哈喽|哈囉|在吗|在嗎|早上好|下午好|晚上好"
    r"|hi|hello|hey|good (?:morning|afternoon|evening))(?:there|[呀啊哦]|[\s，。！？~,.!?])*)+",
    re.IGNORECASE,
)


class Shown(Struct, frozen=True, kw_only=True):
    """A call of this answerer's and the observation it got."""

    tool: str
    arguments: dict[str, object]
    observation: Envelope


class _Block(Struct, frozen=True, kw_only=True):
    block_id: str
    section_path: str = "/"
    doc_id: str = ""
    title: str = ""
    text: str = ""
    snippet: str = ""
    count: int = 0


class _Section(Struct, frozen=True, kw_only=True):
    path: str
    subtree_tokens: int


class _Document(Struct, frozen=True, kw_only=True):
    sections: tuple[_Section, ...]


class _Error(Struct, frozen=True, kw_only=True):
    code: str
    message: str
    retryable: bool = False


class _Payload(Struct, frozen=True, kw_only=True):
    """What it reads of any of its tools' payloads."""

    blocks: tuple[_Block, ...] = ()
    documents: tuple[_Document, ...] = ()
    doc_id: str = ""
    title: str = ""
    total_count: int = 0
    error: _Error | None = None


class ExtractiveAnswerer:
    """Scoped: the caller restricted the run to some documents; a refusal names it."""

    def __init__(self, question: str, wording: Wording, watch: Stopwatch, *, scoped: bool) -> None:
        self._question = question
        self._wording = wording
        self._watch = watch
        self._scoped = scoped

    async def reply(self, ask: AskModel) -> Replied | AskFailed:
        shown = read(ask.messages)
        if shown and (error := _payload(shown[0].observation).error):  # without its first look there is nothing to say
            return AskFailed(
                code=error.code,
                message=error.message,
                retryable=error.retryable,
                retry_after_s=None,
                heard="",
                metered=False,
                elapsed_ms=self._watch.elapsed_ms(),
            )
        text = await asyncio.to_thread(
            next_reply, self._question, shown, final=ask.final, wording=self._wording, scoped=self._scoped
        )
        return Replied(
            text=text,
            reasoning="",
            usage=None,
            finish_reason="stop",
            metered=False,
            elapsed_ms=self._watch.elapsed_ms(),
        )


def next_reply(question: str, shown: Sequence[Shown], *, final: bool, wording: Wording, scoped: bool) -> str:
    """The next action, in the react protocol, after what was `shown` so far."""
    if _GREETING.fullmatch(question.strip()):
        return _end("Clarify", "question", wording.render("extractive", part="greeting"))
    counted = _counted_term(question)
    if not shown and not final:
        return _act("scan_term", term=counted) if counted else _act("search_blocks", query=question.strip()[:MAX_QUERY])
    if counted and shown and shown[0].tool == "scan_term" and shown[0].observation.harness_status == "ok":
        return _count(counted, _payload(shown[0].observation), wording, scoped=scoped)
    picked = pick(question, _passages(shown))
    if (
        not final
        and (picked.coverage < WEAK or not picked.excerpts)
        and (more := _look_further(question, shown, picked))
    ):
        return more
    covers = _covers(question, picked, alone=scoped and len({one.doc_id for one in _passages(shown)}) == 1)
    if not covers or not picked.excerpts:
        return _end("Refuse", "reason", _refusal(question, shown, wording, picked=picked, near=covers, scoped=scoped))
    preface = wording.render("extractive", part="preface")
    return _end("Finish", "answer", "\n\n".join([preface, *_quotes(picked.excerpts, wording)]))


def _quotes(excerpts: Sequence[Excerpt], wording: Wording) -> list[str]:
    return [wording.render("extractive", part="quote", text=one.text, block_ids=[one.block_id]) for one in excerpts]


def _covers(question: str, picked: Picked, *, alone: bool) -> bool:
    """Whether enough of the question is shown. `alone`: the caller chose documents, and all that was found is of one of them."""
    if (picked.named or alone) and not asks_denied(question):
        return min(picked.coverage, picked.shown) >= ENOUGH_NAMED
    here = ENOUGH_HERE_ZH if detect_lang(question) == "zh" else ENOUGH_HERE
    return picked.coverage >= ENOUGH and picked.shown >= here


def _look_further(question: str, shown: Sequence[Shown], picked: Picked) -> str | None:
    """One scan for an identifier or name that no passage shows, then the section round the best passage if it is small."""
    done = {one.tool for one in shown}
    seen = "\n".join(passage.text for passage in _passages(shown)).casefold()
    exact = [name for name in (*exact_names(question), *picked.unnamed) if name.casefold() not in seen]
    if exact and "scan_term" not in done:
        return _act("scan_term", term=exact[0])
    best = picked.best
    if best is None or "list_blocks" in done:
        return None
    if "get_outline" not in done:
        return _act("get_outline", doc_ids=[best.doc_id])
    outline = _payload(next(one.observation for one in shown if one.tool == "get_outline"))
    sections = {section.path: section.subtree_tokens for one in outline.documents for section in one.sections}
    if sections.get(best.section_path, READ_TOKENS + 1) > READ_TOKENS:
        return None
    return _act("list_blocks", doc_id=best.doc_id, section_paths=[best.section_path])


def _refusal(
    question: str, shown: Sequence[Shown], wording: Wording, *, picked: Picked, near: bool, scoped: bool
) -> str:
    """Nothing found that answers, or nothing let in. What shares some words with the question is pointed at, never passed
    off as an answer; so are blocks in another language, which words can't judge, if search brought no others.

    `near`: sentences that only lack the kind of thing asked for show enough of the question to be quoted as what is nearest.
    """
    if any(one.observation.harness_status != "ok" for one in shown):
        return wording.render("extractive", part="unread", scoped=scoped)
    lacking = picked.lacking if near else None
    said = wording.render(
        "extractive",
        part="nothing",
        unshown=(*picked.unshown, *picked.unnamed),
        lacking=lacking and lacking.name,
        unit=lacking.written if lacking else "",
        scoped=scoped,
    )
    if lacking:
        lead = wording.render("extractive", part="lacking")
        return "\n\n".join([said, lead, *_quotes(picked.nearest, wording)])
    lang, found = detect_lang(question), sorted(_passages(shown), key=lambda one: one.rank)
    if lang != "und" and found and all(detect_lang(one.text) not in (lang, "und") for one in found):
        part, pointed = "foreign", found
    else:
        asked = asked_terms(question)
        part, pointed = "nearest", [one for one in found if asked & content_terms(one.text)]
    if not pointed:
        return said
    places = [_place(wording, one.title, one.section_path, one.block_id) for one in pointed[:POINTERS]]
    return "\n".join([said, "", wording.render("extractive", part=part), "", *places])


def _place(wording: Wording, title: str, section_path: str, block_id: str) -> str:
    """The title once, though a document's first heading often is its title."""
    below = ROOT_PATH if section_path == title else section_path.removeprefix(f"{title}{PATH_SEPARATOR}")
    return wording.render("extractive", part="place", title=title, section_path=below, block_id=block_id)


def _counted_term(question: str) -> str | None:
    """The string whose occurrences are asked for, if the question names it exactly."""
    names = exact_names(question)
    return names[0] if names and _HOW_OFTEN.search(question) else None


def read(messages: Sequence[Message]) -> list[Shown]:
    """Its own actions with their observations, as a model would find them; system prompt and task hold none."""
    shown: list[Shown] = []
    action: ToolAction | None = None
    for message in messages[2:]:
        if message.role == "assistant":
            match parse(message.content, tools=_TOOLS, cut=False):
                case ToolAction() as found:
                    action = found
                case Finish() | ProtocolError():
                    action = None
        elif action is not None and (observation := opened(message.content.split("\n", 1)[0])):
            shown.append(Shown(tool=action.tool, arguments=action.arguments, observation=observation))
            action = None
    return shown


def _passages(shown: Sequence[Shown]) -> list[Passage]:
    """Every block shown, each once, in the order in which it was found; whole if it was ever shown whole."""
    found: dict[str, Passage] = {}
    for one in shown:
        payload = _payload(one.observation)
        for rank, block in enumerate(payload.blocks, 1):
            text = block.text or block.snippet
            before = found.get(block.block_id)
            if before is None or len(before.text) < len(text):
                found[block.block_id] = Passage(
                    block_id=block.block_id,
                    doc_id=block.doc_id or payload.doc_id,
                    title=block.title or payload.title,
                    section_path=block.section_path,
                    text=text,
                    whole=bool(block.text),
                    rank=rank if before is None else before.rank,
                )
    return list(found.values())


def _payload(observation: Envelope) -> _Payload:
    try:
        return msgspec.json.decode(observation.payload, type=_Payload)
    except msgspec.DecodeError:  # an error payload, a reference to an earlier turn, or null
        return _Payload()


def _count(term: str, found: _Payload, wording: Wording, *, scoped: bool) -> str:
    if not found.blocks:
        return _end("Refuse", "reason", wording.render("extractive", part="absent", term=term, scoped=scoped))
    cited = found.blocks[:CITED_HITS]
    count = wording.render(
        "extractive", part="count", term=term, total=found.total_count, blocks=len(found.blocks), shown=len(cited)
    )
    places = [_place(wording, block.title, block.section_path, block.block_id) for block in cited]
    return _end("Finish", "answer", "\n".join([count, "", *places]))


def _act(tool: str, **arguments: object) -> str:
    return f"Action: {tool}[{json.dumps(arguments, ensure_ascii=False)}]"


def _end(ending: str, name: str, text: str) -> str:
    return f"Action: {ending}[{json.dumps({name: text}, ensure_ascii=False)}]"
