"""Problems that show between judgments and a run: queries and documents that never meet, grades and
scores without effect.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

import numpy as np

from idealrank import _kernel
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.types import IntArray, decode_id
from idealrank.errors import shown
from idealrank.evaluation.coverage import (
    look_like_grades,
    look_like_scores,
    no_common_query_words,
    no_judged_document_words,
    without_relevant_words,
)
from idealrank.io.complaints import Severity

_FILE_ENDING = re.compile(r"\.(?:txt|html?|xml|json|pdf|md)\Z", re.IGNORECASE)
# By the words for a difference: a function that takes it away. They are tried in this order, from
# the smallest change on, and the first under which ids meet is the suspicion.
_CHANGES: dict[str, Callable[[str], str]] = {
    "blanks at the ends": str.strip,
    "invisible characters": lambda text: re.sub(r"[\ufeff\u200b-\u200f\u00ad]", "", text),
    "upper and lower case": str.casefold,
    "quotation marks": lambda text: text.strip("'\"`"),
    "the form of Unicode (composed or not)": lambda text: unicodedata.normalize("NFC", text),
    "percent-encoding": unquote,
    "a decimal point (numbers written as 7.0)": lambda text: re.sub(r"\A(\d+)\.0+\Z", r"\1", text),
    "leading zeros": lambda text: re.sub(r"\A0+(?=\d)", "", text),
    "a file ending": lambda text: _FILE_ENDING.sub("", text),
    "a leading folder": lambda text: text.rstrip("/").rpartition("/")[2],
    "a prefix before the number": lambda text: re.sub(r"\A\D+(?=\d+\Z)", "", text),
    "a prefix and zeros before the number": lambda text: re.sub(r"\A\D*0*(?=\d+\Z)", "", text),
    "the part after a separator": lambda text: re.split(r"[-_:#]", text)[0],
}
# Ids of one side must lack what is taken away from the other: SKU-1 and SKU-2 are two products, and
# chunk d1#2 is of document d1.
_LACKED_BY_ONE = frozenset({"the part after a separator"})


@dataclass(frozen=True, kw_only=True)
class Resemblance:
    """A suspicion why the ids of two sides do not match."""

    difference: str  # Words for the difference
    # left, right: A pair that is equal without the difference
    left: str
    right: str
    count: int  # Number of ids of the left side with such a pair


def resemblance(left: Iterable[str], right: Iterable[str]) -> Resemblance | None:
    """Find a change of spelling under which ids of both sides meet."""
    left_ids = list(dict.fromkeys(left))
    right_ids = list(dict.fromkeys(right))
    for difference, change in _CHANGES.items():
        # in reverse, so that the first of the ids that become the same is kept
        right_by_change = {change(right_id): right_id for right_id in reversed(right_ids)}
        right_by_change.pop("", None)
        meeting = []
        for left_id in left_ids:
            changed = change(left_id)
            right_id = right_by_change.get(changed)
            if right_id is None or right_id == left_id:
                continue
            if difference not in _LACKED_BY_ONE or changed in (left_id, right_id):
                meeting.append((left_id, right_id))
        if meeting:
            first_left, first_right = meeting[0]
            return Resemblance(
                difference=difference, left=first_left, right=first_right, count=len(meeting)
            )
    return None


# Enough queries and ids to see in which way they differ.
_SAMPLED_QUERIES = 3
_SAMPLED_IDS = 5000


@dataclass(frozen=True, kw_only=True)
class Observation:
    """Something that judgments and run show only together."""

    kind: str  # Short name
    count: int  # Queries (or documents) concerned
    message: str  # In words
    examples: tuple[str, ...] = ()  # The first of them
    severity: Severity = "warning"  # An error if no number could mean anything

    def __str__(self) -> str:
        if not self.examples:
            return self.message
        more = ", ..." if self.count > len(self.examples) else ""
        return f"{self.message}: {', '.join(self.examples)}{more}"


def observe_qrels(qrels: Qrels, examples: int = 3) -> list[Observation]:
    """Observe queries whose judgments cannot tell one ranking from another, and negative grades."""
    observations = []
    n = qrels.n_queries
    judged = np.flatnonzero(np.diff(qrels.offsets))
    highest = np.zeros(0)
    if judged.size:
        highest = np.maximum.reduceat(qrels.grades, qrels.offsets[judged])
    negative = judged[highest < 0]
    zero = judged[highest == 0]
    for kind, query_numbers, message in (
        ("negative", negative, f"{negative.size} of {n} queries have negative grades alone"),
        ("no-relevant", zero, without_relevant_words(zero.size, n)),
    ):
        if query_numbers.size:
            id_of = qrels.queries.__getitem__
            observations.append(_observation(kind, query_numbers, message, id_of, examples))
    n_negative = int(np.count_nonzero(qrels.grades < 0))
    if n_negative:
        choices = "negative=zero, kept, removed or error"
        message = (
            f"{n_negative} of {qrels.n_judgments} grades are negative; the convention decides "
            f"their value ({choices})"
        )
        observations.append(Observation(kind="negative-grades", count=n_negative, message=message))
    return observations


def observe_run(qrels: Qrels, run: Run, examples: int = 3) -> list[Observation]:
    """List what does not match between judgments and run, and scores that leave the order to
    chance.
    """
    aligned = _kernel.align(qrels.table, run.source, ties="input", duplicates="twice")
    # with scores in single precision, in which more of them tie
    single = _kernel.align(qrels.table, run.source, ties="input", duplicates="twice", float32=True)
    return [
        *_queries_that_do_not_meet(qrels, aligned, examples),
        *_documents_that_do_not_meet(qrels, run, aligned, examples),
        *_scores_that_tie(qrels, aligned, single, examples),
        *_swapped(qrels, run),
    ]


def _swapped(qrels: Qrels, run: Run) -> Iterable[Observation]:
    """Observe fractions as grades together with few small whole numbers as scores."""
    table = run.source
    if (
        isinstance(table, _kernel.Table)
        and look_like_scores(qrels.grades)
        and look_like_grades(table.values, table.offsets)
    ):
        message = (
            "scores are a few small integers, and grades many fractions: are the files swapped? "
            "judgments come first"
        )
        yield Observation(kind="swapped", count=table.n_queries, message=message)


def _observation(
    kind: str,
    query_numbers: IntArray,
    message: str,
    id_of: Callable[[int], str],
    examples: int,
    *,
    severity: Severity = "warning",
) -> Observation:
    return Observation(
        kind=kind,
        count=int(query_numbers.size),
        message=message,
        examples=tuple(id_of(int(query)) for query in query_numbers[:examples]),
        severity=severity,
    )


def _queries_that_do_not_meet(
    qrels: Qrels, aligned: _kernel.Aligned, examples: int
) -> Iterable[Observation]:
    n = aligned.n_qrels_queries
    missing = np.flatnonzero(~aligned.in_run[:n])
    extra = [decode_id(query) for query in aligned.run_only_ids()]
    unanswered = [qrels.queries[int(query)] for query in missing[:_SAMPLED_IDS]]
    alike = resemblance(unanswered, extra[:_SAMPLED_IDS])
    hint = "; ids differ by " + _described(alike, "answered") if alike else ""
    judged_id = qrels.queries.__getitem__
    if missing.size == n and extra:
        hint = hint or _unlike(unanswered, extra, "answered")
        message = no_common_query_words(n) + hint
        yield _observation(
            "no-common-query", missing, message, judged_id, examples, severity="error"
        )
    elif missing.size:
        message = f"{missing.size} of {n} judged queries are not in the run{hint}"
        yield _observation("missing", missing, message, judged_id, examples)
    if extra:
        answered = int(np.count_nonzero(aligned.in_run))
        message = f"{len(extra)} of {answered} queries of the run have no judgments"
        numbers = np.arange(len(extra))
        yield _observation("without-judgments", numbers, message, extra.__getitem__, examples)


def _described(alike: Resemblance, participle: str) -> str:
    """Describe a difference between judged ids and ids that are answered or listed."""
    return f'{alike.difference} ("{alike.left}" judged, "{alike.right}" {participle})'


def _unlike(judged: Sequence[str], others: Sequence[str], participle: str) -> str:
    """Give an id of each side as an example, where no change of spelling joins the sides."""
    if not judged or not others:
        return ""
    return f'; such as "{shown(judged[0])}" judged, "{shown(others[0])}" {participle}'


def _documents_that_do_not_meet(
    qrels: Qrels, run: Run, aligned: _kernel.Aligned, examples: int
) -> Iterable[Observation]:
    n = aligned.n_qrels_queries
    has_documents = aligned.in_run[:n] & (aligned.returned[:n] > 0)
    without_judged = np.flatnonzero(has_documents & (aligned.judged[:n] == 0))
    empty = np.flatnonzero(aligned.in_run[:n] & (aligned.returned[:n] == 0))
    judged_id = qrels.queries.__getitem__
    if empty.size:
        message = f"{empty.size} of {n} judged queries have an empty list in the run"
        yield _observation("empty-list", empty, message, judged_id, examples)
    if not without_judged.size:
        return
    judged, listed = _sampled_documents(qrels, run, without_judged[:_SAMPLED_QUERIES])
    alike = resemblance(judged, listed)
    hint = "; ids differ by " + _described(alike, "listed") if alike else ""
    total = int(np.count_nonzero(has_documents))
    severity: Severity = "warning"
    if without_judged.size == total and alike:
        severity = "error"
    elif without_judged.size == total:
        hint = _unlike(judged, listed, "listed")
    message = no_judged_document_words(without_judged.size, total) + hint
    yield _observation(
        "no-judged-document", without_judged, message, judged_id, examples, severity=severity
    )


def _sampled_documents(
    qrels: Qrels, run: Run, queries: IntArray
) -> tuple[Sequence[str], Sequence[str]]:
    judged: list[str] = []
    listed: list[str] = []
    for query in map(int, queries):
        rows = np.arange(qrels.offsets[query], qrels.offsets[query + 1])[:_SAMPLED_IDS]
        judged += [decode_id(document) for document in qrels.table.document_ids(rows)]
        source = run.source
        query_id = qrels.table.query_id(query)
        if isinstance(source, _kernel.Text):
            source = _kernel.read_text(source, duplicates="keep", only_query=query_id)
        number = source.find_query(query_id)
        run_rows = np.arange(source.offsets[number], source.offsets[number + 1])[:_SAMPLED_IDS]
        listed += [decode_id(document) for document in source.document_ids(run_rows)]
    return judged, listed


def _scores_that_tie(
    qrels: Qrels, aligned: _kernel.Aligned, single: _kernel.Aligned, examples: int
) -> Iterable[Observation]:
    extra = [decode_id(query) for query in aligned.run_only_ids()]

    def id_of(query: int) -> str:
        # queries without judgments come after the judged ones
        return qrels.queries[query] if query < qrels.n_queries else extra[query - qrels.n_queries]

    answered = int(np.count_nonzero(aligned.in_run))
    constant = _constant(aligned)
    if constant.size:
        message = (
            f"{constant.size} of {answered} queries have one score for all documents; only the "
            f"tie rule orders them"
        )
        yield _observation("constant-scores", constant, message, id_of, examples)
    if single.tied.sum() > aligned.tied.sum():
        with_new_ties = np.flatnonzero(single.tied > aligned.tied)
        message = (
            f"{with_new_ties.size} of {answered} queries have scores that differ only in double "
            f"precision; they tie under conventions with float32"
        )
        yield _observation("single-precision-ties", with_new_ties, message, id_of, examples)


def _constant(aligned: _kernel.Aligned) -> IntArray:
    """Queries in which one tie group is the whole list. Queries without a judged document have no
    tie groups here, and do not matter.
    """
    if aligned.tie_first.size == 0:
        return np.zeros(0, np.int64)
    query = np.repeat(np.arange(aligned.n_queries), np.diff(aligned.hit_offsets))
    whole = (
        (aligned.tie_first == 1)
        & (aligned.tie_last == aligned.length[query])
        & (aligned.tie_last > 1)
    )
    return np.unique(query[whole])
