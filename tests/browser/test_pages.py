"""What a person does who has never seen a terminal: begins, asks, looks after the library. In the order of a first day."""

from collections.abc import Callable, Generator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Site, alone, picture, running, stumbling_blocks
from tests.doubles.provider import Hang, Say

Visit = Callable[..., Page]
QUESTION = "红茶的保质期是多久？"
SEARCH = 'Thought: 先在手册里查 <b>储存</b>。\nAction: search_blocks[{"query": "红茶 常温存放 保质期"}]'
FINISH = "Action: Finish[红茶常温存放，保质期三十六个月。【来源：{{block_id}}】]"

pytestmark = pytest.mark.slow


def asked(page: Page, question: str) -> None:
    page.get_by_role("textbox").first.fill(question)
    page.keyboard.press("Enter")


@pytest.fixture
def fresh(library: Site, tmp_path: Path) -> Generator[Site]:
    """A Citebound into which nothing was imported yet."""
    with running(tmp_path, library.provider) as one:
        yield one


def test_the_first_start_leads_from_the_samples_to_the_first_question(fresh: Site, visit: Visit) -> None:
    page = visit("/", at=fresh)
    expect(page.get_by_role("heading", level=1)).to_have_text("开始使用")
    picture(page, "first-zh")
    assert stumbling_blocks(page) == []
    page.get_by_role("button", name="使用示例文档").click()
    page.get_by_role("link", name="提出第一个问题").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("向您的文档提问")
    expect(page.get_by_role("textbox").first).to_be_focused()
    picture(page, "ask-zh")


def test_an_answer_comes_with_its_steps_and_its_sources_open_beside_it(library: Site, visit: Visit) -> None:
    library.provider.script(SEARCH, FINISH)
    page = visit("/")
    asked(page, QUESTION)
    answer = page.get_by_role("article")
    chip = answer.get_by_role("button", name="出处 1")
    expect(chip.first).to_be_visible()
    page.get_by_text("查找过程").click()
    expect(answer.get_by_text("尚未核对")).to_be_visible()
    expect(answer.get_by_text("先在手册里查 <b>储存</b>。")).to_be_visible()
    expect(answer.locator(".prose")).to_have_text("红茶常温存放，保质期三十六个月。1")
    chip.first.click()
    panel = page.get_by_role("complementary")
    expect(panel.get_by_role("heading")).to_have_text("云岭茶坊经营手册")
    expect(panel.locator(".cited")).to_contain_text("保质期三十六个月")
    expect(panel.get_by_role("region", name="上文")).to_contain_text("烘焙")
    expect(panel.get_by_text("用户上传")).to_be_visible()
    picture(page, "answer-zh")
    assert stumbling_blocks(page) == []
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(chip.first).to_be_focused()


def test_a_conversation_goes_on_and_is_there_after_a_reload(library: Site, visit: Visit) -> None:
    library.provider.script(SEARCH, FINISH)
    page = visit("/", locale="en")
    asked(page, QUESTION)
    expect(page.get_by_text("Answered", exact=True)).to_be_visible()
    assert "conversation=conv_" in page.url
    page.reload()
    expect(page.get_by_role("article").get_by_role("button", name="Source 1").first).to_be_visible()
    page.get_by_role("button", name="New conversation").click()
    expect(page.get_by_role("article")).to_have_count(0)
    assert "conversation" not in page.url
    page.get_by_text("Earlier conversations").click()
    expect(page.get_by_role("link", name=QUESTION).first).to_be_visible()


def test_a_question_in_a_conversation_that_was_deleted_elsewhere_begins_a_new_one(library: Site, visit: Visit) -> None:
    library.provider.script(SEARCH, FINISH)
    page = visit("/", refused=404)
    asked(page, QUESTION)
    expect(page.get_by_text("已回答", exact=True)).to_be_visible()
    assert httpx.delete(f"{library.address}/api/conversations/{page.url.rpartition('=')[2]}").is_success
    asked(page, "那绿茶呢？")
    expect(page.get_by_text("这个对话已在别处删除")).to_be_visible()
    library.provider.script(SEARCH, FINISH)
    page.get_by_role("article").last.get_by_role("button", name="重新提问").click()
    expect(page.get_by_text("已回答", exact=True)).to_have_count(2)
    assert "conversation=conv_" in page.url


def test_stop_ends_the_run_and_says_so(library: Site, visit: Visit) -> None:
    library.provider.script(Hang())
    page = visit("/")
    asked(page, "港口的泊位费是多少？")
    expect(page.get_by_role("listitem").filter(has_text="正在思考").first).to_be_visible()
    page.get_by_role("button", name="停止").click()
    expect(page.get_by_role("article").get_by_text("已停止。")).to_be_visible()
    expect(page.get_by_role("button", name="停止")).to_be_hidden()
    assert library.provider.wait(lambda one: one.gone > 0)
    expect(page.get_by_role("article").get_by_text("失败")).to_have_count(0)


def test_a_page_that_is_loaded_anew_before_the_answer_gives_the_question_back(library: Site, visit: Visit) -> None:
    library.provider.script(Hang())
    page = visit("/")
    asked(page, "港口的泊位费是多少？")
    expect(page.get_by_role("listitem").filter(has_text="正在思考").first).to_be_visible()
    page.reload()
    expect(page.get_by_role("textbox").first).to_have_value("港口的泊位费是多少？")


def test_a_question_stays_within_the_documents_that_were_chosen(library: Site, visit: Visit) -> None:
    page = visit("/", locale="en")
    page.get_by_text("Where to look").click()
    page.get_by_role("searchbox").fill("harbour")
    page.get_by_role("checkbox", name="Northquay harbour: fees").check()
    expect(page.locator("#scope-sources legend")).to_be_in_viewport(ratio=1)
    picture(page, "scope-en")
    page.keyboard.press("Escape")
    expect(page.locator("#scope-said")).to_have_text("Northquay harbour: fees")
    with page.expect_request("**/api/runs") as sent:
        asked(page, "What does a berth cost?")
    doc_id = next(one["doc_id"] for one in library.api("GET", "/api/documents") if one["title"].endswith("fees"))
    body = sent.value.post_data_json
    assert body is not None
    assert body["scope"] == {"doc_ids": [doc_id]}
    expect(page.get_by_role("article").get_by_role("button", name="Ask again")).to_be_visible()


def test_the_pages_do_without_a_mouse_in_the_dark_and_on_a_phone(library: Site, visit: Visit) -> None:
    library.provider.script(SEARCH, FINISH)
    page = visit("/", locale="en", dark=True, phone=True)
    picture(page, "ask-en-dark-phone")
    asked(page, QUESTION)
    expect(page.get_by_text("Answered", exact=True)).to_be_visible()
    top_of = "document.querySelector('.asked').getBoundingClientRect().top"
    assert page.evaluate(
        f"{top_of} >= document.querySelector('.top').getBoundingClientRect().bottom"
    )  # not under the head
    chip = page.get_by_role("article").get_by_role("button", name="Source 1").first
    chip.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".cited")).to_be_visible()
    picture(page, "source-en-dark-phone")
    assert stumbling_blocks(page) == []
    page.keyboard.press("Escape")
    picture(page, "answer-en-dark-phone")
    page.goto("/library")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.goto("/settings")
    expect(page.get_by_role("link", name="Settings", exact=True)).to_be_in_viewport(ratio=1)
    page.goto("/library")
    picture(page, "library-en-dark-phone")
    assert stumbling_blocks(page) == []


def test_language_and_appearance_stay_as_they_were_chosen(library: Site, visit: Visit) -> None:
    page = visit("/library")
    page.get_by_role("link", name="English").click()
    page.get_by_label("Appearance").select_option("dark")
    page.get_by_role("link", name="Ask", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Ask your documents")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.evaluate("getComputedStyle(document.body).colorScheme") == "dark"
    page.keyboard.press("Tab")
    assert stumbling_blocks(page) == []
    picture(page, "ask-en-dark")


def test_a_key_is_asked_for_once(chromium: Browser, tmp_path: Path) -> None:
    with alone(tmp_path, "the-key-of-the-owner") as address:
        context = chromium.new_context(base_url=address, locale="zh-CN")
        page = context.new_page()
        page.goto("/library")
        expect(page.get_by_label("密钥", exact=True)).to_be_focused()
        page.keyboard.type("cbk_wrong")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_be_visible()
        picture(page, "sign-in-zh")
        assert stumbling_blocks(page) == []
        page.get_by_label("密钥", exact=True).fill("the-key-of-the-owner")
        page.get_by_role("button", name="登录").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("资料库")
        assert page.url == f"{address}/library"
        page.get_by_role("button", name="退出登录").click()
        expect(page.get_by_label("密钥", exact=True)).to_be_visible()
        context.close()


def test_files_come_in_and_what_can_t_be_read_says_why_and_what_helps(
    library: Site, visit: Visit, tmp_path: Path
) -> None:
    folder = tmp_path / "账目"
    folder.mkdir()
    (folder / "三月.md").write_text("# 三月\n\n三月的水电费是八百四十元。\n", encoding="utf-8")
    (folder / "空.txt").write_bytes(b"")
    page = visit("/library")
    page.locator("#folder").set_input_files(folder)
    row = page.locator("#import-list > li").first
    expect(row.get_by_text("已完成，有缺漏")).to_be_visible()
    row.get_by_text("1 篇未能读取").click()
    expect(row.get_by_text("其中没有文字。")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="三月").filter(has_text="账目")).to_be_visible()
    picture(page, "library-zh")
    assert stumbling_blocks(page) == []


def test_a_folder_can_be_dropped_on_the_page(library: Site, visit: Visit, tmp_path: Path) -> None:
    folder = tmp_path / "Minutes"
    (folder / "2026").mkdir(parents=True)
    (folder / "2026" / "may.md").write_text("# May\n\nThe quay lights were replaced in May.\n", encoding="utf-8")
    page = visit("/library", locale="en")
    place = page.locator("#upload").bounding_box()
    assert place is not None
    hand = page.context.new_cdp_session(page)
    empty = tmp_path / "Empty"
    empty.mkdir()
    for dropped in (empty, folder):
        for kind in ("dragEnter", "dragOver", "drop"):
            data = {"items": [], "files": [str(dropped)], "dragOperationsMask": 1}
            at = {"x": place["x"] + 40, "y": place["y"] + 40}
            hand.send("Input.dispatchDragEvent", {"type": kind, "data": data, **at})  # pyright: ignore[reportUnknownMemberType]
        if dropped is empty:
            expect(page.get_by_text("There are no files in it.")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="2026/may.md").filter(has_text="Minutes")).to_be_visible()


def test_an_import_can_be_cancelled_after_being_asked_whether_that_is_meant(
    library: Site, visit: Visit, tmp_path: Path
) -> None:
    many = tmp_path / "many"
    many.mkdir()
    for number in range(60):
        text = "".join(f"第{number}号仓库第{line}格存放茶叶{line * 7}箱。\n\n" for line in range(60))
        (many / f"{number}.md").write_text(f"# {number}\n\n{text}", encoding="utf-8")
    page = visit("/library", locale="en")
    page.locator("#folder").set_input_files(many)
    row = page.locator("#import-list > li").first
    row.get_by_role("button", name="Pause").click()
    expect(row.get_by_role("button", name="Go on")).to_be_visible()
    picture(page, "import-en")
    assert stumbling_blocks(page) == []
    row.get_by_role("button", name="Cancel").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="No, leave it")).to_be_focused()
    page.keyboard.press("Escape")
    expect(row.get_by_role("button", name="Go on")).to_be_visible()
    row.get_by_role("button", name="Cancel").click()
    dialog.get_by_role("button", name="Cancel the import").click()
    expect(row.get_by_text("Cancelled")).to_be_visible()
    library.settled()


def test_a_page_opened_while_an_import_runs_follows_it_and_waits_for_a_server_that_was_lost(
    library: Site, visit: Visit
) -> None:
    text = "".join(f"第{line}格存放茶叶{line * 7}箱。\n\n" for line in range(60))
    many = [("files", (f"货架{number}.md", f"# 货架{number}\n\n{text}".encode())) for number in range(40)]
    begun = httpx.post(f"{library.address}/api/imports", files=many, timeout=60).json()["import_id"]
    page = visit("/")
    page.route("**/events", lambda route: route.fulfill(content_type="text/event-stream", body=""))
    page.goto("/library")
    row = page.locator(f"#{begun}")
    expect(page.get_by_role("alert")).to_contain_text("无法连接 Citebound")
    page.unroute("**/events")
    expect(page.get_by_role("alert")).to_be_hidden()
    row.get_by_role("button", name="暂停").click()
    expect(row.get_by_text("已暂停")).to_be_visible()
    library.api("POST", f"/api/imports/{begun}/resume")  # in another window
    expect(row.get_by_role("button", name="暂停")).to_be_visible()
    library.api("POST", f"/api/imports/{begun}/cancel")
    expect(row.get_by_text("已取消")).to_be_visible()
    library.settled()


def test_snapshots_are_compared_gone_back_to_kept_and_deleted(library: Site, visit: Visit) -> None:
    first = httpx.post(
        f"{library.address}/api/imports", files={"files": ("夜班.md", "# 夜班\n\n夜班从二十二点开始。\n".encode())}
    )
    assert first.status_code == 202
    library.settled()
    page = visit("/library", locale="en")
    newest, older = page.locator(".snapshot").nth(0), page.locator(".snapshot").nth(1)
    expect(newest.get_by_text("Answering now")).to_be_visible()
    older.get_by_role("link", name="What differs").click()
    expect(page.get_by_role("heading", level=2)).to_contain_text("Added")
    expect(page.get_by_text("夜班", exact=True)).to_be_visible()
    picture(page, "compare-en")
    assert stumbling_blocks(page) == []
    page.go_back()
    older.get_by_role("button", name="Go back to this one").click()
    page.get_by_role("button", name="Use it").click()
    expect(older.get_by_text("Answering now")).to_be_visible()
    newest.get_by_role("button", name="Keep", exact=True).click()
    expect(newest.get_by_text("Kept")).to_be_visible()
    expect(newest.get_by_role("button", name="Delete")).to_have_count(0)
    newest.get_by_role("button", name="Keep no longer").click()
    shown = page.locator(".snapshot").count()
    newest.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete it").click()
    expect(page.locator(".snapshot")).to_have_count(shown - 1)


def test_a_document_is_read_by_its_outline_and_its_markup_is_only_text(library: Site, visit: Visit) -> None:
    hostile = (
        "# 公告\n\n<img src=x onerror=alert(1)> <script>alert(2)</script>请按时交报表。\n\n## 附录\n\n没有别的。\n"
    )
    httpx.post(f"{library.address}/api/imports", files={"files": ("公告.md", hostile.encode())})
    library.settled()
    page = visit("/library")
    page.on("dialog", lambda dialog: pytest.fail(f"a document opened {dialog.message}"))
    page.get_by_role("link", name="公告").click()
    expect(page.get_by_text("<img src=x onerror=alert(1)>")).to_be_visible()
    page.get_by_role("navigation", name="目录").get_by_role("link", name="附录").click()
    expect(page.locator(".block")).to_have_count(1)
    picture(page, "document-zh")
    assert stumbling_blocks(page) == []
    page.goto("/library")
    page.get_by_role("link", name="公告").click()
    page.get_by_role("link", name="就这篇文档提问").click()
    expect(page.locator("#scope-said")).to_have_text("公告")
    library.provider.script(
        Say(text='Action: search_blocks[{"query": "按时交报表"}]'),
        Say(text="Action: Finish[<img src=x onerror=alert(3)>请按时交报表。【来源：{{block_id}}】]"),
    )
    asked(page, "报表什么时候交？")
    expect(page.get_by_role("article").get_by_role("button", name="重新提问")).to_be_visible()
    assert page.locator("article img").count() == 0
