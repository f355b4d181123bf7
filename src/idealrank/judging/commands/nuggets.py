"""`idealrank judge nuggets`: scores of answers by their nuggets."""

from collections import Counter
from collections.abc import Sequence
from types import ModuleType

import click

from idealrank.analysis.comparison import Comparison, intervals
from idealrank.cli import console, headings, input_options, options
from idealrank.cli.output import Formats
from idealrank.cli.progress import Watch
from idealrank.errors import IncompatibleError, InputError, OptionError, shown
from idealrank.evaluation.evaluate import Evaluation
from idealrank.inputs.comparison import compare
from idealrank.judging.inputs import evaluate_answers
from idealrank.judging.nuggets import DEFAULT_SCORES, NUGGET_SCORES

_EPILOG = """\
Examples:

\b
  Scores of one system, with intervals; then of two, with the difference:
    idealrank judge nuggets answers.jsonl
    idealrank judge nuggets baseline.jsonl new.jsonl -s V_strict,A
\b
  Queries without an answer count 0:
    idealrank judge nuggets answers.jsonl --nuggets nuggets.jsonl --format json

FILES are the output of nuggetizer: a line for each answer, with qid, run_id and nuggets (text,
importance, assignment). V counts vital nuggets, A all, W all with half the weight for those that
are not vital; strict scores give no credit for partial support.
"""


def _views() -> ModuleType:
    from idealrank.judging.views import nuggets  # noqa: PLC0415  (NumPy; not for the help)

    return nuggets


_FORMATS = Formats(
    "Tables to read;",
    views=_views,
    table="nugget_parts",
    json="nugget_json",
    rows="nugget_rows",
    markdown="nugget_parts",
)


@headings.command(
    epilog=_EPILOG, short_help="Score answers by the nuggets they contain, and compare systems."
)
@click.argument("files", nargs=-1, required=True)
@click.option(
    "-s",
    "--score",
    "score_texts",
    metavar="SCORE",
    multiple=True,
    help=f"{', '.join(NUGGET_SCORES)}; repeat, or separate with commas. The first decides.  "
    f"[default: {','.join(DEFAULT_SCORES)}]",
)
@click.option(
    "--nuggets",
    "nuggets_path",
    metavar="FILE",
    help="Nuggets of every query: queries without an answer count 0.",
)
@click.option(
    "--baseline",
    metavar="NAME",
    cls=options.OnceOption,
    help="Baseline system; the others are compared with it only.",
)
@click.option("--per-query", is_flag=True, help="Scores of every query.")
@_FORMATS.option
@options.more
@options.explain_method
@options.output
def nuggets(
    *,
    files: tuple[str, ...],
    score_texts: tuple[str, ...],
    nuggets_path: str | None,
    baseline: str | None,
    per_query: bool,
    layout: str,
    output_path: str | None,
) -> None:
    """Score answers by the nuggets they contain, and compare systems.

    A nugget is a fact that an answer should contain. The score of a query is the share of its
    nuggets that the answer supports, and the score of a system is the mean over queries, with its
    95 % interval. Two or more systems that answer the same queries are compared as by `idealrank
    compare`.
    """
    options.refuse_to_replace(output_path, (*files, nuggets_path))
    input_options.refuse_standard_input_twice(*files, *([nuggets_path] if nuggets_path else []))
    names_given = [name.strip() for text in score_texts for name in text.split(",")]
    scores = [name for name in names_given if name] or DEFAULT_SCORES
    watch = Watch()

    def evaluated(path: str) -> list[Evaluation]:
        tell = input_options.notes().warn
        return watch.run(
            path, lambda _: evaluate_answers(path, scores, nuggets=nuggets_path, tell=tell)
        )

    evaluations = [evaluation for path in files for evaluation in evaluated(path)]
    names = Counter(evaluation.name for evaluation in evaluations)
    twice = [name for name, count in names.items() if count > 1]
    if twice:
        raise OptionError(
            f"found several systems called {twice[0]!r}, expected different names (run_id)"
        )
    if baseline is not None and len(evaluations) < 2:
        raise OptionError(f"--baseline {baseline}: found one system, expected two or more")
    comparison = None
    if len(evaluations) > 1 and not _answer_others(evaluations, baseline):
        comparison = _compared(evaluations, baseline, watch)
    _FORMATS.write(
        layout,
        output_path,
        evaluations,
        means=[intervals(evaluation) for evaluation in evaluations],
        comparison=comparison,
        per_query=per_query,
    )


def _answer_others(evaluations: Sequence[Evaluation], baseline: str | None) -> bool:
    """Return whether systems answer different queries; they are not compared then, which is an
    error if a baseline is named.
    """
    first = evaluations[0]
    differing = (row for row in evaluations if set(row.queries) != set(first.queries))
    other = next(differing, None)
    if other is None:
        return False
    query = min(set(first.queries) ^ set(other.queries))
    names = [first.name, other.name]
    if query not in first.queries:
        names.reverse()
    answering, lacking = names
    message = f"{answering} answers query {shown(repr(query))} and {lacking} does not"
    hint = "--nuggets FILE counts a query without an answer as 0"
    if baseline is not None:
        raise OptionError(
            f"--baseline {baseline}: {message}, expected answers to the same queries; {hint}"
        )
    console.say("warning", f"{message}, so the systems are not compared; {hint}")
    return True


def _compared(evaluations: Sequence[Evaluation], baseline: str | None, watch: Watch) -> Comparison:
    try:
        return watch.count(
            "comparing", lambda tell: compare(*evaluations, baseline=baseline, tell=tell)
        )
    except IncompatibleError as error:
        message = str(error).removesuffix(f"; {error.hint}")
        raise InputError(
            message,
            hint="assign the same nuggets, with the same importance, to the answers of every "
            "system",
        ) from None
