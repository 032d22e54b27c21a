"""A sentence about the matter that has nothing of the kind that is asked for is shown as what is nearest, not as the answer."""

import pytest

from api.agent.excerpts import Passage, Picked, pick


def looked_up(question: str, text: str, title: str = "Report") -> Picked:
    passage = Passage(
        block_id="abcdefgh.v1#0",
        doc_id="abcdefgh",
        title=title,
        section_path="/",
        text=text,
        whole=True,
        rank=1,
    )
    return pick(question, [passage])


@pytest.mark.parametrize(
    ("question", "text", "kind"),
    [
        ("保修期包括哪些国家？", "保修期为24个月。", "named_place"),
        ("保修期由谁负责？", "保修期为24个月，自验收合格之日起计算。", "who"),
        ("退货率为什么下降？", "退货率为2.3%，比上一年下降0.8个百分点。", "reason"),
        ("年度许可费是多少欧元？", "年度许可费为84,000美元。", "unit"),
        ("年度許可費是多少歐元？", "年度許可費為84,000美元。", "unit"),
        ("仓库什么时候搬迁？", "仓库搬迁的费用由甲方承担。", "time"),
        ("测试人员有多少位女性？", "测试人员31人。", "counted"),
        ("年检要多少钱？", "年检每24个月一次。", "money"),
        ("Why did the scrap rate rise?", "The scrap rate rose to 4.1%.", "reason"),
        ("Who pays for the safety training?", "The safety training takes place every January.", "who"),
        ("In which countries is the pump sold?", "The pump is sold in 14 countries.", "named_place"),
        ("When was the coating line installed?", "The coating line was stopped for eleven days.", "time"),
        ("How much is the annual fee in euros?", "The annual fee is US$84,000.", "unit"),
        ("How many credits does the course give?", "The course takes two years.", "counted"),
        ("How much does the pump cost?", "The pump weighs 48 kg.", "money"),
    ],
)
def test_what_lacks_the_kind_of_thing_asked_for_is_only_nearest(question: str, text: str, kind: str) -> None:
    found = looked_up(question, text)
    assert found.excerpts == ()
    assert found.lacking is not None
    assert (found.lacking.name, [one.text for one in found.nearest]) == (kind, [text])


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("保修服务由谁负责？", "保修服务由王强负责。"),
        ("验收由哪个部门完成？", "验收由甲方设备部在到货后7日内完成。"),
        ("系统在哪个城市上线？", "系统已于9月在无锡上线。"),
        ("流失率为什么上升？", "流失率上升。这主要是由于工厂搬迁。"),
        ("伙食补贴每天多少元？", "伙食补贴为每人每天100元。"),
        ("年度许可费是多少美元？", "年度许可费为84,000美元。"),
        ("公司有多少员工？", "公司共有员工1,246人。"),
        ("水泵被称为什么？", "水泵又称为抽水机。"),
        ("Who approves the requests?", "The requests are approved by the line manager."),
        ("Who wrote the manual?", "The manual is one of his works."),
        ("Where is the data stored?", "The data is stored in Frankfurt."),
        ("Why did output fall?", "Output fell because the line was stopped."),
        ("Why was the valve closed?", "The valve was closed to keep the pressure."),
        ("When must receipts be submitted?", "Receipts must be submitted within 30 days."),
        ("How many views does the song have?", "The song has 6.3 million views."),
        ("What disorders occur when the defence isn't active?", "Disorders occur if the defence isn't active."),
    ],
)
def test_what_has_it_in_whatever_form_is_quoted(question: str, text: str) -> None:
    found = looked_up(question, text)
    assert found.lacking is None
    assert found.excerpts


@pytest.mark.parametrize(
    ("question", "text", "title"),
    [
        ("Who played the 1960 Cup Final?", "1959 Cup Final Forest Luton Venue Wembley ← 1958 1960 →", "1959 Cup Final"),
        ("Where was the 1958 Cup Final?", "1959 Cup Final of the 1958 -- 59 Cup Venue Wembley", "1959 Cup Final"),
        ("2022年的年会在哪里举行？", "年会在苏州举行。\n上一篇：2022年年会\n下一篇：2024年年会", "2023年年会"),
        ("Where was the 2022 meeting?", "The meeting was held in Leeds.\nPrevious: 2022 meeting", "2023 meeting"),
    ],
)
def test_a_year_that_only_leads_to_another_page_is_not_what_the_page_is_about(
    question: str, text: str, title: str
) -> None:
    assert looked_up(question, text, title).excerpts == ()


def test_the_reason_in_the_next_sentence_is_quoted_only_if_it_explains_what_is_asked() -> None:
    text = "单位能耗下降17%。能耗下降得益于新的空压机。调试期间停机19天。"
    quoted = [one.text for one in looked_up("单位能耗为什么下降？", text).excerpts]
    assert "得益于新的空压机" in "".join(quoted)
    assert looked_up("调试期间为什么停机？", text).excerpts == ()


def test_who_asks_for_the_page_after_gets_where_it_is_named() -> None:
    text = "The meeting was held in Leeds.\n\nNext: 2024 meeting in Cork"
    found = looked_up("Which meeting is next?", text, "2023 meeting")
    assert "Next: 2024 meeting in Cork" in [one.text for one in found.excerpts]


@pytest.mark.parametrize("question", ["Where was the 1959 Cup Final?", "Where was the final of the 1958–59 Cup?"])
def test_what_is_quoted_beside_navigation_is_the_text_as_it_stands(question: str) -> None:
    text = "1959 Cup Final of the 1958 -- 59 Cup Venue Wembley ← 1958 1960 →"
    assert [one.text for one in looked_up(question, text, "1959 Cup Final").excerpts] == [text]
