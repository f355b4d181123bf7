"""Selection of models: intervals that hold after the choice, optimism, nested folds, and a test set
that is opened once.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import idealrank as ir
from idealrank.training import best_of, nested_cv, query_folds
from tests.conftest import examples


def test_the_winner_has_its_margin_and_no_plan_from_it() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal([0.50, 0.51, 0.49], 0.2, size=(40, 3))
    found = best_of(values, ["a", "b", "c"])
    first, second = (["a", "b", "c"].index(name) for name in found.names[:2])
    differences = values[:, first] - values[:, second]
    assert found.margin == pytest.approx(differences.mean())
    assert found.interval == pytest.approx(
        tuple(
            getattr(ir.stats.mean_interval(differences, level=1 - 0.05 / 3), end)
            for end in ("low", "high")
        )
    )
    assert not found.is_clear
    assert found.corrected == found.means[found.names[0]] - found.optimism
    assert "these queries show no difference\n" in str(found)
    assert "queries would detect" not in str(found)


def test_values_that_are_not_finite_are_named() -> None:
    values = np.tile([0.2, 0.6, 0.5], (30, 1))
    values[[3, 4], 1], values[7, 2] = np.nan, np.inf
    message = (
        "found nan at row 3 of large, and 3 of 90 values that are not finite .2 of large, 1 of "
        "deep."
    )
    with pytest.raises(ir.InputError, match=message):
        best_of(values, ["small", "large", "deep"])


def test_a_clear_winner_has_little_optimism() -> None:
    values = np.random.default_rng(0).normal([0.3, 0.6], 0.05, size=(50, 2))
    found = best_of(values, ["old", "new"])
    assert found.names == ("new", "old")
    assert found.is_clear
    assert found.optimism < 1e-3
    assert best_of(-values, ["old", "new"], higher_is_better=False).names == ("new", "old")


@pytest.mark.slow
def test_the_interval_of_the_margin_covers_the_true_one_after_the_choice() -> None:
    """Six configurations of known means, two of them nearly best, on 30 queries: the interval is of
    whichever two came out first.
    """
    truth = np.array([0.50, 0.49, 0.47, 0.45, 0.40, 0.30])
    names = [str(number) for number in range(truth.size)]
    rng, covered, trials = np.random.default_rng(5), 0, 1000
    for _ in range(trials):
        found = best_of(truth + rng.normal(0, 0.15, (30, truth.size)), names, n_resamples=1)
        low, high = found.interval
        covered += low <= truth[int(found.names[0])] - truth[int(found.names[1])] <= high
    assert covered / trials >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / trials)


def simulated(
    seed: int, n_queries: int = 40, n_configurations: int = 8
) -> tuple[bool, float, float]:
    """All configurations are equally good: whether the winner is called clear, its true optimism
    and the estimate.
    """
    rng = np.random.default_rng(seed)
    hardness = rng.normal(0.5, 0.2, (n_queries, 1))
    values = hardness + rng.normal(0, 0.1, (n_queries, n_configurations))
    found = best_of(
        values, [str(number) for number in range(n_configurations)], n_resamples=60, rng=seed
    )
    return found.is_clear, found.means[found.names[0]] - float(hardness.mean()), found.optimism


def test_of_equal_configurations_none_is_clear_and_the_optimism_is_seen() -> None:
    found = [simulated(seed) for seed in range(examples(60))]
    assert np.mean([clear for clear, _, _ in found]) <= 0.1
    actual, estimated = (np.mean([one[place] for one in found]) for place in (1, 2))
    assert actual > 0.01
    # the means of as few draws as these have an error of a tenth
    assert 0.6 * actual < estimated < 1.4 * actual


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.0, 0.02, 0.1, 0.5])
def test_the_optimism_is_that_of_known_means(spread: float) -> None:
    truth, rng = 0.5 + spread * np.linspace(0, 1, 8), np.random.default_rng(4)
    actual, estimated = [], []
    for _ in range(400):
        hardness = rng.normal(0, 0.2, (40, 1))
        found = best_of(
            truth + hardness + rng.normal(0, 0.1, (40, 8)),
            [str(number) for number in range(8)],
            n_resamples=100,
            rng=rng,
        )
        actual.append(
            found.means[found.names[0]] - float(hardness.mean()) - truth[int(found.names[0])]
        )
        estimated.append(found.optimism)
    # Equal means look a little different even after they are drawn together: 15 % of the optimism
    # is not seen.
    assert (
        abs(np.mean(estimated) - np.mean(actual)) < 0.2 * np.mean(actual) + 4 * np.std(actual) / 20
    )


@pytest.mark.slow
def test_a_winner_among_equals_is_called_clear_in_less_than_the_level() -> None:
    clear = np.mean([simulated(1000 + seed)[0] for seed in range(1000)])
    assert clear <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1000)


def test_nested_folds_of_random_scores_report_no_skill_where_the_best_of_many_claims_some() -> None:
    rng = np.random.default_rng(3)
    qid = np.repeat(np.arange(30), 10)
    labels = rng.integers(0, 2, qid.size)
    noise = {str(number): rng.normal(size=qid.size) for number in range(25)}
    found = nested_cv(
        lambda scores, rows: lambda tested: scores[tested],
        noise,
        labels,
        qid,
        measure="nDCG@5",
        outer=5,
        inner=2,
    )
    best = max(
        ir.evaluate(labels, scores, "nDCG@5", qid=qid).mean()["nDCG@5"] for scores in noise.values()
    )
    chance = ir.evaluate(
        labels, np.zeros(qid.size), "nDCG@5", "standard,ties=expected", qid=qid
    ).mean()["nDCG@5"]
    (interval,) = (one.interval for one in ir.intervals(found.evaluation).values())
    assert interval[0] < chance < interval[1]
    assert best > chance + 0.06
    assert 0 < found.agreement <= 1


def test_no_fold_shares_a_query_in_either_loop() -> None:
    qid = np.repeat(np.arange(12), 3)
    seen: list[tuple[set[int], set[int]]] = []

    def train(_: Any, rows: np.ndarray) -> Any:
        def score(tested: np.ndarray) -> np.ndarray:
            seen.append((set(qid[rows]), set(qid[tested])))
            return np.arange(tested.size, dtype=float)

        return score

    nested_cv(train, {"a": 1, "b": 2}, np.tile([1, 0, 2], 12), qid, outer=3, inner=2)
    assert len(seen) == 3 * (2 * 2 + 1)
    assert all(not learned & tested for learned, tested in seen)
    assert sorted(np.concatenate([test for _, test in query_folds(qid, 4, 0)]).tolist()) == list(
        range(36)
    )


def test_impossible_selections_are_refused() -> None:
    with pytest.raises(ir.InputError, match="two or more queries and configurations"):
        best_of(np.zeros((5, 1)), ["a"])
    with pytest.raises(ir.OptionError, match="found 1 different ones"):
        best_of(np.zeros((5, 2)), ["a", "a"])
    with pytest.raises(
        ir.InputError, match="n_splits=3: found 2 queries, expected two folds or more"
    ):
        query_folds([1, 2], 3, 0)
    with pytest.raises(ir.OptionError, match="found 0 configurations"):
        nested_cv(lambda one, rows: None, {}, [1, 0], [1, 1])  # type: ignore[arg-type, return-value]
    with pytest.raises(
        ir.InputError,
        match="train: its function of 3 rows returned shape \\(1,\\), expected one score for each "
        "row",
    ):
        nested_cv(
            lambda one, rows: lambda tested: np.zeros(1),
            {"a": 1},
            np.tile([1, 0, 2], 4),
            np.repeat(np.arange(4), 3),
            outer=4,
            inner=3,
        )


def test_a_test_set_is_opened_once_and_again_with_a_reason(tmp_path: Path) -> None:
    labels, scores, options = (
        [1, 0, 2],
        [0.1, 0.5, 0.3],
        {"group": [2, 1], "store": tmp_path / "store"},
    )
    first = ir.evaluate_once(labels, scores, "nDCG@10", name="final", **options)
    assert first.mean() == ir.evaluate(labels, scores, "nDCG@10", group=[2, 1]).mean()
    with pytest.raises(
        ir.InputError, match="the test set was opened before, by 'final' on"
    ) as refused:
        ir.evaluate_once(labels, [0.9, 0.5, 0.3], "RR", name="better", **options)
    assert "1.0" not in str(refused.value)
    ir.evaluate_once(
        labels,
        [0.9, 0.5, 0.3],
        "RR",
        name="better",
        again="the first run had a broken feature",
        **options,
    )
    ir.evaluate_once([0, 1, 1], scores, "RR", name="other data", **options)
    with ir.Store.open(tmp_path / "store") as store:
        kept = store.entries(tag="test-set")
        assert [entry.name for entry in kept] == ["other data", "better", "final"]
        assert kept[1].record.notes == ("opened again: the first run had a broken feature",)


def test_a_model_gives_one_score_for_each_row() -> None:
    labels, qid = np.tile([1, 0, 0], 10), np.repeat(np.arange(10), 3)
    with pytest.raises(ir.InputError, match=r"train: its function of \d+ rows returned shape"):
        nested_cv(lambda _, rows: lambda tested: np.zeros(1), {"a": 1}, labels, qid)
