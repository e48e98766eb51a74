"""Search over the names of datasets, jobs and columns: parts, in any case, words in any order.

A search without a hit is repeated and then allows one typing error in each word of four letters or
more: a wrong letter, one too many, one too few, two in the wrong order.

The statement scans the folded texts with LIKE: tens of milliseconds for 100,000 names, so there is
no index of trigrams to maintain. With errors allowed it first looks for what an error leaves of a
word, one of its halves: nearly no name has either, and only such are compared with all patterns.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from graph_model import labels
from graph_model.errors import InvalidInput
from graph_model.stores.catalogue.reading import CatalogueReader, at_values, input_column
from graph_model.stores.catalogue.tables import (
    columns,
    datasets,
    facet_bodies,
    facets,
    fold,
    jobs,
)
from graph_model.stores.catalogue_values import Match, Rows
from graph_model.stores.pages import Page, checked_limit

LONGEST: Final = 2_000
"""The most characters a search takes; longer names are addressed by id."""

_SEPARATORS: Final = ("/", ":", ".")
_LEAST_LETTERS: Final = 4
_MOST_LETTERS: Final = 24
_MOST_WORDS: Final = 8
_ESCAPE: Final = "\\"
_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]+")
_NONE: Final = sa.type_coerce(sa.null(), columns.c.dataset.type)


def _searched(
    kind: str, table: sa.Table, text: sa.ColumnElement[str], dataset: sa.ColumnElement[Any]
) -> sa.Select[Any]:
    return sa.select(
        sa.literal(kind).label("kind"),
        table.c.id.label("id"),
        text.label("text"),
        dataset.label("dataset"),
        table.c.search_name.label("search_name"),
        table.c.search_text.label("search_text"),
    )


_SEARCHED: Final = {
    labels.DATASET: _searched(labels.DATASET, datasets, datasets.c.uri, _NONE),
    labels.JOB: _searched(labels.JOB, jobs, jobs.c.namespace + "/" + jobs.c.name, _NONE),
    labels.COLUMN: _searched(labels.COLUMN, columns, columns.c.path, columns.c.dataset),
}

_HIDDEN_BY: Final = {
    labels.DATASET: datasets.c.id,
    labels.JOB: jobs.c.id,
    labels.COLUMN: columns.c.dataset,
}
"""The column that is an id of ``hidden`` for hidden rows."""


_TELLING: Final = {
    (labels.DATASET, datasets): ("ownership", "documentation", "tags", "schema"),
    (labels.JOB, jobs): ("ownership", "documentation", "tags"),
}
"""The facets of datasets and jobs that hold what people say about them."""


class HeldFacet(NamedTuple):
    """A facet in force of a dataset or a job (``kind``), with its content as JSON."""

    kind: str
    entity: str
    name: str
    body: str


class Search(CatalogueReader):
    """Search by name; ``hidden`` are ids of datasets and jobs that are left out."""

    def facets_holding(
        self, words: Collection[str], hidden: Collection[str] = (), *, limit: int
    ) -> Rows[HeldFacet]:
        """The facets in force with an owner, a description, a tag or comments of columns whose
        content may hold one of these folded words; by kind, entity and name.

        A seek for each dataset, job and name of a facet, whatever their history. Of a word with
        other letters than ASCII its longest part without them is looked for: SQLite folds no other.
        """
        values, shown = at_values(hidden), _not_hidden(hidden)
        parts = [
            _held(kind, table, name, words).where(*shown[kind])
            for (kind, table), names in _TELLING.items()
            for name in names
        ]
        asked = sa.union_all(*parts).order_by("kind", "entity", "name").limit(limit + 1)
        with self._read() as connection:
            rows = [HeldFacet(*row) for row in connection.execute(asked, values)]
        return Rows(tuple(rows[:limit]), len(rows) > limit)

    def search(
        self, text: str, *, kinds: Collection[str], limit: int, hidden: Collection[str] = ()
    ) -> Page[Match]:
        """Datasets, jobs and columns whose name holds the words of the text (any case and order);
        where there is none, with one typing error forgiven in each word of four letters or more.

        Ranked: equal name, then prefix of a name or of a path part, then substring, then the words
        apart; shorter first.

        Equal names first, then prefixes of a name or path part, then names with the text as it
        is, then the rest. Within each of these groups datasets and jobs come before columns, of
        which a hundred may have one name, and then shorter texts first.

        There is one page: ``next`` is None, ``total`` counts all. Raises InvalidInput for a text
        longer than LONGEST, ValueError for a kind without names.
        """
        if unknown := set(kinds) - set(_SEARCHED):
            raise ValueError(
                f"kinds: expected {', '.join(_SEARCHED)}, not {', '.join(sorted(unknown))}"
            )
        if len(text) > LONGEST:
            raise InvalidInput(f"search: expected at most {LONGEST} characters, not {len(text)}")
        checked_limit(limit)
        folded = fold(text)
        asked, values, shown = sorted(set(kinds)), at_values(hidden), _not_hidden(hidden)
        if not asked:
            return Page((), 0, None)
        with self._read() as connection:
            rows: Sequence[sa.Row[Any]] = ()
            for words in _patterns(folded):
                parts = [
                    _SEARCHED[kind].where(_matches(kind, folded, words), *shown[kind])
                    for kind in asked
                ]
                rows = connection.execute(_first(parts, folded, limit), values).all()
                if rows:
                    break
            total = len(rows)
            if total == limit:
                total = connection.execute(_counted(parts), values).scalar_one()
        matches = tuple(Match(row.kind, row.id, row.text, row.dataset) for row in rows)
        return Page(matches, total, None)


def _held(kind: str, table: sa.Table, name: str, words: Collection[str]) -> sa.Select[Any]:
    own = facets.alias("own").c
    order = [own[field].desc() for field in ("at", "subject", "digest")]
    of_name = (own.entity == table.c.id, own.kind == kind, own.name == name)
    newest = sa.select(own.digest).where(*of_name).order_by(*order).limit(1).correlate(table)
    body = facet_bodies.c.body
    patterns = [max(_NOT_ASCII.split(word), key=len) for word in words]
    return (
        sa.select(
            sa.literal(kind).label("kind"),
            table.c.id.label("entity"),
            sa.literal(name).label("name"),
            body.label("body"),
        )
        .join_from(table, facet_bodies, facet_bodies.c.id == newest.scalar_subquery())
        .where(sa.or_(*(holds(sa.func.lower(body), pattern) for pattern in patterns)))
    )


def _not_hidden(hidden: Collection[str]) -> dict[str, tuple[sa.ColumnElement[bool], ...]]:
    """Per kind the condition that a row is not hidden; the ids are ``at_values`` of the statement,
    which has them once for all kinds.
    """
    if not hidden:
        return dict.fromkeys(_HIDDEN_BY, ())
    ids = sa.select(input_column().c.value)
    return {kind: (column.not_in(ids),) for kind, column in _HIDDEN_BY.items()}


def _first(parts: Sequence[sa.Select[Any]], folded: str, limit: int) -> sa.Select[Any]:
    """The first of each kind, then the first of those: the matches are never held as a whole."""
    best = [sa.select(_ranked(part.subquery(), folded).limit(limit).subquery()) for part in parts]
    return _ranked(sa.union_all(*best).subquery(), folded).limit(limit)


def _counted(parts: Sequence[sa.Select[Any]]) -> sa.Select[Any]:
    numbers = (sa.select(sa.func.count()).select_from(part.subquery()) for part in parts)
    counts = [number.scalar_subquery() for number in numbers]
    return sa.select(sum(counts[1:], counts[0]))


_Words = Sequence[Sequence[Sequence[str]]]
"""Per word lists of patterns of LIKE; a text must match one of each list, compared in order."""


def _patterns(folded: str) -> Iterator[_Words]:
    """The words as they are, then with one error allowed in each."""
    words = folded.split()[:_MOST_WORDS]
    yield [((_literal(word),),) for word in words]
    if any(_LEAST_LETTERS <= len(word) <= _MOST_LETTERS for word in words):
        yield [(_left_by_an_error(word), _with_one_error(word)) for word in words]


def _left_by_an_error(word: str) -> tuple[str, ...]:
    """``salse`` => ``sa``, ``lse``, ``slase``: each pattern of ``_with_one_error`` holds one."""
    if not _LEAST_LETTERS <= len(word) <= _MOST_LETTERS:
        return (_literal(word),)
    middle = len(word) // 2
    before, after = word[:middle], word[middle:]
    return (
        _literal(before),
        _literal(after),
        _literal(f"{before[:-1]}{after[0]}{before[-1]}{after[1:]}"),
    )


def _with_one_error(word: str) -> tuple[str, ...]:
    """``salse`` => ``_alse``, ``alse``, ``aslse``, ``_salse`` … , each letter taken literally."""
    if not _LEAST_LETTERS <= len(word) <= _MOST_LETTERS:
        return (_literal(word),)
    patterns = {_literal(word): None}
    for at in range(len(word)):
        before, letter, after = word[:at], word[at], word[at + 1 :]
        patterns[f"{_literal(before)}_{_literal(after)}"] = None
        patterns[_literal(before + after)] = None
        patterns[f"{_literal(before)}_{_literal(letter + after)}"] = None
        if after:
            patterns[_literal(before + after[0] + letter + after[1:])] = None
    return tuple(patterns)


def _matches(kind: str, folded: str, words: _Words) -> sa.ColumnElement[bool]:
    selected = _SEARCHED[kind].selected_columns
    columns = [selected.search_text]
    if kind == labels.DATASET:  # its name alone may hold a text that its URI does not
        columns.append(selected.search_name)
    if not words:
        return sa.or_(*(holds(column, folded) for column in columns))
    # a text that holds the whole holds its words, too: LIKE is what a search costs
    return sa.and_(
        *(
            sa.or_(
                *(
                    column.like(f"%{pattern}%", escape=_ESCAPE)
                    for column in columns
                    for pattern in patterns
                )
            )
            for lists in words
            for patterns in lists
        )
    )


def _ranked(matches: sa.Subquery, folded: str) -> sa.Select[Any]:
    name, text = matches.c.search_name, matches.c.search_text
    rank = sa.case(
        (sa.or_(name == folded, text == folded), 0),
        (sa.or_(_begins(name, folded), _begins_part(text, folded)), 1),
        (sa.or_(holds(name, folded), holds(text, folded)), 2),
        else_=3,
    )
    in_dataset = sa.case((matches.c.kind == labels.COLUMN, 1), else_=0)
    order = (rank, in_dataset, sa.func.length(text), text, matches.c.kind, matches.c.id)
    return sa.select(matches).order_by(*order)


def holds(column: sa.ColumnElement[str], folded: str) -> sa.ColumnElement[bool]:
    """Whether a folded column holds a folded text, each of its characters taken literally."""
    return _like(column, "%", folded)


def _begins(column: sa.ColumnElement[str], folded: str) -> sa.ColumnElement[bool]:
    return _like(column, "", folded)


def _begins_part(column: sa.ColumnElement[str], folded: str) -> sa.ColumnElement[bool]:
    inside: Sequence[sa.ColumnElement[bool]] = [
        _like(column, "%", separator + folded) for separator in _SEPARATORS
    ]
    return sa.or_(_begins(column, folded), *inside)


def _like(column: sa.ColumnElement[str], before: str, text: str) -> sa.ColumnElement[bool]:
    return column.like(f"{before}{_literal(text)}%", escape=_ESCAPE)


def _literal(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
