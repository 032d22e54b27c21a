"""From decoded JSON to a tool's arguments, or a sentence that says what is wrong and what helps."""

import difflib
from typing import Any, TypeVar, cast

import msgspec
from msgspec import Struct
from msgspec.structs import FieldInfo, fields

from shared.errors import InvalidArgument

A = TypeVar("A", bound=Struct)


def canonical(arguments: object) -> str:
    """JSON with sorted names. Raises: InvalidArgument for text that no encoding can hold (half a surrogate pair)."""
    try:
        return msgspec.json.encode(arguments, order="sorted").decode()
    except UnicodeEncodeError as error:
        raise InvalidArgument("The arguments contain a broken character (half of a pair). Write it again.") from error


def decode(arguments: object, into: type[A], *, schema: dict[str, Any]) -> A:
    """Raises: InvalidArgument naming the field, the problem and the remedy.

    schema: of `into`; its descriptions are the remedies.
    """
    try:
        return msgspec.convert(arguments, into)
    except msgspec.ValidationError as error:
        raise _explained(arguments, into, schema, str(error)) from error


def _explained(arguments: object, into: type[Struct], schema: dict[str, Any], reason: str) -> InvalidArgument:
    known = {field.encode_name: field for field in fields(into)}
    if not isinstance(arguments, dict):
        return InvalidArgument(f"The arguments must be a JSON object with the fields {_listed(known)}.")
    given = cast(dict[object, object], arguments)
    remedies = {name: schema["properties"][name]["description"] for name in known}
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(str(name), known, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"Allowed: {_listed(known)}."
            return InvalidArgument(f"There is no field {name}. {hint}", field=str(name))
    for name, field in known.items():
        if name not in given and field.required:
            return InvalidArgument(f"The field {name} is missing. {remedies[name]}", field=name)
        if name in given and (problem := _problem(given[name], field)):
            return InvalidArgument(f"The field {name} {problem}. {remedies[name]}", field=name)
    return InvalidArgument(f"The arguments do not fit: {reason}.")


def _problem(value: object, field: FieldInfo) -> str | None:
    try:
        msgspec.convert(value, field.type)
    except msgspec.ValidationError as error:
        if value is None:
            return "is null"
        if value == []:
            return "is an empty list"
        if isinstance(value, str) and not value.strip():
            return "is blank"
        if isinstance(value, list) and any(
            isinstance(item, str) and not item.strip() for item in cast(list[object], value)
        ):
            return "has a blank entry"
        return f"is wrong ({str(error).replace('`', '')})"
    return None


def _listed(names: dict[str, FieldInfo]) -> str:
    return ", ".join(names)
