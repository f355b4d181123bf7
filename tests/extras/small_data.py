"""Data that the headline commands share: `python small_data.py rows|vectors`.

``rows`` are feature rows of LETOR, in train.svm and test.svm. ``vectors`` are documents.npy, and a
search whose queries are close to the one document that is relevant, in search.json.
"""

import json
import sys
from pathlib import Path

import numpy as np

QUERIES, LIST, DOCUMENTS, DIMENSIONS = 40, 8, 50, 16


def write_rows(path: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    lines = []
    for query in range(QUERIES):
        for features in rng.normal(size=(LIST, 3)):
            grade = int(np.clip(round(features[0]), 0, 2))
            values = " ".join(f"{place}:{value:.6f}" for place, value in enumerate(features, 1))
            lines.append(f"{grade} qid:{path[:-4]}{query} {values}\n")
    Path(path).write_text("".join(lines), encoding="utf-8")


def write_vectors() -> None:
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(DOCUMENTS, DIMENSIONS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    np.save("documents.npy", vectors)
    np.save("queries.npy", vectors[:5] + np.float32(0.01))
    Path("queries.tsv").write_text(
        "".join(f"q{number}\ttext {number}\n" for number in range(5)), encoding="utf-8"
    )
    Path("qrels.txt").write_text(
        "".join(f"q{number} 0 doc-{number} 1\n" for number in range(5)), encoding="utf-8"
    )
    config = {
        "queries": {"path": "queries.tsv", "vectors": "queries.npy"},
        "qrels": "qrels.txt",
        "limit": 10,
        "evaluation": {"measures": ["RR"]},
    }
    Path("search.json").write_text(json.dumps(config), encoding="utf-8")


if sys.argv[1] == "rows":
    write_rows("train.svm", 1)
    write_rows("test.svm", 2)
else:
    write_vectors()
