"""`idealrank store show`: everything about one entry of a store."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import click

from idealrank.cli import headings, options
from idealrank.cli.output import Formats
from idealrank.errors import OptionError
from idealrank.reports.table.records import json_text
from idealrank.store.commands import store_options

if TYPE_CHECKING:
    from idealrank.analysis.comparison import RunMean
    from idealrank.evaluation.evaluate import Evaluation
    from idealrank.reports.table.records import Row
    from idealrank.store import Entry, Store, Stored, StoredVerdict

_EPILOG = """\
Examples:

\b
  Data, command and values of entry 3f2a9c41d07b; the unique beginning of an id is enough:
    idealrank store show 3f2a --store results
\b
  The values of every query, as CSV:
    idealrank store show 3f2a --per-query --format csv --store results
\b
  Everything, as JSON:
    idealrank store show 3f2a --per-query --format json --store results

`idealrank history` lists ids; `idealrank store diff ID ID` shows the changes between two entries.
"""


_FORMATS = Formats(
    "Text to read;",
    table=lambda entry: entry.text(),
    json=lambda entry: entry.json(),
    rows=lambda entry: entry.rows(),
)


@headings.command(epilog=_EPILOG, short_help="Show everything about one entry of a store.")
@click.argument("id")
@click.option("--per-query", is_flag=True, help="Show the values of each query.")
@click.option("--intervals", is_flag=True, help="Show the 95 % confidence interval of each mean.")
@_FORMATS.option
@store_options.store
@options.output
def show(
    *,
    id: str,
    per_query: bool,
    intervals: bool,
    layout: str,
    store_path: str | None,
    output_path: str | None,
) -> None:
    """Show one evaluation, comparison or gate: numbers, coverage, convention, inputs with their
    hashes, commit, command, tags, notes.

    ID is printed by `idealrank history`. A unique prefix of at least four digits suffices.
    """
    with store_options.opened(store_path) as store:
        entry = _shown(store, store.entry(id), per_query=per_query, intervals=intervals)
        _FORMATS.write(layout, output_path, entry)


def facts(entry: "Entry") -> dict[str, str]:
    """Describe the origin of an entry."""
    record = entry.record
    return {
        "when": f"{record.time[:19].replace('T', ' ')} UTC" if record.time else "",
        "command": record.command,
        "commit": record.commit + (", with uncommitted changes" if record.dirty else ""),
        "made by": f"idealrank {entry.version}" if entry.version else "",
        "tags": ", ".join(record.tags),
        "notes": "; ".join(record.notes),
        "made of": ", ".join(entry.parts),
    }


class _Shown(Protocol):
    """Parts of an entry to show, by format."""

    def text(self) -> Iterable[str]: ...

    def json(self) -> str: ...

    def rows(self) -> "Iterable[Row]": ...


@dataclass(frozen=True, kw_only=True)
class _Evaluated:
    """An evaluation."""

    store: "Store"
    kept: "Stored"
    evaluation: "Evaluation"
    per_query: bool
    means: "list[Mapping[str, RunMean]]"

    def text(self) -> Iterable[str]:
        from idealrank.reports.table.forms import as_text  # noqa: PLC0415
        from idealrank.reports.views.evaluation import table_report  # noqa: PLC0415
        from idealrank.store.views import tables as words  # noqa: PLC0415

        sql = (
            "SELECT DISTINCT e.id, e.time FROM part p JOIN entry e ON e.id = p.id WHERE "
            "p.evaluation = ? ORDER BY e.time"
        )
        users = ", ".join(row[0] for row in self.store.rows(sql, [self.kept.id]))
        yield words.head_text(
            f"evaluation {self.kept.id}: {self.kept.entry.name}",
            [*facts(self.kept.entry).items(), ("used in", users)],
        )
        yield "\n"
        yield table_report([self.evaluation], per_query=self.per_query, intervals=self.means)
        if inputs := self.evaluation.provenance.inputs:
            yield from ["\n", as_text(words.inputs_table(inputs), 140)]

    def json(self) -> str:
        from idealrank.reports.table.records import json_report  # noqa: PLC0415

        report = json_report([self.evaluation], per_query=self.per_query, intervals=self.means)
        record = json.loads("".join(report))
        return _json(self.kept.entry, {"inputs": self.kept.fields["inputs"]} | record)

    def rows(self) -> "Iterable[Row]":
        from idealrank.reports.table.records import evaluation_rows  # noqa: PLC0415

        if self.per_query and self.means:
            raise OptionError(
                "--intervals: found --per-query, whose rows have a value of one query each and no "
                "means; expected one of the two options, or --format json"
            )
        rows = evaluation_rows([self.evaluation], per_query=self.per_query, intervals=self.means)
        # The first row has the titles.
        return ([self.kept.id if place else "id", *cells] for place, cells in enumerate(rows))


@dataclass(frozen=True)
class _Means:
    """An evaluation whose measures or convention are a user's functions: the means are numbers all
    the same.
    """

    kept: "Stored"
    error: OptionError

    def text(self) -> Iterable[str]:
        from idealrank.reports.table.forms import as_text  # noqa: PLC0415
        from idealrank.store.views import tables as words  # noqa: PLC0415

        head = words.head_text(
            f"evaluation {self.kept.id}: {self.kept.entry.name}", facts(self.kept.entry).items()
        )
        return [
            head,
            "\n",
            as_text(words.means_table(self.kept.entry.means or {})),
            f"\n{self.error}\n",
        ]

    def json(self) -> str:
        fields, entry = self.kept.fields, self.kept.entry
        return _json(
            entry,
            {"inputs": fields["inputs"], "mean": entry.means, "convention": fields["convention"]},
        )

    def rows(self) -> "Iterable[Row]":
        from idealrank.reports.table.forms import as_rows  # noqa: PLC0415
        from idealrank.store.views.tables import means_table  # noqa: PLC0415

        return as_rows(means_table(self.kept.entry.means or {}))


@dataclass(frozen=True)
class _Verdict:
    """A comparison or a gate."""

    kept: "StoredVerdict"

    def text(self) -> Iterable[str]:
        from idealrank.store.views import tables as words  # noqa: PLC0415

        kept = self.kept
        head = words.head_text(
            f"{kept.entry.kind} {kept.id}: {kept.entry.name}", facts(kept.entry).items()
        )
        return [head, "\n", words.verdict_text(kept.entry.kind, kept.result), *_convention(kept)]

    def json(self) -> str:
        return _json(self.kept.entry, {"options": self.kept.options, "result": self.kept.result})

    def rows(self) -> "Iterable[Row]":
        from idealrank.reports.table.forms import as_rows  # noqa: PLC0415
        from idealrank.store.views.tables import verdict_table  # noqa: PLC0415

        return as_rows(verdict_table(self.kept.entry.kind, self.kept.result))


def _shown(store: "Store", entry: "Entry", *, per_query: bool, intervals: bool) -> _Shown:
    if entry.kind == "evaluation":
        kept = store.evaluation(entry.id)
        try:
            return _Evaluated(
                store=store,
                kept=kept,
                evaluation=kept.evaluation,
                per_query=per_query,
                means=_means(kept.evaluation) if intervals else [],
            )
        except OptionError as error:
            return _Means(kept, error)
    if per_query or intervals:
        raise OptionError(
            f"{entry.id} is a {entry.kind}: expected neither --per-query nor --intervals; use them "
            f"with {' or '.join(entry.parts)} with it"
        )
    return _Verdict(
        store.comparison(entry.id) if entry.kind == "comparison" else store.gate(entry.id)
    )


def _means(evaluation: "Evaluation") -> "list[Mapping[str, RunMean]]":
    from idealrank.analysis.comparison import intervals  # noqa: PLC0415  (SciPy; only with --intervals)

    return [intervals(evaluation)]


def _convention(kept: "StoredVerdict") -> list[str]:
    """The convention in words, where its name still means what it meant."""
    from idealrank.conventions import Convention  # noqa: PLC0415
    from idealrank.reports.views.conventions import paragraph  # noqa: PLC0415

    try:
        convention = Convention.of(kept.entry.convention)
    except OptionError:
        convention = None
    if convention is None or convention.fingerprint != kept.entry.fingerprint:
        return [f"\nconvention {kept.entry.convention} [{kept.entry.fingerprint}]\n"]
    return ["\n", "\n".join(paragraph(convention)), "\n"]


def _json(entry: "Entry", record: Mapping[str, Any]) -> str:
    from idealrank.store.record import origin  # noqa: PLC0415  (NumPy, which the help does not need)

    return json_text({**origin(entry), **record})
