"""Rows are read from records whose hash is right: a damaged page of the database is an error, never a number."""

import hashlib
import json
import sqlite3
from typing import Any

from idealrank.errors import InputError

_FUNCTION = "is_intact"


def teach(connection: sqlite3.Connection) -> None:
    """Give a connection the function that tells whether a record has the hash of its id.

    Examples
    --------
    >>> connection = sqlite3.connect(":memory:")
    >>> teach(connection)
    >>> connection.execute("SELECT is_intact(x'30', x'30', x'00')").fetchone()
    (0,)
    """
    connection.create_function(_FUNCTION, 3, _is_intact, deterministic=True)


def _is_intact(key: Any, digest: Any, record: Any) -> bool:
    """Compare bytes: what a damaged page gives need not be text."""
    is_there = all(isinstance(one, bytes) for one in (key, digest, record))
    return is_there and hashlib.sha256(record).hexdigest().encode() == digest and digest.startswith(key)


def from_record(*paths: str, entry: str = "entry") -> str:
    """Build the SQL that takes parts out of a record, and nothing out of a damaged one.

    Parameters
    ----------
    *paths : str
        Names in the record, with dots between.
    entry : str
        Name of the table ``entry`` in the statement.

    Examples
    --------
    >>> from_record("name")  # doctest: +ELLIPSIS
    "CASE WHEN CASE WHEN is_intact(...) ... END THEN json_extract(entry.record, '$.name', '$.format') END"
    """
    # Of two paths and more SQLite makes a list, also where the record has none of them.
    listed = ", ".join(f"'$.{path}'" for path in (*paths, "format"))
    return f"CASE WHEN {is_intact(entry)} THEN json_extract({entry}.record, {listed}) END"


def is_intact(entry: str = "entry") -> str:
    """Build the SQL that tells whether the record of a row has the hash of its id, and is of the kind that the row states.

    Examples
    --------
    >>> is_intact("e")  # doctest: +ELLIPSIS
    "CASE WHEN is_intact(CAST(e.id AS BLOB), ...) THEN json_extract(e.record, '$.kind') IS e.kind ELSE 0 END"
    """
    hashed = ", ".join(f"CAST({entry}.{name} AS BLOB)" for name in ("id", "digest", "record"))
    return f"CASE WHEN {_FUNCTION}({hashed}) THEN json_extract({entry}.record, '$.kind') IS {entry}.kind ELSE 0 END"


def read_parts(place: Any, key: Any, found: Any) -> list[Any]:
    """Read what `from_record` found.

    Parameters
    ----------
    place : Path
        The store or its database, for a message.
    key : str
        Id of the entry.
    found : str or None
        The parts as JSON; None of a damaged record.

    Raises
    ------
    InputError
        The record is damaged.

    Examples
    --------
    >>> read_parts("results", "0123456789ab", '["run 1",1]')
    ['run 1']
    """
    if found is None:
        raise damaged(place, key)
    parts: list[Any] = json.loads(found)
    return parts[:-1]


def damaged(place: Any, key: Any) -> InputError:
    """Make the error for a record that is not what was stored.

    Examples
    --------
    >>> str(damaged("results", "0123456789ab"))[:49]
    'results: the record of 0123456789ab is damaged: i'
    """
    return InputError(
        f"{place}: the record of {key} is damaged: it does not have the SHA-256 of its id, or not the kind of its row; import an exported "
        f"copy, or take it out with `idealrank store remove {key}`"
    )
