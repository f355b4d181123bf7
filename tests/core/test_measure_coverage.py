"""Coverage by measure: queries scored, and queries without a document above a measure's own
threshold.
"""

import json
from collections.abc import Mapping

import numpy as np
import pytest

import idealrank as ir
from idealrank.evaluation.coverage import MeasureCoverage
from idealrank.io.evaluation_journal import EvaluationJournal
from idealrank.reports.views.coverage_tables import measure_coverage_table
from idealrank.reports.views.evaluation import report_parts, table_report

pytestmark = pytest.mark.filterwarnings("ignore:grades 1 to 5 look like ratings")

RATINGS = {
    "u1": {"a": 5, "b": 2},
    "u2": {"a": 3},
    "u3": {"b": 1, "c": 2},
    "u4": {"c": 4},
}
LISTS = {user: ["a", "b", "c"] for user in RATINGS}
MEASURES = ["R@20", "R(rel=4)@20", "nDCG(gain={1:0,2:0,3:0,4:1,5:1})@10", "P(rel=2)@5"]


def counted(qrels: Mapping[str, Mapping[str, float]], threshold: float) -> int:
    """Queries without a grade that reaches the threshold."""
    return sum(max(grades.values()) < threshold for grades in qrels.values())


def test_queries_without_a_relevant_document_are_counted_by_the_threshold_of_each_measure() -> None:
    by_measure = ir.evaluate(RATINGS, LISTS, MEASURES).coverage.by_measure
    found = {text: counts.no_relevant for text, counts in by_measure.items()}
    assert found == {
        "R@20": counted(RATINGS, 1),
        "R(rel=4)@20": counted(RATINGS, 4),
        "nDCG(gain={1:0,2:0,3:0,4:1,5:1})@10": counted(RATINGS, 4),
        "P(rel=2)@5": counted(RATINGS, 2),
    }


@pytest.mark.parametrize("seed", range(5))
def test_left_out_queries_are_those_without_a_relevant_document(seed: int) -> None:
    rng = np.random.default_rng(seed)
    users = [f"u{number}" for number in range(60)]
    qrels = {
        user: {f"i{item}": int(rng.integers(1, 6)) for item in range(rng.integers(1, 4))}
        for user in users
    }
    lists = {user: [f"i{item}" for item in rng.permutation(6)] for user in users}
    measures = ["R(rel=4)@20", "AP(rel=5)", "RR(rel=3)@10", "nDCG(gain={1:0,2:0,3:0,4:0,5:1})@10"]
    run = ir.evaluate(qrels, lists, measures, "standard,no_relevant=left-out")
    for column, (text, threshold) in enumerate(zip(measures, (4, 5, 3, 5), strict=True)):
        counts = run.coverage.by_measure[text]
        assert counts.no_relevant == counted(qrels, threshold) > 0
        assert counts.scored == int(run.scored[:, column].sum()) == len(users) - counts.no_relevant


def test_parts_add_up_to_the_counts_of_the_whole() -> None:
    whole = ir.evaluate(RATINGS, LISTS, MEASURES)
    parts = [ir.evaluate({user: RATINGS[user]}, {user: LISTS[user]}, MEASURES) for user in RATINGS]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merge(part)
    assert merged.coverage.by_measure == whole.coverage.by_measure


def test_arrays_have_the_counts_of_each_measure() -> None:
    labels = np.array([[5, 2, 0], [3, 0, 0], [0, 0, 0]])
    run = ir.evaluate(labels, np.array([[3.0, 2, 1]] * 3), ["R(rel=4)@2", "R@2"])
    assert run.coverage.by_measure["R(rel=4)@2"] == MeasureCoverage(scored=3, no_relevant=2)
    assert run.coverage.by_measure["R@2"] == MeasureCoverage(scored=3, no_relevant=1)


def test_selected_and_joined_measures_keep_their_counts() -> None:
    one, other = (
        ir.evaluate(RATINGS, LISTS, MEASURES[:1]),
        ir.evaluate(RATINGS, LISTS, MEASURES[1:]),
    )
    joined = one.join(other)
    assert {text: counts.no_relevant for text, counts in joined.coverage.by_measure.items()} == {
        text: counts.no_relevant
        for text, counts in {**one.coverage.by_measure, **other.coverage.by_measure}.items()
    }
    assert list(joined.select("R(rel=4)@20").coverage.by_measure) == ["R(rel=4)@20"]


def test_a_journal_keeps_the_counts(tmp_path) -> None:
    path = tmp_path / "knn.run"
    path.write_text(
        "".join(
            f"{user} Q0 {item} 1 {3 - rank} knn\n"
            for user, items in LISTS.items()
            for rank, item in enumerate(items)
        )
    )
    measures = ir.parse_measure("R(rel=4)@20"), ir.parse_measure("R@20")
    evaluation = ir.evaluate(RATINGS, str(path), measures)
    EvaluationJournal(str(tmp_path / "out.journal"), {"measures": ["R"]}).add(str(path), evaluation)
    again = EvaluationJournal(str(tmp_path / "out.journal"), {"measures": ["R"]})
    found = again.find(str(path), "knn", measures, evaluation.convention)
    assert found is not None
    assert found.coverage.by_measure == evaluation.coverage.by_measure


def test_json_has_the_counts_of_every_measure() -> None:
    counts = ir.evaluate(RATINGS, LISTS, MEASURES).coverage.as_dict()["by_measure"]
    assert json.loads(json.dumps(counts))["R(rel=4)@20"] == {"scored": 4, "no_relevant": 2}


def test_the_table_lists_measures_whose_counts_differ_from_those_of_the_run() -> None:
    runs = [
        ir.evaluate(RATINGS, LISTS, ["R@20", "R(rel=4)@20"], name=name) for name in ("knn", "pop")
    ]
    rows = [[cell.text for cell in row] for row in measure_coverage_table(runs).rows]
    assert rows == [["R(rel=4)@20", "every run", "4", "2"]]


def test_there_is_no_table_by_measure_where_every_measure_has_the_counts_of_the_run() -> None:
    run = ir.evaluate(RATINGS, LISTS, ["R@20", "RR"])
    assert not measure_coverage_table([run]).rows
    assert report_parts([run])[-1].columns[0].title == "coverage"


def test_a_convention_of_an_unstable_sort_says_so_beside_tied_documents() -> None:
    """Only where some documents are tied, and only under a convention whose tool does not keep
    their order.
    """
    qrels = {"q": {f"d{number}": number % 3 for number in range(20)}}
    tied, ordered = (
        {"q": {f"d{number}": score(number) for number in range(20)}}
        for score in (lambda _: 1.0, float)
    )
    said = "in lists of 16 or more documents the tool puts them in an order of its own"
    assert said in " ".join(
        table_report([ir.evaluate(qrels, tied, "nDCG@10", convention="ranx")]).split()
    )
    assert said not in " ".join(
        table_report([ir.evaluate(qrels, ordered, "nDCG@10", convention="ranx")]).split()
    )
    assert said not in " ".join(table_report([ir.evaluate(qrels, tied, "nDCG@10")]).split())
