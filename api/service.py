"""The parts that a running Headwater is made of, as the routes see them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final, Protocol, cast

from flask import Flask, current_app

from graph_model.store import Catalogue, DocumentState, Graph, Journal

_EXTENSION: Final = "headwater"


class Projector(Protocol):
    """Keeps graph and catalogue up with the journal (``graph_model.projector``)."""

    @property
    def state(self) -> str:
        """``ready``, ``rebuilding`` or ``unavailable``."""

    def notify(self, subject: str = "") -> None:
        """A subject has new documents."""

    def wait(self, positions: Collection[int], timeout: float) -> bool:
        """Wait, at most ``timeout`` seconds, until none of these documents is pending."""

    def lag(self) -> int:
        """How many documents are accepted and not projected yet."""

    def replay(self, states: Collection[DocumentState]) -> int:
        """Set documents in these states back to pending; how many."""


@dataclass(frozen=True, slots=True)
class Service:
    """``clock`` gives epoch milliseconds. Every part is safe from several threads."""

    journal: Journal
    projector: Projector
    graph: Graph
    catalogue: Catalogue
    clock: Callable[[], int]


def attach(app: Flask, service: Service) -> None:
    """Make ``current_service`` find this service inside requests of this app."""
    app.extensions[_EXTENSION] = service


def current_service() -> Service:
    """The service of the app that answers the current request."""
    return cast(Service, current_app.extensions[_EXTENSION])
