"""`idealrank measures choose`: the discount and cutoff that best distinguish given runs."""

from functools import partial
from pathlib import Path
from types import ModuleType

import click

from idealrank.analysis.tuning.measurement import (
    CUTOFFS,
    DISCOUNTS,
    Sampling,
    grid_of,
    measures_of,
)
from idealrank.cli import headings, input_options, options
from idealrank.cli.output import Formats
from idealrank.cli.progress import Watch
from idealrank.data.types import Progress
from idealrank.errors import OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.inputs.evaluation import evaluate_read as evaluate
from idealrank.inputs.tuning import chosen_by
from idealrank.measures.cutoffs import Cutoff, make_cutoff
from idealrank.measures.measure_texts import split_outside_brackets
from idealrank.pages.figures import drawings
from idealrank.pages.figures.tuning import choice_spec
from idealrank.reports.table.formats import FIGURE_FORMATS

_WHOLE = ("all", "n")  # spellings of the cutoff at the end of the list
_EPILOG = """\
Examples:

\b
  idealrank measures choose qrels.txt bm25.run neural.run
  idealrank measures choose qrels.txt bm25.run neural.run --cutoff 1,3,5,10,0.2n,all --discount 'log2,zipf(0.5)'
  idealrank measures choose qrels.txt bm25.run neural.run --size 2 --format csv

The rule considers only cutoffs at which at most a tenth of the returned documents are unjudged. The
best setting has the lowest swap rate. Of the settings that these queries cannot distinguish from
the best, the rule recommends the setting nearest to nDCG@10. The output does not show which run is
better, so that the runs cannot guide the choice.
"""  # noqa: E501


def _views() -> ModuleType:
    from idealrank.reports.views import tuning  # noqa: PLC0415  (NumPy; not for the help)

    return tuning


_FORMATS = Formats(
    "Text and tables to read;",
    views=_views,
    table="choice_parts",
    json="choice_json",
    rows="choice_rows",
)


@headings.command(
    epilog=_EPILOG, short_help="Find the discount and cutoff that best distinguish your runs."
)
@click.argument("qrels")
@click.argument("runs", metavar="RUN [RUN...]", nargs=-1, required=True)
@click.option(
    "--discount",
    "discount_texts",
    metavar="D,...",
    multiple=True,
    help="log2, zipf(0.5), geometric(0.8), jarvelin(2), linear, [1,1,1], ...  [default: "
    f"{','.join(DISCOUNTS)}]",
)
@click.option(
    "--cutoff",
    "cutoff_texts",
    metavar="K,...",
    multiple=True,
    help="10, all, 0.2n, sqrt(n), ...  [default: 1,3,5,10,20,50,100,1000,all]",
)
@click.option(
    "-m",
    "--measure",
    "measure_text",
    metavar="MEASURE",
    cls=options.OnceOption,
    default="nDCG",
    show_default=True,
    help="nDCG or DCG, with options.",
)
@options.convention
@click.option(
    "--size",
    metavar="N",
    type=click.IntRange(1),
    help="Number of queries in each random set.  [default: a tenth of all, at least 5]",
)
@click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(0),
    help="Random seed of the sets; derived from the data by default.",
)
@click.option(
    "--figure",
    "figure_path",
    metavar="FILE",
    help="Figure: FILE ends in .svg, .png, .pdf, .html (with the extra plots) or .json "
    "(Vega-Lite).",
)
@_FORMATS.option
@options.explain_method
@options.output
@options.inputs
@options.threads
def choose(
    *,
    qrels: str,
    runs: tuple[str, ...],
    discount_texts: tuple[str, ...],
    cutoff_texts: tuple[str, ...],
    measure_text: str,
    convention_text: str,
    size: int | None,
    seed: int | None,
    figure_path: str | None,
    layout: str,
    output_path: str | None,
    inputs: input_options.Inputs,
    threads: int,
) -> None:
    """Compare discounts and cutoffs of NDCG by their power to distinguish RUNs, and recommend one.

    The table shows, for each setting, the swap rate (how often two random sets of queries order two
    runs in opposite ways), the number of significant pairs, and the theory. Settings with too few
    judgments are excluded.
    """
    if len(runs) < 2:
        raise OptionError(
            f"found one run, {', '.join(runs)}; expected two or more: idealrank measures "
            "choose QRELS RUN RUN..."
        )
    convention = options.parse_convention(convention_text)
    grid = grid_of(
        measure_text,
        _values("--discount", discount_texts) or DISCOUNTS,
        _cutoffs(cutoff_texts) or CUTOFFS,
        convention,
    )
    input_options.refuse_standard_input_twice(qrels, *inputs.more_qrels, *runs)
    kind = _kind(figure_path)
    options.refuse_to_replace(figure_path, (qrels, *inputs.more_qrels, *runs))
    names = input_options.run_names(runs)
    watch = Watch()
    judgments = watch.run("judgments", lambda _: inputs.open_qrels(qrels, convention))

    def evaluated(path: str, name: str) -> Evaluation:
        def work(progress: Progress) -> Evaluation:
            run = inputs.open_run(path, name, qrels)
            return evaluate(
                judgments, run, measures, convention, threads=threads, progress=progress
            )

        measures = measures_of(grid)
        evaluation = watch.run(name, work)
        # A run may lack judged documents down to the first cutoff, which is no reason for doubt.
        if not evaluation.coverage.judged:
            input_options.doubt(evaluation, path)
        return evaluation

    evaluations = [evaluated(path, name) for path, name in zip(runs, names, strict=True)]
    sampling = Sampling(size=size, rng=seed, threads=threads)
    compared = partial(chosen_by, evaluations, grid, sampling)
    choice = watch.count("choosing", lambda tell: compared(tell=tell))
    if kind is not None and figure_path is not None:
        _draw(choice_spec(choice, interactive=kind == "html"), Path(figure_path), kind)
    _FORMATS.write(layout, output_path, choice)


def _values(option: str, texts: tuple[str, ...]) -> list[str]:
    split = [part.strip() for text in texts for part in split_outside_brackets(text)]
    parts = [part for part in split if part]
    if texts and not parts:  # such as an unset variable of a script
        raise OptionError(f"{option}: found no value, expected one or more, separated by commas")
    return parts


def _cutoffs(texts: tuple[str, ...]) -> list[Cutoff | None]:
    parts = _values("--cutoff", texts)
    return [None if part.lower() in _WHOLE else make_cutoff(part) for part in parts]


def _kind(path: str | None) -> drawings.Format | None:
    """Return the format of a file by its ending; refuse it before anything is computed if it cannot
    be drawn.
    """
    if path is None:
        return None
    kinds: dict[str, drawings.Format] = {f".{name}": kind for name, kind in FIGURE_FORMATS.items()}
    ending = Path(path).suffix
    if ending not in kinds:
        raise OptionError(
            f"--figure {path}: found the ending {ending or 'none'!s}, expected {', '.join(kinds)}"
        )
    drawings.check_drawable(kinds[ending])
    return kinds[ending]


def _draw(spec: drawings.Spec, path: Path, kind: drawings.Format) -> None:
    if kind == "html":
        title = spec["title"]["text"]
        drawings.write_file(path, drawings.page({"choice": spec}, str(title)))
    else:
        drawings.save({path.stem: spec}, path.parent, kind)
