"""Agreement coefficients against published tables, other tools' recorded numbers, and slow
definitions.
"""

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from idealrank.errors import InputError, OptionError
from idealrank.judging import (
    agreement,
    agreement_by_cluster,
    agreement_by_rater,
    agreement_of_counts,
    chance_test,
)
from tests.conftest import shared_file

NAN = math.nan

# --- published tables, which are everywhere -------------------------------------------------------

# Krippendorff (2011), Computing Krippendorff's alpha-reliability, example C: 12 units, 4 observers;
# nominal .743, ordinal .815, interval .849, ratio .797.
KRIPPENDORFF = [
    [1, 1, NAN, 1],
    [2, 2, 3, 2],
    [3, 3, 3, 3],
    [3, 3, 3, 3],
    [2, 2, 2, 2],
    [1, 2, 3, 4],
    [4, 4, 4, 4],
    [1, 1, 2, 1],
    [2, 2, 2, 2],
    [NAN, 5, 5, 5],
    [NAN, NAN, 1, 1],
    [NAN, NAN, 3, NAN],
]


@pytest.mark.parametrize(
    ("level", "printed"),
    [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)],
)
def test_alpha_of_krippendorffs_example_is_the_printed_number(level: Any, printed: float) -> None:
    assert agreement(KRIPPENDORFF, "krippendorff_alpha", level=level) == pytest.approx(
        printed, abs=5e-4
    )


def test_kappa_of_fleisss_worked_example_is_the_printed_number() -> None:
    """Fleiss (1971) as Wikipedia works it: 10 units, 14 raters, 5 categories."""
    counts = [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
    assert agreement_of_counts(counts, "fleiss_kappa") == pytest.approx(0.210, abs=5e-4)


# The table of SAS's PROC FREQ: simple kappa .4842 (ASE .1380, 95 % .2137 to .7547), weighted .4701
# (.1457; .1845 to .7558).
SAS = (
    [[0, 0]] * 10
    + [[0, 1]] * 4
    + [[0, 2]]
    + [[1, 0]] * 6
    + [[1, 1]] * 12
    + [[1, 2]] * 2
    + [[2, 1]] * 4
    + [[2, 2]]
)
# Gwet (2014) as irrCAC has it, 12 units of 4 raters: coefficient and standard error, to five
# digits.
GWET = [*KRIPPENDORFF[:11], [NAN, NAN, 3, NAN]]


@pytest.mark.parametrize(
    ("statistic", "weights", "value", "error"),
    [
        ("gwet_ac1", None, 0.77544, 0.14295),
        ("gwet_ac1", "ordinal", 0.89894, 0.1069),
        ("conger_kappa", None, 0.76282, 0.14917),
        ("conger_kappa", "ordinal", 0.84366, 0.1441),
        ("fleiss_kappa", "quadratic", 0.86494, 0.14603),
        ("fleiss_kappa", "linear", 0.81794, 0.1485),
        ("krippendorff_alpha", "quadratic", 0.84911, 0.12913),
        ("krippendorff_alpha", "linear", 0.80038, 0.13548),
        ("brennan_prediger", "quadratic", 0.90152, 0.11089),
        ("brennan_prediger", "linear", 0.84848, 0.12336),
    ],
)
def test_gwets_four_raters_give_his_coefficients_and_errors(
    statistic: Any, weights: Any, value: float, error: float
) -> None:
    found = agreement(GWET, statistic, weights=weights, interval=True, variance="analytic")

    assert found.value == pytest.approx(value, abs=6e-6)
    assert found.standard_error == pytest.approx(error, abs=6e-6)


# --- the cases and judges beside the checkout -----------------------------------------------------

NAMES = {
    "gwet_AC1/AC2": "gwet_ac1",
    "conger": "conger_kappa",
    "fleiss": "fleiss_kappa",
    "krippendorff": "krippendorff_alpha",
    "brennan_prediger": "brennan_prediger",
}


def ratings_of(data: dict[str, Any]) -> Any:
    """The ratings of a case; texts become numbers in their order, and a table of two raters its
    rows.
    """
    if "confusion" in data:
        table = np.array(data["confusion"])
        cells = np.nonzero(table)
        return np.repeat(np.stack(cells, axis=1), table[cells], axis=0).astype(float)
    if "counts_units_by_categories" in data:
        return np.array(data["counts_units_by_categories"], float)
    words = sorted({one for row in data["units_by_raters"] for one in row if isinstance(one, str)})
    return np.array(
        [
            [NAN if one is None else words.index(one) if words else one for one in row]
            for row in data["units_by_raters"]
        ],
        float,
    )


def computed(case: dict[str, Any], ratings: Any) -> dict[str, tuple[float, float, float]]:
    """What a case asks for: found, expected and tolerance by name."""
    statistic, options, expected, tolerance = (
        case["statistic"],
        case["params"],
        case["expected"],
        case["tol"],
    )
    if statistic == "krippendorff_alpha":
        found = agreement(ratings, "krippendorff_alpha", level=options["level"])
    elif statistic == "fleiss_kappa":
        found = agreement_of_counts(ratings, "fleiss_kappa")
    # free marginals: Brennan and Prediger's coefficient of several raters
    elif statistic.startswith("randolph"):
        found = agreement_of_counts(ratings, "brennan_prediger")
    elif statistic == "fleiss_kappa_z":
        found = chance_test(ratings, "fleiss_kappa").z
    elif statistic.startswith("cohen_kappa_z"):  # irr weighs by the place of a category
        places = np.searchsorted(
            sorted(options["categories"]), ratings[:, options["raters"]]
        ).astype(float)
        word = options["weights"].split()[0]
        found = chance_test(places, weights=None if word == "unweighted" else word).z
    elif statistic.startswith("cohen_kappa "):
        weights: Any = "linear" if "weighted linear" in statistic else None
        one, test = (
            agreement(ratings, "cohen_kappa", weights=weights, interval=True, variance="analytic"),
            chance_test(ratings, weights=weights),
        )
        found = {
            "ASE": one.standard_error,
            "95% upper": one.interval[1],
            "z": test.z,
            "p two-sided": test.p,
        }[statistic.split(": ")[1]]
    else:
        weights = None if options["weights"] == "identity" else options["weights"]
        name: Any = NAMES[statistic]
        one = agreement(ratings, name, weights=weights, interval=True, variance="analytic")
        ends = {
            f"end {place}": (one.interval[place], options["ci95"][place], 1e-5) for place in (0, 1)
        }
        return {
            "value": (one.value, expected, tolerance),
            "se": (one.standard_error, options["se"], 1e-5),
            **ends,
        }
    return {"value": (found, expected, tolerance)}


def test_every_recorded_case_is_reproduced() -> None:
    content = json.loads(
        shared_file("data", "agreement", "agreement_cases.json").read_text(encoding="utf-8")
    )
    off = {}
    for case in content["cases"]:
        for what, (found, expected, tolerance) in computed(
            case, ratings_of(content["data"][case["dataset"]])
        ).items():
            if not abs(found - expected) <= tolerance:
                off[f"{case['name']}, {what}"] = (found, expected)

    assert len(content["cases"]) == 42
    assert off == {}


@pytest.fixture(scope="module")
def judges() -> tuple[Any, list[str], dict[str, Any]]:
    """The human and 22 judges, (pairs, 23), with their queries, and what other tools compute from
    them.
    """
    lines = shared_file("data", "llm-judges", "judges.csv").read_text(encoding="utf-8").splitlines()
    names = lines[0].split(",")[2:]
    rows = [line.split(",") for line in lines[1:]]
    grades = np.array([row[2:] for row in rows], float)
    recorded = json.loads(shared_file("golden", "judges.json").read_text(encoding="utf-8"))
    return dict(zip(names, grades.T, strict=True)), [row[0] for row in rows], recorded


VALUES: dict[str, dict[str, Any]] = {
    "percent_agreement": {"statistic": "percent"},
    "cohen_kappa": {"statistic": "cohen_kappa"},
    "kappa_linear": {"statistic": "cohen_kappa", "weights": "linear"},
    "kappa_quadratic": {"statistic": "cohen_kappa", "weights": "quadratic"},
    "scott_pi": {"statistic": "scott_pi"},
    "alpha_nominal": {"statistic": "krippendorff_alpha", "level": "nominal"},
    "alpha_ordinal": {"statistic": "krippendorff_alpha", "level": "ordinal"},
    "alpha_interval": {"statistic": "krippendorff_alpha", "level": "interval"},
    "gwet_ac1": {"statistic": "gwet_ac1"},
    "gwet_ac2_linear": {"statistic": "gwet_ac1", "weights": "linear"},
    "gwet_ac2_quadratic": {"statistic": "gwet_ac1", "weights": "quadratic"},
}
ENDS = {"cohen_kappa": "cohen_kappa_ci95_z", "gwet_ac1": "gwet_ac1_ci95_t"}


def compared(ratings: Any, expected: dict[str, Any]) -> Any:
    """Found and expected of every number of one judge that is recorded."""
    for name, options in VALUES.items():
        if name in expected:
            yield name, agreement(ratings, **options), expected[name]
        if expected.get(f"{name}_se", NAN) is None or f"{name}_se" in expected:
            one = agreement(ratings, **options, interval=True, variance="analytic")
            wanted = expected[f"{name}_se"]
            yield f"{name}_se", one.standard_error, NAN if wanted is None else wanted
            if name in ENDS and ENDS[name] in expected:
                yield from zip(
                    [f"{name} low", f"{name} high"],
                    one.interval,
                    [NAN if x is None else x for x in expected[ENDS[name]]],
                    strict=True,
                )


@pytest.mark.slow
def test_every_judge_has_the_recorded_agreement_with_the_human(judges: Any) -> None:
    grades, _, recorded = judges
    off, n = {}, 0
    for judge, expected in recorded["agreement"].items():
        pairs = np.stack([grades["human"], grades[judge]], axis=1)
        views = {
            "": (pairs, expected),
            "clipped": (np.clip(pairs, 0, 3), expected.get("clipped_to_0_3", {})),
            "dropped": (pairs[pairs.max(axis=1) <= 3], expected.get("dropped_out_of_scale", {})),
            **{
                f">= {cut}": ((pairs >= cut).astype(float), expected[f"binary_ge{cut}"])
                for cut in (1, 2, 3)
            },
        }
        for view, (ratings, numbers) in views.items():
            for what, found, wanted in compared(ratings, numbers):
                n += 1
                if not (abs(found - wanted) <= 1e-11 or (math.isnan(found) and math.isnan(wanted))):
                    off[f"{judge} {view} {what}"] = (found, wanted)

    assert off == {}
    assert n == 1182


def test_errors_clustered_by_query_are_the_recorded_ones_and_three_times_those_of_pairs(
    judges: Any,
) -> None:
    grades, queries, recorded = judges
    ratios = []
    for judge, expected in recorded["agreement"].items():
        pairs = np.clip(np.stack([grades["human"], grades[judge]], axis=1), 0, 3)
        for name, error in expected["jackknife_by_query_se"].items():
            found = agreement(pairs, **VALUES[name], clusters=queries, interval=True)
            assert found.standard_error == pytest.approx(error, abs=1e-12), (judge, name)
            assert found.n_clusters == 25
            if name == "cohen_kappa":
                ratios.append(
                    error
                    / agreement(
                        pairs, "cohen_kappa", interval=True, variance="analytic"
                    ).standard_error
                )

    assert min(ratios) > 2
    assert 3 < np.median(ratios) < 6


def test_two_grades_outside_the_scale_lift_quadratic_ac2(judges: Any) -> None:
    grades, _, _ = judges
    pairs = np.stack([grades["human"], grades["RMITIR-llama70B"]], axis=1)

    assert round(agreement(pairs, "gwet_ac1", weights="quadratic"), 2) == 0.87
    assert round(agreement(np.clip(pairs, 0, 3), "gwet_ac1", weights="quadratic"), 2) == 0.64
    with pytest.raises(
        InputError, match=r"rater 1: found 5, expected one of the categories 0, 1, 2, 3"
    ):
        agreement(pairs, "gwet_ac1", weights="quadratic", categories=[0, 1, 2, 3])


# --- definitions, written slowly ------------------------------------------------------------------

ROWS = st.lists(
    st.lists(st.sampled_from([0.0, 1.0, 2.0, 4.0, NAN]), min_size=3, max_size=3),
    min_size=3,
    max_size=8,
)


def slow_alpha(ratings: list[list[float]], level: str) -> float:
    """Observed over expected squared distance of pairs of values, one pair at a time."""
    units = [[one for one in row if not math.isnan(one)] for row in ratings]
    units = [row for row in units if len(row) >= 2]
    values = [one for row in units for one in row]
    counts = {one: values.count(one) for one in values}

    def apart(a: float, b: float) -> float:
        low, high = sorted((a, b))
        between = (
            sum(n for one, n in counts.items() if low <= one <= high) - (counts[a] + counts[b]) / 2
        )
        return {
            "nominal": float(a != b),
            "interval": (a - b) ** 2,
            "ratio": ((a - b) / (a + b or 1)) ** 2,
            "ordinal": (a != b) * between**2,
        }[level]

    observed = sum(
        sum(apart(a, b) for a, b in itertools.permutations(row, 2)) / (len(row) - 1)
        for row in units
    ) / len(values)
    expected = sum(apart(a, b) for a, b in itertools.permutations(values, 2)) / (
        len(values) * (len(values) - 1)
    )
    return 1 - observed / expected if expected else NAN


def slow_kappa(ratings: list[list[float]], weight: Any) -> float:
    """Mean over pairs of raters of Cohen's kappa, each from the lists of two raters."""
    found = []
    for a, b in itertools.combinations(range(3), 2):
        both = [
            (row[a], row[b]) for row in ratings if not math.isnan(row[a]) and not math.isnan(row[b])
        ]
        if not both:
            continue
        observed = sum(weight(x, y) for x, y in both) / len(both)
        expected = sum(weight(x, y) for x, _ in both for _, y in both) / len(both) ** 2
        if 1 - expected > 1e-12:
            found.append((observed - expected) / (1 - expected))
    return sum(found) / len(found) if found else NAN


def same(found: float, expected: float) -> bool:
    return (math.isnan(found) and math.isnan(expected)) or abs(found - expected) < 1e-9


@given(ratings=ROWS)
def test_alpha_and_kappa_agree_with_their_definitions(ratings: list[list[float]]) -> None:
    present = [one for row in ratings for one in row if not math.isnan(one)]
    if not any(sum(not math.isnan(one) for one in row) >= 2 for row in ratings):
        with pytest.raises(InputError, match="no unit with two ratings"):
            agreement(ratings, "percent")
        return
    reach = max(present) - min(present) or 1.0

    for level in ("nominal", "ordinal", "interval", "ratio"):
        assert same(
            agreement(ratings, "krippendorff_alpha", level=level), slow_alpha(ratings, level)
        ), level  # type: ignore[arg-type]
    assert same(agreement(ratings, "cohen_kappa"), slow_kappa(ratings, lambda a, b: float(a == b)))
    assert same(
        agreement(ratings, "cohen_kappa", weights="quadratic"),
        slow_kappa(ratings, lambda a, b: 1 - ((a - b) / reach) ** 2),
    )


@pytest.mark.parametrize(
    "statistic",
    ["percent", "cohen_kappa", "conger_kappa", "fleiss_kappa", "gwet_ac1", "krippendorff_alpha"],
)
def test_the_jackknife_leaves_out_one_cluster_at_a_time(statistic: Any) -> None:
    rng = np.random.default_rng(5)
    ratings = rng.integers(0, 3, (30, 3)).astype(float)
    ratings[rng.random((30, 3)) < 0.1] = NAN
    clusters = np.repeat(np.arange(6), 5)
    found = agreement(ratings, statistic, clusters=clusters, interval=True, categories=[0, 1, 2])

    left = np.array(
        [agreement(ratings[clusters != one], statistic, categories=[0, 1, 2]) for one in range(6)]
    )

    assert found.standard_error == pytest.approx(
        math.sqrt(5 / 6 * ((left - left.mean()) ** 2).sum()), abs=1e-12
    )
    reach = 2.570581835636314 * found.standard_error  # t with 5 degrees, from a table
    assert found.interval == pytest.approx(
        (found.value - reach, min(found.value + reach, 1)), abs=1e-12
    )


@pytest.mark.parametrize(
    "statistic", ["percent", "brennan_prediger", "krippendorff_alpha", "cohen_kappa", "scott_pi"]
)
def test_queries_that_one_rater_alone_graded_carry_no_interval(statistic: Any) -> None:
    """A model graded 40 queries and a person five of them: the interval has t with 4 degrees, and
    not with 39.
    """
    rng = np.random.default_rng(8)
    ratings = rng.integers(0, 3, (120, 2)).astype(float)
    ratings[15:, 0] = NAN
    clusters = np.repeat(np.arange(40), 3)

    found = agreement(ratings, statistic, clusters=clusters, interval=True, categories=[0, 1, 2])

    alone = agreement(
        ratings[:15], statistic, clusters=clusters[:15], interval=True, categories=[0, 1, 2]
    )
    assert (found.n_units, found.n_clusters) == (15, 5)
    assert (found.value, found.standard_error) == pytest.approx(
        (alone.value, alone.standard_error), abs=1e-12
    )
    assert found.interval == pytest.approx(alone.interval, abs=1e-12)


@pytest.mark.parametrize("statistic", ["gwet_ac1", "fleiss_kappa", "conger_kappa"])
def test_queries_that_one_rater_alone_graded_move_chance_and_add_no_degree_of_freedom(
    statistic: Any,
) -> None:
    rng = np.random.default_rng(9)
    ratings = rng.integers(0, 3, (60, 2)).astype(float)
    ratings[15:, 0] = NAN
    clusters = np.repeat(np.arange(20), 3)

    found = agreement(ratings, statistic, clusters=clusters, interval=True, categories=[0, 1, 2])

    left = np.array(
        [agreement(ratings[clusters != one], statistic, categories=[0, 1, 2]) for one in range(20)]
    )
    parts = (left[:5], left[5:])  # jackknife of two strata
    variance = sum(
        (part.size - 1) / part.size * ((part - part.mean()) ** 2).sum() for part in parts
    )
    reach = 2.7764451051977987 * math.sqrt(variance)  # t with 4 degrees, from a table
    assert found.n_clusters == 5
    assert found.standard_error == pytest.approx(math.sqrt(variance), abs=1e-12)
    assert found.interval == pytest.approx(
        (found.value - reach, min(found.value + reach, 1)), abs=1e-12
    )


@given(order=st.permutations(range(6)))
def test_order_of_units_and_clusters_does_not_matter(order: list[int]) -> None:
    ratings = np.array([[0, 0], [1, 2], [2, 2], [0, 1], [2, 1], [1, 1]], float)
    clusters = np.array(["a", "a", "b", "b", "c", "c"])
    one, other = (
        agreement(rows, "gwet_ac1", weights="linear", clusters=labels, interval=True)
        for rows, labels in ((ratings, clusters), (ratings[order], clusters[order]))
    )
    assert (other.value, other.standard_error) == pytest.approx(
        (one.value, one.standard_error), abs=1e-12
    )


# --- what has no number, and what is refused ------------------------------------------------------


def test_a_constant_judge_has_kappa_0_and_no_error() -> None:
    ratings = [[0, 1], [1, 1], [2, 1], [0, 1], [1, 1], [2, 1]]
    for variance in ("jackknife", "analytic"):
        found = agreement(ratings, "cohen_kappa", interval=True, variance=variance)  # type: ignore[call-overload]
        assert found.value == pytest.approx(0, abs=1e-15)
        assert math.isnan(found.standard_error)
        assert all(math.isnan(end) for end in found.interval)


def test_agreement_is_undefined_where_everybody_always_gives_one_grade() -> None:
    ones = [[1, 1], [1, 1], [1, 1]]
    assert math.isnan(agreement(ones, "cohen_kappa"))
    assert math.isnan(agreement(ones, "fleiss_kappa"))
    assert math.isnan(agreement(ones, "krippendorff_alpha"))
    assert agreement(ones, "brennan_prediger", categories=[0, 1]) == 1


def test_weights_go_by_the_values_of_grades_and_not_by_their_places() -> None:
    """Grades 0, 1 and 10: confusing 0 with 1 costs a tenth of the range, and not half of it."""
    ratings = [[0, 0], [0, 1], [0, 1], [10, 10]]
    observed, expected = 1 - 2 * 0.1 / 4, 1 - (3 * 2 * 0.1 + 3 * 1 + 1 * 1 + 1 * 2 * 0.9) / 16
    assert agreement(ratings, "cohen_kappa", weights="linear") == pytest.approx(
        (observed - expected) / (1 - expected)
    )


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: agreement([[0, 1]], "kappa"), OptionError, "statistic"),
        (
            lambda: agreement([[0, 1]], "cohen_kappa", level="ordinal"),
            OptionError,
            "found the statistic cohen_kappa",
        ),
        (lambda: agreement([[0, 1, 2]], "scott_pi"), OptionError, "found 3 raters, expected 2"),
        (
            lambda: agreement([[-1, 2]], "krippendorff_alpha", level="ratio"),
            OptionError,
            "found the grade -1",
        ),
        (lambda: agreement([0, 1], "percent"), InputError, r"found shape \(2,\)"),
        (lambda: agreement([["a", "b"]], "percent"), InputError, "found what is no number"),
        (
            lambda: agreement([[0, NAN], [NAN, 1]], "percent"),
            InputError,
            "no unit with two ratings",
        ),
        (lambda: agreement([[0, math.inf]], "percent"), InputError, "unit 0, rater 1: found inf"),
        (
            lambda: agreement([[0, 1], [1, 1]], "percent", clusters=["q", "q"], interval=True),
            InputError,
            "found 1 with ratings",
        ),
        (
            lambda: agreement([[0, 1], [1, 1]], "percent", clusters=["q"], interval=True),
            InputError,
            "one label for each of the 2 units",
        ),
        (
            lambda: agreement(
                [[0, 1], [1, 1]], "percent", clusters=["q", "r"], interval=True, variance="analytic"
            ),
            OptionError,
            "jackknife respects clusters",
        ),
        (
            lambda: agreement([[0, 1], [1, NAN]], "percent", clusters=["q", "r"], interval=True),
            InputError,
            "found 1 with ratings",
        ),
        (lambda: agreement([[0, 1], [1, 1]], "percent", weights=np.eye(2)), OptionError, "weights"),
        (lambda: agreement([[0, 1], [1, 1]], "percent", categories=[]), OptionError, "found none"),
        (
            lambda: agreement([[0, 1], [1, 1]], "percent", categories=["a"]),
            OptionError,
            "found what is no number",
        ),
        (
            lambda: agreement(
                [[0, 1], [1, 1]], "percent", clusters=["q", 1, None][:2], interval=True, weights="x"
            ),
            OptionError,
            "weights=x",
        ),
        (
            lambda: agreement(
                [[0, 1], [1, 1], [1, 1]], clusters=np.array(["q", 1, None], object), interval=True
            ),
            InputError,
            "of one kind",
        ),
        (lambda: agreement_by_rater([["a", "b"]]), InputError, "found what is no number"),
        (lambda: agreement_by_cluster([["a", "b"]], ["q"]), InputError, "found what is no number"),
        (lambda: agreement_of_counts([["a", "b"]]), InputError, "found what is no number"),
        (
            lambda: agreement_of_counts([[2, 0]], "cohen_kappa"),
            OptionError,
            "needs to know which rater",
        ),
        (lambda: agreement_of_counts([[2, -1]]), InputError, "below 0"),
        (
            lambda: agreement([[0, 1]], "percent", categories=[0, 0, 1]),
            OptionError,
            "a category twice",
        ),
    ],
)
def test_a_refusal_says_what_was_found(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("statistic", ["cohen_kappa", "fleiss_kappa"])
def test_raters_of_one_grade_have_no_test_of_chance(statistic: Any) -> None:
    found = chance_test([[1, 1], [1, 1], [1, 1]], statistic)

    assert [
        math.isnan(number) for number in (found.value, found.standard_error, found.z, found.p)
    ] == [True] * 4


@pytest.mark.parametrize(
    "ratings",
    [[[0, 1]], [[1, 1, NAN], [0, 1, NAN], [0, 0, NAN]]],
    ids=["one unit", "a rater without ratings"],
)
@pytest.mark.parametrize(
    "statistic", ["conger_kappa", "gwet_ac1", "fleiss_kappa", "krippendorff_alpha", "percent"]
)
@pytest.mark.filterwarnings("error")
def test_a_formula_without_an_error_says_nan_and_does_not_warn(
    statistic: Any, ratings: Any
) -> None:
    found = agreement(ratings, statistic, interval=True, variance="analytic")

    assert len(ratings) > 1 or math.isnan(found.standard_error)


def test_many_units_are_counted_and_not_paired() -> None:
    """Ten copies of the rows are 200,000 units, whose pairs do not fit into memory; the
    coefficients stay, except alpha's correction.
    """
    ratings = np.random.default_rng(2).integers(0, 4, (20_000, 3)).astype(float)
    for statistic in ("cohen_kappa", "krippendorff_alpha", "gwet_ac1"):
        one = agreement(ratings, statistic)  # type: ignore[call-overload]
        many = agreement(np.tile(ratings, (10, 1)), statistic)  # type: ignore[call-overload]
        assert many == pytest.approx(one, abs=1e-4 if statistic == "krippendorff_alpha" else 1e-12)
