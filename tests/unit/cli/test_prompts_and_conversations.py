"""`prompts VERB`, `conversations VERB` and what `ask` says of them, against a stand-in for the API."""

import json

from shared.bundles import RELEASED, BundleInfo
from shared.ids import ConversationId, RunId
from shared.types.conversations import Conversation, ConversationInfo, ConversationTurn
from tests.unit.cli.conftest import Run
from tests.unit.cli.served import Served

DEFAULT = BundleInfo(
    name="default/1", origin="release", state="frozen", parent=None, sha256="a" * 64, is_default=True, problems=()
)
BRIEF = BundleInfo(
    name="brief/1",
    origin="local",
    state="draft",
    parent="default/1",
    sha256=None,
    is_default=False,
    problems=("zh/task.j2: 'weather' is undefined",),
)
INFO = ConversationInfo(
    conversation_id=ConversationId("conv_1"),
    title="年假有几天？",
    entities=("年假",),
    turns=1,
    created_at_ms=0,
    updated_at_ms=0,
)
TURN = ConversationTurn(
    ordinal=1, run_id=RunId("run_1"), question="年假有几天？", answer="五天。[1]", status="complete", at_ms=0
)


def a_view(info: BundleInfo, **templates: str) -> dict[str, object]:
    return {"info": info, "folder": f"/data/{info.name}", "contracts": {}, "templates": templates}


def test_bundles_are_listed_with_what_is_wrong_with_them(api: Served, run: Run) -> None:
    api.give("GET /api/prompts", [DEFAULT, BRIEF])
    code, out, _ = run("prompts")
    assert code == 0
    assert all(part in out for part in ("default/1", "brief/1", "draft", "← default/1", "'weather' is undefined"))


def test_an_experiment_is_begun_with_the_place_of_its_files_and_how_to_use_it(api: Served, run: Run) -> None:
    api.give("POST /api/prompts", a_view(BRIEF))
    code, out, _ = run("prompts", "create", "brief", "--from", "default/1")
    assert (code, api.last_body) == (0, {"name": "brief", "parent": "default/1"})
    assert "/data/brief/1" in out
    assert "--prompt-bundle brief/1" in out


def test_a_bundle_that_no_run_can_use_is_shown_with_exit_code_1(api: Served, run: Run) -> None:
    api.give("GET /api/prompts/brief/1", a_view(BRIEF))
    assert run("prompts", "show", "brief/1")[0] == 1


def test_one_template_is_printed_as_it_is(api: Served, run: Run) -> None:
    api.give("GET /api/prompts/default/1", {**a_view(DEFAULT), "templates": {"zh/task.j2": "问题：{{ question }}"}})
    code, out, _ = run("prompts", "show", "default/1", "--template", "zh/task.j2")
    assert (code, out.strip()) == (0, "问题：{{ question }}")
    assert run("prompts", "show", "default/1", "--template", "zh/none.j2")[0] == 2


def test_what_an_experiment_changes_is_shown_as_a_diff(api: Served, run: Run) -> None:
    changed = {"path": "zh/rules.j2", "change": "changed", "diff": "-长\n+短"}
    api.give("GET /api/prompts/brief/1/diff", {"bundle": "brief/1", "other": "default/1", "templates": [changed]})
    code, out, _ = run("prompts", "diff", "brief/1")
    assert code == 0
    assert "zh/rules.j2" in out
    assert "+短" in out


def test_a_name_that_is_no_bundles_is_a_usage_error(api: Served, run: Run) -> None:
    for name in ("brief", "a/b/c", ""):
        assert run("prompts", "freeze", name)[0] == 2


def test_promoting_needs_nothing_that_runs_and_refuses_what_is_not_frozen(api: Served, run: Run) -> None:
    code, out, _ = run("prompts", "promote", "default/1", "--note", "…", "--json")
    assert (code, json.loads(out)["error"]["code"]) == (1, "conflict")
    assert api.asked == []
    assert not (RELEASED / "default" / "2").exists()


def test_conversations_are_listed_shown_and_removed(api: Served, run: Run) -> None:
    api.give("GET /api/conversations", [INFO])
    api.give("GET /api/conversations/conv_1", Conversation(info=INFO, turns=(TURN,)))
    api.give("DELETE /api/conversations/conv_1", {"conversation_id": "conv_1", "runs": 1})
    assert "年假有几天？" in run("conversations")[1]
    shown = run("conversations", "show", "conv_1")[1]
    assert "五天。[1]" in shown
    assert "run_1" in shown
    code, out, _ = run("conversations", "delete", "conv_1", "--json")
    assert (code, json.loads(out)["runs"]) == (0, 1)


def test_ask_says_how_it_is_to_be_gone_about(api: Served, run: Run) -> None:
    api.refuse("POST /api/runs", 404, "not_found", "There is no such conversation, or it is not yours.")
    wishes = ["--conversation", "conv_9", "--path", "verify", "--prompt-bundle", "brief/1", "--trace-level", "full"]
    code, _, err = run("ask", "那病假呢？", *wishes)
    assert code == 1
    assert "not yours" in err
    assert api.last_body == {
        "question": "那病假呢？",
        "conversation_id": "conv_9",
        "path": "verify",
        "prompt_bundle": "brief/1",
        "trace_level": "full",
    }
