"""Producers: each kind of document has one, and the translation knows no other format."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from graph_model import labels
from graph_model.facts import Facts, Vertex
from graph_model.naming import Rules
from graph_model.producers.commands import COMMAND_KIND, Command, Commands, Forget, write_command
from graph_model.producers.openlineage.events.documents import RUN_EVENT_KIND
from graph_model.producers.producer import NO_EFFECTS, CommandEffects, ProjectAll, Reported
from graph_model.producers.projections import Projection
from graph_model.producers.registry import PRODUCERS, Producers, Translation, projection_epoch
from graph_model.producers.spline.documents import PLAN_KIND
from graph_model.producers.spline.producer import Spline
from graph_model.stores.documents import DocumentKind, DocumentState, StoredDocument, Submission

RULES = Rules()
ROOT = Path(__file__).resolve().parents[4]


class Lines:
    """A toy format: the body of a document is the id of a vertex."""

    kinds = (RUN_EVENT_KIND,)
    additions = frozenset({RUN_EVENT_KIND})
    from_clients = True
    api_versions = ("1",)
    versions = ("lines 1",)
    announced: Mapping[str, DocumentKind] = {}
    openings: tuple[str, ...] = ()
    spelled: frozenset[DocumentKind] = frozenset()

    def recognise(self, document: Mapping[str, Any]) -> Sequence[Reported]:
        raise NotImplementedError

    def submission(self, reported: Reported) -> Submission:
        raise NotImplementedError

    def translator(self, rules: Rules, clock_tolerance: int) -> LinesTranslator:
        return LinesTranslator()


class LinesTranslator:
    @property
    def additions(self) -> LinesTranslator:
        return self

    def project(
        self,
        documents: Sequence[StoredDocument],
        new: Collection[int],
        orders: CommandEffects,
    ) -> Projection:
        chosen = [document for document in documents if document.position in new]
        parts = tuple(Facts((Vertex(item.body.decode(), labels.DATASET),)) for item in chosen)
        states = tuple((item.position, DocumentState.PROJECTED, None) for item in chosen)
        return Projection(parts, None, states)

    def knows(self, document: StoredDocument) -> bool:
        return True

    def unlearn(self, document: StoredDocument) -> None:
        pass

    def suffices(self, document: StoredDocument) -> bool:
        return True

    def project_pieces(
        self,
        others: Sequence[StoredDocument],
        additions: Iterator[StoredDocument],
        project: ProjectAll,
        forgotten: Collection[str],
        batch_size: int,
    ) -> Iterator[Projection]:
        yield project(others)
        while piece := list(islice(additions, batch_size)):
            yield project(piece)

    def forget(self) -> None:
        pass


def stored(kind: DocumentKind, body: bytes, position: int = 1, damage: str = "") -> StoredDocument:
    state, size = DocumentState.PENDING, len(body)
    return StoredDocument(
        position, kind, "1", "key", "", "subject", str(position), state, None, 0, size, body, damage
    )


def test_each_kind_of_document_has_a_producer() -> None:
    assert tuple(PRODUCERS.translators(RULES)) == PRODUCERS.kinds
    assert PRODUCERS.of("plan") is PRODUCERS.of("event") is not PRODUCERS.of("command")
    assert PRODUCERS.of("no kind") is None


def test_additions_are_added_to_the_other_kinds_of_their_producer() -> None:
    assert (PRODUCERS.bases, PRODUCERS.additions) == ({"plan"}, {"event"})


def test_documents_of_a_kind_without_a_producer_are_set_aside() -> None:
    projection = Translation(RULES).project([stored(DocumentKind("gone"), b"{}")])
    ((_, state, reason),) = projection.states
    assert (state, reason and "a producer" in reason) == (DocumentState.FAILED, True)


def test_two_formats_under_one_key_do_not_know_of_each_other() -> None:
    translation = Translation(RULES, Producers((Lines(), Spline())))
    mixed = translation.project([stored(RUN_EVENT_KIND, b"a"), stored(PLAN_KIND, b"{", 2)])
    assert [vertex.id for vertex in mixed.facts.vertices] == ["a"]
    assert {at: state for at, state, _ in mixed.states} == {
        1: DocumentState.PROJECTED,
        2: DocumentState.FAILED,
    }


def test_additions_are_translated_in_pieces_of_a_bounded_number() -> None:
    translation = Translation(RULES, Producers((Lines(),)))
    documents = [stored(RUN_EVENT_KIND, str(at).encode(), at) for at in range(1, 6)]
    pieces = list(translation.project_pieces(documents, NO_EFFECTS, batch_size=2))
    assert [len(piece.states) for piece in pieces] == [0, 2, 2, 1]
    (whole,) = translation.project_pieces(documents, NO_EFFECTS, batch_size=5)
    assert {at for piece in pieces for at, _, _ in piece.states} == {
        at for at, _, _ in whole.states
    }


def test_two_producers_of_one_kind_are_refused() -> None:
    with pytest.raises(ValueError, match="share a kind"):
        Producers((Spline(), Commands(), Spline()))


def test_the_translation_takes_a_format_from_its_producer_alone() -> None:
    translation = Translation(RULES, Producers((Lines(),)))
    first = stored(RUN_EVENT_KIND, b"a")
    assert not translation.needs_all(first)
    assert translation.knows(first)
    assert [vertex.id for vertex in translation.project([first]).facts.vertices] == ["a"]


def test_damage_and_failures_are_set_aside_whatever_the_format() -> None:
    translation = Translation(RULES, Producers((Lines(),)))
    damaged = stored(RUN_EVENT_KIND, b"", 2, damage="is cut off")
    mixed = translation.project([stored(RUN_EVENT_KIND, b"a"), damaged])
    assert [vertex.id for vertex in mixed.facts.vertices] == ["a"]
    assert [state for _, state, _ in mixed.states] == [
        DocumentState.PROJECTED,
        DocumentState.FAILED,
    ]
    failing = translation.project([stored(RUN_EVENT_KIND, b"\xff", 3)])
    assert [(at, state) for at, state, _ in failing.states] == [(3, DocumentState.FAILED)]


def test_another_version_of_a_producer_projects_everything_anew() -> None:
    assert projection_epoch(RULES, Producers((Lines(),))) != projection_epoch(RULES)


def test_a_command_that_cannot_be_read_leaves_the_others_translated() -> None:
    command = Command("ann", 0, "", "job:default/demo", Forget((), ("a" * 64,)))
    forget = json.dumps(write_command(command)).encode()
    documents = [
        stored(COMMAND_KIND, b"{"),
        stored(COMMAND_KIND, forget, 2),
        stored(COMMAND_KIND, b"", 3, damage="is cut off"),
    ]
    projection = Translation(RULES).project_all(documents)
    assert {at: state for at, state, _ in projection.states} == {
        1: DocumentState.FAILED,
        2: DocumentState.PROJECTED,
        3: DocumentState.FAILED,
    }
    assert projection.facts.rows


ENTRANCES = ("[a-z]*.py", "*/producer.py", "*/documents.py")


def test_every_module_that_others_enter_by_can_be_the_first_that_is_imported() -> None:
    """A package runs its ``__init__`` before any module of it, so order decides about circles."""
    house = ROOT / "graph_model" / "producers"
    paths = [path for pattern in ENTRANCES for path in house.glob(pattern)]
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths]
    program = (
        "import importlib, sys\n"
        "for name in sys.argv[1:]:\n"
        "    importlib.import_module(name)\n"
        "    for known in [one for one in sys.modules if one.startswith('graph_model')]:\n"
        "        del sys.modules[known]\n"
    )
    assert len(names) > len(ENTRANCES)
    subprocess.run([sys.executable, "-c", program, *names], check=True)
