"""The definition of a column as one sentence, from the derivations of the plan that computes it.

revenue is the sum of price times quantity from orders, per day, where status = 'paid'.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from graph_model import labels
from graph_model.answers.columns.wording.phrases import listed, phrase

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
    own = [one for one in known if one.kind == labels.DIRECT]
    own = own or [one for one in known if one.how in _OWN]
    rows = [one for one in known if one.kind != labels.DIRECT and one.how not in _OWN]
    value = _value(own) if own else "the same in every row or a number of rows: no column gives it"
    sentence = f"{name} is {value}{_conditions(own, rows)}"
    if len(sentence) <= _MOST_CHARACTERS:
        return sentence
    return sentence[: _MOST_CHARACTERS - 1].rstrip() + "…"


def _value(own: Sequence[Source]) -> str:
    texts = sorted({one.expression for one in own if one.expression})
    phrases = [words for text in texts if (words := _wording(text, own)) is not None]
    named = {one.column for one in own}
    if texts and len(phrases) == len(texts) and not named.issuperset(texts):
        return f"{listed(phrases, 'or')} from {_tables(own)}{_unchanged(own)}"
    return f"{_computed(own)}{_unchanged(own)}"


def _wording(text: str, own: Sequence[Source]) -> str | None:
    """The expression in words, or as written where it is the name of the one source column."""
    return text if text in {one.column for one in own} else phrase(text)


def _unchanged(own: Sequence[Source]) -> str:
    return ", unchanged" if {one.how for one in own} == {labels.IDENTITY} else ""


def _computed(own: Sequence[Source]) -> str:
    """Without an expression: the source columns, by table."""
    tables: dict[str, list[str]] = {}
    for one in own:
        columns = tables.setdefault(one.dataset, [])
        if one.column not in columns:
            columns.append(one.column)
    parts = [f"{_some(columns)} of {dataset}" for dataset, columns in tables.items()]
    hows = {one.how for one in own}
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
    return _some(list(dict.fromkeys(one.dataset for one in sources)))


def _conditions(own: Sequence[Source], rows: Sequence[Source]) -> str:
    """``, per day, matched on a = b, where status = 'paid'``."""
    text = ""
    if not own or labels.AGGREGATION in {one.how for one in own}:
        groups = [key for one in _texts(rows, labels.GROUP_BY) for key in _split(one, ",")]
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
    found = [part for one in rows if one.how == how for part in _split(one.expression, "|")]
    return list(dict.fromkeys(found))


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
