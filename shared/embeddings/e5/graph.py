"""multilingual-e5-small as an ONNX model, made from the 4-bit weights in a fifth of a second at every start.

Matrix products are in integers. A row of activations (one token) is quantised to 8 bits by its own largest value, so that a vector
depends on nothing outside its text; the few channels that always run large are divided first, lest they drown the others.
Weights are quantised by column such that the AVX2 kernels of processors without VNNI can't overflow.
Layer normalisation is written out: onnxruntime's own kernel takes three times as long. Figures: decision 0032.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from shared.embeddings.e5.protobuf import field
from shared.embeddings.e5.weights import Floats, Weights

INPUT, OUTPUT = "embedded", "mean"  # shapes (1, tokens, hidden) and (1, hidden)
RECIPE = "row8 pairs8 calm-1"

Array: TypeAlias = npt.NDArray[np.float32] | npt.NDArray[np.int8] | npt.NDArray[np.uint8] | npt.NDArray[np.int64]
Attribute: TypeAlias = int | Sequence[int]

_MICROSOFT = "com.microsoft"
# Those kernels add two products of an unsigned and a signed byte in 16 bits, silently clipped: 255 * 128 just fits, so two
# neighbours in a column may have 128 together, of which rounding may bring 1.
_LARGEST_PAIR = 127.0
_LARGEST_ACTIVATION = 127.0
_SMALLEST = 1e-9  # a row of zeros is divided by this
# Channels of the hidden state whose largest value is a multiple of the median channel's, in every layer and language tried,
# and what they are divided by. Measured over 40 texts of bench/zh_single and bench/xling.
_LOUD = {15: 8, 35: 8, 321: 4, 58: 2, 60: 2, 62: 2, 87: 2, 146: 2, 297: 2, 345: 2}
# Numbers of onnx.proto.
_FLOAT, _UINT8, _INT8, _INT64 = 1, 2, 3, 7
_ELEMENT_TYPES = {"float32": _FLOAT, "uint8": _UINT8, "int8": _INT8, "int64": _INT64}
_ATTRIBUTE_INT, _ATTRIBUTE_INTS = 2, 7
_IR_VERSION, _OPSET = 8, 17


def build(weights: Weights) -> bytes:
    """The serialised model, 22 MB; the same bytes for the same weights."""
    graph = _Graph()
    hidden, inner = weights.hidden, weights.inner
    graph.constant("one", np.float32(1))
    graph.constant("zero point", np.uint8(128))
    graph.constant("smallest", np.float32(_SMALLEST))
    graph.constant("largest", np.float32(_LARGEST_ACTIVATION))
    graph.constant("step", np.float32(1 / _LARGEST_ACTIVATION))
    graph.constant("epsilon", np.float32(weights.epsilon))
    graph.constant("thirds", np.full(3, hidden, np.int64))
    graph.constant("calm", np.reciprocal(_loudness(hidden)))
    state = graph.normalised(INPUT, weights, "emb.ln")
    for layer in range(weights.layers):
        name = f"l{layer}."
        queries_keys_values = graph.product(state, weights, [name + part for part in "qkv"], rows=hidden, loud=True)
        biased = graph.node("Add", queries_keys_values, graph.bias(weights, [name + part for part in "qkv"], hidden))
        parts = graph.split(biased, "thirds", 3)
        attended = graph.node("MultiHeadAttention", *parts, domain=_MICROSOFT, num_heads=weights.heads)
        mixed = graph.product(attended, weights, [name + "ao"], rows=hidden)
        mixed = graph.node("Add", mixed, graph.bias(weights, [name + "ao"], hidden))
        state = graph.normalised(graph.node("Add", mixed, state), weights, name + "aln")
        widened = graph.product(state, weights, [name + "fi"], rows=inner, loud=True)
        active = graph.node("BiasGelu", widened, graph.bias(weights, [name + "fi"], inner), domain=_MICROSOFT)
        narrowed = graph.product(active, weights, [name + "fo"], rows=hidden)
        narrowed = graph.node("Add", narrowed, graph.bias(weights, [name + "fo"], hidden))
        state = graph.normalised(graph.node("Add", narrowed, state), weights, name + "oln")
    graph.node("ReduceMean", state, output=OUTPUT, axes=[1], keepdims=0)
    return graph.model(hidden)


def quantised(matrix: Floats) -> tuple[npt.NDArray[np.int8], Floats]:
    """Integers and their scale for each column: matrix ~ integers * scales. Rows go in pairs; no pair has more than 128 together."""
    pairs = np.abs(matrix[0::2]) + np.abs(matrix[1::2])
    scales = np.maximum(pairs.max(axis=0) / _LARGEST_PAIR, _SMALLEST).astype(np.float32)
    return np.rint(matrix / scales).astype(np.int8), scales


def _loudness(hidden: int) -> Floats:
    return np.array([_LOUD.get(channel, 1) for channel in range(hidden)], np.float32)


class _Graph:
    """Nodes and constants under names; a value is named after the node that makes it."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._constants: list[bytes] = []

    def constant(self, name: str, array: Array | np.generic) -> str:
        values = np.ascontiguousarray(array).reshape(np.shape(array))
        shape = b"".join(field(1, size) for size in values.shape)
        kind = field(2, _ELEMENT_TYPES[values.dtype.name])
        self._constants.append(shape + kind + field(8, name) + field(9, values.tobytes()))
        return name

    def node(self, operator: str, *inputs: str, output: str = "", domain: str = "", **attributes: Attribute) -> str:
        return self._add(operator, inputs, [output or f"{operator} {len(self._nodes)}"], domain, attributes)[0]

    def split(self, value: str, sizes: str, parts: int) -> list[str]:
        """Along the last axis."""
        return self._add(
            "Split", [value, sizes], [f"Split {len(self._nodes)}.{part}" for part in range(parts)], "", {"axis": 2}
        )

    def product(self, value: str, weights: Weights, names: Sequence[str], *, rows: int, loud: bool = False) -> str:
        """`value` times the transposed matrices side by side, in integers; loud: `value` is a hidden state."""
        matrix = np.concatenate([weights.matrix(name + ".w", rows) for name in names]).T
        if loud:
            value = self.node("Mul", value, "calm")
            matrix = matrix * _loudness(len(matrix))[:, np.newaxis]
        integers, scales = quantised(matrix)
        name = names[0]
        largest = self.node("Max", self.node("ReduceMax", self.node("Abs", value), axes=[-1], keepdims=1), "smallest")
        stretched = self.node("Mul", value, self.node("Div", "largest", largest))
        product = self.node(
            "MatMulIntegerToFloat",
            self.node("QuantizeLinear", stretched, "one", "zero point"),
            self.constant(name + ".w", integers),
            "one",
            self.constant(name + ".scales", scales),
            "zero point",
            domain=_MICROSOFT,
        )
        return self.node("Mul", product, self.node("Mul", largest, "step"))

    def bias(self, weights: Weights, names: Sequence[str], rows: int) -> str:
        return self.constant(names[0] + ".b", np.concatenate([weights.vector(name + ".b", rows) for name in names]))

    def normalised(self, value: str, weights: Weights, name: str) -> str:
        centred = self.node("Sub", value, self.node("ReduceMean", value, axes=[-1], keepdims=1))
        variance = self.node("ReduceMean", self.node("Mul", centred, centred), axes=[-1], keepdims=1)
        spread = self.node("Sqrt", self.node("Add", variance, "epsilon"))
        scaled = self.node("Mul", centred, self.node("Reciprocal", spread))
        gain = self.constant(name + ".w", weights.vector(name + ".w", weights.hidden))
        shift = self.constant(name + ".b", weights.vector(name + ".b", weights.hidden))
        return self.node("Add", self.node("Mul", scaled, gain), shift)

    def model(self, hidden: int) -> bytes:
        graph = b"".join(
            [
                *(field(1, node) for node in self._nodes),
                field(2, "multilingual-e5-small"),
                *(field(5, constant) for constant in self._constants),
                field(11, _floats(INPUT, [1, "tokens", hidden])),
                field(12, _floats(OUTPUT, [1, hidden])),
            ]
        )
        opsets = field(8, field(2, _OPSET)) + field(8, field(1, _MICROSOFT) + field(2, 1))
        return field(1, _IR_VERSION) + opsets + field(7, graph)

    def _add(
        self, operator: str, inputs: Sequence[str], outputs: list[str], domain: str, attributes: dict[str, Attribute]
    ) -> list[str]:
        self._nodes.append(
            b"".join(
                [
                    *(field(1, name) for name in inputs),
                    *(field(2, name) for name in outputs),
                    field(4, operator),
                    *(field(5, _attribute(name, value)) for name, value in attributes.items()),
                    field(7, domain),
                ]
            )
        )
        return outputs


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, int):
        return field(1, name) + field(3, value) + field(20, _ATTRIBUTE_INT)
    return field(1, name) + b"".join(field(8, _signed(one)) for one in value) + field(20, _ATTRIBUTE_INTS)


def _signed(value: int) -> int:
    """A negative int64 goes as its two's complement."""
    return value & (1 << 64) - 1


def _floats(name: str, shape: Sequence[int | str]) -> bytes:
    """A ValueInfoProto; a str is a size that differs from call to call."""
    sizes = b"".join(field(1, field(2, size) if isinstance(size, str) else field(1, size)) for size in shape)
    return field(1, name) + field(2, field(1, field(1, _FLOAT) + field(2, sizes)))
