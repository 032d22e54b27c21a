"""What the pages say, in both languages: words/en.toml and words/zh.toml, the same keys in each (a test compares them)."""

import tomllib
from pathlib import Path
from typing import Any

from api.routes.languages import Lang

_FOLDER = Path(__file__).with_name("words")


def _read(lang: Lang) -> dict[str, Any]:
    return tomllib.loads((_FOLDER / f"{lang}.toml").read_text(encoding="utf-8"))


WORDS: dict[Lang, dict[str, Any]] = {"en": _read("en"), "zh": _read("zh")}
