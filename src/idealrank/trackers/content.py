"""Content for a tracker: numbers, settings, words and files.

Also turns texts of measures, whose signs no tracker takes, into names that every tracker takes.
"""

import hashlib
import io
import json
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from idealrank._lazy import load_extra
from idealrank.analysis.comparison import Comparison, Pair, intervals
from idealrank.analysis.gate import Gated
from idealrank.analysis.gate.series import ANCHOR
from idealrank.conventions import Convention
from idealrank.errors import MissingExtraError, OptionError, warn
from idealrank.evaluation.evaluate import Evaluation
from idealrank.pages.report import report
from idealrank.reports.table.records import delimited, evaluation_rows, json_report
from idealrank.reports.views.comparison.comparison import comparison_json, comparison_rows
from idealrank.reports.views.comparison.verdicts import mark_of_gate
from idealrank.reports.views.gate.gate import gate_json, gate_text
from idealrank.version import __version__

# MLflow takes 250 letters, of which endings, prefixes and names of runs need their share
_LONGEST = 120
_HASHED = 8  # hexadecimal digits


def metric_names(texts: Iterable[str]) -> dict[str, str]:
    """Convert names of measures or runs to letters, digits and underscores, for MLflow and Weights
    & Biases.

    ``@`` becomes ``_at_``, ``+`` becomes ``_plus_``, and any other run of signs a single
    underscore. A name that is already taken, or very long, ends with digits of a hash of its text,
    so that no two texts share a name.

    Parameters
    ----------
    texts : iterable of str
        Texts that are logged together, in their order.

    Returns
    -------
    dict of str to str
        Names by text. Trackers store the reverse mapping next to the values, as the tag or setting
        ``measures``.

    Examples
    --------
    >>> metric_names(["nDCG@10", "nDCG(gain=exp2)@10", "P(rel=0.5)@5"])
    {'nDCG@10': 'nDCG_at_10', 'nDCG(gain=exp2)@10': 'nDCG_gain_exp2_at_10', 'P(rel=0.5)@5': 'P_rel_0_5_at_5'}
    >>> metric_names(["P+", "a-b", "a/b"])
    {'P+': 'P_plus', 'a-b': 'a_b', 'a/b': 'a_b_c14cddc0'}
    """  # noqa: E501
    names: dict[str, str] = {}
    for text in dict.fromkeys(texts):
        names[text] = _free_name(text, names.values())
    return names


def _free_name(text: str, taken: Collection[str]) -> str:
    name = _legal(text)
    if len(name) <= _LONGEST and name not in taken:
        return name
    start = name[:_LONGEST]
    digest = text
    while True:  # again if another text is itself spelled as this name with its digits
        digest = hashlib.sha256(digest.encode(errors="surrogatepass")).hexdigest()
        name = f"{start}_{digest[:_HASHED]}"
        if name not in taken:
            return name


def _legal(text: str) -> str:
    spelled = text.replace("@", "_at_").replace("+", "_plus_")
    words = re.sub(r"[^A-Za-z0-9]+", "_", spelled).strip("_")
    return words if words[:1].isalpha() else f"_{words}"


Columns: TypeAlias = Mapping[str, Sequence[Any]]


def columns_of(evaluations: Sequence[Evaluation]) -> Columns:
    """Return the columns ``run``, ``query`` and one per measure; None where a query does not count
    or has no value.
    """
    if not evaluations:
        return {}
    texts: dict[str, None] = {}  # a set in the order of first use
    for evaluation in evaluations:
        texts |= dict.fromkeys(map(str, evaluation.measures))
    columns: dict[str, list[Any]] = {"run": [], "query": []} | {text: [] for text in texts}
    for evaluation in evaluations:
        columns["run"] += [evaluation.name] * len(evaluation.queries)
        columns["query"] += evaluation.queries
        for text in texts:
            columns[text] += _values(evaluation, text)
    return columns


def _values(evaluation: Evaluation, text: str) -> Sequence[Any]:
    if text in evaluation.texts:
        return evaluation.texts[text]
    measured = [str(measure) for measure in evaluation.measures]
    if text not in measured:
        return [None] * len(evaluation.queries)
    place = measured.index(text)
    values = evaluation.values[:, place].tolist()
    counted = evaluation.scored[:, place].tolist()
    return [
        value if counts and math.isfinite(value) else None
        for value, counts in zip(values, counted, strict=True)
    ]


def parquet(columns: Columns) -> bytes | None:
    """Return the table as a Parquet file; None if pyarrow is not installed."""
    try:
        pyarrow = load_extra("pyarrow", "a table of queries", "arrow")
        files = load_extra("pyarrow.parquet", "a table of queries", "arrow")
    except MissingExtraError:
        return None
    packed = io.BytesIO()
    files.write_table(pyarrow.table(dict(columns)), packed, compression="zstd")
    return packed.getvalue()


Result: TypeAlias = Evaluation | Comparison | Gated

# pairs of runs whose differences are logged as numbers; more of them are in a file only
_MOST_PAIRS = 20


@dataclass(frozen=True, kw_only=True)
class Content:
    """Numbers, settings, words and files of one result, ready to log."""

    metrics: Mapping[str, float]  # Finite numbers by names that every tracker takes
    settings: Mapping[str, str]  # How the numbers were made: convention, version, test
    # What changes from result to result: names, verdicts, the way back from names to measures
    words: Mapping[str, str]
    files: Mapping[str, str | bytes]  # By name
    columns: Columns = field(default_factory=dict)  # The per-query table; empty where there is none


def content_of(
    result: Result, evaluations: Sequence[Evaluation] = (), page: str | None = None
) -> Content:
    """Return the numbers, settings, words and files of a result."""
    if isinstance(result, Evaluation):
        content = _of_evaluation(result)
    elif isinstance(result, Comparison):
        content = _of_comparison(result, evaluations)
    elif isinstance(result, Gated):
        content = _of_gate(result, evaluations)
    else:
        raise OptionError(
            f"found a result of type {type(result).__name__}, expected an Evaluation, a Comparison "
            "or a Gated"
        )
    # An empty page means that there is no report.
    report_page = _page(result, evaluations) if page is None else page
    if not report_page:
        return content
    return replace(content, files={**content.files, "report.html": report_page})


def _page(result: Result, evaluations: Sequence[Evaluation]) -> str:
    """Report as a page; empty, with a warning, if its extra is not installed."""
    if not isinstance(result, Evaluation) and not evaluations:
        return ""
    try:
        return report(result, evaluations=evaluations or None).html
    except MissingExtraError as missing:
        warn(f"logged without a report: {missing}")
        return ""


def _of_evaluation(evaluation: Evaluation) -> Content:
    names = metric_names(map(str, evaluation.measures))
    means = intervals(evaluation)
    metrics: dict[str, float] = {names[text]: value for text, value in evaluation.mean().items()}
    for text, mean in means.items():
        low, high = mean.interval
        metrics |= {
            f"{names[text]}_low": low,
            f"{names[text]}_high": high,
            f"{names[text]}_queries": mean.n,
        }
    counts = evaluation.coverage.as_dict()
    metrics |= {f"coverage_{name}": value for name, value in counts.items() if name != "by_measure"}
    resolved = ", ".join(evaluation.provenance.measures)
    return Content(
        metrics=_finite(metrics),
        settings=_settings(evaluation.convention) | {"measures_resolved": resolved},
        words={"run": evaluation.name, "measures": _way_back(names)},
        files={
            "evaluation.json": "".join(json_report([evaluation], intervals=[means])),
            **_tables([evaluation]),
        },
        columns=columns_of([evaluation]),
    )


def _of_comparison(comparison: Comparison, evaluations: Sequence[Evaluation]) -> Content:
    names = metric_names(comparison.means)
    runs = metric_names(comparison.names)
    metrics: dict[str, float] = {}
    for text, by_run in comparison.means.items():
        for run, mean in by_run.items():
            name = f"{runs[run]}_{names[text]}"
            low, high = mean.interval
            metrics |= {name: mean.mean, f"{name}_low": low, f"{name}_high": high}

    n_pairs = len(comparison.pairs)
    verdicts = f"{n_pairs:,} pairs: comparison.csv"
    if n_pairs <= _MOST_PAIRS:
        verdicts = str(comparison)
        for pair in comparison.pairs:
            prefix = "" if n_pairs == 1 else f"{runs[pair.b]}_vs_{runs[pair.a]}_"
            metrics |= _of_pair(pair, names, prefix)

    method = comparison.method
    return Content(
        metrics=_finite(metrics),
        settings=_settings(comparison.convention)
        | {"test": method.test, "correction": method.correction, "level": f"{method.level:g}"},
        words={
            "runs": _way_back(runs),
            "measures": _way_back(names),
            "verdicts": verdicts,
        },
        files={
            "comparison.json": "".join(comparison_json(comparison)),
            "comparison.csv": "".join(delimited(comparison_rows(comparison))),
            **_tables(evaluations),
        },
        columns=columns_of(evaluations),
    )


def _of_pair(pair: Pair, names: Mapping[str, str], prefix: str) -> dict[str, float]:
    metrics: dict[str, float] = {}
    for text, row in pair.measures.items():
        name = f"{prefix}{names[text]}_difference"
        low, high = row.interval
        metrics |= {
            name: row.difference,
            f"{name}_low": low,
            f"{name}_high": high,
            f"{name}_p": row.p_corrected,
            f"{name}_wins": row.wins,
            f"{name}_ties": row.ties,
            f"{name}_losses": row.losses,
        }
    return metrics


def _of_gate(gated: Gated, evaluations: Sequence[Evaluation]) -> Content:
    names = metric_names(check.measure for check in gated.checks)
    baselines = metric_names(gated.baselines)
    metrics: dict[str, float] = {"gate_passed": float(gated.passed)}
    for check in gated.checks:
        prefix = "" if len(gated.baselines) == 1 else f"vs_{baselines[check.baseline]}_"
        # the mean of an anchored check is not the mean of the run alone
        if not check.baseline.endswith(ANCHOR):
            metrics[names[check.measure]] = check.mean_run
        name = f"{prefix}{names[check.measure]}"
        metrics |= {
            f"{name}_baseline": check.mean_baseline,
            f"{name}_difference": check.difference,
            f"{name}_difference_bound": check.bound,
            f"{name}_difference_p": check.p_two_sided,
            f"{name}_difference_p_one_sided": check.p_corrected,
            f"{name}_decides": float(check.decides),
        }
        if check.tipping is not None and check.tipping.significance is not None:
            metrics[f"{name}_tipping"] = check.tipping.significance
    return Content(
        metrics=_finite(metrics),
        settings=_settings(gated.convention) | {"gate_correction": gated.correction},
        words={
            "run": gated.run,
            "baselines": _way_back(baselines),
            "measures": _way_back(names),
            "gate": mark_of_gate(gated).tracker,
            "gate_outcome": gated.outcome,
            "gate_reasons": "\n".join(gated.reasons) or "none",
            **({} if gated.acceptance is None else {"gate_accepted": gated.acceptance.headline}),
        },
        files={"gate.json": gate_json(gated), "gate.txt": gate_text(gated), **_tables(evaluations)},
        columns=columns_of(evaluations),
    )


def _settings(convention: Convention) -> dict[str, str]:
    """The convention by its name, its fingerprint and each of its switches."""
    switches = {f"convention_{name}": value for name, value in convention.switches().items()}
    return {
        "version": __version__,
        "convention": convention.name,
        "convention_fingerprint": convention.fingerprint,
        **switches,
    }


def _way_back(names: Mapping[str, str]) -> str:
    return json.dumps({name: text for text, name in names.items()})


def _finite(metrics: Mapping[str, float]) -> dict[str, float]:
    """Drop infinite and missing values, which charts and stores of trackers cannot hold."""
    return {name: float(value) for name, value in metrics.items() if math.isfinite(value)}


def _tables(evaluations: Sequence[Evaluation]) -> dict[str, Any]:
    if not evaluations:
        return {}
    tables: dict[str, str | bytes] = {
        "per_query.csv": "".join(delimited(evaluation_rows(evaluations, per_query=True)))
    }
    packed = parquet(columns_of(evaluations))
    return tables if packed is None else tables | {"per_query.parquet": packed}
