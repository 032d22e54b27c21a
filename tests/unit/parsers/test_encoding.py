import pytest

from shared.errors import DocumentError
from worker.parsers.encoding import decode

CHINESE = "星河精密仪器有限公司考勤与休假管理办法。夜班津贴为每班人民币76元，陪产假为十八天。\n第一章 总则\n"
TRADITIONAL = "星河精密儀器有限公司考勤與休假管理辦法。夜班津貼為每班人民幣76元，陪產假為十八天。\n"
JAPANESE = "本製品をお使いになる前に、この取扱説明書をよくお読みください。カタカナとひらがな。\n"
RUSSIAN = "Однажды, в студеную зимнюю пору, я из лесу вышел; был сильный мороз.\n"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (CHINESE, "utf-8"),
        (CHINESE, "utf-8-sig"),
        (CHINESE, "utf-16"),
        (CHINESE, "utf-16-le"),
        (CHINESE, "utf-16-be"),
        (CHINESE, "gb18030"),
        (TRADITIONAL, "big5"),
        (JAPANESE, "shift_jis"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "cp866"),
        ("Müller fährt über die Brücke nach Köln.\n", "cp1252"),
        ("plain words\n", "ascii"),
    ],
)
def test_text_is_decoded_whatever_it_was_written_in(text: str, encoding: str) -> None:
    assert decode((text * 3).encode(encoding))[0] == text * 3


def test_what_the_file_says_of_itself_is_believed_when_it_fits() -> None:
    assert decode("短".encode("gb18030"), declared="gb18030") == ("短", "gb18030")
    assert decode(CHINESE.encode(), declared="gb18030")[1] == "utf-8"
    assert decode(b"ascii", declared="no-such-encoding") == ("ascii", "utf-8")


def test_one_broken_byte_does_not_change_the_encoding_of_the_rest() -> None:
    text, encoding = decode(CHINESE.encode() + b"\xff" + CHINESE.encode())
    assert (text, encoding) == (f"{CHINESE}\ufffd{CHINESE}", "utf-8")


def test_a_damaged_byte_does_not_hide_the_encoding_of_old_text_either() -> None:
    text, encoding = decode((CHINESE * 4).encode("gb18030") + b"\xff\n" + (CHINESE * 4).encode("gb18030"))
    assert encoding == "gb18030"
    assert text.count("夜班津贴") == 8


def test_bytes_that_are_no_text_are_told_apart() -> None:
    with pytest.raises(DocumentError) as error:
        decode(bytes(range(32)) * 100)
    assert error.value.code == "unreadable"
