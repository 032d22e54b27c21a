"""Times of the day and days of the week, however they are written: 3 pm, 15:00 and 下午三点 are one. Pure."""

import re

from api.agent.numerals import in_digits

_CLOCK = re.compile(
    r"(?<![\d:.,])(?:(?P<part>凌晨|早上|早晨|清晨|上午|中午|下午|傍晚|晚上|夜里)\s?)?(?P<hour>[01]?\d|2[0-4])"
    r"(?:\s?:\s?(?P<minute>[0-5]\d)(?!\d|:\d)|[点时](?!间|段|候)整?(?:(?P<half>半)|(?P<minutes>[0-5]?\d)分)?)?(?:\s?(?P<m>[AaPp])\.?[Mm](?![A-Za-z])\.?)?"
)
_LATE = frozenset({"下午", "傍晚", "晚上", "夜里"})
_DAY = re.compile(
    r"(?<![一每个\d])(?:周|星期|礼拜)(?P<zh>[一二三四五六日天])(?![次天个年月名位小回节般起些样部次期程常鸣])"
    r"|每(?:周|星期|礼拜)(?P<each>[一二三四五六日天])(?![次天个年月名位小回节般起些样部次期程常])"
    r"|\b(?P<en>Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b"
)
_NUMBER = {
    **{sign: number for number, sign in enumerate("一二三四五六日")},
    "天": 6,
    **{name: number for number, name in enumerate(("Mon", "Tues", "Wednes", "Thurs", "Fri", "Satur", "Sun"))},
}
_RANGE = re.compile(
    r"工作日|每天|每日|周末|全周|全年|(?:周|星期)[一二三四五六日天]?\s?(?:至|到|-|—|~|～)|days?\s?(?:to|through|until|till|-|–)\s?[A-Z]|\b(?:daily|every day|weekends?|weekdays?|working days?|business days?)\b"
)


def same_times(sentence: str, shown: str) -> frozenset[str]:
    """The figures of those times of day of the sentence that the text gives in another way: "3" and "3pm" for 15:00."""
    said = _times(sentence)
    if not said:
        return frozenset()
    seen = {minutes for minutes, _ in _times(shown)}
    return frozenset(figure for minutes, figures in said if minutes in seen for figure in figures)


def other_days(sentence: str, shown: str) -> tuple[str, ...]:
    """The days of the week, as written, that the text doesn't name though it names others, one by one."""
    said = _days(sentence)
    if not said:
        return ()
    seen = _days(shown)
    if not seen or _RANGE.search(shown):
        return ()
    return tuple(written for day, written in said.items() if day not in seen)


def _times(text: str) -> list[tuple[int, tuple[str, ...]]]:
    """Each in minutes since midnight, with the figures that it is written with."""
    found: list[tuple[int, tuple[str, ...]]] = []
    digits = in_digits(text).text if any(sign in text for sign in "点时:") or "m" in text.lower() else ""
    for match in _CLOCK.finditer(digits):
        if not (match["minute"] or match["m"] or (match["part"] and match[0][-1] in "点时半分整")):
            continue
        hour, late = int(match["hour"]), match["part"] in _LATE or (match["m"] or "").lower() == "p"
        early = match["part"] in ("凌晨", "上午", "早上", "早晨", "清晨") or (match["m"] or "").lower() == "a"
        if late and hour < 12:
            hour += 12
        if early and hour == 12:
            hour = 0
        minute = match["minute"] or match["minutes"] or ("30" if match["half"] else "0")
        written = (match["hour"], *filter(None, (match["minute"], match["minutes"])), match[0].strip())
        bare = re.sub(r"\s", "", match[0]).rstrip(".")
        found.append((hour * 60 + int(minute), tuple(dict.fromkeys((*written, bare, str(int(minute)))))))
    return found


def _days(text: str) -> dict[int, str]:
    if "周" not in text and "星期" not in text and "礼拜" not in text and "day" not in text:
        return {}
    return {_NUMBER[match["zh"] or match["each"] or match["en"]]: match[0] for match in _DAY.finditer(text)}
