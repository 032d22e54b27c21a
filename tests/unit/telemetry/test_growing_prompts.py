"""What a span tells of a prompt that grows is what it would tell of the whole one."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import Span

from shared.telemetry.artifacts import Growing, Keeping, attach, stop_using, trace_level, use
from shared.telemetry.redact import REMOVED, Redactor
from shared.types.traces import TraceLevel

SECRET: Final = 'pa"ss-水泵-1'
SEAM: Final = '"},{"role"'  # stands between two messages, and nowhere else
TEXTS: Final = st.sampled_from(
    [
        "你是一个助手。",
        "pump " * 900,
        "水泵的滤芯每运行四百小时更换一次。" * 90,
        f"口令是 {SECRET}。",
        "sk-a1B2c3D4e5F6g7H8i9",
        "task-list ask-me-anything-you-want-to",
        "-----BEGIN PRIVATE KEY-----",
        "\x00\x1f\x7f😀\u2028",
        "",
    ]
)

_tracer = TracerProvider(sampler=ALWAYS_ON, shutdown_on_exit=False).get_tracer("tests")


@contextmanager
def keeping(secrets: Sequence[str]) -> Generator[list[bytes]]:
    data: list[bytes] = []
    here = Keeping(
        level="metadata", redactor=Redactor(secrets), keep=lambda trace_id, sha256, content: data.append(content)
    )
    use(here)
    try:
        yield data
    finally:
        stop_using(here)


def message(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def told(attached: Span) -> dict[str, Any]:
    return dict(attached.attributes)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType, reportUnknownArgumentType, reportUnknownMemberType]  of the SDK's span


def whole(texts: Sequence[str]) -> dict[str, Any]:
    span = _tracer.start_span("chat")
    attach(span, "prompt", msgspec.json.encode([message(text) for text in texts]).decode())
    return told(span)


@pytest.mark.parametrize("secrets", [(SECRET,), (SECRET, SEAM), ()], ids=["one", "one between messages", "none"])
@pytest.mark.parametrize("level", ["metadata", "full"])
@given(
    prompts=st.lists(
        st.tuples(st.integers(0, 6), st.lists(TEXTS | st.text(max_size=40), max_size=4)), min_size=1, max_size=6
    )
)
def test_hash_and_size_are_those_of_the_whole_prompt_without_secrets(
    level: TraceLevel, secrets: Sequence[str], prompts: list[tuple[int, list[str]]]
) -> None:
    growing, texts = Growing("prompt", msgspec.json.encode), list[str]()
    with trace_level(level), keeping(secrets):
        for keeps, more in prompts:  # most often it only grows, now and then its end is another
            texts = [*texts[: keeps + 1], *more]
            span = _tracer.start_span("chat")
            growing.attach(span, [message(text) for text in texts])
            assert told(span) == whole(texts)


def test_what_is_kept_in_full_is_the_whole_prompt_without_secrets() -> None:
    growing = Growing("prompt", msgspec.json.encode)
    with keeping([SECRET]) as kept:
        for level in ("metadata", "full", "metadata"):
            with trace_level(level):
                growing.attach(_tracer.start_span("chat"), [message("系统提示"), message("sk-a1B2c3D4e5F6g7H8i9")])
    assert kept == [f'[{{"role":"user","content":"系统提示"}},{{"role":"user","content":"{REMOVED}"}}]'.encode()]


def test_only_what_is_new_is_encoded_again() -> None:
    encoded: list[str] = []

    def encode(text: str) -> bytes:
        encoded.append(text)
        return msgspec.json.encode(text)

    growing = Growing("prompt", encode)
    for texts in (["系统提示", "问题"], ["系统提示", "问题", "回答", "观察"], ["系统提示", "问题", "回答", "观察"]):
        growing.attach(_tracer.start_span("chat"), texts)
    assert encoded == ["系统提示", "问题", "回答", "观察"]
