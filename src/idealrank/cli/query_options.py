"""Files that say something of each query, as options of a command: weights, clusters and slices."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from idealrank.cli import options

# For a command of `query_files` that shows slices, too.
slices: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--slices",
    "slices_text",
    metavar="FILE",
    cls=options.OnceOption,
    help="Also compare on each category of queries: CSV, JSON lines or Parquet with columns query "
    "and category. "
    "traffic:FILE makes head, torso and tail from columns query and traffic.",
)


def query_paths(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options; it gets the paths as `weights_path` and `cluster_path`."""
    weights = click.option(
        "--weights",
        "weights_path",
        metavar="FILE",
        cls=options.OnceOption,
        help="Weights of queries, such as traffic: columns query and weight, or lines QUERY "
        "WEIGHT.",
    )
    clusters = click.option(
        "--cluster",
        "cluster_path",
        metavar="FILE",
        cls=options.OnceOption,
        help="Clusters of queries, such as the queries of one user: columns query and cluster, or "
        "lines QUERY LABEL.",
    )
    return weights(clusters(command))


def query_files(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options; it gets the files as one argument, `files`."""

    @wraps(command)
    def with_files(
        *,
        weights_path: str | None,
        cluster_path: str | None,
        slices_text: str | None = None,
        **others: Any,
    ) -> Any:
        from idealrank.io.query_files import QueryFiles  # noqa: PLC0415  (SciPy; `evaluate` needs it for those who ask)

        files = QueryFiles(weights_path, cluster_path, slices_text)
        options.refuse_to_replace(others.get("output_path"), files.paths)
        return command(files=files, **others)

    return query_paths(with_files)
