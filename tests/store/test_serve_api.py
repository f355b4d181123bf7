"""The JSON API: its answers, and that its document says what it does."""

import re
from pathlib import Path
from typing import Any

import pytest

import idealrank as ir
from idealrank.store import Store
from idealrank.store.web.guard import Guard
from idealrank.store.web.json_api import OPERATIONS
from tests.store.serve_samples import client, example_store


def fits(value: Any, schema: dict[str, Any]) -> bool:
    """Return True if a schema of the document allows the value; knows only the JSON Schema keywords
    used there.
    """
    kinds = {
        "object": dict,
        "array": list,
        "string": str,
        "integer": int,
        "number": int | float,
        "null": type(None),
        "boolean": bool,
    }
    allowed = schema.get("type", list(kinds))
    if not any(
        isinstance(value, kinds[one])
        for one in ([allowed] if isinstance(allowed, str) else allowed)
    ):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if isinstance(value, str):
        return re.search(schema.get("pattern", ""), value) is not None
    if isinstance(value, list):
        return all(fits(one, schema.get("items", {})) for one in value)
    if isinstance(value, dict):
        known, other = schema.get("properties", {}), schema.get("additionalProperties", {})
        return set(schema.get("required", [])) <= set(value) and all(
            fits(one, known.get(name, other)) for name, one in value.items()
        )
    return True


def address(path: str, ids: dict[str, list[str]]) -> str:
    """An address that an operation answers."""
    whole = path.replace("{id}", ids["gate" if "verdicts" in path else "neural"][-1])
    asked = {
        "comparison": f"?a={ids['bm25'][0]}&b={ids['neural'][-1]}",
        "convention": "?convention=sklearn",
        "queries": "?limit=2",
    }
    return whole + asked.get(path.rpartition("/")[2], "")


@pytest.mark.parametrize(
    "operation",
    [one for one in OPERATIONS if one.name != "explain_query"],
    ids=lambda one: one.name,
)
def test_an_answer_is_what_the_document_says(tmp_path: Path, operation: Any) -> None:
    ids = example_store(tmp_path)
    asking = client(tmp_path)
    described = asking.get("/api/openapi.json").json()["paths"][operation.path]["get"]["responses"][
        "200"
    ]

    answer = asking.get(address(operation.path, ids))

    assert answer.status_code == 200, answer.text
    assert fits(answer.json(), described["content"]["application/json"]["schema"])


def test_numbers_are_those_of_the_store(tmp_path: Path) -> None:
    ids = example_store(tmp_path)
    asking = client(tmp_path)
    with Store.open(tmp_path) as store:
        one, other = (store.evaluation(ids[name][-1]).evaluation for name in ("bm25", "neural"))

    shown = asking.get(f"/api/evaluations/{ids['neural'][-1]}").json()
    compared = asking.get(f"/api/comparison?a={ids['bm25'][-1]}&b={ids['neural'][-1]}").json()

    assert shown["mean"] == other.mean()
    assert shown["coverage"]["scored"] == 12
    assert (
        compared["pairs"][0]["measures"]["nDCG@10"]["p"]
        == ir.compare(one, other).pairs[0]["nDCG@10"].p
    )


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/api/evaluations?limit=0", 400, "whole number from 1 to 1000"),
        ("/api/evaluations?limit=1.5", 400, "whole number"),
        ("/api/evaluations?limit=1&limit=2", 400, "more than once"),
        ("/api/evaluations?nothing=1", 400, "unknown one"),
        ("/api/evaluations?run=", 400, "text of 1 to 500"),
        ("/api/evaluations/xyz", 400, "hexadecimal"),
        ("/api/evaluations/ffffffffffff", 404, "found none"),
        ("/api/evaluations/ffffffffffff%0A", 400, "hexadecimal"),
        ("/api/comparison?a=ffff", 400, "b: found none"),
        ("/api/history?measure=AP", 404, "found no evaluation of measure AP"),
        ("/api/history?since=yesterday", 400, "so long ago"),
        ("/api/nothing", 404, "Not Found"),
    ],
)
def test_what_is_asked_wrongly_is_refused_in_a_sentence(
    tmp_path: Path, path: str, status: int, said: str
) -> None:
    example_store(tmp_path, days=1)

    answer = client(tmp_path).get(path)

    assert answer.status_code == status
    assert said in answer.json()["error"]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "TRACE"])
def test_another_method_names_those_that_are_allowed(method: str) -> None:
    answer = client().request(method, "/api/evaluations")

    assert (answer.status_code, set(answer.headers["allow"].split(", "))) == (405, {"GET", "HEAD"})


def test_without_a_store_there_is_nothing_to_ask_for() -> None:
    assert client().get("/api/evaluations").status_code == 404


def test_the_document_tells_of_the_token() -> None:
    asked = (
        client(guard=Guard(token="x"))
        .get("/api/openapi.json", headers={"authorization": "Bearer x"})
        .json()
    )

    assert asked["security"] == [{"token": []}]
    assert "security" not in client().get("/api/openapi.json").json()


def test_the_document_names_every_operation_once() -> None:
    document = client().get("/api/openapi.json").json()

    assert list(document["paths"]) == [one.path for one in OPERATIONS]
    assert len({one.name for one in OPERATIONS}) == len(OPERATIONS)
    assert [one["get"]["operationId"] for one in document["paths"].values()] == [
        one.name for one in OPERATIONS
    ]


def test_links_of_the_document_lead_to_operations_and_their_parameters(tmp_path: Path) -> None:
    example_store(tmp_path)
    asking = client(tmp_path)
    document = asking.get("/api/openapi.json").json()
    paths = {
        one["get"]["operationId"]: (path, one["get"]) for path, one in document["paths"].items()
    }
    linked = 0
    for path, operation in paths.values():
        for link in operation["responses"]["200"].get("links", {}).values():
            target, aim = paths[link["operationId"]]
            assert set(link["parameters"]) <= {one["name"] for one in aim["parameters"]}
            answer: Any = asking.get(path).json()
            for expression in link["parameters"].values():
                found = answer
                for key in expression.removeprefix("$response.body#/").split("/"):
                    found = found[int(key) if key.isdecimal() else key]
                # 400: other parameters are needed
                assert asking.get(target.replace("{id}", found)).status_code in (200, 400)
                linked += 1
    assert linked == 7
