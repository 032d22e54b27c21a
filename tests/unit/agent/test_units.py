"""A figure's unit or currency is part of it: another one isn't shown, the same one in another spelling is."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.agent.facts import facts
from api.agent.units import SPELLINGS, likeness
from api.agent.verify import check

MONEY = {
    "USD": ("US${}", "{} USD", "USD {}", "USD{}", "{}美元", "{} US dollars"),
    "EUR": ("€{}", "{} €", "{}€", "EUR {}", "{} euros", "{}欧元", "{}歐元"),
    "GBP": ("£{}", "{} GBP", "{}英镑", "{} pounds sterling"),
    "JPY": ("{}日元", "JPY {}", "{} yen", "{}円"),
    "CNY": ("{}元", "人民币{}元", "RMB {}", "RMB{}", "CNY {}", "{} yuan", "{}元人民币"),
    "HKD": ("HK${}", "HKD {}", "{}港元", "港币{}元", "{}港币"),
}
SENTENCES = {"zh": "本项目的年费为{}，每年支付。", "en": "The annual fee is {} for each seat."}
SPELLED_ALIKE = [
    ("$300", "300 dollars"),
    ("$300", "US$300"),
    ("$300", "300美元"),
    ("$5m", "$5 million"),
    ("€5bn", "5 billion euros"),
    ("5m euros", "€5 million"),
    ("$500万", "US$5 million"),
    ("-$300", "$-300"),
    ("$300 CAD", "C$300"),
    ("25 Nm", "25 N·m"),
    ("25 Nm", "25 newton metres"),
    ("25 lb", "25 pounds"),
    ("£25", "25 pounds"),
    ("25A", "25 amps"),
    ("25 L", "25 litres"),
]
ZH_SPELLED_ALIKE = [
    ("￥300", "300元"),
    ("¥300万", "300万元"),
    ("￥300", "人民币300元"),
    ("25牛·米", "25Nm"),
    ("25磅", "25 lb"),
    ("25公斤", "25kg"),
    ("25安", "25A"),
    ("25伏", "25 V"),
    ("三百欧元", "€300"),
]
OTHERS = [
    ("25 lb", "25 Nm"),
    ("25 lb", "25 kg"),
    ("25 A", "25 V"),
    ("25 psi", "25 bar"),
    ("25 inches", "25 cm"),
    ("25千克", "25牛·米"),
    ("25磅", "25公斤"),
    ("25安", "25伏"),
    ("¥300", "$300"),
    ("€5m", "$5m"),
    ("$5m", "$5bn"),
    ("300元", "300日元"),
    ("HK$300", "€300"),
]
AMBIGUOUS = [
    ("300元", "$300"),
    ("300港元", "300元"),
    ("$300", "HK$300"),
    ("¥300", "300 yen a year, or 300 yuan"),
    ("25%", "25"),
    ("25", "25%"),
    ("$300", "300"),
    ("300", "$300"),
]


def _verdict(said: str, seen: str, lang: str = "en") -> str:
    return check(SENTENCES[lang].format(said), [SENTENCES[lang].format(seen)]).verdict


@pytest.mark.parametrize("lang", SENTENCES)
@pytest.mark.parametrize("currency", MONEY)
def test_one_currency_in_another_spelling_is_the_same(currency: str, lang: str) -> None:
    for said, seen in product(MONEY[currency], repeat=2):
        assert _verdict(said.format("300"), seen.format("300"), lang) == "supported", (said, seen)


@pytest.mark.parametrize("lang", SENTENCES)
def test_another_currency_is_never_supported(lang: str) -> None:
    for one, other in product(MONEY, repeat=2):
        for said, seen in product(MONEY[one], MONEY[other]) if one != other else ():
            wanted = {"unchecked", "unsupported"} if {one, other} == {"CNY", "HKD"} else {"unsupported"}
            assert _verdict(said.format("300"), seen.format("300"), lang) in wanted, (said, seen)


@pytest.mark.parametrize(("said", "seen"), SPELLED_ALIKE)
def test_one_quantity_in_two_spellings_is_the_same(said: str, seen: str) -> None:
    assert _verdict(said, seen) == _verdict(seen, said) == "supported"


@pytest.mark.parametrize(("said", "seen"), ZH_SPELLED_ALIKE)
def test_one_quantity_in_two_chinese_spellings_is_the_same(said: str, seen: str) -> None:
    assert _verdict(said, seen, "zh") == _verdict(seen, said, "zh") == "supported"


@pytest.mark.parametrize("lang", SENTENCES)
@pytest.mark.parametrize(("said", "seen"), OTHERS)
def test_another_unit_of_the_same_figure_is_named(said: str, seen: str, lang: str) -> None:
    judged = check(SENTENCES[lang].format(said), [SENTENCES[lang].format(seen)])
    assert (judged.verdict, judged.missing) == ("unsupported", (said,))


@pytest.mark.parametrize(("said", "seen"), AMBIGUOUS)
def test_what_may_be_another_unit_is_left_unchecked(said: str, seen: str) -> None:
    assert _verdict(said, seen) == "unchecked"


def test_a_unit_in_another_spelling_is_no_stranger_and_nothing_behind_it_a_name() -> None:
    assert check("样品应在4℃下保存。", ["样品采集后应在4 ℃冷藏保存，两天内送检。"]).verdict == "supported"
    assert check("继电器在20毫秒内动作。", ["继电器在 20ms 内动作，随后复位。"]).verdict == "supported"


def test_a_unit_in_the_head_of_a_table_holds_for_its_figures() -> None:
    table = "| 项目 | 预算（万元） | 占比（%） |\n| --- | --- | --- |\n| 猎鹰 | 300 | 25 |\n"
    assert check("猎鹰项目的预算占比为25%。", [table]).verdict == "supported"
    assert check("猎鹰项目的预算占比为25公里。", [table]).verdict != "supported"


@given(st.sampled_from(sorted(SPELLINGS)), st.sampled_from(sorted(SPELLINGS)), st.integers(21, 99))
def test_no_spelling_of_a_unit_refutes_another_of_it_and_none_of_another_proves_it(
    said: str, seen: str, value: int
) -> None:
    judged = check(f"规定的数值：{value} {said}。", [f"规定的数值：{value} {seen}。"])
    like = likeness(SPELLINGS[said], SPELLINGS[seen], lang="zh", units=())
    assert judged.verdict != {"same": "unsupported", "perhaps": "unsupported", "other": "supported"}[like]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("the film 2001 A Space Odyssey", [("2001", None)]),
        ("编号25安全手册", [("25", None)]),
        ("a queue of 5m", [("5", "m")]),
        ("in 2019, USD 300 was paid", [("2019", None), ("300", "USD")]),
        ("人民币3.5亿元", [("350000000", "CNY")]),
    ],
)
def test_what_only_looks_like_a_unit_is_none(text: str, wanted: list[tuple[str, str | None]]) -> None:
    assert [(one.value, one.unit) for one in facts(text).quantities] == wanted
