"""`idealrank theory figures`: figures 1 to 4 of the paper, drawn anew."""

from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import click
import numpy as np

from idealrank.cli import headings, output
from idealrank.cli.progress import Count, Watch
from idealrank.errors import InputError, OptionError
from idealrank.measures.measure_texts import split_outside_brackets
from idealrank.pages.figures import drawings
from idealrank.reports.table.formats import FIGURE_FORMATS
from idealrank.theory import RankedCollection, growing_ndcg, paper_rankers, read_rankers
from idealrank.theory.views.figures import FIGURES, PaperFigure, SimulatedMeans, figure_spec

_EPILOG = """\
Examples:

\b
  idealrank theory figures --output figures
  idealrank theory figures --output figures --format svg,html --number 1 --number 2
  idealrank theory figures --output mine --rankers mine.npz --format html

A file for --rankers holds NumPy arrays: grades, of shape (queries, documents), with documents in
input order, and for each ranker an array of scores of the same shape. Lists of different lengths
are concatenated, with an array offsets:

\b
  numpy.savez("mine.npz", grades=grades, bm25=scores_of_bm25, neural=scores_of_neural)
"""


@headings.command(
    epilog=_EPILOG, short_help="Redraw the paper's figures 1 to 4 as SVG, PNG and HTML."
)
@click.option(
    "-o",
    "--output",
    "folder",
    metavar="DIR",
    required=True,
    help="Output folder; created if missing.",
)
@click.option(
    "--format",
    "format_texts",
    metavar="FORMAT",
    multiple=True,
    help="svg, png, pdf, html (one page for all figures, which needs no network) or json "
    "(Vega-Lite, to change by hand).  [default: svg,png,html]",
)
@click.option(
    "--number",
    "numbers",
    metavar="N",
    type=click.IntRange(1, 4),
    multiple=True,
    help="Figure to draw, 1 to 4; may be repeated.",
)
@click.option(
    "--rankers",
    "data",
    metavar="FILE",
    help="File of your own rankers; see below.  [default: the trained rankers of the package]",
)
@click.option(
    "--length",
    "documents",
    metavar="N",
    type=click.IntRange(2),
    help="List length: queries with at least N documents, cut at N.  [default: as many as half of "
    "the queries have]",
)
def figures(
    *,
    folder: str,
    format_texts: tuple[str, ...],
    numbers: tuple[int, ...],
    data: str | None,
    documents: int | None,
) -> None:
    """Redraw figures 1 to 4 of the paper: NDCG of the first n documents of every query, for growing
    n.

    The figures show RankSVM, ListNet and a random ranker on 40 queries of 5,000 documents:
    synthetic data of the paper's shape, since the paper's own data are not public. The rankers were
    trained beforehand; the command only computes NDCG, which takes some seconds.
    """
    kinds = _formats(format_texts or ("svg,png,html",))
    for kind in kinds:
        drawings.check_drawable(kind)
    watch = Watch()
    chosen = [FIGURES[number] for number in dict.fromkeys(numbers)] or list(FIGURES.values())
    collection = _cut(paper_rankers() if data is None else read_rankers(data), documents)
    _make(Path(folder))
    curves = watch.count(
        "figures", lambda tell: curves_of(collection, chosen, _source(collection, data), tell)
    )
    written = []
    for kind in kinds:
        specs = {
            f"figure-{figure.number}": figure_spec(figure, curve, interactive=kind == "html")
            for figure, curve in curves
        }

        written += watch.run(kind, partial(_write, specs, Path(folder), kind))
    output.write((f"{path}\n" for path in written), None)


def _make(folder: Path) -> None:
    """Make the folder, before anything is computed for it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = error.strerror or str(error)
        if folder.is_file():
            why = "it is a file"
        raise InputError(
            f"--output {folder}: the folder does not exist and cannot be created: {why}; expected "
            "another name"
        ) from None


def _formats(texts: tuple[str, ...]) -> list[drawings.Format]:
    split = chain.from_iterable(split_outside_brackets(text) for text in texts)
    names = [name.strip().lower() for name in split if name.strip()]
    for kind in names:
        if kind not in FIGURE_FORMATS:
            raise OptionError(f"--format {kind}: expected {', '.join(FIGURE_FORMATS)}")
    if not names:
        raise OptionError("--format: found nothing, expected svg, png, pdf, html or json")
    return [FIGURE_FORMATS[kind] for kind in dict.fromkeys(names)]


def _cut(collection: RankedCollection, documents: int | None) -> RankedCollection:
    """Lists of one length: the mean over queries is then over the same queries at every n."""
    half = int(np.sort(collection.lengths)[collection.n_queries // 2])
    try:
        return collection.at_least(documents or half)
    except InputError as error:
        raise OptionError(f"--length {documents}: {error}") from None


def _source(collection: RankedCollection, data: str | None) -> str:
    """Describe the data for the caption."""
    description = str(collection.about.get("what", "")).strip().rstrip(".")
    if not description:
        description = f"read from {Path(data or '').name}"
    return f"Data: {description}."


def curves_of(
    collection: RankedCollection,
    figures: list[PaperFigure],
    source: str,
    tell: "Count | None" = None,
) -> list[tuple[PaperFigure, SimulatedMeans]]:
    """Compute the content of each figure, one ranker after another."""
    measures = [figure.measure for figure in figures]
    labels = collection.rows(collection.grades)
    n_rankers = len(collection.scores)
    means = {}
    sizes = np.arange(0)
    for number, (name, scores) in enumerate(collection.scores.items()):
        progress = None if tell is None else partial(_tell_part, tell, number, n_rankers)
        grown = growing_ndcg(labels, collection.rows(scores), measures=measures, progress=progress)
        means[name] = grown.mean()
        sizes = grown.sizes
    curves = []
    for row, figure in enumerate(figures):
        content = SimulatedMeans(
            sizes=sizes,
            means={name: rows[row] for name, rows in means.items()},
            queries=collection.n_queries,
            source=source,
        )
        curves.append((figure, content))
    return curves


def _tell_part(tell: Count, number: int, n_parts: int, done: int, total: int) -> None:
    """Tell the progress of one of several parts of equal work as progress of the whole."""
    tell(number * total + done, n_parts * total)


def _write(
    specs: dict[str, drawings.Spec], folder: Path, kind: drawings.Format, _progress: Any
) -> list[Path]:
    if kind == "html":
        page = drawings.page(specs, "NDCG of growing lists")
        return [drawings.write_file(folder / "figures.html", page)]
    return drawings.save(specs, folder, kind)
