"""Which language a text is in, from its scripts; good enough to choose a heading, a prompt or a mean vector by."""

import re

SAMPLE = 20_000  # code points looked at

# Characters per word, roughly, so that a Chinese sentence full of product names stays Chinese.
_SCRIPTS = {
    "han": (re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd]+"), 1.5),
    "kana": (re.compile(r"[\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f]+"), 2.0),
    "ko": (re.compile(r"[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]+"), 2.5),
    "latin": (re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]+"), 5.0),
    "cyrillic": (re.compile(r"[\u0400-\u052f]+"), 5.5),
    "ar": (re.compile(r"[\u0620-\u064a\u0671-\u06d3\u0750-\u077f]+"), 4.5),
    "he": (re.compile(r"[\u05d0-\u05ea]+"), 4.5),
    "el": (re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]+"), 5.0),
    "hi": (re.compile(r"[\u0900-\u097f]+"), 4.0),
    "th": (re.compile(r"[\u0e01-\u0e5b]+"), 4.0),
}
_RARE = re.compile(
    r"[\u0370-\u1dff\u1f00-\u1fff\u3041-\u31ff\uac00-\ud7a3\uff66-\uff9f]"
)  # what a text of Han and Latin has none of
_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]+")
# Words that English cannot do without and its neighbours do not have.
_ENGLISH_WORDS = (
    "the and of to that this these those with from for is are was were be been has have had not but by at as it its which what who whose"
    " whom how why when where does did do can could will would should may must there their they you your our we he she his her if than"
    " then or an into about between after before during over under such only also more most other any each how's what's i'm it's"
)
_OTHER_WORDS = (
    "der die das und ist nicht ein eine den dem des mit auf zu von im für sich le la les des un une est et dans que qui pour sur pas au aux"
    " el los las del y en por con para una es se su al lo il di che per della dei gli sono non nel o os da do uma em com não na no"
    " het een van de en dat op te voor zijn med och att som det av till är på og ikke jeg er ve bir bu için nie jest się na do że"
)
_ENGLISH = frozenset(_ENGLISH_WORDS.split())
_NOT_ENGLISH = frozenset(_OTHER_WORDS.split())
_JAPANESE_KANA = 0.1  # share of kana among Han and kana from which Han characters are kanji
_ENGLISH_SHARE = 0.12  # share of the words above; running English has 0.35 to 0.5, its headings less


def detect_lang(text: str) -> str:
    """ISO 639-1 code, or "und": no letters, a mixture, or Latin letters that do not look like English."""
    sample = text[:SAMPLE]
    common = ("latin",) if sample.isascii() else ("latin", "han")
    looked_for = _SCRIPTS if _RARE.search(sample) else common
    weights = {
        name: sum(map(len, pattern.findall(sample))) / per_word if name in looked_for else 0.0
        for name, (pattern, per_word) in _SCRIPTS.items()
    }
    east = weights.pop("han"), weights.pop("kana")
    weights["east"] = sum(east)
    total = sum(weights.values())
    script = max(weights, key=lambda name: weights[name])
    if total == 0 or weights[script] < 0.5 * total:
        return "und"
    match script:
        case "east":
            han, kana = east[0] * 1.5, east[1] * 2.0
            return "ja" if kana >= _JAPANESE_KANA * (han + kana) else "zh"
        case "latin":
            return _latin(sample)
        case "cyrillic":
            return "uk" if re.search(r"[іїєґІЇЄҐ]", sample) else "ru"
        case _:
            return script


def _latin(sample: str) -> str:
    words = [word.lower() for word in _WORD.findall(sample)]
    english = sum(word in _ENGLISH for word in words)
    foreign = sum(word in _NOT_ENGLISH for word in words)
    looks_english = english >= _ENGLISH_SHARE * len(words) and english > foreign
    return "en" if looks_english else "und"
