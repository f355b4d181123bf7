"""The JSON API and its OpenAPI document: the same numbers as the pages, with the keys of ``--format
json``.

Each operation is one row of `OPERATIONS`: its parameters are checked by what the OpenAPI document
says of them.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from idealrank.conventions import PRESETS, Convention
from idealrank.errors import IdealrankError, IncompatibleError, InputError, OptionError
from idealrank.inputs.evaluation import evaluate_read
from idealrank.inputs.explanation import explain
from idealrank.reports.table.records import convention_record, enveloped
from idealrank.store import Entry, Store
from idealrank.store.record import Kind, origin
from idealrank.store.views.history import history_json
from idealrank.store.web.convention_pages import ranking_of
from idealrank.store.web.details import subject_of
from idealrank.store.web.query_pages import sides_of
from idealrank.store.web.site import Site, entry_of, status_of
from idealrank.version import __version__

Parameters = Mapping[str, Any]  # of a request, by name

_MOST = 1000  # entries of an answer
_USUAL = 100  # entries of an answer by default
_MOST_TEXT = 500  # letters of a parameter
_ID = "^[0-9a-f]{4,12}$"


@dataclass(frozen=True, kw_only=True)
class ApiParameter:
    """Parameter of an operation."""

    # name, description: As the document has them
    name: str
    description: str
    # JSON schema: a string, perhaps with a pattern or choices, or an integer within bounds
    schema: Mapping[str, Any]
    required: bool = False  # Whether a request without it is refused

    def value(self, text: str) -> "str | int":
        """Return the value of a text."""
        schema = self.schema
        if schema["type"] == "integer":
            return self._number(text)
        if "enum" in schema and text not in schema["enum"]:
            raise self._refused(f"one of {', '.join(schema['enum'])}")
        # In Python $ would also match before a line feed at the end.
        pattern = schema.get("pattern", "").replace("$", r"\Z")
        if not re.search(pattern, text):
            raise self._refused(self.description)
        shortest = schema.get("minLength", 0)
        longest = schema.get("maxLength")
        if len(text) < shortest or (longest is not None and len(text) > longest):
            raise self._refused(f"text of {shortest} to {longest} characters")
        return text

    def _number(self, text: str) -> int:
        least = self.schema["minimum"]
        most = self.schema.get("maximum")
        number = int(text) if re.fullmatch(r"-?[0-9]{1,12}", text, re.ASCII) else None
        if number is None or number < least or (most is not None and number > most):
            raise self._refused(f"a whole number from {least} to {'any' if most is None else most}")
        return number

    def _refused(self, expected: str) -> HTTPException:
        return HTTPException(400, f"{self.name}: found another value, expected {expected}")


@dataclass(frozen=True, kw_only=True)
class Operation:
    """Operation of the API."""

    path: str  # Address, with its parameters in braces
    # name, summary: As the document has them
    name: str
    summary: str
    # Makes the result from the page, the store and the parameters
    answer: Callable[[Site, Store, Parameters], Any]
    parameters: tuple[ApiParameter, ...] = ()  # All of them, also of the path
    # JSON schema of the result
    result: Mapping[str, Any] = field(default_factory=lambda: {"type": "object"})

    def values(self, request: Request) -> dict[str, Any]:
        """Read the parameters of a request."""
        known = {parameter.name: parameter for parameter in self.parameters}
        values: dict[str, Any] = {}
        for name, text in [*request.path_params.items(), *request.query_params.multi_items()]:
            if name not in known:
                raise HTTPException(
                    400,
                    f"parameter {name!r}: found an unknown one, expected one of "
                    f"{', '.join(known) or 'none'}",
                )
            if name in values:
                raise HTTPException(400, f"{name}: found it more than once, expected it once")
            values[name] = known[name].value(str(text))
        for parameter in self.parameters:
            if parameter.required and parameter.name not in values:
                raise HTTPException(
                    400, f"{parameter.name}: found none, expected {parameter.description}"
                )
            if "default" in parameter.schema:
                values.setdefault(parameter.name, parameter.schema["default"])
        return values

    def endpoint(self, request: Request) -> Response:
        """Answer a request."""
        site = Site.of(request)
        parameters = self.values(request)
        with site.folder.required() as store:
            try:
                return answer_json(self.answer(site, store, parameters))
            # A measure that no evaluation has, or that cannot be explained.
            except OptionError as error:
                raise HTTPException(404, str(error)) from error
            except IncompatibleError as error:
                raise HTTPException(409, str(error)) from error


def answer_json(result: Any) -> Response:
    """Answer with JSON; a number that is not finite is null."""
    text = json.dumps(_plain(result), separators=(",", ":"), allow_nan=False)
    return Response(text, media_type="application/json")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _entries(*kinds: Kind) -> Callable[[Site, Store, Parameters], Any]:
    """Make the operation that lists entries of some kinds."""

    def answer(_site: Site, store: Store, parameters: Parameters) -> Any:
        limit = parameters["limit"]
        conditions = _chosen(parameters, ("run", "tag", "measure", "commit"))
        entries: list[Entry] = []
        for kind in kinds:
            entries += store.entries(kind=kind, limit=limit, **conditions)
        entries.sort(key=lambda entry: (entry.record.time, entry.id), reverse=True)
        return enveloped({"entries": list(map(_entry_record, entries[:limit]))})

    return answer


def _chosen(parameters: Parameters, names: Sequence[str]) -> dict[str, Any]:
    return {name: parameters[name] for name in names if name in parameters}


def _entry_record(entry: Entry) -> dict[str, Any]:
    convention = None
    if entry.convention:
        convention = {"name": entry.convention, "fingerprint": entry.fingerprint}
    return origin(entry) | {
        "mean": entry.means,
        "queries": entry.n_queries,
        "convention": convention,
    }


def _evaluation(site: Site, store: Store, parameters: Parameters) -> Any:
    entry = entry_of(store, parameters["id"], "evaluation")
    subject = subject_of(site, store, [entry.id])
    evaluation = subject.evaluations[0]
    intervals: dict[str, list[float]] = {}
    for text, runs in subject.means.items():
        for mean in runs.values():  # of the only run, if it has an interval
            intervals[text] = list(mean.interval)
    return origin(entry) | enveloped(
        {
            "convention": convention_record(evaluation.convention),
            "mean": evaluation.mean(),
            "intervals": intervals,
            "coverage": evaluation.coverage.as_dict(),
            "judgments": evaluation.provenance.judgments,
            "inputs": store.evaluation(entry.id).fields["inputs"],
        }
    )


def _queries(site: Site, store: Store, parameters: Parameters) -> Any:
    (side,) = sides_of(site, store, [parameters["id"]])
    evaluation = side.evaluation
    texts = list(map(str, evaluation.measures))
    part = slice(parameters["offset"], parameters["offset"] + parameters["limit"])
    # A value that does not count is null.
    values = np.where(evaluation.scored[part], evaluation.values[part], np.nan).tolist()
    rows = {
        query: dict(zip(texts, row, strict=True))
        for query, row in zip(evaluation.queries[part], values, strict=True)
    }
    return enveloped({"id": side.entry.id, "total": len(evaluation.queries), "queries": rows})


def _verdict(_site: Site, store: Store, parameters: Parameters) -> Any:
    entry = entry_of(store, parameters["id"])
    if entry.kind == "evaluation":
        raise HTTPException(
            404, f"id {entry.id}: found an evaluation, expected a comparison or a gate"
        )
    kept = store.comparison(entry.id) if entry.kind == "comparison" else store.gate(entry.id)
    return origin(entry) | {"result": kept.result}


def _comparison(site: Site, store: Store, parameters: Parameters) -> Any:
    ids = [entry_of(store, parameters[name], "evaluation").id for name in ("a", "b")]
    if ids[0] == ids[1]:
        raise HTTPException(400, "a and b: found one evaluation, expected two")
    subject = subject_of(
        site,
        store,
        ids,
        measures=parameters.get("measure", ""),
        different=parameters["judgments"] == "different",
    )
    compared = {} if subject.comparison is None else subject.comparison.as_dict()
    return enveloped({"a": ids[0], "b": ids[1], **compared})


def _history(_site: Site, store: Store, parameters: Parameters) -> Any:
    try:
        timeline = store.history(**_chosen(parameters, ("measure", "run", "tag", "query", "since")))
    except InputError as error:
        raise HTTPException(status_of(error), str(error)) from error
    return json.loads("".join(history_json(timeline, shown=parameters["limit"])))


def _explanation(site: Site, store: Store, parameters: Parameters) -> Any:
    (side,) = sides_of(site, store, [parameters["id"]])
    original = site.originals.of(side.stored)
    if original is None:
        raise HTTPException(
            404,
            "found no judgments and run of this evaluation, expected them below a folder of --data",
        )
    measure = parameters.get("measure", str(side.evaluation.measures[0]))
    try:
        return explain(
            original.qrels, original.run, parameters["query"], measure, side.evaluation.convention
        ).as_dict()
    except InputError as error:
        raise HTTPException(404, str(error)) from error


def _under_convention(site: Site, store: Store, parameters: Parameters) -> Any:
    (side,) = sides_of(site, store, [parameters["id"]])
    convention = Convention.of(parameters["convention"])
    ranking = ranking_of(site, side)
    if isinstance(ranking, str):
        raise HTTPException(404, ranking)
    if not ranking.measures:
        raise HTTPException(404, ranking.lacking)
    try:
        evaluation = evaluate_read(ranking.qrels, ranking.run, ranking.measures, convention)
    except IdealrankError as error:
        raise HTTPException(400, str(error)) from error
    stored = side.evaluation.mean()
    return enveloped(
        {
            "id": side.entry.id,
            "convention": convention_record(convention),
            "mean": evaluation.mean(),
            "stored": {str(measure): stored[str(measure)] for measure in ranking.measures},
            "lacking": ranking.lacking,
        }
    )


def _monitors(site: Site, store: Store, _parameters: Parameters) -> Any:
    return enveloped({"monitors": site.monitors(store)})


_TEXT = {"type": "string", "minLength": 1, "maxLength": _MOST_TEXT}
_NULLABLE = {"type": ["number", "null"]}
_MEANS = {"type": ["object", "null"], "additionalProperties": _NULLABLE}
_LIMIT = ApiParameter(
    name="limit",
    description="most entries",
    schema={"type": "integer", "minimum": 1, "maximum": _MOST, "default": _USUAL},
)
_ID_IN_PATH = ApiParameter(
    name="id",
    description="id of an entry, or a unique prefix of 4 hexadecimal digits or more",
    schema={"type": "string", "pattern": _ID},
    required=True,
)
_MEASURE = ApiParameter(name="measure", description="measure in any spelling", schema=_TEXT)
_RUN = ApiParameter(name="run", description="name of a run", schema=_TEXT)
_TAG = ApiParameter(name="tag", description="tag of an entry", schema=_TEXT)
_COMMIT = ApiParameter(name="commit", description="commit or the beginning of one", schema=_TEXT)
_SINCE = ApiParameter(
    name="since",
    description="so long ago: 7d, 12h, 30m, 2w",
    schema={"type": "string", "pattern": "^[0-9]{1,4}[mhdw]$"},
)
_OFFSET = ApiParameter(
    name="offset",
    description="queries to pass over",
    schema={"type": "integer", "minimum": 0, "default": 0, "maximum": 10**9},
)
_HEAD: Mapping[str, Any] = {"version": {"type": "string"}, "schema": {"type": "integer"}}
_ORIGIN: Mapping[str, Any] = {
    "id": {"type": "string", "pattern": "^[0-9a-f]{12}$"},
    "kind": {"enum": ["evaluation", "comparison", "gate"]},
    "name": {"type": "string"},
    "when": {"type": "string"},
    "command": {"type": "string"},
    "commit": {"type": "string"},
    "changed": {"type": ["boolean", "null"]},
    "tags": {"type": "array", "items": {"type": "string"}},
    "notes": {"type": "array", "items": {"type": "string"}},
    "parts": {"type": "array", "items": {"type": "string"}},
}


def _object(required: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": dict(required), "required": list(required)}


_LISTED = _object(
    {
        **_HEAD,
        "entries": {
            "type": "array",
            "items": _object(
                {
                    **_ORIGIN,
                    "mean": _MEANS,
                    "queries": {"type": ["integer", "null"]},
                    "convention": {"type": ["object", "null"]},
                }
            ),
        },
    }
)

OPERATIONS: tuple[Operation, ...] = (
    Operation(
        path="/api/evaluations",
        name="list_evaluations",
        summary="Evaluations, the newest first",
        answer=_entries("evaluation"),
        parameters=(_RUN, _TAG, _MEASURE, _COMMIT, _LIMIT),
        result=_LISTED,
    ),
    Operation(
        path="/api/evaluations/{id}",
        name="show_evaluation",
        summary="One evaluation with intervals, coverage and input files",
        answer=_evaluation,
        parameters=(_ID_IN_PATH,),
        result=_object(
            {
                **_ORIGIN,
                **_HEAD,
                "mean": _MEANS,
                "intervals": {"type": "object"},
                "coverage": {"type": "object"},
                "convention": {"type": "object"},
                "inputs": {"type": "array"},
            }
        ),
    ),
    Operation(
        path="/api/evaluations/{id}/queries",
        name="list_values",
        summary="Values of each query of an evaluation",
        answer=_queries,
        parameters=(_ID_IN_PATH, _LIMIT, _OFFSET),
        result=_object(
            {
                **_HEAD,
                "id": {"type": "string"},
                "total": {"type": "integer"},
                "queries": {
                    "type": "object",
                    "additionalProperties": {"type": "object", "additionalProperties": _NULLABLE},
                },
            }
        ),
    ),
    Operation(
        path="/api/evaluations/{id}/explanation",
        name="explain_query",
        summary="Value of a query, rank by rank, where judgments and run are found",
        answer=_explanation,
        parameters=(
            _ID_IN_PATH,
            ApiParameter(name="query", description="id of a query", schema=_TEXT, required=True),
            _MEASURE,
        ),
        result=_object(
            {
                "run": {"type": "string"},
                "query": {"type": "string"},
                "value": _NULLABLE,
                "rows": {"type": "array"},
            }
        ),
    ),
    Operation(
        path="/api/evaluations/{id}/convention",
        name="evaluate_under",
        summary="Means of an evaluation under another convention",
        answer=_under_convention,
        parameters=(
            _ID_IN_PATH,
            ApiParameter(
                name="convention",
                description="convention",
                schema={"type": "string", "enum": list(PRESETS)},
                required=True,
            ),
        ),
        result=_object(
            {
                **_HEAD,
                "id": {"type": "string"},
                "convention": {"type": "object"},
                "mean": _MEANS,
                "stored": _MEANS,
            }
        ),
    ),
    Operation(
        path="/api/history",
        name="show_history",
        summary="Values of one measure in the order in which they were stored",
        answer=_history,
        parameters=(
            _MEASURE,
            _RUN,
            _TAG,
            ApiParameter(name="query", description="id of a query", schema=_TEXT),
            _SINCE,
            _LIMIT,
        ),
        result=_object(
            {
                **_HEAD,
                "measure": {"type": "string"},
                "total": {"type": "integer"},
                "points": {"type": "array"},
            }
        ),
    ),
    Operation(
        path="/api/comparison",
        name="compare",
        summary="Two evaluations against each other, computed now",
        answer=_comparison,
        parameters=(
            ApiParameter(
                name="a",
                description="id of the first evaluation",
                schema={"type": "string", "pattern": _ID},
                required=True,
            ),
            ApiParameter(
                name="b",
                description="id of the second evaluation",
                schema={"type": "string", "pattern": _ID},
                required=True,
            ),
            _MEASURE,
            ApiParameter(
                name="judgments",
                description="whether they may differ",
                schema={"type": "string", "enum": ["same", "different"], "default": "same"},
            ),
        ),
        result=_object(
            {**_HEAD, "a": {"type": "string"}, "b": {"type": "string"}, "pairs": {"type": "array"}}
        ),
    ),
    Operation(
        path="/api/verdicts",
        name="list_verdicts",
        summary="Comparisons and gates, the newest first",
        answer=_entries("comparison", "gate"),
        parameters=(_TAG, _COMMIT, _LIMIT),
        result=_LISTED,
    ),
    Operation(
        path="/api/monitors",
        name="list_monitors",
        summary="Monitors of canary queries with their open alarms",
        answer=_monitors,
        parameters=(),
        result=_object(
            {
                **_HEAD,
                "monitors": {
                    "type": "array",
                    "items": _object(
                        {
                            "name": {"type": "string"},
                            "open": {"type": "array", "items": {"type": "string"}},
                            "outcome": {"type": "string"},
                            "when": {"type": "string"},
                        }
                    ),
                },
            }
        ),
    ),
    Operation(
        path="/api/verdicts/{id}",
        name="show_verdict",
        summary="A comparison or a gate as it was stored",
        answer=_verdict,
        parameters=(_ID_IN_PATH,),
        result=_object({**_ORIGIN, "result": {"type": "object"}}),
    ),
)
"""All operations except the one that gives the document itself."""


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


# The ids of the first two entries of a list, as OpenAPI writes them.
_FIRST = {"id": "$response.body#/entries/0/id"}
_SECOND = {"id": "$response.body#/entries/1/id"}
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
    parameters = [
        {
            "name": parameter.name,
            "in": "path" if f"{{{parameter.name}}}" in operation.path else "query",
            "description": parameter.description,
            "required": parameter.required,
            "schema": dict(parameter.schema),
        }
        for parameter in operation.parameters
    ]
    links = {"links": _links(operation)} if operation.name in _LINKS else {}
    return {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": parameters,
        "responses": {
            "200": {
                "description": operation.summary,
                "content": {"application/json": {"schema": dict(operation.result)}},
            }
            | links,
            **{status: {**_ERROR, "description": words} for status, words in _REFUSALS.items()},
        },
    }


def _links(operation: Operation) -> dict[str, Any]:
    return {
        name: {"operationId": name, "parameters": dict(links)}
        for name, links in _LINKS[operation.name].items()
    }


def openapi(request: Request) -> Response:
    """Answer with the document."""
    return answer_json(document(has_token=bool(Site.of(request).guard.token)))
