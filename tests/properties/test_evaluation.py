"""The same input gives the same numbers, however it is held, split, ordered or spread over
threads.
"""

import math
import random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from idealrank import _kernel
from idealrank.conventions import Convention
from idealrank.data.lists import Lists
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.errors import IncompatibleError, InputError
from idealrank.evaluation.evaluate import Evaluation, evaluate, evaluate_lists
from idealrank.measures.measure import Measure
from idealrank.testing import Grades, Scores, conventions, judgments, lists, measures, runs
from tests.golden.harness import quietly
from tests.properties.refusals import offers_expected

MEASURES = (
    "nDCG@10",
    "nDCG",
    "nDCG(gain=exp2)@3",
    "DCG@0.5n",
    "iDCG",
    "AP",
    "AP(rel=2)@3",
    "RR",
    "P@5",
    "R@2",
    "NumQ",
    "NumRet",
    "NumRel",
    "NumRelRet",
)


def evaluated(
    qrels: Qrels, run: Run, convention: "Convention | str" = "standard", threads: int = 0
) -> Evaluation:
    """All measures at once."""
    evaluation: Evaluation = quietly(evaluate, qrels, run, MEASURES, convention, threads=threads)
    return evaluation


def same_bits(one: Evaluation, other: Evaluation) -> None:
    """Values, who counts, means and coverage, to the last bit, by query."""
    assert repr(sorted(one.per_query().items())) == repr(sorted(other.per_query().items()))
    assert repr(one.mean()) == repr(other.mean())
    assert one.coverage.as_dict() == other.coverage.as_dict()


def qrels_text(qrels: Grades) -> bytes:
    """TREC judgments."""
    return "".join(
        f"{query} 0 {document} {grade!r}\n"
        for query, grades in qrels.items()
        for document, grade in grades.items()
    ).encode()


def run_lines(run: Scores) -> list[bytes]:
    """TREC run lines with a useless rank column."""
    return [
        f"{query} Q0 {document} 0 {score!r} tag\n".encode()
        for query, scores in run.items()
        for document, score in scores.items()
    ]


def read_qrels(text: bytes) -> Qrels:
    """Judgments as the kernel reads them."""
    return Qrels.from_table(_kernel.read_text(_kernel.Text([text], "qrels"), duplicates="error"))


def read_run(lines: list[bytes]) -> Run:
    """A run that stays text."""
    return Run.from_text(_kernel.Text([b"".join(lines)], "run"))


@given(judgments(), runs(), conventions(unjudged="not-relevant", missing="zero", negative="zero"))
def test_mapping_columns_and_text_give_the_same_bits(
    qrels: Grades, run: Scores, convention: Convention
) -> None:
    """A dict of dict, three columns, and TREC text in one or in two buffers."""
    convention = Convention.of(convention, rounding="none")
    expected = evaluated(Qrels(qrels), Run(run), convention)
    rows = [
        (query, document, score)
        for query, scores in run.items()
        for document, score in scores.items()
    ]
    columns = Run.from_columns(
        [row[0] for row in rows], [row[1] for row in rows], np.array([row[2] for row in rows])
    )
    lines = run_lines(run)
    cut = len(lines) // 2
    parts = Run.from_text(_kernel.Text([b"".join(lines[:cut]), b"".join(lines[cut:])], "run"))
    for table in (columns, read_run(lines), parts):
        same_bits(evaluated(read_qrels(qrels_text(qrels)), table, convention), expected)


@given(
    judgments(),
    runs(),
    st.randoms(use_true_random=False),
    st.sampled_from(("docid", "docid-ascending", "expected", "best", "worst")),
)
def test_lines_in_any_order_give_the_same_bits(
    qrels: Grades, run: Scores, rng: random.Random, ties: str
) -> None:
    """Lines of one query scattered over the file; under expected ties sums run in another order, so
    the last bit may differ.
    """
    lines = run_lines(run)
    rng.shuffle(lines)
    found = evaluated(
        Qrels(qrels), read_run(lines), Convention.of("standard", ties=ties)
    ).per_query()
    expected = evaluated(
        Qrels(qrels), read_run(run_lines(run)), Convention.of("standard", ties=ties)
    ).per_query()
    if ties.startswith("docid"):
        assert repr(sorted(found.items())) == repr(sorted(expected.items()))
    for query, values in expected.items():
        assert found[query] == pytest.approx(values, abs=1e-12)


@given(
    lists(),
    st.sampled_from(
        (
            "lightgbm",
            "xgboost",
            "sklearn",
            "catboost",
            "torchmetrics",
            "pyltr",
            "linear-2010",
            "standard,ties=expected",
        )
    ),
)
def test_arrays_and_mappings_agree(queries: list[list[tuple[float, float]]], preset: str) -> None:
    """Labels and scores against the same lists with ids, where every document is judged and
    returned.
    """
    queries = [items for items in queries if items] or [[(1.0, 0.0)]]
    qrels = {
        str(q): {f"d{i}": label for i, (label, _) in enumerate(items)}
        for q, items in enumerate(queries)
    }
    run = {
        str(q): {f"d{i}": score for i, (_, score) in enumerate(items)}
        for q, items in enumerate(queries)
    }
    labels, scores = (
        np.array([item[part] for items in queries for item in items]) for part in (0, 1)
    )
    arrays = quietly(
        evaluate_lists,
        Lists.from_arrays(labels, scores, group=[len(items) for items in queries]),
        MEASURES,
        preset,
    )
    tables = evaluated(Qrels(qrels), Run(run), preset)
    np.testing.assert_allclose(arrays.values, tables.values, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(arrays.scored, tables.scored)


@given(
    judgments(),
    runs(),
    conventions(unjudged="not-relevant", missing="zero", negative="zero"),
    st.sets(st.sampled_from(("q1", "q2", "q3"))),
)
def test_parts_merge_to_the_whole(
    qrels: Grades, run: Scores, convention: Convention, left: set[str]
) -> None:
    """Split by query, evaluated apart and merged: the same values, means and counts."""
    convention = Convention.of(convention, rounding="none")
    parts = []
    for here in (left, {"q1", "q2", "q3"} - left):
        judged, returned = ({q: d for q, d in table.items() if q in here} for table in (qrels, run))
        try:
            parts.append(evaluated(Qrels(judged), Run(returned), convention))
        except InputError:  # nothing in this part counts
            return
    same_bits(parts[0].merge(parts[1]), evaluated(Qrels(qrels), Run(run), convention))
    same_bits(parts[1].merge(parts[0]), evaluated(Qrels(qrels), Run(run), convention))


def test_parts_that_do_not_fit_are_refused() -> None:
    """Another convention, other measures, a query in both."""
    whole = evaluated(Qrels({"q": {"a": 1}}), Run({"q": ["a"]}))
    other = evaluate(Qrels({"p": {"a": 1}}), Run({"p": ["a"]}), MEASURES, "lightgbm")
    with pytest.raises(IncompatibleError, match=r"conventions standard .* and lightgbm"):
        whole.merge(other)
    with pytest.raises(IncompatibleError, match="measures"):
        whole.merge(evaluate(Qrels({"p": {"a": 1}}), Run({"p": ["a"]}), ["AP"]))
    with pytest.raises(IncompatibleError, match="query 'q' is in both parts"):
        whole.merge(whole)


def large_run(rng: random.Random, n_queries: int, depth: int) -> tuple[Grades, list[bytes]]:
    """Judgments and run lines, enough for several pieces of work; scores tie often."""
    qrels = {
        f"q{q}": {f"d{rng.randrange(200)}": float(rng.randrange(4)) for _ in range(15)}
        for q in range(n_queries)
    }
    run = {
        query: {f"d{d}": round(rng.random(), 2) for d in rng.sample(range(200), depth)}
        for query in qrels
    }
    return qrels, run_lines(run)


@pytest.mark.parametrize(
    "scattered", [pytest.param(False, marks=pytest.mark.slow), True], ids=["together", "scattered"]
)
def test_any_number_of_threads_gives_the_same_bits(scattered: bool) -> None:
    """One, two and five threads on four megabytes of text, lines of a query together or scattered
    over the file.
    """
    rng = random.Random(20)
    qrels, lines = large_run(rng, 1500, 100)
    if scattered:
        rng.shuffle(lines)
    results = [
        evaluated(read_qrels(qrels_text(qrels)), read_run(lines), ties, threads)
        for ties in ("standard", "standard,ties=expected")
        for threads in (1, 2, 5)
    ]
    for first in (0, 3):
        same_bits(results[first], results[first + 1])
        same_bits(results[first], results[first + 2])


def test_arrays_have_the_same_bits_for_any_number_of_threads() -> None:
    """Twenty thousand lists of ten, with ties."""
    rng = np.random.default_rng(7)
    labels, scores = (
        rng.integers(0, 4, (20_000, 10)),
        rng.integers(0, 6, (20_000, 10)).astype(float),
    )
    values = [
        evaluate_lists(
            Lists.from_arrays(labels, scores), ["nDCG@5", "AP", "RR"], threads=threads
        ).values
        for threads in (1, 2, 5)
    ]
    np.testing.assert_array_equal(values[0], values[1])
    np.testing.assert_array_equal(values[0], values[2])


def test_the_mean_is_exact_in_any_order() -> None:
    """Large and small values together: the mean is the correctly rounded one."""
    qrels = {f"q{i}": {"a": grade} for i, grade in enumerate((1e16, 1.0, 1.0, -0.0 + 1.0))}
    run = {query: ["a"] for query in qrels}
    mean = evaluate(Qrels(qrels), Run(run), ["DCG"]).mean()["DCG"]
    assert mean == math.fsum([1e16, 1.0, 1.0, 1.0]) / 4


@given(
    judgments(),
    runs(),
    st.lists(measures(), min_size=2, max_size=4, unique=True),
    conventions(unjudged="not-relevant", missing="zero", negative="zero"),
)
def test_measures_do_not_disturb_each_other(
    qrels: Grades, run: Scores, asked: list[Measure], convention: Convention
) -> None:
    """Together the deepest decides how many hits are kept; each value has the bits that it has
    alone.
    """
    assume(
        convention.alignment.ties != "expected"
        or all(offers_expected(one, convention) for one in asked)
    )
    together = quietly(evaluate, Qrels(qrels), Run(run), asked, convention)
    for measure in asked:
        alone = quietly(evaluate, Qrels(qrels), Run(run), [measure], convention)
        np.testing.assert_array_equal(together[measure], alone[measure])


@given(
    lists(),
    st.lists(measures(), min_size=2, max_size=4, unique=True),
    conventions(negative="zero", rounding="none"),
)
def test_measures_of_arrays_do_not_disturb_each_other(
    queries: list[list[tuple[float, float]]], asked: list[Measure], convention: Convention
) -> None:
    """The way a sum is made depends on whether lists are cut or whole, so the last bit may
    differ.
    """
    # arrays have no document ids, and refuse these ties where they are asked for
    if convention.alignment.ties.startswith("docid"):
        convention = Convention.of(convention, ties="expected")
    asked = [measure for measure in asked if offers_expected(measure, convention)]
    labels, scores = (
        np.array([item[part] for items in queries for item in items]) for part in (0, 1)
    )
    held = Lists.from_arrays(labels, scores, group=[len(items) for items in queries])
    for measure in asked:
        together, alone = (
            quietly(evaluate_lists, held, one, convention)[measure] for one in (asked, [measure])
        )
        np.testing.assert_allclose(together, alone, rtol=1e-12, atol=1e-12)
