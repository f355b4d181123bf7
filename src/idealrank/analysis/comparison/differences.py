"""Difference of two runs by one measure."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from idealrank._lazy import annotation
from idealrank.analysis.comparison.difference_rows import NEGATED, DifferenceRow, swapped
from idealrank.analysis.comparison.grade_bounds import GradeBounds
from idealrank.analysis.comparison.label_basis import LabelBasis
from idealrank.analysis.comparison.margin_guard import margin_cautions, scale_note
from idealrank.analysis.comparison.tipping import Tipping
from idealrank.measures.parse import MeasureLike, parse_measure
from idealrank.stats.applied_margins import AppliedMargin

if TYPE_CHECKING:
    from idealrank.analysis.comparison.difference_rows import JudgeDifference
    from idealrank.analysis.comparison.slice_differences import Slices
else:
    JudgeDifference = annotation("idealrank.analysis.comparison.difference_rows", "JudgeDifference")
    Slices = annotation("idealrank.analysis.comparison.slice_differences", "Slices")

NOT_LOOKED = "whether there are too few judgments was not computed"


Row = TypeVar("Row")


def by_measure(rows: Mapping[str, Row], measure: MeasureLike) -> Row:
    """Return the row of a measure, by its text or any of its spellings."""
    text = str(measure)
    text = text if text in rows else str(parse_measure(measure))
    if text not in rows:
        raise KeyError(f"{text}: not compared, only {', '.join(rows)}")
    return rows[text]


@dataclass(frozen=True, kw_only=True)
class Difference(DifferenceRow):
    """One measure of two runs a and b on the same queries; every difference is b - a.

    Has the fields of `DifferenceRow`, too. All intervals of a family hold at once at `level`, and
    where the verdict is ``too few judgments``, `tipping` says why: as many unjudged documents as is
    likely, being relevant, would undo the difference.

    Attributes
    ----------
    measure : str
        Text of the measure.
    direction : int
        1 where higher values are better, -1 where lower ones are.
    level : float
        Method of the interval.
    p_equivalence : float or None
        Of a difference of the margin or more, corrected as `p_corrected` is; None without a margin.
    margin : AppliedMargin or None
        The margin as applied: over how many answerable queries, and with which largest loss of a
        query; None without one.
    excluded_queries, identical_queries : int
        Queries left out since they are not scored in both runs; those on which every measure
        compared is equal.
    queries_needed : int or None
        Number of queries like these that would detect a true difference of `effect` with 80 %
        power; None without an effect, if `detectable` has a reason, or if changes like these do not
        add up to such a difference.
    unjudged_a, unjudged_b : float or None
        Share without a judgment of the documents returned, as `Coverage.unjudged_share`; None where
        it was not measured.
    difference_judged : float or None
        The difference where documents without a judgment are taken out of both runs; None where it
        was not measured.
    judged_reason : str or None
        Why there is no `difference_judged` although documents are unjudged: lists no longer than
        the cutoff cannot close up, or all judged documents are alike, under positive-only labels.
    tipping : Tipping or None
        Share of unjudged documents that would have to be relevant for the difference to go or to
        turn; None where it is not known.
    tipping_reason : str or None
        Reason why it is unknown.
    basis : LabelBasis or None
        What the verdict takes documents without a label to be; None if neither run returns one, or
        if the kind of labels is not known.
    skewness : float
        Of the differences b - a of the queries.
    error_rate_known : bool
        False if the verdict is better or worse, and these queries may lack rare large differences
        that would change it: they are too few for the skewness of their differences, and the bound
        of `stats.unseen_loss_p` does not support the verdict. Slices have a sentence in
        `Comparison.cautions`.
    bounds : GradeBounds or None
        Lowest and highest difference over all grades of the unjudged documents, by the primary
        measure of up to ten runs, if that is nDCG, DCG, P, R, RBP or RR with a cutoff; None without
        unjudged documents, and unless the labels are pooled.
    slices : Slices or None
        The same on slices of the queries, corrected as a family of their own; None where no slices
        were given.
    judge : JudgeDifference or None
        The same under the grades of a judge; None where none was given. Where its sign contradicts,
        better and worse give way to undecided.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(6)}
    >>> a, b = (
    ...     ir.evaluate(qrels, {query: ranking for query in qrels}, "RR")
    ...     for ranking in (["y", "x"], ["x", "y"])
    ... )
    >>> (found := ir.compare(a, b)["RR"]).difference, found.interval, found.p, found.verdict
    (0.5, (0.5, 0.5), 0.03125, 'better')
    """

    _AFTER: ClassVar[Mapping[str, str]] = {
        "direction": "",
        "level": "about",
        "p_equivalence": "p_corrected",
        "margin": "p_equivalence",
        "queries_needed": "detectable_reason",
    }

    measure: str
    direction: int
    level: float
    p_equivalence: float | None
    margin: AppliedMargin | None = None
    queries_needed: int | None
    excluded_queries: int = 0
    identical_queries: int = 0
    unjudged_a: float | None = field(default=None, metadata=swapped("unjudged_b"))
    unjudged_b: float | None = field(default=None, metadata=swapped("unjudged_a"))
    difference_judged: float | None = field(default=None, metadata=NEGATED)
    judged_reason: str | None = None
    tipping: Tipping | None = None
    tipping_reason: str | None = NOT_LOOKED
    basis: LabelBasis | None = None
    skewness: float = field(default=0.0, metadata=NEGATED)
    error_rate_known: bool = True
    bounds: GradeBounds | None = None
    slices: "Slices | None" = None
    judge: "JudgeDifference | None" = None

    def beside(self, judge: "JudgeDifference") -> "Difference":
        """Return the difference beside that of a judge; where the signs contradict each other,
        neither run is better.
        """
        if judge.contradicts and self.verdict in ("better", "worse"):
            return replace(self, judge=judge, verdict="undecided", error_rate_known=True)
        return replace(self, judge=judge)

    def level_cautions(self, largest_loss: float | None = None) -> list[str]:
        """Describe what limits the margin."""
        if self.margin is None:
            return []
        return margin_cautions(
            self.margin,
            self.n,
            largest_loss=largest_loss,
            is_within=about_equivalence(self),
            refuted="equivalence cannot be shown",
        )

    @property
    def margin_scale(self) -> str:
        """A sentence on the queries that the margin refers to; empty if to all that are
        compared.
        """
        return "" if self.margin is None else scale_note(self.margin, self.n)

    def as_dict(self) -> dict[str, Any]:
        """Everything but the measure by name; None for what is not finite; slices and the judge,
        where there are any.
        """
        record = {
            name: value
            for name, value in replace(self, slices=None).record().items()
            if name not in ("measure", "slices")
        }
        record["bounds"] = None if self.bounds is None else self.bounds.as_dict()
        record["basis"] = None if self.basis is None else self.basis.as_dict()
        if self.margin is None:
            del record["margin"]
        else:
            record["margin"] = self.margin.as_dict()
        if self.judge is None:
            del record["judge"]
        return record if self.slices is None else record | {"slices": self.slices.by_name()}

    def reversed(self) -> Self:
        """Return the difference a - b; two-sided tests do not change.

        Examples
        --------
        >>> import idealrank as ir
        >>> a, b = (
        ...     ir.evaluate({"p": {"x": 1}, "q": {"x": 1}}, {"q": ranking}, "RR")
        ...     for ranking in (["x"], ["y", "x"])
        ... )
        >>> (found := ir.compare(a, b)["RR"].reversed()).difference, found.wins
        (0.25, 1)
        """
        names = ("slices", "tipping", "basis", "bounds", "judge")
        parts = {name: getattr(self, name) for name in names}
        reversed_parts = {name: part.reversed() for name, part in parts.items() if part is not None}
        return replace(super().reversed(), **reversed_parts)


def about_equivalence(row: Difference) -> bool:
    """Return whether a row decides, or would decide with sufficient judgments, that the runs are
    equivalent.
    """
    return row.p_equivalence is not None and row.p_equivalence <= round(1 - row.level, 12)
