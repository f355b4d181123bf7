"""Differences as results that users get, against plain counting of the rankings."""

import re

import numpy as np
import pytest

import idealrank as ir
from idealrank.reports.views.comparison.markup import comparison_markdown
from idealrank.reports.views.comparison.pair_sentences import verdict_sentences
from idealrank.reports.views.comparison.phrases import plain_effect, plain_sentence

DOCUMENTS = [f"d{i}" for i in range(30)]
QRELS = {f"q{i}": {f"d{d}": 1 + d % 3 for d in range(0, 30, 3 + i % 2)} for i in range(40)}


def two_runs(seed: int = 3) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    generator = np.random.default_rng(seed)
    a = {query: list(generator.permutation(DOCUMENTS)) for query in QRELS}
    b = {
        query: sorted(
            generator.permutation(DOCUMENTS),
            key=lambda d, q=query: d in QRELS[q] and generator.random() < 0.4,
        )
        for query in QRELS
    }
    return a, {query: found[::-1] for query, found in b.items()}


def compared(*measures: str) -> ir.Comparison:
    return ir.compare(
        *(ir.evaluate(QRELS, ir.Run(run), ["P@10", *measures]) for run in two_runs()),
        measures=list(measures),
    )


def hits(run: dict[str, list[str]], query: str, k: int, least: int = 1) -> int:
    return sum(QRELS[query].get(document, 0) >= least for document in run[query][:k])


@pytest.mark.parametrize(
    ("measure", "k", "least"), [("P@10", 10, 1), ("P@5", 5, 1), ("P(rel=3)@20", 20, 3)]
)
def test_precision_is_a_number_of_results(measure: str, k: int, least: int) -> None:
    a, b = two_runs()
    more = np.mean([hits(b, query, k, least) - hits(a, query, k, least) for query in QRELS])
    assert more > 0.1

    said = plain_effect(compared(measure)[measure])

    what = "relevant results" if least == 1 else "results of grade 3 or more"
    assert said.startswith(
        f"about {more:.1f} more {what} in { ({5: 'five', 10: 'ten'}.get(k, k)) } (95% interval: "
    )


def test_success_is_a_number_of_queries_and_recall_one_of_documents() -> None:
    a, b = two_runs()
    queries = 100 * np.mean(
        [(hits(b, query, 1) > 0) - float(hits(a, query, 1) > 0) for query in QRELS]
    )
    documents = 100 * np.mean(
        [(hits(b, query, 5) - hits(a, query, 5)) / len(QRELS[query]) for query in QRELS]
    )

    first, same, recall = (
        plain_effect(compared(measure)[measure]) for measure in ("Success@1", "P@1", "R@5")
    )

    assert first.startswith(
        f"about {queries:.0f} more queries in 100 whose first result is relevant ("
    )
    assert same == first
    assert recall.startswith(
        f"about {documents:.0f} more of every 100 relevant documents in the first five ("
    )


def test_the_interval_is_that_of_the_row() -> None:
    row = compared("P@10")["P@10"]

    low, high = (
        float(end)
        for end in re.findall(r"interval: ([\d.]+) to ([\d.]+) more", plain_effect(row))[0]
    )

    assert (low, high) == pytest.approx([10 * end for end in row.interval], abs=0.05)


def test_an_interval_over_0_says_fewer_and_more() -> None:
    qrels = {f"q{i}": {"x": 1} for i in range(10)}
    a, b = (
        {query: ["x"] if i in hit else ["y"] for i, query in enumerate(qrels)}
        for hit in ({0, 1, 2, 3}, {2, 3, 4, 5, 6})
    )

    row = ir.compare(*(ir.evaluate(qrels, run, "Success@5") for run in (a, b)))["Success@5"]

    assert row.verdict == "undecided"
    assert plain_effect(row) == (
        f"about 10 more queries in 100 with a relevant result in the first five (95% "
        f"interval: {-100 * row.interval[0]:.0f} fewer to "
        f"{100 * row.interval[1]:.0f} more)"
    )


@pytest.mark.parametrize(
    "measures",
    [
        ["nDCG@10", "RR"],
        ["AP", "P@10"],
        ["nDCG@5", "P@10"],
        ["nDCG@10", "P(rel=2)@10"],
        ["nDCG", "AP"],
    ],
)
def test_measures_that_count_no_results_have_no_sentence(measures: list[str]) -> None:
    assert plain_effect(compared(*measures)[measures[0]]) == ""
    assert plain_sentence(compared(*measures).pairs[0]) == ""


def test_precision_at_the_cutoff_speaks_for_ndcg_and_is_named() -> None:
    found = compared("nDCG@10", "AP", "P@10")

    said = plain_sentence(found.pairs[0])

    assert said == f"By P@10, {found.pairs[0].b} has {plain_effect(found['P@10'])}."
    assert said in verdict_sentences(found, found.pairs[0]).more
    assert said in comparison_markdown(found)


def test_equal_runs_have_no_sentence() -> None:
    one = ir.evaluate(QRELS, ir.Run(two_runs()[0]), "P@10")

    assert plain_sentence(ir.compare(one, one).pairs[0]) == ""


def test_an_undecided_difference_without_an_interval_has_no_sentence() -> None:
    qrels = {"p": {"x": 1, "y": 0}, "q": {"x": 1, "y": 0}}
    few = ir.compare(
        *(ir.evaluate(qrels, {query: [document] for query in qrels}, "P@10") for document in "yx")
    )["P@10"]

    assert few.verdict == "undecided"
    assert plain_effect(few) == ""
