"""Neptune's bulk loader: vertices, then edges, watched until both have ended.

``client`` is boto3's ``neptunedata``. Edges wait for their vertices in the loader's own queue
(``dependencies``), so both jobs are handed over before the first has begun.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from botocore.exceptions import BotoCoreError, ClientError

from graph_model.errors import ConfigurationError, HeadwaterError, Unavailable
from pipeline.bulk_files import EDGES, VERTICES

PARALLELISM: Final = ("LOW", "MEDIUM", "HIGH", "OVERSUBSCRIBE")
COMPLETED: Final = "LOAD_COMPLETED"
#: A load that has not ended is in one of these.
_UNDER_WAY: Final = frozenset({"LOAD_NOT_STARTED", "LOAD_IN_QUEUE", "LOAD_IN_PROGRESS"})
#: These pass. A queue that is full (64 loads) is a TooManyRequestsException.
_PASSING: Final = frozenset(
    {
        "TooManyRequestsException",
        "ThrottlingException",
        "ClientTimeoutException",
        "InternalFailureException",
        "ConcurrentModificationException",
        "ServerShutdownException",
    }
)
_ATTEMPTS: Final = 6
_FIRST_PAUSE_SECONDS: Final = 1.0
_ERRORS_A_PAGE: Final = 100
_ERRORS_SHOWN: Final = 20

Say = Callable[[str], None]
Sleep = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """``source`` is the ``s3://`` prefix of a rebuild. ``fail_on_error`` stops at the first error;
    without it all loadable lines are loaded.
    """

    source: str
    region: str
    role: str
    parallelism: str = "HIGH"
    fail_on_error: bool = True

    def __post_init__(self) -> None:
        if urlsplit(self.source).scheme not in ("s3", "s3a"):
            raise ConfigurationError(f"{self.source}: Neptune loads from s3:// alone")
        if self.parallelism not in PARALLELISM:
            raise ConfigurationError(f"parallelism: expected one of {', '.join(PARALLELISM)}")

    def parameters(self, part: str, after: tuple[str, ...]) -> dict[str, Any]:
        """Of StartLoaderJob. NEW: AUTO would leave out a prefix that it has loaded before."""
        url = urlsplit(self.source)
        return {
            "source": f"s3://{url.netloc}/{'/'.join(filter(None, (url.path.strip('/'), part)))}/",
            "format": "csv",
            "s3BucketRegion": self.region,
            "iamRoleArn": self.role,
            "mode": "NEW",
            "failOnError": self.fail_on_error,
            "parallelism": self.parallelism,
            # An empty scope is a value, not the want of one.
            "parserConfiguration": {"allowEmptyStrings": "true"},
            # A fact never changes: a value other than the stored one is an error to be shown.
            "updateSingleCardinalityProperties": False,
            "queueRequest": True,
            **({"dependencies": list(after)} if after else {}),
        }


@dataclass(frozen=True, slots=True)
class LoadStatus:
    """How far one load is. ``errors`` counts all kinds of them."""

    status: str
    records: int
    duplicates: int
    errors: int
    seconds: int

    @property
    def ended(self) -> bool:
        return self.status not in _UNDER_WAY

    def __str__(self) -> str:
        return (
            f"{self.status}: {self.records:,} records in {self.seconds:,} s, "
            f"{self.duplicates:,} duplicates, {self.errors:,} errors"
        )


class BulkLoad:
    """Both loads of one rebuild."""

    def __init__(self, client: Any, say: Say, sleep: Sleep, *, every_seconds: float = 10.0) -> None:
        self._client = client
        self._say = say
        self._sleep = sleep
        self._every_seconds = every_seconds

    def run(self, request: LoadRequest) -> None:
        """Load vertices and edges. Raises HeadwaterError, after telling the errors, where one of
        them has not completed; Unavailable where Neptune does not answer.
        """
        vertices = self._start(request, VERTICES, ())
        edges = self._start(request, EDGES, (vertices,))
        self._say(f"interrupted, go on watching with --resume {vertices},{edges}")
        self.watch(vertices, edges)

    def watch(self, vertices: str, edges: str) -> None:
        """Watch two loads that were started before, until both have ended. Raises as ``run``."""
        ended = {part: self._wait(part, at) for part, at in ((VERTICES, vertices), (EDGES, edges))}
        wrong = [f"{part}: {status}" for part, status in ended.items() if not _is_well(status)]
        if wrong:
            raise HeadwaterError(f"the bulk load has not completed: {'; '.join(wrong)}")

    def _start(self, request: LoadRequest, part: str, after: tuple[str, ...]) -> str:
        answer = self._ask("start_loader_job", request.parameters(part, after))
        identifier = str(answer["payload"]["loadId"])
        self._say(f"{part}: load {identifier} of {request.parameters(part, after)['source']}")
        return identifier

    def _wait(self, part: str, identifier: str) -> LoadStatus:
        shown = ""
        while True:
            status = self.status(identifier)
            if (text := f"{part}: {status}") != shown:
                self._say(text)
                shown = text
            if status.ended:
                if not _is_well(status):
                    for line in self.errors(identifier):
                        self._say(f"{part}: {line}")
                return status
            self._sleep(self._every_seconds)

    def status(self, identifier: str) -> LoadStatus:
        """How far this load is."""
        overall = self._payload(identifier, {})["overallStatus"]
        kinds = ("parsingErrors", "datatypeMismatchErrors", "insertErrors")
        return LoadStatus(
            str(overall["status"]),
            int(overall.get("totalRecords", 0)),
            int(overall.get("totalDuplicates", 0)),
            sum(int(overall.get(kind, 0)) for kind in kinds),
            int(overall.get("totalTimeSpent", 0)),
        )

    def errors(self, identifier: str) -> Iterator[str]:
        """The first errors of a load, and which of its files have failed."""
        payload = self._payload(
            identifier,
            {"details": True, "errors": True, "page": 1, "errorsPerPage": _ERRORS_A_PAGE},
        )
        for feed in payload.get("failedFeeds") or ():
            yield f"{feed.get('fullUri')}: {feed.get('status')}"
        for error in ((payload.get("errors") or {}).get("errorLogs") or ())[:_ERRORS_SHOWN]:
            place = f"{error.get('fileName')}, record {error.get('recordNum')}"
            yield f"{error.get('errorCode')}: {error.get('errorMessage')} ({place})"

    def _payload(self, identifier: str, more: Mapping[str, Any]) -> Mapping[str, Any]:
        payload: Mapping[str, Any] = self._ask(
            "get_loader_job_status", {"loadId": identifier, **more}
        )["payload"]
        return payload

    def _ask(self, operation: str, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
        """Send a request, and again after a passing error."""
        pause = _FIRST_PAUSE_SECONDS
        for left in reversed(range(_ATTEMPTS)):
            try:
                answer: Mapping[str, Any] = getattr(self._client, operation)(**parameters)
                return answer
            except ClientError as error:
                code = error.response.get("Error", {}).get("Code", "")
                if code not in _PASSING:
                    raise HeadwaterError(f"Neptune refuses {operation}: {error}") from error
                failure: Exception = error
            except BotoCoreError as error:
                if operation == "start_loader_job":  # it may have begun: twice is for people to say
                    raise Unavailable(f"Neptune does not answer: {error}") from error
                failure = error
            if left:
                self._say(f"Neptune is busy, asked again in {pause:.0f} s: {failure}")
                self._sleep(pause)
                pause *= 2
        raise Unavailable(f"Neptune does not take {operation}: {failure}") from failure


def _is_well(status: LoadStatus) -> bool:
    return status.status == COMPLETED and status.errors == 0


def open_client(endpoint: str, region: str) -> Any:
    """boto3's client for ``https://host:8182``, with the credentials of the environment."""
    import boto3

    url = endpoint if "://" in endpoint else f"https://{endpoint}"
    return boto3.client("neptunedata", endpoint_url=url, region_name=region)
