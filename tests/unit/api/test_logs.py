"""The log: its two forms, the request on each line, and that no secret gets through."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from api import logs
from api.http.exchange import request_id_of
from graph_model.stores.keys import KeyRequest, make_key
from graph_model.values import Role

SECRET = "hunter2hunter2hunter2"
KEY = make_key(KeyRequest("jobs", frozenset({Role.READER})), b"\x05" * 38, 1).text


@pytest.fixture(params=["text", "json"])
def form(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def written(form: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """The text written to standard error; the loggers are put back as they were."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    for handler in handlers:  # so that basicConfig(force=True) does not close pytest's own
        root.removeHandler(handler)
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    logs.set_up_logging("info", form)
    yield stream
    root.handlers[:] = handlers
    root.setLevel(level)


TELLING: dict[str, tuple[str, tuple[Any, ...]]] = {
    "a key": ("got %s", (KEY,)),
    "a key's header": ("X-API-Key: %s", (SECRET,)),
    "a map of headers": ("%s", ({"X-API-Key": SECRET, "a": 1},)),
    "a list of headers": ("%s", ([("X-API-Key", SECRET), ("Authorization", f"Bearer {SECRET}")],)),
    "bearer": ("Authorization: Bearer %s", (SECRET,)),
    "basic": ("'Authorization': 'Basic %s'", (SECRET,)),
    "an opaque authorization": ("authorization=%s", (SECRET,)),
    "a proxy's": ("Proxy-Authorization: Basic %s", (SECRET,)),
    "a URL": ("cannot reach postgresql+psycopg://me:%s@host:5432/db", (SECRET,)),
    "a websocket": ("wss://me:%s@graph:8182/gremlin is away", (SECRET,)),
    "a JDBC query": ("jdbc:postgresql://h/db?user=me&password=%s", (SECRET,)),
    "JDBC pairs": ("jdbc:sqlserver://h;user=me;password=%s;encrypt=true", (SECRET,)),
    "Oracle": ("jdbc:oracle:thin:scott/%s@h:1521/x", (SECRET,)),
    "a setting": ("HEADWATER_API_KEY=%s", (SECRET,)),
    "words before a setting": ("connecting with password=%s now", (SECRET,)),
    "a map of settings": ("{'sasl.password': '%s'}", (SECRET,)),
    "JSON": ('{"password": "%s"}', (SECRET,)),
}


@pytest.mark.parametrize("name", TELLING)
def test_no_secret_reaches_the_log(written: io.StringIO, name: str) -> None:
    message, arguments = TELLING[name]
    logging.getLogger("some.library").warning(message, *arguments)
    assert "some.library" in written.getvalue()
    assert SECRET not in written.getvalue()
    assert KEY not in written.getvalue()
    assert "*****" in written.getvalue()


@pytest.mark.parametrize("name", TELLING)
def test_no_secret_of_an_exception_reaches_the_log(written: io.StringIO, name: str) -> None:
    message, arguments = TELLING[name]
    try:
        raise RuntimeError(message % arguments)
    except RuntimeError:
        logging.getLogger("some.library").exception("it failed", stack_info=True)
    assert "RuntimeError" in written.getvalue()
    assert SECRET not in written.getvalue()
    assert KEY not in written.getvalue()


def test_no_secret_of_a_field_reaches_the_log(written: io.StringIO) -> None:
    fields = {"path": f"/x/{KEY}", "status": 200}
    logging.getLogger("x").info("%(path)s %(status)d", fields, extra={logs.FIELDS: fields})
    assert KEY not in written.getvalue()
    assert "200" in written.getvalue()


@pytest.mark.parametrize(
    "text",
    [
        "projection pauses 0.2 s: the graph is away",
        "file:/lake/key=1/secret=2/part.parquet has columns key, token",
        "123 documents; s3://bucket/a/b; jdbc:postgresql://h/db",
    ],
)
def test_a_text_without_secrets_stays_readable(text: str) -> None:
    assert logs.masked(text) in (text, text.replace("secret=2/part.parquet", "secret=*****"))


def test_a_line_carries_the_request_that_it_belongs_to(written: io.StringIO) -> None:
    token = logs.current_request_id.set("req-7")
    logging.getLogger("x").warning("inside")
    logs.current_request_id.reset(token)
    logging.getLogger("x").warning("outside")
    inside, outside = written.getvalue().splitlines()
    assert "req-7" in inside
    assert "req-7" not in outside


def test_a_message_that_does_not_fit_its_arguments_is_still_a_line(written: io.StringIO) -> None:
    logging.getLogger("x").warning("%d of %d", "one")
    assert "%d of %d" in written.getvalue()


@pytest.mark.parametrize("form", ["json"], indirect=True)
def test_a_json_line_is_one_object_with_a_time_in_utc(written: io.StringIO) -> None:
    try:
        raise ValueError("a\nb")
    except ValueError:
        extra = {logs.FIELDS: {"n": 1}}
        logging.getLogger("api.serving.server").exception("two\nlines %s", "ü", extra=extra)
    (line,) = written.getvalue().splitlines()
    said = json.loads(line)
    assert (said["level"], said["logger"], said["n"]) == ("error", "api.serving.server", 1)
    assert said["message"] == "two\nlines ü"
    assert "ValueError" in said["exception"]
    assert said["time"].endswith("Z")
    assert datetime.fromisoformat(said["time"]).tzinfo is not None


@pytest.mark.parametrize("given", ["a", "0123-4567", "a:b.c_d-e", "A" * 128])
def test_a_well_formed_request_id_is_taken_over(given: str) -> None:
    assert request_id_of(given) == given


@pytest.mark.parametrize("given", [None, "", "a b", "a\nb", "ü", "-a", "A" * 129, "{}", "a,b"])
def test_any_other_is_replaced(given: str | None) -> None:
    made = request_id_of(given)
    assert made != given
    assert len(made) == 16
    assert made != request_id_of(given)
