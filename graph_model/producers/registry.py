"""The producers of a Headwater, as an immutable value; the documents of one subject key -> facts,
and a state for each document.

The producer of their kind translates them; :class:`Translation` has the rules for every format:
damaged bodies and failures of a translator. Nothing here touches a store.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from itertools import chain
from typing import Final

from graph_model import identity, naming
from graph_model.errors import HeadwaterError, InvalidDocument, Unavailable
from graph_model.json_fields import JsonObject
from graph_model.naming import Rules
from graph_model.producers.bounds import TOLERANCE_MS
from graph_model.producers.commands import Commands
from graph_model.producers.declared import Declarations
from graph_model.producers.openlineage.producer import OpenLineage
from graph_model.producers.producer import (
    NO_EFFECTS,
    Additions,
    CommandEffects,
    Producer,
    Spellings,
    Translator,
)
from graph_model.producers.projections import Outcome, Projection, combined, projection_of
from graph_model.producers.spline.producer import Spline
from graph_model.stores.documents import DocumentKind, DocumentState, StoredDocument


class Producers:
    """Producers by the kinds of their documents. Raises ValueError where two share a kind.

    ``clock_tolerance``: how far a document's time may be after its receipt (``bounds``), in
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


def projection_epoch(rules: Rules, producers: Producers = PRODUCERS) -> str:
    """Changes when equal documents must be projected anew: versions of translators, rules, and the
    tolerance for clocks.
    """
    digest, tolerance = naming.rules_digest(rules), producers.clock_tolerance
    return identity.digest("projection", *producers.versions, digest, _parser_version(), tolerance)


@cache
def _parser_version() -> str:
    """Another version of sqlglot may find other tables in a JDBC query."""
    return version("sqlglot")


class Translation:
    """Translates the documents of subject keys, of every format, under one set of rules."""

    def __init__(self, rules: Rules, producers: Producers = PRODUCERS) -> None:
        self._translators = producers.translators(rules)
        self.bases: Final = producers.bases
        self.additions: Final = producers.additions

    def forget(self) -> None:
        """Drop the cached values that a command may have changed."""
        for translator in self._translators.values():
            translator.forget()

    def unlearn(self, documents: Iterable[StoredDocument]) -> None:
        """The facts of these documents are not written, as their translators believe."""
        for document in documents:
            if (additions := self._additions_of(document)) is not None:
                additions.unlearn(document)

    def knows(self, document: StoredDocument) -> bool:
        """Whether an addition to this document can be translated without its body."""
        additions = self._additions_of(document)
        return additions is not None and additions.knows(document)

    def suffices(self, document: StoredDocument) -> bool:
        """Whether a new document can be translated once the others of its key are known."""
        additions = None if self.needs_all(document) else self._additions_of(document)
        return additions is not None and additions.suffices(document)

    def needs_all(self, document: StoredDocument) -> bool:
        """Whether a new document is translated together with all others of its subject key."""
        return document.kind not in self.additions

    def _additions_of(self, document: StoredDocument) -> Additions | None:
        translator = self._translators.get(document.kind)
        return None if translator is None else translator.additions

    def project(
        self, documents: Sequence[StoredDocument], effects: CommandEffects = NO_EFFECTS
    ) -> Projection:
        """The facts that the PENDING documents among these add, and those that they withdraw.

        ``documents`` are all plan documents of the subject key and at least its PENDING events; all
        events too when a plan document is PENDING. A document that cannot be translated fails with
        its reason, as does one whose stored body is damaged; only Unavailable is raised.
        """
        new = {d.position for d in documents if d.state == DocumentState.PENDING}
        return self._try(documents, new, effects)

    def project_all(
        self, documents: Sequence[StoredDocument], effects: CommandEffects = NO_EFFECTS
    ) -> Projection:
        """All facts of these documents (every one of the subject key), as if all were new.

        For a command only its rows: the caller carries out the removals.
        """
        return self._try(documents, {document.position for document in documents}, effects)

    def project_pieces(
        self, documents: Iterable[StoredDocument], effects: CommandEffects, *, batch_size: int
    ) -> Iterator[Projection]:
        """As ``project_all``, in pieces whose union is the whole: in the memory that ``batch_size``
        additions take. ``documents`` come with the additions last.
        """
        rest = iter(documents)
        others: list[StoredDocument] = []
        first: list[StoredDocument] = []
        for document in rest:
            (others if self.needs_all(document) else first).append(document)
            if len(first) > batch_size:
                break
        additions = self._additions_of(first[0]) if len(first) > batch_size else None
        if additions is None:
            yield self.project_all([*others, *first, *rest], effects)
            return
        yield from additions.project_pieces(
            others,
            chain(first, rest),
            lambda some: self.project_all(some, effects),
            effects.forgotten,
            batch_size,
        )

    def _try(
        self, documents: Sequence[StoredDocument], new: Collection[int], effects: CommandEffects
    ) -> Projection:
        damaged = [document for document in documents if document.damage]
        if damaged:
            whole = [document for document in documents if not document.damage]
            return _with_damaged(self._try(whole, new, effects), damaged, effects)
        if not documents:
            return Projection((), None, ())
        formats = dict[Translator | None, list[StoredDocument]]()
        for document in documents:
            formats.setdefault(self._translators.get(document.kind), []).append(document)
        if len(formats) > 1:  # formats are independent
            return combined(self._try(some, new, effects) for some in formats.values())
        (translator,) = formats
        try:
            if translator is None:
                raise InvalidDocument("kind", "one that a producer of this Headwater has")
            return translator.project(documents, new, effects)
        except Unavailable:
            raise
        except Exception as error:
            return _set_aside(documents, new, error)


def _with_damaged(
    projection: Projection, damaged: Sequence[StoredDocument], effects: CommandEffects
) -> Projection:
    """The projection of the others, with the damaged documents failed; a forgotten one is deleted.

    Facts of a damaged document stay until everything is projected anew, because its former content
    is unknown.
    """
    outcome = Outcome()
    outcome.drop(document for document in damaged if document.content_hash in effects.forgotten)
    for document in damaged:
        if document.position not in outcome.dropped:
            outcome.set_damaged_aside(document)
    return replace(
        projection,
        states=projection.states + outcome.changes(damaged),
        dropped=tuple(sorted({*projection.dropped, *outcome.dropped})),
    )


def _set_aside(
    documents: Sequence[StoredDocument], new: Collection[int], error: Exception
) -> Projection:
    outcome = Outcome()
    outcome.set_aside([d for d in documents if d.position in new], error)
    return projection_of(outcome, None, documents)
