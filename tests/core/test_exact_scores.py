"""Whole-number scores beyond what float64 holds, such as times in nanoseconds: refused with the
reason, never tied in silence.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import idealrank as ir
from idealrank.io.dataframes import qrels_from_frame, run_from_frame
from idealrank.io.lint import lint
from idealrank.io.read import read_run

FIRST, SECOND = 1_700_000_000_000_000_001, 1_700_000_000_000_000_002
CHANGED = f"{FIRST}, a whole number that float64 changes, expected a score that float64 holds"
TABLE = {"qid": ["q", "q"], "docid": ["a", "b"], "score": [FIRST, SECOND]}
EXACT = 1_700_000_000_000_000_256  # a multiple of 256, which is the distance of doubles there


@pytest.mark.parametrize(
    "scores",
    [
        [FIRST, SECOND],
        [[FIRST, SECOND]],
        np.array([FIRST, SECOND]),
        np.array([FIRST, SECOND], np.uint64),
        [FIRST, 0.5],
        pd.Series([FIRST, 2]),
        [FIRST - 2**63, 1],
        [2**63 + 1, 1],
    ],
)
def test_scores_of_arrays_are_refused(scores: Any) -> None:
    labels = [[1, 0]] if np.ndim(scores) == 2 else [1, 0]
    with pytest.raises(
        ir.InputError,
        match=r"scores: item 0: found -?\d+, a whole number that float64 changes, expected a score "
        r"that",
    ):
        ir.ndcg(labels, scores)


def test_whole_numbers_that_float64_holds_keep_their_order() -> None:
    for scores in (
        [EXACT, EXACT + 256],
        np.array([-(2**63), 2**62]),
        np.array([2**53 - 1, 2**53]),
        [2.0**80, 2.0**81],
    ):
        assert ir.ndcg([0, 1], scores).tolist() == [1.0]
    assert ir.Run({"q": {"a": EXACT, "b": EXACT + 256}}).ranking("q").documents == ["b", "a"]


def test_mappings_and_columns() -> None:
    with pytest.raises(
        ir.InputError, match=f"run 'mine', query 'q', document 'a': found {CHANGED}"
    ):
        ir.Run({"q": {"a": FIRST, "b": SECOND}}, name="mine")
    with pytest.raises(ir.InputError, match=f"row 0: found {CHANGED}"):
        ir.Run.from_columns(["q", "q"], ["a", "b"], np.array([FIRST, SECOND]))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(TABLE),
        pl.DataFrame(TABLE),
        pa.table(TABLE),
        pd.DataFrame(TABLE, dtype=object),
        pl.LazyFrame(TABLE),
        pa.table({**TABLE, "score": pa.array([FIRST, None])}).slice(0, 1),
    ],
)
def test_dataframes(frame: Any) -> None:
    with pytest.raises(
        ir.InputError, match=rf"run: row 0 \(counted from 0\): found score {CHANGED}"
    ):
        run_from_frame(frame)


FILES = {
    "a.json": json.dumps({"q": {"a": FIRST, "b": SECOND}}),
    "b.json": json.dumps([{"qid": "q", "docid": "a", "score": FIRST}]),
    "a.jsonl": json.dumps({"qid": "q", "docid": "a", "score": FIRST}),
    "a.csv": f"qid,docid,score\nq,a,{FIRST}\nq,b,{SECOND}\n",
    "a.tsv": f"qid\tdocid\tscore\nq\ta\t{FIRST}\n",
}


@pytest.mark.parametrize("name", FILES)
def test_files(tmp_path: Path, name: str) -> None:
    """Reading refuses them, validating says the same."""
    path = tmp_path / name
    path.write_text(FILES[name], encoding="utf-8")
    with pytest.raises(ir.InputError, match="a whole number that float64 changes") as caught:
        read_run(path)
    assert str(caught.value).startswith(str(path))
    assert lint([path], "run").n_errors


def test_parquet_and_score_files(tmp_path: Path) -> None:
    path, labels, scores = tmp_path / "a.parquet", tmp_path / "a.letor", tmp_path / "a.scores"
    pq.write_table(pa.table(TABLE), path)
    with pytest.raises(ir.InputError, match=f"found score {CHANGED}"):
        read_run(path)
    labels.write_text("1 qid:1 1:1\n0 qid:1 1:2\n", encoding="utf-8")
    scores.write_text(f"7\n{FIRST}\n", encoding="utf-8")
    with pytest.raises(ir.InputError, match=f"a.scores:2: found {CHANGED}"):
        read_run(scores, format="letor", labels=labels)


def test_grades_and_trec_lines_are_doubles(tmp_path: Path) -> None:
    """A grade is a quantity, no place in an order; trec_eval reads scores as doubles, so its ties
    are what its format means.
    """
    assert qrels_from_frame(pd.DataFrame({"qid": ["q"], "docid": ["a"], "rel": [FIRST]}))["q"][
        "a"
    ] == float(FIRST)
    path = tmp_path / "a.run"
    path.write_text(f"q Q0 a 1 {FIRST} x\nq Q0 b 2 {SECOND} x\n", encoding="utf-8")
    assert read_run(path).ranking("q").first.tolist() == [1, 1]
