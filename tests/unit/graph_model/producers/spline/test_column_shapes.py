"""Column lineage of whole plans, one folder of fixtures per shape.

``fixtures/shapes/NAME/plan.json`` is a plan as a producer sends it; ``expected.json`` says how its
job means, written by hand from that meaning:

- ``columns``: per output column the source columns, ``[uri, path, how]``. DIRECT ones are IDENTITY
  (renamed at most), TRANSFORMATION, or AGGREGATION once an aggregate function was crossed;
  INDIRECT ones are WINDOW (partition and order of a window) or CONDITIONAL (the conditions in CASE,
  IF or FILTER (WHERE ...)). count(*), rankings and literals have no direct source.
- ``influences``: columns that decide which rows there are, or their order: FILTER, JOIN, GROUP_BY,
  SORT. DISTINCT groups by all its columns; EXCEPT and INTERSECT filter by the columns of both
  sides. Through a computed column they reach everything that it was computed from.
- ``gaps``: the codes of the parts that the document does not tell.
- ``expressions``: texts, for columns where there is only one way to write them.

A path is the column's name and the fields picked from it, joined with dots; a part that has a dot
itself is back-quoted. A read of two URIs stands for both.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from graph_model.producers.spline import column_derivation, documents

SHAPES: Final = Path(__file__).parents[4] / "fixtures" / "shapes"
NAMES: Final = sorted(path.name for path in SHAPES.iterdir() if path.is_dir())
DIRECT: Final = {"IDENTITY", "TRANSFORMATION", "AGGREGATION"}
INDIRECT: Final = {"WINDOW", "CONDITIONAL"}
INFLUENCES: Final = {"FILTER", "JOIN", "GROUP_BY", "SORT"}


@dataclass(frozen=True)
class Lineage:
    """Lines of text, so that two of them can be shown side by side."""

    columns: dict[str, set[str]]
    influences: set[str]
    gaps: set[str]
    expressions: dict[str, set[str]] = field(default_factory=dict)


def read_json(name: str, file: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((SHAPES / name / file).read_text(encoding="utf-8"))
    return document


def expected_lineage(name: str) -> Lineage:
    expected = read_json(name, "expected.json")
    return Lineage(
        columns={
            column: {_line(*source) for kind in ("direct", "indirect") for source in sources[kind]}
            for column, sources in expected["columns"].items()
        },
        influences={_line(*source) for source in expected["influences"]},
        gaps=set(expected["gaps"]),
        expressions={column: {text} for column, text in expected["expressions"].items()},
    )


def derived_lineage(plan: documents.ExecutionPlan) -> Lineage:
    derived = column_derivation.derive(plan)
    names = [plan.attributes[output].name for output in derived.outputs]
    assert len(set(names)) == len(names), f"a shape has unique output names, not {names}"
    lines: dict[str, set[str]] = {name: set() for name in names}
    texts: dict[str, set[str]] = {name: set() for name in names}
    for derivation in derived.derivations:
        expected_kind = "DIRECT" if derivation.how in DIRECT else "INDIRECT"
        assert str(derivation.kind) == expected_kind, f"{derivation.how} is {expected_kind}"
        for uri, path in _sources(plan, derivation.source, derivation.source_path):
            lines[names[derivation.output]].add(_line(uri, path, derivation.how))
        if derivation.how in DIRECT:
            texts[names[derivation.output]].add(derivation.expression)
    return Lineage(
        columns=lines,
        influences={
            _line(uri, path, influence.how)
            for influence in derived.influences
            for uri, path in _sources(plan, influence.source, influence.source_path)
        },
        gaps={gap.code for gap in derived.gaps},
        expressions=texts,
    )


def assert_lineage(expected: Lineage, derived: Lineage) -> None:
    """One assertion in the words of the data sets; a failure prints both sides."""
    report: list[str] = []
    for column in sorted(expected.columns.keys() | derived.columns.keys()):
        report += _difference(column, expected.columns.get(column), derived.columns.get(column))
    report += _difference("influences", expected.influences, derived.influences)
    report += _difference("gaps", expected.gaps, derived.gaps)
    for column, texts in expected.expressions.items():
        report += _difference(f"text of {column}", texts, derived.expressions[column])
    assert not report, "\n" + "\n".join(report)


def _difference(subject: str, expected: set[str] | None, derived: set[str] | None) -> list[str]:
    if expected == derived:
        return []
    if expected is None or derived is None:
        fault = "not expected" if expected is None else "missing"
        return [f"{subject}: {fault} as an output column"]
    return [
        f"{subject}:",
        *(f"  both     {line}" for line in sorted(expected & derived)),
        *(f"  expected {line}" for line in sorted(expected - derived)),
        *(f"  derived  {line}" for line in sorted(derived - expected)),
    ]


def _sources(
    plan: documents.ExecutionPlan, attribute: str, path: Iterable[str]
) -> list[tuple[str, str]]:
    reads = [read for read in plan.reads if attribute in (read.output or ())]
    assert reads, f"{attribute} belongs to no read"
    text = ".".join(_part(part) for part in (plan.attributes[attribute].name, *path))
    return [(uri, text) for read in reads for uri in read.sources]


def _part(name: str) -> str:
    return f"`{name}`" if "." in name else name


def _line(uri: str, path: str, how: str) -> str:
    return f"{how} {uri}#{path}"


@pytest.mark.parametrize("name", NAMES)
def test_the_columns_of_a_plan_come_from_where_its_job_takes_them(name: str) -> None:
    plan = documents.read_plan(read_json(name, "plan.json"))
    assert_lineage(expected_lineage(name), derived_lineage(plan))


@pytest.mark.parametrize("name", NAMES)
def test_an_expectation_speaks_of_columns_that_its_plan_reads(name: str) -> None:
    plan = documents.read_plan(read_json(name, "plan.json"))
    expected = read_json(name, "expected.json")
    known = {
        (uri, _part(plan.attributes[attribute].name))
        for read in plan.reads
        for uri in read.sources
        for attribute in read.output or ()
    }
    assert set(expected) == {
        "meaning",
        "target",
        "columns",
        "influences",
        "expressions",
        "gaps",
    }
    assert expected["target"] == plan.write.target
    for sources in expected["columns"].values():
        _assert_known(sources["direct"], DIRECT, known)
        _assert_known(sources["indirect"], INDIRECT, known)
    _assert_known(expected["influences"], INFLUENCES, known)
    assert expected["expressions"].keys() <= expected["columns"].keys()


def _assert_known(sources: list[list[str]], hows: set[str], known: set[tuple[str, str]]) -> None:
    for uri, path, how in sources:
        column = path if path.startswith("`") else path.split(".")[0]
        assert (uri, column) in known
        assert how in hows


def test_a_wrong_expectation_is_reported_with_both_sides() -> None:
    expected = Lineage({"a": {"IDENTITY u#x"}}, {"FILTER u#x"}, set())
    derived = Lineage({"a": {"IDENTITY u#y"}}, {"FILTER u#x"}, {"dangling"})
    with pytest.raises(AssertionError) as failure:
        assert_lineage(expected, derived)
    assert "expected IDENTITY u#x" in str(failure.value)
    assert "derived  IDENTITY u#y" in str(failure.value)
    assert "derived  dangling" in str(failure.value)
