"""Reading, ranking, summing and differentiating, compiled: no gains, no measures, no policy names.

Ids are bytes. Every array that comes out is one-dimensional, C-contiguous, read-only unless said
otherwise, and keeps its owner alive. Long work releases the GIL; results do not depend on the
number of threads.

Lines. A run line is ``QUERY Q0 DOCUMENT RANK SCORE TAG``, a qrels line ``QUERY ITERATION DOCUMENT
GRADE``. Runs of spaces and tabs separate; a line with exactly five (run) or three (qrels) tabs and
no empty field is separated by those tabs alone, so that ids may hold spaces (blanks at the ends of
a field are not part of it). The tag is the rest of the line. The rank, ``Q0`` and the iteration may
be any text. A carriage return before the line feed, a byte order mark before the first line and a
missing last line feed are all fine. ``#`` in column 0 makes a comment. Numbers are decimal with
optional sign, point and exponent, or ``inf`` / ``infinity`` in any case; they are rounded correctly
to double, beyond its range to infinity or zero.

Problems (``ParseError.args[0]``, and the kinds of `lint_text`):

========== ===================================================================== ==========================================
kind       what                                                                  detail
========== ===================================================================== ==========================================
fields     too few fields; for qrels also too many                               number of fields found, ``b"5"``
number     the score or grade is not a number                                    the field
nan        the score or grade is NaN                                             the field
control    a byte below 0x20 that separates nothing                              ``b"0x00"``
too-long   an id of four gigabytes                                               length of the line
duplicate  a document twice under a query                                        ``b"SOURCE:LINE"`` of the first; empty without lines
empty-id   an empty query or document id (mappings and columns only)             empty
utf8       a str that has no UTF-8 (half a surrogate pair); text is the id         empty
cut        a watched file became shorter (see `Watch`); line is 0                empty
changed    the text is not what it was when it was read first; line is 0          empty
stopped    `Progress.stop` was called                                            empty
========== ===================================================================== ==========================================

`lint_text` has those of texts, and these warnings:

================= ============================================================== ==========================================
kind              what                                                           detail
================= ============================================================== ==========================================
no-data           no line holds data (one, without an example)
comment-like-data a comment that would parse as data                             empty
infinite          the score or grade is infinite                                 the field
utf8              the query or document id is not well-formed UTF-8              empty
rank              the rank is no whole number (runs)                             the field
rank-order        the rank is not above that of every document of the query      empty
                  with a higher score (runs)
scattered         a query comes back after lines of another                      ``b"SOURCE:LINE"`` of its first line
================= ============================================================== ==========================================
"""  # noqa: E501

from collections.abc import Mapping, Sequence
from typing import Any, Literal, SupportsFloat, TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer

_Id: TypeAlias = str | bytes | int
_Offsets: TypeAlias = NDArray[np.int32] | NDArray[np.int64]
_Ids: TypeAlias = (
    Sequence[_Id] | tuple[_Offsets, Buffer] | tuple[_Offsets, Buffer, NDArray[np.int32]]
)
_Ties: TypeAlias = Literal["descending", "ascending", "input"]
_Labels: TypeAlias = (
    NDArray[np.float32]
    | NDArray[np.float64]
    | NDArray[np.int8]
    | NDArray[np.int16]
    | NDArray[np.int32]
    | NDArray[np.int64]
)
_Example: TypeAlias = tuple[int, int, bytes, bytes]

class ParseError(Exception):
    """Error in the input; ``args`` is ``(kind, source, line, text, detail)``.

    ``kind`` : str, see the table above; ``source`` : int, index of the buffer; ``line`` : int, from
    1, or the row for columns, or 0 where there are neither; ``text`` : bytes, the line (at most 120
    bytes) or ``QUERY DOCUMENT``; ``detail`` : bytes. Of several problems the one with the smallest
    (source, line) is told, whatever the number of threads.
    """

    args: tuple[str, int, int, bytes, bytes]

@final
class Progress:
    """Progress of a long job, shared with a thread that draws the bar. Counts bytes (texts) or
    queries (tables).
    """

    def __init__(self) -> None: ...
    @property
    def done(self) -> int:
        """Units finished."""
    @property
    def total(self) -> int:
        """Units to do; 0 before the job starts."""
    def stop(self) -> None:
        """Ask the job to end soon, with a `ParseError` of kind ``stopped``."""

@final
class Watch:
    """Keeps the process alive when a mapped file is cut short: what is missing reads as zeros, and
    `cut` says so.

    On POSIX systems a handler of SIGBUS is installed while any watch lives; faults elsewhere reach
    the handler that was there before. What reads a `Text` raises a `ParseError` of kind ``cut``.

    Parameters
    ----------
    mapped : mmap
        The mapping; no reference is kept, so the watch must go first.
    """

    def __init__(self, mapped: Buffer) -> None: ...
    @property
    def cut(self) -> bool:
        """True if bytes were missing during reading."""

@final
class Text:
    r"""A qrels or run text held as one or several buffers, read in order as one; nothing is parsed
    yet.

    Parameters
    ----------
    buffers : sequence of objects with the buffer protocol (bytes, mmap, ...)
        Kept open until this object goes away.
    kind : "qrels" or "run"
        Decides the columns.

    Examples
    --------
    >>> text = Text([b"q1 0 d1 2\nq1 0 d2 0\n"], "qrels")
    >>> read_text(text, duplicates="error").values
    array([2., 0.])
    """

    def __init__(self, buffers: Sequence[Buffer], kind: Literal["qrels", "run"]) -> None: ...
    @property
    def nbytes(self) -> int:
        """Bytes of all buffers."""

@final
class Table:
    """Rows (query, document, value), grouped by query in order of first appearance, in input order
    inside a query; immutable.
    """

    @property
    def n_queries(self) -> int:
        """Number of queries."""
    @property
    def n_rows(self) -> int:
        """Number of rows."""
    @property
    def offsets(self) -> NDArray[np.int64]:
        """Shape (n_queries + 1,): rows of query i are ``offsets[i]`` to ``offsets[i + 1]``."""
    @property
    def values(self) -> NDArray[np.float64]:
        """Shape (n_rows,): the grade or score; never NaN."""
    @property
    def counters(self) -> dict[str, int]:
        """Observations during reading.

        Always: ``duplicates`` (rows dropped because their document came twice). From texts also:
        ``lines``, ``rows`` (data lines read), ``comments``, ``comments_like_data`` (comments that
        would have parsed as data), ``blank``, ``tab_lines`` (read as tab-separated).
        """
    def query_id(self, query: int) -> bytes:
        """Id of one query."""
    def query_ids(self) -> list[bytes]:
        """Ids of all queries."""
    def document_id(self, row: int) -> bytes:
        """Document id of one row."""
    def document_ids(self, rows: NDArray[np.int64]) -> list[bytes]:
        """Document ids of these rows."""
    def find_query(self, query_id: bytes) -> int:
        """Number of a query, or -1."""
    def find_document(self, query: int, document_id: bytes) -> int:
        """First row of a document under a query, or -1."""

def read_text(
    text: Text,
    *,
    duplicates: Literal["error", "first", "last", "best", "keep"],
    only_query: bytes | None = None,
    threads: int = 0,
    progress: Progress | None = None,
    chunk_bytes: int = 0,
) -> Table:
    """Read a whole text into a `Table`.

    Parameters
    ----------
    duplicates : what to do with the same document twice under one query
        ``first``, ``last`` and ``best`` (highest value; of equal ones the first) keep that row at
        its own place; ``keep`` keeps all rows.
    only_query : keep only this query's rows; all lines are checked all the same. threads : 0 for
    all processors. chunk_bytes : size of a unit of work; 0 leaves it to the kernel. The result does
    not depend on it.
    """

def lint_text(
    text: Text,
    *,
    examples: int = 3,
    threads: int = 0,
    progress: Progress | None = None,
    chunk_bytes: int = 0,
) -> list[tuple[str, int, list[_Example]]]:
    """Every problem of a text at once: ``(kind, count, [(source, line, text, detail), ...])`` with
    the first `examples` lines of each kind.

    Kinds come in the order of the module's tables, errors first; those that do not occur are left
    out. Lines with an error take no part in the checks of whole queries. An infinite score is a
    warning here and fine elsewhere; so are all warnings.
    """

def from_mapping(
    mapping: Mapping[Any, Mapping[Any, SupportsFloat] | Sequence[_Id]],
    *,
    duplicates: Literal["error", "first", "last", "best", "keep"] = "error",
) -> Table:
    """A `Table` from ``{query: {document: number}}`` or ``{query: [document, ...]}`` (best first;
    values 0, -1, -2, ...).

    Ids are str (as UTF-8), bytes or int (in decimal). A query without documents stays a query.
    """

def from_columns(
    queries: _Ids,
    documents: _Ids,
    values: NDArray[np.float64],
    *,
    duplicates: Literal["error", "first", "last", "best", "keep"] = "error",
) -> Table:
    """A `Table` from three columns of equal length; rows of a query may be scattered.

    A column of ids is a sequence of str, bytes or int, or a pair ``(offsets, data)`` as Arrow's
    utf8 and large_utf8 have it: int32 or int64 of n + 1, and a buffer; with ``codes``, int32, as
    third part, row i has the id at place ``codes[i]``.
    """

@final
class ColumnTable:
    """A `Table` that is made of pieces of three columns, each copied when it is added; see
    `from_columns`.
    """

    def __init__(self) -> None: ...
    def add(self, queries: _Ids, documents: _Ids, values: NDArray[np.float64]) -> None:
        """Add rows below those that are there."""
    def finish(
        self, *, duplicates: Literal["error", "first", "last", "best", "keep"] = "error"
    ) -> Table:
        """Return the table; errors count rows from 1 over all pieces. Nothing can be added after
        it.
        """

@final
class DocumentSets:
    """Documents of each query, for `align`: those that may not count, or the only ones that may.

    Parameters
    ----------
    table : Table
        Documents by query, or by group; values do not matter.
    groups : Table, optional
        Groups of each query, as if they were its documents: a query then has the documents of all
        its groups.
    for_all : bool
        The documents of the only query of the table are those of every query.
    """

    def __init__(
        self, table: Table, groups: Table | None = None, *, for_all: bool = False
    ) -> None: ...

@final
class Aligned:
    """A run joined to its qrels. Queries: all of the qrels, in their order, then those only the run
    has, by first appearance.

    A *hit* is a judged document in a list. Ranks count from 1 after duplicates were decided and
    skipped or removed documents are gone.
    """

    @property
    def n_qrels_queries(self) -> int:
        """Queries of the qrels; they come first."""
    @property
    def n_queries(self) -> int:
        """All queries, n below."""
    @property
    def hit_offsets(self) -> NDArray[np.int64]:
        """Shape (n + 1,)."""
    @property
    def hit_row(self) -> NDArray[np.int64]:
        """Row of the qrels `Table`, shape (n_hits,), by rank inside a query."""
    @property
    def hit_rank(self) -> NDArray[np.int32]:
        """Rank, shape (n_hits,)."""
    @property
    def tie_first(self) -> NDArray[np.int32]:
        """First rank of the hit's tie group, shape (n_hits,), or (0,) if no hit is tied with
        anything.
        """
    @property
    def tie_last(self) -> NDArray[np.int32]:
        """Last rank of the hit's tie group, as `tie_first`."""
    @property
    def unjudged_offsets(self) -> NDArray[np.int64]:
        """Bounds of the unjudged documents of each query of the qrels, shape (n_qrels_queries +
        1,); (0,) if none were asked for.
        """
    @property
    def unjudged_key(self) -> NDArray[np.uint64]:
        """Stands for the document's id, shape (n_unjudged,): equal ids have equal keys, other ids
        the same with a chance of 2^-64.
        """
    @property
    def unjudged_rank(self) -> NDArray[np.int32]:
        """Rank, shape (n_unjudged,), rising inside a query."""
    @property
    def unjudged_first(self) -> NDArray[np.int32]:
        """First rank of the document's tie group, shape (n_unjudged,)."""
    @property
    def unjudged_last(self) -> NDArray[np.int32]:
        """Last rank of the document's tie group, shape (n_unjudged,)."""
    @property
    def length(self) -> NDArray[np.int64]:
        """List length that ranks refer to, shape (n,)."""
    @property
    def returned(self) -> NDArray[np.int64]:
        """List length as given, shape (n,)."""
    @property
    def judged(self) -> NDArray[np.int64]:
        """Hits before the depth cut, shape (n,)."""
    @property
    def in_run(self) -> NDArray[np.bool_]:
        """True if the run has the query, shape (n,)."""
    @property
    def first_unjudged(self) -> NDArray[np.int32]:
        """Rank of the first document without a judgment, 0 if all are judged, shape (n,)."""
    @property
    def tied(self) -> NDArray[np.int32]:
        """Documents that share their score with another, shape (n,)."""
    @property
    def straddling(self) -> NDArray[np.int32]:
        """Tie groups that start at rank <= depth and end beyond it, shape (n,); 0 without a
        depth.
        """
    @property
    def duplicates(self) -> NDArray[np.int32]:
        """Surplus occurrences of documents, shape (n,)."""
    @property
    def identical(self) -> NDArray[np.int32]:
        """Documents whose id is the query's, dropped or not, shape (n,)."""
    @property
    def excluded(self) -> NDArray[np.int32]:
        """Documents that are gone because they are excluded, shape (n,)."""
    @property
    def breaches(self) -> NDArray[np.int32]:
        """Documents that are gone because they are not permitted, shape (n,); an excluded one is no
        breach.
        """
    @property
    def counters(self) -> dict[str, int]:
        """The run's counters (see `Table.counters`).

        ``duplicates`` is the sum of the array of that name; for texts also ``scattered_queries``,
        whose lines do not stand together.
        """
    @property
    def top(self) -> Table:
        """The lists cut at `top_depth`: queries that the run answers, in the order of all,
        documents by rank; empty without it.
        """
    @property
    def top_tied(self) -> NDArray[np.bool_]:
        """True if another document of the whole list has the same score, per row of `top`."""
    def run_only_ids(self) -> list[bytes]:
        """Ids of the queries after the first `n_qrels_queries`."""

def align(
    qrels: Table,
    run: Text | Table,
    *,
    ties: _Ties,
    float32: bool = False,
    duplicates: Literal["error", "first", "last", "best", "twice"] = "error",
    skip_unjudged: bool = False,
    removed: NDArray[np.uint8] | None = None,
    excluded: DocumentSets | None = None,
    permitted: DocumentSets | None = None,
    drop_identical: bool = False,
    depth: int = 0,
    unjudged_depth: int = 0,
    top_depth: int = 0,
    threads: int = 0,
    progress: Progress | None = None,
    chunk_bytes: int = 0,
) -> Aligned:
    """Rank every list of a run and find its judged documents.

    Order: score descending (-0.0 equals 0.0), then document id bytes ``descending`` or
    ``ascending`` as strcmp has them, or ``input`` order.

    Parameters
    ----------
    float32 : round scores to float32 before comparing. duplicates : as for `read_text`; under
    ``twice`` all occurrences stay and all are hits. skip_unjudged : documents without a judgment
    vanish from the list. removed : per row of the qrels, 1 = the document vanishes from the list.
    excluded : documents that vanish, judged or not. permitted : all others vanish; of a query that
    is not in it, all do. drop_identical : the document whose id is the query's vanishes.
    depth : drop hits below this rank, except tie groups that start at or above it; 0 keeps all.
    unjudged_depth : list the documents without a judgment down to this rank, whole tie groups
    included; 0 lists none. top_depth : keep the first documents of every list down to this rank; 0
    keeps none.
    """

def rank_query(
    run: Table,
    query: int,
    *,
    ties: _Ties,
    float32: bool = False,
    duplicates: Literal["error", "first", "last", "best", "twice"] = "error",
    depth: int = 0,
) -> tuple[list[bytes], NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]:
    """The ranking of one query: document ids, scores, and first and last rank of each document's
    tie group.

    Parameters
    ----------
    depth : list this many ranks; 0 lists all. Tie groups are those of the whole list.
    """

@final
class Groups:
    """Lists of (label, score) arrays, ranked. An *item* is a row of the arrays; every item is
    judged.

    Where a depth is given, an item is *kept* when its rank is at most the depth.
    """

    @property
    def n_queries(self) -> int:
        """Number of lists, n below."""
    @property
    def width(self) -> int:
        """Kept items of each list when that is the same number for all: ``grades.reshape(n,
        width)`` is a rectangle. Else 0.
        """
    @property
    def hit_offsets(self) -> NDArray[np.int64]:
        """Shape (n + 1,): kept items of list i are ``hit_offsets[i]`` to ``hit_offsets[i + 1]``."""
    @property
    def grades(self) -> NDArray[np.float64]:
        """Labels in the order of the scores, shape (n_kept,); an item's rank is its position in its
        list + 1.
        """
    @property
    def ideal_grades(self) -> NDArray[np.float64]:
        """The highest labels of the whole list from high to low, as many as are kept, shape
        (n_kept,).
        """
    @property
    def length(self) -> NDArray[np.int64]:
        """Items of each list before the cut, shape (n,)."""
    @property
    def tied(self) -> NDArray[np.int32]:
        """Items that share their score with another of their list, also beyond the depth, shape
        (n,).
        """
    @property
    def tie_query(self) -> NDArray[np.int64]:
        """List of each tie member, shape (m,), by list, then by rank.

        All members, also those beyond the depth, of every tie that starts within it.
        """
    @property
    def tie_rank(self) -> NDArray[np.int32]:
        """Rank of each tie member, shape (m,)."""
    @property
    def tie_first(self) -> NDArray[np.int32]:
        """First rank of its tie, shape (m,)."""
    @property
    def tie_last(self) -> NDArray[np.int32]:
        """Last rank of its tie, shape (m,)."""
    @property
    def tie_grade(self) -> NDArray[np.float64]:
        """Label of each tie member, shape (m,)."""

def rank_groups(
    labels: _Labels,
    scores: NDArray[np.float32] | NDArray[np.float64],
    offsets: NDArray[np.int64],
    *,
    ties: Literal["input", "reversed"] = "input",
    float32: bool = False,
    depth: int = 0,
    order: NDArray[np.int64] | None = None,
    threads: int = 0,
) -> Groups:
    """Rank every list of labels and scores: score descending (-0.0 equals 0.0), equal scores in
    input order or in reversed input order.

    The arrays are contiguous and are not copied. A NaN is a `ParseError` of kind ``nan`` that names
    the smallest row, counted from 1.

    Parameters
    ----------
    offsets : int64 array, shape (n + 1,)
        Rows of list i are ``offsets[i]`` to ``offsets[i + 1]``; from 0 to the number of rows.
    float32 : round scores to float32 before comparing.
    depth : keep this many ranks of each list; 0 keeps all.
    order : int64 array, shape (n_rows,), optional
        A permutation that brings the rows of each list together: `offsets` then counts in it.
    threads : 0 for all processors.

    Examples
    --------
    >>> groups = rank_groups(
    ...     np.array([0, 3, 1]), np.array([0.5, 0.9, 0.1]), np.array([0, 3]), depth=2
    ... )
    >>> groups.grades, groups.ideal_grades
    (array([3., 0.]), array([3., 1.]))
    """

def fingerprint(table: Table, *, threads: int = 0) -> tuple[int, int]:
    """Two sums modulo 2**64 of a hash of every (query, document, value), and of every query without
    rows, in any order.

    The same on every machine and in every version; ``src/kernel/fingerprint.hpp`` defines the hash.
    Sums of parts without a query in common are added.
    """

def fingerprint_lists(
    labels: _Labels,
    offsets: NDArray[np.int64],
    *,
    order: NDArray[np.int64] | None = None,
    queries: _Ids | NDArray[np.int64] | None = None,
    threads: int = 0,
) -> tuple[int, int]:
    """Rank every (query, label) of lists, as in `rank_groups`; ids are texts or whole numbers, else
    lists count from 0.
    """

def sum_subsets(
    columns: NDArray[np.float64], picks: NDArray[np.uint8], out: NDArray[np.float64]
) -> None:
    """Sum the picked rows of each draw into `out`, in a fixed order.

    Parameters
    ----------
    columns : float64 array, shape (n_rows, width)
        C-contiguous, as are the others.
    picks : uint8 array, shape ((n_rows + 7) // 8, n_draws)
        Bit b of ``picks[g, d]`` picks row ``8 g + b`` for draw d; bits beyond the last row are
        ignored.
    out : float64 array, shape (n_draws, width)
        Overwritten.
    """

def lambda_gradients(
    gains: NDArray[np.float64],
    scores: NDArray[np.float64],
    offsets: NDArray[np.int64],
    weights: NDArray[np.float64],
    scale: NDArray[np.float64],
    gradients: NDArray[np.float32] | NDArray[np.float64],
    hessians: NDArray[np.float32] | NDArray[np.float64],
    *,
    swap: Literal["discounted", "even", "precision", "first", "cascade"],
    truncation: int = 0,
    sigma: float = 1.0,
    damped: bool = False,
    up: NDArray[np.float64] | None = None,
    down: NDArray[np.float64] | None = None,
    threads: int = 0,
) -> None:
    """Differentiate a pairwise logistic loss over ranked lists, each pair weighed with the change
    of swapping its ranks.

    Lists are ranked by score, falling, equal scores in input order. ``src/kernel/lambdas.hpp`` has
    the formulas. All arrays are C-contiguous; numbers are expected to be finite, and others give
    numbers without a meaning.

    Parameters
    ----------
    gains : float64 array, shape (n_rows,)
        Worth of each row; for ``precision`` and ``first`` rows above 0 count, for ``cascade`` a
        chance below 1.
    scores : float64 array, shape (n_rows,)
    offsets : int64 array, shape (n_lists + 1,)
        Rows of list i are ``offsets[i]`` to ``offsets[i + 1]``.
    weights : float64 array, shape (any,)
        Of ranks 1, 2, ...; 0 beyond.
    scale : float64 array, shape (n_lists,)
        Factor of every pair of a list; 0 leaves its rows without gradient.
    gradients, hessians : float32 or float64 arrays, shape (n_rows,)
        Overwritten.
    swap : the change of a swap
        ``discounted``: difference of gains times difference of weights; ``even``: difference of
        gains; ``precision``: of the sum over rows that count of weight times rows that count down
        to it; ``first``: of the weight of the first row that counts; ``cascade``: of the sum of
        weight * gain * chance that no row above stopped.
    truncation : only pairs with a row among so many ranks; 0 for all. sigma : steepness of the
    logistic function. damped : divide a pair by 0.01 + its distance, and multiply a list by log2(1
    + S) / S of its sum. up, down : float64 arrays, shape (n_rows,), optional
        Factors of a row in pairs where it is worth more, or less.
    threads : 0 for all cores.

    Examples
    --------
    >>> gains, scores, one = np.array([0.0, 1.0]), np.array([0.0, 0.0]), np.array([1.0])
    >>> slope, bend = np.zeros(2), np.zeros(2)
    >>> lambda_gradients(gains, scores, np.array([0, 2]), one, one, slope, bend, swap="discounted")
    >>> slope, bend
    (array([ 0.5, -0.5]), array([0.25, 0.25]))
    """
