"""What holds for the repository as a whole."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.promises import PROMISES

ROOT = Path(__file__).resolve().parents[2]


def _tracked() -> list[Path]:
    listing = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    if listing.returncode != 0:
        pytest.skip("not a git checkout")
    return [ROOT / line for line in listing.stdout.splitlines() if (ROOT / line).is_file()]


def test_every_promise_has_a_test_that_carries_its_number() -> None:
    marks = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    proven = set(re.findall(r"@promise\(\"(P\d+)\"\)", marks))
    assert proven == set(PROMISES)


def test_every_folder_with_code_has_a_map() -> None:
    folders = {path.parent for path in _tracked() if path.suffix == ".py" and path.name != "__init__.py"}
    tests = {folder for folder in folders if folder.is_relative_to(ROOT / "tests") and folder != ROOT / "tests"}
    stand_ins = {folder for folder in folders if "offline" in folder.parts}
    missing = [
        str(folder.relative_to(ROOT)) for folder in folders - tests - stand_ins if not (folder / "README.md").is_file()
    ]
    assert missing == []


def test_the_top_level_holds_only_the_agreed_entries() -> None:
    agreed = {
        "pyproject.toml",
        "README.md",
        "api",
        "worker",
        "shared",
        "deploy",
        "tests",
        "prompts",
        "scripts",
        "uv.lock",
        "LICENSE",
        "CHANGELOG.md",
    }
    entries = {path.relative_to(ROOT).parts[0] for path in _tracked()}
    assert {entry for entry in entries if not entry.startswith(".")} - agreed == set()


def test_the_lock_names_no_host_but_the_public_index() -> None:
    hosts = set(re.findall(r"https?://([^/\"]+)", (ROOT / "uv.lock").read_text()))
    assert hosts <= {"pypi.org", "files.pythonhosted.org"}


def test_no_file_names_a_home_or_work_folder_of_some_machine() -> None:
    machine_path = re.compile(r"(?<![\w.$~])/(?:home|root|Users|work)/\w")
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in _tracked()
        if path.suffix in {".py", ".md", ".toml", ".sh", ".html", ".js", ".css", ".yml", ".yaml", ""}
        and path.name != Path(__file__).name
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1)
        if machine_path.search(line)
    ]
    assert found == []
