"""Settings as anybody may see them: where each comes from, secrets only as set or not."""

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from shared.settings import Settings
from shared.settings_listed import list_settings

MASK = "(set, hidden)"
HIDDEN_USERINFO = "://***@"
Origin = Literal["default", "file", "environment", "credential_store"]


class Shown(Struct, frozen=True, kw_only=True):
    """`value`: "" where it is not set; of a secret never more than that it is set."""

    name: str
    env: str
    value: str
    origin: Origin
    secret: bool


def shown_settings(settings: Settings, env: Mapping[str, str]) -> tuple[Shown, ...]:
    """Every setting but the data folder. `env`: what `settings` were read with."""
    found: list[Shown] = []
    for one in list_settings():
        value = getattr(getattr(settings, one.section), one.field)
        if value == one.default:
            origin: Origin = "default"
        elif env.get(one.env):
            origin = "environment"
        else:
            origin = "credential_store" if one.secret else "file"
        text = "" if value is None else plain_value(one.name, value, secret=one.secret)
        found.append(Shown(name=one.name, env=one.env, value=text, origin=origin, secret=one.secret))
    return tuple(found)


def plain_value(name: str, value: Any, *, secret: bool) -> str:
    if secret:
        return MASK
    if name.endswith("extra_body"):  # may carry a provider's credentials
        return f"(object with {', '.join(sorted(value))})"
    shown = without_userinfo(str(value))
    address, asked, _ = shown.partition("?")
    return f"{address}?***" if asked and "://" in address else shown  # redis://…?password=, …?api_key=


def without_userinfo(text: str) -> str:
    """An address without a user and a password in it."""
    scheme, separator, rest = text.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{HIDDEN_USERINFO}{host.rpartition('@')[2]}{slash}{path}" if separator and "@" in host else text
