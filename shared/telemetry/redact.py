"""Take secrets out of text before it is kept: those the settings hold, and whatever looks like a key."""

import json
import re
from collections.abc import Iterable

import msgspec

REMOVED = "[removed]"
_DEPTH = 2  # of JSON in JSON
_MIN_SECRET = 6  # a shorter configured value occurs in ordinary text

# A literal that every key of the shape holds (cheap to look for), and the shape.
_SHAPES: tuple[tuple[str, str], ...] = (
    ("sk-", r"\bsk-[A-Za-z0-9_-]{16,}"),
    ("cbk_", r"\bcbk_[a-z2-7]{8}_[A-Za-z0-9_-]{16,}"),  # our own: shared/keys.py
    ("pk-lf-", r"\bpk-lf-[A-Za-z0-9-]{16,}"),
    ("AKIA", r"\bAKIA[0-9A-Z]{16}\b"),
    ("AIza", r"\bAIza[0-9A-Za-z_-]{30,}"),
    *((f"gh{kind}_", rf"\bgh{kind}_[A-Za-z0-9]{{30,}}") for kind in "pousr"),  # gh alone stands in every English text
    ("github_pat_", r"\bgithub_pat_[A-Za-z0-9_]{30,}"),
    ("hf_", r"\bhf_[A-Za-z0-9]{30,}"),
    ("xox", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    # From the beginning of a word and possessive: a text of a thousand beginnings is read once, not a thousand times.
    ("eyJ", r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+"),
    ("earer ", r"(?<=[Bb]earer )[A-Za-z0-9._~+/=-]{16,}"),
    ("PRIVATE KEY", r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"),
)
_COMPILED = tuple((literal, re.compile(pattern, re.DOTALL)) for literal, pattern in _SHAPES)
_RARE = "JKzx_-r"  # in texts; each literal holds one


def _by_its_rarest(literal: str) -> str:
    """A pattern that stops at the rarest letter of `literal` and looks from there: one pass for all of them, at half of what they cost one by one."""
    at = next(literal.index(letter) for letter in _RARE if letter in literal)
    return f"{re.escape(literal[at:])}(?<={re.escape(literal)})"


_ANY_LITERAL = re.compile("|".join(_by_its_rarest(literal) for literal, _ in _SHAPES))
_SEAMS = ",[]"  # what stands between the items of a JSON array, none of it in a literal


class Redactor:
    """Thread-safe; built once with the configured secrets."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        # The longest first: one secret may be the beginning of another.
        forms = {form for secret in secrets if len(secret) >= _MIN_SECRET for form in _forms(secret)}
        self._secrets = tuple(sorted(forms, key=len, reverse=True))
        self._told = tuple(forms | {_in_json(form) for form in forms})
        # Whether a JSON array holds no secret where none of its items does.
        self.item_by_item = not any(seam in form for form in forms for seam in _SEAMS)

    def known(self, text: str) -> str:
        """Without the configured secrets: for what people wrote and must read again unchanged otherwise."""
        for secret in self._secrets:
            text = text.replace(secret, REMOVED)
        return text

    def text(self, text: str) -> str:
        """Without the configured secrets and without anything of a key's shape."""
        text = self.known(text)
        if _ANY_LITERAL.search(text) is None:
            return text
        for literal, pattern in _COMPILED:
            if literal in text:  # a plain search is many times cheaper than the pattern, and prompts are long
                text = pattern.sub(REMOVED, text)
        return text

    def knows_none_of(self, text: str) -> bool:
        """Whether `known` would leave `text` as it is, and where it is JSON by msgspec, every text in it; False may be a false alarm."""
        for secret in self._told:  # noqa: SIM110  a generator would cost as much as the searches, most texts are short
            if secret in text:
                return False
        return True

    def finds_none_in(self, text: str) -> bool:
        """The same of `text`."""
        return _ANY_LITERAL.search(text) is None and self.knows_none_of(text)


def _in_json(text: str) -> str:
    """As it stands in JSON by msgspec. Half a surrogate pair stands in none."""
    return msgspec.json.encode(text.encode(errors="replace").decode()).decode()[1:-1]


def _forms(secret: str) -> set[str]:
    """As it stands, and inside JSON, and inside JSON that is a string of other JSON: a tool's payload in a prompt as sent."""
    forms = {secret}
    for _ in range(_DEPTH):
        forms |= {json.dumps(form, ensure_ascii=ascii)[1:-1] for form in forms for ascii in (False, True)}
    return forms
