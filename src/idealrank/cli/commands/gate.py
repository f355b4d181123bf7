"""`idealrank gate`: whether a run may take the place of its baselines."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast, get_args

import click

from idealrank.analysis.gate import Gated
from idealrank.analysis.gate.outcome import Outcome, WhenUnjudged
from idealrank.api.gate import GateRequest, settled
from idealrank.cli import input_options, options
from idealrank.cli.format_option import Formats
from idealrank.cli.gate.job import Job
from idealrank.cli.gate.outputs import Outputs, outputs
from idealrank.cli.main import CLOSED, FINE, UNDECIDABLE
from idealrank.cli.query_options import query_files
from idealrank.cli.result_options import Results, results_of_pairs
from idealrank.io.gate_files.gate_policies import DEFAULT_MEASURE, PolicyFile, find_policy
from idealrank.io.query_files import QueryFiles
from idealrank.measures.parse import parse_measures
from idealrank.reports.table.formats import FORMATS
from idealrank.reports.table.text import Part

_NO_BASELINE = (
    "found no baseline, expected --baseline FILE: a run, or a file that --update-baseline made, as in "
    "idealrank gate QRELS RUN --baseline best.run.gz --update-baseline, which makes it of the first run"
)
_OPTIONS = {"measure_texts": ("measures", "-m"), "also_texts": ("also", "--also")}


def asked_here(**typed: Any) -> GateRequest:
    """Settle what was typed with the policy of the project around the working directory.

    Raises
    ------
    InputError
        The policy file is wrong.
    OptionError
        An option is wrong, or there is no baseline.
    """
    return asked_of(find_policy(Path.cwd()), **typed)


def asked_of(found: PolicyFile, **typed: Any) -> GateRequest:
    """Settle what was typed with a policy; None, an empty text or nothing where the policy decides.

    Raises
    ------
    OptionError
        An option is wrong, or there is no baseline; with the file where it stands there.

    Examples
    --------
    >>> asked = asked_of(PolicyFile(path="pyproject.toml", alpha=0.1), baselines=("best.run",), tolerance=0.01, measure_texts=["AP,RR"])
    >>> asked.policy.tolerance, asked.policy.alpha, [str(one) for one in asked.measures]
    (0.01, 0.1, ['AP', 'RR'])
    """
    given = {name: value for name, value in typed.items() if value is not None and value not in ((), [], "")}
    for option, (name, where) in _OPTIONS.items():
        if texts := given.pop(option, ()):
            given[name] = parse_measures(options.measure_parts(texts, DEFAULT_MEASURE, where=where))
    if "convention_text" in given:
        given["convention"] = given.pop("convention_text")
    return settled(given, found, _NO_BASELINE, measures_in=_measures_in, convention_of=options.parse_convention)


def _measures_in(texts: Any, where: str) -> list[str]:
    return options.measure_parts(texts, DEFAULT_MEASURE, where=where)


_EPILOG = """\
Examples:

\b
  May the new run take the place of the old one?
    idealrank gate qrels.txt neural.run --baseline bm25.run
\b
  Keep the best run so far in a file, and hold every other run against it and a pinned one:
    idealrank gate qrels.txt bm25.run --baseline best.run.gz --update-baseline
    idealrank gate qrels.txt neural.run --baseline bm25.run --baseline best.run.gz --update-baseline
\b
  Accept a drop of 0.01; show a second measure, and let a third one close the gate, too; for another program:
    idealrank gate qrels.txt neural.run --baseline bm25.run --tolerance 0.01 -m nDCG@10,P@5 --also RR --format json
\b
  For the build server, and as a comment on the pull request:
    idealrank gate qrels.txt neural.run --baseline bm25.run --junit gate.xml --markdown gate.md
\b
  A page on which the queries that closed the gate can be looked at:
    idealrank gate qrels.txt neural.run --baseline bm25.run --report gate.html

The gate fails on a significant drop. With --strict it opens only where a drop of the margin is ruled out. Where unjudged
documents are likely to explain what is shown, the judgments do not reach, and the gate neither opens nor closes.

A policy in pyproject.toml, [tool.idealrank.gate] with baseline, measures, also, tolerance, strict, margin, alpha,
when_unjudged, contracts, weights, cluster and convention, holds where the command line says nothing.

Exit codes: 0 open, 1 closed, 2 bad input or usage, 3 the judgments do not reach: the run neither passed nor failed. Then judge
the documents that only the run that is behind shows, the highest ranks first, and run the gate again: `idealrank why` names
the queries that have them, `idealrank explain` the documents of a query.
"""


_CODES: dict[Outcome, int] = {"passed": FINE, "failed": CLOSED, "judgments do not reach": UNDECIDABLE}


_FORMATS = Formats("Words and a table to read;", table="views.gate.gate:gate_parts", json="views.gate.gate:gate_json")


@click.command(epilog=_EPILOG, short_help="Pass or fail a run against its baselines, in continuous integration.")
@click.argument("qrels")
@click.argument("run")
@click.option(
    "--baseline", "baselines", metavar="FILE", multiple=True,
    help="Baseline: any run, or a file written by --update-baseline; may be repeated.",
)  # fmt: skip
@click.option(
    "-m", "--measure", "measure_texts", metavar="MEASURE", cls=options.MeasureOption, multiple=True,
    help="Measures; repeat, or separate with commas. The first one decides; the others are companions and never fail the gate.  "
    f"[default: {DEFAULT_MEASURE}]",
)  # fmt: skip
@click.option(
    "--also", "also_texts", metavar="MEASURE", multiple=True,
    help="Measures that can fail the gate, beside the first of -m; repeat, or separate with commas. Companions of -m never fail it.",
)  # fmt: skip
@click.option("--tolerance", metavar="X", type=float, help="Accept a drop of X, in units of the measures.  [default: 0]")
@click.option("--strict/--no-strict", default=None, help="Pass only if a drop of the margin is ruled out; needs --margin.")
@click.option("--margin", metavar="X", type=float, help="Smallest unacceptable drop of --strict, in units of the measure.")
@click.option(
    "--alpha", metavar="P", type=float,
    help="Rate of false failures by the first measure, and again by the measures of --also; with --strict, rate at which a "
    "drop of the margin may pass.  [default: 0.05]",
)  # fmt: skip
@click.option(
    "--when-unjudged", type=click.Choice(get_args(WhenUnjudged)),
    help="Outcome if the judgments do not reach: fail (code 1), pass (code 0) or neutral (code 3).  [default: neutral]",
)  # fmt: skip
@click.option(
    "--contracts", metavar="FILE",
    help="Queries that must not drop, whatever the means: CSV with the header query[,measure][,at_least].",
)  # fmt: skip
@click.option(
    "--update-baseline", is_flag=True,
    help="After a pass, replace the last baseline by the run if it is not lower by the first measure; create a missing file.",
)  # fmt: skip
@click.option(
    "--convention", "convention_text", metavar="NAME[,SWITCH=VALUE...]",
    help="Compute as this tool does; `idealrank conventions` lists them.  [default: standard]",
)  # fmt: skip
@query_files
@_FORMATS.option
@outputs
@results_of_pairs
@options.inputs
@options.threads
@click.pass_context
def gate(
    context: click.Context,
    /,
    *,
    qrels: str,
    run: str,
    update_baseline: bool,
    files: QueryFiles,
    layout: str,
    outputs: Outputs,
    results: Results,
    inputs: input_options.Inputs,
    threads: int,
    **typed: Any,
) -> None:
    """Pass or fail RUN against its baselines. Exit code 1: failed; 3: the judgments cannot decide.

    All runs are evaluated against the judgments in QRELS. RUN fails if it is significantly worse than a baseline, or if it breaks a
    contract for a query. The report names the drop that the gate detects with 80 % power.
    """
    asked = asked_here(weights=files.weights_path, cluster=files.cluster_path, **typed)
    job = Job(
        asked=asked, qrels=qrels, run=run, inputs=inputs, update=update_baseline, outputs=outputs, results=results, threads=threads
    )  # fmt: skip
    gated, notes, page = job.done()
    outputs.write(gated, partial(_report, gated, notes, asked.policy_file, layout, outputs.digits), layout)
    results.write_page(page)
    context.exit(_CODES[gated.outcome])


def _report(gated: Gated, notes: Sequence[str], policy_file: str, layout: str, digits: int | None) -> str | list[Part]:
    people = {} if FORMATS[layout].is_data else {"digits": digits}
    return cast("str | list[Part]", _FORMATS.made(layout, gated, notes, policy_file, **people))
