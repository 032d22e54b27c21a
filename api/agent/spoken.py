"""Native calls that a server left standing in the text, because it doesn't know its model's own form of them. Pure.

<tool_call>{"name": "search_blocks", "arguments": {"query": "…"}}</tool_call>          Hermes, Qwen
<tool_call><function=search_blocks><parameter=query>…</parameter></function></tool_call>   Qwen-Coder
<invoke name="search_blocks"><parameter name="query">…</parameter></invoke>              Claude's form, DeepSeek V3.2
[TOOL_CALLS][{"name": …, "arguments": …}]                                                Mistral
<|tool_call_begin|>functions.search_blocks:0<|tool_call_argument_begin|>{…}<|tool_call_end|>   Kimi
<｜tool▁call▁begin｜>function<｜tool▁sep｜>search_blocks {…}<｜tool▁call▁end｜>              DeepSeek R1
<|channel|>commentary to=functions.search_blocks<|message|>{…}<|call|>                   gpt-oss
{"action": "search_blocks", "action_input": {…}} and nothing else                        LangChain's prompts
"""

import re
from typing import cast

import msgspec

from api.agent.arguments import Unreadable, read_object, starts_object
from shared.llm.port import FunctionCall

_BEGIN = re.compile(
    r"<tool_calls?>|<function_calls?>|<\|?(?:｜DSML｜)?(?:function_calls|invoke)\b|<(?:function|invoke)[ =]|\[TOOL_CALLS\]"
    r"|<\|tool_calls?(?:_section)?_begin\|>|<｜tool▁calls?▁begin｜>|<\|tool_call\|>|<\|python_tag\|>|<\|channel\|>commentary to="
)
_OBJECT_ALONE = re.compile(r"\A\s*(?:```[\w-]*\s*)?\{.*\}\s*+(?:```\s*+)?\Z", re.DOTALL)
_TAGGED = re.compile(r"<(?:function|invoke)(?:=| name=)\"?([\w.:-]+)\"?>(.*?)(?:</(?:function|invoke)>|\Z)", re.DOTALL)
_PARAMETER = re.compile(
    r"<parameter(?:=| name=)\"?([\w.-]+)\"?[^>]*>\n?(.*?)\n?(?:</parameter>|(?=<parameter)|\Z)", re.DOTALL
)
_MARKED = re.compile(
    r"(?:<\|tool_call_begin\|>|<｜tool▁sep｜>|to=)\s*(?:functions\.)?([\w.-]+)(?::\d+)?\s*(?:<\|constrain\|>\w+)?\s*"
    r"(?:<\|tool_call_argument_begin\|>|<｜tool▁sep｜>|<\|message\|>)?\s*(?:```(?:json)?)?\s*(?=\{)"
)
_NAMES = ("name", "tool", "function", "tool_name", "action")
_ARGUMENTS = ("arguments", "parameters", "args", "input", "action_input", "actionInput")


def spoken_calls(text: str) -> tuple[tuple[FunctionCall, ...], str]:
    """The calls that a reply ends with, and the text before them; no calls: the whole text."""
    begin = _BEGIN.search(text)
    if begin is None:
        calls = _objects(text) if _OBJECT_ALONE.match(text) else []
        return _numbered(calls), "" if calls else text.strip()
    rest = text[begin.start() :]
    calls = _tagged(rest) or _marked(rest) or _objects(rest)
    if not calls:
        return (), text.strip()
    return _numbered(calls), text[: begin.start()].strip()


def _numbered(calls: list[tuple[str, str]]) -> tuple[FunctionCall, ...]:
    return tuple(
        FunctionCall(call_id=f"call_{place}", name=name, arguments=arguments)
        for place, (name, arguments) in enumerate(calls, start=1)
    )


def _tagged(text: str) -> list[tuple[str, str]]:
    calls: list[tuple[str, str]] = []
    for match in _TAGGED.finditer(text.replace("｜DSML｜", "")):
        body = match[2].strip()
        given = {name: _value(value) for name, value in _PARAMETER.findall(body)}
        calls.append((match[1], body if body.startswith("{") else msgspec.json.encode(given).decode()))
    return calls


def _value(text: str) -> object:
    """A parameter's text: a list, a number or true is meant where it is one; everything else is text."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text
    return text if isinstance(value, str) else value


def _marked(text: str) -> list[tuple[str, str]]:
    calls: list[tuple[str, str]] = []
    for match in _MARKED.finditer(text):
        try:
            end = read_object(text, match.end()).end
        except Unreadable:
            end = len(text)
        calls.append((match[1], text[match.end() : end]))
    return calls


def _objects(text: str) -> list[tuple[str, str]]:
    """Objects that name a function and hold its arguments, one after another or in a list."""
    calls: list[tuple[str, str]] = []
    at = 0
    while (at := text.find("{", at)) >= 0:
        assert starts_object(text, at)
        try:
            read = read_object(text, at)
        except Unreadable:
            return calls
        name = next((read.value[key] for key in _NAMES if key in read.value), None)
        if isinstance(name, dict):  # {"type": "function", "function": {"name": …, "arguments": …}}
            read.value.update(cast(dict[str, object], name))
            name = read.value.get("name")
        given: object = next((read.value[key] for key in _ARGUMENTS if key in read.value), None) or {}
        if not isinstance(name, str):
            return calls
        if isinstance(given, str) and not given.lstrip().startswith("{"):
            given = {"text": given}  # {"action": "Final Answer", "action_input": "…"}
        calls.append((name, given if isinstance(given, str) else msgspec.json.encode(given).decode()))
        at = read.end
    return calls
