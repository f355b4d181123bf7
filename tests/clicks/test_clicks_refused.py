"""`idealrank clicks`: logs that allow no estimate are refused with their reason."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from idealrank.clicks import (
    PBM,
    Sessions,
    ab_effect,
    click_rows,
    grades,
    harvested_propensities,
    ips,
    lists_needed,
    propensities,
    simulate,
    slate_value,
    users_needed,
)
from idealrank.errors import IdealrankError
from tests.cli.terminal import Said

Say = Callable[..., Said]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a log, one without a click, a run of other queries, and rewards whose weights
    overflow.
    """
    for name, click in (("log", 1), ("none", 0)):
        rows = "".join(
            f"s{number},q{number % 3},{'ab'[(number + rank) % 2]},{rank + 1},{click * ((number + rank) % 3 == 0)}\n"  # noqa: E501
            for number in range(60)
            for rank in range(2)
        )
        (tmp_path / f"{name}.csv").write_text(
            f"session,query,document,rank,click\n{rows}", encoding="utf-8"
        )
    fixed = "".join(
        f"s{number},q{number % 3},{'ab'[rank]},{rank + 1},{number % 2}\n"
        for number in range(60)
        for rank in range(2)
    )
    (tmp_path / "fixed.csv").write_text(
        f"session,query,document,rank,click\n{fixed}", encoding="utf-8"
    )
    (tmp_path / "one.csv").write_text(
        "session,query,document,rank,click\ns,q,a,1,1\n", encoding="utf-8"
    )
    (tmp_path / "own.run").write_text("q0 Q0 a 1 2 r\nq1 Q0 b 1 2 r\n", encoding="utf-8")
    (tmp_path / "other.run").write_text("x0 Q0 a 1 2 r\n", encoding="utf-8")
    (tmp_path / "two.csv").write_text("click,pscore,target\n0,1,1\n1,1,1\n", encoding="utf-8")
    for name, first in (("tiny", "1,1e-200,1"), ("denormal", "1,5e-324,1"), ("big", "1e308,1,1")):
        (tmp_path / f"{name}.csv").write_text(
            f"click,pscore,target\n0,1,1\n{first}\n", encoding="utf-8"
        )
    return tmp_path


REFUSED = {
    "estimate tiny.csv": "logged_probability, row 1: found 1e-200, too small",
    "estimate denormal.csv": "logged_probability, row 1",
    "estimate big.csv": "rewards, row 1: found 1e+308, expected at most 1e+50",
    "propensity none.csv": "clicks: found none in 60 lists",
    "propensity none.csv --method all-pairs": "clicks: found none in 60 lists",
    "runs log.csv other.run": "found none of the 3 queries of the log, such as 'q0'",
    "runs fixed.csv own.run": "found 2 sets of ranks that share no document, expected ranks that "
    "can be compared",
    "grade log.csv --cuts nan": "expected rising rates",
    "grade log.csv --actions none=0,click=-1": "table['click']=-1.0: expected a grade from 0 to "
    "100",
    "grade log.csv --actions none=0,click=1e20": "table['click']=1e+20: expected a grade from 0 "
    "to 100",
    "grade log.csv --actions none=0,click=nan": "table['click']=nan: expected a grade from 0 to "
    "100",
    "propensity log.csv --resamples 100000000000000000000": "expected a whole number from 1 to "
    "10,000,000; more replicates of 2",
    "propensity log.csv --method all-pairs --resamples 1000000000000": "more replicates of 2 numbers each take too much time and memory",  # noqa: E501
    "estimate two.csv --resamples 1000000000000": "n_resamples=1000000000000: expected a whole "
    "number from 0 to 10,000,000",
    "propensity log.csv --iterations 1000000000000": "--iterations 1000000000000: expected a "
    "whole number from 0 to 1000000",
    "grade log.csv --actions click=1,click=2": "found 'click' twice",
    "grade log.csv --least 100000": "--least 100000: found no pair of query and document with so "
    "many impressions, expected "
    "some",
    "grade log.csv --least 100000 --actions none=0,click=1": "found no pair of query and document "
    "with so many impressions",
    "runs own.run log.csv": "own.run: found lines of a run, expected a click log; the log comes "
    "first, then RUN "
    "[RUN_B]",
    "propensity one.csv": "sessions: found 1 of the lists of results that users saw, expected at "
    "least 2 to split",
}


@pytest.mark.parametrize("command", REFUSED)
def test_what_allows_no_estimate_is_refused(command: str, say: Say, folder: Path) -> None:
    output = say("clicks", *command.split(), cwd=folder)

    assert output.code == 2
    assert REFUSED[command] in " ".join(output.err.split())


def test_any_cutoff_is_taken(say: Say, folder: Path) -> None:
    deep, whole = (
        say("clicks", "runs", "log.csv", "own.run", *more, cwd=folder)
        for more in (["-k", "100000000000000000000"], [])
    )

    assert (deep.code, deep.out) == (0, whole.out)


def test_grades_of_a_log_without_clicks_have_a_caution(say: Say, folder: Path) -> None:
    assert "no list has a click" in " ".join(
        say("clicks", "grade", "none.csv", cwd=folder).err.split()
    )


LOG = simulate(np.full((3, 4), 0.5), 50, ranks=4, policy="random", rng=1)
EMPTY = Sessions.from_arrays(["q"] * 4, [["a", "b"], ["b", "a"]] * 2, [[0, 0]] * 4)
HALF = [[0.5, 0.5]] * 2
CALLS: dict[str, Callable[[], object]] = {
    "tiny": lambda: ips([1, 0], [1, 1], [1e-300, 1]),
    "denormal": lambda: ips([1, 0], [1, 1], [5e-324, 1]),
    "slates": lambda: slate_value([[1, 0], [0, 1]], HALF, [[1e-300, 1e-300], [0.5, 0.5]]),
    "no row": lambda: ab_effect([], []),
    "ratio": lambda: users_needed(1e300, 1e-300),
    "infinite": lambda: users_needed(1, float("inf")),
    "share": lambda: lists_needed(0.5000000001),
    "cuts": lambda: grades(LOG, cuts=[float("nan")]),
    "text": lambda: grades(LOG, cuts="a"),  # type: ignore[arg-type]
    "weights": lambda: click_rows(LOG, [1e-320] * 4).weights,
    "harvested": lambda: harvested_propensities(EMPTY),
    "propensities": lambda: propensities(EMPTY),
}


@pytest.mark.parametrize("name", CALLS)
def test_errors_are_those_of_the_library(name: str) -> None:
    with pytest.raises(IdealrankError, match=r"found|expected"):
        CALLS[name]()


def test_a_model_of_no_click_warns() -> None:
    with pytest.warns(UserWarning, match="no list has a click"):
        PBM().fit(EMPTY)
