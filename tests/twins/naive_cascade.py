"""ERR and RBP from their definitions, one rank after the other."""

from tests.twins.naive_query import Asked, Entry, Gain, NaiveError, Query, Value


def gain(asked: Asked, entry: Entry, query: Query) -> float:
    """What a place of the list gains the user of RBP."""
    grade = -1.0 if entry is None else entry
    top = asked.options.get("max_rel")
    least = float(asked.options.get("rel", "1" if top is None else "0"))
    if entry is None or grade < least:
        return 0.0
    if top is None:
        return 1.0
    highest = max([1.0, *query.judged])
    return max(0.0, grade / highest if top == "query" else min(1.0, grade / float(top)))


def err(asked: Asked, order: list[Entry], query: Query) -> float:
    """A user who is satisfied at each rank with a chance that grows with its grade."""
    top = float(asked.options.get("max_rel", "4"))
    total, still_looking = 0.0, 1.0
    for rank, entry in enumerate(order, 1):
        satisfied = 0.0 if entry is None else (2 ** max(entry, 0.0) - 1) / 2**top
        if entry is not None and entry > top:
            raise NaiveError("grade above the scale")
        if rank <= asked.limit(query.length):
            total += still_looking * satisfied / rank
            still_looking *= 1 - satisfied
    return total


def rbp(asked: Asked, order: list[Entry], query: Query) -> float:
    """A user who goes on with the same chance everywhere."""
    p, of = float(asked.options.get("p", "0.8")), asked.options.get("of", "EU")
    looked_at = [
        (rank, entry) for rank, entry in enumerate(order, 1) if rank <= asked.limit(query.length)
    ]
    utility = sum(
        (1 - p) * p ** (rank - 1) * gain(asked, entry, query) for rank, entry in looked_at
    )
    open_ = 1 - sum((1 - p) * p ** (rank - 1) for rank, entry in looked_at if entry is not None)
    patience = 1 / (1 - p)
    numbers = {"EU": utility, "ETU": utility * patience, "EC": 1.0, "ETC": patience, "ED": patience}
    return {**numbers, "residual": open_, "residual-ETU": open_ * patience, "residual-ED": 0.0}[of]


VALUES: dict[str, Value] = {"ERR": err, "RBP": rbp}
GAINS: dict[str, Gain] = {"RBP": gain}
"""What places gain, by measure: best and worst orders of ties go by it where the number asked for
is no better for being larger.
"""
