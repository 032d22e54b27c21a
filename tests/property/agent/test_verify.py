"""What holds of the verification for all figures, in every notation of them."""

from datetime import date

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
