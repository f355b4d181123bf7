"""Figures as files: with --figures DIR every plot of a report for papers, as SVG, PNG and PDF, one
column wide and two; with --figure FILE a map of all pairs of runs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from idealrank.analysis.comparison import Comparison
from idealrank.cli import options
from idealrank.errors import InputError, OptionError, shown
from idealrank.pages.figures import drawings
from idealrank.pages.figures.pair_map import pairs_spec
from idealrank.pages.figures.specifications import Figure, figures
from idealrank.pages.figures.theme import COLUMNS, POINTS_PER_PIXEL
from idealrank.reports.subject import Subject
from idealrank.reports.table.formats import FIGURE_FORMATS

_LIST = "figures.md"
PLOTS = (
    "means",
    "distribution",
    "scatter",
    "winloss",
    "slices",
    "cutoffs",
    "robust",
    "pairs",
)
_KINDS = ("svg", "png", "pdf")
_WIDTH_OF = {"": "column", "-wide": "wide"}  # By the suffix of the name
_WIDTHS = tuple(_WIDTH_OF.values())


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


@dataclass(frozen=True)
class ChosenFigures:
    """Figures, formats and widths to write; an empty part takes all."""

    plots: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    widths: tuple[str, ...] = ()

    @classmethod
    def of(cls, text: str | None) -> "ChosenFigures":
        """Parse words such as ``scatter,means,pdf,wide``; None takes all."""
        words = [] if text is None else [word.strip() for word in text.split(",")]
        for word in words:
            if word not in (*PLOTS, *_KINDS, *_WIDTHS):
                raise OptionError(
                    f"--only: found {shown(repr(word))}, expected some of the plots "
                    f"{', '.join(PLOTS)}, the formats {', '.join(_KINDS)}, and the widths "
                    f"{', '.join(_WIDTHS)}, as in --only scatter,means,pdf"
                )
        plots, kinds, widths = (
            tuple(word for word in known if word in words) for known in (PLOTS, _KINDS, _WIDTHS)
        )
        return cls(plots, kinds, widths)

    def takes(self, plot: str) -> bool:
        """Return whether a plot is written."""
        return not self.plots or plot in self.plots

    @property
    def columns(self) -> dict[str, float]:
        """Widths in inches by the suffix of the name."""
        return {
            suffix: inches
            for suffix, inches in COLUMNS.items()
            if not self.widths or _WIDTH_OF[suffix] in self.widths
        }

    @property
    def sentence(self) -> str:
        """Formats and widths, for the head of the list of figures."""
        kinds = [kind.upper() for kind in self.kinds or _KINDS]
        each = f"Each as {' and '.join(filter(None, [', '.join(kinds[:-1]), kinds[-1]]))}"
        return f"{each}; `-wide` for two columns." if "-wide" in self.columns else f"{each}."


def write_figures(
    subject: Subject, folder: str | Path, chosen: ChosenFigures | None = None
) -> list[Path]:
    """Write the chosen figures of a subject, one column wide (3.33 inches) and, as ``NAME-wide``,
    two columns wide (7 inches), and ``figures.md``, which describes each.
    """
    check_figures(folder)
    chosen = chosen or ChosenFigures()
    written: list[Path] = []
    list_lines = ["# Figures", "", chosen.sentence]
    for name, figure in named(figures(subject)):
        if not chosen.takes(figure.plot):
            continue
        drawn = {name + suffix: figure.spec(inches) for suffix, inches in chosen.columns.items()}
        for stem, spec in drawn.items():
            files = drawings.in_print(spec, POINTS_PER_PIXEL, chosen.kinds or _KINDS)
            written += [
                drawings.write_file(Path(folder) / f"{stem}.{kind}", content)
                for kind, content in files.items()
            ]
        description = next(iter(drawn.values()))["description"]
        list_lines += ["", f"## {name}", "", str(description)]
    if not written:
        raise OptionError(
            f"--only {','.join(chosen.plots)}: found none of these plots among the results, "
            "expected one that they have; `idealrank compare` has more than `idealrank evaluate`"
        )
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
