"""From a wrong answer to the layer that failed, on the pages of a real instance."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Site, picture, stumbling_blocks

Visit = Callable[..., Page]
QUESTION = "红茶的保质期和价格？"
SEARCH = 'Thought: 再查 <b>储存</b>。\nAction: search_blocks[{"query": "红茶 常温存放 保质期"}]'
RETURNS = 'Thought: 先查退货。\nAction: search_blocks[{"query": "退货 期限"}]'
FINISH = "Action: Finish[红茶常温存放，保质期三十六个月。【来源：{{block_id}}】红茶的价格是每斤八百元。【来源：{{block_id}}】]"

pytestmark = pytest.mark.slow


def ask(site: Site, *script: str, question: str = QUESTION, **wishes: Any) -> str:
    """The id of a run, once it is over."""
    site.provider.script(*script)
    body = {"question": question, "path": "agent", **wishes}
    return httpx.post(f"{site.address}/api/runs", json=body, timeout=60).json()["run_id"]


@pytest.fixture(scope="module")
def full(library: Site) -> str:
    return ask(library, RETURNS, SEARCH, FINISH, trace_level="full")


@pytest.fixture(scope="module")
def metadata(library: Site) -> str:
    return ask(library, SEARCH, FINISH, question="红茶放在哪里？")


def test_a_wrong_answer_says_at_once_which_layer_failed(full: str, visit: Visit) -> None:
    page = visit(f"/traces/{full}")
    strip = page.get_by_role("region", name="发生了什么")
    expect(strip).to_contain_text("请先看这里：出处与回答的说法不符")
    expect(strip.get_by_role("listitem")).to_have_count(6)
    answer = page.get_by_role("region", name="回答", exact=True)
    expect(answer.get_by_role("link", name="出处 1: 不支持这一句")).to_be_visible()
    answer.get_by_role("link", name="出处 1: 支持这一句").click()
    expect(page.locator("#run-source-1")).to_be_in_viewport()
    expect(answer).to_contain_text("引用的文本中没有：每斤八百元")
    picture(page, "trace-zh")
    assert stumbling_blocks(page) == []
    source = answer.locator("#run-source-1").get_by_role("link", name="云岭茶坊经营手册")
    with page.context.expect_page() as block:
        source.click()
    expect(block.value.locator("body")).to_contain_text("保质期三十六个月")


def test_each_turn_has_its_prompt_with_what_is_new_in_it(full: str, visit: Visit) -> None:
    page = visit(f"/traces/{full}", locale="en")
    turn = page.get_by_role("listitem").filter(has=page.get_by_role("heading", name="Turn 2"))
    turn.get_by_text("Prompt as sent").click()
    expect(turn.locator("ins").first).to_have_text(RETURNS)
    same = turn.locator("details.message.same").first
    expect(same.locator("pre")).to_be_hidden()
    same.locator("summary").click()
    expect(same.locator("pre")).to_contain_text("search_blocks")
    expect(turn.get_by_text("Let in")).to_be_visible()
    expect(turn.get_by_text("Limit 100,000")).to_be_visible()
    picture(page, "trace-prompt-en")


def test_a_search_shows_both_lists_and_what_became_of_each_passage(full: str, visit: Visit) -> None:
    page = visit(f"/traces/{full}")
    turn = page.get_by_role("listitem").filter(has=page.get_by_role("heading", name="第 2 轮"))
    turn.locator("details.search > summary").click()
    for name in ("按含义", "按字词"):
        first = turn.get_by_role("list", name=name).get_by_role("listitem").first
        expect(first).to_contain_text("云岭茶坊经营手册")
    fused = turn.get_by_role("region", name="合并之后").get_by_role("row")
    expect(fused.nth(1)).to_contain_text("已引用")
    expect(fused.last).to_contain_text("未采用")
    expect(fused.last.get_by_role("link")).not_to_have_text("")
    turn.locator("details.search").scroll_into_view_if_needed()
    picture(page, "trace-search-zh")
    assert stumbling_blocks(page) == []
    ways = page.get_by_role("region", name="每一段走到了哪一步").get_by_role("row")
    expect(ways.nth(1).get_by_role("link", name="1", exact=True)).to_be_visible()


def test_the_course_in_time_opens_step_by_step_with_the_keyboard(full: str, visit: Visit) -> None:
    page = visit(f"/traces/{full}", dark=True)
    step = page.locator(".waterfall summary").nth(2)
    step.focus()
    page.keyboard.press("Enter")
    details = page.locator(".waterfall details[open]")
    expect(details).to_contain_text("usage.input_tokens")
    details.scroll_into_view_if_needed()
    picture(page, "trace-course-zh-dark")
    assert stumbling_blocks(page) == []


def test_what_was_not_kept_is_said_and_can_be_had_by_asking_again(library: Site, metadata: str, visit: Visit) -> None:
    page = visit(f"/traces/{metadata}", locale="en", dark=True, phone=True)
    expect(page.get_by_text("were not kept").first).to_be_visible()
    expect(page.get_by_text("CITEBOUND_TRACE_LEVEL=full")).to_be_visible()
    picture(page, "trace-metadata-en-dark-phone")
    assert stumbling_blocks(page) == []
    library.provider.script(SEARCH, FINISH)
    page.get_by_role("button", name="Ask again and keep everything").click()
    expect(page.get_by_text("were not kept")).to_have_count(0)
    assert metadata not in page.url
    page.locator(".turn summary", has_text="Prompt as sent").first.click()
    expect(page.locator("details.message").first).to_be_visible()
    picture(page, "trace-en-dark-phone")
    assert stumbling_blocks(page) == []


def test_the_list_is_narrowed_down_in_the_address(full: str, metadata: str, visit: Visit) -> None:
    page = visit("/traces")
    expect(page.get_by_role("link", name=QUESTION)).to_have_count(1)
    picture(page, "traces-zh")
    assert stumbling_blocks(page) == []
    page.get_by_role("searchbox", name="问题中的文字").fill("价格")
    page.get_by_label("结果").select_option("部分回答")
    page.get_by_role("button", name="显示", exact=True).click()
    expect(page.locator("table.runs tbody tr")).to_have_count(1)
    assert "status=partial" in page.url
    page.get_by_text("更多条件").click()
    page.get_by_label("引用的文档").fill("harbour")
    page.keyboard.press("Enter")
    expect(page.get_by_text("没有符合条件的问题。")).to_be_visible()
    picture(page, "traces-none-zh")
    page.get_by_role("link", name="显示全部").last.click()
    expect(page.get_by_role("link", name=QUESTION)).to_have_count(1)


def test_the_list_and_the_course_of_an_import_on_a_phone(full: str, visit: Visit) -> None:
    page = visit("/traces", locale="en", dark=True, phone=True)
    expect(page.get_by_role("link", name=QUESTION)).to_be_visible()
    picture(page, "traces-en-dark-phone")
    assert stumbling_blocks(page) == []
    page.goto("/library")
    page.get_by_role("link", name="How it went").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("How an import went")
    expect(page.locator(".waterfall")).to_contain_text("Making searchable")
    picture(page, "import-trace-en-dark-phone")
    assert stumbling_blocks(page) == []
