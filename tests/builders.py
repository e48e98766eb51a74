"""Plans for tests, built in a few lines and read like any posted document.

    plan = PlanBuilder()
    employees = plan.read("file:/lake/employees", "id: int", "salary: int", "bonus: int")
    total = plan.call("add", employees["salary"], employees["bonus"], symbol="+")
    plan.write(plan.project(employees, "id", total=total))
    plan.build()  # an ExecutionPlan

The documents have the shape of the Spline agent's API 1.2: aliases in projections, attributes that
pass through under their own ids, sequential ids (``op-3``, ``attr-7``, ``expr-2``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graph_model.producers.spline.documents import ExecutionPlan, Reference, read_plan

PLAN_ID = "9b1c1f0e-6f0a-5d6e-8a44-0f7f4f1d2c10"


@dataclass(frozen=True)
class Step:
    """An operation of a plan being built; ``step["salary"]`` is its column of that name."""

    id: str
    output: tuple[Reference, ...] | None
    names: tuple[str, ...]

    def __getitem__(self, name: str) -> Reference:
        assert self.output is not None, f"{self.id} has no schema"
        return self.output[self.names.index(name)]


class PlanBuilder:
    """Collects the parts of one plan. ``first`` shifts every id: same logic, other ids."""

    def __init__(self, first: int = 0) -> None:
        self._first = first
        self._attributes: list[dict[str, Any]] = []
        self._functions: list[dict[str, Any]] = []
        self._constants: list[dict[str, Any]] = []
        self._reads: list[dict[str, Any]] = []
        self._other: list[dict[str, Any]] = []
        self._types: dict[str, dict[str, Any]] = {}
        self._names: dict[str, str] = {}
        self._write: dict[str, Any] | None = None

    # --- columns and expressions -----------------------------------------------------------------

    def column(self, text: str, *children: Reference) -> Reference:
        """``salary`` or ``salary: int``; children are where it comes from (none: a leaf)."""
        name, _, data_type = (part.strip() for part in text.partition(": "))
        attribute = {"id": self._next("attr", len(self._attributes)), "name": name}
        self._add(self._attributes, attribute, data_type, children)
        self._names[attribute["id"]] = name
        return Reference("attribute", attribute["id"])

    def literal(self, value: Any, data_type: str = "") -> Reference:
        constant: dict[str, Any] = {"id": self._next_expression(), "value": value}
        self._add(self._constants, constant, data_type or _type_of(value), ())
        return Reference("expression", constant["id"])

    def call(
        self,
        name: str,
        *arguments: Reference,
        type: str = "",
        of: str = "",
        symbol: str = "",
        hint: str = "",
        params: Mapping[str, Any] | None = None,
    ) -> Reference:
        """A function; ``of`` is its Spark class where the name alone does not tell."""
        function: dict[str, Any] = {"id": self._next_expression(), "name": name}
        function["extra"] = {"_typeHint": hint or ("expr.Binary" if symbol else "expr.Generic")}
        if of:
            function["extra"]["simpleClassName"] = of
        if symbol:
            function["extra"]["symbol"] = symbol
        if params:
            function["params"] = dict(params)
        self._add(self._functions, function, type, arguments)
        return Reference("expression", function["id"])

    def alias(self, value: Reference, name: str) -> Reference:
        return self.call(name, value, of="Alias", hint="expr.Alias", params={"name": name})

    def aggregate_of(
        self,
        name: str,
        *arguments: Reference,
        distinct: bool = False,
        where: Reference | None = None,
    ) -> Reference:
        """``sum(x) FILTER (WHERE …)`` as Spark wraps it."""
        inner = self.call(name, *arguments, of=f"aggregate.{name.capitalize()}")
        wrapped = (inner,) if where is None else (inner, where)
        return self.call(
            "aggregateexpression",
            *wrapped,
            of="aggregate.AggregateExpression",
            params={"isDistinct": distinct, "mode": "Complete"},
        )

    def over(
        self,
        function: Reference,
        partition: Sequence[Reference] = (),
        order: Sequence[Reference] = (),
        frame: Reference | None = None,
    ) -> Reference:
        """A window expression; ``order`` holds columns (ascending) or results of :meth:`sorted`."""
        orders = [item if item.kind == "expression" else self.sorted(item) for item in order]
        spec = self.call(
            "windowspecdefinition",
            *partition,
            *orders,
            *(() if frame is None else (frame,)),
            of="WindowSpecDefinition",
        )
        return self.call("windowexpression", function, spec, of="WindowExpression")

    def sorted(self, value: Reference, direction: str = "Ascending", nulls: str = "") -> Reference:
        nulls = nulls or ("NullsLast" if direction == "Descending" else "NullsFirst")
        params = {"direction": direction, "nullOrdering": nulls}
        return self.call("sortorder", value, of="SortOrder", params=params)

    # --- types -----------------------------------------------------------------------------------

    def struct_type(self, **fields: str) -> str:
        """Declares a struct of simple types and returns the name to use for it."""
        name = f"struct<{','.join(f'{key}:{value}' for key, value in fields.items())}>"
        listed = [{"name": key, "dataTypeId": self._type(value)} for key, value in fields.items()]
        self._types[name] = {"_typeHint": "dt.Struct", "id": f"type {name}", "fields": listed}
        return name

    def array_type(self, element: str) -> str:
        name = f"array<{element}>"
        inner = self._type(element)
        self._types[name] = {
            "_typeHint": "dt.Array",
            "id": f"type {name}",
            "elementDataTypeId": inner,
        }
        return name

    def _type(self, name: str) -> str:
        identifier = f"type {name}"
        simple = {"_typeHint": "dt.Simple", "id": identifier, "name": name, "nullable": True}
        self._types.setdefault(name, simple)
        return identifier

    # --- operations ------------------------------------------------------------------------------

    def read(self, source: str | Sequence[str], *columns: str) -> Step:
        """A read of one or several sources; without columns it is schema-less."""
        sources = [source] if isinstance(source, str) else list(source)
        output = [self.column(text) for text in columns]
        operation = self._operation("LogicalRelation", (), output or None)
        operation |= {"inputSources": sources, "extra": {"sourceType": "parquet"}}
        self._reads.append(operation)
        return self._step(operation, output)

    def operation(
        self,
        name: str,
        *inputs: Step,
        output: Sequence[Reference] | None = None,
        params: Mapping[str, Any] | None = None,
    ) -> Step:
        """Any operation; without ``output`` it hands on the columns of its first input."""
        given = list(output) if output is not None else list(inputs[0].output or ())
        operation = self._operation(name, inputs, given)
        operation["params"] = _json(params or {})
        self._other.append(operation)
        return self._step(operation, given)

    def schemaless(self, name: str, *inputs: Step) -> Step:
        """An operation that says nothing of its columns, like those of RDDs."""
        operation = self._operation(name, inputs, None)
        self._other.append(operation)
        return Step(operation["id"], None, ())

    def project(self, below: Step, *kept: str, **computed: Reference) -> Step:
        return self._projection("Project", "projectList", below, kept, computed)

    def aggregate(self, below: Step, by: Sequence[str] = (), **computed: Reference) -> Step:
        grouping = [below[name] for name in by]
        return self._projection(
            "Aggregate",
            "aggregateExpressions",
            below,
            by,
            computed,
            {"groupingExpressions": grouping},
        )

    def window(self, below: Step, **computed: Reference) -> Step:
        aliases = {name: self.alias(value, name) for name, value in computed.items()}
        fresh = [self.column(name, alias) for name, alias in aliases.items()]
        params = {"windowExpressions": list(aliases.values())}
        return self.operation(
            "Window", below, output=[*(below.output or ()), *fresh], params=params
        )

    def filter(self, below: Step, condition: Reference) -> Step:
        return self.operation("Filter", below, params={"condition": condition})

    def join(
        self, left: Step, right: Step, condition: Reference | None = None, kind: str = "INNER"
    ) -> Step:
        semi = kind in {"LEFT SEMI", "LEFT ANTI"}
        output = [*(left.output or ()), *(() if semi else right.output or ())]
        params = {"joinType": kind, "condition": condition, "hint": ""}
        return self.operation("Join", left, right, output=output, params=params)

    def union(self, *branches: Step) -> Step:
        """As the agent links it: a synthetic column and function per position."""
        output = []
        for name, row in zip(
            branches[0].names, zip(*(b.output or () for b in branches), strict=True), strict=True
        ):
            function = self.call("union", *row, hint="")
            self._functions[-1]["extra"] = {"synthetic": True}
            output.append(self.column(name, function))
        return self.operation("Union", *branches, output=output)

    def write(
        self,
        below: Step | None,
        target: str = "file:/lake/out",
        *,
        append: bool = False,
        name: str = "InsertIntoHadoopFsRelationCommand",
        params: Mapping[str, Any] | None = None,
    ) -> None:
        self._write = {
            "id": self._next_operation(),
            "name": name,
            "outputSource": target,
            "append": append,
            "childIds": [] if below is None else [below.id],
            "params": _json(params or {}),
            "extra": {"destinationType": "parquet"},
        }

    # --- the result ------------------------------------------------------------------------------

    def document(self, **overrides: Any) -> dict[str, Any]:
        """The JSON body of API 1.2; ``overrides`` replace its top-level fields."""
        assert self._write is not None, "a plan writes something"
        document: dict[str, Any] = {
            "id": PLAN_ID,
            "name": "demo",
            "operations": {"write": self._write, "reads": self._reads, "other": self._other},
            "attributes": self._attributes,
            "expressions": {"functions": self._functions, "constants": self._constants},
            "systemInfo": {"name": "spark", "version": "3.5.9"},
            "agentInfo": {"name": "spline", "version": "2.2.0"},
            "extraInfo": {"appName": "demo", "dataTypes": list(self._types.values())},
        }
        return document | overrides

    def build(self, **overrides: Any) -> ExecutionPlan:
        return read_plan(self.document(**overrides))

    # --- inside ----------------------------------------------------------------------------------

    def _projection(
        self,
        name: str,
        key: str,
        below: Step,
        kept: Sequence[str],
        computed: Mapping[str, Reference],
        params: Mapping[str, Any] | None = None,
    ) -> Step:
        passing = [below[item] for item in kept]
        aliases = {item: self.alias(value, item) for item, value in computed.items()}
        fresh = [self.column(item, alias) for item, alias in aliases.items()]
        listed = {key: [*passing, *aliases.values()], **(params or {})}
        return self.operation(name, below, output=[*passing, *fresh], params=listed)

    def _operation(
        self, name: str, inputs: Sequence[Step], output: Sequence[Reference] | None
    ) -> dict[str, Any]:
        operation: dict[str, Any] = {"id": self._next_operation(), "name": name}
        if inputs:
            operation["childIds"] = [step.id for step in inputs]
        if output is not None:
            operation["output"] = [reference.id for reference in output]
        return operation

    def _step(self, operation: Mapping[str, Any], output: Sequence[Reference]) -> Step:
        names = tuple(self._names.get(reference.id, "?") for reference in output)
        return Step(operation["id"], tuple(output), names)

    def _add(
        self,
        parts: list[dict[str, Any]],
        part: dict[str, Any],
        data_type: str,
        children: Sequence[Reference],
    ) -> None:
        if data_type:
            part["dataType"] = self._type(data_type)
        if children:
            part["childRefs"] = _json(list(children))
        parts.append(part)

    def _next(self, prefix: str, count: int) -> str:
        return f"{prefix}-{self._first + count}"

    def _next_expression(self) -> str:
        return self._next("expr", len(self._functions) + len(self._constants))

    def _next_operation(self) -> str:
        return self._next("op", len(self._reads) + len(self._other))


def _json(value: Any) -> Any:
    """References as the protocol spells them, anywhere in lists and objects."""
    if isinstance(value, Reference):
        return {"__attrId" if value.kind == "attribute" else "__exprId": value.id}
    if isinstance(value, Mapping):
        return {key: _json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json(item) for item in value]
    return value


def _type_of(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    return {int: "int", float: "double", str: "string"}.get(type(value), "")


def a_document(**overrides: Any) -> dict[str, Any]:
    """A small job as the agent posts it: employees with a total, filtered, written as parquet."""
    plan = PlanBuilder()
    employees = plan.read("file:/lake/employees", "id: int", "salary: int", "bonus: int")
    limit = plan.call(">", employees["salary"], plan.literal(1000), symbol=">")
    total = plan.call("add", employees["salary"], employees["bonus"], symbol="+")
    kept = plan.filter(employees, limit)
    plan.write(plan.project(kept, "id", total=total))
    return plan.document(**overrides)


def a_plan(**overrides: Any) -> ExecutionPlan:
    """:func:`a_document` in normal form."""
    return read_plan(a_document(**overrides))
