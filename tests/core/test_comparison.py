"""`compare`: against SciPy and numbers worked by hand, and what must hold of every comparison."""

import math
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import idealrank as ir
from idealrank.analysis.comparison import Comparison
from idealrank.errors import IncompatibleError, InputError, OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.reports.views.comparison.comparison import method_text
from idealrank.reports.views.comparison.pair_sentences import needed_text
from idealrank.stats import Design, max_t, simultaneous
from idealrank.stats.comparison import TESTS, Plan, compare_columns, smallest_visible
from tests.conftest import examples

QRELS = {f"q{i}": {"x": 1} for i in range(40)}


def answers(ranking: list[str], without: int = 0) -> dict[str, list[str]]:
    """A run that returns the same for every query but the first ones."""
    return dict.fromkeys(list(QRELS)[without:], ranking)


def evaluation(values: Any, name: str = "run", measures: tuple[str, ...] = ("P@1",)) -> Evaluation:
    """An evaluation with values of our choice, one column a measure; NaN is left out."""
    columns = np.asarray(values, np.float64).reshape(len(values), len(measures))
    # in the order of their ids, which is that of a comparison
    queries = [f"q{i:03}" for i in range(len(columns))]
    made = ir.evaluate(
        {query: {"x": 1} for query in queries}, {query: ["x"] for query in queries}, measures
    )
    return replace(made, name=name, values=columns, scored=~np.isnan(columns))


def random_pair(
    n: int, seed: int = 1, measures: tuple[str, ...] = ("P@1",)
) -> tuple[Evaluation, Evaluation]:
    generator = np.random.default_rng(seed)
    a = generator.random((n, len(measures)))
    b = np.clip(a + generator.normal(0.05, 0.2, a.shape) * (generator.random(a.shape) < 0.6), 0, 1)
    return evaluation(a, "a", measures), evaluation(b, "b", measures)


def test_the_p_value_of_few_queries_is_scipys_exact_one() -> None:
    a, b = random_pair(12)
    expected = stats.permutation_test(
        (b["P@1"] - a["P@1"],),
        np.mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=math.inf,
        alternative="two-sided",
    )

    row = ir.compare(a, b)["P@1"]

    assert row.p == pytest.approx(expected.pvalue, rel=1e-12)
    assert row.difference == pytest.approx(float(np.mean(b["P@1"] - a["P@1"])), rel=1e-12)


def test_p_and_interval_of_t_are_scipys() -> None:
    a, b = random_pair(60)
    expected = stats.ttest_rel(b["P@1"], a["P@1"])
    ends = expected.confidence_interval(0.9)

    row = ir.compare(a, b, test="t", level=0.9)["P@1"]

    assert row.p == pytest.approx(expected.pvalue, rel=1e-12)
    assert row.interval == pytest.approx((ends.low, ends.high), rel=1e-12)
    assert row.effect == pytest.approx(expected.statistic / math.sqrt(60), rel=1e-12)
    assert row.sd_difference == pytest.approx(float(np.std(b["P@1"] - a["P@1"], ddof=1)), rel=1e-12)


def test_wilcoxon_and_signs_are_scipys() -> None:
    a, b = random_pair(30)
    differences = b["P@1"] - a["P@1"]

    ranks, signs = (ir.compare(a, b, test=test)["P@1"] for test in ("wilcoxon", "sign"))  # type: ignore[arg-type]

    assert ranks.p == pytest.approx(
        stats.wilcoxon(differences, zero_method="pratt", method="asymptotic").pvalue, rel=1e-9
    )
    untied = signs.wins + signs.losses
    exact = stats.binomtest(signs.wins, untied)
    assert signs.p == pytest.approx(exact.pvalue, rel=1e-12)
    assert signs.interval == pytest.approx(tuple(exact.proportion_ci(method="exact")), rel=1e-9)
    assert signs.about == "share of wins among the queries that differ"


def test_an_example_worked_by_hand() -> None:
    """Six queries, all better: 2 of 64 sign vectors are as extreme; differences 1..6 tenths have
    mean 0.35 and sd sqrt(0.035).
    """
    a = evaluation([0.2, 0.4, 0.1, 0.5, 0.3, 0.0], "a")
    b = evaluation([0.3, 0.6, 0.4, 0.9, 0.8, 0.6], "b")

    row = ir.compare(a, b)["P@1"]

    assert (row.p, row.wins, row.ties, row.losses, row.n, row.verdict) == (
        2 / 64,
        6,
        0,
        0,
        6,
        "better",
    )
    assert row.mean_a == pytest.approx(0.25)
    assert row.mean_b == pytest.approx(0.6)
    assert row.difference == pytest.approx(0.35)
    assert (row.mean_a, row.mean_b) == (a.mean()["P@1"], b.mean()["P@1"])
    assert row.effect == pytest.approx(0.35 / math.sqrt(0.035))
    assert row.interval == pytest.approx((0.1, 0.6))


@pytest.mark.parametrize("test", TESTS)
def test_identical_runs(test: Any) -> None:
    a, _ = random_pair(30)

    row = ir.compare(a, a, test=test)["P@1"]

    assert (row.difference, row.p, row.p_corrected, row.verdict, row.effect) == (
        0,
        1,
        1,
        "undecided",
        0,
    )
    assert (row.wins, row.ties, row.losses, row.identical_queries) == (0, 30, 0, 30)
    assert row.queries_needed is None
    assert math.isnan(row.detectable)
    if test in ("permutation", "t"):
        assert row.interval == (0, 0)


@pytest.mark.parametrize("test", TESTS)
def test_every_test_has_its_words(test: Any) -> None:
    a, b = random_pair(30)

    assert "test, two-sided" in method_text(ir.compare(a, b, test=test))


@pytest.mark.parametrize("test", ["permutation", "t"])
@pytest.mark.parametrize("n", [9, 40])
def test_the_order_of_the_runs_changes_signs_alone(test: Any, n: int) -> None:
    a, b = random_pair(n)

    one, other = ir.compare(a, b, test=test)["P@1"], ir.compare(b, a, test=test)["P@1"]

    assert other.difference == -one.difference
    assert other.p == one.p
    assert other.interval == pytest.approx((-one.interval[1], -one.interval[0]), abs=1e-15)
    assert (other.wins, other.losses) == (one.losses, one.wins)
    assert {one.verdict, other.verdict} in ({"better", "worse"}, {"undecided"})


@pytest.mark.parametrize("test", ["permutation", "t", "sign"])
def test_p_and_interval_never_contradict_each_other(test: Any) -> None:
    for seed in range(examples(75)):
        a, b = random_pair(25, seed)
        row = ir.compare(a, b, test=test, n_resamples=999)["P@1"]
        nothing = 0.5 if test == "sign" else 0.0
        assert (row.interval[0] > nothing or row.interval[1] < nothing) == (row.p <= 0.05)


def test_pairs_by_the_first_measure_and_by_its_companions_are_two_families() -> None:
    measures = ("P@1", "P@2", "P@3")
    runs = [*random_pair(30, 1, measures), *random_pair(30, 2, measures)]
    runs[2], runs[3] = replace(runs[2], name="c"), replace(runs[3], name="d")

    found, by_holm, by_t = (
        ir.compare(*runs, rng=1, **options)
        for options in ({}, {"correction": "holm"}, {"test": "t"})
    )  # type: ignore[arg-type]

    assert found.method.families == {"primary measure": 6, "companions": 12}
    assert [(pair.a, pair.b) for pair in found.pairs] == [
        ("a", "b"),
        ("a", "c"),
        ("a", "d"),
        ("b", "c"),
        ("b", "d"),
        ("c", "d"),
    ]
    for wanted in (measures[:1], measures[1:]):
        differences = np.stack(
            [(b[text] - a[text]) for a, b in combinations(runs, 2) for text in wanted], axis=1
        )
        together = simultaneous(differences, rng=1)
        rows, of_holm, of_t = (
            [pair[text] for pair in one.pairs for text in wanted] for one in (found, by_holm, by_t)
        )
        assert [row.p_corrected for row in rows] == together.p.tolist()
        assert [row.interval for row in rows] == list(
            zip(together.low.tolist(), together.high.tolist(), strict=True)
        )
        assert [row.p_corrected for row in of_t] == [min(1.0, len(rows) * row.p) for row in of_t]
        by_rank = sorted(of_holm, key=lambda row: row.p)
        steps = np.minimum(
            np.maximum.accumulate([row.p * (len(rows) - rank) for rank, row in enumerate(by_rank)]),
            1,
        )
        assert [row.p_corrected for row in by_rank] == pytest.approx(steps.tolist(), rel=1e-12)
    assert (found.method.correction, by_holm.method.correction, by_t.method.correction) == (
        "max-T",
        "holm",
        "bonferroni",
    )


def test_a_baseline_is_compared_with_each_other_run() -> None:
    runs = [replace(random_pair(20, seed)[1], name=name) for seed, name in enumerate("abc")]

    found = ir.compare(*runs, baseline="b")

    assert [(pair.a, pair.b) for pair in found.pairs] == [("b", "a"), ("b", "c")]
    assert found.pair("b", "c")["P@1"].difference == pytest.approx(
        float(np.mean(runs[2]["P@1"] - runs[1]["P@1"]))
    )
    with pytest.raises(
        OptionError, match=r"baseline 'x': found no run of that name, expected one of a, b, c"
    ):
        ir.compare(*runs, baseline="x")
    with pytest.raises(KeyError, match="found 2 pairs"):
        found["P@1"]


def many_runs() -> list[Evaluation]:
    generator = np.random.default_rng(5)
    base = generator.random((40, 2))
    return [
        evaluation(
            base + generator.normal(0.01 * number, 0.1, base.shape), f"r{number}", ("P@1", "P@2")
        )
        for number in range(12)
    ]


def test_many_runs_are_corrected_together() -> None:
    runs = many_runs()
    values = np.stack([run.values for run in runs], axis=1)

    pairs, baseline = (
        ir.compare(*runs, rng=3, n_resamples=999, baseline=name) for name in (None, "r0")
    )

    first, second = np.triu_indices(12, 1)
    family = simultaneous(values[:, second, 1] - values[:, first, 1], n_resamples=999, rng=3)
    at = [(pair.a, pair.b) for pair in pairs.pairs].index(("r2", "r11"))
    row = pairs.pair("r2", "r11")["P@2"]
    assert (row.p, row.p_corrected) == (family.p[at], family.p[at])
    assert row.interval == pytest.approx((family.low[at], family.high[at]), rel=1e-12)
    against = max_t(values[:, 0, 0], values[:, 1:, 0], n_resamples=999, rng=3)
    row = baseline.pair("r0", "r11")["P@1"]
    assert (row.p, row.p_corrected) == (against.p[10], against.p[10])
    assert row.interval == pytest.approx((against.low[10], against.high[10]), rel=1e-12)
    assert (pairs.method.correction, baseline.method.correction) == ("max-T", "max-T")
    assert (len(pairs.pairs), pairs.method.n_resamples, pairs.method.seed) == (66, 999, 3)
    assert {row.verdict for _, row in pairs.rows()} == {"better", "undecided"}


def test_the_seed_follows_from_the_values_and_is_said() -> None:
    a, b = random_pair(40)

    first, second, chosen = ir.compare(a, b), ir.compare(a, b), ir.compare(a, b, rng=7)

    assert first == second
    assert first.method.seed == ir.compare(b, a).method.seed
    assert chosen.method.seed == 7
    assert ir.compare(*random_pair(40, 2)).method.seed != first.method.seed
    again = ir.compare(a, b, rng=np.random.default_rng(3))
    assert again["P@1"] == ir.compare(a, b, rng=again.method.seed)["P@1"]
    exact = ir.compare(*random_pair(10))
    assert (exact.method.seed, exact.method.n_resamples) == (None, None)


def test_a_lower_value_is_better_where_the_measure_says_so() -> None:
    qrels = {f"q{i}": {"x": 1, "y": 0} for i in range(8)}
    a, b = (
        ir.evaluate(qrels, dict.fromkeys(qrels, ranking), "RankingLoss")
        for ranking in (["y", "x"], ["x", "y"])
    )

    row = ir.compare(a, b)["RankingLoss"]

    assert (row.difference, row.verdict, row.wins, row.losses) == (-1, "better", 8, 0)


def test_queries_left_out_of_one_run_are_left_out_of_both() -> None:
    generator = np.random.default_rng(1)
    values = generator.random((12, 2))
    first, second = values.copy(), values + 0.1
    first[3], second[5, 1] = math.nan, math.nan

    found = ir.compare(
        evaluation(first, "a", ("P@1", "P@2")), evaluation(second, "b", ("P@1", "P@2"))
    )

    one, other = found["P@1"], found["P@2"]
    assert (one.n, one.excluded_queries, other.n, other.excluded_queries) == (11, 1, 10, 2)
    assert one.mean_a == pytest.approx(float(np.nanmean(first[:, 0])))
    assert other.difference == pytest.approx(0.1)


def test_a_missing_query_counts_as_the_convention_says() -> None:
    a = ir.evaluate(QRELS, answers(["x"], 1), "RR", "standard")
    b = ir.evaluate(QRELS, answers(["x"]), "RR", "standard")
    assert ir.compare(a, b)["RR"].difference == pytest.approx(1 / 40)

    a, b = (
        ir.evaluate(QRELS, run, "RR", "standard,missing=left-out")
        for run in (answers(["x"], 1), answers(["x"]))
    )
    row = ir.compare(a, b)["RR"]
    assert (row.n, row.excluded_queries, row.difference) == (39, 1, 0)


def test_rounding_is_no_difference() -> None:
    values = np.random.default_rng(1).random(30)

    row = ir.compare(evaluation(values, "a"), evaluation(values * (1 + 2e-16), "b"))["P@1"]

    assert (row.ties, row.p, row.difference, row.identical_queries) == (30, 1, 0, 30)


def test_what_could_have_been_seen_is_what_simulated_queries_see() -> None:
    """At the smallest visible difference four in five simulated sets are significant."""
    generator = np.random.default_rng(1)
    visible = smallest_visible(0.2, 25, 24, 0.05, 0.8)
    drawn = generator.normal(visible, 0.2, (4000, 25))
    assert np.mean(stats.ttest_1samp(drawn, 0, axis=1).pvalue <= 0.05) == pytest.approx(
        0.8, abs=0.025
    )


def test_the_family_makes_it_harder_to_see() -> None:
    measures = ("P@1", "P@2", "P@3")
    a, b = random_pair(30, 1, measures)

    first = ir.compare(a, b, measures="P@1", rng=1)["P@1"]
    alone, among = (ir.compare(a, b, measures=chosen, rng=1)["P@2"] for chosen in ("P@2", None))
    by_t = ir.compare(a, b, test="t")["P@2"]

    assert first.detectable == pytest.approx(
        smallest_visible(first.sd_difference, 30, 29, 0.05, 0.8), rel=0.05
    )
    harder = smallest_visible(1.0, 30, 29, 0.025, 0.8) / smallest_visible(1.0, 30, 29, 0.05, 0.8)
    assert by_t.detectable / alone.detectable == pytest.approx(harder, rel=0.03)
    # max-T knows how alike the two companions are: between one test and two that are not alike at
    # all, up to the noise of the draws.
    assert alone.detectable < among.detectable < by_t.detectable * 1.02
    assert alone.p == among.p


def test_too_few_queries_for_a_test_of_signs_say_so() -> None:
    """Of 5 queries the rarest signs have p = 2/32; with 6 they have 2/64."""
    few, enough = (
        ir.compare(evaluation(np.zeros(n), "a"), evaluation(np.linspace(0.5, 0.9, n), "b"))["P@1"]
        for n in (5, 6)
    )

    assert (few.p, few.verdict, few.detectable, few.queries_needed) == (
        2 / 32,
        "undecided",
        math.inf,
        None,
    )
    assert (enough.p, enough.verdict) == (2 / 64, "better")
    assert few.as_dict()["detectable"] is None


def test_queries_needed_are_those_of_the_effect_asked_about_and_none_without_one() -> None:
    a, b = random_pair(60, 1)
    plain, asked = ir.compare(a, b, rng=1), ir.compare(a, b, rng=1, effect=0.02)

    assert (plain["P@1"].queries_needed, plain.method.effect, asked.method.effect) == (
        None,
        None,
        0.02,
    )
    assert asked.as_dict()["method"]["effect"] == 0.02
    detected = ir.compare(a, b, rng=1, effect=asked["P@1"].detectable)["P@1"]
    assert detected.queries_needed == pytest.approx(60, abs=1)
    assert asked["P@1"].queries_needed > 60
    with pytest.raises(ir.OptionError, match="worth finding"):
        ir.compare(a, b, effect=0.0)


def test_few_queries_that_differ_have_no_detectable_difference() -> None:
    """Three of twelve gain 2/3: by the t test 0.27 would be found, but the signs of three queries
    show nothing.
    """
    found = ir.compare(
        evaluation(np.full(12, 1 / 3)), evaluation([1.0] * 3 + [1 / 3] * 9, "b"), effect=0.1
    )["P@1"]

    assert (found.p, found.detectable_reason) == (0.25, "3 queries differ, fewer than 12")
    assert math.isnan(found.detectable)
    assert (found.as_dict()["detectable"], found.queries_needed) == (None, None)


def test_weights_and_clusters() -> None:
    a, b = random_pair(30)
    weights = {f"q{i:03}": 1.0 + (i % 3) for i in range(30)}
    clusters = {f"q{i:03}": f"c{i // 2:02}" for i in range(30)}

    found = ir.compare(a, b, weights=weights, clusters=clusters, test="t")
    row = found["P@1"]

    drawn = Design.of(30, weights=list(weights.values()), clusters=list(clusters.values()))
    expected = compare_columns(a.values, b.values, drawn, Plan(test="t"))[0]
    assert (row.p, row.interval) == (expected.p, (expected.low, expected.high))
    assert row.mean_a == pytest.approx(float(np.average(a["P@1"], weights=list(weights.values()))))
    assert (found.method.weighted, found.method.clustered) == (True, True)
    with pytest.raises(OptionError, match="found weights of queries, which it cannot take"):
        ir.compare(a, b, weights=weights, test="wilcoxon")
    with pytest.raises(
        InputError, match=r"weights: found no value for query 'q029' \(1 of 30 queries\)"
    ):
        ir.compare(a, b, weights={f"q{i:03}": 1.0 for i in range(29)})


def test_unjudged_documents_stand_beside_the_difference() -> None:
    """Run b shows an unjudged document first: 0.5 of its two ranks are unjudged, and without it
    both runs are equal.
    """
    measures = ir.with_companions("RR@2")
    # judged alone, all documents would be alike
    qrels = {query: {**grades, "bad": 0} for query, grades in QRELS.items()}
    a = ir.evaluate(qrels, answers(["x"]), measures)
    b = ir.evaluate(qrels, answers(["new", "x"]), measures)

    found = ir.compare(a, b)
    row = found["RR@2"]

    assert list(found.pairs[0].measures) == ["RR@2"]
    assert (row.difference, row.unjudged_a, row.unjudged_b, row.difference_judged) == (
        -0.5,
        0,
        0.5,
        0,
    )
    alone = ir.compare(
        *(ir.evaluate(QRELS, answers(ranking), "RR@2") for ranking in (["x"], ["new", "x"]))
    )["RR@2"]
    assert (alone.unjudged_a, alone.unjudged_b, alone.difference_judged) == (0, 0.5, None)


def test_what_must_not_be_compared_is_refused(tmp_path: Path) -> None:
    a, b = random_pair(10)
    run = answers(["x"])
    standard = ir.evaluate(QRELS, run, "RR")
    with pytest.raises(IncompatibleError, match="expected one for all runs"):
        ir.compare(standard, ir.evaluate(QRELS, run, "RR", "lightgbm"))
    with pytest.raises(IncompatibleError, match="found judgments of 40 and of 10 queries"):
        ir.compare(standard, ir.evaluate(dict(list(QRELS.items())[:10]), run, "RR"))
    with pytest.raises(IncompatibleError, match="judged for one run only"):
        ir.compare(
            standard, ir.evaluate({f"p{i}": {"x": 1} for i in range(40)}, {"p1": ["x"]}, "RR")
        )
    with pytest.raises(IncompatibleError, match="0 and 40 queries without a relevant document"):
        ir.compare(standard, ir.evaluate({query: {"x": 0} for query in QRELS}, run, "RR"))
    with pytest.raises(IncompatibleError, match="lists cut at None and 1 documents"):
        ir.compare(standard, ir.evaluate(QRELS, run, "RR", max_documents=1))
    with pytest.raises(IncompatibleError, match="found measures RR and RR, AP"):
        ir.compare(standard, ir.evaluate(QRELS, run, ["RR", "AP"]))
    for number, grade in enumerate((1, 2, 1)):
        (tmp_path / f"{number}.qrels").write_text(f"q 0 x {grade}\n", encoding="utf-8")
    one, other, same = (
        ir.evaluate(tmp_path / f"{number}.qrels", {"q": ["x"]}, "RR") for number in range(3)
    )
    with pytest.raises(IncompatibleError, match="files of judgments that differ"):
        ir.compare(one, other)
    assert ir.compare(one, same)["RR"].p == 1
    with pytest.raises(OptionError, match="permutation, t, wilcoxon, sign"):
        ir.compare(a, b, test="z")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="sign test is blind"):
        ir.compare(a, b, test="sign", margin=0.1)
    with pytest.raises(InputError, match="no query is scored in both"):
        ir.compare(
            a, replace(b, values=np.full_like(b.values, np.nan), scored=np.zeros_like(b.scored))
        )


def test_measures_without_better_and_worse_are_refused_or_left_out() -> None:
    run = answers(["x"])
    one = ir.evaluate(QRELS, run, ["RR", "NumRet", "GMAP"])

    assert list(ir.compare(one, one).pairs[0].measures) == ["RR"]
    with pytest.raises(OptionError, match="neither better nor worse"):
        ir.compare(one, one, measures="NumRet")
    with pytest.raises(OptionError, match="its mean is geometric"):
        ir.compare(one, one, measures="GMAP")
    with pytest.raises(
        IncompatibleError, match=r"AP: run 'run' was not evaluated by it, only by RR, NumRet, GMAP"
    ):
        ir.compare(one, one, measures="AP")


def test_a_frame_and_a_record_have_every_number() -> None:
    a, b = random_pair(10, measures=("P@1", "P@2"))
    found = ir.compare(a, b)

    frame = found.to_frame("polars")
    record = found.as_dict()["pairs"][0]["measures"]["P@2"]

    assert frame["interval_low"].to_list() == [row.interval[0] for _, row in found.rows()]
    assert frame["p"].to_list() == [row.p for _, row in found.rows()]
    assert record["interval"] == list(found["P@2"].interval)
    assert isinstance(found, Comparison)
    one = ir.compare(evaluation([0.5], "a"), evaluation([0.7], "b"))
    assert one.as_dict()["pairs"][0]["measures"]["P@1"]["interval"] == [None, None]


def test_a_one_sided_plan_is_of_the_permutation_test_alone() -> None:
    assert Plan(alternative="less", null=-0.1).sides == 1
    with pytest.raises(OptionError, match="expected the permutation test"):
        Plan(test="t", alternative="less")
    with pytest.raises(OptionError, match="expected the permutation test"):
        Plan(test="sign", null=0.1)


def test_progress_advances_by_pair() -> None:
    qrels = {f"q{number}": {"x": 1} for number in range(8)}
    runs = [
        ir.evaluate(qrels, ir.Run({query: ["x"] for query in qrels}, name=f"run {place}"), "RR")
        for place in range(4)
    ]
    told: list[tuple[int, int]] = []

    ir.compare(*runs, tell=lambda done, total: told.append((done, total)))

    assert told == [(done, 6) for done in range(1, 7)]


def test_an_effect_beyond_what_such_changes_add_up_to_has_no_number() -> None:
    """Of 60 queries 15 differ by at most a tenth: no mean difference of such changes is 0.05."""
    values = np.r_[np.full(8, 0.6), np.full(7, 0.4), np.full(45, 0.5)]
    compared = ir.compare(evaluation(np.full(60, 0.5), "a"), evaluation(values, "b"), effect=0.05)
    found = compared["P@1"]

    assert (found.queries_needed, found.detectable_reason) == (None, None)
    assert needed_text(found, compared.method).startswith(
        "Changes like these do not add up to a true difference of 0.05"
    )
