"""Basis of a verdict under each kind of labels: what it takes unlabelled documents to be, and how
it stands if that is wrong.

Under complete labels a verdict needs no more than its test, under pooled labels the rule of
`tipping`. Under positive-only labels it is given as if unlabelled documents were not relevant,
except where the labels come from one of the two runs: the other run then loses whatever it returns
beyond them.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from idealrank.analysis.comparison.families import Corrected
from idealrank.analysis.comparison.labels_needed import labels_needed
from idealrank.analysis.comparison.pair_tippings import Tippings
from idealrank.analysis.comparison.places import Places
from idealrank.analysis.comparison.query_table import restricted
from idealrank.analysis.comparison.sensitivity import Sensitivity, Side, sensitivity_of
from idealrank.analysis.comparison.tipping import (
    Question,
    Tipping,
    judgments_reach,
    tipping_point,
)
from idealrank.data.label_kinds import LabelKind, Labels
from idealrank.data.types import BoolArray, FloatArray
from idealrank.errors import OptionError
from idealrank.evaluation.coverage import LABEL_DEPTH, Coverage
from idealrank.evaluation.evaluate import Evaluation
from idealrank.measures.measure import Measure
from idealrank.stats.design import Design

COMPLETE = "the labels are complete: documents without a label are not relevant"
POSITIVE_ONLY = "the labels are positive-only: no rate of relevant documents can be known"

_FEWEST = 20  # labelled documents that say anything about where they come from
# Least share of the labelled documents that a run returns to be similar to their source, and to be
# their source.
_SUSPECTED = 0.9
_SOURCE = 0.99
_ENDS = 0.999  # the labels of a run end at the rank that has this share of them above or at it
# Least share of a run's labels in the lower half of the ranks down to their end that shows an
# abrupt end: fair labels have hardly any there.
_AT_THE_END = 0.05

_OTHER: dict[Side, Side] = {"a": "b", "b": "a"}


@dataclass(frozen=True, kw_only=True)
class OneSided:
    """Labels that come from the results of one run, as declared or as the shares of labelled
    documents suggest.
    """

    run: Side  # The run whose results were labelled
    declared: bool  # Whether the user said so (`labels_from`)
    depth: int | None = None  # Rank down to which the shares were counted; None where declared
    # share, other_share: Share of the labelled documents that this run returns down to the depth,
    # and the other run; in [0, 1]
    share: float | None = None
    other_share: float | None = None

    def reversed(self) -> "OneSided":
        """Return what holds for the difference a - b."""
        return replace(self, run=_OTHER[self.run])


@dataclass(frozen=True, kw_only=True)
class LabelBasis:
    """Basis of a verdict on documents without a label."""

    kind: LabelKind  # Kind of the labels
    # Under positive-only labels: the run that the labels come from, so that there are too few of
    # them for a verdict; None where nothing says so
    one_sided: OneSided | None = None
    # Under positive-only labels: a run that returns at least 90% of the labelled documents within
    # the depth, where the other run does not
    suspected: OneSided | None = None
    # unlabelled_a, unlabelled_b: Documents without a label within the cutoff that only a, and only
    # b, returns; None where the rankings are not known, and for measures other than the primary one
    unlabelled_a: int | None = None
    unlabelled_b: int | None = None
    # Under positive-only labels, for the primary measure, if the rankings are known and the measure
    # has a value for each further relevant document; else empty
    sensitivity: tuple[Sensitivity, ...] = ()

    def reversed(self) -> "LabelBasis":
        """Return what holds for the difference a - b."""
        return replace(
            self,
            one_sided=None if self.one_sided is None else self.one_sided.reversed(),
            suspected=None if self.suspected is None else self.suspected.reversed(),
            unlabelled_a=self.unlabelled_b,
            unlabelled_b=self.unlabelled_a,
            sensitivity=tuple(row.reversed() for row in self.sensitivity),
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record."""
        return asdict(self) | {"sensitivity": [asdict(row) for row in self.sensitivity]}


class Support(NamedTuple):
    """Tipping point of a result or the reason why it has none, its basis, and whether it stands."""

    tipping: Tipping | None
    reason: str | None
    basis: LabelBasis | None
    stands: bool


class Result(NamedTuple):
    """A result whose support is asked for: differences by query, which of them count, and the
    test.
    """

    pair: tuple[int, int]
    column: int
    differences: FloatArray
    kept: BoolArray
    design: Design
    question: Question

    @classmethod
    def of(
        cls, pair: tuple[int, int], test: Corrected, design: Design, question: Question
    ) -> "Result":
        """Return the result of a test under the design of all queries."""
        tested = test.hypothesis
        kept = tested.counted
        return cls(
            pair=pair,
            column=tested.column,
            differences=tested.differences,
            kept=kept,
            design=restricted(design, kept),
            question=question,
        )

    @property
    def tested(self) -> tuple[FloatArray, BoolArray, Design, Question]:
        """Arguments of the functions of `tipping` after the first."""
        return self.differences, self.kept, self.design, self.question


class DeclaredLabels(NamedTuple):
    """Declared facts about the labels; None for each that is not declared."""

    labels_are: LabelKind | None = None  # Kind of the labels
    # Share of the non-relevant documents that were labelled, if every relevant document was
    sampled_negatives: float | None = None
    labels_from: str | None = None  # Name of the run whose results were labelled

    @classmethod
    def again(cls, labels: Labels | None, labels_from: str | None) -> "DeclaredLabels":
        """Return what was declared for a result that has these labels.

        Examples
        --------
        >>> DeclaredLabels.again(Labels(kind="complete", found=False), None).labels_are
        'complete'
        """
        if labels is None or labels.found:
            return cls(labels_from=labels_from)
        return cls(labels.kind, labels.sampled_negatives, labels_from)


NOTHING_DECLARED = DeclaredLabels()


def labels_record(labels: Labels | None, labels_from: str | None) -> dict[str, Any] | None:
    """Return the JSON record of the labels of a result, with the run that they come from if
    declared.
    """
    if labels is None:
        return None
    record = labels.as_dict()
    return record if labels_from is None else record | {"from": labels_from}


def labels_of_runs(
    evaluations: Sequence[Evaluation], declared: DeclaredLabels = NOTHING_DECLARED
) -> Labels | None:
    """Return the labels behind all evaluations, or what is declared; None if they are not known.

    Labels of different kinds, which only an explicit choice allows, count as pooled. Different
    shares of sampled negatives count as none, of which least is assumed.
    """
    every = [evaluation.provenance.labels for evaluation in evaluations]
    if declared.labels_are is not None or declared.sampled_negatives is not None:
        return Labels(
            kind=declared.labels_are or "pooled",
            found=False,
            sampled_negatives=declared.sampled_negatives,
        )
    declared_or_found = [labels for labels in every if labels is not None]
    if len(declared_or_found) < len(every):
        return None
    first = declared_or_found[0]
    if len({labels.kind for labels in declared_or_found}) > 1:
        return replace(first, kind="pooled", sampled_negatives=None)
    if len({labels.sampled_negatives for labels in declared_or_found}) > 1:
        return replace(first, sampled_negatives=None)
    return first


def share_caution(
    evaluations: Sequence[Evaluation], names: Sequence[str], declared: DeclaredLabels
) -> str:
    """Return a caution if the runs' judgments declare different shares of sampled negatives, and
    the comparison declares none; else an empty text.
    """
    if declared.labels_are is not None or declared.sampled_negatives is not None:
        return ""
    shares: dict[float | None, str] = {}
    for name, evaluation in zip(names, evaluations, strict=True):
        labels = evaluation.provenance.labels
        share = None if labels is None else labels.sampled_negatives
        shares.setdefault(share, f"{name} {'none' if share is None else f'{share:g}'}")
    if len(shares) < 2:
        return ""
    return (
        f"the judgments of the runs have different shares of sampled negatives "
        f"({', '.join(shares.values())}), so none is used; declare sampled_negatives for the "
        "comparison"
    )


def sampled_negatives_of(
    evaluations: Sequence[Evaluation], declared: DeclaredLabels
) -> float | None:
    """Return the declared share of the non-relevant documents with a label; None if there is
    none.
    """
    labels = labels_of_runs(evaluations, declared)
    return None if labels is None else labels.sampled_negatives


def place_of_source(labels_from: str | None, names: Sequence[str]) -> int | None:
    """Return the place of the run that the labels come from; None if it was not named."""
    if labels_from is None:
        return None
    if labels_from not in names:
        raise OptionError(
            f"labels_from={labels_from!r}: found no run of that name, expected one of "
            f"{', '.join(names)}"
        )
    return names.index(labels_from)


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelRules:
    """Rules by which the labels of a comparison support its results."""

    labels: Labels | None  # Labels behind all runs; None if they are not known: then as pooled ones
    source: int | None  # Place of the run that the labels come from, if declared
    coverages: Sequence[Coverage]  # Coverage of each run
    measures: Sequence[Measure]  # Measures compared
    # Tipping points of pairs; where there is none, its methods return the reason as a text
    tippings: Tippings

    @classmethod
    def of(
        cls,
        evaluations: Sequence[Evaluation],
        names: Sequence[str],
        tippings: Tippings,
        declared: DeclaredLabels,
    ) -> "LabelRules":
        """Return the rules for these runs, under their names."""
        if declared.labels_from is not None and declared.labels_are in ("complete", "pooled"):
            raise OptionError(
                f"labels_from={declared.labels_from!r}: found {declared.labels_are} labels, which "
                "favour no run, expected positive-only labels"
            )
        return cls(
            labels=labels_of_runs(evaluations, declared),
            source=place_of_source(declared.labels_from, names),
            coverages=[evaluation.coverage for evaluation in evaluations],
            measures=tippings.measures,
            tippings=tippings,
        )

    @property
    def kind(self) -> LabelKind | None:
        """Kind of the labels; None if unknown."""
        return None if self.labels is None else self.labels.kind

    @property
    def rests_on_rates(self) -> bool:
        """Return whether results rest on rates of relevant documents among the judged ones."""
        return self.kind in (None, "pooled")

    def support(self, result: Result, *, all_labelled: bool, count_labels: bool = False) -> Support:
        """Return what supports a result over all queries.

        `all_labelled` says that both runs return labelled documents only, so that the kind of
        labels does not matter.
        """
        kind = self.kind
        if kind == "complete":
            basis = None if all_labelled else LabelBasis(kind=kind)
            return Support(tipping=None, reason=COMPLETE, basis=basis, stands=True)
        if kind == "positive-only":
            if all_labelled:
                return Support(tipping=None, reason=POSITIVE_ONLY, basis=None, stands=True)
            basis = self._positive_only(result)
            stands = basis.one_sided is None or _is_behind(basis.one_sided.run, result)
            return Support(tipping=None, reason=POSITIVE_ONLY, basis=basis, stands=stands)
        basis = None if all_labelled or kind is None else LabelBasis(kind=kind)
        reach = self.tippings.reach(result.pair, result.column)
        if isinstance(reach, str):
            return Support(tipping=None, reason=reach, basis=basis, stands=True)
        tipping = tipping_point(reach, *result.tested)
        if count_labels and not tipping.reaches:
            tipping = replace(tipping, labels_needed=labels_needed(reach, *result.tested))
        return Support(tipping=tipping, reason=None, basis=basis, stands=tipping.reaches)

    def stands_within(self, result: Result, within: BoolArray) -> bool:
        """Return whether the labels of a slice of the queries support its result."""
        if self.kind == "complete":
            return True
        if self.kind == "positive-only":
            coverages = self._coverages_within(result, within)
            if coverages is None:
                return True
            one_sided = self._one_sided(result.pair, self.measures[result.column], coverages)
            return one_sided is None or _is_behind(one_sided.run, result)
        reach = self.tippings.reach(result.pair, result.column, within=within)
        return isinstance(reach, str) or judgments_reach(reach, *result.tested)

    def _coverages_within(
        self, result: Result, within: BoolArray
    ) -> "tuple[Coverage, Coverage] | None":
        """Coverage of both runs on a slice; None if every document returned there has a label. Of
        all queries if rankings are not known.
        """
        first, second = (self.coverages[run] for run in result.pair)
        sides = self.tippings.sides(result.pair, result.column)
        if isinstance(sides, str):
            return first, second
        if not any(within[side.document_rows].any() for side in sides):
            return None
        side_a, side_b = sides
        return _on_slice(first, side_a, within), _on_slice(second, side_b, within)

    def _positive_only(self, result: Result) -> LabelBasis:
        measure = self.measures[result.column]
        first, second = (self.coverages[run] for run in result.pair)
        one_sided = self._one_sided(result.pair, measure, (first, second))
        suspected = None
        if one_sided is None and self.source is None:
            suspected = one_sided_labels(first, second, measure, least_share=_SUSPECTED)
        basis = LabelBasis(kind="positive-only", one_sided=one_sided, suspected=suspected)
        if result.column:
            return basis  # the sensitivity is of the primary measure, which decides
        reach = self.tippings.reach_alone(result.pair, result.column)
        if isinstance(reach, str):
            return basis
        return replace(
            basis,
            unlabelled_a=int(reach.own_a.sum()),
            unlabelled_b=int(reach.own_b.sum()),
            sensitivity=sensitivity_of(reach, result.differences, result.kept, result.design),
        )

    def _one_sided(
        self, pair: tuple[int, int], measure: Measure, coverages: tuple[Coverage, Coverage]
    ) -> OneSided | None:
        if self.source is not None:
            if self.source not in pair:
                return None  # labels of a third run favour neither
            return OneSided(run="a" if self.source == pair[0] else "b", declared=True)
        return one_sided_labels(*coverages, measure)


def _on_slice(coverage: Coverage, side: Places, within: BoolArray) -> Coverage:
    """Return a coverage with the counts of relevant documents of some queries."""
    chosen = within[side.row]
    hits = side.judged.hits
    ideal = side.judged.ideal
    returned = (hits.grade > 0) & (hits.rank <= LABEL_DEPTH) & chosen[hits.query]
    return replace(
        coverage,
        relevant=int(np.count_nonzero((ideal.grade > 0) & chosen[ideal.query])),
        relevant_by_rank=tuple(np.bincount(hits.rank[returned])[1:].tolist()),
    )


def _is_behind(favoured: Side, result: Result) -> bool:
    """Return whether a run is behind although the labels favour it, so that the verdict stands.

    An equivalence needs labels that favour neither.
    """
    if result.question.margin is not None:
        return False
    lead = float(result.design.mean(result.differences[result.kept])) - result.question.null
    return lead > 0 if favoured == "a" else lead < 0


def one_sided_labels(
    a: Coverage, b: Coverage, measure: Measure, *, least_share: float = _SOURCE
) -> OneSided | None:
    """Return the run that the labels seem to come from; None where neither stands out.

    One run returns at least that share of the labelled documents within one depth, and the other
    run does not.
    """
    if min(a.relevant, b.relevant) < _FEWEST:
        return None
    ends = sorted(depth for depth in map(_where_labels_end, (a, b)) if depth is not None)
    cutoff = measure.cutoff if isinstance(measure.cutoff, int) else LABEL_DEPTH
    depths = (min(cutoff, LABEL_DEPTH), *ends)
    sides: tuple[tuple[Side, Coverage, Coverage], ...] = (("a", a, b), ("b", b, a))
    for depth in depths:
        for run, coverage, other in sides:
            share = coverage.relevant_share(depth)
            other_share = other.relevant_share(depth)
            if share is None or other_share is None:
                continue
            if share >= least_share > other_share:
                return OneSided(
                    run=run, declared=False, depth=depth, share=share, other_share=other_share
                )
    return None


def _where_labels_end(coverage: Coverage) -> int | None:
    """Return the rank at which the labels of a run stop abruptly; None where they thin out.

    Clicks on ten results leave many labels at ranks 6 to 10 and none below. Labels from elsewhere
    become rare gradually.
    """
    by_rank = np.array(coverage.relevant_by_rank)
    if not by_rank.sum():
        return None
    shares = np.cumsum(by_rank) / by_rank.sum()
    depth = int(np.argmax(shares >= _ENDS)) + 1
    in_last_half = shares[depth - 1] - shares[depth // 2 - 1] if depth > 1 else 0.0
    return depth if in_last_half >= _AT_THE_END else None
