"""What a figure is per is part of it, its unit may stand apart from it, and an unknown one is told to the reader."""

import pytest

from api.agent.facts import facts
from api.agent.verify import check

CONVERTED = [
    ("The pump delivers 150 L/min.", "The pump delivers 2.5 L/s."),
    ("The pump delivers 150 litres per minute.", "The pump delivers 2.5 litres of water per second."),
    ("The pump delivers 9 m³/h.", "The pump delivers 2.5 L/s."),
    ("The pump delivers 9 cubic metres an hour.", "The pump delivers 2.5 L/s."),
    ("The car drives 72 km/h.", "The car drives 20 m/s."),
    ("The motor runs at 3000 rpm.", "The motor runs at 50 revolutions per second."),
    ("It weighs 0.012 t.", "It weighs 12 kg."),
    ("The temperature is 353.15 K.", "The temperature is 80 °C."),
    ("The temperature is 176 °F.", "The temperature is 80 °C."),
    ("流量为150升/分钟。", "流量为2.5升/秒。"),
    ("流量为每分钟150升。", "流量为2.5升/秒。"),
    ("流量为9立方米/小时。", "流量为每秒2.5升。"),
    ("车速为每秒20米。", "车速为72公里/小时。"),
    ("重量为0.012吨。", "重量为12公斤。"),
]
RESPELLED = [
    ("Delivery costs €85 a pallet.", "Delivery costs EUR 85 per pallet."),
    ("The fee is $300/seat/year.", "The fee is 300 dollars per seat per year."),
    ("The fee is 300 dollars.", "The fee is 300 dollars per seat per year."),
    ("It costs 4 500 euros.", "It costs €4,500."),
    ("It costs 4 500 €.", "It costs €4,500."),
    ("It costs 4\N{NARROW NO-BREAK SPACE}500 €.", "It costs €4,500."),
    ("It costs 4\N{NO-BREAK SPACE}500 €.", "It costs €4,500."),
    ("It costs 4.500,00 €.", "It costs €4,500."),
    ("The pump costs CHF 4'500.", "The pump costs 4500 Swiss francs."),
    ("每人每天补贴300元。", "补贴标准为300元/人/天。"),
    ("时速80公里。", "速度为80公里/小时。"),
    ("价格（欧元）：4500", "价格为4500欧元。"),
    ("Fuel use is 5.6 L/100 km.", "Fuel use is 5.6 litres per 100 km."),
    ("油耗为每百公里5.6升。", "油耗为5.6L/100km。"),
    ("The density is 350 people per square kilometre.", "The density is 350 people/km²."),
    ("The fee is $300 per month.", "The annual fee is $300 per month, billed once a year."),
    ("海拔为2 800米。", "海拔为2,800米。"),
    ("The ship was 1896 inches long.", "Built in 1896, the ship was 158 feet long."),
]
OTHERS = [
    ("The pump delivers 2.5 litres per minute.", "The pump delivers 2.5 litres per second."),
    ("The pump delivers 151 L/min.", "The pump delivers 2.2 L/s."),
    ("The force is 9.8 m/s².", "The force is 9.8 m/s."),
    ("The car drives 72 mph.", "The car drives 72 km/h."),
    ("Take 3 tablets per week.", "Take 3 tablets per day."),
    ("The line carries 37 million passengers a day.", "The line carries 37 million passengers a year."),
    ("The fee is $300 per month.", "The fee is $300 per year."),
    ("The licence costs 300 US dollars per seat per month.", "许可证的价格为每席位每年300美元。"),
    ("该泵每分钟输送2.5升。", "该泵每秒输送2.5升。"),
    ("流量为2.5升/小时。", "流量为2.5升/秒。"),
    ("许可证每席位每月300美元。", "The licence costs 300 US dollars per seat per year."),
    ("月租为300元。", "租金每年300元。"),
    ("The temperature is 350 K.", "The temperature is 80 °C."),
    ("It costs 5 500 euros.", "It costs €4,500."),
]
OTHER_MONEY = [
    ("The pump costs 4,500 francs.", "The pump costs €4,500."),
    ("The pump costs 4,500 pesos.", "The pump costs 4,500 euros."),
    ("The pump costs 4,500 zł.", "The pump costs €4,500."),
    ("The pump costs 4,500 bitcoin.", "The pump costs $4,500."),
    ("The pump costs ₿4,500.", "The pump costs $4,500."),
    ("泵的价格为300块。", "泵的价格为300欧元。"),
    ("泵的价格为4500刀。", "泵的价格为4500欧元。"),
    ("泵的价格为4500法郎。", "The pump costs 4,500 euros."),
    ("The price in dollars is 4,500.", "The price is €4,500."),
    ("The price (USD): 4,500", "The price is €4,500."),
    ("价格（美元）：4500", "价格为4500欧元。"),
    ("重量（磅）：12", "重量为12公斤。"),
]
UNPROVED = [
    ("The pump costs 4,500 wibbles.", "The pump costs $4,500.", "4,500"),
    ("It earned 5 million wibbles.", "It earned $5 million.", "5 million"),
    ("The pump costs 4,500 pesos.", "The pump costs $4,500.", "4,500 pesos"),
    ("The cable weighs 12 kg per metre.", "The cable weighs 12 kg.", "12 kg per metre"),
    ("Delivery costs €85 per pump.", "Delivery costs €85 per pallet; a pump costs more.", "€85 per pump"),
    ("运费为85欧元/台。", "运费为85欧元/托盘。", "85欧元/台"),
]
OPEN = [
    ("The cable weighs 12 kg.", "The cable weighs 12 kg per metre."),
    ("The temperature is 353 K.", "The temperature is 80 °C."),
    ("It is 5 miles away.", "It is 8 km away."),
    ("The fee is $3,600 per year.", "The fee is $300 per month."),
    ("许可证每席位每年300美元。", "The licence costs 300 US dollars per seat per year."),
]
NO_RATES: list[tuple[str, list[tuple[str, str | None, list[str]]]]] = [
    ("sold for 300 dollars a year ago", [("300", "$", [])]),
    ("in 2020 300 people came", [("2020", None, []), ("300", "person", [])]),
    ("1/2 hour", [("1", None, []), ("2", "h", [])]),
    ("每年级300元", [("300", "元", ["年级"])]),
    ("300元/人次", [("300", "元", ["人次"])]),
    ("石块300块石头", [("300", None, [])]),
    ("电影4K版", []),
    ("25 t-shirts", [("25", None, [])]),
    ("5 g per 100 g", [("5", "g", ["100 g"]), ("100", "g", [])]),
]


@pytest.mark.parametrize(("sentence", "evidence"), [*CONVERTED, *RESPELLED])
def test_the_same_rate_or_amount_in_another_unit_or_spelling_is_shown(sentence: str, evidence: str) -> None:
    checked = check(sentence, [evidence])
    assert (checked.verdict, checked.missing, checked.unproved) == ("supported", (), ())


@pytest.mark.parametrize(("sentence", "evidence"), [*OTHERS, *OTHER_MONEY])
def test_another_rate_or_currency_is_missing(sentence: str, evidence: str) -> None:
    checked = check(sentence, [evidence])
    assert (checked.verdict, checked.reason) == ("unsupported", "missing")


@pytest.mark.parametrize(("sentence", "evidence", "told"), UNPROVED)
def test_a_unit_or_a_thing_that_the_source_lacks_is_told(sentence: str, evidence: str, told: str) -> None:
    checked = check(sentence, [evidence])
    assert (checked.verdict, checked.unproved) == ("unchecked", (told,))


@pytest.mark.parametrize(("sentence", "evidence"), OPEN)
def test_what_may_be_rounded_or_left_out_is_left_open(sentence: str, evidence: str) -> None:
    checked = check(sentence, [evidence])
    assert (checked.verdict, checked.unproved) == ("unchecked", ())


@pytest.mark.parametrize(
    "evidence", ["Table: units and price\n3 500 €\n", "设备与单价\n3 500 欧元\n"], ids=["columns", "zh columns"]
)
def test_a_blank_in_a_source_may_part_two_figures(evidence: str) -> None:
    assert check("The price is 500 euros.", [evidence]).verdict != "unsupported"


@pytest.mark.parametrize(("text", "wanted"), NO_RATES)
def test_what_only_looks_like_a_rate_is_none(text: str, wanted: list[tuple[str, str | None, list[str]]]) -> None:
    found = [
        (one.value, one.unit, [f"{per.count} {per.name}" if per.count != "1" else per.name for per in one.per])
        for one in facts(text).quantities
    ]
    assert found == wanted
