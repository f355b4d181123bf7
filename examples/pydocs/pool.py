"""Print what a grader needs for some queries: the pooled documents with their texts, without ranks
or scores.

python examples/pydocs/pool.py q01 q02 --width 400 [--ungraded]
"""

import argparse
import sys
import textwrap

from documents import collect_documents
from trecfiles import QRELS, RUNS, CollectionError, pooled, read_qrels, read_queries, read_run

WIDTH = 400


def entry(number: int, doc_id: str, docstring: str, width: int) -> str:
    """One pooled document on a few lines, its text shortened to `width` characters.

    Examples
    --------
    >>> entry(1, "math.gcd", "Greatest   Common Divisor.", 20)
    '[1] math.gcd: Greatest [...]'
    """
    return f"[{number}] {doc_id}: {textwrap.shorten(docstring, width)}"


def main() -> int:
    """Run the command line.

    Examples
    --------
    >>> sys.argv = ["pool.py", "q13", "--width", "80"]
    >>> main()  # doctest: +ELLIPSIS
    == q13: random token for a password reset link
    ...
    0
    """
    parser = argparse.ArgumentParser(
        description="Print the pooled documents of some queries, for a grader."
    )
    parser.add_argument("query_ids", nargs="+", metavar="QUERY")
    parser.add_argument(
        "--width", type=int, default=WIDTH, help=f"characters of each text (default: {WIDTH})"
    )
    parser.add_argument(
        "--ungraded", action="store_true", help="only documents that qrels.txt does not judge yet"
    )
    options = parser.parse_args()
    queries = read_queries()
    unknown = [query_id for query_id in options.query_ids if query_id not in queries]
    if unknown:
        print(
            f"error: {', '.join(unknown)}: no such query; queries.tsv has q01, q02, ...",
            file=sys.stderr,
        )
        return 2
    texts = {document.doc_id: document.docstring for document in collect_documents()}
    runs = [read_run(path) for path in RUNS]
    qrels = read_qrels() if options.ungraded and QRELS.exists() else {}
    for query_id in options.query_ids:
        print(f"== {query_id}: {queries[query_id]}")
        judged = qrels.get(query_id, {})
        wanted = [doc_id for doc_id in pooled(runs, query_id) if doc_id not in judged]
        for number, doc_id in enumerate(wanted, start=1):
            print(
                entry(
                    number,
                    doc_id,
                    texts.get(doc_id, "(not a document of this interpreter)"),
                    options.width,
                )
            )
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except CollectionError as error:
        sys.exit(f"error: {error}")
