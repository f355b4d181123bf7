"""The kind of labels: found in grades or declared, and what a verdict rests on under each."""

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import idealrank as ir
from idealrank._keys import read
from idealrank._sections import Section
from idealrank.data.label_kinds import Labels
from idealrank.errors import IncompatibleError, OptionError
from idealrank.live.canary.monitor_config import JudgmentsSection
from idealrank.reports.views.gate.sentences import hidden_drop
from idealrank.store import Store
from tests.conftest import examples

QUERIES = [f"q{number:03}" for number in range(200)]


def gold(rng: np.random.Generator) -> dict[str, dict[str, int]]:
    """One gold document a query among fifty."""
    return {query: {f"d{rng.integers(50)}": 1} for query in QUERIES}


def ranked(
    rng: np.random.Generator, qrels: dict[str, dict[str, int]], found: float, best: int
) -> dict[str, list[str]]:
    """Ten random documents a query, with the gold document from rank `best` + 1 on in a share of
    the queries.
    """
    run = {}
    for query, grades in qrels.items():
        documents = [f"d{document}" for document in rng.permutation(50)[:11]]
        relevant = next(iter(grades))
        documents = [document for document in documents if document != relevant][:10]
        if rng.random() < found:
            documents.insert(best + int(rng.integers(4)), relevant)
        run[query] = documents[:10]
    return run


def pair(
    seed: int = 1,
) -> tuple[dict[str, dict[str, int]], dict[str, list[str]], dict[str, list[str]]]:
    rng = np.random.default_rng(seed)
    qrels = gold(rng)
    return qrels, ranked(rng, qrels, 0.6, 4), ranked(rng, qrels, 0.9, 0)


@pytest.mark.parametrize(
    ("zeros", "kind"), [(0, "positive-only"), (9, "positive-only"), (10, "pooled"), (100, "pooled")]
)
def test_labels_are_pooled_if_a_tenth_of_the_queries_have_a_grade_of_0(
    zeros: int, kind: str
) -> None:
    qrels = {f"q{i}": {"x": 1, "y": 0} if i < zeros else {"x": 1} for i in range(100)}

    labels = ir.Qrels(qrels).labels

    assert (labels.kind, labels.found, labels.queries, labels.with_negatives) == (
        kind,
        True,
        100,
        zeros,
    )


def test_a_negative_grade_is_a_judgment_of_a_document_that_is_not_relevant() -> None:
    assert ir.Qrels({"q": {"x": 2, "spam": -2}}).labels.kind == "pooled"


def test_a_declared_kind_is_kept_by_every_way_to_the_evaluation() -> None:
    qrels, run, _ = pair()

    declared = ir.Qrels(qrels, labels_are="complete")
    by_option = ir.evaluate(qrels, run, "RR", labels_are="complete")

    assert ir.evaluate(declared, run, "RR").provenance.labels == by_option.provenance.labels
    assert by_option.provenance.labels is not None
    assert by_option.provenance.labels.as_dict() == {"kind": "complete", "found": False}


def test_a_declared_kind_that_the_grades_do_not_show_changes_the_fingerprint_which_adds_up() -> (
    None
):
    grades = {"p": {"a": 1}, "q": {"b": 2}}
    found, same, other = (
        ir.Qrels(grades, labels_are=kind).fingerprint
        for kind in (None, "positive-only", "complete")
    )
    parts = [
        ir.evaluate(
            ir.Qrels({query: grades[query]}, labels_are="complete"), {query: ["a", "b"]}, "RR"
        )
        for query in grades
    ]

    assert found == same != other
    assert parts[0].merge(parts[1]).provenance.judgments == other


def test_labels_of_parts_add_up_to_the_labels_of_the_whole() -> None:
    few, many = Labels.of(np.ones(95), np.arange(96)), Labels.of(np.zeros(15), np.arange(16))

    assert (few.kind, few.plus(many).kind) == ("positive-only", "pooled")
    assert few.plus(many).with_negatives == 15


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels_are": "gold"}, "expected one of complete, pooled, positive-only"),
        ({"sampled_negatives": 1.0}, "expected a share between 0 and 1"),
        ({"sampled_negatives": 0.3, "labels_are": "complete"}, "expected pooled ones"),
    ],
)
def test_an_impossible_declaration_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        ir.Qrels({"q": {"x": 1}}, **options)


def test_runs_by_labels_of_two_kinds_are_not_compared() -> None:
    qrels, a, b = pair()
    one, other = ir.evaluate(qrels, a, "RR"), ir.evaluate(qrels, b, "RR", labels_are="complete")

    with pytest.raises(IncompatibleError, match="positive-only and complete"):
        ir.compare(one, other)


@pytest.mark.parametrize("measure", ["nDCG@10", "RR@10", "AP", "P@10", "R@5", "HR@10"])
def test_every_measure_and_form_of_input_gives_a_verdict_under_positive_only_labels(
    measure: str,
) -> None:
    """Fair labels: each run misses some, so that nothing says that they come from one of them."""
    qrels, a, b = pair()

    of_tables = ir.compare(qrels, a, b, measures=measure)[measure]
    of_evaluations = ir.compare(
        *(ir.evaluate(qrels, run, measure) for run in (a, b)), measures=measure
    )[measure]

    assert of_tables.verdict == of_evaluations.verdict == "better"
    assert of_tables.tipping is None
    assert of_tables.basis is not None
    assert (of_tables.basis.kind, of_tables.basis.one_sided) == ("positive-only", None)


def test_random_chunks_are_worse_and_close_the_gate_under_positive_only_labels() -> None:
    rng = np.random.default_rng(2)
    qrels, _, good = pair()
    broken = {query: [f"r{number}" for number in rng.permutation(900)[:10]] for query in qrels}
    broken["q000"] = good["q000"]  # one query is answered as before

    for measure in ("R@5", "nDCG@5"):
        compared = ir.compare(qrels, good, broken, measures=measure)
        gated = ir.gate(qrels, broken, good, measures=measure)

        assert compared[measure].verdict == "worse"
        assert gated.outcome == "failed"


def test_labels_from_the_results_of_one_run_cannot_decide_against_the_other() -> None:
    """Labels are A's first relevant document: B, which moves other relevant ones up, looks
    worse.
    """
    rng = np.random.default_rng(3)
    a = {query: [f"d{document}" for document in rng.permutation(50)[:10]] for query in QUERIES}
    qrels = {query: {documents[int(rng.integers(10))]: 1} for query, documents in a.items()}
    b = {query: [f"d{document}" for document in rng.permutation(50)[:10]] for query in QUERIES}

    row = ir.compare(qrels, a, b, measures="RR")["RR"]

    assert row.p < 0.05
    assert row.verdict == "too few judgments"
    assert row.basis is not None
    assert row.basis.one_sided is not None
    assert (row.basis.one_sided.run, row.basis.one_sided.share) == ("a", 1.0)
    assert row.reversed().basis.one_sided.run == "b"
    plain = ir.compare(qrels, a, b, measures="RR", labels_are="complete")["RR"]
    assert plain.verdict == "worse"


def test_clicks_on_the_first_results_of_long_lists_are_one_sided_for_a_measure_without_a_cutoff() -> (  # noqa: E501
    None
):
    rng = np.random.default_rng(4)
    everything = [f"d{document}" for document in range(50)]
    a = {query: list(rng.permutation(everything)) for query in QUERIES}
    b = {query: list(rng.permutation(everything)) for query in QUERIES}
    qrels = {query: {documents[int(rng.integers(10))]: 1} for query, documents in a.items()}

    row = ir.compare(qrels, a, b, measures="RR")["RR"]

    assert row.verdict == "too few judgments"
    assert row.basis.one_sided.depth == 10


def test_labels_that_thin_out_in_complete_rankings_are_not_one_sided() -> None:
    rng = np.random.default_rng(5)
    everything = [f"d{document}" for document in range(100)]
    qrels = {query: {everything[0]: 1} for query in QUERIES}

    def run(spread: float) -> dict[str, list[str]]:
        lists = {}
        for query in QUERIES:
            documents = list(rng.permutation(everything[1:]))
            documents.insert(min(int(rng.exponential(spread)), 99), everything[0])
            lists[query] = documents
        return lists

    row = ir.compare(qrels, run(9), run(4), measures="RR")["RR"]

    assert row.verdict == "better"


def test_a_declared_source_withholds_the_verdict_between_it_and_others_alone() -> None:
    qrels, a, b = pair()
    third = ranked(np.random.default_rng(9), qrels, 0.3, 4)

    compared = ir.compare(qrels, a, b, third, measures="RR", names=["a", "b", "c"], labels_from="b")

    verdicts = {(one.a, one.b): one["RR"].verdict for one in compared.pairs}
    assert verdicts == {
        ("a", "b"): "too few judgments",
        ("a", "c"): "worse",
        ("b", "c"): "too few judgments",
    }
    with pytest.raises(OptionError, match="labels_from='d': found no run of that name"):
        ir.compare(qrels, a, b, measures="RR", labels_from="d")


def test_where_every_returned_document_has_a_label_the_kind_does_not_matter() -> None:
    qrels = {query: {"x": 1, "y": 0, "z": 0} for query in QUERIES}
    a = {query: ["y", "x"] for query in QUERIES}
    b = {query: ["x", "z"] for query in QUERIES}

    rows = [
        ir.compare(qrels, a, b, measures="RR@2", labels_are=kind)["RR@2"]
        for kind in (None, "complete", "pooled", "positive-only")
    ]

    assert {row.verdict for row in rows} == {"better"}
    assert [row.basis for row in rows] == [None] * 4


def naive_value(measure: str, documents: list[str], relevant: set[str]) -> float:
    """nDCG@4, R@4, P@4 and RR@4 of one list, by their definitions."""
    hits = [rank for rank, document in enumerate(documents[:4], start=1) if document in relevant]
    if measure == "nDCG@4":
        ideal = sum(1 / np.log2(rank + 1) for rank in range(1, min(len(relevant), 4) + 1))
        return float(sum(1 / np.log2(rank + 1) for rank in hits) / ideal) if relevant else 0.0
    if measure == "RR@4":
        return 1 / hits[0] if hits else 0.0
    return len(hits) / (max(len(relevant), 1) if measure == "R@4" else 4)


def expected_difference(
    measure: str,
    lists: tuple[list[str], list[str]],
    grades: dict[str, int],
    shares: tuple[float, float],
) -> float:
    """b - a over every way in which own unlabelled documents can be relevant, by its
    probability.
    """
    relevant = {document for document, grade in grades.items() if grade > 0}
    own = [
        (document, share)
        for place, share in enumerate(shares)
        for document in lists[place][:4]
        if document not in grades and document not in lists[1 - place][:4]
    ]
    total = 0.0
    for chosen in itertools.product((False, True), repeat=len(own)):
        chance = np.prod(
            [share if yes else 1 - share for yes, (_, share) in zip(chosen, own, strict=True)]
        )
        graded = relevant | {
            document for yes, (document, _) in zip(chosen, own, strict=True) if yes
        }
        values = [naive_value(measure, documents, graded) for documents in lists]
        total += float(chance) * (values[1] - values[0])
    return total


@pytest.mark.parametrize("measure", ["nDCG@4", "R@4", "P@4", "RR@4"])
def test_the_sensitivity_is_the_expectation_over_every_way_to_be_relevant(measure: str) -> None:
    rng = np.random.default_rng(11)
    qrels = {
        query: {"gold": 1} | ({"other": 1} if rng.random() < 0.3 else {}) for query in QUERIES[:60]
    }
    qrels |= {query: {"gold": 0} for query in QUERIES[:4]}  # nothing relevant
    runs = []
    for share in (0.4, 0.8):
        run = {}
        for query in qrels:
            documents = [f"d{document}" for document in rng.permutation(9)[:4]]
            if rng.random() < share:
                documents[int(rng.integers(4))] = "gold"
            run[query] = documents
        runs.append(run)
    row = ir.compare(qrels, *runs, measures=measure)[measure]
    assert row.difference > 0

    for step in row.basis.sensitivity:
        alone, turned = (
            np.mean(
                [
                    expected_difference(
                        measure, (runs[0][query], runs[1][query]), grades, (of_a, step.share)
                    )
                    for query, grades in qrels.items()
                ]
            )
            for of_a in (0.0, step.turning_share)
        )
        assert step.difference == pytest.approx(alone, abs=1e-9)
        assert turned == pytest.approx(0.0, abs=0.02)  # both factors are multiplied
    assert row.reversed().basis.sensitivity[0].difference == -row.basis.sensitivity[0].difference


def test_a_sensitivity_turns_at_a_larger_share_if_more_of_the_run_ahead_is_relevant() -> None:
    for seed in range(examples(10)):
        qrels, a, b = pair(seed)
        for measure in ("nDCG@10", "RR@10", "AP"):
            rows = ir.compare(qrels, a, b, measures=measure)[measure].basis.sensitivity
            shares = [1.0 if one.turning_share is None else one.turning_share for one in rows]

            assert shares == sorted(shares)
            assert [one.difference for one in rows] == sorted(one.difference for one in rows)


def test_the_json_of_compare_gate_and_robust_has_the_labels() -> None:
    qrels, a, b = pair()

    compared = ir.compare(qrels, a, b, measures="RR").as_dict()
    gated = ir.gate(qrels, b, a, measures="RR").as_dict()
    varied = ir.robust(qrels, a, b, "RR", variants=["cutoff"]).as_dict()

    assert (
        compared["labels"]
        == gated["labels"]
        == varied["labels"]
        == {"kind": "positive-only", "found": True}
    )
    assert varied["basis"]["kind"] == "positive-only"
    row = json.loads(json.dumps(compared["pairs"][0]["measures"]["RR"]["basis"]))
    assert [one["share"] for one in row["sensitivity"]] == [0.01, 0.05, 0.2]


def test_a_store_keeps_the_kind_of_labels(tmp_path: Any) -> None:
    qrels, a, _ = pair()
    one = ir.evaluate(qrels, a, "RR", labels_are="complete")

    with ir.Store.open(tmp_path / "store") as store:
        kept = store.evaluation(store.add(one)).evaluation

    assert kept.provenance.labels == one.provenance.labels


def test_a_report_shows_the_verdict_under_the_declared_labels() -> None:
    pytest.importorskip("jinja2", reason="reports need the extra report")
    qrels, a, b = pair()
    options: dict[str, Any] = {"measures": "RR", "names": ["old", "new"], "robustness": False}

    plain = ir.report(qrels, a, b, **options)
    withheld = ir.report(qrels, a, b, labels_from="new", **options)

    assert "new is better than old" in plain
    assert "new is better than old" not in withheld.replace("whether new is better than old", "")


def test_a_result_says_whose_results_were_labelled() -> None:
    qrels, a, b = pair()
    options: dict[str, Any] = {"measures": "RR", "names": ["old", "new"], "labels_from": "old"}

    compared = ir.compare(qrels, a, b, **options)
    gated = ir.gate(qrels, b, a, measures="RR", names=["new", "old"], labels_from="old")

    expected = {"kind": "positive-only", "found": True, "from": "old"}
    assert compared.as_dict()["labels"] == gated.as_dict()["labels"] == expected
    assert compared.renamed(["x", "y"]).labels_from == "x"


def test_a_monitor_declares_the_kind_of_its_labels() -> None:
    given = {"path": "a.qrels", "labels_are": "complete"}

    section = Section(given, "monitor.yaml", "qrels")
    assert read(JudgmentsSection, section).labels_are == "complete"
    section = Section({"path": "a", "labels_are": "gold"}, "m.yaml", "qrels")
    with pytest.raises(OptionError, match=r"qrels.labels_are: found 'gold', expected one of"):
        read(JudgmentsSection, section)


def test_a_run_that_returns_most_labelled_documents_is_a_caution_and_no_verdict_is_withheld() -> (
    None
):
    """Labels may come from a similar system, which nothing in the files can show."""
    rng = np.random.default_rng(8)
    qrels = gold(rng)
    a, b = ranked(rng, qrels, 0.95, 0), ranked(rng, qrels, 0.6, 4)

    row = ir.compare(qrels, a, b, measures="RR@10")["RR@10"]

    assert row.verdict == "worse"
    assert row.basis.one_sided is None
    assert (row.basis.suspected.run, row.basis.suspected.depth) == ("a", 10)
    assert row.reversed().basis.suspected.run == "b"


def test_a_run_that_leads_although_the_labels_favour_the_other_is_better() -> None:
    """Labels of the old run can only hurt the new one, so that its lead is no product of them."""
    qrels, old, new = pair()
    names = ["old", "new"]

    leads = ir.compare(qrels, old, new, measures="RR", names=names, labels_from="old")["RR"]
    lags = ir.compare(qrels, old, new, measures="RR", names=names, labels_from="new")["RR"]
    alike = ir.compare(qrels, old, new, measures="RR", names=names, labels_from="old", margin=0.9)[
        "RR"
    ]

    assert (leads.verdict, leads.basis.one_sided.run) == ("better", "a")
    assert lags.verdict == alike.verdict == "too few judgments"


def test_declarations_that_contradict_each_other_or_the_grades_are_refused() -> None:
    qrels, a, b = pair()

    with pytest.raises(OptionError, match="found complete labels, which favour no run"):
        ir.compare(qrels, a, b, names=["a", "b"], labels_are="complete", labels_from="a")
    with pytest.raises(OptionError, match="found no grade of 0 or less"):
        ir.compare(qrels, a, b, sampled_negatives=0.3)


def clicks_on_20_results(
    seed: int,
) -> tuple[dict[str, dict[str, int]], dict[str, list[str]], dict[str, list[str]]]:
    """Clicks on the 20 results of a run, and a second run with seven of its results and thirteen
    others.
    """
    rng = np.random.default_rng(seed)
    qrels, a, b = {}, {}, {}
    for query in QUERIES:
        shown = [f"d{document}" for document in range(20)]
        others = [f"e{document}" for document in range(13)]
        a[query] = shown
        b[query] = rng.permutation([*rng.permutation(shown)[:7], *others]).tolist()
        qrels[query] = {shown[rank]: 1 for rank in rng.choice(20, 2, replace=False)}
    return qrels, a, b


def test_parts_add_up_alike_in_either_order() -> None:
    complete, found = (
        Labels(kind="complete", found=False, queries=3),
        Labels(kind="positive-only", queries=4),
    )
    pooled = Labels(kind="pooled", found=False, queries=2, with_negatives=2, sampled_negatives=0.5)

    assert (
        complete.plus(found)
        == found.plus(complete)
        == Labels(kind="complete", found=False, queries=7)
    )
    assert complete.plus(pooled) == pooled.plus(complete)
    assert (complete.plus(pooled).kind, complete.plus(pooled).sampled_negatives) == ("pooled", None)


@pytest.mark.parametrize("measures", ["nDCG@10", "nDCG@10 P@20", "nDCG@10 AP", "nDCG@10 R@3"])
def test_one_sided_labels_are_found_on_every_path_and_whatever_else_is_measured(
    measures: str, tmp_path: Path
) -> None:
    qrels, a, b = clicks_on_20_results(7)
    asked = measures.split()

    compared = ir.compare(qrels, a, b, measures=asked)["nDCG@10"]
    of_evaluations = ir.compare(ir.evaluate(qrels, a, asked), ir.evaluate(qrels, b, asked))[
        "nDCG@10"
    ]
    with Store.open(tmp_path / "store") as store:
        keys = [store.add(ir.evaluate(qrels, run, asked)) for run in (a, b)]
        stored = ir.compare(*(store.evaluation(key).evaluation for key in keys))["nDCG@10"]
    gated = ir.gate(qrels, b, a, measures=asked, when_unjudged="neutral")
    robust = ir.robust(qrels, a, b, asked[0], variants=["ties"])

    assert compared.verdict == of_evaluations.verdict == stored.verdict == "too few judgments"
    assert compared.basis.one_sided == of_evaluations.basis.one_sided == stored.basis.one_sided
    assert (compared.basis.one_sided.run, compared.basis.one_sided.depth) == ("a", 20)
    assert robust.verdict == "too few judgments"
    assert gated.outcome == "too few judgments"


def test_a_slice_goes_by_the_labels_of_its_own_queries() -> None:
    qrels, a, b = clicks_on_20_results(7)
    fair, old, new = pair()
    for query in QUERIES:  # labels of other queries, which come from elsewhere
        qrels[f"x{query}"], a[f"x{query}"], b[f"x{query}"] = fair[query], old[query], new[query]
    slices = {
        query: "labelled elsewhere" if query.startswith("x") else "clicks on a" for query in qrels
    }

    row = ir.compare(qrels, a, b, measures="nDCG@10", slices=slices)["nDCG@10"]

    assert {one.name: one.verdict for one in row.slices.rows} == {
        "clicks on a": "too few judgments",
        "labelled elsewhere": "better",
    }


def test_a_gate_that_passes_on_labels_from_its_run_says_so() -> None:
    qrels, a, b = pair()

    open_gate = ir.gate(qrels, b, a, measures="nDCG@10", names=["new", "old"], labels_from="new")
    strict = ir.gate(
        qrels,
        b,
        a,
        measures="nDCG@10",
        names=["new", "old"],
        labels_from="new",
        strict=True,
        margin=0.05,
        when_unjudged="neutral",
    )

    assert open_gate.passed
    assert (
        "a drop by nDCG@10 may be hidden: the labels come from the results of new"
        in hidden_drop(open_gate)[0]
    )
    assert strict.outcome == "too few judgments"


def test_why_has_the_verdict_of_compare_on_labels_from_one_run() -> None:
    qrels, a, b = pair()

    found = ir.why(qrels, a, b, "nDCG@10", names=["old", "new"], labels_from="new")

    assert found.as_dict()["verdict"] == "too few judgments"


def test_arrays_whose_items_all_have_a_label_need_no_kind() -> None:
    labels, scores = np.array([[1, 0, 0]] * 8), np.zeros((8, 3))

    with pytest.raises(OptionError, match="expected judgments and runs"):
        ir.compare(labels, scores, scores, measures="nDCG", labels_are="complete")
