"""The logic of a job, without times and run ids: one value for each dataset it writes.

A logical plan has one target, so a run with three outputs follows three of them. The sources of an
output are read in this order, and every edge carries its ``origin``:

1. ``explicit``: the lineage facet. Nothing is inferred beside it; an input that no entry names is
   still read by the job, an output that no entry targets still written. A job that feeds a dataset,
   itself or through other jobs, writes it, from all that was read on the way.
2. ``column``: the datasets of the output's columnLineage, whether ``inputs`` has them or not.
   Where the client reports none, the columns are those of the job's text (the facet ``sql``), and
   so are the columns that a job without outputs reads.
3. ``implied`` (``declared`` without a run): the inputs. Beside column lineage those that no
   output's column lineage names: ``count(*)``, EXISTS and Python functions name no column.

The digest of a :class:`RunLogic` is the fingerprint, so the id of a logical plan covers all its
facts in the graph, as in ``producers.spline.plan_logic``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Final

from graph_model import identity, labels, naming
from graph_model.naming import JobName, Rules
from graph_model.producers.elements import (
    APPENDING_COMMANDS,
    DYNAMIC_COMMANDS,
    FILLING_COMMANDS,
    INSERTING_COMMANDS,
    LIFECYCLE_COMMANDS,
    MOST_OPEN_TEXTS,
    ROW_LEVEL_COMMANDS,
    ROW_LEVEL_WRITES,
    OpenFlow,
)
from graph_model.producers.openlineage.columns import (
    SQL_GAPS,
    ColumnEdges,
    OpenFields,
    ReportedFlow,
    RunInfluence,
    TextLineage,
    read_text,
    stable_text,
)
from graph_model.producers.openlineage.datasets import (
    DatasetNamer,
    DatasetUse,
    Names,
    partition_keys,
)
from graph_model.producers.openlineage.events.accumulate import JobStatement
from graph_model.producers.openlineage.events.documents import Dataset
from graph_model.producers.openlineage.events.facets import (
    DBT_MODEL,
    DECLARATION_FACET,
    ColumnLineage,
    DbtModel,
    Facet,
    Lifecycle,
    LineageEntry,
    LineageSource,
    SourceField,
    Transformation,
    value_of,
)
from graph_model.producers.openlineage.events.jobs import facet_body, own_job
from graph_model.sql import RowPlace, RowWidth

#: Bounds of the inputs of a statement's plans: every output takes every input, and every plan
#: lists the schemas of its inputs. A short event can name a thousand of each.
MOST_READS: Final = 80_000
MOST_READ_COLUMNS: Final = 500_000
#: The most plans of jobs that feed a dataset through others: each job of a chain may feed each one.
MOST_CHAINED: Final = 1_000
#: Gaps of a statement that would exceed a bound.
INPUTS_TOO_MANY: Final = "inputs-too-many"
#: A lineage entry with neither inputs nor fields.
SOURCES_UNKNOWN: Final = "sources-unknown"
#: A column of Spark's output that the column lineage leaves out (it has no source, or Spark's agent
#: did not follow it: a Python function, a scalar subquery), and an output without column lineage.
COLUMN_NOT_REPORTED: Final = "column-untold"
COLUMNS_NOT_REPORTED: Final = "columns-untold"
_RENAME: Final = "RENAME"
_RANK: Final = {origin: rank for rank, origin in enumerate(labels.ORIGINS)}
_IDENTITY: Final = (Transformation(labels.DIRECT, labels.IDENTITY, "", masking=False),)


@dataclass(frozen=True, slots=True, order=True)
class JobLink:
    """A job feeds the plan's job, or a column of its target (``column`` is that path)."""

    source: str
    column: str


@dataclass(frozen=True, slots=True)
class RunLogic:
    """``reads`` by dataset id, each with its origin; ``write`` None: the plan only reads."""

    job: JobName
    reads: tuple[tuple[DatasetUse, str], ...]
    write: DatasetUse | None
    mode: str
    partition_keys: tuple[str, ...]
    flows: tuple[ReportedFlow, ...]
    influences: tuple[RunInfluence, ...]
    links: tuple[tuple[JobName, JobLink], ...]
    gaps: tuple[tuple[str, str], ...]
    origin: str
    opens: tuple[OpenFlow, ...] = ()

    def fingerprint(self) -> str:
        """128 bits in hex over everything here but the job, which the plan's id has anyway."""
        write = self.write
        return identity.digest(
            "openlineage",
            [(use.schema_id, origin) for use, origin in self.reads],
            write.schema_id if write else None,
            self.mode,
            self.partition_keys,
            [[getattr(flow, name) for name in ReportedFlow.__slots__] for flow in self.flows],
            [
                [getattr(influence, name) for name in RunInfluence.__slots__]
                for influence in self.influences
            ],
            [(link.source, link.column) for _, link in self.links],
            self.gaps,
            self.origin,
            *self.opens,
        )

    @property
    def target(self) -> str:
        return self.write.id if self.write else ""


@dataclass(frozen=True, slots=True)
class StatedJob:
    """A statement about a job, and all else that its logics depend on.

    ``command`` is the class of Spark's command, "" for none; ``declared``: there was no run;
    ``names`` are those that the statement's subject has found before.
    """

    statement: JobStatement
    job: JobName
    command: str
    scope: str
    rules: Rules
    names: Names
    declared: bool

    def digest(self) -> str:
        """Covers all that :func:`read_logics` reads: equal digests, equal logics. Facets by their
        hash.
        """
        statement = self.statement
        return identity.digest(
            self.job.namespace,
            self.job.name,
            self.command,
            self.scope,
            naming.rules_digest(self.rules),
            self.declared,
            statement.namespace,
            statement.name,
            statement.explicit,
            statement.left_out,
            DECLARATION_FACET in statement.job_facets,
            _is_refreshed(statement),
            "" if self.command else _facet_digest(statement.job_facets.get("sql")),
            repr(statement.entries),
            [_dataset_digest(dataset) for dataset in statement.inputs],
            [_dataset_digest(dataset) for dataset in statement.outputs],
        )


def _dataset_digest(dataset: Dataset) -> list[str]:
    names = ("schema", "columnLineage", "lifecycleStateChange", "symlinks", DBT_MODEL)
    facets = [_facet_digest(dataset.facets.get(name)) for name in names]
    subset = _facet_digest(dataset.usage.get("subset"))
    counted = "outputStatistics" in dataset.usage
    return [*dataset.key, *facets, subset, str(counted)]


def _facet_digest(facet: Facet | None) -> str:
    return "" if facet is None else facet.digest or "deleted"


def read_logics(stated: StatedJob) -> tuple[RunLogic, ...]:
    """One for each dataset that the statement writes, and one for inputs without an output."""
    logics = _Reader(stated).read()
    own = DECLARATION_FACET in stated.statement.job_facets
    return tuple(map(_as_declared, logics)) if own else logics


def _as_declared(logic: RunLogic) -> RunLogic:
    """A declaration has the origin ``declared``, however explicit it is."""
    origin = labels.DECLARED
    return replace(
        logic,
        reads=tuple((use, origin) for use, _ in logic.reads),
        flows=tuple(replace(flow, origin=origin) for flow in logic.flows),
        influences=tuple(replace(influence, origin=origin) for influence in logic.influences),
        opens=tuple(item._replace(origin=origin) for item in logic.opens),
        origin=origin,
    )


@dataclass(slots=True)
class _Draft:
    """A plan under construction."""

    job: JobName
    write: DatasetUse | None
    origin: str
    mode: str = labels.NO_WRITE
    partition_keys: tuple[str, ...] = ()
    reads: dict[str, tuple[DatasetUse, str]] = field(default_factory=dict)
    columns: ColumnEdges = field(default_factory=lambda: ColumnEdges(labels.COLUMN_ORIGIN))
    links: dict[tuple[JobName, JobLink], None] = field(default_factory=dict)
    gaps: set[tuple[str, str]] = field(default_factory=set)

    def leave_columns(self, gap: tuple[str, str]) -> None:
        """Drop the column lineage, keep tables and jobs: half of a column
        lineage looks complete.
        """
        self.gaps.add(gap)
        self.columns = ColumnEdges(self.columns.origin)
        self.links = {(job, JobLink(link.source, "")): None for job, link in self.links}

    def read(self, uses: Iterable[DatasetUse], origin: str) -> None:
        """A dataset read for two reasons keeps the more specific origin."""
        for use in uses:
            known = self.reads.get(use.id)
            if known is None or _RANK[origin] < _RANK[known[1]]:
                self.reads[use.id] = (use, origin)

    def leave_schemas(self, reason: str) -> None:
        """Keep the datasets read, drop their schemas."""
        self.gaps.add((labels.SCHEMAS_TOO_LARGE, reason))
        self.reads = {
            key: (DatasetUse(use.dataset), origin) for key, (use, origin) in self.reads.items()
        }

    def take(self, other: _Draft) -> None:
        """What the other plan reads; its rows decide about the rows of this one."""
        for use, origin in other.reads.values():
            self.read([use], origin)
        self.columns.also_influenced(other.columns)

    def link(self, job: JobName, column: str = "") -> None:
        source = identity.job_id(job.namespace, job.name)
        self.links[(job, JobLink(source, column))] = None

    def read_tables_behind(self, rules: Rules) -> None:
        """A metadata table changes with its table: that is read as well, without columns."""
        read = [use.dataset for use, _ in self.reads.values()]
        self.read(map(DatasetUse, naming.tables_of(read, rules)), labels.METADATA)

    def finished(self) -> RunLogic:
        self.columns.fold()
        if problem := self.columns.too_many():
            self.leave_columns((labels.TOO_LARGE, problem))
        uses = [use for use, _ in self.reads.values()] + ([self.write] if self.write else [])
        self.gaps.update(
            ("column-collision", name) for use in uses for name in use.schema.collisions
        )
        return RunLogic(
            self.job,
            tuple(self.reads[key] for key in sorted(self.reads)),
            self.write,
            self.mode,
            self.partition_keys,
            self.columns.flows(),
            self.columns.influences(),
            tuple(sorted(self.links, key=_link_order)),
            tuple(sorted(self.gaps)),
            self.origin,
            tuple(sorted(self.columns.opens, key=repr)),
        )


def _link_order(item: tuple[JobName, JobLink]) -> JobLink:
    return item[1]


@dataclass(slots=True)
class _Output:
    """An output under its identity; several partitions of one dataset are one output."""

    use: DatasetUse
    datasets: list[Dataset]
    keys: tuple[str, ...]

    def lineages(self) -> list[ColumnLineage]:
        reported = (value_of(d.facets, "columnLineage", ColumnLineage) for d in self.datasets)
        return [lineage for lineage in reported if lineage is not None]

    def lifecycle(self) -> Lifecycle:
        reported = (value_of(d.facets, "lifecycleStateChange", Lifecycle) for d in self.datasets)
        return next((change for change in reported if change is not None), Lifecycle("", None))

    def dbt_model(self) -> DbtModel | None:
        reported = (value_of(d.facets, DBT_MODEL, DbtModel) for d in self.datasets)
        return next((model for model in reported if model is not None), None)

    def has_statistics(self) -> bool:
        return any("outputStatistics" in dataset.usage for dataset in self.datasets)


def renamed_from(
    change: Lifecycle | None, current: DatasetUse, names: DatasetNamer
) -> DatasetUse | None:
    """The former name in a RENAME to this dataset; None where the data stayed in its place."""
    if change is None or change.change != _RENAME or change.previous is None:
        return None
    former = names.use(*change.previous)
    return None if former.id == current.id else former


class _Reader:
    """The state that the steps share while one statement is read."""

    def __init__(self, stated: StatedJob) -> None:
        self.statement = statement = stated.statement
        self.job = stated.job
        self.command = stated.command
        self.rules = rules = stated.rules
        self.declared = stated.declared
        self.weakest = labels.DECLARED if stated.declared else labels.IMPLIED
        self.sources = DatasetNamer.of(
            statement.inputs, statement.outputs, stated.scope, rules, stated.names
        )
        self.targets = DatasetNamer(stated.scope, rules, found=stated.names)
        if not statement.without_columns:
            self._learn_schemas()
        self.feeding: dict[str, dict[JobName, None]] = {}  # dataset -> jobs in its lineage entries
        inputs = (use for d in statement.inputs for use in self.sources.uses(*d.key))
        self.inputs = {use.id: use for use in inputs}
        self.outputs = self._outputs()
        self.text: TextLineage | None = None

    def _learn_schemas(self) -> None:
        for dataset in self.statement.inputs:
            self.sources.learn(dataset)
        for dataset in self.statement.outputs:
            self.targets.learn(dataset)

    def _outputs(self) -> dict[str, _Output]:
        outputs: dict[str, _Output] = {}
        for dataset in self.statement.outputs:
            use = self.targets.use(*dataset.key)
            output = outputs.setdefault(use.id, _Output(use, [], ()))
            output.datasets.append(dataset)
            keys = partition_keys(dataset, self.targets.names(*dataset.key)[:1])
            output.keys = tuple(dict.fromkeys((*output.keys, *keys)))
        return dict(sorted(outputs.items()))

    def read(self) -> tuple[RunLogic, ...]:
        if self.statement.explicit:
            drafts = self._explicit()
        elif self.outputs:
            drafts = self._by_output()
        else:
            draft = self._only_reading(self.inputs.values(), self.weakest)
            self._add_text_reads(draft)
            drafts = [draft]
        self._bound_schemas(drafts)
        for draft in drafts:
            draft.read_tables_behind(self.rules)
        for draft, gap in product(drafts, self.statement.left_out):
            if gap[0] == labels.TOO_LARGE:
                draft.leave_columns(gap)
            draft.gaps.add(gap)
        return tuple(draft.finished() for draft in drafts)

    def _bound_schemas(self, drafts: Sequence[_Draft]) -> None:
        """Drop the schemas of the inputs where all plans together have too many columns."""
        count = sum(use.schema.size for draft in drafts for use, _ in draft.reads.values())
        if count > MOST_READ_COLUMNS:
            for draft in drafts:
                draft.leave_schemas(f"{count:,} columns read, at most {MOST_READ_COLUMNS:,}")

    def _only_reading(self, uses: Iterable[DatasetUse], origin: str) -> _Draft:
        draft = _Draft(self.job, None, origin)
        draft.read(uses, origin)
        return draft

    def _writing(self, output: _Output, origin: str, *, reads: bool) -> _Draft:
        mode = labels.APPEND if self.declared else self._mode(output, reads=reads)
        return _Draft(self.job, output.use, origin, mode, output.keys, columns=ColumnEdges(origin))

    # --- columnLineage, otherwise inputs x outputs -----------------------------------------------

    def _by_output(self) -> list[_Draft]:
        named = {key: self._named(output) for key, output in self.outputs.items()}
        somewhere = {use for uses in named.values() for use in uses}
        rest = [use for key, use in self.inputs.items() if key not in somewhere]
        if (count := len(self.inputs) * len(self.outputs)) > MOST_READS:
            return self._apart(named, count)
        inputs = list(self.inputs.values())
        drafts = [
            self._draft(output, named[key], rest if output.lineages() else inputs)
            for key, output in self.outputs.items()
        ]
        emptied = self._emptied(drafts)
        return [*drafts, *emptied, *self._beside_lifecycle(drafts)]

    def _emptied(self, drafts: Sequence[_Draft]) -> list[_Draft]:
        """A rename empties the former name: an overwrite without rows."""
        formers = {
            former.id: former
            for draft, output in zip(drafts, self.outputs.values(), strict=True)
            if draft.mode == labels.OVERWRITE and (former := self._former(output)) is not None
        }
        return [
            _Draft(self.job, DatasetUse(former.dataset), self.weakest, labels.OVERWRITE)
            for key, former in formers.items()
            if key not in self.outputs
        ]

    def _former(self, output: _Output) -> DatasetUse | None:
        return renamed_from(output.lifecycle(), output.use, self.sources)

    def _beside_lifecycle(self, drafts: Sequence[_Draft]) -> list[_Draft]:
        """A run that drops or empties all its outputs still reads its other inputs."""
        if any(draft.mode != labels.LIFECYCLE for draft in drafts):
            return []
        rest = [use for key, use in self.inputs.items() if key not in self.outputs]
        return [self._only_reading(rest, self.weakest)] if rest else []

    def _apart(self, named: dict[str, dict[str, DatasetUse]], count: int) -> list[_Draft]:
        """Too many inputs x outputs: all datasets are kept, and only column
        lineage connects them.
        """
        drafts = [self._draft(output, named[key], []) for key, output in self.outputs.items()]
        reason = f"{count:,} inputs x outputs, at most {MOST_READS:,}"
        for draft in drafts:
            draft.gaps.add((INPUTS_TOO_MANY, reason))
        return [*drafts, self._only_reading(self.inputs.values(), self.weakest)]

    def _named(self, output: _Output) -> dict[str, DatasetUse]:
        """The datasets that an output's column lineage names."""
        return {
            use.id: use
            for lineage in output.lineages()
            for listed in (lineage.dataset, *(sources for _, sources in lineage.fields))
            for namespace, name in {(source.namespace, source.name) for source in listed}
            for use in self.sources.uses(namespace, name)
        }

    def _draft(
        self, output: _Output, named: dict[str, DatasetUse], implied: Sequence[DatasetUse]
    ) -> _Draft:
        origin = labels.COLUMN_ORIGIN if named else self.weakest
        draft = self._writing(output, origin, reads=bool(named or self.inputs))
        draft.columns = ColumnEdges(labels.COLUMN_ORIGIN)
        if draft.mode == labels.LIFECYCLE:
            return draft
        draft.read(named.values(), labels.COLUMN_ORIGIN)
        draft.read(implied, self.weakest)
        if self._changes_rows():
            draft.read([output.use], self.weakest)
        for lineage in () if self.statement.without_columns else output.lineages():
            self._add_columns(draft, output.use, lineage)
        if not output.lineages():
            self._add_text(draft, output)
        if self.command and draft.reads:
            draft.gaps.update(_columns_without_lineage(output))
        self._add_rename(draft, output)
        return draft

    def _add_columns(self, draft: _Draft, target: DatasetUse, lineage: ColumnLineage) -> None:
        for name, listed in lineage.fields:
            for source in listed:
                draft.columns.flow(
                    self._column(source), target.column(name), source.transformations
                )
        for source in lineage.dataset:
            draft.columns.influence(self._column(source), source.transformations)

    def _add_text(self, draft: _Draft, output: _Output) -> None:
        """The columns of the job's text, where the client reports none. Spark's client follows
        its plans itself.
        """
        read = self._text()
        named = [read.by_output[d.key] for d in output.datasets if d.key in read.by_output]
        if not named:
            return
        draft.columns = ColumnEdges(labels.SQL_ORIGIN)
        for lineage in named:
            self._add_columns(draft, output.use, lineage)
        opens = [item for d in output.datasets for item in read.opens.get(d.key, ())]
        sources = {
            (source.namespace, source.name)
            for lineage in named
            for listed in (lineage.dataset, *(fields for _, fields in lineage.fields))
            for source in listed
        }
        sources.update(key for item in opens for key in item.among)
        draft.read((self.sources.use(*key) for key in sorted(sources)), self.weakest)
        for item in opens:
            draft.columns.opens.update(self._open_columns(item, output.use))
        details = sorted({_open_text(item) for item in opens})
        draft.gaps.update((labels.OPEN_COLUMNS, text) for text in details[:MOST_OPEN_TEXTS])
        if read.gaps:
            draft.gaps.add((SQL_GAPS, ", ".join(read.gaps)))

    def _open_columns(self, item: OpenFields, target: DatasetUse) -> Iterator[OpenFlow]:
        """Nothing where the tables are one for the event's identity, or one is several."""
        source = self.sources.use(*item.source)
        among = {self.sources.use(*key).id for key in item.among}
        sql = item.open
        if len(among) != len(item.among):
            return
        star = sql.path == labels.ANY_COLUMN
        yield OpenFlow(
            source.id,
            sql.path if star else source.column(sql.path)[1],
            item.target if star or not item.target else target.column(item.target)[1],
            tuple(sorted(among)),
            sql.kind,
            sql.how,
            stable_text(sql.expression),
            tuple(sorted({source.column(name)[1] for name in sql.left_out})),
            None if sql.into is None else tuple(target.column(name)[1] for name in sql.into),
            self.sources.use(*item.like).id if item.like else "",
            self._place(item, target),
            labels.SQL_ORIGIN,
        )

    def _place(self, item: OpenFields, target: DatasetUse) -> RowPlace | None:
        """With the ids of tables, and columns as their datasets have them."""
        uses = {table: self.sources.use(*key) for table, key in item.beside}
        if (place := item.open.place) is None:
            return None

        def width(of: RowWidth | None) -> RowWidth | None:
            stars = [(uses[table], left_out) for table, left_out in of.stars] if of else []
            named = ((use, (use.column(name)[1] for name in names)) for use, names in stars)
            listed = tuple((use.id, tuple(sorted(names))) for use, names in named)
            return None if of is None else RowWidth(of.values, listed)

        def columns(names: Iterable[str]) -> tuple[str, ...]:
            return tuple(target.column(name)[1] for name in names)

        return RowPlace(
            width(place.before),
            width(place.own),
            width(place.behind),
            None if place.names is None else columns(place.names),
            columns(place.fixed),
        )

    def _add_text_reads(self, draft: _Draft) -> None:
        """The columns that the text of a job without outputs reads."""
        read = self._text()
        draft.columns = ColumnEdges(labels.SQL_ORIGIN)
        for source in read.reads:
            draft.columns.use(self._column(source), source.transformations)
        if read.gaps:
            draft.gaps.add((SQL_GAPS, ", ".join(read.gaps)))

    def _text(self) -> TextLineage:
        if self.text is None:
            own = not self.command and not self.statement.without_columns
            self.text = read_text(self.statement, self.rules) if own else TextLineage()
        return self.text

    def _column(self, source: SourceField | LineageSource) -> tuple[str, str]:
        return self.sources.use(source.namespace, source.name).column(source.field)

    def _add_rename(self, draft: _Draft, output: _Output) -> None:
        """The new name gets the data of the former one, column by column."""
        former = self._former(output)
        if former is None or draft.reads:
            return
        draft.read([former], self.weakest)
        draft.columns = ColumnEdges(self.weakest)
        for column in output.use.schema.columns or ():
            draft.columns.flow((former.id, column.path), (output.use.id, column.path), _IDENTITY)

    def _stays(self, output: _Output) -> bool:
        """Whether a rename gives the location of its output as the former name."""
        return output.lifecycle().previous is not None and self._former(output) is None

    # --- the lineage facet -----------------------------------------------------------------------

    def _explicit(self) -> list[_Draft]:
        drafts: dict[tuple[JobName, str], _Draft] = {}
        for entry in self.statement.entries:
            if entry.type == "JOB":
                self._add_job_entry(drafts, entry)
            else:
                self._add_dataset_entry(drafts, entry)
        self._lead_on(drafts)
        targeted = {target for _, target in drafts}
        for key, output in self.outputs.items():
            if key not in targeted:
                drafts[(self.job, key)] = self._writing(output, self.weakest, reads=False)
        named = {key for draft in drafts.values() for key in draft.reads}
        if rest := [use for key, use in self.inputs.items() if key not in named]:
            reading = drafts.setdefault((self.job, ""), _Draft(self.job, None, self.weakest))
            reading.read(rest, self.weakest)
        ordered = sorted(drafts, key=lambda key: (key[0].namespace, key[0].name, key[1]))
        return [drafts[key] for key in ordered] or [self._only_reading((), self.weakest)]

    def _lead_on(self, drafts: dict[tuple[JobName, str], _Draft]) -> None:
        """Have each job that feeds a dataset write it, from what it and the jobs before it read: a
        chain through jobs leads on from table to table.

            extract -> load, stg -> load, load -> summary
            =>  load writes summary from stg, extract writes summary
        """
        reading = {job: draft for (job, target), draft in drafts.items() if not target}
        writing: set[JobName] = set()
        count, most = 0, len(drafts) + MOST_CHAINED
        for target, feeding in self.feeding.items():
            own = drafts[self.job, target]
            if own.mode == labels.LIFECYCLE:
                continue
            for job in _with_jobs_before(feeding, reading):
                before = _with_jobs_before((job,), reading)
                sources = [reading[name] for name in before if name in reading]
                count += len(before) + sum(
                    len(source.reads) + len(source.links) for source in sources
                )
                if count > MOST_READS or len(drafts) >= most:
                    reason = f"chains of jobs beyond {MOST_CHAINED:,} writes, {MOST_READS:,} inputs"
                    own.gaps.add((INPUTS_TOO_MANY, reason))
                    return
                columns = ColumnEdges(labels.EXPLICIT)
                draft = _Draft(
                    job, own.write, labels.EXPLICIT, own.mode, own.partition_keys, columns=columns
                )
                draft = drafts.setdefault((job, target), draft)
                if draft is not own and own.mode == labels.OVERWRITE:
                    # written at one time, each would replace the others
                    draft.mode = own.mode = labels.UNKNOWN_MODE
                for source in sources:
                    draft.take(source)
                if job in reading:
                    draft.links |= reading[job].links
                writing.add(job)
        for job in writing & reading.keys():
            del drafts[job, ""]

    def _job_of(self, node: LineageEntry | LineageSource) -> JobName:
        """A job without a name, or with that of the event's own job, is the event's own."""
        if not node.name or (node.namespace, node.name) == (
            self.statement.namespace,
            self.statement.name,
        ):
            return self.job
        return own_job(node.namespace, node.name, self.rules)

    def _add_job_entry(
        self, drafts: dict[tuple[JobName, str], _Draft], entry: LineageEntry
    ) -> None:
        """A job that reads datasets, or that other jobs feed."""
        job = self._job_of(entry)
        draft = drafts.setdefault((job, ""), _Draft(job, None, labels.EXPLICIT))
        listed = (
            *(entry.inputs or ()),
            *(source for _, sources in entry.fields for source in sources),
        )
        for source in listed:
            if source.type == "JOB":
                draft.link(self._job_of(source))
                continue
            draft.read(self.sources.uses(source.namespace, source.name), labels.EXPLICIT)
            if source.field:
                draft.columns.origin = labels.EXPLICIT
                draft.columns.influence(self._column(source), source.transformations)

    def _add_dataset_entry(
        self, drafts: dict[tuple[JobName, str], _Draft], entry: LineageEntry
    ) -> None:
        use = self.targets.use(entry.namespace, entry.name)
        output = self.outputs.get(use.id) or _Output(use, [], ())
        draft = drafts.get((self.job, use.id)) or self._writing(
            output, labels.EXPLICIT, reads=bool(entry.inputs or entry.fields)
        )
        drafts[(self.job, use.id)] = draft
        if entry.inputs is None and not entry.fields:
            draft.gaps.add((SOURCES_UNKNOWN, use.dataset.uri))
        for source in entry.inputs or ():
            self._add_source(draft, source)
        for column, sources in entry.fields:
            for source in sources:
                self._add_field_source(draft, use, column, source)

    def _add_source(self, draft: _Draft, source: LineageSource) -> None:
        """A source of the whole target."""
        if source.type == "JOB":
            self._feed(draft, self._job_of(source))
            if self._job_of(source) != self.job:
                draft.link(self._job_of(source))
            return
        draft.read(self.sources.uses(source.namespace, source.name), labels.EXPLICIT)
        if source.field:
            draft.columns.influence(self._column(source), source.transformations)

    def _add_field_source(
        self, draft: _Draft, target: DatasetUse, column: str, source: LineageSource
    ) -> None:
        """A source of one column; without a field, the source is the whole dataset."""
        if source.type == "JOB":
            self._feed(draft, self._job_of(source))
            draft.link(self._job_of(source), target.column(column)[1])
            return
        draft.read(self.sources.uses(source.namespace, source.name), labels.EXPLICIT)
        if source.field:
            draft.columns.flow(self._column(source), target.column(column), source.transformations)

    def _feed(self, draft: _Draft, job: JobName) -> None:
        if draft.write is not None:
            self.feeding.setdefault(draft.write.id, {})[job] = None

    # --- the mode --------------------------------------------------------------------------------

    def _mode(self, output: _Output, *, reads: bool) -> str:
        """By the command's class, then by lifecycleStateChange, then as dbt builds the model;
        otherwise unknown.

        A command that is not known is never an overwrite: it may have changed a property.
        """
        change = output.lifecycle().change
        ends = change in self.rules.lifecycle_ends
        if ends or (self.command in LIFECYCLE_COMMANDS and change != _RENAME):
            return labels.LIFECYCLE
        if self._changes_rows() or self.command in APPENDING_COMMANDS:
            return labels.APPEND
        if self.command in DYNAMIC_COMMANDS:
            return labels.OVERWRITE
        writes = self.command in INSERTING_COMMANDS or self.command in FILLING_COMMANDS
        has_data = reads or writes or output.has_statistics()
        if change in self.rules.lifecycle_changes and not has_data:
            return labels.LIFECYCLE
        if change == _RENAME:
            stays = not has_data and self._stays(output)
            return labels.LIFECYCLE if stays else labels.OVERWRITE
        if not change and not self.command and (model := output.dbt_model()) is not None:
            return _mode_of_dbt(model, refreshed=_is_refreshed(self.statement))
        if change not in ("CREATE", "OVERWRITE") or self._may_repeat_an_insert(reads=reads):
            return labels.UNKNOWN_MODE
        return labels.OVERWRITE if writes or not self.command else labels.UNKNOWN_MODE

    def _changes_rows(self) -> bool:
        return self.command in ROW_LEVEL_COMMANDS or self.command in ROW_LEVEL_WRITES

    def _may_repeat_an_insert(self, *, reads: bool) -> bool:
        """Whether the command's rows may be those of an insert that it ran: it must not hide them.

        .267 execute_insert_into_hive_table a -> t, .268 execute_create_hive_table_as_select -> t
        """
        return self.command in FILLING_COMMANDS and not reads


_REPLACED_BY_DBT: Final = frozenset({"table", "view", "materialized_view", "seed"})
_DBT_RUN: Final = "dbt_run"


def _is_refreshed(statement: JobStatement) -> bool:
    """Whether dbt ran with ``--full-refresh`` (facet ``dbt_run`` of the run)."""
    return facet_body(statement.run_facets, _DBT_RUN).get("full_refresh") is True


def _mode_of_dbt(model: DbtModel, *, refreshed: bool) -> str:
    """A model's own ``full_refresh`` goes before the run's; a snapshot is never built anew."""
    if model.materialized == "snapshot":
        return labels.APPEND
    if model.materialized == "incremental":
        anew = refreshed if model.full_refresh is None else model.full_refresh
        return labels.OVERWRITE if anew else labels.APPEND
    return labels.OVERWRITE if model.materialized in _REPLACED_BY_DBT else labels.UNKNOWN_MODE


def _open_text(item: OpenFields) -> str:
    """``* of sales.orders``, ``a: one of sales.orders, sales.people``."""
    sql = item.open
    if sql.path == labels.ANY_COLUMN:
        return f"* of {sql.table}"
    return f"{sql.path}: one of {', '.join(sql.among)}"


def _with_jobs_before(
    jobs: Iterable[JobName], reading: Mapping[JobName, _Draft]
) -> tuple[JobName, ...]:
    """These jobs, and all that feed them by the links of what they read."""
    reached = dict.fromkeys(jobs)
    waiting = list(reached)
    while waiting:
        draft = reading.get(waiting.pop())
        for job, _ in draft.links if draft else ():
            if job not in reached:
                reached[job] = None
                waiting.append(job)
    return tuple(reached)


def _columns_without_lineage(output: _Output) -> list[tuple[str, str]]:
    """The gaps of an output: its columns that the column lineage leaves out."""
    lineages = output.lineages()
    named = {output.use.schema.path(name) for lineage in lineages for name, _ in lineage.fields}
    covered = {naming.column_path(naming.split_path(path)[:1]) for path in named}  # a.b tells of a
    paths = [column.path for column in output.use.schema.columns or ()]
    if not covered:
        return [(COLUMNS_NOT_REPORTED, output.use.dataset.uri)] if paths else []
    return [(COLUMN_NOT_REPORTED, path) for path in paths if path not in covered]
