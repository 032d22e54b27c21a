"""The sentences of an answer that could not be checked automatically, for whoever shows it as text. Pure."""

from typing import Final, Literal

from shared.types.runs import Answer, ClaimCheck

SHOWN: Final = 3
SENTENCE_CHARS: Final = 80
UNCHECKED: Final = {"zh": "未能自动核对", "en": "could not be checked automatically"}


def unchecked(answer: Answer, *, lang: Literal["zh", "en"]) -> tuple[str, ...]:
    """A line for each of the first `SHOWN`, with its marks and why, then how many more there are; the dubious ones, which have a reason, first.

    Those that a limitation of the answer names are left out.
    """
    named = any(one.code == "citation_unproved" for one in answer.limitations)
    found = [one for one in answer.claims if one.verdict == "unchecked" and not (named and one.problem)]
    found.sort(key=lambda one: one.problem is None)
    lines = [_line(one, lang) for one in found[:SHOWN]]
    if (left := len(found) - SHOWN) > 0:
        lines.append(
            f"另有 {left} 句{UNCHECKED['zh']}"
            if lang == "zh"
            else f"{left} more {'sentence' if left == 1 else 'sentences'} {UNCHECKED['en']}"
        )
    return tuple(lines)


def _line(claim: ClaimCheck, lang: Literal["zh", "en"]) -> str:
    sentence = " ".join(claim.sentence.split())
    if len(sentence) > SENTENCE_CHARS:
        sentence = sentence[: SENTENCE_CHARS - 1] + "…"
    marks = "".join(f"[{one}]" for one in claim.markers)
    why = f"（{claim.problem}）" if claim.problem and lang == "zh" else f" ({claim.problem})" if claim.problem else ""
    return (
        f"{UNCHECKED['zh']}：“{sentence}”{marks}{why}"
        if lang == "zh"
        else f"{UNCHECKED['en'].capitalize()}: “{sentence}” {marks}{why}".rstrip()
    )
