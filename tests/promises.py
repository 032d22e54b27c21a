"""What the specification promises. `@promise("P4")` marks a test that proves one; a test fails if any promise has none."""

from collections.abc import Callable
from typing import Any, Final

import pytest

PROMISES: Final = {
    "P1": "One run, one snapshot",
    "P2": "Scope before recall",
    "P3": "No impersonation between tools",
    "P4": "Whole or refused",
    "P5": "Empty, wrong, broken are three different answers",
    "P6": "A citation opens the very block the model read in that run",
    "P7": "Partial is said aloud",
    "P8": "No silent downgrade",
    "P9": "An import survives anything",
    "P10": "Any answer can be explained afterwards",
    "P11": "Documents are data, not instructions",
    "P12": "It works before any key is set",
}


def promise(number: str) -> Callable[[Any], Any]:
    if number not in PROMISES:
        raise KeyError(f"{number} is no promise; see tests/promises.py")
    return pytest.mark.promise(number)
