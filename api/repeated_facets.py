"""OpenLineage events whose facets came before, byte for byte: read, masked and spelled once.

    {"run": {…}, "job": {… "facets": {"sql": {…}}}, …}
    => {"run": {…}, "job": {… "facets": {"sql": 831…000}}, …} and the facets that were there

A run says what every run of its job says: ids and times stand outside of nearly all facets, and
facets are nearly all of an event. msgspec tells where they begin and end without making objects of
them. They are cut out, and what is left, a tenth of the text, is taken like any document. Masking
looks at an object without asking where it stands, and so does the spelling: put together again, the
parts are what the whole would have been.

Where anything is unusual there is no answer: who asks reads the whole, and tells what is wrong.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import msgspec

from api.bodies import compact_json, parse_any_spelling, parse_plain
from api.errors import InvalidRequest
from graph_model import naming
from graph_model.errors import InvalidDocument
from graph_model.json_fields import check_depth
from graph_model.openlineage import RepeatedFacet
from graph_model.shelf import RecurringShelf

_LARGE: Final = 256 * 1024
_SHORT: Final = 48
"""Bytes; a facet of fewer stays where it is."""
_MOST_LEVELS: Final = 100
_KEPT_BYTES: Final = 64_000_000
_FACET_BYTES: Final = 1_500
_SPREAD: Final = 8
"""Bytes of objects to a byte of JSON; three times as many where somebody makes facets for it."""
_MOST: Final = 1_000
_FIRST: Final = _MOST * (10**17 + secrets.randbelow(9 * 10**17))
"""This number stands in for the first facet, the next one for the second. Nobody who sends a
document knows them; a number is what masking leaves alone, as it does an object."""
_STAND_IN: Final = re.compile(rb"%d(\d{3})" % (_FIRST // _MOST))
_TEXT: Final = re.compile('"([^"]*)"')
_HOLDERS: Final = ("facets", "inputFacets", "outputFacets")

_UNUSUAL: Final = (
    msgspec.MsgspecError, RecursionError, UnicodeError, InvalidRequest, InvalidDocument,
)  # fmt: skip

_Texts: TypeAlias = dict[str, msgspec.Raw] | None


class _Entity(msgspec.Struct):
    facets: _Texts = None
    inputFacets: _Texts = None  # noqa: N815 - OpenLineage's names
    outputFacets: _Texts = None  # noqa: N815


_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_entity: Final = msgspec.json.Decoder(_Entity | None).decode
_entities: Final = msgspec.json.Decoder(list[_Entity] | None).decode


@dataclass(frozen=True, slots=True)
class Taken:
    """An event with its secrets masked: facets may be RepeatedFacets; ``body`` is its spelling."""

    event: Mapping[str, Any]
    body: bytes


class RepeatedFacets:
    """Facets that came before, by their text; bounded by their bytes, for any thread.

    One that holds a secret is not kept.
    """

    def __init__(self, most_bytes: int = _KEPT_BYTES) -> None:
        self._kept: RecurringShelf[bytes, RepeatedFacet] = RecurringShelf(
            most_bytes, lambda facet: _FACET_BYTES + facet.length + _SPREAD * len(facet.spelled)
        )

    def take(self, body: bytes) -> Taken | None:
        """The event of a body, as if it were read as a whole; None where it has to be."""
        if len(body) > _LARGE:
            return None
        try:
            left, texts = _cut(body)
            return self._put_together(left, texts) if texts else None
        except _UNUSUAL:
            return None

    def _put_together(self, left: bytes, texts: list[bytes]) -> Taken | None:
        kept = self._kept.find(texts)
        facets = [kept.get(text) or self._read(text) for text in texts]
        event, spelled, _ = _masked(left, parse_plain(left))
        pieces = _STAND_IN.split(spelled)
        pieces[1::2] = [facets[int(number)].spelled for number in pieces[1::2]]
        return Taken(event, b"".join(pieces)) if _fill(event, facets) else None

    def _read(self, text: bytes) -> RepeatedFacet:
        masked, spelled, changed = _look_for_secrets(text)
        if text.count(b"{") + text.count(b"[") > _MOST_LEVELS:  # else it cannot be so deep
            check_depth(masked, _MOST_LEVELS)
        facet = RepeatedFacet(masked, text if spelled == text else spelled, len(text))
        if not changed:
            self._kept.keep({text: facet})
        return facet


def _look_for_secrets(text: bytes) -> tuple[Any, bytes, bool]:
    """The same as ``_masked``; facets that are new have few texts that are."""
    said = parse_plain(text)
    told = said is not None and b"\\" not in text  # else a quote may not be the end of a text
    if told and naming.are_harmless(_TEXT.findall(text.decode())):
        return said, text, False
    return _masked(text, said)


def _masked(text: bytes, plain: Any) -> tuple[Any, bytes, bool]:
    """What a text says without its secrets, how that is spelled, and whether there were any.

    ``plain`` is what ``parse_plain`` made of it.
    """
    said = parse_any_spelling(text) if plain is None else plain
    masked: Any = naming.mask_secrets(said)
    changed = masked is not said
    return masked, text if plain is not None and not changed else compact_json(masked), changed


def _cut(body: bytes) -> tuple[bytes, list[bytes]]:
    """The text without its facets, and the facets, in order."""
    parts: list[bytes] = []
    texts: list[bytes] = []
    done = 0
    for text in _facets(body):
        if len(text) < _SHORT or text[:1] != b"{":
            continue
        place = body.find(text, done)
        if place < 0 or len(texts) == _MOST:
            break  # the rest stays; where one name stands twice, the whole is refused
        parts += (body[done:place], b"%d" % (_FIRST + len(texts)))
        texts.append(text)
        done = place + len(text)
    parts.append(body[done:])
    return b"".join(parts), texts


def _facets(body: bytes) -> Iterator[bytes]:
    """The texts of all facets, as they stand in the event."""
    for name, text in _members(body).items():
        if name in ("run", "job", "dataset"):
            yield from _facets_of(_entity(text))
        elif name in ("inputs", "outputs"):
            for entity in _entities(text) or ():
                yield from _facets_of(entity)


def _facets_of(entity: _Entity | None) -> Iterator[bytes]:
    if entity is not None:
        for facets in (entity.facets, entity.inputFacets, entity.outputFacets):
            yield from map(bytes, (facets or {}).values())


def _fill(event: Mapping[str, Any], facets: list[RepeatedFacet]) -> bool:
    """Put each facet where something stands in for it; whether all of them had a place.

    A facet's text may stand elsewhere, too, even as a whole entity: nothing is taken for granted.
    """
    filled = 0
    for holder in _holders(event):
        for name, facet in holder.items():
            if isinstance(facet, int) and _FIRST <= facet < _FIRST + _MOST:
                holder[name] = facets[facet - _FIRST]
                filled += 1
    return filled == len(facets)


def _holders(event: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The objects of an event in which facets stand by their names."""
    listed = [event.get(name) for name in ("inputs", "outputs")]
    entities = [event.get(name) for name in ("run", "job", "dataset")]
    for one in listed:
        entities += one if isinstance(one, list) else ()
    for entity in entities:
        if isinstance(entity, dict):
            yield from (one for name in _HOLDERS if isinstance(one := entity.get(name), dict))


REPEATED: Final = RepeatedFacets()
"""One for the process."""
