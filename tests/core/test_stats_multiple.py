"""Corrections, Tukey's HSD of a two-way table and its letters, against SciPy, statsmodels,
textbooks and brute force.
"""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from idealrank.errors import InputError, OptionError
from idealrank.stats import adjust, letters, tukey_hsd
from idealrank.stats.pairwise_tests import range_quantile, range_sf
from tests.conftest import examples

METHODS = ("holm", "bonferroni", "bh", "by")

# statsmodels 0.15.0: multipletests(P, method=m)[1] for m in ("holm", "bonferroni", "fdr_bh",
# "fdr_by")
P = [0.648, 0.6528, 0.2656, 0.002, 0.0029, 0.147, 0.1669, 0.002, 0.0024, 0.9984, 0.4256, 0.055]
STATSMODELS = {
    "holm": [1.0, 1.0, 1.0, 0.024, 0.0261, 1.0, 1.0, 0.024, 0.024, 1.0, 1.0, 0.44],
    "bonferroni": [1.0, 1.0, 1.0, 0.024, 0.0348, 1.0, 1.0, 0.024, 0.0288, 1.0, 1.0, 0.66],
    "bh": [
        *(
            0.712145454545455,
            0.712145454545455,
            0.3984,
            0.0087,
            0.0087,
            0.286114285714286,
            0.286114285714286,
        ),
        *(0.0087, 0.0087, 0.9984, 0.567466666666667, 0.132),
    ],
    "by": [
        *(
            1.0,
            1.0,
            1.0,
            0.0269979329004329,
            0.0269979329004329,
            0.887872906617192,
            0.887872906617192,
        ),
        *(0.0269979329004329, 0.0269979329004329, 1.0, 1.0, 0.40962380952381),
    ],
}

p_values = st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.01, 0.05, 1.0]), max_size=20)


# --- corrections ----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_adjusted_p_values_are_those_of_statsmodels(method: str) -> None:
    assert adjust(P, method) == pytest.approx(STATSMODELS[method], abs=2e-15)


@pytest.mark.parametrize("method", ["bh", "by"])
@given(p=p_values.filter(len))
def test_false_discovery_rates_are_those_of_scipy(method: str, p: list[float]) -> None:
    assert adjust(p, method) == pytest.approx(
        stats.false_discovery_control(p, method=method), abs=1e-14
    )


@given(p=p_values.filter(lambda p: 0 < len(p) < 7))
def test_holm_is_the_closed_test_of_bonferroni(p: list[float]) -> None:
    # The adjusted p of i is the largest Bonferroni p of all sets that hold i (Marcus, Peritz and
    # Gabriel 1976).
    everyone = range(len(p))
    sets = [
        chosen for size in range(1, len(p) + 1) for chosen in itertools.combinations(everyone, size)
    ]
    closed = [
        max(min(1, len(s) * min(p[i] for i in s)) for s in sets if number in s)
        for number in everyone
    ]
    assert adjust(p, "holm") == pytest.approx(closed, abs=1e-14)


@pytest.mark.parametrize("method", METHODS)
@given(p=p_values, data=st.data())
def test_adjusted_p_values_are_larger_at_most_one_and_know_no_order(
    method: str, p: list[float], data: st.DataObject
) -> None:
    adjusted = adjust(p, method)
    order = np.argsort(p, kind="stable")
    assert (adjusted >= np.asarray(p)).all()
    assert (adjusted <= 1).all()
    assert (np.diff(adjusted[order]) >= 0).all()
    shuffled = data.draw(st.permutations(range(len(p))))
    assert adjust([p[i] for i in shuffled], method).tolist() == [adjusted[i] for i in shuffled]


def test_a_table_is_one_family() -> None:
    assert adjust(np.reshape(P, (3, 4))).reshape(-1).tolist() == adjust(P).tolist()


def test_corrections_refuse_what_is_no_p_value() -> None:
    with pytest.raises(InputError, match="nan at 1"):
        adjust([0.1, float("nan")])
    with pytest.raises(InputError, match="value 1"):
        adjust([1.5])
    with pytest.raises(OptionError, match="holm, bonferroni, bh, by"):
        adjust([0.1], "fdr")  # type: ignore[arg-type]


# --- the studentized range ------------------------------------------------------------------------


@pytest.mark.parametrize(("groups", "degrees"), [(2, 1), (3, 10), (10, 441), (130, 6321)])
def test_the_tail_of_the_studentized_range_is_scipys(groups: int, degrees: int) -> None:
    q = np.array([0.5, 2.5, 4.5])
    # SciPy's own error is near 4e-10 for many groups.
    assert range_sf(q, groups, degrees) == pytest.approx(
        stats.studentized_range.sf(q, groups, degrees), abs=1e-9
    )


@pytest.mark.parametrize("degrees", [1, 2, 7, 40, 5000])
def test_two_groups_far_out_are_students_t(degrees: int) -> None:
    q = np.array([0.1, 1.0, 5.0, 12.0])
    assert range_sf(q, 2, degrees) == pytest.approx(
        2 * stats.t.sf(q / np.sqrt(2), degrees), rel=1e-9
    )


@pytest.mark.parametrize(
    ("groups", "degrees", "printed"),
    [(3, 10, 3.877), (4, 15, 4.076), (10, 30, 4.824), (20, 120, 5.126)],
)
def test_quantiles_are_those_of_printed_tables(groups: int, degrees: int, printed: float) -> None:
    # Upper 5 % points of the studentized range, as printed in textbooks: 3.88, 4.08, 4.82, 5.13.
    assert range_quantile(0.95, groups, degrees) == pytest.approx(printed, abs=6e-4)


# --- Tukey's HSD ----------------------------------------------------------------------------------

# Montgomery, Design and Analysis of Experiments, Example 4.1 (vascular grafts): six blocks, four
# pressures. Printed: error mean square 7.33 on 15 degrees of freedom. Pairs by statsmodels 0.15.0
# (mean square of ols("y ~ C(q) + C(s)")) and scipy.stats.studentized_range.
GRAFTS = np.array(
    [
        [90.3, 89.2, 98.2, 93.9, 87.4, 97.9],
        [92.5, 89.5, 90.6, 94.7, 87.0, 95.8],
        [85.5, 90.8, 89.6, 86.2, 88.0, 93.4],
        [82.5, 89.5, 85.6, 87.4, 78.9, 90.7],
    ]
).T
GRAFTS_P = {
    (0, 1): 0.8854830841277205,
    (0, 2): 0.10130840175711153,
    (0, 3): 0.002088318246338594,
    (1, 2): 0.3245644078473139,
    (1, 3): 0.00866671195372093,
    (2, 3): 0.22576743006282096,
}


def test_the_textbook_example_gives_the_mean_square_and_pairs_of_statsmodels() -> None:
    found = tukey_hsd(GRAFTS)
    assert (found.mean_square, found.degrees) == (pytest.approx(7.325749999999994, rel=1e-12), 15)
    assert found.least_difference == pytest.approx(4.5038280218048765, rel=1e-9)
    for (a, b), p in GRAFTS_P.items():
        assert found.p[a, b] == found.p[b, a] == pytest.approx(p, abs=1e-10)
    assert found.difference[0, 3] == pytest.approx(-7.05)
    assert found.high[0, 3] == pytest.approx(-7.05 + 4.5038280218048765, rel=1e-9)
    assert found.letters().texts == ("a", "a", "ab", "b")
    assert "2 of 6 pairs differ" in str(found)


def test_two_runs_are_the_paired_t_test() -> None:
    values = np.random.default_rng(3).random((30, 2))
    found, expected = tukey_hsd(values), stats.ttest_rel(values[:, 1], values[:, 0])
    assert found.p[0, 1] == pytest.approx(expected.pvalue, rel=1e-9)
    interval = expected.confidence_interval(0.95)
    assert (found.low[0, 1], found.high[0, 1]) == pytest.approx(
        (interval.low, interval.high), rel=1e-9
    )


def test_difficult_queries_do_not_hide_differences_as_the_one_way_form_lets_them() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(0, 0.3, (40, 1)) + np.array([0, 0.05, 0.1]) + rng.normal(0, 0.05, (40, 3))
    assert tukey_hsd(values).differs.sum() == 6
    assert stats.tukey_hsd(*values.T).pvalue.min() > 0.1


def test_a_p_value_is_small_exactly_where_the_interval_leaves_out_zero() -> None:
    rng = np.random.default_rng(4)
    for level in (0.9, 0.95):
        found = tukey_hsd(
            rng.random((20, 1)) + rng.normal(0, 1, (20, 25)) + rng.normal(0, 0.5, 25), level=level
        )
        assert 0 < found.differs.sum() < 600
        assert (found.differs == (found.p < 1 - level)).all()
        assert (found.low == -found.high.T).all()


def test_equal_runs_have_difference_zero_interval_zero_and_p_one() -> None:
    values = np.random.default_rng(4).random((20, 3))
    twice = tukey_hsd(np.hstack([values, values[:, :1]]))
    assert (twice.difference[0, 3], twice.low[0, 3], twice.high[0, 3], twice.p[0, 3]) == (
        0,
        0,
        0,
        1,
    )
    same = tukey_hsd(np.repeat(values[:, :1], 3, axis=1))
    assert (same.p == 1).all()
    assert not same.differs.any()
    shifted = tukey_hsd(np.array([[0.1, 0.2], [0.3, 0.4]]))
    assert (shifted.p[0, 1], shifted.low[0, 1]) == (0, pytest.approx(0.1))


def test_hsd_refuses_tables_it_cannot_read() -> None:
    with pytest.raises(InputError, match=r"shape \(3,\)"):
        tukey_hsd([1.0, 2.0, 3.0])
    with pytest.raises(InputError, match="1 queries, expected at least 2"):
        tukey_hsd([[1.0, 2.0]])
    with pytest.raises(InputError, match=r"nan at \(0, 1\)"):
        tukey_hsd([[1.0, float("nan")], [1.0, 2.0]])
    with pytest.raises(OptionError, match="level=95"):
        tukey_hsd(GRAFTS, level=95)


@pytest.mark.slow
def test_hsd_keeps_its_level_over_all_pairs() -> None:
    rng = np.random.default_rng(8)
    trials = 4000
    alarms = sum(
        tukey_hsd(rng.normal(0, 3, (20, 1)) + rng.normal(0, 1, (20, 6))).differs.any()
        for _ in range(trials)
    )
    assert abs(alarms / trials - 0.05) < 4 * np.sqrt(0.05 * 0.95 / trials)


# --- letters --------------------------------------------------------------------------------------


def every_graph(n: int) -> list[np.ndarray]:
    pairs = list(itertools.combinations(range(n), 2))
    graphs = []
    for chosen in itertools.product([False, True], repeat=len(pairs)):
        graph = np.zeros((n, n), bool)
        for (a, b), differ in zip(pairs, chosen, strict=True):
            graph[a, b] = graph[b, a] = differ
        graphs.append(graph)
    return graphs


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_two_systems_share_a_letter_if_and_only_if_they_do_not_differ(n: int) -> None:
    means = np.arange(n, 0, -1.0)
    for graph in every_graph(n):
        found = letters(graph, means)
        for a, b in itertools.product(range(n), repeat=2):
            assert bool(set(found.texts[a]) & set(found.texts[b])) == (not graph[a, b])
        assert all(found.texts)
        assert found.top == tuple(np.flatnonzero(~graph[0]))


@settings(max_examples=examples(60))
@given(st.integers(5, 9), st.floats(0, 1), st.integers(0, 2**32))
def test_letters_of_larger_graphs_are_right_and_none_is_needless(
    n: int, share: float, seed: int
) -> None:
    upper = np.triu(np.random.default_rng(seed).random((n, n)) < share, 1)
    graph = upper | upper.T
    found = letters(graph, np.random.default_rng(seed).random(n))

    def shared(groups: list[tuple[int, ...]]) -> set[tuple[int, int]]:
        return {pair for group in groups for pair in itertools.product(group, repeat=2)}

    groups = list(found.groups)
    assert shared(groups) == {tuple(pair) for pair in np.argwhere(~graph).tolist()}
    for number in range(len(groups)):
        assert shared(groups[:number] + groups[number + 1 :]) != shared(groups)


def test_means_in_a_row_with_one_critical_difference_give_the_letters_of_a_table() -> None:
    # Differences of at least 10 are significant: the usual display of sorted means.
    means = np.array([50.0, 47.0, 41.0, 38.0, 30.0])
    found = letters(np.abs(means - means[:, None]) >= 10, means)
    assert found.texts == ("a", "ab", "ab", "bc", "c")
    assert found.top == (0, 1, 2)
    assert str(found).splitlines()[0] == "a: 0 1 2"


def test_more_groups_than_letters_have_numbers() -> None:
    found = letters(~np.eye(60, dtype=bool), np.arange(60.0))
    assert (found.texts[59], found.texts[8], found.texts[7]) == ("a", "Z", "[53]")
    assert len(set(found.texts)) == 60


def test_letters_refuse_decisions_that_contradict_each_other() -> None:
    with pytest.raises(InputError, match="symmetric"):
        letters(np.array([[False, True], [False, False]]), np.zeros(2))
