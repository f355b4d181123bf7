"""LETOR and SVMlight files: a grade and a query per line, features that are not read, and scores
from a file of their own.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from idealrank.data.problems import EXPECTED, quoted
from idealrank.data.types import FloatArray, IntArray, decode_id
from idealrank.errors import FileFormatError
from idealrank.io.checked_cells import is_lost_text, parse_number
from idealrank.io.complaints import Complain, Complaint, Notes
from idealrank.io.row_parts import Place, Rows, pack
from idealrank.io.sources import BYTE_ORDER_MARK, AnyPath, Source, open_sources

_EXPECTED = "GRADE qid:QUERY FEATURE:VALUE ..."
_FEATURE = re.compile(rb"[^\s:#]+:\S+|#")
# Where LightGBM and XGBoost look for group sizes themselves.
_GROUP_ENDINGS = (".query", ".group")


@dataclass(frozen=True, kw_only=True)
class LabelledItems:
    r"""The items of a LETOR file.

    An item has no id in such files.
    """

    path: str  # The file
    labels: FloatArray  # shape (n,): grades, line by line
    codes: IntArray  # shape (n,): which query an item belongs to: an index into `queries`
    queries: list[str]  # Query ids in order of first appearance
    lines: IntArray  # shape (n,): line of each item

    @cached_property
    def documents(self) -> list[str]:
        """Document ids, line by line."""
        counts = [0] * len(self.queries)
        names = []
        for code in self.codes.tolist():
            counts[code] += 1
            names.append(f"{self.queries[code]}:{counts[code]}")
        return names

    @property
    def group(self) -> IntArray:
        """Number of items of each query, as LightGBM and XGBoost take it; meaningful where the
        items of a query stand together.
        """
        return np.bincount(self.codes, minlength=len(self.queries))

    def rows(self, values: FloatArray | None = None) -> Rows:
        """Return the items with their labels, or with other values."""
        queries = [self.queries[code] for code in self.codes.tolist()]
        return Rows(
            queries=pack(queries),
            documents=pack(self.documents),
            values=self.labels if values is None else values,
            place=partial(_place, self.path, self.lines),
        )


def _place(path: str, lines: IntArray, row: int) -> Place:
    return path, int(lines[row])


def _lines_of(source: Source) -> Iterator[tuple[int, bytes]]:
    """Lines with their numbers, from 1, without the mark that editors put in front of UTF-8."""
    for number, line in enumerate(source.open(), 1):
        yield number, line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line


class _Item(NamedTuple):
    """Grade and query of a line; the query is empty if a group file names it."""

    label: float
    qid: bytes


def _is_blank_or_comment(line: bytes) -> bool:
    start = line.split(None, 1)[:1]
    return not start or start[0].startswith(b"#")


def _item(line: bytes) -> _Item | None:
    """Parse one line; None if it is malformed."""
    fields = line.split(None, 3)
    label = parse_number(fields[0].decode("ascii", "replace"))
    if label is None or not np.isfinite(label):
        return None
    has_qid = len(fields) > 1 and fields[1].startswith(b"qid:")
    qid = fields[1].removeprefix(b"qid:") if has_qid else b""
    if has_qid and not qid:
        return None
    # Features are not read, so the first one is enough to tell this format; a line may have none.
    features = fields[2:] if has_qid else fields[1:]
    if features and not _FEATURE.match(features[0]):
        return None
    return _Item(label, qid)


def _have_qid(source: Source) -> bool:
    """Return whether the lines have ``qid:``, as most of the first three do: one bad line at the
    top does not decide for the file.
    """
    parsed = (_item(line) for _, line in _lines_of(source) if not _is_blank_or_comment(line))
    items = (item for item in parsed if item is not None)
    have_qid = [bool(item.qid) for item in islice(items, 3)]
    if not have_qid:
        return False
    # Two lines have no majority: the first decides, and the other is a complaint if it differs.
    if len(have_qid) < 3:
        return have_qid[0]
    return have_qid.count(True) > 1


def read_labels(
    source: Source, group: AnyPath | None, notes: Notes, complain: Complain
) -> LabelledItems:
    """Read grades and queries."""
    labels: list[float] = []
    qids: list[bytes] = []
    lines: list[int] = []
    have_qid = _have_qid(source)
    for number, line in _lines_of(source):
        if _is_blank_or_comment(line):
            continue
        item = _item(line)
        if item is None:
            complain(
                Complaint(
                    kind="letor",
                    path=source.path,
                    line=number,
                    found=quoted(line.rstrip(b"\r\n")),
                    expected=_EXPECTED,
                )
            )
        elif bool(item.qid) != have_qid:
            problem = f"a line {'with' if item.qid else 'without'} qid:"
            complain(
                Complaint(
                    kind="letor",
                    path=source.path,
                    line=number,
                    found=problem,
                    expected=f"a line {'with' if have_qid else 'without'} it, as the others",
                )
            )
        else:
            labels.append(item.label)
            qids.append(item.qid)
            lines.append(number)
    if qids and not have_qid:
        codes, queries = _codes_of_groups(source, len(labels), group, notes)
    else:
        numbers: dict[bytes, int] = {}
        codes = np.array([numbers.setdefault(qid, len(numbers)) for qid in qids], np.int64)
        queries = [decode_id(qid) for qid in numbers]
    return LabelledItems(
        path=source.path,
        labels=np.array(labels, np.float64),
        codes=codes,
        queries=queries,
        lines=np.array(lines, np.int64),
    )


def _codes_of_groups(
    source: Source, n_items: int, group: AnyPath | None, notes: Notes
) -> tuple[IntArray, list[str]]:
    path = group or _group_file_beside(source.path)
    if path is None:
        beside = f"or call it {Path(source.path).name}.query"
        raise FileFormatError(
            source.path,
            0,
            "lines without qid:",
            "qid: on every line, or a group file",
            f"name it with group=, {beside}",
            command_hint=f"name it with --group-sizes, {beside}",
        )
    if group is None:
        notes.inform(f"{source.path}: group sizes read from {path}")
    (sizes_source,) = open_sources(path, notes)
    sizes = read_column(sizes_source, "a group size", whole=True)
    if int(sizes.sum()) != n_items:
        problem = f"group sizes that add up to {int(sizes.sum())}"
        raise FileFormatError(
            sizes_source.path, 0, problem, f"{n_items}, the number of items of {source.path}"
        )
    codes = np.repeat(np.arange(sizes.size), sizes.astype(np.int64))
    return codes, [str(number) for number in range(sizes.size)]


def _group_file_beside(path: str) -> str | None:
    packed = [ending for ending in (".gz", ".bz2", ".xz", ".zst") if path.endswith(ending)]
    bases = [path, *(path.removesuffix(ending) for ending in packed)]
    candidates = [base + ending for base in bases for ending in _GROUP_ENDINGS]
    return next((candidate for candidate in candidates if Path(candidate).is_file()), None)


def read_column(source: Source, what: str, *, whole: bool = False) -> FloatArray:
    r"""Read one number per line; blank lines and comments are left out."""
    values = []
    for number, line in _lines_of(source):
        text = line.decode("utf-8", "replace").strip()
        if not text or text.startswith("#"):
            continue
        value = parse_number(text)
        if (
            value is None
            or value != value  # noqa: PLR0124  (NaN)
            or (whole and (value < 0 or value % 1 or math.isinf(value)))
        ):
            expected = f"{what}: one {'whole ' if whole else ''}number per line"
            raise FileFormatError(source.path, number, quoted(line.rstrip(b"\r\n")), expected)
        if not whole and is_lost_text(text):
            raise FileFormatError(
                source.path, number, f"{text}, a whole number that float64 changes", EXPECTED
            )
        values.append(value)
    return np.array(values, np.float64)


def read_scores(source: Source, items: LabelledItems) -> Rows:
    r"""Read the scores of the items, one per line, in the order of the file of labels."""
    scores = read_column(source, "a score")
    if scores.size != items.labels.size:
        raise FileFormatError(
            source.path,
            0,
            f"{scores.size} scores",
            f"{items.labels.size}, one for each item of {items.path}",
        )
    return items.rows(scores)
