"""`reconcile` finds numbers of other thresholds and forms of a measure, as papers, LETOR and
recommender libraries print them.
"""

import json
from functools import cache
from pathlib import Path

import pytest

import idealrank as ir
from idealrank.analysis.reconciliation.convention_search import Search
from idealrank.analysis.reconciliation.result import Stated
from idealrank.analysis.reconciliation.trials import Trials
from idealrank.conventions import Convention
from idealrank.measures.other_forms import other_forms
from idealrank.measures.parse import parse_measure
from tests.conftest import shared_file
from tests.golden.records import Golden

GOLDEN = Path(__file__).parents[1] / "golden"


def forms_of(measure: str, *grades: float) -> list[str]:
    return [str(form.measure) for form in other_forms(parse_measure(measure), grades)]


# --- forms of a measure ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measure", "forms"),
    [
        ("RR", ["RR(rel=2)", "RR(rel=3)"]),
        ("RR(rel=2)", ["RR(rel=1)", "RR(rel=3)"]),
        ("AP", ["AP(rel=2)", "AP(rel=3)"]),
        ("R", ["R(rel=2)", "R(rel=3)"]),
        ("nDCG", ["MeanNDCG", "nDCG(rel=2)", "nDCG(gain=binary,rel=2)"]),
        ("nDCG(gain=exp2)@3", ["SDCG@3", "MeanNDCG(gain=exp2)", "nDCG(gain=exp2,rel=2)@3"]),
        ("SDCG@3", ["nDCG@3"]),
        ("MeanNDCG", ["nDCG"]),
        ("RelP@3", ["R@3", "P@3", "RelP(rel=2)@3"]),
        ("AP(divisor=reachable)@3", ["AP@3"]),
        ("AP@3", ["AP(divisor=reachable)@3", "AP(rel=2)@3"]),
        ("NumQ", []),
    ],
)
def test_forms_of_a_measure_come_plainest_first(measure: str, forms: list[str]) -> None:
    found = forms_of(measure, 1, 2, 3)

    assert found[: len(forms)] == forms
    assert bool(found) == bool(forms)
    assert measure not in found
    assert len(set(found)) == len(found)


def test_thresholds_are_the_grades_of_the_judgments() -> None:
    ratings = [half / 2 for half in range(1, 11)]

    assert forms_of("RR", 1) == []
    assert forms_of("RR", 4, 5) == ["RR(rel=4)", "RR(rel=5)"]
    assert forms_of("RR", *ratings) == [f"RR(rel={rating:g})" for rating in ratings if rating != 1]
    assert len(forms_of("RR", *range(2, 200))) == 10


def test_every_form_is_a_measure_that_its_text_gives_back() -> None:
    for measure in ("nDCG@5", "R@5", "P@5", "AP@5", "SDCG@5", "MeanNDCG", "RelP@5", "RR"):
        for form in other_forms(parse_measure(measure), [1.0, 2.0]):
            assert parse_measure(str(form.measure)) == form.measure
            assert form.words


# --- published numbers ----------------------------------------------------------------------------


@cache
def dl19() -> Trials:
    folder = ("data", "dl19")
    run = ir.read_run(shared_file(*folder, "run.msmarco-v1-passage.bm25-default.dl19.txt.gz"))
    return Trials.of_run(ir.read_qrels(shared_file(*folder, "qrels.dl19-passage.txt.gz")), run)


@pytest.mark.parametrize(
    ("measure", "published", "form"),
    [
        ("AP", "0.3013", "AP(rel=2)"),
        ("R@100", "0.4910", "R(rel=2)@100"),
        ("R@1000", "0.7501", "R(rel=2)@1000"),
    ],
)
def test_numbers_of_trec_deep_learning_lead_to_the_threshold(
    measure: str, published: str, form: str
) -> None:
    """As for DL-Hard: trec_eval -l 2, while the measure is printed without a threshold."""
    standard = Convention.of("standard")
    found = Search(dl19(), Stated.parse(published), parse_measure(measure), standard).run()

    best = found.matches[0]
    assert (best.found, best.measure, best.form) == ("other form", form, "relevant from grade 2")
    assert best.conventions == ("standard",)
    assert {"trec_eval-9", "trec_eval-10"} <= {
        name for match in found.matches for name in match.conventions
    }
    assert f"(as {form}: relevant from grade 2)" in str(found)
    assert "rel= threshold" not in str(found)


# --- numbers of tools -----------------------------------------------------------------------------

USERS = {"u": {"a": 3, "b": 2, "c": 1}, "v": {"d": 2, "e": 1}, "w": dict.fromkeys("fghij", 3)}
LISTS = {"u": ["a", "x", "c", "b"], "v": ["e", "y", "d", "z"], "w": ["x", "f", "g", "y"]}


@pytest.mark.parametrize(
    ("asked", "by", "convention"),
    [
        ("R@3", "RelP@3", "standard"),
        ("R@3", "RelP(rel=2)@3", "standard"),
        ("AP@3", "AP(divisor=reachable)@3", "standard"),
        ("AP@3", "AP(divisor=reachable,rel=2)@3", "standard"),
        ("nDCG@3", "nDCG(rel=2)@3", "standard"),
        ("nDCG@3", "nDCG(rel=2)@3", "rectools"),
        ("nDCG@3", "nDCG(gain=binary,rel=2)@3", "lenskit"),
        ("nDCG", "MeanNDCG", "letor"),
    ],
)
def test_the_form_is_found_by_its_number(asked: str, by: str, convention: str) -> None:
    value = ir.evaluate(USERS, LISTS, by, convention).mean()[by]

    found = ir.reconcile(USERS, LISTS, repr(value), asked)

    (match, *_) = [
        match for match in found.matches if match.measure == by and convention in match.conventions
    ]
    assert match.found == "other form"
    assert found.matches[0].value == pytest.approx(value, abs=1e-12)
    record = json.loads(json.dumps(found.as_dict()))["matches"][found.matches.index(match)]
    assert (record["measure"], record["form"]) == (by, match.form)


PRESETS_OF = {
    ("rectools", "NDCG(k)"): ("nDCG@2", "rectools"),
    ("rectools", "NDCG(k, divide_by_achievable=True)"): ("nDCG@2", "rectools-ideal"),
    ("implicit", "ranking_metrics_at_k ndcg"): ("nDCG@2", "implicit"),
    ("lenskit", "Recall(n=k)"): ("R@2", "lenskit"),
    ("tensorflow-ranking", "keras.metrics.NDCGMetric per list"): ("nDCG@2", "tf-ranking"),
    ("LETOR Eval-Score-4.0.pl", "NDCG@k"): ("nDCG@3", "letor"),
    ("MSLR eval-score-mslr.pl", "NDCG@k"): ("nDCG@5", "mslr"),
    ("MSLR eval-score-mslr.pl", "MeanNDCG"): ("nDCG", "mslr"),
}
FILES = (
    Golden.read_calls(GOLDEN / "peers.json", GOLDEN / "fixtures.json"),
    Golden.read_calls(GOLDEN / "recorded.json"),
)


@pytest.mark.parametrize("most", [4, pytest.param(None, marks=pytest.mark.slow, id="every")])
@pytest.mark.parametrize(("call", "expected"), PRESETS_OF.items())
def test_numbers_of_a_tool_lead_to_its_preset(
    call: tuple[str, str], expected: tuple[str, str], most: int | None
) -> None:
    """Recorded from the tool, on fixtures that it takes; the slow run takes all of them."""
    measure, preset = expected
    cutoff = parse_measure(measure).cutoff
    n_checked = 0
    for golden in FILES:
        for record in golden.records:
            if (record.peer, record.call, record.cutoff) != (*call, cutoff) or not record.value:
                continue
            if n_checked == most:
                break
            fixture = golden.fixtures[record.fixture]
            arrays = call[0].startswith(("LETOR", "MSLR", "tensorflow"))
            qrels = fixture.qrels(only_returned=arrays)
            found = ir.reconcile(qrels, fixture.run(), repr(record.value), measure)
            names = {name for match in found.matches for name in match.conventions}
            assert preset in names, str(record)
            n_checked += 1
    assert n_checked >= 3


def test_the_mean_of_lists_shorter_than_the_cutoff_leads_to_letor() -> None:
    """The pattern of LETOR's script: NDCG@10 far below NDCG@5, since short lists count as 0."""
    labels = [[2, 0, 1, 0, 1, 0, 0, 2, 0, 1], [1, 0, 2, 0, 0]]
    scores = [[10.0 - rank for rank in range(10)], [5.0 - rank for rank in range(5)]]
    flat = [item for row in labels for item in row], [item for row in scores for item in row]
    at_5, at_10 = (
        ir.evaluate(*flat, measure, "letor", group=[10, 5]).mean()[measure]
        for measure in ("nDCG@5", "nDCG@10")
    )
    assert at_10 < 0.6 * at_5

    found = ir.reconcile(*flat, f"{at_10:.4f}", "nDCG@10", "lightgbm", group=[10, 5])

    assert found.matches[0].conventions == ("letor", "mslr")
    assert "NDCG of lists shorter than the cutoff as 0 instead of as if padded" in (
        found.matches[0].words
    )
