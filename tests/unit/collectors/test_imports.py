"""``headwater journal import``: from files into the journal, directly and through a server."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Iterator, Sequence
from http.server import ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

import pytest

from api import command_line
from api.console.intake import ServerIntake
from api.serving.storage import DATABASE_FILE, claim
from collectors.intake import DirectIntake, Tally, import_files
from graph_model.documents.files import Piece, Prepared, Refusal, prepare
from graph_model.errors import HeadwaterError, InvalidInput, Unavailable
from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from graph_model.stores.database import open_database
from graph_model.stores.documents import DocumentKind, Receipt
from graph_model.stores.journal import Journal
from graph_model.values import Role
from tests.captures import load, names
from tests.e2e.producer_service import Headwater, a_plan, an_event
from tests.projections import submission

LIMIT = 1_000_000


def run(*arguments: str, **environment: str) -> tuple[int, list[str], str]:
    out, errors = io.StringIO(), io.StringIO()
    code = command_line.run(["journal", *arguments], environment, out, errors)
    return code, out.getvalue().splitlines(), errors.getvalue()


def lines_file(place: Path, *documents: object) -> str:
    place.write_text("".join(f"{json.dumps(each)}\n" for each in documents), encoding="utf-8")
    return str(place)


def exported(data: Path) -> list[dict[str, Any]]:
    code, lines, _ = run("export", "-", "--data", str(data))
    assert code == 0
    return [json.loads(line) for line in lines]


def content(data: Path) -> list[tuple[str, object]]:
    return [(line["kind"], line["body"]) for line in exported(data)]


# --- into the data folder ------------------------------------------------------------------------


def captured_journal(folder: Path) -> Path:
    """A journal of real traffic of every version, with scopes, masked as the edge masks it."""
    database = open_database(folder / DATABASE_FILE)
    journal = Journal(database)
    for name in names():
        for at, exchange in enumerate(load(name)):
            version = {"v1.1": "1.1", "v1.2": "1.2"}.get(exchange.content_type[-9:-5], "1")
            if exchange.kind == "status":
                continue
            kind = DocumentKind(exchange.kind)
            bodies = [exchange.document] if kind == PLAN_KIND else exchange.document
            taken = [prepare(Piece(kind, version, body, name)).submission for body in bodies]
            journal.accept(taken, Receipt(1_700_000_000_000 + at, "", "test", ""))
    keyed = submission(PLAN_KIND, a_plan(), scope="of a key")
    journal.accept([keyed], Receipt(5, "", "test", ""))
    database.dispose()
    return folder


def test_an_export_comes_back_as_the_same_documents(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    captured_journal(first)
    place = str(tmp_path / "all.jsonl")
    run("export", place, "--data", str(first))
    code, lines, errors = run("import", place, "--data", str(second))
    total = len(exported(first))
    assert (code, errors) == (0, "")
    assert total > 200
    assert lines == [
        f"{total:,} imported, 0 already known, 0 refused",
        "the next headwater serve draws them",
    ]
    assert exported(second) == exported(first)


def test_a_second_import_finds_everything_known(tmp_path: Path) -> None:
    file = lines_file(tmp_path / "x", a_plan(), an_event(), an_event())
    data = str(tmp_path / "data")
    assert run("import", file, "--data", data)[1][0] == "2 imported, 1 already known, 0 refused"
    assert run("import", file, "--data", data)[1] == ["0 imported, 3 already known, 0 refused"]


def test_bad_pieces_are_named_and_the_rest_is_taken(tmp_path: Path) -> None:
    broken = a_plan()
    del broken["operations"]["write"]
    file = lines_file(tmp_path / "x", a_plan(), broken, an_event(planId="no uuid"), an_event())
    nothing = str(tmp_path / "nothing")
    code, lines, _ = run("import", nothing, file, "--data", str(tmp_path / "data"))
    assert code == 1
    assert lines[0] == f"{nothing}: refused: No such file or directory"
    assert lines[1].startswith(f"{file}:2: refused: operations.write")
    assert lines[2].startswith(f"{file}:3: refused: ")
    assert "planId" in lines[2]
    assert lines[3] == "2 imported, 0 already known, 3 refused"
    assert content(tmp_path / "data") == [("plan", a_plan()), ("event", an_event())]


def test_standard_input_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"INFO ExecutionPlan (apiVersion: 1.2):\n{json.dumps(a_plan(name='é'))}\n"
    buffer = io.BytesIO(b"\xff\xfe noise\n" + text.encode())
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=buffer))
    assert run("import", "-", "--data", str(tmp_path))[1][0].startswith("1 imported")
    assert content(tmp_path) == [("plan", a_plan(name="é"))]


def test_a_file_without_documents_says_so(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text("INFO nothing\n")
    code, lines, _ = run("import", str(tmp_path / "x.log"), "--data", str(tmp_path / "data"))
    assert (code, lines[0]) == (0, f"{tmp_path / 'x.log'}: no plans or events found")


def test_a_folder_that_a_server_holds_is_left_alone(tmp_path: Path) -> None:
    file = lines_file(tmp_path / "x", a_plan())
    with claim(tmp_path):
        code, _, errors = run("import", file, "--data", str(tmp_path), HEADWATER_PORT="9123")
    assert code == 2
    assert "in use by another Headwater" in errors
    assert errors.endswith("--url http://127.0.0.1:9123\n")
    assert not (tmp_path / DATABASE_FILE).exists()


def test_secrets_are_masked_on_the_way_in(tmp_path: Path) -> None:
    plan = a_plan()
    plan["operations"]["reads"][0]["inputSources"] = ["jdbc:mysql://h/d?password=hunter2:t"]
    run("import", lines_file(tmp_path / "x", plan), "--data", str(tmp_path))
    assert "hunter2" not in json.dumps(exported(tmp_path))


def test_an_export_whose_id_is_not_that_of_its_body_is_refused() -> None:
    piece = Piece(PLAN_KIND, "1.2", a_plan(), "x:1", subject_key="1" * 8)
    with pytest.raises(InvalidInput, match="planId"):
        prepare(piece)


class Away:
    """An intake that takes some documents and then does not answer."""

    def __init__(self, takes: int) -> None:
        self.takes = takes

    def take(self, documents: Sequence[Prepared]) -> tuple[Refusal, ...]:
        if self.takes < len(documents):
            raise Unavailable("no Headwater answers")
        self.takes -= len(documents)
        return ()

    def received(self) -> int:
        return 0


def test_an_intake_that_goes_away_ends_the_import_with_the_part_done(tmp_path: Path) -> None:
    file = lines_file(tmp_path / "x", *(an_event(timestamp=n) for n in range(450)))
    with pytest.raises(Unavailable, match="stopped after 400 documents; the same call again"):
        import_files([file], Away(410), lambda line: None, LIMIT)


def test_long_files_show_progress(tmp_path: Path) -> None:
    file = lines_file(tmp_path / "x", *(an_event(timestamp=n) for n in range(20_100)))
    said: list[str] = []
    assert import_files([file], Away(30_000), said.append, LIMIT) == Tally(0, 20_100, 0)
    assert said == ["  10,000 documents so far", "  20,000 documents so far"]


# --- through a server ----------------------------------------------------------------------------


class Quiet(WSGIRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[tuple[str, Headwater]]:
    """The real application over HTTP; the journal behind it is real, the projector is not."""
    made = Headwater()
    web = WSGIServer(("127.0.0.1", 0), Quiet)
    web.set_app(made.app)
    thread = threading.Thread(target=web.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{web.server_port}", made
    finally:
        web.shutdown()
        thread.join()
        web.server_close()
        made.close()


def test_documents_go_through_the_producer_routes_of_a_server(
    tmp_path: Path, server: tuple[str, Headwater]
) -> None:
    url, made = server
    log = f"ExecutionPlan (apiVersion: 1.1):\n{json.dumps(a_plan())}\n"
    (tmp_path / "x.log").write_text(log, encoding="utf-8")
    events = lines_file(tmp_path / "e", *(an_event(timestamp=n) for n in range(1, 302)))
    code, lines, errors = run("import", str(tmp_path / "x.log"), events, "--url", url + "/")
    assert (code, lines, errors) == (0, ["302 imported, 0 already known, 0 refused"], "")
    assert made.journal.summary().received == 302
    assert made.journal.entries(kind=PLAN_KIND).items[0].api_version == "1.1"
    code, lines, _ = run("import", str(tmp_path / "x.log"), events, "--url", url)
    assert (code, lines) == (0, ["0 imported, 302 already known, 0 refused"])


def test_both_ways_give_the_same_documents(tmp_path: Path, server: tuple[str, Headwater]) -> None:
    url, made = server
    file = lines_file(tmp_path / "x", a_plan(), an_event(), {"executionPlan": a_plan(name="z")})
    run("import", file, "--data", str(tmp_path))
    run("import", file, "--url", url)
    there = {item.content_hash for item in made.journal.entries().items}
    database = open_database(tmp_path / DATABASE_FILE)
    assert {item.content_hash for item in Journal(database).entries().items} == there
    assert len(there) == 3
    database.dispose()


def test_a_scope_that_the_document_does_not_say_is_refused_by_a_server(
    server: tuple[str, Headwater],
) -> None:
    url, made = server
    piece = Piece(PLAN_KIND, "1.2", a_plan(), "x:1", scope="of a key")
    (refusal,) = ServerIntake(url).take([prepare(piece)])
    assert "without --url" in refusal.reason
    assert made.journal.summary().received == 0


def test_a_document_outside_the_scope_of_the_key_is_refused_and_the_others_are_taken(
    server: tuple[str, Headwater],
) -> None:
    url, made = server
    key = made.make_key("emr", Role.PRODUCER, Role.READER, scope="emr")["X-API-Key"]
    events = [an_event(), an_event(labels={"captureScope": ["glue"]})]
    pieces = [Piece(EVENT_KIND, "1.2", one, f"x:{at}") for at, one in enumerate(events)]
    (refusal,) = ServerIntake(url, key).take([prepare(piece) for piece in pieces])
    assert (refusal.where, "'emr' alone" in refusal.reason) == ("x:1", True)
    assert made.journal.summary().received == 1


def test_documents_that_the_server_refuses_are_told_piece_by_piece(
    server: tuple[str, Headwater],
) -> None:
    url, made = server
    pieces = [
        Piece(EVENT_KIND, "1.2", an_event(extra={"x": "y" * size}), f"x:{size}")
        for size in (1, made.settings.max_body_bytes)
    ]
    (refusal,) = ServerIntake(url).take([prepare(piece) for piece in pieces])
    assert refusal.where == f"x:{made.settings.max_body_bytes}"
    assert "larger than" in refusal.reason
    assert made.journal.summary().received == 1


def test_no_server_is_one_line(tmp_path: Path) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as gone:
        port = gone.server_port
    file = lines_file(tmp_path / "x", a_plan())
    code, _, errors = run("import", file, "--url", f"http://127.0.0.1:{port}")
    assert code == 1
    assert "no Headwater answers at" in errors
    assert len(errors.splitlines()) == 1


def test_another_service_rejects_no_document() -> None:
    """A 404 or a foreign 400 is about the address, not about the document."""

    def stranger(_: Any, start: Any) -> list[bytes]:
        start("400 Bad Request", [("Content-Type", "text/html")])
        return [b"<html>"]

    web = WSGIServer(("127.0.0.1", 0), Quiet)
    web.set_app(stranger)
    thread = threading.Thread(target=web.handle_request)
    thread.start()
    intake = ServerIntake(f"http://127.0.0.1:{web.server_port}")
    with pytest.raises(HeadwaterError, match="answers 400") as raised:
        intake.take([prepare(Piece(PLAN_KIND, "1.2", a_plan(), "x:1"))])
    assert not isinstance(raised.value, InvalidInput)
    thread.join()
    web.server_close()


def test_the_intake_of_a_journal_keeps_a_past_time_of_an_export(
    tmp_path: Path,
) -> None:
    database = open_database(tmp_path / DATABASE_FILE)
    journal = Journal(database)
    pieces = [
        Piece(PLAN_KIND, "1.2", a_plan(), "x:1", received_at=7),
        Piece(EVENT_KIND, "1.2", an_event(), "x:2"),
        Piece(EVENT_KIND, "1.2", an_event(durationNs=1), "x:3", received_at=100),
    ]
    DirectIntake(journal, lambda: 99, "import", "console").take(
        [prepare(piece) for piece in pieces]
    )
    assert [item.received_at for item in journal.entries().items] == [99, 99, 7]
    database.dispose()


# --- OpenLineage ---------------------------------------------------------------------------------

RUN = {"eventTime": "2026-03-01T10:00:00Z", "run": {"runId": "r"},
       "job": {"namespace": "etl", "name": "curate"}}  # fmt: skip
JOB = {"eventTime": "2026-03-01T10:00:00Z", "job": {"namespace": "etl", "name": "curate"}}
DATASET = {"eventTime": "2026-03-01T10:00:00Z", "dataset": {"namespace": "etl", "name": "t"}}


def test_events_of_openlineage_survive_an_import_and_an_export(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    events = lines_file(tmp_path / "events.ndjson", RUN, JOB, DATASET, {**RUN, "run": {}})
    code, lines, _ = run("import", events, "--data", str(one))
    assert any("run.runId" in line for line in lines)
    kept = content(one)
    assert kept == [("run-event", RUN), ("job-event", JOB), ("dataset-event", DATASET)]
    again = lines_file(tmp_path / "again.ndjson", *exported(one))
    code, _, _ = run("import", again, "--data", str(other))
    assert code == 0
    assert content(other) == kept


def test_events_of_openlineage_go_through_a_server_in_batches(
    tmp_path: Path, server: tuple[str, Headwater]
) -> None:
    url, made = server
    events = lines_file(tmp_path / "events.ndjson", RUN, DATASET, JOB, RUN)
    code, lines, errors = run("import", events, "--url", url)
    assert (code, lines, errors) == (0, ["3 imported, 1 already known, 0 refused"], "")
    assert made.bodies() == [RUN, DATASET, JOB]


def test_an_event_of_another_scope_is_not_sent_through_a_server(
    tmp_path: Path, server: tuple[str, Headwater]
) -> None:
    url, made = server
    line = {"kind": "run-event", "apiVersion": "2", "scope": "east", "body": RUN}
    code, _, _ = run("import", lines_file(tmp_path / "export", line), "--url", url)
    assert made.journal.summary().received == 0
    assert code == 1
