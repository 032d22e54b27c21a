"""Which form of a reply somebody prefers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.routes.accepting import preferred

OFFERED = ("application/json", "text/html")


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("", "application/json"),
        ("*/*", "application/json"),
        ("text/html", "text/html"),
        ("TEXT/HTML; charset=utf-8", "text/html"),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html"),
        ("text/*", "text/html"),
        ("application/json;q=0.2, text/html;q=0.1", "application/json"),
        ("application/json;q=0.1, text/html;q=0.2", "text/html"),
        ("text/html;q=0", "application/json"),
        ("text/html;q=0, */*", "application/json"),
        ("image/png", "application/json"),
        ("*/*;q=0.5, text/html;q=0.5", "text/html"),
        ("text/html;q=1e999", "text/html"),
        ("text/html;q=nan", "text/html"),
        ("text/html;q=-inf, application/json", "text/html"),
        ("text/html;q=٣", "text/html"),
    ],
)
def test_the_best_of_what_is_accepted_decides(accept: str, kind: str) -> None:
    assert preferred(accept, OFFERED) == kind


@given(
    st.text()
    | st.lists(st.sampled_from(["text/html", "*/*", ";q=", "1e999", "nan", ",", ";", "=", "/", "0"])).map("".join)
)
def test_whatever_is_sent_one_of_the_forms_is_chosen(accept: str) -> None:
    assert preferred(accept, OFFERED) in OFFERED
