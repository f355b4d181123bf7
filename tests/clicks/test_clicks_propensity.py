"""`idealrank clicks propensity` of logs that say too little: no made-up interval, and one sentence
that says why.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
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
    (folder / "log.csv").write_text(
        f"session,query,document,rank,click\n{''.join(rows)}", encoding="utf-8"
    )
    return "log.csv"


def the_warning(output: Said) -> str:
    """The only line on stderr, as one line."""
    text = " ".join(output.err.split())
    assert text.startswith("warning: ")
    assert text.count("warning: ") == 1
    assert "RuntimeWarning" not in text
    return text


@pytest.mark.parametrize("method", METHODS)
def test_one_query_has_no_interval_and_one_warning(say: Say, tmp_path: Path, method: str) -> None:
    log = simulate([[0.9, 0.6, 0.4, 0.2]], 600, ranks=3, policy="random", rng=4)
    output = say("clicks", "propensity", written(log, tmp_path), "--method", method, cwd=tmp_path)
    assert output.code == 0
    assert "only one query links this rank with the first" in the_warning(output)
    assert "log more queries" in output.err.replace("\n", " ")
    assert "[" not in output.out
    assert "trust bias: an offset is not 0" not in output.out


def shop(*unclicked: int) -> Sessions:
    """Lists in random order, without the clicks at some ranks."""
    log = simulate(
        np.random.default_rng(1).beta(1, 1, (5, 3)), 600, ranks=3, policy="random", rng=4
    )
    clicks = log.clicks.copy()
    clicks[:, [rank - 1 for rank in unclicked]] = False
    return Sessions.from_arrays(log.query, log.pair, clicks)


@pytest.mark.parametrize("method", METHODS)
def test_a_first_rank_without_a_click_has_one_warning_that_says_what_to_do(
    say: Say, tmp_path: Path, method: str
) -> None:
    output = say(
        "clicks", "propensity", written(shop(1), tmp_path), "--method", method, cwd=tmp_path
    )
    assert output.code == 0
    assert "rank 1 has no click" in the_warning(output)
    assert "check that ranks start at the top" in the_warning(output)


@pytest.mark.parametrize("method", METHODS)
def test_runs_over_a_first_rank_without_a_click_are_refused_in_one_sentence(
    say: Say, tmp_path: Path, method: str
) -> None:
    (tmp_path / "a.run").write_text("0 Q0 0 1 2 r\n", encoding="utf-8")
    output = say(
        "clicks", "runs", written(shop(1), tmp_path), "a.run", "--method", method, cwd=tmp_path
    )
    text = " ".join(output.err.split())
    assert output.code == 2
    assert text.startswith("error: clicks: found none at rank 1 in 600 lists")
    assert "; check that ranks start at the top" in text


def test_the_page_of_a_first_rank_without_a_click_has_a_stop_sign(say: Say, tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    output = say(
        "clicks",
        "report",
        written(shop(1), tmp_path),
        "-o",
        "page.html",
        "--resamples",
        "20",
        cwd=tmp_path,
    )
    assert output.code == 0
    assert "RuntimeWarning" not in output.err
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "No verdict on propensities: rank 1 has no click" in page
    assert "The log gives no propensity of the last of 3 ranks" in page
    assert "nan" not in page


def test_ranks_that_share_no_document_show_no_number(say: Say, tmp_path: Path) -> None:
    log = Sessions.from_arrays(
        ["q0", "q1"], [["a", "c", "b"], ["c", "b", "a"]], [[1, 0, 1], [1, 0, 1]]
    )
    output = say("clicks", "propensity", written(log, tmp_path), cwd=tmp_path)
    assert output.code == 0
    assert "3 sets that share no document" in the_warning(output)
    rows = [line.split()[:3] for line in output.out.splitlines()[3:6]]
    assert rows == [["1", "1.000", "-"], ["2", "-", "-"], ["3", "-", "-"]]
