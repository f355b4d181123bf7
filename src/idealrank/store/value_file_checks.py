"""Checks of the value files of an imported evaluation, and of all files with their record."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np

from idealrank.data.interchange import finite
from idealrank.data.types import AnyArray, BoolArray, FloatArray
from idealrank.errors import InputError, shown
from idealrank.evaluation.batches import outside_bounds
from idealrank.measures.measure import Measure
from idealrank.measures.parse import parse_measure
from idealrank.measures.sums import aggregate
from idealrank.store.archive import Room, foreign, unpacked
from idealrank.store.encoding import Fields
from idealrank.store.validation import is_text

# What NumPy writes before an array, and stores have no other arrays. It is not evaluated.
_HEADER = re.compile(
    rb"\{'descr': '([<|][a-z]\d)', 'fortran_order': False, 'shape': "
    rb"\((|\d{1,18},|\d{1,18}(?:, \d{1,18})+)\), \} *\n"
)
_MAGIC = b"\x93NUMPY\x01\x00"
_HITS = {
    "documents": "|u1",
    "document": "<i8",
    "depth": "<i8",
    "lengths": "<i8",
    "query": "<i8",
    "rank": "<i8",
    "tie_first": "<i8",
    "tie_last": "<i8",
    "grade": "<f8",
}
# A measure for each way to aggregate values: mean, sum and geometric mean.
_KINDS = ("AP", "NumRet", "GMAP")
_MEASURE_COUNTS = {"scored", "no_relevant", "comparable", "unanswerable"}
_CLOSE = 1e-12  # systems differ that much in logarithms, which geometric means take


def check_contents(
    fields: Fields, files: Mapping[str, bytes], measures: Sequence[Measure | None], room: Room
) -> None:
    """Refuse value files that no evaluation with this record can have.

    Examples
    --------
    >>> check_contents({"n_queries": 2, "measures": []}, {"queries": b'["q","q"]'}, [], Room(100))
    Traceback (most recent call last):
    ...
    idealrank.errors.InputError: found 'q' as queries.1, expected each id once; export it again
    """
    n_queries = fields["n_queries"]
    texts = [measure["text"] for measure in fields["measures"]]
    queries = _ids(files["queries"], "queries", n_queries, "n_queries", room)

    shape = (n_queries, len(texts))
    values = _array(files["values"], "<f8", shape, "values")
    scored: AnyArray = np.ones(shape, np.bool_)
    if "scored" in files:
        scored = _array(files["scored"], "|b1", shape, "scored")
    truths = scored.view(np.uint8)
    _check_column(truths, truths > 1, "scored", "0 or 1")
    _check_values(fields, values, scored, measures)

    n_missing = fields["coverage"].get("missing", 0)
    if "missing" in files:
        _ids(files["missing"], "missing", n_missing, "coverage.missing", room)
    elif n_missing:
        raise _refused("no file of them", "missing", f"{n_missing:,} ids, as coverage.missing says")

    measures_of_words = [
        str(text)
        for text, measure in zip(texts, measures, strict=True)
        if measure is not None and measure.aggregate == "text"
    ]
    if "texts" in files:
        _check_words(files["texts"], texts, measures_of_words, n_queries, room)
    elif measures_of_words:
        expected = f"what {shown(measures_of_words[0])} says of each query"
        raise _refused("no file of them", "texts", expected)

    if "coverage" in files:
        _check_measure_coverage(files["coverage"], texts, n_queries, room)
    if "hits" in files:
        _check_hits(files["hits"], queries, room)


def _ids(content: bytes, what: str, n: int, field: str, room: Room) -> list[str]:
    ids = _json(content, what, room)
    if not isinstance(ids, list) or len(ids) != n:
        length = f"a list of {len(ids):,}" if isinstance(ids, list) else f"one {type(ids).__name__}"
        raise _refused(length, what, f"a list of {n:,} ids, as {field} of its record says")
    _check_each_once(ids, what)
    return ids


def _check_each_once(ids: list[Any], what: str) -> None:
    _check_strings(ids, what)
    seen: set[str] = set()
    for place, text in enumerate(ids):
        if text in seen:
            raise _refused(shown(repr(text)), f"{what}.{place}", "each id once")
        seen.add(text)


def _check_strings(texts: Sequence[Any], what: str) -> None:
    for place, text in enumerate(texts):
        if not isinstance(text, str) or not (text.isascii() or is_text(text)):
            raise _refused(shown(repr(text)), f"{what}.{place}", "text")


def _json(content: bytes, what: str, room: Room) -> Any:
    room.take_json(content)
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise _refused(f"no JSON ({shown(error)})", what, "what a store writes there") from None


def _array(content: bytes, kind: str, shape: tuple[int, ...] | None, what: str) -> AnyArray:
    """An array of a file, of the type; and of the shape, or of one dimension and any length."""
    # The magic bytes, the length of the header in two bytes, the header, the values.
    begin = len(_MAGIC) + 2
    end = begin + int.from_bytes(content[len(_MAGIC) : begin], "little")
    header = _HEADER.fullmatch(content, begin, end) if content.startswith(_MAGIC) else None
    if header is None:
        raise _refused("no array of NumPy", what, f"an array of type {kind}")
    dtype = header[1].decode()
    sizes = tuple(int(size) for size in header[2].decode().split(",") if size)
    has_shape = len(sizes) == 1 if shape is None else sizes == shape
    if dtype != kind or not has_shape:
        expected = f"{kind} in one column" if shape is None else f"{kind} of shape {shape}"
        raise _refused(f"an array of type {dtype} and shape {shown(sizes)}", what, expected)
    n_bytes = len(content) - end
    expected_bytes = math.prod(sizes) * np.dtype(kind).itemsize
    if n_bytes != expected_bytes:
        raise _refused(f"{n_bytes:,} bytes after its header", what, f"{expected_bytes:,}")
    return np.frombuffer(content, kind, offset=end).reshape(sizes)


def _check_values(
    fields: Fields, values: FloatArray, scored: BoolArray, measures: Sequence[Measure | None]
) -> None:
    outside = 0
    for column, measure in enumerate(measures):
        column_values = values[:, column]
        counted = scored[:, column]
        name = f"values of {shown(fields['measures'][column]['text'])}"
        if measure is not None:
            low, high = measure.bounds
            is_outside = outside_bounds(measure, column_values)
            outside += int(np.count_nonzero(is_outside & counted))
            _check_column(
                column_values,
                np.isinf(column_values) & is_outside,
                name,
                f"a number from {low} to {high}",
            )
            _check_column(
                column_values,
                ~np.isnan(column_values) & ~counted,
                name,
                "NaN, for the query does not count",
            )
            if getattr(measure, "no_relevant", "") != "nan":
                _check_column(
                    column_values,
                    np.isnan(column_values) & counted,
                    name,
                    "a number, for the query counts",
                )
        _check_mean(fields["means"][column], column, column_values, counted, measure)
    stated = fields["coverage"].get("out_of_range", outside)
    if outside > stated or (outside < stated and None not in measures):
        raise _refused(
            f"{outside:,} values outside the bounds of their measures",
            "values",
            f"{stated:,}, as coverage.out_of_range says",
        )


def _check_column(values: AnyArray, is_odd: BoolArray, what: str, expected: str) -> None:
    if is_odd.any():
        raise _refused_at(values, is_odd, what, expected)


def _check_mean(
    stated: Sequence[Any],
    column: int,
    values: FloatArray,
    counted: BoolArray,
    measure: Measure | None,
) -> None:
    """Check that means match the values; the kind of mean of a user's measure is unknown."""
    n = int(np.count_nonzero(counted))
    kinds = [measure] if measure is not None else [parse_measure(text) for text in _KINDS]
    means = [_aggregate(kind, values, counted) for kind in kinds]
    stated_mean, stated_n = stated
    if stated_n != n or not any(_is_close(stated_mean, mean) for mean in means):
        expected = f"{[means[0], n]}, that of its values"
        if measure is None:
            expected = f"a mean, sum or geometric mean of {n:,} values"
        raise _refused(shown(stated), f"means.{column} of its record", expected)


def _aggregate(measure: Measure, values: FloatArray, counted: BoolArray) -> float | None:
    try:
        return finite(aggregate(measure, values, counted))
    except (ArithmeticError, ValueError):  # infinities may have no mean
        return None


def _is_close(stated: float | None, computed: float | None) -> bool:
    if stated is None or computed is None:
        return stated is computed
    return math.isclose(stated, computed, rel_tol=_CLOSE, abs_tol=0)


def _check_words(
    content: bytes,
    measures: Sequence[str],
    measures_of_words: Sequence[str],
    n_queries: int,
    room: Room,
) -> None:
    """Check the words that some measures say of each query instead of a value."""
    by_text = _json(content, "texts", room)
    if not isinstance(by_text, dict) or not (
        set(measures_of_words) <= set(by_text) <= set(measures)
    ):
        among = f", {shown(measures_of_words[0])} among them" if measures_of_words else ""
        raise _refused(_names_in(by_text), "texts", f"lists by the texts of measures{among}")
    for text, words in by_text.items():
        if not isinstance(words, list) or len(words) != n_queries:
            raise _refused(
                "no list, or one of another length",
                f"texts of {shown(text)}",
                f"{n_queries:,} texts, one of each query",
            )
        _check_strings(words, f"texts of {shown(text)}")


def _names_in(record: Any) -> str:
    """Show the names of a record, or the type of anything else."""
    names = ", ".join(record) if isinstance(record, dict) else f"one {type(record).__name__}"
    return shown(names) or "nothing"


def _check_measure_coverage(
    content: bytes, texts: Sequence[str], n_queries: int, room: Room
) -> None:
    by_text = _json(content, "coverage", room)
    if not isinstance(by_text, dict) or not by_text or not set(by_text) <= set(texts):
        raise _refused(_names_in(by_text), "coverage", "counts by the texts of measures")
    for text, counts in by_text.items():
        name = f"coverage of {shown(text)}"
        if (
            not isinstance(counts, dict)
            or not {"scored", "no_relevant"} <= set(counts) <= _MEASURE_COUNTS
        ):
            raise _refused(
                shown(repr(counts)), name, "numbers of queries, scored and no_relevant among them"
            )
        numbers = {part: count for part, count in counts.items() if part != "unanswerable"}
        for part, count in numbers.items():
            if type(count) is not int or not 0 <= count <= n_queries:
                raise _refused(shown(repr(count)), f"{name}.{part}", f"0 to {n_queries:,}")
        if "unanswerable" in counts:
            _check_places(counts["unanswerable"], counts["no_relevant"], n_queries, name)


def _check_places(places: Any, n: int, n_queries: int, name: str) -> None:
    """Refuse anything but the places of that many queries, each once."""
    are_places = isinstance(places, list) and all(
        type(place) is int and 0 <= place < n_queries for place in places
    )
    if not are_places or len(set(places)) != len(places) or len(places) != n:
        expected = f"{n:,} places of queries below {n_queries:,}, each once"
        raise _refused(shown(repr(places)), f"{name}.unanswerable", expected)


def _check_hits(content: bytes, queries: Sequence[str], room: Room) -> None:
    try:
        parts = unpacked(
            BytesIO(content),
            lambda name: name.removesuffix(".npy") in _HITS and name.endswith(".npy"),
            room,
        )
    except InputError as error:
        raise InputError(f"hits: {error}") from None
    if absent := [name for name in _HITS if f"{name}.npy" not in parts]:
        raise foreign(f"no {absent[0]!r} in the hits")
    shapes: dict[str, tuple[int, ...]] = {"lengths": (len(queries),), "depth": ()}
    columns = {
        name: _array(parts[f"{name}.npy"], kind, shapes.get(name), f"hits.{name}")
        for name, kind in _HITS.items()
    }
    n = columns["query"].size
    for name in ("document", "rank", "tie_first", "tie_last", "grade"):
        if columns[name].size != n:
            raise _refused(
                f"{columns[name].size:,} rows", f"hits.{name}", f"{n:,}, as hits.query has"
            )
    pool = _json(columns["documents"].tobytes(), "hits.documents", room)
    if not isinstance(pool, list):
        raise _refused(f"one {type(pool).__name__}", "hits.documents", "a list of ids")
    _check_each_once(pool, "hits.documents")
    _check_rows(columns, len(queries), len(pool))


def _check_rows(columns: Mapping[str, AnyArray], n_queries: int, n_documents: int) -> None:
    lengths = columns["lengths"]
    depth = columns["depth"]
    if depth < 1:
        raise _refused(str(depth), "hits.depth", "1 or more")
    _check_hit(columns, "lengths", lengths < 0, "0 or more")
    for name, end in (("query", n_queries), ("document", n_documents)):
        _check_hit(
            columns, name, (columns[name] < 0) | (columns[name] >= end), f"a place below {end:,}"
        )
    query, rank, first, last = (
        columns[name] for name in ("query", "rank", "tie_first", "tie_last")
    )
    steps = np.diff(query, prepend=query[:1])
    _check_hit(columns, "query", steps < 0, "queries in their order")
    _check_hit(
        columns,
        "tie_first",
        (first < 1) | (first > depth),
        f"a rank from 1 to the depth of {depth:,}",
    )
    _check_hit(
        columns,
        "tie_last",
        (last < first) | (last > lengths[query]),
        "a rank from tie_first to the length of its list",
    )
    _check_hit(columns, "rank", (rank < first) | (rank > last), "a rank from tie_first to tie_last")
    before = np.concatenate((rank[:1] - 1, rank[:-1]))
    _check_hit(columns, "rank", (steps == 0) & (rank <= before), "ranks of one query that rise")
    _check_hit(columns, "grade", ~np.isfinite(columns["grade"]), "a number")


def _check_hit(
    columns: Mapping[str, AnyArray], name: str, is_odd: BoolArray, expected: str
) -> None:
    _check_column(columns[name], is_odd, f"hits.{name}", expected)


def _refused_at(array: AnyArray, is_odd: BoolArray, what: str, expected: str) -> InputError:
    """Make the error for the first odd value."""
    place = tuple(int(index) for index in np.argwhere(is_odd)[0])
    where = place[0] if len(place) == 1 else place
    return _refused(str(array[place]), f"{what} at {where}", expected)


def _refused(problem: str, place: str, expected: str) -> InputError:
    return InputError(f"found {problem} as {place}, expected {expected}; export it again")
