"""The past of datasets as a catalogue knows it: which writes stood there at given times.

Many moments are answered together by a fixed number of catalogue queries. What was learnt stays
for the life of the object, which is one question.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import Final, NamedTuple, Protocol, TypeVar

from graph_model import labels
from graph_model.expressions.definitions import SUBQUERY
from graph_model.facts import ColumnRow, LogicalPlanRow
from graph_model.history.merging import (
    REACH_MS,
    WHOLE,
    Details,
    Write,
    merge_writes,
    part_of,
    repeated_executions,
)
from graph_model.history.visibility import Moment, visible_writes
from graph_model.store import (
    Catalogue,
    DeclaredFlow,
    OlderWrites,
    Span,
    SpanWrites,
    Standing,
    SuccessfulWrite,
)

_Key = TypeVar("_Key")

BEGINNING: Final = -(2**62)
END: Final = 2**62
#: Writes since the last overwrite that are read one by one: in all, and of one moment at least.
_ROWS_AT_ONCE: Final = 2_000
_LEAST_ROWS: Final = 64
#: Beyond these so many of each logical plan are; the others are known by their first and last.
EXACT_EXECUTIONS: Final = 8


def moment_of(dataset: str, at: int | None) -> Moment:
    """The dataset at the end of the millisecond ``at``, or at the end of time."""
    before = END if at is None else min(at + 1, END)
    return Moment(dataset, before, before)


class KnownPlans(Protocol):
    """Rows of logical plans that others have learnt (``lineage.structure``)."""

    def find(self, keys: Iterable[str]) -> Mapping[str, LogicalPlanRow]: ...

    def keep(self, values: Mapping[str, LogicalPlanRow]) -> None: ...


class Sight(NamedTuple):
    """What was to be seen at a moment: writes, newest first.

    ``older``: where there were too many of a logical plan, between which times the others lie.
    ``rough``: some of the writes may have been replaced by one that was not looked at.
    ``declared``: what people say flows into it; no write replaces that.
    """

    writes: tuple[Write, ...] = ()
    older: tuple[OlderWrites, ...] = ()
    rough: bool = False
    declared: tuple[DeclaredFlow, ...] = ()


class Past:
    """Answers from one catalogue. Not to be shared between threads.

    ``known`` keeps rows of logical plans for others, whose ids say all of them.
    """

    def __init__(self, catalogue: Catalogue, known: KnownPlans | None = None) -> None:
        self._catalogue = catalogue
        self._known = known
        self._names: dict[str, frozenset[str]] = {}  # location -> names it ever had
        self._locations: dict[str, frozenset[str]] = {}  # name -> locations it ever stood for
        self._plans: dict[str, LogicalPlanRow] = {}
        self._columns: dict[str, tuple[str, str]] = {}  # column -> (dataset, path)
        self._written: dict[str, list[str]] = {}  # execution -> partitions
        self._read: dict[str, dict[str, frozenset[str]]] = {}  # execution -> dataset -> partitions
        self._sights: dict[Moment, Sight] = {}
        self._jobs: dict[str, str] = {}  # logical plan that has written -> its job

    # --- names

    def names_of(self, datasets: Collection[str]) -> dict[str, frozenset[str]]:
        """Per dataset the catalog names that ever stood for it."""
        self._learn_names(set(datasets) - self._names.keys())
        return {dataset: self._names[dataset] for dataset in datasets}

    def locations_of(self, datasets: Collection[str]) -> dict[str, frozenset[str]]:
        """Per dataset the places it ever stood for: itself where it is no catalog name."""
        self._learn_names(set(datasets) - self._locations.keys())
        return {dataset: self._locations[dataset] for dataset in datasets}

    def _learn_names(self, datasets: Collection[str]) -> None:
        """Both at once: who asks for one mostly asks for the other next."""
        if datasets:
            self._note_names(datasets, self._catalogue.names_around(datasets))

    def learn_around(self, datasets: Collection[str], columns: Collection[str]) -> None:
        """The names of datasets and what columns (ids) are, asked for together."""
        new_datasets = set(datasets) - self._locations.keys()
        new_columns = set(columns) - self._columns.keys()
        if new_datasets and new_columns:
            pairs, rows = self._catalogue.names_and_columns(new_datasets, new_columns)
            self._note_names(new_datasets, pairs)
            self._note_columns(rows)
        else:
            self._learn_names(new_datasets)
            self.columns(new_columns)

    def _note_names(self, datasets: Collection[str], pairs: Collection[tuple[str, str]]) -> None:
        names: defaultdict[str, set[str]] = defaultdict(set)
        places: defaultdict[str, set[str]] = defaultdict(set)
        for name, location in pairs:
            names[location].add(name)
            places[name].add(location)
        self._names |= {d: frozenset(names.get(d, ())) for d in datasets}
        self._locations |= {d: frozenset(places.get(d, (d,))) for d in {*datasets, *places}}

    def locate(self, moments: Iterable[tuple[str, int]]) -> dict[tuple[str, int], str]:
        """Per (dataset, time) where it was: the one function behind every hop."""
        asked = set(moments)
        places = self.locations_of({dataset for dataset, _ in asked})
        moved = {moment for moment in asked if len(places[moment[0]]) > 1}
        found = {moment: next(iter(places[moment[0]])) for moment in asked - moved}
        return found | (self._catalogue.locations_of(moved) if moved else {})

    # --- plans

    def plans(self, ids: Collection[str]) -> dict[str, LogicalPlanRow]:
        """The rows of these logical plans, as far as they are known."""
        new = set(ids) - self._plans.keys()
        if new:
            self._plans |= self._learn_plans(new)
        return {plan: self._plans[plan] for plan in ids if plan in self._plans}

    def _learn_plans(self, ids: Collection[str]) -> dict[str, LogicalPlanRow]:
        kept = self._known.find(ids) if self._known else {}
        new = set(ids) - kept.keys()
        rows = {row.id: row for row in self._catalogue.logical_plans(new)} if new else {}
        if self._known:
            self._known.keep(rows)
        return {**kept, **rows}

    def jobs_of(self, plans: Collection[str]) -> dict[str, str]:
        """The jobs of these logical plans, as far as they are known."""
        unseen = self.plans(set(plans) - self._jobs.keys())
        seen = {plan: self._jobs[plan] for plan in plans if plan in self._jobs}
        return seen | {plan: row.job for plan, row in unseen.items()}

    def declared_plans(self, plans: Collection[str]) -> frozenset[str]:
        """Those of these logical plans that are declared and that no run has followed."""
        unseen = set(plans) - self._jobs.keys()  # what was seen to write, a run has followed
        return self._catalogue.declared_plans(unseen) if unseen else frozenset()

    def columns(self, ids: Collection[str]) -> dict[str, tuple[str, str]]:
        """Per column that a schema has its dataset and path."""
        new = set(ids) - self._columns.keys()
        if new:
            self._note_columns(self._catalogue.columns(new))
        return {column: self._columns[column] for column in ids if column in self._columns}

    def _note_columns(self, rows: Iterable[ColumnRow]) -> None:
        self._columns |= {row.id: (row.dataset, row.path) for row in rows}

    def fields(self, columns: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
        """The known columns nested in these, each a (dataset, path)."""
        return {(row.dataset, row.path) for row in self._catalogue.fields(columns)}

    def partitions_read(self, write: Write, dataset: str) -> tuple[str, ...]:
        """The partitions that a write's executions all say they read of a dataset; () the whole."""
        told = [self._read.get(execution, {}).get(dataset) for execution in write.executions]
        known = [partitions for partitions in told if partitions]
        if len(known) < len(told):
            return ()
        return tuple(sorted(frozenset[str]().union(*known)))

    # --- writes

    def sights(self, moments: Collection[Moment]) -> dict[Moment, Sight]:
        """Per moment what was to be seen of it."""
        new = set(moments) - self._sights.keys()
        if new:
            standing = self._standing(new)
            found = self._merged({m: _joined(s.spans.values()) for m, s in standing.items()})
            floors = {m: s.floor for m, s in standing.items() if s.floor is not None}
            # A full overwrite that another producer knows to be one of some partitions is none.
            again = [m for m in floors if not found[m][0].older and not _is_closed(m, found[m][1])]
            found |= self._look(again)
            declared = self._declared([m for m, s in standing.items() if s.declared])
            for moment in new:
                floor = BEGINNING if moment in again else floors.get(moment, BEGINNING)
                sight = _sight(moment, floor, *found[moment])
                if moment in declared:
                    sight = sight._replace(declared=declared[moment])
                self._sights[moment] = sight
        return {moment: self._sights[moment] for moment in moments}

    def _standing(self, moments: Collection[Moment]) -> dict[Moment, Standing]:
        """Per moment the rows since just before its floor."""
        reads = self._spans(moments)
        most = _most(sum(len(spans) for spans in reads.values()))
        found = self._catalogue.standing(
            set(reads.values()), reach=REACH_MS, most=most, per_plan=EXACT_EXECUTIONS + 1
        )
        return {moment: found[spans] for moment, spans in reads.items()}

    def _spans(self, moments: Collection[Moment]) -> dict[Moment, tuple[Span, ...]]:
        targets = self._targets({moment.dataset for moment in moments})
        return {
            moment: tuple(
                Span(target, moment.since, moment.until, place, part)
                for target, place in targets[moment.dataset]
                for part in moment.partitions or ("",)
            )
            for moment in moments
        }

    def _declared(self, moments: Collection[Moment]) -> dict[Moment, tuple[DeclaredFlow, ...]]:
        """Per moment what is declared then of its dataset, under any of its names."""
        if not moments:
            return {}
        targets = self._targets({moment.dataset for moment in moments})
        asked = {target for found in targets.values() for target, _ in found}
        flows: dict[str, list[DeclaredFlow]] = {}
        for flow in self._catalogue.declared_flows(asked):
            flows.setdefault(flow.target, []).append(flow)
        return self._of_their_places(
            {
                moment: [
                    (flow, place)
                    for target, place in targets[moment.dataset]
                    for flow in flows.get(target, ())
                    if flow.since < moment.until and flow.ends >= moment.since
                ]
                for moment in moments
            }
        )

    def _of_their_places(
        self, found: Mapping[Moment, Collection[tuple[DeclaredFlow, str]]]
    ) -> dict[Moment, tuple[DeclaredFlow, ...]]:
        """Per moment those whose target, a name that has moved, stood for its place just before
        the moment ends; "" is no place to stand for.
        """
        stood = self.locate(
            (flow.target, moment.until - 1)
            for moment, flows in found.items()
            for flow, place in flows
            if place
        )
        return {
            moment: tuple(
                flow
                for flow, place in flows
                if not place or stood[flow.target, moment.until - 1] == place
            )
            for moment, flows in found.items()
        }

    def last_writes(self, datasets: Collection[str], at: int | None) -> dict[str, int]:
        """Per dataset the time of its newest completed write at or before ``at``."""
        alone = {d for d, found in self._targets(datasets).items() if len(found) == 1}
        # what no other execution is near to is no second telling of an earlier one
        told = self._catalogue.lone_last_writes(alone, at, apart=REACH_MS)
        lone = {dataset: last for dataset, last in told.items() if last is not None}
        return lone | self._merged_last_writes(set(datasets) - told.keys(), at)

    def _merged_last_writes(self, datasets: Collection[str], at: int | None) -> dict[str, int]:
        if not datasets:
            return {}
        targets = self._targets(datasets)
        asked = {target for found in targets.values() for target, _ in found}
        newest = self._catalogue.last_writes(asked, at)
        spans: dict[str, list[Span]] = {}
        for dataset, found in targets.items():
            times = [newest[target] for target, place in found if target in newest and not place]
            times = times or [newest[target] for target, _ in found if target in newest]
            if times:
                last = max(times)
                spans[dataset] = [
                    Span(target, last - REACH_MS, last + 1, place) for target, place in found
                ]
        rows = self._rows(spans)
        writes = self._writes(rows)
        return {
            dataset: max(write.at for write in writes[dataset])
            for dataset in spans
            if writes[dataset]
        }

    def _look(self, moments: Collection[Moment]) -> dict[Moment, tuple[SpanWrites, list[Write]]]:
        """Per moment its rows from the beginning, and the writes they tell of."""
        if not moments:
            return {}
        spans = {
            moment: [span._replace(since=BEGINNING) for span in some]
            for moment, some in self._spans(moments).items()
        }
        return self._merged(self._rows(spans))

    def _merged(
        self, rows: Mapping[Moment, SpanWrites]
    ) -> dict[Moment, tuple[SpanWrites, list[Write]]]:
        writes = self._writes(rows)
        return {moment: (rows[moment], writes[moment]) for moment in rows}

    def _targets(self, datasets: Collection[str]) -> dict[str, list[tuple[str, str]]]:
        """Per dataset what writes to it are called: (target, place to ask for or "")."""
        names = self.names_of(datasets)
        places = self.locations_of({name for found in names.values() for name in found})
        return {
            dataset: [
                (dataset, ""),
                *((name, dataset if len(places[name]) > 1 else "") for name in sorted(found)),
            ]
            for dataset, found in names.items()
        }

    def _rows(self, spans: Mapping[_Key, Collection[Span]]) -> dict[_Key, SpanWrites]:
        asked = {span for some in spans.values() for span in some}
        most = _most(len(asked))
        found = self._catalogue.writes(asked, most=most, per_plan=EXACT_EXECUTIONS + 1)
        return {key: _joined([found[span] for span in some]) for key, some in spans.items()}

    def _writes(self, rows: Mapping[_Key, SpanWrites]) -> dict[_Key, list[Write]]:
        """Merged with all that the same applications told; each where one of its rows is."""
        listed = {row for some in rows.values() for row in some.writes}
        self._jobs |= {row.logical_plan: row.job for row in listed}
        pairs = {(row.target, row.application_id) for row in listed if row.application_id}
        everything = listed | set(self._catalogue.companions(pairs) if pairs else ())
        by_execution = {
            execution: write
            for write in merge_writes(everything, self._details(everything))
            for execution in write.executions
        }
        return {
            key: list(dict.fromkeys(by_execution[row.id] for row in some.writes))
            for key, some in rows.items()
        }

    def repeated(self, target: str) -> tuple[SuccessfulWrite, ...]:
        """Executions that tell a write of the dataset, or an attempt at one, once more."""
        found: list[SuccessfulWrite] = []
        for state in (labels.COMPLETED, labels.FAILED):
            rows = self._catalogue.told_twice(target, state)
            plans = self.plans({row.logical_plan for row in rows})
            found += repeated_executions(rows, _incomplete(plans.values()))
        return tuple(found)

    def _details(self, rows: Collection[SuccessfulWrite]) -> Details:
        targets = {row.id: row.target for row in rows if row.partitioned}
        new = targets.keys() - self._written.keys()
        self._written |= {execution: [] for execution in new}
        for part in self._catalogue.partitions(new) if new else ():
            if part.role == "write" and part.dataset == targets[part.execution]:
                self._written[part.execution].append(part.partition)
            elif part.role == "read":
                read = self._read.setdefault(part.execution, {})
                read[part.dataset] = read.get(part.dataset, frozenset()) | {part.partition}
        plans = self.plans(_of_interest(rows))
        return Details(
            self._written,
            {plan: _count(row.gaps) for plan, row in plans.items()},
            {plan: _keys(row.partition_keys) for plan, row in plans.items()},
            _incomplete(plans.values()),
        )


def _of_interest(rows: Collection[SuccessfulWrite]) -> set[str]:
    """The plans that may count where writes are merged: of tellings that are not the only ones of
    their application, or whose mode is dynamic.
    """
    told = Counter((row.target, row.application_id) for row in rows if row.application_id)
    return {
        row.logical_plan for row in rows if row.dynamic or told[row.target, row.application_id] > 1
    }


# Most plans say the same: nothing.


@lru_cache(maxsize=1_000)
def _count(gaps: str) -> int:
    return len(json.loads(gaps))


@lru_cache(maxsize=1_000)
def _keys(partition_keys: str) -> frozenset[str]:
    return frozenset(json.loads(partition_keys))


def _incomplete(plans: Iterable[LogicalPlanRow]) -> frozenset[str]:
    """Those with a subquery that only its text tells of: what it reads is not known."""
    told = ((plan.id, json.loads(plan.gaps)) for plan in plans if SUBQUERY in plan.gaps)
    return frozenset(plan for plan, gaps in told if any(gap["code"] == SUBQUERY for gap in gaps))


def _most(spans: int) -> int:
    """How many writes of each of so many spans are read one by one."""
    return max(_LEAST_ROWS, _ROWS_AT_ONCE // max(1, spans))


def _joined(found: Collection[SpanWrites]) -> SpanWrites:
    if len(found) == 1:
        return next(iter(found))
    writes = dict.fromkeys(write for some in found for write in some.writes)
    older = dict.fromkeys(plan for some in found for plan in some.older)
    return SpanWrites(tuple(writes), tuple(older))


def _is_closed(moment: Moment, writes: Iterable[Write]) -> bool:
    """Whether a full overwrite is among what was there before the moment."""
    return any(WHOLE in write.closes and write.at < moment.since for write in writes)


def _sight(moment: Moment, floor: int, rows: SpanWrites, writes: Collection[Write]) -> Sight:
    if rows.older:  # the overwrite at the floor may be one of those left out
        writes = [write for write in writes if write.at >= floor]
    parts = tuple(map(part_of, moment.partitions)) or (WHOLE,)
    seen = tuple(visible_writes(writes, moment.since, moment.until, parts))
    rough = bool(rows.older) and any(w.closes and WHOLE not in w.closes for w in writes)
    return Sight(seen, rows.older, rough)
