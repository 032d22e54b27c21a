"""Search through the engine that ships: same blocks, same order as the exact reference, at ties too."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from shared.access import OWNER, Access
from shared.vectors.edge import EdgeVectors
from shared.vectors.memory import MemoryVectors
from tests.contract.tools.corpus import CORPUS, EXPENSES, LEAVE
from tests.contract.tools.world import World
from tests.factories import a_document
from tests.patience import PATIENCE_S

TWINS = [a_document(f"副本{number}.md", *["同一句话，出现多次。"] * 8) for number in range(4)]


QUERIES = ("年假 economy", "同一句话", "ERR_TIMEOUT", "？！")
CALLERS = (OWNER, Access(labels=frozenset({"staff"})))


def test_the_embedded_engine_finds_what_the_reference_finds(tmp_path: Path) -> None:
    reference = World(tmp_path / "reference", MemoryVectors())
    embedded = World(tmp_path / "embedded", EdgeVectors(tmp_path / "engine"))

    assert _answers(embedded) == _answers(reference)


def test_equal_scores_come_in_the_same_order_in_another_process(tmp_path: Path) -> None:
    world = World(tmp_path, EdgeVectors(tmp_path / "engine"))
    world.publish(*CORPUS, *TWINS)

    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as other:
        there = other.submit(_found_in, tmp_path)

        assert _found_in(tmp_path) == there.result(timeout=PATIENCE_S)


def _found_in(folder: Path) -> list[list[str]]:
    world = World(folder, EdgeVectors(folder / "engine"))
    return [world.call("search_blocks", {"query": query}).block_ids() for query in QUERIES]


def _answers(world: World) -> list[list[str]]:
    """Every call opens the collection anew."""
    published = world.publish(*CORPUS, *TWINS)
    scope = [published.doc_id(one.key) for one in (LEAVE, EXPENSES, *TWINS)]
    return [
        world.call("search_blocks", {"query": query} | narrow, access=access).block_ids()
        for query in QUERIES
        for access in CALLERS
        for narrow in ({}, {"doc_ids": scope})
    ]
