"""What turns one collection into the next."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from shared.types.snapshots import SnapshotDocument
from tests.unit.worker.test_target import a_member
from worker.stages.index import change, worth_copying


def member(key: str, version: int, access: tuple[str, ...], title: str) -> SnapshotDocument:
    return replace(a_member(key, version=version), access=access, title=title)


members = st.lists(
    st.builds(
        member,
        st.sampled_from(["甲.md", "b.md", "丙.md", "d.md"]),
        st.integers(1, 2),
        st.sampled_from([(), ("人事",)]),
        st.sampled_from(["手册", "manual"]),
    ),
    unique_by=lambda one: one.doc_id,
)


def indexed(documents: list[SnapshotDocument]) -> set[tuple[str, int, tuple[str, ...]]]:
    """What of a document is in the collection."""
    return {(one.doc_id, one.version, one.access) for one in documents}


@given(old=members, new=members)
def test_taking_out_and_adding_makes_the_one_of_the_other_and_touches_nothing_that_stays(
    old: list[SnapshotDocument], new: list[SnapshotDocument]
) -> None:
    todo = change(old, new)
    assert (indexed(old) - indexed(list(todo.leaving))) | indexed(list(todo.coming)) == indexed(new)
    assert not indexed(list(todo.leaving)) & indexed(new)
    assert not indexed(list(todo.coming)) & indexed(old)


def test_a_base_is_copied_unless_it_is_empty_or_most_of_it_goes() -> None:
    documents = [replace(a_member(f"{number}.md"), blocks=10) for number in range(4)]
    assert [worth_copying(documents, documents[:leaving]) for leaving in range(5)] == [True, True, True, False, False]
    assert not worth_copying([], [])
