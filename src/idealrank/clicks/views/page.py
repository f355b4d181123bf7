"""Page of a click log: the stop signs first, then what is behind them. It has no script: plots are
drawn when it is written.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from idealrank.clicks import LogCheck, PolicyDifference, PolicyValue, Propensities
from idealrank.clicks.views import figures
from idealrank.clicks.views.log_checks import log_parts
from idealrank.clicks.views.policy_values import estimate_parts
from idealrank.clicks.views.propensity_tables import propensity_parts
from idealrank.data.types import FloatArray
from idealrank.pages.figures.drawings import svg
from idealrank.pages.figures.theme import Row, Spec, dressed
from idealrank.pages.page.html import styles, template_of
from idealrank.reports.subject import Made
from idealrank.reports.table.cells import Column, Table, number_cell
from idealrank.reports.table.text import Part
from idealrank.version import __version__

RATES = "click rate of the rank"
"""Name of what a click model has to beat: each rank has its rate of clicks, whatever stands
there.
"""

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action "
    "'none'"
)
# Drawings take their colours from the page, which has light and dark ones.
_NAMES = ("ink", "quiet", "axis", "line", "paper", "accent", "worse", "run", "other", "wash")
_COLOURS: Mapping[str, str] = {name: f"var(--plot-{name})" for name in _NAMES}
_LARGE_BIAS = 1.5  # clicks at the first rank for one at the last, beyond which a page warns
_MODELS: Sequence[Column[tuple[str, float]]] = (
    Column(title="model", cell=lambda one: one[0]),
    Column(title="perplexity", kind="number", cell=lambda one: number_cell(one[1], 4)),
)
_FEW = 0.02  # share of lists left out, beyond which a page warns


@dataclass(frozen=True, kw_only=True, eq=False)
class RewardEstimates:
    """Values of policies from logged rewards."""

    values: Mapping[str, Sequence[PolicyValue]]  # Estimates of each policy, A first
    weights: Mapping[str, FloatArray]  # shape (n,): weight of each row, by policy
    logged_mean: float  # Mean reward of the log
    differences: Sequence[PolicyDifference] = ()  # B less A; empty with one policy
    # shape (n,): probability of each row in the log; without it there is no plot of the overlap
    logged: FloatArray | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class ClickLogPage:
    """Content of a page of a click log."""

    check: LogCheck  # The log
    propensities: Propensities  # By rank
    # shape (ranks,): on held-out lists, by model; `RATES` is among them
    perplexity: Mapping[str, FloatArray]
    estimates: RewardEstimates | None = None  # None without a file of rewards
    made: Made = field(default_factory=Made)  # Where the page comes from

    def stops(self) -> list[str]:
        """Reasons for which the log cannot carry a conclusion; empty where none was found."""
        found = []
        sets = self.propensities.n_components
        if sets > 1:
            found.append(
                f"Propensities cannot be compared: the ranks fall into {sets} sets that share "
                f"no document. Swap results at random, or log "
                "rankers that order the same documents differently."
            )
        found += [
            f"No verdict on propensities: {caution}." for caution in self.propensities.cautions
        ]
        rates = _mean(self.perplexity[RATES])
        best = min(
            (_mean(values) for name, values in self.perplexity.items() if name != RATES),
            default=rates,
        )
        if best >= rates:
            found.append(
                f"No click model predicts held-out clicks better (perplexity {best:.4g}) than "
                f"the click rate of each rank ({rates:.4g}): "
                "the log says too little about single documents to grade them."
            )
        for policy, values in ({} if self.estimates is None else self.estimates.values).items():
            found += [
                f"No verdict on {policy}: {caution}."
                for caution in dict.fromkeys(one for two in values for one in two.cautions)
            ]
        return found

    def cautions(self) -> list[str]:
        """Cautions about the log; empty where there is none."""
        found: list[str] = []
        bias = self.propensities.position_bias
        left_out = self.check.n_lists - self.check.n_kept
        if bias > _LARGE_BIAS:
            found.append(
                f"Raw clicks are no grades: the same documents are clicked {bias:.3g} times "
                f"as often at the first rank as at the last."
            )
        if left_out > _FEW * self.check.n_lists:
            found.append(
                f"{left_out:,} of {self.check.n_lists:,} lists were left out "
                f"({left_out / self.check.n_lists:.1%}); see below why."
            )
        return found


def click_page_html(page: ClickLogPage) -> str:
    """One HTML file that opens offline, and reads the same with scripts and without."""
    stops = page.stops()
    found, log = page.propensities, log_parts(page.check)
    log_titles = [*(["Lists left out"] if page.check.problems else []), "Clicks by rank"]
    text: str = template_of("clicks.html", "idealrank.clicks.views").render(
        policy=_POLICY,
        styles=styles(),
        version=__version__,
        made=page.made,
        stops=stops,
        cautions=page.cautions(),
        title=_headline(stops),
        summary=_summary(page),
        estimates=page.estimates is not None,
        overlap=page.estimates is not None and page.estimates.logged is not None,
        sections=list(_sections(page)),
        lacking="This page has no estimates: --rewards FILE adds them, from rewards and "
        "probabilities "
        "of decisions.",
        log_said=f"{_said(log)}.",
        log_tables=_tables(log, *log_titles),
        method=_method(found, page.estimates),
    )
    return text.lstrip()


def _headline(stops: Sequence[str]) -> str:
    if not stops:
        return "No stop sign in this log"
    return f"Stop: {len(stops)} reason{'s' * (len(stops) > 1)} not to conclude from this log"


def _summary(page: ClickLogPage) -> str:
    said = [_last_propensity(page.propensities)]
    for policy, values in ({} if page.estimates is None else page.estimates.values).items():
        one = values[0]
        said.append(
            f"Policy {policy} has the value {one.value:.4g} by {one.estimator}, from "
            f"{one.n:,} rows worth "
            f"{one.effective_sample_size:,.0f} of equal weight."
        )
    return " ".join(said)


def _last_propensity(found: Propensities) -> str:
    last, (low, high) = float(found.relative[-1]), found.intervals[-1]
    lists = f"{found.n_sessions:,} lists of {found.n_queries:,} queries"
    if np.isnan(last):
        return f"The log gives no propensity of the last of {found.relative.size} ranks ({lists})."
    interval = "no interval" if np.isnan(low) else f"95 % interval {low:.2f} to {high:.2f}"
    return (
        f"The last of {found.relative.size} ranks is examined {last:.2f} times as often as the "
        f"first ({interval}; {lists})."
    )


def _sections(page: ClickLogPage) -> Iterator[dict[str, Any]]:
    found = page.propensities
    yield {
        "name": "propensity",
        "heading": "Propensity",
        "sentence": "How often each rank is examined, relative to the first; the band is its "
        "interval.",
        "drawing": _drawing(figures.propensity_template(), figures.propensity_rows(found)),
        "tables": _tables(
            propensity_parts(found),
            "Propensity by rank, and perplexity of the position-based model",
        ),
    }
    yield {
        "name": "perplexity",
        "heading": "Perplexity",
        "sentence": f"On lists that no model has seen: 1 is certainty, 2 a coin. A useful model "
        f"lies "
        f"below the {RATES}.",
        "drawing": _drawing(
            figures.perplexity_template(list(page.perplexity)),
            figures.perplexity_rows(page.perplexity),
        ),
        "tables": [
            Table.of(
                _MODELS,
                [(name, _mean(values)) for name, values in page.perplexity.items()],
                title="Mean over the ranks",
            )
        ],
    }
    given = page.estimates
    if given is None:
        return
    if given.logged is not None:
        said = _overlap_said(given)
        yield {
            "name": "overlap",
            "heading": "Overlap",
            "sentence": f"Where the log has its rows, and where the policies have their weight, "
            f"by the "
            f"logged probability. {said}",
            "drawing": _drawing(
                figures.overlap_template(list(given.weights)),
                figures.overlap_rows(given.logged, given.weights),
                said,
            ),
            "tables": [],
        }
    weights = _weights_said(given)
    yield {
        "name": "weights",
        "heading": "Weights",
        "sentence": weights,
        "drawing": _drawing(
            figures.weights_template(list(given.weights)),
            figures.weight_rows(given.weights),
            weights,
        ),
        "tables": [],
    }
    every = [one for values in given.values.values() for one in values]
    rows = figures.estimate_rows(given.values)
    said = (
        "; ".join(f"{row['label']} {row['value']} [{row['low']}, {row['high']}]" for row in rows)
        + "."
    )
    confidence = every[0].confidence
    tables = [
        table
        for policy, values in given.values.items()
        for table in _tables(estimate_parts(values), f"Estimates of {policy}")
    ]
    if given.differences:
        tables += _tables(estimate_parts(every[:1], given.differences), "", "B less A")[1:]
    yield {
        "name": "estimates",
        "heading": "Estimates",
        "sentence": "Worth: rows of equal weight that would carry as much (effective sample size).",
        "drawing": _drawing(figures.estimates_template(confidence, given.logged_mean), rows, said),
        "tables": tables,
    }


def _drawing(template: Spec, rows: list[Row], said: str = "") -> dict[str, str] | None:
    """A drawing, and its description, which the page gives to readers instead; None without
    anything to draw.
    """
    spec = dressed(template, rows, {"said": said}, _COLOURS)
    return {"said": str(spec.pop("description")).strip(), "svg": svg(spec)} if rows else None


def _overlap_said(given: RewardEstimates) -> str:
    """Share of the rows that have half of the weight: the smaller, the thinner the overlap."""
    said = []
    for policy, weights in given.weights.items():
        ordered = np.cumsum(np.sort(weights)[::-1])
        half = (
            (int(np.searchsorted(ordered, ordered[-1] / 2)) + 1) / weights.size
            if ordered[-1] > 0
            else 0.0
        )
        said.append(f"{policy}: half of the weight stands on {half:.1%} of the rows")
    return f"{'; '.join(said)}."


def _weights_said(given: RewardEstimates) -> str:
    said = []
    for policy, weights in given.weights.items():
        (middle, high), unused = np.quantile(weights, [0.5, 0.99]), float((weights == 0).mean())
        drawn = f"; {unused:.1%} of the rows have weight 0, and are not drawn" if unused else ""
        said.append(
            f"{policy}: median {middle:.3g}, 99 of 100 rows up to {high:.3g}, largest "
            f"{weights.max():.3g}{drawn}"
        )
    return ". ".join(said) + "."


def _tables(parts: Sequence[Part], *titles: str) -> list[Table]:
    tables = [part for part in parts if isinstance(part, Table)]
    return [replace(table, title=title) for table, title in zip(tables, titles, strict=True)]


def _said(parts: Sequence[Part]) -> str:
    return " ".join(line for part in parts if isinstance(part, list) for line in part)


def _mean(values: FloatArray) -> float:
    return float(np.nanmean(values))


def _method(found: Propensities, given: RewardEstimates | None) -> list[str]:
    said = [
        "propensity: position-based model, maximum likelihood; intervals by bootstrap over queries",
        f"perplexity: models fitted to a part of the {found.n_sessions:,} lists, and asked "
        f"about the rest",
    ]
    if given is not None:
        said += [
            "weights: probability of the target policy divided by that of the logging policy",
            "estimates: inverse propensity scoring (ips), self-normalised (snips), with "
            "weights cut (clipped), "
            "with a model of the rewards (dr), and with the model alone at large weights (switch)",
            "effective sample size: squared sum of the weights, divided by the sum of their "
            "squares (Kish)",
        ]
    return said
