"""The collection's files, read with nothing but the standard library, so that its check needs no
install.
"""

from pathlib import Path

FOLDER = Path(__file__).resolve().parent
QUERIES = FOLDER / "queries.tsv"
QRELS = FOLDER / "qrels.txt"
SECOND_PASS = FOLDER / "second-pass.txt"
COLLECTION = FOLDER / "collection.json"
RUNS = (FOLDER / "bm25.run", FOLDER / "minilm.run")
RUN_DEPTH = 100
POOL_DEPTH = 10

Ranking = list[tuple[str, float]]


class CollectionError(Exception):
    """A file of the collection is malformed; the message says where, what was found and what was
    expected.

    Examples
    --------
    >>> raise CollectionError("queries.tsv:3: no tab")
    Traceback (most recent call last):
    trecfiles.CollectionError: queries.tsv:3: no tab
    """


def read_queries(path: Path = QUERIES) -> dict[str, str]:
    """Query ids and what was typed, in the order of the file.

    Examples
    --------
    >>> read_queries()["q01"]
    'parse an ISO date'
    """
    queries: dict[str, str] = {}
    for number, fields in _lines(path, "\t", 2, "QUERY<tab>TEXT"):
        query_id, text = fields
        if query_id in queries:
            raise CollectionError(
                f"{path.name}:{number}: query id {query_id!r} stands twice; give each query "
                f"one line"
            )
        queries[query_id] = text
    return queries


def read_qrels(path: Path = QRELS) -> dict[str, dict[str, int]]:
    """Grades by query and document.

    Examples
    --------
    >>> read_qrels()["q01"]["datetime.date.fromisoformat"]
    3
    """
    qrels: dict[str, dict[str, int]] = {}
    for number, (query_id, _iteration, doc_id, grade) in _lines(
        path, None, 4, "QUERY 0 DOCUMENT GRADE"
    ):
        if grade not in {"0", "1", "2", "3"}:
            raise CollectionError(f"{path.name}:{number}: grade {grade!r}; expected 0, 1, 2 or 3")
        grades = qrels.setdefault(query_id, {})
        if doc_id in grades:
            raise CollectionError(
                f"{path.name}:{number}: {query_id} {doc_id} is judged twice; keep one line"
            )
        grades[doc_id] = int(grade)
    return qrels


def read_run(path: Path) -> dict[str, Ranking]:
    """Documents with their scores by query, in the order of the file.

    Examples
    --------
    >>> len(read_run(RUNS[0])["q01"])
    100
    """
    run: dict[str, Ranking] = {}
    for number, (query_id, _q0, doc_id, _rank, score, _tag) in _lines(
        path, None, 6, "QUERY Q0 DOCUMENT RANK SCORE TAG"
    ):
        ranking = run.setdefault(query_id, [])
        if ranking and float(score) > ranking[-1][1]:
            raise CollectionError(
                f"{path.name}:{number}: score {score} is above the line before; expected "
                f"falling order"
            )
        ranking.append((doc_id, float(score)))
    return run


def write_run(path: Path, rankings: dict[str, list[tuple[str, str]]], tag: str) -> None:
    r"""Write documents and scores, the latter already as text, in TREC's six columns.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "tiny.run"
    >>> write_run(target, {"q1": [("json", "0.5")]}, "tiny")
    >>> target.read_text()
    'q1 Q0 json 1 0.5 tiny\n'
    """
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for query_id, ranking in rankings.items():
            for rank, (doc_id, score) in enumerate(ranking, start=1):
                file.write(f"{query_id} Q0 {doc_id} {rank} {score} {tag}\n")


def pooled(runs: list[dict[str, Ranking]], query_id: str) -> list[str]:
    """The documents that need a grade: the top 10 of every run, by id, so that no grader sees
    ranks.

    A tie group that reaches over rank 10 is taken whole: whatever breaks the tie, the top 10 is
    judged.

    Examples
    --------
    >>> run = {"q1": [("b", 2.0), ("a", 1.0)]}
    >>> pooled([run], "q1")
    ['a', 'b']
    """
    found: set[str] = set()
    for run in runs:
        ranking = run.get(query_id, [])
        lowest = ranking[POOL_DEPTH - 1][1] if len(ranking) >= POOL_DEPTH else float("-inf")
        found.update(doc_id for doc_id, score in ranking if score >= lowest)
    return sorted(found)


def _lines(
    path: Path, separator: str | None, width: int, expected: str
) -> list[tuple[int, list[str]]]:
    if not path.exists():
        raise CollectionError(
            f"{path.name}: no such file; `build.py` writes the runs, the others come with the "
            f"repository"
        )
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        fields = line.split(separator)
        if len(fields) != width:
            raise CollectionError(
                f"{path.name}:{number}: {len(fields)} fields in {line[:120]!r}; expected {expected}"
            )
        rows.append((number, fields))
    return rows
