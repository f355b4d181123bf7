"""`idealrank judge pool`: which documents of several runs to judge."""

from types import ModuleType

import click

from idealrank.cli import headings, input_options, options
from idealrank.cli.output import Formats
from idealrank.cli.progress import Watch
from idealrank.errors import OptionError
from idealrank.judging import pool as pooled
from idealrank.judging.commands.input_files import read_known_queries, read_runs
from idealrank.judging.pools import POOL_ORDERS

_EPILOG = """\
Examples:

\b
  The first ten documents of each run:
    idealrank judge pool bm25.run neural.run --depth 10 --format csv -o pool.csv
\b
  500 documents, the best of each query by reciprocal rank fusion first:
    idealrank judge pool bm25.run neural.run --depth 100 --order rrf --budget 500
\b
  A sample: all documents down to rank 10, a tenth of the others down to 100. The file has the inclusion probabilities:
    idealrank judge pool bm25.run neural.run --sampling-rates 10:1,100:0.1 --format csv -o sample.csv
    idealrank judge infer sample.csv bm25.run neural.run --qrels labels.txt

Documents whose `sampled` is true are to be judged; `idealrank judge ui` and `idealrank judge run`
leave out the others. Keep the whole file: `idealrank judge infer` needs the others, too.
"""  # noqa: E501


def _views() -> ModuleType:
    from idealrank.judging.views import pooled_documents  # noqa: PLC0415  (NumPy; not for the help)

    return pooled_documents


_FORMATS = Formats(
    "A table to read;",
    views=_views,
    table="pool_parts",
    json="pool_json",
    rows="pool_rows",
    markdown="pool_parts",
)


@headings.command(
    epilog=_EPILOG, short_help="Pool the documents of runs to judge, or a sample of them."
)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option(
    "--depth",
    metavar="N",
    type=click.IntRange(1),
    help="Deepest rank pooled in each run.  [default: 100]",
)
@click.option(
    "--budget",
    metavar="N",
    type=click.IntRange(1),
    help="Number of documents to keep, level by level over the queries.",
)
@click.option(
    "--order",
    type=click.Choice(POOL_ORDERS),
    default="depth",
    show_default=True,
    help="Order of documents within a query.",
)
@click.option(
    "--sampling-rates",
    "strata",
    metavar="DEPTH:SHARE,...",
    help="Sample a share of the documents of each stratum of best ranks, as in 10:1,100:0.1.",
)
@click.option(
    "--query-ids",
    "query_path",
    metavar="FILE",
    cls=options.OnceOption,
    help="Queries to pool: lines ID, or ID, tab and text.  [default: all queries of the runs]",
)
@click.option(
    "--seed", metavar="N", type=int, default=0, show_default=True, help="Random seed of the sample."
)
@options.convention
@_FORMATS.option
@options.output
@options.run_inputs
def pool(
    *,
    runs: tuple[str, ...],
    depth: int | None,
    budget: int | None,
    order: str,
    strata: str | None,
    query_path: str | None,
    seed: int,
    convention_text: str,
    layout: str,
    output_path: str | None,
    inputs: input_options.Inputs,
) -> None:
    """Pool the documents that each RUN returns, to judge all of them, the first of them, or a
    stratified sample.

    The output says of each document its best rank, the number of runs that return it, and its
    inclusion probability.
    """
    if depth is not None and strata is not None:
        raise OptionError(
            "--depth: found it with --sampling-rates, whose last depth is the deepest; expected "
            "one of them"
        )
    input_options.refuse_standard_input_twice(*runs)
    options.refuse_to_replace(output_path, (*runs, query_path))
    convention = options.parse_convention(convention_text)
    watch = Watch()
    opened = read_runs(inputs, runs, watch)
    queries = read_known_queries(query_path, opened)
    documents = watch.run(
        "pool",
        lambda _: pooled(
            {run.name: run for run in opened},
            depth or 100,
            budget=budget,
            order=order,  # type: ignore[arg-type]
            strata=strata,
            queries=queries,
            convention=convention,
            seed=seed,
        ),
    )
    _FORMATS.write(layout, output_path, documents)
