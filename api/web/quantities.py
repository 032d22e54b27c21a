"""Numbers with their unit and days of the calendar, in the reader's language. Pure."""

from datetime import date
from typing import Literal

from api.routes.languages import Lang

Unit = Literal["count", "share", "seconds", "days"]
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def quantity(value: float | None, unit: Unit, lang: Lang) -> str:
    """– where there is nothing to tell."""
    if value is None:
        return "–"
    match unit:
        case "share":
            return f"{_digits(value * 100)}%"
        case "seconds":
            small = value < 1
            said = f"{value * 1000:,.0f}" if small else _digits(value)
            return f"{said} {('毫秒' if small else '秒') if lang == 'zh' else ('ms' if small else 's')}"
        case "days":
            return f"{_digits(value)} {'天' if lang == 'zh' else 'd'}"
        case "count":
            return _digits(value)


def size(free_bytes: int) -> str:
    """In binary units, as file managers show them."""
    value, units = float(free_bytes), ["B", "KB", "MB", "GB", "TB"]
    while value >= 1024 and len(units) > 1:
        value, units = value / 1024, units[1:]
    return f"{_digits(value)} {units[0]}"


def day_said(day: str, lang: Lang, *, year: bool = False) -> str:
    """`day`: 2026-11-30."""
    found = date.fromisoformat(day)
    if lang == "zh":
        return f"{f'{found.year}年' if year else ''}{found.month}月{found.day}日"
    return f"{found.day} {_MONTHS[found.month - 1]}{f' {found.year}' if year else ''}"


def _digits(value: float) -> str:
    """As many as mean something, no noughts at the end: 0.25, 3.2, 40, 1,250."""
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    said = f"{value:.1f}" if abs(value) >= 1 else f"{value:.2f}"
    return said.rstrip("0").rstrip(".") if "." in said else said
