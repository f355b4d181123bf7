"""Ranked lists held as arrays, as learning-to-rank code has them: a label and a score per item, and
where each query begins.

Items in any order are brought together by the id of their query.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from idealrank import _kernel
from idealrank.data.alignment import Alignment
from idealrank.data.judged import Alignments, Hits, Judged, Judgments, Rectangle, Scope, TieMembers
from idealrank.data.policies import apply_grade_policies, ideal_grades
from idealrank.data.problems import EXPECTED, first_lost_of_lists
from idealrank.data.qrels import fingerprint_text
from idealrank.data.segments import joined_ranges, sizes_of, starts_of
from idealrank.data.types import AnyArray, BoolArray, FloatArray, IntArray, QueryIds, thread_count
from idealrank.errors import InputError


def id_array(ids: Any) -> AnyArray:
    """Ids of queries as an array; a list may not mix texts and numbers, of which NumPy makes
    texts.
    """
    if isinstance(ids, Sequence) and not isinstance(ids, (str, bytes)):
        is_text = {
            kind: (issubclass(kind, str), issubclass(kind, bytes)) for kind in set(map(type, ids))
        }
        if len(set(is_text.values())) > 1:
            kinds = [is_text[type(query_id)] for query_id in ids]
            place = next(place for place, kind in enumerate(kinds) if kind != kinds[0])
            raise InputError(
                f"qid: item {place}: found {ids[place]!r} after {ids[0]!r} (ids of several types), "
                "expected ids of one type; make all of them texts or all of them numbers"
            )
    return np.asarray(ids)


def group_by_id(qid: AnyArray, n: int) -> tuple[IntArray, IntArray | None, QueryIds]:
    """Offsets, order and names of queries in order of first appearance; the order is None when
    queries stand together already.
    """
    if qid.shape != (n,):
        raise InputError(f"qid has shape {qid.shape}, expected one id per item, ({n},)")
    if qid.dtype.kind == "f" and np.isnan(qid).any():
        raise InputError(
            f"qid: found NaN at item {int(np.flatnonzero(np.isnan(qid))[0])}, expected an id "
            f"for every item"
        )
    if n == 0:
        return np.zeros(1, np.int64), None, QueryIds(0, list)
    # Stretches of items with one id are sorted instead of items: it is cheaper, and usually shows
    # that nothing need be moved.
    starts = starts_of(qid)
    names = qid[starts]
    sizes = sizes_of(starts, n)
    try:
        by_name = _stable_order(names)
    except TypeError:
        raise InputError(
            "qid: found ids of several types (is one of them None?), expected ids of one type"
        ) from None
    heads = starts_of(names[by_name])
    if heads.size == names.size:
        queries = QueryIds(names.size, lambda: [str(name) for name in names])
        return np.append(starts, n).astype(np.int64), None, queries
    first = by_name[heads]  # the first stretch of each query, for the sort is stable
    by_appearance = np.argsort(first)
    n_stretches = sizes_of(heads, names.size)[by_appearance]
    stretches = by_name[joined_ranges(heads[by_appearance], n_stretches)]
    n_items = np.add.reduceat(sizes[by_name], heads)[by_appearance]
    ordered = names[first[by_appearance]]
    offsets = np.concatenate(([0], np.cumsum(n_items))).astype(np.int64)
    order = joined_ranges(starts[stretches], sizes[stretches])
    return offsets, order, QueryIds(ordered.size, lambda: [str(name) for name in ordered])


def numbers_of_queries(qid: AnyArray, offsets: IntArray, order: IntArray | None) -> IntArray | None:
    """The ids of the queries that `group_by_id` found, where they are whole numbers; else None."""
    if qid.dtype.kind != "i":
        return None
    heads = offsets[:-1]
    return qid[heads if order is None else order[heads]].astype(np.int64)


def _stable_order(values: AnyArray) -> IntArray:
    """The order that sorts, equal values as they came.

    Whole numbers are packed with their place into one key, for NumPy sorts numbers many times
    faster than it sorts places.
    """
    if values.dtype.kind == "i":
        low = int(values.min())
        bits = values.size.bit_length()
        if (int(values.max()) - low).bit_length() + bits < 63:
            key = values.astype(np.int64)  # in place from here on: no copy of a long column
            key -= low
            key <<= bits
            key |= np.arange(values.size)
            key.sort()
            key &= (1 << bits) - 1
            return key
    return np.argsort(values, kind="stable")


class Lists:
    """Labels and scores of many queries, every item judged; validated on construction and copied
    only if necessary.

    Parameters
    ----------
    labels, scores : array, shape (n,)
        float32, float64 or integers; one entry per item.
    offsets : int64 array, shape (n_queries + 1,)
        Query q has the items ``offsets[q]:offsets[q + 1]`` (of `order`, if given).
    order : int64 array, shape (n,), optional
        Permutation that groups items by query, if queries come in any order.
    queries : sequence of str, optional
        Query ids; default ``"0", "1", ...``.

    Examples
    --------
    >>> lists = Lists(np.array([1.0, 0.0]), np.array([0.2, 0.9]), np.array([0, 2]))
    >>> lists.n_queries
    1
    """

    def __init__(
        self,
        labels: AnyArray,
        scores: AnyArray,
        offsets: IntArray,
        *,
        order: IntArray | None = None,
        queries: QueryIds | None = None,
    ) -> None:
        self.labels = labels
        self.scores = scores
        self.offsets = offsets
        self.order = order
        # where each item stood before others were taken out, for messages
        self._items: IntArray | None = None
        # the ids of the queries, where they are whole numbers
        self._numbers: IntArray | None = None
        self._unnamed = queries is None
        self.queries = queries or QueryIds(
            offsets.size - 1, lambda: [str(i) for i in range(offsets.size - 1)]
        )

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return int(self.offsets.size) - 1

    @classmethod
    def from_arrays(
        cls,
        labels: Any,
        scores: Any,
        *,
        group: Any = None,
        offsets: Any = None,
        qid: Any = None,
        mask: Any = None,
        padding: float | None = None,
    ) -> "Lists":
        """Build lists from one of the usual layouts: one query, rows of a matrix, group sizes,
        offsets, or a query id per item.

        Parameters
        ----------
        labels, scores : array-like, shape (n,) or (n_queries, width)
            2-D: one query per row.
        group : array-like of int, optional
            Group sizes, as in LightGBM and XGBoost; they sum to n.
        offsets : array-like of int, optional
            Group offsets, from 0 to n.
        qid : array-like, shape (n,), optional
            A query id per item, in any order.
        mask : array-like of bool, optional
            Same shape as labels; False marks padding.
        padding : float, optional
            The label that marks padding.

        Raises
        ------
        InputError
            Shapes do not match, or more than one of group, offsets and qid is given.

        Examples
        --------
        >>> Lists.from_arrays([[1, 0], [2, 1]], [[0.1, 0.2], [0.5, 0.4]]).n_queries
        2
        >>> Lists.from_arrays([1, 0, 2], [0.1, 0.2, 0.3], qid=["b", "a", "b"]).queries[0]
        'b'
        """
        _refuse_other_rows(labels, {"scores": scores, "qid": qid, "mask": mask})
        label_array = as_numbers("labels", labels)
        score_array = _as_scores(scores)
        if label_array.shape != score_array.shape or label_array.ndim not in (1, 2):
            raise InputError(
                f"labels have shape {label_array.shape} and scores {score_array.shape}; expected "
                "the same 1-D or 2-D shape for both"
            )
        layouts = [
            name
            for name, value in (("group", group), ("offsets", offsets), ("qid", qid))
            if value is not None
        ]
        if len(layouts) > 1 or (layouts and label_array.ndim == 2):
            raise InputError(
                f"found {' and '.join(layouts)} with {label_array.ndim}-D labels; expected one of "
                "group, offsets, qid, and 1-D labels with it"
            )
        keep = _kept(label_array, mask, _padding(labels, padding))
        order = None
        queries = None
        if label_array.ndim == 2:
            bounds = np.arange(label_array.shape[0] + 1, dtype=np.int64) * label_array.shape[1]
        elif qid is not None:
            qid = id_array(qid)
            bounds, order, queries = group_by_id(qid, label_array.size)
        else:
            bounds = _bounds(group, offsets, label_array.size)
        lists = cls(
            np.ascontiguousarray(label_array).reshape(-1),
            np.ascontiguousarray(score_array).reshape(-1),
            bounds,
            order=order,
            queries=queries,
        )
        lists._numbers = None if qid is None else numbers_of_queries(qid, bounds, order)
        return lists if keep is None else lists.only(keep.reshape(-1))

    def part(self, begin: int, end: int) -> "Lists":
        """Return the lists from `begin` to before `end`; nothing is copied unless queries come in
        any order.

        Examples
        --------
        >>> Lists(np.array([1, 0, 2]), np.array([0.1, 0.9, 0.5]), np.array([0, 2, 3])).part(
        ...     1, 2
        ... ).labels
        array([2])
        """
        items = slice(int(self.offsets[begin]), int(self.offsets[end]))
        rows: slice | IntArray = items if self.order is None else self.order[items]
        queries = QueryIds(end - begin, lambda: list(self.queries[begin:end]))
        return Lists(
            self.labels[rows],
            self.scores[rows],
            self.offsets[begin : end + 1] - self.offsets[begin],
            queries=queries,
        )

    def only(self, keep: BoolArray) -> "Lists":
        """Return the lists without the items where `keep` is False; the other items close up.

        Examples
        --------
        >>> Lists(np.array([1, 0]), np.array([0.1, 0.9]), np.array([0, 2])).only(
        ...     np.array([True, False])
        ... ).offsets
        array([0, 1])
        """
        if self.order is not None:
            picked = self.order[keep[self.order]]
            kept_in_order = keep[self.order]
        else:
            picked = np.flatnonzero(keep)
            kept_in_order = keep
        counts = np.concatenate(([0], np.cumsum(kept_in_order))).astype(np.int64)
        kept = Lists(
            self.labels[picked], self.scores[picked], counts[self.offsets], queries=self.queries
        )
        kept._items = picked if self._items is None else self._items[picked]
        kept._numbers = self._numbers
        kept._unnamed = self._unnamed
        return kept

    def fingerprint(self, threads: int = 0) -> str:
        """Return a hash of the labels of each query, in any order, 32 hexadecimal digits; queries
        without ids are identified by position.

        Examples
        --------
        >>> given, turned = (Lists.from_arrays(labels, [0.2, 0.9]) for labels in ([1, 0], [0, 1]))
        >>> given.fingerprint() == turned.fingerprint()
        True
        """
        ids: IntArray | list[bytes] | None = self._numbers  # None: by position
        if ids is None and not self._unnamed:
            ids = [query.encode("utf-8", "surrogatepass") for query in self.queries]
        sums = _kernel.fingerprint_lists(
            self.labels,
            self.offsets,
            order=self.order,
            queries=ids,
            threads=thread_count(threads),
        )
        return fingerprint_text(*sums)

    def name_item(self, row: int) -> str:
        """Describe an item by its place in the arrays as given.

        Examples
        --------
        >>> Lists(np.array([1, 0]), np.array([0.1, 0.9]), np.array([0, 2])).only(
        ...     np.array([False, True])
        ... ).name_item(0)
        'item 1'
        """
        return f"item {row if self._items is None else self._items[row]}"

    def __repr__(self) -> str:
        return f"Lists({self.n_queries} queries, {self.labels.size} items)"


def as_numbers(name: str, values: Any) -> AnyArray:
    """An array of numbers in the types that lists are held in; `name` is for messages."""
    if isinstance(values, np.ma.MaskedArray):
        raise InputError(
            f"{name}: found a masked array, expected a plain one; pass its data, and mask= "
            f"with True for real items"
        )
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InputError(
            f"{name}: found rows of different lengths, expected an array; pass 1-D arrays "
            f"with group=, or pad with mask="
        ) from error
    if array.dtype == np.bool_:
        return array.astype(np.int8)
    if array.dtype.kind == "u" or array.dtype == np.float16:
        return array.astype(np.float64)
    if array.dtype.kind not in "if":
        raise InputError(f"{name}: found values of type {array.dtype}, expected numbers")
    if array.dtype.itemsize > 8:
        return array.astype(np.float64)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _as_scores(values: Any) -> AnyArray:
    """Scores as floats, none of which has lost its place in the order."""
    array = as_numbers("scores", values)
    numbers = np.asarray(values)
    lost = first_lost_of_lists(values, numbers)
    if lost is not None:
        lost_value = np.asarray(values, object).reshape(-1)[lost]
        raise InputError(
            f"scores: item {lost}: found {lost_value}, a whole number that float64 changes, "
            f"expected {EXPECTED}"
        )
    return array if array.dtype.kind == "f" else array.astype(np.float64)


def _refuse_other_rows(labels: Any, others: Mapping[str, Any]) -> None:
    """Refuse columns of dataframes with other rows than the labels: only positions would match."""
    rows = _rows_of(labels)
    for name, values in others.items():
        index = _rows_of(values)
        if rows is not None and index is not None and not rows.equals(index):
            raise InputError(
                f"labels and {name}: found two indexes, expected one, since items are matched by "
                f"position; align the rows ({name}.reindex(labels.index)), or pass to_numpy() of "
                "each"
            )


def _rows_of(values: Any) -> Any:
    """The index of a pandas Series or DataFrame."""
    return values.index if hasattr(values, "iloc") else None


def _padding(labels: Any, padding: float | None) -> float | None:
    """The label that marks padding, refused where labels of this type have wrapped it round to
    another number.
    """
    if padding is not None and padding < 0 and (dtype := np.asarray(labels).dtype).kind in "ub":
        raise InputError(
            f"padding: found {padding} with labels of type {dtype}, which cannot hold it, expected "
            "signed labels; cast them first"
        )
    return padding


def _kept(labels: AnyArray, mask: Any, padding: float | None) -> BoolArray | None:
    keep: BoolArray | None = None
    if mask is not None:
        marks = np.asarray(mask)
        if marks.shape != labels.shape:
            raise InputError(
                f"mask has shape {marks.shape}, expected that of the labels, {labels.shape}"
            )
        keep = marks.astype(bool)
        if (odd := np.flatnonzero((marks != keep).reshape(-1))).size:
            mark = marks.reshape(-1)[odd[0]]
            raise InputError(
                f"mask: item {odd[0]}: found {mark!s}, expected True for an item or False "
                f"for padding (1 or 0)"
            )
    if padding is not None:
        real = ~np.isnan(labels) if padding != padding else labels != padding  # noqa: PLR0124  (NaN)
        keep = real if keep is None else keep & real
    return None if keep is None or keep.all() else keep


def _bounds_of_offsets(offsets: Any, n: int) -> IntArray:
    positions = np.asarray(offsets)
    bounds = positions.astype(np.int64)
    if (
        (positions != bounds).any()
        or bounds.ndim != 1
        or bounds.size == 0
        or bounds[0] != 0
        or bounds[-1] != n
        or (np.diff(bounds) < 0).any()
    ):
        raise InputError(
            f"offsets: expected rising whole numbers from 0 to the number of items, {n}"
        )
    return bounds


def _bounds(group: Any, offsets: Any, n: int) -> IntArray:
    if offsets is not None:
        return _bounds_of_offsets(offsets, n)
    if group is None:
        return np.array([0, n], np.int64)
    if type(group).__name__.endswith("GroupBy"):  # pandas, which may not be installed
        raise InputError(
            f"group: found {type(group).__name__}, expected sizes, as groupby(...).size() "
            f"gives them"
        )
    try:
        sizes = np.asarray(group)
    except ValueError:
        raise InputError(
            f"group: found rows of different lengths, expected sizes of lists: whole numbers "
            f"that add up to {n}"
        ) from None
    if sizes.dtype.kind == "f" and sizes.size:
        broken = np.flatnonzero(sizes.reshape(-1) % 1 != 0)
        problem = (
            f"the size {sizes.reshape(-1)[broken[0]]}"
            if broken.size
            else f"sizes of type {sizes.dtype}"
        )
        raise InputError(f"group: found {problem}, expected whole numbers that add up to {n}")
    sizes = sizes if sizes.size else sizes.astype(np.int64)  # an empty list comes as float64
    if (
        sizes.ndim != 1
        or sizes.dtype.kind not in "iu"
        or (sizes < 0).any()
        or int(sizes.sum()) != n
    ):
        raise _wrong_sizes(sizes, n)
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)


def _wrong_sizes(sizes: AnyArray, n: int) -> InputError:
    """Make the error for sizes that are not whole numbers, are below 0 or have another sum."""
    if sizes.ndim == 1 and sizes.dtype.kind == "i" and (sizes < 0).any():
        return InputError(f"group: found the size {sizes.min()}, expected 0 or more")
    hint = "; for one query id per item pass qid=" if sizes.size == n else ""
    if sizes.dtype.kind not in "iuf":
        hint = "; pass options such as ties= by name" if sizes.ndim == 0 else hint
        return InputError(
            f"group: found {sizes.ravel().tolist()[0]!r}, expected sizes of lists: whole numbers "
            f"that add up to {n}{hint}"
        )
    return InputError(
        f"group: found sizes that add up to {sizes.sum()}, expected {n}, one per item{hint}"
    )


def judge_lists(lists: Lists, alignment: Alignment, *, depth: int = 0, threads: int = 0) -> Judged:
    """Rank every list by its scores; the array twin of `align`.

    Arrays have no document ids, so ties by document id become the expected value (`expected`).
    """
    alignment = array_alignment(alignment)
    lists, original_labels, truncated = _apply_policies(lists, alignment)

    groups = _ranked(lists, lists.labels, alignment, depth, threads)
    lengths = groups.length
    tied = groups.tied.astype(np.int64)
    members = _members(groups)
    zeros = np.zeros(lists.n_queries, np.int64)
    rectangle = None
    if groups.width > 0 or lists.n_queries == 0:
        shape = (lists.n_queries, groups.width)
        tied_members = members if members.query.size else None
        rectangle = Rectangle(
            grades=groups.grades.reshape(shape),
            ideal=groups.ideal_grades.reshape(shape),
            ties=tied_members,
            as_given=original_labels is None,
        )

    def original_grades(labels: FloatArray) -> FloatArray:
        return _hits_ranked(_ranked(lists, labels, alignment, depth, threads)).grade

    return Judged(
        queries=lists.queries,
        ties=alignment.ties,
        lengths=lengths,
        returned=lengths,
        hits=lambda: _hits_ranked(groups),
        ideal=lambda: ideal_grades(_query_of(groups), groups.ideal_grades, lists.n_queries),
        alignments=Alignments(
            tied=tied, duplicates=zeros, first_unjudged=zeros, judged=lengths, straddling=zeros
        ),
        scope=Scope(
            queries_in_qrels=lists.n_queries,
            queries_in_run=lists.n_queries,
            missing=(),
            without_judgments=0,
            truncated_grades=truncated,
        ),
        depth=depth,
        rectangle=rectangle,
        complete=True,
        given=None if original_labels is None else partial(original_grades, original_labels),
        judgments=None
        if original_labels is None
        else partial(_array_judgments, lists, original_labels),
    )


def _ranked(
    lists: Lists, labels: AnyArray, alignment: Alignment, depth: int, threads: int
) -> "_kernel.Groups":
    """These labels in the order of the lists' scores."""
    try:
        return _kernel.rank_groups(
            labels,
            lists.scores,
            lists.offsets,
            float32=alignment.score == "float32",
            depth=depth,
            order=lists.order,
            threads=thread_count(threads),
        )
    except _kernel.ParseError as error:
        raise InputError(
            f"{lists.name_item(error.args[2] - 1)}: found NaN as score or label, expected a "
            f"number, since NaN has no order"
        ) from None


def array_alignment(alignment: Alignment) -> Alignment:
    """The alignment with ties by document id, which arrays do not have, replaced by the expected
    value.
    """
    if alignment.ties in ("docid", "docid-ascending"):
        return replace(alignment, ties="expected")
    return alignment


def _apply_policies(lists: Lists, alignment: Alignment) -> tuple[Lists, FloatArray | None, int]:
    """Labels after the grade policies, untouched (and uncopied) when no policy acts; the labels as
    given, where negative ones were changed; and how many were truncated.
    """
    labels = lists.labels
    _refuse_infinite(labels)
    may_be_cut = alignment.grades != "given" and labels.dtype.kind == "f"
    has_negative = labels.size > 0 and bool(labels.min() < 0)
    if not may_be_cut and alignment.grades != "minimum" and not has_negative:
        return lists, None, 0
    graded = apply_grade_policies(
        labels.astype(np.float64), alignment, lambda row: f"labels: {lists.name_item(row)}"
    )
    changed = Lists(
        graded.grades, lists.scores, lists.offsets, order=lists.order, queries=lists.queries
    )
    changed._items = lists._items
    if graded.removed is not None:
        return changed.only(~graded.removed), None, graded.truncated
    raised = bool(((labels < 0) & (graded.grades >= 0)).any())
    return changed, labels.astype(np.float64) if raised else None, graded.truncated


def _refuse_infinite(labels: AnyArray) -> None:
    if labels.dtype.kind == "f" and labels.size:
        for extreme in (labels.max(), labels.min()):  # NaN is left to the kernel, which finds it
            if np.isinf(extreme):
                raise InputError(f"labels: found {extreme}, expected finite numbers")


def _query_of(groups: "_kernel.Groups") -> IntArray:
    return np.repeat(np.arange(groups.n_queries), np.diff(groups.hit_offsets))


def _members(groups: "_kernel.Groups") -> TieMembers:
    return TieMembers(
        query=groups.tie_query,
        rank=groups.tie_rank,
        first=groups.tie_first,
        last=groups.tie_last,
        grade=groups.tie_grade,
    )


def _array_judgments(lists: Lists, original_labels: FloatArray) -> Judgments:
    """Every item with its label as given; the labels of arrays that policies changed are in full
    columns.
    """
    query = np.repeat(np.arange(lists.n_queries), np.diff(lists.offsets))
    items = slice(None) if lists.order is None else lists.order
    return Judgments(query, lists.labels[items].astype(np.float64), original_labels[items])


def _hits_ranked(groups: "_kernel.Groups") -> Hits:
    """Hits in full columns, tie groups that reach beyond the depth included."""
    members = _members(groups)
    query = _query_of(groups)
    rank = np.arange(1, query.size + 1) - groups.hit_offsets[query]
    grade: FloatArray = groups.grades
    if members.query.size == 0:
        return Hits(query=query, rank=rank, grade=grade)
    n_hits = np.diff(groups.hit_offsets)[members.query]
    beyond = members.rank > n_hits
    first, last = rank.copy(), rank.copy()
    within = groups.hit_offsets[members.query[~beyond]] + members.rank[~beyond] - 1
    first[within] = members.first[~beyond]
    last[within] = members.last[~beyond]
    if not beyond.any():
        return Hits(query=query, rank=rank, grade=grade, tie_first=first, tie_last=last)
    hits = Hits(
        query=np.concatenate((query, members.query[beyond])),
        rank=np.concatenate((rank, members.rank[beyond].astype(np.int64))),
        grade=np.concatenate((grade, members.grade[beyond])),
        tie_first=np.concatenate((first, members.first[beyond].astype(np.int64))),
        tie_last=np.concatenate((last, members.last[beyond].astype(np.int64))),
    )
    return hits.part(np.lexsort((hits.rank, hits.query)))
