"""Texts as every embedder can take them."""

import unicodedata

# U+FDFA is one character of three bytes that NFKC makes into 18; the wheel's C tokenizer reserves room for 12 (heap overflow).
_LIGATURE = "\ufdfa"
_SPELT_OUT = unicodedata.normalize("NFKC", _LIGATURE)


def clean(text: str) -> str:
    """Without what breaks an embedder: NUL (C strings end there) becomes a space, half a surrogate pair a question mark."""
    return text.replace("\0", " ").replace(_LIGATURE, _SPELT_OUT).encode("utf-8", "replace").decode()
