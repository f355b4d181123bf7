"""`idealrank overlap`: how alike two runs are."""

from typing import get_args

import click

from idealrank.api.overlap import overlap_read
from idealrank.cli import input_options, options
from idealrank.cli.format_option import Formats
from idealrank.cli.progress import Watch
from idealrank.data.run_pairs import PairDuplicates, PairTies
from idealrank.evaluation.overlap import DEFAULT_PAIR_MEASURES
from idealrank.io.provenance import input_files
from idealrank.measures.parse import parse_pair_measures

_EPILOG = """\
Examples:

\b
  idealrank overlap bm25.run neural.run
  idealrank overlap bm25.run neural.run -m 'RBO(p=0.98),overlap@3' -m tauAP --per-query
  idealrank overlap bm25.run neural.run --ties docid --format csv -o alike.csv
"""


_FORMATS = Formats(
    "A table to read;", table="views.overlap:overlap_parts", json="views.overlap:overlap_json", csv="views.overlap:overlap_csv"
)


@click.command(epilog=_EPILOG, short_help="Measure the similarity of two runs, without judgments.")
@click.argument("run_a")
@click.argument("run_b")
@click.option(
    "-m", "--measure", "measure_texts", metavar="MEASURE", cls=options.MeasureOption, multiple=True,
    help="RBO(p=0.9), RBO(estimate=min), overlap@10, Jaccard@10, tau, tauAP@10, wtau; repeat it, or put commas between.  "
    f"[default: {','.join(DEFAULT_PAIR_MEASURES)}]",
)  # fmt: skip
@click.option("--per-query", is_flag=True, help="Values of every query.")
@click.option(
    "--ties", type=click.Choice(get_args(PairTies)), default="shared", show_default=True,
    help="Treatment of equal scores: a shared rank, an order, or the mean over all orders.",
)  # fmt: skip
@click.option(
    "--duplicates", type=click.Choice(get_args(PairDuplicates)), default="error", show_default=True,
    help="Line that counts if a run lists a document twice.",
)  # fmt: skip
@_FORMATS.option
@options.output
@options.run_inputs
@options.threads
def overlap(
    *,
    run_a: str,
    run_b: str,
    measure_texts: tuple[str, ...],
    per_query: bool,
    ties: str,
    duplicates: str,
    layout: str,
    output_path: str | None,
    inputs: input_options.Inputs,
    threads: int,
) -> None:
    """Measure the similarity of RUN_A and RUN_B, query by query, without judgments.

    Values are means over the queries that both answer. The output also counts queries that only one run answers, and queries with a
    value: a correlation needs two documents in common. For tauAP, RUN_A is the reference.
    """
    texts = options.measure_parts(measure_texts, "RBO(p=0.9)")
    measures = parse_pair_measures(texts or DEFAULT_PAIR_MEASURES)
    input_options.refuse_standard_input_twice(run_a, run_b)
    names = input_options.run_names([run_a, run_b]) if run_a != run_b else _of_one_file(run_a)
    watch = Watch()
    first, second = (
        watch.run(name, lambda _, path=path, name=name: inputs.open_run(path, name, "-"))  # type: ignore[misc]
        for path, name in zip((run_a, run_b), names, strict=True)
    )
    found = watch.run(
        "overlap",
        lambda progress: overlap_read(
            first, second, measures, ties=ties, duplicates=duplicates, threads=threads, progress=progress,
            inputs=input_files((*first.paths, *second.paths)),
        ),
    )  # fmt: skip
    _FORMATS.write(layout, output_path, found, per_query=per_query)


def _of_one_file(path: str) -> list[str]:
    """Compare a run with itself, as a test of a script may do: every measure has its greatest value."""
    (name,) = input_options.run_names([path])
    return [name, f"{name} (2)"]
