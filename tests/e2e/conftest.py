"""Fixtures of the end-to-end tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.contract.databases import schema_on
from tests.projections import SmallHeadwater, small_headwater


@pytest.fixture
def headwater() -> Iterator[SmallHeadwater]:
    """An empty Headwater in memory, whose projector works when it is told to."""
    made = small_headwater()
    yield made
    made.close()


@pytest.fixture
def database_url(server_url: str) -> Iterator[str]:
    """The URL of an empty schema on a PostgreSQL server."""
    with schema_on(server_url) as url:
        yield url
