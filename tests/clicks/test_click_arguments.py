"""Hostile arguments of every public function of `idealrank.clicks`: an error of the library, or an
answer; never one of NumPy.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from types import FunctionType
from typing import Any

import numpy as np
import pytest

from idealrank import clicks
from idealrank.clicks import (
    DBN,
    DCM,
    PBM,
    SDBN,
    UBM,
    Cascade,
    Interleaved,
    LogRows,
    Sessions,
    ab_effect,
    bias_text,
    click_rows,
    cohort_effects,
    doubly_robust,
    doubly_robust_difference,
    exposures,
    fit_in_parts,
    grades,
    grades_of_actions,
    harvested_propensities,
    interleave,
    ips,
    ips_difference,
    lists_needed,
    logged_dcg,
    logged_dcg_difference,
    novelty,
    parameter_intervals,
    position_bias,
    preference,
    propensities,
    simulate,
    slate_difference,
    slate_value,
    trust_propensities,
    users_needed,
)
from idealrank.errors import IdealrankError

LOG = simulate(
    np.random.default_rng(1).beta(2, 3, (3, 4)), 30, ranks=3, policy="random", users=9, rng=1
)
FITTED = PBM(5).fit(LOG)
N = len(LOG)
SIDE = np.array(["A", "B"])[LOG.user % 2]
DRAFTED = Interleaved(
    documents=("a", "b"), teams=("A", "B"), method="team-draft", shares=(0.0, 1.0)
)
HALF, ONES = [0.5] * 4, [1, 0, 1, 0]
PLACES = [[0.5, 0.5]] * 2
RANKING = {query: ["0", "1", "2"] for query in LOG.queries}
ROWS: dict[str, Any] = {
    "session": ["s", "s"],
    "query": ["q", "q"],
    "document": ["a", "b"],
    "rank": np.array([1.0, 2.0]),
    "click": np.array([0.0, 1.0]),
    "user": ["u", "u"],
    "propensity": np.array([0.5, 0.5]),
    "action": ["none", "click"],
    "dwell": np.array([0.0, 9.0]),
    "time": np.array([0.0, 0.0]),
    "cohort": ["A", "A"],
    "covariate": np.array([1.0, 1.0]),
    "period": np.array([1.0, 1.0]),
}

# Every call with good arguments; each of them is then replaced by each hostile value.
CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "ab_effect": (
        ab_effect,
        {
            "values": [1, 2, 3, 4],
            "cohort": list("AABB"),
            "users": list("uvwx"),
            "denominator": [1, 1, 1, 1],
            "covariate": [0, 1, 0, 1],
            "split": 0.5,
            "planned_users": 100,
            "confidence": 0.9,
            "n_resamples": 5,
            "rng": 1,
        },
    ),
    "bias_text": (bias_text, {"bias": 2.5}),
    "click_rows": (
        click_rows,
        {"sessions": LOG, "propensity": [1, 0.5, 0.25], "lists": "all", "largest_weight": 10},
    ),
    "cohort_effects": (
        cohort_effects,
        {
            "sessions": LOG,
            "cohort": SIDE,
            "qrels": {query: {"0": 1} for query in LOG.queries},
            "measures": "RR",
            "convention": "standard",
            "split": 0.5,
            "planned_users": 100,
            "confidence": 0.9,
            "n_resamples": 3,
            "rng": 0,
            "covariate": LOG.user,
            "period": np.arange(N) % 2,
        },
    ),
    "doubly_robust": (
        doubly_robust,
        {
            "rewards": ONES,
            "target_probability": HALF,
            "logged_probability": HALF,
            "predicted_logged": HALF,
            "predicted_target": HALF,
            "estimator": "switch",
            "switch": 2,
            "clusters": list("uuvv"),
            "confidence": 0.9,
            "n_resamples": 3,
            "rng": 1,
        },
    ),
    "doubly_robust_difference": (
        doubly_robust_difference,
        {
            "rewards": ONES,
            "targets": (HALF, HALF),
            "logged_probability": HALF,
            "predicted_logged": HALF,
            "predicted_targets": (HALF, HALF),
            "estimator": "switch",
            "switch": 2,
            "clusters": list("uuvv"),
            "confidence": 0.9,
        },
    ),
    "exposures": (exposures, {"sessions": LOG, "propensity": [1, 0.5, 0.25]}),
    "fit_in_parts": (fit_in_parts, {"model": PBM(2), "parts": [LOG]}),
    "grades": (grades, {"sessions": LOG, "model": FITTED, "cuts": [0.1, 0.5], "least": 1}),
    "grades_of_actions": (
        grades_of_actions,
        {
            "query": ["q"],
            "document": ["a"],
            "action": ["click"],
            "table": {"click": 1},
            "least": 1,
            "dwell": [12.0],
            "dwell_table": {10: 2},
        },
    ),
    "harvested_propensities": (
        harvested_propensities,
        {"sessions": LOG, "method": "all-pairs", "n_resamples": 2, "confidence": 0.9, "rng": 1},
    ),
    "interleave": (
        interleave,
        {
            "ranking_a": ["a", "b"],
            "ranking_b": ["b", "c"],
            "method": "balanced",
            "length": 3,
            "rng": 1,
        },
    ),
    "Interleaved.preference": (DRAFTED.preference, {"clicks": [0, 1]}),
    "ips": (
        ips,
        {
            "rewards": ONES,
            "target_probability": HALF,
            "logged_probability": HALF,
            "estimator": "clipped",
            "clip": 2,
            "clusters": list("uuvv"),
            "confidence": 0.9,
            "n_resamples": 3,
            "rng": 1,
        },
    ),
    "ips_difference": (
        ips_difference,
        {
            "rewards": ONES,
            "target_a": HALF,
            "target_b": HALF,
            "logged_probability": HALF,
            "estimator": "clipped",
            "clip": 2,
            "clusters": list("uuvv"),
            "confidence": 0.9,
        },
    ),
    "ips_difference.rows_needed": (
        ips_difference(ONES, HALF, [0.9, 0.1] * 2, HALF).rows_needed,
        {"power": 0.8},
    ),
    "lists_needed": (lists_needed, {"share": 0.7, "power": 0.8, "confidence": 0.9, "ties": 0.5}),
    "logged_dcg": (
        logged_dcg,
        {
            "sessions": LOG,
            "ranking": RANKING,
            "propensity": [1, 0.5, 0.25],
            "discount": [1, 0.5],
            "offset": [0, 0.1, 0.1],
            "clusters": LOG.user,
            "confidence": 0.9,
        },
    ),
    "logged_dcg_difference": (
        logged_dcg_difference,
        {
            "sessions": LOG,
            "ranking_a": RANKING,
            "ranking_b": RANKING,
            "propensity": [1, 0.5, 0.25],
            "discount": [1, 0.5],
            "offset": [0, 0.1, 0.1],
            "clusters": LOG.user,
            "confidence": 0.9,
        },
    ),
    "logged_dcg_difference.lists_needed": (
        logged_dcg_difference(LOG, RANKING, RANKING, [1, 0.5, 0.25]).lists_needed,
        {"power": 0.8},
    ),
    "novelty": (
        novelty,
        {
            "values": [1, 2, 3, 4] * 2,
            "cohort": list("AABBAABB"),
            "period": [1, 1, 1, 1, 2, 2, 2, 2],
            "users": list("uvwxuvwx"),
            "denominator": [1] * 8,
            "confidence": 0.9,
        },
    ),
    "parameter_intervals": (
        parameter_intervals,
        {"model": DBN(2), "sessions": LOG, "n_resamples": 2, "rng": 1, "confidence": 0.9},
    ),
    "position_bias": (position_bias, {"sessions": LOG}),
    "preference": (
        preference,
        {"preferences": [1, -1, 1, 0], "users": list("uvwx"), "confidence": 0.9},
    ),
    "propensities": (
        propensities,
        {"sessions": LOG, "iterations": 2, "n_resamples": 2, "held_out": 0.3, "rng": 1},
    ),
    "simulate": (
        simulate,
        {
            "attractiveness": [[0.5, 0.2, 0.1]],
            "n_sessions": 5,
            "ranks": 2,
            "model": "sdbn",
            "propensity": [1, 0.5],
            "satisfaction": 0.5,
            "noise": 0.1,
            "policy": "plackett-luce",
            "scores": [[1, 2, 3]],
            "temperature": 1.0,
            "popularity": 1.0,
            "drift": 0.1,
            "users": 3,
            "rng": 1,
        },
    ),
    "slate_difference": (
        slate_difference,
        {
            "rewards": [[1, 0], [0, 1]],
            "target_a": PLACES,
            "target_b": PLACES,
            "logged_probability": PLACES,
            "estimator": "rips",
            "discount": [1, 0.5],
            "clusters": ["u", "v"],
            "confidence": 0.9,
        },
    ),
    "slate_difference.lists_needed": (
        slate_difference([[1, 0], [0, 1]], PLACES, PLACES, PLACES).lists_needed,
        {"power": 0.8},
    ),
    "slate_value": (
        slate_value,
        {
            "rewards": [[1, 0], [0, 1]],
            "target_probability": PLACES,
            "logged_probability": PLACES,
            "estimator": "snips",
            "discount": [1, 0.5],
            "clusters": ["u", "v"],
            "confidence": 0.9,
        },
    ),
    "trust_propensities": (
        trust_propensities,
        {"sessions": LOG, "n_resamples": 3, "confidence": 0.9, "rng": 1},
    ),
    "users_needed": (
        users_needed,
        {
            "sd": 1.0,
            "difference": 0.1,
            "split": 0.5,
            "power": 0.8,
            "confidence": 0.9,
            "variance_reduction": 0.3,
        },
    ),
    "Sessions.from_arrays": (
        Sessions.from_arrays,
        {
            "query": ["q", "r"],
            "documents": [["a", "b"], ["b", None]],
            "clicks": [[1, 0], [0, 0]],
            "user": ["u", "v"],
            "propensity": [[1, 0.5], [1, 1]],
            "time": [0, 1],
        },
    ),
    "Sessions.select": (LOG.select, {"rows": [0, 2]}),
    "Sessions.split": (LOG.split, {"share": 0.5, "rng": 1}),
    "LogRows.redacted": (LogRows(**ROWS).redacted, {"key": b"x" * 16}),
    "LogRows.check": (
        lambda most_lists=1000, **rows: LogRows(**rows).check(most_lists=most_lists),
        {**ROWS, "most_lists": 10},
    ),
    "propensity_intervals": (
        FITTED.propensity_intervals,
        {"n_resamples": 2, "rng": 1, "confidence": 0.9},
    ),
    **{
        f"FittedPBM.{name}": (getattr(FITTED, name), {"sessions": LOG})
        for name in (
            "attraction",
            "conditional",
            "log_likelihood",
            "marginal",
            "perplexity",
            "perplexity_by_rank",
        )
    },
    **{
        f"{model.__name__}.fit": (
            lambda sessions, model=model, **how: model(**how).fit(sessions),
            {"sessions": LOG, "iterations": 2, "start": 0.5},
        )
        for model in (PBM, UBM, DBN)
    },
    **{
        f"{model.__name__}.fit": (model().fit, {"sessions": LOG})
        for model in (
            Cascade,
            DCM,
            SDBN,
        )
    },
}
HOSTILE: dict[str, Any] = {
    "None": None,
    "text": "a",
    "empty text": "",
    "bytes": b"a",
    "bool": True,
    "zero": 0,
    "minus": -1,
    "half": 0.5,
    "nan": float("nan"),
    "inf": float("inf"),
    "-inf": float("-inf"),
    "1e20": 1e20,
    "10**30": 10**30,
    "10**400": 10**400,
    "1e-320": 1e-320,
    "complex": 1j,
    "object": object(),
    "function": len,
    "date": date(2026, 1, 1),
    "decimal": Decimal("NaN"),
    "empty": [],
    "[None]": [None],
    "[1, None]": [1, None],
    "[1, 'a']": [1, "a"],
    "texts": ["a", "b", "c", "d"],
    "ragged": [[1, 2], [3]],
    "nested": [[[1]]],
    "dict": {},
    "{1: 2}": {1: 2},
    "{'q': None}": {"q": None},
    "{'0': {}}": {"0": {}},
    "set": {1, 2},
    "nans": [float("nan")] * 4,
    "infs": [float("inf")] * 4,
    "nones": [None] * 4,
    "dicts": [{}] * 4,
    "huge": [10**400] * 4,
    "array of none": np.zeros(0),
    "array 0 x 0": np.zeros((0, 0)),
    "array 4 x 0": np.zeros((4, 0)),
    "0-d": np.array(0.5),
    "complexes": np.ones(4, complex),
    "times": np.zeros(4, "M8[s]"),
    "not a time": np.array(["NaT"] * 4, "M8[s]"),
    "objects": np.array([object()] * 4),
    "records": np.zeros(4, [("a", "f8")]),
    "minuses": [-1] * 4,
    "large": np.full(4, 2**63, np.uint64),
    "nan for all": np.full(N, np.nan),
    "none for all": [None] * N,
    "numbers by query": dict.fromkeys(LOG.queries, 5),
    "texts by query": dict.fromkeys(LOG.queries, "ab"),
    "table": np.full((N, 3), np.nan),
    "surrogate": "\ud800",
    "generator": (number for number in ()),
    "range": range(4),
    "class": int,
}


@pytest.mark.spread(16)
@pytest.mark.parametrize("name", CALLS)
def test_an_answer_or_an_error_of_the_library(name: str) -> None:
    call, good = CALLS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        call(**good)
        wrong = list(faults(call, good))

    assert not wrong, "\n".join(wrong)


def faults(call: Callable[..., Any], good: Mapping[str, Any]) -> Iterator[str]:
    """Replace each argument by each hostile value; say which calls end otherwise than by an answer
    or an error of the library.
    """
    for argument in good:
        for value, hostile in HOSTILE.items():
            try:
                call(**{**good, argument: hostile})
            except IdealrankError as error:
                if "expected" not in str(error):
                    yield f"{argument} = {value}: {error}"
            except Exception as error:
                yield f"{argument} = {value}: {type(error).__name__}: {error}"


def test_every_public_function_is_called() -> None:
    functions = {name for name in dir(clicks) if isinstance(getattr(clicks, name), FunctionType)}

    assert functions <= set(CALLS)
