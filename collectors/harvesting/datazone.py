"""The lineage events of an Amazon DataZone domain: ListLineageEvents, GetLineageEvent.

    domain -> events by time, oldest first -> those that name what the pattern fits -> as they are

DataZone keeps the events that it was sent, so they are journalled unchanged: the same event that
was sent here as well is known to the journal. A domain of another Headwater is read alike
(``AWS_ENDPOINT_URL_DATAZONE``).
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, Final

from collectors.harvesting.amazon import (
    is_absent,
    milliseconds,
    open_client,
    pages_of,
    requests_to,
)
from collectors.harvesting.rounds import Event, Harvested
from graph_model.errors import HeadwaterError

_DAY: Final = 86_400_000
_PAGE: Final = 50
_SERVICE: Final = "DataZone"
_SENDERS_TIME: Final = 7 * _DAY


class DataZoneEvents:
    """A HarvestSource: the events of one domain whose job, input or output has a name that fits
    ``pattern`` (``*`` and ``?`` as in names of files).

    ``overlap``: an event is listed by its own time, which may be older than its receipt; one that
    is sent later than a week after its time is missed, unless an earlier --since asks for it.
    """

    name = "datazone"
    overlap: int | None = _SENDERS_TIME
    kept: int | None = None

    def __init__(self, region: str, domain: str, pattern: str) -> None:
        self._client = open_client("datazone", region)
        self._domain = domain
        self._pattern = pattern

    def settings(self) -> Mapping[str, str]:
        return {
            "endpoint": self._client.meta.endpoint_url,
            "domain": self._domain,
            "names": self._pattern,
        }

    def findings(self, since: int, known: Container[str]) -> Iterator[Harvested]:
        for page in pages_of(_SERVICE, partial(self._page, since)):
            for item in page["items"]:
                if item["id"] not in known and "eventTime" in item and self._fits(item):
                    events = partial(self._events, item["id"])
                    yield Harvested(item["id"], milliseconds(item["eventTime"]), events)

    def _page(self, since: int, **token: str) -> Mapping[str, Any]:
        following = {"nextToken": token["NextToken"]} if token else {}
        reply = self._client.list_lineage_events(
            domainIdentifier=self._domain,
            maxResults=_PAGE,
            sortOrder="ASCENDING",
            # The bound itself is left out by the service.
            timestampAfter=datetime.fromtimestamp(max(since - 1, 0) / 1000, UTC),
            **following,
        )
        return {"items": reply.get("items", []), "NextToken": reply.get("nextToken", "")}

    def _fits(self, item: Mapping[str, Any]) -> bool:
        """Whether one of the names fits; what has no summary is taken."""
        summary = item.get("eventSummary", {}).get("openLineageRunEventSummary")
        if summary is None:
            return True
        named = (summary.get("job", {}), *summary.get("inputs", ()), *summary.get("outputs", ()))
        return any(fnmatchcase(entity.get("name", ""), self._pattern) for entity in named)

    def _events(self, key: str) -> Sequence[Event]:
        """The event as it was sent; none where it was deleted meanwhile."""
        try:
            with requests_to(_SERVICE):
                reply = self._client.get_lineage_event(
                    domainIdentifier=self._domain, identifier=key
                )
                event = json.loads(reply["event"].read())
        except HeadwaterError as error:
            if is_absent(error):
                return ()
            raise
        except ValueError as error:
            raise HeadwaterError(f"{_SERVICE}: the event {key} is no JSON") from error
        return (event,)
