"""A short soak: kills under load lose nothing. ``make soak`` makes fifty of them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from bench.soak.soak import Soak


@pytest.mark.part("recovery")
@pytest.mark.timeout(600)
def test_kills_under_load_lose_nothing_and_leave_nothing_twice(tmp_path: Path) -> None:
    assert Soak(tmp_path, 3, random.Random(11), print).run(3, 0.0) == []
