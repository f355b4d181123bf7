"""`idealrank judge check`: whether a judge, such as a language model, agrees with a human, and what
its labels are worth.
"""

from types import ModuleType

import click

from idealrank.cli import headings, input_options, options, text_options
from idealrank.cli.output import Formats
from idealrank.cli.progress import Watch
from idealrank.io.query_files import read_clusters
from idealrank.io.texts import read_texts
from idealrank.judging.commands import label_options
from idealrank.judging.commands.input_files import JudgeFiles, named_texts, refuse_unknown
from idealrank.judging.inputs import check_judges, read_annotators

_EPILOG = """\
Examples:

\b
  One judge, and what it would change about two runs:
    idealrank judge check human.qrels --judge-qrels model=model.qrels bm25.run neural.run
\b
  Several judges side by side; grades above the scale count as its highest:
    idealrank judge check human.qrels --judge-qrels a=a.qrels --judge-qrels b=b.qrels --scale 0,1,2,3 --outside clip
\b
  Is the judge kinder to long documents, or to runs of its own family?
    idealrank judge check human.qrels --judge-qrels model=model.qrels neural.run --documents texts.tsv
        --family model=llama --family neural=llama
\b
  May the judge replace a person? With the grades of several people, lines QUERY ASSESSOR DOCUMENT GRADE:
    idealrank judge check human.qrels --judge-qrels model=model.qrels --assessors people.txt --epsilon 0.15

Agreement shows whether the judge grades each document as the human does. A bias that is the same
for all systems does not matter to their comparison: see the table by rank. Worth is the most
important number. A worth of 0.25 means that four labels of the judge help an estimate as much as
one label of the human. No number of them replaces more than a quarter of the human labels. To
combine both kinds of labels, use `idealrank judge correct`.
"""  # noqa: E501


def _views() -> ModuleType:
    from idealrank.judging.views import check  # noqa: PLC0415  (NumPy; not for the help)

    return check


_FORMATS = Formats(
    "Tables to read;",
    views=_views,
    table="check_parts",
    json="check_json",
    rows="check_rows",
    markdown="check_parts",
)
_WHOLE_TEXT = 1 << 30  # characters of a text that are read, to count its words


@headings.command(
    epilog=_EPILOG,
    short_help="Compare judges with a human: agreement, bias, order of systems, worth of a label.",
)
@click.argument("qrels", metavar="HUMAN")
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@label_options.judges
@label_options.tables
@label_options.scale
@label_options.outside
@label_options.measure
@options.convention
@label_options.clusters
@text_options.documents_option("bias by length in words", "texts_path")
@click.option(
    "--assessors",
    "assessors_path",
    metavar="FILE",
    help="Grades of several people, for the alternative annotator test.",
)
@click.option(
    "--epsilon",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.2,
    show_default=True,
    help="Margin of that test: how much less often than a person the judge may be right.",
)
@click.option(
    "--family",
    "family_texts",
    metavar="NAME=FAMILY",
    multiple=True,
    help="Model family of a judge or run; may be repeated.",
)
@label_options.level
@click.option("--more", "details", is_flag=True, help="Show all tables for each of several judges.")
@_FORMATS.option
@options.output
@options.inputs
def check(
    *,
    qrels: str,
    runs: tuple[str, ...],
    judge_texts: tuple[str, ...],
    table_texts: tuple[str, ...],
    scale_text: str,
    outside: str,
    measure_text: str,
    convention_text: str,
    cluster_path: str | None,
    texts_path: str | None,
    assessors_path: str | None,
    epsilon: float,
    family_texts: tuple[str, ...],
    confidence: float,
    details: bool,
    layout: str,
    output_path: str | None,
    inputs: input_options.Inputs,
) -> None:
    """Compare the grades of judges with the grades of a human.

    All numbers cover the documents of each query that both graded. Intervals leave out whole
    queries. With runs, the report also shows how each judge changes the order of the runs and their
    significant differences, with the same documents judged on both sides.
    """
    files = JudgeFiles.of(
        qrels,
        judges=judge_texts,
        runs=runs,
        tables=table_texts,
        inputs=inputs,
        output=output_path,
        others=(cluster_path, texts_path, assessors_path),
    )
    families = named_texts(family_texts, "--family", "model=llama")
    refuse_unknown(families, {*files.judges, *files.runs})

    convention = options.parse_convention(convention_text)
    watch = Watch()
    tell = input_options.notes().inform
    human, labels, systems = files.read(convention, watch)
    annotators = None if assessors_path is None else read_annotators(assessors_path, tell=tell)
    lengths = None
    if texts_path is not None:
        texts = read_texts(texts_path, length=_WHOLE_TEXT)
        lengths = {name: len(text.split()) for name, text in texts.items()}

    checks = watch.run(
        "judges",
        lambda _: check_judges(
            human,
            labels,
            systems,
            scale=label_options.parse_scale(scale_text),
            outside=outside,
            measure=measure_text,
            convention=convention,
            clusters=None if cluster_path is None else read_clusters(cluster_path),
            lengths=lengths,
            annotators=annotators,
            epsilon=epsilon,
            families=families,
            confidence=confidence,
        ),
    )
    _FORMATS.write(layout, output_path, checks, details=details)
