"""Files that say something of each query, as options of a command: weights, clusters and slices."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

from idealrank.analysis.comparison import traffic_thirds
from idealrank.analysis.comparison.slice_tests import Categories
from idealrank.app import console, options
from idealrank.errors import InputError
from idealrank.io.query_files import read_categories, read_clusters, read_traffic

_TRAFFIC = "traffic:"


@dataclass(frozen=True)
class QueryFiles:
    """The files that were named.

    Attributes
    ----------
    weights_path, cluster_path : str or None
        Files of weights and of clusters.
    slices_text : str or None
        A file of categories; or ``traffic:`` and a file of traffic, for head, torso and tail.

    Examples
    --------
    >>> QueryFiles("traffic.csv", slices_text="traffic:traffic.csv").paths
    ['traffic.csv', 'traffic.csv']
    """

    weights_path: str | None = None
    cluster_path: str | None = None
    slices_text: str | None = None

    @property
    def paths(self) -> list[str]:
        """Those that are read."""
        slices = None if self.slices_text is None else self.slices_text.removeprefix(_TRAFFIC)
        return [path for path in (self.weights_path, self.cluster_path, slices) if path is not None]

    def read(self) -> "OfQueries":
        """What they say."""
        weights = None if self.weights_path is None else read_traffic(self.weights_path, zeros="refused", tell=_note)
        clusters = None if self.cluster_path is None else read_clusters(self.cluster_path, tell=_note)
        return OfQueries(self, weights, clusters, self._categories())

    def _categories(self) -> Categories | None:
        if self.slices_text is None:
            return None
        path = self.slices_text.removeprefix(_TRAFFIC)
        if path == self.slices_text:
            return read_categories(path, tell=_note)
        return traffic_thirds(read_traffic(path, tell=_note))


@dataclass(frozen=True)
class OfQueries:
    """What the files say.

    Attributes
    ----------
    files : QueryFiles
        Where it stands.
    weights, clusters, categories : dict or None
        Of each query; None without a file.

    Examples
    --------
    >>> OfQueries(QueryFiles("w.csv"), {"q1": 2.0}).check(["q1"])
    """

    files: QueryFiles
    weights: Mapping[str, float] | None = None
    clusters: Mapping[str, str] | None = None
    categories: Categories | None = None

    def check(self, queries: Iterable[str]) -> None:
        """Refuse a file that lacks a query that is compared, and slices of none of them.

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
        if self.categories is not None and not any(query in self.categories for query in wanted):
            some = ", ".join(map(repr, list(self.categories)[:3]))
            raise InputError(f"{self.files.slices_text}: found queries {some}, expected some of those compared, as {wanted[0]!r}")


# For a command of `query_files` that shows slices, too.
slices: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--slices", "slices_text", metavar="FILE",
    help="Every difference on each category of queries, too: CSV with columns query and category. traffic:FILE makes head, torso and "
    "tail of columns query and traffic.",
)  # fmt: skip


def query_files(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options; it gets the files as one argument, `files`."""

    @wraps(command)
    def with_files(*, weights_path: str | None, cluster_path: str | None, slices_text: str | None = None, **others: Any) -> Any:
        files = QueryFiles(weights_path, cluster_path, slices_text)
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
