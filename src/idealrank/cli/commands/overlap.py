"""`idealrank overlap`: the similarity of two runs, or of every two of several."""

from dataclasses import replace
from functools import partial
from types import ModuleType
from typing import get_args

import click

from idealrank.cli import headings, input_options, options
from idealrank.cli.output import Formats
from idealrank.cli.progress import Watch
from idealrank.data.run_pairs import PairDuplicates, PairRules, PairTies
from idealrank.errors import OptionError
from idealrank.evaluation.overlap import DEFAULT_MATRIX_MEASURES, DEFAULT_PAIR_MEASURES
from idealrank.inputs.overlap import overlap_matrix_of, overlap_of
from idealrank.io.sources import input_files
from idealrank.measures import PAIR_MEASURES
from idealrank.measures.parse import parse_pair_measures

_EPILOG = """\
Examples:

\b
  idealrank overlap bm25.run neural.run
  idealrank overlap bm25.run neural.run -m 'RBO(p=0.98),overlap@3' -m tauAP --per-query
  idealrank overlap bm25.run neural.run --ties docid --format csv -o alike.csv
  idealrank overlap bm25.run neural.run new-seed1.run -m overlap@10 --format latex
"""


def _views() -> ModuleType:
    from idealrank.reports.views import overlap  # noqa: PLC0415  (NumPy; not for the help)

    return overlap


_FORMATS = Formats(
    "A table to read;",
    views=_views,
    table="overlap_parts",
    json="overlap_json",
    rows="overlap_rows",
    markdown="overlap_tables",
    latex="overlap_tables",
)
_MATRIX_FORMATS = Formats(
    "A table to read;",
    views=_views,
    table="matrix_parts",
    json="matrix_json",
    rows="matrix_rows",
    markdown="matrix_pasted",
    latex="matrix_pasted",
)


@headings.command(epilog=_EPILOG, short_help="Measure the similarity of runs, without judgments.")
@click.argument("runs", metavar="RUN_A RUN_B [RUN...]", nargs=-1, required=True)
@click.option(
    "-m",
    "--measure",
    "measure_texts",
    metavar="MEASURE",
    cls=options.OnceOption,
    multiple=True,
    shell_complete=options.completing(PAIR_MEASURES),
    help="RBO(p=0.9), RBO(estimate=min), overlap@10, Jaccard@10, tau, tauAP@10, wtau; repeat, or "
    f"separate with commas.  [default: {','.join(DEFAULT_PAIR_MEASURES)}; of three or more runs "
    f"{','.join(DEFAULT_MATRIX_MEASURES)}]",
)
@click.option("--per-query", is_flag=True, help="Values of every query; of two runs.")
@click.option(
    "--ties",
    type=click.Choice(get_args(PairTies)),
    default="shared",
    show_default=True,
    help="Treatment of equal scores: a shared rank, an order, or the mean over all orders.",
)
@click.option(
    "--duplicates",
    type=click.Choice(get_args(PairDuplicates)),
    default="error",
    show_default=True,
    help="Line that counts if a run lists a document twice.",
)
@_FORMATS.option
@options.output
@options.run_inputs
@options.threads
def overlap(
    *,
    runs: tuple[str, ...],
    measure_texts: tuple[str, ...],
    per_query: bool,
    ties: str,
    duplicates: str,
    layout: str,
    output_path: str | None,
    inputs: input_options.Inputs,
    threads: int,
) -> None:
    """Measure the similarity of RUN_A and RUN_B, query by query, or of every two of several runs,
    without judgments.

    Values are means over the queries that both answer. The output also counts queries that only one
    run answers, and queries with a value: a correlation needs two documents in common. For tauAP,
    RUN_A is the reference. Three or more runs make a matrix for each measure, with a row and a
    column for each run.
    """
    if len(runs) < 2:
        raise OptionError(
            f"found one run, {', '.join(runs)}; expected two or more: idealrank overlap RUN_A RUN_B"
        )
    if per_query and len(runs) > 2:
        raise OptionError(
            f"--per-query: found {len(runs)} runs, expected two; a matrix holds means"
        )
    texts = options.measure_parts(measure_texts, "RBO(p=0.9)")
    default = DEFAULT_PAIR_MEASURES if len(runs) == 2 else DEFAULT_MATRIX_MEASURES
    measures = parse_pair_measures(texts or default)
    input_options.refuse_standard_input_twice(*runs)
    is_one_file = len(runs) == 2 and runs[0] == runs[1]
    names = _of_one_file(runs[0]) if is_one_file else input_options.run_names(runs)

    watch = Watch()
    opened = [
        watch.run(name, lambda _, path=path, name=name: inputs.open_run(path, name, "-"))  # type: ignore[misc]
        for path, name in zip(runs, names, strict=True)
    ]
    files = input_files(path for run in opened for path in run.paths)
    rules = PairRules(ties=ties, duplicates=duplicates, threads=threads)
    if len(opened) > 2:
        run_of = dict(zip(names, opened, strict=True))
        of_all = partial(overlap_matrix_of, run_of, measures, rules, inputs=files)
        matrix = watch.count("overlap", lambda tell: of_all(tell=tell))
        _MATRIX_FORMATS.write(layout, output_path, matrix)
        return
    first, second = opened
    result = watch.run(
        "overlap",
        lambda progress: overlap_of(
            (first, second), measures, replace(rules, progress=progress), files
        ),
    )
    _FORMATS.write(layout, output_path, result, per_query=per_query)


def _of_one_file(path: str) -> list[str]:
    """Name both sides of a comparison of a run with itself, as a test of a script may do."""
    (name,) = input_options.run_names([path])
    return [name, f"{name} (2)"]
