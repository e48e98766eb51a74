"""A rebuild with real Spark equals the service's projection: hash for hash, from every source.

Each source is one Spark job in a process of its own, as people start it.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from api.console.journal import export_line
from api.console.storage import write_backup
from graph_model import naming
from graph_model.projection.projector import Projector
from graph_model.projection.run_window import NONE, RunWindow
from graph_model.stores.catalogue import Catalogue, Generations
from graph_model.stores.database import open_database
from graph_model.stores.documents import DocumentState, Submission
from graph_model.stores.graph import elements_digest
from graph_model.stores.gremlin.engine.jars import fetch, locked
from graph_model.stores.gremlin.graph import GremlinGraph
from graph_model.stores.journal import Journal
from pipeline.loading import load, load_graph, place_catalogue
from pipeline.result import Result, open_files
from tests.contract.postgresql import postgresql
from tests.memory_graph import MemoryGraph
from tests.projections import SmallHeadwater, project
from tests.unit.graph_model.projection.projector.test_projector import (
    ALL_CAPTURED,
    TROUBLE,
    a_plan,
    an_event,
    event,
    plan,
)
from tests.unit.pipeline.test_translating import DAY, START, forget, poison, prune

pytestmark = [
    pytest.mark.spark,
    pytest.mark.engine,
    pytest.mark.part("pipeline"),
    pytest.mark.timeout(600),
]

_JARS = Path(__file__).with_name("pipeline_jars.lock")
_NASTY = 'comma, "quote"\nline; break \r\n ; ümlaut 💧 '


def documents() -> list[Submission]:
    """Everything captured, every kind of trouble, text that breaks careless files, commands."""
    nasty = a_plan(id="77777777-2222-5333-8444-555555555555", name=_NASTY)
    gone = a_plan(id="88888888-2222-5333-8444-555555555555", name="gone")
    gone_events = [event(an_event(START + n, planId=gone["id"])) for n in range(3)]
    return [
        *ALL_CAPTURED,
        *TROUBLE,
        *poison(),
        plan(nasty),
        *(event(an_event(START + n * DAY, planId=nasty["id"], error=_NASTY)) for n in range(3)),
        plan(gone),
        *gone_events,
        forget(plan(gone), *gone_events[:2]),
        prune(START + 1),
    ]


@dataclass
class Known:
    """A journal of which nothing was projected yet, and a service's projection of it."""

    folder: Path
    submissions: list[Submission]
    elements: str = ""
    catalogue: str = ""
    epoch: str = ""
    failed: set[str] = field(default_factory=set)

    @property
    def backup(self) -> Path:
        return self.folder / "backup.gz"

    @property
    def exports(self) -> Path:
        return self.folder / "exports"


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Known:
    pytest.importorskip("pyspark")
    found = Known(tmp_path_factory.mktemp("pipeline"), documents())
    database = open_database(found.folder / "headwater.db")
    journal, graph = Journal(database), MemoryGraph()
    generations = Generations(database, journal)
    service = SmallHeadwater(
        journal, graph, generations, Projector(journal, graph, generations, runs=NONE)
    )
    for one in found.submissions:
        service.accept(one)
    write_backup(database, found.backup, lambda: 1_000, lambda *_: None)
    write_exports(journal, found.exports)
    service.projector.prepare()
    service.project()
    found.elements = elements_digest(graph.scan())
    found.catalogue = service.catalogue.digest()
    found.epoch = journal.get_meta("projection_epoch") or ""
    failed = journal.entries(state=DocumentState.FAILED, limit=1000).items
    found.failed = {one.subject_key for one in failed}
    service.close()
    return found


def elements_under(window: RunWindow, submissions: list[Submission]) -> str:
    """The hash of the graph of a service that is set so."""
    headwater = project(submissions, stepwise=False, runs=window)
    while headwater.projector.rebuild_step():  # days move between the rounds
        pass
    digest = elements_digest(headwater.graph.scan())
    headwater.close()
    return digest


def write_exports(journal: Journal, folder: Path) -> None:
    """Two exports that overlap, one of them compressed."""
    folder.mkdir()
    count = journal.summary().received
    stored = [journal.document(position) for position in range(1, count + 1)]
    lines = [json.dumps(export_line(one), ensure_ascii=False) + "\n" for one in stored if one]
    (folder / "first.jsonl").write_text("".join(lines[: count * 2 // 3]), "utf-8")
    (folder / "second.jsonl.gz").write_bytes(
        gzip.compress("".join(lines[count // 3 :]).encode("utf-8"))
    )


def run_job(source: str, destination: Path, *options: str) -> Result:
    """One Spark job, to its end."""
    command = [
        sys.executable, "-m", "pipeline", "rebuild", "--from", source, "--to", str(destination),
        "--master", "local[1]", "--conf", "spark.ui.enabled=false",
        "--conf", "spark.driver.memory=1g", "--conf", "spark.driver.host=127.0.0.1",
        "--conf", "spark.driver.bindAddress=127.0.0.1", *options,
    ]  # fmt: skip
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=400, check=False, env=dict(os.environ)
    )
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    return Result(open_files(str(destination)))


@pytest.fixture(scope="module")
def from_backup(known: Known) -> Result:
    return run_job(str(known.backup), known.folder / "from_backup", "--graph-runs", "none")


def test_the_bulk_files_load_into_the_projection_of_the_service(
    known: Known, from_backup: Result, gremlin_graph: GremlinGraph, tmp_path: Path
) -> None:
    catalogue = Catalogue(open_database(tmp_path / "catalogue.db"))
    loaded = load(from_backup, gremlin_graph, catalogue, list[str]().append)
    catalogue.close()
    assert loaded.elements_digest == known.elements
    assert loaded.catalogue_digest == known.catalogue


def test_the_manifest_tells_the_hash_the_epoch_and_the_documents_read(
    known: Known, from_backup: Result
) -> None:
    manifest = from_backup.manifest()
    assert manifest.complete
    assert manifest.elements_digest == known.elements
    assert manifest.epoch == known.epoch
    distinct = {(one.content_hash, one.scope) for one in known.submissions}
    assert manifest.journal.documents == manifest.journal.last_position == len(distinct)
    assert manifest.journal.commands == 2
    assert sum(manifest.journal.states.values()) == len(distinct)


def test_a_document_that_cannot_be_translated_is_listed_as_the_service_lists_it(
    known: Known, from_backup: Result
) -> None:
    listed = [json.loads(text) for text in from_backup.set_aside()]
    failed = {one["planId"] for one in listed if one["state"] == "failed"}
    assert failed == known.failed != set()
    assert all(one["reason"] for one in listed)


def test_nothing_but_files_of_the_loader_lies_where_it_looks(
    known: Known, from_backup: Result
) -> None:
    found = [path for path in (known.folder / "from_backup").rglob("*") if path.is_file()]
    others = {path.name for path in found if path.suffix != ".gz"}
    assert others == {"manifest.json"}
    assert not (known.folder / "from_backup" / "work").exists()


def test_overlapping_exports_and_small_files_come_to_the_same(known: Known) -> None:
    result = run_job(
        str(known.exports), known.folder / "from_exports",
        "--file-megabytes", "0.05", "--partitions", "5", "--graph-runs", "newest:1",
    )  # fmt: skip
    manifest = result.manifest()
    assert manifest.complete
    elements = elements_under(RunWindow(1), known.submissions)
    assert manifest.elements_digest == elements != known.elements
    assert manifest.graph_runs == "newest:1"
    assert manifest.edges["feeds"].files > 1
    graph, catalogue = MemoryGraph(), Catalogue(open_database("sqlite://"))
    assert load(result, graph, catalogue, list[str]().append).catalogue_digest == known.catalogue
    catalogue.close()


def test_a_destination_that_holds_something_is_refused(known: Known, from_backup: Result) -> None:
    command = [
        sys.executable, "-m", "pipeline", "rebuild", "--from", str(known.backup),
        "--to", str(known.folder / "from_backup"), "--master", "local[1]",
        "--conf", "spark.ui.enabled=false",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 2
    assert "is not empty" in done.stderr


def test_from_a_postgresql_journal_to_a_service_that_goes_on_from_there(known: Known) -> None:
    """JDBC in; the rows back into the same database, in force; a service with the loaded graph."""
    window = RunWindow(1)
    elements = elements_under(window, known.submissions)
    driver = fetch(os.environ, jars=locked(_JARS.read_text("utf-8")))
    with postgresql(fsync="off", full_page_writes="off") as server:
        database = open_database(server.url)
        journal, graph = Journal(database), MemoryGraph()
        generations = Generations(database, journal)
        headwater = SmallHeadwater(
            journal, graph, generations, Projector(journal, graph, generations, runs=window)
        )
        for one in known.submissions:
            headwater.accept(one)
        result = run_job(
            server.url, known.folder / "from_postgresql",
            "--conf", f"spark.jars={','.join(map(str, driver))}", "--graph-runs", str(window),
        )  # fmt: skip
        assert result.manifest().elements_digest == elements != known.elements

        load_graph(result, graph, list[str]().append)
        digest = place_catalogue(result, database, list[str]().append, in_force=True)
        assert digest == known.catalogue
        generations.refresh()
        service = Projector(journal, graph, generations, rules=naming.DEFAULT_RULES, runs=window)
        service.prepare()
        assert not service.rebuild_step()  # epoch and runs are those of the rebuild: nothing is due
        while service.project_pending():
            pass
        assert elements_digest(graph.scan()) == elements
        assert generations.current.digest() == known.catalogue
        service.stop()
        headwater.close()
        database.dispose()


_CONFLICT = """
import sys
from pipeline.rebuild import each_once
from pipeline.records import Record
from pipeline.journal import open_session

spark = open_session("local[1]", {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "1"})
records = [
    Record("vertices", "job", "job_1", "one", "a:Long"),
    Record("vertices", "job", "job_1", "other", "b:Long"),
    Record("vertices", "job", "job_2", "same", ""),
    Record("vertices", "job", "job_2", "same", ""),
    Record("edges", "has", "job_1", "no vertex", ""),
]
for row in sorted(each_once(spark.createDataFrame(records)).collect()):
    print("kept", *row)
spark.stop()
"""


def test_two_facts_with_one_id_and_other_content_are_a_conflict() -> None:
    pytest.importorskip("pyspark")
    done = subprocess.run(
        [sys.executable, "-c", _CONFLICT], capture_output=True, text=True, timeout=200, check=False
    )
    assert [line for line in done.stdout.splitlines() if line.startswith("kept")] == [
        "kept edges has job_1 no vertex  False",
        "kept vertices job job_1 one a:Long True",
        "kept vertices job job_2 same  False",
    ], done.stderr[-3000:]
