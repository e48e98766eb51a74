"""Many requests at once, and one after the other."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from api.crowd import Crowd


def test_four_together_are_a_crowd_and_four_one_after_the_other_are_none() -> None:
    now = [0.0]
    crowd = Crowd(seconds=lambda: now[0])
    for _ in range(8):
        with crowd:
            assert not crowd.dense
    with ExitStack() as together:
        dense = []
        for _ in range(4):
            together.enter_context(crowd)
            dense.append(crowd.dense)
    assert dense == [False, False, False, True]


def test_a_crowd_is_one_for_a_moment_after_it_has_gone() -> None:
    now = [0.0]
    crowd = Crowd(many=2, seconds=lambda: now[0])
    with crowd, crowd:
        now[0] = 10.0
        assert crowd.dense
        with crowd:
            pass
    assert crowd.dense
    now[0] = 10.2
    assert crowd.dense
    now[0] = 10.3
    assert not crowd.dense


def test_who_fails_has_left_it() -> None:
    now = [0.0]
    crowd = Crowd(many=2, seconds=lambda: now[0])
    with pytest.raises(ValueError, match="away"), crowd:
        raise ValueError("away")
    with crowd:
        assert not crowd.dense
