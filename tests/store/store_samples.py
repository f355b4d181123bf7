"""Evaluations that are awkward to keep, and what equal means."""

from functools import cache

import numpy as np

import idealrank as ir


@cache
def evaluations() -> tuple[ir.Evaluation, ...]:
    """Two runs of many queries; one with queries left out and ids that are no UTF-8; one of
    arrays.
    """
    rng = np.random.default_rng(5)
    qrels = {f"q{i}": {f"d{j}": int(rng.integers(0, 3)) for j in range(6)} for i in range(30)}
    runs = [
        ir.Run(
            {
                q: {f"d{j}": float(rng.normal()) for j in range(9)}
                for q in list(qrels)[: 30 - 3 * n]
            },
            name=f"run {n}",
        )
        for n in range(2)
    ]
    measures = ["nDCG@10", "AP", "RR", "P@5"]
    first, second = (ir.evaluate(qrels, run, measures) for run in runs)
    odd = ir.Qrels.from_columns(
        [b"q\xff", b'q"1', "ä".encode()], [b"d\xfe", b"a", b"a"], [1.0, 0.0, 2.0]
    )
    answered = ir.Run.from_columns([b"q\xff", b'q"1'], [b"d\xfe", b"a"], [1.0, 1.0], name="odd")
    left_out = ir.evaluate(odd, answered, measures, "standard,no_relevant=left-out")
    arrays = ir.evaluate([[1, 0, 2]], [[0.5, 0.5, 0.1]], measures=measures)
    return first, second, left_out, arrays


def same_evaluation(found: ir.Evaluation, expected: ir.Evaluation) -> None:
    """Equal to the last bit, in everything a store keeps."""
    assert found.values.tobytes() == np.ascontiguousarray(expected.values).tobytes()
    assert (found.scored == expected.scored).all()
    assert found.scored.dtype == bool
    assert list(found.queries) == list(expected.queries)
    assert found.measures == expected.measures
    assert found.name == expected.name
    assert found.coverage == expected.coverage
    assert found.convention == expected.convention
    assert found.provenance.measures == expected.provenance.measures
    assert found.provenance.max_documents == expected.provenance.max_documents
    assert found.provenance.version == expected.provenance.version
    assert found.texts == expected.texts
    assert repr(found.mean()) == repr(expected.mean())
