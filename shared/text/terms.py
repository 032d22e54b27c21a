"""Text to keyword terms: what the keyword branch of search compares.

A passage and a query go through the same steps, so a term found in one is found in the other:
compatibility forms (NFKC), Traditional Chinese, case and accents are folded, then each run of a script gives a whole and its parts:

script                     whole                                  parts
Chinese                    each word of a dictionary (rjieba)     the characters of words of two and more
kana, Hangul, Thai ...     the run                                pairs of neighbouring characters
words                      the word without its English ending    -
names in code, numbers     ERR_TIMEOUT, v2.1.3, GB/T, maxRetries  err timeout, 2.1.3 2.1, gb t, max retry
                           .NET, .gitignore                       net, gitignor

Parts find what another segmentation or spelling hid; in a query they weigh half, so that a whole match comes first.
"""

import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Protocol, cast

import opencc
import rjieba

from shared.vectors.port import Sparse

KEYWORD_VERSION = (
    "terms-2"  # the steps and the numbers below; an older one stays searchable for as long as _RUNS has its steps
)
K1 = 1.2
B = 0.75
AVERAGE_WORDS = 150.0  # wholes in a block of 256 tokens, roughly; fixed, so that adding a document never changes another one's vector
PART_WEIGHT = 0.5  # of a part in a query
_LONGEST_TERM = 64  # a longer run is no name: only its parts are kept

_HAN = r"\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
_KANA = r"\u3041-\u3096\u309d\u309e\u30a1-\u30fa\u30fc-\u30fe"
_HANGUL = r"\u1100-\u11ff\uac00-\ud7a3"
_UNSPACED = r"\u0e01-\u0e4e\u0e80-\u0edf\u1000-\u109f\u1780-\u17d3"  # Thai, Lao, Burmese, Khmer
_INDIC = r"\u0900-\u0963\u0966-\u0dff"  # with the vowel signs, which \w leaves out
_LETTER = rf"(?:[^\W_{_HAN}{_KANA}{_HANGUL}{_UNSPACED}]|[{_INDIC}])"
_UNCASED = rf"(?P<han>[{_HAN}]+)|(?P<pairs>[{_KANA}]+|[{_HANGUL}]+|[{_UNSPACED}]+)"
_LETTERS = (
    rf"(?:[^\W_{_HAN}{_KANA}{_HANGUL}{_UNSPACED}]++|[{_INDIC}]++)++"  # {_LETTER}+, without a choice at each letter
)
_NAME = rf"{_LETTERS}(?:[-_.,:/=@&'+#]+{_LETTERS})*(?:\+\+|#)?"
_RUN = re.compile(rf"{_UNCASED}|(?P<name>(?:(?<!\.)(?<!{_LETTER})\.(?=[A-Za-z]))?{_NAME})")
# what is left of it where all text is ASCII
_PLAIN_RUN = re.compile(
    r"(?:(?<![A-Za-z0-9.])\.(?=[A-Za-z]))?[A-Za-z0-9]++(?:[-_.,:/=@&'+#]+[A-Za-z0-9]++)*(?:\+\+|#)?"
)
_RUNS = {
    KEYWORD_VERSION: _RUN,
    "terms-1": re.compile(rf"{_UNCASED}|(?P<name>{_NAME})"),
}  # terms-1: no dot before a name
QUERIED = frozenset(_RUNS)  # versions that passages may have been encoded by
_ACCENTS = re.compile(
    r"[\u0300-\u036f\u0591-\u05c7\u0640\u064b-\u065f\u0670]"
)  # also Hebrew points, Arabic vowel marks
_OUTER = re.compile(r"[:/=@&,]+")
_INNER = re.compile(r"[-_.'+#]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_VERB_ENDING = re.compile(r"(?<=\w{3})(?:ing|edly|ed|ly)$")
_LETTERS_OR_DIGITS = re.compile(r"\d+|[^\d]+")


def terms(text: str) -> list[str]:
    """Every term of `text`, wholes and parts, in reading order, repeats kept; never raises, whatever the text."""
    if text.isascii():
        return [term for name in map(_name, _PLAIN_RUN.findall(text)) for some in name for term in some]
    return [term for wholes, parts in _runs(text, _RUN) for term in (*wholes, *parts)]


def passage_terms(text: str) -> Sparse:
    """The term-frequency part of BM25; the collection multiplies by its inverse document frequency."""
    wholes: list[str] = []
    both: list[str] = []
    for some, parts in _runs(text, _RUN):
        wholes += some
        both += some
        both += parts
    norm = K1 * (1 - B + B * len(wholes) / AVERAGE_WORDS)  # parts do not make a text longer
    return _sparse((term, count * (K1 + 1) / (count + norm)) for term, count in Counter(both).items())


def query_terms(text: str, *, version: str = KEYWORD_VERSION) -> Sparse:
    """How often each term is asked for, parts counting PART_WEIGHT. version: of the passages, one of QUERIED."""
    return _sparse(
        (term, weight)
        for wholes, parts in _runs(text, _RUNS[version])
        for some, weight in ((wholes, 1.0), (parts, PART_WEIGHT))
        for term in some
    )


def _runs(text: str, run_of: re.Pattern[str]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Of each run of one script: wholes, parts."""
    for match in run_of.finditer(_normal(text)):
        run = match.group()
        match match.lastgroup:
            case "han":
                yield _chinese(run)
            case "pairs":
                pairs = [run[at : at + 2] for at in range(len(run) - 1)] if len(run) > 2 else []
                yield [run[:_LONGEST_TERM]], pairs
            case _:
                yield _name(run)


def _sparse(weighed: Iterable[tuple[str, float]]) -> Sparse:
    by_id: dict[int, float] = {}
    for term, weight in weighed:
        term_id = zlib.crc32(term.encode())
        by_id[term_id] = by_id.get(term_id, 0.0) + weight  # two terms with one id count as one
    ids = sorted(by_id)
    return Sparse(indices=tuple(ids), values=tuple([by_id[term_id] for term_id in ids]))


def _normal(text: str) -> str:
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", text.encode("utf-8", "replace").decode())  # lone surrogates are no characters
    text = unicodedata.normalize("NFD", _simplified(text).replace("’", "'"))
    return unicodedata.normalize("NFC", _ACCENTS.sub("", text))


def _chinese(run: str) -> tuple[Sequence[str], Sequence[str]]:
    words = rjieba.cut(run)
    return words, [character for word in words if len(word) > 1 for character in word]


@lru_cache(maxsize=65_536)
def _name(run: str) -> tuple[Sequence[str], Sequence[str]]:
    """A run of letters and digits as written, and its parts: each once, so that a long name does not outweigh the prose round it."""
    whole = _stem(run.casefold())
    if run.isascii() and run.isalpha() and not _CAMEL.search(run):
        return ([whole], []) if len(whole) <= _LONGEST_TERM else ([], [])
    parts: dict[str, None] = {}
    for outer in _OUTER.split(run):
        parts.update(dict.fromkeys(_stem(part) for part in _numbered(outer.casefold())))
        for inner in _INNER.split(outer):
            for word in _CAMEL.split(inner):
                pieces = [word, *_LETTERS_OR_DIGITS.findall(word)]
                parts.update(dict.fromkeys(_stem(piece.casefold()) for piece in pieces))
    parts.pop(whole, None)
    return [term for term in (whole,) if len(term) <= _LONGEST_TERM], [
        part for part in parts if 0 < len(part) <= _LONGEST_TERM
    ]


def _numbered(part: str) -> list[str]:
    """v2.1.3 is also 2.1.3 and 2.1."""
    digits = part.removeprefix("v").split(".")
    if len(digits) < 2 or not all(piece.isdecimal() for piece in digits):
        return [part]
    return [part, *(".".join(digits[:length]) for length in range(min(len(digits), _LONGEST_TERM), 1, -1))]


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    """Fold the commonest English endings: plural, -ed, -ing, -ly, silent -e; not a dictionary form, only the same for word and query."""
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    if word.endswith(("ies", "sses")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    stem = _VERB_ENDING.sub("", word)
    if stem != word and stem[-1] == stem[-2] and stem[-1] not in "lsz":  # running, planned; but not falling, missed
        stem = stem[:-1]
    if len(stem) > 3 and stem.endswith("e"):
        stem = stem[:-1]
    return stem[:-1] + "i" if len(stem) > 3 and stem.endswith("y") else stem  # city, cities


def _simplified(text: str) -> str:
    return _converter().convert(text)


class _Converter(Protocol):  # opencc has no types
    def convert(self, text: str) -> str: ...


@lru_cache(maxsize=1)
def _converter() -> _Converter:
    return cast(_Converter, opencc.OpenCC("t2s"))
