"""Answers scored by the nuggets they contain: facts that an answer should have, each vital or okay,
each supported, partly, or not.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from idealrank.conventions import Convention
from idealrank.data.judged import Judged
from idealrank.data.qrels import fingerprint_of_groups
from idealrank.data.types import FloatArray, encode_id
from idealrank.errors import InputError, OptionError, near_ids, shown
from idealrank.evaluation.coverage import Coverage
from idealrank.evaluation.evaluate import Evaluation, InputRecord, Provenance
from idealrank.measures.measure import Cuts, Measure, PerQuery
from idealrank.version import __version__

IMPORTANCE: Mapping[str, float] = {"vital": 2.0, "okay": 1.0, "failed": 0.0}
"""Words for the importance of a nugget, with a number each for fingerprints; failed if the model
that was asked gave no word.
"""
SUPPORT: Mapping[str, float] = {
    "support": 1.0,
    "partial_support": 0.5,
    "not_support": 0.0,
    "failed": 0.0,
}
"""Words for an assignment, with the credit of each."""

_OKAY_WEIGHT = 0.5  # of nuggets that are not vital, in weighted scores
Counted: TypeAlias = Literal["vital", "all", "weighted"]


class Nugget(NamedTuple):
    """A nugget and what an answer has of it.

    Attributes
    ----------
    text : str
        The fact.
    importance : str
        A key of `IMPORTANCE`.
    assignment : str
        A key of `SUPPORT`.
    """

    text: str
    importance: str
    assignment: str


@dataclass(frozen=True, kw_only=True)
class NuggetScore(Measure):
    """Share of the nuggets of a query that an answer supports: the base of the six scores.

    The value of a query is ``sum over nuggets of w s / sum over nuggets of w``, in [0, 1]. The
    credit s is 1 for ``support`` and 0 for ``not_support``; for ``partial_support`` it is 1/2, and
    0 in strict scores. The weight w is 1 for every nugget (A), 1 for vital nuggets alone (V), or 1
    for vital and 1/2 for all other nuggets (W). A query without such a nugget counts 0, as in the
    script of the tool.

    Parameters
    ----------
    cutoff, judged_only
        Not allowed: an answer is no list.

    References
    ----------
    Pradeep et al. (2025), The Great Nugget Recall: Automating Fact Extraction and RAG Evaluation
    with Large Language Models. SIGIR; arXiv 2504.15068. nuggetizer, ``calculate_nugget_scores``:
    strict_vital_score is V_strict, vital_score V, strict_all_score A_strict, all_score A.

    Examples
    --------
    >>> nuggets = [Nugget("a", "vital", "support"), Nugget("b", "okay", "partial_support")]
    >>> [
    ...     score.value(nuggets)
    ...     for score in (VitalStrict(), AllStrict(), AllNuggets(), WeightedNuggets())
    ... ]
    [1.0, 0.5, 0.75, 0.8333333333333334]
    """

    cuts: ClassVar[Cuts] = "none"
    needs: ClassVar[tuple[str, ...]] = ("nuggets",)
    counted: ClassVar[Counted]
    strict: ClassVar[bool]

    def value(self, nuggets: Iterable[Nugget]) -> float:
        """Return the score of one answer, in [0, 1].

        Examples
        --------
        >>> VitalStrict().value([])
        0.0
        """
        credit = whole = 0.0
        for nugget in nuggets:
            weight = self._weight(nugget.importance)
            whole += weight
            if nugget.assignment == "support" or not self.strict:
                credit += weight * SUPPORT[nugget.assignment]
        return credit / whole if whole else 0.0

    def _weight(self, importance: str) -> float:
        if importance == "vital" or self.counted == "all":
            return 1.0
        return _OKAY_WEIGHT if self.counted == "weighted" else 0.0

    def compute(self, judged: Judged) -> PerQuery:
        """Refuse runs: the scores measure answers."""
        raise OptionError(
            f"{self.name}: found a run, expected assignments of nuggets; use "
            f"idealrank.evaluate_answers"
        )


class VitalStrict(NuggetScore):
    """Share of the vital nuggets that an answer supports in full: the primary score of the TREC RAG
    track.
    """

    name: ClassVar[str] = "V_strict"
    counted: ClassVar[Counted] = "vital"
    strict: ClassVar[bool] = True
    summary: ClassVar[str] = "Share of vital nuggets that are supported"


class VitalNuggets(NuggetScore):
    """Share of the vital nuggets that an answer supports, half for partial support."""

    name: ClassVar[str] = "V"
    counted: ClassVar[Counted] = "vital"
    strict: ClassVar[bool] = False
    summary: ClassVar[str] = "Share of vital nuggets that are supported, half for partial support"


class AllStrict(NuggetScore):
    """Share of all nuggets that an answer supports in full."""

    name: ClassVar[str] = "A_strict"
    counted: ClassVar[Counted] = "all"
    strict: ClassVar[bool] = True
    summary: ClassVar[str] = "Share of nuggets that are supported"


class AllNuggets(NuggetScore):
    """Share of all nuggets that an answer supports, half for partial support."""

    name: ClassVar[str] = "A"
    counted: ClassVar[Counted] = "all"
    strict: ClassVar[bool] = False
    summary: ClassVar[str] = "Share of nuggets that are supported, half for partial support"


class WeightedStrict(NuggetScore):
    """Share of all nuggets that an answer supports in full; a nugget that is not vital counts
    half.
    """

    name: ClassVar[str] = "W_strict"
    counted: ClassVar[Counted] = "weighted"
    strict: ClassVar[bool] = True
    summary: ClassVar[str] = "Weighted share of nuggets that are supported: vital 1, okay 1/2"


class WeightedNuggets(NuggetScore):
    """Share of all nuggets that an answer supports, half for partial support; a nugget that is not
    vital counts half.
    """

    name: ClassVar[str] = "W"
    counted: ClassVar[Counted] = "weighted"
    strict: ClassVar[bool] = False
    summary: ClassVar[str] = (
        "Weighted share of nuggets that are supported: vital 1, okay 1/2; half for partial support"
    )


NUGGET_SCORES: Mapping[str, NuggetScore] = {
    score.name: score
    for score in (
        VitalStrict(),
        VitalNuggets(),
        AllStrict(),
        AllNuggets(),
        WeightedStrict(),
        WeightedNuggets(),
    )
}
"""The six scores by name."""
DEFAULT_SCORES = ("V_strict", "V", "A_strict", "A")
"""The four scores of the tool."""


def nugget_scores(names: Sequence[str]) -> tuple[NuggetScore, ...]:
    """Return scores by name.

    Raises
    ------
    OptionError
        A name is unknown.

    Examples
    --------
    >>> [str(score) for score in nugget_scores(["V_strict", "W"])]
    ['V_strict', 'W']
    """
    for name in names:
        if name not in NUGGET_SCORES:
            near = near_ids(name, NUGGET_SCORES, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise OptionError(
                f"{shown(name)}: found no score of that name, expected one of "
                f"{', '.join(NUGGET_SCORES)}{hint}"
            )
    return tuple(NUGGET_SCORES[name] for name in dict.fromkeys(names))


@dataclass(frozen=True)
class AssignedAnswers:
    """Answers of one system, with the nuggets of each query.

    Attributes
    ----------
    name : str
        The system.
    answers : mapping of str to sequence of Nugget
        Nuggets by query.
    """

    name: str
    answers: Mapping[str, Sequence[Nugget]]

    @property
    def n_failed(self) -> int:
        """Number of nuggets that the model which was asked did not rate or assign."""
        return sum(
            "failed" in (nugget.importance, nugget.assignment)
            for nuggets in self.answers.values()
            for nugget in nuggets
        )

    def completed(self, nuggets: Mapping[str, Sequence[Nugget]]) -> "AssignedAnswers":
        """Return the answers with every query of a list of nuggets; a query without an answer
        supports none.

        Raises
        ------
        InputError
            An answer was assigned other nuggets than the list has.

        Examples
        --------
        >>> answers = AssignedAnswers("a", {"q1": [Nugget("x", "vital", "support")]})
        >>> whole = answers.completed(
        ...     {"q1": [Nugget("x", "vital", "")], "q2": [Nugget("y", "okay", "")]}
        ... )
        >>> whole.answers["q2"]
        [Nugget(text='y', importance='okay', assignment='not_support')]
        """
        answers: dict[str, Sequence[Nugget]] = {}
        for query, listed in nuggets.items():
            assigned = self.answers.get(query)
            if assigned is None:
                answers[query] = [nugget._replace(assignment="not_support") for nugget in listed]
                continue
            facts = [nugget[:2] for nugget in listed]  # text and importance
            if sorted(nugget[:2] for nugget in assigned) != sorted(facts):
                extra = next(
                    (nugget.text for nugget in assigned if nugget[:2] not in facts),
                    "a nugget fewer",
                )
                raise InputError(
                    f"{self.name}: query {shown(repr(query))}: found {shown(repr(extra))}, "
                    f"expected the {len(listed)} nuggets of the list with their importance"
                )
            answers[query] = assigned
        unknown = next((query for query in self.answers if query not in nuggets), None)
        if unknown is not None:
            raise InputError(
                f"{self.name}: found query {shown(repr(unknown))}, expected one of the "
                f"{len(nuggets)} queries of the nuggets"
            )
        return AssignedAnswers(self.name, answers)

    def evaluated(
        self, scores: Sequence[NuggetScore], *, inputs: Sequence[InputRecord] = (), path: str = ""
    ) -> Evaluation:
        """Return the scores of every answer as an `Evaluation`, which `compare`, `intervals`,
        stores and reports take.

        The fingerprint of the judgments is that of the nuggets, so that only answers to the same
        nuggets are compared.

        Examples
        --------
        >>> answers = AssignedAnswers(
        ...     "a", {"q1": [Nugget("x", "vital", "support"), Nugget("y", "okay", "not_support")]}
        ... )
        >>> answers.evaluated(nugget_scores(["V_strict", "A"])).mean()
        {'V_strict': 1.0, 'A': 0.5}
        """
        queries = list(self.answers)
        values: FloatArray = np.empty((len(queries), len(scores)))
        for column, score in enumerate(scores):
            values[:, column] = [score.value(self.answers[query]) for query in queries]
        return Evaluation(
            name=self.name,
            queries=queries,
            measures=tuple(scores),
            values=values,
            scored=np.ones(values.shape, bool),
            coverage=self._coverage(),
            provenance=Provenance(
                version=__version__,
                convention=Convention.of("standard"),
                measures=tuple(map(str, scores)),
                inputs=tuple(inputs),
                judgments=self._fingerprint(),
            ),
            path=path,
        )

    def _coverage(self) -> Coverage:
        n_nuggets = sum(map(len, self.answers.values()))
        importances = [
            {nugget.importance for nugget in nuggets} for nuggets in self.answers.values()
        ]
        no_vital = sum("vital" not in of_query for of_query in importances)
        return Coverage(
            queries_in_qrels=len(self.answers),
            queries_in_run=len(self.answers),
            missing=0,
            without_judgments=0,
            scored=len(self.answers),
            no_relevant=no_vital,
            unjudged=0,
            considered=n_nuggets,
            judged=n_nuggets,
            unjudged_cutoff=0,
            tied_queries=0,
            tied_documents=0,
            duplicates=0,
            truncated_grades=0,
            out_of_range=0,
            best_grade=IMPORTANCE["vital"],
        )

    def _fingerprint(self) -> str:
        rows = []
        for query, nuggets in self.answers.items():
            group = (encode_id(query), b"", 0)
            for nugget in nuggets:
                text = nugget.text.encode("utf-8", "surrogatepass")
                rows.append((group, text, IMPORTANCE[nugget.importance]))
        return fingerprint_of_groups(b"nuggets", rows)
