"""The one notion of sameness the exact scan has: Unicode normal form C and case folding, nothing else."""

import unicodedata


def fold(text: str) -> str:
    """Equal for texts that differ only in canonical composition or case; may be longer or shorter than `text`.

    Decomposed first, because folding a composed letter (ᾳ, ǰ) can lose or reorder its marks; composed last, because folding
    leaves decomposed pieces behind. Idempotent. Width, compatibility forms and accents stay: Ａ is not A, é is not e.
    Source: Unicode 3.13, canonical caseless matching (D145), in NFC instead of NFD.
    """
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())
