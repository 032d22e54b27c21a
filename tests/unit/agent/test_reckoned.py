"""What a source gives in another unit, as another time of day or as two figures is no claim of its own that it lacks."""

import pytest

from api.agent.stated import stated, tells_of_search
from api.agent.verify import check

ALIKE = [
    ("保修两年。", "保修期24个月。"),
    ("The warranty is two years.", "The warranty is 24 months."),
    ("Two weeks' notice is required.", "14 days' notice is required."),
    ("每天锻炼90分钟。", "每天锻炼一个半小时。"),
    ("每天锻炼一个半小时。", "每天锻炼90分钟。"),
    ("服务时间为1小时30分钟。", "服务时间为90分钟。"),
    ("试用期半年。", "试用期为6个月。"),
    ("合同为期两年半。", "合同为期30个月。"),
    ("The trial lasts half a year.", "The trial lasts six months."),
    ("It takes one and a half hours.", "It takes 90 minutes."),
    ("距离3000米。", "距离为3公里。"),
    ("It weighs 500 g.", "It weighs 0.5 kg."),
    ("容量为2 GB。", "容量为2048 MB。"),
    ("会议于15:00开始。", "会议于下午3点开始。"),
    ("会议下午两点半开始。", "会议14:30开始。"),
    ("The meeting starts at 3 pm.", "The meeting starts at 15:00."),
    ("The meeting starts at 3pm.", "The meeting starts at 15:00."),
    ("约占一半。", "占49.8%。"),
    ("Maria Lund (COO) signed it.", "Signed by Maria Lund, chief operating officer."),
]
OTHERS = [
    ("保修三年。", "保修期24个月。"),
    ("The warranty is two years.", "The warranty is 26 months."),
    ("距离3000米。", "距离为30公里。"),
    ("容量为2 GB。", "容量为4096 MB。"),
    ("会议于15:00开始。", "会议于上午3点开始。"),
    ("The meeting starts at 3 pm.", "The meeting starts at 16:00."),
    ("Maria Lund (CFO) signed it.", "Signed by Maria Lund, chief operating officer."),
]
RECKONED = [
    ("本季度净增门店12家。", "本季度新开门店17家，关闭5家。"),
    ("两项补贴合计420元。", "设备补贴人民币300元，网络补贴人民币120元。"),
    ("退货率下降0.8个百分点。", "退货率为2.3%，比第二季度的3.1%有所下降。"),
    ("The pump costs €60 more.", "The pump costs EUR 1,250; from 2024 it is EUR 1,310."),
]
REFUSALS = [
    "I searched for the CEO of Halden; the documents do not name one.",
    "文档中没有列出首席执行官。",
    "资料未披露首席执行官的姓名。",
]


@pytest.mark.parametrize(("sentence", "evidence"), ALIKE)
def test_the_same_in_another_unit_or_spelling_is_not_missing(sentence: str, evidence: str) -> None:
    assert check(sentence, [evidence]).verdict != "unsupported"


@pytest.mark.parametrize(("sentence", "evidence"), OTHERS)
def test_another_amount_is_missing_whatever_its_unit(sentence: str, evidence: str) -> None:
    checked = check(sentence, [evidence])
    assert (checked.verdict, checked.reason) == ("unsupported", "missing")


@pytest.mark.parametrize(("sentence", "evidence"), RECKONED)
def test_a_sum_or_difference_of_two_figures_is_left_undecided(sentence: str, evidence: str) -> None:
    assert check(sentence, [evidence]).verdict == "unchecked"


@pytest.mark.parametrize(
    ("sentence", "evidence"),
    [
        ("本季度净增门店13家。", "本季度新开门店17家，关闭5家。"),
        ("本季度有门店12家。", "本季度新开门店17家，关闭5家。"),
        ("两项补贴合计420元。", "设备补贴300元，名额120个。"),
    ],
)
def test_a_figure_that_no_two_make_or_that_is_not_told_as_such_is_missing(sentence: str, evidence: str) -> None:
    assert check(sentence, [evidence]).verdict == "unsupported"


@pytest.mark.parametrize("sentence", REFUSALS)
def test_a_refusal_states_nothing(sentence: str) -> None:
    assert (stated(sentence), tells_of_search(sentence)) == ("nothing", True)
