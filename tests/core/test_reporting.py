"""What a page shows is what the other functions say: values of `evaluate`, contributions of
`explain`, means with their intervals.
"""

import functools
from pathlib import Path

import numpy as np
import pytest

import idealrank as ir
from idealrank.analysis.comparison import intervals
from idealrank.analysis.gate import Contract
from idealrank.conventions import Convention
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.io.read import read_qrels, read_run
from idealrank.pages.page import html
from idealrank.pages.report.gather import gather, most_queries, queries_first, room_for_lists
from idealrank.pages.report.material import ReportMaterial, with_gate
from idealrank.reports.subject import Subject

PYDOCS = Path(__file__).parents[2] / "examples" / "pydocs"


@functools.cache
def judgments() -> Qrels:
    return read_qrels(PYDOCS / "qrels.txt")


@functools.cache
def demo_run(name: str) -> Run:
    return read_run(PYDOCS / f"{name}.run")


def shown(
    *measures: str,
    convention: str = "standard",
    names: tuple[str, ...] = ("bm25", "minilm"),
    **others: object,
) -> Subject:
    """The demo, gathered."""
    qrels, runs = judgments(), tuple(demo_run(name) for name in names)
    evaluations = tuple(ir.evaluate(qrels, run, measures, convention) for run in runs)
    comparison = ir.compare(*evaluations) if len(runs) > 1 else None
    return gather(
        ReportMaterial(
            evaluations=evaluations,
            measures=evaluations[0].measures,
            comparison=comparison,
            qrels=qrels,
            runs=runs,
            **others,
        )  # type: ignore[arg-type]
    )


@pytest.fixture(scope="module")
def subject() -> Subject:
    return shown("nDCG@10", "RR", queries=PYDOCS / "queries.tsv")


def test_values_are_those_of_evaluate_and_companions_stand_beside_them(subject: Subject) -> None:
    for shown_, name in zip(subject.evaluations, ("bm25", "minilm"), strict=True):
        plain = ir.evaluate(
            PYDOCS / "qrels.txt",
            PYDOCS / f"{name}.run",
            [str(measure) for measure in shown_.measures],
        )

        assert list(shown_.queries) == list(plain.queries)
        assert np.array_equal(shown_.values, plain.values, equal_nan=True)
        assert np.array_equal(shown_.scored, plain.scored)
        assert [str(measure) for measure in shown_.measures[2:5]] == [
            "Judged@10",
            "NumRet@10",
            "nDCG(judged_only=True)@10",
        ]


@pytest.mark.parametrize(
    ("measure", "convention"),
    [
        ("nDCG@10", "standard"),
        ("AP", "standard"),
        ("P@5", "standard,ties=best"),
        ("nDCG@10", "sklearn"),
    ],
)
def test_contributions_and_grades_are_those_of_explain(measure: str, convention: str) -> None:
    lists = shown(measure, convention=convention).lists
    assert len(lists) >= 58

    for query in list(lists)[:12]:
        for number, name in enumerate(("bm25", "minilm")):
            said = ir.explain(judgments(), demo_run(name), query, measure, convention).rows
            found = lists[query].runs[number]
            assert found is not None
            top = said[: len(found.documents)]
            assert found.documents == tuple(row.document for row in top)
            assert found.grades == tuple(row.grade for row in top)
            assert found.added == tuple(row.contribution for row in top)
            assert found.tied == tuple(row.tie is not None for row in top)
            assert found.length == len(said)


def test_a_measure_that_explain_refuses_has_lists_without_contributions() -> None:
    listing = next(iter(shown("ERR@5").lists.values())).runs[0]

    assert listing is not None
    assert set(listing.added) == {None}
    assert len(listing.documents) == 10


def test_curves_go_through_the_values_of_each_cutoff(subject: Subject) -> None:
    curve = subject.curves[0]

    assert (curve.measure, curve.cutoffs) == ("nDCG", (1, 2, 3, 5, 10, 20, 30, 50, 100))
    for name in ("bm25", "minilm"):
        asked = [f"nDCG@{cutoff}" for cutoff in curve.cutoffs]
        of = intervals(ir.evaluate(PYDOCS / "qrels.txt", PYDOCS / f"{name}.run", asked))
        assert curve.means[name] == tuple(of[text] for text in asked)


def test_the_largest_losses_and_gains_come_first(subject: Subject) -> None:
    a, b = (one["nDCG@10"] for one in subject.evaluations)
    order = [query for _, query in sorted(zip(b - a, subject.queries, strict=True))]

    assert list(subject.lists)[:4] == [order[0], order[-1], order[1], order[-2]]
    assert set(subject.lists) == set(subject.queries)


def test_texts_come_from_the_file(subject: Subject) -> None:
    lines = (
        line.split("\t")
        for line in (PYDOCS / "queries.tsv").read_text(encoding="utf-8").splitlines()
    )

    assert subject.query_texts == dict(lines)


def test_means_are_those_of_the_comparison_or_have_intervals_of_their_own(subject: Subject) -> None:
    assert subject.comparison is not None
    assert subject.means == subject.comparison.means

    alone = shown("nDCG@10", names=("bm25",))
    assert alone.means["nDCG@10"]["bm25"] == intervals(alone.evaluations[0])["nDCG@10"]


def test_documents_judged_relevant_are_there_the_best_first(subject: Subject) -> None:
    qrels = read_qrels(PYDOCS / "qrels.txt")
    for query, lists in subject.lists.items():
        grades = [grade for _, grade in lists.relevant]
        assert (
            grades
            == sorted((grade for grade in qrels[query].values() if grade > 0), reverse=True)[:10]
        )
        assert all(qrels[query][document] == grade for document, grade in lists.relevant)


def test_runs_on_other_queries_are_lined_up() -> None:
    qrels = ir.Qrels({"q1": {"x": 1}, "q2": {"x": 1}})
    runs = Run({"q1": ["x"]}, name="a"), Run({"q2": ["y", "x"], "q9": ["x"]}, name="b")
    convention = Convention.of("standard,missing=left-out,without_judgments=evaluated")
    evaluations = tuple(ir.evaluate(qrels, run, "RR", convention) for run in runs)

    found = gather(
        ReportMaterial(
            evaluations=evaluations, measures=evaluations[0].measures, qrels=qrels, runs=runs
        )
    )

    assert [list(one.queries) for one in found.evaluations] == [["q1", "q2", "q9"]] * 2
    assert [one.mean()["RR"] for one in found.evaluations] == [
        one.mean()["RR"] for one in evaluations
    ]
    assert [listing is None for listing in found.lists["q1"].runs] == [False, True]
    assert [listing is None for listing in found.lists["q9"].runs] == [True, False]


def test_what_closed_a_gate_comes_first() -> None:
    qrels = {f"q{i}": {"x": 1} for i in range(9)}
    good = ir.evaluate(qrels, {q: ["x"] for q in qrels}, "RR")
    bad = ir.evaluate(
        qrels, {q: ["y"] * (q != "q0") + ["z"] * (q == "q7") + ["x"] for q in qrels}, "RR"
    )
    gated = ir.gate(bad, good, contracts=[Contract(query="q5")])

    assert not gated.passed
    assert gated.closing_queries[:2] == ("q5", "q7")
    assert list(queries_first([good, bad], good.measures[0], [(0, 1)], gated))[:2] == ["q5", "q7"]


def test_values_of_many_queries_leave_less_room() -> None:
    one = ir.evaluate({f"q{i}": {"x": 1} for i in range(10_000)}, {"q0": ["x"]}, "RR")

    few, many = room_for_lists([one] * 10, 3, {}), room_for_lists([one], 1, {})
    assert few < many < 1_000_000
    assert most_queries(few, 10, 10) < most_queries(many, 1, 10)


def test_relevant_documents_below_the_listing_keep_their_ranks(subject: Subject) -> None:
    for query in list(subject.lists)[:12]:
        for number, name in enumerate(("bm25", "minilm")):
            rows = ir.explain(PYDOCS / "qrels.txt", PYDOCS / f"{name}.run", query, "nDCG@10").rows
            found = subject.lists[query].runs[number]
            assert found is not None
            deeper = [row for row in rows[len(found.documents) :] if (row.grade or 0) > 0]
            assert found.below == tuple(
                (row.document, row.rank, row.grade, row.contribution) for row in deeper
            )


RUNS = [
    {f"q{i}": ["y", "x"] if i else ["x"] for i in range(8)},
    {f"q{i}": ["x", "y"] for i in range(8)},
]
QRELS = {f"q{i}": {"x": 1} for i in range(8)}


def test_report_takes_whatever_holds_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html, "bundle", lambda *_: "0")  # plots have tests of their own
    both = [ir.evaluate(QRELS, run, ir.with_companions("RR")) for run in RUNS]
    sources = {"evaluations": both, "qrels": QRELS, "runs": RUNS}

    assert "run (2) is better than run" in ir.report(ir.compare(*both), **sources)  # type: ignore[arg-type]
    assert "The gate is closed" in ir.report(ir.gate(*both), **sources)  # type: ignore[arg-type]
    assert "run (2)" in ir.report(both)
    page = ir.report(both[0], tmp_path / "one.html", qrels=QRELS, runs=RUNS[0])
    assert (tmp_path / "one.html").read_text(encoding="utf-8") == page


def test_report_refuses_what_does_not_belong_together() -> None:
    both = [ir.evaluate(QRELS, run, "RR") for run in RUNS]
    compared = ir.compare(*both)

    with pytest.raises(
        ir.IncompatibleError,
        match=r"run: found judgments and a run whose RR is 1, expected the evaluation's own",
    ):
        ir.report(compared, evaluations=both, qrels=QRELS, runs=RUNS[::-1])
    with pytest.raises(
        ir.IncompatibleError, match=r"evaluations: found run, expected run, run \(2\)"
    ):
        ir.report(compared, evaluations=both[:1])
    with pytest.raises(
        ir.InputError, match="evaluations: found none, expected the evaluations of the Comparison"
    ):
        ir.report(compared)
    with pytest.raises(
        ir.InputError, match="runs: found 1, expected one for each of the 2 evaluations"
    ):
        ir.report(both, qrels=QRELS, runs=RUNS[:1])
    with pytest.raises(ir.InputError, match="runs: found no qrels beside them"):
        ir.report(both, runs=RUNS)
    with pytest.raises(ir.InputError, match="result: found str, expected an Evaluation"):
        ir.report("qrels.txt")  # type: ignore[arg-type]
    with pytest.raises(ir.IncompatibleError, match="AP: run 'run' was not evaluated by it"):
        ir.report(both, measures="AP")


def test_a_gate_with_two_baselines_is_compared_with_each() -> None:
    old, new = (ir.evaluate(QRELS, run, ir.with_companions("RR")) for run in RUNS)
    older = ir.evaluate(
        QRELS, {query: ["z", "y", "x"] for query in QRELS}, ir.with_companions("RR")
    )
    gated = ir.gate(new, old, older)

    found = with_gate(
        ReportMaterial(evaluations=(new, old, older), measures=new.measures[:1]), gated
    ).comparison

    assert found is not None
    assert [(pair.a, pair.b) for pair in found.pairs] == [("run (2)", "run"), ("run (3)", "run")]
    for pair, check in zip(found.pairs, gated.checks, strict=True):
        row = pair.measures["RR"]
        assert (row.mean_a, row.mean_b, row.difference) == (
            check.mean_baseline,
            check.mean_run,
            check.difference,
        )
        assert (row.wins, row.ties, row.losses, row.unjudged_b) == (
            check.wins,
            check.ties,
            check.losses,
            check.unjudged_run,
        )
        alone = ir.compare(*((old, new) if pair.a == "run (2)" else (older, new)), measures="RR")[
            "RR"
        ]
        # Both pairs are one family: the interval is wider than that of a pair alone, and never
        # contradicts p, which is the gate's.
        assert row.interval[0] <= alone.interval[0] + 1e-9
        assert row.interval[1] >= alone.interval[1] - 1e-9
        assert (row.p_corrected <= 0.05) == (row.interval[0] > 0 or row.interval[1] < 0)
        assert row.p_corrected == check.p_two_sided >= alone.p_corrected
        assert (row.p, row.effect) == (alone.p, pytest.approx(alone.effect))
