"""Bodies read whole within bounds, and content codings undone slice by slice."""

import asyncio
import gzip
import zlib
from collections.abc import Callable, Iterable

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.wire.bodies import MOST_PACKED, SLICE, Oversized, Piece, inflated, start, whole

BOMB = gzip.compress(bytes(4 * MOST_PACKED), compresslevel=1)  # 512 MiB in 2 MB
TEXT = "轴承每 500 小时润滑一次。Grease the bearings. " * 2_000


def pieces_of(packed: Iterable[bytes]) -> Piece:
    left = iter(packed)

    async def piece() -> bytes:
        return next(left, b"")

    return piece


async def every(piece: Piece) -> list[bytes]:
    found: list[bytes] = []
    while one := await piece():
        found.append(one)
    assert await piece() == b""
    return found


def bare(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def twice(data: bytes) -> bytes:
    return zlib.compress(gzip.compress(data))


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "X-GZip": gzip.compress,
    "deflate": zlib.compress,
    "deflate ": bare,
    "gzip, deflate": twice,
    "gzip,utf-8": gzip.compress,
    "": bytes,
    "identity": bytes,
}


@given(
    data=st.binary(max_size=500),
    times=st.sampled_from([1, 70, SLICE]),
    cut=st.integers(1, 700),
    coding=st.sampled_from(sorted(PACKED)),
)
def test_however_it_was_packed_and_cut_what_was_sent_comes_out_in_slices(
    data: bytes, times: int, cut: int, coding: str
) -> None:
    data = (data[:8] if times == SLICE else data) * times
    packed = PACKED[coding](data)
    step = max(cut, len(packed) // 50)
    found = asyncio.run(
        every(inflated(pieces_of(packed[at : at + step] for at in range(0, len(packed), step)), coding))
    )
    assert b"".join(found) == data
    assert coding in ("", "identity") or all(len(one) <= SLICE for one in found)


def test_what_was_flushed_is_told_before_more_comes() -> None:
    packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    first = packer.compress(TEXT.encode()) + packer.flush(zlib.Z_SYNC_FLUSH)
    asked: list[int] = []

    async def raw() -> bytes:
        asked.append(1)
        return first if len(asked) == 1 else b""

    async def read() -> bytes:
        piece = inflated(raw, "gzip")
        found = b""
        while len(found) < len(TEXT.encode()):
            found += await piece()
        return found

    assert asyncio.run(read()).decode() == TEXT
    assert len(asked) == 1


def test_a_few_bytes_that_stand_for_millions_are_given_up_and_meanwhile_others_have_their_turn() -> None:
    async def read() -> tuple[int, int]:
        turns, piece = 0, inflated(pieces_of([BOMB]), "gzip")

        async def other() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        beside, total = asyncio.create_task(other()), 0
        try:
            while one := await piece():
                total += len(one)
        except Oversized:
            return total, turns
        finally:
            beside.cancel()
        return 0, turns

    total, turns = asyncio.run(read())
    assert total == MOST_PACKED
    assert turns >= MOST_PACKED // SLICE


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_what_was_not_packed_as_it_says_is_no_answer(coding: str) -> None:
    with pytest.raises(httpx.DecodingError):
        asyncio.run(every(inflated(pieces_of([b"<html>\xff\xff\xff</html>"]), coding)))


def test_a_body_is_read_whole_up_to_what_can_be_an_answer() -> None:
    for most, said in ((7, None), (6, "more than 0.0 MB")):
        read = whole(pieces_of([b"abc", b"defg"]), most_bytes=most)
        if said is None:
            assert asyncio.run(read) == b"abcdefg"
        else:
            with pytest.raises(Oversized, match=said):
                asyncio.run(read)


def test_of_a_body_without_end_only_so_much_is_taken() -> None:
    async def endless() -> bytes:
        return b"abc"

    assert asyncio.run(start(endless, most_bytes=7)) == b"abcabca"
    with pytest.raises(Oversized):
        asyncio.run(whole(endless, most_bytes=7))


def test_what_follows_a_packed_body_is_not_read_for_long() -> None:
    taken = 0

    async def raw() -> bytes:
        nonlocal taken
        taken += 1
        return gzip.compress(b"{}") if taken == 1 else b"\0" * SLICE

    piece = inflated(raw, "gzip")
    assert asyncio.run(every(piece)) == [b"{}"]
    assert taken < 5


def test_codings_upon_codings_are_no_answer() -> None:
    piece = inflated(pieces_of([b"x"]), "gzip, " * 20_000 + "gzip")
    with pytest.raises(httpx.DecodingError, match="codings"):
        asyncio.run(whole(piece, most_bytes=9))
