"""When each service that a run calls was last heard of, and whether it answered."""

from typing import Final

from msgspec import Struct, structs
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import StatusCode

from shared.telemetry import names
from shared.telemetry.processor import Reader

_SERVICES: Final = {names.CHAT: "chat", names.SEARCH_EMBED: "embeddings", names.SEARCH_RERANK: "rerank"}


class Heard(Struct, frozen=True, kw_only=True):
    """Of one service, since the process began. `failure`: what it said when it failed; None = it answered the last time."""

    answered_at_ms: int | None = None
    failed_at_ms: int | None = None
    failure: str | None = None


class Seen(Reader):
    """Any number of threads tell, any asks."""

    def __init__(self) -> None:
        super().__init__()
        self._heard: dict[str, Heard] = {}

    def read(self, span: ReadableSpan) -> None:
        """A call that was cut off says nothing either way."""
        service = _SERVICES.get(span.name.partition(" ")[0]) or _SERVICES.get(span.name)
        if service is None or span.end_time is None:
            return
        at_ms = span.end_time // 1_000_000
        before = self._heard.get(service, Heard())
        if span.status.status_code is StatusCode.ERROR:
            failure = span.status.description or ""
            self._heard[service] = structs.replace(before, failed_at_ms=at_ms, failure=failure)
        elif names.TOKENS_ESTIMATED in (span.attributes or {}):  # told with every reply
            self._heard[service] = structs.replace(before, answered_at_ms=at_ms, failure=None)

    def of(self, service: str) -> Heard:
        """`service`: chat | embeddings | rerank."""
        self.settle()
        return self._heard.get(service, Heard())
