"""Function calls to one decision, whether a provider delivered them or they were left standing in the text. Pure."""

import re

import msgspec
from msgspec.structs import replace

from api.agent.arguments import Unreadable, read_object, starts_object, without_fence
from api.agent.decisions import Decision, Ending, Finish, ProtocolError, ToolAction
from shared.llm.port import FunctionCall

_ENDINGS: dict[str, Ending] = {"finish": "answer", "refuse": "refusal", "clarify": "clarification"}
_ALIASES = {"final_answer": "finish"}
_PREFIX = re.compile(r"(?:functions?|tools?)[.:/]")
_SUFFIX = re.compile(r":\d+$")


def called(calls: tuple[FunctionCall, ...], said: str, *, cut: bool) -> Decision:
    """What `calls`, at least one, mean beside the text that was `said`.

    One is taken: the first of a tool, since an ending beside it would speak before its result is known.
    """
    place = next((place for place, call in enumerate(calls) if _name(call) not in _ENDINGS), 0)
    call = replace(calls[place], name=_name(calls[place]))
    cut = cut and place == len(calls) - 1  # those before the last one are whole
    try:
        arguments = _arguments(call.arguments, cut=cut)
    except Unreadable as error:
        fit = replace(call, arguments="{}")  # servers refuse a history whose arguments aren't JSON
        problem = "cut" if cut else "bad_json"
        return ProtocolError(thought=said, problem=problem, detail=error.problem, kept=said, call=fit)
    fit = replace(call, arguments=msgspec.json.encode(arguments, order="deterministic").decode())
    if call.name in _ENDINGS:
        return _ended(fit, arguments, said)
    return ToolAction(thought=said, tool=call.name, arguments=arguments, kept=said, call=fit, dropped=len(calls) - 1)


def _ended(call: FunctionCall, arguments: dict[str, object], said: str) -> Decision:
    """The one text of an ending's arguments; where there is none, what was said beside the call."""
    texts = [value.strip() for value in arguments.values() if isinstance(value, str) and value.strip()]
    if len(texts) > 1 or not (texts or said):
        return ProtocolError(thought=said, problem="empty_answer", detail="", kept=said, call=call)
    text = texts[0] if texts else said
    return Finish(thought=said if texts else "", ending=_ENDINGS[call.name], text=text, kept=text)


def plain_name(name: str) -> str:
    """A function's name without the namespace and number that some models put around it."""
    return _SUFFIX.sub("", _PREFIX.sub("", name.strip(), count=1))


def _name(call: FunctionCall) -> str:
    name = plain_name(call.name)
    low = name.lower().replace(" ", "_")
    return _ALIASES.get(low, low if low in _ENDINGS else name)


def _arguments(text: str, *, cut: bool) -> dict[str, object]:
    """Raises: Unreadable."""
    text = without_fence(text).strip()
    if text in ("", "null"):
        return {}
    if text.startswith('"'):  # the object was encoded twice
        text = _decoded(text)
    if not starts_object(text, 0):
        raise Unreadable("they are no JSON object")
    read = read_object(text, 0)
    if read.unclosed and cut:
        raise Unreadable("they have no end")
    if text[read.end :].strip(" \t\r\n}]"):
        raise Unreadable(f"something stands behind the object: {text[read.end :].strip()[:12]!r}")
    return read.value


def _decoded(text: str) -> str:
    try:
        return msgspec.json.decode(text, type=str).strip()
    except msgspec.DecodeError as error:
        raise Unreadable("they are a text and no JSON object") from error
