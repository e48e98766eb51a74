"""Spark with a real Kafka broker: topics as datasets, their columns into parsed fields and back."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from graph_model.stores.gremlin.engine.jars import fetch, locked
from tests.e2e.spark.test_listener import python_of, run_worker
from tests.plan_reader import origins, sources
from tests.ports import reserved_port

pytestmark = [pytest.mark.spark, pytest.mark.part("kafka"), pytest.mark.timeout(1_200)]

LOCK: Final = Path(__file__).with_name("kafka_jars.lock")
_OF_SPARK: Final = ("spark-", "commons-pool2", "kafka-clients")
_CLUSTER: Final = "MkU3OEVBNTcwNTJENDM2Qg"
_SETTINGS: Final = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{broker},CONTROLLER://127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={folder}/logs
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
"""
#: Of the parsed orders: the column of the topic behind each.
_PARSED: Final = {
    "key": ["key"], "id": ["value"], "unit": ["value"], "amount": ["value"],
    "sent_at": ["timestamp"],
}  # fmt: skip


@pytest.fixture(scope="module")
def jars() -> Sequence[Path]:
    return fetch(os.environ, jars=locked(LOCK.read_text("utf-8")))


@pytest.fixture(scope="module")
def servers(
    jars: Sequence[Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[str]:
    """The address of a broker, which ends with the tests."""
    java = shutil.which("java") or f"{os.environ.get('JAVA_HOME')}/bin/java"
    folder = tmp_path_factory.mktemp("broker")
    broker, controller = reserved_port(), reserved_port()
    settings = folder / "server.properties"
    settings.write_text(_SETTINGS.format(broker=broker, controller=controller, folder=folder))
    program = [java, "-Xmx384m", "-cp", os.pathsep.join(map(str, jars))]
    called = [*program, "kafka.tools.StorageTool", "format", "-t", _CLUSTER, "-c", str(settings)]
    subprocess.run(called, check=True, capture_output=True, timeout=120)
    log = folder / "broker.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [*program, "kafka.Kafka", str(settings)], stdout=output, stderr=output, cwd=folder
        )
        try:
            _await_answer(process, broker, log)
            yield f"127.0.0.1:{broker}"
        finally:
            process.kill()
            process.wait(60)


def _await_answer(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Waits until the broker listens, which it does once it can answer."""
    while process.poll() is None:
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise AssertionError(log.read_text())


class Reports:
    """What each job made the listener say, with the broker as ``BROKER`` and places relative."""

    def __init__(self, root: Path, servers: str) -> None:
        text = (root / "reports.json").read_text("utf-8")
        text = text.replace(f"file:{root}/", "").replace(servers, "BROKER")
        self._reports: Mapping[str, Any] = json.loads(text)

    def of(self, job: str) -> tuple[Any, list[Any]]:
        """The plan of a job and its events."""
        report = self._reports[job]
        assert report["error"] is None, report["error"]
        bodies: dict[str, list[Any]] = {"plan": [], "event": []}
        for line in report["documents"]:
            body = line["body"]
            bodies[line["kind"]].extend(body if isinstance(body, list) else [body])
        plans = {plan["id"]: plan for plan in bodies["plan"]}
        assert len(plans) <= 1, [plan["operations"]["write"] for plan in plans.values()]
        return next(iter(plans.values()), None), bodies["event"]


@pytest.fixture(scope="module")
def reports(
    servers: str, jars: Sequence[Path], tmp_path_factory: pytest.TempPathFactory
) -> Reports:
    root = tmp_path_factory.mktemp("topics")
    ours = [str(jar) for jar in jars if jar.name.startswith(_OF_SPARK)]
    run_worker(python_of("4.2"), "tests.e2e.spark.kafka_worker", root, servers, *ours, seconds=600)
    return Reports(root, servers)


def told(plan: Any, read: str) -> tuple[str, bool, dict[str, list[str]]]:
    """The target of a plan, whether it appends, and the columns of ``read`` behind each of its."""
    write = plan["operations"]["write"]
    assert set(sources(plan)) == {read}
    assert write["extra"].get("gaps", []) == []
    columns = {
        name: sorted(source.removeprefix(f"{read}#") for source in found)
        for name, found in origins(plan).items()
    }
    return write["outputSource"], write["append"], columns


def test_rows_that_become_messages_have_their_columns_in_key_and_value(reports: Reports) -> None:
    """The mode of a save is ``error`` where none is given, and Kafka adds to the topic."""
    plan, (event,) = reports.of("sent")
    columns = {"key": ["id"], "value": ["id", "price", "unit"]}
    assert told(plan, "made") == ("kafka://BROKER/orders", True, columns)
    assert "error" not in event


@pytest.mark.parametrize(
    ("job", "target", "append"),
    [
        ("received", "received", False),
        ("received_by_a_stream", "streamed", True),
        ("of_each_batch", "batches", True),
    ],
)
def test_fields_of_parsed_messages_come_from_the_value_of_the_topic(
    job: str, target: str, append: bool, reports: Reports
) -> None:
    plan, events = reports.of(job)
    assert told(plan, "kafka://BROKER/orders") == (target, append, _PARSED)
    assert len(events) == 1


def test_a_stream_from_topic_to_topic_is_told_and_stays_when_it_ends(reports: Reports) -> None:
    plan, (event,) = reports.of("passed_on")
    columns = {"key": ["key"], "value": ["value"]}
    assert told(plan, "kafka://BROKER/orders") == ("kafka://BROKER/cents", True, columns)
    assert event["extra"]["writeMetrics"]["numOutputRows"] == 4


def test_neither_offsets_nor_other_options_of_kafka_are_sent(reports: Reports) -> None:
    """They change from run to run, or are secrets: the plan is the same without them."""
    for job in ("received", "received_by_a_stream", "passed_on"):
        assert "startingoffsets" not in json.dumps(reports.of(job)[0]).lower()


def test_a_clock_is_no_source_and_a_function_of_rows_no_target(reports: Reports) -> None:
    plan, events = reports.of("by_the_clock")
    assert plan["operations"]["write"]["outputSource"] == "ticks"
    assert (set(sources(plan)), origins(plan)) == (set(), {"twice": set(), "timestamp": set()})
    assert events
    assert reports.of("each_row") == (None, [])
