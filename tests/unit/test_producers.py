"""Producers: each kind of document has one, and the translation knows no other format."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

import pytest

from graph_model import labels
from graph_model.commands import Command, Forget, Orders, write_command
from graph_model.facts import Facts, Vertex
from graph_model.naming import Rules
from graph_model.producers.commands import Commands
from graph_model.producers.registry import PRODUCERS, Producers
from graph_model.producers.spline import Spline
from graph_model.projection.projections import Projection
from graph_model.projection.translation import Translation, projection_epoch
from graph_model.store import DocumentKind, DocumentState, StoredDocument

RULES = Rules()


class Lines:
    """A toy format: the body of a document is the id of a vertex."""

    kinds = frozenset({DocumentKind.RUN_EVENT})
    additions = frozenset({DocumentKind.RUN_EVENT})
    versions = ("lines 1",)

    def translator(self, rules: Rules) -> Lines:
        return self

    def project(
        self,
        documents: Sequence[StoredDocument],
        new: Collection[int],
        orders: Orders,
    ) -> Projection:
        chosen = [one for one in documents if one.position in new]
        parts = tuple(Facts((Vertex(one.body.decode(), labels.DATASET),)) for one in chosen)
        states = tuple((one.position, DocumentState.PROJECTED, None) for one in chosen)
        return Projection(parts, None, states)

    def knows(self, document: StoredDocument) -> bool:
        return True

    def forget(self) -> None:
        pass


def stored(kind: DocumentKind, body: bytes, position: int = 1, damage: str = "") -> StoredDocument:
    state, size = DocumentState.PENDING, len(body)
    return StoredDocument(
        position, kind, "1", "key", "", "subject", str(position), state, None, 0, size, body, damage
    )


def test_each_kind_of_document_has_a_producer() -> None:
    assert set(PRODUCERS.translators(RULES)) == set(DocumentKind)


def test_two_producers_of_one_kind_are_refused() -> None:
    with pytest.raises(ValueError, match="share a kind"):
        Producers((Spline(), Commands(), Spline()))


def test_the_translation_takes_a_format_from_its_producer_alone() -> None:
    translation = Translation(RULES, Producers((Lines(),)))
    one = stored(DocumentKind.RUN_EVENT, b"a")
    assert not translation.needs_all(one)
    assert translation.knows(one)
    assert [vertex.id for vertex in translation.project([one]).facts.vertices] == ["a"]


def test_damage_and_failures_are_set_aside_whatever_the_format() -> None:
    translation = Translation(RULES, Producers((Lines(),)))
    damaged = stored(DocumentKind.RUN_EVENT, b"", 2, damage="is cut off")
    mixed = translation.project([stored(DocumentKind.RUN_EVENT, b"a"), damaged])
    assert [vertex.id for vertex in mixed.facts.vertices] == ["a"]
    assert [state for _, state, _ in mixed.states] == [
        DocumentState.PROJECTED,
        DocumentState.FAILED,
    ]
    failing = translation.project([stored(DocumentKind.RUN_EVENT, b"\xff", 3)])
    assert [(at, state) for at, state, _ in failing.states] == [(3, DocumentState.FAILED)]


def test_another_version_of_a_producer_projects_everything_anew() -> None:
    assert projection_epoch(RULES, Producers((Lines(),))) != projection_epoch(RULES)


def test_a_command_that_cannot_be_read_leaves_the_others_translated() -> None:
    command = Command("ann", 0, "", "job:default/demo", Forget((), ("a" * 64,)))
    forget = json.dumps(write_command(command)).encode()
    documents = [
        stored(DocumentKind.COMMAND, b"{"),
        stored(DocumentKind.COMMAND, forget, 2),
        stored(DocumentKind.COMMAND, b"", 3, damage="is cut off"),
    ]
    projection = Translation(RULES).project_all(documents)
    assert {at: state for at, state, _ in projection.states} == {
        1: DocumentState.FAILED,
        2: DocumentState.PROJECTED,
        3: DocumentState.FAILED,
    }
    assert projection.facts.rows
