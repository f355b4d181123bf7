"""Groups of commands whose modules are imported only when a command is used.
A command defined in the group's own module is used as it is; others are imported from `modules` or
`home`. Only those in `lines` are known.
"""

import gc
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from idealrank.cli import console
from idealrank.cli.headings import HeadedCommand

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# Thresholds of Python's garbage collector, higher than usual: commands make few objects and large
# arrays, and loading SciPy makes no garbage.
_GC_THRESHOLDS = (10_000, 20, 20)


class LazyGroup(click.Group):
    """A group that knows its commands by name and line of help alone."""

    command_class = HeadedCommand

    def __init__(
        self,
        *arguments: Any,
        lines: Mapping[str, str],
        home: str,
        groups: Mapping[str, Mapping[str, str]] | None = None,
        modules: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*arguments, **options)
        self._lines = lines
        self._groups = groups or {"Commands": lines}
        self._home = home
        self._modules = modules or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._lines)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._lines:
            return None
        command = self.commands.get(cmd_name) or self._imported(cmd_name)
        # `cli.main` turned the collector off while modules load; from here on the command runs.
        if not gc.isenabled():
            gc.freeze()
            gc.set_threshold(*_GC_THRESHOLDS)
            gc.enable()
        return command

    def _imported(self, cmd_name: str) -> click.Command:
        name = cmd_name.replace("-", "_")
        home = self._modules.get(cmd_name, f"{self._home}.{name}")
        command = getattr(import_module(home), name)
        if not isinstance(command, click.Command):
            raise TypeError(f"{cmd_name}: found {type(command).__name__}, expected a click command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, self._lines))  # every list starts its lines in the same column
        for heading, lines in self._groups.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), line) for name, line in lines.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Complete names without loading the modules of the commands, as click would."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415  (only for a shell)

        named = [
            CompletionItem(name, help=line)
            for name, line in self._lines.items()
            if name.startswith(incomplete)
        ]
        return [*named, *click.Command.shell_complete(self, ctx, incomplete)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0] if args and not ctx.resilient_parsing else ""
        if name and not name.startswith("-") and name not in self._lines:
            near = self._elsewhere(ctx, name) or console.nearest(name, self._lines)
            hint = f"; did you mean {near}?" if near else ""
            ctx.fail(f"unknown command {name!r}, expected one of {', '.join(self._lines)}{hint}")
        return super().resolve_command(ctx, args)

    def _elsewhere(self, ctx: click.Context, name: str) -> str:
        """Return the command of this name in another group, with the words before it."""
        for word in self._lines:
            command = self.get_command(ctx, word)
            if isinstance(command, LazyGroup) and name in command._lines:
                return f"{word} {name}"
        return ""


class CommandGroup(LazyGroup):
    """A command with commands of its own, as in `idealrank search CONFIG` and `idealrank search
    recall`: the first word decides.
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        lines: Mapping[str, str],
        home: str,
        callback: Callable[..., Any] | None = None,
        modules: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(name, lines=lines, home=home, modules=modules, **options)
        self.own_command = _Alone(name, group=self, callback=callback, **options)

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        # A shell completes the first word: the name of a command, or what the command itself takes.
        is_completed = bool(extra.get("resilient_parsing")) and not args
        if is_completed or (args and args[0] in self._lines):
            return super().make_context(info_name, args, parent, **extra)
        return self.own_command.make_context(info_name, args, parent, **extra)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Only the help: before the name of a command, no option of the command itself."""
        help_option = self.get_help_option(ctx)
        return [] if help_option is None else [help_option]

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.own_command.format_help(ctx, formatter)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        commands = super().shell_complete(ctx, incomplete)
        words = self.own_command.shell_complete(ctx, incomplete)
        if not incomplete.startswith("-"):
            parameters = self.own_command.params
            argument = next(item for item in parameters if isinstance(item, click.Argument))
            words += argument.shell_complete(ctx, incomplete)
        if commands and not words:
            words = _files_here(incomplete)
        names = {item.value for item in commands}
        return [*commands, *(item for item in words if item.value not in names)]


def _files_here(incomplete: str) -> "list[CompletionItem]":
    """Files of this folder, as words: bash completes no file where a command's name is a match."""
    from pathlib import Path  # noqa: PLC0415  (only for a shell)

    from click.shell_completion import CompletionItem  # noqa: PLC0415  (as above)

    names = sorted(path.name for path in Path().iterdir())
    return [
        CompletionItem(name)
        for name in names
        if name.startswith(incomplete) and not name.startswith(".")
    ]


class _Alone(HeadedCommand):
    """The command that runs if the first word names none of its group's commands."""

    def __init__(self, *arguments: Any, group: CommandGroup, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._group = group

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(ctx, formatter)
        self._group.format_commands(ctx, formatter)
