"""Calls of recommender libraries, which know the items that a user liked, and no grades; see
`calls`.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.golden.harness import Fixture
from tests.parity.calls import Call, Function, Values, judged, returned


def liked(fixture: Fixture) -> dict[str, list[str]]:
    """Items of grade 1 or more by user; users without one are in no table of likes."""
    items = {
        query: [document for document, grade in grades.items() if grade >= 1]
        for query, grades in judged(fixture).items()
    }
    return {query: documents for query, documents in items.items() if documents}


def ranked(fixture: Fixture) -> dict[str, list[str]]:
    """Items by user from the top; equal scores in input order."""
    return {
        query: sorted(scores, key=lambda document: -scores[document])
        for query, scores in returned(fixture).items()
    }


def takes_cutoff(fixture: Fixture, cutoff: int | None) -> bool:
    """A cutoff, likes, and no document twice."""
    lists = [
        [document for document, score, _ in rows if score is not None]
        for rows in fixture.queries.values()
    ]
    once = all(len(set(documents)) == len(documents) for documents in lists)
    return cutoff is not None and once and bool(liked(fixture))


def takes_answered(fixture: Fixture, cutoff: int | None) -> bool:
    """Besides, every judged user likes something and has recommendations."""
    likes = liked(fixture)
    return (
        takes_cutoff(fixture, cutoff)
        and set(likes) == set(judged(fixture))
        and set(likes) <= set(returned(fixture))
    )


def rectools_metric(name: str, **options: Any) -> Function:
    """``METRIC(k, ...).calc_per_user(reco, interactions)`` of ``rectools.metrics``."""

    def call(fixture: Fixture, cutoff: int | None) -> Values:
        import pandas as pd
        from rectools import metrics

        rows = [
            (user, item, rank)
            for user, items in ranked(fixture).items()
            for rank, item in enumerate(items, 1)
        ]
        reco = pd.DataFrame(rows, columns=["user_id", "item_id", "rank"])
        pairs = [(user, item) for user, items in liked(fixture).items() for item in items]
        interactions = pd.DataFrame(pairs, columns=["user_id", "item_id"])
        metric = getattr(metrics, name)(k=cutoff, **options)
        values = metric.calc_per_user(reco, interactions)
        return {str(user): float(value) for user, value in values.items()}

    call.__doc__ = f"``{name}(k, {options}).calc_per_user(reco, interactions)`` of rectools.metrics"
    return call


class _Recommends:
    """What `implicit` asks of a model: the best items of some users; -1 after the last."""

    def __init__(self, lists: list[list[int]]) -> None:
        self._lists = lists

    def recommend(self, users: Any, _items: Any, N: int = 10, **_: Any) -> tuple[Any, Any]:  # noqa: N803  (its name)
        ids = np.full((len(users), N), -1, np.int32)
        for row, user in enumerate(users):
            best = self._lists[user][:N]
            ids[row, : len(best)] = best
        return ids, np.zeros(ids.shape, np.float32)


def implicit_metric(name: str) -> Function:
    """``ranking_metrics_at_k(model, train, test, K)`` of ``implicit.evaluation``, one user each."""

    def call(fixture: Fixture, cutoff: int | None) -> Values:
        from implicit.evaluation import ranking_metrics_at_k
        from scipy.sparse import csr_matrix

        lists = ranked(fixture)
        values: Values = {}
        for user, items in liked(fixture).items():
            recommended = lists.get(user, [])
            number = {item: place for place, item in enumerate(dict.fromkeys(items + recommended))}
            test = np.zeros((1, len(number) + 1))  # the last item is liked by nobody
            test[0, [number[item] for item in items]] = 1
            model = _Recommends([[number[item] for item in recommended]])
            train = csr_matrix(test.shape)
            result: Mapping[str, float] = ranking_metrics_at_k(
                model, train, csr_matrix(test), K=cutoff, show_progress=False
            )
            values[user] = float(result[name])
        return values

    call.__doc__ = f"``ranking_metrics_at_k(model, train, test, K)[{name!r}]``, one user each"
    return call


def lenskit_metric(name: str) -> Function:
    """``METRIC(n=k).measure_list(recommended, liked)`` of ``lenskit.metrics``."""

    def call(fixture: Fixture, cutoff: int | None) -> Values:
        from lenskit import metrics
        from lenskit.data import ItemList

        metric = getattr(metrics, name)(n=cutoff)
        lists = ranked(fixture)
        return {
            user: float(
                metric.measure_list(
                    ItemList(item_ids=lists[user], ordered=True), ItemList(item_ids=items)
                )
            )
            for user, items in liked(fixture).items()
        }

    call.__doc__ = f"``{name}(n=k).measure_list(recommended, liked)`` of lenskit.metrics"
    return call


RECOMMENDER_CALLS: tuple[Call, ...] = (
    Call("rectools", "NDCG(k)", "rectools", rectools_metric("NDCG"), takes_cutoff),
    Call(
        "rectools",
        "NDCG(k, divide_by_achievable=True)",
        "rectools",
        rectools_metric("NDCG", divide_by_achievable=True),
        takes_cutoff,
    ),
    Call("rectools", "MAP(k)", "rectools", rectools_metric("MAP"), takes_cutoff),
    Call("rectools", "Recall(k)", "rectools", rectools_metric("Recall"), takes_cutoff),
    Call(
        "rectools",
        "Precision(k, r_precision=True)",
        "rectools",
        rectools_metric("Precision", r_precision=True),
        takes_cutoff,
    ),
    Call(
        "implicit",
        "ranking_metrics_at_k ndcg",
        "implicit",
        implicit_metric("ndcg"),
        takes_cutoff,
    ),
    Call("implicit", "ranking_metrics_at_k map", "implicit", implicit_metric("map"), takes_cutoff),
    Call("lenskit", "NDCG(n=k)", "lenskit", lenskit_metric("NDCG"), takes_answered),
    Call("lenskit", "Recall(n=k)", "lenskit", lenskit_metric("Recall"), takes_answered),
)
