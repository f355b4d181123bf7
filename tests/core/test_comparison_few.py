"""Comparisons of few queries beside many other tests: power at strict levels, and intervals only
where a single test has one.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import idealrank as ir
from idealrank.reports.table.forms import as_text
from idealrank.reports.views.comparison.comparison import slices_cells
from idealrank.stats import permutation_test, simultaneous
from idealrank.stats.comparison import smallest_visible
from idealrank.stats.design import Design


@pytest.mark.spread(3)
@pytest.mark.parametrize(("n", "alpha"), [(2, 1e-4), (2, 2e-6), (2, 1e-9), (3, 1e-7)])
@pytest.mark.parametrize("power", [0.2, 0.8])
def test_what_few_queries_see_at_strict_levels_is_the_power_integrated(
    n: int, alpha: float, power: float
) -> None:
    shift = smallest_visible(1.0, n, n - 1, alpha, power) * math.sqrt(n)
    critical = stats.t.isf(alpha / 2, n - 1)

    def density(spread: float) -> float:
        return float(
            stats.norm.cdf(shift - critical * spread)
            * stats.chi.pdf(spread * math.sqrt(n - 1), n - 1)
            * math.sqrt(n - 1)
        )

    found = integrate.quad(density, 0, 2 * shift / critical, points=[shift / critical], limit=500)[
        0
    ]
    assert found == pytest.approx(power, abs=1e-4)


def in_slices(sizes: tuple[int, ...]) -> Any:
    """Queries that count in each test, as a boolean array of shape (queries, tests)."""
    return np.repeat(np.eye(len(sizes), dtype=bool), sizes, axis=0)


@pytest.mark.parametrize("difference", [0.5, 1.0])
@pytest.mark.parametrize(
    "counted",
    [in_slices((2, 1)), in_slices((2, 2)), np.ones((5, 3), bool)],
    ids=["2+1", "2+2", "5x3"],
)
def test_intervals_of_few_queries_hold_all_true_differences_at_their_level(
    counted: Any, difference: float
) -> None:
    """Bounded intervals of two queries held both differences in 81 to 87 % of these samples."""
    rng, trials, held = np.random.default_rng(4), 300, 0
    for _ in range(trials):
        found = simultaneous(rng.normal(difference, 1, counted.shape), counted=counted, threads=1)
        held += bool(((found.low <= difference) & (difference <= found.high)).all())
    assert held / trials >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / trials)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_a_test_has_no_interval_in_a_family_where_it_has_none_alone(
    alternative: Any, level: float
) -> None:
    """Slices of one to nine clusters of two queries, with weights, where the critical value of the
    family alone would bound most.
    """
    sizes = [2 * units for units in range(1, 10)]
    rng, counted = np.random.default_rng(3), in_slices(tuple(sizes))
    differences, weights, clusters = (
        rng.normal(0.3, 1, counted.shape),
        rng.integers(1, 4, len(counted)),
        np.arange(len(counted)) // 2,
    )
    asked = {"alternative": alternative, "level": level, "n_resamples": 999, "rng": 1}
    family = simultaneous(
        differences,
        counted=counted,
        design=Design.of(len(counted), weights=weights, clusters=clusters),
        **asked,
    )
    for column, kept in enumerate(counted.T):
        own = Design.of(int(kept.sum()), weights=weights[kept], clusters=clusters[kept])
        values = differences[kept, column]
        alone = permutation_test(np.zeros(values.size), values, design=own, **asked)
        none_alone = math.isinf(alone.low) and math.isinf(alone.high)
        rarest = 2.0 ** ((alternative == "two-sided") - column - 1)
        assert none_alone == (rarest > round(1 - level, 12))
        assert not none_alone or (
            family.low[column],
            family.high[column],
            family.critical_t[column],
        ) == (-math.inf, math.inf, math.inf)


def test_two_queries_of_one_value_and_a_family_of_them_have_no_critical_value() -> None:
    found = simultaneous(np.array([[0.1, 0.1, 0.0], [0.1, 0.2, 0.0]]))
    assert found.low.tolist() == [-math.inf, -math.inf, 0]
    assert found.high.tolist() == [math.inf, math.inf, 0]
    assert found.p.tolist() == [0.5, 0.5, 1]
    assert found.critical == math.inf
    assert not found.differs.any()


def test_a_draw_that_rejects_by_chance_keeps_its_side_of_the_null() -> None:
    """One draw of 19 can leave p at 0.05 although five queries reach 0.0625 at the least."""
    differences = np.ones((5, 2)) * [1, 2]
    found = [simultaneous(differences, n_resamples=19, rng=seed) for seed in range(20)]
    by_chance = [one for one in found if one.p[0] <= 0.05]
    assert by_chance
    for one in found:
        assert (one.differs == (one.p <= 0.05)).all()
        assert (one.high == math.inf).all()


BEFORE = {
    "p": [
        "0x1.2c00000000000p-2",
        "0x1.f400000000000p-2",
        "0x1.0000000000000p+0",
        "0x1.d000000000000p-1",
    ],
    "low": ["-0x1.6f5704b2f1157p-1", "-0x1.aaa331296fea6p-1", "-0x1.359f405385039p+0", "-inf"],
    "high": ["0x1.f73e4852a4eacp+0", "0x1.0e9290054ffbdp+1", "0x1.6115cec6a9a63p+0", "inf"],
    "critical_t": ["0x1.0a76eb6d27f7fp+2", "0x1.ba00ce5bb0f41p+1", "0x1.76e1ba38a5044p+1", "inf"],
}


def test_six_queries_and_more_keep_every_bit() -> None:
    """Recorded before tests of fewer queries lost their intervals: tests of six, seven, nine and
    two queries.
    """
    differences = np.random.default_rng(6).normal(0.2, 1, (9, 3)).round(3)
    counted = np.ones((9, 4), bool)
    counted[6:, 0] = counted[:2, 1] = counted[2:, 3] = False
    found = simultaneous(differences[:, [0, 1, 2, 0]], counted=counted)
    for name, expected in BEFORE.items():
        assert [float(value).hex() for value in getattr(found, name)] == expected, name


def runs_of(differences: Any, measures: list[str]) -> list[ir.Evaluation]:
    """Two runs with these differences, shape (queries, measures)."""
    qrels = {f"q{number}": {"x": 1} for number in range(len(differences))}
    made = ir.evaluate(qrels, {query: ["x"] for query in qrels}, measures)
    base = np.full(made.values.shape, 0.5)
    return [
        replace(made, name=name, values=values)
        for name, values in (("a", base), ("b", base + differences))
    ]


def test_five_queries_have_no_interval_by_companions_as_by_the_first_measure() -> None:
    rng = np.random.default_rng(2)
    differences = np.column_stack([rng.normal(0.1, 0.1, (5, 3)), np.zeros(5)])
    first, *others, same = (
        ir.compare(*runs_of(differences, ["nDCG@10", "AP", "P@10", "RR"]))
        .pairs[0]
        .measures.values()
    )
    for row in (first, *others):
        assert (row.interval, row.detectable, row.verdict) == (
            (-math.inf, math.inf),
            math.inf,
            "undecided",
        ), row.measure
    assert same.interval == (0, 0)
    assert math.isnan(same.detectable)
    together = simultaneous(differences[:, 1:])
    assert [row.p_corrected for row in (*others, same)] == pytest.approx(together.p.tolist())


@pytest.mark.parametrize("sizes", [(2, 1), (2, 2), (5, 3), (6, 2)])
def test_a_slice_of_few_queries_has_no_interval_beside_other_slices_as_alone(
    sizes: tuple[int, ...],
) -> None:
    names = [f"s{number}" for number, size in enumerate(sizes) for _ in range(size)]
    b = {f"q{number}": 0.1 + 0.01 * number for number in range(len(names))}
    a = dict.fromkeys(b, 0.0)
    categories = dict(zip(b, names, strict=True))
    together = ir.slices(a, b, categories)
    for name in set(names):
        one = ir.slices(
            a, b, {query: label for query, label in categories.items() if label == name}
        )[name]
        assert (
            math.isinf(one.interval[0])
            == math.isinf(together[name].interval[0])
            == (together[name].n < 6)
        )
        assert (
            math.isinf(one.detectable)
            == math.isinf(together[name].detectable)
            == (together[name].n < 6)
        )


def test_three_runs_on_two_queries_have_no_interval_in_any_pair() -> None:
    a, b = runs_of(np.array([[0.1], [0.3]]), ["RR"])
    c = replace(a, name="c", values=np.array([[0.1], [0.9]]))
    rows = [row for _, row in ir.compare(a, b, c).rows()]
    assert [row.interval for row in rows] == [(-math.inf, math.inf)] * 3
    assert [row.detectable for row in rows] == [math.inf] * 3


def test_an_interval_that_one_heavy_query_leaves_open_is_shown_with_its_other_end() -> None:
    """A better slice has a lower end alone; one dash would hide it."""
    b = {f"q{number}": 0.3 + 0.03 * number for number in range(1, 8)} | {
        f"r{number}": 0.1 * (-1) ** number for number in range(8)
    }
    b["q0"] = 0.01
    weights = {query: 10.0 if query.endswith("0") else 1.0 for query in b}
    found = ir.slices(dict.fromkeys(b, 0.0), b, {query: query[0] for query in b}, weights=weights)
    assert (found["q"].verdict, found["q"].interval) == (
        "better",
        (pytest.approx(0.0560345), math.inf),
    )
    assert found.as_dict()["slices"]["q"]["interval"] == [pytest.approx(0.0560345), None]
    lines = {line.split()[0]: line.split() for line in as_text(slices_cells(found)).splitlines()}
    assert "[+0.0560, open)" in " ".join(lines["q"])
    assert lines["r"][5] == "-"


@pytest.mark.parametrize("test", ["permutation", "t"])
@pytest.mark.parametrize("n", [1, 2, 5, 6])
def test_identical_runs_have_the_interval_of_the_whole_comparison_in_a_slice(
    n: int, test: Any
) -> None:
    """Alone, and beside a slice where they differ; a t test of one query has no interval."""
    same, values = (
        {f"s{number}": 0.1 * number for number in range(n)},
        np.random.default_rng(5).random((2, 8)),
    )
    others = [{f"o{number}": float(value) for number, value in enumerate(row)} for row in values]
    alone = runs_of(np.zeros((n, 1)), ["nDCG@10"])
    whole = ir.compare(*alone, test=test)["nDCG@10"]
    for beside in ([{}, {}], others):
        a, b = ({**same, **more} for more in beside)
        slice_ = ir.slices(a, b, {query: query[0] for query in a}, test=test)["s"]
        assert (slice_.interval, slice_.p, slice_.verdict) == (
            whole.interval,
            whole.p,
            whole.verdict,
        )
        assert slice_.interval == ((-math.inf, math.inf) if (n, test) == (1, "t") else (0, 0))
