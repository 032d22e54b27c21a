"""A doubt is told at the sentence it is about, once; a source is flagged for the sentences it fails alone."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Site, picture, stumbling_blocks

SEARCH = 'Action: search_blocks[{"query": "红茶 常温存放 保质期"}]'

pytestmark = pytest.mark.slow


def asked(page: Page, question: str) -> None:
    page.get_by_role("textbox").first.fill(question)
    page.keyboard.press("Enter")
    expect(page.locator(".prose")).to_be_visible()


def test_a_sentence_that_could_not_be_checked_is_marked_and_says_what_its_source_does_not(
    library: Site, visit: Callable[..., Page]
) -> None:
    library.provider.script(SEARCH, "Action: Finish[红茶的储存由赵敏负责。【来源：{{block_id}}】]")
    page = visit("/")
    asked(page, "红茶的储存由谁负责？")
    answer = page.get_by_role("article")
    expect(answer.locator(".prose mark.unchecked")).to_contain_text("红茶的储存由赵敏负责。")
    expect(answer.locator(".prose .why")).to_have_text("引用的文本中没有明确写出：赵敏")
    expect(answer.get_by_text("赵敏")).to_have_count(2)  # the sentence and why; nothing of it below
    expect(answer.locator(".prose").get_by_role("button", name="未能自动核对")).to_be_visible()
    assert stumbling_blocks(page) == []
    picture(page, "unchecked-zh")


def test_only_the_sentence_that_its_source_does_not_support_is_marked(
    library: Site, visit: Callable[..., Page]
) -> None:
    page = visit("/")
    library.provider.script(
        SEARCH,
        "Action: Finish[红茶的保质期是 87 个月【来源：{{block_id}}】。\n\n红茶要存放在常温处。【来源：{{block_id}}】]",
    )
    asked(page, "红茶的保质期是多久？")
    answer = page.get_by_role("article")
    expect(answer.locator("mark.doubted")).to_have_count(1)
    expect(answer.locator("mark.doubted")).to_contain_text("红茶的保质期是 87 个月")
    expect(answer.locator(".chip.doubted")).to_have_count(1)
    expect(answer.locator(".chip")).to_have_count(2)
    expect(answer.get_by_text("请注意")).to_have_count(0)
    expect(answer.locator(".why.doubted")).to_contain_text("87 个月")
    expect(answer.get_by_text("87 个月")).to_have_count(2)
    expect(answer.locator(".sources .doubt")).to_contain_text("其中 1 句未获支持")
    assert stumbling_blocks(page) == []
    picture(page, "unsupported-zh")
    picture(visit(page.url, dark=True, phone=True), "unsupported-zh-dark-phone")
