"""Commands that serve something, where the packages of the extra `web` are missing."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

# What a plain installation lacks of the extra `web`
HIDDEN = ["starlette", "uvicorn", "jinja2"]
PROGRAM = f"""
import sys

for name in {HIDDEN!r}:
    sys.modules[name] = None
from idealrank.cli.main import main

main(sys.argv[1:])
"""


def said(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_serve_names_the_extra_that_is_missing(tmp_path: Path) -> None:
    done = said(tmp_path, "serve", "--store", "results")

    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert "[web]" in done.stderr


def test_a_page_to_label_names_the_extra_that_is_missing(tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text("query,document\nq1,d1\n", encoding="utf-8")

    done = said(tmp_path, "judge", "ui", "pairs.csv", "--output", "labels")

    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("options", [["--check"], ["--once"]])
def test_a_monitor_needs_no_web_server(tmp_path: Path, options: list[str]) -> None:
    made = [sys.executable, ROOT / "examples" / "canary" / "shop.py", "shop"]
    subprocess.run(made, cwd=tmp_path, check=True, capture_output=True)
    (tmp_path / "monitor.json").write_text(
        """{"name": "shop", "store": "shop/store", "limit": 10, "every": "5s",
        "backend": {"kind": "sqlite-fts5", "path": "shop/shop.db", "table": "documents",
        "id": "id"},
        "queries": "shop/queries.tsv", "qrels": "shop/qrels.txt",
        "evaluation": {"measures": ["nDCG@10"]},
        "alarms": [{"kind": "threshold", "name": "floor", "least": 0.1}]}""",
        encoding="utf-8",
    )

    done = said(tmp_path, "monitor", "monitor.json", *options)

    assert done.returncode == 0, done.stderr
