"""What a person can set or type stands in the README, as it is in the code."""

import argparse
from pathlib import Path
from typing import cast

import pytest

from scripts.citebound.arguments import parser
from shared.settings_listed import Setting, list_settings

README = (Path(__file__).resolve().parents[3] / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("setting", list_settings(), ids=lambda setting: setting.name)
def test_every_setting_is_in_the_table_with_its_default(setting: Setting) -> None:
    default = "none" if setting.default in (None, (), {}, "") else setting.default
    default = str(default).lower() if isinstance(default, bool) else default
    assert f"| `{setting.env}` | {default} |" in README


def commands() -> dict[str, argparse.ArgumentParser]:
    group = parser()._subparsers  # pyright: ignore[reportPrivateUsage]  # argparse has no public way to list them
    assert group is not None
    return cast("dict[str, argparse.ArgumentParser]", group._group_actions[0].choices)  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize("name", sorted(commands()))
def test_every_command_is_in_the_table_and_explains_itself(name: str) -> None:
    assert f"`{name}" in README
    assert commands()[name].description


@pytest.mark.parametrize("name", sorted(set(commands()) - {"up"}))
def test_every_command_but_up_speaks_json(name: str) -> None:
    assert "--json" in commands()[name].format_help()
