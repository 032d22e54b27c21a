"""Each check of the seal catches what it is named after."""

from collections.abc import Callable, Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from shared.ids import BlockId, DocId, block_id
from shared.text.terms import passage_terms
from shared.vectors.memory import MemoryVectors
from shared.vectors.port import Collection, Point
from tests.unit.worker.test_target import a_member
from worker.stages.seal import Sample, check, sample

DOC = DocId("aaaaaaaa")
TEXTS = (
    "进入车间必须佩戴安全帽。",
    "The pump E-1042 must be vented.",
    "进入车间必须佩戴安全帽。",
    "压力不得超过 3.14 MPa。",
)


def points() -> list[Point]:
    return [
        Point(
            block_id=block_id(DOC, 1, index),
            doc_id=DOC,
            index=index,
            access=("*",),
            dense=np.eye(8, dtype=np.float32)[len(text) % 8],
            sparse=passage_terms(text),
        )
        for index, text in enumerate(TEXTS)
    ]


def collection_of(made: Iterable[Point]) -> Collection:
    vectors = MemoryVectors()
    builder = vectors.build("snap_1", dimensions=8)
    builder.add(list(made))
    return vectors.open("snap_1", files=builder.seal())


def expected(made: list[Point]) -> list[BlockId]:
    return [point.block_id for point in made]


def samples_of(made: list[Point], *, cached: bool = True) -> list[Sample]:
    return [
        Sample(
            block_id=point.block_id,
            doc_id=point.doc_id,
            doc_blocks=len(made),
            dense=point.dense if cached else None,
            terms=point.sparse,
        )
        for point in made
    ]


@pytest.mark.parametrize("cached", [True, False])
def test_a_collection_that_is_what_went_in_passes_even_with_copies_of_one_text(cached: bool) -> None:
    assert check(collection_of(points()), expected(points()), samples_of(points(), cached=cached)) is None


def test_an_empty_collection_passes() -> None:
    assert check(collection_of([]), [], []) is None


def one_lost(made: list[Point]) -> list[Point]:
    return made[1:]


def one_renamed(made: list[Point]) -> list[Point]:
    return [replace(made[0], block_id=BlockId("zzzzzzzz.v1#0")), *made[1:]]


def one_turned_round(made: list[Point]) -> list[Point]:
    return [made[0], replace(made[1], dense=-made[1].dense), *made[2:]]


def one_with_the_terms_of_another(made: list[Point]) -> list[Point]:
    return [made[0], replace(made[1], sparse=made[3].sparse), *made[2:]]


@pytest.mark.parametrize(
    ("spoilt", "name"),
    [
        (one_lost, "count"),
        (one_renamed, "ids"),
        (one_turned_round, "own_vector"),
        (one_with_the_terms_of_another, "rare_term"),
    ],
)
def test_what_is_wrong_has_a_name(spoilt: Callable[[list[Point]], list[Point]], name: str) -> None:
    problem = check(collection_of(spoilt(points())), expected(points()), samples_of(points()))
    assert problem is not None
    assert problem.check == name


@given(blocks=st.lists(st.integers(0, 30), max_size=20), size=st.integers(1, 16))
def test_a_sample_has_existing_blocks_from_beginning_to_end(blocks: list[int], size: int) -> None:
    members = [replace(a_member(f"{number}.md"), blocks=count) for number, count in enumerate(blocks)]
    found = sample(members, size=size)
    sizes = {member.doc_id: member.blocks for member in members}
    assert sum(map(len, found.values())) == min(size, sum(blocks))
    assert all(min(inside) >= 0 and max(inside) < sizes[doc] for doc, inside in found.items())
