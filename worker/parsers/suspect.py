"""Text that talks to a model instead of a reader. Modest: clear phrases and characters nobody sees; a flag, never a removal of words.

Source: facts/protocols.md 8.4.
"""

import re

_PHRASES = re.compile(
    r"(?:ignore|disregard|forget)\s+(?:all\s+|any\s+)?(?:of\s+)?(?:the\s+|your\s+|these\s+|those\s+)?(?:previous|prior|above|earlier|preceding|foregoing)\s+"
    r"(?:instructions?|prompts?|messages?|rules?|directions?|context)"
    r"|(?:you\s+are\s+now|from\s+now\s+on\s+you\s+are|act\s+as)\s+(?:a\s+|an\s+|the\s+)?(?:dan\b|jailbroken|unrestricted|developer\s+mode)"
    r"|(?:reveal|print|repeat|output)\s+(?:me\s+)?(?:your|the)\s+(?:system\s+prompt|hidden\s+instructions?|initial\s+instructions?)"
    r"|(?:new|updated)\s+system\s+(?:prompt|instructions?)\s*:"
    r"|(?:attention|note|instructions?)\s+(?:to|for)\s+(?:the\s+)?(?:ai|llm|language\s+model|assistant)s?\b"
    r"|<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id)\|>|\[/?INST\]|<</?SYS>>"
    r"|(?:忽略|无视|無視|忘记|忘記|不要理会|请忽视|忽视|忽視)(?:掉)?(?:你)?(?:此前|之前|以上|上述|前面|先前|以前|上面|所有|全部|一切)(?:的)?(?:所有|全部|一切|任何)?(?:的)?"
    r"(?:指令|指示|规则|規則|提示词|提示詞|提示|要求|命令|说明|說明|设定|設定)"
    r"|(?:从现在起|從現在起|从现在开始|從現在開始)[，,]?你(?:是|将|將|要|必须|必須)"
    r"|(?:系统|系統)(?:指令|提示词|提示詞|提示)[：:]"
    r"|(?:输出|输出你的|告诉我你的|泄露|透露)(?:你的)?(?:系统提示|系統提示|系统提示词|初始指令)"
    r"|(?:致|给|給)(?:AI|人工智能|大模型|语言模型|語言模型|助手)(?:的)?(?:指令|提示|说明|說明)",
    re.IGNORECASE,
)
# A message in characters that show nothing: tags outside the flags of regions, or a run of zero widths and selectors.
UNSEEN_MESSAGE = re.compile(
    r"(?<!\U0001f3f4)(?<![\U000e0000-\U000e007f])[\U000e0000-\U000e007f]+|[\u200b-\u200d\u2060-\u2064\ufe00-\ufe0f]{6,}"
)
_OVERRIDES = re.compile(r"[\u202d\u202e]")


def talks_to_a_model(text: str) -> bool:
    return _PHRASES.search(text) is not None


def hides_text(text: str) -> bool:
    """`text`: not cleaned yet."""
    return UNSEEN_MESSAGE.search(text) is not None or _OVERRIDES.search(text) is not None
