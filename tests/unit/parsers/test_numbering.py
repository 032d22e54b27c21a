import pytest

from worker.parsers.markup import parse_xml
from worker.parsers.numbering import Numbering

XML = """<w:numbering xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">
<w:abstractNum w:abstractNumId="0">
<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="{first}"/><w:lvlText w:val="{text}"/></w:lvl>
<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1.%2"/></w:lvl>
<w:lvl w:ilvl="2"><w:numFmt w:val="bullet"/><w:lvlText w:val="-"/></w:lvl>
</w:abstractNum>
<w:num w:numId="5"><w:abstractNumId w:val="0"/></w:num>
<w:num w:numId="6"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num>
</w:numbering>"""


def _numbering(first: str, text: str) -> Numbering:
    return Numbering(parse_xml(XML.format(first=first, text=text).encode()))


@pytest.mark.parametrize(
    ("kind", "text", "labels"),
    [
        ("chineseCountingThousand", "第%1章", ["第一章", "第二章", "第三章"]),
        ("decimal", "%1.", ["1.", "2.", "3."]),
        ("upperRoman", "%1)", ["I)", "II)", "III)"]),
        ("lowerLetter", "(%1)", ["(a)", "(b)", "(c)"]),
        ("ideographTraditional", "%1、", ["甲、", "乙、", "丙、"]),
        ("decimalEnclosedCircle", "%1", ["①", "②", "③"]),
        ("bullet", "-", ["", "", ""]),
    ],
)
def test_labels_are_those_that_word_shows(kind: str, text: str, labels: list[str]) -> None:
    numbering = _numbering(kind, text)
    assert [numbering.label("5", 0) for _ in labels] == labels


def test_chinese_numbers_are_words() -> None:
    numbering = _numbering("chineseCounting", "%1")
    labels = [numbering.label("5", 0) for _ in range(120)]
    assert [labels[at - 1] for at in (9, 10, 11, 20, 21, 100, 101, 110, 120)] == [
        "九", "十", "十一", "二十", "二十一", "一百", "一百零一", "一百一十", "一百二十",
    ]  # fmt: skip


def test_deeper_levels_count_within_the_upper_one_and_a_new_list_starts_again() -> None:
    numbering = _numbering("decimal", "%1.")
    assert [numbering.label("5", at) for at in (0, 1, 1, 0, 1)] == ["1.", "1.1", "1.2", "2.", "2.1"]
    assert numbering.label("6", 0) == "1."


def test_a_paragraph_in_no_list_has_no_label() -> None:
    assert _numbering("decimal", "%1.").label("9", 0) is None
    assert Numbering(None).label("5", 0) is None
