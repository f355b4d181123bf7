"""Changes to an entry: tags, notes and removal."""

from collections.abc import Sequence

from idealrank.errors import InputError, OptionError
from idealrank.store.database import Database, column_text
from idealrank.store.record import Entry, now


def tag(database: Database, key: str, tags: Sequence[str]) -> None:
    """Add tags.

    Raises
    ------
    OptionError
        One cannot be printed.
    """
    if not all(one.strip() and one.isprintable() for one in tags):
        raise OptionError(f"tag: found {tuple(tags)!r}, expected words that can be printed")
    with database.writing() as connection:
        connection.executemany("INSERT OR IGNORE INTO tag (id, tag) VALUES (?, ?)", [(key, one) for one in tags])


def untag(database: Database, entry: Entry, tags: Sequence[str]) -> None:
    """Take tags away.

    Raises
    ------
    InputError
        There is no such tag.
    """
    if missing := [one for one in tags if one not in entry.record.tags]:
        raise InputError(f"{entry.id}: found no tag {missing[0]!r}, expected one of {', '.join(entry.record.tags) or 'none at all'}")
    with database.writing() as connection:
        connection.executemany("DELETE FROM tag WHERE id = ? AND tag = ?", [(entry.id, one) for one in tags])


def note(database: Database, key: str, text: str) -> None:
    """Add a note."""
    with database.writing() as connection:
        connection.execute("INSERT OR IGNORE INTO note (id, time, text) VALUES (?, ?, ?)", (key, now(), column_text(text)))


def remove(database: Database, key: str) -> None:
    """Take an entry out.

    Raises
    ------
    InputError
        Something was made of it.
    """
    with database.writing() as connection:
        users = [row[0] for row in connection.execute("SELECT DISTINCT id FROM part WHERE evaluation = ?", (key,))]
        if users:
            raise InputError(f"{key}: found it in {', '.join(users)}, expected nothing made of it; remove that first")
        connection.execute("DELETE FROM entry WHERE id = ?", (key,))
