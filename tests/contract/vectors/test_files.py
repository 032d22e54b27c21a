"""What the embedded engine leaves on the disk, and what happens when somebody changes it."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from shared.errors import CollectionUnavailable, Conflict, StorageError
from shared.ids import BlockId, DocId, block_id
from shared.settings import QdrantSettings
from shared.vectors.edge import EdgeVectors
from shared.vectors.memory import MemoryVectors
from shared.vectors.open import open_vectors
from shared.vectors.port import Base, Filter, Hit, Point, Sparse
from tests.contract.vectors.points import EVERYTHING, a_point, sealed, sparse, vector
from tests.patience import PATIENCE_S

POINTS = [a_point("aaaaaaaa", index, terms=sparse(t1=1.0)) for index in range(20)]


def build(folder: Path, name: str = "snap_1") -> dict[str, str]:
    builder = EdgeVectors(folder).build(name, dimensions=3)
    builder.add(POINTS)
    return builder.seal()


def test_opening_and_searching_leave_every_sealed_file_as_it_was(edge_folder: Path) -> None:
    files = build(edge_folder)
    for _ in range(2):
        collection = EdgeVectors(edge_folder).open("snap_1", files=files)
        assert len(collection.dense(vector(1, 0, 0), within=EVERYTHING, limit=5)) == 5
        collection.close()
    assert EdgeVectors(edge_folder).open("snap_1", files=files).count() == 20


@pytest.mark.parametrize("which", ["largest", "smallest"])
def test_one_changed_byte_makes_the_collection_unavailable_and_names_the_file(edge_folder: Path, which: str) -> None:
    files = build(edge_folder)
    sizes = sorted(files, key=lambda name: (edge_folder / "snap_1" / name).stat().st_size)
    name = (
        sizes[-1]
        if which == "largest"
        else next(name for name in sizes if (edge_folder / "snap_1" / name).stat().st_size)
    )
    path = edge_folder / "snap_1" / name
    with path.open("r+b") as file:
        first = file.read(1)
        file.seek(0)
        file.write(bytes([first[0] ^ 1]))
    with pytest.raises(CollectionUnavailable) as caught:
        EdgeVectors(edge_folder).open("snap_1", files=files)
    assert caught.value.ids == ("snap_1", name)


def test_a_builder_whose_disk_gave_way_while_it_sealed_leaves_nothing_and_frees_its_name(edge_folder: Path) -> None:
    vectors = EdgeVectors(edge_folder)
    builder = vectors.build("snap_1", dimensions=3)
    builder.add(POINTS)
    (edge_folder / "snap_1").write_text("不是文件夹")  # in the way of the rename
    with pytest.raises(StorageError):
        builder.seal()
    (edge_folder / "snap_1").unlink()
    another = vectors.build("snap_2", dimensions=3)
    builder.abandon()
    with pytest.raises(Conflict):
        EdgeVectors(edge_folder).build("snap_2", dimensions=3)
    another.abandon()
    assert list(vectors.names()) == []
    assert build(edge_folder)
    assert [path.name for path in (edge_folder / ".building").iterdir()] == []


def test_a_missing_a_truncated_and_a_foreign_file_are_named(edge_folder: Path) -> None:
    files = build(edge_folder)
    segment = next(name for name in files if name.endswith(("matrix.dat", "page_0.dat")))
    path = edge_folder / "snap_1" / segment
    content = path.read_bytes()

    path.unlink()
    with pytest.raises(CollectionUnavailable) as missing:
        EdgeVectors(edge_folder).open("snap_1", files=files)
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(CollectionUnavailable) as truncated:
        EdgeVectors(edge_folder).open("snap_1", files=files)
    path.write_bytes(content)
    (edge_folder / "snap_1" / "segments" / "stray.dat").write_bytes(b"x")
    with pytest.raises(CollectionUnavailable) as foreign:
        EdgeVectors(edge_folder).open("snap_1", files=files)

    assert missing.value.ids == truncated.value.ids == ("snap_1", segment)
    assert foreign.value.ids == ("snap_1", "segments/stray.dat")


def test_a_reader_keeps_what_it_opened_when_the_collection_is_dropped(edge_folder: Path) -> None:
    files = build(edge_folder)
    vectors = EdgeVectors(edge_folder)
    collection = vectors.open("snap_1", files=files)
    vectors.drop("snap_1")
    assert vectors.names() == []
    assert [hit.index for hit in collection.dense(vector(1, 0, 0), within=EVERYTHING, limit=3)] == [0, 1, 2]
    assert len(list(collection.block_ids())) == 20
    assert list(collection.dense_of([BlockId("aaaaaaaa.v1#4")])) == ["aaaaaaaa.v1#4"]


def test_several_readers_and_threads_share_a_collection(edge_folder: Path) -> None:
    files = build(edge_folder)
    readers = [EdgeVectors(edge_folder).open("snap_1", files=files) for _ in range(2)]

    def search(turn: int) -> list[Hit]:
        return readers[turn % 2].dense(vector(1, 0, 0), within=EVERYTHING, limit=7)

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(search, range(40)))
    assert all(answer == answers[0] for answer in answers)


WRITER = """
import sys
from pathlib import Path
from shared.vectors.edge import EdgeVectors
from tests.contract.vectors.points import a_point

builder = EdgeVectors(Path(sys.argv[1])).build("snap_1", dimensions=3)
builder.add([a_point("bbbbbbbb")])
print("writing", flush=True)
sys.stdin.read()
"""


def test_another_process_is_refused_while_one_writes_and_begins_afresh_when_that_one_is_killed(
    edge_folder: Path,
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(edge_folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "writing\n"
        vectors = EdgeVectors(edge_folder)
        with pytest.raises(Conflict):
            vectors.build("snap_1", dimensions=3)
        with pytest.raises(Conflict):
            vectors.drop("snap_1")
        writer.kill()
        writer.wait(timeout=PATIENCE_S)
        assert (vectors.names(), vectors.unfinished()) == ([], ["snap_1"])
        files = build(edge_folder)
    assert sorted(EdgeVectors(edge_folder).open("snap_1", files=files).block_ids()) == sorted(
        point.block_id for point in POINTS
    )
    assert os.listdir(edge_folder / ".building") == []


@pytest.mark.parametrize("what", ["snap_1", "snap_1.lock", "snap_1~"])
def test_whatever_a_kill_left_of_an_unfinished_collection_is_told_and_goes(edge_folder: Path, what: str) -> None:
    building = edge_folder / ".building"
    building.mkdir(parents=True)
    if what.endswith(".lock"):
        (building / what).touch()
    else:
        (building / what).mkdir()
        (building / what / "半个文件").write_bytes(b"half")
    vectors = EdgeVectors(edge_folder)
    assert (vectors.names(), vectors.unfinished()) == ([], ["snap_1"])
    vectors.drop("snap_1")
    assert (vectors.unfinished(), os.listdir(building)) == ([], [])


def test_a_folder_that_cannot_be_made_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StorageError):
        EdgeVectors(tmp_path / "file" / "collections").build("snap_1", dimensions=3)


@pytest.mark.parametrize("name", ["", "../outside", ".building", "a/b", "名", "a" * 101])
def test_a_name_never_leads_out_of_the_folder(edge_folder: Path, name: str) -> None:
    vectors = EdgeVectors(edge_folder)
    with pytest.raises(ValueError, match="not a collection name"):
        vectors.build(name, dimensions=3)
    with pytest.raises(ValueError, match="not a collection name"):
        vectors.drop(name)


def test_without_a_url_the_settings_mean_the_embedded_engine(edge_folder: Path) -> None:
    assert isinstance(open_vectors(QdrantSettings(), edge_folder), EdgeVectors)
    assert open_vectors(QdrantSettings(), edge_folder).names() == []


def test_a_collection_big_enough_to_be_optimised_is_as_stable_as_a_small_one(edge_folder: Path) -> None:
    """Past ten megabytes of vectors the engine rebuilds its segments when sealed, and stores them in other files."""
    numbers = np.random.default_rng(7).normal(size=(7_000, 384)).astype(np.float32)
    points = [a_point(f"doc{at // 10:05d}", at % 10, dense=row, terms=sparse(t1=1.0)) for at, row in enumerate(numbers)]
    builder = EdgeVectors(edge_folder).build("snap_1", dimensions=384)
    builder.add(points)
    files = builder.seal()
    assert any(name.endswith("matrix.dat") for name in files)

    order = np.argsort(-(numbers @ numbers[0]) / np.linalg.norm(numbers, axis=1), kind="stable")[:20]
    for _ in range(2):
        collection = EdgeVectors(edge_folder).open("snap_1", files=files)
        assert collection.count() == 7_000
        hits = collection.dense(numbers[0], within=EVERYTHING, limit=20)
        assert [hit.block_id for hit in hits] == [points[int(at)].block_id for at in order]
        scope = Filter(doc_ids=tuple(DocId(f"doc{number:05d}") for number in range(100, 600)))
        tied = collection.sparse(sparse(t1=1.0), within=scope, limit=12)
        assert [(hit.doc_id, hit.index) for hit in tied] == [("doc00100", at) for at in range(10)] + [
            ("doc00101", 0),
            ("doc00101", 1),
        ]
        collection.close()


def test_a_block_without_terms_does_not_make_the_terms_of_others_rarer(edge_folder: Path) -> None:
    library = [a_point(index=0, terms=sparse(t1=1.0)), a_point(index=1, terms=sparse(t2=1.0)), a_point(index=2)]
    [with_it] = sealed(EdgeVectors(edge_folder), library).sparse(sparse(t1=1.0), within=EVERYTHING, limit=5)
    [without] = sealed(EdgeVectors(edge_folder), library[:2]).sparse(sparse(t1=1.0), within=EVERYTHING, limit=5)
    [double] = sealed(MemoryVectors(), library).sparse(sparse(t1=1.0), within=EVERYTHING, limit=5)
    assert with_it == without
    assert double.score == pytest.approx(with_it.score, abs=2e-6)


def disk_bytes(folder: Path) -> int:
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*"))


def test_a_collection_made_of_another_one_takes_no_more_room_and_shares_no_file(edge_folder: Path) -> None:
    files = build(edge_folder)
    builder = EdgeVectors(edge_folder).build("snap_2", dimensions=3, base=Base(name="snap_1", files=files))
    builder.remove([POINTS[0].block_id])
    builder.seal()
    old, new = edge_folder / "snap_1", edge_folder / "snap_2"
    assert disk_bytes(new) < 2 * disk_bytes(old) + 2**20
    assert {path.stat().st_nlink for path in new.rglob("*") if path.is_file()} == {1}
    assert EdgeVectors(edge_folder).open("snap_1", files=files).count() == 20


@pytest.mark.parametrize("how", ["changed", "missing"])
def test_damage_in_the_base_is_named_and_does_not_spread(edge_folder: Path, how: str) -> None:
    files = build(edge_folder)
    name = max(files, key=lambda name: (edge_folder / "snap_1" / name).stat().st_size)
    path = edge_folder / "snap_1" / name
    if how == "missing":
        path.unlink()
    else:
        with path.open("r+b") as file:
            file.seek(-1, os.SEEK_END)
            file.write(b"x")
    vectors = EdgeVectors(edge_folder)
    with pytest.raises(CollectionUnavailable) as caught:
        vectors.build("snap_2", dimensions=3, base=Base(name="snap_1", files=files))
    assert caught.value.ids == ("snap_1", name)
    assert vectors.open("snap_2", files=build(edge_folder, "snap_2")).count() == 20


def test_a_big_collection_is_the_same_however_much_of_it_was_replaced(edge_folder: Path) -> None:
    """Past ten megabytes and past a fifth of dead points the engine rebuilds its segments when sealed; below it leaves the dead in place."""
    random = np.random.default_rng(11)
    vectors = EdgeVectors(edge_folder)

    def drawn(number: int, version: int) -> Point:
        dense = random.normal(size=768).astype(np.float32)
        ids = np.unique(random.zipf(1.3, size=30) % 5_000)
        terms = Sparse(indices=tuple(ids.tolist()), values=tuple(random.uniform(0.2, 2.2, len(ids)).tolist()))
        point = a_point(f"doc{number // 10:05d}", number % 10, dense=dense, terms=terms)
        return replace(point, block_id=block_id(point.doc_id, version, point.index))

    points = [drawn(number, 1) for number in range(4_000)]
    builder = vectors.build("snap_1", dimensions=768)
    builder.add(points)
    base = Base(name="snap_1", files=builder.seal())
    for generation, share in enumerate((10, 1_500), start=2):
        name = f"snap_{generation}"
        builder = vectors.build(name, dimensions=768, base=base)
        builder.remove([point.block_id for point in points[:share]])
        points[:share] = [drawn(number, generation) for number in range(share)]
        builder.add(points[:share])
        base = Base(name=name, files=builder.seal())
        fresh_builder = vectors.build(f"fresh_{generation}", dimensions=768)
        fresh_builder.add(points)
        fresh = vectors.open(f"fresh_{generation}", files=fresh_builder.seal())
        delta = vectors.open(name, files=base.files)
        assert delta.count() == fresh.count() == 4_000
        for at in range(0, 4_000, 400):
            question, near = points[at].sparse, points[at].dense
            assert delta.sparse(question, within=EVERYTHING, limit=100) == fresh.sparse(
                question, within=EVERYTHING, limit=100
            )
            assert delta.dense(near, within=EVERYTHING, limit=100) == fresh.dense(near, within=EVERYTHING, limit=100)
