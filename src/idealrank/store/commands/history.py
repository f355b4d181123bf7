"""`idealrank history`: what a store remembers of a measure, and since when a query fails."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from idealrank.cli import console, headings, options, output
from idealrank.cli.output import Formats
from idealrank.errors import InputError, OptionError
from idealrank.reports.table.formats import FORMATS
from idealrank.store.commands import store_options
from idealrank.store.timeline import Rule, Timeline, Trace

if TYPE_CHECKING:
    from idealrank.reports.table.records import Row

_DROP = 0.1  # fall that fails, by default
_LIMIT = 30  # entries in the table, by default
# Exit codes of `git bisect run`.
_GOOD = 0
_BAD = 1
_SKIPPED = 125
_EPILOG = """\
Examples:

\b
  How did nDCG@10 develop, run by run?
    idealrank history --measure nDCG@10 --store results
\b
  Evaluations of the last week under a tag, as CSV:
    idealrank history --tag main --since 7d --format csv --store results
\b
  When did this query start to fail, and between which commits?
    idealrank history --query q7 --run search --below 0.5 --store results
\b
  Find the first bad commit: evaluate the printed commit until the exit code is 1.
    while commit=$(idealrank history --query q7 --run search --below 0.5 --bisect); do
      git checkout --quiet "$commit" && ./rank.sh > search.run
      idealrank evaluate qrels.txt search.run --store results
    done

A value fails if it is --below a number, or at least --drop below the best earlier value. The
command finds the last change from good to failing. Evaluations of commits of this git repository
are in the order of the commits.
"""


@dataclass(frozen=True, kw_only=True)
class FailureRule:
    """Rule for a failing value, and the action to take."""

    below: float | None
    drop: float | None
    query: str | None
    bisect: bool
    exit_code: bool
    repository: str = "."

    @property
    def is_requested(self) -> bool:
        """True if the start of a failure was asked for."""
        return (
            self.query is not None
            or self.below is not None
            or self.drop is not None
            or self.bisect
            or self.exit_code
        )

    def rule(self, direction: int) -> Rule:
        """The rule, of a measure of this direction."""
        drop = _DROP if self.below is None and self.drop is None else self.drop
        return Rule(below=self.below, drop=drop, direction=direction)


def _table(
    timeline: Timeline, *, failure: FailureRule, shown: int, together: bool
) -> Iterable[str]:
    from idealrank.store.views import history as words  # noqa: PLC0415  (not for the help)

    yield words.history_table(
        timeline, shown=shown, together=together, plain=store_options.is_plain()
    )
    for run, trace in (_since(timeline, failure, together=together) or {}).items():
        yield "\n" + words.since_report(run, trace) + "\n"


def _json(timeline: Timeline, *, failure: FailureRule, shown: int, together: bool) -> Iterable[str]:
    from idealrank.store.views.history import history_json  # noqa: PLC0415

    return history_json(
        timeline, _since(timeline, failure, together=together), shown=shown, together=together
    )


def _rows(timeline: Timeline, *, shown: int, together: bool) -> "Iterable[Row]":
    from idealrank.store.views.history import history_rows  # noqa: PLC0415

    return history_rows(timeline, shown=shown, together=together)


_FORMATS = Formats("A table and a sparkline to read;", table=_table, json=_json, rows=_rows)


@headings.command(
    epilog=_EPILOG, short_help="Show a measure or query over time, and find when it regressed."
)
@click.option(
    "-m",
    "--measure",
    metavar="MEASURE",
    cls=options.OnceOption,
    help="Measure to show.  [default: the first measure of the newest evaluation]",
)
@click.option(
    "--run",
    "runs",
    metavar="NAME",
    multiple=True,
    help="Run to show; may be repeated.  [default: all, one line each]",
)
@click.option("--tag", metavar="TAG", help="Show only evaluations with this tag.")
@click.option(
    "--since",
    metavar="TIME",
    help="Oldest time: 2026-01-31, a time in ISO 8601, or 7d, 12h, 2w ago.",
)
@click.option(
    "--query", metavar="ID", help="Show the values of this query, and find when it regressed."
)
@click.option(
    "--below", metavar="VALUE", type=float, help="Values below V fail (above V, if less is better)."
)
@click.option(
    "--drop",
    metavar="D",
    type=float,
    help="Values that are D or more below the best earlier value fail.  [default of --query: "
    f"{_DROP:g}]",
)
@click.option(
    "--one-line",
    "together",
    is_flag=True,
    help="Join runs of all names in one line, for runs named after commits.",
)
@click.option(
    "--bisect",
    is_flag=True,
    help="Print only the commit to evaluate next; at the end, print the first bad commit, with "
    "exit code 1.",
)
@click.option(
    "--exit-code",
    is_flag=True,
    help="Print nothing; for `git bisect run`: 0 if the commit checked out is fine, 1 if not, 125 "
    "unknown.",
)
@click.option(
    "--repository",
    metavar="DIR",
    default=".",
    help="Git repository of the commits.  [default: the current folder]",
)
@click.option(
    "--show",
    "limit",
    metavar="N",
    type=click.IntRange(0),
    help=f"Maximum number of entries, the newest first; 0 for all.  [default: {_LIMIT} in the "
    f"table, else all]",
)
@_FORMATS.option
@store_options.store
@options.output
def history(
    *,
    measure: str | None,
    runs: tuple[str, ...],
    tag: str | None,
    since: str | None,
    query: str | None,
    below: float | None,
    drop: float | None,
    together: bool,
    bisect: bool,
    exit_code: bool,
    repository: str,
    limit: int | None,
    layout: str,
    store_path: str | None,
    output_path: str | None,
) -> None:
    """Show the values of a measure over time, the newest last.

    Each value comes with its change from the previous value of the same run. A bar separates values
    of other judgments or another convention, which cannot be compared. With --query, the table
    shows one query, and when it regressed.
    """
    failure = FailureRule(
        below=below,
        drop=drop,
        query=query,
        bisect=bisect,
        exit_code=exit_code,
        repository=repository,
    )
    if bisect and exit_code:
        raise OptionError("found --bisect and --exit-code, expected one of them")
    if below is not None and drop is not None:
        raise OptionError("found --below and --drop, expected one of them")
    with store_options.opened(store_path) as store:
        timeline = store.history(measure, run=runs, tag=tag, query=query, since=since)
    if bisect or exit_code:
        _answer(timeline, failure, together=together)
        return
    shown = _LIMIT if limit is None and not FORMATS[layout].is_data else limit
    _FORMATS.write(
        layout, output_path, timeline, failure=failure, shown=shown or 0, together=together
    )


def _since(timeline: Timeline, failure: FailureRule, *, together: bool) -> dict[str, Trace] | None:
    """Find since when each line fails; None if the options do not ask, or no value can fail."""
    can_fail = timeline.direction or failure.below is not None or failure.drop is not None
    return (
        _traces(timeline, failure, together=together) if failure.is_requested and can_fail else None
    )


def _traces(timeline: Timeline, failure: FailureRule, *, together: bool) -> dict[str, Trace]:
    from idealrank.store.bisect import head, trace  # noqa: PLC0415  (starts git)

    if failure.repository != "." and not head(failure.repository):
        raise InputError(
            f"--repository {failure.repository}: found no git repository with a commit, expected "
            "the folder of a repository"
        )
    rule = failure.rule(timeline.direction)
    return {
        run: trace(points, rule, failure.repository)
        for run, points in timeline.lines(together=together).items()
    }


def _answer(timeline: Timeline, failure: FailureRule, *, together: bool) -> None:
    """One commit on standard output, or an exit code."""
    lines = timeline.lines(together=together)
    if len(lines) > 1:
        raise OptionError(
            f"found {len(lines)} runs, {', '.join(list(lines)[:5])}; expected one: give --run "
            f"NAME, or --one-line"
        )
    (points,) = lines.values()
    rule = failure.rule(timeline.direction)
    if failure.exit_code:
        from idealrank.store.bisect import fails_here  # noqa: PLC0415  (starts git)

        fails = fails_here(points, rule, failure.repository)
        if fails is None:
            raise click.exceptions.Exit(_SKIPPED)
        raise click.exceptions.Exit(_BAD if fails else _GOOD)
    (trace,) = _traces(timeline, failure, together=together).values()
    _print_next(trace)


def _print_next(trace: Trace) -> None:
    suspects = trace.suspects
    if suspects is None:
        raise InputError(_why_not(trace))
    if suspects.next:
        output.write([f"{suspects.next}\n"], None)
        return
    if not suspects.found:
        raise InputError(
            f"found {suspects.between} commits up to {suspects.bad}, of which only the last has a "
            "value; expected commits to evaluate"
        )
    subject = f": {trace.subject}" if trace.subject else ""
    console.say("note", f"{suspects.bad[:12]} is the first bad commit{subject}")
    output.write([f"{suspects.bad}\n"], None)
    raise click.exceptions.Exit(_BAD)


def _why_not(trace: Trace) -> str:
    """Why there is no commit to evaluate."""
    if trace.order == "time":
        return (
            "found fewer than two evaluations of commits of this repository, expected a good and a "
            "bad commit; set --repository to the folder of the repository, and evaluate from a "
            "checkout without uncommitted changes"
        )
    states = {
        "fine": "the newest commit is good",
        "never fine": "every evaluated commit fails; evaluate an older commit",
        "unknown": "no commit has a value",
        "fails": "no commit before the failing commit is good; evaluate an older commit",
    }
    return f"nothing to bisect: {states[trace.onset.state]} (rule: {trace.onset.rule.text})"
