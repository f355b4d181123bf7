"""Phrases of a comparison: why there are too few judgments, how similar the rankings are, and a
difference as results that users get.

There are too few judgments if the share of unjudged documents that would undo an answer is likely
to be relevant. Every output takes these phrases from here, with names that are fit for its place;
`Phrases` has the words of the answer.
"""

import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from idealrank.analysis.comparison import Difference, Pair, Rankings
from idealrank.analysis.comparison.label_basis import LabelBasis
from idealrank.analysis.comparison.tipping import Tipping
from idealrank.data.label_kinds import LabelKind, declared_by
from idealrank.errors import IdealrankError
from idealrank.measures.cutoffs import Cutoff
from idealrank.measures.measure import Measure
from idealrank.measures.measure_texts import number_text
from idealrank.measures.parse import parse_measure
from idealrank.reports.table.cells import counted

BOTH_RUNS = (
    "for tips at, the unjudged documents of the run ahead count as not relevant; the verdict is "
    "checked twice, with relevant shares for both runs: first likely behind and likely ahead, then "
    "the larger of the two upper limits for both; both times, the difference must stay significant "
    "and keep its sign"
)
"""The rule of the verdict in a phrase: the reason that a difference may be supported although its
tipping point is low.
"""


class NamesOfTest(NamedTuple):
    """Names of a test of differences: in sentences, and in a list of methods."""

    full: str
    short: str


TEST_NAMES: Mapping[str, NamesOfTest] = {
    "permutation": NamesOfTest("sign-flip permutation test", "sign flips"),
    "t": NamesOfTest("paired t test", "Student's t"),
    "wilcoxon": NamesOfTest("Wilcoxon's signed-rank test", "Wilcoxon's signed ranks"),
    "sign": NamesOfTest("sign test", "signs"),
}


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Origin of a request for a result, so that advice names its options and files."""

    command: bool = False  # Whether a command of `idealrank` made the request; else Python
    qrels: str = "QRELS"  # Path of the judgments, if known
    paths: Mapping[str, str] = field(default_factory=dict)  # Path of each run by its name, if known
    options: tuple[str, ...] = ()  # Words of the command that say how files are read and measured

    def judge_next(
        self, a: str, b: str, until: Literal["compare", "gate"], labels_from: str | None = None
    ) -> str:
        """Return the command that writes a sheet of the documents to judge next, until a command
        has a verdict.
        """
        runs = [self.paths.get(name, place) for name, place in ((a, "RUN_A"), (b, "RUN_B"))]
        words = ["idealrank", "judge", "next", self.qrels, *runs, *self.options]
        if labels_from is not None:
            words += ["--labels-from", self.paths.get(labels_from, labels_from)]
        return shlex.join([*words, "--until", until, "-o", "sheet.csv"])

    def declares(self, kind: LabelKind) -> str:
        """Return the option that declares the kind of labels."""
        return declared_by(kind, command=self.command)


IN_PYTHON = Asked()
BY_COMMAND = Asked(command=True)


class Withheld(Protocol):
    """Result whose verdict is withheld: of a comparison, a gate or a sensitivity analysis."""

    @property
    def tipping(self) -> Tipping | None:
        """Tipping point."""
        ...

    @property
    def basis(self) -> LabelBasis | None:
        """Basis of the verdict."""
        ...


class Phrases(NamedTuple):
    """Phrases for the answer of a test, and for the effect of unjudged documents on it."""

    # goes, stays: Clauses for unjudged documents that undo the answer, and that do not
    goes: str = "this difference would no longer be significant"
    stays: str = "this difference would stay significant"
    # Clause for a t test, on which tipping points are based, that finds nothing even as judged
    weak: str = "by the paired t test this difference is not significant"
    # Change of the sign, after ``it would``; empty if the question is not about the sign
    turns: str = "change its sign"


SIGNIFICANT = Phrases()
"""The answer of a comparison: a difference is significant."""


def tipping_text(tipping: Tipping, a: str, b: str, answer: Phrases = SIGNIFICANT) -> str:
    """Describe the tipping point in a clause that begins with a small letter and has no full stop;
    empty if nothing can tip.
    """
    count = tipping.own_behind
    if not count:
        if tipping.reaches or not tipping.unjudged_both or not tipping.significance_both:
            return ""
        needed = share(tipping.significance_both)
        documents = f"{counted(tipping.unjudged_both, 'unjudged document')} that both return"
        return f"{answer.goes} if {needed} of the {documents} were relevant"
    behind, ahead = a, b
    if tipping.side == "b":
        behind, ahead = b, a
    documents = f"the {counted(count, 'unjudged document')} that only {behind} returns"
    clause = f"{_share_text(tipping, documents, answer)}. {_rate_text(tipping, behind)}"
    # The likely share of the run behind would undo the answer; it is supported all the same, since
    # documents of the run ahead are likely to be relevant, too.
    if tipping.reaches and 0 < (tipping.significance or 0) <= tipping.likely:
        clause += (
            f". The verdict holds if documents that only {ahead} returns are relevant as often as "
            "its judged ones"
        )
    return clause + _conclusion(tipping)


def why_too_few(
    tipping: Tipping, a: str, b: str, lost: str = "the difference could be chance"
) -> str:
    """Say in one sentence why there are too few judgments."""
    if not tipping.own_behind:
        if not tipping.unjudged_both or not tipping.significance_both:
            return "Unjudged documents may explain the difference."
        documents = f"{counted(tipping.unjudged_both, 'unjudged document')} that both return"
        return f"If {share(tipping.significance_both)} of the {documents} were relevant, {lost}."
    if tipping.significance is None or tipping.significance > tipping.likely:
        return f"If unjudged documents of both runs are equally likely to be relevant, {lost}."
    name = a if tipping.side == "a" else b
    documents = f"the {counted(tipping.own_behind, 'unjudged document')} that only {name} returns"
    if not tipping.significance:
        return (
            f"Another test, the paired t test, does not show the difference, and {documents} may "
            "be relevant."
        )
    return (
        f"If {share(tipping.significance)} of {documents} were relevant, {lost}; "
        f"{_seen_there(tipping, name)}."
    )


def _seen_there(tipping: Tipping, name: str) -> str:
    """Describe the judged documents that make the needed share likely, in a clause."""
    judged = tipping.rate_judged
    exclusive = tipping.rate_exclusive
    needed = tipping.significance or 0.0
    if judged is not None and judged >= needed:
        return f"of the judged documents at these ranks, {share(judged)} are relevant"
    if exclusive is not None and exclusive >= needed:
        return f"of the judged documents that only {name} returns, {share(exclusive)} are relevant"
    if judged is None and exclusive is None:
        return "no document at these ranks is judged"
    return f"by the judged documents at these ranks, up to {share(tipping.likely)} may be"


def next_step(
    tipping: Tipping, a: str, b: str, until: Literal["compare", "gate"], origin: Asked = IN_PYTHON
) -> str:
    """Say which documents to judge, with the number of labels if it is known."""
    if tipping.labels_needed is not None:
        number_needed = f"About {counted(tipping.labels_needed, 'label')} will decide"
        if origin.paths:  # `labels_command` prints the command on a line of its own
            return f"{number_needed}; the command below chooses them."
        return f"{number_needed}: {origin.judge_next(a, b, until)}"
    behind = a if tipping.side == "a" else b
    which = f" that only {behind} returns" if tipping.own_behind else ""
    again = {"compare": "compare again", "gate": "run the gate again"}[until]
    return f"Judge the unjudged documents{which}, the highest ranks first, and {again}."


def labels_command(
    result: "Withheld", a: str, b: str, until: Literal["compare", "gate"], origin: Asked
) -> list[str]:
    """Return the lines with the command that chooses the labels for a withheld verdict; none if no
    number is known, or no files.
    """
    tipping, basis = result.tipping, result.basis
    if not origin.paths:
        return []
    if basis is not None and basis.one_sided is not None:
        source = a if basis.one_sided.run == "a" else b
        return ["the documents to label:", f"  {origin.judge_next(a, b, until, source)}"]
    if tipping is None or tipping.labels_needed is None:
        return []
    return ["the labels that will decide:", f"  {origin.judge_next(a, b, until)}"]


def _share_text(tipping: Tipping, documents: str, answer: Phrases) -> str:
    if tipping.significance is None:
        return f"{answer.stays} even if all of {documents} were relevant"
    if tipping.significance == 0:
        answer_words = f"{answer.weak} as judged"
        if answer.turns and tipping.sign is not None:
            turns = f"It would {answer.turns} if {share(tipping.sign)} of {documents} were relevant"
            return f"{answer_words}. {turns}"
        return answer_words
    answer_words = f"{answer.goes} if {share(tipping.significance)} of {documents} were relevant"
    if not answer.turns:
        return answer_words
    if tipping.sign is None:
        return f"{answer_words}, but would not {answer.turns} even if all were"
    return f"{answer_words}, and would {answer.turns} if {share(tipping.sign)} were"


def _rate_text(tipping: Tipping, name: str) -> str:
    """Describe the relevant shares of judged documents, to compare with."""
    if tipping.rate_judged is None:
        return "No document at the ranks of these documents is judged"
    rates = (
        f"At the ranks of these documents, {share(tipping.rate_judged)} of the judged documents "
        "are relevant"
    )
    if tipping.rate_exclusive is not None:
        rates += (
            f", and {share(tipping.rate_exclusive)} of the judged documents that only {name} "
            "returns are relevant"
        )
    largest = max(tipping.rate_judged, tipping.rate_exclusive or 0.0)
    needed = tipping.significance
    # The stated shares are below the needed share, and only the limit of the likely one is not.
    if not tipping.reaches and largest < (needed or 0.0) <= tipping.likely:
        rates += f". With so few judged documents, up to {share(tipping.likely)} is likely"
    return rates


def _conclusion(tipping: Tipping) -> str:
    """State the conclusion if there are too few judgments; the end of the sentence."""
    # A difference that is not significant as judged needs no explanation.
    if tipping.reaches or tipping.significance == 0:
        return ""
    if tipping.significance is None or tipping.significance > tipping.likely:
        return (
            ". But if unjudged documents of both runs are equally likely to be relevant, they may "
            "explain the difference"
        )
    rates = [rate for rate in (tipping.rate_judged, tipping.rate_exclusive) if rate is not None]
    lowest = min(rates, default=0.0)
    if tipping.significance < lowest:
        far = "far " if tipping.significance <= lowest / 2 else ""
        subject = "That is" if len(rates) == 1 else "Both shares are"
        return (
            f". {subject} {far}more than {share(tipping.significance)}, so unjudged documents may "
            "explain the difference"
        )
    return ", so unjudged documents may explain the difference"


def unknown_text(reason: str | None) -> str:
    """Say why a tipping point is not known, in a clause like `tipping_text`; empty without a
    reason.
    """
    if not reason:
        return ""
    unknown = "whether there are too few judgments"
    return reason if reason.startswith(unknown) else f"{unknown} is unknown: {reason}"


def reach_text(
    tipping: Tipping | None, reason: str | None, a: str, b: str, answer: Phrases = SIGNIFICANT
) -> str:
    """Describe the tipping point, or say why it is not known."""
    return unknown_text(reason) if tipping is None else tipping_text(tipping, a, b, answer)


def sentence(clause: str) -> str:
    """Make a sentence of a clause; empty for an empty one."""
    return f"{clause[:1].upper()}{clause[1:]}." if clause else ""


def share(part: float) -> str:
    """Format a share in per cent; only 0 and 1 look like 0% and 100%."""
    if part in (0, 1):
        return f"{100 * part:.0f}%"
    if part < 0.001:
        return "under 0.1%"
    if part > 0.999:
        return "over 99.9%"
    places = 0 if 0.0995 <= part <= 0.99 else 1  # two digits, or a distance from 100%
    return f"{100 * part:.{places}f}%"


def unchanged(rankings: Rankings | None) -> list[str]:
    r"""Write a sentence for each compared depth, the first with RBO; none if rankings were not
    compared.
    """
    if rankings is None:
        return []
    if not rankings.queries:
        return ["The runs answer no query of these in common."]
    means = rankings.mean
    depths = [text.removeprefix("Same@") for text in means if text.startswith("Same@")]
    depths = [
        depth
        for depth in depths
        if means.keys() >= {f"Same(order=any)@{depth}", f"overlap@{depth}"}
    ]
    # Two cutoffs beyond the ends of short lists compare the same ranks: each clause is kept once.
    clauses = list(dict.fromkeys(_similarity(depth, rankings) for depth in depths))
    overlaps = [mean for text, mean in means.items() if text.startswith("RBO")]
    rbo = [f" (RBO {mean:.2f})" for mean in overlaps if math.isfinite(mean)]
    if clauses and rbo:
        clauses[0] += rbo[0]
    return [f"{clause}." for clause in clauses]


def _similarity(depth: str, rankings: Rankings) -> str:
    """Say how similar the rankings are down to one depth, in a clause."""
    same = round(rankings.queries * rankings.mean[f"Same@{depth}"])
    in_any_order = round(rankings.queries * rankings.mean[f"Same(order=any)@{depth}"])
    shared = rankings.mean[f"overlap@{depth}"]
    subject, ranks = _compared_results(depth, rankings)
    be, differ = "are", "differ"
    if ranks == 1:
        be, differ = "is", "differs"
    if same == rankings.queries:
        return f"{subject} {be} the same on {_each(rankings.queries)} that both answer"
    more = f", and on {in_any_order - same:,} more in another order" if in_any_order > same else ""
    same_queries = f"{same:,} of the {counted(rankings.queries, 'query', 'queries')}"
    text = f"{subject} {be} the same on {same_queries} that both answer{more}"
    if not in_any_order:
        text = f"{subject} {differ} on {_each(rankings.queries, 'all')} that both answer"
    # overlap@k divides by k: times k it is a number of documents, whatever the lengths of the
    # lists.
    count = f"{shared * int(depth):.1f}" if depth.isdigit() else f"{shared:.0%}"
    of_ranks = count if ranks is None else f"{count} of {ranks}"
    return text if ranks == 1 else f"{text}; on average, {of_ranks} are shared"


def _each(queries: int, every: str = "each of the") -> str:
    return "the only query" if queries == 1 else f"{every} {queries:,} queries"


def _compared_results(depth: str, rankings: Rankings) -> tuple[str, int | None]:
    """Return the subject of the sentence, and the number of ranks if it is the same for all
    queries: k, or fewer for shorter lists.
    """
    cutoff = int(depth) if depth.isdigit() else 0
    shortest, longest = rankings.depths.get(f"overlap@{depth}", (cutoff, cutoff))
    if not cutoff or shortest != longest:
        shorter = ", or all of shorter lists," if cutoff else ""
        return f"The first {depth} results{shorter}", None
    return ("The first result" if longest == 1 else f"The first {longest:,} results"), longest


_NUMBERS = dict(
    enumerate(
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), start=1
    )
)
# Verdicts whose difference is put into plain words: with too few judgments it is not known.
_PLAIN_VERDICTS = ("better", "worse", "equivalent", "undecided")
_SMALL = 0.05  # counts below it would round to 0.0 with one decimal


def plain_sentence(pair: Pair) -> str:
    """State the difference by the first measure as a number of results, with its interval; by
    precision at its cutoff if that measure counts nothing.
    """
    if pair.mismatch:
        return ""
    first, *others = pair.measures.values()
    cutoff = getattr(_measure(first), "cutoff", None)
    precisions = [row for row in others if _is_precision_at(cutoff, _measure(row))]
    for row in [first] if _counts(first) else precisions[:1]:
        if effect := plain_effect(row):
            return f"By {row.measure}, {pair.b} has {effect}."
    return ""


def plain_effect(row: Difference) -> str:
    """State a difference of P@k, Success@k or R@k as a number of results, queries or documents,
    with its interval.
    """
    unit = _counts(row)
    if unit is None or row.verdict not in _PLAIN_VERDICTS or not row.difference:
        return ""
    digits = unit.digits
    size = _count(row.difference * unit.scale, digits)
    text = f"about {size} {_word(row.difference)} {unit.words}"
    low, high = (end * unit.scale for end in row.interval)
    if row.about != "mean difference" or not math.isfinite(high - low):
        return "" if row.verdict == "undecided" else text  # nothing then says that it may be chance
    if low < 0 < high:
        ends = f"{_count(low, digits)} fewer to {_count(high, digits)} more"
    else:
        near, far = sorted((low, high), key=abs)
        ends = f"{_count(near, digits)} to {_count(far, digits)} {_word(far)}"
    return f"{text} ({100 * row.level:g}% interval: {ends})"


class _CountUnit(NamedTuple):
    scale: float  # Factor that makes a count of a value
    words: str  # For what is counted
    digits: int  # Decimals of a count


def _counts(row: Difference) -> _CountUnit | None:
    """Return the unit in which a measure counts; None if it counts nothing."""
    measure = _measure(row)
    if measure is None or not measure.counts or measure.judged_only:
        return None
    k = measure.cutoff
    if not isinstance(k, int):
        return None
    rel = _rel(measure)
    grade = "" if rel is None else f" of grade {number_text(rel)} or more"
    if measure.counts == "documents":
        documents = f"documents{grade}" if grade else "relevant documents"
        first = "as the first result" if k == 1 else f"in the first {_number(k)}"
        return _CountUnit(scale=100.0, words=f"of every 100 {documents} {first}", digits=0)
    if k == 1:
        words = f"queries in 100 whose first result is {grade.strip() or 'relevant'}"
        return _CountUnit(scale=100.0, words=words, digits=0)
    if measure.counts == "queries":
        result = f"result{grade}" if grade else "relevant result"
        words = f"queries in 100 with a {result} in the first {_number(k)}"
        return _CountUnit(scale=100.0, words=words, digits=0)
    results = f"results{grade}" if grade else "relevant results"
    return _CountUnit(scale=float(k), words=f"{results} in {_number(k)}", digits=1)


def _is_precision_at(cutoff: Cutoff | None, measure: Measure | None) -> bool:
    return (
        measure is not None
        and measure.counts == "results"
        and measure.cutoff == cutoff
        and _rel(measure) is None
    )


def _rel(measure: Measure) -> float | None:
    return getattr(measure, "rel", None)


def _measure(row: Difference) -> Measure | None:
    try:
        return parse_measure(row.measure)
    except IdealrankError:  # a user's measure
        return None


def _number(k: int) -> str:
    return _NUMBERS.get(k, f"{k:,}")


def _word(value: float) -> str:
    return "more" if value > 0 else "fewer"


def _count(value: float, digits: int) -> str:
    """Format a count without its sign; with one digit where these decimals would show 0."""
    size = abs(value)
    is_shown = not size or size >= _SMALL * 10 ** (1 - digits)
    return f"{size:.{digits}f}" if is_shown else f"{size:.1g}"
