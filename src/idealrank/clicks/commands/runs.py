"""`idealrank clicks runs`: DCG of runs that users never saw, from the clicks on lists of another
ranker.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import numpy as np

from idealrank.cli import console, headings, input_options, options
from idealrank.cli.output import Formats
from idealrank.cli.progress import Watch
from idealrank.clicks import (
    PBM,
    FittedPBM,
    LoggedDCG,
    Sessions,
    exposures,
    harvested_propensities,
    logged_dcg,
    logged_dcg_difference,
    trust_propensities,
)
from idealrank.clicks.commands import log_options
from idealrank.clicks.files.click_logs import PROPENSITIES, read_columns
from idealrank.data.run import Run
from idealrank.data.types import FloatArray
from idealrank.errors import InputError, OptionError, shown
from idealrank.io.formats.detection import sniff

_EPILOG = """\
Examples:

\b
  idealrank clicks runs log.csv old.run new.run
  idealrank clicks runs log.csv new.run --method trust
  idealrank clicks runs log.csv old.run new.run --propensities propensity.csv -k 10

The weight of a click is the discount of the document's rank in the run, divided by the probability
that users examined the document, over all lists of the query. DCG is then an unbiased estimate of
the clicks that the run would get. This holds if users examine ranks as the discount assumes, and if
the log could show every document. The output states the share of the discounts on documents that
were never shown; above 2 %, there is no verdict.

The verdict is by DCG. NDCG gives each list the same weight, and can therefore invert the order of
two rankers. The intervals count the errors of propensities that the method em fits, but no errors
of other methods or of files.
"""


def _views() -> ModuleType:
    from idealrank.clicks.views import policy_values  # noqa: PLC0415  (NumPy; not for the help)

    return policy_values


_FORMATS = Formats(
    "A table to read;",
    views=_views,
    table="dcg_parts",
    json="dcg_json",
    rows="dcg_rows",
)

_DEEPEST = 2**31 - 1  # ranks of a list
_MORE_RANKS = (
    "log swapped results or a second ranker, or state the propensities by --propensities FILE"
)


@headings.command(epilog=_EPILOG, short_help="Estimate the DCG of runs that users never saw.")
@click.argument("log", metavar="LOG")
@click.argument("paths", nargs=-1, metavar="RUN [RUN_B]", required=True)
@log_options.method
@click.option(
    "--propensities",
    "propensity_path",
    metavar="FILE",
    help="File of propensities, instead of --method; columns rank, propensity and, for trust bias, "
    "offset.",
)
@click.option(
    "-k",
    "--cutoff",
    metavar="K",
    type=click.IntRange(1),
    help="Number of top ranks that count.  [default: all]",
)
@log_options.iterations
@options.level
@log_options.log_input
@_FORMATS.option
@options.output
def runs(
    *,
    inputs: log_options.LogInput,
    paths: tuple[str, ...],
    method: str,
    propensity_path: str | None,
    cutoff: int | None,
    iterations: int,
    confidence: float,
    layout: str,
    output_path: str | None,
) -> None:
    """Estimate DCG and NDCG of one run, or compare two runs, from clicks on the lists of another
    ranker.
    """
    if len(paths) > 2:
        raise OptionError(f"found {len(paths)} runs, expected one, or RUN and RUN_B")
    options.refuse_to_replace(output_path, (*paths, propensity_path))
    _refuse_runs_as_log(inputs.paths)
    watch = Watch()
    names = input_options.run_names(paths)

    def read(name: str, path: str) -> Run:
        return watch.run(name, lambda _: input_options.Inputs().open_run(path, name, ""))

    opened_runs = [read(name, path) for name, path in zip(names, paths, strict=True)]
    sessions = inputs.check(watch).sessions
    propensity, offset, cautions = watch.run(
        "propensities", lambda _: _propensities(sessions, method, propensity_path, iterations)
    )
    rankings = [_ranking(run, sessions, cutoff) for run in opened_runs]
    shared: dict[str, Any] = {"offset": offset, "clusters": sessions.user, "confidence": confidence}

    values = [
        with_cautions(logged_dcg(sessions, ranking, propensity, **shared), cautions)
        for ranking in rankings
    ]
    difference = None
    if len(rankings) == 2:
        difference = logged_dcg_difference(sessions, rankings[0], rankings[1], propensity, **shared)
        difference = replace(difference, a=values[0], b=values[1])
    units = "users" if sessions.user is not None else "lists"
    by_name = dict(zip(names, values, strict=True))
    _FORMATS.write(layout, output_path, by_name, difference, units=units)


def _refuse_runs_as_log(logs: Sequence[str]) -> None:
    """Refuse a run in the place of the log, which comes first."""
    for path in logs:
        if Path(path).is_file():
            with Path(path).open("rb") as file:
                if sniff(file.read(1 << 16)) == ["trec"]:
                    raise OptionError(
                        f"{shown(path)}: found lines of a run, expected a click log; the log comes "
                        "first, then RUN [RUN_B]"
                    )


def _ranking(run: Run, sessions: Sessions, cutoff: int | None) -> dict[str, list[str]]:
    """Documents of each query of the log; none where the run does not answer it."""
    rankings: dict[str, list[str]] = {}
    lost = 0
    for query in sessions.queries:
        try:
            rankings[query] = list(run.ranking(query, depth=min(cutoff or 0, _DEEPEST)).documents)
        except KeyError:
            rankings[query] = []
            lost += 1
    if lost == len(rankings):
        query = next(iter(rankings), "")
        raise InputError(
            f"{run.name}: found none of the {lost:,} queries of the log, such as {query!r}; do "
            "both use the same ids?"
        )
    if lost:
        console.say(
            "warning",
            f"{run.name}: no list for {lost:,} of {len(rankings):,} queries of the log; their "
            "clicks count 0",
        )
    return rankings


def with_cautions(value: LoggedDCG, cautions: tuple[str, ...]) -> LoggedDCG:
    """Add cautions of the propensities to a value that rests on them."""
    return replace(value, cautions=(*cautions, *value.cautions))


def _propensities(
    sessions: Sessions, method: str, path: str | None, iterations: int
) -> tuple[FloatArray | FittedPBM, FloatArray | None, tuple[str, ...]]:
    """Exposures of what each list shows, or a model that gives them; offsets under trust bias; and
    cautions.
    """
    if path is None:
        _require_clicks(sessions)
    if path is None and method == "em":
        return _fitted_model(sessions, iterations), None, ()
    offset: FloatArray | None = None
    cautions: tuple[str, ...] = ()
    if path is not None:
        examined, offset = _file_propensities(path, sessions.n_ranks)
    elif method == "trust":
        trusted = trust_propensities(sessions, n_resamples=200)
        examined = trusted.slope
        offset = trusted.offset
        cautions = trusted.cautions
    else:
        examined = harvested_propensities(sessions, method=method, n_resamples=0).relative  # type: ignore[arg-type]
    _refuse_unknown(examined)
    exposure = exposures(sessions, examined)
    if offset is None:
        # Estimates of ranks that are examined alike may be above 1.
        exposure = np.minimum(exposure, 1.0)
    return exposure, offset, cautions


def _fitted_model(sessions: Sessions, iterations: int) -> FittedPBM:
    """A position-based model of the log, whose ranks can be compared."""
    fitted = PBM(iterations).fit(sessions)
    if fitted.n_components > 1:
        raise InputError(
            f"propensities: found {fitted.n_components} sets of ranks that share no document, "
            "expected ranks that can be compared",
            hint=_MORE_RANKS,
        )
    _refuse_unknown(fitted.relative_propensity)
    return fitted


def _require_clicks(sessions: Sessions) -> None:
    """Refuse a log without a click, or without a click at the first rank, to which estimated
    propensities are relative.
    """
    sessions.require_click()
    if not sessions.clicks[:, 0].any():
        raise InputError(
            f"clicks: found none at rank 1 in {len(sessions):,} lists, expected some: propensities "
            "are relative to rank 1",
            hint="check that ranks start at the top, and that the log has the clicks at rank 1, or "
            "state the propensities by --propensities FILE",
        )


def _refuse_unknown(examined: FloatArray) -> None:
    if np.isnan(examined).any():
        raise InputError(
            f"propensities: found none for rank {int(np.isnan(examined).argmax()) + 1}, expected "
            "one for each rank",
            hint=_MORE_RANKS,
        )


def _file_propensities(path: str, n_ranks: int) -> tuple[FloatArray, FloatArray | None]:
    columns = read_columns(path, PROPENSITIES, tell=partial(console.say, "note"))
    ranks = columns["rank"]
    if not np.isin(np.arange(1, n_ranks + 1), ranks).all():
        raise InputError(
            f"{path}: found ranks {', '.join(f'{rank:g}' for rank in ranks)}, expected all from 1 "
            f"to {n_ranks}, as in the log"
        )
    order = [int(np.flatnonzero(ranks == rank)[0]) for rank in range(1, n_ranks + 1)]
    offset = columns.get("offset")
    return columns["propensity"][order], None if offset is None else offset[order]
