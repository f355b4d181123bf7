"""`idealrank theory distinguish`: whether a measure keeps its mind about two rankers as the list
grows.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import click
import numpy as np

from idealrank.cli import console, headings, input_options
from idealrank.cli import options as shared
from idealrank.cli.output import Formats
from idealrank.cli.progress import Watch
from idealrank.conventions import Convention
from idealrank.data.qrels import Qrels
from idealrank.data.run import Ranking, Run
from idealrank.errors import InputError, near_ids
from idealrank.theory import distinguish_many
from idealrank.theory.commands import model_options

_DEFAULT = (("log2",), ("all", "0.2n", "10"))
_EPILOG = """\
Examples:

\b
  idealrank theory distinguish --a 0.1+0.8s --b 0.2+0.6s --simulations 50 --length 100,1000,10000
  idealrank theory distinguish --a 0.1+0.8s --b 0.5 --discount 'log2,geometric(2)' --cutoff all --simulations 50 --length 10,100,1000
  idealrank theory distinguish qrels.txt bm25.run neural.run --query q1 --format csv

`idealrank theory limits --help` explains the syntax of models; repeat --a and --b for several
grades. Both models must have the same share of relevant documents.
"""  # noqa: E501


def _views() -> ModuleType:
    from idealrank.theory.views import tables  # noqa: PLC0415  (NumPy; not for the help)

    return tables


_FORMATS = Formats(
    "A table to read;",
    views=_views,
    table="distinguished_table",
    json="distinguished_json",
    rows="distinguished_rows",
)


@headings.command(
    epilog=_EPILOG, short_help="Simulate the order of two rankers by a measure as lists grow."
)
@click.argument("runs", nargs=-1, metavar="[QRELS RUN_A RUN_B]")
@click.option(
    "--a",
    "texts_a",
    metavar="MODEL",
    multiple=True,
    help="Probability of relevance of ranker a, such as 0.1+0.8s.",
)
@click.option(
    "--b", "texts_b", metavar="MODEL", multiple=True, help="Probability of relevance of ranker b."
)
@click.option(
    "--query", "query_id", metavar="ID", help="Query to use, with files of several queries."
)
@model_options.discounts(_DEFAULT[0])
@model_options.cutoffs(_DEFAULT[1])
@click.option(
    "--length",
    "size_texts",
    metavar="N",
    multiple=True,
    help="List lengths.  [default: at least 4 per factor of 10, up to 100,000 or all documents]",
)
@click.option(
    "--simulations",
    "n_lists",
    metavar="N",
    type=click.IntRange(2),
    default=200,
    show_default=True,
    help="Number of growing lists.",
)
@model_options.seed
@model_options.gain
@_FORMATS.option
@shared.output
@shared.inputs
@shared.threads
def distinguish(
    *,
    runs: tuple[str, ...],
    texts_a: tuple[str, ...],
    texts_b: tuple[str, ...],
    query_id: str | None,
    discount_texts: tuple[str, ...],
    cutoff_texts: tuple[str, ...],
    size_texts: tuple[str, ...],
    n_lists: int,
    seed: int,
    gain: str,
    layout: str,
    output_path: str | None,
    inputs: input_options.Inputs,
    threads: int,
) -> None:
    """Draw growing lists, and count how often a measure puts ranker a above ranker b, and keeps
    this order.

    The rankers are two models, or two runs on the documents of one query: then each list takes
    these documents in a random order. The counts describe the requested lengths, not longer lists.
    """
    pairs = model_options.pairs(discount_texts, cutoff_texts, _DEFAULT)
    sizes = model_options.list_sizes(size_texts, "--length") or None
    if runs:
        rivals = _scores(runs, texts_a + texts_b, query_id, inputs)
    else:
        rivals = _models(texts_a, texts_b, gain)
    counted = Watch().count(
        "lists",
        lambda tell: distinguish_many(
            measures=pairs,
            sizes=sizes,
            runs=n_lists,
            rng=seed,
            gain=gain,
            threads=threads or None,
            progress=tell,
            **rivals,
        ),
    )
    measures = [model_options.measure_text(pair) for pair in pairs]
    _FORMATS.write(layout, output_path, counted, measures=measures, every_size=sizes is not None)


def _models(texts_a: Sequence[str], texts_b: Sequence[str], gain: str) -> dict[str, Any]:
    if not texts_a or not texts_b:
        raise click.UsageError(
            "expected two rankers: --a MODEL and --b MODEL, or the files QRELS RUN_A RUN_B"
        )
    return {
        "a": model_options.model_of(texts_a, "--a", gain),
        "b": model_options.model_of(texts_b, "--b", gain),
    }


def _scores(
    paths: tuple[str, ...],
    models: Sequence[str],
    query_id: str | None,
    inputs: input_options.Inputs,
) -> dict[str, Any]:
    """Labels and scores of the documents of one query that both runs list."""
    if len(paths) != 3 or models:
        raise click.UsageError(
            f"found {len(paths)} files{' and a model' if models else ''}, expected QRELS RUN_A "
            "RUN_B, or --a and --b"
        )
    input_options.refuse_standard_input_twice(*paths)
    qrels_path, *run_paths = paths
    names = input_options.run_names(run_paths)
    qrels = inputs.open_qrels(qrels_path, Convention.of("standard"))
    query = _query(qrels, query_id, qrels_path)
    rankings = [
        _ranking(inputs.open_run(path, name, qrels_path), query, path)
        for path, name in zip(run_paths, names, strict=True)
    ]
    first, second = rankings
    return {**_joined(qrels[query], first, second, query), "names": tuple(names)}


def _query(qrels: Qrels, query_id: str | None, path: str) -> str:
    if query_id is not None:
        if query_id not in qrels:
            near = next(iter(near_ids(query_id, qrels)), "")
            raise InputError(
                f"{path}: found no judgments of query {query_id!r}"
                + (f"; did you mean {near}?" if near else "")
            )
        return query_id
    if len(qrels) != 1:
        raise click.UsageError(
            f"{path} has {len(qrels):,} queries, expected --query ID: lists grow under one query"
        )
    return next(iter(qrels))


def _ranking(run: Run, query: str, path: str) -> Ranking:
    try:
        return run.ranking(query)
    except KeyError:
        raise InputError(
            f"{path}: found no documents for query {query!r}, expected some from both runs"
        ) from None


def _scores_of_ranks(ranking: Ranking) -> dict[str, float]:
    """Minus the middle rank of each document: the order and ties of the scores, always finite."""
    return dict(zip(ranking.documents, -(ranking.first + ranking.last) / 2, strict=True))


def _joined(
    grades: dict[str, float], first: Ranking, second: Ranking, query: str
) -> dict[str, Any]:
    """Labels and scores of the documents in both rankings."""
    first_scores = _scores_of_ranks(first)
    second_scores = _scores_of_ranks(second)
    common = [document for document in first.documents if document in second_scores]
    if not common:
        raise InputError(f"query {query!r}: found no common document of both runs, expected some")
    left_out = len(first.documents) + len(second.documents) - 2 * len(common)
    console.say(
        "note",
        f"query {query}: {len(common):,} documents are in both runs; {left_out:,} documents of "
        "only one run are left out",
    )
    return {
        "a": np.array([first_scores[document] for document in common], np.float64),
        "b": np.array([second_scores[document] for document in common], np.float64),
        "labels": np.array([max(grades.get(document, 0.0), 0.0) for document in common]),
    }
