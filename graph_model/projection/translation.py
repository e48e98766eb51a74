"""The documents of one subject key -> what the stores must hold of them, and what becomes of each.

The producer of their kind translates them; here is what holds for every format: documents whose
bodies are damaged and failures of a translator. Nothing here touches a store.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from importlib.metadata import version

from graph_model import identity, naming
from graph_model.commands import NO_ORDERS, Orders
from graph_model.errors import Unavailable
from graph_model.naming import Rules
from graph_model.producers.registry import PRODUCERS, Producers
from graph_model.projection.outcome import Outcome
from graph_model.projection.plans import GATHERING_VERSION
from graph_model.projection.projections import Projection, projection_of
from graph_model.store import DocumentState, StoredDocument


def projection_epoch(rules: Rules, producers: Producers = PRODUCERS) -> str:
    """Changes when equal documents must be projected anew: translator version and rules."""
    parser = version("sqlglot")  # another parser may find the tables of another JDBC query
    return identity.digest(
        "projection",
        *producers.versions,
        GATHERING_VERSION,
        naming.rules_digest(rules),
        parser,
    )


class Translation:
    """Translates the documents of subject keys, of every format, under one set of rules."""

    def __init__(self, rules: Rules, producers: Producers = PRODUCERS) -> None:
        self._translators = producers.translators(rules)
        self._additions = producers.additions

    def forget(self) -> None:
        """Drop what is remembered and a command may have changed."""
        for translator in self._translators.values():
            translator.forget()

    def knows(self, document: StoredDocument) -> bool:
        """Whether an addition to this document can be translated without its body."""
        return self._translators[document.kind].knows(document)

    def needs_all(self, document: StoredDocument) -> bool:
        """Whether a new document is translated together with all others of its subject key."""
        return document.kind not in self._additions

    def project(
        self, documents: Sequence[StoredDocument], orders: Orders = NO_ORDERS
    ) -> Projection:
        """What the PENDING ones among these documents add, and what they take back.

        ``documents`` are all plan documents of the plan id and at least its PENDING events; all
        events too when a plan document is PENDING. What cannot be translated is set aside with
        its reason, a document whose stored body is damaged like any other; only Unavailable is
        raised.
        """
        new = {d.position for d in documents if d.state == DocumentState.PENDING}
        return self._try(documents, new, orders)

    def project_all(
        self, documents: Sequence[StoredDocument], orders: Orders = NO_ORDERS
    ) -> Projection:
        """All facts of these documents (every one of the plan id), as if they had just come.

        Of a command the rows alone: what it takes away, others must carry out.
        """
        return self._try(documents, {document.position for document in documents}, orders)

    def _try(
        self, documents: Sequence[StoredDocument], new: Collection[int], orders: Orders
    ) -> Projection:
        damaged = [document for document in documents if document.damage]
        if damaged:
            whole = [document for document in documents if not document.damage]
            return _with_damaged(self._try(whole, new, orders), damaged, orders)
        if not documents:
            return Projection((), None, ())
        try:
            return self._translators[documents[0].kind].project(documents, new, orders)
        except Unavailable:
            raise
        except Exception as error:
            return _set_aside(documents, new, error)


def _with_damaged(
    projection: Projection, damaged: Sequence[StoredDocument], orders: Orders
) -> Projection:
    """What the others say, and the damaged ones set aside; one that a command forgets leaves.

    What a damaged document said earlier stands until everything is projected anew: nobody can tell
    any more what it was.
    """
    outcome = Outcome()
    outcome.drop(one for one in damaged if one.content_hash in orders.forgotten)
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
