"""The result of a rebuild -> a graph and a catalogue, through the stores, or Neptune.

The stores serve graphs without a bulk loader, and prove that a rebuild equals the service's
projection: every file is read as Neptune's loader would read it, and the hashes of the stores are
compared.

The catalogue's rows of a rebuild -> the database of a service, as its catalogue in force.

Neptune's bulk loader takes vertices, then edges, and is watched until both have ended. Edges wait
for their vertices in the loader's own queue (``dependencies``), so both jobs are handed over before
the first has begun.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from graph_model import identity
from graph_model.errors import ConfigurationError, HeadwaterError, InvalidInput, Unavailable
from graph_model.facts import Facts, Row
from graph_model.projection.projector import EPOCH_KEY
from graph_model.projection.run_window import RUNS_KEY
from graph_model.stores.aws import LargeBodies, open_bodies
from graph_model.stores.catalogue import Catalogue, Generations
from graph_model.stores.database import Database, claim_database
from graph_model.stores.documents import DocumentState
from graph_model.stores.graph import Graph, elements_digest
from graph_model.stores.journal import NEW_KEY, Journal, read_meta
from graph_model.stores.journal.stored_bodies import PLACE_KEY, keep_large
from graph_model.values import batched
from pipeline.records import EDGES, VERTICES
from pipeline.result import Manifest, Result

_ELEMENTS: Final = 5_000
_ROWS: Final = 10_000

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Loaded:
    """The content of the stores now. ``whole`` is the hash that ``headwater rebuild`` prints."""

    vertices: int
    edges: int
    rows: int
    elements_digest: str
    catalogue_digest: str

    @property
    def whole(self) -> str:
        return identity.digest(self.elements_digest, self.catalogue_digest)


def load(
    result: Result, graph: Graph, catalogue: Catalogue, say: Say, *, empty_strings: bool = True
) -> Loaded:
    """Load everything into an empty graph and an empty catalogue.

    Raises ConfigurationError if the graph or the catalogue is not empty, InvalidInput for files
    that the loader would refuse, or that differ from the manifest.
    """
    if graph.count() != (0, 0) or next(catalogue.scan(), None) is not None:
        raise ConfigurationError("the graph and the catalogue to load into must be empty")
    manifest = result.manifest()
    load_graph(result, graph, say, empty_strings=empty_strings)
    rows = load_rows(result, catalogue.record, say)
    counted = graph.count()
    loaded = Loaded(*counted, rows, elements_digest(graph.scan()), catalogue.digest())
    check(loaded, manifest)
    return loaded


def load_graph(result: Result, graph: Graph, say: Say, *, empty_strings: bool = True) -> None:
    """All vertices, then all edges: no query runs while the graph is loaded."""
    done = 0
    for vertices in batched(result.vertices(empty_strings=empty_strings), _ELEMENTS):
        graph.write(Facts(vertices=tuple(vertices)))
        done += len(vertices)
    say(f"{done:,} vertices loaded")
    done = 0
    for edges in batched(result.edges(empty_strings=empty_strings), _ELEMENTS):
        graph.write(Facts(edges=tuple(edges)))
        done += len(edges)
    say(f"{done:,} edges loaded")


def load_rows(result: Result, add: Callable[[Sequence[Row]], None], say: Say) -> int:
    """All rows, thousands in one call of ``add``, a transaction each; how many."""
    done = 0
    for rows in batched(result.rows(), _ROWS):
        add(rows)
        done += len(rows)
    say(f"{done:,} rows loaded")
    return done


def check(loaded: Loaded, manifest: Manifest) -> None:
    """Raises InvalidInput if the stores differ from the manifest."""
    expected = (*manifest.elements, manifest.row_count, manifest.elements_digest)
    stored = (loaded.vertices, loaded.edges, loaded.rows, loaded.elements_digest)
    if stored != expected:
        raise InvalidInput(f"loaded {stored}, the manifest says {expected}")


def place_catalogue(result: Result, database: Database, say: Say, *, in_force: bool) -> str:
    """Load all rows into the next catalogue of this database; the hash over it.

    With ``in_force`` it takes the place of the one in force, documents that came after the rebuild
    are projected by the next service, and no others. No service may run on the database.
    Raises InvalidInput for rows of other tables than this Headwater's, or of another number.
    """
    manifest = result.manifest()
    if place := read_meta(database, PLACE_KEY):  # no body is read or written here
        keep_large(database, LargeBodies(open_bodies(place), sys.maxsize))
    journal = Journal(database)
    generations = Generations(database, journal)
    if manifest.catalogue_version != generations.version:
        raise InvalidInput(
            f"the rows are of version {manifest.catalogue_version}, this Headwater's tables of "
            f"{generations.version}: rebuild with this one"
        )
    with claim_database(database, shared=False) as alone:
        if not alone:
            raise ConfigurationError("a running Headwater uses this database: stop it first")
        catalogue = generations.begin()
        try:
            rows = load_rows(result, catalogue.copy, say)
            if rows != manifest.row_count:
                raise InvalidInput(f"{rows:,} rows, the manifest says {manifest.row_count:,}")
            digest = catalogue.digest()
            if in_force:
                generations.switch()
                _remember(journal, manifest)
                generations.drop_former()
                say("in force: the next headwater serve goes on from here")
        finally:
            generations.close()
    return digest


def _remember(journal: Journal, manifest: Manifest) -> None:
    """Note the projected position in the journal; later documents are to be projected again."""
    journal.reopen(
        states=(DocumentState.PROJECTED, DocumentState.WAITING),
        first=manifest.journal.last_position + 1,
    )
    journal.set_meta(NEW_KEY, "")  # catalogue and graph are made from it, so nothing is foreign
    journal.set_meta(EPOCH_KEY, manifest.epoch)
    journal.set_meta(RUNS_KEY, manifest.graph_runs)  # the next start compares it with its setting


# --- Neptune's bulk loader -----------------------------------------------------------------------

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
        from botocore.exceptions import BotoCoreError, ClientError

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
