"""From a plan to its column lineage: see the package's docstring for the rules.

Each attribute and expression that the outputs or the conditions need is valued once, inputs
before their users, so the cost is linear in the plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from graph_model import labels
from graph_model.gaps import FIELDS_TOO_MANY, TOO_LARGE
from graph_model.producers.spline.columns.fields import (
    Fields,
    FieldsOfOutputs,
    FlowKey,
    TooManyFields,
)
from graph_model.producers.spline.columns.influences import RowCondition, statements
from graph_model.producers.spline.columns.valuation import TooLarge, Valuation
from graph_model.producers.spline.columns.values import (
    CONDITIONAL,
    HOWS,
    TRANSFORMATION,
    Flows,
    all_sources,
    as_influence,
    raised,
    union_flows,
)
from graph_model.producers.spline.documents import ExecutionPlan, Operation, Reference
from graph_model.producers.spline.expressions.commands import ColumnAssignment, readable
from graph_model.producers.spline.expressions.definitions import (
    AMBIGUOUS_OUTPUT,
    MERGE,
    OPAQUE_RDD,
    UNKNOWN_OUTPUT,
    Definitions,
    Gap,
)
from graph_model.producers.spline.expressions.properties import value_text
from graph_model.producers.spline.expressions.text import Renderer, shortened

MOST_DERIVATIONS: Final = 100_000
"""The limit for one plan: if each column depends on all, their number grows with the square, and
each derivation is an edge."""
MOST_INFLUENCES: Final = 200_000
"""Pairs of a column and a condition; those of one column are one edge."""


class Derivation(NamedTuple):
    """A written column comes from a read one.

    ``output`` is the column's place in :attr:`PlanColumns.outputs`; ``source`` the id of the read
    attribute and ``source_path`` the fields picked below it, () for the whole column. ``kind`` is
    DIRECT with ``how`` IDENTITY, TRANSFORMATION or AGGREGATION, or INDIRECT with WINDOW or
    CONDITIONAL. ``expression`` is the written column in terms of read columns, as SQL-like text.
    ``fields`` are those of a written struct that the source flows into (``naming.fields``); ():
    the whole column.
    """

    output: int
    source: str
    source_path: tuple[str, ...]
    kind: str
    how: str
    expression: str
    fields: Fields = ()


class Influence(NamedTuple):
    """A read column decides about the whole output; ``how`` FILTER, JOIN, GROUP_BY or SORT.

    ``expression`` is the condition (the conjunct that the column stands in), the grouping or the
    order, in terms of read columns.
    """

    source: str
    source_path: tuple[str, ...]
    how: str
    expression: str


@dataclass(frozen=True, slots=True)
class PlanColumns:
    """``outputs`` are the attribute ids written, in order; () when the document
    does not list them.
    """

    outputs: tuple[str, ...]
    derivations: tuple[Derivation, ...]
    influences: tuple[Influence, ...]
    gaps: tuple[Gap, ...]


def derive(plan: ExecutionPlan, renderer: Renderer | None = None) -> PlanColumns:
    """The column lineage of a plan. Pure; never raises because a document is incomplete.

    A plan with more than MOST_DERIVATIONS derivations, or MOST_INFLUENCES influences, gets no
    column lineage and the gap TOO_LARGE, because half of a lineage looks complete.
    """
    return _Deriver(plan, renderer if renderer is not None else Renderer(plan)).derive()


class _Deriver:
    def __init__(self, plan: ExecutionPlan, renderer: Renderer) -> None:
        self.plan = plan
        self.renderer = renderer
        self.definitions: Definitions = renderer.definitions
        self.valuation = Valuation(plan, self.definitions)
        self.gaps: dict[Gap, None] = {}
        self.influencing: dict[tuple[str, str], int] = {}  # (how, text) => the columns in it

    def derive(self) -> PlanColumns:
        outputs = self._outputs()
        derivations: tuple[Derivation, ...] = ()
        influences: tuple[Influence, ...] = ()
        try:
            self._count(outputs)
            derivations = tuple(self._derivations(outputs))
            influences = tuple(self._influences())
        except TooLarge as error:
            self.gaps[Gap(TOO_LARGE, str(error))] = None
        gaps = tuple(sorted({**self.gaps, **self.valuation.gaps}))
        return PlanColumns(outputs, derivations, influences, gaps)

    def _count(self, outputs: Sequence[str]) -> None:
        """Raises TooLarge before pairs are listed: the sets are small, the
        lists of pairs are not.
        """
        derivations = sum(
            sum(map(int.bit_count, self.valuation.flows(_attribute(output)))) for output in outputs
        )
        check_count(derivations, MOST_DERIVATIONS, "derivations")
        for item in statements(self.plan, self.definitions, self.renderer):
            key = (item.how, item.text)
            self.influencing[key] = self.influencing.get(key, 0) | self._bits(item)
        influences = sum(map(int.bit_count, self.influencing.values()))
        check_count(influences, MOST_INFLUENCES, "influences")

    def _outputs(self) -> tuple[str, ...]:
        """The output of the write's input; () with a gap where the document does not list it."""
        known = self.definitions.outputs[self.plan.write.id]
        if known is None and self.plan.reads:
            self.gaps[self._without_output(self.plan.write)] = None
        return tuple(known or ())

    def _without_output(self, operation: Operation) -> Gap:
        """The first operation below with a schema, skipping operations without one."""
        while True:
            inputs = [self.definitions.operations[child] for child in operation.children]
            schemas = [self.definitions.outputs[item.id] for item in inputs]
            if sum(schema is not None for schema in schemas) > 1:
                return Gap(AMBIGUOUS_OUTPUT, self.definitions.place(operation))
            silent = [item for item in inputs if self.definitions.outputs[item.id] is None]
            if "RDD" in operation.name:
                return Gap(OPAQUE_RDD, self.definitions.place(operation))
            if not silent:
                return Gap(UNKNOWN_OUTPUT, self.definitions.place(operation))
            operation = silent[0]

    # --- derivations -----------------------------------------------------------------------------

    def _derivations(self, outputs: Sequence[str]) -> Iterator[Derivation]:
        updates = self._updates(len(outputs))
        reached = self._fields(outputs)
        for place, identifier in enumerate(outputs):
            reference = _attribute(identifier)
            flows = self.valuation.flows(reference)
            text = self.renderer.text(reference, inline=True)
            fields = reached.get(place, {})
            if updates:
                kept = flows
                flows, text = self._updated(flows, text, updates[place])
                fields = fields if flows == kept else {}
            yield from self._spelled(place, flows, text, fields)

    def _fields(self, outputs: Sequence[str]) -> dict[int, dict[FlowKey, Fields]]:
        """Per output that is a struct the fields that its sources flow into; none where all
        together are too many: half of the fields looks complete.
        """
        reading = FieldsOfOutputs(self.plan, self.valuation.sources)
        try:
            return {
                place: found
                for place, output in enumerate(outputs)
                if (found := reading.of(output, self.valuation.value(_attribute(output))))
            }
        except TooManyFields as error:
            self.gaps[Gap(FIELDS_TOO_MANY, str(error))] = None
            return {}

    def _spelled(
        self, place: int, flows: Flows, text: str, fields: Mapping[FlowKey, Fields]
    ) -> Iterator[Derivation]:
        for number, bits in enumerate(flows):
            kind = labels.DIRECT if number < CONDITIONAL else labels.INDIRECT
            for source, path in self.valuation.sources.of(bits):
                reached = fields.get((number, (source, path)), ())
                yield Derivation(place, source, path, kind, HOWS[number], text, reached)

    def _updates(self, count: int) -> list[ColumnAssignment]:
        """Per output the new value in an UPDATE; [] for any other write."""
        write = self.plan.write
        if "updateExpressions" not in write.params:
            return []
        found = self.definitions.commands.of(write).updated()
        if len(found) != count:
            self.gaps[Gap(MERGE, f"{write.name}: {len(found)} expressions, {count} columns")] = None
            return []
        return found

    def _updated(self, kept: Flows, name: str, set_to: ColumnAssignment) -> tuple[Flows, str]:
        """Rows for which the condition is false keep their value."""
        if not set_to.complete:
            self.gaps[Gap(MERGE, f"{self.plan.write.name}: {name}")] = None
        if not set_to.changed and [self.valuation.flows(item) for item in set_to.same] == [kept]:
            return kept, name
        same = [self.valuation.flows(item) for item in set_to.same]
        changed = [raised(self.valuation.flows(r), TRANSFORMATION) for r in set_to.changed]
        influences = [as_influence(self.valuation.flows(r), CONDITIONAL) for r in set_to.conditions]
        return union_flows((kept, *same, *changed, *influences)), self._chosen(name, set_to)

    def _chosen(self, name: str, set_to: ColumnAssignment) -> str:
        """``CASE WHEN dept = HR THEN salary + bonus ELSE salary END``; without a condition the new
        value.
        """
        texts = (self.renderer.text(reference, inline=True) for reference in set_to.same)
        new = set_to.text or ", ".join(texts) or "?"
        condition = value_text(self.plan.write.params.get("condition"), self.renderer)
        if condition:
            new = f"CASE WHEN {readable(condition)} THEN {new} ELSE {name} END"
        return shortened(new, self.renderer.limit)

    # --- influences ------------------------------------------------------------------------------

    def _influences(self) -> Iterator[Influence]:
        for (how, text), bits in self.influencing.items():
            for source, path in self.valuation.sources.of(bits):
                yield Influence(source, path, how, text)

    def _bits(self, statement: RowCondition) -> int:
        bits = 0
        for reference in statement.references:
            bits |= all_sources(self.valuation.flows(reference))
        return bits


def _attribute(identifier: str) -> Reference:
    return Reference("attribute", identifier)


def check_count(count: int, most: int, counted: str) -> None:
    """Raises TooLarge for more than ``most`` derivations, or influences."""
    if count > most:
        raise TooLarge(f"{count:,} {counted}, at most {most:,}")
