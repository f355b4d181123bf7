"""A page of results from results, or from judgments and runs in any form: gathered here, written by
`pages.page`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from idealrank.analysis.comparison import Comparison, with_companions
from idealrank.analysis.comparison.comparisons import distinct
from idealrank.analysis.comparison.query_table import unfit
from idealrank.analysis.gate import Gated
from idealrank.analysis.robustness import Robustness
from idealrank.conventions import Convention
from idealrank.data.label_kinds import LabelKind
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.errors import IncompatibleError, InputError, OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.inputs.comparison import compare
from idealrank.inputs.evaluation import (
    AnyTable,
    RunEvaluator,
    evaluate,
    is_array,
    refuse_names,
    to_qrels,
    to_run,
    to_runs,
    unnamed_runs,
    warn_of_doubt,
)
from idealrank.inputs.judged_runs import JudgedRuns, refuse_layout
from idealrank.inputs.per_query import QueryValues, clusters_of, slices_of, weights_of
from idealrank.inputs.robustness import robust
from idealrank.inputs.text_sources import Texts
from idealrank.io.sources import input_files
from idealrank.measures.measure import Measure
from idealrank.measures.parse import DEFAULT_MEASURES, MeasureLike, parse_measures
from idealrank.pages.page.html import page_html
from idealrank.pages.report.gather import gather, measures_looked_at
from idealrank.pages.report.material import (
    MOST_ROWS,
    ReportMaterial,
    hashed,
    moment,
    shown_measures,
    with_gate,
)
from idealrank.pages.report.material import robustness as robustness_of
from idealrank.pages.report.query_lists import depth_of
from idealrank.pages.report.saved_page import Page
from idealrank.reports.subject import Made

__all__ = ["report"]

_PAIR = 3  # judgments and two runs
_RUNS = "report(qrels, run), report(qrels, run_a, run_b) or report(labels, scores, group=...)"
_FORM = f"{_RUNS}, or report(evaluation_a, evaluation_b)"


def report(
    result: "Evaluation | Sequence[Evaluation] | Comparison | Gated | AnyTable",
    *others: "Evaluation | AnyTable",
    path: "str | PathLike[str] | None" = None,
    names: "Sequence[str] | None" = None,
    evaluations: "Sequence[Evaluation] | None" = None,
    measures: "MeasureLike | Iterable[MeasureLike] | None" = None,
    convention: "Convention | str | None" = None,
    qrels: AnyTable = None,
    runs: Any = None,
    queries: Texts | None = None,
    documents: Texts | None = None,
    slices: QueryValues = None,
    weights: QueryValues = None,
    clusters: QueryValues = None,
    robustness: "Robustness | bool | None" = None,
    labels_are: LabelKind | None = None,
    sampled_negatives: float | None = None,
    labels_from: str | None = None,
    threads: int = 0,
    progress: "Callable[[int, int], None] | None" = None,
    **layout: Any,
) -> Page:
    """Make a page of results: one HTML file that opens offline, with every query behind the means.

    Parameters
    ----------
    result : Evaluation, several of them, Comparison or Gated; or judgments, then runs
        Evaluation, comparison or gate to show. Or judgments and one or more runs, in any form that
        `evaluate` reads: each run is evaluated, and two or more runs are compared.
    *others : path, or runs, or evaluations
        After a result, the output file, as `path`. After judgments, the runs. After an evaluation,
        the evaluations to compare it with.
    path : path, optional
        Output file; it appears only when complete.
    names : sequence of str, optional
        For judgments and runs: names of the runs, as for `compare`.
    evaluations : sequence of Evaluation, optional
        For a comparison or a gate: the evaluations compared, which hold the value of every query.
    measures : measure or iterable of them, optional
        Measures to show, the primary one first. Default: the compared or gated ones, otherwise all
        except companions; for judgments and runs, the default of `evaluate`.
    convention : str or Convention, optional
        For judgments and runs: the convention, ``standard`` by default. A result has its own.
    qrels, runs : as for `evaluate`, optional
        Judgments, and the runs in the order of the evaluations; for one evaluation, the run alone
        suffices. With them the page has rankings side by side with contributions, curves over
        cutoffs, unjudged shares, and the robust verdict.
    queries, documents : path or mapping of str to str, optional
        Texts by id; the guide on reports lists the files that can be read.
    slices, weights, clusters : mapping, Series, dataframe or path, optional
        Slice, weight and cluster of each query, as for `compare`.
    robustness : Robustness or bool, optional
        Result of `robust` for the first two runs; True to compute it, False to leave it out. By
        default it is computed for a comparison with `qrels` and `runs` of at most four million
        lines.
    labels_are, sampled_negatives, labels_from
        Declared labels for judgments and runs, or evaluations, as for `compare`.
    threads : int
        0 for one a core.
    progress : callable, optional
        Progress callback, called with the number of finished runs and the total.
    **layout
        For arrays of labels and scores: group, offsets, qid, mask, padding; see
        `Lists.from_arrays`.

    Returns
    -------
    Page
        The HTML as a str with ``save(path)``; a notebook shows a link to the saved file. If
        SOURCE_DATE_EPOCH is set, the same input gives the same bytes.

    Raises
    ------
    MissingExtraError
        Jinja2 or vl-convert-python is not installed; the extra ``report`` installs both.
    InputError
        Evaluations are missing, or a file cannot be read or written.
    IncompatibleError
        The evaluations do not belong to the result, or the runs not to the evaluations.
    OptionError
        Options contradict the form of the call.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(8)}
    >>> old, new = ({query: ranking for query in qrels} for ranking in (["y", "x"], ["x", "y"]))
    >>> page = ir.report(qrels, old, new, measures="nDCG@10", names=["old", "new"])
    >>> "new is better" in page
    True
    >>> page = ir.report(
    ...     [2, 1, 0, 1],
    ...     [3, 2, 1, 0],
    ...     [0, 1, 2, 3],
    ...     group=[3, 1],
    ...     convention="lightgbm",
    ...     measures="nDCG@10",
    ... )
    >>> both = [ir.evaluate(qrels, run, "nDCG@10") for run in (old, new)]
    >>> page = ir.report(
    ...     ir.compare(*both),
    ...     evaluations=both,
    ...     qrels=qrels,
    ...     runs=[old, new],
    ...     queries={"q0": "where is x"},
    ... )
    >>> page.splitlines()[0], "new is better" in page or "run (2) is better" in page
    ('<!DOCTYPE html>', True)
    """
    if _is_result(result) and len(others) == 1 and isinstance(others[0], (str, PathLike)):
        if path is not None:
            raise OptionError(f"path: found {others[0]} and {path}, expected one output file")
        path = others[0]
        others = ()
    declared = {
        "labels_are": labels_are,
        "sampled_negatives": sampled_negatives,
        "labels_from": labels_from,
    }
    if others:
        if evaluations is not None or qrels is not None or runs is not None:
            raise OptionError(
                f"evaluations, qrels, runs: found them beside {_RUNS}, expected them with a "
                f"result alone"
            )
        of_queries = {"weights": weights, "clusters": clusters, "slices": slices}
        compared = {**of_queries, "threads": threads, **declared}
        request = _Request(measures=measures, names=names, convention=convention, layout=layout)
        robustness = _robustness_of_arrays((result, *others), request, compared, robustness)
        result, evaluations, qrels, runs = _computed((result, *others), request, compared)
    else:
        _refuse_beside_result({"names": names, "convention": convention, **layout, **declared})

    held = _held(result, evaluations, keep=bool(others) and runs is not None)
    material = ReportMaterial(
        evaluations=held,
        measures=_measures(result, held, measures),
        weights=weights_of(weights),
        clusters=clusters_of(clusters),
        categories=slices_of(slices),
        comparison=result if isinstance(result, Comparison) else None,
        queries=queries,
        documents=documents,
        threads=threads,
        qrels=None if qrels is None else to_qrels(qrels),
        runs=_runs(runs, held),
    )
    if isinstance(result, Gated):
        material = with_gate(material, result)
    if material.qrels is None and material.runs:
        raise InputError(
            "runs: found no qrels beside them, expected both: lists are shown with the grades "
            "of their documents"
        )

    if not isinstance(robustness, Robustness):
        robustness = robustness_of(material, wanted=robustness)
    inputs = hashed(chain.from_iterable(evaluation.provenance.inputs for evaluation in held))
    made = Made(inputs=inputs, when=moment())
    material = replace(material, robustness=robustness, made=made)
    page = Page(page_html(gather(material, progress=progress)))
    return page if path is None else page.save(path)


def _is_result(value: Any) -> bool:
    """Return whether a value is a result, or a sequence of evaluations, and not judgments."""
    if isinstance(value, (Evaluation, Comparison, Gated)):
        return True
    if not isinstance(value, (list, tuple)) or not value:
        return False
    return all(isinstance(element, Evaluation) for element in value)


def _refuse_beside_result(options: "Mapping[str, Any]") -> None:
    for word, value in options.items():
        if value is not None:
            raise OptionError(f"{word}: found a result, whose runs have theirs, expected {_RUNS}")


class _Request(NamedTuple):
    """Options of judgments and runs."""

    measures: "MeasureLike | Iterable[MeasureLike] | None"
    names: "Sequence[str] | None"
    convention: "Convention | str | None"
    layout: "Mapping[str, Any]"

    def given(self, tables: "Sequence[Any]") -> JudgedRuns:
        """Evaluations, or judgments and runs, with these options."""
        return JudgedRuns(
            form=_FORM,
            tables=tuple(tables),
            names=self.names,
            convention=self.convention,
            layout=self.layout,
        )


class _Computed(NamedTuple):
    """A result for judgments and runs, or for evaluations, and what it was made of."""

    result: "Evaluation | Comparison"
    evaluations: "Sequence[Evaluation]"
    # qrels, runs: Read judgments and runs; None for arrays and evaluations
    qrels: "Qrels | None" = None
    runs: "Sequence[Run] | None" = None


def _computed(inputs: "Sequence[Any]", request: _Request, options: dict[str, Any]) -> _Computed:
    """Compute the result for judgments and runs, or for evaluations: runs are evaluated, and
    compared if there are several, as `compare` does.
    """
    measures, names, convention, layout = request
    if any(isinstance(element, Evaluation) for element in inputs):
        held = request.given(inputs).evaluations(measures or ())
        return _Computed(compare(*held, measures=measures, **options), held)

    qrels, *tables = inputs
    refuse_names(names, tables)
    measures = parse_measures(DEFAULT_MEASURES if measures is None else measures)
    if is_array(qrels):
        held = _evaluations_of_arrays(inputs, measures, request)
        qrels, runs = None, None
    else:
        refuse_layout(layout, _FORM)
        qrels = to_qrels(qrels).labelled(
            options["labels_are"], sampled_negatives=options["sampled_negatives"]
        )
        runs = _read_runs(tables, names, qrels)
        evaluator = RunEvaluator(
            qrels=qrels,
            measures=with_companions(measures),
            convention=convention or "standard",
            kept=measures_looked_at(measures),
            top=depth_of(measures),
            threads=options["threads"],
        )
        held = [_evaluated(evaluator, qrels, run) for run in runs]
        for evaluation in held:
            warn_of_doubt(evaluation)
    result = held[0] if len(held) == 1 else compare(*held, measures=measures, **options)
    return _Computed(result=result, evaluations=held, qrels=qrels, runs=runs)


def _evaluations_of_arrays(
    inputs: "Sequence[Any]", measures: Sequence[Measure], request: _Request
) -> list[Evaluation]:
    """Evaluate the scores of one or more runs against an array of labels."""
    _, names, convention, layout = request
    labels, *scores = inputs
    if len(scores) > 1:
        return list(request.given(inputs).evaluations(measures))
    name = names[0] if names else None
    with_companion_measures = with_companions(measures)
    evaluation = evaluate(
        labels, scores[0], with_companion_measures, convention or "standard", name=name, **layout
    )
    return [evaluation]


def _read_runs(
    tables: "Sequence[Any]", names: "Sequence[str] | None", qrels: Qrels
) -> "Sequence[Run]":
    """Read the runs, with the given names; a single run takes the first name."""
    if len(tables) > 1:
        return to_runs(tables, names, judgments=qrels)
    run = to_run(tables[0], name=names[0] if names else None, judgments=qrels)
    return [run.renamed(names[0]) if names else run]


def _evaluated(evaluator: RunEvaluator, qrels: Qrels, run: Run) -> Evaluation:
    """Evaluate a run as `evaluate` does, with its inputs and sources."""
    evaluation = evaluator.evaluate(run)
    inputs = input_files((*qrels.paths, *run.paths))
    provenance = replace(evaluation.provenance, inputs=inputs)
    return replace(evaluation, provenance=provenance, sources=(qrels, run))


def _robustness_of_arrays(
    inputs: "Sequence[Any]",
    request: _Request,
    options: Mapping[str, Any],
    wanted: "Robustness | bool | None",
) -> "Robustness | bool | None":
    """Compute the robust verdict on the first two runs of arrays, since later steps have no arrays;
    otherwise return `wanted`.
    """
    labels, *scores = inputs
    if wanted is False or isinstance(wanted, Robustness) or not is_array(labels):
        return wanted
    if len(inputs) < _PAIR or (wanted is None and 2 * np.size(labels) > MOST_ROWS):
        return wanted
    measures = DEFAULT_MEASURES if request.measures is None else request.measures
    measure, *_ = parse_measures(measures)
    if unfit(measure):
        return False
    a, b, *_ = scores
    names = list(request.names or unnamed_runs(len(scores)))[:2]
    way = {name: options[name] for name in ("weights", "clusters", "threads")}
    return robust(
        labels,
        a,
        b,
        measure=measure,
        convention=request.convention,
        names=names,
        **way,
        **request.layout,
    )


def _held(
    result: Any, evaluations: "Sequence[Evaluation] | None", *, keep: bool
) -> tuple[Evaluation, ...]:
    """Return the evaluations behind a result; they `keep` their hits if they were made from the
    runs that the page shows.
    """
    held = _evaluations(result, evaluations)
    return held if keep else tuple(replace(evaluation, judged=None) for evaluation in held)


def _evaluations(result: Any, evaluations: "Sequence[Evaluation] | None") -> tuple[Evaluation, ...]:
    """Return the evaluations behind a result: the run of a gate first, otherwise in the order of
    the comparison.
    """
    if isinstance(result, Evaluation):
        return (result,)
    # several evaluations, which are shown without a comparison
    if not isinstance(result, (Comparison, Gated)):
        held = tuple(result) if isinstance(result, Iterable) else ()
        if not held or not all(isinstance(evaluation, Evaluation) for evaluation in held):
            raise InputError(
                f"result: found {type(result).__name__}, expected an Evaluation, several, a "
                f"Comparison or a Gated, or {_RUNS}"
            )
        return held
    if evaluations is None:
        kind = type(result).__name__
        raise InputError(
            f"evaluations: found none, expected the evaluations of the {kind}: it holds no "
            f"values of single queries"
        )
    names = result.names if isinstance(result, Comparison) else (result.run, *result.baselines)
    by_name = dict(
        zip(distinct([evaluation.name for evaluation in evaluations]), evaluations, strict=True)
    )
    if set(by_name) != set(names):
        raise IncompatibleError(
            f"evaluations: found {', '.join(by_name)}, expected {', '.join(names)}"
        )
    return tuple(by_name[name] for name in names)


def _measures(
    result: Any, held: Sequence[Evaluation], measures: "MeasureLike | Iterable[MeasureLike] | None"
) -> tuple[Measure, ...]:
    """Choose the measures to show; each was evaluated."""
    evaluated = held[0].measures
    if measures is not None:
        texts = list(map(str, parse_measures(measures)))
    elif isinstance(result, Comparison):
        texts = list(result.pairs[0].measures)
    elif isinstance(result, Gated) and result.checks:
        texts = list(dict.fromkeys(check.measure for check in result.checks))
    else:
        texts = list(map(str, shown_measures(evaluated)))
    by_text = {str(measure): measure for measure in evaluated}
    if lacking := [text for text in texts if text not in by_text]:
        raise IncompatibleError(
            f"{lacking[0]}: run {held[0].name!r} was not evaluated by it, only by "
            f"{', '.join(by_text)}"
        )
    return tuple(by_text[text] for text in texts)


def _runs(runs: Any, held: Sequence[Evaluation]) -> tuple[Run, ...]:
    """Read the runs of the evaluations."""
    if runs is None:
        return ()
    listed = list(runs) if isinstance(runs, (list, tuple)) else [runs]
    if len(listed) != len(held):
        raise InputError(
            f"runs: found {len(listed)}, expected one for each of the {len(held)} evaluations, in "
            f"their order"
        )
    return tuple(
        to_run(run, name=evaluation.name if not isinstance(run, Run) else None)
        for run, evaluation in zip(listed, held, strict=True)
    )
