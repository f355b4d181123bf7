"""`idealrank evaluate`: evaluate runs against judgments, side by side."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from idealrank._features import offered
from idealrank.cli import headings, input_options, options
from idealrank.cli.input_options import CandidateOptions, Inputs, notes
from idealrank.cli.options import query_paths
from idealrank.cli.output import Formats, LimitedWriter
from idealrank.cli.progress import Count, RatedCount, Watch
from idealrank.cli.result_options import Results, results
from idealrank.conventions import Convention
from idealrank.data.join import Judgments
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.types import Progress
from idealrank.errors import OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.inputs.evaluation import evaluate_read
from idealrank.io.evaluation_journal import EvaluationJournal
from idealrank.io.memory_budget import MemoryBudget
from idealrank.measures.measure import Measure
from idealrank.measures.parse import default_measures
from idealrank.reports.table.records import Row, evaluation_rows, json_report, trec_report
from idealrank.reports.views.evaluation import slice_rows

if TYPE_CHECKING:
    from idealrank.analysis.comparison import RunMean
    from idealrank.analysis.comparison.slice_means import SliceMeans
    from idealrank.bounds.lift import Lift
    from idealrank.data.candidates import Candidates
    from idealrank.io.query_files import OfQueries


def refuse_whole(memory: str | None, results: Results, kind: str) -> None:
    """Refuse options that need runs as a whole, and text that is no amount of memory, before
    anything is read.
    """
    if memory is None:
        return
    MemoryBudget.of(memory)
    if results.is_page:
        option = "--report" if results.report is not None else "--figures"
        raise OptionError(
            f"{option}: found --memory too, expected one of them, since a page shows documents of "
            "every list"
        )
    if kind != "qrels":
        raise OptionError(
            f"--judgments {kind}: found --memory too, expected one of them: runs are read in parts "
            "for grades alone"
        )


@dataclass(kw_only=True)
class RunsInParts:
    """Runs of one command, evaluated within a budget of memory."""

    memory: str  # The budget
    inputs: Inputs
    watch: Watch
    judgments: Judgments
    measures: Sequence[Measure]
    convention: Convention
    threads: int
    journal: EvaluationJournal | None = field(default=None)  # Values of finished runs

    @classmethod
    def of(
        cls, memory: str | None, output_path: str | None, runs: Sequence[str], **others: Any
    ) -> "RunsInParts":
        """Make the runs of a command, with the other fields by name; open nothing without a
        budget.
        """
        runs_in_parts = cls(memory=memory or "", **others)
        if memory is not None:
            runs_in_parts.open_journal(output_path, runs)
        return runs_in_parts

    def open_journal(self, output_path: str | None, runs: Sequence[str]) -> None:
        """Keep values of finished runs next to the output until it is written; without such a file,
        and for standard input, nowhere.
        """
        if output_path is None or "-" in (output_path, *runs):
            return
        subject = {
            "measures": list(map(str, self.measures)),
            "convention": self.convention.fingerprint,
            "judgments": self.judgments.fingerprint,
            "reading": [self.inputs.format_of("run"), self.inputs.columns_of("run")],
        }
        path = f"{output_path}.journal"
        self.journal = EvaluationJournal(path, subject)
        if len(self.journal):
            notes().inform(f"{path}: {len(self.journal)} of {len(runs)} runs were evaluated before")

    def evaluate(self, path: str, name: str) -> Evaluation:
        """Evaluate a run, or take it from the journal."""
        measures = tuple(self.measures)
        if self.journal is not None:
            finished = self.journal.find(path, name, measures, self.convention)
            if finished is not None:
                return finished

        def work(tell: Count) -> Evaluation:
            run = self.inputs.stream_run(path, name, self.memory, RatedCount(tell, "B"))
            return evaluate_read(
                self.judgments, run, measures, self.convention, threads=self.threads
            )

        evaluation = self.watch.count(name, work)
        if self.journal is not None:
            self.journal.add(path, evaluation)
        return evaluation

    def close_journal(self) -> None:
        """Remove the journal, once the output is written."""
        if self.journal is not None:
            self.journal.remove()


# By trec_eval's name of judgments: the tables of them that measures may need.
_TABLES = {
    "qrels": (),
    "prefs": ("preferences",),
    "qrels_prefs": ("preferences",),
    "qrels_jg": ("assessors",),
}

_EPILOG = """\
Examples:

\b
  Two runs side by side, with the default measures:
    idealrank evaluate qrels.txt bm25.run neural.run
\b
  Chosen measures, in any tool's spelling:
    idealrank evaluate qrels.txt bm25.run -m nDCG@10,AP -m recall_100
\b
  The NDCG of another tool, then with one switch changed:
    idealrank evaluate qrels.txt bm25.run -m nDCG@10 --convention lightgbm
    idealrank evaluate qrels.txt bm25.run -m nDCG@10 --convention lightgbm,ties=expected
\b
  Preferences between documents, or judgments of several assessors, with their own measures:
    idealrank evaluate --judgments prefs preferences.txt bm25.run
    idealrank evaluate --judgments qrels_jg assessors.qrels bm25.run -m AP_avgjg
\b
  Means of each category of queries:
    idealrank evaluate qrels.txt bm25.run neural.run --slices slices.csv
\b
  Confidence intervals of the means:
    idealrank evaluate qrels.txt bm25.run neural.run --intervals
\b
  How far the means are from chance, of lists ranked from the documents of a first stage, or from
  a catalogue of 20,000 items:
    idealrank evaluate qrels.txt bm25.run neural.run --candidates candidates.csv --chance
    idealrank evaluate qrels.txt neural.run --candidates 20000 --chance -m nDCG@10
\b
  Means by traffic, or over a sample of queries with the weights of `judge draw`:
    idealrank evaluate qrels.txt bm25.run neural.run --weights traffic.csv --intervals
\b
  Values of every query as CSV, and all values as JSON:
    idealrank evaluate qrels.txt bm25.run --per-query --format csv -o values.csv
    zcat bm25.run.gz | idealrank evaluate qrels.txt - --format json
\b
  Runs larger than memory; after a crash, the same command goes on:
    idealrank evaluate qrels.txt bm25.run neural.run --memory 2GB --format json -o values.json
\b
  A page with every query:
    idealrank evaluate qrels.txt bm25.run neural.run --report evaluation.html
"""


def _rows(
    evaluations: "list[Evaluation]",
    *,
    per_query: bool,
    intervals: "Sequence[Mapping[str, RunMean]]",
    slices: "Sequence[SliceMeans]",
    weighted: "Sequence[Mapping[str, RunMean]]",
    chance: "Sequence[Lift]",
) -> Iterator[Row]:
    """Return a row for each mean of the whole runs, or of their slices."""
    if slices:
        return slice_rows(evaluations, slices)
    return evaluation_rows(
        evaluations, per_query=per_query, intervals=intervals, weighted=weighted, lifts=chance
    )


_A_VALUE_A_ROW = (
    "found --per-query in a {title}, which has one value per row; expected one of them, or "
    "--format json"
)
_ONLY_MEANS = (
    "found --per-query in a {title}, which has no means, the only numbers with weights; expected "
    "one of them, or --format json"
)
_A_VALUE_A_ROW_OF_CHANCE = (
    "found --per-query in a {title}, which has chance levels of means alone; expected one of them, "
    "or --format json"
)
_WHOLE_RUNS = (
    "found --slices in a {title}, which has a row for each slice; expected one of them, or "
    "--format json"
)
_NO_PLACE = "found --format trec, whose layout has no place for them; expected another format"


def _views() -> ModuleType:
    from idealrank.reports.views import evaluation  # noqa: PLC0415  (NumPy; not for the help)

    return evaluation


_FORMATS = Formats(
    "A table to read;",
    views=_views,
    table="report_parts",
    json=json_report,
    rows=LimitedWriter(
        _rows,
        refuses={
            "--intervals + --per-query": _A_VALUE_A_ROW,
            "--slices + --per-query": _A_VALUE_A_ROW,
            "--weights + --per-query": _ONLY_MEANS,
            "--chance + --per-query": _A_VALUE_A_ROW_OF_CHANCE,
            "--chance + --slices": _WHOLE_RUNS,
        },
    ),
    trec=LimitedWriter(
        trec_report,
        refuses={
            "--intervals": _NO_PLACE,
            "--slices": _NO_PLACE,
            "--weights": _NO_PLACE,
            "--chance": _NO_PLACE,
        },
    ),
    markdown="evaluated_tables",
    latex="evaluated_tables",
)


class _QueryPaths(NamedTuple):
    """Files that say something of each query."""

    weights_path: str | None = None
    cluster_path: str | None = None
    slices_text: str | None = None

    def _refuse_idle(self, measures: Sequence[Measure], *, has_intervals: bool) -> None:
        """Refuse weights of measures that have none, and clusters that change nothing."""
        if self.weights_path is not None:
            from idealrank.inputs.per_query import refuse_unweighted  # noqa: PLC0415  (SciPy, for those who ask)

            refuse_unweighted(measures)
        if self.cluster_path is not None and not has_intervals and self.slices_text is None:
            problem = (
                f"--cluster {self.cluster_path}: found no intervals, the only numbers that "
                "clusters change"
            )
            raise OptionError(f"{problem}; expected --intervals, --slices or --report")

    def read(
        self,
        output_path: str | None,
        measures: Sequence[Measure],
        others: Sequence[str],
        *,
        has_intervals: bool,
    ) -> "OfQueries | None":
        """Read the files, if there are any; `others` are the paths of the command's other input."""
        self._refuse_idle(measures, has_intervals=has_intervals)
        given = [path for path in self if path is not None]
        input_options.refuse_standard_input_twice(*others, *given)
        if not given:
            return None
        from idealrank.io.query_files import QueryFiles  # noqa: PLC0415  (SciPy, for those who ask)

        files = QueryFiles(*self)
        options.refuse_to_replace(output_path, files.paths)
        return files.read(input_options.notes().inform)


@headings.command(epilog=_EPILOG, short_help="Evaluate runs against judgments.")
@click.argument("qrels")
@click.argument("runs", metavar="RUN [RUN...]", nargs=-1, required=True)
@options.measures
@options.convention
@click.option(
    "--judgments",
    "kind",
    type=click.Choice(list(_TABLES)),
    default="qrels",
    show_default=True,
    help="Kind of QRELS, in trec_eval's words: grades, preferences, grades read as preferences, or "
    "grades of several assessors.",
)
@click.option(
    "--engine",
    type=click.Choice(["local", "spark"]),
    default="local",
    show_default=True,
    help="Where values are computed: this machine, or the Spark cluster of spark.master (Parquet "
    "is read there, other files here).",
)
@click.option("--per-query", is_flag=True, help="Values of every query.")
@click.option(
    "--intervals",
    is_flag=True,
    help="95 % confidence interval of each mean. To decide about a difference, use `idealrank "
    "compare`.",
)
@click.option(
    "--slices",
    "slices_text",
    metavar="FILE",
    cls=options.OnceOption,
    help="Means on each category of queries, with 95 % intervals: CSV, JSON lines or Parquet with "
    "columns query and category. traffic:FILE makes head, torso and tail from columns query and "
    "traffic.",
)
@options.candidates
@query_paths
@_FORMATS.option
@options.explain_method
@options.digits
@options.output
@results
@options.inputs
@options.memory
@options.threads
def evaluate(
    *,
    qrels: str,
    runs: tuple[str, ...],
    measure_texts: tuple[str, ...],
    convention_text: str,
    kind: str,
    engine: str,
    per_query: bool,
    intervals: bool,
    layout: str,
    digits: int | None,
    output_path: str | None,
    results: Results,
    inputs: input_options.Inputs,
    memory_text: str | None,
    threads: int,
    pool: CandidateOptions,
    **query_files: str | None,
) -> None:
    """Evaluate each RUN against the judgments in QRELS.

    The output names the convention behind each mean, and its coverage: queries without an answer,
    unjudged documents, tied scores. Files may be TREC text, JSON, CSV, Parquet and others, plain or
    compressed; - is standard input.
    """
    paths = _QueryPaths(**query_files)
    _refuse_elsewhere(engine, kind, results, memory_text)
    convention = options.parse_convention(convention_text)
    measures = _measures(measure_texts, kind)
    pool.check_design(weights=paths.weights_path, cluster=paths.cluster_path)
    of_queries = paths.read(
        output_path,
        measures,
        (qrels, *inputs.more_qrels, *runs),
        has_intervals=intervals or results.is_page,
    )

    files_read = input_options.InputFiles(
        qrels=qrels, inputs=inputs, others=(*runs, *filter(None, [pool.path]))
    )
    candidates = _candidates(pool, files_read, engine, kind, memory_text)
    results.check(files_read.paths, {"-o": output_path})
    opened: list[Run] = []
    names = input_options.run_names(runs)
    watch = Watch()
    judgments = watch.run("judgments", lambda _: inputs.open_judgments(qrels, kind, convention))
    runs_in_parts = RunsInParts.of(
        memory_text,
        output_path,
        runs,
        inputs=inputs,
        watch=watch,
        judgments=judgments,
        measures=measures,
        convention=convention,
        threads=threads,
    )

    def evaluate_one(path: str, name: str) -> Evaluation:
        def work(progress: Progress) -> Evaluation:
            if engine == "spark" and isinstance(judgments, Qrels):
                return _on_spark(
                    inputs,
                    judgments,
                    path,
                    qrels=qrels,
                    name=name,
                    measures=measures,
                    convention=convention,
                )
            run = inputs.open_run(path, name, qrels)
            if results.are_kept:
                opened.append(run)
            return evaluate_read(
                judgments,
                run,
                measures,
                convention,
                **_kept(results, measures),
                threads=threads,
                progress=progress,
                candidates=candidates,
            )

        return watch.run(name, work)

    evaluated = evaluate_one if memory_text is None else runs_in_parts.evaluate
    evaluations = [evaluated(path, name) for path, name in zip(runs, names, strict=True)]
    for evaluation, path in zip(evaluations, runs, strict=True):
        input_options.doubt(evaluation, path)

    design = {} if of_queries is None else _design(evaluations, of_queries, results)
    _write(
        evaluations,
        layout,
        output_path,
        of_queries,
        design,
        per_query=per_query,
        intervals=intervals,
        chance=pool.lifts(evaluations),
        digits=digits,
    )
    parts_of_page = {
        "evaluations": tuple(evaluations),
        "measures": measures,
        "qrels": judgments,
        "runs": tuple(opened),
        "threads": threads,
    }
    results.write(watch, files_read, **parts_of_page, **design)
    runs_in_parts.close_journal()


def _candidates(
    pool: CandidateOptions,
    files_read: input_options.InputFiles,
    engine: str,
    kind: str,
    memory: str | None,
) -> "Candidates | None":
    """Read the candidates; refuse options next to which they have no place."""
    pool.check(
        memory=memory,
        **{"engine spark": engine == "spark", f"judgments {kind}": kind != "qrels"},
    )
    input_options.refuse_standard_input_twice(*files_read.every_path)
    return pool.read()


def _on_spark(*arguments: Any, **named: Any) -> Evaluation:
    evaluation: Evaluation = offered("evaluate on Spark")(*arguments, **named)
    return evaluation


def _kept(results: Results, measures: Sequence[Measure]) -> dict[str, Any]:
    return {"keep_for": results.looked_at(measures), "keep_top": results.ranks_looked_at(measures)}


def _measures(texts: Sequence[str], kind: str) -> tuple[Measure, ...]:
    measures = options.parse_measure_texts(texts or default_measures(_TABLES[kind]))
    if words := [str(measure) for measure in measures if measure.aggregate == "text"]:
        raise OptionError(
            f"{words[0]}: found a measure with text values, expected numbers; `idealrank trec-eval "
            "-q -m relstring.20` prints it"
        )
    return measures


def _refuse_elsewhere(engine: str, kind: str, results: Results, memory: str | None) -> None:
    """Refuse options that need this machine, or runs as a whole, where they are not there."""
    refuse_whole(memory, results, kind)
    if engine == "local":
        return
    if memory is not None:
        raise OptionError(
            "found --engine spark with --memory, which is for this machine alone; expected one of "
            "them"
        )
    if kind != "qrels":
        raise OptionError(
            f"found --engine spark with --judgments {kind}, expected --judgments qrels"
        )
    if results.are_kept:
        raise OptionError(
            "found --engine spark with a report or a store, which need the run itself; expected "
            "--engine local"
        )


def _design(
    evaluations: list[Evaluation], of_queries: "OfQueries", results: Results
) -> dict[str, Any]:
    """Weights and clusters, once every query is known to have one."""
    of_queries.check(evaluations)
    if of_queries.weights is not None and results.store is not None:
        input_options.notes().inform(
            "the store keeps values of queries without their weights; `idealrank store show` "
            "prints plain means"
        )
    return {"weights": of_queries.weights, "clusters": of_queries.clusters}


def _write(
    evaluations: list[Evaluation],
    layout: str,
    path: str | None,
    of_queries: "OfQueries | None",
    design: Mapping[str, Any],
    *,
    per_query: bool,
    intervals: bool,
    chance: "Sequence[Lift]",
    digits: int | None,
) -> None:
    """Write the report; formats for programs have all digits."""
    is_weighted = design.get("weights") is not None
    means = _means(evaluations, design) if intervals or is_weighted else []
    categories = None if of_queries is None else of_queries.categories
    slices: list[SliceMeans] = []
    if categories is not None:
        slices = [evaluation.by(categories, **design) for evaluation in evaluations]
    shown: dict[str, Any] = {
        "per_query": per_query,
        "intervals": means if intervals else [],
        "slices": slices,
        "weighted": means if is_weighted else [],
        "clustered": design.get("clusters") is not None,
        "chance": chance,
    }
    if is_weighted:
        shown["cautions"] = _weights_cautions(evaluations, design)
        if intervals:
            shown["cautions"] += _sample_cautions(of_queries)
    _FORMATS.write(layout, path, evaluations, **shown, digits=digits)


def _weights_cautions(evaluations: list[Evaluation], design: Mapping[str, Any]) -> tuple[str, ...]:
    from idealrank.inputs.per_query import interval_cautions  # noqa: PLC0415  (SciPy, for those who ask)

    return interval_cautions(evaluations, **design)


def _sample_cautions(of_queries: "OfQueries | None") -> tuple[str, ...]:
    """Caution of intervals by the weights of a sample; experiments/sampled_pools.py measures how
    often they contain the mean.
    """
    if of_queries is None or not of_queries.files.weights_are_of_a_sample:
        return ()
    caution = (
        f"weights: {of_queries.files.weights_path} has a sample of queries, and these intervals "
        "treat it as drawn from infinitely many; they contain the mean over the traffic in 98 to "
        "100 % of samples, not in 95 %"
    )
    return (caution,)


def _means(
    evaluations: list[Evaluation], design: Mapping[str, Any]
) -> "list[Mapping[str, RunMean]]":
    from idealrank.analysis.comparison import intervals as of_means  # noqa: PLC0415  (SciPy, for those who ask)

    return [of_means(evaluation, **design) for evaluation in evaluations]
