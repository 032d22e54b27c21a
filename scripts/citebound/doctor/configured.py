"""What is set, where it comes from, secrets masked."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scripts.citebound.doctor.check import Check
from shared.errors import SettingsError
from shared.settings import Settings
from shared.settings_load import config_file, data_folder, list_settings, load_settings

MASK = "(set, hidden)"


def read_settings(env: Mapping[str, str]) -> tuple[Settings | None, list[Check]]:
    """The settings if they can be read, and what there is to say about them."""
    try:
        path = config_file(env)
        settings = load_settings(env)
    except SettingsError as error:
        return None, [Check(name="settings", state="broken", detail=error.message)]
    return settings, list(_described(settings, env, path))


def shown(name: str, value: Any, *, secret: bool) -> str:
    """A setting's value as anybody may see it."""
    if secret:
        return f"{name} = {MASK}"
    if name.endswith("extra_body"):  # may carry a provider's credentials
        return f"{name} = (object with {', '.join(sorted(value))})"
    return f"{name} = {_without_userinfo(str(value))}"


def _described(settings: Settings, env: Mapping[str, str], path: Path | None) -> Iterator[Check]:
    where = f"{path} and the environment" if path else "the environment"
    yield Check(name="settings", state="ok", detail=f"read from {where}; data folder {data_folder(env)}")
    for setting in list_settings():
        value = getattr(getattr(settings, setting.section), setting.field)
        if value != setting.default:
            source = "environment" if env.get(setting.env) else "credential store" if setting.secret else "file"
            yield Check(
                name="set", state="ok", detail=f"{shown(setting.name, value, secret=setting.secret)} ({source})"
            )


def _without_userinfo(text: str) -> str:
    scheme, separator, rest = text.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}://***@{host.rpartition('@')[2]}{slash}{path}" if separator and "@" in host else text
