"""Made-up documents of a wanted number of blocks, half of them Chinese: as many different words, as unevenly spread, as in real text."""

import random
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

BLOCKS_PER_DOCUMENT = 50
_WORDS = 8_000  # in each language
_SECTION = 10  # blocks
_ZH_WORDS = 60  # in a paragraph, which makes one block: some 256 tokens
_EN_WORDS = 122
_SPREAD = 0.8  # a word's frequency falls with its rank to this power
_CHARACTERS = [
    bytes((row, cell)).decode("gb2312") for row in range(0xB0, 0xD0) for cell in range(0xA1, 0xFF)
]  # common ones
_BEGINNINGS = [
    *"bcdfghlmnprstvw",
    *("ch", "sh", "th", "st", "tr", "pl", "cr", "br", "gr", "fl", "pr", "sp", "cl", "dr", "qu"),
]
_VOWELS = ["a", "e", "i", "o", "u", "ea", "ou", "ai", "ee", "io"]
_ENDS = ["", "", "n", "r", "s", "t", "l", "d", "m", "ng", "nt", "st", "ck", "th"]


class Library:
    """Documents as files in a folder; the same seed writes the same texts."""

    def __init__(self, folder: Path, *, seed: int = 7) -> None:
        self.folder = folder
        self._random = random.Random(seed)
        self.zh = [_zh_word(self._random) for _ in range(_WORDS)]  # the most frequent first
        self.en = [_en_word(self._random) for _ in range(_WORDS)]
        self._spread = list(accumulate(1 / rank**_SPREAD for rank in range(1, _WORDS + 1)))

    def write(self, blocks: int) -> list[Path]:
        """Documents with that many blocks altogether."""
        self.folder.mkdir(parents=True)
        documents = range(0, blocks, BLOCKS_PER_DOCUMENT)
        return [
            self.write_document(at // BLOCKS_PER_DOCUMENT, min(BLOCKS_PER_DOCUMENT, blocks - at)) for at in documents
        ]

    def write_document(self, number: int, blocks: int) -> Path:
        """A new text each time it is called."""
        chinese = number % 2 == 0
        paragraphs = [self.paragraph(self._random, chinese=chinese) for _ in range(blocks)]
        path = self.folder / f"{number % 100:02d}" / f"{'手册' if chinese else 'manual'}-{number}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n\n".join(_with_headings(number, paragraphs, chinese=chinese)) + "\n", encoding="utf-8")
        return path

    def paragraph(self, source: random.Random, *, chinese: bool, length: float = 1.0) -> str:
        """Makes one block of some 256 tokens; `length` times as long."""
        if chinese:
            words = source.choices(self.zh, cum_weights=self._spread, k=round(_ZH_WORDS * length))
            return "".join("".join(words[at : at + 12]) + "。" for at in range(0, len(words), 12))
        words = source.choices(self.en, cum_weights=self._spread, k=round(_EN_WORDS * length))
        return " ".join(" ".join(words[at : at + 14]).capitalize() + "." for at in range(0, len(words), 14))


def _with_headings(number: int, paragraphs: list[str], *, chinese: bool) -> Iterator[str]:
    yield f"# 手册 {number}" if chinese else f"# Manual {number}"
    for at, paragraph in enumerate(paragraphs):
        if at % _SECTION == 0:
            part = at // _SECTION + 1
            yield f"## 第{part}章" if chinese else f"## Part {part}"
        yield paragraph


def _zh_word(source: random.Random) -> str:
    return "".join(source.choices(_CHARACTERS, k=2))


def _en_word(source: random.Random) -> str:
    pieces = (
        source.choice(_BEGINNINGS) + source.choice(_VOWELS) + source.choice(_ENDS) for _ in range(source.randint(1, 3))
    )
    return "".join(pieces)
