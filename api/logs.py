"""The log: lines for people or JSON objects for machines, on standard error, without secrets.

Every line of a request carries the request's id. One filter, on the handler, masks possible secrets
in the lines of every library: keys, Authorization, passwords in URLs and JDBC strings.
"""

from __future__ import annotations

import json
import logging
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

from graph_model.stores import keys
from spark_agent_config.masking import mask_text

current_request_id: ContextVar[str] = ContextVar("request_id", default="")

FIELDS: Final = "fields"
"""Under which ``extra`` carries the fields of a line: ``extra={FIELDS: {"status": 200}}``."""


def masked(text: str) -> str:
    """A line of the log with secrets as ``*****``."""
    return mask_text(keys.masked(text))


class Masking(logging.Filter):
    """Masks the message, the traceback and the fields of every record; adds its request's id."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = current_request_id.get()
        record.msg, record.args = masked(_message(record)), ()
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = masked(record.exc_text)
        if record.stack_info:
            record.stack_info = masked(record.stack_info)
        fields: dict[str, Any] = getattr(record, FIELDS, {})
        setattr(record, FIELDS, {name: _masked_value(value) for name, value in fields.items()})
        return True


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError, KeyError):
        return str(record.msg)  # a library's own slip must not cost the line


def _masked_value(value: Any) -> Any:
    return _masked_field(value) if isinstance(value, str) else value


# The fields of an access line (method, route, principal) are the same few texts all day.
_masked_field: Final = lru_cache(maxsize=1_024)(masked)


class TextLines(logging.Formatter):
    """``2026-03-01T08:15:00.000Z INFO api.serving.server [a1b2…]: message``."""

    def format(self, record: logging.LogRecord) -> str:
        request_id = getattr(record, "request_id", "")
        request = f" [{request_id}]" if request_id else ""
        parts = [
            f"{_time(record)} {record.levelname} {record.name}{request}: {record.getMessage()}"
        ]
        parts += [part for part in (record.exc_text, record.stack_info) if part]
        return "\n".join(parts)


class JsonLines(logging.Formatter):
    """One JSON object a line: time, level, logger, message, then all other fields."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if request_id := getattr(record, "request_id", ""):
            line["request"] = request_id
        line |= getattr(record, FIELDS, {})
        if record.exc_text:
            line["exception"] = record.exc_text
        return json.dumps(line, ensure_ascii=False, default=str)


def _time(record: logging.LogRecord) -> str:
    at = datetime.fromtimestamp(record.created, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def tells_every_request(access: str, form: str) -> bool:
    """Whether each request gets its line: with ``all``, and with ``auto`` in JSON."""
    return access == "all" or (access == "auto" and form == "json")


def set_up_logging(level: str, form: str = "text", access: str = "auto") -> None:
    """Everything that is logged goes to standard error, masked. ``form`` is text or json,
    ``access``, which requests get a line, one of auto, all and errors.
    """
    handler = logging.StreamHandler()
    handler.addFilter(Masking())
    handler.setFormatter(JsonLines() if form == "json" else TextLines())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    shown = logging.NOTSET if tells_every_request(access, form) else logging.WARNING
    logging.getLogger("headwater.access").setLevel(shown)
    # "Client disconnected", "Creating GraphTraversalSource", "Task queue depth": no news
    for name in ("waitress", "gremlinpython"):
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
