"""A library with secrets, and every way to ask for them over HTTP.

**A new route** fails test_leaks.py until it stands in `ROUTES`, with the permission its handler or router says in `opt`
(`NEEDS_READ`, `NEEDS_WRITE`, `NEEDS_ADMIN` of api/callers.py; a route that says nothing is for admins, and fails too).
- needs `write` or `admin`: one `Probe` that fits its address; the test asks with a key that may only read, for something hidden
  and for something that is not there, and wants the same refusal.
- needs `read`: a probe for each way in which something hidden can be named or found: ids in path and body, scopes, questions.
  Build them of `Names`, whose members are once what is hidden and once what never was. Add to `Secrets` what your route could
  tell that nobody else's does: put `CANARY` into it, and give its id to `Names`.
`asks=True` for a route that leaves a run, `alike=False` for a probe whose words are looked for: other words find other things, so only the canary counts.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import Any, TypeAlias

import httpx
from litestar import Litestar
from litestar.testing import TestClient
from msgspec import Struct, structs

from shared.access import Permission
from shared.catalog.db import open_database
from shared.catalog.imports import create_import
from shared.catalog.keys import add_key
from shared.embeddings.fake import FakeEmbedder, word_vectors
from shared.ids import RunId, SnapshotId
from shared.types.imports import ImportRequest, SourceSpec, Upload
from shared.types.keys import NewKey
from shared.types.snapshots import FailedDocument
from tests import factories
from tests.contract.http.site import LEAVE, Site
from tests.contract.http.test_snapshot_care import carried_out
from tests.factories import ADocument, Published, a_document
from tests.unit.telemetry.factories import a_record

AN_EMBEDDER = FakeEmbedder(language_axis=word_vectors(["年假有几天的"], 256)[0])  # where a library has both languages
CANARY = "kanari"  # stands in every secret …
PARROT = "隐鹦鹉"  # … or this
OWNER_KEY = "the-key-of-the-owner"
BROWSER = {"Accept": "text/html"}
STREAM = {"Accept": "text/event-stream"}

OPEN = a_document(
    "团队/食堂.md",
    title="食堂菜单",
    source="团队",
    access=("team", f"{CANARY}label"),  # a label that is not the reader's on a document that is
    sections={"周一": ["周一的菜单是红烧肉。\n"], "周二": ["周二的菜单是清蒸鱼。\n"]},
)
SECRET = a_document(
    f"董事会/{CANARY}file.md",
    title=f"{CANARY}title 收购{PARROT}",
    source=f"{CANARY}source",
    aliases=(f"{CANARY}alias",),
    tags=(f"{CANARY}tag",),
    access=("board",),
    lang="kn",
    page=7,
    table_header=f"| {CANARY}header |\n",
    sections={
        f"{CANARY}section": [f"{CANARY}text 收购价格九亿元。\n", f"{CANARY}more 年假全部取消{PARROT}。\n"],
        f"{CANARY}section › 附录": [f"{CANARY}annex ERR_{CANARY}_42。\n"],
    },
)
TIGHTENED = a_document(  # in the language that nothing open is in
    "会议/纪要.md", f"{CANARY}minutes 裁员名单。\n", title=f"{CANARY}minutes", source="会议", lang="en"
)
TAKEN_OUT = a_document("会议/草案.md", f"{CANARY}draft 裁员草案。\n", title=f"{CANARY}draft", source="草案")
REMOVED = a_document(
    "旧/合同.md", f"{CANARY}contract 违约金。\n", title=f"{CANARY}contract", source="旧", access=("board",)
)
GAP = FailedDocument(
    source_label=f"{CANARY}source",
    key=f"{CANARY}broken.pdf",
    stage="parse",
    code="encrypted",
    reason=f"{CANARY}reason",
    attempts=1,
    retryable=False,
)
SEEN_GAP = structs.replace(GAP, source_label="手册", key="坏.pdf", reason="加密的文件")


class Names(Struct, frozen=True, kw_only=True):
    """What can be asked for: hidden, or never there. The two are of the same length, so that nothing else differs."""

    doc_id: str
    old_doc_id: str  # of a document that was open once
    taken_doc_id: str  # … was closed then, and taken out
    gone_doc_id: str  # whose snapshot is gone
    block_id: str
    old_block_id: str
    taken_block_id: str
    gone_block_id: str  # a quote is left
    run_id: str  # the owner's
    other_run_id: str  # of another key with more labels
    own_labels_run_id: str  # of another key with the very labels of the reader
    conversation_id: str  # the owner's
    own_labels_conversation_id: str
    import_id: str
    failed_snapshot_id: str
    source: str
    alias: str
    tag: str
    section: str
    key: str
    bundle: str
    words: str  # a question, the very text of a block


class Probe(Struct, frozen=True, kw_only=True):
    path: str
    body: dict[str, Any] | None = None
    query: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}
    alike: bool = True
    shows: bool = True  # the owner is shown a secret by it


class Route(Struct, frozen=True, kw_only=True):
    needs: Permission | None  # None = open to everybody
    probes: Callable[[Names, "Secrets"], list[Probe]] = lambda _names, _secrets: []
    asks: bool = False  # leaves a run with the question in it


class Secrets(Struct, kw_only=True):
    """The site, and the keys: a reader with the label `team`; his twin, with another key; one who may see more."""

    site: Site
    reader: str
    twin: str
    board: str
    writer: str
    snapshot_id: SnapshotId  # active
    older_id: SnapshotId
    hidden: Names
    unknown: Names


def secrets(site: Site) -> Secrets:
    """Everything there is to give away."""
    site.with_api(api_key=OWNER_KEY)
    site.with_the_real_agent()
    site.embedder = AN_EMBEDDER
    gone = publish(site, 0, REMOVED)
    quoted = gone.blocks()[0]
    older = publish(site, 1, LEAVE, OPEN, TIGHTENED, TAKEN_OUT, failed=[SEEN_GAP, GAP])
    between = publish(site, 2, structs.replace(TAKEN_OUT, access=("board",)))
    tightened = structs.replace(TIGHTENED, access=("board",))
    active = publish(site, 3, LEAVE, OPEN, SECRET, tightened, failed=[SEEN_GAP, GAP])
    with closing(open_database(site.layout.catalog)) as db:
        for one in (gone, between):
            db.conn.execute("update snapshots set state = 'removing' where snapshot_id = ?", [one.snapshot_id])
    carried_out(site)
    failed_id = failed_snapshot(site, active)
    readers = {
        name: a_key(site, name, roles)
        for name, roles in (("reader", ("team",)), ("twin", ("team",)), ("board", ("team", "board")))
    }
    kept = a_record(run_id="run_quoting", question=f"{CANARY}quoting", access=("board", "team"))
    cited = structs.replace(
        kept.answer.citations[0],
        block_id=quoted.block_id,
        doc_id=quoted.doc_id,
        version=1,
        snapshot_id=gone.snapshot_id,
        quote=quoted.text,
        title=REMOVED.title,
    )
    site.telemetry.keep(structs.replace(kept, answer=structs.replace(kept.answer, citations=(cited,))))
    with site.client() as client:
        asked = {
            who: ask(client, key, f"{CANARY}question {SECRET.title}？")
            for who, key in (("owner", OWNER_KEY), ("twin", readers["twin"]), ("board", readers["board"]))
        }
        for who, run_id in asked.items():
            key = OWNER_KEY if who == "owner" else readers[who]
            said = {"thumb": "down", "comment": f"{CANARY}comment"}
            headers = {"Authorization": f"Bearer {key}"}
            assert client.post(f"/api/runs/{run_id}/feedback", json=said, headers=headers).status_code == 200
        talked = {
            who: talk(client, key, f"{CANARY}talk {SECRET.title}？")
            for who, key in (("owner", OWNER_KEY), ("twin", readers["twin"]))
        }
    site.reopen_telemetry()  # the app that answered closed it
    site.prompts.create(CANARY, parent=None)
    hidden = Names(
        bundle=CANARY,
        doc_id=active.doc_id(SECRET.key),
        old_doc_id=older.doc_id(TIGHTENED.key),
        taken_doc_id=older.doc_id(TAKEN_OUT.key),
        gone_doc_id=gone.doc_id(REMOVED.key),
        block_id=active.blocks(SECRET.key)[0].block_id,
        old_block_id=older.blocks(TIGHTENED.key)[0].block_id,
        taken_block_id=older.blocks(TAKEN_OUT.key)[0].block_id,
        gone_block_id=quoted.block_id,
        run_id=asked["owner"],
        other_run_id=asked["board"],
        own_labels_run_id=asked["twin"],
        conversation_id=talked["owner"],
        own_labels_conversation_id=talked["twin"],
        import_id=an_import(site),
        failed_snapshot_id=failed_id,
        source=SECRET.source,
        alias=SECRET.aliases[0],
        tag=SECRET.tags[0],
        section=f"{CANARY}section",
        key=f"key_{readers['twin'][4:12]}",
        words=f"{CANARY}text 收购价格九亿元。",
    )
    return Secrets(
        site=site,
        reader=readers["reader"],
        twin=readers["twin"],
        board=readers["board"],
        writer=a_key(site, "writer", (), permission="write"),
        snapshot_id=active.snapshot_id,
        older_id=older.snapshot_id,
        hidden=hidden,
        unknown=Names(**{name: unlike(value) for name, value in structs.asdict(hidden).items()}),
    )


def without_secrets(site: Site) -> tuple[str, SnapshotId, SnapshotId]:
    """The same library as if the secrets had never been; its reader's key, the active snapshot, the one before."""
    site.with_api(api_key=OWNER_KEY)
    site.with_the_real_agent()
    site.embedder = AN_EMBEDDER
    older = publish(site, 1, LEAVE, OPEN, failed=[SEEN_GAP])
    active = publish(site, 3, LEAVE, OPEN, failed=[SEEN_GAP])
    return a_key(site, "reader", ("team",)), active.snapshot_id, older.snapshot_id


def publish(site: Site, at: int, *documents: ADocument, failed: Sequence[FailedDocument] = ()) -> Published:
    """`at`: the later, the larger. Originals are there."""
    published = factories.publish(
        site.layout,
        documents,
        vectors=site.vectors,
        embedder=site.embedder,
        failed=failed,
        now_ms=factories.NOW_MS + at,
    )
    factories.keep_originals(site.layout, published)
    return published


def a_key(site: Site, name: str, roles: tuple[str, ...], *, permission: Permission = "read") -> str:
    with closing(open_database(site.layout.catalog)) as db:
        wanted = NewKey(name=name, roles=roles, permission=permission, requests_per_minute=None)
        return add_key(db, wanted, now_ms=site.now_ms()).secret


def failed_snapshot(site: Site, like: Published) -> SnapshotId:
    """One whose reason of failing names a file."""
    failed_id = SnapshotId(like.snapshot_id[:-4] + "zzzz")
    with closing(sqlite3.connect(site.layout.catalog)) as db, db:
        db.execute(
            "insert into snapshots (snapshot_id, state, import_id, created_at_ms, embedding_version, dimensions, keyword_version,"
            " failure) values (?, 'failed', 'imp_x', 1, 'v', 1, 'k', ?)",
            [failed_id, f"{CANARY}failure of {SECRET.key}"],
        )
    return failed_id


def an_import(site: Site) -> str:
    with closing(open_database(site.layout.catalog)) as db:
        return create_import(
            db,
            ImportRequest(
                uploads=(Upload(name=f"{CANARY}upload.md", sha256="0" * 64, size_bytes=1),),
                source=SourceSpec(label=f"{CANARY}source"),
            ),
            now_ms=site.now_ms(),
        )


def ask(client: TestClient[Litestar], key: str, question: str) -> RunId:
    reply = client.post("/api/runs", json={"question": question}, headers={"Authorization": f"Bearer {key}"})
    assert reply.status_code == 200
    return RunId(reply.json()["run_id"])


def talk(client: TestClient[Litestar], key: str, question: str) -> str:
    """A conversation with one question; its id."""
    headers = {"Authorization": f"Bearer {key}"}
    body = {"question": question, "conversation_id": "new"}
    assert client.post("/api/runs", json=body, headers=headers).status_code == 200
    return client.get("/api/conversations", headers=headers).json()[0]["conversation_id"]


def unlike(value: str) -> str:
    """Something of the same shape that is not there."""
    if "." in value and "#" in value:  # a block
        return "zzzzzzzz" + value[8:]
    if len(value) == 8 and value.isascii():
        return "zzzzzzzz"
    if value[:4] in ("run_", "imp_", "key_"):
        return value[:4] + "7" * (len(value) - 4)
    if value.startswith(("snap_", "conv_")):
        return value[:5] + "7" * (len(value) - 5)
    return value.replace(CANARY, "lärche").replace(PARROT, "甲乙丙").replace("收购价格九亿元", "甲乙丙丁戊己庚")


def send(client: TestClient[Litestar], method: str, probe: Probe, key: str | None) -> httpx.Response:
    headers = {**probe.headers, **({} if key is None else {"Authorization": f"Bearer {key}"})}
    body: dict[str, Any] = {} if probe.body is None else {"json": probe.body}
    return client.request(method, probe.path, params=dict(probe.query) or None, headers=headers, **body)


def _path(block_id: str) -> str:
    return f"/api/blocks/{block_id.replace('#', '%23')}"


def _block(names: Names, secrets: Secrets) -> list[Probe]:
    ids = [
        (names.block_id, True),
        (names.old_block_id, True),
        (names.taken_block_id, True),
        (names.gone_block_id, True),
        (f"{names.doc_id}.v9#0", False),
    ]
    snapshots = ["", secrets.snapshot_id, secrets.older_id, names.failed_snapshot_id]
    return [
        Probe(path=_path(block_id), query={"snapshot": snapshot} if snapshot else {}, headers=headers, shows=shows)
        for block_id, shows in ids
        for snapshot in snapshots
        for headers in ({}, BROWSER)
    ]


def _documents(names: Names, secrets: Secrets) -> list[Probe]:
    return [
        Probe(path="/api/documents"),
        Probe(path="/api/documents", query={"snapshot_id": secrets.older_id}),
        Probe(path="/api/documents", query={"snapshot_id": names.failed_snapshot_id}),
        Probe(path="/api/documents", query={"snapshot_id": ""}, shows=False),
    ]


def _document(ending: str = "") -> Callable[[Names, Secrets], list[Probe]]:
    return lambda names, secrets: [
        Probe(path=f"/api/documents/{doc_id}{ending}", query=query)
        for doc_id in (names.doc_id, names.taken_doc_id)
        for query in ({}, *({"snapshot_id": one} for one in _snapshots(names, secrets)))
    ]


def _original(names: Names, secrets: Secrets) -> list[Probe]:
    queries: list[dict[str, str]] = [
        {},
        {"version": "1"},
        {"version": "9"},
        {"snapshot_id": secrets.snapshot_id},
        {"snapshot_id": secrets.older_id, "version": "1"},
        {"snapshot_id": names.failed_snapshot_id},
    ]
    return [
        Probe(path=f"/api/documents/{doc_id}/original", query=query)
        for doc_id in (names.doc_id, names.old_doc_id, names.taken_doc_id, names.gone_doc_id)
        for query in queries
    ]


def _library_page(names: Names, secrets: Secrets) -> list[Probe]:
    return [
        Probe(path="/library", headers=BROWSER),
        Probe(path="/library", query={"q": names.source}, headers=BROWSER, alike=False),  # repeats what was typed
    ]


def _document_page(names: Names, secrets: Secrets) -> list[Probe]:
    return [
        Probe(path=f"/documents/{doc_id}", query=query, headers=BROWSER)
        for doc_id in (names.doc_id, names.taken_doc_id)
        for query in (
            {},
            {"section": "1"},
            {"snapshot": secrets.snapshot_id},
            {"snapshot": secrets.older_id},
            {"snapshot": names.failed_snapshot_id},
        )
    ]


def _compare_page(names: Names, secrets: Secrets) -> list[Probe]:
    return [
        Probe(path=f"/compare/{before}/{after}", headers=BROWSER)
        for before, after in (
            (secrets.older_id, secrets.snapshot_id),
            (names.failed_snapshot_id, secrets.snapshot_id),
        )
    ]


def _traces_page(names: Names, secrets: Secrets) -> list[Probe]:
    filters = (
        {"text": names.alias},  # one word, which stands in an address as it is
        {"document": names.doc_id},
        {"document": names.old_doc_id},
        {"snapshot": names.failed_snapshot_id},
        {"bundle": names.bundle},
        {"before": names.run_id},
    )
    typed = [Probe(path="/traces", query=one, headers=BROWSER, alike=False, shows=False) for one in filters]
    return [Probe(path="/traces", headers=BROWSER), *typed]  # which repeat what was typed


def _run_page(names: Names, secrets: Secrets) -> list[Probe]:
    return [
        Probe(path=f"/traces/{run_id}", headers=BROWSER)
        for run_id in (names.run_id, names.other_run_id, names.own_labels_run_id)
    ]


def _runs(names: Names, secrets: Secrets) -> list[Probe]:
    queries = (
        {"doc_id": names.doc_id},
        {"text": names.words},
        {"prompt_bundle": names.bundle},
        {"before": names.run_id},
    )
    return [Probe(path="/api/runs"), *(Probe(path="/api/runs", query=one, shows=False) for one in queries)]


def _scopes(names: Names) -> list[dict[str, Any]]:
    return [
        {"doc_ids": [names.doc_id]},
        {"sources": [names.source]},
        {"sources": [names.alias]},
        {"sources": [names.source.upper()]},
        {"tags": [names.tag]},
        {"sources": ["手册", names.source]},
        {"doc_ids": [names.doc_id], "tags": [names.tag]},
    ]


def _ask(names: Names, secrets: Secrets) -> list[Probe]:
    scoped = [
        Probe(path="/api/runs", body={"question": "年假有几天？", "scope": scope}, headers=headers)
        for scope in _scopes(names)
        for headers in ({}, STREAM)
    ]
    return [
        *scoped,
        Probe(path="/api/runs", body={"question": "年假？", "snapshot_id": names.failed_snapshot_id}),
        Probe(path="/api/runs", body={"question": "年假？", "snapshot_id": ""}, shows=False),
        Probe(path="/api/runs", body={"question": "那呢？", "conversation_id": names.conversation_id}),
        Probe(path="/api/runs", body={"question": "年假？", "prompt_bundle": f"{names.bundle}/1"}),
        *(
            Probe(path="/api/runs", body={"question": names.words, "snapshot_id": one}, headers=headers, alike=False)
            for one in (secrets.snapshot_id, secrets.older_id)
            for headers in ({}, STREAM)
        ),
    ]


def _run(ending: str = "", *, shows: bool = True) -> Callable[[Names, Secrets], list[Probe]]:
    return lambda names, _: [
        Probe(path=f"/api/runs/{run_id}{ending}", shows=shows)
        for run_id in (names.run_id, names.other_run_id, names.own_labels_run_id)
    ]


def _feedback(names: Names, secrets: Secrets) -> list[Probe]:
    return [
        Probe(path=f"/api/runs/{run_id}/feedback", body={"thumb": "down", "comment": "x"})
        for run_id in (names.run_id, names.other_run_id, names.own_labels_run_id)
    ]


def _rerun(names: Names, secrets: Secrets) -> list[Probe]:
    return [
        Probe(path=f"/api/runs/{run_id}/rerun", body={"times": 1}, shows=False)
        for run_id in (names.run_id, names.other_run_id, names.own_labels_run_id)
    ]


def _case(ending: str = "", *, body: dict[str, Any] | None = None) -> Callable[[Names, Secrets], list[Probe]]:
    return lambda names, _: [
        Probe(path=f"/api/cases/{run_id.replace('run_', 'case_')}{ending}", body=body)
        for run_id in (names.run_id, names.other_run_id, names.own_labels_run_id)
    ]


def _cases_page(names: Names, secrets: Secrets) -> list[Probe]:
    return [Probe(path="/cases", query={"status": one}, headers=BROWSER) for one in ("open", "all")]


def _case_page(names: Names, secrets: Secrets) -> list[Probe]:
    return [
        Probe(path=f"/cases/{run_id.replace('run_', 'case_')}", headers=BROWSER, shows=run_id == names.run_id)
        for run_id in (names.run_id, names.other_run_id, names.own_labels_run_id)
    ]


def _compare_runs_page(names: Names, secrets: Secrets) -> list[Probe]:
    pairs = ((names.run_id, names.other_run_id), (names.own_labels_run_id, names.run_id))
    return [
        Probe(path="/traces/compare", query={"left": left, "right": right}, headers=BROWSER) for left, right in pairs
    ]


def _conversation(*, shows: bool) -> Callable[[Names, Secrets], list[Probe]]:
    return lambda names, _: [
        Probe(path=f"/api/conversations/{one}", shows=shows)
        for one in (names.conversation_id, names.own_labels_conversation_id)
    ]


def _tool(names: Names, secrets: Secrets) -> list[Probe]:
    calls: list[tuple[str, dict[str, Any], bool]] = [
        ("list_documents", {}, True),
        ("list_documents", {"source": names.source}, True),
        ("list_documents", {"source": names.alias}, True),
        ("list_documents", {"title_contains": names.source[:6]}, True),
        ("list_documents", {"lang": "kn"}, True),
        ("get_outline", {"doc_ids": [names.doc_id]}, True),
        ("list_blocks", {"doc_id": names.doc_id}, True),
        ("list_blocks", {"doc_id": names.doc_id, "section_paths": [names.section]}, True),
        ("search_blocks", {"query": "年假", "doc_ids": [names.doc_id]}, True),
        ("search_blocks", {"query": names.words}, False),
        ("search_blocks", {"query": "年假全部取消"}, True),
        ("scan_term", {"term": "年假", "doc_ids": [names.doc_id]}, True),
        ("scan_term", {"term": names.words}, False),
        ("scan_term", {"term": "年假"}, True),
        ("scan_term", {"term": names.source[:4]}, False),
        ("get_outline", {"doc_ids": [names.taken_doc_id]}, True),
        ("list_blocks", {"doc_id": names.taken_doc_id}, True),
        ("search_blocks", {"query": "裁员草案"}, True),
        ("scan_term", {"term": "裁员"}, True),
    ]
    return [
        Probe(path=f"/api/tools/{tool}", body=body, query={"snapshot_id": one} if one else {}, alike=alike)
        for tool, body, alike in calls
        for one in ("", secrets.older_id, names.failed_snapshot_id)
    ]


def _chat(names: Names, secrets: Secrets) -> list[Probe]:
    def body(question: str, **more: Any) -> dict[str, Any]:
        return {"model": "citebound", "messages": [{"role": "user", "content": question}], **more}

    return [
        Probe(path="/v1/chat/completions", body=body(names.words, stream=stream), alike=False)
        for stream in (False, True)
    ]


def _one(
    path: str, *, body: dict[str, Any] | None = None, shows: bool = False
) -> Callable[[Names, Secrets], list[Probe]]:
    """`path`: members of Names in braces."""
    return lambda names, _: [Probe(path=path.format(**structs.asdict(names)), body=body, shows=shows)]


def _snapshots(names: Names, secrets: Secrets) -> tuple[str, ...]:
    return secrets.snapshot_id, secrets.older_id, names.failed_snapshot_id


def _snapshot(names: Names, secrets: Secrets) -> list[Probe]:
    return [
        Probe(path=f"/api/snapshots/{names.failed_snapshot_id}"),
        Probe(path=f"/api/snapshots/{secrets.snapshot_id}"),
        Probe(path=f"/api/snapshots/{secrets.older_id}"),
    ]


def _diff(names: Names, secrets: Secrets) -> list[Probe]:
    return [
        Probe(path=f"/api/snapshots/{secrets.older_id}/diff/{secrets.snapshot_id}"),
        Probe(path=f"/api/snapshots/{secrets.snapshot_id}/diff/{secrets.older_id}"),
        Probe(path=f"/api/snapshots/{secrets.snapshot_id}/diff/{names.failed_snapshot_id}"),
        Probe(path=f"/api/snapshots/{names.failed_snapshot_id}/diff/{secrets.snapshot_id}"),
    ]


Key: TypeAlias = tuple[str, str]
_BUNDLE = "/api/prompts/{bundle}/1"

ROUTES: dict[Key, Route] = {
    ("GET", "/"): Route(needs="read", probes=_one("/")),
    ("GET", "/sign-in"): Route(needs=None, probes=_one("/sign-in")),
    ("POST", "/sign-in"): Route(needs=None, probes=_one("/sign-in")),
    ("POST", "/sign-out"): Route(needs=None),
    ("GET", "/library"): Route(needs="read", probes=_library_page),
    ("GET", "/library/imports"): Route(needs="write", probes=_one("/library/imports")),
    ("GET", "/documents/{doc_id}"): Route(needs="read", probes=_document_page),
    ("GET", "/compare/{before}/{after}"): Route(needs="read", probes=_compare_page),
    ("GET", "/traces"): Route(needs="read", probes=_traces_page),
    ("GET", "/traces/{run_id}"): Route(needs="read", probes=_run_page),
    ("GET", "/imports/{import_id}/trace"): Route(needs="write", probes=_one("/imports/{import_id}/trace")),
    ("POST", "/samples"): Route(needs="write", probes=_one("/samples", body={})),
    ("GET", "/assets/{name}"): Route(needs=None, probes=_one("/assets/frame.css")),
    ("GET", "/healthz"): Route(needs=None, probes=_one("/healthz")),
    ("GET", "/readyz"): Route(needs=None, probes=_one("/readyz")),
    ("GET", "/health"): Route(needs="admin", probes=_one("/health")),
    ("GET", "/api/health"): Route(needs="admin", probes=_one("/api/health")),
    ("GET", "/api/figures"): Route(needs="admin", probes=_one("/api/figures")),
    ("GET", "/metrics"): Route(needs="admin", probes=_one("/metrics")),
    ("POST", "/api/runs"): Route(needs="read", probes=_ask, asks=True),
    ("GET", "/api/runs"): Route(needs="read", probes=_runs),
    ("GET", "/api/runs/{run_id}"): Route(needs="read", probes=_run()),
    ("GET", "/api/runs/{run_id}/evidence"): Route(needs="read", probes=_run("/evidence")),
    ("GET", "/api/runs/{run_id}/trace"): Route(needs="read", probes=_run("/trace", shows=False)),
    ("POST", "/api/runs/{run_id}/cancel"): Route(needs="read", probes=_run("/cancel", shows=False)),
    ("POST", "/api/runs/{run_id}/replay"): Route(needs="read", probes=_run("/replay")),
    ("GET", "/api/runs/{run_id}/export"): Route(needs="read", probes=_run("/export")),
    ("GET", "/api/runs/{run_id}/audit"): Route(needs="read", probes=_run("/audit", shows=False)),
    ("POST", "/api/runs/{run_id}/rerun"): Route(needs="read", probes=_rerun),
    ("GET", "/api/runs/{run_id}/feedback"): Route(needs="read", probes=_run("/feedback")),
    ("POST", "/api/runs/{run_id}/feedback"): Route(needs="read", probes=_feedback),
    ("GET", "/cases"): Route(needs="read", probes=_cases_page),
    ("GET", "/cases/{case_id}"): Route(needs="read", probes=_case_page),
    ("POST", "/cases/{case_id}"): Route(needs="read", probes=_case_page),
    ("GET", "/traces/compare"): Route(needs="read", probes=_compare_runs_page),
    ("GET", "/traces/open"): Route(needs="read", probes=_one("/traces/open")),
    ("POST", "/traces/open"): Route(needs="read", probes=_one("/traces/open", body={})),
    ("GET", "/api/cases"): Route(needs="read", probes=_one("/api/cases", shows=True)),
    ("GET", "/api/cases/{case_id}"): Route(needs="read", probes=_case()),
    ("POST", "/api/cases/{case_id}"): Route(needs="read", probes=_case(body={"note": "x"})),
    ("GET", "/api/cases/{case_id}/item"): Route(needs="read", probes=_case("/item")),
    ("GET", "/api/conversations"): Route(needs="read", probes=_one("/api/conversations", shows=True)),
    ("POST", "/api/conversations"): Route(needs="read", probes=_one("/api/conversations"), asks=True),
    ("GET", "/api/conversations/{conversation_id}"): Route(needs="read", probes=_conversation(shows=True)),
    ("DELETE", "/api/conversations/{conversation_id}"): Route(needs="read", probes=_conversation(shows=False)),
    ("POST", "/api/imports"): Route(needs="write", probes=_one("/api/imports", body={"paths": ["/x"]})),
    ("GET", "/api/imports"): Route(needs="write", probes=_one("/api/imports")),
    ("GET", "/api/imports/{import_id}"): Route(needs="write", probes=_one("/api/imports/{import_id}")),
    ("GET", "/api/imports/{import_id}/trace"): Route(needs="write", probes=_one("/api/imports/{import_id}/trace")),
    ("GET", "/api/imports/{import_id}/events"): Route(needs="write", probes=_one("/api/imports/{import_id}/events")),
    ("POST", "/api/imports/{import_id}/{verb}"): Route(needs="write", probes=_one("/api/imports/{import_id}/pause")),
    ("GET", "/api/snapshots"): Route(needs="read", probes=_one("/api/snapshots", shows=True)),
    ("GET", "/api/snapshots/{snapshot_id}"): Route(needs="read", probes=_snapshot),
    ("DELETE", "/api/snapshots/{snapshot_id}"): Route(
        needs="write", probes=_one("/api/snapshots/{failed_snapshot_id}")
    ),
    ("POST", "/api/snapshots/{snapshot_id}/activate"): Route(
        needs="write", probes=_one("/api/snapshots/{failed_snapshot_id}/activate")
    ),
    ("POST", "/api/snapshots/{snapshot_id}/pin"): Route(
        needs="write", probes=_one("/api/snapshots/{failed_snapshot_id}/pin")
    ),
    ("POST", "/api/snapshots/{snapshot_id}/unpin"): Route(
        needs="write", probes=_one("/api/snapshots/{failed_snapshot_id}/unpin")
    ),
    ("POST", "/api/snapshots/{snapshot_id}/verify"): Route(
        needs="write", probes=_one("/api/snapshots/{failed_snapshot_id}/verify")
    ),
    ("GET", "/api/snapshots/{snapshot_id}/diff/{other}"): Route(needs="read", probes=_diff),
    ("GET", "/api/documents"): Route(needs="read", probes=_documents),
    ("GET", "/api/documents/{doc_id}"): Route(needs="read", probes=_document()),
    ("GET", "/api/documents/{doc_id}/outline"): Route(needs="read", probes=_document("/outline")),
    ("GET", "/api/documents/{doc_id}/blocks"): Route(needs="read", probes=_document("/blocks")),
    ("GET", "/api/documents/{doc_id}/original"): Route(needs="read", probes=_original),
    ("GET", "/api/blocks/{block_id}"): Route(needs="read", probes=_block),
    ("GET", "/api/tools"): Route(needs="read", probes=_one("/api/tools")),
    ("POST", "/api/tools/{name}"): Route(needs="read", probes=_tool),
    ("GET", "/api/keys"): Route(needs="admin", probes=_one("/api/keys")),
    ("POST", "/api/keys"): Route(needs="admin", probes=_one("/api/keys", body={"name": "mine", "permission": "admin"})),
    ("DELETE", "/api/keys/{key}"): Route(needs="admin", probes=_one("/api/keys/{key}")),
    ("GET", "/api/prompts"): Route(needs="admin", probes=_one("/api/prompts")),
    ("POST", "/api/prompts"): Route(
        needs="admin", probes=_one("/api/prompts", body={"id": "x", "parent": "default/1"})
    ),
    ("GET", "/api/prompts/{bundle_id}/{version}"): Route(needs="admin", probes=_one(_BUNDLE)),
    ("PUT", "/api/prompts/{bundle_id}/{version}"): Route(needs="admin", probes=_one(_BUNDLE, body={})),
    ("POST", "/api/prompts/{bundle_id}/{version}/freeze"): Route(needs="admin", probes=_one(f"{_BUNDLE}/freeze")),
    ("GET", "/api/prompts/{bundle_id}/{version}/diff"): Route(needs="admin", probes=_one(f"{_BUNDLE}/diff")),
    ("GET", "/prompts"): Route(needs="admin", probes=_one("/prompts")),
    ("GET", "/prompts/{bundle_id}/{version}"): Route(needs="admin", probes=_one("/prompts/{bundle}/1")),
    ("GET", "/prompts/compare"): Route(needs="admin", probes=_one("/prompts/compare?before=default/1&after=default/1")),
    ("GET", "/settings"): Route(needs="admin", probes=_one("/settings")),
    ("GET", "/api/settings"): Route(needs="admin", probes=_one("/api/settings")),
    ("PUT", "/api/settings/{part}"): Route(needs="admin", probes=_one("/api/settings/chat", body={"base_url": None})),
    ("POST", "/api/settings/check"): Route(needs="admin", probes=_one("/api/settings/check", body={})),
    ("POST", "/api/settings/restart"): Route(needs="admin", probes=_one("/api/settings/restart", body={})),
    ("GET", "/v1/models"): Route(needs="read", probes=_one("/v1/models")),
    ("GET", "/v1/models/{model}"): Route(needs="read", probes=_one("/v1/models/{source}")),
    ("POST", "/v1/chat/completions"): Route(needs="read", probes=_chat, asks=True),
}
