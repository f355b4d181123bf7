"""Interleaving of two rankings: lists that mix both, credit of clicks, and tests of preference that
hold under peeking.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import betaln, ndtri
from scipy.stats import beta as beta_distribution
from scipy.stats import binom

from idealrank.clicks.arguments import (
    Looks,
    array_of,
    check_confidence,
    label_column,
    number_table,
    one_of,
    real_number,
)
from idealrank.clicks.weighted_rows import label_codes
from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import InputError, OptionError, shown
from idealrank.stats.randomness import RandomLike, generator_of, whole_number

Method: TypeAlias = Literal["team-draft", "balanced", "probabilistic"]
_MOST_LISTS = 1 << 24  # of a plan; more take too much memory and time
_SOFTNESS = 3.0  # exponent of ranks in probabilistic interleaving, as in the paper


@dataclass(frozen=True, kw_only=True)
class Interleaved:
    """A list that mixes the rankings A and B.

    Attributes
    ----------
    documents : tuple of str
        The list.
    teams : tuple of {"A", "B", ""}
        The ranking that placed each document; empty where both would have placed it next (at the
        top, as long as they agree).
    method : {"team-draft", "balanced", "probabilistic"}
        How it was made.
    shares : tuple of float
        Credit of B for a click on each document, from 0 (all to A) to 1; 0.5 for none. In
        probabilistic interleaving it is the probability that B placed the document. The mean of `2
        * shares - 1` over clicks is 0 for indifferent users, but its sign favours a ranking: clicks
        at the top have the largest credit.

    Examples
    --------
    >>> interleave(["a", "b"], ["a", "c"], length=3, rng=1).documents[0]
    'a'
    """

    documents: tuple[str, ...]
    teams: tuple[str, ...]
    method: Method
    shares: tuple[float, ...]

    def preference(self, clicks: "Sequence[int] | npt.ArrayLike") -> float:
        """Preference of one user: 1 for B, -1 for A, 0 for neither, by the number of clicks on the
        documents of each team.

        Users that click at random prefer neither ranking in team-draft and probabilistic lists, if
        both rankings are as long as the list. Balanced lists can favour one.

        Parameters
        ----------
        clicks : sequence of 0 and 1, shape (documents,)
            Whether each document was clicked.

        Examples
        --------
        >>> shown = Interleaved(
        ...     documents=("a", "b"), teams=("A", "B"), method="team-draft", shares=(0.0, 1.0)
        ... )
        >>> shown.preference([0, 1]), shown.preference([1, 1])
        (1.0, 0.0)
        """
        clicked = number_table("clicks", clicks)
        if clicked.shape != (len(self.documents),) or not np.isin(clicked, (0, 1)).all():
            raise InputError(
                f"clicks: found {clicked.tolist()}, expected 0 or 1 for each of the "
                f"{len(self.documents)} documents"
            )
        # Not by `shares`: the coin that chose the team is fair, while the sign of a sum of unequal
        # shares is not.
        credit = np.array([{"A": -1.0, "B": 1.0}.get(team, 0.0) for team in self.teams])
        return float(np.sign((credit * clicked).sum()))


def interleave(
    ranking_a: Sequence[str],
    ranking_b: Sequence[str],
    *,
    method: Method = "team-draft",
    length: int = 10,
    rng: RandomLike = None,
) -> Interleaved:
    """Mix two rankings into one list for one user.

    Parameters
    ----------
    ranking_a, ranking_b : sequence of str
        Documents from the first rank down, each once.
    method : {"team-draft", "balanced", "probabilistic"}
        In each round both rankings place their next document, in random order (team-draft); one
        ranking, drawn once, is always served first (balanced); or each document is drawn from a
        ranking drawn at random, with probability falling with its rank (probabilistic).
    length : int
        Length of the list.
    rng : seed or Generator, optional
        Random numbers: a new state for each user.

    Raises
    ------
    InputError
        A ranking is empty, or has a document twice.

    References
    ----------
    Radlinski, Kurup and Joachims (2008), How does clickthrough data reflect retrieval quality?,
    CIKM. Joachims (2003), Evaluating retrieval performance using clickthrough data. Hofmann,
    Whiteson and de Rijke (2011), A probabilistic method for inferring preferences from clicks,
    CIKM.

    Examples
    --------
    >>> mixed = interleave(["a", "b", "c"], ["c", "a", "d"], length=4, rng=2)
    >>> sorted(mixed.documents), sorted(mixed.teams)
    (['a', 'b', 'c', 'd'], ['A', 'A', 'B', 'B'])
    """
    one_of("method", method, Method)
    documents_a = _ranking("ranking_a", ranking_a)
    documents_b = _ranking("ranking_b", ranking_b)
    size = whole_number("length", length)
    generator = generator_of(rng)
    if method == "team-draft":
        return _team_draft(documents_a, documents_b, size, generator)
    if method == "balanced":
        return _balanced(documents_a, documents_b, size, generator)
    return _probabilistic(documents_a, documents_b, size, generator)


def _ranking(name: str, ranking: Sequence[str]) -> list[str]:
    """Documents of a ranking as texts, checked."""
    column = array_of(name, ranking, "documents from the first rank down")
    if column.ndim != 1 or isinstance(ranking, Mapping):
        raise InputError(
            f"{name}: found shape {column.shape}, expected documents from the first rank down"
        )
    if not column.size:
        raise InputError(f"{name}: found no document, expected at least one")
    documents = list(map(str, label_column(name, ranking, column.size, "ranks").tolist()))
    seen: set[str] = set()
    for document in documents:
        if document in seen:
            raise InputError(
                f"{name}: found {shown(repr(document))} twice, expected each document once"
            )
        seen.add(document)
    return documents


def _team_draft(
    ranking_a: list[str], ranking_b: list[str], size: int, rng: np.random.Generator
) -> Interleaved:
    documents: list[str] = []
    teams: list[str] = []
    placed: set[str] = set()
    remaining = {"A": iter(ranking_a), "B": iter(ranking_b)}
    while len(documents) < size:
        n_before = len(documents)
        order = ["A", "B"]
        if rng.integers(2):
            order.reverse()
        for team in order:
            if len(documents) == size:
                break
            following = next((name for name in remaining[team] if name not in placed), None)
            if following is not None:
                documents.append(following)
                placed.add(following)
                teams.append(team)
        if len(documents) == n_before:  # both rankings are used up
            break
    return Interleaved(
        documents=tuple(documents),
        teams=tuple(teams),
        method="team-draft",
        shares=tuple(float(team == "B") for team in teams),
    )


def _balanced(
    ranking_a: list[str], ranking_b: list[str], size: int, rng: np.random.Generator
) -> Interleaved:
    rankings = [ranking_a, ranking_b]
    if rng.integers(2):
        rankings.reverse()
    # Rank by rank, the ranking that is served first, then the other one.
    turns = chain.from_iterable(zip_longest(*rankings))
    distinct = dict.fromkeys(document for document in turns if document is not None)
    documents = tuple(islice(distinct, size))

    rank_in_a = _places(ranking_a)
    rank_in_b = _places(ranking_b)
    unranked = max(map(len, rankings))
    shares = []
    for document in documents:
        rank_a = rank_in_a.get(document, unranked)
        rank_b = rank_in_b.get(document, unranked)
        shares.append(0.5 if rank_a == rank_b else float(rank_b < rank_a))
    team_of_share = {0.0: "A", 0.5: "", 1.0: "B"}
    teams = tuple(team_of_share[share] for share in shares)
    return Interleaved(documents=documents, teams=teams, method="balanced", shares=tuple(shares))


class _SoftRanking:
    """Documents of a ranking that are not yet in the list, weighted by their ranks."""

    def __init__(self, ranking: list[str]) -> None:
        self._ranking = ranking
        self._place_of = _places(ranking)
        self._places = np.arange(len(ranking))
        self._weights = np.array([rank**-_SOFTNESS for rank in range(1, len(ranking) + 1)])

    def __len__(self) -> int:
        return self._places.size

    def draw(self, rng: np.random.Generator) -> str:
        """Draw the next document."""
        drawn = int(rng.choice(self._places.size, p=self._weights / self._weights.sum()))
        return self._ranking[int(self._places[drawn])]

    def take(self, document: str) -> float:
        """Remove a document, and return the chance that this ranking would have drawn it."""
        place = self._place_of.get(document)
        if place is None:
            return 0.0
        index = int(np.searchsorted(self._places, place))
        chance = float(self._weights[index] / self._weights.sum())
        self._places = np.delete(self._places, index)
        self._weights = np.delete(self._weights, index)
        return chance


def _probabilistic(
    ranking_a: list[str], ranking_b: list[str], size: int, rng: np.random.Generator
) -> Interleaved:
    soft_a = _SoftRanking(ranking_a)
    soft_b = _SoftRanking(ranking_b)
    documents: list[str] = []
    teams: list[str] = []
    shares: list[float] = []
    while len(documents) < size and (soft_a or soft_b):
        is_b = bool(soft_b)
        if soft_a and soft_b:
            is_b = bool(rng.integers(2))
        document = (soft_b if is_b else soft_a).draw(rng)
        chance_a = soft_a.take(document)
        chance_b = soft_b.take(document)
        documents.append(document)
        teams.append("B" if is_b else "A")
        shares.append(chance_b / (chance_a + chance_b))
    return Interleaved(
        documents=tuple(documents), teams=tuple(teams), method="probabilistic", shares=tuple(shares)
    )


def _places(ranking: list[str]) -> dict[str, int]:
    return {document: place for place, document in enumerate(ranking)}


@dataclass(frozen=True, kw_only=True)
class Preference:
    """Outcome of an interleaving test.

    Attributes
    ----------
    wins_a, wins_b, ties : int
        Lists (or users) that prefer A, B, or neither.
    share : float
        Share of B among the wins; 0.5 without any.
    interval : tuple of float
        Of this share: exact (Clopper and Pearson), for a test of planned size.
    p : float
        Two-sided p-value of the sign test, for a test of planned size.
    sequence : tuple of float
        Of this share: a confidence sequence, which holds at all times at once.
    p_always : float
        Always-valid p-value: it holds however often the test is looked at, and whenever it is
        stopped.
    confidence : float
        Confidence level.
    looks : {"any", "once"}
        Looks for which the verdict holds: by the confidence sequence, or by the interval for a test
        of planned size.

    Examples
    --------
    >>> outcome = preference([1, 1, 0, 1, -1, 1])
    >>> (outcome.wins_a, outcome.wins_b, outcome.ties), outcome.share
    ((1, 4, 1), 0.8)
    """

    wins_a: int
    wins_b: int
    ties: int
    share: float
    interval: tuple[float, float]
    p: float
    sequence: tuple[float, float]
    p_always: float
    confidence: float
    looks: Looks = "any"

    @property
    def verdict(self) -> Literal["B", "A", "undecided"]:
        """Return the ranking preferred, by the interval that holds for `looks`."""
        low, high = self.sequence if self.looks == "any" else self.interval
        if low > 0.5:
            return "B"
        return "A" if high < 0.5 else "undecided"

    @property
    def detectable(self) -> float | None:
        """Smallest share of B above 0.5 that so many wins detect with 80 % power, by the rule of
        `lists_needed`; None if they detect none.
        """
        n = self.wins_a + self.wins_b
        wins = float(_undecided_wins(np.array([n]), self.confidence, self.looks)[0])
        return float(beta_distribution.ppf(0.8, wins + 1, n - wins)) if wins < n else None


def preference(
    preferences: "Sequence[float] | npt.ArrayLike",
    *,
    users: "Sequence[Any] | npt.ArrayLike | None" = None,
    confidence: float = 0.95,
    looks: Looks = "any",
) -> Preference:
    """Test which of two rankings users prefer.

    Parameters
    ----------
    preferences : sequence, shape (lists,)
        Sign of each list: 1 for B, -1 for A, 0 for neither.
    users : sequence, shape (lists,), optional
        Whose list it is: the lists of one user count as one, by their majority, since they are not
        independent.
    confidence : float
        Confidence level.
    looks : {"any", "once"}
        Looks for which the verdict holds: any number of them, or one, at the planned size.
        `lists_needed` has the same option.

    Raises
    ------
    InputError
        A value is not finite, or lengths differ.

    References
    ----------
    Chapelle, Joachims, Radlinski and Yue (2012), Large-scale validation and analysis of interleaved
    search evaluation, TOIS. Robbins (1970), Statistical methods related to the law of the iterated
    logarithm: the mixture of binomial likelihood ratios over a uniform distribution, on which the
    confidence sequence rests.

    Examples
    --------
    >>> preference([1] * 30 + [-1] * 5).verdict
    'B'
    """
    one_of("looks", looks, Looks)
    level = check_confidence(confidence)
    signs = np.sign(number_table("preferences", preferences))
    if signs.ndim != 1 or not np.isfinite(signs).all():
        raise InputError(f"preferences: found shape {signs.shape}, expected one finite sign a list")
    if not signs.size:
        raise InputError("preferences: found no list, expected at least one")
    if users is not None:
        codes = label_codes(label_column("users", users, signs.size, "lists"), "users")
        signs = np.sign(np.bincount(codes, signs))

    wins_a = int((signs < 0).sum())
    wins_b = int((signs > 0).sum())
    n = wins_a + wins_b
    tail = (1 - level) / 2
    low = float(beta_distribution.ppf(tail, wins_b, wins_a + 1)) if wins_b else 0.0
    high = float(beta_distribution.ppf(1 - tail, wins_b + 1, wins_a)) if wins_a else 1.0
    p = min(1.0, 2 * float(binom.cdf(min(wins_a, wins_b), n, 0.5))) if n else 1.0
    return Preference(
        wins_a=wins_a,
        wins_b=wins_b,
        ties=signs.size - n,
        share=wins_b / n if n else 0.5,
        interval=(low, high),
        p=p,
        sequence=_sequence(wins_a, wins_b, level),
        p_always=math.exp(-max(float(_log_evidence(wins_a, wins_b)), 0.0)),
        confidence=level,
        looks=looks,
    )


def _log_mixture(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """Logarithm of the probability of a sequence of wins, averaged over a uniform share."""
    logs: FloatArray = betaln(np.add(a, 1), np.add(b, 1))
    return logs


def _log_evidence(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """Logarithm of the likelihood ratio of the mixture to a share of 0.5."""
    ratios: FloatArray = _log_mixture(a, b) - np.add(a, b) * math.log(0.5)
    return ratios


def _sequence(wins_a: int, wins_b: int, confidence: float) -> tuple[float, float]:
    """Shares whose likelihood is not too small beside the mixture's."""
    if wins_a + wins_b == 0:
        return 0.0, 1.0
    lowest = float(_log_mixture(wins_a, wins_b)) + math.log(1 - confidence)

    def likely(share: float) -> bool:
        log_of_b = wins_b * math.log(share) if wins_b else 0.0
        log_of_a = wins_a * math.log1p(-share) if wins_a else 0.0
        return log_of_b + log_of_a >= lowest

    peak = wins_b / (wins_a + wins_b)
    ends = []
    for bound in (0.0, 1.0):
        inside = peak
        outside = bound
        for _ in range(60):  # halvings reach the rounding of a share
            middle = (inside + outside) / 2
            if 0 < middle < 1 and likely(middle):
                inside = middle
            else:
                outside = middle
        # Bounds that are likely are only approached, and then replaced by themselves.
        ends.append(outside if abs(outside - bound) > 1e-12 else bound)
    return ends[0], ends[1]


def lists_needed(
    share: float,
    *,
    power: float = 0.8,
    confidence: float = 0.95,
    ties: float = 0.0,
    looks: Looks = "any",
) -> int:
    """Number of lists after which an interleaving test has a verdict with the given power.

    Parameters
    ----------
    share : float
        Share of B among lists with a preference that is to be found, such as 0.52.
    power : float
        Probability of finding it.
    confidence : float
        Confidence level of `preference`.
    ties : float
        Share of lists without a preference.
    looks : {"any", "once"}
        Looks for which the verdict of `preference` holds: any number of them, or one, at the
        planned size.

    Raises
    ------
    OptionError
        An option is outside its range, or the share is too near to 0.5.

    Examples
    --------
    >>> lists_needed(0.6), lists_needed(0.6, ties=0.5)
    (453, 906)
    >>> lists_needed(0.6, looks="once")
    210
    """
    one_of("looks", looks, Looks)
    level = check_confidence(confidence)
    expected = "a number between 0 and 1 other than 0.5"
    share_of_b = real_number("share", share, expected, low=0, high=1)
    if share_of_b == 0.5:
        raise OptionError(f"share={share}: expected a number between 0 and 1 other than 0.5")
    target_power = real_number(
        "power", power, "a number between 0 and 1, such as 0.8", low=0, high=1
    )
    tie_share = real_number(
        "ties", ties, "a share from 0 to less than 1", low=0, high=1, closed="low"
    )

    best = max(share_of_b, 1 - share_of_b)
    n = 1
    while _power(np.array([n]), best, level, looks)[0] < target_power:
        n *= 2
        if n > _MOST_LISTS:
            critical = float(_undecided_wins(np.array([_MOST_LISTS]), level, looks)[0])
            smallest_gap = (
                critical / _MOST_LISTS
                - 0.5
                + 0.5 * float(ndtri(target_power)) / math.sqrt(_MOST_LISTS)
            )
            raise OptionError(
                f"share={share}: needs more than {_MOST_LISTS:,} lists with a preference; expected "
                f"a share about {smallest_gap:.1g} or more from 0.5, or less power"
            )

    # Power goes up and down with the size, as the critical count is whole, over a span of a few
    # roots of the size: halve down to such a span, and take the size from which the power stays.
    low = n // 2
    span = 10 * math.isqrt(n) + 20
    while n - low > span:
        middle = (low + n) // 2
        if _power(np.array([middle]), best, level, looks)[0] < target_power:
            low = middle
        else:
            n = middle
    sizes = np.arange(max(1, low - span), n + span)
    too_small = np.flatnonzero(~(_power(sizes, best, level, looks) >= target_power))
    smallest = int(sizes[too_small[-1] + 1]) if too_small.size else int(sizes[0])
    return math.ceil(smallest / (1 - tie_share))


def _power(sizes: IntArray, share: float, confidence: float, looks: Looks) -> FloatArray:
    """Probabilities that tests of these sizes prefer B."""
    power: FloatArray = binom.sf(_undecided_wins(sizes, confidence, looks), sizes, share)
    return power


def _undecided_wins(sizes: IntArray, confidence: float, looks: Looks) -> FloatArray:
    """Largest numbers of wins of B without a verdict."""
    if looks == "once":
        wins: FloatArray = binom.isf((1 - confidence) / 2, sizes, 0.5)
        return wins
    evidence_needed = -math.log(1 - confidence)
    # Halve: from half of the lists on, the evidence rises with the wins of B.
    undecided = sizes // 2
    decided = sizes + 1
    while (decided - undecided > 1).any():
        middle = (undecided + decided) // 2
        is_decided = _log_evidence(sizes - middle, middle) > evidence_needed
        decided = np.where(is_decided, middle, decided)
        undecided = np.where(is_decided, undecided, middle)
    return undecided.astype(np.float64)
