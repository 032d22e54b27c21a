"""What a template may print: the names of the values that the program gives it. For whoever edits one."""

from collections.abc import Mapping

from api.agent.samples import SAMPLES
from shared.prompt_language import included


def placeholders(sources: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """By path of the template, in order. One that is only included by others may print what is given to them. `sources` have no problems."""
    found: dict[str, set[str]] = {path: set() for path in sources}
    for path in sources:
        name = path.partition("/")[2].removesuffix(".j2")
        if name in SAMPLES:
            given = {value for values in SAMPLES[name] for value in values}
            for reached in (path, *included(sources, path)):
                found[reached] |= given
    return {path: tuple(sorted(names)) for path, names in found.items()}
