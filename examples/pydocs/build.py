"""Build the runs of the collection, or check its files.

python examples/pydocs/build.py            documents of this interpreter -> bm25.run, minilm.run,
collection.json python examples/pydocs/build.py --check    are queries, qrels, runs and second pass
consistent? prints the counts
"""

import argparse
import json
import os
import platform
import sys
from collections import Counter
from pathlib import Path

import documents as documentation
import trecfiles
from trecfiles import COLLECTION, FOLDER, POOL_DEPTH, RUN_DEPTH, RUNS, CollectionError

PYTHON = ("CPython", "3.11.7")
QUERIES_WANTED = 50


def main() -> int:
    """Run the command line.

    Examples
    --------
    >>> sys.argv = ["build.py", "--check"]
    >>> main()  # doctest: +ELLIPSIS
    documents ...
    0
    """
    parser = argparse.ArgumentParser(description="Build or check the pydocs collection.")
    parser.add_argument(
        "--check", action="store_true", help="check the committed files and print their counts"
    )
    parser.add_argument(
        "--output", type=Path, default=FOLDER, help="folder for the built files (default: this one)"
    )
    options = parser.parse_args()
    try:
        return check() if options.check else build(options.output)
    except (CollectionError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def build(output: Path) -> int:
    """Rank the documents of the running interpreter for every query and write the runs.

    Examples
    --------
    >>> build(Path("elsewhere"))  # doctest: +SKIP
    0
    """
    found = (platform.python_implementation(), platform.python_version())
    if output.resolve() == FOLDER and found != PYTHON:
        raise CollectionError(
            f"this is {' '.join(found)}; the ids of qrels.txt belong to {' '.join(PYTHON)}: "
            "run that interpreter, or build elsewhere with --output FOLDER"
        )
    collected = documentation.collect_documents()
    queries = trecfiles.read_queries()
    os.environ["HF_HUB_OFFLINE"] = "1"  # the model lies in a package; nothing may be fetched
    # Here, since --check must run without torch, and since torch replaces functions of the standard
    # library (`inspect.getfile`), whose documentation would then be missing.
    import rankers  # noqa: PLC0415

    output.mkdir(parents=True, exist_ok=True)
    bm25, minilm = (output / path.name for path in RUNS)
    trecfiles.write_run(bm25, rankers.bm25_rankings(collected, queries, RUN_DEPTH), "bm25")
    trecfiles.write_run(minilm, rankers.minilm_rankings(collected, queries, RUN_DEPTH), "minilm")
    facts = {
        "python": found[1],
        "documents": len(collected),
        "sha256": documentation.digest(collected),
    }
    (output / COLLECTION.name).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    print(f"{len(collected)} documents, {len(queries)} queries -> {bm25}, {minilm}")
    return 0


def check() -> int:
    """Compare the committed files with each other; print counts, then problems.

    Returns
    -------
    int
        0 if everything fits, 1 if a problem was printed.

    Examples
    --------
    >>> check()  # doctest: +ELLIPSIS
    documents ...
    0
    """
    queries = trecfiles.read_queries()
    qrels = trecfiles.read_qrels()
    runs = [trecfiles.read_run(path) for path in RUNS]
    grades = Counter(grade for judged in qrels.values() for grade in judged.values())
    facts = json.loads(COLLECTION.read_text(encoding="utf-8"))
    graded = [query_id for query_id in queries if query_id in qrels]
    without = [query_id for query_id in graded if max(qrels[query_id].values()) == 0]
    print(f"documents            {facts['documents']} (CPython {facts['python']})")
    print(f"queries              {len(queries)}, graded {len(graded)}")
    print(f"judged               {sum(grades.values())}")
    print("grades               " + ", ".join(f"{grade}: {grades[grade]}" for grade in range(4)))
    print(f"no relevant document {', '.join(without) or 'none'}")
    for path, run in zip(RUNS, runs, strict=True):
        shorter = [
            f"{query_id} {len(ranking)}"
            for query_id, ranking in run.items()
            if len(ranking) < RUN_DEPTH
        ]
        print(f"{path.name:20} shorter than {RUN_DEPTH}: {', '.join(shorter) or 'none'}")
    problems = _query_problems(queries, qrels)
    for path, run in zip(RUNS, runs, strict=True):
        problems += _run_problems(path.name, queries, run)
    problems += _pool_problems(qrels, runs)
    for problem in problems:
        print(f"problem: {problem}", file=sys.stderr)
    print(f"problems             {len(problems)}")
    return 1 if problems else 0


def _query_problems(queries: dict[str, str], qrels: dict[str, dict[str, int]]) -> list[str]:
    problems = [
        f"qrels.txt: query {query_id!r} is not in queries.tsv"
        for query_id in qrels
        if query_id not in queries
    ]
    if len(qrels) < QUERIES_WANTED:
        problems.append(
            f"qrels.txt: {len(qrels)} queries graded; expected at least {QUERIES_WANTED}"
        )
    repeated = [text for text, count in Counter(queries.values()).items() if count > 1]
    return problems + [f"queries.tsv: {text!r} stands under several ids" for text in repeated]


def _run_problems(
    name: str, queries: dict[str, str], run: dict[str, trecfiles.Ranking]
) -> list[str]:
    problems = []
    if list(run) != list(queries):
        problems.append(
            f"{name}: its queries are not those of queries.tsv in that order; rebuild it"
        )
    for query_id, ranking in run.items():
        if len(ranking) > RUN_DEPTH:
            problems.append(
                f"{name}: {query_id} has {len(ranking)} documents; expected at most {RUN_DEPTH}"
            )
        if len({doc_id for doc_id, _score in ranking}) != len(ranking):
            problems.append(f"{name}: {query_id} returns a document twice")
    return problems


def _pool_problems(
    qrels: dict[str, dict[str, int]], runs: list[dict[str, trecfiles.Ranking]]
) -> list[str]:
    problems = []
    for query_id, judged in qrels.items():
        pool = set(trecfiles.pooled(runs, query_id))
        problems += [
            f"qrels.txt: {query_id} {doc_id} is in a top {POOL_DEPTH} and unjudged"
            for doc_id in sorted(pool - set(judged))
        ]
        problems += [
            f"qrels.txt: {query_id} {doc_id} is judged but in no top {POOL_DEPTH}"
            for doc_id in sorted(set(judged) - pool)
        ]
    return problems


if __name__ == "__main__":
    sys.exit(main())
