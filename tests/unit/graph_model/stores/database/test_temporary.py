"""Temporary databases of one long task."""

from __future__ import annotations

import threading
from contextlib import closing

from graph_model.stores.database import KeptContents, NotedIds


def test_ids_that_were_never_noted_are_missing() -> None:
    with closing(NotedIds()) as noted:
        noted.add(["a", "b"])
        noted.add(["b"])
        noted.add([])
        assert noted.missing(["a", "c", "'", "b"]) == {"c", "'"}
        noted.clear()
        assert noted.missing(["a"]) == {"a"}


def test_two_sets_share_nothing() -> None:
    with closing(NotedIds()) as first, closing(NotedIds()) as other:
        first.add(["a"])
        assert other.missing(["a"]) == {"a"}


def test_a_page_of_ids_is_one_question() -> None:
    ids = [f"id{number}" for number in range(50_000)]
    with closing(NotedIds()) as noted:
        noted.add(ids[1:])
        assert noted.missing(ids) == {"id0"}


def test_another_thread_finds_the_noted_ids() -> None:
    with closing(NotedIds()) as noted:
        worker = threading.Thread(target=noted.add, args=(["a"],))
        worker.start()
        worker.join()
        assert noted.missing(["a", "b"]) == {"b"}


def test_the_content_kept_last_is_found() -> None:
    with closing(KeptContents()) as kept:
        assert kept.find("k") is None
        kept.keep("k", b"first")
        kept.keep("k", b"\x00second")
        assert kept.find("k") == b"\x00second"
        kept.clear()
        assert kept.find("k") is None


def test_closing_twice_is_closing_once() -> None:
    noted, kept = NotedIds(), KeptContents()
    for item in (noted, kept, noted, kept):
        item.close()
