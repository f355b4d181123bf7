"""Options of commands that read a click log."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Any, get_args

import click

from idealrank.cli import console, options
from idealrank.cli.progress import Watch
from idealrank.clicks import (
    DBN,
    DCM,
    PBM,
    SDBN,
    UBM,
    Cascade,
    LogCheck,
    LogRows,
)
from idealrank.clicks.arguments import Looks
from idealrank.clicks.files.click_logs import SHOWN, log_columns, read_log
from idealrank.clicks.files.ubi_logs import read_ubi
from idealrank.clicks.partitioned_fits import ClickModel
from idealrank.errors import InputError, OptionError

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

MODELS: Mapping[str, type[ClickModel]] = {
    "pbm": PBM,
    "ubm": UBM,
    "cascade": Cascade,
    "dcm": DCM,
    "sdbn": SDBN,
    "dbn": DBN,
}
"""Click models by name."""
_LEAST_KEY, _LONGEST_KEY = 16, 64  # bytes: fewer could be guessed, and BLAKE2b takes no more

_LOG: tuple[Decorator, ...] = (
    click.option(
        "--columns",
        "columns_text",
        metavar="ROLE=NAME,...",
        cls=options.OnceOption,
        default="",
        help="Columns by role: session=, query=, document=, rank=, click=, user=, propensity=, "
        "action=, dwell=, time=.  [default: by their usual names]",
    ),
    click.option(
        "--events",
        "events_path",
        metavar="FILE",
        help="Events of User Behavior Insights (UBI, OpenSearch). LOG holds the UBI queries.",
    ),
    click.option(
        "--click-actions",
        metavar="NAME,...",
        default="click",
        show_default=True,
        help="Actions that count as clicks; for --events.",
    ),
    click.option(
        "--most-lists",
        metavar="N",
        type=click.IntRange(1),
        default=1000,
        show_default=True,
        help="Most lists of one user; a user with more is taken for a program and omitted.",
    ),
)
_REDACT: tuple[Decorator, ...] = (
    click.option(
        "--redact",
        is_flag=True,
        help="Hash sessions, users and queries before anything is written. Without --redact-key, a "
        "guessed value can be confirmed by its hash.",
    ),
    click.option(
        "--redact-key",
        "key_path",
        metavar="FILE",
        help="File with a secret key of 16 to 64 bytes; hashes then use the key.",
    ),
)
iterations: Decorator = click.option(
    "--iterations",
    metavar="N",
    type=click.IntRange(0),
    default=500,
    show_default=True,
    help="Largest number of steps of the fit; a warning says if it has not converged.",
)
looks: Decorator = click.option(
    "--looks",
    type=click.Choice(get_args(Looks)),
    default="any",
    show_default=True,
    help="Looks for which the verdict holds: any number of them, or one, at the planned size.",
)
METHODS = ("em", "all-pairs", "pivot", "trust")
method: Decorator = click.option(
    "--method",
    type=click.Choice(METHODS),
    default="em",
    show_default=True,
    help="Method that estimates propensities: the position-based model (em), documents of several "
    "rankers (all-pairs, pivot), or the model with trust bias (trust).",
)


@dataclass(frozen=True, kw_only=True)
class LogInput:
    """A click log and how it is read."""

    path: str  # The log; with `events_path`, the queries of UBI
    columns_text: str = ""  # Names of columns by role; empty to find them by their usual names
    events_path: str | None = None  # Events of UBI
    click_actions: str = "click"  # Actions of UBI that are clicks
    most_lists: int = 1000  # Lists of one user beyond which it is a program
    redaction: bytes | None = None  # Key of the hashes, empty for none; None to hash nothing

    @property
    def paths(self) -> tuple[str, ...]:
        """Files that are read."""
        return (self.path,) if self.events_path is None else (self.path, self.events_path)

    @property
    def redacted(self) -> str:
        """Hashing of ids, in a few words."""
        if self.redaction is None:
            return "no"
        return "hashed with a key" if self.redaction else "hashed without a key"

    def rows(self, watch: Watch) -> LogRows:
        """Read the log; hashes take the place of sessions, users and queries where it is asked
        for.
        """
        if self.events_path is not None and self.columns_text:
            raise OptionError(
                "--events and --columns: expected one of them, not both; UBI has fields of its own"
            )
        log_rows = watch.run("click log", lambda _: self._read())
        return log_rows if self.redaction is None else log_rows.redacted(self.redaction)

    def _read(self) -> LogRows:
        if self.events_path is not None:
            action_names = [name.strip() for name in self.click_actions.split(",")]
            return read_ubi(self.path, self.events_path, clicks=action_names, tell=_note)
        return read_log(self.path, columns=log_columns(self.columns_text, SHOWN), tell=_note)

    def check(self, watch: Watch) -> LogCheck:
        """Read the log and check it; what was left out is said on stderr."""
        return self.checked(self.rows(watch))

    def checked(self, rows: LogRows) -> LogCheck:
        """Check rows of the log; what was left out is said on stderr."""
        check = rows.check(most_lists=self.most_lists)
        for problem in check.problems:
            message = (
                f"left out {problem.n_lists:,} of {check.n_lists:,} lists: {problem.text} "
                f"({problem.example})"
            )
            console.say("warning", f"{self.path}: {message}")
        return check


def log_input(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a log; the command gets them as `inputs`."""

    @wraps(command)
    def with_input(
        *args: Any,
        log: str,
        columns_text: str,
        events_path: str | None,
        click_actions: str,
        most_lists: int,
        redact: bool = False,
        key_path: str | None = None,
        **others: Any,
    ) -> Any:
        redaction = b"" if redact else None
        if key_path is not None:
            redaction = _key(key_path)
        inputs = LogInput(
            path=log,
            columns_text=columns_text,
            events_path=events_path,
            click_actions=click_actions,
            most_lists=most_lists,
            redaction=redaction,
        )
        options.refuse_to_replace(others.get("output_path"), (*inputs.paths, key_path))
        return command(*args, inputs=inputs, **others)

    decorated: Callable[..., Any] = with_input
    for decorate in reversed(_LOG):
        decorated = decorate(decorated)
    return decorated


def redact(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of redaction, which stand above the options of a log."""
    for decorate in reversed(_REDACT):
        command = decorate(command)
    return command


def _key(path: str) -> bytes:
    try:
        key = Path(path).read_bytes().strip()
    except OSError as error:
        raise InputError(
            f"--redact-key {path}: found no readable file ({error.strerror}), expected a secret"
        ) from None
    if not _LEAST_KEY <= len(key) <= _LONGEST_KEY:
        raise InputError(
            f"--redact-key {path}: found {len(key)} bytes, expected a secret of {_LEAST_KEY} to "
            f"{_LONGEST_KEY}"
        )
    return key


def _note(message: str) -> None:
    console.say("note", message)


def takes_steps(name: str) -> bool:
    """Return whether the click model of a name is fitted in steps."""
    return any(field.name == "iterations" for field in fields(MODELS[name]))


def model_of(name: str, iterations: int) -> ClickModel:
    """Return the click model of a name."""
    settings: dict[str, Any] = {"iterations": iterations} if takes_steps(name) else {}
    return MODELS[name](**settings)


@contextmanager
def rows_of(path: str) -> Iterator[None]:
    """Name the file in errors about its rows that come after it was read."""
    try:
        yield
    except InputError as error:
        text, hint, command_hint = error.kept().parts
        raise InputError(f"{path}: {text}", hint=hint, command_hint=command_hint) from None
