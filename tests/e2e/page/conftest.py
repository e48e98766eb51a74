"""What tests of the page share: the browser, a server of fixtures, a page of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page

from tests.e2e.page import fake_api
from tests.e2e.page.browser import open_browser, open_page
from tests.e2e.page.fake_api import FakeApi


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Opened once. Not for the whole run: tests of other packages use event loops, which cannot run
    beside that of an open browser.
    """
    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="package")
def server() -> Iterator[FakeApi]:
    started = fake_api.start()
    yield started
    started.stop()


@pytest.fixture
def api(server: FakeApi) -> FakeApi:
    server.play("usual")
    return server


@pytest.fixture
def page(browser: Browser, api: FakeApi) -> Iterator[Page]:
    """A blank page of the server of fixtures; whatever it complains of fails the test."""
    with _page_of(browser, api, own=False) as opened:
        yield opened


@pytest.fixture
def own_page(browser: Browser, api: FakeApi) -> Iterator[Page]:
    """The same in a window that no other test has, for what a page keeps (see open_page)."""
    with _page_of(browser, api, own=True) as opened:
        yield opened


@contextmanager
def _page_of(browser: Browser, api: FakeApi, *, own: bool) -> Iterator[Page]:
    complaints: list[str] = []

    def hear(said: ConsoleMessage) -> None:
        """Refused requests are part of some tests; every other error or warning is a complaint."""
        expected = "Failed to load resource" in said.text
        if said.type in ("error", "warning") and not expected:
            complaints.append(said.text)

    def object_to(dialog: Dialog) -> None:
        complaints.append(dialog.message)

    with open_page(
        browser, api.url, own=own,
        locale="en-GB", timezone_id="Europe/Berlin", color_scheme="light",
    ) as opened:  # fmt: skip
        opened.on("console", hear)
        opened.on("dialog", object_to)
        yield opened
        opened.remove_listener("console", hear)
        opened.remove_listener("dialog", object_to)
    assert complaints == []
