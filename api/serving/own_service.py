"""The service that already runs with the settings of a command, for ``headwater doctor``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from api.http.client import send
from api.serving.storage import is_held
from api.settings import Settings
from graph_model.errors import HeadwaterError

_SECONDS: Final = 5


@dataclass(frozen=True, slots=True)
class OwnService:
    """``state`` is that of ``/health/ready``; ``memory`` tells how full its engine is, "" where it
    has none of its own or has not counted yet.
    """

    address: str
    state: str
    memory: str


def find_service(settings: Settings) -> OwnService | None:
    """The service that holds the data folder and answers at the address of the settings.

    Another Headwater may answer there, and this folder's may listen elsewhere: only both together
    show that it is this one.
    """
    if not is_held(settings.data):
        return None
    try:
        answer = send(
            "GET", settings.address, "/health/ready", None, "application/json", None,
            seconds=_SECONDS,
        )  # fmt: skip
        body = json.loads(answer.body)
        return OwnService(settings.address, body["status"], body["checks"].get("memory", ""))
    except (HeadwaterError, ValueError, KeyError, TypeError, AttributeError):
        return None
