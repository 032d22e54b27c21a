"""A new snapshot costs what changed: its collection begins with the last one, unless that one can't be trusted."""

from collections.abc import Sequence

from msgspec.structs import replace

from shared.ids import BlockId
from shared.text.terms import query_terms
from shared.types.imports import ImportRequest, SourceSpec
from shared.vectors.memory import MemoryVectors
from shared.vectors.port import Base, Builder, Filter, Point, Vectors
from tests.contract.worker.workshop import Workshop

ZH = "# 安全\n进入车间必须佩戴安全帽。\n# 压力\n压力不得超过三兆帕。"
EN = "# Pumps\nVent the pump before start.\n# Valves\nClose the valve after use."


class Watching:
    """Notes what builders are given: `based_on`, and block ids."""

    def __init__(self, engine: Vectors) -> None:
        self.index, self.open, self.names = engine.index, engine.open, engine.names
        self.unfinished, self.drop = engine.unfinished, engine.drop
        self._engine = engine
        self.based_on: list[str | None] = []
        self.added: list[BlockId] = []
        self.removed: list[BlockId] = []

    def build(self, name: str, *, dimensions: int, base: Base | None = None) -> Builder:
        builder = self._engine.build(name, dimensions=dimensions, base=base)
        self.based_on.append(builder.based_on)
        return _WatchedBuilder(builder, self)


class _WatchedBuilder:
    def __init__(self, builder: Builder, watching: Watching) -> None:
        self.based_on, self.block_ids = builder.based_on, builder.block_ids
        self.seal, self.seal_open, self.abandon = builder.seal, builder.seal_open, builder.abandon
        self._builder = builder
        self._watching = watching

    def add(self, points: Sequence[Point]) -> None:
        self._watching.added += [point.block_id for point in points]
        self._builder.add(points)

    def remove(self, block_ids: Sequence[BlockId]) -> None:
        self._watching.removed += block_ids
        self._builder.remove(block_ids)


def watched(shop: Workshop) -> Watching:
    """From now on. Also what `shop.parts.build` uses."""
    watching = Watching(shop.vectors)
    shop.vectors = watching
    shop.parts = replace(shop.parts, vectors=watching)
    return watching


def documents_of(blocks: Sequence[BlockId]) -> set[str]:
    return {block.split("#")[0] for block in blocks}


def test_one_changed_document_is_all_that_is_taken_out_and_added(shop: Workshop) -> None:
    shop.write(a=ZH, b=EN, c="# 丙\n第三份。")
    first = shop.run().snapshot_id
    before = shop.indexed()
    watching = watched(shop)
    shop.write(b=f"{EN}\nAnd cool it.")
    shop.run()
    after = shop.indexed()
    assert watching.based_on == [first]
    assert (set(watching.removed), set(watching.added)) == (before - after, after - before)
    assert len(documents_of(watching.added)) == len(documents_of(watching.removed)) == 1


def test_other_labels_are_in_the_index_although_no_version_changed(shop: Workshop) -> None:
    shop.write(a=ZH)
    shop.run()
    watching = watched(shop)
    shop.run(ImportRequest(paths=(str(shop.files),), source=SourceSpec(access=("人事",))))
    collection = shop.vectors.open(shop.active().snapshot_id, files={})
    found = [
        len(collection.sparse(query_terms("安全帽"), within=Filter(access=labels), limit=5))
        for labels in (frozenset[str](), frozenset({"人事"}))
    ]
    assert found == [0, 1]
    assert sorted(collection.block_ids()) == sorted(watching.added)


def test_a_collection_that_is_gone_or_damaged_is_not_built_on(shop: Workshop) -> None:
    shop.write(a=ZH, b=EN)
    shop.run()
    bought = list(shop.bought())
    shop.vectors.drop(shop.active().snapshot_id)
    watching = watched(shop)
    shop.write(c="# 丙\n第三份。")
    assert shop.run().state == "completed"
    assert watching.based_on == [None]
    assert len(shop.indexed()) == len(set(watching.added)) == shop.active().blocks
    assert len(shop.bought()) == len(bought) + 1


def test_a_base_that_mostly_goes_is_not_copied(shop: Workshop) -> None:
    shop.write(a=ZH, b=EN, c="# 丙\n第三份。")
    shop.run()
    watching = watched(shop)
    shop.run(ImportRequest(mode="remove", paths=(str(shop.files / "a.md"), str(shop.files / "b.md"))))
    assert (watching.based_on, shop.members()) == ([None], {"c.md": 1})
    assert len(shop.indexed()) == shop.active().blocks


def test_an_engine_with_other_parameters_begins_afresh(shop: Workshop) -> None:
    shop.write(a=ZH)
    shop.run()
    shop.vectors = MemoryVectors()
    shop.vectors.index = "another"
    shop.parts = replace(shop.parts, vectors=shop.vectors)
    watching = watched(shop)
    shop.write(b=EN)
    assert shop.run().state == "completed"
    assert watching.based_on == [None]
    assert len(shop.indexed()) == shop.active().blocks
