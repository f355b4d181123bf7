"""`idealrank store diff`: what changed from one evaluation of a store to another."""

from types import ModuleType
from typing import TYPE_CHECKING, Any

import click

from idealrank.cli import headings, options
from idealrank.cli.console import worded
from idealrank.cli.output import Formats
from idealrank.errors import IncompatibleError, InputError, OptionError, StoppedError
from idealrank.reports.table.formats import FORMATS
from idealrank.store.commands import store_options

if TYPE_CHECKING:
    from idealrank.analysis.comparison import Comparison
    from idealrank.analysis.comparison.requirements import JudgmentsOption
    from idealrank.store import Stored

_EPILOG = """\
Examples:

\b
  Why does today's value differ from yesterday's: data, convention, or system?
    idealrank store diff 3f2a 77c0 --store results
\b
  Every query that changed by AP, as CSV:
    idealrank store diff 3f2a 77c0 --measure AP --show 0 --format csv --store results

Values under different judgments or conventions are shown side by side, without a test. With
--different-judgments, the difference is tested, but it may come from the judgments alone.
"""


def _views() -> ModuleType:
    from idealrank.store.views import tables  # noqa: PLC0415  (NumPy; not for the help)

    return tables


_FORMATS = Formats(
    "Text to read;",
    {"json": "with all changes", "rows": "with the queries that changed"},
    views=_views,
    table="changes_text",
    json="changes_json",
    rows="changes_rows",
)


@headings.command(epilog=_EPILOG, short_help="Show the changes between two evaluations of a store.")
@click.argument("id_a", metavar="ID_A")
@click.argument("id_b", metavar="ID_B")
@click.option(
    "-m",
    "--measure",
    metavar="MEASURE",
    cls=options.OnceOption,
    help="Measure by which queries are listed.  [default: the first common measure]",
)
@click.option(
    "--show",
    "most",
    metavar="N",
    type=click.IntRange(0),
    default=None,
    help="Maximum number of queries, the largest change first; 0 for all.  [default: 10 in the "
    "table]",
)
@store_options.different_judgments
@click.option(
    "--no-test", is_flag=True, help="Skip the test of the difference, which takes most of the time."
)
@_FORMATS.option
@store_options.store
@options.output
def diff(
    *,
    id_a: str,
    id_b: str,
    measure: str | None,
    most: int | None,
    judgments: "JudgmentsOption",
    no_test: bool,
    layout: str,
    store_path: str | None,
    output_path: str | None,
) -> None:
    """Show the changes from evaluation ID_A to evaluation ID_B; a difference is always B - A.

    The first part compares the inputs: hashes of files, switches of the convention, versions and
    commits. The second part compares the results: means, the queries that changed most, and, if
    judgments and conventions are equal, the paired test of `idealrank compare`.
    """
    from idealrank.store.diff import MOST, changes  # noqa: PLC0415  (NumPy and SQLite; not for the help)

    if most is None and not FORMATS[layout].is_data:
        most = MOST
    with store_options.opened(store_path) as store:
        a, b = (store.evaluation(key) for key in (id_a, id_b))
        text = _measure(measure, a, b)
        # Only common queries are listed: all of them are at most those of a.
        changed = changes(a, b, measure=text, most=most or len(a.queries))
        results: list[Any] = [changed]
        if not no_test and _FORMATS.takes(layout, "comparison"):
            results += _compared(a, b, changed["judgments"], judgments)
    _FORMATS.write(layout, output_path, *results)


def _measure(measure: str | None, a: "Stored", b: "Stored") -> str | None:
    """Return the text by which both evaluations keep a measure."""
    if measure is None:
        return None
    from idealrank.measures.parse import parse_measure  # noqa: PLC0415

    text = measure if measure in a.measures else str(parse_measure(measure))
    common = _common_measures(a, b)
    if text not in common:
        raise OptionError(
            f"{text}: expected a measure of both evaluations: "
            f"{', '.join(common) or 'there is none'}"
        )
    return text


def _common_measures(a: "Stored", b: "Stored") -> list[str]:
    return [text for text in a.measures if text in b.measures]


def _compared(
    a: "Stored", b: "Stored", judgment_state: str, judgments: "JudgmentsOption"
) -> "tuple[Comparison | None, str]":
    """The paired comparison, or why there is none."""
    from idealrank.inputs.comparison import compare  # noqa: PLC0415  (SciPy; not without a test)

    if judgment_state == "changed" and judgments == "same":
        why_not = (
            "they were computed with different judgments; evaluate the older run again, or use "
            "--different-judgments"
        )
        return None, why_not
    common = _common_measures(a, b)
    if not common:
        return None, "they have no measure in common"
    try:
        return compare(a.evaluation, b.evaluation, measures=common, judgments=judgments), ""
    except StoppedError:
        raise
    except (IncompatibleError, InputError, OptionError) as error:
        return None, worded(error)
