"""What a page warns of: when, with which numbers, and when not."""

import pytest

import idealrank as ir
from idealrank.pages.page.cautions import cautions
from idealrank.reports.subject import Subject

N = 60
QRELS = {f"q{i}": {"x": 1, "z": 0} for i in range(N)}


def subject(a, b, measures=("RR@5",), **options) -> Subject:
    evaluations = tuple(
        ir.evaluate(QRELS, ir.Run(run, name=name), ir.with_companions(measures), **options)
        for name, run in (("old", a), ("new", b))
    )
    return Subject(
        evaluations=evaluations,
        measures=evaluations[0].measures[:1],
        comparison=ir.compare(*evaluations),
    )


def ranked(rank_of) -> dict[str, list[str]]:
    """Judged documents alone: x at a rank, below others known not to be relevant."""
    return {query: (["z", "x"] if rank_of(i) == 2 else ["x", "z"]) for i, query in enumerate(QRELS)}


def test_nothing_is_said_where_all_is_well():
    assert cautions(subject(ranked(lambda i: 2), ranked(lambda i: 1 + (i % 4 == 0)))) == []


def test_queries_without_answer_are_counted_and_their_fate_told():
    some = {query: list_ for query, list_ in ranked(lambda i: 1).items() if not query.endswith("7")}

    said = cautions(subject(ranked(lambda i: 2), some))

    assert said[0].startswith("new does not answer 6 of 60 judged queries. They count as 0")


def test_unjudged_documents_are_told_with_the_share_of_each_run():
    said = cautions(subject(ranked(lambda i: 2), {query: ["u", "v", "x"] for query in QRELS}))

    assert said[0].startswith(
        "Unjudged: 66.7% in new, 0.0% in old of the first 5 documents. They count as not relevant"
    )


def test_a_verdict_whose_sign_hangs_on_unjudged_documents_is_doubted():
    a = ranked(lambda i: 1 + (i % 3 == 0))
    b = {query: ["u", "v", "x", "z"] for query in QRELS}

    assert any(
        one.startswith("On judged documents alone new is ahead of old by +0.167 instead of -0.500")
        for one in cautions(subject(a, b))
    )


def test_a_near_tie_says_what_these_queries_could_have_seen():
    a, b = ranked(lambda i: 1 + i % 2), ranked(lambda i: 1 + (i + (i % 5 == 0)) % 2)
    shown = subject(a, b)
    row = shown.comparison["RR@5"]

    said = cautions(shown)

    assert row.verdict == "undecided"
    # as its interval
    assert (
        f"The difference of new and old, {row.difference:+.3f}, is smaller than "
        f"{row.detectable:.3f}, the" in said[0]
    )
    assert "Undecided does not mean equal" in said[0]
    assert "have the same RR@5 on" in said[1]


@pytest.mark.parametrize(("ties", "told"), [("docid", True), ("expected", False)])
def test_equal_scores_are_told_where_a_convention_orders_them(ties, told):
    tied = {query: {"x": 1.0, "z": 1.0} for query in QRELS}

    said = cautions(subject(ranked(lambda i: 1), tied, convention=f"standard,ties={ties}"))

    assert (
        any(
            one.startswith("new gives equal scores to 120 documents on 60 of 60 queries")
            for one in said
        )
        == told
    )


def test_a_run_of_other_queries_is_told_first():
    with pytest.warns(ir.errors.IdealrankWarning):
        one = ir.evaluate(QRELS, {"p": ["x"]}, "RR")

    assert cautions(Subject(evaluations=(one,), measures=one.measures))[0].startswith(
        "Run run answers none of the 60 judged queries"
    )
