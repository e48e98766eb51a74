"""Behind a reverse proxy: its examples as processes, and whose headers count."""

from __future__ import annotations

import gzip
import http.client
import json
import logging
import os
import shutil
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from api.logs import FIELDS
from api.serving.connections import listening
from api.serving.server import reserve
from graph_model.values import Role
from tests.e2e.producer_service import SPLINE_1_2, Headwater, a_plan
from tests.ports import reserved_port

EXAMPLES = Path(__file__).resolve().parents[3] / "deploy" / "proxy"
_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"
PROGRAMS = {name: shutil.which(name, path=_PATH) for name in ("nginx", "caddy")}
OPENSSL = shutil.which("openssl")
NAME = "lineage.example.org"
SPOOFED = "203.0.113.9"


@dataclass
class Served:
    """The HTTP side on a port, and the addresses in its access lines."""

    made: Headwater
    port: int
    clients: list[str]

    def ask(
        self, headers: Mapping[str, str], method: str = "GET", path: str = "/graph/overview"
    ) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, headers=dict(headers))
            return connection.getresponse().status
        finally:
            connection.close()


@contextmanager
def served(trusted: str) -> Iterator[Served]:
    """waitress as ``headwater serve`` starts it."""
    clients: list[str] = []
    log = logging.getLogger("headwater.access")

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            clients.append(getattr(record, FIELDS)["client"])

    keep, level = Keep(), log.level
    log.addHandler(keep)
    log.setLevel(logging.INFO)
    made = Headwater(trusted_proxy=trusted)
    try:
        with reserve("127.0.0.1", 0) as listener:
            port = listener.getsockname()[1]
            with listening(made.app, replace(made.settings, port=port), listener) as server:
                thread = threading.Thread(target=server.run, daemon=True)
                thread.start()
                yield Served(made, port, clients)
    finally:
        log.removeHandler(keep)
        log.setLevel(level)
        made.close()


@pytest.mark.parametrize(
    ("trusted", "client"),
    [("", "127.0.0.1"), ("192.0.2.7", "127.0.0.1"), ("127.0.0.1", SPOOFED), ("*", SPOOFED)],
)
def test_forwarded_addresses_count_from_the_trusted_proxy_alone(trusted: str, client: str) -> None:
    with served(trusted) as headwater:
        headwater.ask({"X-Forwarded-For": SPOOFED})
        assert headwater.clients == [client]


def test_of_a_chain_of_addresses_the_one_that_the_proxy_saw_counts() -> None:
    with served("127.0.0.1") as headwater:
        headwater.ask({"X-Forwarded-For": f"10.0.0.1, {SPOOFED}"})
        assert headwater.clients == [SPOOFED]


def test_a_forwarded_host_makes_no_page_our_own_unless_the_proxy_is_trusted() -> None:
    """Without the proxy's word, a page of another origin would come in by a header of its own."""
    headers = {"Origin": f"https://{NAME}", "X-Forwarded-Host": NAME}
    status = {}
    for trusted in ("", "127.0.0.1"):
        with served(trusted) as headwater:
            key = headwater.made.make_key("me", Role.ADMIN)
            sent = {**headers, **key, "Content-Length": "0"}
            status[trusted] = headwater.ask(sent, "POST", "/journal/replay")
    assert status[""] == 403
    assert status["127.0.0.1"] != 403


# --- the examples ---------------------------------------------------------------------------


@dataclass
class Proxy:
    """A proxy over a Headwater, by its example."""

    program: str
    headwater: Served
    plain: int
    secure: int
    trust: ssl.SSLContext

    def ask(
        self, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, Any]:
        """The status and the headers of the answer over TLS."""
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self.secure, context=self.trust, timeout=60
        )
        try:
            sent = {"Host": f"{NAME}:{self.secure}", **(headers or {})}
            connection.request("GET" if body is None else "POST", path, body, sent)
            answer = connection.getresponse()
            answer.read()
            return answer.status, answer.headers
        finally:
            connection.close()


@pytest.fixture(scope="module", params=PROGRAMS)
def proxy(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Proxy]:
    if PROGRAMS[request.param] is None or OPENSSL is None:
        pytest.skip(f"no {request.param} or no openssl on this machine")
    place, command = {"nginx": (placed_nginx, nginx), "caddy": (placed_caddy, caddy)}[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    make_certificate(folder)
    with served("127.0.0.1") as headwater:
        plain, secure = reserved_port(), reserved_port()
        configuration = folder / "configuration"
        configuration.write_text(place(folder, headwater.port, plain, secure), "utf-8")
        with running(command(configuration, folder), folder, secure):
            trust = ssl.create_default_context(cafile=str(folder / "certificate.pem"))
            trust.check_hostname = False  # the tests connect by address
            yield Proxy(request.param, headwater, plain, secure, trust)


def make_certificate(folder: Path) -> None:
    subprocess.run(
        [
            str(OPENSSL), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-nodes", "-days", "2", "-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}",
            "-keyout", "key.pem", "-out", "certificate.pem",
        ],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip


def placed(example: str, changes: Mapping[str, str]) -> str:
    """The example with the ports and folders of a test; each must be in it once or more."""
    text = (EXAMPLES / example).read_text("utf-8")
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    return text


def placed_nginx(folder: Path, upstream: int, plain: int, secure: int) -> str:
    places = "".join(
        f"    {kind}_temp_path {folder}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    changes = {
        "user nobody;\n": "",
        "worker_processes auto": "worker_processes 1",
        "/run/nginx.pid": f"{folder}/nginx.pid",
        "/var/log/nginx/": f"{folder}/",
        "/etc/headwater/": f"{folder}/",
        "127.0.0.1:8080": f"127.0.0.1:{upstream}",
        "listen 80;": f"listen 127.0.0.1:{plain};",
        "listen 443 ": f"listen 127.0.0.1:{secure} ",
        "http {\n": f"http {{\n{places}",
    }
    return placed("nginx.conf", changes)


def placed_caddy(folder: Path, upstream: int, plain: int, secure: int) -> str:
    """With a certificate of the test's, for none can be obtained; the tests send no name in TLS."""
    ports = f"\thttp_port {plain}\n\thttps_port {secure}\n\tdefault_bind 127.0.0.1\n"
    certificate = f"\ttls {folder}/certificate.pem {folder}/key.pem\n"
    changes = {
        "\n{\n": f"\n{{\n{ports}\tadmin off\n\tdefault_sni {NAME}\n",
        f"\n{NAME} {{\n": f"\n{NAME} {{\n{certificate}",
        "127.0.0.1:8080": f"127.0.0.1:{upstream}",
    }
    return placed("Caddyfile", changes)


def nginx(configuration: Path, folder: Path) -> list[str]:
    log = str(folder / "error.log")
    where = ["-c", str(configuration), "-p", str(folder), "-e", log]
    return [str(PROGRAMS["nginx"]), *where, "-g", "daemon off;"]


def caddy(configuration: Path, _: Path) -> list[str]:
    return [str(PROGRAMS["caddy"]), "run", "--adapter", "caddyfile", "--config", str(configuration)]


@contextmanager
def running(command: list[str], folder: Path, port: int) -> Iterator[None]:
    with (folder / "output.log").open("wb") as output:
        environment = {**os.environ, "HOME": str(folder)}
        process = subprocess.Popen(command, stderr=output, env=environment)
    try:
        await_port(port, process, folder / "output.log")
        yield
    finally:
        process.terminate()
        process.wait(60)


def await_port(port: int, process: subprocess.Popen[bytes], output: Path) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        try:
            connection.connect()
            return
        except OSError:
            time.sleep(0.05)
        finally:
            connection.close()
    raise AssertionError(f"the proxy did not start: {output.read_text('utf-8', 'replace')}")


def test_the_page_and_the_api_are_served_over_tls_alone(proxy: Proxy) -> None:
    status, headers = proxy.ask("/js/main.js")
    assert status == 200
    assert headers["Strict-Transport-Security"] == "max-age=31536000"
    assert "nginx/" not in str(headers.get_all("Server"))
    assert "frame-ancestors" in headers["Content-Security-Policy"]
    plain = http.client.HTTPConnection("127.0.0.1", proxy.plain, timeout=60)
    plain.request("GET", "/graph/overview?limit=1", headers={"Host": NAME})
    answer = plain.getresponse()
    assert answer.status in {301, 308}
    assert answer.headers["Location"] == f"https://{NAME}/graph/overview?limit=1"
    plain.close()


def test_the_log_names_the_client_and_not_the_name_that_it_gives_itself(proxy: Proxy) -> None:
    before = len(proxy.headwater.clients)
    proxy.ask("/health/live", headers={"X-Forwarded-For": SPOOFED})
    assert proxy.headwater.clients[before:] == ["127.0.0.1"]


def test_a_compressed_plan_arrives_with_its_version(proxy: Proxy) -> None:
    headers = {"Content-Type": SPLINE_1_2, "Content-Encoding": "gzip"}
    body = gzip.compress(json.dumps(a_plan()).encode())
    status, _ = proxy.ask("/producer/execution-plans", body, headers)
    assert status == 201
    assert proxy.headwater.made.bodies()[0]["id"] == a_plan()["id"]


def test_a_page_of_this_name_may_change_things_and_another_may_not(proxy: Proxy) -> None:
    headers = {"Content-Type": "application/json"}
    own = {**headers, "Origin": f"https://{NAME}:{proxy.secure}"}
    key = proxy.headwater.made.make_key("me", Role.ADMIN)
    body = b'{"state": "failed"}'
    assert proxy.ask("/journal/replay", body, {**own, **key})[0] == 202
    other = {**headers, "Origin": "https://other.example.org"}
    assert proxy.ask("/journal/replay", body, {**other, **key})[0] == 403


def test_caddy_bounds_no_body_in_time_for_it_would_answer_200() -> None:
    """Seen with Caddy 2.6: a body that came too late had an empty 200, and was in no journal."""
    settings = [line.split()[0] for line in placed("Caddyfile", {}).splitlines() if line.strip()]
    assert "read_header" in settings
    assert "read_body" not in settings


def test_a_body_that_is_too_large_ends_at_the_proxy(proxy: Proxy) -> None:
    if proxy.program == "caddy":
        pytest.skip("the example leaves the length to Headwater")
    before = len(proxy.headwater.clients)
    headers = {"Content-Type": SPLINE_1_2, "Content-Length": str(65 * 1024 * 1024)}
    connection = http.client.HTTPSConnection(
        "127.0.0.1", proxy.secure, context=proxy.trust, timeout=60
    )
    connection.putrequest("POST", "/producer/execution-plans")
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    assert connection.getresponse().status == 413
    assert proxy.headwater.clients[before:] == []
    connection.close()
