"""What is changed together is what it is apart: conventions and the switches in which they
differ.
"""

import pytest

from idealrank.analysis.robustness.variants import Alternative, ComparisonRequest
from idealrank.conventions import PRESETS, Convention
from idealrank.measures.parse import parse_run_measure


@pytest.mark.parametrize("measure", ["nDCG@10", "nDCG(gain=exp2)@10", "AP"])
@pytest.mark.parametrize("preset", [name for name in PRESETS if name != "standard"])
def test_a_convention_is_what_its_parts_make_together(preset: str, measure: str) -> None:
    asked = ComparisonRequest(
        measure=parse_run_measure(measure),
        convention=Convention.of("standard"),
        grades=[0.0, 1.0, 2.0],
        others=[],
        arrays=False,
    )
    (whole,) = asked.alternatives([preset])

    parts = asked.taken_apart(whole)
    together = Alternative.of(
        asked.measure, asked.convention, [change for part in parts for change in part.changes]
    )

    assert (together.measure, together.convention.alignment) == (
        whole.measure,
        whole.convention.alignment,
    )
    assert all(
        (part.measure, part.convention.alignment)
        != (asked.reference.measure, asked.convention.alignment)
        for part in parts
    )
