"""Full contents beside a span: the prompt as sent, a tool's payload, the candidate lists, the answer.

A span carries only hash and size. Whether the text itself is kept is the run's trace level: `metadata` keeps none, `full` all.
Secrets are removed before anything that is kept is hashed, so that a hash always names exactly what is stored.
"""

import hashlib
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from msgspec import Struct
from opentelemetry.trace import Span

from shared.telemetry.redact import Redactor
from shared.types.traces import TraceLevel

if TYPE_CHECKING:
    from hashlib import _Hash as Hash  # pyright: ignore[reportPrivateUsage]  typeshed's name for what sha256 gives

ARTIFACT_PREFIX = "citebound.artifact."
_PIECE: Final = 2_047  # bytes: hashlib lets go of the interpreter lock from 2,048 on
_MOST_HELD: Final = 128 * 1024  # bytes: a tenth of a millisecond
T = TypeVar("T")

_level: ContextVar[TraceLevel | None] = ContextVar("citebound_trace_level", default=None)


class Keeping(Struct, frozen=True, kw_only=True):
    """Where contents go, and how much of them; set once by `shared.telemetry.setup`."""

    level: TraceLevel
    redactor: Redactor
    keep: Callable[[int, str, bytes], None]  # (trace_id, sha256, data); must not block


_NOWHERE = Keeping(level="metadata", redactor=Redactor(), keep=lambda trace_id, sha256, data: None)
_keeping: list[Keeping] = [_NOWHERE]


@contextmanager
def trace_level(level: TraceLevel | None) -> Generator[None]:
    """Another level for everything inside, tasks started there included; None = the settings' level."""
    token = _level.set(level)
    try:
        yield
    finally:
        _level.reset(token)


def attach(span: Span, name: str, content: str | bytes) -> None:
    """Refer to `content` from the span by hash and size, and keep it if this run's level says so. Never blocks, never raises.

    bytes: a tool's payload in UTF-8, of which the run keeps the hash as it is; searched for secrets only when it is kept.
    """
    keeping, keeps = _keeping[-1], keeps_contents()
    if isinstance(content, bytes) and not keeps:
        data = content
    else:
        text = content if isinstance(content, str) else content.decode()
        data = keeping.redactor.text(text).encode(errors="replace")
    sha256 = _hashed(hashlib.sha256(), data).hexdigest()
    _refer(span, name, sha256, size_bytes=len(data))
    if keeps:
        keeping.keep(span.get_span_context().trace_id, sha256, data)


class Growing(Generic[T]):
    """JSON arrays of one run, each the one before and more, as its prompts are: `attach` for all of them under one name.

    Where nothing is kept, what was in the one before is neither encoded nor searched nor hashed again. Hash and size are those of
    what would be kept. For one task.
    """

    def __init__(self, name: str, encode: Callable[[T], bytes]) -> None:
        """`encode`: the JSON of an item, by msgspec."""
        self._name = name
        self._encode = encode
        self._items: list[T] = []  # that are in the hash
        self._hash = hashlib.sha256()
        self._size_bytes = 0

    def attach(self, span: Span, items: Sequence[T]) -> None:
        """Refer to the array from the span, and keep it if this run's level says so. Never blocks."""
        if not keeps_contents() and self._follow(items, _keeping[-1].redactor):
            whole = self._hash.copy()
            whole.update(b"]")
            _refer(span, self._name, whole.hexdigest(), size_bytes=self._size_bytes + 1)
        else:
            attach(span, self._name, (b"[" + b",".join(map(self._encode, items)) + b"]").decode())

    def _follow(self, items: Sequence[T], redactor: Redactor) -> bool:
        """Whether the hash is now that of these items, `[` included; not when something may have to be taken out of them."""
        if not items or not redactor.item_by_item:
            return False
        if self._items != list(items[: len(self._items)]):
            self._items = []
        if not self._items:
            data = self._encode(items[0])
            if (begun := _begun(redactor, data)) is None:
                return False
            self._hash, self._size_bytes, self._items = begun.copy(), 1 + len(data), [items[0]]
        for item in items[len(self._items) :]:
            data = self._encode(item)
            if not redactor.finds_none_in(data.decode()):
                return False
            _hashed(self._hash, b"," + data)
            self._size_bytes += 1 + len(data)
            self._items.append(item)
        return True


@lru_cache(maxsize=16)
def _begun(redactor: Redactor, first: bytes) -> "Hash | None":
    """Of an array, `[` included; None: something may have to be taken out. Runs begin with the same few system prompts."""
    return _hashed(hashlib.sha256(), b"[" + first) if redactor.finds_none_in(first.decode()) else None


def _hashed(into: "Hash", data: bytes) -> "Hash":
    """`into`, with `data` added: in pieces for which hashlib keeps the interpreter lock, which is gone for longer than hashing takes."""
    if len(data) > _MOST_HELD:
        into.update(data)
    else:
        view = memoryview(data)
        for start in range(0, len(view), _PIECE):
            into.update(view[start : start + _PIECE])
    return into


def _refer(span: Span, name: str, sha256: str, *, size_bytes: int) -> None:
    span.set_attribute(f"{ARTIFACT_PREFIX}{name}.sha256", sha256)
    span.set_attribute(f"{ARTIFACT_PREFIX}{name}.bytes", size_bytes)


def keeps_contents() -> bool:
    """Whether the current run's trace level is `full`."""
    return (_level.get() or _keeping[-1].level) == "full"


def use(keeping: Keeping) -> None:
    _keeping.append(keeping)


def stop_using(keeping: Keeping) -> None:
    _keeping[:] = [one for one in _keeping if one is not keeping]
