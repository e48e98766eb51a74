"""The logic of a plan, without times, people and ids.

Steps 1 to 3 of the translation: names, column lineage and rendered operations, gathered in one
value whose digest is the fingerprint.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, Final, NamedTuple

from graph_model import identity, labels, naming
from graph_model.naming import DatasetName, Rules, SchemaColumn
from graph_model.producers.bounds import ELEMENTS_OF_A_COLUMN, MOST_ELEMENTS
from graph_model.producers.elements import (
    LIFECYCLE_COMMANDS,
    MOST_OPEN_TEXTS,
    ROW_LEVEL_COMMANDS,
    OpenFlow,
)
from graph_model.producers.spline.column_derivation import (
    MOST_DERIVATIONS,
    MOST_INFLUENCES,
    Derivation,
    Fields,
    Influence,
    derive,
)
from graph_model.producers.spline.column_values import HOWS, composed
from graph_model.producers.spline.documents import Constant, ExecutionPlan, Operation, type_text
from graph_model.producers.spline.expressions.definitions import Definitions
from graph_model.producers.spline.expressions.text import Renderer, operation_properties, shortened
from graph_model.producers.spline.tables import (
    MORE_QUERIES,
    OpenOrigin,
    Origin,
    TableQuery,
    first_queries,
    is_in_place,
    is_query_text,
    may_leave_some,
    open_text,
    partition_columns,
    query_gap,
    read_query,
)

#: Parameters that hold session counters, statistics, locations or whole plans as text.
VOLATILE_PARAMETERS: Final = frozenset(
    {
        "_resolved", "analyzedchild", "cteDefs", "cteid", "ctedefs", "dbtable", "desc", "id",
        "identifier", "isstreaming", "metadataoutput", "originalplanwithpredicates", "path",
        "paths", "statsopt", "table", "undersubquery", "url",
    }
)  # fmt: skip
_MAX_PARAMETER_CHARACTERS: Final = 4_000
_MAX_ALTERNATIVES_CHARACTERS: Final = 20_000
#: Bounds on the facts of one plan. A short document can mean many: a thousand steps that each pass
#: on a thousand columns, a thousand sources of a thousand columns each. Facts beyond the bounds are
#: left out and reported as a gap; datasets and operations stay.
MOST_CHARACTERS: Final = 50_000_000
MOST_COLUMNS: Final = 20_000
_MOST_GAP: Final = 300
"""Of all datasets together, and as many more as the document has attributes: a document that lists
undeclared columns, one column twice or a thousand sources at once produces more text than it has.
"""
_STABLE_CHARACTERS: Final = 6_000  # the part of a parameter that is read, to show 4,000
_SHORTEST_EXPRESSION: Final = 40


@dataclass(frozen=True, slots=True)
class PlanDocument:
    """A plan with the identity of its document: capture scope, content hash, API version."""

    plan: ExecutionPlan
    scope: str
    content_hash: str
    api_version: str


@dataclass(frozen=True)
class DatasetSchema:
    """A dataset with the columns that the plan used; ``columns`` None: schema-less.

    Derived values are computed once: every column of a schema asks for its id.
    """

    dataset: DatasetName
    columns: tuple[SchemaColumn, ...] | None

    @cached_property
    def dataset_id(self) -> str:
        return identity.dataset_id(self.dataset.scope, self.dataset.uri)

    @cached_property
    def content(self) -> str:
        """The schema as JSON, ``""`` where there is none."""
        if self.columns is None:
            return ""
        return identity.spelled(
            [{"name": c.name, "path": c.path, "type": c.type} for c in self.columns]
        )

    @cached_property
    def schema_id(self) -> str:
        return identity.vertex_id(labels.SCHEMA, self.dataset_id, self.content)


class LogicalOperation(NamedTuple):
    """An operation by its position; ``inputs`` are positions, ``datasets`` those that it reads."""

    position: int
    kind: str
    name: str
    inputs: tuple[int, ...]
    parameters: str
    output: str
    schema: str
    datasets: tuple[str, ...]


class ColumnFlow(NamedTuple):
    """A column edge between two columns, each (dataset id, path); ``fields`` as ``naming.columns``
    spells them.
    """

    source: tuple[str, str]
    target: tuple[str, str]
    kind: str
    how: str
    expression: str
    fields: str = naming.WHOLE


class ColumnInfluence(NamedTuple):
    source: tuple[str, str]
    how: str
    expression: str


@dataclass(frozen=True, slots=True)
class Logic:
    """The logic of a plan, without times, people and ids.

    ``names`` (catalog name, location; pattern, folder) are no part of the fingerprint: of the two
    plans of one CREATE TABLE AS SELECT only one has the table's name. They become facts of
    executions. A plan with the mode NO_WRITE only reads: ``write`` is where its rows went, which is
    no dataset, and ``written`` is None.
    """

    reads: tuple[DatasetSchema, ...]
    write: DatasetSchema
    mode: str
    partition_keys: tuple[str, ...]
    operations: tuple[LogicalOperation, ...]
    flows: tuple[ColumnFlow, ...]
    influences: tuple[ColumnInfluence, ...]
    names: tuple[tuple[DatasetName, DatasetName], ...]
    gaps: tuple[tuple[str, str], ...]
    opens: tuple[OpenFlow, ...] = ()

    @property
    def written(self) -> DatasetSchema | None:
        return None if self.mode == labels.NO_WRITE else self.write

    def fingerprint(self) -> str:
        """128 bits in hex over everything here but the names.

        A flow without fields is spelled without them, and no open one is spelled as nothing: the
        ids of plans without structs and queries are older.
        """
        return identity.digest(
            [(use.dataset_id, use.content) for use in self.reads],
            (self.write.dataset_id, self.write.content),
            self.mode,
            self.partition_keys,
            self.operations,
            [flow if flow.fields else flow[:-1] for flow in self.flows],
            self.influences,
            self.gaps,
            *([self.opens] if self.opens else ()),
        )


def _reported_gaps(write: Operation) -> Iterator[tuple[str, str]]:
    """The gaps that the producer reports: ``"gaps": [{"code": "unread-plan", …}]``."""
    reported = write.extra.get("gaps")
    for gap in reported if isinstance(reported, list) else ():
        if isinstance(gap, dict) and isinstance(gap.get("code"), str):
            yield gap["code"][:_MOST_GAP], str(gap.get("detail", ""))[:_MOST_GAP]


def read_logic(document: PlanDocument, rules: Rules = naming.DEFAULT_RULES) -> Logic:
    """Steps 1 to 3 of the module's docstring. Facts beyond a bound are left out, with a gap."""
    return _LogicReader(document, rules).read()


class _LogicReader:
    """The state that the steps share while one plan is read."""

    def __init__(self, document: PlanDocument, rules: Rules) -> None:
        self.plan = _masked(with_patterns(document.plan, rules))
        self.scope = document.scope
        self.rules = rules
        definitions = Definitions(self.plan)
        self.outputs = definitions.outputs
        self.parsed = first_queries(self.plan)
        self.named = {operation.id: self._names_read(operation) for operation in self.plan.reads}
        self.queries = [query for operation in self.plan.reads for query in self._read(operation)]
        texts = {name: text for query in self.queries for name, text in query.texts.items()}
        self.renderer = Renderer(self.plan, definitions, leaves=texts)
        self.columns = derive(self.plan, self.renderer)
        self._characters_left = MOST_CHARACTERS
        self._lost = any(gap.code == labels.TOO_LARGE for gap in self.columns.gaps)
        self._column_texts: dict[str, str] = {}
        self._output_texts: dict[int, str] = {}
        self._stable_texts: dict[str, str] = {}  # many operations have the same condition
        self.gaps: set[tuple[str, str]] = {(gap.code, gap.detail) for gap in self.columns.gaps}
        self.gaps.update(gap for query in self.queries for gap in query.gaps)
        self.gaps.update(_reported_gaps(self.plan.write))
        self.target = self._names_of((self.plan.write.target,))[0]
        declared = MOST_COLUMNS + len(self.plan.attributes)
        self._columns_left = min(declared, MOST_ELEMENTS // ELEMENTS_OF_A_COLUMN)
        self.mode = mode_of(self.plan.write)
        if self.target.uri == naming.PROGRAM_MEMORY:
            self.mode = labels.NO_WRITE
            self.columns = replace(self.columns, outputs=(), derivations=())
        written = self._within(self.columns.outputs)
        self.write = DatasetSchema(self.target, self._schema(written or None))
        self.read_schemas = self._read_schemas()
        self.uses = {operation.id: self._uses(operation) for operation in self.plan.reads}
        self._leaves = self._read_leaves()
        self._check_flows()

    def read(self) -> Logic:
        if may_leave_some(self.plan, self.mode):
            keys = ", ".join(self._partition_keys())
            self.gaps.add((labels.PARTITIONS_UNKNOWN, f"which of {keys} were replaced"))
        opens = self._opens()
        return Logic(
            reads=self._reads(self.mode),
            write=self.write,
            mode=self.mode,
            partition_keys=self._partition_keys(),
            operations=self._operations(),
            flows=self._flows(),
            influences=self._influences(),
            names=self._catalog_names(),
            gaps=tuple(sorted(self.gaps)),
            opens=opens,
        )

    def _read_schemas(self) -> dict[str, tuple[SchemaColumn, ...] | None]:
        """Per read its columns; none at all where all sources together have too many."""
        emitted = {operation.id: self.outputs[operation.id] for operation in self.plan.reads}
        count = sum(len(names) * len(emitted[key] or ()) for key, names in self.named.items())
        if self._too_many(count):
            return dict.fromkeys(emitted)
        return {key: self._schema(emitted[key], len(self.named[key])) for key in emitted}

    def _within(self, written: tuple[str, ...]) -> tuple[str, ...]:
        return () if self._too_many(len(written)) else written

    def _too_many(self, count: int) -> bool:
        """Whether so many columns exceed the remaining allowance; otherwise they are subtracted
        from it.
        """
        left = self._columns_left
        if count > left:
            self._lose_columns(f"{count:,} columns, at most {left:,}")
            return True
        self._columns_left -= count
        return False

    def _lose_columns(self, reason: str) -> None:
        """Datasets and operations stay: half of a column lineage looks complete."""
        self.gaps.add((labels.TOO_LARGE, reason))
        self._lost = True
        self.columns = replace(self.columns, derivations=(), influences=())

    def _check_flows(self) -> None:
        """A column read from several datasets derives from each of them."""
        places = {attribute: len(leaves) for attribute, leaves in self._leaves.items()}
        for kind, most in (("derivations", MOST_DERIVATIONS), ("influences", MOST_INFLUENCES)):
            listed: Iterable[Derivation | Influence] = getattr(self.columns, kind)
            count = sum(places.get(item.source, 0) for item in listed)
            if count > most:
                self._lose_columns(f"{count:,} {kind}, at most {most:,}")
                return

    def _has_room(self, characters: int) -> bool:
        """Whether the plan's allowance covers a text of this length; if so it is subtracted."""
        fits = characters <= self._characters_left
        self._characters_left -= characters if fits else 0
        return fits

    def _alternatives(self, texts: Iterable[Collection[str]]) -> list[str]:
        """``a | b`` per edge: every derivation of the column.

        Where all edges together exceed the allowance, each has an equal share of it.
        """
        listed = [_alternatives(of) for of in texts]
        if self._has_room(sum(map(len, listed))):
            return listed
        share = max(self._characters_left // len(listed), _SHORTEST_EXPRESSION)
        cut = {text: shortened(text, share) for text in set(listed)}  # few texts, many edges
        return [cut[text] for text in listed]

    def _names_read(self, operation: Operation) -> tuple[DatasetName, ...]:
        """A metadata table has the place of its table, and is another dataset."""
        names = self._names_of(operation.sources)
        table = catalog_name(operation)
        if table is None or len(names) != 1:
            return names
        name = naming.normalise(table, self.scope, self.rules)[0]
        return (naming.metadata_table(names[0], name, self.rules),)

    def _names_of(self, sources: Iterable[str]) -> tuple[DatasetName, ...]:
        """Names of all sources, each dataset once, in the document's order."""
        names: dict[tuple[str, str], DatasetName] = {}
        for source in sources:
            if is_query_text(source) and source not in self.parsed:
                source = naming.without_query(source, self.rules)
            for name in naming.normalise(source, self.scope, self.rules):
                names.setdefault((name.scope, name.uri), name)
        return tuple(names.values())

    def _schema(
        self, attributes: Sequence[str] | None, copies: int = 1
    ) -> tuple[SchemaColumn, ...] | None:
        """The columns, for ``copies`` datasets; without types, or none, where they are too long."""
        if attributes is None:
            return None
        listed = [self._name_and_type(attribute) for attribute in attributes]
        names = sum(len(name) for name, _ in listed)
        types = sum(len(kind or "") for _, kind in listed)
        if not self._has_room((names + types) * copies):
            detail = f"{names + types:,} characters, at most {MOST_CHARACTERS:,} in a plan"
            self.gaps.add((labels.SCHEMAS_TOO_LARGE, detail))
            if not self._has_room(names * copies):
                return None
            listed = [(name, None) for name, _ in listed]
        schema, collisions = naming.schema_columns(listed)
        self.gaps.update(("column-collision", name) for name in collisions)
        return schema

    def _name_and_type(self, attribute: str) -> tuple[str, str | None]:
        known = self.plan.attributes.get(attribute)
        if known is None:
            return attribute, None
        return known.name, type_text(self.plan.data_types, known.data_type)

    def _reads(self, mode: str) -> tuple[DatasetSchema, ...]:
        uses = {
            (use.dataset_id, use.content): use
            for operation in self.plan.reads
            for use in self.uses[operation.id]
        }
        for table in naming.tables_of([use.dataset for use in uses.values()], self.rules):
            use = DatasetSchema(table, None)
            uses.setdefault((use.dataset_id, use.content), use)
        target_read = any(dataset == self.write.dataset_id for dataset, _ in uses)
        if self.plan.write.name in ROW_LEVEL_COMMANDS and mode == labels.APPEND and not target_read:
            use = DatasetSchema(self.target, None)
            uses[(use.dataset_id, use.content)] = use
        return tuple(uses[key] for key in sorted(uses))

    def _uses(self, operation: Operation) -> list[DatasetSchema]:
        """A read's datasets with its columns; those of a query are not those of its tables."""
        queried = {
            name for query in self.queries if query.read == operation.id for name in query.tables
        }
        schema = self.read_schemas[operation.id]
        return [
            DatasetSchema(name, None if name in queried else schema)
            for name in self.named[operation.id]
        ]

    def _read(self, operation: Operation) -> list[TableQuery]:
        """The JDBC queries among a read's sources."""
        sources = [source for source in operation.sources if is_query_text(source)]
        names = self.named[operation.id]
        if any(source not in self.parsed for source in sources):
            return [TableQuery(operation.id, names, gaps=(MORE_QUERIES,))]
        columns = {key: self._name_and_type(key)[0] for key in self.outputs[operation.id] or ()}
        read = [
            read_query(operation.id, source, columns, self.scope, self.rules) for source in sources
        ]
        queries = [query for query in read if query is not None]
        if not queries and _is_query(operation, names):
            queries = [TableQuery(operation.id, names, gaps=(query_gap(names, "its text alone"),))]
        return queries

    def _partition_keys(self) -> tuple[str, ...]:
        """Keys in the target's path first, then those that the document lists."""
        own = map(naming.fold, self.target.partition_keys)
        return tuple(dict.fromkeys((*own, *partition_columns(self.plan.write))))

    def _operations(self) -> tuple[LogicalOperation, ...]:
        positions = {operation.id: i for i, operation in enumerate(self.plan.operations)}
        return tuple(
            LogicalOperation(
                position=positions[operation.id],
                kind=operation.kind,
                name=labels.WRITE_NAME if operation.kind == "write" else operation.name,
                inputs=tuple(positions[child] for child in operation.children),
                parameters=self._parameters(operation),
                output=self._output(operation),
                schema=self._schema_reference(operation),
                datasets=tuple(
                    sorted(identity.dataset_id(n.scope, n.uri) for n in self._datasets(operation))
                ),
            )
            for operation in self.plan.operations
        )

    def _output(self, operation: Operation) -> str:
        """``[[name, type], …]`` as JSON, "[]" where that is too long."""
        output = self.outputs[operation.id] or ()
        known = self._output_texts.get(id(output))  # operations that hand on share one tuple
        if known is None:
            spelled = self._column_texts
            texts = [spelled.get(name) or self._column_text(name) for name in output]
            known = self._output_texts[id(output)] = ",".join(texts)
        if self._has_room(len(known) + 1 if output else 0):
            return f"[{known}]"
        reason = f"outputs of operations of more than {MOST_CHARACTERS:,} characters"
        self.gaps.add((labels.OPERATIONS_TOO_LARGE, reason))
        return "[]"

    def _column_text(self, attribute: str) -> str:
        """``["id","int"]``: encoded once, because every operation that passes
        the column on has it.
        """
        text = self._column_texts[attribute] = identity.spelled(self._name_and_type(attribute))
        return text

    def _datasets(self, operation: Operation) -> tuple[DatasetName, ...]:
        return self.named.get(operation.id, ())

    def _schema_reference(self, operation: Operation) -> str:
        if operation.kind == "write":
            return self.write.schema_id if self.write.columns is not None else ""
        uses = self.uses.get(operation.id, [])
        return uses[0].schema_id if uses and uses[0].columns is not None else ""

    def _parameters(self, operation: Operation) -> str:
        """Rendered parameters as JSON; of the write only the format, because its path is its
        target.
        """
        if operation.kind == "write":
            return identity.spelled(_format_of(operation, "destinationType"))
        shown = _format_of(operation, "sourceType") if operation.kind == "read" else {}
        for name, text in operation_properties(self.plan, operation, self.renderer):
            if name.lower() not in VOLATILE_PARAMETERS:
                shown[name] = self._stable_texts.get(text) or self._stable(text)
        return identity.spelled(shown)

    def _stable(self, text: str) -> str:
        """The first characters of a parameter's text; reads no more than needed."""
        shown = naming.stable_text(text[:_STABLE_CHARACTERS])[:_MAX_PARAMETER_CHARACTERS]
        if len(shown) < _MAX_PARAMETER_CHARACTERS and len(text) > _STABLE_CHARACTERS:
            shown = naming.stable_text(text)[:_MAX_PARAMETER_CHARACTERS]
        self._stable_texts[text] = shown
        return shown

    def _flows(self) -> tuple[ColumnFlow, ...]:
        """Sorted. There may be half a million, so each is a number that sorts as the flow does."""
        if self.write.columns is None:
            return ()
        targets = [(self.write.dataset_id, column.path) for column in self.write.columns]
        derivations = self.columns.derivations
        sources = {(item.source, item.source_path) for item in derivations}
        origins = {source: self._origins(*source) for source in sources}
        ends = sorted({*targets, *(end for listed in origins.values() for end, _ in listed)})
        places = {end: place for place, end in enumerate(ends)}
        numbered = [places[target] for target in targets]
        placed = {
            (item, how): [
                (
                    places[end] * len(ends) * len(_HOWS),
                    _HOWS.index(composed(how, own)),
                    own == labels.IDENTITY,
                )
                for end, own in origins[item]
            ]
            for item, how in {((d.source, d.source_path), d.how) for d in derivations}
        }
        expressions: dict[int, tuple[str, ...]] = {}
        fields: defaultdict[int, list[Fields]] = defaultdict(list)
        with_fields = any(derivation.fields for derivation in derivations)
        for derivation in derivations:
            target = numbered[derivation.output] * len(_HOWS)
            text = derivation.expression
            item = (derivation.source, derivation.source_path)
            for source, how, same in placed[item, derivation.how]:
                known = expressions.get(source + target + how, ())
                if text not in known:
                    expressions[source + target + how] = (*known, text)
                if with_fields:
                    reached = derivation.fields if same else _made(derivation.fields)
                    fields[source + target + how].append(reached)
        keys = sorted(expressions)
        spelled = self._spelled_fields(fields)
        texts = self._alternatives(expressions[key] for key in keys)
        return tuple(
            _flow(key, text, ends, spelled.get(key, naming.WHOLE))
            for key, text in zip(keys, texts, strict=True)
        )

    def _spelled_fields(self, fields: Mapping[int, Sequence[Fields]]) -> dict[int, str]:
        """Per flow the fields that it reaches; none where all together exceed the allowance."""
        once = {tuple(map(id, reached)): reached for reached in fields.values()}
        texts = {key: _fields_of(reached) for key, reached in once.items()}
        spelled = {key: texts[tuple(map(id, reached))] for key, reached in fields.items()}
        if self._has_room(sum(map(len, spelled.values()))):
            return spelled
        reason = f"fields of structs of more than {MOST_CHARACTERS:,} characters"
        self.gaps.add((labels.FIELDS_TOO_MANY, reason))
        return {}

    def _influences(self) -> tuple[ColumnInfluence, ...]:
        expressions: dict[tuple[tuple[str, str], str], set[str]] = {}
        origins: dict[tuple[str, tuple[str, ...]], list[Origin]] = {}
        for influence in self.columns.influences:
            key = (influence.source, influence.source_path)
            if key not in origins:
                origins[key] = self._origins(*key)
            for source, _ in origins[key]:
                expressions.setdefault((source, influence.how), set()).add(influence.expression)
        for query in self.queries:
            for source, how, text in query.influences if not self._lost else ():
                expressions.setdefault((source, how), set()).add(text)
        keys = sorted(expressions)
        texts = self._alternatives(expressions[key] for key in keys)
        return tuple(ColumnInfluence(*key, text) for key, text in zip(keys, texts, strict=True))

    def _opens(self) -> tuple[OpenFlow, ...]:
        """What queries leave open, for the written columns and conditions that it flows into."""
        listed: defaultdict[str, list[OpenOrigin]] = defaultdict(list)
        for query in self.queries:
            for attribute, origins in query.opens.items():
                listed[attribute] += origins
        texts: dict[tuple[OpenOrigin, str, str], set[str]] = {}
        for query in () if self._lost else self.queries:
            for opens, text in query.open_influences:
                texts.setdefault((opens, "", opens.how), set()).add(text)
        for influence in self.columns.influences:
            for opens in listed.get(influence.source, ()):
                key = (_open_below(opens, influence.source_path), "", influence.how)
                texts.setdefault(key, set()).add(influence.expression)
        columns = self.write.columns or ()
        for item in self.columns.derivations if columns else ():
            for opens in listed.get(item.source, ()):
                key = (
                    _open_below(opens, item.source_path),
                    columns[item.output].path,
                    composed(item.how, opens.how),
                )
                texts.setdefault(key, set()).add(item.expression)
        count = sum(len(opens.among) for opens, *_ in texts)
        if count > MOST_INFLUENCES:
            self.gaps.add(
                (labels.TOO_LARGE, f"{count:,} open columns, at most {MOST_INFLUENCES:,}")
            )
            return ()
        names = {table.dataset_id: table.dataset.name for table in self._reads(self.mode)}
        details = sorted({open_text(opens, names) for opens, *_ in texts})
        self.gaps.update((labels.OPEN_COLUMNS, text) for text in details[:MOST_OPEN_TEXTS])
        keys = sorted(texts)
        spelled = self._alternatives(texts[key] for key in keys)
        return tuple(
            OpenFlow(table, opens.path, target, opens.among, labels.kind_of(how), how, text)
            for (opens, target, how), text in zip(keys, spelled, strict=True)
            for table in opens.among
        )

    def _origins(self, attribute: str, below: Sequence[str]) -> list[Origin]:
        """Columns of a leaf attribute, in every dataset that its reads name."""
        origins: dict[Origin, None] = {}
        for (dataset_id, top), how in self._leaves.get(attribute, ()):
            path = _path_below(top, below) if how == labels.IDENTITY else top
            origins[((dataset_id, path), how)] = None
        return list(origins)

    def _read_leaves(self) -> dict[str, list[Origin]]:
        """Per attribute that a read emits: the columns that it equals or is computed from."""
        leaves: dict[str, list[Origin]] = {}
        for query in self.queries:
            for attribute, origins in query.origins.items():
                leaves.setdefault(attribute, []).extend(origins)
        for operation in self.plan.reads:
            datasets = [
                use.dataset_id for use in self.uses[operation.id] if use.columns is not None
            ]
            schema = self.read_schemas[operation.id] or ()
            for attribute, column in zip(self.outputs[operation.id] or (), schema, strict=False):
                leaves.setdefault(attribute, []).extend(
                    ((key, column.path), labels.IDENTITY) for key in datasets
                )
        return leaves

    def _catalog_names(self) -> tuple[tuple[DatasetName, DatasetName], ...]:
        """(catalog name, location) of the tables that the plan names beside their locations."""
        pairs: dict[tuple[str, str], tuple[DatasetName, DatasetName]] = {}
        for operation in self.plan.operations:
            table = catalog_name(operation)
            places = (self.target,) if operation.kind == "write" else self._datasets(operation)
            if table is None or len(places) != 1:
                continue
            name = naming.normalise(table, self.scope, self.rules)[0]
            if (name.scope, name.uri) != (places[0].scope, places[0].uri):
                pairs[(name.uri, places[0].uri)] = (name, places[0])
        return tuple(pairs[key] for key in sorted(pairs))


#: How a column flows, in the order of (kind, how): the last digit of a flow's number.
_HOWS: Final = tuple(sorted(HOWS, key=lambda how: (labels.kind_of(how), how)))


def _made(fields: Fields) -> Fields:
    """The fields of a column that is computed from the source: its own fields are not known."""
    return tuple((path, False) for path, _ in fields)


def _fields_of(reached: Sequence[Fields]) -> str:
    """The fields that several flows between two columns reach; WHOLE if one reaches the whole."""
    fields: dict[str, bool] = {}
    for path, copied in chain.from_iterable(reached):
        fields[path] = copied and fields.get(path, True)
    return naming.WHOLE if () in reached else naming.spell_fields(fields)


def _flow(number: int, text: str, ends: Sequence[tuple[str, str]], fields: str) -> ColumnFlow:
    """The flow of a number made by :meth:`_LogicReader._flows` from source, target and how."""
    rest, how = divmod(number, len(_HOWS))
    source, target = divmod(rest, len(ends))
    return ColumnFlow(
        ends[source], ends[target], labels.kind_of(_HOWS[how]), _HOWS[how], text, fields
    )


def _alternatives(texts: Collection[str]) -> str:
    """``a | b``, shortened."""
    if len(texts) == 1:
        return next(iter(texts))
    return shortened(labels.BETWEEN_EXPRESSIONS.join(sorted(texts)), _MAX_ALTERNATIVES_CHARACTERS)


def _path_below(top: str, below: Sequence[str]) -> str:
    """``customer`` and ("Address", "city") => ``customer.address.city``."""
    if not below:
        return top
    return naming.column_path([*naming.split_path(top), *(naming.fold(part) for part in below)])


def _open_below(opens: OpenOrigin, below: Sequence[str]) -> OpenOrigin:
    copied = opens.how == labels.IDENTITY
    return opens._replace(path=_path_below(opens.path, below)) if copied else opens


def with_patterns(plan: ExecutionPlan, rules: Rules) -> ExecutionPlan:
    """The plan with the files that a read lists replaced by their pattern."""
    operations = tuple(
        replace(operation, sources=folded_sources(operation, rules))
        if operation.kind == "read"
        else operation
        for operation in plan.operations
    )
    return replace(plan, operations=operations)


def folded_sources(read: Operation, rules: Rules) -> tuple[str, ...]:
    """The sources of a read, many files replaced by their pattern."""
    return naming.fold_files(read.sources, read.params, rules, read.extra.get("roots"))


def _masked(plan: ExecutionPlan) -> ExecutionPlan:
    """The plan with date-like literals masked: run dates must not make a new logical plan."""
    masked = {key: _masked_value(plan, constant) for key, constant in plan.constants.items()}
    changed = {
        key: constant._replace(value=masked[key])
        for key, constant in plan.constants.items()
        if masked[key] is not constant.value
    }
    return replace(plan, constants={**plan.constants, **changed}) if changed else plan


def _masked_value(plan: ExecutionPlan, constant: Constant) -> Any:
    return naming.mask_literal(constant.value, type_text(plan.data_types, constant.data_type))


def mode_of(write: Operation) -> str:
    """overwrite, append or lifecycle: by the command's class, then by ``append``."""
    if write.name in LIFECYCLE_COMMANDS or is_in_place(write):
        return labels.LIFECYCLE
    if write.name in ROW_LEVEL_COMMANDS or write.append:
        return labels.APPEND
    return labels.OVERWRITE


def _format_of(operation: Operation, key: str) -> dict[str, str]:
    value = operation.extra.get(key)
    return {"format": value} if isinstance(value, str) else {}


def _is_query(operation: Operation, names: Sequence[DatasetName]) -> bool:
    """A JDBC read of a query: its columns are the query's, not those of its tables."""
    if not any(name.kind == "jdbc" for name in names):
        return False
    table = operation.params.get("dbtable")
    return "query" in operation.params or (isinstance(table, str) and "(" in table)


def catalog_name(operation: Operation) -> str | None:
    """The URI of the catalog name in ``params.table.identifier``, None where there is none."""
    table = operation.params.get("table")
    identifier = table.get("identifier") if isinstance(table, dict) else None
    if not isinstance(identifier, dict) or not isinstance(identifier.get("table"), str):
        return None
    database = identifier.get("database")
    return naming.catalog_table(
        database if isinstance(database, str) else None, identifier["table"]
    )
