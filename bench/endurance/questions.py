"""The questions at each sample, always about the same jobs and tables, and their times."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final
from urllib.parse import quote, urlencode

from bench.endurance.documents import job_name, table
from bench.endurance.samples import Answered
from bench.endurance.year import BEGIN, HOUR_MS, Year
from bench.ingest.service import Service
from bench.openlineage.events import COLUMNS

_DAY_MS: Final = 24 * HOUR_MS
_LIMIT: Final = 2_000
_TIMEOUT: Final = 120.0
_DRAWS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Place:
    """The subjects of a round of questions: a job near the end of chains, one in the middle.

    ``at``: the time up to which runs have been sent, epoch ms.
    """

    job: int
    last: str
    middle: str
    dataset: str
    at: int


def questions() -> dict[str, Callable[[Place], str]]:
    """Name -> the path about a place."""
    return {
        "home": lambda _: "/graph/home",
        "map": lambda _: "/graph/map",
        "overview": lambda _: f"/graph/overview?limit={_LIMIT}",
        "jobs": lambda place: f"/graph/jobs?limit=100&q={_digit(place)}",
        "datasets": lambda place: f"/graph/datasets?limit=100&q={_digit(place)}",
        "search": lambda place: f"/graph/search?q={job_name(place.job)[-4:]}&limit=20",
        **{f"lineage {depth}": _lineage(depth) for depth in (2, 5, 20)},
        **{f"columns {depth}": _columns(depth) for depth in (5, 20)},
        "impact": lambda place: f"/graph/impact?{urlencode({'node': place.middle})}",
        "last writer": lambda place: f"/graph/datasets/{place.dataset}/last-writer",
        "history": lambda place: f"/graph/datasets/{place.dataset}/history?limit=100",
        "diff of a month": _month,
    }


@dataclass(slots=True)
class Asked:
    """The figures of one question: milliseconds, CPU seconds and sizes, over all rounds."""

    times: list[float] = field(default_factory=list)
    cpu: float = 0.0
    size: int = 0

    def answered(self) -> Answered:
        rounds = len(self.times)
        return Answered(
            _share(self.times, 0.5),
            _share(self.times, 0.95),
            round(1000 * self.cpu / rounds, 1),
            round(self.size / rounds, 1),
        )


def ask_all(year: Year, service: Service, hour: int, rounds: int) -> dict[str, Answered]:
    """Each of them so often, in turns; by name. RuntimeError for an answer other than 200."""
    asked = questions()
    noted = {name: Asked() for name in asked}
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=_TIMEOUT)
    for place in _places(year, connection, hour, rounds):
        for name, path in asked.items():
            cpu, began = sum(service.cpu_seconds()), time.perf_counter()
            reply = _ask(connection, path(place))
            noted[name].times.append(1000 * (time.perf_counter() - began))
            noted[name].cpu += sum(service.cpu_seconds()) - cpu
            noted[name].size += _size(reply)
    connection.close()
    return {name: item.answered() for name, item in noted.items()}


def _places(
    year: Year, connection: http.client.HTTPConnection, hour: int, rounds: int
) -> Iterator[Place]:
    chance = Random(year.seed)
    for _ in range(rounds):
        _, last, _ = _draw(year, connection, hour, chance, range(9, 10))
        job, middle, dataset = _draw(year, connection, hour, chance, range(4, 6))
        yield Place(job, last, middle, dataset, BEGIN + hour * HOUR_MS)


def _draw(
    year: Year,
    connection: http.client.HTTPConnection,
    hour: int,
    chance: Random,
    tenths: range,
) -> tuple[int, str, str]:
    """A job of these tenths of the estate, its table and the table's id: the first drawn that is
    known. Others have not run yet, or wait for room in a full graph.
    """
    for _ in range(_DRAWS):
        job = chance.randrange(tenths.start * year.jobs // 10, tenths.stop * year.jobs // 10)
        node = _node(year, job, hour)
        connection.request("GET", f"/graph/lineage?{urlencode({'node': node, 'depth': 0})}")
        answer = connection.getresponse()
        body = answer.read()
        if answer.status == 200:
            return job, node, str(json.loads(body)["nodes"][0]["id"])
    raise RuntimeError(f"no table is known among {_DRAWS} jobs: {body[:300]!r}")


def _node(year: Year, job: int, hour: int) -> str:
    return f"dataset:{quote('/'.join(table(year, job, hour)), safe=':/')}"


def _digit(place: Place) -> str:
    return str(place.job)[:2]


def _lineage(depth: int) -> Callable[[Place], str]:
    way = {"direction": "upstream", "depth": depth, "limit": _LIMIT}
    return lambda place: f"/graph/lineage?{urlencode({'node': place.last, **way})}"


def _columns(depth: int) -> Callable[[Place], str]:
    way = {"direction": "upstream", "depth": depth, "limit": _LIMIT}

    def path(place: Place) -> str:
        column = list(COLUMNS)[place.job % len(COLUMNS)]
        return (
            f"/graph/column-lineage?{urlencode({'dataset': place.last, 'column': column, **way})}"
        )

    return path


def _month(place: Place) -> str:
    asked = {"node": place.last, "from": place.at - 30 * _DAY_MS, "to": place.at, "depth": 2}
    return f"/graph/diff?{urlencode(asked)}"


def _ask(connection: http.client.HTTPConnection, path: str) -> Any:
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise RuntimeError(f"{path} answers {answer.status}: {body[:300]!r}")
    return json.loads(body)


def _size(reply: Any) -> int:
    """Nodes or items; 1 of an answer that is one thing."""
    for name in ("nodes", "items", "areas"):
        if isinstance(reply.get(name), list):
            return len(reply[name])
    return 1


def _share(took: list[float], share: float) -> float:
    return round(sorted(took)[round(share * (len(took) - 1))], 1)
