"""Which queries a page shows the lists of: those with the largest differences first, and as many as there is room for."""

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, zip_longest

import numpy as np

from idealrank.data.types import FloatArray, IntArray
from idealrank.evaluation import Evaluation
from idealrank.measures.measure import Measure
from idealrank.reports.page.subject import QueryLists
from idealrank.verdict import Gated
from idealrank.verdict.table import Table

# Bytes. A page is to stay under two megabytes; the script that draws, styles and tables take a part of it whatever they show.
_PAGE, _FIXED, _LEAST = 1_900_000, 620_000, 200_000
_IN_BASE64 = 4 / 3
_FOR_A_DOCUMENT = 3.0  # compressed, of a listing: a document, its grade, tie and contribution; never less, measured


def queries_first(
    evaluations: Sequence[Evaluation], measure: Measure, pairs: Sequence[tuple[int, int]], gated: Gated | None = None
) -> Iterator[str]:
    """Every query, the most telling ones first.

    Those that closed a gate; then of each pair of runs in turn the largest loss, the largest gain, the second loss, and so on; of one
    run alone those with the worst values; then all others.

    Parameters
    ----------
    evaluations : sequence of Evaluation
        The runs.
    measure : Measure
        Whose values and differences are meant.
    pairs : sequence of (int, int)
        Numbers of the runs that are compared; of none every two are looked at.
    gated : Gated, optional
        What a gate said.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {"q1": {"x": 1}, "q2": {"x": 1}, "q3": {"x": 1}}
    >>> a = ir.evaluate(qrels, {"q1": ["x"], "q2": ["x"], "q3": ["y", "x"]}, "RR")
    >>> b = ir.evaluate(qrels, {"q1": ["x"], "q2": ["y", "x"], "q3": ["x"]}, "RR")
    >>> list(queries_first([a, b], a.measures[0], [(0, 1)])), list(queries_first([a], a.measures[0], []))
    (['q2', 'q3', 'q1'], ['q3', 'q1', 'q2'])
    """
    queries = list(dict.fromkeys(query for evaluation in evaluations for query in evaluation.queries))
    values = [Table.of(one, [measure], queries).values[:, 0] * (measure.direction or 1) for one in evaluations]
    looked = list(pairs) or list(combinations(range(len(values)), 2))
    orders = [_by_size(values[b] - values[a]) for a, b in looked] or [np.argsort(values[0], kind="stable")]
    in_turn = (int(row) for rows in zip_longest(*(order.tolist() for order in orders)) for row in rows if row is not None)
    yield from dict.fromkeys([*_closing(gated, set(queries)), *(queries[row] for row in in_turn), *queries])


def _by_size(differences: FloatArray) -> IntArray:
    """Rows with a difference: the largest loss, the largest gain, the second loss, ..."""
    order = np.argsort(np.nan_to_num(differences), kind="stable")
    order = order[np.nan_to_num(differences)[order] != 0]
    gains = differences[order] > 0
    losses = zip_longest(order[~gains].tolist(), order[gains][::-1].tolist())
    return np.array([row for both in losses for row in both if row is not None], np.int64)


def _closing(gated: Gated | None, known: set[str]) -> list[str]:
    return [] if gated is None else [query for query in closing_queries(gated) if query in known]


def closing_queries(gated: Gated) -> tuple[str, ...]:
    """The queries that closed a gate: of broken contracts, then those that fell most in each check that failed, the worst first.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(8)}
    >>> good, bad = (ir.evaluate(qrels, {q: ranking for q in qrels}, "RR") for ranking in (["x"], ["y", "x"]))
    >>> closing_queries(ir.gate(bad, good))[:2], closing_queries(ir.gate(good, bad))
    (('q0', 'q1'), ())
    """
    broken = (kept.contract.query for kept in gated.contracts if not kept.passed)
    failed = [check.worst for check in gated.checks if not check.passed]
    worst = (drop.query for drops in zip_longest(*failed) for drop in drops if drop is not None)
    return tuple(dict.fromkeys([*broken, *worst]))


def room_for_lists(evaluations: Sequence[Evaluation], n_measures: int, query_texts: Mapping[str, str]) -> int:
    """Compressed bytes that lists, document ids and texts may take, beside the values and texts of all queries.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> 900_000 < room_for_lists([one], 1, {}) < 1_000_000
    True
    """
    n_queries = len(evaluations[0].queries)
    values = 2 * n_queries * len(evaluations) * n_measures
    ids = len(zlib.compress("\n".join(evaluations[0].queries).encode("utf-8", "replace"), 1))
    texts = len(zlib.compress("\n".join(query_texts.values()).encode("utf-8", "replace"), 1))
    return max(int((_PAGE - _FIXED) / _IN_BASE64) - values - ids - texts, _LEAST)


def most_queries(room: int, n_runs: int, depth: int) -> int:
    """How many queries' lists can be in so many bytes at the very most: no more are gathered.

    Examples
    --------
    >>> most_queries(60_000, 2, 10)
    1000
    """
    return max(int(room / (n_runs * depth * _FOR_A_DOCUMENT)), 1)


def fitting(lists: Mapping[str, QueryLists], room: int) -> dict[str, QueryLists]:
    """The first of the lists, as many as fit into so many compressed bytes.

    Examples
    --------
    >>> from idealrank.reports.page.subject import Listing
    >>> one = QueryLists(runs=(Listing(documents=("d",), grades=(1.0,), tied=(False,), added=(0.25,), length=9),), relevant=())
    >>> len(fitting({"q1": one, "q2": one}, 1000)), len(fitting({"q1": one, "q2": one}, 1))
    (2, 0)
    """
    known: dict[str, int] = {}
    pieces = ((query, _as_text(query, shown, known)) for query, shown in lists.items())
    return {query: lists[query] for query in _while_there_is_room(pieces, room)}


def documents_of_lists(lists: Mapping[str, QueryLists]) -> dict[str, None]:
    """Every document of the lists and of what they missed, in the order of the queries.

    Examples
    --------
    >>> list(documents_of_lists({"q": QueryLists(runs=(None,), relevant=(("d1", 3.0),))}))
    ['d1']
    """
    found: dict[str, None] = {}
    for shown in lists.values():
        for listing in shown.runs:
            found.update(dict.fromkeys(document for document in (listing.documents if listing else ()) if document is not None))
        found.update(dict.fromkeys(document for document, _ in shown.relevant))
    return found


def texts_that_fit(texts: Mapping[str, str], order: Iterable[str], room: int) -> dict[str, str]:
    """The first of the texts in an order, as many as fit into so many compressed bytes.

    Examples
    --------
    >>> texts_that_fit({"a": "one", "b": "two"}, ["b", "c", "a"], 100)
    {'b': 'two', 'a': 'one'}
    """
    pieces = ((name, texts[name]) for name in order if name in texts)
    return {name: texts[name] for name in _while_there_is_room(pieces, room)}


def _as_text(query: str, shown: QueryLists, known: dict[str, int]) -> str:
    """What a page writes of a query, near enough: a document's id where it comes first, and its number after that."""

    def number(document: str | None) -> str:
        if document is None or document in known:
            return str(known.get(document or "", -1))
        known[document] = len(known)
        return document

    parts = [query, *(f"{number(document)},{grade:g}" for document, grade in shown.relevant)]
    for listing in shown.runs:
        if listing is not None:
            added = (f"{value:.6g}" if value else "0" for value in listing.added)
            parts += [*map(number, listing.documents), str(listing.grades), *added, str(listing.length)]
    return ",".join(parts)


def _while_there_is_room(pieces: Iterable[tuple[str, str]], room: int) -> Iterator[str]:
    packer, size = zlib.compressobj(6), 0
    for name, text in pieces:
        size += len(packer.compress(text.encode("utf-8", "replace")))
        if size > room or (size == 0 and len(text) > room):
            return
        yield name
