"""Max-T, randomised HSD and all pairs against plain programs with the same draws, and their level
where there is nothing to find.
"""

from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import pytest

import idealrank as ir
from idealrank.stats import (
    Design,
    all_pairs,
    max_t,
    pairwise_tests,
    permutation_test,
    randomised_hsd,
    tails,
)
from idealrank.stats.pairwise_tests import _REARRANGEMENTS_PER_BLOCK
from idealrank.stats.randomness import generator_of


def some_runs(queries: int, runs: int, seed: int = 1, effect: float = 0.05) -> np.ndarray:
    """Queries of unlike difficulty, runs of unlike quality, nDCG-like values."""
    generator = np.random.default_rng(seed)
    difficulty, quality = (
        generator.normal(0.5, 0.2, size=(queries, 1)),
        generator.normal(0, effect, size=runs),
    )
    return np.clip(difficulty + quality + generator.normal(0, 0.15, size=(queries, runs)), 0, 1)


def same_results(one: Any, two: Any) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(two, name))
        for name in ("difference", "p", "low", "high")
    )


# --- max-T ----------------------------------------------------------------------------------------


def test_max_t_of_all_sign_vectors_is_that_of_a_plain_program() -> None:
    """The t statistic itself, computed anew under every sign vector."""
    values = some_runs(9, 4)
    differences = values[:, 1:] - values[:, :1]

    def t_of(table: np.ndarray) -> np.ndarray:
        return np.abs(table.mean(axis=0)) / (table.std(axis=0, ddof=1) / 3)

    largest = np.array(
        [t_of(differences * np.array(signs)[:, None]).max() for signs in product([1, -1], repeat=9)]
    )
    found = max_t(values[:, 0], values[:, 1:])
    assert found.exact
    assert found.p == pytest.approx(
        [(largest >= t - 1e-9).mean() for t in t_of(differences)], abs=1e-14
    )
    critical = np.sort(largest)[-int(0.05 * 512) - 1]
    assert found.critical == pytest.approx(critical, rel=1e-9)
    around = differences - differences.mean(axis=0)
    centred = np.array(
        [t_of(around * np.array(signs)[:, None]).max() for signs in product([1, -1], repeat=9)]
    )
    half = (
        max(critical, np.sort(centred)[-int(0.05 * 512) - 1]) * differences.std(axis=0, ddof=1) / 3
    )
    assert found.low == pytest.approx(differences.mean(axis=0) - half, abs=1e-9)
    assert found.high == pytest.approx(differences.mean(axis=0) + half, abs=1e-9)


def test_max_t_of_one_run_is_the_sign_flip_test() -> None:
    values = some_runs(60, 2)
    found = max_t(values[:, 0], values[:, 1:], n_resamples=5000, rng=4)
    assert found.p[0] == permutation_test(values[:, 0], values[:, 1], n_resamples=5000, rng=4).p
    copies = max_t(values[:, 0], values[:, [1, 1, 1]], n_resamples=5000, rng=4)
    assert copies.p.tolist() == [found.p[0]] * 3  # three copies are corrected as one


@pytest.mark.parametrize("seed", range(12))
def test_simultaneous_intervals_agree_with_corrected_p_values(seed: int) -> None:
    """Tenths on few queries tie often."""
    generator = np.random.default_rng(seed)
    values = np.round(generator.random((8 + 4 * seed, 5, 2)), 1)
    found = max_t(
        values[:, 0],
        values[:, 1:],
        n_resamples=400,
        rng=seed,
        level=0.8,
        design=Design.of(len(values), weights=range(1, len(values) + 1)),
    )
    assert found.p.shape == (4, 2)
    assert (found.differs == (found.p <= 0.2)).all()
    hsd = randomised_hsd(values, n_resamples=400, rng=seed, level=0.8)
    assert (hsd.differs == (hsd.p <= 0.2)).all()
    each = all_pairs(values, n_resamples=400, rng=seed, level=0.8)
    assert (((each.low > 0) | (each.high < 0)) == (each.p <= 0.2)).all()


def test_a_run_that_is_the_baseline_and_too_few_draws() -> None:
    values = some_runs(30, 3)
    found = max_t(values[:, 0], values, n_resamples=999, rng=1)
    assert (found.difference[0], found.p[0], found.low[0], found.high[0]) == (0, 1, 0, 0)
    few = max_t(values[:, 0], values, n_resamples=10, rng=1)
    assert (few.critical, few.low.tolist()) == (np.inf, [0, -np.inf, -np.inf])
    assert randomised_hsd(values, n_resamples=10, rng=1).least_difference == np.inf
    assert all_pairs(values, n_resamples=10, rng=1).low[0, 1] == -np.inf


def test_all_pairs_print_a_line_for_each_measure() -> None:
    first = some_runs(30, 3)
    second = np.zeros((30, 3))  # no pair differs
    lines = str(all_pairs(np.stack([first, second], axis=2), n_resamples=999, rng=1)).split("\n")
    each = [str(all_pairs(values, n_resamples=999, rng=1)) for values in (first, second)]
    assert lines == each
    assert lines[1].startswith("3 pairs of 3 runs on 30 queries: 0 below")


# --- randomised HSD -------------------------------------------------------------------------------


def naive_hsd(values: np.ndarray, draws: int, seed: int) -> tuple[np.ndarray, float]:
    """P values and the honestly significant difference, a draw and a query at a time, with the same
    random orders.
    """
    sequence = generator_of(seed).bit_generator.seed_seq.spawn(1)[0]  # type: ignore[attr-defined]
    ranges = []
    for child in sequence.spawn(-(-draws // _REARRANGEMENTS_PER_BLOCK)):
        generator, runs = np.random.default_rng(child), values.shape[1]
        orders = [
            generator.permuted(np.tile(np.arange(runs), (_REARRANGEMENTS_PER_BLOCK, 1)), axis=1)
            for _query in values
        ]
        for draw in range(_REARRANGEMENTS_PER_BLOCK):
            means = np.mean(
                [row[order[draw]] for row, order in zip(values, orders, strict=True)], axis=0
            )
            ranges.append(means.max() - means.min())
    ranges = np.array(ranges[:draws])
    means = values.mean(axis=0)
    p = np.array(
        [[(1 + (ranges >= abs(b - a) - 1e-12).sum()) / (draws + 1) for b in means] for a in means]
    )
    return p, float(np.sort(ranges)[-int(0.05 * (draws + 1))])


def test_randomised_hsd_is_that_of_a_plain_program() -> None:
    values = some_runs(25, 6)
    p, least = naive_hsd(values, 300, seed=5)
    found = randomised_hsd(values, n_resamples=300, rng=5)
    assert found.p == pytest.approx(p, abs=1e-14)
    assert found.least_difference == pytest.approx(least, abs=1e-11)
    assert found.difference == pytest.approx(
        values.mean(axis=0) - values.mean(axis=0)[:, None], abs=1e-14
    )
    assert found.letters().texts[int(np.argmax(found.means))].startswith("a")


def test_randomised_hsd_of_few_queries_tends_to_all_rearrangements() -> None:
    """All 6^4 rearrangements of 3 runs on 4 queries; four standard errors of 20,000 draws."""
    values = some_runs(4, 3, effect=0.3)
    rows = [[np.array(order) for order in permutations(row)] for row in values]
    means = np.array([np.mean(chosen, axis=0) for chosen in product(*rows)])
    ranges = means.max(axis=1) - means.min(axis=1)
    found = randomised_hsd(values, n_resamples=20_000, rng=1)
    for a, b in combinations(range(3), 2):
        exact = (ranges >= abs(values[:, b].mean() - values[:, a].mean()) - 1e-12).mean()
        assert abs(found.p[a, b] - exact) < 4 * np.sqrt(exact * (1 - exact) / 20_000) + 1e-4


def test_measures_are_families_of_their_own() -> None:
    values = np.stack([some_runs(30, 5, seed) for seed in (1, 2)], axis=2)
    both, alone = (
        randomised_hsd(values, n_resamples=500, rng=3),
        randomised_hsd(values[:, :, 1], n_resamples=500, rng=3),
    )
    assert np.array_equal(both.p[:, :, 1], alone.p)
    assert both.least_difference[1] == alone.least_difference
    assert str(both).endswith(str(alone))
    assert both.letters(1) == alone.letters() or both.letters(1).texts == alone.letters().texts


def test_clusters_are_rearranged_alike() -> None:
    """Every query twice, as a cluster, says what the queries said once."""
    values = some_runs(20, 4)
    doubled = Design.of(40, clusters=np.repeat(np.arange(20), 2))
    once, twice = (
        randomised_hsd(values, n_resamples=500, rng=2),
        randomised_hsd(np.repeat(values, 2, axis=0), n_resamples=500, rng=2, design=doubled),
    )
    assert once.p.tolist() == twice.p.tolist()
    assert once.least_difference == pytest.approx(twice.least_difference, rel=1e-12)


@pytest.mark.slow
def test_both_hold_their_level_where_all_runs_are_equal() -> None:
    """600 tables of 8 equal runs: a false difference anywhere in 5 % of them (three standard
    errors); pairs alone far oftener.
    """
    wrong = {"max_t": 0, "hsd": 0, "pairs": 0}
    for seed in range(600):
        values = some_runs(40, 8, seed, effect=0)
        wrong["max_t"] += bool(
            max_t(values[:, 0], values[:, 1:], n_resamples=999, rng=seed).differs.any()
        )
        wrong["hsd"] += bool(randomised_hsd(values, n_resamples=499, rng=seed).differs.any())
        wrong["pairs"] += bool((all_pairs(values, n_resamples=999, rng=seed).p <= 0.05).any())
    bound = 3 * np.sqrt(0.05 * 0.95 / 600)
    assert abs(wrong["max_t"] / 600 - 0.05) < bound
    assert abs(wrong["hsd"] / 600 - 0.05) < bound
    assert wrong["pairs"] / 600 > 0.25


# --- all pairs ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("queries", "weighted"), [(9, False), (40, False), (40, True)])
def test_all_pairs_are_the_tests_of_single_pairs(queries: int, weighted: bool) -> None:
    values = np.stack([some_runs(queries, 4, seed) for seed in (1, 2)], axis=2)
    values[:, 3] = values[:, 1]
    design = Design.of(queries, weights=range(1, queries + 1) if weighted else None)
    found = all_pairs(values, n_resamples=3000, rng=7, design=design)
    for a, b in product(range(4), repeat=2):
        one = permutation_test(values[:, a], values[:, b], n_resamples=3000, rng=7, design=design)
        assert found.p[a, b].tolist() == one.p.tolist()
        assert found.low[a, b] == pytest.approx(one.low, abs=1e-11)
        assert found.high[a, b] == pytest.approx(one.high, abs=1e-11)
        assert found.difference[a, b] == pytest.approx(one.difference, abs=1e-14)
    assert found.p[1, 3].tolist() == [1, 1]


def test_nothing_depends_on_threads_or_on_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    values = some_runs(50, 12)
    runs = [
        (
            all_pairs(values, n_resamples=5000, rng=3, threads=threads),
            randomised_hsd(values, n_resamples=500, rng=3, threads=threads),
            max_t(values[:, 0], values[:, 1:], n_resamples=5000, rng=3, threads=threads),
        )
        for threads in (1, 2, 5)
    ]
    monkeypatch.setattr(pairwise_tests, "_SUMS_KEPT", 0)
    monkeypatch.setattr(pairwise_tests, "_MOST_PAIRS", 32)
    monkeypatch.setattr(tails, "FEW_VALUES", 0)
    runs.append(
        (
            all_pairs(values, n_resamples=5000, rng=3),
            randomised_hsd(values, n_resamples=500, rng=3),
            max_t(values[:, 0], values[:, 1:], n_resamples=5000, rng=3),
        )
    )
    for others in runs[1:]:
        assert all(same_results(one, other) for one, other in zip(runs[0], others, strict=True))


def test_tables_that_do_not_fit_are_refused() -> None:
    values = some_runs(5, 3)
    with pytest.raises(ir.InputError, match=r"baseline of shape \(5,\) and values of \(4, 3\)"):
        max_t(values[:, 0], values[:4])
    with pytest.raises(ir.InputError, match="1 runs, expected at least 2"):
        randomised_hsd(values[:, :1])
    with pytest.raises(ir.InputError, match="expected finite"):
        all_pairs(np.full((3, 3), np.nan))
    with pytest.raises(ir.InputError, match="a design of 4 queries"):
        all_pairs(values, design=Design.of(4))
    with pytest.raises(ir.OptionError, match="between 0 and 1"):
        randomised_hsd(values, level=1)
