"""Options of `idealrank judge` that say what is graded, on which scale, which pairs belong
together, and where a figure goes.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import click
import numpy as np

from idealrank.cli import options
from idealrank.cli.options import OnceOption, measure_parts
from idealrank.data.run import name_of
from idealrank.errors import InputError, OptionError, shown
from idealrank.io.query_files import read_clusters
from idealrank.judging import LabelTable
from idealrank.judging.ratings import OutsidePolicy
from idealrank.measures.parse import DEFAULT_MEASURES
from idealrank.pages.figures import drawings
from idealrank.pages.figures.theme import Spec
from idealrank.reports.table.formats import FIGURE_FORMATS

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

judges: Decorator = click.option(
    "--judge-qrels",
    "judge_texts",
    metavar="NAME=FILE",
    multiple=True,
    required=True,
    help="Judgments of a judge, with a name for the judge; may be repeated.",
)


def _one_measure(_context: click.Context, _option: click.Parameter, texts: Sequence[str]) -> str:
    """Return the measure of a command that takes a single one."""
    measures = measure_parts(texts, DEFAULT_MEASURES[0])
    if len(measures) > 1:
        raise OptionError(
            f"-m: found {len(measures)} measures ({', '.join(map(shown, measures))}), expected one"
        )
    return measures[0]


measure: Decorator = click.option(
    "-m",
    "--measure",
    "measure_text",
    metavar="MEASURE",
    default=DEFAULT_MEASURES[:1],
    show_default=True,
    multiple=True,
    callback=_one_measure,
    cls=OnceOption,
    help="Measure of the runs.",
)
scale: Decorator = click.option(
    "--scale",
    "scale_text",
    metavar="GRADE,...",
    default="",
    help="All grades of the scale, as in 0,1,2,3.  [default: the grades in the files]",
)
tables: Decorator = click.option(
    "--map",
    "table_texts",
    metavar="NAME=FROM:TO,...",
    multiple=True,
    help="Map of the grades of a judge (or of human) to a common scale, as in model=0:0,1:2,2:4; "
    "may be repeated.",
)
outside: Decorator = click.option(
    "--outside",
    type=click.Choice(get_args(OutsidePolicy)),
    default="error",
    show_default=True,
    help="Treatment of grades outside the scale: an error, the nearest grade (clip), or left out "
    "(drop).",
)
clusters: Decorator = click.option(
    "--cluster",
    "cluster_path",
    metavar="FILE",
    cls=OnceOption,
    help="Clusters of queries, such as the queries of one user: lines QUERY LABEL.  [default: each "
    "query alone]",
)
level: Decorator = click.option(
    "--level",
    "confidence",
    metavar="LEVEL",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Confidence level of intervals.",
)


def parse_scale(text: str) -> list[float] | None:
    """Return the grades of ``--scale``; `None` without the option."""
    if not text:
        return None
    try:
        grades = [float(part) for part in text.split(",")]
    except ValueError:
        raise OptionError(
            f"--scale {shown(text)}: expected numbers with commas between, as in 0,1,2,3"
        ) from None
    if len(set(grades)) < max(len(grades), 2) or not np.isfinite(grades).all():
        raise OptionError(
            f"--scale {shown(text)}: expected at least two finite grades, each once, as in 0,1,2,3"
        )
    return grades


def rater_names(paths: Sequence[str]) -> list[str]:
    """Name each file of judgments: by its stem, or by its path where two stems are the same."""
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice is not None:
        raise OptionError(f"judgments {twice}: found the same file twice, expected each rater once")
    stems = [name_of(path) for path in paths]
    return [
        stem if stems.count(stem) == 1 else path for stem, path in zip(stems, paths, strict=True)
    ]


def cluster_labels(path: str | None, table: LabelTable) -> Any:
    """Return the cluster of each pair: its query, or the label that a file gives its query."""
    return "query" if path is None else np.array(labels_of(path, table.queries))


def labels_of(path: str, queries: Sequence[str]) -> list[str]:
    """Return the label that a file gives each query."""
    label_of: Mapping[str, str] = read_clusters(path)
    missing = next((query for query in queries if query not in label_of), None)
    if missing is not None:
        raise InputError(
            f"{path}: found no cluster for query {missing!r}, expected a line for each query"
        )
    return [label_of[query] for query in queries]


def figure_kind(path: str | None, inputs: Sequence[str]) -> "drawings.Format | None":
    """Return the format of the figure, refused before anything is computed if it cannot be
    drawn.
    """
    if path is None:
        return None
    ending = Path(path).suffix.removeprefix(".").lower()
    if ending not in FIGURE_FORMATS:
        raise OptionError(
            f"--figure {path}: expected a file that ends in "
            f"{', '.join(f'.{kind}' for kind in FIGURE_FORMATS)}"
        )
    drawings.check_drawable(FIGURE_FORMATS[ending])
    options.refuse_to_replace(path, inputs, option="--figure")
    return FIGURE_FORMATS[ending]


def write_figure(path: str, kind: "drawings.Format", title: str, spec: Callable[..., Spec]) -> None:
    """Draw a specification and write it; `spec` takes `interactive`."""
    if kind == "html":
        drawings.write_file(Path(path), drawings.page({"figure": spec(interactive=True)}, title))
    else:
        drawings.write_file(Path(path), drawings.drawn(spec(interactive=False), kind))
