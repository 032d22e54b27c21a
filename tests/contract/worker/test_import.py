"""Imports from files to an active snapshot, undisturbed."""

import io
import subprocess
import zipfile

from msgspec.structs import replace

from shared.blobs import Blobs
from shared.catalog.imports import retry
from shared.catalog.snapshots import active_snapshot_id, get_manifest, list_snapshots, snapshot_documents
from shared.embeddings.fake import FakeEmbedder, word_vectors
from shared.ids import BlockId, ImportId
from shared.types.documents import Source
from shared.types.imports import ImportRequest, SourceSpec, Upload
from shared.vectors.port import Filter
from tests.contract.worker.workshop import LosingVectors, Workshop
from tests.factories import nest

ZH = "# 安全规程\n进入车间必须佩戴安全帽。"
EN = "# Pumps\nThe pump must be vented before start."


def test_a_folder_becomes_a_snapshot_that_answers(shop: Workshop) -> None:
    shop.write(规程=ZH, manual__pumps=EN)
    done = shop.run()
    snapshot = shop.active()
    assert (done.state, done.snapshot_id, snapshot.state) == ("completed", snapshot.snapshot_id, "ready")
    assert shop.members() == {"规程.md": 1, "manual/pumps.md": 1}
    assert done.progress.by_state == {"indexed": 2}
    assert done.progress.blocks == done.progress.blocks_embedded == snapshot.blocks > 0
    assert done.progress.provider_tokens > 0
    facts = get_manifest(shop.db, snapshot.snapshot_id)
    assert [document.doc_id for document in facts.documents] == sorted(
        document.doc_id for document in snapshot_documents(shop.db, snapshot.snapshot_id)
    )
    assert (facts.blocks, facts.index, facts.failed) == (snapshot.blocks, shop.vectors.index, 0)
    assert shop.indexed() == {row[0] for row in shop.db.conn.execute("select block_id from blocks")}


def test_uploads_become_documents_of_the_source_they_name(shop: Workshop) -> None:
    blobs = Blobs(shop.parts.layout.originals)
    uploads = tuple(
        Upload(name=name, sha256=blobs.put(text.encode()), size_bytes=len(text.encode()))
        for name, text in (("规程/安全.md", ZH), ("pumps.md", EN))
    )
    shop.run(ImportRequest(uploads=uploads, source=SourceSpec(label="车间", access=("staff",))))
    documents = snapshot_documents(shop.db, shop.active().snapshot_id)
    assert {(document.source_label, document.key, document.access) for document in documents} == {
        ("车间", "规程/安全.md", ("staff",)),
        ("车间", "pumps.md", ("staff",)),
    }
    collection = shop.vectors.open(shop.active().snapshot_id, files={})
    vector = word_vectors(["安全帽"], shop.embedder.dimensions)[0]
    assert collection.dense(vector, within=Filter(access=frozenset({"guest"})), limit=9) == []
    assert len(collection.dense(vector, within=Filter(access=frozenset({"staff"})), limit=9)) == shop.active().blocks


def test_one_broken_file_fails_alone_with_its_reason(shop: Workshop) -> None:
    shop.write(a=ZH, b="#!broken", c="")
    done = shop.run()
    snapshot = shop.active()
    assert (done.state, snapshot.state, shop.members()) == ("completed", "ready_partial", {"a.md": 1})
    assert [(gap.key, gap.stage, gap.code, gap.attempts) for gap in snapshot.failed_documents] == [
        ("b.md", "parse", "corrupt", 1),
        ("c.md", "chunk", "empty", 1),
    ]
    assert done.failed_documents == snapshot.failed_documents
    assert done.failed_documents[0].reason == "文件已损坏"


def test_an_import_without_a_usable_document_fails_and_the_old_snapshot_stays(shop: Workshop) -> None:
    shop.write(a=ZH)
    before = shop.run().snapshot_id
    other = shop.files.parent / "坏的"
    other.mkdir()
    (other / "x.md").write_text("#!broken")
    failed = shop.run(ImportRequest(paths=(str(other),)))
    assert (failed.state, failed.failure_code, failed.snapshot_id) == ("failed", "no_usable_document", None)
    assert active_snapshot_id(shop.db) == before
    assert len(list_snapshots(shop.db)) == 1


def test_an_import_that_finds_nothing_fails_and_says_so(shop: Workshop) -> None:
    (shop.files / ".DS_Store").write_bytes(b"junk")
    failed = shop.run()
    assert (failed.state, failed.failure_code) == ("failed", "no_documents")


def test_a_too_large_file_is_not_even_copied(shop: Workshop) -> None:
    shop.write(a=ZH, big="大" * 5_000)
    shop.run()
    (gap,) = shop.active().failed_documents
    assert (gap.key, gap.stage, gap.code) == ("big.md", "discover", "too_large")


def test_unchanged_documents_are_carried_over_without_parsing_or_embedding(shop: Workshop) -> None:
    shop.write(a=ZH, b=EN)
    shop.run()
    parsed, bought = list(shop.parser.parsed), list(shop.bought())
    shop.write(b=f"{EN}\nAnd cooled after stop.", c="# 新\n新增的一段。")
    done = shop.run()
    assert shop.members() == {"a.md": 1, "b.md": 2, "c.md": 1}
    assert done.progress.by_state == {"unchanged": 1, "indexed": 2}
    assert sorted(shop.parser.parsed[len(parsed) :]) == ["b.md", "c.md"]
    assert not set(shop.bought()[len(bought) :]) & set(bought)
    assert len(shop.indexed()) == shop.active().blocks


def test_an_import_that_changes_nothing_completes_without_a_new_snapshot(shop: Workshop) -> None:
    shop.write(a=ZH, b="#!broken")
    first = shop.run()
    again = shop.run()
    assert (again.state, again.snapshot_id) == ("completed", first.snapshot_id)
    assert [snapshot.snapshot_id for snapshot in list_snapshots(shop.db)] == [first.snapshot_id]


def test_changed_labels_make_a_new_snapshot_of_the_same_versions(shop: Workshop) -> None:
    shop.write(a=ZH)
    first = shop.run()
    second = shop.run(ImportRequest(paths=(str(shop.files),), source=SourceSpec(access=("hr",))))
    (document,) = snapshot_documents(shop.db, shop.active().snapshot_id)
    assert second.snapshot_id != first.snapshot_id
    assert (document.version, document.access) == (1, ("hr",))
    assert len(shop.parser.parsed) == 1


def test_add_carries_on_the_gaps_it_does_not_fill(shop: Workshop) -> None:
    shop.write(a=ZH, b="#!broken", c="#!broken")
    shop.run()
    shop.write(b=EN)
    shop.run(ImportRequest(paths=(str(shop.files / "b.md"),)))
    assert shop.members() == {"a.md": 1, "b.md": 1}
    assert [gap.key for gap in shop.active().failed_documents] == ["c.md"]


def test_a_file_that_was_saved_broken_keeps_its_old_version_beside_the_gap(shop: Workshop) -> None:
    shop.write(a=ZH, b=EN)
    shop.run()
    shop.write(a="#!broken", b=f"{EN} Twice.")
    shop.run()
    assert shop.members() == {"a.md": 1, "b.md": 2}
    assert [gap.key for gap in shop.active().failed_documents] == ["a.md"]


def test_a_folder_that_came_to_be_empty_takes_nothing_out_until_that_is_said(shop: Workshop) -> None:
    """A disk that isn't mounted leaves an empty folder behind; another folder in the same request is no reason to believe it."""
    other = shop.files.parent / "别处"
    other.mkdir()
    (other / "甲.md").write_text(ZH, encoding="utf-8")
    shop.write(a=ZH, b=EN)
    both = ImportRequest(mode="sync", paths=(str(shop.files), str(other)))
    before = shop.run(both).snapshot_id
    for name in ("a.md", "b.md"):
        (shop.files / name).rename(shop.files / f".{name}")
    for request in (both, ImportRequest(mode="sync", paths=(str(shop.files),))):
        refused = shop.run(request)
        assert (refused.state, refused.failure_code) == ("failed", "no_documents")
        assert active_snapshot_id(shop.db) == before
    shop.run(ImportRequest(mode="remove", paths=(str(shop.files),)))
    assert shop.members() == {"甲.md": 1}
    assert shop.run(both).state == "completed"
    (shop.files / ".a.md").rename(shop.files / "a.md")
    assert shop.work(retried(shop, refused.import_id)).state == "completed"
    assert shop.members() == {"甲.md": 1, "a.md": 1}


def retried(shop: Workshop, import_id: ImportId) -> ImportId:
    retry(shop.db, import_id, now_ms=shop.now)
    return import_id


def test_a_folder_with_parts_too_deep_to_name_is_imported_without_them(shop: Workshop) -> None:
    shop.write(a=ZH)
    nest(shop.files, "夹" * 80, 20)
    nest(shop.files, "d", 1_100)
    done = shop.run()
    subprocess.run(["rm", "-r", shop.files], check=True)  # too deep for who clears tmp_path
    assert (done.state, shop.active().state) == ("completed", "ready_partial")
    assert [(gap.stage, gap.code) for gap in done.failed_documents] == [("discover", "unreadable")]
    assert sorted(key.rpartition("/")[2] for key in shop.members()) == ["a.md", "深.md"]


def test_sync_takes_out_what_is_gone_and_leaves_other_sources_alone(shop: Workshop) -> None:
    shop.write(a=ZH, b=EN)
    shop.run()
    other = shop.files.parent / "其他"
    other.mkdir()
    (other / "z.md").write_text("# 别处\n另一个来源。", encoding="utf-8")
    shop.run(ImportRequest(paths=(str(other),)))
    (shop.files / "a.md").unlink()
    shop.run(ImportRequest(mode="sync", paths=(str(shop.files),)))
    assert shop.members() == {"b.md": 1, "z.md": 1}


def test_remove_takes_documents_out_without_looking_at_the_disk(shop: Workshop) -> None:
    shop.write(a=ZH, b=EN, 章__c="# 三\n第三份。")
    shop.run()
    for path in ("a.md", "章"):
        shop.run(ImportRequest(mode="remove", paths=(str(shop.files / path),)))
    assert shop.members() == {"b.md": 1}
    shop.run(ImportRequest(mode="remove", paths=(str(shop.files),)))
    assert (shop.members(), shop.active().state) == ({}, "ready")


def test_reindex_makes_new_versions_only_where_the_lineage_changed(shop: Workshop) -> None:
    shop.write(a=ZH, b=EN)
    first = shop.run()
    assert shop.run(ImportRequest(mode="reindex")).snapshot_id == first.snapshot_id

    def lineage(_source: Source) -> str:
        return "newer"

    newer = replace(shop.parts.chunking, lineage=lineage)
    shop.work(shop.ask(ImportRequest(mode="reindex")), chunking=newer)
    assert shop.members() == {"a.md": 2, "b.md": 2}
    assert sorted(shop.parser.parsed) == ["a.md", "b.md"]  # the parse checkpoints still hold


def test_another_embedder_embeds_everything_anew_because_one_snapshot_has_one_space(shop: Workshop) -> None:
    shop.write(a=ZH, b=EN)
    shop.run()
    other = FakeEmbedder(32, version="fake:other")
    shop.write(c="# 丙\n第三份。")
    shop.work(shop.ask(ImportRequest(paths=(str(shop.files / "c.md"),))), embedder=other)
    assert shop.active().embedding_version == "fake:other"
    assert len(other.passages) == shop.active().blocks


def test_a_snapshot_is_published_but_not_activated_when_so_asked(shop: Workshop) -> None:
    shop.write(a=ZH)
    first = shop.run()
    shop.write(b=EN)
    second = shop.run(ImportRequest(paths=(str(shop.files),), activate=False))
    assert (second.state, active_snapshot_id(shop.db)) == ("completed", first.snapshot_id)
    assert second.snapshot_id not in (None, first.snapshot_id)


def test_a_file_inside_a_known_folder_is_the_same_document(shop: Workshop) -> None:
    shop.write(章__a=ZH)
    shop.run()
    shop.write(章__a=f"{ZH}\n并系好下颌带。")
    shop.run(ImportRequest(paths=(str(shop.files / "章" / "a.md"),)))
    assert shop.members() == {"章/a.md": 2}


def test_the_next_import_builds_on_the_snapshot_that_became_active_meanwhile(shop: Workshop) -> None:
    shop.write(a=ZH)
    shop.run()
    late = shop.files / "b.md"
    late.write_text(EN, encoding="utf-8")
    other = shop.files.parent / "其他"
    other.mkdir()
    (other / "z.md").write_text("# 别处\n另一个来源。", encoding="utf-8")
    shop.before_build = lambda: shop.now_also(ImportRequest(paths=(str(other),)))
    done = shop.run(ImportRequest(paths=(str(late),)))
    assert done.state == "completed"
    assert shop.members() == {"a.md": 1, "b.md": 1, "z.md": 1}
    assert shop.vectors.names() == sorted(snapshot.snapshot_id for snapshot in list_snapshots(shop.db))
    assert len(shop.bought()) == len(set(shop.bought()))


def test_a_collection_that_fails_a_check_is_never_published(shop: Workshop) -> None:
    shop.write(a=ZH)
    first = shop.run()
    shop.write(b=EN)
    lost = BlockId(min(shop.indexed()))
    shop.vectors = LosingVectors(shop.vectors, {lost})
    failed = shop.work(shop.ask(), vectors=shop.vectors)
    assert (failed.state, failed.failure_code, active_snapshot_id(shop.db)) == (
        "failed",
        "seal_failed",
        first.snapshot_id,
    )
    broken = list_snapshots(shop.db)[0]
    assert (broken.state, (broken.failure or "").split(":")[0]) == ("failed", "count")
    assert shop.vectors.names() == [first.snapshot_id]


def test_a_lost_embedding_cache_costs_nothing_for_what_the_last_snapshot_holds(shop: Workshop) -> None:
    shop.write(a=ZH, b=EN)
    shop.run()
    bought = list(shop.bought())
    shop.cache = shop.fresh_cache()
    shop.write(c="# 丙\n第三份。")
    done = shop.work(shop.ask(), cache=shop.cache)
    assert (done.state, shop.active().documents) == ("completed", 3)
    assert len(shop.bought()) == len(bought) + 1


def test_a_lost_embedding_cache_and_a_lost_collection_cost_the_embeddings_again_and_nothing_else(
    shop: Workshop,
) -> None:
    shop.write(a=ZH, b=EN)
    shop.run()
    bought = list(shop.bought())
    shop.cache = shop.fresh_cache()
    shop.vectors.drop(shop.active().snapshot_id)
    shop.write(c="# 丙\n第三份。")
    done = shop.work(shop.ask(), cache=shop.cache)
    assert (done.state, shop.active().documents) == ("completed", 3)
    assert set(bought) < set(shop.bought()[len(bought) :])


def test_every_file_in_a_zip_is_a_document_whatever_code_page_its_name_is_in(shop: Workshop) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("考勤/请假.md", ZH)
        archive.writestr("__MACOSX/考勤/._请假.md", b"junk")
        archive.writestr("big.md", "大" * 5_000)
    (shop.files / "制度.ZIP").write_bytes(packed.getvalue())
    (shop.files / "broken.zip").write_bytes(packed.getvalue()[:90])
    shop.run()
    assert shop.members() == {"制度.ZIP/考勤/请假.md": 1}
    assert [(gap.key, gap.code) for gap in shop.active().failed_documents] == [
        ("broken.zip", "corrupt"),
        ("制度.ZIP/big.md", "too_large"),
    ]
    shop.run(ImportRequest(mode="remove", paths=(str(shop.files / "制度.ZIP"),)))
    assert shop.members() == {}
