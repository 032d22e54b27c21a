"""Three characters in a row: what the index of the exact scan is made of.

Where words have no spaces, two characters are a word already. So every character from U+0E00 on (Thai, Hangul, kana, Han, full-width
forms, emoji) is given a mark on either side: 年假 becomes ·年·假·, and 年·假 is three. What is part of a text stays part of the
marked text, so a block that lacks one of a term's grams cannot hold the term.
"""

import re

_MARK = "\x01"
_DENSE = re.compile("[\u0e00-\U0010ffff]+")
_NUL, _STAND_IN = "\0", "\x02"  # SQLite's tokenizer ends at a NUL
_MOST = 12  # grams asked for of one term; those left out only let more blocks through to be looked at
_GRAM = 3


def marked(folded: str) -> str:
    """What is indexed of a text: a gram begins at every one of its characters, at the last as well."""
    return _marked(folded) + _MARK + _MARK


def grams(folded_term: str) -> tuple[str, ...]:
    """Grams that every text with the term has; () for a term that is too short to have one."""
    text = _sought(folded_term)
    starts = range(len(text) - _GRAM + 1)
    if len(starts) > _MOST:
        starts = [place * (len(text) - _GRAM) // (_MOST - 1) for place in range(_MOST)]
    return tuple(dict.fromkeys(text[at : at + _GRAM] for at in starts))


def is_gram(folded_term: str) -> bool:
    """Whether exactly the texts with its gram have the term: 年假, abc. What is stood in for, or stands in, is told apart by its text only."""
    return len(_sought(folded_term)) == _GRAM and folded_term.isalnum()


def beginning(folded_term: str) -> str | None:
    """For a term without grams: with what one of the text's grams begins; None for a term of one letter, which is everywhere."""
    return _marked(folded_term) if len(folded_term) == _GRAM - 1 else None


def grams_in(text: str) -> set[str]:
    """Every gram of a marked text."""
    return set(map("".join, zip(text, text[1:], text[2:], strict=False)))


def _sought(folded_term: str) -> str:
    text = _marked(folded_term)
    inner = text.strip(_MARK)
    return inner if len(inner) >= _GRAM else text


def _marked(folded: str) -> str:
    spread = _DENSE.sub(lambda run: _MARK + _MARK.join(run.group()) + _MARK, folded)
    return spread.replace(_NUL, _STAND_IN)
