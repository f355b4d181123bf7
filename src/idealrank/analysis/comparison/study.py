"""Study: evaluations that are compared on the same queries, the one set-up of every question that
rests on paired values.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from idealrank.analysis.comparison.comparisons import distinct
from idealrank.analysis.comparison.families import Correction
from idealrank.analysis.comparison.label_basis import (
    NOTHING_DECLARED,
    DeclaredLabels,
    LabelRules,
    labels_of_runs,
    sampled_negatives_of,
    share_caution,
)
from idealrank.analysis.comparison.pair_tippings import Tippings
from idealrank.analysis.comparison.query_table import (
    Judgedness,
    QueryTable,
    chosen_measures,
    comparable,
    design_by_query,
    queries_of,
    seed_from,
    warn_of_weights,
)
from idealrank.analysis.comparison.requirements import (
    JudgmentsOption,
    mismatches,
    run_cautions,
)
from idealrank.data.label_kinds import Labels
from idealrank.evaluation.evaluate import Evaluation
from idealrank.measures.measure import Measure
from idealrank.measures.parse import MeasureLike
from idealrank.stats.comparison import POWER, RESAMPLES, Plan, TestName
from idealrank.stats.design import Design
from idealrank.stats.randomness import RandomLike, whole_number


@dataclass(frozen=True, kw_only=True)
class StudyOptions:
    """Test, design and labels of a study; `idealrank.compare` documents each option."""

    test: TestName = "permutation"
    correction: Correction = "auto"
    level: float = 0.95
    margin: float | None = None
    largest_loss: float | None = None
    effect: float | None = None
    weights: Mapping[str, float] | None = None
    clusters: Mapping[str, object] | None = None
    n_resamples: int | None = None
    rng: RandomLike = None
    threads: int | None = None
    judgments: JudgmentsOption = "same"
    declared: DeclaredLabels = NOTHING_DECLARED

    def draws(self, usual: int = RESAMPLES) -> int:
        """Return the number of sign flips, `usual` by default."""
        if self.n_resamples is None:
            return usual
        return whole_number("n_resamples", self.n_resamples)

    def plan(self, tables: Sequence[QueryTable], usual: int = RESAMPLES) -> Plan:
        """Plan the test; by default the seed follows from the values of the first measure."""
        return Plan(
            test=self.test,
            level=self.level,
            margin=self.margin,
            n_resamples=self.draws(usual),
            seed=seed_from(self.rng, tables),
            power=POWER,
            threads=self.threads,
            effect=self.effect,
            largest_loss=self.largest_loss,
        )


PLAIN = StudyOptions()


@dataclass(frozen=True, kw_only=True, eq=False)
class Study:
    """Evaluations that are compared, under their names and by the chosen measures."""

    evaluations: tuple[Evaluation, ...]
    names: tuple[str, ...]
    measures: tuple[Measure, ...]  # The primary measure first
    options: StudyOptions = PLAIN

    @classmethod
    def of(
        cls,
        evaluations: Iterable[Evaluation],
        measures: "MeasureLike | Iterable[MeasureLike] | None" = None,
        options: StudyOptions = PLAIN,
        *,
        names: Sequence[str] = (),
        also: Sequence[Measure] = (),
    ) -> "Study":
        """Set up a study, and refuse evaluations whose numbers mean different things.

        `also` are added to the measures unless they are among them.
        """
        evaluations = tuple(evaluations)
        comparable(evaluations, options.judgments)
        distinct_names = distinct(names or [evaluation.name for evaluation in evaluations])
        labels = labels_of_runs(evaluations, options.declared)
        chosen = chosen_measures(evaluations, measures, labels)
        further = [measure for measure in also if measure not in chosen]
        added = chosen_measures(evaluations, further, labels) if further else ()
        return cls(
            evaluations=evaluations,
            names=distinct_names,
            measures=(*chosen, *added),
            options=options,
        )

    @cached_property
    def labels(self) -> Labels | None:
        """Labels behind all evaluations, or the declared ones; None if they are not known."""
        return labels_of_runs(self.evaluations, self.options.declared)

    @cached_property
    def mismatches(self) -> dict[str, str]:
        """Reasons why a run does not join the judgments, by name; it is an error if none does."""
        return mismatches(self.evaluations, self.names, self.measures[0])

    @cached_property
    def queries(self) -> list[str]:
        """Union of the queries, in the order of random signs."""
        return queries_of(self.evaluations)

    @cached_property
    def tables(self) -> tuple[QueryTable, ...]:
        """Values of each run by query and measure."""
        return tuple(
            QueryTable.of(evaluation, self.measures, self.queries)
            for evaluation in self.evaluations
        )

    @cached_property
    def design(self) -> Design:
        """Weights and clusters of the queries."""
        options = self.options
        return design_by_query(self.queries, options.weights, options.clusters, options.test)

    @cached_property
    def cautions(self) -> tuple[str, ...]:
        """Limits of every verdict; very unequal weights are also warned of."""
        of_runs = run_cautions(self.evaluations, self.names, self.measures)
        of_labels = share_caution(self.evaluations, self.names, self.options.declared)
        of_weights = warn_of_weights(self.design, self.options.test)
        return (*of_runs, *filter(None, [of_labels]), *of_weights)

    @cached_property
    def judgedness(self) -> tuple[Judgedness, ...]:
        """Judged documents of each run."""
        return tuple(
            Judgedness.of(evaluation, self.measures, self.queries, self.labels)
            for evaluation in self.evaluations
        )

    def label_rules(self, *, every_measure: bool = True) -> LabelRules:
        """Rules by which the labels support a result; tipping points of the primary measure, or of
        `every_measure`.
        """
        declared = self.options.declared
        tippings = Tippings(
            self.evaluations,
            self.measures,
            self.queries,
            every_measure=every_measure,
            sampled_negatives=sampled_negatives_of(self.evaluations, declared),
        )
        return LabelRules.of(self.evaluations, self.names, tippings, declared)
