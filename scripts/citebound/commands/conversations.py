"""`citebound conversations`: what was talked about; one of them; remove one with its texts."""

import argparse
from urllib.parse import quote

from msgspec import Struct

from scripts.citebound.api import open_api
from scripts.citebound.console import count, date, plain, print_json, words
from scripts.citebound.failure import OK
from shared.types.conversations import Conversation, ConversationInfo


class Deleted(Struct, frozen=True, kw_only=True):
    """DELETE /api/conversations/{id}"""

    conversation_id: str
    runs: int


def conversations(arguments: argparse.Namespace) -> int:
    listed = open_api(arguments.url).get("/api/conversations", list[ConversationInfo])
    if arguments.json:
        print_json(listed)
        return OK
    for one in listed:
        plain(f"{one.conversation_id}  {date(one.updated_at_ms)}  {_questions(one)}  {one.title}")
    return OK


def show(arguments: argparse.Namespace) -> int:
    one = open_api(arguments.url).get(_path(arguments.conversation_id), Conversation)
    if arguments.json:
        print_json(one)
        return OK
    plain(f"{one.info.conversation_id}  {date(one.info.created_at_ms)}  {_questions(one.info)}", "bold")
    for turn in one.turns:
        plain(f"\n{turn.ordinal}. {turn.question}", "bold")
        plain(turn.answer)
        plain(f"{turn.status} · {turn.run_id} · {date(turn.at_ms)}", "dim")
    return OK


def delete(arguments: argparse.Namespace) -> int:
    gone = open_api(arguments.url).delete(_path(arguments.conversation_id), Deleted)
    if arguments.json:
        print_json(gone)
        return OK
    runs = count(gone.runs, "run")
    plain(
        words(
            f"{gone.conversation_id} is removed, with {runs} of it",
            f"已删除 {gone.conversation_id} 及其 {gone.runs} 次问答",
        )
    )
    return OK


def _questions(one: ConversationInfo) -> str:
    return words(count(one.turns, "question"), f"{one.turns} 个问题")


def _path(conversation_id: str) -> str:
    return f"/api/conversations/{quote(conversation_id, safe='')}"
