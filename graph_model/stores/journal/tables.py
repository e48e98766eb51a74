"""The tables of the journal.

A body is stored once, for all clients; a document is a body as one scope reported it; a receipt
is one arrival of a document. ``journal_raw`` maps received bytes to their documents, so that a
repeat is recognised before it is parsed.
"""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from graph_model.stores.database import StoredText, serial

VERSION: Final = 2
"""1: bodies are packed by zlib alone. 2: or against a vocabulary (``content``), which an older
Headwater cannot read; the tables are the same.
"""
VERSION_WITH_LARGE_BODIES: Final = 3
"""Or lie outside of the database (``large_bodies``): of such journals alone."""

metadata = sa.MetaData()

bodies = sa.Table(
    "journal_bodies",
    metadata,
    sa.Column("content_hash", StoredText(), primary_key=True),
    sa.Column("kind", StoredText(), nullable=False),
    sa.Column("api_version", StoredText(), nullable=False),
    sa.Column("size", sa.BigInteger, nullable=False),  # bytes, inflated
    # Last, so that reading the columns before it never touches the pages that it spills into.
    sa.Column("packed", sa.LargeBinary, nullable=False),
)

documents = sa.Table(
    "journal_documents",
    metadata,
    sa.Column("position", serial(), primary_key=True, autoincrement=True),
    sa.Column("content_hash", StoredText(), sa.ForeignKey(bodies.c.content_hash), nullable=False),
    sa.Column("scope", StoredText(), nullable=False),
    sa.Column("kind", StoredText(), nullable=False),
    sa.Column("plan_id", StoredText(), nullable=False),  # the subject key, of every producer
    sa.Column("subject", StoredText(), nullable=False),
    sa.Column("state", StoredText(), nullable=False),
    sa.Column("reason", StoredText()),
    sa.Column("received_at", sa.BigInteger, nullable=False),  # epoch ms of the first receipt
    sa.UniqueConstraint("content_hash", "scope"),
    sa.Index("journal_documents_by_state", "state", "position", "kind"),
    sa.Index("journal_documents_by_kind", "kind", "position"),
    sa.Index("journal_documents_by_plan", "plan_id", "kind", "state"),
    sa.Index("journal_documents_by_subject", "subject", "state"),
    sqlite_autoincrement=True,  # a position is never given twice
)

receipts = sa.Table(
    "journal_receipts",
    metadata,
    sa.Column("id", serial(), primary_key=True, autoincrement=True),
    sa.Column("position", serial(), sa.ForeignKey(documents.c.position), nullable=False),
    sa.Column("received_at", sa.BigInteger, nullable=False),
    sa.Column("principal", StoredText(), nullable=False),
    sa.Column("route", StoredText(), nullable=False),
    sa.Column("raw_hash", StoredText(), nullable=False),
    sa.Index("journal_receipts_by_position", "position", "id"),
)

raw = sa.Table(
    "journal_raw",
    metadata,
    sa.Column("raw_hash", StoredText(), primary_key=True),
    sa.Column("scope", StoredText(), primary_key=True),
    sa.Column("ordinal", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("position", serial(), sa.ForeignKey(documents.c.position), nullable=False),
    sa.Index("journal_raw_by_position", "position"),
    sqlite_with_rowid=False,
)

meta = sa.Table(
    "journal_meta",
    metadata,
    sa.Column("key", StoredText(), primary_key=True),
    sa.Column("value", StoredText(), nullable=False),
)
