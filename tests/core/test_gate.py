"""`gate`: against SciPy, an enumeration and numbers worked by hand; and what must hold of every
gate.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import idealrank as ir
from idealrank.analysis.gate import Check, Gated
from idealrank.errors import IncompatibleError, InputError, OptionError
from idealrank.evaluation.evaluate import Evaluation
from tests.conftest import examples
from tests.core.gate_samples import enumerated, evaluation, random_pair

FEW = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=1, max_size=14)


def shuffled(one: Evaluation, order: Any) -> Evaluation:
    return replace(
        one,
        queries=[one.queries[row] for row in order],
        values=one.values[order],
        scored=one.scored[order],
    )


def only(found: Gated) -> Check:
    (check,) = found.checks
    return check


@pytest.mark.parametrize("tolerance", [0.0, 0.01])
def test_p_of_few_queries_is_scipys(tolerance: float) -> None:
    run, baseline = random_pair(12, -0.05)
    differences = run["P@1"] - baseline["P@1"] + tolerance
    expected = stats.permutation_test(
        (differences,),
        np.mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=math.inf,
        alternative="less",
    )

    check = only(ir.gate(run, baseline, tolerance=tolerance))

    assert check.p == pytest.approx(expected.pvalue, rel=1e-12)
    assert check.difference == pytest.approx(
        float(np.mean(run["P@1"] - baseline["P@1"])), rel=1e-12
    )


def test_p_of_a_strict_gate_is_scipys() -> None:
    run, baseline = random_pair(12, -0.02)
    differences = run["P@1"] - baseline["P@1"] + 0.06
    expected = stats.permutation_test(
        (differences,),
        np.mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=math.inf,
        alternative="greater",
    )

    limited = only(ir.gate(run, baseline, strict=True, margin=0.06, largest_loss=0.0601))
    unseen = ir.stats.unseen_loss_p(run["P@1"] - baseline["P@1"], 0.06, 1.0)

    assert only(ir.gate(run, baseline, strict=True, margin=0.06)).p == pytest.approx(
        max(expected.pvalue, unseen), rel=1e-12
    )
    assert limited.margin is not None
    assert limited.margin.largest_loss == 1.0  # a larger loss was seen


@settings(max_examples=examples(40), deadline=None)
@given(FEW, st.sampled_from([0.0, 0.03, 0.1, 0.2]), st.booleans())
def test_p_is_that_of_an_enumeration_and_agrees_with_the_bound(
    pairs: list[tuple[int, int]], drop: float, strict: bool
) -> None:
    ours, theirs = (np.array(side) / 10 for side in zip(*pairs, strict=True))
    asked: dict[str, Any] = (
        {"strict": True, "margin": drop or 0.01} if strict else {"tolerance": drop}
    )
    null = -(drop or 0.01) if strict else -drop

    found = ir.gate(evaluation(ours), evaluation(theirs, "baseline"), **asked)

    check = only(found)
    same = bool((ours == theirs).all())
    p = 1.0 if same and not strict else enumerated(ours - theirs, null, drop=not strict)
    unseen = ir.stats.unseen_loss_p(ours - theirs, -null, 1.0) if strict else 0.0
    assert check.p == pytest.approx(max(p, unseen), rel=1e-9)
    assert check.p_corrected == check.p
    beyond = check.bound > null if strict else check.bound < null
    assert (check.p_corrected <= 0.05) == beyond
    assert found.passed == check.passed == (beyond == strict)


def test_many_queries_have_the_bounds_of_t_and_wellek() -> None:
    run, baseline = random_pair(400, -0.02)
    differences = run["P@1"] - baseline["P@1"]
    interval = stats.ttest_1samp(differences, 0).confidence_interval(0.9)

    plain, strict = (
        only(ir.gate(run, baseline)),
        only(ir.gate(run, baseline, strict=True, margin=0.03)),
    )

    assert plain.bound == pytest.approx(interval.high, abs=3e-4)
    # Wellek (2010), chapter 2: non-inferiority of paired data is the one-sample t test of
    # differences plus margin. The query that the test adds loses 1, which moves the mean by 1 /
    # 401.
    unseen = ir.stats.unseen_loss_bound(differences, 1.0)
    assert strict.bound == unseen
    assert unseen == pytest.approx(interval.low - 1 / 401, abs=2e-3)
    assert unseen < interval.low
    t = stats.ttest_1samp(differences + 0.03, 0, alternative="greater").pvalue
    assert strict.p == ir.stats.unseen_loss_p(differences, 0.03, 1.0) > t


def test_a_strict_gate_needs_no_correction_for_every_check_must_pass() -> None:
    run, first = random_pair(60, -0.01, measures=("P@1", "RR"))

    found = ir.gate(run, first, strict=True, margin=0.2)

    assert found.correction == "none"
    assert [check.p_corrected for check in found.checks] == [check.p for check in found.checks]
    assert found.passed
    assert not ir.gate(run, first, strict=True, margin=0.001).passed


def test_the_same_values_pass_and_a_strict_gate_needs_enough_of_them() -> None:
    run = evaluation([0.2, 0.5], "run")
    baseline = evaluation([0.2, 0.5 + 1e-16], "baseline")

    plain, strict = ir.gate(run, baseline), ir.gate(run, baseline, strict=True, margin=0.01)

    assert plain.passed
    assert not strict.passed
    needed = 299  # 0.99^299 <= 0.05
    many, fewer = (evaluation([0.5] * n) for n in (needed, needed - 1))
    assert ir.gate(many, many, strict=True, margin=0.01).passed
    assert not ir.gate(fewer, fewer, strict=True, margin=0.01).passed
    assert ir.gate(fewer, fewer, strict=True, margin=0.01, largest_loss=0.9).passed
    assert (only(plain).difference, only(plain).bound, only(plain).p, only(plain).reason) == (
        0,
        0,
        1,
        "the same value on every query",
    )
    assert (
        only(ir.gate(many, many, strict=True, margin=0.01)).reason
        == "the same value on every query"
    )
    assert (
        only(strict).reason
        == "a drop of 0.01 or more may hide (one-sided p 0.98, two-sided p of no difference 1)"
    )
    assert strict.cautions == (
        "2 queries cannot show a difference below 0.01, even if none differs: up to 78% of "
        "all queries may still lose 1, the largest "
        "possible loss. Use 299 queries or more; or give a largest loss of at most 0.012, if "
        "no query can lose more.",
    )
    assert strict.cautions[0] in str(strict)
    assert only(plain).worst == ()
    assert plain.reasons == ()


@settings(max_examples=examples(25), deadline=None)
@given(
    FEW,
    st.sampled_from([{}, {"tolerance": 0.1}, {"strict": True, "margin": 0.1, "largest_loss": 1.0}]),
)
def test_a_measure_of_which_less_is_better_is_the_mirror(
    pairs: list[tuple[int, int]], asked: dict[str, Any]
) -> None:
    ours, theirs = (np.array(side) / 8 for side in zip(*pairs, strict=True))

    up = only(ir.gate(evaluation(ours), evaluation(theirs), **asked))
    down = only(
        ir.gate(
            evaluation(-ours, measures=("LastRel",)),
            evaluation(-theirs, measures=("LastRel",)),
            **asked,
        )
    )

    assert (up.direction, down.direction) == (1, -1)
    assert up.reason.replace("drop", "rise") == down.reason.replace("drop", "rise")
    for name in ("p", "p_corrected", "passed", "wins", "losses", "n", "identical_queries"):
        assert getattr(up, name) == getattr(down, name)
    for name in ("difference", "bound", "mean_run", "mean_baseline"):
        assert getattr(up, name) == -getattr(down, name)
    assert up.detectable == pytest.approx(down.detectable, nan_ok=True)
    assert [(drop.query, drop.difference) for drop in up.worst] == [
        (drop.query, -drop.difference) for drop in down.worst
    ]


@settings(max_examples=examples(25), deadline=None)
@given(FEW, st.sampled_from([0.05, 0.1, 0.3]))
def test_what_passes_strictly_passes_with_the_margin_as_tolerance(
    pairs: list[tuple[int, int]], drop: float
) -> None:
    ours, theirs = (evaluation(np.array(side) / 10) for side in zip(*pairs, strict=True))

    assert (
        ir.gate(ours, theirs, tolerance=drop).passed
        >= ir.gate(ours, theirs, strict=True, margin=drop).passed
    )


def test_neither_the_order_of_queries_nor_threads_nor_another_try_change_the_answer() -> None:
    run, baseline = random_pair(60, -0.02, measures=("P@1", "RR"))
    order = np.random.default_rng(3).permutation(60)
    expected = ir.gate(run, baseline, threads=1)

    others = [
        ir.gate(shuffled(run, order), shuffled(baseline, order[::-1]), threads=threads)
        for threads in (1, 3)
    ]

    assert repr(others) == repr([expected, expected])
    assert ir.gate(run, baseline, rng=7).seed == 7
    assert ir.gate(run, baseline, rng=7).checks != expected.checks


def test_of_normal_differences_the_detectable_drop_is_nearly_that_of_a_one_sided_t_test() -> None:
    run, baseline = random_pair(50, 0.0, measures=("P@1", "RR"))
    differences = run["P@1"] - baseline["P@1"]
    error = float(np.std(differences, ddof=1)) / math.sqrt(50)

    plain = ir.gate(run, baseline, tolerance=0.01).checks[0].detectable
    strict = ir.gate(run, baseline, strict=True, margin=0.05, largest_loss=0.5).checks[0].detectable

    # The primary measure is tested alone, whatever companions it has.
    assert stats.nct.sf(stats.t.isf(0.05, 49), 49, (plain - 0.01) / error) == pytest.approx(
        0.8, abs=0.04
    )
    # A strict gate closes four times in five where its test passes one time in five; the query that
    # it adds loses 0.45 more than the margin.
    assert stats.nct.sf(
        stats.t.isf(0.05, 49), 49, (0.05 - 0.45 / 50 - strict) / error
    ) == pytest.approx(0.2, abs=0.04)


def test_too_few_queries_see_nothing_and_say_so() -> None:
    run, baseline = evaluation([0.0] * 4), evaluation([0.9, 0.8, 0.9, 0.9], "baseline")
    five = (evaluation([0.0] * 5), evaluation([0.9, 0.8, 0.9, 0.9, 0.7], "baseline"))

    check, strict = (
        only(ir.gate(run, baseline)),
        only(ir.gate(run, baseline, strict=True, margin=0.1)),
    )

    assert (check.p, check.bound, check.detectable, check.passed) == (
        1 / 16,
        math.inf,
        math.inf,
        True,
    )
    assert (strict.bound, strict.detectable, strict.passed) == (-math.inf, -math.inf, False)
    assert only(ir.gate(*five)).p == 1 / 32
    assert not ir.gate(*five).passed
    assert only(ir.gate(*random_pair(30, 0), n_resamples=18)).detectable == math.inf


def test_the_worst_queries_stand_first() -> None:
    drops = np.arange(12) / 20
    found = ir.gate(evaluation(0.9 - drops), evaluation(np.full(12, 0.9), "baseline"))

    worst = only(found).worst

    assert [drop.query for drop in worst] == [f"q{number}" for number in range(11, 1, -1)]
    assert (worst[0].baseline, worst[0].run, worst[0].difference) == (
        0.9,
        0.9 - drops[11],
        (0.9 - drops[11]) - 0.9,
    )


def test_a_query_that_does_not_count_in_one_is_left_out_and_counted() -> None:
    check = only(ir.gate(evaluation([0.5, math.nan, 0.7]), evaluation([0.5, 0.4, 0.7])))

    assert (check.n, check.excluded_queries, check.identical_queries) == (2, 1, 2)
    with pytest.raises(InputError, match="no query is scored in both"):
        ir.gate(evaluation([math.nan]), evaluation([0.5]))


def test_weights_and_clusters_reach_the_test() -> None:
    run, baseline = random_pair(12, -0.1)
    queries = list(run.queries)
    weights = {query: 1.0 + number for number, query in enumerate(queries)}

    weighted = only(ir.gate(run, baseline, weights=weights))
    clustered = only(
        ir.gate(
            run, baseline, clusters={query: number // 3 for number, query in enumerate(queries)}
        )
    )

    assert weighted.difference == pytest.approx(
        float(np.average(run["P@1"] - baseline["P@1"], weights=list(weights.values()))), rel=1e-12
    )
    assert clustered.p >= 1 / 16
    assert clustered.detectable == math.inf


@pytest.mark.parametrize(
    ("contract", "found"),
    [
        ({"query": "q0"}, (True, 0.5, 0.5)),
        ({"query": "q1"}, (False, 0.6, 0.5)),
        ({"query": "q1", "at_least": 0.5}, (True, 0.5, 0.5)),
        ({"query": "q1", "at_least": 0.55, "measure": "P@1"}, (False, 0.55, 0.5)),
        ({"query": "nobody", "at_least": 0.0}, (False, 0.0, math.nan)),
        ({"query": "nobody"}, (False, math.nan, math.nan)),
    ],
)
def test_a_contract_holds_single_queries(
    contract: dict[str, Any], found: tuple[bool, float, float]
) -> None:
    gated = ir.gate(
        evaluation([0.5, 0.5, 0.5]),
        evaluation([0.5, 0.6, 0.2], "baseline"),
        contracts=[ir.Contract(**contract)],
    )

    (kept,) = gated.contracts
    assert (kept.passed, kept.demanded, kept.found) == pytest.approx(found, nan_ok=True)
    assert gated.passed == kept.passed
    assert all(check.passed for check in gated.checks)
    assert len(gated.reasons) == 1 - kept.passed


def test_a_contract_without_a_measure_is_of_each_measure_that_decides_and_each_baseline() -> None:
    measures = ("P@1", "LastRel")
    run, first, second = (
        evaluation([row], name, measures)
        for row, name in (((0.5, 3), "run"), ((0.4, 3), "a"), ((0.5, 2), "b"))
    )

    alone = ir.gate(run, first, second, contracts=[ir.Contract(query="q0")])
    gated = ir.gate(run, first, second, also="LastRel", contracts=[ir.Contract(query="q0")])

    assert [(kept.measure, kept.baseline, kept.passed) for kept in alone.contracts] == [
        ("P@1", "a", True),
        ("P@1", "b", True),
    ]
    assert [(kept.measure, kept.baseline, kept.passed) for kept in gated.contracts] == [
        ("P@1", "a", True),
        ("P@1", "b", True),
        ("LastRel", "a", True),
        ("LastRel", "b", False),
    ]


def test_what_cannot_be_asked_is_refused() -> None:
    run, baseline = random_pair(6, 0)
    with pytest.raises(OptionError, match="found a policy and alpha"):
        ir.gate(run, baseline, policy=ir.Policy(), alpha=0.1)
    with pytest.raises(OptionError, match="found no margin"):
        ir.gate(run, baseline, strict=True)
    for wrong in ({"alpha": "0.05"}, {"tolerance": None}, {"strict": True, "margin": "x"}):
        with pytest.raises(OptionError, match="expected a number"):
            ir.Policy(**wrong)
    with pytest.raises(OptionError, match="found a tolerance for a strict gate"):
        ir.gate(run, baseline, strict=True, margin=0.1, tolerance=0.1)
    with pytest.raises(
        IncompatibleError,
        match=r"c\.csv:2: contract of query 'q0': run was not evaluated by AP, only P@1",
    ):
        ir.gate(run, baseline, contracts=[ir.Contract(query="q0", measure="AP", place="c.csv:2")])
    with pytest.raises(OptionError, match="at_least=nan: expected a finite number"):
        ir.Contract(query="q0", at_least=math.nan)
    assert ir.Contract(query="q0", measure=ir.NDCG(cutoff=5)).measure == "nDCG@5"  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="neither better nor worse"):
        ir.gate(run, baseline, contracts=[ir.Contract(query="q0", measure="NumRet")])


def test_unjudged_documents_and_the_difference_on_judged_ones_stand_beside_a_check() -> None:
    qrels = {f"q{number}": {"x": 1, "y": 0} for number in range(6)}
    measures = ir.with_companions("RR@2")
    rankings = [dict.fromkeys(qrels, ranking) for ranking in (["?", "x"], ["y", "x"])]
    rankings[0]["q0"] = ["x", "y"]
    run, baseline = (ir.evaluate(qrels, ranking, measures) for ranking in rankings)

    check = ir.gate(run, baseline, measures="RR@2").checks[0]
    alone = ir.gate(run, baseline, measures="RR@2", clusters=dict.fromkeys(qrels, "one"))

    assert (check.unjudged_baseline, check.unjudged_run, check.difference_judged) == (
        0.0,
        pytest.approx(5 / 12),
        0.5,
    )
    assert (check.passed, check.difference) == (True, pytest.approx(1 / 12))
    assert (alone.clustered, alone.weighted) == (True, False)
    without = only(ir.gate(*random_pair(6, 0.0, measures=("AP",))))
    assert without.difference_judged is None


@pytest.mark.parametrize("n", [20, 21])
def test_a_seed_is_said_where_signs_are_drawn(n: int) -> None:
    found = ir.gate(*random_pair(n, 0.1), rng=5, n_resamples=99)

    assert (found.seed, found.n_resamples) == ((None, None) if n == 20 else (5, 99))


def test_tiny_p_values_have_no_exponent() -> None:
    run, baseline = random_pair(60, -0.3)

    assert only(ir.gate(run, baseline)).reason.endswith(
        "is significant (one-sided p 0.00001, two-sided p 0.00001)"
    )
    assert only(ir.gate(run, baseline, tolerance=0.01)).reason.startswith(
        f"a drop of {-only(ir.gate(run, baseline)).difference:.4f}, beyond 0.01, is "
        f"significant (one-sided p"
    )
    assert only(ir.gate(run, baseline, tolerance=0.01)).reason.endswith(
        "two-sided p of no difference 0.00001)"
    )


@pytest.mark.slow
def test_the_chance_of_stopping_an_equal_run_is_alpha() -> None:
    """A false alarm comes in 1 of 20 comparisons of runs that are equally good: 400 of them, with 4
    standard errors of room.
    """
    generator = np.random.default_rng(5)
    closed = 0
    for _ in range(400):
        ours, theirs = generator.random((2, 25))
        closed += not ir.gate(
            evaluation(ours), evaluation(theirs), n_resamples=199, threads=1
        ).passed
    assert closed / 400 == pytest.approx(0.05, abs=4 * math.sqrt(0.05 * 0.95 / 400))


def test_the_answer_as_a_dict_has_no_number_that_json_lacks() -> None:
    found = ir.gate(
        evaluation([0.0] * 4),
        evaluation([0.9] * 4, "baseline"),
        contracts=[ir.Contract(query="nobody")],
    ).as_dict()

    assert found["checks"][0]["bound"] is None
    assert found["contracts"][0]["found"] is None
    assert found["reasons"] == [
        "query nobody: P@1 has no value, demanded a value, which baseline lacks too"
    ]


@pytest.mark.parametrize(
    "asked", [{"tolerance": 1}, {"tolerance": 2.5}, {"strict": True, "margin": 1.0}]
)
def test_a_drop_of_the_whole_range_is_a_slip(asked: dict[str, float]) -> None:
    one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    with pytest.raises(
        ir.OptionError,
        match="found the full range of RR, 0 to 1, or more; expected a small part of the range",
    ):
        ir.gate(one, one, **asked)
    counts = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "NumRelRet")
    assert ir.gate(counts, counts, tolerance=5).passed


def test_nothing_is_held_to_a_baseline_without_answers() -> None:
    qrels = {f"q{i}": {"x": 1} for i in range(8)}
    run = ir.evaluate(qrels, {query: ["x"] for query in qrels}, "RR")
    with pytest.warns(ir.IdealrankWarning, match="answers none of the 8 judged queries"):
        empty = ir.evaluate(qrels, {"other": ["x"]}, "RR")
    with pytest.raises(ir.InputError, match="found an answer to none of the 8 judged queries"):
        ir.gate(run, empty)
    assert not ir.gate(empty, run).passed
