"""``/graph/columns``: the columns of all datasets, and one column with its definition.

The definition comes from the derivations of the plans whose writes are visible at the time; it is
not stored.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from graph_model import labels
from graph_model.answers.nodes import dataset_references, open_node
from graph_model.answers.sources import Sources, of_one_state
from graph_model.errors import NotFound
from graph_model.facts import ColumnRow
from graph_model.lineage import ColumnDerivation
from graph_model.naming.columns import ColumnSpelling, read_spellings, spell_column
from graph_model.picture.view import (
    LINEAGE,
    SCHEMA,
    DatasetReference,
    JobReference,
    dataset_reference,
    job_reference,
)
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.pages import ColumnOrder, Page

# Definitions of columns in words: pure, bounded, the same for the same lineage.
#
#     sum(price * quantity)  =>  the sum of price times quantity
#     revenue is the sum of price times quantity from orders, per day, where status = 'paid'.
#
# An expression's text is the one in lineage (``expressions`` renders it, or a producer wrote it):
# near to Spark's SQL, with a few functions of our own such as ``union(a, b)``. A part without words
# here stays as SQL; a text that is unreadable, too deep or too long has no words at all.

_MOST_LISTED: Final = 6
_MOST_CONDITIONS: Final = 3
_MOST_CHARACTERS: Final = 800
_OWN: Final = (labels.WINDOW, labels.CONDITIONAL)


@dataclass(frozen=True, slots=True, order=True)
class Source:
    """A column that another one derives from (DIRECT, WINDOW, CONDITIONAL), or that decides over
    its rows (FILTER, JOIN, GROUP_BY, SORT). ``dataset`` is the friendly name of its table.
    """

    dataset: str
    column: str
    kind: str
    how: str
    expression: str


def define_column(name: str, sources: Iterable[Source]) -> str:
    """A sentence about the column, without a full stop; at most 800 characters."""
    known = sorted(set(sources))
    own = [source for source in known if source.kind == labels.DIRECT]
    own = own or [source for source in known if source.how in _OWN]
    rows = [source for source in known if source.kind != labels.DIRECT and source.how not in _OWN]
    value = _value(own) if own else "the same in every row or a number of rows: no column gives it"
    sentence = f"{name} is {value}{_conditions(own, rows)}"
    if len(sentence) <= _MOST_CHARACTERS:
        return sentence
    return sentence[: _MOST_CHARACTERS - 1].rstrip() + "…"


def _value(own: Sequence[Source]) -> str:
    texts = sorted({source.expression for source in own if source.expression})
    phrases = [words for text in texts if (words := _wording(text, own)) is not None]
    named = {source.column for source in own}
    if texts and len(phrases) == len(texts) and not named.issuperset(texts):
        return f"{listed(phrases, 'or')} from {_tables(own)}{_unchanged(own)}"
    return f"{_computed(own)}{_unchanged(own)}"


def _wording(text: str, own: Sequence[Source]) -> str | None:
    """The expression in words, or as written where it is the name of the one source column."""
    return text if text in {source.column for source in own} else phrase(text)


def _unchanged(own: Sequence[Source]) -> str:
    return ", unchanged" if {source.how for source in own} == {labels.IDENTITY} else ""


def _computed(own: Sequence[Source]) -> str:
    """Without an expression: the source columns, by table."""
    tables: dict[str, list[str]] = {}
    for source in own:
        columns = tables.setdefault(source.dataset, [])
        if source.column not in columns:
            columns.append(source.column)
    parts = [f"{_some(columns)} of {dataset}" for dataset, columns in tables.items()]
    hows = {source.how for source in own}
    if hows == {labels.IDENTITY}:
        return listed(parts, "or")
    made = "an aggregate of" if labels.AGGREGATION in hows else "computed from"
    return f"{made} {_some(parts)}"


def _some(parts: Sequence[str]) -> str:
    """The first few parts, and the number of the others."""
    if len(parts) <= _MOST_LISTED:
        return listed(parts)
    return listed([*parts[:_MOST_LISTED], f"{len(parts) - _MOST_LISTED} more"])


def _tables(sources: Iterable[Source]) -> str:
    return _some(list(dict.fromkeys(source.dataset for source in sources)))


def _conditions(own: Sequence[Source], rows: Sequence[Source]) -> str:
    """``, per day, matched on a = b, where status = 'paid'``."""
    text = ""
    if not own or labels.AGGREGATION in {source.how for source in own}:
        groups = [
            key for condition in _texts(rows, labels.GROUP_BY) for key in _split(condition, ",")
        ]
        if groups:
            text += f", per {_some(list(dict.fromkeys(groups)))}"
    joins, filters = _texts(rows, labels.JOIN), _texts(rows, labels.FILTER)
    if joins:
        text += f", matched on {_first(joins)}"
    if filters:
        text += f", where {_first(filters)}"
    return text


def _texts(rows: Iterable[Source], how: str) -> list[str]:
    """The conditions of one kind; several of one edge are separated by ``|``."""
    parts = [
        part for source in rows if source.how == how for part in _split(source.expression, "|")
    ]
    return list(dict.fromkeys(parts))


def _first(texts: Sequence[str]) -> str:
    shown = [*texts[:_MOST_CONDITIONS]]
    more = len(texts) - len(shown)
    return " and ".join([*shown, *([f"{more} more"] if more else [])])


def _split(text: str, separator: str) -> list[str]:
    """Split at separators outside quotes and brackets: ``a, f(b, c)`` => ``a``, ``f(b, c)``."""
    parts, current, quote, depth = [], "", "", 0
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "'`\"":
            quote = character
        elif character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif character == separator and depth <= 0:
            parts.append(current)
            current = ""
            continue
        current += character
    return [part.strip() for part in (*parts, current) if part.strip()]


_MOST_READ: Final = 600
_MOST_BRACKETS: Final = 12
_MOST_DEPTH: Final = 20
_DIALECT: Final = "spark"

_OPERATORS: Final[dict[type[exp.Expression], str]] = {
    exp.Add: "plus", exp.Sub: "minus", exp.Mul: "times", exp.Div: "divided by",
    exp.IntDiv: "divided by", exp.Mod: "modulo", exp.DPipe: "followed by",
}  # fmt: skip
_OF: Final[dict[type[exp.Expression], str]] = {
    exp.Sum: "the sum of", exp.Avg: "the average of", exp.ArrayAgg: "the list of",
    exp.ArrayUniqueAgg: "the set of",
    exp.ApproxDistinct: "about the number of distinct",
    exp.Stddev: "the standard deviation of", exp.Variance: "the variance of",
    exp.Length: "the length of", exp.Abs: "the absolute value of", exp.MD5: "a hash of",
    exp.SHA: "a hash of",
    exp.SHA2: "a hash of", exp.Explode: "each element of", exp.Median: "the median of",
}  # fmt: skip
_AFTER: Final[dict[type[exp.Expression], str]] = {
    exp.Upper: "in upper case", exp.Lower: "in lower case", exp.Trim: "trimmed",
    exp.TsOrDsToDate: "as a date",
}  # fmt: skip
_ONE_OF: Final[dict[type[exp.Expression], str]] = {
    exp.Min: "the smallest", exp.Max: "the largest", exp.First: "the first", exp.Last: "the last",
}  # fmt: skip
_PART_OF_DATE: Final[dict[type[exp.Expression], str]] = {
    exp.Year: "the year of", exp.Month: "the month of", exp.Day: "the day of",
}  # fmt: skip
_NAMED: Final = {
    "rank": "the rank", "row_number": "the row number", "dense_rank": "the dense rank",
}  # fmt: skip


class _Wordless(Exception):
    """The expression nests too deeply to be put into words."""


def phrase(expression: str) -> str | None:
    """``sum(price * quantity)`` => ``the sum of price times quantity``; None for an expression that
    has no wording.
    """
    if len(expression) > _MOST_READ or expression.count("(") > _MOST_BRACKETS:
        return None
    try:
        return _words(parse_one(expression, read=_DIALECT), 0)
    except (SqlglotError, _Wordless, RecursionError, AttributeError, TypeError, ValueError):
        return None


def _words(node: Any, depth: int) -> str:
    if depth > _MOST_DEPTH:
        raise _Wordless
    kind = type(node)
    if kind in _OPERATORS:
        sides = (_operand(side, depth) for side in (node.this, node.expression))
        return f" {_OPERATORS[kind]} ".join(sides)
    if kind in _OF:
        return f"{_OF[kind]} {_inside(node, depth)}"
    if kind in _ONE_OF:  # the largest salary, the largest of the sum of hours
        of = "" if isinstance(node.this, exp.Column) else "of "
        return f"{_ONE_OF[kind]} {of}{_inside(node, depth)}"
    if kind in _PART_OF_DATE:
        return f"{_PART_OF_DATE[kind]} {_date(node.this, depth)}"
    if kind in _AFTER:
        return f"{_before(node, depth)} {_AFTER[kind]}"
    special = _SPECIAL.get(kind)
    return _function(node, depth) if special is None else special(node, depth)


def _operand(node: Any, depth: int) -> str:
    """In brackets where the phrase would be ambiguous: (the sum of a) divided by b."""
    words = _words(node, depth + 1)
    plain = isinstance(node, (exp.Column, exp.Literal, exp.Paren, *_OPERATORS)) or " " not in words
    return words if plain else f"({words})"


def _before(node: Any, depth: int) -> str:
    """An operand that words follow: (a plus b) rounded."""
    words = _inside(node, depth)
    return f"({words})" if type(node.this) in _OPERATORS else words


def _date(node: Any, depth: int) -> str:
    """The argument of a date part; its conversion to a date is not mentioned."""
    return _words(node.this if isinstance(node, exp.TsOrDsToDate) else node, depth + 1)


def _inside(node: Any, depth: int) -> str:
    return _words(node.this, depth + 1)


def _column(node: Any, depth: int) -> str:
    del depth
    return ".".join(part.name for part in node.parts)


def _written(node: Any, depth: int) -> str:
    del depth
    return str(node.sql(dialect=_DIALECT, normalize_functions="lower"))


def _bracketed(node: Any, depth: int) -> str:
    return f"({_inside(node, depth)})"


def _count(node: Any, depth: int) -> str:
    if isinstance(node.this, exp.Star) or node.this is None:
        return "the number of rows"
    if isinstance(node.this, exp.Distinct):
        return f"the number of distinct {_listed(node.this.expressions, depth)}"
    if isinstance(node.this, exp.Literal):
        return "the number of rows"
    return f"the number of {_inside(node, depth)}"


def _filtered(node: Any, depth: int) -> str:
    return f"{_inside(node, depth)} where {_written(node.expression.this, depth)}"


def _case(node: Any, depth: int) -> str:
    choices = [
        f"{_words(branch.args['true'], depth + 1)} when {_condition(node.this, branch.this, depth)}"
        for branch in node.args["ifs"]
    ]
    other = node.args.get("default")
    if other is not None:
        choices.append(f"otherwise {_words(other, depth + 1)}")
    return ", ".join(choices)


def _condition(compared: Any, value: Any, depth: int) -> str:
    """``CASE status WHEN 'A'`` compares, ``CASE WHEN status = 'A'`` does not."""
    written = _written(value, depth)
    return written if compared is None else f"{_words(compared, depth + 1)} = {written}"


def _if(node: Any, depth: int) -> str:
    chosen = f"{_words(node.args['true'], depth + 1)} when {_written(node.this, depth)}"
    other = node.args.get("false")
    return chosen if other is None else f"{chosen}, otherwise {_words(other, depth + 1)}"


def _coalesced(node: Any, depth: int) -> str:
    parts = [node.this, *node.expressions]
    return ", else ".join(_words(part, depth + 1) for part in parts)


def _cast(node: Any, depth: int) -> str:
    kind = node.args["to"].sql(dialect=_DIALECT).lower()
    return f"{_before(node, depth)} as {kind}"


def _rounded(node: Any, depth: int) -> str:
    places = node.args.get("decimals")
    to = "" if places is None else f" to {_written(places, depth)} places"
    return f"{_before(node, depth)} rounded{to}"


def _joined(node: Any, depth: int) -> str:
    return f"{_listed(node.expressions, depth)} put together"


def _part(node: Any, depth: int) -> str:
    return f"a part of {_inside(node, depth)}"


def _negative(node: Any, depth: int) -> str:
    return f"minus {_inside(node, depth)}"


def _cut(node: Any, depth: int) -> str:
    return f"{_before(node, depth)} cut to the {str(node.args['unit']).lower()}"


def _field(node: Any, depth: int) -> str:
    if isinstance(node.this, exp.Column | exp.Dot | exp.Identifier):
        return _written(node, depth)
    return f"{_words(node.expression, depth + 1)} of {_inside(node, depth)}"


def _neighbour(row: str) -> Callable[[Any, int], str]:
    def words(node: Any, depth: int) -> str:
        return f"{_inside(node, depth)} of the {row} row"

    return words


def _windowed(node: Any, depth: int) -> str:
    text = _inside(node, depth)
    groups = node.args.get("partition_by") or []
    if groups:
        text += f" within each {_listed(groups, depth)}"
    order = node.args.get("order")
    if order is not None:
        text += f" by {', '.join(_ordered(term, depth) for term in order.expressions)}"
    return text


def _ordered(node: Any, depth: int) -> str:
    if not isinstance(node, exp.Ordered):
        return _words(node, depth + 1)
    return _inside(node, depth) + (" descending" if node.args.get("desc") else "")


def _function(node: Any, depth: int) -> str:
    """A function without a wording of its own: a few by name, the others as written."""
    name = node.name.lower() if isinstance(node, exp.Anonymous) else node.key
    if name in _NAMED or isinstance(node, exp.RowNumber):
        return _NAMED.get(name, "the row number")
    if isinstance(node, exp.Anonymous):
        if name == "union":
            return f"{_listed(node.expressions, depth, 'or')} (a union)"
        if name == "scalar_subquery" and len(node.expressions) == 1:
            return _words(node.expressions[0], depth + 1)
    return _written(node, depth)


def _listed(nodes: Sequence[Any], depth: int, word: str = "and") -> str:
    """``a, b and c``, each part once."""
    words = [_operand(node, depth) for node in nodes]
    return listed(list(dict.fromkeys(words)), word)


def listed(parts: Sequence[str], word: str = "and") -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {word} {parts[-1]}"


_SPECIAL: Final[dict[type[exp.Expression], Callable[[Any, int], str]]] = {
    exp.Column: _column, exp.Literal: _written, exp.Paren: _bracketed, exp.Count: _count,
    exp.Filter: _filtered, exp.Case: _case, exp.If: _if, exp.Coalesce: _coalesced, exp.Cast: _cast,
    exp.TryCast: _cast, exp.Round: _rounded, exp.Concat: _joined, exp.Substring: _part,
    exp.Neg: _negative, exp.TimestampTrunc: _cut, exp.DateTrunc: _cut, exp.Dot: _field,
    exp.Lag: _neighbour("previous"), exp.Lead: _neighbour("next"), exp.Window: _windowed,
}  # fmt: skip


# --------------------------------------------------------------------------------------------------

_MOST_PLANS: Final = 20
_MOST_WAYS: Final = 3


@dataclass(frozen=True, slots=True)
class Definition:
    """How one logical plan of a job computes the column."""

    plan: str
    job: JobReference
    sentence: str


@dataclass(frozen=True, slots=True)
class PlanGap:
    """A gap in the column lineage of a plan that writes the dataset."""

    plan: str
    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class ColumnPage:
    """``sentence`` is None where no plan is known to compute the column; ``definitions`` are those
    of the first 20 plans, by job. ``known`` as in ``view.ColumnNodeView``; ``indirect`` counts, by
    kind of influence, the columns that decide over it.
    """

    id: str
    name: str
    dataset: DatasetReference
    type: str | None
    known: str
    indirect: Mapping[str, int]
    sentence: str | None
    definitions: tuple[Definition, ...]
    gaps: tuple[PlanGap, ...]
    classifications: tuple[str, ...]


@of_one_state
def describe_column(sources: Sources, column: str, at: int | None) -> ColumnPage:
    """The page of a column (an id). Raises NotFound for an unknown one.

    Definitions by hidden jobs and sources in hidden datasets are left out.
    """
    sources = open_node(sources, labels.COLUMN, column)
    catalogue = sources.catalogue
    rows = catalogue.columns((column,))
    if not rows and (joined := sources.joined_columns.find(column)) is not None:
        rows = (ColumnRow(column, *joined),)
    if not rows:
        raise NotFound("column", column)
    (row,) = rows
    (dataset,) = catalogue.datasets((row.dataset,))
    spelling = _spelling(row, at, catalogue)
    name = spelling.name if spelling else row.path
    derivations = sources.lineage.derivations(column, at)
    shown = [
        derivation
        for derivation in derivations
        if sources.hidden.isdisjoint((derivation.job, derivation.source[0]))
    ]
    definitions = _definitions(name, shown, catalogue)
    return ColumnPage(
        id=column,
        name=name,
        dataset=dataset_reference(dataset),
        type=spelling.type if spelling else None,
        known=SCHEMA if spelling else LINEAGE,
        indirect=_count_indirect(shown),
        sentence=_sentence(name, definitions),
        definitions=definitions,
        gaps=_gaps(row.dataset, at, catalogue),
        classifications=sources.governance.tags.get(column, ()),
    )


def _spelling(row: ColumnRow, at: int | None, catalogue: Catalogue) -> ColumnSpelling | None:
    """Name and type in the newest schema; None where that schema has no such column."""
    schema = catalogue.newest_schemas((row.dataset,), at).get(row.dataset)
    return spell_column(row.path, read_spellings(schema.columns)) if schema else None


def _count_indirect(derivations: Iterable[ColumnDerivation]) -> dict[str, int]:
    influences = {
        (derivation.how, derivation.source)
        for derivation in derivations
        if derivation.kind == labels.INDIRECT
    }
    return dict(sorted(Counter(how for how, _ in influences).items()))


def _definitions(
    name: str, derivations: Collection[ColumnDerivation], catalogue: Catalogue
) -> tuple[Definition, ...]:
    plans: dict[str, list[ColumnDerivation]] = {}
    for derivation in derivations:
        plans.setdefault(derivation.logical_plan, []).append(derivation)
    tables = {
        row.id: row.name or row.uri
        for row in catalogue.datasets({derivation.source[0] for derivation in derivations})
    }
    jobs = {row.id: row for row in catalogue.jobs({derivation.job for derivation in derivations})}
    definitions = []
    for plan, listed in plans.items():
        job = jobs[listed[0].job]
        sentence = define_column(name, (_source(derivation, tables) for derivation in listed))
        definitions.append(Definition(plan, job_reference(job), sentence))
    definitions.sort(
        key=lambda definition: (definition.job.namespace, definition.job.name, definition.plan)
    )
    return tuple(definitions[:_MOST_PLANS])


def _source(derivation: ColumnDerivation, tables: dict[str, str]) -> Source:
    dataset, path = derivation.source
    return Source(
        tables.get(dataset, dataset), path, derivation.kind, derivation.how, derivation.expression
    )


def _sentence(name: str, definitions: Iterable[Definition]) -> str | None:
    """One sentence for all plans; where plans differ, one for each with its job."""
    jobs: dict[str, list[str]] = {}
    for definition in definitions:
        jobs.setdefault(definition.sentence, []).append(definition.job.name)
    if len(jobs) < 2:
        return next(iter(jobs), None)
    ways = [f"{sentence} ({', '.join(dict.fromkeys(by))})" for sentence, by in jobs.items()]
    more = [f"{len(ways) - _MOST_WAYS} more"] if len(ways) > _MOST_WAYS else []
    return f"{name} is made in {len(jobs)} ways: {'; '.join([*ways[:_MOST_WAYS], *more])}"


def _gaps(dataset: str, at: int | None, catalogue: Catalogue) -> tuple[PlanGap, ...]:
    plans = {writer.logical_plan for writer in catalogue.writers((dataset,), at)}
    return tuple(
        PlanGap(plan.id, str(gap.get("code", "")), str(gap.get("detail", "")))
        for plan in catalogue.logical_plans(plans)
        for gap in json.loads(plan.gaps)
    )


@dataclass(frozen=True, slots=True)
class ColumnItem:
    """``name`` is the whole path, as in ``address.street``."""

    id: str
    name: str
    dataset: DatasetReference
    classifications: tuple[str, ...]


@of_one_state
def list_columns(
    sources: Sources, *, query: str, limit: int, cursor: str | None, order: ColumnOrder
) -> Page[ColumnItem]:
    page = sources.catalogue.list_columns(
        hidden=sources.hidden, query=query, limit=limit, cursor=cursor, order=order
    )
    datasets = dataset_references(sources, {row.dataset for row in page.items})
    tags = sources.governance.tags
    items = tuple(
        ColumnItem(row.id, row.path, datasets[row.dataset], tags.get(row.id, ()))
        for row in page.items
        if row.dataset in datasets
    )
    return Page(items, page.total, page.next)
