"""Cautions for the reader of a page: one sentence each, with a number and an action."""

from collections.abc import Collection, Iterator, Sequence

from idealrank.analysis.comparison import Comparison, Difference, Pair
from idealrank.analysis.gate.outcome import TOO_FEW
from idealrank.analysis.robustness import Robustness
from idealrank.analysis.robustness.robustness import listed
from idealrank.data.alignment import Alignment
from idealrank.evaluation.coverage import beyond_bounds
from idealrank.evaluation.evaluate import Evaluation
from idealrank.reports.subject import Subject, leading_pairs
from idealrank.reports.table.cells import counted
from idealrank.reports.table.text import one_line
from idealrank.reports.views.comparison.columns import Shown
from idealrank.reports.views.comparison.verdicts import is_identical, word
from idealrank.reports.views.conventions import JUDGED, cautioned
from idealrank.reports.views.gate.sentences import names

_FEW = 25  # queries below which a mean says little
_UNJUDGED = 0.05  # share of unjudged documents from which there is a caution
_UNJUDGED_APART = 0.05  # two runs whose shares differ by so much are not judged alike
_TIED = 0.05  # share of queries with equal scores from which there is a caution
_SAME = 0.8  # share of queries with the same value in both runs, likewise
_NEAR = 6  # near ties that have a sentence each


def cautions(subject: Subject) -> list[str]:
    """List the cautions that apply, the gravest first."""
    named = list(zip(map(one_line, subject.names), subject.evaluations, strict=True))
    told = [
        *_doubts(subject, named),
        *cautioned(subject.cautions),
        *_missing(named),
        *_unjudged(named),
    ]
    if subject.comparison is not None:
        told += [
            f"{_sentence(sentence)}: a difference may come from the judgments alone."
            for sentence in JUDGED[subject.comparison.method.judgments]
        ]
        told += [*_on_judged(subject.comparison), *_near_ties(subject.comparison)]
    if subject.robustness is not None:
        told.append(robust_sentence(subject.robustness, subject.comparison))
    return [*told, *_few(subject), *_tied(named), *_without_judgments(named), *_duplicates(named)]


def robust_sentence(robustness: Robustness, comparison: Comparison | None = None) -> str:
    """Say under how many variants the verdict holds, and which change it. A variant that changes no
    number is not evidence, and is not counted.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels, ranked = {f"q{i}": {"x": 1} for i in range(6)}, (["y", "x"], ["x", "y"])
    >>> a, b = ({query: ranking for query in qrels} for ranking in ranked)
    >>> robust_sentence(ir.robust(qrels, a, b, "RR", variants=["cutoff", "ties"]))
    'The verdict on B against A (better) holds under the one variant of measure and convention that changes the numbers.'
    """  # noqa: E501
    compared_verdict = None
    if comparison is not None:
        compared_verdict = next(iter(leading_pairs(comparison)[0].measures.values())).verdict
    # the verdict of a comparison may differ, since several tests are corrected together
    condition = ", tested alone" if compared_verdict not in (None, robustness.asked.verdict) else ""
    if TOO_FEW in (compared_verdict, robustness.verdict):
        condition = ", if there were enough judgments"
    verdict = (
        f"The verdict on {one_line(robustness.run_b)} against {one_line(robustness.run_a)} "
        f"({word(robustness.asked)}{condition})"
    )
    total = len(robustness.changing)
    turning = [variant.change for variant in robustness.changing if variant.verdict_turns]
    if not total:
        return (
            f"{verdict} depends on no switch: no tested variant of measure and convention changes "
            f"the numbers."
        )
    if turning:
        holds = "no" if len(turning) == total else f"{total - len(turning):,} of {total:,}"
        return (
            f"{verdict} holds under {holds} variants of measure and convention. It changes with "
            f"{listed(turning)}."
        )
    every = "the one variant of measure and convention that changes"
    if total > 1:
        every = f"all {total:,} variants of measure and convention that change"
    of_pairs = ""
    if robustness.pairs:
        changes = listed([pair.change for pair in robustness.pairs], most=3)
        of_pairs = f". Two changes together alter it: {changes}"
    return f"{verdict} holds under {every} the numbers{of_pairs}."


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _missing(named: Sequence[tuple[str, Evaluation]]) -> Iterator[str]:
    some = {}
    for name, evaluation in named:
        cover = evaluation.coverage
        if 0 < cover.missing < cover.queries_in_qrels:
            some[name] = cover
    fates = {"zero": "count as 0", "left-out": "are left out"}
    fate = fates.get(_alignment(named).missing, "are an error")
    if some:
        name = max(some, key=lambda run: some[run].missing)
        worst = some[name]
        others = _others(some)
        judged = counted(worst.queries_in_qrels, "judged query", "judged queries")
        yield (
            f"{name} does not answer {worst.missing:,} of {judged}{others}. They {fate}. Find the "
            f"reason before you compare."
        )


def _alignment(named: Sequence[tuple[str, Evaluation]]) -> Alignment:
    """The alignment of the convention, which all evaluations share."""
    _, first = named[0]
    return first.convention.alignment


def _others(runs: Collection[str]) -> str:
    """Say in brackets that other runs have the problem, too."""
    if len(runs) < 2:
        return ""
    return f" ({counted(len(runs) - 1, 'other run')}: at most as many)"


def _doubts(subject: Subject, named: Sequence[tuple[str, Evaluation]]) -> Iterator[str]:
    """Doubts about each run; a comparison and a gate show most of them with the verdict."""
    verdict = subject.gated if subject.comparison is None else subject.comparison
    stated = () if verdict is None else verdict.cautions
    for name, evaluation in named:
        doubt = evaluation.coverage.doubt(name)
        if doubt and doubt not in stated:
            yield _sentence(doubt)
    for name, evaluation in named:
        cover = evaluation.coverage
        is_stated = beyond_bounds(evaluation.convention, cover, name) in stated
        if cover.out_of_range and not is_stated:
            yield (
                f"{counted(cover.out_of_range, 'value')} of {name} lie outside the range of their "
                f"measure: look at negative grades and at the gain."
            )


def _unjudged(named: Sequence[tuple[str, Evaluation]]) -> Iterator[str]:
    shares = [evaluation.coverage.unjudged_share for _, evaluation in named]
    if not shares or max(shares) < _UNJUDGED:
        return
    _, first = named[0]
    depth = first.coverage.unjudged_cutoff
    where = f"of the first {depth} documents" if depth else "of the documents"
    run_names = [name for name, _ in named]
    largest_first = sorted(zip(shares, run_names, strict=True), reverse=True)
    # Of two runs both shares are stated, so that they can be compared.
    large = [
        f"{share:.1%} in {name}"
        for share, name in largest_first
        if share >= _UNJUDGED or len(named) == 2
    ]
    listed_shares = large[:_NEAR] + (["..."] if len(large) > _NEAR else [])
    policy = _alignment(named).unjudged
    fates = {"not-relevant": "They count as not relevant. ", "skipped": "They are skipped. "}
    fate = fates.get(policy, "")
    apart = max(shares) - min(shares) >= _UNJUDGED_APART
    advice = "The values may change"
    if apart and policy == "not-relevant":
        advice = "The run with more of them may be better than its value"
    yield (
        f"Unjudged: {', '.join(listed_shares)} {where}. {fate}{advice}. Judge the unjudged "
        f"documents of the largest differences first."
    )


def _on_judged(comparison: Comparison) -> Iterator[str]:
    shown = Shown.of(comparison)
    for pair in leading_pairs(comparison)[:_NEAR]:
        row = next(iter(pair.measures.values()))
        if row.verdict not in ("better", "worse") or row.difference_judged is None:
            continue
        if row.difference * row.difference_judged < 0:
            yield (
                f"On judged documents alone {one_line(pair.b)} is ahead of {one_line(pair.a)} by "
                f"{shown.signed(row.difference_judged)} instead of {shown.signed(row.difference)} "
                f"({row.measure}). The sign depends on unjudged documents, so judge them before "
                f"you decide."
            )


def _near_ties(comparison: Comparison) -> Iterator[str]:
    rows = [(pair, next(iter(pair.measures.values()))) for pair in leading_pairs(comparison)]
    near = [
        (pair, row) for pair, row in rows if row.verdict == "undecided" and not is_identical(row)
    ]
    if len(near) > _NEAR:
        _, first = near[0]
        yield (
            f"{len(near):,} of {counted(len(rows), 'pair')} do not differ significantly by "
            f"{first.measure}: do not order such runs by their means."
        )
    else:
        yield from (_near_tie(pair, row, Shown.of(comparison)) for pair, row in near)
    for pair, row in rows[:_NEAR]:
        alike = row.ties / row.n if row.n else 0.0
        if _SAME <= alike < 1:
            differing = row.n - row.ties
            yield (
                f"{one_line(pair.a)} and {one_line(pair.b)} have the same {row.measure} on "
                f"{row.ties:,} of {row.n:,} queries. The result depends on the other "
                f"{differing:,}: read them."
            )


def _near_tie(pair: Pair, row: Difference, shown: Shown) -> str:
    runs = f"{one_line(pair.b)} and {one_line(pair.a)}"
    if 0 < row.detectable < float("inf") and abs(row.difference) < row.detectable:
        return (
            f"The difference of {runs}, {shown.signed(row.difference)}, is smaller than "
            f"{shown.number(row.detectable)}, the smallest true difference that these queries find "
            f"80% of the time. Undecided does not mean equal: {_more(row)}."
        )
    difference = shown.signed(row.difference)
    return (
        f"The difference of {runs}, {difference}, is not significant (p "
        f"{shown.p(row.p_corrected)}): undecided; {_more(row)}."
    )


def _more(row: Difference) -> str:
    if row.queries_needed is None or row.queries_needed <= row.n:
        return "more queries would find a smaller difference"
    # rounded up to two digits, since more would promise too much
    unit = 10 ** max(len(str(row.queries_needed)) - 2, 0)
    needed = -(-row.queries_needed // unit) * unit
    return f"about {needed:,} queries like these would find a difference worth finding"


def _few(subject: Subject) -> Iterator[str]:
    scored = min(evaluation.coverage.scored for evaluation in subject.evaluations)
    if 0 < scored < _FEW:
        largest_share = 1 / scored
        count = "query counts" if scored == 1 else "queries count"
        yield (
            f"Only {scored} {count}. One of them can move a mean by up to {largest_share:.3f} of "
            f"its range: add queries."
        )


def _tied(named: Sequence[tuple[str, Evaluation]]) -> Iterator[str]:
    ties = _alignment(named).ties
    covers = {name: evaluation.coverage for name, evaluation in named}
    tied = {
        name: cover
        for name, cover in covers.items()
        if cover.scored and cover.tied_queries / cover.scored >= _TIED
    }
    if ties == "expected" or not tied:
        return
    name = max(tied, key=lambda run: tied[run].tied_documents)
    worst = tied[name]
    others = _others(tied)
    yield (
        f"{name} gives equal scores to {worst.tied_documents:,} documents on "
        f"{worst.tied_queries:,} of {worst.scored:,} queries{others}. The convention decides their "
        f"order (ties={ties}). Check the result with ties=expected."
    )


def _without_judgments(named: Sequence[tuple[str, Evaluation]]) -> Iterator[str]:
    counts = [(name, evaluation.coverage.without_judgments) for name, evaluation in named]
    some = {name: count for name, count in counts if count}
    if some and _alignment(named).without_judgments == "left-out":
        largest_count = max(some.values())
        up_to = f"Up to {counted(largest_count, 'query', 'queries')}"
        yield (
            f"{up_to} of {names(some)} have no judgments and are left out. Check that the "
            f"judgments are the right ones."
        )


def _duplicates(named: Sequence[tuple[str, Evaluation]]) -> Iterator[str]:
    for name, evaluation in named:
        duplicates = evaluation.coverage.duplicates
        if duplicates:
            yield (
                f"{name} lists {counted(duplicates, 'document')} more than once for a query: make "
                f"its ids unique."
            )
