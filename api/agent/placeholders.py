"""What a template may print: the names of the values that the program gives it. For whoever edits one."""

from collections.abc import Mapping

from api.agent.samples import SAMPLES
from shared.prompt_language import included


def placeholders(sources: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """By path of the template, in order. One that others include may print what all of them are given. `sources` have no problems."""
    found: dict[str, frozenset[str]] = {}
    for path in sources:
        name = path.partition("/")[2].removesuffix(".j2")
        if name in SAMPLES:
            given = frozenset[str]().union(*SAMPLES[name])
            for reached in (path, *included(sources, path)):
                found[reached] = found.get(reached, given) & given
    return {path: tuple(sorted(found.get(path, ()))) for path in sources}
