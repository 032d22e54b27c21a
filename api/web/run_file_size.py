"""Whether a page can show a file: a small one can be made to cost much. Pure."""

from collections.abc import Iterator
from typing import Final

from shared.saved_runs import walked
from shared.telemetry import names
from shared.types.runfiles import RunFile

# A run of the largest default limits stays below a tenth of each.
MOST_PARTS: Final = 20_000  # spans, events, citations and their marks, and so on
MOST_ASKS: Final = 2_000  # calls of the model
MOST_SHOWN: Final = 24_000_000  # characters of contents, as often as spans refer to them
MOST_OBJECTS: Final = 100_000  # in these: each may become a message of its own


def fits_a_page(file: RunFile) -> bool:
    if _parts(file) > MOST_PARTS:
        return False
    asks = sum(span.name.startswith(names.CHAT) for span in walked(file.trace.spans))
    sizes = {sha256: (len(text), text.count("{")) for sha256, text in file.contents.items()}
    shown = [sizes[one] for one in _referred(file) if one in sizes]
    chars, objects = (sum(size[n] for size in shown) for n in (0, 1))
    return asks <= MOST_ASKS and chars <= MOST_SHOWN and objects <= MOST_OBJECTS


def _parts(file: RunFile) -> int:
    answer = file.record.answer
    said = len(answer.citations) + len(answer.claims) + len(answer.limitations) + len(file.record.ledger)
    marks = answer.text.count("[") + sum(len(one.markers) for one in answer.claims)
    spans = sum(1 + len(span.events) + len(span.attributes) // 100 for span in walked(file.trace.spans))
    return said + marks + len(file.contents) + spans


def _referred(file: RunFile) -> Iterator[str]:
    for span in walked(file.trace.spans):
        for value in span.attributes.values():
            if isinstance(value, str):
                yield value
