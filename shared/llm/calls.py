"""Native tool calls out of a stream's pieces, whatever a provider leaves out. Pure.

Providers differ (facts of 2026-11): `index` is missing at some (MiniMax, Mistral, Google's layer) or 0 for every call (Ollama),
`id` may be missing, the name may come again with every piece, arguments may come whole, or as an object instead of a text.
"""

from typing import Any, cast

import msgspec
from msgspec import Struct

from shared.llm.port import FunctionCall


class _Growing(Struct):
    index: int | None
    call_id: str = ""
    name: str = ""
    arguments: str = ""


class CallReader:
    def __init__(self) -> None:
        self._growing: list[_Growing] = []

    @property
    def calls(self) -> tuple[FunctionCall, ...]:
        """In order of their beginnings. A call without an id gets one: it must be answered under some."""
        return tuple(
            FunctionCall(call_id=one.call_id or f"call_{place}", name=one.name, arguments=one.arguments)
            for place, one in enumerate(self._growing, start=1)
            if one.name or one.arguments
        )

    def take(self, pieces: Any) -> str:
        """`pieces`: a delta's or a message's `tool_calls`, decoded. Returns the text of it that is new."""
        if not isinstance(pieces, list):
            return ""
        whole = [cast(dict[str, Any], piece) for piece in cast(list[Any], pieces) if isinstance(piece, dict)]
        return "".join(self._piece(piece) for piece in whole)

    def take_legacy(self, function: Any) -> str:
        """`function`: the older `function_call`, of which there is one at most."""
        return self._piece({"index": 0, "function": function}) if isinstance(function, dict) else ""

    def _piece(self, piece: dict[str, Any]) -> str:
        function = piece.get("function")
        fields = cast(dict[str, Any], function) if isinstance(function, dict) else {}
        call_id, name = _string(piece.get("id")), _string(fields.get("name"))
        arguments = _arguments(fields.get("arguments"))
        index = piece.get("index")
        call = self._of(index if isinstance(index, int) else None, call_id, name)
        call.call_id = call.call_id or call_id
        if name == call.name:
            name = ""
        call.name += name
        call.arguments += arguments
        return name + arguments

    def _of(self, index: int | None, call_id: str, name: str) -> _Growing:
        """The call that a piece continues, or a new one."""
        for one in reversed(self._growing):
            if (call_id and call_id == one.call_id) or _continues(one, index, call_id, name):
                return one
            if index is None:
                break
        self._growing.append(_Growing(index=index))
        return self._growing[-1]


def _continues(one: _Growing, index: int | None, call_id: str, name: str) -> bool:
    if index != one.index:
        return False
    if not name:  # some servers invent another id for every piece
        return True
    if call_id and one.call_id:
        return False
    return (index is not None or name == one.name) and not _is_whole(one.arguments)


def _is_whole(arguments: str) -> bool:
    try:
        msgspec.json.decode(arguments)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _arguments(value: Any) -> str:
    if isinstance(value, dict):
        return msgspec.json.encode(value).decode()
    return _string(value)


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""
