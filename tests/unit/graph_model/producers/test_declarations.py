"""Declarations as documents: pure translation, and removals in every order."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

from graph_model.documents.files import Piece, prepare
from graph_model.errors import InvalidDocument
from graph_model.facts import CommandRow, DeclarationRow, ExecutionRow
from graph_model.naming import DEFAULT_RULES, JobName
from graph_model.producers.commands import Command, Retract, read_command, submit, write_command
from graph_model.producers.declared import (
    DECLARATION_KIND,
    ColumnMapping,
    Declaration,
    declaration_submission,
    name_dataset,
    write_declaration,
)
from graph_model.producers.openlineage.events.documents import (
    RUN_EVENT_KIND,
    read_event,
    subject_key,
)
from graph_model.producers.openlineage.producer import event_submission
from graph_model.stores.documents import Submission
from pipeline.journal import read_commands_in_force
from tests.openlineage_facts import facts_of_declaration
from tests.projections import SmallHeadwater, lineage_event, project

PEOPLE, STAFF = "s3://lake/people", "s3://sheets/staff"
TIME = "2026-01-01T00:00:00.000Z"


def a_declaration(author: str = "ann", **values: Any) -> Declaration:
    given: dict[str, Any] = {
        "author": author, "declared_at": TIME, "since": TIME, "note": "", "scope": "",
        "job": JobName("finance", "upload", shared=False), "target": STAFF, "sources": (PEOPLE,),
        "columns": (ColumnMapping(PEOPLE, "email", "mail"),),
    } | values  # fmt: skip
    return Declaration(**given)


def document(one: Declaration) -> dict[str, Any]:
    return write_declaration(one, DEFAULT_RULES)


def retraction(*submissions: Submission) -> Submission:
    hashes = tuple(submission.content_hash for submission in submissions)
    order = Retract(tuple(submission.subject_key for submission in submissions), hashes)
    return submit(Command("root", 5, "", "slip", order))


def test_the_document_holds_the_declared_lineage() -> None:
    facts = facts_of_declaration(read_event(document(a_declaration(note="why"))))  # type: ignore[arg-type]
    (row,) = (row for row in facts.rows if isinstance(row, DeclarationRow))
    assert (row.author, row.note, row.id) == ("ann", "why", a_declaration().id)
    body = json.loads(row.body)
    assert [source["uri"] for source in body["sources"]] == [PEOPLE]
    assert [(column["from"], column["to"]) for column in body["columns"]] == [("email", "mail")]
    (execution,) = (row for row in facts.rows if isinstance(row, ExecutionRow))
    assert execution.kind == "declaration"
    origins = {edge.value("origin") for edge in facts.edges} - {None}
    assert origins == {"declared"}


def test_a_job_of_a_client_keeps_its_own_origins() -> None:
    answer = document(a_declaration())
    del answer["job"]["facets"]["headwater_declaration"]
    facts = facts_of_declaration(read_event(answer))  # type: ignore[arg-type]
    assert {edge.value("origin") for edge in facts.edges} - {None} == {"explicit"}
    assert not any(isinstance(row, DeclarationRow) for row in facts.rows)


@pytest.mark.parametrize("change", ["author", "job", "target", "sources", "columns", "scope"])
def test_another_content_or_author_makes_another_declaration(change: str) -> None:
    other = {
        "author": "bob", "job": JobName("finance", "other", shared=False), "target": "s3://x/y",
        "sources": (PEOPLE, "s3://a/b"), "columns": (), "scope": "lab",
    }[change]  # fmt: skip
    assert a_declaration(**{change: other}).id != a_declaration().id


def test_when_and_why_do_not() -> None:
    assert a_declaration(note="x", since="2027-01-01T00:00:00.000Z").id == a_declaration().id


def test_each_declaration_is_a_subject_of_its_own() -> None:
    keys = {subject_key(read_event(document(a_declaration(author)))) for author in ("ann", "bob")}
    assert len(keys) == 2
    assert all(key.startswith("declaration:") for key in keys)


@pytest.mark.parametrize(
    "uri",
    [
        "s3://lake/people", "s3://lake/a/b", "file:/lake/people", "kafka:topic", "hdfs:///x/y",
        "jdbc:postgresql://h:5432/db:hr.t", "s3://lake", "glue://1/eu/db.t", "bigquery://p:d.t",
    ],
)  # fmt: skip
def test_the_names_in_the_event_give_the_uri_back(uri: str) -> None:
    from graph_model.naming import openlineage_uri

    assert openlineage_uri(**name_dataset(uri, DEFAULT_RULES)) == uri


def test_nobody_else_may_write_the_facet() -> None:
    with pytest.raises(InvalidDocument, match="headwater_declaration"):
        event_submission(document(a_declaration()))
    with pytest.raises(InvalidDocument, match="expected an event"):
        event_submission({**document(a_declaration()), "job": None})


def test_a_retract_command_is_read_back() -> None:
    command = Command("root", 5, "why", "slip", Retract(("declaration:1",), ("hash",)))
    assert read_command(write_command(command)) == command
    with pytest.raises(InvalidDocument, match="documents"):
        read_command({**write_command(command), "documents": [1]})


def test_removals_come_to_the_same_in_every_order() -> None:
    ann, bob = (lineage_event(document(a_declaration(author))) for author in ("ann", "bob"))
    other = lineage_event(document(a_declaration("ann", target="s3://sheets/other")))
    documents = [ann, bob, other, retraction(ann, other)]
    result = []
    for number, order in enumerate(permutations(documents)):
        headwater = project(order, stepwise=number % 3 == 0)
        elements, rows = headwater.elements()
        result.append((elements, [row for row in rows if not isinstance(row, CommandRow)]))
        headwater.close()
    alone = project([bob], stepwise=False)
    elements, rows = alone.elements()
    alone.close()
    assert all(item == (elements, list(rows)) for item in result)


def test_a_bulk_rebuild_leaves_out_retracted_documents() -> None:
    ann = lineage_event(document(a_declaration()))
    command = retraction(ann)
    in_force = read_commands_in_force([(command.content_hash, command.body)])
    assert in_force.effects.retracted == {ann.content_hash}


def test_a_declaration_journaled_as_a_job_event_says_the_same() -> None:
    first, other = a_declaration(), a_declaration("bob")
    former, declared = lineage_event(document(first)), declaration_submission(document(first))
    assert (former.kind, declared.kind) == ("job-event", DECLARATION_KIND)
    assert (former.subject_key, former.body) == (declared.subject_key, declared.body)
    alone, both = project([former], stepwise=True), project([former, declared], stepwise=True)
    anew = project([declared], stepwise=False)
    assert alone.elements() == anew.elements() == both.elements()
    mixed = [former, declaration_submission(document(other)), retraction(former, declared)]
    expected = project([declaration_submission(document(other))], stepwise=False)
    for order in permutations(mixed):
        result = project(order, stepwise=True)
        assert without_commands(result) == without_commands(expected)
        result.close()
    for headwater in (alone, both, anew, expected):
        headwater.close()


def without_commands(headwater: SmallHeadwater) -> object:
    elements, rows = headwater.elements()
    return elements, [row for row in rows if not isinstance(row, CommandRow)]


def test_an_export_keeps_declarations_and_an_event_cannot_claim_to_be_one() -> None:
    said = declaration_submission(document(a_declaration(scope="east")), "east")
    piece = Piece(DECLARATION_KIND, "2", json.loads(said.body), "x:1", "east", said.subject_key)
    assert prepare(piece).submission == said
    with pytest.raises(InvalidDocument, match="no such facet"):
        prepare(replace(piece, kind=RUN_EVENT_KIND))
    answer = document(a_declaration())
    del answer["job"]["facets"]["headwater_declaration"]
    with pytest.raises(InvalidDocument, match="author, note and time of the declaration"):
        prepare(replace(piece, document=answer))
