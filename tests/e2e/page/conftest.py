"""The browser of all tests of the page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.e2e.page.browser import open_browser


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Opened once; each test has a context of its own in it. Not for the whole run: tests of other
    packages use event loops, which cannot run beside that of an open browser.
    """
    with open_browser() as opened:
        yield opened
