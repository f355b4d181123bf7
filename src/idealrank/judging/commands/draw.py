"""`idealrank judge draw`: which queries to label, with their weights, and what a budget buys."""

from collections.abc import Mapping
from contextlib import suppress
from types import ModuleType

import click

from idealrank.cli import console, headings, options
from idealrank.cli.output import Formats
from idealrank.cli.progress import Watch
from idealrank.errors import InputError, OptionError, shown
from idealrank.io.query_files import read_clusters, read_traffic
from idealrank.judging import LabelBudget, LabelCost, QuerySample, label_budgets, sample_queries
from idealrank.judging.commands.input_files import named_texts

_EPILOG = """\
Examples:

\b
  100 queries by traffic, 30 of them from the tail:
    idealrank judge draw traffic.csv --count 100 --tail 0.3 --format csv -o sample.csv
\b
  New and edge queries on top:
    idealrank judge draw traffic.csv --count 100 --strata kinds.csv --take new=20 --take edge=10
\b
  As many queries as 500 pay for, at 0.12 a label and 20 documents a query:
    idealrank judge draw traffic.csv --max-cost 500 --price 0.12 --labels-per-query 20
\b
  The weights make the mean over the sample unbiased for the mean over the traffic:
    idealrank evaluate qrels.txt bm25.run --weights sample.csv --intervals
    idealrank compare qrels.txt bm25.run neural.run --weights sample.csv
"""


def _views() -> ModuleType:
    from idealrank.judging.views import label_choice  # noqa: PLC0415  (NumPy; not for the help)

    return label_choice


_FORMATS = Formats(
    "A table to read;",
    views=_views,
    table="query_parts",
    json="query_json",
    rows="query_rows",
    markdown="query_parts",
)
_FACTORS = (0.25, 0.5, 1, 2, 4)  # numbers of queries in the table, as shares of the one asked for


@headings.command(
    epilog=_EPILOG, short_help="Sample queries to label, with weights, cost and precision."
)
@click.argument("traffic")
@click.option(
    "-n",
    "--count",
    metavar="N",
    type=click.IntRange(1),
    help="Queries from head and tail.  [default: 100]",
)
@click.option(
    "--max-cost",
    "budget",
    metavar="COST",
    type=click.FloatRange(0, min_open=True),
    help="Cost that may be spent, instead of --count.",
)
@click.option(
    "--tail",
    metavar="SHARE",
    type=click.FloatRange(0, 1),
    default=0.3,
    show_default=True,
    help="Share of queries from the tail.",
)
@click.option(
    "--head-traffic",
    metavar="SHARE",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.5,
    show_default=True,
    help="Share of the traffic that the head covers.",
)
@click.option(
    "--strata",
    "strata_path",
    metavar="FILE",
    help="Strata of some queries, such as new or edge: lines QUERY STRATUM.",
)
@click.option(
    "--take",
    "take_texts",
    metavar="STRATUM=N",
    multiple=True,
    help="Queries to take of a stratum; may be repeated.",
)
@click.option(
    "--labels-per-query",
    "documents",
    metavar="N",
    type=click.FloatRange(1),
    default=20,
    show_default=True,
    help="Documents labelled for each query.",
)
@click.option(
    "--price",
    metavar="COST",
    type=click.FloatRange(0),
    default=0.1,
    show_default=True,
    help="Price of a label.",
)
@click.option(
    "--overhead",
    metavar="SHARE",
    type=click.FloatRange(0),
    default=0.15,
    show_default=True,
    help="Labels for quality, such as double judging and gold questions, as a share of the others.",
)
@click.option(
    "--per-week",
    metavar="N",
    type=click.FloatRange(0, min_open=True),
    default=2000,
    show_default=True,
    help="Labels a week.",
)
@click.option(
    "--sd",
    metavar="SD",
    type=click.FloatRange(0, min_open=True),
    default=0.3,
    show_default=True,
    help="Standard deviation over queries, of values or of differences.",
)
@click.option("--seed", metavar="N", type=int, default=0, show_default=True, help="Random seed.")
@_FORMATS.option
@options.output
def draw(
    *,
    traffic: str,
    count: int | None,
    budget: float | None,
    tail: float,
    head_traffic: float,
    strata_path: str | None,
    take_texts: tuple[str, ...],
    documents: float,
    price: float,
    overhead: float,
    per_week: float,
    sd: float,
    seed: int,
    layout: str,
    output_path: str | None,
) -> None:
    """Sample queries to label by TRAFFIC, a file of queries with their requests, and say what
    labels cost and how precise they are.

    The output has the weight of each query, for `--weights` of `evaluate`, `compare` and `gate`.
    """
    if count is not None and budget is not None:
        raise OptionError("--count: found it with --max-cost, expected one of them")
    options.refuse_to_replace(output_path, (traffic, strata_path))
    watch = Watch()
    requests = watch.run("traffic", lambda _: read_traffic(traffic, zeros="refused"))
    strata = {} if strata_path is None else read_clusters(strata_path)
    take = _numbers(named_texts(take_texts, "--take", "new=20"))
    cost = LabelCost(documents=documents, price=price, overhead=overhead, per_week=per_week)
    number = count or 100
    if budget is not None:
        number = cost.queries_for(budget) - sum(take.values())
        if number < 1:
            raise OptionError(
                f"--max-cost {budget:g}: pays for no query beside the queries of --take, expected "
                "more, or a lower price"
            )

    def sample(size: int) -> QuerySample:
        return sample_queries(
            requests,
            size,
            tail=tail,
            head_traffic=head_traffic,
            strata=strata,
            take=take,
            seed=seed,
        )

    chosen = watch.run("sample", lambda _: sample(number))
    n_drawn = len(chosen.query_ids)
    n_queries = sum(stratum.n_queries for stratum in chosen.strata)
    origin = "of the default"
    if count is not None:
        origin = "of --count"
    elif budget is not None:
        origin = f"that --max-cost {budget:g} pays for"
    _tell_few(chosen, number, take, f"the {number:,} {origin}")

    sizes = {min(max(2, round(n_drawn * factor)), n_queries) for factor in _FACTORS}
    n_taken = sum(stratum.n_sampled for stratum in chosen.strata if stratum.name in take)
    plans = []
    for size in sorted(sizes - {1}):  # one query has no interval
        sample_of_size = chosen
        # Too few queries for every stratum: the weights of the chosen sample are the nearest.
        with suppress(InputError):
            sample_of_size = sample(max(size - n_taken, 1))
        plans.append(_plan(size, sample_of_size, cost, sd))
    _FORMATS.write(layout, output_path, chosen, plans=plans, sd=sd)


def _plan(size: int, sample: QuerySample, cost: LabelCost, sd: float) -> LabelBudget:
    """Compute cost and precision of a number of queries, by the weights of such a sample."""
    return label_budgets([size], cost, sd=sd, sampling_effect=sample.sampling_effect)[0]


def _tell_few(sample: QuerySample, number: int, take: Mapping[str, int], expected: str) -> None:
    """Note strata with fewer queries than expected; head and tail count together."""

    def tell(has: str, n_sampled: int, more: str) -> None:
        queries = "query" if n_sampled == 1 else "queries"
        console.say("note", f"{has} {n_sampled:,} {queries}, fewer than {more}; all are drawn")

    head_and_tail = [stratum for stratum in sample.strata if stratum.name not in take]
    n_sampled = sum(stratum.n_sampled for stratum in head_and_tail)
    if head_and_tail and n_sampled < number:
        tell("head and tail have", n_sampled, expected)
    for stratum in sample.strata:
        n_taken = take.get(stratum.name, 0)
        if stratum.n_sampled < n_taken:
            has = f"stratum {shown(stratum.name)} has"
            tell(has, stratum.n_sampled, f"the {n_taken:,} of --take")


def _numbers(texts: dict[str, str]) -> dict[str, int]:
    for name, text in texts.items():
        if not text.isascii() or not text.isdigit() or not int(text[:9]):
            raise OptionError(
                f"--take {shown(name)}={shown(text)}: expected a whole number from 1 on, as in "
                "new=20"
            )
    return {name: int(text) for name, text in texts.items()}
