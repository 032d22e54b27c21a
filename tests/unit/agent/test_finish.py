"""From a finished loop to the delivered answer."""

import pytest
from msgspec import structs

from api.agent import gaps
from api.agent.decisions import Ending, Finish
from api.agent.ledger import Fetch, Ledger
from api.agent.steps import Broken, Outcome
from shared.access import OWNER, Access
from shared.types.runs import CitationMode, Limitation, Usage
from shared.types.snapshots import FailedDocument
from tests.factories import NOW_MS
from tests.promises import promise
from tests.unit.agent.finished import finish
from tests.unit.agent.playing import DOC, SNAPSHOT, block
from tests.unit.agent.snapshots import a_snapshot
from tests.unit.agent.texts import EN, ZH

FETCH = Fetch(snapshot_id=SNAPSHOT, turn=1, tool="search_blocks", query="年假", at_ms=NOW_MS)
LEDGER = Ledger().admit((block(0, "员工工作满一年享有五天年假。"), block(1, "病假需提交医院证明。")), FETCH)
A, B = f"{DOC}.v1#0", f"{DOC}.v1#1"


def outcome(
    text: str,
    *,
    ending: Ending = "answer",
    closed: str | None = None,
    limitations: tuple[Limitation, ...] = (),
    ledger: Ledger = LEDGER,
) -> Outcome:
    return Outcome(
        ending=Finish(thought="", ending=ending, text=text, kept=text),
        reason=closed or "finished",
        closed=closed,
        ledger=ledger,
        spent=Usage(),
        limitations=limitations,
        turns=2,
    )


@promise("P6")
def test_a_citation_carries_the_text_that_the_model_saw() -> None:
    verified = finish(outcome(f"满一年有五天年假。【来源：{A}】"), wording=ZH)
    assert (verified.status, verified.text, verified.limitations) == ("complete", "满一年有五天年假。[1]", ())
    citation = verified.citations[0]
    assert (citation.marker, citation.block_id, citation.quote) == (1, A, "员工工作满一年享有五天年假。")
    assert (citation.span_start, citation.span_end) == (0, len(citation.quote))
    assert (citation.verdict, citation.problem, citation.snapshot_id) == ("supported", None, SNAPSHOT)


@pytest.mark.parametrize(
    ("header", "row", "sentence"),
    [
        ("| Item | 2022 | 2023 |", "| Revenue | 400 | 500 |", "Revenue in 2023 was 500."),
        ("| 项目 | 2022年 | 2023年 |", "| 营收 | 四百 | 500 |", "2023年营收为500。"),
    ],
)
def test_a_table_header_is_evidence_for_its_rows(header: str, row: str, sentence: str) -> None:
    ledger = Ledger().admit((structs.replace(block(0, row), table_header=header),), FETCH)
    (citation,) = finish(outcome(f"{sentence} [source: {A}]", ledger=ledger), wording=ZH).citations
    assert (citation.verdict, citation.quote) == ("supported", row)


def test_an_unsupported_sentence_is_flagged_and_stays() -> None:
    verified = finish(outcome(f"满一年有15天年假。【来源：{A}】"), wording=ZH)
    assert verified.text == "满一年有15天年假。[1]"
    assert (verified.citations[0].verdict, verified.citations[0].problem) == ("unsupported", "引用的文本中没有：15天")
    assert [one.code for one in verified.limitations] == ["citation_unsupported"]
    assert verified.status == "partial"
    assert "“满一年有15天年假。” [1] — 引用的文本中没有：15天" in verified.limitations[0].text


EMPTY_MARKS = [
    ("年假五天[]。", "年假五天。"),
    ("年假五天【】，病假另算 [ ]", "年假五天，病假另算"),
    ("Five days [^].\n\n[]", "Five days."),
    (f"年假五天[]【来源：{A}】。", "年假五天[1]。"),
    ("**年假**[]：五天[][]。", "**年假**：五天。"),
    ("见 `a[]`、list[] 与 arr[]。a = []", "见 `a[]`、list[] 与 arr[]。a = []"),
    ("```\nx = []\n[]\n```\n五天[]。", "```\nx = []\n[]\n```\n五天。"),
    ("- [ ] 交证明\n- [ ]", "- [ ] 交证明\n- [ ]"),
    ("[](https://a.example/) 与 f([])", "[](https://a.example/) 与 f([])"),
]


@pytest.mark.parametrize(("text", "delivered"), EMPTY_MARKS, ids=[text for text, _ in EMPTY_MARKS])
def test_an_empty_mark_is_no_source_and_goes_but_code_stays(text: str, delivered: str) -> None:
    verified = finish(outcome(text), wording=ZH)
    assert verified.text == delivered
    assert finish(outcome(delivered), wording=ZH).text.replace("［1］", "[1]") == delivered


def test_empty_brackets_stay_where_what_was_read_or_asked_writes_them() -> None:
    ledger = Ledger().admit((block(0, "空表写作 []，名称填在【】里。"),), FETCH)
    for text in ("空表写作 []。", "名称填在【】里。"):
        assert finish(outcome(text, ledger=ledger), wording=ZH).text == text
        assert finish(outcome(text), wording=ZH, question=text).text == text


def test_empty_brackets_stay_where_nothing_was_looked_up() -> None:
    unread = (Limitation(code="not_looked_up", text="没有查找"),)
    assert finish(outcome("空数组写作 []。", limitations=unread), wording=ZH).text == "空数组写作 []。"


@pytest.mark.parametrize("left", ["## 结论", "结论：", "……"])
def test_what_strict_leaves_must_say_something(left: str) -> None:
    verified = finish(outcome(f"{left}\n\n满一年有15天年假。【来源：{A}】"), wording=ZH, mode="strict")
    assert (verified.status, verified.reason) == ("refused", "unsupported")


def test_a_checked_sentence_has_no_blank_where_its_mark_stood() -> None:
    verified = finish(outcome(f"It lasts three years [source: {A}]. 年假五天 【来源：{A}】。"), wording=ZH)
    assert [one.sentence for one in verified.checks] == ["It lasts three years.", "年假五天。"]


def test_of_a_sentence_without_a_source_no_cited_text_is_spoken_of() -> None:
    verified = finish(outcome(f"满一年享有五天年假。【来源：{A}】\n\n病假共 45 天。"), wording=ZH)
    assert [one.problem for one in verified.checks if not one.markers] == ["句子没有注明来源"]


def test_a_name_that_its_source_does_not_have_is_told_at_the_citation_and_leaves_the_answer_complete() -> None:
    verified = finish(outcome(f"年假制度由赵敏负责。【来源：{A}】"), wording=ZH)
    told = "引用的文本中没有明确写出：赵敏"
    assert [(one.verdict, one.problem) for one in verified.citations] == [("unchecked", told)]
    assert [(one.verdict, one.problem) for one in verified.checks] == [("unchecked", told)]
    assert (verified.status, verified.limitations) == ("complete", ())


def test_what_is_wrong_with_a_citation_is_told_before_what_is_not_proved() -> None:
    verified = finish(outcome(f"年假制度由赵敏负责。【来源：{A}】满一年有15天年假。【来源：{A}】"), wording=ZH)
    assert [one.problem for one in verified.citations] == ["引用的文本中没有：15天"]


SEAL = Ledger().admit(
    (block(0, "The seal wears out after 12,000 operating hours. Spare seals come from Bremen."),), FETCH
)
PUMP = "The pump is painted blue and weighs 80 kg."


@pytest.mark.parametrize(
    ("text", "uncited"),
    [
        (f"The seal wears out after 12,000 operating hours [source: {A}]. {PUMP}", PUMP),
        (f"{PUMP}\n\nThe seal wears out after 12,000 operating hours [source: {A}].", PUMP),
        (f"- The seal wears out after 12,000 operating hours [source: {A}].\n- {PUMP}", PUMP),
        (f"The seal wears out after 12,000 operating hours [source: {A}].\n\nSpare seals come from Bremen.", "Bremen"),
        (f"密封件在12,000小时后磨损。【来源：{A}】该泵于2019年3月5日停产，重80公斤。", "该泵于2019年3月5日停产"),
    ],
)
def test_a_claim_without_a_source_makes_the_answer_partial_and_is_named(text: str, uncited: str) -> None:
    verified = finish(outcome(text, ledger=SEAL), wording=EN)
    assert (verified.status, [one.code for one in verified.limitations]) == ("partial", ["uncited_claims"])
    assert uncited in verified.limitations[0].text


@pytest.mark.parametrize(
    "text",
    [
        f"Spare seals come from Bremen. The seal wears out after 12,000 operating hours. [source: {A}]",
        f"Hello Anna!\n\n## Seals in 2024\n\nHere is what the Manual of 2024 says:\n\n- It wears out after 12,000 hours [source: {A}]",
        f"It wears out after 12,000 hours [source: {A}]. The documents do not mention the weight of 80 kg.",
        f"It wears out after 12,000 hours [source: {A}]. Inference: that is about 500 days.",
        f"It wears out after 12,000 hours [source: {A}]. I hope that helps.",
        f"您好，以下是2024年手册的内容：\n\n12,000小时后磨损。【来源：{A}】\n\n文档中没有提到80公斤这一重量。",
    ],
)
def test_what_claims_nothing_or_stands_in_what_its_paragraph_cites_needs_no_mark(text: str) -> None:
    verified = finish(outcome(text, ledger=SEAL), wording=EN)
    assert (verified.status, verified.limitations) == ("complete", ())


def test_an_unknown_block_is_no_citation() -> None:
    verified = finish(outcome("Five days [source: zzzzzzzz.v1#0]."), wording=EN)
    assert (verified.status, verified.text, verified.citations) == ("partial", "Five days.", ())
    assert [one.code for one in verified.limitations] == ["citation_removed", "no_citation"]
    assert verified.removed == ("zzzzzzzz.v1#0",)


def test_one_doubtful_sentence_makes_the_citation_doubtful() -> None:
    verified = finish(outcome(f"满一年有五天年假。【来源：{A}】满两年有10天。【来源：{A}】"), wording=ZH)
    assert [citation.verdict for citation in verified.citations] == ["unsupported"]


@pytest.mark.parametrize(
    ("ending", "closed", "status"),
    [
        ("answer", None, "complete"),
        ("answer", "brake_count", "partial"),
        ("refusal", None, "refused"),
        ("refusal", "brake_gain", "refused"),
        ("clarification", None, "clarification"),
    ],
)
def test_the_status_says_how_the_run_ended(ending: Ending, closed: str | None, status: str) -> None:
    text = f"满一年有五天年假。【来源：{A}】"
    assert finish(outcome(text, ending=ending, closed=closed), wording=ZH).status == status


@pytest.mark.parametrize("code", ["context_budget_exceeded", "request_budget_exceeded"])
def test_an_answer_that_says_that_not_everything_was_read_is_not_complete(code: str) -> None:
    told = Limitation(code=code, text="")
    text = f"满一年享有五天年假。【来源：{A}】"
    assert finish(outcome(text, limitations=(told,)), wording=ZH).status == "partial"


def test_what_a_source_does_not_show_is_named_without_what_was_code_in_the_answer_acting() -> None:
    verified = finish(
        outcome(f"名称是`<Img src=x>`，编号`![X-77](http://stranger.example/c)`。【来源：{A}】"), wording=ZH
    )
    assert "`![X-77](" in verified.text  # code, where it stands in the answer
    (citation,), (claim,), (limitation,) = verified.citations, verified.checks, verified.limitations
    for told in (citation.problem, claim.problem, limitation.text):
        assert told is not None
        assert "X-77" in told
        assert "![" not in told
        assert "<" not in told


def test_an_answer_that_was_cut_off_is_partial() -> None:
    cut = Limitation(code="answer_cut", text="…")
    assert finish(outcome(f"满一年有五天年假。【来源：{A}】", limitations=(cut,)), wording=ZH).status == "partial"


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("第三季度的退货率是多少？", "查过“第三季度的退货率是多少？”，没有找到。"),
        ("E-4021 是什么意思？", "我用“E-4021 是什么意思”和 E-4021 检索了文档库，没有找到相关内容。"),
        ("What is the price of the ZX-9 in 2024?", 'I searched for "price of the ZX-9 in 2024" and found nothing.'),
        ("What may a hotel cost in 2024?", "I looked for hotel costs in 2024, but no document states them."),
    ],
)
@pytest.mark.parametrize("mode", ["flag", "strict"])
def test_a_refusal_may_repeat_what_was_asked_and_looked_for(question: str, said: str, mode: CitationMode) -> None:
    verified = finish(outcome(said, ending="refusal", ledger=Ledger()), wording=ZH, question=question, mode=mode)
    assert (verified.status, verified.text, verified.limitations, verified.checks) == ("refused", said, (), ())


@pytest.mark.parametrize(
    "said",
    [
        "查过，退货率是 9.9%，没有找到更多。",
        "查过“退货率是 9.9%”，没有找到。",
        "I searched and the rate is 9.9%, nothing else was found.",
        "I found that the rate is 9.9% and nothing else was found.",
    ],
)
def test_a_word_on_what_was_looked_for_carries_no_figure_that_nobody_gave(said: str) -> None:
    verified = finish(outcome(said, ending="refusal", ledger=Ledger()), wording=ZH, question="退货率是多少？")
    assert [one.code for one in verified.limitations] == ["uncited_claims"]


def test_a_refusal_needs_no_citation() -> None:
    assert finish(outcome("没有找到。", ending="refusal"), wording=ZH).limitations == ()


@pytest.mark.parametrize(("wording", "start"), [(ZH, "未能给出答案。"), (EN, "No answer could be given. ")])
def test_a_broken_run_says_why_in_the_questions_language(wording: object, start: str) -> None:
    broken = Outcome(
        ending=Broken(code="provider_auth", message="401", retryable=False),
        reason="provider_auth",
        closed=None,
        ledger=LEDGER,
        spent=Usage(),
        limitations=(),
        turns=1,
    )
    verified = finish(broken, wording=ZH if wording is ZH else EN)
    assert verified.status == "failed"
    assert verified.text.startswith(start)
    assert verified.citations == ()


def test_of_several_snippets_the_one_that_supports_the_sentence_is_quoted() -> None:
    ledger = Ledger().admit((block(0, "海燕项目报价", extent="snippet"),), FETCH)
    ledger = ledger.admit((block(0, "年假共五天", extent="snippet"),), FETCH)
    verified = finish(outcome(f"年假共五天。【来源：{A}】", ledger=ledger), wording=ZH)
    assert [citation.quote for citation in verified.citations] == ["年假共五天"]


# --- gaps


def failed(*keys: str) -> tuple[FailedDocument, ...]:
    return tuple(
        FailedDocument(
            source_label="手册", key=key, stage="parse", code="corrupt", reason="", attempts=1, retryable=False
        )
        for key in keys
    )


@promise("P7")
@pytest.mark.parametrize(("question", "named"), [("年假有几天？", "年假.pdf"), ("水泵怎么换？", "a.docx")])
def test_of_a_few_missing_documents_one_that_could_matter_is_named_else_the_first(question: str, named: str) -> None:
    gap = gaps.gap(a_snapshot(failed=failed("a.docx", "年假.pdf", "b.docx")), OWNER, documents=3)
    (limitation,) = gaps.limitations(gap, named=gaps.chosen(gap, question=question), wording=ZH)
    assert limitation.code == "snapshot_partial"
    assert limitation.text == f"这个快照缺少 3 份导入失败的文档，其中有：手册/{named}（文件已损坏）。"


@promise("P7")
def test_of_many_missing_documents_those_that_could_matter_are_named() -> None:
    keys = [f"附件{number}.pdf" for number in range(20)]
    gap = gaps.gap(a_snapshot(failed=failed("年假规定.pdf", *keys)), OWNER, documents=3)
    (limitation,) = gaps.limitations(gap, named=gaps.chosen(gap, question="年假有几天？"), wording=ZH)
    assert "年假规定.pdf" in limitation.text
    assert "附件3.pdf" not in limitation.text
    assert "21" in limitation.text


def test_what_is_missing_is_not_named_again_later_on_nor_told_where_nothing_was_looked_up() -> None:
    gap = gaps.gap(a_snapshot(failed=failed("a.docx", "年假.pdf")), OWNER, documents=3)
    later = gaps.chosen(gap, question="水泵怎么换？", first=False)
    (limitation,) = gaps.limitations(gap, named=later, wording=ZH)
    assert limitation.text == "这个快照缺少 2 份导入失败的文档。"
    assert gaps.limitations(gap, named=later, wording=ZH, looked_up=False) == ()


def test_a_caller_with_labels_learns_that_something_is_missing_but_not_what() -> None:
    gap = gaps.gap(a_snapshot(failed=failed("并购.pdf")), Access(labels=frozenset({"hr"})), documents=2)
    (limitation,) = gaps.limitations(gap, named=gaps.chosen(gap, question="并购"), wording=ZH)
    assert gap.failed_documents == ()
    assert "并购" not in limitation.text
    assert limitation.text == "这个快照缺少部分导入失败的文档。"


def test_a_complete_snapshot_has_no_gap() -> None:
    assert gaps.limitations(gaps.gap(a_snapshot(), OWNER, documents=3), named=[], wording=ZH) == ()
