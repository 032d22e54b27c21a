"""Conversations: rows <-> Structs. Each belongs to whoever began it; to everybody else it isn't there.

A turn keeps the labels its run could see: who holds them no longer doesn't see it, and no later question of his leans on it.
"""

from collections.abc import Sequence

from shared.access import Access
from shared.catalog.db import Database, writing
from shared.catalog.rows import Row, from_json, one, rows, to_json
from shared.errors import NotFound
from shared.ids import ConversationId, KeyId
from shared.types.conversations import Conversation, ConversationInfo, ConversationTurn

TITLE_CHARS = 80
DAY_MS = 24 * 3600 * 1000

_INFO = (
    "select conversation_id, title, entities, created_at_ms, updated_at_ms,"
    " (select count(*) from conversation_turns t where t.conversation_id = c.conversation_id) as turns"
    " from conversations c where asker is :asker"
)


def create_conversation(
    db: Database, conversation_id: ConversationId, access: Access, *, now_ms: int
) -> ConversationInfo:
    """An empty one; an existing one stays as it is. Raises: StorageError, NotFound when it is somebody else's."""
    with writing(db):
        _insert(db, conversation_id, access.key_id, now_ms=now_ms)
    return get_info(db, conversation_id, access)


def get_info(db: Database, conversation_id: ConversationId, access: Access) -> ConversationInfo:
    """Raises: NotFound, StorageError."""
    row = one(db, f"{_INFO} and conversation_id = :id", asker=access.key_id, id=conversation_id)
    if row is None:
        raise _unknown(conversation_id)
    return _info(row)


def list_conversations(db: Database, access: Access, *, limit: int) -> list[ConversationInfo]:
    """The caller's own, the one spoken in last first."""
    found = rows(
        db, f"{_INFO} order by updated_at_ms desc, conversation_id desc limit :limit", asker=access.key_id, limit=limit
    )
    return [_info(row) for row in found]


def get_conversation(db: Database, conversation_id: ConversationId, access: Access, *, limit: int) -> Conversation:
    """With its last `limit` turns. Raises: NotFound, StorageError."""
    info = get_info(db, conversation_id, access)
    found = rows(
        db,
        "select ordinal, run_id, question, answer, status, access, at_ms from conversation_turns"
        " where conversation_id = :id order by ordinal desc limit :limit",
        id=conversation_id,
        limit=limit,
    )
    turns = [_turn(row) for row in map(_with_access, found) if _may_see(row, access)]
    return Conversation(info=info, turns=tuple(turns[::-1]))


def add_turn(
    db: Database,
    conversation_id: ConversationId,
    turn: ConversationTurn,
    access: Access,
    *,
    entities: Sequence[str],
    may_begin: bool,
) -> None:
    """Put a question and its answer at the end, whatever `turn.ordinal` says. `may_begin`: this is its first.

    Raises: NotFound when it was deleted meanwhile, StorageError.
    """
    labels = None if access.labels is None else sorted(access.labels)
    with writing(db) as connection:
        if may_begin:
            _insert(db, conversation_id, access.key_id, now_ms=turn.at_ms)
        changed = connection.execute(
            "update conversations set title = case title when '' then :title else title end, entities = :entities,"
            " updated_at_ms = :at where conversation_id = :id and asker is :asker",
            {
                "title": " ".join(turn.question.split())[:TITLE_CHARS],
                "entities": to_json(list(entities)),
                "at": turn.at_ms,
                "id": conversation_id,
                "asker": access.key_id,
            },
        )
        if changed.rowcount == 0:
            raise _unknown(conversation_id)
        connection.execute(
            "insert into conversation_turns (conversation_id, ordinal, run_id, question, answer, status, access, at_ms)"
            " select :id, coalesce(max(ordinal), 0) + 1, :run, :question, :answer, :status, :access, :at"
            " from conversation_turns where conversation_id = :id",
            {
                "id": conversation_id,
                "run": turn.run_id,
                "question": turn.question,
                "answer": turn.answer,
                "status": turn.status,
                "access": to_json(labels),
                "at": turn.at_ms,
            },
        )


def delete_conversation(db: Database, conversation_id: ConversationId, access: Access) -> tuple[str, ...]:
    """Remove it with all its texts; the ids of its runs. Raises: NotFound, StorageError."""
    get_info(db, conversation_id, access)
    with writing(db) as connection:
        runs = connection.execute("select run_id from conversation_turns where conversation_id = ?", [conversation_id])
        run_ids = tuple(str(run_id) for (run_id,) in runs)
        connection.execute(
            "delete from conversations where conversation_id = ? and asker is ?", [conversation_id, access.key_id]
        )
    return run_ids


def forget_conversations(db: Database, *, before_ms: int, limit: int = 100) -> int:
    """Remove those in which nothing was asked since; how many. Call again while it returns `limit`. Raises: StorageError."""
    with writing(db, lasting=False) as connection:
        gone = connection.execute(
            "delete from conversations where conversation_id in"
            " (select conversation_id from conversations where updated_at_ms < ? limit ?)",
            [before_ms, limit],
        )
    return gone.rowcount


def _insert(db: Database, conversation_id: ConversationId, asker: KeyId | None, *, now_ms: int) -> None:
    db.conn.execute(
        "insert or ignore into conversations (conversation_id, asker, title, entities, created_at_ms, updated_at_ms)"
        " values (?, ?, '', '[]', ?, ?)",
        [conversation_id, asker, now_ms, now_ms],
    )


def _info(row: Row) -> ConversationInfo:
    decoded = from_json(row, "entities")
    return ConversationInfo(
        conversation_id=ConversationId(row["conversation_id"]),
        title=row["title"],
        entities=tuple(decoded["entities"]),
        turns=row["turns"],
        created_at_ms=row["created_at_ms"],
        updated_at_ms=row["updated_at_ms"],
    )


def _with_access(row: Row) -> Row:
    return from_json(row, "access")


def _may_see(row: Row, access: Access) -> bool:
    labels = row["access"]
    return access.labels is None or (labels is not None and access.labels.issuperset(labels))


def _turn(row: Row) -> ConversationTurn:
    return ConversationTurn(
        ordinal=row["ordinal"],
        run_id=row["run_id"],
        question=row["question"],
        answer=row["answer"],
        status=row["status"],
        at_ms=row["at_ms"],
    )


def _unknown(conversation_id: str) -> NotFound:
    return NotFound(
        "There is no such conversation, or it is not yours.", field="conversation_id", ids=[conversation_id]
    )
