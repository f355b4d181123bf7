"""Texts of queries and documents, read to be shown next to their ids."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import islice
from os import PathLike
from typing import TypeAlias

from idealrank.io.complaints import Notes, Tell
from idealrank.io.texts import check_texts, clipped, read_texts

Texts: TypeAlias = str | PathLike[str] | Mapping[str, str]
"""Texts by id: a file that `io.texts.read_texts` reads, or a mapping."""

QUERY_LETTERS, DOCUMENT_LETTERS = 200, 280  # of texts that are shown
_CHECKED = 1000  # documents, before the work: a corpus is large


@dataclass(frozen=True, kw_only=True)
class TextSources:
    """Where the texts of queries and documents are, each optional."""

    queries: Texts | None = None
    documents: Texts | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that are read."""
        tables = (self.queries, self.documents)
        return tuple(
            str(table) for table in tables if table is not None and not isinstance(table, Mapping)
        )

    def check(self) -> None:
        """Read the beginnings of the files, so that errors appear before long work."""
        for table, most in ((self.queries, None), (self.documents, _CHECKED)):
            if table is not None and not isinstance(table, Mapping):
                check_texts(table, most)

    def of_queries(self, ids: Collection[str], tell: Tell | None = None) -> dict[str, str]:
        """Return the texts of queries by id, each in one line."""
        return _texts_of(self.queries, ids, QUERY_LETTERS, "queries", tell)

    def of_documents(self, ids: Collection[str], tell: Tell | None = None) -> dict[str, str]:
        """Return titles and texts of documents by id, each in one line."""
        return _texts_of(self.documents, ids, DOCUMENT_LETTERS, "documents", tell)


def _texts_of(
    table: Texts | None, ids: Collection[str], length: int, kind: str, tell: Tell | None
) -> dict[str, str]:
    """Read the texts of ids; note or warn if some of them are missing."""
    if table is None or not ids:
        return {}
    if isinstance(table, Mapping):
        where = "the mapping"
        texts = {name: clipped(table[name], length) for name in ids if name in table}
    else:
        where = str(table)
        texts = read_texts(table, ids, length=length, tell=tell)
    if not texts:
        some = ", ".join(repr(name) for name in islice(ids, 3))
        Notes(tell).warn(
            f"{where}: found the text of none of the {len(ids):,} {kind} shown ({some}, "
            f"...); do the ids match?"
        )
    elif len(texts) < len(ids):
        Notes(tell).inform(
            f"{where}: found texts of {len(texts):,} of the {len(ids):,} {kind} shown"
        )
    return texts
