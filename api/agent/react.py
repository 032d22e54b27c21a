"""The `react` protocol: from a model's text to exactly one decision. Pure, and never raises.

    Thought: ...
    Action: search_blocks[{"query": "..."}]

or one of the three endings `Action: Finish[answer]`, `Action: Refuse[reason]`, `Action: Clarify[question]`.
Strict about meaning, tolerant about form: see tests/unit/agent/malformed.py for what real models write.
"""

import re

from api.agent.arguments import FENCE_LINE, Unreadable, read_object, starts_object, without_fence
from api.agent.called import called
from api.agent.decisions import Decision, Ending, Finish, Problem, ProtocolError, ToolAction
from api.agent.spoken import spoken_calls
from shared.llm.port import FunctionCall

_ENDINGS: dict[str, Ending] = {"finish": "answer", "refuse": "refusal", "clarify": "clarification"}
_CLOSERS = {"[": "]］", "［": "]］", "(": ")）", "（": ")）", "【": "】"}
_OPENERS = {"]": "[［", "］": "[［", ")": "(（", "）": "(（", "】": "【"}
_MARKUP = r"[ \t>*_#`\-]*+"  # possessive throughout: no reply makes a pattern quadratic
_ACTION_WORDS = "action|行动|动作|操作"
_THOUGHT_WORDS = "thought|思考|想法"
_OBSERVATION_WORDS = "observation|观察结果|观察|观测"
_COLON = r"[ \t]*+\d*+[ \t*_]*+[:：][ \t*_]*+"


def _label(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?im)^{_MARKUP}(?:{words}){_COLON}")


_ACTION = _label(_ACTION_WORDS)
_THOUGHT = _label(_THOUGHT_WORDS)
_OBSERVATION = _label(_OBSERVATION_WORDS)
_IMITATED = re.compile(
    rf'(?im)^{_MARKUP}(?:(?:{_OBSERVATION_WORDS}){_COLON})?+(?:\s{{0,4}}+```\w{{0,9}}+)?\s{{0,4}}+\{{\s{{0,4}}+"harness_status"'
)
_PROTOCOL_FOLLOWS = re.compile(
    rf"(?i)[\s*_`]*+(?:\Z|(?:{_OBSERVATION_WORDS}|{_THOUGHT_WORDS}|{_ACTION_WORDS}){_COLON})"
)
_FINAL_ANSWER = _label("final answer|最终答案|最终回答")
_INPUT = re.compile(r"(?i)\s*[*_]*(?:action input|行动输入|参数)[ \t*_]*[:：][ \t*_]*")
_CALLED = re.compile(r"[`*_\s]*([A-Za-z_][\w.]*)[`*_]*[ \t]*")
_INLINE = re.compile(r"(?i)(?:\baction|行动)[ \t]*+[:：][ \t`*]*+(?=[A-Za-z_][\w.]*+[ \t]*+[\[［(（【{])")
_FENCE = re.compile(r"\s*+```[\w-]*[ \t]*\n?")
_CLOSING = re.compile(r"(?:\s*+[\]］)）】}｝])*+")
_THINK = re.compile(r"(?i)\A\s*<(think|thinking|reasoning)>.*?</\1>", re.DOTALL)
_THINK_OPEN = re.compile(r"(?i)\A\s*<(?:think|thinking|reasoning)>")
_THINK_CLOSE = re.compile(r"(?i)</(?:think|thinking|reasoning)>")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


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
        if final := _FINAL_ANSWER.search(text):
            return _final_answer(text, final)
        calls, said = spoken_calls(text)
        if calls:
            return _spoken(calls, said, cut=cut)
        problem: Problem = "cut" if cut else "no_action"
        return ProtocolError(thought=_thought(text), problem=problem, detail="", kept=text.strip())
    label, start = found
    thought = _thought(text[:label])
    name = _CALLED.match(text, start)
    if name is None:
        return ProtocolError(thought=thought, problem="no_brackets", detail="", kept=text.strip())
    ending = _ENDINGS.get(name[1].lower())
    if ending is not None:
        return _finish(text, name.end(), ending, thought=thought, tools=tools, cut=cut)
    return _tool(text, name.end(), name[1], thought=thought, tools=tools, cut=cut)


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
    if not isinstance(decision, ProtocolError) or decision.problem != "no_action" or _THOUGHT.search(decision.kept):
        return decision
    bare = decision.kept[: _envelope_at(decision.kept, 0)].strip()
    if not bare:
        return decision
    return Finish(thought="", ending="answer", text=bare, kept=bare, cut=cut)


def is_labelled(text: str, tools: frozenset[str]) -> bool:
    """Whether `text` says an action or an ending in this protocol's own form."""
    return _find_action(text, tools) is not None or _FINAL_ANSWER.search(text) is not None


def visible(reply: str) -> str | None:
    """The reply without hidden reasoning and without a fence around all of it; None if the reasoning never ended."""
    text = _SURROGATE.sub("\ufffd", reply)
    text = _THINK.sub("", text, count=1)
    if _THINK_OPEN.match(text):
        return None
    closed = _THINK_CLOSE.search(text)  # chat templates that open the tag themselves
    action = _ACTION.search(text)
    if closed and (action is None or closed.start() < action.start()):
        text = text[closed.end() :]
    return without_fence(text)


def _spoken(calls: tuple[FunctionCall, ...], said: str, *, cut: bool) -> Decision:
    """A native call left standing in the text; the history gets it in the form that was asked for."""
    thought = _thought(said)
    if cut or len(calls) > 1:
        problem: Problem = "cut" if cut else "several_actions"
        return ProtocolError(thought=thought, problem=problem, detail="", kept=said)
    decision = called(calls, thought, cut=cut)
    match decision:
        case ToolAction(tool=tool, call=FunctionCall(arguments=arguments)):
            kept = f"{said}\nAction: {tool}[{arguments}]".strip()
            return ToolAction(thought=thought, tool=tool, arguments=decision.arguments, kept=kept)
        case ProtocolError(problem=problem, detail=detail):
            return ProtocolError(thought=thought, problem=problem, detail=detail, kept=said)
        case _:
            return decision


def _find_action(text: str, tools: frozenset[str]) -> tuple[int, int] | None:
    """Where the first action's label and its name begin; self-made observations before it don't count."""
    if label := _ACTION.search(text):
        return label.start(), label.end()
    if inline := _INLINE.search(text):
        return inline.start(), inline.end()
    if bare := _bare(tools).search(text):
        return bare.start(), bare.start(1)
    return None


def _bare(tools: frozenset[str]) -> re.Pattern[str]:
    names = "|".join(sorted(map(re.escape, {*tools, "Finish", "Refuse", "Clarify"})))
    return re.compile(rf"(?m)^{_MARKUP}((?:{names})[`*_ \t]*[\[［(（【])")


def _thought(before: str) -> str:
    label = _THOUGHT.search(before)
    text = (before[label.end() :] if label else before).strip()
    start, newline, last = text.rpartition("\n")
    return (start if FENCE_LINE.fullmatch(last) else start + newline + last).strip()


def _tool(text: str, at: int, name: str, *, thought: str, tools: frozenset[str], cut: bool) -> Decision:
    def wrong(problem: Problem, detail: str = "") -> ProtocolError:
        return ProtocolError(thought=thought, problem="cut" if cut else problem, detail=detail, kept=text.strip())

    at = _past(_INPUT, text, at)
    at = _past_blank(text, at)
    opener = text[at : at + 1]
    closers = _CLOSERS.get(opener, "]］")
    bracketed = opener in _CLOSERS
    if bracketed:
        at += 1
    at = _past_blank(text, _past(_FENCE, text, at))
    if bracketed and text[at : at + 1] in tuple(closers):
        arguments: dict[str, object] = {}
    elif starts_object(text, at):
        try:
            read = read_object(text, at)
        except Unreadable as error:
            return wrong("bad_json", error.problem)
        if read.unclosed and cut:
            return wrong("cut")
        arguments, at = read.value, read.end
    else:
        return wrong("not_an_object" if bracketed else "no_brackets", name)
    for closing in (_FENCE, _CLOSING, _FENCE):
        at = _past(closing, text, at)
    if _more_actions(text[at:], tools):
        return ProtocolError(thought=thought, problem="several_actions", detail="", kept=text.strip())
    return ToolAction(thought=thought, tool=name, arguments=arguments, kept=text[:at].strip())


def _finish(text: str, at: int, ending: Ending, *, thought: str, tools: frozenset[str], cut: bool) -> Decision:
    at = _past_blank(text, at)
    if text[at : at + 1] not in _CLOSERS:
        return ProtocolError(thought=thought, problem="no_brackets", detail="Finish", kept=text.strip())
    start = at + 1
    wrapped = _wrapped(text, start, _CLOSERS[text[at]])
    end = wrapped[1] if wrapped else _closing(text, start, text[at])
    unclosed = end is None
    if end is None:
        if cut:
            return ProtocolError(thought=thought, problem="cut", detail="", kept=text.strip())
        end = _envelope_at(text, start)
    if not unclosed and _more_actions(text[end + 1 :], tools):
        return ProtocolError(thought=thought, problem="several_actions", detail="", kept=text.strip())
    body = wrapped[0] if wrapped else text[start:end].strip()
    kept = text[: end + (0 if unclosed else 1)].strip()
    if not body:
        return ProtocolError(thought=thought, problem="empty_answer", detail="", kept=kept)
    return Finish(thought=thought, ending=ending, text=body, kept=kept, cut=unclosed)


def _final_answer(text: str, label: re.Match[str]) -> Decision:
    thought = _thought(text[: label.start()])
    end = _envelope_at(text, label.end())
    body = text[label.end() : end].strip()
    if not body:
        return ProtocolError(thought=thought, problem="empty_answer", detail="", kept=text.strip())
    return Finish(thought=thought, ending="answer", text=body, kept=text[:end].strip())


def _envelope_at(text: str, start: int) -> int:
    """Where an answer without an end of its own is followed by a self-made envelope; else the text's end.

    A line that merely begins "Observation:" or "观察：" is part of the answer: an answer is never cut on suspicion.
    """
    imitated = _IMITATED.search(text, start)
    return imitated.start() if imitated else len(text)


def _closing(text: str, start: int, opener: str) -> int | None:
    """The bracket that ends an answer: the balanced one if nothing but the protocol follows it, else the first such one."""
    closers = _CLOSERS[opener]
    openers = _OPENERS[closers[0]]
    depth = 1
    first_end: int | None = None
    for at in range(start, len(text)):
        if text[at] in openers:
            depth += 1
        elif text[at] in closers:
            depth -= 1
            ends = _PROTOCOL_FOLLOWS.match(text, at + 1) is not None
            if ends and depth == 0:
                return at
            if ends and first_end is None:
                first_end = at
            depth = max(depth, 1)
    return first_end


def _wrapped(text: str, start: int, closers: str) -> tuple[str, int] | None:
    """`Finish[{"answer": "..."}]` means its one string: that string, and where the closing bracket stands."""
    at = _past_blank(text, _past(_FENCE, text, start))
    if not starts_object(text, at):
        return None
    try:
        read = read_object(text, at)
    except Unreadable:
        return None
    end = _past_blank(text, _past(_FENCE, text, read.end))
    match list(read.value.items()):
        case [("answer" | "text" | "content" | "reason" | "question" | "答案", str(value))] if end < len(text):
            return (value.strip(), end) if text[end] in closers else None
        case _:
            return None


def _more_actions(rest: str, tools: frozenset[str]) -> bool:
    """A second action that isn't the consequence of a self-made observation."""
    observed = _OBSERVATION.search(rest)
    return _find_action(rest[: observed.start()] if observed else rest, tools) is not None


def _past(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _past_blank(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at
