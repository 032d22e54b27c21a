"""What the pool and its child say to one another over two pipes.

A frame is a 4-byte big-endian length and that many bytes of MessagePack. The child speaks first (Ready), then answers
each Job with one Reply. Whatever does not fit this is a broken child.
"""

import struct
from typing import TypeAlias

from msgspec import Struct
from msgspec.msgpack import Decoder, Encoder

from shared.errors import DocumentCode
from worker.parsers.types import Parsed

MAX_FRAME_BYTES = 1 << 30
LENGTH = struct.Struct(">I")


class Job(Struct, frozen=True, kw_only=True):
    path: str
    name: str
    cpu_s: int  # processor seconds after which the kernel ends the child, should nobody be there to do it


class Ready(Struct, frozen=True, kw_only=True, tag="ready"):
    pass


class Done(Struct, frozen=True, kw_only=True, tag="done"):
    parsed: Parsed


class Rejected(Struct, frozen=True, kw_only=True, tag="rejected"):
    code: DocumentCode
    message: str


Reply: TypeAlias = Ready | Done | Rejected

_encoder = Encoder()
decode_job = Decoder(Job).decode
decode_reply = Decoder(Reply).decode


def frame(message: Job | Reply) -> bytes:
    body = _encoder.encode(message)
    return LENGTH.pack(len(body)) + body
