"""What the page of an answer says of a source that may not show its sentence."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Site, picture, stumbling_blocks

SEARCH = 'Action: search_blocks[{"query": "红茶 常温存放 保质期"}]'
FINISH = "Action: Finish[红茶的储存由赵敏负责。【来源：{{block_id}}】]"

pytestmark = pytest.mark.slow


def test_a_source_that_could_not_be_checked_says_so_and_what_it_does_not_say(
    library: Site, visit: Callable[..., Page]
) -> None:
    library.provider.script(SEARCH, FINISH)
    page = visit("/")
    page.get_by_role("textbox").first.fill("红茶的储存由谁负责？")
    page.keyboard.press("Enter")
    answer = page.get_by_role("article")
    expect(answer.locator(".sources")).to_contain_text("未能自动核对：引用的文本中没有明确写出：赵敏")
    expect(answer.locator(".prose").get_by_role("button", name="未能自动核对")).to_be_visible()
    assert stumbling_blocks(page) == []
    picture(page, "unchecked-zh")
