"""Citations in the three forms that clients show."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from msgspec import structs

from api.links import BlockLinks
from api.openai_compat.citations import annotations, block_url, extra, footer
from api.openai_compat.conversation import history_of
from api.openai_compat.shapes import InMessage
from api.openai_compat.stream import progress_line
from shared.access import OWNER
from shared.types.events import Thought, ToolCalled
from shared.types.runs import Answer, ClaimCheck, Limitation, SnapshotGap
from tests.unit.telemetry.factories import A_CITATION, a_record

URL = block_url("http://127.0.0.1:8765", BlockLinks(None, owner_key=None), OWNER)
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


@pytest.mark.parametrize("mark", ["【来源：k3f9a2qd.v2#17】", "[source: k3f9a2qd.v2#17]", "![x](http://a)"])
def test_a_step_carries_no_mark_that_was_not_verified_and_loads_nothing(mark: str) -> None:
    thought = Thought(turn=1, text=f"五天{mark}。")
    called = ToolCalled(turn=1, tool="search_blocks", arguments=f'{{"query": "五天{mark}。"}}')
    for line in map(progress_line, (thought, called)):
        assert "五天" in line
        assert mark not in line
        assert "![" not in line


def test_limitations_are_told_below_the_sources() -> None:
    answer = an_answer(citations=(), limitations=(Limitation(code="snapshot_partial", text="缺少\n一份文档。"),))
    assert footer(answer, URL) == "\n\n**关于此回答**\n\n> 缺少 一份文档。"
    cited = an_answer(question="How much?", limitations=(Limitation(code="snapshot_partial", text="One is missing."),))
    assert footer(cited, URL).endswith(")\n\n> One is missing.")


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


def test_our_own_object_says_whether_the_usage_is_an_estimate() -> None:
    for estimated in (True, False):
        usage = structs.replace(an_answer().usage, estimated=estimated)
        assert extra(an_answer(usage=usage), URL).estimated is estimated


def test_what_a_source_does_not_support_is_named_once_and_stands_in_our_own_object() -> None:
    doubtful = structs.replace(A_CITATION, verdict="unsupported", problem="引用的文本中没有：15 天")
    claim = ClaimCheck(sentence="每人每天 300 元。", markers=(1,), verdict="unsupported", problem="15 天")
    gap = SnapshotGap(state="ready_partial", documents=3)
    said = Limitation(code="citation_unsupported", text="“每人每天 300 元。” [1] — 15 天\n![x](http://a)")
    answer = an_answer(status="partial", citations=(doubtful,), claims=(claim,), snapshot=gap, limitations=(said,))
    *_, listed, empty, last = footer(answer, URL).splitlines()
    assert (listed[:2], listed[-1], empty) == ("1.", ")", "")
    assert last == r"> “每人每天 300 元。” \[1\] — 15 天 \!\[x\](http://a)"
    told = extra(answer, URL)
    assert (told.status, told.claims, told.snapshot) == ("partial", (claim,), gap)
    assert [(one.verdict, one.problem) for one in told.citations] == [("unsupported", doubtful.problem)]


@pytest.mark.parametrize("status", ["refused", "clarification"])
def test_a_refusal_and_a_question_back_are_told_as_they_are(status: str) -> None:
    limits = (Limitation(code="snapshot_partial", text="One document is missing."),)
    answer = an_answer("Which year?", status=status, citations=(), limitations=limits, question="How much?")
    assert footer(answer, URL) == "\n\n**About this answer**\n\n> One document is missing."
    assert (annotations(answer, URL), extra(answer, URL).status) == ((), status)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("谁负责？", "> 未能自动核对：“储存由赵敏\\_负责。”\\[1\\]（没有写出：赵敏）"),
        ("Who leads it?", "> Could not be checked automatically: “储存由赵敏\\_负责。” \\[1\\] (没有写出：赵敏)"),
    ],
)
def test_a_sentence_that_could_not_be_checked_is_named_and_its_source_is_listed_as_any_other(
    question: str, told: str
) -> None:
    answer = an_answer(
        question=question,
        citations=(structs.replace(A_CITATION, verdict="unchecked", problem="没有写出：赵敏"),),
        claims=(
            ClaimCheck(sentence="每年五天。", markers=(1,), verdict="supported"),
            ClaimCheck(sentence="储存由赵敏_负责。", markers=(1,), verdict="unchecked", problem="没有写出：赵敏"),
        ),
    )
    *_, listed, empty, last = footer(answer, URL).splitlines()
    assert (listed.endswith(f"({ADDRESS})"), empty, last) == (True, "", told)


def test_a_footer_with_doubts_is_known_as_ours_when_the_conversation_comes_back() -> None:
    doubtful = structs.replace(A_CITATION, problem="引用的文本中没有：15 天")
    unchecked = structs.replace(A_CITATION, verdict="unchecked")
    answer = an_answer(
        citations=(doubtful, unchecked, A_CITATION),
        claims=(ClaimCheck(sentence="住宿费由赵敏审批。", markers=(2,), verdict="unchecked"),),
        limitations=(Limitation(code="x", text="缺少一份文档。"),),
    )
    said = [
        InMessage(role="user", content="住宿费？"),
        InMessage(role="assistant", content=answer.text + footer(answer, URL)),
        InMessage(role="user", content="那交通费呢？"),
    ]
    assert [exchange.answer for exchange in history_of(said)] == [answer.text]


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
