"""One rule for families: the first measure alone, its companions together, and intervals that never
contradict their p values.
"""

import itertools
from typing import Any

import numpy as np
import pytest

import idealrank as ir
from idealrank.analysis.comparison.families import COMPANIONS, PRIMARY

MEASURES = ["nDCG@5", "AP", "RR", "P@5"]


def evaluations(
    seed: int, n_queries: int = 12, n_runs: int = 2, *, spread: float = 0.6
) -> list[ir.Evaluation]:
    """Runs whose quality rises from one to the next."""
    rng = np.random.default_rng(seed)
    qrels: dict[str, dict[str, int]] = {}
    runs: list[dict[str, list[str]]] = [{} for _ in range(n_runs)]
    for number in range(n_queries):
        grades = rng.integers(0, 3, 12)
        qrels[f"q{number}"] = {f"d{place}": int(grade) for place, grade in enumerate(grades)}
        for quality, run in enumerate(runs):
            run[f"q{number}"] = [
                f"d{place}"
                for place in np.argsort(-(grades * (1 + spread * quality) + rng.normal(0, 2, 12)))
            ]
    return [
        ir.evaluate(qrels, ir.Run(run, name=f"run{number}"), MEASURES)
        for number, run in enumerate(runs)
    ]


def t_of(differences: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A rising function of |t|: the sum over its root of squares, of every column."""
    root = np.sqrt((differences**2).sum(axis=0))
    return np.abs(differences.sum(axis=0)) / np.where(root > 0, root, np.inf)


def max_t_by_enumeration(differences: np.ndarray[Any, Any]) -> list[float]:
    """Corrected p values from every sign vector."""
    observed = t_of(differences)
    largest = np.array(
        [
            t_of(differences * np.array(signs)[:, None]).max()
            for signs in itertools.product((1, -1), repeat=len(differences))
        ]
    )
    return [float(np.mean(largest >= one * (1 - 1e-12))) for one in observed]


@pytest.mark.spread(2)
@pytest.mark.parametrize("seed", range(4))
def test_the_first_measure_is_tested_alone_and_its_companions_together(seed: int) -> None:
    a, b = evaluations(seed)
    found = ir.compare(a, b).pairs[0].measures
    differences = np.stack([b[text] - a[text] for text in MEASURES], axis=1)
    assert (
        found["nDCG@5"].p_corrected
        == found["nDCG@5"].p
        == pytest.approx(max_t_by_enumeration(differences[:, :1])[0], abs=1e-12)
    )
    companions = max_t_by_enumeration(differences[:, 1:])
    for text, p in zip(MEASURES[1:], companions, strict=True):
        assert found[text].p_corrected == pytest.approx(p, abs=1e-12), text
    assert [row.family for row in found.values()] == [PRIMARY, COMPANIONS, COMPANIONS, COMPANIONS]


def test_more_companions_change_nothing_for_the_first_measure() -> None:
    a, b = evaluations(3, n_queries=60)
    alone, among = (
        ir.compare(a, b, measures=measures).pairs[0]["nDCG@5"]
        for measures in (["nDCG@5"], MEASURES)
    )
    assert (alone.p, alone.p_corrected, alone.interval, alone.verdict) == (
        among.p,
        among.p_corrected,
        among.interval,
        among.verdict,
    )


def test_pairs_of_the_first_measure_are_corrected_together() -> None:
    runs = evaluations(5, n_runs=3)
    found = ir.compare(*runs)
    differences = np.stack(
        [y["nDCG@5"] - x["nDCG@5"] for x, y in itertools.combinations(runs, 2)], axis=1
    )
    expected = max_t_by_enumeration(differences)
    for pair, p in zip(found.pairs, expected, strict=True):
        assert pair["nDCG@5"].p_corrected == pytest.approx(p, abs=1e-12)
    assert found.method.families == {PRIMARY: 3, COMPANIONS: 9}
    assert found.method.correction == "max-T"


@pytest.mark.spread(5)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"test": "t"},
        {"correction": "holm"},
        {"correction": "holm", "test": "t"},
        {"level": 0.8},
    ],
)
@pytest.mark.parametrize(
    ("n_runs", "seeds"),
    [
        (2, 1),
        (3, 1),
        pytest.param(12, 1, marks=pytest.mark.slow),
        pytest.param(3, 3, marks=pytest.mark.slow),
        pytest.param(12, 3, marks=pytest.mark.slow),
    ],
)
def test_an_interval_holds_zero_if_and_only_if_the_corrected_p_is_above_the_level(
    options: dict[str, Any], n_runs: int, seeds: int
) -> None:
    decided = 0
    for seed in range(seeds):
        runs = evaluations(seed, n_queries=25, n_runs=n_runs, spread=0.4 if n_runs > 2 else 1.5)
        slices = {
            query: ["odd", "all"] if number % 2 else ["even", "all"]
            for number, query in enumerate(runs[0].queries)
        }
        extra = {"baseline": "run0"} if n_runs > 2 else {}
        found = ir.compare(*runs, slices=slices, n_resamples=2000, **options, **extra)
        alpha = round(1 - found.method.level, 12)
        for _, row in found.rows():
            assert row.slices is not None
            for one in (row, *row.slices.rows):
                low, high = one.interval
                assert (low <= 0 <= high) == (one.p_corrected > alpha), (row.measure, one)
                assert (one.verdict == "undecided") == (one.p_corrected > alpha)
                decided += one.verdict != "undecided"
    assert decided


def test_slices_of_the_first_measure_are_a_family_of_their_own() -> None:
    a, b = evaluations(9, n_queries=14)
    slices = {query: f"s{number % 2}" for number, query in enumerate(a.queries)}
    found = ir.compare(a, b, slices=slices)["nDCG@5"].slices
    assert found is not None
    differences = np.zeros((14, 2))
    for place, query in enumerate(a.queries):
        column = int(slices[query][1:])
        differences[place, column] = b["nDCG@5"][place] - a["nDCG@5"][place]
    for name, p in zip(("s0", "s1"), max_t_by_enumeration(differences), strict=True):
        assert found[name].p_corrected == pytest.approx(p, abs=1e-12)


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3, 4))]
)
def test_compare_and_gate_answer_one_question_alike(seed: int) -> None:
    old, new = evaluations(seed, n_queries=40, spread=-0.5)
    row, check = ir.compare(old, new).pairs[0]["nDCG@5"], ir.gate(new, old).checks[0]
    assert check.p_two_sided == row.p_corrected
    assert check.difference == row.difference
    # A drop that is significant on two sides is so on one.
    assert row.verdict != "worse" or not ir.gate(new, old).passed


def test_companions_close_no_gate_unless_they_are_named() -> None:
    qrels = {f"q{number}": {"x": 1, "y": 1} for number in range(30)}
    # The first relevant document stays at the top; the second falls out of the list.
    old, new = (dict.fromkeys(qrels, ranking) for ranking in (["x", "y"], ["x", "z"]))
    before, after = (ir.evaluate(qrels, run, ["RR", "AP"]) for run in (old, new))
    assert ir.gate(after, before).passed
    assert not ir.gate(after, before, also="AP").passed
    assert [check.decides for check in ir.gate(after, before).checks] == [True, False]
    assert not ir.gate(after, before, measures="RR", also=["AP"]).passed
    assert not ir.gate(after, before, measures="AP").passed


def test_several_baselines_are_one_family() -> None:
    runs = evaluations(4, n_queries=12, n_runs=3, spread=0.5)
    worst, middle, best = runs
    gated = ir.gate(worst, middle, best)
    differences = np.stack([worst["nDCG@5"] - one["nDCG@5"] for one in (middle, best)], axis=1)
    root = np.sqrt((differences**2).sum(axis=0))
    observed = differences.sum(axis=0) / root
    least = np.array(
        [
            ((differences * np.array(signs)[:, None]).sum(axis=0) / root).min()
            for signs in itertools.product((1, -1), repeat=12)
        ]
    )
    for check, one in zip(
        [check for check in gated.checks if check.measure == "nDCG@5"], observed, strict=True
    ):
        assert check.p_corrected == pytest.approx(float(np.mean(least <= one + 1e-12)), abs=1e-12)


@pytest.mark.parametrize(("n_queries", "drawn"), [(14, False), (19, True), (30, True)])
def test_a_family_names_its_draws_and_seed_where_it_does_not_look_at_all_signs(
    n_queries: int, drawn: bool
) -> None:
    runs = evaluations(3, n_queries=n_queries, n_runs=3)
    method, gated = (
        ir.compare(*runs, measures=["nDCG@5"]).method,
        ir.gate(*runs, measures=["nDCG@5"]),
    )
    for found in (method, gated):
        assert (found.n_resamples is not None, found.seed is not None) == (drawn, drawn)
