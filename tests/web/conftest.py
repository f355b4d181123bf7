"""One browser for all tests of a process, and a reader that fails a test whose page did what no page may do."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.web import browsing

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """Starting costs more than a second, a page of its own context a few hundredths."""
    yield from browsing.launched()


@pytest.fixture
def visits(browser: "Browser", tmp_path: Path) -> Iterator[browsing.Visits]:
    """Opens pages; what they did wrong is for the test to look at."""
    opened = browsing.Visits(browser, tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def visit(visits: browsing.Visits) -> Iterator[browsing.Visits]:
    """Opens pages, and fails the test if any did wrong."""
    yield visits
    assert not visits.faults, "\n".join(visits.faults)
