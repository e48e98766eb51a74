"""The weekly look at the newest clients: what is compared, what is run, and how it ends."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from bench.newest import (
    AS_TESTED,
    BROKE,
    CLIENTS,
    NOT_RUN,
    PASSED,
    UNKNOWN,
    Client,
    Outcome,
    exit_code,
    is_newer,
    main,
    newest_release,
    outcome,
    reason,
    table,
    version_in,
)

ROOT = Path(__file__).parents[3]
CLIENT = Client("spark", "lock", r"^spark==(\S+)", ("tests/a.py",), ("spark=={}",))


@pytest.mark.parametrize(
    ("version", "tested", "newer"),
    [
        ("1.10", "1.9", True),
        ("1.9", "1.10", False),
        ("4.3.0", "4.3", False),
        ("4.3.1", "4.3", True),
        ("4.3.0rc1", "4.3.0", False),
        ("2.0.9", "", True),
    ],
)
def test_versions_are_compared_by_their_numbers(version: str, tested: str, newer: bool) -> None:
    assert is_newer(version, tested) is newer


def test_the_tested_version_is_the_newest_of_those_that_the_text_names() -> None:
    assert version_in(CLIENT, "a==9\nspark==1.9\nspark==1.10 \\\n") == "1.10"
    assert version_in(CLIENT, "sparkles==1") == ""


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_the_version_of_a_client_is_where_its_line_says(client: Client) -> None:
    reply = version_in(client, (ROOT / client.source).read_text("utf-8"))
    assert re.match(r"\d+\.\d+", reply) or client.name == "dbt"
    assert bool(client.tests) is not bool(client.why)
    assert all((ROOT / word).exists() for word in client.tests if word.startswith("tests/"))


def looked_at(
    newest: str,
    failed: Sequence[str] = (),
    *,
    client: Client = CLIENT,
    tested: str = "1.9",
    everything: bool = False,
) -> tuple[Outcome, list[str]]:
    """The outcome, and the versions that were run."""
    runs: list[str] = []

    def run(_: Client, version: str) -> Sequence[str]:
        runs.append(version)
        return failed

    return outcome(client, tested, lambda _: newest, run, everything=everything), runs


def test_a_newer_version_is_run_and_what_fails_is_named() -> None:
    assert looked_at("1.10") == (Outcome("spark", "1.9", "1.10", PASSED), ["1.10"])
    failed = [f"test_{n}" for n in range(7)]
    broke, _ = looked_at("1.10", failed)
    assert (broke.result, broke.changed) == (BROKE, "test_0, test_1, test_2, test_3, test_4, …")


def test_the_tested_version_is_run_when_it_is_asked_for() -> None:
    assert looked_at("1.9") == (Outcome("spark", "1.9", "1.9", AS_TESTED), [])
    assert looked_at("1.9", everything=True)[1] == ["1.9"]


def test_a_client_without_tests_says_what_is_missing_once_there_is_something_newer() -> None:
    recorded = Client("dag", "events", "", why="a recording")
    assert looked_at("2", client=recorded, tested="1")[0].changed == "a recording"
    assert looked_at("1", client=recorded, tested="1", everything=True)[0].result == AS_TESTED
    assert looked_at("1", client=recorded, tested="")[0].result == NOT_RUN


def test_a_registry_that_does_not_answer_is_no_good_news() -> None:
    def silent(*_: object) -> str:
        raise OSError("no route")

    assert outcome(CLIENT, "1", silent, silent, everything=False).result == UNKNOWN
    row = outcome(CLIENT, "1", lambda _: "2", silent, everything=False)
    assert (row.result, row.changed) == (UNKNOWN, "no route")
    needing = replace(CLIENT, needs="it asks elsewhere")
    row = outcome(needing, "1", lambda _: "2", silent, everything=False)
    assert row.changed == "it asks elsewhere: no route"


def test_an_archive_has_the_newest_of_its_releases() -> None:
    listed = "<version>4.9.0</version><version>4.10.0</version><version>4.11.0-rc1</version>"
    assert newest_release(listed) == "4.10.0"
    with pytest.raises(OSError, match="no release"):
        newest_release("<version>1.0-rc1</version>")


def test_of_what_a_command_says_the_error_counts() -> None:
    said = "Traceback\n      RuntimeError: no route to h\n  note: not pip\nhint: See above.\n"
    assert reason(said) == "RuntimeError: no route to h"
    assert reason("a\nb\n") == "b"
    assert reason("") == ""


@pytest.mark.parametrize(
    ("results", "code"),
    [
        ((AS_TESTED, PASSED, NOT_RUN), 0),
        ((PASSED, UNKNOWN), 2),
        ((UNKNOWN, BROKE, PASSED), 1),
    ],
)
def test_only_what_breaks_or_is_unknown_fails(results: Sequence[str], code: int) -> None:
    assert exit_code([Outcome("a", "1", "2", result) for result in results]) == code


def test_the_table_has_a_row_a_client() -> None:
    rows = [Outcome("spark", "1.9", "1.10", PASSED), Outcome("dag", "", "2", BROKE, "test_a")]
    assert table(rows).splitlines() == [
        "client  tested  newest  result  what changed",
        "spark   1.9     1.10    passed",
        "dag     -       2       broke   test_a",
    ]


def test_an_unknown_client_is_refused_with_those_that_are_known(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["--only", "sparkle"])
    assert "known are: pyspark" in capsys.readouterr().err


def test_help_says_what_is_run_and_what_the_exit_codes_mean(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    said = capsys.readouterr().out
    assert "build/newest" in said
    assert "1 where a version newer than the tested one breaks" in said
