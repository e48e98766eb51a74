"""Lineage backends that take documents: over HTTP, DataZone, Kafka, another Headwater.

    {"to": "openlineage", "address": "https://marquez.example/api/v1/lineage",
     "secret": "env:MARQUEZ_TOKEN", "connections": 2, "rules": {"rules": […]},
     "never_from": ["harvest:datazone"]}

A definition is kept in the database, so it says where the secret is, never what it is. A backend
tells a document that it refuses for good (InvalidInput) from a failure that may pass (Unavailable):
a wrong token or address is one of these, for a refused document would be set aside.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol
from urllib.parse import urlsplit

from collectors.rewriting import read_rules
from graph_model.errors import ConfigurationError, InvalidInput, Unavailable
from graph_model.json_fields import JsonObject
from graph_model.producers.openlineage.events.documents import EVENT_KINDS
from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from graph_model.stores.documents import DocumentKind
from spark_agent_config.delivery.post import seconds_asked

if TYPE_CHECKING:
    import requests

OPENLINEAGE: Final = "openlineage"
GOOGLE: Final = "google"
DATAZONE: Final = "datazone"
KAFKA: Final = "kafka"
HEADWATER: Final = "headwater"
MOST_CONNECTIONS: Final = 16
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")
_DOMAIN: Final = re.compile(r"dzd[-_][a-zA-Z0-9_-]{1,36}")
_GOOGLE_METHOD: Final = ":processOpenLineageRunEvent"
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")
_SECONDS: Final = 30
LONGEST_SEND_SECONDS: Final = 3.0 * _SECONDS
"""To connect, for an answer, and for its text: as a rule a message takes no longer. It is no
deadline: a timeout is that of one address of a name, one write or one read (decision 201)."""
_MOST_REASON: Final = 500
_MOST_SECRET: Final = 65_536
_MOST_READ: Final = 2_000
"""Bytes of an answer; a longer one costs its connection."""
_ERRORS: Final = ("error", "errors", "errorMessage")
_FIELD: Final = re.compile(
    r'[\s,]*("(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")\s*:\s*'
)
"""A field's name, the first of an object or behind the field before."""
_TELLING: Final = re.compile(r'"|[\[{]\s*[^\s\]}]')
_PAGE: Final = ("<!doctype html", "<html")
"""How a sign-in page, a proxy or a web page begins, which have kept nothing."""
_USER_INFO: Final = re.compile(r"//[^/\s@]*@")
_SPLINE_PATHS: Final[Mapping[DocumentKind, str]] = {
    PLAN_KIND: "/producer/execution-plans",
    EVENT_KIND: "/producer/execution-events",
}
_EVENTS_PATH: Final = "/api/v1/lineage"
_REFUSED: Final = frozenset(
    {
        HTTPStatus.BAD_REQUEST,
        HTTPStatus.CONFLICT,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        HTTPStatus.UNPROCESSABLE_ENTITY,
    }
)


class OutgoingMessage(NamedTuple):
    """What is sent at once: the bytes of a JSON document. ``key`` is that of its run."""

    kind: DocumentKind
    api_version: str
    key: str
    body: bytes


class Backend(Protocol):
    """Takes messages, one at a time and thread."""

    def send(self, message: OutgoingMessage) -> None:
        """Raises InvalidInput for a message that is refused for good, Unavailable for a failure
        that may pass.
        """

    def test(self) -> str:
        """The answer that refuses an empty document, "" where nothing is refused or sent: nothing
        stays there. Raises HeadwaterError where there is no answer.
        """


@dataclass(frozen=True, slots=True)
class ForwardTarget:
    """A destination. ``address``: a URL, brokers (Kafka), a domain's id (DataZone); ``region`` and
    ``topic`` for the kinds that have them. ``rules`` as of ``collectors.rewriting``. Documents of
    the principals ``never_from`` are not sent: those that came from there.
    """

    to: str
    address: str
    secret: str = ""
    region: str = ""
    topic: str = ""
    connections: int = 1
    rules: JsonObject = field(default_factory=dict)
    never_from: tuple[str, ...] = ()

    @property
    def translates(self) -> bool:
        """Whether it is sent events of OpenLineage alone; else documents as they came."""
        return self.to != HEADWATER

    @property
    def text(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class BackendLimits:
    """What a kind of backend takes at most; 0: nothing is known."""

    bytes: int = 0
    links: int = 0
    """Inputs times outputs."""


LIMITS: Final[Mapping[str, BackendLimits]] = {
    OPENLINEAGE: BackendLimits(),
    GOOGLE: BackendLimits(bytes=5_000_000, links=1_000),
    DATAZONE: BackendLimits(bytes=300_000),
    KAFKA: BackendLimits(),
    HEADWATER: BackendLimits(),
}


# --- a definition --------------------------------------------------------------------------------


def read_definition(text: str) -> ForwardTarget:
    """A definition as ``text`` of it spells it, checked when it was added: a later version may take
    fewer. Raises ConfigurationError, also for a kind that only a later version knows.
    """
    try:
        fields = json.loads(text)
        fields["never_from"] = tuple(fields["never_from"])
        definition = ForwardTarget(**fields)
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(
            "a destination in the database cannot be read: remove it, and add it again"
        ) from error
    if definition.to not in tuple(LIMITS):
        raise ConfigurationError(
            f"a destination in the database is of the kind {str(definition.to)[:80]!r}, and this "
            f"version knows {', '.join(LIMITS)}: start the version that added it, or remove it"
        )
    return definition


def check_name(name: str) -> None:
    """Raises InvalidInput."""
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            f"name {name[:80]!r}: expected up to 64 lower-case letters, digits, dots, dashes and "
            "underscores"
        )


def checked(definition: ForwardTarget) -> ForwardTarget:
    """Itself; raises InvalidInput with the field and what was expected."""
    if definition.to not in LIMITS:
        raise InvalidInput(f"to {definition.to!r}: expected one of {', '.join(LIMITS)}")
    if not 1 <= definition.connections <= MOST_CONNECTIONS:
        raise InvalidInput(f"connections: expected 1 to {MOST_CONNECTIONS}")
    _check_address(definition)
    _check_secret(definition.secret)
    if bool(definition.topic) != (definition.to == KAFKA):
        raise InvalidInput("topic: expected for kafka, and for no other kind")
    if definition.region and definition.to != DATAZONE:
        raise InvalidInput("region: expected for datazone alone")
    if definition.rules:
        read_rules(definition.rules, holding_back=True)
    return definition


def _check_address(definition: ForwardTarget) -> None:
    address = definition.address
    if definition.to in (OPENLINEAGE, GOOGLE, HEADWATER):
        try:
            parts = urlsplit(address)
            bad = parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0
        except ValueError:
            bad = True
        if bad:
            raise InvalidInput(f"address {_shown(address)!r}: expected an http(s) address")
        if parts.username is not None or parts.password is not None or parts.query:
            raise InvalidInput(
                "address: expected one without user, password and parameters; name the secret "
                "with --secret"
            )
        if definition.to == GOOGLE and not address.endswith(_GOOGLE_METHOD):
            raise InvalidInput(f"address: expected the whole URL, which ends with {_GOOGLE_METHOD}")
    elif definition.to == DATAZONE and not _DOMAIN.fullmatch(address):
        raise InvalidInput("address: expected the id of a domain, as dzd_a1b2 (datazone)")
    elif not address or "@" in address:
        raise InvalidInput("address: expected brokers (kafka)")


def _shown(text: str, secret: str = "") -> str:
    """A line for a list: without the secret and the user of a URL, bounded."""
    hidden = text.replace(secret, "*****") if secret else text
    line = " ".join(_USER_INFO.sub("//", hidden).split())
    return "".join(sign for sign in line if sign.isprintable())[:_MOST_REASON]


def _check_secret(secret: str) -> None:
    form, _, name = secret.partition(":")
    known = (
        (form == "env" and _VARIABLE.fullmatch(name))
        or (form == "file" and name.startswith("/"))
        or (form == "secret" and name)
    )
    if secret and not known:
        raise InvalidInput(
            "secret: expected env:NAME, a variable of the process that sends, file:/PATH, a file "
            "that it reads, or secret:NAME, one in AWS Secrets Manager; never the secret itself"
        )


def read_secret(reference: str, environment: Mapping[str, str] = os.environ) -> str:
    """The secret that a definition refers to; "" for none. Raises Unavailable where it is not."""
    form, _, name = reference.partition(":")
    if not reference:
        return ""
    if form == "env":
        if not environment.get(name):
            raise Unavailable(f"the variable {name} is not set: it has the destination's secret")
        return environment[name]
    if form == "file":
        return _read_file(name)
    import boto3  # 0.2 s
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        client = boto3.session.Session().client("secretsmanager")  # of this thread alone
        text: str = client.get_secret_value(SecretId=name)["SecretString"]
    except (BotoCoreError, ClientError, KeyError) as error:
        raise Unavailable(f"the secret {name} cannot be read", str(error)) from None
    return text


def _read_file(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(_MOST_SECRET + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise Unavailable(f"the file {path} cannot be read", reason) from None
    if not text.strip() or len(text) > _MOST_SECRET:
        raise Unavailable(f"the file {path} has no secret of 1 to {_MOST_SECRET:,} characters")
    return text


def over_limits(to: str, event: Mapping[str, Any], size: int) -> str:
    """Why this kind of backend cannot take an event of so many bytes; "" where it can."""
    limits = LIMITS[to]
    if limits.bytes and size > limits.bytes:
        return (
            f"{size:,} bytes, and {to} takes {limits.bytes:,}: a rule that masks facets makes it "
            "smaller"
        )
    links = len(event.get("inputs") or ()) * len(event.get("outputs") or ())
    if limits.links and links > limits.links:
        return f"{links:,} links of inputs and outputs, and {to} takes {limits.links:,}"
    return ""


# --- the backends --------------------------------------------------------------------------------


def open_backend(definition: ForwardTarget) -> Backend:
    """A backend for one thread. Raises Unavailable where its secret is not to be had, and
    ConfigurationError where a package is missing.
    """
    if definition.to == DATAZONE:
        return DataZone(definition.address, definition.region)
    if definition.to == KAFKA:
        return Kafka(definition.address, definition.topic, read_secret(definition.secret))
    secret = read_secret(definition.secret).strip()
    if not (secret.isascii() and secret.isprintable()):
        raise Unavailable(f"{definition.secret} has characters that no header can carry")
    if definition.to == HEADWATER:
        return HttpBackend(definition.address, _own_path, "X-API-Key", "", secret)
    has_path = urlsplit(definition.address).path.strip("/") != ""
    path = "" if has_path else _EVENTS_PATH
    return HttpBackend(definition.address, lambda _: path, "Authorization", "Bearer ", secret)


def _own_path(kind: DocumentKind) -> str:
    return _EVENTS_PATH if kind in EVENT_KINDS else _SPLINE_PATHS[kind]


class HttpBackend:
    """Posts each message, over one connection that stays open. Redirects are not followed: they
    would take the secret along. Proxies and certificates are those of the environment.
    """

    def __init__(
        self,
        address: str,
        path: Callable[[DocumentKind], str],
        header: str,
        scheme: str,
        secret: str,
    ) -> None:
        import requests

        self._address = address.rstrip("/")
        self._path = path
        self._secret = secret
        self._session = requests.Session()
        self._session.auth = lambda request: request  # no netrc: the secret is the definition's
        self._session.headers["Accept-Encoding"] = "identity"
        if secret:
            self._session.headers[header] = scheme + secret

    def send(self, message: OutgoingMessage) -> None:
        """See Backend."""
        list_of_events = message.kind == EVENT_KIND
        body = b"[" + message.body + b"]" if list_of_events else message.body
        self._post(self._path(message.kind), body, _media_type(message))

    def test(self) -> str:
        """An empty object is refused as a document by whoever takes documents."""
        try:
            self._post(self._path(EVENT_KINDS[0]), b"{}", "application/json")
        except InvalidInput as error:
            return str(error)
        return ""

    def _post(self, path: str, body: bytes, media_type: str) -> None:
        import requests

        try:
            answer = self._session.post(
                self._address + path,
                data=body,
                headers={"Content-Type": media_type},
                timeout=_SECONDS,
                allow_redirects=False,
                stream=True,
            )
        except (requests.RequestException, UnicodeError) as error:
            reason = _shown(f"{type(error).__name__}: {error}", self._secret)
            raise Unavailable(f"no answer ({reason})") from None
        text = _beginning(answer)
        if HTTPStatus.OK <= answer.status_code < HTTPStatus.MULTIPLE_CHOICES:
            if text.lstrip().lower().startswith(_PAGE):
                raise Unavailable("a page of HTML: is the address that of a backend's route?")
            if _tells_an_error(text):
                raise Unavailable(
                    f"an error in a {answer.status_code}: {_shown(text, self._secret)}"
                )
            return
        reason = f"{answer.status_code} {_shown(text, self._secret)}".strip()
        if answer.status_code in _REFUSED:
            raise InvalidInput(reason)
        asked = seconds_asked(answer.headers.get("Retry-After"), answer.headers.get("Date"))
        raise Unavailable(reason, seconds=asked)


def _tells_an_error(text: str) -> bool:
    """Whether the body of a 2xx says that nothing was taken, as what stands in front of a backend
    does: {"errorMessage": "timed out"}. Of one that was not read to its end what is there counts.
    """
    return any(value for name, value in _fields(text.lstrip()) if name in _ERRORS)


def _fields(text: str) -> Iterator[tuple[str, Any]]:
    """Those of a JSON object, which may break off: then the last value is the text of what is left,
    where it begins as a text or as a list or object with something in it.

    {"id": 7, "errorMessage": "time => ("id", 7), ("errorMessage", '"time')
    """
    place = 1 if text.startswith("{") else len(text)
    while field := _FIELD.match(text, place):
        value, end = _read_value(text, field.end())
        if end is None:
            rest = text[field.end() :]
            yield json.loads(field[1]), rest if _TELLING.match(rest) else None
            return
        yield json.loads(field[1]), value
        place = end


def _read_value(text: str, place: int) -> tuple[Any, int | None]:
    """A JSON value and where it ends; None where it breaks off or is none."""
    try:
        return json.JSONDecoder().raw_decode(text, place)
    except (ValueError, RecursionError):
        return None, None


def _beginning(answer: requests.Response) -> str:
    """Of its body, also of one that comes slowly, never ends or breaks off: its status counts."""
    import requests

    text, end = bytearray(), time.monotonic() + _SECONDS
    try:
        for piece in answer.iter_content(1):
            text += piece
            if len(text) >= _MOST_READ or time.monotonic() > end:
                break
    except requests.RequestException:
        pass
    answer.close()  # back to its pool where it was read whole
    return text.decode("utf-8", "replace")


def _media_type(message: OutgoingMessage) -> str:
    """Spline's versions are told by their media types."""
    if message.kind not in _SPLINE_PATHS or message.api_version == "1":
        return "application/json"
    return f"application/vnd.absa.spline.producer.v{message.api_version}+json"


class DataZone:
    """PostLineageEvent of a domain, signed with the credentials of the process. An event that is
    sent again has the same client token, so the domain has it once.
    """

    def __init__(self, domain: str, region: str, client: Any = None) -> None:
        self._domain = domain
        self._client = client or _datazone_client(region)

    def send(self, message: OutgoingMessage) -> None:
        """See Backend. An answer without the event's id is none of the service: what stands in
        front of it has taken nothing.
        """
        from botocore.exceptions import BotoCoreError, ClientError
        from botocore.parsers import ResponseParserError

        token = hashlib.sha256(message.body).hexdigest()
        try:
            answer = self._client.post_lineage_event(
                domainIdentifier=self._domain, event=message.body, clientToken=token
            )
        except ClientError as error:
            code = error.response["Error"]["Code"]
            reason = _shown(f"{code}: {error.response['Error'].get('Message', '')}")
            if code in ("ValidationException", "ConflictException"):
                raise InvalidInput(reason) from None
            headers = error.response["ResponseMetadata"].get("HTTPHeaders", {})
            asked = seconds_asked(headers.get("retry-after"), headers.get("date"))
            raise Unavailable(reason, seconds=asked) from None
        except (BotoCoreError, ResponseParserError) as error:
            raise Unavailable(_shown(str(error))) from None
        if not answer.get("id"):
            raise Unavailable("an answer without the id of an event: is the endpoint DataZone's?")

    def test(self) -> str:
        """See ``HttpBackend.test``."""
        try:
            self.send(OutgoingMessage(EVENT_KINDS[0], "", "", b"{}"))
        except InvalidInput as error:
            return str(error)
        return ""


def _datazone_client(region: str) -> Any:
    import boto3
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError

    config = Config(
        connect_timeout=_SECONDS, read_timeout=_SECONDS, retries={"total_max_attempts": 1}
    )
    try:
        session = boto3.session.Session()  # of this thread alone
        return session.client("datazone", region_name=region or None, config=config)
    except BotoCoreError as error:
        raise Unavailable(str(error)) from None


class Kafka:
    """A record an event, with the run as its key, so that a run keeps its order. ``properties``:
    settings of librdkafka as a JSON object, which the destination's secret holds.
    """

    def __init__(
        self, brokers: str, topic: str, properties: str = "", producer: Any = None
    ) -> None:
        self._topic = topic
        self._producer = producer or _kafka_producer(brokers, properties)

    def send(self, message: OutgoingMessage) -> None:
        """See Backend: returns when the brokers have it."""
        outcomes: list[Any] = []
        try:
            self._producer.produce(
                self._topic,
                value=message.body,
                key=message.key.encode(),
                on_delivery=lambda error, _: outcomes.append(error),
            )
            # Longer than the client tries: what it may still deliver is not sent a second time.
            self._producer.flush(_SECONDS + 5)
        except Exception as error:  # KafkaException, which holds a KafkaError, or BufferError
            outcomes.append(error.args[0] if error.args else error)
        if not outcomes:
            raise Unavailable("the brokers do not answer")
        if outcomes[0] is not None:
            reason = _shown(str(outcomes[0]))
            is_too_large = getattr(outcomes[0], "name", lambda: "")() == "MSG_SIZE_TOO_LARGE"
            raise InvalidInput(reason) if is_too_large else Unavailable(reason)

    def test(self) -> str:
        """See Backend."""
        try:
            self._producer.list_topics(self._topic, timeout=_SECONDS)
        except Exception as error:
            raise Unavailable(f"the brokers do not answer ({error})") from None
        return ""


def _kafka_producer(brokers: str, properties: str) -> Any:
    try:
        from confluent_kafka import Producer
    except ImportError as error:
        raise ConfigurationError("install 'confluent-kafka>=2.11,<3' to send to Kafka") from error
    try:
        own = dict(json.loads(properties)) if properties else {}
    except (ValueError, TypeError):
        raise ConfigurationError(
            "the secret: expected a JSON object of librdkafka's settings"
        ) from None
    fixed = {"bootstrap.servers": brokers, "message.timeout.ms": _SECONDS * 1_000}
    try:
        return Producer({"enable.idempotence": True, **own, **fixed})
    except Exception:  # its text may hold a value
        raise ConfigurationError("the secret: librdkafka refuses one of the settings") from None
