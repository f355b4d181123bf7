"""The page of edge cases is the one that its script writes from the recorded values."""

import subprocess
import sys

from tests.conftest import ROOT


def test_the_page_of_edge_cases_is_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "docs" / "edge_cases.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
