"""A finished query execution => plain values. The callback's part: it runs while Spark waits.

Every question to the JVM may fail (another Spark version, a vendor's fork, a table that is gone):
it then has no answer, and the rest of the document is still right. A query whose plan cannot be
had, or cannot be read later, is told by its tables alone, with a gap.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from spark_agent_config.captured import CapturedQuery, Relation
from spark_agent_config.generated_columns import GeneratedColumns
from spark_agent_config.maintenance import MAINTENANCE_COMMANDS, Maintenance
from spark_agent_config.procedures import CALL, Procedures
from spark_agent_config.projections import with_projections
from spark_agent_config.questions import MOST, Questions, class_name, items, read_metrics
from spark_agent_config.relations import Relations
from spark_agent_config.table_copies import COPYING_COMMANDS, TableCopies
from spark_agent_config.table_renames import RENAMING_COMMANDS, TableRenames
from spark_agent_config.table_versions import TableVersions
from spark_agent_config.tables import Tables
from spark_agent_config.targets import LIFECYCLE_COMMANDS, WRITE_COMMANDS, Targets
from spark_agent_config.written_partitions import WrittenPartitions

_LOG: Final = logging.getLogger(__name__)
_MAX_ERROR_CHARACTERS: Final = 16_000
_READ_METRICS: Final = frozenset({"numOutputRows", "numFiles", "filesSize"})
_INSERTS: Final = frozenset({"InsertIntoHadoopFsRelationCommand", "InsertIntoHiveTable"})
_CHECKPOINTS: Final = frozenset({"checkpoint", "localCheckpoint"})
#: These hold their parts by other names.
_COMMANDS_WITHOUT_QUERY: Final = {
    "MergeIntoCommand": ("source", "target"),
    "UpdateCommand": ("target",),
    "DeleteCommand": ("target",),
    "DeleteFromTable": ("table",),
}
_TOLD: Final = (
    WRITE_COMMANDS
    | LIFECYCLE_COMMANDS
    | COPYING_COMMANDS
    | RENAMING_COMMANDS
    | MAINTENANCE_COMMANDS.keys()
    | {CALL}
)
_MOST_WRAPPINGS: Final = 5
_SCANS_OF_NOTHING: Final = ("Local", "InMemory", "RDD")

#: What a streaming write is told as, whichever API its sink has.
STREAMING_COMMAND: Final = "WriteToMicroBatchDataSource"

Metrics = dict[str, int]


class Inspector:
    """Inspects the executions of one session. ``jvm`` and the configuration are py4j handles."""

    def __init__(self, jvm: Any, hadoop_configuration: Any) -> None:
        questions = Questions()
        tables = Tables(questions, jvm)
        self._ask = questions.ask
        self._ask_quietly = questions.ask_quietly
        self._versions = TableVersions(questions, jvm, hadoop_configuration)
        self._relations = Relations(questions, tables, self._versions, jvm)
        self._targets = Targets(questions, tables, self._relations, jvm, hadoop_configuration)
        self._generated = GeneratedColumns(questions, jvm)
        self._copies = TableCopies(questions, tables, self._targets.qualified, jvm)
        self._maintenance = Maintenance(questions, self._relations)
        self._procedures = Procedures(
            questions, tables, self._relations, self._targets.qualified, jvm
        )
        self._renames = TableRenames(questions, tables, self._relations, jvm)
        self._partitions = WrittenPartitions(questions, jvm, hadoop_configuration)
        self._jvm = jvm
        self._inserts: dict[str, CapturedQuery] = {}
        self._warned: set[str] = set()

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

        ``function`` is what the job called, as Spark names it.

        ``FROM x INSERT … INSERT …`` is one execution with several writes. ``timestamp`` is epoch
        ms. Raises what py4j raises when not even the command can be had.
        """
        if function in _CHECKPOINTS:
            self._relations.remember_checkpoint(execution.analyzed())
            return []
        commands = [pair for pair in _commands(execution.analyzed()) if pair[0] in _TOLD]
        if not commands:
            return []
        error = None if failure is None else self._error_text(failure)
        # The counts of several writes at once cannot be told apart.
        counted = error is None and len(commands) == 1
        reads, writes = self._metrics(execution) if counted else ({}, {})
        captured = (
            (command, query)
            for name, command in commands
            for query in self._capture_command(name, command, execution, failed=error is not None)
        )
        ended = (
            (
                command,
                replace(
                    query,
                    timestamp=timestamp,
                    duration_ns=duration_ns,
                    error=error,
                    read_metrics=reads,
                    write_metrics=writes,
                ),
            )
            for command, query in captured
        )
        completed = (
            self._with_insert(self._with_outcome(query, command, execution))
            for command, query in ended
        )
        return [query for query in completed if not _wrote_nothing(query)]

    def _with_outcome(self, query: CapturedQuery, command: Any, execution: Any) -> CapturedQuery:
        """What only the end of a write knows: the partitions and the version that it made."""
        query = self._partitions.complete(query, execution)
        return self._versions.complete(query, command, execution)

    def capture_stream(self, running: Any) -> CapturedQuery | None:
        """The write of a running ``StreamExecution``, without a time; None: nothing is kept."""
        write = running.logicalPlan()
        target = self._targets.of_stream(write)
        if target is None:
            return None
        query = write.query()
        # Spark 3.5's running plan keeps no table of a v2 source; the one before it does.
        analyzed = self._ask_quietly(lambda: self._relations.of_query(running.analyzedPlan()))
        captured = CapturedQuery(
            command=STREAMING_COMMAND,
            plan=str(write.toJSON()),
            target=target,
            relations={**(analyzed or {}), **self._relations.of_query(query)},
            schema=self._ask("schema", lambda: str(query.schema().json()), None),
        )
        session = self._ask_quietly(running.sparkSession)
        return self._generated.complete(captured, query, session)

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
            return self._maintenance.of_command(name, command)
        copy = self._copies.of_command(name, command, execution)
        if copy is not None:
            return copy
        if name in COPYING_COMMANDS - LIFECYCLE_COMMANDS:
            self._untold(name, command)
            return None
        target = self._targets.of_command(name, command, execution)
        if target is None:
            self._untold(name, command)
            return None
        plan = self._ask("plan", lambda: str(command.toJSON()), "")
        if name in LIFECYCLE_COMMANDS:
            return CapturedQuery(name, plan, target)
        plan = self._ask("projections", lambda: with_projections(plan, command), plan)
        if name in _COMMANDS_WITHOUT_QUERY:
            relations = self._relations_of_parts(name, command)
            return CapturedQuery(name, plan, target, relations, self._evolved_schema(name, command))
        name = self._targets.told_name(name, command)
        query = self._ask("query", command.query, None)
        if query is None:
            return CapturedQuery(name, plan, target)
        captured = CapturedQuery(
            command=name,
            plan=plan,
            target=target,
            relations=self._relations.of_query(query),
            schema=self._ask("schema", lambda: str(query.schema().json()), None),
        )
        session = self._ask_quietly(execution.sparkSession)
        return self._generated.complete(captured, query, session)

    def _relations_of_parts(self, name: str, command: Any) -> dict[int, Relation]:
        relations: dict[int, Relation] = {}
        for part in _COMMANDS_WITHOUT_QUERY[name]:
            held = self._ask("part of a command", getattr(command, part), None)
            relations |= {} if held is None else self._relations.of_query(held)
        return relations

    def _evolved_schema(self, name: str, command: Any) -> str | None:
        """The table's schema after a MERGE of Delta that may add columns."""
        if name != "MergeIntoCommand":
            return None
        return self._ask_quietly(lambda: str(command.migratedSchema().get().json()))

    def _untold(self, name: str, command: Any) -> None:
        """A write that cannot be told is worth a line; one to nowhere, or of a view, is not."""
        table: Any = self._ask_quietly(lambda: command.table().table())
        nowhere = self._ask_quietly(lambda: str(table.name())) == "noop-table"
        # A table that is being made: the command around this one is told.
        staged = "Staged" in (self._ask_quietly(lambda: class_name(table)) or "")
        if name in WRITE_COMMANDS | COPYING_COMMANDS and not (
            nowhere or staged or name in self._warned
        ):
            self._warned.add(name)
            _LOG.warning("A write is not reported: Spark does not say where %s writes", name)

    def _with_insert(self, query: CapturedQuery) -> CapturedQuery:
        """A CTAS runs an insert of its own just before: take its counts over, and its mode.

        ``saveAsTable`` in append mode says Append even where it makes the table; there only the
        inner insert knows. Any other mode of the CTAS says more than its insert (Hive's appends).
        """
        if query.command in _INSERTS:
            self._inserts = {query.target.uri: query}
            return query
        inner = self._inserts.pop(query.target.uri, None)
        if inner is None or not query.command.endswith("AsSelectCommand"):
            return query
        mode = inner.target.mode if query.target.mode == "Append" else query.target.mode
        return replace(
            query,
            target=replace(query.target, mode=mode),
            read_metrics=inner.read_metrics,
            write_metrics=inner.write_metrics,
            written_partitions=inner.written_partitions,
        )

    def _error_text(self, failure: Any) -> str:
        """The exception with its stack trace, as the stock agent sends it, cut at a length."""
        text = self._ask_quietly(
            lambda: str(self._jvm.org.apache.spark.util.Utils.exceptionString(failure))
        ) or self._ask("error", lambda: str(failure.toString()), "the query failed")
        return text[:_MAX_ERROR_CHARACTERS]

    # --- metrics -----------------------------------------------------------------------------

    def _metrics(self, execution: Any) -> tuple[Metrics, Metrics]:
        """Counts of what was read and written, from the plan that really ran."""
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


def _wrote_nothing(query: CapturedQuery) -> bool:
    """SaveMode.Ignore on something that exists: Spark reports success and has done nothing."""
    written = query.write_metrics.get("numFiles", 0) > 0
    return query.error is None and query.target.mode == "Ignore" and not written
