"""Options for texts of queries and documents, declared once for every command that shows them."""

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from idealrank.cli import options

if TYPE_CHECKING:
    from idealrank.inputs.text_sources import TextSources

_FORMATS = "lines ID<tab>TEXT, CSV, JSON, JSON lines or Parquet"


def queries_option(purpose: str, name: str = "queries") -> Callable[..., Any]:
    """Declare the file of query texts; `name` is the argument of the command."""
    return click.option(
        "--queries",
        name,
        metavar="FILE",
        cls=options.OnceOption,
        help=f"Texts of queries for {purpose}: {_FORMATS}.",
    )


def documents_option(purpose: str, name: str = "documents") -> Callable[..., Any]:
    """Declare the file of titles and texts of documents; `name` is the argument of the command."""
    return click.option(
        "--documents",
        name,
        metavar="FILE",
        cls=options.OnceOption,
        help=f"Titles and texts of documents for {purpose}: {_FORMATS}.",
    )


def shown_texts(purpose: str) -> Callable[..., Any]:
    """Give a command both options; it gets them as one argument, `texts`."""

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_texts(*, queries: str | None, documents: str | None, **others: Any) -> Any:
            return command(texts=sources(queries=queries, documents=documents), **others)

        described: Callable[..., Any] = documents_option(purpose)(with_texts)
        with_both: Callable[..., Any] = add_queries(described)
        return with_both

    add_queries = queries_option(purpose)
    return decorated


def sources(*, queries: str | None, documents: str | None) -> "TextSources":
    """Make the sources of the typed options, and refuse files that cannot be read."""
    from idealrank.inputs.text_sources import TextSources  # noqa: PLC0415  (readers; not for the help)

    texts = TextSources(queries=queries, documents=documents)
    texts.check()
    return texts
