"""NDCG of random lists under six discounts and cutoffs: NAME SAMPLES DOCUMENTS; prints the mean of
each and the time.

Both draw the same lists. One list is drawn and valued before the clock starts: it fills the tables
of weights.
"""

import json
import sys
import time
from typing import Any

import numpy as np

SEED = 1
MEASURES = [
    ("log2", None),
    ("zipf(0.5)", None),
    ("zipf(0.8)", None),
    ("reciprocal", None),
    ("log2", "0.2n"),
    ("zipf(0.5)", "0.2n"),
]


def ybar(score: Any) -> Any:
    return 0.1 + 0.8 * score


def by_idealrank(samples: int, documents: int) -> Any:
    from idealrank.theory import simulate_many  # noqa: PLC0415  (each process loads one contender)

    return simulate_many(ybar, documents, samples, MEASURES, rng=SEED)


def one_by_one(samples: int, documents: int) -> Any:
    """A loop over lists and measures, as one writes it with `ndcg`; the lists are those of
    `simulate_many` where a block is one.
    """
    from idealrank import ndcg  # noqa: PLC0415

    rng = np.random.default_rng(SEED)
    values, children = np.empty((samples, len(MEASURES))), rng.spawn(samples)
    for row in range(samples):
        stream = children[row] if row else rng
        steps = np.cumsum(stream.standard_exponential(documents + 1))
        depth = steps[:-1] / steps[-1]
        labels = (stream.random(documents) < ybar(1 - depth)).astype(float)
        values[row] = [
            ndcg(labels, -depth, cutoff, discount=discount)[0] for discount, cutoff in MEASURES
        ]
    return values


CONTENDERS = {"idealrank": by_idealrank, "one-by-one": one_by_one}


def main() -> None:
    call, samples, documents = CONTENDERS[sys.argv[1]], int(sys.argv[2]), int(sys.argv[3])
    call(1, documents)
    wall, cpu = time.perf_counter(), time.process_time()
    values = call(samples, documents)
    taken = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
    print(
        json.dumps(
            {
                "means": {
                    str(measure): mean
                    for measure, mean in zip(MEASURES, values.mean(axis=0), strict=True)
                }
            }
            | taken
        )
    )


if __name__ == "__main__":
    main()
