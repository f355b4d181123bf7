"""A ranker from files: what its run says of the documents that were judged, as arrays for the theory."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from idealrank.cli import console, input_options
from idealrank.conventions import Convention
from idealrank.data.align import align
from idealrank.data.judged import Judged
from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import InputError


@dataclass(frozen=True, eq=False)
class LabelledLists:
    """Lists as returned, one after another.

    Attributes
    ----------
    labels, scores : float64 array, shape (n_documents,)
        Grades, 0 if unjudged; and ranks turned round, middle ranks where scores are tied.
    lengths : int64 array, shape (n_queries,)
        Documents of each list.
    """

    labels: FloatArray
    scores: FloatArray
    lengths: IntArray


def labelled(judged: Judged) -> LabelledLists:
    """Every rank of every list with its grade.

    Examples
    --------
    >>> from idealrank import Qrels, Run
    >>> from idealrank.data.alignment import Alignment
    >>> found = labelled(align(Qrels({"q": {"b": 2}}), Run({"q": ["a", "b", "c"]}), Alignment()))
    >>> found.labels, found.scores, found.lengths.tolist()
    (array([0., 2., 0.]), array([-1., -2., -3.]), [3])
    """
    hits, lengths = judged.hits, judged.lengths
    starts = np.cumsum(lengths) - lengths
    labels = np.zeros(int(lengths.sum()))
    labels[starts[hits.query] + hits.rank - 1] = np.maximum(hits.grade, 0.0)
    scores = (np.repeat(starts, lengths) - np.arange(labels.size) - 1).astype(np.float64)
    if hits.tie_first is not None and hits.tie_last is not None:
        sizes = hits.tie_last - hits.tie_first + 1
        first = np.repeat(starts[hits.query] + hits.tie_first - 1, sizes)
        within = np.arange(first.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        scores[first + within] = np.repeat(-(hits.tie_first + hits.tie_last) / 2, sizes)
    return LabelledLists(labels, scores, lengths)


def lists_of(qrels_path: str, run_path: str, inputs: input_options.Inputs, progress: Any = None) -> LabelledLists:
    """The lists of a run, labelled; a note says how much of them was judged.

    Raises
    ------
    InputError
        The run answers no judged query.
    """
    input_options.refuse_standard_input_twice(qrels_path, run_path)
    convention = Convention.of("standard")
    qrels = inputs.open_qrels(qrels_path, convention)
    (name,) = input_options.run_names([run_path])
    judged = align(qrels, inputs.open_run(run_path, name, qrels_path), convention.alignment, progress=progress)
    kept = labelled(judged)
    lists = LabelledLists(kept.labels, kept.scores, kept.lengths[kept.lengths > 0])
    if not lists.labels.size:
        raise InputError(f"{run_path}: found no documents for any of the queries of {qrels_path}, expected some")
    unjudged = lists.labels.size - judged.hits.rank.size
    console.say(
        "note", f"{lists.lengths.size:,} lists of {lists.labels.size:,} documents; {unjudged:,} of them unjudged, counted not relevant"
    )
    return lists
