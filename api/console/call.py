"""Shared by the sub-commands: a call with its settings, the running server, texts of --help."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlencode

from api.settings import ROWS, URL_VARIABLE, Settings, read_settings
from graph_model import errors
from graph_model.errors import AnswerTimeout, ConfigurationError, HeadwaterError, Unavailable

if TYPE_CHECKING:
    from api.http.client import ServerAnswer
    from graph_model.producers.registry import Producers

PROGRAM: Final = "headwater"
_ANSWER_SECONDS: Final = 30
_PROGRESS_EVERY: Final = 10_000


@dataclass(frozen=True, slots=True)
class Answered:
    """The server's answer. The names of headers are found in any case."""

    text: str
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Call(errors.ProgramCall):
    """One call of the command, with its settings; ``formats`` None: those of the service."""

    formats: Producers | None = None

    @property
    def producers(self) -> Producers:
        """The formats that documents may have."""
        from graph_model.producers.registry import PRODUCERS  # 0.3 s that other commands save

        return PRODUCERS if self.formats is None else self.formats

    def settings(self) -> Settings:
        """The settings of the environment, overridden by options of the same name."""
        given = {
            row.variable: str(value)
            for row in ROWS
            if (value := getattr(self.options, row.field, None)) is not None
        }
        return read_settings({**self.environment, **given})

    def url(self) -> str:
        """``--url``, else ``HEADWATER_URL``, else the server's address from the settings."""
        if self.options.url:
            return str(self.options.url).rstrip("/")
        if url := self.environment.get(URL_VARIABLE):
            return _read_url(url)
        return self.settings().address

    def api_key(self) -> str | None:
        """The key for a running server. No option: other users of this computer see those."""
        return self.environment.get("HEADWATER_API_KEY") or None

    def ask(
        self, method: str, path: str, body: object = None, *, seconds: int = _ANSWER_SECONDS
    ) -> dict[str, Any]:
        """One request to the running server; its JSON answer. Raises HeadwaterError in one line."""
        sent = None if body is None else json.dumps(body).encode()
        try:
            text = self.fetch(method, path, sent, seconds=seconds).text
            answered: dict[str, Any] = json.loads(text)
        except ValueError as error:
            raise HeadwaterError(f"the server at {self.url()} is not a Headwater") from error
        return answered

    def fetch(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        content_type: str = "application/json",
        *,
        seconds: int = _ANSWER_SECONDS,
    ) -> Answered:
        """As ``ask``, in any format of the server's answer; raises HeadwaterError in one line, and
        ConfigurationError where the server refuses the call as wrong. ``seconds`` is how long the
        server may be silent.
        """
        from api.http.client import send, shown  # requests: offline commands do without it

        url, key = self.url(), self.api_key()
        try:
            answer = send(method, url, path, body, content_type, key, seconds=seconds)
        except AnswerTimeout as error:
            raise HeadwaterError(
                f"{error}: it is at work or overloaded, and may still finish the request; "
                f"{shown(url)}/health/ready tells its state"
            ) from error
        except Unavailable as error:
            raise HeadwaterError(
                f"{error}: start it with make run (headwater serve), or name another with --url"
            ) from error
        if answer.status >= HTTPStatus.MULTIPLE_CHOICES:
            wrong = answer.status == HTTPStatus.BAD_REQUEST
            kind = ConfigurationError if wrong else HeadwaterError
            raise kind(f"{shown(url)}{path} answers {answer.status}: {_message(answer)}")
        return Answered(answer.body.decode(errors="replace"), answer.headers)


Command = Callable[[Call], int]


def _read_url(text: str) -> str:
    """The listener's variable: its ``file:`` mode names no server."""
    if not text.startswith(("http://", "https://")):
        raise ConfigurationError(
            f"{URL_VARIABLE}={text!r}: expected the http:// or https:// address of a running "
            "Headwater; name one with --url"
        )
    return text.rstrip("/")


def _message(answer: ServerAnswer) -> str:
    """The message of one of our error bodies, else the reason that HTTP gives."""
    try:
        return str(json.loads(answer.body)["message"])
    except (ValueError, KeyError, TypeError):
        return answer.reason


@contextmanager
def opened_journal(call: Call) -> Iterator[Any]:
    """The journal of the settings; a running server does not mind."""
    from api.serving.storage import open_storage
    from graph_model.stores.journal import Journal

    with closing(Journal(open_storage(call.settings()))) as journal:
        yield journal


def path_of(*parts: str, **query: object) -> str:
    """``path_of("layers", "a/b", preview=True)`` => ``/layers/a%2Fb?preview=true``.

    Values that are None or False are left out of the query; 0 and the empty text are sent.
    """
    path = "/" + "/".join(quote(part, safe="") for part in parts)
    words = {
        name: "true" if value is True else str(value)
        for name, value in query.items()
        if value is not None and value is not False
    }
    return f"{path}?{urlencode(words)}" if words else path


def report_progress(call: Call, counted: str) -> Callable[[int, int], None]:
    """A function that prints the progress at every ten thousand."""
    reported = 0

    def progress(done: int, total: int) -> None:
        nonlocal reported
        if done - reported >= _PROGRESS_EVERY:
            reported = done
            call.say(f"  {done:,} of {total:,} {counted}")

    return progress


def say_change(
    call: Call, answer: Mapping[str, Any], done: str, changed: str, most: int | None = None
) -> int:
    """Print that a named layer or rule is ``done``; of a preview, ``most`` of the datasets that
    would change.
    """
    if not answer.get("preview"):
        call.say(f"{call.options.name} {done}")
        return 0
    for change in answer["items"][:most]:
        call.say(f"  {change['uri']}: {change['before'] or '-'} -> {change['after'] or '-'}")
    call.say(f"{answer['total']:,} of {answer['datasets']:,} datasets would change their {changed}")
    return 0


def add_command(
    commands: Any, name: str, command: Command | None, summary: str, text: str
) -> argparse.ArgumentParser:
    added: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.\n\n{text}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    if command is not None:
        added.set_defaults(command=command)
    return added


def add_settings(command: argparse.ArgumentParser, *fields: str) -> None:
    for row in ROWS:
        if row.field in fields:
            command.add_argument(
                f"--{row.field.replace('_', '-')}",
                metavar=row.variable.removeprefix("HEADWATER_"),
                default=argparse.SUPPRESS,  # one given before an action is not undone by it
                help=f"{row.help} (default: ${row.variable}, else {row.default or 'empty'})",
            )


def add_url(command: argparse._ActionsContainer) -> None:
    """``--url``; the root of the command line has its default."""
    command.add_argument(
        "--url",
        default=argparse.SUPPRESS,  # one given before an action is not undone by it
        help=f"the running Headwater (default: ${URL_VARIABLE}, else its address by "
        "HEADWATER_HOST and HEADWATER_PORT: http://127.0.0.1:8080)",
    )


def read_label(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not (name and separator and value):
        raise argparse.ArgumentTypeError("expected NAME=VALUE")
    return name, value
