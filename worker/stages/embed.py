"""Vectors for every block, batch by batch: each is paid for once and stored before the next is asked for."""

import hashlib
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import CancelledError
from itertools import groupby

from msgspec import Struct

from shared.catalog.db import Database
from shared.catalog.documents import version_blocks
from shared.catalog.items import mark_embedded, mark_failed
from shared.catalog.leases import count_embedded, restart_embed_count
from shared.embeddings.cache import EmbeddingCache
from shared.embeddings.port import Embedded, Embedder
from shared.errors import UpstreamError
from shared.ids import BlockId, DocId
from shared.text.context import embedded_text
from worker.faults import fault_point
from worker.stages.work import Stopped, Work

TRIES = 3  # of one batch; the embedder has repeated each of them once already
LONGEST_WAIT_S = 30.0  # inside the stage; a provider that asks for more pauses the import
_PROBE = "ok"
_ONE_DOCUMENT = frozenset({"provider_bad_request", "provider_context_too_long", "provider_content_filtered"})


class Target(Struct, frozen=True, kw_only=True):
    """A document version whose blocks need vectors. `ordinal`: of its item; None for one carried over from the base."""

    doc_id: DocId
    version: int
    title: str
    ordinal: int | None = None


class BlockText(Struct, frozen=True, kw_only=True):
    """What a block is found by, and the key of its vector."""

    target: Target
    block_id: BlockId
    index: int
    text: str
    sha256: str


def block_texts(db: Database, target: Target, *, only: Collection[int] | None = None) -> list[BlockText]:
    """In document order. only: indices of the blocks that are wanted, a few."""
    found: list[BlockText] = []
    for block in version_blocks(db, target.doc_id, target.version, only=only):
        text = embedded_text(target.title, block)
        sha256 = hashlib.sha256(text.encode()).hexdigest()
        found.append(BlockText(target=target, block_id=block.block_id, index=block.index, text=text, sha256=sha256))
    return found


def retry_wait_s(tries: int, retry_after_s: float | None) -> float | None:
    """How long to wait before a batch is tried again; None = not here, pause the import.

    tries: so far, 1..
    """
    wait_s = max(2.0**tries, retry_after_s or 0.0)
    return wait_s if tries < TRIES and wait_s <= LONGEST_WAIT_S else None


def embed(
    work: Work,
    targets: Iterable[Target],
    *,
    embedder: Embedder,
    cache: EmbeddingCache,
    wait: Callable[[float], None],
) -> None:
    """Buy what the cache doesn't hold. A text that the provider refuses for what it is fails its document alone.

    wait: seconds; may raise Stopped.
    Raises: UpstreamError when the provider is down or refuses everything, StorageError, Stopped.
    """
    restart_embed_count(work.db, work.import_id, work.worker)
    buyer = _Buyer(work, embedder=embedder, cache=cache, wait=wait)
    for target in targets:
        work.check()
        buyer.take(target)
    buyer.flush()


class _Buyer:
    """Fills batches across documents, in order; a document is done when its last text is stored."""

    def __init__(self, work: Work, *, embedder: Embedder, cache: EmbeddingCache, wait: Callable[[float], None]) -> None:
        self._work = work
        self._embedder = embedder
        self._cache = cache
        self._wait = wait
        self._batch: list[BlockText] = []
        self._taken: list[Target] = []  # all their texts are stored or in the batch
        self._failed: set[Target] = set()

    def take(self, target: Target) -> None:
        found = block_texts(self._work.db, target)
        texts = {text.sha256: text for text in found}
        known = self._cache.get(self._embedder.version, list(texts))
        queued = {text.sha256 for text in self._batch}
        missing = [text for sha256, text in texts.items() if sha256 not in known and sha256 not in queued]
        self._count([target] * (len(found) - len(missing)), tokens=0)
        for text in missing:
            self._batch.append(text)
            if len(self._batch) == self._embedder.max_batch:
                self.flush()
            if target in self._failed:
                return
        self._taken.append(target)
        if not self._batch:
            self.flush()

    def flush(self) -> None:
        """Buy and store the batch; the documents that are complete with it are done."""
        if self._batch:
            self._work.check()
            self._cache.check_writable()
            try:
                self._store(self._batch, self._buy([text.text for text in self._batch]))
            except UpstreamError as error:
                if error.code not in _ONE_DOCUMENT:
                    raise
                self._one_by_one()
            self._batch = []
            fault_point("embed:stored")
        for target in self._taken:
            if target.ordinal is not None and target not in self._failed:
                mark_embedded(self._work.db, self._work.import_id, self._work.worker, target.ordinal)
        self._taken = []

    def _buy(self, texts: list[str]) -> Embedded:
        tries = 1
        while True:
            try:
                return self._embedder.embed_passages(texts)
            except CancelledError as error:  # the embedder was closed under way: the process ends
                raise Stopped from error
            except UpstreamError as error:
                wait_s = retry_wait_s(tries, error.retry_after_s) if error.retryable else None
                if wait_s is None:
                    raise
                self._wait(wait_s)
                tries += 1

    def _store(self, texts: list[BlockText], bought: Embedded) -> None:
        fault_point("embed:bought")
        vectors = {text.sha256: vector for text, vector in zip(texts, bought.vectors, strict=True)}
        self._cache.put(self._embedder.version, vectors)
        self._count([text.target for text in texts], tokens=bought.tokens)

    def _count(self, blocks_of: list[Target], *, tokens: int) -> None:
        blocks = sum(1 for target in blocks_of if target.ordinal is not None)
        if blocks or tokens:
            count_embedded(
                self._work.db, self._work.import_id, self._work.worker, blocks=blocks, provider_tokens=tokens
            )

    def _one_by_one(self) -> None:
        """Some text in the batch was refused: find out whose."""
        for target, group in groupby(self._batch, key=lambda text: text.target):
            texts = list(group)
            try:
                self._store(texts, self._buy([text.text for text in texts]))
            except UpstreamError as error:
                if error.code not in _ONE_DOCUMENT or target.ordinal is None:
                    raise
                self._make_sure_others_pass(error)
                self._failed.add(target)
                mark_failed(
                    self._work.db,
                    self._work.import_id,
                    self._work.worker,
                    target.ordinal,
                    stage="embed",
                    code=error.code,
                    reason=error.message,
                    retryable=False,
                )

    def _make_sure_others_pass(self, refusal: UpstreamError) -> None:
        """A provider that refuses even a plain word is set up wrongly: no fault of the document."""
        try:
            self._buy([_PROBE])
        except UpstreamError:
            raise refusal from None
