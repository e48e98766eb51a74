"""What a start says of its service."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from api.serving import server
from api.settings import read_settings
from graph_model.errors import JournalUnavailable

REASON = "the disk is full"


@dataclass
class Held:
    """A service with a complete graph; its journal, its disk refuses documents while this says so,
    a word for each question.
    """

    by_journal: Iterator[bool] = field(default_factory=lambda: iter(()))
    by_disk: Iterator[bool] = field(default_factory=lambda: iter(()))

    @property
    def projector(self) -> Any:
        return SimpleNamespace(state="ready", failure=None)

    @property
    def journal(self) -> Any:
        return SimpleNamespace(get_meta=lambda _: "", ensure_taking=self._ensure_taking)

    @property
    def storage(self) -> Any:
        return SimpleNamespace(refusal=REASON if next(self.by_disk, False) else None)

    def _ensure_taking(self) -> None:
        if next(self.by_journal, False):
            raise JournalUnavailable(REASON)


@pytest.mark.parametrize("by", ["by_journal", "by_disk"])
def test_a_start_that_is_held_says_that_it_is_ready_once_documents_are_taken(
    by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    service: Any = Held(**{by: iter((True, True, False))})
    monkeypatch.setattr(server, "_PROGRESS_SECONDS", 0)
    settings = read_settings({})
    said: list[str] = []
    server._say_state(service, settings, said.append)
    news = [line for line in said if line.startswith("Headwater")]
    assert news == [
        f"Headwater takes no document, at {settings.address}: {REASON}",
        f"Headwater is ready: {settings.address}",
    ]
