"""A request to a running server: refusals before it is sent, and the import of its library."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from api.console.intake import ServerIntake
from api.http.access import API_KEY_HEADER
from api.http.client import send
from graph_model.errors import AnswerTimeout, ConfigurationError, HeadwaterError, Unavailable
from tests.recording_server import recording_server

NOBODY = "http://127.0.0.1:9"


@pytest.mark.parametrize("key", ["hw_€", "hw_1\nX-Other: 1", "hw_\x00", "hw_\udcff", " hw_1"])
def test_a_key_that_no_header_can_carry_is_a_wrong_setting_and_is_not_repeated(key: str) -> None:
    with pytest.raises(ConfigurationError, match="HEADWATER_API_KEY: expected") as refused:
        send("GET", NOBODY, "/", None, "application/json", key, seconds=1)
    assert key not in str(refused.value)
    with pytest.raises(ConfigurationError, match="HEADWATER_API_KEY: expected"):
        ServerIntake(NOBODY, key).received()


@pytest.mark.parametrize("key", ["hw_1", "hw_é"])
def test_a_key_goes_along_as_the_server_reads_it(key: str) -> None:
    with recording_server() as server:
        send("POST", server.url, "/x", b"{}", "application/json", key, seconds=60)
    (one,) = server.received
    assert one.headers[API_KEY_HEADER] == key


def test_a_server_that_does_not_answer_is_unavailable() -> None:
    with pytest.raises(Unavailable, match=f"no Headwater answers at {NOBODY}"):
        send("GET", NOBODY, "/", None, "application/json", "hw_1", seconds=1)


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("http://me:s3cret@127.0.0.1:9", "http://***@127.0.0.1:9"),
        ("ftp://me:s3/c@h", "ftp://***@h"),
    ],
)
def test_a_password_of_an_address_is_not_repeated(url: str, place: str) -> None:
    with pytest.raises(HeadwaterError, match=re.escape(place)) as raised:
        send("GET", url, "/", None, "application/json", None, seconds=1)
    assert "s3" not in str(raised.value)


def test_a_server_that_is_silent_for_too_long_may_still_be_at_work() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(AnswerTimeout, match=rf"{url} was silent for 1 s after POST /commands"):
            send("POST", url, "/commands", b"{}", "application/json", None, seconds=1)


@pytest.mark.parametrize("url", ["127.0.0.1:8080", "file:///etc/passwd", "http://[", "http://"])
def test_a_text_that_is_no_address_is_a_wrong_setting(url: str) -> None:
    with pytest.raises(ConfigurationError, match="--url"):
        send("GET", url, "/", None, "application/json", None, seconds=1)


def test_the_help_loads_neither_a_client_nor_a_store_and_offline_commands_no_client() -> None:
    code = (
        "import sys; from api import command_line; command_line.parser().format_help();"
        "print({'boto3', 'requests', 'sqlalchemy'} & sys.modules.keys());"
        "import api.console.intake; print('requests' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).resolve().parents[4],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("set()\nFalse\n", "")
