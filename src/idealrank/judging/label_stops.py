"""Stop of labelling: the verdict of a comparison or a gate on the labels so far."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol, TypeAlias, cast

_TOO_FEW = "too few judgments"


class TippingLike(Protocol):
    """Tipping point of a result; see `Tipping`."""

    @property
    def labels_needed(self) -> int | None:
        """Estimated number of labels until there is a verdict."""
        ...


class BasisLike(Protocol):
    """Basis of a verdict; see `LabelBasis`."""

    @property
    def one_sided(self) -> Any:
        """Run that the labels come from; see `OneSided`."""
        ...


class ComparedRow(Protocol):
    """One measure of a comparison; see `Difference`."""

    @property
    def measure(self) -> str:
        """Text of the measure."""
        ...

    @property
    def verdict(self) -> str | None:
        """Verdict."""
        ...

    @property
    def tipping(self) -> TippingLike | None:
        """Tipping point."""
        ...

    @property
    def basis(self) -> BasisLike | None:
        """Basis of the verdict."""
        ...


class GatedCheck(Protocol):
    """One check of a gate; see `Check`."""

    @property
    def measure(self) -> str:
        """Text of the measure."""
        ...

    @property
    def outcome(self) -> str:
        """Outcome under the policy."""
        ...

    @property
    def carried(self) -> bool:
        """True if the judgments support the answer of the test."""
        ...

    @property
    def tipping(self) -> TippingLike | None:
        """Tipping point."""
        ...

    @property
    def basis(self) -> BasisLike | None:
        """Basis of the verdict."""
        ...


VerdictLike: TypeAlias = ComparedRow | GatedCheck
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
        if hasattr(result, "carried"):
            check = cast("GatedCheck", result)
            by = "gate"
            verdict = check.outcome
            decided = check.carried
        else:
            verdict = cast("Any", result).verdict
            # None, of runs that cannot be compared, counts as decided.
            decided = verdict != _TOO_FEW
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
