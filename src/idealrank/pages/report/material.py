"""Results and inputs of a page, verdicts that are added to them, and its origin: the input files
by hash, and when it was made.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import PurePath
from threading import Thread
from typing import Any

from idealrank.analysis.comparison import Comparison, Study, StudyOptions, compared
from idealrank.analysis.comparison.comparisons import distinct
from idealrank.analysis.comparison.label_basis import DeclaredLabels
from idealrank.analysis.comparison.query_table import judgedness_among, unfit
from idealrank.analysis.comparison.slice_membership import Categories
from idealrank.analysis.gate import Gated
from idealrank.analysis.robustness import Robustness, VariedComparison, robust_runs
from idealrank.data.join import Judgments
from idealrank.data.one_query import in_memory, rows_about
from idealrank.data.run import Run
from idealrank.errors import IncompatibleError, OptionError
from idealrank.evaluation.evaluate import Evaluation, InputRecord
from idealrank.evaluation.judged_hits import JudgedHits
from idealrank.evaluation.sweep import JudgmentsSource
from idealrank.inputs.text_sources import Texts
from idealrank.measures.measure import Measure
from idealrank.reports.subject import Made, leading_pairs
from idealrank.stats.randomness import in_order


@dataclass(frozen=True, kw_only=True, eq=False)
class ReportMaterial:
    """Results, and where they come from."""

    evaluations: tuple[Evaluation, ...]  # One per run, on the same measures
    measures: tuple[Measure, ...]  # Those asked for, the one that decides first
    # comparison, gated, robustness: Further results; the comparison of these evaluations, in their
    # order
    comparison: Comparison | None = None
    gated: Gated | None = None
    robustness: Robustness | None = None
    # Lists, contributions and curves need judgments with grades and the runs
    qrels: "Judgments | None" = None
    runs: tuple[Run, ...] = ()  # In the order of the evaluations; empty where they are not at hand
    # Of each evaluation, where runs are not at hand: judged documents with their ranks
    hits: tuple[JudgedHits | None, ...] = ()
    # weights, clusters: Of each query, as the comparison has them
    weights: Mapping[str, float] | None = None
    clusters: Mapping[str, object] | None = None
    categories: Categories | None = None  # Slices of each query
    # queries, documents: Texts by id
    queries: Texts | None = None
    documents: Texts | None = None
    made: Made = field(default_factory=Made)  # Where it all comes from
    threads: int = 0  # 0 for one a core

    @property
    def level(self) -> float:
        """Confidence level of the intervals."""
        return 0.95 if self.comparison is None else self.comparison.method.level

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Numbers of the runs that are compared, the pair that is shown first in front."""
        if self.comparison is None:
            return []
        place = {name: number for number, name in enumerate(self.comparison.names)}
        return [(place[pair.a], place[pair.b]) for pair in leading_pairs(self.comparison)]


def lined_up(
    evaluations: Sequence[Evaluation], names: Sequence[str] | None = None
) -> tuple[Evaluation, ...]:
    """Give evaluations distinct names, and put all of them on the same queries in the same order; a
    query that an evaluation lacks has no value.
    """
    names = distinct([evaluation.name for evaluation in evaluations]) if names is None else names
    every = chain.from_iterable(evaluation.queries for evaluation in evaluations)
    queries = list(dict.fromkeys(every))
    first = evaluations[0].measures
    for evaluation in evaluations:
        if evaluation.measures != first:
            ours, theirs = (
                ", ".join(map(str, measures)) for measures in (first, evaluation.measures)
            )
            raise IncompatibleError(
                f"{evaluation.name}: found measures {theirs}, expected the measures of "
                f"{evaluations[0].name}: {ours}"
            )
    return tuple(
        replace(evaluation.on(queries), name=name)
        for evaluation, name in zip(evaluations, names, strict=True)
    )


def shown_measures(evaluated: Sequence[Measure]) -> tuple[Measure, ...]:
    """Choose the measures that a page shows: numbers, without the companions of other measures."""
    beside = judgedness_among(evaluated)
    return tuple(
        measure for measure in evaluated if measure not in beside and measure.aggregate != "text"
    )


def moment() -> str:
    """Return the time in UTC and ISO 8601, to the second; SOURCE_DATE_EPOCH replaces it if it is
    set, so that the same input gives the same bytes.

    The SOURCE_DATE_EPOCH specification, https://reproducible-builds.org/specs/source-date-epoch/
    """
    seconds = os.environ.get("SOURCE_DATE_EPOCH", "")
    try:
        when = datetime.fromtimestamp(int(seconds), UTC) if seconds else datetime.now(UTC)
    except (ValueError, OverflowError, OSError):
        raise OptionError(
            f"SOURCE_DATE_EPOCH={seconds!r}: expected whole seconds since 1970"
        ) from None
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


def hashed(inputs: Iterable[InputRecord]) -> tuple[tuple[str, str], ...]:
    """Return the name without folder and the SHA-256 of each file, each path once; a file that can
    no longer be read is left out.
    """
    once = list({record.path: record for record in inputs}.values())
    digests = in_order(lambda number: _digest(once[number]), len(once), None)
    return tuple(
        (PurePath(record.path).name, digest)
        for record, digest in zip(once, digests, strict=True)
        if digest is not None
    )


def hashed_ahead(inputs: Iterable[InputRecord]) -> Callable[[], tuple[tuple[str, str], ...]]:
    """Start `hashed` on a thread of its own; the returned function waits for the result."""
    results: list[tuple[tuple[str, str], ...]] = []
    inputs = list(inputs)
    # a command that fails does not wait for it
    thread = Thread(target=lambda: results.append(hashed(inputs)), daemon=True)
    thread.start()

    def result() -> tuple[tuple[str, str], ...]:
        thread.join()
        return results[0] if results else hashed(inputs)  # which raises what the thread could not

    return result


def _digest(record: InputRecord) -> str | None:
    try:
        return record.sha256
    except OSError:
        return None


MOST_ROWS = 4_000_000
"""Documents of both runs together, up to which a page has the robust verdict by default; it takes
about ten seconds then.
"""


def against_baselines(
    run: Evaluation,
    baselines: Sequence[Evaluation],
    measures: Sequence[Measure],
    options: StudyOptions,
) -> Comparison:
    """Compare a run with each of its baselines: every difference is run - baseline."""
    study = Study.of([*baselines, run], measures, options)
    if len(baselines) == 1:
        return compared(study)
    # The run is the baseline of the comparison, so that every other evaluation is paired with it;
    # the pairs are turned afterwards.
    from_run = compared(study, baseline=study.names[-1])
    pairs = tuple(pair.reversed() for pair in from_run.pairs)
    return replace(from_run, pairs=pairs, method=replace(from_run.method, baseline=None))


def _names(run: Evaluation, baselines: Sequence[Evaluation]) -> tuple[str, ...]:
    """Distinct names of the baselines, and then of the run."""
    return distinct([evaluation.name for evaluation in (*baselines, run)])


def with_gate(material: ReportMaterial, gated: Gated) -> ReportMaterial:
    """Add a gate and the comparison of its run with its baselines; their evaluations come first."""
    run, *baselines = material.evaluations
    if not baselines:
        return replace(material, gated=gated)
    options = StudyOptions(
        weights=material.weights,
        clusters=material.clusters,
        threads=material.threads or None,
        judgments="different" if gated.judgments == "different" else "same",
        declared=_declared(gated, _names(run, baselines)),
    )
    comparison = against_baselines(run, baselines, material.measures, options)
    comparison = comparison.renamed([*gated.baselines, gated.run])
    return replace(
        material,
        gated=gated,
        comparison=comparison,
        evaluations=(*baselines, run),
        runs=_first_to_end(material.runs),
        hits=_first_to_end(material.hits),
    )


def _first_to_end(of_runs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Move the first run's part to the end: a comparison has the run of a gate last."""
    return (*of_runs[1:], *of_runs[:1])


def _declared(gated: Gated, names: Sequence[str]) -> DeclaredLabels:
    """Return what was declared for a gate, by the names that its baselines and then its run have in
    the comparison.
    """
    renamed = dict(zip((*gated.baselines, gated.run), names, strict=True))
    return DeclaredLabels.again(gated.labels, renamed.get(gated.labels_from or ""))


def robustness(
    material: ReportMaterial,
    judgments: "JudgmentsSource | None" = None,
    *,
    wanted: bool | None = None,
    tell: "Callable[[int, int], None] | None" = None,
) -> Robustness | None:
    """Run the robustness analysis of the leading pair by the first measure, tested like the
    comparison.
    """
    source = material.qrels if judgments is None else judgments
    comparison = material.comparison
    if wanted is False or source is None or not material.runs:
        return None
    if comparison is None or not comparison.pairs:
        return None
    measure, (a, b) = material.measures[0], material.pairs[0]
    run_a, run_b = material.runs[a], material.runs[b]
    if unfit(measure) or (wanted is None and rows_about(run_a) + rows_about(run_b) > MOST_ROWS):
        return None
    method, names = comparison.method, comparison.names
    # the runs may have other names than in the comparison
    own_names = {names[a]: run_a.name, names[b]: run_b.name}
    labels_from = own_names.get(comparison.labels_from or "")
    options = StudyOptions(
        test=method.test,  # type: ignore[arg-type]
        level=method.level,
        margin=method.margin,
        weights=material.weights,
        clusters=material.clusters,
        threads=material.threads,
        declared=DeclaredLabels.again(comparison.labels, labels_from),
    )
    convention = material.evaluations[0].convention
    varied = VariedComparison(measure=measure, convention=convention, options=options)
    return robust_runs(source, (in_memory(run_a), in_memory(run_b)), varied, tell=tell)
