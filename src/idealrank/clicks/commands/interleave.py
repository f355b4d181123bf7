"""`idealrank online interleave`: lists that mix two runs, and the test of what users preferred."""

import json
from collections.abc import Iterator
from types import ModuleType
from typing import get_args

import click

from idealrank.cli import headings, input_options, options, output
from idealrank.cli.output import Formats
from idealrank.cli.progress import Watch
from idealrank.clicks import interleave as interleaved
from idealrank.clicks import preference
from idealrank.clicks.arguments import Looks
from idealrank.clicks.commands import log_options
from idealrank.clicks.files.click_logs import OUTCOMES, log_columns, read_columns
from idealrank.clicks.interleaving import Method
from idealrank.data.run import Run
from idealrank.errors import OptionError
from idealrank.inputs.overlap import overlap

_EPILOG = """\
Examples:

\b
  A list for each query, with the team that placed each document:
    idealrank online interleave bm25.run neural.run --seed 1 -o lists.jsonl
\b
  Which run do users prefer? Columns preference (1 for B, -1 for A, 0 for neither) and user:
    idealrank online interleave --outcomes outcomes.csv
    idealrank online interleave --outcomes outcomes.csv --columns preference=winner,user=customer

The verdict comes from a confidence sequence: you may read the test every day, and stop it as soon
as it is decided. --looks once takes the verdict from the interval for a test of planned size, which
holds only if you read the test once, at the planned size.
"""


def _views() -> ModuleType:
    from idealrank.clicks.views import online  # noqa: PLC0415  (NumPy; not for the help)

    return online


_FORMATS = Formats(
    "A table to read;",
    views=_views,
    table="preference_parts",
    json="preference_json",
)


@headings.command(
    epilog=_EPILOG, short_help="Mix two runs into lists for users, or test what users preferred."
)
@click.argument("runs", nargs=-1, metavar="[RUN_A RUN_B]")
@click.option(
    "--outcomes",
    "outcomes_path",
    metavar="FILE",
    help="Test these outcomes instead of mixing runs.",
)
@click.option(
    "--method",
    type=click.Choice(get_args(Method)),
    default="team-draft",
    show_default=True,
    help="Method of mixing.",
)
@click.option(
    "--length",
    metavar="K",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="Length of the lists.",
)
@click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Random seed; use a different seed for each user.",
)
@log_options.looks
@options.level
@_FORMATS.option
@options.output
@options.run_inputs
def interleave(
    *,
    runs: tuple[str, ...],
    outcomes_path: str | None,
    method: str,
    length: int,
    seed: int,
    looks: Looks,
    confidence: float,
    layout: str,
    output_path: str | None,
    inputs: input_options.Inputs,
) -> None:
    """Mix RUN_A and RUN_B into one list for each query, as JSON lines; or test the outcomes of such
    lists.
    """
    options.refuse_to_replace(output_path, (outcomes_path,))
    watch = Watch()
    if outcomes_path is not None:
        if runs:
            raise OptionError(f"--outcomes: found {len(runs)} runs besides, expected none")
        column_names = log_columns(inputs.columns_text, OUTCOMES)
        columns = watch.run(
            "outcomes", lambda _: read_columns(outcomes_path, OUTCOMES, columns=column_names)
        )
        users = columns.get("user")
        with log_options.rows_of(outcomes_path):
            tested = preference(
                columns["preference"], users=users, confidence=confidence, looks=looks
            )
        n_lists = len(columns["preference"])
        n_users = None if users is None else len(set(users))
        _FORMATS.write(layout, output_path, tested, n_lists, n_users)
        return
    if len(runs) != 2:
        raise OptionError(f"found {len(runs)} runs, expected RUN_A and RUN_B, or --outcomes FILE")
    names = input_options.run_names(runs)

    def read(name: str, path: str) -> Run:
        return watch.run(name, lambda _: inputs.open_run(path, name, ""))

    first, second = (read(name, path) for name, path in zip(names, runs, strict=True))
    output.write(_lines(first, second, method, length, seed), output_path, "json")


def _lines(first: Run, second: Run, method: str, length: int, seed: int) -> Iterator[str]:
    """A list for each query that both runs answer; the seed of a query does not depend on the
    documents of others.
    """
    for number, query in enumerate(overlap(first, second, "overlap@1").queries):
        a, b = (run.ranking(query).documents for run in (first, second))
        mixed = interleaved(a, b, method=method, length=length, rng=[seed, number])  # type: ignore[arg-type]
        record = {
            "query": query,
            "documents": mixed.documents,
            "teams": mixed.teams,
            "shares": mixed.shares,
            "method": method,
        }
        yield json.dumps(record) + "\n"
