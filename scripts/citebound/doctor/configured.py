"""What is set, where it comes from, secrets masked."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scripts.citebound.doctor.check import Check
from shared.errors import SettingsError
from shared.settings import Settings
from shared.settings_listed import list_settings
from shared.settings_load import config_file, data_folder, load_settings
from shared.settings_shown import plain_value


def in_force(settings: Settings) -> dict[str, str]:
    """Every setting that isn't its default, as anybody may see it, by name."""
    values = {one.name: (one, getattr(getattr(settings, one.section), one.field)) for one in list_settings()}
    return {
        name: shown(name, value, secret=setting.secret)
        for name, (setting, value) in values.items()
        if value != setting.default
    }


def running_settings(mine: Settings, running: Mapping[str, str]) -> tuple[list[Check], frozenset[str]]:
    """What is set in the running instance, and the sections in which this shell would set something else."""
    here = in_force(mine)
    other = sorted(name for name in here.keys() | running.keys() if here.get(name) != running.get(name))
    checks = [Check(name="settings", state="ok", detail="those of the running instance")]
    checks += [Check(name="set", state="ok", detail=text) for text in running.values()]
    if other:
        told = "; ".join(here.get(name, f"{name} not set") for name in other)
        checks.append(
            Check(
                name="this shell",
                state="note",
                detail=f"is set differently: {told}",
                remedy="the running instance keeps its own settings; stop it and start it from here to change them",
            )
        )
    return checks, frozenset(name.split(".")[0] for name in other)


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
    return f"{name} = {plain_value(name, value, secret=secret)}"


def _described(settings: Settings, env: Mapping[str, str], path: Path | None) -> Iterator[Check]:
    where = f"{path} and the environment" if path else "the environment"
    yield Check(name="settings", state="ok", detail=f"read from {where}; data folder {data_folder(env)}")
    known = {setting.name: setting for setting in list_settings()}
    for name, text in in_force(settings).items():
        setting = known[name]
        source = "environment" if env.get(setting.env) else "credential store" if setting.secret else "file"
        yield Check(name="set", state="ok", detail=f"{text} ({source})")
