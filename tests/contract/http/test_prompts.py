"""Prompt bundles over HTTP: experiments, and a run that names one."""

import shutil
from pathlib import Path
from typing import Any

from api.agent.samples import check_bundle
from shared.bundles import RELEASED, Shelf
from shared.promotion import promote
from tests.contract.http.leaking import BROWSER
from tests.contract.http.site import Site


def test_an_experiment_goes_from_draft_to_frozen_and_a_run_may_name_it(site: Site) -> None:
    site.publish()
    site.with_the_real_agent()
    with site.client() as client:
        made = client.post("/api/prompts", json={"name": "brief"})
        assert (made.status_code, made.json()["info"]["state"]) == (201, "draft")
        put = client.put("/api/prompts/brief/1", json={"template": "zh/rules.j2", "text": "简短作答。"})
        assert (put.status_code, put.json()["problems"]) == (200, [])
        diff = client.get("/api/prompts/brief/1/diff").json()
        assert (diff["other"], [one["path"] for one in diff["templates"]]) == ("default/1", ["zh/rules.j2"])
        assert client.post("/api/prompts/brief/1/freeze").json()["state"] == "frozen"
        frozen = client.put("/api/prompts/brief/1", json={"template": "zh/rules.j2", "text": "…"})
        assert (frozen.status_code, frozen.json()["code"]) == (409, "conflict")
        listed = client.get("/api/prompts").json()
        assert [(one["name"], one["origin"]) for one in listed] == [("default/1", "release"), ("brief/1", "local")]
        shown = client.get("/api/prompts/brief/1").json()
        assert shown["templates"]["zh/rules.j2"] == "简短作答。"
        manifest: dict[str, Any] = client.post(
            "/api/runs", json={"question": "年假有几天？", "prompt_bundle": "brief/1"}
        ).json()["manifest"]
    assert manifest["prompt_bundle_sha256"] == listed[1]["sha256"]
    told = [manifest[name] for name in ("prompt_bundle", "prompt_bundle_origin", "prompt_bundle_parent")]
    assert told == ["brief/1", "local", "default/1"]


def test_a_bundle_that_is_not_there_or_can_not_be_used_is_refused_by_its_field(site: Site) -> None:
    site.publish()
    with site.client() as client:
        client.post("/api/prompts", json={"name": "brief"})
        client.put("/api/prompts/brief/1", json={"template": "zh/task.j2", "text": "{{ weather }}"})
        for name in ("none/1", "brief/1", "../../x"):
            reply = client.post("/api/runs", json={"question": "年假有几天？", "prompt_bundle": name})
            assert (reply.status_code, reply.json()["code"], reply.json()["field"]) == (
                400,
                "invalid_argument",
                "prompt_bundle",
            )
    assert site.requests == []


def test_a_text_that_somebody_else_changed_meanwhile_is_not_overwritten_unasked(site: Site) -> None:
    with site.client() as client:
        client.post("/api/prompts", json={"name": "brief"})
        read = client.get("/api/prompts/brief/1").json()["templates"]["zh/rules.j2"]
        first = {"template": "zh/rules.j2", "text": "先到的。", "before": read.replace("\n", "\r\n")}
        assert client.put("/api/prompts/brief/1", json=first).status_code == 200
        late = client.put("/api/prompts/brief/1", json={**first, "text": "后到的。"})
        assert (late.status_code, late.json()["code"]) == (409, "conflict")
        assert client.get("/api/prompts/brief/1").json()["templates"]["zh/rules.j2"] == "先到的。"
        assert client.put("/api/prompts/brief/1", json={**first, "text": "后到的。", "before": None}).status_code == 200


def test_what_is_written_wrongly_is_named_by_template_and_line(site: Site) -> None:
    with site.client() as client:
        client.post("/api/prompts", json={"name": "brief"})
        body = {"template": "zh/task.j2", "text": "问题\n{{ question"}
        refused = client.put("/api/prompts/brief/1", json=body)
    assert (refused.status_code, refused.json()["code"]) == (400, "invalid_argument")
    assert refused.json()["detail"].startswith("zh/task.j2:2: ")


def test_an_experiment_that_became_a_release_says_as_which(site: Site, tmp_path: Path) -> None:
    release = tmp_path / "release"
    shutil.copytree(RELEASED / "default", release / "default")
    site.prompts = Shelf(release=release, local=site.layout.prompts, default="default/1", check=check_bundle)
    with site.client() as client:
        for name in ("brief", "copy"):
            client.post("/api/prompts", json={"name": name})
        client.put("/api/prompts/brief/1", json={"template": "zh/rules.j2", "text": "简短作答。"})
        for name in ("brief", "copy"):
            client.post(f"/api/prompts/{name}/1/freeze")
        promote(site.prompts, "brief/1", note="更短，读者更快读完。")
        page = client.get("/prompts?lang=zh", headers={"Accept": "text/html"}).text
    assert page.count("已成为 default/2") == 1
    assert "已成为 default/1" not in page


def test_the_page_shows_a_first_line_that_looks_like_the_head_of_a_difference(site: Site) -> None:
    with site.client() as client:
        for name, text in (("dashes", "-- 简短作答。\n末行"), ("pluses", "++ 详细作答。\n末行")):
            client.post("/api/prompts", json={"name": name})
            client.put(f"/api/prompts/{name}/1", json={"template": "zh/rules.j2", "text": text})
        query = {"before": "dashes/1", "after": "pluses/1"}
        page = client.get("/prompts/compare", params=query, headers=BROWSER).text
    assert ("<del>-- 简短作答。</del>" in page, "<ins>++ 详细作答。</ins>" in page) == (True, True)
