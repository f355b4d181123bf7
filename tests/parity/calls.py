"""Calls of the peers that the default installation has: each takes a fixture and a cutoff and gives
a value per query.

A call is named as in the recorded values, so that the same table says which convention reproduces
it. Peers are imported when called.
"""

import math
import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.golden.harness import Fixture

Values = dict[str, float]
Function = Callable[[Fixture, int | None], Values]


@dataclass(frozen=True)
class Call:
    """One call of one peer.

    Attributes
    ----------
    peer, call : str
        As recorded.
    package : str
        Its distribution, whose version is recorded.
    function : callable
        Makes the call.
    takes : callable
        Whether the peer can be given this fixture at this cutoff without dying or hanging.
    """

    peer: str
    call: str
    package: str
    function: Function
    takes: Callable[[Fixture, int | None], bool] = lambda fixture, cutoff: True


def judged(fixture: Fixture) -> dict[str, dict[str, float]]:
    """Grades by query and document."""
    grades = {
        query: {d: grade for d, _, grade in rows if grade is not None}
        for query, rows in fixture.queries.items()
    }
    return {query: documents for query, documents in grades.items() if documents}


def returned(fixture: Fixture) -> dict[str, dict[str, float]]:
    """Scores by query and document; of a document listed twice the last."""
    scores = {
        query: {d: score for d, score, _ in rows if score is not None}
        for query, rows in fixture.queries.items()
    }
    return {query: documents for query, documents in scores.items() if documents}


def arrays(fixture: Fixture) -> Iterator[tuple[str, list[float], list[float]]]:
    """Query, labels and scores of the returned documents; unjudged ones have label 0."""
    for query, rows in fixture.queries.items():
        listed = [(grade or 0.0, score) for _, score, grade in rows if score is not None]
        if listed:
            yield query, [label for label, _ in listed], [score for _, score in listed]


def whole(grades: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, int]]:
    """Grades as trec_eval and what wraps it take them."""
    return {
        query: {d: math.trunc(grade) for d, grade in documents.items()}
        for query, documents in grades.items()
    }


def all_grades(fixture: Fixture) -> list[float]:
    """Every grade of a fixture."""
    return [grade for documents in judged(fixture).values() for grade in documents.values()]


def is_safe_for_trec_eval(fixture: Fixture, cutoff: int | None) -> bool:
    """A query whose grades are all negative hangs or kills pytrec_eval; it takes no fractions and
    no document twice.
    """
    documents = [
        [d for d, score, _ in rows if score is not None] for rows in fixture.queries.values()
    ]
    return (
        all(max(grades.values()) >= 0 for grades in judged(fixture).values())
        and all(grade == math.trunc(grade) for grade in all_grades(fixture))
        and all(len(set(ids)) == len(ids) for ids in documents)
    )


def pytrec_eval_ndcg(fixture: Fixture, cutoff: int | None) -> Values:
    """``RelevanceEvaluator(qrels, {"ndcg_cut.k"}).evaluate(run)``."""
    return pytrec_eval_measure(fixture, "ndcg" if cutoff is None else f"ndcg_cut.{cutoff}")


def pytrec_eval_measure(fixture: Fixture, measure: str) -> Values:
    """Any measure of pytrec_eval by its own name."""
    import pytrec_eval

    results = pytrec_eval.RelevanceEvaluator(whole(judged(fixture)), {measure}).evaluate(
        returned(fixture)
    )
    return {query: values[measure.replace(".", "_")] for query, values in results.items()}


def ir_measures_value(measure: str) -> Function:
    """``ir_measures.iter_calc([measure], qrels, run)``; ``{k}`` stands for the cutoff."""

    def call(fixture: Fixture, cutoff: int | None) -> Values:
        import ir_measures

        text = measure.replace("{k}", "" if cutoff is None else f"@{cutoff}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", (DeprecationWarning, ResourceWarning))
            found = ir_measures.iter_calc(
                [ir_measures.parse_measure(text)], whole(judged(fixture)), returned(fixture)
            )
            return {metric.query_id: metric.value for metric in found}

    return call


def is_fit_for_gdeval(fixture: Fixture, cutoff: int | None) -> bool:
    """gdeval.pl is a Perl program for numeric topics and grades up to 4, with a cutoff."""
    numeric = all(query.isdecimal() for query in fixture.queries)
    return (
        is_safe_for_trec_eval(fixture, cutoff)
        and cutoff is not None
        and numeric
        and max(all_grades(fixture)) <= 4
        and bool(shutil.which("perl"))
    )


def sklearn_ndcg(fixture: Fixture, cutoff: int | None) -> Values:
    """``ndcg_score([labels], [scores], k=k)``."""
    from sklearn.metrics import ndcg_score

    return {
        query: float(ndcg_score([labels], [scores], k=cutoff))
        for query, labels, scores in arrays(fixture)
    }


def is_fit_for_sklearn(fixture: Fixture, cutoff: int | None) -> bool:
    """It refuses lists of one document, infinite scores and negative labels."""
    return all(
        len(labels) > 1 and min(labels) >= 0 and np.isfinite(scores).all()
        for _, labels, scores in arrays(fixture)
    )


def lightgbm_ndcg(**options: Any) -> Function:
    """Metric ``ndcg`` of a booster without trees whose scores come as ``init_score``; one data set
    a query.
    """

    def call(fixture: Fixture, cutoff: int | None) -> Values:
        import lightgbm

        values: Values = {}
        for query, labels, scores in arrays(fixture):
            params = {
                "objective": "lambdarank",
                "metric": "ndcg",
                "eval_at": [cutoff or 1000],
                "verbosity": -1,
                "num_threads": 1,
                **options,
            }
            params |= {"min_data_in_bin": 1, "feature_pre_filter": False}
            items = lightgbm.Dataset(
                np.arange(len(labels), dtype=float).reshape(-1, 1),
                labels,
                group=[len(labels)],
                init_score=np.array(scores),
                params=params,
            )
            booster = lightgbm.Booster(
                {**params, "label_gain": params.get("label_gain", "")}
                if "label_gain" in params
                else params,
                items,
            )
            values[query] = booster.eval_train()[0][2]
        return values

    return call


def is_fit_for_lightgbm(fixture: Fixture, cutoff: int | None) -> bool:
    """Whole labels from 0 to 30."""
    return all(
        0 <= label <= 30 and label == int(label)
        for _, labels, _ in arrays(fixture)
        for label in labels
    )


def xgboost_ndcg(suffix: str = "", *, exponential: bool = True) -> Function:
    """Evaluation metric ``ndcg@k`` of a booster without trees whose scores come as ``base_margin``;
    one matrix a query.
    """

    def call(fixture: Fixture, cutoff: int | None) -> Values:
        import xgboost

        metric = f"ndcg{suffix}" if cutoff is None else f"ndcg@{cutoff}{suffix}"
        values: Values = {}
        for query, labels, scores in arrays(fixture):
            items = xgboost.DMatrix(
                np.zeros((len(labels), 1)),
                labels,
                group=[len(labels)],
                base_margin=np.array(scores, np.float32),
                nthread=1,
            )
            params = {
                "objective": "rank:ndcg",
                "eval_metric": metric,
                "ndcg_exp_gain": exponential,
                "nthread": 1,
                "verbosity": 0,
            }
            values[query] = float(xgboost.Booster(params, [items]).eval(items).rpartition(":")[2])
        return values

    return call


def is_fit_for_xgboost(fixture: Fixture, cutoff: int | None) -> bool:
    """Whole labels from 0 to 31."""
    return all(
        0 <= label <= 31 and label == int(label)
        for _, labels, _ in arrays(fixture)
        for label in labels
    )


DEFAULT_CALLS: tuple[Call, ...] = (
    Call(
        "pytrec_eval-terrier",
        "RelevanceEvaluator ndcg",
        "pytrec-eval-terrier",
        pytrec_eval_ndcg,
        is_safe_for_trec_eval,
    ),
    Call(
        "ir_measures", "nDCG@k", "ir-measures", ir_measures_value("nDCG{k}"), is_safe_for_trec_eval
    ),
    Call(
        "ir_measures",
        "nDCG(dcg='exp-log2')@k",
        "ir-measures",
        ir_measures_value("nDCG(dcg='exp-log2'){k}"),
        is_fit_for_gdeval,
    ),
    Call(
        "scikit-learn",
        "ndcg_score(ignore_ties=False)",
        "scikit-learn",
        sklearn_ndcg,
        is_fit_for_sklearn,
    ),
    Call(
        "lightgbm",
        "metric=ndcg default label_gain",
        "lightgbm",
        lightgbm_ndcg(),
        is_fit_for_lightgbm,
    ),
    Call(
        "lightgbm",
        "metric=ndcg label_gain=0,1,2,..",
        "lightgbm",
        lightgbm_ndcg(label_gain=",".join(map(str, range(31)))),
        is_fit_for_lightgbm,
    ),
    Call(
        "xgboost",
        "eval_metric=ndcg[@k], ndcg_exp_gain=True",
        "xgboost-cpu",
        xgboost_ndcg(),
        is_fit_for_xgboost,
    ),
    Call(
        "xgboost",
        "eval_metric=ndcg[@k]-, ndcg_exp_gain=True",
        "xgboost-cpu",
        xgboost_ndcg("-"),
        is_fit_for_xgboost,
    ),
    Call(
        "xgboost",
        "eval_metric=ndcg[@k], ndcg_exp_gain=False",
        "xgboost-cpu",
        xgboost_ndcg(exponential=False),
    ),
)
