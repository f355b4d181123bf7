"""Record what two programs say of random pairs of lists.

``python tests/parity/record_pairs.py PROGRAM > tests/parity/pairs_recorded.json``

PROGRAM is rbo/Python/rbo.py of the repository sigir2024-rbo of J. Urbano (Corsi and Urbano 2024);
rbo 0.1.3 must be installed. A list is written in groups of tied documents. ``w`` and ``a`` are the
authors' variants of RBO for ties; ``a`` is recorded for lists of one length, where it is the mean
over all orders. ``rbo`` is rbo_ext of the package, for lists without ties.
"""

import json
import runpy
import sys
import warnings

import numpy as np


def ranking(rng: np.random.Generator, size: int, levels: int) -> list[list[str]]:
    """Random documents of twenty, best first, tied where their random levels are equal."""
    documents = [f"d{number}" for number in rng.permutation(20)[:size]]
    scores = rng.permutation(size) if levels == 0 else rng.integers(0, levels, size)
    return [
        [d for d, s in zip(documents, scores, strict=True) if s == level]
        for level in sorted(set(scores.tolist()), reverse=True)
    ]


def main() -> None:
    from rbo import RankingSimilarity

    authors = runpy.run_path(sys.argv[1])["rbo"]
    rng = np.random.default_rng(2024)
    cases = []
    for size_a, size_b, levels in [
        (10, 10, 0),
        (12, 5, 0),
        (3, 15, 0),
        (10, 10, 4),
        (8, 8, 2),
        (12, 6, 5),
        (5, 12, 3),
        (14, 14, 6),
    ]:
        for p in (0.5, 0.9, 0.98):
            a, b = ranking(rng, size_a, levels), ranking(rng, size_b, levels)
            case = {"run_a": a, "run_b": b, "p": p}
            grouped = [
                [group[0] if len(group) == 1 else set(group) for group in groups]
                for groups in (a, b)
            ]
            for ties in ("w", "a") if levels and size_a == size_b else ("w",):
                with warnings.catch_warnings():
                    # means of nothing below the end of the shorter list
                    warnings.simplefilter("ignore")
                    case[ties] = {
                        name: float(value) for name, value in authors(*grouped, p, ties).items()
                    }
            if levels == 0:
                case["rbo"] = float(
                    RankingSimilarity(
                        *([document for group in groups for document in group] for groups in (a, b))
                    ).rbo_ext(p=p)
                )
            cases.append(case)
    json.dump(cases, sys.stdout, indent=0)


if __name__ == "__main__":
    main()
