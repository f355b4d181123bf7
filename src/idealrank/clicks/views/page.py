"""Page of a click log: the stop signs first, then what is behind them. It has no script: plots are
drawn when it is written.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from idealrank.clicks import LogCheck, PolicyDifference, PolicyValue, Propensities
from idealrank.clicks.views import figures
from idealrank.clicks.views.log_checks import log_parts
from idealrank.clicks.views.policy_values import distinct_cautions, estimate_parts
from idealrank.clicks.views.propensity_tables import propensity_parts
from idealrank.data.types import FloatArray
from idealrank.pages.figures.drawings import svg
from idealrank.pages.figures.theme import Row, Spec, dressed
from idealrank.pages.page.html import styles, template_of
from idealrank.reports.subject import Made
from idealrank.reports.table.cells import Column, Table, counted, number_cell
from idealrank.reports.table.text import Part
from idealrank.version import __version__

RATES = "click rate of the rank"
"""Name of what a click model has to beat: each rank has its rate of clicks, whatever stands
there.
"""

_SECURITY_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action "
    "'none'"
)
# Drawings take their colours from the page, which has light and dark ones.
_NAMES = ("ink", "quiet", "axis", "line", "paper", "accent", "worse", "run", "other", "wash")
_COLOURS: Mapping[str, str] = {name: f"var(--plot-{name})" for name in _NAMES}
_LARGE_BIAS = 1.5  # clicks at the first rank for one at the last, beyond which a page warns
_FEW = 0.02  # share of lists left out, beyond which a page warns


class _ModelPerplexity(NamedTuple):
    """Mean perplexity of a model over the ranks."""

    model: str
    perplexity: float


_MODELS: Sequence[Column[_ModelPerplexity]] = (
    Column(title="model", cell=lambda row: row.model),
    Column(title="perplexity", kind="number", cell=lambda row: number_cell(row.perplexity, 4)),
)


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
        stops = []
        sets = self.propensities.n_components
        if sets > 1:
            stops.append(
                f"Propensities cannot be compared: the ranks fall into {sets} sets that share no "
                "document. Swap results at random, or log rankers that order the same documents "
                "differently."
            )
        stops += [
            f"No verdict on propensities: {caution}." for caution in self.propensities.cautions
        ]
        rates = _mean(self.perplexity[RATES])
        model_perplexities = [
            _mean(values) for name, values in self.perplexity.items() if name != RATES
        ]
        best = min(model_perplexities, default=rates)
        if best >= rates:
            stops.append(
                f"No click model predicts held-out clicks better (perplexity {best:.4g}) than the "
                f"click rate of each rank ({rates:.4g}): the log says too little about single "
                "documents to grade them."
            )
        estimates = {} if self.estimates is None else self.estimates.values
        for policy, values in estimates.items():
            cautions = distinct_cautions(values)
            stops += [f"No verdict on {policy}: {caution}." for caution in cautions]
        return stops

    def cautions(self) -> list[str]:
        """Cautions about the log; empty where there is none."""
        cautions: list[str] = []
        bias = self.propensities.position_bias
        left_out = self.check.n_lists - self.check.n_kept
        if bias > _LARGE_BIAS:
            cautions.append(
                f"Raw clicks are no grades: the same documents are clicked {bias:.3g} times as "
                "often at the first rank as at the last."
            )
        if left_out > _FEW * self.check.n_lists:
            cautions.append(
                f"{left_out:,} of {self.check.n_lists:,} lists were left out "
                f"({left_out / self.check.n_lists:.1%}); see below why."
            )
        return cautions


def click_page_html(page: ClickLogPage) -> str:
    """One HTML file that opens offline, and reads the same with scripts and without."""
    stops = page.stops()
    propensities = page.propensities
    log = log_parts(page.check)
    log_titles = ["Lists left out", "Clicks by rank"] if page.check.problems else ["Clicks by rank"]
    text: str = template_of("clicks.html", "idealrank.clicks.views").render(
        policy=_SECURITY_POLICY,
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
        "probabilities of decisions.",
        log_said=f"{_paragraphs(log)}.",
        log_tables=_tables(log, *log_titles),
        method=_method(propensities, page.estimates),
    )
    return text.lstrip()


def _headline(stops: Sequence[str]) -> str:
    if not stops:
        return "No stop sign in this log"
    return f"Stop: {counted(len(stops), 'reason')} not to conclude from this log"


def _summary(page: ClickLogPage) -> str:
    sentences = [_last_propensity(page.propensities)]
    estimates = {} if page.estimates is None else page.estimates.values
    for policy, values in estimates.items():
        estimate = values[0]
        sentences.append(
            f"Policy {policy} has the value {estimate.value:.4g} by {estimate.estimator}, from "
            f"{estimate.n:,} rows worth {estimate.effective_sample_size:,.0f} of equal weight."
        )
    return " ".join(sentences)


def _last_propensity(propensities: Propensities) -> str:
    last = float(propensities.relative[-1])
    n_ranks = propensities.relative.size
    low, high = propensities.intervals[-1]
    lists = f"{propensities.n_sessions:,} lists of {propensities.n_queries:,} queries"
    if np.isnan(last):
        return f"The log gives no propensity of the last of {n_ranks} ranks ({lists})."
    interval = "no interval" if np.isnan(low) else f"95 % interval {low:.2f} to {high:.2f}"
    return (
        f"The last of {propensities.relative.size} ranks is examined {last:.2f} times as often as "
        f"the first ({interval}; {lists})."
    )


def _sections(page: ClickLogPage) -> Iterator[dict[str, Any]]:
    """Sections of the log, then of the estimates, if any."""
    yield from _log_sections(page)
    if page.estimates is not None:
        yield from _estimate_sections(page.estimates)


def _log_sections(page: ClickLogPage) -> Iterator[dict[str, Any]]:
    propensities = page.propensities
    yield {
        "name": "propensity",
        "heading": "Propensity",
        "sentence": "How often each rank is examined, relative to the first; the band is its "
        "interval.",
        "drawing": _drawing(figures.propensity_template(), figures.propensity_rows(propensities)),
        "tables": _tables(
            propensity_parts(propensities),
            "Propensity by rank, and perplexity of the position-based model",
        ),
    }
    yield {
        "name": "perplexity",
        "heading": "Perplexity",
        "sentence": "On lists that no model has seen: 1 is certainty, 2 a coin. A useful model "
        f"lies below the {RATES}.",
        "drawing": _drawing(
            figures.perplexity_template(list(page.perplexity)),
            figures.perplexity_rows(page.perplexity),
        ),
        "tables": [
            Table.of(
                _MODELS,
                [_ModelPerplexity(name, _mean(values)) for name, values in page.perplexity.items()],
                title="Mean over the ranks",
            )
        ],
    }


def _estimate_sections(estimates: RewardEstimates) -> Iterator[dict[str, Any]]:
    if estimates.logged is not None:
        overlap = _overlap_said(estimates)
        yield {
            "name": "overlap",
            "heading": "Overlap",
            "sentence": "Where the log has its rows, and where the policies have their weight, by "
            f"the logged probability. {overlap}",
            "drawing": _drawing(
                figures.overlap_template(list(estimates.weights)),
                figures.overlap_rows(estimates.logged, estimates.weights),
                overlap,
            ),
            "tables": [],
        }
    weights = _weights_said(estimates)
    yield {
        "name": "weights",
        "heading": "Weights",
        "sentence": weights,
        "drawing": _drawing(
            figures.weights_template(list(estimates.weights)),
            figures.weight_rows(estimates.weights),
            weights,
        ),
        "tables": [],
    }

    rows = figures.estimate_rows(estimates.values)
    texts = [f"{row['label']} {row['value']} [{row['low']}, {row['high']}]" for row in rows]
    first = next(chain.from_iterable(estimates.values.values()))
    template = figures.estimates_template(first.confidence, estimates.logged_mean)
    tables = []
    for policy, values in estimates.values.items():
        tables += _tables(estimate_parts(values), f"Estimates of {policy}")
    if estimates.differences:
        # The table of values comes first: any value will do for it, and it is left out.
        parts = estimate_parts([first], estimates.differences)
        tables += _tables(parts, "", "B less A")[1:]
    yield {
        "name": "estimates",
        "heading": "Estimates",
        "sentence": "Worth: rows of equal weight that would carry as much (effective sample size).",
        "drawing": _drawing(template, rows, "; ".join(texts) + "."),
        "tables": tables,
    }


def _drawing(template: Spec, rows: list[Row], sentence: str = "") -> dict[str, str] | None:
    """A drawing, and its description, which the page gives to readers instead; None without
    anything to draw.
    """
    spec = dressed(template, rows, {"said": sentence}, _COLOURS)
    if not rows:
        return None
    return {"said": str(spec.pop("description")).strip(), "svg": svg(spec)}


def _overlap_said(estimates: RewardEstimates) -> str:
    """Share of the rows that have half of the weight: the smaller, the thinner the overlap."""
    clauses = []
    for policy, weights in estimates.weights.items():
        sums = np.cumsum(np.sort(weights)[::-1])
        n_rows = int(np.searchsorted(sums, sums[-1] / 2)) + 1 if sums[-1] > 0 else 0
        half = n_rows / weights.size
        clauses.append(f"{policy}: half of the weight stands on {half:.1%} of the rows")
    return f"{'; '.join(clauses)}."


def _weights_said(estimates: RewardEstimates) -> str:
    """Quantiles of the weights of each policy."""
    sentences = []
    for policy, weights in estimates.weights.items():
        middle, high = np.quantile(weights, [0.5, 0.99])
        unused = float((weights == 0).mean())
        drawn = f"; {unused:.1%} of the rows have weight 0, and are not drawn" if unused else ""
        sentences.append(
            f"{policy}: median {middle:.3g}, 99 of 100 rows up to {high:.3g}, largest "
            f"{weights.max():.3g}{drawn}"
        )
    return ". ".join(sentences) + "."


def _tables(parts: Sequence[Part], *titles: str) -> list[Table]:
    tables = [part for part in parts if isinstance(part, Table)]
    return [replace(table, title=title) for table, title in zip(tables, titles, strict=True)]


def _paragraphs(parts: Sequence[Part]) -> str:
    paragraphs = [" ".join(part) for part in parts if isinstance(part, list)]
    return " ".join(paragraphs)


def _mean(values: FloatArray) -> float:
    return float(np.nanmean(values))


def _method(propensities: Propensities, estimates: RewardEstimates | None) -> list[str]:
    lines = [
        "propensity: position-based model, maximum likelihood; intervals by bootstrap over queries",
        f"perplexity: models fitted to a part of the {propensities.n_sessions:,} lists, and asked "
        "about the rest",
    ]
    if estimates is not None:
        lines += [
            "weights: probability of the target policy divided by that of the logging policy",
            "estimates: inverse propensity scoring (ips), self-normalised (snips), with weights "
            "cut (clipped), with a model of the rewards (dr), and with the model alone at large "
            "weights (switch)",
            "effective sample size: squared sum of the weights, divided by the sum of their "
            "squares (Kish)",
        ]
    return lines
