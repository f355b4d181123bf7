"""Counts, document by document."""

from tests.twins.naive_query import Value, is_rejected, n_relevant, relevant_ranks

VALUES: dict[str, Value] = {
    "NumQ": lambda asked, order, query: 1.0,
    "NumRet": lambda asked, order, query: min(query.length, asked.limit(query.length)),
    "NumRel": lambda asked, order, query: float(n_relevant(asked, query)),
    "NumRelRet": lambda asked, order, query: float(len(relevant_ranks(asked, order, query))),
    "NumNonrelJudgedRet": lambda asked, order, query: float(
        sum(is_rejected(asked, entry) for entry in order)
    ),
}
