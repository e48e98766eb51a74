"""What waitress puts on the wire by itself, in our words.

waitress answers some requests before the application sees them (a broken head, a body beyond its
limit): those get the one JSON body too. And it writes header names its own way
(``Absa-Spline-Api-Version``); names are case-insensitive, but people and scripts look for the
spelling that Spline documents.
"""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any, Final

from waitress.channel import HTTPChannel  # type: ignore[import-untyped]
from waitress.parser import (  # type: ignore[import-untyped]
    HTTPRequestParser,
    ParsingError,
)
from waitress.task import ErrorTask, WSGITask  # type: ignore[import-untyped]

from api.security import HEADERS

_SPELLINGS: Final = (
    (b"\r\nAbsa-Spline-Api-Version:", b"\r\nABSA-Spline-API-Version:"),
    (b"\r\nAbsa-Spline-Api-Lts-Version:", b"\r\nABSA-Spline-API-LTS-Version:"),
    (b"\r\nAbsa-Spline-Accept-Request-Encoding:", b"\r\nABSA-Spline-Accept-Request-Encoding:"),
)


class SpelledTask(WSGITask):  # type: ignore[misc]
    """A request of ours: Spline's headers keep Spline's spelling."""

    def build_response_header(self) -> bytes:
        head: bytes = super().build_response_header()
        for capitalised, documented in _SPELLINGS:
            head = head.replace(capitalised, documented)
        return head


class JsonErrorTask(ErrorTask):  # type: ignore[misc]
    """A request that waitress refuses: the one error body, then the connection is closed."""

    def execute(self) -> None:
        refusal: Any = self.request.error
        status = HTTPStatus(refusal.code)
        body = json.dumps(
            {
                "code": status.value,
                "status": status.phrase,
                "message": str(refusal.body),
                "errors": {},
            }
        ).encode()
        self.status = f"{status.value} {status.phrase}"
        self.content_length = len(body)
        self.response_headers += [
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(body))),
            *HEADERS.items(),
        ]
        self.set_close_on_finish()
        self.write(body)


class StrictParser(HTTPRequestParser):  # type: ignore[misc]
    """Refuses a request with a length and chunks: two readers would see two different bodies.

    RFC 9112, 6.3: "ought to be handled as an error"; waitress believes the chunks.
    """

    def parse_header(self, header_plus: bytes) -> None:
        super().parse_header(header_plus)
        if self.chunked and "CONTENT_LENGTH" in self.headers:
            raise ParsingError("Content-Length and Transfer-Encoding exclude each other")


class Channel(HTTPChannel):  # type: ignore[misc]
    """One connection, with the parser and the two tasks above."""

    parser_class = StrictParser
    task_class = SpelledTask
    error_task_class = JsonErrorTask
