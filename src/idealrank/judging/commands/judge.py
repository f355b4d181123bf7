"""`idealrank judge`: commands about the judgments themselves."""

import click

from idealrank._features import command_homes
from idealrank.cli.lazy_groups import LazyGroup

# Command -> what it does in one line, the same line as in its own help (a test compares them).
COMMANDS = {
    "agreement": "Measure how far assessors agree, by grade, assessor and query.",
    "bounds": "Bound what the grades of unjudged documents could change.",
    "check": "Compare judges with a human: agreement, bias, order of systems, worth of a label.",
    "correct": "Correct the values that a judge gives runs, with a few human labels.",
    "draw": "Sample queries to label, with weights, cost and precision.",
    "infer": "Estimate values of runs from a sample of judgments.",
    "next": "Choose the documents to label next, to settle a comparison soonest.",
    "no-answer": "Choose a score threshold for queries without an answer.",
    "nuggets": "Score answers by the nuggets they contain, and compare systems.",
    "pool": "Pool the documents of runs to judge, or a sample of them.",
    "reuse": "Leave each run out of the pool: are the judgments reusable?",
    "run": "Let a judge, such as a language model, grade a list of pairs.",
    "ui": "Label pairs of query and document on a local web page.",
}

_EPILOG = """\
Start here:

\b
  idealrank judge agreement ann.qrels ben.qrels
  idealrank judge bounds qrels.txt bm25.run neural.run --depth 10
  idealrank judge check human.qrels --judge-qrels model=model.qrels bm25.run neural.run
  idealrank judge correct human.qrels --judge-qrels model=model.qrels bm25.run neural.run
  idealrank judge next qrels.txt bm25.run neural.run --budget 50
  idealrank judge no-answer qrels.txt neural.run --unanswerable nothing.txt --limit 0.05
  idealrank judge pool bm25.run neural.run --depth 10
  idealrank judge draw traffic.csv --count 100
  idealrank judge nuggets baseline.jsonl new.jsonl
  idealrank judge run judge.yaml -o model.qrels
  idealrank judge ui next.csv -o labels.qrels --queries queries.tsv --documents corpus.jsonl
"""


@click.group(
    cls=LazyGroup,
    lines=COMMANDS,
    home="idealrank.judging.commands",
    epilog=_EPILOG,
    modules=command_homes("judge"),
    short_help="Examine judgments: unjudged documents, agreement of assessors.",
)
def judge() -> None:
    """Examine judgments: unjudged documents, agreement of assessors, and grades of a judge.

    An assessor is a person or a model. Their grades are compared, and never merged.
    """
