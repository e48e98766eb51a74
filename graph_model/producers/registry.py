"""Which producers there are: a value that is passed in, never changed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from graph_model.naming import Rules
from graph_model.producers.commands import Commands
from graph_model.producers.openlineage import OpenLineage
from graph_model.producers.producer import Producer, Translator
from graph_model.producers.spline import Spline
from graph_model.store import DocumentKind


class Producers:
    """Producers by the kinds of their documents. Raises ValueError where two share a kind."""

    def __init__(self, producers: Iterable[Producer]) -> None:
        self._producers = tuple(producers)
        kinds = [kind for producer in self._producers for kind in producer.kinds]
        if len(kinds) != len(set(kinds)):
            raise ValueError("two producers share a kind of documents")
        self.additions: Final = frozenset[DocumentKind]().union(
            *(producer.additions for producer in self._producers)
        )
        self.versions: Final = tuple(
            version for producer in self._producers for version in producer.versions
        )

    def translators(self, rules: Rules) -> dict[DocumentKind, Translator]:
        """By kind; the kinds of one producer share a translator."""
        found: dict[DocumentKind, Translator] = {}
        for producer in self._producers:
            found |= dict.fromkeys(producer.kinds, producer.translator(rules))
        return found


PRODUCERS: Final = Producers((Spline(), OpenLineage(), Commands()))
"""Those of the service; the order of ``versions`` is part of the projection epoch."""
