"""What the next snapshot holds, mode by mode."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from shared.ids import SourceId, doc_id
from shared.types.imports import ImportItem, ImportMode, ItemState
from shared.types.snapshots import FailedDocument, SnapshotDocument
from worker.stages.target import Base, Membership, membership, same_content

MANUALS, RULES = SourceId("manuals"), SourceId("rules")
LABELS = {MANUALS: "手册", RULES: "规程"}


def a_member(key: str, *, version: int = 1, source: SourceId = MANUALS) -> SnapshotDocument:
    return SnapshotDocument(
        doc_id=doc_id(source, key),
        version=version,
        title=key,
        source_id=source,
        source_label=LABELS[source],
        key=key,
        aliases=(),
        lang="zh",
        trust="internal",
        access=(),
        tags=(),
        media_type="text/markdown",
        updated_at_ms=1,
        sections=1,
        blocks=2,
        tokens=20,
        artifact_sha256="ab",
    )


def an_item(key: str, state: ItemState = "embedded", *, source: SourceId = MANUALS) -> ImportItem:
    item = ImportItem(ordinal=0, source_id=source, key=key, state=state, original_sha256="aa", size_bytes=1)
    if state != "failed":
        return item
    return replace(item, attempts=1, failed_stage="parse", failure_code="corrupt", failure_reason="文件已损坏")


def a_gap(key: str, *, source: SourceId = MANUALS) -> FailedDocument:
    return FailedDocument(
        source_label=LABELS[source],
        key=key,
        stage="parse",
        code="corrupt",
        reason="文件已损坏",
        attempts=1,
        retryable=False,
    )


def decide(
    base: Base,
    mode: ImportMode,
    *,
    made: Sequence[SnapshotDocument] = (),
    items: Sequence[ImportItem] = (),
    about: str = "",
) -> Membership:
    """The request is about the manuals whose key begins with `about`."""

    def covers(source_id: SourceId, key: str) -> bool:
        return source_id == MANUALS and key.startswith(about)

    return membership(base, mode=mode, made=made, items=items, covers=covers, labels=LABELS)


BASE = Base(
    members=(a_member("甲.md"), a_member("b.md"), a_member("甲.md", source=RULES)),
    failures=(a_gap("坏的.pdf"), a_gap("broken.pdf", source=RULES)),
)


def keys(decided: Membership) -> set[tuple[str, str, int]]:
    return {(member.source_label, member.key, member.version) for member in decided.members}


def gaps(decided: Membership) -> list[tuple[str, str]]:
    return [(gap.source_label, gap.key) for gap in decided.failures]


def test_add_replaces_what_it_made_and_keeps_the_rest() -> None:
    decided = decide(
        BASE, "add", made=[a_member("b.md", version=2), a_member("新.md")], items=[an_item("b.md"), an_item("新.md")]
    )
    assert keys(decided) == {("手册", "甲.md", 1), ("手册", "b.md", 2), ("手册", "新.md", 1), ("规程", "甲.md", 1)}
    assert gaps(decided) == [("手册", "坏的.pdf"), ("规程", "broken.pdf")]


def test_a_gap_that_the_import_fills_or_finds_again_is_not_carried_on() -> None:
    filled = decide(BASE, "add", made=[a_member("坏的.pdf")], items=[an_item("坏的.pdf")])
    again = decide(BASE, "add", items=[an_item("坏的.pdf", "failed")])
    assert gaps(filled) == [("规程", "broken.pdf")]
    assert gaps(again) == [("手册", "坏的.pdf"), ("规程", "broken.pdf")]


def test_a_document_that_failed_keeps_its_old_version_beside_the_gap() -> None:
    decided = decide(BASE, "add", items=[an_item("b.md", "failed")])
    assert ("手册", "b.md", 1) in keys(decided)
    assert decided.failures[0] == a_gap("b.md")


def test_sync_takes_out_what_is_gone_from_what_it_is_about_and_nothing_else() -> None:
    decided = decide(BASE, "sync", made=[a_member("b.md")], items=[an_item("b.md", "unchanged")])
    assert keys(decided) == {("手册", "b.md", 1), ("规程", "甲.md", 1)}
    assert gaps(decided) == [("规程", "broken.pdf")]


def test_sync_keeps_what_lies_in_a_folder_that_could_not_be_read() -> None:
    base = Base(members=(a_member("锁/a.md"), a_member("锁定.md")))
    locked = replace(an_item("锁", "failed"), failed_stage="discover", failure_code="unreadable")
    assert keys(decide(base, "sync", items=[locked])) == {("手册", "锁/a.md", 1)}


def test_remove_takes_out_what_it_is_about_with_its_gaps() -> None:
    decided = decide(BASE, "remove", about="")
    assert (keys(decided), gaps(decided)) == ({("规程", "甲.md", 1)}, [("规程", "broken.pdf")])
    assert ("手册", "甲.md", 1) in keys(decide(BASE, "remove", about="b"))


def test_the_same_members_and_gaps_are_the_same_content_whatever_the_attempts() -> None:
    again = decide(BASE, "add", items=[replace(an_item("坏的.pdf", "failed"), attempts=3)])
    stored = sorted(BASE.members, key=lambda member: member.doc_id)
    assert same_content(again, BASE, stored)
    relabelled = [replace(stored[0], access=("hr",)), *stored[1:]]
    assert not same_content(again, BASE, relabelled)
    assert not same_content(decide(BASE, "add", items=[an_item("b.md", "failed")]), BASE, stored)


KEYS = st.lists(st.sampled_from(["甲.md", "b.md", "丙.md", "d/e.md", "章/f.md"]), unique=True)


@given(there=KEYS, made=KEYS, failed=KEYS, mode=st.sampled_from(["add", "sync", "remove", "reindex"]))
def test_every_member_is_complete_and_listed_once(
    there: list[str], made: list[str], failed: list[str], mode: ImportMode
) -> None:
    base = Base(members=[a_member(key) for key in there])
    fine = [key for key in made if key not in failed]
    items = [*(an_item(key) for key in fine), *(an_item(key, "failed") for key in failed)]
    decided = decide(base, mode, made=[a_member(key, version=2) for key in fine], items=items, about="d/")
    found = [member.doc_id for member in decided.members]
    assert found == sorted(set(found))
    for member in decided.members:
        assert member.key in fine if member.version == 2 else member.key in there
    assert set(fine) <= {member.key for member in decided.members}
    if mode in ("add", "reindex"):
        assert set(there) <= {member.key for member in decided.members}
    assert {gap.key for gap in decided.failures} == set(failed)
