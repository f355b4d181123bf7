"""Other people's readers read the same from other people's files."""

import csv
import gzip
import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from idealrank import _kernel
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.errors import InputError
from idealrank.io.complaints import Notes
from idealrank.io.dataframes import qrels_from_frame
from idealrank.io.formats.letor import read_labels
from idealrank.io.read import read_qrels, read_run
from idealrank.io.sources import Source
from tests.conftest import examples, shared_file


def as_dict(source: Qrels | Run) -> dict[str, dict[str, float]]:
    table = source.table if isinstance(source, Qrels) else source.source
    if isinstance(table, _kernel.Text):
        table = _kernel.read_text(table, duplicates="keep")
    read = Qrels.from_table(table)
    return {query: read[query] for query in read}


TREC_QRELS = [
    ("trec_eval", "qrels.test"),
    ("trec_eval", "qrels.rel_level"),
    ("trec_eval", "qrels-302.test"),
    ("haystack-quepid", "case.qrels"),
    ("dl19", "qrels.dl19-passage.txt.gz"),
]
TREC_RUNS = [
    ("trec_eval", "results.test"),
    ("trec_eval", "results-302.test"),
    ("haystack-quepid", "solr-no-vector.run"),
    ("ndeval-web2013", "synthetic.run"),
    ("dl19", "run.msmarco-v1-passage.bm25-default.dl19.txt.gz"),
]


def open_text(path: Path) -> Any:
    return (
        gzip.open(path, "rt", encoding="utf-8")
        if path.suffix == ".gz"
        else path.open(encoding="utf-8")
    )


@pytest.mark.parametrize("parts", TREC_QRELS, ids="/".join)
def test_real_judgments_are_what_pytrec_eval_reads(parts: tuple[str, ...]) -> None:
    path = shared_file("data", *parts)
    with open_text(path) as file:
        assert as_dict(read_qrels(path)) == pytrec_eval.parse_qrel(file)


@pytest.mark.parametrize("parts", TREC_RUNS, ids="/".join)
def test_real_runs_are_what_pytrec_eval_reads(parts: tuple[str, ...]) -> None:
    path = shared_file("data", *parts)
    with open_text(path) as file:
        assert as_dict(read_run(path)) == pytrec_eval.parse_run(file)


def test_comments_of_trec_eval_are_left_out() -> None:
    """Its two files differ by comment lines alone; a '#' inside an id is no comment."""
    commented, plain = (
        read_qrels(shared_file("data", "trec_eval", name))
        for name in ("qrels.test.with-comments", "qrels.test")
    )
    assert commented.counters["comments"] > 0
    differing = {query for query in plain if plain[query] != commented[query]}
    assert plain.n_judgments == commented.n_judgments
    assert all(any("#" in document for document in commented[query]) for query in differing)


def test_real_ratings_of_quepid_and_lenskit_are_what_pandas_reads() -> None:
    path = shared_file("data", "haystack-quepid", "judgements.csv")
    with pytest.raises(
        InputError, match=r"judgements\.csv: found 13 raters .*use columns=\{'grade': 'mean'\}"
    ):
        read_qrels(path, duplicates="best")
    read = read_qrels(path, columns={"grade": "mean"})
    rated = pd.read_csv(path, dtype={"doc_id": str}).dropna(subset=["rating"])
    means = rated.groupby(["query_id", "doc_id"])["rating"].mean()
    assert {
        (query, document): grade for query in read for document, grade in read[query].items()
    } == means.to_dict()
    truth = shared_file("data", "lenskit", "topn-java-truth.csv")
    expected = pd.read_csv(truth)
    assert as_dict(read_qrels(truth, tell=lambda _: None)) == as_dict(qrels_from_frame(expected))
    assert read_qrels(truth).n_judgments == len(expected)


def test_real_recommendations_of_lenskit_rank_as_their_rank_column_says() -> None:
    path = shared_file("data", "lenskit", "topn-java-recs.csv.gz")
    frame = pd.read_csv(path)
    one = frame[frame["Algorithm"] == frame["Algorithm"].iloc[0]]
    buffer = io.StringIO()
    one.drop(columns="score").to_csv(buffer, index=False)
    source = read_run_text(buffer.getvalue())
    for user, rows in one.groupby("user"):
        assert (
            source.ranking(str(user)).documents
            == rows.sort_values("rank")["item"].astype(str).tolist()
        )


def read_run_text(text: str) -> Run:
    """Through standard input, as a shell would pass it."""

    class Stdin:
        buffer = io.BytesIO(text.encode())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", Stdin)
        run = read_run("-")
    assert (run.name, run.paths) == ("stdin", ("-",))
    return run


def test_labels_of_lightgbm_are_what_scikit_learn_reads() -> None:
    path = shared_file("data", "lightgbm-rank", "rank.test.gz")
    sizes = np.loadtxt(shared_file("data", "lightgbm-rank", "rank.test.query"), dtype=int)
    with gzip.open(path, "rb") as file:
        _, labels = load_svmlight_file(io.BytesIO(file.read()))
    said: list[str] = []
    qrels = read_qrels(path, tell=said.append)
    assert said == [f"{path}: group sizes read from {path.with_suffix('')}.query"]
    assert np.array_equal(qrels.grades, labels)
    assert np.diff(qrels.offsets).tolist() == sizes.tolist()
    assert list(qrels["1"]) == [f"1:{n}" for n in range(1, sizes[1] + 1)]


def test_scores_of_lightgbm_join_their_labels(tmp_path: Path) -> None:
    labels = shared_file("data", "lightgbm-rank", "rank.test.gz")
    with shared_file("data", "lightgbm-rank", "reference", "test_predictions.csv").open() as file:
        rows = list(csv.DictReader(file))
    (tmp_path / "scores.txt").write_text("".join(row["score"] + "\n" for row in rows))
    run = as_dict(read_run(tmp_path / "scores.txt", labels=labels))
    place: dict[str, int] = {}
    for row in rows:
        place[row["query"]] = place.get(row["query"], 0) + 1
        assert run[row["query"]][f"{row['query']}:{place[row['query']]}"] == float(row["score"])
    (tmp_path / "scores.txt").write_text("".join(row["score"] + "\n" for row in rows[1:]))
    with pytest.raises(
        InputError,
        match=rf"scores\.txt: found {len(rows) - 1} scores, expected {len(rows)}, one for each item of",  # noqa: E501
    ):
        read_run(tmp_path / "scores.txt", labels=labels)
    with pytest.raises(InputError, match="expected the file of labels too"):
        read_run(tmp_path / "scores.txt")


@settings(
    max_examples=examples(50),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_labels_with_qid_are_what_scikit_learn_reads(tmp_path: Path, data: Any) -> None:
    n = data.draw(st.integers(1, 12))
    features = np.array(
        data.draw(
            st.lists(st.lists(st.floats(-5, 5), min_size=3, max_size=3), min_size=n, max_size=n)
        )
    )
    grades = np.array(data.draw(st.lists(st.integers(-1, 4), min_size=n, max_size=n)))
    qids = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    path = tmp_path / "a.svm"
    dump_svmlight_file(
        features,
        grades,
        str(path),
        query_id=qids,
        zero_based=data.draw(st.booleans()),
        comment="made by a test",
    )
    _, labels, groups = load_svmlight_file(str(path), query_id=True)

    def refuse(complaint: object) -> None:
        raise AssertionError(complaint)

    items = read_labels(Source(str(path), path.read_bytes()), None, Notes(), refuse)
    assert np.array_equal(items.labels, labels)
    assert [items.queries[code] for code in items.codes] == [str(qid) for qid in groups]
    assert items.group.tolist() == [int((groups == int(query)).sum()) for query in items.queries]


def test_beir_judgments_are_what_the_csv_module_reads(tmp_path: Path) -> None:
    """The layout of BEIR's qrels files, and how its loader reads them."""
    path = tmp_path / "test.tsv"
    rows = [("PLAIN-2", "MED-2427", 2), ("PLAIN-2", 'MED-"10"', 2), ("1", "31715818", 1)]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter="\t", quoting=csv.QUOTE_MINIMAL).writerows(
            [("query-id", "corpus-id", "score"), *rows]
        )
    with path.open(encoding="utf-8") as file:
        reader = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_MINIMAL)
        next(reader)
        expected = {(query, document): float(score) for query, document, score in reader}
    read = read_qrels(path)
    assert {(q, d): g for q in read for d, g in read[q].items()} == expected
