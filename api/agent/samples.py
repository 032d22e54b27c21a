"""Values to try every template of a bundle with: each code and each branch that the program can ask a text for.

A bundle that renders them all, in both languages, needs nothing that a run does not give; the golden texts are made of them.
"""

from typing import get_args

from api.agent.brakes import Brake
from api.agent.budget import LimitCode
from api.agent.decisions import TOO_SHORT, Problem
from api.agent.kinds import KindName
from api.agent.native import ENDINGS
from api.agent.observation import quoted
from api.agent.paths.planning import Fault
from api.agent.prompting import Exchange
from shared.errors import UpstreamCode
from shared.prompt_language import wanted
from shared.prompts import Bundle, Lang
from shared.types.runs import ProtocolName

Values = dict[str, object]

_PROTOCOLS: tuple[ProtocolName, ...] = get_args(ProtocolName)
_LIMITS: tuple[str, ...] = get_args(LimitCode)
_BRAKES: tuple[str, ...] = get_args(Brake)
_NUMBERS: Values = {"tokens": 1200, "limit": 1000, "room": 300}
_TOOL: Values = {"name": "search_blocks", "description": "…", "schema": "{}"}
_COMPARED = quoted("年假和病假哪个更长？")
_MISSING = {"name": "a.xls", "code": "unsupported"}
_UNSEARCHABLE = "It was built with another model. Configure that one or import again with mode reindex."
_EXCHANGE = Exchange(question="病假呢？", answer="需提交医院证明。[1]")

SAMPLES: dict[str, tuple[Values, ...]] = {
    "system": tuple(
        {
            "max_tool_calls": 8,
            "snapshot_id": "snap_1",
            "complete": complete,
            "missing": missing,
            "scoped": scoped,
            "tools": [_TOOL],
            "protocol": protocol,
        }
        for protocol in _PROTOCOLS
        for complete, missing, scoped in ((True, 0, False), (False, 2, True), (False, 0, False))
    ),
    "task": (
        {"question": "年假有几天？", "read_as": None, "history": [], "summary": [], "missing": []},
        {
            "question": "那病假呢？",
            "read_as": quoted("病假有几天？"),
            "history": [_EXCHANGE],
            "summary": ["年假有几天？ → 五天。"],
            "missing": ['"手册/损坏.pdf"'],
        },
    ),
    "finalize": tuple(
        {"closed": closed, "blocks": blocks, "protocol": protocol}
        for protocol in _PROTOCOLS
        for closed in (*_BRAKES, *_LIMITS, "protocol_error")
        for blocks in (0, 2)
    ),
    "observation": (
        *({"code": code, "turn": 2, **_NUMBERS} for code in (*_LIMITS, "repeated", "tool_timeout")),
        *({"code": "one_call", "dropped": dropped} for dropped in (1, 2)),
        *({"code": "dropped", "count": count} for count in (1, 2)),
    ),
    "ending": tuple({"name": name} for names in ENDINGS.items() for name in names),
    "protocol_error": tuple(
        {"problem": problem, "detail": "foo", "tools": ["a", "b"], "reply_tokens": 3300, "protocol": protocol, "final": final}
        for protocol in _PROTOCOLS
        for final in (False, True)
        for problem in (*get_args(Problem), "tool_unavailable")
    ),
    "limitation": (
        *({"code": code, "tool": tool, **_NUMBERS} for code in _LIMITS for tool in ("list_blocks", "")),
        *({"code": code} for code in (*_BRAKES, "protocol_error", "answer_cut", "extractive_answer", "no_citation")),
        {"code": "tool_failed", "tool": "search_blocks", "error": "upstream_unavailable", "message": ""},
        {"code": "tool_failed", "tool": "search_blocks", "error": "collection_unavailable", "message": _UNSEARCHABLE},
        {"code": "provider_window", "window": 8192},
        {"code": "provider_cut_prompt", "told": 4096, "expected": 9000},
        *(
            {"code": "snapshot_partial", "count": count, "names": names}
            for count, names in ((1, [_MISSING]), (9, [_MISSING, _MISSING]), (9, []), (0, []))
        ),
        *({"code": "citation_removed", "count": count} for count in (1, 2)),
        *({"code": "citation_unsupported", "count": n, "problems": ["[1] a", "[2] b"][:n]} for n in (1, 2)),
        *({"code": "citation_unproved", "count": n, "problems": ["a", "b"][:n]} for n in (1, 2)),
        *({"code": "uncited_claims", "count": n, "sentences": ["A.", "B."][:n]} for n in (1, 2)),
        *({"code": "claims_dropped", "count": count} for count in (1, 2)),
        {"code": "not_looked_up"},
        *(
            {"code": code, "questions": ["甲？", "乙？"][:n]}
            for code in ("plan_uncovered", "plan_unlooked")
            for n in (1, 2)
        ),
        *({"code": "claims_unchecked", "count": count} for count in (1, 2)),
    ),
    "repair": tuple(
        {"doubts": [{"sentence": "年假10天。", "problem": "10天"}] * n, "protocol": protocol}
        for n, protocol in zip((1, 2), _PROTOCOLS, strict=True)
    ),
    "failure": (
        *(
            {"code": code, "message": _UNSEARCHABLE}
            for code in (
                *get_args(UpstreamCode),
                *_LIMITS,
                "brake_time",
                "protocol_error",
                "finalization_failed",
                *TOO_SHORT.values(),
                "unsupported",
                "collection_unavailable",
                "tool_internal_error",
                "cancelled",
                "invalid_settings",
                "other",
            )
        ),
        {"code": "internal_error", "message": "5f3a9c0b1d2e"},
    ),
    "problem": tuple(
        {"missing": missing, "unproved": unproved, "reasons": reasons}
        for missing, unproved, reasons in (
            ((), (), ["unrelated"]),
            (("15 kg", "2019"), (), ["missing"]),
            ((), (), ["negation"]),
            ((), (), ["uncited"]),
            (("2019",), (), ["missing", "negation", "unrelated"]),
            ((), ("赵敏", "25 lb"), []),
            (("2019",), ("赵敏",), ["missing"]),
        )
    ),
    "summary": tuple(
        {"status": status, "blocks": blocks, "tokens": 99, "error": error}
        for status, blocks, error in (
            ("ok", 1, None),
            ("ok", 2, None),
            ("ok", 0, "invalid_argument"),
            ("context_budget_exceeded", 3, None),
            ("tool_unavailable", 0, None),
        )
    ),
    "extractive": (
        *({"part": part} for part in ("preface", "foreign", "nearest", "lacking", "greeting")),
        {"part": "unread", "scoped": False},
        {"part": "quote", "text": "年假五天。", "block_ids": ["abcdefgh.v1#0"]},
        *({"part": "count", "term": "年假", "total": n, "blocks": n, "shown": 1} for n in (1, 7)),
        *(
            {"part": "place", "title": "制度", "section_path": section, "block_id": "abcdefgh.v1#0"}
            for section in ("/", "年假")
        ),
        {"part": "nothing", "unshown": ["2022", "Q4"], "lacking": None, "unit": "", "scoped": False},
        *(
            {"part": "nothing", "unshown": [], "lacking": kind, "unit": "欧元", "scoped": False}
            for kind in get_args(KindName)
        ),
        *(
            {"part": part, "term": "年假", "unshown": [], "lacking": None, "unit": "", "scoped": scoped}
            for part in ("absent", "nothing")
            for scoped in (True, False)
        ),
    ),
    "answering": tuple({"collection": "# 文档库", "protocol": protocol} for protocol in _PROTOCOLS),
    "answer": tuple(
        {
            "blocks": blocks,
            "uncovered": uncovered,
            "unlooked": unlooked,
            "careful": careful,
            "closed": closed,
            "protocol": protocol,
        }
        for protocol in _PROTOCOLS
        for blocks, uncovered, unlooked, careful, closed in (
            (2, [], [], False, False),
            (2, [quoted("病假有几天？")], [quoted("事假有几天？")], True, True),
            (0, [quoted("年假有几天？"), quoted("病假有几天？")], [], False, False),
        )
    ),
    "direct": ({},),
    "standalone": tuple(
        {"question": quoted("那病假呢？"), "history": [_EXCHANGE], "summary": summary, "guess": quoted("病假有几天？")}
        for summary in ([], ["年假有几天？ → 五天。"])
    ),
    **{name: ({"question": quoted("请问年假到底有几天？")},) for name in ("rewrite", "multi_query", "step_back", "hyde")},
    "decompose": (
        *({"question": _COMPARED, "fault": fault, "detail": "a"} for fault in (None, *get_args(Fault))),
        {"question": _COMPARED, "fault": "too_many", "detail": "6"},
    ),
    "extract": ({"question": quoted("泵站由谁负责？"), "fields": ['"姓名"', '"部门"'], "blocks": ['"泵站由王工负责。"']},),
    "check": ({"claims": ['"年假五天。"', '"病假十天。"'], "blocks": ['"请假制度 › 年假: 年假五天。"']},),
}  # fmt: skip

_LANGS: tuple[Lang, ...] = get_args(Lang)


def check_bundle(bundle: Bundle) -> tuple[str, ...]:
    """What a run would stumble over, each as "template: what"; () when every text can be rendered."""
    return tuple(
        f"{lang}/{template}.j2: {fault}"
        for lang in _LANGS
        for template, values in SAMPLES.items()
        if (fault := _fault(bundle, template, lang, values)) is not None
    )


def _fault(bundle: Bundle, template: str, lang: Lang, samples: tuple[Values, ...]) -> str | None:
    given = frozenset[str]().union(*samples)
    if (path := f"{lang}/{template}.j2") in bundle.sources and (unknown := wanted(bundle.sources, path) - given):
        return f"asks for {', '.join(sorted(unknown))}, which no run gives"
    return next((fault for values in samples if (fault := bundle.fault(template, lang, values)) is not None), None)
