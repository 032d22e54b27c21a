"""What a reader does with an answer he has read: says what it was worth, and removes the conversation again."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Site, picture, stumbling_blocks

Visit = Callable[..., Page]
QUESTION = "红茶的保质期是多久？"
SEARCH = 'Action: search_blocks[{"query": "红茶 常温存放 保质期"}]'
FINISH = "Action: Finish[红茶常温存放，保质期三十六个月。【来源：{{block_id}}】]"

pytestmark = pytest.mark.slow


def asked(site: Site, page: Page, question: str) -> None:
    site.provider.script(SEARCH, FINISH)
    page.get_by_role("textbox").first.fill(question)
    page.keyboard.press("Enter")
    expect(page.locator(".thumbs").last).to_be_visible()


def test_a_thumb_down_is_kept_with_its_note_and_where_it_went_wrong_and_can_be_turned(
    library: Site, visit: Visit
) -> None:
    page = visit("/")
    asked(library, page, QUESTION)
    group = page.get_by_role("group", name="这个回答对吗？")
    down, up = group.get_by_role("button", name="回答有误或不好"), group.get_by_role("button", name="回答得好")
    down.click()
    expect(down).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".feedback").get_by_role("status")).to_contain_text("已记下")
    page.get_by_label("问题出在哪里（知道的话）").select_option("ignored")
    page.get_by_label("备注（可不填）").fill("漏了冷藏的那一段 <b>")
    picture(page, "thumbs-zh")
    assert stumbling_blocks(page) == []
    page.get_by_role("button", name="保存").click()
    expect(page.get_by_text("谢谢，已记下。")).to_be_visible()
    expect(down).to_be_focused()
    case = library.api("GET", "/api/cases")[0]
    assert (case["question"], case["layer"], case["status"]) == (QUESTION, "ignored", "open")
    assert case["said"][0]["comment"] == "漏了冷藏的那一段 <b>"
    page.reload()
    expect(down).to_have_attribute("aria-pressed", "true")
    down.click()
    expect(page.get_by_label("备注（可不填）")).to_have_value("漏了冷藏的那一段 <b>")
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    expect(down).to_be_focused()
    up.click()
    expect(up).to_have_attribute("aria-pressed", "true")
    expect(down).to_have_attribute("aria-pressed", "false")
    expect(page.get_by_label("问题出在哪里（知道的话）")).to_be_hidden()
    assert library.api("GET", "/api/cases")[0]["status"] == "closed"


def test_thumbs_are_given_by_keyboard_in_the_dark_on_a_phone(library: Site, visit: Visit) -> None:
    page = visit("/", locale="en", dark=True, phone=True)
    asked(library, page, QUESTION)
    page.get_by_role("button", name="Wrong or poor answer").focus()
    page.keyboard.press("Enter")
    note = page.get_by_label("A note, if you like")
    expect(note).to_be_visible()
    note.press_sequentially("Too short.")
    picture(page, "thumbs-en-dark-phone")
    assert stumbling_blocks(page) == []
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Thank you, that is noted.")).to_be_visible()


def test_a_conversation_is_deleted_after_saying_what_goes_with_it_and_what_stays(library: Site, visit: Visit) -> None:
    page = visit("/", locale="en")
    asked(library, page, "绿茶怎么存放？")
    run_id = library.api("GET", "/api/runs?limit=1")[0]["run_id"]
    page.get_by_role("button", name="Delete this conversation").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Your documents stay")
    expect(dialog.get_by_role("button", name="No, leave it")).to_be_focused()
    picture(page, "delete-conversation-en")
    assert stumbling_blocks(page) == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("article")).to_have_count(1)
    page.get_by_role("button", name="Delete this conversation").click()
    dialog.get_by_role("button", name="Delete it").click()
    expect(page.get_by_role("article")).to_have_count(0)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert "conversation" not in page.url
    assert library.api("GET", f"/api/runs/{run_id}")["code"] == "not_found"


def test_an_earlier_conversation_is_deleted_from_the_list(library: Site, visit: Visit) -> None:
    page = visit("/")
    question = "白茶要避光吗？"
    asked(library, page, question)
    page.get_by_role("button", name="新的对话").click()
    page.get_by_text("以往的对话").click()
    expect(page.get_by_role("link", name=question)).to_be_visible()
    picture(page, "earlier-zh")
    page.get_by_role("button", name=f"删除: {question}").click()
    page.get_by_role("dialog").get_by_role("button", name="删除").click()
    expect(page.get_by_role("link", name=question)).to_have_count(0)
