"""Other words to search with: rewriting, several phrasings, a step back, an imagined passage. Each a prompt of the bundle.

None of them is asked about an exact name: a string that means itself is searched for as it is (pipeline.py). Only a follow-up with
such a name is put into words, and words that lost it are not used.
The question is a JSON string in each: it may hold what a document says, by an earlier answer or an earlier part of a plan.
"""

from collections.abc import Sequence
from typing import cast

from api.agent.exact_names import exact_names
from api.agent.observation import quoted
from api.agent.paths.asides import Aside, aside, one_line
from api.agent.prompting import Asked
from api.agent.state import State
from api.tools.search_blocks import MAX_QUERY

MOST_QUERIES = 3


def standalone(state: State, asked: Asked) -> Aside[str]:
    """The question with what it leans on put into words; only sensible where it does lean on something."""
    prompt = state.wording.render(
        "standalone",
        question=quoted(asked.question),
        history=asked.recent,
        summary=asked.summary,
        guess=quoted(asked.plain),
    )
    return (
        yield from aside(state, "standalone", prompt, lambda found: _faithful(found.get("question"), asked.question))
    )


def rewrite(state: State, question: str) -> Aside[str]:
    """A query for search: names and subject, without what only speaks to us."""
    prompt = state.wording.render("rewrite", question=quoted(question))
    return (yield from aside(state, "rewrite", prompt, lambda found: one_line(found.get("query"), most=MAX_QUERY)))


def multi_query(state: State, question: str) -> Aside[tuple[str, ...]]:
    """The same question in other words, `MOST_QUERIES` at most."""

    def read(found: dict[str, object]) -> tuple[str, ...] | None:
        given = found.get("queries")
        listed = cast("Sequence[object]", given) if isinstance(given, list) else ()
        lines = [one_line(one, most=MAX_QUERY) for one in listed]
        queries = dict.fromkeys(query for query in lines if query and query != question)
        return tuple(queries)[:MOST_QUERIES] or None

    return (
        yield from aside(state, "multi_query", state.wording.render("multi_query", question=quoted(question)), read)
    )


def step_back(state: State, question: str) -> Aside[str]:
    """The more general question behind this one: where the answer's surroundings may be found."""
    prompt = state.wording.render("step_back", question=quoted(question))
    return (yield from aside(state, "step_back", prompt, lambda found: one_line(found.get("query"), most=MAX_QUERY)))


def hyde(state: State, question: str) -> Aside[str]:
    """A passage as it might stand in a document, to search by its meaning; no evidence."""
    prompt = state.wording.render("hyde", question=quoted(question))
    return (yield from aside(state, "hyde", prompt, lambda found: one_line(found.get("passage"), most=MAX_QUERY)))


def _faithful(value: object, question: str) -> str | None:
    said = one_line(value, most=MAX_QUERY)
    lost = said is None or any(name.casefold() not in said.casefold() for name in exact_names(question))
    return None if lost else said
