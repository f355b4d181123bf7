"""Advice: measures and cutoffs that fit judgments and a run, with reasons in plain sentences.

What is observed: grades, judged share and depth, list lengths, ties.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from idealrank._lazy import printed
from idealrank.data.alignment import check_choice
from idealrank.data.judged import Judged
from idealrank.data.label_kinds import LabelKind
from idealrank.data.segments import starts_of
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import OptionError
from idealrank.measures import MEASURES
from idealrank.measures.measure_texts import number_text

# Ranks down to which the share of unjudged documents is told.
DEPTHS = (1, 5, 10, 20, 50, 100)
# Judgments reach as deep as this share of the documents above is judged.
REACH = 0.9
# More different grades than this are no scale that a person judged on.
_LISTED_GRADES = 20


@dataclass(frozen=True)
class Spread:
    """Least, median and greatest of a count per query."""

    least: float
    median: float
    greatest: float

    @classmethod
    def of(cls, counts: IntArray | FloatArray) -> "Spread":
        """Summarise the counts of all queries; zeros where there is none."""
        if not counts.size:
            return cls(0.0, 0.0, 0.0)
        return cls(float(counts.min()), float(np.median(counts)), float(counts.max()))


@dataclass(frozen=True, kw_only=True)
class Observed:
    """Observed properties of judgments and a run.

    Attributes
    ----------
    queries, unanswered, judgments : int
        Queries that count, those among them without a returned document, and judged documents.
    grades : mapping of float to float
        Share of the judgments that have each grade, as given; empty when there are more than twenty
        different ones.
    n_grades, levels : int
        How many different grades there are, and how many above 0.
    lowest, highest : float
        Grade.
    least_relevant : float
        Lowest grade above 0; 0 when there is none.
    judgments_per_query, relevant_per_query, list_lengths : Spread
        Relevant is a grade above 0; lengths are of the queries that are answered.
    no_relevant : int
        Queries without a grade above 0.
    one_relevant : float
        Of the queries with a relevant document, the share that has exactly one.
    unjudged : mapping of int to float
        By depth: share of unjudged documents down to it.
    judged_depth : int
        The deepest rank down to which nine in ten returned documents are judged; 0 when there is
        none.
    tied : float
        Share of the answered queries with tied scores.
    complete : bool
        Every item is judged, as in arrays of labels.
    reachable : mapping of int to float
        By depth: the greatest mean precision, over queries with a relevant document.
    labels : str
        Kind of the labels: complete, pooled or positive-only; complete for arrays.
    differing, with_others : float
        Share of the queries whose judged documents have different grades, and with both relevant
        and other judged documents, by the threshold of binary measures.
    """

    queries: int
    unanswered: int
    judgments: int
    grades: Mapping[float, float]
    n_grades: int
    levels: int
    lowest: float
    highest: float
    least_relevant: float
    judgments_per_query: Spread
    relevant_per_query: Spread
    no_relevant: int
    one_relevant: float
    list_lengths: Spread
    unjudged: Mapping[int, float]
    judged_depth: int
    tied: float
    complete: bool
    reachable: Mapping[int, float]
    labels: LabelKind = "complete"
    differing: float = 1.0
    with_others: float = 1.0


def observe(
    judged: Judged, depths: tuple[int, ...] = (), labels: LabelKind = "complete"
) -> Observed:
    """Look at an alignment whose hits are all there."""
    judgments = judged.judgments
    n = judged.n_queries
    answered = judged.lengths > 0

    distinct, counts = np.unique(judgments.given, return_counts=True)
    above = distinct[distinct > 0]
    least_relevant = float(above[0]) if above.size else 0.0
    lowest, highest = _ends_of_grades(judged)
    # The threshold of binary measures is 1, or the lowest grade above 0 if that is lower.
    threshold = min(least_relevant, 1.0) if least_relevant else 1.0

    per_query = np.bincount(judgments.query, minlength=n)
    relevant = np.bincount(judgments.query[judgments.given > 0], minlength=n)
    with_relevant = relevant[relevant > 0]

    shares = _unjudged_shares(judged)
    # 1e-12: a share of exactly one tenth may be computed as slightly more.
    within = np.flatnonzero(shares <= 1 - REACH + 1e-12)
    reach = int(within[-1]) + 1 if within.size else 0
    all_depths = {*DEPTHS, *depths}
    if reach:
        all_depths.add(reach)
    looked = sorted(all_depths)
    unjudged = {}
    if shares.size:
        unjudged = {depth: float(shares[min(depth, shares.size) - 1]) for depth in looked}
    reachable = {}
    if with_relevant.size:
        reachable = {
            depth: float(np.mean(np.minimum(with_relevant, depth) / depth)) for depth in looked
        }

    return Observed(
        queries=n,
        unanswered=int(n - np.count_nonzero(answered)),
        judgments=int(judgments.given.size),
        grades=_grade_shares(distinct, counts),
        n_grades=int(distinct.size),
        levels=int(above.size),
        lowest=float(distinct[0]) if distinct.size else 0.0,
        highest=float(distinct[-1]) if distinct.size else 0.0,
        least_relevant=least_relevant,
        judgments_per_query=Spread.of(per_query),
        relevant_per_query=Spread.of(relevant),
        no_relevant=int(n - with_relevant.size),
        one_relevant=_share(with_relevant == 1),
        list_lengths=Spread.of(judged.lengths[answered]),
        unjudged=unjudged,
        judged_depth=reach,
        tied=_share(judged.alignments.tied[answered] > 0),
        complete=judged.complete,
        reachable=reachable,
        labels=labels,
        differing=_share(lowest < highest),
        with_others=_share((lowest < threshold) & (highest >= threshold)),
    )


def _grade_shares(distinct: FloatArray, counts: IntArray) -> dict[float, float]:
    """Share of the judgments that have each grade; of more grades than can be listed, none."""
    if distinct.size > _LISTED_GRADES:
        return {}
    shares = counts / counts.sum()
    return dict(zip(distinct.tolist(), shares.tolist(), strict=True))


def _ends_of_grades(judged: Judged) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest grade of each query that has judged documents."""
    table = judged.judgments
    starts = starts_of(table.query)
    if not starts.size:
        return np.zeros(0), np.zeros(0)
    return np.minimum.reduceat(table.given, starts), np.maximum.reduceat(table.given, starts)


def _share(marked: BoolArray) -> float:
    return float(np.mean(marked)) if marked.size else 0.0


def _unjudged_shares(judged: Judged) -> FloatArray:
    """Share of unjudged documents down to each rank of the longest list."""
    longest = int(judged.lengths.max()) if judged.n_queries else 0
    if not longest:
        return np.zeros(0)
    ending = np.bincount(judged.lengths, minlength=longest + 1)
    returned = judged.n_queries - np.cumsum(ending)[:longest]  # lists that reach each rank
    n_judged = np.bincount(judged.hits.rank, minlength=longest + 1)[1 : longest + 1]
    shares: FloatArray = 1 - np.cumsum(n_judged) / np.cumsum(returned)
    return shares


Surface: TypeAlias = Literal["phone", "desktop", "carousel", "rag"]

# Where a person or a model looks: the ranks, and the reason.
_SURFACES: dict[str, tuple[tuple[int, ...], str]] = {
    "phone": ((5,), "a phone shows about five results before scrolling"),
    "desktop": (
        (10, 20),
        "a desktop page has about ten results, and few people look beyond the second page",
    ),
}
# Ranks assumed for surfaces whose number of places only their owner knows.
_ASSUMED = 5
# Share of the queries from which on they count as most queries.
_MOST = 0.8
# Depths of candidates that a second stage may rerank, the deepest first.
_CANDIDATES = (1000, 100, 50)
_FEW_QUERIES = 30  # fewer queries may have a very different mean
_ENOUGH = 0.1  # share of the queries with something to compare, as for pooled labels


@dataclass(frozen=True)
class Fit:
    """A measure that fits, by its text, and why."""

    measure: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Advice:
    """Observations of judgments and a run, and the measures that fit.

    Attributes
    ----------
    run : str
        Name of the run.
    surface : str or None
        Place where the results are shown, such as ``"phone"``.
    cutoffs : tuple of int
        Recommended cutoffs.
    why : str
        Reason for these cutoffs.
    fits : tuple of Fit
        Recommended measures, best first.
    warnings : tuple of str
        Problems found in the data, one sentence each.
    observed : Observed
        Statistics of the data.

    Examples
    --------
    >>> import idealrank as ir
    >>> advice = ir.advise({"q": {"a": 1, "b": 0}}, {"q": ["b", "a"]}, surface="phone")
    >>> advice.cutoffs, advice.fits[0].measure
    ((5,), 'RR@5')
    """

    run: str
    surface: str | None
    cutoffs: tuple[int, ...]
    why: str
    fits: tuple[Fit, ...]
    warnings: tuple[str, ...]
    observed: Observed

    __str__ = printed

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record.

        Examples
        --------
        >>> import idealrank as ir
        >>> ir.advise({"q": {"a": 1}}, {"q": ["a"]}, visible=3).as_dict()["cutoffs"]
        (3,)
        """
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Display:
    """Place where results are shown, and how many of them are visible."""

    surface: str | None = None
    visible: int | None = None

    def __post_init__(self) -> None:
        if self.surface is not None:
            check_choice("surface", self.surface, get_args(Surface))
        visible = self.visible
        is_whole = isinstance(visible, int | np.integer) and not isinstance(visible, bool)
        if visible is not None and not (is_whole and 1 <= visible < 1 << 31):
            raise OptionError(f"visible={visible!r}: expected a whole number from 1 on, below 2^31")


def advised(judged: Judged, display: Display, *, run: str, labels: LabelKind) -> Advice:
    """Recommend measures and cutoffs for a run that is joined to its judgments."""
    surface = display.surface
    visible = display.visible
    facts = observe(judged, () if visible is None else (visible,), labels)
    cutoffs, why = _cutoffs(facts, surface, visible)
    by_measure: dict[str, Fit] = {}
    for fit in _fits(facts, surface, cutoffs):
        by_measure.setdefault(fit.measure, fit)
    warnings = tuple(_warnings(judged, facts, cutoffs, surface=surface, visible=visible))
    return Advice(
        run=run,
        surface=surface,
        cutoffs=cutoffs,
        why=why,
        fits=tuple(by_measure.values()),
        warnings=warnings,
        observed=facts,
    )


def _cutoffs(
    facts: Observed, surface: str | None, visible: int | None
) -> tuple[tuple[int, ...], str]:
    if surface in ("carousel", "rag"):
        places = visible or _ASSUMED
        why = f"{places} documents go into the prompt"
        if surface == "carousel":
            why = f"{places} items are visible at once"
        return (places,), why if visible else f"{why} (assumed)"
    if visible is not None:
        return ((visible,), f"{visible} results are seen")
    if surface is not None:
        return _SURFACES[surface]
    if facts.complete or facts.judged_depth >= 10:
        return ((10,), "ten is the usual depth, and the judgments reach that far")
    reach = facts.judged_depth
    hint = f"for the ranks that users see, name the surface: {', '.join(get_args(Surface))}"
    if not reach:
        return ((10,), f"ten is the usual depth; {hint}")
    depth = "at rank 1" if reach == 1 else f"down to rank {reach}"
    return ((reach,), f"nine in ten documents are judged {depth}, and fewer below; {hint}")


# --- measures -------------------------------------------------------------------------------------


def _text(name: str, facts: Observed, cutoff: int | None = None, **options: str) -> str:
    """The text of a measure; where grades above 0 lie below 1, a threshold lets them count."""
    if name not in ("nDCG", "DCG") and 0 < facts.least_relevant < 1:
        options["rel"] = number_text(facts.least_relevant)
    text = name
    if options:
        text += f"({','.join(f'{option}={value}' for option, value in sorted(options.items()))})"
    return f"{text}@{cutoff}" if cutoff else text


def _fits(facts: Observed, surface: str | None, cutoffs: tuple[int, ...]) -> Iterator[Fit]:
    k = cutoffs[0]
    if not facts.levels:
        return
    if surface == "rag":
        yield from _prompt(facts, k)
    elif surface == "carousel" and facts.one_relevant < _MOST:
        yield Fit(
            _text("P", facts, k),
            f"all {k} items are seen at once, so the number of good items matters most",
        )
    if facts.one_relevant >= _MOST:
        share = f"{facts.one_relevant:.0%} of the queries with a relevant document have exactly one"
        yield Fit(_text("RR", facts, k), f"{share}: only its rank can be measured")
        yield Fit(
            _text("Success", facts, k),
            f"how often the right answer is among the first {k}; easy to explain",
        )
    if facts.levels >= 2:
        words = (
            f"{facts.levels} different grades above 0: nDCG gives more weight to better documents "
            f"and to higher ranks"
        )
        yield from (Fit(_text("nDCG", facts, cutoff), words) for cutoff in cutoffs)
    elif facts.one_relevant < _MOST:
        words = (
            "one grade above 0, several relevant documents: AP counts all of them, higher ranks "
            "more"
        )
        depth = None if _is_judged_whole(facts) else _round_depth(facts, k)
        yield Fit(_text("AP", facts, depth), words)
        yield from (
            Fit(
                _text("nDCG", facts, cutoff),
                "the same with more weight on the top and a fixed depth",
            )
            for cutoff in cutoffs
        )
    yield from _beside(facts, surface, k)


def _prompt(facts: Observed, k: int) -> Iterator[Fit]:
    if facts.one_relevant >= _MOST:
        yield Fit(
            _text("Success", facts, k),
            f"the answer must be among the {k} documents of the prompt; their order matters less",
        )
    else:
        yield Fit(
            _text("R", facts, k),
            f"only the {k} documents of the prompt can be used; their order matters less",
        )
        yield Fit(_text("P", facts, k), "the rest of the prompt is noise that costs tokens")


def _beside(facts: Observed, surface: str | None, k: int) -> Iterator[Fit]:
    """Return the measures that complement the main measure."""
    length = facts.list_lengths.median
    depth = next((depth for depth in _CANDIDATES if depth <= length and depth > k), None)
    if depth and surface != "rag":
        words = (
            f"for candidates that a second stage reranks: only documents among the first {depth} "
            f"can be found later"
        )
        unjudged = _unjudged_at(facts, depth)
        holes = f"; {unjudged:.0%} of them are unjudged" if unjudged > 0.2 else ""
        yield Fit(_text("R", facts, depth), words + holes)
    if not facts.complete and _unjudged_at(facts, k) > 0.2:
        yield from _of_judged(facts, k)


def _of_judged(facts: Observed, k: int) -> Iterator[Fit]:
    """Measures of judged documents alone, where these are not all alike."""
    graded = "nDCG" if facts.levels >= 2 else ""
    main = graded or ("RR" if facts.one_relevant >= _MOST else "AP")
    if _tells(facts, facts.differing if graded else facts.with_others):
        words = (
            f"in addition: {_unjudged_at(facts, k):.0%} of the first {k} documents are unjudged; "
            f"this measure leaves them out"
        )
        yield Fit(_text(main, facts, k, judged_only="True"), words)
    if "Bpref" in MEASURES and _tells(facts, facts.with_others):
        yield Fit(
            _text("Bpref", facts),
            "in addition: counts only judged bad documents above good documents",
        )


def _tells(facts: Observed, share: float) -> bool:
    """Return whether judged documents alone tell a list from its reverse in enough queries."""
    return facts.labels != "positive-only" or share >= _ENOUGH


def _is_judged_whole(facts: Observed) -> bool:
    return facts.complete or facts.judged_depth >= facts.list_lengths.median


def _round_depth(facts: Observed, k: int) -> int:
    """The deepest usual cutoff that judgments reach, and at least k."""
    return max([k, *(depth for depth in DEPTHS if depth <= facts.judged_depth)])


def _unjudged_at(facts: Observed, k: int) -> float:
    return facts.unjudged.get(k, 0.0)


# --- warnings -------------------------------------------------------------------------------------


def _warnings(
    judged: Judged,
    facts: Observed,
    cutoffs: tuple[int, ...],
    *,
    surface: str | None,
    visible: int | None,
) -> Iterator[str]:
    if surface in ("carousel", "rag") and visible is None:
        count = "items are visible" if surface == "carousel" else "documents go into the prompt"
        yield f"how many {count} is unknown; {_ASSUMED} is assumed; set it with --visible N"
    yield from _about_depth(judged, facts, cutoffs)
    yield from _about_grades(facts)
    yield from _about_queries(facts, cutoffs[0])


def _about_depth(judged: Judged, facts: Observed, cutoffs: tuple[int, ...]) -> Iterator[str]:
    deepest = max(cutoffs)
    if facts.unjudged and not facts.complete and not judged.hits.query.size:
        yield "no returned document is judged; do the query and document ids of both match?"
    elif facts.labels == "positive-only":
        yield from _about_positives(facts, deepest)
    elif (
        not facts.complete
        and facts.judged_depth < deepest
        and facts.list_lengths.greatest > facts.judged_depth
    ):
        reach = (
            f"reach down to rank {facts.judged_depth}"
            if facts.judged_depth
            else "do not cover even rank 1"
        )
        yield (
            f"rank {deepest} is deeper than the judgments, which {reach}: "
            f"{_unjudged_at(facts, deepest):.0%} of the first {deepest} documents are unjudged and "
            "count as not relevant; judge deeper, or choose a smaller cutoff"
        )
    short = int((judged.lengths[judged.lengths > 0] < cutoffs[0]).sum())
    if short:
        lists = facts.queries - facts.unanswered
        yield (
            f"{short:,} of {lists:,} lists have fewer than {cutoffs[0]} documents; missing ones "
            f"count as not relevant"
        )
    tied = _tied_within(judged, deepest)
    if tied > 0.05:
        yield (
            f"in {tied:.0%} of the queries a judged document in the first {deepest} ties with "
            "another, so their order is arbitrary; ties=expected averages over all orders"
        )


def _about_positives(facts: Observed, deepest: int) -> Iterator[str]:
    """Describe what labels of relevant documents alone mean for measures."""
    if _unjudged_at(facts, deepest) > 0:
        yield (
            f"the labels are positive-only: {_unjudged_at(facts, deepest):.0%} of the first "
            f"{deepest} documents have no label and count as not relevant; labels_are "
            "(--labels-are) declares another kind"
        )
    if facts.levels and not _tells(facts, facts.with_others):
        others = (
            ", AUC and judged_only measures" if not _tells(facts, facts.differing) else " and AUC"
        )
        yield (
            f"Bpref{others} are not offered: no judged document is known not to be relevant, "
            f"so a list and its reverse have the same value"
        )


def _tied_within(judged: Judged, deepest: int) -> float:
    """Share of the answered queries whose value at this depth may depend on the order of tied
    documents.
    """
    hits = judged.hits
    answered = int((judged.lengths > 0).sum())
    if hits.tie_first is None or hits.tie_last is None or not answered:
        return 0.0
    tied = (hits.tie_first < hits.tie_last) & (hits.tie_first <= deepest)
    return len(set(hits.query[tied].tolist())) / answered


def _about_grades(facts: Observed) -> Iterator[str]:
    if not facts.levels:
        yield "no judged document has a grade above 0: every measure of relevance is 0 or undefined"
    elif facts.lowest > 0:
        yield (
            f"the lowest grade is {number_text(facts.lowest)}, so every judged document counts as "
            "relevant, and no unjudged document does; if low grades mean bad, set rel= (and gain= "
            "for nDCG)"
        )
    if 0 < facts.least_relevant < 1:
        yield (
            f"grades between 0 and 1 count for nDCG; other measures need "
            f"rel={number_text(facts.least_relevant)}, since the default is 1"
        )
    if facts.lowest < 0:
        yield (
            f"the lowest grade is {number_text(facts.lowest)}; negative grades count as 0 unless "
            f"the convention keeps or removes them"
        )
    if facts.highest > 10:
        worth = f"{2.0 ** min(facts.highest, 1000):.0e}"
        yield (
            f"the highest grade is {number_text(facts.highest)}: gain=exp2 would make it {worth}; "
            f"keep gain=linear"
        )


def _about_queries(facts: Observed, k: int) -> Iterator[str]:
    if facts.no_relevant:
        yield (
            f"{facts.no_relevant:,} of {facts.queries:,} queries have no relevant document and "
            "always count as 0; no_relevant=left-out leaves them out"
        )
    if facts.unanswered:
        yield f"{facts.unanswered:,} of {facts.queries:,} queries are not answered and count as 0"
    ceiling = facts.reachable.get(k, 1.0)
    if ceiling < _MOST:
        few = f"many queries have fewer than {k} relevant documents"
        yield (
            f"P@{k} is {ceiling:.2f} at most here, for {few}; RelP@{k} divides by what is possible"
        )
    if facts.queries < _FEW_QUERIES:
        yield f"{facts.queries} queries are few: other queries may give a very different mean"
