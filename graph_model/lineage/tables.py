"""Tables and jobs up and down, true in time.

A walk upstream follows the inputs that each write saw. A walk downstream mirrors it: the graph
without times gives candidates, and a candidate stays if the backward walk from it, among the
candidates, reaches the start.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from graph_model import identity, labels
from graph_model.lineage.chains import FAR, Trace, Way, short_chains
from graph_model.lineage.history import Moment
from graph_model.lineage.history.history import end_of, moment_of
from graph_model.lineage.questions import (
    CANDIDATE_LIMIT,
    Bounds,
    LeftOut,
    PlanUse,
    Question,
    Reach,
    WalkEvidence,
    count_left_out,
)
from graph_model.lineage.walk import WALKS, Step, Walk, plans_of_job, readers_of

#: A use of a logical plan: its id, its job, and a dataset read ("" none) or written ("" none), each
#: as drawn and as the plan names it.
Use = tuple[str, str, str, str, str, str]


_Candidates = tuple[set[str], dict[str, set[str]]]
"""Datasets downstream at any time; the plans between them, each with what it reads of these."""


@dataclass(slots=True)
class TableFindings:
    """The results of the walks of one question so far.

    ``hidden`` (ids): the walk goes through these nodes, and they take no place of visible ones.
    """

    limit: int
    bounds: Bounds
    datasets: set[str] = field(default_factory=set)
    answers: set[str] = field(default_factory=set)
    jobs: set[str] = field(default_factory=set)
    uses: set[Use] = field(default_factory=set)
    steps: list[tuple[Moment, Step]] = field(default_factory=list)  # behind the uses
    reached: int = 0
    folded: bool = False
    traces: dict[Reach, Trace[Moment]] = field(default_factory=dict)  # of the walks downstream
    seen: frozenset[Use] | None = None  # the uses that reads have seen; None: all
    hidden: Collection[str] = ()
    full: bool = False  # a node was left out

    def admit(self, datasets: Iterable[str], jobs: Iterable[str]) -> bool:
        """Admit nodes in the order of their ids, up to the limit; whether any visible one was new.

        Hidden nodes take no place of visible ones: they have a limit of their own, and are admitted
        while there is room for visible ones.
        """
        offered = ((self.jobs, set(jobs)), (self.datasets, set(datasets)))
        new = self._admit([(known, nodes.difference(self.hidden)) for known, nodes in offered])
        if self.hidden and not self.full:
            self._admit([(known, nodes.intersection(self.hidden)) for known, nodes in offered])
        return new

    def _admit(self, offered: Iterable[tuple[set[str], set[str]]]) -> bool:
        """``offered``: the admitted nodes of a kind, and the offered ones, which are all hidden or
        all visible.
        """
        new = False
        hidden = sum(node in self.datasets or node in self.jobs for node in self.hidden)
        for known, nodes in offered:
            for node in sorted(nodes - known):
                is_hidden = node in self.hidden
                taken = hidden if is_hidden else len(self.datasets) + len(self.jobs) - hidden
                if taken >= self.limit:
                    self.bounds.cut("nodes", self.limit)
                    self.full = True
                    break
                known.add(node)
                hidden += is_hidden
                new = True
        return new

    def left_out(self) -> tuple[LeftOut, ...]:
        """How many of the found steps are not drawn, per drawn node."""
        steps = {(source, job) for _, job, source, _, _, _ in self.uses if source}
        steps |= {(job, target) for _, job, _, _, target, _ in self.uses if target}
        return count_left_out(steps, self.datasets | self.jobs, self.hidden)

    def plan_uses(
        self, modes: Mapping[str, str], origins: Mapping[str, Mapping[str, str]]
    ) -> tuple[PlanUse, ...]:
        """The uses between drawn nodes: one for each logical plan, and one for its flow that was
        not seen. ``origins``: by plan the origins of the edges from what it reads.
        """
        sources: dict[tuple[str, str, bool], set[str]] = {}
        targets: dict[tuple[str, str, bool], set[str]] = {}
        rows: set[tuple[str, str]] = set()  # the plan reads rows of the source
        for use in self.uses:
            plan, job, source, called, target, _ = use
            if origins.get(plan, {}).get(called) != labels.METADATA:
                rows.add((plan, source))
            if job in self.jobs:
                key = plan, job, self.seen is None or use in self.seen
                sources.setdefault(key, set()).update({source} & self.datasets)
                targets.setdefault(key, set()).update({target} & self.datasets)
        return tuple(
            sorted(
                PlanUse(
                    key[0], key[1], modes.get(key[0], ""), tuple(sorted(read)),
                    tuple(sorted(targets[key])), seen=key[2],
                    metadata=tuple(
                        sorted(source for source in read if (key[0], source) not in rows)
                    ),
                )
                for key, read in sources.items()
            )
        )  # fmt: skip


class TableWalks:
    """The walks of one question: by what was seen, or by plans in force (``Question.reach``)."""

    def __init__(self, evidence: WalkEvidence) -> None:
        self._evidence = evidence
        self._known_candidates: dict[tuple[frozenset[str], str | None, int], _Candidates] = {}
        self._intervals: set[Moment] = set()  # a walk may begin at those of another

    def upstream(self, question: Question, findings: TableFindings) -> None:
        """Find the sources of the node. The walk is breadth first, so a node's level is its least
        depth.
        """
        job, walk = _asked_job(question), self._walk(question)
        if job is not None:
            steps = self._steps_of_job(job, question, findings)
        else:
            roots = [moment_of(question.node, question.at)]
            steps = self._steps_from(walk, roots if question.depth else [])
        visited: set[Moment] = set()
        for level in range(1, question.depth + 1):
            if not steps:
                break
            reached = {read for _, step in steps for _, read in step.inputs}
            steps = self.with_shared_reads(steps, question.at)
            uses = {use for moment, step in steps for use in uses_of(step, moment)}
            findings.steps += steps
            if level == 1 and job is not None:
                uses = {(*use[:4], "", "") for use in uses}  # a job's outputs are not upstream
            findings.uses |= uses
            datasets = {read.dataset for _, step in steps for _, read in step.inputs}
            if findings.admit(datasets, {step.job for _, step in steps}):
                findings.reached = max(findings.reached, level)
            findings.answers |= datasets & findings.datasets
            findings.uses |= _uses_inside(uses, findings.datasets)
            frontier = {m for m in reached - visited if m.dataset in findings.datasets}
            visited |= frontier
            steps = self._steps_from(walk, frontier) if level < question.depth else []
        findings.folded |= walk.folded

    def _steps_from(self, walk: Walk, moments: Collection[Moment]) -> list[tuple[Moment, Step]]:
        if not moments or self._evidence.bounds.over():
            return []
        return [(moment, step) for moment, some in walk.expand(moments).items() for step in some]

    def with_shared_reads(
        self, steps: Collection[tuple[Moment, Step]], at: int | None
    ) -> list[tuple[Moment, Step]]:
        """Steps with the moments of their writes; a read counts as one of each location around."""
        read = {state.dataset for _, step in steps for _, state in step.inputs}
        beside = self._evidence.history.locations.around_at(read, at)
        around = {dataset: others for dataset, others in beside.items() if others}
        return [(moment, self._with_shared_reads(step, around)) for moment, step in steps]

    def _steps_of_job(
        self, job: str, question: Question, findings: TableFindings
    ) -> list[tuple[Moment, Step]]:
        """The job's steps in all chains to visible data, at any distance below it."""
        if question.depth == 0:
            return []
        endless = replace(question, depth=FAR)
        candidates, plans = self._candidates((job,), endless)
        walk = self._walk(question, dict.fromkeys(plans))  # the inputs are drawn above the job
        roots = self._roots(candidates, plans, question)
        steps = self._steps_within(walk, roots, candidates, endless)
        findings.folded |= walk.folded
        return [(at, step) for at, some in steps.items() for step in some if step.job == job]

    def _walk(
        self, question: Question, plans: Mapping[str, Collection[str] | None] | None = None
    ) -> Walk:
        return WALKS[question.reach](
            self._evidence,
            end_of(question.at),
            plans,
            self._intervals,
            columns=question.columns,
        )

    def _places(self, datasets: Collection[str]) -> set[str]:
        places = self._evidence.history.names.locations_of(datasets)
        return {place for dataset in datasets for place in places[dataset]}

    # --- downstream

    def downstream(
        self, start: Collection[str], question: Question, findings: TableFindings
    ) -> None:
        """Find the results of the node, or of these datasets together."""
        candidates, plans = self._candidates(start, question)
        if not plans:
            return
        walk = self._walk(question, plans)
        job = _asked_job(question)
        roots = self._roots(candidates, plans, question)
        steps = self._steps_within(walk, roots, candidates, question)
        self._draw(start, question, findings, steps, roots, job)
        findings.folded |= walk.folded

    def _candidates(self, start: Collection[str], question: Question) -> _Candidates:
        key = frozenset(start), _asked_job(question), question.depth
        if key not in self._known_candidates:
            self._known_candidates[key] = self._find_candidates(start, question)
        return self._known_candidates[key]

    def _find_candidates(self, start: Collection[str], question: Question) -> _Candidates:
        """The datasets downstream at any time; and the logical plans between, each with the
        datasets that it reads among the start and the candidates.

        The readers of datasets at the full depth are not read: a chain ends there.
        """
        plans: dict[str, set[str]] = {}
        if (job := _asked_job(question)) is not None:
            plans = {plan: set() for plan in plans_of_job(self._evidence, job)}
            frontier = self._targets(plans, question)
            datasets, first = set(frontier), 1
        else:
            frontier = self._evidence.history.locations.with_shared(start, question.at)
            datasets, first = set(), 0
        for _ in range(first, question.depth):
            if not frontier or self._evidence.bounds.over():
                break
            readers = readers_of(self._evidence, frontier)
            new = readers.keys() - plans.keys()
            for plan, read in readers.items():
                plans.setdefault(plan, set()).update(read)
            frontier = self._targets(new, question) - datasets
            datasets |= frontier
            if len(datasets) + len(plans) > CANDIDATE_LIMIT:
                self._evidence.bounds.cut("nodes", CANDIDATE_LIMIT)
        return datasets, plans

    def _targets(self, plans: Collection[str], question: Question) -> set[str]:
        """The locations that these plans write, and those that share files with them."""
        rows = self._evidence.history.plans.rows(plans).values()
        written = self._places({row.target for row in rows if row.target})
        return self._evidence.history.locations.with_shared(written, question.at)

    def _read_in_part(
        self, start: Collection[str], question: Question
    ) -> Mapping[str, Collection[str]]:
        """Per location that shares files with some of the start, these: a read of the location is
        one of them, too.
        """
        shared: dict[str, set[str]] = {}
        for dataset, around in self._evidence.history.locations.around_at(
            start, question.at
        ).items():
            for other in around:
                shared.setdefault(other, set()).add(dataset)
        return shared

    def _roots(
        self, datasets: Collection[str], plans: Collection[str], question: Question
    ) -> set[Moment]:
        """The ends of chains at the requested time: in these datasets and in read-only plans."""
        rows = self._evidence.history.plans.rows(plans).values()
        reading = {row.id for row in rows if not row.target}
        return {moment_of(end, question.at) for end in {*datasets, *reading}}

    def _steps_within(
        self, walk: Walk, roots: Iterable[Moment], candidates: Collection[str], question: Question
    ) -> dict[Moment, tuple[Step, ...]]:
        """The steps of the backward walk among the candidates, from all roots at once."""
        steps: dict[Moment, tuple[Step, ...]] = {}
        frontier = set(roots)
        for _ in range(question.depth):
            if not frontier or self._evidence.bounds.over():
                break
            steps |= walk.expand(frontier)
            reached = {m for at in frontier for step in steps[at] for _, m in step.inputs}
            frontier = {m for m in reached.difference(steps) if m.dataset in candidates}
        return steps

    def _draw(
        self,
        start: Collection[str],
        question: Question,
        findings: TableFindings,
        steps: Mapping[Moment, tuple[Step, ...]],
        roots: Collection[Moment],
        job: str | None,
    ) -> None:
        """Admit every chain of at most ``depth`` steps from a root to the node."""
        if job is None and (ends := self._read_in_part(start, question)):
            steps = {
                m: tuple(self._with_shared_reads(s, ends) for s in some)
                for m, some in steps.items()
            }
        nexts = {m: {read for s in some for _, read in s.inputs} for m, some in steps.items()}
        goals = {m: 0 for reads in nexts.values() for m in reads if m.dataset in start}
        if job is not None:
            goals |= {m: 1 for m, some in steps.items() if any(s.job == job for s in some)}
        chains = short_chains(nexts, roots, goals, question.depth, at_goal=job is not None)
        trace = Trace(
            chains.away, chains.roots, lambda m: _ways(steps[m], job), lambda m: m.dataset
        )
        nodes: dict[int, tuple[set[str], set[str]]] = {}
        for moment in chains.levels.keys() & steps.keys():
            for step in steps[moment]:
                last = step.job == job
                inputs = [named for named in step.inputs if chains.hold(moment, named[1])]
                if not inputs and not (last and chains.levels[moment] < question.depth):
                    continue
                length = 1 if last else min(chains.away[read] for _, read in inputs) + 1
                datasets, jobs = nodes.setdefault(length, (set(), set()))
                datasets |= {moment.dataset} if step.target else set()
                jobs.add(step.job)
                findings.uses |= uses_of(step, moment, inputs)
                findings.steps.append((moment, step._replace(inputs=tuple(inputs))))
                if question.chains:
                    for way in _ways((step,), job):
                        trace.note_job(way)
        findings.traces[question.reach] = trace
        for length in sorted(nodes):
            if findings.admit(*nodes[length]):
                findings.reached = max(findings.reached, length)
        findings.answers |= {root.dataset for root in chains.roots} & findings.datasets

    def _with_shared_reads(self, step: Step, around: Mapping[str, Collection[str]]) -> Step:
        """A step with a read of each location around those that it read, for the drawing: a walk
        goes on from the moments that were read.

            in/orders_*.csv was read  =>  in/orders_1.csv was read, under the name of the pattern
        """
        if not around:
            return step
        shared = [
            (called, Moment(other, read.since, read.until))
            for called, read in step.inputs
            for other in around.get(read.dataset, ())
            if self._evidence.history.visible_writes.reads(read, other)
        ]
        return step._replace(inputs=(*step.inputs, *shared)) if shared else step


def _asked_job(question: Question) -> str | None:
    """The node of the question, where it is a job."""
    return question.node if identity.kind_of(question.node) == labels.JOB else None


def _ways(steps: Iterable[Step], job: str | None) -> Iterator[Way[Moment]]:
    """The steps down to the outputs; ``job`` is the requested job, if the node is one."""
    for step in steps:
        if step.job == job:
            yield Way(step.job, None)
        yield from (Way(step.job, read) for _, read in step.inputs)


def _uses_inside(uses: Collection[Use], drawn: Collection[str]) -> set[Use]:
    """Of writes that were seen through another location those of locations that are drawn too."""
    return {
        (plan, job, "", "", called, called)
        for plan, job, _, _, target, called in uses
        if called != target and called in drawn
    }


def uses_of(
    step: Step, moment: Moment, inputs: Iterable[tuple[str, Moment]] | None = None
) -> set[Use]:
    """The uses of a step: its target, if it has one, and all inputs or only these."""
    plan, job = step.logical_plan, step.job
    drawn = step.inputs if inputs is None else inputs
    uses = {(plan, job, read.dataset, called, "", "") for called, read in drawn}
    return uses | {(plan, job, "", "", moment.dataset, step.target)} if step.target else uses
