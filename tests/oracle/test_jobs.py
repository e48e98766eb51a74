"""Jobs whose writes are known, reported as Spark reports them: each write is found once.

The rule never sees the jobs. It gets the agents' reports, one execution for each command
that ended, and must put those of one statement together and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_model import labels
from graph_model.lineage.history import group_executions
from graph_model.stores.catalogue_values import SuccessfulWrite

_OVERWRITE, _APPEND, _DYNAMIC = labels.OVERWRITE, labels.APPEND, labels.OVERWRITE_PARTITIONS
_FILES = "InsertIntoHadoopFsRelationCommand"
_HIVE = "InsertIntoHiveTable"
_CREATE = "CreateDataSourceTableAsSelectCommand"

#: Per statement the commands that Spark reports, each with its mode, in the order of their ends.
#: Read in Spark 3.5 and 4.0: a CREATE fills a table that it has just made by an overwrite, one
#: that was there by an append; Hive's insert appends both times.
STATEMENTS: Final = {
    "INSERT INTO": ((_FILES, _APPEND),),
    "INSERT OVERWRITE": ((_FILES, _OVERWRITE),),
    "INSERT OVERWRITE PARTITION": ((_FILES, _DYNAMIC),),
    "CREATE TABLE AS SELECT": ((_FILES, _OVERWRITE), (_CREATE, _OVERWRITE)),
    "CREATE TABLE AS SELECT, dynamic": ((_FILES, _DYNAMIC), (_CREATE, _OVERWRITE)),
    "saveAsTable, append": ((_FILES, _APPEND), (_CREATE, _APPEND)),
    "INSERT OVERWRITE DIRECTORY": (
        (_FILES, _OVERWRITE),
        ("InsertIntoDataSourceDirCommand", _OVERWRITE),
    ),
    "INSERT OVERWRITE DIRECTORY, Hive": (("InsertIntoHiveDirCommand", _OVERWRITE),),
    "CREATE TABLE AS SELECT, Hive": (
        (_HIVE, _APPEND),
        ("CreateHiveTableAsSelectCommand", _OVERWRITE),
    ),
    "INSERT INTO, Hive": ((_HIVE, _APPEND),),
    "DROP TABLE": (),
}
_AGENTS: Final = ("spline 2.2.0", "headwater-listener 0.2.0")


@dataclass(frozen=True, slots=True)
class Job:
    """The statements of one application, one after another, and the reports of them."""

    statements: tuple[str, ...]
    rows: tuple[SuccessfulWrite, ...]
    writes: frozenset[frozenset[str]]


def some_job(random: Random, agents: tuple[str, ...]) -> Job:
    """Statements on one table in quick succession; few sources, so that reads are often equal."""
    statements: list[str] = []
    rows: list[SuccessfulWrite] = []
    writes: set[frozenset[str]] = set()
    at, behind = 0, random.choice((0, 3, 90))
    for number in range(random.randint(2, 8)):
        statement = random.choice(sorted(STATEMENTS))
        reads = random.choice(("orders", "orders", "people"))
        at += random.choice((1, 20, 158, 1_000, 9_999, 10_001))
        ends = [at := at + random.choice((1, 225, 9_000)) for _ in STATEMENTS[statement]]
        answer = [
            _row(f"{number}{agent[0]}{command}", end + lag, agent, reads, command, mode)
            for lag, agent in zip((0, behind), agents, strict=False)
            for (command, mode), end in zip(STATEMENTS[statement], ends, strict=True)
        ]
        statements.append(f"{statement} from {reads} at {at}")
        rows += answer
        writes |= {frozenset(row.id for row in answer)} if answer else set()
    return Job(tuple(statements), tuple(rows), frozenset(writes))


def _row(key: str, at: int, producer: str, reads: str, command: str, mode: str) -> SuccessfulWrite:
    return SuccessfulWrite(
        id=key, target="t", at=at, logical_plan=f"p-{key}", job="j", mode=mode, dynamic=False,
        command=command, producer=producer, application_id="app", reads=reads,
    )  # fmt: skip


def found(job: Job) -> frozenset[frozenset[str]]:
    groups = group_executions(job.rows)
    return frozenset(frozenset(row.id for row in group) for group in groups)


@pytest.mark.parametrize("agents", [_AGENTS[:1], _AGENTS])
@given(st.integers(0, 2**32))
def test_every_statement_of_a_job_is_one_write(agents: tuple[str, ...], seed: int) -> None:
    job = some_job(Random(seed), agents)
    assert found(job) == job.writes, "\n".join(job.statements)


def _at(*times: tuple[str, int]) -> Iterator[SuccessfulWrite]:
    for number, (statement, end) in enumerate(times):
        (answer, *_) = STATEMENTS[statement]
        yield _row(f"{number}", end, "spline 2.2.0", "orders", *answer)


def test_an_append_just_after_a_create_table_as_select_is_a_write() -> None:
    """Times of the stock agent: the append is nearer to the command than its own insert."""
    insert, append = _at(("CREATE TABLE AS SELECT", 391), ("INSERT INTO", 774))
    create = _row("c", 616, "spline 2.2.0", "orders", _CREATE, _OVERWRITE)
    groups = group_executions([insert, append, create])
    assert groups == [(insert, create), (append,)]


def test_a_create_table_in_append_mode_that_makes_the_table_is_told_as_two_writes() -> None:
    """``saveAsTable`` says append of a table that its insert overwrites: nobody knows whether they
    are one. Both read the same, so no lineage answer differs.
    """
    (insert,) = _at(("INSERT OVERWRITE", 391))
    create = _row("c", 616, "spline 2.2.0", "orders", _CREATE, _APPEND)
    assert group_executions([insert, create]) == [(insert,), (create,)]
