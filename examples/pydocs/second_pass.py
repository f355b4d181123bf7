"""How well two passes over the same documents agree.

python examples/pydocs/second_pass.py            quadratically weighted kappa of second-pass.txt
against qrels.txt python examples/pydocs/second_pass.py --sample   the documents of the second pass,
shuffled, with texts, no grades
"""

import argparse
import math
import random
import sys

import pool
from documents import collect_documents
from trecfiles import QRELS, SECOND_PASS, CollectionError, read_qrels, read_queries

SEED = 20131
ONE_IN = 10
GRADES = 4


def sample(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """A tenth of the (query, document) pairs, rounded up, in random order, always the same ones.

    Examples
    --------
    >>> len(sample([("q1", str(number)) for number in range(95)]))
    10
    """
    size = math.ceil(len(pairs) / ONE_IN)
    return random.Random(SEED).sample(sorted(pairs), size)


def quadratic_kappa(first: list[int], second: list[int]) -> float:
    """Cohen's kappa with weights (i - j)^2: 1 is full agreement, 0 is what chance gives.

    References
    ----------
    Cohen (1968), Weighted kappa. Psychological Bulletin 70(4), 213-220.

    Examples
    --------
    >>> quadratic_kappa([0, 1, 2, 3], [0, 1, 2, 3])
    1.0
    >>> quadratic_kappa([0, 0, 1, 3], [0, 1, 1, 2])
    0.75
    """
    observed = sum((one - two) ** 2 for one, two in zip(first, second, strict=True)) / len(first)
    by_chance = sum((one - two) ** 2 for one in first for two in second) / len(first) ** 2
    if by_chance == 0:
        raise CollectionError(
            "both passes gave one and the same grade throughout; kappa has no value there"
        )
    return 1 - observed / by_chance


def agreement() -> int:
    """Print kappa, the share of equal grades and the table of first against second grades.

    Examples
    --------
    >>> agreement()  # doctest: +ELLIPSIS
    pairs graded twice ...
    0
    """
    qrels, again = read_qrels(), read_qrels(SECOND_PASS)
    pairs = [(query_id, doc_id) for query_id, judged in again.items() for doc_id in judged]
    wanted = sample([(query_id, doc_id) for query_id, judged in qrels.items() for doc_id in judged])
    if sorted(pairs) != sorted(wanted):
        raise CollectionError(
            f"second-pass.txt: {len(pairs)} pairs that are not the {len(wanted)} of the "
            f"sample; grade what --sample prints"
        )
    first = [qrels[query_id][doc_id] for query_id, doc_id in pairs]
    second = [again[query_id][doc_id] for query_id, doc_id in pairs]
    equal = sum(one == two for one, two in zip(first, second, strict=True))
    print(f"pairs graded twice   {len(pairs)}")
    print(f"weighted kappa       {quadratic_kappa(first, second):.3f}")
    # Most pairs are plainly not relevant, which flatters kappa: this is what is left without them.
    contested = [(one, two) for one, two in zip(first, second, strict=True) if one or two]
    without_zeros = quadratic_kappa([one for one, _ in contested], [two for _, two in contested])
    print(f"without 0/0 pairs    {without_zeros:.3f} ({len(contested)} pairs)")
    print(f"same grade           {equal} ({equal / len(pairs):.0%})")
    print(
        f"furthest apart       "
        f"{max(abs(one - two) for one, two in zip(first, second, strict=True))}"
    )
    print("first \\ second       " + "".join(f"{grade:5}" for grade in range(GRADES)))
    for one in range(GRADES):
        row = [
            sum(pair == (one, two) for pair in zip(first, second, strict=True))
            for two in range(GRADES)
        ]
        print(f"{one:>20} " + "".join(f"{count:5}" for count in row))
    return 0


def show_sample(width: int) -> int:
    """Print the sampled documents with query and text.

    Examples
    --------
    >>> show_sample(60)  # doctest: +ELLIPSIS
    q...
    0
    """
    queries, qrels = read_queries(), read_qrels()
    texts = {document.doc_id: document.docstring for document in collect_documents()}
    chosen = sample([(query_id, doc_id) for query_id, judged in qrels.items() for doc_id in judged])
    for number, (query_id, doc_id) in enumerate(chosen, start=1):
        print(f"{query_id} {queries[query_id]!r}")
        print(
            "    "
            + pool.entry(
                number, doc_id, texts.get(doc_id, "(not a document of this interpreter)"), width
            )
        )
    return 0


def main() -> int:
    """Run the command line.

    Examples
    --------
    >>> sys.argv = ["second_pass.py"]
    >>> main()  # doctest: +ELLIPSIS
    pairs graded twice ...
    0
    """
    parser = argparse.ArgumentParser(
        description="Agreement of two grading passes over a tenth of the documents."
    )
    parser.add_argument(
        "--sample", action="store_true", help="print the documents to grade a second time"
    )
    parser.add_argument(
        "--width",
        type=int,
        default=pool.WIDTH,
        help=f"characters of each text (default: {pool.WIDTH})",
    )
    options = parser.parse_args()
    for path in (QRELS,) if options.sample else (QRELS, SECOND_PASS):
        if not path.exists():
            raise CollectionError(f"{path.name}: no such file; it comes with the repository")
    return show_sample(options.width) if options.sample else agreement()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except CollectionError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
