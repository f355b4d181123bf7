"""A search of Optuna over a ranker in scikit-learn, scored by query."""

import numpy as np
import pytest

from idealrank.training.sklearn import QueryKFold, QueryRanker

pytestmark = pytest.mark.peers


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_optuna_maximises_a_measure_by_query() -> None:
    import optuna
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import cross_val_score

    rng = np.random.default_rng(0)
    qid = rng.permutation(np.repeat(np.arange(40), 8))
    features = rng.normal(size=(qid.size, 3))
    labels = np.clip(np.round(features[:, 0] + rng.normal(0, 0.5, qid.size)), 0, 3)
    table = np.column_stack([qid, features])

    def value(trial: optuna.Trial) -> float:
        ranker = QueryRanker(
            Ridge(alpha=trial.suggest_float("alpha", 1e-2, 1e6, log=True)), measure="nDCG@5"
        )
        return float(cross_val_score(ranker, table, labels, cv=QueryKFold(4)).mean())

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=1))
    study.optimize(value, n_trials=4)
    again = QueryRanker(Ridge(alpha=study.best_params["alpha"]), measure="nDCG@5")
    assert study.best_value == cross_val_score(again, table, labels, cv=QueryKFold(4)).mean() > 0.7
