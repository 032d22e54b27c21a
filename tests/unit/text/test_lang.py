import pytest

from shared.text.lang import detect_lang


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("快照在一次事务里切换。", "zh"),
        ("憂鬱的臺灣烏龜", "zh"),
        ("使用 Litestar 框架和 qdrant-client 开发 API 的方法", "zh"),
        ("東京都庁の展望室は無料です。", "ja"),
        ("안녕하세요, 세계", "ko"),
        ("The snapshot is published in one transaction.", "en"),
        ("Who was the founder of 腾讯?", "en"),
        ("Привет, как дела?", "ru"),
        ("Привіт, як справи? Дякую, її немає", "uk"),
        ("مرحبا بالعالم", "ar"),
        ("שלום עולם", "he"),
        ("Γειά σου Κόσμε", "el"),
        ("नमस्ते दुनिया", "hi"),
        ("สวัสดีชาวโลก", "th"),
        ("Die Katze ist auf dem Dach und schläft.", "und"),
        ("La maison est dans la rue et le chat dort.", "und"),
        ("", "und"),
        ("1042 3.14 — %", "und"),
    ],
)
def test_a_text_is_known_by_its_script_and_english_by_its_small_words(text: str, lang: str) -> None:
    assert detect_lang(text) == lang
