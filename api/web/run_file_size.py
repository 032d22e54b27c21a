"""Whether a page can show a file: a small one can be made to cost much. Pure."""

from collections.abc import Iterator
from typing import Final

from shared.saved_runs import walked
from shared.telemetry import names
from shared.types.runfiles import RunFile

# A run of the largest default limits stays below a tenth of each.
MOST_PARTS: Final = 20_000  # spans, events, citations and their marks, and so on
MOST_ASKS: Final = 2_000  # calls of the model
MOST_PASSAGES: Final = 100_000  # lines that name one: what tools gave, candidates of searches
MOST_SHOWN: Final = (
    24_000_000  # characters of contents, as often as spans refer to them; of titles, as often as they are shown
)
MOST_SOUGHT: Final = 200_000_000  # characters of the answer, once for each sentence that is looked for in it
MOST_OBJECTS: Final = 100_000  # in these contents: each may become a message of its own


def fits_a_page(file: RunFile) -> bool:
    answer = file.record.answer
    passages = _passages(file)
    return (
        _parts(file) <= MOST_PARTS
        and passages <= MOST_PASSAGES
        and (2 * passages + 2 * len(answer.citations) + _marks(answer.text)) * _longest_name(file) <= MOST_SHOWN
        and len(answer.text) * len(answer.claims) <= MOST_SOUGHT
        and _contents_fit(file)
    )


def _contents_fit(file: RunFile) -> bool:
    asks = sum(span.name.startswith(names.CHAT) for span in walked(file.trace.spans))
    sizes = {sha256: (len(text), text.count("{")) for sha256, text in file.contents.items()}
    shown = [sizes[one] for one in _referred(file) if one in sizes]
    chars, objects = (sum(size[n] for size in shown) for n in (0, 1))
    return asks <= MOST_ASKS and chars <= MOST_SHOWN and objects <= MOST_OBJECTS


def _parts(file: RunFile) -> int:
    answer = file.record.answer
    said = len(answer.citations) + len(answer.claims) + len(answer.limitations) + len(file.record.ledger)
    marks = _marks(answer.text) + sum(len(one.markers) for one in answer.claims)
    spans = sum(1 + len(span.events) + len(span.attributes) // 100 for span in walked(file.trace.spans))
    return said + marks + len(file.contents) + spans


def _marks(text: str) -> int:
    return text.count("[")


def _passages(file: RunFile) -> int:
    calls = file.record.retrieval.calls if file.record.retrieval else ()
    listed = (str(span.attributes.get(names.CANDIDATES, "")) for span in walked(file.trace.spans))
    given = sum(len(call.came_to.block_ids) for call in calls if call.came_to)
    return len(file.record.ledger) + given + sum(one.count("{") for one in listed)


def _longest_name(file: RunFile) -> int:
    """Of what is shown at every mark and wherever a passage is named."""
    named = (*file.record.answer.citations, *file.record.ledger)
    return max((len(text) for one in named for text in (one.title, one.section_path, one.block_id)), default=0)


def _referred(file: RunFile) -> Iterator[str]:
    for span in walked(file.trace.spans):
        for value in span.attributes.values():
            if isinstance(value, str):
                yield value
