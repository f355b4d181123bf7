"""Answers: a record for each query, with a list of its documents. Engines save them so, and so do
tables with columns of lists.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, pairwise
from numbers import Integral
from types import MappingProxyType
from typing import Any, NamedTuple

from idealrank.errors import InputError
from idealrank.io.checked_cells import (
    Fault,
    all_ids,
    all_numbers,
    check_id,
    check_number,
    describe_value,
    shown,
)
from idealrank.io.complaints import Complain, Complaint, Notes
from idealrank.io.json_paths import EACH, ListPath, at_path
from idealrank.io.label_grades import grade_of
from idealrank.io.row_parts import Block, Place, Table
from idealrank.io.table_columns import (
    DOCUMENT,
    GRADE,
    QUERY,
    RANK,
    SCORE,
    Columns,
    Names,
    candidates,
    could_be_id,
    could_be_number,
    label_grades,
    named_columns,
    naming_hints,
    plain,
    query_column,
)

_DEEPEST = 4  # objects around a list in which it is found
_SAMPLED = 50  # records in which lists are looked for: the first answers may be empty
# In a list of hits, these are names of a document, too.
_IN_HIT = ("id", "key")

_LIST_HINT = 'write lists with commas, such as ["a", "b"]'


class AnswerPaths(NamedTuple):
    """Paths in the record of a query."""

    query: str  # Empty if the query is the name of the record
    document: ListPath
    value: ListPath | None  # None if the place in the list counts
    by_rank: bool = False  # The value is a rank, 1 at the top
    labels: Mapping[str, float] = MappingProxyType({})  # Grades of labels that are words

    @property
    def fields(self) -> list[str]:
        """Paths without the part in an item: where a record is looked into."""
        lists = [self.document.to_list, self.value.to_list if self.value else ""]
        return list(dict.fromkeys(filter(None, (self.query, *lists))))


class _List(NamedTuple):
    """A list in a record."""

    path: str
    items: Sequence[Any]

    @property
    def first(self) -> Any:
        return next((item for item in self.items if item is not None), None)

    @property
    def are_objects(self) -> bool:
        return isinstance(self.first, Mapping)

    @property
    def are_ids(self) -> bool:
        return _is_id(self.first)

    def named(self, *roles: Names) -> bool:
        """Return whether the name is usual in these roles, in the singular or in the plural."""
        return bool(_usual([self.path.rpartition(".")[2]], *roles))


def _usual(names: Sequence[str], *roles: Names) -> list[str]:
    """Names that are usual in these roles, the most usual first; a name may be a plural."""
    for words in chain.from_iterable(roles):
        singular = {name: plain(name).removesuffix("s") for name in names}
        fitting = candidates(names, words) or [
            name for word in words for name in names if singular[name] == word
        ]
        if fitting:
            return fitting
    return []


def answer_paths(
    records: Iterable[Any],
    table: Table,
    columns: Columns,
    where: str,
    notes: Notes,
    *,
    is_keyed: bool = False,
) -> AnswerPaths | None:
    """Find the paths of query, documents and values in the first records; None where records have
    no list of documents. The name of a keyed record is its query.
    """
    search = _PathSearch(table, columns, where, is_keyed=is_keyed)
    for record in islice(records, _SAMPLED):
        paths = search.paths(record)
        if paths is not None:
            search.tell(paths, notes)
            return paths
    return search.without_sample()


class _PathSearch:
    """Finds the paths of answers, as they are named or guessed from a record."""

    def __init__(self, table: Table, columns: Columns, where: str, *, is_keyed: bool) -> None:
        self._table: Table = table
        self._columns = columns
        self._labels = label_grades(columns)
        self._spelled = named_columns(columns, table)
        self._where = where
        self._is_keyed = is_keyed
        self._is_explicit = any(EACH in name for name in self._spelled.values())
        self._seen_query = ""  # path to the query in a record without the list that is named
        self._beside = ""  # a column of ranks beside the scores

    @property
    def _value_role(self) -> str:
        if self._table == "qrels":
            return "grade"
        return "rank" if "rank" in self._spelled else "score"

    def paths(self, record: Any) -> AnswerPaths | None:
        """Return the paths in a record; None if it does not show them."""
        fields: Mapping[str, Any] = record if isinstance(record, Mapping) else {}
        query = "" if self._is_keyed else self._query(fields)
        if not (query or self._is_keyed):
            scalars = [part for part in fields.values() if not isinstance(part, (list, Mapping))]
            if self._is_explicit and scalars:
                raise self._refusal(record, "")
            return None
        if not self._is_explicit and self._is_row(fields):
            return None
        chosen = self._document_list(record, query)
        if chosen is None:
            self._seen_query = query
            return None
        documents, document = chosen
        value, by_rank = self._value(record, documents, document)
        return AnswerPaths(
            query=query, document=document, value=value, by_rank=by_rank, labels=self._labels
        )

    def without_sample(self) -> AnswerPaths | None:
        """Return the paths as they are named, for records that are all empty or unlike."""
        document = self._spelled.get("document", "")
        query = self._seen_query
        if EACH not in document or not (query or self._is_keyed):
            return None
        name = self._spelled.get(self._value_role, "")
        value = ListPath.of(name) if EACH in name else None
        return AnswerPaths(
            query=query,
            document=ListPath.of(document),
            value=value,
            by_rank="rank" in self._spelled,
            labels=self._labels,
        )

    def tell(self, paths: AnswerPaths, notes: Notes) -> None:
        """Note what was guessed."""
        pairs = {
            "query": paths.query,
            "document": _text(paths.document),
            "rank" if paths.by_rank else self._value_role: _text(paths.value),
        }
        guessed = {role: name for role, name in pairs.items() if name}
        if set(guessed) - set(self._spelled):
            listed = ", ".join(f"{role}={name}" for role, name in guessed.items())
            notes.inform(f"{self._where}: columns guessed: {listed}")
        if self._table == "run" and paths.value is None:
            notes.inform(f"{self._where}: documents are in the order of {_text(paths.document)}")
        elif self._beside:
            notes.inform(
                f"{self._where}: documents are ordered by {_text(paths.value)}; --run-columns "
                f"rank={self._beside} orders them by {self._beside}"
            )
        elif self._table == "qrels" and paths.value is None:
            notes.inform(
                f"{self._where}: found lists of documents without grades; every document counts as "
                "grade 1"
            )

    def _query(self, fields: Mapping[str, Any]) -> str:
        named = self._spelled.get("query", "")
        if named:
            return named if at_path(fields, named) is not None else ""
        name = query_column(list(fields), None)
        return "" if isinstance(fields.get(name), (list, Mapping)) else name

    def _is_row(self, fields: Mapping[str, Any]) -> bool:
        """Return whether a record is of one document: it names it, or has its grade or score."""
        scalars = [name for name, value in fields.items() if not isinstance(value, (list, Mapping))]
        if named := self._spelled.get("document", ""):
            return not isinstance(at_path(fields, named), list)
        values = (GRADE,) if self._table == "qrels" else (SCORE, RANK)
        usual = [*candidates(scalars, DOCUMENT[0]), *candidates(scalars, DOCUMENT[1])]
        return bool(usual) or any(candidates(scalars, words[0]) for words in values)

    def _document_list(self, record: Any, query: str) -> tuple[_List, ListPath] | None:
        """Return the list of documents, and the path of a document."""
        named = self._spelled.get("document", "")
        if named:
            path = ListPath.of(named) if EACH in named else ListPath(named, "")
            items = at_path(record, path.to_list)
            return (_List(path.to_list, items), path) if isinstance(items, list) else None
        lists = list(_lists(record))
        if value := self._spelled.get(self._value_role, ""):
            # A named score tells in which list the documents are.
            beside = value.partition(EACH)[0]
            lists = [one_list for one_list in lists if one_list.path == beside] or lists
        if self._is_keyed:
            # Records that name their query are a table, and the name of their list is no query.
            lists = [hits for hits in lists if not (hits.are_objects and _names_query(hits.first))]
        of_hits = [
            (hits, ListPath(hits.path, name))
            for hits in lists
            if hits.are_objects and (name := _document_in(hits.first))
        ]
        of_ids = [ids for ids in lists if ids.path and ids.are_ids]
        of_documents = [ids for ids in of_ids if ids.named(DOCUMENT)]
        if len(of_hits) == 1:
            return of_hits[0]
        if of_hits:
            raise self._refusal(record, query)
        likely = of_documents or of_ids
        if len(likely) == 1 and (of_documents or not any(hits.are_objects for hits in lists)):
            return likely[0], ListPath(likely[0].path, "")
        if likely or any(hits.are_objects for hits in lists):
            raise self._refusal(record, query)
        return None

    def _value(
        self, record: Any, documents: _List, document: ListPath
    ) -> tuple[ListPath | None, bool]:
        """Return the path of a grade, score or rank, and whether it is a rank."""
        named = self._spelled.get(self._value_role, "")
        if named == "1" and self._table == "qrels":
            return None, False
        if named:
            path = ListPath.of(named) if EACH in named else ListPath(named, "")
            is_place = path == ListPath(documents.path, "") and self._value_role == "rank"
            return (None, False) if is_place else (path, self._value_role == "rank")
        if document.in_item:
            leaves = [name for name, value in _leaves(documents.first) if self._is_value(value)]
            paths = {name: ListPath(documents.path, name) for name in leaves}
        else:
            beside = [
                other
                for other in _lists(record)
                if other.path != documents.path and self._is_value(other.first)
            ]
            paths = {other.path: ListPath(other.path, "") for other in beside}
        last_names = {name.rpartition(".")[2]: name for name in reversed(list(paths))}
        usual = _usual(list(last_names), GRADE if self._table == "qrels" else SCORE)
        if usual and self._table == "qrels" and not _usual(usual, (GRADE[0], ())):
            self._refuse_scores(paths[last_names[usual[0]]])
        ranks = _usual(list(last_names), RANK) if self._table == "run" else []
        if usual and ranks:
            self._beside = _text(paths[last_names[ranks[0]]])
        value = next(iter(usual or ranks), "")
        return (paths[last_names[value]], not usual) if value else (None, False)

    def _is_value(self, value: Any) -> bool:
        return _is_number(grade_of(value, self._labels))

    def _refuse_scores(self, path: ListPath) -> None:
        text = _text(path)
        order = "judgments come first, then runs; or name the grade: "
        raise InputError(
            f"{self._where}: found scores, {text}, expected grades",
            hint=f"{order}columns={{'grade': {text!r}}}",
            command_hint=f"{order}--qrels-columns grade={text}",
        )

    def _refusal(self, record: Any, query: str) -> InputError:
        """Name the lists of a record, with an option that names paths in them."""
        names = list(record) if isinstance(record, Mapping) else []
        examples = {} if self._is_keyed else {"query": query or _first_id(record, names)}
        lists = list(_lists(record))
        hits = next((one_list for one_list in lists if one_list.are_objects), None)
        if hits is not None:
            leaves = list(_leaves(hits.first))
            fields = ", ".join(repr(name) for name, _ in leaves[:8])
            content = f"a list {hits.path!r} of objects with {fields}"
            ids = [name for name, value in leaves if could_be_id(name, value)]
            numbers = [
                name
                for name, value in leaves
                if _is_number(value) and could_be_number(name, value) and name not in ids[:1]
            ]
            examples["document"] = f"{hits.path}{EACH}.{(ids or ['NAME'])[0]}"
            if numbers:
                examples[self._value_role] = f"{hits.path}{EACH}.{numbers[0]}"
        else:
            paths = [ids.path for ids in lists if ids.are_ids]
            content = f"lists {', '.join(map(repr, paths))}" if paths else "no list of documents"
            examples["document"] = f"{(paths or ['NAME'])[0]}{EACH}"
        listed = f"fields {', '.join(map(repr, names[:20]))}" if names else "a list"
        in_python, in_shell = naming_hints(examples, self._table)
        has_scores = self._table == "qrels" and hits is not None and _usual(list(hits.first), SCORE)
        order = "judgments come first, then runs; or " if has_scores else ""
        return InputError(
            f"{self._where}: found {listed}, with {content}, expected a query and a list with the "
            "ids of its documents",
            hint=f"{order}{in_python}",
            command_hint=f"{order}{in_shell}",
        )


def _first_id(record: Any, names: Sequence[str]) -> str:
    likely = (name for name in names if could_be_id(name, record[name] if names else None))
    return next((name for name in likely if not isinstance(record[name], list)), "NAME")


def _text(path: ListPath | None) -> str:
    """Write a path as an option takes it; empty without one."""
    if path is None:
        return ""
    return f"{path.to_list}{EACH}" + (f".{path.in_item}" if path.in_item else "")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_id(value: Any) -> bool:
    return isinstance(value, (str, Integral)) and not isinstance(value, bool)


def _document_in(hit: Mapping[str, Any]) -> str:
    """Path of the document in a hit; empty if no name is usual."""
    leaves = [name for name, value in _leaves(hit) if _is_id(value)]
    top = [name for name in leaves if "." not in name]
    nested = {name.rpartition(".")[2]: name for name in reversed(leaves) if "." in name}
    usual = candidates(top, DOCUMENT[0]) or candidates(top, DOCUMENT[1]) or candidates(top, _IN_HIT)
    if usual:
        return usual[0]
    return next((nested[name] for name in candidates(list(nested), DOCUMENT[0])), "")


def _names_query(hit: Mapping[str, Any]) -> bool:
    return bool(_usual([name for name, value in _leaves(hit) if _is_id(value)], QUERY))


def _leaves(fields: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the paths and values that are neither objects nor lists."""
    for name, value in fields.items():
        if isinstance(value, Mapping) and prefix.count(".") < _DEEPEST:
            yield from _leaves(value, f"{prefix}{name}.")
        elif not isinstance(value, (Mapping, list)):
            yield prefix + name, value


def _lists(value: Any, path: str = "") -> Iterator[_List]:
    """Yield the lists of a record, and of objects in it."""
    if isinstance(value, list):
        yield _List(path, value)
    elif isinstance(value, Mapping) and path.count(".") < _DEEPEST:
        for name, part in value.items():
            yield from _lists(part, f"{path}.{name}" if path else name)


class Answers:
    """Gathers the documents of each record."""

    def __init__(self, paths: AnswerPaths, table: Table, complain: Complain) -> None:
        self._paths = paths
        self._table: Table = table
        self._complain = complain
        self._n_ordered = 0  # lists with scores that differ
        self._n_rising = 0  # of which the last document has the highest
        self._of_query = ""  # words for the query of the record, where its place has none
        self.blocks: list[Block] = []

    def add(self, record: Any, place: Place, query: Any = None) -> None:
        """Take one record; `query` is its name if no path leads to its query."""
        if self._paths.query:
            query = at_path(record, self._paths.query)
        checked = check_id(query)
        if isinstance(checked, Fault):
            self._complain(checked.at(place, f" in {self._paths.query!r}"))
            return
        self._of_query = "" if shown(checked) in place[0] else f" of query {shown(checked)}"
        documents = self._listed(record, self._paths.document, place)
        values = None
        if documents is not None and self._paths.value is not None:
            values = self._listed(record, self._paths.value, place)
            if values is not None and not any(value is not None for value in values):
                values = None  # an engine that sorts by a field gives no scores
            elif values is None:
                return
            else:
                values = [grade_of(value, self._paths.labels) for value in values]
        if documents is None or not self._are_as_many(documents, values, place):
            return
        self._add_checked(checked, documents, values, place)

    def _listed(self, record: Any, path: ListPath, place: Place) -> list[Any] | None:
        """Return the value of each item of a list; None after a complaint."""
        items = as_list(at_path(record, path.to_list))
        if items is None:
            value = at_path(record, path.to_list)
            found = "nothing" if value is None else describe_value(value)
            names = f"; its fields are {', '.join(map(repr, list(record)[:12]))}"
            self._bad(
                "type",
                place,
                f"{found} at {path.to_list!r}{self._of_query}",
                f"a list{names if isinstance(record, Mapping) and value is None else ''}",
                hint=_LIST_HINT if str(value).lstrip().startswith("[") else "",
            )
            return None
        return [at_path(item, path.in_item) for item in items] if path.in_item else items

    def _are_as_many(
        self, documents: Sequence[Any], values: Sequence[Any] | None, place: Place
    ) -> bool:
        if values is None or len(values) == len(documents):
            return True
        noun = "grades" if self._table == "qrels" else "scores"
        problem = f"{len(documents)} documents and {len(values)} {noun}{self._of_query}"
        self._bad("fields", place, problem, "as many of both")
        return False

    def _add_checked(
        self, query: str, documents: Sequence[Any], values: Sequence[Any] | None, place: Place
    ) -> None:
        ids = _as_ids(documents)
        numbers: list[float] | None = None if values is None else list(values)
        if ids is None or (numbers is not None and not all_numbers(numbers, self._table)):
            ids, numbers = self._usable(documents, values, place)
        if numbers is None:
            # subtracted, not negated: no score is -0.0
            numbers = [
                1.0 if self._table == "qrels" else 0.0 - place_in_list
                for place_in_list in range(len(ids))
            ]
        elif self._paths.by_rank:
            numbers = [0.0 - rank for rank in numbers]
        else:
            self._count_rising(numbers)
        self.blocks.append(Block(query=query, documents=ids, values=numbers, place=place))

    def _count_rising(self, numbers: Sequence[float]) -> None:
        if self._table == "run" and len(set(numbers)) > 1:
            self._n_ordered += 1
            self._n_rising += all(earlier <= later for earlier, later in pairwise(numbers))

    def _usable(
        self, documents: Sequence[Any], values: Sequence[Any] | None, place: Place
    ) -> tuple[list[str], list[float] | None]:
        """Return the documents that can be used; complain of the others."""
        ids: list[str] = []
        numbers: list[float] = []
        for position, document in enumerate(documents, 1):
            identifier = check_id(document)
            number = 0.0 if values is None else self._checked(values[position - 1])
            of_document = f" of document {position}{self._of_query}"
            if isinstance(identifier, Fault):
                self._complain(
                    identifier.at(place, f" at {_text(self._paths.document)!r}{of_document}")
                )
            elif isinstance(number, Fault):
                self._complain(number.at(place, f" at {_text(self._paths.value)!r}{of_document}"))
            else:
                ids.append(identifier)
                numbers.append(number)
        return ids, None if values is None else numbers

    def _checked(self, value: Any) -> float | Fault:
        return check_number(value, self._table, labels=self._paths.labels)

    def tell(self, notes: Notes, where: str) -> None:
        """Warn of scores that rise in every list, as distances do."""
        if self._n_ordered > 1 and self._n_rising == self._n_ordered:
            place_in_list = f"rank={self._paths.document.to_list}{EACH}"
            notes.warn(
                f"{where}: scores rise in all {self._n_ordered} lists, as distances do, and the "
                f"highest score is the best; --run-columns {place_in_list} keeps the order of "
                "the lists"
            )

    def _bad(self, kind: str, place: Place, problem: str, expected: str, *, hint: str = "") -> None:
        self._complain(Complaint(kind, *place, problem, expected, hint))


def _as_ids(documents: Sequence[Any]) -> Sequence[str] | None:
    """Return ids that are all text or all whole numbers; None for others, checked one by one."""
    if all_ids(documents):
        return documents
    return list(map(str, documents)) if set(map(type, documents)) == {int} else None


def as_list(value: Any) -> list[Any] | None:
    """Return a list, tuple or array as a list; None for any other value."""
    if isinstance(value, list):
        return value
    if isinstance(value, tuple):
        return list(value)
    is_array = hasattr(value, "tolist") and getattr(value, "ndim", 0) == 1
    return value.tolist() if is_array else None
