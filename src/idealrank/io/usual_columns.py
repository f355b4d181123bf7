"""Usual names of the columns of tables."""

import re
from collections.abc import Sequence
from typing import TypeAlias

# Names without case and punctuation, most usual first. The second group holds names that often mean
# something else beside those of the first (the text of a query, a score beside a grade), so it is
# looked at only when the first finds nothing.
Names: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]
QUERY: Names = (
    (
        "queryid",
        "qid",
        "topicid",
        "queryno",
        "topicno",
        "userid",
        "sessionid",
        "searchid",
        "requestid",
        "groupid",
    ),
    ("query", "topic", "user", "session", "group", "q"),
)
DOCUMENT: Names = (
    (
        "documentid",
        "docid",
        "docno",
        "corpusid",
        "passageid",
        "itemid",
        "productid",
        "movieid",
        "articleid",
        "candidateid",
        "chunkid",
        "did",
        "pid",
    ),
    ("document", "doc", "item", "passage", "product"),
)
GRADE: Names = (
    (
        "grade",
        "relevance",
        "rel",
        "label",
        "relevancelabel",
        "relevancegrade",
        "judgment",
        "judgement",
        "rating",
        "qrel",
    ),
    ("gain", "target", "score"),
)
SCORE: Names = (
    (
        "score",
        "scores",
        "prediction",
        "predictions",
        "pred",
        "predicted",
        "predictedscore",
        "similarity",
        "sim",
        "relevancescore",
    ),
    ("probability",),
)
RANK: Names = (("rank", "ranking", "position"), ())
# Columns beside query and document that hold no grade: times, and the nameless index that
# dataframes write. With no others, a table of judgments is a list of interactions.
NO_GRADE = frozenset(
    (
        "timestamp",
        "time",
        "date",
        "datetime",
        "ts",
        "unixtime",
        "eventtime",
        "createdat",
        "index",
        "unnamed0",
        "",
    )
)


def plain(name: str) -> str:
    """The name without case and punctuation."""
    return re.sub(r"[\W_]+", "", name.lower())


def candidates(names: Sequence[str], usual: Sequence[str]) -> list[str]:
    """Columns with usual names, the most usual first."""
    simple = [plain(name) for name in names]
    return [names[place] for word in usual for place, name in enumerate(simple) if name == word]


def is_usual(name: str) -> bool:
    """Return whether a name says what its column holds."""
    usual = (
        word for names in (QUERY, DOCUMENT, GRADE, SCORE, RANK) for group in names for word in group
    )
    return plain(name) in {*usual, *NO_GRADE}
