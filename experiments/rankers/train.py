"""One command from nothing to the scores of the figures: make the data, train RankSVM and ListNet,
score the test queries.

``python -m experiments.rankers.train`` writes src/idealrank/theory/data/rankers.npz, which is
committed: `idealrank theory figures` draws from it and trains nothing. It takes some seconds, and
the bytes are the same every time and everywhere: a trained direction is rounded to multiples of
2^-14, far coarser than what two processors disagree about, and features are multiples of 2^-8, so
that scores have no rounding error at all.
"""

import argparse
import hashlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.rankers import generate, listnet, ranksvm, scores

DESTINATION = (
    Path(__file__).resolve().parents[2] / "src" / "idealrank" / "theory" / "data" / "rankers.npz"
)
FINENESS = 2**14
# beside generate's TRAINING and TEST, and the world: numbers drawn for one are never drawn for
# another
RANDOM_SCORES = 3
LABELS = {"ranksvm": "RankSVM", "listnet": "ListNet", "random": "random"}

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Setting:
    """How much of everything; the defaults are the paper's shape."""

    seed: int = 2013
    training_queries: int = 40
    training_documents: int = 1000
    test_queries: int = 40
    test_documents: int = 5000


def rounded(weights: FloatArray) -> FloatArray:
    """The direction of the weights, in multiples of 2^-14; the order of documents needs no more
    than a direction.
    """
    return np.rint(weights / np.linalg.norm(weights) * FINENESS) / FINENESS


def directions(setting: Setting) -> dict[str, FloatArray]:
    """Weights of RankSVM and ListNet, trained on the training part."""
    log = list(
        generate.queries(
            setting.seed, generate.TRAINING, setting.training_queries, setting.training_documents
        )
    )
    found = {}
    for name, train in (("ranksvm", ranksvm.train), ("listnet", listnet.train)):
        trained = train(log)
        print(f"{LABELS[name]}: {trained}", file=sys.stderr)
        found[name] = rounded(trained.weights)
    return found


def random_scores(seed: int, number: int, n_documents: int) -> FloatArray:
    """The paper's third ranker: a number in [-1, 1] a document; `number` is the query's."""
    return np.random.default_rng([seed, RANDOM_SCORES, number]).uniform(-1, 1, n_documents)


def rankings(setting: Setting, weights: dict[str, FloatArray]) -> dict[str, NDArray[Any]]:
    """Grades and ranks from below of the test queries, each of shape (test_queries,
    test_documents), in order of creation.
    """
    rows: dict[str, list[NDArray[Any]]] = {name: [] for name in ("grades", *LABELS)}
    test = generate.queries(
        setting.seed, generate.TEST, setting.test_queries, setting.test_documents
    )
    for number, query in enumerate(test):
        rows["grades"].append(query.grades)
        for name, direction in weights.items():
            rows[name].append(scores.ranks_from_below(query.features @ direction))
        rows["random"].append(
            scores.ranks_from_below(random_scores(setting.seed, number, query.grades.size))
        )
    return {name: np.stack(values) for name, values in rows.items()}


def about(setting: Setting, weights: dict[str, FloatArray]) -> dict[str, Any]:
    """What the file says of itself."""
    return {
        "what": "synthetic click log of the shape of Wang et al. (COLT 2013), Appendix A; the "
        "paper's "
        "data are not public",
        "axes": ["query", "document, in order of creation"],
        "grades": "2 above 1,000 clicks, 1 from 100 to 1,000, else 0",
        "rankers": LABELS,
        "values": "rank from below within the query: n is the document the ranker puts first, 1 "
        "the "
        "last; no ties",
        "made_by": "python -m experiments.rankers.train",
        "setting": vars(setting),
        "weights_times_16384": {
            name: np.rint(direction * FINENESS).astype(int).tolist()
            for name, direction in weights.items()
        },
    }


def made(setting: Setting) -> bytes:
    """The whole file."""
    weights = directions(setting)
    print(
        f"scoring {setting.test_queries} x {setting.test_documents:,} documents ...",
        file=sys.stderr,
    )
    return scores.as_bytes(rankings(setting, weights), about(setting, weights))


def main() -> None:
    """Make the file, and say what it is."""
    parser = argparse.ArgumentParser(
        description="Make the synthetic log, train RankSVM and ListNet on one part of it, rank "
        "the other "
        "part with them and at random.",
        epilog="With --check nothing is written, and the exit code is 1 if the file there is not "
        "what would be made.",
    )
    parser.add_argument(
        "--to",
        type=Path,
        default=DESTINATION,
        help="where the scores go (default src/idealrank/theory/data/rankers.npz)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=Setting.seed,
        help="of everything that is random (default %(default)s)",
    )
    parser.add_argument(
        "--check", action="store_true", help="compare with the file instead of writing it"
    )
    options = parser.parse_args()
    content = made(Setting(seed=options.seed))
    told = f"{options.to}: {len(content):,} bytes, SHA-256 {hashlib.sha256(content).hexdigest()}"
    if not options.check:
        scores.write(options.to, content)
    elif not options.to.exists() or options.to.read_bytes() != content:
        sys.exit(
            f"error: {told} would be made, and the file there is another; run without --check "
            f"to replace it"
        )
    print(told)


if __name__ == "__main__":
    main()
