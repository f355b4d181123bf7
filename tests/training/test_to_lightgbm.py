"""Measures and objectives in LightGBM: what it reports is what `evaluate` reports, and its own
objective is one of ours.
"""

import pickle
from typing import Any

import lightgbm as lgb
import numpy as np
import pytest

import idealrank as ir
from idealrank.training.lightgbm import eval_function, objective
from idealrank.training.sklearn import QueryKFold

SIZES = np.random.default_rng(0).integers(4, 16, 60)
N = int(SIZES.sum())
X = np.random.default_rng(1).normal(size=(N, 5))
Y = np.clip(
    np.round(X[:, 0] + X[:, 1] * X[:, 2] + np.random.default_rng(2).normal(0, 0.7, N)), 0, 4
)
PARAMS = {
    "num_leaves": 7,
    "min_data_in_leaf": 10,
    "learning_rate": 0.2,
    "verbose": -1,
    "num_threads": 1,
    "deterministic": True,
    "seed": 3,
}
MEASURES = ["nDCG@10", "nDCG(gain=exp2)@5", "AP", "RR(rel=2)"]


def train(
    objective_: Any = "lambdarank", rounds: int = 5, **options: Any
) -> tuple[lgb.Booster, dict[str, list[float]]]:
    data = lgb.Dataset(X, Y, group=SIZES)
    record: dict[str, Any] = {}
    params = {**PARAMS, "metric": "None", "objective": objective_, **options.pop("params", {})}
    model = lgb.train(
        params,
        data,
        rounds,
        valid_sets=[data],
        callbacks=[lgb.record_evaluation(record)],
        **options,
    )
    return model, record.get("training", {})


@pytest.mark.parametrize("convention", ["standard", "lightgbm"])
def test_the_value_of_every_round_has_the_bits_of_evaluate(convention: str) -> None:
    model, record = train(feval=eval_function(MEASURES, convention))
    assert list(record) == MEASURES
    for rounds in (1, 3, 5):
        scores = model.predict(X, num_iteration=rounds)
        means = ir.evaluate(Y, scores, MEASURES, convention, group=SIZES).mean()
        assert [record[measure][rounds - 1] for measure in MEASURES] == [
            means[measure] for measure in MEASURES
        ]


def test_the_convention_lightgbm_reports_the_values_of_its_own_metric() -> None:
    _, record = train(
        feval=eval_function("nDCG@10", "lightgbm"), params={"metric": "ndcg", "eval_at": [10]}
    )
    # sums of 60 values in another order
    assert record["nDCG@10"] == pytest.approx(record["ndcg@10"], abs=1e-12)


def test_lambdarank_is_the_objective_at_its_truncation_level() -> None:
    own, _ = train("lambdarank")
    ours, _ = train(objective(cutoff=30, truncation=30))
    # LightGBM looks the logistic function up in a table of a million steps.
    np.testing.assert_allclose(ours.predict(X), own.predict(X), atol=1e-3)
    assert np.corrcoef(ours.predict(X), own.predict(X))[0, 1] > 0.99999


@pytest.mark.parametrize(
    "options",
    [
        {"cutoff": 10},
        {"measure": "AP"},
        {"measure": "ERR"},
        {"measure": "RR"},
        {"gain": "linear", "discount": "linear"},
    ],
)
def test_every_objective_learns(options: dict[str, Any]) -> None:
    _, record = train(objective(**options), 15, feval=eval_function("nDCG@10"))
    chance = ir.evaluate(Y, np.zeros(N), "nDCG@10", "standard,ties=expected", group=SIZES).mean()[
        "nDCG@10"
    ]
    assert record["nDCG@10"][-1] > chance + 0.1


def test_row_weights_multiply_gradients_as_in_lambdarank() -> None:
    weights = np.where(np.arange(N) % 2, 3.0, 1.0)
    models = []
    for chosen in ("lambdarank", objective(cutoff=30, truncation=30)):
        data = lgb.Dataset(X, Y, group=SIZES, weight=weights)
        models.append(lgb.train({**PARAMS, "objective": chosen}, data, 3).predict(X))
    np.testing.assert_allclose(models[0], models[1], atol=1e-3)


def test_the_scikit_learn_api_takes_callables_with_four_parameters() -> None:
    chosen = objective(cutoff=30, truncation=30, api="sklearn")
    ranker = lgb.LGBMRanker(
        objective=chosen,
        n_estimators=5,
        **{k: v for k, v in PARAMS.items() if k != "num_threads"},
        n_jobs=1,
    )
    ranker.fit(
        X,
        Y,
        group=SIZES,
        eval_X=(X,),
        eval_y=(Y,),
        eval_group=[SIZES],
        eval_metric=eval_function(MEASURES[:2], api="sklearn"),
    )
    native, _ = train(objective(cutoff=30, truncation=30))
    assert ranker.predict(X).tolist() == native.predict(X).tolist()
    (found,) = ranker.evals_result_.values()
    assert (
        found["nDCG@10"][-1]
        == ir.evaluate(Y, ranker.predict(X), "nDCG@10", group=SIZES).mean()["nDCG@10"]
    )
    again = pickle.loads(pickle.dumps(ranker))
    assert again.predict(X[:9]).tolist() == ranker.predict(X[:9]).tolist()


def test_early_stopping_follows_a_measure() -> None:
    half = SIZES[:30]
    rows = slice(0, half.sum()), slice(half.sum(), N)
    data = lgb.Dataset(X[rows[0]], Y[rows[0]], group=half)
    other = lgb.Dataset(X[rows[1]], Y[rows[1]], group=SIZES[30:], reference=data)
    stopped: dict[str, Any] = {}
    callbacks = [lgb.early_stopping(3, verbose=False), lgb.record_evaluation(stopped)]
    params = {**PARAMS, "metric": "None", "objective": "lambdarank"}
    model = lgb.train(
        params, data, 60, valid_sets=[other], feval=eval_function("nDCG@5"), callbacks=callbacks
    )
    assert model.best_iteration == int(np.argmax(stopped["valid_0"]["nDCG@5"])) + 1


def test_cross_validation_splits_by_query_or_is_refused() -> None:
    qid = np.repeat(np.arange(SIZES.size), SIZES)
    params = {**PARAMS, "metric": "None", "objective": objective(cutoff=30, truncation=30)}

    def cv(**options: Any) -> Any:
        data = lgb.Dataset(X, Y, group=SIZES, free_raw_data=False)
        return lgb.cv(
            params, data, 3, feval=eval_function("nDCG@10"), return_cvbooster=True, **options
        )

    with pytest.raises(
        ir.OptionError, match=r"rows of query \d+: lightgbm.cv splits queries .* pass folds="
    ):
        cv(nfold=3, stratified=False)
    folds = list(QueryKFold(3, seed=1).split(None, groups=qid))
    found = cv(folds=folds)
    values = [
        ir.evaluate(Y[test], model.predict(X[test]), "nDCG@10", qid=qid[test]).mean()["nDCG@10"]
        for (_, test), model in zip(folds, found["cvbooster"].boosters, strict=True)
    ]
    assert found["valid nDCG@10-mean"][-1] == np.mean(values)


def test_a_data_set_without_groups_is_refused() -> None:
    with pytest.raises(ir.OptionError, match="the Dataset has no group"):
        lgb.train({**PARAMS, "objective": objective(cutoff=10)}, lgb.Dataset(X, Y), 1)


def test_unknown_choices_are_refused() -> None:
    with pytest.raises(ir.OptionError, match="api='keras'"):
        eval_function("nDCG@10", api="keras")  # type: ignore[arg-type]
    with pytest.raises(ir.OptionError, match="no better direction"):
        eval_function("NumRel")
    with pytest.raises(ir.OptionError, match="measure='MRR'"):
        objective(measure="MRR")


def test_propensities_weigh_pairs_by_one_over_the_chance_that_users_looked() -> None:
    """Two rows with equal scores: the force is half of the change of nDCG, 1 - 1 / log2(3), over
    the propensity of the clicked row.
    """
    change = 1 - 1 / np.log2(3)
    labels, scores = np.array([1, 0]), np.zeros(2)
    for options, factor in (
        ({"propensity": [0.25, 0.5]}, 1 / 0.25),
        ({"propensity": [0.25, 0.5], "unclicked_propensity": [0.1, 0.8]}, 1 / (0.25 * 0.8)),
    ):
        chosen = pickle.loads(pickle.dumps(objective(api="sklearn", damped=False, **options)))
        slope, bend = chosen(labels, scores, None, np.array([2]))
        # float32
        np.testing.assert_allclose(slope, [-change * factor / 2, change * factor / 2], rtol=1e-6)
        np.testing.assert_allclose(bend, [change * factor / 4, change * factor / 4], rtol=1e-6)
    with pytest.raises(ir.OptionError, match="propensity: found 0 or less"):
        objective(propensity=[0.5, 0.0])
