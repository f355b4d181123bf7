"""Formats in which judgments can be written: what each holds, and its writer. One row a format."""

import csv
import io
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, Literal

from idealrank.conversion.letor_sheets import DOCUMENT_FIELD
from idealrank.conversion.losses import LossCounter
from idealrank.conversion.record_sheets import FEATURE
from idealrank.errors import InputError, shown
from idealrank.io.formats.detection import sniff
from idealrank.io.formats.rre import PLACEHOLDERS
from idealrank.io.judgment_files import number
from idealrank.io.judgment_layouts import is_word
from idealrank.io.judgment_rows import JudgmentRow
from idealrank.io.table_columns import plain

QueryName = Literal["id", "word", "text", "both"]
Kept = Literal["kept", "on request", "left out"]
Fractions = Literal["kept", "truncated", "rounded"]
_ACCOUNT = re.compile(r"[1-9]\d{0,17}|[^@\s]+@[^@\s]+")
_SNIFFED = 60  # lines of a book; its recognition reads fewer
_UNNAMED = "Anonymous"  # Quepid's word for a rater without an account
# Names that Quepid's columns have, as `plain` writes them.
_LAYOUT = ("query", "querytext", "docid", "rating", "mean", "")
_FORMULA = tuple("-=+@")  # a cell that begins so is a formula for spreadsheets
# Fields of a judgment; the last one is the field of a hit that has its record.
_UBI = frozenset(("query_id", "query", "document", "judgment", "_source"))


@dataclass(frozen=True, kw_only=True)
class RowLayout:
    """Contents of the rows to be written."""

    name: str  # Name of the collection, for formats that have one
    # assessors, query_texts, texts: Whether any row has one
    assessors: bool
    query_texts: bool
    texts: bool
    columns: Sequence[str]  # Names of other columns
    features: Sequence[int]  # Numbers of features
    losses: LossCounter  # Gets what only a writer can know


@dataclass(frozen=True, kw_only=True)
class Target:
    """A format and what it holds."""

    title: str  # Name for people
    # Turns rows into pieces of text; None for Parquet, which is written in columns
    write: Callable[[Iterable[JudgmentRow], RowLayout], Iterator[str]] | None
    # What names a query: any id, an id without blanks, its text, or its id and its text
    query: QueryName = "id"
    document: Literal["id", "word"] = "id"  # What names a document
    assessors: bool = False
    query_texts: bool = False
    texts: bool = False
    columns: bool = False
    features: bool = False
    unjudged: Kept = "left out"  # Whether a row without a grade is kept
    # What becomes of a grade that is no whole number: the tool that reads the file cuts it, or it
    # is rounded
    fractions: Fractions = "kept"
    # Names that no other column can have, since the format uses them itself
    reserved: Collection[str] = ()


def plain_json(value: Any) -> Any:
    """A value that `load` read, with objects as mappings again."""
    if isinstance(value, tuple):
        return {name: plain_json(content) for name, content in value}
    return [plain_json(content) for content in value] if isinstance(value, list) else value


def _json(value: Any, **options: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str, **options)


def _grade(row: JudgmentRow) -> int | float | None:
    return None if row.grade is None else number(row.grade)


# --- lines ----------------------------------------------------------------------------------------


def _trec(rows: Iterable[JudgmentRow], _layout: RowLayout) -> Iterator[str]:
    for row in rows:
        yield f"{row.query} 0 {row.document} {_grade(row)}\n"


def _judgment_groups(rows: Iterable[JudgmentRow], _layout: RowLayout) -> Iterator[str]:
    for row in rows:
        yield f"{row.query} {row.assessor or '0'} {row.document} {_grade(row)}\n"


_NUMBERS = ("inc", "prob")  # fields of comments of LETOR 4.0 beside the document


def _numbers_of(row: JudgmentRow) -> dict[str, str]:
    texts = {name: str(row.values[name]) for name in _NUMBERS if row.values.get(name) is not None}
    return {name: text for name, text in texts.items() if is_word(text)}


def _letor(rows: Iterable[JudgmentRow], layout: RowLayout) -> Iterator[str]:
    """Lines with comments of one kind: as in LETOR 4.0 if the first row has its numbers, else the
    document and the text of the query. Values without a place in a comment are counted as losses.
    """
    has_numbers: bool | None = None
    without_text: set[str] = set()
    for row in rows:
        if "#" in row.query:
            raise InputError(
                f"found query {shown(repr(row.query))}, expected an id without #, with which LETOR "
                "begins a comment"
            )
        features = "".join(f" {index}:{number(value)}" for index, value in row.features.items())
        numbers = _numbers_of(row)

        # The first row decides how all comments are written.
        if has_numbers is None:
            has_numbers = len(numbers) == len(_NUMBERS)
        for name in row.values:
            if not (has_numbers and name in numbers):
                layout.losses.add("columns", name)
        if has_numbers:
            fields = "".join(f" {name} = {text}" for name, text in numbers.items())
            comment = f"#docid = {row.document}{fields}"
            if row.query_text and row.query not in without_text:
                without_text.add(row.query)
                layout.losses.add("query_texts")
        else:
            text = f" {' '.join(row.query_text.split())}" if row.query_text else ""
            comment = f"# {row.document}{text}"
            if DOCUMENT_FIELD.match(comment[2:]):
                document = f"document {shown(repr(row.document))}"
                raise InputError(
                    f"found {document}, expected another id, since a comment of LETOR that begins "
                    "with docid = names the document"
                )
        yield f"{_grade(row)} qid:{row.query}{features} {comment}\n"


# --- tables ---------------------------------------------------------------------------------------


def _separated(rows: Iterable[Sequence[Any]], delimiter: str = ",") -> Iterator[str]:
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
    for row in rows:
        writer.writerow(row)
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()


def _beir(rows: Iterable[JudgmentRow], _layout: RowLayout) -> Iterator[str]:
    yield from _separated([("query-id", "corpus-id", "score")], "\t")
    yield from _separated(((row.query, row.document, _grade(row)) for row in rows), "\t")


_TABLE = ("query_id", "doc_id", "grade", "assessor", "query_text", "document_text")


def table_names(layout: RowLayout) -> list[str]:
    """Names of the columns of a table."""
    optional = {
        "assessor": layout.assessors,
        "query_text": layout.query_texts,
        "document_text": layout.texts,
    }
    return [
        *(name for name in _TABLE if optional.get(name, True)),
        *(name for name in layout.columns if name not in _TABLE),
        *(f"{FEATURE}{index}" for index in layout.features),
    ]


def table_cells(row: JudgmentRow) -> dict[str, Any]:
    """Cells of a row by the name of their column."""
    features = {f"{FEATURE}{index}": number(value) for index, value in row.features.items()}
    return {
        **row.values,
        "query_id": row.query,
        "doc_id": row.document,
        "grade": _grade(row),
        "assessor": row.assessor,
        "query_text": row.query_text,
        "document_text": row.text,
        **features,
    }


def cell_text(value: Any) -> Any:
    """A value as a cell: what is neither text nor number as JSON."""
    if value is None:
        return ""
    is_plain = isinstance(value, str | int | float) and not isinstance(value, bool)
    return value if is_plain else _json(plain_json(value))


def _table(delimiter: str) -> Callable[[Iterable[JudgmentRow], RowLayout], Iterator[str]]:
    def write(rows: Iterable[JudgmentRow], layout: RowLayout) -> Iterator[str]:
        names = table_names(layout)

        def texts(row: JudgmentRow) -> list[Any]:
            cells = table_cells(row)
            return [cell_text(cells.get(name)) for name in names]

        yield from _separated([names], delimiter)
        yield from _separated(map(texts, rows), delimiter)

    return write


def _json_lines(rows: Iterable[JudgmentRow], layout: RowLayout) -> Iterator[str]:
    names = table_names(layout)
    for cells in map(table_cells, rows):
        record = {
            name: plain_json(cells[name])
            for name in names
            if name == "grade" or cells.get(name) not in (None, "")
        }
        yield _json(record) + "\n"


# --- tools ----------------------------------------------------------------------------------------


def _by_query(rows: Iterable[JudgmentRow]) -> dict[str, list[JudgmentRow]]:
    groups: dict[str, list[JudgmentRow]] = {}
    for row in rows:
        groups.setdefault(row.query, []).append(row)
    return groups


def _nested(rows: Iterable[JudgmentRow], _layout: RowLayout) -> Iterator[str]:
    grades: dict[str, dict[str, int | float | None]] = {}
    for query, judged in _by_query(rows).items():
        grades[query] = {row.document: _grade(row) for row in judged}
    yield _json(grades, indent=1) + "\n"


def _quepid(rows: Iterable[JudgmentRow], layout: RowLayout) -> Iterator[str]:
    """A case with one rating per document, or a book with a column for each rater; a book has a row
    for each rating if a name cannot be a column.
    """
    if not layout.assessors:
        yield from _separated([("query", "docid", "rating")])
        yield from _separated((_protected(row.query), row.document, _rating(row)) for row in rows)
        return
    ratings = list(rows)
    _refuse_two_unnamed(ratings)
    names = [row.assessor or _UNNAMED for row in ratings if row.grade is not None or row.assessor]
    raters = list(dict.fromkeys(names))
    are_columns = all(plain(name) not in _LAYOUT and name == name.strip() for name in raters)
    if are_columns and len(raters) > 1:
        book_lines = list(_book(ratings, raters))
        # Otherwise no reader would recognise it.
        if sniff("".join(book_lines[:_SNIFFED]).encode("utf-8", "replace")) == ["quepid"]:
            yield from book_lines
            return
    yield from _separated([("query", "docid", "user", "rating")])
    yield from _separated(
        (_protected(row.query), row.document, row.assessor, _rating(row)) for row in ratings
    )


def _rating(row: JudgmentRow) -> int | float | str:
    grade = _grade(row)
    return "" if grade is None else grade


def _book(rows: Iterable[JudgmentRow], raters: Sequence[str]) -> Iterator[str]:
    """A column for each rater."""
    by_pair: dict[tuple[str, str], dict[str, int | float | None]] = {}
    for row in rows:
        by_pair.setdefault((row.query, row.document), {})[row.assessor or _UNNAMED] = _grade(row)
    yield from _separated([("query", "docid", *raters)])
    for (query, document), grades in by_pair.items():
        cells = ("" if grades.get(name) is None else grades[name] for name in raters)
        yield from _separated([(_protected(query), document, *cells)])


def _refuse_two_unnamed(rows: Iterable[JudgmentRow]) -> None:
    """Refuse two grades of a document if one has no assessor and one the name that Quepid gives to
    such an assessor: both would be in one cell.
    """
    assessor_of_pair: dict[tuple[str, str], str] = {}
    for row in rows:
        if row.grade is None or row.assessor not in ("", _UNNAMED):
            continue
        if assessor_of_pair.setdefault((row.query, row.document), row.assessor) != row.assessor:
            where = f"query {shown(repr(row.query))}, document {shown(repr(row.document))}"
            clash = f"a grade without an assessor and one by {_UNNAMED!r}"
            raise InputError(
                f"{where}: found {clash}, expected one of them, since Quepid calls both "
                f"{_UNNAMED}; name the assessor"
            )


def _protected(query: str) -> str:
    return f" {query}" if query.startswith(_FORMULA) else query


def _rre(rows: Iterable[JudgmentRow], layout: RowLayout) -> Iterator[str]:
    queries = []
    for query, judged in _by_query(rows).items():
        gains = {row.document: {"gain": _grade(row)} for row in judged}
        queries.append({"placeholders": {"$query": query}, "relevant_documents": gains})
    yield _json({**PLACEHOLDERS, "index": layout.name, "queries": queries}, indent=1) + "\n"


def _opensearch(rows: Iterable[JudgmentRow], layout: RowLayout) -> Iterator[str]:
    """The body of a request that imports a list; ratings as texts, which every version takes."""
    lists = []
    for query, judged in _by_query(rows).items():
        ratings = [{"docId": row.document, "rating": str(_grade(row))} for row in judged]
        lists.append({"query": query, "ratings": ratings})
    body = {"name": layout.name, "type": "IMPORT_JUDGMENT", "judgmentRatings": lists}
    yield _json(body, indent=1) + "\n"


def _ubi(rows: Iterable[JudgmentRow], _layout: RowLayout) -> Iterator[str]:
    for row in rows:
        record = {
            "query_id": row.query,
            "query": row.query_text or row.query,
            "document": row.document,
            "judgment": row.grade,
        }
        others = {name: plain_json(value) for name, value in row.values.items() if name not in _UBI}
        yield _json({**record, **others}) + "\n"


def _label_studio(rows: Iterable[JudgmentRow], layout: RowLayout) -> Iterator[str]:
    """A task for each document of a query; grades of accounts are annotations, of anything else
    predictions.
    """
    by_pair: dict[tuple[str, str], list[JudgmentRow]] = {}
    for row in rows:
        by_pair.setdefault((row.query, row.document), []).append(row)
    tasks = [_task(judgments, layout.losses) for judgments in by_pair.values()]
    yield _json(tasks, indent=1) + "\n"


def _task(rows: Sequence[JudgmentRow], losses: LossCounter) -> dict[str, Any]:
    """The task of one document of a query."""
    annotations: list[dict[str, Any]] = []
    predictions: list[dict[str, Any]] = []
    data = _task_data(rows, losses)
    for row in rows:
        if row.grade is None:
            continue
        result = [
            {
                "id": "grade",
                "from_name": "grade",
                "to_name": "document",
                "type": "number",
                "value": {"number": _grade(row)},
            }
        ]
        if row.assessor and not _ACCOUNT.fullmatch(row.assessor):
            losses.add("predictions", row.assessor)
            predictions.append({"model_version": row.assessor, "result": result})
            continue
        annotation: dict[str, Any] = {
            "result": result,
            "was_cancelled": False,
            "ground_truth": False,
        }
        if row.assessor:
            is_number = row.assessor.isdecimal()
            account = int(row.assessor) if is_number else {"email": row.assessor}
            annotation["completed_by"] = account
        annotations.append(annotation)
    return {"data": data, "annotations": annotations, "predictions": predictions}


def _task_data(rows: Sequence[JudgmentRow], losses: LossCounter) -> dict[str, Any]:
    """The data of a task. They belong to the document, so a column whose cells differ between
    assessors is lost.
    """
    first = rows[0]
    query_text = next((row.query_text for row in rows if row.query_text), "")
    text = next((row.text for row in rows if row.text), "")
    data: dict[str, Any] = {
        "query_id": first.query,
        "query": query_text or first.query,
        "document_id": first.document,
        "document": text or first.document,
    }
    for row in rows:
        if row.text not in ("", text):
            losses.add("texts")

    others: dict[str, Any] = {}
    for name in dict.fromkeys(chain.from_iterable(row.values for row in rows)):
        cells = [row.values.get(name) for row in rows]
        if name not in data and all(cell == cells[0] for cell in cells):
            others[name] = plain_json(first.values[name])
    for name in chain.from_iterable(row.values for row in rows):
        if name not in others:
            losses.add("columns", name)
    return data | others


_table_target = partial(
    Target,
    assessors=True,
    query_texts=True,
    texts=True,
    columns=True,
    features=True,
    unjudged="on request",
    reserved=_TABLE,
)
TARGETS: Mapping[str, Target] = {
    "trec": Target(
        title="TREC qrels", write=_trec, query="word", document="word", fractions="truncated"
    ),
    "qrels_jg": Target(
        title="TREC qrels with assessors",
        write=_judgment_groups,
        query="word",
        document="word",
        assessors=True,
        fractions="truncated",
    ),
    "beir": Target(title="BEIR's qrels", write=_beir, fractions="rounded"),
    "csv": _table_target(title="CSV", write=_table(",")),
    "tsv": _table_target(title="TSV", write=_table("\t")),
    "json": Target(title="JSON", write=_nested),
    "jsonl": _table_target(title="JSON lines", write=_json_lines),
    "parquet": _table_target(title="Parquet", write=None),
    "letor": Target(
        title="LETOR", write=_letor, query="word", document="word", query_texts=True, features=True
    ),
    "quepid": Target(
        title="Quepid's CSV", write=_quepid, query="text", assessors=True, unjudged="kept"
    ),
    "rre": Target(title="RRE's ratings", write=_rre, query="text"),
    "opensearch": Target(title="a judgment list of OpenSearch", write=_opensearch, query="text"),
    "ubi": Target(
        title="judgments from User Behavior Insights",
        write=_ubi,
        query="both",
        query_texts=True,
        columns=True,
        reserved=_UBI,
    ),
    "label-studio": Target(
        title="Label Studio's JSON",
        write=_label_studio,
        query="both",
        assessors=True,
        query_texts=True,
        texts=True,
        columns=True,
        unjudged="kept",
    ),
}
"""Formats of judgments by name; the table of what a format holds in the documentation is made of
it.
"""
