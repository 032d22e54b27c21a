"""A real Chromium looks at one running Citebound: real worker, broker and API, a scripted chat provider. All on loopback."""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from scripts.citebound.supervisor.supervise import ROOT
from tests.doubles.provider import Provider, provider_double
from tests.e2e.conftest import Running
from tests.e2e.processes import until
from tests.patience import PATIENCE_S

OUTPUT = ROOT / "tests/output"
PICTURES = OUTPUT / "pictures"
AXE = OUTPUT / "axe/node_modules/axe-core/axe.min.js"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
expect.set_options(timeout=PATIENCE_S * 1000)
WIDE, PHONE = {"width": 1280, "height": 860}, {"width": 360, "height": 740}


class Site(Running):
    """The one instance of these tests."""

    def __init__(self, folder: Path, env: dict[str, str], provider: Provider) -> None:
        super().__init__(folder, env)
        self.provider = provider

    @property
    def address(self) -> str:
        return self.instance.address

    def api(self, method: str, path: str) -> Any:
        return httpx.request(method, self.address + path, timeout=PATIENCE_S).json()

    def settled(self) -> None:
        """No import is under way."""
        until("imports have ended", lambda: all(one["finished_at_ms"] for one in self.api("GET", "/api/imports")))


@contextmanager
def running(folder: Path, provider: Provider, **settings: str) -> Generator[Site]:
    """A Citebound of its own, ready, into which nothing is imported. `settings`: more of its environment."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CITEBOUND_")}
    own = {"PYTHONPATH": str(ROOT), "CITEBOUND_DATA_DIR": str(folder / "资料"), "CITEBOUND_API_PORT": "0"}
    one = Site(folder / "资料", kept | own | settings, provider)
    try:
        one.await_ready()
        yield one
    finally:
        if one.process.poll() is None:
            one.stop()


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory) -> Generator[Site]:
    with (
        provider_double() as provider,
        running(
            tmp_path_factory.mktemp("browser"),
            provider,
            CITEBOUND_CHAT_BASE_URL=provider.base_url,
            CITEBOUND_CHAT_MODEL="scripted",
            CITEBOUND_CHAT_API_KEY="none",
        ) as one,
    ):
        yield one


@contextmanager
def alone(folder: Path, key: str) -> Generator[str]:
    """A query process without the others, which demands a key; its address."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CITEBOUND_")}
    env = kept | {"PYTHONPATH": str(ROOT), "CITEBOUND_DATA_DIR": str(folder / "data"), "CITEBOUND_API_API_KEY": key}
    with socket.create_server(("127.0.0.1", 0)) as listening:  # what connects waits until the server is up
        number = listening.fileno()
        process = subprocess.Popen([sys.executable, "-m", "api", "--fd", str(number)], env=env, pass_fds=(number,))
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            process.terminate()
            process.wait(PATIENCE_S)


@pytest.fixture(scope="package")
def library(site: Site) -> Site:
    """With the sample documents."""
    if site.api("GET", "/api/snapshots")["active"] is None:
        site.api("POST", "/samples")
        site.settled()
    return site


@pytest.fixture(scope="package")  # while playwright is there its event loop runs, and no other test may begin one
def chromium() -> Generator[Browser]:
    found = shutil.which("chromium")
    if found is None:
        pytest.skip("no Chromium here: ./scripts/test installs it as root on Debian, else: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, headless=True, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium: Browser, site: Site) -> Generator[Callable[..., Page]]:
    """visit("/path", locale="zh-CN", dark=True, phone=True): a page in a browser of its own; whatever its console complains of fails the test.

    at: of another instance than the shared one. refused: a status that the page is prepared for, of which a console complains all the same.
    """
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def open_page(
        path: str,
        *,
        locale: str = "zh-CN",
        dark: bool = False,
        phone: bool = False,
        at: Site | None = None,
        refused: int | None = None,
    ) -> Page:
        context = chromium.new_context(
            base_url=(at or site).address,
            locale=locale,
            color_scheme="dark" if dark else "light",
            viewport=PHONE if phone else WIDE,  # pyright: ignore[reportArgumentType]
            has_touch=phone,
        )
        contexts.append(context)
        context.set_default_timeout(PATIENCE_S * 1000)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console",
            lambda message: (
                complaints.append(message.text)
                if message.type == "error" and not (refused and f"status of {refused}" in message.text)
                else None
            ),
        )
        page.goto(path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def picture(page: Page, name: str) -> None:
    """Kept under tests/output/pictures."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / f"{name}.png", animations="disabled")
    overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 0, f"{name} can be scrolled sideways"


def stumbling_blocks(page: Page) -> list[str]:
    """What axe-core calls serious or critical on the page as it is now."""
    if not AXE.is_file():
        pytest.skip("no axe-core here: ./scripts/test fetches it with npm, and there is no npm or no network")
    # evaluated by the browser's tools, not by the page: its policy would refuse a script of ours too
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = page.evaluate("axe.run().then((all) => all.violations)")
    return [
        f"{one['id']}: {json.dumps([node['target'] for node in one['nodes']])}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]
