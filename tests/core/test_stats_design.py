"""Weights, strata and clusters of queries."""

import numpy as np
import pytest

import idealrank as ir
from idealrank.stats.design import Design


def test_means_and_units() -> None:
    """Weights are scaled to sum to n; units are clusters where there are any."""
    values = np.array([[1.0, 0.0], [0.5, 1.0], [0.0, 1.0]])
    design = Design.of(3, weights=[3, 2, 1], strata=["a", "b", "b"], clusters=["x", "y", "y"])
    assert design.mean(values) == pytest.approx(
        np.average(values, axis=0, weights=[3, 2, 1]), abs=1e-15
    )
    assert design.unit_totals(values).sum(axis=0) / 3 == pytest.approx(
        design.mean(values), abs=1e-15
    )
    assert (design.n_units, design.unit_strata().tolist(), design.plain) == (2, [0, 1], False)  # type: ignore[union-attr]
    # their sum is beyond float64
    assert Design.of(3, weights=[1.5e308, 1e308, 0.5e308]).weights == pytest.approx([1.5, 1.0, 0.5])
    assert Design.of(3).plain
    assert Design.of(3).mean(values[:, 0]) == 0.5
    assert Design.of(3).unit_totals(values) is not None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": [1, 2]}, r"shape \(2,\), expected one for each of the 3 queries"),
        ({"weights": [1, 0, 2]}, "weight 0 of query 1"),
        ({"weights": [1, np.nan, 2]}, "weight nan of query 1"),
        ({"weights": [1, "many", 2]}, "weights: found what is no number .*many"),
        ({"strata": ["a"]}, "strata has shape"),
        ({"strata": [1, 2, 2], "clusters": [1, 1, 2]}, "a cluster lies in two strata"),
    ],
)
def test_what_is_no_design(options: dict[str, list[float]], message: str) -> None:
    """Named when built."""
    with pytest.raises(ir.InputError, match=message):
        Design.of(3, **options)  # type: ignore[arg-type]
    with pytest.raises(ir.OptionError, match="at least 1"):
        Design.of(0)
