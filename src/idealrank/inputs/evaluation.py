"""The front door: evaluate anything a user may hold. The core takes only Qrels, Run and Measure;
this file converts.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from idealrank._kernel import Progress
from idealrank._lazy import annotation
from idealrank.conventions import Convention, array_convention
from idealrank.data.eligibility import Breach
from idealrank.data.interchange import by_query, holds_lists, is_frame, is_query
from idealrank.data.join import Judgments, is_judgments, tables_of
from idealrank.data.label_kinds import LabelKind
from idealrank.data.lists import Lists
from idealrank.data.qrels import Qrels, QrelsDuplicates
from idealrank.data.run import Run
from idealrank.data.types import FloatArray
from idealrank.errors import InputError, OptionError, shown, warn
from idealrank.evaluation import evaluate as core
from idealrank.evaluation.batches import list_values
from idealrank.evaluation.coverage import VALIDATE, look_like_grades
from idealrank.evaluation.evaluate import Evaluation
from idealrank.inputs.eligible_documents import candidates_of, restricted
from idealrank.io.complaints import Tell
from idealrank.io.label_grades import checked_labels, graded
from idealrank.io.matrices import (
    is_id_matrix,
    is_sparse,
    qrels_of_sparse,
    run_of_ids,
    run_of_sparse,
)
from idealrank.io.read import read_qrels, read_run
from idealrank.io.sources import input_files
from idealrank.io.table_columns import Columns
from idealrank.measures.cutoffs import Cutoff
from idealrank.measures.dcg import DCG, NDCG
from idealrank.measures.discounts import DiscountLike
from idealrank.measures.gains import GainLike
from idealrank.measures.measure import Measure
from idealrank.measures.parse import MeasureLike, default_measures

if TYPE_CHECKING:
    from idealrank.evaluation.judged_hits import JudgedHits
else:
    JudgedHits = annotation("idealrank.evaluation.judged_hits", "JudgedHits")

_NO_IDS = "; arrays have no document ids"

AnyTable: TypeAlias = Any
"""A path, a mapping, a dataframe, or what is already `Qrels` or `Run`."""

__all__ = ["dcg", "evaluate", "ndcg", "read_qrels", "read_run"]


def to_qrels(
    qrels: AnyTable,
    *,
    duplicates: QrelsDuplicates = "error",
    columns: Columns = None,
    labels: Mapping[str, float] | None = None,
    tell: Tell | None = None,
) -> Qrels:
    """Make judgments of a path, a mapping ``{query: {document: grade}}`` or ``{query: [document,
    ...]}``, a dataframe, a pandas Series of lists by query, a sparse matrix, or `Qrels`; `labels`
    has the grades of labels that are words.
    """
    if isinstance(qrels, Qrels):
        return qrels
    if isinstance(qrels, Mapping):
        return Qrels(graded(qrels, checked_labels(labels)) if labels else qrels)
    if holds_lists(qrels):
        return Qrels(by_query(qrels, "qrels"))
    if is_sparse(qrels):
        return qrels_of_sparse(qrels, duplicates)
    if isinstance(qrels, (str, PathLike)) or _is_paths(qrels) or is_frame(qrels):
        return read_qrels(qrels, duplicates=duplicates, columns=columns, labels=labels, tell=tell)
    hint = _NO_IDS if is_array(qrels) else ""
    raise InputError(
        f"qrels: found {type(qrels).__name__}, expected a path, a mapping, a dataframe, or "
        f"Qrels{hint}"
    )


def to_judgments(
    table: AnyTable,
    duplicates: QrelsDuplicates,
    columns: Columns = None,
    labels: Mapping[str, float] | None = None,
) -> Judgments:
    """Return judgments of any kind that are read already, or read them as `to_qrels` does."""
    if is_judgments(table):
        return table
    return to_qrels(table, duplicates=duplicates, columns=columns, labels=labels)


def with_labels(
    judgments: Judgments, labels_are: LabelKind | None, sampled_negatives: float | None
) -> Judgments:
    """Return judgments with a declared kind of labels, which preferences and several assessors
    lack.
    """
    if labels_are is None and sampled_negatives is None:
        return judgments
    if not isinstance(judgments, Qrels):
        raise OptionError(
            f"labels_are, sampled_negatives: found {type(judgments).__name__}, expected grades: "
            "Qrels"
        )
    return judgments.labelled(labels_are, sampled_negatives=sampled_negatives)


def to_run(
    run: AnyTable, *, name: str | None = None, columns: Columns = None, judgments: AnyTable = None
) -> Run:
    """Make a run from a path, a mapping ``{query: {document: score}}`` or ``{query: [document,
    ...]}``, a dataframe, a matrix of ids, a sparse matrix, or `Run`.

    A file of scores alone takes its queries from the file of `judgments`.
    """
    if isinstance(run, Run):
        return run
    if isinstance(run, Mapping):
        _refuse_responses(run)
        return Run(run, name=name or "run")
    if holds_lists(run):
        return Run(by_query(run, "run"), name=name or "run")
    if is_sparse(run):
        return run_of_sparse(run, name or "run")
    if is_id_matrix(run):
        return run_of_ids(run, name or "run")
    if isinstance(run, (str, PathLike)) or _is_paths(run) or is_frame(run):
        return read_run(run, name=name, columns=columns, labels=_labels_file(judgments))
    hint = ""
    if is_array(run):
        hint = (
            _NO_IDS if is_array(judgments) else "; labels and scores are both arrays or both files"
        )
    raise InputError(
        f"run: found {type(run).__name__}, expected a path, a mapping, a dataframe, or Run{hint}"
    )


def to_streamed_run(
    run: AnyTable,
    memory: "str | int | None",
    *,
    keep_unjudged: bool = False,
    name: str | None = None,
    columns: Columns = None,
) -> Run:
    """Make a run that is evaluated in parts, from files or from a query that was not run yet.

    Examples
    --------
    >>> import polars
    >>> frame = polars.LazyFrame({"qid": ["q1"], "docno": ["d1"], "score": [0.5]})
    >>> to_streamed_run(frame, "2GB")
    Run('run': in parts)
    """
    if keep_unjudged:
        raise OptionError(
            "keep_unjudged: found a budget of memory too, expected one of them, since unjudged "
            "documents are kept of runs in memory"
        )
    if is_query(run):
        from idealrank.io.run_stream import stream_frame  # noqa: PLC0415  (few pass one)

        return stream_frame(run, memory, columns=columns, name=name or "run")
    if isinstance(run, (str, PathLike)) or _is_paths(run):
        from idealrank.io.run_stream import stream_run  # noqa: PLC0415  (few ask for it)

        return stream_run(run, memory or 0, name=name, columns=columns)
    raise OptionError(
        f"memory: found {type(run).__name__}, expected a path, a Polars lazy frame or a DuckDB "
        "relation"
    )


def _refuse_responses(run: Mapping[Any, Any]) -> None:
    """Refuse the responses of a search engine's client, whose hits are no mapping of documents."""
    # One response is {"hits": {"hits": [...]}}; several are {"responses": [response, ...]} or a
    # mapping of query to response.
    several = run.get("responses")
    first = next(iter(run.values()), None)
    if isinstance(several, list) and several:
        first = several[0]
    hits = [response.get("hits") for response in (run, first) if isinstance(response, Mapping)]
    if any(isinstance(found, Mapping) and isinstance(found.get("hits"), list) for found in hits):
        raise InputError(
            "run: found responses of a search engine, expected {query: {document: score}}",
            hint="for each query, {hit['_id']: hit['_score'] for hit in response['hits']['hits']}; "
            "or save them as JSON for read_run",
            command_hint="save them as JSON",
        )


def _labels_file(judgments: AnyTable) -> "str | PathLike[str] | None":
    """Return the only file of the judgments, if it can be read again."""
    paths: Sequence[Any] = (
        [judgments] if isinstance(judgments, (str, PathLike)) else getattr(judgments, "paths", ())
    )
    return paths[0] if len(paths) == 1 and paths[0] != "-" else None


def unnamed_runs(count: int) -> tuple[str, ...]:
    """Make names for runs that have none."""
    if count == 2:
        return ("A", "B")
    return tuple(f"run {number}" for number in range(1, count + 1))


def to_runs(
    runs: Iterable[AnyTable],
    names: Sequence[str] | None = None,
    *,
    unnamed: Sequence[str] = (),
    judgments: AnyTable = None,
) -> list[Run]:
    """Read runs as `to_run` does, with the given names; without names, runs that have none get
    `unnamed`, or `unnamed_runs`.
    """
    tables = list(runs)
    refuse_names(names, tables)
    read_runs = []
    given_names = names or [""] * len(tables)
    default_names = unnamed or unnamed_runs(len(tables))
    for table, given_name, default_name in zip(tables, given_names, default_names, strict=True):
        is_unnamed = isinstance(table, Mapping) or any(
            is_kind(table) for is_kind in (is_frame, holds_lists, is_sparse, is_id_matrix)
        )
        name = given_name or (default_name if is_unnamed else None)
        run = to_run(table, name=name, judgments=judgments)
        read_runs.append(run if given_name in ("", run.name) else run.renamed(given_name))
    return read_runs


def refuse_names(names: object, runs: Sequence[object], what: str = "runs") -> None:
    """Refuse names that are not a different text for each run."""
    if names is None:
        return
    listed: list[object] = [names]
    are_texts = False
    if isinstance(names, Collection) and not isinstance(names, str | Set | Mapping):
        listed = list(names)
        are_texts = all(isinstance(name, str) for name in listed)
    if not are_texts or len(listed) != len(runs) or len(set(listed)) != len(listed):
        shown_names = shown(", ".join(map(repr, listed)) or "none")
        raise InputError(
            f"names: found {shown_names}, expected a different name for each of {len(runs)} {what}"
        )


def _is_paths(value: Any) -> bool:
    return (
        isinstance(value, (list, tuple))
        and bool(value)
        and all(isinstance(part, (str, PathLike)) for part in value)
    )


def is_array(value: Any) -> bool:
    """Return whether this is labels or scores (NumPy arrays, tensors, nested lists of numbers), not
    a table of ids.
    """
    if (
        is_judgments(value)
        or isinstance(value, (Run, Mapping, str, PathLike))
        or _is_paths(value)
        or is_frame(value)
    ):
        return False
    if holds_lists(value):
        return False
    return isinstance(value, (np.ndarray, Sequence)) or hasattr(value, "__array__")


def evaluate(
    qrels: AnyTable,
    run: AnyTable,
    measures: "MeasureLike | Iterable[MeasureLike] | None" = None,
    convention: "Convention | str" = "standard",
    *,
    name: str | None = None,
    columns: Columns = None,
    qrels_columns: Columns = None,
    run_columns: Columns = None,
    labels: Mapping[str, float] | None = None,
    group: Any = None,
    offsets: Any = None,
    qid: Any = None,
    mask: Any = None,
    padding: float | None = None,
    max_documents: int | None = None,
    keep_unjudged: bool = False,
    labels_are: LabelKind | None = None,
    sampled_negatives: float | None = None,
    candidates: Any = None,
    exclude: Any = None,
    permitted: Any = None,
    breach: Breach = "removed",
    memory: "str | int | None" = None,
    threads: int = 0,
    progress: Progress | None = None,
) -> Evaluation:
    """Evaluate one run from files, mappings, dataframes or arrays.

    Parameters
    ----------
    qrels : path, mapping, dataframe, Qrels, PreferenceQrels, AssessorQrels, or array of labels
        Judgments; preferences and per-assessor judgments are for the measures that need them. A
        sparse matrix of SciPy has a row per user and a column per item.
    run : path, mapping, dataframe, Run, or array of scores
        Results of the system; an array of scores if `qrels` is an array. Next to other judgments, a
        2-D array of ids has a row per query, best first, and queries are the numbers of its rows.
    measures : measure or iterable of them, optional
        `Measure` values or texts such as ``"nDCG@10"``. Default: nDCG@10, nDCG, AP, RR, P@10 and
        R@100; for preferences prefs_simp, prefs_pair and prefs_avgjg; for several assessors
        AP_avgjg and P_avgjg@10.
    convention : str or Convention
        A preset, optionally with changed switches: ``"lightgbm,ties=expected"``.
    name : str, optional
        Name of the system. Default: the name of the `Run`, else the file name without extensions,
        else "run".
    columns, qrels_columns, run_columns : mapping or sequence, optional
        Column names of files and dataframes, as in `read_qrels` and `read_run`: of both tables, of
        the judgments, of the run. The specific ones take precedence.
    labels : mapping of str to float, optional
        Grades of labels that are words, as in `read_qrels`: ``{"Exact": 3, "Substitute": 2}``.
    group, offsets, qid, mask, padding
        For arrays: grouping of items into lists, see `Lists.from_arrays`.
    max_documents : int, optional
        Use only the first documents of each query, up to this number (trec_eval's ``-M``); not for
        arrays.
    keep_unjudged : bool
        Keep hits and unjudged documents, so that `compare` and `gate` can tell if there are too few
        judgments; and the judgments and the run, so that `robust`, `why` and `explain` take the
        evaluation. Not for arrays, in which every item is judged.
    labels_are : {"complete", "pooled", "positive-only"}, optional
        Kind of the labels, see `Labels`. Default: declared by the `Qrels`, else found in the
        grades.
    sampled_negatives : float, optional
        Share of the non-relevant documents that were labelled, if every relevant document was.
    candidates : mapping, path, dataframe, iterable or int, optional
        Documents from which each list was ranked, as for `chance`; recorded, and never guessed. The
        run must return no others. The evaluation then has its `chance` level and its `lift`. Not
        for arrays, and not with `memory`, `exclude` or `permitted`.
    exclude : mapping, path, dataframe or iterable, optional
        Documents of each query that do not count, such as the training items of a user:
        ``{query: [documents]}``, a file or dataframe with columns query and document, or a list of
        documents for all queries. They leave judgments and lists before anything is ranked.
    permitted : mapping, path, dataframe or iterable, optional
        The only documents of each query that may count, in the same forms; every judged query is
        listed. A document that is returned beyond them is a breach.
    breach : {"removed", "error"}
        What is done with a breach: the document leaves the list, and
        ``evaluation.coverage.breaches`` counts it, or the run is refused.
    memory : str or int, optional
        Memory of the whole process, such as ``"512MB"``, or bytes: the run is read in parts. For
        runs from files (TREC text, Parquet, Arrow IPC, CSV, TSV), Polars lazy frames and DuckDB
        relations, with `Qrels`; the last two are always read in parts, by default within 1 GB
        beyond what the process takes. The values are the same.
    threads : int
        Number of threads; 0 uses all cores. Values do not depend on it.
    progress : Progress, optional
        Progress callback, called with bytes read.

    Returns
    -------
    Evaluation
        Values per query, means, coverage, provenance.

    Raises
    ------
    InputError
        The data cannot be evaluated.
    OptionError
        A measure or convention is unknown.

    Examples
    --------
    >>> evaluate({"q1": {"d1": 2, "d2": 1}}, {"q1": {"d2": 0.9, "d1": 0.4}}, "nDCG@10").mean()[
    ...     "nDCG@10"
    ... ]
    0.8597186998521972
    >>> import numpy as np
    >>> evaluate(
    ...     np.array([[1, 0], [0, 2]]),
    ...     np.array([[0.2, 0.9], [0.1, 0.8]]),
    ...     ["nDCG@10", "RR"],
    ...     "lightgbm",
    ... ).mean()["RR"]
    0.75
    """
    of_qrels = qrels_columns or columns
    of_run = run_columns or columns
    _refuse_columns(qrels, run, columns, qrels_columns, run_columns)
    if labels and (is_array(qrels) or is_judgments(qrels)):
        raise OptionError(
            f"labels: found {type(qrels).__name__}, whose grades are numbers, expected a file, a "
            "mapping or a dataframe"
        )
    if is_array(qrels) and is_array(run):
        _refuse_for_arrays(
            labels_are=labels_are,
            sampled_negatives=sampled_negatives,
            documents={"candidates": candidates, "exclude": exclude, "permitted": permitted},
            max_documents=max_documents,
        )
        lists = Lists.from_arrays(
            qrels, run, group=group, offsets=offsets, qid=qid, mask=mask, padding=padding
        )
        chosen_measures = default_measures() if measures is None else measures
        return core.evaluate_lists(
            lists, chosen_measures, convention, threads=threads, name=name or "run"
        )

    if any(option is not None for option in (group, offsets, qid, mask, padding)):
        raise InputError(
            "group, offsets, qid, mask and padding belong to arrays of labels and scores; found "
            "other qrels or run"
        )
    convention = Convention.of(convention)
    duplicates = convention.alignment.duplicates
    is_streamed = memory is not None or (is_query(run) and not keep_unjudged)
    # A run that is read in parts comes after the judgments, whose memory counts in its budget.
    results = None
    if not is_streamed:
        results = to_run(run, name=name, columns=of_run, judgments=qrels)
    judgments = to_judgments(
        qrels, "error" if duplicates == "twice" else duplicates, of_qrels, labels
    )
    judgments = with_labels(judgments, labels_are, sampled_negatives)
    judgments, set_inputs = restricted(judgments, exclude, permitted, breach)
    if results is None:
        results = to_streamed_run(
            run, memory, keep_unjudged=keep_unjudged, name=name, columns=of_run
        )

    measures = default_measures(tables_of(judgments)) if measures is None else measures
    is_restricted = exclude is not None or permitted is not None
    pool = candidates_of(candidates, is_restricted=is_restricted)
    inputs = input_files((*judgments.paths, *results.paths))
    evaluation = core.evaluate(
        judgments,
        results,
        measures,
        convention,
        max_documents=max_documents,
        keep_unjudged=keep_unjudged,
        threads=threads,
        progress=progress,
        inputs=(*inputs, *set_inputs, *(() if pool is None else pool.inputs)),
        candidates=pool,
    )
    if keep_unjudged:
        evaluation = replace(evaluation, sources=(judgments, results))

    warn_of_doubt(evaluation)
    if (
        _are_lists(qrels)
        and isinstance(run, Mapping)
        and look_like_grades(results.source.values, results.source.offsets)  # type: ignore[union-attr]
    ):
        message = (
            "the judgments are lists, and the scores of the run few small whole numbers: are they "
            "swapped? judgments come first"
        )
        warn(message)
    return evaluation if name is None else replace(evaluation, name=name)


def _refuse_for_arrays(
    *,
    labels_are: LabelKind | None,
    sampled_negatives: float | None,
    documents: Mapping[str, Any],
    max_documents: int | None,
) -> None:
    """Refuse options that arrays of labels and scores leave without a meaning."""
    if labels_are is not None or sampled_negatives is not None:
        raise OptionError(
            "labels_are, sampled_negatives: found arrays, in which every item has a label"
        )
    for name, sets in documents.items():
        if sets is not None:
            raise InputError(
                f"{name}: found arrays, in which every item is ranked, expected runs with document "
                "ids"
            )
    if max_documents is not None:
        raise InputError(
            "max_documents belongs to runs with document ids; for arrays use a cutoff of the "
            "measure, as in AP@10"
        )


def _are_lists(qrels: AnyTable) -> bool:
    return isinstance(qrels, Mapping) and any(
        isinstance(graded, (list, tuple)) for graded in qrels.values()
    )


def _refuse_columns(
    qrels: AnyTable, run: AnyTable, columns: Columns, qrels_columns: Columns, run_columns: Columns
) -> None:
    """Refuse names of columns for what has no columns."""
    qrels_lack, run_lacks = (
        not (is_frame(table) or isinstance(table, (str, PathLike)) or _is_paths(table))
        for table in (qrels, run)
    )
    for word, column_names, lacks, table in (
        ("qrels_columns", qrels_columns, qrels_lack, qrels),
        ("run_columns", run_columns, run_lacks, run),
        ("columns", columns, qrels_lack and run_lacks, qrels),
    ):
        if column_names is not None and lacks:
            raise OptionError(
                f"{word}: found {type(table).__name__}, which has no columns, expected a file or a "
                "dataframe"
            )


evaluate_read = core.evaluate
"""`evaluate` for judgments and a run that are read already, without a warning where the judgments
hardly fit it: callers that open files name them.
"""


@dataclass(frozen=True, kw_only=True)
class RunEvaluator:
    """Evaluation of runs on one set of judgments, with all that verdicts and pages look at, so that
    each run is aligned once.
    """

    qrels: Judgments
    measures: tuple[Measure, ...]  # With their companions
    convention: "Convention | str"
    kept: Iterable[Measure] = ()  # Measures for which hits are kept
    top: int = 0  # Ranks down to which the first documents of every list are kept
    threads: int = 0

    def evaluate(self, run: Run, progress: Progress | None = None) -> Evaluation:
        """Evaluate a run that is read already, as `evaluate_read` does."""
        return evaluate_read(
            self.qrels,
            run,
            self.measures,
            self.convention,
            keep_unjudged=True,
            keep_for=self.kept,
            keep_top=self.top,
            threads=self.threads,
            progress=progress,
        )


def kept_hits(evaluation: Evaluation) -> "JudgedHits | None":
    """Return the judged hits that an evaluation kept, as deep as its measures look; None if it kept
    none.
    """
    from idealrank.evaluation.judged_hits import hit_depth, hits_of  # noqa: PLC0415  (only stores want them)

    if evaluation.judged is None:
        return None
    return hits_of(evaluation.judged, hit_depth(evaluation.measures, evaluation.convention))


def warn_of_doubt(evaluation: Evaluation) -> None:
    """Warn of judgments and a run that were hardly meant for each other."""
    if doubt := evaluation.coverage.doubt(evaluation.name):
        warn(f"{doubt} {VALIDATE}" if evaluation.path else doubt)


def ndcg(
    labels: Any,
    scores: Any,
    cutoff: "int | str | Cutoff | None" = None,
    group: Any = None,
    *,
    k: int | None = None,
    gain: "GainLike | None" = None,
    discount: "DiscountLike | None" = None,
    ties: str | None = None,
    no_relevant: str | None = None,
    convention: "Convention | str" = "standard",
    offsets: Any = None,
    qid: Any = None,
    mask: Any = None,
    padding: float | None = None,
    threads: int = 0,
) -> FloatArray:
    """Compute NDCG of each query from arrays of labels and scores.

    Parameters
    ----------
    labels, scores : array-like, shape (n,) or (n_queries, width)
        1-D: one query, or several with `group`, `offsets` or `qid`; 2-D: one query per row.
    cutoff : int or str, optional
        Cutoff: ``10``, ``"0.2n"``, ``"sqrt(n)"``; default all ranks. `k` is an alias.
    group, offsets, qid, mask, padding
        Grouping of items into lists, see `Lists.from_arrays`.
    gain, discount, ties, no_relevant
        Switches of the convention to change, see `Convention`; ``discount="linear"`` is the measure
        of the ECML/PKDD 2010 challenge, which `pairwise_loss` complements.
    convention : str or Convention
        Default ``"standard"``: linear gain, 1/log2(rank + 1), value 0 for a query without relevant
        documents. Arrays have no document ids, so the default for ties is the expected value over
        all orders (``ties="expected"``); ``ties="docid"`` is refused.
    threads : int
        Number of threads; 0 uses all cores.

    Returns
    -------
    float64 array, shape (n_queries,)
        One value per query, in [0, 1] for labels of 0 or more; NaN if the policy leaves the query
        out.

    References
    ----------
    Jarvelin and Kekalainen (2002), ACM TOIS 20(4); see `NDCG`.

    Examples
    --------
    >>> ndcg([3, 2, 3, 0, 1, 2], [6, 5, 4, 3, 2, 1], cutoff=3)
    array([0.97778136])
    >>> ndcg([[1, 0], [0, 1]], [[0.9, 0.1], [0.9, 0.1]], gain="exp2")
    array([1.        , 0.63092975])
    """
    measure = NDCG(cutoff=_cutoff(cutoff, k), gain=gain, discount=discount, no_relevant=no_relevant)  # type: ignore[arg-type]
    return _one_liner(
        measure=measure,
        labels=labels,
        scores=scores,
        convention=convention,
        ties=ties,
        threads=threads,
        group=group,
        offsets=offsets,
        qid=qid,
        mask=mask,
        padding=padding,
    )


def dcg(
    labels: Any,
    scores: Any,
    cutoff: "int | str | Cutoff | None" = None,
    group: Any = None,
    *,
    k: int | None = None,
    gain: "GainLike | None" = None,
    discount: "DiscountLike | None" = None,
    ties: str | None = None,
    convention: "Convention | str" = "standard",
    offsets: Any = None,
    qid: Any = None,
    mask: Any = None,
    padding: float | None = None,
    threads: int = 0,
) -> FloatArray:
    """Compute DCG of each query from arrays of labels and scores; parameters as for `ndcg`.

    Returns
    -------
    float64 array, shape (n_queries,)
        One value per query, 0 or more for labels of 0 or more.

    Examples
    --------
    >>> dcg([3, 2, 3, 0, 1], [5, 4, 3, 2, 1], gain="exp2")
    array([12.77964207])
    """
    measure = DCG(cutoff=_cutoff(cutoff, k), gain=gain, discount=discount)
    return _one_liner(
        measure=measure,
        labels=labels,
        scores=scores,
        convention=convention,
        ties=ties,
        threads=threads,
        group=group,
        offsets=offsets,
        qid=qid,
        mask=mask,
        padding=padding,
    )


def _cutoff(cutoff: Any, k: int | None) -> Any:
    if cutoff is not None and k is not None:
        raise InputError(
            f"found cutoff={cutoff} and k={k}; expected one of them, they mean the same"
        )
    return k if cutoff is None else cutoff


def _one_liner(
    measure: Measure,
    labels: Any,
    scores: Any,
    convention: "Convention | str",
    ties: str | None,
    threads: int,
    **layout: Any,
) -> FloatArray:
    convention = (
        array_convention(convention) if ties is None else array_convention(convention, ties=ties)
    )
    lists = Lists.from_arrays(labels, scores, **layout)
    return list_values(lists, measure.under(convention), convention.alignment, threads=threads)
