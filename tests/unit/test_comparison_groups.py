"""Groups of runs that a comparison cannot tell apart: against their definition and SciPy's interval of a mean."""

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy import stats

import idealrank as ir
from idealrank.errors import OptionError
from idealrank.evaluation import Evaluation


def runs_of(n_runs: int, n: int = 40, seed: int = 1, measures: tuple[str, ...] = ("nDCG@10", "AP")) -> list[Evaluation]:
    """Runs of rising quality on the same queries."""
    generator = np.random.default_rng(seed)
    qrels = {f"q{i}": {"x": 1} for i in range(n)}
    made = ir.evaluate(qrels, {query: ["x"] for query in qrels}, measures)
    base = generator.random((n, 1))
    return [
        replace(made, name=f"run{run}", values=np.clip(0.6 * base + 0.2 * run / n_runs + generator.normal(0, 0.1, made.values.shape), 0, 1))
        for run in range(n_runs)
    ]


@pytest.mark.parametrize(("n_runs", "options"), [(5, {}), (7, {"test": "wilcoxon"}), (14, {"n_resamples": 999})])
def test_two_runs_share_a_letter_if_and_only_if_they_do_not_differ(n_runs: int, options: dict[str, Any]) -> None:
    found = ir.compare(*runs_of(n_runs), **options)

    for measure in ("nDCG@10", "AP"):
        letters = found.groups(measure).letters
        by_pair = {frozenset((pair.a, pair.b)): row.p_corrected for pair, row in found.rows() if row.measure == measure}
        assert 0 < sum(p <= 0.05 for p in by_pair.values()) < len(by_pair)
        for a, b in combinations(letters, 2):
            assert bool(set(letters[a]) & set(letters[b])) == (by_pair[frozenset((a, b))] > 0.05)
        best, *others = letters
        assert found.groups(measure).top == (best, *(run for run in others if by_pair[frozenset((best, run))] > 0.05))
        assert list(letters) == sorted(letters, key=lambda run: -found.means[measure][run].mean)


def test_where_less_is_better_the_best_has_the_least() -> None:
    qrels = {f"q{i}": {"x": 1} for i in range(12)}
    late, early = (ir.evaluate(qrels, dict.fromkeys(qrels, ranking), "Unjudged@2") for ranking in (["y", "x"], ["x"]))

    found = ir.compare(late, early).groups("Unjudged@2")

    assert found.letters == {"run (2)": "a", "run": "b"}
    assert found.top == ("run (2)",)


def test_intervals_of_means_are_scipys() -> None:
    runs = runs_of(3)

    means = ir.compare(*runs, level=0.9).means["AP"]

    for run in runs:
        expected = stats.t.interval(0.9, 39, np.mean(run["AP"]), stats.sem(run["AP"]))
        assert means[run.name].interval == pytest.approx(expected, rel=1e-12)
        assert (means[run.name].mean, means[run.name].n) == (pytest.approx(float(np.mean(run["AP"])), rel=1e-14), 40)


def test_a_run_scored_on_fewer_queries_has_its_own_mean() -> None:
    first, second = runs_of(2, measures=("AP",))
    scored = np.ones_like(second.scored)
    scored[:10] = False

    means = ir.compare(first, replace(second, scored=scored)).means["AP"]

    assert (means["run0"].n, means["run1"].n) == (40, 30)
    assert means["run1"].mean == pytest.approx(float(np.mean(second["AP"][10:])), rel=1e-14)


def test_what_json_has_of_groups() -> None:
    found = ir.compare(*runs_of(3))

    record = found.as_dict()

    assert record["groups"]["AP"] == {"letters": found.groups("AP").letters, "top": list(found.groups("AP").top)}
    assert record["means"]["AP"]["run0"]["interval"] == list(found.means["AP"]["run0"].interval)


def test_one_baseline_tells_nothing_of_groups() -> None:
    found = ir.compare(*runs_of(3), baseline="run0")

    assert "groups" not in found.as_dict()
    with pytest.raises(OptionError, match="baseline 'run0' alone, expected every two runs"):
        found.groups()
    with pytest.raises(KeyError, match="RR: not compared"):
        ir.compare(*runs_of(2)).groups("RR")


def test_holms_method_for_any_number_of_runs() -> None:
    runs = runs_of(12, n=15, measures=("nDCG@10",))
    found = ir.compare(*runs, correction="holm")
    p = [
        stats.permutation_test((b.values[:, 0] - a.values[:, 0],), np.mean, permutation_type="samples", n_resamples=np.inf).pvalue
        for a, b in combinations(runs, 2)
    ]
    rows = [pair.measures["nDCG@10"] for pair in found.pairs]
    np.testing.assert_allclose([row.p for row in rows], p, rtol=1e-12)
    ordered = np.argsort(p, kind="stable")
    steps = np.minimum(np.maximum.accumulate(np.array(p)[ordered] * np.arange(66, 0, -1)), 1)
    np.testing.assert_allclose([rows[at].p_corrected for at in ordered], steps, rtol=1e-12)
    assert (found.method.correction, ir.compare(*runs).method.correction) == ("holm", "max-T")


def test_more_tests_than_draws_can_tell_are_refused() -> None:
    runs = runs_of(12, n=30, measures=("nDCG@10",))
    with pytest.raises(OptionError, match=r"found 66 tests and 999 draws: .* no p could be as small as 0\.05"):
        ir.compare(*runs, correction="holm", n_resamples=999)
    assert ir.compare(*runs, correction="holm", n_resamples=1_320).method.correction == "holm"
    with pytest.raises(OptionError, match="correction='all'"):
        ir.compare(*runs, correction="all")  # type: ignore[arg-type]
