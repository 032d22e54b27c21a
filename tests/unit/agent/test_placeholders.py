"""What an editor is told that a template may print."""

import pytest

from api.agent.placeholders import placeholders
from api.agent.samples import check_bundle
from shared.bundles import RELEASED
from shared.prompts import Bundle, load_bundle


@pytest.fixture(scope="module")
def released() -> Bundle:
    return load_bundle(RELEASED, "default/1")


def test_a_template_may_print_what_the_program_gives_it(released: Bundle) -> None:
    assert placeholders(released.sources)["zh/direct.j2"] == ()
    assert set(placeholders(released.sources)["en/task.j2"]) == {"question", "read_as", "history", "summary", "missing"}


def test_one_that_others_include_may_print_what_all_of_them_are_given(released: Bundle) -> None:
    may = placeholders(released.sources)
    assert "protocol" in may["zh/citing.j2"]
    assert (
        "snapshot_id" not in may["zh/citing.j2"]
    )  # of the system prompt; a path that looks things up by itself has none


def test_whatever_is_offered_can_be_printed_in_every_run(released: Bundle) -> None:
    sources = {
        path: text + "".join(f"\n{{{{ {name} | default('') }}}}" for name in placeholders(released.sources)[path])
        for path, text in released.sources.items()
    }
    assert check_bundle(Bundle(released.manifest, sources=sources)) == ()
