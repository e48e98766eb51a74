"""A document from a file or a queue -> a submission to the journal, with the routes' checks."""

from __future__ import annotations

from dataclasses import dataclass, replace

from graph_model import identity
from graph_model.documents.files import Piece
from graph_model.errors import InvalidFields
from graph_model.producers.producer import Reported
from graph_model.producers.registry import PRODUCERS, Producers
from graph_model.stores.documents import Submission


@dataclass(frozen=True, slots=True)
class Prepared:
    """A valid piece, as the journal would hold it.

    ``is_of_foreign_scope``: an export names a scope that the document itself does not.
    """

    piece: Piece
    submission: Submission
    is_of_foreign_scope: bool


def prepare(piece: Piece, producers: Producers = PRODUCERS) -> Prepared:
    """Check and mask as the piece's producer does. Raises InvalidInput that names the fault."""
    producer = producers.of(piece.kind)
    if producer is None:
        raise InvalidFields({"kind": [f"one of {', '.join(producers.kinds)}"]})
    reported = Reported(piece.kind, piece.api_version, piece.document)
    try:
        own = producer.submission(reported)
    except RecursionError:
        raise InvalidFields({"document": ["JSON that is nested less deeply"]}) from None
    if piece.subject_key not in {None, own.subject_key}:
        raise InvalidFields({"planId": [f"the id in its body, {own.subject_key}"]})
    scope = own.scope if piece.scope is None else piece.scope
    subject = identity.subject_id(scope, own.subject_key)
    return Prepared(piece, replace(own, scope=scope, subject=subject), scope != own.scope)
