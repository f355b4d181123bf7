"""Completion in a shell, by click's own variable."""

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
    shell_complete,
)

_VARIABLE = "_IDEALRANK_COMPLETE"


def answer(root: click.Group, instruction: str) -> int:
    """Answer a shell that set the variable, and return the exit code."""
    for shell in (BashComplete, ZshComplete, FishComplete):
        add_completion_class(type(shell.__name__, (_WithFiles, shell), {}))
    return shell_complete(root, {}, "idealrank", _VARIABLE, instruction)


class _WithFiles(ShellComplete):
    """Files where no name completes the word, as without completion."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        items = super().get_completions(args, incomplete)
        return items or [CompletionItem(incomplete, type="file")]
