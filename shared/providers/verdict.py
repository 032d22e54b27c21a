"""What a check of a provider can come to. Light: whoever only names the parts loads no model and no engine."""

from typing import Literal

from msgspec import Struct

Part = Literal["chat", "embedding", "rerank"]
PARTS: tuple[Part, ...] = ("chat", "embedding", "rerank")
Code = Literal[
    "works",
    "off",  # nothing is set: extractive answers, the bundled model, no reranking
    "bad_address",  # not an address at all
    "bad_key",  # no provider's key looks like that
    "unknown_dimensions",
    "wrong_key",
    "no_credit",
    "rate_limited",
    "wrong_model",
    "wrong_address",  # something answers there, but not at this path
    "unknown_host",
    "unreachable",
    "tls",
    "timeout",
    "overloaded",
    "broke_off",
    "not_compatible",
    "no_tools",
    "empty_answer",
    "no_model",  # none was named yet; `models` says which there are
    "refused",
]


class Verdict(Struct, frozen=True, kw_only=True):
    """`detail`: for whoever wants to know exactly, in English; "" where there is no more to say. `took_ms`: of the call."""

    part: Part
    code: Code
    base_url: str | None = None
    model: str | None = None
    answered_by: str = ""  # the model as the provider named it, which may be another than was asked
    dimensions: int | None = None
    models: tuple[str, ...] = ()  # that the provider offers, where knowing them helps
    detail: str = ""
    took_ms: int = 0

    @property
    def is_fine(self) -> bool:
        return self.code in ("works", "off")
