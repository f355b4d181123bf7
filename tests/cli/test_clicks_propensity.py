"""`idealrank clicks propensity` of logs that say too little: no made-up interval, and one sentence that says why."""

from collections.abc import Callable
from pathlib import Path

import pytest

from idealrank.clicks import Sessions, simulate
from tests.cli.terminal import Said

Say = Callable[..., Said]
METHODS = ["em", "all-pairs", "pivot", "trust"]


def written(log: Sessions, folder: Path) -> str:
    """Name of a file with the rows of a log."""
    rows = [
        f"s{row},{log.documents[pair][0]},{log.documents[pair][1]},{rank},{int(click)}\n"
        for row, (pairs, clicks) in enumerate(zip(log.pair, log.clicks, strict=True))
        for rank, (pair, click) in enumerate(zip(pairs, clicks, strict=True), 1)
    ]
    (folder / "log.csv").write_text(f"session,query,document,rank,click\n{''.join(rows)}", encoding="utf-8")
    return "log.csv"


def the_warning(said: Said) -> str:
    """The only line on stderr, as one line."""
    text = " ".join(said.err.split())
    assert text.startswith("warning: ")
    assert text.count("warning: ") == 1
    assert "RuntimeWarning" not in text
    return text


@pytest.mark.parametrize("method", METHODS)
def test_one_query_has_no_interval_and_one_warning(say: Say, tmp_path: Path, method: str) -> None:
    log = simulate([[0.9, 0.6, 0.4, 0.2]], 600, ranks=3, policy="random", rng=4)
    said = say("clicks", "propensity", written(log, tmp_path), "--method", method, cwd=tmp_path)
    assert said.code == 0
    assert "only one query compares this rank with others" in the_warning(said)
    assert "log more queries" in said.err.replace("\n", " ")
    assert "[" not in said.out
    assert "trust bias: an offset is not 0" not in said.out
