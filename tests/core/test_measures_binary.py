"""P, R, AP, RR and the counts: formulas worked by hand, thresholds, ties, and their texts in other
tools' words.
"""

import math
from itertools import permutations

import numpy as np
import pytest

import idealrank as ir
from idealrank.measures.parse import parse_measures

QRELS = {"q": {"a": 1, "b": 2, "c": 0, "d": 3, "e": 1}}
RUN = {"q": ["b", "x", "a", "c", "e"]}  # relevant at ranks 1, 3, 5; d is missed


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        ("P@1", 1.0),
        ("P@3", 2 / 3),
        ("P@10", 3 / 10),
        ("P(rel=2)@3", 1 / 3),
        ("R", 3 / 4),
        ("R@3", 2 / 4),
        ("R(rel=2)", 1 / 2),
        ("R(rel=4)", 0.0),
        ("AP", (1 + 2 / 3 + 3 / 5) / 4),
        ("AP@3", (1 + 2 / 3) / 4),
        ("AP(rel=2)", 1 / 2),
        ("RR", 1.0),
        ("RR(rel=3)", 0.0),
        ("NumQ", 1.0),
        ("NumRet", 5.0),
        ("NumRet@3", 3.0),
        ("NumRel", 4.0),
        ("NumRel(rel=2)", 2.0),
        ("NumRelRet", 3.0),
        ("NumRelRet@2", 1.0),
        ("NumRelRet(rel=2)", 1.0),
    ],
)
def test_values_worked_by_hand(measure: str, value: float) -> None:
    """From tables, and from arrays where every document is judged and returned."""
    assert ir.evaluate(QRELS, RUN, [measure]).values[0, 0] == pytest.approx(value, abs=1e-15)


def test_arrays_count_relevant_items_below_the_cutoff() -> None:
    """Three relevant of four, two within the cutoff."""
    means = ir.evaluate(
        [[1, 1, 0, 1]],
        [[4.0, 3.0, 2.0, 1.0]],
        ["R@2", "AP@2", "P@2", "NumRel", "NumRelRet@2", "NumRet"],
    ).mean()
    assert dict(means) == pytest.approx(
        {"R@2": 2 / 3, "AP@2": 2 / 3, "P@2": 1.0, "NumRel": 3.0, "NumRelRet@2": 2.0, "NumRet": 4.0}
    )


@pytest.mark.spread(9)
@pytest.mark.parametrize(
    ("relevant", "tied", "above"), [(1, 2, 0), (2, 3, 1), (1, 5, 2), (3, 5, 0), (4, 6, 1)]
)
@pytest.mark.parametrize("cutoff", [1, 2, 3, 5, None])
def test_expected_values_of_one_tie_group(
    relevant: int, tied: int, above: int, cutoff: int | None
) -> None:
    """A group of `tied` documents below `above` untied ones, the first of which is relevant: closed
    form against every order.
    """
    labels = (
        [1 if place == 0 else 0 for place in range(above)]
        + [1] * relevant
        + [0] * (tied - relevant)
    )
    scores = [10.0 - place for place in range(above)] + [0.0] * tied
    ends = sorted(set(permutations(labels[above:])))
    for measure in (
        ir.AP(cutoff=cutoff),
        ir.RR(cutoff=cutoff),
        ir.R(cutoff=cutoff),
        ir.P(cutoff=cutoff or 4),
        ir.NDCG(cutoff=cutoff),
    ):
        every = [
            ir.evaluate(
                [[*labels[:above], *end]], [[-float(i) for i in range(len(labels))]], [measure]
            ).values[0, 0]
            for end in ends
        ]
        found = ir.evaluate([labels], [scores], [measure], "standard,ties=expected").values[0, 0]
        assert found == pytest.approx(math.fsum(every) / len(every), abs=1e-13)


def test_ten_thousand_tied_documents() -> None:
    """A group far too large to enumerate: P@10 of 100 relevant among 10,000 is 1/100, and nothing
    overflows.
    """
    labels = np.zeros(10_000, np.int64)
    labels[:100] = 1
    means = ir.evaluate(labels, np.zeros(10_000), ["P@10", "R@1000", "RR", "AP"]).mean()
    assert means["P@10"] == pytest.approx(0.01, abs=1e-12)
    assert means["R@1000"] == pytest.approx(0.1, abs=1e-12)
    # sum over ranks of 1/rank times the chance that all better ranks hold other documents
    chances = [100 / 10_000]
    for rank in range(1, 9900):
        chances.append(chances[-1] * (9900 - rank + 1) / (10_000 - rank))
    assert means["RR"] == pytest.approx(
        math.fsum(chance / rank for rank, chance in enumerate(chances, 1)), rel=1e-10
    )
    # a relevant document at rank i finds (i-1)(r-1)/(n-1) others above it on average
    n, r, harmonic = 10_000, 100, math.fsum(1 / rank for rank in range(1, 10_001))
    assert means["AP"] == pytest.approx(
        (harmonic * (n - r) / (n - 1) + n * (r - 1) / (n - 1)) / n, rel=1e-12
    )


@pytest.mark.parametrize("policy", ["zero", "one", "nan", "left-out"])
def test_measures_without_relevant_documents(policy: str) -> None:
    """AP, R and RR are undefined where no grade reaches the threshold; P never is."""
    evaluation = ir.evaluate(
        {"q": {"a": 0}, "p": {"a": 1}},
        {"q": ["a"], "p": ["a"]},
        ["AP", "R", "RR", "P@1"],
        f"standard,no_relevant={policy}",
    )
    expected = {"zero": 0.0, "one": 1.0, "nan": math.nan, "left-out": math.nan}[policy]
    assert evaluation.values[0, :3] == pytest.approx([expected] * 3, nan_ok=True)
    assert evaluation.values[0, 3] == 0.0
    assert evaluation.scored[0].tolist() == [policy != "left-out"] * 3 + [True]
    mean = {"zero": 0.5, "one": 1.0, "nan": math.nan, "left-out": 1.0}[policy]
    assert evaluation.mean()["AP"] == pytest.approx(mean, nan_ok=True)
    assert evaluation.mean()["P@1"] == 0.5


def test_counts_are_sums() -> None:
    """Over queries, missing ones included."""
    evaluation = ir.evaluate(
        {"q": {"a": 1, "b": 2}, "p": {"c": 1}},
        {"q": ["a", "x"]},
        ["NumQ", "NumRet", "NumRel", "NumRelRet"],
    )
    assert dict(evaluation.mean()) == {"NumQ": 2.0, "NumRet": 2.0, "NumRel": 3.0, "NumRelRet": 1.0}


def test_a_threshold_is_a_number() -> None:
    """Whole numbers and NumPy's are numbers too, and read back the same."""
    for rel in (2, np.int64(2), np.float32(0.1), 10**30):
        assert ir.parse_measure(str(ir.AP(rel=rel))) == ir.AP(rel=rel)
    for wrong in ("high", 10**400, [1], True):
        with pytest.raises(ir.OptionError, match="expected a number"):
            ir.AP(rel=wrong)  # type: ignore[arg-type]


# --- texts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spelling", "text"),
    [
        ("ndcg", "nDCG"),
        ("NDCG@10", "nDCG@10"),
        ("ndcg_cut_10", "nDCG@10"),
        ("ndcg_cut.10", "nDCG@10"),
        ("nDCG(dcg='exp-log2')@5", "nDCG(gain=exp2)@5"),
        ("ndcg_burges@3", "nDCG(gain=exp2)@3"),
        ("ndcg@10-", "nDCG(no_relevant=zero)@10"),
        ("ndcg-", "nDCG(no_relevant=zero)"),
        ("map", "AP"),
        ("MAP@100", "AP@100"),
        ("map_cut_100", "AP@100"),
        ("mrr", "RR"),
        ("recip_rank", "RR"),
        ("MRR@10", "RR@10"),
        ("MRR10", "RR@10"),
        ("nDCG10", "nDCG@10"),
        ("P5", "P@5"),
        ("hit_rate_10", "Success@10"),
        ("HR@20", "Success@20"),
        ("HR20", "Success@20"),
        ("P_5", "P@5"),
        ("P.5", "P@5"),
        ("precision@5", "P@5"),
        ("recall_1000", "R@1000"),
        ("recall@10", "R@10"),
        ("set_recall", "R"),
        ("num_q", "NumQ"),
        ("num_ret", "NumRet"),
        ("num_rel", "NumRel"),
        ("num_rel_ret", "NumRelRet"),
        ("AP(rel=2)@100", "AP(rel=2)@100"),
        (" nDCG( gain = exp2 , discount=log(10) )@10", "nDCG(discount=log(10),gain=exp2)@10"),
        ("dcg@0.2n", "DCG@0.2n"),
        ("nDCG(gain={0:0,1:10})@sqrt(n)", "nDCG(gain={0:0,1:10})@sqrt(n)"),
        ("nDCG(discount=[1,0.5])", "nDCG(discount=[1,0.5])"),
    ],
)
def test_the_usual_spellings_are_understood(spelling: str, text: str) -> None:
    """Of trec_eval, ir_measures, ranx, XGBoost and common speech."""
    measure = ir.parse_measure(spelling)
    assert str(measure) == text
    assert ir.parse_measure(text) == measure


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "nDGC@10",
            "unknown measure 'nDGC@10', expected one such as nDCG@10; did you mean nDCG@10? "
            "idealrank.MEASURES has all",
        ),
        ("nDGC@10", "did you mean nDCG@10?"),
        ("NDGC@10", "did you mean nDCG@10?"),
        ("NDGC", "did you mean nDCG?"),
        ("ndgc_10", "did you mean nDCG@10?"),
        ("nDGC10", "did you mean nDCG@10?"),
        ("recal_at_10", "did you mean R@10?"),
        ("nDGC(gain=exp2)@5", "did you mean nDCG(gain=exp2)@5?"),
        ("nDGC(gain=exp3)@5", "did you mean nDCG?"),
        ("nDGC(gain=exp2", "did you mean nDCG?"),
        ("nDCG@ten", "cutoff 'ten': expected a whole number from 1 on"),
        (
            "nDCG(gian=exp2)",
            "nDCG has no option 'gian', expected cutoff | discount | gain | ideal | "
            "judged_only | no_relevant | rel | rounding | short_lists",
        ),
        ("AP(rel=high)", "rel=high: expected a number"),
        ("AP(rel=inf)", "rel=inf: expected a number"),
        ("nDCG(exp2)", "measure option 'exp2': expected NAME=VALUE"),
        ("P", "P needs a cutoff, as in P@10"),
        ("NumQ@5", "NumQ has no cutoff"),
        ("NumRel@5", "NumRel has no cutoff"),
        ("nDCG(gain=exp2", "unknown measure"),
        ("", "unknown measure"),
        ("nDCG(ideal=best)", "ideal=best: expected one of judged | returned | hits | uncut"),
    ],
)
def test_mistakes_in_texts_are_named(text: str, message: str) -> None:
    """What was found, what was expected, and what is near."""
    with pytest.raises(ir.OptionError) as caught:
        ir.parse_measure(text)
    assert message in str(caught.value)


def test_two_measures_with_one_text_are_refused() -> None:
    """Means, JSON and frames go by text; one of the two would vanish."""
    measures = [ir.NDCG(gain=lambda grades: grades), ir.NDCG(gain=lambda grades: grades + 1)]
    with pytest.raises(
        ir.OptionError,
        match=r"2 measures are written nDCG\(gain=custom:lambda\), expected different texts",
    ):
        ir.evaluate({"q": {"a": 1}}, {"q": ["a"]}, measures)


def test_what_is_no_measure_is_named() -> None:
    """Neither a measure nor a text."""
    for wrong in (5, None, ir.NDCG):
        with pytest.raises(ir.OptionError, match="expected a measure or its text"):
            ir.evaluate({"q": {"a": 1}}, {"q": ["a"]}, [wrong])  # type: ignore[list-item]


def test_a_measure_asked_twice_is_one() -> None:
    """In the order given; none at all is an error."""
    assert [
        str(measure) for measure in parse_measures(["AP", "ndcg_cut_10", "nDCG@10", "map"])
    ] == ["AP", "nDCG@10"]
    with pytest.raises(ir.OptionError, match="no measures given"):
        parse_measures([])


@pytest.mark.parametrize(
    ("measure", "name"),
    [
        ("nDCG", "ndcg"),
        ("nDCG@10", "ndcg_cut_10"),
        ("AP", "map"),
        ("AP@10", "map_cut_10"),
        ("AP(rel=2)", "AP(rel=2)"),
        ("RR", "recip_rank"),
        ("RR@10", "RR@10"),
        ("P@5", "P_5"),
        ("R@100", "recall_100"),
        ("R", "set_recall"),
        ("nDCG(gain=exp2)@10", "nDCG(gain=exp2)@10"),
        ("nDCG@0.2n", "nDCG@0.2n"),
        ("NumQ", "num_q"),
        ("NumRet", "num_ret"),
        ("NumRel", "num_rel"),
        ("NumRelRet", "num_rel_ret"),
        ("DCG", "dcg"),
        ("iDCG", "ideal_dcg"),
    ],
)
def test_names_in_trec_evals_layout(measure: str, name: str) -> None:
    """trec_eval's own name, and ours where it has no such measure."""
    assert ir.parse_measure(measure).trec_name == name


def apk(actual: list[str], predicted: list[str], k: int) -> float:
    """Average precision as Kaggle's competitions define it: over min(k, relevant)."""
    found, total = 0, 0.0
    for rank, document in enumerate(predicted[:k], 1):
        if document in actual:
            found += 1
            total += found / rank
    return total / min(len(actual), k)


def test_ap_over_the_reachable_is_map_at_k_of_recommenders() -> None:
    """Against the definition, on lists with more relevant documents than places; elsewhere it is
    AP.
    """
    random = np.random.default_rng(3)
    for _ in range(60):
        actual = [f"d{document}" for document in random.permutation(12)[: random.integers(1, 12)]]
        predicted = [
            f"d{document}" for document in random.permutation(12)[: random.integers(1, 12)]
        ] + actual[:1]
        predicted = list(dict.fromkeys(predicted))
        k = int(random.integers(1, 14))
        judged, run = {"q": dict.fromkeys(actual, 1), "r": {"x": 1}}, {"q": predicted, "r": ["x"]}
        found = ir.evaluate(judged, run, [f"MAP(divisor=reachable)@{k}", f"AP@{k}"])
        assert found.values[0, 0] == pytest.approx(apk(actual, predicted, k), abs=1e-12)
        assert (found.values[0, 0] == found.values[0, 1]) or len(actual) > k
    assert ir.parse_measure("AP(divisor=reachable)@10").trec_name == "AP(divisor=reachable)@10"
    with pytest.raises(ir.OptionError, match=r"divisor=.*relevant \| reachable"):
        ir.parse_measure("AP(divisor=min)@10")


def test_the_hit_rate_is_success() -> None:
    """As recommender libraries write it."""
    assert [
        str(ir.parse_measure(text)) for text in ("HR@10", "hr@5", "hit_rate@10", "Hit_Ratio@1")
    ] == ["Success@10", "Success@5", "Success@10", "Success@1"]
