"""The script on tests: what it computes itself against SciPy and the library, its tables, and the
page.
"""

import importlib
import json
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.stats

from idealrank import stats
from tests.conftest import ROOT

MODULES = ("which_test", "which_family", "simulated_changes", "sign_flips")


class Scripts(NamedTuple):
    tests: Any
    family: Any
    changes: Any
    flips: Any


@pytest.fixture(scope="module")
def scripts() -> Iterator[Scripts]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "experiments")
        yield Scripts(*(importlib.import_module(name) for name in MODULES))
    for name in (*MODULES, "interval_coverage", "models"):
        sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def differences(scripts) -> Any:
    """Sets of 40 queries, most of them equal, some with a drop."""
    changes = scripts.changes.Changes(
        scripts.changes.KINDS["small change"], 40, 30, np.random.default_rng(1), 1
    )
    return changes.dropped(0.04).differences[..., 0]


@pytest.mark.parametrize(
    ("ours", "theirs"), [("pratt", "pratt"), ("wilcoxon", "wilcox"), ("split", "zsplit")]
)
def test_signed_ranks_treat_zeros_as_scipy_does(
    scripts, differences, ours: str, theirs: str
) -> None:
    expected = scipy.stats.wilcoxon(
        differences, zero_method=theirs, correction=False, method="approx", axis=0
    ).pvalue
    assert scripts.tests.signed_rank_p(differences, ours) == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
def test_true_means_of_the_laws(scripts) -> None:
    """Null laws have the mean 0, shifted ones two standard errors below."""
    rng = np.random.default_rng(2)
    for draw in scripts.tests.NULLS.values():
        found = draw(100, 2000, rng, 0.0)
        assert abs(found.mean()) < 4 * found.std() / 200_000**0.5
    for draw in scripts.tests.TRUE.values():
        null, found = draw(100, 2000, rng, 0.0), draw(100, 2000, rng, 2.0)
        assert found.mean() == pytest.approx(-2 * null.std() / 10, rel=0.06)


def test_decisions_are_those_of_the_library(scripts, differences) -> None:
    """Where p is not within the error of the draws of 0.05."""
    zeros = np.zeros_like(differences)
    found = scripts.tests.decided(differences, np.random.default_rng(3))
    p = stats.permutation_test(zeros, differences, rng=4, n_resamples=20_000).p
    clear = np.abs(p - 0.05) > 0.015
    assert clear.sum() > 15
    assert (found["permutation"] == (p <= 0.05))[clear].all()
    interval = stats.difference_interval(
        zeros, differences, method="percentile", n_resamples=20_000, rng=5
    )
    wider = stats.difference_interval(
        zeros, differences, method="percentile", n_resamples=20_000, rng=5, level=0.965
    )
    narrower = stats.difference_interval(
        zeros, differences, method="percentile", n_resamples=20_000, rng=5, level=0.935
    )
    outside = [(one.low > 0) | (one.high < 0) for one in (interval, wider, narrower)]
    clear = outside[1] == outside[2]
    assert clear.sum() > 15
    assert (found["bootstrap, percentile"] == outside[0])[clear].all()


def test_decisions_under_weights_are_those_of_the_library(scripts, differences) -> None:
    """Where p is not within the error of the draws of 0.05; t is the library's own."""
    zeros = np.zeros_like(differences)
    design = stats.Design.of(len(differences), weights=scripts.tests.zipf(len(differences)))
    found = scripts.tests.weighted_decisions(differences, design, np.random.default_rng(4))
    p = stats.permutation_test(zeros, differences, design=design, rng=5, n_resamples=20_000).p
    clear = np.abs(p - 0.05) > 0.015
    assert clear.sum() > 15
    assert (found["permutation"] == (p <= 0.05))[clear].all()
    assert (found["t"] == (stats.paired_t(zeros, differences, design=design).p <= 0.05)).all()


@pytest.mark.parametrize("law", ["all shifted", "80 % equal"])
def test_the_page_has_the_power_under_weights_that_a_run_prints(scripts, law: str) -> None:
    """Shares of the page against 400 sets, within four standard errors of both."""
    design = stats.Design.of(50, weights=scripts.tests.zipf(50))
    lines = (ROOT / "docs" / "concepts" / "tests-simulated.md").read_text(encoding="utf-8")
    (row,) = [line for line in lines.splitlines() if line.startswith(f"| {law} | 1/rank | 50 |")]
    worth, *cells = [cell.strip() for cell in row.split("|")[4:-1]]
    assert worth == f"{design.effective_units:.1f}"
    for text, share in zip(cells, scripts.tests._of_weights(law, design, (12,), 400), strict=True):
        expected = float(text)
        error = (max(expected, 0.02) * (1 - expected) / 360) ** 0.5
        assert share == pytest.approx(expected, abs=4 * error)


def test_max_t_is_that_of_the_library(scripts) -> None:
    """Two of the runs of a family truly worse, in two sets; p within the error of 5,999 draws."""
    baseline, runs = scripts.family.runs_of(60, 2, 5, np.random.default_rng(6))
    runs[:, :, :2] -= 0.05
    found = scripts.family._corrected(runs - baseline[:, :, None], np.random.default_rng(7))
    for at in range(2):
        expected = stats.max_t(baseline[:, at], runs[:, at], rng=8, n_resamples=20_000)
        clear = np.abs(expected.p - 0.05) > 0.015
        assert clear.sum() >= 10
        assert (found["max-T"][at] == (expected.p <= 0.05))[clear].all()
    assert found["Holm"].sum() <= found["Benjamini-Hochberg"].sum() <= found["none"].sum()
    assert list(scripts.family._counted(np.array([[[True], [True], [False]]]), 1)) == [
        (1.0, 0.5, 1.0)
    ]


def test_looking_again_does_what_theory_says(scripts) -> None:
    """Armitage, McPherson and Rowe (1969): two, five and ten looks at normal data reject 8.3, 14.2
    and 19.3 % at 0.05.
    """
    sums = np.random.default_rng(9).standard_normal((40_000, 10)).cumsum(axis=1) / np.sqrt(
        np.arange(1, 11)
    )
    theory = [
        float((np.abs(sums[:, :looks]) > 1.959964).any(axis=1).mean()) for looks in (2, 5, 10)
    ]
    assert theory == pytest.approx([0.083, 0.142, 0.193], abs=0.008)
    page = _page("tests-simulated.md")
    shown = [
        float(page["looks", f"test after every 50 queries, {looks} in all"][0])
        for looks in (2, 5, 10)
    ]
    assert shown == pytest.approx(theory, abs=0.025)


def test_ways_with_missing_queries(scripts) -> None:
    """Three queries, the run is silent on one: means by hand."""
    a, b = np.array([[0.5], [0.25], [1.0], [0.0]]), np.array([[0.75], [0.25], [0.5], [0.0]])
    silent = np.array([[False], [False], [True], [False]])
    found = {way: values[0] for way, values in scripts.family._ways(a, b, silent).items()}
    assert found == pytest.approx(
        {
            "union, missing is 0": -0.1875,
            "each run its own": 1 / 3 - 0.4375,
            "intersection": 0.25 / 3,
        }
    )


@pytest.mark.slow
def test_a_small_run(scripts, capsys, monkeypatch) -> None:
    monkeypatch.setattr(scripts.tests, "QUERIES", (25,))
    monkeypatch.setattr(scripts.tests, "UNPAIRED_QUERIES", (50,))
    scripts.tests.main(["--runs", "10", "--many", "2", "--format", "json"])
    tables = {table["section"]: table for table in json.loads(capsys.readouterr().out)["tables"]}
    assert list(tables) == list(scripts.tests.SECTIONS)
    assert all(len(row) == len(table["head"]) for table in tables.values() for row in table["rows"])
    assert [row[2] for row in tables["level"]["rows"]][4] == stats.queries_needed(0.02, 0.14) == 387
    scripts.tests.main(["level", "--quick"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == "| level | power | queries needed |"
    assert "| 0.95 | 0.8 | 387 |" in lines
    with pytest.raises(SystemExit):
        scripts.tests.main(["nothing"])
    assert "section nothing: expected" in capsys.readouterr().err


def test_the_page_has_the_rows_that_a_run_prints(scripts) -> None:
    """Shares of the page against 400 sets, within four standard errors of both."""
    page = _page("tests-simulated.md")
    for section, laws, errors in (
        ("alarms", scripts.tests.NULLS, 0.0),
        ("power", scripts.tests.TRUE, 2.0),
    ):
        for law in ("80 % equal", "real rankings"):
            rng = np.random.default_rng(10)
            found = scripts.tests.decided(laws[law](50, 400, rng, errors), rng)
            for cell, decided in zip(page[section, law, "50"], found.values(), strict=True):
                share = float(cell)
                assert decided.mean() == pytest.approx(
                    share, abs=4 * (max(share, 0.02) * (1 - share) / 360) ** 0.5
                )


def _page(name: str) -> dict[tuple[str, ...], list[str]]:
    """Rows of the tables of a page by section and leading cells."""
    found: dict[tuple[str, ...], list[str]] = {}
    section = ""
    for line in (ROOT / "docs" / "concepts" / name).read_text(encoding="utf-8").splitlines():
        section = line.strip("*") if line.startswith("**") and line.endswith("**") else section
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if cells:
            found[section, cells[0]] = cells[1:]
            found[section, cells[0], cells[1]] = cells[2:]
    return found
