"""Checks of the record of an imported evaluation; `value_file_checks` checks its value files.

A malformed record would break every later query.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from idealrank.conventions import SWITCHES, Convention
from idealrank.conventions.presets import switches_fingerprint
from idealrank.data.label_kinds import LABEL_KINDS
from idealrank.errors import IdealrankError, InputError, OptionError, shown
from idealrank.evaluation.coverage import LABEL_DEPTH
from idealrank.measures.measure import Measure
from idealrank.measures.parse import parse_run_measure
from idealrank.store.encoding import Fields, read_convention
from idealrank.store.record import utc

_LARGEST = 2**63  # whole numbers of a column are below
_DEEPEST = 20  # lists in lists of a record; SQLite reads 1,000
_WRITTEN = "what `store export` writes there"
_CUSTOM = "custom:"  # beginning of the name of a user's own function

# Which files an evaluation may have, and how their names end.
ENDINGS = {
    "queries": "json",
    "values": "npy",
    "scored": "npy",
    "missing": "json",
    "coverage": "json",
    "texts": "json",
    "hits": "npz",
}

_INPUT = {"name": str, "size": int, "modified": str, "sha256": str}
_CONVENTION = {"name": str, "fingerprint": str, "tool": str, "proof": str, "switches": {"*": str}}
_EVALUATION = {
    "format": int,
    "kind": str,
    "nonce": str,
    "time": str,
    "name": str,
    "path": str,
    "version": str,
    "commit": str,
    "command": str,
    "dirty": bool | None,
    "n_queries": int,
    "max_documents": int | None,
    "measures": [{"text": str, "resolved": str, "parses": bool}],
    "means": [list],
    "convention": _CONVENTION,
    "coverage": {"*": int},
    "inputs": [_INPUT],
    "files": {"*": str},
}
_LABELS = {"kind": str, "found": bool, "queries": int, "with_negatives": int}
_FINGERPRINT = re.compile("[0-9a-f]{32}")  # of judgments
_SHORT = re.compile("[0-9a-f]{8}")  # fingerprint of a convention
_SHA256 = re.compile("[0-9a-f]{64}")
_WORDS = {"id": str, "digest": str, "tags": [str], "notes": [[str]]}


def check_words(words: Any) -> None:
    """Refuse the companions of a record (id, digest, tags, notes) of other types; errors as for
    `check_evaluation`.
    """
    _check_types(words, _WORDS, "")
    _check_depth(words)
    _check_texts(words, "")
    for number, note in enumerate(words["notes"]):
        _require(note, f"notes.{number}", is_fine=len(note) == 2, expected="a time and a text")
        _check_time(note[0], f"notes.{number}.0")


def check_head(fields: Any) -> None:
    """Refuse a record that does not say what it is; errors as for `check_evaluation`."""
    _check_types(fields, {name: _EVALUATION[name] for name in ("format", "kind")}, "")


def check_evaluation(fields: Any) -> list[Measure | None]:
    """Refuse the record of an evaluation whose parts have other types than written ones, or
    contradict each other.
    """
    _check_types(fields, _EVALUATION, "")
    _check_depth(fields)
    _check_texts(fields, "")
    _require(
        fields.get("parts", ...),
        "parts",
        is_fine="parts" not in fields,
        expected="a comparison or a gate, which have parts",
    )
    judgments = fields.get("judgments")  # records of earlier versions have none
    _require(
        judgments,
        "judgments",
        is_fine=judgments is None or _fits(judgments, _FINGERPRINT),
        expected="32 hexadecimal digits",
    )
    _check_labels(fields)
    _check_time(fields["time"], "time")
    _check_counts(fields)
    _check_files(fields["files"])
    for number, input_file in enumerate(fields["inputs"]):
        _check_input(input_file, f"inputs.{number}")
    convention = _checked_convention(fields["convention"])
    measures = _checked_measures(fields["measures"])
    return [
        None if measure is None or convention is None else measure.under(convention)
        for measure in measures
    ]


def _check_labels(fields: Fields) -> None:
    """Refuse labels and counts of them that no version writes; records of earlier versions have
    none.
    """
    by_rank = fields.get("relevant_by_rank", [])
    relevant = fields["coverage"].get("relevant", 0)
    _check_types(by_rank, [int], "relevant_by_rank")
    is_fine = (
        len(by_rank) <= LABEL_DEPTH
        and all(count >= 0 for count in by_rank)
        and sum(by_rank) <= relevant
    )
    expected = f"at most {LABEL_DEPTH} counts, at most {relevant} together"
    _require(by_rank, "relevant_by_rank", is_fine=is_fine, expected=expected)

    labels = fields.get("labels")
    if labels is None:
        return
    _check_types(labels, _LABELS, "labels")
    unknown = sorted(set(labels) - {*_LABELS, "sampled_negatives"})
    _require(unknown, "labels", is_fine=not unknown, expected="no other fields")
    queries = labels["queries"]
    negative = labels["with_negatives"]
    _require(queries, "labels.queries", is_fine=queries >= 0, expected="0 or more")
    _require(
        negative,
        "labels.with_negatives",
        is_fine=0 <= negative <= queries,
        expected=f"0 to {queries}",
    )
    share = labels.get("sampled_negatives")
    is_fine = share is None or (isinstance(share, float) and 0 < share < 1)
    _require(share, "labels.sampled_negatives", is_fine=is_fine, expected="a share between 0 and 1")
    _require(
        labels["kind"],
        "labels.kind",
        is_fine=labels["kind"] in LABEL_KINDS,
        expected="a kind of labels",
    )
    is_fine = share is None or (labels["kind"] == "pooled" and negative > 0)
    _require(
        share,
        "labels.sampled_negatives",
        is_fine=is_fine,
        expected="none without pooled labels and grades of 0 or less",
    )


def _check_counts(fields: Fields) -> None:
    n_queries = fields["n_queries"]
    coverage = fields["coverage"]
    max_documents = fields["max_documents"]
    _require(n_queries, "n_queries", is_fine=n_queries > 0, expected="1 or more")
    _require(
        max_documents,
        "max_documents",
        is_fine=max_documents is None or max_documents > 0,
        expected="1 or more, or null",
    )
    means = fields["means"]
    _require(
        means,
        "means",
        is_fine=len(means) == len(fields["measures"]),
        expected=f"one for each of {len(fields['measures'])} measures",
    )
    for number, mean in enumerate(means):
        is_pair = len(mean) == 2 and _is(mean[0], float | None) and _is(mean[1], int)
        is_fine = is_pair and math.isfinite(mean[0] or 0) and 0 <= mean[1] <= n_queries
        _require(
            mean,
            f"means.{number}",
            is_fine=is_fine,
            expected="a mean, or null, and a number of queries",
        )
    for name, count in coverage.items():
        _require(count, f"coverage.{name}", is_fine=count >= 0, expected="0 or more")
    scored = coverage.get("scored", n_queries)
    _require(
        scored,
        "coverage.scored",
        is_fine=scored == n_queries,
        expected=f"{n_queries}, as n_queries says",
    )
    for part, whole in (
        ("no_relevant", "scored"),
        ("unjudged", "considered"),
        ("missing", "queries_in_qrels"),
    ):
        if part in coverage and whole in coverage:
            is_fine = coverage[part] <= coverage[whole]
            _require(
                coverage[part],
                f"coverage.{part}",
                is_fine=is_fine,
                expected=f"at most {coverage[whole]}, as coverage.{whole} says",
            )


def _check_files(files: Mapping[str, str]) -> None:
    for role, name in files.items():
        _require(role, "files", is_fine=role in ENDINGS, expected=f"{', '.join(ENDINGS)} alone")
        digest, _, ending = name.partition(".")
        is_fine = _fits(digest, _SHA256) and ending == ENDINGS[role]
        _require(name, f"files.{role}", is_fine=is_fine, expected=f"a SHA-256 and .{ENDINGS[role]}")
    for role in ("queries", "values"):
        _require(
            files.get(role, ...),
            f"files.{role}",
            is_fine=role in files,
            expected="the name of a file",
        )


def _check_input(input_file: Mapping[str, Any], path: str) -> None:
    _require(
        input_file["size"],
        f"{path}.size",
        is_fine=input_file["size"] >= 0,
        expected="0 bytes or more",
    )
    _require(
        input_file["sha256"],
        f"{path}.sha256",
        is_fine=not input_file["sha256"] or _fits(input_file["sha256"], _SHA256),
        expected="64 hexadecimal digits",
    )
    try:
        is_time = not input_file["modified"] or bool(datetime.fromisoformat(input_file["modified"]))
    except ValueError:
        is_time = False
    _require(
        input_file["modified"], f"{path}.modified", is_fine=is_time, expected="a time in ISO 8601"
    )


def _checked_convention(kept: Fields) -> Convention | None:
    """The convention; None where it has functions of the user's own."""
    path = "convention.switches"
    switches = kept["switches"]
    for name in switches:
        _require(
            name,
            path,
            is_fine=name in SWITCHES,
            expected=f"{', '.join(SWITCHES)}; if a later version exported it, upgrade idealrank",
        )
    _require(
        kept["fingerprint"],
        "convention.fingerprint",
        is_fine=_fits(kept["fingerprint"], _SHORT),
        expected="8 hexadecimal digits",
    )
    if any(switches.get(name, "").startswith(_CUSTOM) for name in ("gain", "discount")):
        return None
    digest = switches_fingerprint(switches)
    _require(
        kept["fingerprint"],
        "convention.fingerprint",
        is_fine=digest == kept["fingerprint"],
        expected=f"{digest}, that of its switches",
    )
    try:
        convention = read_convention(kept, "it")
    except (IdealrankError, OverflowError) as error:
        raise InputError(
            f"found {path} of its record that are none ({error}), expected {_WRITTEN}; export it "
            "again"
        ) from None
    spelled = convention.switches()
    for name, value in switches.items():
        _require(
            value, f"{path}.{name}", is_fine=spelled[name] == value, expected=repr(spelled[name])
        )
    return convention


def _checked_measures(kept: Sequence[Fields]) -> list[Measure | None]:
    """The measures; None for each of the user's own."""
    _require(kept, "measures", is_fine=bool(kept), expected="one or more")
    texts = [measure["text"] for measure in kept]
    for number, text in enumerate(texts):
        _require(
            text,
            f"measures.{number}.text",
            is_fine=text not in texts[:number],
            expected="each measure once",
        )
    return [
        _parsed(measure["text"], f"measures.{number}.text") if measure["parses"] else None
        for number, measure in enumerate(kept)
    ]


def _parsed(text: str, path: str) -> Measure:
    known = (
        "a measure that `idealrank measures` lists; if a later version exported it, upgrade "
        "idealrank"
    )
    try:
        measure = parse_run_measure(text)
    except (OptionError, OverflowError):
        raise _refused_record(text, path, known) from None
    _require(text, path, is_fine=str(measure) == text, expected=repr(str(measure)))
    return measure


def _check_time(text: str, path: str) -> None:
    """Texts of times sort as times do only where all are written alike."""
    try:
        spelled = utc(text)
    except OptionError:
        spelled = None
    _require(
        text,
        path,
        is_fine=spelled == text,
        expected=repr(spelled) if spelled else "a time in ISO 8601, UTC, with microseconds",
    )


def _check_texts(value: Any, path: str) -> None:
    """Refuse halves of letters: they stand for bytes that are no UTF-8, and others stand for
    nothing.
    """
    if isinstance(value, str):
        _require(value, path, is_fine=is_text(value), expected="text")
    elif isinstance(value, Mapping):
        for name, part in value.items():
            _require(name, path, is_fine=is_text(name), expected="names that are text")
            _check_texts(part, f"{path}.{name}".lstrip("."))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            _check_texts(part, f"{path}.{number}".lstrip("."))


def is_text(text: str) -> bool:
    r"""Return whether a text can be written as UTF-8, with surrogate-escaped bytes.

    Examples
    --------
    >>> is_text("b\udcff"), is_text("b\ud800")
    (True, False)
    """
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def _check_depth(fields: Fields) -> None:
    level: list[Any] = [fields]
    for _ in range(_DEEPEST):
        level = [part for value in level for part in _parts_of(value)]
    _require(f"lists in lists {_DEEPEST} deep", "part", is_fine=not level)


def _parts_of(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _fits(text: Any, pattern: re.Pattern[str]) -> bool:
    return isinstance(text, str) and pattern.fullmatch(text) is not None


def _check_types(value: Any, types: Any, path: str) -> None:
    if isinstance(types, Mapping):
        _require(value, path, is_fine=isinstance(value, dict))
        # A star is any name.
        type_of = dict.fromkeys(value, types["*"]) if "*" in types else types
        for name, part_types in type_of.items():
            _check_types(value.get(name, ...), part_types, f"{path}.{name}".lstrip("."))
    elif isinstance(types, list):
        _require(value, path, is_fine=isinstance(value, list))
        for number, element in enumerate(value):
            _check_types(element, types[0], f"{path}.{number}")
    else:
        _require(value, path, is_fine=_is(value, types))


def _is(value: Any, kind: Any) -> bool:
    """Return whether a value has a type; a boolean is no number, and a number must fit a column."""
    if isinstance(value, bool):
        return kind not in (int, int | None) and isinstance(value, kind)
    return isinstance(value, kind) and not (isinstance(value, int) and abs(value) >= _LARGEST)


def _require(value: Any, path: str, *, is_fine: bool, expected: str = _WRITTEN) -> None:
    if not is_fine:
        raise _refused_record(value, path, expected)


def _refused_record(value: Any, path: str, expected: str) -> InputError:
    shown_value = "nothing" if value is ... else shown(repr(value))
    part = shown(path) or "the whole"
    again = "" if "upgrade" in expected else "; export it again"
    return InputError(f"found {shown_value} as {part} of its record, expected {expected}{again}")
