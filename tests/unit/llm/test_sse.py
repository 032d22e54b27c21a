from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.llm.sse import EventParser
from shared.wire.bodies import Oversized


def events(*pieces: bytes) -> list[bytes]:
    parser = EventParser(most_bytes=1_000)
    return [event for piece in pieces for event in parser.feed(piece)] + parser.finish()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("data: 你好\n\n", ["你好"]),
        ("data:no blank\n\ndata:  two\n\n", ["no blank", " two"]),
        ("data: a\r\n\r\ndata: b\r\rdata: c\n\n", ["a", "b", "c"]),
        ("data: first\ndata: 第二行\n\n", ["first\n第二行"]),
        (": keep-alive\n\n: 另一个\n\ndata: a\n\n", ["a"]),
        ("event: error\nid: 7\nretry: 10\ndata: a\n\n", ["a"]),
        ("\ufeffdata: a\n\n", ["a"]),
        ("data\n\ndata:\n\n", ["", ""]),
        ("data: no blank line at the end", ["no blank line at the end"]),
        ("data: [DONE]\n", ["[DONE]"]),
        ("\n\n\n", []),
        ("", []),
    ],
)
def test_events_are_read_as_the_standard_says(body: str, expected: list[str]) -> None:
    assert events(body.encode()) == [data.encode() for data in expected]


LINES = st.lists(
    st.sampled_from(
        [
            "data: 你好",
            "data: 还有\n\ndata: more",
            "data:x",
            ": 注释",
            "",
            "",
            "event: e",
            "data",
            "data: é\u2028\u0085",
            "\ufeff",
            "data: 🙂",
        ]
    ),
    max_size=12,
)


@given(LINES, st.lists(st.sampled_from(["\n", "\r\n", "\r"]), min_size=12, max_size=12), st.data())
def test_events_do_not_depend_on_where_the_network_cuts(lines: list[str], ends: list[str], data: st.DataObject) -> None:
    body = "".join(line + end for line, end in zip(lines, ends, strict=False)).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=8)))
    pieces = [body[start:end] for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    assert events(*pieces) == events(body) == events(*(bytes([byte]) for byte in body))


@given(st.lists(st.binary(max_size=20), max_size=6))
def test_no_bytes_make_the_parser_fail(pieces: list[bytes]) -> None:
    assert events(*pieces) == events(b"".join(pieces))


@pytest.mark.parametrize("piece", [b"data: abc", b"data: abc\n", b"data\n", b": abc", "data: 答".encode()])
def test_an_event_that_never_ends_is_not_kept(piece: bytes) -> None:
    parser = EventParser(most_bytes=1_000)
    with pytest.raises(Oversized):
        deque(map(parser.feed, [piece] * 1_000), maxlen=0)


def test_a_stream_may_go_on_for_ever_while_its_events_end() -> None:
    parser = EventParser(most_bytes=100)
    pieces = [b": keep-alive\n\n", b"data: ", b"\xe7\xad", b"\x94\n", b"\ndata: a\n\n", b"id: 1\n: 2\r\n"]
    assert [parser.feed(piece) for piece in pieces * 200] == [[], [], [], [], ["答".encode(), b"a"], []] * 200
