"""Does a question asked in a conversation lean on what was said before it? By words, Chinese and English. Pure.

It does when it points back (它, 该, it, that), continues (那病假呢？, what about), or names nothing at all (谁批准的？ generic.py).
A pronoun that stands for something in the same question points nowhere else.
"""

import re

from api.agent.paths.generic import names_nothing
from api.agent.paths.router import is_small_talk

LOOKED_AT = 400  # code points of a question: a longer one brings along what its pronouns mean
_REFERRED_ZH = (
    "项目|工程|产品|活动|会议|方案|计划|设备|系统|课题|案件|案|机型|型号|項目|產品|活動|會議|計劃|設備|系統|課題"
)
THIS_ZH = re.compile(rf"[本此该該](?:{_REFERRED_ZH})")
_PRONOUN_ZH = re.compile(
    r"(?P<person>(?:它|牠)们?|(?<![其吉])[他她](?:们|們)?(?![人国國])|(?:它|牠)們)"
    r"|(?<![”》」』\"])[这那這](?:个|個|些|种|種|款|份|项|項|家|位|台|本|篇|条|條|场|場|件|批|类|類)"
    r"|(?<!的)其中(?!一)|^其(?![他它实實次余餘中间間])|[这那這][样樣]|前者|后者|後者|上述|上面(?:的|提到的|說的|说的)?|(?<![应應活])[该該](?=[\u4e00-\u9fff])"
    r"|上一?个?(?:问题|回答|答案|条)|刚才|剛才|前面(?:说|提到|說)|你(?:刚|说|提到|說|剛)"
    rf"|{THIS_ZH.pattern}"
)
ELLIPSIS_ZH = re.compile(r"^(?:那么?|然后|还有|另外|那麼)?[，,\s]*(.{1,30}?)呢[？?。\s]*$")
_OPENER_ZH = re.compile(
    r"^(?:那么?|那麼|然后|还有呢|接着|所以|为什么呢?[？?]?$|怎么说|具体(?:一点|些|呢)?[？?]?$|继续|详细)"
    r"|^[还還](?:有|需要|要|能|可以)?(?:其他|其它|别的|別的|哪些|什么|什麼|谁|誰|吗|嗎)"
)
_CLAUSE_ZH = re.compile(r"[，,；;、]")
_LEAD_ZH = re.compile(r"^(?:请问|請問|好的?|嗯|那么?|那麼|所以|如果|假如|另外|谢谢)[，,\s]*")
_ASKS_ZH = re.compile(r"什么|什麼|哪|谁|誰|多少|几|幾|怎|如何|何时|何時|是|有|在|由")

_POINTS_EN = re.compile(
    r"\bthe (?:former|latter)\b|\bthe same (?:appl(?:y|ies)|goes?|holds?|true|thing)\b|^\W*(?:is|was|does|do|did|will) the same\b"
    r"|\bth(?:is|ese|ose)\b(?! (?:who|year|month|week|quarter|morning|days|time)\b)"
    # "the city that": relative; "does that", "about that": it points back
    r"|^\W*that\b|\bthat\W*$|\b(?:is|was|are|were|does|do|did|can|could|will|would|should|has|have|about|of|for|on|at|by|from|to|with|after|before|than|like|why|how|when|where|who) that\b",
    re.IGNORECASE,
)
_OWNED_EN = re.compile(r"\b(?:its|their|his|her)\b", re.IGNORECASE)
_PERSON_EN = re.compile(r"\b(?:it|they|them|he|she|him)\b", re.IGNORECASE)
EXPLETIVE_EN = re.compile(
    r"\bth(?:is|ese|at|ose) (?:manual|document|handbook|guide|report|polic(?:y|ies)|contract|file|text|librar(?:y|ies))s?\b"
    r"|\b(?:is|was|does|did|will|can|has) it (?:true|possible|necessary|mean|take|snow|rain)\b|\bit(?:'s| is| was) (?:true|possible|necessary)\b"
    r"|\b(?:say|says|said|state|states|mean|means|sure|ensure|know|so|such) that\b|\bthat (?:is|are|was|were|the|a|an)\b",
    re.IGNORECASE,
)
_OPENER_EN = re.compile(
    r"^\s*(?:and|but|so|then|also|or|what about|how about|why not|why\??\s*$|how so|go on|more|elaborate)\b",
    re.IGNORECASE,
)
_CLAUSE_EN = re.compile(
    r"[,;]|\b(?:and|or|but|when|after|before|if|because|while|where|as|that|which|who)\b", re.IGNORECASE
)
_NAMED_EN = re.compile(r"(?<=\s)[A-Z]\w+|\w+'s\b|\b(?:the|an?|each|every|both)\s+(\w+)(?:\s+(\w+))?|\d|[\"“]")


def leans(question: str) -> bool:
    """Whether a question asked in a conversation can't be understood without what came before."""
    said = question.strip()[:LOOKED_AT]
    if is_small_talk(said):
        return False
    if _OPENER_ZH.match(said) or ELLIPSIS_ZH.match(said) or _OPENER_EN.match(said):
        return True
    return _points_back_zh(said) or _points_back_en(EXPLETIVE_EN.sub(" ", said)) or names_nothing(said)


def _points_back_zh(said: str) -> bool:
    return any(found["person"] is None or not _meant_zh(said[: found.start()]) for found in _PRONOUN_ZH.finditer(said))


def _meant_zh(before: str) -> bool:
    """Whether a clause before the pronoun asks about something of its own: 张伟何时入职，他的职务是什么？"""
    clauses = _CLAUSE_ZH.split(_LEAD_ZH.sub("", before))[:-1]
    return any(_ASKS_ZH.search(clause) and not names_nothing(clause + "？") for clause in clauses)


def _points_back_en(said: str) -> bool:
    if _POINTS_EN.search(said):
        return True
    return any(not _meant_en(said[: found.start()], owner=True) for found in _OWNED_EN.finditer(said)) or any(
        not _meant_en(said[: found.start()], owner=False) for found in _PERSON_EN.finditer(said)
    )


def _meant_en(before: str, *, owner: bool) -> bool:
    """Whether the pronoun behind these words means something among them: another clause's thing, or the subject that is its owner."""
    boundaries = [found.start() for found in _CLAUSE_EN.finditer(before)]
    if boundaries and not names_nothing(before[: boundaries[-1]] + "?") and before[: boundaries[-1]].strip():
        return True
    return owner and any(_names(found[0], found[1], found[2]) for found in _NAMED_EN.finditer(before))


def _names(found: str, first: str | None, second: str | None) -> bool:
    """A capital, a possessive, or a determiner with a noun that isn't generic."""
    if first is None:
        return True
    return not names_nothing(f"{first} {second or ''}?")
