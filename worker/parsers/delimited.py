"""CSV and its kin: the delimiter is found, the file is one table."""

import csv
import io
from collections import Counter

from worker.parsers.sheets import sheet_elements
from worker.parsers.source import File
from worker.parsers.types import Parsed

_DELIMITERS = ",;\t|"
_SAMPLE_LINES = 50


def read(file: File) -> Parsed:
    text, encoding = file.text()
    csv.field_size_limit(1 << 30)  # the memory limit is the child's
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text)))
    return Parsed(title="", media_type="text/csv", elements=tuple(sheet_elements(rows)), encoding=encoding)


def _delimiter(text: str) -> str:
    """The one that divides most lines alike."""
    lines = [line for line in text.split("\n", _SAMPLE_LINES)[:_SAMPLE_LINES] if line.strip()]

    def agreement(delimiter: str) -> int:
        counts = Counter(line.count(delimiter) for line in lines)
        return max((lines_alike for count, lines_alike in counts.items() if count), default=0)

    return max(_DELIMITERS, key=agreement)
