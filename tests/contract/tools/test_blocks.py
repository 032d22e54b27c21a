import pytest

from shared.access import OWNER
from shared.errors import NotFound
from tests.contract.tools.corpus import EXPENSES, LEAVE
from tests.contract.tools.world import World
from tests.factories import NOW_MS, a_document
from tests.promises import promise


def test_a_block_page_shows_the_block_in_its_place(world: World) -> None:
    published = world.publish(LEAVE, EXPENSES)
    blocks = published.blocks(LEAVE.key)

    view = world.run(lambda library: library.block(blocks[2].block_id, OWNER))

    assert (view.block, view.before, view.after) == (blocks[2], tuple(blocks[:2]), tuple(blocks[3:5]))
    assert view.document == published.documents[0]
    assert view.section == published.contents[0].sections[1]
    assert (view.snapshot_id, view.in_active_snapshot, view.active_version) == (published.snapshot_id, True, 1)


def test_neighbours_end_where_the_document_ends(world: World) -> None:
    published = world.publish(LEAVE, EXPENSES)
    blocks = published.blocks(EXPENSES.key)

    first = world.run(lambda library: library.block(blocks[0].block_id, OWNER, neighbours=1))
    last = world.run(lambda library: library.block(blocks[2].block_id, OWNER, neighbours=10))

    assert (first.before, first.after) == ((), (blocks[1],))
    assert (last.before, last.after) == (tuple(blocks[:2]), ())


@promise("P6")
def test_a_block_of_an_older_version_still_opens_and_says_so(world: World) -> None:
    first = world.publish(a_document("通知.md", "旧内容。", title="旧标题"))
    second = world.publish(a_document("通知.md", "新内容。", title="新标题"), now_ms=NOW_MS + 1)
    [old], [new] = first.blocks(), second.blocks()

    view = world.run(lambda library: library.block(old.block_id, OWNER))

    assert (view.block, view.document.title, view.snapshot_id) == (old, "旧标题", first.snapshot_id)
    assert (view.in_active_snapshot, view.active_version) == (False, 2)
    assert world.run(lambda library: library.block(new.block_id, OWNER)).in_active_snapshot


def test_a_block_of_a_removed_document_still_opens(world: World) -> None:
    first = world.publish(LEAVE, EXPENSES)
    world.publish(EXPENSES, now_ms=NOW_MS + 1)

    view = world.run(lambda library: library.block(first.blocks(LEAVE.key)[0].block_id, OWNER))

    assert (view.in_active_snapshot, view.active_version) == (False, None)


def test_a_block_that_is_in_no_published_snapshot_is_unknown(world: World) -> None:
    world.publish(LEAVE)

    for wanted in ("zzzzzzzz.v1#0", "not an id", "", "中文"):
        with pytest.raises(NotFound):
            world.run(lambda library, wanted=wanted: library.block(wanted, OWNER))


def test_a_block_page_needs_neither_an_active_snapshot_nor_its_collection(world: World) -> None:
    published = world.publish(LEAVE, activate=False)
    world.vectors.drop(published.snapshot_id)
    block = published.blocks()[0]

    view = world.run(lambda library: library.block(block.block_id, OWNER))

    assert (view.block, view.snapshot_id) == (block, published.snapshot_id)
    assert (view.in_active_snapshot, view.active_version) == (False, None)
