"""Rows that are written by the batch."""

import sqlite3
from collections.abc import Generator

import msgspec
import pytest

from shared.telemetry.at_once import of_rows, write_rows

ROWS = [(f"块{number}", number - 2, None, '{"a":"\\u0000 \\"引\\""}', 1796066798490122926) for number in range(9)]
INSERT = "insert into t (name, number, missing, json, at_ns)"


@pytest.fixture
def connection() -> Generator[sqlite3.Connection]:
    one = sqlite3.connect(":memory:")
    one.execute("create table t (name text primary key, number integer, missing text, json text, at_ns integer)")
    yield one
    one.close()


@pytest.mark.parametrize("most_bytes", [1, 150, 4_000])
def test_every_row_is_written_as_it_is_however_many_go_into_a_statement(
    connection: sqlite3.Connection, most_bytes: int
) -> None:
    write_rows(
        connection, of_rows(INSERT, columns=5), [msgspec.json.encode(row) for row in ROWS], most_bytes=most_bytes
    )
    assert connection.execute("select * from t order by number").fetchall() == ROWS


def test_a_batch_is_one_statement_and_none_is_none(connection: sqlite3.Connection) -> None:
    statements: list[str] = []
    connection.set_trace_callback(statements.append)
    write_rows(connection, of_rows(INSERT, columns=5), [msgspec.json.encode(row) for row in ROWS])
    write_rows(connection, of_rows(INSERT, columns=5), [])
    assert [one.partition(" ")[0] for one in statements] == ["BEGIN", "insert"]


def test_a_row_is_read_once_however_many_columns_it_has(connection: sqlite3.Connection) -> None:
    steps = connection.execute(f"explain {of_rows(INSERT, columns=5)}", ("[]",)).fetchall()
    assert [step[1] for step in steps].count("VColumn") == 1


def test_what_is_there_already_is_added_to(connection: sqlite3.Connection) -> None:
    add = of_rows(
        "insert into t (name, number)",
        columns=2,
        then="on conflict (name) do update set number = number + excluded.number",
    )
    for number in (3, 4):
        write_rows(connection, add, [msgspec.json.encode(("丢失", number))])
    assert connection.execute("select name, number from t").fetchall() == [("丢失", 7)]
