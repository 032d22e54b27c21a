"""A published library in a temporary folder, and a way to call tools on it as a run would."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider

from api.retrieval.library import Library, Pinned
from api.retrieval.profiles import Preference
from api.retrieval.snapshots import Pace
from api.tools.registry import Toolbox, ToolResult
from shared.access import OWNER, Access
from shared.embeddings.fake import FakeEmbedder
from shared.ids import DocId, SnapshotId
from shared.layout import Layout
from shared.rerank.port import Reranker
from shared.settings import ApiSettings
from shared.telemetry.artifacts import trace_level
from shared.text.terms import KEYWORD_VERSION
from shared.types.runs import Scope
from shared.types.snapshots import FailedDocument
from shared.vectors.port import Base, Builder, Collection, Dense, Filter, Hit, Sparse, TakesLonger, Vectors
from tests.blocking import nothing_blocks
from tests.factories import NOW_MS, ADocument, Published, publish
from tests.patience import PATIENCE_S

T = TypeVar("T")

PATIENT = Pace(
    opening=PATIENCE_S
)  # what lies in a small library is read while the caller waits, however busy the machine


class World:
    def __init__(self, folder: Path, vectors: Vectors) -> None:
        self.layout = Layout(folder)
        self.vectors = vectors
        self.embedder = FakeEmbedder()
        self.open_reranker: Callable[[], Reranker | None] = lambda: None
        self.most_result_bytes = ApiSettings().max_result_bytes
        self.pauses: list[float] = []

    def publish(
        self,
        *documents: ADocument,
        failed: Iterable[FailedDocument] = (),
        activate: bool = True,
        now_ms: int = NOW_MS,
        keyword_version: str = KEYWORD_VERSION,
    ) -> Published:
        return publish(
            self.layout,
            documents,
            vectors=self.vectors,
            embedder=self.embedder,
            failed=tuple(failed),
            activate=activate,
            now_ms=now_ms,
            keyword_version=keyword_version,
        )

    def run(self, use: Callable[[Library], Awaitable[T]], *, pace: Pace | None = None) -> T:
        """In an event loop that nothing may block."""

        async def scenario() -> T:
            reranker = self.open_reranker()
            library = Library(
                layout=self.layout,
                vectors=self.vectors,
                embedder=self.embedder,
                reranker=reranker,
                pace=pace or PATIENT,
                most_result_bytes=self.most_result_bytes,
            )
            try:
                return await use(library)
            finally:
                await library.close()
                if reranker is not None:
                    await reranker.close()

        with nothing_blocks():
            return asyncio.run(scenario())

    def pinned(
        self,
        use: Callable[[Pinned], Awaitable[T]],
        *,
        access: Access = OWNER,
        snapshot_id: SnapshotId | None = None,
        prefer: Preference | None = None,
    ) -> T:
        async def with_pinned(library: Library) -> T:
            async with await library.pin(snapshot_id, access, prefer=prefer) as pinned:
                return await use(pinned)

        return self.run(with_pinned)

    def call(
        self,
        tool: str,
        arguments: object,
        *,
        access: Access = OWNER,
        scope: Iterable[DocId] | None = None,
        prefer: Preference | None = None,
    ) -> "Called":
        """`scope`: of the run, as its caller would name it."""

        async def call(pinned: Pinned) -> ToolResult:
            resolved = await pinned.resolve_scope(None if scope is None else Scope(doc_ids=tuple(scope)))
            return await Toolbox(pinned, scope=resolved, pause=self._pause).call(tool, arguments)

        result = self.pinned(call, access=access, prefer=prefer)
        return Called(result=result, payload=msgspec.json.decode(result.payload))

    async def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)


class Called(Struct, frozen=True, kw_only=True):
    result: ToolResult
    payload: dict[str, Any]

    @property
    def error(self) -> dict[str, Any]:
        return self.payload["error"]

    def block_ids(self) -> list[str]:
        return [block["block_id"] for block in self.payload["blocks"]]


class _Recorder(SpanProcessor):
    def __init__(self) -> None:
        self.spans: list[ReadableSpan] | None = None

    def on_end(self, span: ReadableSpan) -> None:
        if self.spans is not None:
            self.spans.append(span)


_recorders: list[_Recorder] = []


@contextmanager
def recorded_spans() -> Generator[list[ReadableSpan]]:
    """The spans that end meanwhile, with all that a trace may keep, in the order in which they end."""
    if not _recorders:
        provider = trace.get_tracer_provider()
        if not isinstance(provider, TracerProvider):
            provider = TracerProvider(shutdown_on_exit=False)
            trace.set_tracer_provider(provider)
        _recorders.append(_Recorder())
        provider.add_span_processor(_recorders[0])
    _recorders[0].spans = spans = []
    with trace_level("full"):
        yield spans
    _recorders[0].spans = None


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


class Watched:
    """A world's vectors, noting which collections are opened and closed.

    `faults`, `keyword_faults`: raised by the next searches' dense and keyword branches, one each.
    """

    def __init__(self, world: World) -> None:
        self._inner = world.vectors
        self.index = self._inner.index
        self.opened: list[str] = []
        self.closed: list[str] = []
        self.faults: list[Exception] = []
        self.keyword_faults: list[Exception] = []
        self.is_remote = False
        self.is_tied = False  # one look decides no search
        self.asked_by: list[threading.Thread] = []  # of each branch of a search
        self.closed_one = threading.Event()
        world.vectors = self

    def open(self, name: str, *, files: dict[str, str]) -> Collection:
        self.opened.append(name)
        return _WatchedCollection(self._inner.open(name, files=files), name, self)

    def build(self, name: str, *, dimensions: int, base: Base | None = None) -> Builder:
        return self._inner.build(name, dimensions=dimensions, base=base)

    def names(self) -> list[str]:
        return self._inner.names()

    def unfinished(self) -> list[str]:
        return self._inner.unfinished()

    def drop(self, name: str) -> None:
        self._inner.drop(name)


class _WatchedCollection:
    def __init__(self, inner: Collection, name: str, watched: Watched) -> None:
        self.asked, self.count = inner.asked, inner.count
        self.block_ids, self.dense_of = inner.block_ids, inner.dense_of
        self.is_remote = watched.is_remote
        self._inner, self._name, self._watched = inner, name, watched

    def _noted(self, briefly: bool) -> None:
        self._watched.asked_by.append(threading.current_thread())
        if briefly and self._watched.is_tied:
            raise TakesLonger

    def dense(self, query: Dense, *, within: Filter, limit: int, briefly: bool = False) -> list[Hit]:
        self._noted(briefly)
        if self._watched.faults:
            raise self._watched.faults.pop(0)
        return self._inner.dense(query, within=within, limit=limit, briefly=briefly)

    def sparse(self, query: Sparse, *, within: Filter, limit: int, briefly: bool = False) -> list[Hit]:
        self._noted(briefly)
        if self._watched.keyword_faults:
            raise self._watched.keyword_faults.pop(0)
        return self._inner.sparse(query, within=within, limit=limit, briefly=briefly)

    def close(self) -> None:
        self._inner.close()
        self._watched.closed.append(self._name)
        self._watched.closed_one.set()
