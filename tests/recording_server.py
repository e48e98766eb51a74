"""A tiny HTTP server that keeps the requests posted to it, and gives prepared answers."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, slots=True)
class Received:
    """One request. ``body`` is not compressed; ``wire_length`` is the length on the wire."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    wire_length: int

    @property
    def document(self) -> Any:
        return json.loads(self.body)


@dataclass
class RecordingServer:
    """``answer`` gets the number of requests before this one, and gives (status, headers).

    ``said`` is the body of every answer to a POST: a producer says nothing, or a plan's id.
    ``pages`` are the JSON bodies of GET requests, by path; others have no body.
    """

    url: str
    said: bytes = b""
    pages: dict[str, Any] = field(default_factory=dict)
    received: list[Received] = field(default_factory=list)
    answer: Callable[[int], tuple[int, Mapping[str, str]]] = lambda _: (201, {})

    def plans(self) -> list[Any]:
        return [r.document for r in self.received if r.path.endswith("/execution-plans")]

    def events(self) -> list[Any]:
        posted = [r.document for r in self.received if r.path.endswith("/execution-events")]
        return [event for events in posted for event in events]


@contextmanager
def recording_server() -> Iterator[RecordingServer]:
    """Listens on a free port of this computer until the block ends."""
    recorder = RecordingServer("")
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(recorder))
    server.daemon_threads = True
    recorder.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield recorder
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(recorder: RecordingServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            length = len(body)
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            status, headers = recorder.answer(len(recorder.received))
            recorder.received.append(
                Received("POST", self.path, dict(self.headers.items()), body, length)
            )
            self._reply(status, headers, b"" if status == 204 else recorder.said)

        def do_GET(self) -> None:
            status, headers = recorder.answer(len(recorder.received))
            recorder.received.append(Received("GET", self.path, dict(self.headers.items()), b"", 0))
            page = recorder.pages.get(self.path)
            status = 200 if status == 201 else status  # reading makes nothing
            self._reply(status, headers, b"" if page is None else json.dumps(page).encode())

        def _reply(self, status: int, headers: Mapping[str, str], body: bytes = b"") -> None:
            self.send_response_only(status)
            headers = {"Date": self.date_time_string(), **headers}
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Silence: tests read ``received``."""

    return Handler
