"""The newest values as Prometheus reads them."""

import re
from pathlib import Path

import pytest

from idealrank.store import Store
from tests.store.serve_samples import HOSTILE, client, example_store

_LINE = re.compile(r'([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (\S+)\n')


def samples(text: str) -> dict[tuple[str, str], float]:
    """Every sample by its name and labels; each line is one, or a comment."""
    found = {}
    for line in text.splitlines(keepends=True):
        if line.startswith(("# HELP ", "# TYPE ")):
            continue
        match = _LINE.fullmatch(line)
        assert match is not None, line
        assert (match[1], match[2]) not in found
        found[match[1], match[2] or ""] = float(match[3])
    return found


def test_without_a_store_metrics_say_so() -> None:
    answer = client().get("/metrics")

    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert samples(answer.text) == {("idealrank_store_present", ""): 0.0}


def test_the_newest_value_of_each_run_is_exported(tmp_path: Path) -> None:
    ids = example_store(tmp_path)

    found = samples(client(tmp_path).get("/metrics").text)

    labels = 'convention="standard",measure="nDCG@10",run="neural"'
    with Store.open(tmp_path) as store:
        newest = store.entry(ids["neural"][-1])
    low, value, high = (
        found[f"idealrank_evaluation_value{end}", labels] for end in ("_low", "", "_high")
    )
    assert value == newest.means["nDCG@10"]
    assert low < value < high
    assert found["idealrank_evaluation_scored_queries", 'run="neural"'] == 12
    assert found["idealrank_evaluation_timestamp_seconds", 'run="bm25"'] == pytest.approx(
        1767432600
    )
    assert found["idealrank_entries", 'kind="gate"'] == 1


def test_names_of_runs_are_escaped(tmp_path: Path) -> None:
    example_store(tmp_path, names=(f'{HOSTILE}"\\\n',), days=1)

    found = samples(client(tmp_path).get("/metrics").text)

    assert any(labels.endswith(f'run="{HOSTILE}\\"\\\\\\n"') for _, labels in found)
