"""The pages for people: who gets them, in which language, and what a browser may do with them."""

import re
from pathlib import Path

import pytest
from msgspec import structs

from api.web.assets import ASSETS
from api.web.sign_in import own_path
from api.web.words import WORDS
from tests.contract.http.leaking import SEEN_GAP, a_key, publish
from tests.contract.http.site import LEAVE, ORIGIN, Site
from tests.contract.http.test_reading import BROWSER, Page

KEY = "the-key-of-the-owner"
FORM = {"Origin": ORIGIN, "Content-Type": "application/x-www-form-urlencoded"}


def test_the_pages_speak_the_reader_s_language_and_remember_another_choice(site: Site) -> None:
    with site.client() as client:
        english = client.get("/", headers=BROWSER)
        chinese = client.get("/", headers={**BROWSER, "Accept-Language": "zh-CN,en;q=0.5"})
        assert 'lang="en"' in english.text
        assert 'lang="zh-Hans"' in chinese.text
        assert "?lang=en" in Page(chinese.text).links
        client.get("/?lang=zh", headers=BROWSER)
        assert 'lang="zh-Hans"' in client.get("/", headers=BROWSER).text


def test_nothing_runs_or_loads_but_our_own_files(site: Site) -> None:
    site.publish()
    with site.client() as client:
        got = client.get("/", headers=BROWSER)
        policy = got.headers["content-security-policy"]
        assert "unsafe" not in policy
        assert "script-src 'self'" in policy
        loaded = re.findall(r'(?:src|<link[^>]* href)="([^"]+)"', got.text)
        assert loaded
        for address in loaded:
            assert client.get(address).status_code == 200, address
    assert {"style", "onclick", "onload"}.isdisjoint(Page(got.text).attributes)
    inline = re.findall(r"<script(?![^>]*src=)([^>]*)>", got.text)
    assert all('type="application/json"' in one for one in inline)


def test_no_script_makes_markup_of_text() -> None:
    for name, asset in ASSETS.items():
        if name.endswith(".js"):
            source = asset.content.decode()
            for sink in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
                assert sink not in source, (name, sink)


def test_both_languages_say_the_same_things() -> None:
    def keys(words: object, at: str = "") -> set[str]:
        if isinstance(words, dict):
            return {inner for name in words for inner in keys(words[name], f"{at}.{name}")}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        assert isinstance(words, str)
        assert words.strip()
        placeholders = "".join(sorted(re.findall(r"\{\w+\}", words)))
        return {f"{at} {placeholders}"}

    assert keys(WORDS["en"]) == keys(WORDS["zh"])


def test_the_chinese_pages_have_one_word_for_one_thing() -> None:
    said = (Path(__file__).parents[3] / "api/web/words/zh.toml").read_text(encoding="utf-8")
    others = {
        "问答": ("次运行", "运行页面", "保存的运行"),
        "问答记录": ("形成过程", "追踪"),
        "token": ("词元",),
        "向量": ("嵌入",),
        "案例": ("个案。", "个案”"),
        "按含义": ("按意思",),
        "连接语言模型": ("配置语言模型",),
    }
    assert [(word, other) for word, unwanted in others.items() for other in unwanted if other in said] == []


def test_an_address_that_is_none_is_a_page_in_a_browser_and_a_problem_for_programs(site: Site) -> None:
    with site.client() as client:
        page = client.get("/nowhere", headers={**BROWSER, "Accept-Language": "zh-CN"})
        assert page.status_code == 404
        assert "没有找到" in page.text
        assert "/" in Page(page.text).links
        assert client.get("/nowhere").json()["code"] == "not_found"
        assert client.post("/nowhere", headers={**BROWSER, "Origin": ORIGIN}).json()["code"] == "not_found"


def test_every_word_that_a_page_asks_for_is_there() -> None:
    folder = Path(__file__).parents[3] / "api/web/templates"
    for path in folder.glob("*.j2"):
        for dotted in re.findall(r"\bwords((?:\.(?!get\b|items\b)\w+)+)", path.read_text(encoding="utf-8")):
            found: object = WORDS["zh"]
            for part in dotted.strip(".").split("."):
                assert isinstance(found, dict), (path.name, dotted)
                assert part in found, (path.name, dotted)
                found = found[part]  # pyright: ignore[reportUnknownVariableType]


def test_a_file_that_did_not_change_is_not_sent_again(site: Site) -> None:
    with site.client() as client:
        first = client.get("/assets/frame.css")
        again = client.get("/assets/frame.css", headers={"If-None-Match": first.headers["etag"]})
    assert first.headers["content-type"].startswith("text/css")
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("name", ["nothing.js", "..%2fassets.py", "%2e%2e", "..\\frame.css"])
def test_only_the_pages_own_files_are_served(name: str, site: Site) -> None:
    with site.client() as client:
        assert client.get(f"/assets/{name}").status_code == 404


def test_whoever_has_no_key_gets_the_form_to_sign_in_and_nothing_of_the_library(site: Site) -> None:
    published = site.publish()
    site.with_api(api_key=KEY)
    with site.client() as client:
        got = client.get("/?conversation=conv_1", headers=BROWSER)
    assert got.status_code == 401
    assert 'value="/?conversation=conv_1"' in got.text
    assert published.snapshot_id not in got.text


def test_a_key_opens_a_session_that_the_pages_and_their_scripts_can_use_until_signing_out(site: Site) -> None:
    site.publish()
    site.with_api(api_key=KEY)
    with site.client() as client:
        wrong = client.post("/sign-in", data={"key": "cbk_wrong", "target": "/"}, headers=FORM)
        assert wrong.status_code == 401
        assert "set-cookie" not in wrong.headers
        signed = client.post("/sign-in", data={"key": KEY, "target": "/?q=1"}, headers=FORM, follow_redirects=False)
        assert (signed.status_code, signed.headers["location"]) == (303, "/?q=1")
        set_cookie = signed.headers["set-cookie"]
        assert "HttpOnly" in set_cookie
        assert "SameSite=strict" in set_cookie
        assert KEY not in set_cookie
        assert client.get("/", headers=BROWSER).status_code == 200
        assert client.get("/api/keys").status_code == 200  # the owner's
        client.post("/sign-out", headers={"Origin": ORIGIN})
        assert client.get("/api/keys").status_code == 401


def test_a_session_may_what_its_key_may_and_ends_with_it(site: Site) -> None:
    site.publish()
    site.with_api(api_key=KEY)
    reader = a_key(site, "reader", ("team",))
    with site.client() as client:
        client.post("/sign-in", data={"key": reader}, headers=FORM)
        assert client.get("/api/documents").status_code == 200
        assert client.get("/api/imports").status_code == 403
        client.delete("/api/keys/reader", headers={"Authorization": f"Bearer {KEY}"})
        assert client.get("/api/documents").status_code == 401


def test_with_a_cookie_only_our_own_pages_may_change_something(site: Site) -> None:
    """Promise of decision 0110: a cookie comes along by itself, so the way of the request is looked at."""
    site.publish()
    site.with_api(api_key=KEY)
    with site.client() as client:
        client.post("/sign-in", data={"key": KEY}, headers=FORM)
        body = {"question": "年假有几天？"}
        for headers in ({}, {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "http://127.0.0.1:9"}):
            assert client.post("/api/runs", json=body, headers=headers).status_code == 403, headers
        assert client.get("/api/documents", headers={"Sec-Fetch-Site": "same-site"}).status_code == 403
        assert client.post("/api/runs", json=body, headers={"Origin": ORIGIN}).status_code == 200


def test_a_session_ends_by_time_by_another_owner_s_key_and_by_any_change_of_its_cookie(site: Site) -> None:
    site.publish()
    site.with_api(api_key=KEY)
    with site.client() as client:
        client.post("/sign-in", data={"key": KEY}, headers=FORM)
        cookie = client.cookies["citebound_session"]

    def status(value: str) -> int:
        with site.client() as client:
            return client.get("/api/documents", headers={"Cookie": f"citebound_session={value}"}).status_code

    assert status(cookie) == 200
    owner, until, signature = cookie.split(".")
    for changed in (
        f"{owner}.{int(until) + 1}.{signature}",
        f"key_abcdefgh.{until}.{signature}",
        f"{owner}.{until}.",
        owner,
        "",
        '"',
        "a\x7f",
    ):
        assert status(changed) == 401, changed
    site.now_ms = lambda: int(until) * 1000
    assert status(cookie) == 401
    site.now_ms = lambda: int(until) * 1000 - 1
    assert status(cookie) == 200
    site.with_api(api_key="another")
    assert status(cookie) == 401


def test_without_a_demanded_key_there_is_nothing_to_sign_in_to(site: Site) -> None:
    with site.client() as client:
        done = client.post("/sign-in", data={"key": "x"}, headers=FORM, follow_redirects=False)
        assert done.status_code == 303
        assert "set-cookie" not in done.headers


@pytest.mark.parametrize("target", ["//evil.example", "https://evil.example", "/\\evil", "/a\nb", "evil", ""])
def test_signing_in_leads_nowhere_else(target: str) -> None:
    assert own_path(target) == "/"


@pytest.mark.parametrize(
    ("lang", "told"), [("zh", "无法读取 .xls 文件，请另存为 .xlsx 后添加。"), ("en", ".xls files can’t be read. Save it as .xlsx and add that.")]
)  # fmt: skip
def test_of_a_file_of_an_older_kind_one_remedy_is_told_in_one_language(site: Site, lang: str, told: str) -> None:
    reason = "This is an old Excel workbook (.xls): save it as .xlsx."
    old = structs.replace(SEEN_GAP, key="报表.xls", code="unsupported", reason=reason)
    publish(site, 1, LEAVE, failed=[old])
    with site.client() as client:
        page = client.get(f"/library?lang={lang}", headers=BROWSER).text
    assert told in page
    assert "old Excel workbook" not in page
