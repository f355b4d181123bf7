"""What all tests share: where the data lie, and which tests need more than the default installation."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"


def pytest_configure(config: pytest.Config) -> None:
    """Name the markers of this suite."""
    config.addinivalue_line("markers", "peers: needs a peer that the default installation lacks; run by `make test-peers`")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave tests of heavy peers out unless they are asked for with ``-m peers``."""
    if "peers" in config.getoption("markexpr", ""):
        return
    reason = pytest.mark.skip(reason="compares with a peer that is not in the default installation; make test-peers runs it")
    for item in items:
        if item.get_closest_marker("peers"):
            item.add_marker(reason)


def shared_file(*parts: str) -> Path:
    """A file of the material beside the checkout; skips the test where it is absent."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"../shared/{'/'.join(parts)} is not here; it is data of others for checking, not part of the project")
    return path
