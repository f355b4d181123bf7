"""Judgments: grades of documents by query, and the fingerprints that tell whether two evaluations
had the same judgments.
"""

import hashlib
import struct
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Any, Literal, cast

import numpy as np

from idealrank import _kernel
from idealrank.data.eligibility import Eligibility
from idealrank.data.label_kinds import LabelKind, Labels
from idealrank.data.problems import translate
from idealrank.data.types import FloatArray, IntArray, QueryIds, decode_id, sought_id, table_columns
from idealrank.errors import InputError

# Fingerprints of judgments: they tell whether two evaluations had the same judgments, whatever
# file, frame or mapping held them.
#
# A fingerprint is two sums modulo 2**64 of a hash of every judgment, written as 32 hexadecimal
# digits. A sum has no order, and the sums of two parts of a collection are added.
# ``src/kernel/fingerprint.hpp`` hashes grades and labels; judgment groups (assessors,
# preferences) are hashed here, by BLAKE2b. Stores and baseline files keep fingerprints: neither
# hash may change.

_MODULUS = 1 << 64


def fingerprint_text(first: int, second: int) -> str:
    """Two sums as 32 hexadecimal digits."""
    return f"{first % _MODULUS:016x}{second % _MODULUS:016x}"


def added(first: str | None, second: str | None) -> str | None:
    """The fingerprint of both parts of a collection that was split by query; None where one part
    has none.

    Examples
    --------
    >>> from idealrank.data.qrels import Qrels
    >>> one, two, both = (
    ...     Qrels({"p": {"a": 1}}),
    ...     Qrels({"q": {"a": 1}}),
    ...     Qrels({"q": {"a": 1}, "p": {"a": 1}}),
    ... )
    >>> added(one.fingerprint, two.fingerprint) == both.fingerprint, added(one.fingerprint, None)
    (True, None)
    """
    if first is None or second is None:
        return None
    return fingerprint_text(
        int(first[:16], 16) + int(second[:16], 16), int(first[16:], 16) + int(second[16:], 16)
    )


def added_labels(first: int, second: int, n_queries: int, kind: str) -> tuple[int, int]:
    """Sums with a declared kind of labels: a constant for each query, so that parts add up."""
    digest = hashlib.blake2b(b"labels " + kind.encode(), digest_size=16).digest()
    return (
        first + n_queries * int.from_bytes(digest[:8], "little"),
        second + n_queries * int.from_bytes(digest[8:], "little"),
    )


def fingerprint_of_groups(
    kind: bytes, judgments: Iterable[tuple[tuple[bytes, bytes, int], bytes, float]]
) -> str:
    """The fingerprint of judgments that are made in groups.

    The numbers of sub-groups only say which judgments belong together: sub-groups have no order,
    and their names do not count.
    """
    subgroups: dict[tuple[bytes, bytes, int], list[tuple[bytes, bytes]]] = {}
    for subgroup, document, level in judgments:
        packed = struct.pack("<d", level + 0.0)  # -0.0 is 0
        subgroups.setdefault(subgroup, []).append((document, packed))
    first = second = 0
    for (query, group, _), judged in subgroups.items():
        words = [kind, query, group, *chain.from_iterable(sorted(judged))]
        digest = hashlib.blake2b(
            b"".join(b"%d:%b" % (len(word), word) for word in words), digest_size=16
        ).digest()
        first = first + int.from_bytes(digest[:8], "little")
        second = second + int.from_bytes(digest[8:], "little")
    return fingerprint_text(first, second)


QrelsDuplicates = Literal["error", "first", "last", "best"]


class Qrels:
    """Grades by query and document; immutable. Documents without a grade are unjudged.

    Parameters
    ----------
    grades : mapping of str to mapping of str to number, or to list or set of str
        ``{query: {document: grade}}``; grades become float64 and must be finite. ``{user: [item,
        ...]}`` and sets give each document the grade 1.
    name : str
        Name used in messages.
    labels_are : {"complete", "pooled", "positive-only"}, optional
        Kind of the labels, which decides what a document without a label is taken to be; see
        `labels`. By default it is found in the grades: pooled if at least a tenth of the queries
        have a grade of 0 or less, else positive-only.
    sampled_negatives : float, optional
        Share of the non-relevant documents that were labelled, if every relevant document was; the
        labels are then pooled.

    Raises
    ------
    InputError
        The grades do not have this form, a grade is not a finite number, an id is empty or is not
        text, or a list names a document twice.
    OptionError
        The kind of labels or the share is impossible.

    Examples
    --------
    >>> qrels = Qrels({"q1": {"d1": 2, "d2": 0}})
    >>> qrels.n_queries, qrels.n_judgments, qrels["q1"]
    (1, 2, {'d1': 2.0, 'd2': 0.0})
    >>> Qrels({"ann": ["i1", "i7"]})["ann"]
    {'i1': 1.0, 'i7': 1.0}
    """

    def __init__(
        self,
        grades: Mapping[str, Mapping[str, float] | Collection[str]],
        *,
        name: str = "qrels",
        labels_are: LabelKind | None = None,
        sampled_negatives: float | None = None,
    ) -> None:
        if not isinstance(grades, Mapping):
            raise InputError(
                f"qrels: found {type(grades).__name__}, expected {{query: {{document: grade}}}}"
            )
        if any(not isinstance(graded, (dict, Mapping)) for graded in grades.values()):
            grades = {query: _graded(query, graded) for query, graded in grades.items()}
        try:
            table = _kernel.from_mapping(cast(Any, grades))
        except _kernel.ParseError as error:
            raise translate(error, (), "qrels") from None
        except TypeError as error:
            raise InputError(f"qrels: {error}") from None
        except OverflowError:
            raise InputError(
                "qrels: found a grade above the largest float (1.8e308), expected a finite number"
            ) from None
        self._take(table, name, ())
        self._declare(labels_are, sampled_negatives)

    @classmethod
    def from_table(
        cls, table: _kernel.Table, *, name: str = "qrels", paths: Sequence[str] = ()
    ) -> "Qrels":
        """Judgments that the kernel has read.

        Examples
        --------
        >>> from idealrank import _kernel
        >>> Qrels.from_table(_kernel.from_mapping({"q1": {"d1": 1}})).n_judgments
        1
        """
        self = cls.__new__(cls)
        self._take(table, name, tuple(paths))
        return self

    @classmethod
    def from_columns(
        cls,
        queries: Any,
        documents: Any,
        grades: FloatArray,
        *,
        duplicates: QrelsDuplicates = "error",
        name: str = "qrels",
    ) -> "Qrels":
        """Build judgments from three columns of equal length, rows in any order.

        Parameters
        ----------
        queries, documents : sequence of str, bytes or int, or (offsets, bytes)
            Ids; a pair stands for an Arrow-like text column.
        grades : float64 array, shape (n,)
            The grades.
        duplicates : {"error", "first", "last", "best"}
            Treatment of a document judged twice for a query.

        Examples
        --------
        >>> Qrels.from_columns(["q1", "q1"], ["d1", "d2"], np.array([1.0, 0.0]))["q1"]
        {'d1': 1.0, 'd2': 0.0}
        """
        try:
            table = _kernel.from_columns(
                queries, documents, np.ascontiguousarray(grades, np.float64), duplicates=duplicates
            )
        except _kernel.ParseError as error:
            raise translate(error, (name,) if name != "qrels" else (), "qrels") from None
        return cls.from_table(table, name=name)

    def _take(self, table: _kernel.Table, name: str, paths: tuple[str, ...]) -> None:
        finite = np.isfinite(table.values)
        if not finite.all():
            row = int(np.flatnonzero(~finite)[0])
            query = int(np.searchsorted(table.offsets, row, side="right")) - 1
            raise InputError(
                f"{paths[0] if paths else name}: query {decode_id(table.query_id(query))!r}, "
                f"document {decode_id(table.document_id(row))!r}: found grade {table.values[row]}, "
                "expected a finite number"
            )
        self._table = table
        self.name = name
        self.paths = paths
        self._declared: tuple[LabelKind | None, float | None] = (None, None)
        self.eligibility: Eligibility | None = None
        self.query_word = "query"  # "user" where the column of the queries has this name
        self._queries = QueryIds(
            table.n_queries, lambda: [decode_id(query) for query in table.query_ids()]
        )

    def _declare(self, labels_are: LabelKind | None, sampled_negatives: float | None) -> None:
        if labels_are is None and sampled_negatives is None:
            return
        self._declared = labels_are, sampled_negatives
        _ = self.labels  # refuses what is impossible

    def labelled(
        self, labels_are: LabelKind | None = None, *, sampled_negatives: float | None = None
    ) -> "Qrels":
        """Return the judgments with a declared kind of labels; without arguments, with their own.

        Examples
        --------
        >>> Qrels({"q": {"a": 1}}).labelled("complete").labels.kind
        'complete'
        """
        if labels_are is None and sampled_negatives is None:
            return self
        declared = Qrels.from_table(self._table, name=self.name, paths=self.paths)
        declared.eligibility = self.eligibility
        declared._declare(labels_are, sampled_negatives)
        declared.query_word = self.query_word
        return declared

    def restricted(self, eligibility: Eligibility) -> "Qrels":
        """Return the judgments that may count; runs that are joined to them lose what may not.

        Examples
        --------
        >>> from idealrank.data.eligibility import DocumentTable
        >>> excluded = DocumentTable({"q": ["a"]})
        >>> Qrels({"q": {"a": 1, "b": 2}}).restricted(Eligibility(excluded=excluded))["q"]
        {'b': 2.0}
        """
        if self.eligibility is not None:
            raise InputError(
                f"{self.name}: found judgments that are restricted already, expected those as read"
            )
        table = eligibility.judgments_of(self._table)
        left = Qrels.from_table(table, name=self.name, paths=self.paths)
        left.query_word = self.query_word
        left._declared = self._declared
        left.eligibility = replace(eligibility, excluded_judgments=self.n_judgments - table.n_rows)
        return left

    @cached_property
    def labels(self) -> Labels:
        """Kind of the labels, declared or found in the grades.

        Examples
        --------
        >>> Qrels({"q": {"a": 1}}).labels.kind
        'positive-only'
        """
        declared, sampled_negatives = self._declared
        return Labels.of(
            self.grades, self.offsets, declared=declared, sampled_negatives=sampled_negatives
        )

    @property
    def table(self) -> _kernel.Table:
        """The kernel's columns."""
        return self._table

    @property
    def n_queries(self) -> int:
        """Number of judged queries."""
        return self._table.n_queries

    @property
    def n_judgments(self) -> int:
        """Number of judged documents over all queries."""
        return self._table.n_rows

    @property
    def queries(self) -> QueryIds:
        """Query ids in order of first appearance."""
        return self._queries

    @property
    def offsets(self) -> IntArray:
        """Row offsets of the queries, shape (n_queries + 1,)."""
        return self._table.offsets

    @property
    def grades(self) -> FloatArray:
        """Grades, shape (n_judgments,), query after query."""
        return self._table.values

    @property
    def counters(self) -> dict[str, int]:
        """Counters of reading: lines, comments, duplicates, ..."""
        return self._table.counters

    @cached_property
    def fingerprint(self) -> str:
        """Hash of all (query, document, grade), 32 hexadecimal digits; the same for the same
        judgments, whatever held them, in any order.

        Grades count as given: 1 as 1.0, -0.0 as 0. The fingerprints of parts without a query in
        common add up to the fingerprint of the whole. A declared kind of labels that the grades do
        not show changes it.

        Examples
        --------
        >>> Qrels({"q": {"a": 1, "b": 0}}).fingerprint == Qrels.from_columns(
        ...     ["q", "q"], ["b", "a"], np.array([0.0, 1.0])
        ... ).fingerprint
        True
        """
        sums = _kernel.fingerprint(self._table)
        if self._declared != (None, None) and self.labels.differ_from_grades:
            share = self.labels.sampled_negatives
            declared = self.labels.kind if share is None else f"{self.labels.kind} {share!r}"
            sums = added_labels(*sums, self.n_queries, declared)
        if self.eligibility is not None:
            more = self.eligibility.sums(self._table)
            sums = sums[0] + more[0], sums[1] + more[1]
        return fingerprint_text(*sums)

    def __contains__(self, query_id: object) -> bool:
        return isinstance(query_id, str) and self._table.find_query(sought_id(query_id)) >= 0

    def __getitem__(self, query_id: str) -> dict[str, float]:
        query = self._table.find_query(sought_id(query_id))
        if query < 0:
            raise KeyError(query_id)
        rows = np.arange(self.offsets[query], self.offsets[query + 1])
        names = self._table.document_ids(rows)
        return {
            decode_id(name): float(self.grades[row]) for name, row in zip(names, rows, strict=True)
        }

    def __iter__(self) -> Iterator[str]:
        return iter(self.queries)

    def __len__(self) -> int:
        return self.n_queries

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process gets columns and builds the table again."""
        columns = table_columns(self._table)
        rest = self._declared, self.query_word, self.eligibility
        return _rebuilt, (columns, self.name, self.paths, *rest)

    def __repr__(self) -> str:
        return f"Qrels({self.name!r}: {self.n_queries} queries, {self.n_judgments} judgments)"


def _graded(query: str, documents: Any) -> Mapping[str, float]:
    """Grades of a query; documents of a list or a set have the grade 1."""
    if isinstance(documents, (dict, Mapping)):
        return documents
    if not isinstance(documents, (list, tuple, set, frozenset)):
        expected = "{document: grade}, or a list or set of documents, which have the grade 1"
        raise InputError(
            f"qrels: query {query!r}: found {type(documents).__name__}, expected {expected}"
        )
    try:
        graded = dict.fromkeys(documents, 1.0)
    except TypeError:
        raise InputError(
            f"qrels: query {query!r}: found documents that are not ids, expected text"
        ) from None
    if len(graded) < len(documents):
        seen: set[Any] = set()
        for document in documents:
            if document in seen:
                raise InputError(
                    f"qrels: query {query!r}: found document {document!r} twice in a list, "
                    f"expected each once, as in a set"
                )
            seen.add(document)
    return graded


def _rebuilt(
    columns: tuple[Any, Any, FloatArray],
    name: str,
    paths: tuple[str, ...],
    declared: tuple[LabelKind | None, float | None] = (None, None),
    query_word: str = "query",
    eligibility: Eligibility | None = None,
) -> Qrels:
    qrels = Qrels.from_table(_kernel.from_columns(*columns), name=name, paths=paths)
    qrels.query_word = query_word
    qrels.eligibility = eligibility
    labels_are, sampled_negatives = declared
    return qrels.labelled(labels_are, sampled_negatives=sampled_negatives)
