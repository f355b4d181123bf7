"""Figures as files: with --figures DIR every plot of a report for papers, as SVG, PNG and PDF, one
column wide and two; with --figure FILE a map of all pairs of runs.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from idealrank.analysis.comparison import Comparison
from idealrank.cli import options
from idealrank.errors import InputError, OptionError
from idealrank.pages.figures import drawings
from idealrank.pages.figures.pair_map import pairs_spec
from idealrank.pages.figures.specifications import Figure, figures
from idealrank.pages.figures.theme import COLUMNS, POINTS_PER_PIXEL
from idealrank.reports.subject import Subject
from idealrank.reports.table.formats import FIGURE_FORMATS

_LIST = "figures.md"


def check_figures(folder: str | Path) -> None:
    """Refuse figures that cannot be drawn or written, before anything is computed."""
    drawings.check_drawable("svg")
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = "it is a file" if Path(folder).is_file() else error.strerror or str(error)
        raise InputError(
            f"--figures {folder}: the folder does not exist and cannot be created: {why}; expected "
            "another name"
        ) from None


def write_figures(subject: Subject, folder: str | Path) -> list[Path]:
    """Write every figure of a subject, and ``figures.md``, which says in words what each shows.

    ``NAME.svg``, ``.png`` and ``.pdf`` are as wide as one column (3.33 inches), ``NAME-wide`` as
    two (7 inches).
    """
    check_figures(folder)
    written: list[Path] = []
    list_lines = ["# Figures", "", "Each as SVG, PNG and PDF; `-wide` for two columns."]
    for name, figure in named(figures(subject)):
        drawn = {name + suffix: figure.spec(inches) for suffix, inches in COLUMNS.items()}
        for stem, spec in drawn.items():
            files = drawings.in_print(spec, POINTS_PER_PIXEL)
            written += [
                drawings.write_file(Path(folder) / f"{stem}.{kind}", content)
                for kind, content in files.items()
            ]
        list_lines += ["", f"## {name}", "", str(drawn[name]["description"])]
    return [*written, drawings.write_file(Path(folder) / _LIST, "\n".join(list_lines) + "\n")]


def named(drawn: Iterator[Figure]) -> Iterator[tuple[str, Figure]]:
    """Yield figures with distinct names: a number tells runs apart whose names differ only in
    characters that file names cannot have.
    """
    counts: dict[str, int] = {}
    for figure in drawn:
        key = figure.name.lower()  # file systems that do not tell cases apart
        counts[key] = counts.get(key, 0) + 1
        name = figure.name if counts[key] == 1 else f"{figure.name}-{counts[key]}"
        yield name, figure


def check_pair_map(path: str, baseline: str | None, inputs: tuple[str | None, ...]) -> None:
    """Refuse a figure that cannot be drawn, before anything is computed for it."""
    if baseline is not None:
        raise OptionError(
            f"--figure {path}: found --baseline {baseline}, which does not compare all pairs; "
            "expected only one of the two options"
        )
    drawings.check_drawable(_kind(path))
    options.refuse_to_replace(path, inputs)


def draw_pair_map(comparison: Comparison, path: str) -> None:
    """Write a map of all pairs."""
    kind = _kind(path)
    measures = list(comparison.means)
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


def _kind(path: str) -> drawings.Format:
    ending = Path(path).suffix.removeprefix(".").lower()
    if ending not in FIGURE_FORMATS:
        raise OptionError(
            f"--figure {path}: expected a file that ends in "
            f"{', '.join(f'.{kind}' for kind in FIGURE_FORMATS)}"
        )
    return FIGURE_FORMATS[ending]
