"""`idealrank compare`: decide whether one run is better than another."""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import NamedTuple, TypedDict, Unpack, get_args

import click

# Loaded here, not by a module further down the chain: there CPython 3.11 takes and returns a page
# of its call stack 700 times meanwhile.
import numpy as np  # noqa: F401

from idealrank.analysis.comparison import Comparison, with_companions
from idealrank.cli import headings, input_options, options, output
from idealrank.cli.comparison_options import Paper, Testing, paper_options, testing_options
from idealrank.cli.input_options import Inputs
from idealrank.cli.options import query_files, slices
from idealrank.cli.output import Formats, idle_option
from idealrank.cli.progress import Watch
from idealrank.cli.result_options import Results, results_of_pairs
from idealrank.data.run import Run
from idealrank.errors import OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.inputs.comparison import compare as compare_evaluations
from idealrank.inputs.comparison import evaluated_by_judge
from idealrank.inputs.evaluation import RunEvaluator
from idealrank.inputs.run_rankings import overlap_ranks, overlaps
from idealrank.io.query_files import QueryFiles
from idealrank.measures.measure import Measure
from idealrank.measures.parse import DEFAULT_MEASURES
from idealrank.reports.table.records import Row
from idealrank.reports.table.text import Part
from idealrank.reports.views.comparison.league import Letters
from idealrank.stats.special import load_special


def why_command(
    qrels: str,
    runs: Sequence[str],
    measures: Sequence[Measure],
    convention: str,
    inputs: Inputs,
    labels_from: str | None = None,
) -> str:
    """Return `idealrank why` for the first measure that it can split; empty if there is none, or if
    a file cannot be read again.
    """
    from idealrank.inputs.explanation import can_be_attributed  # noqa: PLC0415  (only where a command is told)

    measure = next(
        (measure for measure in measures if can_be_attributed(measure, convention)), None
    )
    if measure is None or len(runs) != 2 or "-" in (qrels, *runs, *inputs.more_qrels, inputs.group):
        return ""
    words = ["idealrank", "why", qrels, *runs]
    words += [] if str(measure) == DEFAULT_MEASURES[0] else ["-m", str(measure)]
    words += [] if labels_from is None else ["--labels-from", labels_from]
    return shlex.join([*words, *inputs.words(convention)])


_FEW = 5  # runs; the rankings of more runs are compared only with --rankings, since pairs are many

_EPILOG = """\
Examples:

\b
  Is the second run better than the first?
    idealrank compare qrels.txt bm25.run neural.run
\b
  Test one measure only, and equivalence within a margin:
    idealrank compare qrels.txt bm25.run neural.run -m nDCG@10 --margin 0.01
\b
  Compare every run with one baseline; make a table for a paper:
    idealrank compare qrels.txt bm25.run neural.run --baseline bm25 --format latex
    idealrank compare qrels.txt bm25.run neural.run --table paper --sort-by nDCG@10 --rename bm25=BM25 --format latex
    idealrank compare qrels.txt bm25.run neural.run --table paper --letters better
\b
  Use Student's t test, and print JSON:
    idealrank compare qrels.txt bm25.run neural.run --test t --format json

\b
  On which kinds of queries is it better or worse?
    idealrank compare qrels.txt bm25.run neural.run --slices slices.csv
\b
  Write a page with the verdict, plots, and every query with both rankings:
    idealrank compare qrels.txt bm25.run neural.run --report comparison.html

Verdicts: better, worse, equivalent (only with --margin), undecided (no significant difference), too
few judgments (unjudged documents may explain the difference). The first measure decides: it is
tested alone, or corrected over the pairs of runs. The other measures are corrected together, and do
not change the verdict of the first measure.

Exit codes: 0 for any verdict, 2 bad input or usage. To fail a build, use `idealrank gate`.
"""  # noqa: E501


class _Shown(TypedDict):
    """Options for showing a comparison to people."""

    every_pair: bool
    digits: int | None
    letters: Letters


def _parts(
    comparison: Comparison, *, told: "_Told", every_pair: bool, digits: int | None, letters: Letters
) -> list[Part]:
    """Return the report, and the command that explains the difference."""
    from idealrank.reports.views.comparison.comparison import comparison_parts  # noqa: PLC0415  (only the layout asked for is loaded)
    from idealrank.reports.views.comparison.phrases import Asked  # noqa: PLC0415

    origin = Asked(command=True, qrels=told.qrels, paths=told.paths, options=told.options)
    command = told.why()
    after = ["the queries and documents behind the difference:", f"  {command}"] if command else []
    shown: _Shown = {"every_pair": every_pair, "digits": digits, "letters": letters}
    return [*comparison_parts(comparison, **shown, origin=origin), after]


def _json(comparison: Comparison) -> Iterator[str]:
    from idealrank.reports.views.comparison.comparison import comparison_json  # noqa: PLC0415  (not for the help)

    return comparison_json(comparison)


def _rows(comparison: Comparison) -> Iterator[Row]:
    from idealrank.reports.views.comparison.comparison import comparison_rows  # noqa: PLC0415  (not for the help)

    return comparison_rows(comparison)


def _views() -> ModuleType:
    from idealrank.reports.views.comparison import markup  # noqa: PLC0415  (NumPy; not for the help)

    return markup


_RANKED = ("table", "json")  # formats with the similarity of the rankings
_FORMATS = Formats(
    "Text and a table to read;",
    views=_views,
    only={"with_rankings": _RANKED},
    elsewhere={"with_rankings": ("report", "figures", "store")},
    table=_parts,
    json=_json,
    markdown="comparison_markdown",
    latex="comparison_latex",
    rows=_rows,
)


@headings.command(epilog=_EPILOG, short_help="Decide whether one run is better than another.")
@click.argument("qrels")
@click.argument("runs", metavar="RUN_A RUN_B [RUN...]", nargs=-1, required=True)
@options.measures
@options.convention
@click.option(
    "--baseline",
    metavar="NAME",
    cls=options.OnceOption,
    help="Baseline run; the other runs are compared only with this run.",
)
@testing_options
@click.option("--every-pair", is_flag=True, help="Show every pair of six or more runs.")
@click.option(
    "--letters",
    type=click.Choice(get_args(Letters)),
    default="better",
    show_default=True,
    help="Letters in the table of six or more runs, or in --table paper: better lists the "
    "significantly worse runs, groups marks indistinguishable runs.",
)
@click.option(
    "--rankings/--no-rankings",
    "with_rankings",
    default=None,
    help="Similarity of the rankings of each pair: unchanged tops, overlap, RBO.  [default: for up "
    "to five runs]",
)
@options.judge_qrels
@options.labels_from
@slices
@query_files
@paper_options
@_FORMATS.option
@options.more
@options.explain_method
@options.digits
@click.option(
    "--figure",
    "figure_path",
    metavar="FILE",
    help="Map of all pairs by the first measure (.html: by all measures): FILE ends in .svg, .png, "
    ".pdf, .html (with the extra plots) or .json (Vega-Lite).",
)
@options.output
@results_of_pairs
@options.inputs
@options.threads
def compare(
    *,
    qrels: str,
    runs: tuple[str, ...],
    measure_texts: tuple[str, ...],
    convention_text: str,
    baseline: str | None,
    testing: Testing,
    with_rankings: bool | None,
    judge_path: str | None,
    labels_from: str | None,
    files: QueryFiles,
    paper: Paper | None,
    layout: str,
    figure_path: str | None,
    output_path: str | None,
    results: Results,
    inputs: input_options.Inputs,
    threads: int,
    **shown: Unpack[_Shown],
) -> None:
    """Decide whether RUN_B is better than RUN_A, with a confidence interval and a p value.

    Both runs are evaluated on the same queries of QRELS; a difference is always RUN_B - RUN_A. Each
    difference comes with the smallest true difference that these queries would find 80% of the
    time, and with the share of unjudged documents. Three or more runs are compared in pairs. With
    six or more runs, the report marks each run with the letters of the runs that are significantly
    worse.
    """
    names, baseline = _names(runs, baseline, shown["letters"], paper)
    files_read = input_options.InputFiles(
        qrels=qrels, inputs=inputs, others=(*runs, *files.paths, judge_path)
    )
    _check_written(files_read, results, baseline, {"-o": output_path, "--figure": figure_path})
    convention = options.parse_convention(convention_text)
    measures = options.parse_measure_texts(measure_texts)
    if paper is not None:
        if with_rankings and not results.are_kept:
            raise idle_option("--rankings", "--table paper", "--table full")
        paper, baseline = paper.checked(layout, names, list(map(str, measures)), baseline)
    of_queries = files.read(input_options.notes().inform)

    watch = Watch()
    judgments = watch.run("judgments", lambda _: inputs.open_qrels(qrels, convention))
    has_place = results.are_kept or (paper is None and layout in _RANKED)
    is_requested = len(runs) <= _FEW if with_rankings is None else with_rankings
    compare_rankings = has_place and is_requested
    kept_ranks = max(
        results.ranks_looked_at(measures),
        overlap_ranks(measures, convention) if compare_rankings else 0,
    )
    open_run = partial(inputs.open_run, qrels=qrels)
    evaluator = RunEvaluator(
        qrels=judgments,
        measures=with_companions(measures),
        convention=convention,
        kept=results.looked_at(measures),
        top=kept_ranks,
        threads=threads,
    )
    judge = inputs.open_judge(judge_path, convention)
    keep = compare_rankings or results.are_kept or judge is not None
    opened, evaluations = _evaluated(runs, names, open_run, evaluator, watch, keep=keep)
    of_queries.check(evaluations)

    source = input_options.named_run(labels_from, "--labels-from", names, runs)
    judged_again = None
    if judge is not None:
        judged_again = evaluated_by_judge(judge, opened, measures, convention)
    rankings = overlaps(
        opened if compare_rankings else (),
        measures,
        convention,
        evaluations=evaluations if compare_rankings else (),
        baseline=baseline,
        threads=threads,
        watch=watch.run,
    )
    compared = partial(
        compare_evaluations,
        *evaluations,
        measures=measures,
        baseline=baseline,
        weights=of_queries.weights,
        clusters=of_queries.clusters,
        slices=of_queries.categories,
        threads=threads,
        labels_from=source,
        **testing.arguments,
        judge_qrels=judged_again,
        rankings=rankings,
    )
    comparison = watch.count("comparing", lambda tell: compared(tell=tell))

    if figure_path is not None:
        from idealrank.cli.figure_files import draw_pair_map  # noqa: PLC0415  (few ask for it)

        draw_pair_map(comparison, figure_path)
    why = partial(
        why_command, qrels, runs, measures, convention_text, inputs=inputs, labels_from=labels_from
    )
    words = ("-m", str(measures[0]), *testing.judge_words, *inputs.words(convention_text))
    told = _Told(why=why, qrels=qrels, paths=dict(zip(names, runs, strict=True)), options=words)
    _write(
        comparison=comparison, layout=layout, path=output_path, told=told, shown=shown, paper=paper
    )
    results.write(
        watch,
        files_read,
        evaluations=tuple(evaluations),
        measures=measures,
        comparison=comparison,
        qrels=judgments,
        runs=tuple(opened),
        weights=of_queries.weights,
        clusters=of_queries.clusters,
        categories=of_queries.categories,
        threads=threads,
    )


def _check_letters(
    letters: Letters, n_runs: int, baseline: str | None, paper: Paper | None
) -> None:
    """Refuse letters that no table would show."""
    is_typed = "--letters" in output.typed_options(click.get_current_context())
    if letters == "better" and not (is_typed and paper is not None):
        return
    if baseline is not None:
        raise OptionError(f"--letters {letters}: found --baseline, expected every pair of runs")
    if paper is None and n_runs <= _FEW:
        raise OptionError(
            f"--letters {letters}: found {n_runs} runs, expected at least {_FEW + 1}, whose table "
            "has letters, or --table paper"
        )


def _check_written(
    files_read: input_options.InputFiles,
    results: Results,
    baseline: str | None,
    written: Mapping[str, str | None],
) -> None:
    """Refuse inputs that cannot be read and outputs that cannot be written, before any work."""
    if written["--figure"] is not None:
        from idealrank.cli.figure_files import check_pair_map  # noqa: PLC0415  (few ask for it)

        check_pair_map(written["--figure"], baseline, files_read.paths)
    input_options.refuse_standard_input_twice(*files_read.every_path)
    results.check(files_read.paths, written)


class _Told(NamedTuple):
    """Facts of the command for its report: how to explain the difference, the files, and how they
    are read.
    """

    why: Callable[[], str]
    qrels: str
    paths: Mapping[str, str]
    options: tuple[str, ...]


def _write(
    comparison: Comparison,
    layout: str,
    path: str | None,
    told: _Told,
    shown: _Shown,
    paper: Paper | None,
) -> None:
    if paper is not None:
        from idealrank.reports.views.comparison.markup import PAPER_FORMATS  # noqa: PLC0415  (only the layout asked for is loaded)

        with output.laid_out_for(path):
            text = PAPER_FORMATS[layout](
                comparison,
                order=paper.order,
                labels=paper.labels,
                digits=shown["digits"],
                letters=paper.letters,
            )
            output.write_report(text, path, layout)
    else:
        _FORMATS.write(layout, path, comparison, **shown, told=told)


def _names(
    runs: Sequence[str], baseline: str | None, letters: Letters, paper: Paper | None
) -> tuple[list[str], str | None]:
    """Return the names of two or more runs, and the baseline among them, given by name or path;
    letters must have their table.
    """
    if len(runs) < 2:
        raise OptionError(
            f"found one run, {', '.join(runs)}; expected two or more: idealrank compare QRELS "
            "RUN_A RUN_B"
        )
    names = input_options.run_names(runs)
    _check_letters(letters, len(runs), baseline, paper)
    return names, input_options.named_run(baseline, "--baseline", names, runs)


def _evaluated(
    paths: Sequence[str],
    names: Sequence[str],
    open_run: Callable[..., Run],
    evaluator: RunEvaluator,
    watch: Watch,
    *,
    keep: bool,
) -> tuple[list[Run], list[Evaluation]]:
    """Open and evaluate one run after the other, and return the runs, if they are to be kept, with
    the evaluations.
    """
    kept, evaluations = [], []
    load_special()  # in a thread of its own, while runs are read
    for path, name in zip(paths, names, strict=True):
        run = watch.run(name, lambda _, path=path, name=name: open_run(path, name))  # type: ignore[misc]
        evaluation = watch.run(name, partial(evaluator.evaluate, run))
        evaluations.append(evaluation)
        input_options.doubt(evaluation, path)
        if keep:
            kept.append(run)
    return kept, evaluations
