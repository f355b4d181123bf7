"""Comparison and gate from sums of partitions: beside `compare` and `gate` of the whole, and beside
themselves in other parts.
"""

import itertools

import numpy as np
import pytest

import idealrank as ir

QUERIES = [f"q{n}" for n in range(120)]
MEASURES = ["nDCG@10", "AP", "RR"]

pytestmark = pytest.mark.filterwarnings("ignore")


def runs(lost: float) -> tuple[dict, dict, dict]:
    """Judgments, and two runs: the second is the worst order on a share of the queries; one query
    is in neither, one in the first alone.
    """
    rng = np.random.default_rng(11)
    qrels = {query: {f"d{n}": int(rng.integers(3)) for n in range(8)} for query in QUERIES}
    a = {query: [f"d{n}" for n in rng.permutation(8)] for query in QUERIES[1:]}
    b = {}
    for query, documents in a.items():
        worst = sorted(documents, key=lambda doc, q=query: qrels[q][doc])
        b[query] = worst if rng.random() < lost else [*documents[:3], *documents[:2:-1]]
    del b["q7"]
    return qrels, a, b


def evaluated(
    qrels: dict, run: dict, name: str, measures=MEASURES, convention: str = "standard"
) -> ir.Evaluation:
    return ir.evaluate(qrels, ir.Run(run, name=name), measures, convention)


def in_parts(
    qrels: dict, a: dict, b: dict, cuts: list[int], measures=MEASURES, convention="standard"
) -> list[ir.ComparisonSums]:
    found, queries = [], list(qrels)
    for begin, end in itertools.pairwise([0, *cuts, len(queries)]):
        tables = (
            {query: table[query] for query in queries[begin:end] if query in table}
            for table in (qrels, a, b)
        )
        part, *both = tables
        sides = [
            evaluated(part, run, name, measures, convention)
            for run, name in zip(both, "ab", strict=True)
        ]
        found.append(ir.ComparisonSums.of(*sides))
    return found


def merged(parts: list[ir.ComparisonSums]) -> ir.ComparisonSums:
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.merge(part)
    return whole


@pytest.mark.parametrize("convention", ["standard", "standard,missing=left-out"])
@pytest.mark.parametrize("lost", [0.0, 0.1, 0.5])
def test_differences_are_those_of_compare(lost: float, convention: str) -> None:
    """Means and counts to rounding; p values and intervals within the error of 10,000 draws."""
    qrels, a, b = runs(lost)
    sides = [
        evaluated(qrels, run, name, MEASURES, convention) for run, name in ((a, "a"), (b, "b"))
    ]
    whole = {one.measure: one for one in ir.compare(*sides).pair("a", "b").measures.values()}
    for one in merged(in_parts(qrels, a, b, [30, 31, 90], convention=convention)).differences():
        test = whole[one.measure]
        assert (one.n, one.wins, one.ties, one.losses) == (
            test.n,
            test.wins,
            test.ties,
            test.losses,
        )
        for name in ("mean_a", "mean_b", "difference"):
            assert getattr(one, name) == pytest.approx(getattr(test, name), abs=1e-12)
        assert one.p_corrected == pytest.approx(
            test.p_corrected, abs=4 * np.sqrt(test.p_corrected / 10_000) + 2e-4
        )
        # theirs hold together
        assert (one.low, one.high) == pytest.approx(
            test.interval, abs=(test.interval[1] - test.interval[0]) / 3
        )


@pytest.mark.parametrize(
    "policy", [ir.Policy(), ir.Policy(tolerance=0.02), ir.Policy(strict=True, margin=0.05)]
)
@pytest.mark.parametrize("lost", [0.0, 0.15, 0.6])
def test_a_gate_decides_as_the_gate_of_the_whole(lost: float, policy: ir.Policy) -> None:
    qrels, a, b = runs(lost)
    whole = ir.gate(evaluated(qrels, b, "b"), evaluated(qrels, a, "a"), policy=policy)
    found = ir.gate_sums(merged(in_parts(qrels, a, b, [30, 31, 90])), policy=policy)
    assert (found.passed, found.run, found.baselines, found.missing) == (
        whole.passed,
        "b",
        ("a",),
        whole.missing,
    )
    for one, test in zip(found.checks, whole.checks, strict=True):
        for name in (
            "measure",
            "n",
            "wins",
            "ties",
            "losses",
            "decides",
            "family",
            "excluded_queries",
        ):
            assert getattr(one, name) == getattr(test, name), name
        if policy.strict:  # sums do not hold the losses that the whole gate weighs
            assert 0.95**one.n <= one.p <= test.p + 4 * np.sqrt(test.p / 10_000) + 2e-4
        else:
            assert one.p == pytest.approx(test.p, abs=4 * np.sqrt(test.p / 10_000) + 2e-4)
            assert one.p_corrected == pytest.approx(
                test.p_corrected, abs=4 * np.sqrt(test.p_corrected / 10_000) + 2e-4
            )
        assert np.isnan(one.detectable)  # 120 queries may hide one change of the largest size
        assert one.detectable_reason
        assert [drop.query for drop in one.worst] == [drop.query for drop in test.worst]
    assert found.closing_queries == whole.closing_queries or found.passed
    assert found.as_dict()["checks"][0]["p_sides"] == 1


def test_parts_in_any_order_and_grouping_give_one_answer() -> None:
    qrels, a, b = runs(0.2)
    whole = in_parts(qrels, a, b, [])[0]
    parts = in_parts(qrels, a, b, [1, 8, 60])
    for other in (
        merged(parts),
        merged(parts[::-1]),
        parts[0].merge(parts[1]).merge(parts[2].merge(parts[3])),
    ):
        assert (other.excluded, other.worst, other.missing, other.judgments) == (
            whole.excluded,
            whole.worst,
            whole.missing,
            whole.judgments,
        )
        assert [one.p for one in other.sums] == [one.p for one in whole.sums]
        for one, same in zip(other.differences(), whole.differences(), strict=True):
            assert one.as_dict() == pytest.approx(same.as_dict(), abs=1e-12)


def test_sums_go_to_another_process_and_back() -> None:
    qrels, a, b = runs(0.2)
    sums = in_parts(qrels, a, b, [])[0]
    back = ir.ComparisonSums.unpacked(
        *sums.packed(), names=("a", "b"), measures=sums.measures, convention=sums.convention
    )
    assert back.differences() == sums.differences()
    assert back.worst == sums.worst


def test_a_measure_that_is_better_when_lower_fails_by_its_rise() -> None:
    qrels, a, b = runs(0.5)
    found = ir.gate_sums(merged(in_parts(qrels, a, b, [60], measures=["ARP"])))
    whole = ir.gate(evaluated(qrels, b, "b", ["ARP"]), evaluated(qrels, a, "a", ["ARP"]))
    assert whole.checks[0].direction == -1
    assert found.passed is whole.passed
    assert found.checks[0].difference == pytest.approx(whole.checks[0].difference)
    assert found.checks[0].p == pytest.approx(whole.checks[0].p, abs=0.02)


def test_what_does_not_fit_is_refused() -> None:
    qrels, a, b = runs(0.2)
    one, two = in_parts(qrels, a, b, [60])
    with pytest.raises(ir.IncompatibleError, match=r"found measures nDCG@10, AP, RR and AP"):
        one.merge(in_parts(qrels, a, b, [60], ["AP"])[1])
    with pytest.raises(ir.IncompatibleError, match="found conventions standard"):
        one.merge(in_parts(qrels, a, b, [60], convention="trec_eval")[1])
    sides = [evaluated(qrels, run, "run") for run in (a, b)]
    with pytest.raises(ir.IncompatibleError, match="found seed and draws"):
        two.merge(ir.ComparisonSums.of(*sides, n_draws=10))
    with pytest.raises(KeyError, match="P@5: not compared"):
        one["P@5"]
    empty = ir.ComparisonSums.of(*(side.on([]) for side in sides))
    with pytest.raises(ir.InputError, match="nDCG@10: no query counts in both"):
        ir.gate_sums(empty)
    assert (
        empty.merge(ir.ComparisonSums.of(*sides)).differences()
        == ir.ComparisonSums.of(*sides).differences()
    )


def with_unanswerable(
    answerable: int, unanswerable: int
) -> tuple[dict[str, dict[str, int]], list[dict[str, list[str]]]]:
    """Judgments and two runs: every fifth answerable query loses a rank; the other queries have no
    relevant document.
    """
    qrels = {f"q{place:03}": {"x": 1, "y": 0} for place in range(answerable)}
    before = {query: ["x", "y"] for query in qrels}
    after = {
        query: ["y", "x"] if place % 5 == 0 else ["x", "y"] for place, query in enumerate(qrels)
    }
    for place in range(unanswerable):
        qrels[f"u{place:03}"] = {"x": 0}
        before[f"u{place:03}"] = after[f"u{place:03}"] = ["x"]
    return qrels, [before, after]


@pytest.mark.parametrize("policy", [ir.Policy(tolerance=0.05), ir.Policy(strict=True, margin=0.16)])
def test_margins_of_sums_refer_to_answerable_queries_as_those_of_the_gate(
    policy: ir.Policy,
) -> None:
    qrels, (before, after) = with_unanswerable(300, 700)
    whole = ir.gate(
        *(evaluated(qrels, run, name) for run, name in ((after, "b"), (before, "a"))), policy=policy
    )
    found = ir.gate_sums(merged(in_parts(qrels, before, after, [30, 400])), policy=policy)
    applied, expected = found.checks[0].margin, whole.checks[0].margin
    assert applied is not None
    assert expected is not None
    assert (applied.answerable, applied.applied, applied.margin) == (
        300,
        pytest.approx(expected.applied),
        expected.margin,
    )
    assert found.passed == whole.passed
    assert found.margin_scales == whole.margin_scales


def test_sums_packed_for_another_process_keep_the_answerable_queries() -> None:
    qrels, (before, after) = with_unanswerable(20, 10)
    sums = merged(in_parts(qrels, before, after, [5]))
    again = ir.ComparisonSums.unpacked(
        *sums.packed(), names=("a", "b"), measures=sums.measures, convention=sums.convention
    )
    assert again.answerable == sums.answerable
    assert sums.answerable[0] == 20


def test_a_drop_in_few_summed_queries_has_no_known_error_rate() -> None:
    qrels, (before, after) = with_unanswerable(100, 0)
    found = ir.gate_sums(merged(in_parts(qrels, before, after, [30])))
    assert not found.passed
    assert not found.checks[0].error_rate_known
    assert "may lack rare large differences" in found.cautions[0]


def test_a_refuted_largest_loss_leaves_no_bound_in_sums_as_in_the_gate() -> None:
    qrels, (before, after) = with_unanswerable(100, 0)
    measures = ["DCG@10"]  # no range takes the place of the largest loss
    policy = ir.Policy(strict=True, margin=0.3, largest_loss=0.31)
    whole = ir.gate(
        evaluated(qrels, after, "b", measures),
        evaluated(qrels, before, "a", measures),
        policy=policy,
    )
    summed = ir.gate_sums(merged(in_parts(qrels, before, after, [30], measures)), policy=policy)
    assert (whole.checks[0].p, whole.checks[0].bound) == (1.0, -np.inf)
    assert (summed.checks[0].p, summed.checks[0].bound) == (1.0, -np.inf)
    assert summed.cautions == whole.cautions
