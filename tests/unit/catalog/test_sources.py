import pytest
from sqlite_utils import Database

from shared.catalog.imports import create_import, get_request, list_imports
from shared.catalog.sources import find_source, get_source, list_sources
from shared.errors import InvalidArgument
from shared.types.documents import Source
from shared.types.imports import ImportRequest, SourceSpec
from tests.unit.catalog.factories import NOW, a_source

RESTRICTED = SourceSpec(
    label="人事", aliases=("HR",), trust="internal", access=("hr",), lang_hint="zh", tags=("制度", "policy")
)


def test_a_source_holds_what_its_importer_said(db: Database) -> None:
    made = a_source(db, "/人事", RESTRICTED)
    assert get_source(db, made.source_id) == made == find_source(db, kind="folder", root="/人事")
    assert (made.label, made.access, made.trust, made.lang_hint) == ("人事", ("hr",), "internal", "zh")


def test_what_an_importer_leaves_out_stays_so_forgetting_the_labels_opens_nothing(db: Database) -> None:
    made = a_source(db, "/人事", RESTRICTED)
    assert a_source(db, "/人事") == made
    assert a_source(db, "/人事", SourceSpec(access=("board",))).access == ("board",)
    assert a_source(db, "/人事").tags == ("制度", "policy")


def test_what_an_importer_says_holds_even_where_it_is_the_default(db: Database) -> None:
    a_source(db, "/人事", RESTRICTED)
    said = SourceSpec(aliases=(), trust="user_upload", access=(), lang_hint=None, tags=())

    emptied = a_source(db, "/人事", said)

    assert emptied == Source(source_id=emptied.source_id, kind="folder", root="/人事", label="人事")


def test_none_said_and_nothing_said_stay_apart_in_a_stored_request(db: Database) -> None:
    for spec in (SourceSpec(), SourceSpec(access=(), lang_hint=None)):
        import_id = create_import(db, ImportRequest(paths=("/人事",), source=spec), now_ms=NOW)
        assert get_request(db, import_id).source == spec


@pytest.mark.parametrize(
    ("label", "field"), [("*", "source.access"), ("", "source.access[1]"), ("  ", "source.access[1]")]
)
def test_a_label_that_would_mean_everyone_or_nothing_is_refused(db: Database, label: str, field: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        create_import(db, ImportRequest(paths=("/人事",), source=SourceSpec(access=("hr", label))), now_ms=NOW)

    assert caught.value.field == field
    assert list_imports(db, limit=1, now_ms=NOW) == []


def test_labels_are_unique_whatever_their_case(db: Database) -> None:
    labels = [
        a_source(db, root, SourceSpec(label=label)).label
        for root, label in (("/a", "Docs"), ("/b", "docs"), ("/c", "DOCS"))
    ]
    assert labels == ["Docs", "docs (2)", "DOCS (3)"]
    assert (
        a_source(db, "/b", SourceSpec(label="docs")).label == "docs (2)"
    )  # a second import of the same changes nothing
    assert [source.root for source in list_sources(db)] == ["/a", "/b", "/c"]
