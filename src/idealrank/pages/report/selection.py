"""Selection of the queries whose lists a page shows: the largest differences first, within the size
limit.
"""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, zip_longest

import numpy as np

from idealrank.analysis.comparison.query_table import QueryTable
from idealrank.analysis.gate import Gated
from idealrank.data.types import FloatArray, IntArray
from idealrank.evaluation.evaluate import Evaluation
from idealrank.measures.measure import Measure
from idealrank.reports.subject import QueryLists

# Bytes. A page is to stay under two megabytes; the script that draws, styles and tables take a part
# of it whatever they show.
_PAGE, _FIXED, _LEAST = 1_900_000, 620_000, 200_000
_IN_BASE64 = 4 / 3
# Compressed, of a listing: a document with grade, tie and contribution. Ids of eight digits take
# twice that (measured): short ones do not.
_FOR_A_DOCUMENT = 6.0


def queries_first(
    evaluations: Sequence[Evaluation],
    measure: Measure,
    pairs: Sequence[tuple[int, int]],
    gated: Gated | None = None,
) -> Iterator[str]:
    """Every query, the most telling ones first.

    Those that closed a gate; then of each pair of runs in turn the largest loss, the largest gain,
    the second loss, and so on; of one run alone those with the worst values; then all others.
    """
    queries = list(
        dict.fromkeys(query for evaluation in evaluations for query in evaluation.queries)
    )
    values = [
        QueryTable.of(one, [measure], queries).values[:, 0] * (measure.direction or 1)
        for one in evaluations
    ]
    looked = list(pairs) or list(combinations(range(len(values)), 2))
    orders = [_by_size(values[b] - values[a]) for a, b in looked] or [
        np.argsort(values[0], kind="stable")
    ]
    in_turn = (
        int(row)
        for rows in zip_longest(*(order.tolist() for order in orders))
        for row in rows
        if row is not None
    )
    known, closing = set(queries), () if gated is None else gated.closing_queries
    first = (query for query in closing if query in known)
    yield from dict.fromkeys([*first, *(queries[row] for row in in_turn), *queries])


def _by_size(differences: FloatArray) -> IntArray:
    """Rows with a difference: the largest loss, the largest gain, the second loss, ..."""
    order = np.argsort(np.nan_to_num(differences), kind="stable")
    order = order[np.nan_to_num(differences)[order] != 0]
    gains = differences[order] > 0
    losses = zip_longest(order[~gains].tolist(), order[gains][::-1].tolist())
    return np.array([row for both in losses for row in both if row is not None], np.int64)


def room_for_lists(
    evaluations: Sequence[Evaluation], n_measures: int, query_texts: Mapping[str, str]
) -> int:
    """Compressed bytes that lists, document ids and texts may take, beside the values and texts of
    all queries.
    """
    n_queries = len(evaluations[0].queries)
    values = 2 * n_queries * len(evaluations) * n_measures
    ids = len(zlib.compress("\n".join(evaluations[0].queries).encode("utf-8", "replace"), 1))
    texts = len(zlib.compress("\n".join(query_texts.values()).encode("utf-8", "replace"), 1))
    return max(int((_PAGE - _FIXED) / _IN_BASE64) - values - ids - texts, _LEAST)


def most_queries(room: int, n_runs: int, depth: int) -> int:
    """Return the largest number of queries whose lists may fit into a number of bytes."""
    return max(int(room / (n_runs * depth * _FOR_A_DOCUMENT)), 1)


def documents_of_lists(lists: Mapping[str, QueryLists]) -> dict[str, None]:
    """Every document of the lists and of what they missed, in the order of the queries."""
    found: dict[str, None] = {}
    for shown in lists.values():
        for listing in shown.runs:
            found.update(
                dict.fromkeys(
                    document
                    for document in (listing.documents if listing else ())
                    if document is not None
                )
            )
        found.update(dict.fromkeys(document for document, _ in shown.relevant))
    return found
