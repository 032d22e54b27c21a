"""Whether a sentence has anything of the kind that a question asks for. Pure.

A sentence about the same matter that has none of it doesn't answer. Only what can be seen without understanding it is judged, and
leniently: whatever may be of the kind is. A name that the question says itself is none that it asks for.
"""

import re
from calendar import day_abbr, day_name, month_abbr, month_name
from collections.abc import Set

from api.agent.facts import facts
from api.agent.kinds import CURRENCIES, Kind, plain_simplified
from api.agent.units import likeness
from api.agent.words import content_terms
from shared.text.lang import detect_lang
from shared.text.tagged import BODY, PERSON, PLACE, PROPER, tagged

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_TIME_UNITS = frozenset({"ms", "s", "min", "h", "day", "week", "month", "year"})
_GIVES_REASON = re.compile(
    r"因[为此而]|由于|原因|缘由|理由|归因|归咎|归功|所致|导致|致使|[得受]益于|有赖于|归结"
    r"|\b(?:because|due to|owing to|thanks to|caus(?:e|es|ed|ing)|reasons?|results? (?:of|from)|resulted|resulting|attribut\w+|stem(?:s|med)? from|explain\w*)\b",
    re.IGNORECASE,
)
_MAY_GIVE_REASON = re.compile(
    rf"{_GIVES_REASON.pattern}|(?<!基)因|(?<!事)故(?![障事意乡宫])|由此|所以|使得|促使|迫使|驱使|使(?![用命者馆节])|令(?=[^牌])|为了|鉴于|出于|基于|考虑|引起|造成|引发|影响|受(?:制|限|到)|受.{{1,12}}的?(?:影响|限制)"
    r"|源[于自]|取决|从而|目的|旨在|于是|[便就](?=[为将把])|以.{1,30}而|以(?:便|免|防|利|求|期|确保|保证|避免|减少|提高)|避免|防止|否则|不愿|因素"
    r"|\b(?:since|as(?! (?:well|a|an|the|of|at)\b)|therefore|thus|hence|consequen\w+|so|led|leads?|leading|accounts? for|for \w+ing|by \w+ing|avoid\w*|prevent\w*|ensur\w+|protect\w*|enabl\w+|allow\w*|help\w*"
    r"|purpose|intend\w*|aim\w*|given|after|following|affect\w*|influenc\w*|trigger\w*|otherwise|driven|important|importance|need(?:s|ed)? to)\b"
    r"|\b(?:in order )?to (?!the\b|an?\b|its?\b|their\b|his\b|her\b|our\b|this\b|that\b|these\b|those\b|all\b|each\b|every\b|any\b|which\b|whom\b|next\b|last\b)[a-z]{2,}",
    re.IGNORECASE,
)
_MONTH_OR_DAY = "|".join([*month_name[1:], *day_name, *month_abbr[1:], *day_abbr]) + "|Sept"
_SPAN = r"(?:moments?|seconds?|minutes?|hours?|days?|nights?|weeks?|weekends?|months?|quarters?|years?|decades?|centur(?:y|ies)|seasons?|terms?)"
_LASTS = re.compile(rf"\bfor (?:\w+ ){{1,3}}{_SPAN}\b|每[晚夜天日周月年]", re.IGNORECASE)
_MOMENT = re.compile(
    r"\d\s*[年月日号点时]|[〇零一二三四五六七八九十元]\s*[年月日号点时]|\d{4}|世纪|年代|季度|[上下][半个]?[年月周]|星期|周[一二三四五六日末]|[今明去前昨次翌同当][年月日天]|时候?(?![间效])|[之以]?[前后]|期[间满末]|届满|当[天日]|立即|随时|起(?![草诉])|[之以]内"
    rf"|\b(?:{_MONTH_OR_DAY})\b|\b\d{{4}}|\b\d{{1,2}}(?:st|nd|rd|th|:\d\d| ?[ap]\.?m\b)|\b(?:century|centuries|spring|summer|autumn|winter|annual\w*|daily|weekly|monthly|yearly|noon|midnight|night|morning|evening|easter|christmas|today|yesterday|tomorrow)\b"
    rf"|\b(?:in|within|of|every|each|next|last|previous|following|first|early|late|mid|this|that|same|per|a|the) (?:[\w'’]+ ){{0,3}}{_SPAN}\b|\b{_SPAN} (?:later|ago|earlier|before|after|in advance|from)\b"
    r"|\b(?:after|before|during|when|whenever|while|until|till|since|upon|once|as soon as|immediately|at the (?:end|beginning|start|time)|in advance|later|ago|by the time|prior|following)\b",
    re.IGNORECASE,
)
_ONGOING = re.compile(
    r"直到|至今|以来|永久|长期|终身|一直|年|月|日|天|周|小时|分钟|秒|\b(?:until|since|from|permanent\w*|indefinite\w*|forever|always|life|long|decades?|centur\w+|years?|months?|weeks?|days?|hours?|minutes?|seconds?|nights?|millennia|kilomet\w+|met(?:er|re)s?|miles?|km|feet)\b",
    re.IGNORECASE,
)
_AMOUNT = re.compile(
    r"[\d〇零一二两三四五六七八九十百千万亿半无没双数几多首]|[全所]有|全部|全体|免费"
    r"|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty|dozens?|hundreds?|thousands?|\w+llions?|half|third|quarter|twice|thrice|no|none|nobody|free|all|many|most|several|few|both|pairs?|couple|majority|double|triple)\b",
    re.IGNORECASE,
)
_SOMEBODY_ZH = re.compile(
    r"(?:人|员|长|者|师|家|方|部|处|科|组|办|局|院|会|商|户|厂|队|室|中心|所|行|社|店|经理|主任|主管|总监|公司|集团|团队|部门|教授|助理|秘书|领导|双方|单位|机构|代表|主席|总统|总理|国王|皇帝|政府|军|王|帝|皇后|王后|妃|公|侯|伯|子|女|父|母|兄|弟|妻|夫|[一二三四五六七八九]部)$"
)
_PRONOUNS_ZH = ["他", "她", "他们", "她们", "我", "我们", "你", "你们", "您", "自己", "本人"]
_TAKEN_FOR_NAMES = ["之日起", "城市", "加密", "日志", "周转", "地区", "地方"]
_PLACE_ZH = re.compile(
    r"(?:[省市县区州国镇乡村路街号楼层室厂库园港岛山河江湖海洲洋站院馆店场厅城寺宫桥门口台网]|中心|大厦|机场|平台|系统|附近|境内|地区|部|处|边|侧|面|内|外|中|上|下|里)$"
)
_STANDS_ZH = re.compile(r"[在于至到往从向经]|通过|来自|前往|送|寄|交")
_STANDS_EN = re.compile(
    r"\b(?:in|at|on|near|from|to|inside|outside|into|onto|above|below|under|beneath|beside|behind|between|among|around|across|along|through|throughout|within|off|towards?|opposite|over|north\w*|south\w*|east\w*|west\w*|here|there|everywhere|nowhere|home|abroad|worldwide|via)\b",
    re.IGNORECASE,
)
_LATIN_NAME = re.compile(r"(?<![A-Za-z])[A-Z][A-Za-z]+")
_CAPITALISED = re.compile(r"(?<![\w.-])(?:[A-Z][\w’'.-]*[\w]|[a-z]{1,3}[A-Z]\w+|[A-Z])")
_BEGINS = re.compile(r"(?:\A|[.!?:;|\n\"“(•·*>#+)-])[\s\d.*\"“(]{0,4}\Z")
_NO_NAME = frozenset(name.lower() for name in (*month_name[1:], *day_name, "I"))
_NO_ONE_WORDS = (
    "number numbers other others over under after water order orders per paper power summer winter river never ever however whether rather"
    " together quarter further corner centre center layer floor door color error motor sector factor major minor prior interior exterior"
    " former latter later letter another either neither different important current present recent percent event events moment treatment"
    " equipment development movement agreement document documents parent patent content consistent significant relevant constant instant"
    " plant plants component components equivalent element elements environment management payment employment requirement requirements"
    " statement improvement amount continent extent accident accidents incident incidents talent three free degree degrees fee fees agree"
    " see trees tree coffee been seen"
)
_NO_ONE = frozenset(_NO_ONE_WORDS.split())  # end as those do who do something
_SOMEBODY_EN = re.compile(
    r"\b(?:\w{3,}(?:ers?|ors?|ists?|ians?|ees?|men|man|woman|women|ants?|ents?|eurs?)|he|she|they|him|her|them|his|we|us|our|you|your|i|my|people|persons?|staff|head|chief|chair|king|queen|prince\w*|board|council"
    r"|team|group|department|division|office|compan(?:y|ies)|firms?|supplier|party|parties|authorit\w+|agenc\w+|universit\w+|bank|police|army|government|court|church|committee|family|families|children|child|son|daughter|wife|husband"
    r"|everyone|everybody|anyone|anybody|nobody|someone|somebody|those|all|public|crew|union|members?|nurses?|pupils?|monks?|jews|students?|patients?|boys?|girls?|infants?|adults?|guests?|hosts?|nobles?|tribes?|lords?|desk|service|unit|experts?|clerks?|hr)\b",
    re.IGNORECASE,
)


def shows(kind: Kind, question: str, text: str, *, headings: str) -> bool:
    """`text`: a sentence. `headings`: under which it stands."""
    plain = plain_simplified(text)
    match kind.name:
        case "reason":
            return _MAY_GIVE_REASON.search(plain) is not None
        case "who":
            return _names_somebody(question, plain)
        case "place":
            return (
                _names_place(question, plain)
                or (_STANDS_ZH if _HAN.search(plain) else _STANDS_EN).search(plain) is not None
            )
        case "named_place":
            return _names_place(question, plain)
        case "time":
            return _MOMENT.search(_LASTS.sub(" ", plain)) is not None
        case "duration":
            return _ONGOING.search(plain) is not None
        case "number":
            return _AMOUNT.search(plain) is not None
        case "counted":
            said = content_terms(f"{plain}\n{plain_simplified(headings)}")
            return _AMOUNT.search(plain) is not None and not content_terms(kind.written).isdisjoint(said)
        case "money":
            return any(one.unit in CURRENCIES for one in facts(text).quantities)
        case "unit":
            return _has_unit(kind.unit, text)


def gives_reason(text: str) -> bool:
    """Whether it says outright that it is one, and so may be that of its neighbour."""
    return _GIVES_REASON.search(plain_simplified(text)) is not None


def _has_unit(asked: str, text: str) -> bool:
    """An amount of money in that currency, or in one of which it may be short for; any other measure for a measure."""
    units = {one.unit for one in facts(text).quantities if one.unit is not None}
    if asked in CURRENCIES:
        lang = detect_lang(text)
        return any(one in CURRENCIES and likeness(asked, one, lang=lang, units=units) != "other" for one in units)
    return any((one in _TIME_UNITS) == (asked in _TIME_UNITS) for one in units - CURRENCIES - {"%"})


def _names_somebody(question: str, plain: str) -> bool:
    asked = plain_simplified(question)
    if _HAN.search(plain):
        return _has_latin_name(asked, plain) or any(
            tag.startswith((PERSON, BODY, PROPER))
            or word in _PRONOUNS_ZH
            or (tag[0] in "nxjm" and _SOMEBODY_ZH.search(word))
            for word, tag in _new_words(asked, plain)
        )
    terms = content_terms(asked)
    return _has_name(terms, plain) or any(
        word.lower() not in _NO_ONE and (not content_terms(word) or not content_terms(word) <= terms)
        for word in _SOMEBODY_EN.findall(plain)
    )


def _names_place(question: str, plain: str) -> bool:
    asked = plain_simplified(question)
    if not _HAN.search(plain):
        return _has_name(content_terms(asked), plain)
    return _has_latin_name(asked, plain) or any(
        tag.startswith((PLACE, PERSON, BODY, PROPER)) or (tag[0] in "nx" and _PLACE_ZH.search(word))
        for word, tag in _new_words(asked, plain)
    )


def _new_words(asked: str, plain: str) -> list[tuple[str, str]]:
    """The Chinese words that the question doesn't have."""
    found = tagged(plain)
    return [
        (word, tag)
        for word, tag in found
        if word not in asked and word not in _TAKEN_FOR_NAMES and (len(word) > 1 or word in _PRONOUNS_ZH)
    ]


def _has_latin_name(asked: str, plain: str) -> bool:
    return any(match[0] not in asked for match in _LATIN_NAME.finditer(plain))


def _has_name(asked: Set[str], plain: str) -> bool:
    """A capitalised word inside a sentence, or two at its beginning, that the question doesn't have."""
    for match in _CAPITALISED.finditer(plain):
        if match[0].lower() in _NO_NAME or content_terms(match[0]) <= asked:
            continue
        begins = _BEGINS.search(plain[max(match.start() - 20, 0) : match.start()])
        if begins is None or _CAPITALISED.match(plain, match.end() + 1):
            return True
    return False
