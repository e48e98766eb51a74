"""The command ``headwater``: its output, its failures, its promises."""

from __future__ import annotations

import argparse
import errno
import io
import json
import os
import re
import shlex
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from api import command_line
from api.console.journal import follow
from api.serving.storage import DATABASE_FILE, LOCK_FILE, claim
from api.settings import ROWS
from graph_model.errors import ConfigurationError, HeadwaterError
from graph_model.producers.commands import Command, Forget, submit
from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from graph_model.projection.projector import Projector
from graph_model.stores.catalogue import Generations
from graph_model.stores.database import open_database
from graph_model.stores.documents import DocumentState, Receipt
from graph_model.stores.journal import Journal
from graph_model.stores.keys import read_installation, signing_secret
from tests.e2e.producer_service import PLAN_ID, a_plan, an_event
from tests.memory_graph import MemoryGraph
from tests.ports import reserved_port
from tests.projections import submission


class Told:
    """One call and its outcome."""

    def __init__(self, *arguments: str, **environment: str) -> None:
        out, errors = io.StringIO(), io.StringIO()
        self.code = command_line.run(arguments, environment, out, errors)
        self.out, self.errors = out.getvalue(), errors.getvalue()


def sub_commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


ALL = sub_commands(command_line.parser())


def every_parser() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for name, parser in ALL.items():
        yield name, parser
        for inner, below in sub_commands(parser).items():
            yield f"{name} {inner}", below


# --- help ----------------------------------------------------------------------------------------


def test_the_commands_that_exist_are_listed_and_no_others() -> None:
    assert set(ALL) == {
        "serve", "demo", "fetch", "config", "journal", "consume", "keys", "backup", "restore",
        "replay", "rebuild", "forget", "prune", "doctor", "classify", "layers", "rules", "hide",
        "show", "harvest", "forward", "impact", "sql", "declare", "quality", "storage",
        "observe",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "parser"), [pytest.param(*pair, id=pair[0]) for pair in every_parser()]
)
def test_every_command_teaches_with_an_example(name: str, parser: argparse.ArgumentParser) -> None:
    assert f"headwater {name}" in parser.format_help().split("\n\n", 1)[1]


def test_every_example_in_the_help_is_a_call_that_can_be_read() -> None:
    examples = [
        shlex.split(line.split("|")[0].split(" > ")[0])[1:]
        for _, parser in every_parser()
        for line in (parser.description or "").splitlines()
        if line.startswith("  headwater ")
    ]
    assert len(examples) > 10
    for example in examples:
        command_line.parser().parse_args(example)


# --- errors --------------------------------------------------------------------------------------


def test_a_wrong_setting_is_one_line_and_code_2() -> None:
    told = Told("serve", HEADWATER_PROT="1")
    assert told.code == 2
    assert (
        told.errors == "headwater: HEADWATER_PROT is not a setting; did you mean HEADWATER_PORT?\n"
    )


def test_an_option_wins_over_the_environment() -> None:
    told = Told("serve", "--port", "no", HEADWATER_PORT="9")
    assert (told.code, "HEADWATER_PORT='no'" in told.errors) == (2, True)


def test_only_an_option_that_names_a_setting_is_read_as_one() -> None:
    variables = {row.field: row.variable for row in ROWS}
    for name, parser in every_parser():
        for option in parser._actions:
            if option.dest in variables:
                assert f"${variables[option.dest]}" in str(option.help), (name, option.dest)


def test_the_runs_that_a_prune_keeps_are_not_the_setting_of_retention() -> None:
    """Without --url the address comes from the settings."""
    told = Told("prune", "--keep", "2", HEADWATER_PORT="1")
    assert (told.code, "no Headwater answers at http://127.0.0.1:1" in told.errors) == (1, True)


def test_debug_shows_where_an_error_came_from() -> None:
    with pytest.raises(HeadwaterError):
        Told("--debug", "serve", "--port", "no")


@pytest.mark.parametrize("arguments", [[], ["nothing"], ["serve", "--por", "1"], ["keys"]])
def test_a_wrong_call_is_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command_line.run(arguments, {}, io.StringIO(), io.StringIO())
    assert ended.value.code == 2
    assert "usage: headwater" in capsys.readouterr().err


def test_no_server_is_one_line_and_code_1() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        told = Told("replay", "--url", f"http://127.0.0.1:{free.getsockname()[1]}")
    assert told.code == 1
    assert len(told.errors.splitlines()) == 1
    assert "start it with make run" in told.errors


def test_a_key_that_no_header_can_carry_is_one_plain_line() -> None:
    told = Told("replay", "--url", "http://127.0.0.1:9", HEADWATER_API_KEY="hw_€")
    assert told.code == 2
    assert len(told.errors.splitlines()) == 1
    assert "HEADWATER_API_KEY" in told.errors
    assert "€" not in told.errors


def test_a_file_that_is_not_there_is_one_plain_line(tmp_path: Path) -> None:
    told = Told("rules", "preview", str(tmp_path / "rules.json"))
    assert (told.code, told.errors) == (
        1,
        f"headwater: {tmp_path / 'rules.json'}: No such file or directory\n",
    )


@pytest.mark.parametrize(("status", "code"), [(400, 2), (404, 1), (503, 1)])
def test_a_call_that_the_server_finds_wrong_is_code_2(status: int, code: int) -> None:
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = b'{"message": "node: expected something else"}'
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        told = Told("impact", "nowhere", "--url", f"http://127.0.0.1:{server.server_port}")
        thread.join()
    assert told.code == code
    assert told.errors.endswith(f"answers {status}: node: expected something else\n")


def test_a_closed_pipe_ends_without_a_word(tmp_path: Path) -> None:
    data = journal_in(tmp_path, plans=200)
    call = f"{sys.executable} -m api.command_line journal export - --data {data} | head -c 1"
    done = subprocess.run(
        ["sh", "-c", call],
        cwd=Path(__file__).resolve().parents[3],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("{", "")


# --- journal -------------------------------------------------------------------------------------


def journal_in(folder: Path, plans: int = 1) -> Path:
    """A data folder with a journal of some plans, and one event."""
    database = open_database(folder / DATABASE_FILE)
    journal = Journal(database)
    for number in range(plans):
        journal.accept(
            [submission(PLAN_KIND, a_plan(name=f"job {number}"))],
            Receipt(1_700_000_000_000, "", "test", ""),
        )
    journal.accept([submission(EVENT_KIND, an_event())], Receipt(1_700_000_001_000, "", "test", ""))
    journal.settle([1], DocumentState.FAILED, "the reason why")
    database.dispose()
    return folder


def test_the_journal_tells_how_much_there_is_and_how_old(tmp_path: Path) -> None:
    told = Told("journal", "--data", str(journal_in(tmp_path)))
    lines = [line.split() for line in told.out.splitlines()]
    assert lines[0] == ["2", "documents", "received"]
    assert [line[:2] for line in lines[1:5]] == [
        ["0", "projected"], ["1", "pending"], ["0", "waiting"], ["1", "failed"]
    ]  # fmt: skip
    assert lines[5][1:5] == ["MB", "in", "the", "database,"]
    assert lines[6][-1] == "2023-11-14T22:13:20.000Z"
    assert lines[7][-1] == "2023-11-14T22:13:21.000Z"


def test_an_intact_journal_is_found_well(tmp_path: Path) -> None:
    told = Told("journal", "check", "--data", str(journal_in(tmp_path)))
    assert (told.code, told.out) == (0, "2 documents checked, all is well\n")


def test_damage_is_told_and_the_exit_code_says_so(tmp_path: Path) -> None:
    data = journal_in(tmp_path)
    with sqlite3.connect(data / DATABASE_FILE) as connection:
        connection.execute("UPDATE journal_bodies SET packed = x'00' WHERE kind = 'event'")
    connection.close()
    told = Told("journal", "check", "--data", str(data))
    assert told.code == 1
    damage, count = told.out.splitlines()
    assert "cannot be inflated" in damage
    assert count == "2 documents checked, 1 to mend: restore a backup"


def test_a_backup_and_an_export_go_on_past_damage_and_say_so(tmp_path: Path) -> None:
    data = journal_in(tmp_path)
    with sqlite3.connect(data / DATABASE_FILE) as connection:
        connection.execute("UPDATE journal_bodies SET packed = x'00' WHERE kind = 'event'")
    connection.close()
    told = Told("backup", str(tmp_path / "b.gz"), "--data", str(data))
    assert told.code == 1
    assert told.out.startswith("1 documents, 1 receipts: ")
    assert "document 2 (event of " in told.out
    assert "is damaged and not in the backup: its body cannot be inflated" in told.out
    restored = Told("restore", str(tmp_path / "b.gz"), "--data", str(tmp_path / "other"))
    assert restored.code == 0
    assert "document 2 (event of " in restored.out
    exported = Told("journal", "export", "-", "--data", str(data))
    assert (exported.code, len(exported.out.splitlines())) == (1, 1)
    assert "1 documents are damaged and left out: 2 " in exported.errors
    shown = Told("journal", "show", "2", "--data", str(data))
    assert shown.code == 1
    assert "the body of document 2 is damaged" in shown.errors


def test_options_before_an_action_count_for_it(tmp_path: Path) -> None:
    data = str(journal_in(tmp_path))
    assert "2 of 2 documents" in Told("journal", "--data", data, "list").out


def test_a_backup_is_restored_into_another_folder(tmp_path: Path) -> None:
    data = journal_in(tmp_path / "one")
    file, other = str(tmp_path / "b.gz"), str(tmp_path / "two")
    told = Told("backup", file, "--data", str(data))
    assert (told.code, told.out) == (0, f"2 documents, 2 receipts: {file}\n")
    assert Told("restore", file, "--data", other).code == 0
    listed = Told("journal", "list", "--data", other).out
    assert listed == Told("journal", "list", "--data", str(data)).out


def test_a_backup_goes_only_into_an_empty_journal_unless_told(tmp_path: Path) -> None:
    data, file = str(journal_in(tmp_path)), str(tmp_path / "b.gz")
    assert Told("backup", file, "--data", data).code == 0
    told = Told("restore", file, "--data", data)
    assert told.code == 2
    assert "holds 2 documents" in told.errors
    assert "--replace" in told.errors
    assert Told("restore", file, "--data", data, "--replace").code == 0
    assert Told("journal", "check", "--data", data).code == 0


def test_nothing_is_restored_under_a_running_server(tmp_path: Path) -> None:
    data, file = journal_in(tmp_path), str(tmp_path / "b.gz")
    assert Told("backup", file, "--data", str(data)).code == 0
    with claim(data):
        told = Told("restore", file, "--data", str(data), "--replace")
    assert told.code == 2
    assert "in use by another Headwater" in told.errors


def test_a_data_folder_on_a_full_disk_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(_file: int, _text: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("api.serving.storage.os.write", write)
    advice = "free space on its disk, or choose another with DATA= (--data)"
    with pytest.raises(ConfigurationError, match=re.escape(advice)), claim(tmp_path):
        pass


def test_a_database_password_is_never_repeated() -> None:
    for url in ("mysql://me:hunter2@host/db", "postgresql://me:hunter2@host:port/db"):
        told = Told("journal", HEADWATER_DATABASE=url)
        assert told.code == 2
        assert "hunter2" not in told.errors


def test_the_list_shows_state_and_reason(tmp_path: Path) -> None:
    told = Told("journal", "list", "--data", str(journal_in(tmp_path)))
    newest, oldest, count = told.out.splitlines()
    assert newest.split()[:4] == ["2", "2023-11-14T22:13:21.000Z", "event", "pending"]
    assert PLAN_ID in oldest
    assert oldest.endswith("the reason why")
    assert count == "2 of 2 documents"


def test_the_list_can_be_narrowed(tmp_path: Path) -> None:
    data = str(journal_in(tmp_path))
    assert Told("journal", "list", "--state", "failed", "--data", data).out.count("\n") == 2
    assert "1 of 2" in Told("journal", "list", "--limit", "1", "--data", data).out


def test_a_document_is_shown_as_it_is_kept(tmp_path: Path) -> None:
    told = Told("journal", "show", "1", "--data", str(journal_in(tmp_path)))
    assert json.loads(told.out) == a_plan(name="job 0")


def test_an_unknown_position_is_one_line_and_code_1(tmp_path: Path) -> None:
    told = Told("journal", "show", "99", "--data", str(journal_in(tmp_path)))
    assert (told.code, told.errors) == (1, "headwater: no document '99' is known\n")


@pytest.mark.parametrize("to_file", [True, False])
def test_the_export_has_every_document_oldest_first(tmp_path: Path, to_file: bool) -> None:
    data = str(journal_in(tmp_path, plans=3))
    place = tmp_path / "out.jsonl"
    told = Told("journal", "export", str(place) if to_file else "-", "--data", data)
    text = place.read_text(encoding="utf-8") if to_file else told.out
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["position"] for line in lines] == [1, 2, 3, 4]
    assert lines[0]["body"] == a_plan(name="job 0")
    assert lines[3]["kind"] == "event"


def test_a_folder_without_a_journal_is_named_and_left_alone(tmp_path: Path) -> None:
    told = Told("journal", "list", "--data", str(tmp_path / "nothing"))
    assert told.code == 2
    assert str(tmp_path / "nothing") in told.errors
    assert not (tmp_path / "nothing").exists()


# --- a running server ----------------------------------------------------------------------------


class Answering(BaseHTTPRequestHandler):
    """Gives every request the server's prepared answer, and keeps the requests."""

    server: Any

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.server.asked.append((self.path, json.loads(body) if body else None))
        status, body = self.server.answer
        self.send_response(status)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Any]:
    made: Any = HTTPServer(("127.0.0.1", 0), Answering)
    made.asked, made.answer = [], (202, b'{"reopened": 7}')
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    try:
        yield made
    finally:
        made.shutdown()
        thread.join()
        made.server_close()


def url_of(server: Any) -> str:
    return f"http://127.0.0.1:{server.server_port}"


def test_replay_asks_the_server_for_failed_documents(server: Any) -> None:
    told = Told("replay", "--url", url_of(server) + "/")
    assert server.asked == [("/journal/replay", {"state": "failed"})]
    assert (told.code, "7 documents" in told.out) == (0, True)


def test_the_server_is_looked_for_where_the_settings_say(server: Any) -> None:
    assert Told("replay", HEADWATER_PORT=str(server.server_port)).code == 0


def test_the_listener_s_variable_names_the_server_too(server: Any) -> None:
    free = "http://127.0.0.1:9"
    assert Told("replay", HEADWATER_URL=f"{url_of(server)}/", HEADWATER_PORT="9").code == 0
    assert Told("replay", "--url", url_of(server), HEADWATER_URL=free).code == 0
    assert free in Told("replay", HEADWATER_URL=free, HEADWATER_PORT=str(server.server_port)).errors


def test_a_file_of_the_listener_is_no_server() -> None:
    told = Told("replay", HEADWATER_URL="file:/tmp/plans.ndjson")
    assert (told.code, "HEADWATER_URL" in told.errors, "--url" in told.errors) == (2, True, True)


def test_rebuild_tells_the_hashes_before_and_after(server: Any) -> None:
    done = {"phase": "done", "plansDone": 3, "plans": 3, "removed": 0, "before": "a", "after": "a"}
    server.answer = (202, json.dumps(done).encode())
    told = Told("rebuild", "--url", url_of(server))
    assert server.asked == [("/journal/rebuild", None)]
    assert told.code == 0
    assert "3 plans projected, 0 elements" in told.out
    assert "equal to the journal" in told.out


def test_a_rebuild_is_followed_to_its_end() -> None:
    start = {"plansDone": 0, "plans": 4, "removed": 0, "before": None, "after": None}
    answers = iter([
        start | {"phase": "translating"},
        start | {"phase": "translating", "plansDone": 2},
        start | {"phase": "done", "removed": 5, "before": "a", "after": "b"},
    ])  # fmt: skip
    asked: list[str] = []
    said: list[str] = []
    pauses: list[float] = []

    def ask(method: str, path: str) -> Any:
        asked.append(f"{method} {path}")
        return next(answers)

    assert follow(ask, said.append, pauses.append) == 1
    assert asked == ["POST /journal/rebuild", *["GET /journal/rebuild"] * 2]
    assert said[1] == "  [###############...............] 2 of 4 plans"
    assert said[-1].startswith("they differ")
    assert len(pauses) == 2


def test_a_refusal_by_the_server_is_told_in_its_words(server: Any) -> None:
    server.answer = (503, b'{"message": "no space left"}')
    told = Told("replay", "--url", url_of(server))
    assert (told.code, "answers 503: no space left" in told.errors) == (1, True)


def test_something_else_on_the_port_is_recognised(server: Any) -> None:
    server.answer = (200, b"<html>")
    assert "is not a Headwater" in Told("replay", "--url", url_of(server)).errors


def test_the_next_start_after_rebuild_at_next_start_begins_from_nothing(tmp_path: Path) -> None:
    database = open_database(tmp_path / DATABASE_FILE)
    journal, graph = Journal(database), MemoryGraph()
    generations = Generations(database, journal)
    journal.accept([submission(PLAN_KIND, a_plan())], Receipt(0, "", "test", ""))
    first = Projector(journal, graph, generations)
    first.prepare()
    while first.project_pending():
        pass
    assert graph.count() != (0, 0)
    assert Told("rebuild", "--at-next-start", "--data", str(tmp_path)).code == 0
    Projector(journal, graph, generations).prepare()
    assert graph.count() == (0, 0)
    assert journal.summary().pending == 1
    database.dispose()


def test_the_demo_without_pyspark_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    told = Told("demo")
    assert (told.code, "make demo" in told.errors) == (2, True)


# --- configurations ------------------------------------------------------------------------------


def test_the_configuration_points_at_the_producer_api_of_the_settings() -> None:
    told = Told("config", "spark", HEADWATER_PORT="9000")
    assert told.code == 0
    assert "http://127.0.0.1:9000/producer" in told.out


def test_the_configuration_carries_the_given_values() -> None:
    told = Told("config", "spark", "--url", "https://x.example.org/", "--label", "job=nightly")
    assert "https://x.example.org/producer" in told.out
    assert "nightly" in told.out


@pytest.mark.parametrize("platform", ["glue", "emr", "databricks"])
def test_a_platform_elsewhere_needs_an_address_that_it_can_reach(platform: str) -> None:
    told = Told("config", platform)
    assert (told.code, "--url" in told.errors) == (2, True)
    assert Told("config", platform, "--url", "https://x.example.org").code == 0


@pytest.mark.parametrize("client", ["openlineage-spark", "dbt", "airflow"])
def test_a_client_of_openlineage_is_pointed_at_the_server(client: str) -> None:
    told = Told("config", client, "--namespace", "hr", HEADWATER_PORT="9000")
    assert told.code == 0
    assert "http://127.0.0.1:9000" in told.out
    assert "hr" in told.out


@pytest.mark.parametrize("client", ["mwaa", "glue4", "glue5", "emr-serverless"])
def test_settings_without_a_place_in_json_are_told_beside_it(
    client: str, capsys: pytest.CaptureFixture[str]
) -> None:
    told = Told("config", client)
    assert (told.code, "--url" in told.errors) == (2, True)
    told = Told("config", client, "--url", "https://x.example.org")
    assert json.loads(told.out)
    assert capsys.readouterr().err.startswith("# ")


@pytest.mark.parametrize("option", [["--label", "a=b"], ["--spark-version", "3.5"]])
def test_an_option_of_the_agent_is_refused_for_a_client(option: list[str]) -> None:
    told = Told("config", "dbt", *option)
    assert (told.code, option[0] in told.errors) == (2, True)


def test_the_agent_s_namespace_is_a_label() -> None:
    assert "hr" in Told("config", "spark", "--namespace", "hr").out


@pytest.mark.parametrize("arguments", [["--spark-version", "1.6"], ["--form", "poem"]])
def test_arguments_without_a_configuration_are_one_line(arguments: list[str]) -> None:
    told = Told("config", "spark", *arguments)
    assert (told.code, "accepted are" in told.errors) == (2, True)


# --- doctor --------------------------------------------------------------------------------------


def test_the_doctor_says_a_line_for_each_thing(tmp_path: Path) -> None:
    port, gremlin_port = str(reserved_port()), str(reserved_port())
    told = Told(
        "doctor",
        "--data",
        str(tmp_path / "new"),
        "--port",
        port,
        "--gremlin-port",
        gremlin_port,
        HEADWATER_CACHE=str(tmp_path / "cache"),
        HEADWATER_FRONTEND=str(tmp_path),
        JAVA_HOME=str(tmp_path),
    )
    lines = {line[2:14].strip(): line for line in told.out.splitlines()}
    assert lines["Java"].startswith("✗")
    assert lines["page"].startswith("✗")
    assert lines["Gremlin"].startswith("✗")
    assert "will be created" in lines["data folder"]
    assert lines["port"].startswith("✓")
    assert lines["Gremlin port"].startswith("✓")
    assert told.code == 1
    assert not (tmp_path / "new").exists()


def test_the_doctor_looks_at_the_port_of_readers_where_one_is_set(tmp_path: Path) -> None:
    port, gremlin_port = str(reserved_port()), str(reserved_port())

    def finding(read_port: str | None) -> str | None:
        asked = () if read_port is None else ("--gremlin-read-port", read_port)
        place = ("--data", str(tmp_path), "--port", port, "--gremlin-port", gremlin_port)
        lines = Told("doctor", *place, *asked).out.splitlines()
        return next((line for line in lines if "read port" in line or "READ_PORT" in line), None)

    held = str(reserved_port())
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", int(held)))
        taken.listen()
        assert (finding(held) or "").startswith("✗ read port")
    assert (finding(held) or "").startswith("✓ read port")
    assert (finding(gremlin_port) or "").startswith("✗ read port")
    assert finding(None) is None


def test_the_doctor_sees_a_taken_port_and_a_held_folder(tmp_path: Path) -> None:
    with claim(tmp_path), socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        told = Told("doctor", "--data", str(tmp_path), "--port", port)
    lines = told.out.splitlines()
    assert any(line.startswith("✗ port") and port in line for line in lines)
    assert any(line.startswith("✗ data folder") and "in use" in line for line in lines)
    assert (tmp_path / LOCK_FILE).exists()


# --- keys ----------------------------------------------------------------------------------------


def create_key(data: Path, *arguments: str) -> tuple[Told, str]:
    told = Told("keys", "create", *arguments, "--data", str(data))
    return told, next((line for line in told.out.splitlines() if line.startswith("hw_")), "")


def test_the_first_key_can_be_made_before_the_first_start(tmp_path: Path) -> None:
    data = tmp_path / "new"
    told, key = create_key(data, "me", "--role", "admin")
    assert (told.code, told.errors) == (0, "")
    assert "It is the first key" in told.out
    assert len(key) == 59
    assert "It is the first key" not in create_key(data, "other", "--role", "reader")[0].out


def test_a_key_is_printed_once_and_never_again(tmp_path: Path) -> None:
    _, key = create_key(
        tmp_path, "jobs", "--role", "producer", "--role", "reader",
        "--scope", "emr-prod", "--rate", "600",
    )  # fmt: skip
    listed = Told("keys", "list", "--data", str(tmp_path))
    assert key[16:] not in listed.out
    assert "jobs: producer, reader; scope emr-prod; 600 requests a minute" in listed.out
    assert f"…{key[-4:]}" in listed.out


def test_a_revoked_key_is_listed_as_such(tmp_path: Path) -> None:
    create_key(tmp_path, "jobs", "--role", "producer")
    assert Told("keys", "revoke", "jobs", "--data", str(tmp_path)).code == 0
    assert "  revoked 20" in Told("keys", "list", "--data", str(tmp_path)).out
    again = create_key(tmp_path, "jobs", "--role", "reader")[0]
    assert (again.code, "is or was the name of a key" in again.errors) == (1, True)


def test_a_key_of_aws_is_printed_with_its_secret_which_nothing_keeps(tmp_path: Path) -> None:
    told = Told("keys", "create", "glue", "--role", "producer", "--aws", "--data", str(tmp_path))
    settings = dict(line.split("=") for line in told.out.splitlines() if line.startswith("AWS_"))
    file = tmp_path / "signing.key"
    installation = read_installation(file)
    assert installation is not None
    secret = signing_secret(installation, settings["AWS_ACCESS_KEY_ID"])
    assert settings["AWS_SECRET_ACCESS_KEY"] == secret
    assert file.stat().st_mode & 0o777 == 0o600
    again = Told("keys", "create", "emr", "--role", "producer", "--aws", "--data", str(tmp_path))
    assert "AWS_SECRET_ACCESS_KEY=" in again.out
    assert read_installation(file) == installation
    assert not any(secret.encode() in one.read_bytes() for one in tmp_path.iterdir())
    file.write_text("short")
    assert Told("keys", "create", "x", "--role", "reader", "--aws", "--data", str(tmp_path)).code


@pytest.mark.parametrize("action", [["list"], ["revoke", "x"]])
def test_no_folder_is_made_to_look_for_keys(tmp_path: Path, action: list[str]) -> None:
    told = Told("keys", *action, "--data", str(tmp_path / "new"))
    assert (told.code, len(told.errors.splitlines())) == (2, 1)
    assert not (tmp_path / "new").exists()


def test_an_unknown_key_cannot_be_revoked(tmp_path: Path) -> None:
    create_key(tmp_path, "jobs", "--role", "producer")
    told = Told("keys", "revoke", "job", "--data", str(tmp_path))
    assert (told.code, told.errors) == (1, "headwater: no key 'job' is known\n")


def test_the_configuration_carries_the_key_of_the_environment_or_a_place_for_one() -> None:
    name = "spark.spline.lineageDispatcher.http.header.X-API-Key"
    with_key = Told("config", "spark", "--api-key", HEADWATER_API_KEY="hw_1")
    assert f"{name}  hw_1" in with_key.out
    assert f"{name}  YOUR-API-KEY" in Told("config", "spark", "--api-key").out
    assert name not in Told("config", "spark", HEADWATER_API_KEY="hw_1").out


def test_an_open_address_without_a_key_stops_the_start_before_the_engine(tmp_path: Path) -> None:
    call = [
        sys.executable, "-m", "api.command_line", "serve", "--host", "0.0.0.0",
        "--port", free(), "--gremlin-port", free(), "--data", str(tmp_path),
    ]  # fmt: skip
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run(call, cwd=root, capture_output=True, text=True, timeout=240)
    assert done.returncode == 2
    assert "headwater keys create NAME --role admin" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "Gremlin" not in done.stdout


def free() -> str:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return str(found.getsockname()[1])


def test_commands_of_people_survive_an_export_and_an_import(tmp_path: Path) -> None:
    order = Forget(("9b1c1f0e-6f0a-5d6e-8a44-0f7f4f1d2c10",), ("a" * 64,))
    given = submit(Command("ann", 1_700_000_000_000, "why", "job:default/demo", order))
    for folder, documents in (
        ("one", [submission(PLAN_KIND, a_plan()), given]),
        ("two", []),
    ):
        database = open_database(tmp_path / folder / DATABASE_FILE)
        journal = Journal(database)
        journal.accept(documents, Receipt(0, "", "test", ""))
        database.dispose()
    exported = str(tmp_path / "journal.ndjson")
    assert Told("journal", "export", exported, "--data", str(tmp_path / "one")).code == 0
    told = Told("journal", "import", exported, "--data", str(tmp_path / "two"))
    assert told.code == 0, told.errors
    found = []
    for folder in ("one", "two"):
        database = open_database(tmp_path / folder / DATABASE_FILE)
        items = Journal(database).entries().items
        found.append([(one.kind, one.subject_key, one.content_hash) for one in items])
        database.dispose()
    assert found[0] == found[1]
    assert len(found[0]) == 2


def test_what_is_imported_while_a_server_holds_the_folder_names_its_address(tmp_path: Path) -> None:
    exported = tmp_path / "journal.ndjson"
    exported.write_text("")
    with claim(tmp_path / "data"):
        told = Told("journal", "import", str(exported), "--data", str(tmp_path / "data"))
    assert told.code == 2
    assert "a running Headwater takes it: --url http://127.0.0.1:" in told.errors


def test_an_observed_command_takes_the_place_of_ours_and_starts_with_the_listener(
    tmp_path: Path,
) -> None:
    job = tmp_path / "job.py"
    job.write_text(
        "import json, os, sys\n"
        "names = ('HEADWATER_URL', 'HEADWATER_JOB', 'PYTHONPATH')\n"
        "said = [sys.modules['sitecustomize'].__name__, os.getpid(), *map(os.environ.get, names)]\n"
        "print(json.dumps(said))\n"
        "sys.exit(3)\n"
    )
    start = "import sys; from api import command_line; sys.exit(command_line.main())"
    ours = ("observe", "--url", "http://h:1", "--job", "j", "--", sys.executable, str(job))
    with subprocess.Popen(
        [sys.executable, "-c", start, *ours],
        env={"PYTHONPATH": str(Path(__file__).parents[3]), "PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE,
    ) as process:
        output, _ = process.communicate(timeout=240)
    hook, pid, url, name, path = json.loads(output)
    assert (process.returncode, hook, pid) == (3, "sitecustomize", process.pid)
    assert (url, name) == ("http://h:1", "j")
    assert re.search(r"spark_agent_config/bootstrap:.", path)


def test_an_observed_command_ends_by_a_broken_pipe_as_it_would_without_us() -> None:
    start = "import sys; from api import command_line; sys.exit(command_line.main())"
    done = subprocess.run(
        [sys.executable, "-c", start, "observe", "--", "sh", "-c", "kill -s PIPE $$; echo ignored"],
        env={"PYTHONPATH": str(Path(__file__).parents[3]), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert (done.returncode, done.stdout) == (-signal.SIGPIPE, ""), done.stderr


@pytest.mark.parametrize("command", [(), ("--",), ("--", "/no/such/program")])
def test_a_command_that_is_none_is_refused_in_one_line(command: tuple[str, ...]) -> None:
    told = Told("observe", *command)
    assert told.code != 0
    assert len(told.errors.splitlines()) == 1, told.errors
