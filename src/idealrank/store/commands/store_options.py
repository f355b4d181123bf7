"""The store that a command reads, as an option; what several of those commands share."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from idealrank.errors import OptionError

if TYPE_CHECKING:
    from idealrank.store import Store

VARIABLE = "IDEALRANK_STORE"

store: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--store",
    "store_path",
    metavar="DIR",
    envvar=VARIABLE,
    show_envvar=True,
    help="Folder of the store.",
)

different_judgments: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--different-judgments",
    "judgments",
    is_flag=True,
    callback=lambda _context, _option, is_set: "different" if is_set else "same",
    help="Compare evaluations with different judgments.",
)


@contextmanager
def opened(path: str | None) -> "Iterator[Store]":
    """The store of a folder, which must be there."""
    if not path:
        raise OptionError(
            f"found no store, expected --store DIR or the variable {VARIABLE}; `idealrank evaluate "
            "... --store DIR` creates one"
        )
    from idealrank.store import Store  # noqa: PLC0415  (loads SQLite; not for a command's help)

    with Store.open(path, create=False) as store:
        yield store


def is_plain() -> bool:
    """Return whether standard output lacks block and line characters."""
    return "utf" not in (sys.stdout.encoding or "").lower()
