"""Posting off the job's path: documents that arrive, are retried, kept or dropped, and the log."""

from __future__ import annotations

import logging
import socket
import ssl
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_agent_config.delivery.outbox import Outbox, pause_after
from spark_agent_config.delivery.post import (
    Away,
    DocumentRejected,
    HttpSender,
    Misconfigured,
    Post,
    seconds_asked,
)
from tests.recording_server import recording_server


def posts_of(item: str) -> Sequence[Post]:
    return [Post("execution-plans", {"id": item})]


class ScriptedSender:
    """Raises the given errors, one entry a call; then succeeds."""

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

    assert box.flush(60)
    assert sender.sent == ["a", "b", "c"]
    assert box.counts().delivered == 3


def test_a_server_that_comes_back_gets_the_item() -> None:
    sender = ScriptedSender(Away("x"), Away("x"))
    box = outbox(sender)

    box.offer("a")

    assert box.flush(60)
    assert sender.sent == ["a"]


def test_a_server_that_stays_away_costs_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    sender = ScriptedSender(*[Away("nobody listens")] * 100)
    box = outbox(sender)

    for item in ("a", "b", "c", "d"):
        box.offer(item)
        assert box.flush(60)

    assert [r.levelno for r in caplog.records] == [logging.WARNING]
    assert "nobody listens" in caplog.text
    assert box.counts().dropped == 4
    assert sender.calls == 3 + 3, "after one outage an item is tried once"


def test_after_an_outage_the_next_one_is_told_again(caplog: pytest.LogCaptureFixture) -> None:
    away = [Away("x")] * 3
    box = outbox(ScriptedSender(*away, None, *away))

    for item in ("lost", "fine", "lost too"):
        box.offer(item)
        assert box.flush(60)

    assert len(caplog.records) == 2


def test_a_refused_item_is_not_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    sender = ScriptedSender(DocumentRejected("400: planId is missing"))
    box = outbox(sender)

    box.offer("bad")
    box.offer("good")

    assert box.flush(60)
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

    assert box.flush(60)
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
        assert self.let_go.wait(60)
        super().__call__(post)


def test_a_full_queue_drops_and_does_not_wait(caplog: pytest.LogCaptureFixture) -> None:
    sender = HeldSender()
    box = outbox(sender, capacity=2)
    box.offer("in hand")
    assert sender.entered.wait(60)

    assert [box.offer(item) for item in ("1", "2", "3", "4")] == [True, True, False, False]
    assert len(caplog.records) == 1

    sender.let_go.set()
    assert box.flush(60)
    assert sender.sent == ["in hand", "1", "2"]
    assert box.counts().dropped == 2


def test_a_queue_is_full_by_weight_and_one_heavy_item_is_no_reason() -> None:
    sender = HeldSender()
    box: Outbox[str] = Outbox(posts_of, sender, weigh=len, most_weight=4)
    box.offer("in hand")
    assert sender.entered.wait(60)

    assert [box.offer(item) for item in ("much too heavy", "1", "2")] == [True, False, False]

    sender.let_go.set()
    assert box.flush(60)
    assert [box.offer(item) for item in ("12", "34")] == [True, True]
    assert box.close(60)
    assert sender.sent == ["in hand", "much too heavy", "12", "34"]


def test_flush_gives_up_in_time_and_says_so() -> None:
    sender = HeldSender()
    box = outbox(sender)
    box.offer("slow")

    assert box.flush(0.01) is False

    sender.let_go.set()
    assert box.flush(60) is True


def test_close_tries_the_rest_once_and_takes_nothing_more() -> None:
    sender = ScriptedSender(*[Away("x")] * 100)
    box: Outbox[str] = Outbox(posts_of, sender, attempts=50, first_pause=60)
    box.offer("a")
    box.offer("b")

    assert box.close(60), "the pauses of a minute are cut short"
    assert box.offer("c") is False
    assert box.counts().dropped == 3
    assert sender.calls <= 3


def test_a_pause_that_the_server_asks_for_is_kept_within_bounds() -> None:
    waited: list[float] = []

    class Noting(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            waited.append(timeout or 0.0)
            return False

    sender = ScriptedSender(Away("x", after=2), Away("x", after=3600), Away("x"))
    box: Outbox[str] = Outbox(
        posts_of, sender, first_pause=0.5, longest_pause=8, chance=lambda: 0.0
    )
    box._closing = Noting()
    box.offer("a")

    assert box.flush(60)
    assert waited == [2, 60, 2]


def test_pauses_grow_to_their_bound_and_chance_takes_up_to_a_half_off() -> None:
    def pauses(chance: float) -> list[float]:
        return [pause_after(n, 0, chance, first=0.5, longest=8) for n in (1, 2, 3, 9, 5000)]

    assert pauses(0.0) == [0.5, 1, 2, 8, 8]
    assert pauses(1.0) == [0.25, 0.5, 1, 4, 4]


def test_the_next_item_leaves_a_server_alone_that_asked_for_it() -> None:
    now = [100.0]
    waited: list[float] = []

    class Noting(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            waited.append(timeout or 0.0)
            now[0] += timeout or 0.0
            return False

    sender = ScriptedSender(Away("429", after=30))
    box: Outbox[str] = Outbox(posts_of, sender, attempts=1, clock=lambda: now[0])
    box._closing = Noting()
    for item in ("lost", "next", "one more"):
        box.offer(item)
        assert box.flush(60)

    assert sender.sent == ["next", "one more"]
    assert waited == [30]


# --- undelivered documents ---------------------------------------------------------------------


class ListKeeper:
    """Keeps in memory, or fails as a full disk does."""

    def __init__(self, error: OSError | None = None) -> None:
        self.kept: list[str] = []
        self.aside: list[tuple[str, str]] = []
        self.error = error

    def __str__(self) -> str:
        return "a list"

    def keep(self, post: Post) -> None:
        if self.error is not None:
            raise self.error
        self.kept.append(post.document["id"])

    def set_aside(self, post: Post, reason: str) -> None:
        if self.error is not None:
            raise self.error
        self.aside.append((post.document["id"], reason))

    def redelivery(self, send: Callable[[Post], None]) -> Generator[None, None, None]:
        if self.error is not None:
            raise self.error
        while self.kept:
            send(Post("execution-plans", {"id": self.kept[0]}))
            self.kept.pop(0)
            yield


def keeping_outbox(sender: Callable[[Post], None], keeper: ListKeeper) -> Outbox[str]:
    return Outbox(
        posts_of, sender, keeper=keeper, capacity=2, attempts=2, first_pause=0, longest_pause=0
    )


def test_a_document_that_a_server_does_not_take_is_kept_and_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    keeper = ListKeeper()
    box = keeping_outbox(ScriptedSender(*[Away("503")] * 100), keeper)

    for item in ("a", "b", "c"):
        box.offer(item)
        assert box.flush(60)

    assert keeper.kept == ["a", "b", "c"]
    assert (box.counts().kept, box.counts().dropped) == (3, 0)
    assert [record.getMessage() for record in caplog.records] == [
        "Lineage is not delivered, the job goes on: 503 (kept in a list)"
    ]


def plan_and_event(item: str) -> Sequence[Post]:
    return [*posts_of(f"plan {item}"), *posts_of(f"event {item}")]


def test_a_refused_plan_is_set_aside_with_its_reason_and_its_event_is_not_sent(
    caplog: pytest.LogCaptureFixture,
) -> None:
    keeper = ListKeeper()
    sender = ScriptedSender(DocumentRejected("400: no operations"))
    box: Outbox[str] = Outbox(plan_and_event, sender, keeper=keeper)

    box.offer("bad")
    box.offer("good")
    box.close(60)

    assert keeper.aside == [
        ("plan bad", "400: no operations"),
        ("event bad", "400: no operations"),
    ]
    assert sender.sent == ["plan good", "event good"]
    assert (box.counts().refused, box.counts().dropped, keeper.kept) == (1, 0, [])
    assert [record.getMessage() for record in caplog.records] == [
        "The server refused lineage: 400: no operations (set aside in a list)"
    ]


def test_a_refused_document_that_cannot_be_set_aside_is_counted_as_dropped() -> None:
    keeper = ListKeeper(OSError(28, "No space left on device"))
    box = keeping_outbox(ScriptedSender(DocumentRejected("400")), keeper)

    box.offer("bad")

    assert box.flush(60)
    assert (box.counts().refused, box.counts().dropped) == (0, 1)


TROUBLES = (
    Away("nobody listens"),
    Away("429", after=5),
    DocumentRejected("400"),
    Misconfigured("401"),
    ZeroDivisionError("a bug"),
    MemoryError(),
)


@given(st.lists(st.none() | st.sampled_from(TROUBLES), max_size=12), st.integers(1, 4))
def test_whatever_happens_every_document_is_somewhere_and_no_event_goes_without_its_plan(
    script: list[Exception | None], attempts: int
) -> None:
    keeper, sender = ListKeeper(), ScriptedSender(*script)
    box: Outbox[str] = Outbox(
        plan_and_event,
        sender,
        keeper=keeper,
        attempts=attempts,
        first_pause=0,
        longest_pause=0,
        clock=iter(range(0, 10**6, 100)).__next__,
    )
    box._closing = Impatient()
    for item in ("1", "2", "3", "4"):
        assert box.offer(item)
    assert box.flush(60)
    box.close(60)

    somewhere = [*sender.sent, *keeper.kept, *(name for name, _ in keeper.aside)]
    assert sorted(somewhere) == [f"{kind} {n}" for kind in ("event", "plan") for n in range(1, 5)]
    for number in range(1, 5):
        if f"event {number}" in sender.sent:
            assert f"plan {number}" in sender.sent[: sender.sent.index(f"event {number}")]
    counts = box.counts()
    assert (counts.dropped, counts.waiting) == (0, 0)
    assert counts.delivered + counts.kept + counts.refused == 4


class Impatient(threading.Event):
    """Waits no time, so that pauses of any length are over at once."""

    def wait(self, timeout: float | None = None) -> bool:
        return self.is_set()


def test_a_sender_with_a_bug_costs_no_document() -> None:
    keeper = ListKeeper()
    box = keeping_outbox(ScriptedSender(ZeroDivisionError("oops")), keeper)

    box.offer("a")
    box.offer("b")
    box.close(60)

    assert keeper.aside == [("a", "a bug: ZeroDivisionError('oops')")]
    assert box.counts().delivered == 1


def test_after_a_mistake_in_the_settings_nothing_is_sent_and_everything_kept(
    caplog: pytest.LogCaptureFixture,
) -> None:
    keeper = ListKeeper()
    keeper.kept = ["earlier"]
    sender = ScriptedSender(None, Misconfigured("401: set the key"), Misconfigured("401"))
    box: Outbox[str] = Outbox(plan_and_event, sender, keeper=keeper)

    for item in ("a", "b", "c"):
        box.offer(item)
        assert box.flush(60)
    box.close(60)

    assert (sender.sent, sender.calls) == (["plan a"], 2)
    assert keeper.kept == ["earlier", "event a", "plan b", "event b", "plan c", "event c"]
    assert (box.counts().kept, box.counts().dropped) == (3, 0)
    first, last = (record.getMessage() for record in caplog.records)
    assert first == (
        "Lineage is not sent any more in this run, the job goes on: 401: set the key "
        "(kept in a list); after the correction `headwater journal import` imports the files"
    )
    assert last == (
        "Lineage at the end of the run: 3 queries are kept in a list, from where "
        "`headwater journal import` takes them"
    )


def test_a_mistake_in_the_settings_that_redelivery_meets_stops_sending() -> None:
    keeper = ListKeeper()
    keeper.kept = ["earlier"]
    sender = ScriptedSender(None, Misconfigured("403"))
    box = keeping_outbox(sender, keeper)

    box.offer("a")
    assert box.flush(60)
    box._wait_until(lambda: box._stopped is not None, time.monotonic() + 60)
    box.offer("b")
    box.close(60)

    assert (sender.sent, keeper.kept) == (["a"], ["earlier", "b"])


def test_a_mistake_in_the_settings_without_a_file_is_told_and_its_cost_at_the_end(
    caplog: pytest.LogCaptureFixture,
) -> None:
    sender = ScriptedSender(Misconfigured("404"))
    box = outbox(sender)

    for item in ("a", "b"):
        box.offer(item)
    box.close(60)

    assert (sender.calls, box.counts().dropped) == (1, 2)
    assert "not sent any more" in caplog.records[0].getMessage()
    assert caplog.records[1].getMessage() == "Lineage at the end of the run: 2 queries are lost"


def test_a_full_disk_costs_the_item_and_no_second_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    keeper = ListKeeper(OSError(28, "No space left on device"))
    sender = ScriptedSender(*[Away("503")] * 3)
    box = keeping_outbox(sender, keeper)

    for item in ("a", "b", "c"):
        box.offer(item)
        assert box.flush(60)
    box.close(60)

    assert (box.counts().dropped, box.counts().delivered) == (2, 1)
    first, last = (record.getMessage() for record in caplog.records)
    assert "No space left" in first
    assert last == "Lineage at the end of the run: 1 query is delivered; 2 queries are lost"


def test_the_rest_of_an_item_is_kept_from_the_document_that_failed() -> None:
    keeper = ListKeeper()
    box: Outbox[str] = Outbox(
        lambda item: [*posts_of(f"plan {item}"), *posts_of(f"event {item}")],
        ScriptedSender(None, Away("x")),
        keeper=keeper,
        attempts=1,
    )
    box.offer("a")

    assert box.flush(60)
    assert keeper.kept == ["event a"]


def test_kept_documents_are_delivered_once_the_server_takes_something() -> None:
    keeper = ListKeeper()
    keeper.kept = ["earlier", "earlier too"]
    sender = ScriptedSender()
    box = keeping_outbox(sender, keeper)

    box.offer("new")

    assert box.close(60)
    assert sender.sent == ["new", "earlier", "earlier too"]
    assert keeper.kept == []


def test_an_outage_during_redelivery_is_quiet_and_tried_again_after_the_next_delivery(
    caplog: pytest.LogCaptureFixture,
) -> None:
    keeper = ListKeeper()
    keeper.kept = ["earlier"]
    sender = ScriptedSender(None, Away("x"))
    box = keeping_outbox(sender, keeper)

    box.offer("new")
    assert box.flush(60)
    box._wait_until(lambda: box._redelivery is None, time.monotonic() + 60)
    assert (sender.sent, keeper.kept) == (["new"], ["earlier"])
    box.offer("newer")
    box.close(60)

    assert sender.sent == ["new", "newer", "earlier"]
    assert not caplog.records


def test_a_server_that_is_back_at_exit_gets_the_kept_documents_of_this_run() -> None:
    keeper = ListKeeper()
    sender = ScriptedSender(Away("x"), Away("x"))
    box = keeping_outbox(sender, keeper)
    box.offer("a")
    assert box.flush(60)
    assert keeper.kept == ["a"]

    box.close(60)

    assert (sender.sent, keeper.kept) == (["a"], [])


def test_a_full_queue_overflows_into_the_file() -> None:
    sender, keeper = HeldSender(), ListKeeper()
    box = keeping_outbox(sender, keeper)
    box.offer("in hand")
    assert sender.entered.wait(60)

    assert all(box.offer(item) for item in ("1", "2", "3", "4"))
    box._wait_until(lambda: not box._overflowing, time.monotonic() + 60)
    assert keeper.kept == ["3", "4"]

    sender.let_go.set()
    assert box.close(60)
    assert sender.sent == ["in hand", "1", "2", "3", "4"]


def test_documents_that_the_exit_bound_cuts_off_are_kept_the_one_on_its_way_too() -> None:
    sender, keeper = HeldSender(), ListKeeper()
    box = keeping_outbox(sender, keeper)
    box.offer("in hand")
    assert sender.entered.wait(60)
    box.offer("1")
    box.offer("2")

    assert box.close(1) is False

    assert keeper.kept == ["in hand", "1", "2"]
    assert (box.counts().kept, box.counts().waiting) == (3, 0)
    sender.let_go.set()


def test_a_document_that_ends_while_closing_waits_is_kept() -> None:
    sender, keeper = HeldSender(), ListKeeper()
    box = keeping_outbox(sender, keeper)
    box.offer("in hand")
    assert sender.entered.wait(60)
    box._closing.set()

    assert box.offer("late")
    sender.let_go.set()
    box.close(60)

    assert sorted([*sender.sent, *keeper.kept]) == ["in hand", "late"]


def test_an_item_that_comes_after_the_end_is_kept_with_one_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    keeper = ListKeeper()
    box = keeping_outbox(ScriptedSender(), keeper)
    box.close(60)

    for item in ("a", "b"):
        assert box.offer(item)
        assert box.flush(60)

    assert keeper.kept == ["a", "b"]
    assert (box.counts().kept, box.counts().dropped) == (2, 0)
    assert [record.getMessage() for record in caplog.records] == [
        "Spark reported a query after the observation was closed: its lineage is kept in a list"
    ]


def test_an_item_that_comes_after_the_end_and_cannot_be_kept_is_counted_with_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    box = outbox(ScriptedSender())
    box.close(60)

    for item in ("a", "b"):
        assert box.offer(item) is False

    assert box.counts().dropped == 2
    assert [record.getMessage() for record in caplog.records] == [
        "Spark reported a query after the observation was closed: its lineage is lost"
    ]


def test_a_folder_that_hangs_at_the_end_is_named_in_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class HangingKeeper(ListKeeper):
        go = threading.Event()

        def keep(self, post: Post) -> None:
            self.go.wait(60)

    sender, keeper = HeldSender(), HangingKeeper()
    box = keeping_outbox(sender, keeper)
    box.offer("in hand")
    assert sender.entered.wait(60)

    assert box.close(0.1) is False

    assert [record.getMessage() for record in caplog.records] == [
        "Lineage of queries may be lost (1 at most): a list had not taken them when the time for "
        "closing was over"
    ]
    keeper.go.set()
    sender.let_go.set()


def test_an_interrupt_while_closing_waits_keeps_the_rest() -> None:
    sender, keeper = HeldSender(), ListKeeper()
    box = keeping_outbox(sender, keeper)
    box.offer("in hand")
    assert sender.entered.wait(60)

    class Interrupted(threading.Condition):
        def wait(self, timeout: float | None = None) -> bool:
            box._changed = inner
            raise KeyboardInterrupt

    inner, box._changed = box._changed, Interrupted()
    with pytest.raises(KeyboardInterrupt):
        box.close(60)

    assert keeper.kept == ["in hand"]
    sender.let_go.set()


def test_a_folder_that_hangs_does_not_hold_the_exit() -> None:
    let_go = threading.Event()

    class Hanging(ListKeeper):
        def keep(self, post: Post) -> None:
            assert let_go.wait(60)
            super().keep(post)

    sender = HeldSender()
    box = keeping_outbox(sender, Hanging())
    box.offer("in hand")
    assert sender.entered.wait(60)

    assert box.close(0.2) is False
    assert not let_go.is_set(), "closing came back while the folder still hangs"

    let_go.set()
    sender.let_go.set()


def test_an_interpreter_that_starts_no_threads_any_more_still_keeps_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    keeper = ListKeeper()
    box = keeping_outbox(ScriptedSender(), keeper)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError):  # the listener's callback catches it
            box.offer("a")
        box.close(0.1)

    assert keeper.kept == ["a"]


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


@pytest.mark.parametrize("status", [400, 409, 413, 415, 422, 431])
def test_an_answer_to_this_document_alone_is_a_refusal(status: int) -> None:
    with recording_server() as server:
        server.answer = lambda _: (status, {})
        with pytest.raises(DocumentRejected, match=str(status)):
            HttpSender(server.url, {})(Post("execution-plans", {}))


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (401, "spark.headwater.apiKey"),
        (403, "spark.headwater.apiKey"),
        (404, "spark.headwater.url"),
        (405, "spark.headwater.url"),
        (407, "proxy"),
        (410, "spark.headwater.url"),
    ],
)
def test_an_answer_that_a_person_must_mend_says_where(status: int, advice: str) -> None:
    with recording_server() as server:
        server.answer = lambda _: (status, {})
        with pytest.raises(Misconfigured, match=f"{status}.*{advice}"):
            HttpSender(server.url, {})(Post("execution-plans", {}))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_and_a_person_is_told_where_it_leads(status: int) -> None:
    with recording_server() as server:
        server.answer = lambda _: (status, {"Location": "https://u:hunter2@there/elsewhere"})
        with pytest.raises(Misconfigured, match=f"{status}.*there/elsewhere") as caught:
            HttpSender(server.url, {})(Post("execution-plans", {}))

    assert len(server.received) == 1
    assert "hunter2" not in str(caught.value)


_ID = b'"5f0c6d0e-8b1f-5d0a-9f0e-3c1f6a3f8f57"'
_LOGIN = b"<!doctype html><html><body>Sign in: token=hunter2secret</body></html>"


@pytest.mark.parametrize(
    ("status", "said"),
    [(201, b""), (201, _ID), (201, b"{}"), (202, b""), (202, _ID), (200, _ID)],
)
def test_an_answer_of_a_producer_is_believed(status: int, said: bytes) -> None:
    with recording_server() as server:
        server.answer, server.said = lambda _: (status, {}), said
        for resource in ("execution-plans", "execution-events"):
            HttpSender(server.url, {})(Post(resource, {}))

    assert len(server.received) == 2


@pytest.mark.parametrize("resource", ["execution-plans", "execution-events"])
@pytest.mark.parametrize(
    ("status", "said"),
    [
        (200, _LOGIN),
        (201, _LOGIN),
        (200, b""),
        (204, b""),
        (200, b"OK"),
        (200, b'"ok"'),
        (200, b'{"status": "ok"}'),
        (201, b'{"id": 17}'),
        (201, b"[" * 60_000),
        (203, _LOGIN * 2000),
        (200, b"\xff\xfe\x00"),
    ],
)
def test_an_answer_of_something_else_is_for_a_person_to_mend(
    status: int, said: bytes, resource: str
) -> None:
    with recording_server() as server:
        server.answer, server.said = lambda _: (status, {}), said
        with pytest.raises(
            Misconfigured, match=f"{status}.*no producer's.*headwater.url"
        ) as caught:
            HttpSender(server.url, {})(Post(resource, {}))

    assert len(str(caught.value)) < 1000
    assert "\n" not in str(caught.value)
    assert "hunter2secret" not in str(caught.value)


def test_a_document_that_is_too_large_is_told_with_its_size_and_the_setter_of_the_limit() -> None:
    with recording_server() as server:
        server.answer = lambda _: (413, {})
        with pytest.raises(
            DocumentRejected, match=r"413; 1,0\d\d bytes were sent.*HEADWATER_MAX_BODY"
        ):
            HttpSender(server.url, {})(Post("execution-plans", {"a": "x" * 1000}))


def test_a_certificate_that_nobody_trusts_is_for_a_person_to_mend(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    untrusted = ssl.SSLCertVerificationError(1, "CERTIFICATE_VERIFY_FAILED")
    untrusted.verify_message = "self-signed certificate"

    def fail(*_: object, **__: object) -> None:
        raise untrusted

    monkeypatch.setattr("http.client.HTTPSConnection.connect", fail)
    with pytest.raises(Misconfigured, match=r"self-signed certificate.*SSL_CERT_FILE"):
        HttpSender("https://127.0.0.1:9", {})(Post("x", {}))


def test_a_server_without_tls_behind_an_https_address_is_away() -> None:
    with raw_server(b"HTTP/1.1 400 Bad Request\r\n\r\n") as url, pytest.raises(Away):
        HttpSender(url.replace("http:", "https:"), {})(Post("x", {}))


def test_a_server_s_message_stands_on_one_line_of_the_log() -> None:
    reply, answer = (
        b"HTTP/1.1 400 No\r\n\r\nfirst\nERROR second\n",
        "answered 400: first ERROR second$",
    )
    with raw_server(reply) as url, pytest.raises(DocumentRejected, match=answer):
        HttpSender(url, {})(Post("x", {}))


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


@contextmanager
def raw_server(reply: bytes) -> Iterator[str]:
    """Answers one connection with these bytes, whatever it asks, and hangs up."""
    with socket.socket() as rude:
        rude.bind(("127.0.0.1", 0))
        rude.listen()

        def answer() -> None:
            connection, _ = rude.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(reply)
                # Unread bytes at the close of a socket reset the connection, which takes a
                # reply with it that the client has not read yet.
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(65536):
                        pass

        thread = threading.Thread(target=answer)
        thread.start()
        yield f"http://127.0.0.1:{rude.getsockname()[1]}"
        thread.join()


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"HTTP/1.1 2",
        b"garbage\x00\xff\r\n\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 201 " + b"x" * 100_000,
        b"HTTP/1.1 201 OK\r\n" + b"A: b\r\n" * 200 + b"\r\n",
        b"HTTP/1.1 201 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 500 Oops\r\nContent-Length: 90\r\n\r\ncut",
        b"HTTP/1.1 503 Busy\r\nRetry-After: soon\r\n\r\n",
    ],
    ids=["nothing", "cut", "garbage", "status", "long", "headers", "chunk", "body", "busy"],
)
def test_a_server_that_hangs_up_or_talks_nonsense_is_away(reply: bytes) -> None:
    with raw_server(reply) as url, pytest.raises(Away):
        HttpSender(url, {})(Post("x", {}))


def test_a_refusal_whose_reason_is_cut_off_is_a_refusal() -> None:
    reply = b"HTTP/1.1 400 No\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"
    with raw_server(reply) as url, pytest.raises(DocumentRejected, match="400"):
        HttpSender(url, {})(Post("x", {}))


def test_the_pause_that_a_server_asks_for_is_read() -> None:
    with recording_server() as server:
        server.answer = lambda _: (503, {"Retry-After": "7"})
        with pytest.raises(Away) as caught:
            HttpSender(server.url, {})(Post("x", {}))

    assert caught.value.after == 7


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        (None, 0),
        ("7", 7),
        ("later", 0),
        ("-1", 0),
        ("999999", 999_999),
        ("1000000", 0),
        ("Fri, 01 Jan 2100 00:00:20 GMT", 20),
        ("Thu, 31 Dec 2099 23:00:00 GMT", 0),
        ("Fri, 01 Jan 99999 00:00:20 GMT", 0),
    ],
)
def test_a_pause_is_seconds_or_a_time_on_the_servers_clock(
    said: str | None, seconds: float
) -> None:
    assert seconds_asked(said, "Fri, 01 Jan 2100 00:00:00 GMT") == seconds


def test_a_pause_until_a_time_says_nothing_without_the_servers_clock() -> None:
    assert seconds_asked("Fri, 01 Jan 2100 00:00:20 GMT", None) == 0


@pytest.mark.parametrize(
    "error",
    [
        socket.gaierror(-2, "Name or service not known"),
        TimeoutError("timed out"),
        RuntimeError("cannot schedule new futures after shutdown"),
        OSError(24, "Too many open files"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_name_that_nobody_knows_and_an_interpreter_that_ends_are_away(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    with pytest.raises(Away):
        HttpSender("http://lineage.invalid", {})(Post("x", {}))


def test_a_document_that_is_no_json_and_a_key_that_is_no_header_are_refused() -> None:
    with pytest.raises(DocumentRejected, match="JSON"):
        HttpSender("http://127.0.0.1:9", {})(Post("x", {"a": "\ud800"}))
    with recording_server() as server, pytest.raises(Misconfigured, match="apiKey") as caught:
        HttpSender(server.url, {"X-API-Key": "hunter2\nb"})(Post("x", {}))
    assert "hunter2" not in str(caught.value), "the key is no text for a log"


def test_a_proxy_of_the_environment_is_not_asked_for_this_computer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with recording_server() as server:
        HttpSender(server.url, {})(Post("execution-plans", {}))

    assert len(server.received) == 1
