"""Stop of labelling: the verdict of a comparison or a gate on the labels so far."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from idealrank.analysis.comparison.differences import Difference
from idealrank.analysis.gate.outcome import TOO_FEW, Check

VerdictLike: TypeAlias = Difference | Check
"""Result whose verdict ends the labelling: ``comparison["nDCG@10"]``, or one of
``gated.checks``.
"""


@dataclass(frozen=True, kw_only=True)
class LabelStop:
    """Verdict on the labels so far, and whether more labels are needed for one.

    Attributes
    ----------
    by : {"compare", "gate"}
        Command that gives the verdict.
    measure : str
        Text of the measure.
    verdict : str or None
        Verdict of the comparison or outcome of the check; None if the runs cannot be compared.
    decided : bool
        Whether the judgments are enough: the verdict is not withheld for too few of them.
    labels_needed : int or None
        Estimated number of labels until there is a verdict; None if decided, or not known.
    labels_from : {"a", "b"} or None
        Run that the labels so far come from, where this is why there are too few of them.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1, "y": 0} for i in range(8)}
    >>> runs = [{query: ranking for query in qrels} for ranking in (["y", "x"], ["x", "y"])]
    >>> stop = LabelStop.of(ir.compare(qrels, *runs, measures="RR")["RR"])
    >>> stop.verdict, stop.decided, stop.labels_needed
    ('better', True, None)
    """

    by: Literal["compare", "gate"]
    measure: str
    verdict: str | None
    decided: bool
    labels_needed: int | None = None
    labels_from: Literal["a", "b"] | None = None

    @classmethod
    def of(cls, result: VerdictLike) -> "LabelStop":
        """Return the stop of one measure of a comparison, or of one check of a gate."""
        by: Literal["compare", "gate"] = "compare"
        verdict: str | None
        if isinstance(result, Check):
            by = "gate"
            verdict = result.outcome
            decided = result.carried
        else:
            verdict = result.verdict
            # None, of runs that cannot be compared, counts as decided.
            decided = verdict != TOO_FEW
        needed = None if decided or result.tipping is None else result.tipping.labels_needed
        one_sided = None if decided or result.basis is None else result.basis.one_sided
        return cls(
            by=by,
            measure=result.measure,
            verdict=verdict,
            decided=decided,
            labels_needed=needed,
            labels_from=None if one_sided is None else one_sided.run,
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record."""
        return asdict(self)
