"""Does a verdict hold when the measure is computed in other ways: every variant, what it says, and
which of them turn it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from idealrank._lazy import repr_html
from idealrank.analysis.comparison.comparisons import Method
from idealrank.analysis.comparison.difference_rows import Verdict
from idealrank.analysis.comparison.differences import NOT_LOOKED, Difference
from idealrank.analysis.comparison.label_basis import LabelBasis, labels_record
from idealrank.analysis.comparison.requirements import WithWarnings
from idealrank.analysis.comparison.tipping import Tipping
from idealrank.conventions import Convention
from idealrank.data.interchange import frame_of
from idealrank.data.label_kinds import Labels

Status: TypeAlias = Literal["changes the numbers", "no effect", "repeats", "refused"]

CAUTION = (
    "a sensitivity analysis: one comparison under many choices; p values are not corrected, since "
    "these are not independent hypotheses; do not choose a favourable variant"
)


@dataclass(frozen=True, kw_only=True)
class Variant:
    """Comparison under one variant.

    Attributes
    ----------
    group : str
        What is changed: a switch of the convention, ``"cutoff"``, ``"rel"``, ``"measure"`` or
        ``"preset"``.
    change : str
        The change: ``"ties=worst"``, ``"lightgbm"``, ``"AP"``.
    measure : str
        The measure with every option set; empty where the change is impossible.
    convention : Convention
        How run and judgments are joined.
    status : str
        Effect on these data: changes the numbers, has no effect, repeats the numbers of an earlier
        variant, or is refused.
    same_as : str
        The change whose numbers it repeats; else empty.
    reason : str
        Why it was refused; else empty.
    row : Difference or None
        Means, difference, interval, uncorrected p, verdict, queries; None where refused.
    sign_turns : bool
        Whether the run that leads in the comparison asked for leads no more.
    verdict_turns : bool
        Whether the verdict is another.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels, ranked = {f"q{i}": {"x": 1} for i in range(6)}, (["y", "x"], ["x", "y"])
    >>> a, b = ({query: ranking for query in qrels} for ranking in ranked)
    >>> one = ir.robust(qrels, a, b, "nDCG@10", variants=["cutoff=1"]).variants[0]
    >>> one.change, one.row.difference, one.row.verdict, one.verdict_turns
    ('cutoff=1', 1.0, 'better', False)
    """

    group: str
    change: str
    measure: str
    convention: Convention
    status: Status
    same_as: str = ""
    reason: str = ""
    row: Difference | None = None
    sign_turns: bool = False
    verdict_turns: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Everything by name; None for what is not finite."""
        numbers: dict[str, Any] = dict.fromkeys(_SHOWN)
        if self.row is not None:
            record = self.row.as_dict()
            numbers = {name: record[name] for name in record if name in _SHOWN}
        return {
            "group": self.group,
            "change": self.change,
            "measure": self.measure,
            "convention": self.convention.name,
            "status": self.status,
            "same_as": self.same_as or None,
            "reason": self.reason or None,
            **numbers,
            "sign_turns": self.sign_turns,
            "verdict_turns": self.verdict_turns,
        }


# Numbers of a difference that a variant has. Power and correction belong to one planned test, not
# to one of many variants.
_SHOWN = (
    "direction",
    "mean_a",
    "mean_b",
    "difference",
    "interval",
    "p",
    "p_equivalence",
    "verdict",
    "effect",
    "wins",
    "ties",
    "losses",
    "n",
    "excluded_queries",
)


@dataclass(frozen=True, kw_only=True, repr=False)
class Robustness(WithWarnings):
    """Comparison of two runs with all its variants; made by `robust`.

    Attributes
    ----------
    run_a, run_b : str
        Names of the runs; every difference is b - a.
    measure : str
        Text of the measure as requested.
    convention : Convention
        Convention of the reference comparison.
    reference : Variant
        The reference comparison.
    variants : tuple of Variant
        Variants with one change each, by group.
    pairs : tuple of Variant
        Variants with two changes that alter the verdict where no single change does.
    pairs_tried : int
        Number of pairs tried; 0 if a single change alters the verdict.
    lacking : mapping of str to str
        Groups without variants, with the reason.
    method : Method
        Test of every variant.
    tipping : Tipping or None
        Tipping point of the reference comparison, as in `compare`; None if unknown.
    tipping_reason : str or None
        Reason why it is unknown.
    basis : LabelBasis or None
        What the reference comparison takes documents without a label to be, as in `compare`.
    labels : Labels or None
        Kind of the labels; None if unknown.
    labels_from : str or None
        Run whose results were labelled, if declared.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels, ranked = {f"q{i}": {"x": 1} for i in range(6)}, (["y", "x"], ["x", "y"])
    >>> a, b = ({query: ranking for query in qrels} for ranking in ranked)
    >>> found = ir.robust(qrels, a, b, "RR", variants=["cutoff", "ties"])
    >>> found.leader, len(found.changing), [one.change for one in found.turning]
    ('B', 1, [])
    """

    run_a: str
    run_b: str
    measure: str
    convention: Convention
    reference: Variant
    variants: tuple[Variant, ...]
    pairs: tuple[Variant, ...]
    pairs_tried: int
    lacking: Mapping[str, str]
    method: Method
    tipping: Tipping | None = None
    tipping_reason: str | None = NOT_LOOKED
    basis: LabelBasis | None = None
    labels: Labels | None = None
    labels_from: str | None = None

    _repr_html_ = repr_html  # for notebooks

    @property
    def verdict(self) -> Verdict:
        """Verdict on b in the reference comparison, limited by the judgments. Variants are compared
        with the verdict of the test alone.
        """
        if self.mismatches:
            return "too few judgments"
        if self.asked.verdict == "undecided":
            return "undecided"
        tips = self.tipping is not None and not self.tipping.reaches
        is_one_sided = self.basis is not None and self.basis.one_sided is not None
        return "too few judgments" if tips or is_one_sided else self.asked.verdict

    @property
    def asked(self) -> Difference:
        """Reference comparison as a row."""
        if self.reference.row is None:
            raise ValueError("a robustness study without a reference; made by hand?")
        return self.reference.row

    @property
    def leader(self) -> str | None:
        """Run that leads in the reference comparison; None if neither does."""
        gain = gain_of(self.asked)
        if gain == 0:
            return None
        return self.run_b if gain > 0 else self.run_a

    @property
    def changing(self) -> tuple[Variant, ...]:
        """Variants that count as evidence: those that change the numbers, each set of numbers
        once.
        """
        return tuple(
            variant for variant in self.variants if variant.status == "changes the numbers"
        )

    @property
    def leads(self) -> int:
        """Number of these variants in which the leader still leads."""
        if self.leader is None:
            return 0
        return sum(not variant.sign_turns for variant in self.changing)

    @property
    def significant(self) -> int:
        """Number of these variants in which the leader is significantly better, p uncorrected."""
        if self.leader is None:
            return 0
        leader_wins = "better" if self.leader == self.run_b else "worse"
        rows = (variant.row for variant in self.changing)
        return sum(row is not None and row.verdict == leader_wins for row in rows)

    @property
    def turning(self) -> tuple[Variant, ...]:
        """Members of `changing` in which the sign or the verdict differs."""
        return tuple(
            variant for variant in self.changing if variant.sign_turns or variant.verdict_turns
        )

    def count(self, status: Status) -> int:
        """Count the variants with this status."""
        return sum(variant.status == status for variant in self.variants)

    def groups(self) -> dict[str, tuple[Variant, ...]]:
        """Variants by what they change."""
        by_group: dict[str, list[Variant]] = {}
        for variant in self.variants:
            by_group.setdefault(variant.group, []).append(variant)
        return {group: tuple(members) for group, members in by_group.items()}

    def summary(self) -> list[str]:
        """Summarise the result in sentences; the first says so if there are too few judgments."""
        if self.mismatches:
            return [f"No variant can say whether {self.run_b} is better than {self.run_a}."]
        if self.verdict != "too few judgments":
            return self.varied()
        doubted = f"{self.run_b} and {self.run_a} are equivalent"
        if self.asked.verdict != "equivalent":
            doubted = f"{self.run_b} is better than {self.run_a}"
        first, *others = self.varied()
        return [f"Too few judgments to say whether {doubted}.", f"As judged: {first}", *others]

    def varied(self) -> list[str]:
        """Describe the effect of the variants in sentences, on the documents that are judged.

        Examples
        --------
        >>> import idealrank as ir
        >>> found = ir.robust(
        ...     {"q": {"x": 1}}, {"q": ["x"]}, {"q": ["y", "x"]}, "RR", variants=["cutoff"]
        ... )
        >>> found.varied()[0]
        'A still leads by RR in the one variant that changes the numbers, with p at most 0.05 in 0.'
        """
        total = len(self.changing)
        if not total:
            return [f"No variant changes the numbers of {self.measure} on these data."]
        if self.leader is None:
            gains = [gain_of(variant.row) for variant in self.changing if variant.row is not None]
            ahead = sum(gain > 0 for gain in gains)
            behind = sum(gain < 0 for gain in gains)
            opening = f"{self.run_b} and {self.run_a} have the same {self.measure}; "
            if not ahead and not behind:
                return [f"{opening}none of {_changing(total)} distinguishes them."]
            return [
                f"{opening}of {_changing(total)}, {self.run_b} leads in {ahead:,} and "
                f"{self.run_a} in {behind:,}."
            ]
        alpha = round(1 - self.method.level, 12)
        opening = f"{self.leader} still leads by {self.measure} in {_of(self.leads, total)}"
        return [f"{opening}, with p at most {alpha:g} in {self.significant:,}.", *self._turned()]

    def _turned(self) -> list[str]:
        """Describe the variants that change the verdict, or state that no single one does."""
        turned: dict[str, list[str]] = {}
        for variant in self.turning:
            if variant.row is not None:
                turned.setdefault(_outcome(variant, variant.row), []).append(variant.change)
        sentences = [
            _sentence(outcome, changes, self.asked.verdict)
            for outcome, changes in sorted(turned.items(), key=_order)
        ]
        if sentences and not self.pairs_tried:
            return sentences
        outcome = "the order of the runs" if self.asked.verdict == "undecided" else "the verdict"
        return [*sentences, f"No single tested switch changes {outcome}.", *self._paired()]

    def _paired(self) -> list[str]:
        if self.pairs:
            return [
                f"Two changes together do: {listed([pair.change for pair in self.pairs], most=3)}."
            ]
        if self.pairs_tried > 1:
            return [f"Nor does any of {self.pairs_tried} pairs of switches."]
        return []

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record: the reference comparison, a summary, every variant, the
        method.
        """
        convention = self.convention
        return {
            "run_a": self.run_a,
            "run_b": self.run_b,
            "measure": self.measure,
            "convention": {
                "name": convention.name,
                "fingerprint": convention.fingerprint,
                **convention.switches(),
            },
            "verdict": self.verdict,
            "tipping": None if self.tipping is None else self.tipping.as_dict(),
            "tipping_reason": self.tipping_reason,
            "basis": None if self.basis is None else self.basis.as_dict(),
            "labels": labels_record(self.labels, self.labels_from),
            "warnings": list(self.warnings),
            "reference": self.reference.as_dict(),
            "summary": {
                "text": " ".join(self.summary()),
                "leader": self.leader,
                "variants": len(self.variants),
                "changing": len(self.changing),
                "no_effect": self.count("no effect"),
                "repeats": self.count("repeats"),
                "refused": self.count("refused"),
                "leads": self.leads,
                "significant": self.significant,
                "turning": [variant.change for variant in self.turning],
            },
            "variants": [variant.as_dict() for variant in self.variants],
            "pairs": [pair.as_dict() for pair in self.pairs],
            "pairs_tried": self.pairs_tried,
            "lacking": dict(self.lacking),
            "method": self.method.as_dict(),
            "caution": CAUTION,
        }

    def records(self) -> list[dict[str, Any]]:
        """Return the reference comparison, every variant and the pairs as flat records."""
        records = []
        for variant in (self.reference, *self.variants, *self.pairs):
            record: dict[str, Any] = {"a": self.run_a, "b": self.run_b}
            for name, value in variant.as_dict().items():
                if name == "interval":
                    record["interval_low"], record["interval_high"] = value or (None, None)
                else:
                    record[name] = value
            records.append(record)
        return records

    def to_frame(self, backend: Any = "pandas") -> Any:
        """Return a dataframe with a row for the reference comparison, each variant and each listed
        pair.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow", ...}
            Any eager dataframe library that narwhals supports and that is installed.

        Examples
        --------
        >>> import idealrank as ir
        >>> found = ir.robust(
        ...     {"q": {"x": 1}}, {"q": ["x"]}, {"q": ["y", "x"]}, "RR", variants=["cutoff"]
        ... )
        >>> found.to_frame("polars").columns[2:5]
        ['group', 'change', 'measure']
        """
        records = self.records()
        return frame_of(
            {name: [record[name] for record in records] for name in records[0]}, backend
        )

    def _brief(self) -> str:
        return (
            f"{self.run_b!r} against {self.run_a!r}: {self.measure} {self.verdict}; "
            f"{len(self.variants):,} variants, convention {self.convention}"
        )

    def __str__(self) -> str:
        return " ".join(self.summary())


# Outcomes of a variant that turns the sign; of the others, the outcome is the verdict.
_TURNED, _EQUAL = "turned", "equal"


def _outcome(variant: Variant, row: Difference) -> str:
    """Describe the change of the outcome: the order of the runs, the loss of the difference, or the
    new verdict.
    """
    if not variant.sign_turns:
        return row.verdict
    return _TURNED if row.difference else _EQUAL


def _order(sentence: tuple[str, object]) -> int:
    """Place of a sentence, given its outcome: those about the order of the runs come first."""
    outcome, _ = sentence
    return {_TURNED: 0, _EQUAL: 1}.get(outcome, 2)


def _sentence(outcome: str, changes: Sequence[str], verdict: str) -> str:
    is_single = len(changes) == 1
    if outcome == _TURNED:
        return f"{listed(changes)} {'reverses' if is_single else 'reverse'} the order of the runs."
    if outcome == _EQUAL:
        return f"{listed(changes)} {'leaves' if is_single else 'leave'} no difference."
    gives = "gives" if is_single else "give"
    return f"{listed(changes)} {gives} the verdict {outcome}, not {verdict}."


def _changing(count: int) -> str:
    if count != 1:
        return f"{count:,} variants that change the numbers"
    return "1 variant that changes the numbers"


def _of(part: int, total: int) -> str:
    if part == total:
        return (
            f"all {_changing(total)}" if total > 1 else "the one variant that changes the numbers"
        )
    return f"{part:,} of {_changing(total)}"


def listed(changes: Sequence[str], most: int = 6) -> str:
    """Changes as a list in a sentence, the first few of them."""
    named = list(changes[:most])
    if len(changes) > most:
        named.append(f"{len(changes) - most} more")
    *others, last = named
    return f"{', '.join(others)} and {last}" if others else last


def leads(reference: Variant) -> bool:
    """Return whether either run leads as asked."""
    return reference.row is not None and gain_of(reference.row) != 0


def gain_of(row: Difference) -> float:
    """Gain of b, above 0 where b is better."""
    return row.difference * row.direction


def standing_of(variant: Variant, reference: Variant) -> float:
    """Return the lead of the reference's leader, in standard errors."""
    if variant.row is None or reference.row is None:
        return math.inf
    lead = (
        variant.row.effect
        * variant.row.direction
        * math.sqrt(variant.row.n)
        * math.copysign(1, gain_of(reference.row))
    )
    if math.isfinite(lead):
        return lead
    gain = gain_of(variant.row)
    return math.copysign(math.inf, gain * gain_of(reference.row)) if gain else math.nan


def turns(variant: Variant, reference: Variant) -> bool:
    """Return whether a variant changes the verdict or, without one, the order of the runs."""
    decided = reference.row is not None and reference.row.verdict != "undecided"
    return variant.sign_turns or (decided and variant.verdict_turns)
