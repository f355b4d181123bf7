"""Tables of an engine: their columns are chosen and checked before anything runs, and each table
has the kind of its rows.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from idealrank.conventions import Convention
from idealrank.data.types import decode_id
from idealrank.engines.partitions import BASELINE, KINDS, local_rows, needs_order_of, refuse_order
from idealrank.errors import InputError
from idealrank.io.complaints import Notes
from idealrank.io.row_parts import Table
from idealrank.io.table_columns import Chosen, Columns, choose_columns

Content: TypeAlias = Literal["text", "whole", "number", "other"]
"""Kind of values in a column."""


class EngineTable(NamedTuple):
    """Table for an engine, with its kind and the names of its columns."""

    table: Any  # A dataframe of the engine, or what `idealrank.evaluate` takes
    kind: Table  # What its rows are
    columns: Columns  # Names of the columns
    number: int  # The kind of its rows in the column `kind` of `ROWS`

    @classmethod
    def qrels(cls, table: Any, columns: Columns) -> "EngineTable":
        """Return a table of judgments."""
        return cls(table=table, kind="qrels", columns=columns, number=KINDS["qrels"])

    @classmethod
    def run(cls, table: Any, columns: Columns) -> "EngineTable":
        """Return the table of a run."""
        return cls(table=table, kind="run", columns=columns, number=KINDS["run"])

    @classmethod
    def compared(
        cls, qrels: Any, runs: tuple[Any, Any], qrels_columns: Columns, run_columns: Columns
    ) -> "list[EngineTable]":
        """Return the judgments and both runs of a comparison."""
        run_a, run_b = runs
        return [
            cls.qrels(qrels, qrels_columns),
            cls(table=run_a, kind="run", columns=run_columns, number=BASELINE),
            cls.run(run_b, run_columns),
        ]

    def chosen(
        self,
        types: Sequence[tuple[str, str]],
        content: Callable[[str], Content],
        convention: Convention,
        order: str | None,
    ) -> "tuple[Chosen, str | None]":
        """Choose the columns, and the one that numbers the rows if values depend on their order.

        Examples
        --------
        >>> table = EngineTable.run(None, None)
        >>> table.chosen(
        ...     [("qid", "str"), ("docno", "str"), ("score", "double")],
        ...     lambda type: "text",
        ...     Convention.of("standard"),
        ...     None,
        ... )
        Traceback (most recent call last):
            ...
        idealrank.errors.InputError: run: found column 'score' of type double, expected numbers
        """
        refuse_order(self.kind, convention, order)
        names = [name for name, _ in types]
        columns = choose_columns(names, self.kind, self.columns, self.kind, Notes(None))
        type_of = dict(types)
        for name in (columns.query, columns.document):
            if content(type_of[name]) not in ("text", "whole"):
                raise InputError(
                    f"{self.kind}: found column {name!r} of type {type_of[name]}, expected ids, "
                    "which are text or whole numbers"
                )
        if columns.value and content(type_of[columns.value]) not in ("whole", "number"):
            raise InputError(
                f"{self.kind}: found column {columns.value!r} of type {type_of[columns.value]}, "
                "expected numbers"
            )
        if not needs_order_of(self.kind, convention):
            return columns, None
        if order is not None and (names.count(order) != 1 or content(type_of[order]) != "whole"):
            raise InputError(
                f"{self.kind}: found {type_of.get(order, 'no column')} for order={order!r}, "
                "expected a column of whole numbers"
            )
        return columns, order


def local_frame(source: EngineTable) -> Any:
    """Return the rows of a table that is not of the engine, in the form of `pandas_rows`; other
    inputs are read as `evaluate` reads them.

    Examples
    --------
    >>> local_frame(EngineTable.qrels({"q": {"a": 1}}, None)).to_dict("records")
    [{'query': 'q', 'document': 'a', 'value': 1.0, 'kind': 0, 'position': 0}]
    """
    frame = local_rows(source.table, source.kind).to_pandas()
    frame[["query", "document"]] = frame[["query", "document"]].map(decode_id)
    return pandas_rows(
        frame, source.kind, source.number, Chosen("query", "document", "value"), "position"
    )


def pandas_content(dtype: str) -> Content:
    """Return the kind of values in a column of a pandas dataframe.

    Examples
    --------
    >>> [
    ...     pandas_content(dtype)
    ...     for dtype in ("object", "Int64", "double[pyarrow]", "datetime64[ns]")
    ... ]
    ['text', 'whole', 'number', 'other']
    """
    name = dtype.lower()
    if name.startswith(("int", "uint")):
        return "whole"
    if name.startswith(("float", "halffloat", "double", "bool", "decimal")):
        return "number"
    is_text = name in ("object", "category", "str") or any(
        word in name for word in ("string", "binary", "dictionary")
    )
    return "text" if is_text else "other"


def pandas_rows(source: Any, kind: Table, number: int, chosen: Chosen, order: str | None) -> Any:
    """Return the rows of a pandas dataframe with the columns `ROWS` and position, ids as text.

    Examples
    --------
    >>> import pandas
    >>> frame = pandas.DataFrame({"qid": ["q"], "docno": [7], "rank": [1]})
    >>> rows = pandas_rows(frame, "run", 1, Chosen("qid", "docno", "rank", by_rank=True), None)
    >>> rows.to_dict("records")
    [{'query': 'q', 'document': '7', 'value': -1.0, 'kind': 1, 'position': 0}]
    """
    frame = source[[]].assign(
        query=source[chosen.query],
        document=source[chosen.document],
        value=1.0,
        kind=number,
        position=source[order] if order else 0,
    )
    if frame["position"].isna().any():
        raise InputError(
            f"{kind}: found a row without a value of order={order!r}, expected a whole number in "
            "every row"
        )
    if chosen.value:
        frame["value"] = source[chosen.value]
        if pandas_content(str(frame["value"].dtype)) == "whole":
            # float64 holds every whole number up to 2**53, and some beyond it
            whole = frame["value"].dropna()
            large = whole[(whole > 2**53) | (whole < -(2**53))].tolist()
            lost = next((value for value in large if float(value) != value), None)
            if lost is not None:
                raise InputError(f"{kind}: found {lost}, a number that float64 changes")
    rows = frame.astype(
        {
            "query": "string",
            "document": "string",
            "value": "float64",
            "kind": "int8",
            "position": "int64",
        }
    )
    # 0.0 - 0.0 is 0.0, where -0.0 would be another bit pattern
    return rows.assign(value=0.0 - rows["value"]) if chosen.by_rank else rows
