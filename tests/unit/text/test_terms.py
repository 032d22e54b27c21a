import os
import subprocess
import sys

import pytest

from shared.text.terms import KEYWORD_VERSION, QUERIED, passage_terms, query_terms, terms
from tests.patience import PATIENCE_S


@pytest.mark.parametrize(
    ("query", "passage"),
    [
        ("ERR_TIMEOUT", "连接失败返回err_timeout。"),
        ("timeout", "ERR_TIMEOUT"),
        ("2.1.3", "从v2.1.3起"),
        ("v2.1", "v2.1.3"),
        ("MAX_RETRIES", "MAX_RETRIES=3"),
        ("1042", "错误码 1042：磁盘已满"),
        ("3.14", "π≈3.14"),
        ("GB/T7714", "GB/T 7714—2015"),
        ("50010-2010", "《混凝土结构设计规范》GB 50010-2010"),
        ("maxRetries", "the MAX retries"),
        ("软件", "軟件"),
        ("ＡＢＣ１２３", "abc123"),
        ("naïve cafe", "Naive Café"),
        ("retries", "retry"),
        ("indexing", "indexed"),
        ("タワー", "東京タワー"),
        ("大阪", "大阪城へ行く"),
        ("안녕", "안녕하세요"),
        ("भाषा", "हिन्दी भाषा"),
        ("C++", "written in c++ and C#"),
        (".NET", "使用.NET框架"),
        ("net", "runs on .NET 8"),
        ("GB/T 7714", "著录格式见GB/T 7714-2015"),
        ("P-1042", "水泵P-1042停机"),
        ("1042", "pump P-1042"),
        ("anna.li@example.com", "请写信给anna.li@example.com。"),
        ("anna.li", "anna.li@example.com"),
        ("example.com", "anna.li@example.com"),
        ("report_2024-final.docx", "见附件report_2024-final.docx"),
        ("final report", "report_2024-final.docx"),
        ("東京", "東京都庁"),
        ("データ", "データベース"),
        ("한국", "한국어 문서"),
        ("문서", "한국어 문서를"),
        ("ｖ２．１．３", "v2.1.3"),
        ("don't", "don’t"),
    ],
)
def test_what_is_asked_for_is_found_in_other_spelling(query: str, passage: str) -> None:
    assert set(terms(query)) & set(terms(passage))


@pytest.mark.parametrize(
    "name",
    [
        "v2.1.3",
        "ERR_TIMEOUT",
        "GB/T",
        "MAX_RETRIES=3",
        "1042",
        "3.14",
        "maxRetries",
        "2026-11-30",
        "P-1042",
        "C++",
        ".NET",
        "v2.1.3-rc.1",
        "anna.li@example.com",
        "report_2024-final.docx",
    ],
)
def test_a_name_is_kept_whole_as_well_as_in_parts(name: str) -> None:
    found = terms(f"参数 {name} 的说明")
    assert terms(name)[0] in (name.casefold(), "maxretri")
    assert set(terms(name)) <= set(found)


@pytest.mark.parametrize(
    ("name", "other"), [("C++", "C"), (".NET", "net"), ("P-1042", "P-1043"), ("v2.1.3", "v2.1.4"), ("GB/T", "GB/Z")]
)
def test_a_passage_with_the_very_name_stands_before_one_with_a_part_of_it(name: str, other: str) -> None:
    def shared(text: str) -> float:
        weights = dict(zip(query.indices, query.values, strict=True))
        passage = passage_terms(text)
        return sum(weights.get(term, 0) * value for term, value in zip(passage.indices, passage.values, strict=True))

    query = query_terms(f"{name} 是什么")

    assert shared(f"这里说的是 {name} 的用法") > shared(f"这里说的是 {other} 的用法")


def test_a_full_stop_before_a_word_is_no_part_of_it() -> None:
    assert terms("so... and on. Next") == ["so", "and", "on", "next"]


def test_a_word_and_its_characters_are_terms() -> None:
    assert terms("长江大桥") == ["长江大桥", "长", "江", "大", "桥"]


def test_a_name_the_dictionary_cuts_differently_is_found_by_its_characters() -> None:
    assert {"许", "月", "凤"} <= set(terms("许月凤是演员")) & set(terms("演员许月凤的生平"))


def test_parts_weigh_half_in_a_query() -> None:
    weights = sorted(query_terms("ERR_TIMEOUT").values)
    assert weights == [0.5, 0.5, 1.0]


def test_a_term_weighs_more_when_repeated_and_less_in_a_longer_passage() -> None:
    def weight(text: str) -> float:
        sparse = passage_terms(text)
        return sparse.values[sparse.indices.index(query_terms("valve").indices[0])]

    assert weight("valve") < weight("valve valve") < weight("valve valve valve") < 2.2
    assert weight("valve") > weight("valve " + "other words of no concern " * 50)


def test_text_without_words_has_no_terms() -> None:
    for text in ("", "  \n", "——。！", "\x00\ud800", "🙂"):
        assert terms(text) == []
        assert query_terms(text).indices == ()


def test_a_run_too_long_to_be_a_name_is_dropped_but_its_parts_are_kept() -> None:
    assert terms("x" * 1_000_000) == []
    assert terms("AAAA" * 30 + "/report") == ["report"]


def test_every_process_makes_the_same_terms() -> None:
    text = "憂鬱的臺灣烏龜 v2.1.3 HTTPServer retries"
    code = f"from shared.text.terms import KEYWORD_VERSION, QUERIED, passage_terms; print(passage_terms({text!r}))"
    other = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": "7"},
        capture_output=True,
        encoding="utf-8",
        check=True,
        timeout=PATIENCE_S,
    )
    assert other.stdout.strip() == str(passage_terms(text))


@pytest.mark.parametrize("version", sorted(QUERIED - {KEYWORD_VERSION}))
def test_an_earlier_version_asks_for_what_passages_had_then(version: str) -> None:
    assert query_terms("用.NET写的.gitignore", version=version) == query_terms("用NET写的 gitignore")
    assert query_terms("用.NET写的", version=version) != query_terms("用.NET写的")
    text = "GB/T 7714—2015，v2.1.3，ERR_TIMEOUT 的说明；anna.li@example.com"
    assert query_terms(text, version=version) == query_terms(text)
