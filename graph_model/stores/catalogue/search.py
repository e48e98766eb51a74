"""Search over the names of datasets, jobs and columns: parts, in any case, words in any order.

A search without a hit is repeated and then allows one typing error in each word of four letters or
more: a wrong letter, one too many, one too few, two in the wrong order.

Names are compared with LIKE in a table of their own, which has little beside them, and a path that
many columns share once: milliseconds for 40,000 names on either database, without an index of
trigrams. The rows of columns are then read by a digest of their path. With errors allowed it first
looks for what an error leaves of a word, one of its halves: nearly no name has either, and only
such are compared with all patterns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from graph_model import labels
from graph_model.errors import InvalidInput
from graph_model.stores.catalogue.reading import (
    CatalogueReader,
    at_values,
    input_column,
    is_input,
    made_once,
)
from graph_model.stores.catalogue.tables import (
    columns,
    datasets,
    facet_bodies,
    facet_texts,
    facets,
    fold,
    jobs,
    searched_names,
)
from graph_model.stores.catalogue_values import Match, Rows
from graph_model.stores.database import StoredId, StoredText, rows_of
from graph_model.stores.pages import Page, checked_limit

LONGEST: Final = 2_000
"""The most characters a search takes; longer names are addressed by id."""

_SEPARATORS: Final = ("/", ":", ".")
_LEAST_LETTERS: Final = 4
_MOST_LETTERS: Final = 24
_PATTERNS_AT_ONCE: Final = 32  # a word has at most 4 for each letter
_MOST_WORDS: Final = 8
_ESCAPE: Final = "\\"

_ROW_OF: Final = {
    labels.DATASET: (datasets, datasets.c.uri),
    labels.JOB: (jobs, jobs.c.namespace + "/" + jobs.c.name),
}
KINDS: Final = (labels.DATASET, labels.JOB, labels.COLUMN)
_EVERY_KIND: Final = tuple(sorted(KINDS))

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
    """Search by name; ``hidden`` are ids of datasets and jobs that are left out, and what these
    jobs say of others.
    """

    def facets_holding(
        self, words: Collection[str], hidden: Collection[str] = (), *, limit: int
    ) -> Rows[HeldFacet]:
        """The facets in force with an owner, a description, a tag or comments of columns whose
        content holds one of these folded words; by kind, entity and name.

        Where a stored content holds one: a seek for each dataset, job and name of a facet.
        """
        values = at_values(hidden) | {f"holds_{n}": _holding(w) for n, w in enumerate(words)}
        with self._read() as connection:
            if not words or not rows_of(connection, _any_text(len(words)), values):
                return Rows((), False)
            asked = _held_facets(len(words), bool(hidden))
            rows = rows_of(connection, asked, values | {"limit": limit + 1})
        return Rows(tuple(HeldFacet(*row) for row in rows[:limit]), len(rows) > limit)

    def search(
        self, text: str, *, kinds: Collection[str], limit: int, hidden: Collection[str] = ()
    ) -> Page[Match]:
        """Datasets, jobs and columns whose name holds the words of the text (any case and order);
        where no kind has any, with one typing error forgiven in each word of four letters or more:
        what a question for several kinds finds is what one for each finds.

        Equal names first, then prefixes of a name or path part, then names with the text as it
        is, then the rest. Within each of these groups datasets and jobs come before columns, of
        which a hundred may have one name, and then shorter texts first.

        There is one page: ``next`` is None, ``total`` counts all. Raises InvalidInput for a text
        longer than LONGEST, ValueError for a kind without names.
        """
        if unknown := set(kinds) - set(KINDS):
            raise ValueError(
                f"kinds: expected {', '.join(KINDS)}, not {', '.join(sorted(unknown))}"
            )
        if len(text) > LONGEST:
            raise InvalidInput(f"search: expected at most {LONGEST} characters, not {len(text)}")
        checked_limit(limit)
        folded, asked = fold(text), tuple(sorted(set(kinds)))
        if not asked:
            return Page((), 0, None)
        values: dict[str, Any] = at_values(hidden) | _ranking_values(folded) | {"limit": limit}
        with self._read() as connection:
            for words in _patterns(folded):
                shape = tuple(tuple(map(len, lists)) for lists in words)
                values |= _pattern_values(words)
                names = rows_of(connection, _found_names(asked, shape, bool(hidden)), values)
                if names:
                    break
                elsewhere = _found_names(_EVERY_KIND, shape, bool(hidden))
                if asked != _EVERY_KIND and rows_of(connection, elsewhere, values | {"limit": 1}):
                    break
            matches = tuple(_matches(connection, names, hidden, limit))
            total = len(matches)
            if total == limit:
                ((number,),) = rows_of(connection, _counted(asked, shape, bool(hidden)), values)
                total = int(number)
        return Page(matches, total, None)


# --- facets --------------------------------------------------------------------------------------


@made_once
def _any_text(words: int) -> sa.Select[Any]:
    return sa.select(sa.literal(1)).where(_telling(words)).limit(1)


def _telling(words: int) -> sa.ColumnElement[bool]:
    return sa.or_(*(_like(facet_texts.c.text, f"holds_{place}") for place in range(words)))


@made_once
def _held_facets(words: int, is_hiding: bool) -> sa.CompoundSelect[Any]:
    holding = sa.select(facet_texts.c.digest).where(_telling(words))
    parts = [
        _held(kind, table, name, holding, is_hiding).where(*_visible(table.c.id, is_hiding))
        for (kind, table), names in _TELLING.items()
        for name in names
    ]
    limit = sa.bindparam("limit", type_=sa.Integer(), required=True)
    return sa.union_all(*parts).order_by("kind", "entity", "name").limit(limit)


def _held(
    kind: str, table: sa.Table, name: str, holding: sa.Select[Any], is_hiding: bool
) -> sa.Select[Any]:
    own = facets.alias("own").c
    order = [own[field].desc() for field in ("at", "subject", "digest")]
    of_name = [own.entity == table.c.id, own.kind == kind, own.name == name]
    of_name += _visible(own.job, is_hiding)
    newest = sa.select(own.digest).where(*of_name).order_by(*order).limit(1).correlate(table)
    body = facet_bodies.c
    return (
        sa.select(
            sa.literal(kind).label("kind"),
            table.c.id.label("entity"),
            sa.literal(name).label("name"),
            body.body.label("body"),
        )
        .join_from(table, facet_bodies, body.id == newest.scalar_subquery())
        .where(body.id.in_(holding))
    )


def _visible(column: sa.ColumnElement[str], is_hiding: bool) -> tuple[sa.ColumnElement[bool], ...]:
    """The condition that an id is not among the hidden ones, which are ``at_values``."""
    return (column.not_in(sa.select(input_column().c.value)),) if is_hiding else ()


# --- names ---------------------------------------------------------------------------------------


_Shape = tuple[tuple[int, ...], ...]
"""How many patterns each list of each word has."""


@made_once
def _found_names(kinds: tuple[str, ...], shape: _Shape, is_hiding: bool) -> sa.Select[Any]:
    """The first ones in the order of a search, as kind and id."""
    own = searched_names.c
    in_dataset = sa.case((own.kind == labels.COLUMN, 1), else_=0)
    order = (_rank(), in_dataset, sa.func.length(own.text), own.text, own.kind, own.id)
    asked = sa.select(own.kind, own.id).where(*_chosen(kinds, shape, is_hiding))
    limit = sa.bindparam("limit", type_=sa.Integer(), required=True)
    return asked.order_by(*order).limit(limit)


@made_once
def _counted(kinds: tuple[str, ...], shape: _Shape, is_hiding: bool) -> sa.Select[Any]:
    own = searched_names.c
    rows = sa.select(sa.func.count()).where(*_columns_of(own.id, is_hiding))
    number = rows.correlate(searched_names).scalar_subquery()
    each = sa.case((own.kind == labels.COLUMN, number), else_=1)
    return sa.select(sa.func.sum(each)).where(*_chosen(kinds, shape, is_hiding))


def _chosen(
    kinds: tuple[str, ...], shape: _Shape, is_hiding: bool
) -> Iterator[sa.ColumnElement[bool]]:
    own = searched_names.c
    yield own.kind.in_(kinds)
    for word, lists in enumerate(shape):
        for place, patterns in enumerate(lists):
            yield sa.or_(*(_holds_name(f"word_{word}_{place}_{n}") for n in range(patterns)))
    if not shape:
        yield _holds_name("holds")
    if is_hiding:
        some = sa.exists().where(*_columns_of(own.id, is_hiding)).correlate(searched_names)
        is_column = own.kind == labels.COLUMN
        yield sa.or_(sa.and_(is_column, some), sa.and_(~is_column, *_visible(own.id, is_hiding)))


def _holds_name(parameter: str) -> sa.ColumnElement[bool]:
    """The name of a dataset alone may hold a text that its URI does not."""
    own = searched_names.c
    in_name = sa.and_(own.kind == labels.DATASET, _like(own.name, parameter))
    return sa.or_(_like(own.text, parameter), in_name)


def _columns_of(key: sa.ColumnElement[str], is_hiding: bool) -> tuple[sa.ColumnElement[bool], ...]:
    return (columns.c.search_key == key, *_visible(columns.c.dataset, is_hiding))


@made_once
def _columns_called(is_hiding: bool) -> sa.Select[Any]:
    """The first ones with the path of this ``search_key``."""
    own, key = columns.c, sa.bindparam("key", type_=StoredId(), required=True)
    asked = sa.select(own.id, own.path, own.dataset).where(*_columns_of(key, is_hiding))
    limit = sa.bindparam("limit", type_=sa.Integer(), required=True)
    return asked.order_by(own.id).limit(limit)


@made_once
def _texts_of(kind: str) -> sa.Select[Any]:
    table, text = _ROW_OF[kind]
    return sa.select(table.c.id, text).where(is_input(table.c.id))


def _matches(
    connection: Connection, names: Sequence[tuple[Any, ...]], hidden: Collection[str], limit: int
) -> Iterator[Match]:
    """The rows of these names, in their order, as many as ``limit``."""
    texts: dict[str, str] = {}
    for kind in _ROW_OF:
        if ids := [key for own, key in names if own == kind]:
            texts.update(rows_of(connection, _texts_of(kind), at_values(ids)))
    left = limit
    for kind, key in names:
        if kind in _ROW_OF:
            matches = [Match(kind, key, texts[key], None)] if left and key in texts else []
        elif left:
            values = at_values(hidden) | {"key": key, "limit": left}
            rows = rows_of(connection, _columns_called(bool(hidden)), values)
            matches = [Match(kind, column, path, dataset) for column, path, dataset in rows]
        else:
            return
        left -= len(matches)
        yield from matches


_Words = Sequence[Sequence[Sequence[str | None]]]
"""Per word lists of patterns of LIKE; a text must match one of each list, compared in order.

Nothing is like None: lists are filled up with it to a few lengths, so that searches for words of
many lengths share their statements.
"""


def _patterns(folded: str) -> Iterator[_Words]:
    """The words as they are, then with one error allowed in each; the longest one first, which the
    fewest names hold.
    """
    words = sorted(folded.split()[:_MOST_WORDS], key=len, reverse=True)
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


def _with_one_error(word: str) -> tuple[str | None, ...]:
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
    return (*patterns, *[None] * (-len(patterns) % _PATTERNS_AT_ONCE))


def _pattern_values(words: _Words) -> dict[str, str | None]:
    return {
        f"word_{word}_{place}_{n}": None if pattern is None else f"%{pattern}%"
        for word, lists in enumerate(words)
        for place, patterns in enumerate(lists)
        for n, pattern in enumerate(patterns)
    }


def _ranking_values(folded: str) -> dict[str, str]:
    inside = {
        f"part_{n}": f"%{_literal(separator + folded)}%" for n, separator in enumerate(_SEPARATORS)
    }
    begins = {"begins": f"{_literal(folded)}%"}
    return {"equal": folded, "holds": _holding(folded)} | begins | inside


def _rank() -> sa.ColumnElement[int]:
    own = searched_names.c
    equal = sa.bindparam("equal", type_=StoredText(), required=True)
    begins_part = [_like(own.text, f"part_{place}") for place in range(len(_SEPARATORS))]
    return sa.case(
        (sa.or_(own.name == equal, own.text == equal), 0),
        (sa.or_(_like(own.name, "begins"), _like(own.text, "begins"), *begins_part), 1),
        (sa.or_(_like(own.name, "holds"), _like(own.text, "holds")), 2),
        else_=3,
    )


def holds(column: sa.ColumnElement[str], folded: str) -> sa.ColumnElement[bool]:
    """Whether a folded column holds a folded text, each of its characters taken literally."""
    return column.like(_holding(folded), escape=_ESCAPE)


def _like(column: sa.ColumnElement[str], parameter: str) -> sa.ColumnElement[bool]:
    pattern = sa.bindparam(parameter, type_=StoredText(), required=True)
    return column.like(pattern, escape=_ESCAPE)


def _holding(text: str) -> str:
    return f"%{_literal(text)}%"


def _literal(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
