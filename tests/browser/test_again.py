"""A run once more: which kinds are possible, replay, rerun, beside another run, out of a file; and the case that came of it."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import httpx
import msgspec
import pytest
from playwright.sync_api import Page, expect

from api.web.open_run import MAX_FILE_BYTES
from shared.ids import BlockId, RunId
from shared.types.replays import Changed, Difference, Gained, Lost, Moved, Replay, ReplayedCall
from shared.types.runs import Fingerprint
from tests.browser.conftest import Site, picture, stumbling_blocks
from tests.doubles.provider import Hang

Visit = Callable[..., Page]
QUESTION = "红茶常温能放多久？"
SEARCH = 'Action: search_blocks[{"query": "红茶 常温存放 保质期"}]'
FINISH = "Action: Finish[红茶常温存放，保质期三十六个月。【来源：{{block_id}}】]"
OTHERWISE = "Action: Finish[红茶密封后在常温下可以存放三年，即三十六个月。【来源：{{block_id}}】]"

DIFFERENT = Replay(
    run_id=RunId("run_1"),
    snapshot_id=None,
    retrieval_profile=None,
    outcome="different",
    calls=(
        ReplayedCall(
            turn=1,
            tool="search_blocks",
            arguments='{"query":"红茶"}',
            outcome="different",
            then=Fingerprint(payload_sha256="a", payload_bytes=1, blocks=3),
            now=Fingerprint(payload_sha256="b", payload_bytes=1, blocks=2),
            difference=Difference(
                gained=(Gained(block_id=BlockId("aaaaaaaa.v1#1"), rank=1),),
                lost=(Lost(block_id=BlockId("bbbbbbbb.v1#2"), rank=3, visible=True),),
                moved=(Moved(block_id=BlockId("cccccccc.v1#3"), then=2, now=1),),
                changed=(Changed(block_id=BlockId("dddddddd.v1#4"), then=None, now="<b>now</b> 现在"),),
                payload=(' "same"', '-"then"', '+"<img src=x>"'),
            ),
        ),
        ReplayedCall(turn=2, tool="scan_term", arguments="not json", outcome="skipped", reason="failed_then"),
    ),
)

pytestmark = pytest.mark.slow


def a_run(site: Site, finish: str = FINISH, **more: object) -> str:
    site.provider.script(SEARCH, finish)
    body = {"question": QUESTION, "trace_level": "full", **more}
    return httpx.post(f"{site.address}/api/runs", json=body, timeout=60).json()["run_id"]


def dropped(page: Page, file: Path) -> None:
    place = page.locator("#open").bounding_box()
    assert place is not None
    hand = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        data = {"items": [], "files": [str(file)], "dragOperationsMask": 1}
        at = {"x": place["x"] + 40, "y": place["y"] + 40}
        hand.send("Input.dispatchDragEvent", {"type": kind, "data": data, **at})  # pyright: ignore[reportUnknownMemberType]


def test_the_page_of_a_run_says_what_can_be_done_again_and_a_replay_finds_the_same(library: Site, visit: Visit) -> None:
    run_id = a_run(library)
    page = visit(f"/traces/{run_id}")
    ways = page.locator(".way")
    expect(ways).to_have_count(4)
    expect(page.locator(".way .badge.good")).to_have_count(4)
    page.get_by_role("button", name="重新查找一遍").click()
    result = page.locator("#again-result")
    expect(result).to_contain_text("每次查找的结果都完全相同。")
    expect(result).to_be_focused()
    result.scroll_into_view_if_needed()
    picture(page, "again-zh")
    assert stumbling_blocks(page) == []


def test_what_is_no_longer_possible_says_why(library: Site, visit: Visit) -> None:
    run_id = a_run(library, trace_level="metadata", question="白茶要避光存放吗？")  # whose prompts no other run kept
    page = visit(f"/traces/{run_id}", locale="en", dark=True, phone=True)
    evidence = page.locator('[data-way="evidence"]')
    expect(evidence).to_contain_text("not possible")
    expect(evidence).to_contain_text("were not kept")
    expect(evidence.get_by_role("link")).to_have_count(0)
    evidence.scroll_into_view_if_needed()
    picture(page, "again-en-dark-phone")
    assert stumbling_blocks(page) == []


def test_a_rerun_counts_what_passes_and_leads_to_every_run(library: Site, visit: Visit) -> None:
    run_id = a_run(library)
    page = visit(f"/traces/{run_id}", locale="en")
    page.get_by_label("How often").fill("2")
    page.get_by_text("What the answer must contain").first.click()
    page.locator("#expected").fill("三年")
    library.provider.script(SEARCH, FINISH, SEARCH, OTHERWISE)
    page.get_by_role("button", name="Ask again").click()
    result = page.locator("#again-result")
    expect(result).to_contain_text("50 % passed")
    expect(result).to_contain_text("the expected words are missing: 1")
    expect(result).to_contain_text("not the same words")
    expect(result.get_by_role("listitem").filter(has_text="passed")).to_have_count(1)
    result.scroll_into_view_if_needed()
    picture(page, "rerun-en")
    assert stumbling_blocks(page) == []
    result.get_by_role("link", name="How this came about").last.click()
    expect(page.get_by_text("This run repeats an earlier run")).to_be_visible()
    page.locator("#compare-with-title").scroll_into_view_if_needed()
    expect(page.get_by_text("this run repeats it")).to_be_visible()


def test_a_rerun_is_stopped_and_what_goes_on_for_it_ends(library: Site, visit: Visit) -> None:
    run_id = a_run(library)
    page = visit(f"/traces/{run_id}")
    gone = library.provider.gone
    library.provider.script(Hang())
    page.locator("#rerun-do").click()
    expect(page.locator("#again-progress")).to_contain_text("已完成 0/3 次")
    stop = page.locator("#again-stop")
    expect(stop).to_be_focused()
    picture(page, "rerun-under-way-zh")
    assert stumbling_blocks(page) == []
    stop.click()
    expect(page.locator("#again-problem")).to_contain_text("已停止。")
    assert library.provider.wait(lambda one: one.gone > gone)
    expect(page.locator("#rerun-do")).to_be_enabled()


def test_what_a_replay_finds_different_is_told_call_by_call(library: Site, visit: Visit) -> None:
    """The reply is made up: a real library would have to lose an index to differ."""
    run_id = a_run(library)
    page = visit(f"/traces/{run_id}", locale="en", phone=True)
    page.route(
        "**/replay", lambda route: route.fulfill(body=msgspec.json.encode(DIFFERENT), content_type="application/json")
    )
    page.get_by_role("button", name="Look everything up again").click()
    result = page.locator("#again-result")
    expect(result).to_contain_text("Something came out differently.")
    for said in (
        "new aaaaaaaa.v1#1 rank 1",
        "no longer found bbbbbbbb.v1#2 was at rank 3",
        "moved cccccccc.v1#3 rank 2 → 1",
    ):
        expect(result).to_contain_text(said)
    expect(result).to_contain_text("<b>now</b>")
    assert result.locator("b").count() == 0
    expect(result).to_contain_text("This look-up failed then, so there is nothing to compare.")
    result.get_by_text("line by line").click()
    expect(result.locator("ins")).to_have_text('+"<img src=x>"\n')
    picture(page, "replay-different-en-phone")
    assert stumbling_blocks(page) == []


def test_two_ticked_runs_stand_beside_each_other(library: Site, visit: Visit) -> None:
    first, second = a_run(library), a_run(library, OTHERWISE, budgets={"max_tool_calls": 3})
    page = visit("/traces")
    for run_id in (first, second):
        page.locator(f'input[value="{run_id}"]').check()
    picture(page, "traces-ticked-zh")
    page.get_by_role("button", name="对比勾选的两次问答").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("对比两次问答")
    versions = page.get_by_role("region", name="不同的版本")
    expect(versions).to_contain_text("max_tool_calls 3")
    expect(page.locator("ins").first).to_be_visible()
    expect(page.locator("del").first).to_be_visible()
    picture(page, "compare-runs-zh")
    assert stumbling_blocks(page) == []
    page.get_by_text("发送的提示词").first.click()
    page.locator("#turns").scroll_into_view_if_needed()
    picture(page, "compare-turns-zh")
    page.get_by_role("link", name="左右互换").click()
    expect(page).to_have_url(re.compile(f"left={second}&right={first}"))


def test_two_runs_beside_each_other_on_a_phone_in_the_dark(library: Site, visit: Visit) -> None:
    first, second = a_run(library), a_run(library, OTHERWISE)
    page = visit(f"/traces/compare?run={first}&run={second}", locale="en", dark=True, phone=True)
    expect(page.get_by_text("Both ran under the same versions")).to_be_visible()
    picture(page, "compare-runs-en-dark-phone")
    assert stumbling_blocks(page) == []


def test_a_run_is_saved_and_the_file_opens_again_and_its_markup_is_only_text(
    library: Site, visit: Visit, tmp_path: Path
) -> None:
    page = visit(f"/traces/{a_run(library)}")
    page.on("dialog", lambda dialog: pytest.fail(f"a file opened {dialog.message}"))
    with page.expect_download() as download:
        page.get_by_role("link", name="存为文件").click()
    file = tmp_path / "run.json"
    download.value.save_as(file)
    saved = json.loads(file.read_text(encoding="utf-8"))
    saved["record"]["answer"]["question"] = "<img src=x onerror=alert(1)>红茶？"
    file.write_text(json.dumps(saved), encoding="utf-8")
    page.goto("/traces")
    page.get_by_role("link", name="打开已保存的问答").click()
    picture(page, "open-run-zh")
    assert stumbling_blocks(page) == []
    page.locator("#file").set_input_files(file)
    expect(page.get_by_text("来自文件")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text("<img src=x onerror=alert(1)>红茶？")
    assert page.locator("main img").count() == 0
    picture(page, "run-file-zh")
    assert stumbling_blocks(page) == []


def test_a_file_that_is_no_run_says_what_helps(library: Site, visit: Visit, tmp_path: Path) -> None:
    letter, large = tmp_path / "letter.txt", tmp_path / "large.json"
    letter.write_text("Dear all,", encoding="utf-8")
    large.write_bytes(b" " * (MAX_FILE_BYTES + 1))
    page = visit("/traces/open", locale="en", dark=True, phone=True)
    page.locator("#file").set_input_files(large)
    expect(page.get_by_role("status")).to_have_text("The file is larger than 16 MB.")
    dropped(page, letter)
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("it is no JSON file")
    expect(alert).to_contain_text("letter.txt")
    picture(page, "open-run-refused-en-dark-phone")
    assert stumbling_blocks(page) == []


def test_a_case_is_judged_with_the_quote_that_holds_the_answer(library: Site, visit: Visit) -> None:
    run_id = a_run(library)
    page = visit(f"/traces/{run_id}", locale="en")
    page.get_by_role("button", name="Wrong or poor answer").click()
    expect(page.get_by_label("A note, if you like")).to_be_visible()
    page.get_by_label("A note, if you like").fill("The cold store is missing.")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Thank you, that is noted.")).to_be_visible()
    page.goto("/cases")
    picture(page, "cases-en")
    assert stumbling_blocks(page) == []
    page.locator(f'a[href="/cases/{run_id.replace("run_", "case_")}"]').click()
    page.get_by_label("Which layer failed").select_option("ignored")
    page.get_by_role("checkbox").first.check()
    page.get_by_label("What was found out").fill("§3 says it.")
    page.get_by_role("radio", name="Settled").check()
    picture(page, "case-en")
    assert stumbling_blocks(page) == []
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("status")).to_have_text("Saved.")
    with page.expect_download() as download:
        page.get_by_role("link", name="Save as a test question").click()
    item = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
    assert (item["question"], item["layer"], len(item["gold"])) == (QUESTION, "ignored", 1)
    page.goto("/cases?status=closed&lang=zh")
    expect(page.get_by_role("link", name=QUESTION).first).to_be_visible()
    picture(page, "cases-zh")
