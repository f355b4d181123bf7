"""Evaluations are compared only where they were judged by the same grades, or where somebody says
that other grades are meant.
"""

import json
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import idealrank as ir
from idealrank.errors import IdealrankWarning, IncompatibleError, InputError, OptionError
from idealrank.io.gate_files.baselines import changes_since, record_of
from idealrank.pages.page.cautions import cautions
from idealrank.reports.subject import Subject
from idealrank.reports.views.comparison.comparison import method_text
from idealrank.reports.views.gate.gate import gate_text
from idealrank.reports.views.systems import systems_parts
from idealrank.store import Store
from idealrank.store.timeline import steps
from idealrank.store.validation import check_evaluation
from tests.in_process import run
from tests.store.store_samples import evaluations
from tests.store.store_schema_1 import make_store_of_schema_1

QUERIES = [f"q{number}" for number in range(8)]
RANKING = {query: ["x", "y"] for query in QUERIES}
CONTENT = (
    "found other documents or grades for the same number of queries, 8; expected both runs "
    "evaluated against the same judgments"
)


def judged(x: float = 1, y: float = 0, *, measures: Any = "RR") -> ir.Evaluation:
    """One ranking, judged so in every query."""
    return ir.evaluate({query: {"x": x, "y": y} for query in QUERIES}, RANKING, measures)


def unknown(evaluation: ir.Evaluation) -> ir.Evaluation:
    """The same as an earlier version kept it."""
    return replace(evaluation, provenance=replace(evaluation.provenance, judgments=None))


def copies(evaluation: ir.Evaluation) -> list[ir.Evaluation]:
    return [evaluation, evaluation]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "store") as opened:
        yield opened


def test_one_run_against_itself_is_not_worse_because_other_documents_are_relevant() -> None:
    one, other = judged(1, 0), judged(0, 1)
    with pytest.raises(IncompatibleError, match=CONTENT):
        ir.compare(one, other)
    with pytest.raises(IncompatibleError, match=CONTENT):
        ir.gate(one, other)
    with pytest.raises(IncompatibleError, match=CONTENT):
        ir.compare_systems(copies(one), copies(other))


def test_any_of_several_runs_is_enough_to_refuse_all() -> None:
    with pytest.raises(
        IncompatibleError,
        match=r"allow the difference: compare, gate and seeds take judgments='different'$",
    ):
        ir.compare(unknown(judged()), judged(), judged(0, 1))


@pytest.mark.parametrize("function", [ir.robust, ir.why])
def test_a_function_without_the_option_does_not_hint_at_it(function: Any) -> None:
    kept = [
        ir.evaluate(
            {"q": {"x": grade}, "p": {"x": 1}}, {"q": ["x"], "p": ["x"]}, "RR", keep_unjudged=True
        )
        for grade in (1, 2)
    ]
    with pytest.raises(IncompatibleError, match=r"same judgments; evaluate one run again$"):
        function(*kept)


def test_arrays_with_other_labels_are_refused() -> None:
    scores = [[3, 2, 1]] * 6
    one, reordered, other = (
        ir.evaluate([labels] * 6, scores, "RR") for labels in ([0, 1, 2], [2, 1, 0], [0, 1, 1])
    )
    assert ir.compare(one, reordered).method.judgments == "same"
    with pytest.raises(IncompatibleError, match="other documents or grades"):
        ir.compare(one, other)


def test_the_same_judgments_in_another_file_are_the_same(tmp_path: Path) -> None:
    lines = [
        f"{query} 0 {document} {grade}\n"
        for query in QUERIES
        for document, grade in (("x", 1), ("y", 0))
    ]
    for name, text in (
        ("one", "".join(lines)),
        ("other", "# of today\n" + "".join(lines[::-1]).replace(" ", "\t")),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
    one, other = (ir.evaluate(tmp_path / name, RANKING, "RR") for name in ("one", "other"))
    assert ir.compare(one, other).method.judgments == "same"
    assert ir.compare(one, judged()).method.judgments == "same"


def test_the_files_are_named_where_they_are_known(tmp_path: Path) -> None:
    for name, grade in (("old.qrels", 1), ("new.qrels", 2)):
        (tmp_path / name).write_text(f"q 0 x {grade}\n", encoding="utf-8")
    (tmp_path / "a.run").write_text("q Q0 x 1 1 a\n", encoding="utf-8")
    old, new = (
        ir.evaluate(tmp_path / name, tmp_path / "a.run", "RR")
        for name in ("old.qrels", "new.qrels")
    )
    with pytest.raises(
        IncompatibleError, match=r"files of judgments that differ, .*old\.qrels and .*new\.qrels"
    ):
        ir.compare(old, new)


def test_other_judgments_can_be_meant_and_the_results_say_so() -> None:
    one, other = judged(1, 0), judged(0, 1)
    compared = ir.compare(one, other, judgments="different")
    assert compared["RR"].verdict == "worse"
    assert (compared.method.judgments, compared.as_dict()["method"]["judgments"]) == (
        "different",
        "different",
    )
    assert "the runs have different judgments, as asked" in method_text(compared)
    said = cautions(Subject(evaluations=(one, other), measures=one.measures, comparison=compared))
    assert (
        "The runs have different judgments, as asked: a difference may come from the "
        "judgments alone." in said
    )
    gated = ir.gate(other, one, judgments="different")
    assert (gated.passed, gated.judgments, gated.as_dict()["judgments"]) == (
        False,
        "different",
        "different",
    )
    assert "the runs have different judgments, as asked" in " ".join(gate_text(gated).split())
    systems = ir.compare_systems(copies(one), copies(other), judgments="different")
    assert systems.as_dict()["method"]["judgments"] == "different"
    assert "the runs have different judgments" in " ".join(
        " ".join(part) for part in systems_parts(systems) if isinstance(part, list)
    )


def sampled(share: float | None) -> ir.Evaluation:
    qrels = ir.Qrels({query: {"x": 1, "y": 0} for query in QUERIES}, sampled_negatives=share)
    return ir.evaluate(qrels, RANKING, "RR")


@pytest.mark.parametrize(("other", "words"), [(0.5, "b 0.5"), (None, "b none")])
def test_different_shares_of_sampled_negatives_are_not_used_and_said(
    other: float | None, words: str
) -> None:
    caution = (
        f"the judgments of the runs have different shares of sampled negatives (a 0.3, {words}), "
        "so none is used; declare sampled_negatives for the comparison"
    )
    runs = sampled(0.3), sampled(other)
    with pytest.raises(IncompatibleError):
        ir.compare(*runs, names=["a", "b"])
    for pair in (runs, runs[::-1]):
        names = ["a", "b"] if pair is runs else ["b", "a"]
        compared = ir.compare(*pair, names=names, judgments="different")
        assert compared.labels is not None
        assert compared.labels.sampled_negatives is None
    compared = ir.compare(*runs, names=["a", "b"], judgments="different")
    assert caution in compared.cautions
    declared = ir.compare(*runs, names=["a", "b"], judgments="different", sampled_negatives=0.4)
    assert (declared.labels.sampled_negatives, declared.cautions) == (0.4, ())
    same = ir.compare(sampled(0.3), sampled(0.3), names=["a", "b"])
    assert (same.labels.sampled_negatives, same.cautions) == (0.3, ())


def test_who_allows_other_judgments_and_has_the_same_is_told_that_they_are() -> None:
    assert ir.compare(judged(), judged(), judgments="different").method.judgments == "same"


def test_a_word_that_is_no_choice_is_refused() -> None:
    with pytest.raises(OptionError, match="same, different"):
        ir.compare(judged(), judged(), judgments="other")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "which",
    [(unknown(judged()), judged()), (judged(), unknown(judged())), (unknown(judged()),) * 2],
)
def test_judgments_that_are_not_known_are_taken_for_the_same_with_a_note(
    which: tuple[ir.Evaluation, ir.Evaluation],
) -> None:
    with pytest.warns(IdealrankWarning, match="run: the judgments have no fingerprint"):
        compared = ir.compare(*which)
    assert compared.method.judgments == "unknown"
    assert "it is unknown whether the runs have the same judgments" in method_text(compared)
    with pytest.warns(IdealrankWarning, match="judgments have no fingerprint"):
        assert ir.gate(*which).judgments == "unknown"


def test_what_can_be_seen_of_unknown_judgments_is_still_looked_at() -> None:
    fewer = ir.evaluate({query: {"x": 1} for query in QUERIES[:5]}, RANKING, "RR")
    with pytest.raises(IncompatibleError, match="found judgments of 8 and of 5 queries"):
        ir.compare(unknown(judged()), unknown(fewer))


def test_files_with_the_same_hash_need_no_note(tmp_path: Path) -> None:
    for name in ("one", "copy"):
        (tmp_path / name).write_text("q 0 x 1\n", encoding="utf-8")
    (tmp_path / "a.run").write_text("q Q0 x 1 1 a\n", encoding="utf-8")
    one, copy = (
        unknown(ir.evaluate(tmp_path / name, tmp_path / "a.run", "RR")) for name in ("one", "copy")
    )
    assert ir.compare(one, copy).method.judgments == "same"


def test_two_halves_merged_are_compared_with_the_whole() -> None:
    halves = [
        ir.evaluate({q: {"x": 1, "y": 0} for q in part}, {q: ["x", "y"] for q in part}, "RR")
        for part in (QUERIES[:3], QUERIES[3:])
    ]
    assert ir.compare(halves[1].merge(halves[0]), judged()).method.judgments == "same"
    with pytest.raises(IncompatibleError, match="other documents or grades"):
        ir.compare(halves[0].merge(halves[1]), judged(2, 0))


def test_a_store_keeps_the_fingerprint_and_gives_it_back(store: Store, tmp_path: Path) -> None:
    keys = [store.add(judged(1, 0)), store.add(judged(0, 1))]
    one, other = (store.evaluation(key).evaluation for key in keys)
    assert (
        one.provenance.judgments == judged(1, 0).provenance.judgments != other.provenance.judgments
    )
    with pytest.raises(IncompatibleError, match="other documents or grades"):
        ir.compare(one, other)
    store.export_file(keys[0], tmp_path / "one.zip")
    with Store.open(tmp_path / "another") as another:
        found = another.evaluation(another.import_file(tmp_path / "one.zip")).evaluation
    assert found.provenance.judgments == one.provenance.judgments
    assert [step.breaks for step in steps(store.history().points)] == [(), ("judgments",)]


def test_an_evaluation_of_a_store_without_fingerprints_is_compared_with_a_note(
    tmp_path: Path,
) -> None:
    key = make_store_of_schema_1(tmp_path, evaluations()[0], note="", tags=())
    with Store.open(tmp_path) as store:
        old = store.evaluation(key).evaluation
        assert old.provenance.judgments is None
        with pytest.warns(IdealrankWarning, match="judgments have no fingerprint"):
            assert ir.compare(old, evaluations()[1]).method.judgments == "unknown"
        assert store.history().points[0].judgments_content == ""


def test_an_archive_of_an_earlier_version_is_taken_and_a_damaged_fingerprint_is_not(
    store: Store, tmp_path: Path
) -> None:
    store.export_file(store.add(judged()), tmp_path / "one.zip")
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        fields = json.loads(archive.read("record.json"))
    check_evaluation({name: value for name, value in fields.items() if name != "judgments"})
    for damaged in ("x", 7, "F" * 32):
        with pytest.raises(InputError, match=r"as judgments of its record"):
            check_evaluation(fields | {"judgments": damaged})


def test_a_stored_comparison_of_other_judgments_is_made_again(store: Store) -> None:
    both = judged(1, 0), judged(0, 1)
    keys = [store.add(one) for one in both]
    compared, gated = (
        ir.compare(*both, judgments="different"),
        ir.gate(*both, judgments="different"),
    )
    assert store.compare_again(store.add_comparison(compared, keys)).as_dict() == compared.as_dict()
    assert store.gate_again(store.add_gate(gated, keys)).as_dict() == gated.as_dict()


def test_the_json_of_an_evaluation_has_the_fingerprint(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q 0 x 1\n", encoding="utf-8")
    (tmp_path / "a.run").write_text("q Q0 x 1 1 a\n", encoding="utf-8")
    _, said, _ = run(
        ["evaluate", str(tmp_path / "qrels"), str(tmp_path / "a.run"), "--format", "json"]
    )
    assert json.loads(said)["runs"][0]["judgments"] == ir.Qrels({"q": {"x": 1}}).fingerprint


@pytest.mark.slow
def test_commands_of_a_store_refuse_other_judgments_and_can_be_told(
    store: Store, tmp_path: Path
) -> None:
    keys = [store.add(judged(1, 0)), store.add(judged(0, 1))]
    where = ["--store", str(store.folder)]
    page = str(tmp_path / "page.html")

    def said(*words: str) -> tuple[int, str, str]:
        return run([*words, *where])

    found = json.loads(said("store", "diff", *keys, "--format", "json")[1])
    assert (found["judgments"], found["comparison"]) == ("changed", None)
    assert "--different-judgments" in found["why_not_compared"]
    meant = json.loads(said("store", "diff", *keys, "--format", "json", "--different-judgments")[1])
    assert meant["comparison"]["method"]["judgments"] == "different"
    assert (
        "The runs have different judgments, as asked."
        in said("store", "diff", *keys, "--different-judgments")[1]
    )
    code, _, error = said("report", *keys, "-o", page)
    assert (code, "--different-judgments" in error) == (2, True)
    assert said("report", *keys, "-o", page, "--different-judgments")[0] == 0
    assert "different judgments" in Path(page).read_text(encoding="utf-8")


def test_a_baseline_knows_the_content_of_its_judgments_whatever_the_file() -> None:
    then = record_of(judged(measures="P@1"), ["P@1"])
    assert changes_since("best.run", then, judged(measures="P@1"), []) == []
    expected = ["best.run was created with other judgments, which give the same means"]
    assert changes_since("best.run", then, judged(2, 0, measures="P@1"), []) == expected
    before = replace(then, content=None, judgments=("0" * 64,))
    assert changes_since("best.run", before, judged(2, 0, measures="P@1"), []) == []
