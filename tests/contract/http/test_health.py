"""How every part is, as GET /api/health tells it and the page shows it."""

import threading
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from msgspec import structs

from api import condition
from api.web.words import WORDS
from shared.errors import UpstreamError
from shared.llm.scripted import ScriptedChat
from shared.types.health import Condition, Health, PartName
from shared.vectors.memory import MemoryCollection, MemoryVectors
from tests.contract.http.site import Site, until
from tests.contract.http.test_reading import BROWSER, Page
from tests.contract.telemetry.test_telemetry import locked
from tests.patience import PATIENCE_S

FINISH = "Action: Finish[资料中没有提到。]"


def health(site: Site) -> Health:
    with site.client() as client:
        return msgspec.json.decode(client.get("/api/health").content, type=Health)


def part(found: Health, name: str) -> Condition:
    return next(one for one in found.parts if one.part == name)


def test_every_part_of_a_sound_instance_is_told(site: Site) -> None:
    site.publish()
    site.bell.seen_ms = site.now_ms()
    found = health(site)
    assert [(one.part, one.state, one.code) for one in found.parts] == [
        ("api", "ok", "ok"),
        ("worker", "ok", "ok"),
        ("broker", "ok", "ok"),
        ("vectors", "ok", "ok"),
        ("library", "ok", "ok"),
        ("embedder", "ok", "ok"),
        ("chat", "none", "none"),
        ("disk", part(found, "disk").state, part(found, "disk").code),
        ("traces", "ok", "ok"),
    ]
    assert found.sound == (part(found, "disk").state != "failed")


@pytest.mark.parametrize("ago_ms", [None, 3_600_000])
def test_a_worker_that_no_longer_asks_for_work_has_failed(site: Site, ago_ms: int | None) -> None:
    site.bell.seen_ms = seen_ms = None if ago_ms is None else site.now_ms() - ago_ms
    found = health(site)
    assert part(found, "worker") == Condition(part="worker", state="failed", code="silent", since_ms=seen_ms)
    assert not found.sound


def test_where_the_broker_is_silent_nothing_is_said_of_the_worker(site: Site) -> None:
    site.bell.broken = True
    found = health(site)
    assert part(found, "worker") == Condition(part="worker", state="note", code="unknown")
    assert part(found, "broker") == Condition(
        part="broker", state="failed", code="failed", detail="The broker can't be reached."
    )


def test_the_chat_provider_is_as_it_was_at_the_last_question(site: Site) -> None:
    site.publish()
    site.with_the_real_agent()
    down = UpstreamError("provider_auth", "The provider says no.")
    site.chat = ScriptedChat([FINISH, down])
    with site.client() as client:
        states: list[Condition] = []
        for question in (None, "年假有几天？", "报销的标准？"):
            if question:
                client.post("/api/runs", json={"question": question, "path": "agent"})
            found = msgspec.json.decode(client.get("/api/health").content, type=Health)
            states.append(part(found, "chat"))
    assert [(one.state, one.code, one.named) for one in states] == [
        ("ok", "unasked", site.chat.model),
        ("ok", "ok", site.chat.model),
        ("failed", "failing", site.chat.model),
    ]
    assert states[2].answered_at_ms == states[1].answered_at_ms is not None
    assert states[2].detail == "The provider says no."


def test_a_model_that_is_loading_is_no_failure(site: Site) -> None:
    site.bell.seen_ms = site.now_ms()
    site.warmth.state = "loading"
    found = health(site)
    assert part(found, "embedder") == Condition(part="embedder", state="loading", code="loading")
    assert part(found, "library") == Condition(part="library", state="none", code="none")


def test_lost_traces_are_worth_a_look(site: Site) -> None:
    site.settings = structs.replace(site.settings, trace=structs.replace(site.settings.trace, queue=1))
    site.reopen_telemetry()
    site.publish()
    site.with_the_real_agent()
    with locked(site.layout.traces), site.client() as client:
        client.post("/api/runs", json={"question": "员工有几天年假？"})
        found = msgspec.json.decode(client.get("/api/health").content, type=Health)
    assert (part(found, "traces").state, part(found, "traces").code) == ("note", "dropped")
    assert part(found, "traces").dropped


def test_before_the_first_question_the_page_says_that_there_is_nothing_to_tell(site: Site) -> None:
    with site.client() as client:
        page = client.get("/health", headers=BROWSER).text
    assert 'id="nothing-asked"' in page
    assert 'id="chart-runs"' not in page
    assert 'id="figure-queue_depth"' in page
    assert {"style", "onclick", "onload"}.isdisjoint(Page(page).attributes)


def test_after_a_question_the_page_shows_its_figures_in_numbers_too(site: Site) -> None:
    site.publish()
    site.with_the_real_agent()
    with site.client() as client:
        client.post("/api/runs", json={"question": "员工有几天年假？"})
        site.telemetry.flush(timeout_s=PATIENCE_S)
        page = Page(client.get("/health", params={"days": 7, "lang": "zh"}, headers=BROWSER).text)
        refused = [client.get("/health", params={"days": days}, headers=BROWSER).status_code for days in (0, 367)]
    said = " ".join(page.texts)
    assert "提问数" in said
    assert "以表格查看全部指标" in said
    assert said.count("svg") == 0
    assert page.tags.count("svg") >= 11
    assert refused == [400, 400]


class _Opening(MemoryVectors):
    """An engine that takes its time to open a collection."""

    def __init__(self, engine: MemoryVectors, until: threading.Event) -> None:
        super().__init__()
        self._engine = engine
        self._until = until

    def open(self, name: str, *, files: dict[str, str]) -> MemoryCollection:
        self._until.wait(PATIENCE_S)
        return self._engine.open(name, files=files)


class _Gone(type(Path())):
    """A folder on a drive that no longer answers."""

    until: threading.Event

    def __fspath__(self) -> str:
        self.until.wait(PATIENCE_S)
        return super().__fspath__()


def test_what_does_not_answer_soon_is_not_waited_for(site: Site) -> None:
    site.publish()
    answering = threading.Event()
    site.vectors = _Opening(site.vectors, answering)
    folder = _Gone(site.settings.data_dir)
    folder.until = answering
    site.settings = structs.replace(site.settings, data_dir=folder)
    with site.client() as client:

        def health_now() -> Health:
            return msgspec.json.decode(client.get("/api/health").content, type=Health)

        def all_answers() -> bool:
            now = health_now()
            return part(now, "library").state == "ok" and part(now, "disk").free_bytes is not None

        try:
            found = health_now()
        finally:
            answering.set()
        until(all_answers)
    assert part(found, "library") == Condition(part="library", state="loading", code="loading")
    assert part(found, "disk") == Condition(part="disk", state="failed", code="silent")


def test_every_state_of_every_part_has_words() -> None:
    source = Path(condition.__file__).read_text(encoding="utf-8")
    codes = {
        "api": ("ok",),
        "worker": ("ok", "silent", "unknown"),
        "broker": ("ok", "failed"),
        "vectors": ("ok", "failed"),
        "library": ("ok", "none", "loading", "failed"),
        "embedder": ("ok", "loading", "failed", "failing"),
        "chat": ("none", "unasked", "ok", "failing"),
        "disk": ("ok", "tight", "full", "silent"),
        "traces": ("ok", "dropped", "replaced", "stopped"),
        "export": ("ok", "losing"),
    }
    assert set(codes) == set(get_args(PartName))
    for lang in ("en", "zh"):
        words = WORDS[lang]["health"]
        assert set(words["said"]) == {f"{name}_{code}" for name, found in codes.items() for code in found}
        assert set(words["part"]) == set(words["part_hint"]) == set(codes)
    for code in {code for found in codes.values() for code in found}:
        assert f'"{code}"' in source, code
