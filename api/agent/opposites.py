"""The words that make a text say the contrary, or less: negations, opposites, hedges. Chinese and English."""

import re

from api.agent.sought import Sought

_BEYOND = "超过|多于|高于|大于|少于|低于|小于"
_MODAL = "(?:得|能|可|应|会|宜)?"
NEGATION = Sought(
    rf"不(?!仅|但|只|过|同|断|久|管|论|锈|良|便|足|适(?!用|合|宜|应|当|配)|安|幸|到|等|{_MODAL}(?:{_BEYOND}))(?:得|可以|可|能够|能|准|许|必|需要|须)?|没有?|未(?!来|必|婚)|无[需须]|无(?!论|线|锡|机|锈|人|数|疑|限|形)"
    r"|非(?!常|洲|法|金属|营利)|勿|禁止|禁用|严禁|拒绝|否决|驳回|缺乏|除外"
    r"|\b(?:(?:not|cannot|never)(?! only\b)(?!(?: to| be)? (?:more|less|fewer|later|above|below|over|under|exceed\w*)\b)"
    r"|no(?! (?:more|less|fewer|later) than\b)(?! doubt)(?!\.)|none|nothing|nobody|neither|nor|without|unable"
    r"|refuse[sd]?|reject(?:s|ed)?|prohibit(?:s|ed)?|bann?(?:s|ed)?|forb[ia]d(?:s|den)?|den(?:y|ies|ied)|excludes?|excluded|lacks?)\b"
    r"|(?:n't|n’t)\b(?! exceed)"
)
# words that exclude one another: two sides, or as many as an axis has
_OPPOSITES = (
    (  # upper and lower bound
        rf"至多|最多|最高|最大|最长|不{_MODAL}(?:超过|多于|高于|大于)|以内|以下|(?<!不)(?<!不[得能可应会宜])(?:低于|少于|小于)|不到|不足"
        r"|\bat (?:the )?most\b|\bno(?:t)? (?:more|later) than\b|\b(?:not|never|cannot)(?: to| be)? (?:exceed\w*|more than|above|over)\b|n['’]t exceed\b"
        r"|(?<!no )(?<!not )\b(?:less|fewer) than\b|\bbelow\b|\bup to\b|\bmaxim(?:um|al)\b|\bhighest\b|\blargest\b",
        rf"至少|最少|最低|最小|最短|不{_MODAL}(?:少于|低于|小于)|以上|超过|多于|高于|大于"
        r"|\bat (?:the )?least\b|\bno(?:t)? (?:less|fewer) than\b|\bmore than\b|\babove\b|\bexceed(?:s|ed|ing)?\b|\bminim(?:um|al)\b|\blowest\b|\bsmallest\b",
    ),
    (
        r"上涨|上升|增长|增加|提高|提升|上调|扩大|升至|盈利|\b(?:rose|rise[ns]?|rising|raise[sd]?|increas\w*|grew|grow[ns]?|climb\w*|gain\w*|doubled)\b",
        r"下跌|下降|减少|降低|下调|缩小|降至|下滑|亏损|\b(?:fell|fall[s]?|fallen|falling|lowered|declin\w*|decreas\w*|drop\w*|reduc\w*|shr[aiu]nk\w*|halved)\b",
    ),
    (
        r"打开|开启|启用|启动|开放|\bopen(?:s|ed)?\b|\benabled?\b|\bstarts?\b|\bswitch(?:es|ed)? on\b",
        r"关闭|停用|停机|停止|\bclosed?s?\b|\bshut\b|\bdisabled?\b|\bstop(?:s|ped)?\b|\bswitch(?:es|ed)? off\b",
    ),
    (
        r"(?:之|以)?前(?!提|往|面|期|台|言|者|后|景|述)|\bbefore\b|\bprior to\b",
        r"(?:之|以)?后(?!续|台|勤|面|果|者|来|期|备)|\bafter\b|\bfollowing\b",
    ),
    (r"所有|全部|一切|均|\b(?:all|always)\b", r"部分|有些|有的|一些|某些|少数|\b(?:some|several|few|sometimes|partly)\b"),
    (r"大多数|大部分|过半|(?<!at )(?<!the )\bmost (?:of\b|[a-z]+s\b)|\bmajority\b", r"少数|少部分|\bminority\b"),
    (r"必须|强制|\b(?:must|mandatory|obligatory|required)\b", r"自愿|可选|\b(?:optional|voluntary|voluntarily)\b"),
    (r"免费|\bfree of charge\b|\bfor free\b", r"收费|付费|\bcharged?\b"),
    (r"成功|\bsucce(?:ss\w*|ed\w*)\b", r"失败|\bfail\w*\b"),
    (r"支持|赞成|\bsupport(?:s|ed)?\b", r"反对|\boppos\w+\b"),
    (r"室内|内部|国内|\bindoors?\b|\binternal(?:ly)?\b", r"室外|外部|国外|\boutdoors?\b|\bexternal(?:ly)?\b"),
    (r"左[侧边手]|\bleft\b", r"右[侧边手]|\bright\b"),
    (r"上半|\bupper\b|顶部|\btop\b", r"下半|\blower\b|底部|\bbottom\b"),
    (r"明年|下个?月|下周|即将|将于|\bwill\b|\bnext (?:year|month|week)\b", r"去年|上个?月|上周|\blast (?:year|month|week)\b"),
    (r"(?<!应)当月|本月|同月", r"次月|翌月|下个?月", r"上个?月|前一个?月"),
    (r"(?<!应)当年|同年", r"次年|翌年|下一年", r"上年|前一年"),
    (r"(?<!应)当[日天]|同[日天]", r"次日|翌日|第二天", r"前一[日天]"),
    (r"上午|早上|早晨|清晨|凌晨", r"下午|傍晚|晚上"),
    # of one side each: what a negation is the contrary of, so that "excluded" and "included", 禁止 and 允许 speak of the same
    (r"包括|包含|涵盖|\binclud(?:es?|ed)\b|\bcover(?:s|ed)\b",),
    (r"可以|能够|允许|准许|需要|\b(?:permit|permits|permitted|allow|allows|allowed)\b",),
    (
        r"每[天日]|\b(?:a|per|every|each) day\b|\bdaily\b",
        r"每周|每星期|\b(?:a|per|every|each) week\b|\bweekly\b",
        r"每个?月|\b(?:a|per|every|each) month\b|\bmonthly\b",
        r"每个?季度?|\b(?:a|per|every|each) quarter\b|\bquarterly\b",
        r"每年|\b(?:a|per|every|each) year\b|\b(?:yearly|annually)\b",
        r"每小时|\b(?:an|per|every|each) hour\b|\bhourly\b",
        r"每[二两三四五六七八九十\d]+个?[天日周月年]|\bevery (?:two|three|four|five|six|\d+) \w+s\b",
    ),
    (r"\b(?:deep|depth)\b", r"\b(?:wide|width|broad)\b", r"\blong\b|\blength\b", r"\b(?:high|tall|height)\b", r"\bthick(?:ness)?\b"),
    (r"深度|米深", r"宽度|米宽", r"长度|米长", r"高度|米高", r"厚度|米厚"),
    (r"东[部侧面边]|\beast(?:ern)?\b", r"西[部侧面边]|\bwest(?:ern)?\b", r"南[部侧面边]|\bsouth(?:ern)?\b", r"北[部侧面边]|\bnorth(?:ern)?\b"),
)  # fmt: skip
AXES = tuple(tuple(map(Sought, sides)) for sides in _OPPOSITES)
# said of less than the sentence says: what the text has of these the sentence must have too, and the other way with "only"
HEDGE = Sought(
    r"可能|或许|也许|据称|预计|计划|拟(?=于|在|建|定)|很少|极少|几乎|慎用|一般|通常|\b(?:might|perhaps|possibly|probably|reportedly|allegedly|rarely|seldom|hardly|barely|scarcely|usually|planned)\b"
)
ONLY = re.compile(r"只[有能限]|仅[有限供]?|唯一|\bonly\b|\bsole(?:ly)?\b|\bexclusively\b", re.IGNORECASE)
