"""Every setting as people see it: its name, its environment variable, what it takes, its default, whether it is a secret.

Read off shared/settings.py, which is the only place where a setting is declared.
"""

import os
from typing import Any, cast, get_args, get_origin

import msgspec
from msgspec import Struct
from msgspec.structs import FieldInfo, fields

from shared.settings import Settings

PREFIX = "CITEBOUND_"
_SECRETS = frozenset({"api_key", "secret_key"})  # names of fields


class Setting(Struct, frozen=True, kw_only=True):
    """One setting as people see it."""

    name: str  # "chat.base_url", as in the file and in the credential store
    env: str  # "CITEBOUND_CHAT_BASE_URL"
    section: str
    field: str
    kind: str  # type, for people
    default: Any
    secret: bool


class Known(Struct, frozen=True, kw_only=True):
    setting: Setting
    type: Any


def list_settings() -> tuple[Setting, ...]:
    """Every setting but the data folder, in the order of shared/settings.py."""
    return tuple(known.setting for known in known_settings().values())


def known_settings() -> dict[str, Known]:
    """By name, in the order of shared/settings.py."""
    found: dict[str, Known] = {}
    for section in fields(Settings):
        if section.name == "data_dir":
            continue
        for field in fields(cast("type[Struct]", section.type)):
            name = f"{section.name}.{field.name}"
            setting = Setting(
                name=name,
                env=f"{PREFIX}{section.name}_{field.name}".upper(),
                section=section.name,
                field=field.name,
                kind=_kind(field.type),
                default=_default(field),
                secret=field.name in _SECRETS,
            )
            found[name] = Known(setting=setting, type=field.type)
    return found


def _default(field: FieldInfo) -> Any:
    if field.default is not msgspec.NODEFAULT:
        return field.default
    return field.default_factory() if callable(field.default_factory) else None


def _kind(annotation: Any) -> str:
    inner = [part for part in get_args(annotation) if part is not type(None)]
    origin = get_origin(annotation)
    if hasattr(annotation, "__metadata__"):
        return _kind(inner[0])
    if origin is tuple:
        return f"folders, separated by {os.pathsep}"
    if origin is dict:
        return "JSON object"
    if str(origin) == "typing.Literal":
        return " | ".join(str(part) for part in inner)
    if inner:
        return _kind(inner[0])
    return {bool: "true | false", int: "integer", float: "number", str: "text"}[annotation]
