"""Rows of LETOR files with their features, and with the documents that the comments of some tools
name.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from idealrank.data.types import decode_id
from idealrank.io.complaints import Complain
from idealrank.io.formats.feature_rows import feature_pairs
from idealrank.io.formats.letor import LabelledItems, read_labels
from idealrank.io.judgment_rows import JudgmentRow, JudgmentSheet, SeenPairs, sheet_of, valid_text
from idealrank.io.notes import Notes
from idealrank.io.sources import AnyPath, Source

_FIELD = re.compile(r"(\w+)\s*=\s*(\S+)")
_DOCUMENT = "docid"
_NO_FIELDS: Mapping[str, str] = {}
DOCUMENT_FIELD = re.compile(rf"{_DOCUMENT}\s*=\s*\S")
"""Beginning of a comment that names a document; ``docid = 7`` after other words is the text of a
query.
"""


def letor_sheet(
    source: Source, group: AnyPath | None, notes: Notes, complain: Complain
) -> JudgmentSheet:
    r"""Read grades, features and the documents of comments."""
    items = read_labels(source, group, notes, complain)
    features: list[dict[int, float]] = []
    comments: list[str] = []
    wanted = iter(items.lines.tolist())
    at = next(wanted, 0)
    for number, line in enumerate(source.open(), 1):
        if number == at:
            pairs = feature_pairs(line, source.path, number)
            features.append({int(index): float(value) for index, value in pairs.tolist()})
            comments.append(decode_id(line.partition(b"#")[2].strip()))
            at = next(wanted, 0)
    named = _documents(items, comments)
    left = {"comments": named.left} if named.left else {}
    seen = SeenPairs(complain)
    rows = [
        JudgmentRow(
            query=items.queries[code],
            document=document,
            grade=grade,
            assessor="",
            query_text=text,
            text="",
            values=values,
            features=features[row],
            place=(source.path, line),
        )
        for row, (code, grade, line, (document, text, values)) in enumerate(
            zip(
                items.codes.tolist(),
                items.labels.tolist(),
                items.lines.tolist(),
                named.rows,
                strict=True,
            )
        )
    ]
    return sheet_of([row for row in rows if seen.is_new(row)], left=left)


class _Named:
    """Document, text of the query and other fields of each line."""

    def __init__(
        self, rows: Sequence[tuple[str, str, Mapping[str, str]]], left: Iterable[str] = ()
    ) -> None:
        self.rows = rows
        # comments of which something stands in no row
        self.left = [comment for comment in left if comment]


def _documents(items: LabelledItems, comments: Sequence[str]) -> _Named:
    if comments and all(map(DOCUMENT_FIELD.match, comments)):
        found, left = [], []
        for comment in comments:
            pairs = _FIELD.findall(comment)
            fields = dict(reversed(pairs))  # the first of a name counts
            found.append((fields.pop(_DOCUMENT), "", dict(reversed(fields.items()))))
            left.append(
                comment if len(fields) + 1 < len(pairs) or _FIELD.sub("", comment).strip() else ""
            )
        return _Named(found, left)
    words = [comment.split(None, 1) for comment in comments]
    if words and all(words) and len({*_pairs(items, words)}) == len(words):
        texts: dict[int, set[str]] = {}
        for code, word in zip(items.codes.tolist(), words, strict=True):
            texts.setdefault(code, set()).add(word[1].strip() if len(word) > 1 else "")
        of_query = all(len(some) == 1 for some in texts.values())
        tails = [
            valid_text(word[1].strip()) if of_query and len(word) > 1 else "" for word in words
        ]
        rows = [(word[0], tail, _NO_FIELDS) for word, tail in zip(words, tails, strict=True)]
        return _Named(rows, () if of_query else comments)
    return _Named([(document, "", {}) for document in items.documents], comments)


def _pairs(items: LabelledItems, words: Sequence[Sequence[str]]) -> Iterator[tuple[int, str]]:
    yield from zip(items.codes.tolist(), (word[0] for word in words), strict=True)
