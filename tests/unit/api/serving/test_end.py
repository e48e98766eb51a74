"""How the process of a service ends."""

from __future__ import annotations

import os
import threading

import pytest

from api.serving.server import end_beside_translation
from graph_model.projection.projector import LARGE_SUBJECT_THREAD


def test_a_thread_that_translates_is_not_left_to_the_end_of_the_interpreter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    end_beside_translation()
    assert ended == []
    done = threading.Event()
    thread = threading.Thread(target=done.wait, args=(60,), name=LARGE_SUBJECT_THREAD)
    thread.start()
    end_beside_translation()
    done.set()
    thread.join()
    assert ended == [0]
