"""Posts documents off the job's path: a bounded queue, one daemon thread, and quiet failure.

Nothing here ever raises into the job or makes it wait: when the queue is full a document is
dropped and counted; when the server is away one warning is logged, not one per query.
"""

from __future__ import annotations

import gzip
import json
import logging
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any, Final, Generic, TypeVar

Item = TypeVar("Item")
_LOG: Final = logging.getLogger(__name__)

CONTENT_TYPE: Final = "application/vnd.absa.spline.producer.v1.2+json"
GZIP_ABOVE_BYTES: Final = 2048
_RETRIED_STATUSES: Final = frozenset({408, 425, 429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class Post:
    """One request: a resource of the producer API and the document to send."""

    resource: str
    document: Any


class Away(Exception):
    """The server cannot be reached now, or asks to come back later."""


class Refused(Exception):
    """The server will not take this document; asking again would not help."""


class HttpSender:
    """Posts one document. Raises Away or Refused, nothing else.

    ``url`` is the producer's base; ``timeout`` is in seconds, for connecting and for each read.
    Redirects are refusals: following one would turn the POST into a GET and lose the document.
    """

    def __init__(self, url: str, headers: Mapping[str, str], timeout: float = 10.0) -> None:
        self._url = url.rstrip("/")
        self._headers = dict(headers)
        self._timeout = timeout
        handlers: list[urllib.request.BaseHandler] = [_NoRedirect()]
        if urllib.parse.urlsplit(url).hostname in {"127.0.0.1", "localhost", "::1"}:
            handlers.append(urllib.request.ProxyHandler({}))
        self._opener = urllib.request.build_opener(*handlers)

    def __call__(self, post: Post) -> None:
        request = self._request(post)
        try:
            with self._opener.open(request, timeout=self._timeout) as reply:
                reply.read()
        except urllib.error.HTTPError as error:
            with error:
                if error.code in _RETRIED_STATUSES:
                    raise Away(f"{request.full_url} answered {error.code}") from None
                detail = error.read(500).decode("utf-8", "replace").strip()
            raise Refused(f"{request.full_url} answered {error.code}: {detail}") from None
        except (OSError, HTTPException) as error:
            raise Away(f"{request.full_url}: {error}") from None

    def _request(self, post: Post) -> urllib.request.Request:
        body = json.dumps(post.document, separators=(",", ":"), ensure_ascii=False).encode()
        headers = {**self._headers, "Content-Type": CONTENT_TYPE}
        if len(body) > GZIP_ABOVE_BYTES:
            body = gzip.compress(body, compresslevel=5, mtime=0)
            headers["Content-Encoding"] = "gzip"
        return urllib.request.Request(  # noqa: S310 (the scheme is checked by the listener)
            f"{self._url}/{post.resource}", data=body, headers=headers, method="POST"
        )


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """None makes urllib report the redirect as the error that it is here."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What became of the items so far. ``dropped`` never reached the server."""

    delivered: int
    dropped: int
    waiting: int


class Outbox(Generic[Item]):
    """A bounded queue with one thread behind it.

    ``prepare`` turns an item into posts (in the thread: conversion costs the job nothing);
    ``send`` posts one. An item is tried ``attempts`` times with growing pauses, then dropped.
    Items keep their order.
    """

    def __init__(
        self,
        prepare: Callable[[Item], Sequence[Post]],
        send: Callable[[Post], None],
        *,
        capacity: int = 500,
        attempts: int = 5,
        first_pause: float = 0.5,
        longest_pause: float = 8.0,
    ) -> None:
        self._prepare = prepare
        self._send = send
        self._capacity = capacity
        self._attempts = attempts
        self._pauses = (first_pause, longest_pause)
        self._items: deque[Item] = deque()
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._busy = False
        self._delivered = self._dropped = 0
        self._warned: set[str] = set()
        self._thread: threading.Thread | None = None

    def offer(self, item: Item) -> bool:
        """Queue the item without waiting; False when there is no room or the outbox is closed."""
        with self._changed:
            if self._closing.is_set() or len(self._items) >= self._capacity:
                self._dropped += 1
                self._warn("full", "Lineage is dropped: %d documents wait already", self._capacity)
                return False
            self._items.append(item)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="headwater-outbox", daemon=True
                )
                self._thread.start()
            self._changed.notify_all()
        return True

    def flush(self, timeout: float) -> bool:
        """Wait until everything queued is posted or dropped; False after ``timeout`` seconds."""
        deadline = time.monotonic() + timeout
        with self._changed:
            while self._items or self._busy:
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                self._changed.wait(left)
        return True

    def close(self, timeout: float) -> bool:
        """Take nothing more; try what is left once, without pauses, for ``timeout`` seconds."""
        with self._changed:
            self._closing.set()
            self._changed.notify_all()
        return self.flush(timeout)

    def counts(self) -> Counts:
        with self._changed:
            waiting = len(self._items) + self._busy
            return Counts(self._delivered, self._dropped, waiting)

    # --- the thread ----------------------------------------------------------------------------

    def _run(self) -> None:
        while (item := self._next()) is not None:
            try:
                done = self._deliver(item)
            except Exception as error:  # a bug of ours must not end the thread
                done = False
                self._warn(f"bug:{type(error).__name__}", "Lineage of a query is lost: %r", error)
            with self._changed:
                self._busy = False
                self._delivered += done
                self._dropped += not done
                self._changed.notify_all()

    def _next(self) -> Item | None:
        with self._changed:
            while not self._items:
                if self._closing.is_set():
                    return None
                self._changed.wait()
            self._busy = True
            return self._items.popleft()

    def _deliver(self, item: Item) -> bool:
        try:
            for post in self._prepare(item):
                self._send_with_patience(post)
        except Away as error:
            self._warn("away", "Lineage is not delivered, the job goes on: %s", error)
            return False
        except Refused as error:
            self._warn(f"refused:{str(error)[:80]}", "Lineage is refused: %s", error)
            return False
        self._warned.discard("away")
        return True

    def _send_with_patience(self, post: Post) -> None:
        pause, longest = self._pauses
        for attempt in range(1, self._attempts + 1):
            try:
                return self._send(post)
            except Away:
                if attempt == self._attempts or self._closing.is_set():
                    raise
                # After a failed item the next ones are tried once: a long outage drains fast.
                if "away" in self._warned:
                    raise
            self._closing.wait(pause)
            pause = min(pause * 2, longest)
        return None

    def _warn(self, kind: str, message: str, *values: object) -> None:
        """One line per kind of trouble; trouble that went away may be told again."""
        if kind not in self._warned:
            self._warned.add(kind)
            _LOG.warning(message, *values)
