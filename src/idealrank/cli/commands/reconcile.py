"""`idealrank reconcile`: find the convention behind a reported number."""

import click

from idealrank.analysis.reconciliation import DifferenceSplit, Reconciliation
from idealrank.analysis.reconciliation.result import Stated
from idealrank.cli import input_options, options
from idealrank.cli.output import Formats
from idealrank.cli.progress import Watch
from idealrank.conventions import Convention
from idealrank.data.qrels import Qrels, QrelsDuplicates
from idealrank.errors import OptionError
from idealrank.evaluation.sweep import JudgmentsSource
from idealrank.inputs.reconciliation import reconcile as reconcile_run
from idealrank.inputs.reconciliation import split_difference
from idealrank.reports.table.records import result_json

_EPILOG = """\
Examples:

\b
  Which convention gives 0.8145? 0.50 matches values that round or truncate to 0.50:
    idealrank reconcile qrels.txt bm25.run --value 0.8145
    idealrank reconcile qrels.txt bm25.run --value 81.4% -m nDCG@20 --convention sklearn
\b
  How much does each switch contribute to the difference between two conventions?
    idealrank reconcile qrels.txt bm25.run --versus lightgbm
    idealrank reconcile qrels.txt bm25.run --versus xgboost,no_relevant=zero --format json
"""


def _text(results: list[Reconciliation | DifferenceSplit]) -> str:
    return "\n\n".join(map(str, results)) + "\n"


def _json(results: list[Reconciliation | DifferenceSplit]) -> str:
    return result_json(
        {
            "reconciliation" if isinstance(result, Reconciliation) else "split": result.as_dict()
            for result in results
        }
    )


_FORMATS = Formats("Text to read,", table=_text, json=_json)


@click.command(
    cls=options.LeadingCommand,
    extra="--value",
    epilog=_EPILOG,
    short_help="Find the convention behind a reported number.",
)
@click.argument("qrels")
@click.argument("run")
@click.option(
    "--value", "value_text", metavar="NUMBER", help="Number to explain, with all its digits."
)
@click.option(
    "--versus",
    "versus_text",
    metavar="NAME[,SWITCH=VALUE...]",
    cls=options.OnceOption,
    help="Split the difference to this convention switch by switch.",
)
@click.option(
    "-m",
    "--measure",
    "measure_text",
    metavar="MEASURE",
    cls=options.OnceOption,
    default="nDCG@10",
    show_default=True,
    help="Measure of the number.",
)
@options.convention
@_FORMATS.option
@options.output
@options.inputs
def reconcile(
    *,
    qrels: str,
    run: str,
    value_text: str | None,
    versus_text: str | None,
    measure_text: str,
    convention_text: str,
    layout: str,
    output_path: str | None,
    inputs: input_options.Inputs,
) -> None:
    """Find the conventions under which RUN has a stated value of a measure.

    The search tries all conventions, other relevance thresholds and forms of the measure, then
    changes of the switches; if nothing fits, other cutoffs, percentages and single queries. Each
    match is described by its differences from the current convention (--convention). With --versus,
    the difference between two conventions is split among their switches. No match is a valid
    answer: the exit code is 0.
    """
    if value_text is None and versus_text is None:
        raise click.UsageError(
            "found neither --value nor --versus, expected a number to explain, or a convention to "
            "compare with"
        )
    convention = options.parse_convention(convention_text)
    versus = None if versus_text is None else options.parse_convention(versus_text)
    measures = options.parse_measure_texts([measure_text])
    if len(measures) != 1:
        raise OptionError(
            f"found {len(measures)} measures ({', '.join(map(str, measures))}), expected the "
            "measure of the number"
        )
    stated = None if value_text is None else Stated.parse(value_text)
    (name,) = input_options.run_names([run])

    def work(_: object) -> list[Reconciliation | DifferenceSplit]:
        judgments = _judgments(inputs, qrels, convention)
        answers = inputs.open_run(run, name, qrels)
        results: list[Reconciliation | DifferenceSplit] = []
        if stated is not None:
            results.append(reconcile_run(judgments, answers, stated.text, measures[0], convention))
        if versus is not None:
            results.append(split_difference(judgments, answers, measures[0], convention, versus))
        return results

    _FORMATS.write(layout, output_path, Watch().run(name, work))


def _judgments(inputs: input_options.Inputs, path: str, convention: Convention) -> JudgmentsSource:
    """Return a function that reads the judgments under a policy for documents judged twice;
    standard input is read here, once.
    """
    if path == "-":
        return inputs.open_qrels(path, convention)

    def read(policy: QrelsDuplicates) -> Qrels:
        return inputs.open_qrels(path, Convention.of("standard", duplicates=policy))

    return read
