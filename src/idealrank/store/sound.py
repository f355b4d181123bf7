"""Whether the parts of an evaluation that comes from elsewhere make sense together: one that does not would break a later question."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from idealrank.data.types import AnyArray, BoolArray, FloatArray
from idealrank.errors import IdealrankError, InputError, OptionError, shown
from idealrank.measures.aggregates import aggregate
from idealrank.measures.parse import parse_measure
from idealrank.store.encoding import Fields, read_convention, read_hits
from idealrank.store.record import utc

_ROUNDING = 1e-9  # relative: a mean is summed exactly, and still another version may round it in another way


def check_record(fields: Fields) -> None:
    """Refuse a record whose types are right and whose numbers, times or names cannot be.

    Raises
    ------
    InputError
        With the place of the first that is wrong.

    Examples
    --------
    >>> check_record({"n_queries": -1, "time": "2026-11-22T12:00:00Z"})
    Traceback (most recent call last):
    ...
    idealrank.errors.InputError: found -1 as n_queries of its record, expected 0 or more; export it again
    """
    _at_least(0, fields["n_queries"], "n_queries")
    _time(fields["time"], "time")
    if fields["max_documents"] is not None:
        _at_least(1, fields["max_documents"], "max_documents")
    for name, count in fields["coverage"].items():
        _at_least(0, count, f"coverage.{name}")
    for place, one in enumerate(fields["inputs"]):
        _at_least(0, one["size"], f"inputs.{place}.size")
        if one["modified"]:
            _time(one["modified"], f"inputs.{place}.modified")
    texts = [one["text"] for one in fields["measures"]]
    if len(set(texts)) < len(texts) or not texts:
        raise _wrong(texts, "measures of its record", "at least one, and each once")
    for place, one in enumerate(fields["measures"]):
        _check_measure(one, f"measures.{place}")
    _check_convention(fields["convention"])


def check_notes(words: Mapping[str, Any]) -> None:
    """Refuse notes whose time is none; errors as for `check_record`.

    Examples
    --------
    >>> check_notes({"notes": [["2026-11-22T12:00:00Z", "seen"]]})
    """
    for place, (time, _) in enumerate(words["notes"]):
        _time(time, f"notes.{place}")


def check_ids(ids: Any, what: str, *, known: Sequence[str] | None = None) -> None:
    """Refuse a list of ids that is none, or names one twice, or one that is not known; errors as for `check_record`.

    Examples
    --------
    >>> check_ids(["q1", "q1"], "queries")
    Traceback (most recent call last):
    ...
    idealrank.errors.InputError: found 'q1' twice among its queries, expected each id once; export it again
    """
    if not isinstance(ids, list) or not all(isinstance(one, str) for one in ids):
        raise _wrong(ids, what, "a list of ids")
    if len(set(ids)) < len(ids):
        seen: set[str] = set()
        twice = next(one for one in ids if one in seen or seen.add(one))  # type: ignore[func-returns-value]
        raise InputError(f"found {shown(repr(twice))} twice among its {what}, expected each id once; export it again")
    strangers = set(ids) - set(known) if known is not None else set()
    if strangers:
        raise _wrong(min(strangers), f"one of its {what}", "one of its queries")


def check_texts(texts: Any, n_queries: int) -> None:
    """Refuse texts that are not one of each query; errors as for `check_record`.

    Examples
    --------
    >>> check_texts({"RelString": ["10"]}, 1)
    """
    if not isinstance(texts, dict):
        raise _wrong(texts, "its texts", "a text of each query by measure")
    for measure, words in texts.items():
        if not isinstance(words, list) or len(words) != n_queries or not all(isinstance(one, str) for one in words):
            raise _wrong(words, f"texts of {shown(repr(measure))}", f"one of each of {n_queries:,} queries")


def check_means(fields: Fields, values: FloatArray, scored: BoolArray) -> None:
    """Refuse means that are not those of the values.

    A measure of the user's own class may have a mean of its own: of that the number of queries is looked at alone.

    Parameters
    ----------
    fields : dict
        The record.
    values, scored : arrays, shape (n_queries, n_measures)

    Raises
    ------
    InputError
        With the measure, its mean, and the mean of its values.

    Examples
    --------
    >>> fields = {"measures": [{"text": "RR", "parses": True}], "means": [[0.5, 2]]}
    >>> check_means(fields, np.array([[1.0], [0.0]]), np.ones((2, 1), bool))
    """
    for column, (one, (mean, counted)) in enumerate(zip(fields["measures"], fields["means"], strict=True)):
        text, kept = shown(repr(one["text"])), scored[:, column]
        if counted != int(kept.sum()):
            raise _wrong(counted, f"number of queries that count for {text}", f"{int(kept.sum()):,}, as its values say")
        if np.isinf(values[:, column]).any() or np.isnan(values[kept, column]).any():
            raise _wrong("no number", f"value of {text} of a query that counts", "finite values")
        if not one["parses"]:
            continue
        found = aggregate(parse_measure(one["text"]), values[:, column], kept)
        same = not math.isfinite(found) if mean is None else math.isclose(mean, found, rel_tol=_ROUNDING, abs_tol=1e-12)
        if not same:
            raise _wrong(mean, f"mean of {text}", f"{found!r}, as its values say")


def check_hits(content: bytes, queries: Sequence[str]) -> None:
    """Refuse judged hits that no ranking has.

    Parameters
    ----------
    content : bytes
        As `hits_blob` makes them; its arrays may be of any type and shape.
    queries : sequence of str
        Of the evaluation.

    Raises
    ------
    InputError
        With the column, and what is wrong with it.

    Examples
    --------
    >>> from idealrank.explanation import judged_hits
    >>> from idealrank.store.encoding import hits_blob
    >>> import idealrank as ir
    >>> check_hits(hits_blob(judged_hits(ir.Qrels({"q": {"a": 1}}), ir.Run({"q": ["a"]}))).content, ["q"])
    """
    hits = read_hits(content, queries)
    if hits.depth < 1:
        raise _wrong(hits.depth, "depth of its hits", "1 or more")
    _check_column("lengths", hits.lengths, "i", len(queries))
    for name in ("query", "rank", "tie_first", "tie_last"):
        _check_column(name, getattr(hits, name), "i", len(hits.documents))
    _check_column("grade", hits.grade, "f", len(hits.documents))
    if not np.isfinite(hits.grade).all():
        raise _wrong("no number", "grade of its hits", "finite grades")
    if hits.lengths.size and int(hits.lengths.min()) < 0:
        raise _wrong(int(hits.lengths.min()), "length of a list", "0 or more")
    if not hits.documents:
        return
    _check_documents(hits.documents)
    outside = (hits.query < 0) | (hits.query >= len(queries))
    if outside.any():
        raise _wrong(int(hits.query[outside][0]), "query of its hits", f"0 to {len(queries) - 1:,}")
    ordered = (hits.tie_first >= 1) & (hits.tie_first <= hits.rank) & (hits.rank <= hits.tie_last) & (hits.tie_first <= hits.depth)
    ordered &= hits.tie_last <= hits.lengths[hits.query]
    if not ordered.all():
        raise _wrong(int(hits.rank[~ordered][0]), "rank of its hits", "ranks of their lists, between the first and the last of their ties")
    later = (hits.query[1:] > hits.query[:-1]) | ((hits.query[1:] == hits.query[:-1]) & (hits.rank[1:] > hits.rank[:-1]))
    if not later.all():
        raise _wrong(int(hits.rank[1:][~later][0]), "rank of its hits", "query after query, by rising rank")


def _check_documents(documents: Sequence[Any]) -> None:
    odd = next((one for one in documents if not isinstance(one, str)), None)
    if odd is not None:
        raise _wrong(odd, "document of its hits", "an id")


def _check_column(name: str, column: AnyArray, kind: str, length: int) -> None:
    if column.dtype.kind != kind or column.shape != (length,):
        raise _wrong(
            f"{column.dtype} of shape {column.shape}",
            f"{name} of its hits",
            f"one {'number' if kind == 'f' else 'whole number'} of {length:,}",
        )


def _check_measure(one: Mapping[str, Any], place: str) -> None:
    if one["parses"]:
        try:
            parse_measure(one["text"])
        except IdealrankError:
            raise _wrong(one["text"], f"{place}.text of its record", "a measure that its record says can be read") from None


def _check_convention(kept: Fields) -> None:
    try:
        found = read_convention(kept, "it")
    except OptionError:  # functions of the user's own; or a switch that is none
        own = [value for value in kept["switches"].values() if value.startswith("custom:")]
        if own:
            return
        raise _wrong(kept["switches"], "switches of its convention", "those of a convention of this version") from None
    except (IdealrankError, ValueError) as error:
        raise InputError(f"found a convention that cannot be ({error}), expected one that a store kept; export it again") from None
    if set(found.switches()) == set(kept["switches"]) and found.fingerprint != kept["fingerprint"]:
        raise _wrong(kept["fingerprint"], "fingerprint of its convention", f"{found.fingerprint}, as its switches say")


def _at_least(least: int, found: int, place: str) -> None:
    if found < least:
        raise _wrong(found, f"{place} of its record", f"{least} or more")


def _time(found: str, place: str) -> None:
    try:
        utc(found)
    except OptionError:
        raise _wrong(found, f"{place} of its record", "a time in ISO 8601") from None


def _wrong(found: Any, what: str, expected: str) -> InputError:
    return InputError(f"found {shown(repr(found))} as {what}, expected {expected}; export it again")
