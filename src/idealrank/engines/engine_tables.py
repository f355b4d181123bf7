"""Tables of an engine: their columns are chosen and checked before anything runs, and each is told
which rows it gives.
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
    """A table that was given to an engine."""

    table: Any  # A dataframe of the engine, or what `idealrank.evaluate` takes
    kind: Table  # What its rows are
    columns: Columns  # Names of the columns
    number: int  # Kind of its rows

    @classmethod
    def qrels(cls, table: Any, columns: Columns) -> "EngineTable":
        """Judgments."""
        return cls(table, "qrels", columns, KINDS["qrels"])

    @classmethod
    def run(cls, table: Any, columns: Columns) -> "EngineTable":
        """A run."""
        return cls(table, "run", columns, KINDS["run"])

    @classmethod
    def compared(
        cls, qrels: Any, runs: tuple[Any, Any], qrels_columns: Columns, run_columns: Columns
    ) -> "list[EngineTable]":
        """Judgments, and both runs of a comparison."""
        return [
            cls.qrels(qrels, qrels_columns),
            cls(runs[0], "run", run_columns, BASELINE),
            cls.run(runs[1], run_columns),
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
        found = choose_columns(
            [name for name, _ in types], self.kind, self.columns, self.kind, Notes(None)
        )
        type_of = dict(types)
        for name in (found.query, found.document):
            if content(type_of[name]) not in ("text", "whole"):
                raise InputError(
                    f"{self.kind}: found column {name!r} of type {type_of[name]}, expected "
                    f"ids, which are text or whole numbers"
                )
        if found.value and content(type_of[found.value]) not in ("whole", "number"):
            raise InputError(
                f"{self.kind}: found column {found.value!r} of type {type_of[found.value]}, "
                f"expected numbers"
            )
        if not needs_order_of(self.kind, convention):
            return found, None
        if order is not None and (
            sum(name == order for name, _ in types) != 1 or content(type_of[order]) != "whole"
        ):
            raise InputError(
                f"{self.kind}: found {type_of.get(order, 'no column')} for order={order!r}, "
                f"expected a column of whole numbers"
            )
        return found, order


def held_rows(given: EngineTable) -> Any:
    """Rows of a table that this process holds, or reads as `evaluate` does, as `pandas_rows`
    returns them.

    Examples
    --------
    >>> held_rows(EngineTable.qrels({"q": {"a": 1}}, None)).to_dict("records")
    [{'query': 'q', 'document': 'a', 'value': 1.0, 'kind': 0, 'position': 0}]
    """
    held = local_rows(given.table, given.kind).to_pandas()
    held[["query", "document"]] = held[["query", "document"]].map(decode_id)
    return pandas_rows(
        held, given.kind, given.number, Chosen("query", "document", "value"), "position"
    )


def pandas_content(dtype: str) -> Content:
    """Return what a column of a pandas dataframe holds.

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


def pandas_rows(part: Any, kind: Table, number: int, chosen: Chosen, order: str | None) -> Any:
    """Rows of a pandas dataframe with the columns `ROWS` and position, ids as text.

    Examples
    --------
    >>> import pandas
    >>> frame = pandas.DataFrame({"qid": ["q"], "docno": [7], "rank": [1]})
    >>> rows = pandas_rows(frame, "run", 1, Chosen("qid", "docno", "rank", by_rank=True), None)
    >>> rows.to_dict("records")
    [{'query': 'q', 'document': '7', 'value': -1.0, 'kind': 1, 'position': 0}]
    """
    position = part[order] if order else 0
    found = part[[]].assign(
        query=part[chosen.query],
        document=part[chosen.document],
        value=1.0,
        kind=number,
        position=position,
    )
    if found["position"].isna().any():
        raise InputError(
            f"{kind}: found a row without a value of order={order!r}, expected a whole number "
            f"in every row"
        )
    if chosen.value:
        found["value"] = part[chosen.value]
        if pandas_content(str(found["value"].dtype)) == "whole":
            whole = found["value"].dropna()
            lost = next(
                (
                    one
                    for one in whole[(whole > 2**53) | (whole < -(2**53))].tolist()
                    if float(one) != one
                ),
                None,
            )
            if lost is not None:
                raise InputError(f"{kind}: found {lost}, a number that float64 changes")
    rows = found.astype(
        {
            "query": "string",
            "document": "string",
            "value": "float64",
            "kind": "int8",
            "position": "int64",
        }
    )
    return rows.assign(value=0.0 - rows["value"]) if chosen.by_rank else rows
