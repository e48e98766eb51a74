"""The documents of one subject key -> facts, and a state for each document.

The producer of their kind translates them; this module has the rules for every format: damaged
bodies and failures of a translator. Nothing here touches a store.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from itertools import chain
from typing import Final

from graph_model import identity, naming
from graph_model.errors import InvalidDocument, Unavailable
from graph_model.naming import Rules
from graph_model.producers.producer import NO_EFFECTS, Additions, CommandEffects, Translator
from graph_model.producers.projections import Outcome, Projection, combined, projection_of
from graph_model.producers.registry import PRODUCERS, Producers
from graph_model.stores.documents import DocumentState, StoredDocument


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
