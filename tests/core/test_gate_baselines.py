"""Baseline files: the same ranking again, whatever the judgments become; the same bytes; and errors
that say what to do.
"""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import idealrank as ir
from idealrank.conventions import Convention
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.errors import FileFormatError, InputError
from idealrank.evaluation.evaluate import evaluate
from idealrank.io.complaints import Notes
from idealrank.io.gate_files.baselines import (
    BaselineRecord,
    baseline_bytes,
    changes_since,
    compressed,
    depth_of,
    read_baseline,
    read_record,
    record_of,
    refuse_shallow,
    run_in,
)
from idealrank.measures import MEASURES
from tests.conftest import PYDOCS

DOCUMENTS = [f"d{number}" for number in range(12)]
# Close scores are ties in float32 alone.
SCORES = st.sampled_from([0.1, 0.1 + 1e-12, 1 / 3, 2.5, -1e300, 5e-324, float("inf"), 7.0])
RUNS = st.dictionaries(
    st.sampled_from(["q1", "q 2", "ü"]),
    st.dictionaries(st.sampled_from(DOCUMENTS), SCORES, min_size=1),
    min_size=1,
)
GRADES = st.dictionaries(
    st.sampled_from(["q1", "q 2", "ü"]),
    st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(0, 3), min_size=1),
    min_size=1,
)
CONVENTIONS = [
    "standard",
    "standard,ties=expected",
    "standard,ties=best",
    "trec_eval-9",
    "lightgbm",
    "torchmetrics",
    "standard,unjudged=skipped",
]
MEASURES_ASKED = ("nDCG@3", "P@5", "RR@2", "nDCG(judged_only=True)@3")


def made(
    qrels: Any, run: Any, measures: Any, convention: str = "standard", paths: tuple[str, ...] = ()
) -> tuple[bytes, BaselineRecord]:
    one = evaluate(qrels if isinstance(qrels, Qrels) else Qrels(qrels), run, measures, convention)
    record = record_of(one, [str(measure) for measure in one.measures], paths)
    return baseline_bytes(run, record, one.convention), record


@pytest.mark.filterwarnings("ignore::idealrank.errors.IdealrankWarning")
@given(RUNS, GRADES, GRADES, st.sampled_from(CONVENTIONS), st.sampled_from(MEASURES_ASKED))
def test_a_baseline_is_rescored_as_the_run_itself_is(
    run: Any, before: Any, after: Any, convention: str, measure: str
) -> None:
    whole = Run(run, name="mine")
    try:
        data, _ = made(before, whole, measure, convention)
        expected = ir.evaluate(after, whole, measure, convention)
    except InputError:  # no query counts
        return

    again = ir.evaluate(after, run_in(data, "best"), measure, convention)

    assert list(again.queries) == list(expected.queries)
    assert np.array_equal(again.values, expected.values, equal_nan=True)
    assert np.array_equal(again.scored, expected.scored)


@given(RUNS)
def test_scores_are_read_back_to_the_last_bit(run: Any) -> None:
    data, _ = made({"q1": {"d1": 1}, "q 2": {"d1": 1}, "ü": {"d1": 1}}, Run(run), "AP")

    again = run_in(data, "again")

    for query, answer in run.items():
        found = again.ranking(query)
        assert dict(zip(found.documents, found.scores.tolist(), strict=True)) == answer


@pytest.mark.parametrize("discount", [None, "linear"])
def test_no_measure_with_a_depth_looks_below_it(discount: str | None) -> None:
    """Random judgments and runs, cut at the depth that is claimed, for every measure of quality."""
    generator = np.random.default_rng(2)
    queries = [f"q{number}" for number in range(12)]
    qrels = {
        query: {document: int(generator.integers(0, 3)) for document in DOCUMENTS[::2]}
        for query in queries
    }
    run = Run(
        {
            query: {
                document: float(generator.permutation(99)[0]) + at / 100
                for at, document in enumerate(DOCUMENTS)
            }
            for query in queries
        }
    )
    convention = (
        Convention.of("standard")
        if discount is None
        else Convention.of("standard", discount=discount)
    )
    looked = 0
    for name in MEASURES:
        for text in (name, f"{name}@3"):
            try:
                measure = ir.parse_measure(text)
                one = ir.evaluate(qrels, run, measure, convention)
            except ir.IdealrankError:
                continue
            if not measure.direction or depth_of([measure], convention) is None:
                continue
            data, _ = made(qrels, run, measure, convention)  # type: ignore[arg-type]
            assert np.array_equal(
                ir.evaluate(qrels, run_in(data, "cut"), measure, convention).values,
                one.values,
                equal_nan=True,
            ), text
            looked += 1
    assert looked > 20


def test_lists_are_cut_but_no_tie_group_is() -> None:
    run = Run({"q": {"a": 9.0, "b": 8.0, "c": 8.0, "d": 8.0, "e": 1.0}})

    data, record = made({"q": {"a": 1}}, run, "P@2")

    assert record.depth == 2
    assert [line.split("\t")[2] for line in data.decode().splitlines()[1:-1]] == [
        "a",
        "d",
        "c",
        "b",
    ]
    assert made({"q": {"a": 1}}, run, ["P@2", "AP"])[1].depth is None


def test_the_same_input_gives_the_same_bytes_and_a_second_baseline_of_a_baseline_the_same_lines(
    tmp_path: Path,
) -> None:
    paths = (str(PYDOCS / "qrels.txt"),)
    run = ir.read_run(PYDOCS / "bm25.run")
    data, record = made(ir.read_qrels(paths[0]), run, "nDCG@10", paths=paths)
    (tmp_path / "one.run.gz").write_bytes(compressed(data))

    again = made(ir.read_qrels(paths[0]), ir.read_run(PYDOCS / "bm25.run"), "nDCG@10", paths=paths)[
        0
    ]
    second, said = read_baseline(str(tmp_path / "one.run.gz"), "bm25", Notes())

    assert again == data
    assert compressed(again) == compressed(data)
    assert gzip.decompress(compressed(data)) == data
    assert said == record
    assert (
        made(ir.read_qrels(paths[0]), second, "nDCG@10")[0].partition(b"\n")[2]
        == data.partition(b"\n")[2]
    )


def test_any_reader_of_runs_reads_a_baseline(tmp_path: Path) -> None:
    """Also one that knows nothing of our first line, but that # begins a comment."""
    qrels, run = (
        ir.read_qrels(PYDOCS / "qrels.txt"),
        ir.read_run(PYDOCS / "bm25.run", name="a name with blanks"),
    )
    data, _ = made(qrels, run, "nDCG@10")
    (tmp_path / "best.run").write_bytes(data)

    plain = ir.evaluate(qrels, tmp_path / "best.run", "nDCG@10")

    lines = [line.split() for line in data.decode().splitlines() if not line.startswith("#")]
    assert {len(fields) for fields in lines} == {6}
    assert {fields[5] for fields in lines} == {"a_name_with_blanks"}
    assert len(data.decode().splitlines()[0].split()) == 4
    assert np.array_equal(plain.values, ir.evaluate(qrels, run, "nDCG@10").values)


def test_a_record_says_how_it_was_made() -> None:
    paths = (str(PYDOCS / "qrels.txt"),)
    one = ir.evaluate(
        ir.read_qrels(paths[0]),
        ir.read_run(PYDOCS / "bm25.run"),
        ["nDCG@10", "RR"],
        "lightgbm,ties=expected",
    )

    record = record_of(one, ["nDCG@10"], paths)

    assert dict(record.means) == {"nDCG@10": one.mean()["nDCG@10"]}
    assert (record.name, record.convention, record.fingerprint) == (
        "bm25",
        "lightgbm,ties=expected",
        one.convention.fingerprint,
    )
    assert record.run is not None
    assert len(record.run) == len(record.judgments[0]) == 64


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ({"#q": ["a"]}, "query '#q'"),
        ({"q": [" a"]}, "document ' a'"),
        ({"q\tr": ["a"]}, r"query 'q\\tr'"),
        ({"q": ["a\nb"]}, r"document 'a\\nb'"),
    ],
)
def test_an_id_that_no_line_can_hold_is_refused(run: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        made({query: {"a": 1} for query in run}, Run(run), "AP")


def test_a_shallow_baseline_is_refused_for_a_deeper_measure() -> None:
    one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, ["P@5", "P@10", "AP"])
    record = record_of(ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "P@5"), ["P@5"])

    refuse_shallow("best.run", record, one.measures[:1], one.convention)
    for measure, words in (
        (one.measures[1], "10 ranks, which P@10"),
        (one.measures[2], "whole lists, which AP"),
    ):
        with pytest.raises(
            InputError,
            match=rf"best\.run: found lists cut after rank 5, expected {words}.*delete the file and create it again",  # noqa: E501
        ):
            refuse_shallow("best.run", record, [measure], one.convention)
    with pytest.raises(
        InputError, match="whole lists, which P@5 uses under convention standard,unjudged=skipped"
    ):
        refuse_shallow(
            "best.run", record, one.measures[:1], Convention.of("standard,unjudged=skipped")
        )


def test_a_byte_order_mark_hides_no_first_line(tmp_path: Path) -> None:
    path = tmp_path / "b.run"
    data, record = made({"q": {"x": 1}}, Run({"q": ["x", "y"]}), "RR@1")
    path.write_bytes(b"\xef\xbb\xbf" + data)

    again, found = read_baseline(str(path), "b", Notes())

    assert found == record
    assert again.ranking("q").documents == ["x"]


def test_what_changed_since_is_said(tmp_path: Path) -> None:
    for name, text in (
        ("old", "q 0 x 1\n"),
        ("same", "q 0 x 1\nq 0 z 0\n"),
        ("new", "q 0 x 0\nq 0 y 1\n"),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
    run = Run({"q": ["x", "y"]})

    def found(name: str, convention: str = "standard") -> list[str]:
        path = str(tmp_path / name)
        old = ir.evaluate(ir.read_qrels(tmp_path / "old"), run, "RR@5")
        now = ir.evaluate(ir.read_qrels(path), run, "RR@5", convention)
        return changes_since(
            "b.run", record_of(old, ["RR@5"], [str(tmp_path / "old")]), now, [path]
        )

    assert found("old") == []
    assert found("same") == ["b.run was created with other judgments, which give the same means"]
    assert found("new") == [
        "b.run had other judgments when it was created: RR@5 is 0.5000 and was 1.0000"
    ]
    assert found("old", "lightgbm") == [
        "b.run was created under convention standard; this gate evaluates it under lightgbm"
    ]


def test_a_mean_of_nothing_that_stays_nothing_has_not_changed() -> None:
    run = Run({"q": ["x"]})
    of_zero = evaluate(Qrels({"q": {"y": 1}}), run, "RR@5")
    undefined = evaluate(Qrels({"q": {"x": 0}}), run, "RR@5", "standard,no_relevant=left-out")

    for one in (of_zero, undefined):
        assert changes_since("b.run", record_of(one, ["RR@5"]), one, []) == []


def test_a_first_line_that_is_damaged_or_of_another_time_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "b.run"
    data, _ = made({"q": {"x": 1}}, Run({"q": ["x"]}), "AP")
    said = json.loads(data.splitlines()[0].removeprefix(b"# idealrank baseline "))

    def refused(first: str) -> str:
        path.write_text(f"# idealrank baseline {first}\nq\tQ0\tx\t1\t0.0\trun\n", encoding="utf-8")
        with pytest.raises(FileFormatError) as error:
            read_record(str(path), Notes())
        return str(error.value).removeprefix(f"{path}:1: ")

    assert refused("{").startswith(
        "found a damaged first line of a baseline, expected the line that `idealrank gate "
        "--update-baseline` writes"
    )
    assert refused(json.dumps(said | {"schema": 4})).startswith(
        "found a baseline of schema 4, expected 3 or less; update idealrank"
    )
    for broken in ({"depth": -1}, {"depth": True}, {"means": 3}, {"means": {"AP": "x"}}):
        assert "an incomplete first line" in refused(json.dumps(said | broken))
    assert "an incomplete first line" in refused("{}")
    with pytest.raises(FileFormatError, match="another first line"):
        read_baseline(str(PYDOCS / "bm25.run"), "bm25", Notes())
