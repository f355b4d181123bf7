"""Saved answers of engines: a record for each query with its hits, read by paths, against the same
answers as plain dicts.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import idealrank as ir
from tests.in_process import run as command

QRELS = {"shoes": {"A-1": 3, "A-2": 0, "A-3": 1}, "hats": {"B-1": 1, "B-7": 2}, "empty": {"C": 1}}
ANSWERS = {
    "shoes": [("A-2", 3.5), ("A-1", 2.5), ("X", 0.5)],
    "hats": [("B-7", 1.5), ("B-9", 0.25)],
    "empty": [],
}
MEASURES = ["nDCG@10", "RR", "P@2"]
EXPECTED = ir.evaluate(QRELS, {query: dict(hits) for query, hits in ANSWERS.items()}, MEASURES)
PATHS = {"document": "hits[].sku", "score": "hits[].score"}


def hits_of(pairs: list[tuple[str, float]]) -> list[dict[str, Any]]:
    return [{"sku": sku, "title": "a shoe", "score": score} for sku, score in pairs]


def records() -> list[dict[str, Any]]:
    return [
        {"query": query, "took_ms": 12, "hits": hits_of(pairs)} for query, pairs in ANSWERS.items()
    ]


def lines(values: list[Any]) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


LAYOUTS: dict[str, Callable[[], str]] = {
    "run.jsonl": lambda: lines(records()),
    "run.json": lambda: json.dumps(records(), indent=1),
    "by-query.json": lambda: json.dumps({record["query"]: record for record in records()}),
    "by-query.jsonl": lambda: lines([{record["query"]: record} for record in records()]),
}


def written(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("name", LAYOUTS)
def test_hits_are_read_by_their_paths(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, name, LAYOUTS[name]())

    assert ir.evaluate(QRELS, path, MEASURES, run_columns=PATHS).per_query() == EXPECTED.per_query()


@pytest.mark.parametrize("name", LAYOUTS)
def test_usual_names_are_found_and_told(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, name, LAYOUTS[name]().replace('"sku"', '"product_id"'))
    notes: list[str] = []

    run = ir.read_run(path, tell=notes.append)

    assert ir.evaluate(QRELS, run, MEASURES).per_query() == EXPECTED.per_query()
    assert "document=hits[].product_id, score=hits[].score" in notes[-1]


def test_predictions_of_sentence_transformers_are_read(tmp_path: Path) -> None:
    predictions = [
        {
            "query_id": query,
            "query": "words of the query",
            "results": [{"corpus_id": document, "score": score} for document, score in pairs],
        }
        for query, pairs in ANSWERS.items()
    ]
    path = written(tmp_path, "predictions.jsonl", lines(predictions))

    assert ir.evaluate(QRELS, path, MEASURES).per_query() == EXPECTED.per_query()


@pytest.mark.parametrize("score", ["product.price", None])
def test_nested_hits_of_redis_and_elasticsearch(tmp_path: Path, score: str | None) -> None:
    redis = {
        query: {
            "total_results": 3,
            "results": [
                {"id": f"doc:{n}", "extra_attributes": {"product": {"sku": sku, "price": price}}}
                for n, (sku, price) in enumerate(pairs)
            ],
        }
        for query, pairs in ANSWERS.items()
    }
    elastic = [
        {
            "q": query,
            "response": {
                "hits": {
                    "hits": [
                        {"_id": f"es-{n}", "_source": {"product": {"sku": sku, "price": price}}}
                        for n, (sku, price) in enumerate(pairs)
                    ]
                }
            },
        }
        for query, pairs in ANSWERS.items()
    ]
    for name, content, prefix in (
        ("redis.json", json.dumps(redis), "results[].extra_attributes"),
        ("elastic.jsonl", lines(elastic), "response.hits.hits[]._source"),
    ):
        columns = {"document": f"{prefix}.product.sku"}
        if score:
            columns["score"] = f"{prefix}.{score}"
        path = written(tmp_path, name, content)

        evaluation = ir.evaluate(QRELS, path, MEASURES, run_columns=columns)

        assert evaluation.per_query() == EXPECTED.per_query()


def test_short_answers_of_elasticsearch_need_no_path(tmp_path: Path) -> None:
    short = [
        {"query": query, "hits": [{"_id": sku, "_score": score} for sku, score in pairs]}
        for query, pairs in ANSWERS.items()
    ]
    path = written(tmp_path, "short.jsonl", lines(short))

    assert ir.evaluate(QRELS, path, MEASURES).per_query() == EXPECTED.per_query()


def test_lists_side_by_side_are_read(tmp_path: Path) -> None:
    journal = [
        {"query": query, "documents": [d for d, _ in pairs], "scores": [s for _, s in pairs]}
        for query, pairs in ANSWERS.items()
    ]
    path = written(tmp_path, "journal.jsonl", lines(journal))

    assert ir.evaluate(QRELS, path, MEASURES).per_query() == EXPECTED.per_query()


def test_judgments_are_read_by_their_paths(tmp_path: Path) -> None:
    judged = [
        {"q": query, "judged": [{"sku": sku, "stars": stars} for sku, stars in grades.items()]}
        for query, grades in QRELS.items()
    ]
    path = written(tmp_path, "judged.jsonl", lines(judged))
    columns = {"document": "judged[].sku", "grade": "judged[].stars"}

    assert ir.read_qrels(path, columns=columns).fingerprint == ir.Qrels(QRELS).fingerprint


def test_scores_decide_unless_the_place_is_named(tmp_path: Path) -> None:
    rising = [
        {"query": query, "hits": hits_of(pairs[::-1])}
        for query, pairs in {**ANSWERS, "more": [("A", 3.0), ("B", 2.0)]}.items()
    ]
    path = written(tmp_path, "rising.jsonl", lines(rising))
    notes: list[str] = []

    by_score = ir.read_run(path, columns=PATHS, tell=notes.append)
    by_place = ir.read_run(path, columns={"document": "hits[].sku", "rank": "hits[]"})

    assert by_score.ranking("shoes").documents == ["A-2", "A-1", "X"]
    assert by_place.ranking("shoes").documents == ["X", "A-1", "A-2"]
    assert "scores rise in all 3 lists, as distances do" in notes[-1]
    assert "--run-columns rank=hits[]" in notes[-1]


def test_a_rank_beside_the_score_is_named_once(tmp_path: Path) -> None:
    ranked = [
        {
            "query": query,
            "hits": [
                {"id": sku, "rank": rank, "score": score}
                for rank, (sku, score) in enumerate(pairs, 1)
            ],
        }
        for query, pairs in ANSWERS.items()
    ]
    path = written(tmp_path, "ranked.jsonl", lines(ranked))
    notes: list[str] = []

    ir.read_run(path, tell=notes.append)

    told = [note for note in notes if "rank=hits[].rank orders them by hits[].rank" in note]
    assert len(told) == 1
    assert "ordered by hits[].score" in told[0]
    by_rank = ir.read_run(path, columns={"document": "hits[].id", "rank": "hits[].rank"})
    assert by_rank.ranking("shoes").documents == ["A-2", "A-1", "X"]


def test_the_hint_names_paths_and_no_field_that_is_no_id(tmp_path: Path) -> None:
    path = written(tmp_path, "engine.jsonl", lines(records()).replace('"sku"', '"artikel"'))

    with pytest.raises(ir.InputError) as caught:
        ir.evaluate(QRELS, path, "RR")

    expected = "'query=query,document=hits[].artikel,score=hits[].score'"
    assert caught.value.on_command_line().endswith(f"--run-columns {expected}")
    columns = eval(str(caught.value).partition("columns=")[2].partition(" (in")[0])
    assert (
        ir.evaluate(QRELS, path, MEASURES, run_columns=columns).per_query() == EXPECTED.per_query()
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("flat.jsonl", '{"query": "shoes", "took_ms": 12, "url": "x", "hits": 4}\n'),
        ("flat.csv", "query,took_ms,url,hits\nshoes,12,x,4\n"),
        ("fractions.csv", "query,dwell,url,clicked\nshoes,0.5,x,4\n"),
    ],
)
def test_a_hint_proposes_ids_as_documents(tmp_path: Path, name: str, text: str) -> None:
    path = written(tmp_path, name, text)

    with pytest.raises(ir.InputError, match="'document': 'url'"):
        ir.read_run(path)


def test_a_hint_has_a_placeholder_where_nothing_is_an_id(tmp_path: Path) -> None:
    path = written(tmp_path, "work.csv", "query,took_ms,latency\nshoes,12,0.5\n")

    with pytest.raises(ir.InputError, match="'document': 'NAME', 'score': 'NAME'"):
        ir.read_run(path)


WRONG = [
    (
        {"document": "hitz[].sku"},
        r":1: found nothing at 'hitz' of query \"shoes\", expected a list; ",
    ),
    ({"document": "hits[].nr"}, r":1: found null as id at 'hits\[\].nr' of document 1 of query"),
    ({"document": "hits[].sku", "score": "hits[].title"}, r"found \"a shoe\" as score at"),
    ({"document": "hits[].sku[].x"}, r"expected a path with one \[\] after the name of a list"),
    ({"query": "q", "document": "hits[].sku"}, r"found fields 'query', 'took_ms', 'hits'"),
]


@pytest.mark.parametrize(("columns", "message"), WRONG)
def test_wrong_paths_are_refused(tmp_path: Path, columns: dict[str, str], message: str) -> None:
    path = written(tmp_path, "run.jsonl", lines(records()))

    with pytest.raises(ir.IdealrankError, match=message):
        ir.read_run(path, columns=columns)


def test_answers_as_judgments_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "run.jsonl", lines(records()).replace('"sku"', '"doc_id"'))

    with pytest.raises(ir.InputError, match="judgments come first, then runs"):
        ir.read_qrels(path)


def test_a_field_twice_in_a_hit_is_refused(tmp_path: Path) -> None:
    text = '{"query": "q", "hits": [{"sku": "a", "sku": "b", "score": 1}]}\n'
    path = written(tmp_path, "run.jsonl", lines(records()) + text)

    with pytest.raises(ir.FileFormatError, match=r':4: found the field "sku" twice in an object'):
        ir.read_run(path, columns=PATHS)


def test_the_command_line_takes_paths(tmp_path: Path) -> None:
    path = written(tmp_path, "engine.jsonl", lines(records()))
    qrels = written(tmp_path, "qrels.json", json.dumps(QRELS))

    paths = ["--run-columns", "document=hits[].sku,score=hits[].score"]
    code, printed, _ = command(
        ["evaluate", qrels, path, "-m", "nDCG@10", "--format", "json", *paths]
    )

    assert code == 0
    assert repr(EXPECTED.mean()["nDCG@10"]) in printed
    assert command(["validate", qrels, path, *paths])[0] == 0


def test_a_list_of_records_under_a_name_is_no_answer_to_it(tmp_path: Path) -> None:
    path = written(tmp_path, "run.json", '{"data": [{"query": "q", "doc_id": "d", "score": 1}]}')

    with pytest.raises(ir.FileFormatError, match="found an object as id"):
        ir.read_run(path)
