"""Interleaving of two rankings: lists that mix both, and credit of clicks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from idealrank.clicks.arguments import (
    array_of,
    label_column,
    number_table,
    one_of,
)
from idealrank.errors import InputError, shown
from idealrank.stats.randomness import RandomLike, generator_of, whole_number

Method: TypeAlias = Literal["team-draft", "balanced", "probabilistic"]
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
    documents = tuple(distinct)[:size]

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
