"""What a model, a document or a person writes is read in time that grows with its length, whatever stands in it."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from time import process_time
from types import ModuleType
from typing import cast

import pytest

from api.agent.ledger import Fetch, Ledger
from api.agent.sought import Sought
from tests.unit.agent.finished import finish
from tests.unit.agent.playing import DOC, SNAPSHOT, block
from tests.unit.agent.test_finish import outcome
from tests.unit.agent.texts import ZH

ROOT = Path(__file__).parents[2]
FOLDERS = (
    "api/agent",
    "api/openai_compat",
    "api/web",
    "shared/text",
    "shared/llm",
    "shared/telemetry",
    "worker/parsers",
)
MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for folder in FOLDERS
    for path in sorted((ROOT / folder).rglob("*.py"))
    if "offline" not in path.parts and path.stem != "child"
] + ["shared.upstream"]
PERIODS = (
    *"0aA .,-_*\"'|()[]{}`<>&#!?:/\\~=+中一。，【】（《“「é😀\n\t\0",
    "2020-01-", "2020年1月1日", "a.", "1,", "1.", "((", "【(", "a ", "1 ", "一 ", "\n ", "a\n", "- ", "A.B.", "a-", "ab1",
    "[1]", "[source:", "not a ", "from 1 ", "五天，", "5 kg ", "第三章", "2000年、", "第一季度、", "与2000年的", "1st quarter, ", "- a\n", "title: x", "/A", "1-",
)  # fmt: skip
LONG = 4_000  # code points; what costs the square of it takes tens of milliseconds, on a fast machine too
WORTH_COMPARING_S = 0.003
FEW_TIMES = 8  # four times the text may take so much longer: four times, and a machine that is busy
# what is never given more than so much, and patterns that read only our own
SHORT = {
    "api.agent.facts._SENTENCE_START": "40 characters before a name",
    "api.agent.paths.leaning._NAMED_EN": "the first 400 of a question",
    "api.agent.paths.router._COMPARED": "the first 1,000 of a question",
    "api.agent.sought._QUANTIFIER": "our own patterns",
}
# matched at one place of a text only
AT_ONE_PLACE = {"api.agent.brackets.FENCE", "api.agent.labels.INPUT", "api.agent.react._CLOSING"}


SEEN: dict[re.Pattern[str], str] = {}


def patterns_in(value: object, depth: int = 3) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        found = cast("re.Pattern[str] | re.Pattern[bytes]", value)
        if isinstance(found.pattern, str):
            yield cast("re.Pattern[str]", found)
    elif depth and isinstance(value, (tuple, list, set, frozenset)):
        for one in cast(Iterable[object], value):
            yield from patterns_in(one, depth - 1)
    elif depth and isinstance(value, dict):
        for one in cast(Mapping[object, object], value).values():
            yield from patterns_in(one, depth - 1)
    elif isinstance(value, Sought):
        yield value.pattern


def patterns(module: ModuleType) -> Iterator[tuple[str, re.Pattern[str]]]:
    """Those that it has at hand, and those that its calls spell out."""
    for name, value in vars(module).items():
        for one in patterns_in(value):
            if SEEN.setdefault(one, module.__name__) == module.__name__:  # read once, though others import it
                yield f"{module.__name__}.{name}", one
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    for spelled in re.finditer(r"re\.(?:search|sub|split|findall|finditer)\(\s*r\"((?:[^\"\\]|\\.)*)\",", source):
        yield f"{module.__name__}: {spelled[1]}", re.compile(spelled[1])


def methods(name: str, used: str) -> list[str]:
    """How the pattern is asked, which decides what it may cost; by whatever module."""
    own = name.rpartition(".")[2]
    asked = set(re.findall(rf"\b{re.escape(own)}\.(search|match|fullmatch|finditer|findall|sub|split)\(", used))
    if name in AT_ONE_PLACE or (asked and asked <= {"match", "fullmatch"}):
        return sorted(asked & {"fullmatch"}) or ["match"]
    return ["finditer"]


def seconds(work: Callable[[], object]) -> float:
    begun = process_time()
    work()
    return process_time() - begun


def grows_too_fast(work: Callable[[str], object], text: Callable[[int], str], size: int) -> bool:
    """Twice the benefit of the doubt: the processor time of a busy machine jumps."""
    for _ in range(3):
        long = seconds(partial(work, text(size)))
        if long < WORTH_COMPARING_S or long < FEW_TIMES * seconds(partial(work, text(size // 4))):
            return False
    return True


def run_of(period: str, end: str, size: int) -> str:
    return period * (size // len(period)) + end


@pytest.mark.parametrize("name", MODULES)
def test_no_pattern_costs_the_square_of_a_text(name: str) -> None:
    module = import_module(name)
    used = Path(str(module.__file__)).read_text(encoding="utf-8")
    slow: list[str] = []
    for where, pattern in patterns(module):
        for method in [] if where in SHORT else methods(where, used):

            def work(text: str, pattern: re.Pattern[str] = pattern, method: str = method) -> object:
                asked = cast("Callable[[str], object]", getattr(pattern, method))(text)
                return list(cast("Iterable[object]", asked)) if method == "finditer" else asked

            slow += [
                f"{where} on {period!r}"
                for period in PERIODS
                if grows_too_fast(work, partial(run_of, period, "\x01"), LONG)
            ]
    assert not slow


LEDGER = Ledger().admit(
    (block(0, "员工工作满一年享有五天年假。Staff have five days of leave."),),
    Fetch(snapshot_id=SNAPSHOT, turn=1, tool="search_blocks", query="年假", at_ms=0),
)


def checked(text: str) -> object:
    return finish(outcome(text, ledger=LEDGER), wording=ZH)


def answer(period: str, size: int) -> str:
    """The run in a sentence of its own for every size, so that no memory of what was read before spares the work."""
    return f"年假五天，{run_of(period, '', size)}，共{size}。【来源：{DOC}.v1#0】"


@pytest.mark.parametrize(
    "period", [".", "-", "*", "a", "(", "2020-01-", "2020年1月1日", "1.", "第三章", "five days, ", "1%"]
)
def test_an_answer_with_a_long_run_is_checked_in_time_that_grows_with_it(period: str) -> None:
    assert not grows_too_fast(checked, partial(answer, period), 2 * LONG)


@pytest.mark.parametrize(
    "row", ["一" + "亿" * 800 + "元", "one " + "hundred " * 3_000, f"[{'1' * 5_000}]", "1" * 5_000 + "天"]
)
def test_a_number_that_nobody_can_write_down_ends_no_answer(row: str) -> None:
    found = finish(outcome(f"年假是{row}。【来源：{DOC}.v1#0】", ledger=LEDGER), wording=ZH)
    assert found.status in ("complete", "partial")


def test_a_mark_of_the_models_own_is_rewritten_however_many_noughts_it_has() -> None:
    found = finish(outcome(f"年假五天[{'0' * 5_000}1]。【来源：{DOC}.v1#0】", ledger=LEDGER), wording=ZH)
    assert "[0" not in found.text
    assert found.text.endswith("[1]")
