"""What a run is saved as."""

from typing import Literal

from msgspec import Struct

from shared.types.runs import RunRecord
from shared.types.traces import Trace


class RunFile(Struct, frozen=True, kw_only=True):
    """Without secrets. `contents`: prompts, payloads and so on by the hash that spans name; {} at trace level metadata."""

    format: Literal["citebound-run-1"]  # said by every file, so that no other JSON passes for one
    app_version: str
    record: RunRecord
    trace: Trace
    contents: dict[str, str] = {}
