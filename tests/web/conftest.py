"""One browser for all tests of a process, and a reader that fails a test whose page did what no
page may do.
"""

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


@pytest.fixture(scope="session")
def tabs(browser: "Browser") -> browsing.Tabs:
    """Shared by all pages that keep the rules."""
    return browsing.Tabs(browser)


@pytest.fixture(scope="session")
def pages_kept(
    browser: "Browser", tabs: browsing.Tabs, tmp_path_factory: pytest.TempPathFactory
) -> browsing.Shared:
    """What `shared` hands out."""
    return browsing.Shared(browser, tmp_path_factory.mktemp("shared"), tabs)


@pytest.fixture
def shared(pages_kept: browsing.Shared) -> Iterator[browsing.Shared]:
    """Opens reports that other tests of the process have used, as new, and fails the test if any
    did wrong meanwhile.
    """
    yield pages_kept
    faults = "\n".join(pages_kept.faults)
    if faults:
        pages_kept.forget()
    assert not faults, faults


@pytest.fixture
def visits(browser: "Browser", tabs: browsing.Tabs, tmp_path: Path) -> Iterator[browsing.Visits]:
    """Opens pages; what they did wrong is for the test to look at."""
    opened = browsing.Visits(browser, tmp_path, tabs)
    yield opened
    opened.close()


@pytest.fixture
def visit(visits: browsing.Visits) -> Iterator[browsing.Visits]:
    """Opens pages, and fails the test if any did wrong."""
    yield visits
    visits.close()
    assert not visits.faults, "\n".join(visits.faults)
