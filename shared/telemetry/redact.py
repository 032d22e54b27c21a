"""Take secrets out of text before it is kept: those the settings hold, and whatever looks like a key."""

import re
from collections.abc import Iterable

REMOVED = "[removed]"
_MIN_SECRET = 6  # a shorter configured value occurs in ordinary text

# A literal that every key of the shape holds (cheap to look for), and the shape.
_SHAPES: tuple[tuple[str, str], ...] = (
    ("sk-", r"\bsk-[A-Za-z0-9_-]{16,}"),
    ("pk-lf-", r"\bpk-lf-[A-Za-z0-9-]{16,}"),
    ("AKIA", r"\bAKIA[0-9A-Z]{16}\b"),
    ("AIza", r"\bAIza[0-9A-Za-z_-]{30,}"),
    ("gh", r"\bgh[pousr]_[A-Za-z0-9]{30,}"),
    ("github_pat_", r"\bgithub_pat_[A-Za-z0-9_]{30,}"),
    ("hf_", r"\bhf_[A-Za-z0-9]{30,}"),
    ("xox", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("eyJ", r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    ("earer ", r"(?<=[Bb]earer )[A-Za-z0-9._~+/=-]{16,}"),
    ("PRIVATE KEY", r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"),
)
_COMPILED = tuple((literal, re.compile(pattern, re.DOTALL)) for literal, pattern in _SHAPES)


class Redactor:
    """Thread-safe; built once with the configured secrets."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        # The longest first: one secret may be the beginning of another.
        self._secrets = tuple(sorted({s for s in secrets if len(s) >= _MIN_SECRET}, key=len, reverse=True))

    def known(self, text: str) -> str:
        """Without the configured secrets: for what people wrote and must read again unchanged otherwise."""
        for secret in self._secrets:
            text = text.replace(secret, REMOVED)
        return text

    def text(self, text: str) -> str:
        """Without the configured secrets and without anything of a key's shape."""
        text = self.known(text)
        for literal, pattern in _COMPILED:
            if literal in text:  # a plain search is many times cheaper than the pattern, and prompts are long
                text = pattern.sub(REMOVED, text)
        return text
