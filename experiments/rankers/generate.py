"""A synthetic search log of the paper's shape: 40 queries, 5,000 documents each, 40 features, and
clicks.

Wang et al. (COLT 2013, Appendix A) draw their figures from a search engine's log that is not
public. `queries` makes a log of that shape, one query at a time, so that a query's 5,000 x 40
features are all that is ever held.

What is realistic
    Features come in groups, as in learning-to-rank collections: sixteen views of one topical match,
    of different quality, ten of a document's authority, six of its length, and eight that say
    nothing. Some are skewed, some saturate. Features have eight bits after the point. Relevance is
    not linear in them: what is off topic loses most of its clicks, authority counts for more the
    better a document matches, and a length that suits the query is best, so that no linear ranker
    reaches the truth. How much authority and length count, and which length is best, differs from
    query to query. Clicks are heavy-tailed (log-normal given relevance), over a popularity that
    differs from query to query. Grades follow from clicks as in the paper: 2 above 1,000 clicks, 1
    from 100 to 1,000, else 0.

What is not
    No text, no users, no sessions: clicks do not depend on where a document was shown, so there is
    no position bias and no feedback from an old ranking. Documents of a query are independent and
    identically distributed, hence exchangeable in time: the theory assumes it, real logs do not
    obey it. `drift` breaks it on purpose: later documents then have fewer clicks, having had less
    time. Queries differ in how much features count, not in what features mean. Nobody judged
    anything.

``python -m experiments.rankers.generate`` prints what was made: clicks and the shares of the
grades, query by query.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MATCH, AUTHORITY, LENGTH, NOISE = 16, 10, 6, 8
N_FEATURES = MATCH + AUTHORITY + LENGTH + NOISE
# features are multiples of it: a weighted sum of them has no rounding error, in any order, on any
# processor
STEP = 1 / 256
MANY, SOME = 1_000, 100  # clicks: more than MANY is grade 2, at least SOME is grade 1
# documents that match less are about something else, and lose most of their clicks
OFF_TOPIC = -0.3
TRAINING, TEST = 0, 1  # parts of the log, which share no query and no random number

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Query:
    """One query's documents, in the order in which they were created.

    Parameters
    ----------
    features : float array, shape (n_documents, 40)
        Multiples of 1/256.
    clicks : int array, shape (n_documents,)
        At least 0.
    """

    features: FloatArray
    clicks: NDArray[np.int64]

    @property
    def grades(self) -> NDArray[np.uint8]:
        """2 above 1,000 clicks, 1 from 100 to 1,000, else 0; shape (n_documents,)."""
        return ((self.clicks >= SOME).astype(np.uint8) + (self.clicks > MANY)).astype(np.uint8)


@dataclass(frozen=True, kw_only=True)
class World:
    """What all queries share: how well each feature shows the quality behind it. Drawn once from
    the seed.
    """

    clarity: FloatArray  # correlation of a feature with its quality, shape (32,)
    bend: NDArray[np.int64]  # 0: as it is, 1: skewed, 2: saturated; shape (32,)


def world(seed: int) -> World:
    """The world of a seed."""
    rng = np.random.default_rng([seed, 2])
    clarity = np.concatenate(
        [
            rng.uniform(0.15, 0.75, MATCH),
            rng.uniform(0.15, 0.7, AUTHORITY),
            rng.uniform(0.3, 0.8, LENGTH),
        ]
    )
    return World(clarity=clarity, bend=rng.integers(0, 3, clarity.size))


def queries(
    seed: int, part: int, n_queries: int, n_documents: int, drift: float = 0.0
) -> Iterator[Query]:
    """Queries of one part of the log, one after the other; query `i` does not depend on how many
    are asked for.

    Parameters
    ----------
    seed : int
        The world, and every query in it.
    part : int
        `TRAINING` or `TEST`.
    n_queries, n_documents : int
        How many, and how many documents each.
    drift : float
        How much lower the expected log clicks of the last document are than those of the first; 0,
        the default, keeps documents exchangeable.
    """
    shared = world(seed)
    for number in range(n_queries):
        yield _query(shared, np.random.default_rng([seed, part, number]), n_documents, drift)


def _query(shared: World, rng: np.random.Generator, n_documents: int, drift: float) -> Query:
    match, authority, length = rng.standard_normal((3, n_documents))
    features = _features(shared, rng, match, authority, length)
    truth = _relevance(rng, match, authority, length)
    popularity = rng.normal(4.0, 0.5)
    age = drift * np.arange(n_documents) / n_documents
    log_clicks = popularity + truth - age + 1.1 * rng.standard_normal(n_documents)
    return Query(features=features, clicks=np.floor(np.exp(log_clicks)).astype(np.int64))


def _features(
    shared: World,
    rng: np.random.Generator,
    match: FloatArray,
    authority: FloatArray,
    length: FloatArray,
) -> FloatArray:
    """Noisy, bent views of the three qualities, and noise; shape (n_documents, 40)."""
    qualities = np.repeat(
        np.stack([match, authority, length], axis=1), [MATCH, AUTHORITY, LENGTH], axis=1
    )
    blur = np.sqrt(1 - shared.clarity**2)
    views = shared.clarity * qualities + blur * rng.standard_normal(qualities.shape)
    views = np.where(shared.bend == 1, np.expm1(0.5 * views), views)
    views = np.where(shared.bend == 2, np.tanh(views), views)
    noise = rng.standard_normal((match.size, NOISE))
    return np.rint(np.concatenate([views, noise], axis=1) / STEP) * STEP


def _relevance(
    rng: np.random.Generator, match: FloatArray, authority: FloatArray, length: FloatArray
) -> FloatArray:
    """What moves log clicks; how much each part counts is the query's own. Shape (n_documents,)."""
    on_authority, on_length = np.exp(rng.normal(0, 0.25, 2)) * [1.0, 0.4]
    suits = rng.normal(0, 0.5)  # the length this query likes best
    off_topic = 2.0 * (match < OFF_TOPIC)
    # an authority is worth more the more it is about the query
    together = np.maximum(match, 0) * authority
    trusted = on_authority * (0.7 * together + 0.6 * np.maximum(authority, 0) ** 2)
    return trusted - off_topic - on_length * (length - suits) ** 2


def summary(query: Query) -> str:
    """Clicks and shares of the grades, in one line."""
    shares = np.bincount(query.grades, minlength=3) / query.grades.size
    quantiles = np.quantile(query.clicks, [0.5, 0.9, 0.99])
    told = "  ".join(f"{share:6.1%}" for share in shares)
    return (
        f"{told}   {quantiles[0]:7.0f} {quantiles[1]:7.0f} {quantiles[2]:7.0f} "
        f"{query.clicks.max():8d}"
    )


def main() -> None:
    """Print what the seed makes."""
    parser = argparse.ArgumentParser(
        description="Make a synthetic click log of the paper's shape and print its clicks and "
        "grades; "
        "nothing is written.",
        epilog="Example: python -m experiments.rankers.generate --queries 5 --documents 1000",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=2013,
        help="the world and every query in it (default %(default)s)",
    )
    parser.add_argument(
        "--queries", type=int, default=40, help="how many test queries (default %(default)s)"
    )
    parser.add_argument(
        "--documents", type=int, default=5000, help="documents a query (default %(default)s)"
    )
    parser.add_argument(
        "--drift",
        type=float,
        default=0.0,
        help="fall of log clicks from the first to the last document (default 0)",
    )
    options = parser.parse_args()
    print("query  grade 0       1       2   clicks: median    90 %    99 %  largest")
    for number, query in enumerate(
        queries(options.seed, TEST, options.queries, options.documents, options.drift)
    ):
        print(f"{number:5d}   {summary(query)}")


if __name__ == "__main__":
    main()
