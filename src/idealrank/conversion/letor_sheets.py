"""LETOR files as rows of judgments, with the documents and texts that their comments name."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from idealrank.data.types import decode_id
from idealrank.io.complaints import Complain, Notes
from idealrank.io.formats.feature_rows import feature_pairs
from idealrank.io.formats.letor import LabelledItems, read_labels
from idealrank.io.judgment_rows import JudgmentRow, JudgmentSheet, SeenPairs, sheet_of, valid_text
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
    # Only lines with a label are parsed again: their numbers rise, and no line has the number 0.
    labelled_lines = iter(items.lines.tolist())
    next_labelled = next(labelled_lines, 0)
    for number, line in enumerate(source.open(), 1):
        if number == next_labelled:
            pairs = feature_pairs(line, source.path, number)
            features.append({int(index): float(value) for index, value in pairs.tolist()})
            comments.append(decode_id(line.partition(b"#")[2].strip()))
            next_labelled = next(labelled_lines, 0)
    read = _read_comments(items, comments)
    lost = {"comments": read.lost} if read.lost else {}
    codes = items.codes.tolist()
    grades = items.labels.tolist()
    lines = items.lines.tolist()
    rows = [
        JudgmentRow(
            query=items.queries[code],
            document=comment.document,
            grade=grade,
            assessor="",
            query_text=comment.query_text,
            text="",
            values=comment.values,
            features=features_of_line,
            place=(source.path, line),
        )
        for code, grade, line, comment, features_of_line in zip(
            codes, grades, lines, read.lines, features, strict=True
        )
    ]
    seen = SeenPairs(complain)
    return sheet_of([row for row in rows if seen.is_new(row)], lost=lost)


class _Comment(NamedTuple):
    """The fields of a line that its comment names."""

    document: str
    query_text: str = ""
    values: Mapping[str, str] = _NO_FIELDS


class _ReadComments:
    """The comment of each line, read in the way that fits all lines."""

    def __init__(self, lines: Sequence[_Comment], lost: Iterable[str] = ()) -> None:
        self.lines = lines
        # Comments with a part that is in no row.
        self.lost = [comment for comment in lost if comment]


def _read_comments(items: LabelledItems, comments: Sequence[str]) -> _ReadComments:
    """Find documents in ``docid =``, as the first words of comments, or by their numbers."""
    if comments and all(map(DOCUMENT_FIELD.match, comments)):
        return _named_by_field(comments)
    words = [comment.split(None, 1) for comment in comments]
    if words and all(words):
        documents = [word[0] for word in words]
        tails = [word[1].strip() if len(word) > 1 else "" for word in words]
        codes = items.codes.tolist()
        # First words that a query repeats name no documents.
        if len(set(zip(codes, documents, strict=True))) == len(words):
            return _named_by_first_word(codes, documents, tails, comments)
    return _ReadComments([_Comment(document) for document in items.documents], comments)


def _named_by_field(comments: Sequence[str]) -> _ReadComments:
    lines = []
    lost = []
    for comment in comments:
        pairs = _FIELD.findall(comment)
        fields: dict[str, str] = {}
        for name, value in pairs:
            fields.setdefault(name, value)  # of a name that is repeated, the first value counts
        has_repeated = len(fields) < len(pairs)
        document = fields.pop(_DOCUMENT)
        lines.append(_Comment(document, "", fields))
        lost.append(comment if has_repeated or _FIELD.sub("", comment).strip() else "")
    return _ReadComments(lines, lost)


def _named_by_first_word(
    codes: Sequence[int],
    documents: Sequence[str],
    tails: Sequence[str],
    comments: Sequence[str],
) -> _ReadComments:
    """Take the tail of a comment as the text of the query, if each query has one tail."""
    tails_of: dict[int, set[str]] = {}
    for code, tail in zip(codes, tails, strict=True):
        tails_of.setdefault(code, set()).add(tail)
    if any(len(different) > 1 for different in tails_of.values()):
        return _ReadComments([_Comment(document) for document in documents], comments)
    pairs = zip(documents, tails, strict=True)
    return _ReadComments([_Comment(document, valid_text(tail)) for document, tail in pairs])
