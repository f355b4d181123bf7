"""Every note names the correction that was used: max-T for sign flips, Bonferroni's for other
tests, Holm's on request.
"""

from collections.abc import Callable

import pytest

from tests.cli.terminal import Said

Say = Callable[..., Said]


@pytest.mark.parametrize(
    ("options", "named", "others"),
    [
        ((), "max-T", ("Holm", "Bonferroni")),
        (("--test", "t"), "Bonferroni", ("Holm", "max-T")),
        (("--correction", "holm"), "Holm", ("max-T", "Bonferroni")),
    ],
)
def test_the_method_names_the_correction_that_was_used(
    say: Say, options: tuple[str, ...], named: str, others: tuple[str, ...]
) -> None:
    said = say(
        "compare",
        "qrels.txt",
        "bm25.run",
        "neural.run",
        "-m",
        "RR,AP,P@2",
        "--slices",
        "slices.csv",
        "--explain-method",
        *options,
    ).out

    assert f"({named})" in said
    assert not [other for other in others if other in said]


def test_the_help_says_which_measure_decides_and_every_verdict(say: Say) -> None:
    text = " ".join(say("compare", "--help").out.split())

    assert "auto uses max-T for permutation and Bonferroni's method for other tests" in text
    assert "too few judgments (unjudged documents may explain the difference)" in text
    assert "HSD" not in text
