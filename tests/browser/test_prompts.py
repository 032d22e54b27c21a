"""Prompts: a copy is made, edited, tried, compared and frozen, and nobody's text is overwritten unasked."""

from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Site, picture, stumbling_blocks

Visit = Callable[..., Page]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def begun(library: Site, name: str) -> None:
    """A draft, made beside the page."""
    assert httpx.post(f"{library.address}/api/prompts", json={"name": name}).status_code == 201


def test_an_experiment_goes_from_a_copy_to_a_frozen_wording(library: Site, visit: Visit) -> None:
    page = visit("/prompts")
    expect(page.get_by_text("当前默认", exact=True)).to_be_visible()
    picture(page, "prompts-zh")
    assert stumbling_blocks(page) == []
    page.get_by_label("名称").fill("brief")
    page.get_by_role("button", name="创建").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("brief/1")

    page.locator("#t-citing > summary").click()
    citing = page.get_by_label("zh/citing.j2")
    expect(page.locator("#t-citing").get_by_text("{{ protocol }}").first).to_be_visible()
    citing.fill(citing.input_value() + "\n尽量简短。")
    expect(page.locator("#t-citing [data-unsaved]")).to_be_visible()
    page.locator("#t-citing").get_by_role("button", name="保存").first.click()
    expect(page.locator("#t-citing").get_by_text("已保存")).to_be_visible()
    expect(page.locator("#t-citing [data-unsaved]")).to_be_hidden()
    picture(page, "prompts-edit-zh")
    assert stumbling_blocks(page) == []

    library.provider.script("Action: Finish[红茶常温存放。]")
    page.get_by_label("您的问题").fill("红茶怎么存放？")
    page.get_by_role("button", name="提问").click()
    trace = page.get_by_role("link", name="回答是怎样得出的")
    expect(trace).to_be_visible()
    run = library.api("GET", f"/api/runs/{(trace.get_attribute('href') or '').rpartition('/')[2]}")
    assert run["manifest"]["prompt_bundle"] == "brief/1"
    assert "尽量简短。" in str(library.provider.requests[-1].body)

    page.get_by_role("link", name="改动了什么").click()
    expect(page.locator("ins").filter(has_text="尽量简短。")).to_be_visible()
    picture(page, "prompts-compare-zh")
    assert stumbling_blocks(page) == []

    page.go_back()
    page.get_by_role("button", name="定稿").click()
    page.get_by_role("dialog").get_by_role("button", name="定稿").click()
    expect(page.get_by_text("已定稿，不能再改")).to_be_visible()
    expect(page.get_by_role("textbox", name="zh/citing.j2")).to_have_count(0)
    page.get_by_text("成为正式版本").click()
    expect(page.get_by_text('prompts promote brief/1 --note "…"')).to_be_visible()


def test_what_is_written_wrongly_is_named_by_template_and_line(library: Site, visit: Visit) -> None:
    begun(library, "faulty")
    page = visit("/prompts/faulty/1", locale="en", refused=400)
    page.locator("#t-task > summary").click()
    task = page.get_by_label("en/task.j2")
    before = task.input_value()
    task.fill("Question: {{ question }}\n{% if history %}\nno end")
    page.locator("#t-task").get_by_role("button", name="Save").last.click()
    wrong = page.locator("#t-task").get_by_role("alert").last
    expect(wrong).to_contain_text("en/task.j2, line")
    expect(wrong).to_contain_text("{% endif %}")
    picture(page, "prompts-wrong-en")
    assert stumbling_blocks(page) == []
    wrong.get_by_role("button").click()
    expect(task).to_be_focused()
    assert library.api("GET", "/api/prompts/faulty/1")["templates"]["en/task.j2"] == before
    page.locator("#t-task").get_by_role("button", name="Undo changes").last.click()
    expect(task).to_have_value(before)


def test_of_two_who_edit_the_same_text_the_later_is_told(library: Site, visit: Visit) -> None:
    begun(library, "shared")
    page = visit("/prompts/shared/1", locale="en", refused=409)
    page.locator("#t-citing > summary").click()
    citing = page.get_by_label("en/citing.j2")
    citing.fill("Mine.")
    path = f"{library.address}/api/prompts/shared/1"
    assert httpx.put(path, json={"template": "en/citing.j2", "text": "Theirs."}).status_code == 200
    page.locator("#t-citing").get_by_role("button", name="Save").last.click()
    told = page.locator("#t-citing").get_by_role("alert").last
    expect(told).to_contain_text("Somebody else saved another text")
    told.get_by_text("See what they saved").click()
    expect(told.get_by_text("Theirs.")).to_be_visible()
    expect(citing).to_have_value("Mine.")
    picture(page, "prompts-conflict-en")
    assert stumbling_blocks(page) == []
    told.get_by_role("button", name="Keep mine").click()
    expect(page.locator("#t-citing").get_by_text("Saved", exact=True)).to_be_visible()
    assert library.api("GET", "/api/prompts/shared/1")["templates"]["en/citing.j2"] == "Mine."


def test_the_prompts_can_be_read_in_the_dark_and_on_a_phone(library: Site, visit: Visit) -> None:
    page = visit("/prompts", locale="en", dark=True, phone=True)
    picture(page, "prompts-en-dark-phone")
    page.get_by_role("link", name="Read").first.click()
    page.locator("#t-rules > summary").click()
    expect(page.locator("#t-rules").get_by_text("en/rules.j2")).to_be_visible()
    picture(page, "prompts-bundle-en-dark-phone")
    assert stumbling_blocks(page) == []
