"""The report of `idealrank train`: means with intervals on the data that decide, and the files."""

from collections.abc import Mapping, Sequence
from typing import Any

from idealrank.reports.table.records import json_text
from idealrank.reports.table.text import Part, columns, filled

_WORDS = {
    "test": "the test set",
    "valid": "the validation set, which chose the round",
    "train": "the training set, which is no result",
}


def training_parts(report: Mapping[str, Any]) -> list[Part]:
    """The whole report."""
    systems: Sequence[Mapping[str, Any]] = report["systems"]
    parts: list[Part] = []
    if report["warnings"]:
        parts.append(
            [
                "cautions",
                *(line for warning in report["warnings"] for line in filled(warning, "  * ")),
            ]
        )
    pooled = report.get("pooled")
    if pooled is not None:
        parts += _pooled(pooled)
    rows = _rows(systems)
    ranks = [max(0, place - rows[0].index("95 % interval")) for place in range(len(rows[0]))]
    parts.append(columns(rows, ranks=ranks))
    parts.append(
        filled(f"On {_WORDS[systems[0]['part']]}, under convention {report['convention']}.")
    )
    if pooled is None or not pooled["folds"]:
        for system in systems:
            seed = f"With seed {system['seed']}: " if len(systems) > 1 else ""
            parts += [filled(seed + sentence) for sentence in _without_relevant(system["measures"])]
    if report["again"]:
        parts.append(["the same numbers again", f"  {report['again']}"])
    if pooled is not None:
        parts.append([f"{pooled['folder']}: {', '.join(pooled['files'])}"])
    if pooled is not None and pooled["folds"]:
        first, *_, last = systems
        names = ", ".join(first["files"])
        return [*parts, filled(f"{first['folder']} to {last['folder']}, each: {names}")]
    return [*parts, *([f"{system['folder']}: {', '.join(system['files'])}"] for system in systems)]


def _pooled(pooled: Mapping[str, Any]) -> list[Part]:
    """Show the means over all queries of the folds, and over the seeds."""
    seeds = pooled["seeds"]
    folds = pooled["folds"]
    measures: Mapping[str, Mapping[str, Any]] = pooled["measures"]
    has_chance = any("random_order" in numbers for numbers in measures.values())
    titles = ["measure", "mean", "95 % interval", "queries"]
    titles += ["sd of seeds"] if len(seeds) > 1 else []
    titles += ["random order"] if has_chance else []
    rows = [titles]
    for text, numbers in measures.items():
        cells = [text, "-", "-"]
        if numbers["mean"] is not None:
            interval = f"[{numbers['low']:.4f}, {numbers['high']:.4f}]"
            cells = [text, f"{numbers['mean']:.4f}", interval]
        cells.append(str(numbers["queries"]))
        cells += [_number(numbers.get("seed_sd"))] if len(seeds) > 1 else []
        cells += [_number(numbers.get("random_order"))] if has_chance else []
        rows.append(cells)
    what = []
    if folds:
        what.append(f"all queries of the test sets of {len(folds)} folds")
    if len(seeds) > 1:
        what.append(f"the mean of {len(seeds)} seeds for each query")
    sentence = f"Pooled: {', '.join(what)}."
    if len(seeds) > 1:
        sentence += (
            " The interval is about other queries with these seeds; sd of seeds is the standard "
            "deviation of the means of the seeds."
        )
    counts = {numbers.get("no_relevant", 0) for numbers in measures.values()}
    if folds and any(counts):
        sentence += f" {max(counts):,} queries have no relevant document."
    return [columns(rows), filled(sentence)]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _rows(systems: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    has_seeds = len({system["seed"] for system in systems}) > 1
    has_folds = any("fold" in system for system in systems)
    measured = [numbers for system in systems for numbers in system["measures"].values()]
    conventions = {numbers["own"]["convention"] for numbers in measured if "own" in numbers}
    has_chance = any("random_order" in numbers for numbers in measured)
    rows = [
        [
            "measure",
            *(["fold"] if has_folds else []),
            *(["seed"] if has_seeds else []),
            "mean",
            "95 % interval",
            "queries",
            "rounds",
            *(["random order"] if has_chance else []),
            *(f"under {name}" for name in sorted(conventions)),
        ]
    ]
    for system in systems:
        for text, numbers in system["measures"].items():
            interval = f"[{numbers['low']:.4f}, {numbers['high']:.4f}]"
            rows.append(
                [
                    text,
                    *([system["fold"]] if has_folds else []),
                    *([str(system["seed"])] if has_seeds else []),
                    f"{numbers['mean']:.4f}",
                    interval,
                    str(numbers["queries"]),
                    str(system["rounds"]),
                    *([f"{numbers['random_order']:.4f}"] if has_chance else []),
                    *([f"{numbers['own']['mean']:.4f}"] if conventions else []),
                ]
            )
    return rows


def _without_relevant(measures: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Sentences on queries without a relevant document, which say nothing about a ranker."""
    any_numbers: Mapping[str, Any] = next(iter(measures.values()), {})  # the same in all
    count = any_numbers.get("no_relevant")
    if not count:
        return []
    queries = "1 query has" if count == 1 else f"{count} queries have"
    sentences = [f"{queries} no relevant document, so that every order is equally good."]
    for text, numbers in measures.items():
        if numbers.get("counted_as") is None:
            continue
        sentences.append(
            f"{text} counts each of them as {numbers['counted_as']:g}; without them its mean is "
            f"{numbers['mean_of_others']:.4f}, and that of a random order "
            f"{numbers['random_order_of_others']:.4f}."
        )
    return [" ".join(sentences)]


def training_json(report: Mapping[str, Any]) -> str:
    r"""The report as JSON."""
    return json_text(report, indent=1, ascii_only=False)
