"""Measures of two runs: the class facts, what must hold for every one of them, and how runs are
joined.
"""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import idealrank as ir
from idealrank.data.align import align
from idealrank.data.alignment import Alignment
from idealrank.data.run_pairs import PairRules, PairTies, join
from idealrank.measures import MEASURES, PAIR_MEASURES, pairs_tau
from idealrank.measures.measure import Measure
from idealrank.measures.pairs import PairMeasure
from idealrank.measures.pairs_rbo import Depths
from idealrank.measures.parse import parse_pair_measure
from idealrank.testing import Scores, missing_facts, runs
from tests.twins import naive_pairs

TIES = PairTies.__args__  # type: ignore[attr-defined]
EXAMPLES = settings().max_examples // 2
CUTOFFS = (None, None, 1, 2, 3, 5)


@cache  # a strategy is checked when it is first drawn from
def pair_measures(name: str) -> st.SearchStrategy[Measure]:
    """Any options that the class takes; cutoffs that the twin knows."""
    cls = PAIR_MEASURES[name]
    names = {option: st.sampled_from(values) for option, values in cls.samples.items()}
    options = st.fixed_dictionaries({"cutoff": st.sampled_from(CUTOFFS), **names})
    allowed = options.filter(
        lambda given: given["cutoff"] is None or given.get("estimate") in (None, "ext")
    )
    return allowed.map(lambda given: cls(**given))


# random lists often have none
pytestmark = pytest.mark.filterwarnings("ignore:.*no document in common")


def one_list() -> st.SearchStrategy[Scores]:
    return runs(queries=["q1"], max_size=5)


def value(a: Scores, b: Scores, measure: Measure, ties: str = "shared") -> float:
    return float(ir.overlap(a, b, measure, ties=ties).values[0, 0])


# --- every measure --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PAIR_MEASURES)
def test_the_class_states_its_facts(name: str) -> None:
    cls = PAIR_MEASURES[name]

    assert missing_facts(cls) == []
    assert (cls.name, cls.kind) == (name, "pair of runs")
    assert cls.use
    assert cls.proof
    assert issubclass(cls, PairMeasure)


@pytest.mark.parametrize("name", PAIR_MEASURES)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_the_text_reads_back(name: str, data: st.DataObject) -> None:
    measure = data.draw(pair_measures(name))

    assert parse_pair_measure(str(measure)) == measure
    assert hash(parse_pair_measure(str(measure))) == hash(measure)
    assert name in MEASURES or ir.parse_measure(str(measure)) == measure


@pytest.mark.parametrize("ties", ["shared", "docid", "docid-ascending", "input", "expected"])
@pytest.mark.parametrize("name", PAIR_MEASURES)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_values_are_those_of_the_definition(name: str, ties: str, data: st.DataObject) -> None:
    """Set by set and pair by pair; under `expected` the mean over all orders of both lists, where
    the measure offers it.
    """
    measure, a, b = data.draw(pair_measures(name)), data.draw(one_list()), data.draw(one_list())
    try:
        ours = value(a, b, measure, ties)
    except ir.OptionError:  # said so in a test of its own
        assert ties == "expected"
        assert measure.ties == "not offered" or measure.cutoff is not None
        return

    assert ours == pytest.approx(
        naive_pairs.value(measure, a["q1"], b["q1"], ties), abs=1e-10, nan_ok=True
    )


@pytest.mark.parametrize("ties", ["shared", "docid", "expected"])
@pytest.mark.parametrize("name", PAIR_MEASURES)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_values_stay_within_the_bounds_and_are_symmetric_where_they_say_so(
    name: str, ties: str, data: st.DataObject
) -> None:
    """Undefined values are NaN and do not count; symmetric values are the same to the last bits
    when the runs change places.
    """
    measure, a, b = data.draw(pair_measures(name)), data.draw(runs()), data.draw(runs())
    try:
        there = ir.overlap(a, b, measure, ties=ties)
        back = ir.overlap(b, a, measure, ties=ties)
    except (ir.OptionError, ir.InputError):
        return
    low, high = measure.bounds

    assert np.all(np.isnan(there.values) == ~there.scored)
    assert np.all((there.values[there.scored] >= low) & (there.values[there.scored] <= high))
    if measure.symmetric or getattr(measure, "reference", None) == "both":
        other = back.per_query()
        for query, values in there.per_query().items():
            assert values[str(measure)] == pytest.approx(other[query][str(measure)], abs=1e-12)


@pytest.mark.parametrize("ties", ["shared", "docid", "docid-ascending", "input"])
@pytest.mark.parametrize("name", PAIR_MEASURES)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_equal_runs_have_1(name: str, ties: str, data: st.DataObject) -> None:
    """Where there is a value; RBO's least value and residual are about what follows the lists."""
    measure, run = data.draw(pair_measures(name)), data.draw(runs())
    if getattr(measure, "estimate", None) in ("min", "res"):
        measure = replace(measure, estimate="max")  # type: ignore[call-arg]

    found = ir.overlap(run, run, measure, ties=ties)

    # overlap@k divides by k: of lists that end before, even equal ones share fewer.
    whole = (
        np.minimum(found.lengths[:, :1] / measure.cutoff, 1.0)
        if name == "overlap" and measure.cutoff
        else np.ones((len(found.queries), 1))
    )
    assert found.values[found.scored] == pytest.approx(whole[found.scored], abs=1e-12)


@pytest.mark.parametrize(
    ("a", "b", "shared", "either"),
    [
        ("ab", "ac", 1 / 2, 1 / 3),
        ("ab", "ab", 1, 1),
        ("ab", "a", 1 / 2, 1 / 2),
        ("abcdefghij", "a", 1 / 10, 1 / 10),
        ("a", "b", 0, 0),
    ],
)
def test_overlap_divides_by_k_on_short_lists_too(
    a: str, b: str, shared: float, either: float
) -> None:
    """Counted by hand: documents of both lists over k, over the ranks of the longer one, and over
    the documents of either.
    """
    found = ir.overlap(
        {"q": list(a)}, {"q": list(b)}, ["overlap@100", "Jaccard@100", "Same@100", "overlap"]
    ).mean()

    assert (found["overlap@100"], found["Jaccard@100"], found["Same@100"]) == (
        len({*a} & {*b}) / 100,
        either,
        a == b,
    )
    assert found["overlap"] == shared


def test_an_empty_list_is_a_query_of_the_other_run_alone() -> None:
    found = ir.overlap({"p": ["a"], "q": ["a", "b"]}, {"p": ["a"], "q": []}, "overlap@10")

    assert (list(found.queries), list(found.only_a), found.mean()) == (
        ["p"],
        ["q"],
        {"overlap@10": 0.1},
    )


@pytest.mark.parametrize(
    "measure", ["RBO", "RBO(p=0.5)@3", "RBO(estimate=min)", "overlap@5", "overlap", "Jaccard@5"]
)
def test_disjoint_runs_have_0(measure: str) -> None:
    assert (
        value(
            {"q": {"a": 2.0, "b": 1.0, "c": 1.0}},
            {"q": {"x": 2.0, "y": 2.0}},
            ir.parse_measure(measure),
        )
        == 0.0
    )


@pytest.mark.parametrize("measure", ["tau", "tauAP", "wtau", "tau@2"])
def test_a_correlation_needs_two_common_documents(measure: str) -> None:
    found = ir.overlap(
        {"q1": ["a", "b"], "q2": ["a", "b"]}, {"q1": ["a", "x"], "q2": ["a", "b"]}, measure
    )

    assert found.scored[:, 0].tolist() == [False, True]
    assert found.mean()[measure] == 1.0
    assert found.per_query()["q1"] == {measure: None}


@pytest.mark.parametrize("name", PAIR_MEASURES)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_queries_are_independent(name: str, data: st.DataObject) -> None:
    """A query has the same value alone as among others."""
    measure, a, b = data.draw(pair_measures(name)), data.draw(runs()), data.draw(runs())
    if not a.keys() & b.keys():
        return

    together = ir.overlap(a, b, measure)

    for place, query in enumerate(together.queries):
        alone = ir.overlap({query: a[query]}, {query: b[query]}, measure).values[0, 0]
        assert together.values[place, 0] == pytest.approx(alone, abs=1e-14, nan_ok=True)


# --- single measures ------------------------------------------------------------------------------


def test_rbo_is_bounded_by_its_least_and_greatest_value() -> None:
    """Webber et al. (2010), figure 5: the lists of their worked example, summed by hand from
    equation 32.
    """
    a, b = {"q": list("abcdefg")}, {"q": list("zcavwxy")}
    ext, least, most, rest = (
        value(a, b, ir.RBO(p=0.9, estimate=which)) for which in ("ext", "min", "max", "res")
    )  # type: ignore[arg-type]
    agreements = [0, 0, 2 / 3, 2 / 4, 2 / 5, 2 / 6, 2 / 7]

    assert ext == pytest.approx(
        sum(0.1 * 0.9**d * x for d, x in enumerate(agreements)) + 0.9**7 * 2 / 7, abs=1e-14
    )
    assert least < ext < most
    assert most - least == pytest.approx(rest, abs=1e-14)


def test_the_weight_of_the_first_ten_ranks_is_that_of_the_paper() -> None:
    """Webber et al. (2010), section 4.4: with p = 0.9 the first ten ranks have 86 % of the weight
    of the evaluation.
    """
    ten = {"q": [f"d{i}" for i in range(10)]}
    weight = 1 - value(ten, ten, ir.RBO(p=0.9, estimate="res"))

    assert weight == pytest.approx(0.8556, abs=5e-5)


@pytest.mark.parametrize("length", [1, 2, 7, 10, 100, 1000])
@pytest.mark.parametrize("p", [0.5, 0.9, 0.98])
def test_rbo_is_exactly_1_for_a_list_with_itself_and_0_without_a_common_document(
    length: int, p: float
) -> None:
    ranking, others = (
        {"q": [str(rank) for rank in range(length)]},
        {"q": [f"other {rank}" for rank in range(length)]},
    )

    assert value(ranking, ranking, ir.RBO(p=p)) == 1.0  # type: ignore[arg-type]
    assert value(ranking, others, ir.RBO(p=p)) == 0.0  # type: ignore[arg-type]


def test_long_lists_keep_their_digits() -> None:
    """A hundred thousand documents: what follows is nothing, and the least value is the value."""
    documents = [f"d{i}" for i in range(100_000)]
    a, b = ir.Run({"q": documents}), ir.Run({"q": documents[::2] + documents[1::2]})

    ext, least, rest = (
        value(a, b, ir.RBO(p=p, estimate=w)) for p, w in ((0.9, "ext"), (0.9, "min"), (0.9, "res"))
    )  # type: ignore[arg-type]

    assert ext == pytest.approx(least, abs=1e-14)
    assert rest == pytest.approx(0.0, abs=1e-14)
    least, ext, most = (
        value(a, b, ir.RBO(p=0.99999, estimate=which)) for which in ("min", "ext", "max")
    )  # type: ignore[arg-type]
    assert least - 1e-12 <= ext <= most + 1e-12


@pytest.mark.parametrize("p", [0, 1, -0.1, 1.5, "much"])
def test_p_is_a_chance_and_neither_0_nor_1(p: object) -> None:
    with pytest.raises(ir.OptionError, match=r"p=.*expected a number"):
        ir.RBO(p=p)  # type: ignore[arg-type]


def test_the_bounds_of_rbo_have_no_cutoff() -> None:
    with pytest.raises(ir.OptionError, match="no cutoff: it bounds what follows"):
        ir.RBO(estimate="min", cutoff=10)


def test_a_big_tie_costs_no_more_than_an_order() -> None:
    """Every document tied: the mean over all orders of ten thousand documents, in closed form."""
    documents = [f"d{i}" for i in range(10_000)]
    tied = ir.Run({"q": dict.fromkeys(documents, 1.0)})

    assert value(
        tied, ir.Run({"q": documents}), ir.OverlapAtK(cutoff=10), "expected"
    ) == pytest.approx(10 / 10_000, abs=1e-12)
    depths = Depths(
        join(tied, ir.Run({"q": documents}), PairRules(ties="expected")), np.array([10_000])
    )
    assert depths.common == pytest.approx(depths.depth**2 / 10_000, abs=1e-8)


# --- texts and refusals ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("RBO(p=0.9)", "RBO(p=0.9)"),
        ("tau", "tau"),
        ("tauAP@10", "tauAP@10"),
        ("overlap@10", "overlap@10"),
        ("jaccard.5", "Jaccard@5"),
        ("kendalltau", "tau"),
        ("tau_ap", "tauAP"),
        ("overlap_20", "overlap@20"),
        ("rbo", "RBO"),
        ("weightedtau", "wtau"),
    ],
)
def test_spellings(text: str, plain: str) -> None:
    assert str(parse_pair_measure(text)) == plain


@pytest.mark.parametrize("measure", ["RBO(p=0.8)", "Jaccard@5", ir.RBO(), ir.OverlapAtK(cutoff=3)])
def test_evaluate_refuses_and_names_the_command(measure: object) -> None:
    for question in (
        lambda: ir.evaluate({"q": {"a": 1}}, {"q": ["a"]}, [measure]),
        lambda: ir.evaluate(np.array([1, 0]), np.array([0.5, 0.1]), [measure]),
        lambda: ir.explain({"q": {"a": 1}}, {"q": ["a"]}, "q", measure),
        lambda: ir.reconcile({"q": {"a": 1}}, {"q": ["a"]}, "0.5", measure),
        lambda: ir.split_difference({"q": {"a": 1}}, {"q": ["a"]}, measure, "standard", "lightgbm"),
    ):
        with pytest.raises(ir.OptionError, match=r"use idealrank\.overlap\(run_a, run_b, "):
            question()
    with pytest.raises(ir.OptionError, match="compares two runs, found one"):
        ir.parse_measure(measure).per_query(
            align(ir.Qrels({"q": {"a": 1}}), ir.Run({"q": ["a"]}), Alignment())
        )


def test_a_measure_of_one_run_is_refused_with_the_place_where_it_belongs() -> None:
    with pytest.raises(
        ir.OptionError,
        match=r"'nDCG@10' compares a run with judgments.*idealrank.evaluate computes it",
    ):
        ir.overlap({"q": ["a"]}, {"q": ["a"]}, "nDCG@10")
    with pytest.raises(
        ir.OptionError, match=r"unknown measure 'RBOO', expected one of RBO, .*did you mean RBO"
    ):
        ir.overlap({"q": ["a"]}, {"q": ["a"]}, "RBOO")


def test_judged_only_makes_no_sense_here() -> None:
    with pytest.raises(ir.OptionError, match="two runs are compared without judgments"):
        ir.RBO(judged_only=True)


@pytest.mark.parametrize("measure", ["Jaccard@1", "wtau", "tau@1", "tauAP@1"])
def test_a_mean_over_orders_that_is_not_offered_is_refused(measure: str) -> None:
    with pytest.raises(ir.OptionError, match=r"no closed form.*choose ties=shared"):
        ir.overlap({"q": {"a": 1.0, "b": 1.0}}, {"q": ["a", "b"]}, measure, ties="expected")


# --- joining --------------------------------------------------------------------------------------


def test_queries_of_one_run_alone_are_counted_and_named() -> None:
    a, b = (
        {"q1": ["a"], "q2": ["a"], "q3": [], "q4": []},
        {"q5": ["a"], "q3": ["a"], "q1": ["b"], "q4": []},
    )

    found = ir.overlap(a, b, "overlap@1")

    assert (list(found.queries), list(found.only_a), list(found.only_b)) == (
        ["q1"],
        ["q2"],
        ["q3", "q5"],
    )


def test_no_query_in_common_is_an_error_that_shows_both() -> None:
    with pytest.raises(
        ir.InputError,
        match=r"no query in common: run 'A' answers 1 query \('q1'\), run 'B' 1 query \('Q1'\)",
    ):
        ir.overlap({"q1": ["a"]}, {"Q1": ["a"]})


@pytest.mark.parametrize("policy", ["first", "last", "best"])
def test_duplicates_follow_the_policy_in_either_run(policy: str) -> None:
    doubled = ir.Run.from_columns(
        ["q"] * 4, ["a", "b", "c", "a"], np.array([1.0, 3.0, 2.0, 4.0]), name="doubled"
    )
    order = {"first": ["b", "c", "a"], "last": ["a", "b", "c"], "best": ["a", "b", "c"]}[policy]
    other = ir.Run({"q": ["b", "a", "x"]})
    for pair, plain in (
        ((doubled, other), ({"q": order}, other)),
        ((other, doubled), (other, {"q": order})),
    ):
        ours = ir.overlap(*pair, ["RBO", "tau"], duplicates=policy)
        assert ours.values.tolist() == ir.overlap(*plain, ["RBO", "tau"]).values.tolist()
        with pytest.raises(
            ir.InputError,
            match=r"run 'doubled': found a document a second time .*duplicates=first, last or "
            r"best$",
        ):
            ir.overlap(*pair, "RBO")


@pytest.mark.parametrize(("option", "words"), [("ties", "best"), ("duplicates", "twice")])
def test_policies_that_two_runs_do_not_have_are_refused(option: str, words: str) -> None:
    with pytest.raises(ir.OptionError, match=f"{option}={words}: expected one of .* for two runs"):
        ir.overlap({"q": ["a"]}, {"q": ["a"]}, "RBO", **{option: words})  # type: ignore[arg-type]


@settings(max_examples=EXAMPLES)
@given(a=runs(), b=runs(), ties=st.sampled_from(TIES))
def test_text_and_memory_give_the_same_numbers(a: Scores, b: Scores, ties: str) -> None:
    """Each run as text that is streamed, and as a mapping."""
    asked = ["RBO", "overlap@2", "tau", "tauAP"]
    if not a.keys() & b.keys():
        return
    texts = [ir.Run.from_text(text_of(run)) for run in (a, b)]

    plain = ir.overlap(a, b, asked, ties=ties)

    for pair in ((a, texts[1]), (texts[0], b), tuple(texts)):
        found = ir.overlap(*pair, asked, ties=ties, threads=1)
        assert np.array_equal(found.values, plain.values, equal_nan=True)
        assert (found.lengths.tolist(), found.tied.tolist()) == (
            plain.lengths.tolist(),
            plain.tied.tolist(),
        )


def text_of(run: Scores) -> object:
    from idealrank import _kernel

    lines = [
        f"{query} Q0 {document} 1 {score!r} t\n"
        for query, scores in run.items()
        for document, score in scores.items()
    ]
    return _kernel.Text(["".join(lines).encode()], "run")


def test_the_result_knows_what_it_is_about() -> None:
    found = ir.overlap({"q": {"a": 1.0, "b": 1.0, "c": 0.5}}, {"q": ["a", "c"]}, ["RBO", "tau"])

    assert found.common.tolist() == [2]
    assert found.lengths.tolist() == [[3, 2]]
    assert found.tied.tolist() == [[2, 0]]
    assert found["kendall"].tolist() == [1.0]
    assert found.mean()["tau_b"] == found.mean()[ir.KendallTau()] == 1.0
    assert "1 common queries, 0 only in the first" in repr(found)
    assert list(found.to_frame("polars").columns) == ["query", "common", "RBO", "tau"]
    for missing in (lambda: found["wtau"], lambda: found.mean()["weighted_tau"]):
        with pytest.raises(KeyError, match="only RBO, tau"):
            missing()
    assert math.isclose(found.mean()["RBO"], float(found["RBO"][0]))


def test_ids_that_never_meet_are_warned_of() -> None:
    with pytest.warns(
        ir.IdealrankWarning,
        match="no document in common in any of 1 common queries; do the document ids of both match",
    ):
        found = ir.overlap({"q": ["d1"]}, {"q": ["D1"]}, ["overlap@1", "tau"])

    assert found.mean()["overlap@1"] == 0.0
    assert math.isnan(found.mean()["tau"])


@pytest.mark.parametrize("ties", TIES)
def test_the_number_of_threads_changes_nothing(ties: str) -> None:
    rng = np.random.default_rng(3)
    a, b = (
        {
            f"q{q}": {f"d{d}": float(rng.integers(0, 40)) for d in rng.permutation(80)[:50]}
            for q in range(30)
        }
        for _ in "ab"
    )
    asked = ["RBO", "RBO(estimate=res)", "overlap@10", "tau", "tauAP"]

    one, many = (ir.overlap(a, b, asked, ties=ties, threads=threads) for threads in (1, 7))

    assert np.array_equal(one.values, many.values, equal_nan=True)


def test_correlations_of_many_documents_are_counted_in_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same values whatever the size of a block, with queries larger than it and queries without
    common documents.
    """
    rng = np.random.default_rng(4)
    a, b = (
        {
            f"q{q}": {f"d{d}": float(rng.integers(0, 9)) for d in rng.permutation(40)[: 4 + q]}
            for q in range(12)
        }
        for _ in "ab"
    )
    asked = ["tau", "tauAP(reference=both)", "wtau"]
    whole = ir.overlap(a, b, asked).values
    for block in (1, 10, 37):
        monkeypatch.setattr(pairs_tau, "_BLOCK", block)
        assert np.array_equal(ir.overlap(a, b, asked).values, whole, equal_nan=True)
