"""A reply without what was never meant to be read: hidden reasoning, and the marks of chat templates. Pure."""

import re

from api.agent.arguments import without_fence

_TAGS = "think|thinking|thought|reasoning|analysis"
_TAG = re.compile(rf"(?i)<(?:{_TAGS})>|\[THINK\]|◁think▷|(?P<close></(?:{_TAGS})>|\[/THINK\]|◁/think▷)")
_CHANNEL = re.compile(r"<\|channel\|>\s*final[^<]{0,40}<\|message\|>")  # gpt-oss: what stands before is reasoning
_TURN_ENDS = r"<\|(?:im_end|endoftext|end|eot_id|end_of_text|eom_id|return|user|endofprompt)\|>|<｜end▁of▁sentence｜>|<end_of_turn>|</s>"
_TURN_BEGINS = r"<\|im_start\|>(?:assistant)?|<\|begin_of_text\|>|<\|start_header_id\|>assistant<\|end_header_id\|>|<\|(?:start|assistant)\|>(?:assistant)?|<｜Assistant｜>|<｜begin▁of▁sentence｜>|<start_of_turn>model|<s>|\[/INST\]"
_OTHERS_TURN = (
    r"<\|im_start\|>|<\|start_header_id\|>|<\|(?:start|user|system)\|>|<｜User｜>|<start_of_turn>|\[INST\]|<s>"
)
_HEAD = re.compile(rf"\A(?:\s*(?:{_TURN_BEGINS}))+\s*")
_END = re.compile(rf"(?:{_TURN_ENDS})\s*+")
_NEXT = re.compile(rf"\Z|{_OTHERS_TURN}")
_READERS = re.compile(r"<｜User｜>|<\|im_start\|>user")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def without_hidden(reply: str, *, acts_at: re.Pattern[str] | None) -> str | None:
    """The part of `reply` that speaks; None if it is reasoning that never ended.

    `acts_at`: finds where a reply says what it does: reasoning stands before that, and tags behind it are its words. None: it says so nowhere.
    """
    text = reply if reply.isascii() else _SURROGATE.sub("\ufffd", reply)
    text = text.replace("\r\n", "\n").lstrip("\ufeff\u200b")
    if not _may_hide(text):
        return without_fence(text)
    if text.lstrip().startswith(("<|channel|>", "<|start|>")) and (channel := _CHANNEL.search(text)):
        text = text[channel.end() :]
    text = _HEAD.sub("", text)
    text = text[: _turn_end(text)]
    text = _without_reasoning(text, acts_at)
    return None if text is None else without_fence(text)


def _may_hide(text: str) -> bool:
    """Whether any of those marks and tags can stand in it: all begin with one of these."""
    return "<" in text or "◁" in text or "[/" in text or "[t" in text.lower()


def _turn_end(text: str) -> int:
    """Where the model's turn ends: at marks that nothing follows, or another turn; marks within the text are its words."""
    ends = len(text)
    for mark in reversed(list(_END.finditer(text))):
        if mark.end() == ends or _NEXT.match(text, mark.end()):
            ends = mark.start()
    readers = _READERS.search(text, 0, ends)
    return readers.start() if readers else ends


def _without_reasoning(text: str, acts_at: re.Pattern[str] | None) -> str | None:
    """One pass over the tags: a model in a loop writes thousands of them."""
    tags = list(_TAG.finditer(text))
    kept, at, number = "", 0, 0
    while number < len(tags):
        tag = tags[number]
        between = text[at : tag.start()]
        if acts_at is not None and acts_at.search(between):
            break
        number += 1
        if tag["close"] is not None:  # chat templates that open the tag themselves
            kept, at = "", tag.end()
            continue
        while number < len(tags) and tags[number]["close"] is None:
            number += 1
        if number == len(tags):
            return (kept + between).strip() or None
        kept, at = kept + between, tags[number].end()
        number += 1
    return kept + text[at:]
