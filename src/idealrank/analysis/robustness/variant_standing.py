"""Place of a variant of a comparison beside the comparison as asked."""

import math

from idealrank.analysis.comparison.differences import Difference
from idealrank.analysis.robustness.robustness import Status, Variant
from idealrank.analysis.robustness.variants import AS_ASKED, Alternative


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
    found = variant.row.effect * variant.row.direction * math.sqrt(variant.row.n) * math.copysign(1, gain_of(reference.row))
    if math.isfinite(found):
        return found
    gain = gain_of(variant.row)
    return math.copysign(math.inf, gain * gain_of(reference.row)) if gain else math.nan


def turns(variant: Variant, reference: Variant) -> bool:
    """Return whether a variant changes the verdict or, without one, the order of the runs."""
    decided = reference.row is not None and reference.row.verdict != "undecided"
    return variant.sign_turns or (decided and variant.verdict_turns)


def variant_of(
    one: Alternative, row: Difference | None = None, reference: Difference | None = None, *, same_as: str = "", reason: str = ""
) -> Variant:
    """An alternative with what was found; `same_as` is ``"as asked"`` where nothing changes."""
    status: Status = "refused" if row is None else "changes the numbers"
    if same_as:
        status = "no effect" if same_as == AS_ASKED else "repeats"
    lead = 0.0 if reference is None else gain_of(reference)
    return Variant(
        group=one.group,
        change=one.text,
        measure="" if one.measure is None else str(one.measure),
        convention=one.convention,
        status=status,
        same_as="" if same_as == AS_ASKED else same_as,
        reason=reason,
        row=row,
        sign_turns=row is not None and lead != 0 and gain_of(row) * lead <= 0,
        verdict_turns=row is not None and reference is not None and row.verdict != reference.verdict,
    )
