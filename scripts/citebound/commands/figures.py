"""`citebound figures`: what each day's runs came to, how long steps took, and what is past its threshold."""

import argparse

from scripts.citebound.api import open_api
from scripts.citebound.console import note, plain, print_json, table, words
from scripts.citebound.failure import OK
from shared.types.figures import DayFigures, Figures


def figures(arguments: argparse.Namespace) -> int:
    found = open_api(arguments.url).get("/api/figures", Figures, days=str(arguments.days))
    if arguments.json:
        print_json(found)
        return OK
    table(
        words(
            "DAY,RUNS,CALLS/RUN,BRAKES/RUN,NO ANSWER,BAD CITATIONS,CHAT TOKENS/RUN,RUN P50,RUN P95,SNAPSHOT AGE,QUEUE,LOST",
            "日期,问答,查找/次,上限/次,未回答,出处不成立,对话 token/次,用时 P50,用时 P95,快照天数,队列,丢失",
        ).split(","),
        [_line(day) for day in found.days],
    )
    latest = next((day for day in reversed(found.days) if day.steps), None)
    if latest is None:
        note(words("nothing has been asked in these days", "这些天没有提问"))
    else:
        plain(words(f"\nsteps on {latest.day}", f"\n{latest.day} 各步骤"), "bold")
        table(
            words("STEP,TIMES,P50,P95", "步骤,次数,P50,P95").split(","),
            [(one.step, str(one.count), _seconds(one.p50_s), _seconds(one.p95_s)) for one in latest.steps],
        )
    for alert in found.alerts:
        plain(f"! {alert.day}: {alert.figure} {alert.value:.3g} > {alert.threshold:g}", "yellow")
    return OK


def _line(day: DayFigures) -> tuple[str, ...]:
    run = next((one for one in day.steps if one.step == "run"), None)
    chat = day.tokens_per_run.get("chat_input", 0) + day.tokens_per_run.get("chat_output", 0)
    return (
        day.day,
        str(day.runs),
        _number(day.retrievals_per_run),
        _number(day.brakes_per_run),
        _share(day.no_answer_rate),
        _share(day.citation_failure_rate),
        _number(chat if day.runs else None),
        "–" if run is None else _seconds(run.p50_s),
        "–" if run is None else _seconds(run.p95_s),
        _number(day.snapshot_age_days),
        str(day.queue_depth),
        str(day.dropped),
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


def _seconds(value: float) -> str:
    return f"{value:.2f} s" if value >= 1 else f"{value * 1000:.0f} ms"
