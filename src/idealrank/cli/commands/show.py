"""`idealrank show`: everything about one entry of a store."""

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

from idealrank.cli import options, output, store_options
from idealrank.errors import OptionError

if TYPE_CHECKING:
    from idealrank.analysis.comparison import RunMean
    from idealrank.evaluation.evaluate import Evaluation
    from idealrank.store import Entry, Store, Stored, StoredVerdict

_EPILOG = """\
Examples:

\b
  What was 3f2a9c41d07b, on what data, by which command? Any unique beginning of an id will do.
    idealrank show 3f2a --store results
\b
  Its values query by query, for a spreadsheet:
    idealrank show 3f2a --per-query --format csv --store results
\b
  All of it for a program:
    idealrank show 3f2a --per-query --format json --store results

`idealrank history` lists ids; `idealrank diff ID ID` shows what changed from one to another.
"""


@click.command(epilog=_EPILOG, short_help="Show everything about one entry of a store.")
@click.argument("id")
@click.option("--per-query", is_flag=True, help="Values of each query, too.")
@click.option("--intervals", is_flag=True, help="The 95 % interval of each mean.")
@click.option(
    "--format", "layout", type=click.Choice(["table", "json", "csv"]), default="table", show_default=True,
    help="Text for people; JSON or CSV for programs.",
)  # fmt: skip
@store_options.store
@options.output
def show(
    *, id: str, per_query: bool, intervals: bool, layout: str, store_path: str | None, output_path: str | None
) -> None:  # fmt: skip
    """Show one evaluation, comparison or gate: numbers, coverage, convention, inputs with their hashes, commit, command, tags, notes.

    ID is that of `idealrank history`, or a beginning of it of at least four digits that no other id has.
    """
    with store_options.opened(store_path) as store:
        entry = store.entry(id)
        if entry.kind == "evaluation":
            pieces = _evaluation(store, store.evaluation(entry.id), layout, per_query=per_query, intervals=intervals)
        else:
            if per_query or intervals:
                raise OptionError(
                    f"{entry.id} is a {entry.kind}: expected neither --per-query nor --intervals; show {' or '.join(entry.parts)} with it"
                )
            kept = store.comparison(entry.id) if entry.kind == "comparison" else store.gate(entry.id)
            pieces = _verdict(kept, layout)
        output.write(pieces, output_path, layout)


def facts(entry: "Entry") -> dict[str, str]:
    """How an entry came about, in words.

    Examples
    --------
    >>> from idealrank.store import Entry, Record
    >>> facts(Entry(id="3f2a9c41d07b", kind="evaluation", name="bm25", record=Record(tags=("main", "v2"))))["tags"]
    'main, v2'
    """
    record = entry.record
    return {
        "when": f"{record.time[:19].replace('T', ' ')} UTC" if record.time else "",
        "command": record.command,
        "commit": record.commit + (", with files changed since" if record.dirty else ""),
        "made by": f"idealrank {entry.version}" if entry.version else "",
        "tags": ", ".join(record.tags),
        "notes": "; ".join(record.notes),
        "made of": ", ".join(entry.parts),
    }


def origin(entry: "Entry") -> dict[str, Any]:
    """The same as JSON has it.

    Examples
    --------
    >>> from idealrank.store import Entry
    >>> origin(Entry(id="3f2a9c41d07b", kind="evaluation", name="bm25"))["kind"]
    'evaluation'
    """
    record = entry.record
    return {
        "id": entry.id, "kind": entry.kind, "name": entry.name, "when": record.time, "command": record.command, "commit": record.commit,
        "changed": record.dirty, "tags": list(record.tags), "notes": list(record.notes), "parts": list(entry.parts),
    }  # fmt: skip


def _evaluation(store: "Store", kept: "Stored", layout: str, *, per_query: bool, intervals: bool) -> Iterable[str]:
    try:
        evaluation = kept.evaluation
    except OptionError as error:
        return _without_its_measures(kept, layout, error)
    means = _means(evaluation) if intervals else []
    if layout == "csv":
        from idealrank.reports.records import csv_report  # noqa: PLC0415

        lines = csv_report([evaluation], per_query=per_query, intervals=means)
        return (f"{kept.id if place else 'id'},{line}" for place, line in enumerate(lines))
    if layout == "json":
        from idealrank.reports.records import json_report  # noqa: PLC0415

        record = json.loads("".join(json_report([evaluation], per_query=per_query, intervals=means)))
        return [_json(origin(kept.entry) | {"inputs": kept.fields["inputs"]} | record)]
    return _text(store, kept, evaluation, means, per_query=per_query)


def _text(store: "Store", kept: "Stored", evaluation: "Evaluation", means: "list[Mapping[str, RunMean]]", *, per_query: bool) -> list[str]:
    from idealrank.reports import stored as words  # noqa: PLC0415
    from idealrank.reports.tables import as_text  # noqa: PLC0415
    from idealrank.reports.text import table_report  # noqa: PLC0415

    used = [
        row[0]
        for row in store.rows(
            "SELECT DISTINCT e.id, e.time FROM part p JOIN entry e ON e.id = p.id WHERE p.evaluation = ? ORDER BY e.time", [kept.id]
        )
    ]
    head = words.head_text(f"evaluation {kept.id}: {kept.entry.name}", [*facts(kept.entry).items(), ("used in", ", ".join(used))])
    inputs = evaluation.provenance.inputs
    files = ["\n", as_text(words.inputs_table(inputs), 140)] if inputs else []
    return [head, "\n", table_report([evaluation], per_query=per_query, intervals=means), *files]


def _means(evaluation: "Evaluation") -> "list[Mapping[str, RunMean]]":
    from idealrank.analysis.comparison import intervals  # noqa: PLC0415  (SciPy, for those who ask)

    return [intervals(evaluation)]


def _without_its_measures(kept: "Stored", layout: str, error: OptionError) -> list[str]:
    """An evaluation whose measures or convention are functions of somebody's own: the means are numbers all the same."""
    from idealrank.reports import stored as words  # noqa: PLC0415
    from idealrank.reports.tables import as_csv, as_text  # noqa: PLC0415

    table = words.means_table(kept.entry.means or {})
    if layout == "csv":
        return [as_csv(table)]
    if layout == "json":
        return [
            _json(origin(kept.entry) | {"inputs": kept.fields["inputs"], "mean": kept.entry.means, "convention": kept.fields["convention"]})
        ]
    return [words.head_text(f"evaluation {kept.id}: {kept.entry.name}", facts(kept.entry).items()), "\n", as_text(table), f"\n{error}\n"]


def _verdict(kept: "StoredVerdict", layout: str) -> list[str]:
    from idealrank.reports import stored as words  # noqa: PLC0415
    from idealrank.reports.tables import as_csv  # noqa: PLC0415

    if layout == "csv":
        return [as_csv(words.verdict_table(kept.entry.kind, kept.result))]
    if layout == "json":
        return [_json(origin(kept.entry) | {"options": kept.options, "result": kept.result})]
    title = f"{kept.entry.kind} {kept.id}: {kept.entry.name}"
    return [words.head_text(title, facts(kept.entry).items()), "\n", words.verdict_text(kept.entry.kind, kept.result), *_convention(kept)]


def _convention(kept: "StoredVerdict") -> list[str]:
    """The convention in words, where its name still means what it meant."""
    from idealrank.conventions import Convention  # noqa: PLC0415
    from idealrank.reports.words import paragraph  # noqa: PLC0415

    try:
        convention = Convention.of(kept.entry.convention)
    except OptionError:
        convention = None
    if convention is None or convention.fingerprint != kept.entry.fingerprint:
        return [f"\nconvention {kept.entry.convention} [{kept.entry.fingerprint}]\n"]
    return ["\n", "\n".join(paragraph(convention)), "\n"]


def _json(record: Mapping[str, Any]) -> str:
    return json.dumps(record, indent=2) + "\n"
