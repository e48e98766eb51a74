"""Posting off the job's path: what arrives, what is retried, what is dropped, what is logged."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Sequence

import pytest

from spark_agent_config.delivery import Away, HttpSender, Outbox, Post, Refused
from tests.recording_server import recording_server


def posts_of(item: str) -> Sequence[Post]:
    return [Post("execution-plans", {"id": item})]


class ScriptedSender:
    """Raises what it is told to, one entry a call; then succeeds."""

    def __init__(self, *script: Exception | None) -> None:
        self.sent: list[str] = []
        self.calls = 0
        self._script = list(script)

    def __call__(self, post: Post) -> None:
        self.calls += 1
        raised = self._script.pop(0) if self._script else None
        if raised is not None:
            raise raised
        self.sent.append(post.document["id"])


def outbox(sender: ScriptedSender, *, capacity: int = 10, attempts: int = 3) -> Outbox[str]:
    return Outbox(
        posts_of, sender, capacity=capacity, attempts=attempts, first_pause=0, longest_pause=0
    )


# --- the queue ---------------------------------------------------------------------------------


def test_items_arrive_in_their_order() -> None:
    sender = ScriptedSender()
    box = outbox(sender)

    for item in ("a", "b", "c"):
        assert box.offer(item)

    assert box.flush(5)
    assert sender.sent == ["a", "b", "c"]
    assert box.counts().delivered == 3


def test_a_server_that_comes_back_gets_the_item() -> None:
    sender = ScriptedSender(Away("x"), Away("x"))
    box = outbox(sender)

    box.offer("a")

    assert box.flush(5)
    assert sender.sent == ["a"]


def test_a_server_that_stays_away_costs_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    sender = ScriptedSender(*[Away("nobody listens")] * 100)
    box = outbox(sender)

    for item in ("a", "b", "c", "d"):
        box.offer(item)
        assert box.flush(5)

    assert [r.levelno for r in caplog.records] == [logging.WARNING]
    assert "nobody listens" in caplog.text
    assert box.counts().dropped == 4
    assert sender.calls == 3 + 3, "after one outage an item is tried once"


def test_after_an_outage_the_next_one_is_told_again(caplog: pytest.LogCaptureFixture) -> None:
    away = [Away("x")] * 3
    box = outbox(ScriptedSender(*away, None, *away))

    for item in ("lost", "fine", "lost too"):
        box.offer(item)
        assert box.flush(5)

    assert len(caplog.records) == 2


def test_a_refused_item_is_not_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    sender = ScriptedSender(Refused("400: planId is missing"))
    box = outbox(sender)

    box.offer("bad")
    box.offer("good")

    assert box.flush(5)
    assert sender.sent == ["good"]
    assert "planId is missing" in caplog.text


def test_a_bug_in_a_conversion_loses_one_item_and_no_more(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def prepare(item: str) -> Sequence[Post]:
        if item == "strange":
            raise RecursionError("too deep")
        return posts_of(item)

    sender = ScriptedSender()
    box: Outbox[str] = Outbox(prepare, sender)
    for item in ("strange", "strange", "plain"):
        box.offer(item)

    assert box.flush(5)
    assert sender.sent == ["plain"]
    assert len(caplog.records) == 1


class HeldSender(ScriptedSender):
    """Waits inside the first call until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.entered = threading.Event()
        self.let_go = threading.Event()

    def __call__(self, post: Post) -> None:
        self.entered.set()
        assert self.let_go.wait(10)
        super().__call__(post)


def test_a_full_queue_drops_and_does_not_wait(caplog: pytest.LogCaptureFixture) -> None:
    sender = HeldSender()
    box = outbox(sender, capacity=2)
    box.offer("in hand")
    assert sender.entered.wait(10)

    assert [box.offer(item) for item in ("1", "2", "3", "4")] == [True, True, False, False]
    assert len(caplog.records) == 1

    sender.let_go.set()
    assert box.flush(5)
    assert sender.sent == ["in hand", "1", "2"]
    assert box.counts().dropped == 2


def test_flush_gives_up_in_time_and_says_so() -> None:
    sender = HeldSender()
    box = outbox(sender)
    box.offer("slow")

    assert box.flush(0.01) is False

    sender.let_go.set()
    assert box.flush(5) is True


def test_close_tries_what_is_left_once_and_takes_nothing_more() -> None:
    sender = ScriptedSender(*[Away("x")] * 100)
    box: Outbox[str] = Outbox(posts_of, sender, attempts=50, first_pause=60)
    box.offer("a")
    box.offer("b")

    assert box.close(5), "the pauses of a minute are cut short"
    assert box.offer("c") is False
    assert box.counts().dropped == 3
    assert sender.calls <= 3


# --- HTTP --------------------------------------------------------------------------------------


def test_a_small_document_goes_as_it_is() -> None:
    with recording_server() as server:
        HttpSender(f"{server.url}/producer/", {"X-API-Key": "k"})(
            Post("execution-plans", {"a": "é"})
        )

    (request,) = server.received
    assert (request.path, request.document) == ("/producer/execution-plans", {"a": "é"})
    assert request.headers["Content-Type"] == "application/vnd.absa.spline.producer.v1.2+json"
    assert request.headers["X-Api-Key"] == "k"
    assert "Content-Encoding" not in request.headers


def test_a_document_above_2048_bytes_is_compressed() -> None:
    document = {"a": "x" * 2048}
    with recording_server() as server:
        HttpSender(server.url, {})(Post("execution-plans", document))

    (request,) = server.received
    assert request.headers["Content-Encoding"] == "gzip"
    assert request.wire_length < 200
    assert request.document == document


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_an_answer_that_may_change_is_away(status: int) -> None:
    with recording_server() as server:
        server.answer = lambda _: (status, {})
        with pytest.raises(Away, match=str(status)):
            HttpSender(server.url, {})(Post("execution-plans", {}))


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 413, 415])
def test_an_answer_that_will_not_change_is_a_refusal(status: int) -> None:
    with recording_server() as server:
        server.answer = lambda _: (status, {})
        with pytest.raises(Refused, match=str(status)):
            HttpSender(server.url, {})(Post("execution-plans", {}))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_a_refusal_and_is_not_followed(status: int) -> None:
    with recording_server() as server:
        server.answer = lambda _: (status, {"Location": f"{server.url}/elsewhere"})
        with pytest.raises(Refused, match=str(status)):
            HttpSender(server.url, {})(Post("execution-plans", {}))

    assert len(server.received) == 1


def test_nobody_listening_is_away() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(Away):
            HttpSender(f"http://127.0.0.1:{port}", {})(Post("execution-plans", {}))


def test_a_server_that_does_not_answer_is_away_after_the_timeout() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(Away):
            HttpSender(url, {}, timeout=0.05)(Post("execution-plans", {}))


def test_a_server_that_hangs_up_is_away() -> None:
    with socket.socket() as rude:
        rude.bind(("127.0.0.1", 0))
        rude.listen()

        def hang_up() -> None:
            connection, _ = rude.accept()
            connection.close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        with pytest.raises(Away):
            HttpSender(f"http://127.0.0.1:{rude.getsockname()[1]}", {})(Post("x", {}))
        thread.join()


def test_a_proxy_of_the_environment_is_not_asked_for_this_computer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with recording_server() as server:
        HttpSender(server.url, {})(Post("execution-plans", {}))

    assert len(server.received) == 1
