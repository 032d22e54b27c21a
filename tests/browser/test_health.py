"""The health page of a real instance: every part in plain words, the days as charts and as a table."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from shared.catalog.db import writing
from shared.telemetry.measures import bucket_of
from shared.telemetry.schema import open_traces
from tests.browser.conftest import WIDE, Site, alone, picture, stumbling_blocks

Visit = Callable[..., Page]

pytestmark = pytest.mark.slow


def live_through(site: Site, *, days: int) -> None:
    """As if questions had been asked for that long; yesterday too many were not answered."""
    counts: list[tuple[str, str, str, int]] = []
    times: list[tuple[str, str, int, int]] = []
    for back in range(days):
        day = (datetime.now(UTC) - timedelta(days=back)).strftime("%Y-%m-%d")
        runs = 0 if back % 11 == 10 else 14 + back * 7 % 29
        refused = runs // 2 if back == 1 else runs // 9
        for name, label, number in (
            ("runs", "complete/finished", runs - refused),
            ("runs", "refused/no_evidence", refused),
            ("retrievals", "", runs * (20 + back % 7) // 10),
            ("brakes", "brake_gain", runs // 8),
            ("brakes", "brake_time", back % 3),
            ("tokens", "chat_input", runs * (1800 + 90 * (back % 9))),
            ("tokens", "chat_output", runs * (240 + 20 * (back % 5))),
            ("tokens", "embedding", runs * (30 + back % 8)),
            ("citations", "supported", runs * 2),
            ("citations", "unsupported", runs // 10),
        ):
            counts.append((day, name, label, number))
        for step, seconds in (("run", 3.0), ("model_call", 1.5), ("search_embed", 0.02), ("tool_search_blocks", 0.2)):
            times += [(day, step, bucket_of(seconds), runs), (day, step, bucket_of(seconds * 3), runs // 10)]
    db = open_traces(site.layout.traces, busy_ms=30_000)
    with writing(db) as connection:
        for table in ("daily_counts", "daily_times"):
            connection.execute(f"delete from {table}")
        connection.executemany("insert into daily_counts (day, name, label, number) values (?, ?, ?, ?)", counts)
        connection.executemany("insert into daily_times (day, step, bucket, number) values (?, ?, ?, ?)", times)
    db.conn.close()


def test_the_parts_of_a_running_instance_are_told_in_plain_words(site: Site, visit: Visit) -> None:
    page = visit("/")
    page.get_by_role("link", name="运行状况").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("运行状况")
    for part, said in (
        ("worker", "正在领取任务。"),
        ("broker", "有应答。"),
        ("vectors", "有应答。"),
        ("chat", "scripted"),
        ("traces", "没有丢失"),
        ("disk", "GB"),
    ):
        expect(page.locator(f"#part-{part}")).to_contain_text(said)
    assert stumbling_blocks(page) == []


def test_the_days_are_drawn_told_in_numbers_and_held_against_thresholds(site: Site, visit: Visit) -> None:
    live_through(site, days=45)
    page = visit("/health", locale="zh-CN")
    chart = page.get_by_role("img", name="未回答")
    expect(chart).to_be_visible()
    expect(chart.locator("rect.bar.over")).to_have_count(1)
    expect(page.get_by_role("region", name="超过阈值")).to_contain_text("超过 30%")
    picture(page, "health-zh")
    page.locator("#history").scroll_into_view_if_needed()
    page.get_by_role("heading", name="每日变化").evaluate("(one) => one.scrollIntoView()")
    picture(page, "health-days-zh")
    page.get_by_role("link", name="90 天").click()
    expect(page.get_by_role("link", name="90 天")).to_have_attribute("aria-current", "true")
    expect(page.get_by_role("img", name="提问数").locator("rect")).to_have_count(45)
    page.get_by_text("以表格查看全部指标").click()
    rows = page.get_by_role("region", name="以表格查看全部指标").get_by_role("row")
    expect(rows).to_have_count(46)
    assert stumbling_blocks(page) == []


def test_the_health_page_is_read_in_the_dark_and_on_a_phone(site: Site, visit: Visit) -> None:
    live_through(site, days=45)
    page = visit("/health?days=7", locale="en", dark=True, phone=True)
    expect(page.get_by_role("img", name="Without an answer")).to_be_visible()
    picture(page, "health-en-dark-phone")
    page.get_by_role("heading", name="Day by day").evaluate("(one) => one.scrollIntoView()")
    picture(page, "health-days-en-dark-phone")
    page.get_by_role("heading", name="How long each step takes").evaluate("(one) => one.scrollIntoView()")
    picture(page, "health-steps-en-dark-phone")
    assert stumbling_blocks(page) == []
    wide = visit("/health", locale="en", dark=True)
    wide.get_by_role("heading", name="How long each step takes").evaluate("(one) => one.scrollIntoView()")
    picture(wide, "health-steps-en-dark")


def test_what_does_not_work_stands_first_with_what_helps(chromium: Browser, tmp_path: Path) -> None:
    with alone(tmp_path, "the-key-of-the-owner") as address:
        context = chromium.new_context(base_url=address, locale="zh-CN", viewport=WIDE)  # pyright: ignore[reportArgumentType]
        page = context.new_page()
        page.goto("/health")
        page.get_by_label("密钥", exact=True).fill("the-key-of-the-owner")
        page.get_by_role("button", name="登录").click()
        expect(page.locator("#overall")).to_contain_text("无法工作")
        first = page.locator(".part").first
        expect(first).to_contain_text("消息代理")
        expect(first).to_contain_text("CITEBOUND_BROKER_URL")
        expect(page.locator("#part-worker")).to_contain_text("请先处理消息代理。")
        expect(page.locator("#nothing-asked")).to_be_visible()
        picture(page, "health-failing-zh")
        assert stumbling_blocks(page) == []
        context.close()
