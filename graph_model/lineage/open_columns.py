"""Columns that the text of a query leaves open, joined with the catalogue's schemas.

    CREATE TABLE t AS SELECT * FROM s              t.x comes from s.x, for each column x of s
    INSERT INTO t SELECT a FROM s1 JOIN s2 …       t.a comes from the only one of both that has an a

The facts are edges ``supplies`` of the plan (``graph_model.sql.SqlOpen``). A table has the columns
of the schema that was the newest when the execution read it, else (the first document of it came
later) of the newest one at the asked time. A table without any schema has the columns that its
writes gave it, which may be open as well: up to MOST_CHAINED tables in a row.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from graph_model import identity, labels
from graph_model.facts import Edge, Scalar, edge
from graph_model.lineage.column_reader import Name, holders, schema_paths
from graph_model.lineage.history import Moment
from graph_model.lineage.questions import CANDIDATE_LIMIT, HUB_LIMIT, WalkEvidence
from graph_model.lineage.walk import Step, Walk
from graph_model.sql import RowPlace, RowWidth
from graph_model.stores.graph import Direction

if TYPE_CHECKING:
    from graph_model.lineage.column_reader import DerivationReader

#: Tables without a schema in a row, each the ``*`` of the next.
MOST_CHAINED: Final = 16
#: Times at which the schemas of tables that changed theirs are read for one question.
MOST_TIMES: Final = 100
_STARRED: Final = '{"":true}'  # a column that is passed on keeps its fields
_GATE: Final = f'"{labels.OPEN_COLUMNS}"'


class OpenColumn(NamedTuple):
    """An edge ``supplies``; its lists are read."""

    edge: Edge
    among: tuple[str, ...]
    left_out: frozenset[str]
    into: tuple[str, ...] | None
    place: RowPlace | None

    @property
    def source(self) -> str:
        return self.edge.out_id

    @property
    def logical_plan(self) -> str:
        return self.edge.in_id

    @property
    def path(self) -> str:
        return str(self.edge.value("column"))

    @property
    def target(self) -> str:
        return str(self.edge.value("target"))

    @property
    def like(self) -> str:
        return str(self.edge.value("like") or "")

    @property
    def is_star(self) -> bool:
        return self.path == labels.ANY_COLUMN

    @property
    def tables(self) -> set[str]:
        """The tables whose schemas decide."""
        beside = self.place.tables if self.place else ()
        return {self.source, *self.among, self.like, *beside} - {""}

    @property
    def not_placed(self) -> Collection[str]:
        """Columns of the source that the rows, or the names of the query, leave out."""
        own = self.place.own.stars if self.place and self.place.own else ()
        return own[0][1] if own else self.left_out

    @property
    def is_by_position_of_target(self) -> bool:
        """Whether the order of the written table's columns names it."""
        return self.place is not None and self.place.names is None


def _read(supplied: Edge) -> OpenColumn:
    into, row = supplied.value("into"), supplied.value("row")
    return OpenColumn(
        supplied,
        tuple(json.loads(str(supplied.value("among")))),
        frozenset(json.loads(str(supplied.value("left_out") or "[]"))),
        None if into is None else tuple(json.loads(str(into))),
        None if row is None else _place(json.loads(str(row))),
    )


def _place(row: Sequence[Any]) -> RowPlace:
    *widths, names, fixed = row
    before, own, behind = (
        None
        if width is None
        else RowWidth(width[0], tuple((table, tuple(left_out)) for table, left_out in width[1]))
        for width in widths
    )
    return RowPlace(before, own, behind, None if names is None else tuple(names), tuple(fixed))


class _Columns(NamedTuple):
    """Of a table at a moment: ``listed`` in the order of a schema, else in none."""

    paths: frozenset[str]
    listed: tuple[str, ...] | None = None


_NO_COLUMNS: Final = _Columns(frozenset())


class OpenColumns:
    """The open columns of the steps of one question, which is asked at the time before ``until``.

    ``reader`` gets the names of the columns that are joined.
    """

    def __init__(self, evidence: WalkEvidence, reader: DerivationReader) -> None:
        self._evidence = evidence
        self._reader = reader
        self._until = 0
        self._opens: dict[str, tuple[OpenColumn, ...]] = {}  # of a plan that leaves some open
        self._asked: set[str] = set()  # plans
        self._columns: dict[Moment, _Columns] = {}
        self._steps: dict[Moment, Sequence[Step]] = {}
        self._same: dict[Step, list[Step]] = {}
        self._passed: dict[tuple[str, Step], Mapping[str, str]] = {}
        self._written: dict[Step, Set[str]] = {}  # as _passed: while the same schemas are known
        self._times: set[int] = set()

    @cached_property
    def _walk(self) -> Walk:
        return Walk(self._evidence, self._until)

    @property
    def folded(self) -> bool:
        """Whether the columns of some table are those of several executions together."""
        return bool(self._steps) and self._walk.folded

    # --- reading

    def asked_before(self, until: int) -> None:
        """Note the time before which the question is asked (epoch ms)."""
        self._until = self._until or until

    def learn(self, steps: Iterable[Step], until: int) -> None:
        """Read what these steps leave open, and the columns of the tables that decide."""
        self._until = self._until or until
        known = list(steps)
        self._learn_opens({step.logical_plan for step in known})
        if self._opens:
            self._learn_columns(self._moments(known))

    def note_merged(self, merged: Mapping[str, Collection[Step]], of: Iterable[Step]) -> None:
        """Steps that stand for several of those which were learnt: with all of their inputs."""
        originals: defaultdict[tuple[str, str], list[Step]] = defaultdict(list)
        for step in of:
            if step.logical_plan in self._opens:
                originals[step.logical_plan, step.target].append(step)
        for steps in merged.values():
            for step in steps:
                if some := originals.get((step.logical_plan, step.target)):
                    self._same[step] = some
        self._written.clear()

    def open_plans(self, plans: Collection[str]) -> set[str]:
        """The plans among these that leave columns open."""
        self._learn_opens(plans)
        return {plan for plan in plans if plan in self._opens}

    def _learn_opens(self, plans: Collection[str]) -> None:
        new = set(plans) - self._asked
        if not new:
            return
        self._asked |= new
        rows = self._evidence.history.plans.rows(new).values()
        if gated := {row.id for row in rows if _GATE in row.gaps}:
            page = self._evidence.graph.edges(
                gated, Direction.UPSTREAM, (labels.SUPPLIES,), HUB_LIMIT
            )
            self._evidence.bounds.note_hub(page.cut)
            supplied: defaultdict[str, list[OpenColumn]] = defaultdict(list)
            for edge in page.edges:
                supplied[edge.in_id].append(_read(edge))
            self._opens |= {plan: tuple(items) for plan, items in supplied.items()}

    def _moments(self, steps: Iterable[Step]) -> set[Moment]:
        """The states of the tables whose columns decide over these steps."""
        moments: set[Moment] = set()
        for step in steps:
            items = self._opens.get(step.logical_plan, ())
            tables = {table for item in items for table in item.tables}
            moments |= {moment for called, moment in step.inputs if called in tables}
            if any(item.is_by_position_of_target for item in items):
                moments.add(Moment(step.target, self._until, self._until))
        return moments

    # --- the columns of tables

    def columns_of(self, moments: Collection[Moment], until: int) -> set[Name]:
        """The columns of tables without a schema that their writes leave open."""
        self._until = self._until or until
        self._learn_columns(moments)
        opened = {
            (moment.dataset, path)
            for moment in moments
            if self._columns[moment].listed is None
            for step in self._steps.get(moment, ())
            for path in self.targets(step)
        }
        self._note(opened)
        return opened

    def _learn_columns(self, moments: Collection[Moment]) -> None:
        waiting = set(moments).difference(self._columns)
        levels: list[set[Moment]] = []
        while waiting:
            schemas = self._schemas(waiting)
            self._columns |= schemas
            rest = waiting.difference(schemas)
            self._columns |= dict.fromkeys(rest, _NO_COLUMNS)
            if rest and len(levels) == MOST_CHAINED:
                self._evidence.bounds.cut(labels.OPEN_COLUMNS, MOST_CHAINED)
                break
            if not rest:
                break
            levels.append(rest)
            waiting = self._learn_steps_into(rest).difference(self._columns)
        self._spread(levels)

    def _learn_steps_into(self, moments: Collection[Moment]) -> set[Moment]:
        """Read the writes of tables without a schema; the states of the tables behind them."""
        expanded = self._walk.expand(moments)
        self._steps |= expanded
        steps = {step for some in expanded.values() for step in some}
        plans = {step.logical_plan for step in steps}
        self._learn_opens(plans)
        self._reader.learn_derivations_of(plans)
        return self._moments(steps)

    def _spread(self, levels: Sequence[Collection[Moment]]) -> None:
        """Give the tables without a schema the columns of their writes: from the last one back, and
        again as long as one gets more (tables may be made of each other).
        """
        for _ in range(len(levels) + 1):
            grown = False
            self._passed.clear()
            self._written.clear()
            for moment in (moment for level in reversed(levels) for moment in level):
                steps = self._steps[moment]
                written = self._reader.columns_written_by({step.logical_plan for step in steps})
                paths = {path for step in steps for path in self.targets(step)}
                paths |= {
                    path
                    for step in steps
                    for called, path in written[step.logical_plan]
                    if called == step.target
                }
                if not paths <= self._columns[moment].paths:
                    self._columns[moment] = _Columns(frozenset(paths))
                    grown = True
            if not grown:
                return

    def _schemas(self, moments: Collection[Moment]) -> dict[Moment, _Columns]:
        """Those of the tables that have a schema."""
        catalogue = self._evidence.catalogue
        newest = self._listed({moment.dataset for moment in moments}, self._until)
        changed = catalogue.changed_schemas(newest) if newest else frozenset()
        by_time: defaultdict[int, set[str]] = defaultdict(set)
        for moment in moments:
            if moment.dataset in changed and moment.until < self._until:
                by_time[moment.until].add(moment.dataset)
        earlier: dict[tuple[str, int], _Columns] = {}
        for until, datasets in sorted(by_time.items()):
            if until not in self._times and len(self._times) >= MOST_TIMES:
                self._evidence.bounds.cut(labels.OPEN_COLUMNS, MOST_TIMES)
                break
            self._times.add(until)
            for dataset, columns in self._listed(datasets, until).items():
                earlier[dataset, until] = columns
        return {
            moment: earlier.get((moment.dataset, moment.until), newest[moment.dataset])
            for moment in moments
            if moment.dataset in newest
        }

    def _listed(self, datasets: Collection[str], until: int) -> dict[str, _Columns]:
        rows = self._evidence.catalogue.newest_schemas(datasets, until - 1)
        listed = {dataset: tuple(schema_paths(row.columns)) for dataset, row in rows.items()}
        return {dataset: _Columns(frozenset(paths), paths) for dataset, paths in listed.items()}

    # --- what is joined

    def into(self, step: Step, path: str) -> Iterator[tuple[Edge, str]]:
        """The joined derivations of a step into a column, each with the path of its source."""
        for original in self._originals(step):
            for item in self._opens[original.logical_plan]:
                if item.is_star:
                    source = self._passed_on(item, original).get(path)
                    if source is not None:
                        yield self._joined(item, original, source, path), source
                elif self._target(item, original) == path and self._is_only(
                    item, original, item.path
                ):
                    yield self._joined(item, original, item.path, path), item.path

    def influences(self, step: Step) -> list[Edge]:
        """The joined influences on all rows that a step writes."""
        return [
            self._influence(item)
            for original in self._originals(step)
            for item in self._opens[original.logical_plan]
            if not item.target and self._is_only(item, original, item.path)
        ]

    def targets(self, step: Step) -> Set[str]:
        """The columns that a step writes by what it leaves open."""
        if step not in self._written:
            self._written[step] = frozenset(self._targets(step))
        return self._written[step]

    def _targets(self, step: Step) -> set[str]:
        paths: set[str] = set()
        for original in self._originals(step):
            for item in self._opens[original.logical_plan]:
                if item.is_star:
                    paths.update(self._passed_on(item, original))
                elif target := self._target(item, original):
                    paths.add(target)
        return paths

    def _originals(self, step: Step) -> Sequence[Step]:
        if step.logical_plan not in self._opens:
            return ()
        return self._same.get(step) or (step,)

    def _passed_on(self, item: OpenColumn, step: Step) -> Mapping[str, str]:
        """The columns that ``*`` gives the table that is written, each with its source."""
        key = item.edge.id, step
        if key not in self._passed:
            self._passed[key] = dict(self._pairs(item, step))
        return self._passed[key]

    def _pairs(self, item: OpenColumn, step: Step) -> Iterator[tuple[str, str]]:
        for columns in self._columns_read(item.source, step):
            into = self._names_by_position(item, step)
            if into is None:
                for path in columns.paths - item.left_out:
                    if self._is_only(item, step, path):
                        yield path, path
            elif columns.listed is not None:
                kept = [path for path in columns.listed if path not in item.not_placed]
                if len(kept) == len(into):  # else a schema is not that of the query
                    yield from zip(into, kept, strict=True)

    def _names_by_position(self, item: OpenColumn, step: Step) -> Sequence[str] | None:
        """The names that ``*`` has by position; None where it has its own."""
        standing = self._standing(item, step)
        if standing is not None:
            return standing
        if item.into is not None or not item.like:
            return item.into
        for columns in self._columns_read(item.like, step):
            if columns.listed is not None:
                return columns.listed
        return ()

    def _target(self, item: OpenColumn, step: Step) -> str:
        """The column that a named one flows into; "" where none is known."""
        standing = self._standing(item, step)
        if standing is None:
            return item.target
        return standing[0] if len(standing) == 1 else ""

    def _standing(self, item: OpenColumn, step: Step) -> Sequence[str] | None:
        """The columns of the written table at this place of the inserted rows; () where the widths
        beside it do not tell. None where the table has no schema: the rows are taken to have the
        names of the query.
        """
        if (place := item.place) is None:
            return None
        names: Sequence[str] | None = place.names
        if names is None:
            moment = Moment(step.target, self._until, self._until)
            listed = self._columns.get(moment, _NO_COLUMNS).listed
            names = listed and [path for path in listed if path not in place.fixed]
        if names is None:
            return None
        widths = [self._width(each, step) for each in (place.before, place.own, place.behind)]
        rest = len(names) - sum(width for width in widths if width is not None)
        if widths.count(None) > 1 or rest < 0 or (rest > 0 and None not in widths):
            return ()
        before, own, _ = (rest if width is None else width for width in widths)
        return names[before : before + own]

    def _width(self, width: RowWidth | None, step: Step) -> int | None:
        """A number of columns; None while a table among them has no schema."""
        if width is None:
            return None
        count = width.values
        for table, left_out in width.stars:
            listed = next((c.listed for c in self._columns_read(table, step) if c.listed), None)
            if listed is None:
                return None
            count += sum(path not in left_out for path in listed)
        return count

    def _is_only(self, item: OpenColumn, step: Step, path: str) -> bool:
        """Whether this table, and no other one that may, has the column."""
        return {table for table in item.among if self._has(table, step, path)} == {item.source}

    def _has(self, table: str, step: Step, path: str) -> bool:
        return any(
            not columns.paths.isdisjoint(holders(path))
            for columns in self._columns_read(table, step)
        )

    def _columns_read(self, table: str, step: Step) -> Iterator[_Columns]:
        for called, moment in step.inputs:
            if called == table:
                yield self._columns.get(moment, _NO_COLUMNS)

    def _joined(self, item: OpenColumn, step: Step, source: str, target: str) -> Edge:
        ends = (item.source, source), (step.target, target)
        out_id, in_id = (identity.column_id(*end) for end in ends)
        self._note(ends)
        values: dict[str, Scalar | None] = {
            "kind": str(item.edge.value("kind")), "how": str(item.edge.value("how")),
            "expression": str(item.edge.value("expression") or source),
            "logical_plan": item.logical_plan, "origin": item.edge.value("origin"),
            "fields": _STARRED if item.is_star else None, "joined": True,
        }  # fmt: skip
        key = item.logical_plan, values["kind"], values["how"], item.edge.id
        return edge(labels.DERIVES, out_id, in_id, values, discriminator=key)

    def _influence(self, item: OpenColumn) -> Edge:
        values: dict[str, Scalar | None] = {
            "how": str(item.edge.value("how")),
            "expression": str(item.edge.value("expression")),
            "origin": item.edge.value("origin"),
            "joined": True,
        }
        (out_id,) = self._note(((item.source, item.path),))
        key = values["how"], item.edge.id
        return edge(labels.INFLUENCES, out_id, item.logical_plan, values, discriminator=key)

    def _note(self, columns: Collection[Name]) -> list[str]:
        """The ids of these columns, whose names the reader and later questions know from now on."""
        names = {identity.column_id(*column): column for column in columns}
        new = {key: name for key, name in names.items() if key not in self._reader.names}
        if new:
            self._reader.names |= new
            self._evidence.structure.joined.keep(new)
        return list(names)

    # --- downstream, without times

    def fed_by(self, supplies: Iterable[Edge], columns: Collection[Name]) -> set[Name]:
        """The columns that may come from these columns through edges ``supplies`` out of their
        tables, whatever the schemas: by the plans' names of their tables.
        """
        paths: defaultdict[str, set[str]] = defaultdict(set)
        for dataset, path in columns:
            paths[dataset].update(holders(path))
            paths[dataset].add(path)
        items = [_read(supplied) for supplied in supplies]
        plans = self._evidence.history.plans.rows({item.logical_plan for item in items})
        fed: set[Name] = set()
        for item in items:
            row = plans.get(item.logical_plan)
            if row is None or not row.target:
                continue
            having = paths[item.source]
            if not item.is_star:
                if not item.target or item.path not in {h for p in having for h in holders(p)}:
                    continue
                fed.add((row.target, item.target))
            else:
                fed |= {(row.target, path) for path in having - item.left_out}
            fed |= {(row.target, path) for path in self._other_names(item, row.target)}
        if len(fed) > CANDIDATE_LIMIT:
            self._evidence.bounds.cut("nodes", CANDIDATE_LIMIT)
        return fed

    def possible_outputs(self, plans: Collection[str]) -> set[Name]:
        """The columns that plans with open columns may write, as far as schemas say."""
        outputs: set[Name] = set()
        rows = self._evidence.history.plans.rows(self.open_plans(plans))
        for plan, row in rows.items():
            for item in self._opens[plan] if row.target else ():
                names = self._other_names(item, row.target)
                if item.is_star:
                    names |= self._ever(item.source)
                elif item.target:
                    names.add(item.target)
                outputs |= {(row.target, path) for path in names}
        return outputs

    def _other_names(self, item: OpenColumn, target: str) -> set[str]:
        """Names that what is open may have in the written table, other than its own."""
        tables = (item.like, target if item.is_by_position_of_target else "")
        listed = (*(item.into or ()), *(item.place.names or () if item.place else ()))
        return {*listed, *(path for table in tables for path in self._ever(table))}

    def _ever(self, table: str) -> set[str]:
        """The columns ever known of a table, and those that its writes leave open."""
        if not table:
            return set()
        moment = Moment(table, self._until, self._until)
        self._learn_columns((moment,))
        known = {path for _, path in self._reader.every_column(table)}
        return known | self._columns[moment].paths
