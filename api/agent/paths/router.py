"""Which path a question takes, by what can be seen in it: no model is asked, and the reason is a code. Pure.

The loop (`agent`) is for every question to documents; only where a question plainly needs less, or plainly has parts, another path
is cheaper or surer. `verify` costs more and is taken only when it is asked for. Source: spec/05 "Routing"; decision 0078.
"""

import re
from typing import Literal, assert_never

from msgspec import Struct

from api.agent.exact_names import exact_names, identifiers
from shared.errors import InvalidArgument
from shared.types.runs import PathName, WantedPath

Reason = Literal[
    "forced",  # the caller named it
    "no_model",  # the built-in answerer knows one path
    "small_talk",  # a greeting or thanks, nothing else
    "given_text",  # the text to work on stands in the message itself
    "comparison",  # two things are named and set against one another
    "several_questions",
    "exact_identifier",  # one lookup of one string that means itself
    "question",  # everything else
]

NEEDS_MODEL: frozenset[PathName] = frozenset({"direct", "pipeline", "plan", "verify"})
GIVEN_CHARS = 40  # from here on a text in the message is something to work on
LOOKED_AT = 1_000  # code points of a question: what follows is material
_ONE_LOOKUP = 80  # code points: a longer question asks for more than one string

_SMALL_TALK = re.compile(
    r"(?:你好|您好|嗨|哈喽|早上好|上午好|下午好|晚上好|早安|晚安|谢谢(?:你|您|啦)?|多谢|感谢|辛苦了|再见|拜拜|好的|明白了|知道了"
    r"|你是谁|你叫什么(?:名字)?|你能做什么|你会(?:做)?什么|在吗"
    r"|hi|hello|hey|good (?:morning|afternoon|evening|night)|thanks?(?: you)?(?: (?:so|very) much)?|thx|bye|goodbye|ok(?:ay)?"
    r"|who are you|what can you do|how are you)(?:[,，、\s]*(?:你好|您好|there|all|citebound|啊|呀|吗|了|哦))*[\s!！.。?？~～,，]*",
    re.IGNORECASE,
)
# an order at the very start, in nothing but these words, to work on a text; the text stands behind a line break or in quotation marks
_ORDER_ZH = (
    r"(?:请|麻烦|帮我|请帮我|麻烦你?帮我)?(?:(?:翻译|改写|润色|校对|缩写|扩写|总结|概括|概述|简化)(?:一下)?{noun}|(?:把|将){noun}(?:翻译|改写|润色|校对|缩写|扩写|总结|概括|概述|简化|译)(?:一下)?)"
    r"(?:[成为](?:简体|繁体|现代)?(?:[中英日法德俄韩西]文|[英日法德俄韩汉]语|白话文?))?"
).format(
    noun=r"(?:以下|下面|下列|这)(?:的|这)?(?:一?[段句篇封](?:话|文字|文本|文章|[中英日]文|邮件)|文字|文本|句子|段落|邮件|短文)"
)
_ORDER_EN = (
    r"(?:please )?(?:translate|rewrite|rephrase|paraphrase|proofread|polish|summari[sz]e|shorten|simplify) (?:the following|this)"
    r" (?:\w+ )?(?:text|sentences?|paragraphs?|passage|e-?mail)(?: (?:into|in) (?:\w+ )?\w+)?"
)
_GIVEN = re.compile(
    rf"(?:{_ORDER_ZH}|{_ORDER_EN})[ \t]*[:：.。]?(?:\s*\n\s*(?P<lines>.+)|\s*(?P<quoted>“[^“”]+”|「[^「」]+」|\"[^\"]+\"|```.+```))",
    re.IGNORECASE | re.DOTALL,
)
_SENTENCE_END = re.compile(r"[。！.!;；](?=[^\w\s]{0,20}+(?:\s|$)|[^\W\da-zA-Z])")
_ASKS = re.compile(
    r"[?？]|什么|哪|谁|多少|几|怎[么样]|如何|为何|是否|吗|呢|多[久长大]|何时|\b(?:what|which|who|whom|whose|when|where|why|how|whether)\b",
    re.IGNORECASE,
)
_LIBRARY = re.compile(
    r"文档|文件|资料|手册|文库|库里|知识库|报告|合同|纪要|第.{1,4}[章节条页]"
    r"|\b(?:documents?|files?|library|manuals?|reports?|contracts?|handbooks?|minutes|chapters?|sections?|pages?|according to)\b",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    r"(?:比较|对比|对照)(?:一下)?.{1,40}?(?:和|与|跟|同|及|、).{1,40}"
    r"|.{1,40}(?:和|与|跟|同).{1,40}?(?:有(?:什么|何|哪些)?(?:不同|区别|差异|差别|异同)|(?:的|之间的?)(?:不同|区别|差异|差别|异同)|哪(?:个|种|款|家|项)更|相比|谁更)"
    r"|\bcompare\b.{1,60}\b(?:and|with|to|against)\b.{1,60}"
    r"|\b(?:differences?|similarities|distinction)\b.{0,20}\bbetween\b.{1,60}\band\b.{1,60}"
    r"|\bhow (?:does|do|is|are)\b.{1,60}\bdiffer(?:ent)? from\b.{1,60}|\b[\w.-]+ (?:vs\.?|versus) [\w.-]+",
    re.IGNORECASE,
)
_EVERYTHING = re.compile(
    r"所有|全部|每(?:个|一|份|项)|哪些|列出|列举|多少[次处个]|几[次处]|是否(?:有|存在|提到)|有没有|没有提到|总共|一共|统计"
    r"|\b(?:all|every|each|list|which|how (?:many|often)|count|any|whether|ever)\b",
    re.IGNORECASE,
)
_QUESTION_END = re.compile(r"[?？]+")
_SAYS_SOMETHING = re.compile(r"\w")


class Route(Struct, frozen=True, kw_only=True):
    path: PathName
    reason: Reason


def route(question: str, *, wanted: WantedPath, has_model: bool, sourced: bool, asked: str | None = None) -> Route:
    """`question`: standing alone. `asked`: as the reader wrote it, where that isn't the same; the last question may stand before it in
    `question`, and is not asked again. `sourced`: the answer must rest on documents whatever is asked: the caller chose some, or is strict.

    Raises: InvalidArgument (field path) for a path that needs a model where there is none.
    """
    if not has_model:
        return _without_model(wanted)
    match wanted:
        case "auto":
            return _seen(question.strip(), (asked or question).strip(), sourced=sourced)
        case "direct" | "pipeline" | "agent" | "plan" | "verify":
            return Route(path=wanted, reason="forced")
        case _:
            assert_never(wanted)


def _without_model(wanted: WantedPath) -> Route:
    if wanted in NEEDS_MODEL:
        raise InvalidArgument(
            f"The path {wanted!r} needs a chat model, and none is configured. Configure one (CITEBOUND_CHAT_BASE_URL),"
            " or ask without a path: the built-in answerer quotes.",
            field="path",
        )
    return Route(path="agent", reason="forced" if wanted == "agent" else "no_model")


def _seen(question: str, asked: str, *, sourced: bool) -> Route:
    if not sourced and is_small_talk(question):
        return Route(path="direct", reason="small_talk")
    if not sourced and _is_given(question):
        return Route(path="direct", reason="given_text")
    begin = question[:LOOKED_AT]
    compared = _COMPARED.search(begin)
    if _EVERYTHING.search(begin) and not compared:
        return Route(path="agent", reason="question")  # only the loop can list, count or prove an absence
    if len(_questions(asked)) > 1:
        return Route(path="plan", reason="several_questions")
    if compared:
        return Route(path="plan", reason="comparison")
    if len(question) <= _ONE_LOOKUP and len(exact_names(question)) == 1 and len(identifiers(question)) == 1:
        return Route(path="pipeline", reason="exact_identifier")
    return Route(path="agent", reason="question")


def is_small_talk(question: str) -> bool:
    """A greeting, thanks, who are you: nothing that a document is asked about."""
    return _SMALL_TALK.fullmatch(question) is not None


def _is_given(question: str) -> bool:
    """Whether the message is an order to work on a text that it holds: no question, and no word of where the text may stand else."""
    given = _GIVEN.fullmatch(question)
    if given is None or _ASKS.search(question) or _LIBRARY.search(question):
        return False
    material = given["lines"] or given["quoted"]
    return len(material) >= GIVEN_CHARS and _SENTENCE_END.search(material) is not None


def _questions(question: str) -> list[str]:
    return (
        [part for part in _QUESTION_END.split(question) if _SAYS_SOMETHING.search(part)]
        if _ends_asking(question)
        else []
    )


def _ends_asking(question: str) -> bool:
    """Several question marks in the middle of given material are no questions to us: the message must end with one."""
    return question.endswith(("?", "？"))
