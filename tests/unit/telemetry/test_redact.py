"""What may never be kept, and what must stay as it is."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.telemetry.redact import REMOVED, Redactor

KEY_SHAPED = [
    "sk-" + "a1B2c3D4e5F6g7H8i9",
    "sk-proj-" + "0123456789abcdefghij_-",
    "cbk_" + "a2b3c4d5_0123456789-_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefg",
    "AKIA" + "IOSFODNN7EXAMPLE",
    "AIza" + "SyA1234567890abcdefghijklmnopqrstu",
    "ghp_" + "0123456789abcdefghijklmnopqrstuvwxyz",
    "github_pat_" + "0123456789abcdefghijklmnopqrstuvwxyz",
    "hf_" + "abcdefghijklmnopqrstuvwxyzABCDEFGH",
    "xoxb-" + "1234567890-abcdef",
    "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlLW9m",
]


@pytest.mark.parametrize("key", KEY_SHAPED)
def test_what_looks_like_a_key_is_removed_from_the_middle_of_a_sentence(key: str) -> None:
    assert Redactor().text(f"请用密钥 {key} 调用接口。") == f"请用密钥 {REMOVED} 调用接口。"


def test_a_bearer_token_is_removed_and_the_word_stays() -> None:
    assert Redactor().text("Authorization: Bearer abcdefghijklmnop.qrs") == f"Authorization: Bearer {REMOVED}"


def test_a_private_key_is_removed_with_its_frame_even_when_it_is_cut_off() -> None:
    begin, end = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"
    assert Redactor().text(f"甲 {begin}\nMIIE\nabc\n{end} 乙") == f"甲 {REMOVED} 乙"
    assert Redactor().text(f"甲 {begin}\nMIIE\nabc") == f"甲 {REMOVED}"


def test_a_configured_secret_is_removed_whatever_it_looks_like_and_whole_when_another_is_its_beginning() -> None:
    redactor = Redactor(["correct horse", "correct horse battery"])
    assert redactor.text("say correct horse battery, 说 correct horse") == f"say {REMOVED}, 说 {REMOVED}"


@pytest.mark.parametrize("secret", ['pa"ss\\word-1', "密码-of-the-owner"])
def test_a_secret_is_found_inside_json_and_inside_json_within_json(secret: str) -> None:
    payload = json.dumps({"text": f"是 {secret} 吗"})
    prompt = json.dumps([{"content": payload}], ensure_ascii=False)
    for text in (payload, json.dumps({"text": secret}, ensure_ascii=False), prompt):
        left = Redactor([secret]).known(text)
        assert REMOVED in left
        assert "ss" not in left.replace("[removed]", "")
        assert "of-the-owner" not in left


def test_a_text_of_nothing_but_beginnings_of_keys_is_read_at_once() -> None:
    text = "eyJ-" * 50_000 + " eyJabcdefgh." * 10_000
    assert Redactor().text(text) == text


def test_what_people_wrote_loses_only_configured_secrets() -> None:
    text = f"文档里的示例密钥是 {KEY_SHAPED[0]}，口令是 open-sesame。"
    assert Redactor(["open-sesame"]).known(text) == f"文档里的示例密钥是 {KEY_SHAPED[0]}，口令是 {REMOVED}。"


@pytest.mark.parametrize(
    "text",
    [
        "差旅费每天不超过 300 元（见 v2.3.1）。",
        "block k3f9a2qd.v2#17",
        "ask-me-anything-you-want-to",
        "GB/T 50010-2010",
        "",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert Redactor(["", "a"]).text(text) == text


@given(st.text(), st.text(min_size=6), st.text())
def test_no_configured_secret_survives_anywhere(before: str, secret: str, after: str) -> None:
    if secret not in REMOVED and secret not in before + REMOVED + after:
        assert secret not in Redactor([secret]).known(before + secret + after)


@given(
    st.lists(st.text() | st.sampled_from(KEY_SHAPED), max_size=4),
    st.sampled_from(["open-sesame", 'pa"ss\\word', "口令\n口令口令", "\x00\x1f\x7f/\u2028é", "\ud800abcdef"]),
    st.integers(-1, 2),
)
def test_what_is_said_to_hold_nothing_changes_nowhere_in_text_or_json(
    texts: list[str], secret: str, depth: int
) -> None:
    redactor = Redactor([secret])
    inside = secret.encode(errors="replace").decode()
    for _ in range(depth):  # as JSON within JSON
        inside = json.dumps(inside)
    texts = [*texts, f"是 {inside} 吗"] if depth >= 0 else texts
    told = msgspec.json.encode(texts).decode()
    for text in (told, *texts):
        if redactor.finds_none_in(text):
            assert redactor.text(text) == text
    if redactor.finds_none_in(told):
        assert [redactor.text(text) for text in texts] == texts
    if redactor.knows_none_of(told):
        assert [redactor.known(text) for text in texts] == texts


def test_an_ordinary_text_is_said_to_hold_nothing() -> None:
    assert Redactor(["open-sesame"]).finds_none_in("差旅费每天不超过 300 元。 The filter is changed every 400 hours.")
