"""A test set that is opened once: its evaluation is kept in a store, and the next one is
refused.
"""

from collections.abc import Iterable
from os import fsencode
from pathlib import Path
from typing import Any

from idealrank.conventions import Convention
from idealrank.errors import InputError, OptionError, shown
from idealrank.evaluation.evaluate import Evaluation
from idealrank.inputs.evaluation import AnyTable, evaluate
from idealrank.measures.parse import MeasureLike
from idealrank.store.record import Record
from idealrank.store.store import Store


def evaluate_once(
    qrels: AnyTable,
    run: AnyTable,
    measures: "MeasureLike | Iterable[MeasureLike] | None" = None,
    convention: "Convention | str" = "standard",
    *,
    store: "str | Path",
    again: str = "",
    name: str | None = None,
    **options: Any,
) -> Evaluation:
    """Evaluate a run on a test set, once; a second run on the same judgments is refused, unless a
    reason is given.

    The test set is known by the fingerprint of its judgments, whatever its file is called. Two
    processes that open it in the same moment both succeed.

    Parameters
    ----------
    qrels, run, measures, convention, name
        As for `evaluate`.
    store : path
        Folder of the store; created if missing.
    again : str
        Reason to open the test set again; it is kept as a note.
    **options
        Of `evaluate`, such as ``group`` for arrays.

    Raises
    ------
    InputError
        The test set was opened before, and there is no reason to open it again. The message names
        the earlier evaluation, and no value.
    OptionError
        The store is no path, or the reason or the name is no text.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> qrels = {"q": {"a": 1}}
    >>> evaluate_once(qrels, {"q": ["a"]}, "RR", store=folder, name="final").mean()["RR"]
    1.0
    >>> evaluate_once(qrels, {"q": ["b", "a"]}, "RR", store=folder)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    idealrank.errors.InputError: the test set was opened before, by 'final' on ...
    """
    _check_texts(store, again, name)
    evaluation = evaluate(qrels, run, measures, convention, name=name, **options)
    require_unopened(evaluation, store, again)
    keep_opened(evaluation, store, again)
    return evaluation


def require_unopened(evaluation: Evaluation, store: "str | Path", again: str = "") -> None:
    """Refuse a test set that was opened before, unless there is a reason."""
    with Store.open(store) as opened:
        earlier = opened.entries(kind="evaluation", tag=_tag(evaluation))
    if earlier and not again:
        first = earlier[-1]
        raise InputError(
            f"the test set was opened before, by {first.name!r} on {first.record.time[:10]} (store "
            f"entry {first.id})",
            hint="choose models on validation data, or give the reason to open it again with "
            "again=",
            command_hint="choose models on validation data, or give the reason to open it again in "
            "evaluation.again",
        )


def keep_opened(evaluation: Evaluation, store: "str | Path", again: str = "") -> None:
    """Keep the evaluation of a test set, so that the next one is refused."""
    notes = (f"opened again: {again}",) if again else ()
    with Store.open(store) as opened:
        opened.add(evaluation, record=Record(tags=(_tag(evaluation), "test-set"), notes=notes))


def _check_texts(store: Any, again: Any, name: Any) -> None:
    """Refuse a reason that is no text, such as True, before the evaluation: it explains nothing."""
    if not isinstance(store, (str, Path)) or not str(store).strip() or _is_no_path(str(store)):
        raise OptionError(f"store={shown(repr(store))}: expected the folder of the store, a path")
    if not isinstance(again, str) or (again and not again.strip()):
        raise OptionError(
            f"again={shown(repr(again))}: expected a text, the reason to open the test set again"
        )
    if not (name is None or isinstance(name, str)):
        raise OptionError(f"name={shown(repr(name))}: expected a text")


def _is_no_path(path: str) -> bool:
    try:
        return "\0" in path or not fsencode(path)
    except UnicodeEncodeError:
        return True


def _tag(evaluation: Evaluation) -> str:
    return f"test-set-{(evaluation.provenance.judgments or '')[:12]}"
