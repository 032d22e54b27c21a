"""What a question wants: the words its answer should show, what kind of thing, a time or a number or a reason, what is not so. Pure."""

import re

from msgspec import Struct

from api.agent.words import content_terms

_ASKING = re.compile(
    r"[自从從]?(?:什么时候|什麼時候|何时|何時|哪一?天)(?:起|开始|開始)?|哪一?[年月日天位个种些类项部家所座本次条]?|哪里|哪儿|何处|何地|什么|甚麼|什麼|哪|谁|誰|何人|多少|几[个年月日次种位名岁]?|幾[個年月日次種位名歲]?"
    r"|怎么样?|怎麼樣?|怎样|如何|为什么|為什麼|为何|為何|是否|有没有|请问|請問|吗|嗎|呢"
    r"|是什么意思|\b(?:mean|means|stand for)\b(?=\W*$)|\b(?:what|which|who|whom|whose|when|where|why|how|many|much|long|please|tell me|is there|are there|name of)\b",
    re.IGNORECASE,
)
_WANTS_TIME = re.compile(
    r"何时|何時|什么时候|什麼時候|哪一?[年天日]|几[年月号]|幾[年月號]|年份|日期|\bwhen\b|\bwhat (?:year|date|time)\b",
    re.IGNORECASE,
)
_AMOUNT = re.compile(
    r"[\d〇零一二两兩三四五六七八九十百千万萬亿億半无無没]"
    r"|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty|dozens?|hundred|thousand|\w+llion|half|twice|no|none)\b",
    re.IGNORECASE,
)
_WANTS_NUMBER = re.compile(
    r"多少|几|幾|\bhow (?:many|much|long|old|far|often|large|big|tall|high)\b|\bwhat (?:percentage|number)\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\d{3}|\d\s*[年月日]|[〇零一二三四五六七八九十][年月日]|\b(?:January|February|March|April|June|July|August|September|October|November|December)\b"
)
_NUMBER = re.compile(
    r"\d|[一二三四五六七八九十百千万亿两][个年月日次种位名岁人元米条]|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|hundred|thousand|million)\b",
    re.IGNORECASE,
)
_WANTS_REASON = re.compile(
    r"为什么|為什麼|为何|為何|原因|缘由|\bwhy\b|\bhow come\b|\breasons?\b|\bcauses?\b", re.IGNORECASE
)
_KIND = re.compile(
    r"(?:什么|甚麼|什麼|哪一?个|哪一?個|哪一?[家种種类類项項部座本次位]|何种|何種)(?:样的|樣的)?(?:类型的?|類型的?|种类的?)?([\u4e00-\u9fff]{2})"
    r"|\b(?:what|which) ((?:kind|type|sort|part|name|percentage|number)s? of \w+|\w+)(?= (?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|might|occur)\b)",
    re.IGNORECASE,
)
_VALIDITY = re.compile(
    r"生效|施行|实施|實施|执行|執行|起效|启用|啟用|起用"
    r"|\b(?:com(?:es?|ing|e)|came|enter(?:s|ed)?|goes|go|went) into (?:force|effect)\b|\btakes? effect\b|\btook effect\b|\beffective\b|\bin (?:force|effect)\b|\bvalid\b",
    re.IGNORECASE,
)
_EITHER = re.compile(
    r"是不是|能不能|可不可以|会不会|會不會|要不要|需不需要|该不该|有没有|有沒有|没有?吗|\bor not\b|不同|不过|不断|不久"
)
_ASKS_DENIED = re.compile(r"不|没有|沒有|未(?!来)|无法|\bnot\b|n't\b|n’t\b|\bnever\b|\bcannot\b", re.IGNORECASE)
_DENIES = re.compile(
    r"[不没沒未无無非禁免除勿别缺拒]|\b(?:not|no|never|none|nor|neither|without|cannot|except\w*|exclu\w+|lack\w*|fail\w*|refus\w+|prohibit\w*|forbid\w*|unable|exempt\w*|reject\w*|den(?:y|ie[sd]))\b|n['’]t\b|\b(?:un(?!der|i|til)|non|dis|in(?=eligible|valid|active|sufficient|applicable))\w{4,}",
    re.IGNORECASE,
)


class Words(Struct, frozen=True):
    """How texts are compared for one question: for who asks when something begins to hold, all words for that are one."""

    validity: bool

    def of(self, text: str) -> frozenset[str]:
        return content_terms(_VALIDITY.sub(_one_word, text) if self.validity else text)


def words_for(question: str) -> Words:
    return Words(_WANTS_TIME.search(question) is not None and _VALIDITY.search(question) is not None)


def _one_word(match: re.Match[str]) -> str:
    return " effective " if match[0].isascii() else "生效"


def without_asking(question: str) -> str:
    """A question without the words that only ask."""
    return _ASKING.sub(" ", question)


def wants_reason(question: str) -> bool:
    return _WANTS_REASON.search(question) is not None


def asked_terms(question: str) -> frozenset[str]:
    """The words of a question that its answer's surroundings should show."""
    return content_terms(without_asking(question))


def kind_terms(question: str) -> frozenset[str]:
    """What kind of thing is asked for, which an answer needn't say: "which country", 什么职位."""
    return content_terms(" ".join(next(filter(None, match.groups())) for match in _KIND.finditer(question)))


def asks_denied(question: str) -> bool:
    """Whether it asks what is not so: "which staff are not entitled"."""
    return _ASKS_DENIED.search(_EITHER.sub(" ", question)) is not None


def denies_as_asked(question: str, sentence: str) -> bool:
    """Who asks what is not so gets no sentence that denies nothing."""
    return not asks_denied(question) or _DENIES.search(sentence) is not None


def lacks_number(question: str, sentence: str) -> bool:
    """Whether the question wants a number and the sentence has none."""
    return _WANTS_NUMBER.search(question) is not None and _AMOUNT.search(sentence) is None


def is_of_wanted_kind(question: str, sentence: str) -> bool:
    if _WANTS_TIME.search(question):
        return _TIME.search(sentence) is not None
    return _WANTS_NUMBER.search(question) is not None and _NUMBER.search(sentence) is not None
