"""What a sentence of an answer states: nothing, something, or something that can be looked up. Pure."""

import re
from typing import Literal

from api.agent.facts import Facts, facts

Stated = Literal["nothing", "something", "facts"]

INFERENCE = re.compile(r"^\W*(?:推断|推論|推论|inference)\s*[:：]", re.IGNORECASE)
LIST_MARK = re.compile(r"^\s*(?:[-*+•>]|\(?\d{1,3}[.)、）](?!\d)|[（(]?[一二三四五六七八九十]{1,3}[)）、])\s*")

# a heading, the head of a table, what introduces a list, a question
_FRAME = re.compile(r"^#{1,6}\s|^\*\*[^*\n]+\*\*$|^\|[^\n]*\n\s*\|[\s:|-]+$|[:：?？][*_”\"]*$")
_COURTESY = re.compile(
    r"^(?:hello|hi|dear|thanks|thank you|sorry|(?:i )?hope (?:this|that|it)|let me know|feel free|if you [^.]*\b(?:let me know|ask|tell me))\b"
    r"|^(?:您好|你好|谢谢|感谢|抱歉|希望(?:以上|这|对|能)|(?:如需|如有|如果您?还)[^。]*(?:请|告诉|欢迎|随时))|^(?:是的?|对|不|yes|no|好的)\W*$",
    re.IGNORECASE,
)
_NOT_COVERED = re.compile(
    r"(?:没有|未能?|并未|无法|不能)(?:在?[^，。]{0,20})?(?:提到|提及|说明|找到|涉及|给出|包含|查到|记载|回答|确认|写到|写明|关于|相关)|(?:未|没有)(?:出现|记录)"
    r"|\b(?:not|n't|nothing|no|none|nowhere|neither)\b[^.;]{0,60}\b(?:cover|mention|state|say|said|found|find|contain|give|given|specif|address|includ|describ|document|information|evidence)"
    r"|\bfound (?:nothing|none)\b"
    r"|(?:[资資]料|文[档檔件中]|原文|材料|[来來]源)(?:[里中内])?(?:都|均|也|并|並)?(?:没有|沒有|未)(?:指[出明]|列[出明]|披露|透露|交代|讲|谈)"
    r"|\b(?:documents?|sources?|texts?|files?|librar(?:y|ies)|passages?|materials?|they)\b[^.;]{0,20}\b(?:do|does|did|is|are)(?: not|n['’]t)\b[^.;]{0,20}\b(?:name[ds]?|list(?:ed)?|identif(?:y|ied)|tell|reveal|disclose|indicate|clarify)\b",
    re.IGNORECASE,
)
# what an answer says of its own looking: 查过“…”, I searched for "…"; 查到 and found tell of what was there
_SEARCHED = re.compile(
    r"^\W*(?:(?:我们?|已经?|曾|都|还|也|再次|分别|多次|本次|[在用以按][^，。]{1,40}?)\s*)*(?:查找|查阅|查询|检索|搜索|查|找|搜)(?![到出明得实验核])"
    r"|^\W*(?:(?:i|we)(?:'ve| have)? )?(?:also |already )?(?:searched|looked|checked|scanned|tried)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"“[^“”]*”|「[^「」]*」|《[^《》]*》|\"[^\"]*\"")
_CLAUSE = re.compile(
    r"[，,；;：。！]|[:.!](?=\s)|—+|\s-\s|(?=不过|但是|但(?!书)|然而|而是|而且|并且|同时|其实|实际上)|(?=\b(?:and|but|however|although|though|yet|instead|in fact)\b)",
    re.IGNORECASE,
)
_CONTRAST = re.compile(
    r"\s*(?:不过|但|然而|而是|其实|实际上|(?:but|however|although|though|yet|instead|in fact)\b)", re.IGNORECASE
)
_PREDICATE = re.compile(
    r"是|为|由|有|达|共|须|应|可|\b(?:is|are|was|were|has|have|had|will|can|may|must|should|amounts?|costs?|comes?|stands?|takes?|lasts?|weighs?)\b",
    re.IGNORECASE,
)
_SAYS_SOMETHING = re.compile(r"\w\W*\w")


def stated(sentence: str) -> Stated:
    """ "facts": a figure, date, name or quotation, which can be looked up as it is written.

    A heading, a question and courtesies state nothing unless they give an amount; a marked inference, and a clause that says that
    something is not covered, never do.
    """
    plain = sentence.strip()
    if INFERENCE.match(plain):
        return "nothing"
    said = facts(LIST_MARK.sub("", plain))
    if is_frame(plain):
        return (
            "facts"
            if any(one.unit not in (None, "year") and not one.is_article for one in said.quantities)
            else "nothing"
        )
    if _COURTESY.search(plain):
        return "facts" if _figures(said) or said.dates else "nothing"
    if _NOT_COVERED.search(plain):
        plain = _beside_what_is_not_covered(plain)
        said = facts(plain)
    if _figures(said) or said.dates or said.names or said.quoted:
        return "facts"
    return "something" if _SAYS_SOMETHING.search(LIST_MARK.sub("", plain)) else "nothing"


def is_frame(sentence: str) -> bool:
    """Whether it is a heading, the head of a table, the introduction of a list, or a question."""
    return _FRAME.search(sentence.strip()) is not None


def tells_of_search(sentence: str) -> bool:
    """Whether all it says is what was looked for and that it is not there: of its names and quotations the question shows some."""
    plain = _QUOTED.sub("“”", LIST_MARK.sub("", sentence.strip()))
    beside = _beside_what_is_not_covered(plain)
    return _NOT_COVERED.search(plain) is not None and all(
        _SEARCHED.search(one) for one in _CLAUSE.split(beside) if _SAYS_SOMETHING.search(one)
    )


def _figures(said: Facts) -> bool:
    return any(not one.is_article for one in said.quantities)


def _beside_what_is_not_covered(sentence: str) -> str:
    """The clauses that state something else. A bare list, "on A, B and C", is none."""
    clauses = [one for one in _CLAUSE.split(sentence) if one]
    if not any(_NOT_COVERED.search(one) for one in clauses):
        return sentence
    return "，".join(
        one for one in clauses if not _NOT_COVERED.search(one) and (_CONTRAST.match(one) or _PREDICATE.search(one))
    )
