"""Labels and scores of learning to rank: what the commands take, Python takes, too, and arrays of
several queries are told apart.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import idealrank as ir
from idealrank.integrations import pytest_gate

LABELS = np.tile([2, 0, 1, 0], 8)
GOOD, BAD = np.tile([0.9, 0.1, 0.5, 0.2], 8), np.tile([0.1, 0.9, 0.2, 0.5], 8)
SIZES = np.full(8, 4)
QUERIES = np.repeat(np.arange(8), 4)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A feature file with labels, and the scores of two models, one a line."""
    lines = (f"{label} qid:{query} 1:0.5\n" for label, query in zip(LABELS, QUERIES, strict=True))
    (tmp_path / "test.svm").write_text("".join(lines), encoding="utf-8")
    for name, scores in (("good", GOOD), ("bad", BAD)):
        (tmp_path / f"{name}.txt").write_text(
            "".join(f"{score}\n" for score in scores), encoding="utf-8"
        )
    return tmp_path


def test_a_file_of_scores_takes_its_queries_from_the_file_of_labels(files: Path) -> None:
    """As on the command line."""
    expected = ir.evaluate(LABELS, GOOD, "nDCG@3", group=SIZES).mean()

    assert ir.evaluate(files / "test.svm", files / "good.txt", "nDCG@3").mean() == expected
    assert (
        ir.evaluate(ir.read_qrels(files / "test.svm"), files / "good.txt", "nDCG@3").mean()
        == expected
    )


def test_files_of_scores_are_compared_gated_and_explained_in_python(files: Path) -> None:
    labels, good, bad = (files / name for name in ("test.svm", "good.txt", "bad.txt"))

    assert ir.compare(labels, bad, good, measures="nDCG@3")["nDCG@3"].verdict == "better"
    assert not ir.gate(labels, bad, good, measures="nDCG@3").passed
    assert ir.robust(labels, bad, good, "nDCG@3", variants=["cutoff"]).asked.verdict == "better"
    assert ir.why(labels, bad, good, "nDCG@3").difference > 0
    assert ir.explain(labels, good, "0", "nDCG@3").value == 1
    assert "good is better than bad" in ir.report(
        labels, bad, good, measures="nDCG@3", robustness=False
    )
    assert ir.reconcile(
        labels, bad, ir.evaluate(labels, bad, "nDCG@3", "lightgbm").mean()["nDCG@3"], "nDCG@3"
    ).matches


def test_scores_without_labels_name_the_reader_that_takes_both(files: Path) -> None:
    with pytest.raises(ir.InputError, match=r"name it with labels="):
        ir.read_run(files / "good.txt")


def test_an_array_of_scores_for_a_file_of_labels_is_refused_with_the_two_ways_to_give_both(
    files: Path,
) -> None:
    with pytest.raises(ir.InputError, match=r"labels and scores are both arrays or both files"):
        ir.evaluate(files / "test.svm", GOOD, "nDCG@3")


@pytest.mark.parametrize(
    "layout", [{"group": SIZES}, {"qid": QUERIES}, {"offsets": np.arange(0, 33, 4)}]
)
def test_arrays_of_several_queries_are_compared_and_gated(layout: dict[str, np.ndarray]) -> None:
    both = [ir.evaluate(LABELS, scores, "nDCG@3", **layout) for scores in (BAD, GOOD)]
    found = ir.compare(LABELS, BAD, GOOD, measures="nDCG@3", **layout)["nDCG@3"]

    assert (found.n, found.difference, found.p) == (
        8,
        *(getattr(ir.compare(*both)["nDCG@3"], name) for name in ("difference", "p")),
    )
    assert (
        ir.gate(LABELS, BAD, GOOD, measures="nDCG@3", **layout).checks[0].p
        == ir.gate(*both).checks[0].p
    )


def test_flat_arrays_are_not_compared_as_one_query() -> None:
    """One query decides nothing: the group was forgotten."""
    with pytest.raises(
        ir.InputError, match=r"found one query of 32 items, expected group=, offsets= or qid="
    ):
        ir.compare(LABELS, BAD, GOOD)
    with pytest.raises(
        ir.InputError, match=r"found one query of 32 items, expected group=, offsets= or qid="
    ):
        ir.gate(LABELS, BAD, GOOD)
    with pytest.raises(
        ir.InputError,
        match=r"^robust: found one query of 32 items, expected group=, offsets= or qid=",
    ):
        ir.robust(LABELS, BAD, GOOD)
    assert (
        ir.compare(LABELS.reshape(8, 4), BAD.reshape(8, 4), GOOD.reshape(8, 4), measures="nDCG@3")[
            "nDCG@3"
        ].n
        == 8
    )


def test_a_layout_of_arrays_is_refused_for_tables() -> None:
    tables = ({"q": {"a": 1}}, {"q": ["a"]}, {"q": ["b", "a"]})
    with pytest.raises(ir.InputError, match=r"compare: found group without arrays"):
        ir.compare(*tables, group=SIZES)
    both = [ir.evaluate(LABELS, scores, "nDCG@3", group=SIZES) for scores in (BAD, GOOD)]
    with pytest.raises(ir.InputError, match=r"gate: found group without arrays"):
        ir.gate(*both, group=SIZES)


def test_a_groupby_of_pandas_is_refused_with_its_sizes() -> None:
    frame = pd.DataFrame({"qid": QUERIES, "label": LABELS, "score": GOOD})

    with pytest.raises(
        ir.InputError,
        match=r"group: found DataFrameGroupBy, expected sizes, as groupby\(\.\.\.\)\.size\(\) "
        r"gives "
        r"them",
    ):
        ir.evaluate(frame.label, frame.score, "nDCG@3", group=frame.groupby("qid"))
    by_size = ir.evaluate(frame.label, frame.score, "nDCG@3", group=frame.groupby("qid").size())
    assert by_size.mean() == ir.evaluate(LABELS, GOOD, "nDCG@3", group=SIZES).mean()


def test_the_gate_of_pytest_takes_files_of_scores(files: Path) -> None:
    answer = pytest_gate.ask(
        "test.svm",
        "good.txt",
        "bad.txt",
        {"measures": "nDCG@3", "convention": "lightgbm"},
        root=files,
        update=False,
    )

    assert answer.gated.passed


def test_what_needs_document_ids_refuses_arrays_for_lack_of_them() -> None:
    held = ir.evaluate(LABELS, GOOD, "nDCG@3", group=SIZES, keep_unjudged=True)
    for refused in (lambda: ir.why(LABELS, BAD, GOOD), lambda: ir.explain(LABELS, GOOD, "0")):
        with pytest.raises(ir.InputError, match=r"arrays have no document ids$"):
            refused()
    with pytest.raises(
        ir.InputError, match=r"evaluations of arrays keep none, since arrays have no document ids"
    ):
        ir.explain(held, "0")


def test_a_printed_gate_states_its_outcome_and_each_deciding_check() -> None:
    passed, failed = (
        ir.gate(LABELS, *runs, measures="nDCG@3", group=SIZES, names=["run", "main"])
        for runs in ((GOOD, BAD), (BAD, GOOD))
    )

    assert (
        str(passed)
        == "The gate is open.\nnDCG@3: run against main, 1.0000 against 0.1900: "
        + passed.checks[0].reason
    )
    assert (
        str(failed)
        == "The gate is closed.\nnDCG@3: run against main, 0.1900 against 1.0000: "
        + failed.checks[0].reason
    )
