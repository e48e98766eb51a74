r"""What a plan and its events say of tables: partitions, names, versions, and those of a query.

An overwrite of a partitioned table may leave the partitions alone that it does not write: Spark
decides by its configuration, which the stock agent does not send. It sends signs:

    params {"__partition_columns": "[\"dt\"]"}      partitionBy("dt"): it may be partial
    params {"partitionOverwriteMode": "dynamic"}    an option of the write: it is
    event  {"writeMetrics": {"numParts": 2}}        two partitions were written: it may be

``ALTER TABLE ... RENAME TO`` gives earlier writes another name:

    "renamed": {"from": {"source": "file:/lake/a", "table": "a", "database": "db"},
                "to": {"source": "file:/lake/b", "table": "b", "database": "db"}}

The write of a plan says so in its ``extra``. Where the data moved with the name, two places are
named: the plan reads the former and overwrites the current one, and a second plan empties the
former. Where it stayed, two catalog names are, and the former stands for nothing from then on.

The versions of tables that an execution wrote and read are in its event:

    "writtenVersion": {"id": "5441396548426740115", "number": 2, "branch": "audit"}
    "readVersions": [{"source": "s3://lake/t", "id": "0", "number": 0, "since": 0}]

A read that is not listed is an ordinary one: the main branch as it was at its time.

A JDBC read may be one of a query, in its URI: it reads the tables of the query.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, NamedTuple, TypeGuard

from graph_model import identity, labels, naming
from graph_model.facts import EVERY_BRANCH, MAIN_BRANCH, NO_NUMBER, Version
from graph_model.naming import DatasetName, Rules
from graph_model.producers.elements import Column, Rename, is_version_text, version_of_text
from graph_model.producers.spline.documents import ExecutionEvent, ExecutionPlan, Operation
from graph_model.sql import OpenLeaf

# --- the partitions that a write replaces ---------------------------------------------------------


_DYNAMIC_COMMAND: Final = "OverwritePartitionsDynamic"
_TABLE_MAKERS: Final = ("TableAsSelect", "TableAsSelectCommand")
_COLUMNS_OPTION: Final = "__partition_columns"
_MODE_OPTION: Final = "partitionoverwritemode"
_CONDITION_OPTION: Final = "replacewhere"


def partition_columns(write: Operation) -> tuple[str, ...]:
    """Folded names of the partition columns from the listener or from ``partitionBy``."""
    listed = write.extra["partitionColumns"] if _is_listed(write) else _columns_of_option(write)
    return tuple(naming.fold(key) for key in listed if isinstance(key, str))


def _is_listed(write: Operation) -> bool:
    """The listener lists the columns, and reads from Spark whether the write
    keeps some partitions.
    """
    return isinstance(write.extra.get("partitionColumns"), list)


def _columns_of_option(write: Operation) -> list[Any]:
    listed = write.params.get(_COLUMNS_OPTION)
    if isinstance(listed, str):
        try:
            listed = json.loads(listed)
        except (ValueError, RecursionError):
            listed = [listed]  # an unknown name, but a partition
    return listed if isinstance(listed, list) else []


def leaves_some(plan: ExecutionPlan) -> bool | None:
    """Whether an overwrite keeps some partitions or rows; None where not reported."""
    write = plan.write
    reported = write.extra.get("dynamicPartitionOverwrite")
    if isinstance(reported, bool):
        return reported or write.name == _DYNAMIC_COMMAND
    if write.name == _DYNAMIC_COMMAND:
        return True
    if _is_listed(write) or write.name.endswith(_TABLE_MAKERS):
        return False  # a table just created holds nothing else
    options = {name.lower(): value for name, value in write.params.items()}
    if _CONDITION_OPTION in options or not _takes_all(plan, options.get("deleteexpr", True)):
        return True
    mode = options.get(_MODE_OPTION)
    return mode.lower() == "dynamic" if isinstance(mode, str) else None


def _takes_all(plan: ExecutionPlan, condition: Any) -> bool:
    """Whether the condition by which rows are replaced is the literal ``true``."""
    if isinstance(condition, Mapping):
        constant = plan.constants.get(str(condition.get("__exprId")))
        condition = None if constant is None else constant.value
    return condition is True or condition == "true"


def may_leave_some(plan: ExecutionPlan, mode: str) -> bool:
    """Whether the document shows an overwrite, but not whether it keeps some partitions."""
    return (
        mode == labels.OVERWRITE
        and bool(partition_columns(plan.write))
        and leaves_some(plan) is None
    )


def wrote_partitions(event: ExecutionEvent) -> bool:
    """Whether the write counted partitions; a table without any has none."""
    metrics = event.extra.get("writeMetrics")
    count = metrics.get("numParts") if isinstance(metrics, Mapping) else None
    return isinstance(count, int | float) and count > 0


# --- names ----------------------------------------------------------------------------------------


_RENAMED: Final = "renamed"


def is_in_place(write: Operation) -> bool:
    """Whether a write only renames its data."""
    ends = _ends(write)
    return ends is not None and ends[0]["source"] == ends[1]["source"]


def read_rename(write: Operation, scope: str, rules: Rules) -> Rename | None:
    """None for a write that renames nothing, or whose rename is malformed and so ignored."""
    ends = _ends(write)
    if ends is None:
        return None
    in_place = is_in_place(write)
    former, current = (_named(end, scope, rules, by_name=in_place) for end in ends)
    if former is None or current is None or _place(former) == _place(current):
        return None
    return Rename(former, current, in_place)


def _ends(write: Operation) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
    reported = write.extra.get(_RENAMED)
    ends = reported if isinstance(reported, Mapping) else {}
    former, current = ends.get("from"), ends.get("to")
    if not isinstance(former, Mapping) or not isinstance(current, Mapping):
        return None
    texts = (end.get("source") for end in (former, current))
    return (former, current) if all(isinstance(text, str) and text for text in texts) else None


def _named(
    end: Mapping[str, Any], scope: str, rules: Rules, *, by_name: bool
) -> DatasetName | None:
    if not by_name:
        return naming.normalise(end["source"], scope, rules)[0]
    table, database = end.get("table"), end.get("database")
    if not isinstance(table, str) or not table:
        return None
    uri = naming.catalog_table(database if isinstance(database, str) else None, table)
    return naming.normalise(uri, scope, rules)[0]


def _place(name: DatasetName) -> str:
    return identity.dataset_id(name.scope, name.uri)


# --- versions -------------------------------------------------------------------------------------


MAX_READS: Final = 200
_MAX_NUMBER: Final = 2**63 - 1
_MAIN: Final = "main"
_DELTA_OPTION: Final = "versionasof"
_ICEBERG_OPTION: Final = "snapshot-id"


def read_version(reported: Any) -> Version | None:
    """None for a malformed version, which is ignored."""
    if not isinstance(reported, Mapping):
        return None
    key, branch = reported.get("id"), reported.get("branch", _MAIN)
    number, since = reported.get("number"), reported.get("since", NO_NUMBER)
    if not is_version_text(key) or not is_version_text(branch) or branch == EVERY_BRANCH:
        return None
    if not _is_number(number) or ("since" in reported and not _is_number(since)):
        return None
    return Version(key, number, MAIN_BRANCH if branch == _MAIN else branch, since)


def _is_number(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_NUMBER


def version_of_options(options: Mapping[str, Any]) -> Version | None:
    """The version in the options of a read, as the stock agent sends them: ``versionAsOf`` of Delta
    (of Iceberg a snapshot's id), ``snapshot-id`` of Iceberg.
    """
    named = {name.lower(): value for name, value in options.items()}
    version = version_of_text(_spelled(named.get(_DELTA_OPTION)))
    if version is not None:
        return version
    snapshot = version_of_text(_spelled(named.get(_ICEBERG_OPTION)))
    return None if snapshot is None else Version(snapshot.id, NO_NUMBER)


def _spelled(value: Any) -> Any:
    return str(value) if _is_number(value) else value


# --- JDBC reads of a query: the table columns behind the read columns ----------------------------

Origin = tuple[Column, str]  # and how the read column comes from it, IDENTITY … CONDITIONAL

JDBC_QUERY: Final = "jdbc-query"
_MOST_PROBLEMS: Final = 20
_MOST_DETAIL: Final = 500
#: The number of queries of one plan that are parsed; a query of fifty characters takes 1 ms.
MOST_QUERIES: Final = 200
MOST_QUERY_CHARACTERS: Final = 200_000
MORE_QUERIES: Final = (JDBC_QUERY, f"queries beyond the first {MOST_QUERIES} are not read")


def is_query_text(source: str) -> bool:
    """Whether a source's URI may contain a query: a table name has no blank and no parenthesis."""
    return source[:4].lower() == "jdbc" and _QUERY_MARK.search(source) is not None


_QUERY_MARK: Final = re.compile(r"[\s(]")


def first_queries(plan: ExecutionPlan) -> frozenset[str]:
    """The queries of a plan to parse: the first ones, in the order of its operations.

    A target is never a query, whatever its form.
    """
    listed = (source for operation in plan.reads for source in operation.sources)
    queries = dict.fromkeys(filter(is_query_text, listed))
    kept = {plan.write.target}
    left = MOST_QUERY_CHARACTERS
    for query in islice(queries, MOST_QUERIES):
        left -= len(query)
        if left < 0:
            break
        kept.add(query)
    return frozenset(kept)


class OpenOrigin(NamedTuple):
    """A column that exactly one of these tables (ids) has: the catalogue's schemas say which when a
    question is asked (``graph_model.lineage.open_columns``).
    """

    among: tuple[str, ...]
    path: str
    how: str


@dataclass(frozen=True, slots=True)
class TableQuery:
    """One query of the read operation ``read``.

    ``origins``, ``opens`` and ``texts`` are by the id of the read attribute; ``influences``
    (column, how, text) and ``open_influences`` (with their texts) decide over the query's rows;
    ``gaps`` (code, detail) are its unresolved parts.
    """

    read: str
    tables: tuple[DatasetName, ...]
    origins: Mapping[str, tuple[Origin, ...]] = field(default_factory=dict)
    opens: Mapping[str, tuple[OpenOrigin, ...]] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    influences: tuple[tuple[Column, str, str], ...] = ()
    open_influences: tuple[tuple[OpenOrigin, str], ...] = ()
    gaps: tuple[tuple[str, str], ...] = ()


def read_query(
    read: str, source: str, columns: Mapping[str, str], scope: str, rules: Rules
) -> TableQuery | None:
    """The query in a source's URI; None where there is none.

    ``columns`` are the attributes read, in order, each with its name.
    """
    parsed = naming.query_lineage(source, tuple(columns.values()), rules)
    if parsed is None:
        return None
    lineage, uris = parsed
    tables = naming.normalise(source, scope, rules)
    known = {identity.dataset_id(name.scope, name.uri) for name in tables}
    named = ((parts, _dataset_id(uri, scope, rules)) for parts, uri in uris.items())
    ids = {parts: dataset_id for parts, dataset_id in named if dataset_id in known}
    pairs = [(key, column) for key, column in zip(columns, lineage.columns, strict=True) if column]

    def opened(leaf: OpenLeaf) -> OpenOrigin | None:
        """None where the plan does not read all the tables: the column may be of another one."""
        among = tuple(sorted({ids.get(table, "") for table in leaf.among}))
        if len(among) < 2 or not all(among):
            return None
        return OpenOrigin(among, _column("", leaf.name)[1], leaf.how)

    opens = {leaf: origin for leaf in lineage.opens if (origin := opened(leaf))}
    problems = {*lineage.problems, *(leaf.text for leaf in lineage.opens if leaf not in opens)}
    return TableQuery(
        read,
        tables,
        {
            key: tuple(
                (_column(ids[parts], name), how)
                for (parts, name), how in column.flows
                if parts in ids
            )
            for key, column in pairs
        },
        {
            key: origins
            for key, column in pairs
            if (origins := tuple(opens[leaf] for leaf in column.opens if leaf in opens))
        },
        {key: column.expression for key, column in pairs},
        tuple(
            (_column(ids[parts], name), influence.how, influence.expression)
            for influence in lineage.influences
            for parts, name in influence.sources
            if parts in ids
        ),
        tuple(
            (opens[leaf], influence.expression)
            for influence in lineage.influences
            for leaf in influence.opens
            if leaf in opens
        ),
        tuple(query_gap(tables, problem) for problem in _bounded(sorted(problems))),
    )


def open_text(opens: OpenOrigin, names: Mapping[str, str]) -> str:
    """``boss: one of dept, emp``, with the names of the tables by their ids."""
    return f"{opens.path}: one of {', '.join(sorted(names[table] for table in opens.among))}"


def _dataset_id(uri: str, scope: str, rules: Rules) -> str:
    name = naming.normalise(uri, scope, rules)[0]
    return identity.dataset_id(name.scope, name.uri)


def _column(dataset_id: str, name: str) -> Column:
    return dataset_id, naming.column_path([naming.fold(name)])


def _bounded(problems: Sequence[str]) -> Sequence[str]:
    if len(problems) <= _MOST_PROBLEMS:
        return problems
    return (*problems[:_MOST_PROBLEMS], f"{len(problems) - _MOST_PROBLEMS:,} more columns")


def query_gap(tables: Sequence[DatasetName], problem: str) -> tuple[str, str]:
    """``("jdbc-query", "emp, dept: boss: one of dept, emp")``."""
    names = ", ".join(name.name for name in tables)
    return JDBC_QUERY, f"{names}: {problem}"[:_MOST_DETAIL]
