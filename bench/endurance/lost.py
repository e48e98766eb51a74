"""Acknowledged documents that are not in the journal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from bench.endurance.documents import documents
from bench.endurance.year import Year


def find_lost(year: Year, runs: int, exported: Iterable[bytes]) -> Iterator[tuple[str, ...]]:
    """The keys of documents of the first so many runs that no line of an export has, each once.

    Keeps a number of eight bytes for each line of the export.
    """
    held = {hash(key_of(json.loads(line))) for line in exported}
    for number in range(runs):
        for document in documents(year, number):
            if hash(document.key) not in held:
                held.add(hash(document.key))
                yield document.key


def key_of(line: dict[str, Any]) -> tuple[str, ...]:
    """See ``documents.Document``."""
    body = line["body"]
    if line["kind"] == "plan":
        return "plan", line["planId"]
    if line["kind"] == "event":
        return "event", line["planId"], str(body["timestamp"])
    return "run", str(body.get("run", {}).get("runId")), str(body.get("eventType"))
