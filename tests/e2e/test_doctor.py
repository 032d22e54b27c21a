"""The doctor: works when nothing runs, names what is broken, gives nothing away."""

import shutil
import socket
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest

from scripts.citebound.commands.doctor import examine
from scripts.citebound.doctor.check import Check
from shared.embeddings.fake import FakeEmbedder
from shared.embeddings.open import open_embedder
from shared.ids import SnapshotId
from shared.layout import Layout
from shared.settings import EmbeddingSettings, QdrantSettings
from shared.vectors.open import open_vectors
from tests.doubles.provider import Fault, provider_double
from tests.factories import NOW_MS, a_document, publish

pytestmark = pytest.mark.slow


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, str]:
    return {"CITEBOUND_DATA_DIR": str(tmp_path / "资料"), "CITEBOUND_API_PORT": "0"}


def states(checks: Iterable[Check]) -> dict[str, str]:
    return {check.name: check.state for check in checks}


def test_a_fresh_machine_is_missing_things_and_nothing_is_broken(settings: dict[str, str]) -> None:
    assert states(examine(settings, online=False)) == {
        "machine": "ok",
        "settings": "ok",
        "set": "ok",
        "data folder": "missing",
        "disk": "ok",
        "running": "missing",
        "port": "ok",
        "broker": "ok",
        "vectors": "ok",
        "embeddings": "ok",
        "rerank": "ok",
        "chat model": "note",
        "catalog": "missing",
    }
    assert not Path(settings["CITEBOUND_DATA_DIR"]).exists()


def test_a_wrong_setting_is_broken_and_the_rest_is_still_looked_at(settings: dict[str, str]) -> None:
    found = states(examine({**settings, "CITEBOUND_CHAT_MODLE": "通义"}, online=False))
    assert found["settings"] == "broken"
    assert found["disk"] == "ok"


def test_what_does_not_answer_is_broken_with_a_remedy(settings: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        env = {**settings, "CITEBOUND_API_PORT": str(port)}
    free = port  # nobody listens there any more
    with socket.create_server(("127.0.0.1", 0)) as other:
        env["CITEBOUND_API_PORT"] = str(other.getsockname()[1])
        env["CITEBOUND_BROKER_URL"] = f"redis://127.0.0.1:{free}/0"
        env["CITEBOUND_QDRANT_URL"] = f"http://127.0.0.1:{free}"
        broken = [check for check in examine(env, online=False) if check.state == "broken"]
    assert [check.name for check in broken] == ["port", "broker", "vectors"]
    assert all(check.remedy for check in broken)


def test_a_provider_is_called_only_online_and_its_refusal_is_told_without_the_key(settings: dict[str, str]) -> None:
    with provider_double() as provider:
        env = {
            **settings,
            "CITEBOUND_CHAT_BASE_URL": provider.base_url,
            "CITEBOUND_CHAT_MODEL": "通义",
            "CITEBOUND_CHAT_API_KEY": "sk-geheim",
        }
        assert states(examine(env, online=False))["chat model"] == "note"
        assert provider.requests == []
        assert states(examine(env, online=True))["chat model"] == "ok"
        provider.script(Fault(status=401, code="invalid_api_key", message="wrong key sk-geheim"))
        refused = list(examine(env, online=True))
    assert states(refused)["chat model"] == "broken"
    assert "sk-geheim" not in str(refused)


@pytest.mark.parametrize("damage", ["no database at all", "pages overwritten", "a schema of nobody's"])
def test_a_catalog_that_can_t_be_read_is_broken_and_everything_else_is_looked_at(
    settings: dict[str, str], damage: str
) -> None:
    layout = published(settings)
    whole = layout.catalog.read_bytes()
    with closing(sqlite3.connect(layout.catalog)) as connection:
        match damage:
            case "a schema of nobody's":
                connection.execute("drop table imports")
            case "pages overwritten":
                layout.catalog.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
            case _:
                layout.catalog.write_bytes("不是数据库".encode() * 1000)

    checks = list(examine(settings, online=False))

    found = {check.name: check for check in checks}
    assert found["catalog"].state == "broken"
    assert found["catalog"].remedy
    assert (found["embeddings"].state, found["broker"].state) == ("ok", "ok")


def test_a_snapshot_that_these_settings_can_t_search_is_broken(settings: dict[str, str]) -> None:
    published(settings)  # with the vectors of another model than the settings name

    found = {check.name: check for check in examine(settings, online=False)}

    assert found["snapshot"].state == "ok"
    assert found["collection"].state == "broken"


CHANGE: dict[str, str] = {
    "its rows": "update blocks set text = '改过的。' where doc_id || version in"
    " (select doc_id || version from snapshot_documents where snapshot_id = ?)",
    "its manifest": "update snapshots set manifest = '{}' where snapshot_id = ?",
    "its labels": "update snapshot_documents set trust = 'web' where snapshot_id = ?",
}


def several(settings: dict[str, str], number: int) -> tuple[Layout, list[SnapshotId]]:
    """Snapshots that share no document, oldest first, with the vectors of the model that the settings name."""
    layout = Layout(root=Path(settings["CITEBOUND_DATA_DIR"]))
    vectors = open_vectors(QdrantSettings(), layout.collections)
    bundled = open_embedder(EmbeddingSettings(), threads=1)
    embedder = FakeEmbedder(bundled.dimensions, version=bundled.version)
    bundled.close()
    made = [
        publish(layout, [a_document(f"{n}.md", f"第{n}份。")], vectors=vectors, embedder=embedder, now_ms=NOW_MS + n)
        for n in range(number)
    ]
    return layout, [one.snapshot_id for one in made]


def harm(layout: Layout, snapshot_id: SnapshotId, what: str) -> None:
    if what == "its collection":
        shutil.rmtree(layout.collections / snapshot_id)
        return
    with closing(sqlite3.connect(layout.catalog)) as connection, connection:
        assert connection.execute(CHANGE[what], [snapshot_id]).rowcount > 0


def test_a_sound_library_is_told_so(settings: dict[str, str]) -> None:
    several(settings, 2)
    assert states(examine(settings, online=False))["collection"] == "ok"


@pytest.mark.parametrize("what", ["its collection", *CHANGE])
def test_of_several_damaged_snapshots_the_doctor_names_the_newest_that_answers(
    settings: dict[str, str], what: str
) -> None:
    layout, (oldest, sound, damaged, active) = several(settings, 4)
    harm(layout, active, what)
    harm(layout, damaged, "its collection")

    found = {check.name: check for check in examine(settings, online=False)}["collection"]

    assert found.state == "broken"
    assert active in found.detail
    assert f"activate {sound}" in found.remedy
    assert damaged not in found.remedy
    assert oldest not in found.remedy
    assert "--mode reindex" in found.remedy


def test_when_no_snapshot_answers_the_doctor_says_that_and_sends_nobody_to_one(settings: dict[str, str]) -> None:
    layout, ids = several(settings, 3)
    for snapshot_id, what in zip(ids, ("its rows", "its manifest", "its collection"), strict=True):
        harm(layout, snapshot_id, what)

    found = {check.name: check for check in examine(settings, online=False)}["collection"]

    assert found.state == "broken"
    assert "activate" not in found.remedy
    assert "/手册" in found.remedy  # whose originals are not stored: where to import them from


def published(settings: dict[str, str]) -> Layout:
    layout = Layout(root=Path(settings["CITEBOUND_DATA_DIR"]))
    vectors = open_vectors(QdrantSettings(), layout.collections)
    publish(layout, [a_document("一.md", "一份文档。")], vectors=vectors, embedder=FakeEmbedder())
    return layout


def test_a_damaged_index_of_the_scan_is_named_with_the_command_that_mends_it(settings: dict[str, str]) -> None:
    layout, _ = several(settings, 1)
    with closing(sqlite3.connect(layout.catalog)) as connection, connection:
        connection.execute("delete from scan_index_data")

    found = {check.name: check for check in examine(settings, online=False)}["collection"]

    assert found.state == "broken"
    assert "scan_index" in found.detail
    assert found.remedy == "./scripts/run rebuild-scan-index makes it anew"
