"""Evaluations with values of our choice, and the test of a gate done slowly."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

import idealrank as ir
from idealrank.evaluation.evaluate import Evaluation


def evaluation(values: Any, name: str = "run", measures: tuple[str, ...] = ("P@1",)) -> Evaluation:
    """An evaluation with values of our choice, one column a measure; NaN is left out."""
    columns = np.asarray(values, np.float64).reshape(len(values), len(measures))
    made = ir.evaluate(
        {f"q{i}": {"x": 1} for i in range(len(columns))},
        {f"q{i}": ["x"] for i in range(len(columns))},
        measures,
    )
    return replace(made, name=name, values=columns, scored=~np.isnan(columns))


def random_pair(
    n: int, shift: float, *, seed: int = 1, measures: tuple[str, ...] = ("P@1",)
) -> tuple[Evaluation, Evaluation]:
    """A run and its baseline; the shift is the true difference but for what is cut off at 0 and
    1.
    """
    generator = np.random.default_rng(seed)
    baseline = generator.random((n, len(measures)))
    run = np.clip(baseline + generator.normal(shift, 0.1, baseline.shape), 0, 1)
    return evaluation(run, "run", measures), evaluation(baseline, "baseline", measures)


def enumerated(differences: Any, null: float, *, drop: bool) -> float:
    """The share of sign vectors under which the mean is as far below `null` (or above it) as the
    observed one.
    """
    shifted = np.asarray(differences) - null
    sums = np.array([np.dot(signs, shifted) for signs in product((1, -1), repeat=len(shifted))])
    near = 1e-9
    return float(np.mean(sums <= shifted.sum() + near if drop else sums >= shifted.sum() - near))
