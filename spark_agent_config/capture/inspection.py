"""A finished query execution => plain values. The callback runs this while Spark waits.

Every call into the JVM may fail (another Spark version, a vendor's fork, a dropped table): its
value is then missing, and the rest of the document is still right. A query whose plan is
unavailable, or unreadable later, is reported by its tables alone, with a gap.

The projections of an Expand that the plan's JSON leaves out.

Spark writes ``null`` for a sequence that is no plain list, as an unpivot makes it. The listener
then reads the operator in the JVM, one call an expression.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from spark_agent_config.capture.captured import CapturedQuery, Relation, Target
from spark_agent_config.capture.command_effects import GeneratedColumns, WrittenPartitions
from spark_agent_config.capture.command_targets import (
    LIFECYCLE_COMMANDS,
    WRITE_COMMANDS,
    RefusedStatements,
    Targets,
    nameless,
)
from spark_agent_config.capture.procedures import (
    CALL,
    MAINTENANCE_COMMANDS,
    Maintenance,
    Procedures,
)
from spark_agent_config.capture.questions import (
    MOST,
    Questions,
    class_name,
    items,
    planned_at,
    read_map,
    read_metrics,
)
from spark_agent_config.capture.relations import Relations
from spark_agent_config.capture.row_level import HUDI_COMMANDS
from spark_agent_config.capture.streams import StreamVersions
from spark_agent_config.capture.table_moves import (
    COPYING_COMMANDS,
    RENAMING_COMMANDS,
    TableCopies,
    TableRenames,
)
from spark_agent_config.capture.table_versions import VERSIONED_FORMATS, TableVersions
from spark_agent_config.capture.tables import Tables

_MISSING: Final = '"projections":null'
#: Operators and cells that are looked at; beyond these the columns end, with a gap.
_MOST_OPERATORS: Final = 1_000
_MOST_CELLS: Final = 2_000


def with_projections(text: str, plan: Any) -> str:
    """The plan's JSON (``text``), completed. ``plan`` is the JVM's; raises py4j's exceptions."""
    if _MISSING not in text.replace(" ", ""):
        return text
    answers = {
        _first_id(json.loads(str(expand.output().head().toJSON()))): _projections(expand)
        for expand in _operators(plan)
        if class_name(expand) == "Expand"
    }
    nodes = json.loads(text)
    for node in _nodes(nodes):
        if "projections" in node and node["projections"] is None:
            output = node.get("output") or [[{}]]
            node["projections"] = answers.get(_first_id(output[0]))
    return json.dumps(nodes)


def _projections(expand: Any) -> list[list[Any]] | None:
    rows = list(items(expand.projections()))
    if len(rows) * int(expand.output().size()) > _MOST_CELLS:
        return None
    return [[json.loads(str(cell.toJSON())) for cell in items(row)] for row in rows]


def _operators(plan: Any) -> Iterator[Any]:
    """The operators of a plan; a command's query is among its children."""
    pending = [plan]
    for _ in range(_MOST_OPERATORS):
        if not pending:
            return
        node = pending.pop()
        yield node
        pending += [*items(node.children()), *items(node.innerChildren())]


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    """Every node in the JSON, those of nested plans included."""
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, dict):
            yield part
            pending += part.values()
        elif isinstance(part, list):
            pending += part


def _first_id(tree: Any) -> int | None:
    """The expression id at the root of an expression's JSON."""
    root = tree[0] if tree else {}
    number = (root.get("exprId") or {}).get("id")
    return number if isinstance(number, int) else None


_MAX_ERROR_CHARACTERS: Final = 16_000
_READ_METRICS: Final = frozenset({"numOutputRows", "numFiles", "filesSize"})
_INSERTS: Final = frozenset({"InsertIntoHadoopFsRelationCommand", "InsertIntoHiveTable"})
_CHECKPOINTS: Final = frozenset({"checkpoint", "localCheckpoint"})
#: Calls that run a statement of their own, which Spark reports first: Delta's table builder.
_CALLS_AROUND_A_STATEMENT: Final = frozenset({"create delta table"})
#: These hold their parts by other names.
_COMMANDS_WITHOUT_QUERY: Final = {
    "MergeIntoCommand": ("source", "target"),
    "UpdateCommand": ("target",),
    "DeleteCommand": ("target",),
    "DeleteFromTable": ("table",),
    **{name: (held,) for name, (held, _) in HUDI_COMMANDS.items()},
}
_REPORTED: Final = (
    WRITE_COMMANDS
    | LIFECYCLE_COMMANDS
    | COPYING_COMMANDS
    | RENAMING_COMMANDS
    | MAINTENANCE_COMMANDS.keys()
    | {CALL}
)
#: Spark also reports the command that these run, with the same query and target.
_AROUND_ANOTHER: Final = frozenset({"InsertIntoDataSourceDirCommand", "SaveAsV1TableCommand"})
#: Other commands with such a name and a query are taken for writes. A view keeps no data, and the
#: batches of a stream (``WriteTo…``) are reported by the stream.
_LIKE_A_WRITE: Final = re.compile(r"^(?!.*View)(Insert|Save|Append|Overwrite|.*AsSelect)")
#: The table that Hudi's bulk insert appends to, inside a reported command.
_HUDI_BULK: Final = "HoodieDataSourceInternalTable"
_MOST_WRAPPINGS: Final = 5
_SCANS_OF_NOTHING: Final = ("Local", "InMemory", "RDD")

#: The reported name of a streaming write, for every API of its sink.
STREAMING_COMMAND: Final = "WriteToMicroBatchDataSource"

Metrics = dict[str, int]


class Inspector:
    """Inspects the executions of one session. ``jvm`` and the configuration are py4j handles.

    ``is_large`` says of a plan in the JVM that copying it would take too much memory there;
    ``running`` gives the JVM's streaming queries, those whose batches are not all reported too.
    """

    def __init__(
        self,
        jvm: Any,
        hadoop_configuration: Any,
        is_large: Callable[[Any], bool] = lambda _: False,
        running: Callable[[], Sequence[Any]] = tuple,
    ) -> None:
        self._is_large = is_large
        questions = Questions()
        tables = Tables(questions, jvm)
        self._ask = questions.ask
        self._ask_quietly = questions.ask_quietly
        self._versions = TableVersions(questions, jvm, hadoop_configuration)
        self._batches = StreamVersions(questions, self._versions)
        self._relations = Relations(
            questions, tables, self._versions, jvm, self._whole_plan_of, running
        )
        self._targets = Targets(questions, tables, self._relations, jvm, hadoop_configuration)
        self._generated = GeneratedColumns(questions, jvm)
        self._copies = TableCopies(questions, tables, self._targets.qualified, jvm)
        self._maintenance = Maintenance(questions, tables, self._relations)
        self._procedures = Procedures(
            questions, tables, self._relations, self._targets.qualified, jvm
        )
        self._refused = RefusedStatements(questions, tables, self._relations)
        self._renames = TableRenames(questions, tables, self._relations, jvm)
        self._partitions = WrittenPartitions(questions, jvm, hadoop_configuration)
        self._jvm = jvm
        self._inserts: dict[str, tuple[int | None, CapturedQuery]] = {}

    def capture(
        self,
        execution: Any,
        *,
        timestamp: int,
        duration_ns: int | None,
        failure: Any = None,
        function: str = "command",
    ) -> list[CapturedQuery]:
        """The writes of a ``QueryExecution``, none for a query that only reads.

        ``function`` is the job's call, as Spark names it.

        ``FROM x INSERT … INSERT …`` is one execution with several writes. ``timestamp`` is epoch
        ms. Raises py4j's exceptions when not even the command is available.
        """
        if function in _CHECKPOINTS:
            self._relations.remember_checkpoint(execution)
            return []
        if function in _CALLS_AROUND_A_STATEMENT:
            return []
        error = None if failure is None else self._error_text(failure)
        if error is not None:
            duration_ns = self._until_failure(execution, timestamp)
        analyzed = self._analyzed(execution, failed=error is not None)
        if analyzed is None:
            refused = self._refused.of_execution(execution)
            return [replace(query, timestamp=timestamp, error=error) for query in refused]
        commands = [pair for pair in _commands(analyzed) if self._is_reported(*pair)]
        if not commands:
            return []
        # The counts of several writes at once cannot be separated.
        counted = error is None and len(commands) == 1
        reads, writes = self._metrics(execution) if counted else ({}, {})
        captured: list[CapturedQuery] = []
        for name, command in commands:
            for query in self._capture_command(name, command, execution, failed=error is not None):
                ended = replace(
                    query,
                    timestamp=timestamp,
                    duration_ns=duration_ns,
                    error=error,
                    read_metrics=reads,
                    write_metrics={} if query.target.format == "hudi" else writes,  # all are 0
                )
                completed = self._with_outcome(ended, command, execution)
                completed = self._with_insert(completed, execution)
                if not self._wrote_nothing(completed, command, execution):
                    captured.append(completed)
        return captured

    def _until_failure(self, execution: Any, failed: int) -> int | None:
        """Nanoseconds from the planning of a query to its failure; Spark reports those of a success
        alone. None of a query that was not planned.
        """
        began = self._ask_quietly(lambda: planned_at(execution))
        return None if began is None or began > failed else (failed - began) * 1_000_000

    def _is_reported(self, name: str, command: Any) -> bool:
        """A known command, or one that looks like a write: it has a query and such a name."""
        if name in _REPORTED or name in _AROUND_ANOTHER or not _LIKE_A_WRITE.search(name):
            return name in _REPORTED
        return self._ask_quietly(command.query) is not None

    def _analyzed(self, execution: Any, *, failed: bool) -> Any | None:
        """The analyzed plan; None of a statement that Spark refused to analyse."""
        return self._ask_quietly(execution.analyzed) if failed else execution.analyzed()

    def _with_outcome(self, query: CapturedQuery, command: Any, execution: Any) -> CapturedQuery:
        """The fields known only at the end of a write: its partitions and its version."""
        query = self._partitions.complete(query, execution)
        return self._versions.complete(query, command, execution)

    def _wrote_nothing(self, query: CapturedQuery, command: Any, execution: Any) -> bool:
        """SaveMode.Ignore, IF NOT EXISTS on an existing table, a repeated transaction of Delta's:
        Spark succeeds all the same.
        """
        if query.error is not None or query.written_version is not None:
            return False
        if query.target.format == "delta" and self._names_a_transaction(command):
            return self._versions.is_untouched(query, command, execution)
        if query.target.mode != "Ignore" or query.write_metrics.get("numFiles", 0) > 0:
            return False
        if query.target.format in VERSIONED_FORMATS:
            return self._versions.is_untouched(query, command, execution)
        return True

    def _names_a_transaction(self, command: Any) -> bool:
        """Delta skips a write whose ``txnAppId`` and ``txnVersion`` a former one had."""
        options = self._ask_quietly(lambda: read_map(command.writeOptions()))
        if options is None:
            options = self._ask_quietly(lambda: read_map(command.options())) or {}
        return "txnappid" in map(str.lower, options)

    def capture_stream(self, running: Any) -> CapturedQuery | None:
        """The write of a running ``StreamExecution``, without a time; None: nothing is kept."""
        write = running.logicalPlan()
        target = self._targets.of_stream(write)
        if target is None:
            self._ask("query of a stream", lambda: self._relations.remember_stream(running), None)
            return None
        query, name = write.query(), self._ask_quietly(running.name)
        captured = CapturedQuery(
            command=STREAMING_COMMAND,
            plan=self._plan_of(write),
            target=target,
            relations=self._relations.of_stream(running, query),
            schema=self._ask("schema", lambda: str(query.schema().json()), None),
            stream=None if name is None else str(name),
        )
        session = self._ask_quietly(running.sparkSession)
        captured = self._batches.with_partition_columns(captured, running)
        return self._generated.complete(captured, query, session)

    def complete_batch(
        self, query: CapturedQuery, running: Any, progress: Mapping[str, Any]
    ) -> CapturedQuery:
        """A batch of a running ``StreamExecution`` with the versions that it read and made."""
        return self._batches.complete(query, running, progress)

    def _capture_command(
        self, name: str, command: Any, execution: Any, *, failed: bool
    ) -> list[CapturedQuery]:
        """One of each table that a command changes."""
        if name in RENAMING_COMMANDS:
            return self._renames.of_command(name, command, execution, failed=failed)
        query = self._capture_write(name, command, execution)
        return [] if query is None else [query]

    def _capture_write(self, name: str, command: Any, execution: Any) -> CapturedQuery | None:
        if name == CALL:
            return self._procedures.of_call(command, execution)
        if name in MAINTENANCE_COMMANDS:
            return self._maintenance.of_command(name, command, execution)
        copy = self._copies.of_command(name, command, execution)
        if copy is not None:
            return copy
        target = self._target(name, command, execution)
        if target is None:
            return None
        plan = self._plan_of(command)
        if name in LIFECYCLE_COMMANDS:
            return CapturedQuery(name, plan, target)
        plan = self._with_projections(plan, command)
        session = self._ask_quietly(execution.sparkSession)
        if name in _COMMANDS_WITHOUT_QUERY:
            relations = self._relations_of_parts(name, command, session)
            reported = self._targets.reported_name(name, command)
            schema = self._evolved_schema(name, command)
            return CapturedQuery(reported, plan, target, relations, schema)
        name = self._targets.reported_name(name, command)
        query = self._ask("query", command.query, None)
        if query is None:
            return CapturedQuery(name, plan, target)
        captured = CapturedQuery(
            command=name,
            plan=plan,
            target=target,
            relations=self._relations.of_query(query, session),
            schema=self._ask("schema", lambda: str(query.schema().json()), None),
            staged=self._staged(command, target),
        )
        return self._generated.complete(captured, query, session)

    def _plan_of(self, command: Any) -> str:
        """The JSON of a plan; empty: it is too large, or Spark gives none."""
        if self._ask("size", lambda: self._is_large(command), False):
            return ""
        return self._ask("plan", lambda: str(command.toJSON()), "")

    def _with_projections(self, text: str, plan: Any) -> str:
        return self._ask("projections", lambda: with_projections(text, plan), text)

    def _whole_plan_of(self, query: Any) -> str:
        return self._with_projections(self._plan_of(query), query)

    def _relations_of_parts(self, name: str, command: Any, session: Any) -> dict[int, Relation]:
        relations: dict[int, Relation] = {}
        for part in _COMMANDS_WITHOUT_QUERY[name]:
            held = self._ask("part of a command", getattr(command, part), None)
            relations |= {} if held is None else self._relations.of_query(held, session)
        return relations

    def _evolved_schema(self, name: str, command: Any) -> str | None:
        """The table's schema after a MERGE of Delta that may add columns."""
        if name != "MergeIntoCommand":
            return None
        return self._ask_quietly(lambda: str(command.migratedSchema().get().json()))

    def _target(self, name: str, command: Any, execution: Any) -> Target | None:
        """The target of a command; None: it has none, or is part of another command.

        A target without a place has a name, and is reported with a gap.
        """
        if name in COPYING_COMMANDS - LIFECYCLE_COMMANDS:
            return nameless(name)  # of those with a place the copy is known
        if name not in _REPORTED:
            return self._targets.of_unknown_command(name, command, execution)
        target = self._targets.of_command(name, command, execution)
        if target is not None and target.unplaced is None:
            return target
        if name in LIFECYCLE_COMMANDS or self._is_being_made(command):
            return target if name in LIFECYCLE_COMMANDS else None
        nothing = target is None and self._targets.keeps_nothing(name, command)
        return None if nothing else target or nameless(name)

    def _staged(self, command: Any, target: Target) -> bool | None:
        """Whether another command has run this one; None: unknown (JDBC)."""
        if self._is_being_made(command):
            return True
        return False if target.format in VERSIONED_FORMATS else None

    def _is_being_made(self, command: Any) -> bool:
        """Whether a command writes a table that another command makes around it."""
        kind = self._ask_quietly(lambda: class_name(command.table().table()))
        return "Staged" in (kind or "") or kind == _HUDI_BULK

    def _with_insert(self, query: CapturedQuery, execution: Any) -> CapturedQuery:
        """A CTAS runs an insert of its own just before: take its counts over, and its mode.

        ``saveAsTable`` in append mode has Append even where it makes the table; there only the
        inner insert knows. Any other mode of the CTAS is better than its insert's (Hive's appends).
        """
        if query.command in _INSERTS:
            self._inserts = {query.target.uri: (self._number(execution), query)}
            return query
        first, inner = self._inserts.pop(query.target.uri, (None, None))
        if inner is None or not query.command.endswith("AsSelectCommand"):
            return query
        own = self._number(execution)
        if first is not None and own is not None and first < own:
            return query  # an earlier statement's insert
        mode = inner.target.mode if query.target.mode == "Append" else query.target.mode
        return replace(
            query,
            target=replace(query.target, mode=mode),
            read_metrics=inner.read_metrics,
            write_metrics=inner.write_metrics,
            written_partitions=inner.written_partitions,
        )

    def _number(self, execution: Any) -> int | None:
        """Spark counts executions as they begin; a command has the one inside it begin later."""
        return self._ask_quietly(lambda: int(execution.id()))

    def _error_text(self, failure: Any) -> str:
        """The exception with its stack trace, as the stock agent sends it; of a longer one the
        beginning, and the end with the cause.
        """
        text = self._ask_quietly(
            lambda: str(self._jvm.org.apache.spark.util.Utils.exceptionString(failure))
        ) or self._ask("error", lambda: str(failure.toString()), "the query failed")
        if len(text) <= _MAX_ERROR_CHARACTERS:
            return text
        half = _MAX_ERROR_CHARACTERS // 2
        return f"{text[: half - 3]}\n\t…{text[-half:]}"

    # --- metrics -----------------------------------------------------------------------------

    def _metrics(self, execution: Any) -> tuple[Metrics, Metrics]:
        """Counts of read and written rows, from the plan that really ran."""
        nothing: tuple[Metrics, Metrics] = ({}, {})

        def read() -> tuple[Metrics, Metrics]:
            plan = _unwrapped(execution.executedPlan())
            return _scanned(plan), read_metrics(plan.metrics())

        return self._ask("metrics", read, nothing)


def _commands(analyzed: Any) -> Iterator[tuple[str, Any]]:
    """The command, or each of them where one statement holds several."""
    name = str(analyzed.nodeName())
    if name != "Union":
        yield name, analyzed
        return
    for child in items(analyzed.children()):
        yield str(child.nodeName()), child


def _unwrapped(plan: Any) -> Any:
    """Adaptive execution wraps the plan that ran, and each of its stages.

    Spark 4 wraps twice: AdaptiveSparkPlanExec => ResultQueryStageExec => the command.
    """
    for _ in range(_MOST_WRAPPINGS):
        kind = class_name(plan)
        if kind == "AdaptiveSparkPlanExec":
            plan = plan.executedPlan()
        elif kind.endswith("QueryStageExec"):
            plan = plan.plan()
        else:
            break
    return plan


def _scanned(plan: Any) -> Metrics:
    """Metrics of all scans below a physical plan, summed."""
    counts: Metrics = {}
    pending = [plan]
    for _ in range(MOST):
        if not pending:
            break
        for leaf in items(pending.pop().collectLeaves()):
            kind = class_name(leaf)
            if kind == "AdaptiveSparkPlanExec" or kind.endswith("QueryStageExec"):
                pending.append(_unwrapped(leaf))
            elif kind.endswith("ScanExec") and not kind.startswith(_SCANS_OF_NOTHING):
                _add(counts, read_metrics(leaf.metrics()))
    return counts


def _add(counts: Metrics, more: Metrics) -> None:
    for name in more.keys() & _READ_METRICS:
        counts[name] = counts.get(name, 0) + more[name]
