"""Evaluate one run: values per query, what they cover, and how they were made. The mean is a view
of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from idealrank import _kernel
from idealrank._lazy import computed, printed, repr_html
from idealrank.conventions import Convention, array_convention
from idealrank.data.candidates import CandidateCounts, Candidates
from idealrank.data.interchange import frame_of
from idealrank.data.join import Judgments, join, labels_of, query_word_of, tables_of, ties_for
from idealrank.data.judged import Judged
from idealrank.data.label_kinds import Labels
from idealrank.data.lists import Lists
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.types import BoolArray, FloatArray
from idealrank.errors import InputError, OptionError
from idealrank.evaluation.batches import Measured, measure_judged, measure_lists
from idealrank.evaluation.coverage import (
    LABEL_DEPTH,
    Coverage,
    look_swapped,
    warn_of_coverage,
    warn_of_threshold,
)
from idealrank.evaluation.label_needs import warn_of_labels, warn_of_ratings
from idealrank.measures.measure import Measure
from idealrank.measures.parse import MeasureLike, parse_measure, parse_measures
from idealrank.measures.sums import Means, values_by_query
from idealrank.version import __version__

# A run is long above either size; of a long run, unjudged documents are not kept at every rank.
_SHORT_TEXT = 64 << 20  # bytes
_SHORT_ROWS = 2_000_000  # documents
_WHOLE = (1 << 31) - 1  # a depth below every rank: ranks are 32-bit integers


class InputRecord(Protocol):
    """A file that was evaluated, as far as the provenance asks."""

    @property
    def path(self) -> str:
        """Path as typed."""
        ...

    @property
    def size(self) -> int:
        """Bytes."""
        ...

    @property
    def modified(self) -> str:
        """Time of the last change, UTC, ISO 8601."""
        ...

    @property
    def sha256(self) -> str:
        """SHA-256 in hexadecimal digits; computed on request."""
        ...


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Provenance of the numbers."""

    version: str  # Version of idealrank
    # As requested; but arrays have no document ids, and ties by id become the expected value
    convention: Convention
    measures: tuple[str, ...]  # Texts with every option resolved
    # The files, with path, size, modification time, and SHA-256 computed on request
    inputs: tuple[InputRecord, ...] = ()
    max_documents: int | None = None  # How many documents of each query were looked at
    # Fingerprint of the judgments' content, 32 hexadecimal digits: of every (query, document,
    # grade), of arrays the labels of each query
    judgments: str | None = None
    # Kind of the labels, declared or recognised; None if it is unknown, and for preferences, which
    # have none
    labels: Labels | None = None
    # What tables call a query: "user" where the judgments have a column of this name
    query_word: str = "query"
    candidates: CandidateCounts | None = None  # None if they were not given


@dataclass(frozen=True, kw_only=True, eq=False)
class Evaluation:
    """Values of one run, per query and measure.

    Attributes
    ----------
    name : str
        Name of the run.
    queries : sequence of str
        Query ids.
    measures : tuple of Measure
        Measures as requested.
    values : float64 array, shape (n_queries, n_measures)
        Values by measure; NaN if a query is left out of the measure, or if the convention says so.
    scored : bool array, shape (n_queries, n_measures)
        Which values count in the aggregate.
    coverage : Coverage
        Counts of queries, documents and judgments behind the values.
    provenance : Provenance
        Inputs, convention and version.
    path : str
        Path of the run, as typed.
    texts : mapping
        Texts that text measures give for each query, by the text of the measure, in the order of
        `queries`.
    judged : Judged or None
        Hits and unjudged documents behind the values; None unless `evaluate` was asked to keep
        them. They are not sent to another process.
    sources : (Judgments, Run) or None
        The judgments and the run; None unless `evaluate` was asked to keep unjudged documents, and
        None after `on`. They are not sent to another process.
    candidates : (Qrels, Candidates) or None
        The judgments and the candidates, for `chance` and `lift`; None unless `evaluate` was given
        candidates. They are not sent to another process.

    Examples
    --------
    >>> import idealrank as ir
    >>> evaluation = ir.evaluate(
    ...     {"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": ["a"], "q2": ["x", "b"]}, ["RR"]
    ... )
    >>> evaluation["RR"], evaluation.mean()["RR"]
    (array([1. , 0.5]), 0.75)
    """

    name: str
    queries: Sequence[str]
    measures: tuple[Measure, ...]
    values: FloatArray
    scored: BoolArray
    coverage: Coverage
    provenance: Provenance
    path: str = field(default="")
    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    judged: Judged | None = field(default=None, repr=False)
    sources: tuple[Judgments, Run] | None = field(default=None, repr=False)
    candidates: tuple[Qrels, Candidates] | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the hits, which belong to the kernel of this process, and the input."""
        return {**self.__dict__, "judged": None, "sources": None, "candidates": None}

    _repr_html_ = repr_html  # for notebooks

    @property
    def convention(self) -> Convention:
        """Convention of every value."""
        return self.provenance.convention

    def __getitem__(self, measure: MeasureLike) -> FloatArray:
        """Values of one measure, shape (n_queries,), in the order of `queries`."""
        return self.values[:, self._column(measure)]

    def _column(self, measure: MeasureLike) -> int:
        if isinstance(measure, str):
            texts = list(map(str, self.measures))
            if measure in texts:  # the text of a user-defined measure cannot be parsed
                return texts.index(measure)
        parsed = parse_measure(measure)
        if parsed not in self.measures:
            raise KeyError(f"{parsed}: not evaluated, only {', '.join(map(str, self.measures))}")
        return self.measures.index(parsed)

    def mean(self) -> Means:
        """Aggregate of each measure over the queries that count: the mean, or the sum for counts;
        exact, in any order.

        NaN if no query counts for a measure.
        """
        return Means.of(self.measures, self.values, self.scored)

    def per_query(self) -> dict[str, dict[str, float | None]]:
        """Return ``{query: {measure: value}}``; None if the query does not count."""
        return values_by_query(self.queries, self.measures, self.values, self.scored)

    def to_frame(self, backend: Any = "pandas") -> Any:
        """Return a dataframe with a column ``query`` and one column per measure.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow", ...}
            Any eager dataframe library that narwhals supports and that is installed.

        Examples
        --------
        >>> import idealrank as ir
        >>> ir.evaluate({"q": {"a": 1}}, {"q": ["a"]}, ["AP"]).to_frame("polars").columns
        ['query', 'AP']
        """
        columns: dict[str, Any] = {"query": list(self.queries)}
        columns |= {str(measure): self.values[:, i] for i, measure in enumerate(self.measures)}
        return frame_of(columns, backend)

    def select(self, measures: "MeasureLike | Iterable[MeasureLike]") -> "Evaluation":
        """Return the evaluation with some of its measures.

        Raises
        ------
        KeyError
            A measure was not evaluated.

        Examples
        --------
        >>> import idealrank as ir
        >>> ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, ["RR", "AP"]).select("AP").mean()
        {'AP': 1.0}
        """
        requested = [measures] if isinstance(measures, (str, Measure)) else list(measures)
        columns = [self._column(measure) for measure in requested]
        return self._with_columns(self, columns, [])

    def join(
        self, other: "Evaluation", measures: "Iterable[Measure] | None" = None
    ) -> "Evaluation":
        """Return the evaluation with further measures from another evaluation of the same run.

        Parameters
        ----------
        other : Evaluation
            Evaluation of the same run. A query that it lacks does not count in its measures.
        measures : iterable of Measure, optional
            Measures of the other evaluation; default all. Measures that exist already are kept.

        Examples
        --------
        >>> import idealrank as ir
        >>> one, other = (
        ...     ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, measures)
        ...     for measures in ("RR", ["AP", "P@1"])
        ... )
        >>> one.join(other, other.measures[1:]).mean()
        {'RR': 1.0, 'P@1': 1.0}
        """
        more = [
            measure
            for measure in (other.measures if measures is None else measures)
            if measure not in self.measures
        ]
        columns = [other.measures.index(measure) for measure in more]
        return self._with_columns(other.on(self.queries), list(range(len(self.measures))), columns)

    def _with_columns(
        self, other: "Evaluation", columns: list[int], other_columns: list[int]
    ) -> "Evaluation":
        """Join columns of this evaluation and columns of another one of the same queries."""
        resolved = self.provenance.measures
        other_resolved = other.provenance.measures
        measures = (
            *(self.measures[column] for column in columns),
            *(other.measures[column] for column in other_columns),
        )
        texts = {**other.texts, **self.texts}
        by_measure = {**other.coverage.by_measure, **self.coverage.by_measure}
        return replace(
            self,
            measures=measures,
            values=np.hstack([self.values[:, columns], other.values[:, other_columns]]),
            scored=np.hstack([self.scored[:, columns], other.scored[:, other_columns]]),
            coverage=replace(
                self.coverage,
                by_measure={
                    text: by_measure[text] for text in map(str, measures) if text in by_measure
                },
            ),
            provenance=replace(
                self.provenance,
                measures=(
                    *(resolved[column] for column in columns),
                    *(other_resolved[column] for column in other_columns),
                ),
            ),
            texts={text: texts[text] for text in map(str, measures) if text in texts},
        )

    def on(self, queries: Sequence[str]) -> "Evaluation":
        """Return the evaluation with one row for each given query, in their order; a query that it
        lacks does not count.

        Examples
        --------
        >>> import idealrank as ir
        >>> ir.evaluate({"q1": {"x": 1}}, {"q1": ["x"]}, "RR").on(["q2", "q1"])["RR"]
        array([nan,  1.])
        """
        order = list(queries)
        if list(self.queries) == order:
            return self
        new_row = {query: row for row, query in enumerate(order)}
        old_rows = [row for row, query in enumerate(self.queries) if query in new_row]
        new_rows = [new_row[self.queries[row]] for row in old_rows]
        values = np.full((len(order), len(self.measures)), np.nan)
        scored = np.zeros((len(order), len(self.measures)), bool)
        values[new_rows] = self.values[old_rows]
        scored[new_rows] = self.scored[old_rows]
        words_by_query = {
            text: dict(zip(self.queries, words, strict=True)) for text, words in self.texts.items()
        }
        texts = {
            text: [words.get(query, "") for query in order]
            for text, words in words_by_query.items()
        }
        return replace(
            self,
            queries=order,
            values=values,
            scored=scored,
            texts=texts,
            judged=None,
            sources=None,
        )

    def by(
        self, categories: Any, *, level: float = 0.95, weights: Any = None, clusters: Any = None
    ) -> Any:
        """Compute the means on slices of the queries, each with Student's interval.

        Parameters
        ----------
        categories : mapping of query to str, or to several; path, dataframe or pandas Series
            Slices of each query; a query may be in several. See `read_categories` for the columns,
            and `traffic_thirds`.
        level : float
            Confidence level of each interval alone, between 0 and 1.
        weights : mapping of query to float, path, dataframe or pandas Series, optional
            Weight of each query, such as its traffic, as for `compare`.
        clusters : mapping of query to label, path, dataframe or pandas Series, optional
            Cluster of each query (user, session, topic), as for `compare`.

        Returns
        -------
        SliceMeans
            By slice and measure: mean, interval and number of queries, with ``as_dict()`` and
            ``to_frame()``.

        Raises
        ------
        InputError
            No evaluated query is in a slice, or a query has no weight or cluster.
        OptionError
            A measure that is not averaged has weights.

        Examples
        --------
        >>> import idealrank as ir
        >>> run = ir.evaluate(
        ...     {q: {"x": 1} for q in "abc"}, {"a": ["x"], "b": ["y", "x"], "c": ["x"]}, "RR"
        ... )
        >>> run.by({"a": "short", "b": "short", "c": "long"})["short"]["RR"].mean
        0.75
        >>> run.by({"a": "short", "b": "short"}, weights={"a": 3, "b": 1, "c": 1})["short"][
        ...     "RR"
        ... ].mean
        0.875
        """
        return computed(
            "Evaluation.by", self, categories, level=level, weights=weights, clusters=clusters
        )

    def chance(self) -> Any:
        """Compute the expected value of a random order of the candidates, and the best value that
        they allow, of each query.

        Returns
        -------
        Chance
            As `ir.chance` returns, for the queries and the measures of this evaluation; a measure
            without a chance level is in its `not_offered`.

        Raises
        ------
        InputError
            `evaluate` was not given candidates.

        Examples
        --------
        >>> import idealrank as ir
        >>> run = ir.evaluate({"q": {"a": 1}}, {"q": ["a", "b"]}, "RR", candidates=4)
        >>> run.mean(), run.chance().mean()
        ({'RR': 1.0}, {'RR': 0.5208333333333333})
        """
        return computed("Evaluation.chance", self)

    def lift(self, *, level: float = 0.95) -> Any:
        """Compute how far each mean is from chance to the ceiling: ``(mean - chance) / (ceiling -
        chance)``.

        Parameters
        ----------
        level : float
            Confidence level of each interval alone, between 0 and 1.

        Returns
        -------
        Lift
            By measure: mean value, chance level, ceiling, and the lift with its interval.

        Raises
        ------
        InputError
            `evaluate` was not given candidates.

        Examples
        --------
        >>> import idealrank as ir
        >>> qrels = {"q": {"a": 1}, "r": {"a": 1}}
        >>> run = ir.evaluate(qrels, {"q": ["a"], "r": ["b", "a"]}, "RR", candidates=4)
        >>> round(run.lift()["RR"].lift, 3)
        0.478
        """
        return computed("Evaluation.lift", self, level=level)

    def can_tell(self, measures: "MeasureLike | Iterable[MeasureLike]") -> bool:
        """Return whether the hits were kept as deep as these measures look, so that `further` can
        use them.
        """
        if self.judged is None:
            return False
        depth = deepest_rank(measure.under(self.convention) for measure in parse_measures(measures))
        return self.judged.depth == 0 or 0 < depth <= self.judged.depth

    def further(self, measures: "MeasureLike | Iterable[MeasureLike]") -> "Evaluation":
        """Evaluate further measures on the kept hits, without reading or ranking again.

        Raises
        ------
        InputError
            The hits were not kept, or not deep enough for a measure; see `keep_for` of `evaluate`.

        Examples
        --------
        >>> one = evaluate(
        ...     Qrels({"q": {"a": 1}}), Run({"q": ["x", "a"]}), "RR", keep_for=parse_measures("P@2")
        ... )
        >>> one.further("P@2").mean()
        {'P@2': 0.5}
        """
        requested = parse_measures(measures)
        resolved = tuple(measure.under(self.convention) for measure in requested)
        judged = self.judged
        if judged is None or not self.can_tell(requested):
            raise InputError(
                f"{self.name}: found no hits kept for {', '.join(map(str, requested))}, expected "
                f"evaluate(keep_for=...)"
            )
        measured = measure_judged(judged, resolved)
        provenance = replace(self.provenance, measures=tuple(map(str, resolved)))
        texts = {str(requested[place]): words for place, words in measured.texts.items()}
        return replace(
            self,
            queries=judged.queries,
            measures=requested,
            values=measured.values,
            scored=measured.scored,
            coverage=measured.coverage.named(resolved, requested),
            provenance=provenance,
            texts=texts,
        )

    def merge(self, other: "Evaluation") -> "Evaluation":
        """Merge the evaluations of two parts of a collection that was split by query.

        Parts merge in any order and grouping: values by query, counts, aggregates and the
        judgments' fingerprint are, to the last bit, what evaluating the whole collection at once
        gives. Only the order of queries and files follows the order of the parts.

        Parameters
        ----------
        other : Evaluation
            Other queries, by the same measures and the same convention. Each part has the judgments
            of its own queries, or both were evaluated with all judgments, as equal fingerprints
            show. The latter requires a convention with ``missing=left-out``: under any other, each
            part has values of 0 for the queries that only the other part answers. A query counts as
            missing if neither part answers it.

        Raises
        ------
        IncompatibleError
            The parts have different conventions or measures, which the message names, or share a
            query.

        Examples
        --------
        >>> import idealrank as ir
        >>> parts = [ir.evaluate({q: {"a": 1}}, {q: ["a"]}, ["AP"]) for q in ("q1", "q2")]
        >>> list(parts[0].merge(parts[1]).queries)
        ['q1', 'q2']
        """
        from idealrank.evaluation.parts import merged  # noqa: PLC0415  (few evaluations are parts)

        return merged(self, other)

    def __repr__(self) -> str:
        means = ", ".join(f"{text} {value:.4f}" for text, value in self.mean().items())
        return (
            f"Evaluation({self.name!r}: {means}; {len(self.queries)} queries, convention "
            f"{self.convention})"
        )

    __str__ = printed


def evaluate(
    qrels: Judgments,
    run: Run,
    measures: "MeasureLike | Iterable[MeasureLike]",
    convention: "Convention | str" = "standard",
    *,
    max_documents: int | None = None,
    keep_unjudged: bool = False,
    keep_for: Iterable[Measure] = (),
    keep_top: int = 0,
    threads: int = 0,
    progress: _kernel.Progress | None = None,
    inputs: Sequence[InputRecord] = (),
    candidates: Candidates | None = None,
) -> Evaluation:
    """Evaluate a run against judgments."""
    requested = parse_measures(measures)
    convention = Convention.of(convention)
    for measure in requested:
        measure.check_tables(tables_of(qrels))

    convention = Convention.of(convention, ties=ties_for(qrels, convention.alignment.ties))
    resolved = tuple(measure.under(convention) for measure in requested)
    later = [measure.under(convention) for measure in keep_for]
    depth = 0 if keep_top else depth_of_hits([*resolved, *later], labels_of(qrels))
    # By preferences or several assessors, only hits can be kept.
    is_graded = isinstance(qrels, Qrels)
    top_depth = keep_top if is_graded else 0
    depth_of_unjudged = unjudged_depth(resolved, run) if keep_unjudged and is_graded else 0
    judged = join(
        qrels,
        run,
        convention.alignment,
        depth=depth,
        max_documents=max_documents,
        threads=threads,
        progress=progress,
        unjudged_depth=depth_of_unjudged,
        top_depth=top_depth,
    )
    if not judged.n_queries:
        raise InputError(
            f"no query to evaluate: {qrels.name} has {qrels.n_queries} queries, run {run.name!r} "
            f"answers {judged.scope.queries_in_run}, none of which counts under convention "
            f"{convention.name}; do the query ids of both match?"
        )

    warn_of_threshold(resolved, qrels.grades, qrels.name)
    warn_of_ratings(requested, labels_of(qrels), qrels.grades)
    measured = measure_judged(judged, resolved)
    provenance = Provenance(
        version=__version__,
        convention=convention,
        measures=tuple(map(str, resolved)),
        inputs=tuple(inputs),
        max_documents=max_documents,
        judgments=qrels.fingerprint,
        labels=labels_of(qrels),
        query_word=query_word_of(qrels),
        candidates=None
        if candidates is None
        else _candidate_counts(candidates, qrels, run, judged),
    )

    path = run.paths[0] if run.paths else ""
    doubtful = judged.scope.doubtful_comments
    if look_swapped(qrels, run):
        measured = measured._replace(coverage=replace(measured.coverage, looks_swapped=True))
    measured = measured._replace(coverage=measured.coverage.named(resolved, requested))
    warn_of_labels(requested, provenance.labels, measured.coverage)
    evaluation = _evaluation(
        run.name,
        judged.queries,
        requested,
        measured,
        provenance,
        doubtful_comments=doubtful,
        path=path,
    )
    if candidates is not None and isinstance(qrels, Qrels):
        evaluation = replace(evaluation, candidates=(qrels, candidates))
    keeps_hits = bool(top_depth or depth_of_unjudged or later)
    return replace(evaluation, judged=judged) if keeps_hits else evaluation


def _candidate_counts(
    candidates: Candidates, qrels: Judgments, run: Run, judged: Judged
) -> CandidateCounts:
    """Count the candidates of the queries that count; refuse a run that returns others."""
    if not isinstance(qrels, Qrels):
        raise OptionError(
            f"candidates: found {type(qrels).__name__}, expected grades: candidates have a chance "
            "level by grades alone"
        )
    candidates.refuse_unlisted(judged.queries)
    candidates.refuse_others(run, judged)
    joined = candidates.join(qrels)
    codes = joined.codes(judged.queries)
    return CandidateCounts(
        form=candidates.form,
        queries=judged.n_queries,
        documents=sum(map(candidates.size, judged.queries)),
        judged_outside=int(joined.outside(codes).sum()),
    )


def deepest_rank(measures: Iterable[Measure]) -> int:
    """Return the deepest rank that some measure looks at; 0 for whole lists."""
    depths = [measure.hits_needed() for measure in measures]
    return 0 if 0 in depths else max(depths)


def depth_of_hits(measures: Iterable[Measure], labels: Labels | None) -> int:
    """Return the rank down to which hits are read; 0 for whole lists.

    Whether positive-only labels come from one run shows beyond the cutoff, and must not depend on
    which measures are chosen.
    """
    depth = deepest_rank(measures)
    if depth == 0 or labels is None or labels.kind != "positive-only":
        return depth
    return max(depth, LABEL_DEPTH)


def unjudged_depth(measures: Iterable[Measure], run: Run) -> int:
    """Deepest rank at which some measure can say what an unjudged document would add; whole lists
    of long runs are not looked at.
    """
    source = run.source
    short = (
        source.nbytes <= _SHORT_TEXT
        if isinstance(source, _kernel.Text)
        else source.n_rows <= _SHORT_ROWS
    )
    depth = 0
    for measure in filter(_can_bound_unjudged, measures):
        if isinstance(measure.cutoff, int):
            depth = max(depth, measure.cutoff)
        elif short:
            depth = _WHOLE
    return depth


def _can_bound_unjudged(measure: Measure) -> bool:
    """Return whether a measure says what an unjudged document would add, to a mean of which more or
    less is better.
    """
    is_ordered_mean = measure.aggregate == "mean" and bool(measure.direction)
    return is_ordered_mean and measure.tells_unjudged and not measure.judged_only


def evaluate_lists(
    lists: Lists,
    measures: "MeasureLike | Iterable[MeasureLike]",
    convention: "Convention | str" = "standard",
    *,
    threads: int = 0,
    name: str = "run",
) -> Evaluation:
    """Evaluate labels and scores held as arrays; ties by document id become the expected value, for
    arrays have no ids.
    """
    requested = parse_measures(measures)
    convention = array_convention(convention)
    for measure in requested:
        measure.check_tables(())
    resolved = tuple(measure.under(convention) for measure in requested)
    warn_of_threshold(resolved, lists.labels, "the labels")
    measured = measure_lists(lists, resolved, convention.alignment, threads=threads)
    provenance = Provenance(
        version=__version__,
        convention=convention,
        measures=tuple(map(str, resolved)),
        judgments=lists.fingerprint(threads),
        labels=Labels(kind="complete", queries=lists.n_queries),  # every item has a label
    )
    measured = measured._replace(coverage=measured.coverage.named(resolved, requested))
    return _evaluation(name, lists.queries, requested, measured, provenance)


def _evaluation(
    name: str,
    queries: Sequence[str],
    requested: tuple[Measure, ...],
    measured: Measured,
    provenance: Provenance,
    *,
    doubtful_comments: int = 0,
    path: str = "",
) -> Evaluation:
    """Make the evaluation, and warn of what its coverage shows."""
    warn_of_coverage(provenance.convention, measured.coverage, doubtful_comments, name)
    texts = {str(requested[place]): words for place, words in measured.texts.items()}
    return Evaluation(
        name=name,
        queries=queries,
        measures=requested,
        values=measured.values,
        scored=measured.scored,
        coverage=measured.coverage,
        provenance=provenance,
        path=path,
        texts=texts,
    )
