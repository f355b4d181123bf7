"""`idealrank serve`: a store as a local web page."""

import click

from idealrank.cli import console, headings, options, text_options
from idealrank.errors import OptionError
from idealrank.store.commands import store_options

_EPILOG = """\
Examples:

\b
  Show the store `results` at http://127.0.0.1:8765/:
    idealrank serve --store results
\b
  With texts of queries and titles of documents:
    idealrank serve --store results --queries queries.tsv --documents documents.jsonl
\b
  Let other machines see it; each browser is asked for the token once:
    IDEALRANK_TOKEN=... idealrank serve --store results --host 0.0.0.0
\b
  Let Prometheus read the newest values:
    curl http://127.0.0.1:8765/metrics

The page reads the store and changes nothing; --create makes a missing one. Press Ctrl-C to end it.
"""


@headings.command(epilog=_EPILOG, short_help="Show a store as a local web page.")
@store_options.store
@click.option(
    "--create", is_flag=True, help="Make an empty store if the folder of --store has none."
)
@click.option(
    "--data",
    metavar="DIR",
    multiple=True,
    help="Folder with judgments and runs that were evaluated. Files with the stored SHA-256 give "
    "whole rankings.",
)
@click.option(
    "--slices",
    "slices_text",
    metavar="FILE",
    cls=options.OnceOption,
    help="Categories of queries: CSV, JSON lines or Parquet with columns query and category. "
    "traffic:FILE makes head, torso and tail from columns query and traffic.",
)
@text_options.queries_option("pages of queries")
@text_options.documents_option("pages of queries")
@options.listening(8765)
def serve(
    *,
    store_path: str | None,
    create: bool,
    data: tuple[str, ...],
    slices_text: str | None,
    queries: str | None,
    documents: str | None,
    host: str,
    port: int,
    token: str | None,
    names: tuple[str, ...],
) -> None:
    """Show runs, comparisons and gates of a store in a browser, with a measure over time.

    The page listens on this machine alone, and only reads. Without --store it is empty.
    """
    from idealrank.store.web.server import Serving, serve  # noqa: PLC0415  (not for the help)

    if create and not store_path:
        raise OptionError("--create: found no --store, expected the folder of the store to make")
    if token is not None and not token.strip():
        raise OptionError(
            f"token: found an empty one, expected text; set {options.TOKEN_VARIABLE} or leave it "
            "out"
        )
    for option, path in (("--queries", queries), ("--documents", documents)):
        if path == "-":
            raise OptionError(
                f"{option} -: found standard input, expected a file: pages read it again"
            )
    serving = Serving(
        store=store_path or None,
        create=create,
        host=host,
        port=port,
        token=(token or "").strip(),
        names=names,
        data=data,
        slices=slices_text,
        queries=queries,
        documents=documents,
    )

    def tell(address: str) -> None:
        console.tell(f"serving {store_path or 'no store'} at {address}  (Ctrl-C ends)")

    serve(serving, tell)
