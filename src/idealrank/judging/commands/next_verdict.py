"""Verdict that ends the labelling of `idealrank judge next`, and the commands that lead to it."""

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import click
from click.core import ParameterSource

from idealrank.analysis.comparison import with_companions
from idealrank.cli import input_options
from idealrank.cli.progress import Watch
from idealrank.conventions import Convention
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.errors import OptionError
from idealrank.inputs.comparison import compare
from idealrank.inputs.evaluation import evaluate_read
from idealrank.inputs.gate import GateRequest
from idealrank.judging import LabelStop
from idealrank.judging.label_stops import VerdictLike
from idealrank.measures.measure import Measure

Until: TypeAlias = Literal["sign", "compare", "gate"]
UNTIL: tuple[Until, ...] = get_args(Until)

# Options that both commands take, as parameters of `idealrank judge next`
_READING = (
    "measure_text",
    "convention_text",
    "labels_from",
    "more_qrels",
    "file_format",
    "columns_text",
    "qrels_columns_text",
    "run_columns_text",
    "labels_text",
    "group",
    "labels_are",
    "sampled_negatives",
    "margin",
    "largest_loss",
)
_OF_GATE = ("tolerance", "alpha", "strict")
_COLUMNS = ("columns_text", "qrels_columns_text")
# Judgments that a filled sheet can join as it is; and other formats that a file of labels cannot
_TABLES = (".csv",)
_OTHERS = (".tsv", ".json", ".jsonl", ".parquet", ".arrow", ".feather")


@dataclass(frozen=True, kw_only=True)
class VerdictFiles:
    """Files as typed, and what was read from them."""

    # qrels, run_a, run_b: Paths
    qrels: str
    run_a: str
    run_b: str
    inputs: input_options.Inputs  # How files are read
    judgments: Qrels  # The judgments
    runs: Sequence[Run]  # Both runs
    labels_from: str | None  # Run whose results were labelled, as typed

    def compared(
        self,
        measure: Measure,
        convention: Convention,
        alpha: float,
        policy: Mapping[str, Any],
        watch: Watch,
    ) -> VerdictLike:
        """Compare both runs as `idealrank compare` does; the policy has the margin and the largest
        loss.
        """
        paths = (self.run_a, self.run_b)
        evaluations = []
        for run, path in zip(self.runs, paths, strict=True):
            measures = with_companions([measure])
            evaluation = evaluate_read(
                self.judgments, run, measures, convention=convention, keep_unjudged=True
            )
            input_options.doubt(evaluation, path)
            evaluations.append(evaluation)
        names = [run.name for run in self.runs]
        source = input_options.named_run(self.labels_from, "--labels-from", names, paths)
        comparison = watch.run(
            "comparing",
            lambda _: compare(
                *evaluations,
                measures=[measure],
                level=1 - alpha,
                margin=policy["margin"],
                largest_loss=policy["largest_loss"],
                labels_from=source,
            ),
        )
        return comparison[str(measure)]

    def gated(self, measure: Measure, request: GateRequest) -> VerdictLike:
        """Check RUN_B against RUN as `idealrank gate` does."""
        from idealrank.cli.commands.gate import Job  # noqa: PLC0415  (only where a gate is asked for)

        job = Job(request=request, qrels=self.qrels, run=self.run_b, inputs=self.inputs)
        checks = job.decide().gated.checks
        return next(check for check in checks if check.measure == str(measure))


def gate_request(
    context: click.Context,
    baseline: str,
    measure: Measure,
    inputs: input_options.Inputs,
    policy: Mapping[str, Any],
) -> GateRequest:
    """Settle the typed options with the policy of the project.

    It has a level and a convention, too, so only those that were typed go before it.
    """
    from idealrank.cli.commands.gate import asked_here  # noqa: PLC0415  (only where a gate is asked for)

    typed = {
        name: context.params[name]
        for name in ("alpha", "convention_text")
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT
    }
    return asked_here(
        baselines=(baseline,),
        measure_texts=[str(measure)],
        labels_are=inputs.labels_are,
        sampled_negatives=inputs.sampled_negatives,
        labels_from=context.params["labels_from"],
        **policy,
        **typed,
    )


def refuse_unused(context: click.Context, until: Until, *, replay: bool) -> None:
    """Refuse options that the stop has no place for."""
    if until == "sign":
        for name in ("tolerance", "strict", "margin", "largest_loss", "labels_from"):
            if _is_typed(context, name):
                raise OptionError(
                    f"{_spelling(context, name)}: found it without --until compare or gate, "
                    f"expected both or neither"
                )
        return
    if replay:
        raise OptionError(
            f"--until {until}: found it with --replay, whose stop is the sign; expected one of them"
        )
    if context.params["query_path"] is not None:
        raise OptionError(
            f"--query-ids: found it with --until {until}, which compares the queries in QRELS; "
            f"expected one of them"
        )
    for name in ("tolerance", "strict"):
        if until == "compare" and _is_typed(context, name):
            raise OptionError(
                f"{_spelling(context, name)}: found it with --until compare, expected --until gate"
            )


def steps(context: click.Context, stop: LabelStop, sheet: str | None) -> list[str]:
    """Return the lines that say what to do next, with the commands."""
    if stop.decided:
        return ["the whole report:", f"  {_verdict_command(context, stop)}"]
    if sheet is None:
        return [
            "write them to a sheet for labelling:",
            f"  {_again(context, stop, None, 'sheet.csv')}",
        ]
    following = str(Path(sheet).with_name(_following(Path(sheet).name)))
    qrels = context.params["qrels"]
    labels = str(Path(sheet).with_suffix(".qrels"))
    ending = Path(qrels).suffix.lower()
    if ending in _TABLES and not any(_is_typed(context, name) for name in _COLUMNS):
        return [
            f"fill in the column grade of {sheet}, 0 for documents that are not relevant; then:",
            f"  {_again(context, stop, sheet, following)}",
        ]
    label = shlex.join(["idealrank", "judge", "ui", sheet, "-o", labels])
    if ending in (*_TABLES, *_OTHERS):
        return [
            "label them, 0 for documents that are not relevant, and add the labels to the "
            "judgments; then:",
            f"  {label}",
            f"  {_again(context, stop, None, following)}",
        ]
    return [
        "label them, 0 for documents that are not relevant; then choose again:",
        f"  {label}",
        f"  {_again(context, stop, labels, following)}",
    ]


def _following(name: str) -> str:
    """Return the name of the sheet after this one.

    Examples
    --------
    >>> _following("sheet.csv"), _following("sheet-2.csv")
    ('sheet-2.csv', 'sheet-3.csv')
    """
    stem = Path(name).stem
    ending = Path(name).suffix
    base, _, number = stem.rpartition("-")
    if base and number.isdecimal():
        return f"{base}-{int(number) + 1}{ending}"
    return f"{stem}-2{ending}"


def _again(context: click.Context, stop: LabelStop, labels: str | None, sheet: str) -> str:
    """Return the command that goes on with further labels, and another sheet.

    It keeps where the first labels came from, which further ones would hide.
    """
    arguments = [context.params[name] for name in ("qrels", "run_a", "run_b")]
    options = [
        parameter.name or ""
        for parameter in context.command.params
        if isinstance(parameter, click.Option)
    ]
    words = _typed(context, [name for name in options if name not in ("output_path", "layout")])
    more = [] if labels is None else ["--qrels", labels]
    if stop.labels_from is not None and not _is_typed(context, "labels_from"):
        more += ["--labels-from", context.params[f"run_{stop.labels_from}"]]
    return shlex.join(["idealrank", "judge", "next", *arguments, *words, *more, "-o", sheet])


def _verdict_command(context: click.Context, stop: LabelStop) -> str:
    """Return the command that gives the verdict."""
    qrels, run_a, run_b = (context.params[name] for name in ("qrels", "run_a", "run_b"))
    if stop.by == "gate":
        words = _typed(context, (*_READING, *_OF_GATE))
        return shlex.join(["idealrank", "gate", qrels, run_b, "--baseline", run_a, *words])
    words = _typed(context, _READING)
    if _is_typed(context, "alpha"):
        words += ["--level", f"{1 - context.params['alpha']:g}"]
    return shlex.join(["idealrank", "compare", qrels, run_a, run_b, *words])


def _is_typed(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is ParameterSource.COMMANDLINE


def _spelling(context: click.Context, name: str) -> str:
    option = next(parameter for parameter in context.command.params if parameter.name == name)
    return option.opts[0]


def _typed(context: click.Context, names: Collection[str]) -> list[str]:
    """Return the options among these that were typed, with their values."""
    words: list[str] = []
    for parameter in context.command.params:
        name = parameter.name or ""
        if name not in names or not _is_typed(context, name):
            continue
        value = context.params[name]
        if value is True:
            words.append(parameter.opts[0])
        elif value is False:
            words.append(parameter.secondary_opts[0])
        else:
            values = value if isinstance(value, tuple) else (value,)
            for repeated in values:
                words += [parameter.opts[0], str(repeated)]
    return words
