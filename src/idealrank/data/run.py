"""A run: what one system answered to each query."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np

from idealrank import _kernel
from idealrank.data.alignment import Alignment
from idealrank.data.problems import EXPECTED, first_lost_of_lists, is_large, is_lost, translate
from idealrank.data.run_parts import RunParts
from idealrank.data.types import FloatArray, IntArray, decode_id, sought_id, table_columns
from idealrank.errors import InputError

# How the kernel orders equal scores under each tie policy; the policies that average need the
# groups, not the order.
KERNEL_TIES = {"docid": "descending", "docid-ascending": "ascending"}


# TREC's "input.RUNID" is named RUNID. With one of these endings in its place, the name is input.
_ENDINGS = (
    ".run",
    ".trec",
    ".res",
    ".txt",
    ".json",
    ".jsonl",
    ".ndjson",
    ".csv",
    ".tsv",
    ".parquet",
    ".pq",
    ".arrow",
    ".feather",
    ".ipc",
    ".npy",
    ".npz",
)


class Ranking:
    """One query's documents in the order a convention gives them."""

    def __init__(
        self, documents: list[str], scores: FloatArray, first: IntArray, last: IntArray
    ) -> None:
        self.documents = documents
        self.scores = scores
        self.first = first
        self.last = last


class Run:
    """Scored documents per query, with the system's name; immutable. Held in memory, or streamed
    from a file during evaluation.

    Parameters
    ----------
    scores : mapping of str to mapping of str to number, or of str to sequence of str
        ``{query: {document: score}}``, or ``{query: [document, ...]}`` for a ranking without
        scores. NaN is refused; infinite scores are allowed.
    name : str
        Name of the system.

    Examples
    --------
    >>> Run({"q1": ["d2", "d1"]}, name="mine").ranking("q1").documents
    ['d2', 'd1']
    """

    def __init__(
        self, scores: Mapping[str, Mapping[str, float] | Sequence[str]], *, name: str = "run"
    ) -> None:
        for query, answer in scores.items():
            if isinstance(answer, (set, frozenset)):
                raise InputError(
                    f"run {name!r}: query {query!r}: found a {type(answer).__name__}, which has no "
                    "order, expected {document: score} or a list of documents, best first"
                )
            if isinstance(answer, (bool, int, float, str, type(None))):
                raise InputError(
                    f"run {name!r}: query {query!r}: found {type(answer).__name__}, expected "
                    f"{{query: {{document: score}}}}"
                )
            if isinstance(answer, Mapping) and isinstance(
                next(iter(answer.values()), None), (Mapping, list, tuple)
            ):
                raise InputError(
                    f"run {name!r}: query {query!r}: found {{query: ...}} in place of scores, "
                    "expected {query: {document: score}}; give each run by itself"
                )
        try:
            table = _kernel.from_mapping(scores, duplicates="keep")
        except _kernel.ParseError as error:
            raise translate(error, (), "run") from None
        except TypeError as error:
            raise InputError(f"run {name!r}: {error}") from None
        self._take(table, name, ())
        if is_large(table.values):
            _refuse_lost(scores, name)

    @classmethod
    def from_table(
        cls, table: _kernel.Table, *, name: str = "run", paths: Sequence[str] = ()
    ) -> "Run":
        """A run that the kernel has read.

        Examples
        --------
        >>> from idealrank import _kernel
        >>> Run.from_table(_kernel.from_mapping({"q1": {"d1": 1}}), name="a").name
        'a'
        """
        self = cls.__new__(cls)
        self._take(table, name, tuple(paths))
        return self

    @classmethod
    def from_text(
        cls,
        text: _kernel.Text,
        *,
        name: str = "run",
        paths: Sequence[str] = (),
        let_go: Callable[[], None] | None = None,
    ) -> "Run":
        r"""A run that stays in its file (or buffer) and is read, checked and ranked in one pass
        when it is evaluated.

        Parameters
        ----------
        text : Text
            The run.
        name, paths : str, sequence of str
            What it is called, and the files as typed.
        let_go : callable, optional
            Called after a pass: gives back memory that the text occupies and that can be had again.

        Examples
        --------
        >>> from idealrank import _kernel
        >>> run = Run.from_text(_kernel.Text([b"q1 Q0 d1 1 2.5 tag\n"], "run"))
        >>> run.ranking("q1").documents
        ['d1']
        """
        self = cls.__new__(cls)
        self._take(text, name, tuple(paths))
        self._let_go = let_go
        return self

    def renamed(self, name: str) -> "Run":
        """Return the same run under another name.

        Examples
        --------
        >>> Run({"q1": ["d1"]}).renamed("bm25").name
        'bm25'
        """
        copy = type(self).__new__(type(self))
        copy.__dict__.update(self.__dict__, name=name)
        return copy

    def let_go(self) -> None:
        """Give back memory that the run occupies and that can be had again: the pages of its mapped
        file.
        """
        if self._let_go is not None:
            self._let_go()

    @classmethod
    def from_columns(
        cls, queries: Any, documents: Any, scores: FloatArray, *, name: str = "run"
    ) -> "Run":
        """Build a run from three columns of equal length, rows in any order.

        Examples
        --------
        >>> Run.from_columns(["q1", "q1"], ["d1", "d2"], np.array([1.0, 3.0])).ranking(
        ...     "q1"
        ... ).documents
        ['d2', 'd1']
        """
        if (lost := first_lost_of_lists(scores, np.asarray(scores))) is not None:
            raise InputError(
                f"run {name!r}: row {lost}: found {scores[lost]}, a whole number that float64 "
                f"changes, expected {EXPECTED}"
            )
        try:
            table = _kernel.from_columns(
                queries, documents, np.ascontiguousarray(scores, np.float64), duplicates="keep"
            )
        except _kernel.ParseError as error:
            raise translate(error, (name,) if name != "run" else (), "run") from None
        return cls.from_table(table, name=name)

    def _take(
        self, source: _kernel.Table | _kernel.Text, name: str, paths: tuple[str, ...]
    ) -> None:
        if isinstance(source, _kernel.Table) and np.isnan(np.min(source.values, initial=np.inf)):
            row = int(np.flatnonzero(np.isnan(source.values))[0])
            query = int(np.searchsorted(source.offsets, row, side="right")) - 1
            raise InputError(
                f"run {name!r}, query {decode_id(source.query_id(query))!r}, document "
                f"{decode_id(source.document_id(row))!r}: found score NaN, expected a number, "
                "since NaN has no order"
            )
        self._source = source
        self.name = name
        self.paths = paths
        self._let_go: Callable[[], None] | None = None

    @property
    def source(self) -> "_kernel.Table | _kernel.Text":
        """Input of the kernel: columns in memory, or text. Of a run from `from_parts` a `RunParts`,
        which only `align` takes.
        """
        return self._source

    @classmethod
    def from_parts(cls, parts: RunParts, *, name: str = "run", paths: Sequence[str] = ()) -> "Run":
        """A run that is read part by part when it is evaluated, and can do nothing else.

        Examples
        --------
        >>> class One:
        ...     lines = None
        ...
        ...     def grouped(self):
        ...         from idealrank.data.run_parts import Part
        ...
        ...         yield Part(_kernel.from_mapping({"q1": {"a": 1}}))
        >>> Run.from_parts(RunParts(One()), name="large")
        Run('large': in parts)
        """
        self = cls.__new__(cls)
        self._source = parts  # type: ignore[assignment]
        self.name = name
        self.paths = tuple(paths)
        self._let_go = None
        return self

    def in_memory(self) -> "Run":
        """Return the same run, held in memory; `ranking` then reads no file.

        Examples
        --------
        >>> run = Run({"q1": ["d1"]})
        >>> run.in_memory() is run
        True
        """
        if isinstance(self._source, _kernel.Table):
            return self
        try:
            table = _kernel.read_text(self._source, duplicates="keep")
        except _kernel.ParseError as error:
            raise translate(error, self.paths, "run") from None
        return Run.from_table(table, name=self.name, paths=self.paths)

    def ranking(
        self, query_id: str, alignment: Alignment | None = None, *, depth: int = 0
    ) -> Ranking:
        """Return one query ranked by the rules of an alignment (default: scores descending, ties by
        document id descending).

        Parameters
        ----------
        query_id : str
            The query.
        alignment : Alignment, optional
            The rules.
        depth : int
            Ranks to return; 0 returns all. Tie groups are taken from the whole list.

        Raises
        ------
        KeyError
            The run does not answer this query.

        Examples
        --------
        >>> Run({"q1": {"a": 1.0, "b": 1.0}}).ranking("q1").documents
        ['b', 'a']
        """
        alignment = alignment or Alignment()
        query_bytes = sought_id(query_id)
        try:
            table = self._source
            if isinstance(table, _kernel.Text):
                table = _kernel.read_text(table, duplicates="keep", only_query=query_bytes)
            query = table.find_query(query_bytes)
            if query < 0:
                raise KeyError(query_id)
            ids, scores, first, last = _kernel.rank_query(
                table,
                query,
                ties=KERNEL_TIES.get(alignment.ties, "input"),  # type: ignore[arg-type]
                float32=alignment.score == "float32",
                duplicates=alignment.duplicates,
                depth=depth,
            )
        except _kernel.ParseError as error:
            raise translate(error, self.paths, "run") from None
        return Ranking(
            [decode_id(i) for i in ids], scores, first.astype(np.int64), last.astype(np.int64)
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Send columns, also of a file, to another process, which builds the table again."""
        table = self.in_memory().source
        assert isinstance(table, _kernel.Table)  # noqa: S101  (for type checkers)
        return _rebuilt, (table_columns(table), self.name, self.paths)

    def __repr__(self) -> str:
        if isinstance(self._source, RunParts):
            return f"Run({self.name!r}: {', '.join(self.paths) or 'in parts'})"
        if isinstance(self._source, _kernel.Table):
            return (
                f"Run({self.name!r}: {self._source.n_queries} queries, {self._source.n_rows} "
                f"documents)"
            )
        return (
            f"Run({self.name!r}: {', '.join(self.paths) or 'text'}, {self._source.nbytes:,} bytes)"
        )


def _refuse_lost(scores: Mapping[str, Any], name: str) -> None:
    """Refuse a whole number that float64 changes, for it would tie with its neighbours."""
    for query, answer in scores.items():
        for document, score in answer.items() if isinstance(answer, Mapping) else ():
            if is_lost(score):
                where = f"run {name!r}, query {query!r}, document {document!r}"
                raise InputError(
                    f"{where}: found {score}, a whole number that float64 changes, expected "
                    f"{EXPECTED}"
                )


def _rebuilt(columns: tuple[Any, Any, FloatArray], name: str, paths: tuple[str, ...]) -> Run:
    return Run.from_table(_kernel.from_columns(*columns, duplicates="keep"), name=name, paths=paths)


def name_of(path: str) -> str:
    """A run's name from its path: the file's stem without compression endings, and of TREC's
    ``input.RUNID.gz`` the run id.
    """
    name = PurePath(path).name
    for ending in (".gz", ".bz2", ".xz", ".zst"):
        name = name.removesuffix(ending)
    submitted = name.removeprefix("input.")
    if submitted != name and f".{submitted}" not in _ENDINGS:
        ending = next((ending for ending in _ENDINGS if submitted.endswith(ending)), "")
        return submitted.removesuffix(ending) or name
    return PurePath(name).stem or name
