"""``headwater consume kafka`` as a process against a real broker, where one is at hand.

``HEADWATER_TEST_KAFKA=127.0.0.1:9092`` names it; it must create topics by itself.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest
from confluent_kafka import Producer

from api.serving.storage import DATABASE_FILE
from graph_model.stores.database import open_database
from graph_model.stores.journal import Journal
from tests.e2e.producer_service import a_plan, an_event

BROKER = os.environ.get("HEADWATER_TEST_KAFKA", "")
pytestmark = pytest.mark.skipif(not BROKER, reason="HEADWATER_TEST_KAFKA names no broker")


def send(topic: str) -> None:
    producer = Producer({"bootstrap.servers": BROKER})
    for value, kind in (
        (json.dumps(a_plan()), "ExecutionPlan_1.2"),
        (json.dumps(an_event()), "ExecutionEvent_1.2"),
        ("{bad", "ExecutionEvent_1.2"),
    ):
        producer.produce(topic, value, key=b"plan", headers={"__TypeId__": kind})
    assert producer.flush(60) == 0


def consumed(topic: str, data: Path, done: Path) -> list[str]:
    """The output of the command that is interrupted after ``done`` has appeared."""
    command = [sys.executable, "-m", "api.command_line", "consume", "kafka", "--bootstrap", BROKER,
               "--topic", topic, "--direct", "--data", str(data), "--dead-letter", str(data) + ".x",
               "--group", topic]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 60
        while not (done.is_file() and done.stat().st_size) and time.monotonic() < end:
            time.sleep(0.2)
        time.sleep(2)  # the commit of the last record
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0
    return out.decode().splitlines()


def test_a_topic_is_journalled_once_and_the_group_remembers(tmp_path: Path) -> None:
    topic, data = f"spline-{uuid.uuid4()}", tmp_path / "data"
    send(topic)
    dead = tmp_path / "data.x"
    assert consumed(topic, data, dead)[-1] == "2 documents taken, 1 set aside"
    assert json.loads(dead.read_text())["value"] == "{bad"
    assert consumed(topic, data, dead)[-1] == "0 documents taken, 0 set aside"
    database = open_database(data / DATABASE_FILE)
    assert Journal(database).summary().received == 2
    database.dispose()
