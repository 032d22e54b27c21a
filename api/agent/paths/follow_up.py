"""Questions that lean on what was said before, in Chinese and English. Pure.

What can be seen without a model: leaning.py. What can be done without one: put the thing spoken of in the
pronoun's place or before a question that names nothing, or the new thing into the last question's place, and else ask both at once.
"""

import re
from collections.abc import Sequence

from api.agent.exact_names import exact_names
from api.agent.paths.generic import asked_object, has_matter, leading_noun, names_nothing, owner_in
from api.agent.paths.leaning import ELLIPSIS_ZH, EXPLETIVE_EN, THIS_ZH, leans

MAX_ENTITIES = 20  # kept per conversation, the newest last
ENTITY_CHARS = 40
ANSWER_CHARS = 4_000  # of an answer that are looked through for names
LAST_CHARS = 400  # of the last question: a search takes no more than MAX_QUERY of both together

_REPLACED_ZH = re.compile(
    # before a noun it stays: 这种材料 is no thing's name and a noun
    r"它们?(?:的)?|[这那](?:个|种|款|份|项)(?:的|(?=是|有(?!关)|为|在|多|几|怎么|如何|什么|哪|谁|能|可以|需要|要|由|应|会|何时|贵|[？?，,。]|$))"
)
_REPLACED_EN = re.compile(r"\b(?:its|their)\b|\b(?:it|they|them)\b", re.IGNORECASE)
_ABOUT_EN = re.compile(r"^\s*(?:and\s+|but\s+|so\s+)?(?:what|how) about\s+(.{1,60}?)[?.\s]*$", re.IGNORECASE)
# where the thing asked about ends in a Chinese question
_PREDICATE = re.compile(
    r"是|有(?!关)|为|在|多少|几|怎么|如何|什么|哪|谁|能|可以|需要|要|由|应|需|会|会不会|何时|多长|多久|多大"
)
_LEAD_ZH = re.compile(
    r"^(?:(?:请问|請問|请|好的?(?=[，,])|嗯|谢谢(?=[，,])|那么?|那麼|关于|根据[^，,]{0,20}[，,]|我想知道|告诉我)[，,：:\s]*)+"
)
_THING_EN = re.compile(r"\bthe (?:project|product|device|machine|unit|programme|program|deal|plan)\b", re.IGNORECASE)
_HAN = re.compile(r"[\u4e00-\u9fff]")
_CLAUSE_END = re.compile(r"[。？！，,?!;；]")
_NAME_EN = re.compile(r"(?<![.?!]\s)(?<!^)\b[A-Z][\w.-]*(?:\s+[A-Z][\w.-]*){0,3}")
_PERSONS = frozenset("我你您他她它这那谁哪")


def entities_of(text: str) -> list[str]:
    """Things a question or an answer names, in the order in which it names them."""
    found = [*exact_names(text)[::-1], *(match[0] for match in _NAME_EN.finditer(text))]
    topic = topic_of(text)
    if topic is not None:
        found.append(topic)
    kept = [name.strip() for name in found if 1 < len(name.strip()) <= ENTITY_CHARS]
    return sorted(dict.fromkeys(kept), key=text.find)


def remembered(known: Sequence[str], *texts: str) -> tuple[str, ...]:
    """The entities of a conversation after further texts: each once, the latest named last."""
    order = list(known)
    for text in texts:
        for name in entities_of(text):
            if name in order:
                order.remove(name)
            order.append(name)
    return tuple(order[-MAX_ENTITIES:])


def named_after(known: Sequence[str], *, question: str, answer: str) -> tuple[str, ...]:
    """The entities after an exchange. What the question named is the latest; of the answer only exact names are taken."""
    given = exact_names(answer[:ANSWER_CHARS])
    return remembered([*(name for name in known if name not in given), *given[:MAX_ENTITIES]], question)


def topic_of(question: str) -> str | None:
    """What a Chinese question is about, where it stands at its head: 循环泵 of 循环泵的寿命有多长？"""
    return next(iter(_head(question)), None)


def _head(question: str) -> list[str]:
    """What stands before a Chinese question's predicate, cut at 的: 循环泵 and 寿命 of 循环泵的寿命有多长？"""
    said = _LEAD_ZH.sub("", question.strip())
    end = _PREDICATE.search(said)
    parts = [part.strip(' ，,：:“”《》"') for part in said[: end.start()].split("的")] if end else []
    return (
        parts
        if all(
            0 < len(part) <= 16 and part not in _PERSONS and _HAN.search(part) and not _CLAUSE_END.search(part)
            for part in parts
        )
        else []
    )


def carried(question: str, *, last: str, entities: Sequence[str]) -> str:
    """A question made to stand alone as well as words alone allow. `last`: the last question, standing alone itself."""
    if not leans(question):
        return question
    last = last[:LAST_CHARS]
    topic = _spoken_of(last, entities)
    if about := ELLIPSIS_ZH.match(question.strip()):
        return (None if leans(about[1]) else _instead(about[1], last)) or f"{last} {question}"
    if about := _ABOUT_EN.match(question):
        return f"{last} {question}"
    if names_nothing(question):
        if names_nothing(last) and has_matter(question):
            return question  # nothing was named yet: both ask about the documents that there are
        return _completed(question, _named_in(last)) or f"{last} {question}"
    if topic is not None:
        if THIS_ZH.search(question):
            return THIS_ZH.sub(lambda _: topic, question, count=1)
        if _REPLACED_ZH.search(question):
            return _REPLACED_ZH.sub(lambda found: topic + ("的" if found[0].endswith("的") else ""), question, count=1)
        plain = EXPLETIVE_EN.sub(lambda found: " " * len(found[0]), question)
        if found := _REPLACED_EN.search(plain):
            owner = found[0].lower() in ("its", "their")
            return question[: found.start()] + topic + ("'s" if owner else "") + question[found.end() :]
    return f"{last} {question}"


def _spoken_of(last: str, entities: Sequence[str]) -> str | None:
    """The thing that a pronoun most likely means: what the last question was about, else what was named last."""
    return _named_in(last) or (entities[-1] if entities else None)


def _named_in(last: str) -> str | None:
    if (topic := topic_of(last)) is not None:
        return topic
    named = entities_of(last)
    return named[-1] if named else asked_object(last)


def _completed(question: str, topic: str | None) -> str | None:
    """A question that names nothing, with the thing in it: 猎鹰项目谁批准的？ None where what is missing is more than a name (多久？)."""
    if topic is None or not has_matter(question):
        return None
    if THIS_ZH.search(question):
        return THIS_ZH.sub(lambda _: topic, question, count=1)
    if not _HAN.search(question):
        thing = _THING_EN.search(question)
        if thing is not None:
            return question[: thing.start()] + topic + question[thing.end() :]
        return f"{topic}: {question[:1].lower()}{question[1:]}"  # a capital would look like a name to the question after it
    said = _LEAD_ZH.sub("", question.strip())
    noun = leading_noun(said)
    if noun is None:
        return topic + said
    return topic + said.removeprefix(noun) if topic.endswith(noun) else f"{owner_in(topic)}的{said}"


def _instead(thing: str, last: str) -> str | None:
    """病假 in the place of 年假: 年假有几天？ becomes 病假有几天？ None where it isn't clear whose place it takes."""
    thing = _LEAD_ZH.sub("", thing).strip()
    parts = _head(last)
    alike = [part for part in parts if thing and part[-1] == thing[-1]]
    taken = alike if len(alike) == 1 else parts
    return last.replace(taken[0], thing, 1) if len(taken) == 1 and thing else None
