"""Whether the record of an evaluation that comes from elsewhere is built as ours are: one that is not would break every later question."""

import re
from collections.abc import Mapping
from typing import Any

from idealrank.errors import InputError, shown
from idealrank.store.record import utc

_LARGEST = 2**63  # whole numbers of a column lie below

_INPUT = {"name": str, "size": int, "modified": str, "sha256": str}
_CONVENTION = {"name": str, "fingerprint": str, "tool": str, "proof": str, "switches": {"*": str}}
_EVALUATION = {
    "format": int, "kind": str, "time": str, "name": str, "path": str, "version": str, "commit": str, "command": str, "dirty": bool | None,
    "n_queries": int, "max_documents": int | None, "measures": [{"text": str, "resolved": str, "parses": bool}], "means": [list],
    "convention": _CONVENTION, "coverage": {"*": int}, "inputs": [_INPUT], "files": {"*": str},
}  # fmt: skip
_FINGERPRINT = re.compile(r"[0-9a-f]{32}")
_WORDS = {"id": str, "digest": str, "tags": [str], "notes": [[str]]}


def check_words(words: Any) -> None:
    """Refuse what stands beside a record (id, digest, tags, notes) where it is of other types; errors as for `check_evaluation`.

    Examples
    --------
    >>> check_words({"id": "0123456789ab", "digest": "01", "tags": [], "notes": [["2026-11-22T12:00:00Z", "seen"]]})
    """
    _check(words, _WORDS, "")
    for place, note in enumerate(words["notes"]):
        _refuse(note, f"notes.{place}", is_fine=len(note) == 2)


def check_head(fields: Any) -> None:
    """Refuse a record that does not say what it is; errors as for `check_evaluation`.

    Examples
    --------
    >>> check_head({"format": 1, "kind": "evaluation"})
    """
    _check(fields, {name: _EVALUATION[name] for name in ("format", "kind")}, "")


def check_evaluation(fields: Any) -> None:
    """Refuse the record of an evaluation whose parts are of other types than those that are written.

    Raises
    ------
    InputError
        With the place of the first that is.

    Examples
    --------
    >>> check_evaluation({"format": "one"})
    Traceback (most recent call last):
    ...
    idealrank.errors.InputError: found 'one' as format of its record, expected what `store export` writes there; export it again
    """
    _check(fields, _EVALUATION, "")
    fingerprint = fields.get("judgments")  # records of earlier versions have none
    _refuse(
        fingerprint,
        "judgments",
        is_fine=fingerprint is None or (isinstance(fingerprint, str) and _FINGERPRINT.fullmatch(fingerprint) is not None),
    )
    utc(fields["time"])
    for place, mean in enumerate(fields["means"]):
        _refuse(mean, f"means.{place}", is_fine=len(mean) == 2 and _is(mean[0], float | int | None) and _is(mean[1], int))


def _check(found: Any, wanted: Any, place: str) -> None:
    if isinstance(wanted, Mapping):
        _refuse(found, place, is_fine=isinstance(found, dict))
        parts = dict.fromkeys(found, wanted["*"]) if "*" in wanted else wanted
        for name, part in parts.items():
            _check(found.get(name, ...), part, f"{place}.{name}".lstrip("."))
    elif isinstance(wanted, list):
        _refuse(found, place, is_fine=isinstance(found, list))
        for number, one in enumerate(found):
            _check(one, wanted[0], f"{place}.{number}")
    else:
        _refuse(found, place, is_fine=_is(found, wanted))


def _is(found: Any, kind: Any) -> bool:
    """Whether a value is of a type; a truth value is no number, and a number has room in a column."""
    if isinstance(found, bool):
        return kind not in (int, int | None) and isinstance(found, kind)
    return isinstance(found, kind) and not (isinstance(found, int) and abs(found) >= _LARGEST)


def _refuse(found: Any, place: str, *, is_fine: bool) -> None:
    if not is_fine:
        said = "nothing" if found is ... else shown(repr(found))
        raise InputError(
            f"found {said} as {place or 'the whole'} of its record, expected what `store export` writes there; export it again"
        )
