"""Quepid's exports of judgments: ``query,docid,rating`` of a case; a book with a column for each
rater, or with a row for each rating.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from math import isfinite
from typing import NoReturn

import numpy as np

from idealrank.data.assessors import AssessorQrels, JudgmentColumns
from idealrank.data.types import encode_id
from idealrank.errors import FileFormatError, InputError
from idealrank.io.checked_cells import parse_number, shown
from idealrank.io.complaints import Complain, Complaint, Notes, refuse
from idealrank.io.formats.delimited import rows_in_batches, sniff_delimiter
from idealrank.io.judgment_rows import JudgmentRow, JudgmentSheet, sheet_of
from idealrank.io.row_parts import Place, Rows, Table, pack
from idealrank.io.sources import Source
from idealrank.io.table_columns import Columns, named_columns, plain

# Names of columns, as `plain` writes them.
_QUERY = ("query", "querytext")
_DOCUMENT = ("docid",)
_RATING = "rating"
_RATER = ("user", "useremail", "username", "rater", "judge", "assessor", "annotator", "email")
_QUERY_ID = "queryid"
_FLAGS = {"unrateable": "unrateable", "judgelater": "left for later"}
_WORDS = "unrateable or judge_later"
_YES = ("true", "t", "1", "yes")
_NO = ("false", "f", "0", "no", "")
_MEAN = "mean"
_UNNAMED = "Anonymous"  # Quepid's own name of a rater without an account
# Quepid writes a blank before a query that begins so, lest a spreadsheet take it for a formula.
_FORMULA = tuple("-=+@")
_EXPECTED = "columns query, docid and rating, or query, docid and a column for each rater"


@dataclass(kw_only=True)
class _Book:
    """Ratings by rater, row by row; a blank is None."""

    path: str
    raters: list[str]
    queries: list[str] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)
    ratings: list[list[float | None]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    unrated_queries: int = 0
    texts: dict[str, str] = field(default_factory=dict)  # of queries that have an id, too
    # in a book with a row for each rating: rows without one, by reason, and all as "rows"
    row_counts: Counter[str] | None = None

    @property
    def n_blank(self) -> int:
        """Count the blank ratings."""
        return sum(rating is None for row in self.ratings for rating in row)

    def tell(self, notes: Notes) -> None:
        """Note how much is unjudged."""
        raters = "" if len(self.raters) == 1 else f"ratings by {len(self.raters)} raters"
        if self.row_counts is not None:
            reasons = [reason for reason in ("blank", *_FLAGS.values()) if self.row_counts[reason]]
            if reasons:
                listed = ", ".join(f"{self.row_counts[reason]:,} {reason}" for reason in reasons)
                n_rows = f"{self.row_counts['rows']:,} {raters or 'rows'}"
                notes.inform(f"{self.path}: of {n_rows}, {listed}: unjudged")
        elif self.n_blank:
            blank = "is blank and counts" if self.n_blank == 1 else "are blank and count"
            notes.inform(
                f"{self.path}: {self.n_blank:,} of {len(self.raters) * len(self.ratings):,} "
                f"{raters or 'ratings'} {blank} as unjudged"
            )
        if self.unrated_queries:
            notes.inform(
                f"{self.path}: {self.unrated_queries:,} queries have no rated document; they "
                f"are left out"
            )


def read_quepid(
    source: Source, table: Table, columns: Columns, notes: Notes, complain: Complain
) -> Rows:
    r"""Read one grade for each rated document."""
    if table == "run":
        raise FileFormatError(
            source.path, 1, "Quepid's judgments", "a run", "judgments come first, then runs"
        )
    book = _read(source, complain)
    book.tell(notes)
    rater = _chosen(book, named_columns(columns, table).get("grade", ""))
    grades = [_mean(row) if rater is None else row[rater] for row in book.ratings]
    graded = [place for place, grade in enumerate(grades) if grade is not None]
    values = np.array([grades[place] for place in graded], np.float64)
    queries = pack([book.queries[place] for place in graded])
    documents = pack([book.documents[place] for place in graded])
    return Rows(
        queries=queries,
        documents=documents,
        values=values,
        place=lambda row: (source.path, book.lines[graded[row]]),
    )


def read_raters(sources: Sequence[Source], notes: Notes) -> AssessorQrels:
    r"""Read the judgments of every rater."""
    queries = list[bytes]()
    raters = list[bytes]()
    documents = list[bytes]()
    levels = list[float]()
    places = list[Place]()
    for source in sources:
        book = _read(source, refuse)
        book.tell(notes)
        for query, document, row, line in zip(
            book.queries, book.documents, book.ratings, book.lines, strict=True
        ):
            for rater, rating in zip(book.raters, row, strict=True):
                if rating is not None:
                    queries.append(encode_id(query))
                    raters.append(encode_id(rater))
                    documents.append(encode_id(document))
                    levels.append(rating)
                    places.append((source.path, line))
    paths = [source.path for source in sources]
    if not levels:
        raise InputError(f"{', '.join(paths)}: found no judgments, expected at least one")

    def refuse_row(row: int, problem: str, expected: str, hint: str) -> NoReturn:
        raise Complaint("row", *places[row], problem, expected, hint).error() from None

    columns = JudgmentColumns(
        queries=queries, groups=raters, documents=documents, levels=np.array(levels, np.float64)
    )
    return AssessorQrels.from_columns(columns, refuse_row, name=paths[0], paths=paths)


def quepid_sheet(source: Source, notes: Notes, complain: Complain) -> JudgmentSheet:
    r"""Read the ratings of every rater as rows, unrated documents among them."""
    book = _read(source, complain)
    book.tell(notes)
    raters = [""] if book.raters == [_RATING] else book.raters
    rows = []
    for query, document, ratings, line in zip(
        book.queries, book.documents, book.ratings, book.lines, strict=True
    ):
        text = book.texts.get(query, query)
        place = (source.path, line)
        unjudged = JudgmentRow(query, document, None, query_text=text, place=place)
        rated = [
            unjudged._replace(grade=rating, assessor=rater)
            for rater, rating in zip(raters, ratings, strict=True)
            if rating is not None
        ]
        rows += rated or [unjudged]
    losses = {}
    if book.unrated_queries:
        losses["empty_queries"] = [""] * book.unrated_queries
    counts = Counter(book.row_counts)
    reasons = []
    for reason in _FLAGS.values():
        reasons += [reason] * counts[reason]
    if reasons:
        losses["reasons"] = reasons
    return sheet_of(rows, texts_are_ids=not book.texts, lost=losses)


def is_row_per_rating(names: Sequence[str]) -> bool:
    """Return whether these are the columns of a book with a row for each rating: a rater or a flag
    beside query, document and rating.
    """
    simple = {plain(name) for name in names}
    return (
        simple.issuperset({*_DOCUMENT, _RATING})
        and not simple.isdisjoint(_QUERY)
        and not simple.isdisjoint((*_RATER, *_FLAGS))
    )


def _read(source: Source, complain: Complain) -> _Book:
    batches = rows_in_batches(source, sniff_delimiter(source))
    header, first = next(batches, ([[]], [0]))
    names = [name.strip() for name in header[0]]
    simple = list(map(plain, names))
    query = next((place for place, name in enumerate(simple) if name in _QUERY), None)
    document = next((place for place, name in enumerate(simple) if name in _DOCUMENT), None)
    if query is None or document is None:
        raise FileFormatError(
            source.path,
            int(first[0]),
            f"columns {', '.join(map(repr, names)) or 'none'}",
            _EXPECTED,
        )
    rows = chain.from_iterable(zip(batch, lines.tolist(), strict=True) for batch, lines in batches)
    if is_row_per_rating(names):
        # two queries may have the same text
        has_ids = _QUERY_ID in simple
        take = _RowReader(
            book=_Book(path=source.path, raters=[_RATING]),
            query=simple.index(_QUERY_ID) if has_ids else query,
            document=document,
            rated=[simple.index(_RATING)],
            width=len(names),
            complain=complain,
        )
        return _read_ratings(take, simple, rows, query if has_ids else None)
    rated = [place for place, name in enumerate(simple) if name == _RATING]
    rated = rated or [place for place in range(len(names)) if place not in (query, document)]
    raters = [names[place] for place in rated]
    if not raters or len(set(raters)) < len(raters) or "" in raters:
        raise FileFormatError(
            source.path,
            int(first[0]),
            f"columns {', '.join(map(repr, names))}",
            _EXPECTED,
            "each rater once, with a name",
        )
    take = _RowReader(
        book=_Book(path=source.path, raters=raters),
        query=query,
        document=document,
        rated=rated,
        width=len(names),
        complain=complain,
    )
    for row, line in rows:
        take(row, line)
    return take.book


def _read_ratings(
    take: "_RowReader",
    names: Sequence[str],
    rows: Iterator[tuple[list[str], int]],
    text: int | None,
) -> _Book:
    """Read a row for each rating, and join the rows of a document, with a column for each rater;
    `text` is the column of the query's text.
    """
    rater = next((place for place, name in enumerate(names) if name in _RATER), None)
    flags = {place: _FLAGS[name] for place, name in enumerate(names) if name in _FLAGS}
    book = take.book
    merged = _Ratings(take.bad)
    row_counts = Counter[str]()
    for row, line in rows:
        if not take(row, line):
            continue
        query, document, (rating,) = book.queries[-1], book.documents[-1], book.ratings[-1]
        if text is not None and row[text]:
            book.texts.setdefault(query, row[text])
        reason = _reason(row, flags)
        if reason is None:
            words = shown(" ".join(row[place] for place in flags))
            take.bad("flag", line, f"{words} as {_WORDS}", "true or false")
            continue
        state = "blank" if rating is None else "rated"
        row_counts.update(("rows", reason or state))
        rater_name = _RATING if rater is None else row[rater].strip() or _UNNAMED
        merged.add((query, document), rater_name, None if reason else rating, line)
    return replace(
        merged.book(book.path),
        row_counts=row_counts,
        unrated_queries=book.unrated_queries,
        texts=book.texts,
    )


def _reason(row: Sequence[str], flags: Mapping[int, str]) -> str | None:
    """Why a rating does not count; empty if it does, None if a flag is neither set nor unset."""
    words = {reason: row[place].strip().lower() for place, reason in flags.items()}
    if not all(word in (*_YES, *_NO) for word in words.values()):
        return None
    return next((reason for reason, word in words.items() if word in _YES), "")


class _Ratings:
    """Ratings by document and rater."""

    def __init__(self, bad: Callable[[str, int, str, str], None]) -> None:
        self._bad = bad
        self._raters: dict[str, None] = {}
        self._by_pair: dict[tuple[str, str], dict[str, tuple[float | None, int]]] = {}

    def add(self, pair: tuple[str, str], rater: str, rating: float | None, line: int) -> None:
        self._raters[rater] = None
        by_rater = self._by_pair.setdefault(pair, {})
        if rater in by_rater:
            _, first_line = by_rater[rater]
            again = f"{shown(' '.join(pair))} a second time by {shown(rater)}"
            problem = f"{again} (first on line {first_line})"
            self._bad("second-rating", line, problem, "one rating of a document by each rater")
        by_rater[rater] = rating, line

    def book(self, path: str) -> _Book:
        raters = list(self._raters)
        lines = []
        ratings: list[list[float | None]] = []
        for by_rater in self._by_pair.values():
            rated = {rater: rating for rater, (rating, _) in by_rater.items()}
            ratings.append([rated.get(rater) for rater in raters])
            lines.append(min(line for _, line in by_rater.values()))
        return _Book(
            path=path,
            raters=raters,
            queries=[query for query, _ in self._by_pair],
            documents=[document for _, document in self._by_pair],
            ratings=ratings,
            lines=lines,
        )


@dataclass(frozen=True, kw_only=True)
class _RowReader:
    """Puts rows into a book."""

    book: _Book
    # query, document, rated: Places of the cells of query and document, and of the ratings
    query: int
    document: int
    rated: list[int]
    width: int
    complain: Complain

    def __call__(self, row: list[str], line: int) -> bool:
        """Return whether the row was put into the book."""
        if len(row) == 1:  # a query without ratings, as the export of a case writes it
            self.book.unrated_queries += 1
            return False
        if len(row) != self.width:
            self.bad("fields", line, f"{len(row)} cells", f"{self.width}, as in the header line")
            return False
        query = row[self.query]
        document = row[self.document]
        cells = [row[place].strip() for place in self.rated]
        if not document and not any(cells):
            self.book.unrated_queries += 1
            return False
        ratings = [parse_number(cell) if cell else None for cell in cells]
        for cell, rating in zip(cells, ratings, strict=True):
            if cell and (rating is None or not isfinite(rating)):
                expected = "a number, or a blank if unjudged"
                self.bad("number", line, f"{shown(cell)} as rating", expected)
                return False
        if not query or not document:
            self.bad("empty-id", line, "an empty cell as query or document", "an id")
            return False
        is_guarded = query.startswith(" ") and query[1:].startswith(_FORMULA)
        self.book.queries.append(query[1:] if is_guarded else query)
        self.book.documents.append(document)
        self.book.ratings.append(ratings)
        self.book.lines.append(line)
        return True

    def bad(self, kind: str, line: int, problem: str, expected: str) -> None:
        self.complain(
            Complaint(kind=kind, path=self.book.path, line=line, found=problem, expected=expected)
        )


def _chosen(book: _Book, named: str) -> int | None:
    """Return the place of the rater; None for the mean."""
    if named in book.raters:
        return book.raters.index(named)
    if named == _MEAN:
        return None
    if not named and len(book.raters) == 1:
        return 0
    raters = ", ".join(map(repr, book.raters))
    problem = f"{len(book.raters)} raters ({raters})"
    if named:
        problem = f"no rater {named!r} among {raters}"
    raise InputError(
        f"{book.path}: found {problem}, expected one grade for a document",
        hint=f"use columns={{'grade': {_MEAN!r}}} (in evaluate, qrels_columns=), or the name of a "
        f"rater; read_assessors keeps all raters",
        command_hint=f"use --qrels-columns grade={_MEAN}, or the name of a rater; --judgments "
        f"qrels_jg keeps all raters",
    )


def _mean(row: Sequence[float | None]) -> float | None:
    ratings = [rating for rating in row if rating is not None]
    return sum(ratings) / len(ratings) if ratings else None
