"""Talk with the user: errors, warnings and hints on stderr, in the words of the command in use, and
help on stdout; and the colours of a terminal, which are decoration and never carry meaning.
"""

import os
import re
import signal
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, TextIO

import click

from idealrank.cli.process import SignalledError, to_void
from idealrank.errors import Advised, IdealrankError, IdealrankWarning

# An argument of Python that begins a message or an enumeration in it, such as ``level=``.
_ARGUMENT = re.compile(r"(?:(?<=^)|(?<=, )|(?<= and )|(?<= with ))([a-z_]+)=")
# A list after an option, which is typed without brackets and blanks.
_LIST = re.compile(r"(--[a-z][\w-]*) \[([^\]]*)\]")
_OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
# Options of other tools and commands, and what to type instead where a command has it: the first
# that it has, since some names have several meanings.
_INSTEAD = {
    "--alpha": ("--level (1 - alpha)",),
    "--assessors": ("--aggregate",),
    "--choices": ("--labels",),
    "--confidence": ("--level",),
    "--csv": ("--format csv",),
    "--details": ("--more",),
    "--difference": ("--effect",),
    "--from": ("--input-format",),
    "--json": ("--format json",),
    "--judge": ("--judge-qrels",),
    "--label": ("--rename",),
    "--limit": ("--show",),
    "--metric": ("--measure",),
    "--metrics": ("--measure",),
    "--order": ("--sort-by",),
    "--out": ("--output",),
    "--pairs": ("--every-pair",),
    "--queries": ("--show", "--query-ids"),
    "--strata": ("--sampling-rates",),
    "--top": ("--show",),
    "--verbose": ("--more",),
}


class Options(NamedTuple):
    """Options of a command."""

    names: frozenset[str]  # Every spelling, such as ``--measure``
    # The option of each argument of Python, such as ``--level`` for ``confidence``
    by_argument: dict[str, str]

    @classmethod
    def of(cls, command: click.Command) -> "Options":
        """Return the options that a command declares."""
        names: set[str] = set()
        by_argument: dict[str, str] = {}
        for parameter in command.params:
            spelled = [
                name
                for name in (*parameter.opts, *parameter.secondary_opts)
                if name.startswith("--")
            ]
            if isinstance(parameter, click.Option) and spelled:
                names.update(spelled)
                by_argument |= {name[2:].replace("-", "_"): name for name in spelled}
                by_argument[parameter.name or ""] = spelled[0]
        return cls(frozenset(names), by_argument)


def command_of(root: click.Group, typed: Sequence[str]) -> click.Command:
    """Return the command that was typed: the last word that names one, below its groups."""
    context = click.Context(root)
    command: click.Command = root
    for word in typed:
        below = command.get_command(context, word) if isinstance(command, click.Group) else None
        if below is None:
            break
        command = below
    return command


def worded(message: object, command: click.Command | None = None) -> str:
    """Return the text of a message for the command in use: an argument before the first colon
    becomes the option, and of the next steps only those remain whose options the command has.
    """
    kept = message.kept() if isinstance(message, IdealrankError) else message
    if command is None:
        context = click.get_current_context(silent=True)
        command = None if context is None else context.command
    if command is None:
        return kept.on_command_line() if isinstance(kept, Advised) else str(kept)

    options = Options.of(command)
    text, hint, command_hint = kept.parts if isinstance(kept, Advised) else (str(kept), "", "")
    place, colon, words = text.partition(": ")

    def as_option(match: re.Match[str]) -> str:
        option = options.by_argument.get(match[1])
        return match[0] if option is None else f"{option} "

    if colon:
        place = _ARGUMENT.sub(as_option, place)
        place = _LIST.sub(lambda match: f"{match[1]} {match[2].replace(', ', ',')}", place)
    # A step with a backtick always stays: its options are of the command that it quotes.
    steps = [
        step
        for step in (command_hint or hint).split("; ")
        if "`" in step or set(_OPTION.findall(step)) <= options.names
    ]
    return "; ".join([place + colon + words, *filter(None, steps)])


def unknown_option(error: click.NoSuchOption) -> str:
    """Return the message for an option that a command lacks, with the one that it may mean."""
    command = click.Command("") if error.ctx is None else error.ctx.command
    known = set(Options.of(command).names)
    for parameter in command.params:
        if "--format" in parameter.opts and isinstance(parameter.type, click.Choice):
            known.update(f"--format {name}" for name in parameter.type.choices)
    near = error.possibilities or []
    if texts := _INSTEAD.get(error.option_name):
        near = [text for text in texts if text.partition(" (")[0] in known]
    return f"no option {error.option_name}" + (f"; did you mean {near[0]}?" if near else "")


_NOTES: set[str] = set()  # lines that the command has said: judgments and a run may share a file


class Hue(NamedTuple):
    """A colour that can be read on black and on white: a contrast of at least 3:1 with both."""

    of_256: int  # Its number in xterm's cube of 256 colours, which is the same in every terminal
    # Its number where a terminal has 16 colours, each terminal its own: of those, only the bright
    # red and blue of xterm, the Linux console and Windows have this contrast
    of_16: int

    @property
    def number(self) -> int:
        """Number of the colour on this machine's terminal."""
        many = "256color" in os.environ.get("TERM", "") or os.environ.get("COLORTERM")
        return self.of_256 if many else self.of_16


_BRIGHT_RED = 9
_BRIGHT_BLUE = 12
RED = Hue(160, _BRIGHT_RED)
ORANGE = Hue(166, _BRIGHT_RED)
BLUE = Hue(33, _BRIGHT_BLUE)
HUES = {"error": RED, "warning": ORANGE, "hint": BLUE}


def say(kind: str, message: str) -> None:
    """Write one line on stderr that begins with its kind; control characters are spelled out, and a
    note is written once.
    """
    from idealrank.reports.table.text import harmless, printable  # noqa: PLC0415  (it costs every start 8 ms; most have nothing to say)

    label = f"{kind}:"
    message = printable(worded(message))
    if kind == "note" and message in _NOTES:
        return
    _NOTES.add(message)
    if on_github():  # a message may quote an id that GitHub would take for a command
        message = harmless(message)
    message, *more = _lines(message, before=len(label) + 1)
    if in_colour(sys.stderr):
        hue = HUES.get(kind)
        label = click.style(label, fg=None if hue is None else _ansi(hue), bold=True)
    _write("\n".join([f"{label} {message}", *more, ""]))


def _lines(message: str, before: int) -> list[str]:
    """Break a message between words on a terminal; elsewhere it is one line, for programs."""
    from textwrap import wrap  # noqa: PLC0415  (most starts have nothing to say)

    width = width_of(sys.stderr)
    if width is None or before + len(message) <= width:
        return [message]
    lines = wrap(
        message,
        width,
        initial_indent=" " * before,
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [lines[0][before:], *lines[1:]]


def _ansi(hue: Hue) -> int | str:
    """Return a colour as `click.style` takes it."""
    names = {_BRIGHT_RED: "bright_red", _BRIGHT_BLUE: "bright_blue"}
    return names.get(hue.number, hue.number)


def tell(text: str) -> None:
    """Write lines on stderr that have no kind."""
    from idealrank.reports.table.text import printable_lines  # noqa: PLC0415  (it costs every start 8 ms; most have nothing to say)

    _write(f"{printable_lines(text)}\n")


def show(text: str) -> None:
    """Write help to standard output."""
    click.echo(text)


def _write(text: str) -> None:
    """Write to stderr; a message that cannot be written is lost, and changes no exit code."""
    try:
        # Told here: click takes colours out of what no terminal reads, whatever FORCE_COLOR says.
        click.echo(text, err=True, nl=False, color=in_colour(sys.stderr))
    except OSError:
        to_void(sys.stderr)


def in_colour(stream: TextIO | None) -> bool:
    """Return whether text on a stream is coloured: on a terminal that is not dumb.

    A variable NO_COLOR that is not empty forbids colours (https://no-color.org). FORCE_COLOR asks
    for them anywhere (https://force-color.org); NO_COLOR wins over it.
    """
    if stream is None or os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def width_of(stream: TextIO | None) -> int | None:
    """Return the letters of a line of a terminal; None for another stream or an unknown size."""
    if stream is None or not stream.isatty():
        return None
    if (columns := os.environ.get("COLUMNS", "")).isdecimal() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(stream.fileno()).columns or None
    except OSError:
        return None


def on_github() -> bool:
    """Return whether this is a step of GitHub Actions, whose log executes commands."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def error(message: str, hint: str = "") -> None:
    """Write an error, and after a blank line the next step."""
    say("error", message)
    if hint:
        tell("")
        say("hint", hint)


def interrupted(stopped: BaseException | None = None) -> int:
    """Say that the work was stopped, by Ctrl-C or by a signal, and give the exit code for it."""
    terminated = isinstance(stopped, SignalledError)
    tell("terminated" if terminated else "interrupted")
    return 128 + (signal.SIGTERM if terminated else signal.SIGINT)


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Print each distinct warning of the library once, as a line; other warnings keep Python's
    form.
    """
    printed: set[str] = set()
    _NOTES.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("always", IdealrankWarning)

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,  # noqa: ARG001  (Python's own hook has it)
            line: str | None = None,
        ) -> None:
            if not issubclass(category, IdealrankWarning):
                tell(warnings.formatwarning(message, category, filename, lineno, line).rstrip("\n"))
            elif str(message) not in printed:
                printed.add(str(message))
                parts = message.args if isinstance(message, Warning) else ()
                say("warning", parts[0] if parts else str(message))

        warnings.showwarning = show
        yield


def hint_for(switch: str, convention: str) -> str:
    """Return how to set a switch on the command line; empty for none."""
    from idealrank.measures.measure_texts import split_outside_brackets  # noqa: PLC0415  (loads NumPy; needed only when something went wrong)

    if not switch or "=" in convention.partition(",")[0]:
        return ""
    name, _, value = switch.partition("=")
    if not convention:
        return f"--{name} {value}"
    others = [
        part
        for part in split_outside_brackets(convention)
        if part.partition("=")[0].strip().replace("-", "_") != name
    ]
    return f"--convention {','.join(others)},{switch}"


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the known word that is most like this one; empty without any."""
    from difflib import get_close_matches  # noqa: PLC0415  (only after a mistake)

    # The time grows with the length of the word, and words that are typed by hand are shorter.
    matches = get_close_matches(word[:200], list(known), n=1, cutoff=0.6)
    return matches[0] if matches else ""
