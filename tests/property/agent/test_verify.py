"""What holds of the verification for all figures, in every notation of them."""

from datetime import date
from decimal import Decimal
from fractions import Fraction

from hypothesis import assume, given
from hypothesis import strategies as st

from api.agent.verify import check, score

YEARS = st.dates(min_value=date(1000, 1, 1), max_value=date(2999, 12, 31))
MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
DAYS = (
    "{0.year}年{0.month}月{0.day}日",
    "{0.year}-{0.month:02}-{0.day:02}",
    "{0.year}/{0.month}/{0.day}",
    "{0.year}年{0.month}月{0.day}号",
)
DAYS_EN = ("{0.day} {1} {0.year}", "{1} {0.day}, {0.year}", "{0.year}-{0.month:02}-{0.day:02}")
TEXTS = st.text(
    st.sampled_from("年假有五天不得超过3%。，the pump must not run dry. 2019 [] \n"), min_size=2, max_size=60
)


def ways(number: int) -> list[str]:
    """Spellings of one number."""
    found = [str(number), f"{number:,}"]
    if number % 10_000 == 0:
        found.append(f"{number // 10_000}万")
    if number % 100_000_000 == 0:
        found.append(f"{number // 100_000_000}亿")
    return found


NUMBERS = st.one_of(
    st.integers(11, 10**9), st.integers(1, 9_999).map(lambda n: n * 10_000), st.integers(1, 99).map(lambda n: n * 10**8)
)


@given(number=NUMBERS, data=st.data())
def test_a_number_is_the_same_in_every_spelling_and_no_other(number: int, data: st.DataObject) -> None:
    said, seen = data.draw(st.sampled_from(ways(number))), data.draw(st.sampled_from(ways(number)))
    assert check(f"仓库里存放了{said}吨煤。", [f"仓库里存放了{seen}吨煤，明年清空。"]).verdict == "supported"
    other = data.draw(NUMBERS)
    assume(other != number)
    assert check(f"仓库里存放了{other}吨煤。", [f"仓库里存放了{seen}吨煤，明年清空。"]).verdict == "unsupported"


@given(day=YEARS, other=YEARS, said=st.sampled_from(DAYS), seen=st.sampled_from(DAYS))
def test_a_day_is_the_same_in_every_notation_and_no_other(day: date, other: date, said: str, seen: str) -> None:
    shown = [f"合同自{seen.format(day)}起生效，有效期三年。"]
    assert check(f"合同自{said.format(day)}起生效。", shown).verdict == "supported"
    if other != day:
        assert check(f"合同自{said.format(other)}起生效。", shown).verdict == "unsupported"


@given(day=YEARS, other=YEARS, said=st.sampled_from(DAYS_EN), seen=st.sampled_from(DAYS_EN))
def test_an_english_date_too(day: date, other: date, said: str, seen: str) -> None:
    shown = [f"The contract takes effect on {seen.format(day, MONTHS[day.month - 1])}, for three years."]
    assert (
        check(f"The contract takes effect on {said.format(day, MONTHS[day.month - 1])}.", shown).verdict == "supported"
    )
    if other != day:
        sentence = f"The contract takes effect on {said.format(other, MONTHS[other.month - 1])}."
        assert check(sentence, shown).verdict == "unsupported"


@given(
    number=st.integers(2, 99),
    unit=st.sampled_from([("个百分点", "%"), ("公里", "英里"), ("MB", "GB"), ("毫秒", "秒"), ("吨", "公斤")]),
)
def test_a_unit_is_not_converted_and_not_guessed(number: int, unit: tuple[str, str]) -> None:
    said, seen = unit
    assert check(f"测得的数值是{number}{said}。", [f"测得的数值是{number}{seen}，已复核。"]).verdict == "unsupported"
    assert check(f"测得的数值是{number}{said}。", [f"测得的数值是{number}{said}，已复核。"]).verdict == "supported"


@given(before=TEXTS, sentence=TEXTS, after=TEXTS)
def test_what_stands_there_word_for_word_is_never_unsupported(before: str, sentence: str, after: str) -> None:
    assert check(sentence, [f"{before}\n{sentence}\n{after}"]).verdict != "unsupported"


@given(sentence=TEXTS, evidence=st.lists(TEXTS, max_size=3))
def test_every_text_gets_one_verdict_with_its_reason(sentence: str, evidence: list[str]) -> None:
    checked = check(sentence, evidence)
    assert checked.score == score(sentence, evidence)
    assert 0.0 <= checked.score <= 1.0
    assert (checked.reason is not None) == (checked.verdict == "unsupported")
    assert bool(checked.missing) == (checked.reason == "missing")


UNITS = {
    "length": {"mm": 1, "cm": 10, "m": 1000, "km": 1_000_000, "毫米": 1, "厘米": 10, "千米": 1_000_000},
    "mass": {"g": 1, "kg": 1000, "t": 1_000_000, "克": 1, "公斤": 1000, "吨": 1_000_000},
    "volume": {"ml": 1, "L": 1000, "m³": 1_000_000, "毫升": 1, "升": 1000, "立方米": 1_000_000},
}
SPANS = {"": 1, "s": 1, "min": 60, "h": 3600, "秒": 1, "分钟": 60, "小时": 3600}


def _size(dimension: str, unit: str, span: str) -> Fraction:
    return Fraction(UNITS[dimension][unit], SPANS[span])


def _written(value: Decimal, unit: str, span: str) -> str:
    return f"{value:f} {unit}/{span}" if span else f"{value:f} {unit}"


@given(
    dimension=st.sampled_from(sorted(UNITS)),
    value=st.integers(2, 99),
    spans=st.one_of(st.just(("", "")), st.tuples(*[st.sampled_from(sorted(filter(None, SPANS)))] * 2)),
    other=st.sampled_from([2, 3, 7, 10, 60, 1000]),
    data=st.data(),
)
def test_an_amount_or_a_rate_exactly_converted_is_shown_and_by_no_other_factor(
    dimension: str, value: int, spans: tuple[str, str], other: int, data: st.DataObject
) -> None:
    units = st.sampled_from(sorted(UNITS[dimension]))
    said, seen = (data.draw(units), spans[0]), (data.draw(units), spans[1])
    exact = value * _size(dimension, *seen) / _size(dimension, *said)
    converted = Decimal(exact.numerator) / Decimal(exact.denominator)
    assume(Fraction(converted) == exact)
    evidence = [f"测得的数值是{_written(Decimal(value), *seen)}，已复核。"]
    assert check(f"测得的数值是{_written(converted, *said)}。", evidence).verdict == "supported"
    assert check(f"测得的数值是{_written(converted * other, *said)}。", evidence).verdict == "unsupported"
