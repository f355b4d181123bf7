"""No sum of products by BLAS, whose order of terms depends on the type of the processor and on the
number of threads.
"""

import ast
import os
import subprocess
import sys
from collections.abc import Mapping

import pytest

from tests.sources import library, nodes

# Module -> why its products with `@` are the same on every processor.
EXACT = {
    "idealrank.clicks.profile_likelihood": "sparse matrices of SciPy",
    "idealrank.measures.measure": "`ERR() @ 10` is a measure with a cutoff",
    "idealrank.measures.pair_sums": "whole numbers of int64, which BLAS does not have",
    "idealrank.stats.discrimination": "whole numbers, few enough digits that every sum is exact",
    "idealrank.stats.power": "signs times differences, compared with a tolerance for rounding",
    "idealrank.theory.estimation.bands": "a sparse matrix of SciPy times an array",
}
BY_BLAS = {
    "dot",
    "vdot",
    "inner",
    "matmul",
    "tensordot",
    "linalg",
    "cov",
    "corrcoef",
    "polyfit",
    "lstsq",
    "matvec",
    "vecmat",
    "vecdot",
}
OF_PYTORCH = "idealrank.training.torch."


def products(sources: Mapping[str, str]) -> list[str]:
    """Modules that multiply matrices with `@` or a function that calls BLAS, and how often with
    `@`.
    """
    found = []
    for name, source in sources.items():
        if name.startswith(OF_PYTORCH):
            continue
        for node in nodes(source):
            by_sign = isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(
                node.op, ast.MatMult
            )
            by_name = isinstance(node, ast.Attribute) and node.attr in BY_BLAS
            optimised = isinstance(node, ast.keyword) and node.arg == "optimize"
            if (by_sign and name not in EXACT) or by_name or optimised:
                found.append(f"{name}:{getattr(node, 'lineno', 0)}")
    return found


def test_no_number_depends_on_the_order_of_blas() -> None:
    assert products(library()) == []


@pytest.mark.parametrize(
    "planted",
    [
        "a @ b",
        "a @= b",
        "np.dot(a, b)",
        "a.dot(b)",
        "np.linalg.solve(a, b)",
        "np.einsum('ij,jk', a, b, optimize=True)",
    ],
)
def test_a_planted_product_is_found(planted: str) -> None:
    assert len(products({"a": planted})) == 1


PROGRAM = """
import numpy as np
from idealrank import clicks, judging, stats, theory

rng = np.random.default_rng(5)
runs = rng.normal(0.3, 0.2, (60, 5, 3))
print("power", repr(stats.flip_queries_needed(rng.normal(0.05, 0.2, 300), 0.06, trials=100, n_resamples=99, rng=1)))
print("hsd", stats.tukey_hsd(runs[:, :, 0]).p.tolist())
rewards, target, logged = rng.random((3, 4000))
found = clicks.ips(rewards, target, 0.05 + 0.9 * logged, "snips", n_resamples=30, rng=1)
print("ips", found.value, found.interval)
lists = rng.random((3, 3000, 10))
print("slates", repr(clicks.slate_value(lists[0], lists[1], 0.1 + 0.9 * lists[2], "sniips").total))
log = clicks.simulate(rng.beta(1, 1, (40, 6)), 4000, ranks=4, policy="random", rng=2)
trust = clicks.trust_propensities(log, n_resamples=30, rng=1)
print("trust", trust.slope_intervals.tolist(), trust.offset_intervals.tolist(), clicks.position_bias(log))
harvested = clicks.harvested_propensities(log, n_resamples=30, rng=1)
print("harvested", harvested.relative.tolist(), harvested.intervals.tolist())
cohort = np.where(rng.random(900) < 0.5, "A", "B")
print("effect", repr(clicks.ab_effect(rng.random(900), cohort, covariate=rng.random(900))))
print("conger", judging.agreement(rng.integers(0, 4, (500, 6)), "conger_kappa", interval=True, variance="analytic"))
labels, scores = rng.integers(0, 2, (60, 80)), rng.random((60, 80))
for method in ("kernel", "binned", "isotonic"):
    for ybar in (theory.estimate_ybar(labels, scores, method=method), theory.estimate_ybar(labels[0], scores[0], method=method)):
        print("ybar", ybar.value.tolist(), ybar.low.tolist(), ybar.check.p)
"""  # noqa: E501


@pytest.mark.slow
@pytest.mark.parametrize(
    "changed",
    [
        {"OPENBLAS_CORETYPE": "Prescott"},
        {"OPENBLAS_CORETYPE": "SkylakeX", "OPENBLAS_NUM_THREADS": "2"},
    ],
)
def test_another_type_of_processor_gives_the_same_bits(changed: dict[str, str]) -> None:
    def said(environment: dict[str, str]) -> str:
        return subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env=os.environ | environment,
            capture_output=True,
            check=True,
            text=True,
        ).stdout

    assert said(changed) == said({"OPENBLAS_CORETYPE": "Haswell", "OPENBLAS_NUM_THREADS": "1"})
