"""Runs from saved responses of search engines, Elasticsearch, OpenSearch and Solr, and the requests
of ``_msearch`` that name their queries.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

from idealrank.errors import FileFormatError
from idealrank.io.checked_cells import check_id, check_number, describe_value, shown
from idealrank.io.complaints import Complain, Complaint, Notes, refuse
from idealrank.io.formats.nested import broken, load
from idealrank.io.row_parts import Block, Blocks, Place, Table
from idealrank.io.sources import Source
from idealrank.io.table_columns import Columns, named_columns, query_column

_HEADER = frozenset(
    (
        "index",
        "search_type",
        "preference",
        "routing",
        "request_cache",
        "ignore_unavailable",
        "allow_no_indices",
        "expand_wildcards",
        "ccs_minimize_roundtrips",
        "allow_partial_search_results",
        "max_concurrent_shard_requests",
        "project_routing",
    )
)
_BODY = frozenset(
    ("query", "knn", "retriever", "params", "sub_searches", "size", "from", "suggest")
)
# Clauses of the form {field: text}, and fields whose value is the text that a user typed.
_BY_FIELD = frozenset(("match", "match_phrase", "match_phrase_prefix", "match_bool_prefix"))
_TEXTS = frozenset(("query", "query_text", "model_text"))
_NAME = "_name"


def is_header(value: Any) -> bool:
    """Return whether this may be the first line of a request; objects are tuples of pairs."""
    return isinstance(value, tuple) and all(
        name in _HEADER and not isinstance(one, tuple) for name, one in value
    )


def is_body(value: Any) -> bool:
    """Return whether this may be the second line of a request."""
    return isinstance(value, tuple) and any(
        name in _BODY and not isinstance(one, str) for name, one in value
    )


def query_names(bodies: Sequence[Any]) -> list[str]:
    """A name for each request: its ``_name``, or the text that it searches; empty if not every
    request has one of its own.

    A text that every request contains, such as a filter, names none.
    """
    for words in (_names, _texts):
        found = [list(dict.fromkeys(words(body))) for body in bodies]
        common = set(found[0]).intersection(*found[1:]) if len(found) > 1 else set()
        own = [[text for text in texts if text not in common] for texts in found]
        if all(len(texts) == 1 for texts in own) and len({texts[0] for texts in own}) == len(own):
            return [texts[0] for texts in own]
    return []


def _names(value: Any) -> Iterator[str]:
    for name, one in _fields(value):
        if name == _NAME and isinstance(one, str) and one.strip():
            yield one


def _texts(value: Any) -> Iterator[str]:
    for name, one in _fields(value):
        if name in _TEXTS and isinstance(one, str):
            texts: Sequence[Any] = (one,)
        elif (name in _BY_FIELD or name == "params") and isinstance(one, tuple):
            texts = [text for _, text in one]
        else:
            texts = ()
        yield from (text for text in texts if isinstance(text, str) and text.strip())


def _fields(value: Any) -> Iterator[tuple[str, Any]]:
    """Every field, however deep; without recursion, since the depth is the file's."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, list):
            left.extend(one)
        elif isinstance(one, tuple):
            for name, inner in one:
                yield name, inner
                left.append(inner)


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
    """Name every field of the responses that a run has no place for, each time it occurs; blank
    ones are not lost.
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
_INNER = ("_source", "fields")  # of a hit: what was indexed, and fields that were asked for


def _inner(fields: _Object, name: str) -> Any:
    """Value of a field by its name or path; a list of one value is the value."""
    value = _at(fields, _path(fields, name))
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _path(fields: _Object, name: str) -> str:
    """Path of a field that is named so; the name if there is none."""
    paths = (name, *(f"{outer}.{name}" for outer in _INNER))
    return next((path for path in paths if _at(fields, path) is not _MISSING), name)


def _leaves(fields: _Object, outer: str = "") -> Iterator[str]:
    """Paths of all values that are not blank."""
    for name, value in fields.items():
        if isinstance(value, tuple):
            yield from _leaves(dict(value), f"{outer}{name}.")
        elif value is not None and value not in ("", []):
            yield outer + name


def _at(fields: _Object, path: str) -> Any:
    if path in fields:
        return fields[path]
    for outer, value in fields.items():
        if isinstance(value, tuple) and path.startswith(f"{outer}."):
            return _at(dict(value), path[len(outer) + 1 :])
    return _MISSING


def _likely_id(fields: _Object) -> str:
    """A field that could name documents, for an example: the first inner one, else the first that
    is no name of the engine's.
    """
    for outer in _INNER:
        if isinstance(fields.get(outer), tuple) and fields[outer]:
            return f"{outer}.{fields[outer][0][0]}"
    own = [name for name in fields if not name.startswith("_") or name == "_id"]
    return next(iter(own or fields), "NAME")


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
            found = f"responses of {self.engine}, which are results"
            raise FileFormatError(
                source.path, 0, found, "judgments", "judgments come first, then runs"
            )
        self._source = source
        self._path = source.path
        self._columns = columns
        named = named_columns(columns, table)
        self._document, self._score = (
            named.get("document", self.document),
            named.get("score", self.score),
        )
        self._notes = notes
        self._complain = complain
        self._lose = lose
        self._blocks: list[Block] = []
        self._loose: dict[str, list[tuple[str, float | None, Place]]] = {}
        self._said: dict[str, list[str]] = {}

    def read(self) -> Blocks:
        """All queries of the file."""
        for value, place in _values(self._source, self._complain):
            self._walk(value, place)
        self._finish()
        for words, queries in self._said.items():
            some = ", ".join(map(shown, queries[:3])) + (", ..." if len(queries) > 3 else "")
            self._notes.warn(
                f"{self._path}: {len(queries)} of {len(self._blocks)} queries {words} ({some})"
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
        responses, queries = fields["responses"], fields.get("queries")
        if isinstance(queries, list):
            self._take_each(queries, responses, place, "queries")
        else:
            named = (
                'put the requests before the responses, or write {"queries": ["shoes", ...], '
                '"responses": [...]}'
            )
            self._take_by_place(responses, place, "responses without queries", named)

    def _take_by_place(self, responses: Sequence[Any], place: Place, found: str, hint: str) -> None:
        self._notes.warn(
            f"{self._path}: found {found}; the queries are named 1 to {len(responses)}; {hint}"
        )
        self._take_each(list(range(1, len(responses) + 1)), responses, place, "queries")

    def _take_each(
        self, queries: Sequence[Any], responses: Sequence[Any], place: Place, given: str
    ) -> None:
        if len(queries) != len(responses):
            self._bad(
                "type",
                place,
                f"{len(queries)} {given} and {len(responses)} responses",
                "as many of both",
            )
            return
        for query, response in zip(queries, responses, strict=True):
            self._take(
                query, dict(response) if isinstance(response, tuple) else {"": response}, place
            )

    def _finish(self) -> None:
        """Join what stands apart in the file."""
        for query, hits in self._loose.items():
            ids, scores = [hit[0] for hit in hits], [hit[1] for hit in hits]
            self._add(query, ids, scores, hits[0][2], ordered=False)

    def _take(self, query: Any, fields: _Object, place: Place) -> None:
        """One response."""
        if query is None:
            return
        name = check_id(query)
        if isinstance(name, tuple):
            self._bad(name[0], place, f"{name[1]} of a query", name[2])
            return
        where = place if shown(name) in place[0] else (f"{place[0]}: query {shown(name)}", place[1])
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
        self._lose_beside(fields)
        if self._is_cut(fields):
            self._say("have partial results (a time limit, or shards that failed)", name)
        ids: list[str] = []
        scores: list[float | None] = []
        for hit in hits:
            checked = self._checked(hit, where)
            if checked is not None:
                self._lose_columns(dict(hit))
                ids.append(checked[0])
                scores.append(checked[1])
        self._add(name, ids, scores, where, ordered=True)

    def _take_hit(self, fields: _Object, place: Place) -> None:
        """One hit of JSON lines, with its query."""
        column = query_column(list(fields), self._columns)
        if not column:
            found = f"a hit with fields {', '.join(map(repr, list(fields)[:8]))}"
            hints = (
                "name its field with columns={'query': ...}",
                "name its field with --run-columns query=NAME",
            )
            self._bad("type", place, found, "a field with its query", *hints)
            return
        query, checked = check_id(fields[column]), self._checked(tuple(fields.items()), place)
        if isinstance(query, tuple):
            self._bad(query[0], place, f"{query[1]} in field {column!r}", query[2])
        elif checked is not None:
            self._lose_columns(fields, column)
            self._loose.setdefault(query, []).append((*checked, place))

    def _checked(self, hit: Any, place: Place) -> tuple[str, float | None] | None:
        """Document and score of a hit; the score is None where the engine gives none."""
        if not isinstance(hit, tuple):
            self._bad("type", place, f"{describe_value(hit)} as a hit", "an object")
            return None
        fields = dict(hit)
        found = _inner(fields, self._document)
        if found is _MISSING:
            name = _likely_id(fields)
            hint, command = f"columns={{'document': {name!r}}}", f"--run-columns document={name}"
            hints = [f"name the field of the document, as in {one}" for one in (hint, command)]
            self._bad(
                "null", place, f"a hit without {self._document!r}", "the id of a document", *hints
            )
            return None
        score = _inner(fields, self._score)
        document, score = check_id(found), None if score is _MISSING else score
        number = None if score is None else check_number(score, "run")
        for fault in (document, number):
            if isinstance(fault, tuple):
                self._bad(fault[0], place, f"{fault[1]} of a hit", fault[2])
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
        """The hits by score; in their own order where it is another, or where a score is
        missing.
        """
        known = [score for score in scores if score is not None]
        if len(known) < len(ids):
            some = "some hits without" if known else "hits without"
            self._say(f"have {some} a score; the order of the hits counts", query)
            self._lose_scores(len(known))
            known = [0.0 - rank for rank in range(len(ids))]
        elif ordered and any(later > earlier for earlier, later in pairwise(known)):
            self._say(
                "have hits that are not in the order of the scores; the order of the hits counts",
                query,
            )
            self._lose_scores(len(known))
            known = [0.0 - rank for rank in range(len(ids))]
        self._blocks.append(Block(query, list(ids), known, place))

    def _lose_columns(self, fields: _Object, *kept: str) -> None:
        """Name the fields of a hit that are neither its document nor its score."""
        if self._lose is not None:
            held = {_path(fields, self._document), _path(fields, self._score)}
            for path in _leaves(
                {name: value for name, value in fields.items() if name not in kept}
            ):
                if path not in held:
                    self._lose("columns", path)

    def _lose_scores(self, count: int) -> None:
        """Name scores that the order of the hits replaces."""
        for _ in range(count if self._lose is not None else 0):
            self._lose("columns", self._score)  # type: ignore[misc]

    def _lose_beside(self, fields: _Object) -> None:
        """Name what a response holds besides its hits, such as aggregations."""
        if self._lose is None:
            return
        query = query_column(list(fields), self._columns)
        for outer, value in fields.items():
            whole = (
                {"": value}
                if outer != self.hits[0] or not isinstance(value, tuple)
                else dict(value)
            )
            for name, inner in whole.items():
                is_work = (name or outer) in {*_WORK, self.hits[1]} or outer == query
                if not is_work and inner not in (None, "", [], ()):
                    self._lose("response_fields", f"{outer}.{name}" if name else outer)

    def _say(self, words: str, query: str) -> None:
        self._said.setdefault(words, []).append(query)

    def _bad(
        self,
        kind: str,
        place: Place,
        found: str,
        expected: str,
        hint: str = "",
        command_hint: str = "",
    ) -> None:
        self._complain(Complaint(kind, *place, found, expected, hint, command_hint=command_hint))

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
    def _is_cut(self, fields: _Object) -> bool: ...


class _Elasticsearch(_Responses):
    engine, document, score, hits = "Elasticsearch", "_id", "_score", ("hits", "hits")
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
        requests, responses, place = self._requests, self._responses, (self._path, 0)
        if not requests:
            if responses:
                super()._take_many({"responses": responses}, place)
        elif not responses:
            hint = (
                "put the responses after the requests: cat requests.ndjson responses.json > "
                "run.jsonl"
            )
            self._bad(
                "type",
                place,
                f"{len(requests)} requests of _msearch without responses",
                "both",
                hint,
            )
        elif not (names := query_names(requests)) and len(requests) == len(responses):
            hint = 'give every request a "_name" of its own'
            self._take_by_place(responses, place, "requests without a text of their own each", hint)
        else:
            self._take_each(names or requests, responses, place, "requests")
            some = ", ".join(map(shown, names[:3])) + (", ..." if len(names) > 3 else "")
            self._notes.inform(
                f"{self._path}: {len(names)} queries named by the lines of their requests ({some})"
            )

    def _is_hit(self, fields: _Object) -> bool:
        return "_id" in fields and not isinstance(fields["_id"], tuple)

    def _is_response(self, fields: _Object) -> bool:
        hits = fields.get("hits")
        inner = (
            dict(hits)
            if isinstance(hits, tuple) and all(isinstance(pair, tuple) for pair in hits)
            else {}
        )
        return isinstance(inner.get("hits"), list) or ("total" in inner and "took" in fields)

    def _query_of(self, fields: _Object, place: Place) -> Any:
        if column := query_column(list(fields), self._columns):
            return fields[column]
        self._without_query(place, 'such as {"shoes": {"hits": ...}}')
        return None

    def _hits(self, fields: _Object) -> Any:
        """An empty object is the answer without hits of a request with ``filter_path``."""
        hits = fields.get("hits", ()) if fields == {} or "hits" in fields else None
        return dict(hits).get("hits", []) if isinstance(hits, tuple) else None

    def _is_cut(self, fields: _Object) -> bool:
        shards = fields.get("_shards")
        return fields.get("timed_out") is True or (
            isinstance(shards, tuple) and bool(dict(shards).get("failed"))
        )


class _Solr(_Responses):
    engine, document, score, hits = "Solr", "id", "score", ("response", "docs")
    expected = (
        "{query: response}, or responses with responseHeader.params.q and response.docs (not "
        '"grouped")'
    )

    def _is_hit(self, fields: _Object) -> bool:
        return False

    def _is_response(self, fields: _Object) -> bool:
        response = fields.get("response")
        return (
            isinstance(response, tuple) and "docs" in dict(response)
        ) or "responseHeader" in fields

    def _query_of(self, fields: _Object, place: Place) -> Any:
        if column := query_column(list(fields), self._columns):
            return fields[column]
        header = _object(fields.get("responseHeader"))
        query = _object(header.get("params")).get("q")
        if query is None:
            self._without_query(place, "or ask Solr with echoParams=explicit")
        return query

    def _hits(self, fields: _Object) -> Any:
        response = fields.get("response")
        return dict(response).get("docs") if isinstance(response, tuple) else None

    def _is_cut(self, fields: _Object) -> bool:
        header = fields.get("responseHeader")
        return isinstance(header, tuple) and dict(header).get("partialResults") is True


def _object(value: Any) -> _Object:
    """Fields of a value that should be an object; none if it is another."""
    return dict(value) if isinstance(value, tuple) else {}


def _reason(error: Any) -> str:
    """An engine's words for an error, shortened."""
    if not isinstance(error, tuple):
        return str(error)[:200]
    fields = dict(error)
    words = [
        str(fields[name]) for name in ("type", "reason", "msg") if isinstance(fields.get(name), str)
    ]
    return ": ".join(words)[:200] or "no reason given"


def _values(source: Source, complain: Complain) -> Iterator[tuple[Any, Place]]:
    """The value of a file of JSON, or the value of each line of a file of JSON lines, with its
    place.
    """
    try:
        value = load(source.read())
    except (ValueError, RecursionError) as error:
        if not (isinstance(error, json.JSONDecodeError) and error.msg == "Extra data"):
            complain(broken(error, source.path, 0))
            return
    else:
        yield value, (source.path, 0)
        return
    read = 0
    for number, line in enumerate(source.open(), 1):
        read += len(line)
        if not line.strip():
            continue
        try:
            value = load(line.strip())
        except (ValueError, RecursionError) as error:
            rest = _rest(source, read - len(line)) if line.strip() == b"{" else None
            if rest is not None:
                yield rest, (source.path, number)
                return
            complain(broken(error, source.path, number))
        else:
            yield value, (source.path, number)


def _rest(source: Source, start: int) -> Any:
    """The value that the rest of the file is, over many lines; None if it is not one."""
    try:
        return load(source.read()[start:])
    except (ValueError, RecursionError):
        return None
