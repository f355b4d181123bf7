"""Content of a page: results, rankings, texts, curves and origins; and the pair of runs that a page and its figures show first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from idealrank.analysis.comparison import Comparison, RunMean
from idealrank.analysis.gate import Gated
from idealrank.analysis.robustness import Robustness
from idealrank.evaluation.evaluate import Evaluation
from idealrank.measures.measure import Measure


@dataclass(frozen=True, kw_only=True)
class Listing:
    """The first documents of one run for one query, from the top, in the order of the convention.

    Attributes
    ----------
    documents : tuple of (str or None)
        Ids; None where only the rank is known, as of an unjudged document in a store.
    grades : tuple of (float or None)
        As judged; None if unjudged.
    tied : tuple of bool
        Whether its score is that of a neighbour.
    added : tuple of (float or None)
        What it contributes to the value by the first measure; None where contributions are not offered.
    length : int
        Documents in the whole list.
    below : tuple of (str, int, float, float or None), optional
        Documents with a grade above 0 further down: id, rank, grade, and contribution; None if unknown.

    Examples
    --------
    >>> Listing(documents=("d2", "d1"), grades=(1.0, None), tied=(False, False), added=(1.0, 0.0), length=2).length
    2
    """

    documents: tuple[str | None, ...]
    grades: tuple[float | None, ...]
    tied: tuple[bool, ...]
    added: tuple[float | None, ...]
    length: int
    below: tuple[tuple[str, int, float, float | None], ...] | None = None


@dataclass(frozen=True, kw_only=True)
class QueryLists:
    """One query: its listing in each run, and what an ideal list would show.

    Attributes
    ----------
    runs : tuple of (Listing or None)
        In the order of the evaluations; None where the run does not answer the query.
    relevant : tuple of (str, float)
        Judged documents with a grade above 0, the best first, as deep as the listings: those in no listing were missed.

    Examples
    --------
    >>> QueryLists(runs=(None,), relevant=(("d1", 3.0),)).relevant[0]
    ('d1', 3.0)
    """

    runs: tuple[Listing | None, ...]
    relevant: tuple[tuple[str, float], ...]


@dataclass(frozen=True, kw_only=True)
class CutoffCurve:
    """Means of one measure at several cutoffs, a run each.

    Attributes
    ----------
    measure : str
        Text of the measure without its cutoff, as ``"nDCG"``.
    cutoffs : tuple of int
        From the smallest.
    means : mapping of str to tuple of RunMean
        By run, with intervals, in the order of the cutoffs.

    Examples
    --------
    >>> CutoffCurve(measure="nDCG", cutoffs=(1, 5, 10), means={}).cutoffs[-1]
    10
    """

    measure: str
    cutoffs: tuple[int, ...]
    means: Mapping[str, tuple[RunMean, ...]]


@dataclass(frozen=True, kw_only=True)
class Made:
    """Origin of a page, complete enough to repeat it.

    Attributes
    ----------
    command : str
        The command line, as it could be typed again; empty where a program made the page.
    inputs : tuple of (str, str)
        Name of each file, without its folder, and its SHA-256 in hexadecimal digits.
    commit : str
        Of the git repository it was made in; empty where there is none.
    when : str
        UTC, ISO 8601, to the second; empty if unknown.
    store_ids : tuple of str
        What `idealrank show` finds again; empty without a store.

    Examples
    --------
    >>> Made(command="idealrank compare qrels.txt a.run b.run").commit
    ''
    """

    command: str = ""
    inputs: tuple[tuple[str, str], ...] = ()
    commit: str = ""
    when: str = ""
    store_ids: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class Subject:
    """Everything one page shows.

    Attributes
    ----------
    evaluations : tuple of Evaluation
        One per run, on the same measures, companions (`with_companions`) possibly among them.
    measures : tuple of Measure
        Those asked for, the one that decides first.
    means : mapping of str to mapping of str to RunMean
        By measure and run: means with intervals.
    comparison : Comparison, optional
        Where runs were compared; `slices` of its differences are shown, too.
    gated : Gated, optional
        Where a gate was asked; the comparison is then of its run with its baselines.
    robustness : Robustness, optional
        Of the leading pair by the first measure.
    curves : tuple of CutoffCurve
        Empty where cutoffs make no sense.
    categories : mapping of str to sequence of str
        Slices of each query, by query; empty without slices.
    lists : mapping of str to QueryLists
        By query: of as many queries as there is room for, the largest differences first.
    query_texts, document_texts : mapping of str to str
        By id.
    made : Made
        Where it all comes from.
    weighted, clustered : bool
        Whether queries have weights, and clusters.
    cautions : tuple of str
        What limits the intervals of a page without a verdict; a comparison and a gate have their own.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> subject = Subject(evaluations=(one,), measures=one.measures)
    >>> subject.names, list(subject.queries)
    (('run',), ['q'])
    """

    evaluations: tuple[Evaluation, ...]
    measures: tuple[Measure, ...]
    means: Mapping[str, Mapping[str, RunMean]] = field(default_factory=dict)
    comparison: Comparison | None = None
    gated: Gated | None = None
    robustness: Robustness | None = None
    curves: tuple[CutoffCurve, ...] = ()
    categories: Mapping[str, Sequence[str]] = field(default_factory=dict)
    lists: Mapping[str, QueryLists] = field(default_factory=dict)
    query_texts: Mapping[str, str] = field(default_factory=dict)
    document_texts: Mapping[str, str] = field(default_factory=dict)
    made: Made = field(default_factory=Made)
    weighted: bool = False
    clustered: bool = False
    cautions: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Of the runs, told apart as a comparison does."""
        return self.comparison.names if self.comparison is not None else tuple(one.name for one in self.evaluations)

    @property
    def queries(self) -> Sequence[str]:
        """Ids, in the order of the first evaluation."""
        return self.evaluations[0].queries
