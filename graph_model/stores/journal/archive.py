"""The journal as lines of text: from any database into any database.

    {"headwater": "backup", "format": 2, "createdAt": …}      the header
    {"position": 1, "kind": "plan", …, "receipts": […]}       a document with its body and arrivals
    {"damaged": {"position": 2, "reason": "…", …}}            an unreadable document, left out
    {"key": {…}}                                              an API key, without its secret
    {"end": {"documents": 1, "receipts": 1, "sha256": "…"}}   the end: nothing else is missing

``sha256`` covers all lines before the last. A body is kept byte for byte, for its hash covers its
bytes: as text where it is UTF-8, else in base64. A document with a damaged body is left out and
named: it would damage every journal that it is restored into, and counts as new when a client
sends it again. Format 1 had no keys. Earlier versions wrote hashes of received bytes as well
(``{"raw": …}`` lines, a field of receipts): bytes hold secrets, so they are not written, nor
read. Graph and catalogue are not in it, nor are the settings of ``journal_meta`` with their
positions: the documents give them again, and the same.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from graph_model.errors import ConfigurationError, InvalidInput, JournalUnavailable
from graph_model.stores.database import chunks, count_from, count_rows, insert_new, read, write
from graph_model.stores.documents import Body, content_hash
from graph_model.stores.journal import NEW_KEY
from graph_model.stores.journal.integrity import odd_receipt
from graph_model.stores.journal.stored_bodies import large_of, pack, put_marked
from graph_model.stores.journal.stored_documents import read_bodies
from graph_model.stores.journal.tables import bodies, documents, meta, raw, receipts
from graph_model.stores.keys import checked_key, insert_keys, key_lines

FORMAT: Final = 2
_READABLE: Final = (1, FORMAT)
_PAGE: Final = 50
_LINES: Final = 100

Progress = Callable[[int, int], None]
"""Called with the number of finished documents, and of all."""


@dataclass(frozen=True, slots=True)
class Contents:
    """The content of an archive. ``created_at``, ``oldest`` and ``newest`` receipt: epoch ms.

    ``damaged``: a sentence for each document or receipt that was damaged when it was made.
    """

    created_at: int
    documents: int
    receipts: int
    oldest: int | None
    newest: int | None
    keys: int = 0
    damaged: tuple[str, ...] = ()


# --- journal -> lines ----------------------------------------------------------------------------


def dump(engine: Engine, created_at: int, progress: Progress) -> Iterator[bytes]:
    """The lines, each with its end; ``created_at`` is epoch ms.

    Documents that come meanwhile are left for the next one; no request waits for this one.
    """
    total = hashlib.sha256()
    counts = {"documents": 0, "receipts": 0}
    for line in _lines(engine, created_at, counts, progress):
        text = _text(line)
        total.update(text)
        yield text
    yield _text({"end": {**counts, "sha256": total.hexdigest()}})


def _text(line: Any) -> bytes:
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _lines(
    engine: Engine, created_at: int, counts: dict[str, int], progress: Progress
) -> Iterator[dict[str, Any]]:
    yield {"headwater": "backup", "format": FORMAT, "createdAt": created_at}
    with read(engine, JournalUnavailable) as connection:
        last, newest = connection.execute(_ends()).one()
        total = count_rows(connection, documents)
    done, missing = 0, set()
    for line in _documents(engine, last or 0, newest or 0):
        yield line
        if "position" in line:
            counts["documents"] += 1
            counts["receipts"] += len(line["receipts"])
        elif "receipt" not in line["damaged"]:
            missing.add(line["damaged"]["position"])
        if (done := counts["documents"] + len(missing)) % _PAGE == 0:
            progress(done, max(total, done))
    with read(engine, JournalUnavailable) as connection:
        yield from key_lines(connection)


def _ends() -> sa.Select[Any]:
    # Apart, each is a seek; together they are a walk.
    return sa.select(
        *(
            sa.select(sa.func.max(column)).scalar_subquery()
            for column in (documents.c.position, receipts.c.id)
        )
    )


def _documents(engine: Engine, last: int, newest: int) -> Iterator[dict[str, Any]]:
    asked = (
        sa.select(documents, bodies.c.api_version)
        .outerjoin_from(documents, bodies, documents.c.content_hash == bodies.c.content_hash)
        .order_by(documents.c.position)
        .limit(_PAGE)
    )
    done = 0
    while True:
        with read(engine, JournalUnavailable) as connection:
            page = connection.execute(asked.where(documents.c.position.between(done + 1, last)))
            rows = page.all()
            positions = [row.position for row in rows]
            arrivals = _arrivals(connection, positions, newest)
            kept = read_bodies(connection, positions)
        for row in rows:
            yield from _document_lines(row, kept[row.position], arrivals[row.position])
        if len(rows) < _PAGE:
            return
        done = rows[-1].position


def _arrivals(
    connection: Connection, positions: Sequence[int], newest: int
) -> dict[int, list[list[Any]]]:
    arrivals: dict[int, list[list[Any]]] = {position: [] for position in positions}
    columns = receipts.c
    asked = (
        sa.select(
            columns.position,
            columns.id,
            columns.received_at,
            columns.principal,
            columns.route,
            sa.literal("").label("raw_hash"),
        )
        .where(columns.position.in_(positions), columns.id <= newest)
        .order_by(columns.position, columns.id)
    )
    for position, *arrival in connection.execute(asked):
        arrivals[position].append(arrival)
    return arrivals


def _document_lines(
    row: Any, body: Body, arrivals: Sequence[Sequence[Any]]
) -> Iterator[dict[str, Any]]:
    """The document, or that it is damaged; and which of its receipts are."""
    if damage := body.damage or _impossible(row):
        yield _damaged(row, f"its body {damage}" if body.damage else damage)
        return
    whole: list[Sequence[Any]] = []
    for number, *arrival in arrivals:
        if odd := odd_receipt(*arrival):
            yield _damaged(row, odd, receipt=number)
        else:
            whole.append((number, *arrival))
    yield _document(row, body.content, whole)


def _impossible(row: Any) -> str:
    """A value that Headwater cannot have written into the row of a document; "" for none."""
    texts = (row.scope, row.plan_id, row.subject, row.state, row.reason or "")
    return odd_receipt(row.received_at, *texts)


def _damaged(row: Any, reason: str, **more: int) -> dict[str, Any]:
    return {
        "damaged": {
            "position": row.position,
            "kind": str(row.kind),
            "planId": str(row.plan_id),
            "scope": str(row.scope),
            "contentHash": str(row.content_hash),
            "reason": reason,
            **more,
        }
    }


def _document(row: Any, body: bytes, arrivals: Sequence[Sequence[Any]]) -> dict[str, Any]:
    return {
        "position": row.position,
        "kind": row.kind,
        "apiVersion": row.api_version,
        "planId": row.plan_id,
        "scope": row.scope,
        "subject": row.subject,
        "contentHash": row.content_hash,
        "state": row.state,
        "reason": row.reason,
        "receivedAt": row.received_at,
        "receipts": arrivals,
        **_spelled(body),
    }


def _spelled(body: bytes) -> dict[str, str]:
    try:
        return {"body": body.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(body).decode("ascii")}


# --- lines -> contents ---------------------------------------------------------------------------


def examine(lines: Iterable[bytes]) -> Contents:
    """The content of an archive, once every line of it has been found whole.

    Raises InvalidInput with the line, for anything that is missing, changed or cut off.
    """
    total = hashlib.sha256()
    examination = _Examination()
    for number, text in enumerate(lines, 1):
        try:
            line = json.loads(text)
            if examination.ended:
                raise ValueError("something follows the end")
            examination.take(line, number, total.hexdigest())
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            problem = f"no {error}" if isinstance(error, KeyError) else str(error)
            raise InvalidInput(f"line {number} of the backup is damaged: {problem}") from error
        total.update(text)
    if not examination.ended:
        raise InvalidInput("the backup is cut off: its last line is missing")
    return examination.contents()


class _Examination:
    """The part of an archive that has been examined so far."""

    def __init__(self) -> None:
        self.ended = False
        self._created_at = 0
        self._documents = 0
        self._receipts = 0
        self._last = 0
        self._keys = 0
        self._times: list[int] = []
        self._damaged: list[str] = []

    def take(self, line: Any, number: int, sha256: str) -> None:
        if (number == 1) != ("headwater" in line):
            raise ValueError("expected a backup made by headwater backup")
        if "headwater" in line:
            self._begin(line)
        elif "position" in line:
            self._document(line)
        elif "end" in line:
            self._end(line["end"], sha256)
        elif "key" in line:
            checked_key(line["key"])
            self._keys += 1
        elif "damaged" in line:
            self._damaged.append(_damage_of(line["damaged"]))
        elif "raw" not in line:
            raise ValueError("an unknown kind of line")

    def contents(self) -> Contents:
        oldest, newest = (self._times[0], self._times[-1]) if self._times else (None, None)
        counts = (self._documents, self._receipts)
        return Contents(self._created_at, *counts, oldest, newest, self._keys, tuple(self._damaged))

    def _begin(self, line: Any) -> None:
        if line["format"] not in _READABLE:
            raise ValueError(f"its format is {line['format']}, this Headwater knows up to {FORMAT}")
        self._created_at = int(line["createdAt"])

    def _document(self, line: Any) -> None:
        content = content_hash(line["kind"], line["apiVersion"], _body_of(line))
        if content != line["contentHash"]:
            raise ValueError(f"the content of document {line['position']} has another hash")
        if line["position"] <= self._last:
            raise ValueError("its documents are not in order")
        self._last = line["position"]
        self._documents += 1
        self._receipts += len(line["receipts"])
        self._times = [*self._times[:1], line["receivedAt"]]

    def _end(self, end: Any, sha256: str) -> None:
        counts = (end["documents"], end["receipts"])
        if counts != (self._documents, self._receipts) or end["sha256"] != sha256:
            raise ValueError("its content differs from the hash in its last line")
        self.ended = True


def _damage_of(damaged: Any) -> str:
    subject = f"document {damaged['position']} ({damaged['kind']} of {damaged['planId']})"
    if "receipt" in damaged:
        subject = f"receipt {damaged['receipt']} of {subject}"
    return f"{subject} is damaged and not in the backup: {damaged['reason']}"


def _body_of(line: Any) -> bytes:
    if "base64" in line:
        return base64.b64decode(line["base64"], validate=True)
    body: bytes = line["body"].encode()
    return body


# --- lines -> journal ----------------------------------------------------------------------------


def load(
    engine: Engine,
    lines: Callable[[], Iterable[bytes]],
    settings: Mapping[str, str],
    *,
    replace: bool,
    progress: Progress,
) -> Contents:
    """Put an archive into the journal, all of it or nothing; ``lines`` opens it anew each time.

    ``settings`` are set with it: graph and catalogue are to be built anew. Positions, receipts and
    states are those of the archive. Raises InvalidInput for an archive that is not whole,
    ConfigurationError for a journal that is not empty, unless ``replace``: then its content is
    removed in the same transaction, but for its API keys.
    """
    contents = examine(lines())

    def work(connection: Connection) -> None:
        _make_room(connection, replace=replace)
        done = 0
        for chunk in chunks(map(json.loads, lines()), _LINES):
            done += _insert(connection, chunk)
            progress(done, contents.documents)
        _set(connection, {NEW_KEY: "", **settings})
        for table, column in ((documents, "position"), (receipts, "id")):
            count_from(connection, table, column)
        _check_counts(connection, contents)

    write(engine, work, JournalUnavailable)
    return contents


def _make_room(connection: Connection, *, replace: bool) -> None:
    held = count_rows(connection, documents)
    if held and not replace:
        raise ConfigurationError(
            f"the journal holds {held:,} documents: restore into an empty one, or give --replace"
            " to remove them (make a headwater backup of them first)"
        )
    for table in (raw, receipts, documents, bodies):
        connection.execute(table.delete())


def _insert(connection: Connection, lines: Sequence[Any]) -> int:
    """One bounded part of an archive; how many documents were in it."""
    of_documents = [line for line in lines if "position" in line]
    rows = [_document_row(line) for line in of_documents]
    for table, inserted in (
        (bodies, _body_rows(connection, of_documents)),
        (documents, rows),
        (receipts, [row for line in of_documents for row in _receipt_rows(line)]),
    ):
        if inserted:
            # Only a body may come twice: as several scopes reported it.
            new = insert_new(connection, table) if table is bodies else table.insert()
            connection.execute(new, inserted)
    insert_keys(connection, [checked_key(line["key"]) for line in lines if "key" in line])
    return len(of_documents)


def _set(connection: Connection, settings: Mapping[str, str]) -> None:
    for key, value in settings.items():
        connection.execute(meta.delete().where(meta.c.key == key))
        connection.execute(meta.insert(), {"key": key, "value": value})


def _check_counts(connection: Connection, contents: Contents) -> None:
    for table, expected in ((documents, contents.documents), (receipts, contents.receipts)):
        counted = count_rows(connection, table)
        if counted != expected:
            raise JournalUnavailable(
                f"{table.name} holds {counted} rows, the backup {expected}: nothing was restored"
            )


def _body_rows(connection: Connection, lines: Sequence[Any]) -> list[dict[str, Any]]:
    contents = [_body_of(line) for line in lines]
    hashes = [line["contentHash"] for line in lines]
    stored = put_marked(large_of(connection), hashes, [pack(body) for body in contents])
    return [
        {
            "content_hash": line["contentHash"],
            "kind": line["kind"],
            "api_version": line["apiVersion"],
            "size": len(body),
            "packed": packed,
        }
        for line, body, packed in zip(lines, contents, stored, strict=True)
    ]


def _document_row(line: Any) -> dict[str, Any]:
    return {
        "position": line["position"],
        "content_hash": line["contentHash"],
        "scope": line["scope"],
        "kind": line["kind"],
        "plan_id": line["planId"],
        "subject": line["subject"],
        "state": line["state"],
        "reason": line["reason"],
        "received_at": line["receivedAt"],
    }


def _receipt_rows(line: Any) -> Iterator[dict[str, Any]]:
    for number, received_at, principal, route, _ in line["receipts"]:
        yield {
            "id": number,
            "position": line["position"],
            "received_at": received_at,
            "principal": principal,
            "route": route,
            "raw_hash": "",
        }
