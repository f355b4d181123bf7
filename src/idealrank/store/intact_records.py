"""Records whose hash is right, the only ones that rows are read from: a damaged page is an error,
never a number.
"""

import hashlib
import json
import sqlite3
from typing import Any

from idealrank.errors import InputError

_FUNCTION = "is_intact"  # name in SQL


def teach(connection: sqlite3.Connection) -> None:
    """Give a connection the function that tells whether a record has the hash of its id."""
    connection.create_function(_FUNCTION, 3, _is_intact, deterministic=True)


def _is_intact(key: Any, digest: Any, record: Any) -> bool:
    """Compare bytes: what a damaged page gives need not be text."""
    if not all(isinstance(part, bytes) for part in (key, digest, record)):
        return False
    has_digest = hashlib.sha256(record).hexdigest().encode() == digest
    return has_digest and bool(digest.startswith(key))


def from_record(*paths: str, entry: str = "entry") -> str:
    """Build the SQL that takes parts out of a record, and nothing out of a damaged one."""
    # SQLite makes a list of two paths or more, even if the record has none of them.
    listed = ", ".join(f"'$.{path}'" for path in (*paths, "format"))
    return f"CASE WHEN {is_intact(entry)} THEN json_extract({entry}.record, {listed}) END"


def is_intact(entry: str = "entry") -> str:
    """Build the SQL that tells whether the record of a row has the hash of its id, and is of the
    kind that the row states.
    """
    hashed = ", ".join(f"CAST({entry}.{name} AS BLOB)" for name in ("id", "digest", "record"))
    return (
        f"CASE WHEN {_FUNCTION}({hashed}) THEN json_extract({entry}.record, '$.kind') IS "
        f"{entry}.kind ELSE 0 END"
    )


def read_parts(store: Any, key: Any, listed: Any) -> list[Any]:
    """Read the parts that the SQL of `from_record` gave for a row of a store at a path."""
    if listed is None:
        raise damaged(store, key)
    parts: list[Any] = json.loads(listed)
    return parts[:-1]  # the last is the format, which makes a list of a single part


def damaged(store: Any, key: Any) -> InputError:
    """Make the error for a record that is not what was stored."""
    return InputError(
        f"{store}: the record of {key} is damaged: it does not have the SHA-256 of its id, or not "
        "the kind of its row; import an exported copy, or take it out with `idealrank store remove "
        f"{key}`"
    )
