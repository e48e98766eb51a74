"""Asks the service and the oracle the same question and tells where they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from graph_model import labels
from graph_model.answers.difference.plans import PlanDifference
from graph_model.facts import ExecutionPlanRow, ExecutionRow
from graph_model.lineage import Answer, Lineage, Question
from graph_model.lineage.history import history as service_history
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.documents import Submission
from graph_model.stores.graph import Direction, Graph
from tests.oracle.documents import (
    START,
    column_id,
    dataset_id,
    event_key,
    job_id,
    plan_uuid,
    submissions,
)
from tests.oracle.histories import Asked, Column, Execution, History
from tests.oracle.truth import END_OF_TIME, Flow, Oracle, Truth
from tests.projections import SmallHeadwater, small_headwater

EXECUTIONS_BEFORE_FOLDING = 8


@dataclass(frozen=True, slots=True)
class Difference:
    """``more`` only the service has, ``less`` only the oracle."""

    asked: Asked
    kind: str
    more: frozenset[str]
    less: frozenset[str]


def is_empty(found: PlanDifference) -> bool:
    """Whether both plans say the same, values of literals included."""
    parts = (found.fields, found.sources_added, found.sources_removed, found.schema, found.columns)
    changes = [one.change for one in (*found.operations, *found.flows)]
    return not any(parts) and not any(changes)


class ComparedHistory:
    """One history, in the service and in the oracle."""

    def __init__(self, history: History, graph: Graph, catalogue: Catalogue) -> None:
        rows = list(catalogue.scan())
        self.history = history
        self._lineage = Lineage(graph, catalogue)
        self._service_history = service_history.History(catalogue)
        executions = [row for row in rows if isinstance(row, ExecutionRow)]
        plans = {event_key(one): one.plan for one in history.executions}
        self._logical_plans = {
            row.plan_id: row.logical_plan for row in rows if isinstance(row, ExecutionPlanRow)
        } | {
            plan_uuid(plans[row.plan_id]): row.logical_plan
            for row in executions
            if row.plan_id in plans
        }
        ids = {(row.plan_id, row.at - START, row.application_id, row.state): row.id
               for row in executions}  # fmt: skip
        self.ids = {one: ids[key_of(one, history)] for one in history.executions}
        self.oracle = Oracle(history, [self.ids[one] for one in history.executions])
        self._runs = Counter(
            row.logical_plan
            for row in executions
            if row.state == labels.COMPLETED and row.kind in ("write", "read")
        )
        self._spelling = self._words()

    @property
    def must_be_exact(self) -> bool:
        """No logical plan has more executions than an exact walk follows."""
        return max(self._runs.values(), default=0) <= EXECUTIONS_BEFORE_FOLDING

    def logical_plan(self, plan: str) -> str:
        """Of a plan that only reads, and never ran, nobody has told: its own id."""
        return self._logical_plans.get(plan_uuid(plan), plan)

    def ask(self, asked: Asked) -> Answer:
        return self._lineage.ask(
            Question(
                node=node_id(asked.node),
                direction=Direction(asked.direction),
                depth=asked.depth,
                at=None if asked.at is None else START + asked.at,
                columns=True,
                indirect=asked.indirect,
                limit=1_000,
            )
        )

    def differences(self, asked: Asked) -> Iterator[Difference]:
        """None, where the two agree; a folded answer may say more."""
        answer, truth = self.ask(asked), self.oracle.answer(asked)
        folded = bool(getattr(answer, "folded", False))
        said, right = self.said(answer, asked), self.right(truth, asked)
        for kind, true in right.items():
            if folded and kind == "via":
                continue  # an intermediate of the exact answer may be an answer of the folded one
            more = frozenset() if folded else said[kind] - true - self._allowed(truth, kind)
            if more or true - said[kind]:
                yield Difference(asked, kind, more, true - said[kind])
        if folded and self.must_be_exact:
            yield Difference(asked, "folded", frozenset({"true"}), frozenset())

    def last_writes(self, asked_at: int | None) -> dict[str, tuple[int | None, int | None]]:
        """Per dataset that stands for itself, the answers of the service and of the oracle."""
        at = END_OF_TIME if asked_at is None else asked_at
        names = [d for d in datasets_of(self.history) if self.oracle.location_of(d, at) == d]
        time = None if asked_at is None else START + at
        found = self._service_history.writes.last([dataset_id(name) for name in names], time)
        said = {name: found.get(dataset_id(name)) for name in names}
        return {
            name: (None if told is None else told - START, self.oracle.last_write(name, at))
            for name, told in said.items()
        }

    def stands_for_itself(self, node: str, at: int | None) -> bool:
        """Whether the node is no catalog name that stands for a location then."""
        name = node.partition(":")[2].partition("#")[0]
        return self.oracle.location_of(name, END_OF_TIME if at is None else at) == name

    def answers(self, asked: Asked) -> frozenset[str]:
        """The datasets that the service answers with, intermediates aside, as nodes."""
        said = self.said(self.ask(asked), asked)
        return frozenset(f"dataset:{name}" for name in said["datasets"] - said["via"])

    # --- one spelling for both -------------------------------------------------------------------

    def said(self, answer: Answer, asked: Asked) -> dict[str, frozenset[str]]:
        """The service's answer in the words of the history."""
        word = self._word
        datasets = self._without_focus_name(set(answer.datasets), asked)
        via = set(getattr(answer, "via", ())) - {node_id(asked.node)}
        return {
            "datasets": _all(word(item) for item in datasets),
            "jobs": _all(word(item) for item in answer.jobs),
            "via": _all(word(item) for item in via if item.startswith(_via_kind(asked))),
            "feeds": _all(
                feed
                for use in answer.plans
                for feed in (
                    *(f"{word(source)} > {use.logical_plan}" for source in use.sources),
                    *(f"{use.logical_plan} > {word(target)}" for target in use.targets),
                )
            ),
            "columns": _all(word(node.id) for node in answer.columns),
            "columnEdges": _all(
                f"{word(e.source)} > {word(e.target)} {e.kind} {e.how}" for e in answer.column_edges
            ),
        }

    def _allowed(self, truth: Truth, kind: str) -> frozenset[str]:
        """A dataset that a job wrote and read may be drawn upstream of it, as an edge."""
        if kind != "feeds":
            return frozenset()
        return _all(f"{self.logical_plan(plan)} > {to}" for plan, to in truth.allowed)

    def right(self, truth: Truth, asked: Asked) -> dict[str, frozenset[str]]:
        """The oracle's answer: coarse for a dataset or a job, fine for a column."""
        plan = {key: self.logical_plan(key) for key in self.history.plans}
        if asked.node.startswith("column:"):
            return {
                "datasets": _all(truth.datasets),
                "via": _all(column.text for column in truth.column_via),
                "columns": _all(column.text for column in truth.columns),
                "columnEdges": _all(_edge_text(flow) for flow in truth.column_edges),
            }
        return {
            "datasets": _all(truth.datasets),
            "jobs": _all(truth.jobs),
            "via": _all(truth.via),
            "feeds": _all(
                f"{plan.get(one, one)} > {plan.get(other, other)}" for one, other in truth.feeds
            ),
        }

    def _without_focus_name(self, datasets: set[str], asked: Asked) -> set[str]:
        """A name that was asked may stand beside its location."""
        if self.stands_for_itself(asked.node, asked.at):
            return datasets
        return datasets - {dataset_id(asked.node.partition(":")[2].partition("#")[0])}

    def _word(self, identifier: str) -> str:
        return self._spelling.get(identifier, identifier)

    def _words(self) -> dict[str, str]:
        words: dict[str, str] = {}
        for name in datasets_of(self.history):
            words[dataset_id(name)] = name
            words.update({column_id(Column(name, c)): f"{name}#{c}" for c in ("k", "v")})
        words.update({job_id(plan.job): plan.job for plan in self.history.plans.values()})
        return words


def key_of(one: Execution, history: History) -> tuple[str, int, str, str]:
    state = labels.FAILED if one.failed else labels.COMPLETED
    if history.plans[one.plan].by_run:
        return event_key(one), one.at, "", state
    return plan_uuid(one.plan), one.at, one.application, state


def _edge_text(flow: Flow) -> str:
    return f"{flow.source.text} > {flow.target.text} {flow.kind} {flow.how}"


def _all(items: Iterable[str]) -> frozenset[str]:
    return frozenset(items)


def _via_kind(asked: Asked) -> str:
    return "col_" if asked.node.startswith("column:") else "ds_"


def node_id(node: str) -> str:
    kind, _, name = node.partition(":")
    if kind == "job":
        return job_id(name)
    if kind == "dataset":
        return dataset_id(name)
    return column_id(Column(*name.split("#")))


def datasets_of(history: History) -> list[str]:
    """Every dataset that a plan reads, writes or names."""
    found: dict[str, None] = {}
    for plan in history.plans.values():
        found.update(dict.fromkeys(place.dataset for place in plan.reads))
        found.update({plan.target: None} if plan.target else {})
        found.update(dict.fromkeys(name for pair in plan.names for name in pair))
    return sorted(found)


def projected(
    history: History, order: Sequence[int] = (), receipts: Sequence[int] = ()
) -> SmallHeadwater:
    """A Headwater to which the documents came in this order (none: plans, then events), at these
    times.
    """
    documents: list[Submission] = submissions(history)
    headwater = small_headwater()
    places = order or range(len(documents))
    if receipts:
        for index in places:
            headwater.accept(documents[index], received_at=receipts[index])
    else:
        headwater.accept(*(documents[index] for index in places))
    headwater.project()
    return headwater


def told(differences: Iterable[Difference]) -> str:
    """The differences for a failing test, a line each."""
    lines: list[str] = []
    for one in differences:
        if str(one.asked) not in lines:
            lines.append(str(one.asked))
        lines.append(
            f"    {one.kind}: the service adds {sorted(one.more)}, lacks {sorted(one.less)}"
        )
    return "\n".join(lines)
