"""A column of the comparison: the median of the differences, a new number."""

from pathlib import Path

from tests.changes.checks import files, output
from tests.changes.copies import Change, Edit

_COLUMNS = "src/idealrank/reports/views/comparison/columns.py"
_TEST = "src/idealrank/stats/comparison.py"
_ROW = "src/idealrank/analysis/comparison/difference_rows.py"

_COLUMN = """\
    Compared(
        "middle",
        _in("middle", "pair", "with slices"),
        lambda line, shown: number_cell(line.row.middle, shown.places, signed=True),
        meaning="the median of the differences",
    ),
"""

CHANGE = Change(
    row="a column of the comparison",
    edits=(
        Edit.before(
            _TEST,
            '        "effect": in_units(mean, sd),\n',
            '        "middle": np.median(differences, axis=0),\n',
        ),
        Edit.before(_TEST, "    effect: float\n    sd: float\n", "    middle: float\n"),
        Edit.before(
            _ROW, "    sd_difference: float\n", "    middle: float = field(metadata=NEGATED)\n"
        ),
        Edit.before(_ROW, "            effect=test.effect,\n", "            middle=test.middle,\n"),
        Edit.before(_COLUMNS, '    Compared(\n        "d_z",\n', _COLUMN),
    ),
)


def check(folder: Path) -> None:
    """See the column in the table of `compare`, its meaning, and the number in JSON."""
    runs = files(folder)
    lines = output("compare", *runs, "-m", "RR").splitlines()
    header, row, *_ = (line.split() for line in lines if line.startswith(("measure ", "RR ")))
    assert row[header.index("middle") - len(header)] == "+0.5000"
    explained = output("compare", *runs, "-m", "RR", "--explain-method")
    assert "middle: the median of the differences" in " ".join(explained.split())
    assert '"middle": 0.5' in output("compare", *runs, "-m", "RR", "--format", "json")
