"""What ``make test-busy`` counts, and the order in which it runs the files."""

from __future__ import annotations

from pathlib import Path

from tests.busy import FASTEST, Round, counted, shuffled

FILES = [f"tests/test_{n}.py" for n in range(20)]


def test_a_seed_has_one_order_of_the_files_and_another_seed_another() -> None:
    assert shuffled(FILES, 7) == shuffled(FILES[::-1], 7)
    assert shuffled(FILES, 7) != shuffled(FILES, 8)
    assert sorted(shuffled(FILES, 7)) == sorted(FILES)


def test_errors_and_failures_of_a_round_are_counted(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    suite = '<testsuite name="pytest" errors="1" failures="2" skipped="4" tests="90" time="1.5"/>'
    report.write_text(f"<testsuites>{suite}</testsuites>", "utf-8")
    assert counted(report, 7) == Round(7, 90, 3)
    assert counted(report, 7).failed


def test_a_round_without_a_report_has_failed(tmp_path: Path) -> None:
    assert counted(tmp_path / "nothing.xml", 7).failed
    assert not Round(7, 90, 0).failed


def test_the_fastest_tests_are_folders_that_there_are() -> None:
    tests = Path(__file__).parents[1]
    assert [folder for folder in FASTEST if not (tests / folder).is_dir()] == []
