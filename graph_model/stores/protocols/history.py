"""Protocols of the catalogue for executions over time, writes, reads, versions, schemas."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from graph_model import labels
from graph_model.facts import (
    MAIN_BRANCH,
    NO_NUMBER,
    ExecutionRow,
    PartitionRow,
    ReadVersionRow,
    SchemaRow,
    SchemaUseRow,
)
from graph_model.stores.pages import Page


@dataclass(frozen=True, slots=True, order=True)
class Writer:
    """A logical plan that wrote a dataset: ``latest`` is its newest such write (epoch ms)."""

    target: str
    logical_plan: str
    mode: str
    latest: int


class SuccessfulWrite(NamedTuple):
    """The fields of a completed ``write`` execution that history needs, as in its row.

    Also used for a failed one, because of its report, and for a read, with the ``target`` "".
    ``partitioned``: whether its read or written partitions are known; ``bound``: whether it read a
    version of a table.
    """

    id: str
    target: str
    at: int
    logical_plan: str
    job: str
    mode: str
    dynamic: bool
    command: str
    producer: str
    application_id: str
    reads: str
    partitioned: bool = True
    bound: bool = True
    version_number: int | None = None
    branch: str = MAIN_BRANCH
    running: bool = False


class Span(NamedTuple):
    """The writes of ``target`` with ``since <= at < before`` (epoch ms).

    ``place``: if ``target`` is a catalog name, only the writes while the name stood for this
    dataset; "" for all. ``partition`` (canonical text, or ""): writes with another value of its
    first key may be left out. ``branch``: only the writes to it, or to EVERY_BRANCH.
    """

    target: str
    since: int
    before: int
    place: str = ""
    partition: str = ""
    branch: str = MAIN_BRANCH


class VersionSpan(NamedTuple):
    """The versions of one branch of ``target`` up to ``number``; ``place`` as in ``Span``.

    They begin with the first version (``whole``), with the last version before ``since`` (where
    that is not NO_NUMBER), or else with the last full overwrite.
    """

    target: str
    branch: str
    number: int
    since: int = NO_NUMBER
    place: str = ""
    whole: bool = False


class VersionId(NamedTuple):
    """A format's own name of a version of ``target``, on the branch that a read names."""

    target: str
    id: str
    branch: str


class NumberedTime(NamedTuple):
    """The number of a version and the event time (epoch ms) of its write."""

    number: int
    at: int


@dataclass(frozen=True, slots=True)
class VersionWrites:
    """``writes`` of a VersionSpan in any order, the newest ``most`` if there are more (``cut``).

    ``floor``: whether an overwrite comes before the others. ``first`` is the lowest version of the
    branch, ``following`` the lowest one above the span.
    """

    writes: tuple[SuccessfulWrite, ...] = ()
    cut: bool = False
    floor: bool = False
    first: NumberedTime | None = None
    following: NumberedTime | None = None


@dataclass(frozen=True, slots=True)
class OlderWrites:
    """The writes of a span by one logical plan that were left out: their first and last time."""

    logical_plan: str
    job: str
    first: int
    last: int


NEVER: Final = 2**62
"""The time of an event that has not happened."""


@dataclass(frozen=True, slots=True, order=True)
class DeclaredFlow:
    """A declared flow from the reads of a logical plan into ``target``, in force from ``since``
    until the same subject declares something else (``ends``, ``NEVER`` if it did not).
    """

    target: str
    logical_plan: str
    job: str
    since: int
    ends: int


class SpanWrites(NamedTuple):
    """The writes of one span; ``older`` is empty where they are all of them."""

    writes: tuple[SuccessfulWrite, ...] = ()
    older: tuple[OlderWrites, ...] = ()


class NewestWrite(NamedTuple):
    """The newest write of a span by one logical plan, and the run under which it is listed."""

    write: SuccessfulWrite
    run: str


class ReadableWrites(NamedTuple):
    """The writes that one read could see: ``floor`` is the time of the last full overwrite before
    it, None where there was none; ``declared``: whether anything is declared of a target.
    """

    floor: int | None
    spans: Mapping[Span, SpanWrites]
    declared: bool


@dataclass(frozen=True, slots=True, order=True)
class PlanSpan:
    """How often a logical plan ended in a state, and its first and last time (epoch ms)."""

    logical_plan: str
    state: str
    executions: int
    first: int
    last: int


class SeenWrites(Protocol):
    """Which writes a read saw: by time, by version, by declaration.

    ``at`` is epoch ms, None the end of time: only executions with ``ExecutionRow.at <= at`` count.
    """

    def readable_writes(
        self, reads: Collection[tuple[Span, ...]], *, reach: int, most: int, per_plan: int
    ) -> dict[tuple[Span, ...], ReadableWrites]:
        """Per read (its spans: one table under all its names) the writes that it could see.

        The floor is the newest full overwrite (mode ``overwrite``) of any of the targets before
        ``since``; a span's writes are those from ``reach`` ms before the floor on, or all, until
        ``before``, cut as in ``writes``, but those at the floor stay.
        """

    def writes(
        self, spans: Collection[Span], *, most: int, per_plan: int
    ) -> dict[Span, SpanWrites]:
        """Per span its completed writes, in any order.

        If a span has more than ``most`` of them, it gets the newest ``per_plan`` of each logical
        plan, and the period of the plan's others. At such a cut equal times are left out together.
        """

    def newest_writes(self, spans: Collection[Span]) -> dict[Span, tuple[NewestWrite, ...]]:
        """Per span the newest write, by (at, id), of each logical plan."""

    def runs_with(self, asked: Collection[tuple[str, str, int]]) -> frozenset[tuple[str, str, int]]:
        """The (logical plan, run, before) of which the plan completed in the run before the
        time; an execution belongs to the run that its own events name.
        """

    def version_writes(
        self, spans: Collection[VersionSpan], *, most: int
    ) -> dict[VersionSpan, VersionWrites]:
        """Per span its completed writes whose version is known by number."""

    def writes_by_version(self, asked: Collection[VersionId]) -> dict[VersionId, SuccessfulWrite]:
        """Per version the first write that reports it: on its branch, else on any branch."""

    def read_versions(self, executions: Collection[str]) -> tuple[ReadVersionRow, ...]:
        """The versions that these executions read."""

    def bound_reads(self, logical_plans: Collection[str]) -> frozenset[tuple[str, str]]:
        """(logical plan, dataset) of the reads for which some execution read a version."""

    def readings(
        self, moments: Collection[tuple[str, int]], *, per_plan: int
    ) -> dict[tuple[str, int], SpanWrites]:
        """Per (logical plan that only reads, time) its completed ``read`` executions before the
        time: the newest ``per_plan``, and the period of the others.
        """

    def declared_flows(self, targets: Collection[str]) -> tuple[DeclaredFlow, ...]:
        """The declared flows into these, with the times in which they are in force."""

    def declared_reads(self, logical_plans: Collection[str]) -> tuple[DeclaredFlow, ...]:
        """The declared reads of these plans, which write nothing; ``target`` is ""."""

    def declared_plans(self, logical_plans: Collection[str]) -> frozenset[str]:
        """The logical plans among these that are declared and that no run has followed."""

    def companions(
        self, pairs: Collection[tuple[str, str]], state: str = labels.COMPLETED
    ) -> tuple[SuccessfulWrite, ...]:
        """Per (target, application id) all its writes of a state, where several may be one write.

        That may be so where several producers report them, or where one belongs to a command whose
        writes are reported twice (``labels.CTAS_COMMANDS``); elsewhere the result has none.
        """

    def companions_of_target(
        self, target: str, state: str = labels.COMPLETED
    ) -> tuple[SuccessfulWrite, ...]:
        """``companions`` of a target in all applications that wrote it, or failed to."""


class ExecutionHistory(Protocol):
    """Executions, and the newest of a job, a dataset or a plan.

    ``at`` is epoch ms, None the end of time: only executions with ``ExecutionRow.at <= at`` count.
    """

    def executions(
        self,
        *,
        logical_plan: str | None = None,
        target: str | None = None,
        job: str | None = None,
        run: str | None = None,
        plan_id: str | None = None,
        state: str | None = None,
        at: int | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[ExecutionRow]:
        """Newest first by (at, id); the given criteria are combined.

        An execution or run whose events name its application's run, and not the application, counts
        under the application that other events give for it (``ApplicationRow``).
        """

    def has_execution(
        self,
        job: str,
        since: int,
        before: int,
        *,
        run: str | None = None,
        logical_plan: str | None = None,
    ) -> bool:
        """Whether there is an execution at ``since <= claimed_at < before``; it counts under the
        run that its own events name.
        """

    def times_of_runs(
        self, jobs: Collection[str], limit: int
    ) -> Mapping[str, Collection[tuple[str, int]]]:
        """Per job (run, at) of each of its newest ``limit`` executions by (at, id), with the runs
        of their own events; in any order.
        """

    def newest_runs_since(self, job: str, runs: int, executions: int) -> int | None:
        """The time of the oldest execution of a job's newest ``runs`` runs, or of all its runs
        where it has fewer, but no earlier than its ``executions``-th newest execution. Runs are
        ordered by (time of their newest execution, id) and are those that ``executions`` lists.
        None for a job without executions.
        """

    def executions_of_runs(
        self, runs: Mapping[str, Collection[str]], limit: int
    ) -> Mapping[str, Collection[ExecutionRow]]:
        """Per job the newest ``limit`` executions by (at, id) of its runs in ``runs``, newest
        first; an execution belongs to the run that its own events name.
        """

    def executions_since(
        self,
        since: int,
        limit: int,
        *,
        before: int | None = None,
        after: str = "",
        job: str | None = None,
    ) -> tuple[ExecutionRow, ...]:
        """The executions at ``since <= at < before`` (None: no end) by (at, id), with the runs that
        their own events name; at ``since`` itself only ids after ``after``. ``job``: only its own.
        """

    def partitions(self, executions: Collection[str]) -> tuple[PartitionRow, ...]: ...

    def writers(
        self, targets: Collection[str], at: int | None, *, main: bool = False
    ) -> tuple[Writer, ...]:
        """Per (target, logical plan, mode) the newest completed ``write`` execution; ``main``: of
        the main branches alone.
        """

    def last_executions(self, jobs: Collection[str], at: int | None) -> dict[str, ExecutionRow]:
        """Per job its newest execution by (at, id), whatever its state."""

    def last_states(self, jobs: Collection[str], at: int | None) -> dict[str, tuple[int, str, str]]:
        """The time, the state and the producer of each of ``last_executions``."""

    def last_writers(self, targets: Collection[str], at: int | None) -> dict[str, ExecutionRow]:
        """Per dataset its newest completed ``write`` execution by (at, id), without writes to
        branches.
        """

    def last_writes(self, targets: Collection[str], at: int | None) -> dict[str, int]:
        """The times of ``last_writers``."""

    def lone_last_writes(
        self, targets: Collection[str], at: int | None, *, apart: int
    ) -> dict[str, int | None]:
        """The ``last_writes`` that have no other write within ``apart`` milliseconds before them;
        None for a target without a write.
        """

    def last_of_plans(
        self, logical_plans: Collection[str], at: int | None
    ) -> dict[str, ExecutionRow]:
        """Per logical plan its newest completed execution by (at, id)."""

    def plan_spans(self, logical_plans: Collection[str], at: int | None) -> tuple[PlanSpan, ...]:
        """Per logical plan and state of its executions their number, the first and the last."""

    def newest_event(self, at: int | None) -> int | None:
        """The greatest ``ExecutionRow.at`` considered: the ``asOf`` of an answer."""

    def written_by(self, job: str, runs: Collection[str]) -> frozenset[tuple[str, str]]:
        """(target, application id) of every write of these runs of a job."""

    def seen(self, datasets: Collection[str], at: int) -> frozenset[str]:
        """The datasets among these that existed by then (``catalogue.history.existence``)."""


class SchemaHistory(Protocol):
    """Which schema a dataset has, and which plans use it.

    ``at`` is epoch ms, None the end of time: only executions with ``ExecutionRow.at <= at`` count.
    """

    def newest_schemas(self, datasets: Collection[str], at: int | None) -> dict[str, SchemaRow]:
        """Per dataset the schema that the newest completed execution (at or before ``at``) used.

        SchemaUseRow links plans to schemas; a write beats a read at the same time. A dataset that
        only plans without a completed execution touch gets the schema of the plan with the
        greatest id, so that its page is not empty. Datasets without any schema are left out.
        """

    def newest_schema_ids(self, datasets: Collection[str], at: int | None) -> dict[str, str]:
        """The ids of ``newest_schemas``."""

    def schema_uses(self, dataset: str, limit: int = 5_000) -> tuple[SchemaUseRow, ...]:
        """The plans that read or write a dataset, with their schemas; writing plans come first."""
