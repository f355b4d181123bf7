"""Saved responses of search engines are runs. The files are typed after the engines' public
documentation.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import idealrank as ir
from idealrank.io.complaints import Notes
from idealrank.io.formats.detection import detect
from idealrank.io.lint import lint
from idealrank.io.sources import Source


def response(
    *hits: tuple[str, float | None], total: int | None = None, **others: Any
) -> dict[str, Any]:
    """A response of Elasticsearch 8, as its documentation prints it."""
    return {
        "took": 5,
        "timed_out": False,
        "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
        "hits": {
            "total": {"value": len(hits) if total is None else total, "relation": "eq"},
            "max_score": hits[0][1] if hits else None,
            "hits": [
                {
                    "_index": "shop",
                    "_id": name,
                    "_score": score,
                    "_source": {"title": f'a "{name}"'},
                }
                for name, score in hits
            ],
        },
        **others,
    }


SHOES, BOOTS = response(("7", 3.2), ("4", 1.1), total=912), response(("9", 2.0))
NONE = response()
ERROR = {
    "error": {
        "root_cause": [],
        "type": "index_not_found_exception",
        "reason": "no such index [shop]",
    },
    "status": 404,
}


def read(
    folder: Path, value: Any, name: str = "a.json", said: list[str] | None = None, **options: Any
) -> ir.Run:
    path = folder / name
    lines = "\n".join(map(json.dumps, value)) if name.endswith("l") else json.dumps(value, indent=1)
    path.write_text(lines, encoding="utf-8")
    return ir.read_run(path, tell=([] if said is None else said).append, **options)


def rankings(run: ir.Run, *queries: str) -> list[list[str]]:
    return [list(run.ranking(query).documents) for query in queries]


LAYOUTS = [
    ("a.json", {"shoes": SHOES, "boots": BOOTS, "hats": NONE}),
    (
        "a.json",
        {"took": 9, "queries": ["shoes", "boots", "hats"], "responses": [SHOES, BOOTS, NONE]},
    ),
    ("a.jsonl", [{"shoes": SHOES}, {"boots": BOOTS}, {"hats": NONE}]),
    (
        "a.jsonl",
        [
            {"query": "shoes", "response": SHOES},
            {"query": "boots", "response": BOOTS},
            {"query": "hats", "response": NONE},
        ],
    ),
    (
        "a.jsonl",
        [
            {"query_id": "shoes", **SHOES},
            {"query_id": "boots", **BOOTS},
            {"query_id": "hats", **NONE},
        ],
    ),
    (
        "a.json",
        [
            {"query": "shoes", "response": SHOES},
            {"query": "boots", "response": BOOTS},
            {"query": "hats", "response": NONE},
        ],
    ),
    # as the parameter filter_path asks for hits alone
    ("a.json", {"shoes": {"hits": SHOES["hits"]}, "boots": {"hits": BOOTS["hits"]}, "hats": {}}),
    ("a.txt", {"shoes": SHOES, "boots": BOOTS, "hats": NONE}),
]


@pytest.mark.parametrize(("name", "value"), LAYOUTS, ids=range(len(LAYOUTS)))
def test_responses_of_elasticsearch_in_every_layout(tmp_path: Path, name: str, value: Any) -> None:
    said: list[str] = []
    run = read(tmp_path, value, name, said)
    assert rankings(run, "shoes", "boots", "hats") == [["7", "4"], ["9"], []]
    assert run.ranking("shoes").scores.tolist() == [3.2, 1.1]
    assert [line.partition(": ")[2] for line in said] == [
        "read as responses of Elasticsearch; to set the format, use format='elasticsearch'"
    ]
    assert rankings(read(tmp_path, value, name, format="elasticsearch"), "shoes") == [["7", "4"]]


def test_msearch_names_queries_by_place_and_says_so(tmp_path: Path) -> None:
    said: list[str] = []
    run = read(tmp_path, {"took": 9, "responses": [SHOES, NONE, BOOTS]}, said=said)
    assert rankings(run, "1", "2", "3") == [["7", "4"], [], ["9"]]
    assert (
        "found responses without queries; the queries are named 1 to 3; put the requests "
        "before the responses, or write" in said[1]
    )


def searches(*texts: str, **others: Any) -> list[dict[str, Any]]:
    """Lines of requests of _msearch: a header and a body each, with a filter that all have in
    common.
    """
    common = {"filter": [{"match": {"status": "active"}}]}
    bodies = [
        {
            "query": {
                "bool": {"must": [{"multi_match": {"query": text, "fields": ["title"]}}], **common}
            },
            **others,
        }
        for text in texts
    ]
    return [line for body in bodies for line in ({"index": "shop"}, body)]


def test_msearch_names_queries_by_the_lines_of_the_requests(tmp_path: Path) -> None:
    answers = {"took": 9, "responses": [SHOES, NONE, BOOTS]}
    said: list[str] = []
    run = read(tmp_path, [*searches("shoes", "hats", "boots"), answers], "a.jsonl", said)
    assert rankings(run, "shoes", "hats", "boots") == [["7", "4"], [], ["9"]]
    assert said[1].endswith(
        '3 queries named by the lines of their requests ("shoes", "hats", "boots")'
    )

    # Many queries are sent in batches; the answers may be indented, and may come before the
    # requests.
    batches = [
        {"responses": [BOOTS]},
        *searches("boots"),
        {},
        searches("shoes")[1],
        {"responses": [SHOES]},
    ]
    assert rankings(
        read(tmp_path, batches, "b.jsonl", format="elasticsearch"), "boots", "shoes"
    ) == [["9"], ["7", "4"]]
    lines = "\n".join(map(json.dumps, searches("shoes", "hats", "boots")))
    (tmp_path / "c.ndjson").write_text(lines + "\n" + json.dumps(answers, indent=2))
    assert rankings(ir.read_run(tmp_path / "c.ndjson", tell=[].append), "boots") == [["9"]]


REQUESTS: list[tuple[list[Any], list[str]]] = [
    (
        [{"query": {"match": {"title": "shoes"}}}, {"query": {"query_string": {"query": "boots"}}}],
        ["shoes", "boots"],
    ),
    (
        [
            {"query": {"match": {"title": {"query": text, "_name": name}}}}
            for text, name in (("x", "q1"), ("x", "q2"))
        ],
        ["q1", "q2"],
    ),
    (
        [{"id": "template", "params": {"text": text, "size": 10}} for text in ("shoes", "boots")],
        ["shoes", "boots"],
    ),
    (
        [
            {"query": {"neural": {"vector": {"query_text": text, "k": 5}}}, "size": 5}
            for text in ("shoes", "boots")
        ],
        ["shoes", "boots"],
    ),
    ([{"query": {"match": {"title": "shoes"}}}] * 2, ["1", "2"]),
    (
        [
            {"knn": {"field": "v", "query_vector": [0.1]}},
            {"knn": {"field": "v", "query_vector": [0.2]}},
        ],
        ["1", "2"],
    ),
    (
        [
            {"query": {"bool": {"must": [{"match": {"a": "x"}}, {"match": {"b": text}}]}}}
            for text in ("shoes", "boots")
        ],
        ["shoes", "boots"],
    ),
    (
        [
            {"query": {"bool": {"must": [{"match": {"a": one}}, {"match": {"b": two}}]}}}
            for one, two in ("ab", "cd")
        ],
        ["1", "2"],
    ),
]


@pytest.mark.parametrize(("bodies", "queries"), REQUESTS, ids=range(len(REQUESTS)))
def test_the_name_that_a_request_gives_its_query(
    tmp_path: Path, bodies: list[Any], queries: list[str]
) -> None:
    lines = [line for body in bodies for line in ({}, body)]
    said: list[str] = []
    run = read(tmp_path, [*lines, {"responses": [SHOES, BOOTS]}], "a.jsonl", said)
    assert rankings(run, *queries) == [["7", "4"], ["9"]]
    assert ("the queries are named 1 to 2" in said[1]) == (queries == ["1", "2"])


def test_requests_and_responses_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    for answers, message in (
        (
            [{"responses": [SHOES]}],
            "a.jsonl: found 2 requests and 1 responses, expected as many of both",
        ),
        (
            [],
            "a.jsonl: found 2 requests of _msearch without responses, expected both; put the "
            "responses after the requests",
        ),
    ):
        with pytest.raises(ir.FileFormatError) as caught:
            read(tmp_path, [*searches("shoes", "boots"), *answers], "a.jsonl")
        assert message in str(caught.value)


def test_a_response_that_is_an_error_is_refused_with_its_reason(tmp_path: Path) -> None:
    with pytest.raises(ir.FileFormatError) as caught:
        read(tmp_path, {"took": 9, "queries": ["shoes", "boots"], "responses": [SHOES, ERROR]})
    assert (
        'query "boots": found an error of Elasticsearch, "index_not_found_exception: no such '
        'index [shop]"' in str(caught.value)
    )
    problems = lint([tmp_path / "a.json"], "run").problems
    assert problems.counts == {"response": 1}
    with pytest.raises(
        ir.FileFormatError, match="3 queries and 1 responses, expected as many of both"
    ):
        read(tmp_path, {"queries": ["a", "b", "c"], "responses": [SHOES]})


def test_the_order_of_a_response_counts_where_scores_do_not_give_it(tmp_path: Path) -> None:
    said: list[str] = []
    run = read(
        tmp_path,
        {
            "shoes": response(("7", None), ("4", None)),
            "boots": response(("1", 0.5), ("2", 0.9)),
            "hats": BOOTS,
        },
        said=said,
    )
    assert rankings(run, "shoes", "boots", "hats") == [["7", "4"], ["1", "2"], ["9"]]
    assert run.ranking("hats").scores.tolist() == [2.0]
    assert (
        '1 of 3 queries have hits without a score; the order of the hits counts ("shoes")'
        in said[1]
    )
    assert (
        "1 of 3 queries have hits that are not in the order of the scores; the order of the "
        'hits counts ("boots")' in said[2]
    )


def test_partial_results_are_told(tmp_path: Path) -> None:
    said: list[str] = []
    read(
        tmp_path,
        {
            "shoes": {**SHOES, "timed_out": True},
            "boots": {**BOOTS, "_shards": {"total": 2, "failed": 1}},
        },
        said=said,
    )
    assert (
        '2 of 2 queries have partial results (a time limit, or shards that failed) ("shoes", '
        '"boots")' in said[1]
    )


def test_a_document_twice_falls_under_the_convention(tmp_path: Path) -> None:
    run = read(tmp_path, {"shoes": response(("7", 3.0), ("7", 2.0), ("4", 1.0))})
    with pytest.raises(ir.InputError, match="a second time"):
        ir.evaluate({"shoes": {"4": 1}}, run, "RR")
    assert (
        ir.evaluate({"shoes": {"4": 1}}, run, "RR", "standard,duplicates=first").mean()["RR"] == 0.5
    )


@pytest.mark.parametrize("run", [{"shoes": SHOES}, SHOES, {"took": 3, "responses": [SHOES]}])
def test_responses_in_memory_are_told_from_runs(run: dict[str, Any]) -> None:
    with pytest.raises(
        ir.InputError,
        match=r"^run: found responses of a search engine, .*hit\['_id'\]: hit\['_score'\]",
    ):
        ir.evaluate({"shoes": {"7": 1}}, run, "RR")
    # a query and a document of that name
    assert ir.evaluate({"hits": {"hits": 1}}, {"hits": {"hits": 0.5}}, "RR").mean() == {"RR": 1.0}


def test_hits_with_a_query_each(tmp_path: Path) -> None:
    hits = [
        {"query": "shoes", "_id": "4", "_score": 1.1},
        {"query": "boots", "_id": "9", "_score": None},
        {"query": "shoes", "_id": "7", "_score": 3.2},
    ]
    said: list[str] = []
    assert rankings(read(tmp_path, hits, "a.jsonl", said), "shoes", "boots") == [["7", "4"], ["9"]]
    assert "1 of 2 queries have hits without a score" in said[1]
    named = [
        {"search": "shoes", "_index": "shop", "_id": "7", "_score": 1.0, "_source": {"sku": "x"}}
    ]
    with pytest.raises(
        ir.FileFormatError,
        match=r"a\.jsonl:1: found a hit with fields 'search', .* columns=\{'query': \.\.\.\}",
    ):
        read(tmp_path, [*named, *named], "a.jsonl")
    assert rankings(read(tmp_path, named, "a.jsonl", columns={"query": "search"}), "shoes") == [
        ["7"]
    ]


BAD = [
    (SHOES, "found a response without its query, expected {query: response}"),
    (
        {"shoes": {"hits": {"hits": [{"_score": 1.0}]}}},
        "query \"shoes\": found a hit without '_id', expected the id of a document",
    ),
    (
        {"shoes": response(("7", 1.0)), "boots": 3},
        'query "boots": found 3, expected a response of Elasticsearch',
    ),
    ({"shoes": {"hits": {"hits": [3]}}}, 'query "shoes": found 3 as a hit, expected an object'),
    (
        {"shoes": SHOES, "boots": {"message": "x"}},
        "query \"boots\": found fields 'message', expected {query: response}",
    ),
]


@pytest.mark.parametrize(("value", "message"), BAD, ids=range(len(BAD)))
def test_what_is_no_response(tmp_path: Path, value: Any, message: str) -> None:
    with pytest.raises(ir.FileFormatError) as caught:
        read(tmp_path, value)
    assert message in str(caught.value)


def test_responses_are_no_judgments(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"shoes": SHOES}))
    with pytest.raises(
        ir.FileFormatError,
        match="found responses of Elasticsearch, which are results, expected judgments; judgments "
        "come first",
    ):
        ir.read_qrels(tmp_path / "a.json")


def solr(query: str | None, *docs: tuple[str, float | None], **header: Any) -> dict[str, Any]:
    """A response of Solr 9, as its reference guide prints it."""
    params = {} if query is None else {"params": {"q": query, "fl": "id,score", "wt": "json"}}
    found = [
        {"id": name, "name": "x", **({} if score is None else {"score": score})}
        for name, score in docs
    ]
    return {
        "responseHeader": {"status": 0, "QTime": 3, **params, **header},
        "response": {
            "numFound": len(docs),
            "start": 0,
            "maxScore": 1.0,
            "numFoundExact": True,
            "docs": found,
        },
    }


SOLR_SHOES, SOLR_BOOTS = (
    solr("shoes", ("7", 3.2), ("4", 1.1)),
    solr("boots", ("9", None), ("8", None)),
)
SOLR_LAYOUTS = [
    ("a.json", {"shoes": SOLR_SHOES, "boots": SOLR_BOOTS, "hats": solr(None)}),
    ("a.json", [SOLR_SHOES, SOLR_BOOTS, solr("hats")]),
    ("a.jsonl", [SOLR_SHOES, SOLR_BOOTS, solr("hats")]),
    (
        "a.jsonl",
        [
            {"query": "shoes", "response": SOLR_SHOES},
            {"query": "boots", "response": SOLR_BOOTS},
            {"query": "hats", "response": solr(None)},
        ],
    ),
]


@pytest.mark.parametrize(("name", "value"), SOLR_LAYOUTS, ids=range(len(SOLR_LAYOUTS)))
def test_responses_of_solr_in_every_layout(tmp_path: Path, name: str, value: Any) -> None:
    said: list[str] = []
    run = read(tmp_path, value, name, said)
    assert rankings(run, "shoes", "boots", "hats") == [["7", "4"], ["9", "8"], []]
    assert said[0].endswith("read as responses of Solr; to set the format, use format='solr'")
    assert (
        '1 of 3 queries have hits without a score; the order of the hits counts ("boots")'
        in said[1]
    )


def test_one_response_of_solr_names_its_query(tmp_path: Path) -> None:
    assert rankings(read(tmp_path, SOLR_SHOES), "shoes") == [["7", "4"]]
    with pytest.raises(
        ir.FileFormatError, match=r"found a response without its query, .*echoParams=explicit"
    ):
        read(tmp_path, solr(None, ("7", 1.0)))
    sku = {"shoes": {"response": {"numFound": 1, "docs": [{"sku": "A1", "score": 2.0}]}}}
    with pytest.raises(
        ir.FileFormatError, match=r"found a hit without 'id'.*columns=\{'document': 'sku'\}"
    ):
        read(tmp_path, sku)
    assert rankings(read(tmp_path, sku, columns={"document": "sku"}), "shoes") == [["A1"]]


INNER = {"_id": "es-1", "_score": 1.0}


@pytest.mark.parametrize("name", ["sku", "product.sku"])
@pytest.mark.parametrize(("outer", "as_list"), [("_source", False), ("fields", True)])
def test_a_document_id_of_an_inner_field(
    tmp_path: Path, name: str, outer: str, as_list: bool
) -> None:
    value: Any = ["A1"] if as_list else "A1"
    # `fields` keeps paths whole
    inner = (
        {name: value}
        if as_list
        else {name.partition(".")[0]: {"sku": value} if "." in name else value}
    )
    hits = {"shoes": {"hits": {"hits": [{**INNER, outer: inner}]}}}

    for path in (name, f"{outer}.{name}"):
        assert rankings(read(tmp_path, hits, columns={"document": path}), "shoes") == [["A1"]]
    with pytest.raises(
        ir.FileFormatError,
        match=rf"found a hit without 'nr'.*columns=\{{'document': '{outer}\.{re.escape(name)}'\}}",
    ):
        read(tmp_path, hits, columns={"document": "nr"})


def test_errors_and_groups_of_solr(tmp_path: Path) -> None:
    error = {
        "responseHeader": {"status": 400, "QTime": 1},
        "error": {"msg": "undefined field x", "code": 400},
    }
    with pytest.raises(
        ir.FileFormatError, match='query "shoes": found an error of Solr, "undefined field x"'
    ):
        read(tmp_path, {"shoes": error})
    grouped = {
        "responseHeader": {"status": 0, "params": {"q": "shoes"}},
        "grouped": {"brand": {"matches": 1, "groups": []}},
    }
    with pytest.raises(
        ir.FileFormatError,
        match=r"found fields 'responseHeader', 'grouped', expected .*not \"grouped\"",
    ):
        read(tmp_path, {"shoes": grouped})
    said: list[str] = []
    read(tmp_path, {"shoes": solr("shoes", ("7", 1.0), partialResults=True)}, said=said)
    assert "1 of 1 queries have partial results" in said[1]


def test_general_json_stays_general() -> None:
    for text in (
        '{"hits": {"d1": 1}}',
        '{"hits": ["d1"]}',
        '{"response": {"d1": 1}}',
        '{"docs": ["d1"]}',
        '{"responses": ["d1"]}',
    ):
        assert detect(Source("a.json", text.encode()), "auto", Notes([].append)) == "json", text
