"""A format that tests register (``tests.copies``): a producer is all that it takes."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import randbytes
from typing import Any

import pytest
from flask.testing import FlaskClient

from api.application import create_app
from api.command_line import run
from api.service import Service
from api.settings import read_settings
from collectors.kafka import KafkaRecord, read_record
from collectors.sqs.messages import MessageReader
from collectors.sqs.queues import Message
from graph_model.errors import InvalidInput
from graph_model.producers.commands import Command, Forget, submit
from graph_model.producers.producer import Reported
from graph_model.projection.projector import Projector
from graph_model.projection.run_window import RunWindow
from graph_model.stores.catalogue import Catalogue, Generations
from graph_model.stores.database import open_database
from graph_model.stores.documents import Submission
from graph_model.stores.graph import elements_digest
from graph_model.stores.journal import Journal
from graph_model.stores.keys import ID_BYTES, SECRET_BYTES, KeyRequest, SqlKeys, make_key
from graph_model.values import Role
from pipeline.loading import load
from pipeline.result import Result, open_files
from tests.copies import producer
from tests.copies.producer import COPY_KIND, FORMATS, VERSION
from tests.copies.routes import blueprint
from tests.memory_graph import MemoryGraph
from tests.projections import SmallHeadwater, lineage_event
from tests.unit.graph_model.producers.openlineage.test_projection import dataset, run_event
from tests.unit.graph_model.projection.test_crashes import (
    Fault,
    FragileGenerations,
    FragileGraph,
    FragileStore,
    Killed,
    raising,
)

NOW = 1_800_000_000_000


def a_copy(run: str, source: str, target: str, hour: int = 10) -> dict[str, Any]:
    return {
        "copy": f"to {target}",
        "run": run,
        "at": f"2026-03-01T{hour}:00:00Z",
        "from": f"s3://lake/{source}",
        "to": f"s3://lake/{target}",
        "columns": ["id", "name"],
    }


COPIES = [a_copy("r1", "a", "b", 10), a_copy("r2", "b", "c", 11), a_copy("r3", "b", "c", 12)]


class Place:
    """A Headwater in a data folder, with the toy format."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.engine = open_database(folder / "headwater.db")
        self.journal, self.graph = Journal(self.engine), MemoryGraph()
        self.generations = Generations(self.engine, self.journal)
        self.projector = Projector(
            self.journal, self.graph, self.generations, producers=FORMATS, runs=RunWindow(1_000)
        )
        self.projector.prepare()
        self.small = SmallHeadwater(self.journal, self.graph, self.generations, self.projector)
        service = Service(
            self.journal,
            self.projector,
            self.graph,
            self.generations,
            lambda: NOW,
            SqlKeys(self.engine),
            producers=FORMATS,
        )
        settings = replace(read_settings({}), data=folder)
        application = create_app(settings, service)
        application.register_blueprint(blueprint)
        self.client: FlaskClient = application.test_client()

    def ask(self, path: str, **query: Any) -> Any:
        answer = self.client.get(path, query_string=query)
        assert answer.status_code == 200, answer.get_data(as_text=True)
        return answer.get_json()

    def console(self, *arguments: str) -> str:
        out, errors = io.StringIO(), io.StringIO()
        code = run([*arguments, "--data", str(self.folder)], {}, out, errors, FORMATS)
        assert code == 0, out.getvalue() + errors.getvalue()
        return out.getvalue()

    def key(self, role: Role) -> str:
        """The text of a new key with this role."""
        made = make_key(
            KeyRequest(role, frozenset({role})), randbytes(ID_BYTES + SECRET_BYTES), NOW
        )
        SqlKeys(self.engine).add(made.key)
        return made.text

    def elements(self) -> object:
        return self.small.elements()

    def close(self) -> None:
        self.small.close()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """The copies are in, by the console, and projected."""
    made = Place(tmp_path / "data")
    file = tmp_path / "copies.jsonl"
    file.write_text("".join(f"{json.dumps(one)}\n" for one in COPIES), "utf-8")
    assert "3 imported" in made.console("journal", "import", str(file))
    made.small.project()
    yield made
    made.close()


def submission(copy: dict[str, Any]) -> Submission:
    found = FORMATS.of(COPY_KIND)
    assert found is not None
    return found.submission(Reported(COPY_KIND, VERSION, copy))


def test_it_imports_no_format() -> None:
    source = Path(str(producer.__file__)).read_text("utf-8")
    assert "graph_model.producers.elements" in source
    assert not re.search(r"graph_model\.producers\.(commands|declared|openlineage|spline)", source)


def test_it_is_journalled_and_listed(place: Place) -> None:
    listed = place.ask("/journal", kind="copy")
    assert [(one["kind"], one["planId"], one["state"]) for one in listed["items"]] == [
        ("copy", f"run:{run}", "projected") for run in ("r3", "r2", "r1")
    ]
    assert place.client.get("/journal?kind=copies").status_code == 400
    assert "3 of 3 documents" in place.console("journal", "list", "--kind", "copy")


def test_its_jobs_and_runs_are_listed(place: Place) -> None:
    jobs = {one["name"]: one["id"] for one in place.ask("/graph/jobs")["items"]}
    assert set(jobs) == {"to b", "to c"}
    assert place.ask(f"/graph/jobs/{jobs['to c']}/runs")["total"] == 2


def test_its_lineage_is_answered(place: Place) -> None:
    answer = place.ask("/graph/lineage", node="dataset:s3://lake/c", direction="upstream", depth=9)
    assert {one["uri"] for one in answer["nodes"] if one["kind"] == "dataset"} == {
        "s3://lake/a", "s3://lake/b", "s3://lake/c",
    }  # fmt: skip
    found = place.ask(
        "/graph/column-lineage", dataset="s3://lake/c", column="id", direction="upstream", depth=9
    )
    assert {(one["dataset"], one["name"]) for one in found["nodes"] if one["kind"] == "column"} == {
        (f"s3://lake/{name}", "id") for name in "abc"
    }


def test_its_plans_have_pages(place: Place) -> None:
    (job,) = (one for one in place.ask("/graph/jobs")["items"] if one["name"] == "to c")
    (plan,) = place.ask(f"/graph/jobs/{job['id']}")["plans"]
    for asked in (plan["id"], "r3"):
        page = place.ask(f"/graph/plans/{asked}")
        assert [one["name"] for one in page["operations"]] == ["Input", "Job", "Output"]
        assert [one["to"]["name"] for one in page["columns"]] == ["id", "name"]


def test_an_export_of_it_is_imported_elsewhere(place: Place, tmp_path: Path) -> None:
    file, other = tmp_path / "export.jsonl", Place(tmp_path / "other")
    place.console("journal", "export", str(file))
    assert "3 imported" in other.console("journal", "import", str(file))
    assert "3 already known" in other.console("journal", "import", str(file))
    other.small.project()
    assert other.elements() == place.elements()
    other.close()


def test_a_log_with_its_documents_is_imported(tmp_path: Path) -> None:
    """A dispatcher announces one by name, a transport writes one behind a prefix, broken in its
    beginning.
    """
    named, plain = json.dumps(COPIES[0]), json.dumps(COPIES[1])
    prefix = "26/03/01 10:00:00 INFO Jobs: "
    lines = [f"{prefix}Copy (apiVersion: 1): {named}", f"{prefix}{plain[:4]}", prefix + plain[4:]]
    made, file = Place(tmp_path / "data"), tmp_path / "jobs.log"
    file.write_text("\n".join([*lines, f"{prefix}done"]), "utf-8")
    assert "2 imported" in made.console("journal", "import", str(file))
    made.close()


def test_a_key_of_a_producer_sends_it_to_a_route_of_its_own(tmp_path: Path) -> None:
    made = Place(tmp_path / "data")
    keys = {role: made.key(role) for role in Role}
    answers = {
        role: made.client.post("/copies", json=COPIES[0], headers={"X-API-Key": key}).status_code
        for role, key in keys.items()
    }
    assert answers == {Role.PRODUCER: 201, Role.READER: 403, Role.ADMIN: 201}
    assert made.client.post("/copies", json=COPIES[0]).status_code == 401
    listed = made.client.get("/journal?kind=copy", headers={"X-API-Key": keys[Role.READER]})
    assert [one["planId"] for one in listed.get_json()["items"]] == ["run:r1"]
    made.close()


def test_queues_bring_it() -> None:
    value = json.dumps(COPIES[0])
    record = KafkaRecord("jobs", 0, 0, (("__TypeId__", b"Copy_1"),), value.encode())
    piece = read_record(record, FORMATS)
    assert (piece.kind, piece.api_version) == (COPY_KIND, "1")
    reader = MessageReader(None, (), 1_000_000, FORMATS)
    for attributes in ({}, {"__TypeId__": "Copy_1"}):
        (found,) = reader.read(Message("m-1", value, attributes)).prepared
        assert (found.submission.kind, found.submission.subject_key) == (COPY_KIND, "run:r1")
    with pytest.raises(InvalidInput, match="one of ExecutionPlan, ExecutionEvent, and there is"):
        read_record(KafkaRecord("jobs", 0, 0, (), value.encode()))


def test_naming_rules_are_tried_on_its_names(place: Place) -> None:
    preview = place.client.put("/rules?preview=true", json={"rules": {}}).get_json()
    assert (preview["plans"], preview["plansKnown"]) == (3, 3)
    assert preview["datasets"]["spellings"] == 3
    assert preview["jobs"]["spellings"] == 2


def test_a_forgotten_job_is_gone(place: Place) -> None:
    body = {"command": "forget", "node": "job:default/to c"}
    assert place.client.post("/commands", json=body).status_code == 202
    place.small.project()
    assert [one["name"] for one in place.ask("/graph/jobs")["items"]] == ["to b"]
    assert place.ask("/journal", kind="copy")["total"] == 1
    only = Place(place.folder.parent / "only")
    only.small.accept(submission(COPIES[0]))
    only.small.project()
    assert elements_digest(only.graph.scan()) == elements_digest(place.graph.scan())
    only.close()


def test_a_document_that_breaks_the_format_is_refused_with_its_field(tmp_path: Path) -> None:
    made, file = Place(tmp_path / "data"), tmp_path / "copies.jsonl"
    file.write_text(json.dumps(COPIES[0] | {"columns": 7}), "utf-8")
    out = io.StringIO()
    arguments = ["journal", "import", str(file), "--data", str(made.folder)]
    assert run(arguments, {}, out, out, FORMATS) == 1
    assert "columns: expected a list of names" in out.getvalue()
    made.close()


def test_a_crash_at_any_step_comes_to_the_same() -> None:
    """Two formats under one key, and a command that takes one of them back."""
    event = lineage_event(run_event("r1", "COMPLETE", 30, outputs=[dataset("x", "k")]))
    forgotten = submission(COPIES[1])
    order = Forget((forgotten.subject_key,), (forgotten.content_hash,))
    rounds = [
        [submission(COPIES[0]), forgotten],
        [event],
        [submit(Command("ann", 1, "", "", order)), submission(COPIES[2])],
    ]
    whole = outcome_of(rounds, 0)
    assert all(outcome_of(rounds, step) == whole for step in (1, 2, 3, 5, 8, 13, 21))


def outcome_of(rounds: list[list[Submission]], step: int) -> object:
    """All elements and rows where each round is killed once, at this step."""
    engine = open_database("sqlite://")
    journal, graph, fault = Journal(engine), MemoryGraph(), Fault()
    generations = Generations(engine, journal)

    def start() -> SmallHeadwater:
        projector = Projector(
            FragileStore(journal, fault, "conclude", "settle", "set_meta"),  # type: ignore[arg-type]
            FragileGraph(graph, fault),
            FragileGenerations(generations, fault),  # type: ignore[arg-type]
            producers=FORMATS,
        )
        projector.prepare()
        return SmallHeadwater(journal, graph, generations, projector)

    made = start()
    for documents in rounds:
        made.accept(*documents)
        fault.arm(step, raising(Killed()))
        with suppress(Killed):
            made.project()
        fault.disarm()
        made = start()
        made.project()
    found = made.elements()
    made.close()
    return found


@pytest.mark.part("pipeline")
def test_spark_rebuilds_the_projection_of_the_service(place: Place, tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    file, destination = tmp_path / "export.jsonl", tmp_path / "rebuilt"
    place.console("journal", "export", str(file))
    command = [sys.executable, "-m", "tests.copies.rebuild", str(file), str(destination)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    result: Result = Result(open_files(str(destination)))
    manifest = result.manifest()
    assert (manifest.complete, manifest.journal.states) == (True, {"projected": 3})
    assert manifest.epoch == place.journal.get_meta("projection_epoch")
    graph, catalogue = MemoryGraph(), Catalogue(open_database("sqlite://"))
    loaded = load(result, graph, catalogue, list[str]().append)
    assert loaded.elements_digest == elements_digest(place.graph.scan())
    assert loaded.catalogue_digest == place.small.catalogue.digest()
    catalogue.close()
