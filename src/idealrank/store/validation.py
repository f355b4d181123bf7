"""Checks of an imported evaluation: its record, its value files, and all files against the record.

A malformed record would break every later query.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from io import BytesIO
from typing import Any

import numpy as np

from idealrank.conventions import SWITCHES, Convention
from idealrank.conventions.presets import switches_fingerprint
from idealrank.data.interchange import finite
from idealrank.data.label_kinds import LABEL_KINDS
from idealrank.data.types import AnyArray, BoolArray, FloatArray
from idealrank.errors import IdealrankError, InputError, OptionError, shown
from idealrank.evaluation.batches import outside_bounds
from idealrank.evaluation.coverage import LABEL_DEPTH
from idealrank.measures.measure import Measure
from idealrank.measures.parse import parse_measure, parse_run_measure
from idealrank.measures.sums import aggregate
from idealrank.store.archive import Room, foreign, unpacked
from idealrank.store.encoding import Fields, read_convention
from idealrank.store.record import utc

_LARGEST = 2**63  # whole numbers of a column are below
_DEEPEST = 20  # lists in lists of a record; SQLite reads 1,000
_WRITTEN = "what `store export` writes there"
_OWN = "custom:"  # beginning of the name of a user's own function

# Which files an evaluation may have, and how their names end.
ENDINGS = {
    "queries": "json",
    "values": "npy",
    "scored": "npy",
    "missing": "json",
    "coverage": "json",
    "texts": "json",
    "hits": "npz",
}

_INPUT = {"name": str, "size": int, "modified": str, "sha256": str}
_CONVENTION = {"name": str, "fingerprint": str, "tool": str, "proof": str, "switches": {"*": str}}
_EVALUATION = {
    "format": int,
    "kind": str,
    "nonce": str,
    "time": str,
    "name": str,
    "path": str,
    "version": str,
    "commit": str,
    "command": str,
    "dirty": bool | None,
    "n_queries": int,
    "max_documents": int | None,
    "measures": [{"text": str, "resolved": str, "parses": bool}],
    "means": [list],
    "convention": _CONVENTION,
    "coverage": {"*": int},
    "inputs": [_INPUT],
    "files": {"*": str},
}
_LABELS = {"kind": str, "found": bool, "queries": int, "with_negatives": int}
_FINGERPRINT, _SHORT, _SHA256 = (re.compile(f"[0-9a-f]{{{digits}}}") for digits in (32, 8, 64))
_WORDS = {"id": str, "digest": str, "tags": [str], "notes": [[str]]}


def check_words(words: Any) -> None:
    """Refuse the companions of a record (id, digest, tags, notes) of other types; errors as for
    `check_evaluation`.
    """
    _check(words, _WORDS, "")
    _check_depth(words)
    _check_texts(words, "")
    for place, note in enumerate(words["notes"]):
        _refuse(note, f"notes.{place}", is_fine=len(note) == 2, expected="a time and a text")
        _check_time(note[0], f"notes.{place}.0")


def check_head(fields: Any) -> None:
    """Refuse a record that does not say what it is; errors as for `check_evaluation`."""
    _check(fields, {name: _EVALUATION[name] for name in ("format", "kind")}, "")


def check_evaluation(fields: Any) -> list[Measure | None]:
    """Refuse the record of an evaluation whose parts have other types than written ones, or
    contradict each other.
    """
    _check(fields, _EVALUATION, "")
    _check_depth(fields)
    _check_texts(fields, "")
    _refuse(
        fields.get("parts", ...),
        "parts",
        is_fine="parts" not in fields,
        expected="a comparison or a gate, which have parts",
    )
    judgments = fields.get("judgments")  # records of earlier versions have none
    _refuse(
        judgments,
        "judgments",
        is_fine=judgments is None or _fits(judgments, _FINGERPRINT),
        expected="32 hexadecimal digits",
    )
    _check_labels(fields)
    _check_time(fields["time"], "time")
    _check_counts(fields)
    _check_files(fields["files"])
    for place, input_file in enumerate(fields["inputs"]):
        _check_input(input_file, f"inputs.{place}")
    convention = _checked_convention(fields["convention"])
    measures = _checked_measures(fields["measures"])
    return [
        None if measure is None or convention is None else measure.under(convention)
        for measure in measures
    ]


def _check_labels(fields: Fields) -> None:
    """Refuse labels and counts of them that no version writes; records of earlier versions have
    none.
    """
    by_rank = fields.get("relevant_by_rank", [])
    relevant = fields["coverage"].get("relevant", 0)
    _check(by_rank, [int], "relevant_by_rank")
    is_fine = (
        len(by_rank) <= LABEL_DEPTH
        and all(count >= 0 for count in by_rank)
        and sum(by_rank) <= relevant
    )
    expected = f"at most {LABEL_DEPTH} counts, at most {relevant} together"
    _refuse(by_rank, "relevant_by_rank", is_fine=is_fine, expected=expected)

    labels = fields.get("labels")
    if labels is None:
        return
    _check(labels, _LABELS, "labels")
    unknown = sorted(set(labels) - {*_LABELS, "sampled_negatives"})
    _refuse(unknown, "labels", is_fine=not unknown, expected="no other fields")
    queries, negative = labels["queries"], labels["with_negatives"]
    _refuse(queries, "labels.queries", is_fine=queries >= 0, expected="0 or more")
    _refuse(
        negative,
        "labels.with_negatives",
        is_fine=0 <= negative <= queries,
        expected=f"0 to {queries}",
    )
    share = labels.get("sampled_negatives")
    is_fine = share is None or (isinstance(share, float) and 0 < share < 1)
    _refuse(share, "labels.sampled_negatives", is_fine=is_fine, expected="a share between 0 and 1")
    _refuse(
        labels["kind"],
        "labels.kind",
        is_fine=labels["kind"] in LABEL_KINDS,
        expected="a kind of labels",
    )
    is_fine = share is None or (labels["kind"] == "pooled" and negative > 0)
    _refuse(
        share,
        "labels.sampled_negatives",
        is_fine=is_fine,
        expected="none without pooled labels and grades of 0 or less",
    )


def _check_counts(fields: Fields) -> None:
    n_queries, coverage, most = fields["n_queries"], fields["coverage"], fields["max_documents"]
    _refuse(n_queries, "n_queries", is_fine=n_queries > 0, expected="1 or more")
    _refuse(most, "max_documents", is_fine=most is None or most > 0, expected="1 or more, or null")
    means = fields["means"]
    _refuse(
        means,
        "means",
        is_fine=len(means) == len(fields["measures"]),
        expected=f"one for each of {len(fields['measures'])} measures",
    )
    for place, mean in enumerate(means):
        is_pair = len(mean) == 2 and _is(mean[0], float | None) and _is(mean[1], int)
        is_fine = is_pair and math.isfinite(mean[0] or 0) and 0 <= mean[1] <= n_queries
        _refuse(
            mean,
            f"means.{place}",
            is_fine=is_fine,
            expected="a mean, or null, and a number of queries",
        )
    for name, count in coverage.items():
        _refuse(count, f"coverage.{name}", is_fine=count >= 0, expected="0 or more")
    scored = coverage.get("scored", n_queries)
    _refuse(
        scored,
        "coverage.scored",
        is_fine=scored == n_queries,
        expected=f"{n_queries}, as n_queries says",
    )
    for part, whole in (
        ("no_relevant", "scored"),
        ("unjudged", "considered"),
        ("missing", "queries_in_qrels"),
    ):
        if part in coverage and whole in coverage:
            is_fine = coverage[part] <= coverage[whole]
            _refuse(
                coverage[part],
                f"coverage.{part}",
                is_fine=is_fine,
                expected=f"at most {coverage[whole]}, as coverage.{whole} says",
            )


def _check_files(files: Mapping[str, str]) -> None:
    for what, name in files.items():
        _refuse(what, "files", is_fine=what in ENDINGS, expected=f"{', '.join(ENDINGS)} alone")
        digest, _, ending = name.partition(".")
        is_fine = _fits(digest, _SHA256) and ending == ENDINGS[what]
        _refuse(name, f"files.{what}", is_fine=is_fine, expected=f"a SHA-256 and .{ENDINGS[what]}")
    for what in ("queries", "values"):
        _refuse(
            files.get(what, ...),
            f"files.{what}",
            is_fine=what in files,
            expected="the name of a file",
        )


def _check_input(input_file: Mapping[str, Any], place: str) -> None:
    _refuse(
        input_file["size"],
        f"{place}.size",
        is_fine=input_file["size"] >= 0,
        expected="0 bytes or more",
    )
    _refuse(
        input_file["sha256"],
        f"{place}.sha256",
        is_fine=not input_file["sha256"] or _fits(input_file["sha256"], _SHA256),
        expected="64 hexadecimal digits",
    )
    try:
        is_time = not input_file["modified"] or bool(datetime.fromisoformat(input_file["modified"]))
    except ValueError:
        is_time = False
    _refuse(
        input_file["modified"], f"{place}.modified", is_fine=is_time, expected="a time in ISO 8601"
    )


def _checked_convention(kept: Fields) -> Convention | None:
    """The convention; None where it has functions of the user's own."""
    place, switches = "convention.switches", kept["switches"]
    for name in switches:
        _refuse(
            name,
            place,
            is_fine=name in SWITCHES,
            expected=f"{', '.join(SWITCHES)}; if a later version exported it, upgrade idealrank",
        )
    _refuse(
        kept["fingerprint"],
        "convention.fingerprint",
        is_fine=_fits(kept["fingerprint"], _SHORT),
        expected="8 hexadecimal digits",
    )
    if any(switches.get(name, "").startswith(_OWN) for name in ("gain", "discount")):
        return None
    digest = switches_fingerprint(switches)
    _refuse(
        kept["fingerprint"],
        "convention.fingerprint",
        is_fine=digest == kept["fingerprint"],
        expected=f"{digest}, that of its switches",
    )
    try:
        convention = read_convention(kept, "it")
    except (IdealrankError, OverflowError) as error:
        raise InputError(
            f"found {place} of its record that are none ({error}), expected {_WRITTEN}; export it "
            "again"
        ) from None
    made = convention.switches()
    for name, value in switches.items():
        _refuse(value, f"{place}.{name}", is_fine=made[name] == value, expected=repr(made[name]))
    return convention


def _checked_measures(kept: Sequence[Fields]) -> list[Measure | None]:
    """The measures; None for each of the user's own."""
    _refuse(kept, "measures", is_fine=bool(kept), expected="one or more")
    texts = [measure["text"] for measure in kept]
    for place, text in enumerate(texts):
        _refuse(
            text,
            f"measures.{place}.text",
            is_fine=text not in texts[:place],
            expected="each measure once",
        )
    return [
        _parsed(measure["text"], f"measures.{place}.text") if measure["parses"] else None
        for place, measure in enumerate(kept)
    ]


def _parsed(text: str, place: str) -> Measure:
    known = (
        "a measure that `idealrank measures` lists; if a later version exported it, upgrade "
        "idealrank"
    )
    try:
        measure = parse_run_measure(text)
    except (OptionError, OverflowError):
        raise _refused_record(text, place, known) from None
    _refuse(text, place, is_fine=str(measure) == text, expected=repr(str(measure)))
    return measure


def _check_time(text: str, place: str) -> None:
    """Texts of times sort as times do only where all are written alike."""
    try:
        spelled = utc(text)
    except OptionError:
        spelled = None
    _refuse(
        text,
        place,
        is_fine=spelled == text,
        expected=repr(spelled) if spelled else "a time in ISO 8601, UTC, with microseconds",
    )


def _check_texts(value: Any, place: str) -> None:
    """Refuse halves of letters: they stand for bytes that are no UTF-8, and others stand for
    nothing.
    """
    if isinstance(value, str):
        _refuse(value, place, is_fine=is_text(value), expected="text")
    elif isinstance(value, Mapping):
        for name, part in value.items():
            _refuse(name, place, is_fine=is_text(name), expected="names that are text")
            _check_texts(part, f"{place}.{name}".lstrip("."))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            _check_texts(part, f"{place}.{number}".lstrip("."))


def is_text(text: str) -> bool:
    r"""Return whether a text can be written as UTF-8, with surrogate-escaped bytes.

    Examples
    --------
    >>> is_text("b\udcff"), is_text("b\ud800")
    (True, False)
    """
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def _check_depth(fields: Fields) -> None:
    level: list[Any] = [fields]
    for _ in range(_DEEPEST):
        level = [part for value in level for part in _parts_of(value)]
    _refuse(f"lists in lists {_DEEPEST} deep", "part", is_fine=not level)


def _parts_of(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _fits(text: Any, pattern: re.Pattern[str]) -> bool:
    return isinstance(text, str) and pattern.fullmatch(text) is not None


def _check(value: Any, wanted: Any, place: str) -> None:
    if isinstance(wanted, Mapping):
        _refuse(value, place, is_fine=isinstance(value, dict))
        # A star is any name.
        parts = dict.fromkeys(value, wanted["*"]) if "*" in wanted else wanted
        for name, part in parts.items():
            _check(value.get(name, ...), part, f"{place}.{name}".lstrip("."))
    elif isinstance(wanted, list):
        _refuse(value, place, is_fine=isinstance(value, list))
        for number, element in enumerate(value):
            _check(element, wanted[0], f"{place}.{number}")
    else:
        _refuse(value, place, is_fine=_is(value, wanted))


def _is(value: Any, kind: Any) -> bool:
    """Return whether a value has a type; a boolean is no number, and a number must fit a column."""
    if isinstance(value, bool):
        return kind not in (int, int | None) and isinstance(value, kind)
    return isinstance(value, kind) and not (isinstance(value, int) and abs(value) >= _LARGEST)


def _refuse(value: Any, place: str, *, is_fine: bool, expected: str = _WRITTEN) -> None:
    if not is_fine:
        raise _refused_record(value, place, expected)


def _refused_record(value: Any, place: str, expected: str) -> InputError:
    shown_value = "nothing" if value is ... else shown(repr(value))
    part = shown(place) or "the whole"
    again = "" if "upgrade" in expected else "; export it again"
    return InputError(f"found {shown_value} as {part} of its record, expected {expected}{again}")


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
    n_queries, texts = fields["n_queries"], [measure["text"] for measure in fields["measures"]]
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

    spoken = [
        str(text)
        for text, measure in zip(texts, measures, strict=True)
        if measure is not None and measure.aggregate == "text"
    ]
    if "texts" in files:
        _check_words(files["texts"], texts, spoken, n_queries, room)
    elif spoken:
        raise _refused("no file of them", "texts", f"what {shown(spoken[0])} says of each query")

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
    n_bytes, expected_bytes = len(content) - end, math.prod(sizes) * np.dtype(kind).itemsize
    if n_bytes != expected_bytes:
        raise _refused(f"{n_bytes:,} bytes after its header", what, f"{expected_bytes:,}")
    return np.frombuffer(content, kind, offset=end).reshape(sizes)


def _check_values(
    fields: Fields, values: FloatArray, scored: BoolArray, measures: Sequence[Measure | None]
) -> None:
    outside = 0
    for column, measure in enumerate(measures):
        own, counted = values[:, column], scored[:, column]
        name = f"values of {shown(fields['measures'][column]['text'])}"
        if measure is not None:
            low, high = measure.bounds
            is_outside = outside_bounds(measure, own)
            outside += int(np.count_nonzero(is_outside & counted))
            _check_column(own, np.isinf(own) & is_outside, name, f"a number from {low} to {high}")
            _check_column(own, ~np.isnan(own) & ~counted, name, "NaN, for the query does not count")
            if getattr(measure, "no_relevant", "") != "nan":
                _check_column(own, np.isnan(own) & counted, name, "a number, for the query counts")
        _check_mean(fields["means"][column], column, own, counted, measure)
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
        own = f"{[means[0], n]}, that of its values"
        expected = own if measure is not None else f"a mean, sum or geometric mean of {n:,} values"
        raise _refused(shown(stated), f"means.{column} of its record", expected)


def _aggregate(measure: Measure, values: FloatArray, counted: BoolArray) -> float | None:
    try:
        return finite(aggregate(measure, values, counted))
    except (ArithmeticError, ValueError):  # of infinities there is none
        return None


def _is_close(stated: float | None, computed: float | None) -> bool:
    if stated is None or computed is None:
        return stated is computed
    return math.isclose(stated, computed, rel_tol=_CLOSE, abs_tol=0)


def _check_words(
    content: bytes, texts: Sequence[str], spoken: Sequence[str], n_queries: int, room: Room
) -> None:
    by_text = _json(content, "texts", room)
    if not isinstance(by_text, dict) or not set(spoken) <= set(by_text) <= set(texts):
        among = f", {shown(spoken[0])} among them" if spoken else ""
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
    lengths, depth = columns["lengths"], columns["depth"]
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
    """Make the error for the first of the odd ones."""
    place = tuple(int(axis) for axis in np.argwhere(is_odd)[0])
    where = place[0] if len(place) == 1 else place
    return _refused(str(array[place]), f"{what} at {where}", expected)


def _refused(problem: str, place: str, expected: str) -> InputError:
    return InputError(f"found {problem} as {place}, expected {expected}; export it again")
