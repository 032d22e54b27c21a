"""The `react` protocol: from a model's text to exactly one decision. Pure, and never raises.

    Thought: ...
    Action: search_blocks[{"query": "..."}]

or one of the three endings `Action: Finish[answer]`, `Action: Refuse[reason]`, `Action: Clarify[question]`.
Strict about meaning, tolerant about form: see tests/unit/agent/malformed.py for what real models write.
"""

import re
from functools import lru_cache

from api.agent.arguments import FENCE_LINE, Unreadable, read_object, read_pairs, starts_object, starts_pair
from api.agent.brackets import ANY_CLOSER, CLOSERS, FENCE, OPENERS, closing_at, past, past_blank, wrapped_in
from api.agent.called import called, plain_name
from api.agent.decisions import Decision, Ending, Finish, Problem, ProtocolError, ToolAction
from api.agent.hidden import without_hidden
from api.agent.labels import (
    ACTION,
    AGAIN,
    FINAL_ANSWER,
    IMITATED,
    INLINE,
    INPUT,
    MARKUP,
    OBSERVATION,
    THOUGHT,
    without_repetition,
)
from api.agent.spoken import spoken_calls
from shared.ids import BLOCK_ID_PATTERN
from shared.llm.port import FunctionCall

_ENDINGS: dict[str, Ending] = {
    "finish": "answer", "final answer": "answer", "完成": "answer", "结束": "answer", "回答": "answer",
    "refuse": "refusal", "拒答": "refusal", "拒绝": "refusal",
    "clarify": "clarification", "澄清": "clarification", "提问": "clarification",
}  # fmt: skip
_CALLED = re.compile(
    rf"[`*_\s\u200b\ufeff【]*+({'|'.join(sorted(_ENDINGS, key=len, reverse=True))}|[A-Za-z_][\w.]*)[`*_】]*[ \t\u200b]*",
    re.IGNORECASE,
)
_CLOSING = re.compile(r"(?:\s*+[\]］)）】}｝])*+")
_ESCAPED = re.compile(r"\{\s*+\\\"")
_BLOCK_ID = re.compile(BLOCK_ID_PATTERN)


def parse(reply: str, *, tools: frozenset[str], cut: bool) -> Decision:
    """Decide what a planning turn's reply means.

    `tools`: known names, which are recognised even without their label. `cut`: the provider ended it at the output limit.
    """
    text = visible(reply)
    if text is None:
        return ProtocolError(thought="", problem="thinking_only", detail="", kept="")
    if not text.strip():
        return ProtocolError(thought="", problem="empty", detail="", kept="")
    found = _find_action(text, tools)
    if found is None:
        return _unlabelled(text, cut=cut)
    label, start = found
    thought = _thought(text[:label])
    holds_object = starts_object(text, past_blank(text, past(FENCE, text, start)))
    name = None if holds_object else _CALLED.match(text, start)
    decision: Decision
    if name is None:
        decision = ProtocolError(thought=thought, problem="no_brackets", detail="", kept=text.strip())
    elif name[1].lower() in _ENDINGS:
        ending = _ENDINGS[name[1].lower()]
        decision = _finish(text, name.end(), ending, thought=thought, tools=tools, cut=cut)
    else:
        tool = _known(name[1], tools)
        decision = _tool(text, name.start(1), name.end(), tool, thought=thought, tools=tools, cut=cut)
    if isinstance(decision, ProtocolError) and decision.problem == "no_brackets":
        return _unlabelled(text[start:], cut=cut, thought=thought, otherwise=decision)
    return decision


def parse_final(reply: str, *, tools: frozenset[str], cut: bool) -> Decision:
    """The same for a turn without tools: here bare text is an answer, and a cut answer is one too, marked as such."""
    decision = parse(reply, tools=tools, cut=False)
    if isinstance(decision, Finish):
        return Finish(
            thought=decision.thought,
            ending=decision.ending,
            text=decision.text,
            kept=decision.kept,
            cut=cut and decision.cut,
        )
    if not isinstance(decision, ProtocolError) or decision.problem != "no_action" or THOUGHT.search(decision.kept):
        return decision
    bare = decision.kept[: _envelope_at(decision.kept, 0)].strip()
    if not bare:
        return decision
    return Finish(thought="", ending="answer", text=bare, kept=bare, cut=cut)


def is_labelled(text: str, tools: frozenset[str]) -> bool:
    """Whether `text` says an action or an ending in this protocol's own form."""
    return _find_action(text, tools) is not None or FINAL_ANSWER.search(text) is not None


def visible(reply: str) -> str | None:
    """The reply without hidden reasoning and without a fence around all of it; None if the reasoning never ended."""
    return without_hidden(reply, acts_at=ACTION)


def _unlabelled(text: str, *, cut: bool, thought: str = "", otherwise: ProtocolError | None = None) -> Decision:
    """A final answer under its own label, or a native call in the text; `otherwise`: what it is if it is neither."""
    if final := FINAL_ANSWER.search(text):
        return _final_answer(text, final, thought=thought)
    calls, said = spoken_calls(text)
    if calls:
        return _spoken(calls, thought or _thought(said), cut=cut)
    if otherwise is not None:
        return otherwise
    return ProtocolError(thought=_thought(text), problem="cut" if cut else "no_action", detail="", kept=text.strip())


def _spoken(calls: tuple[FunctionCall, ...], thought: str, *, cut: bool) -> Decision:
    """A native call left standing in the text; the history gets it in the form that was asked for."""
    if cut or len(calls) > 1:
        problem: Problem = "cut" if cut else "several_actions"
        return ProtocolError(thought=thought, problem=problem, detail="", kept=thought)
    decision = called(calls, thought, cut=cut)
    match decision:
        case ToolAction(tool=tool, call=FunctionCall(arguments=arguments)):
            kept = f"Thought: {thought}\nAction: {tool}[{arguments}]" if thought else f"Action: {tool}[{arguments}]"
            return ToolAction(thought=thought, tool=tool, arguments=decision.arguments, kept=kept)
        case ProtocolError(problem=problem, detail=detail):
            return ProtocolError(thought=thought, problem=problem, detail=detail, kept=thought)
        case _:
            return decision


def _known(name: str, tools: frozenset[str]) -> str:
    """The tool that `name` means, its case and a namespace in front aside; else the name as it was written."""
    plain = plain_name(name)
    return next((tool for tool in tools if tool.lower() == plain.lower()), name)


def _find_action(text: str, tools: frozenset[str]) -> tuple[int, int] | None:
    """Where the first action's label and its name begin; self-made observations before it don't count."""
    if label := ACTION.search(text):
        start = label.end()
        while again := AGAIN.match(text, start):  # Action: Action: …
            start = again.end()
        return label.start(), start
    if inline := INLINE.search(text):
        return inline.start(), inline.end()
    if bare := _bare(tools).search(text):
        return bare.start(), bare.start(1)
    return None


@lru_cache(maxsize=16)
def _bare(tools: frozenset[str]) -> re.Pattern[str]:
    names = "|".join(sorted(map(re.escape, {*tools, "Finish", "Refuse", "Clarify"})))
    return re.compile(rf"(?m)^{MARKUP}((?:{names})[`*_ \t]*[\[［(（【])")


def _thought(before: str) -> str:
    label = THOUGHT.search(before)
    text = (before[label.end() :] if label else before).strip()
    start, newline, last = text.rpartition("\n")
    return (start if FENCE_LINE.fullmatch(last) else start + newline + last).strip()


def _tool(text: str, begin: int, at: int, name: str, *, thought: str, tools: frozenset[str], cut: bool) -> Decision:
    """`begin`, `at`: where the action's name begins, and what follows it."""

    def wrong(problem: Problem, detail: str = "") -> ProtocolError:
        return ProtocolError(thought=thought, problem="cut" if cut else problem, detail=detail, kept=text.strip())

    at = past(INPUT, text, at)
    at = past_blank(text, at)
    opener = text[at : at + 1]
    closers = CLOSERS.get(opener, "]］")
    bracketed = opener in CLOSERS
    if bracketed:
        at += 1
    at = past_blank(text, past(FENCE, text, at))
    while starts_object(text, at) and starts_object(text, at + 1):  # {{…}}, copied from a template
        at += 1
    if _ESCAPED.match(text, at):
        text = text[:at] + text[at:].replace('\\"', '"')
    if bracketed and text[at : at + 1] in tuple(closers):
        arguments: dict[str, object] = {}
    elif starts_object(text, at) or (bracketed and starts_pair(text, at)):
        try:
            read = read_object(text, at) if starts_object(text, at) else read_pairs(text, at)
        except Unreadable as error:
            return wrong("bad_json", error.problem)
        if read.unclosed and cut:
            return wrong("cut")
        arguments, at = read.value, read.end
    else:
        return wrong("not_an_object" if bracketed else "no_brackets", name)
    for closing in (FENCE, _CLOSING, FENCE):
        at = past(closing, text, at)
    rest = without_repetition(text[at:], text[begin:at].strip())
    if _more_actions(rest, tools):
        return ProtocolError(thought=thought, problem="several_actions", detail="", kept=text.strip())
    return ToolAction(thought=thought, tool=name, arguments=arguments, kept=text[:at].strip())


def _finish(text: str, at: int, ending: Ending, *, thought: str, tools: frozenset[str], cut: bool) -> Decision:
    def wrong(problem: Problem, detail: str = "") -> ProtocolError:
        return ProtocolError(thought=thought, problem=problem, detail=detail, kept=text.strip())

    at = past_blank(text, at)
    if given := INPUT.match(text, at):
        return _final_answer(text, given, thought=thought, ending=ending)
    if text[at : at + 1] not in CLOSERS:
        return wrong("no_brackets", "Finish")
    start = at + 1
    wrapped = wrapped_in(text, start, CLOSERS[text[at]])
    end = wrapped[1] if wrapped else closing_at(text, start, text[at])
    unclosed = end is None
    if end is None:
        if cut:
            return wrong("cut")
        end = _envelope_at(text, start)
    rest = "" if unclosed else text[end + 1 :]
    if _more_actions(rest, tools):
        return wrong("several_actions")
    body = wrapped[0] if wrapped else text[start:end].strip()
    if unclosed and body.endswith(ANY_CLOSER) and not set(body[:-1]) & set(OPENERS.get(body[-1], "")):
        body = body[:-1].rstrip()  # closed by a bracket of another kind
    if _BLOCK_ID.search(rest) and not OBSERVATION.search(rest):  # Finish[…]【来源：…】
        body, end = body + rest[: _envelope_at(rest, 0)].rstrip(), len(text) - 1
    kept = text[: end + (0 if unclosed else 1)].strip()
    if not body:
        return ProtocolError(thought=thought, problem="empty_answer", detail="", kept=kept)
    return Finish(thought=thought, ending=ending, text=body, kept=kept, cut=unclosed)


def _final_answer(text: str, label: re.Match[str], *, thought: str, ending: Ending = "answer") -> Decision:
    """An answer that begins behind `label` and has no end of its own."""
    thought = thought or _thought(text[: label.start()])
    end = _envelope_at(text, label.end())
    body = text[label.end() : end].strip()
    if not body:
        return ProtocolError(thought=thought, problem="empty_answer", detail="", kept=text.strip())
    return Finish(thought=thought, ending=ending, text=body, kept=text[:end].strip())


def _envelope_at(text: str, start: int) -> int:
    """Where an answer without an end of its own is followed by a self-made envelope; else the text's end.

    A line that merely begins "Observation:" or "观察：" is part of the answer: an answer is never cut on suspicion.
    """
    imitated = IMITATED.search(text, start)
    return imitated.start() if imitated else len(text)


def _more_actions(rest: str, tools: frozenset[str]) -> bool:
    """A second action that isn't the consequence of a self-made observation."""
    if not rest:
        return False
    observed = OBSERVATION.search(rest)
    return _find_action(rest[: observed.start()] if observed else rest, tools) is not None
