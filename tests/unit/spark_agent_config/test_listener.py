"""``observe``: where its settings come from, and that it never raises into a job."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from spark_agent_config.capture.captured import Application, CapturedQuery, Target
from spark_agent_config.delivery.outbox import Ending, Outbox
from spark_agent_config.executions import QueryListener
from spark_agent_config.listener import (
    Observation,
    close_all,
    documents,
    labels_of,
    observe,
    outbox_of,
    server_url,
    spill_folder,
)
from tests.recording_server import recording_server


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


@pytest.mark.parametrize(
    "url", ["lineage:8080", "ftp://x", "http://", "file:", "file:/", "file:here", "file://there/x"]
)
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


def test_a_session_of_spark_connect_is_told_the_alternative_in_one_sentence(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Remote(Broken):
        """As PySpark's: it has no JVM to ask. The real one needs packages that are not here."""

    Remote.__module__ = "pyspark.sql.connect.session"

    observation = observe(Remote())

    assert observation.active is False
    assert observation.close(0.01)
    (record,) = caplog.records
    said = record.getMessage()
    assert "Spark Connect" in said
    assert "stock agent" in said
    assert "the job goes on" in said
    assert "\n" not in said


def test_a_setting_that_differs_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    observation = Observation(None, settings={"url": "http://a", "job": "one"})

    for settings in ({}, {"url": "http://a"}, {"job": "two"}, {"job": "two"}, {"job": "one"}):
        observation.ignore(settings)
    assert [r.getMessage().partition("; ")[2] for r in caplog.records] == ["job is ignored"]
    observation.ignore({"apiKey": "unsaid-word", "job": "two"})

    assert len(caplog.records) == 2
    assert "unsaid-word" not in caplog.text


_FORKING = """
import json, os, sys
from spark_agent_config import listener

class Waiting:
    def close(self, seconds, ending):
        calls.append("delivery")

calls = []
observation = listener.Observation(
    Waiting(), lambda _: calls.append("drain"), lambda: calls.append("leave")
)
listener._observed["app-1 session"] = observation
read, write = os.pipe()
child = os.fork()
if child == 0:
    listener.close_all()
    observation.close()
    os.write(write, json.dumps([calls, observation.active]).encode())
    os._exit(0)
os.waitpid(child, 0)
listener.close_all()
print(json.dumps([json.loads(os.read(read, 1000)), calls]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks on this system")
def test_the_end_of_a_forked_process_leaves_the_observation_to_its_parent() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _FORKING], capture_output=True, text=True, check=True, timeout=240
    )
    assert json.loads(done.stdout) == [[[], False], ["drain", "leave", "delivery"]]


def test_a_second_close_waits_for_the_first(tmp_path: Path) -> None:
    box = outbox_of({"url": f"file:{tmp_path}/l.ndjson"}, {}, convert)
    began, go = threading.Event(), threading.Event()
    left: list[str] = []

    def drain(_: int) -> bool:
        began.set()
        return go.wait(60)

    observation = Observation(box, drain, lambda: left.append("left"))
    first = threading.Thread(target=observation.close, args=(60,))
    second = threading.Thread(target=observation.close, args=(60,))
    first.start()
    assert began.wait(60)
    second.start()
    assert observation.active
    go.set()
    first.join(60)
    second.join(60)

    assert (observation.active, left) == (False, ["left"])


def test_a_jvm_that_does_not_answer_holds_a_close_up_for_its_time_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    box = outbox_of({"url": f"file:{tmp_path}/l.ndjson"}, {}, convert)
    never = threading.Event()
    observation = Observation(box, lambda _: never.wait(60))

    assert observation.flush(0.05) is False
    assert observation.close(0.05) is False
    assert observation.active is False
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert record.getMessage().startswith("Lineage of the last queries may be lost: Spark had not")
    assert "flush(60)" in record.getMessage()
    never.set()


@pytest.mark.parametrize("is_emptied", [True, False])
def test_spark_gets_all_the_time_and_its_answer_counts(
    tmp_path: Path, is_emptied: bool, caplog: pytest.LogCaptureFixture
) -> None:
    box = outbox_of({"url": f"file:{tmp_path}/l.ndjson"}, {}, convert)
    waits: list[int] = []

    def drain(milliseconds: int) -> bool:
        waits.append(milliseconds)
        box.offer(QUERY)
        return is_emptied

    observation = Observation(box, drain)

    assert observation.flush(40) is is_emptied
    assert observation.close(60) is is_emptied
    assert waits == [40_000, 60_000]
    assert box.counts().delivered == 2
    assert ["may be lost" in record.getMessage() for record in caplog.records] == (
        [] if is_emptied else [True]
    )


def test_the_delivery_has_a_second_where_spark_took_all_the_time() -> None:
    class TimedOutbox(Outbox[CapturedQuery]):
        def close(self, timeout: float, ending: Ending | None = None) -> bool:
            closed_within.append(timeout)
            return super().close(timeout, ending)

    closed_within: list[float] = []
    never = threading.Event()
    box = TimedOutbox(convert, lambda _: None)

    Observation(box, lambda _: never.wait(60)).close(0.05)

    assert closed_within == [1.0]
    never.set()


def test_a_jvm_that_is_gone_has_nothing_more_to_report(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def drain(_: int) -> bool:
        raise ConnectionRefusedError("Answer from Java side is empty")

    observation = Observation(outbox_of({"url": f"file:{tmp_path}/l.ndjson"}, {}, convert), drain)

    assert observation.flush(60)
    assert observation.close(60)
    assert caplog.records == []


@pytest.mark.parametrize("is_emptied", [True, False])
def test_an_interpreter_that_starts_no_thread_any_more_waits_for_spark_too(
    tmp_path: Path, is_emptied: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[int] = []

    def drain(milliseconds: int) -> bool:
        waits.append(milliseconds)
        return is_emptied

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    observation = Observation(outbox_of({"url": f"file:{tmp_path}/l.ndjson"}, {}, convert), drain)
    monkeypatch.setattr("threading.Thread.start", refuse)

    assert observation.close(60) is is_emptied
    assert waits == [60_000]


def test_a_query_that_spark_reports_too_late_for_the_time_of_closing_is_delivered_or_kept(
    tmp_path: Path,
) -> None:
    with recording_server() as server:
        box = outbox_of({"url": server.url, "spill": str(tmp_path)}, {}, convert)
        listener = QueryListener(lambda *_, **__: [QUERY], box)
        observation = Observation(box, lambda _: False, end=listener.end)
        observation.close(60)

        listener.onSuccess("command", "late", 1)
        assert box.flush(60)

    (path,) = tmp_path.iterdir()
    assert [line["kind"] for line in lines_of(path)] == ["plan", "event"]
    assert (box.counts().kept, server.received) == (1, [])


def test_a_late_query_that_might_be_part_of_another_is_not_held(tmp_path: Path) -> None:
    box = outbox_of({"url": f"file:{tmp_path}/l.ndjson"}, {}, convert)
    inner = replace(QUERY, command="SaveIntoDataSourceCommand", staged=None)
    listener = QueryListener(lambda *_, **__: [inner], box)
    listener.end()

    listener.onSuccess("save", "inner", 1)

    assert box.flush(60)
    assert box.counts().delivered == 1


def test_an_interrupt_while_spark_is_waited_for_cuts_the_waiting_short_not_the_delivery(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = outbox_of({"url": f"file:{tmp_path}/l.ndjson"}, {}, convert)
    box.offer(QUERY)
    observation = Observation(box)

    def interrupted(*_: Any) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr("spark_agent_config.listener._within", interrupted)
    with pytest.raises(KeyboardInterrupt):
        observation.close(60)

    assert (observation.active, box.counts().delivered) == (False, 1)
    assert observation.close(60)


def test_the_sessions_of_a_process_share_the_time_at_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    never, asked = threading.Event(), threading.Event()
    waits: list[int] = []

    def hang(_: int) -> bool:
        return never.wait(60)

    def answer(milliseconds: int) -> bool:
        waits.append(milliseconds)
        asked.set()
        return True

    boxes = [outbox_of({"url": f"file:{tmp_path}/l.ndjson"}, {}, convert) for _ in range(2)]
    observed = {
        str(n): Observation(box, drain)
        for n, (box, drain) in enumerate(zip(boxes, (answer, hang), strict=True))
    }
    monkeypatch.setattr("spark_agent_config.listener._observed", observed)
    both = list(observed.values())

    close_all(0.2)

    assert asked.wait(60)
    assert waits == [0], "the last session took all the time"
    assert ([each.active for each in both], observed) == ([False, False], {})
    never.set()


def test_sessions_that_end_together_are_one_warning_each_of_the_wait_and_of_the_sum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    never = threading.Event()
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        boxes = [outbox_of({"url": url, "spill": str(tmp_path)}, {}, convert) for _ in range(3)]
        drains = [lambda _: never.wait(60), lambda _: never.wait(60), lambda _: True]
        observed = {
            str(n): Observation(box, drain)
            for n, (box, drain) in enumerate(zip(boxes, drains, strict=True))
        }
        monkeypatch.setattr("spark_agent_config.listener._observed", observed)
        for box in boxes:
            box.offer(QUERY)
            box.offer(QUERY)

        close_all(0.2)

    wait, total = (record.getMessage() for record in caplog.records)
    assert wait.startswith("Lineage of the last queries may be lost: Spark had not reported them")
    assert total == (
        f"Lineage at the end of the run: 6 queries are kept in {tmp_path}, from where the next run "
        "that reaches the server delivers them"
    )
    never.set()


def test_a_listener_is_equal_to_itself_alone() -> None:
    first, other = (QueryListener(lambda *_, **__: [], None) for _ in range(2))  # type: ignore[arg-type]

    assert first.equals(first)
    assert not first.equals(other)
    assert 0 <= first.hashCode() < 2**31
    assert first.toString() == "HeadwaterListener"
    assert first.Java.implements == ["org.apache.spark.sql.util.QueryExecutionListener"]


# --- where documents go ------------------------------------------------------------------------


def test_the_spill_folder_is_the_setting_then_the_environment_then_the_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    environment = {"HEADWATER_SPILL": "/from/environment"}

    assert spill_folder({"spill": "~/given"}, environment) == tmp_path / "given"
    assert spill_folder({}, environment) == Path("/from/environment")
    assert tmp_path in (spill_folder({}, {}) or Path()).parents


def test_an_empty_spill_setting_switches_it_off() -> None:
    assert spill_folder({"spill": ""}, {"HEADWATER_SPILL": "/x"}) is None
    assert spill_folder({}, {"HEADWATER_SPILL": ""}) is None


LAB: Mapping[str, tuple[str, ...]] = {"captureScope": ("lab",)}


def convert(query: CapturedQuery) -> Any:
    return documents(query, Application("app-1", "job", "me", "4.0.0", LAB))


QUERY = CapturedQuery(
    command="InsertIntoHadoopFsRelationCommand",
    plan=json.dumps(
        [{"class": "org.apache.spark.sql.catalyst.plans.logical.OneRowRelation", "num-children": 0}]
    ),
    target=Target("file:/lake/out", mode="Overwrite"),
    timestamp=1_700_000_000_000,
    duration_ns=1,
)


def deliver(settings: dict[str, str], environment: dict[str, str] | None = None) -> Any:
    box = outbox_of(settings, environment or {}, convert)
    box.offer(QUERY)
    box.close(60)
    return box.counts()


def lines_of(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_file_address_posts_nothing_and_appends_lines(tmp_path: Path) -> None:
    path = tmp_path / "not yet there" / "lineage.ndjson"
    settings = {"url": f"file:{path}".replace(" ", "%20")}

    assert deliver(settings).delivered == 1
    assert deliver(settings).delivered == 1

    plan, event, *again = lines_of(path)
    assert (plan["kind"], event["kind"], len(again)) == ("plan", "event", 2)
    assert plan["body"]["id"] == plan["planId"] == event["planId"] == event["body"]["planId"]
    assert (plan["scope"], plan["apiVersion"]) == ("lab", "1.2")


def test_a_file_address_without_an_ending_is_a_folder(tmp_path: Path) -> None:
    assert deliver({"url": f"file://{tmp_path}/lineage"}).delivered == 1

    (path,) = (tmp_path / "lineage").iterdir()
    assert len(lines_of(path)) == 2


def test_sessions_that_begin_in_one_millisecond_have_files_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.time_ns", lambda: 1_700_000_000_000_000_000)
    for _ in range(2):
        deliver({"url": f"file://{tmp_path}/lineage"})

    files = list((tmp_path / "lineage").iterdir())
    assert [len(lines_of(path)) for path in files] == [2, 2]


def test_a_file_that_cannot_be_written_costs_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "taken").write_text("")

    assert deliver({"url": f"file:{tmp_path}/taken"}).dropped == 1
    assert len(caplog.records) == 1


def test_documents_that_one_run_could_not_deliver_the_next_one_delivers(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with recording_server() as server:
        settings = {"url": server.url, "spill": str(tmp_path), "apiKey": "k"}
        server.answer = lambda _: (503, {"Retry-After": "3600"})
        assert deliver(settings).kept == 1
        assert [record.levelname for record in caplog.records] == ["WARNING"]
        assert str(tmp_path) in caplog.text
        server.received.clear()
        server.answer = lambda _: (201, {})

        assert deliver(settings).delivered == 1

        kinds = [request.path for request in server.received]
        assert kinds == ["/execution-plans", "/execution-events"] * 2
        assert {request.headers["X-Api-Key"] for request in server.received} == {"k"}
    assert list(tmp_path.iterdir()) == []


def test_documents_that_a_login_page_answered_are_kept_told_once_and_delivered_by_the_next_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with recording_server() as server:
        settings = {"url": server.url, "spill": str(tmp_path)}
        server.answer, server.said = lambda _: (200, {"Content-Type": "text/html"}), b"<html>"
        box = outbox_of(settings, {}, convert)
        for _ in range(5):
            box.offer(QUERY)
        box.close(60)

        assert (box.counts().kept, box.counts().delivered) == (5, 0)
        said = [record.getMessage() for record in caplog.records]
        assert ["answered 200 (text/html)" in line for line in said] == [True, False]
        assert "5 queries are kept in" in said[1], "the line at the end, which says how many"
        server.received.clear()
        server.answer, server.said = lambda _: (201, {}), b""

        assert deliver(settings).delivered == 1

    kinds = [request.path for request in server.received]
    assert kinds == ["/execution-plans", "/execution-events"] * 6
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("other", [{"apiKey": "another"}, {"url": "http://127.0.0.1:9"}])
def test_another_key_or_server_does_not_get_kept_documents(
    tmp_path: Path, other: dict[str, str]
) -> None:
    with recording_server() as server:
        spill = {"spill": str(tmp_path)}
        away = {"url": server.url, "apiKey": "k", **other}
        if "url" not in other:
            server.answer = lambda _: (500, {})
        deliver(away | spill)
        server.answer = lambda _: (201, {})
        server.received.clear()

        deliver({"url": server.url, "apiKey": "k"} | spill)

        assert len(server.received) == 2
    assert len(list(tmp_path.iterdir())) == 1


# --- every outside call fails ------------------------------------------------------------------


class FailingCalls:
    """Lets the first calls of the operating system through, then fails each with one error."""

    def __init__(self, passes: int, error: OSError) -> None:
        self._left = passes
        self._error = error

    def of(self, call: Any) -> Any:
        def instead(*arguments: Any, **named: Any) -> Any:
            self._left -= 1
            if self._left < 0:
                raise self._error
            return call(*arguments, **named)

        return instead


@pytest.mark.parametrize(
    "error",
    [OSError(28, "No space left"), OSError(30, "Read-only file system"), PermissionError(13, "no")],
    ids=lambda error: str(error.errno),
)
@pytest.mark.parametrize("passes", range(12))
def test_a_file_system_that_fails_at_any_call_never_raises_and_is_told_once(
    tmp_path: Path,
    error: OSError,
    passes: int,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with recording_server() as server:
        settings = {"url": server.url, "spill": str(tmp_path / "spill")}
        box = outbox_of(settings, {}, convert)
        box._pauses = (0, 0)
        failing = FailingCalls(passes, error)
        with monkeypatch.context() as patched:
            for name in ("mkdir", "open", "fdopen", "stat", "rename", "unlink", "replace"):
                patched.setattr(f"os.{name}", failing.of(getattr(os, name)))
            server.answer = lambda _: (503, {})
            box.offer(QUERY)
            assert box.flush(60)
            server.answer = lambda _: (201, {})
            box.offer(QUERY)
            box.close(60)

    counts = box.counts()
    assert (counts.delivered, counts.kept + counts.dropped, counts.waiting) == (1, 1, 0)
    assert len([r for r in caplog.records if "not delivered" in r.getMessage()]) == 1
    assert not [r for r in caplog.records if "is lost" in r.getMessage()], caplog.text


_ENDING_JOB = """
import atexit, json, sys
from tests.unit.spark_agent_config.test_listener import QUERY, convert
from spark_agent_config.listener import Observation, outbox_of

box = outbox_of({"url": sys.argv[1], "spill": sys.argv[2]}, {}, convert)
observation = Observation(box, None)
atexit.register(observation.close, 1.0)
box.offer(QUERY)
box.offer(QUERY)
print("done")
"""


def test_an_interpreter_that_ends_while_posting_keeps_the_document_on_its_way(
    tmp_path: Path,
) -> None:
    """The server takes the connection and never answers: the bound of the exit passes."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        done = subprocess.run(
            [sys.executable, "-c", _ENDING_JOB, url, str(tmp_path)],
            capture_output=True,
            text=True,
            timeout=240,
            cwd=Path(__file__).parent.parent.parent.parent,
            check=False,
        )

    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    assert len([line for line in done.stderr.splitlines() if line]) == 1, done.stderr
    (path,) = tmp_path.iterdir()
    assert [line["kind"] for line in lines_of(path)] == ["plan", "event"] * 2


def test_a_job_that_is_killed_leaves_lines_that_the_next_run_delivers(tmp_path: Path) -> None:
    with recording_server() as server:
        settings = {"url": server.url, "spill": str(tmp_path)}
        server.answer = lambda _: (500, {})
        deliver(settings)
        (path,) = tmp_path.iterdir()
        path.write_bytes(path.read_bytes()[:-20])
        server.received.clear()
        server.answer = lambda _: (201, {})

        deliver(settings)

        assert [request.path for request in server.received] == [
            "/execution-plans",
            "/execution-events",
            "/execution-plans",
        ]
