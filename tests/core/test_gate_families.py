"""Families of checks of a gate against an enumeration, and against what `compare` says of the same
question.
"""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import idealrank as ir
from tests.core.gate_samples import enumerated, evaluation, random_pair


def enumerated_together(families: list[np.ndarray], *, two_sided: bool) -> list[list[float]]:
    """Max-T of each family of columns of differences: the share of sign vectors whose largest
    statistic reaches that of a test.
    """
    signs = np.array(list(product((1, -1), repeat=len(families[0]))))
    found = []
    for columns in families:
        scale = np.sqrt((columns**2).sum(axis=0))
        statistics = np.abs(signs @ columns / scale) if two_sided else -(signs @ columns / scale)
        largest = statistics.max(axis=1)
        found.append([float(np.mean(largest >= own - 1e-9)) for own in statistics[0]])
    return found


def test_the_primary_measure_is_corrected_over_baselines_and_companions_among_themselves() -> None:
    measures = ("P@1", "RR", "AP")
    run, first = random_pair(12, -0.04, measures=measures)
    second = replace(random_pair(12, -0.02, seed=2, measures=measures)[1], name="best")
    apart = [np.asarray(run.values - baseline.values) for baseline in (first, second)]
    families = [
        np.column_stack([one[:, 0] for one in apart]),
        np.column_stack([one[:, 1:] for one in apart]),
    ]

    found = ir.gate(run, first, second)

    checks = [
        [check for check in found.checks if check.family == family]
        for family in ("primary measure", "companions")
    ]
    for two_sided in (False, True):
        p = [
            [check.p_two_sided if two_sided else check.p_corrected for check in family]
            for family in checks
        ]
        for ours, expected in zip(
            p, enumerated_together(families, two_sided=two_sided), strict=True
        ):
            assert ours == pytest.approx(expected, rel=1e-12)
    assert [check.p for check in found.checks] == pytest.approx(
        [enumerated(one[:, at], 0, drop=True) for one in apart for at in range(3)]
    )
    assert all((check.bound < 0) == (check.p_corrected <= 0.05) for check in found.checks)
    assert found.correction == "max-T"
    assert [(check.baseline, check.measure) for check in found.checks] == [
        (b, m) for b in ("baseline", "best") for m in measures
    ]
    assert [check.decides for check in found.checks] == [True, False, False] * 2


def test_a_primary_measure_and_one_companion_are_tested_alone() -> None:
    found = ir.gate(*random_pair(12, -0.05, measures=("P@1", "RR")))

    assert found.correction == "none"
    assert [check.p_corrected for check in found.checks] == [check.p for check in found.checks]


@pytest.mark.parametrize("n", [15, 60])
def test_the_two_sided_p_is_that_of_compare(n: int) -> None:
    measures = ("P@1", "RR", "AP")
    run, first = random_pair(n, -0.02, measures=measures)
    second = replace(random_pair(n, -0.01, seed=2, measures=measures)[1], name="best")

    one = ir.compare(first, run).pairs[0].measures
    several = ir.compare(first, second, run, baseline="run").pairs

    assert [check.p_two_sided for check in ir.gate(run, first).checks] == [
        row.p_corrected for row in one.values()
    ]
    expected = [row.p_corrected for pair in several for row in pair.measures.values()]
    assert [check.p_two_sided for check in ir.gate(run, first, second).checks] == expected
    assert (
        ir.gate(run, first).checks[0].p_two_sided
        == ir.gate(run, first, measures="P@1", tolerance=0.01).checks[0].p_two_sided
    )


def test_companions_close_the_gate_only_where_they_are_named() -> None:
    generator = np.random.default_rng(4)
    before = generator.uniform(0.3, 0.9, (12, 3))
    run = evaluation(before + np.array([0.01, -0.2, 0.0]), "run", ("P@1", "RR", "AP"))
    baseline = evaluation(before, "baseline", ("P@1", "RR", "AP"))

    alone, named, last = (ir.gate(run, baseline, also=also) for also in ((), "RR", ["AP"]))

    assert [(found.outcome, found.passed) for found in (alone, named, last)] == [
        ("passed", True),
        ("failed", False),
        ("passed", True),
    ]
    assert [check.outcome for check in alone.checks] == ["passed", "failed", "passed"]
    assert [check.decides for check in named.checks] == [True, True, False]
    assert [check.p_corrected for check in named.checks] == [
        check.p_corrected for check in alone.checks
    ]
    assert (alone.reasons, alone.closing_queries) == ((), ())
    assert named.reasons[0].startswith(
        "RR against baseline: a drop of 0.2000 is significant (one-sided p"
    )
    assert len(named.closing_queries) == 10
    assert [
        check.measure for check in ir.gate(run, baseline, measures="P@1", also="AP").checks
    ] == ["P@1", "AP"]
    assert not ir.gate(run, baseline, measures=["RR", "P@1"]).passed
