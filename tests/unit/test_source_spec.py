import pytest

from shared.errors import InvalidArgument
from shared.source_spec import check_spec
from shared.types.imports import SourceSpec

LONG = "长" * 201


@pytest.mark.parametrize(
    "spec",
    [
        SourceSpec(),
        SourceSpec(label="", aliases=(), access=(), tags=(), lang_hint=None),
        SourceSpec(
            label="人事 制度", aliases=("HR, e.g. rules",), access=("人事:读",), tags=("制度",), lang_hint="zh-Hant-TW"
        ),
        SourceSpec(label="长" * 200, access=tuple(f"{number}" for number in range(100))),
    ],
)
def test_names_labels_and_tags_as_people_write_them_are_taken(spec: SourceSpec) -> None:
    check_spec(spec, field="source")


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        (SourceSpec(label=" "), "source.label"),
        (SourceSpec(label=LONG), "source.label"),
        (SourceSpec(label="合同\u202egpj.exe"), "source.label"),
        (SourceSpec(aliases=("制度", "a\0b")), "source.aliases[1]"),
        (SourceSpec(aliases=("\u200b",)), "source.aliases[0]"),
        (SourceSpec(access=("人事", "hr\n")), "source.access[1]"),
        (SourceSpec(access=("*",)), "source.access"),
        (SourceSpec(access=("hr\u200b",)), "source.access[0]"),
        (SourceSpec(access=(LONG,)), "source.access[0]"),
        (SourceSpec(access=("hr",) * 101), "source.access"),
        (SourceSpec(tags=("", "制度")), "source.tags[0]"),
        (SourceSpec(tags=("\U000e0041",)), "source.tags[0]"),
        (SourceSpec(lang_hint="中文"), "source.lang_hint"),
        (SourceSpec(lang_hint="zh\n"), "source.lang_hint"),
    ],
)
def test_what_no_reader_sees_and_what_has_no_end_is_refused_by_the_name_of_its_field(
    spec: SourceSpec, field: str
) -> None:
    with pytest.raises(InvalidArgument) as refused:
        check_spec(spec, field="source")
    assert refused.value.field == field
    assert field in refused.value.message or field == "source.access"
