"""Checks of training data: what a trainer would refuse late, or accept in silence, is found before
training, with the option to change.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from typing import Any, Literal, TypeAlias

import numpy as np

from idealrank.data.types import AnyArray, FloatArray, IntArray
from idealrank.errors import InputError, OptionError
from idealrank.stats.randomness import whole_number
from idealrank.training.objectives import LambdaObjective
from idealrank.training.row_arrays import feature_table, row_ids, row_numbers, whole_numbers

Library: TypeAlias = Literal["lightgbm", "xgboost", "catboost", "idealrank"]
Severity: TypeAlias = Literal["error", "warning"]

# The options of each library: of gains, of the truncation, of the queries.
_GAIN = {
    "lightgbm": "label_gain",
    "xgboost": "ndcg_exp_gain",
    "catboost": "type",
    "idealrank": "gain",
}
_TRUNCATION = {
    "lightgbm": "lambdarank_truncation_level",
    "xgboost": "lambdarank_num_pair_per_sample",
    "catboost": "top",
    "idealrank": "truncation",
}
# The highest label whose default gain each library has.
_HIGHEST = {"lightgbm": 30, "xgboost": 31, "catboost": 1023, "idealrank": 1023}
_ADVISED = LambdaObjective(cutoff=1).levels or 1  # truncation for evaluation at 1


@dataclass(frozen=True, kw_only=True)
class TrainingProblem:
    """One problem of training data.

    Attributes
    ----------
    kind : str
        ``group-sum``, ``scattered``, ``label-high``, ``label-fraction``, ``label-number``,
        ``label-negative``, ``no-positive``, ``one-grade``, ``shared-query``, ``truncation``, or of
        `idealrank train` ``constant``, ``parameter``, ``clicks`` or ``no-test``.
    severity : {"error", "warning"}
        An error stops training, or makes its result wrong.
    parameter : str
        Option to change.
    message : str
        Place, value found, value expected, and the next step.
    row : int or None
        Row of a label, from 0, where one label is the problem.

    Examples
    --------
    >>> (problem,) = check_training([1, 0, 2], group=[2])
    >>> problem.kind, problem.parameter
    ('group-sum', 'group')
    """

    kind: str
    severity: Severity
    parameter: str
    message: str
    row: int | None = None

    def __str__(self) -> str:
        return self.message


def check_training(
    labels: Any,
    *,
    group: Any = None,
    qid: Any = None,
    held_out: Any = None,
    features: Any = None,
    held_out_rows: tuple[Any, Any, Any] | None = None,
    library: Library = "idealrank",
    custom_gain: bool = False,
    cutoff: int | None = None,
    truncation: int | None = None,
) -> list[TrainingProblem]:
    """Find problems of a training set before training.

    Parameters
    ----------
    labels : array, shape (n,)
        Grades.
    group : array of int, optional
        Number of rows of each query.
    qid : array, shape (n,), optional
        Query id of each row, instead of `group`.
    held_out : array, optional
        Query ids of the rows that test the model; a query of training among them is an error.
    features : array, shape (n, n_features), optional
        With `held_out_rows`, finds queries with the same rows where there are no ids.
    held_out_rows : (labels, group, features), optional
        Test set, for the same purpose.
    library : {"lightgbm", "xgboost", "catboost", "idealrank"}
        Trainer, for its limits and for the names of its options.
    custom_gain : bool
        A table of gains was given, so that labels have no limit but its own.
    cutoff : int, optional
        Smallest cutoff that matters in the evaluation.
    truncation : int, optional
        Rank down to which training forms pairs.

    Returns
    -------
    list of TrainingProblem
        Errors first.

    Raises
    ------
    OptionError
        The library is unknown, or a cutoff or truncation is no whole number of 1 or more.
    InputError
        An argument is no array of numbers, or of ids.

    References
    ----------
    LightGBM's manual, parameters ``lambdarank_truncation_level`` (a little above the cutoff, such
    as k + 3) and ``label_gain``.

    Examples
    --------
    >>> for problem in check_training(
    ...     [0, 0, 40, 1], group=[2, 2], library="lightgbm", cutoff=10, truncation=30
    ... ):
    ...     print(f"{problem.severity}: {problem}")  # doctest: +NORMALIZE_WHITESPACE
    error: labels: found 40 at row 2, expected at most 30, the last label with a gain in LightGBM; set label_gain, or use an
        objective of idealrank with gain=
    warning: labels: found 1 query of 2 without a label above 0 (the first is query 0); such queries train nothing, and have
        the convention's value: set no_relevant
    warning: lambdarank_truncation_level=30: found evaluation at 10, expected a little more than that; set
        lambdarank_truncation_level=13, or evaluate at 30
    """  # noqa: E501
    untyped: Any = library  # what callers without types pass
    if not isinstance(untyped, str) or untyped not in _HIGHEST:
        raise OptionError(f"library={library!r}: expected one of {', '.join(_HIGHEST)}")
    for name, rank in (("cutoff", cutoff), ("truncation", truncation)):
        if rank is not None:
            whole_number(name, rank)
    grades = row_numbers("labels", labels, finite=False)
    problems = [*_of_labels(grades, library, custom_gain=custom_gain)]
    offsets, problem = _offsets(grades.size, group, qid)
    problems += [problem] if problem else []
    if offsets is not None:
        problems += _of_queries(grades, offsets)
        if features is not None and held_out_rows is not None:
            table = feature_table("features", features, grades.size)
            problems += _same_rows(_hashes(grades, offsets, table), held_out_rows)
    if qid is not None and held_out is not None:
        problems += _shared(row_ids("qid", qid), row_ids("held_out", held_out))
    problems += _of_truncation(library, cutoff, truncation)
    return sorted(problems, key=attrgetter("severity"))


def refuse_problems(problems: Sequence[TrainingProblem]) -> list[TrainingProblem]:
    """Raise an error for the first problem that stops training; return the warnings.

    Raises
    ------
    InputError
        A problem is an error.

    Examples
    --------
    >>> refuse_problems(check_training([1, 0], group=[2]))
    []
    """
    untyped: Any = problems  # what callers without types pass
    listed = list(untyped) if isinstance(untyped, Iterable) else [untyped]
    for problem in listed:
        if not isinstance(problem, TrainingProblem):
            raise InputError(
                f"problems: found {type(problem).__name__}, expected what check_training returns"
            )
        if problem.severity == "error":
            raise InputError(problem.message)
    return listed


def _of_labels(
    grades: FloatArray, library: Library, *, custom_gain: bool
) -> Iterator[TrainingProblem]:
    finite = np.isfinite(grades)
    if not finite.all():
        row = int(np.flatnonzero(~finite)[0])
        message = (
            f"labels: found {grades[row]} at row {row}, expected numbers; leave unjudged rows out, "
            "or give them a label"
        )
        yield TrainingProblem(
            kind="label-number", severity="error", parameter="labels", message=message, row=row
        )
        return
    negative = grades < 0
    fractions = grades != np.floor(grades)
    if negative.any():
        row = int(np.flatnonzero(negative)[0])
        message = (
            f"labels: found {grades[row]:g} at row {row}, expected 0 or more; shift the labels, or "
            "make them 0"
        )
        yield TrainingProblem(
            kind="label-negative",
            severity="error" if library != "idealrank" else "warning",
            parameter="labels",
            message=message,
            row=row,
        )
    if fractions.any() and library in ("lightgbm", "xgboost"):
        row = int(np.flatnonzero(fractions)[0])
        tool = "LightGBM's lambdarank" if library == "lightgbm" else "XGBoost's ndcg_exp_gain=True"
        step = (
            "use an objective of idealrank with gain="
            if library == "lightgbm"
            else "set ndcg_exp_gain=False"
        )
        message = (
            f"labels: found {grades[row]:g} at row {row}, expected whole numbers for {tool}; "
            f"{step}, or make grades of them"
        )
        yield TrainingProblem(
            kind="label-fraction",
            severity="error",
            parameter="objective" if library == "lightgbm" else "ndcg_exp_gain",
            message=message,
            row=row,
        )
    if not custom_gain and grades.size and grades.max() > _HIGHEST[library]:
        row = int(grades.argmax())
        name = {"lightgbm": "LightGBM", "xgboost": "XGBoost"}.get(library, "gain=exp2")
        step = {"lightgbm": "label_gain", "xgboost": "ndcg_exp_gain=False"}.get(
            library, _GAIN[library]
        )
        message = (
            f"labels: found {grades[row]:g} at row {row}, expected at most {_HIGHEST[library]}, "
            f"the last label with a gain in {name}; set {step}, or use an objective of idealrank "
            "with gain="
        )
        yield TrainingProblem(
            kind="label-high", severity="error", parameter=_GAIN[library], message=message, row=row
        )


def _offsets(n: int, group: Any, qid: Any) -> tuple[IntArray | None, TrainingProblem | None]:
    if qid is not None:
        ids = row_ids("qid", qid)
        if ids.size != n:
            message = (
                f"qid: found {ids.size} ids, expected one per row, {n}; set qid to the query of "
                f"each row"
            )
            return None, TrainingProblem(
                kind="group-sum", severity="error", parameter="qid", message=message
            )
        starts = (
            np.flatnonzero(np.append(True, ids[1:] != ids[:-1])) if n else np.zeros(0, np.int64)
        )
        names, first = np.unique(ids[starts], return_index=True)
        if names.size != starts.size:
            again = int(np.setdiff1d(np.arange(starts.size), first)[0])
            message = (
                f"qid: found query {ids[starts[again]]} again at row {int(starts[again])}, after "
                "rows of another query; expected the rows of a query together: sort by qid, or the "
                "trainer takes them for two queries"
            )
            return None, TrainingProblem(
                kind="scattered", severity="error", parameter="qid", message=message
            )
        return np.append(starts, n), None
    sizes = whole_numbers("group", [n] if group is None else group)
    if (sizes < 0).any() or int(sizes.sum()) != n:
        message = (
            f"group: found sizes that sum to {int(sizes.sum())}, expected {n}, the number of rows; "
            "set group to the rows of each query"
        )
        return None, TrainingProblem(
            kind="group-sum", severity="error", parameter="group", message=message
        )
    return np.concatenate(([0], np.cumsum(sizes))), None


def _of_queries(grades: FloatArray, offsets: IntArray) -> Iterator[TrainingProblem]:
    sizes = np.diff(offsets)
    nonempty = np.flatnonzero(sizes > 0)
    if nonempty.size == 0:
        return
    starts = offsets[nonempty]
    highest = np.maximum.reduceat(grades, starts)
    lowest = np.minimum.reduceat(grades, starts)
    without_relevant = nonempty[highest <= 0]
    if without_relevant.size == nonempty.size:
        message = (
            f"labels: found no label above 0 in any of {nonempty.size} queries, expected some; is "
            "the column of labels the right one?"
        )
        yield TrainingProblem(
            kind="no-positive", severity="error", parameter="labels", message=message
        )
        return
    one_grade = nonempty[(highest == lowest) & (highest > 0)]
    if without_relevant.size:
        step = "have the convention's value: set no_relevant"
        yield TrainingProblem(
            kind="no-positive",
            severity="warning",
            parameter="no_relevant",
            message=_train_nothing(
                without_relevant, nonempty.size, "without a label above 0", step
            ),
        )
    if one_grade.size:
        step = "cannot be in a wrong order: leave them out, or add rows of other labels"
        yield TrainingProblem(
            kind="one-grade",
            severity="warning",
            parameter="labels",
            message=_train_nothing(one_grade, nonempty.size, "with one label for all rows", step),
        )


def _train_nothing(queries: IntArray, total: int, words: str, step: str) -> str:
    number = "1 query" if queries.size == 1 else f"{queries.size} queries"
    return (
        f"labels: found {number} of {total} {words} (the first is query {int(queries[0])}); such "
        f"queries train nothing, and {step}"
    )


def _shared(train: AnyArray, test: AnyArray) -> Iterator[TrainingProblem]:
    try:
        common = np.intersect1d(train, test)
    except TypeError:
        test_ids = f"ids of type {test.dtype}"
        expected = f"ids of the type of qid, {train.dtype}"
        raise InputError(f"held_out: found {test_ids}, expected {expected}") from None
    if common.size:
        queries = "1 query" if common.size == 1 else f"{common.size} queries"
        message = (
            f"qid: found {queries} in training and in testing (query {common[0]}), expected none; "
            f"split by query, as QueryKFold does"
        )
        yield TrainingProblem(
            kind="shared-query", severity="error", parameter="qid", message=message
        )


def _hashes(grades: AnyArray, offsets: IntArray, features: AnyArray) -> dict[bytes, int]:
    """Map a hash of the rows of each query, in any order, to the query."""
    query_of = {}
    table = np.column_stack([grades, features])
    for number, (begin, end) in enumerate(pairwise(offsets)):
        rows = sorted(row.tobytes() for row in np.ascontiguousarray(table[begin:end]))
        query_of[hashlib.sha256(b"".join(rows)).digest()] = number
    return query_of


def _same_rows(
    train_queries: Mapping[bytes, int], test: tuple[Any, Any, Any]
) -> Iterator[TrainingProblem]:
    untyped: Any = test
    if not isinstance(untyped, Sequence) or len(untyped) != 3:
        raise InputError(
            f"held_out_rows: found {type(test).__name__}, expected labels, group and features, a "
            "tuple of three"
        )
    test_labels, test_group, test_features = test
    labels = row_numbers("held_out_rows, labels", test_labels, finite=False)
    sizes = whole_numbers("held_out_rows, group", test_group)
    features = feature_table("held_out_rows, features", test_features, labels.size)
    if (sizes < 0).any() or int(sizes.sum()) != labels.size:
        raise InputError(
            f"held_out_rows, group: found sizes that sum to {int(sizes.sum())}, expected the "
            f"number of rows, {labels.size}"
        )
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    test_queries = _hashes(labels, offsets, features)
    common = train_queries.keys() & test_queries.keys()
    if common:
        first_common = min(common, key=train_queries.__getitem__)
        message = (
            f"features: found {len(common)} queries with the same rows in training and in testing "
            f"(query {train_queries[first_common]} and query {test_queries[first_common]}), "
            "expected none; split by query"
        )
        yield TrainingProblem(
            kind="shared-query", severity="error", parameter="features", message=message
        )


def _of_truncation(
    library: Library, cutoff: int | None, truncation: int | None
) -> Iterator[TrainingProblem]:
    if cutoff is None or truncation is None:
        return
    name = _TRUNCATION[library]
    advised = cutoff + _ADVISED - 1
    if truncation < cutoff:
        expected = (
            f"expected training at least as deep; set {name}={advised}, or evaluate at {truncation}"
        )
    elif truncation > 2 * advised:
        expected = (
            f"expected a little more than that; set {name}={advised}, or evaluate at {truncation}"
        )
    else:
        return
    yield TrainingProblem(
        kind="truncation",
        severity="warning",
        parameter=name,
        message=f"{name}={truncation}: found evaluation at {cutoff}, {expected}",
    )
