"""Files that say something of each query, as options of a command: weights and clusters."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

from idealrank.app import console, options
from idealrank.errors import InputError
from idealrank.io.by_query import read_clusters, read_traffic


@dataclass(frozen=True)
class QueryFiles:
    """The files that were named.

    Attributes
    ----------
    weights_path, cluster_path : str or None
        Files of weights and of clusters.

    Examples
    --------
    >>> QueryFiles("traffic.csv").paths
    ['traffic.csv']
    """

    weights_path: str | None = None
    cluster_path: str | None = None

    @property
    def paths(self) -> list[str]:
        """Those that are read."""
        return [path for path in (self.weights_path, self.cluster_path) if path is not None]

    def read(self) -> "OfQueries":
        """What they say."""
        weights = None if self.weights_path is None else read_traffic(self.weights_path, zeros="refused", tell=_note)
        clusters = None if self.cluster_path is None else read_clusters(self.cluster_path, tell=_note)
        return OfQueries(self, weights, clusters)


@dataclass(frozen=True)
class OfQueries:
    """What the files say.

    Attributes
    ----------
    files : QueryFiles
        Where it stands.
    weights, clusters : dict or None
        Of each query; None without a file.

    Examples
    --------
    >>> OfQueries(QueryFiles("w.csv"), {"q1": 2.0}).check(["q1"])
    """

    files: QueryFiles
    weights: Mapping[str, float] | None = None
    clusters: Mapping[str, str] | None = None

    def check(self, queries: Iterable[str]) -> None:
        """Refuse a file that lacks a query that is compared.

        Raises
        ------
        InputError
            It does; by the name of the file.
        """
        wanted = list(queries)
        for path, words in ((self.files.weights_path, self.weights), (self.files.cluster_path, self.clusters)):
            missing = [] if words is None else [query for query in wanted if query not in words]
            if missing:
                some = f"{missing[0]!r} ({len(missing)} of {len(wanted)} queries)"
                raise InputError(f"{path}: found nothing for query {some}; expected a line for each query")


def query_files(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options; it gets the files as one argument, `files`."""

    @wraps(command)
    def with_files(*, weights_path: str | None, cluster_path: str | None, **others: Any) -> Any:
        files = QueryFiles(weights_path, cluster_path)
        options.refuse_to_replace(others.get("output_path"), files.paths)
        return command(files=files, **others)

    weights = click.option(
        "--weights", "weights_path", metavar="FILE", help="How much each query counts, as traffic does: lines QUERY WEIGHT."
    )
    clusters = click.option(
        "--cluster", "cluster_path", metavar="FILE", help="Which queries belong together, as those of one user: lines QUERY LABEL."
    )
    return weights(clusters(with_files))


def _note(message: str) -> None:
    console.say("note", message)
