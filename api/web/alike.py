"""What two sequences have in common, in the order of both, for a bounded price. Pure."""

from collections import Counter
from collections.abc import Hashable, Sequence
from difflib import Match, SequenceMatcher
from itertools import accumulate
from typing import Literal, TypeVar

T = TypeVar("T", bound=Hashable)
Step = tuple[Literal["replace", "delete", "insert", "equal"], int, int, int, int]

MOST_STEPS = 10_000_000  # for one page, two seconds or four: what comes after that is shown without differences


class Patience:
    """How much may still be compared for one page. A question or a file may hold texts that were made to take for ever."""

    def __init__(self, steps: int = MOST_STEPS) -> None:
        self._left = steps

    def suffices(self, steps: int) -> bool:
        """Take so many; False = it is used up."""
        self._left -= steps
        return self._left >= 0


def opcodes(old: Sequence[T], new: Sequence[T], patience: Patience) -> list[Step] | None:
    """As difflib has them; None when patience is used up before they are found."""
    try:
        return _Matcher(old, new, patience).get_opcodes()
    except _UsedUp:
        return None


class _UsedUp(Exception):
    pass


class _Matcher(SequenceMatcher[T]):
    """Pays for every look at a pair: what many short likenesses cost grows with the third power of the length, and their number
    can't be told from the length."""

    def __init__(self, old: Sequence[T], new: Sequence[T], patience: Patience) -> None:
        super().__init__(None, old, new, autojunk=False)
        there = Counter(new)
        self._prices = list(accumulate((1 + there[one] for one in old), initial=0))  # of everything before each
        self._patience = patience

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Match:
        price = self._prices[-1 if ahi is None else ahi] - self._prices[alo]
        if not self._patience.suffices(price):
            raise _UsedUp
        return super().find_longest_match(alo, ahi, blo, bhi)
