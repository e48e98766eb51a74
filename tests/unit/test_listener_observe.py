"""``observe``: where its settings come from, and that it never raises into a job."""

from __future__ import annotations

from typing import Any

import pytest

from spark_agent_config.listener import Observation, QueryListener, labels_of, observe, server_url


def test_settings_become_the_labels_that_the_server_reads() -> None:
    settings = {
        "url": "http://x",
        "job": "curate",
        "namespace": "hr",
        "scope": "lab",
        "label.team": "people",
        "apiKey": "k",
    }

    assert labels_of(settings) == {
        "job": ("curate",),
        "namespace": ("hr",),
        "captureScope": ("lab",),
        "team": ("people",),
    }


def test_no_settings_are_no_labels() -> None:
    assert labels_of({}) == {}


def test_the_server_is_the_argument_then_the_environment_then_this_computer() -> None:
    environment = {"HEADWATER_URL": "http://from-environment"}

    assert server_url({"url": "http://given"}, environment) == "http://given"
    assert server_url({}, environment) == "http://from-environment"
    assert server_url({}, {}) == "http://127.0.0.1:8080"


@pytest.mark.parametrize("url", ["lineage:8080", "ftp://x", "http://", "file:///etc/passwd"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="expected http://host:port"):
        server_url({"url": url}, {})


class Broken:
    """Every attribute fails, as on a session of Spark Connect or one that is stopped."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"JVM_ATTRIBUTE_NOT_SUPPORTED: {name}\nmore")


def test_a_session_that_cannot_be_observed_is_left_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    observation = observe(Broken(), "http://127.0.0.1:1")

    assert observation.active is False
    assert observation.flush(0.01)
    assert observation.close(0.01)
    assert observation.counts().delivered == 0
    assert len(caplog.records) == 1
    assert "the job goes on" in caplog.text


def test_a_closed_observation_asks_the_jvm_nothing_more() -> None:
    asked: list[Any] = []

    def capture(execution: Any, **_: Any) -> list[Any]:
        asked.append(execution)
        return []

    listener = QueryListener(capture, None)  # type: ignore[arg-type]
    listener.onSuccess("command", "first", 1)
    listener.observation = Observation(None, None)
    listener.onSuccess("command", "second", 1)
    listener.onFailure("command", "third", None)

    assert asked == ["first"]


def test_a_listener_is_equal_to_itself_alone() -> None:
    one, other = (QueryListener(lambda *_, **__: [], None) for _ in range(2))  # type: ignore[arg-type]

    assert one.equals(one)
    assert not one.equals(other)
    assert 0 <= one.hashCode() < 2**31
    assert one.toString() == "HeadwaterListener"
    assert one.Java.implements == ["org.apache.spark.sql.util.QueryExecutionListener"]
