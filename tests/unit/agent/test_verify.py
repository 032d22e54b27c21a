"""Whether a cited text supports a sentence, as far as letters and figures can tell."""

import pytest

from api.agent.verify import check

SUPPORTED = [
    ("员工工作满一年享有五天年假。", "员工工作满一年享有五天年假。"),
    ("剂量为15 kg，自2019年3月5日起生效。", "本品剂量每次15公斤。自2019-03-05起生效。"),
    ("面积约3.5万平方公里。", "全境面积35000平方公里"),
    ("The index uses HNSW with m=16.", "For the index, HNSW is used with m=16 and ef=100."),
    ("Alan Turing died on 7 June 1954.", "Turing, Alan: born 1912, died June 7, 1954, in Wilmslow."),
    ("当前版本是 v2.1.3。", "当前版本：2.1.3"),
    ("该书名为《呐喊》，共14篇。", "鲁迅小说集《呐喊》收录小说14篇，该书1923年出版。"),
    ("About 1,200 people live there, 15 percent of them abroad.", "Some 1200 people live there; 15% of them abroad."),
    ("There are 3 stages.", "The process has three stages."),
    ("会议有12人参加。", "会议共有十二人参加。"),
    ("用户数达到2.5 million。", "用户数达到2500000"),
    ("公司有三百名员工。", "公司现有员工300名。"),
    ("The firm has three hundred and five employees.", "The firm has 305 employees."),
    ("营收为五亿元。", "年度营收为5亿元。"),
    ("占比为百分之五十。", "占比为50%。"),
    ("自二〇一九年三月五日起生效。", "自2019年3月5日起生效。"),
    ("最低温度为零下40℃。", "最低温度为-40 ℃。"),
    ("价格下降40%。", "价格变化：下降 40%"),
    ("区间为30-40 kg。", "区间为30 kg至40 kg"),
    ("设备共有1台。", "设备共有一台。"),
    ("It is a two-dimensional, one-hit wonder.", "It is a two-dimensional, one-hit wonder."),
    ("营收为三点五万元，增长百分之三点二。", "营收为3.5万元，增长3.2%。"),
    ("三明治在四川很受欢迎。", "三明治在四川很受欢迎，万一售罄，十分遗憾。"),
]
UNSUPPORTED = [
    ("剂量为15 kg。", "本品剂量15米。", "15 kg"),
    ("He died in 1998.", "He died in 1954.", "1998"),
    ("自2019年3月6日起生效。", "自2019年3月5日起生效。", "2019年3月6日"),
    ("Alan Turing worked with Grace Hopper.", "Alan Turing worked with a team.", "Grace"),
    ("错误码是 ERR_TIMEOUT。", "错误码是 ERR_CLOSED。", "ERR_TIMEOUT"),
    ("当前版本是 v2.1.4。", "当前版本：2.1.3", "v2.1.4"),
    ("文中称之为“海燕计划”。", "文中称之为雄鹰计划。", "海燕计划"),
    ("The limit is 40 EUR.", "The limit is 40 USD.", "40 EUR"),
    ("营收为五亿元。", "营收为三亿元。", "五亿元"),
    ("公司有三百名员工。", "公司有五百名员工。", "三百"),
    ("It has three hundred employees.", "It has five hundred employees.", "three hundred"),
    ("最低温度为−40 ℃。", "最低温度为40 ℃。", "-40 °C"),
    ("The lowest is minus 40 kg.", "The lowest is 40 kg.", "minus 40 kg"),
    ("共有 1 台设备。", "一种设备共有 9 台。", "1"),
    ("年假为两年。", "年假为三年。", "两年"),
]
UNDECIDED = [
    ("主要发明人是爱迪生。", "主要发明人是贝尔。"),
    ("总部位于塞纳河畔。", "总部位于泰晤士河畔。"),
    ("年假有三种情形：婚假、产假。", "年假的情形有婚假、产假。"),
    ("价格变化为40%。", "价格变化为-40%。"),
]


@pytest.mark.parametrize(("sentence", "evidence"), SUPPORTED)
def test_figures_names_and_words_that_stand_there_support_a_sentence(sentence: str, evidence: str) -> None:
    checked = check(sentence, [evidence])
    assert (checked.verdict, checked.missing) == ("supported", ())


@pytest.mark.parametrize(("sentence", "evidence"), UNDECIDED)
def test_what_letters_and_figures_cannot_decide_is_left_unchecked(sentence: str, evidence: str) -> None:
    assert check(sentence, [evidence]).verdict == "unchecked"


@pytest.mark.parametrize(("sentence", "evidence", "missing"), UNSUPPORTED)
def test_a_figure_name_or_quotation_that_does_not_stand_there_is_named(
    sentence: str, evidence: str, missing: str
) -> None:
    checked = check(sentence, [evidence])
    assert checked.verdict == "unsupported"
    assert missing in checked.missing


def test_several_blocks_are_taken_together() -> None:
    checked = check("年假五天，病假需要医院证明，共3类。", ["年假五天，共3类。", "病假需要医院证明。"])
    assert checked.verdict == "supported"


def test_another_language_is_not_judged_by_words() -> None:
    assert check("据《自然》报道，它有重要意义。", ["Nature reports that it matters."]).verdict == "unchecked"
    assert check("The employee handbook grants annual leave.", ["员工手册规定了年假。"]).verdict == "unchecked"


def test_another_language_is_still_judged_by_figures() -> None:
    assert check("该酒店每晚150欧元。", ["Hotels cost at most 120 EUR per night."]).verdict == "unsupported"


def test_an_inference_is_not_judged() -> None:
    assert check("推断：大约需要50年。", ["无关。"]).verdict == "unchecked"
    assert check("Inference: it takes 50 years.", ["Nothing."]).verdict == "unchecked"


def test_sentences_about_something_else_are_unsupported() -> None:
    checked = check("It was founded by two brothers.", ["Cows eat grass in summer and hay in winter."])
    assert (checked.verdict, checked.missing) == ("unsupported", ())


def test_a_sentence_without_words_is_not_judged() -> None:
    assert check("——", ["年假五天。"]).verdict in ("unchecked", "unsupported")
