"""A run's tool calls again: the same, different, or not possible and why."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs

from api.agent.run import RunRequest, RunSoFar, run_agent
from api.retrieval.library import Library, Pinned
from api.retrieval.profiles import Preference, SearchProfile
from api.tools.recording import MOST_BLOCKS, seen_hash
from api.tools.replay import replay
from shared.access import OWNER, Access
from shared.catalog.db import open_database
from shared.catalog.retention import begin_removal
from shared.embeddings.fake import FakeEmbedder
from shared.embeddings.port import Embedded
from shared.errors import UpstreamError
from shared.ids import RunId, SnapshotId
from shared.llm.scripted import ScriptedChat
from shared.rerank.fake import FakeReranker
from shared.telemetry import names
from shared.types.replays import Difference, Gained, Lost, Moved, Replay
from shared.types.runs import Fingerprint, RecordedCall, Retrieval, RunRecord, Scope
from tests.contract.agent.asking import SEARCH, cancelled_midway
from tests.contract.tools.corpus import CORPUS, EXPENSES, LEAVE
from tests.contract.tools.world import World, attributes, recorded_spans
from tests.factories import NOW_MS, a_document
from tests.promises import promise
from tests.unit.agent.texts import BUNDLE

END = "Thought: 够了。\nAction: Finish[没有更多。]"
STAFF = Access(labels=frozenset({"staff"}))


def act(tool: str, **arguments: Any) -> str:
    return f"Thought: 查。\nAction: {tool}[{json.dumps(arguments, ensure_ascii=False)}]"


def run(
    world: World,
    *said: str,
    access: Access = OWNER,
    prefer: Preference | None = None,
    scope: Scope | None = None,
) -> RunRecord:
    async def use(pinned: Pinned) -> RunRecord:
        request = RunRequest(run_id=RunId("run_of_a_test"), question="满一年有几天年假？", scope=scope)
        chat = ScriptedChat([*said, END])
        return await run_agent(request, pinned=pinned, chat=chat, bundle=BUNDLE, emit=lambda _: None)

    return world.pinned(use, access=access, prefer=prefer)


def again(
    world: World, record: RunRecord, *, access: Access = OWNER, kept: Callable[[str], bytes | None] = lambda _: None
) -> Replay:
    async def use(library: Library) -> Replay:
        return await replay(record, library=library, access=access, kept=kept)

    return world.run(use)


def recorded_calls(record: RunRecord) -> tuple[RecordedCall, ...]:
    assert record.retrieval is not None
    return record.retrieval.calls


def with_calls(record: RunRecord, *calls: RecordedCall) -> RunRecord:
    return structs.replace(record, retrieval=Retrieval(scope=None, calls=calls))


class OtherEmbedder(FakeEmbedder):
    """Of the same version, and yet its queries look elsewhere."""

    async def embed_query(self, text: str) -> Embedded:
        return await super().embed_query("economy flights hotels meals")


@promise("P10")
def test_every_call_of_a_run_comes_to_the_same_bytes_on_the_same_snapshot(world: World) -> None:
    doc_id = world.call("list_documents", {}).payload["documents"][0]["doc_id"]
    record = run(
        world,
        act("list_documents"),
        act("get_outline", doc_ids=[doc_id]),
        act("search_blocks", query="满一年 年假"),
        act("list_blocks", doc_id=doc_id),
        act("scan_term", term="年假"),
        act("scan_term", term=" "),
        act("list_blocks", doc_id="zzzzzzzz"),
    )
    world.publish(a_document("新.md", "满一年的员工有三十天年假。"))  # what is active now has no say

    found = again(world, record)

    assert (found.outcome, [call.outcome for call in found.calls]) == ("same", ["same"] * 7)
    assert all(call.then == call.now for call in found.calls)
    assert [call.then.blocks > 0 for call in found.calls if call.then] == [False, False, True, True, True, False, False]
    assert [call.error_code for call in recorded_calls(record)][-2:] == ["invalid_argument", "scope_not_found"]
    assert found.embedding_tokens == record.answer.usage.embedding_tokens > 0
    assert found.since == ()


def test_a_repeated_call_of_a_run_is_replayed_once(world: World) -> None:
    record = run(world, SEARCH, SEARCH)
    assert len(again(world, record).calls) == 1


def test_a_run_that_looked_nothing_up_leaves_nothing_to_compare(world: World) -> None:
    found = again(world, run(world))
    assert (found.outcome, found.reason, found.calls) == ("impossible", "nothing_to_compare", ())


def test_a_run_that_was_cut_off_is_replayed_as_far_as_it_came(world: World) -> None:
    so_far = RunSoFar()
    cancelled_midway(world, SEARCH, so_far=so_far)
    record = structs.replace(run(world), retrieval=so_far.retrieval(None))
    assert [call.outcome for call in again(world, record).calls] == ["same"]


def test_a_preference_is_taken_over_from_the_runs_profile(world: World) -> None:
    world.publish(*CORPUS, a_document("旧.md", "满一年享有四天年假。", updated_at_ms=NOW_MS - 10**11))
    record = run(world, SEARCH, prefer="newer")
    found = again(world, record)
    assert (found.outcome, found.retrieval_profile) == ("same", SearchProfile(prefer="newer").name)


def test_another_order_is_shown_block_by_block(world: World) -> None:
    record = run(world, SEARCH)
    world.embedder = OtherEmbedder()

    found = again(world, record)

    (call,) = found.calls
    assert (found.outcome, call.outcome) == ("different", "different")
    assert call.then is not None
    assert call.now is not None
    assert call.difference is not None
    then, now = call.then.block_ids, call.now.block_ids
    assert call.difference == Difference(
        gained=tuple(Gained(block_id=one, rank=rank) for rank, one in enumerate(now, 1) if one not in then),
        lost=tuple(Lost(block_id=one, rank=rank, visible=True) for rank, one in enumerate(then, 1) if one not in now),
        moved=tuple(
            Moved(block_id=one, then=rank, now=now.index(one) + 1)
            for rank, one in enumerate(then, 1)
            if one in now and now.index(one) + 1 != rank
        ),
    )
    assert call.difference.gained
    assert call.difference.lost


def test_labels_that_were_tightened_since_hide_what_the_run_saw(world: World) -> None:
    seen = a_document("制度/薪酬.md", "满一年的员工享有十三薪与年假。", source="薪酬", access=("staff",))
    published = world.publish(LEAVE, seen)
    record = run(world, SEARCH, access=STAFF)
    hidden = published.blocks(seen.key)[0].block_id
    assert hidden in {entry.block_id for entry in record.ledger}
    world.publish(LEAVE, structs.replace(seen, access=("board",)))

    (call,) = again(world, record, access=STAFF).calls

    assert call.difference is not None
    assert [(one.block_id, one.visible) for one in call.difference.lost] == [(hidden, False)]
    (owners,) = again(world, record).calls  # the owner replays with what the run could see, not with what he can
    assert owners.difference == call.difference


def test_other_text_of_a_block_is_shown_beside_what_the_run_saw(world: World) -> None:
    record = run(world, act("scan_term", term="economy"))
    (call,) = recorded_calls(record)
    (entry,) = record.ledger
    older = structs.replace(entry, seen="… booked in first class.")
    came_to = call.came_to
    assert came_to is not None
    changed = structs.replace(came_to, payload_sha256="0" * 64, texts=(seen_hash("", older.seen),))
    record = structs.replace(with_calls(record, structs.replace(call, came_to=changed)), ledger=(older,))

    (found,) = again(world, record).calls

    assert found.difference is not None
    (one,) = found.difference.changed
    assert (one.block_id, one.then, one.now) == (entry.block_id, older.seen, entry.seen)


def test_a_payload_that_the_trace_kept_is_compared_line_by_line(world: World) -> None:
    record = run(world, act("list_documents", lang="en"))
    (call,) = recorded_calls(record)
    was = world.call("list_documents", {"lang": "en"}).result.payload.replace(b"Expense Policy", b"Expenses")
    older = Fingerprint(payload_sha256="0" * 64, payload_bytes=len(was), blocks=0)
    record = with_calls(record, structs.replace(call, came_to=older))

    (found,) = again(world, record, kept={"0" * 64: was}.get).calls
    (unkept,) = again(world, record).calls

    assert found.difference is not None
    lines = [line.strip() for line in found.difference.payload if line[0] in "+-"]
    assert [line for line in lines if "Expense" in line] == [
        '-      "title": "Expenses",',
        '+      "title": "Expense Policy",',
    ]
    assert unkept.difference == structs.replace(found.difference, payload=())


def test_an_embedder_of_another_version_makes_searches_impossible_and_nothing_else(world: World) -> None:
    record = run(world, SEARCH, act("scan_term", term="年假"))
    world.embedder.version = "other:model:256"

    found = again(world, record)

    assert found.outcome == "impossible"
    assert [(call.outcome, call.reason) for call in found.calls] == [
        ("impossible", "embedding_differs"),
        ("same", None),
    ]
    assert "other:model:256" in (found.calls[0].detail or "")
    assert world.embedder.queries == ["满一年 年假"]  # only the run's


def test_a_way_of_searching_that_is_not_there_any_more_is_named(world: World) -> None:
    reranker = FakeReranker("bge-reranker-v2-m3")
    world.open_reranker = lambda: reranker
    record = run(world, SEARCH)
    assert again(world, record).outcome == "same"
    world.open_reranker = lambda: None

    (call,) = again(world, record).calls

    assert (call.outcome, call.reason) == ("impossible", "profile_differs")
    assert "rerank:bge-reranker-v2-m3@20" in (call.detail or "")
    assert len(reranker.asked) == 2


def test_a_provider_that_fails_now_makes_a_call_impossible_not_different(world: World) -> None:
    record = run(world, SEARCH)
    world.embedder.faults = [UpstreamError("provider_auth", "The embedding provider refused the key.")]

    found = again(world, record)

    assert (found.outcome, found.calls[0].reason) == ("impossible", "upstream_failed")
    assert found.calls[0].detail == "The embedding provider refused the key."


def test_what_failed_then_is_skipped_because_nothing_was_seen(world: World) -> None:
    world.embedder.faults = [UpstreamError("provider_auth", "The embedding provider refused the key.")]
    record = run(world, SEARCH, act("scan_term", term="年假"))

    found = again(world, record)

    assert found.outcome == "same"
    assert [(call.outcome, call.reason) for call in found.calls] == [("skipped", "failed_then"), ("same", None)]


def test_a_run_of_which_every_call_had_failed_is_not_the_same(world: World) -> None:
    world.embedder.faults = [UpstreamError("provider_auth", "The embedding provider refused the key.")]

    found = again(world, run(world, SEARCH))

    assert (found.outcome, found.reason) == ("impossible", "nothing_to_compare")
    assert [(call.outcome, call.reason) for call in found.calls] == [("skipped", "failed_then")]


def test_a_keyword_encoder_that_is_not_here_is_named_as_such(world: World) -> None:
    world.publish(*CORPUS, keyword_version="terms-0")
    record = run(world, SEARCH)
    (failed,) = recorded_calls(record)
    record = with_calls(record, structs.replace(failed, error_code=None))

    (found,) = again(world, record).calls

    assert (found.outcome, found.reason) == ("impossible", "keywords_differ")
    assert "terms-0" in (found.detail or "")


def test_what_never_ended_then_is_skipped(world: World) -> None:
    record = run(world, SEARCH)
    record = with_calls(record, *(structs.replace(call, came_to=None) for call in recorded_calls(record)))
    (call,) = again(world, record).calls
    assert (call.outcome, call.reason) == ("skipped", "unfinished_then")


def test_arguments_that_lost_a_secret_are_not_replayed_as_others(world: World) -> None:
    record = run(world, act("scan_term", term="sk-geheim"))
    (call,) = recorded_calls(record)
    stored = structs.replace(call, arguments=call.arguments.replace("sk-geheim", "[removed]"))
    (found,) = again(world, with_calls(record, stored)).calls
    assert (found.outcome, found.reason) == ("impossible", "arguments_removed")


def removed(world: World, record: RunRecord) -> RunRecord:
    world.publish(EXPENSES)
    db = open_database(world.layout.catalog)
    assert record.answer.snapshot_id is not None
    begin_removal(db, record.answer.snapshot_id, cause="delete", now_ms=NOW_MS)
    db.close()
    return record


def of_another_snapshot(world: World, record: RunRecord) -> RunRecord:
    manifest = record.answer.manifest
    assert manifest is not None
    other = structs.replace(manifest, snapshot_manifest_sha256="0" * 64)
    return structs.replace(record, answer=structs.replace(record.answer, manifest=other))


def unrecorded(world: World, record: RunRecord) -> RunRecord:
    return structs.replace(record, retrieval=None)


@pytest.mark.parametrize(
    ("reason", "change"),
    [("snapshot_gone", removed), ("snapshot_differs", of_another_snapshot), ("not_recorded", unrecorded)],
)
def test_a_replay_that_is_not_possible_says_what_is_gone(
    world: World, reason: str, change: Callable[[World, RunRecord], RunRecord]
) -> None:
    record = change(world, run(world, SEARCH))
    found = again(world, record)
    assert (found.outcome, found.reason, found.calls) == ("impossible", reason, ())
    assert found.detail
    assert world.embedder.queries == ["满一年 年假"]


def test_a_run_that_could_read_more_than_its_reader_is_not_replayed_with_less(world: World) -> None:
    record = run(world, SEARCH)
    assert again(world, record, access=STAFF).reason == "access_reduced"
    mine = run(world, SEARCH, access=STAFF)
    assert again(world, mine, access=Access(labels=frozenset[str]())).reason == "access_reduced"
    assert again(world, mine, access=Access(labels=frozenset({"staff", "board"}))).outcome == "same"


def test_a_scope_whose_labels_were_tightened_says_so(world: World) -> None:
    seen = a_document("制度/薪酬.md", "满一年的员工享有十三薪与年假。", source="薪酬", access=("staff",))
    doc_id = world.publish(LEAVE, seen).doc_id(seen.key)
    record = run(world, SEARCH, access=STAFF, scope=Scope(doc_ids=(doc_id,)))
    assert again(world, record, access=STAFF).outcome == "same"
    world.publish(LEAVE, structs.replace(seen, access=("board",)))
    found = again(world, record, access=STAFF)
    assert (found.outcome, found.reason) == ("impossible", "scope_gone")
    assert doc_id in (found.detail or "")


def test_other_versions_than_then_are_told_beside_the_outcome(world: World) -> None:
    record = run(world, SEARCH)
    manifest = record.answer.manifest
    assert manifest is not None
    older = structs.replace(manifest, tool_contract_version="0", app_build="ab" * 32)
    record = structs.replace(record, answer=structs.replace(record.answer, manifest=older))
    found = again(world, record)
    assert found.outcome == "same"
    assert [(one.what, one.then) for one in found.since] == [
        ("app_build", "abababababab"),
        ("tool_contract_version", "0"),
    ]


def test_a_replay_is_a_trace_of_its_own(world: World) -> None:
    record = run(world, SEARCH)
    with recorded_spans() as spans:
        again(world, record)
    (root,) = [span for span in spans if span.name == names.REPLAY]
    assert attributes(root)[names.REPLAYED_RUN] == record.answer.run_id
    assert not any(names.RUN_ID in attributes(span) for span in spans)


def test_a_large_listing_is_compared_as_a_whole(world: World) -> None:
    world.publish(a_document("长.md", *(f"第{number}条\n" for number in range(MOST_BLOCKS + 1))))
    record = run(world, act("scan_term", term="条"))
    (call,) = recorded_calls(record)
    assert call.came_to is not None
    assert (call.came_to.blocks, call.came_to.block_ids) == (MOST_BLOCKS + 1, ())
    assert again(world, record).outcome == "same"


def test_a_snapshot_of_the_run_that_never_was_is_gone(world: World) -> None:
    record = run(world, SEARCH)
    manifest = record.answer.manifest
    assert manifest is not None
    other = structs.replace(manifest, snapshot_id=SnapshotId("snap_of_nobody"))
    record = structs.replace(record, answer=structs.replace(record.answer, manifest=other))
    assert again(world, record).reason == "snapshot_gone"
