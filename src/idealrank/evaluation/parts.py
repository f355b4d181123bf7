"""Parts of a collection that was split by query: each is evaluated by itself, and they merge into
the evaluation of the whole.
"""

from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np

from idealrank.conventions import Convention
from idealrank.data.join import join
from idealrank.data.label_kinds import merged_labels
from idealrank.data.qrels import Qrels, added
from idealrank.data.run import Run
from idealrank.errors import IncompatibleError, InputError
from idealrank.evaluation.batches import measure_parts, splits
from idealrank.evaluation.coverage import look_swapped, warn_of_coverage, warn_of_threshold
from idealrank.evaluation.evaluate import Evaluation, Provenance, depth_of_hits
from idealrank.evaluation.label_needs import warn_of_labels
from idealrank.measures.measure import Measure
from idealrank.version import __version__


def merged(one: Evaluation, other: Evaluation) -> Evaluation:
    """Merge two parts; see `Evaluation.merge`."""
    _refuse_other_ways(one, other)
    ours, theirs = one.provenance.judgments, other.provenance.judgments
    together = (
        ours is not None
        and ours == theirs
        and one.coverage.queries_in_qrels == other.coverage.queries_in_qrels > 0
    )
    queries = [
        set(part.queries) if together else {*part.queries, *part.coverage.missing_queries}
        for part in (one, other)
    ]
    if shared := queries[0] & queries[1]:
        advice = (
            "; give each part the judgments of its own queries, or take a convention with "
            "missing=left-out"
            if together
            else ""
        )
        raise IncompatibleError(
            f"query {min(shared)!r} is in both parts ({len(shared)} are); expected each query "
            f"in one part{advice}"
        )
    return Evaluation(
        name=one.name if one.name == other.name else f"{one.name}+{other.name}",
        queries=[*one.queries, *other.queries],
        measures=one.measures,
        values=np.concatenate((one.values, other.values)),
        scored=np.concatenate((one.scored, other.scored)),
        coverage=one.coverage.plus(other.coverage, shared_judgments=together),
        provenance=replace(
            one.provenance,
            inputs=(
                *one.provenance.inputs,
                *(i for i in other.provenance.inputs if i not in one.provenance.inputs),
            ),
            judgments=ours if together else added(ours, theirs),
            labels=one.provenance.labels
            if together
            else merged_labels(one.provenance.labels, other.provenance.labels),
        ),
        path=one.path,
        texts={
            text: [*one.texts.get(text, ()), *other.texts.get(text, ())]
            for text in {**one.texts, **other.texts}
        },
    )


def _refuse_other_ways(one: Evaluation, other: Evaluation) -> None:
    """Refuse parts that were not measured in one way; the error names what differs."""
    ours, theirs = one.convention, other.convention
    # two functions of one name have one fingerprint
    if (ours.alignment, ours.rules) != (theirs.alignment, theirs.rules):
        pairs = [
            f"{switch.name}={getattr(mine, switch.name)} and "
            f"{switch.name}={getattr(yours, switch.name)}"
            for mine, yours in ((ours.alignment, theirs.alignment), (ours.rules, theirs.rules))
            for switch in fields(mine)
            if getattr(mine, switch.name) != getattr(yours, switch.name)
        ]
        raise IncompatibleError(
            f"found conventions {ours} and {theirs} ({'; '.join(pairs)}); expected one "
            f"convention for both parts"
        )
    if one.provenance.max_documents != other.provenance.max_documents:
        raise IncompatibleError(
            f"found lists cut at {one.provenance.max_documents} and at "
            f"{other.provenance.max_documents} documents; expected one cut"
        )
    if one.measures != other.measures:
        ours_, theirs_ = (", ".join(map(str, part.measures)) for part in (one, other))
        same = (
            ", since two different functions of one name are two measures"
            if ours_ == theirs_
            else ""
        )
        raise IncompatibleError(f"found measures {ours_} and {theirs_}; expected the same{same}")


def evaluate_part(
    qrels: Qrels,
    run: Run,
    measures: Sequence[Measure],
    convention: Convention,
    *,
    max_documents: int | None = None,
    threads: int = 1,
) -> Evaluation:
    """Evaluate some queries of a collection, for `Evaluation.merge`: without warnings, and also
    where no query counts.

    `warn_of_whole` says of the merged evaluation what `evaluate` says.
    """
    resolved = tuple(measure.under(convention) for measure in measures)
    depth = depth_of_hits(resolved, qrels.labels)
    judged = join(
        qrels, run, convention.alignment, depth=depth, max_documents=max_documents, threads=threads
    )
    measured = measure_parts(
        judged.parts() if splits(resolved) else [judged], judged.n_queries, resolved
    )
    coverage = measured.coverage.named(resolved, measures)
    coverage = replace(coverage, looks_swapped=look_swapped(qrels, run))
    provenance = Provenance(
        version=__version__,
        convention=convention,
        measures=tuple(map(str, resolved)),
        max_documents=max_documents,
        judgments=qrels.fingerprint,
        labels=qrels.labels,
    )
    texts = {str(measures[place]): words for place, words in measured.texts.items()}
    return Evaluation(
        name=run.name,
        queries=judged.queries,
        measures=tuple(measures),
        values=measured.values,
        scored=measured.scored,
        coverage=coverage,
        provenance=provenance,
        path="",
        texts=texts,
    )


def warn_of_whole(evaluation: Evaluation) -> None:
    """Warn of what `evaluate` warns of, once all parts are merged."""
    coverage, convention = evaluation.coverage, evaluation.convention
    if not len(evaluation.queries):
        raise InputError(
            f"no query to evaluate: found {coverage.queries_in_qrels} judged queries, run "
            f"{evaluation.name!r} answers "
            f"{coverage.queries_in_run}, none of which counts under convention "
            f"{convention.name}; do the query ids of both match?"
        )
    resolved = [measure.under(convention) for measure in evaluation.measures]
    warn_of_threshold(resolved, np.array([coverage.best_grade]), "the judgments")
    warn_of_labels(evaluation.measures, evaluation.provenance.labels, coverage)
    warn_of_coverage(convention, coverage, 0, evaluation.name)
