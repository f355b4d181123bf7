"""Agreement, corrected means and aggregation against live peers: irrCAC, scikit-learn, statsmodels,
truescore, ppi-python, crowd-kit.
"""

import warnings
from typing import Any

import numpy as np
import pytest

from idealrank.judging import agreement, correct, corrected_share, dawid_skene, majority_vote
from idealrank.judging.gold import wilson_interval

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore")]


def graded(seed: int, raters: int = 2, n: int = 120) -> Any:
    """Grades 0 to 3 of raters who see one quality with noise of their own."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(1.5, 1, (n, 1))
    return np.clip(np.round(quality + rng.normal(0, 0.7, (n, raters))), 0, 3)


def imported(path: str) -> Any:
    """A peer's module; it is imported here since some warn, and each is heavy."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return __import__(path, fromlist=["_"])


IRR = {
    "conger": "cohen_kappa",
    "fleiss": "fleiss_kappa",
    "gwet": "gwet_ac1",
    "bp": "brennan_prediger",
    "krippendorff": "krippendorff_alpha",
}


@pytest.mark.parametrize("weights", ["identity", "linear", "quadratic"])
@pytest.mark.parametrize("peer", IRR)
def test_coefficients_and_errors_are_those_of_irrcac(peer: str, weights: str) -> None:
    cac, pandas = imported("irrCAC.raw").CAC, imported("pandas")
    for seed, raters in ((1, 2), (2, 4)):
        ratings = graded(seed, raters)
        expected = getattr(
            cac(
                pandas.DataFrame(ratings),
                weights=weights,
                categories=[0.0, 1.0, 2.0, 3.0],
                digits=15,
            ),
            peer,
        )()["est"]
        options: dict[str, Any] = {"weights": None if weights == "identity" else weights}
        if peer == "krippendorff":
            if weights == "linear":
                continue  # no level of Krippendorff's has these distances
            options = {"level": {"identity": "nominal", "quadratic": "interval"}[weights]}
        statistic = "conger_kappa" if peer == "conger" and raters > 2 else IRR[peer]
        found = agreement(
            ratings,
            statistic,
            **options,
            categories=[0, 1, 2, 3],
            interval=True,
            variance="analytic",
        )  # type: ignore[call-overload]
        assert found.value == pytest.approx(expected["coefficient_value"], abs=1e-9)
        # Of two raters ours is the asymptotic error of Fleiss, Cohen and Everitt, as statsmodels
        # has it; irrCAC divides by n - 1.
        of_two = (
            np.sqrt((len(ratings) - 1) / len(ratings)) if peer == "conger" and raters == 2 else 1.0
        )
        assert found.standard_error == pytest.approx(of_two * expected["se"], abs=1e-9)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_kappa_is_that_of_scikit_learn_and_statsmodels(weights: Any) -> None:
    metrics, inter_rater = imported("sklearn.metrics"), imported("statsmodels.stats.inter_rater")
    ratings = graded(3)
    first, second = ratings.T.astype(int)
    table = np.zeros((4, 4))
    np.add.at(table, (first, second), 1)
    expected = inter_rater.cohens_kappa(table, wt=weights)

    found = agreement(ratings, "cohen_kappa", weights=weights, interval=True, variance="analytic")

    assert found.value == pytest.approx(
        metrics.cohen_kappa_score(first, second, weights=weights), abs=1e-12
    )
    assert (found.value, found.standard_error) == pytest.approx(
        (expected.kappa, expected.std_kappa), abs=1e-12
    )


def test_fleiss_kappa_is_that_of_statsmodels() -> None:
    inter_rater, ratings = imported("statsmodels.stats.inter_rater"), graded(4, 5)

    expected = inter_rater.fleiss_kappa(inter_rater.aggregate_raters(ratings.astype(int))[0])

    assert agreement(ratings, "fleiss_kappa") == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_is_that_of_truescore(level: Any) -> None:
    truescore, ratings = imported("truescore"), graded(5)

    assert agreement(ratings, "krippendorff_alpha", level=level) == pytest.approx(
        truescore.krippendorff_alpha(ratings.T, level=level), abs=1e-12
    )
    assert agreement(ratings, "gwet_ac1") == pytest.approx(
        truescore.gwet_ac1(*ratings.T), abs=1e-12
    )


def judged(seed: int, n: int = 400, labelled: int = 60) -> tuple[Any, Any, Any]:
    """Values of a human and of a judge, and which are labelled."""
    rng = np.random.default_rng(seed)
    human = rng.beta(1, 2, n)
    return (
        human,
        np.clip(human + rng.normal(0.05, 0.2, n), 0, 1),
        rng.choice(n, labelled, replace=False),
    )


@pytest.mark.parametrize("weight", [None, 0.0, 0.4, 1.0])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_corrected_means_are_those_of_ppi_python(seed: int, weight: float | None) -> None:
    ppi = imported("ppi_py")
    human, judge, chosen = judged(seed)
    others = np.setdiff1d(np.arange(human.size), chosen)
    data = (human[chosen], judge[chosen], judge[others])

    found = correct(*data, weight, tuning="ppi++", quantile="z", ddof=0)

    expected = ppi.ppi_mean_pointestimate(*data, lam=weight)
    assert found.estimate == pytest.approx(float(np.squeeze(expected)), abs=1e-12)
    ends = [float(np.squeeze(end)) for end in ppi.ppi_mean_ci(*data, alpha=0.05, lam=weight)]
    assert found.interval == pytest.approx(ends, abs=1e-12)


@pytest.mark.parametrize("by_query", [False, True])
def test_corrected_means_are_those_of_truescore(by_query: bool) -> None:
    truescore = imported("truescore")
    human, judge, chosen = judged(4)
    clusters = np.arange(human.size) // 10
    if by_query:
        chosen = np.flatnonzero(clusters < 7)
    others = np.setdiff1d(np.arange(human.size), chosen)
    expected = truescore.ppi_estimate(
        judge, human[chosen], chosen, clusters=clusters if by_query else None
    )

    groups = (clusters[chosen], clusters[others]) if by_query else None
    found = correct(
        human[chosen],
        judge[chosen],
        judge[others],
        clusters=groups,
        tuning="ppi++",
        quantile="t" if by_query else "z",
    )

    assert (found.estimate, found.weight) == pytest.approx(
        (expected.point, expected.lambda_), abs=1e-12
    )
    assert found.interval == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_shares_by_the_delta_method_are_those_of_truescore() -> None:
    """Truescore's share is of all rows and ours of those outside the calibration: it is given the
    same rows twice.
    """
    truescore = imported("truescore")
    rng = np.random.default_rng(6)
    human = rng.random(300) < 0.3
    judge = human ^ (rng.random(300) < 0.15)
    chosen = np.arange(100)

    expected = truescore.rogan_gladen_estimate(judge.astype(int), human[chosen].astype(int), chosen)
    found = corrected_share(
        human[chosen].astype(int), judge[chosen].astype(int), judge.astype(int), interval="delta"
    )

    assert found.estimate == pytest.approx(expected.point, abs=1e-12)
    assert found.interval == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_wilsons_interval_is_that_of_truescore() -> None:
    truescore = imported("truescore")
    for right, n in ((0, 5), (7, 9), (30, 30)):
        expected = truescore.wilson_interval(right, n)
        assert wilson_interval(right, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_aggregated_grades_are_those_of_crowd_kit(steps: int) -> None:
    aggregation, pandas = imported("crowdkit.aggregation"), imported("pandas")
    ratings = graded(7, 5, 80)
    rows = [(unit, rater, int(ratings[unit, rater])) for unit in range(80) for rater in range(5)]
    frame = pandas.DataFrame(rows, columns=["task", "worker", "label"])

    expected = aggregation.DawidSkene(n_iter=steps, tol=-np.inf).fit_predict(frame).sort_index()
    votes = aggregation.MajorityVote().fit_predict(frame).sort_index()

    assert dawid_skene(ratings, steps=steps).grades.tolist() == expected.tolist()
    ours = majority_vote(ratings)
    counts = np.stack([(ratings == grade).sum(axis=1) for grade in range(4)], axis=1)
    # ties are broken otherwise
    clear = (counts == counts.max(axis=1, keepdims=True)).sum(axis=1) == 1
    assert ours.grades[clear].tolist() == votes.to_numpy()[clear].tolist()
