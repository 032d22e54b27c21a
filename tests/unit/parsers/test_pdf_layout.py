"""Headings, paragraphs and tables from lines on a page; the page is 600 × 800 points, the body 10."""

from worker.parsers.pdf_headings import OutlineEntry
from worker.parsers.pdf_layout import elements_of
from worker.parsers.pdf_lines import Line, PageLines


def _line(
    text: str,
    y: float,
    *,
    page: int = 1,
    left: float = 50,
    right: float = 550,
    size: float = 10,
    weight: int = 400,
    cells: tuple[str, ...] = (),
) -> Line:
    return Line(text=text, page=page, left=left, right=right, y=y, size=size, weight=weight, cells=cells)


def _page(*lines: Line) -> PageLines:
    return PageLines(lines=lines, height=800, has_pictures=False)


def _shown(*pages: PageLines, outline: tuple[OutlineEntry, ...] = ()) -> list[tuple[str, str]]:
    return [(element.kind, element.text) for element in elements_of(pages, outline)]


BODY = (
    _line("装配车间实行三班制，夜班津贴为每班人民币七十六元，", 600),
    _line("次月随工资发放。", 588, right=150),
)
BODY_TEXT = ("paragraph", "装配车间实行三班制，夜班津贴为每班人民币七十六元，次月随工资发放。")


def test_chinese_lines_grow_together_without_a_blank_and_latin_ones_with_one() -> None:
    latin = (_line("The labora-", 500), _line("tory keeps its own", 488), _line("roster.", 476, right=90))
    assert _shown(_page(*BODY, *latin)) == [BODY_TEXT, ("paragraph", "The laboratory keeps its own roster.")]


def test_a_hyphen_before_a_number_or_capital_stays() -> None:
    assert _shown(_page(_line("XH-HR-", 600), _line("2031", 588))) == [("paragraph", "XH-HR-2031")]


def test_bookmarks_say_which_lines_are_headings() -> None:
    page = _page(
        _line("第一章 总则", 650, right=120), *BODY, _line("第二章", 560, right=90), _line("休假", 548, right=70)
    )
    outline = (
        OutlineEntry(level=0, title="第一章  总则", page=1, y=None),
        OutlineEntry(level=1, title="第二章休假", page=1, y=None),
    )
    elements = elements_of([page], outline)
    assert [(element.text, element.level) for element in elements if element.kind == "heading"] == [
        ("第一章 总则", 2),
        ("第二章休假", 3),
    ]


def test_without_bookmarks_size_makes_headings() -> None:
    page = _page(_line("考勤办法", 720, size=20, right=200), _line("总则", 650, size=14, right=120), *BODY)
    elements = elements_of([page], ())
    assert [(element.text, element.level) for element in elements if element.kind == "heading"] == [
        ("考勤办法", 1),
        ("总则", 2),
    ]


def test_chapters_in_the_body_s_size_are_headings_too() -> None:
    assert _shown(_page(_line("第一章 总则", 650, right=120), *BODY)) == [("heading", "第一章 总则"), BODY_TEXT]


def test_running_heads_stay_once_and_page_numbers_go() -> None:
    pages = [
        _page(
            _line("XH-HR-2031 内部资料", 780, page=number, right=200),
            _line(f"第{number}段正文内容在这里。", 600, page=number, right=300),
            _line(f"第 {number} 页", 20, page=number, right=80),
        )
        for number in range(1, 5)
    ]
    assert [text for _, text in _shown(*pages)] == [
        "XH-HR-2031 内部资料",
        *(f"第{number}段正文内容在这里。" for number in range(1, 5)),
    ]


def test_a_line_that_comes_again_in_the_body_is_no_running_head() -> None:
    pages = [
        _page(
            _line("同样的一句话。", 780, page=number),
            _line("同样的第二句话。", 768, page=number),
            _line("不同。", 756, page=number),
        )
        for number in range(1, 5)
    ]
    assert sum(text.count("同样的第二句话。") for _, text in _shown(*pages)) == 4


def test_a_sentence_goes_on_over_the_page_break() -> None:
    pages = (
        _page(_line("陪产假为十八天，可以分两次使用，", 50)),
        _page(_line("但应当在一百二十天内用完。", 750, page=2)),
    )
    elements = elements_of(pages, ())
    assert [(element.text, element.page, element.page_last) for element in elements] == [
        ("陪产假为十八天，可以分两次使用，但应当在一百二十天内用完。", 1, 2)
    ]


def test_rows_with_wide_gaps_are_a_table() -> None:
    rows = [
        _line("x", 600 - 12 * at, cells=cells)
        for at, cells in enumerate((("假别", "天数"), ("事假", "15"), ("病假", "90")))
    ]
    element = elements_of([_page(*BODY, *rows)], ())[-1]
    assert (element.kind, element.text, element.header_rows) == ("table", "假别 | 天数\n事假 | 15\n病假 | 90", 1)


def test_a_mark_with_a_gap_behind_it_is_a_list_and_no_table() -> None:
    lines = [_line(f"{at}.   第{at}项", 600 - 12 * at, cells=(f"{at}.", f"第{at}项")) for at in (1, 2, 3)]
    assert [kind for kind, _ in _shown(_page(*lines))] == ["list_item"] * 3
