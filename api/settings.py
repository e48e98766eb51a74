"""The settings: ``HEADWATER_*`` variables, passed in as a mapping.

One row a setting; a test compares ``docs/settings.md`` with the rows. A variable that starts with
``HEADWATER_`` and is not in the list stops the start: a misspelt setting must not be ignored.
"""

from __future__ import annotations

import difflib
import ipaddress
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from graph_model.errors import ConfigurationError
from graph_model.producers.bounds import read_tolerance
from graph_model.projection.run_window import RunWindow, read_run_window
from graph_model.retention.policy import RetentionPolicy, read_policy
from graph_model.stores.gremlin.engine.memory import LEAST_HEAP_MB, fitting_heap, memory_limit
from graph_model.stores.uploads import split_place
from graph_model.values import ANONYMOUS_ROLES

PREFIX: Final = "HEADWATER_"
PAGE: Final = Path(__file__).resolve().parent / "frontend"
"""The page's files; in a checkout a link to the folder ``frontend``."""
_MEBIBYTE: Final = 1024 * 1024
URL_VARIABLE: Final = "HEADWATER_URL"
#: Read by others in the same shell: the listener in Spark jobs, commands that call a server, and
#: the project's own tests.
OF_OTHERS: Final = (
    URL_VARIABLE,
    "HEADWATER_API_KEY",
    "HEADWATER_SPILL",
    "HEADWATER_CHROMIUM",
)
_OF_TESTS: Final = "HEADWATER_TEST_"
LOG_LEVELS: Final = ("debug", "info", "warning", "error")
LOG_FORMATS: Final = ("text", "json")
ACCESS_LOGS: Final = ("auto", "all", "errors")
GREMLIN_DIALECTS: Final = ("tinkerpop", "neptune")
_ANY_ADDRESS: Final = ("0.0.0.0", "::")  # noqa: S104 - recognised, not bound
_NOBODY: Final = "none"
_AUTO: Final = "auto"
_HEAP_BOUNDS: Final = (LEAST_HEAP_MB, 1_048_576)
_POSTGRESQL: Final = ("postgresql://", "postgresql+psycopg://", "postgres://")
DATAZONE_DOMAIN: Final = re.compile(r"dzd[-_][a-zA-Z0-9_-]{1,36}")
_SWITCH: Final = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting with its final value; the rows below describe each one."""

    host: str
    port: int
    data: Path
    database: str
    database_iam: bool
    database_secret: str
    bodies: str
    bodies_above: int
    bodies_key: str
    disk_reserve_bytes: int
    gremlin_port: int
    gremlin_read_port: int | None
    gremlin_url: str
    gremlin_dialect: str
    gremlin_signed: bool
    gremlin_heap_mb: int
    clock_tolerance: int
    graph_runs: RunWindow
    keep: RetentionPolicy | None
    max_body_bytes: int
    max_compressed_bytes: int
    projection_wait_ms: int
    threads: int
    connections: int
    connections_per_peer: int
    log_level: str
    log_format: str
    access_log: str
    anonymous: frozenset[str]
    signing_key: str
    insecure: bool
    trusted_proxy: str
    cors_origins: tuple[str, ...]
    frontend: Path
    cache: str
    maven_repository: str
    uploads: str
    projection_queue: str
    event_queue: str
    dead_letter_queue: str
    message_bytes: int
    rewrite_rules: str
    datazone_domains: tuple[tuple[str, str], ...]

    @property
    def address(self) -> str:
        """Where a browser on this computer finds the server."""
        host = "127.0.0.1" if self.host in _ANY_ADDRESS else self.host
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    @property
    def signing_key_file(self) -> Path:
        """Where the key of this installation lies, from which signing secrets are computed."""
        return Path(self.signing_key) if self.signing_key else self.data / "signing.key"


def _domains(text: str) -> tuple[tuple[str, str], ...]:
    pairs = [tuple(map(str.strip, part.partition("=")[::2])) for part in text.split(",") if part]
    ids = [domain for domain, _ in pairs]
    if not all(map(DATAZONE_DOMAIN.fullmatch, ids)) or len(set(ids)) < len(ids):
        raise ValueError("domains, each once, as dzd_a1b2=sales.,dzd_c3d4=hr.")
    return tuple((domain, prefix) for domain, prefix in pairs)


class Row(NamedTuple):
    """One setting: the default is written as a person would write it in the environment; ``named``
    is its field where that has another name than the variable, for its unit.
    """

    variable: str
    default: str
    help: str
    read: Callable[[str], object]
    named: str = ""

    @property
    def field(self) -> str:
        """Its field in ``Settings``, and its option in the console."""
        return self.named or self.variable.removeprefix(PREFIX).lower()


def _whole(least: int, most: int, unit: str = "") -> Callable[[str], int]:
    of_unit = f" of {unit}" if unit else ""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
            raise ValueError(f"a whole number{of_unit} from {least} to {most}")
        return int(text)

    return read


def _port(text: str) -> int:
    return _whole(0, 65535)(text)


def _read_port(text: str) -> int | None:
    return _port(text) if text else None


def _mebibytes(text: str) -> int:
    return _whole(1, 1024, "MB")(text) * _MEBIBYTE


def _reserved_mebibytes(text: str) -> int:
    return _whole(0, 1_048_576, "MB")(text) * _MEBIBYTE


def _kibibytes(most: int) -> Callable[[str], int]:
    count = _whole(1, most, "kB")
    return lambda text: count(text) * 1024


def _place(text: str) -> str:
    """``s3://bucket/prefix``, without a slash at its end."""
    if text:
        split_place(text)
    return text.rstrip("/")


def _queue(text: str) -> str:
    if text and not text.startswith(("https://", "http://")):
        raise ValueError("the URL of a queue")
    return text


def _heap(text: str) -> int:
    try:
        return fitting_heap(memory_limit()) if text == _AUTO else _whole(*_HEAP_BOUNDS)(text)
    except ValueError as error:
        raise ValueError(f"{_AUTO}, or {error}") from None


def _text(text: str) -> str:
    if not text.strip():
        raise ValueError("a value, not empty")
    return text


def _folder(text: str) -> Path:
    return Path(_text(text)).expanduser()


def _database(text: str) -> str:
    """The error does not repeat the text: it may hold a password."""
    if text and not text.startswith(_POSTGRESQL):
        raise ConfigurationError(
            "HEADWATER_DATABASE=***: expected postgresql://user:password@host/database, or nothing "
            "for SQLite in the data folder"
        )
    return text


def _gremlin_url(text: str) -> str:
    if text and not text.startswith(("ws://", "wss://")):
        raise ValueError("a ws:// or wss:// address, or nothing for the embedded engine")
    return text


def _dialect(text: str) -> str:
    if text and text not in GREMLIN_DIALECTS:
        raise ValueError(f"{' or '.join(GREMLIN_DIALECTS)}, or empty: chosen by the address")
    return text


def _one_of(words: Sequence[str]) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text.lower() not in words:
            raise ValueError(f"one of {', '.join(words)}")
        return text.lower()

    return read


def _anonymous(text: str) -> frozenset[str]:
    """``reader,producer``; ``none`` is nothing at all."""
    roles = frozenset(part.strip().lower() for part in text.split(","))
    if roles == {_NOBODY}:
        return frozenset()
    if not roles <= set(ANONYMOUS_ROLES):
        raise ValueError(f"{_NOBODY}, or {' and '.join(ANONYMOUS_ROLES)} with a comma")
    return roles


def _switch(text: str) -> bool:
    if text.lower() not in _SWITCH:
        raise ValueError("true or false")
    return _SWITCH[text.lower()]


def _proxy(text: str) -> str:
    """One address: waitress compares it with that of each connection."""
    if text in {"", "*"}:
        return text
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        raise ValueError("one IP address, *, or nothing") from None


def _origins(text: str) -> tuple[str, ...]:
    origins = tuple(part.strip() for part in text.split(",") if part.strip())
    for origin in origins:
        if origin != "*" and not _is_origin(origin):
            raise ValueError("origins such as https://notebook.example.org, comma-separated, or *")
    return origins


def _is_origin(text: str) -> bool:
    """An origin has a scheme and a host, no path: ``https://example.org:8443``."""
    scheme, separator, host = text.partition("://")
    return scheme in {"http", "https"} and bool(separator and host) and "/" not in host


def _frontend(text: str) -> Path:
    return Path(text).expanduser() if text else PAGE


ROWS: Final[tuple[Row, ...]] = (
    Row(
        "HEADWATER_HOST",
        "127.0.0.1",
        "Address to listen on. The default is this computer only; any other needs an API key "
        "first: headwater keys create.",
        _text,
    ),
    Row(
        "HEADWATER_PORT",
        "8080",
        "Port of the page and of all HTTP routes. 0: a free one, which the log names.",
        _port,
    ),
    Row(
        "HEADWATER_DATA",
        "./data",
        "Folder of the journal and the catalogue. It is created when it is missing; one running "
        "Headwater a folder.",
        _folder,
    ),
    Row(
        "HEADWATER_DATABASE",
        "",
        "A PostgreSQL database for journal and catalogue (postgresql://user:password@host/name), "
        "which several Headwaters may share. Empty: SQLite in the data folder.",
        _database,
    ),
    Row(
        "HEADWATER_DATABASE_IAM",
        "false",
        "true: sign in to HEADWATER_DATABASE with a token of AWS IAM, made anew for each "
        "connection; its user needs the role rds_iam. The certificate of the server is verified "
        "(sslmode=verify-full). The region comes from AWS_REGION.",
        _switch,
    ),
    Row(
        "HEADWATER_DATABASE_SECRET",
        "",
        "Name or ARN of a secret in AWS Secrets Manager with username and password, as RDS makes "
        "it; read for new connections, so that a rotation needs no restart.",
        str,
    ),
    Row(
        "HEADWATER_BODIES",
        "",
        "s3://bucket/prefix: the bodies of large documents lie there, the rest of the journal in "
        "its database. The same in every Headwater on one database. Empty: all in the database.",
        _place,
    ),
    Row(
        "HEADWATER_BODIES_ABOVE",
        "256",
        "The size in KB, compressed, above which a body lies in HEADWATER_BODIES.",
        _kibibytes(1_048_576),
    ),
    Row(
        "HEADWATER_BODIES_KEY",
        "",
        "The KMS key that encrypts objects in HEADWATER_BODIES. Empty: the bucket's default.",
        str,
    ),
    Row(
        "HEADWATER_DISK_RESERVE",
        "256",
        "Free space in MB on the disk of the data folder that new documents leave to removals: "
        "with less they get 503, while prune, forget, HEADWATER_KEEP and questions go on "
        "(docs/operate.md). 0: none. Without effect on PostgreSQL.",
        _reserved_mebibytes,
        "disk_reserve_bytes",
    ),
    Row(
        "HEADWATER_GREMLIN_PORT",
        "8182",
        "Port of the embedded Gremlin Server (this computer only): "
        "ws://127.0.0.1:8182/gremlin for notebooks. 0: a free one, which the log names.",
        _port,
    ),
    Row(
        "HEADWATER_GREMLIN_READ_PORT",
        "",
        "Port of the embedded Gremlin Server where the graph can be read and not changed (this "
        "computer only), for people: ws://127.0.0.1:8183/gremlin with 8183. Empty: none.",
        _read_port,
    ),
    Row(
        "HEADWATER_GREMLIN_URL",
        "",
        "A Gremlin Server of your own (ws:// or wss://). Empty: the embedded one is started.",
        _gremlin_url,
    ),
    Row(
        "HEADWATER_GREMLIN_DIALECT",
        "",
        "The dialect of the server at HEADWATER_GREMLIN_URL: tinkerpop or neptune. Empty: neptune "
        "if the host name ends in .neptune.amazonaws.com (or .com.cn), else tinkerpop.",
        _dialect,
    ),
    Row(
        "HEADWATER_GREMLIN_SIGNED",
        "false",
        "true: sign every handshake with the AWS credentials of the process, as a Neptune cluster "
        "with IAM authentication requires. The region comes from AWS_REGION.",
        _switch,
    ),
    Row(
        "HEADWATER_GREMLIN_HEAP",
        "1024",
        "Memory of the embedded Gremlin Server in MB; 1024 hold about 1,500,000 vertices and edges "
        "(docs/graph.md). auto: half of the container's limit, or of this computer's memory.",
        _heap,
        "gremlin_heap_mb",
    ),
    Row(
        "HEADWATER_CLOCK_TOLERANCE",
        "24",
        "The hours that a time in a document may be after its first receipt. A later one is "
        "doubtful: answers count it from that receipt (docs/operate.md). A change projects "
        "everything anew; the same in every Headwater on one database.",
        read_tolerance,
    ),
    Row(
        "HEADWATER_GRAPH_RUNS",
        "newest:3",
        "The runs that the graph contains, for traversals by hand; no answer uses them: none, or "
        "newest:3 (of each job). Of services that share a graph the one that started last decides.",
        read_run_window,
    ),
    Row(
        "HEADWATER_KEEP",
        "",
        "Retention: runs=100,days=400 keeps the newest 100 runs of each job (of a stream, which is "
        "one run, 1,000 executions for each), all of the last 400 days, and the runs behind "
        "today's lineage: every append and write of an unknown mode, with the writes that it read. "
        "Where most runs are such writes, few are removed: see limits.md. The service removes the "
        "rest once a night, after 3:00 UTC (hour=4: after 4:00), rows and documents; with "
        "bodies=keep the journal keeps the documents. Empty: it keeps everything.",
        read_policy,
    ),
    Row(
        "HEADWATER_MAX_BODY",
        "64",
        "The largest document taken, in MB, after decompression. Larger ones get 413.",
        _mebibytes,
        "max_body_bytes",
    ),
    Row(
        "HEADWATER_MAX_COMPRESSED_BODY",
        "16",
        "The largest gzip body taken, in MB, before decompression. Larger ones get 413.",
        _mebibytes,
        "max_compressed_bytes",
    ),
    Row(
        "HEADWATER_PROJECTION_WAIT",
        "2000",
        "How long, in milliseconds, the answer to a document waits until the graph contains it. "
        "The document is safe on disk before that; 0 answers at once. While many clients write, no "
        "answer waits.",
        _whole(0, 60_000),
        "projection_wait_ms",
    ),
    Row(
        "HEADWATER_THREADS",
        "16",
        "Threads for requests; further requests queue.",
        _whole(1, 512),
    ),
    Row(
        "HEADWATER_CONNECTIONS",
        "1000",
        "Connections that are open at a time. A further one takes the place of one that is idle.",
        _whole(20, 7_000),
    ),
    Row(
        "HEADWATER_CONNECTIONS_PER_PEER",
        "500",
        "The same for one address, which may stand for all clients behind a NAT. Without effect "
        "with HEADWATER_TRUSTED_PROXY: the proxy is the only address, and limits its clients.",
        _whole(1, 7_000),
    ),
    Row(
        "HEADWATER_LOG_LEVEL",
        "info",
        "debug, info, warning or error. Bodies of documents are never logged.",
        _one_of(LOG_LEVELS),
    ),
    Row(
        "HEADWATER_LOG_FORMAT",
        "text",
        "text: lines for people; json: one JSON object a line.",
        _one_of(LOG_FORMATS),
    ),
    Row(
        "HEADWATER_ACCESS_LOG",
        "auto",
        "all: a line for each request; errors: a line for each request that failed in the server, "
        "and a summary of arrived documents every ten seconds; auto: all with json, errors with "
        "text.",
        _one_of(ACCESS_LOGS),
    ),
    Row(
        "HEADWATER_ANONYMOUS",
        "none",
        f"Roles of clients without an API key, once a key exists: {_NOBODY}, "
        f"{', '.join(ANONYMOUS_ROLES)}, or {','.join(ANONYMOUS_ROLES)}.",
        _anonymous,
    ),
    Row(
        "HEADWATER_SIGNING_KEY",
        "",
        "File with the key from which the signing secrets of API keys (keys create --aws) are "
        "computed; the same for every Headwater on one database. Empty: signing.key in the data "
        "folder. Backups leave it out.",
        str,
    ),
    Row(
        "HEADWATER_INSECURE",
        "false",
        "true: start beyond this computer although no API key was made. Every client that reaches "
        "it may do everything.",
        _switch,
    ),
    Row(
        "HEADWATER_TRUSTED_PROXY",
        "",
        "Address of the reverse proxy in front: the X-Forwarded-For, -Proto and -Host that it "
        "sends count (the last of each), and a key must exist even on this computer. *: whoever "
        "connects is a proxy, where nothing else can connect. Empty: these headers are ignored.",
        _proxy,
    ),
    Row(
        "HEADWATER_CORS_ORIGINS",
        "",
        "Other origins whose pages may call the API, comma-separated "
        "(https://notebook.example.org), or *. Empty: only Headwater's own page.",
        _origins,
    ),
    Row(
        "HEADWATER_FRONTEND",
        "",
        "Folder of the page's files. Empty: those that are installed with the service.",
        _frontend,
    ),
    Row(
        "HEADWATER_CACHE",
        "",
        "Folder for downloads (the Java archives of the embedded engine). Empty: "
        "$XDG_CACHE_HOME/headwater, else ~/.cache/headwater.",
        str,
    ),
    Row(
        "HEADWATER_MAVEN_REPOSITORY",
        "",
        "Where the Java archives come from: an http(s) address of a mirror, or a folder laid out "
        "as a Maven repository. Empty: Maven Central. Checksums are checked in any case.",
        str,
    ),
    Row(
        "HEADWATER_UPLOADS",
        "",
        "s3://bucket/prefix for documents that are too large for a request or a message: turns on "
        "POST /uploads (docs/queues.md).",
        _place,
    ),
    Row(
        "HEADWATER_PROJECTION_QUEUE",
        "",
        "On Lambda: the URL of the SQS queue that wakes the projector.",
        _queue,
    ),
    Row(
        "HEADWATER_EVENT_QUEUE",
        "",
        "On Lambda: the URL of the SQS queue (FIFO) for OpenLineage events.",
        _queue,
    ),
    Row(
        "HEADWATER_DEAD_LETTER_QUEUE",
        "",
        "The URL of the SQS queue for messages that can never be taken.",
        _queue,
    ),
    Row(
        "HEADWATER_MESSAGE_SIZE",
        "256",
        "The largest message, in KB, that is sent to HEADWATER_EVENT_QUEUE: at most its "
        "MaximumMessageSize. Larger events go through HEADWATER_UPLOADS.",
        _kibibytes(1024),
        "message_bytes",
    ),
    Row(
        "HEADWATER_REWRITE_RULES",
        "",
        "A JSON file, or s3://bucket/key, with rules that rename the datasets of OpenLineage "
        "events from a queue (docs/queues.md). Empty: none.",
        str,
    ),
    Row(
        "HEADWATER_DATAZONE_DOMAINS",
        "",
        "The domains of DataZone's routes, each with the beginning of its jobs' namespaces, comma-"
        "separated: dzd_a1b2=sales.,dzd_c3d4=hr. Empty: any domain, with all jobs.",
        _domains,
    ),
)


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Settings from an environment; unset (not: empty) variables have their defaults.

    Raises ConfigurationError for an unknown ``HEADWATER_*`` variable, naming the nearest known
    one, and for a value that cannot be used, naming the variable and the expected value.
    """
    refuse_unknown(environment)
    values = {row.field: _read(row, environment.get(row.variable, row.default)) for row in ROWS}
    return Settings(**values)  # type: ignore[arg-type]  # each row's reader gives its field's type


def refuse_unknown(environment: Mapping[str, str]) -> None:
    """Raise ConfigurationError for the first ``HEADWATER_*`` variable that is no setting."""
    known = [row.variable for row in ROWS]
    for name in sorted(environment):
        if name in OF_OTHERS or name.startswith(_OF_TESTS):
            continue
        if name.startswith(PREFIX) and name not in known:
            ends = [
                variable.removeprefix(PREFIX) for variable in known
            ]  # the prefix is no likeness
            near = difflib.get_close_matches(name.removeprefix(PREFIX), ends, n=1)
            advice = (
                f"did you mean {PREFIX}{near[0]}?" if near else "headwater config lists them all"
            )
            raise ConfigurationError(f"{name} is not a setting; {advice}")


def _read(row: Row, text: str) -> object:
    try:
        return row.read(text)
    except ValueError as error:
        raise ConfigurationError(f"{row.variable}={text!r}: expected {error}") from None
