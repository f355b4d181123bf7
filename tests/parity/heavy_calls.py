"""Calls of the peers that `make test-peers` installs beside the default ones; see `calls`."""

import importlib
import importlib.util
import math
import os
import sys
import types
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tests.golden.harness import Fixture
from tests.parity.calls import Call, Function, Values, all_grades, arrays, judged, returned
from tests.parity.recommender_calls import RECOMMENDER_CALLS

# Sorts of these peers keep the order of ties in short lists only.
STABLE_UP_TO = 15


def short_or_untied(fixture: Fixture, cutoff: int | None) -> bool:
    """True if an unstable sort cannot show."""
    return all(
        len(scores) <= STABLE_UP_TO or len(set(scores)) == len(scores)
        for _, _, scores in arrays(fixture)
    )


def is_small(fixture: Fixture, cutoff: int | None) -> bool:
    """Whether 2^grade is a float32."""
    return max(all_grades(fixture), default=0) < 100


def is_whole(fixture: Fixture, cutoff: int | None) -> bool:
    """True if all grades are whole numbers."""
    return all(grade == math.trunc(grade) for grade in all_grades(fixture))


def by_score(rows: Mapping[str, float]) -> list[str]:
    """Documents from the top; equal scores in input order."""
    return sorted(rows, key=lambda document: -rows[document])


def sorted_labels(labels: Sequence[float], scores: Sequence[float]) -> list[float]:
    """Labels in the order of the scores, stable."""
    return [labels[i] for i in sorted(range(len(labels)), key=lambda i: -scores[i])]


def has_each_once(fixture: Fixture, cutoff: int | None) -> bool:
    """True if no document comes twice."""
    documents = [
        [d for d, score, _ in rows if score is not None] for rows in fixture.queries.values()
    ]
    return all(len(ids) == len(set(ids)) for ids in documents)


def ranx_ndcg(metric: str) -> Function:
    """``evaluate(Qrels, Run, metric)``; per-query values from ``run.scores``."""

    def call(fixture: Fixture, cutoff: int | None) -> Values:
        import ranx

        run = ranx.Run.from_dict(returned(fixture))
        name = metric if cutoff is None else f"{metric}@{cutoff}"
        ranx.evaluate(
            ranx.Qrels.from_dict(
                {q: {d: int(g) for d, g in one.items()} for q, one in judged(fixture).items()}
            ),
            run,
            name,
        )
        return {query: float(value) for query, value in run.scores[name].items()}

    return call


def is_fit_for_ranx(fixture: Fixture, cutoff: int | None) -> bool:
    """It wants the same queries on both sides, and a list short enough for its sort."""
    return (
        set(judged(fixture)) == set(returned(fixture))
        and short_or_untied(fixture, cutoff)
        and is_small(fixture, cutoff)
    )


def catboost_ndcg(metric: str) -> Function:
    """``catboost.utils.eval_metric(labels, scores, metric, group_id)``."""

    def call(fixture: Fixture, cutoff: int | None) -> Values:
        from catboost.utils import eval_metric

        name = metric if cutoff is None else f"{metric};top={cutoff}"
        return {
            query: eval_metric(labels, scores, name, group_id=[0] * len(labels))[0]
            for query, labels, scores in arrays(fixture)
        }

    return call


def torchmetrics_ndcg(fixture: Fixture, cutoff: int | None) -> Values:
    """``retrieval_normalized_dcg(preds, target, top_k)``."""
    import torch
    from torchmetrics.functional.retrieval import retrieval_normalized_dcg

    # The numbers are those of float32; whole labels are passed as such, for the function refuses no
    # other binary case.
    return {
        query: float(
            retrieval_normalized_dcg(
                torch.tensor(scores, dtype=torch.float32), torch.tensor(labels), top_k=cutoff
            )
        )
        for query, labels, scores in arrays(fixture)
    }


def ignite_ndcg(fixture: Fixture, cutoff: int | None) -> Values:
    """``NDCG(top_k=[k], ignore_zero_hits=False)``, a query an epoch."""
    import torch
    from ignite.metrics import NDCG

    values: Values = {}
    for query, labels, scores in arrays(fixture):
        metric = NDCG(top_k=[min(cutoff or len(labels), len(labels))], ignore_zero_hits=False)
        metric.update(
            (
                torch.tensor([scores], dtype=torch.float32),
                torch.tensor([labels], dtype=torch.float32),
            )
        )
        values[query] = float(metric.compute()[0])
    return values


def rax_ndcg(fixture: Fixture, cutoff: int | None) -> Values:
    """``rax.ndcg_metric(scores, labels, topn=k)``."""
    import jax.numpy as jnp
    import rax

    return {
        query: float(rax.ndcg_metric(jnp.array(scores), jnp.array(labels), topn=cutoff))
        for query, labels, scores in arrays(fixture)
    }


def keras_rs_ndcg(fixture: Fixture, cutoff: int | None) -> Values:
    """``keras_rs.metrics.NDCG(k, shuffle_ties=False)`` on torch."""
    os.environ.setdefault("KERAS_BACKEND", "torch")
    import keras_rs

    values: Values = {}
    for query, labels, scores in arrays(fixture):
        metric = keras_rs.metrics.NDCG(k=cutoff, shuffle_ties=False)
        metric.update_state(np.array([labels], np.float32), np.array([scores], np.float32))
        values[query] = float(metric.result())
    return values


def is_fit_for_keras_rs(fixture: Fixture, cutoff: int | None) -> bool:
    """On torch it shifts scores by 1e-6 x place to break ties, which moves near-ties; it masks
    negative labels.
    """
    gaps = [
        abs(a - b) for _, _, scores in arrays(fixture) for a in scores for b in scores if a != b
    ]
    return (
        is_small(fixture, cutoff)
        and min(gaps, default=1.0) > 1e-3
        and max((abs(s) for *_, scores in arrays(fixture) for s in scores), default=0) < 8
    )


def tensorflow_ranking() -> Any:
    """The Keras metrics of TensorFlow Ranking, whose package imports parts of TensorFlow that are
    gone: stand-ins for its packages find the modules of the metrics alone.
    """
    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    name = "tensorflow_ranking"
    if name not in sys.modules:
        spec = importlib.util.find_spec(name)
        assert spec is not None
        (root,) = spec.submodule_search_locations or ()
        for package in ("", ".python", ".python.keras"):
            stand_in = types.ModuleType(name + package)
            stand_in.__path__ = [root + package.replace(".", "/")]
            sys.modules[name + package] = stand_in
    return importlib.import_module(f"{name}.python.keras.metrics")


def tensorflow_ranking_ndcg(fixture: Fixture, cutoff: int | None) -> Values:
    """``tfr.keras.metrics.NDCGMetric(topn=k)([labels], [scores])``."""
    metrics = tensorflow_ranking()
    return {
        query: float(metrics.NDCGMetric(topn=cutoff)([labels], [scores]))
        for query, labels, scores in arrays(fixture)
    }


def is_untied(fixture: Fixture, cutoff: int | None) -> bool:
    """True if no list has equal scores as float32, whose order would be random, and gains are
    numbers of float32.
    """
    return is_small(fixture, cutoff) and all(
        len({float(np.float32(score)) for score in scores}) == len(scores)
        and all(math.isfinite(score) for score in scores)
        for _, _, scores in arrays(fixture)
    )


def allrank_ndcg(fixture: Fixture, cutoff: int | None) -> Values:
    """``allrank.models.metrics.ndcg(scores, labels, ats=[k])``."""
    import torch

    # What the package loads data sets with wants a torchvision and a cloud client of 2021; the
    # metric wants one constant of it.
    loading = types.ModuleType("allrank.data.dataset_loading")
    loading.PADDED_Y_VALUE = -1  # type: ignore[attr-defined]
    sys.modules.setdefault("allrank.data.dataset_loading", loading)
    from allrank.models.metrics import ndcg

    return {
        query: float(
            ndcg(
                torch.tensor([scores], dtype=torch.float32),
                torch.tensor([labels], dtype=torch.float32),
                ats=[cutoff or len(labels)],
            )[0, 0]
        )
        for query, labels, scores in arrays(fixture)
    }


def pyltr_ndcg(fixture: Fixture, cutoff: int | None) -> Values:
    """``pyltr.metrics.NDCG(k, gain_type="exp2").evaluate(qid, labels in rank order)``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pyltr

    metric = pyltr.metrics.NDCG(k=cutoff or 10**6, gain_type="exp2")
    return {
        query: float(metric.evaluate(query, np.array(sorted_labels(labels, scores))))
        for query, labels, scores in arrays(fixture)
    }


def has_no_all_negative(fixture: Fixture, cutoff: int | None) -> bool:
    """pyltr divides by the smallest float where the ideal is negative."""
    return is_small(fixture, cutoff) and all(max(labels) >= 0 for _, labels, _ in arrays(fixture))


def lenskit_ndcg(fixture: Fixture, cutoff: int | None) -> Values:
    """``RunAnalysis().measure(lists, ratings)`` with ``NDCG(n=k, gain="rating")``, then
    ``list_metrics(fill_missing=True)``.
    """
    from lenskit.data import ItemList, ItemListCollection
    from lenskit.metrics import NDCG, RunAnalysis

    lists, ratings = ItemListCollection(["query"]), ItemListCollection(["query"])
    for query, scores in returned(fixture).items():
        lists.add(ItemList(item_ids=by_score(scores), ordered=True), query=query)
    for query, grades in judged(fixture).items():
        ratings.add(
            ItemList(item_ids=list(grades), rating=np.array(list(grades.values()))), query=query
        )
    analysis = RunAnalysis()
    analysis.add_metric(NDCG(n=cutoff, gain="rating"))
    with warnings.catch_warnings():
        # 0 / 0 where no rating is above 0, filled with 0 later
        warnings.simplefilter("ignore", RuntimeWarning)
        found = analysis.measure(lists, ratings).list_metrics(fill_missing=True)
    return {
        str(query): float(value)
        for query, value in found.iloc[:, 0].items()
        if query in judged(fixture)
    }


def trectools_ndcg(fixture: Fixture, cutoff: int | None) -> Values:
    """``TrecEval(run, qrels).get_ndcg(depth=k, per_query=True)``; queries whose value is 0 have no
    row.
    """
    import pandas as pd
    from trectools import TrecEval, TrecQrel, TrecRun

    run, qrels = TrecRun(), TrecQrel()
    lines = [
        (q, "Q0", d, 0, score, "tag")
        for q, rows in returned(fixture).items()
        for d, score in rows.items()
    ]
    run.run_data = pd.DataFrame(lines, columns=["query", "q0", "docid", "rank", "score", "system"])
    run.run_data = run.run_data.sort_values(
        ["query", "score", "docid"], ascending=[True, False, True]
    ).reset_index(drop=True)
    qrels.qrels_data = pd.DataFrame(
        [(q, 0, d, grade) for q, grades in judged(fixture).items() for d, grade in grades.items()],
        columns=["query", "q0", "docid", "rel"],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = TrecEval(run, qrels).get_ndcg(depth=cutoff or 1000, per_query=True)
    shown = {
        query: float(value) for query, value in found.iloc[:, 0].items() if not math.isnan(value)
    }
    return {query: shown.get(query, 0.0) for query in returned(fixture)}


def rankkit_ndcg(gain: str) -> Function:
    """``rankkit.ndcg(Run(qid, ranking, relevance), k, gain)``; None where no document is
    relevant.
    """

    def call(fixture: Fixture, cutoff: int | None) -> Values:
        import rankkit

        scores = returned(fixture)
        values: dict[str, Any] = {
            query: rankkit.ndcg(
                rankkit.Run(query, tuple(by_score(scores[query])), grades),
                k=cutoff or 10**6,
                gain=gain,
            )
            for query, grades in judged(fixture).items()
            if query in scores
        }
        return values

    return call


def ntcireval_ndcg(base: int) -> Function:
    """``pyNTCIREVAL.metrics.ndcg.nDCG(xrelnum, grades, logb, cutoff).compute(ranking)``."""

    def call(fixture: Fixture, cutoff: int | None) -> Values:
        from pyNTCIREVAL.metrics.ndcg import nDCG

        values: Values = {}
        for query, grades in judged(fixture).items():
            top = int(max(grades.values()))
            counts = [sum(grade == level for grade in grades.values()) for level in range(top + 1)]
            ranking = [
                (d, int(grades[d]) if d in grades else None)
                for d in by_score(returned(fixture)[query])
            ]
            values[query] = nDCG(counts, list(range(1, top + 1)), base, cutoff).compute(ranking)
        return values

    return call


def is_fit_for_ntcireval(fixture: Fixture, cutoff: int | None) -> bool:
    """Whole grades from 0, one above 0 in every query, every query answered, no document twice."""
    small = (
        set(judged(fixture)) <= set(returned(fixture))
        and is_whole(fixture, cutoff)
        and max(all_grades(fixture), default=0) < 100
    )
    return (
        small
        and has_each_once(fixture, cutoff)
        and all(min(g.values()) >= 0 < max(g.values()) for g in judged(fixture).values())
    )


def is_fit_for_rankkit(fixture: Fixture, cutoff: int | None) -> bool:
    """Grades from 0, no document twice."""
    return (
        min(all_grades(fixture), default=0) >= 0
        and has_each_once(fixture, cutoff)
        and is_small(fixture, cutoff)
    )


def is_fit_for_lenskit(fixture: Fixture, cutoff: int | None) -> bool:
    """No document twice, every query answered: a user without recommendations is left out of the
    analysis.
    """
    return has_each_once(fixture, cutoff) and set(judged(fixture)) <= set(returned(fixture))


HEAVY_CALLS: tuple[Call, ...] = (
    Call("ranx", "evaluate(Qrels,Run,'ndcg')", "ranx", ranx_ndcg("ndcg"), is_fit_for_ranx),
    Call(
        "ranx",
        "evaluate(Qrels,Run,'ndcg_burges')",
        "ranx",
        ranx_ndcg("ndcg_burges"),
        is_fit_for_ranx,
    ),
    Call(
        "catboost",
        "NDCG:type=Base;denominator=LogPosition",
        "catboost",
        catboost_ndcg("NDCG:type=Base;denominator=LogPosition"),
    ),
    Call(
        "catboost",
        "NDCG:type=Exp;denominator=LogPosition",
        "catboost",
        catboost_ndcg("NDCG:type=Exp;denominator=LogPosition"),
        is_small,
    ),
    Call("torchmetrics", "functional.retrieval_normalized_dcg", "torchmetrics", torchmetrics_ndcg),
    Call(
        "pytorch-ignite",
        "NDCG(gain_function='exp_rank',ignore_zero_hits=False)",
        "pytorch-ignite",
        ignite_ndcg,
        is_small,
    ),
    Call("rax", "ndcg_metric default gain 2^y-1", "rax", rax_ndcg, is_small),
    Call(
        "keras-rs",
        "metrics.NDCG(shuffle_ties=False) torch backend",
        "keras-rs",
        keras_rs_ndcg,
        is_fit_for_keras_rs,
    ),
    Call(
        "tensorflow-ranking",
        "keras.metrics.NDCGMetric per list",
        "tensorflow-ranking",
        tensorflow_ranking_ndcg,
        is_untied,
    ),
    Call(
        "allrank",
        "models.metrics.ndcg default gain 2^x-1",
        "allrank",
        allrank_ndcg,
        lambda fixture, cutoff: short_or_untied(fixture, cutoff) and is_small(fixture, cutoff),
    ),
    Call("pyltr", "NDCG(gain_type='exp2') caller sorts", "pyltr", pyltr_ndcg, has_no_all_negative),
    Call(
        "lenskit",
        "NDCG(gain='rating') default LogRankWeight",
        "lenskit",
        lenskit_ndcg,
        is_fit_for_lenskit,
    ),
    Call("trectools", "get_ndcg(trec_eval=True)", "trectools", trectools_ndcg, has_each_once),
    Call("rankkit", "ndcg(gain='exp')", "rankkit", rankkit_ndcg("exp"), is_fit_for_rankkit),
    Call(
        "pyNTCIREVAL",
        "nDCG (original J&K), log base 2",
        "pyNTCIREVAL",
        ntcireval_ndcg(2),
        is_fit_for_ntcireval,
    ),
    *RECOMMENDER_CALLS,
)
