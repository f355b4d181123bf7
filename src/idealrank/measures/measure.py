"""Base class of measures: a frozen value whose text names every option that was set."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np

from idealrank.data.judged import Hits, Judged
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import OptionError, shown
from idealrank.measures.cutoffs import Cutoff, RelativeCutoff, cutoff_text, make_cutoff
from idealrank.measures.measure_texts import number_text
from idealrank.measures.rules import HasRules, NoRelevant, checked
from idealrank.measures.terms import EXACT, FROM_THE_TOP, Fraction, Quotient, RelevantGroups, Terms

Kind: TypeAlias = Literal["per query", "list-level", "pair of runs", "set-level"]
Aggregate: TypeAlias = Literal["mean", "sum", "geometric", "text"]
Cuts: TypeAlias = Literal["optional", "required", "none"]
TieValues: TypeAlias = Literal["closed form", "not affected", "not offered"]
Response: TypeAlias = Literal["first", "rising", "upward", "precision", "unknown"]
Counts: TypeAlias = Literal["", "results", "documents", "queries"]
Compares: TypeAlias = Literal["", "relevance", "grades"]
OverOrders: TypeAlias = Literal["not offered", "by order", "by set"]

# By the names in `Measure.needs`: how to give such a table in Python, and on the command line.
_HOW_TO_GIVE = {
    "preferences": (
        "give judgments as PreferenceQrels (ir.read_preferences)",
        "set --judgments prefs or qrels_prefs",
    ),
    "assessors": (
        "give judgments as AssessorQrels (ir.read_assessors)",
        "set --judgments qrels_jg",
    ),
    "nuggets": (
        "score answers with ir.evaluate_answers",
        "score answers with `idealrank judge nuggets`",
    ),
}


@dataclass(frozen=True, eq=False)
class PerQuery:
    """Values of one measure for every query.

    Attributes
    ----------
    values : float64 array, shape (n_queries,)
        One per query; NaN if the query does not count or the convention says so.
    scored : bool array, shape (n_queries,), or None
        Which queries count; None if all do.
    texts : sequence of str, or None
        Text that a text measure gives for each query.

    Examples
    --------
    >>> PerQuery(np.array([0.5, 1.0])).values
    array([0.5, 1. ])
    """

    values: FloatArray
    scored: BoolArray | None = None
    texts: Sequence[str] | None = None


@dataclass(frozen=True, kw_only=True)
class Measure:
    """Base class of all measures.

    Options that are set override the convention; options that are not set are None and come from it
    (`under`). A measure states facts in class attributes, which tests check and tables print:

    * ``name``: its text without options; ``summary``: a short description; ``use``: when to choose
      it and when not;
    * ``kind``: family of the measure; ``needs``: inputs besides qrels and run, by their names in
      `Judged`; ``looks_at_grades``: False if it counts queries or returned documents, independently
      of the judgments;
    * ``aggregate``: how queries are aggregated: the mean, the sum for counts, the geometric mean,
      or none for text;
    * ``direction``: 1 if higher is better, -1 if lower is better, 0 if neither;
    * ``ideal_is_best``: whether the order by falling gain has the highest value of all orders of a
      list's documents;
    * ``bounds``: lowest and highest value under the default convention;
    * ``cuts``: whether a cutoff is optional, required or refused; ``after_at``: the option written
      after the @;
    * ``ties``: how the expected value over tie orders is computed;
    * ``from_convention``: options that a convention sets if they are not set;
    * ``tells_unjudged``: whether `weights` or `expected` define what an unjudged document would add
      if it were relevant;
    * ``response``: how the value of a list responds to grades. ``rising``: a higher grade of a
      returned document never lowers it, and grades of other documents do not matter; ``first``:
      this, and without ties the first relevant document alone matters; ``upward``: if two documents
      swap their grades, the value is never lower when the higher grade moves up, or into the list;
      ``precision``: this, and the value averages precision as `AP` does; ``unknown``. Where a query
      has no relevant document, it says nothing;
    * ``counts``: what a mean can be told as a number of: ``results`` in the first k, relevant
      ``documents``, or ``queries``; empty if it is no share of any of them;
    * ``compares``: judged documents that are compared with each other alone, documents without a
      judgment being left out: ``relevance``, relevant documents with others; ``grades``, documents
      of different grades; empty if unjudged documents count;
    * ``over_orders``: whether `mean_over_orders` is proven for lists of all candidates: ``by
      order``; ``by set``, if besides the order within the cutoff does not matter; else ``not
      offered``;
    * ``samples``: example values of its own options, for tests and tables;
    * ``proof``: reference implementations it was tested against, and to how many digits.

    Parameters
    ----------
    cutoff : int or str, optional
        Cutoff: a number, or ``0.2n``, ``sqrt(n)``, ``n^0.25``.
    judged_only : bool, optional
        Remove documents without a judgment first, so that ranks close up (as ir_measures' option of
        that name); also pooled but unjudged documents, whose negative grade the convention counts
        as 0. Labels of arrays are all kept.

    Examples
    --------
    >>> from idealrank.measures.dcg import NDCG
    >>> isinstance(NDCG(cutoff=10), Measure), NDCG.summary, NDCG.bounds
    (True, 'DCG divided by the DCG of the ideal list', (0.0, 1.0))
    """

    cutoff: Cutoff | None = None
    judged_only: bool | None = None

    name: ClassVar[str]
    kind: ClassVar[Kind] = "per query"
    needs: ClassVar[tuple[str, ...]] = ()
    looks_at_grades: ClassVar[bool] = True
    aggregate: ClassVar[Aggregate] = "mean"
    direction: ClassVar[int] = 1
    ideal_is_best: ClassVar[bool] = True
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)
    cuts: ClassVar[Cuts] = "optional"
    after_at: ClassVar[str] = "cutoff"
    ties: ClassVar[TieValues] = "closed form"
    from_convention: ClassVar[tuple[str, ...]] = ()
    tells_unjudged: ClassVar[bool] = False
    response: ClassVar[Response] = "unknown"
    counts: ClassVar[Counts] = ""
    compares: ClassVar[Compares] = ""
    over_orders: ClassVar[OverOrders] = "not offered"
    samples: ClassVar[Mapping[str, tuple[Any, ...]]] = {}
    summary: ClassVar[str]
    use: ClassVar[str] = ""
    proof: ClassVar[str] = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "cutoff", make_cutoff(self.cutoff))
        object.__setattr__(self, "judged_only", truth_option("judged_only", self.judged_only))
        if self.cutoff is None and self.cuts == "required":
            raise OptionError(f"{self.name} needs a cutoff, as in {self.name}@10")
        if self.cutoff is not None and self.cuts == "none":
            raise OptionError(f"{self.name} has no cutoff")

    def under(self, convention: HasRules) -> Self:
        """Return the measure with every option set; the convention supplies unset ones.

        Parameters
        ----------
        convention : Convention
            A convention or its rules.

        Examples
        --------
        >>> from idealrank.conventions import Convention
        >>> from idealrank.measures.dcg import NDCG
        >>> NDCG(cutoff=10).under(Convention.of("lightgbm")).gain.text
        'exp2'
        """
        rules = convention.rules
        unset = [name for name in self.from_convention if getattr(self, name) is None]
        return replace(self, **{name: getattr(rules, name) for name in unset})

    def compute(self, judged: Judged) -> PerQuery:
        """Compute the values, and which of them count; every option must be set (`under`)."""
        raise OptionError(
            f"{type(self).__name__} gives no values by itself; choose a measure from "
            f"idealrank.MEASURES"
        )

    def __matmul__(self, cutoff: "Cutoff | str | float") -> Self:
        """Return the measure with a cutoff (or another value after the @): ``ERR() @ 10``."""
        option: dict[str, Any] = {self.after_at: cutoff}
        return replace(self, **option)

    def worth(self, grades: FloatArray) -> FloatArray | None:
        """Return the gain of each grade, 0 for a document that is not relevant to this measure.

        Returns
        -------
        float64 array, shape of `grades`, or None
            None if the measure does not define it (then `weights` and `expected` return None as
            well).
        """
        return None

    @property
    def compares_judged(self) -> bool:
        """True if the value depends on judged documents alone: `compares`, or `judged_only`."""
        return bool(self.compares or self.judged_only)

    @property
    def is_explained(self) -> bool:
        """True if `terms` or `group_terms` states the contribution of each document."""
        cls = type(self)
        return cls.terms is not Measure.terms or cls.group_terms is not Measure.group_terms

    @property
    def split(self) -> str:
        """Return the method by which `attribute` splits a value: `terms`, or the rises of the value
        from the top down.
        """
        return FROM_THE_TOP if type(self).terms is Measure.terms else EXACT

    def terms(self, judged: Judged, documents: Hits, gains: FloatArray) -> Terms | None:
        """Return the contribution of each document that does not depend on other documents.

        Parameters
        ----------
        judged : Judged
            Lists that hold the documents.
        documents : Hits
            Positions of the documents.
        gains : float64 array, shape (n_documents,)
            `worth` of each document, 0 for one without a judgment.

        Returns
        -------
        Terms or None
            Over the judged hits they sum to the value before rounding. None if a document's
            contribution depends on the documents above it; the contribution is then the rise of the
            value when the list is extended by one rank.
        """
        return None

    def group_terms(self, groups: RelevantGroups, n_relevant: int, limit: int) -> FloatArray | None:
        """Return the contribution of each tie group's relevant documents, given the groups above;
        the documents share it equally.

        Parameters
        ----------
        groups : RelevantGroups
            Tie groups of one list.
        n_relevant : int
            Number of relevant documents of the query, returned or not.
        limit : int
            Deepest rank that counts.

        Returns
        -------
        float64 array, shape (n_groups,), or None
            None if the value depends on more than that.
        """
        return None

    def quotient(self, judged: Judged) -> Quotient | None:
        """Return the sum of every query and its ideal, if the value is their quotient; None if the
        measure has no such sum.
        """
        return None

    def fraction(self, judged: Judged) -> Fraction | None:
        """Return the value as a quotient of two sums of gains; None if it is not one, or if terms
        are rounded.
        """
        return None

    def ideal_places(self, judged: Judged, gains: FloatArray) -> tuple[IntArray, FloatArray] | None:
        """Return the ranks of the documents in one query's ideal list, and their weights.

        Parameters
        ----------
        judged : Judged
            Lists of one query.
        gains : float64 array, shape (n,)
            Gains of the documents of the ideal list, falling.

        Returns
        -------
        (int64 array, float64 array), shape (n_counted,), or None
            Ranks and weights within the cutoff. None if a value is not divided by that of an ideal
            list.
        """
        return None

    def weights(self, judged: Judged, documents: Hits) -> FloatArray | None:
        """Return the value that each document adds per unit of gain, with the ideal of the
        judgments.

        Parameters
        ----------
        judged : Judged
            Lists that hold the documents.
        documents : Hits
            Positions of the documents.

        Returns
        -------
        float64 array, shape (n_documents,), or None
            0 beyond the cutoff. None if a value is not a sum over documents.
        """
        return None

    def expected(self, judged: Judged, documents: Hits) -> "Callable[[float], FloatArray] | None":
        """Return the expected value of every query as a function of the probability that given
        unjudged documents are relevant.

        Documents are relevant independently of each other; a number of relevant documents in a
        denominator stays as judged.

        Parameters
        ----------
        judged : Judged
            The lists.
        documents : Hits
            Unjudged documents, by query and rank.

        Returns
        -------
        callable or None
            Maps a probability in [0, 1] to a float64 array of shape (n_queries,). None if there is
            no closed form, or if `weights` defines a sum over documents.
        """
        return None

    def added_alone(self, judged: Judged, documents: Hits) -> FloatArray | None:
        """Return the value that each document would add if it alone were relevant.

        Parameters
        ----------
        judged : Judged
            The lists.
        documents : Hits
            Unjudged documents within the cutoff.

        Returns
        -------
        float64 array, shape (n_documents,), or None
            None if it is not known, or if `weights` defines a sum over documents.
        """
        return None

    def ideal_with(self, judged: Judged, gain: FloatArray, most: int) -> FloatArray | None:
        """Return the value of every query's ideal list with up to `most` further documents in it.

        Parameters
        ----------
        judged : Judged
            The lists.
        gain : float64 array, shape (n_queries,)
            Gain of each further document, above 0 if there are any.
        most : int
            Largest number of further documents.

        Returns
        -------
        float64 array, shape (n_queries, most + 1), or None
            Indexed by their number, from 0. None if a value is not divided by an ideal, or by one
            that depends on the run.
        """
        return None

    def divisor_with(self, judged: Judged, further: FloatArray) -> FloatArray | None:
        """Return the number of relevant documents that the value of each query is divided by, with
        further ones.

        Parameters
        ----------
        judged : Judged
            The lists.
        further : float64 array, shape (n_queries, n) or (1, n)
            Numbers of further relevant documents.

        Returns
        -------
        float64 array, shape (n_queries, n), or None
            None if a value is not divided by one, so that a further relevant document takes nothing
            from the others.
        """
        return None

    def measured(self, judged: Judged) -> PerQuery:
        """Compute the values with the rules common to all measures: `judged_only`, and refusal of
        ties without a closed form.

        Raises
        ------
        OptionError
            Scores tie, the convention asks for the expected value, and this measure has no closed
            form for it; or `compute` gives no value of each query.
        """
        self.check_tables(judged.tables)
        if (
            self.ties == "not offered"
            and judged.ties == "expected"
            and judged.alignments.tied.any()
        ):
            # Arrays have no document ids that could order ties.
            switch = "ties=docid"
            choices = "ties=docid, input, best or worst"
            if judged.complete:
                switch = "ties=input"
                choices = "ties=input, best or worst"
            # Measures see a stretch of queries at a time, so that a number of queries would be that
            # of one stretch.
            first = judged.queries[int(np.flatnonzero(judged.alignments.tied)[0])]
            raise OptionError(
                f"{self.name}: found tied scores, in query {first!r} first, and the expected value "
                f"over their orders has no closed form for this measure; choose {choices}",
                switch=switch,
            )
        lists = judged.condensed(pooled=False) if self.judged_only else judged
        return _one_per_query(self.name, self.compute(lists), judged.n_queries)

    def mean_over_orders(self, judged: Judged) -> PerQuery:
        """Return the mean value over all orders of each list.

        Parameters
        ----------
        judged : Judged
            Lists of which each is a single tie, under ``ties=expected``.
        """
        return self.measured(judged)

    def check_tables(self, tables: Collection[str]) -> None:
        """Refuse judgments of a kind that this measure cannot use.

        Parameters
        ----------
        tables : collection of str
            Kinds of judgments given: ``preferences``, ``assessors``, ...; empty for plain grades.

        Raises
        ------
        OptionError
            A kind that the measure needs is missing, or another kind is given instead of grades.

        Examples
        --------
        >>> from idealrank.measures.binary import AP
        >>> try:
        ...     AP().check_tables(["preferences"])
        ... except OptionError as error:
        ...     print(error)
        AP: found preferences, expected grades; give judgments as Qrels (ir.read_qrels), or choose another measure
        """  # noqa: E501
        for table in self.needs:
            if table not in tables:
                hint, command_hint = _HOW_TO_GIVE.get(table, (f"give {table}", ""))
                raise OptionError(
                    f"{shown(self)}: expected {table}, found none",
                    hint=hint,
                    command_hint=command_hint,
                )
        if self.looks_at_grades and not self.needs and tables:
            raise OptionError(
                f"{shown(self)}: found {' and '.join(tables)}, expected grades",
                hint="give judgments as Qrels (ir.read_qrels), or choose another measure",
                command_hint="set --judgments qrels, or choose another measure",
            )

    def per_query(self, judged: Judged) -> FloatArray:
        """Values per query, shape (n_queries,)."""
        return self.measured(judged).values

    def hits_needed(self, *, lists: bool = False) -> int:
        """`depth`, or 0 if ranks change when documents without a judgment are removed."""
        return 0 if self.judged_only and not lists else self.depth(lists=lists)

    def depth(self, *, lists: bool = False) -> int:
        """Deepest rank whose hits this measure needs, for a run or for lists held as arrays; 0 for
        all of them.
        """
        return self.cutoff if isinstance(self.cutoff, int) else 0

    @property
    def ideal_size(self) -> int | None:
        """Number of judged documents outside a list that can change its value, those with the
        highest grades; None if all can.
        """
        return None

    @property
    def trec_name(self) -> str:
        """Name that trec_eval prints; the text of the measure if trec_eval has no such measure."""
        return str(self)

    def __str__(self) -> str:
        options = []
        for field in sorted(fields(self), key=lambda field: field.name):
            value = getattr(self, field.name)
            if value is not None and field.name not in ("cutoff", self.after_at):
                options.append(f"{field.name}={_option_text(value)}")
        brackets = f"({','.join(options)})" if options else ""
        after_at = getattr(self, self.after_at)
        cut = ""
        if self.after_at == "cutoff":
            cut = cutoff_text(self.cutoff)
        elif after_at is not None:
            cut = f"@{_option_text(after_at)}"
        return f"{self.name}{brackets}{cut}"

    def _trec(self, plain: str, cut: str, *, options: bool) -> str:
        """trec_eval's name with or without a cutoff, or this measure's text when it has options
        trec_eval lacks.
        """
        if options or self.judged_only or isinstance(self.cutoff, RelativeCutoff):
            return str(self)
        return plain if self.cutoff is None else f"{cut}_{self.cutoff}"


def _option_text(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{','.join(map(_option_text, value))}]"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(getattr(value, "text", value))
    return number_text(value)


def truth_option(name: str, value: object) -> bool | None:
    """Return True, or None if unset; ``judged_only=False`` is the same as leaving it out."""
    if value is None or isinstance(value, (bool, np.bool_)):
        return True if value else None
    words = {"true": True, "1": True, "false": None, "0": None}
    word = str(value).strip().lower()
    if word not in words:
        raise OptionError(f"{name}={shown(value)}: expected true or false")
    return words[word]


def number_option(
    name: str, value: object, low: float = -math.inf, high: float = math.inf
) -> float:
    """A number given as an option, or as its text; the bounds are allowed."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if (
        isinstance(value, (bool, np.bool_))
        or not math.isfinite(number)
        or not low <= number <= high
    ):
        between = ""
        if math.isfinite(low) and math.isfinite(high):
            between = f" from {number_text(low)} to {number_text(high)}"
        elif math.isfinite(low):
            between = f" of at least {number_text(low)}"
        elif math.isfinite(high):
            between = f" of at most {number_text(high)}"
        raise OptionError(f"{name}={shown(value)}: expected a number{between}")
    return number


@dataclass(frozen=True, kw_only=True)
class OftenUndefined(Measure):
    """A measure with a policy for queries of which it has no value.

    Parameters
    ----------
    no_relevant : str, optional
        Value of such a query; default: set by the convention.
    """

    no_relevant: NoRelevant | None = None
    from_convention: ClassVar[tuple[str, ...]] = ("no_relevant",)

    def __post_init__(self) -> None:
        super().__post_init__()
        checked("no_relevant", self.no_relevant, NoRelevant)


def fill_undefined(values: FloatArray, defined: BoolArray, policy: NoRelevant) -> PerQuery:
    """Give queries without relevant documents the value of the policy."""
    if defined.all():
        return PerQuery(values)
    fill = {"zero": 0.0, "quotient": 0.0, "one": 1.0, "nan": np.nan, "left-out": np.nan}[policy]
    return PerQuery(np.where(defined, values, fill), defined if policy == "left-out" else None)


def _one_per_query(name: str, result: Any, n: int) -> PerQuery:
    """Return the result of a measure, which may be user-defined; refuse anything but one number for
    each query.
    """
    if not isinstance(result, PerQuery):
        raise OptionError(
            f"measure {name}: compute gave {type(result).__name__}, expected PerQuery with a "
            f"numeric array of shape ({n},), one value for each query"
        )
    found = f"measure {name}: compute gave values"
    _refuse_other_array(result.values, n, found=found, dtype="a numeric", dtype_kinds="fiub")
    if result.scored is not None:
        found = f"measure {name}: compute gave scored"
        _refuse_other_array(result.scored, n, found=found, dtype="a bool", dtype_kinds="b")
    return result


def _refuse_other_array(values: Any, n: int, *, found: str, dtype: str, dtype_kinds: str) -> None:
    """Refuse anything but an array of n values of some kinds, by NumPy's letters."""
    expected = f"expected PerQuery with {dtype} array of shape ({n},), one value for each query"
    if not isinstance(values, np.ndarray):
        raise OptionError(f"{found} of type {type(values).__name__}, {expected}")
    if values.shape != (n,) or values.dtype.kind not in dtype_kinds:
        raise OptionError(f"{found} of type {values.dtype} and shape {values.shape}, {expected}")
