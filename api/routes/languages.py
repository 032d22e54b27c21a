"""The language of a page."""

from typing import Literal

Lang = Literal["zh", "en"]


def language_of(asked: str | None, accept_language: str) -> Lang:
    """What the address asks for, else the first of the reader's languages that we have, else English."""
    for tag in (asked or "", *_by_quality(accept_language)):
        primary = tag.strip().lower().split("-")[0]
        if primary in ("zh", "en"):
            return "zh" if primary == "zh" else "en"
    return "en"


def _by_quality(accept_language: str) -> list[str]:
    tags = [part.partition(";q=") for part in accept_language.split(",")]
    return [tag for tag, _, _ in sorted(tags, key=lambda part: -_number(part[2]))]


def _number(quality: str) -> float:
    try:
        return float(quality or 1)
    except ValueError:
        return 0.0
