"""Bounds of parts merge into the bounds of the whole, to the last bit."""

import itertools

import numpy as np
import pytest

import idealrank as ir
from idealrank.judging import Bounds, DifferenceBounds, bounds, difference_bounds

QUERIES = [f"q{n}" for n in range(30)]


def sample() -> tuple[dict, dict, dict]:
    rng = np.random.default_rng(3)
    qrels = {
        q: {f"d{n}": int(rng.integers(3)) for n in rng.choice(12, 5, replace=False)}
        for q in QUERIES
    }
    runs = [
        {q: [f"d{n}" for n in rng.permutation(14)[:8]] for q in QUERIES if rng.random() < 0.9}
        for _ in "ab"
    ]
    return qrels, *runs


def parts_of(*tables: dict, cuts: tuple[int, ...]) -> list[list[dict]]:
    edges = itertools.pairwise([0, *cuts, len(QUERIES)])
    return [
        [{q: table[q] for q in QUERIES[i:j] if q in table} for table in tables] for i, j in edges
    ]


def same(found: Bounds | DifferenceBounds, whole: Bounds | DifferenceBounds) -> None:
    place = [list(found.query_ids).index(query) for query in whole.query_ids]
    assert len(place) == len(found.query_ids)
    for name, value in vars(whole).items():
        other = getattr(found, name)
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(other[place], value, err_msg=name)
        elif name == "unjudged_ranks":
            assert [other[at].tolist() for at in place] == [one.tolist() for one in value]
        elif name != "query_ids":
            assert other == value or (np.isnan(other) and np.isnan(value)), name


@pytest.mark.parametrize("convention", ["standard", "standard,missing=left-out", "trec_eval"])
@pytest.mark.parametrize("measure", ["nDCG@5", "AP", "RR", "NumRelRet", "Rprec"])
def test_bounds_of_parts(measure: str, convention: str) -> None:
    qrels, a, b = sample()
    whole = bounds(qrels, a, measure, 2, 6, convention=convention)
    parts = [
        bounds(*part, measure, 2, 6, convention=convention)
        for part in parts_of(qrels, a, cuts=(7, 20))
    ]
    same(parts[0].merge(parts[1]).merge(parts[2]), whole)
    same(parts[2].merge(parts[0].merge(parts[1])), whole)
    whole_difference = difference_bounds(qrels, a, b, measure, 2, 6, convention=convention)
    cut = [
        difference_bounds(*part, measure, 2, 6, convention=convention)
        for part in parts_of(qrels, a, b, cuts=(7, 20))
    ]
    same(cut[2].merge(cut[0]).merge(cut[1]), whole_difference)


def test_what_does_not_fit_is_refused() -> None:
    qrels, a, b = sample()
    one, two = (bounds(*part, "AP", 2) for part in parts_of(qrels, a, cuts=(9,)))
    with pytest.raises(ir.IncompatibleError, match=r"query 'q0' is in both parts \(9 are\)"):
        one.merge(one)
    with pytest.raises(
        ir.IncompatibleError, match=r"AP, max_grade=2, depth=None and of AP, max_grade=3"
    ):
        one.merge(bounds(*parts_of(qrels, a, cuts=(9,))[1], "AP", 3))
    with pytest.raises(ir.IncompatibleError, match="name max_grade"):
        difference_bounds(qrels, a, b, "AP", 2).merge(difference_bounds(qrels, a, b, "RR", 2))
    assert two.merge(one).mean == bounds(qrels, a, "AP", 2).mean
