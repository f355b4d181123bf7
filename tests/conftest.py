"""Where data lie: the demo's collection in the checkout, and material of others beside it that some tests check against."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"
PYDOCS = ROOT / "examples" / "pydocs"


def shared_file(*parts: str) -> Path:
    """A file of the material beside the checkout; skips the test where it is absent."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"../shared/{'/'.join(parts)} is not here; it is data of others for checking, not part of the project")
    return path
