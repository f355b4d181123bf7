"""Advice: what is seen of real and of extreme data, which measures follow from it, and what is
warned of.
"""

from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest

import idealrank as ir
from tests.conftest import PYDOCS

QRELS, RUN = PYDOCS / "qrels.txt", PYDOCS / "bm25.run"


def texts(advice: ir.Advice) -> list[str]:
    return [fit.measure for fit in advice.fits]


def warned(advice: ir.Advice, words: str) -> bool:
    return any(words in warning for warning in advice.warnings)


def collection(
    n: int, judged: int, relevant: int, length: int, grade: float = 1
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Queries whose lists of some length are judged down to a rank, with so many relevant documents
    at the top.
    """
    qrels = {
        f"q{q}": {f"d{i}": grade if i < relevant else 0 for i in range(judged)} for q in range(n)
    }
    return qrels, {query: [f"d{i}" for i in range(length)] for query in qrels}


def test_what_is_seen_of_real_data_is_what_a_plain_count_gives() -> None:
    """Counted anew from the lines of the files."""
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for line in QRELS.read_text(encoding="utf-8").splitlines():
        query, _, document, grade = line.split()
        grades[query][document] = int(grade)
    lists: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for line in RUN.read_text(encoding="utf-8").splitlines():
        query, _, document, _, score, _ = line.split()
        lists[query].append((float(score), document))
    ranked = {
        query: [d for _, d in sorted(rows, key=lambda row: (row[0], row[1].encode()), reverse=True)]
        for query, rows in lists.items()
    }

    seen = ir.advise(QRELS, RUN, visible=7).observed

    counts = Counter(grade for judged in grades.values() for grade in judged.values())
    relevant = [sum(grade > 0 for grade in judged.values()) for judged in grades.values()]
    assert seen.grades == pytest.approx(
        {float(grade): count / counts.total() for grade, count in counts.items()}
    )
    assert (seen.queries, seen.judgments, seen.no_relevant) == (
        len(grades),
        counts.total(),
        relevant.count(0),
    )
    assert (seen.relevant_per_query.median, seen.relevant_per_query.greatest) == (
        np.median(relevant),
        max(relevant),
    )
    assert seen.one_relevant == relevant.count(1) / (len(relevant) - relevant.count(0))
    for depth in (1, 5, 7, 10, 20, 50, 100):
        top = [
            document in grades[query]
            for query, documents in ranked.items()
            for document in documents[:depth]
        ]
        assert seen.unjudged[depth] == pytest.approx(1 - sum(top) / len(top), abs=1e-12)
    reach = seen.judged_depth
    shares = [
        [d in grades[q] for q, documents in ranked.items() for d in documents[:depth]]
        for depth in (reach, reach + 1)
    ]
    assert [sum(top) / len(top) >= 0.9 for top in shares] == [True, False]


def test_real_graded_data_on_every_surface() -> None:
    """Graded 0-3, pools of depth 10, lists of 100."""
    assert texts(ir.advise(QRELS, RUN)) == ["nDCG@10", "R@100"]
    assert texts(ir.advise(QRELS, RUN, surface="phone"))[0] == "nDCG@5"
    desktop = ir.advise(QRELS, RUN, surface="desktop")
    assert (desktop.cutoffs, texts(desktop)[:2]) == ((10, 20), ["nDCG@10", "nDCG@20"])
    assert warned(
        desktop,
        "rank 20 is deeper than the judgments, which reach down to rank 11: 43% of the first 20",
    )
    assert not warned(ir.advise(QRELS, RUN, surface="phone"), "deeper than the judgments")
    carousel = ir.advise(QRELS, RUN, surface="carousel", visible=7)
    assert (carousel.cutoffs, texts(carousel)[:2]) == ((7,), ["P@7", "nDCG@7"])
    rag = ir.advise(QRELS, RUN, surface="rag", visible=8)
    assert (rag.cutoffs, texts(rag)) == ((8,), ["R@8", "P@8", "nDCG@8"])


@pytest.mark.parametrize("surface", [None, "phone", "desktop", "carousel", "rag"])
@pytest.mark.parametrize("grade", [1, 0.4, 3])
@pytest.mark.parametrize("relevant", [0, 1, 3])
def test_every_measure_that_is_named_can_be_computed(
    surface: str | None, grade: float, relevant: int
) -> None:
    qrels, run = collection(3, 20, relevant, 60, grade)
    advice = ir.advise(qrels, run, surface=surface)
    assert bool(advice.fits) == (relevant > 0)
    for fit in advice.fits:
        assert str(ir.parse_measure(fit.measure)) == fit.measure
        assert np.isfinite(ir.evaluate(qrels, run, fit.measure).values).all()


def test_one_right_answer_is_for_reciprocal_rank() -> None:
    qrels, run = collection(40, 10, 1, 10)
    assert texts(ir.advise(qrels, run, surface="phone")) == ["RR@5", "Success@5"]
    assert texts(ir.advise(qrels, run, surface="rag", visible=3))[0] == "Success@3"
    assert "100% of the queries" in ir.advise(qrels, run).fits[0].why


def test_binary_labels_with_several_relevant_are_for_average_precision() -> None:
    qrels, run = collection(40, 20, 5, 20)
    assert texts(ir.advise(qrels, run)) == ["AP", "nDCG@10"]
    deep, lists = collection(40, 20, 5, 1000)
    assert texts(ir.advise(deep, lists)) == ["AP@20", "nDCG@10", "R@1000"]


def test_a_cutoff_deeper_than_the_judgments_is_warned_of_and_not_chosen_by_itself() -> None:
    qrels, run = collection(40, 3, 2, 50)
    asked = ir.advise(qrels, run, visible=30)
    assert warned(
        asked,
        "rank 30 is deeper than the judgments, which reach down to rank 3: 90% of the first "
        "30 documents",
    )
    assert any("judged_only=True" in text for text in texts(asked))
    assert ir.advise(qrels, run).cutoffs == (3,)
    assert not warned(ir.advise(qrels, run), "deeper")


@pytest.mark.parametrize(
    ("qrels", "run", "words"),
    [
        ({"q": {"a": 1}}, {"q": ["x", "y"]}, "no returned document is judged"),
        ({"q": {"a": 0}}, {"q": ["a"]}, "no judged document has a grade above 0"),
        ({"q": {"a": 5, "b": 1}}, {"q": ["a"]}, "the lowest grade is 1"),
        ({"q": {"a": 0.5, "b": 0}}, {"q": ["a"]}, "need rel=0.5"),
        ({"q": {"a": -1, "b": 1}}, {"q": ["b", "a"]}, "the lowest grade is -1"),
        ({"q": {"a": 100, "b": 0}}, {"q": ["b", "a"]}, "gain=exp2 would make it 1e+30"),
        (
            {"q": {"a": 1, "b": 0}, "p": {"c": 0}},
            {"q": ["a"]},
            "1 of 2 queries have no relevant document",
        ),
        ({"q": {"a": 1, "b": 0}, "p": {"c": 1}}, {"q": ["a"]}, "1 of 2 queries are not answered"),
        (
            {"q": {"a": 1, "b": 0}},
            {"q": {"a": 1.0, "b": 1.0}},
            "in 100% of the queries a judged document in the first",
        ),
        ({"q": {"a": 1, "b": 0}}, {"q": ["a", "b"]}, "1 queries are few"),
    ],
)
def test_what_stands_in_the_way_is_said(qrels: Any, run: Any, words: str) -> None:
    assert warned(ir.advise(qrels, run, surface="phone"), words)


def test_nothing_is_warned_of_where_nothing_is_wrong() -> None:
    qrels, run = collection(50, 20, 10, 20)
    assert ir.advise(qrels, run, surface="phone").warnings == ()


def test_precision_that_cannot_be_reached_is_told_with_its_ceiling() -> None:
    qrels, run = collection(50, 20, 2, 20)
    advice = ir.advise(qrels, run, visible=10)
    perfect = ir.evaluate(qrels, run, "P@10").mean()["P@10"]
    assert warned(advice, f"P@10 is {perfect:.2f} at most here")


def test_arrays_frames_and_mappings_are_taken_as_evaluate_takes_them() -> None:
    labels, scores = np.tile([2, 0, 1, 0], (40, 1)), np.tile([4.0, 3.0, 2.0, 1.0], (40, 1))
    arrays = ir.advise(labels, scores, visible=3)
    assert (texts(arrays), arrays.observed.complete) == (["nDCG@3"], True)
    assert [warning.partition(",")[0] for warning in arrays.warnings] == [
        "P@3 is 0.67 at most here"
    ]
    flat = ir.advise(labels.ravel(), scores.ravel(), visible=3, group=[4] * 40)
    assert flat.observed == arrays.observed
    tables = ir.advise(
        {str(q): dict(zip("abcd", map(float, row), strict=True)) for q, row in enumerate(labels)},
        {str(q): dict(zip("abcd", map(float, row), strict=True)) for q, row in enumerate(scores)},
        visible=3,
    )
    assert texts(tables) == texts(arrays)
    assert tables.observed.grades == arrays.observed.grades


def test_ratings_without_end_are_counted_not_listed() -> None:
    seen = ir.advise({"q": {f"d{i}": i / 7 for i in range(40)}}, {"q": ["d1"]}).observed
    assert (seen.n_grades, dict(seen.grades), seen.highest) == (40, {}, 39 / 7)


def test_grades_above_0_are_counted_of_more_grades_than_are_listed_too() -> None:
    rising = {"q": {f"d{grade}": float(grade) for grade in range(25)}}
    falling = {"q": {f"d{grade}": -float(grade) for grade in range(25)}}
    run = {"q": ["d1", "d2"]}

    assert ir.advise(rising, run).observed.levels == 24
    below = ir.advise(falling, run)
    assert below.observed.levels == 0
    assert warned(below, "no judged document has a grade above 0")


@pytest.mark.parametrize("visible", ["5", 5.0, True])
def test_what_is_visible_is_a_whole_number(visible: Any) -> None:
    with pytest.raises(ir.OptionError, match="expected a whole number from 1 on"):
        ir.advise({"q": {"a": 1}}, {"q": ["a"]}, visible=visible)


def test_how_many_are_visible_is_asked_for() -> None:
    qrels, run = collection(40, 10, 3, 10)
    assert warned(
        ir.advise(qrels, run, surface="carousel"), "5 is assumed; set it with --visible N"
    )
    with pytest.raises(ir.OptionError, match="visible=0: expected a whole number from 1 on"):
        ir.advise(qrels, run, visible=0)
    with pytest.raises(ir.OptionError, match=r"surface=tablet: expected one of phone \| desktop"):
        ir.advise(qrels, run, surface="tablet")


def test_nothing_to_look_at_is_refused() -> None:
    with pytest.raises(ir.InputError, match="expected some"):
        ir.advise(np.zeros((0, 3)), np.zeros((0, 3)))


def test_measures_of_judged_documents_alone_are_not_offered_under_positive_only_labels() -> None:
    qrels = {f"q{number}": {"d0": 1, "d5": 1} for number in range(40)}
    run = {query: [f"d{place}" for place in range(10)] for query in qrels}
    advice = ir.advise(qrels, run, visible=5)
    assert not any("Bpref" in text or "judged_only" in text for text in texts(advice))
    assert advice.observed.labels == "positive-only"
    assert warned(
        advice,
        "the labels are positive-only: 80% of the first 5 documents have no label and count "
        "as not relevant",
    )
    assert warned(
        advice,
        "Bpref, AUC and judged_only measures are not offered: no judged document is known not "
        "to be relevant",
    )
    assert not warned(advice, "deeper than the judgments")


def test_measures_of_judged_documents_alone_are_offered_where_the_kind_of_labels_is_declared() -> (
    None
):
    grades = {f"q{number}": {"d0": 1, "d5": 1} for number in range(40)}
    run = {query: [f"d{place}" for place in range(10)] for query in grades}
    advice = ir.advise(ir.Qrels(grades, labels_are="pooled"), run, visible=5)
    assert "Bpref" in texts(advice)
    assert not warned(advice, "not offered")


def test_ratings_offer_the_graded_measure_of_judged_documents_and_not_bpref() -> None:
    qrels = {f"q{number}": {"d0": 5, "d5": 2} for number in range(40)}
    run = {query: [f"d{place}" for place in range(10)] for query in qrels}
    advice = ir.advise(qrels, run, visible=5)
    assert "nDCG(judged_only=True)@5" in texts(advice)
    assert "Bpref" not in texts(advice)
    assert warned(advice, "Bpref and AUC are not offered")
