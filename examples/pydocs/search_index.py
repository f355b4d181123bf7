"""Put the documents of this interpreter into a full-text index of SQLite, for `idealrank search`.

python examples/pydocs/search_index.py pydocs.db
"""

import sqlite3
import sys
from pathlib import Path

from documents import collect_documents


def write_index(path: str) -> int:
    """Write the table ``documents`` with the columns id, name and body; return the number of
    documents.
    """
    Path(path).unlink(missing_ok=True)
    documents = collect_documents()
    with sqlite3.connect(path) as database:
        database.execute(
            "CREATE VIRTUAL TABLE documents USING fts5(id UNINDEXED, name, body, tokenize = "
            "'porter unicode61')"
        )
        rows = [(one.doc_id, one.doc_id, one.docstring) for one in documents]
        database.executemany("INSERT INTO documents VALUES (?, ?, ?)", rows)
    database.close()
    return len(documents)


if __name__ == "__main__":
    print(f"{sys.argv[1]}: {write_index(sys.argv[1])} documents")
