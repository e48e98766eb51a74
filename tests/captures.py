"""Requests as real agents sent them, in order of arrival: ``load("c_union")``.

``fixtures/captures/NAME.json`` is a list of exchanges, one to a line. A body is kept as JSON; the
bytes made here are its compact form, as an agent writes them, up to the escaping of
non-ASCII text. ``Content-Length`` and ``Connection`` are left to whoever sends the request.
"""

from __future__ import annotations

import gzip as gzip_format
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

_FOLDER: Final = Path(__file__).parent / "fixtures" / "captures"

Kind = Literal["status", "plan", "event"]


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request. ``body`` is not compressed; ``gzip`` says that the agent compressed it."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    gzip: bool

    @property
    def kind(self) -> Kind:
        if self.path.endswith("/execution-plans"):
            return "plan"
        return "event" if self.path.endswith("/execution-events") else "status"

    @property
    def document(self) -> Any:
        """The parsed body: a plan is an object, events are a list, a handshake has None."""
        return json.loads(self.body) if self.body else None

    @property
    def content_type(self) -> str:
        return next((value for name, value in self.headers if name == "Content-Type"), "")

    @property
    def wire_body(self) -> bytes:
        """The bytes to send with ``headers``: compressed where the agent compressed."""
        return gzip_format.compress(self.body, mtime=0) if self.gzip else self.body


def names() -> tuple[str, ...]:
    """Every capture, sorted."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.json")))


@cache
def load(name: str) -> tuple[Exchange, ...]:
    """The exchanges of one job, in order. Raises FileNotFoundError for an unknown name."""
    listed = json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return tuple(_exchange(item) for item in listed)


def plans(name: str) -> tuple[Any, ...]:
    """The plan documents of one job, parsed anew for each caller."""
    return tuple(exchange.document for exchange in load(name) if exchange.kind == "plan")


def events(name: str) -> tuple[Any, ...]:
    """The event documents of one job, out of their lists."""
    return tuple(
        event for exchange in load(name) if exchange.kind == "event" for event in exchange.document
    )


def _exchange(item: dict[str, Any]) -> Exchange:
    body = item["body"]
    text = "" if body is None else json.dumps(body, separators=(",", ":"), ensure_ascii=False)
    return Exchange(
        method=item["method"],
        path=item["path"],
        headers=tuple((name, value) for name, value in item["headers"]),
        body=text.encode("utf-8"),
        gzip=item["gzip"],
    )
