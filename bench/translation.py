"""CPU time of reading and translating plans, by shape and size.

    python -m bench.translation                  all shapes at their usual sizes
    python -m bench.translation accumulate 2000 6000

One line a plan: the size of its JSON, CPU milliseconds of ``json.loads`` (the floor: whoever
accepts the document pays it), of reading (``read_plan``) and of translating (``translate_plan``),
the latter two together as a multiple of the floor, the facts that came out and the peak memory
that Python allocated in a further, untimed run. CPU time of this process, the best of three.
"""

from __future__ import annotations

import argparse
import json
import time
import tracemalloc
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from graph_model.facts import Facts
from graph_model.producers.spline.documents import read_plan
from graph_model.producers.spline.plan_logic import PlanDocument
from graph_model.producers.spline.plans import translate_plan

JsonValue = dict[str, Any]
_PLAN_ID: Final = "7f2f3c52-5a0f-5c0e-9f0e-1c2b3a4d5e6f"
_TYPE: Final = "e63adadc-648a-56a0-9424-3289858cf0bb"
_ROUNDS: Final = 3

_Result = TypeVar("_Result")


@dataclass
class Document:
    """A plan under construction, spelled as the Spline agent spells it."""

    attributes: list[JsonValue] = field(default_factory=list)
    functions: list[JsonValue] = field(default_factory=list)
    constants: list[JsonValue] = field(default_factory=list)
    reads: list[JsonValue] = field(default_factory=list)
    other: list[JsonValue] = field(default_factory=list)

    def column(self, name: str, *children: JsonValue) -> str:
        identifier = f"attr-{len(self.attributes)}"
        column = {"id": identifier, "dataType": _TYPE, "name": name}
        self.attributes.append({**column, "childRefs": list(children)} if children else column)
        return identifier

    def call(self, name: str, class_name: str, hint: str, *children: JsonValue) -> JsonValue:
        identifier = f"expr-{len(self.functions) + len(self.constants)}"
        extra = {"simpleClassName": class_name, "_typeHint": hint}
        self.functions.append(
            {"id": identifier, "dataType": _TYPE, "childRefs": list(children), "extra": extra}
            | {"name": name, "params": {"evalMode": "LEGACY"}}
        )
        return {"__exprId": identifier}

    def literal(self, value: object) -> JsonValue:
        identifier = f"expr-{len(self.functions) + len(self.constants)}"
        extra = {"simpleClassName": "expressions.Literal", "_typeHint": "expr.Literal"}
        self.constants.append({"id": identifier, "dataType": _TYPE, "extra": extra, "value": value})
        return {"__exprId": identifier}

    def plus(self, left: JsonValue, right: JsonValue) -> JsonValue:
        return self.call("add", "expressions.Add", "expr.Binary", left, right)

    def alias(self, name: str, child: JsonValue) -> JsonValue:
        return self.call(name, "expressions.Alias", "expr.Alias", child)

    def read(self, table: str, *columns: str) -> tuple[str, list[str]]:
        output = [self.column(column) for column in columns]
        identifier = self._operation_id()
        self.reads.append(
            {"inputSources": [f"s3://lake/{table}"], "id": identifier, "name": "LogicalRelation"}
            | {"output": output, "params": {}, "extra": {"sourceType": "parquet"}}
        )
        return identifier, output

    def step(self, name: str, inputs: list[str], output: list[str], **params: object) -> str:
        identifier = self._operation_id()
        self.other.append(
            {"id": identifier, "name": name, "childIds": inputs, "output": output}
            | {"params": params, "extra": {}}
        )
        return identifier

    def project(self, below: str, output: list[str]) -> str:
        return self.step("Project", [below], output, projectList=[of(name) for name in output])

    def _operation_id(self) -> str:
        return f"op-{1 + len(self.reads) + len(self.other)}"

    def written(self, below: str) -> JsonValue:
        write = {"outputSource": "s3://lake/out", "append": False, "id": "op-0"}
        command = {"name": "InsertIntoHadoopFsRelationCommand", "childIds": [below]}
        return {
            "id": _PLAN_ID,
            "name": "bench",
            "operations": {"write": write | command, "reads": self.reads, "other": self.other},
            "attributes": self.attributes,
            "expressions": {"functions": self.functions, "constants": self.constants},
            "systemInfo": {"name": "spark", "version": "3.5.9"},
            "agentInfo": {"name": "spline", "version": "2.2.0"},
            "extraInfo": {"dataTypes": [{"id": _TYPE, "name": "bigint", "_typeHint": "dt.Simple"}]},
        }


def of(attribute: str) -> JsonValue:
    return {"__attrId": attribute}


# --- shapes --------------------------------------------------------------------------------------


def warehouse(size: int) -> JsonValue:
    """A TPC-DS-like query: 150 operations, 700 attributes and 5,000 output references at 150.

    A star join, filters, computed columns, one aggregate and a sort.
    """
    plan = Document()
    dimensions = max(size // 10, 1)
    top, columns = plan.read("sales", *(f"ss_{place}" for place in range(20)))
    for number in range(dimensions):
        table, theirs = plan.read(f"dim{number}", *(f"d{number}_{place}" for place in range(30)))
        kept = theirs[:2]
        table = plan.project(table, kept)
        condition = plan.call(
            "equalto", "expressions.EqualTo", "expr.Binary", of(columns[number % 20]), of(kept[0])
        )
        both = [*columns, *kept]
        top = plan.step("Join", [top, table], both, condition=condition, joinType="INNER")
        columns = both
    for number in range(size - 3 * dimensions - 4):
        if number % 2:
            condition = plan.call(
                "isnotnull", "expressions.IsNotNull", "expr.Generic", of(columns[number % 7])
            )
            top = plan.step("Filter", [top], columns, condition=condition)
            continue
        total = plan.plus(of(columns[number % 11]), plan.plus(of(columns[3]), plan.literal(number)))
        columns = [*columns[1:], plan.column(f"c{number}", plan.alias(f"c{number}", total))]
        top = plan.project(top, columns)
    return plan.written(_reported(plan, top, columns))


def _reported(plan: Document, top: str, columns: list[str]) -> str:
    """GROUP BY and ORDER BY."""
    keys = columns[:10]
    sums = []
    for column in columns[10:]:
        summed = plan.call("sum", "aggregate.Sum", "expr.Generic", of(column))
        whole = plan.call(
            "aggregateexpression", "aggregate.AggregateExpression", "expr.Generic", summed
        )
        sums.append(plan.column(f"sum_{column}", plan.alias(f"sum_{column}", whole)))
    output = [*keys, *sums]
    grouping = [of(key) for key in keys]
    top = plan.step("Aggregate", [top], output, groupingExpressions=grouping)
    order = [{"expression": of(key), "direction": "ASC"} for key in keys]
    return plan.step("Sort", [top], output, order=order)


def with_column(size: int) -> JsonValue:
    """A loop of ``withColumn`` that writes every column anew: 50,000 expressions, 12 MB at 300."""
    plan = Document()
    top, columns = plan.read("wide", *(f"c{place}" for place in range(10)))
    names = [f"c{place}" for place in range(10)]
    for number in range(size):
        added = plan.plus(of(columns[-1]), plan.literal(number))
        renewed = [
            plan.column(name, plan.alias(name, of(old)))
            for name, old in zip(names, columns, strict=True)
        ]
        names.append(f"n{number}")
        columns = [*renewed, plan.column(names[-1], plan.alias(names[-1], added))]
        top = plan.step("Project", [top], columns)
    return plan.written(top)


def accumulate(size: int) -> JsonValue:
    """Each step joins one more table and adds its column to a total; the total is written."""
    plan = Document()
    top, (total, *_) = plan.read("t", "c")
    for number in range(size):
        table, (added,) = plan.read(f"t{number}", f"r{number}")
        top = plan.step("Join", [top, table], [total, added], joinType="CROSS")
        total = plan.column("c", plan.alias("c", plan.plus(of(total), of(added))))
        top = plan.project(top, [total])
    return plan.written(top)


def accumulate_columns(size: int) -> JsonValue:
    """Like ``accumulate``, from the columns of one table."""
    plan = Document()
    top, columns = plan.read("t", *(f"r{place}" for place in range(size + 1)))
    total = columns[0]
    for added in columns[1:]:
        total = plan.column("c", plan.alias("c", plan.plus(of(total), of(added))))
        top = plan.project(top, [total])
    return plan.written(top)


def filtered(size: int) -> JsonValue:
    """Like ``accumulate``, with a filter over the total after each step."""
    plan = Document()
    top, (total, *_) = plan.read("t", "c")
    for number in range(size):
        table, (added,) = plan.read(f"t{number}", f"r{number}")
        condition = plan.call("equalto", "expressions.EqualTo", "expr.Binary", of(total), of(added))
        top = plan.step("Join", [top, table], [total, added], joinType="INNER", condition=condition)
        total = plan.column("c", plan.alias("c", plan.plus(of(total), of(added))))
        top = plan.project(top, [total])
    return plan.written(top)


def staircase(size: int) -> JsonValue:
    """Every running total is written: the answer itself is the square of the size."""
    plan = Document()
    top, columns = plan.read("t", *(f"r{place}" for place in range(size)))
    totals = [columns[0]]
    for number, added in enumerate(columns[1:]):
        total = plan.plus(of(totals[-1]), of(added))
        totals.append(plan.column(f"t{number}", plan.alias(f"t{number}", total)))
    return plan.written(plan.project(top, totals))


def chain(size: int) -> JsonValue:
    """One column through ``size`` steps, each of them a function."""
    plan = Document()
    top, (column, *_) = plan.read("t", "c")
    for number in range(size):
        column = plan.column("c", plan.alias("c", plan.plus(of(column), plan.literal(number))))
        top = plan.project(top, [column])
    return plan.written(top)


SHAPES: Final[Mapping[str, tuple[Callable[[int], JsonValue], tuple[int, ...]]]] = {
    "warehouse": (warehouse, (150, 600)),
    "with_column": (with_column, (60, 300)),
    "chain": (chain, (2_000, 8_000)),
    "accumulate": (accumulate, (1_000, 2_000, 4_000)),
    "accumulate_columns": (accumulate_columns, (1_000, 2_000, 6_000)),
    "filtered": (filtered, (250, 500, 1_000, 2_000)),
    "staircase": (staircase, (250, 500, 1_000, 2_000)),
}


# --- measuring -----------------------------------------------------------------------------------


def measure(body: bytes) -> str:
    """One line of numbers."""
    floor, parsed = _timed(lambda: json.loads(body))
    reading, plan = _timed(lambda: read_plan(parsed))
    document = PlanDocument(plan, "", "bench", "1.2")
    try:
        translating, facts = _timed(lambda: _facts(document))
    except Exception as error:
        return f"{len(body) / 1e6:7.2f} MB  {type(error).__name__}: {error}"
    ratio = (reading + translating) / floor
    elements = facts.size + len(facts.rows)
    return (
        f"{len(body) / 1e6:7.2f} MB {floor:8.1f} {reading:8.1f} {translating:10.1f} ms"
        f" {ratio:7.1f}x {elements:9,} facts {_peak(document):8.1f} MB"
    )


def _facts(document: PlanDocument) -> Facts:
    return translate_plan(document)[0]


def _timed(work: Callable[[], _Result]) -> tuple[float, _Result]:
    """The best CPU time in milliseconds; slow work is measured once."""
    best, result = float("inf"), None
    for _ in range(_ROUNDS):
        start = time.process_time()
        result = work()
        best = min(best, (time.process_time() - start) * 1_000)
        if best > 1_000:
            break
    assert result is not None
    return best, result


def _peak(document: PlanDocument) -> float:
    tracemalloc.start()
    try:
        _facts(document)
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("shape", nargs="?", choices=sorted(SHAPES))
    parser.add_argument("sizes", nargs="*", type=int)
    options = parser.parse_args()
    print(f"{'shape':20} {'size':>6} {'JSON':>10} {'loads':>8} {'read':>8} {'translate':>13}")
    for name, (build, sizes) in SHAPES.items():
        if options.shape in (None, name):
            for size in options.sizes or sizes:
                body = json.dumps(build(size)).encode()
                print(f"{name:20} {size:6} {measure(body)}", flush=True)


if __name__ == "__main__":
    main()
