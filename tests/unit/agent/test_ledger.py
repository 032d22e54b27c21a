"""The ledger: what was seen, once, as fully as it was seen."""

from api.agent.ledger import Fetch, Ledger
from tests.unit.agent.playing import NOW_MS, SNAPSHOT, block

FETCH = Fetch(snapshot_id=SNAPSHOT, turn=2, tool="scan_term", query="年假", at_ms=NOW_MS)


def seen(ledger: Ledger) -> list[tuple[str, str]]:
    return [(entry.extent, entry.seen) for entry in ledger.entries]


def test_an_entry_says_how_the_block_came_in() -> None:
    (entry,) = Ledger().admit((block(3, "年假五天。"),), FETCH).entries
    assert (entry.turn, entry.tool, entry.query, entry.rank, entry.at_ms) == (2, "scan_term", "年假", 4, NOW_MS)
    assert (entry.span_start, entry.span_end) == (300, 305)


def test_a_block_seen_again_is_entered_once() -> None:
    ledger = Ledger().admit((block(0), block(0)), FETCH)
    assert len(ledger.admit((block(0),), FETCH).entries) == 1


def test_a_whole_block_replaces_its_snippets() -> None:
    ledger = Ledger().admit((block(0, "年假", extent="snippet"), block(0, "五天", extent="snippet")), FETCH)
    assert seen(ledger) == [("snippet", "年假"), ("snippet", "五天")]
    assert seen(ledger.admit((block(0, "年假五天。"),), FETCH)) == [("block", "年假五天。")]


def test_a_snippet_of_a_block_seen_whole_brings_nothing() -> None:
    ledger = Ledger().admit((block(0, "年假五天。"),), FETCH)
    assert ledger.known((block(0, "年假", extent="snippet"), block(1))) == {block(0).block_id}
    assert seen(ledger.admit((block(0, "年假", extent="snippet"),), FETCH)) == [("block", "年假五天。")]


def test_admitting_leaves_the_earlier_ledger_as_it_was() -> None:
    before = Ledger().admit((block(0),), FETCH)
    before.admit((block(1),), FETCH)
    assert len(before.entries) == 1
