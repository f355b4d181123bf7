"""An output format: cells with semicolons between them."""

from pathlib import Path

from tests.changes.checks import files, output
from tests.changes.copies import Change, Edit

CHANGE = Change(
    row="an output format",
    edits=(
        Edit.after(
            "src/idealrank/reports/table/formats.py",
            '        Format("csv", "CSV", "programs", delimiter=","),\n',
            '        Format("semicolons", "semicolons", "programs", delimiter=";"),\n',
        ),
    ),
)


def check(folder: Path) -> None:
    """Write evaluations and comparisons in the format, and see it among the choices."""
    qrels, *runs = files(folder)
    for arguments in (["evaluate", qrels, runs[0]], ["compare", qrels, *runs]):
        cells = output(*arguments, "--format", "csv")
        assert output(*arguments, "--format", "semicolons") == cells.replace(",", ";")
        assert "semicolons" in output(arguments[0], "--help")
