"""Generated SQL is translated without a gap, and its sources are the columns that SQLite shows to
move."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.truth.experiment import measure
from bench.truth.jobs import Unmeasurable
from bench.truth.statements import (
    Database,
    edges,
    engines,
    main,
    statements,
    tables,
    text_job,
)
from bench.truth.verdicts import REFUTED

DATABASE = Database(engines()["sqlite"], {made.name: made for made in tables()})


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1_000_000))
def test_sources_of_a_generated_query_are_the_columns_that_move(seed: int) -> None:
    (job,) = statements(1, seed)
    read = edges(job, DATABASE.tables, "sqlite")
    try:
        judgement = measure(DATABASE, job, read, seeds=1).judgement
    except Unmeasurable:  # it gives no rows
        return
    assert (judgement.missing, judgement.of(REFUTED)) == ((), ())


def test_a_source_that_the_translator_misses_is_found() -> None:
    job = text_job("query", ("t",), "SELECT s AS x, v + w AS y, k AS z FROM t")
    read = edges(job, DATABASE.tables, "sqlite")
    kept = [edge for edge in read if edge.source.column != "w"]
    missing = measure(DATABASE, job, kept, seeds=1).judgement.missing
    assert {(pair.source.text, pair.output) for pair in missing} == {("t.w", 1)}


def test_the_command_prints_the_shares(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--count", "2"]) == 0
    assert "precision 1.000, recall 1.000" in capsys.readouterr().out
