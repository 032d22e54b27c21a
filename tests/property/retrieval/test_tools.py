"""The five tools on random libraries, against the plainest possible reading of the same documents."""

import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from api.retrieval.library import Pinned
from api.tools.registry import Toolbox
from shared.access import Access
from shared.text.fold import fold
from shared.vectors.memory import MemoryVectors
from tests.contract.tools.world import World
from tests.factories import ADocument, Published, a_document

WORDS = ["年假", "报销", "Straße", "ERR_1042", "v2.1.3", "Cafe\u0301", "İ", "aa", "审批", "。", " "]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map("".join)
PATHS = ["/", "甲", "甲 › 乙", "甲 › 乙 › 丙", "丁"]
SECTIONS = (
    st.fixed_dictionaries({}, optional={path: st.lists(TEXTS, max_size=3) for path in PATHS})
    .filter(bool)
    .map(lambda sections: {path: sections[path] for path in PATHS if path in sections})
)
NASTY = 'aAbB.年假报ßſİıŉΐᾳͅſﬁﬃéÉe\u0301\u0327\u0308각ᄀ\u1161\u11a8Ａａ％ÅK👩\u200d🏽🇨🇳\r\n ि\0\x01\x02"*'
NASTY_TEXTS = st.text(
    st.one_of(st.sampled_from(NASTY), st.characters(exclude_categories=["Cs"])), min_size=1, max_size=12
)
TITLES = ["附录", "附录 B", "Äpfel", "a", "Zoo", "STRASSE", "Straße"]
SOURCES = {"人事": ("HR", "Personnel"), "Straße": ("Wege",), "finance": ()}
LABELS = st.sampled_from([(), ("staff",), ("board",), ("staff", "board")])
CALLERS = st.sampled_from([None, frozenset[str](), frozenset({"staff"}), frozenset({"board"})])
LIBRARIES = st.lists(st.tuples(SECTIONS, LABELS), min_size=1, max_size=4).map(
    lambda documents: [
        a_document(f"{number}.md", sections=sections, title=f"标题{number}", source=f"来源{number}", access=access)
        for number, (sections, access) in enumerate(documents)
    ]
)
FEW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@contextmanager
def published(documents: list[ADocument]) -> Generator[tuple[World, Published]]:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder), MemoryVectors())
        yield world, world.publish(*documents)


@FEW
@given(LIBRARIES, st.data())
def test_list_blocks_returns_each_block_of_the_scope_exactly_once(
    documents: list[ADocument], data: st.DataObject
) -> None:
    document = data.draw(st.sampled_from(documents))
    paths = data.draw(st.lists(st.sampled_from(list(document.sections)), max_size=4))
    with published(documents) as (world, library):
        doc_id = library.doc_id(document.key)
        called = world.call("list_blocks", {"doc_id": doc_id, "section_paths": paths})

        expected = [
            block.block_id
            for block in library.blocks(document.key)
            if not paths or any(_inside(block.section_path, path) for path in paths)
        ]
        assert called.block_ids() == expected
        assert called.payload["total"] == len(expected)


@FEW
@given(LIBRARIES, CALLERS, st.one_of(st.sampled_from(WORDS), TEXTS).filter(lambda term: term.strip()))
def test_scan_term_equals_reading_every_block(
    documents: list[ADocument], labels: frozenset[str] | None, term: str
) -> None:
    access = Access(labels=labels)
    with published(documents) as (world, library):
        called = world.call("scan_term", {"term": term}, access=access)

        visible = {one.doc_id for one in library.documents if _may_read(access, one.access)}
        needle = fold(term.strip())
        expected = [
            (block.block_id, fold(block.text).count(needle))
            for block in library.blocks()
            if block.doc_id in visible and needle in fold(block.text)
        ]
        assert [(block["block_id"], block["count"]) for block in called.payload["blocks"]] == expected
        assert called.payload["total_count"] == sum(count for _, count in expected)
        texts = {block.block_id: block.text for block in library.blocks()}
        for block in called.payload["blocks"]:
            assert block["snippet"] in texts[block["block_id"]]
            assert needle in fold(block["snippet"])


@settings(parent=FEW, max_examples=60)
@given(st.lists(NASTY_TEXTS, min_size=1, max_size=12), st.data())
def test_scan_term_finds_every_piece_of_any_text_and_nothing_else(texts: list[str], data: st.DataObject) -> None:
    pieces = st.sampled_from(texts).flatmap(_piece)
    terms = [
        term for term in data.draw(st.lists(st.one_of(pieces, NASTY_TEXTS), min_size=4, max_size=4)) if term.strip()
    ]
    with published([a_document("异形.md", *texts)]) as (world, library):
        found = world.pinned(lambda pinned: _scans(pinned, terms))

        for term, payload in zip(terms, found, strict=True):
            needle = fold(term.strip())
            expected = [block.block_id for block in library.blocks() if needle in fold(block.text)]
            assert [block["block_id"] for block in payload["blocks"]] == expected


@FEW
@given(LIBRARIES, CALLERS, TEXTS.filter(lambda query: query.strip()), st.data())
def test_search_never_leaves_its_scope_nor_the_callers_labels(
    documents: list[ADocument], labels: frozenset[str] | None, query: str, data: st.DataObject
) -> None:
    access = Access(labels=labels)
    with published(documents) as (world, library):
        visible = sorted(one.doc_id for one in library.documents if _may_read(access, one.access))
        narrow = data.draw(st.lists(st.sampled_from(visible), min_size=1, unique=True)) if visible else []
        scope = data.draw(st.sampled_from([None, visible])) if visible else None
        arguments = {"query": query} | ({"doc_ids": narrow} if narrow and data.draw(st.booleans()) else {})

        called = world.call("search_blocks", arguments, access=access, scope=scope)

        allowed = set(arguments.get("doc_ids", visible))
        inside = [block for block in library.blocks() if block.doc_id in allowed]
        assert {block["doc_id"] for block in called.payload["blocks"]} <= allowed
        assert len(called.block_ids()) == len(set(called.block_ids())) == min(5, len(inside))


@FEW
@given(st.lists(st.tuples(st.sampled_from(TITLES), st.sampled_from(list(SOURCES))), min_size=1, max_size=6), st.data())
def test_list_documents_gives_every_document_that_meets_the_conditions_in_one_order(
    documents: list[tuple[str, str]], data: st.DataObject
) -> None:
    named = [
        a_document(f"{number}.md", "正文", title=title, source=source, aliases=SOURCES[source])
        for number, (title, source) in enumerate(documents)
    ]
    names = st.sampled_from([name for source, aliases in SOURCES.items() for name in (source, *aliases)])
    conditions = data.draw(
        st.fixed_dictionaries(
            {}, optional={"source": names.map(str.swapcase), "title_contains": st.sampled_from(TITLES)}
        )
    )
    with published(named) as (world, library):
        payload = world.call("list_documents", conditions).payload

        wanted = fold(conditions.get("source", ""))
        expected = [
            (one.source_label, one.title, one.doc_id)
            for one in library.documents
            if (not wanted or wanted in map(fold, (one.source_label, *one.aliases)))
            and fold(conditions.get("title_contains", "")) in fold(one.title)
        ]
        found = [(one["source_label"], one["title"], one["doc_id"]) for one in payload["documents"]]
        assert found == sorted(expected)
        assert payload["total"] == len(expected)


@FEW
@given(LIBRARIES, st.data())
def test_get_outline_keeps_the_order_asked_for_and_its_numbers_add_up(
    documents: list[ADocument], data: st.DataObject
) -> None:
    keys = data.draw(st.lists(st.sampled_from([one.key for one in documents]), min_size=1, max_size=6))
    with published(documents) as (world, library):
        payload = world.call("get_outline", {"doc_ids": [library.doc_id(key) for key in keys]}).payload

        assert [one["doc_id"] for one in payload["documents"]] == [library.doc_id(key) for key in dict.fromkeys(keys)]
        assert payload["total"] == len(set(keys))
        for key, outline in zip(dict.fromkeys(keys), payload["documents"], strict=True):
            blocks = library.blocks(key)
            paths = [section["path"] for section in outline["sections"]]
            assert paths == list(next(one.sections for one in documents if one.key == key))
            assert sum(section["own_blocks"] for section in outline["sections"]) == len(blocks)
            for section in outline["sections"]:
                inside = [block for block in blocks if _inside(block.section_path, section["path"])]
                assert section["subtree_blocks"] == len(inside)
                assert section["subtree_tokens"] == sum(block.tokens for block in inside)


@FEW
@given(LIBRARIES, CALLERS)
def test_no_tool_shows_anything_of_a_forbidden_document(
    documents: list[ADocument], labels: frozenset[str] | None
) -> None:
    access = Access(labels=labels)
    with published(documents) as (world, library):
        hidden = [one for one in library.documents if not _may_read(access, one.access)]
        shown = len(library.documents) - len(hidden)
        answers = [
            world.call("list_documents", {}, access=access),
            world.call("search_blocks", {"query": "年假 报销 审批"}, access=access),
            world.call("scan_term", {"term": "年假"}, access=access),
        ]
        assert answers[0].payload["total"] == shown
        for one in hidden:
            refused = [
                world.call("get_outline", {"doc_ids": [one.doc_id]}, access=access),
                world.call("list_blocks", {"doc_id": one.doc_id, "section_paths": ["甲"]}, access=access),
            ]
            assert all(called.error["missing"] == [one.doc_id] for called in refused)
            for called in (*answers, *refused):
                text = called.result.payload.decode()
                assert one.title not in text
                assert one.source_label not in text
                assert f"{one.doc_id}.v" not in text


@st.composite
def _piece(draw: st.DrawFn, text: str) -> str:
    first = draw(st.integers(0, len(text) - 1))
    return text[first : draw(st.integers(first + 1, len(text)))]


async def _scans(pinned: Pinned, terms: list[str]) -> list[dict[str, Any]]:
    results = [await Toolbox(pinned).call("scan_term", {"term": term}) for term in terms]
    return [msgspec.json.decode(result.payload) for result in results]


def _inside(path: str, scope: str) -> bool:
    return path == scope or path.startswith(f"{scope} › ")


def _may_read(access: Access, labels: tuple[str, ...]) -> bool:
    return access.labels is None or not labels or not access.labels.isdisjoint(labels)
