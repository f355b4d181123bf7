"""A small shop with a search index: documents, canary queries with grades, and slices; and ways to
damage the index.

Run it as ``python shop.py FOLDER``; ``--lose title`` empties a column of the index, ``--lose
documents`` removes a tenth of its documents.
"""

import argparse
import random
import sqlite3
from pathlib import Path

WORDS = [
    first + last
    for first in ("bo", "ca", "di", "fu", "gre", "lo", "mi", "pe", "su", "tra")
    for last in ("ba", "den", "lik", "mo", "rus", "te")
]
QUERIES, DOCUMENTS = 120, 1500


def collection(
    rng: random.Random,
) -> tuple[dict[str, list[list[str]]], dict[str, list[str]], list[tuple[str, str, int]]]:
    """Make documents (title and text), queries, and grades: the words of a query stand in the
    documents that it should find.
    """
    documents = {
        f"doc{number:04}": [rng.choices(WORDS, k=3), rng.choices(WORDS, k=25)]
        for number in range(DOCUMENTS)
    }
    queries = {
        f"c{number:03}": rng.sample(WORDS, 2 if number < QUERIES // 2 else 4)
        for number in range(QUERIES)
    }
    grades = []
    for query, words in queries.items():
        for grade, document in zip((3, 2, 1), rng.sample(sorted(documents), 3), strict=True):
            documents[document][0] += words[:grade]
            documents[document][1] += words
            grades.append((query, document, grade))
    return documents, queries, grades


def build(folder: Path, lose: str | None) -> None:
    """Write the index, the queries, the judgments and the slices."""
    rng = random.Random(7)
    documents, queries, grades = collection(rng)
    kept = (
        rng.sample(sorted(documents), len(documents) * 9 // 10)
        if lose == "documents"
        else sorted(documents)
    )
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / "new.db"
    made.unlink(missing_ok=True)
    connection = sqlite3.connect(made)
    connection.execute("CREATE VIRTUAL TABLE documents USING fts5(id UNINDEXED, title, body)")
    rows = (
        (key, "" if lose == "title" else " ".join(documents[key][0]), " ".join(documents[key][1]))
        for key in sorted(kept)
    )
    connection.executemany("INSERT INTO documents VALUES (?, ?, ?)", rows)
    connection.commit()
    connection.close()
    made.replace(folder / "shop.db")  # an engine that runs sees the old index or the new one
    texts = {
        "queries.tsv": [f"{query}\t{' '.join(words)}" for query, words in queries.items()],
        "qrels.txt": [f"{query} 0 {document} {grade}" for query, document, grade in grades],
        "slices.csv": [
            "query,slice",
            *(
                f"{query},{'short' if len(words) == 2 else 'long'}"
                for query, words in queries.items()
            ),
        ],
    }
    for name, lines in texts.items():
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--lose", choices=["title", "documents"])
    asked = parser.parse_args()
    build(asked.folder, asked.lose)
