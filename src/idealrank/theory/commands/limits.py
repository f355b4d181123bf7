"""`idealrank theory limits`: what NDCG tends to, and what it is on the way.

A ranker may come from files: what its run says of the documents that were judged, as arrays for the
theory.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import ModuleType
from typing import Any, Protocol

import click
import numpy as np

from idealrank.cli import console, headings, input_options
from idealrank.cli import options as shared
from idealrank.cli.output import Formats
from idealrank.cli.progress import Count, Watch
from idealrank.conventions import Convention
from idealrank.data.align import align
from idealrank.data.judged import Judged
from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import InputError, OptionError
from idealrank.measures.cutoffs import cutoff_text
from idealrank.theory import YbarEstimate, estimate_ybar, feasibility, limit, pseudo_expectation
from idealrank.theory.commands import model_options
from idealrank.theory.relevance import RelevanceModel
from idealrank.theory.views.tables import Ended, LimitRow


@dataclass(frozen=True, eq=False)
class LabelledLists:
    """Lists as returned, one after another."""

    labels: FloatArray  # shape (n_documents,): grades, 0 if unjudged
    # shape (n_documents,): minus the rank; minus the middle rank of a tie where scores are tied
    scores: FloatArray
    lengths: IntArray  # shape (n_queries,): documents of each list


def labelled(judged: Judged) -> LabelledLists:
    """Every rank of every list with its grade."""
    hits = judged.hits
    lengths = judged.lengths
    starts = np.cumsum(lengths) - lengths
    labels = np.zeros(int(lengths.sum()))
    labels[starts[hits.query] + hits.rank - 1] = np.maximum(hits.grade, 0.0)
    # A score is the rank turned round; a tied document has the middle of the ranks of its tie.
    scores = (np.repeat(starts, lengths) - np.arange(labels.size) - 1).astype(np.float64)
    if hits.tie_first is not None and hits.tie_last is not None:
        sizes = hits.tie_last - hits.tie_first + 1
        first = np.repeat(starts[hits.query] + hits.tie_first - 1, sizes)
        within = np.arange(first.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        scores[first + within] = np.repeat(-(hits.tie_first + hits.tie_last) / 2, sizes)
    return LabelledLists(labels=labels, scores=scores, lengths=lengths)


def lists_of(
    qrels_path: str, run_path: str, inputs: input_options.Inputs, progress: Any = None
) -> LabelledLists:
    """The lists of a run, labelled; a note says how much of them was judged."""
    input_options.refuse_standard_input_twice(qrels_path, run_path)
    convention = Convention.of("standard")
    qrels = inputs.open_qrels(qrels_path, convention)
    (name,) = input_options.run_names([run_path])
    judged = align(
        qrels, inputs.open_run(run_path, name, qrels_path), convention.alignment, progress=progress
    )
    lists = labelled(judged)
    lists = replace(lists, lengths=lists.lengths[lists.lengths > 0])
    if not lists.labels.size:
        raise InputError(
            f"{run_path}: found no documents for any of the queries of {qrels_path}, expected some"
        )
    unjudged = lists.labels.size - judged.hits.rank.size
    console.say(
        "note",
        f"{lists.lengths.size:,} lists of {lists.labels.size:,} documents; {unjudged:,} of them "
        "unjudged, counted not relevant",
    )
    return lists


_DEFAULT = (("log2", "zipf(0.5)", "geometric(2)"), ("all", "0.2n", "10"))
_SIZES = ("100", "10_000", "1e6")
_CERTAIN = (
    "a few documents at the top decide, and their relevance is certain in the limit, so NDCG "
    "converges: Theorem 10 requires probabilities strictly between 0 and 1 at the very top."
)
_EPILOG = """\
Examples:

\b
  idealrank theory limits --ybar 0.1+0.8s
  idealrank theory limits --ybar 'logistic(8,-5)' --discount 'zipf(0.5)' --cutoff 0.2n --length 1e12
  idealrank theory limits --ybar 0:0.1,0.8:0.1,0.8:0.9,1:0.9 --format json
  idealrank theory limits --ybar 2:0.05+0.35s^2 --ybar 1:0.2+0.2s --gain exp2
  idealrank theory limits qrels.txt bm25.run --discount log2 --cutoff all --length 1000,1e6

s is the share of documents that the ranker ranks lower: 0 at the bottom of the list, 1 at the top.
--ybar is the probability that a document at s is relevant:

\b
  0.1+0.8s                     a polynomial in s, with + - * ^ and brackets
  logistic(8,-5)               1 / (1 + exp(-(8s - 5)))
  0:0.1,0.5:0.3,0.5:0.9,1:0.9  points s:probability joined by lines, with a jump at 0.5
  curve.csv                    points from a file, with s,probability on each line
  2:0.1s --ybar 1:0.3          one probability for each grade
"""


def _views() -> ModuleType:
    from idealrank.theory.views import tables  # noqa: PLC0415  (NumPy; not for the help)

    return tables


_FORMATS = Formats(
    "A table to read;",
    views=_views,
    table="limits_table",
    json="limits_json",
    rows="limits_rows",
)


@headings.command(
    epilog=_EPILOG,
    short_help="Compute the limit of NDCG as lists grow, and its mean at any length.",
)
@click.argument("runs", nargs=-1, metavar="[QRELS RUN]")
@click.option(
    "--ybar",
    "texts",
    metavar="MODEL",
    multiple=True,
    help="Probability of relevance along the list; see below.",
)
@model_options.discounts(_DEFAULT[0])
@model_options.cutoffs(_DEFAULT[1])
@click.option(
    "--length",
    "size_texts",
    metavar="N",
    multiple=True,
    help=f"List lengths, as in 1000,1e6; repeat, or separate with commas.  [default: "
    f"{','.join(_SIZES)}]",
)
@model_options.gain
@click.option(
    "--resamples",
    metavar="N",
    type=click.IntRange(20),
    default=200,
    show_default=True,
    help="Number of bootstrap samples for an interval, with files.",
)
@model_options.seed
@_FORMATS.option
@shared.output
@shared.inputs
def limits(
    *,
    runs: tuple[str, ...],
    texts: tuple[str, ...],
    discount_texts: tuple[str, ...],
    cutoff_texts: tuple[str, ...],
    size_texts: tuple[str, ...],
    gain: str,
    resamples: int,
    seed: int,
    layout: str,
    output_path: str | None,
    inputs: input_options.Inputs,
) -> None:
    """Compute the limit of NDCG of one query as its list grows, by theorem, and its mean at some
    list lengths.

    Read a limit together with the lengths: under the logarithmic discount all rankers tend to 1,
    and most are far from it on any real list. With one discount and one cutoff, the output also has
    the conditions of the theorem and the rate.

    The ranker is a model (--ybar), or a run. For a run, the probability of relevance along its
    lists is estimated from the judgments, and values come with intervals. They describe longer
    lists of such documents for such queries.
    """
    if bool(texts) == bool(runs) or len(runs) not in {0, 2}:
        raise click.UsageError(
            f"found {_given(runs, texts)}, expected one ranker: --ybar MODEL, or the files QRELS "
            "RUN"
        )
    pairs = model_options.pairs(discount_texts, cutoff_texts, _DEFAULT)
    sizes = model_options.list_sizes(size_texts or _SIZES, "--length")
    watch = Watch()
    ranker: _Ranker
    if runs:
        qrels_path, run_path = runs

        def estimated(progress: Any) -> Estimated:
            lists = lists_of(qrels_path, run_path, inputs, progress)
            return Estimated(
                estimate=estimate_ybar(lists.labels, lists.scores, lists.lengths, rel="graded"),
                name=input_options.run_names([run_path])[0],
                gain=gain,
                resamples=resamples,
                seed=seed,
            )

        ranker = watch.run(run_path, estimated)
    else:
        ranker = Typed(model_options.model_of(texts, "--ybar", gain), ", ".join(texts))

    def work(progress: Count) -> list[LimitRow]:
        rows = []
        for number, pair in enumerate(pairs):
            progress(number, len(pairs))
            rows.append(_row(ranker, pair, sizes))
        return rows

    rows = watch.count("limits", work)
    _FORMATS.write(layout, output_path, rows, sizes, model=ranker.model, name=ranker.text)


def _given(runs: Sequence[str], texts: Sequence[str]) -> str:
    """Describe the model as typed."""
    sources = []
    if runs:
        sources.append(f"{len(runs)} file{'s' if len(runs) > 1 else ''} ({', '.join(runs)})")
    if texts:
        sources.append("--ybar")
    return " and ".join(sources) or "neither --ybar nor files"


class _Ranker(Protocol):
    """Properties of a ranker for one row."""

    @property
    def model(self) -> RelevanceModel: ...
    @property
    def text(self) -> str: ...
    def limit(self, pair: model_options.Pair) -> Ended: ...
    def means(self, sizes: Sequence[int], pair: model_options.Pair) -> list[Ended]: ...


@dataclass(frozen=True)
class Typed:
    """A model from the command line."""

    model: RelevanceModel
    text: str

    def limit(self, pair: model_options.Pair) -> Ended:
        """Return the limit of a measure."""
        discount, cutoff = pair
        return Ended(limit(self.model, discount=discount, cutoff=cutoff).value)

    def means(self, sizes: Sequence[int], pair: model_options.Pair) -> list[Ended]:
        """Return N* at each list length."""
        return [Ended(value) for value in pseudo_expectation(self.model, sizes, *pair).tolist()]


@dataclass(frozen=True, kw_only=True)
class Estimated:
    """A ranker known by its labelled lists."""

    estimate: YbarEstimate
    name: str
    gain: str
    resamples: int
    seed: int

    @property
    def model(self) -> RelevanceModel:
        """The estimate as a model."""
        return RelevanceModel.of(self.estimate.ybar, points=self.estimate.points, gain=self.gain)

    @property
    def text(self) -> str:
        """Title of a table."""
        estimate = self.estimate
        return (
            f"{self.name} ({estimate.n:,} documents of {estimate.n_queries:,} queries; "
            f"{estimate.method}; {estimate.check})"
        )

    def limit(self, pair: model_options.Pair) -> Ended:
        """Return the limit of a measure, with its interval."""
        implied = self.estimate.limit(
            *pair, gain=self.gain, resamples=self.resamples, rng=self.seed
        )
        return Ended(implied.value, implied.low, implied.high)

    def means(self, sizes: Sequence[int], pair: model_options.Pair) -> list[Ended]:
        """Return the mean at each list length, with its interval."""
        implied = self.estimate.pseudo_expectation(
            sizes, *pair, gain=self.gain, resamples=self.resamples, rng=self.seed
        )
        return [Ended(mean.value, mean.low, mean.high) for mean in implied]


def _row(ranker: _Ranker, pair: model_options.Pair, sizes: Sequence[int]) -> LimitRow:
    discount, cutoff = pair
    row = partial(
        LimitRow,
        measure=model_options.measure_text(pair),
        discount=discount,
        cutoff=cutoff_text(cutoff).removeprefix("@"),
        means=tuple(_means(ranker, sizes, pair)),
    )
    try:
        statement = limit(ranker.model, discount=discount, cutoff=cutoff)
    except OptionError:
        verdict = feasibility(discount, cutoff)
        if verdict.verdict != "infeasible":
            raise
        # A model that is certain at the very top converges, against the letter of Theorem 10.
        certain = ranker.model.at_top / ranker.model.gains[0]
        if isinstance(ranker, Typed) and certain in {0.0, 1.0}:
            return row(
                limit=Ended(certain),
                theorem=f"not {verdict.theorem}",
                statement=None,
                why_not=_CERTAIN,
            )
        return row(limit=None, theorem=verdict.theorem, statement=None, why_not=verdict.reason)
    return row(limit=ranker.limit(pair), theorem=statement.theorem, statement=statement, why_not="")


def _means(ranker: _Ranker, sizes: Sequence[int], pair: model_options.Pair) -> list[Ended | None]:
    """N* at each list length; None for a single document, and for discounts without a known
    integral, such as a table of weights.
    """
    long = [size for size in sizes if size > 1]
    try:
        mean_of = dict(zip(long, ranker.means(long, pair), strict=True)) if long else {}
    except OptionError:
        mean_of = {}
    return [mean_of.get(size) for size in sizes]
