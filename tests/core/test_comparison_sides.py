"""Which side a comparison takes: that of its test, whatever the order of runs and queries."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import idealrank as ir
from idealrank.evaluation.evaluate import Evaluation

NAMES = [f"q{i:03}" for i in range(205)]


def evaluation(values: np.ndarray, name: str) -> Evaluation:
    """An evaluation with values of our choice."""
    queries = NAMES[: len(values)]
    made = ir.evaluate(
        {query: {"x": 1} for query in queries}, {query: ["x"] for query in queries}, "P@1"
    )
    return replace(
        made, name=name, values=values[:, None], scored=np.ones((len(values), 1), np.bool_)
    )


@pytest.mark.parametrize("zeros", [0, 5])
def test_a_verdict_by_ranks_takes_the_side_of_the_ranks(zeros: int) -> None:
    small, large = -np.linspace(0.001, 0.01, 105), np.linspace(0.1, 0.2, 95)
    differences = np.concatenate([small, large, np.zeros(zeros)])
    a, b = evaluation(np.full(differences.size, 0.5), "a"), evaluation(0.5 + differences, "b")

    found, back = ir.compare(a, b, test="wilcoxon")["P@1"], ir.compare(b, a, test="wilcoxon")["P@1"]

    assert found.losses > found.wins
    assert found.p == pytest.approx(
        stats.wilcoxon(differences, zero_method="pratt", correction=False, method="approx").pvalue,
        rel=1e-9,
    )
    assert (found.verdict, back.verdict) == ("better", "worse")
    if not zeros:
        assert found.interval[0] > 0


def test_the_order_of_the_queries_changes_nothing() -> None:
    generator = np.random.default_rng(3)
    values, clusters = (
        generator.random((2, 60)),
        {f"q{i:03}": int(generator.integers(25)) for i in range(60)},
    )
    a, b = evaluation(values[0], "a"), evaluation(values[1], "b")
    order = generator.permutation(60)
    turned = replace(
        b, queries=[b.queries[row] for row in order], values=b.values[order], scored=b.scored[order]
    )
    categories = {query: "even" if label % 2 else "odd" for query, label in clusters.items()}

    found, other = (
        ir.compare(*runs, clusters=clusters, slices=categories) for runs in ((a, b), (turned, a))
    )

    assert found.method.seed == other.method.seed is not None
    row, back = found["P@1"], other["P@1"]
    assert (row.p, row.interval) == (back.p, (-back.interval[1], -back.interval[0]))
    assert [one.p for one in row.slices] == [one.p for one in back.slices][::-1]
