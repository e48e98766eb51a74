"""A captured query => a Spline 1.2 execution plan and its execution event. Pure and iterative.

The shapes are the stock agent's; only ``agentInfo`` differs. The rules, operator by operator:

- a column keeps its attribute while it only passes through; an alias, a union, an expand or a
  generator makes a new attribute, whose ``childRefs`` name its sources;
- expression ids are looked up among the inputs of the operator that uses them, since Spark gives
  a union the ids of its first branch, and a CTE reference sometimes those of its definition;
- a union column refers to a synthetic ``union`` function over the branches, by position;
- a recursive CTE is a union of its two branches; a column of its reference to itself refers to
  that of the first branch and to the possible values of the second (``loops``);
- a column of a CTE reference refers to the definition's column, by position, and so does a column
  of an Expand to each projection's. The agent leaves these two out;
- an RDD whose query is known (a checkpoint, a batch of a stream) has that query below it;
- a subquery (scalar, IN, EXISTS) becomes operations of its own below the operator that holds it,
  as additional children. The expression refers to the subquery's output columns; EXISTS refers to
  none, for it reads no column: the conditions inside carry the lineage.
"""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from spark_agent_config.capture.captured import (
    Application,
    CapturedQuery,
    Relation,
    Table,
    TableVersion,
    Target,
)
from spark_agent_config.capture.plan_expressions import (
    Converted,
    DataTypes,
    ExpressionTable,
    Reference,
    TypeJson,
    sort_order,
)
from spark_agent_config.capture.plan_tree import (
    Expression,
    Expressions,
    Plan,
    flatten,
    id_of,
    ingredients,
    object_name,
    read_plan,
    walk,
)
from spark_agent_config.capture.row_level import ASSIGNMENTS, changed_rows, merged_rows
from spark_agent_config.masking import mask_secrets, mask_text

AGENT_NAME: Final = "headwater-listener"
AGENT_VERSION: Final = "0.2.0"
#: The gap of a plan that could not be read: its tables are known, its columns are not.
UNREAD_PLAN: Final = "unread-plan"
#: The gap of an operator whose rows Spark computed before the write, and whose sources it forgot.
OPAQUE_OPERATION: Final = "opaque-operation"
#: The gap of a plan that reads or writes a table that has a name, or not even one, and no place.
UNKNOWN_PLACE: Final = "unknown-place"
_NO_PLAN: Final = "Spark gives no plan of this statement, or one that is too large to copy"
#: Columns that Iceberg adds to those of a table in its list of changes.
_CHANGELOG_COLUMNS: Final = frozenset({"_change_type", "_change_ordinal", "_commit_snapshot_id"})
_COMPUTED_EARLY: Final = frozenset({"Transpose"})
_MOST_REASON: Final = 300
_LOG: Final = logging.getLogger(__name__)
_NAMESPACE: Final = uuid.UUID("5f0c6d0e-8b1f-5d0a-9f0e-3c1f6a3f8f57")

#: Leaves that read stored data; they are listed under ``reads`` even when no source is known.
_READING_LEAVES: Final = frozenset(
    {"LogicalRelation", "HiveTableRelation", "DataSourceV2Relation", "DataSourceV2ScanRelation"}
)
_RDD: Final = "LogicalRDD"
_LEFT_ONLY_JOINS: Final = frozenset({"LeftSemi", "LeftAnti"})
_JOIN_TYPES: Final = {
    "Inner": "INNER",
    "Cross": "CROSS",
    "LeftOuter": "LEFT OUTER",
    "RightOuter": "RIGHT OUTER",
    "FullOuter": "FULL OUTER",
    "LeftSemi": "LEFT SEMI",
    "LeftAnti": "LEFT ANTI",
}
# Indexes of children, the output (which has its own place), and fields without logic.
_HIDDEN_FIELDS: Final = frozenset(
    {
        "class", "num-children", "child", "children", "left", "right", "plan", "query", "output",
        "cteDefs", "relation", "catalogTable", "tableMeta", "rdd", "session", "originStats",
        "originConstraints", "data", "desc", "cteId", "id", "_resolved", "statsOpt",
        "originalPlanWithPredicates", "underSubquery", "maxDepth", "outputPartitioning",
        "isStreaming", "outputColumnNames", "dataCols", "partitionCols", "tableStats",
        "prunedPartitions", "loopId", ASSIGNMENTS,
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an operator's output: Spark's id of it, and its attribute in the document."""

    expression_id: int
    name: str
    attribute: Converted


@dataclass(slots=True, eq=False)
class _Node:
    """An operator on its way into the document. ``holder`` has the subquery it belongs to,
    ``relations`` are the reads of its query: ids of columns recur in the query of an RDD.
    """

    plan: Plan
    id: str
    holder: _Node | None
    relations: Mapping[int, Relation]
    children: tuple[_Node, ...] = ()
    subqueries: tuple[_Node, ...] = ()
    output: tuple[Column, ...] = ()
    inputs: Mapping[int, Converted] | None = None

    def below(self) -> tuple[_Node, ...]:
        return (*self.children, *self.subqueries)


# --- the two documents -----------------------------------------------------------------------


def execution_plan(query: CapturedQuery, application: Application) -> dict[str, Any]:
    """The plan of a query, ready to be posted.

    Its id is a uuid5 over its content: the same logic by the same application gives the same id. A
    plan that this module cannot read is reported by its tables, with a gap that has the reason.
    """
    if not query.plan:
        return _identified(_tables_alone(query, application, _NO_PLAN))
    try:
        document = _Document(query).as_json(application)
    except Exception as error:  # another Spark, a vendor's fork: its tables are still right
        _LOG.warning("The columns of a query are not reported, only its tables: %s", error)
        document = _tables_alone(query, application, f"{type(error).__name__}: {error}")
    return _identified(document)


def _identified(document: dict[str, Any]) -> dict[str, Any]:
    """The document, masked, under the id that its content has."""
    masked: Any = mask_secrets(document)
    content = json.dumps(masked, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return {"id": str(uuid.uuid5(_NAMESPACE, content)), **masked}


def execution_event(query: CapturedQuery, plan_id: str, application: Application) -> dict[str, Any]:
    """The event of the query's execution: ``error`` on failure, ``durationNs`` where known."""
    event: dict[str, Any] = {
        "planId": plan_id,
        "timestamp": query.timestamp,
        "extra": {
            "appId": application.id,
            "user": application.user,
            "readMetrics": dict(query.read_metrics),
            "writeMetrics": dict(query.write_metrics),
        },
    }
    event["extra"] |= _versions(query)
    if query.written_partitions:
        event["extra"]["writtenPartitions"] = list(query.written_partitions)
    if query.error is not None:
        event["error"] = mask_text(query.error)
    if query.duration_ns is not None:
        event["durationNs"] = query.duration_ns
    return event


def _versions(query: CapturedQuery) -> dict[str, Any]:
    """``{"writtenVersion": {"id": "3", "number": 3}, "readVersions": [{"source": …, "id": …}]}``.

    They are part of the event: another version is another run of the same plan.
    """
    reads = [
        {"source": mask_text(source), **_version_json(relation.version)}
        for relation in _in_order_of_places(_all_relations(query.relations))
        if relation.version is not None
        for source in relation.sources
    ]
    written = query.written_version
    return {
        **({"writtenVersion": _version_json(written)} if written is not None else {}),
        **({"readVersions": reads} if reads else {}),
    }


def _version_json(version: TableVersion) -> dict[str, Any]:
    return {name: value for name, value in asdict(version).items() if value is not None}


def _tables_alone(query: CapturedQuery, application: Application, reason: str) -> dict[str, Any]:
    """The write and the relations that Spark answered for, without columns."""
    reads: list[dict[str, Any]] = [
        {
            "id": f"op-{number}",
            "name": "Relation",
            "inputSources": list(relation.sources),
            "params": _path_options(relation.options) | _table_parameter(relation.table),
            "extra": relation.extra,
        }
        for number, relation in enumerate(_in_order_of_places(query.relations.values()), start=1)
    ]
    write = _write_operation(query, [read["id"] for read in reads])
    unread = {"code": UNREAD_PLAN, "detail": reason[:_MOST_REASON]}
    write["extra"]["gaps"] = [*_gaps_of_places(query), unread]
    operations = {"write": write, **({"reads": reads} if reads else {})}
    return _head(application) | {"operations": operations} | _origin_of(application, [])


def _gaps_of_places(query: CapturedQuery) -> list[dict[str, str]]:
    """One for each table that Spark gives no place of."""
    names = {read.unplaced for read in _all_relations(query.relations)} | {query.target.unplaced}
    detail = "Spark does not say where {} keeps its data"
    return [
        {"code": UNKNOWN_PLACE, "detail": detail.format(name)[:_MOST_REASON]}
        for name in sorted(name for name in names if name is not None)
    ]


def _all_relations(relations: Mapping[int, Relation]) -> list[Relation]:
    """Those of the queries of RDDs as well, each as often as the plan has it."""
    every = _leaves(relations)
    for relation in every:  # which grows meanwhile
        if relation.origin is not None:
            every += _leaves(relation.origin.relations)
    return every


def _leaves(relations: Mapping[int, Relation]) -> list[Relation]:
    return [relation for relation in relations.values() for _ in range(relation.leaves)]


def _in_order_of_places(relations: Iterable[Relation]) -> list[Relation]:
    """The ids that relations are kept by differ from run to run."""
    return sorted(relations, key=lambda relation: relation.sources)


class _Document:
    """One plan in the making. Made once, used once."""

    def __init__(self, query: CapturedQuery) -> None:
        self._query = query
        self._operation_count = 0
        self._loops: dict[int, _Node] = {}
        self._inner: dict[int, list[tuple[Column, ...]]] = {}
        command = read_plan(json.loads(query.plan))
        whole = changed_rows(query.command, command, self._fields()) or _query_of(command)
        self._root = self._build_nodes(whole)
        self._data_types = DataTypes()
        self._expressions = ExpressionTable(self._data_types, self._known_types())
        self._attributes: list[dict[str, Any]] = []
        self._reads: list[dict[str, Any]] = []
        self._others: list[dict[str, Any]] = []
        self._definitions: dict[int, tuple[int, _Node]] = {}
        self._dangling: dict[int, Converted] = {}

    def as_json(self, application: Application) -> dict[str, Any]:
        for node in self._in_order():
            self._write_node(node)
        child_ids = [node.id for node in _skip_empty([self._root] if self._root else [])]
        operations: dict[str, Any] = {"write": _write_operation(self._query, child_ids)}
        if gaps := self._gaps():
            operations["write"]["extra"]["gaps"] = gaps
        operations |= {
            name: list(reversed(items))
            for name, items in (("reads", self._reads), ("other", self._others))
            if items
        }
        document = _head(application) | {"operations": operations}
        if self._attributes:
            document["attributes"] = self._attributes
        functions, constants = self._expressions.functions, self._expressions.constants
        if functions or constants:
            document["expressions"] = {"functions": functions, "constants": constants}
        return document | _origin_of(application, self._data_types.as_list())

    def _gaps(self) -> list[dict[str, str]]:
        kinds = {node.plan.kind for node in self._in_order()} & _COMPUTED_EARLY
        detail = "Spark computes its rows before the write: their sources are not in the plan"
        gaps = [{"code": OPAQUE_OPERATION, "detail": f"{kind}: {detail}"} for kind in sorted(kinds)]
        gaps += _gaps_of_places(self._query)
        unread = self._query.unread
        return gaps if unread is None else [*gaps, {"code": UNREAD_PLAN, "detail": unread}]

    # --- the order of things ---------------------------------------------------------------

    def _build_nodes(self, plan: Plan | None) -> _Node | None:
        """A node an operator, numbered from the write down (op-0 is the write)."""
        if plan is None:
            return None
        root = _Node(plan, self._next_operation_id(), None, self._query.relations)
        stack = [root]
        while stack:
            node = stack.pop()
            if node.plan.kind == "UnionLoop":
                self._loops[_number_of(node.plan, "id")] = node
            made: list[_Node] = []
            children, relations = _below(node)
            for child, holder in (
                *((child, node.holder) for child in children),
                *((subplan, node) for subplan in node.plan.subplans()),
            ):
                made.append(_Node(merged_rows(child), self._next_operation_id(), holder, relations))
            split = len(children)
            node.children, node.subqueries = tuple(made[:split]), tuple(made[split:])
            stack.extend(reversed(made))
        return root

    def _next_operation_id(self) -> str:
        self._operation_count += 1
        return f"op-{self._operation_count}"

    def _in_order(self) -> list[_Node]:
        """Inputs before the operators that use them, and a subquery after its holder's inputs."""
        order: list[_Node] = []
        stack = [(self._root, False)] if self._root else []
        while stack:
            node, ready = stack.pop()
            if ready:
                order.append(node)
                continue
            stack.append((node, True))
            stack.extend((below, False) for below in reversed(node.below()))
        return order

    def _known_types(self) -> dict[int, tuple[TypeJson, bool]]:
        """Types of columns by expression id: from every mention, and from the written schema.

        The plan's JSON gives no type to an alias, but every operator above that mentions the
        column does.
        """
        known: dict[int, tuple[TypeJson, bool]] = {}
        for node in self._in_order():
            for value in node.plan.expressions.values():
                for tree in flatten(value):
                    for part in walk(tree):
                        number = part.expression_id
                        if part.kind == "AttributeReference" and number is not None:
                            kind, nullable = part.fields["dataType"], part.fields["nullable"]
                            known.setdefault(number, (kind, nullable))
        names = _named_expressions(self._root.plan) if self._root else ()
        for written, tree in zip(self._fields(), names, strict=False):
            if tree.kind == "Alias" and tree.expression_id is not None:
                known[tree.expression_id] = (written["type"], written["nullable"])
        return known

    def _fields(self) -> list[dict[str, Any]]:
        """The written schema's fields; none where it is not known."""
        fields: list[dict[str, Any]] = []
        return json.loads(self._query.schema)["fields"] if self._query.schema else fields

    # --- operators -------------------------------------------------------------------------

    def _write_node(self, node: _Node) -> None:
        if node.plan.kind == "OneRowRelation":  # as the agent: it reads nothing and says nothing
            return
        converted = {
            name: self._convert(value, node)
            for name, value in node.plan.expressions.items()
            if name not in _OUTPUT_FIELDS
        }
        node.output = self._output(node, converted)
        self._add_operation(node, converted)

    def _convert(self, value: Expressions, node: _Node) -> Any:
        """The field's structure with every expression replaced by its reference."""
        if isinstance(value, Expression):
            return self._convert_expression(value, node)
        return tuple(self._convert(part, node) for part in value)

    def _convert_expression(self, tree: Expression, node: _Node) -> Converted:
        def resolve(reference: Expression) -> Converted:
            return self._resolve(reference, node)

        def subquery_output(subplan: Plan) -> tuple[Converted, ...]:
            held = next(held for held in node.subqueries if held.plan is subplan)
            return tuple(column.attribute for column in held.output)

        if tree.kind == "SortOrder":
            return self._expressions.convert(tree.children[0], resolve, subquery_output)
        return self._expressions.convert(tree, resolve, subquery_output)

    def _resolve(self, reference: Expression, node: _Node) -> Converted:
        """The attribute behind a column reference: the inputs', else those of an outer query. The
        condition of a lateral join sees the columns of its subquery too.
        """
        number = reference.expression_id
        for column in _outputs(_lateral(node)):
            if column.expression_id == number:
                return column.attribute
        at: _Node | None = node
        while at is not None and number is not None:
            inputs = _inputs(at)
            if number in inputs:
                return inputs[number]
            at = at.holder
        key = -1 if number is None else number
        if key not in self._dangling:
            self._dangling[key] = self._new_attribute(_name_of(reference), *_type_of(reference), ())
        return self._dangling[key]

    def _output(self, node: _Node, converted: Mapping[str, Any]) -> tuple[Column, ...]:
        plan = node.plan
        if plan.kind == "Union":
            return self._union_output(node)
        if plan.kind == "UnionLoop":
            return self._loop_output(node)
        if plan.kind == "UnionLoopRef":
            return self._loop_reference_output(node)
        if plan.kind == "CTERelationDef":
            self._remember_definition(node)
        if plan.kind == "CTERelationRef":
            return self._reference_output(node)
        if plan.kind == "Generate":
            made = self._generated(node, converted)
            return (*_outputs(node.children), *made)
        if plan.kind == "AttachDistributedSequence":
            made = tuple(map(self._new_column, flatten(plan.expressions.get("sequenceAttr", ()))))
            return (*made, *_outputs(node.children))
        if plan.kind == "Window":
            made = self._named(node, "windowExpressions", converted)
            return (*_outputs(node.children), *made)
        if plan.kind == "SerializeFromObject" and _is_changelog(_outputs(node.children)):
            return self._changelog_output(node)
        if plan.kind in _NAMED_FIELDS:
            return self._named(node, _NAMED_FIELDS[plan.kind], converted)
        if ASSIGNMENTS in plan.expressions:
            return self._assigned_output(node, converted)
        if _lists_output(plan):
            return self._listed_output(node, converted)
        if plan.kind in {"Join", "LateralJoin"}:
            return self._join_output(node)
        if plan.kind == "WithCTE":
            return node.children[-1].output
        return node.children[0].output if node.children else ()

    def _named(self, node: _Node, name: str, converted: Mapping[str, Any]) -> tuple[Column, ...]:
        """Columns of a projection: an alias makes a new attribute, a mention passes one on.

        A mention in another spelling (``emp_id`` of EMP_ID) is the column's name from there on, so
        it is a new attribute too.
        """
        trees = flatten(node.plan.expressions.get(name, ()))
        columns = []
        for tree, value in zip(trees, converted.get(name, ()), strict=True):
            if value.name == _name_of(tree):
                columns.append(Column(_id_of(tree), _name_of(tree), value))
                continue
            attribute = self._new_attribute(
                _name_of(tree), value.data_type, value.nullable, (value.reference,)
            )
            columns.append(Column(_id_of(tree), _name_of(tree), attribute))
        return tuple(columns)

    def _changelog_output(self, node: _Node) -> tuple[Column, ...]:
        """Iceberg's changelog view runs a function over whole rows, which keeps their columns."""
        below = {column.name: column.attribute for column in _outputs(node.children)}
        columns = []
        for tree in _named_expressions(node.plan):
            kept = below.get(_name_of(tree), Converted({}))
            made_of = (kept.reference,) if kept.reference else ()
            attribute = self._new_attribute(_name_of(tree), kept.data_type, True, made_of)
            columns.append(Column(_id_of(tree), _name_of(tree), attribute))
        return tuple(columns)

    def _union_output(self, node: _Node) -> tuple[Column, ...]:
        branches = [child.output for child in node.children]
        columns = []
        for position, first in enumerate(branches[0] if branches else ()):
            parts = [b[position].attribute for b in branches if position < len(b)]
            function = self._expressions.add_union([part.reference for part in parts])
            attribute = self._new_attribute(
                first.name,
                first.attribute.data_type,
                any(part.nullable for part in parts),
                (function,),
                synthetic=True,
            )
            columns.append(Column(first.expression_id, first.name, attribute))
        return tuple(columns)

    def _loop_output(self, node: _Node) -> tuple[Column, ...]:
        """The columns of a recursive CTE: ids of their own, not those of its first branch."""
        self._complete_loop(node)
        listed = node.plan.fields.get("outputAttrIds")
        numbers = [id_of(item) for item in listed] if isinstance(listed, list) else []
        union = self._union_output(node)
        return tuple(
            Column(
                column.expression_id if number is None else number, column.name, column.attribute
            )
            for number, column in zip(numbers, union, strict=False)
        )

    def _loop_reference_output(self, node: _Node) -> tuple[Column, ...]:
        """Fresh attributes; their sources are known once the loop is whole."""
        columns = tuple(map(self._new_column, _listed(node.plan)))
        self._inner.setdefault(_number_of(node.plan, "loopId"), []).append(columns)
        return columns

    def _complete_loop(self, node: _Node) -> None:
        inner = self._inner.get(_number_of(node.plan, "id"), [])
        anchor, step = (child.output for child in node.children)
        same = [[_attribute_of(columns[n]) for columns in inner] for n in range(len(step))]
        per_column = ingredients([_attribute_of(column) for column in step], same, self._parts_of())
        items = {item["id"]: item for item in self._attributes}
        for identifiers, (rounds, read) in zip(same, per_column, strict=True):
            made_of = [_attribute_of(anchor[n]) for n in rounds if n < len(anchor)]
            for identifier in identifiers:
                items[identifier]["childRefs"] = [
                    {"__attrId": part} for part in dict.fromkeys([*made_of, *read])
                ]

    def _parts_of(self) -> Callable[[str], Sequence[str]]:
        """The references of an attribute or expression of the document."""
        listed = (*self._attributes, *self._expressions.functions)
        parts = {
            item["id"]: [
                part for reference in item.get("childRefs", ()) for part in reference.values()
            ]
            for item in listed
        }
        return lambda identifier: parts.get(identifier, ())

    def _join_output(self, node: _Node) -> tuple[Column, ...]:
        join_type = node.plan.fields.get("joinType")
        if object_name(join_type) in _LEFT_ONLY_JOINS:
            return node.children[0].output
        return _outputs((*node.children, *_lateral(node)))

    def _remember_definition(self, node: _Node) -> None:
        number = node.plan.fields.get("id")
        if isinstance(number, int):
            self._definitions[number] = (len(self._definitions), node.children[0])

    def _reference_output(self, node: _Node) -> tuple[Column, ...]:
        """Fresh attributes, each made of the definition's column in the same place."""
        known = self._definitions.get(node.plan.fields.get("cteId", -1))
        defined = known[1].output if known else ()
        columns = []
        for position, tree in enumerate(_listed(node.plan)):
            made_of = (defined[position].attribute.reference,) if position < len(defined) else ()
            columns.append(self._new_column(tree, made_of))
        return tuple(columns)

    def _generated(self, node: _Node, converted: Mapping[str, Any]) -> tuple[Column, ...]:
        generator = converted.get("generator")
        made_of = (generator.reference,) if isinstance(generator, Converted) else ()
        made = flatten(node.plan.expressions.get("generatorOutput", ()))
        return tuple(self._new_column(tree, made_of) for tree in made)

    def _listed_output(self, node: _Node, converted: Mapping[str, Any]) -> tuple[Column, ...]:
        """An operator that lists its output: columns that its inputs lack are new."""
        columns = []
        for position, tree in enumerate(_listed(node.plan)):
            if (kept := _inputs(node).get(_id_of(tree))) is not None:
                columns.append(Column(_id_of(tree), _name_of(tree), kept))
            else:
                columns.append(self._new_column(tree, self._origin(node, position, converted)))
        return tuple(columns)

    def _assigned_output(self, node: _Node, converted: Mapping[str, Any]) -> tuple[Column, ...]:
        """A column of a row-level command: itself, and all that it may be set to."""
        columns = []
        for tree, values in zip(_listed(node.plan), converted[ASSIGNMENTS], strict=True):
            kept = _column_below(node, _id_of(tree))
            made_of = _distinct(value.reference for value in (*([kept] if kept else []), *values))
            if kept is not None and made_of == (kept.reference,):
                columns.append(Column(_id_of(tree), _name_of(tree), kept))
            else:
                columns.append(self._new_column(tree, made_of))
        return tuple(columns)

    def _origin(
        self, node: _Node, position: int, converted: Mapping[str, Any]
    ) -> tuple[Reference, ...]:
        """The sources of a new column of an operator.

        Expand: each projection's value in the same place. A view, an RDD: the query's column in
        the same place. A function over whole rows (mapInPandas, applyInPandas): all its inputs.
        """
        if node.plan.kind == "Expand":
            values = [row[position] for row in converted.get("projections", ())]
            return _distinct(value.reference for value in values)
        if node.plan.kind in {"View", _RDD} and node.children:
            columns = node.children[0].output
            return (columns[position].attribute.reference,) if position < len(columns) else ()
        return _distinct(value.reference for field in converted.values() for value in _flat(field))

    def _new_column(self, tree: Expression, made_of: Sequence[Reference] = ()) -> Column:
        """A column that begins at this operator, with the name and the type of its mention."""
        attribute = self._new_attribute(_name_of(tree), *_type_of(tree), made_of)
        return Column(_id_of(tree), _name_of(tree), attribute)

    def _new_attribute(
        self,
        name: str,
        data_type: TypeJson | None,
        nullable: bool,
        made_of: Sequence[Reference],
        *,
        synthetic: bool = False,
    ) -> Converted:
        item: dict[str, Any] = {"id": f"attr-{len(self._attributes)}", "name": name}
        if data_type is not None:
            item["dataType"] = self._data_types.add(data_type, nullable)
        if made_of:
            item["childRefs"] = list(made_of)
        if synthetic:
            item["extra"] = {"synthetic": True}
        self._attributes.append(item)
        return Converted({"__attrId": item["id"]}, data_type, nullable, name)

    # --- operations ------------------------------------------------------------------------

    def _add_operation(self, node: _Node, converted: Mapping[str, Any]) -> None:
        operation: dict[str, Any] = {"id": node.id, "name": _operation_name(node.plan)}
        child_ids = [child.id for child in _skip_empty(node.below())]
        relation = self._relation(node)
        if relation is not None and relation.node is not None:
            child_ids.append(self._add_hidden_read(relation))
            relation = None
        if child_ids:
            operation["childIds"] = child_ids
        if node.output:
            operation["output"] = [column.attribute.reference["__attrId"] for column in node.output]
        params = self._parameters(node, converted)
        if relation is None:
            self._others.append(_with(operation, params=params))
            return
        params |= _path_options(relation.options) | _table_parameter(relation.table)
        operation["inputSources"] = list(relation.sources)
        self._reads.append({**_with(operation, params=params), "extra": relation.extra})

    def _relation(self, node: _Node) -> Relation | None:
        """The read of a leaf, as captured; an unknown reading leaf is a read without sources."""
        if node.children or node.plan.kind == "CTERelationRef":  # its definition reads
            return None
        read = _read_of(node)
        return read or (Relation() if node.plan.kind in _READING_LEAVES else None)

    def _add_hidden_read(self, relation: Relation) -> str:
        """The RDD that reads, below the operator that wraps it; columns are unknown there."""
        operation_id = self._next_operation_id()
        operation = {
            "id": operation_id,
            "name": relation.node,
            "inputSources": list(relation.sources),
            "extra": relation.extra,
        }
        self._reads.append(operation)
        return operation_id

    def _parameters(self, node: _Node, converted: Mapping[str, Any]) -> dict[str, Any]:
        plan = node.plan
        params: dict[str, Any] = {}
        for name, value in plan.fields.items():
            if name in converted:
                params[name] = _references(plan.expressions[name], converted[name])
            elif name == "generatorOutput":
                made = len(flatten(plan.expressions.get(name, ())))
                params[name] = [column.attribute.reference for column in node.output[-made:]]
            elif name not in _HIDDEN_FIELDS and (shown := _plain(name, value)) is not None:
                params[name] = shown
        return params | self._cte_parameters(plan) | _view_parameters(plan)

    def _cte_parameters(self, plan: Plan) -> dict[str, Any]:
        """Spark counts definitions per session; ours are counted per plan, so re-runs agree."""
        field = {"CTERelationDef": "id", "CTERelationRef": "cteId"}.get(plan.kind)
        known = self._definitions.get(plan.fields.get(field, -1)) if field else None
        return {field: known[0]} if field and known else {}


# --- the parts of a document that no operator changes --------------------------------------------


def _head(application: Application) -> dict[str, Any]:
    labels = {name: list(values) for name, values in sorted(application.labels.items())}
    return {"name": application.name, **({"labels": labels} if labels else {})}


def _origin_of(application: Application, data_types: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "systemInfo": {"name": "spark", "version": application.spark_version},
        "agentInfo": {"name": AGENT_NAME, "version": AGENT_VERSION},
        "extraInfo": {"appName": application.name, "dataTypes": data_types},
    }


def _write_operation(query: CapturedQuery, child_ids: Sequence[str]) -> dict[str, Any]:
    target = query.target
    params = _path_options(target.options) | _table_parameter(target.table)
    operation = {
        "id": "op-0",
        "name": query.command,
        "outputSource": target.uri,
        "append": target.append,
        "childIds": list(child_ids),
    }
    reason = {} if query.reason is None else {"reason": query.reason}
    return {**_with(operation, params=params), "extra": _write_extra(target) | reason}


# --- small questions ---------------------------------------------------------------------------

#: Fields that list an operator's output; a Hive table has its partition columns apart, a Python
#: function with state (transformWithState) names its output as in the last one.
_LISTS: Final = ("output", "dataCols", "partitionCols", "outputAttrs")
_OUTPUT_FIELDS: Final = frozenset({*_LISTS, "generatorOutput", "outputColumns", "sequenceAttr"})
#: Operators whose output is named by one of their fields.
_NAMED_FIELDS: Final = {
    "Project": "projectList",
    "Aggregate": "aggregateExpressions",
    "SerializeFromObject": "serializer",
}


def _query_of(command: Plan) -> Plan | None:
    """The query that a command runs: a child, or a plan inside it; None for DROP and the like."""
    if "query" in command.inner:
        return command.inner["query"]
    index = command.fields.get("query")
    if isinstance(index, int) and index < len(command.children):
        return command.children[index]
    return None


def _read_of(node: _Node) -> Relation | None:
    """The read of a leaf, as captured."""
    keys = [column.expression_id for column in _leaf_columns(node.plan)]
    return next((node.relations[k] for k in keys if k in node.relations), None)


def _below(node: _Node) -> tuple[tuple[Plan, ...], Mapping[int, Relation]]:
    """The children of an operator, and the reads of their query: that of an RDD, where known."""
    relation = _read_of(node) if node.plan.kind == _RDD else None
    if relation is None or relation.origin is None or not relation.origin.plan:
        return node.plan.children, node.relations
    return (read_plan(json.loads(relation.origin.plan)),), relation.origin.relations


def _number_of(plan: Plan, field: str) -> int:
    number = plan.fields.get(field)
    return number if isinstance(number, int) else -1


def _is_changelog(columns: Sequence[Column]) -> bool:
    return {column.name for column in columns} >= _CHANGELOG_COLUMNS


def _attribute_of(column: Column) -> str:
    return column.attribute.reference["__attrId"]


def _lists_output(plan: Plan) -> bool:
    return plan.fields.get("output") == [] or any(name in plan.expressions for name in _LISTS)


def _listed(plan: Plan) -> tuple[Expression, ...]:
    return tuple(tree for name in _LISTS for tree in flatten(plan.expressions.get(name, ())))


def _skip_empty(nodes: Sequence[_Node]) -> list[_Node]:
    return [node for node in nodes if node.plan.kind != "OneRowRelation"]


def _outputs(nodes: Sequence[_Node]) -> tuple[Column, ...]:
    return tuple(column for node in nodes for column in node.output)


def _lateral(node: _Node) -> Sequence[_Node]:
    """The right side of a lateral join, which is a subquery of it."""
    return node.subqueries[:1] if node.plan.kind == "LateralJoin" else ()


def _inputs(node: _Node) -> Mapping[int, Converted]:
    """The columns that an operator can mention, by Spark's id; its children must be done.

    Asked of an operator before its turn too, by the subqueries that it holds.
    """
    if node.inputs is None:
        inputs: dict[int, Converted] = {}
        for column in _outputs(node.children):
            inputs.setdefault(column.expression_id, column.attribute)
        node.inputs = inputs
    return node.inputs


def _column_below(node: _Node, expression_id: int) -> Converted | None:
    """The attribute of a column that some operator below puts out."""
    pending = list(node.children)
    while pending:
        below = pending.pop()
        for column in below.output:
            if column.expression_id == expression_id:
                return column.attribute
        pending += below.children
    return None


def _named_expressions(plan: Plan) -> tuple[Expression, ...]:
    return flatten(plan.expressions.get(_NAMED_FIELDS.get(plan.kind, ""), ()))


def _leaf_columns(plan: Plan) -> list[Column]:
    nothing = Converted({})
    return [Column(_id_of(tree), _name_of(tree), nothing) for tree in _listed(plan)]


def _id_of(tree: Expression) -> int:
    """Spark's id of a named expression, -1 where there is none (it then matches nothing)."""
    if tree.kind == "OuterReference" and isinstance(tree.fields.get("e"), list):
        return id_of(tree.fields["e"][0].get("exprId")) or -1
    number = tree.expression_id
    return -1 if number is None else number


def _name_of(tree: Expression) -> str:
    if tree.kind == "OuterReference" and isinstance(tree.fields.get("e"), list):
        return str(tree.fields["e"][0].get("name", ""))
    return str(tree.fields.get("name", tree.kind.lower()))


def _type_of(tree: Expression) -> tuple[TypeJson | None, bool]:
    return tree.fields.get("dataType"), bool(tree.fields.get("nullable", True))


def _operation_name(plan: Plan) -> str:
    """Spark's node name: ``Except All`` where all rows count, else the class."""
    everything = plan.kind in {"Except", "Intersect"} and plan.fields.get("isAll") is True
    return f"{plan.kind} All" if everything else plan.kind


def _flat(value: Any) -> list[Converted]:
    if isinstance(value, Converted):
        return [value]
    return [part for item in value for part in _flat(item)]


def _distinct(references: Any) -> tuple[Reference, ...]:
    return tuple({json.dumps(reference): reference for reference in references}.values())


def _references(trees: Expressions, converted: Any) -> Any:
    """The field as in ``params``: the same lists, with references in them."""
    if isinstance(trees, Expression):
        if trees.kind == "SortOrder":
            return sort_order(trees, converted.reference)
        return converted.reference
    return [_references(tree, value) for tree, value in zip(trees, converted, strict=True)]


def _plain(name: str, value: object) -> Any:
    """A field that is no expression, made readable; None where it is not worth showing."""
    if name == "joinType":
        return _JOIN_TYPES.get(object_name(value) or "", object_name(value))
    if isinstance(value, bool | int | float | str):
        return value
    if (label := object_name(value)) is not None:
        return label
    if isinstance(value, Mapping) and "name" in value:  # an AliasIdentifier
        return ".".join([*_parts(value.get("qualifier")), str(value["name"])])
    return None


def _parts(value: object) -> list[str]:
    """``"[spark_catalog, hr]"`` => two parts; Spark's JSON writes a list of strings as text."""
    text = value if isinstance(value, str) else ""
    return [part for part in text.removeprefix("[").removesuffix("]").split(", ") if part]


def _view_parameters(plan: Plan) -> dict[str, Any]:
    """A view by its name and text, without the times that make its plan differ at every run."""
    described = plan.fields.get("desc")
    if plan.kind != "View" or not isinstance(described, Mapping):
        return {}
    shown: dict[str, Any] = {"identifier": _identifier(described.get("identifier"))}
    if isinstance(described.get("viewText"), str):
        shown["viewText"] = described["viewText"]
    return {"desc": shown}


def _identifier(value: object) -> dict[str, str]:
    fields = value if isinstance(value, Mapping) else {}
    return {key: str(fields[key]) for key in ("table", "database") if key in fields}


def _path_options(options: Mapping[str, str]) -> dict[str, str]:
    """Options with names in small letters; Spark's own (``__partition_columns``) left out."""
    return {
        name.lower(): value for name, value in sorted(options.items()) if not name.startswith("__")
    }


def _table_parameter(table: Table | None) -> dict[str, Any]:
    """The catalog's name of a relation, as the agent writes it."""
    if table is None:
        return {}
    identifier = {"table": table.name}
    if table.database:
        identifier["database"] = table.database
    place = f"Location: {table.location}" if table.location else ""
    return {"table": {"identifier": identifier, "storage": f"Storage({place})"}}


def _write_extra(target: Target) -> dict[str, Any]:
    extra: dict[str, Any] = {"destinationType": target.format}
    if target.mode:
        extra["saveMode"] = target.mode
    if target.partition_columns is not None:
        extra["partitionColumns"] = list(target.partition_columns)
    if target.static_partitions:
        extra["staticPartitions"] = dict(target.static_partitions)
    if target.dynamic_partition_overwrite is not None:
        extra["dynamicPartitionOverwrite"] = target.dynamic_partition_overwrite
    if target.renamed is not None:
        former, current = target.renamed
        extra["renamed"] = {"from": _renamed_end(former), "to": _renamed_end(current)}
    return extra


def _renamed_end(table: Table) -> dict[str, str]:
    database = {"database": table.database} if table.database else {}
    return {"source": table.location or "", "table": table.name, **database}


def _with(operation: dict[str, Any], *, params: Mapping[str, Any]) -> dict[str, Any]:
    return {**operation, "params": dict(params)} if params else operation
