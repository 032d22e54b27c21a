"""Log files: a new one at each start, the last ones kept."""

from pathlib import Path

from scripts.citebound.supervisor.logs import KEPT, rotate, tail


def test_a_start_keeps_the_logs_of_the_last_three(tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    for start in range(6):
        rotate(log)
        log.write_text(f"第 {start} 次启动")
    kept = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert len(kept) == KEPT + 1
    assert kept == {f"worker.log{suffix}": f"第 {5 - age} 次启动" for age, suffix in enumerate(["", ".1", ".2", ".3"])}


def test_only_lines_of_this_start_are_shown(tmp_path: Path) -> None:
    log = tmp_path / "api.log"
    log.write_text("earlier\n")
    since = log.stat().st_size
    with log.open("a") as file:
        file.write("".join(f"第 {number} 行\n" for number in range(30)))
    assert tail(log, lines=2, since=since) == ["第 28 行", "第 29 行"]
    assert tail(log, lines=100, since=since)[0] == "第 0 行"
    assert tail(tmp_path / "none.log") == []
