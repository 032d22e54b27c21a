"""A conversation in OpenAI's shapes: what is sent to a provider, and what a trace shows of it."""

from typing import Any

from shared.llm.port import Function, FunctionCall, Message


def message_shape(message: Message) -> dict[str, Any]:
    shape: dict[str, Any] = {"role": message.role, "content": _sendable(message.content)}
    if message.call is not None:
        shape["tool_calls"] = [call_shape(message.call)]
    if message.role == "tool":
        shape["tool_call_id"] = message.call_id
    if message.reasoning:
        shape["reasoning_content"] = _sendable(message.reasoning)
    return shape


def call_shape(call: FunctionCall) -> dict[str, Any]:
    function = {"name": _sendable(call.name), "arguments": _sendable(call.arguments)}
    return {"id": _sendable(call.call_id), "type": "function", "function": function}


def function_shape(function: Function) -> dict[str, Any]:
    described = {"name": function.name, "description": function.description, "parameters": function.schema}
    return {"type": "function", "function": described}


def _sendable(text: str) -> str:
    """Half a surrogate pair can't be put into JSON."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text
