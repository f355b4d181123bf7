"""Kendall's tau in three forms and Spearman's rho, of plain lists and of runs: SciPy live; F of the
top: scikit-learn live.
"""

from itertools import permutations

import numpy as np
import pytest

import idealrank as ir
from idealrank.errors import InputError, OptionError

L = [9, 4, 4, 2, 2, 2, 1, 1, 1, 1]
# The paper's hypothesis lists: tau-b is the printed column, tau-a what its printed formula gives,
# tau-c fits neither.
TAU = [
    ([9, 4, 4, 2, 2, 2, 1, 1, 1, 1], 1.0, 7 / 9, 14 / 15),
    ([9, 4, 4, 2, 2, 1, 2, 1, 1, 1], 0.8, 28 / 45, 56 / 75),
    ([4, 4, 2, 9, 2, 2, 1, 1, 1, 1], 26 / 35, 26 / 45, 52 / 75),
    ([1, 4, 4, 2, 2, 2, 9, 1, 1, 1], 2 / 7, 2 / 9, 4 / 15),
    ([1, 4, 4, 2, 2, 2, 1, 1, 1, 9], 2 / 7, 2 / 9, 4 / 15),
    ([1, 1, 1, 1, 2, 2, 2, 4, 4, 9], -0.8, -28 / 45, -56 / 75),
]


def scipy_values(one: np.ndarray, two: np.ndarray) -> tuple[float, float, float]:
    """Tau-b, tau-c and rho of SciPy; NaN where there is none."""
    from scipy import stats

    # spearmanr warns of these, and says NaN
    if one.size < 2 or np.unique(one).size < 2 or np.unique(two).size < 2:
        return (np.nan, np.nan, np.nan)
    taus = [float(stats.kendalltau(one, two, variant=variant).statistic) for variant in ("b", "c")]
    return (*taus, float(stats.spearmanr(one, two).statistic))  # type: ignore[return-value]


def naive_tau_a(one: np.ndarray, two: np.ndarray) -> float:
    """Every pair."""
    n = one.size
    signs = np.sign(one[:, None] - one) * np.sign(two[:, None] - two)
    return float(signs.sum() / (n * (n - 1))) if n > 1 else np.nan


@pytest.mark.parametrize("levels", [2, 3, 12, 1000])
def test_scipy_list_by_list(levels: int) -> None:
    """Many lists at once, of 0 to 30 items, in any order of their items, with many, some and no
    ties.
    """
    rng = np.random.default_rng(levels)
    qid = rng.integers(0, 40, 400)
    reference, predicted = rng.integers(-levels, levels, 400), rng.integers(0, levels, 400) / 7
    tau = {variant: ir.kendall(reference, predicted, variant, qid=qid) for variant in "abc"}
    rho = ir.spearman(reference, predicted, qid=qid)
    for place, code in enumerate(dict.fromkeys(qid.tolist())):
        one, two = reference[qid == code], predicted[qid == code]
        found = [tau["b"][place], tau["c"][place], rho[place]]
        assert found == pytest.approx(scipy_values(one, two), abs=1e-12, nan_ok=True)
        assert tau["a"][place] == pytest.approx(naive_tau_a(one, two), abs=1e-12, nan_ok=True)


def test_long_lists() -> None:
    """Fifty thousand items: the counts of pairs do not fit 32 bits."""
    rng = np.random.default_rng(5)
    reference, predicted = rng.integers(0, 300, 50_000), rng.random(50_000)
    predicted += reference / 300
    found = [
        ir.kendall(reference, predicted),
        ir.kendall(reference, predicted, "c"),
        ir.spearman(reference, predicted),
    ]
    assert found == pytest.approx(scipy_values(reference, predicted), abs=1e-12)


@pytest.mark.parametrize(("hypothesis", "b", "a", "c"), TAU)
def test_the_lists_of_the_rankdcg_paper(
    hypothesis: list[float], b: float, a: float, c: float
) -> None:
    assert [ir.kendall(L, hypothesis, variant) for variant in "bac"] == pytest.approx(
        [b, a, c], abs=1e-15
    )


def test_perfect_agreement_is_exactly_1() -> None:
    """Bounds, symmetry, and a sign for the list turned round; ties leave tau-a below 1."""
    values = np.array([3.0, 1.0, 2.0, 7.0, -4.0])
    for function in (ir.kendall, ir.spearman):
        assert (function(values, np.exp(values)), function(values, -values)) == (1.0, -1.0)
        assert function(L, L) == 1.0
        assert function(L, TAU[2][0]) == function(TAU[2][0], L)
    assert ir.kendall(L, L, "a") == pytest.approx(7 / 9)


@pytest.mark.parametrize(
    ("reference", "predicted"), [([], []), ([1], [2]), ([1, 1], [1, 2]), ([1, 2], [3, 3])]
)
def test_no_value_where_nothing_differs(reference: list[float], predicted: list[float]) -> None:
    """NaN; tau-a of two items, one list tied, is 0 by its definition."""
    assert np.isnan(
        [
            ir.kendall(reference, predicted),
            ir.kendall(reference, predicted, "c"),
            ir.spearman(reference, predicted),
        ]
    ).all()
    assert ir.kendall(reference, predicted, "a") == pytest.approx(
        0.0 if len(reference) == 2 else np.nan, nan_ok=True
    )


def test_the_narrowest_numbers() -> None:
    """-128 has no opposite among eight bits."""
    reference = np.array([-128, 0, 127], np.int8)
    assert (ir.kendall(reference, [1, 2, 3]), ir.spearman(reference, [1, 2, 3])) == (1.0, 1.0)


def test_layouts() -> None:
    """A float for one list, an array for several."""
    assert isinstance(ir.kendall([1, 2], [1, 2]), float)
    assert isinstance(ir.spearman([1, 2], [1, 2]), float)
    assert ir.kendall([1, 2, 2, 1], [1, 2, 1, 2], "b", [2, 2]).tolist() == [1.0, -1.0]
    assert ir.spearman([[1, 2, -1], [2, 1, 0]], [[1, 2, 9], [1, 2, 3]], padding=-1).tolist() == [
        1.0,
        -1.0,
    ]


def test_refused() -> None:
    with pytest.raises(OptionError, match=r"variant=d: expected one of a \| b \| c"):
        ir.kendall([1, 2], [1, 2], "d")
    with pytest.raises(InputError, match="predicted, item 1: found nan"):
        ir.spearman([1, 2], [1, np.nan])
    with pytest.raises(InputError, match="reference has shape"):
        ir.kendall([1, 2], [1, 2, 3])


def run_values(
    grades: list[float], scores: list[float], measures: list[str], ties: str
) -> list[float]:
    """Measures of one query of judged documents, one unjudged among them."""
    judged = {f"d{place}": grade for place, grade in enumerate(grades)}
    run = {"unjudged": max(scores)} | {f"d{place}": score for place, score in enumerate(scores)}
    means = ir.evaluate(
        {"q": judged},
        {"q": run},
        measures,
        ir.Convention.of("standard", negative="kept", ties=ties),
    ).mean()
    return [means[measure] for measure in measures]


def test_a_run_without_ties_against_scipy() -> None:
    """Judged documents returned, equal grades among them."""
    rng = np.random.default_rng(8)
    for _ in range(20):
        grades, scores = rng.integers(0, 4, 12).astype(float), rng.permutation(12).astype(float)
        found = run_values(
            grades.tolist(),
            scores.tolist(),
            ["GradeTau", "GradeTau(variant=c)", "GradeRho"],
            "docid",
        )
        assert found == pytest.approx(scipy_values(grades, scores), abs=1e-12)
        assert run_values(
            grades.tolist(), scores.tolist(), ["GradeTau(variant=a)"], "docid"
        ) == pytest.approx([naive_tau_a(grades, scores)])


def test_tied_scores_of_a_run_are_the_mean_over_their_orders() -> None:
    """SciPy's value of every order of the tied documents."""
    grades, scores = np.array([3.0, 1, 0, 1, 2]), np.array([2.0, 2, 1, 1, 1])
    orders = [
        np.array(order)
        for order in permutations(range(5))
        if (np.diff(scores[list(order)]) <= 0).all()
    ]
    values = [scipy_values(grades[order], -np.arange(5)) for order in orders]
    found = run_values(
        grades.tolist(),
        scores.tolist(),
        ["GradeTau", "GradeTau(variant=c)", "GradeRho"],
        "expected",
    )
    assert found == pytest.approx(np.mean(values, axis=0), abs=1e-12)


@pytest.mark.parametrize("k", [1, 3, 8])
def test_f_of_the_first_k_against_scikit_learn(k: int) -> None:
    """F1, and F2, whose beta is squared here; lists of eight, some without a relevant item, left
    out.
    """
    from sklearn.metrics import f1_score, fbeta_score

    rng = np.random.default_rng(k)
    labels, scores = (
        rng.integers(0, 2, (50, 8)),
        rng.permuted(np.tile(np.arange(8.0), (50, 1)), axis=1),
    )
    labels[:, 0] = 1
    shown = scores >= 8 - k
    found = ir.evaluate(labels, scores, [ir.F(cutoff=k), ir.F(cutoff=k, beta=4)]).values
    theirs = [
        (f1_score(label, one), fbeta_score(label, one, beta=2))
        for label, one in zip(labels, shown, strict=True)
    ]
    np.testing.assert_allclose(found, theirs, rtol=0, atol=1e-12)


def test_spellings_of_f() -> None:
    """As it is published: F1@10."""
    assert {
        str(ir.parse_measure(text)) for text in ("F1@10", "f1_score@10", "f_measure@10", "F@10")
    } == {"F@10"}
    with pytest.raises(OptionError, match="F needs a cutoff, as in F@10"):
        ir.parse_measure("f1")
