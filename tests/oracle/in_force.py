"""What breaks if this changes, by brute force over plans in force.

Written from the rule of the design alone: "which plans in force read what plans in force write,
whatever the order of their last runs. In force: every plan of the newest successful run of its job
that wrote that output or made that reading". Partition values are ignored, branches and versions
that a read names are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.oracle.histories import LIFECYCLE, ROW_LEVEL, Execution, History
from tests.oracle.truth import Oracle


@dataclass(frozen=True, slots=True)
class InForce:
    """A plan that writes ``target`` (on ``branch``), "" where it only reads; ``sources`` are the
    tables that it reads, as far as the plan is in force for them.
    """

    plan: str
    job: str
    target: str
    branch: str
    sources: frozenset[str]
    newest: Execution


class OracleInForce:
    """Answers questions at one time; ``logic`` gives the logical plan of a plan's document."""

    def __init__(
        self, oracle: Oracle, at: int, ids: dict[Execution, str], logic: Callable[[str], str]
    ) -> None:
        self._oracle = oracle
        self._history: History = oracle.history
        self._at = at
        self._ids = ids
        self._logic = logic
        self.plans = [*self._writing(), *self._reading()]

    def feeds(self, writer: InForce, reader: InForce) -> bool:
        """Whether a next run of the reader would read what a next run of the writer writes, or, of
        a version that it names, whether it read what the writer wrote.
        """
        return writer.target in reader.sources and any(
            self._reads(reader, writer, name) for name in self._names(reader, writer.target)
        )

    def _reads(self, reader: InForce, writer: InForce, name: str) -> bool:
        bound = [version for item, version in reader.newest.bound if item == name]
        if not bound:
            return writer.branch == ""
        place = self._oracle.location_of(name, reader.newest.at)
        for version in bound:
            if version.branch == writer.branch and (version.branch or version.since is not None):
                return True
            if version.by_id and not self._told(place, version):
                if writer.branch == "":
                    return True
                continue
            seen = self._oracle.visible_version(place, None, version, reader.newest.at)
            if any(writer.plan in map(self._logic, write.plans) for write in seen):
                return True
        return False

    def _told(self, place: str, version: object) -> bool:
        return any(w.target == place and w.version == version for w in self._oracle.writes)

    def _names(self, plan: InForce, dataset: str) -> Iterator[str]:
        for place in self._history.plans[plan.newest.plan].reads:
            if self._oracle.location_of(place.dataset, self._at) == dataset:
                yield place.dataset
        own = self._history.plans[plan.newest.plan]
        if own.command in ROW_LEVEL and self._oracle.location_of(own.target, self._at) == dataset:
            yield own.target

    # --- which are in force

    def _successful(self) -> list[Execution]:
        result = [
            execution
            for execution in self._history.executions
            if not execution.failed
            and execution.at <= self._at
            and self._history.plans[execution.plan].command not in LIFECYCLE
        ]
        return sorted(result, key=self._order)

    def _order(self, one: Execution) -> tuple[int, str]:
        return one.at, self._ids[one]

    def _writing(self) -> Iterator[InForce]:
        groups: dict[tuple[str, str, str], list[Execution]] = {}
        for entry in self._successful():
            plan = self._history.plans[entry.plan]
            if plan.target:
                target = self._oracle.location_of(plan.target, entry.at)
                branch = entry.wrote.branch if entry.wrote else ""
                groups.setdefault((plan.job, target, branch), []).append(entry)
        for (job, target, branch), executions in groups.items():
            run = executions[-1].application
            for logic in {self._logic(item.plan) for item in executions if item.application == run}:
                newest = [
                    execution for execution in executions if self._logic(execution.plan) == logic
                ][-1]
                yield InForce(logic, job, target, branch, self._sources(newest), newest)

    def _sources(self, one: Execution) -> frozenset[str]:
        plan = self._history.plans[one.plan]
        named = {place.dataset for place in plan.reads}
        named |= {plan.target} if plan.command in ROW_LEVEL else set()
        return frozenset(self._oracle.location_of(name, self._at) for name in named)

    def _reading(self) -> Iterator[InForce]:
        """A run that only reads is one of its own (OpenLineage's)."""
        read = [item for item in self._successful() if not self._history.plans[item.plan].target]
        for logic in {self._logic(entry.plan) for entry in read}:
            newest = [item for item in read if self._logic(item.plan) == logic][-1]
            job = self._history.plans[newest.plan].job
            sources = {
                source
                for source in self._sources(newest)
                if [o for o in read if self._is_of(o, job, source)][-1] == newest
            }
            yield InForce(logic, job, "", "", frozenset(sources), newest)

    def _is_of(self, one: Execution, job: str, source: str) -> bool:
        return self._history.plans[one.plan].job == job and source in self._sources(one)

    # --- answers

    def below(self, node: str) -> dict[InForce, int]:
        """Per plan in force below a table or a job the least number of steps to it."""
        kind, _, focus = node.partition(":")
        if kind == "job":
            near = [plan for plan in self.plans if plan.job == focus]
        else:
            place = self._oracle.location_of(focus, self._at)
            near = [plan for plan in self.plans if self._reads_table(plan, place)]
        return self._distances(near, lambda one: [r for r in self.plans if self.feeds(one, r)])

    def _reads_table(self, plan: InForce, place: str) -> bool:
        """Whichever of its versions."""
        return place in plan.sources

    def ends(self) -> dict[InForce, int]:
        """Per plan the least number of further steps down to a table's main branch or a reader."""
        near = [plan for plan in self.plans if plan.branch == ""]
        return self._distances(
            near, lambda one: [w for w in self.plans if self.feeds(w, one)], first=0
        )

    def _distances(
        self,
        near: list[InForce],
        following: Callable[[InForce], list[InForce]],
        first: int = 1,
    ) -> dict[InForce, int]:
        result = dict.fromkeys(near, first)
        frontier, steps = near, first
        while frontier:
            steps += 1
            frontier = [n for item in frontier for n in following(item) if n not in result]
            result |= dict.fromkeys(frontier, steps)
            frontier = list(dict.fromkeys(frontier))
        return result

    def downstream(self, node: str, depth: int) -> dict[str, int]:
        """Per table and ``job <name>`` downstream its least number of steps, within the depth."""
        ends = self.ends()
        result: dict[str, int] = {}
        for plan, steps in self.below(node).items():
            if plan.branch == "" and plan.target and steps <= depth:
                result[plan.target] = min(steps, result.get(plan.target, steps))
            if plan in ends and steps + ends[plan] <= depth:
                name = f"job {plan.job}"
                result[name] = min(steps, result.get(name, steps))
        return result
