"""Corrected estimates against recorded numbers of other tools, against complete enumeration, and
where they refuse.
"""

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import idealrank as ir
from idealrank.errors import InputError, OptionError
from idealrank.judging import correct, correct_documents, corrected_share
from tests.conftest import shared_file


@pytest.fixture(scope="module")
def recorded() -> tuple[dict[str, Any], Any, dict[str, Any]]:
    """Grades of the human and 22 judges by name, the query of each pair, and what other tools
    compute from them.
    """
    lines = shared_file("data", "llm-judges", "judges.csv").read_text(encoding="utf-8").splitlines()
    rows = [line.split(",") for line in lines[1:]]
    grades = dict(
        zip(lines[0].split(",")[2:], np.array([row[2:] for row in rows], float).T, strict=True)
    )
    return (
        grades,
        np.array([row[0] for row in rows]),
        json.loads(shared_file("golden", "judges.json").read_text(encoding="utf-8")),
    )


def numbers(human: Any, judge: Any, labelled: Any) -> dict[str, float]:
    """The numbers of one judge by the names under which they are recorded."""
    data = (human[labelled], judge[labelled], judge[~labelled])
    z0, z1, t1 = (
        correct(*data, tuning="ppi++", quantile=quantile, ddof=ddof)  # type: ignore[arg-type]
        for quantile, ddof in (("z", 0), ("z", 1), ("t", 1))
    )
    one = correct(*data, weight=1, tuning="ppi++", quantile="z", ddof=0)
    found = {
        "lambda_raw": z0.raw_weight,
        "lam": z0.weight,
        "theta": z0.estimate,
        "se_ddof0": z0.standard_error,
        "se_ddof1": z1.standard_error,
        "theta_lambda1": one.estimate,
        "mean_labelled_human": z0.human_estimate,
        "mean_judge_all": z0.judge_estimate,
    }
    ends = {
        "ci95_ddof0": z0.interval,
        "ci95_ddof1": z1.interval,
        "ci95_lambda1_ddof0": one.interval,
        "classical_ci95_z_ddof0": z0.human_interval,
        "classical_ci95_t_ddof1": t1.human_interval,
    }
    return found | {
        f"{name} {place}": value for name, pair in ends.items() for place, value in enumerate(pair)
    }


def off(
    found: dict[str, float], expected: dict[str, Any], tolerance: float = 1e-12
) -> dict[str, tuple[float, float]]:
    """What differs from the record; SciPy 1.12, which made it, has quantiles of t to ten digits
    alone.
    """
    flat = {
        name: value
        for key, recorded in expected.items()
        for name, value in (
            {f"{key} {place}": one for place, one in enumerate(recorded)}
            if isinstance(recorded, list)
            else {key: recorded}
        ).items()
    }
    return {
        name: (value, flat[name])
        for name, value in found.items()
        if abs(value - flat[name]) > (1e-9 if name.startswith("classical_ci95_t") else tolerance)
    }


@pytest.mark.parametrize(("section", "cut"), [("pairs", None), ("pairs_binary_ge2", 2)])
def test_estimates_over_pairs_are_those_of_ppi_python_and_truescore(
    recorded: Any, section: str, cut: int | None
) -> None:
    grades, _, content = recorded
    values = {
        name: one if cut is None else (one >= cut).astype(float) for name, one in grades.items()
    }
    wrong, n = {}, 0
    for size, judges in content["ppi"][section].items():
        labelled = np.zeros(4423, bool)
        labelled[[row for row, _, _ in content["ppi"]["labelled_pairs"][size]]] = True
        for judge, expected in judges.items():
            n += 1
            wrong |= {
                f"{size} {judge} {name}": pair
                for name, pair in off(
                    numbers(values["human"], values[judge], labelled), expected
                ).items()
            }

    assert wrong == {}
    assert n == (34 if cut is None else 12)


def test_pairs_clustered_by_query_are_those_of_truescore_and_four_times_less_sure(
    recorded: Any,
) -> None:
    grades, queries, content = recorded
    for judge, expected in content["ppi"]["pairs_clustered"].items():
        labelled = next(
            chosen
            for names in content["ppi"]["labelled_queries"].values()
            if (chosen := np.isin(queries, names)).sum() == expected["n"]
        )
        data = (grades["human"][labelled], grades[judge][labelled], grades[judge][~labelled])
        found = correct(*data, tuning="ppi++", clusters=(queries[labelled], queries[~labelled]))

        assert (found.n_labelled, found.n_judge_only, found.n_clusters, found.df) == (
            expected["n"],
            expected["N"],
            10,
            expected["df"],
        )
        assert found.estimate == pytest.approx(expected["theta"], abs=1e-12)
        assert found.weight == pytest.approx(expected["lam"], abs=1e-12)
        assert found.standard_error == pytest.approx(expected["se_cluster"], abs=1e-12)
        assert found.interval == pytest.approx(expected["ci95_t"], abs=1e-10)
        assert found.standard_error > 4 * correct(*data, tuning="ppi++").standard_error
        # All pairs in one list of clusters say the same.
        again = correct(
            *data, tuning="ppi++", clusters=np.concatenate([queries[labelled], queries[~labelled]])
        )
        assert again == found


def test_ten_labelled_of_25_queries_have_t_with_9_degrees_and_not_z() -> None:
    """The interval is computed by SciPy alone: variances, optimum and quantile."""
    rng = np.random.default_rng(18)
    truth = rng.beta(2, 2, 25)
    model = np.clip(truth + rng.normal(0.1, 0.15, 25), 0, 1)
    y, f, others = truth[:10], model[:10], model[10:]
    weight = float(np.cov(y, f, ddof=0)[0, 1] / (1 + 10 / 15) / stats.tvar(model))
    center = weight * others.mean() + (y - weight * f).mean()
    error = math.hypot(stats.sem(y - weight * f), weight * stats.sem(others))
    low, high = stats.t.interval(0.95, 9, loc=center, scale=error)
    narrow = stats.norm.interval(0.95, loc=center, scale=error)

    found = correct(y, f, others, tuning="ppi++")

    assert 0 < weight < 1
    assert (found.n_labelled, found.n_judge_only, found.df) == (10, 15, 9)
    assert (found.estimate, found.standard_error, found.weight) == pytest.approx(
        (center, error, weight), abs=1e-12
    )
    assert found.interval == pytest.approx((low, high), abs=1e-9)
    assert found.human_interval == pytest.approx(
        stats.t.interval(0.95, 9, loc=y.mean(), scale=stats.sem(y)), abs=1e-9
    )
    assert (high - low) / (narrow[1] - narrow[0]) == pytest.approx(2.2621572 / 1.9599640, abs=1e-6)
    assert correct(y, f, others, tuning="ppi++", quantile="z").interval == pytest.approx(
        narrow, abs=1e-9
    )


def test_ten_labelled_of_25_queries_of_a_run_have_t_with_9_degrees_and_not_z() -> None:
    """By judgments and a run: RR of a query is 1 over the rank of its one relevant document."""
    documents = list("abcdefgh")
    rng = np.random.default_rng(25)
    ranks, errors = rng.integers(1, 9, 25), rng.integers(0, 3, 25)
    human = {f"q{number}": {documents[ranks[number] - 1]: 1} for number in range(10)}
    judge = {
        f"q{number}": {documents[(ranks[number] - 1 + errors[number]) % 8]: 1}
        for number in range(25)
    }
    y, model = 1 / ranks[:10], 1 / ((ranks - 1 + errors) % 8 + 1)

    found = ir.judging.correct_run(
        human, judge, dict.fromkeys(judge, documents), "RR", weight=0.5, largest_error=0
    ).found

    center = 0.5 * model[10:].mean() + (y - 0.5 * model[:10]).mean()
    error = math.hypot(stats.sem(y - 0.5 * model[:10]), 0.5 * stats.sem(model[10:]))
    assert (found.n_labelled, found.n_judge_only) == (10, 15)
    assert found.interval == pytest.approx(
        stats.t.interval(0.95, 9, loc=center, scale=error), abs=1e-9
    )


def test_differences_over_queries_are_those_of_ppi_python_and_truescore(recorded: Any) -> None:
    grades, queries, content = recorded
    documents = [
        line.split(",")[1]
        for line in shared_file("data", "llm-judges", "judges.csv")
        .read_text(encoding="utf-8")
        .splitlines()[1:]
    ]
    runs = {
        name: shared_file("data", "llm-judges", "runs", f"{name}.run")
        for name in ("s01", "s02", "s03", "s07", "s09", "s10")
    }
    known: dict[tuple[str, str], dict[str, float]] = {}

    def values(judge: str, run: str) -> dict[str, float]:
        if (judge, run) not in known:
            qrels: dict[str, dict[str, float]] = {}
            for query, document, grade in zip(
                queries.tolist(), documents, grades[judge].tolist(), strict=True
            ):
                qrels.setdefault(query, {})[document] = grade
            known[judge, run] = {
                one: of["nDCG@10"] or 0.0
                for one, of in ir.evaluate(qrels, runs[run], "nDCG@10").per_query().items()
            }
        return known[judge, run]

    wrong, n = {}, 0
    for size, pairs in content["ppi"]["queries"].items():
        labelled_queries = content["ppi"]["labelled_queries"][size]
        for pair, entry in pairs.items():
            a, b = pair.split("-")
            names = list(values("human", a))
            labelled = np.isin(names, labelled_queries)
            for judge in list(entry["judges"])[:: 6 if size == "10" else 2]:
                human, model = (
                    np.array([values(who, a)[q] - values(who, b)[q] for q in names])
                    for who in ("human", judge)
                )
                n += 1
                expected = entry["judges"][judge]
                wrong |= {
                    f"{size} {pair} {judge} {name}": both
                    for name, both in off(numbers(human, model, labelled), expected).items()
                }
    assert wrong == {}
    assert n >= 15


@given(data=st.data())
def test_the_estimate_is_the_mean_of_the_human_where_the_weight_or_the_judge_is_nothing(
    data: st.DataObject,
) -> None:
    numbers_of = st.floats(-10, 10, allow_subnormal=False)
    human = data.draw(st.lists(numbers_of, min_size=2, max_size=8))
    judge = data.draw(st.lists(numbers_of, min_size=len(human), max_size=len(human)))
    other = data.draw(st.lists(numbers_of, max_size=8))
    for found in (
        correct(human, judge, other, weight=0),
        correct(human, judge, []),
        correct(human, [3.0] * len(human), [3.0] * len(other)),
    ):
        assert found.estimate == pytest.approx(np.mean(human), abs=1e-9)
        assert found.standard_error == pytest.approx(found.human_error, abs=1e-9)
    found = correct(human, judge, other)
    assert 0 <= found.weight <= 1


def test_a_judge_who_knows_all_is_worth_its_labels_and_one_who_knows_nothing_is_worth_none() -> (
    None
):
    rng = np.random.default_rng(3)
    human, rest = rng.random(50), rng.random(950)
    wise, foolish = (
        correct(human, judge, other, tuning="ppi++")
        for judge, other in ((human, rest), (rng.random(50), rng.random(950)))
    )

    assert 800 < wise.effective_labels <= 1000
    assert wise.worth == pytest.approx((wise.effective_labels - 50) / 950)
    assert 45 < foolish.effective_labels < 60


def test_one_value_of_the_judge_alone_varies_as_all_its_values_do() -> None:
    """One value has no variance of its own; taken as 0, the interval about it was that of a value
    known without error.
    """
    human, judge, other = [1.0, 2.0, 3.0, 5.0], [1.0, 2.0, 2.0, 4.0], [3.0]
    found = correct(human, judge, other, weight=0.5, largest_error=0)

    residuals = np.array(human) - 0.5 * np.array(judge)
    error = math.sqrt(residuals.var(ddof=1) / 4 + 0.25 * np.var([*judge, *other], ddof=1))
    assert found.standard_error == pytest.approx(error, abs=1e-12)
    assert correct(human, judge, other, weight=0).standard_error == found.human_error


def test_units_of_a_query_in_both_kinds_count_with_their_covariance() -> None:
    """A query whose judge is lenient raises the judge's mean and lowers the correction: the two
    must not count as independent.
    """
    rng = np.random.default_rng(4)
    n_queries, shift = 60, rng.normal(0, 1, 60)
    labelled, other = np.repeat(np.arange(n_queries), 2), np.repeat(np.arange(n_queries), 4)
    estimates, errors = [], []
    for _ in range(300):
        shift = rng.normal(0, 1, n_queries)
        human = rng.normal(0, 0.2, labelled.size)
        found = correct(
            human,
            shift[labelled] + human,
            shift[other] + rng.normal(0, 0.2, other.size),
            weight=1.0,
            clusters=(labelled, other),
            largest_error=0,
        )
        estimates.append(found.estimate)
        errors.append(found.standard_error)

    # 300 draws: 4 % standard error of a standard deviation
    assert np.mean(errors) == pytest.approx(np.std(estimates), rel=0.1)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: correct([1.0], [1.0], [1.0]), InputError, "found 1 values, expected at least 2"),
        (
            lambda: correct([1.0, 2.0], [1.0], [1.0]),
            InputError,
            "one for each of the 2 human values",
        ),
        (lambda: correct([1.0, math.nan], [1.0, 1.0], []), InputError, "human, unit 1: found nan"),
        (
            lambda: correct([1.0, 2.0], [1.0, 1.0], [[1.0]]),
            InputError,
            r"judge_only: found shape \(1, 1\)",
        ),
        (lambda: correct([1.0, 2.0], [1.0, 1.0], [1.0], weight=1.5), OptionError, "from 0 to 1"),
        (
            lambda: correct([1.0, 2.0], [1.0, 1.0], [1.0], quantile="normal"),
            OptionError,
            "quantile",
        ),  # type: ignore[arg-type]
        (lambda: correct([1.0, 2.0], [1.0, 1.0], [1.0], ddof=2), OptionError, "ddof=2"),
        (
            lambda: correct([1.0, 2.0], [1.0, 1.0], [1.0], clusters=["q", "q", "r"]),
            InputError,
            "one cluster of labelled units",
        ),
        (
            lambda: correct([1.0, 2.0], [1.0, 1.0], [1.0], clusters=["q", "r"]),
            InputError,
            "2 labelled and 1 other",
        ),
        (lambda: correct([1.0, 2.0], [1.0, 1.0], [1.0], weight="x"), OptionError, "weight=x"),  # type: ignore[arg-type]
        (lambda: correct([1.0, 2.0], [1.0, 1.0], [1.0], weight=[1, 1]), OptionError, "from 0 to 1"),  # type: ignore[arg-type]
        (
            lambda: correct([1.0, 2.0], [1.0, 1.0], [1.0], largest_error=-1),
            OptionError,
            "largest_error=-1",
        ),
        (lambda: correct([1.0, 2.0], [1.0, 1.0], [1.0], tuning="best"), OptionError, "tuning"),  # type: ignore[arg-type]
        (
            lambda: correct([1e200, 2e200], [1.0, 1.0], [1.0]),
            InputError,
            "human, unit 0: found 1e\\+200",
        ),
        (
            lambda: correct(
                [1.0, 2.0], [1.0, 1.0], [1.0], clusters=np.array(["q", 1, None], object)
            ),
            InputError,
            "found labels without an order",
        ),
        (lambda: corrected_share(["a"], [1], [1]), InputError, "human: found what is no number"),
        (lambda: corrected_share([1, 0], [1, 0], [1], confidence=2), OptionError, "confidence=2"),
        (
            lambda: corrected_share([1, 0], [1, 0], [1], clusters=[1, 2, 3]),
            InputError,
            "a pair of arrays",
        ),
        (lambda: corrected_share([1, 0], [1, 0], [1], clusters=5), InputError, "a pair of arrays"),
        (
            lambda: corrected_share([1, 0], [1, 2], [1]),
            InputError,
            "judge: found 2, expected one label 0 or 1",
        ),
        (lambda: corrected_share([1, 1], [1, 0], [1]), InputError, "2 labels 1 and 0 labels 0"),
        (lambda: corrected_share([1, 0], [0, 1], [1]), InputError, "add up to 1 or less"),
        (lambda: corrected_share([1, 0], [1, 0], []), InputError, "judge_only: found no label"),
    ],
)
def test_a_refusal_says_what_was_found(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


# --- shares ---------------------------------------------------------------------------------------


def test_shares_of_all_judges_are_the_recorded_ones(recorded: Any) -> None:
    grades, _, content = recorded
    calibration = np.zeros(4423, bool)
    calibration[content["rogan_gladen"]["calibration_rows"]] = True
    human = (grades["human"] >= 2).astype(int)
    for judge, expected in content["rogan_gladen"]["judges"].items():
        labels = (grades[judge] >= 2).astype(int)
        data = (human[calibration], labels[calibration], labels[~calibration])
        smoothed, delta = corrected_share(*data), corrected_share(*data, interval="delta")
        assert smoothed.estimate == delta.estimate == pytest.approx(expected["theta"], abs=1e-12), (
            judge
        )
        assert (smoothed.specificity, smoothed.sensitivity) == pytest.approx(
            (expected["q0_specificity"], expected["q1_sensitivity"])
        )
        assert smoothed.interval == pytest.approx(expected["ci95"], abs=1e-12)
        assert smoothed.standard_error == pytest.approx(expected["se"], abs=1e-12)
        assert delta.interval == pytest.approx(expected["ci95_delta"], abs=1e-12)


def test_a_share_clustered_by_query_leaves_out_one_query_at_a_time() -> None:
    rng = np.random.default_rng(6)
    human = rng.integers(0, 2, 120)
    judge = np.where(rng.random(120) < 0.15, 1 - human, human)
    other, of_human, of_other = (
        rng.integers(0, 2, 200),
        np.repeat(np.arange(6), 20),
        np.repeat(np.arange(6), [30, 40, 20, 50, 30, 30]),
    )
    found = corrected_share(human, judge, other, clusters=(of_human, of_other))

    left = np.array(
        [
            corrected_share(
                human[of_human != q], judge[of_human != q], other[of_other != q]
            ).estimate
            for q in range(6)
        ]
    )

    assert found.standard_error == pytest.approx(
        math.sqrt(5 / 6 * ((left - left.mean()) ** 2).sum())
    )
    assert found.interval[1] - found.estimate == pytest.approx(
        2.570581835636314 * found.standard_error
    )


# --- documents ------------------------------------------------------------------------------------

JUDGE = {"q": {"a": 2, "b": 1, "c": 1, "d": 0, "e": 0}, "r": {"a": 1, "b": 0, "c": 2, "d": 2}}
HUMAN = {"q": {"a": 3, "b": 0, "c": 1, "d": 1, "e": 0}, "r": {"a": 2, "b": 0, "c": 0, "d": 3}}
RUN, OTHER = (
    {"q": ["b", "a", "d", "e"], "r": ["c", "x", "a", "d"]},
    {"q": ["a", "c"], "r": ["a", "b", "c"]},
)


def sample(kept: set[tuple[str, str]]) -> dict[str, dict[str, int]]:
    """The human grades of some documents."""
    return {
        query: {one: grade for one, grade in of.items() if (query, one) in kept}
        for query, of in HUMAN.items()
    }


def test_complete_human_grades_give_the_values_of_the_evaluation() -> None:
    everything = {(query, one) for query, of in HUMAN.items() for one in of}
    for run in (RUN, OTHER):
        evaluated = ir.evaluate(
            HUMAN, run, ["DCG@3", "iDCG@3", "DCG(gain=exp2)", "iDCG(gain=exp2)"]
        )
        dcg, ideal, exp2, exp2_ideal = (evaluated.values[:, column] for column in range(4))
        for measure, expected in (
            ("DCG@3", dcg.mean()),
            ("nDCG@3", dcg.sum() / ideal.sum()),
            ("nDCG(gain=exp2)", exp2.sum() / exp2_ideal.sum()),
        ):
            found = correct_documents(sample(everything), JUDGE, run, measure, queries="fixed")
            assert found.estimate == pytest.approx(expected, abs=1e-12), measure
            assert found.standard_error == 0
        judged = ir.evaluate(JUDGE, run, ["DCG@3", "iDCG@3"]).values
        assert correct_documents(
            sample(everything), JUDGE, run, "nDCG@3"
        ).judge_estimate == pytest.approx(judged[:, 0].sum() / judged[:, 1].sum())


def strata() -> dict[int, list[tuple[str, str]]]:
    """Documents by the judge's grade."""
    found: dict[int, list[tuple[str, str]]] = {}
    for query, of in JUDGE.items():
        for document, grade in of.items():
            found.setdefault(grade, []).append((query, document))
    return found


@pytest.mark.parametrize("against", [None, OTHER])
@pytest.mark.parametrize("weight", [1.0, 0.4, 0.0])
def test_over_all_stratified_samples_the_mean_is_the_truth_and_the_mean_variance_the_variance(
    against: Any, weight: float
) -> None:
    """Every sample of two documents in each grade of the judge, 27 of them: DCG is unbiased, and so
    is its variance.
    """
    truth = ir.evaluate(HUMAN, RUN, "DCG@4").values.mean() - (
        ir.evaluate(HUMAN, against, "DCG@4").values.mean() if against else 0.0
    )
    samples = [
        set(itertools.chain(*chosen))
        for chosen in itertools.product(
            *(itertools.combinations(one, 2) for one in strata().values())
        )
    ]
    found = [
        correct_documents(
            sample(one), JUDGE, RUN, "DCG@4", against=against, queries="fixed", weight=weight
        )
        for one in samples
    ]
    estimates = np.array([one.estimate for one in found])

    assert len(samples) == 27
    assert estimates.mean() == pytest.approx(truth, abs=1e-12)
    assert np.mean([one.standard_error**2 for one in found]) == pytest.approx(
        estimates.var(), abs=1e-12
    )


def test_over_all_independent_samples_the_mean_is_the_truth_and_the_mean_variance_the_variance() -> (  # noqa: E501
    None
):
    """Each of six documents is sampled by itself, with a probability of its own: every one of the
    64 samples by its probability.
    """
    chances = {
        "q": {"a": 0.5, "b": 0.8, "c": 1.0, "d": 0.3, "e": 1.0},
        "r": {"a": 0.6, "b": 1.0, "c": 0.25, "d": 0.9},
    }
    truth = ir.evaluate(HUMAN, RUN, "DCG@4").values.mean()
    pairs = [(query, one) for query, of in chances.items() for one in of]
    total, mean, square, variance = 0.0, 0.0, 0.0, 0.0
    uncertain = [pair for pair in pairs if chances[pair[0]][pair[1]] < 1]
    for chosen in itertools.product([True, False], repeat=len(uncertain)):
        kept = {pair for pair, one in zip(uncertain, chosen, strict=True) if one} | (
            set(pairs) - set(uncertain)
        )
        by = math.prod(
            chances[q][d] if one else 1 - chances[q][d]
            for (q, d), one in zip(uncertain, chosen, strict=True)
        )
        found = correct_documents(
            sample(kept), JUDGE, RUN, "DCG@4", probability=chances, queries="fixed"
        )
        total, mean = total + by, mean + by * found.estimate
        square, variance = square + by * found.estimate**2, variance + by * found.standard_error**2

    assert total == pytest.approx(1)
    assert mean == pytest.approx(truth, abs=1e-12)
    assert variance == pytest.approx(square - mean**2, abs=1e-10)


def made(n_queries: int = 40, n_documents: int = 30, seed: int = 7) -> tuple[Any, Any, Any]:
    """Grades of a human and a judge that follow the same quality, and a run."""
    rng = np.random.default_rng(seed)
    human: dict[str, dict[str, int]] = {}
    judge: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for q in range(n_queries):
        quality = rng.normal(rng.normal(0, 0.4), 1, n_documents)
        cut = [0.2, 0.9, 1.6]
        human[f"q{q}"] = {f"d{d}": int(np.searchsorted(cut, x)) for d, x in enumerate(quality)}
        judge[f"q{q}"] = {
            f"d{d}": int(np.searchsorted(cut, x + 0.2))
            for d, x in enumerate(quality + rng.normal(0, 0.5, n_documents))
        }
        run[f"q{q}"] = {
            f"d{d}": float(x) for d, x in enumerate(quality + rng.normal(0, 1.0, n_documents))
        }
    return human, judge, run


@pytest.mark.parametrize("queries", ["sample", "fixed"])
@pytest.mark.parametrize("measure", ["DCG@10", "nDCG@10"])
def test_the_bootstrap_agrees_with_the_delta_method(queries: Any, measure: str) -> None:
    human, judge, run = made()
    rng = np.random.default_rng(8)
    sampled = {
        query: {one: grade for one, grade in of.items() if rng.random() < 0.6}
        for query, of in human.items()
    }
    found = correct_documents(sampled, judge, run, measure, queries=queries, resamples=400, rng=1)

    # 400 draws have a standard error of 4 %; NDCG's ideal bends, so that the two differ by more.
    assert found.bootstrap_error == pytest.approx(
        found.standard_error, rel=0.12 if measure == "DCG@10" else 0.3
    )


def test_a_good_judge_saves_human_grades() -> None:
    human, judge, run = made()
    rng = np.random.default_rng(9)
    sampled = {
        query: {one: grade for one, grade in of.items() if rng.random() < 0.3}
        for query, of in human.items()
    }
    found = correct_documents(sampled, judge, run, "DCG@10", queries="fixed")

    assert found.effective_labels > 2 * found.n_labelled
    truth = ir.evaluate(human, run, "DCG@10").mean()["DCG@10"]
    assert found.interval[0] < truth < found.interval[1]
    assert abs(found.judge_estimate - truth) > 3 * found.standard_error


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"measure": "AP"}, OptionError, "expected DCG or nDCG"),
        ({"measure": "nDCG@0.2n"}, OptionError, "a constant cutoff"),
        ({"measure": "nDCG(ideal=returned)@5"}, OptionError, "found cutoff 5, ideal returned"),
        ({"weight": 2.0}, OptionError, "weight=2"),
        ({"weight": "x"}, OptionError, "weight=x"),
        ({"resamples": 1}, OptionError, "resamples=1"),
        ({"resamples": -1}, OptionError, "resamples=-1"),
        ({"resamples": "x"}, OptionError, "resamples='x'"),
        (
            {"human": {"q": {"z": 1}}},
            InputError,
            "human, query 'q', document 'z': found no grade of the judge",
        ),
        (
            {"human": {"q": {"a": 1, "b": 1, "c": 2}}},
            InputError,
            "found 0 grades among the 3 documents with grade 0 of the judge",
        ),
        (
            {"probability": {"q": {"a": 0.5}}},
            InputError,
            "probability, query 'q', document 'b': found nan",
        ),
    ],
)
def test_a_refused_sample_is_named(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    given = {"human": HUMAN, "judge": JUDGE, "run": RUN, **options}
    with pytest.raises(error, match=message):
        correct_documents(**given)
