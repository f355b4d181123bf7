"""Utility from the contingency table, document by document."""

from tests.twins.naive_query import Asked, Entry, Query, Value, is_rejected, is_relevant, n_relevant


def utility(asked: Asked, order: list[Entry], query: Query) -> float:
    """The four fields of the contingency table, each with its worth."""
    found = sum(is_relevant(asked, entry) for entry in order)
    rejected = sum(is_rejected(asked, entry) for entry in order)
    missed = n_relevant(asked, query) - found
    unseen = sum(is_rejected(asked, entry) for entry in query.judged) - rejected
    if "collection" in asked.options:
        unseen = float(asked.options["collection"]) - query.length - missed
    a, b, c, d = (
        float(asked.options.get(name, default))
        for name, default in zip("abcd", (1, -1, 0, 0), strict=True)
    )
    return a * found + b * (query.length - found) + c * missed + d * unseen


VALUES: dict[str, Value] = {"Utility": utility}
