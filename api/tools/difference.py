"""What differs between two results of one tool call. Pure."""

import difflib
from collections.abc import Sequence

import msgspec

from shared.ids import BlockId
from shared.types.replays import Gained, Moved
from shared.types.runs import Fingerprint

LONGEST_BYTES = 200_000  # of a payload that is compared line by line
MOST_LINES = 200


def gained(then: Fingerprint, now: Fingerprint) -> tuple[Gained, ...]:
    known = frozenset(then.block_ids)
    return tuple(Gained(block_id=one, rank=rank) for rank, one in _ranked(now.block_ids) if one not in known)


def lost(then: Fingerprint, now: Fingerprint) -> tuple[tuple[int, BlockId], ...]:
    """(rank then, block)"""
    known = frozenset(now.block_ids)
    return tuple((rank, one) for rank, one in _ranked(then.block_ids) if one not in known)


def moved(then: Fingerprint, now: Fingerprint) -> tuple[Moved, ...]:
    ranks = {one: rank for rank, one in _ranked(now.block_ids)}
    return tuple(
        Moved(block_id=one, then=rank, now=ranks[one])
        for rank, one in _ranked(then.block_ids)
        if ranks.get(one, rank) != rank
    )


def changed(then: Fingerprint, now: Fingerprint) -> tuple[BlockId, ...]:
    """Blocks that both show, with other text."""
    texts = dict(zip(then.block_ids, then.texts, strict=True))
    shown = zip(now.block_ids, now.texts, strict=True)
    return tuple(block_id for block_id, text in shown if texts.get(block_id, text) != text)


def payload_lines(then: bytes, now: bytes) -> tuple[str, ...]:
    """A unified diff of both, one value a line; () when one is too large to be read."""
    if max(len(then), len(now)) > LONGEST_BYTES:
        return ()
    lines = difflib.unified_diff(_lines(then), _lines(now), "then", "now", lineterm="", n=1)
    return tuple(line for line, _ in zip(lines, range(MOST_LINES), strict=False))


def _lines(payload: bytes) -> list[str]:
    return msgspec.json.format(payload, indent=2).decode().splitlines()


def _ranked(block_ids: Sequence[BlockId]) -> "enumerate[BlockId]":
    return enumerate(block_ids, 1)
