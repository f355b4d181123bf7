"""Click models against users whose every state of mind is listed, and against the truth of
simulated logs.
"""

import math
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from itertools import product

import numpy as np
import pytest

import idealrank as ir
from idealrank.clicks import (
    DBN,
    DCM,
    PBM,
    SDBN,
    UBM,
    Cascade,
    FittedPBM,
    FittedUBM,
    Sessions,
    harvested_propensities,
    simulate,
    trust_propensities,
)
from idealrank.errors import IdealrankWarning, InputError, OptionError
from tests.twins import naive_clicks

LOG = [
    ("q", ("a", "b", "c"), (1, 0, 0)),
    ("q", ("b", "a", "c"), (0, 1, 0)),
    ("q", ("c", "a", "b"), (0, 0, 0)),
    ("q", ("a", "c", "b"), (1, 0, 1)),
    ("r", ("a", "d"), (0, 1)),
    ("r", ("d", "a"), (1, 1)),
    ("r", ("d", "a"), (0, 0)),
]


def sessions() -> Sessions:
    return Sessions.from_arrays(
        [query for query, _, _ in LOG],
        [[*documents, *[None] * (3 - len(documents))] for _, documents, _ in LOG],
        [[*clicks, *[0] * (3 - len(clicks))] for *_, clicks in LOG],
    )


def parameters(fitted: FittedPBM | FittedUBM) -> naive_clicks.Parameters:
    """Parameters under the names of the slow twin."""
    pairs = zip(fitted.documents, fitted.attractiveness_values.tolist(), strict=True)
    table = fitted.propensity if isinstance(fitted, FittedPBM) else fitted.examination
    examined = {("examined", *place): float(value) for place, value in np.ndenumerate(table)}
    return {**{("attractive", *pair): value for pair, value in pairs}, **examined}


@pytest.mark.filterwarnings("ignore:.*situations of examination")  # of seven sessions
@pytest.mark.parametrize(("model", "stories"), [(PBM, naive_clicks.pbm), (UBM, naive_clicks.ubm)])
def test_a_step_over_all_states_of_mind_does_not_move_the_fit(
    model: type[PBM], stories: naive_clicks.Stories
) -> None:
    fitted = model().fit(sessions())
    again = parameters(fitted)
    moved = naive_clicks.fit(stories, LOG, 1, first=again)
    assert {name: moved[name] for name in again} == pytest.approx(again, abs=1e-9)
    expected = sum(math.log(naive_clicks.likelihood(stories, session, moved)) for session in LOG)
    assert fitted.log_likelihood(sessions()) == pytest.approx(expected, abs=1e-9)
    many = naive_clicks.fit(stories, LOG, 200)
    reached = sum(math.log(naive_clicks.likelihood(stories, session, many)) for session in LOG)
    assert reached - 1e-9 <= expected <= reached + 0.02


# few sessions do not identify all parameters
@pytest.mark.filterwarnings("ignore::idealrank.IdealrankWarning")
@pytest.mark.parametrize("model", [PBM(), UBM()])
@pytest.mark.parametrize("seed", range(12))
def test_no_step_of_em_leads_higher_than_the_fit(model: PBM, seed: int) -> None:
    """Small logs have pairs that were always clicked, ranks without a click, and more than one set
    of linked ranks.
    """
    rng = np.random.default_rng(seed)
    policy = ("random", "plackett-luce", "swap", "fixed")[seed % 4]
    truth, seen = rng.beta(1, 1.5, (int(rng.integers(1, 6)), 5)), rng.random(3)
    log = simulate(
        truth, int(rng.integers(3, 150)), ranks=3, propensity=seen, policy=policy, rng=rng
    )  # type: ignore[arg-type]
    fitted = model.fit(log)
    assert fitted.converged
    cells = fitted.cells  # type: ignore[attr-defined]
    attractive, examined = np.full(cells.n_pairs, 0.5), np.full(cells.n_situations, 0.5)
    for _ in range(1000):
        seen_rate, wanted = examined[cells.situation], attractive[cells.pair]
        missed = (cells.shown - cells.clicked) / (1 - seen_rate * wanted + 1e-300)
        attracted = np.bincount(
            cells.pair, cells.clicked + missed * wanted * (1 - seen_rate), cells.n_pairs
        )
        looked = np.bincount(
            cells.situation, cells.clicked + missed * seen_rate * (1 - wanted), cells.n_situations
        )
        attractive = attracted / cells.impressions
        shown = np.bincount(cells.situation, cells.shown, cells.n_situations)
        examined = np.divide(looked, shown, out=np.full(shown.size, 0.5), where=shown > 0)
    rate = np.clip(attractive[cells.pair] * examined[cells.situation], 1e-12, 1 - 1e-12)
    reached = float(
        (cells.clicked * np.log(rate) + (cells.shown - cells.clicked) * np.log1p(-rate)).sum()
    )
    # EM has not arrived everywhere
    assert reached - 1e-6 <= fitted.log_likelihood(log) <= reached + 0.2


# after steps without extrapolation
@pytest.mark.filterwarnings("ignore:the click model has not converged")
@pytest.mark.parametrize("iterations", [1, 2])
def test_steps_of_a_dbn_are_those_over_all_states_of_mind(iterations: int) -> None:
    fitted, slow = (
        DBN(iterations).fit(sessions()),
        naive_clicks.fit(naive_clicks.dbn, LOG, iterations),
    )
    for number, (query, document) in enumerate(fitted.documents):
        assert fitted.attractiveness_values[number] == pytest.approx(
            slow["attractive", query, document], abs=1e-12
        )
        assert fitted.satisfaction[number] == pytest.approx(
            slow["satisfied", query, document], abs=1e-12
        )
    assert fitted.continuation == pytest.approx(slow["continues"], abs=1e-12)
    expected = sum(
        math.log(naive_clicks.likelihood(naive_clicks.dbn, session, slow)) for session in LOG
    )
    assert fitted.log_likelihood(sessions()) == pytest.approx(expected, abs=1e-10)


@pytest.mark.filterwarnings("ignore::idealrank.IdealrankWarning")  # seven sessions identify little
@pytest.mark.parametrize(("model", "stories"), [(UBM, naive_clicks.ubm), (DBN, naive_clicks.dbn)])
def test_the_probability_of_a_click_is_that_over_all_clicks_of_a_list(
    model: type[UBM], stories: naive_clicks.Stories
) -> None:
    fitted = model(2).fit(sessions())
    slow = parameters(fitted) if model is UBM else naive_clicks.fit(stories, LOG, 2)
    marginal = fitted.marginal(sessions())
    for row, (query, documents, _) in enumerate(LOG):
        chances = {
            clicks: naive_clicks.likelihood(stories, (query, documents, clicks), slow)
            for clicks in product((0, 1), repeat=len(documents))
        }
        assert sum(chances.values()) == pytest.approx(1, abs=1e-12)
        for rank in range(len(documents)):
            wanted = sum(chance for clicks, chance in chances.items() if clicks[rank])
            assert marginal[row, rank] == pytest.approx(wanted, abs=1e-12)
        assert np.isnan(marginal[row, len(documents) :]).all()


@pytest.mark.parametrize("policy", ["random", "plackett-luce", "swap"])
def test_propensities_of_a_simulated_log_are_recovered(policy: str) -> None:
    truth = np.random.default_rng(2).beta(2, 3, (40, 12))
    log = simulate(truth, 60_000, ranks=5, policy=policy, rng=4)  # type: ignore[arg-type]
    fitted = PBM(iterations=400).fit(log)
    assert fitted.relative_propensity == pytest.approx(1 / np.arange(1, 6), abs=0.03)
    if policy == "random":
        attractive = np.array(
            [truth[int(query), int(document)] for query, document in fitted.documents]
        )
        assert np.corrcoef(attractive, fitted.attractiveness_values)[0, 1] > 0.97


def test_closed_forms_are_the_counts_of_their_papers() -> None:
    log = sessions()
    # a of q: shown five times, one of which (c, a, b) has no click above it and one stands below no
    # click; first clicks are 1, 2 and 1.
    cascade = Cascade().fit(log).attractiveness["q"]
    assert [cascade["a"], cascade["b"], cascade["c"]] == pytest.approx([3 / 4, 0.0, 0.0])
    dcm = DCM().fit(log)
    assert dcm.continuation_after_click.tolist() == pytest.approx([1 - 1 / 3, 0.0, 0.0])
    simple = SDBN().fit(log)
    assert simple.attractiveness["q"] == pytest.approx({"a": 3 / 4, "b": 1 / 3, "c": 0.0})
    assert dict(zip(simple.documents, simple.satisfaction.tolist(), strict=True))[
        "q", "a"
    ] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("model", "truth"),
    [
        (Cascade(), "cascade"),
        (SDBN(), "sdbn"),
        (DCM(), "dcm"),
        (PBM(100), "pbm"),
        (UBM(100), "pbm"),
    ],
)
def test_the_model_that_made_a_log_explains_what_it_has_not_seen(model: PBM, truth: str) -> None:
    log = simulate(
        np.random.default_rng(1).beta(1, 2, (20, 8)),
        20_000,
        ranks=6,
        model=truth,
        policy="random",
        rng=8,
    )  # type: ignore[arg-type]
    seen, unseen = log.split(0.5, 1)
    fitted = model.fit(seen)
    constant = log.click_rates()
    chance = np.clip(np.broadcast_to(constant, unseen.clicks.shape), 1e-9, 1)
    bits = -np.where(unseen.clicks, np.log2(chance), np.log2(1 - chance)).mean(axis=0)
    assert 1 < fitted.perplexity(unseen) < (2**bits).mean()


def test_ranks_that_share_no_document_are_named_in_a_warning() -> None:
    log = Sessions.from_arrays(["q"] * 4, [["a", "b"]] * 4, [[1, 0], [1, 0], [0, 1], [0, 0]])
    with pytest.warns(IdealrankWarning, match="2 ranks fall into 2 sets that share no document"):
        fitted = PBM().fit(log)
    assert fitted.n_components == 2


def test_intervals_of_propensities_hold_the_truth_of_a_simulated_log() -> None:
    log = simulate(
        np.random.default_rng(3).beta(2, 2, (30, 8)), 20_000, ranks=4, policy="random", rng=9
    )
    low, high = PBM(100).fit(log).propensity_intervals(n_resamples=60).T
    assert low[0] == high[0] == 1
    assert (low <= 1 / np.arange(1, 5)).all()
    assert (high >= 1 / np.arange(1, 5)).all()


def test_pairs_that_were_never_shown_have_the_first_value() -> None:
    fitted = PBM(5).fit(
        Sessions.from_arrays(["q", "q"], [["a", "b"], ["b", "a"]], [[1, 0], [0, 1]])
    )
    other = Sessions.from_arrays(["q"], [["a", "new"]], [[0, 0]])
    assert fitted.attraction(other)[0, 1] == 0.5


@pytest.mark.parametrize(
    ("query", "documents", "clicks", "message"),
    [
        (["q"], [["a", "a"]], [[0, 0]], "documents, session 0: found one document at two ranks"),
        (
            ["q"],
            [["a", None]],
            [[0, 1]],
            "clicks, session 0, rank 2: found a click, expected none below the end",
        ),
        (["q"], [["a", "b"]], [[0, 2]], "clicks, session 0, rank 2: found 2, expected 0 or 1"),
        (
            ["q"],
            [[None, "b"]],
            [[0, 0]],
            "documents, session 0, rank 1: found no document above rank 2",
        ),
        (
            ["q", "r"],
            [["a", "b"]],
            [[0, 0]],
            r"query: found shape \(2,\), expected one label for each of the 1 sessions",
        ),
        (["q"], [["a", "b"]], [[0]], r"clicks: found shape \(1, 1\), expected \(1, 2\)"),
        (["q"], [[1, "1"]], [[0, 0]], "ids: found '1' and 1, a text and a number"),
    ],
)
def test_sessions_that_make_no_sense_are_refused(
    query: list[str], documents: list[list[str]], clicks: list[list[int]], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        Sessions.from_arrays(query, documents, clicks)


def test_a_model_refuses_options_outside_their_range() -> None:
    for model in (PBM(start=0.0), UBM(start=1.0), DBN(start=2.0), PBM(iterations=-1)):
        with pytest.raises(OptionError):
            model.fit(sessions())


def test_raw_clicks_are_graded_with_a_warning_that_gives_the_bias() -> None:
    log = simulate(np.full((5, 6), 0.5), 20_000, ranks=4, policy="random", rng=2)
    # 4 in truth
    with pytest.warns(IdealrankWarning, match=r"clicked 3\.82 times as often at the first rank"):
        raw = ir.clicks.grades(log)
    assert not raw.corrected
    # all documents attract alike, so rates of ranks are propensities
    shown = [log.click_rates()[rank] for rank in (0, 3)]
    assert raw.position_bias == pytest.approx(shown[0] / shown[1], rel=0.02)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        corrected = ir.clicks.grades(log, PBM().fit(log))
    assert corrected.corrected


def test_pairs_with_little_support_stay_unjudged() -> None:
    log = Sessions.from_arrays(
        ["q"] * 3, [["a", "b"], ["a", "b"], ["a", ""]], [[1, 0], [1, 0], [0, 0]]
    )
    with pytest.warns(IdealrankWarning):
        click_grades = ir.clicks.grades(log, cuts=[0.5], least=3)
    assert dict(click_grades.qrels["q"]) == {"a": 1.0}
    assert (click_grades.n_pairs, click_grades.n_left_out) == (2, 1)


def test_a_document_below_the_click_that_ended_the_reading_stays_unjudged() -> None:
    log = Sessions.from_arrays(["q"] * 3, [["a", "b"]] * 3, [[1, 0]] * 3)
    click_grades = ir.clicks.grades(log, Cascade().fit(log), cuts=[0.2], least=1)
    assert dict(click_grades.qrels["q"]) == {"a": 1.0}


def test_the_best_action_of_a_table_is_the_grade() -> None:
    table = {"none": 0, "clicked": 2, "booked": 4}
    qrels = ir.clicks.grades_of_actions(
        ["q", "q", "q"], ["a", "a", "b"], ["clicked", "none", "none"], table
    )
    assert dict(qrels["q"]) == {"a": 2.0, "b": 0.0}
    with pytest.raises(
        OptionError, match="action, row 0: found 'seen', expected one of none, clicked, booked"
    ):
        ir.clicks.grades_of_actions(["q"], ["a"], ["seen"], table)


def test_drift_moves_attractiveness_and_popularity_the_queries() -> None:
    truth = np.tile([[0.9, 0.1]], (4, 1))
    log = simulate(
        truth,
        20_000,
        ranks=1,
        propensity=[1.0],
        policy="fixed",
        scores=np.tile([[1.0, 0]], (4, 1)),
        drift=0.5,
        rng=3,
    )
    clicks = log.clicks[:, 0]
    # at the start the document has a rate of 0.9, at the end half of it and half of its reverse
    assert clicks[:2000].mean() == pytest.approx(0.9 - 0.025 * 0.8, abs=0.02)
    assert clicks[-2000:].mean() == pytest.approx(0.5 + 0.025 * 0.8, abs=0.04)
    popular = simulate(truth, 20_000, ranks=1, popularity=1.0, rng=4)
    shares = np.bincount([int(popular.queries[number]) for number in popular.query]) / 20_000
    assert shares == pytest.approx(np.array([12, 6, 4, 3]) / 25, abs=0.02)


def test_cuts_of_grades_are_numbers() -> None:
    with pytest.raises(ir.OptionError, match="expected rising rates between 0 and 1"):
        ir.clicks.grades(
            ir.clicks.simulate(np.full((2, 3), 0.5), 20, ranks=3, rng=1), cuts=[float("nan")]
        )


LONG = Sessions.from_arrays(
    ["q"] * 2, [np.arange(30_000), np.arange(30_000)[::-1]], np.eye(2, 30_000, dtype=int)
)


@pytest.mark.parametrize(
    "fit",
    [UBM().fit, DBN().fit, harvested_propensities, trust_propensities],
    ids=["ubm", "dbn", "harvested", "trust"],
)
def test_a_list_too_long_for_a_table_of_ranks_by_ranks_is_refused(
    fit: Callable[[Sessions], object],
) -> None:
    with pytest.raises(InputError, match=r"found a list of 30,000 ranks, expected at most 1,000"):
        fit(LONG)


@pytest.mark.parametrize(
    "model",
    [
        PBM(3),
        Cascade(),
        DCM(),
        SDBN(),
    ],
)
def test_other_models_take_a_list_of_any_length(model: PBM) -> None:
    with pytest.warns(IdealrankWarning) if isinstance(model, PBM) else nullcontext():
        assert len(model.fit(LONG).documents) == 30_000


def test_a_log_of_clicks_alone_fits_without_a_division_by_0() -> None:
    log = Sessions.from_arrays(["q", "r"] * 5, [["a", "b"], ["b", "a"]] * 5, [[1, 1]] * 10)
    fitted = DBN(5).fit(log)
    assert fitted.attractiveness_values.tolist() == [1.0] * 4
    assert fitted.continuation == 1.0


# few sessions do not identify all parameters
@pytest.mark.filterwarnings("ignore::idealrank.IdealrankWarning")
@pytest.mark.parametrize("model", [PBM(), UBM(), Cascade(), DCM(), SDBN(), DBN()])
@pytest.mark.parametrize("method", ["marginal", "conditional", "log_likelihood", "perplexity"])
def test_a_model_refuses_more_ranks_than_its_log_has(model: PBM, method: str) -> None:
    two = Sessions.from_arrays(["q"] * 2, [["a", "b"], ["b", "a"]], [[1, 0], [0, 1]])
    fitted = model.fit(two)
    with pytest.raises(InputError, match="sessions: found 3 ranks, expected at most 2, the number"):
        getattr(fitted, method)(sessions())
    assert getattr(fitted, method)(two) is not None
