import json

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import SettingsError, UpstreamError
from shared.upstream import bearer, host_of, refusal, retry_after_s, upstream

NOW_S = 1_800_000_000.0
HOST = "api.example.test"


def code_of(status: int, body: object) -> str:
    return refusal(status, {}, json.dumps(body, ensure_ascii=False).encode(), host=HOST, now_s=NOW_S).code


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (401, {"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}}, "provider_auth"),
        (403, {"error": {"message": "no access to this model", "code": None}}, "provider_auth"),
        (402, {"error": {"message": "Insufficient Balance", "code": "invalid_request_error"}}, "provider_quota"),
        (429, {"error": {"message": "slow down", "code": "rate_limit_exceeded"}}, "provider_rate_limited"),
        (
            429,
            {"error": {"message": "pay", "type": "insufficient_quota", "code": "insufficient_quota"}},
            "provider_quota",
        ),
        (429, {"error": {"message": "pay", "type": "insufficient_quota", "code": None}}, "provider_quota"),
        (
            429,
            {"error": {"message": "You exceeded your current quota, check your plan", "code": None}},
            "provider_quota",
        ),
        (429, {"code": "Throttling.AllocationQuota", "message": "额度已用完"}, "provider_quota"),
        (400, {"code": "Arrearage", "message": "Access denied, account is overdue."}, "provider_quota"),
        (403, {"code": 30001, "message": "账户余额不足", "data": None}, "provider_quota"),
        (400, {"error": {"message": "too long", "code": "context_length_exceeded"}}, "provider_context_too_long"),
        (
            400,
            {"object": "error", "message": "This model's maximum context length is 4096 tokens.", "code": 400},
            "provider_context_too_long",
        ),
        (
            400,
            {"error": {"type": "exceed_context_size_error", "code": 400, "n_ctx": 4096}},
            "provider_context_too_long",
        ),
        (
            400,
            {"code": "InvalidParameter", "message": "Range of input length should be [1, 30720]"},
            "provider_context_too_long",
        ),
        (400, {"code": "data_inspection_failed", "message": "内容可能不合规"}, "provider_content_filtered"),
        (400, {"code": 20012, "message": "Model does not exist.", "data": None}, "provider_bad_request"),
        (404, {"error": "model 'x' not found, try pulling it first"}, "provider_bad_request"),
        (422, {"detail": [{"loc": ["body", "model"]}]}, "provider_bad_request"),
        (500, {"error": {"message": "boom", "code": 500}}, "upstream_unavailable"),
        (502, "Bad gateway", "upstream_unavailable"),
        (503, {"error": {"message": "Loading model", "code": 503}}, "provider_overloaded"),
        (504, None, "provider_timeout"),
        (529, {}, "provider_overloaded"),
        (308, {}, "provider_bad_reply"),
    ],
)
def test_an_answer_is_understood_by_code_before_words_before_status(status: int, body: object, code: str) -> None:
    assert code_of(status, body) == code


@pytest.mark.parametrize("status", [401, 402, 403])
def test_a_matter_of_key_or_money_is_never_worth_another_try(status: int) -> None:
    assert not refusal(status, {}, b"", host=HOST, now_s=NOW_S).retryable


def test_the_message_names_host_and_remedy_but_neither_key_nor_page() -> None:
    body = json.dumps(
        {"error": {"message": "key sk-abc123def456 (Bearer top-secret) may not use `gpt-x`, 密钥 k-e-y-1"}}
    )
    error = refusal(400, {}, body.encode(), host=HOST, now_s=NOW_S, api_key="k-e-y-1")
    assert HOST in error.message
    assert "`gpt-x`" in error.message
    assert not any(secret in error.message for secret in ("sk-abc", "top-secret", "k-e-y-1"))

    page = refusal(404, {}, b"<html><body>internal host db-7</body></html>", host=HOST, now_s=NOW_S)
    assert "db-7" not in page.message

    listed = json.dumps({"detail": [{"loc": ["body", "model"], "msg": "unknown", "input": "机密的问题"}]})
    error = refusal(422, {}, listed.encode(), host=HOST, now_s=NOW_S)
    assert "model" in error.message
    assert "机密" not in error.message

    denied = refusal(401, {}, body.encode(), host=HOST, now_s=NOW_S)
    assert "gpt-x" not in denied.message


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "Fri, 15 Jan 2027 08:00:30 GMT"}, 30.0),
        ({"retry-after": "Fri, 15 Jan 2027 07:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
    ],
)
def test_retry_after_is_read_as_milliseconds_number_or_date(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_s(headers, now_s=NOW_S) == seconds


@given(
    st.integers(300, 599),
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(max_size=20),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["error", "code", "message", "type", "param", "detail"]), inner, max_size=4
            )
        ),
        max_leaves=8,
    ),
    st.dictionaries(st.sampled_from(["retry-after", "retry-after-ms"]), st.text(max_size=12)),
)
def test_no_body_and_no_header_makes_the_translation_fail(status: int, body: object, headers: dict[str, str]) -> None:
    error = refusal(status, headers, json.dumps(body).encode(), host=HOST, now_s=NOW_S)
    assert HOST in error.message
    assert error.retry_after_s is None or error.retry_after_s >= 0


@given(st.binary(max_size=60))
def test_bytes_that_are_no_json_are_no_obstacle(body: bytes) -> None:
    assert refusal(500, {}, body, host=HOST, now_s=NOW_S).retryable


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (httpx.ConnectError("refused"), "upstream_unavailable"),
        (httpx.ConnectTimeout(""), "upstream_unavailable"),
        (httpx.ReadTimeout(""), "provider_timeout"),
        (httpx.ReadError(""), "provider_interrupted"),
        (httpx.RemoteProtocolError("incomplete chunked read"), "provider_interrupted"),
        (httpx.DecodingError("gzip"), "provider_bad_reply"),
    ],
)
def test_a_failure_of_the_line_becomes_ours(fault: httpx.HTTPError, code: str) -> None:
    with pytest.raises(UpstreamError) as caught, upstream(HOST):
        raise fault
    assert (caught.value.code, caught.value.retryable) == (code, True)


def test_other_exceptions_pass_untouched() -> None:
    with pytest.raises(ZeroDivisionError), upstream(HOST):
        raise ZeroDivisionError


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://api.deepseek.com/v1", "api.deepseek.com"),
        ("http://user:password@127.0.0.1:8000/v1", "127.0.0.1:8000"),
    ],
)
def test_the_host_is_named_without_user_and_password(address: str, host: str) -> None:
    assert host_of(address) == host


@pytest.mark.parametrize("address", ["", "api.deepseek.com/v1", "ftp://host", "http://", "http://host:port"])
def test_an_address_that_is_none_is_a_settings_error(address: str) -> None:
    with pytest.raises(SettingsError):
        host_of(address)


@pytest.mark.parametrize("key", ["密钥", "sk-1\n", " sk-1", "sk\t1"])
def test_a_key_that_no_header_can_carry_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(SettingsError) as caught:
        bearer(key)
    assert key.strip() not in caught.value.message
