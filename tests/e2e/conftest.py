"""Fixtures of the end-to-end tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.contract.databases import schema_on


@pytest.fixture
def database_url(server_url: str) -> Iterator[str]:
    """The URL of an empty schema on a PostgreSQL server."""
    with schema_on(server_url) as url:
        yield url
