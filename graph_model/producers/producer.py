"""The two protocols that a format implements."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from graph_model.commands import Orders
from graph_model.naming import Rules
from graph_model.projection.projections import Projection
from graph_model.store import DocumentKind, StoredDocument


class Translator(Protocol):
    """Translates the documents of one format under one set of rules. No I/O, clock or environment.

    What it remembers makes it faster and changes no answer.
    """

    def project(
        self, documents: Sequence[StoredDocument], new: Collection[int], orders: Orders
    ) -> Projection:
        """What the documents of one subject key say; none of their bodies is damaged.

        ``new`` are the positions of those to translate. What cannot be translated is set aside
        with its reason; an exception sets all new documents aside.
        """

    def knows(self, document: StoredDocument) -> bool:
        """Whether this document need not be read again to translate an addition to it."""

    def forget(self) -> None:
        """Drop what is remembered and a command may have changed."""


class Producer(Protocol):
    """One format in which lineage is reported.

    ``kinds`` of documents are its own. Of its ``additions`` a new document adds its facts to its
    subject's; of the other kinds all documents of the subject are translated together.
    ``versions`` change when equal documents give other facts.
    """

    @property
    def kinds(self) -> frozenset[DocumentKind]: ...

    @property
    def additions(self) -> frozenset[DocumentKind]: ...

    @property
    def versions(self) -> tuple[object, ...]: ...

    def translator(self, rules: Rules) -> Translator:
        """A translator of these documents; several may be in use at once."""
