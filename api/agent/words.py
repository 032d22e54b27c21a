"""What two texts are compared by when only their words can be looked at.

Chinese by pairs of neighbouring characters, which needs no dictionary and never cuts a word differently in two texts;
every other script by its keyword terms, without stop words.
"""

import re
from functools import lru_cache
from itertools import pairwise

from shared.text.terms import terms

_HAN_RUN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd]+")
_FUNCTION_CHARACTERS = frozenset("的了是着著吗嗎呢吧啊与與及或也之其")  # a pair with one of them says nothing
_STOP_WORDS = (
    "the a an of to in on at for from by with and or but is are was were be been has have had it its this that these those as not no which"
    " who what when where how than then also into such can may will would there their they he she his her we our you your do doe did"
)
_STOP = frozenset(_STOP_WORDS.split())


def content_terms(text: str) -> frozenset[str]:
    """The terms of `text` that carry meaning; Traditional and Simplified spellings are one."""
    found: set[str] = set()
    for run in _HAN_RUN.findall(text):
        for first, second in pairwise(map(_simple, run)):
            if first not in _FUNCTION_CHARACTERS and second not in _FUNCTION_CHARACTERS:
                found.add(first + second)
    others = terms(_HAN_RUN.sub(" ", text))
    found.update(term for term in others if term not in _STOP and (len(term) > 1 or term.isdigit()))
    return frozenset(found)


@lru_cache(maxsize=32_768)
def _simple(character: str) -> str:
    """A character alone is its own term, folded as search folds it."""
    return next(iter(terms(character)), character)
