"""Lines of a backup or an export -> documents: pure, a line at a time, in any order.

    {"headwater": "backup", …}                               a backup begins
    {"position": 1, "kind": "plan", …, "body": "{…}"}        a document of a backup: text
    {"position": 1, "kind": "plan", …, "body": {…}}          a document of an export: JSON
    {"damaged": {"position": 2, "kind": "plan", …}}          one that the backup could not read
    {"raw": …}, {"key": …}                                   of a backup; hold no document
    {"end": {"documents": 1, …}}                             a backup ends

A document of an export has no hash: its body is the compact JSON that the journal keeps, so the
hash is computed again. The hash in a backup is compared with the body. A document with a damaged
body comes without it and is set aside with its reason, as in the service.

Forget and prune commands are read from the whole journal before the translation.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from graph_model import identity, naming
from graph_model.errors import HeadwaterError
from graph_model.naming import Rules
from graph_model.naming.rules_json import read_rules
from graph_model.producers.commands import (
    Command,
    CommandKind,
    Forget,
    Statement,
    collect_effects,
    read_command,
)
from graph_model.producers.producer import CommandEffects
from graph_model.stores.bodies import S3Bodies, open_bodies
from graph_model.stores.documents import DocumentKind, DocumentState, StoredDocument, content_hash
from graph_model.stores.journal.large_bodies import MARK
from graph_model.stores.journal.packing import read_body

DOCUMENT: Final = "document"
BEGIN: Final = "begin"
END: Final = "end"
REFUSED: Final = "refused"
_MOST_SHOWN: Final = 200


class Line(NamedTuple):
    """One line. ``part`` is DOCUMENT, BEGIN, END (``position``: how many documents the backup has)
    or REFUSED (``kind``: why). ``damage`` is that of ``stores.documents.StoredDocument``.
    """

    part: str
    subject_key: str = ""
    content_hash: str = ""
    scope: str = ""
    position: int = 0
    kind: str = ""
    api_version: str = ""
    received_at: int = 0
    body: bytes = b""
    damage: str = ""


def read_lines(lines: Iterable[str]) -> Iterator[Line]:
    """Each line as a value; an unreadable one is REFUSED and does not affect the others."""
    for text in lines:
        if not text.strip():
            continue
        try:
            line = _read(json.loads(text))
        except (ValueError, KeyError, TypeError) as error:
            problem = f"no {error}" if isinstance(error, KeyError) else str(error)
            yield Line(REFUSED, kind=f"{problem}: {text[:_MOST_SHOWN]}")
            continue
        if line is not None:
            yield line


def _read(line: Any) -> Line | None:
    if not isinstance(line, dict):
        raise ValueError("expected a JSON object")
    if "position" in line:
        return _document(line)
    if "headwater" in line:
        return Line(BEGIN)
    if "end" in line:
        return Line(END, position=int(line["end"]["documents"]))
    if "damaged" in line:
        return _damaged(line["damaged"])
    if "raw" in line or "key" in line:
        return None
    raise ValueError("neither a backup nor an export of a journal")


def _document(line: dict[str, Any]) -> Line:
    document = Line(
        DOCUMENT,
        position=int(line["position"]),
        kind=_text(line, "kind"),
        api_version=_text(line, "apiVersion"),
        subject_key=_text(line, "planId"),
        scope=_text(line, "scope"),
        received_at=int(line["receivedAt"]),
        body=_body(line),
    )
    return _with_hash(document, line.get("contentHash"))


def _with_hash(document: Line, expected: str | None) -> Line:
    """Raises ValueError where the hash of the body is not the expected one."""
    content = content_hash(document.kind, document.api_version, document.body)
    if expected is not None and expected != content:
        raise ValueError(f"the content of document {document.position} has another hash")
    return document._replace(content_hash=content)


def _damaged(record: dict[str, Any]) -> Line | None:
    """A document that a backup could not hold; of a damaged receipt nothing."""
    if "receipt" in record:
        return None
    return Line(
        DOCUMENT,
        position=int(record["position"]),
        kind=_text(record, "kind"),
        subject_key=_text(record, "planId"),
        scope=_text(record, "scope"),
        content_hash=_text(record, "contentHash"),
        damage=_text(record, "reason").removeprefix("its body "),
    )


def _body(line: dict[str, Any]) -> bytes:
    if "base64" in line:
        return base64.b64decode(line["base64"], validate=True)
    body = line["body"]
    if isinstance(body, str):
        return body.encode()
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def _text(line: dict[str, Any], name: str) -> str:
    value = line[name]
    if not isinstance(value, str):
        raise ValueError(f"{name} is no text")
    return value


def read_rows(rows: Iterable[Any], place: str | None) -> Iterator[Line]:
    """The documents of rows of the journal's tables (``sources.JOURNAL_QUERY``); ``place`` is that
    of their large bodies.
    """
    store = open_bodies(place) if place else None
    for row in rows:
        yield read_row(row, store)


def read_row(row: Any, store: S3Bodies | None = None) -> Line:
    """A document from a row; ``store`` holds its body if the row has only a mark."""
    packed = None if row.packed is None else bytes(row.packed)
    if packed == MARK and store is not None:
        packed = store.get(row.content_hash)
    body = read_body(packed, row.kind, row.api_version, row.content_hash)
    document = Line(
        DOCUMENT,
        position=row.position,
        kind=row.kind,
        api_version=row.api_version or "",
        subject_key=row.plan_id,
        scope=row.scope,
        received_at=row.received_at,
    )
    if body.damage:
        return document._replace(content_hash=row.content_hash, damage=body.damage)
    try:
        return _with_hash(document._replace(body=body.content), row.content_hash)
    except ValueError as error:
        return Line(REFUSED, kind=f"document {row.position}: {error}")


def stored(line: Line, number: int) -> StoredDocument:
    """The document as the translation takes it, as if it had just come, under this number."""
    return StoredDocument(
        position=number,
        kind=DocumentKind(line.kind),
        api_version=line.api_version,
        subject_key=line.subject_key,
        scope=line.scope,
        subject=identity.subject_id(line.scope, line.subject_key),
        content_hash=line.content_hash,
        state=DocumentState.PENDING,
        reason=None,
        received_at=line.received_at,
        size=len(line.body),
        body=line.body,
        damage=line.damage,
    )


@dataclass(frozen=True, slots=True)
class WorkerCommands:
    """The effects for every subject key; they go to all workers. ``count``: how many there are.

    The service looks forgotten bodies up in its catalogue; here all of them are listed, 64
    characters each, at most 5,000 a command.
    """

    rules: Rules
    effects: CommandEffects
    count: int


def read_commands_in_force(bodies: Iterable[tuple[str, bytes]]) -> WorkerCommands:
    """The effects of all commands, from their content hashes and bodies.

    An unreadable one has no effect, and the translation sets it aside like any other.
    """
    # By time, then hash: of several about one thing at one time every worker takes the same.
    read = (
        (command, content) for content, body in bodies if (command := _command(body)) is not None
    )
    commands = [command for command, _ in sorted(read, key=lambda pair: (pair[0].at, pair[1]))]
    forgotten = frozenset(
        content
        for command in commands
        if isinstance(command.instruction, Forget)
        for content in command.instruction.documents
    )
    effects = replace(collect_effects(commands), forgotten=forgotten)
    return WorkerCommands(rules_of(commands), effects, len(commands))


def _command(body: bytes) -> Command | None:
    try:
        return read_command(json.loads(body))
    except (HeadwaterError, ValueError):
        return None


def rules_of(commands: Iterable[Command]) -> Rules:
    """The naming rules of the last command with rules; the defaults without one."""
    rule_sets = [rules for command in commands if (rules := _rules(command)) is not None]
    return rule_sets[-1] if rule_sets else naming.DEFAULT_RULES


def _rules(command: Command) -> Rules | None:
    if command.kind is not CommandKind.RULES or not isinstance(command.instruction, Statement):
        return None
    if command.instruction.value is None:
        return naming.DEFAULT_RULES
    try:
        return read_rules(json.loads(command.instruction.value))
    except (HeadwaterError, ValueError):
        return None
