"""Documents handed in: as uploads, as paths, followed and steered."""

import os
import socket
from collections.abc import Generator
from pathlib import Path

import httpx
import msgspec
import pytest

from api.parts import CatalogDoor
from api.routes.import_paths import check_paths, roots
from api.routes.uploads import safe_name
from shared.blobs import Blobs
from shared.catalog import leases
from shared.catalog.imports import get_request
from shared.errors import InvalidArgument
from shared.ids import ImportId
from shared.settings import ApiSettings, Settings
from shared.types.imports import Import, ImportRequest, SourceSpec
from tests.contract.http.site import Site, until
from tests.patience import PATIENCE_S

NOTES = "年假\n员工工作满一年享有五天年假。".encode()
POLICY = b"# Leave\n\nManagers approve leave.\n"


def requested(site: Site, import_id: str) -> ImportRequest:
    with CatalogDoor(site.layout.catalog).open() as db:
        return get_request(db, ImportId(import_id))


def blobs_in(folder: Path) -> list[bytes]:
    return sorted(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_files_are_stored_by_content_and_the_worker_is_woken(site: Site) -> None:
    files = [
        ("files", ("制度/请假.txt", NOTES)),
        ("files", ("policies\\leave.md", POLICY)),
        ("files", ("empty.txt", b"")),
    ]
    with site.client() as client:
        reply = client.post(
            "/api/imports", files=files, data={"label": "人事", "tags": "制度, hr", "activate": "false"}
        )
        accepted = msgspec.json.decode(reply.content, type=Import)
    assert (reply.status_code, accepted.state) == (202, "queued")
    assert site.bell.rung == [accepted.import_id]
    wanted = requested(site, accepted.import_id)
    assert [(one.name, one.size_bytes) for one in wanted.uploads] == [
        ("制度/请假.txt", len(NOTES)),
        ("policies/leave.md", len(POLICY)),
        ("empty.txt", 0),
    ]
    assert [Blobs(site.layout.originals).read(one.sha256) for one in wanted.uploads] == [NOTES, POLICY, b""]
    assert (wanted.source, wanted.activate) == (SourceSpec(label="人事", tags=("制度", "hr")), False)


def test_the_source_may_come_as_one_json_field(site: Site) -> None:
    with site.client() as client:
        source = '{"label":"官网","trust":"web","access":["hr"]}'
        reply = client.post(
            "/api/imports", files=[("files", ("a.md", POLICY))], data={"source": source, "mode": "sync"}
        )
    wanted = requested(site, reply.json()["import_id"])
    assert (wanted.mode, wanted.source) == ("sync", SourceSpec(label="官网", trust="web", access=("hr",)))


def test_a_link_to_itself_can_t_be_imported_and_breaks_nothing(tmp_path: Path) -> None:
    (tmp_path / "圈").symlink_to(tmp_path / "圈")
    with pytest.raises(InvalidArgument):
        check_paths([str(tmp_path / "圈")], [tmp_path])


@pytest.mark.parametrize("as_upload", [True, False])
def test_labels_that_no_reader_could_see_are_refused_by_field_before_anything_is_accepted(
    site: Site, as_upload: bool, tmp_path: Path
) -> None:
    site.with_api(import_roots=(str(tmp_path),))
    source = {"access": ["人事", "hr\u202e"]}
    with site.client() as client:
        if as_upload:
            files = [("files", ("a.md", POLICY))]
            reply = client.post("/api/imports", files=files, data={"source": msgspec.json.encode(source).decode()})
        else:
            reply = client.post("/api/imports", json={"paths": [str(tmp_path)], "source": source})
        assert (reply.status_code, reply.json()["code"], reply.json()["field"]) == (
            400,
            "invalid_argument",
            "source.access[1]",
        )
        assert client.get("/api/imports").json() == []


def test_a_large_file_passes_through_in_pieces_and_comes_out_whole(site: Site) -> None:
    data = bytes(range(256)) * 20_000  # 5 MB, with everything that could be mistaken for a boundary
    with site.client() as client:
        reply = client.post("/api/imports", files=[("files", ("big.bin", data))])
    (upload,) = requested(site, reply.json()["import_id"]).uploads
    assert Blobs(site.layout.originals).read(upload.sha256) == data


@pytest.mark.parametrize(
    ("files", "data", "expected"),
    [
        ([("files", ("../up.md", b"x"))], {}, (400, "files")),
        ([("files", ("/etc/x.md", b"x"))], {}, (400, "files")),
        ([("files", ("a.md", b"x")), ("files", ("./a.md", b"y"))], {}, (400, "files")),
        ([("picture", ("a.md", b"x"))], {}, (400, "picture")),
        ([("files", ("a.md", b"x"))], {"mode": "explode"}, (400, "form")),
        ([("files", ("a.md", b"x"))], {"colour": "red"}, (400, "form")),
        ([("files", ("a.md", b"x"))], {"source": '{"trust":"blind"}'}, (400, "source.trust")),
        ([("files", ("a.md", b"x" * 3_000))], {}, (413, None)),
        ([], {"mode": "add", "label": "x"}, (400, None)),
    ],
)
def test_an_upload_that_won_t_do_is_refused_and_leaves_nothing_half_done(
    site: Site,
    files: list[tuple[str, tuple[str, bytes]]],
    data: dict[str, str],
    expected: tuple[int, str | None],
) -> None:
    site.with_api(max_upload_bytes=2_000)
    with site.client() as client:
        sent = {"files": files} if files else {"files": [("", ("", b""))]}
        reply = client.post("/api/imports", data=data, **sent)  # type: ignore[arg-type]
        assert reply.status_code == expected[0], reply.text
        if expected[1] is not None:
            assert reply.json()["field"] == expected[1]
        assert client.get("/api/imports").json() == []
    assert parts_of(site) == []


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("multipart/form-data", b"--x--"),
        ("multipart/form-data; boundary=x", b"no boundary at all"),
        (
            "multipart/form-data; boundary=x",
            b'--x\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\ncut',
        ),
        ("multipart/form-data; boundary=x", b"--x\r\nnonsense\r\n\r\n\r\n--x--\r\n"),
    ],
)
def test_a_broken_multipart_body_is_the_sender_s_mistake(site: Site, content_type: str, body: bytes) -> None:
    with site.client() as client:
        reply = client.post("/api/imports", content=body, headers={"Content-Type": content_type})
    assert (reply.status_code, reply.json()["code"]) == (400, "invalid_argument")


@pytest.mark.parametrize("size", [20_000, 5_000_000])
def test_a_body_that_is_too_large_is_answered_while_it_is_still_being_sent(site: Site, size: int) -> None:
    def pieces() -> Generator[bytes]:
        for _ in range(size // 1_000):
            yield b"x" * 1_000

    site.with_api(max_upload_bytes=10_000, max_body_bytes=10_000)
    with site.live() as address:
        told = httpx.post(f"{address}/api/imports", files={"files": ("a.bin", b"x" * size)}, timeout=PATIENCE_S)
        untold = httpx.post(
            f"{address}/api/imports",
            content=pieces(),
            headers={"Content-Type": "multipart/form-data; boundary=x"},
            timeout=PATIENCE_S,
        )
        asked = httpx.post(f"{address}/api/runs", content=b"x" * size, timeout=PATIENCE_S)
    assert [reply.status_code for reply in (told, untold, asked)] == [413, 413, 413]
    assert {reply.json()["code"] for reply in (told, untold, asked)} == {"too_large"}


def test_a_client_that_goes_away_in_mid_upload_leaves_no_part_behind(site: Site) -> None:
    head = (
        b"POST /api/imports HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 999999\r\n"
        b"Content-Type: multipart/form-data; boundary=x\r\n\r\n"
        b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.md"\r\n\r\n'
    )
    with site.live() as address:
        url = httpx.URL(address)
        with socket.create_connection((url.host, url.port or 0)) as connection:
            connection.sendall(head + b"z" * 400_000)
            until(lambda: parts_of(site))
        until(lambda: not parts_of(site))
        assert httpx.get(f"{address}/api/imports", timeout=PATIENCE_S).json() == []


def parts_of(site: Site) -> list[Path]:
    """Files on their way in."""
    return list((site.layout.originals / "incoming").glob("*"))


def test_paths_of_the_server_are_taken_when_they_lie_in_an_allowed_folder(site: Site, tmp_path: Path) -> None:
    folder = tmp_path / "文档"
    folder.mkdir()
    (folder / "a.md").write_bytes(POLICY)
    site.with_api(import_roots=(str(tmp_path),))
    with site.client() as client:
        body = {"paths": [str(folder), str(folder / "a.md")], "source": {"label": "共享"}}
        reply = client.post("/api/imports", json=body)
    assert reply.status_code == 202, reply.text
    wanted = requested(site, reply.json()["import_id"])
    assert wanted.paths == (str(folder), str(folder / "a.md"))
    assert wanted.source == SourceSpec(label="共享")


def test_paths_elsewhere_are_refused_whether_or_not_anything_is_there(tmp_path: Path) -> None:
    allowed = tmp_path / "allowed"
    (allowed / "in").mkdir(parents=True)
    (tmp_path / "outside.md").touch()
    (allowed / "link.md").symlink_to(tmp_path / "outside.md")
    assert check_paths([str(allowed / "in" / ".." / "in")], [allowed]) == (str(allowed / "in"),)
    for path in (tmp_path / "outside.md", tmp_path / "nothing", allowed / "link.md", allowed / ".." / "outside.md"):
        with pytest.raises(InvalidArgument) as refused:
            check_paths([str(allowed), str(path)], [allowed])
        assert refused.value.field == "paths[1]"
        assert "may be imported" in refused.value.message
    for odd in ("relative.md", "", "~/x", "/tmp/\0x", str(allowed / "missing.md")):
        with pytest.raises(InvalidArgument):
            check_paths([odd], [allowed])


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidArgument) as refused:
        check_paths([str(tmp_path / "pipe")], [tmp_path])
    assert refused.value.field == "paths[0]"


def test_what_is_to_be_taken_out_may_be_gone_but_not_lie_elsewhere(site: Site, tmp_path: Path) -> None:
    site.with_api(import_roots=(str(tmp_path),))
    gone = {"paths": [str(tmp_path / "旧.md")]}
    with site.client() as client:
        taken = client.post("/api/imports", json={**gone, "mode": "remove"})
        assert taken.status_code == 202
        assert client.post("/api/imports", json=gone).status_code == 400
        assert client.post("/api/imports", json={"paths": ["/etc/passwd"], "mode": "remove"}).status_code == 400
    assert requested(site, taken.json()["import_id"]).paths == (str((tmp_path / "旧.md").resolve()),)


def test_only_a_loopback_server_opens_the_owner_s_folders_by_itself(tmp_path: Path) -> None:
    local = Settings(data_dir=str(tmp_path / "data"))
    assert roots(local) == (Path.home(),)
    public = Settings(data_dir=str(tmp_path / "data"), api=ApiSettings(host="0.0.0.0", api_key="k"))
    assert roots(public) == ()
    named = Settings(
        data_dir=str(tmp_path / "data"), api=ApiSettings(host="0.0.0.0", api_key="k", import_roots=("/srv",))
    )
    assert roots(named) == (Path("/srv"),)


def test_a_broker_that_is_down_does_not_refuse_an_import(site: Site) -> None:
    site.bell.broken = True
    with site.client() as client:
        assert client.post("/api/imports", files=[("files", ("a.md", POLICY))]).status_code == 202
        assert [one["state"] for one in client.get("/api/imports").json()] == ["queued"]


def test_an_import_is_steered_and_a_step_its_state_forbids_is_a_conflict(site: Site) -> None:
    with site.client() as client:
        import_id = client.post("/api/imports", files=[("files", ("a.md", POLICY))]).json()["import_id"]
        assert client.post(f"/api/imports/{import_id}/resume").json()["code"] == "conflict"
        assert client.post(f"/api/imports/{import_id}/cancel").json()["state"] == "cancelled"
        retried = client.post(f"/api/imports/{import_id}/retry", json={})
        assert retried.json()["code"] == "conflict"
        assert client.get(f"/api/imports/{import_id}").json()["state"] == "cancelled"


def test_an_import_is_watched_from_one_change_to_the_next_until_it_is_over(site: Site) -> None:
    with site.live() as address:
        import_id = ImportId(
            httpx.post(f"{address}/api/imports", files={"files": ("a.md", POLICY)}, timeout=PATIENCE_S).json()[
                "import_id"
            ]
        )
        states: list[str] = []
        with httpx.stream("GET", f"{address}/api/imports/{import_id}/events", timeout=PATIENCE_S) as reply:
            for line in reply.iter_lines():
                if line.startswith("data: "):
                    states.append(line_state(line))
                    move(site, import_id, states[-1])
    assert states == ["queued", "running", "failed", "failed"]  # the last one under the name `finished`


def line_state(line: str) -> str:
    return msgspec.json.decode(line.removeprefix("data: "), type=Import).state


def move(site: Site, import_id: ImportId, seen: str) -> None:
    """What a worker would do next."""
    now_ms = site.now_ms()
    with CatalogDoor(site.layout.catalog).open() as db:
        if seen == "queued":
            leases.claim(db, import_id, "worker", now_ms=now_ms, lease_ms=60_000)
        elif seen == "running":
            leases.fail(db, import_id, "worker", code="internal_error", reason="…", now_ms=now_ms)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("a.md", "a.md"),
        ("制度//./请假.md", "制度/请假.md"),
        ("dir\\sub\\a.md", "dir/sub/a.md"),
        ("e\u0301.md", "\u00e9.md"),
        ("..a/b..md", "..a/b..md"),
    ],
)
def test_a_relative_name_is_kept_in_one_spelling(given: str, kept: str) -> None:
    assert safe_name(given) == kept


@pytest.mark.parametrize(
    "given",
    ["", ".", "/", "/a", "\\a", "../a", "a/../../b", "a/..", "C:\\a", "C:a", "a\0b", "a\nb", "\ud800", "x" * 1_025],
)
def test_a_name_that_leads_elsewhere_is_refused(given: str) -> None:
    with pytest.raises(InvalidArgument):
        safe_name(given)
