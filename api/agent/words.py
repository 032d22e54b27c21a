"""What two texts are compared by when only their words can be looked at.

Chinese by pairs of neighbouring characters, which needs no dictionary and never cuts a word differently in two texts;
every other script by its keyword terms, without stop words.
"""

import re
from functools import lru_cache
from itertools import pairwise
from operator import add

from shared.text.terms import terms

_HAN_RUN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd]+")
_FUNCTION_CHARACTERS = frozenset("的了是着著吗嗎呢吧啊与與及或也之其")  # a pair with one of them says nothing
_MEANING = re.compile(f"[^ {''.join(_FUNCTION_CHARACTERS)}]+")
# as search writes them; so a text without other signs is ASCII, which search has nothing to normalise in
_PUNCTUATION = str.maketrans("，．：；！？（）［］％＋－／＝’", ",.:;!?()[]%+-/='") | dict.fromkeys(
    map(ord, "　。、“”‘《》「」『』【】·—"), " "
)
_OTHER_WORD = re.compile(
    r"[^\s，。；：、！？“”‘’（）《》【】「」『』…—·,.;:!?()'\"*|\-\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd]"
)
_WITH_DIGIT = re.compile(r"(?<!\S)[^\s\d]*+\d\S*+")  # tried once for every word, however long one is
_SENTENCE = 600  # code points
_WORDS_A_STRANGER = 6
_CHARACTERS_A_STRANGER = 8
_LIGHT_CHARACTERS = frozenset(
    "零〇一二两三四五六七八九十百千万亿点第年月日号吨米克元人为是在有以从到自于达该共约中内上下个名其所被把将会等都也还就须应得要能可时由给向至每分项度数额值本此这那且但而则即若如因做作负"
)
_JOINING = re.compile(
    "名为|叫做|命名|位于|属于|关于|对于|由于|根据|按照|依据|因此|所以|此外|另外|其中|同时|但是|不过|然而|例如|比如|如果|以及|并且|而且|可以|能够|需要|必须|应当|应该|包括|包含"
    "|主要|分别|目前|当时|之后|之前|以后|以前|这个|这些|那些|该书|该表|文中|文档|资料|指出|提到|规定|表示|表明|说明|记载|显示|写明|称为|称之|作为|进行|具有|拥有|达到"
    "|大约|约为|左右|共有|总共|一共|至少|至多|最多|最少|超过|不足|以上|以下|以内|不得|不可|不能|没有|仍然|已经|曾经|开始|成为|用于|使用|采用|通过|认为|即可|一般|通常"
)
_STOP_WORDS = (
    "the a an of to in on at for from by with and or but is are was were be been has have had it its this that these those as not no which"
    " who what when where how than then also into such can may will would there their they he she his her we our you your do doe did"
)
_STOP = frozenset(_STOP_WORDS.split())


_LIGHT_WORDS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty"
    " forty fifty sixty seventy eighty ninety hundred thousand million billion trillion percent per cent about some around roughly approximately"
    " january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec"
    " use uses used using make makes made take takes took place hold holds held include includes included contain contains contained there"
    " called named located said says say states stated according document documents text section table total number amount amounts came come"
    " kg km cm mm mg ml tb gb mb kb kw hz khz mhz ghz rmb usd eur cny comes because since until during while within more most less least than usually ends end begins begin must should minus negative"
)


def content_terms(text: str) -> frozenset[str]:
    """The terms of `text` that carry meaning; Traditional and Simplified spellings are one."""
    return _terms_of_sentence(text) if len(text) <= _SENTENCE else _terms_of(text)


@lru_cache(maxsize=2_048)
def _terms_of_sentence(text: str) -> frozenset[str]:
    """Each is asked for by several rules, and again for every claim that cites its block."""
    return _terms_of(text)


def _terms_of(text: str) -> frozenset[str]:
    found: set[str] = set()
    runs = _HAN_RUN.findall(text)
    for run in _MEANING.findall(simplified(" ".join(runs))):
        found.update(map(add, run, run[1:]))
    if _OTHER_WORD.search(text):
        rest = _HAN_RUN.sub(" ", text) if runs else text
        if not rest.isascii():
            rest = rest.translate(_PUNCTUATION)
        found.update([term for term in terms(rest) if term not in _STOP and (len(term) > 1 or term.isdigit())])
    return frozenset(found)


def says_more(text: str, shown: str, *, terms_shown: frozenset[str]) -> bool:
    """Whether `text` has words that stand nowhere in `shown`: two neighbouring Chinese characters, or more than a word in six.

    Words that only join or introduce say nothing and are passed over. `terms_shown`: the content terms of `shown`.
    """
    latin = without_figures(_HAN_RUN.sub(" ", text))  # figures, dates, identifiers are looked up as such
    words = content_terms(latin) - _light_terms()
    if len(words - terms_shown) > len(words) // _WORDS_A_STRANGER:
        return True
    known = {*simplified("".join(_HAN_RUN.findall(shown))), *_FUNCTION_CHARACTERS, *_LIGHT_CHARACTERS}
    runs = [simplified(run) for run in _HAN_RUN.findall(_JOINING.sub(" ", text))]
    if any(not {first, second} & known for run in runs for first, second in pairwise(run)):
        return True
    strangers = [character for run in runs for character in run if character not in known]
    return len(strangers) > sum(map(len, runs)) // _CHARACTERS_A_STRANGER


def without_figures(text: str) -> str:
    """Without the words that have a digit in them."""
    return _WITH_DIGIT.sub(" ", text)


def simplified(han: str) -> str:
    """Chinese characters and blanks, each folded as search folds it alone."""
    return han if _UNCHANGED.issuperset(han) else han.translate(_SIMPLE)


class _Simple(dict[int, str]):
    """What a character is written as, filled by what is asked for."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        self[code] = simple = next(iter(terms(character)), character)
        if simple == character:
            _UNCHANGED.add(character)
        return simple


_UNCHANGED: set[str] = set()  # of those asked for: nearly all; to look there is sooner done than to write them anew
_SIMPLE = _Simple()


@lru_cache(maxsize=1)
def _light_terms() -> frozenset[str]:
    """Of words that say how, not what."""
    return content_terms(_LIGHT_WORDS)
