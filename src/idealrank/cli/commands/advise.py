"""`idealrank measures advise`: recommend measures and cutoffs for judgments and a run."""

from types import ModuleType
from typing import get_args

import click

from idealrank.analysis.advice import Advice, Surface
from idealrank.cli import headings, input_options, options
from idealrank.cli.output import Formats
from idealrank.cli.progress import Watch
from idealrank.inputs.advice import advise as advise_run

_EPILOG = """\
Examples:

\b
  idealrank measures advise qrels.txt bm25.run
  idealrank measures advise qrels.txt bm25.run --surface desktop
  idealrank measures advise qrels.txt bm25.run --surface rag --visible 8 --format json
"""


def _views() -> ModuleType:
    from idealrank.reports.views import advice  # noqa: PLC0415  (NumPy; not for the help)

    return advice


_FORMATS = Formats(
    "A text to read,",
    views=_views,
    table="advice_report",
    json="advice_record",
)


@headings.command(
    epilog=_EPILOG, short_help="Recommend measures and cutoffs for judgments and a run."
)
@click.argument("qrels")
@click.argument("run")
@click.option(
    "--surface",
    type=click.Choice(get_args(Surface)),
    help="Surface that shows the results: 5 ranks on a phone, 10 and 20 on a desktop.",
)
@click.option(
    "--visible",
    metavar="N",
    type=click.IntRange(1),
    help="Number of visible results: items in a carousel, or documents in a prompt.",
)
@options.convention
@_FORMATS.option
@options.output
@options.inputs
@options.threads
def advise(
    *,
    qrels: str,
    run: str,
    surface: str | None,
    visible: int | None,
    convention_text: str,
    layout: str,
    output_path: str | None,
    inputs: input_options.Inputs,
    threads: int,
) -> None:
    """Recommend measures and cutoffs for the judgments in QRELS and for RUN.

    Grades, relevant documents per query, list lengths and the surface determine the measure and its
    cutoff. The depth of the judgments determines whether the cutoff is reliable. Every
    recommendation has its reason.
    """
    convention = options.parse_convention(convention_text)
    input_options.refuse_standard_input_twice(qrels, *inputs.more_qrels, run)
    (name,) = input_options.run_names([run])
    watch = Watch()
    judgments = watch.run("judgments", lambda _: inputs.open_qrels(qrels, convention))

    def work(_: object) -> Advice:
        return advise_run(
            judgments,
            inputs.open_run(run, name, qrels),
            surface=surface,
            visible=visible,
            convention=convention,
            threads=threads,
        )

    _FORMATS.write(layout, output_path, watch.run(name, work))
