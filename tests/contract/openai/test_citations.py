"""Citations in the three forms that clients show."""

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from msgspec import structs

from api.links import BlockLinks
from api.openai_compat.citations import annotations, block_url, extra, footer
from shared.access import OWNER
from shared.types.runs import Answer, Limitation
from tests.unit.telemetry.factories import A_CITATION, a_record

URL = block_url("http://127.0.0.1:8765", BlockLinks(None), OWNER)
ADDRESS = "http://127.0.0.1:8765/api/blocks/k3f9a2qd.v2%2317?snapshot=snap_1"


def an_answer(text: str = "每人每天 300 元。[1]", **more: object) -> Answer:
    return structs.replace(a_record(text=text).answer, **more)


def test_the_sources_follow_as_a_list_with_links_in_the_language_of_the_question() -> None:
    assert footer(an_answer(), URL) == (f"\n\n**来源**\n\n1. [差旅管理办法 › 第三章 › 住宿，第 4 页]({ADDRESS})")
    repeated = structs.replace(A_CITATION, title="差旅管理办法", section_path="差旅管理办法 › 第三章")
    once = footer(structs.replace(an_answer(), citations=(repeated,)), URL)
    assert once == f"\n\n**来源**\n\n1. [差旅管理办法 › 第三章，第 4 页]({ADDRESS})"
    english = structs.replace(A_CITATION, title="Travel Policy", section_path="/", page_last=6)
    answer = an_answer(question="How much may a hotel cost?", citations=(english,))
    assert footer(answer, URL) == f"\n\n**Sources**\n\n1. [Travel Policy, p. 4–6]({ADDRESS})"


def test_limitations_are_told_below_the_sources() -> None:
    answer = an_answer(citations=(), limitations=(Limitation(code="snapshot_partial", text="缺少\n一份文档。"),))
    assert footer(answer, URL) == "\n\n> 缺少 一份文档。"


def test_every_mark_of_a_citation_is_annotated_where_it_stands_and_no_other_bracket() -> None:
    text = "😀 五天[1]，见 [2] 与 array[0]；再次[1]。"
    found = annotations(an_answer(text), URL)
    assert [text[one.url_citation.start_index : one.url_citation.end_index] for one in found] == ["[1]", "[1]"]
    assert {(one.url_citation.url, one.url_citation.title) for one in found} == {(ADDRESS, "差旅管理办法")}


def test_our_own_object_names_the_blocks_themselves() -> None:
    told = extra(an_answer(), URL)
    assert (told.run_id, told.status) == ("run_1", "complete")
    assert [(one.block_id, one.quote, one.url) for one in told.citations] == [
        ("k3f9a2qd.v2#17", "住宿费标准为每人每天 300 元。", ADDRESS)
    ]


@given(st.text(min_size=1))
def test_no_title_can_break_out_of_its_link(title: str) -> None:
    answer = an_answer(citations=(structs.replace(A_CITATION, title=title),))
    tokens = MarkdownIt().parse(footer(answer, URL))
    inline = [token for token in tokens if token.type == "inline"][-1]
    kinds = [child.type for child in inline.children or []]
    assert kinds[0] == "link_open"
    assert kinds[-1] == "link_close"
    assert kinds.count("link_open") == 1
    assert not {"image", "html_inline"} & set(kinds)
