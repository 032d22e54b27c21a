"""Experiments with the wording: made from a parent, edited, frozen, released; and never used when something is wrong."""

import shutil
import threading
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from api.agent.samples import SAMPLES, check_bundle
from shared.bundles import RELEASED, BundleInfo, Shelf
from shared.errors import Conflict, InvalidArgument, NotFound
from shared.promotion import promote
from shared.prompts import Bundle
from tests.unit.agent.texts import BUNDLE


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    shutil.copytree(RELEASED / "default", tmp_path / "release" / "default")
    return Shelf(
        release=tmp_path / "release", local=tmp_path / "data" / "prompts", default="default/1", check=check_bundle
    )


def edited(
    shelf: Shelf, name: str = "brief/1", template: str = "zh/rules.j2", text: str = "# 角色\n简短作答。"
) -> BundleInfo:
    return shelf.write(name, template, text)


def refused(shelf: Shelf, name: str) -> str:
    with pytest.raises(InvalidArgument) as caught:
        shelf.usable(name)
    assert caught.value.field == "prompt_bundle"
    return caught.value.message


def test_an_experiment_is_its_parents_copy_until_it_is_edited(shelf: Shelf) -> None:
    made = shelf.create("brief", parent=None)
    assert (made.name, made.origin, made.manifest.parent) == ("brief/1", "local", "default/1")
    assert made.sources == shelf.load("default/1").sources
    assert shelf.diff("brief/1") == []
    edited(shelf)
    (one,) = shelf.diff("brief/1")
    assert (one.path, one.change) == ("zh/rules.j2", "changed")
    assert "+简短作答。" in one.diff.splitlines()
    assert shelf.usable("brief/1").render("rules", lang="zh") == "# 角色\n简短作答。"


def test_every_edit_is_another_identity_and_freezing_keeps_it(shelf: Shelf) -> None:
    first = shelf.create("brief", parent=None).sha256
    second = edited(shelf).sha256
    frozen = shelf.freeze("brief/1")
    assert first != second
    assert (frozen.sha256, frozen.state) == (second, "frozen")
    assert shelf.freeze("brief/1") == frozen


def test_the_same_name_again_is_the_next_version(shelf: Shelf) -> None:
    shelf.create("brief", parent=None)
    assert shelf.create("brief", parent="brief/1").name == "brief/2"
    assert [one.name for one in shelf.every()] == ["default/1", "brief/1", "brief/2"]


def test_a_frozen_bundle_and_a_release_can_not_be_edited(shelf: Shelf) -> None:
    shelf.create("brief", parent=None)
    shelf.freeze("brief/1")
    for name in ("brief/1", "default/1"):
        with pytest.raises(Conflict):
            edited(shelf, name)


def test_a_frozen_bundle_whose_file_was_changed_is_refused_by_name(shelf: Shelf) -> None:
    shelf.create("brief", parent=None)
    shelf.freeze("brief/1")
    (shelf.local / "brief/1/zh/task.j2").write_text("问：{{ question }}")
    assert "zh/task.j2" in refused(shelf, "brief/1")
    assert shelf.info("brief/1").problems


def test_a_value_that_no_run_gives_is_found_when_it_is_written_not_when_it_is_asked(shelf: Shelf) -> None:
    shelf.create("brief", parent=None)
    info = edited(shelf, template="zh/task.j2", text="问：{{ question }}{{ weather }}")
    assert any("weather" in problem for problem in info.problems)
    assert "weather" in refused(shelf, "brief/1")
    with pytest.raises(InvalidArgument):
        shelf.freeze("brief/1")


def test_a_value_behind_a_condition_is_found_as_well(shelf: Shelf) -> None:
    shelf.create("brief", parent=None)
    info = edited(shelf, template="zh/task.j2", text="{% if question | length > 1000 %}{{ weather }}{% endif %}问")
    assert any("weather" in problem for problem in info.problems)


def test_what_an_experiment_can_not_word_is_told_by_the_bundles_name(shelf: Shelf) -> None:
    shelf.create("brief", parent=None)
    edited(shelf, template="zh/task.j2", text="{% if question | length > 1000 %}{{ question.weather }}{% endif %}问")
    bundle = shelf.usable("brief/1")
    with pytest.raises(InvalidArgument) as caught:
        bundle.render("task", lang="zh", question="长" * 2_000)
    assert caught.value.field == "prompt_bundle"


def test_editing_while_it_is_frozen_damages_nothing(shelf: Shelf) -> None:
    for number in range(20):
        shelf.create("brief", parent=None)
        name = f"brief/{number + 1}"
        refused: list[str] = []

        def edit(name: str = name, refused: list[str] = refused) -> None:
            try:
                edited(shelf, name)
            except Conflict as error:
                refused.append(error.message)

        editor = threading.Thread(target=edit)
        editor.start()
        shelf.freeze(name)
        editor.join()
        rules = shelf.load(name).sources["zh/rules.j2"]
        assert (rules == "# 角色\n简短作答。") is not bool(refused)


def test_a_code_that_a_template_has_no_text_for_is_found_as_well(shelf: Shelf) -> None:
    shelf.create("brief", parent=None)
    info = edited(
        shelf, template="en/observation.j2", text='{% if code == "repeated" %}Again.{% else %}{{ no[code] }}{% endif %}'
    )
    assert any("en/observation.j2" in problem for problem in info.problems)


def test_a_template_outside_the_language_is_not_even_written(shelf: Shelf) -> None:
    shelf.create("brief", parent=None)
    with pytest.raises(InvalidArgument) as caught:
        edited(shelf, text="{% set x = 1 %}")
    assert caught.value.field == "text"
    assert shelf.diff("brief/1") == []


def test_what_an_editor_left_behind_is_told_by_the_listing(shelf: Shelf) -> None:
    shelf.create("brief", parent=None)
    (shelf.local / "brief/1/zh/task.j2").write_text("{% for x in range(9) %}{% endfor %}")
    (listed,) = (one for one in shelf.every() if one.name == "brief/1")
    assert (listed.sha256, len(listed.problems)) == (None, 1)
    assert "zh/task.j2" in refused(shelf, "brief/1")


def test_a_file_from_elsewhere_is_no_template(shelf: Shelf, tmp_path: Path) -> None:
    shelf.create("brief", parent=None)
    (tmp_path / "secret").write_text("秘密")
    template = shelf.local / "brief/1/zh/task.j2"
    template.unlink()
    template.symlink_to(tmp_path / "secret")
    assert "zh/task.j2" in refused(shelf, "brief/1")


@pytest.mark.parametrize("name", ["default", "", "Big", "a/b", "../x", "x" * 41])
def test_a_name_that_is_none_or_taken_by_the_release_is_refused(shelf: Shelf, name: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        shelf.create(name, parent=None)
    assert caught.value.field == "name"


@pytest.mark.parametrize("name", ["none/1", "../default/1", "default", "default/01", ""])
def test_an_unknown_bundle_is_refused_with_those_there_are(shelf: Shelf, name: str) -> None:
    assert "default/1" in refused(shelf, name)
    with pytest.raises(NotFound):
        shelf.load(name)


def test_a_frozen_experiment_becomes_the_next_release_with_its_note(shelf: Shelf) -> None:
    shelf.create("brief", parent=None)
    edited(shelf)
    with pytest.raises(Conflict):
        promote(shelf, "brief/1", note="更短")
    tried = shelf.freeze("brief/1")
    with pytest.raises(InvalidArgument):
        promote(shelf, "brief/1", note=" ")
    assert promote(shelf, "brief/1", note="更短，评测集上通过率不变。") == "default/2"
    released = shelf.usable("default/2")
    assert (released.origin, released.manifest.parent) == ("release", "default/1")
    assert released.sources == shelf.load("brief/1").sources
    changes = (shelf.release / "CHANGES.md").read_text()
    assert all(
        part in changes for part in ("default/2", "default/1", "brief/1", str(tried.sha256), "zh/rules.j2", "更短")
    )
    assert shelf.usable(None).name == "default/1"


def test_a_release_can_not_be_promoted(shelf: Shelf) -> None:
    with pytest.raises(Conflict):
        promote(shelf, "default/1", note="…")


def test_the_samples_try_every_released_template() -> None:
    templates = {path.split("/")[1].removesuffix(".j2") for path in BUNDLE.sources}
    parts_of_system = {"rules", "status", "tools", "citing"}
    assert templates - parts_of_system == set(SAMPLES)
    assert check_bundle(BUNDLE) == ()


def test_a_missing_template_is_told(shelf: Shelf) -> None:
    sources = {path: text for path, text in BUNDLE.sources.items() if path != "en/task.j2"}
    assert check_bundle(Bundle(BUNDLE.manifest, sources=sources)) == ("en/task.j2: en/task.j2 is missing",)


def test_a_value_that_nobody_gave_raises(shelf: Shelf) -> None:
    with pytest.raises(UndefinedError):
        shelf.usable(None).render("task", lang="en", read_as=None, history=[], summary=[], missing=[])
