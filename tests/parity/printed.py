"""Outputs of trec_eval: lines of measure, query and printed value, against an evaluation of the same files."""

import gzip
from collections.abc import Iterable
from pathlib import Path

from idealrank.errors import OptionError
from idealrank.evaluation import Evaluation
from idealrank.measures.measure import Measure
from idealrank.measures.parse import parse_measure

Printed = dict[tuple[str, str], str]


def read_printed(path: Path) -> Printed:
    """Printed text by (measure, query); the query ``all`` is the summary."""
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text(encoding="utf-8")
    fields = (line.split() for line in text.splitlines())
    return {(name, query): value for name, query, value in (line for line in fields if len(line) == 3)}


def offered(printed: Printed, *, rel: float | None = None) -> dict[str, Measure]:
    """The printed measures that we have, by trec_eval's name; those of relevance at the threshold of ``-l``."""
    measures: dict[str, Measure] = {}
    for name in dict.fromkeys(name for name, _ in printed):
        if name == "relstring_20":
            continue
        try:
            measure = parse_measure(name)
        except OptionError:
            continue
        has_threshold = rel is not None and hasattr(measure, "rel")
        measures[name] = type(measure)(cutoff=measure.cutoff, rel=rel) if has_threshold else measure  # type: ignore[call-arg]
    return measures


def differences(printed: Printed, measures: dict[str, Measure], evaluation: Evaluation, *, but: Iterable[str] = ()) -> list[str]:
    """Every value that we would print otherwise."""
    means, queries = evaluation.mean(), evaluation.per_query()
    lines = []
    for (name, query), text in printed.items():
        if name in measures and name not in but:
            value = means[str(measures[name])] if query == "all" else queries[query][str(measures[name])]
            found = "none" if value is None else f"{value:.4f}" if "." in text else f"{value:.0f}"
            if found != text:
                lines.append(f"{name} of {query}: printed {text}, found {found}")
    return lines
