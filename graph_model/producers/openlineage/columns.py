"""Column edges of one output, from a columnLineage facet or from an entry of a lineage facet.

Spark copies the influences on the whole output (``dataset``) into every field, unless told
otherwise: a FILTER, JOIN, GROUP_BY or SORT that all fields have is stored once, as an influence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from graph_model import labels, naming
from graph_model.producers.openlineage.datasets import Column
from graph_model.producers.openlineage.events.facets import Transformation

#: The most edges of one plan, and the most influences: more would not fit into the graph
#: (``translate.weight``).
MOST_FLOWS: Final = 100_000
_MAX_EXPRESSION_CHARACTERS: Final = 20_000
_LITERAL: Final = re.compile(
    r"'(?P<quoted>[^']{0,64})'"
    r"|(?P<bare>\b\d{4}[-/]\d{2}[-/]\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)?\b)"
)
_INDIRECT: Final = (*labels.COLUMN_INDIRECT_HOWS, *labels.PLAN_INDIRECT_HOWS)


@dataclass(frozen=True, slots=True, order=True)
class ReportedFlow:
    """A column edge. ``masking``: every transformation that the client reports masks the value."""

    source: Column
    target: Column
    kind: str
    how: str
    expression: str
    masking: bool
    origin: str

    @property
    def fields(self) -> str:
        """A client names the columns of an output, not the fields that a source flows into."""
        return naming.WHOLE


@dataclass(frozen=True, slots=True, order=True)
class RunInfluence:
    source: Column
    how: str
    expression: str
    origin: str


@dataclass(slots=True)
class _Texts:
    """The texts of several transformations with one meaning."""

    descriptions: set[str] = field(default_factory=set)
    masking: bool = True

    def add(self, transformation: Transformation) -> None:
        if transformation.description:
            self.descriptions.add(stable_text(transformation.description))
        self.masking = self.masking and transformation.masking

    @property
    def expression(self) -> str:
        joined = labels.BETWEEN_EXPRESSIONS.join(sorted(self.descriptions))
        return joined[:_MAX_EXPRESSION_CHARACTERS]


_UNREPORTED: Final = Transformation(labels.DIRECT, labels.TRANSFORMATION, "", masking=False)
_UNREPORTED_INFLUENCE: Final = Transformation(
    labels.INDIRECT, labels.UNSPECIFIED, "", masking=False
)


@dataclass(slots=True)
class ColumnEdges:
    """Gathers the column edges of one output."""

    origin: str
    _flows: dict[tuple[Column, Column, str, str], _Texts] = field(default_factory=dict)
    _influences: dict[tuple[Column, str], _Texts] = field(default_factory=dict)

    def flow(
        self, source: Column, target: Column, transformations: Iterable[Transformation]
    ) -> None:
        """Add ``source`` -> ``target``; without a reported transformation, as a TRANSFORMATION."""
        for one in tuple(transformations) or (_UNREPORTED,):
            kind, how = kind_and_how(one)
            self._flows.setdefault((source, target, kind, how), _Texts()).add(one)

    def influence(self, source: Column, transformations: Iterable[Transformation]) -> None:
        """Add ``source`` as an influence on the whole output.

        Spark reports both how the influencing expression was computed (DIRECT) and how it decides;
        only the latter is kept here.
        """
        influences = [one for one in transformations if kind_and_how(one)[0] == labels.INDIRECT]
        for one in influences or (_UNREPORTED_INFLUENCE,):
            how = kind_and_how(one)[1]
            self._influences.setdefault((source, how), _Texts()).add(one)

    def also_influenced(self, other: ColumnEdges) -> None:
        """Add the influences of another output."""
        for key, texts in other._influences.items():
            own = self._influences.setdefault(key, _Texts())
            own.descriptions |= texts.descriptions

    def fold(self) -> None:
        """Turn a source that every target column has in the same way into an influence."""
        targets = {target for _, target, _, _ in self._flows}
        shared: dict[tuple[Column, str], list[Column]] = {}
        for source, target, kind, how in self._flows:
            if kind == labels.INDIRECT and how in labels.PLAN_INDIRECT_HOWS:
                shared.setdefault((source, how), []).append(target)
        for (source, how), listed in shared.items():
            if len(listed) == len(targets):
                texts = self._influences.setdefault((source, how), _Texts())
                for target in listed:
                    one = self._flows.pop((source, target, labels.INDIRECT, how))
                    texts.descriptions |= one.descriptions

    def too_many(self) -> str:
        """The name of the bound that is exceeded; "" for none."""
        for count, counted in (
            (len(self._flows), "derivations"),
            (len(self._influences), "influences"),
        ):
            if count > MOST_FLOWS:
                return f"{count:,} {counted}, at most {MOST_FLOWS:,}"
        return ""

    def flows(self) -> tuple[ReportedFlow, ...]:
        return tuple(
            ReportedFlow(*key, texts.expression, texts.masking, self.origin)
            for key, texts in sorted(self._flows.items(), key=_key)
        )

    def influences(self) -> tuple[RunInfluence, ...]:
        return tuple(
            RunInfluence(*key, texts.expression, self.origin)
            for key, texts in sorted(self._influences.items(), key=_key)
        )


def _key(item: tuple[tuple[object, ...], _Texts]) -> tuple[object, ...]:
    return item[0]


def kind_and_how(one: Transformation) -> tuple[str, str]:
    """DIRECT or INDIRECT, and how; words that the specification does not define are kept."""
    if one.type == labels.INDIRECT or (not one.type and one.subtype in _INDIRECT):
        return labels.INDIRECT, one.subtype or labels.UNSPECIFIED
    return labels.DIRECT, one.subtype or labels.TRANSFORMATION


def stable_text(text: str) -> str:
    """Without session counters and with dates masked, so that runs of one logic
    have equal texts.
    """
    return _LITERAL.sub(_masked, naming.stable_text(text))


def _masked(found: re.Match[str]) -> str:
    quoted = found["quoted"]
    if quoted is None:
        return str(naming.mask_literal(found["bare"], None))
    return f"'{naming.mask_literal(quoted, None)}'"
