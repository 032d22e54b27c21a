"""How models mark what they think, do and observe in text, in English and Chinese: patterns, all possessive. Pure."""

import re

BLANK = r"[ \t\u3000\u00a0\u200b\u2060\ufeff]"
MARKUP = r"[ \t\u3000\u00a0\u200b\u2060\ufeff>*_#`\-]*+"  # possessive throughout: no reply makes a pattern quadratic
ACTION_WORDS = "action|行动|行動|动作|動作|操作"
THOUGHT_WORDS = "thought|思考|想法"
OBSERVATION_WORDS = "observation|观察结果|观察|观测|觀察|觀測"
COLON = r"[ \t\u200b]*+\d*+[ \t*_\u200b]*+[:：][ \t*_\u200b]*+"


def label(words: str) -> re.Pattern[str]:
    """`Action:`, `**行动**：`, `【行动】`, `<action>`, at the head of a line."""
    return re.compile(
        rf"(?im)^{MARKUP}(?:(?:{words}){COLON}|<(?:{words})>\s*+|[【\[](?:{words})[】\]](?:{BLANK}*+[:：])?+{BLANK}*+)"
    )


ACTION = label(ACTION_WORDS)
THOUGHT = label(THOUGHT_WORDS)
OBSERVATION = label(OBSERVATION_WORDS)
FINAL_ANSWER = label("final answer|最终答案|最终回答|最終答案|最終回答")
INPUT = re.compile(
    r"(?i)\s*+[*_#>]*+(?:action[ _]input|行动输入|行動輸入|动作输入|输入|参数|參數)[ \t*_]*+[:：][ \t*_]*+"
)
AGAIN = re.compile(rf"(?i)(?:{ACTION_WORDS}){COLON}")  # the label behind the label
INLINE = re.compile(
    r"(?i)(?:(?<![^\W_])|(?<=\\n))(?:action|行动)[ \t]*+[:：][ \t`*]*+(?=[A-Za-z_][\w.]*+[ \t]*+[\[［(（【{])"
)
PROTOCOL_FOLLOWS = re.compile(
    rf"(?i)[\s*_`]*+(?:\Z|</(?:{ACTION_WORDS})>|(?:\\n)?+(?:{OBSERVATION_WORDS}|{THOUGHT_WORDS}|{ACTION_WORDS}){COLON})"
)
IMITATED = re.compile(
    rf'(?im)^{MARKUP}(?:(?:{OBSERVATION_WORDS}){COLON})?+(?:\s{{0,4}}+```\w{{0,9}}+)?\s{{0,4}}+\{{\s{{0,4}}+"harness_status"'
)


def without_repetition(rest: str, action: str) -> str:
    """Without the same action once more, with its label or without."""
    if len(rest) < len(action):  # nothing is left of most replies; to make a pattern takes longer than to read one
        return rest
    return re.sub(rf"(?im)^{MARKUP}(?:(?:{ACTION_WORDS}){COLON})?+{re.escape(action)}", "", rest)
