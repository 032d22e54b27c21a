"""Runs that were saved as files, read again: anybody may have made or edited them."""

import re
from collections.abc import Iterator
from typing import Final, Literal

import msgspec
from msgspec import Struct

from shared.types.runfiles import RunFile
from shared.types.traces import SpanNode

_FORMAT: Final = 1
_FORMATS: Final = re.compile(r"citebound-run-(\d{1,9})")
_LONGEST_DETAIL: Final = 300  # characters


class Unreadable(Struct, frozen=True, kw_only=True):
    """Why a file is no run that can be shown. `detail`: where, or what stands there instead; `saved_by`: the version that it names."""

    why: Literal["empty", "no_json", "foreign", "newer", "older", "damaged"]
    detail: str = ""
    saved_by: str = ""


class _Head(Struct, frozen=True, kw_only=True):
    format: str
    app_version: str = ""


def read_run_file(data: bytes) -> RunFile | Unreadable:
    """A file as somebody saved, edited or made it up. Its texts are only texts, and nobody vouches for them."""
    data = data.removeprefix(b"\xef\xbb\xbf").strip()
    if not data:
        return Unreadable(why="empty")
    try:
        head = msgspec.json.decode(data, type=_Head)
    except msgspec.ValidationError:  # JSON, but of something else
        return Unreadable(why="foreign")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return Unreadable(why="no_json", detail=str(error)[:_LONGEST_DETAIL])
    version = _FORMATS.fullmatch(head.format)
    saved_by = head.app_version[:_LONGEST_DETAIL]
    if version is None:
        return Unreadable(why="foreign", detail=head.format[:_LONGEST_DETAIL])
    if int(version[1]) != _FORMAT:
        return Unreadable(why="newer" if int(version[1]) > _FORMAT else "older", detail=head.format, saved_by=saved_by)
    try:
        return msgspec.json.decode(data, type=RunFile)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return Unreadable(why="damaged", detail=str(error)[:_LONGEST_DETAIL], saved_by=saved_by)


def walked(spans: tuple[SpanNode, ...]) -> Iterator[SpanNode]:
    """Each before what is beneath it. However deep."""
    left = list(reversed(spans))
    while left:
        span = left.pop()
        yield span
        left += reversed(span.children)
