"""Where the checked sentences of an answer stand in it. Pure."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from shared.types.runs import ClaimCheck, Verdict

MOST_PLACES: Final = (
    100_000  # of sentences, once for each mark they have; what a file that was made up has beyond goes unseen
)


class Sentences:
    """Each is looked for once, however many marks there are: what that costs is the answer's length times their number."""

    def __init__(self, said: str, claims: Sequence[ClaimCheck]) -> None:
        places: defaultdict[int, list[tuple[int, int, int]]] = defaultdict(list)  # by marker: end, start, -number
        cited = ((n, claim.sentence) for n, claim in enumerate(claims) if claim.markers)
        every = ((n, start) for n, sentence in cited for start in _places(said, sentence))
        left = MOST_PLACES
        for n, start in every:
            left -= len(claims[n].markers)
            if left < 0:
                break
            for marker in claims[n].markers:
                places[marker].append((start + len(claims[n].sentence), start, -n))
        self._claims = claims
        self._ends: dict[int, list[int]] = {}
        self._last: dict[int, list[int]] = {}  # the sentence that began last of those which end up to there
        for marker, found in places.items():
            found.sort()
            last = (-1, 0)
            numbers: list[int] = []
            for _, start, n in found:
                last = max(last, (start, n))
                numbers.append(-last[1])
            self._ends[marker] = [end for end, _, _ in found]
            self._last[marker] = numbers

    def verdict(self, marker: int, *, before: int) -> Verdict | None:
        """Of the last sentence before that place which has this marker."""
        n = bisect_right(self._ends.get(marker, ()), before)
        return self._claims[self._last[marker][n - 1]].verdict if n else None


def _places(said: str, sentence: str) -> Iterator[int]:
    start = said.find(sentence) if sentence else -1
    while start >= 0:
        yield start
        start = said.find(sentence, start + len(sentence))
