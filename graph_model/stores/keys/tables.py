"""The table of keys. Rows are never deleted: a principal in the journal keeps its meaning."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from graph_model.stores.database import StoredText

VERSION: Final = 2

metadata = sa.MetaData()

api_keys = sa.Table(
    "api_keys",
    metadata,
    sa.Column("id", StoredText(), primary_key=True),
    sa.Column("name", StoredText(), nullable=False, unique=True),
    sa.Column("roles", StoredText(), nullable=False),  # sorted, with commas
    sa.Column("scope", StoredText(), nullable=False),
    sa.Column("rate_per_minute", sa.Integer, nullable=False),  # 0: no limit
    sa.Column("digest", StoredText(), nullable=False),
    sa.Column("last_four", StoredText(), nullable=False),
    sa.Column("created_at", sa.BigInteger, nullable=False),  # epoch ms
    sa.Column("revoked_at", sa.BigInteger),
    # Keys of version 1 have their scope as their boundary.
    sa.Column("any_scope", sa.Integer, nullable=False, server_default="0"),  # 0 or 1
)
