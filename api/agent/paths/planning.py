"""A plan: sub-questions, and which results a later one takes. Read from a model's JSON, refused when it makes no sense. Pure.

    {"questions": [{"id": "a", "question": "谁负责泵站？", "gives": ["name"]},
                   {"id": "b", "question": "{a.name} 的电话是多少？"}]}

What a later question takes stands in braces where it is needed; there is no other way to depend on an earlier one.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Literal, cast

from msgspec import Struct

from api.agent.exact_names import absent, exact_names
from api.agent.observation import quoted
from api.tools.search_blocks import MAX_QUERY

MOST_QUESTIONS = 5
MOST_FIELDS = 3
MOST_NAMES = 10  # with more of them a question holds a text, such as a log, and doesn't ask about each
_ID = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,15}")
_TAKEN = re.compile(r"\{\s*([A-Za-z0-9_]+)\.([^{}\s.]+)\s*\}")
_FIELD = re.compile(r"[^\W_][\w-]{0,30}")

Fault = Literal["no_questions", "too_many", "bad_question", "same_id", "unknown_reference", "cycle", "names_missing"]


class SubQuestion(Struct, frozen=True, kw_only=True):
    """`takes`: (id, field) of earlier results that the question names. `gives`: fields that later ones take."""

    id: str
    question: str
    takes: tuple[tuple[str, str], ...]
    gives: tuple[str, ...]


class Plan(Struct, frozen=True, kw_only=True):
    """`questions`: each behind those it takes something from."""

    questions: tuple[SubQuestion, ...]


class Refused(Struct, frozen=True, kw_only=True):
    """`detail`: which id, reference or names, for the model."""

    fault: Fault
    detail: str


def read_plan(found: Mapping[str, object]) -> Plan | Refused:
    listed = found.get("questions")
    if not isinstance(listed, list) or not listed:
        return Refused(fault="no_questions", detail="")
    items = cast("Sequence[object]", listed)
    if len(items) > MOST_QUESTIONS:
        return Refused(fault="too_many", detail=str(len(items)))
    questions: dict[str, SubQuestion] = {}
    for place, item in enumerate(items, 1):
        one = _question(item)
        if one is None:
            return Refused(fault="bad_question", detail=str(place))
        if one.id in questions:
            return Refused(fault="same_id", detail=one.id)
        questions[one.id] = one
    for one in questions.values():
        for name, field in one.takes:
            if name not in questions or field not in questions[name].gives:
                return Refused(fault="unknown_reference", detail=quoted(f"{{{name}.{field}}}"))
    return _ordered(questions)


def filled(question: SubQuestion, values: Mapping[tuple[str, str], str]) -> str | None:
    """The question with the results it takes put in; None when one is missing."""
    if any(taken not in values for taken in question.takes):
        return None
    text = _TAKEN.sub(lambda found: values.get((found[1], found[2]), found[0]), question.question)
    return text if len(text) <= MAX_QUERY else None


def needed(plan: Plan, question: SubQuestion) -> tuple[str, ...]:
    """Fields of `question` that some later one takes."""
    taken = {field for one in plan.questions for name, field in one.takes if name == question.id}
    return tuple(field for field in question.gives if field in taken)


def unnamed(plan: Plan, question: str) -> tuple[str, ...]:
    """The exact names of the whole question that none of the parts has; () where it has more than MOST_NAMES."""
    if len(exact_names(question)) > MOST_NAMES:
        return ()
    return absent(question, "\n".join(one.question for one in plan.questions))


def with_names(plan: Plan, names: Sequence[str]) -> Plan:
    """A plan that looks for each of these names as well, by itself."""
    more = tuple(SubQuestion(id=f"+{place}", question=name, takes=(), gives=()) for place, name in enumerate(names, 1))
    return Plan(questions=(*plan.questions, *more))


def _question(item: object) -> SubQuestion | None:
    if not isinstance(item, dict):
        return None
    given = cast("dict[str, object]", item)
    name, text, gives = given.get("id"), given.get("question"), given.get("gives", [])
    if not isinstance(name, str) or not _ID.fullmatch(name):
        return None
    if not isinstance(text, str) or not text.strip() or len(text) > MAX_QUERY:
        return None
    if not isinstance(gives, list):
        return None
    fields = cast("Sequence[object]", gives)
    if len(fields) > MOST_FIELDS or not all(isinstance(one, str) and _FIELD.fullmatch(one) for one in fields):
        return None
    takes = dict.fromkeys((match[1], match[2]) for match in _TAKEN.finditer(text))
    return SubQuestion(
        id=name, question=" ".join(text.split()), takes=tuple(takes), gives=tuple(dict.fromkeys(map(str, fields)))
    )


def _ordered(questions: Mapping[str, SubQuestion]) -> Plan | Refused:
    done: list[SubQuestion] = []
    left = dict(questions)
    while left:
        ready = [one for one in left.values() if all(name not in left for name, _ in one.takes)]
        if not ready:
            return Refused(fault="cycle", detail=", ".join(left))
        done += ready
        for one in ready:
            del left[one.id]
    return Plan(questions=tuple(done))
