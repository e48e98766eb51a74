"""A message -> its documents.

    a JSON text                           documents that a producer recognises, in an envelope too
    attributes named as in Kafka          a document of the kind and version that they announce
    {"headwater": "pointer", "key": …}    the text lies in the bucket for uploads
    {"Records": [{"s3": …}]}              S3 notifies of a document that was uploaded

A message is refused (InvalidInput) when no repetition can make it valid; Unavailable means later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import unquote_plus

from collectors.rewriting import Rules, rewrite
from collectors.sqs.queues import POINTER, PRINCIPAL, Message
from graph_model.documents.files import (
    Piece,
    Prepared,
    Refusal,
    classify,
    is_announced,
    kind_and_version,
    prepare,
)
from graph_model.documents.json_texts import gunzip, parse_json
from graph_model.errors import InvalidFields, InvalidInput
from graph_model.producers.openlineage.events.documents import RUN_EVENT_KIND
from graph_model.producers.openlineage.producer import SPECIFICATION
from graph_model.producers.registry import PRODUCERS, Producers
from graph_model.producers.spline.documents import API_VERSIONS, EVENT_KIND, PLAN_KIND
from graph_model.stores.documents import DocumentKind
from graph_model.stores.uploads import Uploaded, Uploads

UNKNOWN_SENDER: Final = "queue"
LINEAGE: Final = "lineage"


@dataclass(frozen=True, slots=True)
class Documents:
    """The documents of a message, checked and masked."""

    prepared: tuple[Prepared, ...]
    principal: str


@dataclass(frozen=True, slots=True)
class MessageReader:
    """``uploads`` is None where no bucket is set; ``limit`` bounds a document, in bytes."""

    uploads: Uploads | None
    rules: Rules
    limit: int
    producers: Producers = PRODUCERS

    def read(self, message: Message) -> Documents:
        """The documents of a message. Raises InvalidInput or Unavailable."""
        principal = message.attributes.get(PRINCIPAL, UNKNOWN_SENDER)
        value = parse_json(message.body.encode("utf-8", "surrogatepass"))
        if isinstance(value, Mapping):
            if value.get("headwater") == POINTER:
                value = parse_json(self._pointed(value).content)
            elif "Records" in value or value.get("Event") == "s3:TestEvent":
                return self._uploaded(value, message)
        return self._prepared(self._from_value(value, message), principal)

    def _prepared(self, pieces: Iterator[Piece], principal: str) -> Documents:
        return Documents(tuple(prepare(piece, self.producers) for piece in pieces), principal)

    # --- texts that a message carries ------------------------------------------------------------

    def _from_value(self, value: Any, message: Message) -> Iterator[Piece]:
        where = f"message {message.id}"
        if is_announced(message.attributes):
            kind, version = kind_and_version(message.attributes, self.producers)
            yield Piece(kind, version, value, where)
        else:
            yield from self._recognised(value, where)

    def _recognised(self, value: Any, where: str) -> Iterator[Piece]:
        for piece in classify(rewrite_all(value, self.rules), where, self.producers):
            if isinstance(piece, Refusal):
                raise InvalidInput(f"document: {piece.reason}")
            if piece.kind not in self.producers.from_clients or piece.scope is not None:
                raise InvalidFields({"document": [f"a document of a client, no {piece.kind}"]})
            yield piece

    # --- texts elsewhere -------------------------------------------------------------------------

    def _bucket(self) -> Uploads:
        if self.uploads is None:
            raise InvalidInput(
                "the text of this message lies in S3, and HEADWATER_UPLOADS is empty"
            )
        return self.uploads

    def _pointed(self, pointer: Mapping[str, Any]) -> Uploaded:
        key = pointer.get("key")
        if not isinstance(key, str):
            raise InvalidFields({"key": ["the key of an object"]})
        return self._bucket().read(key, self.limit)

    def _uploaded(self, notification: Mapping[str, Any], message: Message) -> Documents:
        """All objects of one notification, which is one as a rule; () for S3's test."""
        prepared: list[Prepared] = []
        principal = UNKNOWN_SENDER
        for key in _keys(notification, self._bucket()):
            uploaded = self._bucket().read(key, self.limit)
            principal = uploaded.text("principal") or UNKNOWN_SENDER
            pieces = self._of_upload(uploaded, f"object {key} (message {message.id})")
            prepared += (self._within_scope(piece, uploaded) for piece in pieces)
        return Documents(tuple(prepared), principal)

    def _within_scope(self, piece: Piece, uploaded: Uploaded) -> Prepared:
        """A document that names no scope has that of the key under which it was announced, and
        may name another one only where that key may.
        """
        prepared = prepare(piece, self.producers)
        scope, named = uploaded.text("scope"), prepared.submission.scope
        if not scope or (named and uploaded.metadata.get("any-scope") == "yes"):
            return prepared
        if named not in ("", scope):
            raise InvalidFields({"labels.captureScope": [f"{scope!r}, the scope of its key"]})
        return prepare(replace(piece, scope=scope), self.producers)

    def _of_upload(self, uploaded: Uploaded, where: str) -> Iterator[Piece]:
        packed = uploaded.metadata.get("encoding") == "gzip"
        content = gunzip(uploaded.content, self.limit) if packed else uploaded.content
        value = parse_json(content)
        kind, version = uploaded.metadata.get("kind"), uploaded.metadata.get("api-version", "")
        if kind == PLAN_KIND and version in API_VERSIONS:
            yield Piece(PLAN_KIND, version, value, where)
        elif kind == EVENT_KIND and version in API_VERSIONS:
            yield from _each(value, EVENT_KIND, version, where)
        elif kind == LINEAGE:
            rewritten = rewrite_all(value, self.rules)
            yield from _each(rewritten, RUN_EVENT_KIND, SPECIFICATION, where)
        else:
            raise InvalidFields({"kind": ["an object with a URL of POST /uploads"]})


def rewrite_all(value: Any, rules: Rules) -> Any:
    """One event, or each of a list."""
    return (
        [rewrite(event, rules) for event in value]
        if isinstance(value, list)
        else rewrite(value, rules)
    )


def _each(value: Any, kind: DocumentKind, version: str, where: str) -> Iterator[Piece]:
    values = value if isinstance(value, list) else [value]
    return (Piece(kind, version, event, f"{where}[{index}]") for index, event in enumerate(values))


def _keys(notification: Mapping[str, Any], uploads: Uploads) -> Iterator[str]:
    for record in notification.get("Records", ()):
        try:
            bucket, key = record["s3"]["bucket"]["name"], record["s3"]["object"]["key"]
        except (KeyError, TypeError):
            raise InvalidFields({"Records": ["notifications of S3"]}) from None
        if not uploads.holds(bucket):
            raise InvalidFields({"Records": [f"objects of the bucket for uploads, not {bucket!r}"]})
        yield unquote_plus(key)
