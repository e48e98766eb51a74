"""The column lineage of SQL texts, held to a database: change a source column, run the text again.

    python -m bench.truth.statements [--engine sqlite|duckdb] [--count 200] [--floor 0.99]

Queries are made by a seed from a small grammar over three tables: joins, groups, windows, CASE,
set operations, common table expressions, subqueries. ``graph_model.sql`` gives the edges of each
text, and the package's verdicts are taken as for jobs of Spark. Of SQLite nothing need be
installed; DuckDB is used where it is (it is among the requirements of dbt, not of Headwater).
"""

from __future__ import annotations

import argparse
import importlib
import random
import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bench.selection import positive
from bench.truth.comparison import ROWS, Outcome
from bench.truth.experiment import measure
from bench.truth.formats import TableJob
from bench.truth.jobs import Job, Unmeasurable
from bench.truth.report import Measured, findings, passes, total
from bench.truth.schema import Leaf, Table
from bench.truth.verdicts import UNTESTED, Edge
from graph_model.sql import translate

Connect = Callable[[], Any]
_TYPES: Final = {"int": "BIGINT", "string": "VARCHAR"}
_NAMES: Final = ("ann", "bob", "cid", "dee")


def tables() -> tuple[Table, ...]:
    """Small tables whose keys meet: what is changed in one must move something."""
    source = random.Random(1)
    shape = {"k": "int", "g": "int", "v": "int", "w": "int", "s": "string"}
    return tuple(
        Table(
            name,
            shape,
            tuple(
                {
                    "k": place,
                    "g": source.randrange(4),
                    "v": source.randrange(100),
                    "w": source.randrange(100),
                    "s": f"{source.choice(_NAMES)}{source.randrange(9)}",
                }
                for place in range(12)
            ),
        )
        for name in ("r", "t", "u")
    )


# --- queries from a seed --------------------------------------------------------------------------


class Grammar:
    """Makes queries; every output is an integer or a text, every function is in both engines."""

    def __init__(self, source: random.Random) -> None:
        self._source = source

    def query(self) -> str:
        made = self._source.choice((self._plain, self._joined, self._grouped, self._united))
        text = made(2)
        if self._source.random() < 0.3:
            text = f"WITH c AS ({text}) SELECT c.x AS x, c.y + 1 AS y, c.z AS z FROM c"
        return text

    def _one_of(self, *texts: str) -> str:
        return self._source.choice(texts)

    def _number(self, alias: str, depth: int = 2) -> str:
        column = f"{alias}.{self._one_of('k', 'g', 'v', 'w')}"
        if depth == 0:
            return column
        inner = self._number(alias, depth - 1)
        return self._one_of(
            column,
            f"{column} * 2 + {inner}",
            f"coalesce({column}, {inner})",
            f"CASE WHEN {self._condition(alias)} THEN {inner} ELSE {column} END",
            f"length({alias}.s)",
            f"abs({inner} - 7)",
        )

    def _text(self, alias: str) -> str:
        return self._one_of(
            f"{alias}.s", f"upper({alias}.s)", f"{alias}.s || '-' || {alias}.s",
            f"CASE WHEN {self._condition(alias)} THEN {alias}.s ELSE 'x' END",
        )  # fmt: skip

    def _condition(self, alias: str) -> str:
        return self._one_of(
            f"{alias}.v > 30", f"{alias}.g IN (0, 1, 2)", f"{alias}.w < 80 OR {alias}.v > 90",
            f"{alias}.s LIKE '%n%'",
        )  # fmt: skip

    def _source_of(self, depth: int) -> str:
        name = self._one_of("r", "t", "u")
        if depth == 0 or self._source.random() < 0.6:
            return name
        inner = "q.k, q.g, q.v + q.w AS v, q.w, q.s"
        return f"(SELECT {inner} FROM {name} q WHERE {self._condition('q')})"

    def _windowed(self, alias: str) -> str:
        order = f"ORDER BY {alias}.v, {alias}.k"
        return self._one_of(
            f"sum({alias}.v) OVER (PARTITION BY {alias}.g)",
            f"row_number() OVER (PARTITION BY {alias}.g {order})",
            f"lag({alias}.w) OVER ({order})",
        )

    def _plain(self, depth: int) -> str:
        z = self._one_of(self._windowed("a"), self._number("a"), self._scalar("a"))
        where = f" WHERE {self._condition('a')}" if self._source.random() < 0.5 else ""
        return (
            f"SELECT {self._text('a')} AS x, {self._number('a')} AS y, {z} AS z "
            f"FROM {self._source_of(depth)} a{where}"
        )

    def _scalar(self, alias: str) -> str:
        return f"(SELECT max(i.w) FROM {self._one_of('r', 't', 'u')} i WHERE i.g = {alias}.g)"

    def _joined(self, depth: int) -> str:
        side = self._one_of("JOIN", "LEFT JOIN")
        where = self._one_of(
            "", f" WHERE {self._condition('a')}",
            " WHERE EXISTS (SELECT 1 FROM u i WHERE i.g = a.g AND i.v > 50)",
        )  # fmt: skip
        return (
            f"SELECT {self._text('a')} AS x, {self._number('b')} AS y, a.v - b.w AS z "
            f"FROM {self._source_of(depth)} a {side} {self._source_of(depth)} b ON a.k = b.k{where}"
        )

    def _grouped(self, depth: int) -> str:
        having = self._one_of("", " HAVING count(*) > 1", " HAVING sum(a.w) > 100")
        measured = self._one_of(
            "sum(a.v)", "max(a.w)", f"min({self._number('a', 1)})", "count(a.v)"
        )
        return (
            f"SELECT min(a.s) AS x, a.g AS y, {measured} AS z "
            f"FROM {self._source_of(depth)} a GROUP BY a.g{having}"
        )

    def _united(self, depth: int) -> str:
        word = self._one_of("UNION ALL", "UNION", "EXCEPT")
        return f"{self._plain(0)} {word} {self._joined(depth - 1)}"


def statements(count: int, seed: int) -> Iterator[Job]:
    """Queries as jobs; the text is what ``build`` gives."""
    grammar = Grammar(random.Random(seed))
    for number in range(count):
        text = grammar.query()
        names = tuple(name for name in ("r", "t", "u") if f" {name} " in f"{text} ")
        yield text_job(f"query-{number}", names, text)


def text_job(name: str, names: tuple[str, ...], text: str) -> Job:
    return Job(name, names, lambda _: text)


# --- running and reading them ---------------------------------------------------------------------


@dataclass(frozen=True)
class Database:
    """A ``Runner``: each outcome is of a new database in memory."""

    connect: Connect
    tables: Mapping[str, Table]

    def outcome(self, job: Job | TableJob, changed: Table | None = None) -> Outcome:
        assert isinstance(job, Job)
        connection = self.connect()
        try:
            for each in self.tables.values():
                _create(connection, changed if changed and changed.name == each.name else each)
            cursor = connection.execute(job.build(None))
            names = tuple(described[0] for described in cursor.description)
            return Outcome(names, tuple(sorted(map(tuple, cursor.fetchall()), key=repr)))
        finally:
            connection.close()


def _create(connection: Any, made: Table) -> None:
    columns = ", ".join(f"{name} {_TYPES[str(kind)]}" for name, kind in made.columns.items())
    connection.execute(f"CREATE TABLE {made.name} ({columns})")
    marks = ", ".join("?" for _ in made.columns)
    rows = [tuple(row[name] for name in made.columns) for row in made.rows]
    connection.executemany(f"INSERT INTO {made.name} VALUES ({marks})", rows)


def edges(job: Job, known: Mapping[str, Table], dialect: str) -> list[Edge]:
    """What the translator reads in the text of a job; raises Unmeasurable where it has a gap."""
    schemas = {name: tuple(made.columns) for name, made in known.items()}
    (statement,) = translate(job.build(None), dialect, schemas=schemas)
    if statement.gaps:
        raise Unmeasurable(f"{job.name}: {statement.gaps[0].code}")
    places = {"#x": 0, "#y": 1, "#z": 2, None: ROWS}
    return [
        Edge(_leaf(source), places[column.to], column.kind, column.how)
        for column in statement.columns
        for source in column.sources
    ]


def _leaf(source: str) -> Leaf:
    name, _, column = source.partition("#")
    return Leaf(name, column)


def engines() -> dict[str, Connect]:
    """How to connect to each engine that is installed, by dialect."""
    result: dict[str, Connect] = {"sqlite": lambda: sqlite3.connect(":memory:")}
    try:
        duckdb = importlib.import_module("duckdb")
    except ImportError:
        return result
    return {**result, "duckdb": lambda: duckdb.connect(":memory:")}


def main(arguments: Sequence[str]) -> int:
    """0 when precision and recall reach the floor, else 1; 2 where the engine is not installed."""
    parser = argparse.ArgumentParser(prog="python -m bench.truth.statements")
    parser.add_argument("--engine", default="sqlite", choices=("sqlite", "duckdb"))
    parser.add_argument("--count", type=positive, default=200, help="queries")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--floor", type=float, default=0.99, help="of precision and of recall")
    options = parser.parse_args(arguments)
    connect = engines().get(options.engine)
    if connect is None:
        sys.stderr.write("duckdb is not installed\n")
        return 2
    database = Database(connect, {made.name: made for made in tables()})
    measured: list[Measured] = []
    for job in statements(options.count, options.seed):
        try:
            read = edges(job, database.tables, options.engine)
            measured.append(measure(database, job, read, seeds=1))
        except Unmeasurable as reason:
            sys.stdout.write(f"skipped: {reason}\n")
            continue
        wrong = [line for line in findings(measured[-1]) if not line.startswith(UNTESTED)]
        sys.stdout.writelines(f"{line}\n  {job.build(None)}\n" for line in wrong)
    whole = total(measured)
    sys.stdout.write(
        f"{len(measured)} queries of {options.count}, {whole.confirmed} edges confirmed, "
        f"{whole.refuted} refuted, {whole.untested} untested; {whole.explained} movements "
        f"explained, {whole.missing} not; precision {whole.precision:.3f}, "
        f"recall {whole.recall:.3f}\n"
    )
    return 0 if passes(whole, options.floor) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
