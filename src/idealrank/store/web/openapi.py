"""The OpenAPI document of the JSON API, made from its operations."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from idealrank.store.web.json_api import OPERATIONS, Operation, answer_json
from idealrank.store.web.site import Site
from idealrank.version import __version__

PATH = "/api/openapi.json"
_ERROR = {
    "description": "Refused",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
}
_REFUSALS = {
    "400": "A parameter has another value than its schema allows, or the host is not this server's",
    "401": "The token is missing or wrong",
    "404": "There is no such entry or value, or no store",
    "409": "The evaluations cannot be compared",
    "503": "The store cannot be read",
}


_FIRST, _SECOND = ({"id": f"$response.body#/entries/{place}/id"} for place in (0, 1))
_LINKS: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "list_evaluations": {
        "show_evaluation": _FIRST,
        "list_values": _FIRST,
        "explain_query": _FIRST,
        "evaluate_under": _FIRST,
        "compare": {"a": _FIRST["id"], "b": _SECOND["id"]},
    },
    "list_verdicts": {"show_verdict": _FIRST},
}
"""Where an answer leads: parameters of other operations, by the name of the operation."""


def document(*, has_token: bool) -> dict[str, Any]:
    """The document, in OpenAPI 3.1."""
    described = {operation.path: {"get": _operation(operation)} for operation in OPERATIONS}
    components: dict[str, Any] = {
        "schemas": {
            "Error": {
                "type": "object",
                "properties": {"error": {"type": "string"}},
                "required": ["error"],
            }
        }
    }
    secured: dict[str, Any] = {}
    if has_token:
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        secured = {"security": [{"token": []}]}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "idealrank",
            "version": __version__,
            "description": "Evaluations, comparisons and gates of a store. Everything is "
            "read-only.",
            "license": {"name": "Apache-2.0"},
        },
        "paths": described,
        "components": components,
        **secured,
    }


def _operation(operation: Operation) -> dict[str, Any]:
    return {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": [
            {
                "name": one.name,
                "in": "path" if f"{{{one.name}}}" in operation.path else "query",
                "description": one.description,
                "required": one.required,
                "schema": dict(one.schema),
            }
            for one in operation.parameters
        ],
        "responses": {
            "200": {
                "description": operation.summary,
                "content": {"application/json": {"schema": dict(operation.result)}},
                **({"links": _links(operation)} if operation.name in _LINKS else {}),
            },
            **{status: {**_ERROR, "description": words} for status, words in _REFUSALS.items()},
        },
    }


def _links(operation: Operation) -> dict[str, Any]:
    return {
        name: {"operationId": name, "parameters": dict(given)}
        for name, given in _LINKS[operation.name].items()
    }


def openapi(request: Request) -> Response:
    """Answer with the document."""
    return answer_json(document(has_token=bool(Site.of(request).guard.token)))
