"""What state a part is in, as it is told to people."""

from typing import Literal

from msgspec import Struct

PartName = Literal["api", "worker", "broker", "vectors", "library", "embedder", "chat", "disk", "traces", "export"]


class Condition(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`ok`: nothing to do. `none`: not there, and everything works all the same. `loading`: not yet. `note`: worth a look. `failed`: act.

    `code`: which sentence of the pages says what is so and what helps. `detail`: the part's own words, in English.
    """

    part: PartName
    state: Literal["ok", "none", "loading", "note", "failed"]
    code: str
    detail: str | None = None
    named: str | None = None  # the model, or the receiver of an export
    since_ms: int | None = None  # up since; last heard of; failed at
    answered_at_ms: int | None = None
    runs: int | None = None  # under way
    free_bytes: int | None = None
    waiting: int | None = None  # spans on their way
    dropped: int | None = None  # spans, contents and runs lost since the server started


class Health(Struct, frozen=True, kw_only=True):
    """`sound`: no part has failed."""

    sound: bool
    parts: tuple[Condition, ...]
    waiting_imports: int  # queued or under way
