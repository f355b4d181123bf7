"""`idealrank judge ui`: a local web page on which people label pairs of query and document."""

from functools import partial
from pathlib import Path

import click

from idealrank.cli import console, headings, options, text_options
from idealrank.errors import OptionError
from idealrank.judging.commands.input_files import named_texts

_EPILOG = """\
Examples:

\b
  Label the pairs of a list; texts stand in files of their own:
    idealrank judge ui pairs.csv -o labels.qrels --queries queries.tsv --documents corpus.jsonl
\b
  Words for the grades, a fifth of the pairs labelled by two people, and questions with known answers:
    idealrank judge ui pairs.csv -o labels.qrels --scale "0=Not relevant,1=Related,2=Relevant,3=Exact" --double 0.2 --gold gold.qrels
\b
  Show the grade of a model after each answer:
    idealrank judge ui pairs.csv -o labels.qrels --judge-qrels tiny=model.qrels
\b
  Let other machines label; each browser is asked for the token once:
    IDEALRANK_TOKEN=... idealrank judge ui pairs.csv -o labels.qrels --host 0.0.0.0

PAIRS is CSV, JSON lines or JSON with the columns query and document, and optionally query_text,
title, text, link and priority, as `idealrank judge next` and `judge pool` write it.

Every answer stands in a file of SQLite before the next pair is shown: the same command resumes
after an interruption. After every answer the judgments are written anew: OUTPUT has one grade a pair, the
lower median of its people, with their names in the second column. OUTPUT.raters has each person's
grade, and OUTPUT.labels.csv every answer with its time, its note and its status. If queries or
documents are named by text with blanks, write a table, such as -o labels.csv.
"""  # noqa: E501


@headings.command(
    epilog=_EPILOG, short_help="Label pairs of query and document on a local web page."
)
@click.argument("pairs")
@click.option(
    "-o",
    "--output",
    "output_path",
    cls=options.OnceOption,
    metavar="QRELS",
    required=True,
    help="Judgments to write after every answer: a table if the name ends in .csv, .tsv or .jsonl, "
    "whose ids may be any text; else TREC text.",
)
@click.option(
    "--state", "state_path", metavar="FILE", help="File of all answers.  [default: OUTPUT.sqlite3]"
)
@text_options.queries_option("pairs without a query_text", "queries_path")
@text_options.documents_option("pairs without title and text", "documents_path")
@click.option(
    "--scale",
    "scale_text",
    metavar="GRADE[=WORDS],...",
    default="0=Not relevant,1=Related,2=Relevant,3=Exactly right",
    show_default=True,
    help="Grades, with words for each.",
)
@click.option(
    "--double",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="Share of the pairs that two people label.",
)
@click.option(
    "--gold",
    "gold_path",
    metavar="FILE",
    help="Judgments of pairs with known grades, for every person.",
)
@click.option(
    "--judge-qrels",
    "judge_text",
    metavar="[NAME=]FILE",
    cls=options.OnceOption,
    help="Judgments of a model, shown after a person has answered.",
)
@options.labels
@click.option(
    "--guidelines", "guidelines_path", metavar="FILE", help="Text that explains the grades."
)
@click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of the order and of the pairs labelled twice.",
)
@options.listening(8766)
def ui(
    *,
    pairs: str,
    output_path: str,
    state_path: str | None,
    queries_path: str | None,
    documents_path: str | None,
    scale_text: str,
    double: float,
    gold_path: str | None,
    judge_text: str | None,
    labels_text: str,
    guidelines_path: str | None,
    seed: int,
    host: str,
    port: int,
    token: str | None,
    names: tuple[str, ...],
) -> None:
    """Show the pairs of PAIRS one by one in a browser, and take a grade for each by a key or a
    click.

    Several people may label at the same time: each gives a name, and no two get the same pair
    unless it is to be labelled twice. The page listens on this machine alone and loads nothing from
    elsewhere.
    """
    from idealrank.live.web.label_server import LabelServing, serve_labels  # noqa: PLC0415  (not for the help)

    if token is not None and not token.strip():
        raise OptionError(
            f"token: found an empty one, expected text; set {options.TOKEN_VARIABLE} or leave it "
            "out"
        )
    model_name, model_path = _named_model(judge_text)
    options.refuse_to_replace(
        output_path, (pairs, queries_path, documents_path, gold_path, model_path, guidelines_path)
    )
    serving = LabelServing(
        pairs=pairs,
        output=output_path,
        state=state_path or f"{output_path}.sqlite3",
        queries=queries_path,
        documents=documents_path,
        scale=scale_text,
        double=double,
        gold=gold_path,
        model=model_path,
        model_name=model_name,
        labels=labels_text,
        guidelines=guidelines_path,
        seed=seed,
        host=host,
        port=port,
        token=(token or "").strip(),
        names=names,
    )
    serve_labels(
        serving,
        lambda address: console.tell(f"labelling {pairs} at {address}  (Ctrl-C ends)"),
        partial(console.say, "note"),
    )


def _named_model(text: str | None) -> tuple[str, str | None]:
    """Return name and path of a model's judgments, which have the stem of their file without a
    name.
    """
    if not text:
        return "model", None
    if "=" not in text:
        return Path(text).stem, text
    [(name, path)] = named_texts([text], "--judge-qrels", "tiny=model.qrels").items()
    return name, path
