"""Parts of a collection that was split by query: each is evaluated by itself, and they merge into
the evaluation of the whole.
"""

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace

import numpy as np

from idealrank.conventions import Convention
from idealrank.data.alignment import Alignment
from idealrank.data.join import join
from idealrank.data.label_kinds import merged_labels
from idealrank.data.qrels import Qrels, added
from idealrank.data.run import Run
from idealrank.errors import IncompatibleError, InputError
from idealrank.evaluation.batches import measure_judged
from idealrank.evaluation.coverage import look_swapped, warn_of_coverage, warn_of_threshold
from idealrank.evaluation.evaluate import Evaluation, Provenance, depth_of_hits
from idealrank.evaluation.label_needs import warn_of_labels
from idealrank.measures.measure import Measure
from idealrank.measures.rules import Rules
from idealrank.version import __version__


def merged(first: Evaluation, other: Evaluation) -> Evaluation:
    """Merge two parts; see `Evaluation.merge`."""
    _refuse_other_ways(first, other)
    judgments = first.provenance.judgments
    other_judgments = other.provenance.judgments
    # Both parts were evaluated with the judgments of the whole collection, which count once.
    shared_judgments = (
        judgments is not None
        and judgments == other_judgments
        and first.coverage.queries_in_qrels == other.coverage.queries_in_qrels > 0
    )
    first_queries = _queries_of(first, shared_judgments=shared_judgments)
    if shared := first_queries & _queries_of(other, shared_judgments=shared_judgments):
        advice = (
            "; give each part the judgments of its own queries, or take a convention with "
            "missing=left-out"
            if shared_judgments
            else ""
        )
        raise IncompatibleError(
            f"query {min(shared)!r} is in both parts ({len(shared)} are); expected each query "
            f"in one part{advice}"
        )
    first_inputs = first.provenance.inputs
    more_inputs = (record for record in other.provenance.inputs if record not in first_inputs)
    labels = first.provenance.labels
    if not shared_judgments:
        labels = merged_labels(labels, other.provenance.labels)
    return Evaluation(
        name=first.name if first.name == other.name else f"{first.name}+{other.name}",
        queries=[*first.queries, *other.queries],
        measures=first.measures,
        values=np.concatenate((first.values, other.values)),
        scored=np.concatenate((first.scored, other.scored)),
        coverage=first.coverage.plus(other.coverage, shared_judgments=shared_judgments),
        provenance=replace(
            first.provenance,
            inputs=(*first_inputs, *more_inputs),
            judgments=judgments if shared_judgments else added(judgments, other_judgments),
            labels=labels,
        ),
        path=first.path,
        texts={
            text: [*first.texts.get(text, ()), *other.texts.get(text, ())]
            for text in {**first.texts, **other.texts}
        },
    )


def _queries_of(part: Evaluation, *, shared_judgments: bool) -> set[str]:
    """Return the queries of a part, with the judged ones that its run misses.

    Under shared judgments, each part misses the queries of the other.
    """
    if shared_judgments:
        return set(part.queries)
    return {*part.queries, *part.coverage.missing_queries}


def _refuse_other_ways(first: Evaluation, other: Evaluation) -> None:
    """Refuse parts that were not measured in one way; the error names what differs."""
    convention = first.convention
    other_convention = other.convention
    # Compared as values, not by fingerprint: two different functions of one name have one
    # fingerprint.
    if (convention.alignment, convention.rules) != (
        other_convention.alignment,
        other_convention.rules,
    ):
        differing = [
            *_differing_switches(convention.alignment, other_convention.alignment),
            *_differing_switches(convention.rules, other_convention.rules),
        ]
        raise IncompatibleError(
            f"found conventions {convention} and {other_convention} ({'; '.join(differing)}); "
            "expected one convention for both parts"
        )
    if first.provenance.max_documents != other.provenance.max_documents:
        raise IncompatibleError(
            f"found lists cut at {first.provenance.max_documents} and at "
            f"{other.provenance.max_documents} documents; expected one cut"
        )
    if first.measures != other.measures:
        texts = ", ".join(map(str, first.measures))
        other_texts = ", ".join(map(str, other.measures))
        reason = (
            ", since two different functions of one name are two measures"
            if texts == other_texts
            else ""
        )
        raise IncompatibleError(
            f"found measures {texts} and {other_texts}; expected the same{reason}"
        )


def _differing_switches(first: Alignment | Rules, other: Alignment | Rules) -> Iterator[str]:
    for switch in fields(first):
        value = getattr(first, switch.name)
        other_value = getattr(other, switch.name)
        if value != other_value:
            yield f"{switch.name}={value} and {switch.name}={other_value}"


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
    measured = measure_judged(judged, resolved)
    coverage = measured.coverage.named(resolved, measures)
    coverage = replace(coverage, looks_swapped=look_swapped(qrels, run))
    provenance = Provenance(
        version=__version__,
        convention=convention,
        measures=tuple(map(str, resolved)),
        max_documents=max_documents,
        judgments=qrels.fingerprint,
        labels=qrels.labels,
        query_word=qrels.query_word,
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
    coverage = evaluation.coverage
    convention = evaluation.convention
    if not len(evaluation.queries):
        raise InputError(
            f"no query to evaluate: found {coverage.queries_in_qrels} judged queries, run "
            f"{evaluation.name!r} answers {coverage.queries_in_run}, none of which counts under "
            f"convention {convention.name}; do the query ids of both match?"
        )
    resolved = [measure.under(convention) for measure in evaluation.measures]
    warn_of_threshold(resolved, np.array([coverage.best_grade]), "the judgments")
    warn_of_labels(evaluation.measures, evaluation.provenance.labels, coverage)
    # Parts are made of rows of tables, which have no comment lines.
    warn_of_coverage(convention, coverage, doubtful_comments=0, name=evaluation.name)
