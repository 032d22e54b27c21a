import json
from pathlib import Path

from scripts.bench.questions import question_sets


def a_set(folder: Path, name: str, *questions: dict[str, object]) -> None:
    (folder / name / "documents").mkdir(parents=True)
    (folder / name / "documents" / f"{name}.md").write_text("# 泵\n\n每250小时润滑一次。", encoding="utf-8")
    lines = "".join(json.dumps(question, ensure_ascii=False) + "\n" for question in questions)
    (folder / name / "queries.jsonl").write_text(lines, encoding="utf-8")


def a_question(name: str, **more: object) -> dict[str, object]:
    gold = [{"doc": "x.md", "quote": "每250小时"}]
    return {"id": name, "question": "多久？", "answers": [], "gold": gold, "lang": "zh", "kind": "single", **more}


def test_where_no_sets_are_there_are_none(tmp_path: Path) -> None:
    assert question_sets(tmp_path / "absent") == []


def test_questions_without_an_answer_are_left_out(tmp_path: Path) -> None:
    a_set(tmp_path, "zh_single", a_question("1"), a_question("2", gold=[], kind="unanswerable"))

    (found,) = question_sets(tmp_path)

    assert [question.id for question in found.questions] == ["1"]
    assert [path.name for path in found.documents] == ["zh_single.md"]


def test_the_pooled_set_asks_the_first_sets_questions_of_both_sets_documents(tmp_path: Path) -> None:
    a_set(tmp_path, "zh_single", a_question("1"))
    a_set(tmp_path, "xling", a_question("2", doc_lang="en"))

    (pooled,) = question_sets(tmp_path, ["xling in zh_single"])

    assert [question.id for question in pooled.questions] == ["2"]
    assert [path.name for path in pooled.documents] == ["xling.md", "zh_single.md"]


def test_a_group_is_the_finest_kind_that_a_set_tells_apart(tmp_path: Path) -> None:
    a_set(
        tmp_path,
        "zh_single",
        a_question("1", difficulty="hard"),
        a_question("2", doc_lang="en"),
        a_question("3", kind="multi_hop", type="bridge_comparison"),
        a_question("4", kind="multi_hop", type="2hop"),
        a_question("5"),
    )

    (found,) = question_sets(tmp_path)

    assert [question.group for question in found.questions] == [
        "single, hard",
        "zh about en",
        "multi_hop, comparison",
        "multi_hop, chain",
        "single",
    ]
