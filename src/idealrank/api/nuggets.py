"""Scores of answers by their nuggets."""

from collections.abc import Sequence
from os import PathLike, fspath

from idealrank.data.run import name_of
from idealrank.evaluation.evaluate import Evaluation
from idealrank.io.notes import Notes, Tell
from idealrank.io.nugget_files import read_answers, read_nuggets
from idealrank.io.provenance import input_files
from idealrank.judging.nuggets import DEFAULT_SCORES, AssignedAnswers, nugget_scores


def evaluate_answers(
    path: str | PathLike[str],
    scores: Sequence[str] = DEFAULT_SCORES,
    *,
    nuggets: str | PathLike[str] | None = None,
    tell: Tell | None = None,
) -> list[Evaluation]:
    r"""Score answers by the nuggets that they contain, as the tool nuggetizer assigned them.

    Parameters
    ----------
    path : path
        JSON lines, one for each answer: ``{"qid": ..., "run_id": ..., "nuggets": [{"text": ...,
        "importance": "vital" or "okay", "assignment": "support", "partial_support" or
        "not_support"}]}``. An assignment that ``failed`` counts as not supported.
    scores : sequence of str
        Any of V_strict, V, A_strict, A, W_strict, W; see `NuggetScore`.
    nuggets : path, optional
        The nuggets of every query, in the same layout without assignments. Queries without an
        answer then count 0; without it, only queries with an answer count, as in the script of the
        tool.
    tell : callable, optional
        Callback for messages; without it they are warnings.

    Returns
    -------
    list of Evaluation
        One for each ``run_id``, for `compare`, `intervals`, stores and reports. The name is the
        ``run_id``, or that of the file.

    Raises
    ------
    InputError
        The file cannot be opened, has no answer, or has other nuggets than `nuggets`.
    FileFormatError
        A record cannot be used.
    OptionError
        A score is unknown.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "answers.jsonl")
    >>> _ = path.write_text(
    ...     '{"qid": "q1", "nuggets": [{"text": "x", "importance": "vital", "assignment": "partial_support"}]}'
    ... )
    >>> evaluate_answers(path)[0].mean()
    {'V_strict': 0.0, 'V': 0.5, 'A_strict': 0.0, 'A': 0.5}
    """  # noqa: E501
    chosen = nugget_scores(scores)
    notes, text = Notes(tell), fspath(path)
    listed = None if nuggets is None else read_nuggets(fspath(nuggets), notes)
    found = []
    for system in read_answers(text, notes):
        named = AssignedAnswers(
            system.name or ("stdin" if text == "-" else name_of(text)), system.answers
        )
        whole = named if listed is None else named.completed(listed)
        paths = [text] if nuggets is None else [fspath(nuggets), text]
        found.append(whole.evaluated(chosen, inputs=input_files(paths), path=text))
    return found
