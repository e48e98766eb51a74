"""API keys in the OpenAPI document (``api.http.access`` checks them)."""

from __future__ import annotations

from typing import Final

SECURITY_SCHEMES: Final[dict[str, dict[str, str]]] = {
    "apiKey": {
        "type": "apiKey",
        "in": "header",
        "name": "X-API-Key",
        "description": "A key of headwater keys create; needed once one was made.",
    },
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "The same key as Authorization: Bearer.",
    },
}

SECURITY: Final[list[dict[str, list[str]]]] = [{"apiKey": []}, {"bearer": []}, {}]
"""Either of them, or none where no key was made or a role is left to anonymous callers."""
