"""Reusability of judgments: what would have changed for each run if it had not been pooled."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from idealrank.bounds.value_bounds import AnyQrels, AnyRun, as_qrels, as_run
from idealrank.conventions import Convention
from idealrank.data.interchange import finite
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.types import FloatArray, IntArray, decode_id
from idealrank.errors import InputError
from idealrank.evaluation.evaluate import evaluate
from idealrank.measures.measure import Measure, number_option
from idealrank.measures.parse import MeasureLike, parse_measure
from idealrank.measures.tau_rho import tau

ReuseVerdict: TypeAlias = Literal["reusable", "reusable with care", "not reusable", "too few runs"]
_GOOD, _FAIR = 0.9, 0.8  # Kendall's tau, as usual since Voorhees (2000)
_FEW = 3  # fewer runs have no order worth a verdict


@dataclass(frozen=True, kw_only=True)
class RunLeftOut:
    """One run, evaluated as if it had not been pooled.

    Attributes
    ----------
    run, group : str
        Name of the run, and the group that is left out with it.
    unique, unique_relevant : int
        Judged documents of this run that no other group returns down to the depth, and the number
        of these with a grade above 0.
    value, value_without : float
        Mean with all judgments, and without the judgments of all documents that only this group
        returns.
    rank, rank_without : int
        Rank among all runs, under the same judgments; 1 is the best.

    Examples
    --------
    >>> RunLeftOut(
    ...     run="a",
    ...     group="a",
    ...     unique=10,
    ...     unique_relevant=2,
    ...     value=0.5,
    ...     value_without=0.4,
    ...     rank=1,
    ...     rank_without=3,
    ... ).rank_change
    2
    """

    run: str
    group: str
    unique: int
    unique_relevant: int
    value: float
    value_without: float
    rank: int
    rank_without: int

    @property
    def rank_change(self) -> int:
        """Ranks that the run loses; negative if it gains."""
        return self.rank_without - self.rank


@dataclass(frozen=True, kw_only=True, eq=False)
class Reusability:
    """Runs, each left out of the pool in turn; see `reusability`.

    Attributes
    ----------
    measure : str
        Text of the measure.
    depth : int
        Ranks of each run that were pooled.
    runs : tuple of RunLeftOut
        Runs by their mean with all judgments, the best first.
    tau : float
        Kendall's tau-b of the means with all judgments and of the means of each run without its own
        documents; NaN for one run.
    convention : Convention
        Convention of alignment and measure.
    """

    measure: str
    depth: int
    runs: tuple[RunLeftOut, ...]
    tau: float
    convention: Convention

    @property
    def largest_change(self) -> int:
        """Largest number of ranks that a run moves."""
        return max(abs(row.rank_change) for row in self.runs)

    @property
    def largest_fall(self) -> float:
        """Largest fall of a mean."""
        return max(row.value - row.value_without for row in self.runs)

    @property
    def verdict(self) -> ReuseVerdict:
        """Verdict in words.

        ``reusable``: tau is at least 0.9, and no run moves by more than a tenth of the runs (or one
        rank). ``reusable with care``: tau is at least 0.8. Else ``not reusable``. Fewer than three
        runs have no verdict.
        """
        if len(self.runs) < _FEW:
            return "too few runs"
        if self.tau >= _GOOD and self.largest_change <= max(1, len(self.runs) // 10):
            return "reusable"
        return "reusable with care" if self.tau >= _FAIR else "not reusable"

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record."""
        return {
            "measure": self.measure,
            "depth": self.depth,
            "verdict": self.verdict,
            "tau": finite(self.tau),
            "largest_rank_change": self.largest_change,
            "largest_fall": self.largest_fall,
            "runs": [asdict(row) | {"rank_change": row.rank_change} for row in self.runs],
        }


def reusability(
    qrels: AnyQrels,
    runs: Mapping[str, AnyRun],
    measure: MeasureLike = "nDCG@10",
    *,
    depth: int = 10,
    groups: Mapping[str, str] | None = None,
    convention: "Convention | str" = "standard",
) -> Reusability:
    """Leave each run out of the pool in turn, to find how much a system that was not pooled would
    be underestimated.

    The judgments of documents that only the run (or its group) returns down to the depth are
    removed, and all runs are evaluated again.

    Parameters
    ----------
    qrels : Qrels or mapping
        What was judged.
    runs : mapping of str to Run or mapping
        Runs that were pooled, by name.
    measure : measure or str
        The measure.
    depth : int
        Ranks of each run that were pooled.
    groups : mapping of str to str, optional
        Group of each run, such as its team or kind of system; a group is left out as a whole.
        Default: each run alone.
    convention : Convention or str
        Convention of alignment and measure.

    Returns
    -------
    Reusability

    Raises
    ------
    InputError
        There is no run, or no query is evaluated.

    Notes
    -----
    The test is about systems like these runs. A system of another kind may return more unjudged
    documents than any of them: see its unjudged share, and `bounds`.

    References
    ----------
    Zobel (1998), How reliable are the results of large-scale information retrieval experiments?
    SIGIR, for the test. Voorhees (2000), Variations in relevance judgments and the measurement of
    retrieval effectiveness, for the limit of 0.9. Buckley, Dimmick, Soboroff and Voorhees (2007),
    Bias and the limits of pooling for large collections, for groups.

    Examples
    --------
    >>> qrels = {"q": {"x": 1, "y": 1}}
    >>> reuse = reusability(
    ...     qrels,
    ...     {"a": {"q": ["x", "z"]}, "b": {"q": ["y", "x"]}, "c": {"q": ["z"]}},
    ...     "P@2",
    ...     depth=2,
    ... )
    >>> [(row.run, row.unique_relevant, row.value, row.value_without) for row in reuse.runs]
    [('b', 1, 1.0, 0.5), ('a', 0, 0.5, 0.5), ('c', 0, 0.0, 0.0)]
    >>> reuse.verdict
    'reusable with care'
    """
    all_judgments = as_qrels(qrels)
    parsed = parse_measure(measure)
    resolved = Convention.of(convention)
    if not runs:
        raise InputError("runs: found none, expected at least one")
    run_of = {name: as_run(run, name) for name, run in runs.items()}
    deepest = int(number_option("depth", depth, 1, 1e9))

    group_of = {name: (groups or {}).get(name, name) for name in run_of}
    tops = {name: _top(run, resolved, deepest) for name, run in run_of.items()}
    grades = {query: all_judgments[query] for query in all_judgments.queries}
    unique = _judged_by_one_group(tops, group_of, grades)
    full = _means(all_judgments, run_of, parsed, resolved)
    # by group: the means of all runs without the judgments that the group alone brought
    reduced = {
        group: _means(_without(grades, pairs), run_of, parsed, resolved)
        for group, pairs in unique.items()
    }

    ranks = _ranks(full)
    rows = []
    for column, (name, group) in enumerate(group_of.items()):
        means = reduced.get(group, full)
        pairs = [pair for pair in unique.get(group, ()) if pair in tops[name]]
        rows.append(
            RunLeftOut(
                run=name,
                group=group,
                unique=len(pairs),
                unique_relevant=sum(grades[query][document] > 0 for query, document in pairs),
                value=float(full[column]),
                value_without=float(means[column]),
                rank=int(ranks[column]),
                rank_without=int(_ranks(means)[column]),
            )
        )

    kendall = float("nan")
    if len(rows) > 1:
        values_without = np.array([row.value_without for row in rows])
        one_group = np.zeros(len(rows), np.int64)  # one order of all runs, not one of each query
        kendall = float(tau(one_group, full, values_without, n_queries=1, variant="b")[0])
    return Reusability(
        measure=str(parsed),
        depth=deepest,
        runs=tuple(sorted(rows, key=lambda row: (row.rank, row.run))),
        tau=kendall,
        convention=resolved,
    )


def _judged_by_one_group(
    tops: Mapping[str, set[tuple[str, str]]],
    group_of: Mapping[str, str],
    grades: Mapping[str, Mapping[str, float]],
) -> dict[str, list[tuple[str, str]]]:
    """Return the judged pairs of query and document that one group alone returned, by group."""
    groups_of: dict[tuple[str, str], set[str]] = {}
    for name, top in tops.items():
        for pair in top:
            groups_of.setdefault(pair, set()).add(group_of[name])
    unique: dict[str, list[tuple[str, str]]] = {}
    for (query, document), groups in groups_of.items():
        if len(groups) == 1 and document in grades.get(query, {}):
            (group,) = groups
            unique.setdefault(group, []).append((query, document))
    return unique


def _top(run: Run, convention: Convention, depth: int) -> set[tuple[str, str]]:
    """Return the pairs of query and document that a run returns down to a depth."""
    in_memory = run.in_memory()
    pairs: set[tuple[str, str]] = set()
    for raw_id in in_memory.source.query_ids():  # type: ignore[union-attr]
        query = decode_id(raw_id)
        ranking = in_memory.ranking(query, convention.alignment, depth=depth)
        pairs.update((query, document) for document in ranking.documents)
    return pairs


def _without(grades: Mapping[str, Mapping[str, float]], removed: "list[tuple[str, str]]") -> Qrels:
    """Return the judgments without some documents; queries stay, even without a judgment."""
    remaining = {query: dict(judged) for query, judged in grades.items()}
    for query, document in removed:
        del remaining[query][document]
    return Qrels(remaining)


def _means(
    qrels: Qrels, runs: Mapping[str, Run], measure: Measure, convention: Convention
) -> FloatArray:
    text = str(measure)
    means = [
        evaluate(qrels, run, [measure], convention=convention).mean()[text] for run in runs.values()
    ]
    return np.array(means, np.float64)


def _ranks(values: FloatArray) -> IntArray:
    """Return the rank of each value from the top; equal values share the best rank."""
    rounded = np.round(values, 12)  # means that differ by rounding alone are equal
    return np.asarray(1 + (rounded[None, :] > rounded[:, None]).sum(axis=1), np.int64)
