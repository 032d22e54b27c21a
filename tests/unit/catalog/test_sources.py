from sqlite_utils import Database

from shared.catalog.sources import find_source, get_source, list_sources
from shared.types.imports import SourceSpec
from tests.unit.catalog.factories import a_source

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
