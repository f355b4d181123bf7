"""The search over `examples/pydocs` has the numbers that the pages show, on the Python whose
documentation was judged.
"""

import json
import platform
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT
from tests.in_process import run

PYDOCS = ROOT / "examples" / "pydocs"


@pytest.mark.slow
def test_pages_show_the_numbers_of_the_search(tmp_path: Path) -> None:
    collection = json.loads((PYDOCS / "collection.json").read_text())
    if platform.python_version() != collection["python"]:
        pytest.skip(f"the judged documents belong to Python {collection['python']}")
    path = tmp_path / "pydocs.db"
    subprocess.run(
        [sys.executable, PYDOCS / "search_index.py", path], check=True, capture_output=True
    )
    with sqlite3.connect(path) as database:
        assert database.execute("SELECT count(*) FROM documents").fetchone() == (
            collection["documents"],
        )
    database.close()
    config = (
        (PYDOCS / "search.yaml")
        .read_text()
        .replace("pydocs.db", str(path))
        .replace("examples/pydocs", str(PYDOCS))
    )
    (tmp_path / "search.yaml").write_text(config)
    code, out, err = run(["search", str(tmp_path / "search.yaml"), "-o", str(tmp_path / "runs")])
    assert code == 0, err
    counted = [line.split()[:10] for line in out.splitlines()[1:4]]
    for page in ("README.md", "docs/live/search.md"):
        shown = [
            line.split()[:10]
            for line in (ROOT / page).read_text().splitlines()
            if line.startswith(("any-word ", "all-words ", "name-first "))
        ]
        assert shown == counted[: len(shown)]
        assert len(shown) >= 2
