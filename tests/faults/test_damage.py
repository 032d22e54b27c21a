"""What was published and is changed afterwards answers no more; everything else does, and the doctor says what to do."""

import asyncio
import hashlib
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
from pathlib import Path

import httpx
import pytest
from msgspec import Struct

from api.retrieval.library import Library
from scripts.citebound.commands.doctor import examine
from shared.access import OWNER
from shared.catalog.snapshots import active_snapshot_id, list_snapshots
from shared.embeddings.fake import FakeEmbedder
from shared.errors import CollectionUnavailable
from shared.ids import SnapshotId
from shared.layout import Layout
from shared.settings import QdrantSettings, WorkerSettings
from shared.types.imports import ImportRequest
from shared.vectors.open import open_vectors
from shared.vectors.sealed import REWRITTEN
from tests.contract.worker.workshop import Workshop
from tests.doubles.provider import Provider, provider_double
from tests.faults.processes import BOUND_S
from tests.faults.site import Site
from tests.faults.test_surroundings import await_api, listening
from tests.faults.world import Row, World
from tests.promises import promise
from worker.parsers import Parsed
from worker.stages.lineage import chunking
from worker.stages.parse import AT_ONCE

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]


class Two(Struct, frozen=True):
    """A data folder with two published snapshots; the second, which answers, has one document more."""

    folder: Path
    env: dict[str, str]
    older: SnapshotId
    active: SnapshotId


@pytest.fixture(scope="module")
def two(world: World) -> Generator[Two]:
    with provider_double() as provider, world.site(provider.base_url) as site:
        files = site.layout.root.with_name("growing")
        shutil.copytree(world.library, files)
        worker = site.worker()
        for name in ("", "新.md"):
            if name:
                (files / name).write_text("# 新文件\n\n备用水泵 P-2099 存放在三号库房。\n", encoding="utf-8")
            import_id = site.ask(ImportRequest(paths=(str(files),)))
            site.await_state(import_id, "completed")
        assert worker.ask_to_stop() == 0
        active, older = (snapshot.snapshot_id for snapshot in list_snapshots(site.db))
        assert active == active_snapshot_id(site.db)
        yield Two(site.layout.root, site.env, older, active)


def one_byte(two: Two, layout: Layout) -> None:
    path = next(path for path in sealed_files(layout, two.active) if path.stat().st_size > 100)
    change_a_byte(path)


def a_missing_file(two: Two, layout: Layout) -> None:
    sealed_files(layout, two.active)[-1].unlink()


def a_truncated_file(two: Two, layout: Layout) -> None:
    path = max(sealed_files(layout, two.active), key=lambda path: path.stat().st_size)
    with path.open("rb+") as file:
        file.truncate(path.stat().st_size // 2)


def a_missing_collection(two: Two, layout: Layout) -> None:
    shutil.rmtree(layout.collections / two.active)


def a_changed_manifest(two: Two, layout: Layout) -> None:
    change(layout, "update snapshots set manifest = replace(manifest, '\"failed\":1', '\"failed\":0')", two.active)


def a_lost_document(two: Two, layout: Layout) -> None:
    change(
        layout,
        "delete from snapshot_documents",
        two.active,
        "and doc_id = (select max(doc_id) from snapshot_documents)",
    )


DAMAGES: dict[str, Callable[[Two, Layout], None]] = {
    "one byte of a collection file": one_byte,
    "a missing collection file": a_missing_file,
    "a truncated collection file": a_truncated_file,
    "a missing collection": a_missing_collection,
    "a changed manifest": a_changed_manifest,
    "a lost member": a_lost_document,
}


@pytest.fixture(params=DAMAGES)
def damage(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def damaged(two: Two, damage: str, tmp_path: Path) -> Layout:
    """A copy of the folder in which the active snapshot is damaged."""
    layout = Layout(root=tmp_path / "data")
    subprocess.run(["cp", "-a", "--sparse=always", two.folder, layout.root], check=True)
    DAMAGES[damage](two, layout)
    return layout


def sealed_files(layout: Layout, snapshot: SnapshotId) -> list[Path]:
    folder = layout.collections / snapshot
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name not in REWRITTEN)


def change(layout: Layout, sql: str, snapshot: SnapshotId, more: str = "") -> None:
    connection = sqlite3.connect(layout.catalog)
    with connection:
        changed = connection.execute(f"{sql} where snapshot_id = ? {more}", [snapshot]).rowcount
    connection.close()
    assert changed == 1


def documents_in(layout: Layout, snapshot: SnapshotId | None) -> int:
    """Opened and verified as the API does it. Raises: CollectionUnavailable."""

    async def look() -> int:
        vectors = open_vectors(QdrantSettings(), layout.collections)
        library = Library(layout=layout, vectors=vectors, embedder=FakeEmbedder())
        try:
            async with await library.pin(snapshot, OWNER) as pinned:
                return pinned.snapshot.documents
        finally:
            await library.close()

    return asyncio.run(look())


@promise("P8")
def test_exactly_the_damaged_snapshot_is_unavailable_and_the_doctor_says_what_to_do(
    two: Two, damaged: Layout, damage: str, world: World
) -> None:
    with pytest.raises(CollectionUnavailable) as refused:
        documents_in(damaged, None)
    assert two.active in refused.value.ids
    assert documents_in(damaged, two.older) == 5
    env = {**two.env, "CITEBOUND_DATA_DIR": str(damaged.root)}
    (found,) = [check for check in examine(env, online=False) if check.name == "collection"]
    assert found.state == "broken"
    assert two.active in found.detail
    assert two.older in found.remedy
    assert "import" in found.remedy
    world.table.append(Row(fault="damage", where=damage, result="refused, the older one answers", bought_twice=0))


@promise("P8")
@pytest.mark.parametrize("damage", ["one byte of a collection file"], indirect=True)
def test_over_http_the_damaged_snapshot_is_refused_with_the_reason_until_another_one_is_activated(
    two: Two, damaged: Layout, world: World
) -> None:
    with provider_double() as provider, site_at(world, damaged, provider) as site, listening() as (line, port):
        api = site.api(line)
        address = f"http://127.0.0.1:{port}"
        with httpx.Client(trust_env=False, timeout=BOUND_S) as http:
            await_api(api, http, port)
            ready = http.get(f"{address}/readyz")
            assert ready.status_code == 503
            assert two.active in ready.json()["parts"]["snapshot"]["detail"]
            scan = {"term": "P-1042"}
            refused = http.post(f"{address}/api/tools/scan_term", json=scan)
            assert (refused.status_code, refused.json()["code"]) == (503, "collection_unavailable")
            older = http.post(f"{address}/api/tools/scan_term", params={"snapshot_id": two.older}, json=scan)
            assert "P-1042" in older.text
            assert http.post(f"{address}/api/snapshots/{two.older}/activate").is_success
            assert "P-1042" in http.post(f"{address}/api/tools/scan_term", json=scan).text
            assert http.get(f"{address}/readyz").status_code == 200
        assert api.ask_to_stop() == 0


@promise("P9")
@pytest.mark.parametrize(
    "damage", ["one byte of a collection file", "a missing collection file", "a missing collection"], indirect=True
)
def test_importing_the_same_files_again_mends_a_damaged_collection(
    two: Two, damaged: Layout, damage: str, world: World
) -> None:
    with provider_double() as provider, site_at(world, damaged, provider) as site:
        worker = site.worker()
        import_id = site.ask(ImportRequest(paths=(str(two.folder.with_name("growing")),)))
        done = site.await_state(import_id, "completed")
        assert worker.ask_to_stop() == 0
        assert done.snapshot_id not in (two.active, two.older)
        assert documents_in(damaged, None) == 6
        assert provider.embedded.total() == 0
        world.table.append(Row(fault="damage", where=damage, result="mended by importing again", bought_twice=0))


@pytest.fixture
def shop(tmp_path: Path) -> Generator[Workshop]:
    shop = Workshop(tmp_path)
    yield shop
    shop.close()


def change_a_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@promise("P8")
def test_an_original_that_was_changed_is_not_read_as_if_nothing_had_happened(shop: Workshop) -> None:
    names = [f"d{number}" for number in range(AT_ONCE + 1)]  # the last one's turn comes when the first was read
    last = names[-1]
    shop.write(**{name: f"# {name}\n水泵 P-{name}。" for name in names})
    import_id = shop.ask()
    originals = shop.parts.blobs
    original = originals.path(hashlib.sha256((shop.files / f"{last}.md").read_bytes()).hexdigest())

    class Meddling:
        """Changes the last original while the first is read."""

        def parse(self, path: Path, *, name: str) -> Parsed:
            if name == f"{names[0]}.md":
                change_a_byte(original)
            return shop.parser.parse(path, name=name)

    done = shop.work(import_id, parser=Meddling())
    assert [(gap.key, gap.stage, gap.code) for gap in done.failed_documents] == [(f"{last}.md", "parse", "unreadable")]
    assert shop.run().failed_documents == ()
    assert shop.members() == {f"{name}.md": 1 for name in names}


@promise("P9")
def test_a_checkpoint_that_was_changed_is_made_anew(shop: Workshop) -> None:
    shop.write(a="# 甲\n好的文件。")
    kept = shop.run()
    (checkpoint,) = shop.db.conn.execute("select artifact_sha256 from parsed").fetchone()
    change_a_byte(shop.parts.blobs.path(checkpoint))
    wider = chunking(WorkerSettings(block_tokens=30, block_max_tokens=40))  # so that it is chunked again
    again = shop.work(shop.ask(), chunking=wider)
    assert (kept.failed_documents, again.failed_documents) == ((), ())
    assert shop.parser.parsed == ["a.md", "a.md"]
    assert shop.parts.blobs.read(checkpoint)


def site_at(world: World, layout: Layout, provider: Provider) -> AbstractContextManager[Site]:
    return world.site(provider.base_url, folder=layout.root)
