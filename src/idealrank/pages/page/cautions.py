"""Cautions for the reader of a page: one sentence each, with a number and an action."""

from collections.abc import Iterator, Sequence

from idealrank.analysis.comparison import Comparison, Difference, Pair
from idealrank.analysis.gate.outcome import TOO_FEW
from idealrank.analysis.robustness import Robustness
from idealrank.analysis.robustness.robustness import listed
from idealrank.evaluation.coverage import beyond_bounds
from idealrank.evaluation.evaluate import Evaluation
from idealrank.reports.subject import Subject, leading_pairs
from idealrank.reports.table.cells import counted
from idealrank.reports.views.comparison.columns import Shown
from idealrank.reports.views.comparison.verdicts import is_identical, word
from idealrank.reports.views.conventions import JUDGED, cautioned
from idealrank.reports.views.gate.sentences import names, one_line

_FEW = 25  # queries below which a mean says little
_UNJUDGED = 0.05  # share of unjudged documents from which it is said
_UNJUDGED_APART = 0.05  # two runs whose shares differ by so much are not judged alike
_TIED = 0.05  # share of queries with equal scores
_SAME = 0.8  # share of queries on which two runs have the same value
_NEAR = 6  # near ties that are told one by one


def cautions(subject: Subject) -> list[str]:
    """All that apply, the gravest first; none where nothing is wrong."""
    named = list(zip(map(one_line, subject.names), subject.evaluations, strict=True))
    found = [
        *_doubts(subject, named),
        *cautioned(subject.cautions),
        *_missing(named),
        *_unjudged(named),
    ]
    if subject.comparison is not None:
        found += [
            f"{_sentence(said)}: a difference may come from the judgments alone."
            for said in JUDGED[subject.comparison.method.judgments]
        ]
        found += [*_on_judged(subject.comparison), *_near_ties(subject.comparison)]
    if subject.robustness is not None:
        found.append(robust_sentence(subject.robustness, subject.comparison))
    return [*found, *_few(subject), *_tied(named), *_without_judgments(named), *_duplicates(named)]


def robust_sentence(found: Robustness, comparison: Comparison | None = None) -> str:
    """Under how many variants the verdict holds, and which change it; what changes no number is no
    evidence, and is not counted.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels, ranked = {f"q{i}": {"x": 1} for i in range(6)}, (["y", "x"], ["x", "y"])
    >>> a, b = ({query: ranking for query in qrels} for ranking in ranked)
    >>> robust_sentence(ir.robust(qrels, a, b, "RR", variants=["cutoff", "ties"]))
    'The verdict on B against A (better) holds under the one variant of measure and convention that changes the numbers.'
    """  # noqa: E501
    verdict = found.asked.verdict
    shown = (
        None
        if comparison is None
        else next(iter(leading_pairs(comparison)[0].measures.values())).verdict
    )
    alone = ", tested alone" if shown not in (None, verdict) else ""
    alone = ", if there were enough judgments" if TOO_FEW in (shown, found.verdict) else alone
    said = (
        f"The verdict on {one_line(found.run_b)} against {one_line(found.run_a)} "
        f"({word(found.asked)}{alone})"
    )
    total = len(found.changing)
    turning = [one.change for one in found.changing if one.verdict_turns]
    if not total:
        return (
            f"{said} depends on no switch: no tested variant of measure and convention changes "
            f"the numbers."
        )
    if turning:
        holds = "no" if len(turning) == total else f"{total - len(turning):,} of {total:,}"
        return (
            f"{said} holds under {holds} variants of measure and convention. It changes with "
            f"{listed(turning)}."
        )
    every = (
        f"all {total:,} variants of measure and convention that change"
        if total > 1
        else "the one variant of measure and convention that changes"
    )
    both = (
        f". Two changes together alter it: {listed([one.change for one in found.pairs], most=3)}"
        if found.pairs
        else ""
    )
    return f"{said} holds under {every} the numbers{both}."


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _missing(named: Sequence[tuple[str, Evaluation]]) -> Iterator[str]:
    some = {
        name: one.coverage
        for name, one in named
        if 0 < one.coverage.missing < one.coverage.queries_in_qrels
    }
    fate = {"zero": "count as 0", "left-out": "are left out"}.get(
        named[0][1].convention.alignment.missing, "are an error"
    )
    if some:
        name, worst = max(some.items(), key=lambda one: one[1].missing)
        others = (
            f" ({counted(len(some) - 1, 'other run')}: at most as many)" if len(some) > 1 else ""
        )
        yield (
            f"{name} does not answer {worst.missing:,} of "
            f"{counted(worst.queries_in_qrels, 'judged query', 'judged queries')}{others}. "
            f"They {fate}. Find the reason before you compare."
        )


def _doubts(subject: Subject, named: Sequence[tuple[str, Evaluation]]) -> Iterator[str]:
    """Doubts about each run; a comparison and a gate have most of them beside the verdict."""
    verdict = subject.gated if subject.comparison is None else subject.comparison
    told = () if verdict is None else verdict.cautions
    for name, one in named:
        doubt = one.coverage.doubt(name)
        if doubt and doubt not in told:
            yield _sentence(doubt)
    unsaid = [
        (name, one)
        for name, one in named
        if beyond_bounds(one.convention, one.coverage, name) not in told
    ]
    yield from _out_of_range(unsaid)


def _out_of_range(named: Sequence[tuple[str, Evaluation]]) -> Iterator[str]:
    for name, one in named:
        if one.coverage.out_of_range:
            yield (
                f"{counted(one.coverage.out_of_range, 'value')} of {name} lie outside the "
                f"range of their measure: look at negative grades "
                "and at the gain."
            )


def _unjudged(named: Sequence[tuple[str, Evaluation]]) -> Iterator[str]:
    shares = [one.coverage.unjudged_share for _, one in named]
    if not shares or max(shares) < _UNJUDGED:
        return
    depth = named[0][1].coverage.unjudged_cutoff
    where = f"of the first {depth} documents" if depth else "of the documents"
    told = sorted(zip(shares, (name for name, _ in named), strict=True), reverse=True)
    large = [
        f"{share:.1%} in {name}" for share, name in told if share >= _UNJUDGED or len(told) == 2
    ]
    some = large[:_NEAR] + (["..."] if len(large) > _NEAR else [])
    policy = named[0][1].convention.alignment.unjudged
    fate = {"not-relevant": "They count as not relevant. ", "skipped": "They are skipped. "}.get(
        policy, ""
    )
    apart = max(shares) - min(shares) >= _UNJUDGED_APART
    advice = (
        "The run with more of them may be better than its value"
        if apart and policy == "not-relevant"
        else "The values may change"
    )
    yield (
        f"Unjudged: {', '.join(some)} {where}. {fate}{advice}. Judge the unjudged documents "
        f"of the largest differences first."
    )


def _on_judged(comparison: Comparison) -> Iterator[str]:
    shown = Shown.of(comparison)
    for pair in leading_pairs(comparison)[:_NEAR]:
        row = next(iter(pair.measures.values()))
        decided = row.verdict in ("better", "worse")
        if (
            decided
            and row.difference_judged is not None
            and row.difference * row.difference_judged < 0
        ):
            yield (
                f"On judged documents alone {one_line(pair.b)} is ahead of {one_line(pair.a)} "
                f"by {shown.signed(row.difference_judged)} "
                f"instead of {shown.signed(row.difference)} ({row.measure}). The sign depends "
                f"on unjudged documents, so judge them before "
                "you decide."
            )


def _near_ties(comparison: Comparison) -> Iterator[str]:
    rows = [(pair, next(iter(pair.measures.values()))) for pair in leading_pairs(comparison)]
    near = [
        (pair, row) for pair, row in rows if row.verdict == "undecided" and not is_identical(row)
    ]
    if len(near) > _NEAR:
        yield (
            f"{len(near):,} of {counted(len(rows), 'pair')} do not differ significantly by "
            f"{near[0][1].measure}: do not order such "
            "runs by their means."
        )
    else:
        yield from (_near_tie(pair, row, Shown.of(comparison)) for pair, row in near)
    for pair, row in rows[:_NEAR]:
        alike = row.ties / row.n if row.n else 0.0
        if _SAME <= alike < 1:
            differing = row.n - row.ties
            yield (
                f"{one_line(pair.a)} and {one_line(pair.b)} have the same {row.measure} on "
                f"{row.ties:,} of {row.n:,} queries. The result "
                f"depends on the other {differing:,}: read them."
            )


def _near_tie(pair: Pair, row: Difference, shown: Shown) -> str:
    runs = f"{one_line(pair.b)} and {one_line(pair.a)}"
    if 0 < row.detectable < float("inf") and abs(row.difference) < row.detectable:
        return (
            f"The difference of {runs}, {shown.signed(row.difference)}, is smaller than "
            f"{shown.number(row.detectable)}, the smallest true "
            f"difference that these queries find 80% of the time. Undecided does not mean "
            f"equal: {_more(row)}."
        )
    difference = shown.signed(row.difference)
    return (
        f"The difference of {runs}, {difference}, is not significant (p "
        f"{shown.p(row.p_corrected)}): undecided; {_more(row)}."
    )


def _more(row: Difference) -> str:
    if row.queries_needed is None or row.queries_needed <= row.n:
        return "more queries would find a smaller difference"
    # two digits, upwards: the rest would be a promise
    unit = 10 ** max(len(str(row.queries_needed)) - 2, 0)
    return (
        f"about {-(-row.queries_needed // unit) * unit:,} queries like these would find a "
        f"difference worth finding"
    )


def _few(subject: Subject) -> Iterator[str]:
    scored = min(one.coverage.scored for one in subject.evaluations)
    if 0 < scored < _FEW:
        most = 1 / scored
        count = "query counts" if scored == 1 else "queries count"
        yield (
            f"Only {scored} {count}. One of them can move a mean by up to {most:.3f} of its "
            f"range: add queries."
        )


def _tied(named: Sequence[tuple[str, Evaluation]]) -> Iterator[str]:
    ties = named[0][1].convention.alignment.ties
    covers = {name: one.coverage for name, one in named}
    tied = {
        name: cover
        for name, cover in covers.items()
        if cover.scored and cover.tied_queries / cover.scored >= _TIED
    }
    if ties == "expected" or not tied:
        return
    name, worst = max(tied.items(), key=lambda one: one[1].tied_documents)
    others = f" ({counted(len(tied) - 1, 'other run')}: at most as many)" if len(tied) > 1 else ""
    yield (
        f"{name} gives equal scores to {worst.tied_documents:,} documents on "
        f"{worst.tied_queries:,} of {worst.scored:,} queries{others}. "
        f"The convention decides their order (ties={ties}). Check the result with ties=expected."
    )


def _without_judgments(named: Sequence[tuple[str, Evaluation]]) -> Iterator[str]:
    some = {
        name: one.coverage.without_judgments
        for name, one in named
        if one.coverage.without_judgments
    }
    if some and named[0][1].convention.alignment.without_judgments == "left-out":
        most = max(some.values())
        yield (
            f"Up to {counted(most, 'query', 'queries')} of {names(some)} have no judgments "
            f"and are left out. Check that the judgments are "
            "the right ones."
        )


def _duplicates(named: Sequence[tuple[str, Evaluation]]) -> Iterator[str]:
    for name, one in named:
        if one.coverage.duplicates:
            yield (
                f"{name} lists {counted(one.coverage.duplicates, 'document')} more than once for "
                f"a query: make its ids unique."
            )
