"""`idealrank clicks grade`: judgments from clicks."""

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import click
from click.core import ParameterSource

from idealrank.cli import console, headings, invocation, options, output
from idealrank.cli.output import Formats
from idealrank.cli.progress import Watch
from idealrank.clicks import LogCheck, LogRows, bias_text, grades, grades_of_actions, position_bias
from idealrank.clicks.commands import log_options
from idealrank.clicks.views.log_checks import provenance_json
from idealrank.data.qrels import Qrels
from idealrank.errors import OptionError
from idealrank.io.sources import input_files

_EPILOG = """\
Examples:

\b
  idealrank clicks grade log.csv -o clicks.qrels
  idealrank clicks grade log.csv --model dbn --cuts 0.1,0.3 --least 50 -o clicks.qrels
  idealrank clicks grade log.csv --actions none=0,click=1,booked=4 --dwell 10=2,30=3 --redact -o clicks.qrels
  idealrank clicks grade ubi_queries.jsonl --events ubi_events.jsonl --actions none=0,click=1,purchase=4 -o clicks.qrels

By default, a grade depends on the attractiveness that a click model estimates: the click rate of
the document among users that examine it. raw uses the click rate itself, and warns of the size of
the position bias.

With --actions, the grade of a pair of query and document is the highest grade of its actions, with
the same warning. The column action holds the actions; without this column, the actions are click
and none. --dwell also grades each click by the column dwell, in seconds.

A pair with fewer impressions than --least stays unjudged.
"""  # noqa: E501


def _views() -> ModuleType:
    from idealrank.clicks.views import log_checks  # noqa: PLC0415  (NumPy; not for the help)

    return log_checks


_FORMATS = Formats(
    "Lines QUERY SOURCE DOCUMENT GRADE;",
    views=_views,
    trec="qrels_lines",
    rows="qrels_rows",
)


@headings.command(epilog=_EPILOG, short_help="Make judgments from a click log.")
@click.argument("log", metavar="LOG")
@click.option(
    "--model",
    "model_name",
    type=click.Choice([*log_options.MODELS, "raw"]),
    default="pbm",
    show_default=True,
    help="Click model.",
)
@click.option(
    "--cuts",
    "cuts_text",
    metavar="RATE,...",
    default="0.05,0.2,0.4",
    show_default=True,
    help="Lowest rates for the grades 1, 2, ...",
)
@click.option(
    "--least",
    metavar="N",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="Fewest impressions of a pair that gets a grade.",
)
@click.option(
    "--actions",
    "actions_text",
    metavar="ACTION=GRADE,...",
    default="",
    help="Grade of each action; replaces the click model.",
)
@click.option(
    "--dwell",
    "dwell_text",
    metavar="SECONDS=GRADE,...",
    default="",
    help="Grade of clicks that last at least SECONDS; needs --actions.",
)
@log_options.redact
@log_options.iterations
@log_options.log_input
@_FORMATS.option
@options.output
@click.pass_context
def grade(
    context: click.Context,
    /,
    *,
    inputs: log_options.LogInput,
    model_name: str,
    cuts_text: str,
    least: int,
    actions_text: str,
    dwell_text: str,
    iterations: int,
    layout: str,
    output_path: str | None,
) -> None:
    """Make judgments from a click log.

    The output has a line QUERY SOURCE DOCUMENT GRADE for each judgment; SOURCE names the click
    model, or says that actions give the grades. If ids contain blanks, use --format csv. With -o, a
    second file, FILE.provenance.json, records the hash of the log, the options, the counts and the
    size of the position bias.
    """
    try:
        cuts = [float(part) for part in cuts_text.split(",")]
    except ValueError:
        raise OptionError(f"--cuts {cuts_text}: expected numbers, such as 0.05,0.2,0.4") from None
    watch = Watch()
    if dwell_text and not actions_text:
        raise OptionError(
            "--dwell: found no --actions, expected the grade of each action too, such as --actions "
            "none=0,click=1"
        )
    if actions_text:
        _refuse_both(context, model_name="--model", cuts_text="--cuts", iterations="--iterations")
    rows = inputs.rows(watch)
    checked = inputs.checked(rows)
    sessions = checked.sessions
    if actions_text:
        qrels = ActionGrades(
            rows=rows, checked=checked, actions_text=actions_text, dwell_text=dwell_text
        ).graded(least)
        settings: dict[str, Any] = {"actions": actions_text}
        if dwell_text:
            settings["dwell"] = dwell_text
    else:
        model = None
        if model_name != "raw":
            model = watch.run(
                "click model", lambda _: log_options.model_of(model_name, iterations).fit(sessions)
            )
        qrels = grades(sessions, model, cuts=cuts, least=least).qrels
        cautions = () if model is None else model.cautions
        settings = _model_options(model_name, cuts, iterations, cautions)

    source = "clicks-actions" if actions_text else f"clicks-{model_name}"
    n_graded = sum(len(qrels[query]) for query in qrels.queries)
    if not n_graded:
        raise OptionError(
            f"--least {least}: found no pair of query and document with so many impressions, "
            "expected some; ask for fewer"
        )
    _FORMATS.write(layout, output_path, qrels, source)

    bias = position_bias(sessions)
    if actions_text:
        console.say("warning", f"grades from actions carry the position: {bias_text(bias)}")
    origin = "their best action" if actions_text else model_name
    unjudged = (
        f"{len(sessions.documents) - n_graded:,} stay unjudged, with fewer than {least:,} "
        "impressions"
    )
    console.say("note", f"{n_graded:,} pairs have a grade from {origin}; {unjudged}")
    if output_path is not None and output_path != "-":
        from idealrank.pages.report.material import hashed  # noqa: PLC0415  (not for the help)

        record = {
            "command": invocation.command_line(),
            "source": source,
            **settings,
            "least": least,
            "redacted": inputs.redacted,
        }
        written = provenance_json(
            checked, record, hashed(input_files(inputs.paths)), n_graded, bias
        )
        output.write([written], f"{output_path}.provenance.json", "json")


def _model_options(
    name: str, cuts: list[float], iterations: int, cautions: tuple[str, ...]
) -> dict[str, Any]:
    """Options of grades by a click model, and its cautions, for the record."""
    settings: dict[str, Any] = {"model": name, "cuts": cuts}
    if name != "raw" and log_options.takes_steps(name):
        settings["iterations"] = iterations
    if cautions:
        settings["cautions"] = list(cautions)
    return settings


def _refuse_both(context: click.Context, **options: str) -> None:
    """Refuse options next to --actions, given by the names of their parameters."""
    for name, option in options.items():
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise OptionError(f"--actions and {option}: expected one of them, not both")


@dataclass(frozen=True, kw_only=True)
class ActionGrades:
    """Rows with actions, and the tables that grade them."""

    rows: LogRows
    checked: LogCheck
    actions_text: str
    dwell_text: str

    def graded(self, least: int) -> Qrels:
        """Judgments by the best action of each pair, of the lists that make sense."""
        rows = self.rows
        table = _grades("--actions", self.actions_text)
        actions = rows.action
        if actions is None:
            actions = ["click" if clicked else "none" for clicked in rows.click.tolist()]
        kept_rows = self.checked.kept_rows.nonzero()[0].tolist()
        query = [rows.query[row] for row in kept_rows]
        document = [rows.document[row] for row in kept_rows]
        action = [actions[row] for row in kept_rows]
        if not self.dwell_text:
            return grades_of_actions(query, document, action, table, least=least)
        if rows.dwell is None:
            raise OptionError(
                "--dwell: found no column of seconds; name it with --columns dwell=NAME"
            )

        by_seconds = {}
        for seconds, grade in _grades("--dwell", self.dwell_text).items():
            try:
                by_seconds[float(seconds)] = grade
            except ValueError:
                raise OptionError(
                    f"--dwell {self.dwell_text}: found {seconds!r}, expected seconds, such as "
                    "10=2,30=3"
                ) from None
        clicked_seconds = (rows.dwell * (rows.click == 1))[self.checked.kept_rows]
        return grades_of_actions(
            query,
            document,
            action,
            table,
            least=least,
            dwell=clicked_seconds.tolist(),
            dwell_table=by_seconds,
        )


def _grades(option: str, text: str) -> dict[str, float]:
    grade_of: dict[str, float] = {}
    for part in text.split(","):
        name, _, number = part.partition("=")
        if name.strip() in grade_of:
            raise OptionError(
                f"{option} {text}: found {name.strip()!r} twice, expected each name once"
            )
        try:
            grade_of[name.strip()] = float(number)
        except ValueError:
            raise OptionError(
                f"{option} {text}: found {part!r}, expected NAME=GRADE, such as none=0,click=1"
            ) from None
    return grade_of
