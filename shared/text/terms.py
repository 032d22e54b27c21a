"""Text to keyword terms: what the keyword branch of search compares.

A passage and a query go through the same steps, so a term found in one is found in the other:
compatibility forms folded (NFKC), Traditional to Simplified, case and accents folded, then by script:

Chinese         words of a dictionary (rjieba) and every pair of neighbouring characters
kana, Hangul    the run itself and its pairs; Thai and its neighbours likewise
words           English endings folded
names in code   whole, and in parts: ERR_TIMEOUT, v2.1.3, GB/T, maxRetries, 2019-04-23
"""

import re
import unicodedata
import zlib
from collections import Counter
from functools import lru_cache
from itertools import pairwise
from typing import Protocol, cast

import opencc
import rjieba

from shared.vectors.port import Sparse

KEYWORD_VERSION = "terms-1"  # the steps, K1, B and AVERAGE_TERMS; a change makes old and new vectors incomparable
K1 = 1.2
B = 0.75
AVERAGE_TERMS = 200.0  # fixed, so that adding a document never changes another one's vector
_LONGEST_TERM = 64  # a longer run is no name: only its parts are kept

_HAN = r"\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
_KANA = r"\u3041-\u3096\u309d\u309e\u30a1-\u30fa\u30fc-\u30fe"
_HANGUL = r"\u1100-\u11ff\uac00-\ud7a3"
_UNSPACED = r"\u0e01-\u0e4e\u0e80-\u0edf\u1000-\u109f\u1780-\u17d3"  # Thai, Lao, Burmese, Khmer
_LETTER = rf"[^\W_{_HAN}{_KANA}{_HANGUL}{_UNSPACED}]"
_RUN = re.compile(
    rf"(?P<han>[{_HAN}]+)|(?P<pairs>[{_KANA}]+|[{_HANGUL}]+|[{_UNSPACED}]+)|(?P<name>{_LETTER}+(?:[-_.,:/=@&'+#]+{_LETTER}+)*(?:\+\+|#)?)"
)
_ACCENTS = re.compile(r"[\u0300-\u036f]")
_OUTER = re.compile(r"[:/=@&,]+")
_INNER = re.compile(r"[-_.'+#]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_LETTERS_OR_DIGITS = re.compile(r"\d+|[^\d]+")


def terms(text: str) -> list[str]:
    """Every term of `text` in reading order, repeats kept; never raises, whatever the text."""
    found: list[str] = []
    for match in _RUN.finditer(_normal(text)):
        run = match.group()
        match match.lastgroup:
            case "han":
                found += _han(run)
            case "pairs":
                found += _pairs(run)
            case _:
                found += _name(run)
    return found


def passage_terms(text: str) -> Sparse:
    """The term-frequency part of BM25; the engine multiplies by its collection's inverse document frequency."""
    counts = Counter(terms(text))
    norm = K1 * (1 - B + B * counts.total() / AVERAGE_TERMS)
    return _sparse({term: count * (K1 + 1) / (count + norm) for term, count in counts.items()})


def query_terms(text: str) -> Sparse:
    """How often each term is asked for."""
    return _sparse({term: float(count) for term, count in Counter(terms(text)).items()})


def _sparse(weights: dict[str, float]) -> Sparse:
    by_id: dict[int, float] = {}
    for term, weight in weights.items():
        term_id = zlib.crc32(term.encode())
        by_id[term_id] = by_id.get(term_id, 0.0) + weight  # two terms with one id count as one
    ids = sorted(by_id)
    return Sparse(indices=tuple(ids), values=tuple(by_id[term_id] for term_id in ids))


def _normal(text: str) -> str:
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", text.encode("utf-8", "replace").decode())  # lone surrogates are no characters
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", _simplified(text))))


def _han(run: str) -> list[str]:
    if len(run) == 1:
        return [run]
    words = [word for word in rjieba.cut(run) if len(word) != 2]  # a word of two is a pair already
    return [*words, *_bigrams(run)]


def _pairs(run: str) -> list[str]:
    return [run] if len(run) <= 2 else [run[:_LONGEST_TERM], *_bigrams(run)]


def _bigrams(run: str) -> list[str]:
    return [first + second for first, second in pairwise(run)]


def _name(run: str) -> list[str]:
    """The name as written, then its parts, outer ones first; each once, so that a long name does not outweigh the prose round it."""
    if run.isascii() and run.isalpha() and (run.islower() or run.istitle()):
        return [_stem(run.lower())]
    parts: dict[str, None] = {_stem(run.casefold()): None} if len(run) <= _LONGEST_TERM else {}
    for outer in _OUTER.split(run):
        parts.update(dict.fromkeys(_numbered(outer)))
        for inner in _INNER.split(outer):
            for word in _CAMEL.split(inner):
                folded = word.casefold()
                parts[_stem(folded)] = None
                pieces = _LETTERS_OR_DIGITS.findall(folded)
                if len(pieces) > 1:
                    parts.update(dict.fromkeys(_stem(piece) for piece in pieces))
    return [part for part in parts if part and len(part) <= _LONGEST_TERM]


def _numbered(part: str) -> list[str]:
    """v2.1.3 is also 2.1.3 and 2.1."""
    digits = part.casefold().removeprefix("v").split(".")
    if len(digits) < 2 or not all(piece.isdecimal() for piece in digits):
        return [part.casefold()]
    return [part.casefold(), *(".".join(digits[:length]) for length in range(len(digits), 1, -1))]


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    """Fold the commonest English endings: plural, -ed, -ing, -ly; other words as they are."""
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "edly", "ed", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def _simplified(text: str) -> str:
    return _converter().convert(text)


class _Converter(Protocol):  # opencc has no types
    def convert(self, text: str) -> str: ...


@lru_cache(maxsize=1)
def _converter() -> _Converter:
    return cast(_Converter, opencc.OpenCC("t2s"))
