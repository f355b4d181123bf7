"""`idealrank judge reuse`: whether judgments serve runs that were not pooled."""

from types import ModuleType

import click

from idealrank.cli import headings, input_options, options
from idealrank.cli.output import Formats
from idealrank.cli.progress import Watch
from idealrank.errors import OptionError, shown
from idealrank.judging import reusability
from idealrank.judging.commands import label_options
from idealrank.judging.commands.input_files import named_texts, read_qrels_and_runs, refuse_foreign

_EPILOG = """\
Examples:

\b
  Leave each run out in turn, with the documents that only it returns in its first ten:
    idealrank judge reuse qrels.txt bm25.run neural.run hybrid.run --depth 10
\b
  Leave out both neural runs at once:
    idealrank judge reuse qrels.txt bm25.run a.run b.run --team a=neural --team b=neural

A collection is reusable if Kendall's tau is at least 0.9 and no run moves by more than a tenth of
the runs (or one rank). The test is about systems like these runs; a system of another kind may
return more unjudged documents.
"""


def _views() -> ModuleType:
    from idealrank.judging.views import pooled_documents  # noqa: PLC0415  (NumPy; not for the help)

    return pooled_documents


_FORMATS = Formats(
    "A table to read;",
    views=_views,
    table="reuse_parts",
    json="reuse_json",
    rows="reuse_rows",
    markdown="reuse_parts",
)


@headings.command(
    epilog=_EPILOG, short_help="Leave each run out of the pool: are the judgments reusable?"
)
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@label_options.measure
@click.option(
    "--depth",
    metavar="N",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="Ranks of each run that were pooled.",
)
@click.option(
    "--team",
    "team_texts",
    metavar="RUN=TEAM",
    multiple=True,
    help="Team or kind of a run, left out as a whole; may be repeated.",
)
@options.convention
@_FORMATS.option
@options.explain_method
@options.digits
@options.output
@options.inputs
def reuse(
    *,
    qrels: str,
    runs: tuple[str, ...],
    measure_text: str,
    depth: int,
    team_texts: tuple[str, ...],
    convention_text: str,
    layout: str,
    digits: int | None,
    output_path: str | None,
    inputs: input_options.Inputs,
) -> None:
    """Leave each RUN out of the pool in turn, and evaluate all runs without the documents that only
    it returns.

    The difference shows how much a system that was not pooled would be underestimated by these
    judgments.
    """
    paths = (qrels, *inputs.more_qrels, *runs)
    input_options.refuse_standard_input_twice(*paths)
    options.refuse_to_replace(output_path, paths)
    convention = options.parse_convention(convention_text)
    watch = Watch()
    measure = options.parse_measure_texts((measure_text,))[0]
    groups = named_texts(team_texts, "--team", "a=neural")
    names = input_options.run_names(runs)
    stray = next((name for name in groups if name not in names), None)
    if stray is not None:
        raise OptionError(
            f"--team {shown(stray)}={shown(groups[stray])}: expected the name of a run: "
            f"{', '.join(names)}"
        )
    judgments, opened = read_qrels_and_runs(inputs, qrels, runs, convention, watch)
    refuse_foreign(judgments, opened, runs, [measure], convention)
    report = watch.run(
        "left out",
        lambda _: reusability(
            judgments,
            dict(zip(names, opened, strict=True)),
            measure,
            depth=depth,
            groups=groups,
            convention=convention,
        ),
    )
    _FORMATS.write(layout, output_path, report, digits=digits)
