"""The history of Amazon Redshift, provisioned or Serverless, by the Data API or a connection.

    SYS_QUERY_HISTORY, SYS_QUERY_TEXT -> sessions, in order -> a run for each statement that writes
    a stored table, with the text of the temporary tables behind it -> events

A slice of an hour is asked at a time. What was read an hour or two before is read again, because a
session may still use a temporary table from then. Statements of a transaction that was rolled back
are runs that were aborted.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from collectors.harvesting.amazon import open_client, pages_of, requests_to
from collectors.harvesting.queries import (
    CatalogTable,
    Event,
    PastQuery,
    Warehouse,
    query_events,
    rename_events,
)
from collectors.harvesting.rounds import Harvested, Say
from graph_model.errors import HeadwaterError, Unavailable
from graph_model.sql import MOST_CHARACTERS, normal_words, qualified_name, split_name
from graph_model.values import iso, parse_instant

_HOUR: Final = 3_600_000
_SLICE: Final = _HOUR
_MOST_SLICES: Final = 1_000
_CHUNK: Final = 200  # characters of a row of SYS_QUERY_TEXT
_MOST_CONTEXT: Final = 80_000  # of 100,000 characters that are read of an event's text
_MOST_WAITS: Final = 600
_DIALECT: Final = "redshift"
_STATES: Final[Mapping[str, str]] = {
    "success": "COMPLETE", "failed": "FAIL", "canceled": "ABORT", "cancelled": "ABORT",
}  # fmt: skip
_CHANGING: Final = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE", "COPY", "ALTER", "TRUNCATE"})
_BEFORE_NAMES: Final = frozenset(
    {"TABLE", "INTO", "FROM", "IF", "NOT", "EXISTS", "TEMP", "TEMPORARY", "LOCAL", "ONLY"}
)
_SYSTEM: Final = frozenset({"pg_catalog", "information_schema", "pg_internal", "sys"})
_SYSTEM_TABLES: Final = ("sys_", "stl_", "stv_", "svv_", "svl_", "svcs_", "pg_")


@dataclass(frozen=True, slots=True)
class SystemViews:
    """Where Redshift keeps its history, as three statements: its first and last time, and who asks;
    statements; the chunks of their texts.
    """

    name: str
    bounds: str
    history: str
    texts: str


_SYS_BOUNDS: Final = """
SELECT to_char(min(h.end_time), 'YYYY-MM-DD HH24:MI:SS.US'),
 to_char(max(h.end_time), 'YYYY-MM-DD HH24:MI:SS.US'), current_user
FROM sys_query_history h WHERE h.end_time >= TIMESTAMP '{since}'"""
_SYS_HISTORY: Final = """
SELECT h.query_id, h.session_id, h.transaction_id, h.database_name, u.usename, h.status,
 to_char(h.start_time, 'YYYY-MM-DD HH24:MI:SS.US'),
 to_char(h.end_time, 'YYYY-MM-DD HH24:MI:SS.US'), h.error_message, h.returned_rows
FROM sys_query_history h LEFT JOIN pg_user u ON u.usesysid = h.user_id
WHERE h.user_id > 1 AND h.end_time >= TIMESTAMP '{since}' AND h.end_time < TIMESTAMP '{until}'
ORDER BY h.start_time, h.query_id"""
_SYS_TEXTS: Final = f"""
SELECT t.query_id, t.sequence, t.text
FROM sys_query_text t JOIN sys_query_history h ON h.query_id = t.query_id
WHERE h.user_id > 1 AND h.end_time >= TIMESTAMP '{{since}}' AND h.end_time < TIMESTAMP '{{until}}'
 AND t.sequence <= {MOST_CHARACTERS // _CHUNK}
ORDER BY t.query_id, t.sequence"""  # noqa: S608 - of constants
SYS_VIEWS: Final = SystemViews("SYS views", _SYS_BOUNDS, _SYS_HISTORY, _SYS_TEXTS)

# Of clusters from before the SYS views. A statement has no id that queries and DDL share, and DDL
# has no database: it is that of the connection.
_STL_KEY: Final = "s.xid || '.' || s.pid || '.' || to_char(s.starttime, 'YYYYMMDDHH24MISSUS')"
_STL_BOUNDS: Final = """
SELECT to_char(min(s.endtime), 'YYYY-MM-DD HH24:MI:SS.US'),
 to_char(max(s.endtime), 'YYYY-MM-DD HH24:MI:SS.US'), current_user
FROM svl_statementtext s WHERE s.endtime >= TIMESTAMP '{since}'"""
_STL_HISTORY: Final = f"""
SELECT {_STL_KEY}, s.pid, s.xid, coalesce(q.database, current_database()), u.usename,
 CASE WHEN q.aborted = 1 THEN 'canceled' ELSE 'success' END,
 to_char(s.starttime, 'YYYY-MM-DD HH24:MI:SS.US'),
 to_char(s.endtime, 'YYYY-MM-DD HH24:MI:SS.US'), NULL, NULL
FROM svl_statementtext s
LEFT JOIN stl_query q ON q.xid = s.xid AND q.pid = s.pid AND q.starttime = s.starttime
LEFT JOIN pg_user u ON u.usesysid = s.userid
WHERE s.userid > 1 AND s.sequence = 0
 AND s.endtime >= TIMESTAMP '{{since}}' AND s.endtime < TIMESTAMP '{{until}}'
ORDER BY s.starttime, s.xid, s.pid"""  # noqa: S608 - of constants
_STL_TEXTS: Final = f"""
SELECT {_STL_KEY}, s.sequence, s.text
FROM svl_statementtext s
WHERE s.userid > 1 AND s.endtime >= TIMESTAMP '{{since}}' AND s.endtime < TIMESTAMP '{{until}}'
 AND s.sequence <= {MOST_CHARACTERS // _CHUNK}
ORDER BY s.starttime, s.xid, s.pid, s.sequence"""  # noqa: S608 - of constants
STL_VIEWS: Final = SystemViews("STL views", _STL_BOUNDS, _STL_HISTORY, _STL_TEXTS)

_COLUMNS: Final = """
SELECT table_catalog, table_schema, table_name, column_name, data_type FROM svv_columns
WHERE table_schema NOT IN ('pg_catalog', 'information_schema', 'pg_internal')
ORDER BY table_schema, table_name, ordinal_position"""

Row = Sequence[Any]
#: One statement => its rows: ``DataApi.rows``, or those of a connection.
Ask = Callable[[str], Iterable[Row]]


# --- the Data API --------------------------------------------------------------------------------


class DataApi:
    """Statements by the Data API. ``target`` names workgroup or cluster, database and who asks."""

    def __init__(
        self, client: Any, target: Mapping[str, str], sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._client = client
        self._target = target
        self._sleep = sleep

    def rows(self, text: str) -> Iterator[Row]:
        """The rows of one statement, page by page. Raises HeadwaterError where it fails."""
        with requests_to("Redshift"):
            key = self._client.execute_statement(Sql=text.strip(), **self._target)["Id"]
        self._wait(key)
        for page in pages_of("Redshift", partial(self._client.get_statement_result, Id=key)):
            for record in page["Records"]:
                yield [_value(cell) for cell in record]

    def _wait(self, key: str) -> None:
        for turn in range(_MOST_WAITS):
            with requests_to("Redshift"):
                answer = self._client.describe_statement(Id=key)
            status = answer.get("Status")
            if status == "FINISHED":
                return
            if status == "FAILED":
                raise HeadwaterError(f"Redshift: {answer.get('Error') or 'a statement failed'}")
            if status == "ABORTED":
                raise Unavailable("Redshift: somebody ended a statement")
            self._sleep(min(0.1 * (turn + 1), 2.0))
        raise Unavailable("Redshift has not answered a statement for too long")


def _value(cell: Mapping[str, Any]) -> Any:
    return None if cell.get("isNull") else next(iter(cell.values()), None)


# --- the history ---------------------------------------------------------------------------------


@dataclass(slots=True)
class _Statement:
    """A row of the history with its text; ``words`` is its normal text, in words."""

    query: PastQuery
    session: str
    transaction: str
    words: Sequence[str] = ()


class RedshiftHistory:
    """A HarvestSource: the statements of a cluster or workgroup.

    ``databases`` and ``users`` limit what is taken; empty: all. ``place`` is the namespace of the
    datasets, redshift://cluster.region:5439; ``views`` hold the history.
    """

    name = "redshift"
    overlap: int | None = 2 * _HOUR
    kept: int | None = 7 * 24 * _HOUR

    def __init__(
        self,
        ask: Ask,
        place: str,
        say: Say,
        *,
        databases: Sequence[str] = (),
        users: Sequence[str] = (),
        readers: bool = True,
        jobs: str = "",
        views: SystemViews = SYS_VIEWS,
    ) -> None:
        self._ask = ask
        self._views = views
        self._say = say
        self._databases = frozenset(databases)
        self._users = frozenset(users)
        self._readers = readers
        self._warehouse = Warehouse("Redshift", _DIALECT, place, jobs or place)
        self._tables: dict[str, CatalogTable] = {}

    def settings(self) -> Mapping[str, str]:
        return {
            "datasets": self._warehouse.namespace,
            "jobs": self._warehouse.jobs,
            "history": self._views.name,
            "databases": ", ".join(sorted(self._databases)) or "all",
            "users": ", ".join(sorted(self._users)) or "all",
            "queries that only read": "taken" if self._readers else "left out",
        }

    def findings(self, since: int, known: Container[str]) -> Iterator[Harvested]:
        """Known ones, too: a temporary table may be behind later statements."""
        del known
        bounds = iter(self._ask(self._views.bounds.format(since=_literal(since))))
        begin, end, user = next(bounds, (None, None, ""))
        if begin is None:
            return
        self._tables = self._schemas()
        sessions: defaultdict[str, _Session] = defaultdict(_Session)
        users: set[str] = set()
        start, last = _instant(begin), _instant(end)
        if last - start > _MOST_SLICES * _SLICE:
            raise HeadwaterError(f"Redshift: queries from {begin} to {end}: begin with --since")
        while start <= last:
            statements = self._slice(start, start + _SLICE)
            users |= {statement.query.user for statement in statements}
            for statement in statements:
                session = sessions[statement.session]
                yield from self._findings_of(session, session.add(statement))
            start += _SLICE
        for session in sessions.values():
            yield from self._findings_of(session, session.settle())
        if users == {user}:
            self._say(
                f"  only queries of {user} are visible to it: "
                f"GRANT ROLE sys:monitor TO {user} shows those of others"
            )

    def _findings_of(
        self, session: _Session, statements: Sequence[_Statement]
    ) -> Iterator[Harvested]:
        """What settled statements are documents of. The mark is their state: a transaction that was
        open at one round may have been rolled back at the next.

        A statement on a temporary table is a finding without documents: the next round may meet it
        without the one that made the table, and would take the table for a stored one.
        """
        for statement in statements:
            query, (context, temporary) = statement.query, session.context(statement.words)
            is_on_temporary = session.note(statement)
            if not self._is_asked(query):
                continue
            text = ";\n".join((*context, query.text)) if context else query.text
            untold = frozenset() if context else temporary
            events = partial(self._events, replace(query, text=text), statement.words, untold)
            yield Harvested(
                query.key, query.ended_at, tuple if is_on_temporary else events, query.state
            )

    def _is_asked(self, query: PastQuery) -> bool:
        return (not self._databases or query.database in self._databases) and (
            not self._users or query.user in self._users
        )

    def _events(
        self, query: PastQuery, words: Sequence[str], temporary: frozenset[str]
    ) -> Sequence[Event]:
        """``temporary``: tables whose statements are not in the text, which are no stored ones."""
        if renamed := _renamed(words):
            return rename_events(query, self._warehouse, *renamed, self._tables.get)

        def is_left_out(name: str) -> bool:
            return _is_system(name) or split_name(name)[-1].lower() in temporary

        return query_events(
            query, self._warehouse, self._tables.get, readers=self._readers, is_system=is_left_out
        )

    # --- what is asked ---------------------------------------------------------------------------

    def _slice(self, since: int, until: int) -> Sequence[_Statement]:
        bounds = {"since": _literal(since), "until": _literal(until)}
        chunks: defaultdict[str, list[str]] = defaultdict(list)
        for key, _, text in self._ask(self._views.texts.format(**bounds)):
            chunks[str(key)].append(str(text or ""))
        rows = self._ask(self._views.history.format(**bounds))
        read = (_statement(row, chunks.get(str(row[0]), ())) for row in rows)
        return [statement for statement in read if statement is not None]

    def _schemas(self) -> dict[str, CatalogTable]:
        columns: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
        for database, schema, table, column, kind in self._ask(_COLUMNS):
            columns[qualified_name((str(database), str(schema), str(table)))].append(
                (str(column), str(kind or ""))
            )
        return {name: CatalogTable(columns=tuple(listed)) for name, listed in columns.items()}


def _statement(row: Row, chunks: Sequence[str]) -> _Statement | None:
    """None for one that has not ended, or that has no text."""
    key, session, transaction, database, user, status, started, ended, error, rows = row
    state = _STATES.get(str(status).strip().lower())
    text = _joined(chunks)
    if state is None or ended is None or not text.strip():
        return None
    user = str(user or "").strip()
    query = PastQuery(
        key=str(key),
        text=text,
        started_at=_instant(started or ended),
        ended_at=_instant(ended),
        state=state,
        database=str(database or "").strip(),
        schema="public",
        group=user,
        user=user,
        error=str(error or "").strip() if state == "FAIL" else "",
        rows=_count(rows),
    )
    words = normal_words(text, _DIALECT)
    return _Statement(query, str(session), str(transaction), words)


def _count(rows: object) -> int | None:
    """None where it is not told (0 in the SYS views), and for what is no count."""
    return rows if isinstance(rows, int) and rows > 0 else None


def _joined(chunks: Sequence[str]) -> str:
    """Rows of 200 characters, whose last blanks a client may have dropped. Line breaks may have
    been written as a backslash and an n.
    """
    whole = [chunk.ljust(_CHUNK) for chunk in chunks[:-1]]
    text = "".join((*whole, *chunks[-1:])).strip()
    return text if "\n" in text else text.replace("\\n", "\n")


def _as_it_ended(transaction: Sequence[_Statement]) -> Sequence[_Statement]:
    """The statements of a transaction; where it was rolled back, as ones that were aborted then.

    Of several statements one that failed rolls back the others; a single one stands alone.
    """
    end = next(
        (statement for statement in transaction if _rolls_back(statement, len(transaction))), None
    )
    if end is None:
        return transaction
    return [
        replace(statement, query=_aborted(statement.query, end.query.ended_at))
        if statement.query.state == "COMPLETE"
        else statement
        for statement in transaction
    ]


def _rolls_back(statement: _Statement, of: int) -> bool:
    failed = statement.query.state != "COMPLETE"
    return statement.words[0] in {"ROLLBACK", "ABORT"} or (failed and of > 1)


def _aborted(query: PastQuery, at: int) -> PastQuery:
    return replace(query, state="ABORT", error="rolled back", ended_at=max(query.ended_at, at))


# --- sessions ------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Session:
    """``waiting``: the statements of its last transaction. ``made``: its temporary tables, name =>
    what made and filled each: normal words => (number, text). A statement that is run again with
    other values is no further one. ``large``: those whose statements are too long to be told.
    """

    waiting: list[_Statement] = field(default_factory=list)
    made: dict[str, dict[tuple[str, ...], tuple[int, str]]] = field(default_factory=dict)
    large: set[str] = field(default_factory=set)
    number: int = 0

    def add(self, statement: _Statement) -> Sequence[_Statement]:
        """The statements of the transaction before, once another one begins."""
        ended = self.waiting and self.waiting[-1].transaction != statement.transaction
        settled = self.settle() if ended else ()
        self.waiting.append(statement)
        return settled

    def settle(self) -> Sequence[_Statement]:
        """The statements of the last transaction, as it ended."""
        waiting, self.waiting = self.waiting, []
        return _as_it_ended(waiting)

    def context(self, words: Sequence[str]) -> tuple[Sequence[str], frozenset[str]]:
        """The statements behind the temporary tables that some words name, in their order, and the
        names of those tables; no statements where they are too long.
        """
        if not self.made:
            return (), frozenset()
        needed: dict[int, str] = {}
        waiting, seen = [words], set[str]()
        while waiting:
            for name in {word.lower() for word in waiting.pop()} & self.made.keys() - seen:
                seen.add(name)
                for others, (number, text) in self.made[name].items():
                    needed[number] = text
                    waiting.append(others)
        texts = [needed[number] for number in sorted(needed)]
        is_short = not seen & self.large and sum(map(len, texts)) <= _MOST_CONTEXT
        return (texts if is_short else ()), frozenset(seen)

    def note(self, statement: _Statement) -> bool:
        """Note what a statement does to a temporary table; False where it does nothing to one."""
        words = statement.words
        name = _temporary(words)
        if not name and words[0] in _CHANGING | {"DROP"} and _target(words) in self.made:
            name = _target(words)
        if not name:
            return False
        if statement.query.state != "COMPLETE":
            return True
        if words[0] == "DROP":
            self.made.pop(name, None)
            return True
        if _temporary(words):
            self.made[name] = {}
            self.large.discard(name)
        elif (renamed := _renamed(words)) is not None:
            former, name = name, split_name(renamed[1])[-1]
            self.made[name] = self.made.pop(former)
            self.large = {name if known == former else known for known in self.large}
        self._add(name, statement)
        return True

    def _add(self, name: str, statement: _Statement) -> None:
        made = self.made[name]
        size = sum(len(text) for _, text in made.values()) + len(statement.query.text)
        if size > _MOST_CONTEXT:
            self.large.add(name)
        elif name not in self.large:
            self.number += 1
            made.setdefault(tuple(statement.words), (self.number, statement.query.text))


def _temporary(words: Sequence[str]) -> str:
    """The temporary table that a statement makes; "" for none."""
    if words[0] == "CREATE":
        head = words[1:4]
        if {"TEMP", "TEMPORARY"} & set(head) or (head[:1] == ["TABLE"] and _is_hashed(words[2:])):
            return _target(words)
    if words[0] in {"SELECT", "WITH"} and "INTO" in words:
        place = words.index("INTO") + 1
        if words[place : place + 1] and (
            words[place] in {"TEMP", "TEMPORARY"} or _is_hashed(words[place:])
        ):
            return _target(("INTO", *words[place:]))
    return ""


def _is_hashed(words: Sequence[str]) -> bool:
    rest = [word for word in words[:4] if word.upper() not in _BEFORE_NAMES]
    return bool(rest) and rest[0].startswith("#")


def _target(words: Sequence[str]) -> str:
    """The last part of the name behind the first words, in lower case."""
    place = 1
    while place < len(words) and words[place].upper() in _BEFORE_NAMES:
        place += 1
    return "".join(_name(words, place)[-1:]).lower()


def _name(words: Sequence[str], place: int) -> list[str]:
    """The parts of the name that begins at a place: ``a . b`` => [a, b], ``# x`` => [x]."""
    if words[place : place + 1] == ["#"]:
        place += 1
    parts = list(words[place : place + 1])
    while words[place + 1 : place + 2] == ["."]:
        place += 2
        parts += words[place : place + 1]
    return parts


def _renamed(words: Sequence[str]) -> tuple[str, str] | None:
    """The former and the new name in ALTER TABLE … RENAME TO; None for another statement."""
    if list(words[:2]) != ["ALTER", "TABLE"] or "RENAME" not in words:
        return None
    place = words.index("RENAME")
    if words[place + 1 : place + 2] != ["TO"]:
        return None
    old = _name(words, 2)
    new = [*old[:-1], *_name(words, place + 2)]
    return qualified_name(old).lower(), qualified_name(new).lower()


def _is_system(name: str) -> bool:
    """Of the catalogue; ``dev.public.sys_query_history`` is one that was named without a schema."""
    *_, schema, table = ("", *split_name(name.lower()))
    return schema in _SYSTEM or (schema == "public" and table.startswith(_SYSTEM_TABLES))


def _literal(at: int) -> str:
    """Epoch ms => 2026-03-01 12:00:00.000, which needs no quoting."""
    return str(iso(at)).replace("T", " ").removesuffix("Z")


def _instant(text: object) -> int:
    """Epoch ms of a time of SYS views, which are UTC. Raises HeadwaterError for anything else."""
    try:
        return parse_instant(str(text))
    except ValueError as error:
        raise HeadwaterError(f"Redshift: {str(text)[:50]!r} is no time of its history") from error


def open_redshift(region: str, workgroup: str, cluster: str, **who: str) -> tuple[DataApi, str]:
    """The Data API of one workgroup or cluster, and the namespace of its datasets. ``who``:
    database, secret and user.
    """
    client = open_client("redshift-data", region)
    asked = {
        "WorkgroupName": workgroup,
        "ClusterIdentifier": cluster,
        "Database": who["database"],
        "SecretArn": who["secret"],
        "DbUser": who["user"],
    }
    target = {name: value for name, value in asked.items() if value}
    place = f"redshift://{workgroup or cluster}.{client.meta.region_name}:5439"
    return DataApi(client, target), place
