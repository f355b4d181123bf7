"""Messages of the library in the words of the command in use: its options in place of arguments of
Python.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import click

from idealrank.errors import Advised, IdealrankError

_ARGUMENT = re.compile(r"(?:(?<=^)|(?<=, )|(?<= and )|(?<= with ))([a-z_]+)=")
_LIST = re.compile(r"(--[a-z][\w-]*) \[([^\]]*)\]")  # is typed without brackets and blanks
_OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")


class Options(NamedTuple):
    """Options of a command."""

    names: frozenset[str]  # Every spelling, such as ``--measure``
    # The option of each argument of Python, such as ``--level`` for ``confidence``
    by_argument: dict[str, str]

    @classmethod
    def of(cls, command: click.Command) -> "Options":
        """Options that a command declares."""
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
    """The command that was typed; the last one that exists."""
    context = click.Context(root)
    command: click.Command = root
    for word in typed:
        found = command.get_command(context, word) if isinstance(command, click.Group) else None
        if found is None:
            break
        command = found
    return command


def worded(message: object, command: click.Command | None = None) -> str:
    """Text of a message for the command in use.

    An argument before the first colon becomes the option; of the next steps, only those remain
    whose options the command has.
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
    if colon:
        place = _ARGUMENT.sub(
            lambda found: (
                f"{options.by_argument[found[1]]} " if found[1] in options.by_argument else found[0]
            ),
            place,
        )
        place = _LIST.sub(lambda found: f"{found[1]} {found[2].replace(', ', ',')}", place)
    steps = [
        step
        for step in (command_hint or hint).split("; ")
        if "`" in step or set(_OPTION.findall(step)) <= options.names
    ]
    return "; ".join([place + colon + words, *filter(None, steps)])
