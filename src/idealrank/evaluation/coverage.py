"""Coverage of a mean: judged, missing, tied, duplicated and out-of-range counts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import zip_longest
from typing import Any

import numpy as np

from idealrank import _kernel
from idealrank._lazy import repr_html
from idealrank.conventions import Convention
from idealrank.data.join import Judgments
from idealrank.data.run import Run
from idealrank.data.run_parts import RunParts
from idealrank.data.types import AnyArray, FloatArray, IntArray
from idealrank.errors import warn
from idealrank.measures.measure import Measure
from idealrank.measures.threshold import BinaryMeasure

LABEL_DEPTH = 100  # ranks whose labels are counted: the same for every choice of measures
MANY_UNJUDGED = 0.2  # share of unjudged documents from which reports say what they count as
# The next step after a mismatch of ids, for every report.
VALIDATE = "`idealrank validate QRELS RUN` shows how they differ"


@dataclass(frozen=True, kw_only=True)
class MeasureCoverage:
    """Counts of one measure, whose threshold and policy for undefined queries are its own.

    Attributes
    ----------
    scored : int
        Number of queries that count in the mean of the measure.
    no_relevant : int
        Number of evaluated queries without a judged document that is relevant to the measure,
        scored or left out.
    comparable : int or None
        Number of evaluated queries whose judged documents differ for the measure, if it compares
        judged documents alone (AUC, Bpref, `judged_only`); None for other measures and for arrays.
    unanswerable : tuple of str
        Ids of the queries counted in `no_relevant`; fewer or none where ids are unknown, as in
        results of earlier versions.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 3}}, {"q": ["a"]}, "R(rel=4)@20").coverage.by_measure["R(rel=4)@20"]
    MeasureCoverage(scored=1, no_relevant=1, comparable=None)
    """

    scored: int
    no_relevant: int
    comparable: int | None = None
    unanswerable: tuple[str, ...] = field(default=(), compare=False, repr=False)

    def plus(self, other: "MeasureCoverage") -> "MeasureCoverage":
        """Add the counts of other queries."""
        return MeasureCoverage(
            scored=self.scored + other.scored,
            no_relevant=self.no_relevant + other.no_relevant,
            comparable=_total(self.comparable, other.comparable),
            unanswerable=(*self.unanswerable, *other.unanswerable),
        )

    def as_dict(self) -> dict[str, int]:
        """Return the JSON record, without what is unknown."""
        counts = {
            "scored": self.scored,
            "no_relevant": self.no_relevant,
            "comparable": self.comparable,
        }
        return {name: count for name, count in counts.items() if count is not None}


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """Counts of one evaluation.

    Attributes
    ----------
    queries_in_qrels, queries_in_run : int
        Number of queries with judgments, and of queries that the run answers.
    missing : int
        Number of judged queries that the run does not answer; `missing_queries` names them.
    without_judgments : int
        Number of queries of the run without judgments.
    scored : int
        Number of queries with a value.
    no_relevant : int
        Number of scored queries without a judged grade above 0; `by_measure` has the number by the
        threshold of each measure.
    unjudged, considered : int
        Documents without a judgment, among the `considered` documents: those returned down to
        `unjudged_cutoff` (0: all). The grade does not matter.
    judged : int
        Returned documents with a judgment, at any depth: the input of measures of order (rankDCG,
        tau, AUC).
    tied_queries, tied_documents : int
        Number of queries with documents of equal score, and of those documents.
    duplicates : int
        Number of documents listed more than once for a query.
    truncated_grades : int
        Number of grades truncated to integers by the convention.
    out_of_range : int
        Number of values outside the bounds of their measure.
    excluded, excluded_judgments : int
        Number of returned documents that do not count since they are excluded, and of judgments
        that were taken out since they are excluded or not permitted.
    breaches : int
        Number of returned documents that are not permitted, over the judged queries.
    best_grade : float
        Highest judged grade of any scored query, as measures count it; infinite if unknown.
    looks_swapped : bool
        The judgments look like the scores of a run, and the scores like grades.
    relevant : int
        Number of judged documents with a grade above 0, over the scored queries; 0 if unknown.
    relevant_by_rank : sequence of int
        Number of them that the run returns at each rank, from rank 1 to the last one that has any,
        within the first 100. Where the labels are not positive-only: as deep as some measure looks.
    by_measure : mapping of str to MeasureCoverage
        By text of the measure: queries scored, and queries without a document that is relevant to
        it. Empty if unknown, as in stores of earlier versions.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 1}}, {"q": ["a", "b"]}, ["nDCG@10"]).coverage.unjudged_share
    0.5
    """

    queries_in_qrels: int
    queries_in_run: int
    missing: int
    without_judgments: int
    scored: int
    no_relevant: int
    unjudged: int
    considered: int
    judged: int
    unjudged_cutoff: int
    tied_queries: int
    tied_documents: int
    duplicates: int
    truncated_grades: int
    out_of_range: int
    missing_queries: Sequence[str] = ()
    excluded: int = 0
    excluded_judgments: int = 0
    breaches: int = 0
    best_grade: float = field(default=math.inf, compare=False)  # a store does not keep it
    looks_swapped: bool = field(default=False, compare=False)  # as above
    relevant: int = field(default=0, compare=False)
    relevant_by_rank: Sequence[int] = field(default=(), compare=False, repr=False)
    # stores of earlier versions lack it
    by_measure: Mapping[str, MeasureCoverage] = field(
        default_factory=dict, compare=False, repr=False
    )

    _repr_html_ = repr_html  # for notebooks

    @property
    def unjudged_share(self) -> float:
        """Share of documents without a judgment among those returned down to `unjudged_cutoff`,
        over all queries, in [0, 1].

        0 if nothing is returned. Every command uses "unjudged" in this sense. Ranks beyond the end
        of a list and queries without an answer do not count, whereas the measure `Unjudged`,
        trec_eval's ``unj``, divides by the cutoff.
        """
        return self.unjudged / self.considered if self.considered else 0.0

    def relevant_share(self, depth: int | None) -> float | None:
        """Share of the relevant judged documents that the run returns down to a rank, at most 100;
        None if unknown.

        Examples
        --------
        >>> import idealrank as ir
        >>> one = ir.evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}, ["R@10"])
        >>> one.coverage.relevant_share(2), one.coverage.relevant_share(None)
        (0.5, 1.0)
        """
        if not self.relevant:
            return None
        return sum(self.relevant_by_rank[:depth]) / self.relevant

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Coverage":
        """Return the coverage of a JSON record with every count, as `asdict` makes it.

        Examples
        --------
        >>> from dataclasses import asdict
        >>> import idealrank as ir
        >>> coverage = ir.evaluate({"q": {"a": 1}}, {"q": ["a"]}, ["AP"]).coverage
        >>> Coverage.from_record(asdict(coverage)).by_measure["AP"].scored
        1
        """
        by_measure = {
            text: MeasureCoverage(
                **{**counts, "unanswerable": tuple(counts.get("unanswerable", ()))}
            )
            for text, counts in record.get("by_measure", {}).items()
        }
        missing = tuple(record["missing_queries"])
        return cls(**{**record, "missing_queries": missing, "by_measure": by_measure})

    def as_dict(self) -> dict[str, Any]:
        """Return the counts by name, as in the JSON record.

        Examples
        --------
        >>> import idealrank as ir
        >>> coverage = ir.evaluate({"q": {"a": 1}}, {"q": ["a"]}, ["AP"]).coverage
        >>> coverage.as_dict()["by_measure"]
        {'AP': {'scored': 1, 'no_relevant': 0}}
        """
        names = (
            "queries_in_qrels",
            "queries_in_run",
            "missing",
            "without_judgments",
            "scored",
            "no_relevant",
            "unjudged_share",
            "unjudged_cutoff",
            "tied_queries",
            "tied_documents",
            "duplicates",
            "truncated_grades",
            "out_of_range",
        )
        record: dict[str, Any] = {name: getattr(self, name) for name in names}
        screened = ("excluded", "excluded_judgments", "breaches")
        record |= {name: getattr(self, name) for name in screened if getattr(self, name)}
        by_measure = {text: counts.as_dict() for text, counts in self.by_measure.items()}
        return record | ({"by_measure": by_measure} if by_measure else {})

    def named(self, resolved: Sequence[Measure], asked: Sequence[Measure]) -> "Coverage":
        """Return the coverage with the counts of each measure under its text as requested.

        Parameters
        ----------
        resolved, asked : sequence of Measure
            The measures with every option set, and as requested, in the same order.
        """
        pairs = zip(resolved, asked, strict=True)
        by_measure = {str(measure): self.by_measure[str(full)] for full, measure in pairs}
        return replace(self, by_measure=by_measure)

    def doubt(self, name: str) -> str:
        """Describe signs that judgments and run do not belong together; empty if there are none.

        The values are then correct but meaningless.

        Examples
        --------
        >>> import idealrank as ir
        >>> ir.evaluate({"q": {"a": 1}}, {"q": ["a"]}, ["AP"]).coverage.doubt("mine")
        ''
        """
        if mismatch := self.mismatch:
            return f"run {name} {mismatch}"
        if self.looks_swapped:
            return (
                f"the scores of run {name} are a few small integers, and the judgments have many "
                "fractional grades: are the files swapped? Judgments come first."
            )
        if self.considered and self.unjudged == self.considered:
            where = f" in the first {self.unjudged_cutoff} ranks" if self.unjudged_cutoff else ""
            return f"run {name} has no judged document{where}; do the document ids of both match?"
        return ""

    @property
    def mismatch(self) -> str:
        """Reason why the values of the run are meaningless, as a phrase to follow its name; empty
        if a returned document is judged.

        Examples
        --------
        >>> import idealrank as ir
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     ir.evaluate({"q": {"a": 1}}, {"q": ["A"]}, ["AP"]).coverage.mismatch
        'has no judged document; do the document ids of both match?'
        """
        if self.missing and self.missing == self.queries_in_qrels:
            phrase = (
                "does not answer the judged query"
                if self.missing == 1
                else f"answers none of the {self.missing:,} judged queries"
            )
            return f"{phrase}; do the query ids of both match?"
        if self.queries_in_qrels and not self.judged and self.unjudged == self.considered:
            return "has no judged document; do the document ids of both match?"
        return ""

    @property
    def mismatch_words(self) -> str:
        """The mismatch with its number of queries, as printed by `idealrank validate`; empty if
        there is none.

        Examples
        --------
        >>> import idealrank as ir
        >>> ir.evaluate({"q": {"a": 1}}, {"q": ["a"]}, ["AP"]).coverage.mismatch_words
        ''
        """
        answered = self.queries_in_qrels - self.missing
        if not self.mismatch:
            return ""
        if answered:
            return no_judged_document_words(answered, answered)
        return no_common_query_words(self.missing)

    def plus(self, other: "Coverage", *, shared_judgments: bool = False) -> "Coverage":
        """Add the counts of two parts of one collection.

        Parameters
        ----------
        other : Coverage
            Counts of other queries.
        shared_judgments : bool
            Both parts were evaluated with the judgments of the whole collection, which then count
            once.
        """
        not_added = (
            "missing",
            "missing_queries",
            "unjudged_cutoff",
            "best_grade",
            "looks_swapped",
            "relevant_by_rank",
            "by_measure",
        )
        sums: dict[str, Any] = {
            count.name: getattr(self, count.name) + getattr(other, count.name)
            for count in fields(self)
            if count.name not in not_added
        }
        missing: Sequence[str] = (*self.missing_queries, *other.missing_queries)
        if shared_judgments:
            sums |= {
                "queries_in_qrels": self.queries_in_qrels,
                "truncated_grades": self.truncated_grades,
                "excluded_judgments": self.excluded_judgments,
            }
            # A query is answered if either part answers it.
            missing_in_other = set(other.missing_queries)
            missing = tuple(query for query in self.missing_queries if query in missing_in_other)
        return Coverage(
            **sums,
            missing=len(missing) if shared_judgments else self.missing + other.missing,
            missing_queries=missing,
            unjudged_cutoff=self.unjudged_cutoff,
            best_grade=max(self.best_grade, other.best_grade),
            looks_swapped=self.looks_swapped or other.looks_swapped,
            relevant_by_rank=_summed(self.relevant_by_rank, other.relevant_by_rank),
            by_measure={
                text: counts.plus(other.by_measure[text])
                for text, counts in self.by_measure.items()
                if text in other.by_measure
            },
        )


def _total(count: int | None, other: int | None) -> int | None:
    """Sum of two counts; None if either is unknown."""
    return None if count is None or other is None else count + other


def _summed(counts: Sequence[int], others: Sequence[int]) -> tuple[int, ...]:
    """Add counts by rank; the shorter sequence ends with zeros."""
    return tuple(map(sum, zip_longest(counts, others, fillvalue=0)))


# Signs that the files of judgments and run were swapped.
_MANY_FRACTIONS = 5  # different fractions among the judgments, as scores have
_FEW_GRADES = 6  # different whole numbers among the scores, as grades have at most
_HIGHEST_GRADE = 10  # of any usual scale
_SAMPLED = 20_000  # rows that are looked at


def look_like_scores(grades: FloatArray) -> bool:
    """Return whether most grades are fractions, and many of them differ, as scores do."""
    sample = grades[:_SAMPLED]
    fractions = sample[sample != np.floor(sample)]
    return bool(2 * fractions.size > sample.size and np.unique(fractions).size >= _MANY_FRACTIONS)


def look_like_grades(scores: FloatArray, offsets: IntArray) -> bool:
    """Return whether all scores are few small whole numbers, equal within some query, as grades
    are.
    """
    sample = scores[:_SAMPLED]
    if not sample.size or not np.all(
        np.isfinite(sample) & (sample == np.floor(sample)) & (np.abs(sample) <= _HIGHEST_GRADE)
    ):
        return False
    query = np.searchsorted(offsets, np.arange(sample.size), side="right")
    pairs = np.unique(np.stack([query, sample.astype(np.int64)]), axis=1)
    return bool(pairs.shape[1] < sample.size and np.unique(sample).size <= _FEW_GRADES)


def look_swapped(qrels: Judgments, run: Run) -> bool:
    """Return whether judgments and run were given in the wrong order; lines of TREC text differ and
    are refused before.
    """
    table: Any = run.source
    first = None
    if isinstance(table, RunParts):
        first = table.first_rows
    elif isinstance(table, _kernel.Table):
        first = (table.values, table.offsets)
    return first is not None and look_like_scores(qrels.grades) and look_like_grades(*first)


def warn_of_coverage(
    convention: Convention, coverage: Coverage, doubtful_comments: int, name: str
) -> None:
    """Warn of doubtful comment lines, of grades that were cut, and of values outside the bounds of
    their measure.
    """
    if doubtful_comments:
        warn(
            f"run {name!r}: {doubtful_comments} comment lines would be results without '#'; "
            f"they are ignored"
        )
    if coverage.truncated_grades:
        warn(
            f"convention {convention.name} cut {coverage.truncated_grades} grades to whole "
            "numbers, as its tool does; grades=given keeps them"
        )
    if doubt := beyond_bounds(convention, coverage, name):
        warn(doubt)


def beyond_bounds(convention: Convention, coverage: Coverage, name: str) -> str:
    """Describe values outside the bounds of their measure; empty if none are, or the convention
    makes them.
    """
    expected = (
        convention.alignment.negative in ("kept", "padding")
        or convention.alignment.duplicates == "twice"
    )
    if expected or not coverage.out_of_range:
        return ""
    return (
        f"run {name!r}: {coverage.out_of_range} values lie outside the bounds of their measure; "
        "the cause may be a gain or discount that does not fall with the rank"
    )


def warn_of_threshold(measures: Sequence[Measure], grades: AnyArray, name: str) -> None:
    """Warn of grades between 0 and 1, which a threshold of 1 excludes."""
    unset = any(isinstance(measure, BinaryMeasure) and measure.rel is None for measure in measures)
    best = float(grades.max()) if unset and grades.size else 0.0
    if 0 < best < 1:
        warn(
            f"the best grade of {name} is {best:g}, below the threshold rel=1 of binary measures, "
            f"so no document is relevant for them; set rel, as in AP(rel={best:g})"
        )


def no_common_query_words(judged: int) -> str:
    """Say that a run answers none of the judged queries."""
    if judged == 1:
        return "1 judged query, and the run does not answer it"
    return f"{judged} judged queries, and the run answers none of them"


def no_judged_document_words(queries: int, answered: int) -> str:
    """Say that so many of the answered queries list no judged document."""
    return f"{queries} of {answered} answered queries list no judged document"


def without_relevant_words(queries: int, judged: int) -> str:
    """Say that so many of the judged queries have no grade above 0."""
    return (
        f"{queries} of {judged} queries have no grade above 0; their NDCG is 0, 1 or left out, by "
        f"convention"
    )
