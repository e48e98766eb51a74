"""Histories in a few words: plans, their executions, and where both are kept as JSON.

    {"plans": {"load": {"job": "loader", "reads": ["raw/dt=1"], "writes": "clean"}},
     "executions": [{"plan": "load", "at": 5}]}

A place is a dataset, maybe with a partition below it: ``clean/dt=1``; ``clean/dt=*`` leaves the
value open. A dataset that begins with ``@`` is a catalog name: ``@hr.clean``. A column is
``dataset#column``. Times are seconds after an arbitrary start, exact to the millisecond.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parents[1] / "fixtures" / "histories"

INSERT: Final = "InsertIntoHadoopFsRelationCommand"
CREATE_AS_SELECT: Final = "CreateDataSourceTableAsSelectCommand"
LIFECYCLE: Final = ("DropTableCommand", "TruncateTableCommand", "CreateTableCommand")
OPENLINEAGE: Final = "openlineage"
SHARED_JOBS: Final = ("pyspark-shell",)
ROW_LEVEL: Final = ("UpdateCommand", "DeleteCommand", "MergeIntoCommand")

DAY: Final = 86_400_000

Partition = tuple[tuple[str, str], ...]
"""(key, value) pairs in path order."""


@dataclass(frozen=True, slots=True)
class Place:
    """A dataset, or some of it. ``partition`` None: the whole, or nobody said which part."""

    dataset: str
    partition: Partition | None = None
    keys: tuple[str, ...] = ()
    files: tuple[str, ...] = ()  # the document lists these, and the dataset is their pattern

    @property
    def text(self) -> str:
        known = dict(self.partition or ())
        return "/".join([self.dataset, *(f"{key}={known.get(key, '*')}" for key in self.keys)])


@dataclass(frozen=True, slots=True)
class Column:
    dataset: str
    name: str

    @property
    def text(self) -> str:
        return f"{self.dataset}#{self.name}"


@dataclass(frozen=True, slots=True)
class Plan:
    """The content of a plan document.

    ``columns`` are (output column, columns that it is computed from), None: the plan tells of no
    columns; ``filter`` are the columns that a condition reads; ``names`` are (dataset, catalog
    name): the plan calls the dataset by that name too. ``listed``: the written partition stands
    in the listing of static partitions, not in the path. ``dynamic``: a sign of dynamic mode.
    OpenLineage tells of a plan that only reads, run by run, and, in an unknown mode, of those of
    its ``producer``.
    """

    id: str
    job: str
    reads: tuple[Place, ...]
    writes: Place | None
    append: bool = False
    dynamic: bool = False
    listed: bool = False
    command: str = INSERT
    producer: str = "spline"
    columns: tuple[tuple[str, tuple[Column, ...]], ...] | None = None
    filter: tuple[Column, ...] = ()
    names: tuple[tuple[str, str], ...] = ()

    @property
    def target(self) -> str:
        """The dataset written, "" for none."""
        return self.writes.dataset if self.writes else ""

    @property
    def by_run(self) -> bool:
        """Whether OpenLineage tells of it: every execution is a run of its own."""
        return self.writes is None or self.producer == OPENLINEAGE


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a table on a branch ("" the main one); ``since``: of a change feed its first.

    ``id`` is the format's own name of it; ``by_id``: the document says no more than that.
    """

    number: int
    branch: str = ""
    since: int | None = None
    by_id: bool = False

    @property
    def id(self) -> str:
        return f"{self.branch or 'main'}-{self.number}" if self.by_id else str(self.number)

    @property
    def text(self) -> str:
        since = "" if self.since is None else f" since {self.since}"
        return f"{self.branch}@{self.number}{since}{' by id' * self.by_id}"


@dataclass(frozen=True, slots=True)
class Execution:
    """``at`` is in milliseconds after the start. ``wrote`` is the version that it made, ``bound``
    the versions that its reads of datasets named. ``claimed``: its document, received at ``at``,
    claims another time.
    """

    plan: str
    at: int
    failed: bool = False
    application: str = "app"
    wrote: Version | None = None
    bound: tuple[tuple[str, Version], ...] = ()
    claimed: int | None = None

    @property
    def told_at(self) -> int:
        """The time in its document."""
        return self.at if self.claimed is None else self.claimed

    def as_counted(self) -> Execution:
        """A time more than a day after its receipt counts from the receipt."""
        return self if self.told_at - self.at > DAY else replace(self, at=self.told_at)


@dataclass(frozen=True, slots=True)
class History:
    plans: Mapping[str, Plan]
    executions: tuple[Execution, ...] = field(default_factory=tuple)

    def as_counted(self) -> History:
        """The same, each execution at the time from which answers count it."""
        return replace(
            self, executions=tuple(execution.as_counted() for execution in self.executions)
        )


@dataclass(frozen=True, slots=True)
class Asked:
    """``node`` is ``dataset:a``, ``job:loader`` or ``column:a#k``; ``at`` None: the end of time."""

    node: str
    direction: str = "both"
    depth: int = 50
    at: int | None = None
    indirect: bool = False


@dataclass(frozen=True, slots=True)
class Known:
    """A question with the answer worked out by hand; a key left out is not compared.

    ``expected`` has ``datasets`` and ``via`` (names), ``jobs``, ``feeds`` (``a > plan`` and
    ``plan > b``), ``columns`` and ``columnEdges`` (``a#k > b#k``).
    """

    asked: Asked
    expected: Mapping[str, frozenset[str]]
    folded: bool


@dataclass(frozen=True, slots=True)
class KnownHistory:
    name: str
    rule: str
    history: History
    questions: tuple[Known, ...]


# --- reading -------------------------------------------------------------------------------------


def read_known_histories() -> list[KnownHistory]:
    """Every history of the folder, by the names of their files."""
    return [
        read_known_history(path.stem, json.loads(path.read_text("utf-8")))
        for path in sorted(FOLDER.glob("*.json"))
    ]


def read_known_history(name: str, document: Mapping[str, Any]) -> KnownHistory:
    plans = {key: read_plan(key, value) for key, value in document["plans"].items()}
    executions = tuple(read_execution(item) for item in document["executions"])
    questions = tuple(_read_question(item) for item in document["questions"])
    return KnownHistory(name, document["rule"], History(plans, executions), questions)


def read_plan(identifier: str, value: Mapping[str, Any]) -> Plan:
    given = dict(value)
    columns = given.pop("columns", None)
    plan = Plan(
        id=identifier,
        job=given.pop("job"),
        reads=tuple(map(read_place, given.pop("reads", ()))),
        writes=read_place(given.pop("writes")) if "writes" in given else None,
        columns=None if columns is None else _read_columns(columns),
        filter=tuple(map(read_column, given.pop("filter", ()))),
        names=tuple(given.pop("names", {}).items()),
        **{
            key: given.pop(key)
            for key in ("append", "dynamic", "listed", "command", "producer")
            if key in given
        },
    )
    assert not given, f"unknown words in plan {identifier}: {sorted(given)}"
    return plan


def read_place(text: str) -> Place:
    """``t/dt=1/hr=2`` => t, (dt, 1), (hr, 2)."""
    dataset, *pieces = text.split("/")
    pairs = tuple((key, value) for key, _, value in (piece.partition("=") for piece in pieces))
    known = bool(pairs) and all(value != "*" for _, value in pairs)
    return Place(dataset, pairs if known else None, tuple(key for key, _ in pairs))


def read_column(text: str) -> Column:
    return Column(*text.split("#"))


def read_execution(value: Mapping[str, Any]) -> Execution:
    return Execution(
        value["plan"],
        _milliseconds(value["at"]),
        value.get("failed", False),
        value.get("application", "app"),
        _read_version(value["wrote"]) if "wrote" in value else None,
        tuple((name, _read_version(item)) for name, item in value.get("bound", {}).items()),
    )


def _read_version(value: int | Mapping[str, Any]) -> Version:
    return Version(value) if isinstance(value, int) else Version(**value)


def _read_columns(value: Mapping[str, Any]) -> tuple[tuple[str, tuple[Column, ...]], ...]:
    return tuple((out, tuple(map(read_column, sources))) for out, sources in value.items())


def _read_question(value: Mapping[str, Any]) -> Known:
    given = dict(value)
    expected = {key: frozenset(items) for key, items in given.pop("expected").items()}
    folded = given.pop("folded", False)
    at = given.pop("at", None)
    asked = Asked(at=None if at is None else _milliseconds(at), **given)
    return Known(asked, expected, folded)


# --- telling -------------------------------------------------------------------------------------


def in_short(history: History) -> str:
    """A line for each plan and execution, for a failing test."""
    plans = [f"    {_plan_in_short(plan)}" for plan in history.plans.values()]
    ran = [
        f"    {one.at / 1_000:g} s: {one.plan}{' FAILED' * one.failed} ({one.application})"
        f"{_versions_in_short(one)}"
        for one in sorted(history.executions, key=lambda one: (one.at, one.plan))
    ]
    return "\n".join([*plans, *ran])


def _versions_in_short(execution: Execution) -> str:
    words = [f"reads {name}{version.text}" for name, version in execution.bound]
    words += [f"makes {execution.wrote.text}"] if execution.wrote else []
    return "".join(f", {word}" for word in words)


def _plan_in_short(plan: Plan) -> str:
    written = plan.writes.text if plan.writes else "nothing"
    words = [f"{plan.id} of {plan.job}: {', '.join(p.text for p in plan.reads)} > {written}"]
    words += [flag for flag in ("append", "dynamic", "listed") if getattr(plan, flag)]
    words += [plan.command] if plan.command != INSERT else []
    words += [plan.producer] if plan.producer != "spline" else []
    words += [f"{dataset} is {name}" for dataset, name in plan.names]
    for name, sources in plan.columns or ():
        words.append(f"{name} = {' + '.join(column.text for column in sources)}")
    words += [f"where {column.text}" for column in plan.filter]
    return "; ".join(words)


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1_000)
