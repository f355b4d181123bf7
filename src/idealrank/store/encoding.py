"""An evaluation as a record and value files, and back, to the last bit."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from io import BytesIO
from typing import Any

import numpy as np

from idealrank.conventions import SWITCHES, Convention
from idealrank.data.alignment import Alignment
from idealrank.errors import IncompatibleError, InputError, OptionError
from idealrank.evaluation.coverage import Coverage, MeasureCoverage
from idealrank.evaluation.evaluate import Evaluation, InputRecord
from idealrank.evaluation.judged_hits import JudgedHits
from idealrank.measures.measure import Measure
from idealrank.measures.parse import parse_measure
from idealrank.measures.rules import Rules
from idealrank.store.record import file_name
from idealrank.store.value_files import Blob, array_blob

Fields = dict[str, Any]

_NOT_KEPT = ("missing_queries", "best_grade", "looks_swapped", "relevant_by_rank", "by_measure")
_COUNTS = tuple(field.name for field in fields(Coverage) if field.name not in _NOT_KEPT)
_ALIGNMENT = tuple(field.name for field in fields(Alignment))
_HIT_COLUMNS = ("lengths", "query", "rank", "tie_first", "tie_last", "grade")


@dataclass(frozen=True, kw_only=True)
class KeptInput:
    """A file that was evaluated, as a store keeps it."""

    path: str  # Its name, without folders
    size: int  # Bytes
    modified: str  # Time of its last change, UTC, ISO 8601
    # Of its content when it was stored, in hexadecimal digits; empty where it could not be read any
    # more
    sha256: str


def canonical(record: Fields) -> str:
    """JSON with one spelling for one content: an id is its hash.

    Names keep their order: the first measure is the one that decides.
    """
    return json.dumps(record, separators=(",", ":"), allow_nan=False)


def evaluation_fields(evaluation: Evaluation) -> Fields:
    """Everything about an evaluation except its arrays and lists, as JSON takes it."""
    provenance = evaluation.provenance
    return {
        "name": evaluation.name,
        "path": file_name(evaluation.path),
        "measures": [
            {"text": str(measure), "resolved": resolved, "parses": _parses(measure)}
            for measure, resolved in zip(evaluation.measures, provenance.measures, strict=True)
        ],
        "n_queries": len(evaluation.queries),
        "convention": convention_fields(evaluation.convention),
        "coverage": {name: int(getattr(evaluation.coverage, name)) for name in _COUNTS},
        "relevant_by_rank": list(evaluation.coverage.relevant_by_rank),
        "version": provenance.version,
        "inputs": [_input_fields(input_record) for input_record in provenance.inputs],
        "max_documents": provenance.max_documents,
        "judgments": provenance.judgments,
        "labels": None if provenance.labels is None else asdict(provenance.labels),
    }


def convention_fields(convention: Convention) -> Fields:
    """A convention with every switch."""
    return {
        "name": convention.name,
        "fingerprint": convention.fingerprint,
        "tool": convention.tool,
        "proof": convention.proof,
        "switches": convention.switches(),
    }


def _parses(measure: Measure) -> bool:
    try:
        return parse_measure(str(measure)) == measure
    except OptionError:
        return False


def _input_fields(input_record: InputRecord) -> Fields:
    try:
        digest = input_record.sha256
    except OSError:  # gone since it was evaluated, or never more than a pipe
        digest = ""
    return {
        "name": file_name(input_record.path),
        "size": input_record.size,
        "modified": input_record.modified,
        "sha256": digest,
    }


def evaluation_files(evaluation: Evaluation, hits: JudgedHits | None) -> dict[str, Blob]:
    """The arrays and lists of an evaluation by role, as "queries"; empty ones are left out."""
    files = {
        "queries": _list_blob(evaluation.queries),
        "values": array_blob(np.asarray(evaluation.values, np.float64)),
    }
    if not evaluation.scored.all():
        files["scored"] = array_blob(np.asarray(evaluation.scored, np.bool_))
    if len(evaluation.coverage.missing_queries):
        files["missing"] = _list_blob(evaluation.coverage.missing_queries)
    if evaluation.coverage.by_measure:
        files["coverage"] = _coverage_blob(evaluation)
    if evaluation.texts:
        files["texts"] = Blob.of(
            canonical({text: list(words) for text, words in evaluation.texts.items()}).encode(),
            "json",
        )
    if hits is not None:
        files["hits"] = hits_blob(hits)
    return files


def _list_blob(ids: Sequence[str]) -> Blob:
    # Ids that are not UTF-8 have surrogates, which ASCII JSON escapes and gives back.
    return Blob.of(json.dumps(list(ids), separators=(",", ":")).encode(), "json")


def _coverage_blob(evaluation: Evaluation) -> Blob:
    """Counts by measure, with the places of the queries without a relevant document where these are
    known.
    """
    place_of = {query: place for place, query in enumerate(evaluation.queries)}
    record: Fields = {}
    for text, counts in evaluation.coverage.by_measure.items():
        record[text] = counts.as_dict()
        if len(counts.unanswerable) == counts.no_relevant and all(
            query in place_of for query in counts.unanswerable
        ):
            record[text]["unanswerable"] = [place_of[query] for query in counts.unanswerable]
    return Blob.of(canonical(record).encode(), "json")


def hits_blob(hits: JudgedHits) -> Blob:
    """Hits as a compressed NumPy archive; their queries belong to the evaluation."""
    pool = list(dict.fromkeys(hits.documents))
    places = {document: place for place, document in enumerate(pool)}
    pool_bytes = np.frombuffer(json.dumps(pool, separators=(",", ":")).encode(), np.uint8)
    columns = {name: getattr(hits, name) for name in _HIT_COLUMNS}
    place_of_document = np.array([places[document_id] for document_id in hits.documents], np.int64)
    buffer = BytesIO()
    np.savez_compressed(
        buffer,
        documents=pool_bytes,
        document=place_of_document,
        depth=np.int64(hits.depth),
        **columns,
    )
    return Blob.of(buffer.getvalue(), "npz")


def read_hits(content: bytes, queries: Sequence[str]) -> JudgedHits:
    """The hits of an archive that `hits_blob` made."""
    with np.load(BytesIO(content), allow_pickle=False) as archive:
        columns = {name: archive[name] for name in _HIT_COLUMNS}
        pool = json.loads(archive["documents"].tobytes())
        documents = [pool[place] for place in archive["document"].tolist()]
        return JudgedHits(
            queries=queries, documents=documents, depth=int(archive["depth"]), **columns
        )


def read_convention(record: Fields, whose: str, passed: Convention | None = None) -> Convention:
    """The convention of a record; `passed` if it has functions of the user's own."""
    if passed is not None:
        if passed.fingerprint != record["fingerprint"]:
            raise IncompatibleError(
                f"{whose}: found convention {passed}, expected {record['name']} "
                f"[{record['fingerprint']}]"
            )
        return passed
    switches = {name: value for name, value in record["switches"].items() if name in SWITCHES}
    custom = [name for name, value in switches.items() if value.startswith("custom:")]
    unknown = custom or sorted(set(record["switches"]) - set(switches))
    if unknown:
        raise OptionError(
            f"{whose}: its convention {record['name']} has {', '.join(unknown)} of your own, of "
            f"which a store keeps only the name",
            hint="pass the convention, as in store.evaluation(id, convention=...)",
            command_hint="read it in Python, as in store.evaluation(id, convention=...)",
        )
    switches["cutoff"] = None if switches.get("cutoff", "none") == "none" else switches["cutoff"]
    alignment = Alignment(**{name: switches[name] for name in _ALIGNMENT if name in switches})
    rules = Rules(**{name: switches[name] for name in Rules.names() if name in switches})
    return Convention(
        name=record["name"],
        alignment=alignment,
        rules=rules,
        tool=record["tool"],
        proof=record["proof"],
    )


def read_measures(
    records: Sequence[Fields], whose: str, passed: Sequence[Measure] = ()
) -> tuple[Measure, ...]:
    """The measures of a record; user-defined classes are looked up in `passed`."""
    passed_by_text = {str(measure): measure for measure in passed}
    measures: list[Measure] = []
    for measure_fields in records:
        text = measure_fields["text"]
        if text in passed_by_text:
            measures.append(passed_by_text[text])
        elif measure_fields["parses"]:
            measures.append(parse_measure(text))
        else:
            raise OptionError(
                f"{whose}: {text} is a measure of your own, of which a store keeps only text and "
                "values",
                hint="pass it, as in store.evaluation(id, measures=[...]), or read the values, as "
                f"in store.evaluation(id).values({text!r})",
                command_hint="read it in Python, as in store.evaluation(id, measures=[...])",
            )
    return tuple(measures)


def read_coverage(
    record: Fields, missing: Sequence[str], by_measure: Mapping[str, MeasureCoverage] | None = None
) -> Coverage:
    """The coverage of an evaluation's record; earlier versions kept no counts by measure."""
    counts = record["coverage"]
    # records of earlier versions have neither these counts nor their total
    by_rank = record.get("relevant_by_rank", ())
    return Coverage(
        **{name: counts.get(name, 0) for name in _COUNTS},
        missing_queries=tuple(missing),
        relevant_by_rank=tuple(by_rank),
        by_measure=by_measure or {},
    )


def read_measure_coverage(content: bytes, queries: Sequence[str]) -> dict[str, MeasureCoverage]:
    """The counts by measure of a value file, with the ids of the queries without a relevant
    document.
    """
    by_measure: dict[str, MeasureCoverage] = {}
    for text, counts in json.loads(content).items():
        unanswerable = tuple(queries[place] for place in counts.get("unanswerable", ()))
        by_measure[text] = MeasureCoverage(**{**counts, "unanswerable": unanswerable})
    return by_measure


def read_array(content: bytes, kind: str, shape: tuple[int, int], whose: str) -> Any:
    """An array of a value file, its type and shape checked."""
    return view_array(content, kind, shape, whose).copy()


def view_array(content: bytes, kind: str, shape: tuple[int, int], whose: str) -> Any:
    """An array as `read_array` gives it, read only and without a copy: for a few of the values of
    many files.
    """
    header = _array_header(kind, shape)
    size = len(header) + math.prod(shape) * np.dtype(kind).itemsize
    # NumPy takes longer to parse a header than the hash takes, so that it does so only for a file
    # that `array_blob` did not write.
    if content.startswith(header) and len(content) == size:
        array: Any = np.frombuffer(content, kind, offset=len(header)).reshape(shape)
    else:
        array = np.lib.format.read_array(BytesIO(content), allow_pickle=False)
    if array.dtype != np.dtype(kind) or array.shape != shape:
        raise InputError(
            f"{whose}: found {array.dtype} values of shape {array.shape} in its file, expected "
            f"{kind} of shape {shape}"
        )
    return array.astype(array.dtype.newbyteorder("="), copy=False)


@lru_cache(maxsize=8)
def _array_header(kind: str, shape: tuple[int, int]) -> bytes:
    """The bytes before the values in a file that `array_blob` writes."""
    buffer = BytesIO()
    np.lib.format.write_array_header_1_0(
        buffer, {"descr": kind, "fortran_order": False, "shape": shape}
    )
    return buffer.getvalue()
