"""A gate where there are too few judgments, and one where they do: what it decides, and that every
output says so.
"""

import html
import json
import re
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest

import idealrank as ir
from idealrank.analysis.gate import Gated
from idealrank.errors import OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.pages.report.material import ReportMaterial, with_gate
from idealrank.reports.views.gate.gate import gate_json, gate_text
from idealrank.reports.views.gate.junit import gate_junit
from idealrank.reports.views.gate.pull_request import annotations, gate_markdown
from idealrank.trackers.content import content_of
from tests.pools import collection, evaluated
from tests.workflow_commands import obeyed

MEASURES = ("nDCG@10", "P@5")
EVERYTHING, POOLED, BASELINE, RUN = collection()
SENTENCE = re.compile(
    r"this drop would no longer be significant if \d+% of the (?P<own>\d+) unjudged documents "
    r"that only new returns were "
    r"relevant, and would change its sign if \d+% were\. At the ranks of these documents, "
    r"\d+% of the judged documents are"
)


def pair(grades: Any) -> tuple[Evaluation, Evaluation]:
    """The new run and its baseline, by some judgments."""
    return evaluated(grades, RUN, "new", MEASURES), evaluated(grades, BASELINE, "main", MEASURES)


@pytest.fixture(scope="module")
def pooled() -> tuple[Evaluation, Evaluation]:
    return pair(POOLED)


@pytest.fixture(scope="module")
def doubtful(pooled: tuple[Evaluation, Evaluation]) -> Gated:
    return ir.gate(*pooled, measures=MEASURES, when_unjudged="neutral")


@pytest.fixture(scope="module")
def shut() -> Gated:
    """The truly worse run held to the better one, by all judgments."""
    return ir.gate(*pair(EVERYTHING)[::-1], measures=MEASURES)


# --- what is decided ------------------------------------------------------------------------------


def test_a_better_run_is_not_stopped_by_judgments_that_do_not_reach(doubtful: Gated) -> None:
    truth = ir.gate(*pair(EVERYTHING), measures=MEASURES).checks[0]
    check = doubtful.checks[0]

    assert truth.difference > 0
    assert check.difference < 0
    assert check.p_corrected <= 0.05
    assert (doubtful.outcome, doubtful.passed, check.outcome, check.passed, check.carried) == (
        "too few judgments",
        False,
        "too few judgments",
        False,
        False,
    )
    assert check.tipping is not None
    # The truth lies beyond the tipping point: of the documents that only the new run shows, this
    # share is relevant.
    own = [
        EVERYTHING[query][document]
        for query in RUN
        for document in RUN[query]
        if document not in POOLED[query]
    ]
    assert check.tipping.unjudged_b == len(own)
    assert np.mean(own) > (check.tipping.significance or 1.0)


def test_a_worse_run_is_stopped_where_everything_is_judged(shut: Gated) -> None:
    assert (shut.outcome, shut.passed, shut.checks[0].carried, shut.checks[0].outcome) == (
        "failed",
        False,
        True,
        "failed",
    )
    assert shut.checks[0].tipping is not None
    assert shut.checks[0].tipping.unjudged_b == 0


@pytest.mark.parametrize(
    ("asked", "outcome"), [("neutral", "too few judgments"), ("fail", "failed"), ("pass", "passed")]
)
def test_the_policy_decides_what_becomes_of_it(
    pooled: tuple[Evaluation, Evaluation], asked: Any, outcome: str
) -> None:
    found = ir.gate(*pooled, measures=MEASURES, when_unjudged=asked)

    assert (found.outcome, found.passed, found.policy.when_unjudged) == (
        outcome,
        outcome == "passed",
        asked,
    )
    assert [check.carried for check in found.checks] == [False, False]
    assert SENTENCE.search(" ".join(gate_text(found).split()))


def shop(labels: str) -> tuple[dict[str, dict[str, int]], dict[str, list[str]]]:
    """Forty queries with three relevant products in the first five; of a pool, the first six
    results are labelled.
    """
    results = {f"q{number}": [f"p{number}-{rank}" for rank in range(10)] for number in range(40)}
    relevant = {
        query: {found[(number + step) % 5] for step in range(3)}
        for number, (query, found) in enumerate(results.items())
    }
    if labels == "positive-only":
        return {
            query: dict.fromkeys(sorted(found), 1) for query, found in relevant.items()
        }, results
    depth = 6 if labels == "pooled" else 10
    return {
        query: {one: int(one in relevant[query]) for one in found[:depth]}
        for query, found in results.items()
    }, results


def damaged(results: dict[str, list[str]], kind: str) -> dict[str, list[str]]:
    strange = [f"strange{number}" for number in range(10)]
    if kind == "reversed lists":
        return {query: found[::-1] for query, found in results.items()}
    if kind == "random documents":
        # a run without any judged document is closed for that
        return results | dict.fromkeys(list(results)[1:], strange)
    return {
        query: (strange[:3] + found)[:10] if number % 3 == 0 else found
        for number, (query, found) in enumerate(results.items())
    }


@pytest.mark.parametrize("labels", ["pooled", "positive-only", "complete"])
@pytest.mark.parametrize(
    "kind",
    ["reversed lists", "random documents", "random documents first in a third of the queries"],
)
def test_damage_closes_the_gate_under_every_kind_of_labels(labels: Any, kind: str) -> None:
    qrels, results = shop(labels)

    found = ir.gate(qrels, damaged(results, kind), results, labels_are=labels)

    assert (found.outcome, found.passed) == ("failed", False)


def test_under_strict_a_pass_is_held_to_the_judgments(
    pooled: tuple[Evaluation, Evaluation],
) -> None:
    new, main = pooled
    strict = ir.gate(
        main, new, measures="nDCG@10", strict=True, margin=0.05, when_unjudged="neutral"
    )
    stopped = ir.gate(
        new, main, measures="nDCG@10", strict=True, margin=0.05, when_unjudged="neutral"
    )

    assert strict.outcome == "too few judgments"
    assert "this drop would no longer be ruled out if" in " ".join(gate_text(strict).split())
    assert stopped.outcome == "failed"  # that a drop may hide needs no judgments to carry it


def test_a_broken_contract_or_a_failed_companion_closes_a_gate_that_is_out_of_reach(
    pooled: tuple[Evaluation, Evaluation],
) -> None:
    new, main = pooled
    query = main.queries[0]

    broken = ir.gate(
        new,
        main,
        measures="nDCG@10",
        contracts=[ir.Contract(query=query, at_least=1.0)],
        when_unjudged="neutral",
    )

    assert broken.outcome == "failed"
    assert "; besides, too few judgments for 1 check." in " ".join(gate_text(broken).split())
    assert (
        ir.gate(new, main, measures=["nDCG@10", "P@5"], also="P@5", when_unjudged="neutral").outcome
        == "too few judgments"
    )


def test_without_rankings_the_answer_of_the_test_stands_and_says_why_nothing_is_known(
    pooled: tuple[Evaluation, Evaluation],
) -> None:
    measures = ir.with_companions(["nDCG@10"])
    alone = [
        ir.evaluate(POOLED, ir.Run(lists, name=name), measures)
        for lists, name in ((RUN, "new"), (BASELINE, "main"))
    ]

    found = ir.gate(*alone, measures="nDCG@10")

    assert (found.outcome, found.checks[0].tipping, found.checks[0].carried) == (
        "failed",
        None,
        True,
    )
    assert (
        "whether there are too few judgments is unknown: evaluations do not keep rankings"
        in " ".join(gate_text(found).split())
    )


def test_a_policy_that_does_not_exist_is_refused(pooled: tuple[Evaluation, Evaluation]) -> None:
    with pytest.raises(
        OptionError, match="when_unjudged='ignore': expected one of fail, neutral, pass"
    ):
        ir.gate(*pooled, when_unjudged="ignore")  # type: ignore[arg-type]


# --- what is said ---------------------------------------------------------------------------------


def test_the_report_says_it_first_and_marks_companions(
    doubtful: Gated, pooled: tuple[Evaluation, Evaluation]
) -> None:
    new, main = (one.mean()["nDCG@10"] for one in pooled)
    words = " ".join(gate_text(doubtful).split())

    assert words.startswith(
        f"Too few judgments to say whether new may replace main: by nDCG@10, {new:.3f} "
        f"against {main:.3f} in main, a drop of"
    )
    assert (found := SENTENCE.search(words)) is not None
    assert doubtful.checks[0].tipping is not None
    assert int(found["own"]) == doubtful.checks[0].tipping.unjudged_b
    assert "companion, too few judgments" in words
    assert "companion: cannot fail the gate without --also MEASURE" in words
    assert (
        "nDCG@10 tested alone; P@5, a companion, tested alone; companions cannot fail the gate"
        in words
    )
    assert "Holm" not in words


def test_the_json_has_outcomes_and_both_p_values(doubtful: Gated, shut: Gated) -> None:
    found, closed = (json.loads(gate_json(one)) for one in (doubtful, shut))
    check = found["checks"][0]

    assert (found["outcome"], found["passed"], closed["outcome"]) == (
        "too few judgments",
        False,
        "failed",
    )
    assert found["policy"]["when_unjudged"] == "neutral"
    assert (check["outcome"], check["decides"], check["family"], check["carried"]) == (
        "too few judgments",
        True,
        "primary measure",
        False,
    )
    assert [(one["decides"], one["family"]) for one in found["checks"][1:]] == [
        (False, "companions")
    ]
    assert check["p_sides"] == 1
    # All differences fall, so each of 2^20 sign vectors but one gives less: one-sided 2^-20,
    # two-sided twice that.
    assert (check["p"], check["p_corrected"], check["p_two_sided"]) == (
        2.0**-17,
        2.0**-17,
        2.0**-16,
    )
    assert {
        "side",
        "significance",
        "sign",
        "rate_judged",
        "rate_exclusive",
        "likely",
        "reaches",
        "test",
    } <= set(check["tipping"])
    assert check["tipping_reason"] is None


def test_the_comment_says_it_in_its_first_lines(doubtful: Gated, shut: Gated) -> None:
    comment = "".join(gate_markdown(doubtful)).splitlines()

    assert comment[0].startswith(
        "**Too few judgments to say whether <code>new</code> may replace <code>main</code>"
    )
    assert SENTENCE.search(html.unescape(comment[2]))
    assert any(
        line.startswith("| **too few judgments** | <code>nDCG&#64;10</code>") for line in comment
    )
    assert any(
        line.startswith("| companion, too few judgments | <code>P&#64;5</code>") for line in comment
    )
    closed = "".join(gate_markdown(shut))
    assert "| **failed**! | <code>nDCG&#64;10</code>" in closed
    assert "| companion, would fail! | <code>P&#64;5</code>" in closed


def test_junit_skips_what_is_not_reached_and_passes_companions(
    doubtful: Gated, shut: Gated
) -> None:
    suite, closed = (
        ET.fromstring("".join(gate_junit(one)).encode())[0] for one in (doubtful, shut)
    )
    first, companion = suite.findall("testcase")
    failed, passed = closed.findall("testcase")

    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("2", "0", "1")
    assert (closed.get("tests"), closed.get("failures"), closed.get("skipped")) == ("2", "1", "0")
    skipped = first.find("skipped")
    assert skipped is not None
    assert SENTENCE.search(skipped.get("message") or "")
    assert failed.find("failure") is not None
    for case in (companion, passed):
        assert {child.tag for child in case} == {"system-out"}
        assert "companion: cannot fail the gate" in (case.findtext("system-out") or "")


def test_github_gets_a_warning_for_it_and_nothing_for_companions(
    doubtful: Gated, shut: Gated
) -> None:
    warned, stopped = (obeyed("".join(annotations(one))) for one in (doubtful, shut))

    assert [(kind, properties["title"]) for kind, properties, _ in warned[:1]] == [
        ("warning", "nDCG@10 against main")
    ]
    assert SENTENCE.search(warned[0][2])
    assert [kind for kind, _, _ in warned] == ["warning", "notice"]
    # 17 queries may lack rare gains
    assert [kind for kind, _, _ in stopped] == ["error", "warning", "notice"]


def test_notebooks_and_trackers_say_it(doubtful: Gated, shut: Gated) -> None:
    shown = re.sub(r"\s+", " ", doubtful._repr_html_())
    assert "Too few judgments to say whether new may replace main" in shown
    assert SENTENCE.search(shown)

    logged, closed = content_of(doubtful, page=""), content_of(shut, page="")
    assert (logged.metrics["gate_passed"], logged.words["gate_outcome"], logged.words["gate"]) == (
        0.0,
        "too few judgments",
        "too few judgments",
    )
    assert (closed.words["gate_outcome"], closed.words["gate"]) == ("failed", "closed")
    assert logged.metrics["nDCG_at_10_decides"] == 1
    assert logged.metrics["P_at_5_decides"] == 0
    assert 0 < logged.metrics["nDCG_at_10_tipping"] < 1


def test_trackers_log_the_p_value_of_compare(
    pooled: tuple[Evaluation, Evaluation], doubtful: Gated
) -> None:
    new, main = pooled
    by_gate, by_compare = (
        content_of(doubtful, page="").metrics,
        content_of(ir.compare(main, new, measures=MEASURES), page="").metrics,
    )

    for name in ("nDCG_at_10", "P_at_5"):
        assert by_gate[f"{name}_difference_p"] == by_compare[f"{name}_difference_p"]
        assert by_gate[f"{name}_difference_p_one_sided"] < by_gate[f"{name}_difference_p"]


def test_a_page_of_two_baselines_says_it_of_each_pair(
    pooled: tuple[Evaluation, Evaluation],
) -> None:
    new, main = pooled
    older = evaluated(
        POOLED, {query: listed[::-1] for query, listed in BASELINE.items()}, "older", MEASURES
    )
    gated = ir.gate(new, main, older, measures=MEASURES, when_unjudged="neutral")

    found = with_gate(
        ReportMaterial(evaluations=(new, main, older), measures=new.measures[:1]), gated
    ).comparison

    assert found is not None
    for pair_, check in zip(found.pairs, gated.checks[:: len(MEASURES)], strict=True):
        row = pair_["nDCG@10"]
        assert (row.verdict, check.outcome) == ("too few judgments", "too few judgments")
        assert row.tipping is not None
        assert check.tipping is not None
        assert (row.tipping.side, row.tipping.unjudged_b, row.tipping.unjudged_a) == (
            "b",
            check.tipping.unjudged_b,
            0,
        )
        assert row.p_corrected == check.p_two_sided
