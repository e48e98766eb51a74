"""One job put to the test: its edges, its re-runs, the judgement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from bench.truth.comparison import Outcome, compare
from bench.truth.formats import TableJob
from bench.truth.jobs import Job, Unmeasurable
from bench.truth.perturbation import BLANK, Change, Perturbed, changes, perturb
from bench.truth.report import Measured
from bench.truth.schema import Leaf, Row, Table, leaves, values_at
from bench.truth.verdicts import DIRECT, IDENTITY, Edge, Probe, judge


class Runner(Protocol):
    """Runs jobs: Spark, or a function in tests."""

    @property
    def tables(self) -> Mapping[str, Table]: ...

    def outcome(self, job: Job | TableJob, changed: Table | None = None) -> Outcome: ...


def measure(runner: Runner, job: Job | TableJob, edges: Sequence[Edge], *, seeds: int) -> Measured:
    """Run the job once as it is, then once for each change. Raises Unmeasurable when it
    gives no rows, or not the same ones twice: then nothing can be said about movements."""
    before = runner.outcome(job)
    if runner.outcome(job) != before:
        raise Unmeasurable(f"{job.name} gives another outcome each time")
    if not before.rows:
        raise Unmeasurable(f"{job.name} gives no rows")
    key = tuple(before.columns.index(name) for name in job.key)
    runs: list[tuple[Change, Perturbed, Outcome]] = []
    strangers = set(_strangers(runner.tables, edges, before))
    for change in planned(job, runner.tables, seeds):
        made = perturb(runner.tables[change.leaf.table], change)
        after = runner.outcome(job, made.table)
        runs.append((change, made, after))
        strangers.update(_strangers({**runner.tables, made.table.name: made.table}, edges, after))
    probes = list(compared(before, runs, key))
    judgement = judge(edges, probes, key=key, strangers=strangers)
    return Measured(job.name, before.columns, len(before.rows), len(probes), judgement)


def compared(
    before: Outcome, runs: Sequence[tuple[Change, Perturbed, Outcome]], key: Sequence[int]
) -> Iterator[Probe]:
    """A key aligns rows unless it was changed itself: ids dealt out anew would pair each row
    with a stranger, and all of its columns would seem to move. Its own values tell: they arrive
    in a key column."""
    of_key = {
        change.leaf
        for change, made, after in runs
        if compare(before, after, fresh=made.fresh).arrived & set(key)
    }
    for change, made, after in runs:
        align = () if change.leaf in of_key else key
        yield Probe(change, compare(before, after, key=align, fresh=made.fresh))


def planned(job: Job | TableJob, tables: Mapping[str, Table], seeds: int) -> Iterator[Change]:
    """The changes of the columns that the job may read. One seed of NULLs is enough."""
    result: list[tuple[Leaf, str]] = [
        (leaf, data_type)
        for name in job.tables
        for leaf, data_type in leaves(tables[name])
        if job.columns is None or leaf.column in job.columns
    ]
    for change in changes(result, seeds=seeds):
        if change.strategy != BLANK or change.seed == 0:
            yield change


def _strangers(
    tables: Mapping[str, Table], edges: Sequence[Edge], outcome: Outcome
) -> Iterator[int]:
    """Outputs that are said to be copies, with a value that no such source holds. NULL is no
    value: outer joins and grouping sets make it. Whole structs and arrays are left out."""
    for place in range(len(outcome.columns)):
        direct = [edge for edge in edges if edge.output == place and edge.kind == DIRECT]
        if not direct or any(edge.how != IDENTITY for edge in direct):
            continue
        if not all(_is_stored(tables[edge.source.table], edge.source) for edge in direct):
            continue
        held: set[Any] = set()
        for edge in direct:
            held.update(_simple(tables[edge.source.table].rows, edge.source))
        shown = {row[place] for row in outcome.rows} - {None}
        if all(not isinstance(value, tuple) for value in shown) and not shown <= held:
            yield place


def _is_stored(table: Table, source: Leaf) -> bool:
    """Whether the column is stored: a format adds others that describe rows (``_change_type``)."""
    return all(source.column in row for row in table.rows)


def _simple(rows: Sequence[Row], source: Leaf) -> Iterator[Any]:
    for row in rows:
        for value in values_at(row[source.column], source.path):
            if not isinstance(value, dict | list):
                yield value
