"""Just enough of the protobuf wire format to write an ONNX model and a SentencePiece model.

Two messages of a few fields don't justify the 27 MB of `onnx` at run time. Source: protobuf.dev/programming-guides/encoding.
"""

import struct
from functools import cache
from typing import TypeAlias

Value: TypeAlias = int | float | str | bytes  # int >= 0 as varint, float as 32 bits, the others with their length


def field(number: int, value: Value) -> bytes:
    """One field of a message. A message inside a message is its bytes; a repeated field is several fields of one number."""
    if isinstance(value, float):
        return _key(number, 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return _key(number, 0) + _varint(value)
    content = value.encode() if isinstance(value, str) else value
    return _key(number, 2) + _varint(len(content)) + content


@cache
def _key(number: int, wire_type: int) -> bytes:
    return _varint(number << 3 | wire_type)


def _varint(value: int) -> bytes:
    if value < 0x80:
        return bytes((value,))
    groups = bytearray()
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)
