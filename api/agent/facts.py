"""What in a sentence can be looked up literally: numbers with units, dates, names, quoted words. Pure."""

import re
import unicodedata
from functools import lru_cache

from msgspec import Struct

from api.agent.numerals import in_digits
from api.agent.quantities import Quantity, grouped, is_measured, quantities
from shared.text.sentences import sentences


class Date(Struct, frozen=True):
    year: int | None
    month: int | None
    day: int | None
    written: str


class Facts(Struct, frozen=True, kw_only=True):
    quantities: tuple[Quantity, ...]
    dates: tuple[Date, ...]
    names: tuple[str, ...]  # capitalised words, acronyms, identifiers, versions
    quoted: tuple[str, ...]
    parted: tuple[Quantity, ...] = ()  # what "4 500 €" is if its blank parts two figures: 4, and 500 €


_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "January Jan", "February Feb", "March Mar", "April Apr", "May", "June Jun", "July Jul", "August Aug",
            "September Sept Sep", "October Oct", "November Nov", "December Dec",
        ),
        1,
    )
    for name in names.split()
}  # fmt: skip
_MONTH = "(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_MONTH_SIGNS = {name[:3] for name in _MONTHS}
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
# each with what stands in every one of its dates
_DATES = tuple(
    (frozenset(signs), re.compile(pattern))
    for signs, pattern in (
        ("月", r"(?=\d)(?<!\d)(?:(?P<year>\d{4})\s?年\s?)?(?P<month>\d{1,2})\s?月(?:\s?(?P<day>\d{1,2})\s?[日号])?"),
        ("-/.", r"(?P<year>\d\d{3})(?<![\d.].{4})(?P<sep>[-/.])(?P<month>\d{1,2})(?P=sep)(?P<day>\d{1,2})(?!\d|\.\d)"),
        (_MONTH_SIGNS, rf"\b{_MONTH} {_DAY}(?!\d)(?:,? (?P<year>\d{{4}}))?"),
        (_MONTH_SIGNS, rf"\b{_DAY} (?:of )?{_MONTH}(?:,? (?P<year>\d{{4}}))?"),
        (_MONTH_SIGNS, rf"\b{_MONTH},? (?P<year>\d{{4}})"),
    )
)
_QUOTED = re.compile(
    r"“([^“”\n]{2,200})”|「([^「」\n]{2,200})」|『([^『』\n]{2,200})』|《([^《》\n]{2,100})》|(?<!\w)\"([^\"\n]{2,200})\"(?!\w)|`([^`\n]{2,100})`"
)
_IDENTIFIER = re.compile(
    r"(?<![A-Za-z0-9_])(?=[A-Za-z0-9])(?=[0-9.\-/]{0,200}+[A-Za-z_])(?=[A-Za-z.\-/]{0,200}+[\d_])[A-Za-z0-9][A-Za-z0-9_]*(?:[-_./#+][A-Za-z0-9_]+)*|(?<![A-Za-z0-9_.])v?\d+(?:\.\d+){2,}(?![A-Za-z0-9_])"
)
_CAPITALISED = re.compile(r"(?<![A-Za-z0-9_.\-])[A-Z][A-Za-z]*[A-Za-z](?:'s)?")
_GENERIC_WORDS = (
    "inference table figure section chapter appendix note source answer yes no however therefore although because while when if it its"
    " they this that these those there the an in on at for from by with according both each all and or but so as to of he she we you"
    " monday tuesday wednesday thursday friday saturday sunday"
)
GENERIC = frozenset(_GENERIC_WORDS.split())
_THIN_BLANK = re.compile(r"[\u2007\u2009\u202f](?<=\d.)(?=\d{3}(?!\d))")  # parts nothing but thousands
_EMPHASIS = re.compile(r"[*_]{2,}")
_SENTENCE_START = re.compile(r"(?:^|[.!?:。！？：;；\n]\s*|^\s*[-*+>#\d.()]+\s*)[\"'“‘(\[*_]*$")


@lru_cache(maxsize=512)
def facts(text: str) -> Facts:
    """Everything in a sentence that its source must show. Several rules ask for the same sentence's, and for the same block's."""
    plain = plain_text(text)
    spelled = in_digits(plain)
    rest, dates = _taken(spelled.text, _dates(spelled.text))
    rest, parted = grouped(rest)
    quoted = tuple(next(filter(None, match.groups())).strip() for match in _QUOTED.finditer(plain))
    names: list[str] = []

    def taken(match: re.Match[str]) -> str:
        if is_measured(rest, match):
            return match[0]
        names.append(match[0])
        return " " * len(match[0])

    without = _IDENTIFIER.sub(taken, rest)
    found, units = quantities(without, spelled, plain)
    names += _capitalised(_lowered(without, units))
    return Facts(quantities=found, dates=dates, names=tuple(dict.fromkeys(names)), quoted=quoted, parted=parted)


def _lowered(text: str, units: list[tuple[int, int]]) -> str:
    """`units`: (start, end) of what is no name, though it has capitals: Nm, USD."""
    signs = list(text)
    for start, end in units:
        signs[start:end] = [sign.lower() for sign in text[start:end]]
    return "".join(signs)


@lru_cache(maxsize=512)
def plain_text(text: str) -> str:
    """One spelling of width, minus, blanks and emphasis. Nearly every rule asks for the same evidence's."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _THIN_BLANK.sub(",", text)).replace("\u2212", "-")
    return _EMPHASIS.sub("", text)


@lru_cache(maxsize=64)
def plain_sentences(text: str) -> tuple[str, ...]:
    """Those of its plain text. Several rules ask for the same evidence's."""
    plain = plain_text(text)
    return tuple(plain[start:end] for start, end in sentences(plain))


def _dates(text: str) -> list[tuple[int, int, Date]]:
    found: list[tuple[int, int, Date]] = []
    taken: set[int] = set()
    for signs, pattern in _DATES:
        for match in pattern.finditer(text) if any(one in text for one in signs) else ():
            if not taken.isdisjoint(range(*match.span())):
                continue
            parts = match.groupdict()
            month = parts["month"]
            day, year = parts.get("day"), parts.get("year")
            date = Date(
                year=int(year) if year else None,
                month=_MONTHS[month] if month in _MONTHS else int(month),
                day=int(day) if day else None,
                written=match[0].strip(),
            )
            if 1 <= (date.month or 0) <= 12 and 1 <= (date.day or 1) <= 31:
                found.append((match.start(), match.end(), date))
                taken.update(range(*match.span()))
    return found


def _taken(text: str, found: list[tuple[int, int, Date]]) -> tuple[str, tuple[Date, ...]]:
    in_order = sorted(found, key=lambda one: one[0])
    pieces: list[str] = []
    at = 0
    for start, end, _ in in_order:
        pieces += [text[at:start], " " * (end - start)]
        at = end
    return "".join([*pieces, text[at:]]), tuple(date for _, _, date in in_order)


def _capitalised(text: str) -> list[str]:
    names: list[str] = []
    for match in _CAPITALISED.finditer(text):
        word = match[0].removesuffix("'s")
        acronym = not word[1:].islower()
        if word.lower() in GENERIC or (
            not acronym and _starts_sentence(text[max(match.start() - 40, 0) : match.start()])
        ):
            continue
        names.append(word)
    return names


def _starts_sentence(before: str) -> bool:
    """Whether a sentence may begin behind this text; behind a word and blanks none does."""
    return not before.rstrip(" ")[-1:].isalpha() and _SENTENCE_START.search(before) is not None
