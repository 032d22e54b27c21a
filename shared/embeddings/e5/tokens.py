"""The model's own tokenizer: SentencePiece's Unigram over the vocabulary that lies in the weights' file."""

import re
from collections.abc import Iterator
from typing import Protocol, cast

from shared.embeddings.e5.protobuf import field
from shared.embeddings.e5.weights import Weights

_SPACES = re.compile(" {2,}")
_WORD_START = "\u2581"  # SentencePiece writes a space like this
# Fields of sentencepiece_model.proto.
_NORMAL, _UNKNOWN, _CONTROL = 1, 2, 3
_UNIGRAM = 1
_UNWRITABLE = (b"", b"<mask>")  # stand in the vocabulary, but no text means them


class _Processor(Protocol):
    """What we use of sentencepiece.SentencePieceProcessor, which has no types."""

    def LoadFromSerializedProto(self, serialized: bytes) -> bool: ...
    def EncodeAsIds(self, input: str) -> list[int]: ...


class Tokens:
    """Thread-safe. `<s>`, `</s>` and `<unk>` in a text are ordinary text. A run of unknown characters is one unknown token."""

    def __init__(self, weights: Weights) -> None:
        """Takes half a second."""
        from sentencepiece import SentencePieceProcessor

        self._folding = weights.folding
        self._processor = cast(_Processor, SentencePieceProcessor())
        self._processor.LoadFromSerializedProto(b"".join(_model(weights)))

    def encode(self, text: str) -> list[int]:
        """Ids without the two that enclose a window."""
        return self._processor.EncodeAsIds(self._folded(text))

    def _folded(self, text: str) -> str:
        spaced = _SPACES.sub(" ", text.translate(self._folding)).replace(" ", _WORD_START)
        return spaced if spaced.startswith(_WORD_START) else _WORD_START + spaced


def _model(weights: Weights) -> Iterator[bytes]:
    """A ModelProto in pieces. The text comes folded already, so that the normaliser is told to do nothing."""
    control = {weights.bos, weights.eos, weights.pad}
    for place, (piece, score) in enumerate(weights.vocabulary()):
        kind = _UNKNOWN if place == weights.unk else _CONTROL if place in control or piece in _UNWRITABLE else _NORMAL
        yield field(1, field(1, piece) + field(2, score) + (field(3, kind) if kind != _NORMAL else b""))
    special = field(40, weights.unk) + field(41, weights.bos) + field(42, weights.eos) + field(43, weights.pad)
    yield field(2, field(3, _UNIGRAM) + special)
    yield field(3, field(1, "identity") + field(3, 0) + field(4, 0) + field(5, 0))
