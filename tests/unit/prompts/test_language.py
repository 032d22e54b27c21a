"""What a template may do: enough to word a prompt, too little to read, run or linger."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.prompt_language import MAX_EXPANDED_BYTES, MAX_RENDERED, TooLong, environment, problems, render


@pytest.mark.parametrize(
    "text",
    [
        "问题：{{ question }}",
        "{% if a %}甲{% elif b == 'x' %}乙{% else %}{{ unknown[a] }}{% endif %}",
        "{% for one in tools %}{{ one.name }}：{{ one.list | join('、') }}{% endfor %}",
        "{% for a in outer %}{% for b in a.inner %}{{ b }}{% endfor %}{% endfor %}",
        '{% include "zh/b.j2" %}',
        "{{ '一' if n == 1 else n ~ ' 个' }}{# 说明 #}",
    ],
)
def test_what_prompts_need_is_allowed(text: str) -> None:
    assert problems({"zh/a.j2": text, "zh/b.j2": "乙"}) == ()


@pytest.mark.parametrize(
    "text",
    [
        "{% import 'zh/b.j2' as b %}",
        "{% from 'zh/b.j2' import x %}",
        "{% extends 'zh/b.j2' %}",
        "{% macro m() %}{{ m() }}{% endmacro %}",
        "{% set x = 'a' %}",
        "{{ range(100000) }}",
        "{{ question.format(question) }}",
        "{{ cycler }}{{ ''.__class__ }}",
        "{{ x['__class__']._y }}",
        "{{ 'a' * 1000000000 }}",
        "{{ 9 ** 9 ** 9 }}",
        "{{ '%999999999d' % 1 }}",
        "{{ 'a' | center(1000000000) }}",
        "{{ x is callable }}",
        "{{ x | join(x) }}",
        "{{ x | join(x | join(x)) }}",
        "{{ x | join(', ') | join(', ') }}",
        "{{ x | join('" + "长" * 21 + "') }}",
        "{% for a in x | join(', ') %}{{ a }}{% endfor %}",
        "{{ " + "x ~ " * 60 + "x }}",
        "{% for a in x recursive %}{{ loop(a) }}{% endfor %}",
        "{% for a in x %}{% for b in x %}{{ b }}{% endfor %}{% endfor %}",
        '{% for a in x %}{% include "zh/b.j2" %}{% endfor %}',
        '{% include "zh/none.j2" %}',
        '{% include "../../etc/passwd" %}',
        "{% include name %}",
        '{% include "zh/a.j2" %}',
        "{% if %}",
        "{{ " + "(" * 5_000 + "x" + ")" * 5_000 + " }}",
        "{{ x" + " + x" * 7_000 + " }}",
        "{{ x" + " + x" * 100 + " }}",
        "{% if x %}" * 80 + "{% endif %}" * 80,
        "長" * 11_000,
    ],
)
def test_what_could_read_run_or_linger_is_refused(text: str) -> None:
    assert problems({"zh/a.j2": text, "zh/b.j2": "乙"})


def test_the_refusal_names_file_and_line() -> None:
    (problem,) = problems({"zh/a.j2": "一\n二\n{% set x = 1 %}"})
    assert problem.startswith("zh/a.j2:3: ")


def test_two_templates_that_include_each_other_are_refused() -> None:
    assert problems({"a.j2": '{% include "b.j2" %}', "b.j2": '{% include "a.j2" %}'})


def test_includes_that_double_at_every_step_are_refused() -> None:
    chain = {f"{n}.j2": f'{{% include "{n + 1}.j2" %}}' * 2 for n in range(30)} | {"30.j2": "字" * 100}
    assert any(str(MAX_EXPANDED_BYTES) in problem for problem in problems(chain))


def test_a_text_that_grows_with_its_values_stops_at_a_bound() -> None:
    template = environment({"a.j2": "{% for sign in text %}{{ text }}{% endfor %}"}).get_template("a.j2")
    with pytest.raises(TooLong):
        render(template, {"text": "字" * (MAX_RENDERED // 1_000)})


@given(st.text(max_size=60))
def test_looking_at_a_template_never_fails(text: str) -> None:
    assert all(isinstance(one, str) for one in problems({"a.j2": text}))
