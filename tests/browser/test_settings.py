"""Somebody who has never seen a terminal connects a language model, and asks it."""

import re
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Site, picture, running, stumbling_blocks
from tests.doubles.credential_store import BACKEND, FILE
from tests.doubles.provider import Fault, Provider, provider_double

Visit = Callable[..., Page]
KEY = "sk-geheim-31415926535"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]  # one of them starts the service twice


@pytest.fixture(scope="module")
def provider() -> Generator[Provider]:
    with provider_double() as one:
        yield one


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory, provider: Provider) -> Generator[Site]:
    """A Citebound of its own: no model is connected, and it may be started again. Its credential store is a file beside."""
    folder = tmp_path_factory.mktemp("settings")
    store = str(folder / "credentials.json")
    with running(folder, provider, PYTHON_KEYRING_BACKEND=BACKEND, **{FILE: store}) as one:
        yield one


def test_a_model_is_connected_tested_in_plain_words_and_answers(fresh: Site, visit: Visit) -> None:
    page = visit("/", at=fresh)
    page.get_by_role("link", name="连接语言模型").click()
    chat = page.get_by_role("region", name="语言模型")
    expect(chat.get_by_text("未连接", exact=True)).to_be_visible()
    picture(page, "settings-zh")
    assert stumbling_blocks(page) == []

    chat.get_by_label("服务商").select_option("deepseek")
    expect(chat.get_by_label("地址")).to_have_value("https://api.deepseek.com/v1")
    expect(chat.get_by_role("link", name="获取密钥")).to_be_visible()

    chat.get_by_label("服务商").select_option("other")
    chat.get_by_label("地址").fill(fresh.provider.base_url)
    chat.get_by_label("密钥").fill(KEY)
    fresh.provider.script(Fault(status=401, message=f"Incorrect API key {KEY}"))
    chat.get_by_label("模型").fill("通义")
    chat.get_by_role("button", name="测试连接").click()
    outcome = chat.get_by_role("status")
    expect(outcome).to_contain_text("不接受这个密钥")
    expect(outcome).to_contain_text("新建一个")
    expect(outcome).not_to_contain_text(KEY[-4:])
    picture(page, "settings-wrong-key-zh")

    chat.get_by_label("模型").fill("")
    chat.get_by_role("button", name="测试连接").click()
    outcome.get_by_role("button", name="double").click()
    chat.get_by_role("button", name="保存并使用").click()
    expect(outcome).to_contain_text("连接成功")
    page.get_by_role("dialog").get_by_role("button", name="重新启动").click()
    expect(chat.get_by_text("已连接", exact=True)).to_be_visible(timeout=90_000)
    expect(chat.get_by_text("已存入 Test Keychain")).to_be_visible()
    assert KEY not in page.content()
    picture(page, "settings-connected-zh")

    asked = fresh.provider.state().requests["/v1/chat/completions"]
    fresh.api("POST", "/samples")
    fresh.settled()
    page.goto("/")
    page.get_by_role("textbox").first.fill("红茶的保质期是多久？")
    page.keyboard.press("Enter")
    expect(page.get_by_role("article").get_by_role("button", name=re.compile("重新提问")).first).to_be_visible()
    requests = [one for one in fresh.provider.requests if one.path == "/v1/chat/completions"][asked:]
    assert requests
    assert {one.headers["authorization"] for one in requests} == {f"Bearer {KEY}"}


def test_the_key_stands_in_nothing_that_was_written(fresh: Site, visit: Visit) -> None:
    """After what the test before did: settings, a start, a question."""
    page = visit("/settings", at=fresh, locale="en", dark=True, phone=True)
    expect(page.get_by_text("Connected", exact=True)).to_be_visible()
    picture(page, "settings-en-dark-phone")
    assert stumbling_blocks(page) == []
    assert KEY not in page.content()
    written = [path for path in fresh.layout.root.rglob("*") if path.is_file()] + [fresh.log]
    assert {path.name for path in written} >= {"citebound.toml", "api.log", "traces.db", "run.json"}
    assert [path for path in written if KEY.encode() in path.read_bytes()] == []
    for pid in (fresh.instance.pid, *fresh.instance.children.values()):
        assert KEY.encode() not in Path(f"/proc/{pid}/environ").read_bytes()
        assert KEY.encode() not in Path(f"/proc/{pid}/cmdline").read_bytes()


def test_disconnecting_is_asked_about_and_takes_the_key_along(fresh: Site, visit: Visit) -> None:
    page = visit("/settings", at=fresh, locale="en")
    page.get_by_role("button", name="Disconnect").click()
    page.get_by_role("dialog").get_by_role("button", name="Disconnect").click()
    page.get_by_role("dialog").get_by_role("button", name="Later").click()
    expect(page.get_by_text("Some changes are not in use yet.")).to_be_visible()
    picture(page, "settings-pending-en")
    assert stumbling_blocks(page) == []
    assert KEY not in Path(fresh.env[FILE]).read_text(encoding="utf-8")


def test_without_a_credential_store_the_page_says_what_to_set_where(site: Site, visit: Visit) -> None:
    """The instance that the other tests share: its model comes from the environment, and it has no store."""
    page = visit("/settings")
    expect(page.get_by_text("这台机器没有 Citebound 可以使用的系统凭据库")).to_be_visible()
    chat = page.get_by_role("region", name="语言模型")
    expect(chat.get_by_text("CITEBOUND_CHAT_API_KEY").first).to_be_visible()
    expect(chat.get_by_label("地址")).to_have_attribute("readonly", "")
    page.locator("#rerank > summary").click()
    expect(page.locator("#rerank").get_by_text("CITEBOUND_RERANK_API_KEY=…")).to_be_visible()
    picture(page, "settings-environment-zh")
    assert stumbling_blocks(page) == []
