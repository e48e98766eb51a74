"""The producers of a Headwater, as an immutable value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from graph_model.errors import HeadwaterError, InvalidDocument
from graph_model.json_fields import JsonObject
from graph_model.naming import Rules
from graph_model.producers.commands import Commands
from graph_model.producers.counted_times import TOLERANCE_MS
from graph_model.producers.declared import Declarations
from graph_model.producers.openlineage.producer import OpenLineage
from graph_model.producers.producer import Producer, Spellings, Translator
from graph_model.producers.spline.producer import Spline
from graph_model.stores.documents import DocumentKind, DocumentState, StoredDocument


class Producers:
    """Producers by the kinds of their documents. Raises ValueError where two share a kind.

    ``clock_tolerance``: how far a document's time may be after its receipt (``counted_times``), in
    milliseconds.

    ``additions`` are the kinds whose documents only add facts to others', ``bases`` the other kinds
    of those producers, ``from_clients`` the kinds that clients send. ``announced``, ``openings``
    and ``spelled`` are those of all producers.
    """

    def __init__(self, producers: Iterable[Producer], clock_tolerance: int = TOLERANCE_MS) -> None:
        self._producers = tuple(producers)
        self.clock_tolerance: Final = clock_tolerance
        kinds = [(kind, producer) for producer in self._producers for kind in producer.kinds]
        self._by_kind = dict(kinds)
        if len(kinds) != len(self._by_kind):
            raise ValueError("two producers share a kind of documents")
        self.kinds: Final = tuple(self._by_kind)
        self.additions: Final = frozenset[DocumentKind]().union(
            *(producer.additions for producer in self._producers)
        )
        self.bases: Final = frozenset(
            kind for kind, producer in kinds if producer.additions and kind not in self.additions
        )
        self.from_clients: Final = frozenset(
            kind for kind, producer in kinds if producer.from_clients
        )
        self.announced: Final[Mapping[str, DocumentKind]] = {
            name: kind for producer in self._producers for name, kind in producer.announced.items()
        }
        self.openings: Final = tuple(
            opening for producer in self._producers for opening in producer.openings
        )
        self.spelled: Final = frozenset[DocumentKind]().union(
            *(producer.spelled for producer in self._producers)
        )
        self.versions: Final = tuple(
            version for producer in self._producers for version in producer.versions
        )

    def tolerating(self, clock_tolerance: int) -> Producers:
        """The same producers with another tolerance."""
        return Producers(self._producers, clock_tolerance)

    def __iter__(self) -> Iterator[Producer]:
        return iter(self._producers)

    def of(self, kind: str) -> Producer | None:
        """The producer of a kind of documents."""
        return self._by_kind.get(DocumentKind(kind))

    def versions_of(self, kind: str) -> tuple[str, ...]:
        """The versions of its format in which a kind of documents is accepted; () for none."""
        producer = self.of(kind)
        return producer.api_versions if producer else ()

    def event(self, document: StoredDocument, rules: Rules) -> JsonObject | None:
        """``Producer.event``; also None for a document that failed or is damaged."""
        producer = self.of(document.kind)
        if producer is None or document.damage or document.state == DocumentState.FAILED:
            return None
        try:
            return producer.event(document, rules)
        except InvalidDocument:
            return None

    def spellings(self, document: StoredDocument) -> Spellings | None:
        """``Producer.spellings``; also None for a document that cannot be read."""
        producer = self.of(document.kind)
        try:
            return producer.spellings(document) if producer else None
        except (HeadwaterError, ValueError):
            return None

    def translators(self, rules: Rules) -> dict[DocumentKind, Translator]:
        """Translators by kind; the kinds of one producer share a translator."""
        translators: dict[DocumentKind, Translator] = {}
        for producer in self._producers:
            translator = producer.translator(rules, self.clock_tolerance)
            translators |= dict.fromkeys(producer.kinds, translator)
        return translators


PRODUCERS: Final = Producers((Spline(), Commands(), OpenLineage(), Declarations()))
"""The producers that the service reads; their order is part of the projection epoch."""
