"""The page at the server's own address."""

from tests.contract.http.site import ORIGIN, Site
from tests.contract.http.test_reading import BROWSER, Page


def test_the_address_itself_says_what_runs_here_in_the_reader_s_language(site: Site) -> None:
    with site.client() as client:
        english = client.get("/", headers=BROWSER)
        chinese = client.get("/", headers={**BROWSER, "Accept-Language": "zh-CN"})
    assert english.headers["content-type"] == "text/html; charset=utf-8"
    for page in (english.text, chinese.text):
        shown = "\n".join(Page(page).texts)
        for needed in ("./scripts/run import ", "./scripts/run ask ", "/openapi/openapi.json", "/v1"):
            assert needed in shown
    assert "Citebound 正在运行" in Page(chinese.text).texts
    assert "?lang=en" in Page(chinese.text).links


def test_the_page_runs_nothing_and_loads_nothing(site: Site) -> None:
    with site.client() as client:
        got = client.get("/", headers=BROWSER)
    assert "default-src 'none'; style-src 'sha256-" in got.headers["content-security-policy"]
    page = Page(got.text)
    assert {"script", "img", "iframe", "form", "link"}.isdisjoint(page.tags)
    assert {"src", "style", "onclick"}.isdisjoint(page.attributes)


def test_the_page_opens_without_a_key_says_that_one_is_needed_and_tells_nothing_of_the_library(site: Site) -> None:
    published = site.publish()
    site.with_api(api_key="钥匙-of-the-owner")
    with site.client() as client:
        got = client.get("/", headers={**BROWSER, "Host": ORIGIN.removeprefix("http://")})
    assert got.status_code == 200
    assert "CITEBOUND_API_API_KEY" in got.text
    assert published.snapshot_id not in got.text
