"""A model's text as a reader may render it: no image loads by itself, no HTML does anything. Pure.

Whatever shows an answer as Markdown would fetch the address of an image without a click; a document that talks a model into
writing one could send what was read to a stranger. So `![` becomes `！[`, and `<` before a tag becomes `＜`; links stay, they
need a click. Code stays as it is where every reader of Markdown sees code.
Source: spec/08 "Security".
"""

import re

_LINES = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")  # with their ends
_IMAGE = re.compile(r"!(?=\[)")
_LINKED = re.compile(r"\][(\[:]")  # without one of these no image has an address: vec![0; 8] is code
_TAG = re.compile(r"<(?=[A-Za-z/!?])(?!https?://[^\s<>]*>)")
# only at the line's start: there a fence is one, whatever stands before it
_FENCE = re.compile(r"(`{3,})[^`\n]*|(~{3,}).*")
_CODE_SPAN = re.compile(r"`[^`|\r\n\\]+`")


def harmless(text: str) -> str:
    """`text` with what would act when it is rendered spelled so that it doesn't; everything else is untouched."""
    lines = _LINES.findall(text)
    fenced = _fenced(lines)
    spans = _spans_are_plain([line for line, code in zip(lines, fenced, strict=True) if not code])
    linked = _LINKED.search(text) is not None
    return "".join(
        line if code else _spelled(line, spans=spans, linked=linked) for line, code in zip(lines, fenced, strict=True)
    )


def _fenced(lines: list[str]) -> list[bool]:
    """Which lines stand inside a fence, the fences themselves not among them.

    One with a | in it is the head of a table to some readers: what is inside a fence from there on, they disagree about.
    """
    inside: list[bool] = []
    fence = ""
    for line in lines:
        found, bare = _FENCE.fullmatch(line.rstrip("\r\n")), line.rstrip()
        closes = bool(fence) and bare == fence[0] * len(bare) and len(bare) >= len(fence)
        inside.append(bool(fence) and not closes)
        if closes:
            fence = ""
        elif not fence and found is not None:
            if "|" in line:
                return inside + [False] * (len(lines) - len(inside))
            fence = found[1] or found[2]
    return inside


def _spans_are_plain(lines: list[str]) -> bool:
    """Whether `…` within one line is code to every reader: single backticks alone, paired in their line, none escaped."""
    return all("``" not in line and "\\`" not in line and line.count("`") % 2 == 0 for line in lines)


def _spelled(line: str, *, spans: bool, linked: bool) -> str:
    pieces: list[str] = []
    at = 0
    for code in _CODE_SPAN.finditer(line) if spans else ():
        pieces += [_plain(line[at : code.start()], linked=linked), code[0]]
        at = code.end()
    return "".join([*pieces, _plain(line[at:], linked=linked)])


def _plain(piece: str, *, linked: bool) -> str:
    return _TAG.sub("＜", _IMAGE.sub("！", piece) if linked else piece)
