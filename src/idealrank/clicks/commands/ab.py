"""`idealrank online ab`: the difference of two cohorts of users."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import click

from idealrank.cli import console, headings, options
from idealrank.cli.input_options import Inputs
from idealrank.cli.output import Formats
from idealrank.cli.progress import Watch
from idealrank.clicks import CohortEffects, ab_effect, cohort_effects, novelty
from idealrank.clicks.commands import log_options
from idealrank.clicks.commands.log_options import LogInput
from idealrank.clicks.files.click_logs import (
    COHORT_LOG,
    EXPERIMENT,
    log_columns,
    read_columns,
    read_log,
)
from idealrank.data.types import FloatArray
from idealrank.errors import InputError, OptionError
from idealrank.measures.parse import DEFAULT_MEASURES

_EPILOG = """\
Examples:

\b
  idealrank online ab experiment.csv
  idealrank online ab experiment.csv --columns value=ndcg,cohort=arm --split 0.1 --format json
  idealrank online ab log.csv --log
  idealrank online ab log.csv --qrels qrels.txt -m nDCG@10,RR

A row is one list, session or user, with its cohort (A or B), its value, and its user. The rows of
one user count together. With a column `denominator`, the value is a ratio, such as clicks per list.
With a column `covariate` (the value of the user before the experiment, one value per user), CUPED
removes the variance that it explains. With a column `period` (or day, or week; numbers or dates), a
table shows the effect in each period, and whether the effect fades: days since the first visit of
the user show novelty best. --resamples adds a bootstrap over users. If the users were not split as
planned, there is no verdict: find the reason first.

The verdict is valid at any look: it comes from a confidence sequence. --looks once takes it from
the interval for a test of planned size, which holds only if you read the test once, at the planned
size. There is no verdict with fewer than 20 users in a cohort. If one cohort is much smaller than
the other, rare large values (such as few conversions) need more users there; the output says how
many.

With --log, ROWS is a click log with a column `cohort`: a row for each result shown, with session,
query, document, rank, click and user. Values are the clicks of a list, and whether it had one. With
--qrels, the lists of the log are also measured, each query as often as it was asked. The columns
`covariate` and `period` work as above; without `period`, the days of a column `time` are the
periods.
"""

_DAY = 86_400.0  # seconds


def _views() -> ModuleType:
    from idealrank.clicks.views import online  # noqa: PLC0415  (NumPy; not for the help)

    return online


_FORMATS = Formats(
    "A table to read;",
    views=_views,
    table="effect_parts",
    json="effect_json",
)
_LOG_FORMATS = Formats(
    "A table to read;",
    views=_views,
    table="cohort_parts",
    json="cohort_json",
)


@headings.command(
    epilog=_EPILOG,
    short_help="Read an A/B test: difference by user, with intervals and a check of the split.",
)
@click.argument("rows", metavar="ROWS")
@click.option(
    "--log",
    "is_log",
    is_flag=True,
    help="ROWS is a click log with a column cohort; compare the clicks of its lists.",
)
@click.option(
    "--qrels",
    "qrels_path",
    metavar="FILE",
    cls=options.OnceOption,
    help="Judgments of the queries of the log, to measure its lists; implies --log.",
)
@click.option(
    "--qrels-columns",
    "qrels_columns_text",
    metavar="ROLE=NAME,...",
    cls=options.OnceOption,
    default="",
    help="Columns of the judgments.",
)
@options.labels
@options.measures
@options.convention
@click.option(
    "--split",
    metavar="SHARE",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.5,
    show_default=True,
    help="Planned share of users in B.",
)
@click.option(
    "--planned-users",
    metavar="N",
    type=click.IntRange(1),
    default=10_000,
    show_default=True,
    help="Number of users at which the confidence sequence is narrowest; keep it the same at every "
    "look.",
)
@click.option(
    "--resamples",
    metavar="N",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Replicates of a bootstrap over users; 0: none.",
)
@click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Random seed of the bootstrap.",
)
@log_options.looks
@options.level
@click.option(
    "--columns",
    "columns_text",
    metavar="ROLE=NAME,...",
    cls=options.OnceOption,
    default="",
    help="Columns by role: value=, cohort=, user=, denominator=, covariate=, period=; with --log "
    "also the roles of a click log.  [default: by their usual names]",
)
@_FORMATS.option
@options.output
def ab(
    *,
    rows: str,
    is_log: bool,
    qrels_path: str | None,
    qrels_columns_text: str,
    labels_text: str,
    measure_texts: tuple[str, ...],
    convention_text: str,
    columns_text: str,
    layout: str,
    output_path: str | None,
    seed: int,
    resamples: int,
    **test_options: Any,
) -> None:
    """Read an A/B test: the difference of B and A by user, and how it changes over time."""
    options.refuse_to_replace(output_path, (rows, qrels_path))
    of_log = is_log or qrels_path is not None
    column_names = log_columns(columns_text, COHORT_LOG if of_log else EXPERIMENT)
    if measure_texts and qrels_path is None:
        raise OptionError("-m: found no --qrels, expected judgments of the queries of the log")
    test_options |= {"n_resamples": resamples, "rng": seed}
    if of_log:
        lists = CohortLog(
            path=rows,
            columns=column_names,
            qrels_path=qrels_path,
            qrels_columns_text=qrels_columns_text,
            labels_text=labels_text,
            measure_texts=measure_texts,
            convention_text=convention_text,
        )
        _LOG_FORMATS.write(layout, output_path, lists.effects(test_options))
        return

    columns = Watch().run(
        "rows", lambda _: read_columns(rows, EXPERIMENT, columns=column_names, tell=_note)
    )
    shared: dict[str, Any] = {
        "users": columns.get("user"),
        "denominator": columns.get("denominator"),
    }
    with log_options.rows_of(rows):
        effect = ab_effect(
            columns["value"],
            columns["cohort"],
            covariate=columns.get("covariate"),
            **shared,
            **test_options,
        )

    shared |= {"confidence": test_options["confidence"]}
    trend = None
    if columns.get("period") is not None:
        try:
            trend = novelty(columns["value"], columns["cohort"], columns["period"], **shared)
        except InputError as error:  # the effect of the whole test stands, whatever its periods
            _note(f"no trend over time: {error}")
    _FORMATS.write(layout, output_path, effect, trend)


@dataclass(frozen=True, kw_only=True)
class CohortLog:
    """The click log of an A/B test, and the judgments that measure its lists."""

    path: str  # The log
    columns: Mapping[str, str] | None = None  # Names of its columns by role
    qrels_path: str | None = None  # Judgments
    # Names of their columns, ``query=...,document=...``; empty to guess
    qrels_columns_text: str = ""
    labels_text: str = ""  # Grades of labels that are words
    measure_texts: tuple[str, ...] = ()  # Measures; empty for the usual one
    convention_text: str = "standard"  # Convention of the measures

    def effects(self, test_options: Mapping[str, Any]) -> CohortEffects:
        """Read, check and compare; lists that make no sense are left out, which stderr says."""
        watch = Watch()
        convention = options.parse_convention(self.convention_text)
        measures = options.parse_measure_texts(self.measure_texts or (DEFAULT_MEASURES[0],))
        rows = watch.run(
            "click log",
            lambda _: read_log(self.path, columns=self.columns, cohorts=True, tell=_note),
        )
        check = LogInput(path=self.path).checked(rows)
        qrels = None
        if self.qrels_path is not None:
            path = self.qrels_path
            inputs = Inputs(
                qrels_columns_text=self.qrels_columns_text, labels_text=self.labels_text
            )
            qrels = watch.run("judgments", lambda _: inputs.open_qrels(path, convention))
        assert check.cohort is not None  # noqa: S101  (read_log refuses a log without the column)
        period = check.period if check.period is not None else days_of(check.sessions.time)
        with log_options.rows_of(self.path):
            compared = cohort_effects(
                check.sessions,
                check.cohort,
                qrels,
                measures,
                convention=convention,
                covariate=check.covariate,
                period=period,
                **test_options,
            )
        for caution in compared.cautions:
            console.say("warning", caution)
        return compared


def days_of(seconds: FloatArray | None) -> FloatArray | None:
    """Number the days of UTC from the first one, day 1; None if all times are of one day, or there
    are none.
    """
    if seconds is None:
        return None
    days = seconds // _DAY
    day_numbers: FloatArray = days - days.min() + 1
    return day_numbers if day_numbers.max() > 1 else None


def _note(message: str) -> None:
    console.say("note", message)
