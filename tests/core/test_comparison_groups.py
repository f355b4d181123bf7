"""Groups of runs that a comparison cannot tell apart: against their definition and SciPy's interval
of a mean.
"""

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy import stats

import idealrank as ir
from idealrank.errors import OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.reports.views.comparison.league import (
    Ranked,
    better_letters,
    headline,
    letter_of,
    letters_note,
)


def runs_of(
    n_runs: int, n: int = 40, seed: int = 1, measures: tuple[str, ...] = ("nDCG@10", "AP")
) -> list[Evaluation]:
    """Runs of rising quality on the same queries."""
    generator = np.random.default_rng(seed)
    qrels = {f"q{i}": {"x": 1} for i in range(n)}
    made = ir.evaluate(qrels, {query: ["x"] for query in qrels}, measures)
    base = generator.random((n, 1))
    return [
        replace(
            made,
            name=f"run{run}",
            values=np.clip(
                0.6 * base + 0.2 * run / n_runs + generator.normal(0, 0.1, made.values.shape), 0, 1
            ),
        )
        for run in range(n_runs)
    ]


@pytest.mark.parametrize(
    ("n_runs", "options"), [(5, {}), (7, {"test": "wilcoxon"}), (14, {"n_resamples": 999})]
)
def test_two_runs_share_a_letter_if_and_only_if_they_do_not_differ(
    n_runs: int, options: dict[str, Any]
) -> None:
    found = ir.compare(*runs_of(n_runs), **options)

    for measure in ("nDCG@10", "AP"):
        letters = found.groups(measure).letters
        by_pair = {
            frozenset((pair.a, pair.b)): row.p_corrected
            for pair, row in found.rows()
            if row.measure == measure
        }
        assert 0 < sum(p <= 0.05 for p in by_pair.values()) < len(by_pair)
        for a, b in combinations(letters, 2):
            assert bool(set(letters[a]) & set(letters[b])) == (by_pair[frozenset((a, b))] > 0.05)
        best, *others = letters
        assert found.groups(measure).top == (
            best,
            *(run for run in others if by_pair[frozenset((best, run))] > 0.05),
        )
        assert list(letters) == sorted(letters, key=lambda run: -found.means[measure][run].mean)


def test_where_less_is_better_the_best_has_the_least() -> None:
    qrels = {f"q{i}": {"x": 1} for i in range(12)}
    late, early = (
        ir.evaluate(qrels, dict.fromkeys(qrels, ranking), "Unjudged@2")
        for ranking in (["y", "x"], ["x"])
    )

    found = ir.compare(late, early).groups("Unjudged@2")

    assert found.letters == {"run (2)": "a", "run": "b"}
    assert found.top == ("run (2)",)


def test_intervals_of_means_are_scipys() -> None:
    runs = runs_of(3)

    means = ir.compare(*runs, level=0.9).means["AP"]

    for run in runs:
        expected = stats.t.interval(0.9, 39, np.mean(run["AP"]), stats.sem(run["AP"]))
        assert means[run.name].interval == pytest.approx(expected, rel=1e-12)
        assert (means[run.name].mean, means[run.name].n) == (
            pytest.approx(float(np.mean(run["AP"])), rel=1e-14),
            40,
        )


def test_a_run_scored_on_fewer_queries_has_its_own_mean() -> None:
    first, second = runs_of(2, measures=("AP",))
    scored = np.ones_like(second.scored)
    scored[:10] = False

    means = ir.compare(first, replace(second, scored=scored)).means["AP"]

    assert (means["run0"].n, means["run1"].n) == (40, 30)
    assert means["run1"].mean == pytest.approx(float(np.mean(second["AP"][10:])), rel=1e-14)


def test_what_json_has_of_groups() -> None:
    found = ir.compare(*runs_of(3))

    record = found.as_dict()

    groups = found.groups("AP")
    better_than = {run: list(others) for run, others in groups.better_than.items()}
    assert record["groups"]["AP"] == {
        "letters": groups.letters,
        "top": list(groups.top),
        "better_than": better_than,
    }
    assert record["means"]["AP"]["run0"]["interval"] == list(found.means["AP"]["run0"].interval)


def test_one_baseline_tells_nothing_of_groups() -> None:
    found = ir.compare(*runs_of(3), baseline="run0")

    assert "groups" not in found.as_dict()
    with pytest.raises(OptionError, match="baseline 'run0' only, expected all pairs"):
        found.groups()
    with pytest.raises(KeyError, match="RR: not compared"):
        ir.compare(*runs_of(2)).groups("RR")


@pytest.mark.slow
def test_holms_method_for_any_number_of_runs() -> None:
    runs = runs_of(12, n=11, measures=("nDCG@10",))
    found = ir.compare(*runs, correction="holm")
    p = [
        stats.permutation_test(
            (b.values[:, 0] - a.values[:, 0],),
            np.mean,
            permutation_type="samples",
            n_resamples=np.inf,
        ).pvalue
        for a, b in combinations(runs, 2)
    ]
    rows = [pair.measures["nDCG@10"] for pair in found.pairs]
    np.testing.assert_allclose([row.p for row in rows], p, rtol=1e-12)
    ordered = np.argsort(p, kind="stable")
    steps = np.minimum(np.maximum.accumulate(np.array(p)[ordered] * np.arange(66, 0, -1)), 1)
    np.testing.assert_allclose([rows[at].p_corrected for at in ordered], steps, rtol=1e-12)
    assert (found.method.correction, ir.compare(*runs).method.correction) == ("holm", "max-T")


def test_more_tests_than_draws_can_tell_are_refused() -> None:
    runs = runs_of(12, n=30, measures=("nDCG@10",))
    with pytest.raises(
        OptionError, match=r"found 66 tests and 999 draws: .* no p could be as small as 0\.05"
    ):
        ir.compare(*runs, correction="holm", n_resamples=999)
    assert ir.compare(*runs, correction="holm", n_resamples=1_320).method.correction == "holm"
    with pytest.raises(OptionError, match="correction='all'"):
        ir.compare(*runs, correction="all")  # type: ignore[arg-type]


@pytest.mark.parametrize(("n_runs", "options"), [(7, {"test": "wilcoxon"}), (30, {"test": "t"})])
def test_letters_name_the_runs_that_a_run_is_better_than(
    n_runs: int, options: dict[str, Any]
) -> None:
    """Read back from the table, letter by letter, against the verdict of every pair."""
    found = ir.compare(*runs_of(n_runs), **options)
    won = {
        (pair.b, pair.a) if row.verdict == "better" else (pair.a, pair.b)
        for pair, row in rows_decided(found, "AP")
    }
    assert 0 < len(won) < n_runs * (n_runs - 1) / 2
    table = Ranked.of(found, "nDCG@10")
    order = list(table.means)
    letters = {letter_of(place): run for place, run in enumerate(order)}
    assert len(letters) == n_runs

    said = better_letters(found, "AP", order)

    assert {
        (run, letters[one]) for run, text in said.items() for one in read_back(text, list(letters))
    } == won
    assert set(found.groups("AP").better_than) == set(order)
    assert {
        (run, other) for run, others in found.groups("AP").better_than.items() for other in others
    } == won


def rows_decided(found: ir.Comparison, measure: str) -> list[tuple[Any, Any]]:
    return [
        (pair, row)
        for pair, row in found.rows()
        if row.measure == measure and row.verdict in ("better", "worse")
    ]


def read_back(text: str, letters: list[str]) -> list[str]:
    """The letters that a text stands for, by the rule that the guide states."""
    parts = text.split(",") if "," in text or "-" in text or len(letters) > 26 else list(text)
    ends = [part.split("-") for part in parts if part]
    return [
        letter
        for first, *last in ends
        for letter in letters[letters.index(first) : letters.index((last or [first])[0]) + 1]
    ]


def test_a_difference_that_no_verdict_carries_has_no_letter() -> None:
    found = ir.compare(*runs_of(3), measures="AP", correction="holm", level=0.5)
    first, *others = found.pairs
    silent = replace(first, measures={"AP": replace(first.measures["AP"], verdict="undecided")})

    better_than = replace(found, pairs=(silent, *others)).groups("AP").better_than

    assert first.a in found.groups("AP").better_than[first.b]
    assert first.a not in better_than[first.b]


def test_letters_of_worse_runs_count_verdicts_and_letters_of_groups_count_p_alone() -> None:
    found = ir.compare(*runs_of(3))
    pair = found.pairs[1]
    assert pair["nDCG@10"].p_corrected <= 0.05
    unreached = replace(
        pair,
        measures={
            **pair.measures,
            "nDCG@10": replace(pair["nDCG@10"], verdict="too few judgments"),
        },
    )
    found = replace(found, pairs=(found.pairs[0], unreached, found.pairs[2]))

    groups = found.groups("nDCG@10")

    assert pair.a not in groups.better_than[pair.b]
    assert not set(groups.letters[pair.a]) & set(groups.letters[pair.b])
    assert letters_note(found, "better").startswith("letters count verdicts: ")
    assert letters_note(found, "groups").startswith("letters count p alone: ")


@pytest.mark.parametrize(
    ("verdicts", "said"),
    [
        ([], "run5 is better than all 5 others."),
        (
            ["equivalent"],
            "differs significantly from all others, but is better than only 4 of them: 1 is "
            "equivalent.",
        ),
        (["too few judgments"] * 2, "but is better than only 3 of them: too few judgments for 2."),
        (
            ["equivalent"] * 2 + ["too few judgments"] * 3,
            "none of them: 2 are equivalent and too few judgments for 3.",
        ),
    ],
)
def test_the_first_sentence_calls_a_run_better_only_by_its_verdicts(
    verdicts: list[Any], said: str
) -> None:
    """A difference may be significant, and yet smaller than a margin, or due to unjudged
    documents.
    """
    base = runs_of(6, measures=("RR",))
    clear = [replace(one, values=one.values / 100 + 0.1 * place) for place, one in enumerate(base)]
    found = ir.compare(*clear)
    left = iter(verdicts)
    pairs = [
        replace(pair, measures={"RR": replace(pair["RR"], verdict=verdict)})
        if pair.b == "run5" and (verdict := next(left, ""))
        else pair
        for pair in found.pairs
    ]
    found = replace(found, pairs=tuple(pairs))
    assert found.groups("RR").top == ("run5",)
    assert headline(found, "RR").endswith(said)
    assert len(found.groups("RR").better_than["run5"]) == 5 - len(verdicts)


def test_a_run_in_the_top_group_is_better_than_the_others_only_by_its_verdicts() -> None:
    base = runs_of(6, measures=("RR",))
    near = [
        replace(one, values=one.values / 100 + 0.1 * min(place, 4))
        for place, one in enumerate(base)
    ]
    found = ir.compare(*near, margin=0.15, largest_loss=0.16)
    top, *others = found.groups("RR").top
    assert len(others) == 1
    assert headline(found, "RR").endswith(
        f"{others[0]}. Of the others, {top} is better than 3: 1 is equivalent."
    )
