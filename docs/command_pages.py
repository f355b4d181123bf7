"""Pages of the commands in docs/reference/commands: the help text of each, as it is printed.

`docs/reference_tables.py` writes them; `docs/refresh.py` would write the same.
"""

from collections.abc import Iterator
from pathlib import Path

import click

from idealrank.cli.main import COMMANDS, cli
from tests import in_process

FOLDER = Path(__file__).resolve().parent / "reference" / "commands"


def help_pages() -> Iterator[tuple[Path, str]]:
    """Each page with its text of today."""
    for name, purpose in COMMANDS.items():
        command = cli.get_command(click.Context(cli), name)
        parts = [f"# idealrank {name}", "", purpose, "", *_printed(f"idealrank {name}")]
        if isinstance(command, click.Group):
            for below in command.list_commands(click.Context(command)):
                parts += [f"## {name} {below}", "", *_printed(f"idealrank {name} {below}")]
        yield FOLDER / f"{name}.md", "\n".join(parts).rstrip("\n") + "\n"


def _printed(command: str) -> list[str]:
    """A block of a shell with the help text."""
    status, text = in_process.shell(f"{command} --help", 0)
    if status:
        raise SystemExit(f"{command} --help: ended with {status}")
    lines = [line.rstrip() for line in text.rstrip("\n").split("\n")]
    return ["```console", f"$ {command} --help", *lines, "```", ""]
