"""Clicks and ranking measures of the cohorts of an A/B test, from its click log, with errors by
user.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from idealrank.clicks.ab_tests import MISMATCH, Effect, ab_effect
from idealrank.clicks.arguments import Looks, array_of, label_column
from idealrank.clicks.effect_trends import Novelty, novelty
from idealrank.clicks.sessions import Sessions, check_sessions
from idealrank.conventions import Convention
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.types import FloatArray
from idealrank.errors import InputError, OptionError
from idealrank.evaluation.evaluate import evaluate
from idealrank.measures.judgedness import JudgedShare
from idealrank.measures.measure import Measure
from idealrank.measures.parse import parse_measures
from idealrank.stats.multiple_tests import adjust

CLICKS, CLICKED = "clicks", "lists with a click"
"""Names of the values that need no judgments."""


@dataclass(frozen=True, kw_only=True)
class CohortEffects:
    """Difference of two cohorts in several values of their lists, B less A.

    Attributes
    ----------
    effects : mapping of str to Effect
        By value: clicks, lists with a click, then each measure, and the judged share of its
        documents.
    p : mapping of str to float
        p values of the tested values, adjusted by Holm's method as one family. They hold for
        `looks`. The judged share is not an outcome, and not in the family.
    n_lists : int
        Lists of both cohorts.
    n_judged : int
        Lists whose query has judgments: measures are of these alone.
    cautions : tuple of str
        Reasons not to trust a verdict on a measure.
    trends : mapping of str to Novelty
        Effect of each tested value over the periods; empty without periods.

    Examples
    --------
    >>> log = Sessions.from_arrays(["q"] * 4, [["a", "b"]] * 4, [[0, 0], [0, 1], [1, 1], [1, 0]])
    >>> cohorts = cohort_effects(log, ["A", "A", "B", "B"])
    >>> cohorts.effects["clicks"].difference, list(cohorts.effects)
    (1.0, ['clicks', 'lists with a click'])
    """

    effects: Mapping[str, Effect]
    p: Mapping[str, float]
    n_lists: int
    n_judged: int
    cautions: tuple[str, ...] = ()
    trends: Mapping[str, Novelty] = field(default_factory=dict)

    def verdict(self, name: str) -> str:
        """Return the verdict on B in one value, by the adjusted p: better, worse, undecided, or why
        there is none.

        Examples
        --------
        >>> log = Sessions.from_arrays(["q"] * 4, [["a"]] * 4, [[0], [1], [1], [1]])
        >>> cohort_effects(log, ["A", "A", "B", "B"]).verdict("clicks")
        'too few users'
        """
        effect = self.effects[name]
        if self.effects[CLICKS].split_p < MISMATCH:
            return "split is wrong"
        if effect.obstacle is not None:
            return effect.obstacle
        if name not in self.p:
            return "-"
        if self.p[name] > 1 - effect.confidence:
            return "undecided"
        return "better" if effect.difference > 0 else "worse"


def cohort_effects(
    sessions: Sessions,
    cohort: "Sequence[str] | npt.ArrayLike",
    qrels: "Qrels | Mapping[str, Mapping[str, float]] | None" = None,
    measures: "str | Measure | Iterable[str | Measure]" = "nDCG@10",
    *,
    convention: "Convention | str" = "standard",
    split: float = 0.5,
    planned_users: int = 10_000,
    confidence: float = 0.95,
    n_resamples: int = 0,
    rng: int = 0,
    covariate: "npt.ArrayLike | None" = None,
    period: "npt.ArrayLike | None" = None,
    looks: Looks = "any",
) -> CohortEffects:
    """Compare the lists of two cohorts: their clicks, and with judgments their measures, by user.

    Parameters
    ----------
    sessions : Sessions
        Lists of both cohorts; rows of one `user` count together.
    cohort : sequence of {"A", "B"}, shape (sessions,)
        Cohort of each list; a user is in one.
    qrels : Qrels or mapping, optional
        Judgments of the queries of the log. Lists of queries without judgments have no measure.
    measures : measure or iterable of them
        Measures of each list; each value has the mean over lists, so that a query counts as often
        as it is asked.
    convention : Convention or str
        Convention of the measures.
    split, planned_users, confidence, n_resamples, looks
        As for `ab_effect`.
    rng : int
        Random seed of the bootstrap.
    covariate : array, shape (sessions,), optional
        Value of the user of each list from before the experiment, such as clicks per list, for
        CUPED: see `ab_effect`. One covariate serves all values, each with its own slope.
    period : array, shape (sessions,), optional
        Number of the period of each list, such as the day of the test: see `novelty`. If too few
        periods have users of both cohorts, a caution says so.

    Raises
    ------
    InputError
        Lengths differ, a user is in both cohorts, or no list of a cohort has judgments.
    OptionError
        An option is outside its range, or more of a measure is not better: its verdict would be
        wrong.

    References
    ----------
    Deng, Knoblich and Lu (2018), Applying the delta method in metric analytics, KDD. Holm (1979),
    Scandinavian Journal of Statistics 6.

    Examples
    --------
    >>> log = Sessions.from_arrays(
    ...     ["q"] * 4,
    ...     [["a", "b"], ["a", "b"], ["b", "a"], ["b", "a"]],
    ...     [[0, 0], [0, 1], [1, 1], [1, 0]],
    ... )
    >>> cohorts = cohort_effects(log, ["A", "A", "B", "B"], {"q": {"b": 1}}, "RR")
    >>> cohorts.effects["RR"].mean_a, cohorts.effects["RR"].mean_b
    (0.5, 1.0)
    """
    check_sessions(sessions)
    side = label_column("cohort", cohort, len(sessions), "lists")
    covariates = _list_column("covariate", covariate, side.size)
    periods = _list_column("period", period, side.size)
    test_options: dict[str, Any] = {
        "split": split,
        "planned_users": planned_users,
        "confidence": confidence,
        "n_resamples": n_resamples,
        "rng": rng,
        "looks": looks,
    }
    clicks = sessions.clicks.sum(axis=1).astype(np.float64)
    values: dict[str, FloatArray] = {CLICKS: clicks, CLICKED: (clicks > 0).astype(np.float64)}
    judged_shares: list[str] = []
    n_judged = 0
    if qrels is not None:
        measured, judged_shares, n_judged = _measured(
            sessions, qrels, parse_measures(measures), convention
        )
        values |= measured

    effects: dict[str, Effect] = {}
    trends: dict[str, Novelty] = {}
    without_trend = []
    for name, value in values.items():
        has_value = ~np.isnan(value)
        for letter in ("A", "B"):
            if not (has_value & (side == letter)).any():
                raise InputError(
                    f"{name}: found no list of cohort {letter} with a value, expected judgments of "
                    "its queries"
                )
        users = None if sessions.user is None else sessions.user[has_value]
        effects[name] = ab_effect(
            value[has_value],
            side[has_value],
            users=users,
            covariate=None if covariates is None else covariates[has_value],
            **test_options,
        )
        if periods is not None and name not in judged_shares:
            try:
                trends[name] = novelty(
                    value[has_value],
                    side[has_value],
                    periods[has_value],
                    users=users,
                    confidence=confidence,
                )
            except InputError as error:  # the effect of the whole test stands, whatever its periods
                without_trend.append(f"{name}: no trend over time ({error})")

    tested = [name for name in effects if name not in judged_shares]
    adjusted = adjust([effects[name].decisive_p for name in tested]).tolist()
    return CohortEffects(
        effects=effects,
        p=dict(zip(tested, adjusted, strict=True)),
        n_lists=len(sessions),
        n_judged=n_judged,
        cautions=(*_cautions(effects, judged_shares), *without_trend),
        trends=trends,
    )


def _list_column(
    name: str, values: "npt.ArrayLike | None", n: int
) -> "np.ndarray[Any, Any] | None":
    if values is None:
        return None
    column = array_of(name, values, "numbers")
    if column.shape != (n,):
        raise InputError(
            f"{name}: found shape {column.shape}, expected one for each of the {n} lists"
        )
    return column


def _measured(
    sessions: Sessions,
    qrels: "Qrels | Mapping[str, Mapping[str, float]]",
    measures: Sequence[Measure],
    convention: "Convention | str",
) -> tuple[dict[str, FloatArray], list[str], int]:
    """Measures of each list, NaN without judgments; the names of judged shares; and the number of
    lists with judgments.
    """
    for measure in measures:
        if measure.direction != 1:
            raise OptionError(
                f"measures: found {measure}, of which more is not better, expected measures of "
                "which more is better"
            )
    cutoffs = [measure.cutoff for measure in measures if isinstance(measure.cutoff, int)]
    judged = JudgedShare(cutoff=max(cutoffs) if len(cutoffs) == len(measures) else None)

    # The same list again has the same values: each distinct list is measured once.
    rows, row_of_list = np.unique(sessions.pair, axis=0, return_inverse=True)
    row_of_list = row_of_list.reshape(-1)
    queries = [sessions.documents[row[0]][0] for row in rows.tolist()]
    judgments = qrels if isinstance(qrels, Qrels) else Qrels(qrels)
    judged_rows = [number for number, query in enumerate(queries) if query in judgments]
    if not judged_rows:
        raise InputError(
            f"qrels: found no judgment of the {len(sessions.queries):,} queries of the log, "
            "expected some"
        )
    documents_of_row = {}
    judgments_of_row = {}
    for number in judged_rows:
        pairs = rows[number][rows[number] >= 0].tolist()
        documents_of_row[str(number)] = [sessions.documents[pair][1] for pair in pairs]
        judgments_of_row[str(number)] = judgments[queries[number]]
    evaluated = [*measures, judged] if judged not in measures else measures
    evaluation = evaluate(Qrels(judgments_of_row), Run(documents_of_row), evaluated, convention)
    table = np.full((len(queries), len(evaluated)), np.nan)
    table[[int(name) for name in evaluation.queries]] = evaluation.values
    has_judgments = np.isin(row_of_list, judged_rows)
    columns = {str(measure): table[row_of_list, column] for column, measure in enumerate(evaluated)}
    return columns, [str(judged)], int(has_judgments.sum())


def _cautions(effects: Mapping[str, Effect], judged_shares: Sequence[str]) -> Iterable[str]:
    """Say if the documents of one cohort are judged less often."""
    for name in judged_shares:
        effect = effects[name]
        low, high = effect.interval
        if not low <= 0 <= high:
            shares = {"A": effect.mean_a, "B": effect.mean_b}
            fewer, more = sorted(shares, key=lambda cohort: shares[cohort])
            yield (
                f"lists of {fewer} have fewer judged documents than lists of {more} ({name} "
                f"{shares[fewer]:.1%} against {shares[more]:.1%}): measures count unjudged "
                f"documents as not relevant, which favours {more}; judge them first"
            )
