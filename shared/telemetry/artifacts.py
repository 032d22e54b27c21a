"""Full contents beside a span: the prompt as sent, a tool's payload, the candidate lists, the answer.

A span carries only hash and size. Whether the text itself is kept is the run's trace level: `metadata` keeps none, `full` all.
Secrets are removed before anything that is kept is hashed, so that a hash always names exactly what is stored.
"""

import hashlib
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar

from msgspec import Struct
from opentelemetry.trace import Span

from shared.telemetry.redact import Redactor
from shared.types.traces import TraceLevel

ARTIFACT_PREFIX = "citebound.artifact."

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
    sha256 = hashlib.sha256(data).hexdigest()
    span.set_attribute(f"{ARTIFACT_PREFIX}{name}.sha256", sha256)
    span.set_attribute(f"{ARTIFACT_PREFIX}{name}.bytes", len(data))
    if keeps:
        keeping.keep(span.get_span_context().trace_id, sha256, data)


def keeps_contents() -> bool:
    """Whether the current run's trace level is `full`."""
    return (_level.get() or _keeping[-1].level) == "full"


def use(keeping: Keeping) -> None:
    _keeping.append(keeping)


def stop_using(keeping: Keeping) -> None:
    _keeping[:] = [one for one in _keeping if one is not keeping]
