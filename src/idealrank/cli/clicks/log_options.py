"""Options of commands that read a click log."""

from collections.abc import Callable
from typing import Any, TypeAlias

import click

from idealrank.cli import console
from idealrank.cli.progress import Watch
from idealrank.clicks import DBN, DCM, PBM, SDBN, UBM, Cascade, LogCheck, LogRows
from idealrank.io.click_logs import read_log
from idealrank.io.table_columns import parse_columns

Model: TypeAlias = "PBM | UBM | Cascade | DCM | SDBN | DBN"
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

MODELS = ("pbm", "ubm", "cascade", "dcm", "sdbn", "dbn")

columns: Decorator = click.option(
    "--columns", "columns_text", metavar="ROLE=NAME,...", default="",
    help="Columns by role: session=, query=, document=, rank=, click=, user=, propensity=, action=, dwell=.  "
    "[default: by their usual names]",
)  # fmt: skip
most_lists: Decorator = click.option(
    "--most-lists", metavar="N", type=click.IntRange(1), default=1000, show_default=True,
    help="Lists of one user beyond which it is taken for a program, and left out.",
)  # fmt: skip
redact: Decorator = click.option(
    "--redact", is_flag=True, help="Hash sessions, users and queries before anything is written; a hash of a guess still fits."
)
iterations: Decorator = click.option(
    "--iterations", metavar="N", type=click.IntRange(0), default=50, show_default=True, help="Steps of expectation maximisation."
)


def model_of(name: str, iterations: int) -> Model:
    """Return the click model of a name.

    Examples
    --------
    >>> model_of("pbm", 20)
    PBM(iterations=20, start=0.5)
    """
    models: dict[str, Model] = {
        "pbm": PBM(iterations), "ubm": UBM(iterations), "dbn": DBN(iterations), "cascade": Cascade(), "dcm": DCM(), "sdbn": SDBN(),
    }  # fmt: skip
    return models[name]


def log_rows(path: str, columns_text: str, watch: Watch, *, redact: bool = False) -> LogRows:
    """Read a log; with `redact`, hashes take the place of sessions, users and queries."""
    given = parse_columns(columns_text) if columns_text else None
    rows = watch.run("click log", lambda _: read_log(path, columns=given, tell=lambda message: console.say("note", message)))
    return rows.redacted() if redact else rows


def checked_log(path: str, columns_text: str, most: int, watch: Watch) -> LogCheck:
    """Read a log and check it; what was left out is said on stderr."""
    return checked_rows(path, log_rows(path, columns_text, watch), most)


def checked_rows(path: str, rows: LogRows, most: int) -> LogCheck:
    """Check the rows of a log; what was left out is said on stderr."""
    found = rows.check(most_lists=most)
    for problem in found.problems:
        console.say("warning", f"{path}: left out {problem.n_lists:,} of {found.n_lists:,} lists: {problem.text} ({problem.example})")
    return found
