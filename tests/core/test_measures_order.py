"""Order against grades, labels and total recall: values by hand, options that are refused, and what
the two runs' measures are not.
"""

import pytest

import idealrank as ir
from idealrank.errors import OptionError

GRADES = {"q": {"a": 2, "b": 1, "c": 0, "d": 1}}


def value(text: str, run: list[str] | dict[str, float], **switches: str) -> float:
    """One measure of one query."""
    return ir.evaluate(GRADES, {"q": run}, [text], ir.Convention.of("standard", **switches)).mean()[
        text
    ]


@pytest.mark.parametrize(
    ("text", "run", "expected"),
    [
        ("AUC", ["a", "x", "c", "b"], 1 / 2),  # x is not judged, d not returned
        ("Accuracy", ["a", "x", "c", "b"], 2 / 4),
        ("Accuracy@2", ["x", "a", "b"], 0.0),
        ("Accuracy@1", ["a", "x"], 1.0),
        ("Accuracy@1", ["c", "a"], 0.0),
        ("OPA", ["b", "a", "d", "c"], 4 / 5),
        ("GradeTau", ["b", "a", "d", "c"], 3 / 30**0.5),
        ("GradeTauAP", ["b", "a", "d", "c"], 2 / 3 * (0 / 1 + 1.5 / 2 + 3 / 3) - 1),
        ("ARP", ["b", "x", "a"], (1 * 1 + 3 * 2) / 3),
        ("PWA@2", ["b", "a", "c"], (1 + 2 / 2) / 1.5),
        ("LRAP", ["a", "x", "b"], (1 + 2 / 3) / 3),
        ("LastRel", ["a", "b", "d", "x"], 3.0),
        ("LastRel", ["a", "b", "x"], 4.0),
        ("WSS@0.5", ["a", "x", "b", "y", "d"], (5 - 3) / 5 - 0.5),  # half of three is the second
        ("WSS", ["a", "b", "x", "y"], -0.05),  # the third is not returned: all has been read
        ("WSS(count=nearest)@0.5", ["a", "x", "b", "y", "d"], (5 - 3) / 5 - 0.5),
        ("WSS(count=nearest)@0.8", ["a", "x", "b", "y", "d"], (5 - 3) / 5 - 0.2),  # 2.4 of three
        ("RecallArea", ["x", "a", "b", "d"], (2.5 + 1.5 + 0.5) / (3 * 4 - 4.5)),
        ("RecallArea@2", ["x", "a", "b", "d"], 0.5 / (2 * 2 - 2)),
    ],
)
def test_by_hand(text: str, run: list[str], expected: float) -> None:
    assert value(text, run) == pytest.approx(expected, abs=1e-12)


def test_accuracy_across_a_tie() -> None:
    # a is above; of the tied b and x one is within the cutoff: with b nothing but relevant
    # documents, with x one right pair of one.
    assert value("Accuracy@2", {"a": 2.0, "b": 1.0, "x": 1.0}, ties="expected") == pytest.approx(
        1.0
    )
    # Of the tied a, x, y two: with a (chance 2/3) half a pair; without it nothing relevant.
    assert value("Accuracy@2", {"a": 1.0, "x": 1.0, "y": 1.0}, ties="expected") == pytest.approx(
        2 / 3 * 1 / 2
    )


def test_worked_example_of_wss() -> None:
    # Cohen et al. 2006: (TN + FN) / N - 0.05. Of 1000 articles 40 are included; 38 of them are
    # found in the first 460.
    run = [f"d{rank}" for rank in range(1, 1001)]
    included = {f"d{rank}": 1 for rank in [*range(1, 38), 460, 461, 999]}
    found = ir.evaluate({"q": included}, {"q": run}, ["WSS@0.95"]).mean()["WSS@0.95"]
    assert found == pytest.approx((1000 - 460) / 1000 - 0.05, abs=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        "Compat(p=1)",
        "Compat(p=0)",
        "Compat(normalize=maybe)",
        "WSS@0",
        "WSS@1.5",
        "AUC@5",
        "GradeTau@3",
        "LRAP@2",
    ],
)
def test_refused(text: str) -> None:
    with pytest.raises(OptionError, match=r"expected|no cutoff"):
        ir.parse_measure(text)


def test_ties_that_have_no_expected_value_are_refused() -> None:
    for text in ("GradeWTau", "Compat"):
        with pytest.raises(OptionError, match="no closed form"):
            value(text, {"a": 1.0, "b": 1.0}, ties="expected")


@pytest.mark.parametrize("ties", ["input", "expected", "best", "worst"])
def test_ties_of_arrays_stand_at_their_last_rank_under_every_policy(ties: str) -> None:
    values = ir.evaluate(
        [[0, 1, 0]],
        [[1.0, 1.0, 1.0]],
        ["LRAP", "CoverageError", "RankingLoss"],
        ir.Convention.of("standard", ties=ties),
    )
    assert list(values.mean().values()) == pytest.approx([1 / 3, 3, 1])


def test_spellings() -> None:
    spelled = {
        "roc_auc": "AUC",
        "grade_tau": "GradeTau",
        "gradeweightedtau": "GradeWTau",
        "last_rel": "LastRel",
    }
    assert {spelling: str(ir.parse_measure(spelling)) for spelling in spelled} == spelled
    assert str(ir.Compat(normalize=True, p=0.9)) == "Compat(p=0.9)"
    assert str(ir.parse_measure("WSS@0.95")) == str(ir.WSS(recall=0.95))
