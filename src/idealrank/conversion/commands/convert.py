"""`idealrank convert`: judgments and runs moved between tools."""

import shlex
from math import isfinite

import click

from idealrank.cli import console, headings, input_options, options, text_options
from idealrank.cli.output import Formats
from idealrank.conversion.files import CONTENTS, SOURCES, Conversion
from idealrank.conversion.inputs import convert as convert_files
from idealrank.conversion.judgments import POLICIES
from idealrank.conversion.targets import TARGETS
from idealrank.errors import OptionError
from idealrank.io.checked_cells import parse_number
from idealrank.io.label_grades import parse_labels
from idealrank.io.table_columns import parse_columns
from idealrank.reports.table.cells import counted
from idealrank.reports.table.formats import FORMATS
from idealrank.reports.table.records import result_json

_EPILOG = """\
Examples:

\b
  Quepid's export as TREC qrels; its queries are numbered, and their texts kept:
    idealrank convert case.csv qrels.txt --to trec --write-queries queries.tsv
\b
  A judgment list of OpenSearch from qrels and the texts of their queries:
    idealrank convert qrels.txt judgments.json --to opensearch --queries queries.tsv
\b
  Grades of several raters as Label Studio's tasks, and back with every assessor:
    idealrank convert book.csv tasks.json --to label-studio --documents texts.jsonl
    idealrank convert export.json raters.jsonl
\b
  Judgments and a run whose queries are named by their text, as TREC text with the same ids:
    idealrank convert labels.csv labels.qrels --write-queries queries.tsv
    idealrank convert engine.json engine.run --write-queries queries.tsv
\b
  Fail if anything would be lost:
    idealrank convert raters.jsonl qrels.tsv --to beir --aggregate majority --lossless
"""


def _text(conversion: Conversion) -> str:
    """The last line: what was written."""
    noun = "result" if conversion.content == "run" else "judgment"
    rows = counted(conversion.n_written, noun)
    queries = counted(conversion.n_queries, "query", "queries")
    whole = "" if conversion.losses else ", and nothing is lost"
    return (
        f"{conversion.target}: {rows} of {queries} written as {conversion.target_format}, read as "
        f"{conversion.source_format}{whole}"
    )


def _json(conversion: Conversion) -> str:
    losses = [
        {"kind": loss.kind, "count": loss.count, "text": loss.text, "examples": list(loss.examples)}
        for loss in conversion.losses
    ]
    record = {
        "content": conversion.content,
        "in": {
            "path": conversion.source,
            "format": conversion.source_format,
            "rows": conversion.n_read,
        },
        "out": {
            "path": conversion.target,
            "format": conversion.target_format,
            "rows": conversion.n_written,
            "queries": conversion.n_queries,
        },
        "losses": losses,
    }
    return result_json(record, ascii_only=False)


_FORMATS = Formats("The report, on stderr, as text to read;", table=_text, json=_json)


@headings.command(epilog=_EPILOG, short_help="Convert judgments and runs between tools.")
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option(
    "--input-format",
    "source_format",
    type=click.Choice(SOURCES),
    default="auto",
    show_default=True,
    metavar="FORMAT",
    help=f"Format of IN: {', '.join(SOURCES)}.",
)
@click.option(
    "--to",
    "target_format",
    type=click.Choice(("auto", *TARGETS)),
    default="auto",
    show_default=True,
    metavar="FORMAT",
    help=f"Format of OUT; auto inspects its ending: {', '.join(TARGETS)}.",
)
@click.option(
    "--content",
    type=click.Choice(CONTENTS),
    default="auto",
    show_default=True,
    help="Content of IN; auto inspects its columns and the ending of OUT.",
)
@text_options.queries_option("formats that hold them")
@text_options.documents_option("formats that hold them")
@click.option(
    "--write-queries",
    metavar="FILE",
    help="Number queries that are named by their text or have blanks in their id, and write the "
    "texts: .tsv or .jsonl. Queries that FILE has already keep their ids, so that judgments and "
    "runs get the same.",
)
@click.option(
    "--aggregate",
    "assessors",
    metavar="POLICY|NAME",
    default="",
    help=f"One grade of several: {', '.join(POLICIES)}; or the assessor whose grades alone are "
    f"kept.",
)
@click.option(
    "--scale",
    metavar="GRADES",
    default="",
    help="Grades that OUT may hold, such as 0,1,2,3; others are left out.",
)
@options.labels
@click.option(
    "--columns",
    metavar="ROLE=NAME,...",
    cls=options.OnceOption,
    default="",
    help="Columns of IN: query=, document=, grade=. Guessed by default.",
)
@click.option(
    "--group-sizes",
    "group",
    metavar="FILE",
    cls=options.OnceOption,
    help="Group sizes of a LETOR file without qid:.",
)
@click.option("--keep-unjudged", is_flag=True, help="Write rows without a grade to tables, too.")
@click.option(
    "--name",
    metavar="NAME",
    default="",
    help="Name of the list or index, or tag of a run.  [default: the name of IN]",
)
@click.option(
    "--lossless", "strict", is_flag=True, help="Fail if anything is lost, and write nothing."
)
@_FORMATS.option
def convert(
    *,
    source: str,
    target: str,
    source_format: str,
    target_format: str,
    content: str,
    queries: str | None,
    documents: str | None,
    write_queries: str | None,
    assessors: str,
    scale: str,
    labels_text: str,
    columns: str,
    group: str | None,
    keep_unjudged: bool,
    name: str,
    strict: bool,
    layout: str,
) -> None:
    """Convert judgments, or a run, to the format of another tool.

    What the format of OUT cannot hold, such as assessors, texts or unjudged documents, is counted
    and named on stderr. OUT appears whole or not at all; - is standard input or output.
    """
    is_data = FORMATS[layout].is_data
    if is_data and target == "-":
        raise OptionError(
            f"--format {layout}: found - as OUT, which is standard output, expected a file, since "
            "the report goes there"
        )
    input_options.refuse_standard_input_twice(
        source, *(path for path in (queries, documents, group) if path)
    )
    inputs = (source, queries, documents, group)
    options.refuse_to_replace(target, inputs, option="OUT")
    options.refuse_to_replace(write_queries, inputs, option="--write-queries")
    conversion = convert_files(
        source,
        target,
        source_format=source_format,
        target_format=target_format,
        content=content,
        queries=queries,
        documents=documents,
        write_queries=write_queries,
        assessors=assessors,
        scale=_scale(scale),
        labels=parse_labels(labels_text),
        columns=parse_columns(columns) if columns else None,
        group=group,
        keep_unjudged=keep_unjudged,
        name=name,
        strict=strict,
        tell=input_options.notes().inform,
    )
    if is_data:
        _FORMATS.write(layout, None, conversion)
        return
    for loss in conversion.losses:
        console.say("warning", f"{source}: {loss.text}")
    console.say("note", _text(conversion))


def _scale(text: str) -> list[float]:
    grades = [parse_number(part) for part in text.split(",")] if text else []
    if not all(grade is not None and isfinite(grade) for grade in grades):
        raise OptionError(f"--scale {shlex.quote(text)}: expected grades such as 0,1,2,3")
    return [grade for grade in grades if grade is not None]
