"""Chance level and ceiling: the mean and the maximum over all orders of the candidates, each
evaluated as a run.
"""

import itertools
import math
import re
import time
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats

import idealrank as ir
from idealrank.bounds.random_orders import Chance, chance_of
from idealrank.conventions import Convention
from idealrank.data.candidates import Candidates
from idealrank.errors import IdealrankError, InputError, OptionError
from idealrank.measures.binary import mean_reciprocal
from idealrank.measures.measure import Measure

_GRADES = (-2, -1, 0, 0.5, 1, 1, 2, 3)
_SWITCHES: dict[str, tuple[Any, ...]] = {
    "gain": ("linear", "exp2", "binary", "power(0.5)"),
    "discount": ("log2", "zipf(1)", "linear", "jarvelin(2)", (1, 0.5, 0.5, 0.1)),
    "ideal": ("judged", "hits", "uncut", "full"),
    "no_relevant": ("zero", "one", "nan", "left-out", "quotient"),
    "short_lists": ("padded", "zero"),
    "unjudged": ("not-relevant", "skipped"),
    "grades": ("given", "truncated", "minimum"),
    "negative": ("zero", "kept", "removed", "padding"),
}
_CUTOFFS = (1, 2, 3, 4, 6, 10)
_ANY_CUTOFF = (None, *_CUTOFFS, "0.5n", "sqrt(n)")
_OPTIONS: dict[type[Measure], dict[str, tuple[Any, ...]]] = {
    ir.NDCG: {"cutoff": _ANY_CUTOFF, "rel": (None, None, 2)},
    ir.DCG: {"cutoff": _ANY_CUTOFF, "rel": (None, None, 2)},
    ir.P: {"cutoff": _CUTOFFS, "rel": (None, 2)},
    ir.R: {"cutoff": _ANY_CUTOFF, "rel": (None, 2)},
    ir.F: {"cutoff": _CUTOFFS, "beta": (None, 0, 0.5, 4)},
    ir.RelativeP: {"cutoff": _CUTOFFS, "rel": (None, 2)},
    ir.Rprec: {"mult": (None, 0.5, 2), "rel": (None, 2)},
    ir.Success: {"cutoff": _CUTOFFS, "rel": (None, 2)},
    ir.RR: {"cutoff": _ANY_CUTOFF, "rel": (None, 2)},
    ir.AP: {"cutoff": _ANY_CUTOFF, "rel": (None, 2), "divisor": (None, "relevant", "reachable")},
    ir.RBP: {
        "cutoff": _ANY_CUTOFF,
        "p": (None, 0, 0.5, 0.95),
        "max_rel": (None, 2, "query"),
        "rel": (None, 0.5, 2),
    },
}
_BATCH = 25  # cases under one convention


def drawn(rng: np.random.Generator, options: dict[str, tuple[Any, ...]]) -> dict[str, Any]:
    return {name: values[rng.integers(len(values))] for name, values in options.items()}


def drawn_measures(rng: np.random.Generator) -> list[Measure]:
    """Two of each kind, with options of their own."""
    measures = []
    for kind in (*_OPTIONS, *_OPTIONS):
        judged_only = bool(rng.random() < 0.2)
        measures.append(kind(judged_only=judged_only, **drawn(rng, _OPTIONS[kind])))
    return list(dict.fromkeys(measures))


def drawn_case(rng: np.random.Generator) -> tuple[dict[str, float], list[str]]:
    """Grades, and up to six candidates; some are unjudged, and some judged documents are none."""
    n_candidates = int(rng.integers(0, 7))
    candidates = [f"c{place}" for place in range(n_candidates)]
    judged = candidates[: rng.integers(0, n_candidates + 1)]
    judged += [f"o{place}" for place in range(rng.integers(0, 3))]
    return {document: float(rng.choice(_GRADES)) for document in judged}, candidates


def assert_as_enumerated(batch: int) -> int:
    """Compare a batch of cases with all their orders; the number of values compared."""
    rng = np.random.default_rng((20, batch))
    switches = drawn(rng, _SWITCHES)
    convention = Convention.of("standard", **switches)
    measures = drawn_measures(rng)
    qrels: dict[str, dict[str, float]] = {}
    candidates: dict[str, list[str]] = {}
    orders: dict[str, list[str]] = {}
    grades_of_orders: dict[str, dict[str, float]] = {}
    owner: list[str] = []
    for case in range(_BATCH):
        grades, documents = drawn_case(rng)
        query = f"{case:02}"
        qrels[query], candidates[query] = grades, documents
        for number, order in enumerate(itertools.permutations(documents)):
            orders[f"{query}-{number}"] = list(order)
            grades_of_orders[f"{query}-{number}"] = grades
            owner.append(query)

    level = chance_of(ir.Qrels(qrels), Candidates(by_query=candidates), measures, convention)

    # An ideal below 0 turns the best order into the worst.
    assert not level.not_offered or switches["no_relevant"] == "quotient"
    with warnings.catch_warnings(action="ignore", category=ir.IdealrankWarning):
        evaluated = ir.evaluate(grades_of_orders, orders, level.measures, convention)
    assert list(evaluated.queries) == list(orders)
    of_case = np.array(owner)
    for row, query in enumerate(level.queries):
        values = evaluated.values[of_case == query]
        scored = evaluated.scored[of_case == query]
        np.testing.assert_array_equal(scored.min(axis=0), level.scored[row])
        np.testing.assert_array_equal(scored.max(axis=0), level.scored[row])
        means = [math.fsum(column) / len(column) for column in values.T.tolist()]
        np.testing.assert_allclose(level.values[row], means, rtol=0, atol=1e-12)
        np.testing.assert_allclose(level.ceilings[row], values.max(axis=0), rtol=0, atol=1e-12)
    return level.values.size


@pytest.mark.parametrize("batch", range(300 // _BATCH))
def test_chance_and_ceiling_are_the_mean_and_the_maximum_over_all_orders(batch: int) -> None:
    assert assert_as_enumerated(batch) > 10 * _BATCH


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_chance_and_ceiling_hold_in_ten_thousand_cases(part: int) -> None:
    batches = 10_000 // _BATCH // 10
    n_values = sum(assert_as_enumerated(1000 + part * batches + batch) for batch in range(batches))
    assert n_values > 10_000


def level_of(
    grades: dict[str, float], candidates: Candidates, measure: str, convention: str = "standard"
) -> Chance:
    return chance_of(ir.Qrels({"q": grades}), candidates, measure, Convention.of(convention))


NOT_OFFERED = {
    "rounding": ("nDCG@3", "standard,rounding=round-2", r"each value is rounded \(round-2\)"),
    "returned": ("nDCG@2", "standard,ideal=returned", r"the ideal is that of the returned"),
    "rising": ("DCG(discount=[0.5,1])@2", "standard", r"weights of ranks rise or are below 0"),
    "quotient": ("nDCG", "standard,negative=kept,no_relevant=quotient", r"an ideal below 0"),
    "geometric": ("GMAP", "standard", r"its mean over all orders is known in closed form only"),
    "interpolated": ("IPrec@0.5", "standard", r"only for nDCG, DCG, AP, RR, P, R, F, RBP, "),
    "residual": ("RBP(of=residual)", "standard", r"known in closed form only for"),
}


@pytest.mark.parametrize("name", NOT_OFFERED)
def test_what_has_no_chance_level_says_why(name: str) -> None:
    measure, convention, reason = NOT_OFFERED[name]
    grades = {"a": -3.0, "b": -1.0} if name == "quotient" else {"a": 3.0, "b": 1.0, "c": 0.0}

    level = level_of(grades, Candidates(number=4), measure, convention)

    assert level.measures == ()
    assert level.values.shape == (1, 0)
    ((text, told),) = level.not_offered.items()
    assert text == measure
    assert re.search(reason, told)


@pytest.mark.parametrize("name", ["rounding", "returned", "rising", "quotient"])
def test_naive_forms_of_what_is_not_offered_differ_from_the_enumeration(name: str) -> None:
    measure, convention, _ = NOT_OFFERED[name]
    grades = {"a": -3.0, "b": -1.0} if name == "quotient" else {"a": 3.0, "b": 1.0, "c": 0.0}
    documents = ["a", "b", "c", "x"]
    # The ideal of returned documents is that of any order, until lists are cut.
    shown = 2 if name == "returned" else len(documents)
    orders = list(itertools.permutations(documents))
    evaluated = ir.evaluate(
        {str(number): grades for number in range(len(orders))},
        {str(number): list(order[:shown]) for number, order in enumerate(orders)},
        measure,
        convention,
    )
    resolved = Convention.of(convention)
    joined = Candidates(by_query={"q": documents}).join(ir.Qrels({"q": grades}))
    naive = {}
    for ties in ("expected", "best"):
        lists = joined.one_tie(np.array([0]), resolved.alignment, ties)
        naive[ties] = evaluated.measures[0].under(resolved).per_query(lists)[0]

    if name in ("rounding", "returned"):
        assert abs(evaluated.values.mean() - naive["expected"]) > 1e-3
    else:
        assert evaluated.values.max() > naive["best"] + 1e-3


@pytest.mark.parametrize(("n", "relevant", "cutoff"), [(20, 3, 5), (1000, 40, 10), (50, 48, 7)])
def test_values_of_other_sources(n: int, relevant: int, cutoff: int) -> None:
    """SciPy's hypergeometric distribution, and the expected AP of Bestgen (2015)."""
    grades = {f"d{place}": 1.0 for place in range(relevant)}
    texts = [f"P@{cutoff}", f"R@{cutoff}", f"Success@{cutoff}", "AP", "RR"]
    level = chance_of(
        ir.Qrels({"q": grades}), Candidates(number=n), texts, Convention.of("standard")
    ).mean()
    found = scipy_stats.hypergeom(n, relevant, cutoff)
    harmonic = math.fsum(1 / rank for rank in range(1, n + 1))
    first = scipy_stats.nhypergeom(n, n - relevant, 1)  # documents above the first relevant one
    reciprocal = math.fsum(first.pmf(above) / (above + 1) for above in range(n - relevant + 1))

    assert level[f"P@{cutoff}"] == pytest.approx(found.mean() / cutoff, abs=1e-12)
    assert level[f"R@{cutoff}"] == pytest.approx(found.mean() / relevant, abs=1e-12)
    assert level[f"Success@{cutoff}"] == pytest.approx(1 - found.pmf(0), abs=1e-12)
    assert level["AP"] == pytest.approx(
        ((relevant - 1) / (n - 1) * (n - harmonic) + harmonic) / n, abs=1e-12
    )
    assert level["RR"] == pytest.approx(reciprocal, abs=1e-10)


@pytest.mark.parametrize(
    ("n", "relevant"), [(1, 1), (2, 1), (9, 4), (10, 5), (400, 30), (400, 200)]
)
def test_the_expected_reciprocal_rank_is_exact(n: int, relevant: int) -> None:
    exact = sum(
        Fraction(math.comb(n - rank, relevant - 1), math.comb(n, relevant) * rank)
        for rank in range(1, n - relevant + 2)
    )
    value = mean_reciprocal(np.array([n]), np.array([relevant]))[0]
    assert value == pytest.approx(float(exact), rel=1e-14)


def test_forms_of_candidates_agree() -> None:
    grades = {"q": {"a": 1, "b": 2, "c": 0}, "r": {"a": 1}}
    qrels = ir.Qrels(grades)
    documents = ["a", "b", "c", "x", "y"]
    convention = Convention.of("standard")
    own, shared, number = (
        chance_of(qrels, candidates, ["nDCG@2", "RR", "AP"], convention)
        for candidates in (
            Candidates(by_query={"q": documents, "r": documents, "z": ["a"]}),
            Candidates(shared=documents),
            Candidates(number=5),
        )
    )
    np.testing.assert_array_equal(own.values, shared.values)
    np.testing.assert_array_equal(own.ceilings, shared.ceilings)
    np.testing.assert_array_equal(own.values, number.values)
    assert own.candidates.tolist() == number.candidates.tolist() == [5, 5]
    assert own.outside.tolist() == number.outside.tolist() == [0, 0]


def test_judged_documents_that_are_no_candidates_lower_the_ceiling_not_the_ideal() -> None:
    grades = {"a": 1.0, "b": 1.0}
    level = chance_of(
        ir.Qrels({"q": grades}),
        Candidates(by_query={"q": ["a", "x"]}),
        ["R@1", "nDCG"],
        Convention.of("standard"),
    )
    assert level.outside.tolist() == [1]
    assert level["R@1"].tolist() == [0.25]
    assert level.ceiling("R@1").tolist() == [0.5]
    assert level.ceiling("nDCG")[0] == pytest.approx(1 / (1 + 1 / math.log2(3)))


def test_queries_without_candidates_are_named() -> None:
    qrels = ir.Qrels({"p": {"a": 1}, "q": {"a": 1}})
    candidates = Candidates(by_query={"p": ["a", "b"]})

    with pytest.raises(InputError, match=r"found none for query 'q' \(1 of 2 queries\)"):
        chance_of(qrels, candidates, "RR", Convention.of("standard"))
    left_out = chance_of(qrels, candidates, "RR", Convention.of("standard,missing=left-out"))
    assert left_out.per_query() == {"p": {"RR": 0.75}}
    with pytest.raises(InputError, match=r"candidates of none of the 2 judged queries"):
        chance_of(
            qrels,
            Candidates(by_query={"x": ["a"]}),
            "RR",
            Convention.of("standard,missing=left-out"),
        )


def test_the_public_function_takes_candidates_in_every_form(tmp_path: Path) -> None:
    qrels = {"q": {"a": 1, "b": 1}, "r": {"a": 1}}
    documents = ["a", "b", "c", "d"]
    (tmp_path / "candidates.csv").write_text(
        "query,document\n" + "".join(f"{q},{d}\n" for q in qrels for d in documents), "utf-8"
    )
    (tmp_path / "catalogue.txt").write_text("\n".join(documents), "utf-8")
    forms: list[Any] = [
        4,
        np.int64(4),
        dict.fromkeys(qrels, documents),
        documents,
        tmp_path / "candidates.csv",
        str(tmp_path / "catalogue.txt"),
        pd.DataFrame([(q, d) for q in qrels for d in documents], columns=["query", "document"]),
        ir.Run(dict.fromkeys(qrels, documents)),
    ]
    with warnings.catch_warnings(action="error"):
        levels = [ir.chance(qrels, form, ["AP", "R@2"]) for form in forms]

    for level in levels:
        assert level.per_query() == levels[0].per_query()
        assert level.candidates.tolist() == [4, 4]
    assert levels[0].mean() == {
        "AP": pytest.approx((0.6805555555555555 + 0.5208333333333333) / 2),
        "R@2": 0.5,
    }
    assert levels[0].mean_ceiling() == {"AP": 1.0, "R@2": 1.0}
    assert levels[0].as_dict()["measures"]["R@2"] == {"chance": 0.5, "ceiling": 1.0, "n": 2}
    frame = levels[0].to_frame()
    assert list(frame.columns) == [
        "query",
        "candidates",
        "AP chance",
        "AP ceiling",
        "R@2 chance",
        "R@2 ceiling",
    ]
    assert repr(levels[0]) == "Chance(AP 0.6007, R@2 0.5; 2 queries)"
    with pytest.raises(KeyError, match="P@3: no chance level here, only of AP, R@2"):
        levels[0]["P@3"]


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        (0, r"candidates=0: expected a number of documents from 1 on"),
        (True, r"candidates: found True, expected documents or their number"),
        ({}, r"candidates: found nothing, expected"),
        (2.5, r"candidates: found float, expected a path"),
    ],
)
def test_what_is_no_candidates_is_refused(candidates: Any, message: str) -> None:
    with pytest.raises(IdealrankError, match=message):
        ir.chance({"q": {"a": 1}}, candidates, "RR")


def test_a_measure_without_a_chance_level_is_refused_with_the_reason() -> None:
    with pytest.raises(OptionError, match=r"nDCG@2: the chance level is not offered: each value"):
        ir.chance({"q": {"a": 1}}, 4, ["AP", "nDCG@2"], "standard,rounding=round-5")


def test_too_small_a_number_of_candidates_is_refused() -> None:
    with pytest.raises(InputError, match=r"found 1 documents, but query 'q' has 2 judged ones"):
        level_of({"a": 1, "b": 0}, Candidates(number=1), "RR")


def test_unjudged_candidates_are_refused_where_the_convention_does() -> None:
    with pytest.raises(InputError, match=r"query 'q' has unjudged ones \(1 queries have\)"):
        level_of({"a": 1}, Candidates(number=2), "RR", "standard,unjudged=error")
    assert level_of({"a": 1}, Candidates(number=1), "RR", "standard,unjudged=error")["RR"] == [1]


def test_a_cutoff_deeper_than_the_candidates_is_said() -> None:
    one = level_of({"a": 1}, Candidates(number=32), "Success@50")
    assert one.cautions == ("Success@50 of 32 candidates is 1 whatever the ranking",)
    some = chance_of(
        ir.Qrels({"p": {"a": 1}, "q": {"a": 1}, "r": {"b": 1}}),
        Candidates(by_query={"p": ["a", "b"], "q": ["a", *"wxyz"], "r": ["a", "c", "d"]}),
        ["Success@3", "P@9", "nDCG@9", "R"],
        Convention.of("standard"),
    )
    assert some.cautions == (
        "Success@3 of at most 3 candidates (2 of 3 queries) has the same value whatever the "
        "ranking",
        "P@9 of at most 5 candidates has the same value whatever the ranking",
    )


@pytest.mark.slow
def test_a_hundred_thousand_queries_of_a_million_documents_take_seconds() -> None:
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 40, 100_000)
    queries = np.repeat(np.arange(sizes.size), sizes).astype(str).tolist()
    documents = np.arange(sizes.sum()).astype(str).tolist()
    qrels = ir.Qrels.from_columns(queries, documents, rng.integers(0, 4, sizes.sum()) * 1.0)
    texts = ["nDCG@10", "nDCG", "AP", "RR", "P@10", "R@100", "Success@10", "RR@10", "RBP"]
    start = time.process_time()
    level = chance_of(qrels, Candidates(number=10**6), texts, Convention.of("standard"))
    seconds = time.process_time() - start
    assert level.values.shape == (100_000, len(texts))
    assert seconds < 60
