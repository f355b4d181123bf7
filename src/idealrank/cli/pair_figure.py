"""A map of all pairs of runs as a file: SVG, PNG, PDF, a page, or its specification."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from idealrank.analysis.comparison import Comparison
from idealrank.cli import options
from idealrank.errors import OptionError
from idealrank.reports.table.formats import FIGURE_FORMATS

if TYPE_CHECKING:
    from idealrank.pages.figures.drawings import Format

option: Callable[..., Any] = click.option(
    "--figure",
    "figure_path",
    metavar="FILE",
    help="Map of all pairs by the first measure (.html: by all measures): FILE ends in .svg, .png, "
    ".pdf, .html (with the extra plots) or .json (Vega-Lite).",
)


def check(path: str | None, baseline: str | None, inputs: tuple[str | None, ...]) -> None:
    """Refuse a figure that cannot be drawn, before anything is computed for it."""
    if path is None:
        return
    if baseline is not None:
        raise OptionError(
            f"--figure {path}: found --baseline {baseline}, which does not compare all pairs; "
            "expected only one of the two options"
        )
    from idealrank.pages.figures import drawings  # noqa: PLC0415  (few ask for it)

    drawings.check_drawable(_kind(path))
    options.refuse_to_replace(path, inputs)


def draw(comparison: Comparison, path: str | None) -> None:
    """Write the file, if one was asked for."""
    if path is None:
        return
    from idealrank.pages.figures import drawings  # noqa: PLC0415  (as above)
    from idealrank.pages.figures.pair_map import pairs_spec  # noqa: PLC0415  (few ask for it)

    kind, measures = _kind(path), list(comparison.means)
    content: Any
    if kind == "html":
        specs = {
            f"pairs-{number}": pairs_spec(comparison, measure)
            for number, measure in enumerate(measures, 1)
        }
        content = drawings.page(specs, f"All pairs of {len(comparison.names)} runs")
    else:
        content = drawings.drawn(pairs_spec(comparison, measures[0]), kind)
    drawings.write_file(Path(path), content)


def _kind(path: str) -> "Format":
    ending = Path(path).suffix.removeprefix(".").lower()
    if ending not in FIGURE_FORMATS:
        raise OptionError(
            f"--figure {path}: expected a file that ends in "
            f"{', '.join(f'.{kind}' for kind in FIGURE_FORMATS)}"
        )
    return FIGURE_FORMATS[ending]
