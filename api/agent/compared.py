"""What a sentence only compares with: "lower than the 3.1% of the second quarter" says nothing of which quarter it is about. Pure."""

import re

_ZH = r"(?:[12]\d{3}年?|第[一二三四1-4]季度?|[一二三四1-4]季度|[上下]半年|\d{1,2}月份?|第[〇零一二两三四五六七八九十百\d]{1,4}[章节条届款期版卷部编课篇])"
_IN_CLAUSE = r"[^,。;!?\n]"
# each step taken in one way only: where what must follow isn't there, 22 years in a row could be read in four million ways
_RUN_ZH = rf"(?>{_ZH})(?>{_IN_CLAUSE}{{0,2}}?{_ZH}){{0,20}}"
_EN = (
    r"(?:\b[12]\d{3}\b|\b(?:first|second|third|fourth|1st|2nd|3rd|4th) (?:quarter|half)\b|\b[QH][1-4]\b"
    r"|\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\b"
    r"|\b(?:chapter|section|article|volume|phase|level|version|edition) \d+(?:\.\d+)*"
    r"|\b(?:second|third|fourth|fifth|\d{1,2}(?:st|nd|rd|th)) (?:edition|version|phase)\b)"
)
_RUN_EN = rf"(?:[^,.;\n]|[.,](?=\d)){{0,40}}?{_EN}(?:[^,.;\n]{{0,6}}?{_EN})*"
_STANDARD = re.compile(
    rf"(?:相比于|相较于|相对于|较之|对比|相比|低于|高于|少于|多于|不及|不如|优于|超过|(?<![占之])比(?![例率重赛值价分较])|(?<!比)较(?![高低大小多少好长短])){_IN_CLAUSE}{{0,10}}?{_RUN_ZH}"
    rf"|[与和同跟]{_IN_CLAUSE}{{0,10}}?{_RUN_ZH}(?={_IN_CLAUSE}{{0,14}}(?:相比|比较|相较|对比|持平|相当|一致|相同|不同|接近))"
    rf"|[从由自]{_IN_CLAUSE}{{0,8}}?{_RUN_ZH}(?={_IN_CLAUSE}{{0,16}}(?:降|升|增|减|跌|涨|提高|回落|扩大|缩|改){_IN_CLAUSE}{{0,3}}[到至为成])"
    rf"|(?<=,)而{_IN_CLAUSE}{{0,2}}?{_RUN_ZH}"
    rf"|\([^()]{{0,8}}?(?:{_ZH}|{_EN})[^()]{{0,14}}?[\d一二两三四五六七八九十百千][^()]{{0,8}}?(?:[%元万亿]|\.\d)[^()]{{0,8}}\)"
    r"|\b(?:than|compared (?:with|to)|compares? (?:with|to)|versus|vs\.?|against|relative to|as opposed to|unlike|whereas|while in"
    r"|(?:up|down|rose|fell|grew|risen|fallen|increased?|decreased?|dropped|declined|improved|climbed) from"
    rf"|(?:from|after) [^\s;]*\d[^\s;]* (?:\w+ ){{0,3}}?(?:in|for|of|during))\b{_RUN_EN}",
    re.IGNORECASE,
)


def without_standards(plain: str) -> str:
    """A plain text without the times and parts that it compares with."""
    return _STANDARD.sub(" ", plain)
