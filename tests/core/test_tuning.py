"""Choosing a discount and a cutoff: against enumeration, SciPy and `compare`, and on runs made to
prefer one or the other.
"""

import math
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

import idealrank as ir
from idealrank.analysis.tuning.measurement import grid_of
from idealrank.stats.discrimination import _mean_rates, swap_spread, swap_table
from tests.conftest import ROOT
from tests.core.test_families import max_t_by_enumeration

Rankings = Mapping[str, list[str]]

N_JUDGED = 12


def splits(n: int, half: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    for first in combinations(range(n), half):
        for second in combinations([query for query in range(n) if query not in first], half):
            yield first, second


def naive_rate(table: list[list[Fraction]], half: int) -> Fraction:
    """Swaps and half of the ties over all pairs of disjoint sets, and all pairs of runs, from the
    definition.
    """
    found = []
    for first, second in splits(len(table), half):
        for a, b in combinations(range(len(table[0])), 2):
            here, there = (
                sum(table[query][b] - table[query][a] for query in side) for side in (first, second)
            )
            found.append(
                Fraction(1, 2)
                if here == 0 or there == 0
                else Fraction(int((here > 0) != (there > 0)))
            )
    return sum(found) / len(found)


@pytest.mark.parametrize(("n", "half"), [(4, None), (7, None), (8, 3), (8, 4), (5, 1)])
def test_the_swap_rate_of_few_queries_is_that_of_all_splits(n: int, half: int | None) -> None:
    tables = np.random.default_rng(n).integers(0, 4, size=(n, 3, 2)) / 4  # with many ties

    found = swap_table(tables, size=half, trials=10_000)

    expected = [
        naive_rate(
            [[Fraction(value) for value in row] for row in tables[:, :, measure]], half or n // 2
        )
        for measure in range(2)
    ]
    pairs = {frozenset(sides) for sides in splits(n, half or n // 2)}
    assert (found.exact, found.trials) == (True, len(pairs))
    assert swap_table(tables, size=half, trials=len(pairs) - 1 or 2).exact == (len(pairs) <= 2)
    assert found.rates == pytest.approx([float(rate) for rate in expected], abs=1e-15)
    assert (found.standard_errors == 0).all()


def test_the_swap_rate_of_halves_is_the_p_value_of_balanced_sign_flips() -> None:
    values = np.random.default_rng(3).normal([0.0, 0.3], 1.0, size=(10, 2))
    differences = values[:, 1] - values[:, 0]
    balanced = [signs for signs in product((-1, 1), repeat=10) if sum(signs) == 0]

    found = swap_table(values[:, :, None]).rates[0]

    beyond = np.mean(
        [abs(np.dot(signs, differences)) > abs(differences.sum()) for signs in balanced]
    )
    assert found == pytest.approx(beyond, abs=1e-15)


def test_random_splits_agree_with_those_of_swap_rates_and_with_the_t_test() -> None:
    values = np.random.default_rng(4).normal([0.0, 0.1, 0.2, 0.35], 1.0, size=(200, 4))
    other = ir.stats.swap_rates(values, trials=4000, rng=1)

    found = swap_table(values[:, :, None], trials=4000, rng=2)

    p = [stats.ttest_rel(values[:, a], values[:, b]).pvalue for a, b in combinations(range(4), 2)]
    assert not found.exact
    assert found.rates[0] == pytest.approx(
        other.rate, abs=4 * math.hypot(other.standard_error, found.standard_errors[0])
    )
    # t against normal, at 199 degrees
    assert found.rates[0] == pytest.approx(np.mean(p), abs=4 * found.standard_errors[0] + 0.003)


@pytest.mark.parametrize(("n", "half"), [(60, 30), (60, 20), (61, 30), (40, 5)])
def test_the_chance_of_a_swap_of_normal_means_is_that_of_the_bivariate_normal(
    n: int, half: int
) -> None:
    values = np.random.default_rng(n).normal([0.0, 0.1, 0.3], 1.0, size=(n, 3))

    (found,) = _mean_rates(np.ones((1, n)), values, half)

    expected = []
    for a, b in combinations(range(3), 2):
        differences = values[:, b] - values[:, a]
        variance = differences.var(ddof=1)
        own, shared = variance * (1 / half - 1 / n), -variance / n
        # of one mean and minus the other
        law = stats.multivariate_normal(
            [0, 0], [[own, -shared], [-shared, own]], allow_singular=True
        )
        expected.append(
            sum(float(law.cdf(np.array([-1, 1]) * sign * differences.mean())) for sign in (1, -1))
        )
    assert found == pytest.approx(np.mean(expected), abs=1e-5)


def test_margins_vanish_for_nothing_but_the_same_measure_and_do_not_depend_on_threads() -> None:
    values = np.random.default_rng(5).normal(
        np.array([0.0, 0.1, 0.3])[:, None], 1.0, size=(50, 3, 4)
    )
    values[:, :, 3] = 2 * values[:, :, 0]

    one, many = (swap_spread(values, rng=1, threads=threads) for threads in (1, 4))
    tables = [swap_table(values, rng=1, threads=threads) for threads in (1, 4)]

    assert (one.margins == many.margins).all()
    assert (tables[0].rates == tables[1].rates).all()
    assert one.deviations[0, 3] == pytest.approx(0.002)  # the least: the two measures are one
    assert (one.margins[0, 1:3] > 0.02).all()
    assert tables[0].rates[0] == tables[0].rates[3]


def collection(
    good: Mapping[str, float],
    *,
    n_queries: int = 40,
    at: tuple[int, int] = (0, N_JUDGED),
    seed: int = 0,
) -> tuple[dict[str, dict[str, int]], list[ir.Run]]:
    """Judgments of 12 documents a query, and runs that tell half of the relevant ones between these
    ranks with their own chance.
    """
    generator = np.random.default_rng(seed)
    queries = [f"q{i}" for i in range(n_queries)]
    relevant = {
        query: set(generator.permutation(N_JUDGED)[: N_JUDGED // 2].tolist()) for query in queries
    }
    qrels = {
        query: {f"d{i}": int(i in found) for i in range(N_JUDGED)}
        for query, found in relevant.items()
    }
    runs = []
    for name, chance in good.items():
        rankings = {}
        for query in queries:
            order = [int(document) for document in generator.permutation(N_JUDGED)]
            low, high = at
            if generator.random() < chance:
                order[low:high] = sorted(
                    order[low:high],
                    key=lambda document, known=relevant[query]: document not in known,
                )
            rankings[query] = [f"d{document}" for document in order]
        runs.append(ir.Run(rankings, name=name))
    return qrels, runs


GOOD = {"a": 0.1, "b": 0.4, "c": 0.7, "d": 0.95}


def test_significant_pairs_are_those_of_compare_and_of_an_enumeration() -> None:
    qrels, runs = collection(GOOD, n_queries=9)
    evaluations = [ir.evaluate(qrels, run, ["nDCG@3", "nDCG(discount=zipf(1))@12"]) for run in runs]

    found = ir.choose(qrels, runs, discounts=["log2", "zipf(1)"], cutoffs=[3, 12])

    compared = ir.compare(*evaluations)
    for measure in ("nDCG@3", "nDCG(discount=zipf(1))@12"):
        values = np.stack([evaluation[measure] for evaluation in evaluations], axis=1)
        differences = np.stack(
            [values[:, b] - values[:, a] for a, b in combinations(range(4), 2)], axis=1
        )
        together = ir.compare(*evaluations, measures=measure)
        by_hand = sum(p <= 0.05 for p in max_t_by_enumeration(differences))
        assert (
            found[measure].significant
            == by_hand
            == sum(row.p_corrected <= 0.05 for _, row in together.rows())
        )
        t = [
            stats.ttest_rel(values[:, a], values[:, b]).pvalue for a, b in combinations(range(4), 2)
        ]
        assert found[measure].uncorrected == sum(p <= 0.05 for p in t)
    assert compared.names == found.names


def test_observed_differences_plan_no_number_of_queries() -> None:
    """A difference observed is too large where it is chosen for its size, and has the wrong sign in
    some cases.
    """
    found = ir.choose(*collection(GOOD), discounts=["log2"], cutoffs=[5])
    assert "queries_needed" not in found["nDCG@5"].as_dict()
    assert "power" not in found.as_dict()["method"]
    assert "would detect" not in found.recommendation
    assert "queries needed" not in str(found)


def test_where_the_top_tells_runs_apart_a_shallow_cutoff_is_better_and_where_the_rest_does_a_deep_one() -> (  # noqa: E501
    None
):
    top = ir.choose(
        *collection(GOOD, at=(0, 4), seed=1), discounts=["log2", "linear"], cutoffs=[3, 12]
    )
    rest = ir.choose(
        *collection(GOOD, at=(3, 12), n_queries=100, seed=1),
        discounts=["log2", "linear"],
        cutoffs=[3, 12],
    )

    shallow, deep = (
        (lambda found: found["nDCG@3"]),
        (lambda found: found["nDCG(discount=linear)@12"]),
    )
    assert shallow(top).swap_rate < deep(top).swap_rate
    assert deep(rest).swap_rate + shallow(rest).margin < shallow(rest).swap_rate
    assert not shallow(rest).as_good
    assert rest.recommended.cutoff == 12
    assert deep(rest).share > shallow(rest).share
    assert deep(rest).generalisability > shallow(rest).generalisability


def test_the_same_input_gives_the_same_output_for_any_threads_and_order_of_runs() -> None:
    qrels, runs = collection(GOOD, n_queries=30)
    options = {"discounts": ["log2"], "cutoffs": [1, 5]}

    first, again = (ir.choose(qrels, runs, threads=threads, **options) for threads in (1, 3))  # type: ignore[arg-type]
    turned = ir.choose(qrels, runs[::-1], **options)  # type: ignore[arg-type]
    seeded = [ir.choose(qrels, runs, rng=rng, **options) for rng in (5, 5, 6)]  # type: ignore[arg-type]

    assert first.as_dict() == again.as_dict()
    assert [one.swap_rate for one in turned.settings] == pytest.approx(
        [one.swap_rate for one in first.settings], abs=1e-12
    )
    assert seeded[0].as_dict() == seeded[1].as_dict()
    assert seeded[0]["nDCG@5"].swap_rate != seeded[2]["nDCG@5"].swap_rate
    assert seeded[2].method.seed == 6


def test_a_cutoff_that_nobody_judged_is_not_considered() -> None:
    qrels, runs = collection({"a": 0.2, "b": 0.9}, n_queries=30)
    longer = [
        ir.Run(
            {
                query: [*run.ranking(query).documents, *(f"x{i}" for i in range(12))]
                for query in qrels
            },
            name=run.name,
        )
        for run in runs
    ]

    found = ir.choose(qrels, longer, cutoffs=[10, 15, None])

    assert [found[measure].unjudged for measure in ("nDCG@10", "nDCG@15", "nDCG")] == pytest.approx(
        [0, 3 / 15, 12 / 24]
    )
    assert [found[measure].considered for measure in ("nDCG@10", "nDCG@15", "nDCG")] == [
        True,
        False,
        False,
    ]
    assert (
        "Not considered: @15, whole lists, where 20% to 50% of the returned documents"
        in found.recommendation
    )
    short = ir.choose(qrels, runs, cutoffs=[10, 1000])
    assert short["nDCG@1000"].unjudged == 0  # ranks that the lists lack show nothing


def test_the_usual_setting_is_left_where_nobody_judged_what_it_shows() -> None:
    qrels, runs = collection({"a": 0.2, "b": 0.5, "c": 0.9}, n_queries=30)
    lists = [{query: run.ranking(query).documents for query in qrels} for run in runs]
    mixed = [
        {
            query: [*shown[:3], *(f"x{i}" for i in range(12)), *shown[3:]]
            for query, shown in run.items()
        }
        for run in lists
    ]

    found = ir.choose(qrels, mixed, discounts=["log2"], cutoffs=[3, 10])

    assert (found.recommended.measure, found.usual.considered) == ("nDCG@3", False)
    assert found.recommendation.startswith("Take nDCG@3: the lowest swap rate is that of nDCG@3 (")
    assert (
        "). nDCG@10 is not considered, since 70% of its documents are unjudged in some run."
        in found.recommendation
    )
    assert not any("make one pair" in warning for warning in found.warnings)


def test_theory_is_that_of_feasibility() -> None:
    found = ir.choose(*collection({"a": 0.2, "b": 0.9}, n_queries=10), cutoffs=[10, "0.2n", None])

    for setting in found.settings:
        said = ir.theory.feasibility(setting.discount, setting.cutoff)
        assert setting.theory is not None
        assert (setting.theory.verdict, setting.theory.theorem) == (said.verdict, said.theorem)
    assert "Theorem 10" in found.recommendation
    cited = re.search(r"(docs/\S+\.md), '([^']+)'", found.recommendation)
    assert cited is not None
    assert f"\n## {cited[2]}\n" in (ROOT / cited[1]).read_text(encoding="utf-8")


def test_runs_that_are_all_the_same_tie_everywhere() -> None:
    qrels, (run, _) = collection({"a": 0.5, "b": 0.5})

    found = ir.choose(qrels, [run, run, run], cutoffs=[5, 10])

    assert found.names == ("a", "a (2)", "a (3)")
    assert {(one.swap_rate, one.tied, one.significant) for one in found.settings} == {(0.5, 1.0, 0)}
    assert found.recommended.measure == "nDCG@10"
    assert "0 of 3 pairs of runs differ significantly." in found.recommendation


def test_runs_that_differ_alike_on_every_query_never_swap() -> None:
    qrels = {f"q{i}": {"x": 1} for i in range(8)}

    found = ir.choose(
        qrels,
        [dict.fromkeys(qrels, ranking) for ranking in (["y", "x"], ["x", "y"])],
        discounts=["log2"],
        cutoffs=[10],
    )

    assert found["nDCG@10"].swap_rate == 0.0


def test_more_than_ten_runs_are_corrected_as_compare_corrects_them() -> None:
    qrels, runs = collection({f"r{i}": i / 10 for i in range(11)}, n_queries=25)
    evaluations = [ir.evaluate(qrels, run, "nDCG@10") for run in runs]

    found = ir.choose(qrels, runs, discounts=["log2"], cutoffs=[10], rng=3)

    p = [row.p_corrected for _, row in ir.compare(*evaluations, rng=3).rows()]
    # the draws are others: no p is so near that these decide
    assert min(abs(one - 0.05) for one in p) > 0.005
    assert found.method.test == "sign-flip permutation test, max-T"
    assert (found["nDCG@10"].pairs, found["nDCG@10"].significant) == (
        55,
        sum(one <= 0.05 for one in p),
    )


def test_few_queries_tell_nothing_apart_and_say_so() -> None:
    generator = np.random.default_rng(2)
    values = generator.random((4, 3, 6))
    qrels, runs = collection(GOOD, n_queries=4)

    margins = swap_spread(values, resamples=4000, rng=1).margins
    found = ir.choose(qrels, runs, discounts=["log2"], cutoffs=[1, 3, 12])

    assert (margins.diagonal() == 0).all()
    assert ((margins >= 0) & (margins <= 1)).all()
    assert all(setting.as_good for setting in found.settings)
    assert any(warning.startswith("4 queries ") for warning in found.warnings)


def test_queries_without_a_value_are_left_out_of_every_setting() -> None:
    qrels, runs = collection({"a": 0.2, "b": 0.9}, n_queries=12)
    qrels["q3"] = dict.fromkeys(qrels["q3"], 0)

    counted = ir.choose(qrels, runs, cutoffs=[10])
    left_out = ir.choose(qrels, runs, cutoffs=[10], convention="standard,no_relevant=left-out")

    assert (counted.n, counted.left_out) == (12, 0)
    assert (left_out.n, left_out.left_out) == (11, 1)
    assert (
        left_out.warnings[2]
        == "queries left out, since a run or a setting has no value for them: 1"
    )


def test_what_cannot_be_compared_is_refused() -> None:
    qrels, runs = collection({"a": 0.2, "b": 0.9}, n_queries=12)

    for wrong, options in {
        "AP: found a measure without a discount": {"measure": "AP"},
        "found a discount or cutoff, which are to be chosen": {"measure": "nDCG@10"},
        "found no discount or no cutoff": {"cutoffs": []},
        "discount=nonsense": {"discounts": ["nonsense"]},
        "size=7: expected at most half of the 12 queries": {"size": 7},
        "level=1": {"level": 1},
    }.items():
        with pytest.raises(ir.OptionError, match=wrong):
            ir.choose(qrels, runs, **options)  # type: ignore[arg-type]
    with pytest.raises(ir.OptionError, match="found 1 run, expected two or more"):
        ir.choose(qrels, runs[:1])
    with pytest.raises(ir.InputError, match="found one dict, expected several runs"):
        ir.choose(qrels, {"q0": ["d1"]})
    few = {query: qrels[query] for query in list(qrels)[:3]}
    with pytest.raises(
        ir.InputError, match="3 of 3 queries are scored in every run, expected at least 4"
    ):
        ir.choose(few, runs)


def test_measures_are_named_as_the_convention_needs() -> None:
    usual, other = (
        grid_of("nDCG", ["log2", "zipf(1)"], [5, 5], name)
        for name in ("standard", "standard,discount=zipf(1)")
    )

    assert [str(option.measure) for option in usual] == ["nDCG@5", "nDCG(discount=zipf(1))@5"]
    assert [str(option.measure) for option in other] == ["nDCG(discount=log2)@5", "nDCG@5"]
