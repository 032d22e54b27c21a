"""One finding of the doctor."""

from typing import Literal

from msgspec import Struct

State = Literal[
    "ok", "note", "missing", "broken"
]  # note: works, worth knowing · missing: nothing there yet, by itself no fault


class Check(Struct, frozen=True, kw_only=True):
    name: str
    state: State
    detail: str
    remedy: str = ""
