"""Questions that lean on what was said before, in Chinese and English. Pure.

What can be seen without a model: a pronoun or an ellipsis in a conversation. What can be done without one: put the thing spoken of
in the pronoun's place, or the new thing into the last question's place, and else ask both at once.
"""

import re
from collections.abc import Sequence

from api.agent.exact_names import exact_names

MAX_ENTITIES = 20  # kept per conversation, the newest last
ENTITY_CHARS = 40
LAST_CHARS = 400  # of the last question: a search takes no more than MAX_QUERY of both together

_PRONOUN_ZH = re.compile(
    r"(?:它们?|他们?|她们?|[这那]个|[这那]些|[这那]种|[这那]款|[这那]份|[这那]项|其中|前者|后者|上述|上面(?:的|提到的)?|该(?=[\u4e00-\u9fff]))"
)
_REPLACED_ZH = re.compile(
    # before a noun it stays: 这种材料 is no thing's name and a noun
    r"它们?(?:的)?|[这那](?:个|种|款|份|项)(?:的|(?=是|有(?!关)|为|在|多|几|怎么|如何|什么|哪|谁|能|可以|需要|要|由|应|会|何时|贵|[？?，,。]|$))"
)
_ELLIPSIS_ZH = re.compile(r"^(?:那么?|然后|还有|另外|那麼)?[，,\s]*(.{1,30}?)呢[？?。\s]*$")
_OPENER_ZH = re.compile(
    r"^(?:那么?|那麼|然后|还有呢|接着|所以|为什么呢?[？?]?$|怎么说|具体(?:一点|些|呢)?[？?]?$|继续|详细)"
)
_PRONOUN_EN = re.compile(
    r"\b(?:it|its|they|them|their|this|that|these|those|he|she|him|her|his|the (?:former|latter|same))\b", re.IGNORECASE
)
_REPLACED_EN = re.compile(r"\b(?:its|their)\b|\b(?:it|they|them)\b", re.IGNORECASE)
_EXPLETIVE_EN = re.compile(
    r"\bth(?:is|ese|at|ose) (?:manual|document|handbook|guide|report|polic(?:y|ies)|contract|file|text|librar(?:y|ies))s?\b|\b(?:is|was|does|did|will|can|has) it (?:true|possible|necessary|mean|take)\b|\bit(?:'s| is| was) (?:true|possible|necessary)\b|\b(?:say|says|said|state|states|mean|means|sure|ensure|know|so|such) that\b|\bthat (?:is|are|was|were|the|a|an)\b",
    re.IGNORECASE,
)
_OPENER_EN = re.compile(
    r"^\s*(?:and|but|so|then|also|or|what about|how about|why not|why\??\s*$|how so|go on|more|elaborate)\b",
    re.IGNORECASE,
)
_ABOUT_EN = re.compile(r"^\s*(?:and\s+|but\s+|so\s+)?(?:what|how) about\s+(.{1,60}?)[?.\s]*$", re.IGNORECASE)
# where the thing asked about ends in a Chinese question
_PREDICATE = re.compile(
    r"是|有(?!关)|为|在|多少|几|怎么|如何|什么|哪|谁|能|可以|需要|要|由|应|需|会|会不会|何时|多长|多久|多大"
)
_LEAD_ZH = re.compile(r"^(?:请问|请|那么?|关于|根据[^，,]{0,20}[，,]|我想知道|告诉我)[，,：:\s]*")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_CLAUSE_END = re.compile(r"[。？！，,?!;；]")
_NAME_EN = re.compile(r"(?<![.?!]\s)(?<!^)\b[A-Z][\w.-]*(?:\s+[A-Z][\w.-]*){0,3}")
_PERSONS = frozenset("我你您他她它这那谁哪")


def leans(question: str) -> bool:
    """Whether a question asked in a conversation can't be understood without what came before."""
    said = question.strip()
    if _OPENER_ZH.match(said) or _ELLIPSIS_ZH.match(said) or _OPENER_EN.match(said):
        return True
    if _PRONOUN_ZH.search(said):
        return True
    return _PRONOUN_EN.search(_EXPLETIVE_EN.sub(" ", said)) is not None


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
    if about := _ELLIPSIS_ZH.match(question.strip()):
        return _instead(about[1], last) or f"{last} {question}"
    if about := _ABOUT_EN.match(question):
        return f"{last} {question}"
    if topic is not None:
        if _REPLACED_ZH.search(question):
            return _REPLACED_ZH.sub(lambda found: topic + ("的" if found[0].endswith("的") else ""), question, count=1)
        plain = _EXPLETIVE_EN.sub(lambda found: " " * len(found[0]), question)
        if found := _REPLACED_EN.search(plain):
            owner = found[0].lower() in ("its", "their")
            return question[: found.start()] + topic + ("'s" if owner else "") + question[found.end() :]
    return f"{last} {question}"


def _spoken_of(last: str, entities: Sequence[str]) -> str | None:
    """The thing that a pronoun most likely means: what the last question was about, else what was named last."""
    if (topic := topic_of(last)) is not None:
        return topic
    named = entities_of(last) or entities
    return named[-1] if named else None


def _instead(thing: str, last: str) -> str | None:
    """病假 in the place of 年假: 年假有几天？ becomes 病假有几天？ None where it isn't clear whose place it takes."""
    thing = _LEAD_ZH.sub("", thing).strip()
    parts = _head(last)
    alike = [part for part in parts if thing and part[-1] == thing[-1]]
    taken = alike if len(alike) == 1 else parts
    return last.replace(taken[0], thing, 1) if len(taken) == 1 and thing else None
