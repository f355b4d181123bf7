"""Runs from saved responses of search engines: Elasticsearch, OpenSearch and Solr."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

from idealrank.errors import FileFormatError
from idealrank.io.checked_cells import check_id, check_number, describe_value, shown
from idealrank.io.complaints import Complain, Complaint, Notes, refuse
from idealrank.io.formats.msearch import is_body, is_header, query_names
from idealrank.io.formats.nested import broken, load
from idealrank.io.row_parts import Block, Blocks, Place, Table
from idealrank.io.sources import Source
from idealrank.io.table_columns import Columns, could_be_id, named_columns, query_column

_Object = Mapping[str, Any]
Lose: TypeAlias = Callable[[str, str], None]
"""Takes the kind and the name of a field that no run holds."""


def read_elasticsearch(
    source: Source, table: Table, columns: Columns, notes: Notes, complain: Complain
) -> Blocks:
    r"""Read a run from responses of Elasticsearch or OpenSearch."""
    return _Elasticsearch(source, table, columns, notes, complain).read()


def read_solr(
    source: Source, table: Table, columns: Columns, notes: Notes, complain: Complain
) -> Blocks:
    r"""Read a run from responses of Solr: ``{query: response}``, or responses that echo their
    parameter ``q``, one a line or in an array.
    """
    return _Solr(source, table, columns, notes, complain).read()


def lose_fields(source: Source, kind: str, columns: Columns, lose: Lose) -> None:
    """Pass every field of the responses that a run cannot hold to `lose`, each time it occurs,
    unless it is blank.
    """
    reader = _Solr if kind == "solr" else _Elasticsearch
    reader(source, "run", columns, notes=Notes(lambda _: None), complain=refuse, lose=lose).read()


_MISSING: Any = object()
_WORK = frozenset(
    {
        "took",
        "timed_out",
        "_shards",
        "status",
        "responseHeader",
        "max_score",
        "maxScore",
        "total",
        "numFound",
        "numFoundExact",
        "start",
    }
)
"""Fields of almost every response: about the work of the engine, or how many hits there are besides
these.
"""
_NESTED = ("_source", "fields")  # of a hit: what was indexed, and fields that were asked for


def _field_value(fields: _Object, name: str) -> Any:
    """Return the value of a field by its name or path; a list of one value is that value."""
    value = _at(fields, _path(fields, name))
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _path(fields: _Object, name: str) -> str:
    """Return the path of a field of this name; the name itself if there is none."""
    paths = (name, *(f"{object_name}.{name}" for object_name in _NESTED))
    return next((path for path in paths if _at(fields, path) is not _MISSING), name)


def _leaves(fields: _Object, prefix: str = "") -> Iterator[str]:
    """Yield the paths of all values that are not blank."""
    for name, value in fields.items():
        if isinstance(value, tuple):
            yield from _leaves(dict(value), f"{prefix}{name}.")
        elif value is not None and value not in ("", []):
            yield prefix + name


def _at(fields: _Object, path: str) -> Any:
    if path in fields:
        return fields[path]
    for name, value in fields.items():
        if isinstance(value, tuple) and path.startswith(f"{name}."):
            return _at(dict(value), path.removeprefix(f"{name}."))
    return _MISSING


def _likely_id(fields: _Object) -> str:
    """Guess a field that could name documents, for an example: one of the indexed document, or else
    one that is not a name of the engine.
    """
    paths = [path for path in _leaves(fields) if could_be_id(path, _field_value(fields, path))]
    nested = [path for path in paths if path.partition(".")[0] in _NESTED]
    indexed = [path for path in paths if not path.startswith("_") or path == "_id"]
    return next(iter(nested or indexed or paths), "NAME")


class _Responses(ABC):
    """Walks through a file and gathers the hits of each query."""

    engine = ""
    document = ""
    score = ""
    expected = ""
    hits = ("", "")  # field of a response, and the field in it

    def __init__(
        self,
        source: Source,
        table: Table,
        columns: Columns,
        notes: Notes,
        complain: Complain,
        lose: Lose | None = None,
    ) -> None:
        if table == "qrels":
            problem = f"responses of {self.engine}, which are results"
            raise FileFormatError(
                source.path, 0, problem, "judgments", "judgments come first, then runs"
            )
        self._source = source
        self._path = source.path
        self._columns = columns
        named = named_columns(columns, table)
        self._document = named.get("document", self.document)
        self._score = named.get("score", self.score)
        self._notes = notes
        self._complain = complain
        self._lose = lose
        self._blocks: list[Block] = []
        # hits that stand alone, by query: document, score and place of each
        self._loose: dict[str, list[tuple[str, float | None, Place]]] = {}
        self._doubts: dict[str, list[str]] = {}  # what is odd, in words: the queries

    def read(self) -> Blocks:
        """Read all queries of the file."""
        for value, place in _values(self._source, self._complain):
            self._walk(value, place)
        self._finish()
        for words, queries in self._doubts.items():
            self._notes.warn(
                f"{self._path}: {len(queries)} of {len(self._blocks)} queries {words} "
                f"({_some(queries)})"
            )
        return Blocks(self._blocks)

    def _walk(self, value: Any, place: Place) -> None:
        if isinstance(value, list):
            for number, item in enumerate(value, 1):
                self._walk(item, (f"{place[0]}: record {number}", place[1]))
            return
        if not isinstance(value, tuple):
            self._bad("type", place, describe_value(value), self.expected)
            return
        fields = dict(value)
        if self._is_hit(fields):
            self._take_hit(fields, place)
        elif self._is_response(fields):
            self._take(self._query_of(fields, place), fields, place)
        elif isinstance(fields.get("responses"), list):
            self._take_many(fields, place)
        elif (query := query_column(list(fields), self._columns)) and isinstance(
            fields.get("response"), tuple
        ):
            self._lose_columns(fields, query, "response")
            self._take(fields[query], dict(fields["response"]), place)
        else:
            for name, response in value:
                where = (f"{place[0]}: query {shown(name)}", place[1])
                if isinstance(response, tuple):
                    self._take(name, dict(response), where)
                else:
                    self._bad(
                        "type", where, describe_value(response), f"a response of {self.engine}"
                    )

    def _take_many(self, fields: _Object, place: Place) -> None:
        """Responses without queries, in the order of their requests."""
        responses = fields["responses"]
        queries = fields.get("queries")
        if isinstance(queries, list):
            self._take_each(queries, responses, place, "queries")
        else:
            hint = (
                'put the requests before the responses, or write {"queries": ["shoes", ...], '
                '"responses": [...]}'
            )
            self._take_numbered(responses, place, "responses without queries", hint)

    def _take_numbered(
        self, responses: Sequence[Any], place: Place, problem: str, hint: str
    ) -> None:
        self._notes.warn(
            f"{self._path}: found {problem}; the queries are named 1 to {len(responses)}; {hint}"
        )
        self._take_each(list(range(1, len(responses) + 1)), responses, place, "queries")

    def _take_each(
        self, queries: Sequence[Any], responses: Sequence[Any], place: Place, named_by: str
    ) -> None:
        if len(queries) != len(responses):
            self._bad(
                "type",
                place,
                f"{len(queries)} {named_by} and {len(responses)} responses",
                "as many of both",
            )
            return
        for query, response in zip(queries, responses, strict=True):
            # a response that is no object is refused as one without hits
            fields = dict(response) if isinstance(response, tuple) else {"": response}
            self._take(query, fields, place)

    def _finish(self) -> None:
        """Join the hits that stand alone in the file."""
        for query, hits in self._loose.items():
            ids, scores, places = zip(*hits, strict=True)
            self._add(query, ids, scores, places[0], ordered=False)

    def _take(self, query: Any, fields: _Object, place: Place) -> None:
        """Take one response."""
        if query is None:
            return
        name = check_id(query)
        if isinstance(name, tuple):
            self._complain(name.at(place, " of a query"))
            return
        path, line = place
        where = place if shown(name) in path else (f"{path}: query {shown(name)}", line)
        if "error" in fields:
            self._bad(
                "response",
                where,
                f"an error of {self.engine}, {shown(_reason(fields['error']))}",
                "hits",
                "send the query again",
            )
            return
        hits = self._hits(fields)
        if not isinstance(hits, list):
            self._bad(
                "type",
                where,
                f"fields {', '.join(map(repr, list(fields)[:5])) or 'none'}",
                self.expected,
            )
            return

        self._lose_other_fields(fields)
        if self._is_partial(fields):
            self._doubt("have partial results (a time limit, or shards that failed)", name)
        ids: list[str] = []
        scores: list[float | None] = []
        for hit in hits:
            checked = self._checked(hit, where)
            if checked is not None:
                self._lose_columns(dict(hit))
                document, score = checked
                ids.append(document)
                scores.append(score)
        self._add(name, ids, scores, where, ordered=True)

    def _take_hit(self, fields: _Object, place: Place) -> None:
        """Take one hit of JSON lines, with its query."""
        column = query_column(list(fields), self._columns)
        if not column:
            self._bad(
                "type",
                place,
                f"a hit with fields {', '.join(map(repr, list(fields)[:8]))}",
                "a field with its query",
                hint="name its field with columns={'query': ...}",
                command_hint="name its field with --run-columns query=NAME",
            )
            return
        query = check_id(fields[column])
        checked = self._checked(tuple(fields.items()), place)
        if isinstance(query, tuple):
            self._complain(query.at(place, f" in field {column!r}"))
        elif checked is not None:
            self._lose_columns(fields, column)
            self._loose.setdefault(query, []).append((*checked, place))

    def _checked(self, hit: Any, place: Place) -> tuple[str, float | None] | None:
        """Document and score of a hit; the score is None where the engine gives none."""
        if not isinstance(hit, tuple):
            self._bad("type", place, f"{describe_value(hit)} as a hit", "an object")
            return None
        fields = dict(hit)
        identifier = _field_value(fields, self._document)
        if identifier is _MISSING:
            name = _likely_id(fields)
            advice = "name the field of the document, as in"
            self._bad(
                "null",
                place,
                f"a hit without {self._document!r}",
                "the id of a document",
                hint=f"{advice} columns={{'document': {name!r}}}",
                command_hint=f"{advice} --run-columns document={name}",
            )
            return None
        document = check_id(identifier)
        score = _field_value(fields, self._score)
        has_score = score is not _MISSING and score is not None
        number = check_number(score, "run") if has_score else None
        for fault in (document, number):
            if isinstance(fault, tuple):
                self._complain(fault.at(place, " of a hit"))
                return None
        return document, number  # type: ignore[return-value]

    def _add(
        self,
        query: str,
        ids: Sequence[str],
        scores: Sequence[float | None],
        place: Place,
        *,
        ordered: bool,
    ) -> None:
        """Add the hits by score; in their own order where that differs, or where a score is
        missing.
        """
        given_scores = [score for score in scores if score is not None]
        doubt = ""
        if len(given_scores) < len(ids):
            some = "some hits without" if given_scores else "hits without"
            doubt = f"have {some} a score"
        elif ordered and any(later > earlier for earlier, later in pairwise(given_scores)):
            doubt = "have hits that are not in the order of the scores"
        values = given_scores
        if doubt:
            self._doubt(f"{doubt}; the order of the hits counts", query)
            self._lose_scores(len(given_scores))
            # Subtracted, not negated: no score is -0.0.
            values = [0.0 - place_in_list for place_in_list in range(len(ids))]
        self._blocks.append(Block(query=query, documents=list(ids), values=values, place=place))

    def _lose_columns(self, fields: _Object, *read: str) -> None:
        """Name the fields of a hit that are neither its document nor its score; `read` are fields
        that were read besides.
        """
        if self._lose is not None:
            paths_of_run = {_path(fields, self._document), _path(fields, self._score)}
            others = {name: value for name, value in fields.items() if name not in read}
            for path in _leaves(others):
                if path not in paths_of_run:
                    self._lose("columns", path)

    def _lose_scores(self, count: int) -> None:
        """Name scores that the order of the hits replaces."""
        if self._lose is not None:
            for _ in range(count):
                self._lose("columns", self._score)

    def _lose_other_fields(self, fields: _Object) -> None:
        """Name the fields of a response besides its hits, such as aggregations."""
        if self._lose is None:
            return
        object_of_hits, hits = self.hits
        ignored = {*_WORK, hits}
        query = query_column(list(fields), self._columns)
        for name, value in fields.items():
            # the field that has the hits is looked into; any other is lost as a whole
            others: _Object = {}
            if name == object_of_hits and isinstance(value, tuple):
                others = {f"{name}.{inner}": part for inner, part in value if inner not in ignored}
            elif name not in ignored and name != query:
                others = {name: value}
            for path, lost in others.items():
                if lost not in (None, "", [], ()):
                    self._lose("response_fields", path)

    def _doubt(self, words: str, query: str) -> None:
        self._doubts.setdefault(words, []).append(query)

    def _bad(
        self,
        kind: str,
        place: Place,
        problem: str,
        expected: str,
        hint: str = "",
        command_hint: str = "",
    ) -> None:
        self._complain(Complaint(kind, *place, problem, expected, hint, command_hint=command_hint))

    def _without_query(self, place: Place, hint: str) -> None:
        self._bad("type", place, "a response without its query", "{query: response}", hint)

    @abstractmethod
    def _is_hit(self, fields: _Object) -> bool: ...

    @abstractmethod
    def _is_response(self, fields: _Object) -> bool: ...

    @abstractmethod
    def _query_of(self, fields: _Object, place: Place) -> Any:
        """The query of a response that stands alone; None after a complaint."""

    @abstractmethod
    def _hits(self, fields: _Object) -> Any: ...

    @abstractmethod
    def _is_partial(self, fields: _Object) -> bool: ...


class _Elasticsearch(_Responses):
    engine = "Elasticsearch"
    document = "_id"
    score = "_score"
    hits = ("hits", "hits")
    expected = '{query: response}, {"responses": [...]}, or hits that each have a query'

    def __init__(
        self,
        source: Source,
        table: Table,
        columns: Columns,
        notes: Notes,
        complain: Complain,
        lose: Lose | None = None,
    ) -> None:
        super().__init__(source, table, columns, notes=notes, complain=complain, lose=lose)
        self._header: Place | None = None
        self._requests: list[Any] = []
        self._responses: list[Any] = []

    def _walk(self, value: Any, place: Place) -> None:
        """Lines of requests are kept until the end, and so are the responses to them: an answer
        follows several requests.
        """
        header, self._header = self._header, None
        if header is None and is_header(value):
            self._header = place
        elif header is not None and is_body(value):
            self._requests.append(value)
        else:
            super()._walk(value, place)

    def _take_many(self, fields: _Object, place: Place) -> None:
        if "queries" in fields:
            super()._take_many(fields, place)
        else:
            self._responses.extend(fields["responses"])

    def _finish(self) -> None:
        """Join requests and responses, which come in the same order."""
        super()._finish()
        requests = self._requests
        responses = self._responses
        place = (self._path, 0)
        if not requests:
            if responses:
                super()._take_many({"responses": responses}, place)
        elif not responses:
            problem = f"{len(requests)} requests of _msearch without responses"
            hint = (
                "put the responses after the requests: cat requests.ndjson responses.json > "
                "run.jsonl"
            )
            self._bad("type", place, problem, "both", hint)
        elif not (names := query_names(requests)) and len(requests) == len(responses):
            hint = 'give every request a "_name" of its own'
            self._take_numbered(responses, place, "requests without a text of their own each", hint)
        else:
            self._take_each(names or requests, responses, place, "requests")
            self._notes.inform(
                f"{self._path}: {len(names)} queries named by the lines of their requests "
                f"({_some(names)})"
            )

    def _is_hit(self, fields: _Object) -> bool:
        return "_id" in fields and not isinstance(fields["_id"], tuple)

    def _is_response(self, fields: _Object) -> bool:
        hits: Any = fields.get("hits")
        is_object = isinstance(hits, tuple) and all(isinstance(pair, tuple) for pair in hits)
        fields_of_hits = dict(hits) if is_object else {}
        has_total = "total" in fields_of_hits and "took" in fields
        # hits as a list of their own, next to the query that a program wrote beside them
        is_short = isinstance(hits, list) and bool(query_column(list(fields), self._columns))
        return isinstance(fields_of_hits.get("hits"), list) or has_total or is_short

    def _query_of(self, fields: _Object, place: Place) -> Any:
        if column := query_column(list(fields), self._columns):
            return fields[column]
        self._without_query(place, 'such as {"shoes": {"hits": ...}}')
        return None

    def _hits(self, fields: _Object) -> Any:
        """The list of hits; empty for an empty object, with which a request with ``filter_path``
        is answered if there are none.
        """
        hits = fields.get("hits", ()) if fields == {} or "hits" in fields else None
        if isinstance(hits, list):
            return hits
        return dict(hits).get("hits", []) if isinstance(hits, tuple) else None

    def _is_partial(self, fields: _Object) -> bool:
        failed = _object(fields.get("_shards")).get("failed")
        return fields.get("timed_out") is True or bool(failed)


class _Solr(_Responses):
    engine = "Solr"
    document = "id"
    score = "score"
    hits = ("response", "docs")
    expected = (
        "{query: response}, or responses with responseHeader.params.q and response.docs (not "
        '"grouped")'
    )

    def _is_hit(self, fields: _Object) -> bool:
        return False

    def _is_response(self, fields: _Object) -> bool:
        return "docs" in _object(fields.get("response")) or "responseHeader" in fields

    def _query_of(self, fields: _Object, place: Place) -> Any:
        if column := query_column(list(fields), self._columns):
            return fields[column]
        header = _object(fields.get("responseHeader"))
        query = _object(header.get("params")).get("q")
        if query is None:
            self._without_query(place, "or ask Solr with echoParams=explicit")
        return query

    def _hits(self, fields: _Object) -> Any:
        return _object(fields.get("response")).get("docs")

    def _is_partial(self, fields: _Object) -> bool:
        return _object(fields.get("responseHeader")).get("partialResults") is True


def _some(queries: Sequence[str]) -> str:
    return ", ".join(map(shown, queries[:3])) + (", ..." if len(queries) > 3 else "")


def _object(value: Any) -> _Object:
    """Return the fields of a value that should be an object; none if it is no object."""
    return dict(value) if isinstance(value, tuple) else {}


def _reason(error: Any) -> str:
    """An engine's words for an error, shortened."""
    if not isinstance(error, tuple):
        return str(error)[:200]
    fields = dict(error)
    words = [fields.get(name) for name in ("type", "reason", "msg")]
    return ": ".join(word for word in words if isinstance(word, str))[:200] or "no reason given"


def _values(source: Source, complain: Complain) -> Iterator[tuple[Any, Place]]:
    """Yield the value of a JSON file, or of each line of a JSON lines file, with its place."""
    try:
        value = load(source.read())
    except (ValueError, RecursionError) as error:
        if not (isinstance(error, json.JSONDecodeError) and error.msg == "Extra data"):
            complain(broken(error, source.path, 0))
            return
    else:
        yield value, (source.path, 0)
        return
    bytes_read = 0
    for number, line in enumerate(source.open(), 1):
        bytes_read += len(line)
        if not line.strip():
            continue
        try:
            value = load(line.strip())
        except (ValueError, RecursionError) as error:
            # responses over many lines may follow the lines of requests
            value = None
            if line.strip() == b"{":
                value = _rest(source, bytes_read - len(line))
            if value is not None:
                yield value, (source.path, number)
                return
            complain(broken(error, source.path, number))
        else:
            yield value, (source.path, number)


def _rest(source: Source, start: int) -> Any:
    """Parse the rest of the file as one value over many lines; None if it is not one."""
    try:
        return load(source.read()[start:])
    except (ValueError, RecursionError):
        return None
