from hypothesis import given
from hypothesis import strategies as st

from shared.embeddings.e5.protobuf import field


def read_varint(data: bytes) -> tuple[int, bytes]:
    end = next(place for place, byte in enumerate(data) if byte < 0x80) + 1
    return sum((byte & 0x7F) << 7 * place for place, byte in enumerate(data[:end])), data[end:]


def test_the_examples_of_the_specification() -> None:
    assert field(1, 150) == bytes.fromhex("089601")
    assert field(2, "testing") == bytes.fromhex("120774657374696e67")
    assert field(3, field(1, 150)) == bytes.fromhex("1a03089601")
    assert field(5, 1.0) == bytes.fromhex("2d0000803f")


@given(st.integers(1, 2**29 - 1), st.integers(0, 2**64 - 1))
def test_every_number_is_read_back(number: int, value: int) -> None:
    key, rest = read_varint(field(number, value))
    assert key == number << 3
    assert read_varint(rest) == (value, b"")


@given(st.integers(1, 2**29 - 1), st.text(max_size=300))
def test_every_text_is_read_back(number: int, value: str) -> None:
    key, rest = read_varint(field(number, value))
    size_bytes, content = read_varint(rest)
    assert key == number << 3 | 2
    assert (size_bytes, content.decode()) == (len(content), value)
