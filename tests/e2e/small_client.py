"""The whole app over a small Headwater in memory, as a test client."""

from __future__ import annotations

from flask.testing import FlaskClient

from api.access import Keys, NoKeys
from api.application import create_app
from api.service import Service
from api.settings import read_settings
from tests.projections import SmallHeadwater


def client_of(headwater: SmallHeadwater, now: int, keys: Keys | None = None) -> FlaskClient:
    """A client of an app whose projector has caught up; ``now`` is its clock, epoch ms."""
    headwater.projector._state = "ready"
    service = Service(
        headwater.journal,
        headwater.projector,
        headwater.graph,
        headwater.generations,
        lambda: now,
        keys or NoKeys(),
    )
    return create_app(read_settings({}), service).test_client()
